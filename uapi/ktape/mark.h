/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/ktape_mark: events of user programs.
 *
 * write() records its bytes as one text event, without a newline at the end.
 * Whoever may write to the device may emit opcodes 17 to 24; without CAP_PERFMON
 * at a limited rate (EBUSY above it, counted as lost), and no exceptions (EPERM).
 * The rate is that of a user, whatever he has open, and four times as much that of
 * all users together.  An event counts as one and one more for each 64 bytes of
 * text, message or buffer.
 */
#ifndef _KTAPE_MARK_H
#define _KTAPE_MARK_H

#include <ktape/abi.h>

#define KTAPE_MARK_TEXT_MAX	1024	/* bytes of a text or message; cut above */
#define KTAPE_MARK_BYTES_MAX	1024	/* bytes of a buffer; E2BIG above */

/* Flags of struct ktape_mark. */
#define KTAPE_MARK_TASK		(1U << 0)	/* of this thread, else global */

/**
 * struct ktape_mark - a marker or a value
 * @size: of the structure
 * @opcode: KTAPE_EV_MARK, _MARK_BEGIN, _MARK_END, _MARK_VALUE
 * @flags: KTAPE_MARK_*
 * @id: of the marker or value
 * @value: of MARK_VALUE, else zero
 * @message: pointer to text, or 0
 * @length: its bytes
 * @reserved: zero
 */
struct ktape_mark {
	__u32 size;
	__u32 opcode;
	__u32 flags;
	__u32 id;
	__s64 value;
	__u64 message;
	__u32 length;
	__u32 reserved;
};

#define KTAPE_TRACE_BUFFER	(1U << 0)	/* there is a buffer, maybe empty */
#define KTAPE_TRACE_TASK	(1U << 1)	/* user event: of this thread */
#define KTAPE_TRACE_ARGS	6

/**
 * struct ktape_trace - an exception or a user event
 * @size: of the structure
 * @opcode: KTAPE_EV_EXCEPTION, KTAPE_EV_USER_EVENT
 * @flags: KTAPE_TRACE_*
 * @code: exception: KTAPE_EXC_CODE(); user event: its id
 * @severity: exception: enum ktape_severity; else zero
 * @nargs: entries of @args in use
 * @args: arguments
 * @length: bytes at @buffer
 * @reserved: zero
 * @buffer: pointer: exception: anything; user event: typed arguments
 */
struct ktape_trace {
	__u32 size;
	__u32 opcode;
	__u32 flags;
	__u32 code;
	__u32 severity;
	__u32 nargs;
	__u32 args[KTAPE_TRACE_ARGS];
	__u32 length;
	__u32 reserved;
	__u64 buffer;
};

/**
 * struct ktape_name - a name in the registry
 * @size: of the structure
 * @type: KTAPE_OBJ_MARKER, _VALUE, _ISR, _EXCEPTION, _USER_EVENT, or
 *	KTAPE_OBJ_USER and above.  Without CAP_PERFMON: no exceptions, no ISRs
 * @flags: zero
 * @id: within the type
 * @param1: by type
 * @param2: by type
 * @name: ends in NUL; empty: the object is gone
 */
struct ktape_name {
	__u32 size;
	__u32 type;
	__u32 flags;
	__u32 id;
	__u32 param1;
	__u32 param2;
	char name[KTAPE_NAME_SIZE];
};

/*
 * Formats of typed arguments, as RKH trace numbers them.  In a user event's
 * buffer each argument is a byte (bits 0-3 the format, bits 4-7 the width to
 * show it in), then its value, little-endian: 1, 2 or 4 bytes; STRING: bytes
 * and a NUL; MEMORY: a length byte, then so many bytes; OBJECT and FUNCTION: 8
 * bytes; SIGNAL: 4 bytes.
 */
enum ktape_format {
	KTAPE_FORMAT_S8 = 0,
	KTAPE_FORMAT_U8 = 1,
	KTAPE_FORMAT_S16 = 2,
	KTAPE_FORMAT_U16 = 3,
	KTAPE_FORMAT_S32 = 4,
	KTAPE_FORMAT_U32 = 5,
	KTAPE_FORMAT_X32 = 6,
	KTAPE_FORMAT_STRING = 7,
	KTAPE_FORMAT_MEMORY = 8,
	KTAPE_FORMAT_OBJECT = 9,
	KTAPE_FORMAT_FUNCTION = 10,
	KTAPE_FORMAT_SIGNAL = 11
};

#endif /* _KTAPE_MARK_H */
