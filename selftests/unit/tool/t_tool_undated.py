#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_undated.py FOLDER: a trace whose clock is not related to UTC, as those of real-time
kernels are, has no date in any output: not 1970.  One that has a date keeps it."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../support')
import make_ctf as ctf  # noqa: E402  pylint: disable=wrong-import-position
from protobuf import members  # noqa: E402  pylint: disable=wrong-import-position
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

pages = here + '/../support/html_blocks.py'
golden = os.path.abspath(here + '/../../../../shared/golden')
field = os.path.abspath(here + '/../../../../shared/field')
SECONDS = 1795458632            # 2026-11-23 18:30:32 UTC
NO_DATE = 'date=__HIVE_DEFAULT_PARTITION__'
OPTIONAL = 1                    # FieldRepetitionType
REALTIME = 1                    # BuiltinClock of Perfetto


def run(*words):
    done = subprocess.run([ktape, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=600, check=False)
    assert done.returncode == 0, f'{words}: {done.returncode}: {done.stderr.decode()}'
    return done.stdout


# ---- readers that are not ours ----------------------------------------------------------


class Thrift:
    """Thrift's compact encoding: a structure as {field: value}."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def number(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.number()
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size:self.at]
        if kind in (9, 10):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        assert kind == 12, kind
        fields, last = {}, 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.number()
            fields[last] = self.value(head & 15)
        return fields


def utc_of(path):
    """Of the column ts_utc of a file: repetition, values, nulls, least value."""
    with open(path, 'rb') as file:
        data = file.read()
    size, = struct.unpack('<I', data[-8:-4])
    footer = Thrift(data[-8 - size:-8]).value(12)
    element, = [e for e in footer[2] if e.get(4) == b'ts_utc']
    metas = [c[3] for group in footer[4] for c in group[1] if c[3][3] == [b'ts_utc']]
    least = [m[12][6] for m in metas if 6 in m[12]]
    return (element[3], sum(m[5] for m in metas), sum(m[12][3] for m in metas),
            struct.unpack('<q', least[0])[0] if least else None)


def clocks_of(data):
    """The clocks that the snapshots of a trace of Perfetto have."""
    return {dict(members(clock))[1] for _, packet in members(data) for n, snapshot in members(packet)
            if n == 6 for m, clock in members(snapshot) if m == 1}


def undated_files(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder)
                  for name in names if NO_DATE in where)


def all_files(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder)
                  for name in names if name.endswith('.parquet'))


# ---- tests ------------------------------------------------------------------------------


def parquet(trace, *how):
    """Each time as UTC is null, in one file and in a folder."""
    run('convert', '-q', *how, '-t', 'parquet:compress=none', '-o', 'one.parquet', trace)
    repetition, values, nulls, least = utc_of('one.parquet')
    assert values > 0, 'no rows'
    equal((repetition, nulls, least), (OPTIONAL, values, None))
    shutil.rmtree('tables', ignore_errors=True)
    run('convert', '-q', *how, '-t', 'parquet:compress=none,dir=tables', trace)
    equal(undated_files('tables'), all_files('tables'))
    for path in all_files('tables'):
        with open(path, 'rb') as file:
            data = file.read()
        assert b'REALTIME' not in data and b'1970-0' not in data and b'197001' not in data, path
        if b'ts_utc' in data:
            repetition, values, nulls, least = utc_of(path)
            equal((path, repetition, nulls, least), (path, OPTIONAL, values, None))


def perfetto(trace, *how):
    run('convert', '-q', *how, '-t', 'perfetto', '-o', 'one.pftrace', trace)
    with open('one.pftrace', 'rb') as file:
        clocks = clocks_of(file.read())
    assert clocks and REALTIME not in clocks, clocks


def page(trace, *how):
    run('convert', '-q', *how, '-t', 'html', '-o', 'one.html', trace)
    about = json.loads(subprocess.run([sys.executable, pages, 'one.html', 'about'], check=True,
                                      stdout=subprocess.PIPE).stdout)
    equal(about.get('undated'), True)


def hyparquet(path, want):
    modules = os.environ['KTAPE_NODE_MODULES']
    script = os.path.join(modules, 'ktape-utc.mjs')
    with open(script, 'w', encoding='utf-8') as file:
        file.write('''
            import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
            const file = await asyncBufferFromFile(process.argv[2])
            const rows = await parquetReadObjects({ file })
            console.log(JSON.stringify([...new Set(rows.map(r => r.ts_utc?.toISOString()?.slice(0, 10) ?? null))]))
        ''')
    try:
        equal(json.loads(subprocess.run(['node', script, path], check=True,
                                        stdout=subprocess.PIPE).stdout), want)
    finally:
        os.unlink(script)


def dated():
    """The least time of the first event, in us, and the day."""
    begin = int(json.loads(run('dump', '--all', '--json', 'dated').split(b'\n')[0])['ts'])
    run('convert', '-q', '-t', 'parquet:compress=none', '-o', 'dated.parquet', 'dated')
    repetition, _, nulls, least = utc_of('dated.parquet')
    equal((repetition, nulls, least // 10**6), (OPTIONAL, 0, SECONDS))
    assert abs(least - begin // 1000) < 10**6, (least, begin)
    run('convert', '-q', '-t', 'parquet:dir=dates', 'dated')
    assert all('/date=2026-11-23/' in path for path in all_files('dates')), all_files('dates')
    run('convert', '-q', '-t', 'perfetto', '-o', 'dated.pftrace', 'dated')
    with open('dated.pftrace', 'rb') as file:
        assert REALTIME in clocks_of(file.read())


def counter(folder):
    """A trace of another tracer whose clock has a small offset to a counter."""
    ctf.EVENTS = {'tick': ctf.Struct(n=ctf.Number(32))}
    body = ctf.Bits(False)
    for _ in range(2):
        size = (len(body.text) + 7) // 8 * 8
        head = dict(timestamp_begin=ctf.START, timestamp_end=ctf.START, content_size=size,
                    packet_size=size, cpu_id=0)
        body = ctf.Bits(False)
        ctf.MAGIC.put(body, {'magic': 0xc1fc1fc1})
        ctf.PACKET.put(body, head)
        ctf.HEADER.put(body, {'id': 0, 'timestamp': ctf.START})
        ctf.EVENTS['tick'].put(body, {'n': 7})
    ctf.CONTEXT = ctf.Struct()
    text = re.sub('offset_s = [0-9]+;', 'offset = 5000000;', ctf.tsdl(False)).replace(
        'event.context := struct {  };', '')
    ctf.write(folder, ('/* CTF 1.8 */\n' + text).encode(), body.data())


work = tempfile.mkdtemp(prefix='ktape-undated.')
os.chdir(work)
counter('counter')
subprocess.run([out + '/t_lib_linux', '--scene', 'scene'], check=True)
subprocess.run([out + '/make_trace', 'session', 'dated', 'dated.pipe'], check=True)
subprocess.run([out + '/make_trace', 'dated', 'dated', str(SECONDS), '1000000'], check=True)
run('convert', '-q', '-t', 'tband', '-o', 'scene.tband', 'scene')
run('convert', '-q', '-t', 'tracex', '-o', 'scene.trx', 'scene')
run('convert', '-q', '-t', 'rkh', '-o', 'scene.rkh', 'scene')
run('convert', '-q', '-t', 'native', '-o', 'again', 'scene.tband')
run('convert', '-q', '-t', 'native', '-o', 'counter.native', 'counter')
traces = [('scene.tband', '--from', 'tband'), ('scene.trx', '--from', 'tracex'),
          ('scene.rkh', '--from', 'rkh'), ('again',), (golden + '/demo_threadx.trx',),
          (field + '/markers.dat',), ('counter',), ('counter.native',)]
for trace, *how in traces:
    absent = '' if os.path.exists(trace) else 'no ../shared'
    for test in parquet, perfetto, page:
        result(f'{os.path.basename(trace)}: {test.__name__} has no date', test, trace, *how, skip=absent)
result('a trace with a date has it', dated)
absent = '' if os.path.isdir(os.environ.get('KTAPE_NODE_MODULES', '') + '/hyparquet') else 'no hyparquet'
if not absent:
    run('convert', '-q', '-t', 'parquet:compress=none', '-o', 'rtos.parquet', 'scene.tband')
result('hyparquet reads nulls', hyparquet, work + '/rtos.parquet', [None], skip=absent)
result('and a day', hyparquet, work + '/dated.parquet', ['2026-11-23'], skip=absent)
os.chdir('/')
shutil.rmtree(work)
end()
