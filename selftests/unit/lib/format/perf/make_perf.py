# SPDX-License-Identifier: GPL-2.0-only
"""Write a perf.data with given events and records, for tests of its reader.  The kernel's events
are those of make_linux_traces.

An event: (type, config, sample type, read format[, what follows in its attribute])."""
import struct

import make_linux_traces as linux


def record(kind, data, misc=0):
    data += bytes(-len(data) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(data)) + data


def attribute(event):
    """struct perf_event_attr, whose first version has 64 bytes; other records end as samples."""
    kind, config, form, read = event[:4]
    more = event[4] if len(event) > 4 else b''
    return struct.pack('<IIQQQQQ', kind, 64 + len(more), config, 1, form, read,
                       1 << 18) + bytes(16) + more


def tracing():
    return (linux.MAGIC + b'0.6\0' + struct.pack('<BBI', 0, 8, 4096) + linux.header_info() +
            struct.pack('<I', 0) + linux.event_formats() + linux.kallsyms() +
            struct.pack('<I', 0) + struct.pack('<Q', 0))


def described(events):
    """The feature with the names of events: of numbers of their names."""
    out = struct.pack('<II', len(events), 64)
    for number, (event, name) in events.items():
        text = name.encode() + bytes(64 - len(name))
        out += attribute(event[:4]) + struct.pack('<II', 1, len(text)) + text
        out += struct.pack('<Q', number)
    return out


def as_file(events, data, more=None):
    """@events: by their ids; @more: features by their numbers, beside the tracing data."""
    attrs, ids, begin = b'', b'', 104
    size = max(len(attribute(event)) for event in events.values())
    at = begin + (size + 16) * len(events)
    for number, event in events.items():
        attrs += attribute(event).ljust(size, b'\0') + struct.pack('<QQ', at + len(ids), 8)
        ids += struct.pack('<Q', number)
    at += len(ids)
    head = b'PERFILE2' + struct.pack('<QQ', 104, size + 16)
    head += struct.pack('<QQQQQQ', begin, len(attrs), at, len(data), 0, 0)
    features = dict(sorted({1: tracing(), **(more or {})}.items()))
    head += sum(1 << bit for bit in features).to_bytes(32, 'little')
    out = head + attrs + ids + data
    end = len(out) + 16 * len(features)
    for part in features.values():
        out += struct.pack('<QQ', end, len(part))
        end += len(part)
    return out + b''.join(features.values())
