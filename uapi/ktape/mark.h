/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/ktape_mark: events and names of user programs.
 *
 * write() records its bytes as one text event; a newline at the end is removed.  A
 * program that may write to the device may emit opcodes 17 to 20, 23 and 24.
 *
 * A descriptor that was opened without CAP_PERFMON cannot emit exceptions (EPERM),
 * and its events are limited in rate (EBUSY; the event is counted as lost).  The
 * limit is per user, and four times as high for all users together.  An event
 * counts as one, and one more for each 64 bytes of text, message or buffer.
 */
#ifndef _KTAPE_MARK_H
#define _KTAPE_MARK_H

#include <ktape/abi.h>

#define KTAPE_MARK_TEXT_MAX  1024 /* bytes of a text or message; cut above */
#define KTAPE_MARK_BYTES_MAX 1024 /* bytes of a buffer; E2BIG above */

/* Flags of struct ktape_mark. */
#define KTAPE_MARK_TASK (1U << 0) /* belongs to the thread, not global */

/**
 * struct ktape_mark - emit a marker or a value (MARK)
 * @size: bytes of the structure
 * @opcode: KTAPE_EV_MARK, _MARK_BEGIN, _MARK_END or _MARK_VALUE
 * @flags: KTAPE_MARK_*
 * @id: id of the marker or value
 * @value: MARK_VALUE: the value; else zero
 * @message: pointer to text; 0 = none
 * @length: bytes of the text, cut at KTAPE_MARK_TEXT_MAX, or at max_str= of the module
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

#define KTAPE_TRACE_BUFFER (1U << 0) /* record the buffer, even if empty */
#define KTAPE_TRACE_TASK   (1U << 1) /* user event: belongs to the thread */
#define KTAPE_TRACE_ARGS   6

/**
 * struct ktape_trace - emit an exception or a user event (TRACE)
 * @size: bytes of the structure
 * @opcode: KTAPE_EV_EXCEPTION or KTAPE_EV_USER_EVENT
 * @flags: KTAPE_TRACE_*
 * @code: exception: KTAPE_EXC_CODE(); user event: its id, below
 *	KTAPE_FORMAT_ID_FIRST
 * @severity: exception: enum ktape_severity; user event: zero
 * @nargs: number of arguments in @args
 * @args: arguments; the rest is zero
 * @length: bytes of the buffer, at most KTAPE_MARK_BYTES_MAX
 * @reserved: zero
 * @buffer: pointer to any bytes (exception) or to typed arguments (user event)
 *
 * EPERM: an exception without CAP_PERFMON, or of a major of the kernel; a user event
 * whose id is not a program's (KTAPE_FORMAT_ID_FIRST and above, ktape/formats.h).
 * E2BIG: @length is too large.
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
 * struct ktape_name - name an object in the registry (NAME)
 * @size: bytes of the structure
 * @type: KTAPE_OBJ_MARKER, _VALUE, _ISR, _EXCEPTION, _USER_EVENT, or
 *	KTAPE_OBJ_USER and above.  Without CAP_PERFMON: no exceptions, no ISRs
 * @flags: zero
 * @id: number within the type
 * @param1: depends on @type (ktape/objects.h); of a marker or a value zero
 * @param2: depends on @type; of a marker or a value zero
 * @name: NUL-terminated; empty = the object went away
 *
 * EPERM: an exception of a major of the kernel.  Without CAP_PERFMON: EPERM: any exception or
 * ISR, or a name that another user gave; EBUSY: too many names in too short a time; ENOSPC:
 * the caller, or all such users together, have given too many names.
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
 * Formats of typed arguments, with the numbers of RKH trace.  In a user event's
 * buffer each argument has a byte (bits 0-3: format, bits 4-7: width for
 * display) and then its little-endian value: 1, 2 or 4 bytes; STRING: bytes and a
 * NUL; MEMORY: a length byte and that many bytes; OBJECT and FUNCTION: 8 bytes;
 * SIGNAL: 4 bytes.
 *
 * DOUBLE to ARRAY are in files that conversions write; the module makes none.  DOUBLE,
 * S64 and U64: 8 bytes.  ARRAY: a byte with the format of its elements, 4 bytes with
 * their number, and the elements, one after the other.  The elements have any format
 * that is a number, or MEMORY: then each is a byte, and together they are one block.
 *
 * The value of a field of another tracer's event has KTAPE_TYPED_* instead of a width.
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
	KTAPE_FORMAT_SIGNAL = 11,
	KTAPE_FORMAT_DOUBLE = 12,
	KTAPE_FORMAT_S64 = 13,
	KTAPE_FORMAT_U64 = 14,
	KTAPE_FORMAT_ARRAY = 15
};

#define KTAPE_TYPED_FIXED \
	0x10 /* MEMORY, ARRAY: the length is part of the field's type, so always this one */
#define KTAPE_TYPED_LABEL 0x20 /* STRING: label of the field before it */
#define KTAPE_TYPED_FLOAT 0x40 /* DOUBLE, ARRAY of DOUBLE: they had 32 bits */

#endif /* _KTAPE_MARK_H */
