# SPDX-License-Identifier: GPL-2.0-only
"""Write CTF traces with fields of every kind, as no tracer makes them.

usage: make_ctf.py FOLDER

    le, be	CTF 1.8 in each byte order; be's metadata are in packets
    le2, be2	the same events with metadata in CTF 2
    bits	an event with four arrays of one-bit numbers, which do not fit in one event
    large	four traces with 1000 events of one large structure
    many	metadata with so many events that they need more than 1 GiB

The metadata and the bytes come from one tree of types for each event. Values are random,
the same in every run.
"""
import json
import os
import random
import struct
import sys

START, STEP, COUNT = 5_000_000_000, 1_000, 60


class Bits:
    """Bits of a packet: little-endian from the lowest one on, big-endian from the highest."""

    def __init__(self, big):
        self.big, self.text = big, []

    def align(self, bits):
        while len(self.text) % bits:
            self.text.append(0)

    def put(self, value, size, big):
        order = range(size - 1, -1, -1) if big else range(size)
        self.text += [value >> i & 1 for i in order]

    def data(self):
        self.align(8)
        out = bytearray()
        for i in range(0, len(self.text), 8):
            byte = self.text[i:i + 8] if self.big else self.text[i:i + 8][::-1]
            out.append(int(''.join(map(str, byte)), 2))
        return bytes(out)


class Number:
    def __init__(self, size, signed=False, align=None, base=10, text=False, order=None, clock=False,
                 labels=None, beside=False):
        self.size, self.signed, self.base, self.text = size, signed, base, text
        self.align = align or (8 if size % 8 == 0 else 1)
        self.order, self.clock, self.labels = order, clock, labels
        self.beside = beside   # has values without a label, too

    def tsdl(self, name):
        text = f'integer {{ size = {self.size}; align = {self.align}; signed = {str(self.signed).lower()}; base = {self.base};'
        text += ' encoding = UTF8;' if self.text else ''
        text += f' byte_order = {self.order};' if self.order else ''
        text += ' map = clock.c.value;' if self.clock else ''
        text += ' }'
        if self.labels:
            items = ', '.join(f'{json.dumps(n)} = {a} ... {b}' if a != b else f'{n} = {a}'
                              for n, (a, b) in self.labels.items())
            text = f'enum : {text} {{ {items} }}'
        return f'{text} {name}'

    def json(self, big):
        kind = 'signed' if self.signed else 'unsigned'
        out = {'type': f'fixed-length-{kind}-integer', 'length': self.size, 'alignment': self.align,
               'byte-order': 'big-endian' if self.is_big(big) else 'little-endian',
               'preferred-display-base': self.base}
        if self.labels:
            if big:   # the name that drafts have
                out['type'] = f'fixed-length-{kind}-enumeration'
            out['mappings'] = {n: [[a, b]] for n, (a, b) in self.labels.items()}
        return out

    def is_big(self, big):
        return {'be': True, 'le': False, None: big}[self.order]

    def random(self, r):
        if self.labels:
            a, b = r.choice(list(self.labels.values()))
            return r.randint(a, b) + self.beside * r.randint(0, 2)
        if self.text:
            return ord(r.choice('abcXYZ "\\\n'))
        low = -(1 << self.size - 1) if self.signed else 0
        high = low + (1 << self.size) - 1
        return r.choice((low, high, 0, r.randint(low, high), r.randint(low, high)))

    def put(self, bits, value):
        value &= (1 << self.size) - 1
        if self.is_big(bits.big) != bits.big:
            value = int.from_bytes(value.to_bytes(self.size // 8, 'big'), 'little')
        bits.align(self.align)
        bits.put(value, self.size, bits.big)


class Float(Number):
    digits = {32: (8, 24), 64: (11, 53)}

    def tsdl(self, name):
        exponent, mantissa = self.digits[self.size]
        return f'floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; align = {self.align}; }} {name}'

    def json(self, big):
        return {'type': 'fixed-length-floating-point-number', 'length': self.size,
                'alignment': self.align, 'byte-order': 'big-endian' if big else 'little-endian'}

    def random(self, r):
        return r.choice((0.0, -1.5, 3.25, 1e20, r.uniform(-1000, 1000), float('inf')))

    def put(self, bits, value):
        data = struct.pack('>f' if self.size == 32 else '>d', value)
        bits.align(self.align)
        bits.put(int.from_bytes(data, 'big'), self.size, bits.big)


class Text:
    align = 8

    def tsdl(self, name):
        return f'string {name}'

    def json(self, big):
        return {'type': 'null-terminated-string'}

    def random(self, r):
        # Not empty: babeltrace2 2.0 prints the last text of the field then.
        return r.choice(('word', 'a "b" \\ \n\t', 'é', 'x' * r.randint(1, 9000)))

    def put(self, bits, value):
        bits.align(8)
        for byte in value.encode() + b'\0':
            bits.put(byte, 8, bits.big)


class Array:
    """Of a fixed number of elements, or of as many as the field named @count says."""

    def __init__(self, element, count):
        self.element, self.count, self.align = element, count, element.align

    def tsdl(self, name):
        count = f'_{self.count}' if isinstance(self.count, str) else self.count
        # The first bracket is the outermost one: an array of arrays is "x[2][3]".
        if isinstance(self.element, Array):
            return self.element.tsdl(f'{name}[{count}]')
        return self.element.tsdl(f'{name}[{count}]')

    def json(self, big):
        fixed = not isinstance(self.count, str)
        size = {'length': self.count} if fixed else \
            {'length-field-location': {'path': [f'{self.count}']}}
        kind = 'static' if fixed else 'dynamic'
        if getattr(self.element, 'text', False):
            return {'type': f'{kind}-length-string', **size}
        return {'type': f'{kind}-length-array', 'element-field-class': self.element.json(big), **size}

    def random(self, r, count=None):
        return [self.element.random(r) for _ in range(self.count if count is None else count)]

    def put(self, bits, value):
        bits.align(self.align)
        for v in value:
            self.element.put(bits, v)


class Struct:
    def __init__(self, align=1, **members):
        self.members = members
        self.align = max([align] + [m.align for m in members.values() if not isinstance(m, Variant)])

    def tsdl(self, name):
        inner = ' '.join(f'{m.tsdl("_" + n)};' for n, m in self.members.items())
        return f'struct {{ {inner} }} align({self.align}) {name}'

    def json(self, big):
        return {'type': 'structure', 'minimum-alignment': self.align,
                'member-classes': [{'name': n, 'field-class': m.json(big)} for n, m in self.members.items()]}

    def random(self, r):
        values = {}
        for name, m in self.members.items():
            if isinstance(m, Array) and isinstance(m.count, str):
                values[name] = m.random(r, values[m.count])
            elif isinstance(m, Variant):
                values[name] = m.random(r, self.members[m.tag], values[m.tag])
            else:
                values[name] = m.random(r)
        return values

    def put(self, bits, value):
        bits.align(self.align)
        for name, m in self.members.items():
            m.put(bits, value[name])


class Length(Number):
    """The number of elements of a sequence that follows it."""

    def random(self, r):
        return r.choice((0, 1, 3, r.randint(0, 7)))


class Size(Length):
    def random(self, r):
        return r.randint(1, 7)


class Empty(Text):
    def random(self, r):
        return ''


class Variant:
    align = 1

    def __init__(self, tag, **options):
        self.tag, self.options = tag, options

    def tsdl(self, name):
        inner = ' '.join(f'{m.tsdl(n)};' for n, m in self.options.items())
        return f'variant <_{self.tag}> {{ {inner} }} {name}'

    def json(self, big):
        labels = self.labels
        return {'type': 'variant', 'selector-field-location': {'path': [self.tag]},
                'options': [{'name': n, 'field-class': m.json(big), 'selector-field-ranges': [list(labels[n])]}
                            for n, m in self.options.items()]}

    def random(self, r, tag, value):
        name = next(n for n, (a, b) in tag.labels.items() if a <= value <= b)
        return self.options[name], self.options[name].random(r)

    def put(self, bits, value):
        value[0].put(bits, value[1])


STATES = {'RUNNING': (1, 1), '"odd" name': (-7, -3), 'some': (0, 9), 'TASK_DEAD': (4, 4)}
WIDE = {'low': (0, 3), 'all': (0, (1 << 64) - 3), 'high': (1 << 63, (1 << 64) - 3)}
LABELS = {'A': (0, 0), 'B': (1, 3), 'C': (4, 4), 'D': (5, 5)}
CHOICE = Variant('tag', A=Number(32), B=Number(16, True), C=Struct(x=Number(8), y=Text()), D=Text())
CHOICE.labels = LABELS
U8, CHAR = Number(8), Number(8, True, text=True)
POINT = Struct(x=Number(16, True), name=Text())
EVENTS = {
    'numbers': Struct(b1=Number(1), b3=Number(3, True), b5=Number(5), u8=U8, s8=Number(8, True),
                      u13=Number(13), s16=Number(16, True), u32=Number(32), s32=Number(32, True, 32),
                      u64=Number(64, align=64), s64=Number(64, True), hex=Number(32, base=16),
                      shex=Number(16, True, base=16), oct=Number(16, base=8),
                      little=Number(32, order='le'), great=Number(32, True, order='be')),
    'floats': Struct(f=Float(32), d=Float(64), pad=Number(3), far=Float(64, align=64)),
    'texts': Struct(s=Text(), fixed=Array(CHAR, 6), n=Size(8), some=Array(CHAR, 'n'), last=Text(),
                    empty=Empty()),
    'arrays': Struct(a=Array(Number(32, True), 3), n=Length(16), s=Array(Number(16), 'n'),
                     odd=Array(Number(5), 4), bytes=Array(U8, 4), s8s=Array(Number(8, True), 3), f=Array(Float(32), 2),
                     h=Array(Number(32, base=16), 2), grid=Array(Array(Number(16), 3), 2),
                     none=Array(Number(32), 0)),
    'nested': Struct(p=Struct(x=U8, q=Struct(y=Number(32), t=Text())), two=Array(POINT, 2),
                     n=Length(8), many=Array(POINT, 'n'), words=Array(Text(), 3),
                     m=Length(8), more=Array(Text(), 'm'), long=Array(Struct(v=U8), 50)),
    'choices': Struct(tag=Number(8, labels=LABELS), v=CHOICE,
                      e=Number(8, True, labels={'low': (-5, -1), 'high': (1, 9)}), after=Number(16)),
    'empty': Struct(),
    'labels': Struct(state=Number(8, True, labels=STATES, beside=True), wide=Number(64, labels=WIDE, beside=True),
                     bits=Number(3, labels={'a': (0, 1), 'b': (3, 3)}, beside=True), flags=Number(32, base=16, labels=LABELS),
                     both=Array(Number(16, True, labels=STATES, beside=True), 3), n=Length(8),
                     some=Array(Number(32, True, labels=STATES, base=16, beside=True), 'n'),
                     grid=Array(Array(Number(8, labels=LABELS), 2), 2), k=Length(8),
                     many=Array(Struct(e=Number(8, True, labels=STATES), es=Array(Number(8, labels=LABELS), 2)), 'k')),
}
CONTEXT = Struct(vtid=Number(32, True), procname=Array(CHAR, 17), vpid=Number(32, True),
                 perf_cycles=Number(64), u32=Number(32))
HEADER = Struct(id=Number(16), timestamp=Number(64, clock=True))
PACKET = Struct(timestamp_begin=Number(64, clock=True), timestamp_end=Number(64, clock=True),
                content_size=Number(64), packet_size=Number(64), cpu_id=Number(32))
MAGIC = Struct(magic=Number(32))
NAMES = ('main', 'worker', '"odd" name')


def declare(struct_type, plain=False):
    text = struct_type.tsdl('').strip()
    return text.replace(' _', ' ') if plain else text


def tsdl(big):
    order = 'be' if big else 'le'
    # A name that is declared before the byte order of the trace.
    text = 'typealias integer { size = 32; align = 8; } := early;\n'
    text += f'trace {{ major = 1; minor = 8; byte_order = {order}; packet.header := struct {{ early magic; }}; }};\n'
    text += 'clock { name = c; freq = 1000000000; offset_s = 1600000000; };\n'
    text += f'stream {{ packet.context := {declare(PACKET, True)}; event.header := {declare(HEADER, True)};\n'
    text += f'event.context := {declare(CONTEXT)}; }};\n'
    for i, (name, fields) in enumerate(EVENTS.items()):
        text += f'event {{ name = "{name}"; id = {i}; fields := {declare(fields)}; }};\n'
    return text


def with_roles(fields, big, roles):
    out = fields.json(big)
    for member in out['member-classes']:
        if member['name'] in roles:
            member['field-class']['roles'] = [roles[member['name']]]
    return out


def ctf2(big):
    parts = [{'type': 'preamble', 'version': 2},
             {'type': 'trace-class', 'packet-header-field-class':
              with_roles(MAGIC, big, {'magic': 'packet-magic-number'})},
             {'type': 'clock-class', 'id': 'c', 'frequency': 1000000000, 'offset-from-origin': {'seconds': 1600000000}},
             {'type': 'data-stream-class', 'default-clock-class-id': 'c',
              'packet-context-field-class': with_roles(PACKET, big, {
                  'timestamp_begin': 'default-clock-timestamp',
                  'timestamp_end': 'packet-end-default-clock-timestamp',
                  'content_size': 'packet-content-length', 'packet_size': 'packet-total-length'}),
              'event-record-header-field-class': with_roles(HEADER, big, {
                  'id': 'event-record-class-id', 'timestamp': 'default-clock-timestamp'}),
              'event-record-common-context-field-class': CONTEXT.json(big)}]
    for i, (name, fields) in enumerate(EVENTS.items()):
        parts.append({'type': 'event-record-class', 'id': i, 'name': name,
                      'payload-field-class': fields.json(big)})
    return ''.join('\x1e' + json.dumps(p) + '\n' for p in parts)


def packets(big):
    r, out = random.Random(9), b''
    for first in range(0, COUNT, 20):
        body = Bits(big)
        head = dict(timestamp_begin=START + first * STEP, timestamp_end=START + (first + 19) * STEP,
                    content_size=0, packet_size=0, cpu_id=3)
        # The first pass finds the sizes that the second has in its context.
        for _ in range(2):
            body = Bits(big)
            MAGIC.put(body, {'magic': 0xc1fc1fc1})
            PACKET.put(body, head)
            state = r.getstate()
            for i in range(first, first + 20):
                kind = list(EVENTS)[i % len(EVENTS)]
                thread = 500 + i % 3
                name = NAMES[i % 3].encode().ljust(17, b'\0')
                HEADER.put(body, {'id': i % len(EVENTS), 'timestamp': START + i * STEP})
                CONTEXT.put(body, dict(vtid=thread, procname=list(name), vpid=500,
                                       perf_cycles=r.getrandbits(64), u32=i))
                EVENTS[kind].put(body, EVENTS[kind].random(r))
            head['content_size'] = len(body.text)
            head['packet_size'] = (len(body.text) + 7) // 8 * 8
            if head['content_size'] and _ == 0:
                r.setstate(state)
        out += body.data()
    return out


def in_packets(text, big):
    order, out = '>' if big else '<', b''
    data = text.encode()
    for i in range(0, len(data), 3000):
        part = data[i:i + 3000]
        out += struct.pack(order + 'I16sIIIBBBBB', 0x75d11d57, bytes(16), 0, (37 + len(part)) * 8,
                           4096 * 8, 0, 0, 0, 1, 8) + part + bytes(4096 - 37 - len(part))
    return out


def write(folder, metadata, stream):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'metadata'), 'wb') as f:
        f.write(metadata)
    with open(os.path.join(folder, 'stream_0'), 'wb') as f:
        f.write(stream)


PLAIN = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
%s
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; align = 8; } magic; }; };
clock { name = c; freq = 1000000000; };
stream { event.header := struct { u8 id; integer { size = 64; align = 8; map = clock.c.value; } timestamp; }; };
'''


def plain(events, before=''):
    return (PLAIN % before + events).encode()


def event(number, time, payload):
    return struct.pack('<BQ', number, time) + payload


def bits():
    fields = ''.join(f'integer {{ size = 1; align = 1; }} a{i}[{1 << 21}]; ' for i in range(4))
    payload = (b'\x01' + bytes((1 << 18) - 1)) * 4 + b'\x07'
    return (plain(f'event {{ name = e; id = 0; fields := struct {{ {fields} u8 end; }}; }};\n'),
            struct.pack('<I', 0xc1fc1fc1) + event(0, 1000, payload) + event(0, 2000, payload))


def large():
    fields = ''.join(f'u8 a{i}; ' for i in range(1024))
    events = ''.join(f'event {{ name = e{i}; id = {i}; fields := struct large; }};\n' for i in range(1000))
    payload = bytes(range(256)) * 4
    return (plain(events, f'struct large {{ {fields} }};'),
            struct.pack('<I', 0xc1fc1fc1) + event(7, 1000, payload) + event(255, 2000, payload))


def many():
    return plain(''.join(f'event{{id={i};}};' for i in range(900000))), b''


if __name__ == '__main__':
    top = sys.argv[1]
    for order, big in ('le', False), ('be', True):
        stream = packets(big)
        text = tsdl(big)
        write(f'{top}/{order}', in_packets(text, big) if big else ('/* CTF 1.8 */\n' + text).encode(), stream)
        write(f'{top}/{order}2', ctf2(big).encode(), stream)
    write(f'{top}/bits', *bits())
    for i in range(4):
        write(f'{top}/large/{i}', *large())
    write(f'{top}/many', *many())
