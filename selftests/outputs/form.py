# SPDX-License-Identifier: GPL-2.0-only
"""An output that has all fields of all events by their names, and fields in lines of text."""
import codecs
import json
import re

import lines
from events import DERIVED, number, same


def is_unknown_name(event):
    """Whether an entry of the registry does not fit the event table: no event has its name."""
    return event.name == 'registry' and 'dat20' in event.json


class Form:
    """An output in which every event has all its fields, by their names."""
    name, resolution, delta, skipped = '', 1, 0, ''
    entries = False	# it has entries of the registry that do not fit the event table
    tells_extra = False	# tells fields of another tracer that events have which are missing
    more_fields = ()	# what is told of fields by names of its own
    beside = ()		# what is told of other things than events and their fields

    def __init__(self, to, reader, **more):
        self.name, self.to, self.reader = to.split(':')[0], to, reader
        self.__dict__.update(more)

    def where(self):
        return '-o', self.path

    def read(self):
        return self.reader(self.path)

    def holds(self, event):
        return event.name != 'time_extend' and (event.ring != 'registry' or is_unknown_name(event))

    def leaves(self, event):
        """Whether it is an event that is told as missing, whatever others are like it."""
        return is_unknown_name(event) and not self.entries

    def may_have(self, got):
        """Whether it is an event that stands for none of the input."""
        return got.name == 'time_extend'

    def lost_beside(self):
        """Fields that are missing of events that are not compared."""
        return {}

    def times(self, event):
        """Times of ticks that are no nanoseconds may be rounded otherwise from another epoch."""
        ts = event.ts - self.delta
        return [t // self.resolution * self.resolution for t in (ts, ts - 1, ts + 1)]

    def name_of(self, event):
        return 'user_event' if event.user else event.name

    def find(self, event, pool):
        """Take the event of the output that is @event: of the same time, with the fewest differences.
        Return: what differs, and the names of fields that are missing; None if there is none."""
        found = None
        for ts in self.times(event):
            for i, got in enumerate(pool.get(ts, ())):
                if self.name_of(event) != got.name and self.name_of(event) is not None:
                    continue
                wrong, lost = self.check(event, got)
                if found is None or len(wrong) + len(lost) / 1024 < found[0]:
                    found = len(wrong) + len(lost) / 1024, wrong, lost, pool[ts], i
                if not wrong and not lost:
                    break
        if found is None:
            return None
        found[3].pop(found[4])
        return found[1:3]

    def check(self, event, got):
        """Compare an event.  Return: what differs, and the names of fields that are missing."""
        wrong = self.check_place(event, got)
        if not same(event.json, got.fields):
            wrong.append(f'fields {event.json} are {got.fields}')
        return wrong, []

    def check_place(self, event, got, unknown=None):
        wrong = []
        for what in ('cpu', 'tid', 'comm'):
            mine, theirs = getattr(event, what), getattr(got, what)
            if what == 'tid' and mine is None:
                mine = unknown
            if mine != theirs and not (theirs is None and what in self.without):
                wrong.append(f'{what} {mine} is {theirs}')
        return wrong
    without = ()


LABEL = r'_label(_\d+)?'	# behind the name of the field before it, whose label it is


def plain(text):
    """A text without its escapes, in which JSON has a character for each byte that is none."""
    return lines.unescape(text).decode('utf-8', 'ktape')


codecs.register_error('ktape', lambda e: (''.join(map(chr, e.object[e.start:e.end])), e.end))


def check_fields(event, rest):
    """Fields in the text of ktape-dump(1)."""
    fields = event.extra if event.user else list(event.json.items())
    if event.user:
        start = f' {event.name}'
        if not plain(rest).startswith(start):
            return [f'{start!r} is not at the begin of {rest[:60]!r}']
        rest = rest[rest.index(' ', 1):] if ' ' in rest[1:] else ''
    fields = [(k, v) for k, v in fields if k not in event.shown or k in DERIVED]
    # A label has the name of the field before it, and no name of its own in the text.
    labelled = [re.fullmatch(re.escape(k) + LABEL, following) and f' {following}=' not in rest
                for (k, _), (following, _) in zip(fields, fields[1:] + [('', None)])]
    labels = [v if found else None for found, (_, v) in zip(labelled, fields[1:] + [('', None)])]
    kept = [(k, v, label) for (k, v), label, before in zip(fields, labels, [False] + labelled) if not before]
    try:
        texts = lines.split_fields(rest, [k for k, _, _ in kept])
    except ValueError as e:
        return [str(e)]
    return [f'{k}: {v!r} is {t!r}' for (k, v, label), t in zip(kept, texts)
            if not (same_text(v, t, event, k) if label is None else same_label(v, label, t, event, k))]


def same_label(value, label, text, event, key):
    """A number with the label that its enumeration has for it: NUMBER (LABEL)."""
    text, _, behind = text.partition(' (') if not text.startswith('[') else text.partition('] (')
    text += ']' * text.startswith('[')
    return plain(behind[:-1]) == label and same_text(value, text, event, key)


def same_text(value, text, event, key):
    if key in ('start', 'born', 'died') and '.' in text:
        return True
    if isinstance(value, int) and text == f'{value} (?)':
        return True
    if key == 'call':
        return text.startswith(str(event.shown['nr_name']) + '(')
    if event.shown.get(key + '_name') is not None and text.endswith(')'):
        text, _, name = text.partition(' ')
        if plain(name[1:-1]) != event.shown[key + '_name']:
            return False
    if isinstance(value, list):
        inner = re.findall(r'"(?:\\.|[^"\\])*"|[^\s,]+', text[1:-1])
        return text[:1] == '[' and len(inner) == len(value) and all(
            same_text(v, t, event, '') for v, t in zip(value, inner))
    if isinstance(value, str):
        if text.startswith('"') and text.endswith('"'):
            text = json.loads(text)
        if value in (text, plain(text)):
            return True
    value = number(value)
    try:
        return value == int(text, 0) if isinstance(value, int) else repr(value) == repr(float(text))
    except ValueError:
        return False
