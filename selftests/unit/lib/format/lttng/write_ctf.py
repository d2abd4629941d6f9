#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a CTF trace by the writer of Babeltrace 1 (Debian: python3-babeltrace), whose byte order
can be chosen.

usage: write_ctf.py big|little FOLDER"""
import sys

from babeltrace import ByteOrder, CTFWriter

ORDERS = {'big': ByteOrder.BYTE_ORDER_BIG_ENDIAN, 'little': ByteOrder.BYTE_ORDER_LITTLE_ENDIAN}
EVENTS = 200


def integer(bits, signed=False, align=8, base=10):
    declaration = CTFWriter.IntegerFieldDeclaration(bits)
    declaration.signed = signed
    declaration.alignment = align
    declaration.base = base
    return declaration


def floating(exponent, mantissa):
    declaration = CTFWriter.FloatFieldDeclaration()
    declaration.exponent_digits = exponent
    declaration.mantissa_digits = mantissa
    declaration.alignment = 32
    return declaration


def enumeration():
    declaration = CTFWriter.EnumerationFieldDeclaration(integer(8))
    declaration.add_mapping('LOW', 0, 9)
    declaration.add_mapping('HIGH', 10, 250)
    return declaration


def structure():
    declaration = CTFWriter.StructureFieldDeclaration()
    declaration.add_field(integer(5, align=1), 'five')
    declaration.add_field(integer(11, True, align=1), 'eleven')
    declaration.add_field(CTFWriter.StringFieldDeclaration(), 'text')
    return declaration


INTEGERS = {f'{"s" if signed else "u"}{bits}': (bits, signed)
            for bits in (3, 8, 13, 16, 24, 32, 48, 64) for signed in (False, True)}


def write(order, folder):
    writer = CTFWriter.Writer(folder)
    clock = CTFWriter.Clock('test_clock')
    clock.offset = 1000000000000
    writer.add_clock(clock)
    writer.byte_order = ORDERS[order]
    stream_class = CTFWriter.StreamClass('channel')
    stream_class.clock = clock

    numbers = CTFWriter.EventClass('numbers')
    for name, (bits, signed) in INTEGERS.items():
        numbers.add_field(integer(bits, signed, 8 if bits in (8, 16, 32, 64) else 1), name)
    numbers.add_field(floating(8, 24), 'f32')
    numbers.add_field(floating(11, 53), 'f64')
    others = CTFWriter.EventClass('others')
    others.add_field(CTFWriter.StringFieldDeclaration(), 'text')
    others.add_field(integer(16), 'length')
    others.add_field(CTFWriter.SequenceFieldDeclaration(integer(32, True, 32), 'length'), 'values')
    others.add_field(CTFWriter.ArrayFieldDeclaration(integer(16, align=16), 5), 'fixed')
    others.add_field(enumeration(), 'state')
    others.add_field(structure(), 'inner')
    stream_class.add_event_class(numbers)
    stream_class.add_event_class(others)
    stream = writer.create_stream(stream_class)
    for i in range(EVENTS):
        clock.time = 5000 + i * 1000
        event = CTFWriter.Event(numbers)
        for name, (bits, signed) in INTEGERS.items():
            value = (i * 0x9e3779b97f4a7c15 + i) % (1 << bits)
            event.payload(name).value = \
                value - (1 << bits) if signed and value >> (bits - 1) else value
        event.payload('f32').value = i / 8 - 3
        event.payload('f64').value = i * 1.25e10 - 7
        stream.append_event(event)
        event = CTFWriter.Event(others)
        event.payload('text').value = f'text {i} of a writer'
        event.payload('length').value = i % 7 + 1     # an empty one shifts what follows
        sequence = event.payload('values')
        sequence.length = event.payload('length')
        for k in range(i % 7 + 1):
            sequence.field(k).value = k - i
        for k in range(5):
            event.payload('fixed').field(k).value = i * k
        event.payload('state').container.value = i % 250
        inner = event.payload('inner')
        inner.field('five').value = i % 32
        inner.field('eleven').value = i - 100
        inner.field('text').value = f'inner {i}'
        stream.append_event(event)
        if i % 50 == 49:
            stream.flush()
    writer.flush_metadata()


if __name__ == '__main__':
    write(*sys.argv[1:3])
