/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Emit events of your own into ktape traces, from a program or library.
 *
 * This header needs <ktape/mark.h> and C99 or C++11, but no library.
 *
 *	int fd = ktape_mark_open();
 *
 *	ktape_begin(fd, 1, "load");
 *	ktape_value(fd, 2, queue_length, NULL);
 *	ktape_end(fd, 1, NULL);
 *	Trace1b(fd, _TRACE_SW_SEVERITY2, KTAPE_EXC_CODE(0x1234, 1), errno,
 *		path, strlen(path));
 *
 * Functions return 0 or a negative errno and do not change errno.  A negative
 * descriptor is returned as the result, so that a program need not check whether
 * the tracer is loaded.  Any number of threads may use one descriptor.
 */
#ifndef _KTAPE_MARK_USER_H
#define _KTAPE_MARK_USER_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ktape/mark.h>

#define KTAPE_MARK_PATH "/dev/ktape_mark"

/* Strict modes such as -std=c99 hide O_CLOEXEC. */
#if defined O_CLOEXEC
#define KTAPE_MARK_CLOEXEC O_CLOEXEC
#elif defined __O_CLOEXEC
#define KTAPE_MARK_CLOEXEC __O_CLOEXEC
#else
#define KTAPE_MARK_CLOEXEC 02000000
#endif

/* struct ktape_mark and ktape_mark() share a name, which -Wshadow reports in C++. */
#if defined __cplusplus && defined __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/**
 * ktape_mark_open() - Open the marker device
 *
 * Return: a descriptor; -ENOENT if the module is not loaded; -EACCES if the caller
 * has no permission.
 */
static inline int ktape_mark_open(void)
{
	int old = errno;
	int fd = open(KTAPE_MARK_PATH, O_WRONLY | O_APPEND | KTAPE_MARK_CLOEXEC);
	int ret = fd < 0 ? -errno : fd;

	errno = old;
	return ret;
}

static inline int ktape_mark_call(int fd, unsigned long command, void *arg)
{
	int old = errno, ret;

	if (fd < 0)
		return fd;
	ret = ioctl(fd, command, arg) ? -errno : 0;
	errno = old;
	return ret;
}

/* ---- text, markers, values: @message may be NULL -------------------------- */

/* Emit a text. */
static inline int ktape_text(int fd, const char *text)
{
	int old = errno, ret;

	if (fd < 0)
		return fd;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	errno = old;
	return ret;
}

static inline int ktape_mark_emit(int fd, uint32_t opcode, uint32_t flags,
				  uint32_t id, int64_t value, const char *message)
{
	struct ktape_mark m;

	memset(&m, 0, sizeof(m));
	m.size = sizeof(m);
	m.opcode = opcode;
	m.flags = flags;
	m.id = id;
	m.value = value;
	m.message = (uintptr_t)message;
	m.length = message ? (uint32_t)strlen(message) : 0;
	return ktape_mark_call(fd, KTAPE_MARK_IOC_MARK, &m);
}

/* Global ids: a moment, the begin and the end of a section, a number. */
static inline int ktape_mark(int fd, uint32_t id, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK, 0, id, 0, message);
}

static inline int ktape_begin(int fd, uint32_t id, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK_BEGIN, 0, id, 0, message);
}

static inline int ktape_end(int fd, uint32_t id, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK_END, 0, id, 0, message);
}

static inline int ktape_value(int fd, uint32_t id, int64_t value, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK_VALUE, 0, id, value, message);
}

/* The same, but each thread has ids of its own. */
static inline int ktape_task_mark(int fd, uint32_t id, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK, KTAPE_MARK_TASK, id, 0, message);
}

static inline int ktape_task_begin(int fd, uint32_t id, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK_BEGIN, KTAPE_MARK_TASK, id, 0,
			       message);
}

static inline int ktape_task_end(int fd, uint32_t id, const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK_END, KTAPE_MARK_TASK, id, 0,
			       message);
}

static inline int ktape_task_value(int fd, uint32_t id, int64_t value,
				   const char *message)
{
	return ktape_mark_emit(fd, KTAPE_EV_MARK_VALUE, KTAPE_MARK_TASK, id,
			       value, message);
}

/* ---- exceptions (need CAP_PERFMON when the device is opened) --------------- */

#ifndef _TRACE_SW_SEVERITY0
#define _TRACE_SW_SEVERITY0 KTAPE_SW_SEVERITY0
#define _TRACE_SW_SEVERITY1 KTAPE_SW_SEVERITY1
#define _TRACE_SW_SEVERITY2 KTAPE_SW_SEVERITY2
#define _TRACE_SW_SEVERITY3 KTAPE_SW_SEVERITY3
#define _TRACE_HW_SEVERITY0 KTAPE_HW_SEVERITY0
#define _TRACE_HW_SEVERITY1 KTAPE_HW_SEVERITY1
#define _TRACE_HW_SEVERITY2 KTAPE_HW_SEVERITY2
#define _TRACE_HW_SEVERITY3 KTAPE_HW_SEVERITY3
#endif

/**
 * struct ktape_args - argument words of an exception or user event
 * @nr: number of words in use
 * @word: the words
 */
struct ktape_args {
	uint32_t nr;
	uint32_t word[KTAPE_TRACE_ARGS];
};

static inline struct ktape_args ktape_args(uint32_t nr, uint32_t a1,
					   uint32_t a2, uint32_t a3,
					   uint32_t a4, uint32_t a5, uint32_t a6)
{
	struct ktape_args a = { nr, { a1, a2, a3, a4, a5, a6 } };

	return a;
}

static inline void ktape_trace_set(struct ktape_trace *t, struct ktape_args args,
				   const void *buffer, size_t size)
{
	t->size = sizeof(*t);
	t->nargs = args.nr;
	memcpy(t->args, args.word, sizeof(t->args));
	t->buffer = (uintptr_t)buffer;
	t->length = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
	if (buffer)
		t->flags |= KTAPE_TRACE_BUFFER;
}

/* Emit an exception.  @buffer NULL, with @size 0: no buffer.  Else @size 0: an empty buffer. */
static inline int ktape_exception(int fd, uint32_t severity, uint32_t code,
				  struct ktape_args args, const void *buffer,
				  size_t size)
{
	struct ktape_trace t;

	memset(&t, 0, sizeof(t));
	t.opcode = KTAPE_EV_EXCEPTION;
	t.code = code;
	t.severity = severity;
	ktape_trace_set(&t, args, buffer, size);
	return ktape_mark_call(fd, KTAPE_MARK_IOC_TRACE, &t);
}

/* clang-format off */
#define Trace0(fd, s, c) \
	ktape_exception(fd, s, c, ktape_args(0, 0, 0, 0, 0, 0, 0), NULL, 0)
#define Trace1(fd, s, c, a1) \
	ktape_exception(fd, s, c, ktape_args(1, a1, 0, 0, 0, 0, 0), NULL, 0)
#define Trace2(fd, s, c, a1, a2) \
	ktape_exception(fd, s, c, ktape_args(2, a1, a2, 0, 0, 0, 0), NULL, 0)
#define Trace3(fd, s, c, a1, a2, a3) \
	ktape_exception(fd, s, c, ktape_args(3, a1, a2, a3, 0, 0, 0), NULL, 0)
#define Trace4(fd, s, c, a1, a2, a3, a4) \
	ktape_exception(fd, s, c, ktape_args(4, a1, a2, a3, a4, 0, 0), NULL, 0)
#define Trace5(fd, s, c, a1, a2, a3, a4, a5) \
	ktape_exception(fd, s, c, ktape_args(5, a1, a2, a3, a4, a5, 0), NULL, 0)
#define Trace6(fd, s, c, a1, a2, a3, a4, a5, a6) \
	ktape_exception(fd, s, c, ktape_args(6, a1, a2, a3, a4, a5, a6), NULL, 0)

#define Trace0b(fd, s, c, buf, len) \
	ktape_exception(fd, s, c, ktape_args(0, 0, 0, 0, 0, 0, 0), buf, len)
#define Trace1b(fd, s, c, a1, buf, len) \
	ktape_exception(fd, s, c, ktape_args(1, a1, 0, 0, 0, 0, 0), buf, len)
#define Trace2b(fd, s, c, a1, a2, buf, len) \
	ktape_exception(fd, s, c, ktape_args(2, a1, a2, 0, 0, 0, 0), buf, len)
#define Trace3b(fd, s, c, a1, a2, a3, buf, len) \
	ktape_exception(fd, s, c, ktape_args(3, a1, a2, a3, 0, 0, 0), buf, len)
#define Trace4b(fd, s, c, a1, a2, a3, a4, buf, len) \
	ktape_exception(fd, s, c, ktape_args(4, a1, a2, a3, a4, 0, 0), buf, len)
#define Trace5b(fd, s, c, a1, a2, a3, a4, a5, buf, len) \
	ktape_exception(fd, s, c, ktape_args(5, a1, a2, a3, a4, a5, 0), buf, len)
#define Trace6b(fd, s, c, a1, a2, a3, a4, a5, a6, buf, len) \
	ktape_exception(fd, s, c, ktape_args(6, a1, a2, a3, a4, a5, a6), buf, len)
/* clang-format on */

/* ---- user events ------------------------------------------------------------ */

/**
 * struct ktape_typed - typed arguments of a user event
 * @length: bytes in use
 * @full: an argument did not fit; this one and all later ones are left out
 * @bytes: the arguments, each with its enum ktape_format
 *
 * Initialise with zeros: struct ktape_typed t = { 0 };
 */
struct ktape_typed {
	uint32_t length;
	uint32_t full;
	uint8_t bytes[KTAPE_MARK_BYTES_MAX];
};

/* Append an argument: format, width for display (0 to 15) and value. */
static inline void ktape_typed_put(struct ktape_typed *t, unsigned int format,
				   unsigned int width, const void *value,
				   size_t size)
{
	if (t->full || size >= sizeof(t->bytes) - t->length) {
		t->full = 1;
		return;
	}
	t->bytes[t->length] = (uint8_t)(format | width << 4);
	memcpy(t->bytes + t->length + 1, value, size);
	t->length += 1 + (uint32_t)size;
}

static inline void ktape_typed_number(struct ktape_typed *t,
				      unsigned int format, unsigned int width,
				      uint64_t value, unsigned int size)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	ktape_typed_put(t, format, width, bytes, size);
}

/* The formats from DOUBLE on are only in files that conversions write, so they are missing here. */
#define KTAPE_TYPED_NUMBER(name, type, FORMAT)                            \
	static inline void ktape_typed_##name(struct ktape_typed *t,      \
					      unsigned int width, type v) \
	{                                                                 \
		ktape_typed_number(t, KTAPE_FORMAT_##FORMAT, width,       \
				   (uint64_t)v, sizeof(v));               \
	}
/* clang-format off */
KTAPE_TYPED_NUMBER(s8, int8_t, S8)
KTAPE_TYPED_NUMBER(u8, uint8_t, U8)
KTAPE_TYPED_NUMBER(s16, int16_t, S16)
KTAPE_TYPED_NUMBER(u16, uint16_t, U16)
KTAPE_TYPED_NUMBER(s32, int32_t, S32)
KTAPE_TYPED_NUMBER(u32, uint32_t, U32)
KTAPE_TYPED_NUMBER(x32, uint32_t, X32)
KTAPE_TYPED_NUMBER(object, uint64_t, OBJECT)
KTAPE_TYPED_NUMBER(function, uint64_t, FUNCTION)
KTAPE_TYPED_NUMBER(signal, uint32_t, SIGNAL)
/* clang-format on */
#undef KTAPE_TYPED_NUMBER

static inline void ktape_typed_string(struct ktape_typed *t, const char *text)
{
	ktape_typed_put(t, KTAPE_FORMAT_STRING, 0, text, strlen(text) + 1);
}

/* Append up to 255 bytes of memory; a longer argument sets @full. */
static inline void ktape_typed_memory(struct ktape_typed *t, const void *data,
				      size_t size)
{
	uint8_t bytes[256];

	if (size > 255) {
		t->full = 1;
		return;
	}
	bytes[0] = (uint8_t)size;
	memcpy(bytes + 1, data, bytes[0]);
	ktape_typed_put(t, KTAPE_FORMAT_MEMORY, 0, bytes, 1U + bytes[0]);
}

/*
 * Emit a user event.  @flags is 0 or KTAPE_TRACE_TASK, @typed may be NULL.
 * Return -E2BIG without emitting anything if not all typed arguments fit.
 */
static inline int ktape_user_event(int fd, uint32_t flags, uint32_t id,
				   struct ktape_args args,
				   const struct ktape_typed *typed)
{
	struct ktape_trace t;

	if (fd >= 0 && typed && typed->full)
		return -E2BIG;
	memset(&t, 0, sizeof(t));
	t.opcode = KTAPE_EV_USER_EVENT;
	t.flags = flags;
	t.code = id;
	ktape_trace_set(&t, args, typed ? typed->bytes : NULL,
			typed ? typed->length : 0);
	return ktape_mark_call(fd, KTAPE_MARK_IOC_TRACE, &t);
}

/* ---- names ------------------------------------------------------------------ */

/*
 * Name an object of type KTAPE_OBJ_*; @param1 and @param2 depend on the type
 * (ktape/objects.h).  A long name is cut; "" says that the object no longer exists.
 */
static inline int ktape_name(int fd, uint32_t type, uint32_t id,
			     uint32_t param1, uint32_t param2, const char *name)
{
	size_t length = strlen(name);
	struct ktape_name n;

	memset(&n, 0, sizeof(n));
	n.size = sizeof(n);
	n.type = type;
	n.id = id;
	n.param1 = param1;
	n.param2 = param2;
	memcpy(n.name, name, length < sizeof(n.name) ? length : sizeof(n.name) - 1);
	return ktape_mark_call(fd, KTAPE_MARK_IOC_NAME, &n);
}

static inline int ktape_name_marker(int fd, uint32_t id, const char *name)
{
	return ktape_name(fd, KTAPE_OBJ_MARKER, id, 0, 0, name);
}

static inline int ktape_name_value(int fd, uint32_t id, const char *name)
{
	return ktape_name(fd, KTAPE_OBJ_VALUE, id, 0, 0, name);
}

#if defined __cplusplus && defined __GNUC__
#pragma GCC diagnostic pop
#endif

#endif /* _KTAPE_MARK_USER_H */
