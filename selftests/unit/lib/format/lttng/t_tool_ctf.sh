#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_ctf.sh FOLDER: CTF traces of other tracers, field by field as babeltrace2 prints them
# (ctf_lines.py): those of make_ctf.py, and the ones that failed in the field.
top=$(cd "${0%/*}/../../../../.." && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../../support/tool.sh" "$1"
ktape=$out/command/ktape
here=$top/selftests/unit/lib/format/lttng
support=$top/selftests/unit/support
field=$top/../shared/field

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# same TRACE [TRACE-FOR-BABELTRACE2]
same()
{
	python3 "$support/ctf_lines.py" "$ktape" "$@" >>log 2>&1
}

python3 "$support/make_ctf.py" made 2>log
result $? 'traces with fields of every kind are written'
for trace in le be; do
	if command -v babeltrace2 >/dev/null; then
		same made/$trace
		result $? "$trace: each field is as babeltrace2 prints it"
	else
		skip "$trace: each field is as babeltrace2 prints it" 'no babeltrace2'
	fi
	run 0 dump made/$trace && [ "$(wc -l <text)" = 60 ] && cp text want &&
		run 0 dump made/${trace}2 && diff want text >>log
	result $? "$trace: with metadata in CTF 2 it has the same events"
done
run 0 dump made/le && cp text want && run 0 dump made/be && diff want text >>log
result $? 'both byte orders have the same events'
grep -q 'cpu 3 "odd" name-502 user_event: texts ' want && ! grep -q vtid want &&
	grep -q 'u32=.* context.u32=16' want
result $? 'contexts name the thread, and the rest of them are fields'

# Each output has the labels that dump has: the third of these events has none for "bits".
labels=$(grep -c ' user_event: labels ' want)
convert() { run 0 convert made/le --to "$1" -o "$2" && ! says 'left out'; }
convert jsonl labels.jsonl && [ "$(grep -c '"state_label","RUNNING, some"' labels.jsonl)" = "$(grep -c ' state=1 (RUNNING, some) ' want)" ] &&
	[ "$(grep -c '"bits_label"' labels.jsonl)" = "$(grep -c ' bits=. (' want)" ] &&
	! grep -q ' bits=[27] (' want && grep -q ' bits=5 flags=' want
result $? 'values without a label have none'
convert csv labels.csv && [ "$(grep -c 'state_label' labels.csv)" = "$(grep -c ' state=[0-9-]* (' want)" ]
result $? 'csv has the labels'
convert lttng labels.lttng && run 0 dump labels.lttng &&
	grep -o ' flags=[^ ]* flags_label="[^"]*"' text >text.lttng &&
	grep -o ' flags=[^ ]* ([^)]*)' want | sed 's/ (\(.*\))/ flags_label="\1"/' >text.want &&
	[ "$(wc -l <text.want)" = "$labels" ] && diff text.want text.lttng >>log
result $? 'lttng has them as fields'
convert native labels.native && run 0 dump labels.native && diff want text >>log
result $? 'native has them'
convert perfetto labels.pftrace && grep -aq state_label labels.pftrace && grep -aq 'RUNNING, some' labels.pftrace
result $? 'perfetto has them'
run 0 convert made/le --to parquet:dir=labels.parquet,compress=none && grep -aqr 'RUNNING, some' labels.parquet
result $? 'parquet has them'

# ---- metadata ---------------------------------------------------------------------------

tail -n +2 made/le/metadata >text.tsdl
cp -r made/le bare && cp text.tsdl bare/metadata && run 0 dump bare && diff want text >>log
result $? 'the comment at the beginning may be missing'
: >bare/metadata
run 1 dump bare && says 'the file metadata is empty'
result $? 'an empty file is no trace'
sed 's/id = 3;/id = 2;/' text.tsdl >bare/metadata
at=$(grep -ob 'event { name = "arrays"' bare/metadata | cut -d: -f1)
run 1 dump bare && says "at byte $at: metadata: an event has the number 2 of another one"
result $? 'two events with one number are refused, with the place of the second'
sed 's/exp_dig = 8/exp_dig = 9/' text.tsdl >bare/metadata
run 1 dump bare && says 'a floating point number has 33 bits'
result $? 'floats of other sizes are refused'
sed 's/offset_s = 1600000000/offset_s = 10413792000/' text.tsdl >bare/metadata
run 1 dump bare && says 'is out of range: times are from the year 1677 to 2262'
result $? 'so are times beyond the year 2262'

# ---- references, names, clocks -----------------------------------------------------------

python3 "$here/ctf_cases.py" cases 2>>log
result $? 'traces with metadata that are hard to read are written'
for trace in cases/*; do
	case ${trace#*/} in
	bad | words | ctf2) continue ;;
	esac
	if command -v babeltrace2 >/dev/null; then
		same "$trace"
		result $? "$trace is as babeltrace2 prints it"
	else
		skip "$trace is as babeltrace2 prints it" 'no babeltrace2'
	fi
done
for trace in cases/ctf2/*; do
	run 0 dump "cases/${trace##*/}" && cp text want && [ -s want ] && run 0 dump "$trace" && diff want text >>log
	result $? "$trace: with metadata in CTF 2 it has the same events"
done
run 0 dump cases/words/tags && grep -q ' e a.t=1 (B) b.t=0 (A) v=770 end=85$' text &&
	grep -q ' e a.t=0 (A) b.t=1 (B) v=2 end=85$' text
result $? 'a tag may be in another structure'
run 0 dump cases/words/escapes && grep -qF ' x=0 (A\x1b[31mred\x0a\x1b)' text
result $? 'control characters in texts do not reach a terminal'
run 0 dump cases/words/many-labels && grep -q ' e x=63 (L0, L1, .*, L63)$' text && grep -q ' e x=100 (L0, L1, .*, L63)$' text &&
	says '1 values of enumerations have more labels than the 64 that are kept'
result $? 'a value keeps 64 labels'
run 0 dump cases/words/cut && grep -q ' end=85$' text && grep -q '=aabb ' text &&
	says '2 names of fields have more than 4096 bytes and are cut'
result $? 'long names of fields are told from each other, then cut, which is reported'
while read -r trace why; do
	run 1 dump "cases/bad/$trace" && says "metadata: $why"
	result $? "$trace is refused: $why"
done <<'EOT'
no-length the length "len" is no number in the fields before it
no-path the length "a.len" is no number in the fields before it
no-number the length "n" is no number in the fields before it
no-tag a variant has no tag
no-context the length "stream.event.context.len" is no number in the fields before it
two-clocks a stream has times of two clocks, "c" and "d"
two-mixed times of the streams cannot be compared: one clock is absolute, "a" and "b"
two-uuids times of the streams cannot be compared: the clocks differ in UUID, "a" and "b"
two-one times of the streams cannot be compared: one clock has a UUID, "a" and "b"
EOT

# ---- sizes ------------------------------------------------------------------------------

run 0 dump made/bits && [ "$(grep -c ' a0=\[1, 0, .* a1=\[1, 0, .* a2=\[\] a3=\[\] end=7$' text)" = 2 ] &&
	says "$((2 * ((1 << 21) * 2 + (1 << 17)))) elements of arrays were left out: an array keeps 16384 KiB, an event 31744"
result $? 'an event keeps 31 MiB of its arrays, and the fields behind them'

python3 - "$ktape" >text 2>log <<'EOT'
import resource
import subprocess
import sys
subprocess.run([sys.argv[1], 'dump', 'made/large'], check=True)
kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.exit(kib > 250000 and f'{kib} KiB')
EOT
result $? 'classes with one large type share its fields'
[ "$(grep -c 'user_event: e7 a0=0 a1=1 .* a1023=255$' text)" = 4 ] &&
	[ "$(grep -c 'user_event: e255 a0=0 a1=1 .* a1023=255$' text)" = 4 ]
result $? 'and each has all of them'
run 1 dump made/many && says 'metadata: the types of all traces need more than 1 GiB'
result $? 'types that need too much memory are refused'

# ---- priorities -------------------------------------------------------------------------

# LTTng's are relative to 100, but those of woken threads only from 2.7.1 on.
python3 - "$support" >>log 2>&1 <<'EOT'
import sys
sys.path.insert(0, sys.argv[1])
import make_linux_traces as m
for name, version in (('old', (2, 7, 0)), ('new', (2, 7, 1))):
    meta = m.ctf1()
    env = ''.join(f' tracer_{k} = {v};' for k, v in zip(('major', 'minor', 'patchlevel'), version))
    assert 'tracer_name = "lttng-modules";' in meta.decode() if isinstance(meta, bytes) else meta
    at = b'tracer_name = "lttng-modules";'
    meta = (meta if isinstance(meta, bytes) else meta.encode()).replace(at, at + env.encode())
    import os
    os.makedirs(name)
    open(f'{name}/metadata', 'wb').write(meta)
    for cpu in (0, 1):
        open(f'{name}/channel0_{cpu}', 'wb').write(m.lttng_stream(cpu))
EOT
run 0 dump old && grep -q 'sched_waking: prio=20 ' text && grep -q 'sched_switch: prev_prio=120 ' text &&
	run 0 dump new && grep -q 'sched_waking: prio=120 ' text && grep -q 'sched_switch: prev_prio=120 ' text
result $? 'priorities of woken threads are relative from 2.7.1 on'

# ---- order ------------------------------------------------------------------------------

# Two channels of a CPU. The first one loses events, and its packets overlap; with "back" one
# of its events is earlier than the one before.
cat >order.py <<'EOT'
import os
import struct
import sys
META = '''/* CTF 1.8 */
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
clock { name = c; freq = 1000000000; };
stream { packet.context := struct { ts timestamp_begin; ts timestamp_end; u32 content_size;
u32 packet_size; u32 events_discarded; u32 packet_seq_num; u32 cpu_id; };
event.header := struct { ts timestamp; }; %s };
event { name = "tick"; fields := struct { u32 n; }; };
'''


def packet(begin, end, lost, nr, cpu, times, context=b''):
    body = b''.join(struct.pack('<Q', t) + context + struct.pack('<I', t & 0xffff) for t in times)
    bits = (4 + 16 + 20 + len(body)) * 8
    return struct.pack('<IQQIIIII', 0xc1fc1fc1, begin, end, bits, bits, lost, nr, cpu) + body


def write(name, *streams, context=''):
    os.makedirs(name)
    open(f'{name}/metadata', 'w').write(META % context)
    for i, stream in enumerate(streams):
        open(f'{name}/channel{i}_2', 'wb').write(stream)


other = packet(100, 900, 0, 0, 2, range(100, 900, 50))
write('lossy', packet(100, 500, 0, 0, 2, (110, 210)) + packet(400, 800, 7, 1, 2, (410, 510)) +
      packet(700, 900, 7, 2, 2, (710,)), other)
write('whole', packet(100, 300, 0, 0, 2, (110, 210)) + packet(400, 600, 7, 1, 2, (410, 510)), other)
write('back', packet(100, 500, 0, 0, 2, (110, 480)) + packet(400, 800, 0, 1, 2, (410, 420, 510)), other)
write('shared', packet(100, 500, 0, 0, 0xffffffff, (110, 210), struct.pack('<I', 5)),
      context='event.context := struct { u32 cpu_id; };')
write('late', packet(100, 200, 0, 0, 2, (110, 1 << 63)))
write('padded', packet(100, 500, 0, 0, 2, (110, 210)) + bytes(5000))
EOT
python3 order.py 2>>log
loss='cpu2: 7 events lost between'
back='channel0_2: time goes back 1 times, first on cpu2 at byte 104 by 70 ns: 2 events get the time before it'
for command in dump 'stats --json' 'convert --to csv -o x.csv' 'convert --to jsonl -o x.jsonl' \
	'convert --to perfetto -o x.pftrace' 'convert --to lttng -o x.lttng' 'convert --to native -o x.native'; do
	# shellcheck disable=SC2086	# a command and its options
	run 0 $command lossy && ! says 'goes back' && run 0 ${command//x./y.} back && says "$back"
	result $? "ktape $command reads on where time goes back, and reports it"
done
run 0 dump lossy && says "$loss" && [ "$(wc -l <text)" = 21 ] && run 0 verify lossy
result $? 'a loss comes in the order of time with the events of other channels'
run 0 dump back && [ "$(wc -l <text)" = 21 ] && grep -c '^.0.000000480. ' text | grep -qx 3
result $? 'events get the time of the one before'
run 1 verify back && grep -q "wrong time: cpu2: at byte 104 .*: $back" text && [ "$(grep -c '^wrong' text)" = 1 ]
result $? 'verify finds it once'
run 0 dump shared && [ "$(grep -c ' cpu 5 ' text)" = 2 ] && ! says lost
result $? 'a buffer of all CPUs has the CPU in the context of its events'
run 1 dump late && [ "$(cut -d' ' -f1 <text)" = "[0.000000110]
[9223372036.854775805]" ] && says 'at byte 52: channel0_2: times from here on are beyond the year 2262' &&
	[ "$(grep -c 2262 log)" = 1 ]
result $? 'a time beyond the year 2262 is reported, and its event is there'
run 0 dump padded && [ "$(wc -l <text)" = 2 ] && ! says lost && says 'taken for padding'
result $? 'zeros behind the last packet are no loss'

# ---- sessions ---------------------------------------------------------------------------

mkdir -p session/kernel session/ust/uid/0 && cp whole/* session/kernel/ && cp -r made/le session/ust/uid/0/64-bit
sed -i 's/clock { /&offset_s = 1600000005; offset = 500; /' session/kernel/metadata
if command -v babeltrace2 >/dev/null; then
	same session
	result $? 'the traces of a session are read as one, as babeltrace2 does'
else
	skip 'the traces of a session are read as one, as babeltrace2 does' 'no babeltrace2'
fi
run 0 dump session && [ "$(wc -l <text)" = 80 ] && says "$loss"
result $? 'with the losses of each'
: >session/ust/uid/0/64-bit/metadata
run 1 dump session && [ "$(wc -l <text)" = 20 ] &&
	says 'ust/uid/0/64-bit/metadata: the file is empty: this trace is left out'
result $? 'one that cannot be read is reported, the others are read'

# ---- parts that are missing -------------------------------------------------------------

# as_user ARGUMENT...: run ktape as a user who may not read all
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$out/command/ktape" "$@"
	else
		"$out/command/ktape" "$@"
	fi >text 2>log
	got=$?
	echo "exit status $got: $*" >>log
}

mkdir both && mv made/many both/a && cp -r whole both/b && run 0 dump whole && cp text want &&
	run 1 dump both && diff want text >>log &&
	says 'a/metadata: the types of all traces need more than 1 GiB: read a part of the traces: this trace is left out'
result $? 'a trace whose types need too much memory is reported, the others are read'
mkdir -p parts/kernel parts/ust && cp whole/* parts/kernel/ && cp lossy/* parts/ust/
run 0 dump whole && all=$(wc -l <text) && run 0 dump lossy && one=$(wc -l <text)
chmod 755 . && chmod -R go+rX parts && chmod 700 parts/kernel
as_user dump lossy
if [ "$(wc -l <text)" != "$one" ]; then
	skip 'a folder and a file that may not be read are damage' 'no user can be another one'
else
	as_user dump parts && [ $got = 1 ] && [ "$(wc -l <text)" = "$one" ] &&
		says 'kernel: Permission denied: this folder is left out'
	result $? 'a folder that may not be read is damage'
	as_user verify parts && [ $got = 1 ] && ! grep -q 'nothing is wrong' text
	result $? 'verify finds it'
	mkdir denied && mv parts/kernel denied/ && as_user dump denied && [ $got = 1 ] &&
		says 'denied: no trace in the directory can be read: kernel: Permission denied'
	result $? 'and a folder without any other is refused with its name'
	mv denied/kernel parts/ && chmod 755 parts/kernel && chmod 000 parts/kernel/metadata
	as_user dump parts && [ $got = 1 ] && [ "$(wc -l <text)" = "$one" ] &&
		says 'kernel/metadata: Permission denied: this trace is left out'
	result $? 'so are metadata that may not be read'
	chmod 644 parts/kernel/metadata && chmod 000 parts/kernel/channel0_2
	as_user dump parts && [ $got = 1 ] && [ "$(wc -l <text)" = $((one + all - 4)) ] &&
		says 'kernel/channel0_2: Permission denied: this file is left out'
	result $? 'and a stream file, but the others of the trace are read'
	chmod 644 parts/kernel/channel0_2
fi
mv parts/kernel elsewhere && ln -s ../elsewhere parts/kernel && ln -s .. parts/ust/up && ln -s kernel parts/twice
run 0 dump parts && [ "$(wc -l <text)" = $((one + all)) ]
result $? 'links to traces are followed, each once'
ln -s nowhere parts/gone && run 1 dump parts && [ "$(wc -l <text)" = $((one + all)) ] &&
	says 'gone: No such file or directory: this folder is left out'
result $? 'one that leads nowhere is damage'
rm parts/gone && mkdir -p parts/1/2/3/4/5/6/7/8/9/10/11 && run 1 dump parts && says 'are too deep: this folder is left out'
result $? 'so are folders that are too deep'
rm -r parts/1
mkdir parts/ust/index && ln -s nowhere parts/ust/gone && mkfifo parts/ust/fifo
mv parts/ust/channel1_2 parts/ust/metadata_stream
run 1 dump parts && [ "$(wc -l <text)" = $((one + all)) ] && says 'ust/gone: No such file or directory: this file is left out' &&
	[ "$(grep -c 'left out' log)" = 1 ]
result $? 'only the file "metadata" itself and what is no file are no streams'
mkdir -p parts/a/metadata && rm parts/ust/gone && run 1 dump parts && [ "$(wc -l <text)" = $((one + all)) ] &&
	says 'a/metadata: not a regular file: this trace is left out'
result $? 'a folder of that name before all others is reported'

# ---- the field --------------------------------------------------------------------------

for trace in arrays be-packetized be-text cpus long-names no-stream-id procname tid-reuse wrap32 zephyr; do
	if [ ! -d "$field/ctf/$trace" ] || ! command -v babeltrace2 >/dev/null; then
		skip "$trace is as babeltrace2 prints it" 'no shared traces, or no babeltrace2'
		continue
	fi
	same "$field/ctf/$trace"
	result $? "$trace is as babeltrace2 prints it"
done
if [ -d "$field/ctf-overlap-loss" ]; then
	run 0 dump "$field/ctf-overlap-loss" && [ "$(wc -l <text)" = 228 ] &&
		run 0 verify "$field/ctf-overlap-loss" && run 0 stats "$field/ctf-overlap-loss" &&
		run 0 convert "$field/ctf-overlap-loss" --to native -o overlap
	result $? 'packets that overlap are read by each command'
else
	skip 'packets that overlap are read by each command' 'no shared traces'
fi
echo "1..$n"
exit $failed
