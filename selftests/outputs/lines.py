# SPDX-License-Identifier: GPL-2.0-only
"""Readers of outputs that are text, written from ktape-formats(7) and the texts of their own
tools; none of them is ktape's."""
import csv
import json
import re
import subprocess

from events import pairs


class Got:
    """An event as an output has it; None is what the format has no place for.

    rest:	the text of the fields, for which the comparer needs their names
    """
    def __init__(self, ts, name, fields=None, **more):
        self.ts, self.name, self.fields = ts, name, fields
        self.cpu, self.tid, self.comm, self.rest = (more.get(k) for k in ('cpu', 'tid', 'comm', 'rest'))


def text_lines(path):
    with open(path, encoding='utf-8', errors='surrogateescape', newline='\n') as file:
        return [line.rstrip('\n') for line in file]


def by_jq(path):
    return json_lines(path, subprocess.run(['jq', '-c', '.', path], stdout=subprocess.PIPE, check=True,
                                           ).stdout.decode('utf-8', 'surrogateescape').splitlines())


NODE = """for (const line of require('fs').readFileSync(process.argv[1], 'utf8').split('\\n'))
	if (line) console.log(JSON.stringify(JSON.parse(line)));"""


def by_node(path):
    return json_lines(path, subprocess.run(['node', '-e', NODE, path], stdout=subprocess.PIPE, check=True,
                                           ).stdout.decode('utf-8', 'surrogateescape').split('\n')[:-1])


def json_lines(path, found=None):
    for line in text_lines(path) if found is None else found:
        e = json.loads(line, object_pairs_hook=pairs)
        yield Got(int(e['ts']), e['event'], e['fields'], cpu=e['cpu'], tid=e['tid'], comm=e['comm'])


def comma_separated(path):
    csv.field_size_limit(2**26)
    with open(path, encoding='utf-8', errors='surrogateescape', newline='') as file:
        for row in csv.DictReader(file, strict=True):
            yield Got(int(row['ts_ns']), row['event'], json.loads(row['fields'], object_pairs_hook=pairs),
                      cpu=int(row['cpu']), tid=int(row['tid']) if row['tid'] else None,
                      comm=row['comm'] or None)


TEXT = re.compile(r'\[(-?)(\d+)(\.\d{9})?\] cpu (\d+) (?:(-)|(.*?)-(\d+)) (\w*): ?(.*)', re.S)


def time_of(found):
    """Nanoseconds; a clock that only counts has no seconds."""
    ts = int(found[2]) * 10**9 + int(found[3][1:]) if found[3] else int(found[2])
    return -ts if found[1] else ts


def text(path):
    """Lines of ktape-dump(1)."""
    for line in text_lines(path):
        found = TEXT.fullmatch(line)
        if not found:
            raise ValueError(f'no line of an event: {line[:100]!r}')
        cpu, _, comm, tid, name, rest = found.groups()[3:]
        yield Got(time_of(found), name, cpu=int(cpu), tid=int(tid) if tid else None,
                  comm=comm if comm != '?' else None,
                  rest=' ' + rest if rest else '')


FTRACE = re.compile(r' *(.*)-(\d+) +\[(\d+)\] (\S{5}) +(-?\d+)\.(\d{6}): (.*?): ?(.*)', re.S)


def ftrace(path):
    """Lines of /sys/kernel/tracing/trace."""
    for line in text_lines(path):
        if line.startswith('#') or re.fullmatch(r'CPU:\d+ \[LOST (\d+ )?EVENTS\]', line):
            continue
        found = FTRACE.fullmatch(line)
        if not found:
            raise ValueError(f'no line of an event: {line[:100]!r}')
        comm, tid, cpu, _, s, us, name, rest = found.groups()
        yield Got(int(s) * 10**9 + int(us) * 1000, name, cpu=int(cpu), tid=int(tid), comm=comm,
                  rest=' ' + rest)


QNX = re.compile(r't:0x([0-9a-f]{8}) CPU:(\d+) (\S+) *:(.*)', re.S)
WITH_NAME = ('CONTROL', 'THREAD', 'PROCESS', 'COMM')


def traceprinter(path):
    """Lines of QNX Neutrino's traceprinter.  Times are ticks; names of threads are left out."""
    high = 0
    for line in text_lines(path):
        if not line.startswith('t:'):
            continue
        low, cpu, group, rest = QNX.fullmatch(line).groups()
        name = None
        if group in WITH_NAME:
            name, rest = rest[:18].strip(), rest[19:]
        if name == 'TIME':
            high = int(re.match(r'msb:0x([0-9a-f]{8})', rest)[1], 16)
            continue
        if name == 'DROPPED':
            continue
        yield Got(high << 32 | int(low, 16), group, cpu=int(cpu), comm=name, rest=rest)


def numbers(value):
    """Make floats of the texts that the parser has left, so that times kept all digits."""
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    return float(value) if isinstance(value, Float) else value


class Float(str):
    """A number that has a point."""


def chrome(path):
    """The events of Chrome's JSON, without names of threads and losses."""
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        events = json.load(file, object_pairs_hook=pairs, parse_float=Float)['traceEvents']
    for e in events:
        if e['ph'] == 'M' or e.get('cat') == 'lost':
            continue
        s, _, ns = str(e['ts']).partition('.')
        ts = abs(int(s)) * 1000 + int(ns or 0)
        got = Got(-ts if s.startswith('-') else ts, e.get('name'), numbers(e.get('args', {})), tid=e['tid'])
        got.phase, got.cat, got.pid = e['ph'], e.get('cat'), e['pid']
        yield got


# ---- fields in text ------------------------------------------------------------------------

def unescape(value):
    r"""The bytes of a text in which other bytes than those of characters are \xHH."""
    return re.sub(rb'\\(?:x([0-9a-f]{2})|\\)', lambda m: bytes([int(m[1], 16)]) if m[1] else b'\\',
                  value.encode('utf-8', 'surrogateescape'))


def split_fields(rest, names):
    """The values of "NAME=VALUE NAME=VALUE ..." whose names are known, in their order."""
    values, at = [], 0
    for i, name in enumerate(names):
        start = f' {name}='
        if not rest.startswith(start, at):
            raise ValueError(f'{start!r} is not at {rest[at:at + 60]!r}')
        at += len(start)
        end = len(rest)
        if i + 1 < len(names):
            end = rest.find(f' {names[i + 1]}=', at)
            while end >= 0 and not balanced(rest[at:end]):
                end = rest.find(f' {names[i + 1]}=', end + 1)
        if end < 0:
            raise ValueError(f'no {names[i + 1]!r} behind {rest[at:at + 60]!r}')
        values.append(rest[at:end])
        at = end
    return values


def balanced(value):
    """Whether a quoted text or an array ends at the end."""
    if value.startswith('"'):
        return len(value) > 1 and re.fullmatch(r'"(\\.|[^"\\])*"', value, re.S) is not None
    return not value.startswith('[') or value.endswith((']', '])'))	# with or without labels
