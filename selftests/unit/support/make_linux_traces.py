# SPDX-License-Identifier: GPL-2.0-only
"""Write the same few events as other Linux tracers would record them.

usage: make_linux_traces.py FOLDER [tasks|big]

    two6.dat, two7.dat		trace.dat with CPU 1 in a buffer of its own
    tsc.dat, counter.dat	trace.dat 6 whose clock does not count ns, with and without the
				factor
    v6.dat, v7.dat, zlib.dat, zstd.dat	trace.dat of trace-cmd, the last two compressed, the
				last one if the command zstd is there
    perf.data, perf-zstd.data	perf.data, the last one with compressed records
    perf-odd.data		the same as perf before 6.12 compresses: records of odd sizes
    ctf1, ctf2			LTTng's kernel trace with compact event headers

Written from the formats' texts, not from the readers that they test. Each trace has
CPUs 0 and 1, a loss of 7 events on CPU 1, and the events of SCENE.  With "tasks" there are
only v6.dat and perf.data, with the events of TASKS, which name threads without their process.
With "big" trace.dat and perf.data are those of a big-endian machine.
"""
import json
import os
import random
import struct
import subprocess
import sys
import zlib

BIG = sys.argv[2:] == ['big']
ORDER = '>' if BIG else '<'


def pack(code, *values):
    return struct.pack(ORDER + code, *values)


# time in ns, CPU, thread that runs, event, fields
SCENE = [
    (1_000_000_000, 0, 100, 'sched_switch',
     dict(prev_comm='alpha', prev_pid=100, prev_prio=120, prev_state=1,
          next_comm='beta', next_pid=200, next_prio=98)),
    (1_000_000_500, 1, 300, 'irq_handler_entry', dict(irq=24, name='eth0-rx')),
    (1_000_000_900, 1, 300, 'irq_handler_exit', dict(irq=24, ret=1)),
    (1_000_001_000, 0, 200, 'sys_enter', dict(id=1, args=[3, 4096, 16, 0, 0, 0])),
    (1_000_001_700, 0, 200, 'sys_exit', dict(id=1, ret=-11)),
    (1_000_002_000, 1, 300, 'strange_event', dict(number=-5, word='hello', address=0xffff888012345678)),
    # Later than what the 27 bits of a compact time stamp hold.
    (1_300_000_000, 1, 300, 'sched_waking', dict(comm='alpha', pid=100, prio=120, target_cpu=0)),
    (1_300_000_700, 1, 300, 'irq_handler_entry', dict(irq=24, name='eth0-rx')),
    (1_300_000_800, 1, 300, 'irq_handler_exit', dict(irq=24, ret=1)),
    (1_300_000_000, 0, 200, 'sched_switch',
     dict(prev_comm='beta', prev_pid=200, prev_prio=98, prev_state=256,
          next_comm='alpha', next_pid=100, next_prio=120)),
]
TASKS = [
    (1_000_000_000, 0, 100, 'sched_process_fork',
     dict(parent_comm='alpha', parent_pid=100, child_comm='alpha', child_pid=400)),
    (1_000_001_000, 0, 100, 'sched_process_exit', dict(comm='beta', pid=200, prio=120)),
    (1_000_002_000, 0, 100, 'sched_process_exit', dict(comm='delta', pid=500, prio=120)),
    (1_300_000_000, 1, 300, 'irq_handler_entry', dict(irq=24, name='eth0-rx')),
]
LOST_CPU, LOST, LOST_BEFORE = 1, 7, 1_300_000_000
NAMES = {100: 'alpha', 200: 'beta', 300: 'gamma'}

# ---- the kernel's layouts, for trace-cmd and perf --------------------------------------

COMMON = '''	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

'''
LAYOUTS = {   # name: (id, system, [(declaration, size, signed, struct code or kind)])
    'sched_switch': (310, 'sched', [
        ('char prev_comm[16]', 16, 0, '16s'), ('pid_t prev_pid', 4, 1, 'i'),
        ('int prev_prio', 4, 1, 'i'), ('long prev_state', 8, 1, 'q'),
        ('char next_comm[16]', 16, 0, '16s'), ('pid_t next_pid', 4, 1, 'i'),
        ('int next_prio', 4, 1, 'i')]),
    'sched_waking': (311, 'sched', [
        ('char comm[16]', 16, 0, '16s'), ('pid_t pid', 4, 1, 'i'),
        ('int prio', 4, 1, 'i'), ('int target_cpu', 4, 1, 'i')]),
    'irq_handler_entry': (120, 'irq', [
        ('int irq', 4, 1, 'i'), ('__data_loc char[] name', 4, 0, 'loc')]),
    'irq_handler_exit': (121, 'irq', [('int irq', 4, 1, 'i'), ('int ret', 4, 1, 'i')]),
    'sched_process_fork': (312, 'sched', [
        ('char parent_comm[16]', 16, 0, '16s'), ('pid_t parent_pid', 4, 1, 'i'),
        ('char child_comm[16]', 16, 0, '16s'), ('pid_t child_pid', 4, 1, 'i')]),
    'sched_process_exit': (313, 'sched', [
        ('char comm[16]', 16, 0, '16s'), ('pid_t pid', 4, 1, 'i'), ('int prio', 4, 1, 'i')]),
    'sys_enter': (350, 'raw_syscalls', [
        ('long id', 8, 1, 'q'), ('unsigned long args[6]', 48, 0, '6Q')]),
    'sys_exit': (351, 'raw_syscalls', [('long id', 8, 1, 'q'), ('long ret', 8, 1, 'q')]),
    'strange_event': (900, 'strange', [
        ('int number', 4, 1, 'i'), ('__rel_loc char[] word', 4, 0, 'rel'),
        ('void * address', 8, 0, 'Q')]),
}


def field_name(declaration):
    return declaration.split('[')[0].split()[-1] if not declaration.startswith('__') \
        else declaration.split()[-1]


def layout_text(name):
    number, _, fields = LAYOUTS[name]
    text, at = f'name: {name}\nID: {number}\nformat:\n' + COMMON, 8
    for declaration, size, signed, _ in fields:
        at = (at + min(size, 8) - 1) // min(size, 8) * min(size, 8) if size in (4, 8) else at
        text += f'\tfield:{declaration};\toffset:{at};\tsize:{size};\tsigned:{signed};\n'
        at += size
    return text + '\nprint fmt: "nothing"\n'


def kernel_record(name, pid, values):
    number, _, fields = LAYOUTS[name]
    record = bytearray(pack('HBBi', number, 0, 0, pid))
    texts = []
    for declaration, size, _, code in fields:
        if size in (4, 8):
            record += bytes(-len(record) % size)
        v = values[field_name(declaration)]
        if code in ('loc', 'rel'):
            texts.append((len(record), code, v.encode() + b'\0'))
            record += bytes(4)
        elif code == '6Q':
            record += pack('6Q', *v)
        elif code == '16s':
            record += struct.pack('16s', v.encode())
        else:
            record += pack(code, v)
    for at, code, text in texts:
        base = at + 4 if code == 'rel' else 0
        record[at:at + 4] = pack('I', (len(record) - base) | len(text) << 16)
        record += text
    return bytes(record) + bytes(-len(record) % 4)


HEADER_PAGE = '''	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:1;
'''
KALLSYMS = 'ffffffff81000000 T _text\nffffffff81001000 t some_function\t[module]\n'


def part64(text):
    data = text.encode() if isinstance(text, str) else text
    return pack('Q', len(data)) + data


def header_info():
    return b'header_page\0' + part64(HEADER_PAGE) + b'header_event\0' + part64('unused\n')


def event_formats():
    systems = {}
    for name, (_, system, _) in LAYOUTS.items():
        systems.setdefault(system, []).append(name)
    out = pack('I', len(systems))
    for system, names in systems.items():
        out += system.encode() + b'\0' + pack('I', len(names))
        for name in names:
            out += part64(layout_text(name))
    return out


def kallsyms():
    return pack('I', len(KALLSYMS)) + KALLSYMS.encode()


def cmdlines():
    return part64(''.join(f'{tid} {name}\n' for tid, name in NAMES.items()))


# ---- trace-cmd ----------------------------------------------------------------------------

PAGE = 4096


def ring_word(kind, delta):
    """Bit fields of 5 and 27 bits, which a big-endian machine has from the top on."""
    return kind << 27 | delta if BIG else kind | delta << 5


def ring_pages(cpu):
    """The events of a CPU in pages; a page after a loss begins anew."""
    events = [e for e in SCENE if e[1] == cpu]
    pages, page, last, missed = [], None, 0, 0

    def flush():
        if page:
            commit = len(page['data']) | (1 << 31 | 1 << 30 if page['missed'] else 0)
            tail = pack('Q', page['missed']) if page['missed'] else b''
            data = pack('QQ', page['time'], commit) + page['data'] + tail
            pages.append(data + bytes(PAGE - len(data)))

    for time, _, pid, name, values in events:
        missed = LOST if cpu == LOST_CPU and time == LOST_BEFORE else 0
        if page is None or missed:
            flush()
            page, last = dict(time=time, data=b'', missed=missed), time
        delta = time - last
        if delta >= 1 << 27:
            page['data'] += pack('II', ring_word(30, delta & ((1 << 27) - 1)), delta >> 27)
            delta = 0
        record = kernel_record(name, pid, values)
        if len(page['data']) + len(record) > PAGE - 40:	# with its header, and the page's
            flush()
            page = dict(time=time, data=b'', missed=0)
            delta = 0
        if len(record) > 28 * 4:	# the length has a word of its own
            page['data'] += pack('II', ring_word(0, delta), len(record) + 4) + record
        else:
            page['data'] += pack('I', ring_word(len(record) // 4, delta)) + record
        last = time
    flush()
    return b''.join(pages)


MAGIC = b'\x17\x08\x44tracing'


def option(number, data):
    return pack('HI', number, len(data)) + data


def options(clock='local'):
    out = option(4, f'{"" if clock == "local" else "local "}[{clock}] global\0'.encode())
    out += option(5, b'Linux box 6.1.0 #1 SMP x86_64\0')
    for cpu in (0, 1):
        lost = LOST if cpu == LOST_CPU else 0
        out += option(2, f'CPU: {cpu}\nentries: 4\noverrun: {lost}\ncommit overrun: 0\n'
                      'dropped events: 0\n\0'.encode())
    # Microseconds since the epoch when the trace clock was 0.
    return out + option(1, b'1700000000000000\0')


def version6(more=b'', two=False, clock='local'):
    """@two: CPU 1 is in a buffer of its own."""
    head = MAGIC + b'6\0' + pack('BBI', BIG, 8, PAGE) + header_info()
    head += pack('I', 0) + event_formats() + kallsyms()
    head += pack('I', 0) + cmdlines() + pack('I', 2)
    head += b'options  \0' + options(clock) + more
    if two:
        # Behind this option, the end of options and the first table.
        head += option(3, pack('Q', len(head) + 6 + 8 + 4 + 2 + 42) + b'two\0')
    head += pack('H', 0)
    begin = (len(head) + 84 + PAGE - 1) // PAGE * PAGE
    cpus = [ring_pages(0), ring_pages(1)]
    place = [pack('QQ', begin, len(cpus[0])),
             pack('QQ', begin + len(cpus[0]), len(cpus[1]))]
    none = pack('QQ', begin, 0)
    if two:
        head += b'flyrecord\0' + place[0] + none + b'flyrecord\0' + none + place[1]
    else:
        head += b'flyrecord\0' + place[0] + place[1]
    return head + bytes(begin - len(head)) + b''.join(cpus)


def zstd(data):
    return subprocess.run(['zstd', '-q', '-c'], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def deflate(data):
    """As zlib does: bytes as they are, codes of fixed lengths, and codes of its own, in turn."""
    deflate.turn = getattr(deflate, 'turn', -1) + 1
    level, strategy = ((0, 0), (9, zlib.Z_FIXED), (9, 0))[deflate.turn % 3]
    c = zlib.compressobj(level, zlib.DEFLATED, 15, 8, strategy)
    return c.compress(data) + c.flush()


def version7(packed, two=False):
    def section(number, data):
        flags = 0
        if packed:
            small = packed(data)
            data, flags = pack('II', len(small), len(data)) + small, 1
        return pack('HHIQ', number, flags, 0, len(data)) + data

    out = MAGIC + b'7\0' + pack('BBI', BIG, 8, PAGE)
    out += {None: b'none', zstd: b'zstd', deflate: b'zlib'}[packed] + b'\0' + b'1\0'
    place = len(out)
    out += bytes(8)
    more = options()
    for number, data in ((16, header_info()), (17, pack('I', 0)),
                         (18, event_formats()), (19, kallsyms()), (21, cmdlines())):
        more += option(number, pack('Q', len(out)))
        out += section(number, data)
    buffer, places = len(out), []
    out += pack('HHIQ', 3, 1 if packed else 0, 0, 0)
    out += bytes(-len(out) % PAGE)
    for cpu in (0, 1):
        data = ring_pages(cpu)
        if packed:	# a chunk for each page
            chunks = [packed(data[i:i + PAGE]) for i in range(0, len(data), PAGE)]
            data = pack('I', len(chunks)) + b''.join(
                pack('II', len(c), PAGE) + c for c in chunks)
        places.append((cpu, len(out), len(data)))
        out += data
    for name, cpus in ((b'', places[:1]), (b'two', places[1:])) if two else ((b'', places),):
        # Later versions of trace-cmd have the page size, too, and read nothing without it.
        more += option(3, pack('Q', buffer) + name + b'\0local\0' +
                       (pack('I', PAGE) if two else b'') + pack('I', len(cpus)) +
                       b''.join(pack('IQQ', *p) for p in cpus))
    more += option(0, pack('Q', 0))
    out = out[:place] + pack('Q', len(out)) + out[place + 8:]
    return out + section(0, more)


# ---- perf ---------------------------------------------------------------------------------

SAMPLE = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 10	# TID, TIME, CPU, PERIOD, RAW


def perf_record(kind, data):
    data += bytes(-len(data) % 8)
    return pack('IHH', kind, 0, 8 + len(data)) + data


def tail(time, cpu, tid=0):
    return pack('iiQII', tid, tid, time, cpu, 0)


def perf_records():
    out = b''
    for tid, name in NAMES.items():
        tgid = 100 if tid == 200 else tid
        out += perf_record(3, pack('ii8s', tgid, tid, name.encode()) + tail(0, 0))
    for cpu in (0, 1):		# the buffers of the CPUs, one after the other
        for time, _, tid, name, values in [e for e in SCENE if e[1] == cpu]:
            if cpu == LOST_CPU and time == LOST_BEFORE:
                out += perf_record(2, pack('QQ', 5, LOST) + tail(time, cpu))
            raw = kernel_record(name, tid, values)
            raw += bytes(-(len(raw) + 4) % 8)
            out += perf_record(9, pack('iiQIIQI', tid, tid, time, cpu, 0, 1, len(raw)) + raw)
    return out + perf_record(68, b'')


def perf_packed(records, kind):
    """A stream in pieces, cut inside a frame and inside of records."""
    small, pieces = zstd(records), 3
    cuts = [len(small) * i // pieces | 1 for i in range(pieces)] + [len(small)]
    cuts[0] = 0
    out = b''
    for a, b in zip(cuts, cuts[1:]):
        piece = small[a:b]
        if kind == 83:		# the size of the piece, which is padded
            out += perf_record(83, pack('Q', len(piece)) + piece)
        else:
            out += pack('IHH', 81, 0, 8 + len(piece)) + piece
    return out


MAGIC_PERF = b'2ELIFREP' if BIG else b'PERFILE2'


def perf(packed):
    attr = pack('IIQQQQQ', 1 + 1, 64, 310, 1, SAMPLE, 0, 1 << (63 - 18 if BIG else 18)) + bytes(16)
    records = perf_records()
    if packed:
        records = perf_packed(records, packed)
    data = 104 + len(attr) + 16
    features = {
        1: MAGIC + b'0.6\0' + pack('BBI', BIG, 8, PAGE) + header_info() +
           pack('I', 0) + event_formats() + kallsyms() + pack('I', 0) + cmdlines(),
        3: pack('I', 64) + b'box'.ljust(64, b'\0'),
        4: pack('I', 64) + b'6.1.0'.ljust(64, b'\0'),
        6: pack('I', 64) + b'x86_64'.ljust(64, b'\0'),
    }
    head = MAGIC_PERF + pack('QQ', 104, len(attr) + 16)
    head += pack('QQQQQQ', 104, len(attr) + 16, data, len(records), 0, 0) + \
        pack('QQQQ', sum(1 << bit for bit in features), 0, 0, 0)
    out = head + attr + bytes(16) + records
    at, table, body = len(out) + 16 * len(features), b'', b''
    for bit in sorted(features):
        table += pack('QQ', at + len(body), len(features[bit]))
        body += features[bit]
    return out + table + body


# ---- LTTng --------------------------------------------------------------------------------

UUID = bytes(range(16))


def lttng_fields(name):
    """[(field, type, code)] of an event class; codes as struct, z = string."""
    prio = [('_tid', 'int32', 'i'), ('_prio', 'int32', 'i')]
    return {
        'lttng_statedump_process_state': [
            ('_tid', 'int32', 'i'), ('_pid', 'int32', 'i'), ('_name', 'comm', '16s')],
        'sched_switch': [
            ('_prev_comm', 'comm', '16s'), ('_prev_tid', 'int32', 'i'),
            ('_prev_prio', 'int32', 'i'), ('_prev_state', 'int64', 'q'),
            ('_next_comm', 'comm', '16s'), ('_next_tid', 'int32', 'i'),
            ('_next_prio', 'int32', 'i')],
        'sched_waking': [('_comm', 'comm', '16s')] + prio + [('_target_cpu', 'int32', 'i')],
        'irq_handler_entry': [('_irq', 'int32', 'i'), ('_name', 'string', 'z')],
        'irq_handler_exit': [('_irq', 'int32', 'i'), ('_ret', 'int32', 'i')],
        'syscall_entry_write': [('_fd', 'uint32', 'I'), ('_count', 'uint64', 'Q')],
        'syscall_exit_write': [('_ret', 'int64', 'q')],
        # Above 30, so that the header is extended.
        'strange_event': [('_number', 'int32', 'i'), ('_word', 'string', 'z'),
                          ('_address', 'xint64', 'Q')],
    }[name]


CLASSES = {'lttng_statedump_process_state': 0, 'sched_switch': 1, 'sched_waking': 2,
           'irq_handler_entry': 3, 'irq_handler_exit': 4, 'syscall_entry_write': 5,
           'syscall_exit_write': 6, 'strange_event': 300}


def lttng_event(name, values):
    """The name and values that LTTng has for an event of SCENE."""
    v = dict(values)
    if name == 'sys_enter':
        return 'syscall_entry_write', dict(fd=v['args'][0], count=v['args'][2])
    if name == 'sys_exit':
        return 'syscall_exit_write', dict(ret=v['ret'])
    for key in list(v):
        if key.endswith('pid'):
            v[key[:-3] + 'tid'] = v.pop(key)
        if key.endswith('prio'):
            v[key] -= 100
    return name, v


def lttng_bytes(at, name, time, last, values):
    """An event that begins at byte @at of its packet; its header is compact if it can be."""
    number = CLASSES[name]
    out = bytes(-at % 8)
    if number < 31 and time - last < 1 << 27:
        out += struct.pack('<I', number | (time & ((1 << 27) - 1)) << 5)
    else:
        out += struct.pack('<B', 31)
        out += bytes(-(at + len(out)) % 8)
        out += struct.pack('<I', number)
        out += bytes(-(at + len(out)) % 8) + struct.pack('<Q', time)
    for field, _, code in lttng_fields(name):
        v = values[field[1:]]
        if code == 'z':
            out += v.encode() + b'\0'
        elif code == '16s':
            out += struct.pack('16s', v.encode())
        else:
            out += struct.pack('<' + code, v)
    return out


def lttng_packet(cpu, events, seq, discarded, end):
    head = 24 + 8 + 8 * 6 + 4
    body, begin = b'', events[0][0]
    last = begin
    for time, name, values in events:
        body += lttng_bytes(head + len(body), name, time, last, values)
        last = time
    content = (head + len(body)) * 8
    size = -(-content // (4096 * 8)) * 4096 * 8
    out = struct.pack('<I16sIQ', 0xc1fc1fc1, UUID, 0, cpu)
    out += struct.pack('<QQQQQQI', begin, end, content, size, seq, discarded, cpu)
    return (out + body).ljust(size // 8, b'\0')


def lttng_stream(cpu):
    events = [(1_000_000_000, 'lttng_statedump_process_state',
               dict(tid=tid, pid=100 if tid == 200 else tid, name=name))
              for tid, name in NAMES.items()] if cpu == 0 else []
    after = []
    for time, _, _, name, values in [e for e in SCENE if e[1] == cpu]:
        entry = (time, *lttng_event(name, values))
        (after if cpu == LOST_CPU and time >= LOST_BEFORE else events).append(entry)
    # LTTng closes a packet when there is room for the next one: with what was lost meanwhile.
    if not after:
        return lttng_packet(cpu, events, 0, 0, events[-1][0])
    return (lttng_packet(cpu, events[:1], 0, 0, events[0][0]) +
            lttng_packet(cpu, events[1:], 1, LOST, LOST_BEFORE) +
            lttng_packet(cpu, after, 2, LOST, after[-1][0]))


def ctf1():
    integers = {'uint5_t': (5, 1, 0), 'uint27_t': (27, 1, 0), 'uint8_t': (8, 8, 0),
                'uint32_t': (32, 8, 0), 'uint64_t': (64, 8, 0), 'unsigned long': (64, 64, 0)}
    out = '/* CTF 1.8 */\n\n'
    for name, (size, align, signed) in integers.items():
        out += f'typealias integer {{ size = {size}; align = {align}; signed = {signed}; }} := {name};\n'
    uuid = UUID.hex()
    uuid = '-'.join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    out += f'''
trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = le;
	packet.header := struct {{
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
	hostname = "box";
	domain = "kernel";
	tracer_name = "lttng-modules";
	kernel_release = "6.1.0";
}};

clock {{
	name = "monotonic";
	freq = 1000000000; /* Frequency, in Hz */
	// offset from the epoch
	offset = 1700000000000000000;
}};

typealias integer {{
	size = 27; align = 1; signed = false;
	map = clock.monotonic.value;
}} := uint27_clock_monotonic_t;
typealias integer {{
	size = 64; align = 64; signed = false;
	map = clock.monotonic.value;
}} := uint64_clock_monotonic_t;
typealias integer {{
	size = 64; align = 8; signed = false;
	map = clock.monotonic.value;
}} := packed_clock_t;

struct packet_context {{
	packed_clock_t timestamp_begin;
	packed_clock_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
}};

struct event_header_compact {{
	enum : uint5_t {{ compact = 0 ... 30, extended = 31 }} id;
	variant <id> {{
		struct {{
			uint27_clock_monotonic_t timestamp;
		}} compact;
		struct {{
			integer {{ size = 32; align = 64; signed = false; }} id;
			uint64_clock_monotonic_t timestamp;
		}} extended;
	}} v;
}} align(64);

stream {{
	id = 0;
	event.header := struct event_header_compact;
	packet.context := struct packet_context;
}};

'''
    types = {
        'comm': ('integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; }', '[16]'),
        'string': ('string', ''),
        'xint64': ('integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; }', ''),
        'int32': ('integer { size = 32; align = 8; signed = 1; }', ''),
        'uint32': ('integer { size = 32; align = 8; signed = 0; }', ''),
        'int64': ('integer { size = 64; align = 8; signed = 1; }', ''),
        'uint64': ('integer { size = 64; align = 8; signed = 0; }', ''),
    }
    for name, number in CLASSES.items():
        out += f'event {{\n\tname = "{name}";\n\tid = {number};\n\tstream_id = 0;\n\tfields := struct {{\n'
        for field, kind, _ in lttng_fields(name):
            out += f'\t\t{types[kind][0]} {field}{types[kind][1]};\n'
        out += '\t};\n};\n\n'
    return out.encode()


def ctf2():
    def integer(size, align=8, signed=False, **more):
        kind = 'signed' if signed else 'unsigned'
        return {'type': f'fixed-length-{kind}-integer', 'length': size,
                'byte-order': 'little-endian', 'alignment': align, **more}

    def struct_of(*members, **more):
        return {'type': 'structure', **more,
                'member-classes': [{'name': n, 'field-class': c} for n, c in members]}

    clock = {'roles': ['default-clock-timestamp']}
    kinds = {
        'comm': {'type': 'static-length-string', 'length': 16},
        'string': {'type': 'null-terminated-string'},
        'xint64': integer(64, **{'preferred-display-base': 16}),
        'int32': integer(32, signed=True), 'uint32': integer(32),
        'int64': integer(64, signed=True), 'uint64': integer(64),
    }
    fragments = [
        {'type': 'preamble', 'version': 2, 'uuid': list(UUID)},
        {'type': 'field-class-alias', 'name': 'u64', 'field-class': integer(64)},
        {'type': 'trace-class',
         'environment': {'hostname': 'box', 'domain': 'kernel',
                         'tracer_name': 'lttng-modules', 'kernel_release': '6.1.0'},
         'packet-header-field-class': struct_of(
             ('magic', integer(32, roles=['packet-magic-number'])),
             ('uuid', {'type': 'static-length-blob', 'length': 16,
                       'roles': ['metadata-stream-uuid']}),
             ('stream_id', integer(32, roles=['data-stream-class-id'])),
             ('stream_instance_id', 'u64'))},
        {'type': 'clock-class', 'id': 'monotonic', 'name': 'monotonic',
         'frequency': 1000000000,
         'offset-from-origin': {'seconds': 1700000000, 'cycles': 0}},
        {'type': 'data-stream-class', 'id': 0, 'default-clock-class-id': 'monotonic',
         'packet-context-field-class': struct_of(
             ('timestamp_begin', integer(64, **clock)),
             ('timestamp_end', integer(64, roles=['packet-end-default-clock-timestamp'])),
             ('content_size', integer(64, roles=['packet-content-length'])),
             ('packet_size', integer(64, roles=['packet-total-length'])),
             ('packet_seq_num', integer(64, roles=['packet-sequence-number'])),
             ('events_discarded', integer(64, roles=['discarded-event-record-counter-snapshot'])),
             ('cpu_id', integer(32))),
         'event-record-header-field-class': struct_of(
             ('id', integer(5, 1, roles=['event-record-class-id'],
                            mappings={'compact': [[0, 30]], 'extended': [[31, 31]]})),
             ('v', {'type': 'variant',
                    'selector-field-location': {
                        'origin': 'event-record-header', 'path': ['id']},
                    'options': [
                        {'name': 'compact', 'selector-field-ranges': [[0, 30]],
                         'field-class': struct_of(('timestamp', integer(27, 1, **clock)))},
                        {'name': 'extended', 'selector-field-ranges': [[31, 31]],
                         'field-class': struct_of(
                             ('id', integer(32, 64, roles=['event-record-class-id'])),
                             ('timestamp', integer(64, 64, **clock)))}]}),
             **{'minimum-alignment': 64})},
    ]
    for name, number in CLASSES.items():
        fragments.append({
            'type': 'event-record-class', 'data-stream-class-id': 0, 'id': number, 'name': name,
            'payload-field-class': struct_of(
                *((f[1:], kinds[k]) for f, k, _ in lttng_fields(name)))})
    return b''.join(b'\x1e' + json.dumps(f).encode() + b'\n' for f in fragments)


def damaged(data, seed):
    """A trace with some bytes changed, or cut off; those in the head are changed more often."""
    r = random.Random(seed)
    used = len(data.rstrip(b'\0'))
    out = bytearray(data[:r.randrange(used)] if seed % 5 == 0 else data)
    for _ in range(1 + seed % 4):
        at = r.randrange(min(len(out), used) if seed % 2 else min(len(out), 4096))
        out[at] = r.choice((0, 1, 0x7f, 0x80, 0xff, r.randrange(256)))
    return bytes(out)


def write(name, data):
    with open(name, 'wb') as f:
        f.write(data)


def main():
    os.chdir(sys.argv[1])
    if sys.argv[2:] == ['tasks']:
        SCENE[:] = TASKS
        write('v6.dat', version6())
        write('perf.data', perf(False))
        return
    write('v6.dat', version6())
    write('v7.dat', version7(None))
    write('two6.dat', version6(two=True))
    write('two7.dat', version7(None, two=True))
    # A tick is 3/4 ns, and the clock began 0.2 s after that of perf; trace-cmd adds 1000 ns.
    write('tsc.dat', version6(option(14, pack('IIQ', 3, 2, 200_000_000)) +
                              option(7, b'1000\0'), clock='x86-tsc'))
    write('zlib.dat', version7(deflate))
    write('counter.dat', version6(clock='counter'))
    write('perf.data', perf(0))
    try:
        write('zstd.dat', version7(zstd))
        write('perf-zstd.data', perf(83))
        write('perf-odd.data', perf(81))
    except FileNotFoundError:
        print('no zstd', file=sys.stderr)
    for folder, metadata in (('ctf1', ctf1()), ('ctf2', ctf2())):
        os.mkdir(folder)
        write(f'{folder}/metadata', metadata)
        for cpu in (0, 1):
            write(f'{folder}/channel0_{cpu}', lttng_stream(cpu))


if __name__ == '__main__':
    main()
