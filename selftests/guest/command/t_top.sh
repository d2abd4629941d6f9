#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape top` on a device: its counts are those of a known emitter and of `ktape
# dump`, lines and JSON say the same, the keys of its screen do what they say, and it leaves
# nothing behind.
#
# Helpers are in intervals.sh: has() waits until a file has so many lines that match, sum()
# adds up a member of all intervals. The program json prints each line of JSON as NAME=VALUE,
# with tabs between; keys types on a terminal and waits for what the screen shows.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"
# shellcheck source=selftests/guest/support/intervals.sh
. "${0%/*}/intervals.sh"
tests=${0%/*}
mkdir -p $dir && cd $dir || exit

marks=300

# ends PID: wait until a process has ended, and return its exit status
ends()
{
	(sleep 60; kill -KILL "$1") 2>/dev/null &
	guard=$!
	wait "$1"
	status=$?
	kill $guard 2>/dev/null
	return $status
}

test_counts()
{
	ktape start known -e user,sched_switch -b 4M
	ktape top -S known --json -t 100ms >top.json 2>log &
	top=$!
	i=0
	while [ $i -lt $marks ]; do
		echo "mark $i" >/dev/ktape_mark
		i=$((i + 1))
	done
	has 3 '' top.json
	result $? "intervals come while the session records" log
	ktape stop known
	ends $top
	result $? "top ends when the session has stopped" log
	json <top.json >intervals 2>log
	result $? "each interval is a line of JSON" log
	ktape record -S known -o trace 2>log
	ktape dump -e user trace | wc -l >dumped
	ktape dump -e sched_switch trace | wc -l >>dumped
	{ sum classes.user; sum classes.sched; } >counted
	cmp dumped counted && [ "$(head -n 1 counted)" = $marks ]
	result $? "the rates of all intervals together are the events of $marks marks: $(tr '\n' ' ' <counted)" dumped
	[ "$(sum events)" -ge "$(($(sum classes.user) + $(sum classes.sched)))" ] &&
		[ "$(sum lost)" = 0 ]
	result $? "events has them all, and none was lost" intervals
}

# The intervals of a session that stopped are the same each time.
test_lines()
{
	ktape top -S known --json -t 100ms >again.json 2>log &&
		ktape top -S known --lines -t 100ms >lines 2>>log
	result $? "a stopped session can be read again" log
	sed 's/,"tracer_ns":[^,]*//' top.json >a
	sed 's/,"tracer_ns":[^,]*//' again.json | cmp - a >log 2>&1
	result $? "it has the same intervals" log
	json <again.json | awk -F '\t' '{
		for (i = 1; i <= NF; i++)
			if (split($i, word, "=") == 2)
				f[word[1]] = word[2]
		printf "%.0f %d\n", f["events"] * 1e9 / f["span_ns"], f["lost"]
	}' >want
	awk '/^ *[0-9]+\.[0-9]{9} / { print $7, $8 }' lines >have
	cmp want have && [ -s have ]
	result $? "the lines have the same rates" lines
	ktape destroy known
}

# screen WORD...: run top on a terminal, with the steps on standard input
screen()
{
	TERM=linux TERMINFO=$terminfo keys ktape top "$@" >log 2>&1
}

# The screen of a session: every key that changes something, or writes something.
test_screen()
{
	terminfo=${tests%/}/terminfo
	if [ ! -e "$terminfo/l/linux" ]; then
		skip screen "no screen in this command, or no description of terminals"
		return
	fi
	mkdir screen && cd screen || exit
	ktape start shown -e sched,user -b 1M
	for i in 1 2 3; do
		echo "mark $i" >/dev/ktape_mark
	done
	screen -S shown -t 100ms <<-'EOT'
		shows ktape top  session
		shows by run
		type s
		shows by wait
		type /
		type no-such-thread\r
		shows of "no-such-thread"
		type /
		type \r
		type p
		shows PAUSED
		type p
		type P
		shows events to record
		type nothing-such\r
		shows unknown event "nothing-such"
		type P
		type sched,irq\r
		shows the profile is set
		type S
		shows events, 0 lost
		type H
		shows .html is written
		type q
		end
	EOT
	result $? "screen: sort, filter, pause, profile, snapshot and page, and the terminal is as before" log
	ktape stop shown
	ktape profile -S shown --json >enabled 2>&1
	grep -q irq_handler_entry enabled && ! grep -q mark_begin enabled
	result $? "screen: P has set the profile" enabled
	set -- ktape-2*
	[ $# = 1 ] && ktape verify "$1" >log 2>&1 && [ "$(ktape dump -e user "$1" | wc -l)" = 3 ]
	result $? "screen: S has saved what was in the rings" log
	ls >log
	set -- ktape-*.html
	[ $# = 1 ] && [ "$(tail -n 1 "$1")" = '</html>' ] && grep -q 'data-kind="ledger"\|data-name="ledger"' "$1" &&
		! ls -d ./*.trace 2>/dev/null
	result $? "screen: H has written a page, and nothing else" log
	(cd /proc && TERM=linux TERMINFO=$terminfo keys ktape top -S shown) >log 2>&1 <<-'EOT'
		shows ktape top  session
		type H
		shows .html.trace: 
		type s
		shows by wait
		type q
		end
	EOT
	result $? "screen: a page that cannot be written, and the screen goes on" log
	ktape destroy shown
	ktape start once -m snapshot -e sched -b 1M
	screen -S once <<-'EOT'
		shows ktape top  session
		type H
		shows a snapshot session has to be stopped first
		type q
		end
	EOT
	result $? "screen: no page of a snapshot session that runs" log
	ktape destroy once
	cd .. || exit
}

test_leaves()
{
	sh -c 'while :; do echo | cat >/dev/null; done' &
	load=$!
	ktape completion --list sessions >before
	ktape top --json -t 100ms -n 3 >top.json 2>log &&
		[ "$(wc -l <top.json)" = 3 ]
	result $? "top -n 3 of session 0 ends after 3 intervals" log
	# Not the file of an earlier test: its lines would count until the shell empties it.
	ktape top -l -t 100ms >leaving 2>log &
	top=$!
	has 3 '' leaving && kill -TERM $top && ends $top
	result $? "SIGTERM ends it with status 0" log
	kill -KILL $top 2>/dev/null
	ktape top --json -t 100ms >killed 2>log &
	top=$!
	has 2 '' killed
	result $? "top of session 0 prints lines" log
	kill -KILL $top
	wait $top
	kill $load
	wait $load
	ktape completion --list sessions >after
	cmp before after >log 2>&1
	result $? "the sessions and their state are as before" log
	rmmod ktape 2>log
	result $? "no reader is left: the module can be unloaded" log
}

echo "TAP version 13"
need_ktape
insmod "$KTAPE_MODULE"
test_counts
test_lines
test_screen
test_leaves
echo "1..$n"
