#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_tool_ctf_archives.py FOLDER: archives of a rotated session of LTTng, and snapshots of one,
are parts of the same streams: what is lost between two of them is counted once, where it was,
and packets that two snapshots have are read once, as babeltrace2 does."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

out = os.path.abspath(sys.argv[1])
ktape = out + '/command/ktape'
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../../../support')
import ctf_lines  # noqa: E402  pylint: disable=wrong-import-position
from tap import end, equal, result  # noqa: E402  pylint: disable=wrong-import-position

MISSING = '' if shutil.which('babeltrace2') else 'no babeltrace2'
UUID = bytes(range(16))
FILES = 40000
META = '''/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
trace { major = 1; minor = 8; uuid = "%s"; byte_order = le;
packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u32 stream_instance_id; }; };
clock { name = c; freq = 1000000000; offset_s = 1600000000; };
stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u32 content_size;
u32 packet_size; u32 events_discarded; u32 packet_seq_num; u32 cpu_id; };
event.header := struct { ts timestamp; }; };
event { stream_id = 0; name = "tick"; fields := struct { u32 n; }; };
'''


def packet(seq, lost, cpu=0, uuid=UUID, at=None):
    """A packet of 100 ns with two events, the one number at (seq) in time."""
    at = seq if at is None else at
    begin = 1000 + at * 100
    body = b''.join(struct.pack('<QI', begin + t, at * 10 + t % 10) for t in (10 + cpu, 55 + cpu))
    bits = (28 + 16 + 20 + len(body)) * 8
    return struct.pack('<I16sIIQQIIIII', 0xc1fc1fc1, uuid, 0, cpu, begin, begin + 99, bits, bits, lost, seq, cpu) + body


def write(folder, *files, uuid=UUID):
    os.makedirs(folder)
    text = uuid.hex()
    with open(f'{folder}/metadata', 'w', encoding='utf-8') as f:
        f.write(META % '-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))
    for cpu, packets in enumerate(files):
        with open(f'{folder}/channel0_{cpu}', 'wb') as f:
            f.write(b''.join(packet(seq, lost, cpu, uuid, *at) for seq, lost, *at in packets))


def losses(folder):
    first = int(next(ctf_lines.read_ktape(ktape, folder))['ts'])
    return sorted(ctf_lines.losses_ktape(ktape, folder, first), key=str)


def interval(count, begin, finish):
    base = 1600000000000001000
    return count, base + begin, base + finish


def same(folder):
    done = subprocess.run([sys.executable, here + '/../../../support/ctf_lines.py', ktape, folder], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    assert done.returncode == 0, done.stdout.decode()


def count(folder):
    done = subprocess.run([ktape, 'dump', folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, timeout=600)
    return done.stdout.count(b'\n')


def rotated():
    write('rotated/archives/2/ust', [(2, 12), (3, 12)], [(2, 0)])
    write('rotated/archives/1/ust', [(0, 0), (1, 5)], [(0, 0), (1, 0)])
    write('rotated/ust', [(4, 12), (6, 13)], [(4, 0)])
    equal(count('rotated'), 2 * 10)
    equal(losses('rotated'), sorted((interval(5, 99, 199), interval(7, 199, 299), interval(None, 499, 600),
                                     interval(1, 499, 699), interval(None, 299, 400)), key=str))


def one_archive():
    """One archive alone does not say how much was lost before it, nor whether some of that was in
    its first packet: a loss of unknown size is there."""
    equal(losses('rotated/archives/2'), [interval(None, 200, 299)])


def snapshots():
    write('snapshots/1', [(1, 0), (2, 0), (3, 0)])
    write('snapshots/2', [(2, 0), (3, 0), (4, 2)])
    write('snapshots/3', [(6, 2)])
    equal(count('snapshots'), 2 * 5)
    equal(losses('snapshots'), sorted((interval(2, 399, 499), interval(None, 499, 600)), key=str))


def contained():
    """A snapshot may be a part of the one before, or contain it."""
    for i, (one, two) in enumerate((([0, 1], [0, 1, 2]), ([0, 1, 2], [1, 2, 3]), ([0, 1, 2, 3], [1, 2]))):
        write(f'contained{i}/1', [(seq, 0) for seq in one])
        write(f'contained{i}/2', [(seq, 0) for seq in two])
        equal(count(f'contained{i}'), 2 * len({*one, *two}))
        equal(losses(f'contained{i}'), [])
        if not MISSING:
            same(f'contained{i}')


def many_files():
    """Files of a snapshot that were all read before, each with padding behind its packet."""
    write('many/1', [(0, 0), (FILES + 1, 0)])
    write('many/2')
    for i in range(FILES):
        with open(f'many/2/channel0_0_{i + 1}', 'wb') as f:
            f.write(packet(i + 1, 0) + bytes(64))
    shutil.move('many/1/channel0_0', 'many/1/channel0_0_0')
    equal(count('many'), 2 * 2)
    shutil.rmtree('many')


def shift(where, old, new):
    with open(f'{where}/metadata', 'r+', encoding='utf-8') as f:
        text = f.read()
        f.seek(0)
        assert old in text
        f.write(text.replace(old, new))
        f.truncate()


def origins():
    """Archives whose clock has other origins: each time is that of its own archive. babeltrace2 takes
    the origin of the first one for all of them."""
    write('origins/archives/1/ust', [(0, 0), (1, 0)])
    write('origins/archives/2/ust', [(2, 5), (4, 7), (5, 9)])
    write('origins/ust', [(6, 9), (7, 12)])
    base = 1600000000000001000
    shift('origins/archives/2/ust', '0; }', '0; offset = 500; }')
    shift('origins/ust', '1600000000', '1600003600')
    equal(count('origins'), 2 * 7)
    hour = 3600 * 10**9
    equal(losses('origins'), sorted((
        (5, base + 199, base + 500 + 299), (None, base + 500 + 299, base + 500 + 400), (2, base + 500 + 299, base + 500 + 499),
        (2, base + 500 + 499, base + 500 + 599), (3, base + hour + 699, base + hour + 799)), key=str))


def damaged():
    """A loss behind damage that is in the archive before."""
    write('damaged/archives/1/ust', [(0, 0), (1, 0)])
    write('damaged/archives/2/ust', [(2, 5), (3, 7)])
    with open('damaged/archives/1/ust/channel0_0', 'ab') as f:
        f.write(b'damaged!' * 16)
    shift('damaged/archives/2/ust', '1600000000', '1600003600')
    done = subprocess.run([ktape, 'dump', 'damaged'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=600)
    equal((done.returncode, done.stdout.count(b'\n')), (1, 2 * 4))
    for loss in ('5 events lost between [0.000001199] and [3600.000001299]',
                 '2 events lost between [3600.000001299] and [3600.000001399]'):
        assert loss in done.stderr.decode(), done.stderr.decode()


def others():
    """Packets of other sessions are not the same."""
    write('others/1', [(0, 0), (1, 0)])
    write('others/2', [(1, 0), (2, 9)], uuid=UUID[::-1])
    equal(count('others'), 2 * 4)
    equal(losses('others'), [interval(9, 199, 299)])


def back():
    """LTTng's counts may go back for a while: nothing is lost twice."""
    write('back', [(0, 0), (1, 20), (2, 15), (3, 30)])
    equal(losses('back'), sorted((interval(20, 99, 199), interval(10, 299, 399)), key=str))
    if not MISSING:
        same('back')


def again():
    """Where the numbers of packets begin again, so does the count of losses: 0 has all of its count;
    of another number, how many were lost since the packet before is not known.  A number of 8 bits
    that was 255 goes on with 0."""
    for name, packets, want in (
            ('lower', [(0, 0), (1, 20), (0, 3), (1, 5)], [(20, 99, 199), (3, 199, 299), (2, 299, 399)]),
            ('higher', [(0, 0), (1, 20), (0, 30), (1, 30)], [(20, 99, 199), (30, 199, 299)]),
            ('middle', [(3, 0), (4, 20), (2, 3), (3, 5)], [(20, 99, 199), (None, 199, 299), (2, 299, 399)]),
            ('none', [(0, 0), (1, 20), (0, 0), (1, 5)], [(20, 99, 199), (5, 299, 399)]),
            ('wrap', [(254, 0), (255, 20), (0, 20), (1, 23)], [(20, 99, 199), (3, 299, 399)])):
        write(f'again/{name}', [(seq, lost, at) for at, (seq, lost) in enumerate(packets)])
        equal(count(f'again/{name}'), 2 * len(packets))
        equal(losses(f'again/{name}'), sorted((interval(*w) for w in want), key=str))


def second_version():
    """The same with metadata in CTF 2."""
    def number(size, role=''):
        return {'type': 'fixed-length-unsigned-integer', 'length': size, 'alignment': 8,
                'byte-order': 'little-endian', **({'roles': [role]} if role else {})}

    def record(**members):
        return {'type': 'structure',
                'member-classes': [{'name': n, 'field-class': t} for n, t in members.items()]}

    parts = [{'type': 'preamble', 'version': 2, 'uuid': list(UUID)},
             {'type': 'trace-class', 'packet-header-field-class': record(
                 magic=number(32, 'packet-magic-number'),
                 uuid={'type': 'static-length-blob', 'length': 16, 'roles': ['metadata-stream-uuid']},
                 stream_id=number(32, 'data-stream-class-id'), instance=number(32, 'data-stream-id'))},
             {'type': 'clock-class', 'id': 'c', 'frequency': 1000000000,
              'offset-from-origin': {'seconds': 1600000000}},
             {'type': 'data-stream-class', 'id': 0, 'default-clock-class-id': 'c',
              'packet-context-field-class': record(
                  begin=number(64, 'default-clock-timestamp'),
                  end=number(64, 'packet-end-default-clock-timestamp'),
                  content=number(32, 'packet-content-length'), total=number(32, 'packet-total-length'),
                  lost=number(32, 'discarded-event-record-counter-snapshot'),
                  seq=number(32, 'packet-sequence-number'), cpu_id=number(32)),
              'event-record-header-field-class': record(ts=number(64, 'default-clock-timestamp'))},
             {'type': 'event-record-class', 'id': 0, 'name': 'tick',
              'payload-field-class': record(n=number(32))}]
    for name in 'rotated', 'snapshots':
        shutil.copytree(name, name + '2')
        for at, _, files in os.walk(name + '2'):
            if 'metadata' in files:
                with open(f'{at}/metadata', 'w', encoding='utf-8') as f:
                    f.write(''.join('\x1e' + json.dumps(p) + '\n' for p in parts))
        equal(count(name + '2'), count(name))
        equal(losses(name + '2'), losses(name))


folder = tempfile.mkdtemp(prefix='archives-', dir=out)
os.chdir(folder)
result('losses between the archives of a session are counted once', rotated)
result('and are where the clock of their archive says', origins)
result('behind damage, too', damaged)
result('an archive alone begins with an unknown loss', one_archive)
result('snapshots have their common packets once', snapshots)
result('snapshots that have one another are so, too', contained)
result('files that are nothing but repeated packets are passed over', many_files)
result('traces of other sessions are apart', others)
result('counts that go back count once', back)
result('counts of packets whose numbers begin again count from 0', again)
result('both are so with metadata in CTF 2', second_version)
for trace in 'rotated', 'rotated/archives/2', 'snapshots':
    result(f'{trace} is as babeltrace2 prints it', same, trace, skip=MISSING)
os.chdir(out)
shutil.rmtree(folder)
end()
