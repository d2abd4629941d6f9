#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool.sh FOLDER: what all commands share: options without effect, standard
# descriptors, the version; and the list of events, without a module.
top=$(cd "${0%/*}/../../.." && pwd) || exit
# shellcheck source=selftests/unit/support/small_traces.sh
. "${0%/*}/../support/small_traces.sh" "$1"

# Options without effect are refused.
test_options()
{
	run 2 trigger x list --nth 3 && run 2 trigger x del 1 --limit 2 &&
		run 2 trigger x add sched_switch --json &&
		run 2 trigger x run sched_switch --json -- true &&
		run 2 snapshot -f -o - && run 2 record -f -o - true &&
		run 2 convert --force --to csv -o - t
	result $? "options without effect are refused"
	run 2 start x -m discard --stall 4294968s && says "too long"
	result $? "start: a duration that is too long"
}

test_stdio()
{
	fresh
	run 1 dump --all - <&-
	result $? "closed standard input is an error"
	"$out/command/ktape" version >&- 2>log
	[ $? = 1 ]
	result $? "closed standard output is an error"
	flip p $(($(stat -c %s p) - 4000))
	"$out/command/ktape" record --split p -o to <&- >&- 2>&-
	echo "exit status $?" >log
	run 0 dump --all to && lines 92
	result $? "a closed descriptor is not used for a file of a trace"
}

test_version()
{
	local version

	version=$(sed -n 's/^ktape-version := //p' "$top/Kbuild")
	run 0 version && grep -q "^ktape ${version//./\\.}, event table [0-9a-f]\{16\}$" text
	result $? "version: the number of Kbuild and the hash of the event table"
	"$out/command/ktape" convert --list --json |
		jq -r 'select(.in).name' >in 2>>log &&
		sed -n 's/^reads *//p' text | tr ' ' '\n' | diff in - >>log
	result $? "version: the formats that can be read"
	cp text before && run 0 --version && cmp before text >>log
	result $? "--version is the same"
	run 0 version --json &&
		[ "$(jq -r .version text)" = "$version" ] && [ "$(jq -r '.in[]' text)" = "$(cat in)" ]
	result $? "version --json: version and formats"
	run 2 version x; grep -q "version takes no operands" log
	result $? "version takes no operands"
}

# Without the module, list is how to read the event table: no error, and no guess.
test_list()
{
	if [ -e /dev/ktape ]; then
		echo "ok $((n += 1)) - list: without the module # SKIP the module is loaded"
		return
	fi
	run 0 list && [ ! -s log ] && head -n 1 text | grep -q 'which is not loaded' &&
		grep -q '^  sched_switch  *[0-9]* ?  ' text && ! grep -qE '^  [a-z_]+ +[0-9]+ (yes|no) ' text
	result $? "list: without the module nothing is said to be available"
}

# rows: print the names of the events in the table
rows()
{
	awk '$2 ~ /^[0-9]+$/ { print $1 }' text
}

# Lists of events select the rows, in any number, as with dump -e.
test_list_events()
{
	run 0 list 'irq_*,sched_switch' block_rq_insert &&
		[ "$(rows | sort | xargs)" = "block_rq_insert irq_handler_entry irq_handler_exit irq_span sched_switch" ]
	result $? "list: events and globs of several operands"
	run 0 list block && rows | grep -qx block_rq_insert && ! rows | grep -qv '^block_'
	result $? "list: a class"
	run 0 list sched_switch -v && grep -q '^        prev_tid ' text && run 0 list sched_switch &&
		[ "$(rows)" = sched_switch ] && ! grep -q '^        prev_tid ' text
	result $? "list: fields with -v only"
	run 2 list sched_switch shced_switch && grep -q 'unknown event "shced_switch": did you mean "sched_switch"' log &&
		! grep -q sched_switch text
	result $? "list: an unknown event is refused"
}

echo "TAP version 13"
test_options
test_stdio
test_version
test_list
test_list_events
echo "1..$n"
exit $failed
