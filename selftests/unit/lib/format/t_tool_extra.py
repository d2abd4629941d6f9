#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_extra.py FOLDER: fields of another tracer's events for which the event table has no
place (arguments of system calls, contexts, further fields of tracepoints) in every output.

Judges that are not ours read the output: Python's decoders of JSON and CSV, babeltrace2 for
LTTng's traces, and a decoder of protobuf messages."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../support')
# pylint: disable=wrong-import-position
import ctf_lines  # noqa: E402
import html_blocks  # noqa: E402
import make_ctf as ctf  # noqa: E402
import make_linux_traces as linux  # noqa: E402
import t_tool_foreign as foreign  # noqa: E402

from protobuf import members  # noqa: E402
from t_tool_foreign import Wrong, check, result  # noqa: E402

CYCLES = 2**63 + 12345
LONG = 'n' * 200   # of the names of two fields, which differ behind it
I32, U32, U64 = ctf.Number(32, True), ctf.Number(32), ctf.Number(64)
X64, TEXT = ctf.Number(64, base=16), ctf.Text()
COMM = ctf.Array(ctf.CHAR, 16)
FILE = '/etc/"a b"/pa=ss'
# Name and fields as LTTng has them; the event that it becomes, and its extra fields.
CALLS = [
    ('syscall_entry_openat', dict(dfd=(I32, -100), filename=(TEXT, FILE), flags=(I32, 0o100000), mode=(U32, 0o644)),
     'sys_enter', dict(dfd=-100, filename=FILE, flags=0o100000, mode=0o644)),
    ('syscall_exit_openat', dict(ret=(ctf.Number(64, True), 5)), 'sys_exit', {}),
    ('syscall_entry_read', dict(fd=(U32, 5), count=(U64, 4096)), 'sys_enter', dict(fd=5, count=4096)),
    ('syscall_exit_read', dict(ret=(ctf.Number(64, True), 10), buf=(X64, 0x7ffcfedcba987654)),
     'sys_exit', dict(buf='0x7ffcfedcba987654')),
    ('sched_switch', dict(prev_comm=(COMM, 'worker'), prev_tid=(I32, 501), prev_prio=(I32, 20),
                          prev_state=(ctf.Number(64, True), 1), next_comm=(COMM, 'other'),
                          next_tid=(I32, 502), next_prio=(I32, 20)), 'sched_switch', {}),
    # A name that the event has.
    ('syscall_entry_io_submit', dict(ctx_id=(X64, 0x1000), nr=(I32, 3), iocbpp=(X64, 0x2000)),
     'sys_enter', dict(ctx_id='0x1000', nr_2=3, iocbpp='0x2000')),
    # Without the beginning of a call.
    ('syscall_exit_io_submit', dict(ret=(ctf.Number(64, True), -11)), 'sys_exit', {}),
    ('syscall_exit_getcwd', dict(ret=(ctf.Number(64, True), 4), buf=(TEXT, '/')), 'sys_exit', dict(buf='/')),
    ('sched_process_fork', dict(parent_comm=(COMM, 'worker'), parent_tid=(I32, 501), parent_pid=(I32, 500),
                                parent_ns_inum=(U32, 4026531836), child_comm=(COMM, 'worker'),
                                child_tid=(I32, 600), _vtids_length=(ctf.Number(8), 2),
                                vtids=(ctf.Array(I32, '_vtids_length'), [600, -1]), child_pid=(I32, 600)),
     'process_fork', dict(parent_pid=500, parent_ns_inum=4026531836, _vtids_length=2, vtids=[600, -1])),
    ('sched_process_exec', dict(filename=(TEXT, '/bin/true'), tid=(I32, 501), old_tid=(I32, 501)),
     'process_exec', dict(filename='/bin/true')),
    ('irq_softirq_entry', dict(vec=(U32, 1)), 'softirq_entry', {}),
    ('irq_softirq_exit', dict(vec=(U32, 1)), 'softirq_exit', {}),
]
CONTEXT = dict(prio=20, perf_cpu_cycles=CYCLES)
WIDE = ('count', 'perf_cpu_cycles')
WANT = [(event, {**extra, **CONTEXT}) for _, _, event, extra in CALLS]
AMOUNT = sum(len(extra) for _, extra in WANT)


def write_ctf(folder):
    """A trace as LTTng's: CTF 1.8, and the same with metadata in CTF 2."""
    ctf.EVENTS = {name: ctf.Struct(**{k: t for k, (t, _) in fields.items()})
                  for name, fields, _, _ in CALLS}
    ctf.CONTEXT = ctf.Struct(vtid=I32, procname=ctf.Array(ctf.CHAR, 17), vpid=I32, prio=I32,
                             perf_cpu_cycles=U64)
    body = ctf.Bits(False)
    head = dict(timestamp_begin=ctf.START, timestamp_end=ctf.START + len(CALLS) * ctf.STEP,
                content_size=0, packet_size=0, cpu_id=3)
    for _ in range(2):
        body = ctf.Bits(False)
        ctf.MAGIC.put(body, {'magic': 0xc1fc1fc1})
        ctf.PACKET.put(body, head)
        for i, (_, fields, _, _) in enumerate(CALLS):
            ctf.HEADER.put(body, {'id': i, 'timestamp': ctf.START + i * ctf.STEP})
            ctf.CONTEXT.put(body, dict(vtid=501, procname=list(b'worker'.ljust(17, b'\0')), vpid=500,
                                       prio=20, perf_cpu_cycles=CYCLES))
            ctf.EVENTS[CALLS[i][0]].put(body, {
                k: list(v.encode().ljust(16, b'\0')) if t is COMM else v for k, (t, v) in fields.items()})
        head['content_size'] = len(body.text)
        head['packet_size'] = (len(body.text) + 7) // 8 * 8
    env = 'env { domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; };\n'
    ctf.write(folder, ('/* CTF 1.8 */\n' + ctf.tsdl(False) + env).encode(), body.data())
    ctf.write(folder + '2', ctf.ctf2(False).encode(), body.data())


def run(*arguments):
    return foreign.run(*arguments)


def convert(form, trace='made'):
    path = 'out.' + form.split(':', 1)[0]
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)
    return path, run('convert', '-v', '--force', '--to', form, '-o', path, trace).stderr.decode()


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def pairs(members):
    check(len(dict(members)) == len(members), 'a name is there twice', members)
    return dict(members)


def events(lines):
    """The lines of JSON of the events, with their names and fields."""
    found = [json.loads(line, object_pairs_hook=pairs) for line in lines]
    return [(e['event'], e['fields']) for e in found if e['ring'] == 'event']


def in_json(key, value):
    """A number of 64 bits is a string, whatever its value, and so are elements of arrays."""
    if isinstance(value, list):
        return [str(v) for v in value]
    return str(value) if key in WIDE else value


def has(fields, want, form=in_json):
    for key, value in want.items():
        check(key in fields and fields[key] == form(key, value), key, value, str(fields)[:300])


def all_wide(key, value):
    """In a trace that lttng has written every number but a length has 64 bits."""
    if key.endswith('_length'):
        return value
    return [str(v) for v in value] if isinstance(value, list) else str(value)


def check_events(found, form=in_json):
    check([name for name, _ in found] == [name for name, _ in WANT], [name for name, _ in found])
    for (_, fields), (_, extra) in zip(found, WANT):
        has(fields, extra, form)
        # Nothing of the thread is there twice.
        check(not set(fields) & {'vtid', 'vpid', 'procname'}, fields)


def shown(value):
    if isinstance(value, str) and not value.startswith('0x'):
        return '"' + value.replace('"', '\\"') + '"'
    return str(value)


def check_lines(lines):
    for line, (_, extra) in zip(lines, WANT, strict=True):
        text = ''.join(f' {key}={shown(value)}' for key, value in extra.items())
        check(line.endswith(text), text, line)


def dump(trace):
    done = run('dump', trace)
    lines = done.stdout.decode().splitlines()
    check_lines(lines)
    check(all(' worker-501 ' in line for line in lines), lines[0])
    check('left out' not in done.stderr.decode(), done.stderr)
    check_events(events(run('dump', '--json', trace).stdout.splitlines()))


def text(form):
    lines = content(convert(form)[0]).decode().splitlines()
    check_lines([line for line in lines if ': ' in line and not line.startswith('#') and
                 ' registry' not in line and ' info' not in line])


def jsonl():
    check_events(events(content(convert('jsonl')[0]).splitlines()))


def python():
    """All numbers are int, also those of 64 bits."""
    os.environ['KTAPE_LIBRARY'] = out + '/libktape.so.1'
    sys.path.insert(0, os.path.join(here, '../../../../userspace/python'))
    import ktape  # pylint: disable=import-outside-toplevel,import-error
    with ktape.Trace('made') as trace:
        check_events([(e.name, e.fields) for e in trace if e.ring == 'event'], lambda _, value: value)


def comma_separated():
    with open(convert('csv')[0], newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    check_events([(row['event'], json.loads(row['fields'], object_pairs_hook=pairs))
                  for row in rows if row['ring'] == 'event'])


def page():
    fields = subprocess.run([sys.executable, html_blocks.__file__, convert('html')[0], 'fields'],
                            stdout=subprocess.PIPE, check=True).stdout.splitlines()
    check_events([(name, json.loads(line, object_pairs_hook=pairs))
                  for line, (name, _) in zip(fields, WANT, strict=True)])


def parquet():
    """The column has the JSON of all fields."""
    data = content(convert('parquet:compress=none')[0])
    for _, extra in WANT:
        for key, value in extra.items():
            pair = json.dumps({key: in_json(key, value)}, separators=(',', ':'))[1:-1].encode()
            check(pair in data, pair)


def chrome():
    """An event whose slice has no fields is an instant as well."""
    found = json.loads(content(convert('chrome')[0]), object_pairs_hook=pairs)['traceEvents']
    found = [(e['name'] if 'name' in e else '', e.get('args', {})) for e in found
             if e['ph'] != 'M' and 'prio' in e.get('args', {})]
    check(len(found) == len(WANT), len(found))
    for (_, args), (_, extra) in zip(found, WANT):
        has(args, extra)


def perfetto():
    path, _ = convert('perfetto')
    found = []
    for _, packet in members(content(path)):
        for field, message in members(packet):
            if field == 11:
                parts = list(members(message))
                found.append((next(v for f, v in parts if f == 23).decode(),
                              pairs([foreign.annotation(v) for f, v in parts if f == 4])))
    check([f for f in found if 'prio' in f[1]] == found, found)
    for (name, fields), (event, extra) in zip(found, WANT, strict=True):
        check(name == event and list(fields) == list(extra), name, fields)
        has(fields, extra, lambda _, value: value)


def told(form, says):
    """The number of fields that a conversion says it left out."""
    amount, = re.findall(rf"{form.split(':', 1)[0]} cannot hold fields of another tracer's events: (\d+)\n", says)
    return int(amount)


def native():
    for form in ('native', 'native:form=pipe'):
        path, says = convert(form)
        check('cannot hold' not in says, says)
        check_events([e for e in events(run('dump', '--json', path).stdout.splitlines()) if e[0] != 'context'])


def others():
    """A format without a place for these fields says how many it left out."""
    for form in ('tband', 'tracex', 'rkh'):
        check(told(form, convert(form)[1]) == AMOUNT, form)
    # It has all fields of events that its target does not have.
    path, says = convert('traceprinter')
    check(told('traceprinter', says) == AMOUNT - 2 * len(CONTEXT), says)
    check(content(path).count(f'perf_cpu_cycles={CYCLES}"'.encode()) == 2, content(path))


def lttng(form):
    """babeltrace2 prints of the output what it prints of the input."""
    path, says = convert(form)
    check('another tracer' not in says, says)
    done = run('dump', '--json', path).stdout.splitlines()
    check_events([e for e in events(done) if e[0] != 'user_event'], all_wide)
    if form != 'lttng':
        return None
    if not shutil.which('babeltrace2'):
        return 'no babeltrace2'
    mine = [e for e in ctf_lines.read_babeltrace2(path) if 'statedump' not in e['name']]
    for got, want, (name, fields, _, _) in zip(mine, ctf_lines.read_babeltrace2('made'), CALLS, strict=True):
        check(got['name'] == want['name'] == name, got['name'], name)
        members = {**want['event.fields'], 'prio': 20, 'perf_cpu_cycles': CYCLES}
        for key, value in members.items():
            # Names of threads and numbers of LTTng are as they were, others may have a suffix.
            key = 'nr_2' if key == 'nr' else key
            check(key in got['event.fields'] and got['event.fields'][key] == value, name, key, value,
                  got['event.fields'])
        check(len(got['event.fields']) == len(members), got['event.fields'], fields)
    return None


def ftrace_calls(trace):
    """System calls of trace-cmd and perf by name."""
    want = [('sys_enter', dict(dfd=18446744073709551516, filename='0x7ffcfedcba987654', flags=32768, mode=0, **{LONG + 'A': 1, LONG + 'B': 2})),
            ('sys_exit', {}), ('sched_switch', {})]
    done = run('dump', trace)
    check('left out' not in done.stderr.decode(), done.stderr)
    lines = done.stdout.decode().splitlines()
    check(len(lines) == 3 and 'nr=257 (openat)' in lines[0], lines)
    for key, value in want[0][1].items():
        check(f' {key}={value}' in lines[0] or key == 'filename' and
              f' {key}={0x7ffcfedcba987654}' in lines[0], key, lines[0])
    fields = events(run('dump', '--json', trace).stdout.splitlines())[0][1]
    check(fields['flags'] == '32768' and fields['mode'] == '0', fields)
    check('__syscall_nr' not in lines[0] and 'ret=5' in lines[1] and 'nr=257' in lines[1], lines)
    path, says = convert('native', trace)
    check('cannot hold' not in says and events(run('dump', '--json', path).stdout.splitlines())[0][1] == fields, says)


def many():
    """Of an event with too many fields the first ones are kept, and it is named."""
    ctf.EVENTS = {'vast': ctf.Struct(**{f'f{i}': U32 for i in range(1030)})}
    ctf.CONTEXT = ctf.Struct(vtid=I32)
    head = dict(timestamp_begin=ctf.START, timestamp_end=ctf.START, content_size=0, packet_size=0, cpu_id=0)
    body = ctf.Bits(False)
    for _ in range(2):
        body = ctf.Bits(False)
        ctf.MAGIC.put(body, {'magic': 0xc1fc1fc1})
        ctf.PACKET.put(body, head)
        ctf.HEADER.put(body, {'id': 0, 'timestamp': ctf.START})
        ctf.CONTEXT.put(body, dict(vtid=501))
        ctf.EVENTS['vast'].put(body, {f'f{i}': i for i in range(1030)})
        head['content_size'] = head['packet_size'] = (len(body.text) + 7) // 8 * 8
    ctf.write('vast', ('/* CTF 1.8 */\n' + ctf.tsdl(False)).encode(), body.data())
    done = run('dump', 'vast')
    check(b' f1023=1023' in done.stdout and b'f1024' not in done.stdout, done.stdout[-200:])
    check('6 fields were left out, the first of event vast: an event keeps 1024 of them' in
          done.stderr.decode(), done.stderr)


def many_of_kernel():
    """The same for the descriptions of trace.dat and perf.data."""
    linux.LAYOUTS['vast'] = (702, 'test', [(f'unsigned char f{i}', 1, 0, 'B') for i in range(1030)])
    scene, linux.SCENE = linux.SCENE, [(1_000_000_000, 0, 100, 'vast', {f'f{i}': i & 255 for i in range(1030)})]
    for name, data in (('vast6.dat', linux.version6()), ('vast.perf', linux.perf(None))):
        with open(name, 'wb') as file:
            file.write(data)
        done = run('dump', name)
        check(b' f1023=255' in done.stdout and b'f1024' not in done.stdout, done.stdout[-200:])
        check('6 fields were left out, the first of event vast: an event keeps 1024 of them' in
              done.stderr.decode().replace('test:', ''), done.stderr)
    linux.SCENE = scene
    del linux.LAYOUTS['vast']


def write_linux():
    linux.LAYOUTS['sys_enter_openat'] = (700, 'syscalls', [
        ('int __syscall_nr', 4, 1, 'i'), ('int dfd', 8, 0, 'Q'), ('const char * filename', 8, 0, 'Q'),
        ('int flags', 8, 0, 'Q'), ('umode_t mode', 8, 0, 'Q'), (f'int {LONG}A', 4, 1, 'i'), (f'int {LONG}B', 4, 1, 'i')])
    linux.LAYOUTS['sys_exit_openat'] = (701, 'syscalls', [
        ('int __syscall_nr', 4, 1, 'i'), ('long ret', 8, 1, 'q')])
    switch = linux.SCENE[0]
    linux.SCENE = [
        (1_000_000_000, 0, 100, 'sys_enter_openat', {
            '__syscall_nr': 257, 'dfd': 2**64 - 100, 'filename': 0x7ffcfedcba987654, 'flags': 0o100000, 'mode': 0,
            LONG + 'A': 1, LONG + 'B': 2}),
        (1_000_000_100, 0, 100, 'sys_exit_openat', {'__syscall_nr': 257, 'ret': 5}),
        (1_000_000_200, *switch[1:])]
    for name, data in (('v6.dat', linux.version6()), ('v7.dat', linux.version7(None)),
                       ('perf.data', linux.perf(None))):
        with open(name, 'wb') as file:
            file.write(data)


def main():
    folder = tempfile.mkdtemp(prefix='ktape-extra.')
    try:
        os.chdir(folder)
        write_ctf('made')
        write_linux()
        result('dump', dump, 'made')
        result('dump, with metadata in CTF 2', dump, 'made2')
        result('text', text, 'text')
        result('ftrace', text, 'ftrace')
        result('jsonl', jsonl)
        result('python', python)
        result('csv', comma_separated)
        result('html', page)
        result('parquet', parquet)
        result('chrome', chrome)
        result('perfetto', perfetto)
        result('native keeps them', native)
        result('so do formats of an RTOS', others)
        result('lttng', lttng, 'lttng')
        result('lttng with CTF 2', lttng, 'lttng:ctf=2')
        result('more fields than an event keeps', many)
        result('also in a description of the kernel', many_of_kernel)
        for trace in ('v6.dat', 'v7.dat', 'perf.data'):
            result(f'system calls of {trace}', ftrace_calls, trace)
    finally:
        os.chdir('/')
        shutil.rmtree(folder)
    print(f'1..{foreign.number}')
    return int(foreign.failed > 0)


if __name__ == '__main__':
    try:
        sys.exit(main())
    except Wrong as e:
        sys.exit(str(e))
