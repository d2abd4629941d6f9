# SPDX-License-Identifier: GPL-2.0-only
"""Compare the events of a CTF trace as babeltrace2 prints them with those of ktape dump.

usage: ctf_lines.py KTAPE TRACE [BABELTRACE2-TRACE]

Each event is compared with its time, its CPU, its thread and each field, and each loss with
its number and its two times. Fields of events that ktape has itself are not compared. Every
difference is printed; the exit status says whether there is one.

What is different and right is

    floats		babeltrace2 prints six digits
    bytes that are no UTF-8	JSON has the character of the same number
    counts that go back	babeltrace2 wraps the difference around; ktape counts from the highest one
    lost packets	ktape says how many events are lost; for a lost packet the number is unknown
    contexts of threads	ktape has them as the thread, its process and its name
    labels		ktape has the field NAME_label
"""
import codecs
import itertools
import json
import math
import re
import subprocess
import sys

SAID = 20   # losses that ktape dump names
THREAD = {'tid', 'vtid', 'pid', 'vpid', 'procname'}
ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': '\x1b'}


def byte_by_byte(error):
    return ''.join(chr(b) for b in error.object[error.start:error.end]), error.end


codecs.register_error('bytes', byte_by_byte)


class Enum(int):
    """A number with its labels."""


class Option(list):
    """What the tag of a variant has selected."""


class Text:
    """A line of babeltrace2 that is parsed."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def is_at(self, word):
        return self.text.startswith(word, self.at)

    def take(self, word):
        assert self.is_at(word), (word, self.text[self.at:self.at + 80])
        self.at += len(word)

    def match(self, pattern):
        found = re.compile(pattern).match(self.text, self.at)
        assert found, (pattern, self.text[self.at:self.at + 80])
        self.at = found.end()
        return found.group()

    def string(self):
        out = ''
        self.take('"')
        while not self.is_at('"'):
            c = self.text[self.at]
            self.at += 1
            if c == '\\':
                c = self.text[self.at]
                self.at += 1
                if c == 'x':
                    out += chr(int(self.match('[0-9a-fA-F]{2}'), 16))
                    continue
                c = ESCAPES.get(c, c)
            out += c
        self.take('"')
        return out

    def members(self, end):
        out = {}
        while not self.is_at(end):
            name = self.match(r'[^ =]+')
            self.take(' = ')
            out[name] = self.value()
            if self.is_at(', '):
                self.take(', ')
        self.take(end)
        return out

    def labels(self):
        """The labels of a value: ( "A" ...), ( "A", "B" ...), or ( <unknown> ...)."""
        self.take('( ')
        if self.is_at('<unknown>'):
            self.take('<unknown>')
            return []
        out = [self.string()]
        while self.is_at(', '):
            self.take(', ')
            out.append(self.string())
        return out

    def value(self):
        if self.is_at('"'):
            return self.string()
        if self.is_at('( '):
            labels = self.labels()
            self.take(' : container = ')
            out = Enum(self.value())
            out.label = ', '.join(labels) if labels else None
            self.take(' )')
            return out
        if self.is_at('[ '):
            self.take('[ ')
            return list(self.members(']' if self.is_at(']') else ' ]').values())
        if self.is_at('{ '):
            self.take('{ ')
            if self.is_at('}'):
                return self.members('}')
            if re.compile(r'\w+ = ').match(self.text, self.at):
                return self.members(' }')
            out = Option([self.value()])
            self.take(' }')
            return out
        word = self.match(r'[^ ,}\])]+')
        if word.startswith('0x'):
            return int(word, 16)
        if word.startswith('0b'):
            return int(word[2:], 2)
        if re.fullmatch(r'-?\d+', word) and word != '-0':
            return int(word, 8) if re.fullmatch(r'0\d+', word) else int(word)
        return float(word)


def read_babeltrace2(trace):
    text = subprocess.run(['babeltrace2', '--clock-seconds', '--no-delta', '--names=all', trace],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout.decode('utf-8', 'bytes')
    for line in text.rstrip('\n').split('\n') if text else []:
        t = Text(line)
        time = re.search(r'timestamp = (\d+)\.(\d+)', line)
        name = re.search(r'(?:^|, )name = (.*?)(?=, stream\.|, event\.|, $|$)', line)
        event = {'ts': int(time[1]) * 10**9 + int(time[2]) if time else 0, 'name': name[1] if name else None}
        for scope in ('stream.packet.context', 'stream.event.context', 'event.context', 'event.fields'):
            found = re.search(rf'(^|, ){re.escape(scope)} = ', line)
            event[scope] = {}
            if found:
                t.at = found.end()
                event[scope] = t.value()
        yield event


def read_ktape(ktape, trace):
    text = subprocess.run([ktape, 'dump', '--json', trace], stdout=subprocess.PIPE, check=True).stdout
    for line in text.decode().split('\n')[:-1]:
        event = json.loads(line)
        if event['ring'] == 'event':
            yield event


def to_ns(seconds):
    return int(seconds.replace('.', ''))


def losses_babeltrace2(trace):
    """Losses: the number of events, or None; where they begin and end."""
    text = subprocess.run(['babeltrace2', '--clock-seconds', trace], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True).stderr.decode()
    wrapped = {}
    for found in re.finditer(r'Tracer (may have )?discarded (?:(\d+) )?(event|packet)s? between '
                             r'\[(\d+\.\d+)\] and \[(\d+\.\d+)\]', text):
        known = found[2] and found[3] == 'event'
        count, begin, finish = int(found[2]) if known else None, to_ns(found[4]), to_ns(found[5])
        if known and count >= 1 << 63:
            wrapped[finish] = count - (1 << 64) + wrapped.pop(begin, 0)
            continue
        if known and begin in wrapped:
            count += wrapped.pop(begin)
        if count != 0:
            yield count, begin, finish


def losses_ktape(ktape, trace, first):
    """The same; @first is the time of the first event in JSON, since 1970."""
    run = subprocess.run([ktape, 'dump', trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    ahead = first - to_ns(re.match(rb'\[(\d+\.\d+)\]', run.stdout)[1].decode())
    for found in re.finditer(r'cpu\d+: (?:(\d+)|an unknown number of) events? lost between '
                             r'\[(\d+\.\d+)\] and \[(\d+\.\d+)\]', run.stderr.decode()):
        yield found[1] and int(found[1]), to_ns(found[2]) + ahead, to_ns(found[3]) + ahead


def compare_losses(ktape, trace, other, first):
    """ktape dump names the first losses; of all it has the number and the events."""
    want = list(losses_babeltrace2(other))
    got = list(losses_ktape(ktape, trace, first))
    differences = 0
    stats = json.loads(subprocess.run([ktape, 'stats', '--json', trace], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, check=True).stdout)
    all_want = len(want), sum(loss[0] or 0 for loss in want)
    all_got = int(stats['gaps']), int(stats['lost'])
    if all_want != all_got:
        differences += 1
        print(f'losses and their events: babeltrace2 {all_want}, ktape {all_got}')
    if len(got) == SAID:
        want = [loss for loss in want if loss in got]
    for sign, some, others in ('babeltrace2', want, got), ('ktape', got, want):
        others = list(others)
        for loss in some:
            if loss in others:
                others.remove(loss)
                continue
            differences += 1
            print(f'only {sign}: {loss[0]} events lost between {loss[1]} and {loss[2]}')
    print(f'{all_want[0]} losses')
    return differences


def same_number(want, got):
    if isinstance(want, float) or isinstance(got, float) or got in ('inf', '-inf', 'nan'):
        want, got = float(want), float(got)
        # babeltrace2 prints six digits.
        return want == float(f'{got:g}') or (math.isnan(want) and math.isnan(got))
    return want == (int(got, 0) if isinstance(got, str) else got)


def same_list(want, got):
    """An array is a list, a text of hexadecimal digits, or JSON."""
    if isinstance(got, str) and not want:
        return got in ('', '[]')
    if isinstance(got, str) and all(isinstance(v, int) for v in want) and not got.startswith('['):
        return want == list(bytes.fromhex(got))
    if isinstance(got, str):
        got = json.loads(got)
    return len(want) == len(got) and all(same_json(a, b) for a, b in zip(want, got))


def is_labelled(value):
    """Whether it is an enumeration, or an array of such."""
    if isinstance(value, list) and not isinstance(value, Option):
        return bool(value) and all(is_labelled(v) for v in value)
    return isinstance(value, Enum)


def labels_of(value):
    return value.label if isinstance(value, Enum) else [labels_of(v) for v in value]


def with_labels(members):
    """Members of a structure and those that ktape adds for their labels, whose names have a number
    where a member is called so."""
    out = {}
    for name, value in members.items():
        out[name] = value
        if is_labelled(value):
            names = itertools.chain([f'{name}_label'], (f'{name}_label_{n}' for n in itertools.count(2)))
            out[next(n for n in names if n not in members and n not in out)] = labels_of(value)
    return out


def same_json(want, got):
    if isinstance(want, Option):
        return same_json(want[0], got)
    if isinstance(want, dict):
        want = with_labels(want)
        got = {k: v for k, v in got.items() if v != [] or k in want}
        return list(want) == list(got) and all(same_json(v, got[k]) for k, v in want.items())
    if isinstance(want, list):
        return same_list(want, got)
    return want == got if isinstance(want, str) or want is None else same_number(want, got)


def compare(path, want, got, tell):
    """Compare a field with those of @got, of which it takes its own."""
    if isinstance(want, Option):
        compare(path, want[0], got, tell)
    elif isinstance(want, dict):
        for name, value in want.items():
            compare(f'{path}.{name}' if path else name, value, got, tell)
    elif isinstance(want, list) and path not in got:
        for i, value in enumerate(want):
            compare(f'{path}[{i}]', value, got, tell)
        if not want:
            tell(path, want, None)
    elif path not in got:
        tell(path, want, None)
    else:
        value = got.pop(path)
        same = same_list(want, value) if isinstance(want, list) else \
            want == value if isinstance(want, str) else same_number(want, value)
        if not same:
            tell(path, want, value)
        if is_labelled(want) and labels_of(want) is not None:
            compare(f'{path}_label', labels_of(want), got, tell)
        elif want == [] and got.get(f'{path}_label') == '[]':   # of enumerations, or not
            del got[f'{path}_label']


def compare_thread(context, event, tell):
    thread = context.get('tid', context.get('vtid'))
    if thread is not None and event['tid'] != thread:
        tell('thread', thread, event['tid'])
    # The idle threads are one thread of ktape's.
    idle = thread == 0 and event['comm'] == 'swapper'
    if thread is not None and context.get('procname') and not idle and \
            event['comm'] != context['procname']:
        tell('name', context['procname'], event['comm'])


def compare_event(number, want, event, prefix=''):
    differences = 0

    def tell(path, a, b):
        nonlocal differences
        differences += 1
        print(f'event {number} {want["name"]}: {path}: babeltrace2 {a!r:.80}, ktape {b!r:.80}')

    if int(event['ts']) != want['ts']:
        tell('time', want['ts'], event['ts'])
    cpu = want['stream.packet.context'].get('cpu_id')
    if cpu is not None and cpu < 1 << 31 and event['cpu'] != cpu:
        tell('cpu', cpu, event['cpu'])
    context = {**want['stream.event.context'], **want['event.context']}
    compare_thread(context, event, tell)
    if event['event'] != 'user_event':
        return differences
    if want['name'] and event['fields'].get('id_name') != want['name']:
        tell('name', want['name'], event['fields'].get('id_name'))
    typed = event['fields'].get('typed', [])
    got = dict(zip(typed[::2], typed[1::2]))
    # A field of the event that has the name of a context comes first.
    inner = {n: v for n, v in want['event.fields'].items() if n in context}
    compare('', inner, got, tell)
    known = 'tid' in context or 'vtid' in context
    for name, value in context.items():
        if known and name in THREAD and name not in got:
            continue
        clash = f'context.{name}'
        compare(clash if clash in got else name, value, got, tell)
    compare('', {n: v for n, v in want['event.fields'].items() if n not in inner}, got, tell)
    for name, value in got.items():
        tell(name, None, value)
    return differences


def by_cpu(events, time_of, cpu_of):
    """Events of one moment have no order among CPUs: put them in that of their CPUs."""
    out = []
    for _, same in itertools.groupby(events, time_of):
        out += sorted(same, key=cpu_of)
    return out


def main():
    ktape, trace = sys.argv[1:3]
    want = by_cpu(read_babeltrace2(sys.argv[-1]), lambda e: e['ts'],
                  lambda e: e['stream.packet.context'].get('cpu_id', 0))
    got = by_cpu(read_ktape(ktape, trace), lambda e: e['ts'], lambda e: e['cpu'])
    differences = len(want) != len(got)
    if differences:
        print(f'babeltrace2 has {len(want)} events, ktape {len(got)}')
    for i, (a, b) in enumerate(zip(want, got)):
        differences += compare_event(i, a, b)
    if got:
        differences += compare_losses(ktape, trace, sys.argv[-1], int(got[0]['ts']))
    print(f'{len(want)} events, {differences} differences')
    return bool(differences)


if __name__ == '__main__':
    sys.exit(main())
