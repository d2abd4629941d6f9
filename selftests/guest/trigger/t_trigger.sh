#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape trigger` and `ktape snapshot`: what they arm, print, run, save and
# refuse.

# shellcheck source=selftests/guest/support/session.sh
. "${0%/*}/session.sh"

# wait_until COMMAND...: wait up to ten seconds, or more on a slow kernel, until COMMAND
# succeeds
wait_until()
{
	i=0
	while [ $i -lt $((100 * ${KTAPE_SCALE:-1})) ]; do
		"$@" && return
		usleep 100000
		i=$((i + 1))
	done
	false
}

is_stopped()
{
	[ "$(state "$1")" = stopped ]
}

test_list()
{
	ktape trigger t list >$dir/out 2>$dir/log && [ ! -s $dir/out ]
	result $? "list shows no trigger at first" $dir/log
	[ "$(ktape trigger t add -n 3 -l 2 -m 5 'mark_value:id=7,value<0')" = 0 ]
	result $? "add prints the id"
	[ "$(ktape trigger t add --longer 50ms 'sys_span:nr=nanosleep')" = 1 ]
	result $? "add takes the name of a system call as a value"
	[ "$(ktape trigger t add --quiet 5 mark)" = 2 ]
	result $? "add takes a trigger for silence"
	ktape trigger t list >$dir/out 2>$dir/log
	grep -q '^ 1  sys_span:.* longer 0.05 s ->; ' $dir/out
	result $? "list shows a duration" $dir/out
	grep -q '^ 0  mark_value:id=7,value<0 every 3 -> mark; 0 matches, fired 0 of 2$' $dir/out
	result $? "list shows the condition as written" $dir/out
	ktape trigger t list --json | json >$dir/out 2>$dir/log &&
		[ "$(grep -o "condition=" $dir/out | wc -l)" = 3 ]
	result $? "list --json" $dir/log
	ktape trigger t del 0 1 2 && [ -z "$(ktape trigger t list)" ]
	result $? "del takes several ids"
}

test_refused()
{
	refused "no such event" 2 ktape trigger t add bogus
	refused "no such field" 2 ktape trigger t add mark:bogus=1
	refused "text is no number" 2 ktape trigger t add mark:message=1
	refused "no such value" 2 ktape trigger t add mark:id=x
	refused "no operator" 2 ktape trigger t add mark:id
	refused "five comparisons" 2 ktape trigger t add \
		'mark:id>1,id>2,id>3,id>4,id>5'
	refused "two kinds" 2 ktape trigger t add --longer 1 --quiet 1 mark
	refused "before what?" 2 ktape trigger t add --before 1 mark
	refused "target of what?" 2 ktape trigger t add -t t mark
	refused "a pair that is none" 2 ktape trigger t add --longer 1 mark
	refused "no such target" 1 ktape trigger t add --stop -t nobody mark
	refused "no such session" 1 ktape trigger nobody list
	refused "no such trigger" 1 ktape trigger t del 3
	refused "no number" 2 ktape trigger t del x
	refused "no verb" 2 ktape trigger t
	refused "run what?" 2 ktape trigger t run mark
	refused "snapshot where to?" 2 ktape snapshot t
	refused "snapshot of nobody" 1 ktape snapshot nobody -o $dir/none
}

# A command runs for each firing; `trigger run` ends with the last firing.
test_run()
{
	# shellcheck disable=SC2016	# for the other shell
	ktape trigger t run -l 2 mark -- \
		sh -c 'echo "$KTAPE_TRIGGER_FIRED" >>/tmp/test/ran' \
		>$dir/log 2>&1 &
	wait_until sh -c 'ktape trigger t list | grep -q notify'
	ktape mark instant 1 one
	wait_until [ -s $dir/ran ]
	ktape mark instant 1 two
	wait $!
	result $? "run ends after the last firing" $dir/log
	[ "$(cat $dir/ran)" = "1
2" ]
	result $? "run runs the command for each firing" $dir/ran
	[ -z "$(ktape trigger t list)" ]
	result $? "run removes its trigger"
}

# uptime_cs: set $now to the uptime in hundredths of a second
uptime_cs()
{
	read -r now _ </proc/uptime
	now=${now%.*}${now#*.}
}

test_snapshot()
{
	ktape mark instant 1 three
	ktape snapshot t -o $dir/now >$dir/log 2>&1 && grep -q events $dir/log
	result $? "snapshot saves a running session" $dir/log
	[ "$(state t)" = running ]
	result $? "snapshot leaves the session running"
	ktape dump $dir/now | grep -q three
	result $? "the snapshot has the latest event"
	ktape verify $dir/now >$dir/log 2>&1
	result $? "verify finds no error in the snapshot" $dir/log
	refused "twice into one folder" 1 ktape snapshot t -o $dir/now
	ktape snapshot t -f -o $dir/now 2>$dir/log
	result $? "snapshot --force replaces a trace" $dir/log
	ktape snapshot t -o - 2>$dir/log | ktape dump - | grep -q three
	result $? "snapshot writes a pipe form to standard output" $dir/log
	refused "nobody stops it" 1 ktape snapshot t -w -d 0.3 -o $dir/none

	# Both marks must come within the window. Only if they took longer, on a
	# slow or paused machine, the next try has a longer window. The trigger
	# counts in jiffies.
	all='30 200 1000'
	[ "${KTAPE_SCALE:-1}" = 1 ] || all='400 2000 6000'
	for after in $all; do
		id=$(ktape trigger t add -s --before 0 --after "${after}0ms" mark) &&
			{ ktape snapshot t -w -o $dir/then >$dir/log 2>&1 & } &&
			usleep 300000 && uptime_cs && since=$now &&
			ktape mark instant 1 four &&
			ktape mark instant 1 five && uptime_cs && wait $!
		rc=$?
		ktape dump --all $dir/then >$dir/out
		if [ $rc != 0 ] || grep -q five $dir/out ||
			[ $((now - since + 3)) -lt "$after" ]; then
			break
		fi
		echo "# the second mark came after $((now - since))0 ms"
		ktape trigger t del "$id"
		ktape start t
		rm -rf $dir/then
	done
	result "$rc" "snapshot --wait ends when a trigger stops the session" $dir/log
	is_stopped t && grep -q four $dir/out && grep -q five $dir/out &&
		grep -q ' trigger: ' $dir/out
	result $? "snapshot --wait has the events before and after" $dir/out
	ktape trigger t list | grep -q 'snapshot holds .* before it$'
	result $? "list shows how far the snapshot reaches back"
}

mkdir -p $dir
: >$dir/dump.err
ktape start t -e mark,mark_value -b 256K >$dir/log 2>&1
result $? "trigger add takes a session" $dir/log
test_list
test_refused
test_run
test_snapshot
ktape destroy t
result $? "destroying a session removes its triggers"
echo "1..$n"
