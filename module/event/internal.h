/* SPDX-License-Identifier: GPL-2.0-only */
/* What only the files of this folder share. */
#ifndef _KT_EVENT_INTERNAL_H
#define _KT_EVENT_INTERNAL_H

#include "event.h"

void kt_event_checked(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
		      struct task_struct *other);
void kt_switch_pay(unsigned long sessions);
void kt_switch_judge(void);
void kt_context_fill(struct ktape_block *block, const struct kt_record *rec);
void kt_context_unknown(struct ktape_block *block);
void kt_event_losses_soon(struct kt_ring *r);
void kt_cost_opened(struct kt_ring *r, u64 since);
void kt_trigger_look(const struct kt_triggers *all, unsigned int session,
		     const struct kt_record *rec);
void kt_triggers_held(const struct kt_triggers *all,
		      const struct kt_record *rec);

#ifdef CONFIG_STACKTRACE
void kt_stack_record(struct kt_ring *r, const struct kt_record *event);
#else
static inline void kt_stack_record(struct kt_ring *r,
				   const struct kt_record *event)
{
}
#endif

#endif /* _KT_EVENT_INTERNAL_H */
