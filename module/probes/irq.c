// SPDX-License-Identifier: GPL-2.0-only
/* Hard and soft interrupts. */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/jiffies.h>
#include <trace/events/irq.h>

#include "event/event.h"
#include "names/late.h"
#include "internal.h"

#define IRQ_BITS	18
#define IRQ_MASK	((1U << IRQ_BITS) - 1)

#define LOOKED		4096U

/**
 * struct looked - an interrupt whose name was looked at, by its number
 * @irq: its number
 * @name: where that of its handler was
 * @tick: when, in jiffies
 * @mark: number and hash of the name that was noted then
 *
 * Interrupts whose numbers differ by a multiple of LOOKED share one: it is that of
 * the first of them in a tick until the tick is over.
 */
struct looked {
	u32 irq;
	const char *name;
	u32 tick;
	u32 mark;
};

static struct looked looked[LOOKED];

/*
 * The first handler of the interrupt, NULL if it has none.  free_irq() on another
 * CPU may unlink it at any moment, so each pointer is loaded once; it frees no
 * handler before ours has returned.
 */
static const struct irqaction *first_handler(unsigned int irq)
{
	struct irq_data *data = irq_get_irq_data(irq);
	const struct irq_desc *desc = data ? irq_data_to_desc(data) : NULL;

	return desc ? READ_ONCE(desc->action) : NULL;
}

/*
 * Handlers that share an interrupt may have a name each: it goes by that of the
 * first one that has any.
 */
static const char *name_of(unsigned int irq, const struct irqaction *action)
{
	const struct irqaction *next;

	if (!(action->flags & IRQF_SHARED))
		return action->name;
	next = first_handler(irq);
	while (next && !next->name)
		next = READ_ONCE(next->next);
	return next ? next->name : action->name;
}

/* request_irq() takes NULL for a name: then a name of before is gone. */
static noinline void look_at_name(struct looked *l, unsigned int irq,
				  const struct irqaction *action)
{
	const char *name = name_of(irq, action);
	const u32 mark = kt_name_hash(name) * 31 + irq;

	/* If there is no room for it now, there may be at the next tick. */
	WRITE_ONCE(l->irq, irq);
	WRITE_ONCE(l->name, action->name);
	WRITE_ONCE(l->tick, (u32)jiffies);
	if (mark != READ_ONCE(l->mark) &&
	    kt_name_note(KTAPE_OBJ_IRQ, irq, name))
		WRITE_ONCE(l->mark, mark);
}

/*
 * The handlers of a shared interrupt take turns, and each has a name; so do
 * interrupts that share a place here.  If each of them were looked at when it comes
 * after another one, each would have a name noted.
 */
static __always_inline bool is_looked_at(const struct looked *l,
					 unsigned int irq,
					 const struct irqaction *action)
{
	return READ_ONCE(l->tick) == (u32)jiffies &&
	       (READ_ONCE(l->name) == action->name ||
		READ_ONCE(l->irq) != irq || action->flags & IRQF_SHARED);
}

/*
 * Nothing tells that an interrupt was freed and requested again.  A name at
 * another address is looked at there and then.  But the next owner may have its
 * action, handler and the buffer of its name at the same addresses, so a name is
 * looked at once a tick in any case.  Until then the next owner's events go by the
 * name of the one before.
 */
static void notrace probe_irq_handler_entry(void *data, int irq,
					    struct irqaction *action)
{
	struct looked *l = &looked[(unsigned int)irq % LOOKED];

	kt_probe_enter();
	if (unlikely(!is_looked_at(l, irq, action)) && KT_WANTED(IRQ_HANDLER_ENTRY))
		look_at_name(l, irq, action);
	KT_EVENT0(IRQ_HANDLER_ENTRY, irq & IRQ_MASK);
	kt_probe_leave();
}

static void notrace probe_irq_handler_exit(void *data, int irq,
					   struct irqaction *action, int ret)
{
	kt_probe_enter();
	KT_EVENT0(IRQ_HANDLER_EXIT,
		  (irq & IRQ_MASK) | ((u32)ret & 3) << IRQ_BITS);
	kt_probe_leave();
}

static void notrace probe_softirq_raise(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_EVENT0(SOFTIRQ_RAISE, vec);
	kt_probe_leave();
}

static void notrace probe_softirq_entry(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_EVENT0(SOFTIRQ_ENTRY, vec);
	kt_probe_leave();
}

static void notrace probe_softirq_exit(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_EVENT0(SOFTIRQ_EXIT, vec);
	kt_probe_leave();
}

struct kt_probe kt_probes_irq[] = {
	{
		.name = "irq_handler_entry",
		.func = KT_PROBE_FUNC(NULL, probe_irq_handler_entry,
				      irq_handler_entry, int,
				      struct irqaction *),
		.events = { KTAPE_EV_IRQ_HANDLER_ENTRY },
	}, {
		.name = "irq_handler_exit",
		.func = KT_PROBE_FUNC(NULL, probe_irq_handler_exit,
				      irq_handler_exit, int, struct irqaction *,
				      int),
		.events = { KTAPE_EV_IRQ_HANDLER_EXIT },
	}, {
		.name = "softirq_raise",
		.func = KT_PROBE_FUNC(NULL, probe_softirq_raise, softirq_raise,
				      unsigned int),
		.events = { KTAPE_EV_SOFTIRQ_RAISE },
	}, {
		.name = "softirq_entry",
		.func = KT_PROBE_FUNC(NULL, probe_softirq_entry, softirq_entry,
				      unsigned int),
		.events = { KTAPE_EV_SOFTIRQ_ENTRY },
	}, {
		.name = "softirq_exit",
		.func = KT_PROBE_FUNC(NULL, probe_softirq_exit, softirq_exit,
				      unsigned int),
		.events = { KTAPE_EV_SOFTIRQ_EXIT },
	},
	{}
};
