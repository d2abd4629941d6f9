#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Convert traces to every output, read these by programs that are not ktape, and compare number,
name, time, CPU, thread and fields of all events with the input's.

usage: compare.py [--to FORM,...] [--engines FOLDER] KTAPE TRACE...

Every difference is printed.  What a format cannot hold is in forms.py; what "ktape convert"
tells of it has to be what is missing, item by item.  FOLDER has hyparquet in node_modules."""
import argparse
import os
import shutil
import sys
import tempfile

import classes
import events
import forms
import reference

SHOWN = 5
# Inputs that no conversion may take, and why it says so (../shared/golden/README.md).
REFUSED = {'tband_stream_edge_ts.bin': 'time stamps for core 0 are out of order'}


class Differences:
    """Differences of an output, of which the first ones are printed."""

    def __init__(self, title):
        self.title, self.number = title, 0

    def tell(self, *what):
        self.number += 1
        if self.number <= SHOWN:
            print(f'{self.title}: ' + ': '.join(str(w)[:300] for w in what), flush=True)


def compare_events(form, want, tell):
    """Return how many events and fields are missing."""
    pool, missing, lost = {}, {}, form.lost_beside()
    for got in form.read():
        pool.setdefault(got.ts, []).append(got)
    for event in want:
        found = form.find(event, pool) if not form.leaves(event) else None
        if found is None:
            missing[event.name] = missing.get(event.name, 0) + 1
            if form.tells_extra and event.extra and not event.user and not form.leaves(event):
                lost[event.name, 'extra'] = lost.get((event.name, 'extra'), 0) + len(event.extra)
            continue
        for what in found[0]:
            tell(event.name, event.ts, what)
        for what in found[1]:
            lost[event.name, what] = lost.get((event.name, what), 0) + 1
    for ts, rest in pool.items():
        for got in rest:
            if form.may_have(got):
                continue
            tell('an event too many', ts, got.name, got.fields, got.rest)
    return missing, lost


def compare_told(form, missing, lost, says, tell):
    """What the conversion tells has to be what is missing."""
    told = events.told(says, form.name)
    fields = sum(told.pop(what, 0) for what in (*forms.FIELDS, *form.more_fields))
    if fields != sum(lost.values()):
        tell('fields that are missing', sum(lost.values()), 'told', fields,
             ', '.join(f'{event}.{key} {n}' for (event, key), n in sorted(lost.items())))
    for what in form.beside:
        told.pop(what, None)
    several = sum(told.pop(what, 0) for what in list(told) if what.startswith(('events ', 'user events')))
    for name in missing:
        missing[name] -= told.pop(name, 0)
    if sum(missing.values()) != several:
        tell('events that are missing', {k: v for k, v in missing.items() if v}, 'told', several)
    for what, amount in told.items():
        tell('told, but not missing', what, amount)


def compare_form(form, trace, want):
    d = Differences(f'{trace[-1]}: {form.name}')
    status, _, says = events.run(form.ktape, 'convert', '-v', '--force', '--to', form.to,
                                 *form.where(), *trace)
    reason = REFUSED.get(os.path.basename(trace[-1]))
    if reason:
        if status != 1 or reason not in says or os.path.exists(form.path):
            d.tell('is not refused', status, says[-200:], os.path.exists(form.path))
        print(f'{d.title}: refused, {d.number} differences', flush=True)
        return d.number
    damaged = 'a part of the input is damaged' in says
    if status and not damaged:
        d.tell('convert fails', says[-200:])
        return d.number
    held = [e for e in want if form.holds(e)]
    try:
        missing, lost = compare_events(form, held, d.tell)
        compare_told(form, missing, lost, says, d.tell)
        if form.name == 'lttng' and reference.is_of_babeltrace2(trace, want):
            classes.compare(trace[0], form.path, d.tell)
    except (ValueError, KeyError, IndexError, AssertionError, StopIteration) as e:
        d.tell('cannot be read', type(e).__name__, e)
        return d.number
    print(f'{d.title}: {len(held) - sum(missing.values())} of {len(held)} events, '
          f'{sum(lost.values())} fields told, '
          f'{d.number} differences', flush=True)
    return d.number


def compare(ktape, trace, names, engines):
    """All outputs of one trace.  Return: number of differences."""
    want, status, says = events.read(ktape, trace)
    if not want:
        print(f'{trace[-1]}: nothing to compare: {says.splitlines()[-1:]}')
        return 0
    d = Differences(f'{trace[-1]}: reference')
    reference.compare(ktape, trace, want, d.tell)
    if d.number:
        print(f'{d.title}: {d.number} differences')
    total = d.number
    folder = tempfile.mkdtemp(prefix='ktape-outputs.')
    try:
        for form in forms.make(ktape, trace, want, folder, engines):
            if (not names or form.name in names) and not form.skipped:
                total += compare_form(form, trace, want)
    finally:
        shutil.rmtree(folder)
    return total


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--to', default='')
    options.add_argument('--engines', default='')
    options.add_argument('ktape')
    options.add_argument('trace', nargs='+')
    o = options.parse_args()
    names = [name for name in o.to.split(',') if name]
    total = sum(compare(os.path.abspath(o.ktape), [trace], names, o.engines) for trace in o.trace)
    print(f'{len(o.trace)} traces, {total} differences')
    return bool(total)


if __name__ == '__main__':
    sys.exit(main())
