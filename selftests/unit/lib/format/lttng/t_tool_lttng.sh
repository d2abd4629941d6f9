#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_lttng.sh FOLDER: the files of LTTng's traces: streams in several files, many small
# packets, more files than can be open; texts of CTF 2. The traces are those of
# make_linux_traces.py.
top=$(cd "${0%/*}/../../../../.." && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../../support/tool.sh" "$1"
ktape=$out/command/ktape

python3 "$top/selftests/unit/support/make_linux_traces.py" . 2>log
result $? 'the traces are written'

# Each packet in a file of its own, as by --tracefile-size and --tracefile-count, whose
# numbers have begun again: 2, 3, 0, 1, 2. The packets of CPU 1 are many.
cat >split.py <<EOT
import os
import sys
sys.path.insert(0, '$top/selftests/unit/support')
import make_linux_traces as m

SIZE, WHOLE = 4096, 'whole'


def packets(cpu):
    data = m.lttng_stream(cpu)
    if cpu == 0:
        return [data[i:i + SIZE] for i in range(0, len(data), SIZE)]
    irq = ('irq_handler_exit', dict(irq=24, ret=1))
    return [m.lttng_packet(1, [(2_000_000_000 + i * 1000, *irq)], i, 0, 2_000_000_500 + i * 1000)
            for i in range(400)]


def put(folder, name, data):
    with open(f'{folder}/{name}', 'wb') as f:
        f.write(data)


for folder in (WHOLE, 'split', 'hole', 'many'):
    os.mkdir(folder)
    put(folder, 'metadata', m.ctf1())
for cpu in (0, 1):
    all = packets(cpu)
    put(WHOLE, f'channel0_{cpu}', b''.join(all))
    for i, packet in enumerate(all):
        place = (i + 2) % len(all)
        put('split', f'channel0_{cpu}_{place}', packet)
        if i != 7:
            put('hole', f'channel0_{cpu}_{place}', packet)
        # Channels of their own, with the same numbers of packets.
        put('many', f'c{i}_{cpu}', packet)
EOT
python3 split.py 2>>log
result $? 'and those in several files'

run 0 dump whole && cp text want && [ "$(grep -c irq_handler_exit want)" = 400 ] &&
	! says 'lost' && run 0 dump split && ! says 'lost' && diff want text >>log
result $? 'a stream in several files is read as from one'
run 0 dump hole && [ "$(grep -c irq_handler_exit text)" = 399 ] &&
	says 'cpu1: an unknown number of events lost between [2.000006500] and [2.000008000]'
result $? 'a file that is missing is reported'
(ulimit -n 32; run 0 dump split && cmp text want)
result $? 'one file of a stream is open at a time'
(ulimit -n 32; run 1 dump many && says 'too many open files: the trace has 401' &&
	says 'raise the limit (ulimit -Hn 465')
result $? 'a trace with too many streams says what helps'
run 0 dump many && sort text >got && sort want | diff - got >>log
result $? 'with a higher limit it is read'
echo damage >split/channel0_1_20
run 1 dump split && says 'channel0_1_20' && [ "$(grep -c irq_handler_exit text)" = 399 ]
result $? 'a damaged file is one file, and the stream goes on in the next one'

# What the process has read, which its exit does not change. It goes through the trace
# twice: once for the names.
python3 - "$ktape" whole >read.txt 2>>log <<'EOT'
import os
import subprocess
import sys
p = subprocess.Popen([sys.argv[1], 'dump', '--from', 'lttng', sys.argv[2]],
                     stdout=subprocess.DEVNULL)
os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
io = dict(line.split(': ') for line in open(f'/proc/{p.pid}/io'))
print(int(io['rchar']), sum(os.stat(f'{sys.argv[2]}/{f}').st_size for f in os.listdir(sys.argv[2])))
sys.exit(p.wait())
EOT
read -r bytes size <read.txt
echo "# $bytes bytes read of $size"
[ "$bytes" -gt "$size" ] && [ "$bytes" -lt $((size * 3)) ]
result $? 'small packets are read together'

# Characters beyond 16 bits are two escapes in JSON; a half of one is none.
cp -r ctf2 wide && sed -i 's/"strange_event"/"strange_\\ud83d\\ude00_\\ud83d_\\ude00"/' wide/metadata
run 0 dump wide && grep -q "user_event: strange_$(printf '\360\237\230\200')_$(printf '\357\277\275')_$(printf '\357\277\275') " text
result $? 'texts of CTF 2 have all characters'
echo "1..$n"
exit $failed
