// SPDX-License-Identifier: GPL-2.0-only
/* Work items of workqueues. */
#include <linux/workqueue.h>
#include <trace/events/workqueue.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

#define ANY_CPU		0xffff

static __always_inline void queue_work_item(u32 cpu, struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_QUEUE_WORK,
		  cpu == WORK_CPU_UNBOUND ? ANY_CPU : cpu & ANY_CPU,
		  kt_token(work), kt_token_func((unsigned long)work->func));
	kt_probe_leave();
}

static void notrace probe_workqueue_queue_work(void *data, int cpu,
					       struct pool_workqueue *pwq,
					       struct work_struct *work)
{
	queue_work_item(cpu, work);
}

/* Until 5.19. */
static void notrace probe_workqueue_queue_work_u(void *data, unsigned int cpu,
						 struct pool_workqueue *pwq,
						 struct work_struct *work)
{
	queue_work_item(cpu, work);
}

static void notrace probe_workqueue_activate_work(void *data,
						  struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT1(WORKQUEUE_ACTIVATE_WORK, 0, kt_token(work));
	kt_probe_leave();
}

static void notrace probe_workqueue_execute_start(void *data,
						  struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_EXECUTE_START, 0, kt_token(work),
		  kt_token_func((unsigned long)work->func));
	kt_probe_leave();
}

/* The item may be gone: its function may have freed it. */
static void notrace probe_workqueue_execute_end(void *data,
						struct work_struct *work,
						work_func_t function)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_EXECUTE_END, 0, kt_token(work),
		  kt_token_func((unsigned long)function));
	kt_probe_leave();
}

/* Before 5.6. */
static void notrace probe_workqueue_execute_end1(void *data,
						 struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_EXECUTE_END, 0, kt_token(work), 0);
	kt_probe_leave();
}

struct kt_probe kt_probes_work[] = {
	{
		.name = "workqueue_queue_work",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_workqueue_queue_work_u,
				      workqueue_queue_work, unsigned int,
				      struct pool_workqueue *,
				      struct work_struct *),
			probe_workqueue_queue_work, workqueue_queue_work, int,
			struct pool_workqueue *, struct work_struct *),
		.events = { KTAPE_EV_WORKQUEUE_QUEUE_WORK },
	}, {
		.name = "workqueue_execute_end",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_workqueue_execute_end1,
				      workqueue_execute_end,
				      struct work_struct *),
			probe_workqueue_execute_end, workqueue_execute_end,
			struct work_struct *, work_func_t),
		.events = { KTAPE_EV_WORKQUEUE_EXECUTE_END },
	},
	KT_PROBE(workqueue_activate_work, WORKQUEUE_ACTIVATE_WORK,
		 probe_workqueue_activate_work, struct work_struct *),
	KT_PROBE(workqueue_execute_start, WORKQUEUE_EXECUTE_START,
		 probe_workqueue_execute_start, struct work_struct *),
	{}
};
