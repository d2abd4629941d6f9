#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool.sh FOLDER: what the command does without a module: exit codes, what it
# tells, and what it leaves behind.
set -u

out=$1
make_trace=$out/make_trace
# What a command gets that is not to be told apart from success.
export ASAN_OPTIONS=exitcode=99

work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-tool.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

n=0
failed=0

# result STATUS NAME: the log goes with a failure.
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	sed 's/^/# /' log | head -n 20
}

# run STATUS ARGUMENT...: standard output in text, standard error in log
run()
{
	want=$1
	shift
	timeout 60 "$out/user-asan/ktape" "$@" >text 2>log
	got=$?
	[ $got = "$want" ] || echo "exit status $got, not $want: $*" >>log
	[ $got = "$want" ]
}

# lines N: so many were printed
lines()
{
	[ "$(wc -l <text)" = "$1" ] ||
		{ echo "$(wc -l <text) lines, not $1" >>log; return 1; }
}

# says TEXT, does_not_say TEXT: on standard error
says()
{
	grep -qF -- "$1" log || { echo "does not say: $1" >>log; return 1; }
}

# flip FILE OFFSET: all bits of one byte
flip()
{
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	# shellcheck disable=SC2059	# the byte is the format
	printf "\\$(printf %o $((255 - byte)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

fresh()
{
	rm -rf t p to
	"$make_trace" folder t 3
	"$make_trace" pipe 3 >p
}

test_dump()
{
	fresh
	run 0 dump t && lines 96
	result $? "dump: a folder"
	run 0 dump p && lines 96
	result $? "dump: a pipe form"
	run 0 dump - <p && lines 96
	result $? "dump: standard input"

	flip t/cpu1 8300
	run 1 dump t && lines 92 && says "cpu1: at byte 8192: checksum" &&
		says "cpu1: an unknown number of events lost" &&
		says "1 packets missing"
	result $? "dump: damage is told, and where"

	fresh
	truncate -s 32000 t/cpu2
	run 0 dump t && says "cpu2: at byte 32000: the last packet is cut off"
	result $? "dump: a cut is told"
	run 1 dump --strict t
	result $? "dump: with --strict it is an error"

	fresh
	truncate -s 40000 p
	run 1 dump p && says "the metadata is cut off"
	result $? "dump: metadata that is cut off"
	ln -s cpu9 t/cpu9
	run 1 dump t && says "t: cpu9: Too many levels"
	result $? "dump: a file that cannot be opened is named"
	rm t/cpu9 t/metadata
	mkfifo t/metadata
	run 1 dump t && says "no regular file"
	result $? "dump: metadata that nobody ends"
}

test_filter()
{
	rm -rf k
	"$make_trace" kinds k
	run 0 dump k && lines 5
	result $? "dump: records of all kinds"
	while read -r filter count; do
		run 0 dump -e "$filter" k && lines "$count"
		result $? "dump -e $filter: $count"
	done <<-EOT
	!sched	4
	!sched_switch,!mark	3
	!opcode_200	4
	opcode_200	1
	opcode_0xc8	1
	opcode_201	0
	time_extend	1
	all	5
	none	0
	*	4
	sys_*	1
	syscall	1
	*wide	1
	sched,user	2
	EOT
	run 2 dump -e sched,bogus k && says '"bogus"'
	result $? "dump -e: a name that is not known"
	run 2 dump -e opcode_256 k
	result $? "dump -e: a number that is none"
	run 0 dump -e mark k && grep -qF 'a\xc2\x9b2J\x9bb'"$(printf '\303\251')"'\x1b' text
	result $? "dump: what would control a terminal is escaped"
	run 0 dump -j -e mark k && grep -qF 'a\u009b2J\u009bb'"$(printf '\303\251')"'\u001b' text
	result $? "dump --json: the same"
}

# The sender neither ends nor goes on.
test_live()
{
	fresh
	mkfifo live
	"$out/user-asan/ktape" dump - <live >text 2>log &
	pid=$!
	exec 8>live
	head -c $(($(stat -c %s p) - 4000)) p >&8
	for _ in $(seq 100); do
		[ "$(wc -l <text)" -ge 92 ] && break
		sleep 0.1
	done
	lines 92
	result $? "dump: what came live is shown at once"
	kill -TERM $pid
	wait $pid
	rc=$?
	exec 8>&-
	[ $rc = 0 ] && lines 92 && says "cpu0: 5 events lost"
	result $? "dump: a signal ends a live stream, and losses are told"
	rm live
}

test_stdio()
{
	fresh
	run 1 dump - <&-
	result $? "closed standard input is an error"
	"$out/user-asan/ktape" version >&- 2>log
	[ $? = 1 ]
	result $? "closed standard output is an error"
	flip p $(($(stat -c %s p) - 4000))
	"$out/user-asan/ktape" record --split p -o to <&- >&- 2>&-
	echo "exit status $?" >log
	run 0 dump to && lines 92
	result $? "what is closed does not become a file of a trace"
}

test_split()
{
	fresh
	run 0 record --split p -o to && run 0 dump to && lines 96
	result $? "split: whole"
	run 1 record --split p -o to && says "to is not empty"
	result $? "split: not over something"
	run 0 record --split p -f -o to && run 0 dump to && lines 96
	result $? "split: over a trace with --force"
	: >to/zoo
	run 1 record --split p -f -o to && says "nothing was removed" &&
		rm to/zoo && run 0 dump to && lines 96
	result $? "split: not over something else"
	rm -rf to
	flip p $(($(stat -c %s p) - 4000))
	run 1 record --split p -o to && says "checksum is wrong" &&
		says "left out" && run 0 dump to && lines 92
	result $? "split: damage is left out and told"
	rm -rf to
	run 1 record --split - -o to <p && run 0 dump to && lines 92
	result $? "split: the same from a pipe"
	for option in "-e sched" "-p all" "-m discard" "-b 1M" "-B 4K" "-d 1s" \
		--no-uring "--device x"; do
		# shellcheck disable=SC2086	# words
		run 2 record --split p -o elsewhere $option && [ ! -e elsewhere ]
		result $? "split: $option has no meaning"
	done
}

test_limits()
{
	fresh
	(
		ulimit -f 8	# 4 KiB
		run 1 record --split p -o to
	)
	result $? "a file size limit is an error, no end"
	says "File too large"
	result $? "and told"
	rm -rf many
	"$make_trace" folder many 100
	(
		ulimit -Sn 40
		run 0 dump many && lines 3200
	)
	result $? "more files than the soft limit allows"
}

test_record()
{
	fresh
	for size in "-b 0" "-B 0" "-b 0K" "-B 65M"; do
		# shellcheck disable=SC2086	# words
		run 2 record $size --device x -o to && [ ! -e to ]
		result $? "record: $size is no size"
	done
	run 1 record --device x -o to -- ./no-such && [ ! -e to ] &&
		says "./no-such cannot be run: No such file"
	result $? "record: no command of that name"
	run 1 record --device x -o to -- no-such-command && [ ! -e to ] &&
		says "no-such-command cannot be run: No such file"
	result $? "record: no command of that name in the path"
	: >data
	run 1 record --device x -f -o t -- ./data &&
		says "./data cannot be run: Permission denied" &&
		run 0 dump t && lines 96
	result $? "record: a file that is no command; the old trace stays"
	run 1 record --device x -o to -- sleep 1 && [ ! -e to ] &&
		says "x is not there"
	result $? "record: no device"
}

test_recover()
{
	rm -rf r to
	"$make_trace" image r
	run 3 recover --image r -o to --json && [ ! -s log ] &&
		grep -q '"ended":"panic"' text &&
		grep -q '"names":2,"names_discarded":1' text &&
		grep -q '"cpu":1,"ring":"control","capacity":4,"checked":2,"unchecked":1,"open":1,"cut":0,"discarded":0,"events":67' text
	result $? "recover: an image, and what was half written"
	run 0 dump to && lines 270
	result $? "recover: a trace as any other"
	run 1 recover --image r -o to && says "to: Directory not empty"
	result $? "recover: no trace is replaced"
	run 3 recover --image r -o to -f --at 12288
	result $? "recover: with -f it is"
	run 1 recover --image r -o to -f --at 0x1000 && says "no trace at"
	result $? "recover: no region there"
	truncate -s 80000 r
	run 3 recover --image r -o to -f && says "it is not there"
	result $? "recover: an image that is cut off"
	flip r 12300
	run 1 recover --image r -o to -f && says "0x3000: a superblock has" &&
		says "r: no trace"
	result $? "recover: a superblock that is damaged is told"
	run 1 recover --image /dev/zero -o to2 && says "neither a file" &&
		[ ! -e to2 ]
	result $? "recover: no endless image"
	for wrong in "--image r" "-o to2 --image r x" "-o to2 --at 0" \
		"-o to2 --image r --drop" "-o to2 --image r --at x"; do
		# shellcheck disable=SC2086	# words
		run 2 recover $wrong
		result $? "recover $wrong: usage"
	done
	run 1 recover --device x -o to2 && says "x is not there" && [ ! -e to2 ]
	result $? "recover: no device"
}

echo "TAP version 13"
test_dump
test_filter
test_live
test_stdio
test_split
test_limits
test_record
test_recover
echo "1..$n"
exit $failed
