#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Serial lines for t_tool_serial.sh, and a decoder written from the specification.

serial.py plain FILE EVENTS               check that any decoder can read FILE
serial.py line FRAME EVERY TOOL TRACE OUT send over two terminals, with a damaged byte
                                          in EVERY
serial.py slow FRAME TOOL FILE OUT        send through a pipe, at first byte by byte
serial.py harm FILE OUT SEED EVERY        damage FILE; print the numbers of arrived and
                                          lost events and of damaged places
serial.py joined TOOL FILE OUT            RKH frames without the flag between two
serial.py full FRAME TOOL TRACE OUT       a line of 5760 bytes/s with a 4096-byte buffer
serial.py late FRAME TOOL PIPE OUT        a line that is slower than its rate
serial.py stuck FRAME TOOL PIPE OUT       a line that accepts nothing, and a signal
serial.py live FRAME TOOL FILE OUT        receive the half of a line, which then stands
                                          still: folder, pipe, signals
serial.py stop-send|stop-receive|hangup FRAME TOOL PIPE OUT EVENTS
"""
import array
import fcntl
import os
import pty
import random
import select
import signal
import subprocess
import sys
import termios
import time
import tty

# ---- Tonbandgeraet, from its specification -------------------------------------

# Fields by id: u number, s signed, b byte, t text; M: without time.
KINDS = {0: 'u', 1: 'u', 2: 'Mu', 3: 'Mut', 4: 'u', 5: 'u', 6: 'Mut', 7: 'ut',
         8: 'ut', 9: 'u', 10: 'Mut', 11: 'us', 84: 'u', 85: 'u', 86: 'u',
         87: 'u', 88: 'u', 89: 'u', 90: 'u', 91: 'uu', 92: 'uu', 93: 'uu',
         94: 'u', 95: 'Mut', 96: 'Muu', 97: 'Mu', 98: 'u'}
DIGITS = ('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
          '0123456789-_')


def cobs(frame):
    out = bytearray()
    at = 0
    while at < len(frame):
        run = frame[at]
        part = frame[at + 1:at + run]
        assert run and len(part) == run - 1
        out += part
        at += run
        if run < 255 and at < len(frame):
            out.append(0)
    return bytes(out)


def number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 128:
            return value, at


def decode(frame):
    """Decode a frame. Return: id, time or None, fields."""
    data = cobs(frame)
    kind = KINDS[data[0]]
    at, ts, fields = 1, None, []
    if kind[0] != 'M':
        ts, at = number(data, at)
    for field in kind.lstrip('M'):
        if field == 't':
            fields.append(data[at:].decode())
            at = len(data)
        else:
            value, at = number(data, at)
            fields.append(value)
    assert at == len(data), 'loose bytes'
    return data[0], ts, fields


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def digits(text):
    value = 0
    for c in text:
        value = value << 6 | DIGITS.index(c)
    return value


def groups(stream):
    """Yield each group's bytes, its last event's id and its check's fields."""
    begin, at, last = 0, 0, None
    while at < len(stream):
        end = stream.index(0, at)
        ident, _, fields = decode(stream[at:end])
        if ident == 10 and fields[0] in (16382, 16383):
            yield begin, end + 1, at, last, fields
            begin, last = end + 1, None
        else:
            last = ident
        at = end + 1
    assert begin == len(stream)


def plain(path, events):
    stream = open(path, 'rb').read()
    assert stream[-1] == 0
    times, core = {}, 0
    for frame in stream[:-1].split(b'\0'):
        ident, ts, fields = decode(frame)
        if ident == 0:
            core = fields[0]
        if ts is not None:
            assert ts >= times.get(core, 0), 'time goes back'
            times[core] = ts
    counted = [0, 0]
    for begin, end, check, last, (marker, text) in groups(stream):
        name = marker == 16383
        counted[name] += last is not None and last > 2
        assert digits(text[:3]) == counted[name]
        rest = bytes([name]) + counted[name].to_bytes(4, 'little')
        rest += digits(text[7:]).to_bytes(4, 'little')
        assert digits(text[3:7]) == crc32c(stream[begin:check] + rest) & 0xffffff
    assert counted[0] == int(events), counted
    assert len(times) == 2


def find(tokens, cursor, frames):
    """Find these consecutive frames from the cursor on; empty frames do not count."""
    for first in range(cursor, len(tokens)):
        at = first
        for frame in frames:
            while at < len(tokens) and not tokens[at] and at > first:
                at += 1
            if at == len(tokens) or tokens[at] != frame:
                break
            at += 1
        else:
            return first, at
    return None


def harm(path, to, seed, every):
    """Damage a stream and print what a receiver must count.

    A group has arrived if all its frames have; the bytes between such groups
    are one damage. The beginning and the end of the stream stay intact,
    because losses there cannot be counted.
    """
    random.seed(int(seed))
    stream = open(path, 'rb').read()
    ends = [end for _, end, _, last, _ in groups(stream)
            if last is not None and last > 2]
    safe = range(next(end for _, end, _, last, _ in groups(stream)
                      if last == 2), ends[-1])
    out = bytearray()
    for at, byte in enumerate(stream):
        how = random.randrange(4)
        if at not in safe or random.randrange(int(every)):
            out.append(byte)
        elif how == 1:
            out.append(byte ^ 1 << random.randrange(8))
        elif how > 1:
            out.append(byte)
            out.append(0 if how == 2 else random.randrange(256))
    open(to, 'wb').write(out)
    tokens = bytes(out[:-1]).split(b'\0')
    came = lost = places = cursor = 0
    for begin, end, _, last, (marker, _) in groups(stream):
        frames = stream[begin:end - 1].split(b'\0')
        found = find(tokens, cursor, frames)
        event = marker == 16382 and last is not None and last > 2
        came += event and found is not None
        lost += event and found is None
        if found:
            first, after = found
            places += first > cursor or after - first > len(frames)
            cursor = after
    places += len(tokens) > cursor
    print(came, lost, places)


def joined(tool, path, to):
    """Join two RKH frames: the checksum of the joined frame is right, too."""
    stream = open(path, 'rb').read()
    flags = [at for at, byte in enumerate(stream) if byte == 0x7e]
    for at in flags[-10:-2]:
        open(to, 'wb').write(stream[:at] + stream[at + 1:])
        rx = subprocess.run([tool, 'receive', '--frame', 'rkh', '--force',
                             '-o', to + '.d', to], stderr=subprocess.PIPE,
                            check=True)
        text = rx.stderr.decode()
        sys.stderr.write(text)
        assert ', 1 bad frame' in text, 'flag %d' % at


# ---- terminals -------------------------------------------------------------------

def terminal():
    main, other = pty.openpty()
    tty.setraw(main)
    tty.setraw(other)
    return main, other


def drain(fd):
    """Read until nothing more arrives, because data arrive with a delay."""
    n, still = array.array('i', [1]), 0
    while still < 10:
        time.sleep(0.1)
        fcntl.ioctl(fd, termios.FIONREAD, n)
        still = 0 if n[0] else still + 1


def line(frame, every, tool, trace, to):
    every = int(every)
    random.seed(5)
    a, sa = terminal()
    b, sb = terminal()
    rx = subprocess.Popen([tool, 'receive', '--frame', frame, '--baud',
                           '115200', '-o', to, os.ttyname(sb)])
    tx = subprocess.Popen([tool, 'send', '--frame', frame, '--baud', '115200',
                           trace, os.ttyname(sa)])
    seen = 0
    while True:
        ended = tx.poll() is not None
        if not select.select([a], [], [], 0.5)[0]:
            if ended:
                break
            continue
        data = os.read(a, 256)
        harmed = bytearray()
        for byte in data:
            seen += 1
            # The configuration record: in RKH it comes first, and only once.
            if not every or (frame == 'rkh' and seen < 200) or \
                    random.randrange(every):
                harmed.append(byte)
                continue
            how = random.randrange(3)
            if how == 0:
                continue
            harmed.append(byte ^ 1 << random.randrange(8))
            if how == 2:
                harmed.append(random.randrange(256))
        while harmed:
            harmed = harmed[os.write(b, harmed):]
    code = tx.wait()
    # When the line hangs up, unread data is discarded.
    drain(sb)
    os.close(sb)
    os.close(b)
    sys.exit(code or rx.wait())


def slow(frame, tool, path, to):
    """Send a file byte by byte at first, so that format detection gets pieces."""
    data = open(path, 'rb').read()
    os.mkfifo(to + '.pipe')
    rx = subprocess.Popen([tool, 'receive', '--frame', frame, '-o', to,
                           to + '.pipe'])
    with open(to + '.pipe', 'wb', buffering=0) as pipe:
        for i in range(40):
            pipe.write(data[i:i + 1])
            time.sleep(0.02)
        pipe.write(data[40:])
    sys.exit(rx.wait())


def live_sender(tool, frame, to, *more):
    """Start a sender whose input stays open."""
    return subprocess.Popen([tool, 'send', '--frame', frame, *more, '-', to],
                            stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def feed(tx, trace):
    tx.stdin.write(open(trace, 'rb').read())
    tx.stdin.flush()


def gather(fd, until, seconds=20):
    """Read until a second has passed without data after the first data."""
    data, end = bytearray(), time.time() + seconds
    while time.time() < end:
        if select.select([fd], [], [], 1)[0]:
            data += os.read(fd, 4096)
        elif data or until():
            break
    return bytes(data)


def stop_send(frame, tool, trace, to, events):
    """Stop send by a signal: it sends what it has read, and the end."""
    a, sa = terminal()
    tx = live_sender(tool, frame, os.ttyname(sa))
    feed(tx, trace)
    data = gather(a, lambda: False)
    tx.send_signal(signal.SIGINT)
    data += gather(a, lambda: tx.poll() is not None)
    text = tx.stderr.read().decode()
    sys.stderr.write(text)
    assert tx.wait(20) == 0
    assert 'stopped by a signal: the stream is complete' in text
    assert events + ' events sent' in text or ' shed' in text
    open(to, 'wb').write(data)
    for ended in groups(data):
        pass
    assert ended[3] is None and ended[4][0] == 16383
    rx = subprocess.run([tool, 'receive', '--frame', frame, '-o', to + '.d', to],
                        stderr=subprocess.PIPE, check=True)
    sys.stderr.write(rx.stderr.decode())
    assert (events + ' events received, 5 events lost').encode() in rx.stderr


def stop_receive(frame, tool, trace, to, events):
    """Send Ctrl-C to receive's process group: it writes what arrived."""
    b, sb = terminal()
    rx = subprocess.Popen([tool, 'receive', '--frame', frame, '-o', to,
                           os.ttyname(sb)], stderr=subprocess.PIPE,
                          start_new_session=True)
    subprocess.run([tool, 'send', '--frame', frame, trace, to + '.line'],
                   stderr=subprocess.DEVNULL, check=True)
    data = open(to + '.line', 'rb').read()
    while data:
        data = data[os.write(b, data[:512]):]
    drain(sb)
    os.killpg(rx.pid, signal.SIGINT)
    text = rx.communicate(timeout=200)[1].decode()
    sys.stderr.write(text)
    assert rx.returncode == 0
    assert events + ' events received, 5 events lost in 1 gap, no bad frame' in text
    subprocess.run([tool, 'dump', to], stdout=subprocess.DEVNULL, check=True)


def hangup(frame, tool, trace, to, events):
    """Hang up the line while nothing is sent: send ends with a message."""
    for more in (), ('--baud', '57600'):
        a, sa = terminal()
        tx = live_sender(tool, frame, os.ttyname(sa), *more)
        feed(tx, trace)
        gather(a, lambda: False)
        assert tx.poll() is None
        os.close(sa)
        os.close(a)
        text = tx.stderr.read().decode()
        sys.stderr.write(text)
        assert tx.wait(20) == 1
        assert 'Input/output error' in text and ' events sent' in text


def dump(tool, trace):
    """Return the lines of a trace that may still grow, or be missing."""
    return subprocess.run([tool, 'dump', trace], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL).stdout


def wait_for(what):
    """Wait until a condition holds; a busy machine may take long."""
    end = time.monotonic() + 300
    while not what():
        assert time.monotonic() < end, 'what has arrived is not in the output'
        time.sleep(0.05)


def start_live(frame, tool, to, line, **more):
    """Start a reception from a pipe; return it and the descriptor that feeds it."""
    os.mkfifo(line)
    rx = subprocess.Popen([tool, 'receive', '--frame', frame, '-o', to, line], **more)
    return rx, os.open(line, os.O_WRONLY)


def live(frame, tool, path, to):
    """What has arrived is in the output while the line stands still, however it ends."""
    data = open(path, 'rb').read()
    flag = b'\x7e' if frame == 'rkh' else b'\0'
    half = data[:data.index(flag, len(data) // 2) + 1]
    open(to + '.half', 'wb').write(half)
    subprocess.run([tool, 'receive', '--frame', frame, '-o', to + '.want', to + '.half'],
                   check=True, stderr=subprocess.DEVNULL)
    want = dump(tool, to + '.want')
    assert want.count(b'\n') > 10, want
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGALRM,
                   signal.SIGTERM, signal.SIGKILL):
        out = to + '.' + number.name
        rx, feeds = start_live(frame, tool, out, out + '.pipe', stderr=subprocess.PIPE)
        os.write(feeds, half)
        wait_for(lambda trace=out: dump(tool, trace) == want)
        rx.send_signal(number)
        text = rx.communicate()[1]
        assert rx.returncode == (-9 if number == signal.SIGKILL else 0), (number, text)
        assert dump(tool, out) == want, number
        os.close(feeds)
    rx, feeds = start_live(frame, tool, '-', to + '.pipe', stdout=subprocess.PIPE)
    shown = subprocess.Popen([tool, 'dump', '-'], stdin=rx.stdout, stdout=subprocess.PIPE)
    rx.stdout.close()
    os.write(feeds, half)
    came = b''
    while came.count(b'\n') < want.count(b'\n'):
        part = os.read(shown.stdout.fileno(), 65536)
        assert part, came
        came += part
    assert came == want, came
    os.write(feeds, data[len(half):])
    os.close(feeds)
    came += shown.communicate()[0]
    assert rx.wait() == 0 and shown.returncode == 0
    assert came.count(b'\n') > want.count(b'\n'), came


# ---- lines that are full -----------------------------------------------------------

def small_line(to):
    """Create a FIFO that stands for a line: it holds 4096 bytes, as a terminal's buffer does."""
    os.mkfifo(to + '.line')
    fd = os.open(to + '.line', os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 4096)
    return fd


def take(fd, tx, rate):
    """Read at a rate in bytes/s until the sender has ended and all is read."""
    data = bytearray()
    while True:
        ended = tx.poll() is not None
        if select.select([fd], [], [], 0)[0]:
            data += os.read(fd, rate // 20)
        elif ended:
            return bytes(data)
        time.sleep(1 / 20)


def tell(tx, code):
    """Print the sender's messages to standard error.  It must exit with this status."""
    text = tx.stderr.read().decode()
    sys.stderr.write(text)
    assert tx.wait(20) == code, tx.returncode


def full(frame, tool, trace, to):
    """Send a live trace faster than the line: send must not wait for the line."""
    fd = small_line(to)
    tx = subprocess.Popen([tool, 'send', '--frame', frame, '--shed', '--baud',
                           '57600', trace, to + '.line'],
                          stderr=subprocess.PIPE)
    open(to, 'wb').write(take(fd, tx, 5760))
    tell(tx, 0)


def late(frame, tool, trace, to):
    """Read more slowly than the rate that send was given."""
    fd = small_line(to)
    tx = live_sender(tool, frame, to + '.line', '--baud', '460800')
    data, came = bytearray(), open(trace, 'rb').read()
    for at in range(0, len(came), 4096):
        tx.stdin.write(came[at:at + 4096])
        tx.stdin.flush()
        time.sleep(4096 / 40000)
        if select.select([fd], [], [], 0)[0]:
            data += os.read(fd, 256)
    tx.stdin.close()
    open(to, 'wb').write(data + take(fd, tx, 1 << 20))
    tell(tx, 0)


def stuck(frame, tool, trace, to):
    """Read nothing: send ends, but not at once, because the line may recover."""
    fd = small_line(to)
    tx = live_sender(tool, frame, to + '.line', '--baud', '57600')
    feed(tx, trace)
    time.sleep(1)
    assert tx.poll() is None
    tx.send_signal(signal.SIGINT)
    begin = time.monotonic()
    tell(tx, 1)
    took = time.monotonic() - begin
    sys.stderr.write('%.1f s\n' % took)
    assert 4 < took < 16
    os.close(fd)


if __name__ == '__main__':
    {'plain': plain, 'line': line, 'harm': harm, 'slow': slow, 'joined': joined,
     'full': full, 'late': late, 'stuck': stuck, 'stop-send': stop_send,
     'stop-receive': stop_receive, 'live': live, 'hangup': hangup}[sys.argv[1]](*sys.argv[2:])
