#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test each trace clock: its times are right, or the module says why it refuses
# the clock.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

clocks="mono cycles auto"
checked=

# last_message: print the last line that the module has logged
last_message()
{
	dmesg | grep 'ktape:' | grep -v 'cannot be loaded' | tail -n 1
}

# used: print the clock that clockcheck has found
used()
{
	sed -n '/ a tick$/{s/,.*//p;q;}' /tmp/test/clock
}

# check_times CLOCK: check the times. For "auto" one round is enough if the
# clock that it chose was checked before.
check_times()
{
	if [ "$1" = auto ]; then
		clockcheck 1 || return
		case $checked in
		*" $(used) "*) return 0 ;;
		esac
	fi
	clockcheck
}

# check_clock CLOCK: load the module with this clock. Only "cycles" may be refused.
check_clock()
{
	if ! insmod "$KTAPE_MODULE" clock="$1" 2>/tmp/test/insmod; then
		[ "$1" = cycles ]
		result $? "clock=$1 loads, or is one that may be refused"
		last_message | grep -q 'clock=cycles is not reliable'
		result $? "clock=$1: the log says why it is refused"
		skip "clock=$1: times are right" "$(last_message)"
		return
	fi
	result 0 "clock=$1 loads"
	check_times "$1" >/tmp/test/clock 2>&1
	result $? "clock=$1: times are right"
	sed 's/^/# /' /tmp/test/clock
	used=$(used)
	case $1=$used in
	mono=mono | cycles=cycles | auto=mono | auto=cycles) true ;;
	*) false ;;
	esac
	result $? "clock=$1: the trace uses it"
	checked="$checked $used "
	rmmod ktape
}

echo "TAP version 13"
for clock in $clocks; do
	check_clock "$clock"
done
if insmod "$KTAPE_MODULE" clock=sundial 2>/dev/null; then
	result 1 "an unknown clock is refused"
	rmmod ktape
else
	last_message | grep -q 'clock=sundial is not cycles, mono or auto'
	result $? "an unknown clock is refused"
fi
echo "1..$n"
