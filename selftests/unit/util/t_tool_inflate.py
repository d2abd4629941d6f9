#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_inflate.py FOLDER: ktape's reader of zlib's streams takes and refuses what zlib does:
streams of all kinds, damaged in each byte, and blocks with sets of codes that are complete, have
too few codes or too many, and content that has these codes."""
import os
import random
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../support')
# pylint: disable=wrong-import-position
from tap import end, result  # noqa: E402

program = os.path.abspath(sys.argv[1]) + '/t_lib_inflate'
TRIES = int(os.environ.get('KTAPE_TRIES', '40')) * 100
ROOM = 1 << 17
ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)


def wanted(stream):
    """What zlib makes of a stream, or None.  ktape's caller knows how much is in it."""
    unpack = zlib.decompressobj()
    try:
        out = unpack.decompress(stream, ROOM + 1)
    except zlib.error:
        return None
    return out if unpack.eof and len(out) <= ROOM else None


def check(streams):
    """Return how many of them are whole."""
    done = subprocess.run([program, '--streams'], stdout=subprocess.PIPE, check=True, timeout=600,
                          input=b''.join(struct.pack('<II', len(s), ROOM) + s for s in streams))
    at = whole = 0
    for stream in streams:
        size, = struct.unpack_from('<i', done.stdout, at)
        got = None if size < 0 else done.stdout[at + 4:at + 4 + size]
        at += 4 + max(size, 0)
        want = wanted(stream)
        assert got == want, f'{stream.hex():.2000}: {got!r:.200} instead of {want!r:.200}'
        whole += want is not None
    return whole


def contents():
    """Texts, numbers and noise, packed in each way of zlib."""
    pick = random.Random(1)
    for size in (0, 1, 5, 300, 3000):
        for data in (bytes(size), bytes(pick.choices(b'abc \n', k=size)), pick.randbytes(size),
                     b''.join(struct.pack('<I', i * 7) for i in range(size // 4))):
            for how in ((0, 0), (1, 0), (9, 0), (9, zlib.Z_FIXED), (9, zlib.Z_HUFFMAN_ONLY),
                        (9, zlib.Z_RLE)):
                for window in (9, 15):
                    c = zlib.compressobj(how[0], zlib.DEFLATED, window, 8, how[1])
                    yield c.compress(data) + c.flush()


def plain():
    streams = list(contents())
    assert check(streams) == len(streams)


def damaged():
    """A byte is another, is missing, or is there twice."""
    pick = random.Random(2)
    streams = []
    for stream in contents():
        for _ in range(TRIES // 100):
            at = pick.randrange(min(len(stream), pick.choice((8, 60, 4000))))
            streams.append(stream[:at] + pick.choice((
                bytes((stream[at] ^ 1 << pick.randrange(8),)), b'', stream[at:at + 1] * 2,
                bytes((pick.randrange(256),)))) + stream[at + 1:])
    whole = check(streams)
    assert whole < len(streams) // 2, whole


class Bits:
    """Bits, the lowest of a byte first."""

    def __init__(self):
        self.value = self.nr = 0

    def add(self, value, nr):
        self.value |= value << self.nr
        self.nr += nr

    def code(self, value, nr):
        """A code, which begins with its highest bit."""
        for i in reversed(range(nr)):
            self.add(value >> i & 1, 1)


def lengths(pick, nr, symbols):
    """Lengths of the codes of @nr symbols: codes are split until each symbol has one; then perhaps
    a code is left out, or is one too many."""
    have = [0]
    while len(have) < symbols:
        shortest = have.pop(pick.randrange(len(have)))
        if shortest == 15:
            have.append(shortest)
            break
        have += [shortest + 1] * 2
    have = [n or pick.randrange(2) for n in have]
    how = pick.randrange(6)
    if how == 0 and have:
        have.pop(pick.randrange(len(have)))
    elif how == 1:
        have.append(pick.randint(1, 15))
    out = [0] * nr
    for at, n in zip(pick.sample(range(nr), min(len(have), nr)), have):
        out[at] = n
    return out


def values(sizes):
    """Codes of symbols by their lengths, as RFC 1951 has them: symbol -> (code, length)."""
    out, code = {}, 0
    for size in range(1, 16):
        for symbol, n in enumerate(sizes):
            if n == size:
                out[symbol] = (code & (1 << size) - 1, size)
                code += 1
        code <<= 1
    return out


def content(pick, bits, literal, distance):
    """Add some bytes and repetitions and the end of the block.  Return what they stand for."""
    literal, distance = values(literal), values(distance)
    back = [d for d in distance if d < 4]       # those without more bits
    out = bytearray()
    for _ in range(pick.randrange(40)):
        symbol = pick.choice(list(literal)) if literal else 256
        if symbol < 256:
            bits.code(*literal[symbol])
            out.append(symbol)
        elif 256 < symbol < 265 and back:
            far = pick.choice(back)
            if far < len(out):
                bits.code(*literal[symbol])
                bits.code(*distance[far])
                for _ in range(symbol - 254):
                    out.append(out[-far - 1])
    if 256 in literal:
        bits.code(*literal[256])
    else:
        bits.add(pick.getrandbits(40), 40)
    return bytes(out)


def stream(pick):
    """A block with codes of its own.  Lengths of codes have codes of 4 bits, or random ones."""
    bits = Bits()
    bits.add(1 | 2 << 1, 3)
    literal = lengths(pick, pick.randint(257, 286), pick.choice((1, 2, 3, 20, 200)))
    if not literal[256] and pick.randrange(8):
        at = next((i for i, n in enumerate(literal) if n), 0)
        literal[256], literal[at] = literal[at], 0
    distance = lengths(pick, pick.randint(1, 30), pick.choice((0, 1, 1, 2, 3, 9)))
    bits.add(len(literal) - 257, 5)
    bits.add(len(distance) - 1, 5)
    if pick.randrange(8):
        own = [4] * 16 + [0] * 3
    else:
        own = lengths(pick, 19, pick.choice((1, 2, 5, 16, 19)))
        own = [min(n, 7) for n in own]
    bits.add(15, 4)
    for symbol in ORDER:
        bits.add(own[symbol], 3)
    for n in literal + distance:
        bits.code(n, 4)
    out = content(pick, bits, literal, distance)
    return b'\x78\x9c' + bits.value.to_bytes((bits.nr + 7) // 8, 'little') + struct.pack(
        '>I', zlib.adler32(out))


def codes():
    pick = random.Random(3)
    whole = check([stream(pick) for _ in range(TRIES)])
    assert TRIES // 20 < whole < TRIES * 9 // 10, whole


def main():
    print('TAP version 13')
    result('streams of each kind', plain)
    result('damaged streams', damaged)
    result('sets of codes', codes)
    end()


main()
