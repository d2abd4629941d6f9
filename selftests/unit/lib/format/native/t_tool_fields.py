#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_fields.py FOLDER: fields of another tracer's events in native traces, where they are in
a record before that of the event: events of the native trace are those of the input, in each
output and in decoder.py; babeltrace2 shows the records; such a record without an event is told."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
support = here + '/../../../support'
sys.path[:0] = [here + '/..', support, here + '/../../../..']
# pylint: disable=wrong-import-position
import decoder_read  # noqa: E402
import t_tool_extra as extra  # noqa: E402
from tap import end, equal, result  # noqa: E402

MISSING = '' if shutil.which('babeltrace2') else 'no babeltrace2'
FIELDS = 0xf4ffffff
INPUTS = ('v6.dat', 'v7.dat', 'perf.data', 'ctf1', 'ctf2', 'ctf/le', 'ctf/be2', 'own.dat', 'calls', 'calls2', 'calls6.dat',
          'calls7.dat', 'calls.data')
WITH_FIELDS = ('calls', 'calls2', 'calls6.dat', 'calls7.dat', 'calls.data')
CRC_AT = 120   # of the header of a packet


def run(*args, status=0):
    done = subprocess.run([ktape, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == status, (args, done.returncode, done.stderr.decode()[:500])
    return done.stdout.decode(), done.stderr.decode()


def make():
    for program, *how in (('make_linux_traces.py', '.'), ('make_ctf.py', 'ctf'), ('make_ftrace_own.py', 'own.dat')):
        subprocess.run([sys.executable, f'{support}/{program}', *how], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    extra.write_ctf('calls')
    os.mkdir('linux')
    os.chdir('linux')
    extra.write_linux()
    os.chdir('..')
    for name, to in (('v6.dat', 'calls6.dat'), ('v7.dat', 'calls7.dat'), ('perf.data', 'calls.data')):
        os.rename('linux/' + name, to)


def convert(trace, to, path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    return run('convert', trace, '--to', to, '-o', path, '--force')[1]


def by_cpu(lines, threads):
    """Events of each CPU; @threads: those that know theirs, by number."""
    cpus = {}
    for line in lines.splitlines():
        e = json.loads(line, object_pairs_hook=lambda pairs: pairs)
        e = dict(e)
        if e['ring'] != 'event' or e['event'] == 'context':
            continue
        mine = cpus.setdefault(e['cpu'], [])
        known = threads is None or threads[e['cpu']][len(mine)]
        mine.append((e['ts'], e['tid'] if known else None, e['event'], e['fields']))
    return cpus


def same(trace):
    """Whole, in each form, converted once more, and read by several threads."""
    want = by_cpu(run('dump', '--json', trace)[0], None)
    threads = {cpu: [e[1] is not None for e in events] for cpu, events in want.items()}
    assert 'cannot hold' not in convert(trace, 'native', 'native')
    convert(trace, 'native:form=pipe', 'pipe')
    convert('native', 'native', 'again')
    for path in 'native', 'pipe', 'again':
        lines, log = run('dump', '--json', path)
        equal(by_cpu(lines, threads), want)
        assert 'does not follow' not in log, log
        assert 'wrong' not in run('verify', path)[0].replace('nothing is wrong', '').replace('0 wrong', ''), path
    with open('pipe', 'rb') as file:
        lines = subprocess.run([ktape, 'dump', '--json', '-'], stdin=file, stdout=subprocess.PIPE, check=True).stdout
    equal(by_cpu(lines.decode(), threads), want)
    if trace in WITH_FIELDS:
        assert records('native'), 'no further fields'


def same_outputs(trace):
    """Events in outputs of the native trace are those in outputs of the input."""
    convert(trace, 'native', 'native')
    for to in 'jsonl', 'csv', 'ftrace':
        texts = []
        for source in trace, 'native':
            convert(source, to, 'text')
            with open('text', encoding='utf-8') as file:
                texts.append([line for line in file if not re.search(r'\bregistry\b|\bcontext\b|^#', line)])
        equal(len(texts[0]), len(texts[1]))
        for one, two in zip(*map(sorted, texts)):
            # Each names what the event has; the thread may be known in native only.
            names = set(re.findall(r'"?(\w+)"?[=:]', one))
            assert names <= set(re.findall(r'"?(\w+)"?[=:]', two)) | {'tid'}, (to, one, two)
    lists = []
    for source in trace, 'native':
        convert(source, 'lttng', 'lttng')
        text = subprocess.run(['babeltrace2', 'lttng'], stdout=subprocess.PIPE, check=True).stdout.decode()
        lists.append(sorted(re.sub(r'^.*?\)  ', '', line) for line in text.splitlines() if 'ktape_context' not in line and
                            'statedump' not in line))
    equal(*lists)


def decoded(trace):
    """By decoder.py, which was written from uapi/README.md."""
    convert(trace, 'native', 'native')
    same_decoded(0)


def same_decoded(status):
    theirs = subprocess.run([sys.executable, here + '/../../../../decoder.py', 'native'], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False)
    equal(theirs.returncode, status)
    for name, data in (('mine', run('dump', '--json', 'native', status=status)[0].encode()), ('theirs', theirs.stdout)):
        with open(name, 'wb') as file:
            file.write(data)
    done = subprocess.run([support + '/same_lines.py', 'mine', 'theirs'], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stdout.decode()


def records(folder):
    """Where the records with fields are in the files of a native trace: name, packet, record."""
    found = []
    for name in sorted(os.listdir(folder)):
        if not name.startswith('cpu'):
            continue
        stream = read_stream(f'{folder}/{name}')
        found += [(name, packet, at) for packet, at, opcode, args in stream if opcode == 23 and args[:1] == (FIELDS,)]
    return found


def read_stream(path):
    with open(path, 'rb') as file:
        data = file.read()
    at = 0
    while at < len(data):
        content, size = sizes(data, at)
        place = at + decoder_read.HEADER
        while place < at + content:
            word, = struct.unpack_from('<Q', data, place)
            nargs = word >> 61
            args = struct.unpack_from(f'<{nargs}I', data, place + 8)
            yield at, place, word >> 32 & 255, args
            length = 8 + 4 * nargs
            if word >> 60 & 1:
                length += 4 + struct.unpack_from('<I', data, place + length)[0]
            place += (length + 7) // 8 * 8
        at += size


def sizes(data, at):
    """Bytes of content and of packet."""
    packet = decoder_read.Packet(data, at, data[at + 4:at + 20])
    assert not packet.wrong, packet.wrong
    return packet.content, packet.size


def babeltrace():
    """The records are user events, whose bytes are the pairs."""
    convert('calls', 'native', 'native')
    text = subprocess.run(['babeltrace2', 'native'], stdout=subprocess.PIPE, check=True).stdout.decode()
    mine = [line for line in text.splitlines() if '0xF4FFFFFF' in line]
    equal(len(mine), len(records('native')))
    data = bytes(int(v) for v in re.findall(r'\[\d+\] = (\d+)', mine[0].split('typed = ')[1]))
    assert data.startswith(b'\x07dfd\0\x04\x9c\xff\xff\xff\x07filename\0\x07/etc/"a b"/pa=ss\0'), data
    events = [line for line in text.splitlines() if '0xF4FFFFFF' not in line and not re.search(r'  (registry|context): ', line)]
    equal(len(events), len(extra.WANT))


def changed(change):
    """A native trace with a record changed, and its checksum with it."""
    convert('calls', 'native', 'native')
    name, packet, at = records('native')[1]
    with open('native/' + name, 'rb') as file:
        data = bytearray(file.read())
    content, _ = sizes(data, packet)
    change(data, at)
    data[packet + CRC_AT:packet + CRC_AT + 4] = bytes(4)
    struct.pack_into('<I', data, packet + CRC_AT, decoder_read.crc32c(data[packet:packet + content]))
    with open('native/' + name, 'wb') as file:
        file.write(data)


def other_opcode(data, at):
    """Fields of an event that is not the next one."""
    struct.pack_into('<I', data, at + 12, 99)


def no_pairs(data, at):
    """A name that is no string."""
    data[at + 20] = 4


def told(change):
    want = [json.loads(line) for line in run('dump', '--json', 'calls')[0].splitlines()]
    changed(change)
    lines, log = run('dump', '--json', 'native', status=1)
    got = [json.loads(line) for line in lines.splitlines()]
    equal(log.count('fields of an event that does not follow: they are shown as an event of their own'), 1)
    assert re.search(r'cpu3: at byte \d+: fields of an event', log), log
    lone = [e for e in got if e['event'] == 'user_event' and e['fields']['id'] == FIELDS]
    equal(len(lone), 1)
    assert lone[0]['fields']['typed'], lone
    # All others are there, each with its fields.
    count = sum(e['ring'] == 'event' for e in want)
    equal(sum(e['ring'] == 'event' and e['event'] != 'context' for e in got), count + 1)
    equal(sum('perf_cpu_cycles' in e['fields'] for e in got), sum('perf_cpu_cycles' in e['fields'] for e in want) - 1)
    text = run('verify', 'native', status=1)[0]
    assert re.search(r'^wrong form: cpu3: .*fields of an event that does not follow', text, re.M), text
    same_decoded(1)
    # Not written again: another event may be behind it then.
    shutil.rmtree('again', ignore_errors=True)
    log = run('convert', 'native', '--to', 'native', '-o', 'again', status=1)[1]
    assert 'native cannot hold fields of other tracers without their event: 1\n' in log, log
    again, log = run('dump', '--json', 'again')
    assert 'does not follow' not in log, log
    equal([e['fields'] for e in map(json.loads, again.splitlines())], [e['fields'] for e in got if e != lone[0]])


def cut_off():
    """A trace that ends between fields and their event is cut, not damaged."""
    convert('calls', 'native:form=pipe', 'pipe')
    convert('calls', 'native', 'native')
    name, _, at = records('native')[1]
    path = 'native/' + name
    with open(path, 'rb') as file:
        data = file.read()
    with open('pipe', 'rb') as file:
        pipe = file.read()
    record = data[at:at + 20 + struct.unpack_from('<I', data, at + 16)[0] + 7 & -8]
    equal(pipe.count(record), 1)
    for size in 0, len(record), len(record) + 8:
        with open(path, 'wb') as file:
            file.write(data[:at + size])
        lines, log = run('dump', '--json', 'native')
        want = lines if not size else want
        equal(lines, want)
        assert 'the input ends in the middle of a packet' in log and 'does not follow' not in log, log
        same_decoded(0)
        with open('pipe', 'wb') as file:
            file.write(pipe[:pipe.index(record) + size])
        shutil.rmtree('split', ignore_errors=True)
        equal(run('dump', '--json', 'pipe')[0], want)
        run('record', '--split', 'pipe', '-o', 'split')
        assert 'does not follow' not in run('verify', 'split')[0]


def equal_names():
    """Many fields of one name take no time in outputs that give each another one."""
    convert('calls', 'native', 'native')
    name, packet, at = records('native')[1]
    path = 'native/' + name
    with open(path, 'rb') as file:
        data = file.read()
    end = at + (20 + struct.unpack_from('<I', data, at + 16)[0] + 7 & -8)
    count = 60000
    pairs = b'\7_x\0\1\1' + b'\7x\0\1\1' * (count - 1)
    record = data[at:at + 16] + struct.pack('<I', len(pairs)) + pairs
    content = sizes(data, packet)[0]
    whole = bytearray(data[packet:at] + record + bytes(-len(record) % 8) + data[end:packet + content])
    struct.pack_into('<QQ', whole, 144, len(whole) * 8, len(whole) * 8)
    struct.pack_into('<I', whole, 116, 0)   # without a checksum
    with open(path, 'wb') as file:
        file.write(whole)
    began = os.times()
    for to in 'lttng', 'parquet', 'perfetto', 'html', 'chrome':
        convert('native', to, 'wide-' + to)
    now = os.times()
    assert now.children_user - began.children_user < 20, 'equal names take time'
    with open('wide-lttng/metadata', encoding='utf-8') as file:
        assert re.search(rf'_x_{count}\b', file.read())


def main():
    folder = tempfile.mkdtemp(prefix='ktape-fields.')
    try:
        os.chdir(folder)
        make()
        for trace in INPUTS:
            result(f'{trace}: a native trace of it has the same events', same, trace)
        for trace in WITH_FIELDS:
            result(f'{trace}: outputs of the native trace have the fields', same_outputs, trace, skip=MISSING)
            result(f'{trace}: decoder.py reads the same', decoded, trace)
        result('babeltrace2 shows the records', babeltrace, skip=MISSING)
        result('fields of another event are told', told, other_opcode)
        result('a record that has no fields, too', told, no_pairs)
        result('a trace may end between the record and its event', cut_off)
        result('many fields may have one name', equal_names)
    finally:
        os.chdir('/')
        shutil.rmtree(folder)
    end()


if __name__ == '__main__':
    main()
