#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""compare.py KTAPE FILE.dat...: compare what ktape dump says of recordings of trace-cmd with
trace-cmd report: the number of events, for each CPU of each buffer their order, times, threads,
names, and every field.  What may differ is in the tables of rules.py."""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../unit/support')
# pylint: disable=wrong-import-position
import report  # noqa: E402
import rules  # noqa: E402
from tap import end, equal, result  # noqa: E402

SHOWN = 8       # differences of a file that are shown

Own = collections.namedtuple('Own', 'buffer comm pid cpu time name fields')


def pairs(typed):
    return dict(zip(typed[::2], typed[1::2]))


def own_events(ktape, path):
    """Events of ktape dump --json."""
    found = []
    for line in report.output(ktape, 'dump', '--json', path).split('\n'):
        event = json.loads(line) if line else {'ring': None}
        if event['ring'] != 'event':
            continue
        fields, name = event['fields'], event['event']
        if name == 'user_event':
            name, fields = fields['id_name'], pairs(fields['typed'])
        found.append(Own(fields.pop('trace_buffer', ''), event['comm'], event['tid'], event['cpu'],
                         int(event['ts']), name, fields))
    return found


def by_cpu(events):
    """Lists of events of each CPU of each buffer, in their order."""
    lists = collections.defaultdict(list)
    for event in events:
        lists[event.buffer, event.cpu].append(event)
    return lists


class Names:
    """The names that each thread had: trace-cmd shows the last one of each in all events."""
    def __init__(self, events):
        self.names = collections.defaultdict(set)
        self.times = collections.defaultdict(set)
        for event in events:
            self.names[event.pid].add(event.comm)
            for pid, comm in rules.NAMED.items():
                if pid in event.fields and comm in event.fields:
                    self.add(event, int(event.fields[pid]), event.fields[comm])
            if event.name == 'task_rename':
                self.add(event, int(event.fields['pid']), event.fields['oldcomm'])
                self.add(event, int(event.fields['pid']), event.fields['newcomm'])

    def add(self, event, pid, comm):
        self.names[pid].add(comm)
        self.times[pid, event.time].add(comm)

    def is_of(self, pid, comm):
        return comm in self.names[pid] or (pid == 0 and comm == 'swapper')

    def is_same_time(self, reference, field, value):
        """Whether a thread has two names at a time: ktape shows the later one for all events of
        that time."""
        for pid, comm in rules.NAMED.items():
            if comm == field.name and pid in reference.fields:
                return value in self.times[int(reference.fields[pid]), reference.time]
        return field.name in ('newcomm', 'oldcomm') and \
            value in self.times[int(reference.fields['pid']), reference.time]


def differences(reference, own, known, names, symbols):
    """Texts that say how an event differs."""
    for key in ('time', 'pid'):
        if getattr(reference, key) != getattr(own, key):
            yield f'{key}: {getattr(own, key)} is not {getattr(reference, key)}'
    if not names.is_of(own.pid, own.comm):
        yield f'comm: {own.comm} is not one of {sorted(names.names[own.pid])}'
    why = rules.wrong_name(reference, own)
    if why:
        yield why
        return
    for field in known[reference.name]:
        theirs = reference.fields[field.name]
        if not rules.is_equal(reference, own, field, theirs, symbols) and not \
                names.is_same_time(reference, field, rules.candidates(reference, own, field)):
            yield f'{field.name}: {theirs!r:.200} is not in {own.fields!r:.600}'


def clock(path):
    """The clock in brackets: "local [uptime] perf"."""
    found = re.search(r'\[Option TRACECLOCK.*\n.*\[(\S+)\]',
                      report.output('trace-cmd', 'dump', '--options', '-i', path))
    return found[1] if found else ''


def check_losses(ktape, path, losses):
    """trace-cmd tells what was lost before a page.  ktape also tells the rest of what the kernel
    has counted, which is at most one more gap for each CPU of a buffer."""
    done = subprocess.run([ktape, 'dump', path], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True, timeout=3600)
    text = done.stderr.decode()
    shown = [(int(cpu), int(count) if count.isdigit() else 0) for cpu, count in
             re.findall(r'cpu(\d+): (\d+|an unknown number of) events? lost', text)]
    if not losses and not shown:
        return
    wanted = collections.Counter((cpu, count) for _, cpu, count in losses)
    statistics = report.output('trace-cmd', 'report', '--stat', '-i', path)
    counted = sum(int(n) for n in re.findall(r'^(?:overrun|dropped events): (\d+)$', statistics,
                                             re.M))
    whole = re.search(r'(\d+) events.* lost in (\d+) gaps', text)
    total, gaps = (int(whole[1]), int(whole[2])) if whole else \
        (sum(count for _, count in shown), len(shown))
    equal(total, max(counted, sum(count for _, _, count in losses)))
    rest = collections.Counter(cpu for cpu, _ in (collections.Counter(shown) - wanted).elements())
    assert len(losses) <= gaps and all(n <= 3 for n in rest.values()), (gaps, wanted, shown)


def order(path):
    """The order of bytes in a file: a byte behind the version."""
    with open(path, 'rb') as file:
        head = file.read(32)
    return 'big' if head[head.index(b'\0') + 1] else 'little'


def check(ktape, path):
    rules.ORDER[0] = order(path)
    known = report.layouts(path)
    events, losses = report.report(path, known)
    if clock(path) == 'uptime':
        events = [e._replace(time=e.time * rules.UPTIME_NS) for e in events]
    own = own_events(ktape, path)
    symbols = report.Symbols(path)
    unsplit = sorted({e.name for e in events if isinstance(e.fields, str)})
    assert not unsplit, f'the fields of {unsplit} are not told apart'
    equal(len(own), len(events))
    assert len(events) > 5, len(events)
    check_losses(ktape, path, losses)
    names = Names(events)
    wanted, found = by_cpu(events), by_cpu(own)
    equal(sorted((k, len(v)) for k, v in found.items()),
          sorted((k, len(v)) for k, v in wanted.items()))
    equal([e.time for e in own], sorted(e.time for e in events))
    wrong = collections.defaultdict(list)
    for key, of_cpu in wanted.items():
        for reference, event in zip(of_cpu, found[key]):
            for text in differences(reference, event, known, names, symbols):
                wrong[reference.name, text.split(':')[0]].append(f'{reference.time}: {text}')
    if wrong:
        lines = [f'{name} {field}: {len(texts)} times, {texts[0]}'
                 for (name, field), texts in wrong.items()]
        limit = int(os.environ.get('KTAPE_SHOWN', SHOWN))
        raise AssertionError('\n'.join([f'{len(lines)} kinds of differences'] + lines[:limit]))


def main():
    ktape = sys.argv[1]
    for path in sys.argv[2:]:
        name = os.path.basename(path)
        result(f'{name}: each event and each field is that of trace-cmd', check, ktape, path)
    end()


if __name__ == '__main__':
    main()
