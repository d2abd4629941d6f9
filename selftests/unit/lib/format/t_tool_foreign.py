#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_foreign.py FOLDER: the events of make_foreign, as another Linux tracer has them, in
every output: doubles, arrays, 300 fields, long texts and names.

Judges that are not ours read the output: Python's decoders of JSON, CSV and doubles,
babeltrace2 for LTTng's traces, and selftests/decoder.py."""
import csv
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../support')
# pylint: disable=wrong-import-position
import html_blocks  # noqa: E402

from protobuf import members  # noqa: E402

ktape = out + '/command/ktape'
os.environ['ASAN_OPTIONS'] = 'exitcode=99'
number = failed = 0

BLOCK = bytes(i & 255 for i in range(300))
VALUES = [
    ('half', 1.5), ('third', 1 / 3), ('tiny', 5e-324), ('huge', -sys.float_info.max),
    ('inf', math.inf), ('nan', math.nan), ('whole', -4.0), ('zero', -0.0), ('u', 2**64 - 1),
    ('odd', 2**53 + 1), ('few', 5), ('minus', -5), ('s', -2**63), ('small', -7),
    ('x', hex(0xfedcba9876543210)), ('_us_length', 3), ('us', [1, 2, 2**64 - 1]),
    ('ss', [-1, -2**63]), ('xs', ['0x0', '0xff']), ('ds', [0.5, -2.25, 1e300]), ('none', []),
    ('block', BLOCK.hex()), ('text', 'a "b"')]
NAMES = [('a.b', 0), ('a_b', 1), ('a-b', 2), ('', 3), ('_a_b_length', 4), ('_c_length', 5),
         ('c_length', 6), ('c', [1]), ('a+b', [1])]
MANY = [(f'f{i}', i) for i in range(300)]
TEXT = [('text', 'a' * 2**20), ('after', 7)]
EVENTS = [('dds:values', VALUES), ('names', NAMES), ('many', MANY), ('text', TEXT)]
for i, length in enumerate((31, 31, 32, 32, 33, 33, 200, 200, 1000, 1000)):
    EVENTS.append(('n' * (length - 1) + 'ab'[i & 1], [('number', i)]))
EVENTS.append(('same', [('a', 0), ('a', 1), ('a_2', 2), ('a', 3), ('b', 4)]))
# Fields of 64 bits are strings in JSON, whatever their value, and so are elements of arrays.
WIDE = ('u', 'odd', 'few', 'minus', 's')


class Wrong(Exception):
    pass


def check(true, *why):
    if not true:
        raise Wrong(*why)


def result(name, test, *arguments):
    """Run a test and print its line."""
    global number, failed
    number += 1
    try:
        skipped = test(*arguments)
        print(f'ok {number} {name}' + (f' # SKIP {skipped}' if skipped else ''))
    except (Wrong, AssertionError, ValueError, KeyError, IndexError, OSError,
            subprocess.SubprocessError) as e:
        failed += 1
        print(f'not ok {number} {name}\n# {type(e).__name__}: {str(e)[:500]!r}')


def run(*arguments):
    done = subprocess.run([ktape, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False, stdin=subprocess.DEVNULL)
    check(done.returncode == 0, arguments, done.returncode, done.stderr[-300:])
    return done


def convert(form):
    """Convert to a format.  Return: the path and what the command says."""
    path = 'out.' + form.split(':', 1)[0]
    if os.path.isdir(path):
        shutil.rmtree(path)
    return path, run('convert', '--force', '--to', form, '-o', path, 'foreign').stderr.decode()


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def shown(value, wide=False):
    """A value as JSON has it: what is no number, or has 64 bits, is a string."""
    if isinstance(value, list):
        return [shown(v, isinstance(v, int)) for v in value]
    if wide or isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def text_of(value):
    if isinstance(value, list):
        return '[' + ', '.join(map(text_of, value)) + ']'
    if isinstance(value, float):
        return repr(value).removesuffix('.0')
    return str(value)


def same(got, want):
    """Compare fields with a message that is short."""
    check(len(got) == len(want), len(got), len(want))
    for mine, theirs in zip(got, want):
        # 1 and 1.0 are not the same.
        check(repr(mine) == repr(theirs), str(mine)[:100], str(theirs)[:100])


def check_text(lines):
    check(len(lines) == len(EVENTS), len(lines))
    for line, (name, fields) in zip(lines, EVENTS):
        words = [name]
        for key, value in fields:
            text = text_of(value)
            if key == 'text':
                text = '"' + text.replace('"', '\\"') + '"'
            words.append(f'{key}={text}')
        same(line.split(': ', 1)[1].removeprefix('user_event: '), ' '.join(words))


def check_typed(events):
    """The fields of JSON: pairs of a name and a value."""
    check(len(events) == len(EVENTS), len(events))
    for fields, (name, want) in zip(events, EVENTS):
        check(fields['id_name'] == name, fields['id_name'])
        typed = fields['typed']
        same(list(zip(typed[::2], typed[1::2])), [(k, shown(v, k in WIDE)) for k, v in want])


def dump():
    check_text(run('dump', 'foreign').stdout.decode().splitlines())


def dump_json():
    lines = map(json.loads, run('dump', '--json', 'foreign').stdout.splitlines())
    check_typed([e['fields'] for e in lines if e['event'] == 'user_event'])


def second_decoder():
    with open('lines', 'wb') as file:
        file.write(run('dump', '--json', 'foreign').stdout)
    with open('decoded', 'wb') as file:
        subprocess.run([sys.executable, here + '/../../../decoder.py', 'foreign'], stdout=file,
                       stderr=subprocess.DEVNULL, check=True)
    subprocess.run([here + '/../../support/same_lines.py', 'lines', 'decoded'], stdout=subprocess.DEVNULL,
                   check=True)


def again(form):
    """A native trace of a native trace has the same events, and is whole."""
    path, _ = convert(form)
    check(run('dump', path).stdout == run('dump', 'foreign').stdout, 'not the same')
    run('verify', path)


def text(form):
    check_text([line for line in content(convert(form)[0]).decode().splitlines()
                if ' user_event: ' in line or form == 'ftrace' and 'user_event: ' in line])


def jsonl():
    lines = content(convert('jsonl')[0]).splitlines()
    check_typed([e['fields'] for e in map(json.loads, lines) if e['event'] == 'user_event'])


def comma_separated():
    csv.field_size_limit(2**24)
    with open(convert('csv')[0], newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    check_typed([json.loads(row['fields']) for row in rows if row['event'] == 'user_event'])


def page():
    fields = subprocess.run([sys.executable, html_blocks.__file__, convert('html')[0], 'fields'],
                            stdout=subprocess.PIPE, check=True).stdout
    check_typed([json.loads(line) for line in fields.splitlines()])


def parquet():
    """The column has the JSON of all fields."""
    data = content(convert('parquet:compress=none')[0])
    for name, value in VALUES:
        pair = json.dumps([name, shown(value, name in WIDE)], separators=(',', ':'))[1:-1]
        check(pair.replace('e+', 'e').encode() in data.replace(b'e+', b'e'), pair[:100])


def chrome():
    def pairs(found):
        check(len(dict(found)) == len(found), 'a key is there twice', str(found)[:300])
        return dict(found)
    events = json.loads(content(convert('chrome')[0]), object_pairs_hook=pairs)['traceEvents']
    got = [e for e in events if e.get('cat') == 'linux']
    check([e['name'] for e in got] == [name for name, _ in EVENTS], got)
    for e, (_, want) in zip(got, EVENTS):
        values = [shown(v, k in WIDE) for k, v in want]
        keys = ['a', 'a_2', 'a_2_2', 'a_3', 'b'] if e['name'] == 'same' else [k for k, _ in want]
        same(list(e['args'].items()), list(zip(keys, values)))


# ---- Perfetto --------------------------------------------------------------------------

def annotation(data):
    """Name and value of a debug annotation, by the type that its member has."""
    name, value = None, []
    for field, part in members(data):
        if field == 10:
            name = part.decode()
        elif field == 12:		# array_values
            value.append(annotation(part)[1])
        else:
            value = {3: lambda v: v, 4: lambda v: v - (v >> 63 << 64),
                     5: lambda v: struct.unpack('<d', v)[0], 6: bytes.decode, 7: hex}[field](part)
    return name, value


def perfetto():
    path, says = convert('perfetto')
    got = []
    for _, packet in members(content(path)):
        for field, message in members(packet):
            if field == 11:
                parts = list(members(message))
                got.append((next(v for f, v in parts if f == 23).decode(),
                            [annotation(v) for f, v in parts if f == 4]))
    check([name for name, _ in got] == [name for name, _ in EVENTS], len(got))
    for (name, fields), (_, want) in zip(got, EVENTS):
        for (key, value), (_, wanted) in zip(fields, want, strict=True):
            check(key in ('', *(k for k, _ in want)), key)
            check(value == wanted or value != value and wanted != wanted, key, value, wanted)
    check('cannot hold' not in says, says)


# ---- LTTng -----------------------------------------------------------------------------

def bt_value(value):
    if isinstance(value, list):
        return '[ ' + ', '.join(f'[{i}] = {bt_value(v)}' for i, v in enumerate(value)) + ' ]' \
            if value else '[ ]'
    if isinstance(value, float):
        return f'{value:g}'
    return '0x' + value[2:].upper() if isinstance(value, str) and value.startswith('0x') else \
        str(value)


def lttng():
    """babeltrace2 reads all, with the type that each has."""
    path, _ = convert('lttng')
    metadata = content(path + '/metadata').decode()
    for block in re.findall(r'fields := struct \{\n(.*?)\t\};', metadata, re.S):
        declared = re.findall(r' (\w+)(?:\[\w+\])?;\n', block)
        check(len(declared) == len(set(declared)), 'declared twice', declared[:20])
    check('int64_t _ss[__ss_length];' in metadata and 'double_t _ds[' in metadata, metadata)
    if not shutil.which('babeltrace2'):
        return 'no babeltrace2'
    done = subprocess.run(['babeltrace2', '--clock-seconds', path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True)
    check(not done.stderr, done.stderr[:200])
    lines = done.stdout.decode().splitlines()
    check(len(lines) == len(EVENTS), len(lines))
    for line, (name, _) in zip(lines, EVENTS):
        check(f') {name}: ' in re.sub(r'\)\s+', ') ', line), name, line[:200])
    for name, value in VALUES:
        if name == 'block':
            value = list(BLOCK)
        want = f'{name} = ' + ('"a \\"b\\""' if name == 'text' else bt_value(value))
        check(want + ',' in lines[0] or want + ' }' in lines[0], want, lines[0][:1000])
    check(lines[0].count('_us_length') == 1, 'the length is there twice')
    # babeltrace2 takes neither two equal names nor two that differ in a '_' before them.
    check('a_b = 0, a_b_2 = 1, a_b_3 = 2, _ = 3, _a_b_length = 4, _c_length = 5, c_length_2 = 6, '
          '_c_2_length = 1, c_2 = [ [0] = 1 ], _a_b_4_length = 1, a_b_4 = [ [0] = 1 ]' in lines[1],
          lines[1])
    check(', '.join(f'{k} = {v}' for k, v in MANY) in lines[2], lines[2][:200])
    check('"' + 'a' * 2**20 + '"' in lines[3] and 'after = 7' in lines[3], lines[3][-200:])
    return None


def lttng2():
    """The same in CTF 2: the types of 1.8 are in the fragments."""
    fragments = [json.loads(f) for f in content(convert('lttng:ctf=2')[0] + '/metadata')
                 .split(b'\x1e')[1:]]
    values, = (f for f in fragments if f.get('name') == 'dds:values')
    fields = {m['name']: m['field-class'] for m in values['payload-field-class']['member-classes']}
    check(fields['half']['type'] == 'fixed-length-floating-point-number', fields['half'])
    check(fields['ss']['element-field-class']['type'] == 'fixed-length-signed-integer', fields['ss'])
    check(fields['block']['type'] == 'dynamic-length-blob', fields['block'])
    lines = run('dump', 'out.lttng').stdout.splitlines()
    check(len(lines) == len(EVENTS), len(lines))


def once(trace):
    """A sequence whose length is a field of its own is declared once."""
    if not os.path.exists(trace):
        return f'{trace} is not there'
    run('convert', '--to', 'lttng', '-o', 'once', trace)
    if not shutil.which('babeltrace2'):
        return 'no babeltrace2'

    def fields(path):
        lines = subprocess.run(['babeltrace2', path], stdout=subprocess.PIPE, check=True).stdout
        return [(re.search(rb' (\S+): \{', line)[1], line.rsplit(b'{', 1)[1])
                for line in lines.splitlines()]
    same(fields('once'), fields(trace))
    return None


def forks():
    """Only threads that were there at the beginning are in the state dump."""
    done = subprocess.run([out + '/make_foreign', 'forked', 'forks'], stderr=subprocess.PIPE,
                          check=True)
    check(not done.stderr, done.stderr)
    run('convert', '--to', 'lttng', '-o', 'dumped', 'forked')
    if not shutil.which('babeltrace2'):
        return 'no babeltrace2'
    lines = subprocess.run(['babeltrace2', 'dumped'], stdout=subprocess.PIPE, check=True,
                           ).stdout.decode().splitlines()
    check(sum('sched_process_fork' in line for line in lines) == 20, len(lines))
    dumped = [int(re.search(r'\{ tid = (\d+), pid', line)[1]) for line in lines
              if 'statedump_process_state' in line]
    check(dumped == list(range(10, 31)), dumped)
    return None


def main():
    folder = tempfile.mkdtemp(prefix='ktape-foreign.')
    top = os.path.abspath(here + '/../../../..')
    try:
        os.chdir(folder)
        subprocess.run([out + '/make_foreign', 'foreign'], check=True)
        result('dump', dump)
        result('dump --json', dump_json)
        result('the second decoder', second_decoder)
        result('native, as a folder', again, 'native')
        result('native, as a pipe form', again, 'native:form=pipe')
        result('text', text, 'text')
        result('ftrace', text, 'ftrace')
        result('jsonl', jsonl)
        result('csv', comma_separated)
        result('html', page)
        result('parquet', parquet)
        result('chrome', chrome)
        result('perfetto', perfetto)
        result('lttng', lttng)
        result('lttng with CTF 2', lttng2)
        result('the state dump of lttng', forks)
        result('a sequence of another tracer', once, top + '/../shared/field/ctf-sequence')
    finally:
        os.chdir('/')
        shutil.rmtree(folder)
    print(f'1..{number}')
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main())
