# SPDX-License-Identifier: GPL-2.0-only
"""What trace-cmd says of a trace.dat: events in its order, with the raw value of each field.

trace-cmd report -R prints "NAME=VALUE NAME=VALUE"; texts have no quotes and may have blanks and
ends of lines, so the names of an event's fields are taken from the layouts in the file."""
import bisect
import collections
import re
import subprocess

Event = collections.namedtuple('Event', 'buffer comm pid cpu time name fields')
Field = collections.namedtuple('Field', 'type name array size signed element conversion')
# Bytes of a type of C, in the kernels of 64 bits that are recorded.
SIZES = {'char': 1, 'u8': 1, '__u8': 1, 'uint8_t': 1, 's8': 1, '__s8': 1, 'bool': 1, 'short': 2, 'u16': 2, '__u16': 2,
         'int': 4, 'unsigned': 4, 'u32': 4, '__u32': 4, 'pid_t': 4, 'long': 8, 'u64': 8, '__u64': 8}

LINE = re.compile(r'^(?:(\S*): )? *(.{1,16})-(\d+) +\[(\d+)\] *(\d+(?:\.\d+)?): +(\w+): *(.*)$', re.S)
LOST = re.compile(r'^(?:(\S*): +)?CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]$')
DECLARED = re.compile(r'\tfield:(.*?)\s*([^\s*\]]+?)(\[[^]]*\])?;\toffset:\d+;\tsize:(\d+);'
                      r'(?:\tsigned:(\d);)?')


CONVERSION = re.compile(r'%[-+ #0]*(\d+|\*)?(\.(\d+|\*)?)?(hh|h|ll|l|z|j|t|L)?([a-zA-Z%])')
ARGUMENT = re.compile(r'\(*(\(*[\w\s*]+\)\s*)*\(*REC->(\w+)[\s)]*')


def arguments(text):
    """The arguments behind a print format, cut at the commas that are in no brackets and texts."""
    depth, quoted, found = 0, False, ['']
    for i, c in enumerate(text):
        quoted ^= c == '"' and text[i - 1] != '\\'
        depth += (c in '([{') - (c in ')]}') if not quoted else 0
        if c == ',' and not depth and not quoted:
            found.append('')
        else:
            found[-1] += c
    return [argument.strip() for argument in found]


def conversions(line):
    """The conversions of a print format in its order: the field that alone is the argument, or
    None, and the letter, such as x of %08x.  At the end '' if a text follows the last one."""
    words = re.match(r'print fmt: "((?:\\.|[^"\\])*)"(?: *, *(.*))?$', line, re.S)
    if not words or not words[2]:
        return []
    found, values, end = [], iter(arguments(words[2])), 0
    for match in CONVERSION.finditer(words[1]):
        width, _, precision, _, letter = match.groups()
        end = match.end()
        if letter == '%':
            continue
        for star in (width, precision):
            if star == '*':
                next(values, '')
        argument = ARGUMENT.fullmatch(next(values, ''))
        found.append((argument[2] if argument else None, letter))
    return found + [(None, '')] * (end < len(words[1]))


def shown_as(line, fields):
    """Fields with their conversions.  trace-cmd looks for each field in the print format, from
    behind the field before it on, round to where it began.  Behind a conversion that ends the
    format it shows all numbers by their types."""
    shown, at = conversions(line), 0
    for field in fields:
        letter = ''
        if at < len(shown) and not field.array:
            for i in [*range(at, len(shown)), *range(at)]:
                if shown[i][0] == field.name:
                    letter, at = shown[i][1], i + 1
                    break
        yield field._replace(conversion=letter)


def element_size(kind, brackets, size):
    """Bytes of an element of an array: those of its type, or of the array by their number."""
    count = re.search(r'\[(\d+)\]', brackets or kind)
    if count and not kind.startswith(('__data_loc', '__rel_loc')) and int(count[1]):
        return size // int(count[1])
    words = kind.replace('[]', ' ').split()
    return 8 if '*' in kind else next((SIZES[w] for w in reversed(words) if w in SIZES), 0)


def output(*words):
    """Standard output, with bytes that are no text as they are."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=3600)
    assert done.returncode == 0, f'{words}: {done.returncode}: {done.stderr.decode()[-400:]}'
    return done.stdout.decode('utf-8', 'surrogateescape')


def layouts(path):
    """Fields of each event by its name, in the order of the file."""
    found = {}
    fields = None
    for line in output('trace-cmd', 'dump', '--events', '--ftrace-events', '-i', path).split('\n'):
        if line.startswith('name: '):
            fields = found[line[6:].strip()] = []
        if line.startswith('print fmt: ') and fields is not None:
            fields[:] = list(shown_as(line, fields))
        declared = DECLARED.match(line)
        if declared and not declared[2].startswith('common_'):
            kind = declared[1]
            array = bool(declared[3]) or '[' in kind
            fields.append(Field(kind, declared[2], array, int(declared[4]), declared[5] == '1',
                                element_size(kind, declared[3], int(declared[4])), ''))
    return found


class Symbols:
    """Names of functions, and texts of the kernel, by their address."""
    def __init__(self, path):
        self.names = collections.defaultdict(set)
        for line in output('trace-cmd', 'report', '-f', '-i', path).split('\n'):
            words = line.split()
            if len(words) >= 2:
                self.names[int(words[0], 16)].add(words[1])
        self.addresses = sorted(self.names)

        self.texts = {}
        for line in output('trace-cmd', 'report', '-P', '-i', path).split('\n'):
            address, _, text = line.partition(' ')
            if text:
                self.texts[int(address, 16)] = text

    def begin(self, address):
        """Those that begin there."""
        return self.names.get(address, ())

    def at(self, address):
        """Those that the address is in."""
        i = bisect.bisect_right(self.addresses, address)
        return self.names[self.addresses[i - 1]] if i else ()


def split(text, fields):
    """Values by the names of the fields, or None if the text is of another form."""
    values = {}
    rest = ' ' + text
    for i, field in enumerate(fields):
        head = f' {field.name}='
        if not rest.startswith(head):
            return None
        rest = rest[len(head):]
        if i + 1 < len(fields):
            at = rest.find(f' {fields[i + 1].name}=')
            if at < 0:
                return None
            values[field.name], rest = rest[:at], rest[at:]
        else:
            values[field.name] = rest
    return values


def logical_lines(text):
    """Lines, with those that a text continues on."""
    whole = None
    for line in text.split('\n'):
        if LINE.match(line) or LOST.match(line):
            if whole is not None:
                yield whole
            whole = line
        elif whole is not None:
            whole += '\n' + line
    if whole is not None:
        yield whole.rstrip('\n')


def report(path, known, *options):
    """Events and losses.  The time is in ns, or a count where the clock counts."""
    events, losses, named = [], [], ''
    for line in logical_lines(output('trace-cmd', 'report', '-t', '-R', '-N', *options, '-i', path)):
        lost = LOST.match(line)
        if lost:
            named = lost[1] or ''       # also of the event on the next line, which has none
            losses.append((named, int(lost[2]), int(lost[3] or 0)))
            continue
        buffer, comm, pid, cpu, time, name, text = LINE.match(line).groups()
        whole, dot, part = time.partition('.')
        time = int(whole) * 10**len(part) + int(part) if dot else int(whole)
        fields = split(text, known[name]) if name in known else None
        events.append(Event(buffer or named, comm.strip(), int(pid), int(cpu), time, name,
                            text if fields is None else fields))
        named = ''
    return events, losses
