#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_ctf_packets.py FOLDER: events of CTF traces whose times are outside of their packets.

babeltrace2's muxer refuses such a trace, because the end of a packet is then earlier than its
last event. Without the muxer it prints the time of each event: these times are ktape's, in both
byte orders, in CTF 1.8 and 2, and with time stamps of 27 and 32 bits that wrap."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../../../support')
import make_ctf as ctf  # noqa: E402  pylint: disable=wrong-import-position
from make_ctf import Bits, Number, Struct  # noqa: E402  pylint: disable=wrong-import-position
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

MISSING = '' if shutil.which('babeltrace2') else 'no babeltrace2'
EVENT = Struct(n=Number(32))
W27, W32 = 1 << 27, 1 << 32


def packet_context(begin, last):
    return Struct(timestamp_begin=Number(begin, clock=True), timestamp_end=Number(last, clock=True),
                  content_size=Number(64), packet_size=Number(64), events_discarded=Number(64),
                  packet_seq_num=Number(64), cpu_id=Number(32))


def metadata(big, header, packet, version):
    if version == 1:
        return f'''/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = {'be' if big else 'le'}; packet.header := {ctf.declare(ctf.MAGIC, True)}; }};
clock {{ name = c; freq = 1000000000; }};
stream {{ packet.context := {ctf.declare(packet, True)}; event.header := {ctf.declare(header, True)}; }};
event {{ name = e; id = 0; fields := {ctf.declare(EVENT)}; }};
'''
    parts = [{'type': 'preamble', 'version': 2},
             {'type': 'trace-class', 'packet-header-field-class':
              ctf.with_roles(ctf.MAGIC, big, {'magic': 'packet-magic-number'})},
             {'type': 'clock-class', 'id': 'c', 'frequency': 1000000000},
             {'type': 'data-stream-class', 'default-clock-class-id': 'c',
              'packet-context-field-class': ctf.with_roles(packet, big, {
                  'timestamp_begin': 'default-clock-timestamp',
                  'timestamp_end': 'packet-end-default-clock-timestamp',
                  'content_size': 'packet-content-length', 'packet_size': 'packet-total-length',
                  'events_discarded': 'discarded-event-record-counter-snapshot',
                  'packet_seq_num': 'packet-sequence-number'}),
              'event-record-header-field-class': ctf.with_roles(header, big, {
                  'id': 'event-record-class-id', 'timestamp': 'default-clock-timestamp'})},
             {'type': 'event-record-class', 'id': 0, 'name': 'e', 'payload-field-class': EVENT.json(big)}]
    return ''.join('\x1e' + json.dumps(p) + '\n' for p in parts)


def make(name, packets, bits=64, bounds=(64, 64)):
    """Each packet: begin, end, lost events, number, times of its events."""
    header = Struct(id=Number(5 if bits == 27 else 16), timestamp=Number(bits, clock=True))
    context = packet_context(*bounds)
    for big in False, True:
        stream, count = b'', 0
        for begin, last, lost, number, times in packets:
            head = dict(timestamp_begin=begin, timestamp_end=last, content_size=0, packet_size=0, events_discarded=lost,
                        packet_seq_num=number, cpu_id=1)
            for _ in range(2):
                body = Bits(big)
                ctf.MAGIC.put(body, {'magic': 0xc1fc1fc1})
                context.put(body, head)
                for i, time in enumerate(times):
                    header.put(body, {'id': 0, 'timestamp': time})
                    EVENT.put(body, {'n': count + i})
                head['content_size'] = len(body.text)
                head['packet_size'] = (len(body.text) + 7) // 8 * 8
            count += len(times)
            stream += body.data()
        for version in 1, 2:
            ctf.write(f'{name}-{"be" if big else "le"}{version}', metadata(big, header, context, version).encode(), stream)
    return [f'{name}-{order}{version}' for order in ('le', 'be') for version in (1, 2)]


def run(*args, status=0):
    done = subprocess.run([ktape, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == status, (args, done.returncode, done.stderr.decode()[:500])
    return done.stdout.decode(), done.stderr.decode()


def dumped(name, *more):
    """Times and numbers of the events that dump prints, and what it tells."""
    lines, log = run('dump', name, *more)
    times = [int(t.replace('.', '')) for t in re.findall(r'^\[([0-9.]+)\]', lines, re.M)]
    equal(re.findall(r' n=(\d+)$', lines, re.M), [str(i) for i in range(len(times))])
    return times, log


def reference(name):
    """Times of babeltrace2's source, in the order of the file."""
    done = subprocess.run(['babeltrace2', 'run', '--component=in:source.ctf.fs', f'--params=inputs=["{os.path.abspath(name)}"]',
                           '--component=out:sink.text.details', '--params=compact=yes,color="never",with-metadata=no',
                           '--connect=in:out'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=600)
    return [int(t.replace(',', '')) for t in re.findall(r'^\[([0-9,]+) [^]]*\] \{.*\} Event ', done.stdout.decode(), re.M)]


def in_order(times):
    held = []
    for time in times:
        held.append(max([time] + held[-1:]))
    return held


OUTSIDE = 'stream_0: {} events have times outside of their packet, first on cpu1 at byte '
BACK = 'stream_0: time goes back {} times, first on cpu1 at byte '
CASES = {
    'inside': ([(1000, 2000, 0, 0, [1000, 2000]), (2000, 3000, 0, 1, [2000, 3000])], 0, '', 0),
    'late': ([(1000, 2000, 0, 0, [1100, 1900, 2500]), (2000, 3000, 0, 1, [2600, 2700])], 1, '500 ns behind its end', 0),
    'overlap': ([(1000, 2000, 0, 0, [1100, 2100, 2500]), (2000, 3000, 0, 1, [2100, 2200, 2700])], 2,
                '100 ns behind its end', 1),
    'early': ([(1000, 2000, 0, 0, [1100, 1900]), (2000, 3000, 0, 1, [1950, 2700])], 1, '50 ns before its begin', 0),
    'first': ([(1000, 2000, 0, 0, [500, 700, 1900]), (2000, 3000, 0, 1, [2500])], 2, '500 ns before its begin', 0),
    'both': ([(1000, 2000, 0, 0, [500, 2001]), (2000, 3000, 0, 1, [1999, 3001])], 4, '500 ns before its begin', 1),
    'end-first': ([(1000, 900, 0, 0, [1100, 1900])], 2, '200 ns behind its end', 0),
    # A packet that was not closed, as lttng-crash finds it.
    'open': ([(1000, 0, 0, 0, [1100, 1900])], 0, '', 0),
    # 7 events were lost, and a packet between the last two.
    'lost': ([(1000, 2000, 3, 0, [1100, 1900]), (2000, 3000, 7, 1, [1950, 2900]), (3200, 4000, 7, 3, [3150, 3900])], 2,
             '50 ns before its begin', 0),
    'wrap27': ([(W27 - 1000, W27 + 500, 0, 0, [W27 - 900, W27 - 100, W27 + 300, W27 + 900]),
                (W27 + 500, W27 + 3000, 0, 1, [W27 + 950, W27 + 1000]),
                (2 * W27 - 5, 2 * W27 + 9, 0, 2, [2 * W27 - 2, 2 * W27 + 3])], 1, '400 ns behind its end', 0, 27),
    'wrap32': ([(W32 - 1000, W32 + 500, 0, 0, [W32 - 900, W32 - 100, W32 + 300, W32 + 900]),
                (W32 + 500, W32 + 3000, 0, 1, [W32 + 950, W32 + 1000, 2 * W32 + 5])], 2, '400 ns behind its end', 0, 32),
    # A time stamp of few bits that is before the begin is behind it: a wrap later.
    'wrapped': ([(W27 - 1000, W27 + 500, 0, 0, [W27 - 900, W27 + 400]), (W27 + 500, W27 + 3000, 0, 1, [W27 + 400, W27 + 1000])],
                2, f'{W27 - 2600} ns behind its end', 0, 27),
    # An end of few bits may have wrapped many times.
    'short-end': ([(W32 - 1000, W32 + 500, 0, 0, [W32 - 900, W32 + 300, 3 * W32])], 0, '', 0, 64, (64, 32)),
    'short-both': ([(1000, 3000, 0, 0, [1100, 2900]), (W32 - 1000, W32 + 500, 0, 1, [W32 - 900, W32 + 300])], 0, '', 0, 32, (32, 32)),
}


def case(name, packets, outside, by, steps, *how):
    for trace in make(name, packets, *how):
        times, log = dumped(trace)
        if trace.endswith('1'):
            want = reference(trace)
            equal(len(want), sum(len(p[4]) for p in packets))
        equal(times, in_order(want))
        told = [line for line in log.splitlines() if 'outside of their packet' in line]
        equal(len(told), 1 if outside else 0)
        if outside:
            assert OUTSIDE.format(outside) in told[0] and told[0].endswith(f' by {by}'), log
        equal(BACK.format(steps) in log, bool(steps))
        equal('goes back' in log, bool(steps))
        checked = run('verify', trace, status=1 if outside or steps else 0)[0]
        wrong = [line for line in checked.splitlines() if line.startswith('wrong')]
        equal(len(wrong), (1 if outside else 0) + (1 if steps else 0))
        assert not outside or any(line.startswith('wrong time: cpu1: ') and OUTSIDE.format(outside) in line for line in wrong), wrong


def place():
    for order in 'le', 'be':
        offset = 4 + 6 * 8 + 4
        log = dumped(f'late-{order}1')[1]
        # The third event of the first packet, of 14 bytes each.
        assert f' at byte {offset + 2 * 14} by ' in log, log


def long_place():
    """The name of the file is cut, not what is wrong."""
    trace = make('long', [((1 << 64) - 1, (1 << 64) - 1, 0, 0, [1100, 1200])])[0]
    os.rename(f'{trace}/stream_0', f'{trace}/{"s" * 100}')
    log = dumped(trace)[1]
    assert re.search(r's{20}: 2 events have .* by 9223372036854774705 ns before its begin$', log, re.M), log


def losses():
    for trace in 'lost-le1', 'lost-be2':
        log = dumped(trace)[1]
        told = [line.split(': ', 2)[2] for line in log.splitlines() if ' lost between ' in line]
        equal(told, ['3 events lost between [0.000001000] and [0.000001950]',
                     '4 events lost between [0.000002000] and [0.000003000]',
                     'an unknown number of events lost between [0.000003000] and [0.000003150]'])


def conversions():
    for trace, events, outside in ('late-be1', 5, 1), ('both-le2', 4, 4), ('lost-be1', 6, 2), ('wrap27-le1', 8, 1):
        times = dumped(trace)[0]
        for to in 'native', 'lttng', 'jsonl', 'csv', 'perfetto', 'chrome', 'ftrace', 'text', 'html', 'parquet:dir=':
            name = f'out-{trace}-{to.strip(":=")}'
            log = run('convert', trace, '--to', *([to + name] if to.endswith('=') else [to, '-o', name]))[1]
            assert OUTSIDE.format(outside) in log and log.count('outside of their') == 1, (to, log)
            if to in ('native', 'lttng'):
                equal(dumped(name)[0], times)
            if to == 'jsonl':
                with open(name, encoding='utf-8') as f:
                    equal(sum('"event":"user_event"' in line for line in f), events)
        assert OUTSIDE.format(outside) in run('stats', trace)[1]
        assert OUTSIDE.format(outside) in run('stats', '--json', trace)[1]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for key, args in CASES.items():
        result(f'{key}: times are those of babeltrace2, and how many are outside is told once', case, key, *args, skip=MISSING)
    result('the place of the first one is told', place, skip=MISSING)
    result('however long the name of its file is', long_place)
    result('a loss before such an event leaves it its time', losses, skip=MISSING)
    result('conversions and statistics tell it, and lose nothing', conversions, skip=MISSING)
end()
