#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_linux_traces.sh FOLDER: read traces of other Linux tracers: LTTng (CTF 1.8 and
# 2), trace-cmd (trace.dat 6 and 7), perf. make_linux_traces.py writes the same events in
# each of these formats; babeltrace2 and trace-cmd, where they are, have to read the same.
top=$(cd "${0%/*}/../../../.." && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

python3 "$top/selftests/unit/support/make_linux_traces.py" . 2>log
result $? 'the traces are written'

switch='prev_prio=120 next_prio=98 prev_state=S prev_tid=100 (alpha) next_tid=200 (beta)'
back='prev_prio=98 next_prio=120 prev_state=R+ prev_tid=200 (beta) next_tid=100 (alpha)'
exit='nr=1 (write) compat=0 x32=0 large=0 ret=-11 error=EAGAIN'
wide='nr=1 (write) compat=0 x32=0 large=0 full=1 args=[0x3 0x1000 0x10 0x0 0x0 0x0]'
call='call=write(fd=3, buf=0x1000, count=16)'
strange='number=-5 word="hello" address=0xffff888012345678'
cat >kernel <<EOT
[1.000000000] cpu 0 alpha-100 sched_switch: $switch
[1.000000500] cpu 1 gamma-300 irq_handler_entry: irq=24 (eth0-rx)
[1.000000900] cpu 1 gamma-300 irq_handler_exit: irq=24 (eth0-rx) ret=1
[1.000001000] cpu 0 beta-200 sys_enter_wide: $wide $call
[1.000001700] cpu 0 beta-200 sys_exit: $exit
[1.000002000] cpu 1 gamma-300 user_event: strange_event $strange
[1.300000000] cpu 0 beta-200 sched_switch: $back
[1.300000000] cpu 1 gamma-300 sched_waking: prio=120 target_cpu=0 tid=100 (alpha)
[1.300000700] cpu 1 gamma-300 irq_handler_entry: irq=24 (eth0-rx)
[1.300000800] cpu 1 gamma-300 irq_handler_exit: irq=24 (eth0-rx) ret=1
EOT
# LTTng's events say no thread here: it is known from the first switch of a CPU on.
cat >lttng <<EOT
[1.000000000] cpu 0 - user_event: lttng_statedump_process_state tid=100 pid=100 name="alpha"
[1.000000000] cpu 0 - user_event: lttng_statedump_process_state tid=200 pid=100 name="beta"
[1.000000000] cpu 0 - user_event: lttng_statedump_process_state tid=300 pid=300 name="gamma"
[1.000000000] cpu 0 - sched_switch: $switch
[1.000000500] cpu 1 - irq_handler_entry: irq=24 (eth0-rx)
[1.000000900] cpu 1 - irq_handler_exit: irq=24 (eth0-rx) ret=1
[1.000001000] cpu 0 beta-200 sys_enter: nr=1 (write) compat=0 x32=0 large=0 fd=3 count=16
[1.000001700] cpu 0 beta-200 sys_exit: $exit
[1.000002000] cpu 1 - user_event: strange_event $strange
[1.300000000] cpu 0 beta-200 sched_switch: $back
[1.300000000] cpu 1 - sched_waking: prio=120 target_cpu=0 tid=100 (alpha)
[1.300000700] cpu 1 - irq_handler_entry: irq=24 (eth0-rx)
[1.300000800] cpu 1 - irq_handler_exit: irq=24 (eth0-rx) ret=1
EOT
lost='cpu1: 7 events lost between [1.000002000] and [1.300000000]'
ctf_lost='cpu1: 7 events lost between [1.000000500] and [1.300000000]'

# same TRACE EXPECTED: each event is there, and the loss is reported. Two events have the same
# time, in any order.
same()
{
	run 0 dump "$1" && says "${3:-$lost}" || return
	sort text >got
	sort "$2" | diff - got >>log
}

for trace in two6.dat two7.dat; do
	sed '/ cpu 1 /s/$/ trace_buffer="two"/' kernel >two
	same $trace two
	result $? "$trace has all events with the name of their buffer, and the loss"
done
# Those in big/ are the same from a big-endian machine, whose bit fields begin at the top.
mkdir big && python3 "$top/selftests/unit/support/make_linux_traces.py" big big 2>log
for trace in {,big/}{v6,v7,zlib,zstd}.dat {,big/}perf{,-zstd,-odd}.data; do
	if [ -e "$trace" ]; then
		same "$trace" kernel
		result $? "$trace has all events and the loss"
	else
		skip "$trace has all events and the loss" 'no zstd'
	fi
done
for trace in ctf1 ctf2; do
	same $trace lttng "$ctf_lost" && says 'numbers of system calls are those of'
	result $? "$trace has all events and the loss"
done
run 0 convert ctf1 --to perfetto -o ctf1.pftrace && [ -s ctf1.pftrace ]
result $? 'a trace of LTTng becomes one for Perfetto'
for trace in v7.dat perf.data ctf1 ctf2; do
	run 0 stats --json $trace && grep -q '"lost": *7' text &&
		run 0 convert $trace --to csv -o table.csv && grep -q irq_handler_exit table.csv
	result $? "statistics of $trace are those of a kernel, and know the loss"
done
for trace in v6.dat perf.data ctf2; do
	run 0 verify $trace && grep -q 'note loss: the tracer lost 7 events' text &&
		grep -q 'nothing proves that it is complete' text &&
		grep -Eq '^ *1 +0 +- +[0-9]+ +0 +7 ' text
	result $? "verify says of $trace what was lost, and what it cannot know"
done
# Clocks that do not count ns: 3/4 ns a count, by the trace's own factor.
run 0 dump tsc.dat && head -n 1 text | grep -q '^\[0.750001000\] .* sched_switch' &&
	grep -q '^\[0.975001600\] .* irq_handler_exit' text && ! says 'does not count ns'
result $? 'counts of x86-tsc are ns by the factor of the trace'
run 0 dump counter.dat && [ "$(grep -c 'the clock counter does not count ns' log)" = 1 ]
result $? 'counts without a factor are reported once'
head -n 1 text | grep -q '^\[1000000000\] .* sched_switch' && ! grep -q '^\[[0-9]*\.' text &&
	says 'between [1000002000] and [1300000000]'
result $? 'and they are no seconds'
run 1 stats counter.dat && says 'no durations' && run 0 stats --from tracecmd:freq=100000000 counter.dat
result $? 'statistics have no durations of them'
run 0 dump --from tracecmd:freq=100000000 counter.dat && says 'between [10.000020000]' &&
	head -n 1 text | grep -q '^\[10.000000000\] .* sched_switch' && ! says 'does not count ns'
result $? 'or option freq says what they are'
for hz in 0 x 10000000001; do
	run 1 dump --from tracecmd:freq=$hz counter.dat && says "option freq: $hz"
	result $? "but not $hz"
done
# A switch away from a thread that did not run.
sed 's/prev_pid=200/prev_pid=201/' "$top/selftests/unit/support/make_linux_traces.py" >liar.py
mkdir liar && python3 liar.py liar 2>log && run 1 verify liar/v7.dat &&
	grep -q 'wrong switch: cpu0.*thread 201 is switched out, but thread 200 was switched in' text
result $? 'verify finds a switch that cannot be'
run 3 verify ctf1 --absent irq_handler_exit:irq=25 --from 1s --to 1.2s && grep -q NOT-ENABLED text
result $? 'nothing is proved absent'
run 1 verify ctf1 --absent irq_handler_exit:irq=24 --from 1s --to 1.2s && grep -q FOUND text
result $? 'but an event is found'
run 0 convert perf.data --to native -o native && run 0 dump native && sort text >got &&
	sort kernel | diff - got >>log
result $? 'a native trace made of it has the same events'

# ---- other readers ----------------------------------------------------------------------

if command -v babeltrace2 >/dev/null; then
	babeltrace2 ctf1 >foreign 2>log
	[ "$(wc -l <foreign)" = "$(wc -l <lttng)" ] && says 'discarded 7 events'
	result $? 'babeltrace2 reads as many events, and the loss'
else
	skip 'babeltrace2 reads as many events, and the loss' 'no babeltrace2'
fi
for trace in v6 two6 two7 big/v6 big/two7; do
	if ! command -v trace-cmd >/dev/null; then
		skip "trace-cmd reads as many events of $trace.dat, and the loss" 'no trace-cmd'
		continue
	fi
	trace-cmd report $trace.dat >foreign 2>log
	[ "$(grep -c '\[00[01]\]' foreign)" = "$(wc -l <kernel)" ] &&
		grep -q 'CPU:1 \[7 EVENTS DROPPED\]' foreign
	result $? "trace-cmd reads as many events of $trace.dat, and the loss"
done

# ---- threads that are not known ----------------------------------------------------------

# LTTng's events say no thread before the first switch of a CPU.
run 0 convert -q -t ftrace -o - ctf1 && grep -q '^ *<\.\.\.>-2147483647 .* irq_handler_entry: ' text &&
	! grep -q -e '<\.\.\.>-0' -e '-429496' -e '--1' text
result $? 'an unknown thread is not the idle thread in the text of ftrace'

# ---- our own export ------------------------------------------------------------------------

"$out/make_trace" session session session.pipe
run 0 dump session && cut -d' ' -f2- text | sort >want
run 0 convert session --to lttng -o exported && run 0 dump exported &&
	grep -vE 'ktape_|statedump' text | cut -d' ' -f2- | sort >got && diff want got >>log
result $? 'what was written as LTTng does is read with the same events and names'
[ "$(wc -l <want)" -gt 1000 ]
result $? 'these are many events'
run 0 convert session --to lttng:ctf=2 -o exported2 && run 0 dump exported2 && cp text got &&
	run 0 dump exported && diff got text >>log
result $? 'with metadata in CTF 2 it is the same trace'
run 2 convert session --to lttng:ctf=3 -o exported3 || run 1 convert session --to lttng:ctf=3 -o exported3
says '1.8 or 2'
result $? 'another version is refused'

# ---- errors ---------------------------------------------------------------------------------

run 1 dump ctf1/metadata --from lttng && says 'name its folder'
result $? 'metadata alone are refused'
run 1 dump v6.dat --from lttng && says 'v6.dat'
result $? 'a file is no folder'
run 1 dump - < <(cat v7.dat) && says 'give the file'
result $? 'a trace.dat from a pipe is refused'
head -c 3000 v7.dat >cut.dat
run 1 dump cut.dat && says 'byte'
result $? 'a trace.dat that was cut says where'
sed 's/variant <id>/variant <nothing>/' ctf1/metadata >metadata
cp -r ctf1 wrong && cp metadata wrong/
run 1 dump wrong && says 'is no number in the fields before it'
result $? 'a tag without its field is an error'
printf '\x1e{"type":"preamble","version":3}' >wrong/metadata
run 1 dump wrong && says 'not CTF 2'
result $? 'another version is an error'

# An event that takes no bits, structures that take none, sections that are there twice.
mkdir nothing && sed 's/fields := struct {/fields := struct { };\n\tignored := struct {/; s/^\tevent.header.*//' \
	ctf1/metadata >nothing/metadata && cp ctf1/channel0_0 nothing
run 1 dump nothing && says 'no bits'
result $? 'events without bits are an error, not endless'
mkfifo pipe && mkdir named && mv pipe named/metadata
run 1 dump named && says 'not a regular file'
result $? 'a FIFO in place of the metadata does not block'

# An attribute that says it is longer than the entries of its table.
python3 - <<'EOT'
import struct
data = bytearray(open('perf.data', 'rb').read())
each, at, size = struct.unpack_from('<QQQ', data, 16)
attr = data[at:at + 64]
struct.pack_into('<I', attr, 4, 128)
bits, = struct.unpack_from('<Q', attr, 40)
struct.pack_into('<Q', attr, 40, bits | 1 << 25)
struct.pack_into('<QQQ', data, 16, 80, len(data), 80)
open('short.data', 'wb').write(data + attr + data[at + each - 16:at + each])
EOT
run 0 dump perf.data && mv text want && run 0 dump short.data && diff want text >>log
result $? 'an attribute that is longer than its place is read as far as it goes'

# Cut everywhere, and with changed bytes: an error with its offset, or fewer events, never a
# crash.
cp big/v6.dat big6.dat && cp big/v7.dat big7.dat && cp big/perf.data big.data
python3 - >changes <<'EOT'
import os
import random
random.seed(5)
for name in ('v6.dat', 'v7.dat', 'zlib.dat', 'zstd.dat', 'perf.data', 'perf-zstd.data', 'big6.dat', 'big7.dat', 'big.data', 'ctf1/metadata', 'ctf2/metadata', 'ctf1/channel0_0'):
    if not os.path.exists(name):
        continue
    data = open(name, 'rb').read()
    used = len(data.rstrip(b'\0'))
    for i in range(12):
        out = bytearray(data)
        if i < 4:
            out = out[:used * (i + 1) // 5]
        else:
            for _ in range(1 + i % 3):
                out[random.randrange(used)] = random.choice((0, 1, 0x7f, 0x80, 0xff))
        print(name, i)
        open(f'damaged.{name.replace("/", "-")}.{i}', 'wb').write(out)
EOT
wrong=0
while read -r name i; do
	file=damaged.${name//\//-}.$i
	case $name in
	*/*)
		rm -rf trial
		cp -r "${name%/*}" trial
		cp "$file" "trial/${name#*/}"
		;;
	*) rm -rf trial && cp "$file" trial ;;
	esac
	timeout 600 "$out/command/ktape" dump trial >text 2>log
	got=$?
	[ $got = 0 ] || { [ $got = 1 ] && grep -q '^ktape: .*at byte [0-9]' log; } ||
		{ wrong=$((wrong + 1)); echo "$file: status $got" >>failures; cat log >>failures; }
done <changes
cp failures log 2>/dev/null || : >log
[ $wrong = 0 ] && [ "$(wc -l <changes)" -ge 84 ]
result $? 'damaged traces end in an error with its offset, or with fewer events'
# What a tracepoint does not say of processes: 0 would be the idle thread, swapper.
mkdir tasks && python3 "$top/selftests/unit/support/make_linux_traces.py" tasks tasks 2>log &&
	run 0 dump tasks/v6.dat &&
	grep -q 'process_fork: .*parent_tid=100 (alpha) child_tid=400 (alpha) child_tgid=-1 (?)$' text &&
	grep -q 'process_exit: .*tid=200 (beta) tgid=-1 (?) ' text && ! grep -q swapper text
result $? 'trace-cmd: an unknown process is unknown'
run 0 dump tasks/perf.data && grep -q 'process_exit: .*tid=200 (beta) tgid=100 (alpha) ' text &&
	grep -q 'process_exit: .*tid=500 (delta) tgid=-1 (?) ' text && ! grep -q swapper text
result $? 'perf: a process is known where a record of the thread says it'
run 0 dump --json tasks/v6.dat && [ "$(grep -c '"tgid":-1,"code"' text)" = 2 ] &&
	run 0 stats --json tasks/v6.dat && ! grep -q '"tgid":0' text &&
	run 0 stats --json tasks/perf.data && ! grep -q '"tgid":0' text
result $? 'JSON of events and statistics has no process 0'
for format in traceprinter ftrace; do
	run 0 convert -q -t $format -o - tasks/v6.dat && grep -q delta text &&
		! grep -q 'swapper\|pid:0 tid:[1-9]' text
	result $? "convert -t $format: no thread is of process 0"
done
run 0 convert -q -t chrome -o - tasks/v6.dat &&
	grep -q '"pid":500,"tid":500,"name":"thread_name"' text && ! grep -q swapper text
result $? 'convert -t chrome: such a thread is a process of its own'
echo "1..$n"
exit $failed
