#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a trace of ThreadX with priority inversions, made from the layout of its buffer.

usage: make_trx.py FILE

The thread "high" waits for the mutex "bus" of "low" from tick 20 to 70, and again from 100 to
210, while "mid" runs: nothing bounds that wait.  From 240 on it waits a third time, and does
not run again.  "mid" runs meanwhile, and from 250 on waits for another mutex, which "low" does
not put.
"""
import struct
import sys

HIGH, MID, LOW, BUS, QUEUE = 0x20001000, 0x20002000, 0x20003000, 0x20004000, 0x20005000
OTHER = 0x20006000
PRIO = {HIGH: 5, MID: 10, LOW: 20}
RESUME, SUSPEND, GET, PUT, SEND = 1, 2, 52, 57, 69

# Time, thread, event, its four words.
EVENTS = [
    (0, LOW, GET, BUS, 1, 0, 0),
    (10, LOW, RESUME, HIGH, 4, 0x3100, HIGH),
    (20, HIGH, GET, BUS, 1, LOW, 1),
    (25, HIGH, SUSPEND, HIGH, 13, 0x1090, LOW),
    (60, LOW, PUT, BUS, LOW, 1, 0x3080),
    (65, LOW, RESUME, HIGH, 13, 0x3080, HIGH),
    (70, HIGH, PUT, BUS, HIGH, 1, 0x1180),
    (80, HIGH, SUSPEND, HIGH, 4, 0x1100, LOW),
    (90, LOW, GET, BUS, 1, 0, 0),
    (95, LOW, RESUME, HIGH, 4, 0x3100, HIGH),
    (100, HIGH, GET, BUS, 1, LOW, 1),
    (110, HIGH, SUSPEND, HIGH, 13, 0x1100, MID),
    (130, MID, SEND, QUEUE, 1, 0, 0),
    (140, MID, SUSPEND, MID, 4, 0x2100, LOW),
    (200, LOW, PUT, BUS, LOW, 1, 0x3080),
    (205, LOW, RESUME, HIGH, 13, 0x3080, HIGH),
    (210, HIGH, PUT, BUS, HIGH, 1, 0x1180),
    (215, HIGH, SUSPEND, HIGH, 4, 0x1100, LOW),
    (220, LOW, GET, BUS, 1, 0, 0),
    (222, LOW, GET, OTHER, 1, 0, 0),
    (230, LOW, RESUME, HIGH, 4, 0x3100, HIGH),
    (240, HIGH, GET, BUS, 1, LOW, 1),
    (245, HIGH, SUSPEND, HIGH, 13, 0x1100, MID),
    (250, MID, GET, OTHER, 1, LOW, 1),
    (255, MID, SUSPEND, MID, 13, 0x2100, LOW),
    (260, LOW, PUT, BUS, LOW, 1, 0x3080),
]
BASE, NAME = 0x20000000, 32


def entry(kind, address, first, second, name, prio=0):
    return struct.pack("<BBBBIII32s", 0, kind, 0x80 if prio else 0, prio, address, first, second,
                       name.encode())


def main():
    objects = b"".join([
        entry(1, HIGH, 0x1000, 0x400, "high", 5), entry(1, MID, 0x2000, 0x400, "mid", 10),
        entry(1, LOW, 0x3000, 0x400, "low", 20), entry(5, BUS, 0, 0, "bus"),
        entry(3, QUEUE, 16, 0, "work")])
    events = b"".join(struct.pack("<8I", thread, 1 << 31 | PRIO[thread] << 16 | PRIO[thread],
                                  event, 1000 + at, *words) for at, thread, event, *words in EVENTS)
    registry = BASE + 48
    start = registry + len(objects)
    head = struct.pack("<IIIIHHIIIIIII", 0x54585442, 0xffffffff, BASE, registry, 0, NAME, start,
                       start, start + len(events), start, 0xaaaaaaaa, 0xbbbbbbbb, 0xcccccccc)
    with open(sys.argv[1], "wb") as f:
        f.write(head + objects + events)


main()
