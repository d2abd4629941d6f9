#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_convert.sh FOLDER: convert writes each format, and dump reads streams of
# other systems as they arrive.
# shellcheck source=selftests/unit/support/small_traces.sh
. "${0%/*}/../../support/small_traces.sh" "$1"

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

echo "TAP version 13"
test_convert
echo "1..$n"
exit $failed
