// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Map events to ftrace events of Perfetto's schema, by one table.  Each row is
 * resolved once into the places of its values in a record (struct pf_plan), so that
 * writing an event is a walk over these places without a search by name.
 */
#include "internal.h"
#include "format/left_out.h"
#include "stream/event.h"

#define FIELDS_MAX    8 /* of a row; behind fewer comes one without a name */
#define EVENT_MAX     1024U /* upper bound for an event, in bytes */
#define SYSCALL_ARGS  6
#define THREAD_FLAGS  0x10100 /* CLONE_THREAD | CLONE_VM */
#define DEADLINE_PRIO 255
#define IDLE_EXIT     255
#define SYS_ENTER     329 /* field numbers of ftrace events */
#define SYS_EXIT      330

/* How a field of the event table becomes a field of ftrace's event. */
enum how {
	NUMBER,	 /* as it is */
	CONST,	 /* always 1: the field "success" of wake-ups */
	COMM,	 /* name of the thread with that id */
	CURRENT, /* name of the event's own thread */
	STATE,	 /* enum ktape_task_state to the kernel's bits */
	PRIO,	 /* 255 is the deadline class: -1 */
	SYMBOL,	 /* function token to interned symbol */
	VALUE,	 /* name that the field's type has for the value */
	IRQ,	 /* name of the interrupt */
	NR,	 /* system call number; -1 where it does not fit */
	ARGS,	 /* six system call arguments from the blob */
	THREAD,	 /* flag "is a thread" to flags of clone(2) */
	IDLE,	 /* idle state; 255 (leaving idle) becomes UINT32_MAX */
};

/* @from: field of the event table; @to: field number of ftrace's event. */
struct map {
	const char *from;
	uint8_t to;
	uint8_t how;
};

/* @field: field number of the ftrace event in perfetto_trace.proto. */
struct row {
	uint8_t opcode;
	uint16_t field;
	struct map map[FIELDS_MAX];
};

static const struct row rows[] = {
	{ KTAPE_EV_SCHED_SWITCH,
	  4,
	  { { "prev_tid", 1, COMM },
	    { "prev_tid", 2, NUMBER },
	    { "prev_prio", 3, PRIO },
	    { "prev_state", 4, STATE },
	    { "next_tid", 5, COMM },
	    { "next_tid", 6, NUMBER },
	    { "next_prio", 7, PRIO } } },
	{ KTAPE_EV_SCHED_WAKING,
	  20,
	  { { "tid", 1, COMM },
	    { "tid", 2, NUMBER },
	    { "prio", 3, PRIO },
	    { "tid", 4, CONST },
	    { "target_cpu", 5, NUMBER } } },
	{ KTAPE_EV_SCHED_WAKEUP,
	  17,
	  { { "tid", 1, COMM },
	    { "tid", 2, NUMBER },
	    { "prio", 3, PRIO },
	    { "tid", 4, CONST },
	    { "target_cpu", 5, NUMBER } } },
	{ KTAPE_EV_SCHED_WAKEUP_NEW,
	  114,
	  { { "tid", 1, COMM },
	    { "tid", 2, NUMBER },
	    { "prio", 3, PRIO },
	    { "tid", 4, CONST },
	    { "target_cpu", 5, NUMBER } } },
	{ KTAPE_EV_SCHED_MIGRATE_TASK,
	  491,
	  { { "tid", 1, COMM },
	    { "tid", 2, NUMBER },
	    { "prio", 3, PRIO },
	    { "orig_cpu", 4, NUMBER },
	    { "dest_cpu", 5, NUMBER } } },
	{ KTAPE_EV_SCHED_BLOCKED,
	  18,
	  { { "tid", 1, NUMBER }, { "caller", 2, SYMBOL }, { "io", 3, NUMBER } } },
	/* As in ftrace, the name of the thread that waits, and the id of the one it waits for. */
	{ KTAPE_EV_SCHED_PROCESS_WAIT,
	  242,
	  { { "tid", 1, CURRENT }, { "tid", 2, NUMBER } } },
	{ KTAPE_EV_PROCESS_FORK,
	  235,
	  { { "child_tid", 1, NUMBER },
	    { "child_tid", 2, COMM },
	    { "thread", 3, THREAD } } },
	{ KTAPE_EV_PROCESS_EXEC,
	  237,
	  { { "tid", 1, COMM }, { "tid", 2, NUMBER }, { "old_tid", 3, NUMBER } } },
	{ KTAPE_EV_PROCESS_EXIT,
	  238,
	  { { "tid", 1, COMM },
	    { "tid", 2, NUMBER },
	    { "tgid", 3, NUMBER },
	    { "prio", 4, PRIO } } },
	{ KTAPE_EV_PROCESS_RENAME, 236, { { "tid", 1, NUMBER }, { "tid", 3, COMM } } },
	{ KTAPE_EV_PROCESS_FREE, 240, { { "tid", 1, COMM }, { "tid", 2, NUMBER } } },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, 36, { { "irq", 1, NUMBER }, { "irq", 2, IRQ } } },
	{ KTAPE_EV_IRQ_HANDLER_EXIT, 37, { { "irq", 1, NUMBER }, { "ret", 2, NUMBER } } },
	{ KTAPE_EV_SOFTIRQ_ENTRY, 24, { { "vec", 1, NUMBER } } },
	{ KTAPE_EV_SOFTIRQ_EXIT, 25, { { "vec", 1, NUMBER } } },
	{ KTAPE_EV_SOFTIRQ_RAISE, 26, { { "vec", 1, NUMBER } } },
	{ KTAPE_EV_IPI_ENTRY, 21, { { "reason", 1, VALUE } } },
	{ KTAPE_EV_IPI_EXIT, 22, { { "reason", 1, VALUE } } },
	{ KTAPE_EV_IPI_RAISE, 23, { { "cpus", 1, NUMBER }, { "reason", 2, VALUE } } },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, 559, { { "vector", 1, NUMBER } } },
	{ KTAPE_EV_LOCAL_TIMER_EXIT, 560, { { "vector", 1, NUMBER } } },
	{ KTAPE_EV_SYS_ENTER, SYS_ENTER, { { "nr", 1, NR } } },
	{ KTAPE_EV_SYS_ENTER_WIDE, SYS_ENTER, { { "nr", 1, NR }, { "nr", 2, ARGS } } },
	{ KTAPE_EV_SYS_EXIT, SYS_EXIT, { { "nr", 1, NR }, { "ret", 2, NUMBER } } },
	{ KTAPE_EV_SYS_EXIT_WIDE, SYS_EXIT, { { "nr", 1, NR }, { "ret", 2, NUMBER } } },
	{ KTAPE_EV_HRTIMER_START,
	  551,
	  { { "timer", 1, NUMBER }, { "expires", 3, NUMBER }, { "mode", 5, NUMBER } } },
	{ KTAPE_EV_HRTIMER_CANCEL, 552, { { "timer", 1, NUMBER } } },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
	  553,
	  { { "timer", 1, NUMBER }, { "function", 3, SYMBOL } } },
	{ KTAPE_EV_HRTIMER_EXPIRE_EXIT, 554, { { "timer", 1, NUMBER } } },
	{ KTAPE_EV_TIMER_START,
	  555,
	  { { "timer", 1, NUMBER }, { "function", 2, SYMBOL } } },
	{ KTAPE_EV_TIMER_CANCEL, 556, { { "timer", 1, NUMBER } } },
	{ KTAPE_EV_CPU_IDLE, 13, { { "state", 1, IDLE }, { "cpu", 2, NUMBER } } },
	{ KTAPE_EV_CPU_FREQUENCY, 11, { { "khz", 1, NUMBER }, { "cpu", 2, NUMBER } } },
	{ KTAPE_EV_WORKQUEUE_ACTIVATE_WORK, 56, { { "work", 1, NUMBER } } },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_END,
	  57,
	  { { "work", 1, NUMBER }, { "function", 2, SYMBOL } } },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START,
	  58,
	  { { "work", 1, NUMBER }, { "function", 2, SYMBOL } } },
	{ KTAPE_EV_WORKQUEUE_QUEUE_WORK,
	  59,
	  { { "work", 1, NUMBER }, { "function", 2, SYMBOL } } },
};

/* A resolved struct map.  @to, @how: as there; @place: where the value is. */
struct step {
	uint8_t to;
	uint8_t how;
	struct kt_place place;
};

/**
 * struct pf_plan - a resolved struct row
 * @field: field number of the ftrace event
 * @nr: entries of @steps
 * @nargs: arguments that an event needs to be mapped; 0: any number
 * @left_out: fields that the ftrace event does not have
 * @steps: values of the event
 */
struct pf_plan {
	uint16_t field;
	uint8_t nr;
	uint8_t nargs;
	struct kt_left_out left_out;
	struct step steps[FIELDS_MAX];
};

/* The kt_holds_field of a struct row: check whether the ftrace event has a field of ours. */
static bool perfetto_row_has_field(const void *row, const char *name)
{
	const struct map *m = ((const struct row *)row)->map;

	for (unsigned int i = 0; i < FIELDS_MAX && m[i].from; i++) {
		if (!strcmp(m[i].how == ARGS ? "args" : m[i].from, name))
			return true;
	}
	return false;
}

static int make_perfetto_plan(struct perfetto *pf, const struct row *row)
{
	const struct ktape_event_desc *d = ktape_event_desc(row->opcode);
	struct pf_plan *to = calloc(1, sizeof(*to));

	if (!to)
		return -ENOMEM;
	pf->plans[row->opcode] = to;
	to->field = row->field;
	to->nargs = d->varargs ? 0 : d->nargs;
	if (!kt_left_out_find(&to->left_out, row->opcode, perfetto_row_has_field, row))
		return kt_sink_fail(pf->s, "too many fields of %s are left out",
				    d->name);
	for (; to->nr < FIELDS_MAX && row->map[to->nr].from; to->nr++) {
		const struct map *m = &row->map[to->nr];
		struct step *step = &to->steps[to->nr];

		step->to = m->to;
		step->how = m->how;
		if (!kt_place_find(d, m->from, &step->place))
			return kt_sink_fail(pf->s, "%s has no field %s",
					    d->name, m->from);
	}
	return 0;
}

/**
 * pf_plans() - resolve the table of ftrace events
 * @pf: trace being written; its @plans are set
 *
 * Return: 0 or negative errno.
 */
int pf_plans(struct perfetto *pf)
{
	int err = 0;

	for (size_t i = 0; i < KT_ARRAY_SIZE(rows) && !err; i++)
		err = make_perfetto_plan(pf, &rows[i]);
	return err;
}

void pf_plans_free(struct perfetto *pf)
{
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++)
		free(pf->plans[i]);
}

static char *put_perfetto_comm(struct perfetto *pf, char *p, uint8_t field,
			       uint64_t tid, uint64_t ts)
{
	const struct pf_thread *t;

	if (!tid)
		return pf_text(p, field, "swapper");
	if (tid > INT32_MAX)
		return p;
	t = pf_thread(pf, (int32_t)tid, ts);
	return t ? pf_name(p, field, t->name, t->len) : p;
}

static char *put_perfetto_irq(struct perfetto *pf, char *p, uint8_t field,
			      uint32_t irq, uint64_t ts)
{
	const struct ktape_object_info *o;

	o = ktape_registry_object(pf->s->registry, KTAPE_OBJ_IRQ, irq, 0, ts);
	return o ? pf_name(p, field, o->name, o->name_len) : p;
}

static char *put_perfetto_args(char *p, uint8_t field, const struct ktape_event *e)
{
	for (unsigned int i = 0; i < SYSCALL_ARGS; i++)
		p = pf_small(p, field, kt_get64((const uint8_t *)e->blob + i * 8));
	return p;
}

static inline char *put_step(struct perfetto *pf, char *p,
			     const struct step *step, const struct ktape_event *e)
{
	uint64_t v = kt_place_value(&step->place, e);
	const char *name;

	switch (step->how) {
	case CONST:
		return pf_small(p, step->to, 1);
	case COMM:
		return put_perfetto_comm(pf, p, step->to, v, e->ts);
	case CURRENT:
		return put_perfetto_comm(pf, p, step->to, (uint64_t)e->tid, e->ts);
	case STATE:
		return pf_small(p, step->to, kt_kernel_state((unsigned int)v));
	case PRIO:
		return pf_small(p, step->to, v == DEADLINE_PRIO ? (uint64_t)-1 : v);
	case SYMBOL:
		return pf_small(p, step->to, pf_symbol(pf, (uint32_t)v, e->ts));
	case VALUE:
		name = ktape_value_name(step->place.type, v);
		return name ? pf_text(p, step->to, name) : p;
	case IRQ:
		return put_perfetto_irq(pf, p, step->to, (uint32_t)v, e->ts);
	case NR:
		if (e->dat20 & KT_CALL_LARGE)
			v = (uint64_t)-1;
		return pf_small(p, step->to, v);
	case ARGS:
		return put_perfetto_args(p, step->to, e);
	case THREAD:
		return pf_small(p, step->to, v ? THREAD_FLAGS : 0);
	case IDLE:
		return pf_small(p, step->to, v == IDLE_EXIT ? UINT32_MAX : v);
	default:
		return pf_small(p, step->to, v);
	}
}

static inline char *put_event_head(struct perfetto *pf, char *p,
				   const struct ktape_event *e)
{
	p = pf_number(p, PF_FTRACE_TIMESTAMP, pf_time(pf, e->ts));
	/* The viewer drops an event without a thread: use 0 for "unknown". */
	return pf_number(p, PF_FTRACE_PID, e->tid < 0 ? 0 : (uint32_t)e->tid);
}

static void put_mapped(struct perfetto *pf, const struct pf_plan *plan,
		       const struct ktape_event *e)
{
	struct pf_cpu *c = pf->cpus[e->cpu];
	char *start = pf_cpu_room(pf, c, e->cpu, EVENT_MAX), *p, *m, *inner;

	m = pf_open(start, PF_BUNDLE_EVENT);
	p = put_event_head(pf, m, e);
	inner = pf_open(p, plan->field);
	p = inner;
	for (unsigned int i = 0; i < plan->nr; i++)
		p = put_step(pf, p, &plan->steps[i], e);
	p = pf_close(m, pf_close(inner, p));
	c->len += (uint32_t)(p - start);
}

/*
 * Write the sched_blocked that keep_blocked() kept.  The viewer wants it after the
 * switch away from the thread and before the one back to it.
 */
static void put_blocked(struct perfetto *pf, const struct ktape_event *e)
{
	struct pf_cpu *c = pf->cpus[e->cpu];
	char *start = pf_cpu_room(pf, c, e->cpu, EVENT_MAX), *p, *m, *inner;

	m = pf_open(start, PF_BUNDLE_EVENT);
	p = put_event_head(pf, m, e);
	inner = pf_open(p, pf->plans[KTAPE_EV_SCHED_BLOCKED]->field);
	/* The fields are those that rows[] has for this event. */
	p = pf_number(inner, 1, (uint32_t)c->blocked_tid);
	p = pf_number(p, 2, c->blocked_caller);
	p = pf_number(p, 3, c->blocked_io);
	c->blocked_tid = 0;
	p = pf_close(m, pf_close(inner, p));
	c->len += (uint32_t)(p - start);
}

/*
 * Keep a sched_blocked of the running thread until its switch, in the place of one that the CPU
 * still kept: the switch of that one is missing.  Return: true if kept.
 */
static bool keep_blocked(struct perfetto *pf, const struct ktape_event *e)
{
	struct pf_cpu *c = pf->cpus[e->cpu];
	int32_t tid = (int32_t)ktape_event_arg(e, 0);

	if (tid <= 0 || tid != e->tid)
		return false;
	c->blocked_tid = tid;
	c->blocked_caller = pf_symbol(pf, ktape_event_arg(e, 1), e->ts);
	c->blocked_io = e->dat20 & 1;
	return true;
}

/**
 * pf_mapped() - write an event as the ftrace event that it corresponds to
 * @pf: trace being written, with a bundle for the event's CPU
 * @e: event that fits the event table
 *
 * A sched_blocked may be written later, at the switch.
 *
 * Return: false if ftrace has no such event, or if it is a system call of a table that the
 * viewer has no names for, which is counted; nothing was written then.
 */
bool pf_mapped(struct perfetto *pf, const struct ktape_event *e)
{
	const struct pf_plan *plan = pf->plans[e->opcode];
	struct pf_cpu *c = pf->cpus[e->cpu];

	if (!plan || e->nargs < plan->nargs)
		return false;
	if ((plan->field == SYS_ENTER || plan->field == SYS_EXIT) &&
	    e->dat20 & (KT_CALL_COMPAT | KT_CALL_X32)) {
		kt_sink_miss(pf->s,
			     "system calls of another table than the "
			     "machine's, kept as events without slices",
			     1);
		return false;
	}
	kt_left_out_count(&plan->left_out, pf->s, e);
	if (e->opcode == KTAPE_EV_SCHED_BLOCKED && keep_blocked(pf, e))
		return true;
	put_mapped(pf, plan, e);
	if (e->opcode == KTAPE_EV_SCHED_SWITCH && c->blocked_tid &&
	    c->blocked_tid == e->tid)
		put_blocked(pf, e);
	return true;
}
