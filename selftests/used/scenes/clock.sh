# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# The clock of the system is set forward and back, and its speed is changed. A new piece of
# the log begins after each step.
#
# clock:STEPS	  the trace clock is the one that the module takes by itself
# clock:STEPS:mono that is the monotonic one, because the kernel does not trust the counter
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

steps=${scene%%:*}

work()
{
	for step in $(seq "$steps"); do
		pieces=$(count "$log/*")
		case $((step % 4)) in
		0) date -s "@$(($(date +%s) - 90000))" ;;
		1) date -s "@$(($(date +%s) + 7200))" ;;
		2) date -s "@$(($(date +%s) - 1))" ;;
		3) adjtimex -q -t $((9500 + step % 20 * 50)) -f $((step * 65536)) ;;
		esac || return
		act getppid 2000 child 20 nap 20 1
		until_true "piece $((pieces + 1)) has begun" has_pieces $((pieces + 1))
	done
	adjtimex -q -t 10000 -f 0
}

case $scene in
*:mono)
	ktape status --json >/tmp/status
	grep -q '"clock":"mono' /tmp/status
	result $? "clock: the trace clock is not the counter" /tmp/status
	;;
esac
before=$(date +%s)
span clock work
date -s "@$before" >/dev/null
# Files of the time at which the clock was ahead would be from the future for the host.
find "$folder" -exec touch {} +
