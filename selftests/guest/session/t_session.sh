#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test named sessions on the command line: created, recorded from, destroyed.

# shellcheck source=selftests/guest/support/session.sh
. "${0%/*}/session.sh"

test_life()
{
	ktape start calls -m discard -e syscall -b 256K >$dir/log 2>&1
	result $? "start creates a session that records" $dir/log
	[ "$(state calls)" = running ]
	result $? "status lists the session"
	ktape status calls --json >$dir/out
	grep -q '"mode":"discard","running":true' $dir/out &&
		grep -q '"name":"calls"' $dir/out
	result $? "status --json shows its mode and name" $dir/out
	ktape completion --list sessions >$dir/out
	grep -q '^0	' $dir/out && grep -q '^calls	discard, running$' $dir/out
	result $? "completion offers the sessions" $dir/out
	ktape profile -S calls or sched_switch &&
		ktape profile -S calls --json | grep -q '"sched_switch"'
	result $? "profile -S changes the session's profile"
	ktape profile -S calls >$dir/out &&
		grep -qE '^sched +[0-9]+ of +[0-9]+ (.* )?sched_switch( |$)' $dir/out &&
		grep -qE '^syscall +[0-9]+ of +[0-9]+ sys_enter ' $dir/out &&
		! grep -q '^irq ' $dir/out
	result $? "the table of profile has a row for each class that is recorded" $dir/out
	! ktape profile --json | grep -q '"sys_enter"'
	result $? "profile -S does not change session 0"
	refused "a name that exists" 1 ktape start calls -m overwrite
	refused "stop with an unknown name" 1 ktape stop nobody
	refused "an invalid name" 1 ktape start 'a b'
	refused "session 0 destroyed" 1 ktape destroy 0
	refused "an unknown mode" 2 ktape start x -m tape
	refused "options for session 0" 2 ktape start -m discard
	refused "too large" 1 ktape start huge -b 2G
	grep -q 'half of the memory' $dir/log
	result $? "too large: the message names the limit"
	ktape stop calls && [ "$(state calls)" = stopped ]
	result $? "stop"
	ktape start calls && [ "$(state calls)" = running ]
	result $? "start again"
	ktape clear calls
	result $? "clear"
	ktape destroy calls && [ -z "$(state calls)" ]
	result $? "destroy"
}

test_record()
{
	ktape start flight -e sched -b 128K
	emit 0
	ktape record -S flight -d 300ms -o $dir/live 2>$dir/log
	result $? "record -S reads a running session" $dir/log
	[ "$(state flight)" = running ]
	result $? "the session runs on after record -S"
	[ "$(records $dir/live 1000)" -ge 1000 ]
	result $? "record -S gets the events from before"
	emit &
	emitter=$!
	ktape record -S flight -l $dir/pieces/ --rotate 300ms -d 1 2>$dir/log.err &
	recorder=$!
	ended $recorder 15
	result $? "record -S -l ends after its duration" $dir/log.err
	kill -KILL $recorder 2>/dev/null
	kill $emitter
	wait
	[ "$(state flight)" = running ] && grep -q ' events, ' $dir/log.err
	result $? "record -S -l prints a summary, and the session runs on" $dir/log.err
	ktape stop flight
	ktape record -S flight -o $dir/held 2>$dir/log
	result $? "record -S saves a stopped session" $dir/log
	agrees "a stopped session" $dir/held $dir/log
	refused "-S with another mode" 2 ktape record -S flight -m discard -o x
	ktape destroy flight
}

test_snapshot()
{
	ktape record -m snapshot -e syscall -b 32K -B 4K -o $dir/snap -- \
		emit 20 2>$dir/log
	result $? "a snapshot ends when it is full" $dir/log
	agrees "snapshot" $dir/snap $dir/log
	ktape dump --all $dir/snap | grep -q ' freeze: '
	result $? "the snapshot records the time of its end"
	ktape start once -m snapshot -e syscall -b 16K -B 4K
	emit 0
	[ "$(state once)" = frozen ]
	result $? "status shows a full snapshot as frozen"
	ktape start once && ktape stop once && [ "$(state once)" != frozen ]
	result $? "start arms a full snapshot again"
	ktape destroy once
}

test_sizes()
{
	ktape start tiny -b 1K -B 512 --control 1K >$dir/out 2>$dir/log
	result $? "start accepts sizes below the minimum"
	grep -q 'rings were given 16384 bytes instead of 1024' $dir/log &&
		grep -q 'blocks were given 4096 bytes instead of 512' $dir/log &&
		grep -q 'control rings were given 16384 bytes instead of 1024' $dir/log
	result $? "start rounds small sizes up and says so" $dir/log
	ktape destroy tiny
}

need_ktape
mkdir -p $dir
test_life
test_record
test_snapshot
test_sizes
echo "1..$n"
