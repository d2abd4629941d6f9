// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that probes find, and the names that never change.
 *
 * A probe that may run in an interrupt must not write to the registry, which is done in task
 * context only.  It copies the name into a small table and queues an irq_work, which
 * schedules a work item that enters the name.  A probe that finds no room drops the name and
 * tries again when its object occurs again.
 */
#include <linux/atomic.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

#include "names.h"
#include "ring/ring.h"

#define PENDING 32 /* names that can be on their way at a time */

enum { FREE, BUSY, READY };

/**
 * struct pending - a name on its way into the registry
 * @state: FREE; BUSY: a probe is filling it in; READY: the work item may take it
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @since: trace clock when the probe found the name
 * @name: the name, empty = the object has no name any more
 */
struct pending {
	unsigned int state;
	u32 type;
	u32 id;
	u64 since;
	char name[sizeof_field(struct ktape_object_entry, name)];
};

static struct pending pending[PENDING];
static atomic_t pending_next;

/*
 * Return the name that was found first, or NULL.  Names are entered in this order,
 * so that an object with several pending names ends up with the latest.
 */
static struct pending *deferred_find_oldest(void)
{
	struct pending *p, *oldest = NULL;

	for (p = pending; p < pending + PENDING; p++) {
		/* Pairs with the release in kt_name_note(). */
		if (smp_load_acquire(&p->state) == READY &&
		    (!oldest || p->since < oldest->since))
			oldest = p;
	}
	return oldest;
}

static void deferred_enter_names(struct work_struct *work)
{
	struct pending *p;

	while ((p = deferred_find_oldest())) {
		kt_registry_replace(p->type, p->id, 0, 0, p->name, p->since);
		/* Pairs with the cmpxchg() in kt_name_note(). */
		smp_store_release(&p->state, FREE);
	}
}

static DECLARE_WORK(name_work, deferred_enter_names);

static void deferred_start_work(struct irq_work *work)
{
	schedule_work(&name_work);
}

static struct irq_work name_irq;

/**
 * kt_name_note() - Have a name entered into the registry soon
 * @type: enum ktape_object, a type whose objects differ by @id alone
 * @id: number of the object within its type
 * @name: its name, NULL if it has none any more
 *
 * Only the next place in turn is tried, so that a probe does not search.
 *
 * Context: any, NMI included.
 * Return: true; false if that place is taken: try again when the object occurs again.
 */
bool notrace kt_name_note(u32 type, u32 id, const char *name)
{
	unsigned int i = (unsigned int)atomic_inc_return(&pending_next);
	struct pending *p = &pending[i % PENDING];

	/* Pairs with the release in deferred_enter_names(). */
	if (cmpxchg(&p->state, FREE, BUSY) != FREE)
		return false;
	p->type = type;
	p->id = id;
	p->since = kt_clock();
	strscpy(p->name, name ?: "", sizeof(p->name));
	/* Pairs with the acquire in deferred_find_oldest(). */
	smp_store_release(&p->state, READY);
	irq_work_queue(&name_irq);
	return true;
}

/* By softirq number, as in /proc/softirqs. */
static const char *const softirqs[] = {
	"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
	"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU",
};

static const struct {
	u32 major;
	const char *name;
} majors[] = {
	{ KTAPE_MAJOR_KERNEL, "kernel" }, { KTAPE_MAJOR_REPORT, "report" },
	{ KTAPE_MAJOR_RAS, "ras" },	  { KTAPE_MAJOR_BLOCK, "block" },
	{ KTAPE_MAJOR_NET, "net" },	  { KTAPE_MAJOR_THERMAL, "thermal" },
};

/**
 * kt_names_init() - Enter the names of softirqs and of the kernel's exceptions
 *
 * Context: module load, before the first probe.
 */
void kt_names_init(void)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(softirqs) != NR_SOFTIRQS);
	init_irq_work(&name_irq, deferred_start_work);
	for (i = 0; i < ARRAY_SIZE(softirqs); i++)
		kt_registry_set(KTAPE_OBJ_SOFTIRQ, i, 0, 0, softirqs[i]);
	for (i = 0; i < ARRAY_SIZE(majors); i++)
		kt_registry_set(KTAPE_OBJ_EXCEPTION, majors[i].major, 0, 0,
				majors[i].name);
}

/**
 * kt_names_exit() - Wait for the names that are on their way
 *
 * Context: module unload, after the last probe.
 */
void kt_names_exit(void)
{
	irq_work_sync(&name_irq);
	cancel_work_sync(&name_work);
}
