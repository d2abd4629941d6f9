#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A second decoder of native traces, written from the texts that define them:
uapi/README.md, ktape-format(5) and the tables that these name.  It shares no code with
libktape, so that a mistake in one of them, or in the texts, shows up as a difference.

It prints the lines of "ktape dump --json", without the members that interpret events
further: call, source, and the names of user events of other formats.

usage: decoder.py DIRECTORY | FILE | -

Losses and damage are reported on standard error.  The exit status is 0, or 1 if the
trace is damaged or cannot be read.
"""
import json
import math
import os
import re
import struct
import sys

from decoder_read import (ANY_OWNER, Bad, CONTEXT, CONTINUED, CONTROL, EVENT, Event, NAME_LONG,
                          NAME_SIZE, ONLY_GLOBAL, REGISTRY, REGISTRY_OPCODE, SCHED_SWITCH, TIME_EXTEND,
                          Trace,
                          UNKNOWN, USER_EVENT_TYPE, decode, say)

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD_FIELDS = {"VARARGS": ("spare", "p", "nargs"), "BLOB": ("size",)}


# ---- the tables that the text names -------------------------------------------

def read_text(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def event_table():
    """Return {event: {field: type}} and {number: class} of uapi/ktape/events.h.  Fields
    without a type are those that describe the record itself."""
    text = read_text("uapi/ktape/events.h")
    classes = {int(n): name for n, name in
               re.findall(r"^KTAPE_CLASS\((\d+), \w+, (\w+)", text, re.M)}
    types = {"time_extend": {"reserved": None}}
    for part in re.findall(r"^#include <(ktape/events/\w+\.h)>", text, re.M):
        for name, body in re.findall(
                r"^KTAPE_EVENT\(\d+, \w+, (\w+),(.*?)^KTAPE_END",
                read_text("uapi/" + part), re.M | re.S):
            fields = types[name] = {}
            for macro, first, second, third in re.findall(
                    r"KTAPE_(\w+)\((\w*)(?:, (\w+))?(?:, (\w+))?", body):
                if macro in ("BITS", "ARG", "REST", "ARRAY"):
                    fields[second] = first
                elif macro == "LIST":
                    fields.update({second: None, third: first})
                elif macro in ("TEXT", "BYTES"):
                    fields[first] = None
                else:
                    fields.update(dict.fromkeys(RECORD_FIELDS.get(macro, ())))
    return types, classes


def name_table(name):
    """Return {number: name} of a table in userspace/lib/names."""
    names, number = {}, 0
    for at, word in re.findall(r'(?:\[(\d+)\] = )?"(\w+)",',
                               read_text(f"userspace/lib/names/{name}.inc")):
        number = int(at) if at else number
        names[number] = word
        number += 1
    return names


# ---- names ----------------------------------------------------------------------

class Names:
    """The registry: which name an object had at a time."""
    OWNED = ("marker", "value", "isr", "cgroup", "syscall")

    def __init__(self, freq):
        self.entries = {}
        self.early, self.late = freq // 20, freq * 10

    def add(self, time, kind, raw):
        owner = raw["param1"] if kind in self.OWNED else 0
        entries = self.entries.setdefault((kind, raw["id"], owner), [])
        most = NAME_LONG if kind == USER_EVENT_TYPE else NAME_SIZE
        entry = dict(raw, since=time, name=raw["name"][:most].split(b"\0")[0])
        for known in entries:		# a life ends once, whichever record says so
            if known["born"] == entry["born"]:
                known["died"] = entry["died"] = entry["died"] or known["died"]
        entries.append(entry)
        entries.sort(key=lambda known: known["since"])

    def distance(self, kind, entry, time):
        """How far a time is from the life of an object; None = too far."""
        if time < entry["born"]:
            far, limit = entry["born"] - time, self.early
        else:
            far, limit = time - entry["died"] if entry["died"] else 0, self.late
        return None if kind == "thread" and far > limit else max(far, 0)

    def find(self, time, kind, number, owner=0):
        """The entry that holds at a time, or None."""
        best = nearest = None
        for entry in self.entries.get((kind, number, owner), ()):
            far = self.distance(kind, entry, time)
            if far is not None and (best is None or far < nearest or
                                    far == nearest and entry["since"] <= time):
                best, nearest = entry, far
        return best


# ---- lines ----------------------------------------------------------------------

NAMED = {"IRQ": "irq", "NETDEV": "net_device", "DEV": "block_device"}
THREADS = {CONTEXT: 1, SCHED_SWITCH: 2}		# first arguments that are threads
WIDE = ("U64", "S64", "NS")	# strings, as TICKS are: doubles keep 53 bits
HEX = ("X32", "X64", "PTR", "FUNC")
SIGNALS = ("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT "
           "CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS").split()
RT_MIN, RT_MAX = 34, 64
STATES = {"TRACED": "t", "PREEMPTED": "R+"}
INTERNAL = {512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND",
            515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK", 517: "EPROBE_DEFER",
            518: "EOPENSTALE", 519: "ENOPARAM", 524: "ENOTSUPP", 529: "EIOCBQUEUED"}
FOREIGN = 0xf0000000	# the first id that no program may use
UNSEEN = ((0x61c, 0x61c), (0x200b, 0x200f), (0x2028, 0x202e), (0x2060, 0x206f),
          (0xfeff, 0xfeff), (0xfff9, 0xfffb), (0xe0000, 0xe007f))


def hexa(values):
    return [f"0x{value:x}" for value in values]


def other(record):
    """The fields of a record that does not have the layout of its event."""
    out = {"dat20": record.dat20, "args": record.words()}
    if record.p:
        out["bytes"] = record.blob.hex()
    return out


def signal(number):
    names = {0: 0, RT_MIN: "SIGRTMIN", RT_MAX: "SIGRTMAX"}
    if number in names or number > RT_MAX:
        return names.get(number, number)
    if number <= len(SIGNALS):
        return "SIG" + SIGNALS[number - 1]
    return f"SIG{number}" if number < RT_MIN else f"SIGRTMIN+{number - RT_MIN}"


class Show:
    """Turns records into lines."""
    def __init__(self, trace):
        self.meta, self.names = trace.meta, Names(trace.meta.freq)
        self.types, self.classes = event_table()
        self.errors, self.calls = {**name_table("errors"), **INTERNAL}, {}
        self.threads, self.switches = {}, {}
        for opcode in range(256):
            event = self.meta.events.setdefault(opcode, Event(f"opcode_{opcode}", ""))
            event.known = list(self.types.get(event.name, [event])) == \
                [field for field, *_ in event.bits] + [field for _, field, _ in event.fields]
        self.registry = trace.meta.events[REGISTRY_OPCODE]
        self.kinds = {field: enum for field, _, enum in self.registry.bits}.get("type")
        for stream in trace.streams:
            if stream.packets[0].kind != EVENT:
                for record in stream.records():
                    self.learn(record)

    def learn(self, record):
        raw = record.opcode == REGISTRY_OPCODE and self.registry.known and \
            decode(self.registry, record)
        if raw and raw["type"]:
            self.names.add(record.time, self.kinds.get(raw["type"], raw["type"]), raw)

    def thread(self, time, tid):
        if tid == 0:
            return b"swapper"
        found = self.names.find(time, "thread", tid)
        return found and found["name"]

    def object(self, kind, record, tid, value, raw):
        """The entry of the object that a field refers to, or None."""
        find, time = self.names.find, record.time
        if kind in NAMED:
            return find(time, NAMED[kind], value)
        if kind == "ISRID":
            return find(time, "isr", value, record.cpu + 1) or find(time, "isr", value)
        if kind not in ("MARKER", "VALUEID"):
            return None
        kind, own = "marker" if kind == "MARKER" else "value", None
        if raw["task"]:
            own = tid and find(time, kind, value, tid) or \
                find(time, kind, value, ANY_OWNER)
        found = own or find(time, kind, value)
        return found if own or not raw["task"] or not found or \
            found["param2"] != ONLY_GLOBAL else None

    def name(self, kind, record, tid, value, raw):
        """The name of what a field refers to, or None."""
        if kind == "TID":
            return self.thread(record.time, value)
        if kind == "SYSCALL":
            table = "i386" if raw["compat"] else "x32" if raw["x32"] else \
                "x86_64" if self.meta.machine == "x86_64" else "generic"
            if table not in self.calls:
                self.calls[table] = name_table("syscalls_" + table)
            return None if raw.get("large") else self.calls[table].get(value)
        found = self.object(kind, record, tid, value, raw)
        return found and found["name"]

    def value(self, kind, time, value, enum):
        if isinstance(value, list):
            return [self.value(kind, time, one, enum) for one in value]
        if kind == "BOOL":
            return bool(value)
        if kind == "CLASSID":
            return self.classes.get(value, value)
        if kind == "TICKS":
            # 64 bits of ns with a sign: a damaged time is the last one.
            return str(min(self.meta.ns(value), 2**63 - 1) if value else 0)
        if kind in WIDE:
            return str(value)
        if kind == "DEV":
            return f"{value >> 20}:{value & 0xfffff}"
        if kind == "STATE" and enum.get(value) in STATES:
            return STATES[enum[value]]
        if kind == "SIGNAL":
            return signal(value)
        found = self.names.find(time, "function", value) if kind == "FUNC" else None
        if found:
            return found["name"] + (b"+0x%x" % found["param1"] if found["param1"] else b"")
        return f"0x{value:x}" if kind in HEX else enum.get(value, value)

    def pretends(self, event, raw):
        """Whether a user event has an id of another format in a trace of the tracer itself."""
        return event.name == "user_event" and not self.meta.converted and \
            raw["args"] and raw["args"][0] >= FOREIGN

    def fields(self, event, record, tid):
        if record.opcode == TIME_EXTEND:
            return {}
        raw = decode(event, record) if event.known else None
        if raw is None or self.pretends(event, raw):
            return other(record)
        special = getattr(self, "show_" + event.name, None)
        if special:
            return special(raw, record)
        out, types = {}, self.types.get(event.name, {})
        enums = {field: enum for field, _, enum in event.bits}
        for field, value in raw.items():
            kind = types.get(field)
            if isinstance(value, bytes):
                out[field] = value
            elif kind:
                out[field] = self.value(kind, record.time, value, enums.get(field, {}))
                name = self.name(kind, record, tid, value, raw)
                if name is not None:
                    out[field + "_name"] = name
        if types.get("nr") == "SYSCALL" and -raw.get("ret", 0) in self.errors:
            out["error"] = self.errors[-raw["ret"]]
        if types.get("start") == "TICKS" and raw["start"] <= record.time:
            out["duration_ns"] = self.meta.ns(record.time) - self.meta.ns(raw["start"])
        probe = self.names.find(record.time, "probe", record.opcode)
        if probe and event.name.startswith("probe_") and out["ip"] == f"0x{raw['ip']:x}":
            out["probe"] = probe["name"]
        if event.name == "sys_enter":
            full = out.pop("full")
            if full:
                out["full"] = full[0] if len(full) == 1 else full
        return out

    def show_kernel_stack(self, raw, record):
        event = self.meta.events.get(raw["event"])
        return {"event": event.name if event and event.known else str(raw["event"]),
                "cut": bool(raw["cut"]),
                "frames": self.value("FUNC", record.time, raw["stack"], {})}

    def show_exception(self, raw, record):
        severity = next(enum for field, _, enum in self.meta.events[record.opcode].bits
                        if field == "severity")[raw["severity"]]
        out = {"severity": severity}
        if raw["args"]:
            code = raw["args"][0]
            out.update(major=code >> 8, minor=code & 255)
            found = self.names.find(record.time, "exception", code >> 8)
            if found:
                out["major_name"] = found["name"]
        out["args"] = hexa(raw["args"][1:])
        if raw["buffer"]:
            out["data"] = raw["data"].hex()
        return out

    def show_user_event(self, raw, record):
        out, found, args = {"task": bool(raw["task"])}, None, raw["args"][1:]
        if raw["args"]:
            out["id"] = raw["args"][0]
            found = self.names.find(record.time, "user_event", out["id"])
        if found:
            out["id_name"] = found["name"]
        out["args"] = hexa(args)
        for i in range(min(found["param2"], len(args)) if found else 0):
            form = found["param1"] >> 4 * i & 15
            if form in (0, 1, 2, 3, 4, 5, 11):
                word = struct.pack("<I", args[i])
                out["args"][i] = self.typed(record.time, form, word, 0)[0]
            elif form == 10:
                out["args"][i] = self.value("FUNC", record.time, args[i], {})
        if raw["typed"]:
            out["typed"] = self.all_typed(record.time, raw["typed"])
        return out

    def typed(self, time, form, data, at):
        """The value of one argument in its format, and where it ends."""
        if form == 7:
            end = data.index(0, at)
            return data[at:end], end + 1
        if form == 8:
            end = at + 1 + data[at]
            if end > len(data):
                raise ValueError
            return data[at + 1:end].hex(), end
        if form == 15:
            return self.typed_array(time, data, at)
        code = "<" + "bBhHiII??QQIdqQ"[form]
        value, = struct.unpack_from(code, data, at)
        if form in (6, 9, 10):
            value = self.value("FUNC" if form == 10 else "X64", time, value, {})
        if form == 12 and not math.isfinite(value):
            value = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        if form in (13, 14):
            value = str(value)
        return value, at + struct.calcsize(code)

    def typed_array(self, time, data, at):
        """The elements of an array, or its bytes, and where it ends."""
        form, count = struct.unpack_from("<BI", data, at)
        at += 5
        if form == 8:
            if at + count > len(data):
                raise ValueError
            return data[at:at + count].hex(), at + count
        if form in (7, 15) or form > 15 or count > len(data) - at:
            raise ValueError
        values = []
        for _ in range(count):
            value, at = self.typed(time, 9 if form == 10 else form, data, at)
            values.append(value)
        return values, at

    def all_typed(self, time, data):
        """The typed arguments of a user event; last, as bytes, what is damaged."""
        values, at = [], 0
        while at < len(data):
            try:
                value, at = self.typed(time, data[at] & 15, data, at + 1)
            except (IndexError, ValueError, struct.error):
                value, at = data[at:].hex(), len(data)
            values.append(value)
        return values

    def show_trace_event(self, raw, _record):
        code, data = raw["code"], raw["data"]
        words = (code >> 29) * 4
        out = {"code": f"0x{code:x}", "opcode": code & 255,
               "dat20": f"0x{code >> 8 & 0xfffff:x}",
               "args": hexa(value for value, in struct.iter_unpack("<I", data[:words]))}
        if code >> 28 & 1 or data[words:]:
            out["data"] = data[words:].hex()
        return out

    def line(self, record):
        """Return the members of a record's line, and follow the threads."""
        cpu, first, once = record.cpu, record.first, False
        if record.kind == EVENT:
            self.learn(record)
        if first and first.kind == EVENT and first.context != CONTINUED:
            self.threads[cpu] = -1 if first.context == UNKNOWN else first.tid
        elif (first and first.kind == CONTROL and first.context < UNKNOWN and
              self.threads.get(cpu, -1) < 0):
            self.threads[cpu] = first.tid
            once = True
        event = self.meta.events[record.opcode]
        extra = self.all_typed(record.time, record.extra)
        words = THREADS.get(record.opcode, 0) if event.known else 0
        tids = struct.unpack_from(f"<{words}i", record.args) \
            if words * 4 == len(record.args) else ()
        if tids and record.opcode == SCHED_SWITCH:
            self.threads[cpu] = tids[0]
            self.switches[cpu] = tids
        tid = self.threads.get(cpu, -1) if record.kind != REGISTRY else -1
        if event.name == "kernel_stack" and event.known and record.dat20 & 0xff == SCHED_SWITCH:
            # It follows the switch, and is that of the thread that left.
            left, came = self.switches.get(cpu, (-1, -1))
            tid = left if came == tid else -1
        tid = tid if tid >= 0 else None
        line = {"ts": str(self.meta.ns(record.time)), "cpu": cpu,
                "ring": ("event", "control", "registry")[record.kind], "tid": tid,
                "comm": self.thread(record.time, tid) if tid is not None else None,
                "event": event.name, "fields": self.fields(event, record, tid)}
        line["fields"].update(zip((name.decode("utf-8", "surrogateescape") for name in extra[::2]), extra[1::2]))
        if tids:
            self.threads[cpu] = tids[-1]
        if once:
            self.threads[cpu] = -1
        return line


def unseen(code):
    """Whether a character beyond Latin 1 changes the text around it."""
    return any(low <= code <= high for low, high in UNSEEN)


def escape(raw):
    """A string of JSON: bytes that are not UTF-8 stand for U+0080 to U+00FF."""
    def one(char):
        code = ord(char)
        if 0xdc80 <= code <= 0xdcff:
            code -= 0xdc00
        elif char in '"\\':
            return "\\" + char
        elif 0x20 <= code < 0x7f or code >= 0xa0 and not unseen(code):
            return char
        if code > 0xffff:
            return f"\\u{0xd7c0 + (code >> 10):04x}\\u{0xdc00 | code & 0x3ff:04x}"
        return f"\\u{code:04x}"
    return '"' + "".join(map(one, raw.decode("utf-8", "surrogateescape"))) + '"'


def to_json(value):
    if isinstance(value, bytes):
        return escape(value)
    if isinstance(value, dict):
        return "{" + ",".join(f'"{k}":{to_json(v)}' for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return json.dumps(value)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        trace = Trace(sys.argv[1])
        show = Show(trace)
        for record in trace.records():
            sys.stdout.buffer.write(to_json(show.line(record)).encode() + b"\n")
    except (Bad, OSError) as error:
        say(str(error))
        return 1
    losses = [count for stream in trace.streams for count in stream.losses()]
    if losses:
        many, more = sum(losses), "an unknown number"
        text = f"{many} events" if many else f"{more} of events"
        say(text + (f" and {more} more" if many and 0 in losses else "") +
            f" lost in {len(losses)} gap" + ("s" if len(losses) > 1 else ""))
    return int(trace.damaged or any(stream.damaged for stream in trace.streams))


if __name__ == "__main__":
    sys.exit(main())
