#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_tracecmd.py FOLDER: each event and each field of a few trace.dat, compared with
trace-cmd report as selftests/tracecmd/run does with many recordings of a guest."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here + '/../../../support', here + '/../../../../tracecmd']
# pylint: disable=wrong-import-position
import compare  # noqa: E402
import report  # noqa: E402
from tap import end, equal, result  # noqa: E402

ktape = os.path.abspath(sys.argv[1]) + '/command/ktape'
field = os.path.abspath(here + '/../../../../../../shared/field')
absent = '' if shutil.which('trace-cmd') else 'no trace-cmd (apt-get install trace-cmd)'


def pack(data):
    """Compress the sections and pages of a trace.dat 7 with zlib, each in its place."""
    data = bytearray(data)
    at = data.index(b'none\0')
    data[at:at + 4] = b'zlib'
    at = data.index(b'\0', at + 5) + 1
    at = struct.unpack_from('<Q', data, at)[0] + 16
    while True:
        number, size = struct.unpack_from('<HI', data, at)
        at += 6
        if number == 0:
            return data
        if 16 <= number <= 21:
            place, = struct.unpack_from('<Q', data, at)
            length, = struct.unpack_from('<Q', data, place + 8)
            small = zlib.compress(data[place + 16:place + 16 + length])
            if len(small) + 8 <= length:
                struct.pack_into('<H', data, place + 2, 1)
                struct.pack_into('<QII', data, place + 8, len(small) + 8, len(small), length)
                data[place + 24:place + 24 + len(small)] = small
        if number == 3:
            pack_pages(data, at)
        at += size


def pack_pages(data, at):
    """Compress the pages of a buffer: a chunk for each two pages."""
    place, = struct.unpack_from('<Q', data, at)
    struct.pack_into('<H', data, place + 2, 1)
    at = data.index(b'\0', data.index(b'\0', at + 8) + 1) + 1
    page, cpus = struct.unpack_from('<II', data, at)
    for i in range(cpus):
        begin, size = struct.unpack_from('<4xQQ', data, at + 8 + i * 20)
        pieces = [bytes(data[n:n + 2 * page]) for n in range(begin, begin + size, 2 * page)]
        small = [zlib.compress(piece) for piece in pieces]
        out = struct.pack('<I', len(small)) + b''.join(
            struct.pack('<II', len(s), len(p)) + s for s, p in zip(small, pieces))
        assert len(out) <= size
        data[begin:begin + len(out)] = out


def packed(path):
    """A recording that was compressed with zlib shows the same: Debian's trace-cmd has none."""
    subprocess.run(['trace-cmd', 'convert', '--compression', 'none', '-i', path, '-o',
                    'plain.dat'], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open('plain.dat', 'rb') as f:
        data = f.read()
    with open('zlib.dat', 'wb') as f:
        f.write(pack(data))
    plain, small = (report.output(ktape, 'dump', name) for name in ('plain.dat', 'zlib.dat'))
    assert len(plain) > 1000
    equal(small, plain)
    equal(report.output(ktape, 'dump', path), plain)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([sys.executable, here + '/../../../support/make_linux_traces.py', '.'], check=True)
        for name in ('v6.dat', 'two7.dat', 'tsc.dat', 'counter.dat'):
            result(f'{name}: each event and each field', compare.check, ktape, name, skip=absent)
        for name in ('markers.dat', 'trace-cmd-stacks.dat'):
            path = f'{field}/{name}'
            missing = '' if os.path.exists(path) else '../shared/field is absent'
            result(f'{name}: each event and each field', compare.check, ktape, path,
                   skip=absent or missing)
        path = field + '/trace-cmd-stacks.dat'
        missing = '' if os.path.exists(path) else '../shared/field is absent'
        result('trace-cmd-stacks.dat compressed with zlib is the same', packed, path,
               skip=absent or missing)
        os.chdir('/')
    end()


main()
