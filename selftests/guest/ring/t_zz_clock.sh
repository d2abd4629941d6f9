#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test a clock that changes under a recording: the kernel takes another clock source, and
# then no longer trusts the cycle counter.  Times go on, but their order between CPUs is no
# longer certain: `ktape verify` must say so, also of a recording that goes on.  The counter
# stays distrusted until the next boot, so this is one of the last programs.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

source=/sys/devices/system/clocksource/clocksource0
module=${KTAPE_TESTS:-/tests}/kt_tsc.ko

# backwards TRACE: print the number of events that are earlier than the event before
# them in their ring; one more if the trace has fewer than 1000 events
backwards()
{
	ktape dump --json "$1" 2>>$dir/dump.err | awk "$json"'
		/"ring":"event"/ {
			cpu = field("cpu")
			ts = field("ts")
			back += ts < last[cpu]
			last[cpu] = ts
			n++
		}
		END { print back + (n < 1000) }'
}

# Fill more than one block on each CPU.
fill_blocks()
{
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		act cpu "$cpu" getppid 3000
	done
}

test_another_source()
{
	other=$(tr ' ' '\n' <$source/available_clocksource | grep -vx -m 1 tsc)
	before=$(cat $source/current_clocksource)
	ktape record -q -p default,syscall -B 4K -o $dir/other -- sh -c "
		$(command -v act) getppid 3000
		echo $other >$source/current_clocksource
		$(command -v act) getppid 3000" 2>$dir/log
	result $? "recording while the clock source becomes $other" $dir/log
	echo "$before" >$source/current_clocksource
	[ "$(backwards $dir/other)" = 0 ]
	result $? "times of each CPU do not go back" $dir/dump.err
	ktape verify $dir/other >$dir/log 2>&1
	result $? "the trace is consistent: the trace clock is another one" $dir/log
}

test_unstable()
{
	fill_blocks
	insmod "$module"
	# The module asks the kernel at each new block; a work item reports it a little later.
	for _ in $(seq $((50 * ${KTAPE_SCALE:-1}))); do
		fill_blocks
		! reported || break
	done
	reported
	result $? "the log says that the counter is not trusted any more"
	ktape snapshot -o $dir/live 2>$dir/log
	result $? "what the running session has is saved" $dir/log
	ktape verify $dir/live >$dir/log 2>&1
	[ $? = 1 ] && grep -q 'clock.*does not trust the trace clock' $dir/log
	result $? "verify does not vouch for it, though it did not end" $dir/log
	[ "$(backwards $dir/live)" = 0 ]
	result $? "times of each CPU still do not go back" $dir/dump.err
}

reported()
{
	dmesg | grep -q 'ktape: the kernel no longer trusts the cycle counter'
}

# The next load does not use the cycle counter, and its traces can be verified.
test_next_load()
{
	rmmod ktape
	! insmod "$KTAPE_MODULE" clock=cycles 2>$dir/log
	result $? "the next load with clock=cycles is refused" $dir/log
	insmod "$KTAPE_MODULE" clock=auto 2>$dir/log
	result $? "clock=auto loads" $dir/log
	ktape record -q -o $dir/mono -- act getppid 1000 2>$dir/log
	grep -q 'name = "\{0,1\}mono' $dir/mono/metadata
	result $? "and takes the monotonic clock" $dir/log
	ktape verify $dir/mono >$dir/log 2>&1
	result $? "which verify vouches for" $dir/log
	rmmod ktape
}

echo "TAP version 13"
if [ ! -e "$module" ]; then
	echo "1..0 # SKIP only x86 has a time stamp counter"
	exit 4
fi
if ! insmod "$KTAPE_MODULE" clock=cycles block=4K size=256K 2>/tmp/test/err; then
	echo "1..0 # SKIP $(dmesg | grep 'ktape:' | tail -n 1)"
	exit 4
fi
test_another_source
test_unstable
test_next_load
echo "1..$n"
