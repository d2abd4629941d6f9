#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test how make bench checks what it has measured: a missed budget fails, and budgets of
# timings are ratios to a reference of the same run.
#
# usage: t_bench.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
bench=$top/selftests/bench
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# exits STATUS COMMAND...: run it with its output in log
exits()
{
	local got=0
	"${@:2}" >log 2>&1 || got=$?
	[ $got = "$1" ] || { echo "exit status $got, not $1" >>log; return 1; }
}

# says REGEX: the log has such a line
says()
{
	grep -qE -- "$1" log || { echo "does not say: $1" >>log; return 1; }
}

# timings FACTOR TEXT: lines of a machine that takes FACTOR times as long. Reading takes a
# second for a GB, converting 100 MB 2.5 seconds with 0.5 before it.
timings()
{
	awk -v f="$1" -v text="$2" 'BEGIN {
		OFS = "\t"
		print "reference", "text", (text == "-" ? text : text * f)
		print "reference", "read", 0.1 * f, 100000000
		print "before", 0.5 * f
		print "row", "dump", 0.2 * f, 1000000, 100000000, "text", 10
		print "row", "convert", 2.5 * f, 1000000, 100000000, "read", 20
		print "row", "other", 9 * f, 1000000, 100000000, "read", ""
	}' >lines
}

speed()
{
	exits "$1" awk -f "$bench/speed.awk" lines
}

test_speed()
{
	local f same=0
	for f in 1 7; do
		timings $f 2
		speed 0 && says '^dump .* 10\.0 times as fast as babeltrace2; budget >= 10: kept$' &&
			says '^convert .* 20\.0 times as long as reading; budget <= 20: kept$' &&
			says '^other .* 85\.0 times as long as reading$' || same=1
	done
	[ $same = 0 ]
	result $? "budgets of timings do not depend on the machine"
	timings 1 1.9
	speed 3 && says '^dump .* 9\.5 .*: MISSED$' && says '^convert .*: kept$'
	result $? "text that is too slow for babeltrace2's is a missed budget"
	timings 1 2
	sed -i 's/^row	convert	2.5/row	convert	2.6/' lines
	speed 3 && says '^convert .* 21\.0 .*: MISSED$' && says '^dump .*: kept$'
	result $? "a conversion that is too slow for the reading is a missed budget"
	timings 1 -
	speed 0 && says '^dump .*; budget >= 10: not measured$'
	result $? "without babeltrace2 its budget is not measured"
}

# guest SET MODE INSTRUCTIONS: print the lines of all sets and modes, 1000 events in each; what
# each mode adds, but for MODE in SET
guest()
{
	awk -v set="${1-}" -v mode="${2-}" -v insns="${3-}" 'BEGIN {
		ns = split("switch syscall enter wide mix", sets)
		nm = split("base empty store ktape ftrace two three pid-pass pid-hold " \
			   "cgroup-pass cgroup-hold", modes)
		split("0 20 40 70 700 140 170 90 60 90 60", added)
		for (s = 1; s <= ns; s++)
			for (m = 1; m <= nm; m++)
				printf "bench set=%s mode=%s rep=0 insns=%d events=1000 " \
				       "total=1000 bytes=13000\n", sets[s], modes[m],
				       (sets[s] == set && modes[m] == mode ? insns : \
					added[m]) * 1000
		print "native worst=1.00"
		print "zstd set=mix bytes=3000"
	}' >lines
}

report()
{
	exits "$1" awk -v json=json -v readme=readme -v kernel=6 -f "$bench/report.awk" lines
}

test_guest()
{
	guest
	report 0 && ! says MISSED && says '^pid filter that passes, sched_switch +20\.00 '
	result $? "budgets of the guest that are met"
	guest switch pid-pass 101
	report 3 && says '^pid filter that passes, sched_switch +31\.00 .*MISSED$' &&
		[ "$(grep -c MISSED log)" = 1 ] && grep -q '"verdict": "MISSED"' json &&
		[ -s readme ]
	result $? "a filter that costs too much is a missed budget"
	guest
	sed -i 's/^native .*/native worst=1.20/' lines
	report 3 && says '^ring alone, .*MISSED$'
	result $? "a ring that is too slow is a missed budget"
}

test_native()
{
	mkdir bin
	printf '#!/bin/sh\necho "Collected : 100"\n' >bin/valgrind
	# shellcheck disable=SC2016	# for the program
	printf '#!/bin/sh\nfor n in 0 1 2 3; do echo $n 10 10 10 10 %s 11; done\n' \
		10.9 >bin/good
	sed 's/10.9/11.1/' bin/good >bin/bad
	chmod +x bin/*
	PATH=$work/bin:$PATH
	exits 0 "$bench/native/table" bin/good && says '^worst ratio 1.090, .*kept$' &&
		exits 3 "$bench/native/table" bin/bad && says '^worst ratio 1.110, .*MISSED'
	result $? "the ring against its floor"
}

test_speed
test_guest
test_native
echo "1..$n"
exit $failed
