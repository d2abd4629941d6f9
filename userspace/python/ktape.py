# SPDX-License-Identifier: LGPL-2.1-or-later
"""Read traces of the ktape kernel module, with libktape.

    import ktape
    with ktape.Trace("trace") as trace:
        for event in trace:
            if event.name == "sys_exit" and "error" in event.fields:
                print(event.ns, event.comm, event.fields["error"])
        for loss in trace.losses:
            print("lost:", loss.stream, loss.count)
    for series in ktape.stats("trace").series:
        if series.name == "run_queue" and series.count:
            print("waited for a CPU:", series.quantile(0.99).value, series.unit)

A trace is what "ktape dump" reads: a directory, a file, "-" for standard input, or a
device such as /dev/ktape, whose events come as they are recorded, until stop() is
called or a signal arrives.  Events and losses are copies: they stay valid.

Errors of the system and of the input are raised as ktape.Error, an OSError: errno and
a sentence that says what is wrong.  Threads may share a Trace: each event goes to one of
them, and close() waits until none is in the library.  The environment variable KTAPE_LIBRARY names another libktape.so.1.
"""
import ctypes
import errno
import functools
import json
import os
import signal
import threading
from collections import namedtuple
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p,
                    c_int, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_uint8,
                    c_void_p)

__all__ = ["Error", "Event", "Loss", "Quantile", "Series", "Stats", "Trace", "stats"]

Event = namedtuple("Event", "ns cpu ring tid comm name fields")
Event.__doc__ = """One event.

ns: nanoseconds since the epoch; ring: "event", "control" or "registry"; tid: the thread
that ran, or None; comm: its name, or None; name: of the event; fields: a dict, as
"ktape dump --json" prints them (ktape-format(5)), but all numbers are int, also those of
64 bits; hexadecimal values are str such as "0x1f"."""
Event.__module__ = __name__

Loss = namedtuple("Loss", "stream count packets begin_ns end_ns")
Loss.__doc__ = """Events that are missing.

stream: such as "cpu3", or None if not known; count: how many, or None if not known;
packets: missing packets; begin_ns, end_ns: when, in nanoseconds since the epoch."""
Loss.__module__ = __name__


class Error(OSError):
    """The input cannot be read, or the system refused something."""


# ---- structures of libktape; the tests compare them with the headers -------------

class _Error(Structure):
    _c_name_ = "ktape_error"
    _fields_ = [("offset", c_uint64), ("text", c_char * 160)]


class _Record(Structure):
    _c_name_ = "ktape_event"
    _fields_ = [("ts", c_uint64), ("args", c_void_p), ("blob", c_void_p),
                ("offset", c_uint32), ("size", c_uint32), ("blob_size", c_uint32),
                ("dat20", c_uint32), ("cpu", c_uint32), ("tid", c_int32),
                ("kind", c_uint8), ("opcode", c_uint8), ("nargs", c_uint8),
                ("known", c_bool), ("extra", c_void_p), ("extra_size", c_uint32)]


class _Notice(Structure):
    _c_name_ = "ktape_notice"
    _fields_ = [("kind", c_uint32), ("stream", c_bool), ("continued", c_bool),
                ("reasons", c_uint8), ("cpu", c_uint32),
                ("ring", c_uint32), ("count", c_uint64), ("packets", c_uint64),
                ("from", c_uint64), ("to", c_uint64), ("error", _Error),
                ("overwritten", c_uint64)]


_ON_NOTICE = CFUNCTYPE(None, c_void_p, POINTER(_Notice))
_ON_IDLE = CFUNCTYPE(None, c_void_p)


class _Options(Structure):
    _c_name_ = "ktape_trace_options"
    _fields_ = [("notice", _ON_NOTICE), ("idle", _ON_IDLE), ("arg", c_void_p),
                ("format", c_char_p), ("format_options", c_char_p),
                ("window", c_uint64), ("memory", c_uint64), ("wake", c_int),
                ("flags", c_uint32)]


class _Series(Structure):
    _c_name_ = "ktape_series"
    _fields_ = [("kind", c_uint32), ("key", c_uint64), ("name", c_char * 64),
                ("unit", c_char_p), ("count", c_uint64), ("sum", c_uint64),
                ("min", c_uint64), ("max", c_uint64), ("uncertain", c_uint64),
                ("errors", c_uint64), ("error", c_int), ("max_tid", c_int32),
                ("max_ts", c_uint64), ("max_cpu", c_uint32)]


class _Quantile(Structure):
    _c_name_ = "ktape_quantile"
    _fields_ = [("value", c_uint64), ("low", c_uint64), ("high", c_uint64)]


class _Cpu(Structure):
    _c_name_ = "ktape_linux_cpu"
    _fields_ = [("cpu", c_uint32), ("seen", c_bool), ("run", c_uint64),
                ("idle", c_uint64), ("irq", c_uint64), ("softirq", c_uint64),
                ("unknown", c_uint64), ("switches", c_uint64), ("lost", c_uint64),
                ("gaps", c_uint64), ("uncounted", c_uint64), ("overwritten", c_uint64),
                ("late", c_bool)]


class _Thread(Structure):
    _c_name_ = "ktape_linux_thread"
    _fields_ = [("tid", c_int32), ("tgid", c_uint32), ("name", c_char * 33),
                ("run", c_uint64), ("wait", c_uint64), ("wait_max", c_uint64),
                ("waits", c_uint64), ("switches", c_uint64)]


class _Field(Structure):
    _c_name_ = "ktape_field"
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("type", c_uint8),
                ("place", c_uint8), ("count", c_uint16)]


class _Description(Structure):
    _c_name_ = "ktape_event_desc"
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("fields", POINTER(_Field)),
                ("nr_fields", c_uint16), ("opcode", c_uint8), ("event_class", c_uint8),
                ("nargs", c_uint8), ("varargs", c_bool), ("has_blob", c_bool),
                ("blob_words", c_uint16)]


_LOST = 0				# KTAPE_NOTICE_LOST
_ALL = 2**64 - 1			# KTAPE_SERIES_ALL; no bound of a quantile
_WIDE = (b"U64", b"S64", b"NS", b"TICKS")	# types whose numbers are strings in JSON
_USER_EVENT = 23			# KTAPE_EV_USER_EVENT
_STRING, _MEMORY, _ARRAY = 7, 8, 15	# KTAPE_FORMAT_*
_INT64, _INT64_ARRAY = (13, 14), ((15, 13), (15, 14))
_SIZES = (1, 1, 2, 2, 4, 4, 4, 0, 0, 8, 8, 4, 8, 8, 8, 0)	# bytes, by format
_RINGS = ("cpu", "control", "registry")	# names of streams, by enum ktape_ring_kind


def _load():
    name = os.environ.get("KTAPE_LIBRARY", "libktape.so.1")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"{error}: install libktape, or set KTAPE_LIBRARY to the path "
                          "of libktape.so.1") from None
    for function, result, *arguments in (
            ("ktape_trace_open", c_int, c_char_p, POINTER(_Options), POINTER(c_void_p),
             POINTER(_Error)),
            ("ktape_trace_next", c_int, c_void_p, POINTER(c_void_p)),
            ("ktape_trace_is_live", c_bool, c_void_p),
            ("ktape_trace_info", c_void_p, c_void_p),
            ("ktape_trace_registry", c_void_p, c_void_p),
            ("ktape_trace_close", None, c_void_p),
            ("ktape_epoch_ns", c_int64, c_void_p, c_uint64),
            ("ktape_event_find", POINTER(_Description), c_char_p),
            ("ktape_type_name", c_char_p, c_uint32),
            ("ktape_format_bound", c_size_t, c_void_p),
            ("ktape_format_json", c_size_t, c_void_p, c_void_p, c_void_p, c_char_p),
            ("ktape_linux_new", c_int, c_void_p, c_void_p, POINTER(c_void_p)),
            ("ktape_linux_take", c_int, c_void_p, c_void_p),
            ("ktape_linux_notice", None, c_void_p, POINTER(_Notice)),
            ("ktape_linux_finish", c_int, c_void_p),
            ("ktape_linux_span", c_uint64, c_void_p),
            ("ktape_linux_series", POINTER(_Series), c_void_p, c_size_t),
            ("ktape_linux_quantile", None, c_void_p, c_size_t, c_uint32,
             POINTER(_Quantile)),
            ("ktape_linux_cpu", POINTER(_Cpu), c_void_p, c_uint32),
            ("ktape_linux_thread", POINTER(_Thread), c_void_p, c_size_t),
            ("ktape_linux_free", None, c_void_p),
            ("ktape_series_name", c_char_p, c_uint32)):
        entry = getattr(library, function)
        entry.restype, entry.argtypes = result, arguments
    return library


_lib = _load()


def _check(result, path, text=b""):
    if result < 0:
        raise Error(-result, text.decode(errors="replace") or os.strerror(-result), path)
    return result


def _text(value):
    """Return a name for the library, which would take one with a NUL for a shorter one."""
    value = value if value is None else os.fsencode(value)
    if value and b"\0" in value:
        raise ValueError("embedded null byte")
    return value


@functools.cache
def _wide_fields(name):
    """Return the fields of an event of the table that are strings of digits in JSON."""
    found = _lib.ktape_event_find(name.encode())
    if not found:
        return ()
    event = found.contents
    return tuple(field.name.decode() for field in event.fields[:event.nr_fields]
                 if _lib.ktape_type_name(field.type) in _WIDE)


def _formats(data):
    """Yield the format of each typed argument, as far as they are whole."""
    at = 0
    while at < len(data):
        form, at = data[at] & 15, at + 1
        size = _SIZES[form]
        if form == _STRING:
            size = data.find(0, at) + 1 - at
        elif form == _MEMORY:
            size = 1 + data[at] if at < len(data) else 0
        elif form == _ARRAY:
            elem, count = data[at:at + 1], int.from_bytes(data[at + 1:at + 5], "little")
            form = (_ARRAY, int.from_bytes(elem, "little"))
            size = 5 + count * (_SIZES[form[1]] or 1) if form[1] < _ARRAY else 0
        if size <= 0 or at + size > len(data):
            return
        at += size
        yield form


def _exact(form, value):
    """Return a typed argument of JSON: numbers of 64 bits are int."""
    if form in _INT64:
        return int(value)
    if form in _INT64_ARRAY:
        return [int(v) for v in value]
    return value


def _exact_fields(fields, blob, extra):
    """Make int of numbers of 64 bits whose format is in the record, not in the table."""
    if "typed" in fields:
        for i, form in enumerate(_formats(blob)):
            fields["typed"][i] = _exact(form, fields["typed"][i])
    # The fields that only another tracer has are the last ones; their names are arguments.
    forms = list(_formats(extra))[1::2]
    for name, form in zip(list(fields)[len(fields) - len(forms):], forms):
        fields[name] = _exact(form, fields[name])


def _event(text, blob, extra):
    """Make an event of its line of JSON, and of the typed arguments in the record."""
    line = json.loads(text)
    fields = line["fields"]
    _exact_fields(fields, blob, extra)
    for name in _wide_fields(line["event"]):
        if name in fields:
            fields[name] = int(fields[name])
    return Event(int(line["ts"]), line["cpu"], line["ring"], line["tid"], line["comm"],
                 line["event"], fields)


# ---- traces -----------------------------------------------------------------------

class Trace:
    """A trace that is being read: an iterator of events, and a context manager.

    format and options are those of "ktape dump --from": "rkh", "id-width=2"."""

    def __init__(self, path, format=None, options=None):
        self.path = os.fspath(path)
        path, format, options = map(_text, (path, format, options))
        self._reading = threading.RLock()	# of the thread that is in the library
        self._inside = False		# it is, so the trace must not be closed
        self._using = threading.RLock()	# of what close() sets, for moments
        self.problems = []	# what is damaged or was assumed, as sentences
        self._notices, self._listener, self._trace = [], None, c_void_p()
        self._stop, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)[::-1]
        self._on_notice = _ON_NOTICE(self._take_notice)	# as long as the trace
        how = _Options(notice=self._on_notice, wake=self._wake,
                       format=format, format_options=options)
        error = _Error()
        try:
            _check(_lib.ktape_trace_open(path, byref(how),
                                         byref(self._trace), byref(error)),
                   self.path, error.text)
            self._info = _lib.ktape_trace_info(self._trace)
            self._names = _lib.ktape_trace_registry(self._trace)
            self._live = _lib.ktape_trace_is_live(self._trace)
        except BaseException:
            self.close()
            raise
        self._line = ctypes.create_string_buffer(4096)

    def _take_notice(self, _arg, notice):
        notice = notice[0]
        if notice.kind != _LOST:
            self.problems.append(notice.error.text.decode(errors="replace"))
            return
        stream = None
        if notice.stream:
            stream = _RINGS[notice.ring] + ("" if notice.ring == 2 else str(notice.cpu))
        self._notices.append((stream, notice.count or None, notice.packets,
                              getattr(notice, "from"), notice.to))
        if self._listener:
            _lib.ktape_linux_notice(self._listener, byref(notice))

    @property
    def losses(self):
        """The losses found so far, as a list of Loss."""
        return [Loss(stream, count, packets, self._ns(begin), self._ns(end))
                for stream, count, packets, begin, end in self._notices]

    @property
    def live(self):
        """Whether the input is a device or a pipe, whose events come as they occur."""
        return self._live

    def _ns(self, ticks):
        with self._using:
            return _lib.ktape_epoch_ns(self._open_info(), ticks)

    def _open_info(self):
        if not self._trace:
            raise ValueError("the trace is closed")
        return self._info

    def _next(self, event):
        self._open_info()
        if self._inside:
            raise ValueError("the trace is being read")	# a signal's handler
        self._inside = True
        try:
            return self._wait_next(event)
        finally:
            self._inside = False

    def _wait_next(self, event):
        if not self._live or threading.current_thread() is not threading.main_thread():
            return _lib.ktape_trace_next(self._trace, byref(event))
        # A signal must end the wait in the library, so that Python can handle it.
        before = signal.set_wakeup_fd(self._stop, warn_on_full_buffer=False)
        try:
            return _lib.ktape_trace_next(self._trace, byref(event))
        finally:
            signal.set_wakeup_fd(before)

    def _raw(self):
        """Yield a pointer to each event, which is valid until the next one."""
        event = c_void_p()
        while _check(self._next(event), self.path):
            yield event

    def _read_line(self):
        """Return the next event as JSON with its typed arguments, or None at the end."""
        event = c_void_p()
        with self._reading:
            if not _check(self._next(event), self.path):
                return None
            bound = _lib.ktape_format_bound(event)
            if bound > len(self._line):
                self._line = ctypes.create_string_buffer(bound)
            length = _lib.ktape_format_json(self._open_info(), self._names, event,
                                            self._line)
            text = ctypes.string_at(self._line, length).decode()
            record = ctypes.cast(event, POINTER(_Record)).contents
            typed = record.blob and record.opcode == _USER_EVENT
            return (text, ctypes.string_at(record.blob, record.blob_size) if typed else b"",
                    ctypes.string_at(record.extra, record.extra_size) if record.extra else b"")

    def __iter__(self):
        while line := self._read_line():
            yield _event(*line)

    def stop(self):
        """End the iteration of a live trace at its next pause; from any thread."""
        with self._using:
            try:
                if self._stop >= 0:
                    os.write(self._stop, b"\\0")
            except BlockingIOError:
                pass		# it was already told to end

    def close(self):
        """Close the trace; another thread that waits for an event of it ends first."""
        if not self._reading.acquire(blocking=False):
            self.stop()
            self._reading.acquire()
        try:
            if self._inside:
                raise ValueError("the trace is being read")
            with self._using:
                self._release()
        finally:
            self._reading.release()

    def _release(self):
        if self._trace:
            _lib.ktape_trace_close(self._trace)
            self._trace = c_void_p()
        for name in ("_stop", "_wake"):
            descriptor = getattr(self, name)
            if descriptor >= 0:
                os.close(descriptor)
            setattr(self, name, -1)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def __del__(self):
        if hasattr(self, "_wake"):
            self.close()


# ---- statistics ---------------------------------------------------------------------

Quantile = namedtuple("Quantile", "value low high")
Quantile.__doc__ = """A quantile, and its bounds because of lost events; high may be None."""
Quantile.__module__ = __name__


class Series:
    """Values of one kind, for one key or (key None) for all: see ktape-linux.h.

    kind: such as "irq"; key; name; unit: "ns" or "jiffies"; count, sum, min, max;
    uncertain: intervals in which events were lost; errors: how many ended with an
    error."""

    def __init__(self, entry, quantile):
        self.kind = _lib.ktape_series_name(entry.kind).decode()
        self.key = None if entry.key == _ALL else entry.key
        self.name = entry.name.decode(errors="replace")
        self.unit = entry.unit.decode()
        for name in ("count", "sum", "min", "max", "uncertain", "errors"):
            setattr(self, name, getattr(entry, name))
        self._quantile = quantile

    def quantile(self, share):
        """Return the Quantile of a share, such as 0.99, or None without values."""
        return self._quantile(share) if self.count else None


def _members(entry):
    """Return the members of a structure as a namedtuple."""
    kind = _TUPLES[type(entry)]
    values = (getattr(entry, name) for name in kind._fields)
    return kind(*(v.decode(errors="replace") if isinstance(v, bytes) else v for v in values))


_TUPLES = {structure: namedtuple(structure.__name__[1:], [f[0] for f in structure._fields_])
           for structure in (_Cpu, _Thread)}


class Stats:
    """Statistics of a Linux trace; "ktape stats" explains them.

    span_ns; cpus and threads: lists of tuples with the members that ktape-linux.h
    describes; series: a list of Series; losses and problems: as of a Trace."""

    def __init__(self, path, format=None, options=None):
        # The library's statistics refer to the trace, which stays open as long.
        self._trace = trace = Trace(path, format, options)
        self._stats = stats = c_void_p()
        _check(_lib.ktape_linux_new(trace._info, trace._names, byref(stats)), path)
        trace._listener = stats
        for event in trace._raw():
            _check(_lib.ktape_linux_take(stats, event), path)
        _check(_lib.ktape_linux_finish(stats), path)
        self.span_ns = _lib.ktape_linux_span(stats)
        self.cpus = [_members(e) for e in self._all(_lib.ktape_linux_cpu)]
        self.threads = [_members(e) for e in self._all(_lib.ktape_linux_thread)]
        self.series = [Series(entry, self._shares(i)) for i, entry in
                       enumerate(self._all(_lib.ktape_linux_series))]
        self.losses, self.problems = trace.losses, trace.problems

    def _all(self, function):
        index = 0
        while entry := function(self._stats, index):
            yield entry[0]
            index += 1

    def _shares(self, index):
        def quantile(share):
            if not 0 <= share <= 1:
                raise ValueError("a share is between 0 and 1")
            result = _Quantile()
            _lib.ktape_linux_quantile(self._stats, index, round(share * 1000000),
                                      byref(result))
            return Quantile(result.value, result.low,
                            None if result.high == _ALL else result.high)
        return quantile

    def __del__(self):
        if getattr(self, "_stats", None):
            self._trace._listener = None
            _lib.ktape_linux_free(self._stats)


def stats(path, format=None, options=None):
    """Return the Stats of a trace.  A live trace is read until it ends."""
    return Stats(path, format, options)
