#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# In the guest: record sessions of LTTng's kernel tracer below /out, one for each way in which
# their traces differ.  The names of the sessions are in /out/sessions.
set -e

act=/peers/act

lttng-sessiond --daemonize --pidfile=/run/sessiond.pid
trap 'kill "$(cat /run/sessiond.pid)"; while [ -e /run/sessiond.pid ]; do sleep 0.1; done' EXIT

events='sched_*,irq_*,timer_*,hrtimer_*,signal_*,kmem_*,writeback_*,workqueue_*,rcu_*,block_*'

# begin NAME CHANNEL-OPTIONS [CREATE-OPTIONS]
begin()
{
	session=$1
	# shellcheck disable=SC2086	# several options
	lttng create "$1" --output="/out/$1" $3
	# shellcheck disable=SC2086
	lttng enable-channel --kernel ch $2
	echo "$1" >>/out/sessions
}

# events_of LIST CONTEXT...
events_of()
{
	lttng enable-event --kernel --channel=ch "$1"
	shift
	for context; do
		lttng add-context --kernel --channel=ch -t "$context" ||
			echo "$context" >>/out/lacking	# this kernel has it not
	done
}

calls_too()
{
	lttng enable-event --kernel --channel=ch --syscall --all
}

work()
{
	$act getppid 500 child 10
	sh -c 'ls /usr/lib >/dev/null; cat /proc/self/status >/dev/null; dd if=/dev/zero of=/tmp/f bs=4k count=20 2>/dev/null; sync'
	sleep 0.05
}

finish()
{
	lttng stop
	lttng destroy "$session"
}

begin plain '' ''
events_of "$events"
calls_too
lttng start && work && finish

begin lost '--subbuf-size=4k --num-subbuf=2' ''
events_of "$events" procname
calls_too
lttng start && work && work && finish

begin overwrite '--overwrite --subbuf-size=16k --num-subbuf=4' ''
events_of "$events" tid
lttng start && work && work && finish

begin rotated '--subbuf-size=64k --num-subbuf=4' ''
events_of "$events"
lttng start && work
lttng rotate && work
lttng rotate && work && finish

begin snapshot '--subbuf-size=256k --num-subbuf=4' --snapshot
events_of 'sched_*,irq_*' procname
lttng start && work
lttng snapshot record && work
lttng snapshot record && finish

begin files '--subbuf-size=64k --num-subbuf=4 --tracefile-size=128k --tracefile-count=3' ''
events_of "$events" tid
calls_too
lttng start && work && work && finish

begin contexts '' ''
events_of 'sched_*,irq_*' procname pid tid vpid vtid
calls_too
lttng start && work && finish
