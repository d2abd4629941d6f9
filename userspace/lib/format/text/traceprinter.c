// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as the text of QNX Neutrino's traceprinter.
 *
 *	 -- HEADER FILE INFORMATION --
 *	TRACE_CYCLES_PER_SEC:: 1000000000		and others
 *	 -- KERNEL EVENTS --
 *	t:0x0001e240 CPU:00 THREAD          :THRUNNING          pid:12 tid:12
 *
 * t: is the lower half of the trace clock; a CONTROL TIME line has the upper half
 * whenever it changes.  A sched_switch becomes two THREAD lines, other events that
 * QNX has become its classes (rows[]), all others USREVENT with the opcode and the
 * fields of ktape dump.  A loss, or an overwritten beginning, is CONTROL DROPPED.
 *
 * Not written: states that QNX does not have (the nearest one is used), and registry records
 * of other objects than threads, whose names are in the lines.
 */
#include "layout.h"
#include "text.h"

#define CLASS_WIDTH 16
#define EVENT_WIDTH 18
#define KEY_WIDTH   20

/**
 * struct printer - text being written
 * @layout: layout of events
 * @high: upper half of the time in the last CONTROL TIME line
 * @timed: there was such a line
 * @sequence: number of the last CONTROL DROPPED line
 */
struct printer {
	struct kt_line_layout layout;
	uint32_t high;
	bool timed;
	uint64_t sequence;
};

#define THREAD(name, tid) "THREAD", name, "pid:{" tid ":g} tid:{" tid "}"

/*
 * An event's opcode, its class in QNX, its name there or NULL, and the text after that.  struct
 * kt_layout_row explains {field:LETTER}: g is a thread's process, c its name, X hexadecimal, n an
 * object's name, r handled or unhandled, V a value's name in capitals.
 */
static const struct kt_layout_row rows[] = {
	/* put_traceprinter_switch() writes it; the text only says which fields it has. */
	{ KTAPE_EV_SCHED_SWITCH, "THREAD", "THREADY",
	  "{prev_tid}{next_tid}{prev_state}" },
	{ KTAPE_EV_SCHED_WAKEUP, THREAD("THREADY", "tid") },
	{ KTAPE_EV_SCHED_WAKEUP_NEW, THREAD("THREADY", "tid") },
	{ KTAPE_EV_CONTEXT, THREAD("THRUNNING", "tid") },
	{ KTAPE_EV_PROCESS_FORK, "THREAD", "THCREATE",
	  "pid:{child_tgid} tid:{child_tid}" },
	{ KTAPE_EV_PROCESS_EXEC, "PROCESS", "PROCCREATE_NAME",
	  "ppid:0 pid:{tid:g} name:{tid:c}" },
	{ KTAPE_EV_PROCESS_RENAME, "PROCESS", "PROCTHREAD_NAME",
	  "pid:{tgid} tid:{tid} name:{tid:c}" },
	{ KTAPE_EV_PROCESS_EXIT, "THREAD", "THDESTROY", "pid:{tgid} tid:{tid}" },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, "INT_HANDLER_ENTR", NULL,
	  "0x{irq:X} ({irq}) {irq:n}" },
	{ KTAPE_EV_IRQ_HANDLER_EXIT, "INT_HANDLER_EXIT", NULL,
	  "0x{irq:X} ({irq}) {ret:r}" },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, "INT_ENTR", NULL,
	  "0x{vector:X} ({vector}) timer" },
	{ KTAPE_EV_LOCAL_TIMER_EXIT, "INT_EXIT", NULL,
	  "0x{vector:X} ({vector}) timer" },
	{ KTAPE_EV_SYS_ENTER, "KER_CALL", NULL, "{nr:V}/{nr}" },
	{ KTAPE_EV_SYS_ENTER_WIDE, "KER_CALL", NULL, "{nr:V}/{nr}" },
	{ KTAPE_EV_SYS_EXIT, "KER_EXIT", NULL, "{nr:V}/{nr} ret_val:{ret}" },
	{ KTAPE_EV_SYS_EXIT_WIDE, "KER_EXIT", NULL, "{nr:V}/{nr} ret_val:{ret}" },
	{ KTAPE_EV_SIGNAL_GENERATE, "COMM", "SIGNAL",
	  "si_signo:{sig} si_code:{code} pid:{tid:g} tid:{tid}" },
};

static char *put_traceprinter_key(char *p, const char *key)
{
	p = kt_layout_pad(p, p, KEY_WIDTH - strlen(key));
	return kt_put_str(kt_put_str(p, key), ":: ");
}

static char *put_traceprinter_text(char *p, const char *key, const char *value)
{
	p = kt_put_escaped(put_traceprinter_key(p, key), value, strlen(value));
	return kt_put_char(p, '\n');
}

static int printer_begin(struct kt_sink *s)
{
	struct printer *t = s->state;
	int err = kt_layout_init(&t->layout, s, rows, KT_ARRAY_SIZE(rows));
	char *p = err ? NULL : kt_sink_room(s, 4096);

	if (!p)
		return err ? err : s->error;
	p = kt_put_str(p, " -- HEADER FILE INFORMATION --\n");
	p = put_traceprinter_text(p, "TRACE_LITTLE_ENDIAN", "TRUE");
	p = put_traceprinter_key(p, "TRACE_CYCLES_PER_SEC");
	p = kt_put_char(kt_put_u64(p, s->info->freq), '\n');
	p = put_traceprinter_text(p, "TRACE_SYSNAME", "Linux");
	p = put_traceprinter_text(p, "TRACE_NODENAME", s->info->hostname);
	p = put_traceprinter_text(p, "TRACE_SYS_RELEASE", s->info->release);
	p = put_traceprinter_text(p, "TRACE_MACHINE", s->info->machine);
	p = kt_put_str(p, " -- KERNEL EVENTS --\n");
	return kt_sink_done(s, p);
}

/* Write a line up to its fields; @name NULL: without an event name. */
static char *put_traceprinter_head(char *p, const struct ktape_event *e,
				   const char *group, const char *name)
{
	char *start;

	p = kt_layout_hex(kt_put_str(p, "t:0x"), e->ts, 8);
	p = kt_put_fixed(kt_put_str(p, " CPU:"), e->cpu, e->cpu > 99 ? 4 : 2);
	p = kt_put_char(p, ' ');
	start = p;
	p = kt_layout_pad(kt_put_str(p, group), start, CLASS_WIDTH);
	p = kt_put_char(p, ':');
	start = p;
	if (name)
		p = kt_layout_pad(kt_put_str(p, name), start, EVENT_WIDTH);
	return name ? kt_put_char(p, ' ') : p;
}

/* Write a CONTROL TIME line if the upper half of the time has changed. */
static char *put_traceprinter_time(char *p, struct printer *t,
				   const struct ktape_event *e)
{
	uint32_t high = (uint32_t)(e->ts >> 32);

	if (t->timed && high == t->high)
		return p;
	t->timed = true;
	t->high = high;
	p = put_traceprinter_head(p, e, "CONTROL", "TIME");
	p = kt_layout_hex(kt_put_str(p, "msb:0x"), high, 8);
	p = kt_layout_hex(kt_put_str(p, ", lsb(offset):0x"), e->ts, 8);
	return kt_put_char(p, '\n');
}

static char *put_traceprinter_thread(char *p, const struct kt_line *l,
				     const char *state, int32_t tid)
{
	p = put_traceprinter_head(p, l->event, "THREAD", state);
	p = kt_put_u64(kt_put_str(p, "pid:"), kt_layout_process(l, tid));
	p = kt_put_u64(kt_put_str(p, " tid:"), tid < 0 ? 0 : (uint32_t)tid);
	return kt_put_char(p, '\n');
}

/* Write the outgoing thread with its new state, then the incoming one. */
static char *put_traceprinter_switch(char *p, const struct kt_line *l)
{
	static const char *const states[16] = {
		[KTAPE_STATE_R] = "THREADY",
		[KTAPE_STATE_S] = "THCONDVAR",
		[KTAPE_STATE_D] = "THWAITPAGE",
		[KTAPE_STATE_T] = "THSTOPPED",
		[KTAPE_STATE_TRACED] = "THSTOPPED",
		[KTAPE_STATE_X] = "THDEAD",
		[KTAPE_STATE_Z] = "THDEAD",
		[KTAPE_STATE_P] = "THSTOPPED",
		[KTAPE_STATE_I] = "THINTR",
		[KTAPE_STATE_PREEMPTED] = "THREADY",
	};
	uint64_t prev = ktape_event_arg(l->event, 0);
	const char *state = states[l->event->dat20 >> 16 & 15]; /* prev_state */

	p = put_traceprinter_thread(p, l, state ? state : "THREADY", (int32_t)prev);
	return put_traceprinter_thread(p, l, "THRUNNING",
				       (int32_t)ktape_event_arg(l->event, 1));
}

/* Write the PROCESS line that precedes the first thread of a new process. */
static char *put_traceprinter_process(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	uint32_t tid = ktape_event_arg(e, 1), tgid = ktape_event_arg(e, 2);

	if (e->opcode == KTAPE_EV_PROCESS_FORK && tid == tgid) {
		p = put_traceprinter_head(p, e, "PROCESS", "PROCCREATE");
		p = kt_put_str(p, "ppid:");
		p = kt_put_u64(
			p, kt_layout_process(l, (int32_t)ktape_event_arg(e, 0)));
		p = kt_put_u64(kt_put_str(p, " pid:"), tgid);
		p = kt_put_char(p, '\n');
	}
	return p;
}

static char *put_process_end(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;

	if (e->opcode != KTAPE_EV_PROCESS_EXIT ||
	    ktape_event_arg(e, 0) != ktape_event_arg(e, 1))
		return p;
	p = put_traceprinter_head(p, e, "PROCESS", "PROCDESTROY");
	p = kt_put_u64(kt_put_str(p, "pid:"), ktape_event_arg(e, 0));
	return kt_put_char(p, '\n');
}

/* Write an event that QNX does not have as a user event with its opcode. */
static char *put_traceprinter_other(char *p, const struct printer *t,
				    const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const char *name = kt_line_event(l);

	p = put_traceprinter_head(p, e, "USREVENT", NULL);
	p = kt_put_u64(kt_put_str(p, "EVENT:"), e->opcode);
	p = kt_put_str(p, ", STR:\"");
	p = kt_put_str(p, name);
	if (*name)
		p = kt_put_char(p, ' ');
	p = kt_layout_put(p, &t->layout, l);
	return kt_put_str(p, "\"\n");
}

static char *put_traceprinter_event(char *p, const struct printer *t,
				    const struct kt_line *l)
{
	const struct kt_layout_row *row = kt_layout_row(&t->layout, l->event);

	if (l->event->opcode == KTAPE_EV_SCHED_SWITCH && kt_event_fits(l->event))
		return put_traceprinter_switch(p, l);
	if (!row)
		return put_traceprinter_other(p, t, l);
	p = put_traceprinter_process(p, l);
	p = put_traceprinter_head(p, l->event, row->group, row->name);
	p = kt_layout_put(p, &t->layout, l);
	p = kt_put_char(p, '\n');
	return put_process_end(p, l);
}

/* Check whether a line has all fields of its event: those with a row have only the row's. */
static bool has_all_fields(const struct printer *t, const struct ktape_event *e)
{
	return !kt_layout_row(&t->layout, e);
}

/*
 * Write the name that a registry record gives a thread or, if the thread leads it, a process.
 * Not written: other objects, and records that end a name (bit 8 of dat20).
 */
static char *put_traceprinter_named(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	uint32_t tid = ktape_event_arg(e, 0), tgid = ktape_event_arg(e, 1);

	if ((e->dat20 & 0xff) != KTAPE_OBJ_THREAD || e->dat20 >> 8 & 1 ||
	    !kt_event_fits(e))
		return p;
	p = put_traceprinter_head(p, e, "PROCESS",
				  tid == tgid ? "PROCCREATE_NAME" :
						"PROCTHREAD_NAME");
	p = kt_put_str(p, tid == tgid ? "ppid:0 pid:" : "pid:");
	/* As kt_layout_process(), if the process is not known. */
	p = kt_put_u64(p, tgid ? tgid : tid);
	if (tid != tgid)
		p = kt_put_u64(kt_put_str(p, " tid:"), tid);
	p = kt_put_escaped(kt_put_str(p, " name:"), e->blob, e->blob_size);
	return kt_put_char(p, '\n');
}

static int printer_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(s->info, s->registry, e, false);
	struct printer *t = s->state;
	char *p;

	if (e->opcode == KTAPE_TIME_EXTEND)
		return 0;
	if (e->extra && !has_all_fields(t, e))
		kt_sink_miss_extra(s, e);
	if (e->opcode != KTAPE_EV_REGISTRY)
		kt_layout_count(&t->layout, s, e);
	p = kt_sink_room(s, ktape_format_bound(e));
	if (!p)
		return s->error;
	p = put_traceprinter_time(p, t, e);
	p = e->opcode == KTAPE_EV_REGISTRY ? put_traceprinter_named(p, &l) :
					     put_traceprinter_event(p, t, &l);
	return kt_sink_done(s, p);
}

static int printer_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	const struct ktape_event at = { .ts = n->to, .cpu = n->cpu };
	struct printer *t = s->state;
	char *p = kt_sink_room(s, 256);

	if (!p)
		return s->error;
	p = put_traceprinter_head(p, &at, "CONTROL", "DROPPED");
	p = kt_put_u64(kt_put_str(p, "sequence = "), ++t->sequence);
	p = kt_put_str(p, ", num_events = ");
	p = n->count ? kt_put_u64(p, n->count) : kt_put_str(p, "unknown");
	return kt_sink_done(s, kt_put_char(p, '\n'));
}

static int printer_end(struct kt_sink *s)
{
	(void)s;
	return 0;
}

static void printer_close(struct kt_sink *s)
{
	struct printer *t = s->state;

	kt_layout_free(&t->layout);
}

const struct kt_codec_out kt_traceprinter_out = {
	.size = sizeof(struct printer),
	.extra = true,
	.begin = printer_begin,
	.event = printer_event,
	.notice = printer_notice,
	.end = printer_end,
	.close = printer_close,
};
