#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_ctf_writer.py FOLDER: traces that the writer of Babeltrace 1 has made in both byte
orders: integers of any size, aligned or not, floating point numbers, texts, arrays, sequences,
structures and enumerations, in several packets.  Each event and field is what babeltrace2
prints, and both orders are dumped alike."""
import os
import shutil
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../../support')
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

PYTHON = '/usr/bin/python3'     # Debian's, for which its packages are


def missing():
    if not shutil.which('babeltrace2'):
        return 'no babeltrace2'
    try:
        subprocess.run([PYTHON, '-c', 'import babeltrace'], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return 'no writer (apt-get install python3-babeltrace)'
    return ''


def compared(folder, order):
    subprocess.run([PYTHON, f'{here}/write_ctf.py', order, f'{folder}/{order}'], check=True)
    said = subprocess.run([sys.executable, f'{here}/../../../support/ctf_lines.py', ktape, f'{folder}/{order}'],
                          stdout=subprocess.PIPE, text=True, check=False)
    equal((said.returncode, said.stdout.splitlines()[-1:]), (0, ['400 events, 0 differences']))


def dumped(folder, order):
    return subprocess.run([ktape, 'dump', '--json', f'{folder}/{order}'], check=True,
                          stdout=subprocess.PIPE).stdout


def main():
    why = missing()
    with tempfile.TemporaryDirectory() as folder:
        result('big-endian', compared, folder, 'big', skip=why)
        result('little-endian', compared, folder, 'little', skip=why)
        result('both are dumped alike',
               lambda: equal(dumped(folder, 'big'), dumped(folder, 'little')), skip=why)
    end()


if __name__ == '__main__':
    main()
