// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Put the events whose output is more than their fields, in text and in JSON:
 * exceptions, user events, call stacks, spans, results of system calls.  The fields of
 * all other events are put by text.c and json.c from the event table alone.  Their callers have
 * checked that the event has the form of the table, so its arguments and blob are there.
 */
#include "show/line.h"

/* In dat20 of an exception: its severity, and whether it has a buffer. */
#define SEVERITY_BITS 3
#define BUFFER_BIT    (1U << SEVERITY_BITS)

#define ERRNO_MAX 4095 /* largest error number of the kernel (MAX_ERRNO) */

static char *put_shown_words(char *p, const struct kt_line *l, unsigned int from)
{
	const struct ktape_event *e = l->event;

	p = kt_show_key(p, l, "args");
	p = kt_put_char(p, '[');
	for (unsigned int i = from; i < e->nargs; i++) {
		if (i > from)
			p = kt_show_comma(p, l);
		p = kt_show_value(p, l, KTAPE_TYPE_X32, ktape_event_arg(e, i));
	}
	return kt_put_char(p, ']');
}

static char *put_shown_data(char *p, const struct kt_line *l, const void *data,
			    size_t len)
{
	p = kt_show_key(p, l, "data");
	if (l->json)
		p = kt_put_char(p, '"');
	p = kt_put_bytes(p, data, len);
	return l->json ? kt_put_char(p, '"') : p;
}

/* Put MAJOR.MINOR (NAME). */
static char *put_shown_code(char *p, const struct kt_line *l, uint32_t code)
{
	struct kt_name name = kt_major_name(l, code >> 8);

	if (l->json) {
		p = kt_show_key(p, l, "major");
		p = kt_put_u64(p, code >> 8);
		p = kt_show_key(p, l, "minor");
		p = kt_put_u64(p, code & 0xff);
		if (!name.text)
			return p;
		p = kt_show_key(p, l, "major_name");
		return kt_show_name(p, l, &name);
	}
	p = kt_show_key(p, l, "code");
	p = kt_put_hex(p, code >> 8);
	p = kt_put_char(p, '.');
	p = kt_put_u64(p, code & 0xff);
	if (!name.text)
		return p;
	p = kt_put_mem(p, " (", 2);
	p = kt_show_name(p, l, &name);
	return kt_put_char(p, ')');
}

static char *put_shown_exception(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;

	p = kt_show_key(p, l, "severity");
	p = kt_show_value(p, l, KTAPE_TYPE_SEVERITY,
			  e->dat20 & ((1U << SEVERITY_BITS) - 1));
	if (e->nargs)
		p = put_shown_code(p, l, ktape_event_arg(e, 0));
	p = put_shown_words(p, l, 1);
	if (e->dat20 & BUFFER_BIT || e->blob_size)
		p = put_shown_data(p, l, e->blob, e->blob_size);
	return p;
}

/* Put a call stack: the event that caused it, and its frames, whose number begins the blob. */
static char *put_stack(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_event_desc *of = ktape_event_desc(e->dat20 & 0xff);
	const uint8_t *frames = (const uint8_t *)e->blob + 4;
	uint32_t nr = (uint32_t)kt_min(kt_get32(e->blob), (e->blob_size - 4) / 4);

	p = kt_show_key(p, l, "event");
	if (l->json)
		p = kt_put_char(p, '"');
	p = of ? kt_put_str(p, of->name) : kt_put_u64(p, e->dat20 & 0xff);
	if (l->json)
		p = kt_put_char(p, '"');
	p = kt_show_key(p, l, "cut");
	p = kt_show_value(p, l, KTAPE_TYPE_BOOL, !!(e->dat20 & KTAPE_STACK_CUT));
	p = kt_show_key(p, l, "frames");
	p = kt_put_char(p, '[');
	for (uint32_t i = 0; i < nr; i++) {
		if (i)
			p = kt_show_comma(p, l);
		p = kt_show_value(p, l, KTAPE_TYPE_FUNC, kt_get32(frames + i * 4));
	}
	return kt_put_char(p, ']');
}

/* Put the name of a result if it is -errno. */
static char *put_error(char *p, const struct kt_line *l, int64_t ret)
{
	const char *name = NULL;

	if (ret < 0 && ret >= -ERRNO_MAX)
		name = ktape_errno_name((int)-ret);
	if (!name)
		return p;
	p = kt_show_key(p, l, "error");
	return kt_show_name(p, l,
			    &(struct kt_name){
				    .text = name,
				    .len = strlen(name),
				    .plain = true,
			    });
}

/* Return the value of a field, 0 if there is none. */
static int64_t field_value(const struct kt_line *l, const char *name)
{
	uint64_t value = 0;

	ktape_event_field(l->event, name, &value);
	return (int64_t)value;
}

static char *put_sys_exit(char *p, const struct kt_line *l)
{
	return put_error(p, l, (int64_t)kt_get64(l->event->args));
}

static char *put_sys_exit_wide(char *p, const struct kt_line *l)
{
	p = put_error(p, l, (int64_t)kt_get64(l->event->blob));
	return kt_show_call(p, l);
}

/* Put how long a span took: its event comes at its end, and has the start. */
static char *put_shown_span(char *p, const struct kt_line *l)
{
	uint64_t start = (uint64_t)field_value(l, "start");

	if (start > l->event->ts)
		return p;
	p = kt_show_key(p, l, "duration_ns");
	return kt_put_u64(p, ktape_ticks_to_ns(l->info, l->event->ts - start));
}

static char *put_sys_span(char *p, const struct kt_line *l)
{
	return put_shown_span(put_error(p, l, field_value(l, "ret")), l);
}

/* Put the name of a probe if the symbol of its address is not known. */
static char *put_probe(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_object_info *o;

	if (kt_name_of(l, KTAPE_TYPE_FUNC, ktape_event_arg(e, 0)).text)
		return p;
	o = ktape_registry_object(l->registry, KTAPE_OBJ_PROBE, e->opcode, 0, e->ts);
	if (!o)
		return p;
	p = kt_show_key(p, l, "probe");
	return kt_show_name(
		p, l, &(struct kt_name){ o->name, o->name_len, o->plain, 0 });
}

/* clang-format off */

/* own: puts an event instead of its fields; extra: puts more behind them. */
const struct kt_show kt_shows[KTAPE_OPCODES] = {
	[KTAPE_EV_EXCEPTION] = { .own = put_shown_exception },
	[KTAPE_EV_USER_EVENT] = { .own = kt_show_user_event },
	[KTAPE_EV_TRACE_EVENT] = { .own = kt_show_trace_event },
	[KTAPE_EV_KERNEL_STACK] = { .own = put_stack },
	[KTAPE_EV_SYS_EXIT] = { .extra = put_sys_exit },
	[KTAPE_EV_SYS_ENTER_WIDE] = { .extra = kt_show_call },
	[KTAPE_EV_SYS_EXIT_WIDE] = { .extra = put_sys_exit_wide },
	[KTAPE_EV_SYS_SPAN] = { .extra = put_sys_span },
	[KTAPE_EV_IRQ_SPAN] = { .extra = put_shown_span },
	[KTAPE_EV_SOFTIRQ_SPAN] = { .extra = put_shown_span },
	[KTAPE_EV_TIMER_SPAN] = { .extra = put_shown_span },
	[KTAPE_EV_HRTIMER_SPAN] = { .extra = put_shown_span },
	[KTAPE_EV_WORK_SPAN] = { .extra = put_shown_span },
	[KTAPE_OP_PROBE ... KTAPE_TIME_EXTEND - 1] = { .extra = put_probe },
};
