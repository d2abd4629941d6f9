#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool.sh FOLDER: test the command without a module: exit codes, messages, and
# files that it leaves.
top=$(cd "${0%/*}/../../.." && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../support/tool.sh" "$1"
make_trace=$out/make_trace

# flip FILE OFFSET: invert all bits of one byte
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
	"$out/command/ktape" dump --all -f "$1" >grown 2>>log &
	follower=$!
}

test_follow()
{
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

test_stdio()
{
	fresh
	run 1 dump --all - <&-
	result $? "closed standard input is an error"
	"$out/command/ktape" version >&- 2>log
	[ $? = 1 ]
	result $? "closed standard output is an error"
	flip p $(($(stat -c %s p) - 4000))
	"$out/command/ktape" record --split p -o to <&- >&- 2>&-
	echo "exit status $?" >log
	run 0 dump --all to && lines 92
	result $? "a closed descriptor is not used for a file of a trace"
}

test_version()
{
	local version

	version=$(sed -n 's/^ktape-version := //p' "$top/Kbuild")
	run 0 version && grep -q "^ktape ${version//./\\.}, event table [0-9a-f]\{16\}$" text
	result $? "version: the number of Kbuild and the hash of the event table"
	"$out/command/ktape" convert --list --json |
		jq -r 'select(.in).name' >in 2>>log &&
		sed -n 's/^reads *//p' text | tr ' ' '\n' | diff in - >>log
	result $? "version: the formats that can be read"
	cp text before && run 0 --version && cmp before text >>log
	result $? "--version is the same"
	run 0 version --json &&
		[ "$(jq -r .version text)" = "$version" ] && [ "$(jq -r '.in[]' text)" = "$(cat in)" ]
	result $? "version --json: version and formats"
	run 2 version x; grep -q "version takes no operands" log
	result $? "version takes no operands"
}

test_split()
{
	fresh
	run 0 record --split p -o to && run 0 dump --all to && lines 96
	result $? "split: an intact pipe form"
	run 1 record --split p -o to && says "to is not empty"
	result $? "split: does not replace a trace without --force"
	run 0 record --split p -f -o to && run 0 dump --all to && lines 96
	result $? "split: replaces a trace with --force"
	: >to/zoo
	run 1 record --split p -f -o to && says "nothing was removed" &&
		rm to/zoo && run 0 dump --all to && lines 96
	result $? "split: does not replace other files with --force"
	rm -rf to
	flip p $(($(stat -c %s p) - 4000))
	run 1 record --split p -o to && says "checksum is wrong" &&
		says "left out" && run 0 dump --all to && lines 92
	result $? "split: damage is skipped and reported"
	rm -rf to
	run 1 record --split - -o to <p && run 0 dump --all to && lines 92
	result $? "split: damage in a pipe is skipped and reported"
	for option in "-e sched" "-p all" "-m discard" "-b 1M" "-B 4K" "-d 1s" \
		--no-uring "--device x"; do
		# shellcheck disable=SC2086	# words
		run 2 record --split p -o elsewhere $option && [ ! -e elsewhere ]
		result $? "split: $option is refused"
	done
}

test_limits()
{
	fresh
	(
		ulimit -f 8	# 4 KiB
		run 1 record --split p -o to
	)
	result $? "a file size limit is an error, not an end"
	says "File too large"
	result $? "a file size limit is reported"
	rm -rf many
	"$make_trace" folder many 100
	(
		ulimit -Sn 40
		run 0 dump --all many && lines 3200
	)
	result $? "more files than the soft limit allows"
}

test_record()
{
	fresh
	for size in "-b 0" "-B 0" "-b 0K" "-B 65M"; do
		# shellcheck disable=SC2086	# words
		run 2 record $size --device x -o to && [ ! -e to ]
		result $? "record: $size is not a valid size"
	done
	run 1 record --device x -o to -- ./no-such && [ ! -e to ] &&
		says "cannot run ./no-such: No such file"
	result $? "record: a command that does not exist"
	run 1 record --device x -o to -- no-such-command && [ ! -e to ] &&
		says "cannot run no-such-command: No such file"
	result $? "record: a command that is not in the path"
	: >data
	run 1 record --device x -f -o t -- ./data &&
		says "cannot run ./data: Permission denied" &&
		run 0 dump --all t && lines 96
	result $? "record: a file that is not executable; the old trace stays"
	run 1 record --device x -o to -- sleep 1 && [ ! -e to ] &&
		says "x: No such file or directory"
	result $? "record: no device"
}

# RKH's filters by object: the options, then the resulting filter by thread.
test_objects()
{
	fresh
	bad=0
	while IFS='|' read -r pid options; do
		# shellcheck disable=SC2086	# words
		run 0 record $options --save - &&
			grep -qxF "pid = $pid" text && continue
		bad=1
		echo "$options: no \"pid = $pid\"" >>missing
	done <<-EOT
	7:except|--suppress object:7
	7:except,8:except|--suppress object:7 --suppress object:8
	7:except|--suppress object:7 --pass object:8
	off|--suppress object:7 --pass object:7
	none|--suppress object:all
	5|--suppress object:all --pass object:5
	none|--suppress object:all --pass object:5 --suppress object:5
	off|--suppress object:all --pass object:all
	7:threads,9:except|--pid 7 --threads --suppress object:9
	7:threads,9|--pid 7 --threads --suppress object:9 --pass object:9
	8,7:except|--pid 7,8 --suppress object:7
	none|--pid 9:except --suppress object:all --suppress object:4
	EOT
	cat missing >log 2>/dev/null
	result $bad "record: RKH object filters become filters by thread"
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

test_log()
{
	while IFS='|' read -r options text; do
		# shellcheck disable=SC2086	# words
		run 2 record --device x $options && says "$text" && [ ! -e pieces ]
		result $? "record $options: misuse"
	done <<-EOT
	-l pieces -o to|cannot be combined with -o
	-l pieces -f|cannot be combined with -o
	-l pieces --split p|cannot be combined with -o
	-l pieces --keep 0|at least 1
	-l pieces --rotate 5|size
	-l pieces --rotate x|size
	-l pieces --rotate 0M|size
	-l pieces --rotate 3x|size
	-l pieces --daemon -- true|cannot run a command
	-o to --rotate 1s|need -l
	-o to --keep 3|need -l
	-o to --daemon|need -l
	-o to --pidfile p|need -l
	-o - --zstd|needs a directory
	EOT
	run 1 record --device x -l pieces --daemon && says "x: No such file or directory" &&
		[ ! -e pieces ]
	result $? "record --daemon: errors at the start are reported to the caller"
	run 1 record --device x -l pieces --daemon --pidfile no/such &&
		says "no/such: No such file"
	result $? "record --pidfile: no folder"
	exec 7>pid
	echo 4711 >&7
	flock -x 7
	run 1 record --device x -l pieces --daemon --pidfile pid &&
		says "process 4711 is already running" && grep -qx 4711 pid
	result $? "record --pidfile: the pidfile of a running process"
	exec 7>&-
	run 1 record --device x -l pieces --daemon --pidfile pid &&
		says "x: No such file or directory" && [ ! -e pid ]
	result $? "record --pidfile: the pidfile of a dead process"
	run 1 record --device x -l 'a*/b' && says "a name cannot contain"
	result $? "record -l: a name that contains the end of a comment"
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

# Tonbandgeraet stream: core 0, 1 us per tick, task 1 "main" runs at 10, an
# interrupt from 20 to 40, a span from 30 on, the task waits at 50.
tband()
{
	printf '\1\1\1\1\0\4\2\350\7\0\7\137\1main\0'
	printf '\4\124\12\1\0\4\4\24\7\0\4\10\36\1\0\4\5\50\7\0'
	printf '\4\131\62\5\0\4\124\62\2\0\4\11\74\1\0'
}

# A stream that begins at 1000, although its first record has time 0.
tband_late()
{
	printf '\1\1\1\1\0\4\2\350\7\0'
	printf '\5\124\350\7\1\0\5\4\362\7\7\0\5\5\374\7\7\0'
}

# shows_live TEXT N FILE ARGUMENT...: dump prints N lines with TEXT while the
# pipe that delivers FILE stays open
shows_live()
{
	local what=$1 want=$2 file=$3 pid got=0

	shift 3
	mkfifo line
	timeout 600 "$out/command/ktape" dump --all "$@" - <line >text 2>log &
	pid=$!
	exec 9>line
	cat "$file" >&9
	for _ in {1..200}; do
		got=$(grep -c "$what" text)
		[ "$got" = "$want" ] && break
		sleep 0.05
	done
	exec 9>&-
	wait "$pid"
	rm line
	[ "$got" = "$want" ] || echo "$got of $want lines while it was open" >>log
	[ "$got" = "$want" ]
}

test_convert()
{
	fresh
	tband >s.tband
	run 0 dump --all s.tband && lines 10 &&
		grep -q 'main-1 mark_begin: task=0 id=1' text
	result $? "dump: another format is detected"
	run 0 dump --from tband --json s.tband && lines 10 &&
		grep -qF '"source":{"FreeRTOS":{"ts":"10","kind":{"TaskSwitchedIn":{"task_id":1}}}}}' text
	result $? "dump --json: the event with the names of its format"
	run 0 dump --all - <s.tband && lines 10
	result $? "dump: another format on standard input"
	od -An -v -tx1 s.tband >s.hex
	run 0 dump --all --from tband:format=hex s.hex && lines 10 &&
		run 0 dump --all --format hex --mode free-rtos --core-count 1 s.hex &&
		lines 10 && run 0 dump --all s.hex && lines 10
	result $? "dump: hexadecimal input, named or detected"
	run 2 dump --all --from tband:format=oct s.hex && says "format must be bin or hex"
	result $? "dump: an invalid value of an option"
	for id in 'xa0' 'x00\x05' 'x00\x05\x00\x00'; do
		printf '\176' >frames
		for i in 1 2 3 4 5 6; do
			printf '%b' "\\$id\\x0$i\\x0$i\\x00\\x00\\x00\\x7e"
		done >>frames
		run 0 dump --all -I check=0 frames &&
			[ "$(grep -c FWK_EN text)" = 6 ]
		result $? "dump: frames of RKH without a configuration, id $id"
	done
	{ head -c 5 frames; sleep 0.2; tail -c +6 frames; } |
		run 0 dump --all -I check=0 - && [ "$(grep -c FWK_EN text)" = 6 ]
	result $? "dump: frames of RKH may arrive slowly"
	shows_live FWK_EN 6 frames -I check=0
	result $? "dump: frames of RKH are shown as they arrive"
	tband >begun
	shows_live mark_begin 1 begun
	result $? "dump: Tonbandgeraet is shown as it arrives"
	{
		printf '~'
		for i in {1..12000}; do
			printf '\0\5%b\0\0\0\0~' "\\x$((i % 10))"
		done
		printf '\14\5\0\64\0\200\1\0\24\102\21\2\24\350\3~'
	} >frames.late
	run 0 dump --all -I check=0 frames.late &&
		[ "$(grep -c FWK_EN text)" = 12000 ]
	result $? "dump: frames of RKH before their configuration"
	echo "no trace at all" >words
	run 1 dump --all words && says "unknown format; name it with --from"
	result $? "dump: a file that is not a trace"
	run 2 dump --all --from bogus s.hex && says 'unknown format "bogus"'
	result $? "dump: an unknown format"
	run 0 dump --all --from 0.000030 s.tband && lines 5
	result $? "dump: --from also takes a time"

	run 0 convert -t native -o u t && says "15 events were lost in 3 gaps" &&
		run 0 dump --all t && mv text want && run 0 dump --all u &&
		cmp text want >>log && says "15 events lost in 3 gaps"
	result $? "convert: native to native keeps everything, gaps too"
	run 1 convert -t native -o u t && says "u: Directory not empty" &&
		run 0 convert -t native --force -o u t
	result $? "convert: a directory is replaced only with --force"
	run 0 convert -t native -o - p && cp text q && run 0 dump --all q && lines 96
	result $? "convert: a pipe form to standard output"
	run 0 convert -t tband -o v t && says "tband cannot hold" &&
		run 0 dump --all v && says ": 15 events lost"
	result $? "convert: what a format cannot hold is reported, losses are converted"
	run 0 convert -t text -o w s.tband && run 0 dump --all s.tband && sort text >want &&
		sort w | cmp - want >>log
	result $? "convert: text equals the output of dump"
	run 0 convert -t csv -o - s.tband && lines 11 &&
		grep -q '^50000,0,event,1,"main",sched_switch,"{""prev_prio""' text
	result $? "convert: csv"
	printf '\4\137\1\377\0\4\124\5\1\0\4\11\6\1\0' >bytes
	run 0 convert -f tband -t csv -o - bytes &&
		grep -q '^6,0,event,1,"\\xff",mark_end,' text &&
		run 0 convert -f tband -t perfetto -o - bytes &&
		! LC_ALL=C grep -q "$(printf '\1\377')" text
	result $? "convert: names that are not UTF-8"
	for file in s.tband s.hex "s.hex -f tband"; do
		# shellcheck disable=SC2086	# words
		{ head -c 2 ${file%% *}; sleep 0.2; tail -c +3 ${file%% *}; } |
			run 0 convert ${file#* } -t csv -o - - &&
			grep -q '^50000,0,event,1,"main",sched_switch,' text
		result $? "convert: $file that arrives slowly keeps its resolution"
	done
	tband_late >late
	run 0 stats --json late && grep -q '"events":3,"max_relative_ticks":20,' text
	result $? "stats: time begins with the first event of a stream"
	run 0 convert -t jsonl -c 1 -o - t && lines 32
	result $? "convert: one CPU"
	run 0 convert -t jsonl -e mark_begin,mark_end -p 1 -o - s.tband && lines 2
	result $? "convert: one thread's events of a kind and names"
	run 0 convert -t text --from-time 0.000035 --to-time 0.000055 \
		-o - s.tband && lines 8 &&
		grep -q "^.0.000035000. cpu 0 - user_event: .*ts_resolution_ns" text &&
		grep -q '^.0.000035000. cpu 0 main-1 context: .*tid=1' text &&
		grep -q '^.0.000035000. cpu 0 main-1 isr_enter: id=7' text &&
		grep -q '^.0.000035000. cpu 0 main-1 mark_begin: task=0 id=1' text
	result $? "convert: what is open at the start of a range is in the output"
	run 0 convert -t ftrace --from-time 0.000035 -o - s.tband &&
		grep -q ' 0.000035: sched_switch: .* prev_pid=0 .* next_pid=1 ' text
	result $? "convert: the thread at the start of a range, for formats with switches only"
	rm -rf d
	"$make_trace" named d
	for part in "-c 0" "--from-time 0.000000150 --to-time 0.000000800" \
		"-p 6"; do
		# shellcheck disable=SC2086	# words
		run 0 convert -t native --force $part -o u d && run 0 dump --all u &&
			grep -q ' cpu 0 .*sched_switch' text &&
			[ "$(grep -c 'name=ahci' text)" = 2 ] &&
			! grep -q ' cpu 1 .*registry' text
		result $? "convert $part: name records do not set the current thread"
	done
	cp s.tband s0
	printf '\4\2\350\7\0\4\4\31\11\0' >s1
	run 0 convert -t text -o - s0@0 s1@1 && lines 12 &&
		grep -q '^.0.000025000. cpu 1 ' text
	result $? "convert: FILE@CORE"
	run 2 convert -t text --core-count 1 -o - s1@1 &&
		says "core 1 does not exist: core-count is 1"
	result $? "convert: FILE@CORE beyond the number of cores"
	{ tband; printf '\4\4\1\7\0'; } >back
	run 1 convert -t jsonl -o - back && says "core 0 are out of order" &&
		run 0 dump --all back && lines 11
	result $? "convert: a time that goes back is an error, dump shows it"
	run 1 convert -t jsonl -o s0 s0 && says "s0 is also an input" &&
		cmp s0 s.tband >>log
	result $? "convert: not onto its own input"
	run 0 convert --list && grep -q '^tband *in *out' text &&
		run 0 convert --list --json && grep -q '"name":"native","in":true' text
	result $? "convert --list"
	for wrong in "-t jsonl s0" "-o - s0" "-t bogus -o - s0" "-t jsonl -o -" \
		"-t jsonl:x=1 -o - s0" "-t native:form=tar -o - s0" "--list s0"; do
		# shellcheck disable=SC2086	# words
		run 2 convert $wrong
		result $? "convert $wrong: usage"
	done
}

# Without the module, list is how to read the event table: no error, and no guess.
test_list()
{
	if [ -e /dev/ktape ]; then
		echo "ok $((n += 1)) - list: without the module # SKIP the module is loaded"
		return
	fi
	run 0 list && [ ! -s log ] && head -n 1 text | grep -q 'which is not loaded' &&
		grep -q '^  sched_switch  *[0-9]* ?  ' text && ! grep -qE '^  [a-z_]+ +[0-9]+ (yes|no) ' text
	result $? "list: without the module nothing is said to be available"
}

test_verify()
{
	rm -rf t p
	"$make_trace" session t p
	run 0 verify t && grep -Eq \
		'^nothing is wrong: 2 of 2 CPUs, 100 % of [0-9,]+ events accounted for$' text
	result $? "verify: a whole folder"
	run 0 verify p
	result $? "verify: a whole pipe form"
	run 0 verify - <p
	result $? "verify: a pipe"
	run 0 verify --json t && [ "$(head -c 13 text)" = '{"findings":[' ] &&
		grep -q '"wrong":0' text
	result $? "verify: JSON"
	cp -r t cut && rm cut/control*
	run 6 verify cut && grep -q '^cut form: cpu1: .*no control records' text &&
		grep -q '^cut off: 0 of 2 CPUs, ' text && run 6 verify -q cut &&
		run 1 verify --strict cut && run 6 verify --json cut &&
		grep -q '"cut":true' text && grep -q '"judged":{"cpus":0,"of_cpus":2,' text
	result $? "verify: a missing part is a result of its own"
	rm cut/c*
	run 6 verify cut && grep -q '^cut off: 0 of [02] CPUs, ' text
	result $? "verify: without any stream"
	rm -r cut
	run 0 verify --strict t
	result $? "verify --strict: nothing is missing"
	flip t/cpu1 9000
	run 1 verify t && grep -q '^wrong checksum: cpu1: packet [2-4] ' text
	result $? "verify: a bad byte, named with stream and packet"
	truncate -s -100 t/cpu0
	run 1 verify t && grep -q '^wrong form: cpu0: .*ends in the middle of a packet' text
	result $? "verify: a truncated file"
	run 2 verify /no-such-trace && run 2 verify && run 2 verify t p &&
		run 2 verify --from 1.0 t && run 2 verify .
	result $? "verify: no input, or several traces"
	rm -rf t p
	"$make_trace" session t p
	run 3 verify --absent sched_switch --from 0.000001 --to 0.000002 t &&
		grep -q '^NOT-ENABLED: ' text
	result $? "verify: without markers nothing is proved"
	run 2 verify --absent sched_switch t &&
		run 2 verify --absent no_such --from 1.0 --to 2.0 t &&
		run 2 verify --absent sched_switch:no=1 --from 1.0 --to 2.0 t &&
		run 2 verify --absent sched_switch --from 2.0 --to 1.0 t &&
		run 2 verify --absent ledger --from 1.0 --to 2.0 t
	result $? "verify: invalid questions"
	run 2 verify -c 4294967296 --absent sched_switch --from 1.0 --to 2.0 t &&
		says "--cpu 4294967296" &&
		run 2 verify --absent sys_enter:nr=65536 --from 1.0 --to 2.0 t &&
		says "nr of sys_enter is too small to hold 65536" &&
		run 2 verify --absent sys_enter:nr=nothing --from 1.0 --to 2.0 t &&
		run 3 verify --absent sys_enter:nr=openat --from 1.0 --to 2.0 t
	result $? "verify: values that a field can have, and their names"
	rm -rf n
	run 0 convert --to native -o n t && run 0 verify n &&
		grep -q '^note ledger: the trace was made by a conversion' text &&
		run 5 verify --absent sched_switch --from 0.000001 \
			--to 0.000002 n && grep -q '^LOST: ' text
	result $? "verify: a converted trace proves nothing"
	run 0 verify t/cpu0 && run 0 convert --to rkh -o n.rkh t &&
		run 2 verify n.rkh && says "not in the native format"
	result $? "verify: a single stream, and a foreign format"
	rm -rf n n.rkh
}

# Options without effect are refused.
test_options()
{
	run 2 trigger x list --nth 3 && run 2 trigger x del 1 --limit 2 &&
		run 2 trigger x add sched_switch --json &&
		run 2 trigger x run sched_switch --json -- true &&
		run 2 snapshot -f -o - && run 2 record -f -o - true &&
		run 2 convert --force --to csv -o - t
	result $? "options without effect are refused"
	run 2 start x -m discard --stall 4294968s && says "too long"
	result $? "start: a duration that is too long"
}

test_recover()
{
	rm -rf r to
	"$make_trace" image r
	run 3 recover --image r -o to --json && [ ! -s log ] &&
		grep -q '"ended":"panic"' text &&
		grep -q '"names":2,"names_discarded":1' text &&
		grep -q '"cpu":1,"ring":"control","capacity":4,"checked":2,"unchecked":1,"open":1,"cut":0,"discarded":0,"events":67' text
	result $? "recover: an image with a partially written block"
	run 0 dump --all to && lines 270
	result $? "recover: the trace can be read"
	run 1 recover --image r -o to && says "to: Directory not empty"
	result $? "recover: does not replace a trace"
	run 3 recover --image r -o to -f --at 12288
	result $? "recover: replaces a trace with -f"
	run 1 recover --image r -o to -f --at 0x1000 && says "no trace found at"
	result $? "recover: no region at that place"
	truncate -s 80000 r
	run 3 recover --image r -o to -f && says "not in the input"
	result $? "recover: a truncated image"
	flip r 12300
	run 1 recover --image r -o to -f && says "0x3000: a superblock has" &&
		says "r: no trace found"
	result $? "recover: a damaged superblock is reported"
	run 1 recover --image /dev/zero -o to2 && says "not a regular file" &&
		[ ! -e to2 ]
	result $? "recover: a pipe that never ends is refused"
	for wrong in "--image r" "-o to2 --image r x" "-o to2 --at x" \
		"-o to2 --image r --drop" "-o to2 --image r --at x"; do
		# shellcheck disable=SC2086	# words
		run 2 recover $wrong
		result $? "recover $wrong: usage"
	done
	run 1 recover --device x -o to2 && says "x: No such file or directory" && [ ! -e to2 ]
	result $? "recover: no device"
}

echo "TAP version 13"
test_dump
test_follow
test_convert
test_verify
test_options
test_filter
test_live
test_stdio
test_version
test_split
test_limits
test_record
test_objects
test_select
test_formats
test_list
test_log
test_zstd
test_recover
echo "1..$n"
exit $failed
