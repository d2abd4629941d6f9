// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Map events to those of LTTng's kernel tracer: one table, from which both the
 * bytes and their metadata are made.  Events that LTTng does not have are
 * ktape_NAME with the fields of the event table.  All fields are byte aligned.
 */
#include "format/tracepoint.h"

#include "internal.h"

#define FIELDS_MAX    9 /* of a row; behind fewer comes one without names */
#define DEADLINE_PRIO 255
#define IDLE_EXIT     255
#define SECTOR_BYTES  512

/* How a field of the event table becomes a field of LTTng's. */
enum how {
	S32,
	U32,
	S64,
	U64,
	X64,
	COMM,	 /* name of the thread with that id, 16 bytes */
	CURRENT, /* name of the event's own thread, 16 bytes */
	NAME,	 /* name of the thread or object, NUL-terminated */
	PROCESS, /* process id of the thread */
	STATE,	 /* task state in the kernel's bits */
	PRIO,	 /* minus KT_TP_RT_PRIO; 255 is the deadline class: -101 */
	IDLE,	 /* idle state; 255 (leaving idle) becomes UINT32_MAX */
	SECTORS, /* bytes to sectors of 512 bytes */
	RWBS,	 /* REQ_OP_* to the bits of LTTng */
};

static const char *const types[] = {
	[S32] = "int32_t",   [U32] = "uint32_t",    [S64] = "int64_t",
	[U64] = "uint64_t",  [X64] = "xint64_t",    [COMM] = "text_t",
	[NAME] = "string",   [PROCESS] = "int32_t", [STATE] = "int64_t",
	[PRIO] = "int32_t",  [IDLE] = "uint32_t",   [SECTORS] = "uint32_t",
	[RWBS] = "uint32_t", [CURRENT] = "text_t",
};

/* A field: @from: its name in the event table; @to: LTTng's name for it; @how: enum how. */
struct map {
	const char *from;
	const char *to;
	uint8_t how;
};

#define THREAD                    \
	{ "tid", "comm", COMM },  \
	{                         \
		"tid", "tid", S32 \
	}
#define THREAD_PRIO                  \
	THREAD,                      \
	{                            \
		"prio", "prio", PRIO \
	}
#define WOKEN                                           \
	{                                               \
		THREAD_PRIO,                            \
		{                                       \
			"target_cpu", "target_cpu", S32 \
		}                                       \
	}
#define REQUEST                                             \
	{ "dev", "dev", U32 }, { "sector", "sector", U64 }, \
	{                                                   \
		"bytes", "nr_sector", SECTORS               \
	}
#define SKB                                               \
	{ "skb", "skbaddr", X64 }, { "len", "len", U32 }, \
	{                                                 \
		"dev", "name", NAME                       \
	}

static const struct row {
	uint8_t opcode;
	const char *name;
	struct map map[FIELDS_MAX];
} rows[] = {
	{ KTAPE_EV_SCHED_SWITCH,
	  "sched_switch",
	  { { "prev_tid", "prev_comm", COMM },
	    { "prev_tid", "prev_tid", S32 },
	    { "prev_prio", "prev_prio", PRIO },
	    { "prev_state", "prev_state", STATE },
	    { "next_tid", "next_comm", COMM },
	    { "next_tid", "next_tid", S32 },
	    { "next_prio", "next_prio", PRIO } } },
	{ KTAPE_EV_SCHED_WAKING, "sched_waking", WOKEN },
	{ KTAPE_EV_SCHED_WAKEUP, "sched_wakeup", WOKEN },
	{ KTAPE_EV_SCHED_WAKEUP_NEW, "sched_wakeup_new", WOKEN },
	{ KTAPE_EV_SCHED_MIGRATE_TASK,
	  "sched_migrate_task",
	  { THREAD_PRIO,
	    { "orig_cpu", "orig_cpu", S32 },
	    { "dest_cpu", "dest_cpu", S32 } } },
	{ KTAPE_EV_SCHED_PI_SETPRIO,
	  "sched_pi_setprio",
	  { THREAD, { "old_prio", "oldprio", PRIO }, { "new_prio", "newprio", PRIO } } },
	/* As in LTTng, the name of the thread that waits, and the id of the one it waits for. */
	{ KTAPE_EV_SCHED_PROCESS_WAIT,
	  "sched_process_wait",
	  { { "tid", "comm", CURRENT }, { "tid", "tid", S32 } } },
	{ KTAPE_EV_SCHED_STAT_RUNTIME,
	  "sched_stat_runtime",
	  { THREAD, { "runtime", "runtime", U64 } } },
	{ KTAPE_EV_PROCESS_FORK,
	  "sched_process_fork",
	  { { "parent_tid", "parent_comm", COMM },
	    { "parent_tid", "parent_tid", S32 },
	    { "parent_tid", "parent_pid", PROCESS },
	    { "child_tid", "child_comm", COMM },
	    { "child_tid", "child_tid", S32 },
	    { "child_tgid", "child_pid", S32 } } },
	/* The path of the file is not recorded: the thread's name, its last part, stands for it. */
	{ KTAPE_EV_PROCESS_EXEC,
	  "sched_process_exec",
	  { { "tid", "filename", NAME },
	    { "tid", "tid", S32 },
	    { "old_tid", "old_tid", S32 } } },
	{ KTAPE_EV_PROCESS_EXIT, "sched_process_exit", { THREAD_PRIO } },
	{ KTAPE_EV_PROCESS_FREE, "sched_process_free", { THREAD } },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY,
	  "irq_handler_entry",
	  { { "irq", "irq", S32 }, { "irq", "name", NAME } } },
	{ KTAPE_EV_IRQ_HANDLER_EXIT,
	  "irq_handler_exit",
	  { { "irq", "irq", S32 }, { "ret", "ret", S32 } } },
	{ KTAPE_EV_SOFTIRQ_RAISE, "irq_softirq_raise", { { "vec", "vec", U32 } } },
	{ KTAPE_EV_SOFTIRQ_ENTRY, "irq_softirq_entry", { { "vec", "vec", U32 } } },
	{ KTAPE_EV_SOFTIRQ_EXIT, "irq_softirq_exit", { { "vec", "vec", U32 } } },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY,
	  "x86_irq_vectors_local_timer_entry",
	  { { "vector", "vector", S32 } } },
	{ KTAPE_EV_LOCAL_TIMER_EXIT,
	  "x86_irq_vectors_local_timer_exit",
	  { { "vector", "vector", S32 } } },
	{ KTAPE_EV_SIGNAL_GENERATE,
	  "signal_generate",
	  { { "sig", "sig", S32 },
	    { "errno", "errno", S32 },
	    { "code", "code", S32 },
	    { "tid", "comm", COMM },
	    { "tid", "pid", S32 },
	    { "group", "group", S32 },
	    { "result", "result", S32 } } },
	{ KTAPE_EV_SIGNAL_DELIVER,
	  "signal_deliver",
	  { { "sig", "sig", S32 },
	    { "code", "code", S32 },
	    { "handler", "sa_handler", X64 },
	    { "flags", "sa_flags", X64 } } },
	{ KTAPE_EV_TIMER_INIT, "timer_init", { { "timer", "timer", X64 } } },
	{ KTAPE_EV_TIMER_START,
	  "timer_start",
	  { { "timer", "timer", X64 },
	    { "function", "function", X64 },
	    { "expires_in", "timeout", S32 } } },
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY,
	  "timer_expire_entry",
	  { { "timer", "timer", X64 },
	    { "function", "function", X64 },
	    { "late", "late", S32 } } },
	{ KTAPE_EV_TIMER_EXPIRE_EXIT,
	  "timer_expire_exit",
	  { { "timer", "timer", X64 } } },
	{ KTAPE_EV_TIMER_CANCEL, "timer_cancel", { { "timer", "timer", X64 } } },
	{ KTAPE_EV_HRTIMER_INIT,
	  "timer_hrtimer_init",
	  { { "timer", "hrtimer", X64 },
	    { "clock", "clockid", S32 },
	    { "mode", "mode", U32 } } },
	{ KTAPE_EV_HRTIMER_START,
	  "timer_hrtimer_start",
	  { { "timer", "hrtimer", X64 },
	    { "expires", "softexpires", U64 },
	    { "mode", "mode", U32 } } },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
	  "timer_hrtimer_expire_entry",
	  { { "timer", "hrtimer", X64 },
	    { "function", "function", X64 },
	    { "late_ns", "late", S32 } } },
	{ KTAPE_EV_HRTIMER_EXPIRE_EXIT,
	  "timer_hrtimer_expire_exit",
	  { { "timer", "hrtimer", X64 } } },
	{ KTAPE_EV_HRTIMER_CANCEL,
	  "timer_hrtimer_cancel",
	  { { "timer", "hrtimer", X64 } } },
	{ KTAPE_EV_WORKQUEUE_QUEUE_WORK,
	  "workqueue_queue_work",
	  { { "work", "work", X64 },
	    { "function", "function", X64 },
	    { "req_cpu", "req_cpu", U32 } } },
	{ KTAPE_EV_WORKQUEUE_ACTIVATE_WORK,
	  "workqueue_activate_work",
	  { { "work", "work", X64 } } },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START,
	  "workqueue_execute_start",
	  { { "work", "work", X64 }, { "function", "function", X64 } } },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_END,
	  "workqueue_execute_end",
	  { { "work", "work", X64 }, { "function", "function", X64 } } },
	{ KTAPE_EV_BLOCK_RQ_INSERT,
	  "block_rq_insert",
	  { REQUEST, { "bytes", "bytes", U32 }, { "op", "rwbs", RWBS } } },
	{ KTAPE_EV_BLOCK_RQ_ISSUE,
	  "block_rq_issue",
	  { REQUEST, { "bytes", "bytes", U32 }, { "op", "rwbs", RWBS } } },
	{ KTAPE_EV_BLOCK_RQ_COMPLETE,
	  "block_rq_complete",
	  { REQUEST, { "status", "error", S32 }, { "op", "rwbs", RWBS } } },
	{ KTAPE_EV_NET_DEV_QUEUE, "net_dev_queue", { SKB } },
	{ KTAPE_EV_NET_DEV_XMIT, "net_dev_xmit", { SKB, { "rc", "rc", S32 } } },
	{ KTAPE_EV_NETIF_RECEIVE_SKB, "net_if_receive_skb", { SKB } },
	{ KTAPE_EV_NETIF_RX, "net_if_rx", { SKB } },
	{ KTAPE_EV_CPU_IDLE,
	  "power_cpu_idle",
	  { { "state", "state", IDLE }, { "cpu", "cpu_id", U32 } } },
	{ KTAPE_EV_CPU_FREQUENCY,
	  "power_cpu_frequency",
	  { { "khz", "state", U32 }, { "cpu", "cpu_id", U32 } } },
};

static const struct row *find_lttng_row(unsigned int opcode)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(rows); i++) {
		if (rows[i].opcode == opcode)
			return &rows[i];
	}
	return NULL;
}

/* As kt_holds_field, of a row. */
static bool lttng_row_has_field(const void *row, const char *name)
{
	const struct map *m = ((const struct row *)row)->map;

	for (unsigned int i = 0; i < FIELDS_MAX && m[i].from; i++) {
		if (!strcmp(m[i].from, name))
			return true;
	}
	return false;
}

static bool check_row(struct lttng *t, const struct row *row)
{
	struct kt_place place;

	for (unsigned int i = 0; i < FIELDS_MAX && row->map[i].from; i++) {
		if (!kt_place_find(ktape_event_desc(row->opcode),
				   row->map[i].from, &place)) {
			kt_sink_fail(t->s, "%s has no field %s", row->name,
				     row->map[i].from);
			return false;
		}
	}
	return kt_left_out_find(&t->left_out[row->opcode], row->opcode,
				lttng_row_has_field, row);
}

/*
 * Check that every field the table names exists; if not, fail the sink.  Find the fields
 * that the table does not name, @t->left_out.
 * Return: false if a field does not exist, or if a row leaves out more than KT_LEFT_OUT_MAX.
 */
bool lt_check(struct lttng *t)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(rows); i++) {
		if (!check_row(t, &rows[i]))
			return false;
	}
	return true;
}

/* ---- bytes ---------------------------------------------------------------------- */

static char *put_lttng_string(char *p, const char *text, size_t len)
{
	p = kt_put_mem(p, text, strnlen(text, len));
	return kt_put_char(p, '\0');
}

/* Write the name of a thread at a time: LT_COMM bytes, NUL-padded. */
static char *put_lttng_comm(char *p, const struct lttng *t, uint64_t tid, uint64_t ts)
{
	const struct ktape_object_info *o = NULL;

	memset(p, 0, LT_COMM);
	if (tid && tid <= INT32_MAX)
		o = ktape_registry_thread(t->s->registry, (int32_t)tid, ts);
	if (o)
		memcpy(p, o->name, kt_min(o->name_len, LT_COMM - 1));
	else if (!tid)
		memcpy(p, "swapper", 7);
	return p + LT_COMM;
}

static char *put_lttng_name(char *p, const struct kt_line *l, unsigned int type,
			    uint64_t v)
{
	struct kt_name name = kt_name_of(l, type, v);

	if (!name.text)
		return kt_put_char(p, '\0');
	return put_lttng_string(p, name.text, name.len);
}

/* Return the process of the thread at the time of the event; @tid if it is not known. */
static uint64_t lttng_process_of(const struct kt_line *l, uint64_t tid)
{
	const struct ktape_object_info *o = NULL;

	if (tid && tid <= INT32_MAX)
		o = ktape_registry_thread(l->registry, (int32_t)tid, l->event->ts);
	return o && o->param1 ? o->param1 : tid;
}

/*
 * Return the bits of LTTng for an operation REQ_OP_*: 1 write, 2 discard, 4 read, 0x80 secure,
 * 0x100 flush.
 */
static uint32_t rwbs_of(uint64_t op)
{
	/* REQ_OP_READ, WRITE, FLUSH, DISCARD, 4: none of these, SECURE_ERASE */
	static const uint16_t bits[] = { 4, 1, 0x100, 2, 0, 0x82 };

	return op < KT_ARRAY_SIZE(bits) ? bits[op] : 0;
}

static char *put_lttng_value(char *p, const struct lttng *t,
			     const struct kt_line *l, const struct map *m)
{
	struct kt_place place = { 0 };
	uint64_t v;

	kt_place_find(ktape_event_desc(l->event->opcode), m->from, &place);
	v = kt_place_value(&place, l->event);
	switch (m->how) {
	case COMM:
		return put_lttng_comm(p, t, v, l->event->ts);
	case CURRENT:
		return put_lttng_comm(p, t, (uint64_t)l->event->tid, l->event->ts);
	case NAME:
		return put_lttng_name(p, l, place.type, v);
	case PROCESS:
		return lt_put32(p, lttng_process_of(l, v));
	case STATE:
		return lt_put64(p, kt_kernel_state((unsigned int)v));
	case PRIO:
		v = v == DEADLINE_PRIO ? (uint64_t)-1 : v;
		return lt_put32(p, v - KT_TP_RT_PRIO);
	case IDLE:
		return lt_put32(p, v == IDLE_EXIT ? UINT32_MAX : v);
	case RWBS:
		return lt_put32(p, rwbs_of(v));
	case SECTORS:
		return lt_put32(p, v / SECTOR_BYTES);
	case S32:
	case U32:
		return lt_put32(p, v);
	default:
		return lt_put64(p, v);
	}
}

/*
 * Write a field of the event table: a 64-bit number, a text, or a sequence.  The place
 * KTAPE_PLACE_BLOB does not come here: it is no field, kt_fields_next() only goes past it.
 */
static char *put_lttng_field(char *p, const struct kt_slot *f,
			     const struct kt_fields *at)
{
	uint32_t count = at->count;

	if (f->place == KTAPE_PLACE_BITS || f->place == KTAPE_PLACE_ARG)
		return lt_put64(p, at->value);
	if (f->place == KTAPE_PLACE_TEXT)
		return put_lttng_string(p, (const char *)at->data, count);
	if (f->place == KTAPE_PLACE_BYTES) {
		p = lt_put32(p, count);
		return count ? kt_put_mem(p, (const char *)at->data, count) : p;
	}
	/* kt_fields_next() gives a single argument as @value, without a count. */
	if (f->place == KTAPE_PLACE_REST && !count && at->event->nargs == 1)
		return lt_put64(lt_put32(p, 1), at->value);
	p = lt_put32(p, count);
	for (uint32_t i = 0; i < count; i++)
		p = lt_put64(p, kt_fields_value(at, f, i));
	return p;
}

static char *put_table_fields(char *p, const struct ktape_event *e)
{
	const struct kt_slot *f;
	struct kt_fields at;

	kt_fields_begin(&at, &kt_plans[e->opcode], e);
	while ((f = kt_fields_next(&at)))
		p = put_lttng_field(p, f, &at);
	return p;
}

/*
 * Write the values of an event without its extra fields.  @id: its event id, an opcode or that of a
 * system call; @without: fields of the row that are left out, a bit for each.
 */
char *lt_put_own(char *p, const struct lttng *t, const struct kt_line *l,
		 uint32_t id, uint32_t without)
{
	const struct row *row = find_lttng_row(l->event->opcode);

	if (id >= LT_CALLS)
		return lt_put_call(p, &t->call_list[id - LT_CALLS], l->event);
	if (!row)
		return put_table_fields(p, l->event);
	for (unsigned int i = 0; i < FIELDS_MAX && row->map[i].from; i++) {
		if (!(without >> i & 1))
			p = put_lttng_value(p, t, l, &row->map[i]);
	}
	return p;
}

/*
 * Write the values of lttng_statedump_process_state for the registry record @e.
 * The registry has ids, name and kernel or user (bit 16 of argument 2); parent, submode and
 * status are constants.
 */
char *lt_put_thread(char *p, const struct ktape_event *e)
{
	uint32_t kernel = ktape_event_arg(e, 2) >> 16 & 1;
	size_t len = kt_min(e->blob_size, LT_COMM - 1);

	p = lt_put32(p, ktape_event_arg(e, 0));
	p = lt_put32(p, ktape_event_arg(e, 1));
	p = lt_put32(p, 0); /* parent: unknown */
	memset(p, 0, LT_COMM);
	memcpy(p, e->blob, len);
	p = lt_put32(p + LT_COMM, kernel); /* type: kernel thread */
	p = lt_put32(p, kernel ? 0 : 1);   /* mode: user */
	p = lt_put32(p, 1);		   /* submode: unknown */
	p = lt_put32(p, 5);		   /* status: waiting */
	return lt_put32(p, e->cpu);
}

static bool is_comm(uint8_t how)
{
	return how == COMM || how == CURRENT;
}

/* ---- metadata ------------------------------------------------------------------------- */

static void describe_table_field(FILE *f, const struct ktape_field *field)
{
	switch (field->place) {
	case KTAPE_PLACE_BITS:
	case KTAPE_PLACE_ARG:
		fprintf(f, "\t\t%s _%s;\n",
			field->type == KTAPE_TYPE_S32 ||
					field->type == KTAPE_TYPE_S64 ||
					field->type == KTAPE_TYPE_TID ?
				"int64_t" :
				"uint64_t",
			field->name);
		break;
	case KTAPE_PLACE_TEXT:
		fprintf(f, "\t\tstring _%s;\n", field->name);
		break;
	case KTAPE_PLACE_BLOB:
		break;
	default:
		fprintf(f, "\t\tuint32_t __%s_length;\n\t\t%s _%s[__%s_length];\n",
			field->name,
			field->place == KTAPE_PLACE_BYTES ? "uint8_t" : "uint64_t",
			field->name, field->name);
		break;
	}
}

/**
 * lt_class_name() - name an event class other than that of a user event
 * @name: filled
 * @t: trace being written
 * @id: its event id
 */
void lt_class_name(char name[LT_NAME_ROOM], const struct lttng *t, uint32_t id)
{
	const struct ktape_event_desc *d = ktape_event_desc(id);
	const struct row *row = find_lttng_row(id);

	if (id >= LT_CALLS)
		snprintf(name, LT_NAME_ROOM, "%s", t->call_list[id - LT_CALLS].name);
	else if (row)
		snprintf(name, LT_NAME_ROOM, "%s", row->name);
	else
		snprintf(name, LT_NAME_ROOM, "ktape_%s", id ? d->name : "other");
}

/**
 * lt_each_name() - pass on the names of an event class's fields
 * @t: trace being written
 * @id: its event id, below LT_USERS and not 0
 * @take: called with each name, and the number of the row's field; -1 = it is in no row, and so
 *	cannot be left out
 * @arg: first argument of @take
 *
 * Return: 0, or what @take returned other than that.
 */
int lt_each_name(const struct lttng *t, uint32_t id, lt_take_name *take, void *arg)
{
	const struct ktape_event_desc *d = ktape_event_desc(id);
	const struct row *row = find_lttng_row(id);
	int err = 0;

	if (id >= LT_CALLS)
		return lt_each_call_name(&t->call_list[id - LT_CALLS], take, arg);
	for (int i = 0; row && i < FIELDS_MAX && row->map[i].from && !err; i++)
		err = take(arg, row->map[i].to, i, false);
	for (unsigned int i = 0; !row && i < d->nr_fields && !err; i++) {
		uint8_t place = d->fields[i].place;

		if (place != KTAPE_PLACE_BLOB)
			err = take(arg, d->fields[i].name, -1,
				   place != KTAPE_PLACE_BITS &&
					   place != KTAPE_PLACE_ARG &&
					   place != KTAPE_PLACE_TEXT);
	}
	return err;
}

/**
 * lt_describe() - write the metadata of an opcode's fields
 * @f: metadata text
 * @opcode: opcode; 0: events that do not fit the event table
 * @without: fields of LTTng that are left out, a bit for each
 */
void lt_describe(FILE *f, unsigned int opcode, uint32_t without)
{
	const struct ktape_event_desc *d = ktape_event_desc(opcode);
	const struct row *row = find_lttng_row(opcode);

	if (!opcode)
		fputs("\t\tuint32_t _opcode;\n\t\tuint32_t _dat20;\n\t\tuint32_t __args_length;\n\t\tuint32_t _args[__args_length];\n\t\tuint32_t __data_length;\n\t\tuint8_t _data[__data_length];\n",
		      f);
	for (unsigned int i = 0; row && i < FIELDS_MAX && row->map[i].from; i++) {
		if (!(without >> i & 1))
			fprintf(f, "\t\t%s _%s%s;\n", types[row->map[i].how],
				row->map[i].to,
				is_comm(row->map[i].how) ? "[16]" : "");
	}
	for (unsigned int i = 0; opcode && !row && i < d->nr_fields; i++)
		describe_table_field(f, &d->fields[i]);
}
