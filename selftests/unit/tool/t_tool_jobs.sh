#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_jobs.sh FOLDER: ktape dump prints the same with any number of threads: names that
# are learned between events, losses, damage, options that choose and change lines.
# shellcheck source=selftests/unit/tool/tool.sh
. "${0%/*}/tool.sh" "$1"
make_trace=$out/make_trace

# same STATUS ARGUMENT...: lines and messages are the same, in the same order
same()
{
	local want=$1
	shift
	for jobs in 1 2 3 16; do
		timeout 60 "$out/user-asan/ktape" dump -J $jobs "$@" >both$jobs 2>&1
		got=$?
		[ $got = "$want" ] ||
			{ echo "exit status $got, not $want: -J $jobs $*" >log; return 1; }
		cmp both1 both$jobs >log 2>&1 || return 1
	done
}

"$make_trace" learned t
same 0 --all t && [ "$(wc -l <both1)" = 18026 ]
result $? "all lines of a long trace"
# Before its name, a thread has none; afterwards it has.
awk '/ registry: .* id=100 / { if (!named) named = NR; next }
	/=100 \(\?\)/ { last = NR }
	/=100 \(cpu0\)/ && !first { first = NR }
	END { exit !(named && last && last < named && first > named) }' both1
result $? "names are learned in between" both1
same 0 --json t
result $? "JSON"
same 0 --color=always t
result $? "colours"
same 0 -n 7000 t && [ "$(wc -l <both1)" = 7000 ]
result $? "some lines only"
same 0 --cpu 1 --from-time 2us --to-time 60us t
result $? "some CPUs and times"
same 0 -e sched_switch t
result $? "one event"
cp -r t d
dd if=/dev/zero of=d/cpu0 bs=1 seek=100000 count=200 conv=notrunc status=none
dd if=/dev/zero of=d/cpu1 bs=1 seek=50000 count=9000 conv=notrunc status=none
truncate -s -700 d/cpu1
same 1 --all d
result $? "messages about damage are where they were"
for kind in lossy slow-lossy; do
	"$make_trace" $kind $kind
	same 0 --all $kind
	result $? "a trace with losses: $kind"
done
run 2 dump -J 0 t && says "at least one thread"
result $? "no thread at all"

echo "1..$n"
exit $failed
