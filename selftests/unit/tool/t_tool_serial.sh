#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_serial.sh FOLDER: test ktape send and ktape receive over a pair of
# terminals, between which a program drops, changes and inserts bytes.
here=$(cd "${0%/*}" && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../support/tool.sh" "$1"
# shellcheck disable=SC2154	# tool.sh sets it
tool=$out/command/ktape

echo "TAP version 13"
echo "1..25"

# counts: set $came, $lost and $bad to the numbers of events, lost events and
# bad frames that receive has printed
counts()
{
	came=$(sed -n 's/.* \([0-9]*\) events received.*/\1/p' log)
	lost=$(sed -n 's/.* received, nothing lost, .*/0/p
		s/.* received, an unknown number of events lost in .*/0/p
		s/.* received, \([0-9]*\) events\( and an unknown number more\)\{0,1\} lost in .*/\1/p' log)
	bad=$(sed -n 's/.*, no bad frame$/0/p; s/.* \([0-9]*\) bad frames\{0,1\}$/\1/p' log)
	[ -n "$came" ] && [ -n "$lost" ] && [ -n "$bad" ]
}

"$out/t_lib_linux" --lossy trace || exit
"$out/t_lib_linux" --scene scene
sent=$("$tool" dump --all trace 2>/dev/null | grep -cv " registry: ")

for frame in rkh cobs; do
	run 0 send --frame $frame trace $frame.line &&
		says "$sent events sent, 0 shed" &&
		run 0 receive --frame $frame -o $frame.clean $frame.line &&
		says "$sent events received, 5 events lost in 1 gap, no bad frame"
	result $? "$frame: a file in between"
done
run 0 send --frame cobs scene clean.line && run 0 receive --frame cobs -o clean clean.line &&
	says " events received, nothing lost, no bad frame"
result $? "nothing lost is said in words"
run 2 send --baud 12345 trace /dev/null && run 2 send --frame x trace line &&
	run 2 receive --frame x -o t line &&
	run 2 send trace && run 2 receive line &&
	run 1 send nowhere line && run 1 receive -o t nowhere
result $? "usage"

# Events that the format cannot hold arrive all the same, with the places of
# losses.
words='context|irq_|softirq_entry|softirq_exit|sched_switch|wakeup|mark|fork|exit'
"$tool" dump --all trace 2>log | grep -Ev " registry: |$words" |
	sed 's/ ([^)]*)//g; s/cpu \([0-9]*\) .*-\([0-9]*\) /cpu \1 \2 /' >other
"$tool" dump --all cobs.clean 2>log2 | grep -Ev " registry: |isr_|$words" |
	sed 's/ ([^)]*)//g; s/cpu \([0-9]*\) .*-\([0-9]*\) /cpu \1 \2 /' >came
diff other came >>log && [ "$(wc -l <came)" -gt 10 ] &&
	[ "$(grep -c '5 events lost between \[0.000016000\] and \[0.000021100\]' \
		log log2 | grep -c ':1$')" = 2 ]
result $? "cobs: events without a counterpart"

# 120 bytes per second, with a buffer of 60: nearly everything is shed and
# counted.
for frame in rkh cobs; do
	run 0 send --frame $frame --shed --baud 1200 scene slow
	shed=$(sed -n 's/.* \([0-9]*\) shed/\1/p' log)
	[ "${shed:-0}" -gt 20 ] && says "$((45 - shed)) events sent" &&
		run 0 receive --frame $frame --force -o few slow && counts &&
		[ "$came" = "$((45 - shed))" ] && [ "$lost" = "$shed" ] &&
		run 0 stats --json few && grep -q "\"lost\":$shed,\"gaps\"" text
	result $? "$frame: a line that is too slow: ${shed:-none} shed"
done

if ! command -v python3 >/dev/null; then
	while [ "$n" -lt 25 ]; do
		n=$((n + 1))
		echo "ok $n # SKIP no python3"
	done
	exit "$failed"
fi

# A decoder without checks reads the stream; the checksums are computed
# independently.
python3 "$here/serial.py" plain cobs.line "$sent" >log 2>&1
result $? "cobs: as any decoder sees it"

python3 "$here/serial.py" joined "$tool" rkh.line two >text 2>log
result $? "rkh: two frames merged into one are refused"

for frame in rkh cobs; do
	timeout 600 python3 "$here/serial.py" slow $frame "$tool" $frame.line \
		$frame.slow 2>log && "$tool" dump --all $frame.clean >want 2>>log &&
		"$tool" dump --all $frame.slow 2>>log | diff want - >>log
	result $? "$frame: byte by byte"
done

for frame in rkh cobs; do
	timeout 600 python3 "$here/serial.py" line $frame 0 "$tool" trace \
		$frame.pair >text 2>log &&
		says "$sent events received, 5 events lost in 1 gap, no bad frame"
	result $? "$frame: a pair of terminals"
done

timeout 600 python3 "$here/serial.py" line rkh 60 "$tool" trace lossy \
	>text 2>log && counts && [ "$came" -lt "$sent" ] && [ "$came" -gt 10 ] &&
	[ $((came + lost)) -ge "$sent" ] && [ "$bad" -gt 0 ] &&
	run 0 dump --all lossy
result $? "rkh: a line that loses bytes: ${came:-no} of $sent, ${lost:-none} counted"

# Here every lost event is counted, and the 5 that the trace itself has lost.
timeout 600 python3 "$here/serial.py" line cobs 60 "$tool" trace lossy2 \
	>text 2>log && counts && [ "$came" -lt "$sent" ] && [ "$came" -gt 10 ] &&
	[ $((came + lost)) = $((sent + 5)) ] && [ "$bad" -gt 0 ] &&
	run 0 dump --all lossy2
result $? "cobs: a line that loses bytes: ${came:-no} of $sent, ${lost:-none} counted"

# Known damage: the numbers of arrived and lost events and of damaged places
# must be exact.
same=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	python3 "$here/serial.py" harm cobs.line harmed $seed 90 >want 2>log ||
		break
	run 0 receive --frame cobs --force -o again harmed || break
	counts || break
	echo "$came $((lost - 5)) $bad" >got
	diff want got >>log || break
	same=$((same + 1))
done
[ $same = 12 ]
result $? "cobs: known damage is counted exactly: $same of 12"

"$tool" convert --to native -o - trace >pipe-form 2>log
for how in stop-send stop-receive hangup; do
	timeout 600 python3 "$here/serial.py" $how cobs "$tool" pipe-form \
		stopped-$how "$sent" >text 2>log
	result $? "live: $how"
done

# What has arrived can be read at once, and is kept however the command ends.
for frame in rkh cobs; do
	timeout 1200 python3 "$here/serial.py" live $frame "$tool" $frame.line live-$frame \
		>text 2>log
	result $? "$frame: a line that stands still: folder, pipe, signals"
done

# When events come faster than the line, send sheds by class while it waits.

# controls_are TRACE: it must have as many control records as were sent
controls_are()
{
	run 0 dump --event control "$1" && grep -Ev "$no_events" text >some &&
		mv some text && lines "$controls"
}

# Records that the format adds itself.
no_events=' (context|registry): '
"$out/make_trace" session session session-pipe || exit
all=$("$tool" dump --all session 2>/dev/null | grep -cv " registry: ")
controls=$("$tool" dump --event control session 2>/dev/null |
	grep -Ecv "$no_events")
timeout 600 python3 "$here/serial.py" stuck cobs "$tool" session-pipe stuck \
	>stuck-log 2>&1 &
stuck=$!
for frame in rkh cobs; do
	timeout 600 python3 "$here/serial.py" full $frame "$tool" session \
		full-$frame 2>log
	ended=$?
	shed=$(sed -n 's/.* \([0-9]*\) shed/\1/p' log)
	[ $ended = 0 ] && [ "${shed:-0}" -gt 1000 ] &&
		says "$((all - shed)) events sent" &&
		run 0 receive --frame $frame -o full-$frame.d full-$frame &&
		says "$((all - shed)) events received, $shed events lost" &&
		controls_are full-$frame.d
	result $? "$frame: a line that is full: ${shed:-none} of $all shed"
done
timeout 600 python3 "$here/serial.py" late cobs "$tool" session-pipe late 2>log
ended=$?
shed=$(sed -n 's/.* \([0-9]*\) shed/\1/p' log)
[ $ended = 0 ] && [ "${shed:-0}" -gt 50 ] &&
	run 0 receive --frame cobs -o late.d late &&
	says "$((all - shed)) events received, $shed events lost" && controls_are late.d
result $? "a line that is slower than its rate: ${shed:-none} of $all shed"
wait $stuck && grep -q "[1-9][0-9]\{3,\} bytes were not sent" stuck-log &&
	grep -q "events sent" stuck-log
ended=$?
cp stuck-log log
result $ended "a stuck line: send ends all the same"
exit "$failed"
