// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of ThreadX by their numbers, their times, and the user events that hold them in
 * a native trace.
 */
#include <ktape/formats.h>

#include "rtos/threadx.h"

#define PRIO_MAX 1023U /* largest that fits the 10 bits of a priority word */

/* Search a table in ascending order of ids, which ends with id 0. */
static const struct kt_threadx_kind *find_kind(const struct kt_threadx_kind *k,
					       uint32_t id)
{
	for (; k->id && k->id <= id; k++) {
		if (k->id == id)
			return k;
	}
	return NULL;
}

/* Return what events of a number are, or NULL for an unknown one. */
const struct kt_threadx_kind *kt_threadx_kind(uint32_t id)
{
	const struct kt_threadx_kind *k = find_kind(kt_threadx_kinds, id);

	return k ? k : find_kind(kt_threadx_kinds_ux, id);
}

/* Check whether a context is a thread or idle, so neither an interrupt nor the initialisation. */
bool kt_threadx_is_thread(uint32_t context)
{
	return context != KT_THREADX_ISR && context != KT_THREADX_INIT;
}

/*
 * Return the thread id for a context: its address without bit 31, 0 for idle, -1 for an
 * interrupt or the initialisation.
 */
int32_t kt_threadx_tid(uint32_t context)
{
	return kt_threadx_is_thread(context) ? (int32_t)(context & INT32_MAX) : -1;
}

/* Return the time stamp that a time has in the file. */
uint32_t kt_threadx_stamp(const struct kt_threadx_head *h, uint64_t ticks)
{
	uint32_t step = (uint32_t)ticks;

	return (h->decreasing ? h->first - step : h->first + step) & h->mask;
}

/**
 * kt_threadx_take_head() - read the user event that holds the header of a trace
 * @h: filled
 * @e: the event
 *
 * Return: false if @e is another event.
 */
bool kt_threadx_take_head(struct kt_threadx_head *h, const struct ktape_event *e)
{
	if (!e->known || e->opcode != KTAPE_EV_USER_EVENT || e->nargs < 5 ||
	    ktape_event_arg(e, 0) != (KTAPE_FORMAT_ID_TRACEX | KT_THREADX_ID_HEADER))
		return false;
	h->mask = ktape_event_arg(e, 1);
	h->decreasing = ktape_event_arg(e, 2) & 1;
	h->first = ktape_event_arg(e, 3);
	h->name_size = ktape_event_arg(e, 4);
	return true;
}

/**
 * kt_threadx_take() - read the user event that holds an event of ThreadX
 * @entry: filled
 * @h: header of the trace
 * @e: the event
 *
 * Return: false if @e is another event.
 */
bool kt_threadx_take(struct kt_threadx_entry *entry,
		     const struct kt_threadx_head *h, const struct ktape_event *e)
{
	uint32_t id;

	if (!e->known || e->opcode != KTAPE_EV_USER_EVENT || e->nargs < 7)
		return false;
	id = ktape_event_arg(e, 0);
	/* Users' events of ThreadX have their own numbers, all others those of the format. */
	if ((id & KTAPE_FORMAT_ID_MASK) == KTAPE_FORMAT_ID_TRACEX)
		id &= ~KTAPE_FORMAT_ID_MASK;
	else if (id < KT_THREADX_USER)
		return false;
	if (id > KT_THREADX_EVENT_MASK)
		return false;
	entry->id = id;
	entry->ticks = e->ts;
	entry->core = e->cpu;
	entry->stamp = kt_threadx_stamp(h, e->ts);
	entry->context = ktape_event_arg(e, KT_THREADX_CONTEXT);
	entry->prio = ktape_event_arg(e, KT_THREADX_PRIO);
	for (unsigned int i = 0; i < 4; i++)
		entry->info[i] = ktape_event_arg(e, KT_THREADX_I1 + i);
	return true;
}

/* Return the priority word of a thread whose preemption threshold is its priority. */
static uint32_t packed_prio(uint32_t prio)
{
	prio = (uint32_t)kt_min(prio, PRIO_MAX);
	return KT_THREADX_THRESHOLD | prio << KT_THREADX_THRESHOLD_SHIFT | prio;
}

/*
 * Begin an event: its number, time, core and the context that the CPU is in.  A CPU without a
 * thread counts as in the initialisation.  In an interrupt the priority word has the interrupted
 * thread instead.
 */
void kt_threadx_put(struct kt_threadx_entry *x, const struct kt_threadx_cpu *c,
		    const struct ktape_event *e, uint32_t id)
{
	memset(x, 0, sizeof(*x));
	x->ticks = e->ts;
	x->core = e->cpu;
	x->id = id;
	if (c->nesting) {
		x->context = KT_THREADX_ISR;
		x->prio = c->tid;
	} else if (c->tid) {
		x->context = c->tid;
		x->prio = packed_prio(c->prio);
	} else {
		x->context = KT_THREADX_INIT;
	}
}
