// SPDX-License-Identifier: LGPL-2.1-or-later
/* Apply the rules of ktape verify that concern one CPU to a record. */
#include "stream/packet.h"
#include "verify/internal.h"

/* Check that the session is not stopped, and the order of control records. */
static void take_checked_record(struct ktape_verify *v, struct kt_vcpu *c,
				const struct ktape_event *e)
{
	kt_verify_recorded(v, c, e);
	/*
	 * Call this before @records is raised: a ledger, a control record with the counters
	 * of all classes, is compared with the number of records before it.
	 */
	kt_verify_marker(v, c, e);
}

/*
 * Check, once per packet, whether the clock steps back in the rest of the packet: a record
 * is held if it has the time of the record before, because its own is earlier.
 */
static bool is_stepped(struct kt_vring *r, const struct kt_stream *s)
{
	struct ktape_packet rest = s->packet;
	struct ktape_event e;

	if (r->steps_known)
		return r->steps;
	r->steps_known = true;
	r->steps = false;
	while (!r->steps && ktape_packet_next(&rest, &e, NULL) > 0)
		r->steps = kt_record_held(&e);
	return r->steps;
}

/*
 * Check the time of a record.  If the clock steps back inside a packet, records before
 * the step may be later than the packet's end, whose time the writer took from the clock
 * after the step.  The step itself is reported at the first record after it.
 */
static void check_time(struct ktape_verify *v, struct kt_vring *r,
		       const struct kt_stream *s, const struct ktape_event *e)
{
	bool held = kt_record_held(e);

	if (held && !r->held)
		kt_verify_wrong(
			v, KTAPE_RULE_TIME, s,
			"the trace clock went back: records from here on get the time of the record before, until the clock has caught up");
	r->held = held;
	if (e->ts > r->ts_end && e->opcode != KTAPE_TIME_EXTEND && !held &&
	    !is_stepped(r, s))
		kt_verify_wrong(v, KTAPE_RULE_TIME, s,
				"the record is later than the end of its packet");
}

/*
 * Apply the rules that concern one CPU to its event in @s.
 * Return: whether the system calls of the event's thread can be checked.
 */
bool kt_verify_local(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct kt_stream *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *desc = ktape_event_desc(e->opcode);
	struct kt_vring *r = &c->ring[e->kind];
	bool checked = false;

	/*
	 * The thread in a packet header is checked at the packet's first record and
	 * not when the packet is loaded, because control records of the same CPU can
	 * be read in between and explain a change of threads.
	 */
	if (e->offset == KTAPE_BLOCK_HEADER)
		kt_verify_head_thread(v, c, s);
	check_time(v, r, s, e);
	if (e->opcode == KTAPE_TIME_EXTEND)
		return false;
	if (e->opcode == KTAPE_EV_KERNEL_STACK && e->dat20 & KTAPE_STACK_CUT)
		c->stacks_cut++;
	/* A conversion may have left events out: only times and names can be checked. */
	if (!v->trace->info.converted)
		take_checked_record(v, c, e);
	r->records++;
	v->records++;
	if (e->known && desc)
		r->class[desc->event_class].records++;
	else
		r->unknown_class = true;
	if (!v->trace->info.converted)
		checked = kt_verify_pairs(v, c, e);
	/* For ktape verify --absent. */
	kt_absent_event(v, c, e);
	return checked;
}
