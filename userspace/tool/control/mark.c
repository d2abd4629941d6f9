// SPDX-License-Identifier: GPL-2.0-only
/* ktape mark: record markers, texts, exceptions, user events and names from a shell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape_mark.h>
#include "util/bits.h"
#include "util/parse.h"

#include "tool/control/control.h"
#include "tool/session/session.h"
#include "tool/shared/message.h"

struct mark_options {
	bool task;
	const char *buffer;
	const char *device;
};

static const struct kt_option options[] = {
	{ "task", 't', KT_OPT_FLAG, offsetof(struct mark_options, task), NULL,
	  "the mark belongs to this thread (default: to none)" },
	{ "buffer", 'b', KT_OPT_TEXT, offsetof(struct mark_options, buffer),
	  "TEXT", "exception: a buffer to record with it" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct mark_options, device),
	  "PATH", "instead of " KTAPE_MARK_PATH },
	{ .name = NULL },
};

/*
 * An event to record.  @fd: open device to write it to; @argv: its kind, then its operands;
 * @argc: number of both.
 */
struct mark {
	const struct mark_options *o;
	int fd;
	int argc;
	char **argv;
};

/* ---- numbers ---------------------------------------------------------------- */

static int bad_operand(const char *what, const char *text)
{
	return misuse(&command_mark, "\"%s\" is not a valid %s", text, what);
}

/* Parse a number.  Return: 0 or the exit code, as for all take_*() below. */
static int take_u32(const char *what, const char *text, uint32_t *value)
{
	uint64_t v;

	*value = 0;
	if (kt_parse_u64(text, &v) || v > UINT32_MAX)
		return bad_operand(what, text);
	*value = (uint32_t)v;
	return 0;
}

static int take_s64(const char *what, const char *text, int64_t *value)
{
	bool minus = *text == '-';
	uint64_t v;

	*value = 0;
	if (kt_parse_u64(text + minus, &v) || v > (uint64_t)INT64_MAX + minus)
		return bad_operand(what, text);
	*value = (int64_t)(minus ? 0 - v : v);
	return 0;
}

static const char *const severities[] = {
	"SW_SEVERITY0", "SW_SEVERITY1", "SW_SEVERITY2", "SW_SEVERITY3",
	"HW_SEVERITY0", "HW_SEVERITY1", "HW_SEVERITY2", "HW_SEVERITY3",
};

/* Parse a severity: _TRACE_HW_SEVERITY3, HW_SEVERITY3, HW3 or 7. */
static int take_severity(const char *text, uint32_t *severity)
{
	const char *name = strncmp(text, "_TRACE_", 7) ? text : text + 7;

	for (uint32_t i = 0; i < KT_ARRAY_SIZE(severities); i++) {
		/* "SW" or "HW", and the digit behind "SEVERITY". */
		const char letters[] = { severities[i][0], severities[i][1],
					 severities[i][11], '\0' };

		if (!strcmp(name, severities[i]) || !strcmp(text, letters)) {
			*severity = i;
			return 0;
		}
	}
	if (take_u32("severity", text, severity))
		return EXIT_USAGE;
	return *severity > KTAPE_HW_SEVERITY3 ? bad_operand("severity", text) : 0;
}

static int report_result(const char *what, int err)
{
	if (!err)
		return EXIT_OK;
	if (err == -EBUSY)
		return fail("%s: dropped, because it exceeds the rate limit for unprivileged users",
			    what);
	return fail("%s: %s", what, strerror(-err));
}

/* ---- one function a kind ---------------------------------------------------- */

static int put_text_mark(const struct mark *m)
{
	/* A byte more than the module takes, so that it sees and notes that the text is cut. */
	char text[KTAPE_MARK_TEXT_MAX + 2];
	size_t n = 0;

	for (int i = 1; i < m->argc && n < sizeof(text) - 1; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      i > 1 ? " " : "", m->argv[i]);
	return report_result("text", ktape_text(m->fd, text));
}

/* An instant, a begin or an end, as the kind says. */
static int put_marker_event(const struct mark *m)
{
	const uint32_t opcode = !strcmp(m->argv[0], "begin") ?
					KTAPE_EV_MARK_BEGIN :
				!strcmp(m->argv[0], "end") ? KTAPE_EV_MARK_END :
							     KTAPE_EV_MARK;
	uint32_t id;

	if (take_u32("id", m->argv[1], &id))
		return EXIT_USAGE;
	return report_result(m->argv[0],
			     ktape_mark_emit(m->fd, opcode,
					     m->o->task ? KTAPE_MARK_TASK : 0, id,
					     0, m->argc > 2 ? m->argv[2] : NULL));
}

static int put_value_mark(const struct mark *m)
{
	int64_t value;
	uint32_t id;

	if (take_u32("id", m->argv[1], &id) || take_s64("value", m->argv[2], &value))
		return EXIT_USAGE;
	return report_result(
		"value", ktape_mark_emit(m->fd, KTAPE_EV_MARK_VALUE,
					 m->o->task ? KTAPE_MARK_TASK : 0, id,
					 value, m->argc > 3 ? m->argv[3] : NULL));
}

static int put_exception_mark(const struct mark *m)
{
	struct ktape_args args = { .nr = (uint32_t)m->argc - 4 };
	uint32_t severity, major, minor;

	if (take_severity(m->argv[1], &severity) ||
	    take_u32("major code", m->argv[2], &major) ||
	    take_u32("minor code", m->argv[3], &minor))
		return EXIT_USAGE;
	if (major >> 24)
		return bad_operand("major code of 24 bits", m->argv[2]);
	if (minor >> 8)
		return bad_operand("minor code of 8 bits", m->argv[3]);
	for (uint32_t i = 0; i < args.nr; i++)
		if (take_u32("argument", m->argv[4 + i], &args.word[i]))
			return EXIT_USAGE;
	return report_result(
		"exception",
		ktape_exception(m->fd, severity, KTAPE_EXC_CODE(major, minor),
				args, m->o->buffer,
				m->o->buffer ? strlen(m->o->buffer) : 0));
}

/* ---- typed arguments of user events ------------------------------------------ */

static const struct {
	const char *name;
	unsigned int format;
	unsigned int size;
	bool is_signed;
} formats[] = {
	{ "s8", KTAPE_FORMAT_S8, 1, true },
	{ "u8", KTAPE_FORMAT_U8, 1, false },
	{ "s16", KTAPE_FORMAT_S16, 2, true },
	{ "u16", KTAPE_FORMAT_U16, 2, false },
	{ "s32", KTAPE_FORMAT_S32, 4, true },
	{ "u32", KTAPE_FORMAT_U32, 4, false },
	{ "x32", KTAPE_FORMAT_X32, 4, false },
	{ "string", KTAPE_FORMAT_STRING, 0, false },
	{ "memory", KTAPE_FORMAT_MEMORY, 0, false },
	{ "object", KTAPE_FORMAT_OBJECT, 8, false },
	{ "function", KTAPE_FORMAT_FUNCTION, 8, false },
	{ "signal", KTAPE_FORMAT_SIGNAL, 4, false },
};

/* Parse a number of @size bytes: 1, 2, 4 or 8; signed types have at most 4. */
static int take_number_operand(const char *text, unsigned int size,
			       bool is_signed, uint64_t *value)
{
	/* Not used for 8 bytes; the mask keeps the shift below 64 there. */
	const int64_t most = (1LL << (8 * (size & 7) - is_signed)) - 1;
	int64_t v;

	if (size == 8)
		return kt_parse_u64(text, value) ? bad_operand("number", text) : 0;
	if (take_s64("number", text, &v))
		return EXIT_USAGE;
	*value = (uint64_t)v;
	if (v > most || v < (is_signed ? -most - 1 : 0))
		return bad_operand("value of its type", text);
	return 0;
}

/* Parse a typed argument such as "u16:7". */
static int take_typed(struct ktape_typed *t, const char *text)
{
	size_t n = strcspn(text, ":"), i;
	const char *operand = text + n + 1;
	uint64_t value;

	for (i = 0; i < KT_ARRAY_SIZE(formats); i++)
		if (strlen(formats[i].name) == n &&
		    !strncmp(formats[i].name, text, n))
			break;
	if (i == KT_ARRAY_SIZE(formats))
		return bad_operand("typed argument", text);
	if (formats[i].format == KTAPE_FORMAT_STRING) {
		ktape_typed_string(t, operand);
	} else if (formats[i].format == KTAPE_FORMAT_MEMORY) {
		ktape_typed_memory(t, operand, strlen(operand));
	} else {
		if (take_number_operand(operand, formats[i].size,
					formats[i].is_signed, &value))
			return EXIT_USAGE;
		ktape_typed_number(t, formats[i].format, 0, value, formats[i].size);
	}
	if (t->full)
		return fail("event: \"%.40s\" does not fit: memory is limited to 255 bytes, all arguments together to %u",
			    text, KTAPE_MARK_BYTES_MAX);
	return 0;
}

static int put_user_event(const struct mark *m)
{
	struct ktape_typed typed = { .length = 0 };
	struct ktape_args args = { .nr = 0 };
	uint32_t id;

	if (take_u32("id", m->argv[1], &id))
		return EXIT_USAGE;
	for (int i = 2; i < m->argc; i++) {
		if (strchr(m->argv[i], ':')) {
			int ret = take_typed(&typed, m->argv[i]);

			if (ret)
				return ret;
			continue;
		}
		if (args.nr == KTAPE_TRACE_ARGS)
			return misuse(&command_mark, "event: more than %d words",
				      KTAPE_TRACE_ARGS);
		if (take_u32("argument", m->argv[i], &args.word[args.nr++]))
			return EXIT_USAGE;
	}
	return report_result(
		"event", ktape_user_event(m->fd, m->o->task ? KTAPE_TRACE_TASK : 0,
					  id, args, &typed));
}

static const struct {
	const char *name;
	uint32_t type;
} types[] = {
	{ "marker", KTAPE_OBJ_MARKER },	   { "value", KTAPE_OBJ_VALUE },
	{ "isr", KTAPE_OBJ_ISR },	   { "exception", KTAPE_OBJ_EXCEPTION },
	{ "event", KTAPE_OBJ_USER_EVENT },
};

static int put_name_mark(const struct mark *m)
{
	uint32_t type = 0, id, param[2] = { 0, 0 };

	for (size_t i = 0; i < KT_ARRAY_SIZE(types); i++)
		if (!strcmp(m->argv[1], types[i].name))
			type = types[i].type;
	if (!type && take_u32("type", m->argv[1], &type))
		return EXIT_USAGE;
	if (take_u32("id", m->argv[2], &id))
		return EXIT_USAGE;
	for (int i = 4; i < m->argc; i++)
		if (take_u32("parameter", m->argv[i], &param[i - 4]))
			return EXIT_USAGE;
	if (strlen(m->argv[3]) >= KTAPE_NAME_SIZE)
		note("name: it was cut to %d bytes: %.*s", KTAPE_NAME_SIZE - 1,
		     KTAPE_NAME_SIZE - 1, m->argv[3]);
	return report_result("name", ktape_name(m->fd, type, id, param[0],
						param[1], m->argv[3]));
}

#define ANY_NUMBER (1 << 20) /* more operands than a command line can have */

/* Kinds of events, with their least and greatest number of operands. */
static const struct {
	const char *name;
	int least;
	int most;
	int (*put)(const struct mark *m);
} kinds[] = {
	{ "text", 1, ANY_NUMBER, put_text_mark },
	{ "instant", 1, 2, put_marker_event },
	{ "begin", 1, 2, put_marker_event },
	{ "end", 1, 2, put_marker_event },
	{ "value", 2, 3, put_value_mark },
	{ "exception", 3, 3 + KTAPE_TRACE_ARGS, put_exception_mark },
	{ "event", 1, ANY_NUMBER, put_user_event },
	{ "name", 3, 5, put_name_mark },
};

/* Open the device.  Return: a descriptor, or -1 after a message. */
static int open_mark(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && !strcmp(path, KTAPE_MARK_PATH))
		explain_device(NULL, -ENOENT);
	else if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

static int cmd_mark(int argc, char **argv)
{
	struct mark_options o = { .device = KTAPE_MARK_PATH };
	struct mark m = { .o = &o };
	size_t kind = 0;
	int first, ret;

	ret = kt_options(&command_mark, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	m.argc = argc - first;
	m.argv = argv + first;
	if (!m.argc)
		return misuse(&command_mark,
			      "missing KIND: one of text, instant, begin, end, value, exception, event, name");
	while (kind < KT_ARRAY_SIZE(kinds) && strcmp(kinds[kind].name, m.argv[0]))
		kind++;
	if (kind == KT_ARRAY_SIZE(kinds))
		return bad_operand("kind of event", m.argv[0]);
	if (m.argc - 1 < kinds[kind].least || m.argc - 1 > kinds[kind].most)
		return misuse(&command_mark,
			      "%s: wrong number of operands (see ktape mark --help)",
			      m.argv[0]);
	m.fd = open_mark(o.device);
	if (m.fd < 0)
		return EXIT_FAILED;
	ret = kinds[kind].put(&m);
	close(m.fd);
	return ret;
}

const struct kt_command command_mark = {
	.name = "mark",
	.operands = "KIND OPERANDS...",
	.help = "record an event of your own, or give a name to one",
	.more = "  text WORDS...\n"
		"  instant|begin|end ID [MESSAGE]\n"
		"  value ID NUMBER [MESSAGE]\n"
		"  exception SEVERITY MAJOR MINOR [WORD...]\n"
		"  event ID [WORD...] [TYPE:VALUE...]\n"
		"  name TYPE ID NAME [PARAM1 [PARAM2]]\n"
		"SEVERITY is _TRACE_HW_SEVERITY3, HW3 or a number.  TYPE:VALUE has one of the\n"
		"types s8 u8 s16 u16 s32 u32 x32 string memory object function signal.  TYPE of\n"
		"a name is marker, value, isr, exception, event or a number.\n",
	.options = options,
	.in_order = 1,
	.run = KT_RUN(cmd_mark),
};
