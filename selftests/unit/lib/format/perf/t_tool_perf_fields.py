#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_perf_fields.py FOLDER: what samples of a perf.data have beside the kernel's record, one
part after the other and all together: each is a field of the event, as perf script has it.
Events that are no tracepoints have their names; what is cut off is damage."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../../support')
# pylint: disable=wrong-import-position
import make_linux_traces as linux  # noqa: E402
import make_perf as perf  # noqa: E402
from tap import end, equal, result  # noqa: E402

ktape = os.path.abspath(sys.argv[1]) + '/command/ktape'

TID, TIME, CPU, RAW, IDENTIFIER = 1 << 1, 1 << 2, 1 << 7, 1 << 10, 1 << 16
BASE = IDENTIFIER | TID | TIME
HIGH = 0xffffffff81000123
STACK = bytes(range(64))


def words(*values):
    return struct.pack(f'<{len(values)}Q', *values)


# By bit of the sample type, in the order of the parts of a sample: its bytes, and the fields.
# BASE, the CPU and the kernel's record are at 'time', 'cpu' and 'raw'.
PARTS = [
    (0, words(HIGH), dict(perf_ip=HIGH)),
    ('time', None, {}),
    (3, words(0x7fff12345678), dict(perf_addr=0x7fff12345678)),
    (9, words(77), dict(perf_stream_id=77)),
    ('cpu', None, {}),
    (8, words(250000), dict(perf_period=250000)),
    # The counter, and how long it was enabled and running; its id, and what it lost.
    (4, words(5, 100, 90, 1, 3), dict(perf_read_enabled=100, perf_read_running=90, perf_read=[5],
                                      perf_read_ids=[1], perf_read_lost=[3])),
    (5, words(3, 2**64 - 128, HIGH, 2**64 - 512),
     dict(perf_callchain=[2**64 - 128, HIGH, 2**64 - 512])),
    ('raw', None, {}),
    (11, words(2, 9, 1, 2, 3, 4, 5, 2**63, 6, 7),
     dict(perf_branch_hw_idx=9, perf_branch_stack=[1, 2, 3, 4, 5, 2**63],
          perf_branch_counters=[6, 7])),
    (12, words(2, 11, 12), dict(perf_user_regs_abi=2, perf_user_regs_mask=0x101,
                                perf_user_regs=[11, 12])),
    (13, words(64) + STACK + words(40), dict(perf_user_stack=STACK[:40].hex())),
    (14, words(8), dict(perf_weight=8)),
    (15, words(0x5080021), dict(perf_data_src=0x5080021)),
    (17, words(1 << 33), dict(perf_transaction=1 << 33)),
    (18, words(1, 13, 14, 15), dict(perf_intr_regs_abi=1, perf_intr_regs_mask=7,
                                    perf_intr_regs=[13, 14, 15])),
    (19, words(0x1234000), dict(perf_phys_addr=0x1234000)),
    (21, words(4711), dict(perf_cgroup=4711, perf_cgroup_path='/a b')),
    (22, words(4096), dict(perf_data_page_size=4096)),
    (23, words(2 << 20), dict(perf_code_page_size=2 << 20)),
    (20, words(16) + STACK[:16], dict(perf_aux=STACK[:16].hex())),
]
BITS = [bit for bit, _, _ in PARTS if isinstance(bit, int)]
READ_FORMAT = 1 | 2 | 4 | 16
# Behind the first 64 bytes of an attribute: branches with an index and counters, registers of
# the user, bytes of the stack, the clock, registers of the interrupted code.
MORE = struct.pack('<QQQIiQ', 0, 1 << 17 | 1 << 19, 0x101, 64, 0, 7)


def event(bits, kind=2, config=310):
    form = BASE | CPU | sum(1 << bit for bit in bits) | (RAW if kind == 2 else 0)
    return (kind, config, form, READ_FORMAT, MORE)


def sample(bits, number=1, kind=2, ts=1000, cpu=1):
    """A sample, and the fields that it has."""
    out, fields = words(number), {}
    raw = linux.kernel_record('irq_handler_exit', 5, dict(irq=24, ret=1))
    raw += bytes(-(len(raw) + 4) % 8)
    for bit, data, has in PARTS:
        if bit == 'time':
            out += struct.pack('<iiQ', 5, 6, ts)
        elif bit == 'cpu':
            out += struct.pack('<II', cpu, 0)
        elif bit == 'raw':
            out += struct.pack('<I', len(raw)) + raw if kind == 2 else b''
        elif bit in bits:
            out += data
            fields.update(has)
    return perf.record(9, out), fields


def cgroup(number, path, bits, ts=0):
    """The record of a path, which ends as samples of @bits begin."""
    stream = words(77) if 9 in bits else b''
    return perf.record(19, words(number) + path.encode().ljust(8, b'\0') +
                       struct.pack('<iiQ', 5, 6, ts) + stream + struct.pack('<IIQ', 1, 0, 1))


def dump(data, status=0):
    """Events as (name, fields), and what ktape says."""
    with open('trace', 'wb') as f:
        f.write(data)
    done = subprocess.run([ktape, 'dump', '--json', 'trace'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, check=False)
    assert done.returncode == status, done.stderr
    out = []
    for line in map(json.loads, done.stdout.decode().splitlines()):
        if line['ring'] == 'event':
            fields = line['fields']
            name = line['event']
            if name == 'user_event':
                name, fields = fields['id_name'], dict(zip(fields['typed'][::2],
                                                           fields['typed'][1::2]))
            out.append((line['cpu'], name, fields))
    return out, done.stderr.decode()


def number(v):
    """Numbers of 64 bits are strings, and so are those in arrays."""
    if isinstance(v, list):
        return [number(e) for e in v]
    return int(v, 0) if v.isdigit() or v.startswith('0x') else v


def check_fields(fields, want):
    got = {k: v for k, v in fields.items() if k.startswith('perf_')}
    for name, value in got.items():
        got[name] = value if isinstance(want[name], str) else number(value)
    equal(got, want)


def check_parts(bits):
    record, want = sample(bits)
    events, _ = dump(perf.as_file({1: event(bits)}, cgroup(4711, '/a b', bits) + record +
                                  sample(bits, ts=1100)[0]))
    equal(len(events), 2)
    for cpu, name, fields in events:
        equal((cpu, name), (1, 'irq_handler_exit'))
        check_fields(fields, want)


def all_parts():
    check_parts(BITS)
    for bit in BITS:
        check_parts([bit])
        check_parts([b for b in BITS if b != bit])


def usual():
    """A period of 1 is no news; registers that a thread does not have are not there."""
    none = {8: words(1), 12: words(0), 13: words(0), 18: words(0), 5: words(0)}
    old = list(PARTS)
    PARTS[:] = [(b, none.get(b, d), f) for b, d, f in old]
    record, _ = sample(list(none))
    PARTS[:] = old
    events, _ = dump(perf.as_file({1: event(list(none))}, record))
    check_fields(events[0][2], dict(perf_callchain=[], perf_user_regs_abi=0, perf_intr_regs_abi=0))


def names():
    """Names of other events: of the file, or of perf's."""
    events = {1: event([0], 2, 121), 2: event([0], 1, 0), 3: event([0], 1, 2),
              4: event([0], 0, 1), 5: event([0], 4, 0xc0), 6: event([0], 1, 9)}
    data = b''.join(sample([0], i, events[i][0], 1000 + i, i)[0] for i in range(1, 6))
    data += sample([0], 6, 1, 1500, 2 ** 32 - 1)[0]
    index = b''.join(struct.pack('<QQQQ', i, 0, i, 2 ** 64 - 1) for i in range(1, 6))
    index = perf.record(69, struct.pack('<Q', 6) + index + struct.pack('<QQQQ', 6, 0, 3, 0))
    for more, want in (({}, ['cpu-clock', 'page-faults', 'instructions', 'perf_event_4_0xc0',
                             'dummy']),
                       ({12: perf.described({i: (events[i], f'name {i}') for i in events})},
                        ['name 2', 'name 3', 'name 4', 'name 5', 'name 6'])):
        got, says = dump(perf.as_file(events, index + data, more))
        equal([name for _, name, _ in got], ['irq_handler_exit'] + want)
        # The last one has no CPU, but its counter has.
        equal([cpu for cpu, _, _ in got], [1, 2, 3, 4, 5, 3])
        assert 'no CPU' not in says and 'left out' not in says, says
        got, says = dump(perf.as_file(events, data, more))
        equal(got[-1][0], 0)
        assert '1 events or losses have no CPU: they are shown on CPU 0' in says, says
    # Names that are cut off are told, and all else is read.
    for size in range(0, 100, 9):
        got, says = dump(perf.as_file(events, data, {12: perf.described(
            {i: (events[i], f'name {i}') for i in events})[:size]}), 1)
        equal([name for _, name, _ in got], ['irq_handler_exit', 'cpu-clock', 'page-faults',
                                             'instructions', 'perf_event_4_0xc0', 'dummy'])
        assert 'the names of events are cut off' in says, says
    # Without any tracepoint.
    del events[1]
    data = b''.join(sample([0], i, events[i][0], 1000 + i, i)[0] for i in range(2, 6))
    got, _ = dump(perf.as_file(events, data))
    equal([name for _, name, _ in got], ['cpu-clock', 'page-faults', 'instructions',
                                         'perf_event_4_0xc0'])


def unknown():
    """A sample whose id no event has is of none of them, whatever its form is; perf script takes
    id 0 for the first event."""
    for events in ({1: event([0], 1, 0), 2: event([0], 1, 2)}, {1: event([0]), 2: event([0], 1, 2)}):
        kind = events[1][0]
        data = b''.join(sample([0], number, 1 if number else kind, 1000 + number)[0]
                        for number in (2, 99, 77))
        got, says = dump(perf.as_file(events, sample([0], 0, kind, 900)[0] + data))
        equal([name for _, name, _ in got],
              ['cpu-clock' if kind == 1 else 'irq_handler_exit', 'page-faults'])
        assert '2 samples of events that are not in the file' in says, says


def moved():
    """A sample has the path that its cgroup had at its time, in whatever order the file has them."""
    def path(ts, text):
        return cgroup(4711, text, [], ts)

    def paths(data):
        events, says = dump(perf.as_file({1: event([21], 1, 0)}, data))
        return [fields.get('perf_cgroup_path') for _, _, fields in events], says

    def small(ts):
        return sample([21], 1, 1, ts)[0]

    equal(paths(path(0, '/old') + small(1000) + small(3000) + path(2000, '/new') + small(1500)),
          (['/old', '/old', '/new'], ''))
    # Beyond the limit none is better than a wrong one.
    long = b''.join(path(100 + i, f'{i:060000}') for i in range(1118))
    got, says = paths(long + small(3000) + path(2000, '/a') * 2 + path(4000, f'{0:060000}') +
                      small(5000))
    equal((got, '1 paths of cgroups, beyond 64 MiB of them, were left out' in says),
          (['/a', None], True))


def without_time():
    """Samples and switches without a time have no place in a trace: they are left out, and counted."""
    form = (1, 0, IDENTIFIER | TID | CPU, 0)
    record = perf.record(9, words(1) + struct.pack('<iiII', 5, 5, 0, 0))
    got, says = dump(perf.as_file({1: form, 2: event([0], 1, 2)},
                                  record * 3 + sample([0], 2, 1)[0]))
    equal([name for _, name, _ in got], ['page-faults'])
    assert '3 samples and records of switches without a time' in says, says


def no_events():
    """A file that has content, but no event, is not one of which nothing is wrong."""
    timeless = (1, 0, IDENTIFIER | TID | CPU, 0)
    known = {1: event([0], 1, 0), 2: event([0], 1, 2)}
    stat = perf.record(76, words(1, 0, 5, 9, 9)) * 2 + perf.record(77, words(0, 9))
    kinds = b''.join(perf.record(kind, bytes(40)) * (kind + 1) for kind in
                     (5, 6, 8, 11, 12, 20, 21, 22, 72, 85, 86, 30, 200))
    for events, data, says in (
            ({1: timeless}, perf.record(9, words(1) + struct.pack('<iiII', 5, 5, 0, 0)) * 3,
             'because 3 samples and context switches have no time: record with perf record '
             '--timestamp, and without --no-timestamp'),
            (known, sample([0], 9, 1)[0], 'because 1 samples are of events that are not in the'),
            (known, stat, 'record with perf record -e, not perf stat; the file has only 2 STAT, 1 '
             'STAT_ROUND'),
            (known, kinds, 'the file has only 6 THROTTLE, 7 UNTHROTTLE, 9 READ')):
        trace = perf.as_file(events, data)
        got, told = dump(trace, 1)
        equal(got, [])
        assert 'no event can be read' in told and says in told, told
        for command in ('verify', 'stats'):
            done = subprocess.run([ktape, command, 'trace'], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=600, check=False)
            assert done.returncode in (1, 2) and says in done.stdout.decode(), done.stdout
    # Beside events, the same is a note, however many kinds there are.
    got, told = dump(perf.as_file(known, kinds + sample([0], 1, 1)[0]))
    equal(len(got), 1)
    lists = re.findall(r'left out \(perf script -D shows it\): (.*)', told)
    equal(', '.join(lists), '6 THROTTLE, 7 UNTHROTTLE, 9 READ, 12 AUX, 13 ITRACE_START, 21 '
          'TEXT_POKE, 22 AUX_OUTPUT_HW_ID, 23 CALLCHAIN_DEFERRED, 73 AUXTRACE_ERROR, 86 '
          'SCHEDSTAT_CPU, 87 SCHEDSTAT_DOMAIN, 232 of unknown types')
    # A file in which nothing happened has nothing to say.
    equal(dump(perf.as_file(known, perf.record(1, bytes(40)))), ([], ''))


def mappings():
    """What each perf.data has beside events is told by ktape verify, and only there."""
    kinds = b''.join(perf.record(kind, bytes(40)) * kind for kind in (1, 4, 10, 16, 17, 18))
    got, says = dump(perf.as_file({1: event([0], 1, 0)}, kinds + sample([0], 1, 1)[0]))
    equal((len(got), says), (1, ''))
    done = subprocess.run([ktape, 'verify', 'trace'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=True).stdout.decode()
    lists = re.findall(r'note form: .* mappings and .* ends of threads.*: (.*)', done)
    equal(', '.join(lists), '1 MMAP, 4 EXIT, 10 MMAP2, 16 NAMESPACES, 17 KSYMBOL, 18 BPF_EVENT')


def cut():
    """A sample that is shorter than its parts, at each word, is damage; what follows is read."""
    whole, _ = sample(BITS)
    for size in range(16, len(whole) - 8, 8):
        bad = struct.pack('<IHH', 9, 0, size) + whole[8:size]
        events, says = dump(perf.as_file({1: event(BITS)}, bad + sample(BITS)[0]), 1)
        equal(len(events), 1)
        assert 'a sample is shorter than its type' in says, (size, says)


def large():
    """Numbers of elements that are not in the sample."""
    for bit, data in ((5, words(2**61)), (5, words(2**64 - 1)), (11, words(2**60, 0)),
                      (13, words(2**63)), (20, words(2**64 - 8))):
        old = list(PARTS)
        PARTS[:] = [(b, data if b == bit else d, f) for b, d, f in old]
        bad, _ = sample([bit])
        PARTS[:] = old
        events, says = dump(perf.as_file({1: event([bit])}, bad + sample([bit])[0]), 1)
        equal(len(events), 1)
        assert 'a sample is shorter than its type' in says, (bit, says)


def theirs():
    """perf script reads the same file."""
    bits = [bit for bit in BITS if bit not in (11, 13, 20)]	# what its version may lack
    with open('trace', 'wb') as f:
        f.write(perf.as_file({1: event(bits)}, sample(bits)[0]))
    done = subprocess.run(['perf', 'script', '-D', '-i', 'trace'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False).stdout.decode()
    for text in ('5/6: 0xffffffff81000123 period: 250000 addr: 0x7fff12345678', 'FP chain: nr:3',
                 'ffffffffffffff80', 'data_src: 0x5080021', 'phys_addr: 0x1234000',
                 'user regs: mask 0x101', 'intr regs: mask 0x7', '0x000000000000000c',
                 '0x000000000000000f'):
        assert text in done, (text, done[-3000:])


def main():
    print('TAP version 13')
    work = tempfile.mkdtemp(prefix='ktape-perf.')
    os.chdir(work)
    result('each part of a sample is a field', all_parts)
    result('what is usual is left out', usual)
    result('events that are no tracepoints have their names and CPUs', names)
    result('samples of unknown events are left out', unknown)
    result('cgroups have their paths by time', moved)
    result('samples without a time are told', without_time)
    result('a file without events says why', no_events)
    result('mappings are no content', mappings)
    result('samples that are cut off are told', cut)
    result('numbers that are too large are told', large)
    result('perf script reads the same', theirs,
           skip='' if shutil.which('perf') else 'perf is absent: install linux-perf')
    shutil.rmtree(work)
    end()


main()
