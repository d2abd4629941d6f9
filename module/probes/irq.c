// SPDX-License-Identifier: GPL-2.0-only
/* Hard and soft interrupts. */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <trace/events/irq.h>

#include "../event.h"
#include "../names.h"
#include "../probe.h"

#define IRQ_BITS	18
#define IRQ_MASK	((1U << IRQ_BITS) - 1)

/* Interrupts beyond these numbers remain without a name. */
#define SEEN		4096U

/* Per interrupt the hash of the name that was noted, 0: none. */
static u32 seen[SEEN];

/*
 * The name itself is looked at: an interrupt that is freed and requested again
 * may have its action, handler and buffer of the name at the same addresses.
 * Of several handlers of one interrupt the first one gives the name.
 */
static noinline void note_name(unsigned int irq, const struct irqaction *action)
{
	const struct irq_desc *desc = NULL;
	struct irq_data *data;
	u32 mark;

	if (irq >= SEEN)
		return;
	if (action->flags & IRQF_SHARED) {
		/* The list stays while one of its handlers is called. */
		data = irq_get_irq_data(irq);
		if (data)
			desc = irq_data_to_desc(data);
		if (desc && desc->action)
			action = desc->action;
	}
	mark = kt_name_hash(action->name);
	if (mark != READ_ONCE(seen[irq]) &&
	    kt_name_note(KTAPE_OBJ_IRQ, irq, action->name))
		WRITE_ONCE(seen[irq], mark);
}

static void notrace probe_irq_handler_entry(void *data, int irq,
					    struct irqaction *action)
{
	kt_probe_enter();
	if (KT_WANTED(IRQ_HANDLER_ENTRY) &&
	    unlikely(READ_ONCE(seen[irq % SEEN]) != kt_name_hash(action->name)))
		note_name(irq, action);
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
