# SPDX-License-Identifier: GPL-2.0-only
"""How ktape shows an event of trace-cmd: names of events and fields that it has of its own, and
the few values that may differ, each with its reason."""
import signal

ORDER = ['little']      # of the bytes in the file that is compared
UPTIME_NS = 10**7       # ktape converts the clock "uptime", whose counts are USER_HZ

# Field with a thread, and the field with its name.
NAMED = {'pid': 'comm', 'next_pid': 'next_comm', 'prev_pid': 'prev_comm',
         'child_pid': 'child_comm', 'parent_pid': 'parent_comm'}

# ktape has one name for what its own recorder and those of others record.
EVENTS = {'sched_process_fork': 'process_fork', 'sched_process_exec': 'process_exec',
          'sched_process_exit': 'process_exit', 'sched_process_free': 'process_free',
          'task_rename': 'process_rename', 'hrtimer_setup': 'hrtimer_init'}

# The same for fields: of each event, or EVENT.FIELD.
FIELDS = {'oldprio': 'old_prio', 'newprio': 'new_prio', 'sa_flags': 'flags',
          'sa_handler': 'handler', 'error_code': 'error', 'gfp_flags': 'gfp',
          'call_site': 'caller', 'func': 'function', 'bytes_req': 'bytes', 'cpu_id': 'cpu',
          'clockid': 'clock', '__syscall_nr': 'nr', 'id': 'nr',
          'hrtimer_start.softexpires': 'expires', 'task_rename.newcomm': 'tid_name', 'cpu_frequency.state': 'khz',
          'irq_handler_entry.name': 'irq_name', 'skbaddr': 'skb', 'name': 'dev_name',
          'console.msg': 'text'}

# The tracepoint of a system call has the name of the kernel's function.
CALLS = {'newstat': 'stat', 'newfstat': 'fstat', 'newlstat': 'lstat', 'newuname': 'uname',
         'sendfile64': 'sendfile', 'old_mmap': 'mmap', 's390_personality': 'personality',
         's390_ipc': 'ipc'}

SOFTIRQS = ('HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED',
            'HRTIMER', 'RCU')
STATES = {'R': 0, 'S': 1, 'D': 2, 'T': 4, 't': 8, 'X': 0x10, 'Z': 0x20, 'P': 0x40, 'I': 0x80,
          'R+': 0x100}


BASES = {'x': 16, 'X': 16, 'p': 16, 'o': 8}


def numbers(text, field):
    """The number that trace-cmd shows, or none: in the base of the print format, or with 0x."""
    if text == '(nil)':
        return {0}
    try:
        return {int(text, 16 if text.startswith(('0x', '-0x')) else BASES.get(field.conversion, 10))}
    except ValueError:
        return set()


def wrong_name(reference, own):
    name = reference.name
    if name.startswith(('sys_enter', 'sys_exit')):
        call = name[len('sys_enter_'):] if name.startswith('sys_enter_') else \
            name[len('sys_exit_'):] if name.startswith('sys_exit_') else ''
        ours = own.name.replace('_wide', '')
        if not name.startswith(ours):
            return f'name: {own.name} is not {name}'
        shown = own.fields.get('nr_name', '')
        if call and shown != CALLS.get(call, call):
            return f'name: the system call {shown} is not {call}'
        return ''
    if own.name != EVENTS.get(name, name):
        return f'name: {own.name} is not {name}'
    return ''


def candidates(reference, own, field):
    """Values that ktape shows for a field, the best one first."""
    name = field.name
    renamed = FIELDS.get(f'{reference.name}.{name}', FIELDS.get(name, name))
    if renamed == name and (name == 'pid' or name.endswith('_pid')):
        renamed = name[:-3] + 'tid'
    if renamed == name and (name == 'comm' or name.endswith('_comm')):
        renamed = name[:-4] + 'tid_name'
    for key in (name + '_2', name, renamed):
        if key in own.fields:
            return own.fields[key]
    return None


def as_number(value, name=''):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if name == 'vec' and value in SOFTIRQS:
        return SOFTIRQS.index(value)
    if name == 'prev_state' and value in STATES:
        return STATES[value]
    if name == 'sig' and value.startswith('SIG'):
        return int(getattr(signal, value))
    try:
        return int(value, 0)
    except (ValueError, TypeError):
        return None


def is_address_equal(theirs, number, symbols):
    """trace-cmd shows the name of the function, and perhaps the offset in it; ktape the address."""
    name, _, offset = theirs.partition('+')
    return name in symbols.begin(number - int(offset, 16)) if offset else \
        name in symbols.at(number)


SHOWN_SIGNED = ('pages',)       # of tlb_flush: unsigned, but its format has %ld


def is_number_equal(theirs, value, field, symbols):
    bits = field.size * 8
    number = as_number(value, field.name)
    if number is not None:
        # A negative number that the format shows as %x or %u has no sign.
        return any(number == n or field.signed and number < 0 and number + (1 << bits) == n
                   or field.name in SHOWN_SIGNED and number == n % (1 << bits)
                   for n in numbers(theirs, field)) or is_address_equal(theirs, number, symbols)
    # ktape shows NAME or NAME+0xOFFSET.
    name, _, offset = str(value).partition('+')
    return theirs in (name, value) or any(name in symbols.begin(n - int(offset or '0', 0))
                                          for n in numbers(theirs, field))


def array_bytes(text):
    """The bytes of ARRAY[01, ff], or None."""
    if not text.startswith('ARRAY[') or not text.endswith(']'):
        return None
    return bytes(int(v, 16) for v in text[6:-1].split(',') if v.strip())


def is_array_equal(theirs, value, field):
    data = array_bytes(theirs)
    if data is None:
        return False
    if isinstance(value, str):
        try:
            return bytes.fromhex(value) == data
        except ValueError:
            return False
    if not isinstance(value, list):
        return False
    if not value:
        return not data
    size = field.element
    elements = [data[i:i + size] for i in range(0, len(data), size or 1)]
    return size * len(value) == len(data) and all(
        as_number(v) == int.from_bytes(element, ORDER[0], signed=field.signed and not str(v).startswith('0x'))
        for v, element in zip(value, elements))


def is_text_equal(theirs, value):
    """Bytes that trace-cmd shows as a text, with what follows them up to a NUL."""
    try:
        data = bytes.fromhex(value)
    except (ValueError, TypeError):
        return False
    text = theirs.encode('utf-8', 'surrogateescape')
    shown = data.split(b'\0')[0]
    return text == shown or (text != b'' and text.startswith(data))


def is_raw_equal(theirs, value):
    """A raw marker: trace-cmd shows a text if its first bytes are one, and what follows the
    record up to a NUL.  The kernel fills the last word with what was there before."""
    text = theirs.encode('utf-8', 'surrogateescape')
    data = array_bytes(theirs) or text
    value = bytes.fromhex(value)
    shared = min(len(data), len(value))
    return shared > 0 and data[:shared] == value[:shared]


def is_stack_equal(theirs, value):
    """Frames: trace-cmd shows as many as the layout has, also where the stack has more or
    fewer."""
    data = array_bytes(theirs)
    frames = b''.join(int(v, 0).to_bytes(8, ORDER[0]) for v in value)
    shared = min(len(data), len(frames))
    return data[:shared] == frames[:shared]


def is_device_equal(theirs, value):
    """MAJOR:MINOR; the kernel has 20 bits of the minor number."""
    major, _, minor = str(value).partition(':')
    return int(theirs) == (int(major) << 20 | int(minor) if minor else int(value))


OPERATIONS = {0: 'R', 1: 'W', 2: 'F', 3: 'D', 5: 'DE'}


def is_shared(own, field, theirs):
    """Whether a value is in a field of ktape's that has another unit."""
    if field.name == 'nr_sector':
        return int(theirs) * 512 == int(own.fields['bytes'])
    if field.name == 'rwbs':
        return OPERATIONS.get(own.fields['op']) == theirs
    return False


SPECIAL = {('raw_data', 'buf'): is_raw_equal, ('user_stack', 'caller'): is_stack_equal,
           ('kernel_stack', 'caller'): is_stack_equal}


def is_equal(reference, own, field, theirs, symbols):
    """Whether ktape shows the value of a field."""
    value = candidates(reference, own, field)
    if value is None:
        return is_shared(own, field, theirs)
    if field.name == 'dev' and field.size == 4:
        return is_device_equal(theirs, value)
    if (reference.name, field.name) in SPECIAL:
        return SPECIAL[reference.name, field.name](theirs, value)
    if field.name.endswith('comm') and theirs.startswith('swapper/') and value == 'swapper':
        return True     # thread 0 of each CPU has one name in ktape's registry
    if field.array and field.type.startswith(('__data_loc', '__rel_loc')) and value == '':
        return True     # of no bytes: trace-cmd shows what is behind them
    if field.array:
        return value == theirs or is_array_equal(theirs, value, field) or \
            is_text_equal(theirs, value)
    if 'char *' in field.type and not str(value).startswith('0x'):
        # trace-cmd does not show the text where it does not understand the print format.
        # It then shows the bytes of an address from a big-endian machine in the wrong order.
        shown = numbers(theirs, field)
        if ORDER[0] == 'big':
            shown |= {int.from_bytes(n.to_bytes(8, 'little'), 'big') for n in shown
                      if 0 <= n < 1 << 64}
        return value == theirs or value in [symbols.texts.get(n) for n in shown]
    return is_number_equal(theirs, value, field, symbols)
