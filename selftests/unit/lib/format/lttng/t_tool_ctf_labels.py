#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_ctf_labels.py FOLDER: labels of enumerations in CTF traces: those that babeltrace2 has, of
many ranges that overlap; what is left out; names; and that long ones take no time."""
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../../support')
import ctf_cases  # noqa: E402  pylint: disable=wrong-import-position
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

MISSING = '' if shutil.which('babeltrace2') else 'no babeltrace2'
NO_JQ = '' if shutil.which('jq') else 'jq is not there: install the package jq'
SECONDS = 10
WIDE = '0 ... 4294967295'
TOP = 0xfffffff0


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(*args, status=0):
    done = subprocess.run([ktape, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=600,
                          preexec_fn=limit)
    assert done.returncode == status, (done.returncode, done.stderr.decode()[:500])
    return done.stdout.decode(), done.stderr.decode()


def dump(name, fields, *payloads):
    ctf_cases.case(name, fields, *payloads)
    return run('dump', name)


def same(name):
    done = subprocess.run([sys.executable, here + '/../../../support/ctf_lines.py', ktape, name], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout.decode()


def u32(*values):
    return [struct.pack('<I', v) for v in values]


def model(ranges, value):
    """Labels in the order in which their names are declared first."""
    return [name for name in dict.fromkeys(name for name, _, _ in ranges)
            if any(low <= value <= high for of, low, high in ranges if of == name)]


def ranges_at_random():
    r = random.Random(35)
    for number, (signed, names) in enumerate(((False, 20), (True, 30), (True, 200), (False, 300))):
        low, high = (-128, 127) if signed else (0, 255)
        ranges = []
        for _ in range(2 * names):
            a, b = sorted(r.randint(low, high) for _ in '12')
            if r.random() < .5:
                b = min(a + r.randint(0, 5), high)
            ranges.append((f'L{r.randrange(names)}', a, b))
        values = range(low, high + 1)
        text = ', '.join(f'{name} = {a} ... {b}' for name, a, b in ranges)
        case = f'random{number}'
        lines, log = dump(case, f'enum : {"s8" if signed else "u8"} {{ {text} }} x;',
                          *[struct.pack('<b' if signed else '<B', v) for v in values])
        many = 0
        for value, line in zip(values, lines.splitlines()):
            want = model(ranges, value)
            many += len(want) > 64
            text = f' x={value}' + (f' ({", ".join(want[:64])})' if want else '')
            assert line.endswith(text), (line, text)
        assert (f'{many} values of enumerations have more labels than the 64 that are kept' in log) == (many > 0), log
        equal(many > 0, names >= 200)
        if not MISSING and not many:
            same(case)


def ends():
    """Labels up to the lowest and the highest value."""
    fields = '''enum : s64 { MIN = -9223372036854775808, ALL = -9223372036854775808 ... 9223372036854775807,
MAX = 9223372036854775807 } a; enum : u64 { TOP = 18446744073709551615, HALF = 9223372036854775808 ... 9223372036854775810 } b;'''
    dump('ends', fields, *[struct.pack('<qQ', a, b) for a, b in (
        (-2**63, 2**64 - 1), (2**63 - 1, 2**63), (0, 2**63 + 2), (-1, 2**63 + 3), (1, 2**63 - 1))])
    same('ends')


def many_and_one():
    """A value with exactly one label among 70,000."""
    text = ', '.join(f'l{i} = {i}' for i in range(70000))
    lines, log = dump('steps', f'enum : u32 {{ TARGET = {WIDE}, {text} }} e;', *u32(TOP, 69999))
    equal([line.split(' e=')[1] for line in lines.splitlines()], [f'{TOP} (TARGET)', '69999 (TARGET, l69999)'])
    equal(log, '')


def first_ones():
    """The first 64 of those that a value has, and only such values are told."""
    text = ', '.join(f'L{i} = 0 ... {i}' for i in range(70))
    lines, log = dump('many', f'enum : u8 {{ {text} }} e;', b'\0', b'\5', b'\6', b'\7')
    for i, line in zip((0, 5, 6, 7), lines.splitlines()):
        equal(line.split(' e=')[1], f'{i} ({", ".join(f"L{n}" for n in range(i, min(i + 64, 70)))})')
    assert '2 values of enumerations have more labels' in log, log


def nested():
    text = ', '.join(f'l{i} = 0 ... {0xffffffff - i}' for i in range(50000))
    lines, _ = dump('nested', f'enum : u32 {{ {text} }} e;', *u32(*[5] * 10000))
    equal(lines.count(' (l0, l1, '), 10000)


def long_array():
    text = ', '.join(f'l{i} = {i}' for i in range(60000))
    lines, _ = dump('array', f'enum : u32 {{ X = {WIDE}, {text} }} e[200000];', b''.join(u32(TOP)) * 200000)
    assert lines.endswith(', "X", "X"])\n') or lines.endswith(',"X","X"])\n'), lines[-80:]


def long_label():
    """The text ends where it is cut, and with it the work."""
    long = 'Q' * 30000
    lines, log = dump('long', f'enum : u8 {{ "{long}" = 1 }} e[60000]; u8 end;', b'\1' * 60000 + b'\7')
    assert lines.endswith(' end=7\n') and lines.count('Q' * 30000) == (16 << 20) // 30003, lines[-80:]
    assert '1 arrays of structures or texts, or labels, were cut' in log, log
    lines, log = dump('long2', f'struct {{ enum : u8 {{ "{long}" = 1 }} e; }} s[60000]; u8 end;', b'\1' * 60000 + b'\7')
    assert lines.endswith(' end=7\n'), lines[-80:]
    assert '1 arrays of structures or texts, or labels, were cut' in log, log


def fields_of(name):
    """The fields of each event in JSON."""
    events = [json.loads(line) for line in run('dump', '--json', name)[0].splitlines()]
    return [e['fields']['typed'] for e in events if e['event'] == 'user_event']


def others():
    """What is no label is not shown as one, and keeps its name."""
    enum = 'enum : u8 { A = 1 }'
    lines, _ = dump('others', f'{enum} e; string e_label; u8 n; string n_label; string f_label; {enum} f; {enum} g[2]; string g_label;',
                    b'\1one\0\7seven\0f\0\1\1\2g\0', b'\2two\0\7seven\0f\0\2\1\2g\0')
    one, two = lines.splitlines()
    assert one.endswith(' e=1 (A) e_label="one" n=7 n_label="seven" f_label="f" f=1 (A) g=[1, 2] (["A",null]) g_label="g"'), one
    assert two.endswith(' e=2 e_label="two" n=7 n_label="seven" f_label="f" f=2 g=[1, 2] (["A",null]) g_label="g"'), two
    typed = fields_of('others')
    equal(typed[0], ['e', 1, 'e_label_2', 'A', 'e_label', 'one', 'n', 7, 'n_label', 'seven', 'f_label', 'f', 'f', 1, 'f_label_2', 'A',
                     'g', ['1', '2'], 'g_label_2', '["A",null]', 'g_label', 'g'])
    equal(typed[1][:4], ['e', 2, 'e_label', 'two'])
    run('convert', 'others', '--to', 'native', '-o', 'others.native')
    equal(run('dump', 'others.native')[0], lines)


def others_in_variants():
    """The same where names differ from event to event."""
    enum = 'enum : u8 { A = 1, B = 2 }'
    dump('variants', f'{enum} t; variant <t> {{ {enum} A; struct {{ {enum} e; string e_label; }} B; }} v; string v_label;',
         b'\1\2x\0', b'\2\1y\0x\0')
    equal(fields_of('variants'), [['t', 1, 't_label', 'A', 'v', 2, 'v_label_2', 'B', 'v_label', 'x'],
                                  ['t', 2, 't_label', 'B', 'v.e', 1, 'v.e_label_2', 'A', 'v.e_label', 'y', 'v_label', 'x']])


def keys_twice(text):
    """The members of JSON that its objects have more than once, by jq."""
    paths = subprocess.run(['jq', '-c', '--stream', 'select(length == 2)[0]'], input=text, encoding='utf-8',
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return sorted({path for path in paths if paths.count(path) > 1})


def no_key_twice(name):
    """Return the texts of the fields of an event that are JSON, in which no key is there twice."""
    event, = [line for line in run('dump', '--json', name)[0].splitlines() if '"event":"user_event"' in line]
    equal(keys_twice(event), [])
    typed = json.loads(event)['fields']['typed']
    texts = typed[3::2]     # behind the count
    for text in texts:
        equal(keys_twice(text), [])
    return texts


def keys_in_structures():
    """The same in structures that are elements, whose keys are the names."""
    enum = 'enum : u8 { A = 1 }'
    equal(keys_twice('{"a":{"b":1,"b":2},"b":3}'), ['["a","b"]'])
    members = f'{enum} e; string e_label; u8 e_label_2; {enum} e_label_3; u8 g_label; {enum} g[2]; {enum} plain;'
    dump('keys', f'u8 n; struct {{ {members} }} s[n]; struct {{ u8 x; struct {{ {enum} y; u8 y_label; }} in[n]; }} t[n];',
         b'\1' + b'\1one\0\2\1\3\1\2\1' + b'\4\1\5')
    equal(no_key_twice('keys'), [
        '[{"e":1,"e_label_4":"A","e_label":"one","e_label_2":2,"e_label_3":1,"e_label_3_label":"A","g_label":3,'
        '"g":[1,2],"g_label_2":["A",null],"plain":1,"plain_label":"A"}]',
        '[{"x":4,"in":[{"y":1,"y_label_2":"A","y_label":5}]}]'])
    if not MISSING:
        same('keys')
    n = ctf_cases.number(8)
    labelled = {**n, 'mappings': {'A': [[1, 1]]}}
    elements = ctf_cases.length('n')
    elements['element-field-class'] = ctf_cases.record(e=labelled, _e=labelled, e_label=n)
    dump('ctf-2', 'u8 n; u8 s[3];', b'\1\1\2\3')
    ctf_cases.ctf2('.', 'ctf-2', ctf_cases.record(n=n, s=elements))
    equal(no_key_twice('ctf2/ctf-2'), ['[{"e":1,"e_label_2":"A","_e":2,"_e_label":null,"e_label":3}]'])


def names_twice():
    """babeltrace2 refuses two members of one name; ktape keeps both."""
    enum = 'enum : u8 { A = 1 }'
    dump('twice', f'u8 n; struct {{ u8 x; {enum} _x; u8 x_2; u8 x; u8 x_3_label; }} s[n];', b'\1\1\1\2\3\4')
    equal(no_key_twice('twice'), ['[{"x":1,"x_3":1,"x_3_label_2":"A","x_2":2,"x_4":3,"x_3_label":4}]'])


def many_names_twice():
    text = 'u8 a; ' * 100000 + ' '.join(f'u8 a_{i};' for i in range(2, 50000)) + 'enum : u8 { A = 1 } e; u8 e_label; ' + \
        ' '.join(f'u8 e_label_{i};' for i in range(2, 50000))
    dump('many-twice', f'u8 n; struct {{ {text} }} s[n];', b'\0')


def many_fields():
    """Labels take no places of fields."""
    for nr in 600, 1024, 1030:
        text = ' '.join(f'enum : u8 {{ A{i} = 1 }} f{i};' for i in range(nr))
        lines, log = dump(f'fields{nr}', text, b'\1' * nr)
        kept = min(nr, 1024)
        assert lines.endswith(' e ' + ' '.join(f'f{i}=1 (A{i})' for i in range(kept)) + '\n'), lines[-100:]
        equal(log, '' if nr == kept else f'ktape: {nr - kept} fields were left out, the first of event e: an event keeps 1024 of them\n')
    text = ' '.join(f'enum : u8 {{ A{i} = 1 }} f{i};' for i in range(1030))
    lines, log = dump('fieldsv', f'enum : u8 {{ V = 1 }} t; variant <t> {{ struct {{ {text} }} V; }} v;', b'\1' * 1031)
    assert lines.endswith(' v.f1022=1 (A1022)\n') and lines.count('=1 (A') == 1023, lines[-100:]
    assert 'ktape: 7 fields were left out' in log, log


def long_names():
    """The name of a label ends in _label, however long that of its field is."""
    names = ['n' * 4097, 'n' * 4095 + 'xy', 'm' * 4096, 'o' * 100 + 'A', 'o' * 100 + 'B', 'n' * 4095 + 'x_label']
    _, log = dump('names', ' '.join(f'enum : u8 {{ A = 1 }} {name};' for name in names), b'\1' * 6)
    typed, = fields_of('names')
    want = [name[:4096] for name in names]
    want = [text for name in want for text in (name, name + '_label')]
    equal(typed[::2], want[:-1] + [want[-1] + '_2'])
    assert '3 names of fields have more than 4096 bytes and are cut' in log, log


def label_names():
    """One that a field has gets a number, however long it is."""
    name = 'n' * 500
    dump('same', f'enum : u8 {{ A = 1 }} {name}; u8 {name}_label; u8 {name}_label_2;', b'\1\2\3')
    typed, = fields_of('same')
    equal(typed, [name, 1, f'{name}_label_3', 'A', f'{name}_label', 2, f'{name}_label_2', 3])


def shared_types():
    """A field that one event renames has its name in others of the same type."""
    ctf_cases.case('shared', '', *[b'\3\4'] * 8, types='struct shared { u8 nr; u8 x; };\n', events=[
        ('syscall_entry_io_submit', '=struct shared'), ('one', '=struct shared'), ('syscall_entry_read', '=struct shared'),
        ('two', '=struct shared')])
    equal(fields_of('shared'), [['nr', 3, 'x', 4]] * 4)
    calls = [json.loads(line)['fields'] for line in run('dump', '--json', 'shared')[0].splitlines() if '"sys_enter"' in line]
    equal([(e['nr_name'], e['nr_2'], e['x']) for e in calls], [('io_submit', 3, 4), ('read', 3, 4)] * 2)


folder = tempfile.mkdtemp(prefix='labels-', dir=out)
os.chdir(folder)
result('values have the labels of all ranges they are in', ranges_at_random)
result('the lowest and the highest value, too', ends, skip=MISSING)
result('a value keeps its one label among 70,000', many_and_one)
result('of many labels, the first 64 are kept', first_ones)
result('ranges inside one another take no time', nested)
result('elements take no time beside a wide range', long_array)
result('a long label takes no time in many elements', long_label)
result('other fields are not taken for labels', others)
result('nor in variants', others_in_variants)
result('an object of JSON has each key once', keys_in_structures, skip=NO_JQ)
result('also where members have one name', names_twice, skip=NO_JQ)
result('which takes no time for many of them', many_names_twice)
result('labels take no places of fields', many_fields)
result('names of labels end in _label', long_names)
result('one that a field has gets a number', label_names)
result('which is no concern of another event', shared_types)
os.chdir(out)
shutil.rmtree(folder)
end()
