/* SPDX-License-Identifier: GPL-2.0-only */
/* A trigger with its actions: what armed.c and trigger.c share. */
#ifndef _KT_SESSION_ARMED_H
#define _KT_SESSION_ARMED_H

#include <linux/workqueue.h>

#include "internal.h"

/**
 * struct kt_armed - a trigger and its actions
 * @trigger: part that writers use
 * @s: session of the trigger, which waits for the work items before it is freed
 * @target: number of the session to act on
 * @serial: serial of that session
 * @notify: eventfd; NULL = none
 * @act: carries out the actions
 * @snapshot: stops the session at the end of a snapshot
 * @watch: QUIET: checks for silence
 * @fired_at: QUIET: jiffies of the match after which the trigger last fired
 * @has_fired: QUIET: @fired_at is valid
 * @snapping: a snapshot waits for its end
 * @since: trace clock of the firing that began the snapshot
 * @deadline: jiffies at which the snapshot ends
 * @flags: KTAPE_TRIGGER_DONE, _SHORT
 * @held_ns: how far the rings reached back from @since, in ns
 *
 * Changed with kt_session_control held; @watch changes @fired_at and @has_fired without.
 */
struct kt_armed {
	struct kt_trigger trigger;
	struct kt_session *s;
	u32 target;
	u64 serial;
	struct eventfd_ctx *notify;
	struct work_struct act;
	struct delayed_work snapshot;
	struct delayed_work watch;
	unsigned long fired_at;
	bool has_fired;
	bool snapping;
	u64 since;
	unsigned long deadline;
	u32 flags;
	u64 held_ns;
};

/* Return the trigger that contains @t. */
static inline struct kt_armed *armed_of(struct kt_trigger *t)
{
	return container_of(t, struct kt_armed, trigger);
}

/* armed.c */
unsigned long kt_armed_silence(const struct kt_armed *a);
void kt_armed_watch(struct work_struct *work);
void kt_armed_reset(struct kt_armed *a);

#endif /* _KT_SESSION_ARMED_H */
