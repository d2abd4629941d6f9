#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test recording across a suspend: the clocks are related anew, times do not go
# back, and CPUs that were offline record again. The kernel's test mode stops
# before the machine is switched off and wakes up 5 s later.

trace=/tmp/test/trace
n=0

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
	fi
}

finish()
{
	echo "1..$n"
	exit 0
}

# by_cpu FILE: print for each CPU its number of events and how many of them are
# earlier than their predecessor
by_cpu()
{
	awk -v cpus="$(nproc)" '
		function number(name,  text) {
			match($0, "\"" name "\":[0-9]+")
			text = substr($0, RSTART, RLENGTH)
			sub(/.*:/, "", text)
			return text + 0
		}
		/"ring":"event"/ {
			cpu = number("cpu")
			ts = number("ts")
			back[cpu] += ts < last[cpu]
			last[cpu] = ts
			n[cpu]++
		}
		END {
			for (cpu = 0; cpu < cpus; cpu++)
				print cpu, n[cpu] + 0, back[cpu] + 0
		}' "$1"
}

echo "TAP version 13"
if ! { echo core >/sys/power/pm_test; } 2>/dev/null ||
	! grep -q mem /sys/power/state; then
	n=1
	echo "ok 1 - suspend # SKIP the kernel has no test mode for it"
	finish
fi
# Otherwise mem stands for a sleep in which no CPU is taken off.
if grep -q s2idle /sys/power/mem_sleep && ! grep -q deep /sys/power/mem_sleep; then
	n=1
	echo "ok 1 - suspend # SKIP the machine can only suspend to idle"
	finish
fi 2>/dev/null
ktape record -q -e sched -o $trace -- \
	sh -c 'echo mem >/sys/power/state; echo $? >/tmp/test/status; sleep 1'
result $? "recording over a suspend"
[ "$(cat /tmp/test/status)" = 0 ]
result $? "the system was suspended"
ktape dump --json $trace >/tmp/test/dump
result $? "the trace can be read"
syncs=$(grep '"event":"clock_sync"' /tmp/test/dump | grep -c '"reason":2')
[ "$syncs" -ge "$(nproc)" ]
result $? "each CPU has a new clock relation: $syncs"
by_cpu /tmp/test/dump >/tmp/test/times
[ "$(wc -l </tmp/test/times)" = "$(nproc)" ]
result $? "times of each CPU are there"
while read -r cpu events back; do
	[ "$back" = 0 ]
	result $? "times of CPU $cpu do not go back: $events"
done </tmp/test/times
ktape dump --all $trace | grep -q "cpu: online=1"
result $? "CPUs came back"
finish
