#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a native trace with every event that a metadata describes, in random order
and with random fields: make_events.py METADATA DIRECTORY SEED

The layouts come from the metadata, the values are edges of their widths or small
numbers, so that some refer to the names that the trace has, and texts are any bytes.
"""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# pylint: disable=wrong-import-position
import decoder_read as decoder  # noqa: E402

CPUS, PACKETS, RECORDS = 3, 6, 80
REGISTRY, ANY_OWNER = decoder.REGISTRY_OPCODE, decoder.ANY_OWNER
NAMED = 16		# ids below this are likely, and have names


class Maker:
    def __init__(self, metadata, seed):
        with open(metadata, encoding="utf-8") as file:
            self.meta = decoder.Metadata(file.read())
        self.random = random.Random(seed)

    def number(self, bits):
        """A number of so many bits: often small, or at an edge."""
        choice = self.random.randrange(6)
        if choice < 3:
            return self.random.randrange(NAMED) & (1 << bits) - 1
        if choice == 3:
            return self.random.choice((0, 1, (1 << bits) - 1, 1 << bits - 1))
        if choice == 4:		# small and negative: an error
            return -self.random.randrange(1, 540) & (1 << bits) - 1
        return self.random.getrandbits(bits)

    def text(self):
        pieces = (b"name", b"\\", b'"', b"\n", b"\t", b"\x1b[2J", b"\x7f", b"\x9b", "é".encode(),
                  "\u20ac".encode(), "\U0001f600".encode(), b"\xed\xa0\x80", b"\xc3", b"\xf8",
                  b"\xe2\x82", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc2\x85", b"/", b" ",
                  "\u2028\ufeff\u202e".encode())
        return b"".join(self.random.choices(pieces, k=self.random.randrange(5)))

    def typed(self):
        """Typed arguments of a user event, sometimes damaged."""
        out = b""
        for _ in range(self.random.randrange(5)):
            form = self.random.randrange(16)
            out += bytes([form | self.random.randrange(16) << 4])
            if form <= 6:
                out += self.number(64).to_bytes(8, "little")[:(1, 1, 2, 2, 4, 4, 4)[form]]
            elif form in (12, 13, 14):
                out += self.number(64).to_bytes(8, "little") if self.random.randrange(2) else \
                    struct.pack("<d", self.random.choice((0.1, -2.5, 1e300, 5e-324, 3.0)))
            elif form == 15:
                out += self.typed_array()
            elif form == 7:
                out += self.text().replace(b"\0", b"") + b"\0"
            elif form == 8:
                raw = self.random.randbytes(self.random.randrange(6))
                out += bytes([len(raw)]) + raw
            elif form in (9, 10):
                out += self.number(64).to_bytes(8, "little")
            else:
                out += self.number(32).to_bytes(4, "little")
        return out[:self.random.randrange(len(out) + 1)] \
            if not self.random.randrange(6) else out

    def typed_array(self):
        """An array of numbers, or a block; the format of its elements may be none."""
        form = self.random.choice((0, 3, 4, 6, 8, 9, 10, 12, 13, 14, 7, 15, 16, 255))
        size = {0: 1, 3: 2, 4: 4, 6: 4, 8: 1}.get(form, 8)
        count = self.random.randrange(5)
        return struct.pack("<BI", form, count) + self.random.randbytes(count * size)

    def record(self, opcode, time, fixed=None):
        """A record with random fields; fixed has the values of some."""
        event, fixed = self.meta.events[opcode], fixed or {}
        dat20 = shift = 0
        for field, size, enum in event.bits:
            if field in ("p", "nargs"):
                continue
            value = self.random.choice(list(enum)) if enum and self.random.randrange(4) \
                else self.number(size)
            dat20 |= (fixed.get(field, value) & (1 << size) - 1) << shift
            shift += size
        varies = any(field == "nargs" for field, *_ in event.bits)
        args, blob, counts = b"", None, {}
        if not event.known:
            args = self.random.randbytes(4 * self.random.randrange(8))
            blob = self.text() if self.random.randrange(2) else None
            dat20 = self.random.getrandbits(20)
        for form, field, count in event.fields if event.known else ():
            if field == "size":
                if event.name in ("exception", "user_event") and self.random.randrange(2):
                    break
                blob = b""
                continue
            if form in ("u8", "utf8"):
                data = self.typed() if event.name == "user_event" else \
                    struct.pack("<7I", *(self.number(32) for _ in range(7))) + self.text() \
                    if event.name == "trace_event" else self.text()
                data = fixed.get(field, data)
            else:
                bits = int(form[1:])
                number = 1 if not count else int(count) if count.isdigit() else \
                    counts.get(count, self.random.randrange(8))
                if event.name == "sys_enter":
                    number = dat20 >> 18 & 1
                values = [fixed.get(field, self.number(bits)) for _ in range(number)]
                if any("_" + field == c for _, _, c in event.fields):
                    values = [self.random.randrange(5)]
                    counts["_" + field] = values[0]
                data = b"".join((v & (1 << bits) - 1).to_bytes(bits // 8, "little")
                                for v in values)
            if blob is None:
                args += data
            else:
                blob += data
        if not self.random.randrange(20) and event.known and opcode != REGISTRY:
            args, blob = self.misshape(args, blob)
        nargs = len(args) // 4
        if event.name == "exception":	# says whether a buffer follows
            dat20 = dat20 & ~8 | (8 if blob is not None else 0)
        if varies and event.name != "sys_enter":
            dat20 &= 0xfffff
        word = time & 0xffffffff | opcode << 32 | dat20 << 40 | \
            (blob is not None) << 60 | nargs << 61
        out = struct.pack("<Q", word) + args
        if blob is not None:
            out += struct.pack("<I", len(blob)) + blob
        return out + bytes(-len(out) % 8)

    def misshape(self, args, blob):
        """Arguments or bytes that the layout does not have, or fewer of them."""
        choice = self.random.randrange(5)
        if choice == 0:
            return args[:-4], blob
        if choice == 1:
            return (args + bytes(4))[:28], blob
        if choice == 2:
            return args, None if blob is not None else self.text()
        return args, blob and (blob[:-3] if choice == 3 else blob + b"\1\2\3")

    def packet(self, kind, cpu, seq, begin, end, records, **head):
        content = decoder.HEADER + len(records)
        size = content + self.random.randrange(3) * 8
        raw = bytearray(struct.pack(
            "<I16sIQ", decoder.MAGIC, self.meta.uuid, 0, kind << 32 | cpu))
        raw += bytes(76) + struct.pack("<iBBHIII", head.get("tid", 0), 120,
                                       head.get("context", 0), 0, 1, 0, 0)
        raw += struct.pack("<6Q2IQ", begin, end, content * 8, size * 8, seq,
                           head.get("lost", 0), cpu, kind, 0) + records
        raw[120:124] = struct.pack("<I", decoder.crc32c(raw))
        return bytes(raw) + b"\xa5" * (size - content)

    def stream(self, kind, cpu, opcodes):
        """Packets with random records; the time crosses 2^32 several times."""
        now, lost, seq, out = 2**33 - 2000, 0, 0, b""
        out += self.packet(kind, cpu, seq, now, now, b"", context=decoder.CONTINUED)
        for _ in range(PACKETS):
            if not self.random.randrange(3):
                lost += self.random.randrange(9)
            seq += 1 if self.random.randrange(4) else 2
            begin, records = now, b""
            for _ in range(RECORDS):
                step = self.random.choice((0, 0, 1, 5, 100, 1 << 30))
                if (now + step) >> 32 != now >> 32:
                    records += struct.pack("<QQQ", (now + step) & 0xffffffff | 255 << 32 |
                                           4 << 61, now + step, 0)
                now += step
                # Sometimes the clock was set back: readers hold the time.
                back = 3 if not self.random.randrange(20) and now & 0xffffffff > 3 else 0
                if self.random.randrange(8):
                    records += self.record(self.random.choice(opcodes), now - back)
                else:
                    records += self.name(now - back)
            out += self.packet(kind, cpu, seq, begin, now, records, lost=lost,
                               tid=self.random.randrange(NAMED),
                               context=self.random.randrange(7))
        return out

    def sweep(self, cpu):
        """One packet with each system call of each table, each error and signal."""
        now, records = 2**33 - 2000, b""
        # 60 is sys_enter, 61 sys_exit, 105 signal_deliver and 32 sched_switch.
        every = [(60, {"nr": nr, "compat": table & 1, "x32": table & 2, "large": 0})
                 for table in range(4) for nr in range(600)]
        every += [(61, {"nr": 0, "compat": 0, "x32": 0, "large": 0, "ret": -ret})
                  for ret in range(600)]
        every += [(105, {"sig": sig}) for sig in range(128)]
        every += [(32, {"prev_state": state}) for state in range(16)]
        for opcode, fixed in every:
            records += self.record(opcode, now, fixed)
        return self.packet(decoder.EVENT, cpu, 1, now, now, records)

    def name(self, time):
        """A record that names an object, which may have lived at any time."""
        kind = self.random.choice((1, 1, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
        number = self.random.randrange(NAMED)
        born = self.random.choice((0, 2**33 + self.random.randrange(100) * 2**30))
        return self.record(REGISTRY, time, {
            "type": kind, "id": 240 + number if kind == 13 else number,
            "param1": self.random.choice((0, 1, 2, 3, number, ANY_OWNER)),
            "param2": self.random.randrange(2),
            # All records of one life that have a time of death have the same one.
            "born": born, "died": self.random.choice((0, born + 2**33))})

    def registry(self):
        """Names of each type for small ids."""
        now, records = 2**33 - 3000, b""
        for kind in (*range(1, 15), 65, 70):
            for number in range(0, NAMED, 2):
                for owner in (0, number, ANY_OWNER) if kind in (5, 6, 7) else (0,):
                    records += self.record(REGISTRY, now, {
                        "type": kind, "dead": 0, "id": 240 + number if kind == 13 else number,
                        "param1": owner, "param2": 0, "born": 0, "died": 0,
                        "name": b"%d-%d" % (kind, number)})
        head = self.packet(decoder.REGISTRY, 0, 0, now, now, b"", context=decoder.CONTINUED)
        return head + self.packet(decoder.REGISTRY, 0, 1, now, now, records, tid=-1,
                                  context=decoder.CONTINUED)


def write(maker, metadata, folder):
    """Write a trace with the events of @maker, which was made from the same metadata."""
    os.makedirs(folder)
    with open(metadata, "rb") as file:
        files = {"metadata": file.read(), "registry": maker.registry()}
    opcodes = [opcode for opcode in maker.meta.events if opcode not in (0, REGISTRY, 255)]
    for cpu in range(CPUS):
        files[f"cpu{cpu}"] = maker.stream(decoder.EVENT, cpu, opcodes)
        files[f"control{cpu}"] = maker.stream(
            decoder.CONTROL, cpu, [o for o in opcodes if o <= 16])
    files[f"cpu{CPUS}"] = maker.sweep(CPUS)
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def main():
    metadata, folder, seed = sys.argv[1:]
    write(Maker(metadata, int(seed)), metadata, folder)


if __name__ == "__main__":
    main()
