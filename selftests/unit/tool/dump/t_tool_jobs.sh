#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_jobs.sh FOLDER: ktape dump prints the same with any number of threads: names that
# are learned between events, losses, damage, options that choose and change lines.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"
make_trace=$out/make_trace

# same STATUS ARGUMENT...: lines and messages are the same, in the same order
same()
{
	local want=$1
	shift
	for jobs in 1 2 5 16; do
		timeout 600 "$out/command/ktape" dump -J $jobs "$@" >both$jobs 2>&1
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
for kind in kinds late moved named partial slow starved; do
	"$make_trace" $kind $kind >/dev/null 2>&1 || continue
	"$out/command/ktape" dump -J 1 $kind >/dev/null 2>&1
	same $? --all $kind
	result $? "a trace of kind $kind"
done

# The same events from one file, from files that are compressed, and from one ring.
"$out/command/ktape" convert -q -t native -o - t >file
same 0 --all file && [ "$(wc -l <both1)" -ge 18026 ]
result $? "pipe form in a file"
cp both1 all
same 0 --all - <file >log 2>&1
timeout 600 "$out/command/ktape" dump -J 5 --all - <file >piped 2>>log && cmp all piped >>log
result $? "standard input that can be read twice"
# shellcheck disable=SC2002	# a pipe is the point
cat file | timeout 600 "$out/command/ktape" dump -J 5 --all - >piped 2>log &&
	cat file | timeout 600 "$out/command/ktape" dump -J 1 --all - >piped1 2>>log &&
	cmp piped piped1 >>log && [ "$(wc -l <piped)" = "$(wc -l <all)" ]
result $? "a pipe"
if command -v zstd >/dev/null; then
	cp -r t z
	zstd -q --rm z/cpu0 z/cpu1
	same 0 --all z
	result $? "compressed files"
else
	result 0 "compressed files # SKIP no zstd"
fi
same 0 --all t/cpu0
result $? "one ring"
for count in 4999 5000 5001 18025 18026 18027; do
	same 0 --all -n $count t || break
done
result $? "some lines only, at the ends of slices"
timeout 600 "$out/command/ktape" dump -J 5 --all t 2>log | head -n 3 >text
[ "${PIPESTATUS[0]}" = 141 ] && [ ! -s log ] && lines 3
result $? "a reader that goes away"
# converts STATUS ARGUMENT...: the output and the messages are the same; what could be read of a
# damaged input is the same, too
converts()
{
	local want=$1
	shift
	rm -f ./*.partial
	for jobs in 1 2 5 16; do
		timeout 600 "$out/command/ktape" convert -J $jobs -o out$jobs "$@" \
			>log 2>&1
		got=$?
		[ $got = "$want" ] ||
			{ echo "exit status $got, not $want: -J $jobs $*" >>log; return 1; }
		sed "s/out$jobs/out/g" log >said$jobs
		cmp out1 out$jobs >log 2>&1 && cmp said1 said$jobs >log 2>&1 || return 1
		[ "$want" = 0 ] || [ ! -e out1.partial ] ||
			cmp out1.partial out$jobs.partial >log 2>&1 || return 1
	done
}

for format in text jsonl csv; do
	converts 0 -t $format t && [ "$(wc -l <out1)" -ge 18026 ]
	result $? "convert to $format"
	converts 0 -t $format -v lossy && grep -q lost said1
	result $? "convert a trace with losses to $format"
	converts 1 -t $format d && grep -q 'stays as it was' said1 &&
		[ "$(wc -l <out16.partial)" -gt 1000 ]
	result $? "convert a damaged trace to $format"
done
converts 0 -t csv -c 1 -e sched_switch t && [ "$(wc -l <out1)" -gt 100 ]
result $? "convert some events"
converts 0 -t csv --from-time 20us --to-time 60us t && [ "$(wc -l <out1)" -gt 100 ]
result $? "convert some times"
converts 0 -t csv -p 100 t && [ "$(wc -l <out1)" -gt 10 ]
result $? "convert a thread"
converts 1 -t csv -c 77 t && grep -q 'no CPU 77' said1
result $? "convert a CPU that is not there"
converts 0 -t chrome t
result $? "convert to a format that needs the order"
(ulimit -f 100; run 1 convert -J 5 -t csv -o large t && says "File too large" &&
	[ ! -e large ])
result $? "convert to a file that cannot grow"
run 2 convert -J 0 -t csv -o never t && says "at least one thread"
result $? "convert with no thread at all"
run 2 dump -J 0 t && says "at least one thread"
result $? "no thread at all"

echo "1..$n"
exit $failed
