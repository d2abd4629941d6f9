#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_perf_records.py FOLDER: records of perf.data that say more than a sample: names and
new threads in the order of time, samples of different forms, losses without a time, and what
is left out; as a file, as perf writes it to a pipe, and compressed."""
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
from make_perf import record  # noqa: E402
from tap import end, equal, result  # noqa: E402

ktape = os.path.abspath(sys.argv[1]) + '/command/ktape'
FAIL = os.path.abspath(sys.argv[1]) + '/fail_alloc.so'
TRIES = int(os.environ.get('KTAPE_TRIES', '40'))

TID, TIME, READ, CALLCHAIN, CPU, RAW, IDENTIFIER = 2, 4, 16, 32, 128, 1024, 1 << 16
BASE = TID | TIME | CPU | IDENTIFIER
# id: (type, config, sample type, read format)
EVENTS = {
    11: (2, 350, BASE | RAW, 0),			# sys_enter
    12: (2, 351, BASE | RAW | CALLCHAIN, 0),		# sys_exit
    13: (2, 310, BASE | RAW | READ, 4 | 8 | 1),		# sched_switch: id, group, enabled
    14: (1, 9, BASE, 0),				# a dummy
    15: (2, 312, BASE | RAW, 0),			# sched_process_fork
    16: (2, 311, BASE | RAW, 0),			# sched_waking
}
COMM_EXEC = 1 << 13
ONES = (1 << 64) - 1


def tail(time, cpu, tid, event=14):
    return struct.pack('<iiQIIQ', tid, tid, time, cpu, 0, event)


def sample(event, time, cpu, tid, name, values):
    kind, _, form, _ = EVENTS[event]
    out = struct.pack('<QiiQII', event, tid, tid, time, cpu, 0)
    if form & READ:		# two events, when they were enabled, and their ids
        out += struct.pack('<QQQQQQ', 2, 99, 5, event, 6, 11)
    if form & CALLCHAIN:
        out += struct.pack('<QQQ', 2, (1 << 64) - 128, 0xffffffff81000000)
    if kind == 2:
        raw = linux.kernel_record(name, tid, values)
        raw += bytes(-(len(raw) + 4) % 8)
        out += struct.pack('<I', len(raw)) + raw
    return record(9, out)


def enter(time, cpu, tid):
    return sample(11, time, cpu, tid, 'sys_enter', dict(id=39, args=[0] * 6))


def comm(time, cpu, tid, name, misc=0, event=14):
    return record(3, struct.pack('<ii16s', tid, tid, name.encode()) + tail(time, cpu, tid, event),
                  misc)


def fork(time, cpu, parent, tid, pid=None):
    return record(7, struct.pack('<iiiiQ', pid or tid, parent, tid, parent, time) +
                  tail(time, cpu, parent))


def records():
    """Two rounds; in each the buffer of CPU 0 comes first, whatever its times are."""
    out = comm(0, 0, 100, 'shell', event=0)
    # CPU 0 runs the child from 1300 on; CPU 1 has made it at 1100, and it execs there.
    out += enter(1300, 0, 400) + enter(1600, 0, 400)
    out += enter(1000, 1, 100) + fork(1100, 1, 100, 400) + enter(1400, 1, 100)
    out += comm(1500, 1, 400, 'worker', COMM_EXEC)
    out += enter(1550, 1, 500) + comm(1560, 1, 500, 'late', COMM_EXEC) + enter(1570, 1, 500)
    out += record(68, b'')
    out += sample(12, 2000, 0, 400, 'sys_exit', dict(id=39, ret=400))
    out += sample(13, 2100, 0, 400, 'sched_switch', dict(
        prev_comm='worker', prev_pid=400, prev_prio=120, prev_state=1, next_comm='shell',
        next_pid=100, next_prio=120))
    out += sample(14, 2150, 0, 400, '', {})
    # Out of 400, which was preempted; to it from 1, and one that no CPU and time has.
    out += record(14, tail(2100, 0, 400), 3 << 13)
    out += record(15, struct.pack('<II', 1, 2) + tail(2110, 0, 400)) + record(14, tail(0, 0, 400))
    out += record(1, bytes(40) + tail(2100, 0, 400)) + record(4, bytes(24) + tail(2100, 0, 400)) * 2
    out += record(11, struct.pack('<QQQ', 0, 1, 2) + tail(2100, 0, 400))
    out += record(40, bytes(8) + tail(2100, 0, 400))
    # The kernel's own count, with a time, and perf's, which repeats the other and has more.
    out += record(2, struct.pack('<QQ', 11, 5) + tail(2200, 1, 0, 11))
    out += enter(2300, 1, 100) + record(68, b'') + record(68, b'')
    return out + record(13, struct.pack('<Q', 8) + tail(0, 0, 0, 11))


SHOWN = '''[0.000001000] cpu 1 shell-100 sys_enter
[0.000001300] cpu 0 shell-400 sys_enter
[0.000001400] cpu 1 shell-100 sys_enter
[0.000001550] cpu 1 late-500 sys_enter
[0.000001570] cpu 1 late-500 sys_enter
[0.000001600] cpu 0 worker-400 sys_enter
[0.000002000] cpu 0 worker-400 sys_exit
[0.000002100] cpu 0 worker-400 sched_switch
[0.000002100] cpu 0 worker-400 user_event
[0.000002110] cpu 0 worker-400 user_event
[0.000002150] cpu 0 worker-400 user_event
[0.000002300] cpu 1 shell-100 sys_enter
'''.splitlines()
FIELDS = ['sys_exit: nr=39 compat=0 x32=0 large=0 ret=400 '
          'perf_callchain=[0xffffffffffffff80, 0xffffffff81000000]\n',
          'perf_read_enabled=99 perf_read=[5, 6] perf_read_ids=[13, 11]\n',
          'user_event: PERF_RECORD_SWITCH out=1 preempt=1\n',
          'user_event: PERF_RECORD_SWITCH_CPU_WIDE out=0 preempt=0 next_prev_pid=1 '
          'next_prev_tid=2\n', 'user_event: dummy\n']
NOTES = ['1 samples and records of switches without a time',
         'left out (perf script -D shows it): 1 AUX, 1 of unknown types',
         'cpu1: 5 events lost', 'perf counted 3 more lost events', 'cpu0: 3 events lost between']


def as_file(data, clock=None):
    """@clock: the wall clock and the trace's clock at the same moment, in ns."""
    return perf.as_file(EVENTS, data, {29: struct.pack('<IIQQ', 1, 1, *clock)} if clock else {})


def as_pipe(data):
    out = b'PERFILE2' + struct.pack('<Q', 16)
    for event in EVENTS:
        out += record(64, perf.attribute(EVENTS[event]) + struct.pack('<Q', event))
    # perf does not pad features.
    out += struct.pack('<IHHQI', 80, 0, 28, 3, 8) + b'machine\0'
    more = perf.tracing() + bytes(-len(perf.tracing()) % 8)
    out += struct.pack('<IHHI', 66, 0, 12, len(more)) + more
    return out + data


def check(path):
    done = subprocess.run([ktape, 'dump', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=600, check=False)
    says = done.stderr.decode()
    assert done.returncode == 0, says
    got = [re.sub(r'_wide', '', re.match(r'\S+ cpu \d+ \S+ \w+', line)[0])
           for line in done.stdout.decode().splitlines()]
    assert got == SHOWN, f'{got}: {says}'
    for fields in FIELDS:
        assert fields in done.stdout.decode(), (fields, done.stdout)
    for note in NOTES:
        assert note in says, f'{note}: {says}'
    assert 'out of order' not in says and 'MMAP' not in says, says


def packed(small, size=60000):
    """A stream of zstd in compressed records."""
    return b''.join(struct.pack('<IHH', 81, 0, 8 + len(small[i:i + size])) + small[i:i + size]
                    for i in range(0, len(small), size))


def compressed(data):
    return subprocess.run(['zstd', '-q', '-c', '-3', '--no-check'], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


def dump(path, data):
    """Lines of a trace, what ktape says, and its memory in MB."""
    with open(path, 'wb') as f:
        f.write(as_file(data))
    with open('shown', 'wb') as out, open('says', 'wb') as says:
        child = subprocess.Popen(  # pylint: disable=consider-using-with
            [ktape, 'dump', path], stdout=out, stderr=says)
        _, status, used = os.wait4(child.pid, 0)
    with open('shown', encoding='utf-8') as out, open('says', encoding='utf-8') as says:
        text = says.read()
        assert status == 0, text
        return out.read().splitlines(), text, used.ru_maxrss // 1024


def cut():
    """The end of the unpacked records is inside a record, or zstd misses a part of a block."""
    data = records()
    for small in (compressed(data[:-30]), compressed(data)[:-20]):
        _, says, _ = dump('cut', packed(small))
        assert 'the compressed records end inside a record' in says, says
    shown, says, _ = dump('whole', packed(compressed(data)))
    assert len(shown) == len(SHOWN) and ' end' not in says, says


def late():
    """Without rounds a reader cannot wait for ever: what comes too late is told."""
    filler = record(3, struct.pack('<ii', 100, 100) + b'filler'.ljust(60000, b'\0') +
                    tail(200000, 0, 100))
    early = b''.join(enter(100000 + i, 0, 100) for i in range(5))
    after = b''.join(enter(50000 + i, 1, 200) for i in range(5))
    shown, says, _ = dump('late', packed(compressed(early + filler * 3600 + after)))
    assert len(shown) == 10, shown
    assert says.count('5 records came after later ones') == 1, says
    # As long as they are held, the order of the file does not matter.
    shown, says, _ = dump('held', packed(compressed(early + filler * 1000 + after)))
    assert [line.split()[2] for line in shown] == ['1'] * 5 + ['0'] * 5, shown
    assert 'later ones' not in says, says


def bomb():
    """Some kB stand for many small records, which do not wait all at once."""
    small = struct.pack('<IHHii8s', 3, 0, 24, 5, 5, b'n')
    data = packed(compressed(small * (16 * 2 ** 20)))
    assert len(data) < 100000, len(data)
    shown, says, memory = dump('bomb', data + packed(b'') + enter(9, 0, 5))
    assert len(shown) == 1, shown
    assert memory < 600, memory         # with sanitizers it is more than 500
    assert ' end' not in says, says


def clocks():
    """Where the wall clock was never set, it may be behind the trace's clock."""
    for wall, ns in ((5000000, 5000123), (5000123, 5000000), (123, 3 * 10 ** 9),
                     (10 ** 18 + 7, 9), (0, 10 ** 18 + 1)):
        with open('clock', 'wb') as f:
            f.write(as_file(records(), (wall, ns)))
        check('clock')
        shown = subprocess.run([ktape, 'dump', '--json', 'clock'], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, timeout=600, check=True).stdout.decode()
        time = re.search('"ts":"(-?[0-9]+)".*"event":"sys_enter', shown)
        assert time and int(time[1]) == 1000 + wall - ns, (wall, ns, time)


def processes():
    """A thread has the process of its record and of its samples, whatever tracepoints say."""
    def forks(time, tid):
        return sample(15, time, 0, 100, 'sched_process_fork', dict(
            parent_comm='shell', parent_pid=100, child_comm='shell', child_pid=tid))

    def wakes(time, tid, name):
        return sample(16, time, 0, 100, 'sched_waking', dict(comm=name, pid=tid, prio=120,
                                                             target_cpu=0))

    data = comm(0, 0, 100, 'shell', event=0)
    # A thread of 100, which is named by the tracepoint behind its record.
    data += fork(1000, 0, 100, 400, 100) + forks(1010, 400) + wakes(1020, 400, 'shell')
    # No record: its process is not known; nor is that of a thread with the same number.
    data += forks(1030, 500) + fork(1040, 0, 100, 600, 100) + forks(1050, 600) + forks(1060, 600)
    # A thread whose first sample comes behind its name.
    data += wakes(1070, 700, 'other') + enter(1080, 1, 700)
    with open('processes', 'wb') as f:
        f.write(as_file(data))
    done = subprocess.run([ktape, 'dump', '--json', '--all', 'processes'], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600)
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    made = [(e['fields']['child_tid'], e['fields']['child_tgid']) for e in lines
            if e['event'] == 'process_fork']
    equal(made, [(400, 100), (500, -1), (600, 100), (600, -1)])
    named = {}
    for e in lines:
        if e['event'] == 'registry' and e['fields']['type'] == 'thread':
            named.setdefault(e['fields']['id'], []).append(e['fields']['param1'])
    equal({tid: pids[-1] for tid, pids in named.items()},
          {100: 100, 400: 100, 500: 0, 600: 0, 700: 700})
    equal(named[700], [0, 700])


def places():
    """A record without a CPU is of the one that its event counts on: by the id in the record of a
    loss, or at its end.  perf sets the CPU of a sample to -1 where its file has none."""
    form = IDENTIFIER | TID | TIME
    events = {1: (1, 0, form, 0), 2: (1, 2, form, 0), 3: (1, 9, form, 0)}
    index = record(69, struct.pack('<Q8Q', 2, 1, 0, 3, ONES, 2, 1, 4, ONES))

    def small(time, event):
        return record(9, struct.pack('<QiiQ', event, 5, 6, time))

    def lost(time, event, last):
        return record(2, struct.pack('<QQiiQQ', event, 7, 5, 6, time, last))

    def named(time, event):
        return record(3, struct.pack('<ii16siiQQ', 5, 6, b'other', 5, 6, time, event))

    data = index + small(1000, 1) + small(1001, 2) + named(1005, 2) + small(1006, 2)
    for wrong, says in (
            (lost(1500, 1, 1), 'cpu3: 7 events lost between [0.000001000] and [0.000001500]'),
            (lost(1500, 2, 0), 'cpu4: 7 events lost between [0.000001006] and [0.000001500]'),
            (record(13, struct.pack('<QiiQQ', 9, 5, 6, 1500, 2)), 'cpu4: 9 events lost between'),
            (lost(1500, 3, 3), 'cpu0: 7 events lost between')):
        with open('places', 'wb') as f:
            f.write(perf.as_file(events, data + wrong + small(2000, 1)))
        done = subprocess.run([ktape, 'dump', '--json', '--all', 'places'], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        assert says in done.stderr.decode(), (says, done.stderr)
        equal(b'1 events or losses have no CPU' in done.stderr, 'cpu0' in says)
        lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
        equal([e['cpu'] for e in lines if e['ring'] == 'event'], [3, 4, 4, 3])
    # The loss of a CPU that no machine has is not counted twice, nor lost.
    many = record(2, struct.pack('<QQ', 11, 5) + tail(2200, 70000, 0, 11))
    with open('places', 'wb') as f:
        f.write(as_file(enter(2000, 1, 100) + many + record(13, struct.pack('<Q', 5) +
                                                            tail(0, 0, 0, 11))))
    done = subprocess.run([ktape, 'dump', 'places'], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=600)
    equal(done.returncode, 1)
    for says in (b'CPU number 70000 is out of range', b'cpu0: 5 events lost'):
        assert says in done.stderr, done.stderr


def has_failing_memory():
    """Whether allocations can be made to fail: a sanitizer has its own."""
    symbols = subprocess.run(['nm', ktape], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=False).stdout
    return os.path.exists(FAIL) and b'__asan_init' not in symbols


def memory():
    """Where one allocation fails, what is told is that, or the same as with all of them."""
    with open('memory', 'wb') as f:
        f.write(as_file(enter(1000, 1, 100) + enter(1100, 40, 100) + record(
            2, struct.pack('<QQ', 11, 5) + tail(2200, 3000, 0, 11)) + record(
                14, tail(2300, 3500, 400)) + enter(2400, 1, 100)))

    def once(**how):
        done = subprocess.run([ktape, 'dump', '-J', '1', 'memory'], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=600,
                              env=dict(os.environ, LD_PRELOAD=FAIL, **how))
        return done.returncode, done.stdout, done.stderr

    want = once(KTAPE_FAIL_COUNT=os.path.abspath('count'))
    equal(want[0], 0)
    assert b'cpu3000: 5 events lost' in want[2], want
    with open('count', encoding='utf-8') as f:
        count = int(f.read())
    for at in range(1, count + 1):
        got = once(KTAPE_FAIL_AT=str(at))
        assert got == want or got[0] == 1 and b'Cannot allocate memory' in got[2], (at, got)


def theirs(path):
    """perf script has the same names."""
    done = subprocess.run(['perf', 'script', '-F', 'comm,tid,time', '--ns', '-i', path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False)
    got = [line.split() for line in done.stdout.decode().splitlines()]
    assert len(got) >= len(SHOWN) - 3, done		# without switches, and perhaps the last
    for name, tid, time in (words[:3] for words in got):
        line = next(line for line in SHOWN if line.startswith(f'[{time.rstrip(":")}]'))
        # What no record names is a number for perf; ktape takes the next name.
        assert f' {name}-{tid} ' in line or name == ':500', (line, name)


def damaged():
    """Each ends in an error or with fewer events."""
    for path in ('file', 'pipe'):
        with open(path, 'rb') as f:
            data = f.read()
        for seed in range(TRIES):
            with open('damaged', 'wb') as f:
                f.write(linux.damaged(data, seed))
            done = subprocess.run([ktape, 'dump', 'damaged'], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=600, check=False)
            if done.returncode != 0:
                assert done.returncode == 1 and done.stderr.startswith(b'ktape: '), \
                    (path, seed, done.returncode, done.stderr[-600:])


def main():
    print('TAP version 13')
    work = tempfile.mkdtemp(prefix='ktape-perf.')
    os.chdir(work)
    data = records()
    for name, content in (('file', as_file(data)), ('pipe', as_pipe(data))):
        with open(name, 'wb') as f:
            f.write(content)
        result(f'as a {name}', check, name)
    result('a wall clock behind that of the trace', clocks)
    result('threads have their processes', processes)
    result('records without a CPU have that of their event', places)
    result('memory that is missing is told', memory,
           skip='' if has_failing_memory() else 'the sanitizer has the allocator')
    result('damaged traces end in an error, or with fewer events', damaged)
    if shutil.which('zstd'):
        result('compressed records that are cut off', cut)
        result('records that come too late are counted', late)
        result('few compressed bytes do not take much memory', bomb)
        for kind in (81, 83):
            for name, make in (('file', as_file), ('pipe', as_pipe)):
                with open('packed', 'wb') as f:
                    f.write(make(linux.perf_packed(data, kind)))
                result(f'as a {name}, in compressed records {kind}', check, 'packed')
    result('perf script has the same names', theirs, 'file',
           skip='' if shutil.which('perf') else 'perf is absent')
    shutil.rmtree(work)
    end()


main()
