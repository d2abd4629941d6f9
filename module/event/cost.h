/* SPDX-License-Identifier: GPL-2.0-only */
/* Time that the CPUs spend in the tracer, sampled. */
#ifndef _KT_EVENT_COST_H
#define _KT_EVENT_COST_H

#include <ktape/cost.h>

#include "ring/ring.h"

void kt_cost_opened(struct kt_ring *r, u64 since);
void kt_cost_sample(struct kt_ring *r);
void kt_cost_tell(struct ktape_cost *cost);

#endif /* _KT_EVENT_COST_H */
