# SPDX-License-Identifier: GPL-2.0-only
"""What perf script calls for each record (perf script -s reader.py): print a line of JSON.

A tracepoint: its name, and its fields.  Another event: its name.  A context switch: its values."""
import json


def plain(value):
    """What JSON has no form for: bytes are a list of numbers, with their text."""
    if isinstance(value, (bytes, bytearray)):
        return {'bytes': value.hex()}
    return value


def show(kind, name, fields):
    print(json.dumps([kind, name, fields], default=plain))


def trace_unhandled(name, _context, fields, *_):
    own = {k: v for k, v in fields.items() if not k.startswith('common_')}
    show('tracepoint', name.replace('__', ':', 1), own)


def process_event(event):
    show('other', event['ev_name'], {})


def context_switch(_time, _cpu, _pid, _tid, other_pid, other_tid, _machine, out, preempt, *_):
    # perf says preempt only of those that go.
    show('switch', 'PERF_RECORD_SWITCH', {'out': int(out), 'preempt': int(preempt),
                                         'next_prev_pid': other_pid, 'next_prev_tid': other_tid})
