# SPDX-License-Identifier: GPL-2.0-only
"""Write a trace.dat of the events that ftrace itself records, and the texts that they have.

usage: make_ftrace_own.py FILE [RELEASE] >TEXTS

Version 6, one CPU: print, bprint with each kind of argument, bputs, kernel_stack with fewer
and more frames than its layout has, user_stack, raw_data, and a tracepoint with arrays.
Arguments of bprint are packed as vbin_printf() of lib/vsprintf.c does, with a RELEASE as that
of Linux 6.14, where numbers are at least an int. TEXTS has a line for
each event: its fields as ktape dump has to show them.
"""
import struct
import sys

import make_linux_traces as linux

RELEASE = sys.argv[2] if len(sys.argv) > 2 and __name__ == '__main__' else ''
IP, FORMATS = 0xffffffff81001004, 0xffffffff82000000
FUNCTION = 0xffffffff81001000		# some_function of KALLSYMS

LAYOUTS = {
    'print': (5, ['unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;',
                  'char buf[];\toffset:16;\tsize:0;\tsigned:0;'],
              '"%ps: %s", (void *)REC->ip, REC->buf'),
    'bprint': (6, ['unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;',
                   'const char * fmt;\toffset:16;\tsize:8;\tsigned:0;',
                   'u32 buf[];\toffset:24;\tsize:0;\tsigned:0;'],
               '"%ps: %s", (void *)REC->ip, REC->fmt'),
    'bputs': (15, ['unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;',
                   'const char * str;\toffset:16;\tsize:8;\tsigned:0;'],
              '"%ps: %s", (void *)REC->ip, REC->str'),
    'kernel_stack': (4, ['int size;\toffset:8;\tsize:4;\tsigned:1;',
                         'unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;'],
                     '"\\t=> %ps\\n", (void *)REC->caller[0]'),
    'user_stack': (13, ['unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;',
                        'unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;'],
                   '"\\t=> %ps\\n", (void *)REC->caller[0]'),
    'raw_data': (19, ['unsigned int id;\toffset:8;\tsize:4;\tsigned:0;',
                      'char buf[];\toffset:12;\tsize:0;\tsigned:0;'],
                 '"id:%04x %08x", REC->id, (int)REC->buf[0]'),
}
ARRAYS = (901, ['__u32 four[2];\toffset:8;\tsize:8;\tsigned:0;',
                'short two[2];\toffset:16;\tsize:4;\tsigned:1;',
                'u8 one[4];\toffset:20;\tsize:4;\tsigned:0;',
                '__data_loc unsigned long[] words;\toffset:24;\tsize:4;\tsigned:0;',
                '__rel_loc u8[] bytes;\toffset:28;\tsize:4;\tsigned:0;'], '"nothing"')

# format, arguments as (struct code, value); what is to be shown
TEXTS = [
    ('plain\\n', [], 'plain'),
    ('%d %u %i\\n', [('i', -5), ('I', 4000000000), ('i', 7)], '-5 4000000000 7'),
    ('%x %X %#x %08x|%6d\\n',
     [('I', 0xbeef), ('I', 0xbeef), ('I', 16), ('I', 0xabc), ('i', 42)],
     'beef BEEF 0x10 00000abc|    42'),
    ('%lx %llx %ld %llu\\n',
     [('Q', 0x123456789ab), ('Q', 1 << 63), ('q', -1), ('Q', (1 << 64) - 1)],
     '123456789ab 8000000000000000 -1 18446744073709551615'),
    ('%d then %lld\\n', [('i', 1), ('q', -(1 << 40))], '1 then -1099511627776'),
    ('<%s> <%10s> %d\\n', [('s', 'ab'), ('s', 'right'), ('i', 9)], '<ab> <     right> 9'),
    ('%ps %pS\\n', [('Q', FUNCTION), ('Q', FUNCTION)],
     'some_function some_function+0x0'),
    ('%p 100%%\\n', [('Q', 0xffff888012345678)], '0xffff888012345678 100%'),
    ('<%.400s>\\n', [('s', 'x' * 450)], '<' + 'x' * 400 + '>'),
    ('<%.*s>\\n', [('i', 500), ('s', 'y' * 500)], '<' + 'y' * 500 + '>'),
    ('tab\\t\\"quoted\\"\\n', [], 'tab\\u0009\\"quoted\\"'),
]
# What trace-cmd 3.1.6 does not print.
OWN = [('%-6d|%+d\\n', [('i', 42), ('i', 42)], '42    |+42'),
       ('<%-5s>%.2s|%*d\\n', [('s', 'l'), ('s', 'cut'), ('i', 5), ('i', 3)], '<l    >cu|    3'),
       ('%hd %hu %hd %d\\n', [('h', -2), ('H', 65535), ('h', 3), ('i', 4)], '-2 65535 3 4'),
       ('%hx %hd\\n', [('h', -2), ('h', -3)], 'fffe -3'),
       ('%pS\\n', [('Q', FUNCTION + 0x10)], 'some_function+0x10'),
       ('%hhu %hhd %hhd\\n', [('B', 200), ('b', -7), ('b', 5)], '200 -7 5'),
       ('%c%c\\n', [('C', ord('o')), ('C', ord('k'))], 'ok'),
       ('%pI4 %d\\n', [('s', '10.0.0.1'), ('i', 8)], '10.0.0.1 8'),
       ('%5000d\\n', [('i', 1)], ' ' * 4999 + '1'),
       ('%s|%s\\n', [('s', 'q' * 900), ('s', 'z' * 1200)], 'q' * 900 + '|' + 'z' * 1200),
       # Not all arguments, and more characters than a text may have.
       ('a %d b %d c %% %s', [('i', 1)], 'a 1 b %d c %% %s'),
       ('%9000d' * 9, [('i', 1)] * 9, (' ' * 8191 + '1') * 7 + ' ' * 8191)]


def layout(name, number, fields, text):
    return (f'name: {name}\nID: {number}\nformat:\n' + linux.COMMON +
            ''.join(f'\tfield:{f}\n' for f in fields) + f'\nprint fmt: {text}\n')


def pack(args):
    """As vbin_printf(): numbers of 64 bits are aligned as those of 32 bits are."""
    out = b''
    for code, v in args:
        if code == 's':
            out += v.encode() + b'\0'
            continue
        if RELEASE and code in 'hHbB':
            code = 'i'
        code = 'B' if code == 'C' else code	# %c is a byte in each release
        size = struct.calcsize(code)
        out += bytes(-len(out) % min(size, 4)) + struct.pack('<' + code, v)
    return out


def event(number, data):
    data = struct.pack('<HBBi', number, 0, 0, 100) + data
    return data + bytes(-len(data) % 4)


def events():
    """(record, what is shown)"""
    yield event(5, struct.pack('<Q', IP) + b'marker one\n\0'), f'print ip={IP:#x} buf="marker one"'
    yield event(5, struct.pack('<Q', IP) + b'B|1|work'), f'print ip={IP:#x} buf="B|1|work"'
    for i, (_, args, text) in enumerate(TEXTS + OWN):
        yield (event(6, struct.pack('<QQ', IP, FORMATS + i * 64) + pack(args)),
               f'bprint ip={IP:#x} buf="{text}"')
    yield event(6, struct.pack('<QQI', IP, 0x1234, 5)), \
        f'bprint ip={IP:#x} buf="(no format at 0x1234)"'
    yield event(15, struct.pack('<QQ', IP, FORMATS)), f'bputs ip={IP:#x} str="plain"'
    for nr in (2, 12, 200):
        frames = [FUNCTION + 16 * i for i in range(nr)]
        names = ', '.join(['some_function'] * nr)
        yield (event(4, struct.pack('<iI', nr, 0) + struct.pack(f'<{nr}Q', *frames)),
               f'kernel_stack size={nr} caller=[{", ".join(hex(f) for f in frames)}] '
               f'functions="{names}"')
    yield (event(13, struct.pack('<II8Q', 77, 0, 0x401000, 0x401100, 0, 0, 0, 0, 0, 0)),
           'user_stack tgid=77 caller=[0x401000, 0x401100]')
    yield event(19, struct.pack('<I', 9) + b'\1\2\3\4\5\6\7\10'), 'raw_data id=9 buf=0102030405060708'
    tail = struct.pack('<2Q', 3, 1 << 40) + b'\xaa\xbb'
    yield (event(901, struct.pack('<IIhh4BII', 1, 4000000000, -1, 2, 1, 2, 254, 255,
                                  32 | 16 << 16, 16 | 2 << 16) + tail),
           'arrays four=[1, 4000000000] two=[-1, 2] one=0102feff words=[3, 1099511627776] '
           'bytes=aabb')


def pages(records):
    out, data, first = [], b'', 0
    for i, record in enumerate(records):
        head = struct.pack('<II', 1000 << 5, len(record) + 4) if len(record) > 112 else \
            struct.pack('<I', len(record) // 4 | 1000 << 5)
        if len(data) + len(head) + len(record) > 4000:
            out.append((first, data))
            data, first = b'', i * 1000
        data += head + record
    out.append((first, data))
    return b''.join((struct.pack('<QQ', 10**9 + first, len(d)) + d).ljust(4096, b'\0')
                    for first, d in out)


def main():
    shown = list(events())
    formats = ''.join(f'{FORMATS + i * 64:#x} : "{text}"\n'
                      for i, (text, _, _) in enumerate(TEXTS + OWN))
    head = linux.MAGIC + b'6\0' + struct.pack('<BBI', 0, 8, 4096) + linux.header_info()
    head += struct.pack('<I', len(LAYOUTS))
    head += b''.join(linux.part64(layout(name, *rest)) for name, rest in LAYOUTS.items())
    head += struct.pack('<I', 1) + b'strange\0' + struct.pack('<I', 1)
    head += linux.part64(layout('arrays', *ARRAYS)) + linux.kallsyms()
    head += struct.pack('<I', len(formats)) + formats.encode() + linux.cmdlines()
    head += struct.pack('<I', 1) + b'options  \0' + linux.option(4, b'[local] global\0')
    if RELEASE:
        head += linux.option(5, f'Linux box {RELEASE} #1 SMP x86_64\0'.encode())
    head += struct.pack('<H', 0) + b'flyrecord\0'
    begin = (len(head) + 16 + 4095) // 4096 * 4096
    data = pages([record for record, _ in shown])
    head += struct.pack('<QQ', begin, len(data))
    with open(sys.argv[1], 'wb') as f:
        f.write(head.ljust(begin, b'\0') + data)
    for _, text in shown:
        print(text)


if __name__ == '__main__':
    main()
