# SPDX-License-Identifier: GPL-2.0-only
"""What perf says of a perf.data: its lines for each event, the fields of tracepoints, and its
dump of the records."""
import json
import os
import re
import subprocess

here = os.path.dirname(os.path.abspath(__file__))

LINE = re.compile(r'^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{9}):\s+(.*?):?\s*$')
RECORD = re.compile(r'^(?:(-?\d+) )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_(\w+)(.*)')
SAMPLE = re.compile(r'.*?: (-?\d+)/(-?\d+): (0x[0-9a-f]+|0) period: (\d+) addr: (0x[0-9a-f]+|0)')
NO_CPU = 2 ** 32 - 1


def kept(path, kind):
    """What the guest's perf said of a file that this machine's cannot read, or None."""
    try:
        with open(path[:-len('.data')] + kind, encoding='utf-8',
                  errors='surrogateescape') as file:
            return file.read().split('\n')
    except FileNotFoundError:
        return None


def script(path, *how):
    done = subprocess.run(['perf', 'script', '-i', path, *how], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.stdout.decode(errors='surrogateescape').splitlines(), done.stderr.decode()


def lines(path):
    """Of each event and context switch: name and process of the thread, CPU, time, event."""
    how = ('--ns', '--show-switch-events', '-F')
    text, says = kept(path, '.lines'), ''
    if text is None:
        text, says = script(path, *how, 'comm,pid,tid,cpu,time,event')
    if 'CPU attribute' in says:     # of one event, so of no event
        text, says = script(path, *how, 'comm,pid,tid,time,event')
    out = []
    for line in text:
        if line.startswith('\t') or not line:
            continue        # of a call chain, which perf shows for what comes by a pipe
        m = LINE.match(line)
        assert m, line
        comm, pid, tid, cpu, seconds, ns, event = m.groups()
        out.append(dict(comm=comm, pid=int(pid), tid=int(tid), event=re.sub(r'\s+', ' ', event),
                        cpu=None if cpu is None else int(cpu), ts=int(seconds) * 10**9 + int(ns)))
    return out


def fields(path):
    """Of each event and context switch: its kind, its name and its fields; None if the guest's
    perf was asked, which has no Python."""
    if kept(path, '.lines'):
        return None
    text, _ = script(path, '-s', here + '/reader.py')
    return [json.loads(line) for line in text if line.startswith('[')]


def wall(path):
    """The wall clock at the trace's time 0, in ns; 0 = the file does not say it."""
    done = subprocess.run(['perf', 'report', '--header-only', '-i', path], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    m = re.search(r'^# reference time: .* = (\d+)\.(\d{6}) \(TOD\) = (\d+)\.(\d{9}) ',
                  done.stdout.decode(), re.M)
    return m and (int(m[1]) - int(m[3])) * 10**9 + int(m[2]) * 1000 - int(m[4]) or 0


def number(text):
    return int(text, 0)


def part(sample, line):
    """Take a line of the dump of a sample."""
    text = line.strip(' .')
    m = re.match(r'(user|intr) regs: mask (\S+) ABI', text)
    if m:
        sample['into'] = sample['perf_' + m[1] + '_regs'] = []
        sample[f'perf_{m[1]}_regs_mask'] = number(m[2])
    elif re.match(r'[A-Z0-9]+\s+0x[0-9a-f]{16}$', text):
        sample['into'].append(number(text.split()[1]))
    elif text.startswith('FP chain: nr:') or text.startswith('LBR call chain: nr:'):
        sample['perf_callchain'] = []
    elif re.match(r'\d+: [0-9a-f]{16}$', text):
        sample['perf_callchain'].append(int(text.split()[1], 16))
    elif text.startswith('ustack: size '):
        sample['stack'] = int(re.match(r'ustack: size (\d+)', text)[1])
    elif text.startswith('weight: '):
        parts = [number(w) for w in text[8:].split(',')] + [0, 0]
        sample['perf_weight'] = parts[0] | parts[1] << 32 | parts[2] << 48
    elif text.startswith('data_src: '):
        sample['perf_data_src'] = number(text[10:])
    elif text.startswith('phys_addr: '):
        sample['perf_phys_addr'] = number(text[11:])
    elif text.startswith('group nr '):
        sample['perf_read'], sample['perf_read_ids'], sample['perf_read_lost'] = [], [], []
    elif re.match(r'id [0-9a-f]+, value', text):
        m = re.match(r'id ([0-9a-f]+), value ([0-9a-f]+)(?:, lost (\d+))?', text)
        sample.setdefault('perf_read_ids', []).append(int(m[1], 16))
        sample.setdefault('perf_read', []).append(int(m[2], 16))
        if m[3]:
            sample.setdefault('perf_read_lost', []).append(int(m[3]))


def records(path):
    """Samples and context switches as they are in the file, and how much was lost."""
    text = kept(path, '.records')
    if text is None:
        text, _ = script(path, '-D')
    out, lost, counted, sample = [], 0, 0, None
    for line in text:
        m = RECORD.match(line)
        if m:
            sample = None
            cpu, time, kind, rest = m.groups()
            if kind == 'SAMPLE':
                pid, tid, ip, period, addr = SAMPLE.match(rest).groups()
                sample = dict(kind=kind, ts=int(time), pid=int(pid), tid=int(tid),
                              perf_ip=number(ip), perf_period=int(period), perf_addr=number(addr),
                              cpu=None if cpu is None or int(cpu) == NO_CPU else int(cpu))
                out.append(sample)
            elif kind in ('SWITCH', 'SWITCH_CPU_WIDE'):
                out.append(dict(kind=kind, ts=int(time), text=rest.strip(),
                                cpu=None if cpu is None or int(cpu) == NO_CPU else int(cpu)))
            elif kind == 'LOST':
                lost += int(rest.rsplit(':', 1)[1])
            elif kind == 'LOST_SAMPLES':
                counted += int(rest.rsplit(':', 1)[1])
        elif sample and re.match(r' ?\.+ ?\S', line) or sample and line.startswith('.'):
            part(sample, line)
        elif not line:
            sample = None
    for r in out:
        r.pop('into', None)
    return out, max(lost, counted)
