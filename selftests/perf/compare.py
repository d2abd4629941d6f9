#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""compare.py KTAPE FOLDER|FILE...: what ktape dump --json says of each perf.data must be what perf
script says: number and order of events, time, CPU, name and process of the thread, the event,
each of its fields, what the sample has beside them, and how much was lost.

DIFFERENCES are those that are meant; each that was seen is counted.  All else is a failure."""
import collections
import glob
import json
import os
import re
import struct
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(here, '../unit/support'))
# pylint: disable=wrong-import-position
import reference  # noqa: E402
from fields import NAMES, PLACES, STATES, WORDS  # noqa: E402
from tap import end, result  # noqa: E402

DIFFERENCES = {
    'function': 'an address whose function is known is a token with its name',
    'empty': 'a thread without a name',
    'cpu': 'perf script shows no CPU where one of the events has none; ktape takes that of the '
           "event's counter, or 0",
    'group': "a sample of a group is shown by perf once for each event of the group",
    'period': 'a period of 1 is left out',
    'kworker': 'perf takes names of kworkers from /proc, which adds what they work for; ktape has '
               "the kernel's",
    'newer': 'ktape takes the name that an event says, perf that of a later record, which may be '
             'lost',
    'word': 'numbers of softirqs and signals are shown as words',
    'clock': 'times of a trace whose wall clock is known are those of the wall clock in JSON',
    'unnamed': 'perf shows the number of a thread that no record names; ktape takes the name that '
               'a later event says',
    'swapper': 'threads 0 of all CPUs are swapper',
    'unused': 'perf fills in what the sample does not have with 0',
    'system call': 'names of system calls are numbers of calls: sys_enter_NAME is sys_enter',
    'stack': 'how much of the stack is there is compared, its bytes are not shown by perf',
    'sign': 'a negative number of 32 bits has no sign in perf script',
    'state': 'the state is a letter',
    'pipe order': "perf reads no pipe of a big-endian machine here: the guest's says number, time, "
                  'CPU, thread and event, but no fields of tracepoints',
    'switch order': 'in a file of a big-endian machine, perf takes thread and process of a record '
                    'of a switch for each other, and their bytes in the wrong order',
}
seen = collections.Counter()
ORDER = ['<']     # of the bytes in the file that is compared


def differs(name):
    seen[name] += 1
    assert name in DIFFERENCES, name


def whole(value):
    """A number of JSON, which is a string if it has 64 bits; all else as it is."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and re.fullmatch(r'-?\d+|0x[0-9a-f]+', value):
        return int(value, 0)
    return value


def pairs(fields):
    typed = fields['typed']
    names = typed[::2]
    assert len(set(names)) == len(names), names
    return dict(zip(names, typed[1::2]))


def mine(ktape, path):
    """ktape's events with the process of their thread, what it lost, and what it says."""
    done = subprocess.run([ktape, 'dump', '--json', '--all', path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    says = done.stderr.decode()
    assert done.returncode == 0, says
    events, processes = [], {}
    for line in done.stdout.decode(errors='surrogateescape').splitlines():
        e = json.loads(line)
        if e['event'] == 'registry' and e['fields']['type'] == 'thread':
            processes[e['fields']['id']] = e['fields']['param1']
        if e['ring'] != 'event':
            continue
        e['pid'] = processes.get(e['tid'])
        if e['event'] == 'user_event':
            e['event'], e['fields'] = e['fields']['id_name'], pairs(e['fields'])
        events.append(e)
    lost = re.findall(r'^ktape: (\d+) events lost in \d+ gaps', says, re.M) or \
        re.findall(r'^ktape: cpu\d+: (\d+) events? lost', says, re.M)
    lost = sum(map(int, lost))
    return events, lost, says


# Fields "int" of the kernel, which perf's scripts get without their sign if they are negative.
SIGNED = {('kmalloc', 'node'), ('kmem_cache_alloc', 'node'), ('workqueue_queue_work', 'cpu')}


class Tokens:
    """The token of an address is always the same."""

    def __init__(self):
        self.of = {}

    def check(self, address, token):
        assert self.of.setdefault(address, token) == token, (hex(address), token)


def text_of(value):
    """A text that perf has as bytes, because others follow its end."""
    if isinstance(value, dict):
        return bytes.fromhex(value['bytes']).split(b'\0')[0].decode(errors='surrogateescape')
    return value


def names_said(fields):
    """Names of threads that a tracepoint says."""
    for tid, name in (('pid', 'comm'), ('prev_pid', 'prev_comm'), ('next_pid', 'next_comm'),
                      ('parent_pid', 'parent_comm'), ('child_pid', 'child_comm'),
                      ('pid', 'newcomm')):
        if tid in fields and name in fields:
            yield fields[tid], text_of(fields[name])


def check_thread(got, want, newer):
    """@newer: the name of the thread by tracepoints, if perf may not have it."""
    assert got['tid'] == want['tid'] or want['tid'] == -1, 'thread'
    if want['comm'] == f':{want["tid"]}':
        differs('unnamed')
    elif want['tid'] == 0:
        differs('swapper')
    elif got['comm'].startswith('kworker/') and want['comm'].startswith(got['comm'] + '-'):
        differs('kworker')
    elif got['comm'] == newer and newer != want['comm']:
        differs('newer')
    else:
        assert got['comm'] == want['comm'], 'name of the thread'
    assert want['tid'] <= 0 or want['pid'] < 0 or got['pid'] == want['pid'], 'process'


def is_same(fields, place, value):
    """Whether a field of ktape has the value of a field of the kernel."""
    if place not in fields:
        return False
    got = fields[place]
    if isinstance(value, dict):
        data = bytes.fromhex(value['bytes'])
        if place == 'args':     # six words
            return [whole(v) for v in got] == list(struct.unpack(f'{ORDER[0]}{len(data) // 8}Q',
                                                                 data))
        return text_of(value) == got or got == value['bytes']
    return whole(got) == value or str(got) == str(value)


def check_field(event, fields, name, value, tokens):
    """A field of a tracepoint: it is in its place of the event table, or under its own name."""
    how, _, place = PLACES.get(event, {}).get(name, name).rpartition(':')
    if is_same(fields, place, value) or is_same(fields, name, value) or \
            is_same(fields, name + '_2', value):
        return
    if (event, name) in SIGNED and isinstance(value, int) and value >> 31 == 1 and \
            is_same(fields, place, value - 2 ** 32):
        differs('sign')
        return
    if place.endswith('tid_name'):
        tid = fields[place[:-5]]
        assert tid == 0 or value == '' and fields.get(place) is None, f'{name}: {value}'
        differs('swapper' if tid == 0 else 'empty')
    elif name in WORDS:
        differs('word')
        assert fields[place] == WORDS[name](value), f'{name}: {value}'
    elif how == 'state':
        differs('state')
        lowest = value & 255 and value & 255 & -(value & 255)
        assert STATES[lowest or value] == fields[place], f'{name}: {value}'
    elif how == 'token' and place + '_name' in fields:
        differs('function')
        tokens.check(value, whole(fields[place]))
    else:
        raise AssertionError(f'{name}: {value}')


def check_event(got, kind, name, values, tokens):
    """The event and its fields."""
    short = name.split(':', 1)[1] if kind == 'tracepoint' else name
    want = NAMES.get(short, short)
    if name.startswith(('syscalls:', 'raw_syscalls:')):
        want = 'sys_enter' if short.startswith('sys_enter') else 'sys_exit'
        want += '_wide' if got['event'] == 'sys_enter_wide' else ''
        if name.startswith('syscalls:'):
            differs('system call')
            call = short.split('_', 2)[2]
            # The kernel's function for it may have a name of its own.
            assert got['fields']['nr_name'] in (call, call.replace('new', '', 1),
                                                re.sub('^(old|s390)_', '', call)), 'system call'
    assert got['event'] == want, f'event {want}'
    for field, value in values.items():
        check_field(want, got['fields'], field, value, tokens)


def check_line(got, name):
    """An event of which only the name is known."""
    if name.startswith('PERF_RECORD_SWITCH'):
        assert got['event'] == name.split()[0], 'switch'
        assert got['fields']['out'] == (name.split()[1] == 'OUT'), 'out'
    else:
        check_event(got, 'tracepoint' if ':' in name else 'other', name, {}, None)


def check_switch(got, text, values):
    wide = 'CPU_WIDE' in text
    assert got['event'] == 'PERF_RECORD_SWITCH' + ('_CPU_WIDE' if wide else ''), 'switch'
    for name in ('out', 'preempt', 'next_prev_pid', 'next_prev_tid')[:4 if wide else 2]:
        assert got['fields'][name] == values[name], name


# What perf's dump of a sample has, if the sample has it.
PARTS = ('perf_callchain', 'perf_user_regs', 'perf_user_regs_mask', 'perf_intr_regs',
         'perf_intr_regs_mask', 'perf_weight', 'perf_data_src', 'perf_phys_addr', 'perf_read',
         'perf_read_ids', 'perf_read_lost')


def check_sample(got, want):
    """What a sample has beside the fields of its event."""
    fields = {k: [whole(v) for v in got['fields'][k]] if isinstance(got['fields'][k], list)
              else whole(got['fields'][k]) for k in got['fields'] if k.startswith('perf_')}
    for name in ('perf_ip', 'perf_addr'):
        if name not in fields:
            differs('unused')
        assert fields.get(name, 0) == want[name], name
    if 'perf_period' not in fields:
        differs('period')
    assert fields.get('perf_period', 1) == want['perf_period'], 'perf_period'
    for name in PARTS:
        assert (name in fields) == (name in want) and \
            fields.get(name) == want.get(name), (name, want.get(name))
    if 'stack' in want:
        differs('stack')
        assert len(got['fields']['perf_user_stack']) == 2 * want['stack'], 'size of the stack'


def leaders(shown, values, samples):
    """Only the events of a group that have sampled, as the file has them."""
    if len(shown) == len(samples):
        return shown, values
    kept = [(s, v) for s, v in zip(shown, values) if s['event'] == shown[0]['event']]
    differs('group')
    return [s for s, _ in kept], [v for _, v in kept]


def swapped(number):
    return struct.unpack('>i', struct.pack('<i', number))[0]


def compare(ktape, path):
    with open(path, 'rb') as file:
        ORDER[0] = '>' if file.read(8) == b'2ELIFREP' else '<'
    samples, lost = reference.records(path)
    shown, values = reference.lines(path), reference.fields(path)
    if values is None:
        differs('pipe order')
        values = [('line', s['event'], {}) for s in shown]
    shown, values = leaders(shown, values, samples)
    events, my_lost, says = mine(ktape, path)
    assert len(shown) == len(values) == len(samples), (len(shown), len(values), len(samples))
    assert len(events) == len(shown), f'{len(events)} events instead of {len(shown)}: {says}'
    assert my_lost == lost, f'{my_lost} lost instead of {lost}: {says}'
    tokens, wall, said = Tokens(), reference.wall(path), {}
    if wall:
        differs('clock')
        # perf shows it in microseconds; that it is the same for all events is checked below.
        exact = int(events[0]['ts']) - shown[0]['ts']
        assert abs(exact - wall) < 2000, f'the wall clock: {exact} instead of {wall}'
        wall = exact
    for i, (got, line, (kind, name, fields), sample) in enumerate(
            zip(events, shown, values, samples)):
        try:
            assert int(got['ts']) - wall == line['ts'] == sample['ts'], 'time'
            if sample['cpu'] is None:
                differs('cpu')
            assert sample['cpu'] in (got['cpu'], None), 'CPU'
            own = dict(names_said(fields))
            said.update(own)
            if line['event'].startswith('PERF_RECORD_SWITCH ') and ORDER[0] == '>' and \
                    kind != 'line':
                differs('switch order')
                line = dict(line, tid=swapped(line['pid']), pid=swapped(line['tid']),
                            comm=got['comm'])
            newer = (said if lost else own).get(line['tid'])
            if newer is None and said.get(line['tid']) == got['comm'] != line['comm'] and \
                    any(s['tid'] == line['tid'] and s['comm'] == got['comm']
                        for s in shown[i:]):
                newer = got['comm']     # an event of another thread has said it
            check_thread(got, line, newer)
            if kind == 'line':
                check_line(got, name)
            elif kind == 'switch':
                check_switch(got, line['event'], fields)
            else:
                check_event(got, kind, name, fields, tokens)
            if sample['kind'] == 'SAMPLE':
                check_sample(got, sample)
        except (AssertionError, KeyError) as e:
            raise AssertionError(f'event {i}: {e!r}: perf {line} {fields} {sample}: {got}') from e
    print(f'# {os.path.basename(path)}: {len(events)} events, {lost} lost')


def main():
    print('TAP version 13')
    ktape, paths = sys.argv[1], sys.argv[2:]
    if len(paths) == 1 and os.path.isdir(paths[0]):
        paths = sorted(glob.glob(paths[0] + '/*.data'))
    for path in paths:
        result(f'{os.path.basename(path)} is read as perf script reads it', compare, ktape, path)
    if not paths:
        result('there are files', lambda: 1 // 0)
    for name, count in sorted(seen.items()):
        print(f'# meant, {count} times: {DIFFERENCES[name]}')
    end()


main()
