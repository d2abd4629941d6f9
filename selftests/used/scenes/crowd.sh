# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# Very many threads and cgroups, each of which is replaced once while a log is recorded.
# Whether all have their names is the test t_crowd.sh.
#
# crowd:THREADS:CGROUPS
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

exists()
{
	[ -e "$1" ] || ! kill -0 $crowd
}

work()
{
	touch /tmp/crowd.go
	until_true "each has gone and come" exists /tmp/crowd.done
	[ -e /tmp/crowd.done ]
}

crowd /tmp/crowd "${scene%:*}" "${scene#*:}" 2>/tmp/crowd.err &
crowd=$!
until_true "the crowd is there" exists /tmp/crowd.ready
[ -e /tmp/crowd.ready ]
result $? "crowd: ${scene%:*} threads and ${scene#*:} cgroups" /tmp/crowd.err
span crowd work
rm -f /tmp/crowd.go
wait $crowd
result $? "crowd: it ends" /tmp/crowd.err
rm -f /tmp/crowd*
