#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read the blocks of a page with Python's zlib, a decoder that is not ours.

usage: html_blocks.py PAGE			count blocks by kind
       html_blocks.py PAGE attach NAME		print an attached text
       html_blocks.py PAGE about		print the block "about"
       html_blocks.py PAGE fields		print the fields of all events, a line each
       html_blocks.py PAGE names		print the names, a JSON string a line
       html_blocks.py PAGE spans		print the spans: kind, begin, ns, CPU, thread, name
"""
import base64
import json
import re
import sys
import zlib

TAG = re.compile(
    rb'<script type="text/ktape" data-kind="(\w+)" data-name="(\w*)" data-nr="(\d+)"'
    rb' data-at="(\d+)" data-bytes="(\d+)" data-crc="([0-9a-f]{8})">([A-Za-z0-9+/=]*)</script>\n')


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def blocks(page):
    end = None
    for m in TAG.finditer(page):
        kind, name, nr, at, size, crc, text = m.groups()
        content = zlib.decompress(base64.b64decode(text, validate=True), -15)
        assert int(at) == m.start(), f"block at {m.start()} says {at}"
        assert int(size) == len(content), f"{len(content)} bytes, not {size}"
        assert len(content) > 1 << 16 or int(crc, 16) == crc32c(content), "checksum"
        assert end in (None, m.start()), f"between blocks, at {end}, is something else"
        end = m.end()
        yield kind.decode(), name.decode(), int(nr), content


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return -(value >> 1) - 1 if value & 1 else value >> 1


def spans(content, nr, names):
    r = Numbers(content)
    kind, depth, flags = ([r.number() for _ in range(nr)] for _ in range(3))
    cpu, tid = ([r.signed() for _ in range(nr)] for _ in range(2))
    name = [r.number() for _ in range(nr)]
    begin, at = [], 0
    for _ in range(nr):
        at += r.signed()
        begin.append(at)
    duration = [r.number() for _ in range(nr)]
    a, b = ([r.signed() for _ in range(nr)] for _ in range(2))
    counts = [r.number() for _ in range(nr)]
    merged = sum(f >> 3 & 1 for f in flags)
    for _ in range(2 * merged):
        r.number()
    assert r.at == len(content), "bytes behind the columns"
    for i in range(nr):
        print(kind[i], begin[i], duration[i], cpu[i], tid[i], names[name[i]].replace(" ", "_"),
              f"depth={depth[i]} flags={flags[i]} a={a[i]} b={b[i]} count={counts[i]}")


def main():
    with open(sys.argv[1], "rb") as f:
        page = f.read()
    what = sys.argv[2] if len(sys.argv) > 2 else ""
    found = list(blocks(page))
    names = [n for kind, _, _, c in found if kind == "names" for n in json.loads(c)]
    if not what:
        counts = {}
        for kind, _, nr, _ in found:
            counts[kind] = counts.get(kind, 0) + nr
        for kind in sorted(counts):
            print(kind, counts[kind])
    for kind, name, nr, content in found:
        if kind != what:
            continue
        if kind == "spans":
            spans(content, nr, names)
        elif kind == "names":
            for n in json.loads(content):
                print(json.dumps(n))
        elif kind != "attach" or name == sys.argv[3]:
            sys.stdout.buffer.write(content)


if __name__ == '__main__':
    main()
