# SPDX-License-Identifier: GPL-2.0-only
"""Each output: how its events are read, what they have to be, and what they cannot hold.

What is not there, and not told as missing:
  all but jsonl, csv, text   entries of the registry, as events: names are in the events.  Such that
                do not fit the event table, of which names cannot be taken, are told
  html          CPU and thread are not compared here; descriptions of a target's stream
  chrome        the CPU of an event on a thread's track; states of objects are further events
  ftrace        nanoseconds: times are microseconds; flags that are not set, unknown threads
  perfetto      CPU of instants; slices, counters and instants of DRAWN have no fields
  lttng         names of threads of a context; flags that are not set, unknown threads
  native        nothing, but it adds context records where switches are missing, and the thread
                of a switch is the one that leaves
  parquet       null for unknown threads; question marks for bytes that are no characters
  tband, tracex times before the first event; states become those of FreeRTOS and ThreadX
  rkh           times below 20 us
  traceprinter  states become the nearest ones of QNX; entries that name no thread
"""
import codecs
import os
import re
import shutil
import subprocess

import binary
import lines
from events import TABLE, number, numbered, read, same
from form import Form, check_fields, plain
from mapped import DRAWN, Ftrace, Lttng, Perfetto, check_program  # noqa: F401
from printer import Printer
from tables import STATES
from targets import Rkh, Tband, Tracex

# What a conversion tells of fields that are missing.
FIELDS = ("fields of another tracer's events", "fields that events of this format do not have")
GAPS = 'gaps where events were lost'


class Lines(Form):
    """JSON lines and CSV have all records."""
    entries = True
    beside = (GAPS,)

    def read(self):
        return [got for got in self.reader(self.path) if got.name != 'time_extend']

    def holds(self, event):
        return event.name != 'time_extend'


class LinesBy(Lines):
    """JSON lines as another program understands them, in which each number is a double."""
    def check(self, event, got):
        wrong = self.check_place(event, got)
        if not same(doubles(event.json), doubles(got.fields)):
            wrong.append(f'fields {event.json} are {got.fields}')
        return wrong, []


def doubles(value):
    if isinstance(value, dict):
        return {k: doubles(v) for k, v in value.items()}
    if isinstance(value, list):
        return [doubles(v) for v in value]
    return value + 0.0 if isinstance(value, (int, float)) and not isinstance(value, bool) else value


class Csv(Lines):
    def check_place(self, event, got, unknown=None):
        if got.comm is not None:
            got.comm = plain(got.comm[1:] if got.comm[:2] in ("'=", "'+", "'-", "'@") else got.comm)
        return super().check_place(event, got, unknown)


class Page(Form):
    """A page has the fields of all events in the order of time; its spans are tested elsewhere."""
    without = ('cpu', 'tid', 'comm')

    def holds(self, event):
        # What only describes the stream of a target is no event of the page.
        return super().holds(event) and not (event.user and event.name in (
            'ts_resolution_ns', 'queue_kind', 'task_is_idle_task', 'task_is_timer_task'))

    def read(self):
        want = [e for e in self.want if self.holds(e) and not self.leaves(e)]
        fields = list(self.reader(self.path))
        if len(fields) != len(want):
            raise ValueError(f'{len(fields)} events, not {len(want)}')
        for event, f in zip(sorted(want, key=lambda e: e.ts), fields):
            yield lines.Got(event.ts, None, f)

    def name_of(self, event):
        return None


class Text(Form):
    """Lines whose fields are NAME=VALUE."""
    entries = True
    beside = (GAPS,)

    def holds(self, event):
        return event.name != 'time_extend'

    def check(self, event, got):
        wrong = self.check_place(event, got)
        return wrong + check_fields(event, got.rest), []

    def check_place(self, event, got, unknown=None):
        if got.comm is not None:
            got.comm = plain(got.comm)
        return super().check_place(event, got, unknown)


class Parquet(Form):
    shown = None

    def where(self):
        return '-o', self.path

    def read(self):
        got = list(binary.parquet(self.path, self.engines))
        if got:
            delta = min(e.ts for e in self.want if self.holds(e)) - min(g.ts for g in got)
            for g in got:
                g.ts += delta
        return got

    def check(self, event, got):
        if got.comm is not None and '\ufffd' not in got.comm and any(c > '~' for c in event.comm or ''):
            got.comm = event.comm	# a question mark for each byte that is no character
        wrong = self.check_place(event, got)
        if got.more is not None:
            if not same(event.json, got.more):
                wrong.append(f'fields {event.json} are {got.more}')
            return wrong, []
        lost = []
        for key, value in event.own.items():
            if key in got.fields:
                if not same_column(value, got.fields[key]) and TABLE.get(self.name_of(event), {}).get(
                        key) != 'TICKS':
                    wrong.append(f'{key}: {value!r} is {got.fields[key]!r}')
            elif isinstance(value, str) and got.row.get('text', '') == value or number(value) in (None, -1):
                pass
            elif isinstance(value, str) and self.is_replaced(value, got.row.get('text', '')):
                pass
            elif event.user:
                pass
            else:
                lost.append(key)
        return wrong, lost


    def is_replaced(self, value, column):
        """Whether only bytes that are no characters are question marks.  JSON does not tell such a
        byte from the character of its number; lines of text do."""
        if len(value) != len(column) or not all(b in (a, '?') for a, b in zip(value, column)):
            return False
        if self.shown is None:
            out = subprocess.run([self.ktape, 'dump', *self.trace], stdout=subprocess.PIPE, check=False).stdout
            self.shown = lines.unescape(out.decode('utf-8', 'surrogateescape')).decode('utf-8', 'question')
        return column in self.shown


codecs.register_error('question', lambda e: ('?' * (e.end - e.start), e.end))


def same_column(value, column):
    column = number(column)
    if value in STATES and isinstance(value, str):
        return True
    value = number(value)
    if isinstance(value, str) and ':' in value:
        major, minor = map(int, value.split(':'))
        value = major << 20 | minor
    return not isinstance(value, int) or (value - column) % 2**64 == 0


class Chrome(Form):
    without = ('cpu', 'comm', 'tid')

    def name_of(self, event):
        return None

    def read(self):
        return [g for g in self.reader(self.path) if (g.fields or g.phase == 'i') and g.cat != 'state']

    def check(self, event, got):
        mine = numbered(event.extra) if event.user else event.json
        wrong = [] if got.fields or not mine else ['no fields']
        if event.tid and got.phase in 'ibe' and got.tid != event.tid:
            wrong.append(f'tid {event.tid} is {got.tid}')
        if event.program is not None:
            return wrong + check_program(event, list(got.fields.items())), []
        lost = [k for k, v in mine.items() if k not in got.fields and v is not False and v != '' and
                not (k == 'id' and 'id_name' not in event.shown)]
        wrong += [f'{k}: {v!r} is {got.fields[k]!r}' for k, v in mine.items()
                  if k in got.fields and not same(v, got.fields[k])]
        wrong += [f'a member too many: {k}' for k in got.fields if k not in mine and not k.endswith('_name')]
        return wrong, [k for k in lost if k in event.own or k in numbered(event.extra)]


class Again(Form):
    """A format that only ktape reads: its events, read back."""
    entries = True

    def read(self):
        got, _, _ = read(self.ktape, [self.path])
        number_of = sum(e.name == 'context' for e in self.want)
        # Where switches are missing, native files have context records instead.
        return [lines.Got(e.ts, self.name_of(e), e.json, cpu=e.cpu, tid=e.tid, comm=e.comm) for e in got
                if self.holds(e) and (number_of or e.name != 'context')]

    def check_place(self, event, got, unknown=None):
        # The thread of a switch is the one that leaves, even if no event named it before.
        if event.tid is None and event.name == 'sched_switch' and got.tid == event.own.get('prev_tid'):
            got.tid, got.comm = None, None
        return super().check_place(event, got, unknown)

    def check(self, event, got):
        wrong = self.check_place(event, got)
        own = {k: v for k, v in event.json.items() if k not in dict(event.extra) or event.user}
        lost = [] if event.user else [k for k, _ in event.extra if k not in got.fields]
        theirs = {k: v for k, v in got.fields.items() if k in own or k not in dict(event.extra)}
        if not lost:
            own, theirs = event.json, got.fields
        if not same(own, theirs):
            wrong.append(f'fields {own} are {theirs}')
        return wrong, lost


def make(ktape, trace, want, folder, engines):
    """All outputs of a trace."""
    mono = begin_of(ktape, trace, want)
    zero = zero_of(trace[-1], mono)
    path = lambda name: os.path.join(folder, name)  # noqa: E731
    common = dict(ktape=ktape, trace=trace, want=want, engines=engines)
    from_tracex = any(e.user and e.json['id'] >> 24 == Tracex.own for e in want)
    from_tband = any(e.user and e.json['id'] >> 24 == Tband.own for e in want)
    all_forms = [
        Lines('jsonl', lines.json_lines),
        LinesBy('jsonl', lines.by_jq, skipped='' if shutil.which('jq') else 'no jq'),
        LinesBy('jsonl', lines.by_node, skipped='' if shutil.which('node') else 'no node'),
        Csv('csv', lines.comma_separated),
        Text('text', lines.text, delta=mono), Page('html', binary.html), Chrome('chrome', lines.chrome, delta=mono),
        Ftrace('ftrace', lines.ftrace, delta=mono), Perfetto('perfetto', binary.perfetto, delta=mono),
        Lttng('lttng', binary.lttng), Again('native', None), Again('native:form=pipe', None),
        Tband('tband', None, delta=zero),
        # What becomes of calls of FreeRTOS is tested in unit/lib/format/tracex.
        Again('tracex', None) if from_tracex else Tracex('tracex', None, delta=zero, skipped='services' if from_tband else ''),
        Rkh('rkh', None, delta=zero),
        Printer('traceprinter', None, delta=zero),
        Parquet('parquet', binary.parquet, skipped='' if engines else 'no hyparquet'),
    ]
    for i, form in enumerate(all_forms):
        form.__dict__.update(common, path=path(f'{i}.{form.name}'))
    return all_forms


CLOCK = re.compile(rb'^clock {.* freq = (\d+); offset_s = (-?\d+); offset = (\d+); };$', re.M)


def zero_of(path, mono):
    """The epoch of the trace's own clock, which times of real-time kernels count from: a native trace
    has it in its metadata; elsewhere it is CLOCK_MONOTONIC."""
    try:
        with open(os.path.join(path, 'metadata'), 'rb') as file:
            text = file.read()
    except OSError:
        return mono
    found = CLOCK.search(text) if b'mono_offset_ns' in text else None
    if not found:
        return mono
    freq, seconds, ticks = map(int, found.groups())
    return seconds * 10**9 + ticks * 10**9 // freq


def begin_of(ktape, trace, want):
    """The epoch of CLOCK_MONOTONIC, which times in text count from."""
    out = subprocess.run([ktape, 'dump', '-J', '1', *trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=False).stdout
    found = next((m for m in map(lines.TEXT.match, out.decode('utf-8', 'replace').splitlines())
                  if m and m[8] not in ('registry', 'time_extend')), None)
    if not found:
        return 0
    ts = lines.time_of(found)
    # Lines of text are those of events, without the records of the tracer itself.
    shown = [e.ts for e in want if e.ring == 'event' and found[8] == ('user_event' if e.user else e.name)]
    return (shown or [want[0].ts])[0] - ts
