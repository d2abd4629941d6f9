/* SPDX-License-Identifier: GPL-2.0-only */
/* What only the files of this folder share. */
#ifndef _KT_EVENT_INTERNAL_H
#define _KT_EVENT_INTERNAL_H

#include "event.h"

/* now.c */
void kt_now_report(unsigned long sessions, u32 tid, u32 prio);
void kt_now_write_pending(unsigned long sessions);
void kt_now_open(struct kt_cpu *c);
void kt_now_arrive(struct kt_cpu *c, struct task_struct *next,
		   const struct kt_kept *match);

/* loss.c */
void kt_event_losses_soon(struct kt_ring *r);
void kt_cost_opened(struct kt_ring *r, u64 since);

/* trigger.c */
void kt_triggers_check(const struct kt_triggers *all, unsigned int session,
		       const struct kt_record *rec);
void kt_triggers_skip(const struct kt_triggers *all, const struct kt_record *rec);

/* stack.c */
#ifdef CONFIG_STACKTRACE
void kt_stack_record(struct kt_ring *r, const struct kt_record *event);
#else
static inline void kt_stack_record(struct kt_ring *r, const struct kt_record *event)
{
}
#endif

#endif /* _KT_EVENT_INTERNAL_H */
