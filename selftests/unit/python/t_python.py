#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""t_python.py FOLDER: test userspace/python/ktape.py on traces, a pipe that stands for
the device, and the headers of the library.  FOLDER has the library and the tool."""
import functools
import gc
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import redirect_stdout

OUT = os.path.abspath(sys.argv[1])
TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
os.environ["KTAPE_LIBRARY"] = os.path.join(OUT, "libktape.so.1")
os.environ["ASAN_OPTIONS"] = "exitcode=99"
sys.path.insert(0, os.path.join(TOP, "userspace/python"))
import ktape  # noqa: E402

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def tool(*arguments):
    """The output of a command of ktape."""
    return subprocess.run([os.path.join(OUT, "command/ktape"), *arguments], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def make_trace(*arguments, **how):
    subprocess.run([os.path.join(OUT, "make_trace"), *arguments], check=True, **how)


def same(left, right):
    if left != right:
        raise AssertionError(f"{str(left)[:300]} != {str(right)[:300]}")


def raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def structures():
    return [value for value in vars(ktape).values()
            if isinstance(value, type) and hasattr(value, "_c_name_")]


@test
def structures_are_those_of_the_headers():
    lines, ours = [], []
    for kind in structures():
        name = f"struct {kind._c_name_}"
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        ours.append(ktape.ctypes.sizeof(kind))
        for field, *_ in kind._fields_:
            lines.append(f'printf("%zu %zu\\n", offsetof({name}, {field}), '
                         f'sizeof((({name} *)0)->{field}));')
            ours.append((getattr(kind, field).offset, getattr(kind, field).size))
    lines.append('printf("%d %d\\n", KTAPE_NOTICE_LOST, KTAPE_SERIES_ALL == UINT64_MAX);')
    ours.append((ktape._LOST, 1))
    source = "#include <stdio.h>\n#include <ktape.h>\nint main(void)\n{\n" + \
        "\n".join(lines) + "\nreturn 0;\n}\n"
    subprocess.run([os.environ.get("CC", "cc"), "-xc", "-o", "sizes", "-I",
                    os.path.join(TOP, "userspace/include"), "-I", os.path.join(TOP, "uapi"),
                    "-"], input=source.encode(), check=True)
    theirs = subprocess.run(["./sizes"], check=True, stdout=subprocess.PIPE).stdout
    numbers = [tuple(map(int, line.split())) for line in theirs.decode().splitlines()]
    same([n if len(n) > 1 else n[0] for n in numbers], ours)
    same(len(structures()), 10)


@test
def members_are_in_the_order_of_the_headers():
    headers = "".join(open(os.path.join(TOP, "userspace/include", name), encoding="utf-8")
                      .read() for name in os.listdir(os.path.join(TOP, "userspace/include")))
    for kind in structures():
        body = re.search(r"^struct %s \{\n(.*?)^\};" % kind._c_name_, headers, re.M | re.S)[1]
        members = re.findall(r"\(\*(\w+)\)|(\w+)(?:\[.*?\])?;", body)
        same([field for field, *_ in kind._fields_],
             [pointer or plain for pointer, plain in members if pointer or plain])


@test
def functions_have_the_parameters_of_the_headers():
    headers = "".join(open(os.path.join(TOP, "userspace/include", name), encoding="utf-8")
                      .read() for name in os.listdir(os.path.join(TOP, "userspace/include")))
    declared = {name: arguments.count(",") + 1 for name, arguments in re.findall(
        r"^[a-z][\w \*\n]*?\b(ktape_\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\);", headers, re.M)}
    used = re.findall(r"_lib\.(ktape_\w+)", open(ktape.__file__, encoding="utf-8").read())
    for name in sorted(set(used)):
        same((name, len(getattr(ktape._lib, name).argtypes)), (name, declared[name]))


@functools.cache
def wide_fields():
    """The fields that are numbers of 64 bits, by the event table: {(event, field)}."""
    found, folder = set(), os.path.join(TOP, "uapi/ktape/events")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for event, body in re.findall(r"^KTAPE_EVENT\(\d+, \w+, (\w+),(.*?)^KTAPE_END",
                                          file.read(), re.M | re.S):
                found.update((event, field) for field in re.findall(
                    r"KTAPE_ARG\((?:U64|S64|NS|TICKS), (\w+)", body))
    return found


def expected(path):
    """The events of a trace, as ktape dump --json prints them."""
    for line in tool("dump", "--json", path).decode().split("\n")[:-1]:
        line = json.loads(line)
        same(type(line["ts"]), str)
        for name, value in line["fields"].items():
            if (line["event"], name) in wide_fields():
                same(type(value), str)
                line["fields"][name] = int(value)
        yield (int(line["ts"]), line["cpu"], line["ring"], line["tid"], line["comm"],
               line["event"], line["fields"])


@test
def events_are_those_of_dump():
    for path, least in (("folder", 60), ("session", 2000), ("emitted", 9), ("pipe", 60)):
        with ktape.Trace(path) as trace:
            events = list(trace)
        if len(events) < least:
            raise AssertionError(f"{path}: {len(events)} events")
        same([tuple(event) for event in events], list(expected(path)))


@test
def typed_arguments_of_64_bits_are_int():
    subprocess.run([os.path.join(OUT, "make_foreign"), "foreign"], check=True)
    with ktape.Trace("foreign") as trace:
        typed = [event.fields["typed"] for event in trace if event.name == "user_event"]
    values = dict(zip(typed[0][::2], typed[0][1::2]))
    same([values[name] for name in ("u", "odd", "few", "minus", "s", "small", "us", "ss", "none")],
         [2**64 - 1, 2**53 + 1, 5, -5, -2**63, -7, [1, 2, 2**64 - 1], [-1, -2**63], []])
    same(typed[-1], ["a", 0, "a", 1, "a_2", 2, "a", 3, "b", 4])


@test
def formats_end_where_arguments_are_damaged():
    for data, want in ((b"\x0e" + b"1" * 8 + b"\x0d123", [14]), (b"\x07text", []),
                       (b"\x08\xff", []), (b"\x08", []), (b"\x0f\x0e\x01", []),
                       (b"\x0f\x0e\x02\0\0\0" + b"1" * 8, []), (b"\x0f\x1d\0\0\0\0", []),
                       (b"\x0f\x08\x02\0\0\0ab\x07\0\x01a", [(15, 8), 7, 1])):
        same(list(ktape._formats(data)), want)


@test
def losses_have_stream_count_and_time():
    with ktape.Trace("folder") as trace:
        same(trace.losses, [])
        for _ in trace:
            pass
        same(trace.losses, [("cpu0", 5, 0, 7004, 8004), ("cpu1", 5, 0, 7005, 8005)])
        same(trace.problems, [])


@test
def missing_packets_are_a_loss_of_unknown_size():
    data = open("folder/cpu1", "rb").read()
    os.makedirs("less")
    for name in "metadata", "cpu0":
        os.link(f"folder/{name}", f"less/{name}")
    with open("less/cpu1", "wb") as file:
        file.write(data[:4096] + data[8192:])
    with ktape.Trace("less") as trace:
        for _ in trace:
            pass
        same(trace.losses[0][:3], ("cpu1", None, 1))


@test
def damage_is_reported_and_the_rest_is_read():
    os.makedirs("bad")
    os.link("folder/metadata", "bad/metadata")
    with open("folder/cpu0", "rb") as good, open("bad/cpu0", "wb") as file:
        data = bytearray(good.read())
        data[4300] ^= 1
        file.write(data)
    with ktape.Trace("bad") as trace:
        same(len(list(trace)), 28)
        if "checksum is wrong" not in "".join(trace.problems):
            raise AssertionError(trace.problems)


@test
def errors_say_what_is_wrong():
    error = raises(ktape.Error, ktape.Trace, "nothing")
    same((error.errno, error.filename), (ktape.errno.ENOENT, "nothing"))
    error = raises(ktape.Error, ktape.Trace, "sizes")
    same(error.errno, ktape.errno.EBADMSG)
    if not error.strerror or "sizes" not in str(error):
        raise AssertionError(str(error))
    error = raises(ktape.Error, ktape.Trace, "sizes", "no-such-format")
    same(error.errno, ktape.errno.EINVAL)
    raises(ktape.Error, ktape.stats, "nothing")


@test
def a_name_with_a_nul_is_refused():
    """The library would read the trace whose name ends there."""
    for arguments in (("folder\0x",), (b"folder\0",), ("folder", "native\0x"),
                      ("folder", "rkh", "id-width=2\0")):
        for call in ktape.Trace, ktape.stats:
            same(str(raises(ValueError, call, *arguments)), "embedded null byte")


@test
def threads_share_a_trace():
    """Each event goes to one of them, whole."""
    want = sorted(map(str, expected("session")))
    for _ in range(3):
        got, errors = [], []
        with ktape.Trace("session") as trace:
            def read(shared=trace, to=got, wrong=errors):
                try:
                    to.extend(str(tuple(event)) for event in shared)
                except Exception as error:	# pylint: disable=broad-except
                    wrong.append(error)

            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        same(errors, [])
        same(sorted(got), want)


@test
def close_waits_for_a_thread_that_reads():
    def consume(trace):
        came, ended = threading.Event(), []

        def read():
            try:
                for _ in trace:
                    came.set()
                ended.append("end")
            except ValueError as error:
                ended.append(str(error))

        thread = threading.Thread(target=read)
        thread.start()
        came.wait(60)
        trace.close()
        thread.join(60)
        return ended
    if live(consume) not in (["end"], ["the trace is closed"]):
        raise AssertionError("the thread did not end")


@test
def a_handler_cannot_close_what_is_being_read():
    """A signal can arrive while the library calls back."""
    refused = []
    take = ktape.Trace._take_notice

    def close_in_it(trace, *arguments):
        refused.append(str(raises(ValueError, trace.close)))
        take(trace, *arguments)

    ktape.Trace._take_notice = close_in_it
    try:
        with ktape.Trace("folder") as trace:
            events = list(trace)
            losses = len(trace.losses)
    finally:
        ktape.Trace._take_notice = take
    same((len(events), losses), (len(list(expected("folder"))), 2))
    same(refused, ["the trace is being read"] * 2)


@test
def a_closed_trace_cannot_be_read():
    trace = ktape.Trace("folder")
    iterator = iter(trace)
    next(iterator)
    trace.close()
    trace.close()
    raises(ValueError, next, iterator)
    raises(ValueError, next, iter(trace))


@test
def nothing_is_left_open():
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(40):
        with ktape.Trace("folder") as trace:
            next(iter(trace))
        raises(ktape.Error, ktape.Trace, "sizes")
        ktape.stats("session")
        ktape.Trace("folder")
    gc.collect()
    same(len(os.listdir("/proc/self/fd")), before)


def feed(path, done):
    """Write a pipe form into a FIFO and keep it open until done, as a device is."""
    with open("pipe", "rb") as source, open(path, "wb") as sink:
        sink.write(source.read())
        sink.flush()
        done.wait(60)


def live(consume):
    """Call consume with a live trace that does not end by itself."""
    os.mkfifo("fifo")
    done = threading.Event()
    writer = threading.Thread(target=feed, args=("fifo", done))
    writer.start()
    try:
        with ktape.Trace("fifo") as trace:
            same(trace.live, True)
            return consume(trace)
    finally:
        done.set()
        writer.join()
        os.unlink("fifo")


@test
def a_live_trace_ends_at_stop():
    def consume(trace):
        count = 0
        for _ in trace:
            count += 1
            if count == 1:
                threading.Thread(target=trace.stop).start()
        return count
    # What had arrived is delivered.
    if not 1 <= live(consume) <= 64:
        raise AssertionError("number of events")


@test
def a_signal_ends_the_wait_for_a_live_trace():
    class Interrupted(Exception):
        pass

    def handler(_number, _frame):
        raise Interrupted

    def consume(trace):
        count = 0
        for _ in trace:
            count += 1
            if count == 64:		# nothing comes after it
                os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        raises(Interrupted, live, consume)
    finally:
        signal.signal(signal.SIGUSR1, before)
    same(signal.set_wakeup_fd(-1), -1)


@test
def a_signal_from_outside_ends_the_wait():
    def consume(trace):
        for count, _ in enumerate(trace, 1):
            if count == 64:
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        raises(KeyboardInterrupt, live, consume)
    finally:
        signal.signal(signal.SIGINT, before)


@test
def statistics_are_those_of_the_tool():
    theirs = json.loads(tool("stats", "--json", "session"))
    ours = ktape.stats("session")
    same(ours.span_ns, theirs["span_ns"])
    same([(c.cpu, c.run, c.irq, c.switches) for c in ours.cpus],
         [(c["cpu"], c["run_ns"], c["irq_ns"], c["switches"]) for c in theirs["cpus"]])
    same([(t.tid, t.name, t.run, t.wait_max) for t in ours.threads],
         [(t["tid"], t["name"], t["run_ns"], t["wait_max_ns"]) for t in theirs["threads"]])
    filled = [s for s in ours.series if s.count]
    same([(s.kind, s.key, s.name, s.unit, s.count, s.sum, s.max, s.quantile(0.9).value)
          for s in filled],
         [(s["kind"], s["key"], s["name"], s["unit"], s["count"], s["sum"], s["max"],
           s["p90"]) for s in theirs["series"] if s["count"]])
    if len(filled) < 5:
        raise AssertionError("few series")
    same(ours.losses, [])
    raises(ValueError, filled[0].quantile, 2)
    same([s.quantile(0.5) for s in ours.series if not s.count][:1], [None])


@test
def statistics_know_the_losses():
    same([cpu.lost for cpu in ktape.stats("folder").cpus], [5, 5])


@test
def the_example_runs():
    example = ktape.__doc__.split("\n\n")[1]
    same(len(example.splitlines()), 10)
    os.rename("session", "trace")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec("\n".join(line[4:] for line in example.splitlines()), {})
    if "waited for a CPU: " not in printed.getvalue():
        raise AssertionError(printed.getvalue())
    manual = open(os.path.join(TOP, "userspace/man/libktape.3"), encoding="utf-8").read()
    for line in example.splitlines():
        if line[4:] not in manual:
            raise AssertionError(f"libktape(3) does not have: {line}")


@test
def a_missing_library_is_named():
    environment = dict(os.environ, KTAPE_LIBRARY="/nothing/libktape.so.1",
                       PYTHONPATH=os.path.join(TOP, "userspace/python"))
    done = subprocess.run([sys.executable, "-c", "import ktape"], env=environment,
                          stderr=subprocess.PIPE, check=False)
    same(done.returncode, 1)
    if b"ImportError" not in done.stderr or b"KTAPE_LIBRARY" not in done.stderr:
        raise AssertionError(done.stderr)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_trace("folder", "folder", "2")
        make_trace("session", "session", "session.pipe")
        make_trace("emitted", "emitted")
        with open("pipe", "wb") as pipe:
            make_trace("pipe", "2", stdout=pipe)
        for number, function in enumerate(TESTS, 1):
            name = function.__name__.replace("_", " ")
            try:
                function()
                print(f"ok {number} - {name}", flush=True)
            except Exception as error:	# any, and the other tests go on
                failed = 1
                print(f"not ok {number} - {name}\n# {type(error).__name__}: {error}",
                      flush=True)
        os.chdir("/")
    print(f"1..{len(TESTS)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
