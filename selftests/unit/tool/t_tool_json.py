#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_json.py FOLDER: readers of JSON that keep 53 bits of a number, jq and node, read the
times that the command writes; and nothing that it writes as JSON has a larger integer."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../support')
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
pages = here + '/../support/html_blocks.py'
SECONDS = 1795458632            # November 2026
MONO = 9100000000000001         # the machine runs for 105 days: above 2^53 ns, too
# ticks, first and last are durations and relative times elsewhere than in verify and recover.
TIMES = ('ts', 'ticks', 'first', 'last', 'from_ns', 'max_end_ns', 'begin_ns', 'end_ns')


def make(*words):
    subprocess.run([out + '/make_trace', *words], check=True)


def run(*words):
    """Run the command, whatever it says of the trace.  Return what it prints."""
    return subprocess.run([ktape, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=600, check=False).stdout.decode(errors='replace')


def pipe(text, *words):
    return subprocess.run(words, input=text, stdout=subprocess.PIPE, check=True, text=True,
                          timeout=600).stdout


def members(value, path=()):
    """All members of a value of JSON: their paths and values."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from members(one, (*path, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from members(one, (*path, i))
    else:
        yield path, value


def values(text):
    """The values of a text: one, or one in each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.split('\n') if line]


def varint(value):
    """A number as Tonbandgeraet writes it."""
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def cobs(data):
    """A frame of it: each run up to a zero, after its length."""
    return b''.join(bytes([len(part) + 1]) + part for part in data.split(b'\0')) + b'\0'


# ---- traces ---------------------------------------------------------------------------

work = tempfile.mkdtemp(prefix='ktape-json.')
os.chdir(work)
for kind in 'folder', 'kinds', 'emitted', 'session', 'partial', 'late', 'lossy', 'slow-lossy', \
        'moved', 'starved', 'renamed', 'learned', 'named':
    make(kind, kind, *{'folder': ['3'], 'session': ['session.pipe'],
                       'renamed': ['renamed.pipe']}.get(kind, []))
    make('dated', kind, str(SECONDS), str(MONO))
make('image', 'memory')
make('aged', 'aged')
with open('wide.tband', 'wb') as file:
    # core_id 0; a value of 64 bits, and isr_enter 3, both at a time above 2^53.
    for frame in b'\1' + varint(2**53 + 1) + b'\0', b'\x0b' + varint(2**53 + 1) + b'\2' + varint(2**64 - 2), \
            b'\4' + varint(2**53 + 3) + b'\3':
        file.write(cobs(frame))
traces = sorted(name for name in glob.glob('*') if name not in ('memory', 'session.pipe'))


# ---- tests ----------------------------------------------------------------------------


def equal_to_text(trace):
    """Times are those of the text, which has digits of CLOCK_MONOTONIC."""
    begins = SECONDS * 10**9 - MONO
    want = [str(int(s) * 10**9 + int(ns) + begins) for s, ns in
            re.findall(r'^\[(\d+)\.(\d{9})\]', run('dump', '--all', trace), re.M)]
    have = [json.loads(line)['ts'] for line in run('dump', '--json', trace).splitlines()]
    assert len(have) > 2 and int(have[0]) > 2**53, have[:3]
    equal(have, want)


def read_by(reader, text):
    """Return the times of a text by their names, as a reader has them."""
    names = json.dumps(TIMES)
    if reader == 'jq':
        return pipe(text, 'jq', '-r', f'.. | objects | to_entries[] | '
                    f'select(.key as $k | {names} | index($k)) | '
                    'select(.value != null) | "\\(.key) \\(.value)"')
    script = f'''
        const names = {names}, text = require("fs").readFileSync(0, "utf8");
        const show = (v) => {{
            for (const [k, x] of Object.entries(v)) {{
                if (!Array.isArray(v) && names.includes(k) && x !== null)
                    console.log(k, String(x));
                if (x !== null && typeof x === "object")
                    show(x);
            }}
        }};
        let all;
        try {{ all = [JSON.parse(text)]; }} catch {{ all = text.trim().split("\\n").map((l) => JSON.parse(l)); }}
        all.forEach(show);'''
    return pipe(text, 'node', '-e', script)


def same_times(reader, least, *words):
    """A reader has the digits of the times that the text has."""
    text = run(*words)
    want = re.findall(r'"(%s)":"?(-?\d+)' % '|'.join(TIMES), text)
    have = [tuple(line.split(' ')) for line in read_by(reader, text).splitlines()]
    assert len(want) >= least, f'{len(want)} times'
    equal(sorted(have), sorted(want))


def types_and_sizes(name, text):
    """No integer is above 2^53, and times are strings, whatever their value."""
    times = TIMES if 'verify' in name or 'recover' in name else TIMES[:1] + TIMES[4:]
    checked, chrome = 0, 'chrome' in name
    for value in values(text):
        for path, one in members(value):
            keys = [key for key in path if isinstance(key, str)]
            checked += 1
            # Counters of chrome must be numbers: they are plots.
            if isinstance(one, int) and (chrome, keys[-1:]) != (True, ['value']):
                assert abs(one) <= 2**53, f'{name}: {path}: {one}'
            # ts of chrome is in us, a number of that format.
            if keys and keys[-1] in times and not chrome and one is not None:
                assert isinstance(one, str), f'{name}: {path}: {one!r}'
    return checked


def scan(trace):
    checked = 0
    run('convert', '-q', '--to', 'html', '-o', 'page.html', trace)
    for words in (('dump', '--json'), ('dump', '--all', '--json'), ('stats', '--json'),
                  ('verify', '--json'), ('top', '--json', '-i'), ('convert', '-t', 'jsonl', '-o', '-'),
                  ('convert', '-t', 'chrome', '-o', '-'), ('stats', '--rtos', '--json')):
        checked += types_and_sizes(' '.join(words), run(*words, trace))
    checked += types_and_sizes('diff', run('diff', '--json', trace, trace))
    for block in ('about',), ('fields',), ('attach', 'stats'), ('attach', 'verify'):
        done = subprocess.run([sys.executable, pages, 'page.html', *block], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        checked += types_and_sizes('html ' + block[0], done)
    assert checked > 100, checked


def scan_others():
    for words in (('list', '--json'), ('convert', '--list', '--json'), ('doctor', '--json'),
                  ('recover', '--json', '--image', 'memory', '-o', 'recovered')):
        text = run(*words)
        assert types_and_sizes(' '.join(words), text) > 10, words
    assert '"first":"' in text and '"last":"' in text, text


def wide_source():
    lines = [json.loads(line) for line in run('dump', '--all', '--json', 'wide.tband').splitlines()]
    equal([line['source'] for line in lines[-2:]], [
        {'Base': {'ts': str(2**53 + 1), 'kind': {'Valmarker': {'valmarker_id': 2, 'val': str(2**63 - 1)}}}},
        {'Base': {'ts': str(2**53 + 3), 'kind': {'IsrEnter': {'isr_id': 3}}}}])


for trace in 'session', 'folder', 'kinds', 'emitted', 'late':
    result(f'dump --json {trace}: times are those of the text', equal_to_text, trace)
for reader in 'jq', 'node':
    absent = '' if shutil.which(reader) else f'no {reader}'
    for least, *words in ((1000, 'dump', '--json', 'session'), (60, 'dump', '--all', '--json', 'lossy'),
                          (1000, 'convert', '-t', 'jsonl', '-o', '-', 'session'),
                          (5, 'stats', '--json', 'session'), (1, 'verify', '--json', 'aged'),
                          (2, 'diff', '--json', 'session', 'lossy'),
                          (2, 'top', '--json', '-t', '10us', '-i', 'session')):
        result(f'{reader}: {" ".join(words)}', same_times, reader, least, *words, skip=absent)
for trace in traces:
    result(f'no integer above 2^53, and times are strings: {trace}', scan, trace)
result('the event with the names of its format: numbers of 64 bits are strings', wide_source)
result('the same of lists, doctor and recover', scan_others)
os.chdir('/')
shutil.rmtree(work)
end()
