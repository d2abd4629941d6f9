#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test recording across a suspend: after it a clock_sync record relates the trace clock
# to the other clocks again, times do not go back, and CPUs that were offline record
# again. The kernel's test mode stops before the machine is switched off and wakes up
# 5 s later. From suspend to idle, kt_wake.ko wakes it.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

trace=/tmp/test/trace

# by_cpu FILE: print for each CPU its number of events and how many of them are
# earlier than their predecessor
by_cpu()
{
	awk -v cpus="$(nproc)" "$json"'
		/"ring":"event"/ {
			cpu = field("cpu")
			ts = field("ts")
			back[cpu] += ts < last[cpu]
			last[cpu] = ts
			n[cpu]++
		}
		END {
			for (cpu = 0; cpu < cpus; cpu++)
				print cpu, n[cpu] + 0, back[cpu] + 0
		}' "$1"
}

# record_across NAME COMMAND: record while COMMAND suspends and writes its status to
# /tmp/test/status; then check the trace
record_across()
{
	rm -rf $trace
	ktape record -q -e sched -o $trace -- sh -c "$2; sleep 1"
	result $? "$1: recording"
	[ "$(cat /tmp/test/status)" = 0 ]
	result $? "$1: the system was suspended"
	ktape dump --json $trace >/tmp/test/dump
	result $? "$1: the trace can be read"
	ktape verify $trace >/tmp/test/verify
	result $? "$1: nothing is wrong with it"
	grep '^wrong' /tmp/test/verify | head -n 5 | sed 's/^/# /'
	syncs=$(grep '"event":"clock_sync"' /tmp/test/dump | grep -c '"reason":2')
	[ "$syncs" -ge "$(nproc)" ]
	result $? "$1: each CPU has a new clock relation: $syncs"
	by_cpu /tmp/test/dump >/tmp/test/times
	[ "$(wc -l </tmp/test/times)" = "$(nproc)" ]
	result $? "$1: times of each CPU are there"
	while read -r cpu events back; do
		[ "$back" = 0 ]
		result $? "$1: times of CPU $cpu do not go back: $events"
	done </tmp/test/times
}

test_deep()
{
	if ! { echo core >/sys/power/pm_test; } 2>/dev/null ||
		! grep -q mem /sys/power/state; then
		skip suspend "the kernel has no test mode for it"
		return
	fi
	# Otherwise mem stands for a sleep in which no CPU is taken off.
	if grep -q s2idle /sys/power/mem_sleep &&
		! grep -q deep /sys/power/mem_sleep; then
		skip suspend "the machine can only suspend to idle"
		return
	fi 2>/dev/null
	# shellcheck disable=SC2016	# for the inner shell
	record_across suspend 'echo mem >/sys/power/state; echo $? >/tmp/test/status'
	ktape dump --all $trace | grep -q "cpu: online=1"
	result $? "CPUs came back"
}

# The wake-up is set before the suspend. One that comes before the system sleeps makes the
# suspend fail: try again with a later one.
test_idle()
{
	wake=${KTAPE_TESTS:-/tests}/kt_wake.ko
	if [ ! -e "$wake" ] || ! grep -q freeze /sys/power/state; then
		skip "suspend to idle" "the kernel does not know it"
		return
	fi
	# A driver would stop the timers, and with them what wakes the machine.
	driver=$(cat /sys/devices/system/cpu/cpuidle/current_driver 2>/dev/null)
	if [ "${driver:-none}" != none ]; then
		skip "suspend to idle" "cpuidle driver $driver: nothing would wake the machine"
		return
	fi
	record_across "suspend to idle" "
		for ms in 1000 2000 4000 8000 16000 32000; do
			insmod $wake ms=\$ms
			echo freeze >/sys/power/state
			status=\$?
			rmmod kt_wake
			[ \$status != 0 ] || break
		done
		echo \$status >/tmp/test/status"
}

echo "TAP version 13"
test_deep
# With pm_test=core the kernel refuses to suspend to idle.
{ echo none >/sys/power/pm_test; } 2>/dev/null
test_idle
echo "1..$n"
