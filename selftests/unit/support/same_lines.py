#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare lines of "ktape dump --json" with those of selftests/decoder.py:
same_lines.py DUMP DECODER

Lines must be equal byte by byte.  Only members that decoder.py leaves out may be more
in DUMP: call, source, and the names of user events of other formats.
"""
import json
import sys

FOREIGN = 0xf0000000
SHOWN = 3


def reduced(line):
    event = json.loads(line)
    event.pop("source", None)
    fields = event["fields"]
    if event["event"] in ("sys_enter_wide", "sys_exit_wide"):
        fields.pop("call", None)
    if event["event"] == "user_event" and fields.get("id", 0) >= FOREIGN:
        fields.pop("id_name", None)
    return event


def same(ours, theirs):
    return ours == theirs or reduced(ours) == reduced(theirs)


def main():
    with open(sys.argv[1], "rb") as dump, open(sys.argv[2], "rb") as decoder:
        lines, decoded = dump.read().split(b"\n"), decoder.read().split(b"\n")
    different = 0
    for number, (ours, theirs) in enumerate(zip(lines, decoded), 1):
        if not same(ours, theirs):
            different += 1
            if different <= SHOWN:
                print(f"line {number}, dump and decoder:")
                for line in ours, theirs:
                    print("  " + line.decode(errors="backslashreplace")[:500])
    if len(lines) != len(decoded):
        print(f"{len(lines) - 1} lines, decoder: {len(decoded) - 1}")
    print(f"{different} of {len(lines) - 1} lines differ")
    return int(bool(different) or len(lines) != len(decoded))


if __name__ == "__main__":
    sys.exit(main())
