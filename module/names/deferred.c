// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of objects that probes come across.
 *
 * A probe cannot enter a name.  It copies it into a small table; an irq_work
 * starts a work item that enters it into the registry.  Whoever finds no room
 * there tries again when the object comes again.
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

#define PENDING		32

enum { FREE, BUSY, READY };

/**
 * struct pending - a name on its way
 * @state: FREE; BUSY: it is being written; READY: to be entered
 * @type: enum ktape_object
 * @id: within the type
 * @since: trace clock when it was seen
 * @name: the name, empty: it has none any more
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

/* The one that was seen first, so that the last name of an object stays. */
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
 * kt_name_note() - have the name of an object entered
 * @type: enum ktape_object, one that param1 does not tell apart
 * @id: within the type
 * @name: its name, NULL if it has none any more
 *
 * Context: any, NMI included.
 * Return: whether there was room for it.
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

/* As in /proc/softirqs. */
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
 * kt_names_init() - enter the names that never change
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
 * kt_names_exit() - wait for the last names
 *
 * Context: module unload, after the last probe.
 */
void kt_names_exit(void)
{
	irq_work_sync(&name_irq);
	cancel_work_sync(&name_work);
}
