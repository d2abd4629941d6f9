#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_overwritten.py FOLDER: what a flight recorder has overwritten is not known, for each
command and format that shows it, and is counted, but not as lost.  In each mode of a session
make_rings writes all of it and what a reader finds; the second is compared with the first."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../support')
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
pages = here + '/../support/html_blocks.py'
field = here + '/../../../../shared/field/flight-recorder'
CUT = ('overwrite', 'persist', 'read', 'late')
WHOLE = ('discard', 'snapshot', 'rotation')
MESSAGE = 'events were overwritten before'


def run(*words, status=0, stdin=None):
    """Run the command.  Return what it prints and its messages."""
    done = subprocess.run([ktape, *words], stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, check=False)
    says = done.stderr.decode()
    assert done.returncode == status, f'{words}: exit status {done.returncode}: {says}'
    return done.stdout, says


class Rings:
    """The two traces of a mode, and what make_rings has counted in their packets."""

    def __init__(self, mode):
        made = subprocess.run([out + '/make_rings', mode, mode], check=True,
                              stdout=subprocess.PIPE).stdout
        self.whole, self.cut = mode + '/whole', mode + '/cut'
        self.begin, self.overwritten = json.loads(made).values()
        self.is_cut = mode in CUT
        self.gone = sum(self.overwritten)
        # The statistics begin with the first event of a ring.
        self.first = min(self.begin)


def stats_of(path, stdin=None):
    text, says = run('stats', '-j', path, stdin=stdin)
    return json.loads(text), says


def check_stats(r, found, says):
    """Compare the statistics of what is left with those of all."""
    whole, _ = stats_of(r.whole)
    for cpu in range(2):
        c, all_of = found['cpus'][cpu], whole['cpus'][cpu]
        equal(c['overwritten'], r.overwritten[cpu])
        equal(c['late'], r.overwritten[cpu] > 0)
        equal((c['lost'], c['gaps']), (0, 0))
        equal(c['run_ns'] + c['idle_ns'] + c['irq_ns'] + c['softirq_ns'] + c['unknown_ns'],
              found['span_ns'])
        # Behind the stop of the session nothing is known in both.
        equal(c['unknown_ns'] - all_of['unknown_ns'],
              r.begin[cpu] - r.first if r.is_cut else 0)
    threads = {t['tid']: t['run_ns'] for t in whole['threads']}
    for t in found['threads']:
        assert t['run_ns'] <= threads[t['tid']], t
    equal(MESSAGE in says, r.is_cut)


def stats(r):
    check_stats(r, *stats_of(r.cut))
    text, _ = run('stats', r.cut)
    equal(b' overwritten' in text.split(b'\n')[2], r.is_cut)


def live(r):
    """The same, read from a pipe."""
    with subprocess.Popen(['cat', r.cut], stdout=subprocess.PIPE) as cat:
        check_stats(r, *stats_of('-', cat.stdout))


def gates(r):
    _, says = run('stats', '-F', 'overwritten > 0', r.cut, status=3 if r.is_cut else 0)
    equal(f'the value is {r.gone}' in says, r.is_cut)
    _, says = run('stats', '-F', 'lost > 0', '-F', 'gaps > 0', r.cut)
    equal('do not count as lost' in says, r.is_cut)
    # One of the missing events may have been the longest interrupt.
    _, says = run('stats', '-F', 'irq.p99.9 > 1s', r.cut)
    equal('may have changed the result' in says, r.is_cut)


def dump(r):
    run('dump', '--strict', r.cut, status=1 if r.is_cut else 0)
    text, says = run('dump', '-j', r.cut)
    for cpu, nr in enumerate(r.overwritten):
        seconds = f'{r.begin[cpu] // 10**9}.{r.begin[cpu] % 10**9:09}'
        line = f'cpu{cpu}: {nr} events were overwritten before [{seconds}]'
        equal(line in says, nr > 0)
    # The thread of a control record in the time that is not known is not the one before, but
    # in mode late that of the packet, which begins with one.
    for e in map(json.loads, text.splitlines()):
        if e['event'] == 'exception' and int(e['ts']) < r.begin[1] and r.cut[:4] != 'late':
            equal(e['tid'] is None, r.is_cut)


def top(r):
    """The intervals begin where the first ring does, and add up to what stats says."""
    whole, _ = stats_of(r.cut)
    text, _ = run('top', '--json', '-t', '10us', '-i', r.cut)
    views = [json.loads(line) for line in text.splitlines()]
    if r.is_cut:
        equal(int(views[0]['from_ns']), r.first)
    for cpu in range(2):
        unknown = sum(c['unknown_ns'] for v in views for c in v['cpus'] if c['cpu'] == cpu)
        equal(unknown, whole['cpus'][cpu]['unknown_ns'])
    equal(sum(v['lost'] for v in views), 0)


def diff(r):
    _, says = run('diff', r.whole, r.cut)
    equal(f'{r.cut}: {r.gone} {MESSAGE}' in says, r.is_cut)


def convert(r, form, *more):
    """Convert what is left.  Return the path."""
    path = f'{r.cut}.{form}'
    _, says = run('convert', '--to', form, *more, '-o', path, r.cut)
    equal(MESSAGE in says, r.is_cut)
    return path


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def page(r):
    path = convert(r, 'html')
    text = subprocess.run([sys.executable, pages, path, 'spans'], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    lost, runs = {}, {0: [], 1: []}
    for words in map(str.split, text.splitlines()):
        begin, ns, cpu = int(words[1]), int(words[2]), int(words[3])
        if words[0] == '8':
            equal(cpu in lost, False)
            lost[cpu] = (begin, begin + ns, dict(w.split('=') for w in words[6:]))
        elif words[0] == '0':
            runs[cpu].append(begin)
    equal(sorted(lost), [cpu for cpu in range(2) if r.overwritten[cpu]])
    for cpu, (begin, end, more) in lost.items():
        equal(int(more['a']), r.overwritten[cpu])
        equal(int(more['b']), 1 << 6)
        equal([at for at in runs[cpu] if begin <= at < end], [])
        assert runs[cpu], 'nothing runs behind the loss'


def perfetto(r):
    data = content(convert(r, 'perfetto'))
    for nr in filter(None, r.overwritten):
        assert b'%d events overwritten' % nr in data, nr
    equal(b'Lost data CPU 1' in data, r.is_cut)


def parquet(r):
    path = f'{r.cut}.tables'
    os.mkdir(path)
    run('convert', '--to', f'parquet:dir={path},compress=none', r.cut)
    tables = b''.join(content(os.path.join(d, f)) for d, _, names in os.walk(path)
                      for f in names if '/lost/' in d)
    equal(b'overwritten' in tables, r.is_cut)
    # Two numbers would be in a dictionary.
    if r.overwritten.count(0) == 1:
        assert struct.pack('<Q', r.gone) in tables, r.gone


def chrome(r):
    found = [e for e in json.loads(content(convert(r, 'chrome')))['traceEvents']
             if e.get('cat') == 'lost']
    equal({e['name'] for e in found}, {'overwritten events'} if r.is_cut else set())
    equal(sorted(e['args']['count'] for e in found if e['args']['count']),
          sorted(filter(None, r.overwritten)))
    if r.is_cut:
        equal(max(round((e['ts'] + e['dur']) * 1000) for e in found), max(r.begin))


def text_of_ftrace(r):
    lines = content(convert(r, 'ftrace')).decode().splitlines()
    equal([f'CPU:{cpu} [LOST EVENTS]' in lines for cpu in range(2)],
          [nr > 0 for nr in r.overwritten])


def lttng(r):
    """The packet that begins where the ring does does not follow the one before it."""
    path = convert(r, 'lttng')
    gaps = {}
    for d, _, names in os.walk(path):
        for name in names:
            data, at, last = content(os.path.join(d, name)), 0, None
            while data[at:at + 4] == struct.pack('<I', 0xc1fc1fc1):
                first, _, _, size, seq, discarded, cpu = struct.unpack_from('<6QI', data, at + 32)
                equal(discarded, 0)
                if last is not None and seq > last + 1:
                    gaps[cpu] = first
                last, at = seq, at + size // 8
    # What CPU 0 has before its ring are records of the start, which have no gap behind them
    # if all of the ring is there.
    equal(gaps.get(1), r.begin[1] if r.is_cut else None)


def native(r):
    path = convert(r, 'native')
    before, after = stats_of(r.cut)[0], stats_of(path)[0]
    for a, b in zip(before['cpus'], after['cpus']):
        equal((a['unknown_ns'], a['late'], a['lost']), (b['unknown_ns'], b['late'], b['lost']))
    run('dump', '--strict', path, status=1 if r.is_cut else 0)


def lines(r):
    """The same lines from any number of threads."""
    text, says = run('dump', '-aj', '-J', '1', r.cut)
    equal((text, says), run('dump', '-aj', '-J', '3', r.cut))


CONSUMERS = {
    'stats': stats, 'conditions': gates, 'dump': dump, 'threads of dump': lines, 'top': top,
    'diff': diff, 'a page': page, 'Perfetto': perfetto, 'Parquet': parquet,
    'Chrome': chrome, 'ftrace': text_of_ftrace, 'LTTng': lttng, 'a native trace': native,
}


def recorder():
    """A CPU was busy for 10 of 19 seconds: all of that was overwritten."""
    found, says = stats_of(field)
    head = content(field + '/cpu3')[-4096:]
    emitted, = struct.unpack_from('<Q', head, 48)
    records = sum(json.loads(line)['event'] != 'time_extend'
                  for line in run('dump', '-aj', field + '/cpu3')[0].splitlines())
    c = found['cpus'][3]
    equal(c['overwritten'], emitted - records)
    equal((found['lost'], c['lost'], MESSAGE in says), (0, 0, True))
    equal([c['late'] for c in found['cpus']], [False, False, False, True])
    # From the first event of CPU 2's ring to the first one of CPU 3's, in ns.
    begin = 1974009889664 - 1960235618000
    assert abs(c['unknown_ns'] - begin) < 50e6, c
    assert all(t['run_ns'] < 1e9 for t in found['threads']), found['threads'][0]
    run('dump', '--strict', field, status=1)
    run('stats', '-F', 'overwritten > 3e6', field, status=3)


def main():
    print('TAP version 13')
    work = tempfile.mkdtemp(prefix='ktape-overwritten.')
    os.chdir(work)
    for mode in (*CUT, *WHOLE):
        r = Rings(mode)
        equal(r.gone > 100, r.is_cut)
        for name, test in CONSUMERS.items():
            result(f'{mode}: {name}', test, r)
        if not os.path.isdir(r.cut):
            result(f'{mode}: stats of a pipe', live, r)
    if os.path.isdir(field):
        result('a busy CPU of a flight recorder', recorder)
    else:
        result('a busy CPU of a flight recorder', recorder, skip='../shared/field is absent')
    shutil.rmtree(work)
    end()


main()
