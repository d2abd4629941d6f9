# SPDX-License-Identifier: GPL-2.0-only
"""What another program reads of an input: babeltrace2, trace-cmd report, perf script."""
import os
import re
import shutil
import subprocess

import ctf_lines


def out_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          timeout=300).stdout.decode('utf-8', 'replace').splitlines()


def head(path):
    with open(path, 'rb') as file:
        return file.read(16)


def compare_ctf(ktape, trace, _, tell):
    """Every field, as babeltrace2 prints it."""
    try:
        want = list(ctf_lines.read_babeltrace2(trace))
    except (subprocess.CalledProcessError, AssertionError):
        return
    got = list(ctf_lines.read_ktape(ktape, trace))
    if len(want) != len(got):
        tell('babeltrace2 has', len(want), 'ktape', len(got))
    # Both may have events of one time in any order.
    want.sort(key=lambda e: (e['ts'], e['stream.packet.context'].get('cpu_id', 0)))
    got.sort(key=lambda e: (int(e['ts']), e['cpu']))
    for i, (a, b) in enumerate(zip(want, got)):
        if ctf_lines.compare_event(i, a, b):
            tell('event', i, a['name'])


LINE = re.compile(r' *(.*)-(\d+) +\[(\d+)\] .*?(\d+)\.(\d{6,9}): +(\S+?):? ')


def compare_tracecmd(_, trace, events, tell):
    """Number, time, CPU and thread of all events: fields are compared by selftests/tracecmd."""
    lines = [LINE.match(line + ' ') for line in out_of('trace-cmd', 'report', '-t', '-N', trace)]
    compare_lines([(int(m[4]) * 10**9 + int(m[5].ljust(9, '0')), int(m[3]), int(m[2])) for m in lines if m],
                  events, tell)


SAMPLE = re.compile(r' *(.*?) +(-?\d+) \[(\d+)\] +(\d+)\.(\d{9}):')


def compare_perf(_, trace, events, tell):
    lines = [SAMPLE.match(line) for line in out_of('perf', 'script', '--ns', '-F', 'comm,tid,cpu,time,event',
                                                   '-i', trace)]
    compare_lines([(int(m[4]) * 10**9 + int(m[5]), int(m[3]), int(m[2])) for m in lines if m], events, tell)


def compare_lines(want, events, tell):
    events = [e for e in events if e.ring == 'event']
    if not want:
        return		# the installed one does not read this version
    if len(want) != len(events):
        tell('the other reader has', len(want), 'ktape', len(events))
        return
    begin = min(w[0] for w in want) if want else 0
    first = min((e.ts for e in events), default=0)
    a = sorted((ts - begin, cpu, tid) for ts, cpu, tid in want)
    b = sorted((e.ts - first, e.cpu, e.tid) for e in events)
    for x, y in zip(a, b):
        if x != y:
            tell('time, CPU, thread', x, 'ktape', y)


def is_of_babeltrace2(trace, events):
    """Whether babeltrace2 reads the input, and is there."""
    return len(trace) == 1 and os.path.isdir(trace[0]) and bool(shutil.which('babeltrace2')) and \
        not any(e.ring == 'control' for e in events)


def compare(ktape, trace, events, tell):
    """Compare the events with those that another reader has; nothing if there is none."""
    if len(trace) != 1:
        return
    path, = trace
    if is_of_babeltrace2(trace, events):
        compare_ctf(ktape, path, events, tell)
    if os.path.isdir(path):
        return
    begin = head(path)
    if begin.startswith(b'PERFILE2') and shutil.which('perf'):
        compare_perf(ktape, path, events, tell)
    elif begin.startswith(b'\x17\x08Dtracing') and shutil.which('trace-cmd'):
        compare_tracecmd(ktape, path, events, tell)
