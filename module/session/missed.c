// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes into a session's trace what no ring can count: hits of probes that never
 * reached the tracer.
 *
 * The kernel counts them for all CPUs together, and has no notifier for that.  So the
 * counts are read at fixed moments, and each time one record for each probe of the
 * session says what was missed since the time before, and when that was (want bits say which
 * sessions record an event on a CPU):
 *
 *	start	read the counts, set want bits, on-markers
 *	stop	off-markers, clear want bits, synchronize_rcu(), read the counts, ledger
 *
 * and in between at changes of the profile, with clock_sync records (CPU hotplug,
 * resume) and at a flush.  A hit is counted in the handler, with preemption disabled.
 * Therefore each one that was missed between on-marker and off-marker is between the
 * two readings.
 *
 * Each online CPU writes all records, so that they are lost only together with the
 * markers of that CPU.  A record with count 0 says that nothing was missed until then.
 */
#include <linux/string.h>

#include "probes/probes.h"
#include "internal.h"

static void missed_add(struct kt_misses *l, unsigned int opcode,
		       unsigned int reason, u64 count)
{
	struct kt_miss *miss = &l->miss[l->nr];

	miss->opcode = opcode;
	miss->reason = reason;
	miss->count = count;
	l->nr++;
}

/* Read the counts of one run-time probe.  @l: NULL = only remember them. */
static void missed_read(struct kt_session *s, unsigned int opcode,
			struct kt_misses *l)
{
	u64 *before = s->missed[opcode - KTAPE_OP_PROBE];
	u64 now[KTAPE_MISSED_REASONS];
	bool attached = kt_kprobe_missed(opcode, now);
	unsigned int i, was = l ? l->nr : 0;

	for (i = 0; l && i < KTAPE_MISSED_REASONS; i++)
		if (now[i] != before[i])
			missed_add(l, opcode, i, now[i] - before[i]);
	if (l && !attached)
		missed_add(l, opcode, KTAPE_MISSED_DETACHED, 0);
	else if (l && l->nr == was)
		missed_add(l, opcode, KTAPE_MISSED_BUSY, 0);
	memcpy(before, now, sizeof(now));
}

/**
 * kt_session_missed_begin() - read the counts before the session records
 * @s: the session, whose probes are attached and whose want bits are clear
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_missed_begin(struct kt_session *s)
{
	unsigned int i;

	memcpy(s->counted, s->recordable, sizeof(s->counted));
	s->misses.last = kt_clock();
	s->misses.reading = 0;
	for (i = 0; i < KTAPE_PROBES; i++)
		missed_read(s, KTAPE_OP_PROBE + i, NULL);
}

/**
 * kt_session_missed_extend() - count what will be missed of more events, too
 * @s: the session, which runs
 * @mask: events that an on-marker will name, bit n is opcode n
 *
 * Until the change of the profile calls kt_session_missed_record(), each reading of the
 * counts includes those of the former events.
 *
 * Context: process context with kt_session_lock, before the want bits are set.
 */
void kt_session_missed_extend(struct kt_session *s, const u64 *mask)
{
	unsigned int i;

	for (i = 0; i < KTAPE_PROBES; i++)
		if (!kt_mask_has(s->counted, KTAPE_OP_PROBE + i))
			missed_read(s, KTAPE_OP_PROBE + i, NULL);
	for (i = 0; i < KTAPE_MASK_WORDS; i++)
		s->counted[i] |= mask[i];
}

/**
 * kt_session_missed_record() - record what was missed since the time before
 * @s: the session, which runs
 * @failed: events that are not recorded although their tracepoint exists, because
 *	attaching failed; or NULL
 *
 * Context: process context with cpus_read_lock() (or the hotplug lock for writing) and
 * kt_session_lock.
 */
void kt_session_missed_record(struct kt_session *s, const u64 *failed)
{
	struct kt_misses *l = &s->misses;
	const u64 began = kt_clock();
	unsigned int i;
	u64 any = 0;

	l->nr = 0;
	l->first = l->last - l->reading;
	for (i = 0; i < KTAPE_PROBES; i++)
		missed_read(s, KTAPE_OP_PROBE + i,
			    kt_mask_has(s->counted, KTAPE_OP_PROBE + i) ? l : NULL);
	for (i = 0; i < KTAPE_MASK_WORDS; i++) {
		l->failed[i] = failed ? failed[i] & s->counted[i] : 0;
		any |= l->failed[i];
	}
	l->last = kt_clock();
	l->reading = l->last - began;
	if (l->nr || any)
		kt_control_missed(s, l);
}
