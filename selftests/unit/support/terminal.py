#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""terminal.py FILE COMMAND...: run a command on a terminal until FILE exists."""
import os
import pty
import select
import signal
import sys


def main():
    wanted, command = sys.argv[1], sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    while not os.path.exists(wanted):
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        sys.stdout.buffer.write(data)
        # Some programs ask for the place of the cursor, and wait for the answer.
        if b"\x1b[6n" in data:
            os.write(terminal, b"\x1b[1;1R")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


main()
