// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a discard session does when its readers do not keep up: which classes
 * it sheds first, and for how long it waits for one that stalls.
 */
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "control.h"
#include "session.h"

#define SHED_PERCENT	75
#define WATCH_MIN	max(HZ / 100, 1)
#define WATCH_MAX	HZ

static const struct {
	u8 kind;
	u8 priority;
} classes[KTAPE_CLASSES] = {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	[number] = { KTAPE_RING_##ring, priority },
#include <ktape/events.h>
};

/* Does it record anything in event rings that is more important than @level? */
static bool policy_has_above(const struct kt_session *s, unsigned int level)
{
	unsigned int i, class;

	for (i = 0; i < KTAPE_OPCODES; i++) {
		class = kt_event_class(i);
		if (kt_mask_has(s->mask, i) && kt_event_opcode_exists(i) &&
		    classes[class].kind == KTAPE_RING_EVENT &&
		    classes[class].priority > level)
			return true;
	}
	return false;
}

/* Bytes in use above which priority @level is shed. */
static unsigned long policy_shed_at(const struct kt_session *s,
				    unsigned int level)
{
	u64 size = s->size[KTAPE_RING_EVENT];
	/* The first at the given part, the second in the middle of the rest. */
	u32 halves = s->shed_percent * 2 + level * (100 - s->shed_percent);

	if (s->mode != KTAPE_MODE_DISCARD || !s->shed_percent ||
	    !policy_has_above(s, level))
		return ~0UL;
	return div_u64(size * halves, 200);
}

/**
 * kt_session_sheds() - tell the rings from where on classes are shed
 * @s: the session, whose profile, policy or rings have changed
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_sheds(struct kt_session *s)
{
	unsigned int cpu, level;
	unsigned long at;
	struct kt_ring *r;

	for (level = 0; level < KT_SHED_LEVELS; level++) {
		at = policy_shed_at(s, level);
		for_each_possible_cpu(cpu) {
			r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
			if (r)
				WRITE_ONCE(r->shed_at[level], at);
		}
	}
}

static void policy_evict(struct kt_session *s, const struct kt_stalled *who)
{
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	s->evicted++;
	if (s->active)
		kt_control_evict(s, who->id, who->pid, who->ms);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
}

static void policy_watch_work(struct work_struct *work)
{
	struct kt_session *s =
		container_of(work, struct kt_session, watch.work);
	struct kt_stalled who;
	u32 ms = READ_ONCE(s->stall_ms);

	while (ms && kt_reader_evict(s, msecs_to_jiffies(ms), &who))
		policy_evict(s, &who);
	if (READ_ONCE(s->running))
		kt_session_watch(s);
}

/**
 * kt_session_watch() - look after readers from now on, if the policy says so
 * @s: the session, which records
 *
 * Context: process context.
 */
void kt_session_watch(struct kt_session *s)
{
	u32 ms = READ_ONCE(s->stall_ms);

	if (ms && s->mode == KTAPE_MODE_DISCARD)
		schedule_delayed_work(&s->watch,
				      clamp_t(unsigned long,
					      msecs_to_jiffies(ms) / 4,
					      WATCH_MIN, WATCH_MAX));
}

/**
 * kt_session_policy() - change or tell the policy
 * @s: the session
 * @p: operation and operand, checked; receives what is in force
 *
 * Context: process context, may sleep.
 */
void kt_session_policy(struct kt_session *s, struct ktape_policy *p)
{
	mutex_lock(&kt_session_control);
	if (p->op == KTAPE_POLICY_SET) {
		mutex_lock(&kt_session_lock);
		s->shed_percent = p->shed_percent;
		WRITE_ONCE(s->stall_ms, p->stall_ms);
		kt_session_sheds(s);
		mutex_unlock(&kt_session_lock);
		if (s->running)
			kt_session_watch(s);
	}
	p->shed_percent = s->shed_percent;
	p->stall_ms = s->stall_ms;
	p->evicted = READ_ONCE(s->evicted);
	mutex_unlock(&kt_session_control);
}

/**
 * kt_session_policy_init() - the policy of a new session
 * @s: the session
 *
 * Context: process context.
 */
void kt_session_policy_init(struct kt_session *s)
{
	INIT_DELAYED_WORK(&s->watch, policy_watch_work);
	s->shed_percent = SHED_PERCENT;
}
