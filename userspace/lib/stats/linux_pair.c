// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure intervals that begin with one event and end with another: interrupts, system
 * calls, work items, timers, block requests.
 */
#include "stats/linux.h"

#define ERRNO_MAX   4095
#define TABLE_SHIFT 16

/* ---- interrupts: they nest on a CPU ----------------------------------------------- */

static const struct irq {
	uint8_t begin;
	uint8_t end;
	uint8_t kind;
	uint8_t bits; /* lowest bits of dat20, which are its number */
} irqs[] = {
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, KTAPE_EV_IRQ_HANDLER_EXIT,
	  KTAPE_SERIES_IRQ, 18 },
	{ KTAPE_EV_IPI_ENTRY, KTAPE_EV_IPI_EXIT, KTAPE_SERIES_IPI, 5 },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, KTAPE_EV_LOCAL_TIMER_EXIT,
	  KTAPE_SERIES_TICK, 8 },
	{ KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT, KTAPE_SERIES_SOFTIRQ, 8 },
};

/* Return the key of an interval that belongs to the event's CPU. */
static uint64_t cpu_key(const struct ktape_event *e, uint32_t id)
{
	return (uint64_t)e->cpu << 32 | id;
}

/* Remove an open interval and copy it.  Return: false if there is none. */
static bool take_interval(struct ktape_linux *l, unsigned int what,
			  uint64_t key, struct kt_map_entry *entry)
{
	struct kt_map_entry *e = kt_map_find(&l->open, what, key);

	if (!e)
		return false;
	*entry = *e;
	kt_map_remove(&l->open, e);
	return true;
}

/* Open an interval at an event.  One that is open already begins anew. */
static int open_interval(struct ktape_linux *l, unsigned int what, uint64_t key,
			 const struct ktape_event *e, uint64_t extra)
{
	int err;
	struct kt_map_entry *entry = kt_sl_open(l, what, key, &err);

	if (!entry)
		return err;
	entry->value = e->ts;
	entry->extra = extra;
	return 0;
}

static int softirq_begins(struct ktape_linux *l, const struct ktape_event *e,
			  uint32_t vec)
{
	struct kt_map_entry raised;

	if (!take_interval(l, KT_SL_RAISED, cpu_key(e, vec), &raised))
		return 0;
	return kt_sl_interval(l, kt_sl_series(l, KTAPE_SERIES_SOFTIRQ_WAIT, vec, e),
			      raised.value, e->ts);
}

static int irq_begins(struct ktape_linux *l, struct kt_sl_cpu *c,
		      const struct ktape_event *e, const struct irq *irq)
{
	uint32_t id = e->dat20 & ((1U << irq->bits) - 1);

	if (c->depth < KT_SL_NEST)
		c->irqs[c->depth++] = (struct kt_sl_irq){ irq->kind, id, e->ts };
	return irq->kind == KTAPE_SERIES_SOFTIRQ ? softirq_begins(l, e, id) : 0;
}

/* End an interrupt, and all interrupts nested in it. */
static int irq_ends(struct ktape_linux *l, struct kt_sl_cpu *c,
		    const struct ktape_event *e, const struct irq *irq)
{
	uint32_t id = e->dat20 & ((1U << irq->bits) - 1);

	for (unsigned int i = c->depth; i--;) {
		const struct kt_sl_irq *open = &c->irqs[i];

		if (open->kind != irq->kind || open->id != id)
			continue;
		c->depth = i;
		return kt_sl_interval(l, kt_sl_series(l, irq->kind, id, e),
				      open->begin, e->ts);
	}
	return 0;
}

static int softirq_raised(struct ktape_linux *l, struct kt_sl_cpu *c,
			  const struct ktape_event *e)
{
	uint64_t key = cpu_key(e, e->dat20 & 0xff);

	(void)c;
	/* If raised again, the wait counts from the first raise. */
	if (kt_map_find(&l->open, KT_SL_RAISED, key))
		return 0;
	return open_interval(l, KT_SL_RAISED, key, e, 0);
}

/* ---- system calls ------------------------------------------------------------------ */

static int call_begins(struct ktape_linux *l, struct kt_sl_cpu *c,
		       const struct ktape_event *e)
{
	(void)c;
	return e->tid > 0 ? open_interval(l, KT_SL_CALL, (uint32_t)e->tid, e,
					  e->dat20 & KT_CALL_KEY) :
			    0;
}

/* Count a result that is -errno.  @key: number and table of the call. */
static void count_error(struct ktape_linux *l, struct kt_sl_series *s,
			uint64_t key, int64_t ret)
{
	struct ktape_series *all = &l->list[KTAPE_SERIES_SYSCALL]->result;

	if (!s || ret >= 0 || ret < -ERRNO_MAX ||
	    !kt_syscall_has_status(l->info->machine,
				   (unsigned int)(key >> TABLE_SHIFT & 3),
				   (unsigned int)(key & 0xffff)))
		return;
	if (&s->result != all)
		s->result.errors++;
	all->errors++;
	s->result.error = all->error = (int)-ret;
}

static int call_ends(struct ktape_linux *l, struct kt_sl_cpu *c,
		     const struct ktape_event *e)
{
	bool wide = e->opcode == KTAPE_EV_SYS_EXIT_WIDE;
	uint64_t key = e->dat20 & KT_CALL_KEY;
	struct kt_sl_series *s;
	struct kt_map_entry call;

	(void)c;
	if (e->tid <= 0 || !take_interval(l, KT_SL_CALL, (uint32_t)e->tid, &call) ||
	    (call.extra != key && !(e->dat20 & KT_CALL_LARGE)))
		return 0;
	/* The exit of rt_sigreturn() has no number: use the number of the enter event. */
	key = call.extra;
	s = kt_sl_series(l, KTAPE_SERIES_SYSCALL, key, e);
	if (kt_sl_is_sure(l, KTAPE_SERIES_SYSCALL, call.value))
		count_error(l, s, key, (int64_t)kt_get64(wide ? e->blob : e->args));
	return kt_sl_interval(l, s, call.value, e->ts);
}

/* ---- work, timers -------------------------------------------------------------------- */

static int work_queued(struct ktape_linux *l, struct kt_sl_cpu *c,
		       const struct ktape_event *e)
{
	(void)c;
	return open_interval(l, KT_SL_QUEUED, ktape_event_arg(e, 0), e, 0);
}

static int work_begins(struct ktape_linux *l, struct kt_sl_cpu *c,
		       const struct ktape_event *e)
{
	uint32_t work = ktape_event_arg(e, 0), function = ktape_event_arg(e, 1);
	struct kt_map_entry queued;
	int err = 0;

	(void)c;
	if (take_interval(l, KT_SL_QUEUED, work, &queued))
		err = kt_sl_interval(
			l, kt_sl_series(l, KTAPE_SERIES_WORK_WAIT, function, e),
			queued.value, e->ts);
	return err || e->tid < 0 ? err :
				   open_interval(l, KT_SL_WORKING,
						 (uint32_t)e->tid, e, function);
}

/* Use the function that the begin event names: the end event may not name it. */
static int work_ends(struct ktape_linux *l, struct kt_sl_cpu *c,
		     const struct ktape_event *e)
{
	struct kt_map_entry work;

	(void)c;
	if (e->tid < 0 || !take_interval(l, KT_SL_WORKING, (uint32_t)e->tid, &work))
		return 0;
	return kt_sl_interval(l, kt_sl_series(l, KTAPE_SERIES_WORK, work.extra, e),
			      work.value, e->ts);
}

static const struct {
	uint8_t begin; /* opcode */
	uint8_t open;  /* enum kt_sl_open */
	uint8_t kind;  /* series of how long the function ran */
	uint8_t late;  /* series of how late it began */
} timers[] = {
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY, KT_SL_TIMER, KTAPE_SERIES_TIMER,
	  KTAPE_SERIES_TIMER_LATE },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY, KT_SL_HRTIMER, KTAPE_SERIES_HRTIMER,
	  KTAPE_SERIES_HRTIMER_LATE },
};

static int timer_begins(struct ktape_linux *l, struct kt_sl_cpu *c,
			const struct ktape_event *e)
{
	unsigned int i = e->opcode != timers[0].begin;
	uint32_t function = ktape_event_arg(e, 1);
	int32_t late = (int32_t)ktape_event_arg(e, 2);
	int err = open_interval(l, timers[i].open,
				cpu_key(e, ktape_event_arg(e, 0)), e, function);

	(void)c;
	if (err)
		return err;
	return kt_sl_add(l, kt_sl_series(l, timers[i].late, function, e),
			 late > 0 ? (uint32_t)late : 0);
}

static int timer_ends(struct ktape_linux *l, struct kt_sl_cpu *c,
		      const struct ktape_event *e)
{
	unsigned int i = e->opcode != KTAPE_EV_TIMER_EXPIRE_EXIT;
	struct kt_map_entry timer;

	(void)c;
	if (!take_interval(l, timers[i].open, cpu_key(e, ktape_event_arg(e, 0)),
			   &timer))
		return 0;
	return kt_sl_interval(l, kt_sl_series(l, timers[i].kind, timer.extra, e),
			      timer.value, e->ts);
}

/* ---- block devices --------------------------------------------------------------------- */

/* Return the key of a request: its sector, and above it the device. */
static uint64_t pair_request_key(const struct ktape_event *e)
{
	uint64_t sector = kt_get64((const char *)e->args + 4);

	return sector ^ (uint64_t)ktape_event_arg(e, 0) << 40;
}

static int block_inserted(struct ktape_linux *l, struct kt_sl_cpu *c,
			  const struct ktape_event *e)
{
	(void)c;
	return open_interval(l, KT_SL_INSERTED, pair_request_key(e), e, 0);
}

static int block_issued(struct ktape_linux *l, struct kt_sl_cpu *c,
			const struct ktape_event *e)
{
	struct kt_map_entry in;
	int err = 0;

	(void)c;
	if (take_interval(l, KT_SL_INSERTED, pair_request_key(e), &in))
		err = kt_sl_interval(l,
				     kt_sl_series(l, KTAPE_SERIES_BLOCK_WAIT,
						  ktape_event_arg(e, 0), e),
				     in.value, e->ts);
	return err ? err :
		     open_interval(l, KT_SL_ISSUED, pair_request_key(e), e, 0);
}

static int block_done(struct ktape_linux *l, struct kt_sl_cpu *c,
		      const struct ktape_event *e)
{
	struct kt_map_entry issued;

	(void)c;
	if (!take_interval(l, KT_SL_ISSUED, pair_request_key(e), &issued))
		return 0;
	return kt_sl_interval(
		l, kt_sl_series(l, KTAPE_SERIES_BLOCK, ktape_event_arg(e, 0), e),
		issued.value, e->ts);
}

/* ---- spans: begin and end in one record, if it took longer than a gate filter's time -------- */

static const struct {
	uint8_t opcode;
	uint8_t kind;
	uint8_t bits; /* bits of dat20 with the key; 0 = the first argument */
} spans[] = {
	{ KTAPE_EV_IRQ_SPAN, KTAPE_SERIES_IRQ, 18 },
	{ KTAPE_EV_SOFTIRQ_SPAN, KTAPE_SERIES_SOFTIRQ, 8 },
	{ KTAPE_EV_SYS_SPAN, KTAPE_SERIES_SYSCALL, 18 },
	{ KTAPE_EV_WORK_SPAN, KTAPE_SERIES_WORK, 0 },
};

static int add_pair_span(struct ktape_linux *l, struct kt_sl_cpu *c,
			 const struct ktape_event *e)
{
	struct kt_sl_series *s;
	uint64_t start = e->ts, ret = 0;
	unsigned int i = 0;

	(void)c;
	/* Only for the opcodes in @spans, see @takers. */
	while (spans[i].opcode != e->opcode)
		i++;
	ktape_event_field(e, "start", &start);
	s = kt_sl_series(l, spans[i].kind,
			 spans[i].bits ? e->dat20 & ((1U << spans[i].bits) - 1) :
					 ktape_event_arg(e, 0),
			 e);
	if (e->opcode == KTAPE_EV_SYS_SPAN && !ktape_event_field(e, "ret", &ret))
		count_error(l, s, e->dat20 & KT_CALL_KEY, (int64_t)ret);
	/* No loss can be inside a span, because begin and end are in one record. */
	return kt_sl_add(l, s, kt_sl_ns(l, start, e->ts));
}

static const struct {
	uint8_t opcode;
	int (*take)(struct ktape_linux *l, struct kt_sl_cpu *c,
		    const struct ktape_event *e);
} takers[] = {
	{ KTAPE_EV_SOFTIRQ_RAISE, softirq_raised },
	{ KTAPE_EV_SYS_ENTER, call_begins },
	{ KTAPE_EV_SYS_ENTER_WIDE, call_begins },
	{ KTAPE_EV_SYS_EXIT, call_ends },
	{ KTAPE_EV_SYS_EXIT_WIDE, call_ends },
	{ KTAPE_EV_WORKQUEUE_QUEUE_WORK, work_queued },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START, work_begins },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_END, work_ends },
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY, timer_begins },
	{ KTAPE_EV_TIMER_EXPIRE_EXIT, timer_ends },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY, timer_begins },
	{ KTAPE_EV_HRTIMER_EXPIRE_EXIT, timer_ends },
	{ KTAPE_EV_BLOCK_RQ_INSERT, block_inserted },
	{ KTAPE_EV_BLOCK_RQ_ISSUE, block_issued },
	{ KTAPE_EV_BLOCK_RQ_COMPLETE, block_done },
	{ KTAPE_EV_IRQ_SPAN, add_pair_span },
	{ KTAPE_EV_SOFTIRQ_SPAN, add_pair_span },
	{ KTAPE_EV_SYS_SPAN, add_pair_span },
	{ KTAPE_EV_WORK_SPAN, add_pair_span },
};

/**
 * kt_sl_pairs() - Process an event that begins or ends an interval
 * @l: the statistics
 * @c: the CPU, with its time accounted up to this event
 * @e: the event; kt_event_fits() holds
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_pairs(struct ktape_linux *l, struct kt_sl_cpu *c,
		const struct ktape_event *e)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(irqs); i++) {
		if (irqs[i].begin == e->opcode)
			return irq_begins(l, c, e, &irqs[i]);
		if (irqs[i].end == e->opcode)
			return irq_ends(l, c, e, &irqs[i]);
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(takers); i++) {
		if (takers[i].opcode == e->opcode)
			return takers[i].take(l, c, e);
	}
	return 0;
}
