#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write a stream of Tonbandgeraet whose times are nanoseconds since 1970.

usage: make_tband.py FILE

The task "high" waits for the mutex of "low" from 11 ns after the first event; its next event is
at 22.
"""
import sys

ZERO = 1795424806915379651
CREATED, PRIORITY, MADE, KIND = 0x5e, 0x5b, 0x63, 0x65
READY, SWITCHED, GETS, PUTS, WAITS = 0x55, 0x54, 0x6a, 0x66, 0x6f
HIGH, LOW, MUTEX = 1, 2, 3

# Time, event, its bytes.
EVENTS = [
    (0, CREATED, HIGH),
    (0, PRIORITY, HIGH, 9),
    (0, CREATED, LOW),
    (0, PRIORITY, LOW, 5),
    (1, MADE, MUTEX),
    (2, SWITCHED, LOW),
    (3, GETS, MUTEX, 0),
    (8, READY, HIGH),
    (9, SWITCHED, HIGH),
    (11, WAITS, MUTEX, 100),
    (12, SWITCHED, LOW),
    (15, PUTS, MUTEX, 1),
    (18, SWITCHED, HIGH),
    (20, GETS, MUTEX, 0),
    (22, PUTS, MUTEX, 1),
]


def number(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def frame(data):
    """COBS: pieces without zeros, each behind its length."""
    return b"".join(bytes([len(p) + 1]) + p for p in data.split(b"\0")) + b"\0"


def main():
    out = frame(bytes((KIND, MUTEX, 3)))
    for at, event, *rest in EVENTS:
        out += frame(bytes([event]) + number(ZERO + at) + bytes(rest))
    with open(sys.argv[1], "wb") as f:
        f.write(out)


main()
