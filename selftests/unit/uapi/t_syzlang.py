#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_syzlang.py FOLDER (not used): compare the description of the interface for syzkaller,
selftests/fuzz/ktape.txt, with the headers: every ioctl is there with a structure of the
right size and direction, every member has its place and width, and every name that the
description uses exists."""
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
TEXT = os.path.join(TOP, "selftests/fuzz/ktape.txt")
UAPI = os.path.join(TOP, "uapi/ktape")
CC = os.environ.get("CC", "gcc")

# Structures of memory, files and regions: no system call has them.
NOT_CALLED = {"ktape_block", "ktape_metadata_packet", "ktape_ring_page",
              "ktape_object_entry", "ktape_persist", "ktape_persist_ring",
              "ktape_persist_check"}

number = 0
failed = 0


def result(name, problems):
    global number, failed
    number += 1
    if problems:
        failed = 1
        print(f"not ok {number} - {name}")
        for problem in problems[:20]:
            print(f"# {problem}")
    else:
        print(f"ok {number} - {name}")


def description(text):
    """Return (calls, flags, structures, unions, includes) of a description."""
    text = re.sub(r"#.*", "", text)
    calls = {}
    for m in re.finditer(r"^ioctl\$(\w+)\((\w+) (\w+), cmd const\[(\w+)\], "
                         r"arg ptr\[(\w+), (\w+)\]\)", text, re.M):
        calls[m[1]] = (m[3], m[4], m[5], m[6])
    flags = {m[1]: m[2].split(", ")
             for m in re.finditer(r"^(\w+) = (.*)$", text, re.M)}
    structures, unions = {}, {}
    for m in re.finditer(r"^(\w+) ([{\[])\n(.*?)^[}\]]", text, re.M | re.S):
        fields = [line.split(None, 1) for line in m[3].splitlines() if line.strip()]
        (structures if m[2] == "{" else unions)[m[1]] = [
            (name, re.sub(r"\s*\((in|out|inout)\)$", "", kind.strip()))
            for name, kind in fields]
    includes = re.findall(r"^include <(.*)>", text, re.M)
    return calls, flags, structures, unions, includes


def split(text):
    """Split "a, b[c, d]" at its outer commas."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


class Sizes:
    """Sizes of types, in bytes.  constants: values of names in lengths of arrays."""

    plain = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "pid": 4, "uid": 4,
             "fd": 4, "fd_event": 4, "ktape_session_id": 4, "ktape_trigger_id": 4}

    def __init__(self, structures, constants):
        self.structures = structures
        self.constants = constants

    def of(self, kind):
        m = re.fullmatch(r"(\w+)(?:\[(.*)\])?", kind, re.S)
        name, inner = m[1], m[2]
        args = split(inner) if inner else []
        if name in ("ptr64",):
            return 8
        if name in ("len", "bytesize", "flags", "const"):
            return self.plain[args[-1]]
        if name == "array":
            return self.of(args[0]) * self.count(args[1])
        if name == "string":
            return self.count(args[1])
        if name in self.plain:
            return self.plain[name]
        return sum(self.of(kind) for _, kind in self.structures[name])

    def count(self, text):
        return int(text) if text.isdigit() else self.constants[text]


def ask(expressions):
    """Return the values of C expressions of the headers, None where one is unknown."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "ask.c")
        lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <fcntl.h>"]
        lines += [f"#include <ktape/{name}>" for name in sorted(os.listdir(UAPI))
                  if name.endswith(".h") and name not in ("events.h", "ctf.h")]
        lines.append("int main(void)\n{")
        lines += [f'\tprintf("%llu\\n", (unsigned long long)({e}));' for e in expressions]
        lines.append("\treturn 0;\n}")
        with open(source, "w") as f:
            f.write("\n".join(lines) + "\n")
        program = os.path.join(folder, "ask")
        done = subprocess.run([CC, "-I", os.path.join(TOP, "uapi"), "-o", program,
                               source], capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.splitlines()
        out = subprocess.run([program], capture_output=True, text=True, check=True)
        return dict(zip(expressions, map(int, out.stdout.split()))), []


def headers():
    """Return (ioctls, structures): name -> is it written back; name -> members."""
    ioctls, structures = {}, {}
    for name in sorted(os.listdir(UAPI)):
        path = os.path.join(UAPI, name)
        if not name.endswith(".h"):
            continue
        with open(path) as f:
            text = f.read()
        for m in re.finditer(r"^#define (KTAPE_\w*IOC_\w+)\s+(_IOWR?)\(", text, re.M):
            ioctls[m[1]] = m[2] == "_IOWR"
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for m in re.finditer(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
            structures[m[1]] = re.findall(r"(\w+)(?:\[\w+\])*;", m[2])
    return ioctls, structures


def module_arguments():
    """Return ioctl -> structure, as the module's tables have it."""
    with open(os.path.join(TOP, "module/dev/internal.h")) as f:
        text = f.read()
    union = re.search(r"^union kt_ioctl_arg \{(.*?)^\}", text, re.M | re.S)[1]
    members = {m[2]: m[1] for m in re.finditer(r"struct (\w+) (\w+);", union)}
    of = {}
    with open(os.path.join(TOP, "module/dev/ioctl.c")) as f:
        for m in re.finditer(r"^\tIOCTL\((\w+),\s*(\w+)", f.read(), re.M):
            of["KTAPE_IOC_" + m[1]] = members[m[2]]
    with open(os.path.join(TOP, "module/dev/mark.c")) as f:
        for m in re.finditer(r"\{ (KTAPE_MARK_IOC_\w+), sizeof\(struct (\w+)\)",
                             f.read()):
            of[m[1]] = m[2]
    return of


def main():
    with open(TEXT) as f:
        calls, flags, structures, unions, includes = description(f.read())
    ioctls, real = headers()
    arguments = module_arguments()

    problems = [f"{name} is missing" for name in ioctls if name not in calls]
    for name, (_, cmd, direction, kind) in calls.items():
        if cmd != name:
            problems.append(f"{name}: its number is {cmd}")
        if name not in ioctls:
            problems.append(f"{name} does not exist")
        elif (direction == "inout") != ioctls[name]:
            problems.append(f"{name}: {direction}")
        if arguments.get(name) != kind:
            problems.append(f"{name}: {kind}, the module has {arguments.get(name)}")
    result(f"{len(ioctls)} ioctls with their numbers and structures", problems)

    wanted = {name: fields for name, fields in real.items() if name not in NOT_CALLED}
    problems = [f"struct {name} is missing" for name in wanted
                if name not in structures]
    problems += [f"struct {name} does not exist" for name in structures
                 if name not in real]
    for name, members in wanted.items():
        has = [field for field, _ in structures.get(name, [])]
        if has and has != members:
            problems.append(f"struct {name} has {has}, not {members}")
    result(f"{len(wanted)} structures with their members", problems)

    names = {n for values in flags.values() for n in values}
    names |= {m for fields in structures.values() for _, kind in fields
              for m in re.findall(r"\bKTAPE_[A-Z_]+\b", kind)}
    names |= set(calls)
    values, problems = ask(sorted(names))
    used = {m for fields in list(structures.values()) + list(unions.values())
            for _, kind in fields for m in re.findall(r"flags\[(\w+)", kind)}
    problems += [f"no flags {name}" for name in used if name not in flags]
    problems += [f"include <{name}>" for name in includes
                 if not os.path.exists(os.path.join(TOP, "uapi", name))]
    result(f"{len(names)} names exist", problems)

    problems = []
    if values:
        sizes = Sizes(structures, values)
        asked = [f"sizeof(struct {name})" for name in wanted]
        asked += [f"offsetof(struct {name}, {field})" for name in wanted
                  for field in wanted[name]]
        real_sizes, problems = ask(asked)
        checked = 0
        for name in wanted if real_sizes else ():
            at = 0
            for field, kind in structures.get(name, ()):
                want = real_sizes.get(f"offsetof(struct {name}, {field})")
                checked += 1
                if at != want:
                    problems.append(f"{name}.{field} is at {at}, not at {want}")
                at += sizes.of(kind)
            if at != real_sizes[f"sizeof(struct {name})"]:
                problems.append(f"struct {name} has {at} bytes")
        result(f"{checked} members at their places, and the sizes", problems)
    else:
        result("sizes", ["there are no values"])
    print(f"1..{number}")
    return failed


sys.exit(main())
