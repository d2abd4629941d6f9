# SPDX-License-Identifier: GPL-2.0-only
"""Outputs that have events of their own for ours: LTTng, ftrace, Perfetto."""

import binary
import lines
from events import TABLE, number, numbered, same
from form import Form, check_fields, plain, same_text
from tables import FTRACE, LTTNG, PERFETTO, STATES, table


class Mapped(Form):
    """A format whose own events stand for ours, by a table."""
    rows, words = {}, {}

    def name_of(self, event):
        return None

    def check(self, event, got):
        row = self.rows.get(event.name) if not event.user else None
        wrong = self.check_place(event, got, 0)
        if event.program is not None:
            return wrong + check_program(event, list(dict(got.fields).items())), []
        mine, theirs, lost = self.fields(event, got, row)
        for key, value in mine.items():
            if key not in theirs:
                lost.append(key)
            elif not self.same_value(key, value, theirs[key], event):
                wrong.append(f'{key}: {value!r} is {theirs[key]!r}')
        return wrong, lost

    def content(self, event):
        """What an event has to have: its own fields and others, without what says nothing."""
        types = TABLE.get(event.name, {})
        mine = {k: v for k, v in event.own.items() if v is not False and v is not None and
                not (types.get(k) == 'TID' and number(v) < 0)}
        if mine.get('full') == mine.get('nr'):
            mine.pop('full', None)
        return numbered(event.extra) if event.user else {**mine, **dict(event.extra)}

    def same_value(self, key, value, theirs, event):
        if key == 'state' and theirs == 2**32 - 1:
            theirs = 255
        if key.endswith('prio') and theirs == -1:
            theirs = 255
        if key == 'prev_state' and value in STATES and number(theirs) == STATES[value]:
            return True
        if isinstance(number(value), str) and isinstance(number(theirs), int) and key in event.own:
            # A word of ours: it is always the same number.
            words = self.words.setdefault((event.name, key), {})
            return words.setdefault(number(theirs), value) == value
        if key in event.own and TABLE.get(event.name, {}).get(key) == 'TICKS':
            return True
        if isinstance(value, float) and isinstance(theirs, (int, float)):
            return f'{value:g}' == f'{theirs:g}'	# babeltrace2 prints six digits
        return same(value, theirs)


def check_program(event, fields):
    """Arguments of a program's own event, which have no names."""
    values = [v for k, v in fields if not k.endswith('_name') and not k.startswith('_arg')]
    want = event.json.get('args', []) + event.json.get('typed', [])
    if fields == list(event.json.items()) or dict(fields).get('id') == event.json['id'] or \
            isinstance(dict(fields).get('args'), list):
        return []		# without a name it has the fields of the event table
    return [] if len(values) == len(want) else [f'arguments {want} are {fields}']


class Lttng(Mapped):
    rows = table(LTTNG)
    without = ('comm',)

    def holds(self, event):
        # The output has a state dump of its own.
        return super().holds(event) and not event.name.startswith('lttng_statedump_')

    def name_of(self, event):
        if event.user:
            before = {0xf1: 'tband_', 0xf2: 'rkh_', 0xf3: 'tracex_'}.get(event.json['id'] >> 24, '')
            return before + ''.join(c if ' ' < c <= '~' and c not in '"\\' else '_' for c in event.name)
        if event.program is not None:
            return 'user_' + event.program if event.shown else 'ktape_user_event'
        if event.name.startswith('sys_e'):
            kind = 'entry' if 'enter' in event.name else 'exit'
            compat = 'compat_' if event.own.get('compat') else ''
            return f'{compat}syscall_{kind}_{event.shown.get("nr_name", "unknown")}'
        if event.name not in TABLE:
            return 'ktape_other'
        return self.rows[event.name][0] if event.name in self.rows else f'ktape_{event.name}'

    def check_place(self, event, got, unknown=None):
        return super().check_place(event, got, -1)

    def fields(self, event, got, row):
        names = row[1] if row else {}
        mine, theirs = self.content(event), {}
        if event.name.startswith('sys_e'):
            arguments = mine.pop('args', [])
            mine.update((f'arg{i}', v) for i, v in enumerate(arguments))
            names = {k: k for k in mine if k.startswith('arg') or k == 'ret'}
            if 'nr_name' in event.shown:
                mine.pop('nr')
            names['nr'] = 'id'
            row = True
            if 'large' in mine and 'id' not in dict(event.extra) and number(got.fields.get('id', 0)) not in range(1 << 16):
                theirs['large'] = True	# id is -1 if only 16 bits of a larger number were kept
        # What was recorded, under LTTng's name or as NAME_2, stands in place of what ktape's own
        # field has of it.
        for key in [k for k in mine if names and (
                f'{k}_2' in mine if k not in names else names[k] != k and names[k] in mine)]:
            mine.pop(key)
        originals = dict(zip(mine, (k for k, _ in event.extra))) if event.user else {}
        taken = set()
        for key in mine:
            name = originals.get(key, names.get(key, None if row and key in TABLE.get(event.name, ()) else key))
            name = None if name is None else find_name(identifier(name), got.fields, taken)
            if name is not None:
                theirs[key] = got.fields[name]
        return mine, theirs, []

    def same_value(self, key, value, theirs, event):
        if key.endswith('prio') and key in event.own and event.name in self.rows and isinstance(theirs, int):
            theirs = 255 if theirs == -101 else theirs + 100
        if key == 'op' and isinstance(value, int) and event.name in self.rows:
            value = (4, 1, 0x100, 2, 0, 0x82)[value] if value < 6 else 0
        if key == 'nr' and value == 0xffff:     # no number
            value = -1
        if key == 'bytes' and event.name == 'block_rq_complete':
            value //= 512
        if key == 'dev' and isinstance(theirs, str):
            return theirs == event.shown.get('dev_name', '')
        if value == '' and isinstance(theirs, str):
            return True		# babeltrace2 2.0 prints the text before it
        if isinstance(value, str) and isinstance(theirs, list):
            return list(bytes.fromhex(value)) == theirs
        if isinstance(value, list) and isinstance(theirs, list):
            return len(value) == len(theirs) and all(
                self.same_value('', a, b, event) for a, b in zip(value, theirs))
        return super().same_value(key, value, theirs, event)


def identifier(name):
    return ''.join(c if c.isascii() and (c.isalnum() or c == '_') else '_' for c in name) or '_'


def clashes(name, taken):
    """Whether a field before has the name, or one that differs in a _ before it."""
    return name in taken or '_' + name in taken or name[:1] == '_' and name[1:] in taken


def find_name(first, fields, taken):
    """The name of a field in the output: @first, or with a number if that or the name of its length
    is taken.  None: it is not there."""
    for more in range(1, len(fields) + 2):
        name = first if more == 1 else f'{first}_{more}'
        if name in fields and name not in taken:
            taken.add(name)
            if isinstance(fields[name], list):
                taken.add(f'_{name}_length')
            return name
        if not clashes(name, taken) and not clashes(f'_{name}_length', taken):
            return None
    return None


def check_marker(event, got):
    """A line of trace_marker: B|PROCESS|NAME, or a text."""
    mine, text = event.json, got.rest[1:]
    if event.name == 'text':
        return [] if plain(text) == mine['text'] else [f'{mine} is {text!r}'], ['cut'] * mine['cut']
    letter, *words = text.split('|')
    want = [str(event.shown.get('id_name', mine['id']))] if event.name != 'mark_end' else []
    want += [mine['value']] if event.name == 'mark_value' else []
    lost = ['task'] * mine['task'] + ['message'] * bool(mine['message']) + \
        ['id'] * (event.name == 'mark_end' or 'id_name' in event.shown)
    same_words = letter == {'mark': 'I', 'mark_begin': 'B', 'mark_end': 'E', 'mark_value': 'C'}[event.name] and \
        list(map(plain, words[1:])) == want
    return [] if same_words else [f'{mine} is {text!r}'], lost


class Ftrace(Mapped):
    rows = table(FTRACE)
    resolution = 1000

    def name_of(self, event):
        if event.user:
            return 'user_event'
        if event.name in ('mark', 'mark_begin', 'mark_end', 'mark_value', 'text'):
            return 'tracing_mark_write'
        return self.rows[event.name][0] if event.name in self.rows else event.name

    def check_place(self, event, got, unknown=None):
        got.comm = event.comm		# cut and padded as ftrace does
        return super().check_place(event, got, 2**31 - 1)

    def check(self, event, got):
        if self.name_of(event) == 'tracing_mark_write':
            return check_marker(event, got)
        if event.user or event.name not in self.rows:
            return self.check_place(event, got) + check_fields(event, got.rest), []
        return super().check(event, got)

    def fields(self, event, got, row):
        mine, theirs = self.content(event), {}
        text = got.rest
        if event.extra:
            names = [k for k, _ in event.extra]
            at = text.rindex(f' {names[0]}=')
            theirs.update(zip(names, lines.split_fields(text[at:], names)))
            text = text[:at]
        words = dict(w.partition('=')[::2] for w in text.split() if '=' in w)
        for key in mine:
            name = row[1].get(key)
            if key in theirs:
                continue
            if name in words:
                theirs[key] = words[name]
            elif name is not None:
                theirs[key] = text
        return mine, theirs, []

    def same_value(self, key, value, theirs, event):
        if theirs is None:
            return False
        if key in dict(event.extra):
            return same_text(value, theirs, event, key)
        if key == 'nr':
            return f' NR {value} ' in theirs
        if key == 'args':
            return theirs.endswith('(' + ', '.join(value) + ')')
        if key == 'ret' and event.name.startswith('sys'):
            return theirs.endswith(f' = {value}')
        if key == 'ret':
            return theirs == ('handled' if value else 'unhandled')
        if key == 'expires_in':
            return f'[timeout={value}]' in theirs
        if key in ('bytes', 'sector', 'op', 'dev', 'status', 'function', 'reason'):
            return any(t in theirs for t in self.forms_of(key, value, event))
        if key == 'work':
            return f'{number(value):016x}' in theirs
        if key in ('handler', 'skb', 'timer', 'tasklet', 'flags', 'mode', 'cpus'):
            return int(theirs.strip(':'), 16) == number(value)
        return same(value, theirs.lstrip('0') or '0') or same(value, theirs) or super().same_value(
            key, value, number(theirs), event)

    def forms_of(self, key, value, event):
        if key == 'dev' and 'dev_name' in event.shown:
            return event.shown['dev_name'],
        if key == 'dev':
            return ' ' + str(value).replace(':', ',') + ' ',
        if key == 'bytes':
            return f' + {value // 512} ',
        name = event.shown.get(key + '_name')
        return (str(value), name) if name else (str(value), f'{value} ')


# Events that Perfetto has as slices, counters and instants of a track that has their number as
# its name.  Their number and times are compared.
DRAWN = ('isr_enter', 'isr_exit', 'mark', 'mark_begin', 'mark_end', 'mark_value', 'exception', 'text',
         'irq_span', 'softirq_span', 'sys_span', 'timer_span', 'hrtimer_span', 'work_span')


class Perfetto(Mapped):
    rows = table(PERFETTO)
    without = ('cpu', 'comm')

    def may_have(self, got):
        """States of objects of real-time kernels are no events."""
        return got.name == DRAWN or super().may_have(got)

    def name_of(self, event):
        if event.name in DRAWN and not event.user:
            return DRAWN
        return event.program or (event.name if event.user else self.name_by(event.name))

    @staticmethod
    def name_by(name):
        """Both forms of a system call are one event of ftrace."""
        return name.removesuffix('_wide') if name in ('sys_enter_wide', 'sys_exit_wide') else name

    def check(self, event, got):
        return ([], []) if got.name == DRAWN else super().check(event, got)

    def check_place(self, event, got, unknown=None):
        if got.generic is None:
            got.tid = event.tid
            unknown = None
        return super().check_place(event, got, unknown)

    def fields(self, event, got, row):
        mine = self.content(event)
        if got.generic is None or got.generic:
            fields = numbered(got.fields) if got.generic is None else got.fields
            return mine, {**fields, **getattr(got, 'extra', {})}, []
        theirs = dict(getattr(got, 'extra', {}))
        for key, number_of in row[1].items():
            if int(number_of) in got.fields:
                value = got.fields[int(number_of)]
                theirs[key] = value if key == 'args' else value[0]
        return mine, theirs, []

    def same_value(self, key, value, theirs, event):
        if key == 'dev' and isinstance(value, str) and ':' in value:
            major, minor = map(int, value.split(':'))
            return theirs == major << 20 | minor
        if key in event.own and key in ('function', 'caller'):
            return event.shown.get(key + '_name', number(value)) in (self.symbols.get(theirs), theirs)
        if key == 'nr' and event.own.get('large'):
            return theirs == 2**64 - 1
        if isinstance(value, list) and theirs == ' '.join(map(str, value)):
            return True
        if isinstance(value, str) and isinstance(theirs, str) and plain(theirs) == value:
            return True
        if isinstance(theirs, int) and isinstance(number(value), int):
            return (number(value) - theirs) % 2**64 == 0 or super().same_value(
                key, value, theirs - (theirs >> 63 << 64), event)
        return super().same_value(key, value, theirs, event)

    def read(self):
        p = binary.Perfetto(self.path)
        self.symbols = p.symbols
        found, got = {}, []
        for g in p.got:
            if g.generic is not None:
                found.setdefault((g.ts, g.name), []).append(g)
                got.append(g)
        for g in p.got:
            if g.generic is None and (g.kind != 3 or not g.category):
                g.name = DRAWN
                got.append(g)
            elif g.generic is None:
                # Fields that ftrace's event has no place for are an instant of its name.
                name = self.name_by(g.name)
                others = found.get((g.ts, name)) if g.category == 'linux' else None
                if others:
                    others.pop(0).extra = dict(g.fields)
                else:
                    got.append(g)
        return got
