/* SPDX-License-Identifier: GPL-2.0-only */
/* Call stacks that follow the events for which they were asked. */
#ifndef _KT_STACK_H
#define _KT_STACK_H

#include "ring/ring.h"

struct module;

#ifdef CONFIG_STACKTRACE

void kt_stack_record(struct kt_ring *r, const struct kt_record *event);
void kt_stack_leave_out(const void *function);
void kt_stack_module(const struct module *mod);

#else

static inline void kt_stack_record(struct kt_ring *r,
				   const struct kt_record *event)
{
}

static inline void kt_stack_leave_out(const void *function)
{
}

static inline void kt_stack_module(const struct module *mod)
{
}

#endif /* CONFIG_STACKTRACE */
#endif /* _KT_STACK_H */
