# SPDX-License-Identifier: GPL-2.0-only
"""Native traces as records: metadata, packets, losses, times.  For decoder.py."""
import heapq
import os
import re
import struct
import subprocess
import sys

MAGIC, METADATA_MAGIC, HEADER = 0xc1fc1fc1, 0x75d11d57, 192
EVENT, CONTROL, REGISTRY = 0, 1, 2
UNKNOWN, CONTINUED = 5, 6
NAME_SIZE = 32
NAME_LONG = 4096		# of a user event
USER_EVENT_TYPE = 9
REGISTRY_OPCODE, CONTEXT, USER_EVENT, SCHED_SWITCH, TIME_EXTEND = 5, 6, 23, 32, 255
FIELDS = 0xf4ffffff		# further fields of the next event
ANY_OWNER, ONLY_GLOBAL = 0xffffffff, 1
CUT = "the input ends in a packet"
NUMBER = {"u32": "I", "x32": "I", "s32": "i", "u64": "Q", "x64": "Q", "s64": "q"}


class Bad(Exception):
    """The trace cannot be read."""


def say(text):
    print("decoder.py: " + text, file=sys.stderr)


# ---- metadata ------------------------------------------------------------------

class Event:
    """The layout of one event, from its block of the metadata."""
    def __init__(self, name, body):
        self.name = name
        self.known = not name.startswith("opcode_")
        context, _, fields = body.partition("fields :=")
        self.bits = []
        for attrs, values, field in re.findall(
                r"integer \{([^}]*)\}(?: \{([^}]*)\})? _(\w+);", context):
            size = int(re.search(r"size = (\d+)", attrs)[1])
            enum = {}
            for word, low, high in re.findall(
                    r"(\w+) = (\d+)(?: \.\.\. (\d+))?", values):
                if not high:
                    enum[int(low)] = word
            self.bits.append((field, size, enum))
        self.fields = re.findall(r"\b(u8|utf8|[sux](?:32|64)) _(\w+)(?:\[([\w.]+)\])?;",
                                 fields)


class Metadata:
    def __init__(self, text):
        def value(key):
            found = re.search(rf'\b{key} = "?([^";]*)"?;', text)
            if not found:
                raise Bad(f"the metadata does not have {key}")
            return found[1]
        self.uuid = bytes.fromhex(value("uuid").replace("-", ""))
        self.machine = value("machine")
        self.converted = re.search(r"\bconverted = ", text) is not None
        clock = re.search(r"clock \{.*?freq = (\d+); offset_s = (-?\d+); "
                          r"offset = (-?\d+);", text)
        if not clock:
            raise Bad("the metadata does not describe a clock")
        self.freq, self.seconds, self.ticks = map(int, clock.groups())
        self.events = {int(number): Event(name, body) for name, number, body in re.findall(
            r'event \{ name = "(\w+)"; id = (\d+); stream_id = 0;(.*?)\}; \};', text, re.S)}
        sums = re.search(r'metadata_crc32c = "([0-9a-f]{8})"', text)
        if sums:
            raw = bytearray(text.encode())
            at = text.encode().index(b"metadata_crc32c") + 19
            raw[at:at + 8] = b"00000000"
            self.intact = crc32c(raw) == int(sums[1], 16)
        else:
            self.intact = value("tracer_minor") == "0"

    def ns(self, ticks):
        """Nanoseconds since the epoch."""
        return self.seconds * 10**9 + (ticks + self.ticks) * 10**9 // self.freq


# ---- packets -------------------------------------------------------------------

def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        table.append(n)
    return table


CRC = crc_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


class Packet:
    """The header of a packet; wrong says why it must not be used."""
    def __init__(self, data, at, uuid):
        self.data, self.at, self.wrong, self.cut = data, at, None, False
        if len(data) - at < HEADER:
            self.wrong = CUT
            return
        magic, trace, stream = struct.unpack_from("<I16sI", data, at)
        self.tid, _, self.context, _, flags, crc = struct.unpack_from("<iBBHII", data, at + 108)
        (self.begin, self.end, content, size, self.seq, self.lost, self.cpu,
         self.kind) = struct.unpack_from("<6Q2I", data, at + 128)
        self.content, self.size = content // 8, size // 8
        if magic != MAGIC or trace != uuid or stream or self.kind > REGISTRY:
            self.wrong = "not a packet of this trace"
        elif content % 64 or size % 64 or not HEADER <= self.content <= self.size:
            self.wrong = "wrong sizes"
        elif at + self.content > len(data):
            self.content, self.cut = len(data) - at, True
        elif flags & 1 and crc32c(b"".join((data[at:at + 120], bytes(4), data[
                at + 124:at + self.content]))) != crc:
            self.wrong = "wrong checksum"


class Record:
    """One record, and the packet whose first record it is."""
    def __init__(self, packet, at, first):
        end = packet.at + packet.content
        if at + 8 > end:
            raise Bad("a record is cut off")
        word, = struct.unpack_from("<Q", packet.data, at)
        self.low, self.opcode = word & 0xffffffff, word >> 32 & 255
        self.dat20, self.p, nargs = word >> 40 & 0xfffff, word >> 60 & 1, word >> 61
        self.kind, self.cpu, self.first = packet.kind, packet.cpu, first
        self.extra = b""
        size, self.blob = 8 + nargs * 4, b""
        if at + size + self.p * 4 > end or not self.opcode:
            raise Bad("a record is damaged")
        self.args = packet.data[at + 8:at + size]
        if self.p:
            length, = struct.unpack_from("<I", packet.data, at + size)
            self.blob = packet.data[at + size + 4:at + size + 4 + length]
            size += 4 + length
        self.next = at + (size + 7) // 8 * 8
        if self.next > end or self.opcode == TIME_EXTEND and nargs != 4:
            raise Bad("a record is damaged")

    def words(self):
        return list(struct.unpack(f"<{len(self.args) // 4}I", self.args))


class Stream:
    """The packets of one ring in their order."""
    def __init__(self, name):
        self.name, self.packets, self.damaged = name, [], False

    def records(self):
        """Yield the records with their times."""
        last = before = None
        for packet in self.packets:
            now, first = packet.begin, packet
            if before and before.end < last and now < last and now >> 32 == last >> 32:
                now = last
            at, end = packet.at + HEADER, packet.at + packet.content
            while at < end:
                try:
                    record = Record(packet, at, first)
                except Bad as error:
                    if packet.cut:
                        break
                    say(f"{self.name}: at byte {at}: {error}")
                    self.damaged = True
                    break
                if record.opcode == TIME_EXTEND:
                    now, = struct.unpack_from("<Q", record.args)
                else:
                    now = max(now, now >> 32 << 32 | record.low)
                record.time, record.cut, first, at = now, packet.cut, None, record.next
                yield record
            before, last = packet, now

    def events(self, joined):
        """The records; if @joined, further fields come with the event that follows them."""
        held = None
        for record in self.records():
            fields = joined and is_fields(record)
            if held and record.first is None and not fields and record.time == held.time and \
                    record.opcode == struct.unpack_from("<I", held.args, 4)[0] and record.opcode != TIME_EXTEND:
                record.extra, record.first, held = held.blob, held.first, None
            if held:
                yield self.alone(held)
            held = record if fields and are_pairs(record.blob) else None
            if not held:
                yield self.alone(record) if fields else record
        if held and not held.cut:
            yield self.alone(held)

    def alone(self, record):
        """Fields that no event follows, which are an event of their own."""
        say(f"{self.name}: fields of an event that does not follow")
        self.damaged = True
        return record

    def losses(self):
        """Yield the number of lost events of each gap; 0 = unknown."""
        for before, packet in zip(self.packets, self.packets[1:]):
            if packet.seq > before.seq + 1 or packet.lost > before.lost:
                yield max(packet.lost - before.lost, 0)


def is_fields(record):
    """Whether a record has further fields of the event that follows it."""
    return record.opcode == USER_EVENT and record.p and len(record.args) == 8 and \
        struct.unpack_from("<I", record.args) == (FIELDS,)


def are_pairs(data):
    """Whether typed arguments are a name and a value each, and there are any."""
    at, nr = 0, 0
    while at < len(data):
        form, start = data[at] & 15, at + 1
        if nr % 2 == 0 and (form != 7 or 0 not in data[start:]):
            return False
        at = typed_end(form, data, start)
        nr += 1
    return nr > 0 and nr % 2 == 0


def typed_end(form, data, at):
    """Where a typed argument ends; the end of all if it is damaged."""
    sizes = (1, 1, 2, 2, 4, 4, 4, 0, 0, 8, 8, 4, 8, 8, 8, 0)
    if form == 7:
        end = data.find(0, at) + 1
    elif form == 8:
        end = at + 1 + data[at] if at < len(data) else 0
    elif form == 15:
        elem, count = struct.unpack_from("<BI", data, at) if at + 5 <= len(data) else (16, 0)
        size = 1 if elem == 8 else sizes[elem] if elem < 16 else 0
        end = at + 5 + size * count if size else 0
    else:
        end = at + sizes[form]
    return end if 0 < end <= len(data) else len(data)


def decode(event, record):
    """Return {field: value} by the layout of the event, or None if the record does not
    have it.  A value is a number, a list of numbers, or bytes."""
    out, counts = {}, {"event.context._nargs": len(record.args) // 4,
                       "_size": len(record.blob)}
    dat20, data, at = record.dat20, record.args, 0
    for field, size, _ in event.bits:
        out[field] = dat20 & (1 << size) - 1
        dat20 >>= size
    for form, field, count in event.fields:
        if field == "size":
            if at != len(data) or not record.p:
                return None
            data, at = record.blob, 0
        elif form in ("u8", "utf8"):
            out[field], at = data, len(data)
        else:
            code = NUMBER[form]
            number = 1 if not count else int(count) if count.isdigit() else counts[count]
            fits = (len(data) - at) // struct.calcsize(code)
            if fits < number and not (count or "").startswith("_"):
                return None
            number = min(number, fits)
            values = struct.unpack_from(f"<{number}{code}", data, at)
            at += number * struct.calcsize(code)
            out[field] = list(values) if count else values[0]
            if not count:
                counts["_" + field] = values[0]
    has_blob = any(field == "size" for _, field, _ in event.fields)
    return out if has_blob == bool(record.p) and (has_blob or at == len(data)) else None


# ---- files --------------------------------------------------------------------

def unpack(data, name):
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return data
    done = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=False)
    if done.returncode and not done.stdout:
        raise Bad(f"{name}: zstd cannot decompress it")
    return done.stdout


def load(path):
    """Return the text of the metadata and [(name, data, begin of the packets)]."""
    if not os.path.isdir(path):
        with (sys.stdin.buffer if path == "-" else open(path, "rb")) as file:
            data = unpack(file.read(), path)
        text, at = b"", 0
        while len(data) - at >= 37 and data[at:at + 4] == struct.pack("<I", METADATA_MAGIC):
            content, size = struct.unpack_from("<II", data, at + 24)
            text += data[at + 37:at + content // 8]
            at += size // 8
        return text.decode(), [(path, data, at)]
    files, text = [], None
    for name in sorted(os.listdir(path)):
        base = name[:-4] if name.endswith(".zst") else name
        if base == "metadata" or re.fullmatch(r"(cpu|control)\d+|registry", base):
            with open(os.path.join(path, name), "rb") as file:
                data = unpack(file.read(), name)
            if base == "metadata":
                text = data.decode()
            else:
                files.append((base, data, 0))
    if text is None:
        raise Bad(f"{path}: no metadata")
    return text, files


class Trace:
    def __init__(self, path):
        text, files = load(path)
        self.meta = Metadata(text)
        self.damaged = not self.meta.intact
        if self.damaged:
            say("the metadata was changed")
        streams = {}
        for name, data, at in files:
            while at < len(data):
                packet = Packet(data, at, self.meta.uuid)
                if packet.wrong:
                    say(f"{name}: at byte {at}: {packet.wrong}")
                if packet.wrong == CUT:
                    break
                if packet.wrong:
                    self.damaged = True
                    at = data.find(struct.pack("<I16s", MAGIC, self.meta.uuid), at + 1)
                    if at < 0:
                        break
                    continue
                key = -packet.kind, packet.cpu
                streams.setdefault(key, Stream(name)).packets.append(packet)
                at += packet.size
                if at > len(data):
                    say(f"{name}: at byte {len(data)}: {CUT}")
        self.streams = [streams[key] for key in sorted(streams)]

    def records(self):
        """All records by time; at one time the registry comes first, then control
        rings, then event rings, each by CPU."""
        return heapq.merge(*(stream.events(self.meta.converted) for stream in self.streams),
                           key=lambda record: record.time)
