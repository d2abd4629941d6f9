// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of ThreadX that a native event becomes, for writing TraceX and for statistics.
 * The id of a thread stands for its address in ThreadX; ThreadX has no idle threads.
 * Services of other real-time kernels are in service.c.
 *
 * An event of ThreadX has four words (@info), whose meaning kinds.c gives for each event.  Words
 * that a native event says nothing of stay 0.
 */
#include <ktape/formats.h>

#include "stream/event.h"
#include "rtos/foreign.h"
#include "rtos/threadx.h"

#define IRQ_SOFT 0x01000000U /* number of a softirq: this + vector */
#define PRIO_UNKNOWN \
	120U /* of a thread whose Linux priority is not known: nice 0 */

/* States of a thread in ThreadX. */
enum { TX_READY = 0, TX_TERMINATED = 2, TX_SUSPENDED = 3, TX_SLEEP = 4 };

/* Return a CPU, made if it is new; NULL without memory. */
static struct kt_threadx_cpu *threadx_cpu_at(struct kt_threadx_map *m, uint32_t cpu)
{
	struct kt_threadx_cpu *more;

	if (cpu < m->nr_cpus)
		return &m->cpus[cpu];
	more = realloc(m->cpus, ((size_t)cpu + 1) * sizeof(*more));
	if (!more)
		return NULL;
	m->cpus = more;
	while (m->nr_cpus <= cpu)
		m->cpus[m->nr_cpus++] = (struct kt_threadx_cpu){
			.prio = PRIO_UNKNOWN,
		};
	return &more[cpu];
}

/* Return the state of ThreadX in which a thread leaves its CPU. */
static uint32_t new_state(const struct kt_threadx_cpu *c, unsigned int state)
{
	switch (state) {
	case KTAPE_STATE_T:
	case KTAPE_STATE_TRACED:
	case KTAPE_STATE_P:
		return TX_SUSPENDED;
	case KTAPE_STATE_X:
	case KTAPE_STATE_Z:
		return TX_TERMINATED;
	default:
		return c->state ? c->state : TX_SLEEP;
	}
}

/*
 * A thread that stays ready relinquishes the CPU; any other one is suspended.  If the CPU was idle,
 * the event says that the next thread is running; from idle to idle there is none.
 */
static int map_threadx_switch(struct kt_threadx_cpu *c, const struct ktape_event *e,
			      struct kt_threadx_entry *x)
{
	uint32_t prev = ktape_event_arg(e, 0), next = ktape_event_arg(e, 1);
	unsigned int state = e->dat20 >> 16 & 15;
	bool ready = state == KTAPE_STATE_R || state == KTAPE_STATE_PREEMPTED;
	int nr = 0;

	c->nesting = 0;
	c->tid = (int32_t)prev > 0 ? prev : 0;
	c->prio = e->dat20 & 0xff;
	if (c->tid) {
		kt_threadx_put(x, c, e,
			       ready ? KT_THREADX_RELINQUISH : KT_THREADX_SUSPEND);
		x->info[ready ? 1 : 3] = next;
		if (!ready) {
			x->info[0] = c->tid;
			x->info[1] = new_state(c, state);
		}
		nr++;
	}
	c->state = 0;
	c->tid = (int32_t)next > 0 ? next : 0;
	c->prio = e->dat20 >> 8 & 0xff;
	c->known = true;
	if (nr || !c->tid)
		return nr;
	kt_threadx_put(x, c, e, KT_THREADX_RUNNING);
	return 1;
}

static int map_threadx_context(struct kt_threadx_cpu *c,
			       const struct ktape_event *e,
			       struct kt_threadx_entry *x)
{
	int32_t tid = (int32_t)ktape_event_arg(e, 0);

	if (tid < 0 || (c->known && c->tid == (uint32_t)tid))
		return 0;
	c->tid = (uint32_t)tid;
	c->known = true;
	c->nesting = 0;
	c->state = 0;
	if (!tid)
		return 0;
	kt_threadx_put(x, c, e, KT_THREADX_RUNNING);
	return 1;
}

static int map_threadx_wakeup(struct kt_threadx_cpu *c, const struct ktape_event *e,
			      struct kt_threadx_entry *x)
{
	kt_threadx_put(x, c, e, KT_THREADX_RESUME);
	x->info[0] = ktape_event_arg(e, 0);
	x->info[1] = TX_SLEEP;
	x->info[3] = c->tid;
	return 1;
}

static int map_threadx_fork(struct kt_threadx_cpu *c, const struct ktape_event *e,
			    struct kt_threadx_entry *x)
{
	kt_threadx_put(x, c, e, KT_THREADX_THREAD_CREATE);
	x->info[0] = ktape_event_arg(e, 1);
	x->info[1] = c->prio;
	return 1;
}

static int map_threadx_exit(struct kt_threadx_cpu *c, const struct ktape_event *e,
			    struct kt_threadx_entry *x)
{
	kt_threadx_put(x, c, e, KT_THREADX_TERMINATE);
	x->info[0] = ktape_event_arg(e, 0);
	x->info[1] = TX_TERMINATED;
	return 1;
}

static int map_prio(struct kt_threadx_cpu *c, const struct ktape_event *e,
		    struct kt_threadx_entry *x)
{
	kt_threadx_put(x, c, e, KT_THREADX_PRIORITY_CHANGE);
	x->info[0] = ktape_event_arg(e, 0);
	x->info[1] = e->dat20 >> 8 & 0xff;
	x->info[2] = e->dat20 & 0xff;
	return 1;
}

static int enter_isr(struct kt_threadx_cpu *c, const struct ktape_event *e,
		     struct kt_threadx_entry *x, uint32_t irq)
{
	c->nesting++;
	kt_threadx_put(x, c, e, KT_THREADX_ISR_ENTER);
	x->info[1] = irq;
	x->info[3] = c->tid;
	return 1;
}

static int leave_isr(struct kt_threadx_cpu *c, const struct ktape_event *e,
		     struct kt_threadx_entry *x, uint32_t irq)
{
	c->nesting += !c->nesting; /* the interrupt began before the trace */
	kt_threadx_put(x, c, e, KT_THREADX_ISR_EXIT);
	x->info[1] = irq;
	c->nesting--;
	return 1;
}

typedef int edge_fn(struct kt_threadx_cpu *c, const struct ktape_event *e,
		    struct kt_threadx_entry *x, uint32_t irq);

static int map_threadx_isr(struct kt_threadx_cpu *c, const struct ktape_event *e,
			   struct kt_threadx_entry *x)
{
	edge_fn *edge = e->opcode == KTAPE_EV_ISR_ENTER ? enter_isr : leave_isr;

	return edge(c, e, x, ktape_event_arg(e, 0));
}

static int map_threadx_irq(struct kt_threadx_cpu *c, const struct ktape_event *e,
			   struct kt_threadx_entry *x)
{
	edge_fn *edge = e->opcode == KTAPE_EV_IRQ_HANDLER_ENTRY ? enter_isr :
								  leave_isr;
	uint64_t irq = 0;

	ktape_event_field(e, "irq", &irq);
	return edge(c, e, x, (uint32_t)irq);
}

static int map_threadx_softirq(struct kt_threadx_cpu *c,
			       const struct ktape_event *e,
			       struct kt_threadx_entry *x)
{
	edge_fn *edge = e->opcode == KTAPE_EV_SOFTIRQ_ENTRY ? enter_isr : leave_isr;
	uint64_t vec = 0;

	ktape_event_field(e, "vec", &vec);
	return edge(c, e, x, IRQ_SOFT + (uint32_t)vec);
}

/* Return true for events of Tonbandgeraet that describe the stream; they are not written. */
static bool is_of_stream(const struct ktape_event *e)
{
	uint32_t id = e->nargs ? ktape_event_arg(e, 0) : 0;

	return ktape_event_is_metadata(e) ||
	       (e->opcode == KTAPE_EV_USER_EVENT &&
		(id == (KTAPE_FORMAT_ID_TBAND | KT_TBAND_CORE_ID) ||
		 id == (KTAPE_FORMAT_ID_TBAND | KT_TBAND_DROPPED)));
}

/* Markers and user events become users' events with their first four words. */
static int map_words(struct kt_threadx_cpu *c, const struct ktape_event *e,
		     struct kt_threadx_entry *x)
{
	uint32_t id = KT_THREADX_OUT_USER;

	if (e->opcode != KTAPE_EV_USER_EVENT)
		id = KT_THREADX_OUT_MARK + e->opcode - KTAPE_EV_MARK;
	kt_threadx_put(x, c, e, id);
	for (unsigned int i = 0; i < 4 && i < e->nargs; i++)
		x->info[i] = ktape_event_arg(e, i);
	return 1;
}

typedef int map_fn(struct kt_threadx_cpu *c, const struct ktape_event *e,
		   struct kt_threadx_entry *x);

/* clang-format off */

static map_fn *const maps[KTAPE_OPCODES] = {
	[KTAPE_EV_CONTEXT] = map_threadx_context,
	[KTAPE_EV_MARK ... KTAPE_EV_MARK_VALUE] = map_words,
	[KTAPE_EV_ISR_ENTER ... KTAPE_EV_ISR_EXIT] = map_threadx_isr,
	[KTAPE_EV_USER_EVENT] = map_words,
	[KTAPE_EV_SCHED_SWITCH] = map_threadx_switch,
	[KTAPE_EV_SCHED_WAKEUP ... KTAPE_EV_SCHED_WAKEUP_NEW] = map_threadx_wakeup,
	[KTAPE_EV_SCHED_PI_SETPRIO] = map_prio,
	[KTAPE_EV_PROCESS_FORK] = map_threadx_fork,
	[KTAPE_EV_PROCESS_EXIT] = map_threadx_exit,
	[KTAPE_EV_IRQ_HANDLER_ENTRY ... KTAPE_EV_IRQ_HANDLER_EXIT] = map_threadx_irq,
	[KTAPE_EV_SOFTIRQ_ENTRY ... KTAPE_EV_SOFTIRQ_EXIT] = map_threadx_softirq,
};

/* clang-format on */

/* Put a RUNNING event if the thread of an event is not the one known to run. */
static int put_running(struct kt_threadx_cpu *c, const struct ktape_event *e,
		       struct kt_threadx_entry *x)
{
	if (e->tid < 0 || e->kind != KTAPE_RING_EVENT ||
	    e->opcode == KTAPE_EV_CONTEXT || c->nesting ||
	    (c->known && c->tid == (uint32_t)e->tid))
		return 0;
	if (e->opcode == KTAPE_EV_SCHED_SWITCH)
		return 0;
	c->tid = (uint32_t)e->tid;
	c->state = 0;
	c->known = true;
	if (!c->tid)
		return 0;
	kt_threadx_put(x, c, e, KT_THREADX_RUNNING);
	return 1;
}

/* Return true for a thread's own marker; a global one may come from an interrupt. */
static bool is_mark_of_task(const struct ktape_event *e)
{
	return e->opcode >= KTAPE_EV_MARK && e->opcode <= KTAPE_EV_MARK_VALUE &&
	       e->dat20 & 1;
}

/**
 * kt_threadx_map() - make the events of ThreadX that a native event becomes
 * @map: state of the mapping
 * @e: the event
 * @entries: filled
 *
 * Return: number of entries, -ENOTSUP if there is no counterpart, or -ENOMEM.
 */
int kt_threadx_map(struct kt_threadx_map *map, const struct ktape_event *e,
		   struct kt_threadx_entry entries[KT_THREADX_PER_EVENT])
{
	struct kt_threadx_cpu *c;
	int nr, own = -ENOTSUP;

	if (!maps[e->opcode] || !kt_event_fits(e))
		return -ENOTSUP;
	c = threadx_cpu_at(map, e->cpu);
	if (!c)
		return -ENOMEM;
	if (is_of_stream(e)) {
		/* After a loss, the first priority of a new thread may be missing. */
		if (!ktape_event_is_metadata(e))
			c->made = 0;
		return kt_threadx_learn(map, c, e, entries);
	}
	nr = put_running(c, e, entries);
	if (is_mark_of_task(e))
		kt_threadx_end_wait(map, c);
	if (e->opcode == KTAPE_EV_USER_EVENT)
		own = kt_threadx_service(map, c, e, entries + nr);
	nr += own >= 0 ? own : maps[e->opcode](c, e, entries + nr);
	c->made = e->opcode == KTAPE_EV_PROCESS_FORK ? ktape_event_arg(e, 1) : 0;
	return nr;
}

/* Free what the mapping holds. */
void kt_threadx_map_free(struct kt_threadx_map *map)
{
	free(map->cpus);
	map->cpus = NULL;
	map->nr_cpus = 0;
}
