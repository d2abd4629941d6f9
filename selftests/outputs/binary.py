# SPDX-License-Identifier: GPL-2.0-only
"""Readers of outputs that are no text: Perfetto's protos, pages, CTF by babeltrace2, Parquet by
hyparquet."""
import json
import os
import struct
import subprocess

import ctf_lines
import html_blocks

from events import pairs
from lines import Got
from protobuf import members
from tables import PERFETTO, table

PERFETTO_EVENTS = {int(theirs): name.removesuffix('_wide') for name, (theirs, _) in table(PERFETTO).items()}
FIRST_GENERIC = 65536


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def signed(value):
    return value - (value >> 63 << 64)


def annotation(data):
    """Name and value of a debug annotation, by the type that its member has."""
    name, value = None, []
    for field, part in members(data):
        if field == 10:
            name = part.decode()
        elif field == 12:
            value.append(annotation(part)[1])
        else:
            value = {3: lambda v: v, 4: signed, 5: lambda v: struct.unpack('<d', v)[0],
                     6: bytes.decode, 7: hex}[field](part)
    return name, value


class Perfetto:
    """The events of a trace for Perfetto, by their members' numbers."""

    def __init__(self, path):
        self.generic, self.symbols, self.tracks, self.boot = {}, {}, {}, None
        self.got, packets = [], [list(members(p)) for f, p in members(content(path)) if f == 1]
        for packet in packets:
            for field, part in packet:
                if field == 6:
                    self.clocks(part)
                elif field == 12:
                    self.interned(part)
                elif field == 1:
                    self.describe(part)
        for packet in packets:
            for field, part in packet:
                if field == 1:
                    self.bundle(part)
                elif field == 11:
                    self.track_event(dict(packet)[8], part)
                elif field == 60:
                    self.track(part)

    def clocks(self, part):
        times = {}
        for field, clock in members(part):
            if field == 1:
                clock = dict(members(clock))
                times[clock[1]] = clock[2]
        self.boot = signed(times[6]) - signed(times[3])

    def interned(self, part):
        for field, symbol in members(part):
            if field == 26:
                symbol = dict(members(symbol))
                self.symbols[symbol[1]] = symbol[2].decode()

    def describe(self, bundle):
        for field, part in members(bundle):
            if field != 11:
                continue
            part = dict(members(part))
            number, name, fields = part[1], None, {}
            for key, value in members(part[2]):
                if key == 1:
                    name = value.decode()
                else:
                    value = dict(members(value))
                    fields[value[3]] = (value[1].decode(), value.get(5))
            self.generic[number] = name, fields

    def track(self, part):
        found = dict(members(part))
        self.tracks[found.get(1)] = found

    def bundle(self, bundle):
        parts = list(members(bundle))
        cpu = next((v for f, v in parts if f == 1), 0)
        for field, part in parts:
            if field == 2:
                self.ftrace(cpu, list(members(part)))

    def ftrace(self, cpu, event):
        ts, pid = event[0][1], event[1][1]
        number, part = event[2]
        fields = {}
        for key, value in members(part):
            fields.setdefault(key, []).append(value)
        if number >= FIRST_GENERIC:
            name, described = self.generic[number]
            fields = {described[k][0]: signed(v[0]) if described[k][1] == 3 else
                      v[0].decode() if isinstance(v[0], bytes) else v[0] for k, v in fields.items()}
        else:
            name = PERFETTO_EVENTS[number]
        got = Got(ts - self.boot, name, fields, cpu=cpu, tid=pid)
        got.generic = number >= FIRST_GENERIC
        self.got.append(got)

    def track_event(self, ts, part):
        parts = list(members(part))
        found = dict(parts)
        got = Got(ts - self.boot, found.get(23, b'').decode(), [annotation(v) for f, v in parts if f == 4])
        got.generic, got.kind = None, found.get(9)
        got.category = found.get(22, b'').decode()
        self.got.append(got)


def perfetto(path):
    return Perfetto(path).got


def lttng(path):
    """The events of a CTF trace, as babeltrace2 prints them, without the state dump."""
    for e in ctf_lines.read_babeltrace2(path):
        if e['name'] and e['name'].startswith('lttng_statedump_'):
            continue
        yield Got(e['ts'], e['name'], e['event.fields'], cpu=e['stream.packet.context'].get('cpu_id'),
                  tid=e['stream.event.context'].get('tid'))


def html(path):
    """The fields of all events of a page, in their order; times are compared by number."""
    for kind, _, _, block in html_blocks.blocks(content(path)):
        if kind == 'fields':
            for line in block.splitlines():
                yield json.loads(line, object_pairs_hook=pairs)


PARQUET = '''
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
const file = await asyncBufferFromFile(process.argv[1]);
for (const row of await parquetReadObjects({ file, compressors }))
	console.log(JSON.stringify(row, (k, v) => typeof v === "bigint" ? String(v) : v));
'''


def parquet(path, engines):
    """The rows of a file, as hyparquet reads them; a loss is no event."""
    out = subprocess.run(['node', '--input-type=module', '-e', PARQUET, os.path.abspath(path)],
                         cwd=engines, stdout=subprocess.PIPE, check=True).stdout
    for line in out.decode().splitlines():
        row = {k: v for k, v in json.loads(line).items() if v is not None}
        if row.get('class') == 'lost':
            continue
        fields = {k[4:]: v for k, v in row.items() if k.startswith('arg_')}
        got = Got(int(row['ts']), row['event'], fields, cpu=row['cpu'], tid=row.get('tid'), comm=row.get('comm'))
        got.more, got.row = json.loads(row['more']) if 'more' in row else None, row
        yield got
