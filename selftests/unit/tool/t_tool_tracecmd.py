#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_tracecmd.py FOLDER: each event and each field of a few trace.dat, compared with
trace-cmd report as selftests/tracecmd/run does with many recordings of a guest."""
import os
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, here + '/../../tracecmd']
# pylint: disable=wrong-import-position
import compare  # noqa: E402
from tap import end, result  # noqa: E402

ktape = os.path.abspath(sys.argv[1]) + '/command/ktape'
field = os.path.abspath(here + '/../../../../shared/field')
absent = '' if shutil.which('trace-cmd') else 'no trace-cmd (apt-get install trace-cmd)'


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([sys.executable, here + '/make_linux_traces.py', '.'], check=True)
        for name in ('v6.dat', 'two7.dat', 'tsc.dat', 'counter.dat'):
            result(f'{name}: each event and each field', compare.check, ktape, name, skip=absent)
        for name in ('markers.dat', 'trace-cmd-stacks.dat'):
            path = f'{field}/{name}'
            missing = '' if os.path.exists(path) else '../shared/field is absent'
            result(f'{name}: each event and each field', compare.check, ktape, path,
                   skip=absent or missing)
        os.chdir('/')
    end()


main()
