// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of CPUs and their rings that all rules use, and resetting it after a loss. */
#include "verify/internal.h"

/*
 * Return the state of a CPU, allocated if needed.  NULL: the number is too large, or there is no
 * memory, which @failed says.
 */
struct kt_vcpu *kt_verify_cpu(struct ktape_verify *v, uint32_t cpu)
{
	struct kt_vcpu *c;

	if (cpu >= KT_CPUS_MAX)
		return NULL;
	c = v->cpus[cpu];
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c) {
		v->failed = -ENOMEM;
		return NULL;
	}
	c->cpu = cpu;
	c->tid = -1;
	c->absent.until = v->question.from;
	v->cpus[cpu] = c;
	return c;
}

/* Return whether all records that the trace has of a ring were checked. */
bool kt_verify_exhausted(const struct ktape_verify *v, uint32_t cpu, unsigned int ring)
{
	const struct ktape_trace *t = v->trace;

	for (size_t i = 0; i < t->nr_streams; i++) {
		const struct kt_stream *s = t->streams[i];

		if (s->cpu == cpu && s->kind == ring && s->in_heap)
			return false;
	}
	return true;
}

/* Begin counting anew after missing packets, which the caller has reported. */
void kt_ring_hole(struct kt_vring *r)
{
	r->hole = true;
	r->based = false;
	r->headed = false;
	r->counted = false;
	r->exact = false;
}

/* Return the losses between the ends of two packets that the ring did not count. */
uint64_t kt_ring_missed_between(const struct kt_vring *r,
				const struct kt_counts *now, uint64_t discarded)
{
	uint64_t reported = discarded - r->head_discarded;
	uint64_t own = now->lost - r->head.lost;

	/*
	 * The ring counts losses from before the reader attached, packets do not.  So
	 * for the first packet it is not known how many of the ring's losses are in
	 * @discarded, and @own may be larger.
	 */
	if (discarded < r->head_discarded || reported < own)
		return 0;
	return reported - own;
}

/* Return the missed events up to now, including those that an open packet reports. */
uint64_t kt_ring_missed(const struct kt_vring *r)
{
	return r->missed +
	       (r->open ? kt_ring_missed_between(r, &r->ahead, r->discarded) : 0);
}

/*
 * Return whether markers that explain an event at @ts may not be in the trace, because the
 * control ring was not read that far.
 */
bool kt_verify_unmarked(const struct ktape_verify *v, const struct kt_vcpu *c,
			uint64_t ts)
{
	const struct kt_vring *r = &c->ring[KTAPE_RING_CONTROL];

	return ts > r->ts_end && r->there && c->state != KT_STATE_OFF &&
	       !(v->trace->live && !v->trace->ended) &&
	       kt_verify_exhausted(v, c->cpu, KTAPE_RING_CONTROL);
}

/* Forget the running thread and handlers of the CPU. */
void kt_cpu_forget(struct kt_vcpu *c)
{
	c->tid = -1;
	memset(&c->irqs, 0, sizeof(c->irqs));
	memset(&c->softirqs, 0, sizeof(c->softirqs));
}

/*
 * Forget the running thread and handlers of the CPU and the calls of all threads,
 * because events are missing up to @until.  Pairs are not checked up to then.
 */
void kt_verify_doubt(struct ktape_verify *v, struct kt_vcpu *c, uint64_t until)
{
	c->doubt_until = kt_max(c->doubt_until, until);
	v->doubt_until = kt_max(v->doubt_until, until);
	v->epoch++;
	kt_cpu_forget(c);
}
