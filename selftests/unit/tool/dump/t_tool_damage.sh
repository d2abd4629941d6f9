#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_damage.sh FOLDER: damage of the files of a trace is reported in order of their names,
# and what it hides is one hole.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../support/tool.sh" "$1" || exit 2

"$out/make_trace" folder whole 12
mkdir damaged
cp whole/metadata damaged
# Made in a mixed order: a folder that is listed by age of the files is not listed by names.
for cpu in 7 0 11 3 10 1 9 2 8 5 4 6; do
	{ printf 'no packet'; cat whole/cpu$cpu; } >damaged/cpu$cpu
done
run 1 convert --to csv -o damaged.csv damaged
result $? "convert: the events of a damaged trace are written, and the status is 1"
grep -o 'cpu[0-9]*: ' log | uniq >reported
for cpu in 0 1 2 3 4 5 6 7 8 9 10 11; do
	echo "cpu$cpu: "
done | diff - reported >>log
result $? "convert: damage is reported in order of the files' names"

# A file ends in the middle of a packet, and another ring of its CPU goes on behind it.
"$out/make_trace" session cut cut.pipe
truncate -s $(($(stat -c %s cut/cpu0) / 2 + 100)) cut/cpu0
run 0 stats cut && says 'an unknown number of events were lost in 1 gap, so' &&
	run 0 stats --json cut && grep -q '"lost":0,"gaps":1,"uncounted":true' text &&
	run 0 convert --to csv -o cut.csv cut &&
	says 'an unknown number of events were lost in 1 gap of the input'
result $? "stats, convert: a cut file is one hole of an unknown number of events"
run 0 dump cut && [ "$(grep -c ' lost between ' log)" = 1 ] &&
	says 'cpu0: an unknown number of events lost between [0.001036476] and [0.001074096]'
result $? "dump: the hole is one, from its begin to its end"

# A pipe was closed in the header of a packet: behind the metadata, and where an event ring
# goes on.  What is before it is read.
LC_ALL=C grep -aboP '\xc1\x1f\xfc\xc1' cut.pipe | cut -d : -f 1 >begins
for nr in 1 4; do
	begin=$(sed -n ${nr}p begins)
	for more in 1 3 4 8 24 64 127; do
		head -c $((begin + more)) cut.pipe >part.pipe
		run 1 verify part.pipe && grep -qx \
			"wrong form: at byte $begin: the input ends in the header of a packet" text &&
			[ "$(grep -c '^wrong form' text)" = 1 ] && run 0 dump part.pipe &&
			says "at byte $begin: the input ends in the header of a packet"
		result $? "verify, dump: a pipe that is cut $more bytes into packet $nr"
	done
done
head -c "$begin" cut.pipe >part.pipe
cp text cut.text
run 0 dump part.pipe && cmp -s text cut.text && [ "$(wc -l <text)" -gt 100 ]
result $? "dump: the events before the cut are there"
# Behind the last packet, so few bytes that do not begin a header are damage, not a cut.
{ cat part.pipe && printf 'no packet'; } >tail.pipe
run 1 verify tail.pipe && grep -qx \
	"wrong form: at byte $begin: not a packet: wrong magic number" text && run 1 dump tail.pipe
result $? "verify, dump: some bytes that are no packet at the end of a pipe"
echo "1..$n"
exit $failed
