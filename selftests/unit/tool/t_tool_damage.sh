#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_damage.sh FOLDER: damage of the files of a trace is told in order of their names.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/tool/tool.sh
. "$here/tool.sh" "$1" || exit 2

"$out/make_trace" folder whole 12
mkdir damaged
cp whole/metadata damaged
# No order that a file system could have is that of the names.
for cpu in 7 0 11 3 10 1 9 2 8 5 4 6; do
	{ printf 'no packet'; cat whole/cpu$cpu; } >damaged/cpu$cpu
done
run 1 convert --to csv -o damaged.csv damaged
result $? "convert: the events of a damaged trace are written, and the status is 1"
grep -o 'cpu[0-9]*: ' log | uniq >told
for cpu in 0 1 2 3 4 5 6 7 8 9 10 11; do
	echo "cpu$cpu: "
done | diff - told >>log
result $? "convert: damage is told in order of the files' names"
echo "1..$n"
exit $failed
