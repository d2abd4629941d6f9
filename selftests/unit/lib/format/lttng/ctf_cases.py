# SPDX-License-Identifier: GPL-2.0-only
"""Write CTF traces whose metadata are hard to read: what lengths and tags refer to, names,
clocks.

usage: ctf_cases.py FOLDER

Each case is a folder of a CTF 1.8 trace; FOLDER/bad has those that are to be refused,
FOLDER/words what babeltrace2 cannot read, and FOLDER/ctf2 some of the cases with metadata in
CTF 2.
"""
import json
import os
import struct
import sys

MAGIC = 0xc1fc1fc1
TYPES = ''.join(f'typealias integer {{ size = {n}; align = 8; signed = false; }} := u{n};\n' for n in (8, 16, 32, 64)) + \
    ''.join(f'typealias integer {{ size = {n}; align = 8; signed = true; }} := s{n};\n' for n in (8, 64))
CLOCK = 'clock { name = c; freq = 1000000000; };\n'
HEADER = 'u8 id; integer { size = 64; align = 8; map = clock.c.value; } timestamp;'
LONG = 'n' * 100
LONGEST = 4096   # bytes of a name of a field that is kept whole


def write(folder, metadata, stream):
    os.makedirs(folder)
    with open(f'{folder}/metadata', 'w', encoding='utf-8') as f:
        f.write(metadata)
    with open(f'{folder}/stream', 'wb') as f:
        f.write(stream)


def case(folder, fields, *payloads, context='', own='', clock=CLOCK, header=HEADER, types='', packet='', head=b'',
         events=None):
    text = '/* CTF 1.8 */\n' + TYPES + types
    text += 'trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };\n' + clock
    text += f'stream {{ event.header := struct {{ {header} }};\n'
    text += f'packet.context := struct {{ {packet} }};\n' if packet else ''
    text += f'event.context := struct {{ {context} }};\n' if context else ''
    text += '};\n'
    for i, (name, these) in enumerate(events or [('e', fields)]):
        text += f'event {{ name = "{name}"; id = {i};\n'
        text += f'context := struct {{ {own} }};\n' if own else ''
        these = these[1:] if these.startswith('=') else f'struct {{ {these} }}'
        text += f'fields := {these}; }};\n'
    stream = struct.pack('<I', MAGIC) + head
    for i, payload in enumerate(payloads):
        number = i % len(events) if events else 0
        stream += struct.pack('<BQ', number, 1000 * (i + 1)) + payload
    write(folder, text, stream)


def references(top):
    two = b'\2\1\xaa\xbb\x55'
    case(f'{top}/same-name', 'struct { u8 len; } a; struct { u8 len; } b; u8 s[a.len]; u8 end;', two)
    shared = 'struct inner { u8 len; }; struct shared { struct inner in; };\n'
    case(f'{top}/shared', 'struct shared a; struct shared b; u8 s[a.in.len]; u8 end;', two, types=shared)
    case(f'{top}/both', 'struct shared a; struct shared b; u8 s[a.in.len]; u8 t[b.in.len]; u8 end;',
         b'\2\1\xaa\xbb\xcc\x55', types=shared)
    case(f'{top}/outwards', 'u8 len; struct { u8 other; struct { u8 s[len]; } in; } a; u8 end;', two)
    case(f'{top}/inner-first', 'u8 len; struct { u8 len; struct { u8 s[len]; } in; } a; u8 end;', b'\1\2\xaa\xbb\x55')
    case(f'{top}/last-before', 'struct { u8 n; } a; u8 len; struct { struct { u8 len; } x; u8 s[len]; } b; u8 end;',
         b'\7\2\1\xaa\xbb\x55')
    pair = 'struct pair { u8 n; u8 s[n]; };\n'
    case(f'{top}/pairs', 'struct pair a; struct pair b; u8 s[a.n]; struct pair c[2]; u8 end;',
         b'\1\xaa\2\xbb\xcc\xdd\1\xee\2\xff\x99\x55', types=pair)
    # One structure at places where its length is another field.
    case(f'{top}/lent', '', b'\2\1\xaa\xbb\x55', b'\1\2\xaa\xbb\x55', types='struct lent { u8 s[len]; };\n',
         events=[('one', 'u8 len; u8 x; struct lent a; u8 end;'),
                 ('two', 'u8 x; u8 len; struct lent a; u8 end;')])
    case(f'{top}/payloads', '', b'\2\xaa\xbb', b'\1\xcc', b'\2\1\xdd', types=pair,
         events=[('one', '=struct pair'), ('two', '=struct pair'), ('three', 'struct { u8 x; } a; struct pair b;')])
    many = ' '.join(f'u8 n{i}; u8 d{i}[n{i % 7}];' for i in range(40))
    case(f'{top}/index', f'u8 x; {many} u8 e[n5]; u8 end;',
         b'\0' + b''.join(bytes([i % 3]) + bytes(i % 7 % 3) for i in range(40)) + b'ab\x55')
    case(f'{top}/context', 'u8 len; u8 s[stream.event.context.len]; u8 end;', two, context='u8 len;')
    case(f'{top}/own-context', 'u8 len; u8 s[event.context.len]; u8 end;', b'\1\2\3\xaa\xbb\x55', context='u8 len;',
         own='u8 len;')
    case(f'{top}/payload', 'u8 len; struct { u8 len; u8 s[event.fields.len]; } a; u8 end;', b'\2' + two, own='u8 len;')
    case(f'{top}/header', 'u8 s[stream.event.header.len]; u8 end;', b'\2\xaa\xbb\x55', header=HEADER + ' u8 len;')
    case(f'{top}/packet', 'u8 len; u8 s[stream.packet.context.len]; u8 end;', b'\1\xaa\xbb\x55', b'\3\xcc\xdd\x66',
         packet='u8 len;', head=b'\2')
    many = ' '.join(f'u8 a{i};' for i in range(70))
    case(f'{top}/far', f'u8 len; {many} u8 s[len]; u8 end;', *[b'\3' + bytes(70) + b'\1\2\3\x55'] * 2)
    many = ' '.join(f'u8 n{i};' for i in range(300)) + ' ' + ' '.join(f'u8 d{i}[n{i}];' for i in range(300))
    case(f'{top}/many', many, bytes(i % 3 for i in range(300)) + bytes(range(250)) + bytes(50))
    tag = 'enum : u8 { A = 0, B = 1 } t;'
    # babeltrace2 2.0 has no tags of several words.
    case(f'{top}/words/tags', f'struct {{ {tag} }} a; struct {{ {tag} }} b; variant <a.t> {{ u8 A; u16 B; }} v; u8 end;',
         b'\1\0\2\3\x55', b'\0\1\2\x55')
    choice = 'variant choice { u8 A; u16 B; };\n'
    case(f'{top}/choice', f'{tag} enum : u8 {{ A = 1, B = 0 }} w; variant choice <t> v; variant choice <w> x; u8 end;',
         b'\1\1\2\3\4\x55', b'\0\0\2\3\4\x55', types=choice)


def values(top):
    case(f'{top}/enum64', 'enum : u64 { a = 0 ... 255, b = 256 ... 18446744073709551615 } t; '
         'variant <t> { u8 a; u16 b; } v;', *[struct.pack('<QH', n, 7) for n in (300, 1 << 63, (1 << 64) - 1)])
    case(f'{top}/signs', 'enum : s64 { a = -9223372036854775808 ... -1, b = 0 ... 9223372036854775807 } t; '
         'variant <t> { u8 a; u16 b; } v;', struct.pack('<qB', -7, 7), struct.pack('<qH', 7, 7))
    case(f'{top}/gaps', 'enum : s8 { a = -3, b = 9, a = 1, b = 4 ... 6 } t; variant <t> { u8 a; u16 b; } v;',
         b'\xfd\1', b'\1\2', b'\5\3\0', b'\x09\4\0')
    many = ', '.join(f'L{i} = {i}' for i in range(5000))
    case(f'{top}/labels', f'enum : u16 {{ ANY = 0 ... 60000, {many} }} x;', *[struct.pack('<H', n) for n in (0, 4999, 5000, 60001)])
    many = ', '.join(f'L{i} = {i} ... 100' for i in range(66))
    case(f'{top}/words/many-labels', f'enum : u8 {{ {many} }} x;', bytes([63]), bytes([100]))
    texts = [r'A\x1b[31mred\n', r'n\nt\tr\ra\ab\bf\fv\v', r'o\101\1019', r'o\1x', r'x\x4g', r'x\x41F', r'x\x4142', r'o\541',
             r'q\"\'\?', r'b\\n', r'n\0x', r'n\08']
    many = ', '.join(f'"{text}" = {i}' for i, text in enumerate(texts))
    case(f'{top}/escapes', f'enum : u8 {{ {many} }} x;', *[bytes([i]) for i in range(len(texts))])
    case(f'{top}/words/escapes', r'enum : u8 { "A\x1b[31mred\n\e" = 0 } x;', bytes([0]))
    case(f'{top}/odd-array', 'u8 x; u8 y;', bytes([0, 1, 2, 3, 0, 4, 5, 6, 0x77, 0x88]),
         context='integer { size = 24; align = 16; } a[2];')


def names(top):
    # Lengths around those of arrays that have held names; each two differ in the last byte only.
    lengths = 94, 95, 96, 127, 128, 255, 256, 1000, LONGEST - 1, LONGEST
    many = ' '.join(f'u8 {"f" * (n - 1)}{last};' for n in lengths for last in 'AB')
    inner, tag, v = (c * n for c, n in (('i', 2000), ('t', 500), ('v', 3000)))
    case(f'{top}/long-fields', '', bytes(range(20)), b'\7\1\2\3', b'\1\2\3\0\7', bytes(range(100, 120)), b'\1\2\3\4',
         b'\0\1\1\0\5', events=[
             ('e', many), ('nested', f'u8 x; struct {{ u8 {inner}A; u8 {inner}B; }} {inner}; u8 y;'),
             ('choice', f'enum : u8 {{ {LONG}A = 1, {LONG}B = 0 }} {tag}; variant <{tag}> {{ u16 {LONG}A; u16 {LONG}B; }} {v}; u8 x; u8 y;'),
         ])
    body = f'u8 {LONG}A; u8 {LONG}B; u8 s[{LONG}A]; u8 end;'
    case(f'{top}/fields', body, b'\2\1\xaa\xbb\x55')
    body = body.replace(LONG, 'n' * LONGEST)
    long = 'x' * 4000
    case(f'{top}/long-names', '', b'\1', b'\2\1\xaa\xbb\x55',
         events=[(f'{long}A', 'u8 x;'), (f'{long}B', 'u8 a; u8 n; u8 s[a]; u8 end;')])
    case(f'{top}/words/cut', body, b'\2\1\xaa\xbb\x55')
    case(f'{top}/long-labels', f'enum : u8 {{ {LONG}A = 0, {LONG}B = 1 }} t; variant <t> {{ u8 {LONG}A; u16 {LONG}B; }} v; u8 end;',
         b'\1\5\0\x55')
    types = f'typealias u8 := {LONG}A;\ntypealias u16 := {LONG}B;\nstruct {LONG}A {{ u8 x; }};\nstruct {LONG}B {{ u16 x; }};\n'
    case(f'{top}/long-types', f'{LONG}A a; struct {LONG}A b; u8 end;', b'\1\2\x55', types=types)
    case(f'{top}/scope', 'struct { typealias u16 := u8; u8 in; } a; u8 x; u8 y;', b'\1\0\2\3')
    case(f'{top}/scope-struct', 'struct { struct p { u16 a; } in; } a; struct p x; u8 y;', b'\1\0\2\3',
         types='struct p { u8 a; };\n')
    slow = 'clock { name = d; freq = 1000000; offset_s = 5; };\n'
    case(f'{top}/clocks', 'u8 x;', b'\1', b'\2', clock=CLOCK + slow)
    case(f'{top}/clocks-first', 'u8 x;', b'\1', b'\2', clock=slow + CLOCK)


def two_clocks(folder, one, two, freq=1000000):
    """Two streams, each with a clock of its own."""
    text = '/* CTF 1.8 */\n' + TYPES
    text += 'trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };\n'
    text += f'clock {{ name = a; {one} freq = 1000000000; offset_s = 1600000000; }};\n'
    text += f'clock {{ name = b; {two} freq = {freq}; offset_s = 1599999999; offset = {freq + 1}; }};\n'
    for number, clock in enumerate('ab'):
        time = f'integer {{ size = 64; align = 8; map = clock.{clock}.value; }}'
        text += f'stream {{ id = {number}; packet.context := struct {{ {time} timestamp_begin; {time} timestamp_end; u32 cpu_id; }};\n'
        text += f'event.header := struct {{ {time} timestamp; }}; }};\n'
        text += f'event {{ stream_id = {number}; name = "of-{clock}"; fields := struct {{ u8 x; }}; }};\n'
    for number, times in enumerate(((100, 1000, 70000, 3000000), (50, 60, 700, 800))):
        stream = struct.pack('<IIQQI', MAGIC, number, times[0], times[-1], number)
        stream += b''.join(struct.pack('<QB', t, t & 0xff) for t in times)
        if number:
            with open(f'{folder}/stream1', 'wb') as f:
                f.write(stream)
        else:
            write(folder, text, stream)


def clocks(top):
    uuids = [f'uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a56{n}";' for n in range(2)]
    absolute = 'absolute = TRUE;'
    two_clocks(f'{top}/two-plain', '', '')
    two_clocks(f'{top}/two-odd', '', '', 32768)
    two_clocks(f'{top}/two-fast', '', '', 3579545000)
    two_clocks(f'{top}/two-absolute', absolute + uuids[0], absolute + uuids[1])
    two_clocks(f'{top}/two-same', uuids[0], uuids[0])
    two_clocks(f'{top}/bad/two-mixed', absolute, '')
    two_clocks(f'{top}/bad/two-uuids', uuids[0], uuids[1])
    two_clocks(f'{top}/bad/two-one', uuids[0], '')


def bad(top):
    case(f'{top}/no-length', 'u8 s[len]; u8 len;', b'\1\1')
    case(f'{top}/no-path', 'struct { u8 n; } a; u8 s[a.len];', b'\1\1')
    case(f'{top}/no-number', 'string n; u8 s[n];', b'\0')
    case(f'{top}/no-tag', 'variant { u8 a; } v;', b'\0')
    case(f'{top}/no-context', 'u8 len; u8 s[stream.event.context.len];', b'\1\1')
    case(f'{top}/two-clocks', 'u8 x;', b'\1', header=HEADER + ' integer { size = 8; map = clock.d.value; } y;',
         clock=CLOCK + 'clock { name = d; freq = 7; };\n')


def number(size, role=None, **more):
    return {'type': 'fixed-length-unsigned-integer', 'length': size, 'alignment': 8, 'byte-order': 'little-endian',
            **({'roles': [role]} if role else {}), **more}


def record(**members):
    return {'type': 'structure', 'member-classes': [{'name': n, 'field-class': t} for n, t in members.items()]}


def length(*path, **origin):
    return {'type': 'dynamic-length-array', 'element-field-class': number(8),
            'length-field-location': {'path': list(path), **origin}}


def ctf2(top, name, fields, **more):
    parts = [{'type': 'preamble', 'version': 2},
             {'type': 'trace-class', 'packet-header-field-class': record(magic=number(32, 'packet-magic-number'))},
             {'type': 'clock-class', 'id': 'd', 'frequency': 1000000},
             {'type': 'clock-class', 'id': 'c', 'frequency': 1000000000},
             {'type': 'clock-class', 'id': 'e', 'frequency': 1000},
             {'type': 'data-stream-class', 'default-clock-class-id': 'c', 'event-record-header-field-class':
              record(id=number(8, 'event-record-class-id'), timestamp=number(64, 'default-clock-timestamp')), **more},
             {'type': 'event-record-class', 'id': 0, 'name': 'e', 'payload-field-class': fields}]
    with open(f'{top}/{name}/stream', 'rb') as f:
        stream = f.read()
    write(f'{top}/ctf2/{name}', ''.join('\x1e' + json.dumps(p) + '\n' for p in parts), stream)


def all_ctf2(top):
    n = number(8)
    ctf2(top, 'same-name', record(a=record(len=n), b=record(len=n), s=length('a', 'len'), end=n))
    ctf2(top, 'inner-first', record(len=n, a=record(len=n, **{'in': record(s=length(None, 'len'))}), end=n))
    ctf2(top, 'outwards', record(len=n, a=record(other=n, **{'in': record(s=length(None, None, 'len'))}), end=n))
    ctf2(top, 'context', record(len=n, s=length('len', origin='event-record-common-context'), end=n),
         **{'event-record-common-context-field-class': record(len=n)})
    ctf2(top, 'clocks', record(x=n))


if __name__ == '__main__':
    where = sys.argv[1]
    references(where)
    values(where)
    names(where)
    bad(f'{where}/bad')
    clocks(where)
    all_ctf2(where)
