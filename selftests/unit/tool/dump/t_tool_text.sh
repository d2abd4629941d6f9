#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_text.sh FOLDER: text for people: which records ktape dump shows, and what is
# suggested where a word was mistyped.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1" || exit 2

make_trace=$out/make_trace
"$make_trace" folder t 3

# What is mistyped is named, with what it may have meant.
test_suggestions()
{
	local said command

	"$make_trace" emitted folder
	while IFS='|' read -r said command; do
		# shellcheck disable=SC2086	# words
		run 2 $command && [ "$(sed -n 's/^ktape: //p' log)" = "$said" ]
		result $? "$command: $said"
	done <<-'EOT'
	unknown command "recrod": did you mean "record"? (see ktape help)|recrod -o t
	unknown command "xyzzy" (see ktape help)|xyzzy
	unknown command "conv": did you mean "convert"? (see ktape help)|help conv
	unknown option --evnets: did you mean --events?|record --evnets=sched
	unknown option --frobnicate (see ktape dump --help)|dump --frobnicate
	unknown option -x (see ktape dump --help)|dump -jx t
	option --json takes no argument|dump --json=1 t
	option --help takes no argument|dump --help=x
	option --count: missing argument N|dump t --count
	option --count: missing argument N|dump t -n
	unknown event "shced_switch": did you mean "sched_switch"? (ktape list shows all)|dump -e irq,shced_switch t
	unknown event "softriq": did you mean "softirq"? (ktape list shows all)|record -e softriq,sched -o t
	unknown event "scehd_*": did you mean "sched"? (ktape list shows all)|dump -e scehd_* t
	unknown event "!hrtmier_exp*": did you mean "hrtimer_expire_entry"? (ktape list shows all)|dump -e !hrtmier_exp* t
	unknown event "*bogus": give an event, class, preset, glob or mask (see ktape list)|dump -e *bogus t
	unknown event "bogus": give an event, class, preset, glob or mask (see ktape list)|dump -e bogus t
	unknown event "irq_entry": did you mean "ipi_entry"? (ktape list shows all)|profile irq_entry
	unknown format "perfeto": did you mean "perfetto"? (`ktape convert --list` shows the formats)|convert --to perfeto -o o t
	format html has no option "spnas": did you mean "spans"? (see `ktape convert --list`)|convert --to html:spnas=5000 -o o folder
	format html has no option "x" (see `ktape convert --list`)|convert --to html:x -o o folder
	folder: unknown format "navite": did you mean "native"? (`ktape convert --list` shows the formats)|stats -f navite folder
	--stack: unknown event "sched_swich": did you mean "sched_switch"?|record --stack sched_swich -o t
	EOT
	echo 'events = shced' >cfg
	run 1 record -C cfg --save -
	grep -qF 'events: unknown event "shced": did you mean "sched"?' log
	result $? "record --config: an unknown event"
}

# Records that only describe the trace are shown when they are asked for.
test_control()
{
	local count options

	rm -rf k
	"$make_trace" emitted k
	while read -r count options; do
		# shellcheck disable=SC2086	# words
		run 0 dump $options k && lines "$count"
		result $? "dump${options:+ $options}: $count lines"
	done <<-EOT
	6
	9	--all
	9	-a
	9	--json
	9	--json --all
	6	-C 2
	2	-n 2
	3	-e registry
	3	-e control
	3	-g control
	6	-e !exception
	3	--json -e exception
	0	-e sched --all
	EOT
	run 0 dump k && ! grep -q registry text && grep -q 'worker-12 exception' text
	result $? "dump: names come from records that are not shown"
}

echo "TAP version 13"
test_suggestions
test_control
echo "1..$n"
exit $failed
