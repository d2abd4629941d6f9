#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_ftrace_own.py FOLDER: texts, stacks and arrays of a trace.dat, compared with what
make_ftrace_own.py has written and with what trace-cmd report and perf script show of the same
files; also of those in ../shared/field."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../support')
# pylint: disable=wrong-import-position
import make_ftrace_own as made  # noqa: E402
import make_linux_traces as linux  # noqa: E402
from tap import end, equal, result  # noqa: E402

ktape = os.path.abspath(sys.argv[1]) + '/command/ktape'
field = here + '/../../../../../shared/field/'
TRIES = int(os.environ.get('KTAPE_TRIES', '40'))


def absent(*needs):
    """Say which of the commands and files is not there."""
    for name in needs:
        if not (os.path.exists(name) or shutil.which(name)):
            return f"{'../shared/field' if '/' in name else name} is absent"
    return ''


def output(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                          check=False)
    assert done.returncode == 0, f'{words}: {done.returncode}: {done.stderr.decode()}'
    return done.stdout.decode().splitlines(), done.stderr.decode()


def elements(text):
    """The numbers of an array: [1, 0x2], or their 8 bytes each in hex digits."""
    if text.startswith('['):
        return [int(v, 0) & (1 << 64) - 1 for v in text[1:-1].split(',') if v.strip()]
    data = bytes.fromhex(text)
    return list(struct.unpack(f'<{len(data) // 8}Q', data))


def fields(line):
    """Name of an event and its fields; arrays as numbers."""
    name, *rest = line.split(' ', 1)
    out = {}
    for key, v in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^]]*\]|\S*)', rest[0]):
        out[key] = elements(v) if key in ('caller', 'four', 'two', 'words') else v
    return name, out


def own_events(path):
    """What ktape dump shows is what was written."""
    shown, says = output(ktape, 'dump', path)
    shown = [fields(line.split('user_event: ')[1]) for line in shown]
    for got, (_, want) in zip(shown, made.events()):
        equal(got, fields(want))
    equal(len(shown), len(list(made.events())))
    assert '1 texts of trace_printk() have no format' in says, says
    assert '1 texts of trace_printk() have fewer arguments' in says, says
    assert '1 texts or lists of functions were cut' in says, says


def texts_of(path, *events):
    """What trace-cmd report says behind the function, and ktape in its texts."""
    report, _ = output('trace-cmd', 'report', path)
    found = [re.search(fr' (?:{"|".join(events)}): +\w+: (.*)$', line) for line in report
             if 'FAILED TO PARSE' not in line]
    theirs = [f[1] for f in found if f]
    shown, _ = output(ktape, 'dump', path)
    ours = [re.search('="(.*)"$', line)[1].replace('\\"', '"').replace('\\u0009', '\t')
            for line in shown if re.search(fr'user_event: ({"|".join(events)}) ', line)]
    return theirs, ours


def made_texts():
    theirs, ours = texts_of('own.dat', 'print', 'bprint')
    assert len(theirs) >= len(made.TEXTS) + 2, theirs
    equal(ours[:len(made.TEXTS) + 2], theirs[:len(made.TEXTS) + 2])


def markers():
    theirs, ours = texts_of(field + 'markers.dat', 'print')
    equal(ours, theirs)
    equal(len(ours), 9)


def stacks():
    """Frames and their names are those of trace-cmd report."""
    path = field + 'trace-cmd-stacks.dat'
    theirs = []
    for line in output('trace-cmd', 'report', path)[0]:
        if ' kernel_stack: ' in line:
            theirs.append([])
        elif line.startswith('=> '):
            theirs[-1].append(re.fullmatch(r'=> (\S+) \(([0-9a-f]+)\)', line).groups())
    ours = []
    shown, says = output(ktape, 'dump', path)
    for line in shown:
        if 'user_event: kernel_stack' in line:
            f = fields(line.split('user_event: ')[1])[1]
            names = f['functions'][1:-1].split(', ')
            ours.append([(n, f'{a:x}') for n, a in zip(names, f['caller'])])
            equal(len(names), int(f['size']))
    equal(len(ours), 93)
    equal(len(theirs), 93)
    for a, b in zip(ours, theirs):
        equal(a, b)
    equal(says, '')


def compressed():
    """Each sample of perf record -z, with its time."""
    path = field + 'perf-z.data'
    theirs = [re.search(r' \[(\d+)\] +(\d+\.\d+): +\w+:(\w+):', line).groups()
              for line in output('perf', 'script', '--ns', '-i', path)[0]]
    shown, says = output(ktape, 'dump', path)
    assert ' end' not in says, says
    ours = [re.match(r'\[(\S+)\] cpu (\d+) \S+ (?:user_event: )?(\w+)', line).groups()
            for line in shown]
    equal(len(ours), 1571)
    equal(sorted((t, int(c)) for t, c, _ in ours), sorted((t, int(c)) for c, t, _ in theirs))


def damaged():
    """Each ends in an error or with fewer events."""
    for path in ('own.dat',):
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
    work = tempfile.mkdtemp(prefix='ktape-ftrace.')
    os.chdir(work)
    with open('texts', 'wb') as f:
        subprocess.run([sys.executable, here + '/../../support/make_ftrace_own.py', 'own.dat'], stdout=f,
                       check=True)
    result('events of ftrace itself have their texts, stacks and arrays', own_events, 'own.dat')
    for release in ('6.14.0', '7.0.0-rc1'):
        with open('texts', 'wb') as f:
            subprocess.run([sys.executable, here + '/../../support/make_ftrace_own.py', release, release],
                           stdout=f, check=True)
        result(f'short numbers of Linux {release} are ints', own_events, release)
    result('damaged traces end in an error, or with fewer events', damaged)
    result('texts are those of trace-cmd report', made_texts, skip=absent('trace-cmd'))
    result('texts of trace_marker are those of trace-cmd report', markers,
           skip=absent('trace-cmd', field + 'markers.dat'))
    result('stacks are those of trace-cmd report', stacks,
           skip=absent('trace-cmd', field + 'trace-cmd-stacks.dat'))
    result('samples of perf record -z are those of perf script', compressed,
           skip=absent('perf', field + 'perf-z.data'))
    shutil.rmtree(work)
    end()


main()
