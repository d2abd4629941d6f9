# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# shellcheck disable=SC2034,SC2154	# traces, rounds, sessions: of and for the script that sources this
# The sessions of LTTng-UST, one for each way in which their traces differ, for this machine
# (run) and for a guest of another one (guest.sh). Each is a function that records below
# $traces; as_user runs a command of LTTng, emit N the program with N rounds of events.

# begin NAME CHANNEL-OPTIONS [CREATE-OPTIONS]
begin()
{
	# shellcheck disable=SC2086	# several options
	as_user lttng create "$1" --output="$traces/$1" ${3-} &&
		as_user lttng enable-channel --userspace ch $2 &&
		as_user lttng enable-event --userspace --channel=ch 'ktape_fields:*' &&
		as_user lttng add-context --userspace --channel=ch $contexts &&
		as_user lttng start
}

finish_session()
{
	as_user lttng stop && as_user lttng destroy "$1"
}

contexts='-t procname -t vpid -t vtid -t pthread_id -t ip'
small='--subbuf-size=16k --num-subbuf=2'

plain()
{
	begin plain '' && emit 50 && finish_session plain
}

bare()
{
	local contexts='-t vuid -t vegid -t pid_ns -t uts_ns'
	begin bare '' && emit 5 && finish_session bare
}

pid()
{
	begin pid --buffers-pid && emit 20 && emit 20 && finish_session pid
}

discard()
{
	begin discard "$small" && emit "$rounds" && finish_session discard
}

overwrite()
{
	begin overwrite "--overwrite $small" && emit "$rounds" && finish_session overwrite
}

files()
{
	begin files '--subbuf-size=16k --num-subbuf=4 --tracefile-size=64k --tracefile-count=3' &&
		emit $((rounds / 2)) && finish_session files
}

rotated()
{
	begin rotated "$small" && emit "$rounds" && as_user lttng rotate rotated &&
		emit "$rounds" && as_user lttng rotate rotated && emit 10 &&
		as_user lttng rotate rotated && emit "$rounds" && finish_session rotated
}

snapshot()
{
	begin snapshot '' --snapshot && emit $((rounds / 2)) && as_user lttng snapshot record &&
		emit $((rounds / 4)) && as_user lttng snapshot record && finish_session snapshot
}

# The second snapshot has all packets of the first one, too.
again()
{
	begin again '' --snapshot && emit 50 && as_user lttng snapshot record &&
		emit 50 && as_user lttng snapshot record && finish_session again
}

sessions='plain bare pid discard overwrite files rotated snapshot again'
