#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_escape.py FOLDER: names and texts of hostile traces: every control character, bytes
that are not UTF-8, characters that change the direction or the line, quotes and formulas, in
the names of events, fields, threads, objects and files, of every input, to every output.

Judges that are not ours read the output: Python's decoders of UTF-8, JSON, CSV and protobuf
strings, and babeltrace2."""
import csv
import io
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
import html_blocks  # noqa: E402
import make_events  # noqa: E402
import make_linux_traces as linux  # noqa: E402

from protobuf import members  # noqa: E402

ktape = out + '/command/ktape'
os.environ['ASAN_OPTIONS'] = 'exitcode=99'
number = failed = 0

# What a name may have: bytes, as many as a name has room for beside two letters.
CONTROLS = [bytes([c]) for c in (*range(1, 32), 127)]
HIGH = [chr(c).encode() for c in range(0x80, 0xa0)]
BROKEN = [bytes([c]) for c in (0x80, 0x9b, 0xa0, 0xbf, 0xc0, 0xc1, 0xed, 0xf0, 0xf5, 0xff)]
UNSEEN = [chr(c).encode() for c in (0x61c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b,
                                    0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff)]
SIGNS = [b'"', b"'", b'\\', b'<', b'>', b'&', b'%', b'{', b'}', b';', b' ', b'=', b',', b'$', b'`',
         b'=1', b'+1', b'-1', b'@a', b'*/', 'é'.encode()]
ROOM = 6
# What ends a name in the text that describes a trace, by the name's beginning: of classes and
# fields of CTF 1.8, and of ftrace's formats, where a text of a field is in the same file.
ENDS = {('ctf1', b'class'): (b'"', b'\\', b'\n'),
        ('ctf1', b'field'): [bytes([c]) for c in range(256) if not chr(c).isalnum() or c > 127],
        ('format', b'class'): (b'\n',),
        ('format', b'field'): (b'\n', b'\t', b';', b' ', b'=', b'{', b'}', b','),
        ('format', b'addre'): (b'\n', b'\t', b';', b' ', b'=', b'{', b'}', b',')}
ENDS['ctf1', b'addre'] = ENDS['ctf1', b'field']
ALL = CONTROLS + HIGH + BROKEN + UNSEEN + SIGNS
BAD = re.compile('[\0-\t\v-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


class Wrong(Exception):
    pass


def result(name, test, *arguments):
    """Run a test and print its line."""
    global number, failed
    number += 1
    try:
        test(*arguments)
        print(f'ok {number} {name}')
    except (Wrong, AssertionError, ValueError, KeyError, OSError, subprocess.SubprocessError) as e:
        failed += 1
        print(f'not ok {number} {name}\n# {type(e).__name__}: {str(e)[:2000]!r}')


def check(true, *why):
    if not true:
        raise Wrong(*why)


def clean(raw, what, crlf=False):
    """Text that only shows: UTF-8, and of the control characters only ends of lines."""
    text = raw.decode()
    if crlf:
        text = text.replace('\r\n', '\n')
    found = BAD.search(text)
    check(not found, what, found and text[max(found.start() - 80, 0):found.end() + 40])
    return text


def run(*arguments, status=(0,)):
    """Run the command; both its outputs must be clean unless they are for programs."""
    done = subprocess.run([ktape, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False, stdin=subprocess.DEVNULL)
    clean(done.stderr, f'standard error of {arguments}')
    check(done.returncode in status, arguments, done.returncode, done.stderr[-300:])
    return done


# ---- outputs -------------------------------------------------------------------------

def text_of(trace, form, target):
    """Convert a trace to a form and return the file's bytes."""
    if os.path.isdir(target):
        shutil.rmtree(target)
    elif os.path.exists(target):
        os.unlink(target)
    run('convert', '--to', form, '-o', target, trace, status=(0, 1))
    if os.path.isdir(target):
        return b''
    with open(target, 'rb') as file:
        return file.read()


def see_text(trace, events):
    for arguments in (('dump', '--all', trace), ('dump', '--all', '--color', 'always', trace)):
        raw = run(*arguments, status=(0, 1)).stdout
        text = clean(re.sub(rb'\x1b\[[0-9;]*m', b'', raw), arguments)
        lines = text.split('\n')[:-1]
        for line in lines:
            check(re.match(r'\[-?\d+\.\d{9}\] cpu \d+ |.* lost ', line), 'not a line', line)
        check(len([line for line in lines if line[0] == '[']) == events, len(lines), events)
    lines = clean(text_of(trace, 'text', 'o.text'), 'text').split('\n')[:-1]
    check(len(lines) == events, 'text', len(lines), events)


def see_json(trace):
    text = clean(text_of(trace, 'jsonl', 'o.jsonl'), 'jsonl')
    return [json.loads(line) for line in text.split('\n')[:-1]]


def see_lines(trace):
    """The forms of other programs: each line is one of theirs."""
    for line in clean(text_of(trace, 'ftrace', 'o.ftrace'), 'ftrace').split('\n')[:-1]:
        check(re.match(r'#| *.*-\d+ +(\(.*\) )?\[\d+\] \S+ +\d+\.\d+: \w+: |CPU:\d+ \[LOST', line),
              'ftrace', line)
    for line in clean(text_of(trace, 'traceprinter', 'o.qnx'), 'qnx').split('\n')[:-1]:
        check(re.match(r' -- | *[A-Z_]+:: |t:0x[0-9a-f]{8} CPU:\d+ [A-Z_]+ *:', line), 'qnx', line)


def see_csv(trace, events):
    raw = text_of(trace, 'csv', 'o.csv')
    text = clean(raw, 'csv', crlf=True)
    rows = list(csv.reader(io.StringIO(text), strict=True))
    check(len(rows) == events + 1 == text.count('\n'), 'csv', len(rows), events)
    for row in rows:
        check(len(row) == 7, 'csv', row)
        for cell in row:
            check(cell[:1] not in ('=', '+', '-', '@') or re.fullmatch(r'-\d+', cell), 'csv', cell)
    for row in rows[1:]:
        json.loads(row[6])


def see_chrome(trace):
    text = clean(text_of(trace, 'chrome', 'o.chrome'), 'chrome')
    for event in json.loads(text)['traceEvents']:
        check(event['ph'] in 'BEXbeCMi', event)


def babeltrace(folder):
    done = subprocess.run(['babeltrace2', folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False)
    check(done.returncode == 0, done.stderr[-600:])
    return len(re.findall(rb'^\[', done.stdout, re.M))


def see_lttng(trace, events=None):
    """As many events as ktape reads there itself, in CTF 1.8 and CTF 2."""
    text_of(trace, 'lttng', 'o.lttng')
    with open('o.lttng/metadata', 'rb') as file:
        clean(file.read().replace(b'\t', b' '), 'metadata')
    if shutil.which('babeltrace2'):
        seen = babeltrace('o.lttng')
        check(events is None or seen == events, 'babeltrace2', seen, events)
    lines = run('dump', 'o.lttng').stdout.count(b'\n')
    shutil.rmtree('o.lttng2', ignore_errors=True)
    run('convert', '--to', 'lttng:ctf=2', '-o', 'o.lttng2', trace, status=(0, 1))
    with open('o.lttng2/metadata', 'rb') as file:
        for fragment in file.read().split(b'\x1e')[1:]:
            json.loads(clean(fragment, 'metadata'))
    check(run('dump', 'o.lttng2').stdout.count(b'\n') == lines, 'CTF 2', lines)


def see_perfetto(trace):
    """Names and annotations of track events and tracks, which the page shows."""
    for _, packet in members(text_of(trace, 'perfetto', 'o.perfetto')):
        for field, message in members(packet):
            texts = []
            if field == 11:		# track_event: debug_annotations, categories, name
                for inner, part in members(message):
                    texts += [t for n, t in members(part) if n in (6, 10)] if inner == 4 else \
                        [part] if inner in (22, 23) else []
            elif field == 60:		# track_descriptor: name
                texts = [part for inner, part in members(message) if inner == 2]
            for text in texts:
                clean(text.replace(b'\n', b'\r'), f'perfetto {field}')


def see_page(trace):
    for m in html_blocks.TAG.finditer(text_of(trace, 'html', 'o.html')):
        if m[1] != b'names':
            continue
        content = html_blocks.zlib.decompress(html_blocks.base64.b64decode(m[7]), -15)
        for name in json.loads(content):
            clean(name.encode().replace(b'\n', b'\r'), 'name of the page')


def see_numbers(trace):
    """What commands print about a trace."""
    for arguments in (('stats', trace), ('verify', '--all', trace), ('diff', trace, trace)):
        clean(run(*arguments, status=(0, 1, 2)).stdout, arguments)
    for arguments in (('stats', '-j', trace), ('verify', '--json', trace)):
        text = clean(run(*arguments, status=(0, 1, 2)).stdout, arguments)
        check(not text or json.loads(text), arguments)
    run('stats', '--prom', 'o.prom', trace, status=(0, 1))
    with open('o.prom', 'rb') as file:
        clean(file.read(), 'prom')
    if os.path.exists(f'{trace}/cpu0'):
        for form in ('-l', '-j'):
            clean(run('top', form, '-k', '9', '-i', trace, status=(0, 1)).stdout, 'top')


def everything(trace, lttng_events=None):
    lines = see_json(trace)
    see_text(trace, len(lines))
    see_lines(trace)
    see_csv(trace, len(lines))
    see_chrome(trace)
    see_lttng(trace, lttng_events)
    see_perfetto(trace)
    see_page(trace)
    see_numbers(trace)
    return lines


# ---- inputs --------------------------------------------------------------------------

def write(path, data):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'wb') as file:
        file.write(data)


def pieces(chars):
    """The characters in pieces of at most ROOM bytes."""
    out = [b'']
    for char in chars:
        if len(out[-1] + char) > ROOM:
            out.append(b'')
        out[-1] += char
    return out


def widen(chars):
    """Add to the scene, for each piece, a thread, an interrupt, and an event class with a field.
    Return: {name: piece}."""
    names, time = {}, 1_000_003_000
    fields = linux.lttng_fields
    mine = {}
    for i, piece in enumerate(pieces(chars)):
        comm, irq, kind, field, word, address = (
            f'{w}{i:03d}' for w in ('thread', 'handler', 'classes', 'fieldof', 'payload', 'address'))
        names.update({n.encode(): piece for n in (comm, irq, kind, field, word, address)})
        linux.CLASSES[kind] = 400 + i
        mine[kind] = [('_number', 'int32', 'i'), ('_' + field, 'string', 'z'),
                      ('_' + address, 'xint64', 'Q')]
        linux.LAYOUTS[kind] = (1000 + i, 'strange', [
            ('int number', 4, 1, 'i'), (f'__data_loc char[] {field}', 4, 0, 'loc'),
            (f'void * {address}', 8, 0, 'Q')])
        for name, values in (
                ('sched_waking', dict(comm=comm, pid=1000 + i, prio=120, target_cpu=0)),
                ('irq_handler_entry', dict(irq=100 + i, name=irq)),
                ('irq_handler_exit', dict(irq=100 + i, ret=1)),
                (kind, {'number': -i, field: word, address: 0xffff888012345678})):
            linux.SCENE.append((time, 0, 200, name, values))
            time += 1000
    linux.SCENE.sort(key=lambda event: event[0])
    linux.lttng_fields = lambda name: mine.get(name) or fields(name)
    return names


def replaced(data, names, kind=None):
    """The data of a trace with these characters at the beginning of its names.  What ends a
    name in the text of a format is left out of it there."""
    for old, piece in names.items():
        for char in ENDS.get((kind, old[:5]), ()):
            piece = piece.replace(char, b'')
        new = (piece + old)[:len(old)]
        if kind == 'ctf2':
            new = json.dumps(new.decode('latin1'))[1:-1].encode()
        data = data.replace(old, new)
    return data


def scene(kind, names, folder):
    """Write the scene in a form, with characters in its names.  Return: its path."""
    if kind in ('trace.dat', 'perf.data'):
        whole = linux.version6() if kind == 'trace.dat' else linux.perf(False)
        write(f'{folder}/{kind}', replaced(whole, names, 'format'))
        return f'{folder}/{kind}'
    shutil.rmtree(f'{folder}/{kind}', ignore_errors=True)
    metadata = linux.ctf2() if kind == 'ctf2' else linux.ctf1()
    write(f'{folder}/{kind}/metadata', replaced(metadata, names, kind))
    for cpu in (0, 1):
        write(f'{folder}/{kind}/channel0_{cpu}', replaced(linux.lttng_stream(cpu), names))
    return f'{folder}/{kind}'


def scenes(kind, names):
    """Each character in each name."""
    text_of(scene(kind, {}, 'twin'), 'lttng', 'o.lttng')
    events = babeltrace('o.lttng') if shutil.which('babeltrace2') else None
    trace = scene(kind, names, 'hostile')
    lines = everything(trace, events)
    text = clean(run('dump', trace).stdout, 'dump')
    for char in CONTROLS + BROKEN:
        check(f'\\x{char[0]:02x}' in text, 'not in the text', char)
    check(len(lines) > 4 * len(names) / 6, len(lines))


class Hostile(make_events.Maker):
    """Every event of the table, and names of every kind of object, with these texts."""
    def text(self):
        return b''.join(self.random.choices(ALL, k=self.random.randrange(9)))


def native(folder):
    make_trace = out + '/make_trace'
    shutil.rmtree('kinds', ignore_errors=True)
    subprocess.run([make_trace, 'kinds', 'kinds'], check=True)
    shutil.rmtree(folder, ignore_errors=True)
    make_events.write(Hostile('kinds/metadata', 7), 'kinds/metadata', folder)
    return folder


def any_event():
    lines = everything(native('native'))
    seen = json.dumps(lines)
    for char in CONTROLS:
        check(json.dumps(char.decode())[1:-1] in seen, char)
    check(len(lines) > 1000, len(lines))


def through(form):
    """Another form has the names as they are, and is itself read."""
    target = f'o.{form}.in'
    if not os.path.exists('native'):
        native('native')
    text_of('native', form, target)
    check(len(everything(target)) > 0, form)


def forged(converted):
    """A user event with the id of a tracepoint counts only in a conversion."""
    text_of(scene('ctf2', {}, 'forged'), 'native', 'o.forged')
    with open('o.forged/metadata', 'rb') as file:
        text = file.read()
    check(b'converted = "yes";' in text, 'not marked')
    if not converted:
        # Of the same length, and the metadata's checksum belongs to the text before.
        write('o.forged/metadata', text.replace(b'converted', b'conv_rted'))
    lines = [line for line in see_json('o.forged') if line['event'] == 'user_event']
    check(len(lines) > 1, lines)
    check(('bytes' in lines[0]['fields']) != converted, lines)
    shown = clean(run('dump', '-e', 'user_event', 'o.forged', status=(0, 1)).stdout, 'dump')
    check(('strange_event number=-5' in shown) == converted, shown)
    text_of('o.forged', 'native', 'o.again')
    again = [line for line in see_json('o.again') if line['event'] == 'user_event']
    check(len(again) == converted * len(lines), again)


def files():
    """Names of files, in messages and in what is printed."""
    for char in CONTROLS + HIGH + BROKEN + UNSEEN:
        if char in b'/':
            continue
        name = b'a' + char + b'b'
        done = run('dump', name, status=(1,))
        check(done.stderr.count(b'\n') == 1, done.stderr)
    for name in b'\x1b[2J', b'\xc2\x9b', '\u202e\u2066'.encode():
        for arguments in (('stats', name), ('convert', '--to', name, 'x'), (name,),
                          ('dump', '-e', name, 'x'), ('dump', b'--' + name),
                          ('mark', '--device', name, 'text', 'x')):
            run(*arguments, status=(1, 2))
    trace = scene('ctf1', {}, 'file\x1b[31m\nforged')
    see_text(trace, len(see_json(trace)))
    write('meta/metadata', linux.ctf1().replace(b'trace {', b'\x1b]0;owned\x07{', 1))
    check(b'\\x1b' in run('dump', 'meta', status=(1,)).stderr, 'no message')


def main():
    folder = tempfile.mkdtemp(prefix='ktape-escape.')
    try:
        os.chdir(folder)
        names = widen(ALL)
        for kind in ('ctf1', 'ctf2', 'trace.dat', 'perf.data'):
            result(f'{kind}: each character in each name', scenes, kind, names)
        result('native: every event and object, with any texts', any_event)
        for form in ('native', 'lttng', 'tband', 'rkh', 'tracex'):
            result(f'{form}: names that went through it', through, form)
        result('a conversion keeps the events of tracepoints', forged, True)
        result('a recording has none: their ids are forged', forged, False)
        result('names of files, and of what the command line has', files)
    finally:
        shutil.rmtree(folder)
    print(f'1..{number}')
    return bool(failed)


if __name__ == '__main__':
    print('TAP version 13')
    sys.exit(main())
