# SPDX-License-Identifier: GPL-2.0-only
"""An output that has all fields of all events by their names, and fields in lines of text."""
import codecs
import json
import re

import lines
from events import DERIVED, number, same


class Form:
    """An output in which every event has all its fields, by their names."""
    name, resolution, delta, skipped = '', 1, 0, ''
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
        return event.ring != 'registry' and event.name != 'time_extend'

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


LABEL = '_label'	# of the field that has the label of the one before it


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
    values = dict(fields)
    labels = {k[:-len(LABEL)]: v for k, v in fields if k.endswith(LABEL) and k[:-len(LABEL)] in values}
    names = [k for k, _ in fields if (k not in event.shown or k in DERIVED) and
             not (k.endswith(LABEL) and k[:-len(LABEL)] in labels)]
    try:
        texts = lines.split_fields(rest, names)
    except ValueError as e:
        return [str(e)]
    return [f'{k}: {values[k]!r} is {t!r}' for k, t in zip(names, texts)
            if not (same_label(values[k], labels[k], t, event, k) if k in labels else
                    same_text(values[k], t, event, k))]


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
