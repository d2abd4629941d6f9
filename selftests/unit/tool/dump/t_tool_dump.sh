#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_dump.sh FOLDER: dump shows folders, pipes, compressed and damaged input, and
# input that grows; its filters, and the texts of event formats.
# shellcheck source=selftests/unit/support/small_traces.sh
. "${0%/*}/../../support/small_traces.sh" "$1"

# wait_lines FILE N: wait until FILE has N lines
wait_lines()
{
	for _ in $(seq 1000); do
		[ "$(wc -l <"$1")" -ge "$2" ] && return 0
		sleep 0.1
	done
	echo "$(wc -l <"$1") lines, not $2" >>log
	return 1
}

# follow TRACE: run dump --follow in the background
follow()
{
	: >grown
	"$out/command/ktape" dump --all -f "$1" >grown 2>>log &
	follower=$!
}

test_dump()
{
	fresh
	run 0 dump --all t && lines 96
	result $? "dump: a folder"
	run 0 dump --all p && lines 96
	result $? "dump: a pipe form"
	run 0 dump --all - <p && lines 96
	result $? "dump: standard input"

	flip t/cpu1 8300
	run 1 dump --all t && lines 92 && says "cpu1: at byte 8192: checksum" &&
		says "cpu1: an unknown number of events lost" &&
		says "1 packets missing"
	result $? "dump: damage is reported with its place"

	fresh
	truncate -s 32000 t/cpu2
	run 0 dump --all t && says "cpu2: at byte 32000: the input ends in the middle of a packet"
	result $? "dump: truncation is reported"
	run 1 dump --all --strict t
	result $? "dump: truncation is an error with --strict"

	fresh
	truncate -s 40000 p
	run 1 dump --all p && says "the metadata is cut off"
	result $? "dump: metadata that is cut off"
	ln -s cpu9 t/cpu9
	run 1 dump --all t && says "t: cpu9: Too many levels"
	result $? "dump: a file that cannot be opened is named"
	rm t/cpu9
	rm t/metadata
	mkfifo t/metadata
	run 1 dump --all t && says "not a regular file"
	result $? "dump: metadata without an end"
}

test_follow()
{
	: >grown
	fresh
	mkdir g
	cp t/metadata g
	head -c 5000 t/cpu0 >g/cpu0
	: >log
	follow g
	# A recorder replaces the metadata when a CPU comes online.
	wait_lines grown 4 && cp t/metadata g/metadata.new &&
		tail -c +5001 t/cpu0 >>g/cpu0 && cp t/cpu1 t/cpu2 g &&
		wait_lines grown 96 && mv g/metadata.new g/metadata
	status=$?
	kill -TERM $follower
	wait $follower && [ $status = 0 ] && [ "$(wc -l <grown)" = 96 ]
	result $? "dump: a folder that grows"

	head -c -50000 p >g/p
	: >log
	follow g/p
	wait_lines grown 1 && tail -c 50000 p >>g/p && wait_lines grown 96
	status=$?
	kill -TERM $follower
	wait $follower && [ $status = 0 ]
	result $? "dump: a file that grows"
	run 1 dump --all -f nowhere && says "nowhere: No such file"
	result $? "dump --follow: a standard input that is no file"
	rm -rf g
}

test_filter()
{
	rm -rf k
	"$make_trace" kinds k
	run 0 dump --all k && lines 5
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
	result $? "dump -e: an unknown name"
	run 2 dump -e opcode_256 k
	result $? "dump -e: an invalid number"
	run 0 dump -e mark k && grep -qF 'a\xc2\x9b2J\x9bb'"$(printf '\303\251')"'\x1b' text
	result $? "dump: terminal control characters are escaped"
	run 0 dump -j -e mark k && grep -qF 'a\u009b2J\u009bb'"$(printf '\303\251')"'\u001b' text
	result $? "dump --json: control characters are escaped"
}

# The sender neither ends nor continues.
test_live()
{
	fresh
	mkfifo live
	"$out/command/ktape" dump --all - <live >text 2>log &
	pid=$!
	exec 8>live
	head -c $(($(stat -c %s p) - 4000)) p >&8
	for _ in $(seq 1000); do
		[ "$(wc -l <text)" -ge 92 ] && break
		sleep 0.1
	done
	lines 92
	result $? "dump: live events are shown at once"
	kill -TERM $pid
	wait $pid
	rc=$?
	exec 8>&-
	[ $rc = 0 ] && lines 92 && says "cpu0: 5 events lost"
	result $? "dump: a signal ends a live stream, and losses are reported"
	rm live
}

test_select()
{
	rm -rf k
	"$make_trace" emitted k
	while IFS='|' read -r options count; do
		# shellcheck disable=SC2086	# words
		run 0 dump --all $options k && lines "$count"
		result $? "dump $options: $count"
	done <<-EOT
	--severity 2|2
	--severity SW1|3
	-s 3|1
	--major 0x1234|2
	-M 0x777,0x1234|3
	-M 0x1234 --minor 200|1
	--minor 0-1|2
	-M 1|0
	--group exception|3
	-g exception,user -e user|1
	-e exception -e signal_deliver|4
	-e none|0
	--signal TERM|1
	--signal KILL|0
	--cpu 2|6
	-C 0-1,3|3
	--pid 10|6
	--pid 12|6
	--tid 10|0
	--tid 12|6
	--object irq:24|1
	--object irq:ahci|1
	--object ahci|1
	--object irq:25|0
	--object exception:driver|2
	--object exception:0x777,irq:a*|2
	--object user_event:1025|1
	--object thread:worker|6
	EOT
	while read -r options; do
		# shellcheck disable=SC2086	# words
		run 2 dump --all $options k
		result $? "dump $options: misuse"
	done <<-EOT
	--severity 4
	--major 0x1000000
	--minor 256
	--group bogus
	--signal BOGUS
	--cpu x
	--cpu 3-1
	--cpu 0-100
	--pid -1
	--object bogus:1
	--object irq:
	EOT
	run 1 dump --all --now --clear x && says "x: No such file or directory"
	result $? "dump --clear: no device"
}

test_formats()
{
	rm -rf k fmt
	"$make_trace" emitted k
	mkdir fmt
	cat >a.fmt <<-'EOT'
	# texts of a driver
	exception 0x1234.* other "code %M.%m, %d of %2$d%%"
	exception 0x1234.1 disk "%d %d %u %{0=off,1=on} <%-7s> %5$b %1$04d %9$d"
	event 1025 hello "%5d|%d|%3$s|%4$b|%1$x|%2$x|%2$-4d|%9$s"
	EOT
	cat >fmt/z.fmt <<-'EOT'
	exception 0x777 "from a \\ \"folder\""
	EOT
	export KTAPE_FMT=fmt
	run 0 dump -e a.fmt k &&
		grep -qF 'name=disk message="7 -7 3 on <disk\"\u001b > 6469736b221b 0007 ?"' text
	result $? "dump -e FILE.fmt: an exception with a buffer"
	cat text >>log
	grep -qF 'name=other message="code 1234.c8, 5 of ?%"' text
	result $? "dump -e FILE.fmt: all minors of a major"
	grep -qF 'name=hello message="   42|-2|hello|abcd|2a|fffffffe|-2  |?"' text
	result $? "dump -e FILE.fmt: typed arguments"
	grep -qF ' message="from a \\ \"folder\""' text
	result $? "dump: the system's event texts"
	run 0 dump -j -e a.fmt -e exception k && lines 3 &&
		grep -qF '"name":"disk","message":"7 -7 3 on <disk\"\u001b > 6469736b221b 0007 ?"}' text
	result $? "dump --json: event texts"
	while IFS='#' read -r line text; do
		printf '\n%s\n' "$line" >bad.fmt
		run 1 dump -e bad.fmt k && says "bad.fmt:2: $text"
		result $? "dump -e FILE.fmt: $line: $text"
	done <<-'EOT'
	exceptional 1 "x"#a line must begin
	exception#the number of the event is missing
	exception 0x1000000 "x"#the major must be
	exception 1.256 "x"#the minor must be
	exception 1 x#the text must be in double quotes
	exception 1 na/me "x"#a name may contain
	exception 1 "x#the text has no closing quote
	exception 1 "x" y#unexpected characters
	event x "y"#the id of an event must be
	event 1 "%y"#unknown conversion
	event 1 "%0$d"#argument numbers are
	event 1 "%100$d"#argument numbers are
	event 1 "%65d"#the width is
	event 1 "%{1=a"#a list has "{" but
	event 1 "%{a}"#a list must have
	event 1 "%"#unknown conversion
	EOT
	run 1 dump -e none.fmt k && says "none.fmt: No such file"
	result $? "dump -e FILE.fmt: no file"
	cp bad.fmt fmt
	run 0 dump --all k && says "fmt/bad.fmt:2:" && lines 9
	result $? "dump: errors in the system's event texts are reported"
	unset KTAPE_FMT
}

# Input that other tools have compressed, and damaged input.
test_zstd()
{
	command -v zstd >/dev/null || return 0
	fresh
	zstd -q p && zstd -q -r --rm t
	run 0 dump --all t && lines 96
	result $? "dump: a folder whose files were all compressed"
	run 0 dump --all t/cpu1.zst && lines 32
	result $? "dump: one compressed stream"
	run 0 dump --all p.zst && lines 96
	result $? "dump: a compressed pipe form"
	zstd -qc p | run 0 dump --all - && lines 96
	result $? "dump: a compressed pipe"
	run 0 record --split p.zst -o to && run 0 dump --all to && lines 96
	result $? "split: a compressed pipe form"
	truncate -s -100 p.zst
	run 0 dump --all p.zst && says "compressed data is cut off"
	result $? "dump: a truncated compressed file"
	run 1 dump --all --strict p.zst
	result $? "dump: a truncated compressed file is an error with --strict"
	head -c 300M /dev/zero | cat p - | zstd -qc -1 --long=28 >w.zst
	run 1 dump --all w.zst && says "window of more than 128 MiB"
	result $? "dump: a compression window that is too large"
}

echo "TAP version 13"
test_dump
test_follow
test_filter
test_live
test_select
test_formats
test_zstd
echo "1..$n"
exit $failed
