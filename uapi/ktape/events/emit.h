/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/* Exceptions, markers, user events: opcodes 16 to 25.  Included by ktape/events.h. */

KTAPE_EVENT(16, EXCEPTION, exception, EXCEPTION,
	    "a trace exception: the first argument is its code")
	KTAPE_BITS(SEVERITY, severity, 3, "level 0 to 3, 4 more for hardware")
	KTAPE_BITS(BOOL, buffer, 1, "the exception has a buffer")
	KTAPE_VARARGS(16)
KTAPE_ARGS()
	KTAPE_REST(X32, args, "major << 8 | minor, then up to 6 arguments")
	KTAPE_BLOB()
	KTAPE_BYTES(data, "the buffer")
KTAPE_END(EXCEPTION)

KTAPE_EVENT(17, MARK, mark, USER, "a moment in a program")
	KTAPE_BITS(BOOL, task, 1, "it belongs to the thread, else to all")
KTAPE_ARGS()
	KTAPE_ARG(MARKER, id, "number of the marker")
	KTAPE_BLOB()
	KTAPE_TEXT(message, "empty if there is none")
KTAPE_END(MARK)

KTAPE_EVENT(18, MARK_BEGIN, mark_begin, USER, "a span begins; spans nest")
	KTAPE_BITS(BOOL, task, 1, "it belongs to the thread, else to all")
KTAPE_ARGS()
	KTAPE_ARG(MARKER, id, "number of the marker")
	KTAPE_BLOB()
	KTAPE_TEXT(message, "empty if there is none")
KTAPE_END(MARK_BEGIN)

KTAPE_EVENT(19, MARK_END, mark_end, USER,
	    "the innermost span with this marker ends")
	KTAPE_BITS(BOOL, task, 1, "it belongs to the thread, else to all")
KTAPE_ARGS()
	KTAPE_ARG(MARKER, id, "number of the marker")
	KTAPE_BLOB()
	KTAPE_TEXT(message, "empty if there is none")
KTAPE_END(MARK_END)

KTAPE_EVENT(20, MARK_VALUE, mark_value, USER, "a value at a moment")
	KTAPE_BITS(BOOL, task, 1, "it belongs to the thread, else to all")
KTAPE_ARGS()
	KTAPE_ARG(VALUEID, id, "number of the value")
	KTAPE_ARG(S64, value, "the value")
	KTAPE_BLOB()
	KTAPE_TEXT(message, "empty if there is none")
KTAPE_END(MARK_VALUE)

KTAPE_EVENT(21, ISR_ENTER, isr_enter, USER,
	    "an interrupt routine starts, reported by a module")
KTAPE_ARGS()
	KTAPE_ARG(ISRID, id, "number of the routine on this CPU")
KTAPE_END(ISR_ENTER)

KTAPE_EVENT(22, ISR_EXIT, isr_exit, USER,
	    "an interrupt routine returns, reported by a module")
KTAPE_ARGS()
	KTAPE_ARG(ISRID, id, "number of the routine on this CPU")
KTAPE_END(ISR_EXIT)

KTAPE_EVENT(23, USER_EVENT, user_event, USER,
	    "an event of the user: the first argument is its id")
	KTAPE_BITS(BOOL, task, 1, "it belongs to the thread, else to all")
	KTAPE_VARARGS(19)
KTAPE_ARGS()
	KTAPE_REST(X32, args, "id, then up to 6 arguments")
	KTAPE_BLOB()
	KTAPE_BYTES(typed, "typed arguments: uapi/README.md")
KTAPE_END(USER_EVENT)

KTAPE_EVENT(24, TEXT, text, USER, "text that a program wrote")
	KTAPE_BITS(BOOL, cut, 1, "the text was longer")
KTAPE_ARGS()
	KTAPE_BLOB()
	KTAPE_TEXT(text, "the text")
KTAPE_END(TEXT)

KTAPE_EVENT(25, TRACE_EVENT, trace_event, USER, "a TraceEvent of another table")
KTAPE_ARGS()
	KTAPE_ARG(X32, code, "code word of the event")
	KTAPE_BLOB()
	KTAPE_BYTES(data, "arguments of the event, then its buffer")
KTAPE_END(TRACE_EVENT)
