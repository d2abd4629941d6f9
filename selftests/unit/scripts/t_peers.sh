#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test the parts of make bench-peers that need no guest: the arithmetic of its report, on
# small numbers made up for it, its table of events, the buffers of its recorders, and the mend
# of LTTng's source.
#
# usage: t_peers.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
peers=$top/selftests/bench/peers
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-peers.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# run WHAT TRACER [WORDS], slices INSNS EVENTS, marks BEGIN FIRST LAST END IDLE [KIB]: lines
# like those of the guests; IDLE is what the CPU rested between begin and end, KIB the memory
# taken until first
run()
{
	echo "run what=$1 tracer=$2 ${3-}"
}

slices()
{
	echo "slices set=C insns=$1 events=$2"
}

marks()
{
	printf 'mark name=%s ns=%d idle=%d available=%d\n' begin "$1" 500 9216 \
		first "$2" 500 $((9216 - ${6-0})) last "$3" 500 9216 \
		end "$4" $((500 + $5)) 9216
}

made_up()
{
	# 10 events: ktape adds 100 and 140 instructions, so 10 and 14 an event.
	run cost none rep=0; slices 1000 0
	run cost ftrace rep=0; slices 8000 10
	run cost ktape rep=0; slices 1100 0
	run cost none rep=1; slices 2000 0
	run cost ftrace rep=1; slices 9000 10
	run cost ktape rep=1; slices 2140 0
	echo 'pass rep=0'
	# Nothing: 100 for the work. ktape: 1000 for an empty command, 1300 with the
	# work, so 200 for its 50 events.
	run warm none; marks 0 1 2 3 0 1024
	echo 'used name=first us=0 resident=0'
	run idle none; marks 0 1000000 1000000 2000000 1990000
	run work none; marks 0 1000000 1000000 2000000 1989900
	run large none; marks 0 1000000 1000000 2000000 0
	run warm ktape; marks 0 1 2 3 0 3072
	echo 'used name=first us=10 resident=100'
	run idle ktape
	marks 0 5000000 5000000 9000000 8999000
	echo 'used name=first us=10 resident=100'
	echo 'used name=end us=14'
	run work ktape
	marks 0 5000000 5000000 9000000 8998700
	echo 'used name=first us=20 resident=100'
	echo 'used name=last us=24 resident=2048'
	echo 'used name=end us=34'
	# The work adds 400 events to 20, and 4000 bytes to 300.
	echo 'size what=idle tracer=ktape bytes=300'
	echo 'size what=live tracer=ktape bytes=4300'
	echo 'decode what=idle tracer=ktape cpu=0.001 events=20'
	run large ktape
	echo 'status tracer=ktape how=large set=C status=137'
	run count ftrace; echo 'mix rounds=1 events=50'
	run burst ktape; echo 'burst cpus=2 calls=60'
	echo 'found what=burst tracer=ktape calls=113'
	run calls ktape; echo 'burst cpus=2 calls=60'
	echo 'found what=calls tracer=ktape calls=120'
	echo 'decode what=live tracer=ktape cpu=0.00021 events=420'
	echo 'missing tracer=lttng no such file'
	echo 'version package=trace-cmd version=1.2'
}

made_up >input
awk -v kernel=6.1 -v readme=readme -v tsv=tsv -f "$peers/report.awk" input >log 2>&1
result $? "the report of made-up numbers"

# is NAME NUMBER ROW: the row of ktape
is()
{
	awk -F '\t' -v row="$3" -v number="$2" '
		$1 == row && $2 == "ktape" { got = $3 }
		END { print row ": " got ", not " number; exit got != number }' tsv >log
	result $? "$1"
}

is 'median of the repetitions, by what ftrace counted' 12 \
	'instructions added per event: set C'
is 'all told: without the empty command and the work itself' 4 \
	'the same, recorded to a file, all told: set C'
is 'recorder: from the beginning of the work, without the empty command' 2.5 \
	'its recorder: instructions per byte, uncompressed'
is 'the same by its events' 25 'its recorder: instructions per event in the file'
is 'events in the file, of all that were in the work' 8 \
	'events in that file for each of the work'
is 'bytes of an event' 10 'bytes per event in the file, uncompressed'
is 'lost with a reader that is held up' 7 \
	'lost of 120 system calls, 4 MiB for each CPU, the reader held up'
is 'nothing lost is 0, not "-"' 0 \
	'lost of 120 system calls, 4 MiB for each CPU, the reader running'
is 'CPU time by decoded events' 500 'on a real CPU: decoding to text, ns for an event'
is 'attach, less the same without a tracer' 4 'first event after, ms: set C'
is 'detach, less the same without a tracer' 3 'file complete after, ms'
is 'a run that was ended' 'did not end' 'first event after, 1 GiB for each CPU, ms'
is 'memory that recording takes' 2 'memory taken with default buffers, MiB'
is 'resident memory' 2 'resident memory of its processes, MiB'
grep -qx 'LTTng was not measured: no such file.' readme >log
result $? "a tracer that cannot be had is named with its reason"
grep -qx 'The work that was recorded to files has 50 events.' readme >log
result $? "how much work it was"
grep -qx 'perf was not asked for.' readme >log
result $? "one that was left out is named"
grep -qF '| instructions added per event: set C | - | - | 12 | 700 | - | - | - | - |' \
	readme
result $? "the table of README.md"
awk -F '|' 'NR == 1 { n = NF } /^\|/ && NF != n { bad = 1; print } END { exit bad }' \
	readme >log
result $? "each row of it has all columns"
sed 's/status=137/status=1/' input >broken
! awk -v kernel=6.1 -f "$peers/report.awk" broken >log 2>&1 &&
	grep -qx 'not ok bench-peers ktape: large: status 1' log
result $? "a recording that failed is a failure"

awk '!/^#/ && NF < 5 { print; bad = 1 } END { exit bad }' "$peers/events" >log
result $? "each event has its names and its sets"
sed -n 's/^KTAPE_EVENT([0-9]*, [A-Z0-9_]*, \([a-z0-9_]*\),.*/\1/p' \
	"$top"/uapi/ktape/events/*.h | sort >ours
awk '!/^#/ { print $3 }' "$peers/events" | sort -u | comm -23 - ours >log
[ ! -s log ]
result $? "ktape has each of them"
awk '!/^#/ { print $1 }' "$peers/events" | while read -r event; do
	grep -qE "X\(${event}\)" "$peers/ring.h" || echo "ring.h has no $event"
	grep -qE "(BPF_PROG|EVENT)\(${event}[,)]" "$peers/ring.bpf.c" ||
		echo "ring.bpf.c has no $event"
done >log
[ ! -s log ]
result $? "the BPF program has each of them"

# ---- rows of equal content, and equal buffers -----------------------------------------

# passes LOST...: print results of one cost run, and a pass for each LOST, the calls that ktape
# lost with arguments; without them it lost none
passes()
{
	local rep=0 lost what insns
	printf '%s\n' 'cpu A B' 'native 0 1 1 1 1 1 1' 'native 3 9.5 9.6 9.5 9.6 10.5 10.6'
	for insns in none=5000 ftrace=605000 ktape=139000 bpf=305000; do
		echo "run what=cost tracer=${insns%=*} set=wide rep=0"
		echo "slices set=wide insns=${insns#*=} events=1000"
	done
	for lost; do
		echo "pass rep=$rep"
		for what in burst wide-burst; do
			printf '%s\n' "run what=$what tracer=ktape" "burst cpus=2 calls=1000"
		done
		printf 'found what=burst tracer=%s calls=%d\n' ktape 2000 bpf 1500 ftrace 1200
		echo "found what=wide-burst tracer=ktape calls=$((2000 - lost))"
		rep=$((rep + 1))
	done
}

# row NAME: print the numbers of a row of README's table
row()
{
	grep -F "| $1 |" readme | cut -d '|' -f 3- | tr -d ' '
}

held='lost of 2000 system calls, 4 MiB for each CPU, the reader held up'
passes 30 900 40 10 50 >lines
awk -v readme=readme -v tsv=tsv -v kernel=6 -f "$peers/report.awk" lines >log 2>&1 &&
	[ "$(row 'instructions added per event: sys_enter, sys_exit with arguments')" = \
		'-|-|134|600|-|-|300|-|' ] &&
	[ "$(row "$held")" = '-|-|0|800|-|-|500|-|' ] &&
	grep -A 1 -F "| $held |" readme | grep -qxF \
		'| the same, with arguments | - | - | 40 | 800 | - | - | - | - |'
result $? "rows of equal content are the median of all passes"
[ "$(row 'on a real CPU: the ring alone, ns for a record of 24 bytes')" = \
	'-|9.5|10.5|-|-|-|-|-|' ] && grep -q '^Rows of a real CPU are of A B' readme &&
	! grep -q zstd readme
result $? "what was timed on a real CPU is marked"

# says REGEX: the log has such a line
says()
{
	grep -qE -- "$1" log || { echo "does not say: $1" >>log; return 1; }
}

# records HOW SET: print the commands of each tracer, which are only pretended
records()
{
	local tracer
	: >called
	for tracer in ktape ftrace perf lttng bpf bpftrace; do
		TMPDIR=$work "$work/tracers" record $tracer "$1" "$2" /nowhere ./nothing || return
	done >log 2>&1
	cp called log
}

cp "$peers/"{tracers,events} .
printf '#!/bin/sh\nexit 0\n' >nothing
for name in ktape.static trace-cmd perf lttng ring bpftrace; do
	printf '%s\n' '#!/bin/sh' \
		"echo $name \"\$*\" pages=\$BPFTRACE_PERF_RB_PAGES >>'$work/called'" >$name
done
chmod +x nothing ktape.static trace-cmd perf lttng ring bpftrace
records equal C && says '^ktape.static record .*[ ,]sys_enter,.* -b 4M ' &&
	says '^trace-cmd record .* -b 4096 ' && says '^perf record .* -m 4M ' &&
	says '^lttng enable-channel .*--num-subbuf=4 --subbuf-size=1M' &&
	says "^ring -m $((4 * $(nproc))) " && says '^bpftrace .* pages=1024$' &&
	! grep -q sys_enter_wide log
result $? "equal buffers are 4 MiB for each CPU"
records large D && says '^ktape.static record .*sys_enter_wide,.* -b 1024M ' &&
	says '^trace-cmd record .* -b 1048576 ' && says '^lttng .*--subbuf-size=256M' &&
	[ "$(grep -c -- '--syscall --all' log)" = 1 ] &&
	[ "$(grep -o 'raw_syscalls:sys_enter' log | wc -l)" = 2 ]
result $? "with arguments each event is recorded once"

# header FILE NAME ARGUMENTS: like the kernel's and LTTng's
header()
{
	mkdir -p "${1%/*}"
	printf '%s(hrtimer_start,\n\tTP_PROTO(struct hrtimer *hrtimer, enum %s),\n' \
		"$2" "$3" >"$1"
	printf '\tTP_ARGS(hrtimer, mode%s),\n' "${4-}" >>"$1"
}

lttng=source/include/instrumentation/events/timer.h
header kernel/include/trace/events/timer.h TRACE_EVENT \
	'hrtimer_mode mode, bool was_armed' ', was_armed'
header old/include/trace/events/timer.h TRACE_EVENT 'hrtimer_mode mode'
header $lttng LTTNG_TRACEPOINT_EVENT_MAP 'hrtimer_mode mode'
cp $lttng before
"$peers/mend-lttng" source old >log 2>&1 && cmp before $lttng >>log
result $? "LTTng's source stays for a kernel that it fits"
"$peers/mend-lttng" source kernel >log 2>&1 &&
	grep -q 'TP_PROTO(.*, bool was_armed)' $lttng &&
	grep -q 'TP_ARGS(hrtimer, mode, was_armed)' $lttng
result $? "it gets the argument for a kernel that has it"
cp $lttng before
"$peers/mend-lttng" source kernel >log 2>&1 && cmp before $lttng >>log
result $? "it is mended once"
: >$lttng
! "$peers/mend-lttng" source kernel >log 2>&1 && grep -q 'no prototype' log
result $? "a source that cannot be mended is an error"
echo "1..$n"
exit $failed
