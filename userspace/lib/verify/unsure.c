// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * System calls that contradict what their thread did before, where the trace may lack the
 * records that explain it.
 *
 * If a recording ends while its session still records, each ring was read up to another moment.
 * A thread may have ended its call and begun another one on a CPU whose event ring ends
 * earlier, and then moved to the CPU of the event that seems wrong.  So the event is kept until
 * the end of the trace.  If the session was stopped by then, all rings were read to their ends,
 * and the call is wrong.  If the trace has nothing of a CPU, that CPU may always have the
 * explanation.
 *
 * If the thread did not leave its CPU in between, no other CPU can explain the event, and it is
 * reported at once.
 */
#include <stdarg.h>

#include "verify/call.h"

/*
 * Return whether a CPU may have recorded events before @ts that are not in the trace.  It
 * records none while it is offline or the session is stopped; the trace shows that up to the end
 * of the CPU's control ring.
 */
static bool ends_before(const struct kt_vcpu *c, uint64_t ts)
{
	bool rests = c->state == KT_STATE_OFF || c->state == KT_STATE_OFFLINE;

	return c->ring[KTAPE_RING_EVENT].ts_end < ts &&
	       !(rests && c->ring[KTAPE_RING_CONTROL].ts_end >= ts);
}

/* Return whether the trace has nothing of a CPU that ran before @ts. */
static bool has_nothing(const struct ktape_verify *v, unsigned int cpu, uint64_t ts)
{
	return kt_verify_lacks(v, cpu) || (v->without[cpu] && v->without[cpu] < ts);
}

/* Find a CPU of which events before @ts may be missing.  Return: KT_CPUS_MAX if none is. */
static unsigned int find_lacking(const struct ktape_verify *v, uint64_t ts,
				 bool *never)
{
	unsigned int found = KT_CPUS_MAX;

	*never = false;
	for (unsigned int i = 0; i < KT_CPUS_MAX && !*never; i++) {
		*never = has_nothing(v, i, ts);
		if (*never || (found == KT_CPUS_MAX && v->cpus[i] &&
			       ends_before(v->cpus[i], ts)))
			found = i;
	}
	return found;
}

/* Return whether the CPU has not switched threads since the thread's last call event. */
static bool has_stayed(const struct kt_vcpu *c, const struct kt_call *t)
{
	return kt_verify_is_enabled(c, KTAPE_EV_SCHED_SWITCH) &&
	       t->now.ts > c->switched;
}

/**
 * kt_call_wrong() - report a call that contradicts what its thread did before, or keep it
 *	until the end of the trace
 * @v: the check
 * @c: the CPU
 * @t: the thread, with what it did before
 * @e: begin or end of the call
 * @format: what is wrong
 */
void kt_call_wrong(struct ktape_verify *v, const struct kt_vcpu *c,
		   const struct kt_call *t, const struct ktape_event *e,
		   const char *format, ...)
{
	struct kt_calls *k = v->calls;
	struct kt_unsure u = { .cpu = KT_CPUS_MAX };
	char text[sizeof(u.at.text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!has_stayed(c, t))
		u.cpu = find_lacking(v, e->ts, &u.never);
	if (u.cpu == KT_CPUS_MAX) {
		kt_verify_wrong(v, KTAPE_RULE_PAIR, v->trace->current, "%s", text);
		return;
	}
	if (k->nr_unsure < KT_UNSURE_MAX) {
		u.at = kt_verify_place(v, KTAPE_RULE_PAIR, v->trace->current);
		memcpy(u.at.text, text, sizeof(text));
		k->unsure[k->nr_unsure] = u;
	}
	k->nr_unsure++;
}

/* Return whether the trace, which has ended, has all records that could explain the call. */
static bool is_wrong(const struct ktape_verify *v, const struct kt_unsure *u)
{
	const struct kt_vcpu *c = v->cpus[u->cpu];
	bool never;

	if (u->never)
		return false;
	if (v->finished)
		return true;
	/*
	 * From a pipe, records of the CPU up to the time of the event may have come after it.
	 * All of them were checked, unless an event came too late for the order of time.
	 */
	return !v->trace->late && c->ring[KTAPE_RING_EVENT].ts_end >= u->at.ts &&
	       find_lacking(v, u->at.ts, &never) == KT_CPUS_MAX;
}

/* Check the calls that had to wait for the end of the trace. */
void kt_unsure_end(struct ktape_verify *v)
{
	struct kt_calls *k = v->calls;
	const struct kt_unsure *first = NULL, *last = NULL;
	uint64_t nr = 0, more = 0;

	if (k->nr_unsure > KT_UNSURE_MAX)
		more = k->nr_unsure - KT_UNSURE_MAX;
	for (unsigned int i = 0; i < k->nr_unsure - more; i++) {
		const struct kt_unsure *u = &k->unsure[i];

		if (!is_wrong(v, u)) {
			first = first ? first : u;
			nr++;
			continue;
		}
		last = u;
		v->cpus[u->at.cpu]->damaged = true;
		kt_verify_wrong_at(v, &u->at, "%s", u->at.text);
	}
	/* Calls that were only counted are wrong only if all that were kept are. */
	if (more && last && !first)
		kt_verify_wrong_at(v, &last->at,
				   "%llu more calls like this one follow",
				   (unsigned long long)more);
	else
		nr += more;
	if (nr && first)
		kt_verify_note_at(v, &first->at,
				  "%llu begins and ends of calls from here on contradict what their threads did before, and are not checked: the trace may lack events of CPU %u up to then",
				  (unsigned long long)nr, first->cpu);
}
