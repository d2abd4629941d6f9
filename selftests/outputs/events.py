# SPDX-License-Identifier: GPL-2.0-only
"""The events of a trace, as "ktape dump --json" has them: what every output is compared with.

selftests/unit/support/ctf_lines.py and reference.py compare these with the reading of another
program, where there is one for the input."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..'), os.path.join(HERE, '../unit/support')]
import decoder  # noqa: E402  pylint: disable=wrong-import-position

TABLE = decoder.event_table()[0]
# Numbers that JSON shows as words: vectors of softirqs, signals.
SOFTIRQS = 'HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU'.split()
WORDS = {**{name: i for i, name in enumerate(SOFTIRQS)},
         **{decoder.signal(i): i for i in range(1, 65)}}
# What is derived from other fields.
DERIVED = ('error', 'call', 'duration_ns')


class Event:
    """One event: when, where, whose, and its fields.

    own:	fields of the event table
    extra:	fields of another tracer's event, or all fields of a user event, by name
    program:	name of a program's own event, whose arguments have no names
    shown:	what is derived from these: names of numbers, decoded calls
    """
    __slots__ = ('ts', 'cpu', 'ring', 'tid', 'comm', 'name', 'user', 'own', 'extra', 'shown', 'json',
                 'line', 'program')

    def __init__(self, line):
        event = json.loads(line, object_pairs_hook=pairs)
        self.line = line
        self.json = event['fields']
        self.ts = int(event['ts'])
        self.cpu, self.ring, self.tid = event['cpu'], event['ring'], event['tid']
        self.comm, self.name = event['comm'], event['event']
        self.own, self.extra, self.shown, self.program = {}, [], {}, None
        self.user = self.name == 'user_event' and bool(self.json.get('id_name'))
        if self.user:
            self.take_user()
            return
        if self.name == 'user_event' and 'id' in self.json:
            self.take_program(f"user_event {self.json['id']}")
            return
        known = TABLE.get(self.name)
        for key, value in self.json.items():
            if known is None or key in known or 'dat20' in self.json:
                self.own[key] = value
            elif key in DERIVED or key.endswith('_name') and key[:-5] in known:
                self.shown[key] = value
            else:
                self.extra.append((key, value))

    def take_user(self):
        self.name = self.json['id_name']
        typed = self.json.get('typed', [])
        if self.json['id'] >> 24 == 0xf4:
            self.extra = list(zip(typed[::2], typed[1::2]))
        elif self.json['id'] >> 28 != 0xf:
            self.take_program(self.json['id_name'])

    def take_program(self, name):
        self.user, self.name, self.program = False, 'user_event', name
        self.own = {k: v for k, v in self.json.items() if k != 'id_name'}
        self.shown = {'id_name': name} if 'id_name' in self.json else {}

    def take_line(self, rest):
        """The fields of an event of a real-time kernel have names only in lines of text."""
        self.extra = [(k, re.sub(r'\\(.)', r'\1', v[1:-1]) if v[0] == '"' else
                       v if re.match(r'-?\d|\[', v) else Word(v)) for k, v, _ in PAIR.findall(rest)]


class Word(str):
    """The name of a number that is not shown."""


def pairs(members):
    """An object of JSON, of which no name is there twice."""
    found = dict(members)
    if len(found) != len(members):
        raise ValueError(f'a name is there twice: {str(members)[:200]}')
    return found


def numbered(fields):
    """Fields by their names; of equal ones those behind the first get a number, as in objects of
    JSON: a, a_2."""
    found = {}
    for name, value in fields:
        key, more = name, 1
        while key in found:
            more += 1
            key = f'{name}_{more}'
        found[key] = value
    return found


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          stdin=subprocess.DEVNULL, timeout=600)
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'replace')


PAIR = re.compile(r' ([\w.]+)=("(?:\\.|[^"\\])*"|\[[^]]*\]|\S+)( \([^)]*\))?')


def read(ktape, trace, *options):
    """All events of a trace, and what the command says."""
    status, out, says = run(ktape, 'dump', *options, '--json', *trace)
    found = [Event(line) for line in out.decode('utf-8', 'surrogateescape').splitlines()]
    if any(e.user and e.json['id'] >> 24 != 0xf4 for e in found):
        lines = run(ktape, 'dump', *options, *trace)[1].decode('utf-8', 'replace').splitlines()
        lines = [line for line in lines if not re.match(r'\[-?[\d.]+\] cpu \d+ - registry: ', line)]
        shown = [e for e in found if e.ring != 'registry' and e.name != 'time_extend']
        for event, line in zip(shown, lines):
            if event.user and not event.extra:
                event.take_line(line.partition(f': {event.name}')[2])
    return found, status, says


def told(says, form):
    """What a conversion tells that the format cannot hold, with the amounts."""
    return {what: int(amount) for what, amount in
            re.findall(rf'^ktape: {form} cannot hold (.*): (\d+)$', says, re.M)}


def number(value):
    """A value of JSON as a number, if it is one."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and re.fullmatch(r'-?(0x[0-9a-f]+|0|[1-9]\d*)', value):
        return int(value, 0)
    if isinstance(value, str):
        return WORDS.get(value, value)
    return value


def same(a, b):
    """Compare two values, numbers by their value and not by how they are written."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, Word) and isinstance(number(b), int):
        return True
    a, b = number(a), number(b)
    if isinstance(a, float) != isinstance(b, float) and isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return False
    if isinstance(a, float) and isinstance(b, float):
        return repr(a) == repr(b)
    if isinstance(a, str) and a in ('nan', 'inf', '-inf') and isinstance(b, float):
        return repr(b) == a
    return a == b
