// SPDX-License-Identifier: LGPL-2.1-or-later
/* What each CPU does: which thread it runs, interrupts and timers within, losses. */
#include "internal.h"

/*
 * Interrupts, and functions of timers, which are drawn as such.  @begin, @end: the opcodes; @kind:
 * enum html_kind; @type: KTAPE_TYPE_* of the id; @bits: width of the id in dat20, from bit 0 on;
 * 0 = the id is argument @arg.
 */
static const struct irq {
	uint8_t begin;
	uint8_t end;
	uint8_t kind;
	uint8_t type;
	uint8_t bits;
	uint8_t arg;
} irqs[] = {
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, KTAPE_EV_IRQ_HANDLER_EXIT, HTML_IRQ,
	  KTAPE_TYPE_IRQ, 18, 0 },
	{ KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT, HTML_SOFTIRQ,
	  KTAPE_TYPE_SOFTIRQ, 8, 0 },
	{ KTAPE_EV_IPI_ENTRY, KTAPE_EV_IPI_EXIT, HTML_IPI, KTAPE_TYPE_IPI, 5, 0 },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, KTAPE_EV_LOCAL_TIMER_EXIT, HTML_TICK,
	  KTAPE_TYPE_U32, 8, 0 },
	{ KTAPE_EV_ISR_ENTER, KTAPE_EV_ISR_EXIT, HTML_ISR, KTAPE_TYPE_ISRID, 0, 0 },
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY, KTAPE_EV_TIMER_EXPIRE_EXIT, HTML_TIMER,
	  KTAPE_TYPE_FUNC, 0, 1 },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY, KTAPE_EV_HRTIMER_EXPIRE_EXIT,
	  HTML_HRTIMER, KTAPE_TYPE_FUNC, 0, 1 },
};

/**
 * html_cpu() - return a CPU, made if needed
 * @h: the page
 * @cpu: its number, less than KT_CPUS_MAX
 *
 * Return: the CPU, valid until the next call; NULL after html_no_memory().
 */
struct html_cpu *html_cpu(struct html *h, uint32_t cpu)
{
	struct html_cpu *more;

	if (cpu < h->nr_cpus)
		return &h->cpus[cpu];
	more = realloc(h->cpus, (cpu + 1) * sizeof(*more));
	if (!more) {
		html_no_memory(h);
		return NULL;
	}
	memset(more + h->nr_cpus, 0, (cpu + 1 - h->nr_cpus) * sizeof(*more));
	h->cpus = more;
	for (uint32_t i = h->nr_cpus; i <= cpu; i++)
		more[i].recorded.filter_from = INT64_MAX;
	h->nr_cpus = cpu + 1;
	return &more[cpu];
}

/* ---- threads ------------------------------------------------------------------- */

/* End the run of a CPU's thread.  @state: with which it leaves, UINT32_MAX = unknown. */
static void end_html_run(struct html *h, struct html_cpu *c, uint32_t cpu,
			 int64_t now, uint32_t state, uint8_t flags)
{
	const struct html_span s = {
		.kind = HTML_RUN,
		.flags = c->flags | flags,
		.cpu = cpu,
		.tid = c->tid,
		.name = c->name,
		.begin = c->since,
		.dur = html_lasts(c->since, now),
		.b = state,
	};

	if (!c->known)
		return;
	c->known = false;
	if (s.dur)
		html_span(h, &s);
	html_thread_off(h, c->tid, now, state, flags);
}

static void begin_html_run(struct html *h, struct html_cpu *c,
			   const struct kt_line *l, int32_t tid, int64_t now,
			   uint8_t flags)
{
	if (tid < 0)
		return;
	c->known = true;
	c->tid = tid;
	c->name = html_name(h, l, KTAPE_TYPE_TID, (uint32_t)tid);
	c->since = now;
	c->flags = flags;
	html_thread_on(h, tid, l->event->cpu, now, flags, c->name);
}

static void put_html_switch(struct html *h, struct html_cpu *c,
			    const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	int32_t prev = (int32_t)ktape_event_arg(e, 0);
	uint32_t state = e->dat20 >> 16 & 15; /* prev_state */

	/* A switch was missed if another thread leaves than the one that ran. */
	if (c->known && c->tid != prev)
		end_html_run(h, c, e->cpu, now, UINT32_MAX, HTML_NO_END);
	if (c->known)
		end_html_run(h, c, e->cpu, now, state, 0);
	else
		html_thread_off(h, prev, now, state, 0);
	c->depth = 0; /* no interrupt goes on at a switch: ends are missing */
	html_note_name(h, l, (int32_t)ktape_event_arg(e, 1), now);
	begin_html_run(h, c, l, (int32_t)ktape_event_arg(e, 1), now, 0);
}

/* Take the running thread from an event, if no switch has named it. */
static void learn_html_thread(struct html *h, struct html_cpu *c,
			      const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	bool context = e->opcode == KTAPE_EV_CONTEXT;
	int32_t tid = context ? (int32_t)ktape_event_arg(e, 0) : e->tid;

	/* A context record may also say that the thread is not known any more. */
	if ((tid < 0 && !context) || (c->known && c->tid == tid) ||
	    !kt_event_thread_runs(e))
		return;
	end_html_run(h, c, e->cpu, now, UINT32_MAX, HTML_NO_END);
	/* A context record says that the CPU changes to the thread, any other only that it runs. */
	begin_html_run(h, c, l, tid, now, context ? 0 : HTML_NO_BEGIN);
}

/* ---- interrupts ------------------------------------------------------------------ */

static uint32_t irq_id(const struct irq *irq, const struct ktape_event *e)
{
	return irq->bits ? e->dat20 & ((1U << irq->bits) - 1) :
			   ktape_event_arg(e, irq->arg);
}

static void begin_html_irq(struct html *h, struct html_cpu *c,
			   const struct kt_line *l, const struct irq *irq,
			   int64_t now)
{
	uint32_t id = irq_id(irq, l->event);

	if (c->depth == HTML_NEST) {
		kt_sink_miss(h->s, "interrupts nested deeper than 16", 1);
		return;
	}
	c->irqs[c->depth++] = (struct html_irq){ irq->kind, id,
						 html_name(h, l, irq->type, id),
						 now };
}

/* End the innermost interrupt of a kind.  Those in it, whose ends are missing, get no span. */
static void end_html_irq(struct html *h, struct html_cpu *c,
			 const struct kt_line *l, const struct irq *irq, int64_t now)
{
	struct html_span s = {
		.kind = irq->kind,
		.cpu = l->event->cpu,
		.tid = c->known ? c->tid : -1,
	};
	unsigned int i = c->depth;

	while (i && c->irqs[i - 1].kind != irq->kind)
		i--;
	if (!i)
		return;
	c->depth = --i;
	s.depth = (uint8_t)i;
	s.name = c->irqs[i].name;
	s.a = c->irqs[i].id;
	s.begin = c->irqs[i].begin;
	s.dur = html_lasts(s.begin, now);
	html_span(h, &s);
}

static bool put_html_irq(struct html *h, struct html_cpu *c,
			 const struct kt_line *l, int64_t now)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(irqs); i++) {
		if (irqs[i].begin == l->event->opcode)
			begin_html_irq(h, c, l, &irqs[i], now);
		else if (irqs[i].end == l->event->opcode)
			end_html_irq(h, c, l, &irqs[i], now);
		else
			continue;
		return true;
	}
	return false;
}

/**
 * html_cpu_event() - process an event of the CPU or of its thread
 * @h: the page
 * @l: the event
 * @now: its time
 *
 * Return: true if the event is one of those, or after html_no_memory().
 */
bool html_cpu_event(struct html *h, const struct kt_line *l, int64_t now)
{
	struct html_cpu *c = html_cpu(h, l->event->cpu);

	if (!c)
		return true;
	c->seen = true;
	c->cost.events++;
	/* Control records also come while nothing is recorded. */
	if (html_is_off(c))
		return false;
	if (!kt_event_fits(l->event)) {
		learn_html_thread(h, c, l, now);
		return false;
	}
	if (l->event->opcode == KTAPE_EV_SCHED_SWITCH) {
		put_html_switch(h, c, l, now);
		return true;
	}
	learn_html_thread(h, c, l, now);
	switch (l->event->opcode) {
	case KTAPE_EV_SCHED_WAKING:
	case KTAPE_EV_SCHED_WAKEUP:
	case KTAPE_EV_SCHED_WAKEUP_NEW:
	case KTAPE_EV_SCHED_BLOCKED:
		html_thread_wakes(h, l, now);
		return true;
	case KTAPE_EV_SCHED_MIGRATE_TASK:
		html_thread_moves(h, l->event, now);
		return true;
	case KTAPE_EV_SYS_ENTER:
	case KTAPE_EV_SYS_EXIT:
	case KTAPE_EV_SYS_ENTER_WIDE:
	case KTAPE_EV_SYS_EXIT_WIDE:
		html_thread_call(h, l, now);
		return true;
	case KTAPE_EV_PROCESS_EXIT:
		html_thread_exit(h, l, now);
		return true;
	default:
		return put_html_irq(h, c, l, now);
	}
}

/* Add the span of the last loss of a ring, which does not go on.  HTML_RUN = there is none. */
static void end_loss(struct html *h, struct html_span *loss)
{
	if (loss->kind == HTML_LOST)
		html_span(h, loss);
	loss->kind = HTML_RUN;
}

/**
 * html_cpu_lost() - process a loss of events
 * @h: the page
 * @n: KTAPE_NOTICE_LOST
 */
void html_cpu_lost(struct html *h, const struct ktape_notice *n)
{
	struct html_cpu *c = html_cpu(h, n->cpu);
	int64_t from = html_time(h, n->from), to = html_time(h, n->to);
	const struct html_span s = {
		.kind = HTML_LOST,
		.cpu = n->cpu,
		.tid = -1,
		.name = html_string(h, "lost", 4),
		.begin = from,
		.dur = html_lasts(from, to),
		.a = (int64_t)(n->count + n->overwritten),
		.b = (int64_t)(kt_min(n->packets, UINT32_MAX) << 8 | n->reasons),
	};
	/* Overwritten: the ring begins later than the trace. */
	bool late = n->reasons & KTAPE_NOTICE_OVERWRITTEN;
	struct html_span *loss;

	if (!c)
		return;
	loss = &c->losses[n->ring == KTAPE_RING_CONTROL];
	/*
	 * A lost control record may have ended the recording.  But what a control ring has only
	 * overwritten hides nothing of the events after it: it has no switches.
	 */
	if (!late || n->ring == KTAPE_RING_EVENT) {
		end_html_run(h, c, n->cpu, from, UINT32_MAX, HTML_NO_END);
		c->depth = 0;
	}
	/*
	 * A loss that goes on is one span with what is known of its number: of overwritten events
	 * the first notice has it.  Losses with a number each stay apart.
	 */
	if (n->continued && loss->kind == HTML_LOST && (late || !loss->a)) {
		loss->dur = html_lasts(loss->begin, to);
		return;
	}
	end_loss(h, loss);
	*loss = s;
}

/**
 * html_cpu_off() - from now on nothing is recorded on a CPU
 * @h: the page
 * @cpu: the CPU
 * @now: the time
 *
 * If that holds for all CPUs, nothing is known about the threads either.
 */
void html_cpu_off(struct html *h, uint32_t cpu, int64_t now)
{
	struct html_cpu *c = html_cpu(h, cpu);

	if (!c)
		return;
	end_html_run(h, c, cpu, now, UINT32_MAX, HTML_NO_END);
	c->depth = 0;
	for (uint32_t i = 0; i < h->nr_cpus; i++) {
		if (h->cpus[i].seen && !html_is_off(&h->cpus[i]))
			return;
	}
	html_threads_pause(h, now);
}

/**
 * html_cpus_end() - end what all CPUs do
 * @h: the page
 * @now: end of the trace
 */
void html_cpus_end(struct html *h, int64_t now)
{
	for (uint32_t i = 0; i < h->nr_cpus; i++) {
		end_html_run(h, &h->cpus[i], i, now, KTAPE_STATE_R, HTML_NO_END);
		for (size_t k = 0; k < KT_ARRAY_SIZE(h->cpus[i].losses); k++)
			end_loss(h, &h->cpus[i].losses[k]);
	}
}
