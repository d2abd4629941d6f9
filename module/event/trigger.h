/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers as the way of an event sees them.
 *
 * An opcode that a trigger of a session looks at has no fast route, as if a
 * filter applied to it; nobody else notices.
 */
#ifndef _KT_EVENT_TRIGGER_H
#define _KT_EVENT_TRIGGER_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>

#include <ktape/trigger.h>

#include "event.h"

struct kt_gates;

/**
 * struct kt_trigger - a condition, and what happened
 * @spec: what was asked for, constant
 * @gates: LONGER: pairs that have begun
 * @matches: since the session's start
 * @fired: likewise
 * @pending: firings on which nobody has acted; the first one queues @irq
 * @seen: QUIET: jiffies of the last match
 * @last: trace clock of the last firing
 * @irq: gets out of the writer's context
 */
struct kt_trigger {
	struct ktape_trigger spec;
	struct kt_gates *gates;
	atomic_t matches;
	atomic_t fired;
	atomic_t pending;
	unsigned long seen;
	u64 last;
	struct irq_work irq;
};

/**
 * struct kt_triggers - those of a session, replaced as a whole
 * @mask: opcodes that any of them looks at
 * @nr: how many
 * @trigger: these
 */
struct kt_triggers {
	u64 mask[KTAPE_MASK_WORDS];
	unsigned int nr;
	struct kt_trigger *trigger[KTAPE_TRIGGERS];
};

/* Per session, NULL: none.  Written with kt_session_control. */
extern struct kt_triggers __rcu *kt_triggers[];

static inline bool kt_triggers_look_at(const struct kt_triggers *all,
				       unsigned int opcode)
{
	return all->mask[opcode / 64] >> (opcode % 64) & 1;
}

void kt_trigger_look(const struct kt_triggers *all, unsigned int session,
		     const struct kt_record *rec);
void kt_triggers_held(const struct kt_triggers *all,
		      const struct kt_record *rec);
void kt_triggers_renew_gates(const struct kt_triggers *all);
bool kt_triggers_follow(const struct kt_triggers *all,
			const struct kt_gates *gates);
bool kt_triggers_pair(const struct kt_triggers *all, u32 opcode);
void kt_trigger_fire(struct kt_trigger *t, unsigned int session);
int kt_trigger_gate_of(u32 span);
void kt_trigger_mask(const struct ktape_trigger *spec, u64 *mask);
void kt_trigger_thread_exits(const struct task_struct *p);

#endif /* _KT_EVENT_TRIGGER_H */
