#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_range.sh FOLDER: test times and CPUs on the command line, messages
# about what a format cannot hold, and --help against the man pages.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../support/tool.sh" "$1" || exit 2

make_trace=$out/make_trace
# 96 events of 3 CPUs between 1.000 and 8.006 us.
"$make_trace" folder t 3

# shows N ARGUMENT...: dump must print N lines of events
shows()
{
	local count=$1

	shift
	run 0 dump --all "$@" t && lines "$count"
}

test_units()
{
	local all option

	for all in 0.000002 0.000002s 2us 2000ns 0.002ms; do
		shows 84 --from-time "$all"
		result $? "dump: $all is 2 us"
	done
	run 0 dump --all --from-time 0.000002 t && mv text want
	for option in --from --from-time; do
		run 0 dump --all "$option" 2us t && cmp text want >>log
		result $? "dump: $option is the same time"
	done
	shows 24 --to 3us --from 1us
	result $? "dump: --to ends before"
	run 0 convert -t text --from-time 2us -o - t &&
		grep -q '^.0.000002000. ' text && ! grep -q '^.0.0000010' text
	result $? "convert: --from-time is the same time"
	for option in "dump --from-time 2x t" "dump --to 1.2.3 t" \
		"convert -t csv --to-time x -o - t" \
		"verify --absent sched_switch --from 1 --to x t" \
		"record -d 5x -o to" "snapshot -w -d 5x -o to" \
		"trigger s add --longer 5x sched_switch" \
		"trigger s add --quiet 5x sched_switch" \
		"trigger s add -s --before 5x sched_switch" \
		"trigger s add -s --after 5x sched_switch" \
		"start s --stall 5x" \
		"dump --from-time 1795424806915379658 t"; do
		# shellcheck disable=SC2086	# words
		run 2 $option && says ": give seconds (11, 11.5)"
		result $? "$option: an invalid time is refused, with the valid forms"
	done
	run 2 dump --all --to 0.999999999h t && says "has too many decimals for its unit"
	result $? "dump --to: more decimals than 64 bits of nanoseconds hold"
}

# Times since the epoch, if the trace's clock is related to it.
test_epoch()
{
	local first

	rm -rf e
	cp -r t e
	# As from a writer without checksums, so that it may be changed.
	sed -i '/metadata_crc32c/d; s/tracer_minor = 1/tracer_minor = 0/
		s/offset_s = [0-9]*/offset_s = 1795424806/' e/metadata
	first=$("$out/command/ktape" dump -j e | head -n 1 |
		sed 's/.*"ts":"\([0-9]*\)".*/\1/')
	[ "${#first}" = 19 ] && run 0 dump --all --from-time "${first}ns" e && lines 96
	result $? "dump --from: nanoseconds as in JSON"
	run 1 dump --all --to-time "${first}ns" e && lines 0 &&
		says "the trace has nothing before ${first}ns: it goes from ${first}ns"
	result $? "dump --to: nanoseconds as in JSON"
	run 0 dump --all --from-time "${first%?????????}.${first#??????????}" e &&
		lines 96
	result $? "dump: seconds since the epoch"
	# A board without a real-time clock.
	sed -i 's/offset_s = [0-9]*/offset_s = 100/' e/metadata
	first=$("$out/command/ktape" dump -j e | head -n 1 |
		sed 's/.*"ts":"\([0-9]*\)".*/\1/')
	[ "$first" = 100000001000 ] &&
		run 0 dump --all --from-time "@${first}ns" e && lines 96 &&
		run 0 dump --all --from @100.000001 e && lines 96 &&
		run 0 dump --all --from @100.000002 e && lines 84
	result $? "dump: close to 1970"
	run 1 dump --all --from-time "${first}ns" e && says "write @ before times of its JSON"
	result $? "dump: close to 1970, an event before the range"
	run 1 dump --all --to @100 e && says "before @100000000000ns: it goes from @${first}ns"
	result $? "dump: a time from a message is accepted"
	run 2 dump --all --from-time @@1 e && run 2 dump --all --from-time @ e &&
		says "is not a time"
	result $? "dump: @ without a time"
	rm -rf e
}

test_outside()
{
	local option

	for option in "--from-time 11" "--from-time 250ms" "--to-time 0.5us" \
		"--from-time 1795424806915379658ns"; do
		# shellcheck disable=SC2086	# words
		run 1 dump --all $option t && lines 0 && says "the trace has nothing" &&
			says "it goes from "
		result $? "dump $option: the trace has no such time"
		rm -f to
		# shellcheck disable=SC2086	# words
		run 1 convert -t csv $option -o to t && [ ! -e to ] &&
			says "the trace has nothing"
		result $? "convert $option: the trace has no such time"
	done
	says "from 1795424806915379658ns: it goes from @1000ns to @8006ns"
	result $? "the message shows the trace's range on the requested clock"
	for option in "--from-time 3us --to-time 2us" \
		"--from-time 2us --to-time 2us"; do
		# shellcheck disable=SC2086	# words
		run 2 dump --all $option t && says "the range is empty" &&
			run 2 convert -t csv $option -o - t &&
			says "the range is empty"
		result $? "$option: an empty range"
	done
	run 0 dump --all --from-time 2400ns --to-time 2900ns t && lines 0
	result $? "dump: a pause within the trace is no error"
	run 2 verify --absent sched_switch --from 3us --to 2us t &&
		says "the range is empty"
	result $? "verify: no range"
}

test_cpus()
{
	run 1 dump --all -C 99 t && lines 0 &&
		says "the trace has no CPU 99: it has 0-2"
	result $? "dump: no such CPU"
	run 0 dump --all -C 1,99 t && lines 32
	result $? "dump: some of the CPUs are there"
	says "the trace has no CPU 99: it has 0-2"
	result $? "dump: names the CPU that is not there"
	run 0 dump --all -n 1 -C 0,1 t && lines 1 && ! grep -q 'no CPU' log
	result $? "dump: --count does not look for the other CPUs"
	echo old >to
	run 1 convert -t csv -c 99 -o to t && grep -qx old to &&
		says "the trace has no CPU 99: it has 0-2"
	result $? "convert: no such CPU, and the output stays as it was"
	run 1 convert -t csv -c 4294967296 -o - t && says "no CPU 4294967296"
	result $? "convert: no CPU of any machine"
	run 2 verify -c 99 --absent sched_switch --from 1us --to 2us t &&
		says "the trace has no CPU 99: it has 0-2"
	result $? "verify: no such CPU"
	run 2 verify -j -c 99 --absent sched_switch --from 1us --to 2us t &&
		grep -q '"wrong":null}' text
	result $? "verify --json: ends as JSON"
	rm -f to
}

# Formats without CPUs, and what they cannot hold.
test_missed()
{
	rm -rf s p
	"$make_trace" session s p
	run 0 convert -t tracex -o x.trx s && says "2 CPUs are in one file" &&
		says "(-c CPU)"
	result $? "convert: TraceX has no CPUs"
	[ "$(grep -c 'cannot hold' log)" = 1 ] && says "kinds of" &&
		says "-v lists them"
	result $? "convert: omitted parts are reported in one line"
	run 0 convert -t tracex -c 1 -o x.trx s && ! grep -q 'in one file' log
	result $? "convert: one CPU needs no note"
	run 0 convert -t csv -o x.csv s && ! grep -q 'in one file' log
	result $? "convert: formats with CPUs need no note"
	run 0 convert -v -t tracex -o x.trx s &&
		[ "$(grep -c 'tracex cannot hold [a-z_]*: [0-9]' log)" -gt 2 ] &&
		! grep -q 'kinds of' log
	result $? "convert -v: all omitted parts are listed"
	run 0 convert -q -t tracex -o x.trx s && [ ! -s log ]
	result $? "convert -q: no message"
	rm -rf s p x.trx x.csv
}

test_help()
{
	local name ways

	run 0 convert --list && mv text list
	run 0 convert --help
	while read -r name ways; do
		case $ways in
		in* | out*) ;;
		*) continue ;;
		esac
		grep -qE "^ +$name +${ways%% *} " text ||
			echo "--help has no $name" >>log
	done <list
	! grep 'help has no' log && [ "$(grep -cE '^  [a-z]+ +(in)? +out' text)" = \
		"$(grep -cE '^[a-z]+ +(in)? +out' list)" ]
	result $? "convert --help: all formats, in and out"
}

echo "TAP version 13"
test_units
test_epoch
test_outside
test_cpus
test_missed
test_help
echo "1..$n"
exit $failed
