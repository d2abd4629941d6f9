// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules pair and switch on one CPU: interrupt handlers that begin must end, properly
 * nested, and the thread that is switched out must be the one that was switched in.
 *
 * After a loss, a marker or a filter, and where markers may be missing, the running thread
 * and handlers are not known.  Nothing is reported until they are known again.  At a thread
 * switch no handler can be running, so the handlers are known from there on.
 */
#include "verify/call.h"

/* A pair of events and the bits of dat20 that have to agree. */
struct pair {
	uint8_t begin;
	uint8_t end;
	uint32_t bits;
	const char *name;
};

static const struct pair irq_pair = { KTAPE_EV_IRQ_HANDLER_ENTRY,
				      KTAPE_EV_IRQ_HANDLER_EXIT, 0x3ffff,
				      "interrupt" };

static const struct pair softirq_pair = { KTAPE_EV_SOFTIRQ_ENTRY,
					  KTAPE_EV_SOFTIRQ_EXIT, 0xff,
					  "soft interrupt" };

/*
 * At a packet's first record, check the generation (not of a conversion) and the thread that the
 * packet header names.
 * A header without a thread of its own says that the last one still runs (KTAPE_CTX_CONTINUED) or
 * that it is not known.
 */
void kt_verify_head_thread(struct ktape_verify *v, struct kt_vcpu *c,
			   const struct kt_stream *s)
{
	const uint8_t *head = s->packet.data;
	uint8_t context = head[offsetof(struct ktape_block, context)];
	int32_t tid = (int32_t)KT_HEAD32(head, tid);

	if (!v->trace->info.converted)
		kt_parts_generation(v, c, s);
	if (s->kind != KTAPE_RING_EVENT || context == KTAPE_CTX_CONTINUED)
		return;
	if (context == KTAPE_CTX_UNKNOWN) {
		c->tid = -1;
		c->switched = KT_HEAD64(head, ts_begin);
		return;
	}
	if (c->tid >= 0 && tid != c->tid && !c->filters &&
	    kt_verify_is_enabled(c, KTAPE_EV_SCHED_SWITCH) &&
	    KT_HEAD64(head, ts_begin) > c->doubt_until &&
	    !kt_verify_unmarked(v, c, KT_HEAD64(head, ts_begin)))
		kt_verify_wrong(v, KTAPE_RULE_SWITCH, s,
				"the packet begins with thread %d, but thread %d was switched in last",
				tid, c->tid);
	c->tid = tid;
}

/*
 * Report the end of a handler of kind @name that is not the innermost one.  If no handler is
 * known, it is reported only if no others can be running (@sure).  From then on the handlers of a
 * native trace are not known until the next thread switch.
 */
void kt_pair_unmatched(struct ktape_verify *v, struct kt_nest *n, uint32_t id,
		       const char *name)
{
	if (n->nr)
		kt_verify_event_wrong(v, KTAPE_RULE_PAIR,
				      "%s %u ends while %u is running", name,
				      id, n->id[n->nr - 1]);
	else if (n->sure)
		kt_verify_event_wrong(v, KTAPE_RULE_PAIR,
				      "%s %u ends without a begin", name, id);
	n->nr = 0;
	n->sure &= !!v->foreign;
}

/*
 * At a thread switch, check that no handler is running.  @known: begins and ends of handlers are
 * recorded.
 */
void kt_pair_none(struct ktape_verify *v, struct kt_nest *n, const char *name,
		  bool known)
{
	if (n->nr && known)
		kt_verify_event_wrong(
			v, KTAPE_RULE_PAIR,
			"a thread switch while %s %u is running: its end is missing",
			name, n->id[n->nr - 1]);
	n->nr = 0;
	n->sure = known;
}

/* At a thread switch, check that the thread @prev was running. */
void kt_pair_switch(struct ktape_verify *v, const struct kt_vcpu *c, int32_t prev)
{
	if (c->tid >= 0 && prev != c->tid)
		kt_verify_event_wrong(
			v, KTAPE_RULE_SWITCH,
			"thread %d is switched out, but thread %d was switched in last",
			prev, c->tid);
}

static bool has_pair(const struct kt_vcpu *c, const struct pair *p)
{
	return kt_verify_is_enabled(c, p->begin) && kt_verify_is_enabled(c, p->end);
}

static void take_pair(struct ktape_verify *v, struct kt_vcpu *c, struct kt_nest *n,
		      const struct pair *p, const struct ktape_event *e)
{
	if (!has_pair(c, p))
		return;
	if (e->opcode == p->begin) {
		kt_nest_begin(n, e->dat20 & p->bits);
	} else if (e->opcode == p->end) {
		if (!kt_nest_end(n, e->dat20 & p->bits))
			kt_pair_unmatched(v, n, e->dat20 & p->bits, p->name);
	} else if (e->opcode == KTAPE_EV_SCHED_SWITCH) {
		kt_pair_none(v, n, p->name, true);
	}
}

static void take_pair_switch(struct ktape_verify *v, struct kt_vcpu *c,
			     const struct ktape_event *e)
{
	if (kt_verify_is_enabled(c, KTAPE_EV_SCHED_SWITCH))
		kt_pair_switch(v, c, (int32_t)ktape_event_arg(e, 0));
	c->tid = (int32_t)ktape_event_arg(e, 1);
	c->switched = e->ts;
}

/* Check an event.  Return: whether the calls of its thread can be checked. */
bool kt_verify_pairs(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e)
{
	if (e->kind != KTAPE_RING_EVENT || !e->known)
		return false;
	if (c->filters || e->ts <= c->doubt_until) {
		kt_verify_doubt(v, c, 0);
		return false;
	}
	if (kt_verify_unmarked(v, c, e->ts)) {
		kt_cpu_forget(c);
		/* A switch may be missing, so the call may be that of any thread. */
		v->epoch += kt_call_is(e);
		return false;
	}
	take_pair(v, c, &c->irqs, &irq_pair, e);
	if (!v->rt)
		take_pair(v, c, &c->softirqs, &softirq_pair, e);
	if (e->opcode == KTAPE_EV_SCHED_SWITCH && e->nargs == 2) {
		take_pair_switch(v, c, e);
	} else if (e->opcode == KTAPE_EV_CONTEXT && e->nargs == 1) {
		c->tid = (int32_t)ktape_event_arg(e, 0);
		c->switched = e->ts;
	}
	return true;
}

/* Check whether begin and end of interrupt handlers are compared on a CPU. */
bool kt_pairs_irqs(const struct kt_vcpu *c)
{
	return has_pair(c, &irq_pair);
}

/* The same for soft interrupts.  With PREEMPT_RT they are not: threads are switched inside them. */
bool kt_pairs_softirqs(const struct ktape_verify *v, const struct kt_vcpu *c)
{
	return !v->rt && has_pair(c, &softirq_pair);
}
