#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_serial.sh FOLDER: ktape send and ktape receive over a pair of terminals
# between which a program drops, changes and inserts bytes.
# shellcheck source=selftests/unit/tool.sh
. "${0%/*}/tool.sh" "$1"

echo "TAP version 13"
echo "1..5"

"$out/t_lib_linux" --lossy trace || exit
sent=$("$out/user-asan/ktape" dump trace 2>/dev/null | grep -cv " registry: ")

run 0 send trace line && run 0 receive -o clean line &&
	says "$sent events received, 5 lost in 1 gaps, 0 bad frames"
result $? "a file in between"
run 2 send --baud 12345 trace /dev/null && run 2 send --frame x trace line &&
	run 2 send trace && run 2 receive line &&
	run 1 send nowhere line && run 1 receive -o t nowhere
result $? "usage"

# 120 bytes a second, of which 60 may wait: nearly all is shed, and counted.
"$out/t_lib_linux" --scene scene
run 0 send --shed --baud 1200 scene slow
shed=$(sed -n 's/.* \([0-9]*\) shed/\1/p' log)
[ "${shed:-0}" -gt 20 ] && run 0 receive -o few slow &&
	says "$((45 - shed)) events received" &&
	lost=$(sed -n 's/.* \([0-9]*\) lost in.*/\1/p' log) &&
	[ "$lost" = "$shed" ]
result $? "a line that is too slow: ${shed:-none} shed"

if ! command -v python3 >/dev/null; then
	echo "ok 4 - a pair of terminals # SKIP no python3"
	echo "ok 5 - a line that loses bytes # SKIP no python3"
	exit "$failed"
fi

# Two terminals, and a line between them: one byte in @every is harmed.
cat >line.py <<'EOT'
import array, fcntl, os, pty, random, select, subprocess, sys, termios, time, tty
every, tool, trace, to = int(sys.argv[1]), *sys.argv[2:5]
random.seed(5)
a, sa = pty.openpty()
b, sb = pty.openpty()
for fd in (a, sa, b, sb):
    tty.setraw(fd)
rx = subprocess.Popen([tool, 'receive', '--baud', '115200', '-o', to,
                       os.ttyname(sb)])
tx = subprocess.Popen([tool, 'send', '--baud', '115200', trace,
                       os.ttyname(sa)])
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
        # What the trace is like comes first, and only once.
        if not every or seen < 200 or random.randrange(every):
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
# What was written arrives a little later, and what is not read is gone.
n, still = array.array('i', [1]), 0
while still < 10:
    time.sleep(0.1)
    fcntl.ioctl(sb, termios.FIONREAD, n)
    still = 0 if n[0] else still + 1
os.close(sb)
os.close(b)
sys.exit(code or rx.wait())
EOT

timeout 60 python3 line.py 0 "$out/user-asan/ktape" trace pair >text 2>log &&
	says "$sent events received, 5 lost in 1 gaps, 0 bad frames"
result $? "a pair of terminals"

timeout 60 python3 line.py 60 "$out/user-asan/ktape" trace lossy >text 2>log
status=$?
came=$(sed -n 's/.* \([0-9]*\) events received.*/\1/p' log)
lost=$(sed -n 's/.* \([0-9]*\) lost in.*/\1/p' log)
[ $status = 0 ] && [ "${came:-0}" -lt "$sent" ] && [ "${came:-0}" -gt 10 ] &&
	[ $((came + lost)) -ge "$sent" ] && ! says ", 0 bad frames" 2>/dev/null &&
	run 0 dump lossy
result $? "a line that loses bytes: ${came:-no} of $sent, $lost counted"
exit $failed
