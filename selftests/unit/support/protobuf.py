# SPDX-License-Identifier: GPL-2.0-only
"""A decoder of Protocol Buffers, for the tests of Perfetto's traces."""


def members(data):
    """The members of a message: number and value, which are bytes but for varints."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        if key & 7 not in (1, 2, 5):
            raise ValueError(key)
        size = varint() if key & 7 == 2 else 8 if key & 7 == 1 else 4
        yield key >> 3, data[at:at + size]
        at += size
