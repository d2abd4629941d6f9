# SPDX-License-Identifier: GPL-2.0-only
"""Types of fields: what is a floating point number or an array of fixed length in the input has to
be the same in the output "lttng", as babeltrace2 tells their metadata."""
import re

from events import run

LINE = re.compile(r'( *)(.*?): ((?:Single|Double)-precision real|Static array \(Length [\d,]+\):|.*)')


def read_classes(trace):
    """The types of such fields of payloads, by the names of event and field."""
    status, out, _ = run('babeltrace2', trace, '-c', 'sink.text.details', '--params=with-data=no')
    found, event, payload = {}, None, False
    if status:
        return found
    lines = out.decode('utf-8', 'replace').splitlines()
    for i, line in enumerate(lines):
        name = re.fullmatch(r'    Event class `(.*)` \(ID [\d,]+\):', line)
        if name:
            event = name[1]
        payload = payload and line.startswith(' ' * 8) or line.startswith('      Payload field class')
        m = LINE.fullmatch(line)
        if not payload or not m or len(m[1]) != 8:
            continue
        kind = m[3]
        if kind.startswith('Static'):
            element = lines[i + 1].strip()
            if not re.match(r'Element: (\w+ (integer|enumeration)|\w+-precision)', element):
                continue	# its elements are fields of their own, or a text
            kind += ' ' + element if 'real' in element else ''
        elif not kind.endswith('real'):
            kind = None
        found.setdefault((event, m[2]), set()).add(kind)
    return found


def compare(trace, output, tell):
    theirs = read_classes(output)
    for (event, field), want in read_classes(trace).items():
        got = theirs.get((event, field))
        if want != {None} and got is not None and got != want:
            tell(f'the type of {event}.{field}', want, 'is', got)
