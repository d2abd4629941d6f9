#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_outputs.py FOLDER: a trace of each input format through every output, compared by
selftests/outputs with what programs that are not ours read of them.  selftests/outputs/run
compares all that it has."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
top = os.path.join(here, '../../../..')
sys.path[:0] = [here + '/../../support', os.path.join(top, 'selftests/outputs')]
# pylint: disable=wrong-import-position
import compare  # noqa: E402
import tap  # noqa: E402

os.environ['ASAN_OPTIONS'] = 'exitcode=99'
ENGINES = os.path.join(top, 'out/fleet/engines')
SHARED = ('field/ctf-sequence', 'field/ctf/names', 'field/ctf/empty-strings', 'field/ctf/tid-reuse',
          'field/perf-z.data', 'field/flight-recorder', 'golden/demo_threadx.trx', 'golden/rkh_ahsm.bin', 'golden/tband_stream_bare.bin',
          'golden/tband_stream_edge_ts.bin')


def make(name, *arguments):
    """Run a program that makes traces."""
    command = [out + '/' + name] if not name.endswith('.py') else [sys.executable, f'{here}/../../support/{name}']
    subprocess.run([*command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def same(trace):
    says = io.StringIO()
    engines = ENGINES if os.path.isdir(ENGINES + '/node_modules/hyparquet') else ''
    with contextlib.redirect_stdout(says):
        different = compare.compare(out + '/command/ktape', [trace], [], engines)
    assert not different and ('refused' if 'edge_ts' in trace else ' events') in says.getvalue(), says.getvalue()[:2000]


def main():
    folder = tempfile.mkdtemp(prefix='ktape-outputs.')
    reason = '' if shutil.which('babeltrace2') else 'babeltrace2 is not there: install the package babeltrace2'
    try:
        os.chdir(folder)
        make('make_linux_traces.py', '.')
        make('make_ctf.py', 'ctf')
        make('make_ftrace_own.py', 'own.dat')
        make('../lib/format/lttng/ctf_cases.py', 'cases')
        make('make_foreign', 'foreign')
        make('make_trace', 'kinds', 'kinds')
        for trace in ('v6.dat', 'v7.dat', 'perf.data', 'ctf1', 'ctf/le', 'ctf/be2', 'own.dat', 'foreign', 'kinds',
                      'cases/long-fields'):
            tap.result(trace, same, trace, skip=reason)
        for name in SHARED:
            trace = os.path.join(top, '../shared', name)
            tap.result(name, same, trace, skip=reason if os.path.exists(trace) else f'../shared/{name} is not there')
    finally:
        os.chdir('/')
        shutil.rmtree(folder)
    tap.end()


if __name__ == '__main__':
    main()
