#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_broken_input.py FOLDER: an input that can no longer be read is an error, whatever its
format, and is not taken for the end of the trace.

The input is a socket.  Its peer writes the trace, or the first half of it, and closes with a
byte that it has not read: what was written can be read, and then comes ECONNRESET."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

out = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../support')
from tap import end, result  # noqa: E402  pylint: disable=wrong-import-position

REASON = b'Connection reset by peer'


def send(peer, data):
    try:
        peer.sendall(data)
    except OSError:     # the command has ended before
        pass
    peer.close()


def broken(path, share):
    with open(path, 'rb') as file:
        data = file.read()
    data = data[:int(len(data) * share)]
    peer, end_of_command = socket.socketpair()
    end_of_command.sendall(b'x')
    thread = threading.Thread(target=send, args=(peer, data))
    thread.start()
    done = subprocess.run([out + '/command/ktape', 'dump', '-'], stdin=end_of_command,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False)
    end_of_command.close()
    thread.join()
    assert done.returncode == 1 and REASON in done.stderr, (done.returncode, done.stderr)
    return done.stdout


def whole(path):
    """The events before the error are there, but the buffer of ThreadX is a ring, of which all
    has to be read before its first event is known."""
    lines = broken(path, 1).count(b'\n')
    assert lines > 0 or path == 'tracex', 'no event'


def write_hex(path, to):
    """Write a small buffer of ThreadX as Intel HEX: records of 16 bytes, and the end record."""
    with open(path, 'rb') as file:
        data = file.read()
    with open(to, 'w', encoding='ascii') as file:
        for at in range(0, len(data), 16):
            part = data[at:at + 16]
            record = bytes([len(part), at >> 8, at & 255, 0]) + part
            file.write(f':{record.hex()}{-sum(record) & 255:02x}\n')
        file.write(':00000001ff\n')


work = tempfile.mkdtemp(prefix='ktape-broken.')
os.chdir(work)
subprocess.run([out + '/t_lib_linux', '--scene', 'scene'], check=True)
for kind in 'tband', 'tracex', 'rkh':
    subprocess.run([out + '/command/ktape', 'convert', '-q', '-t', kind, '-o', kind, 'scene'],
                   check=True)
    result(f'{kind}: an error behind the trace', whole, kind)
    result(f'{kind}: an error inside the trace', broken, kind, 0.5)
write_hex('tracex', 'hex')
result('Intel HEX: an error inside the trace', broken, 'hex', 0.5)
os.chdir('/')
shutil.rmtree(work)
end()
