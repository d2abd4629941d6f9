// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: handlers, soft interrupts, tasklets, interrupts between CPUs.
 *
 * The tracepoints of x86 for what arrives (reschedule_entry and so on, and the
 * local timer) stand beside those that all architectures have.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/jiffies.h>
#include <linux/string.h>
#include <linux/types.h>
#include <trace/events/ipi.h>
#include <trace/events/irq.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/trace/irq_vectors.h>
#endif

#include "event/event.h"
#include "internal.h"
#include "names/names.h"

/* ---- interrupts and soft interrupts -------------------------------------- */

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
static const struct irqaction *irq_first_action(unsigned int irq)
{
	struct irq_data *data = irq_get_irq_data(irq);
	const struct irq_desc *desc = data ? irq_data_to_desc(data) : NULL;

	return desc ? READ_ONCE(desc->action) : NULL;
}

/*
 * Handlers that share an interrupt may have a name each: it goes by that of the
 * first one that has any.
 */
static const char *irq_action_name(unsigned int irq,
				   const struct irqaction *action)
{
	const struct irqaction *next;

	if (!(action->flags & IRQF_SHARED))
		return action->name;
	next = irq_first_action(irq);
	while (next && !next->name)
		next = READ_ONCE(next->next);
	return next ? next->name : action->name;
}

/* request_irq() takes NULL for a name: then a name of before is gone. */
static noinline void irq_check_name(struct looked *l, unsigned int irq,
				    const struct irqaction *action)
{
	const char *name = irq_action_name(irq, action);
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
static __always_inline bool irq_is_checked(const struct looked *l,
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
	if (unlikely(!irq_is_checked(l, irq, action)) &&
	    KT_WANTED(IRQ_HANDLER_ENTRY))
		irq_check_name(l, irq, action);
	KT_INLINE0(IRQ_HANDLER_ENTRY, irq & IRQ_MASK);
	kt_probe_leave();
}

static void notrace probe_irq_handler_exit(void *data, int irq,
					   struct irqaction *action, int ret)
{
	kt_probe_enter();
	KT_INLINE0(IRQ_HANDLER_EXIT,
		  (irq & IRQ_MASK) | ((u32)ret & 3) << IRQ_BITS);
	kt_probe_leave();
}

static void notrace probe_softirq_raise(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_INLINE0(SOFTIRQ_RAISE, vec);
	kt_probe_leave();
}

static void notrace probe_softirq_entry(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_INLINE0(SOFTIRQ_ENTRY, vec);
	kt_probe_leave();
}

static void notrace probe_softirq_exit(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_INLINE0(SOFTIRQ_EXIT, vec);
	kt_probe_leave();
}

/* ---- tasklets ------------------------------------------------------------ */

#ifndef KT_HAVE_TP_tasklet_entry
KT_TP_MISSING(tasklet_entry);
KT_TP_MISSING(tasklet_exit);
#endif

static void notrace probe_tasklet_entry(void *data, struct tasklet_struct *t,
					void *func)
{
	kt_probe_enter();
	KT_EVENT2(TASKLET_ENTRY, 0, kt_token(t),
		  kt_token_func((unsigned long)func));
	kt_probe_leave();
}

/* The tasklet may be gone. */
static void notrace probe_tasklet_exit(void *data, struct tasklet_struct *t,
				       void *func)
{
	kt_probe_enter();
	KT_EVENT2(TASKLET_EXIT, 0, kt_token(t),
		  kt_token_func((unsigned long)func));
	kt_probe_leave();
}

/* ---- interrupts between CPUs --------------------------------------------- */

#ifndef KT_HAVE_TP_ipi_send_cpu
KT_TP_MISSING(ipi_send_cpu);
#endif
#ifndef KT_HAVE_TP_ipi_send_cpumask
KT_TP_MISSING(ipi_send_cpumask);
#endif

/* x86 has its own for what arrives, and none of the others calls these. */
#define NOT_CALLED	IS_ENABLED(CONFIG_X86)

#define CPU_MASK	0xfff

/* The kernel's texts begin with these, in this order. */
static const struct {
	const char *text;
	u8 length;
	u8 reason;
} reasons[] = {
#define REASON(begin, NAME) \
	{ begin, sizeof(begin) - 1, KTAPE_IPI_##NAME }
	REASON("Rescheduling", RESCHEDULE),
	REASON("Function call", CALL),
	REASON("Single function call", CALL_SINGLE),
	REASON("IRQ work", IRQ_WORK),
	REASON("CPU stop", STOP),
	REASON("Timer broadcast", TIMER),
#undef REASON
};

static u32 ipi_reason(const char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strncmp(text, reasons[i].text, reasons[i].length))
			return reasons[i].reason;
	return KTAPE_IPI_OTHER;
}

static u64 ipi_first_cpus(const struct cpumask *mask)
{
	const unsigned long *bits = cpumask_bits(mask);
	u64 cpus = bits[0];

	if (BITS_PER_LONG == 32 && sizeof(*mask) > sizeof(*bits))
		cpus |= (u64)bits[1] << 32;
	return cpus;
}

static void notrace probe_ipi_raise(void *data, const struct cpumask *mask,
				    const char *reason)
{
	u64 cpus = ipi_first_cpus(mask);

	kt_probe_enter();
	KT_EVENT2(IPI_RAISE, ipi_reason(reason), (u32)cpus, (u32)(cpus >> 32));
	kt_probe_leave();
}

static void notrace probe_ipi_entry(void *data, const char *reason)
{
	kt_probe_enter();
	KT_EVENT0(IPI_ENTRY, ipi_reason(reason));
	kt_probe_leave();
}

static void notrace probe_ipi_exit(void *data, const char *reason)
{
	kt_probe_enter();
	KT_EVENT0(IPI_EXIT, ipi_reason(reason));
	kt_probe_leave();
}

static void notrace probe_ipi_send_cpu(void *data, const unsigned int cpu,
				       unsigned long callsite, void *callback)
{
	kt_probe_enter();
	KT_EVENT2(IPI_SEND_CPU, cpu & CPU_MASK, kt_token_func(callsite),
		  kt_token_func((unsigned long)callback));
	kt_probe_leave();
}

static void notrace probe_ipi_send_cpumask(void *data,
					   const struct cpumask *mask,
					   unsigned long callsite,
					   void *callback)
{
	u64 cpus = ipi_first_cpus(mask);
	u32 words[4] = { (u32)cpus, (u32)(cpus >> 32) };

	kt_probe_enter();
	words[2] = kt_token_func(callsite);
	words[3] = kt_token_func((unsigned long)callback);
	KT_EVENT_LONG(IPI_SEND_CPUMASK, 0, words, NULL, 0);
	kt_probe_leave();
}

/* ---- interrupts between CPUs and the local timer of x86 ------------------ */

/* These may differ in their configuration, not in their prototype. */
#ifndef CONFIG_X86_LOCAL_APIC
KT_TP_MISSING(local_timer_entry);
KT_TP_MISSING(local_timer_exit);
#endif
#if !defined(CONFIG_X86_LOCAL_APIC) || !defined(CONFIG_IRQ_WORK)
KT_TP_MISSING(irq_work_entry);
KT_TP_MISSING(irq_work_exit);
#endif
#if !defined(CONFIG_X86_LOCAL_APIC) || !defined(CONFIG_SMP)
KT_TP_MISSING(reschedule_entry);
KT_TP_MISSING(reschedule_exit);
KT_TP_MISSING(call_function_entry);
KT_TP_MISSING(call_function_exit);
KT_TP_MISSING(call_function_single_entry);
KT_TP_MISSING(call_function_single_exit);
#endif

#define VECTOR_MASK	0xff

static void notrace probe_local_timer_entry(void *data, int vector)
{
	kt_probe_enter();
	KT_EVENT0(LOCAL_TIMER_ENTRY, vector & VECTOR_MASK);
	kt_probe_leave();
}

static void notrace probe_local_timer_exit(void *data, int vector)
{
	kt_probe_enter();
	KT_EVENT0(LOCAL_TIMER_EXIT, vector & VECTOR_MASK);
	kt_probe_leave();
}

/* The two probes of one reason. */
#define IPI_PROBES(name, REASON)					\
	static void notrace probe_##name##_entry(void *data, int vector) \
	{								\
		kt_probe_enter();					\
		KT_EVENT0(IPI_ENTRY, KTAPE_IPI_##REASON);		\
		kt_probe_leave();					\
	}								\
									\
	static void notrace probe_##name##_exit(void *data, int vector)	\
	{								\
		kt_probe_enter();					\
		KT_EVENT0(IPI_EXIT, KTAPE_IPI_##REASON);		\
		kt_probe_leave();					\
	}

IPI_PROBES(reschedule, RESCHEDULE)
IPI_PROBES(call_function, CALL)
IPI_PROBES(call_function_single, CALL_SINGLE)
IPI_PROBES(irq_work, IRQ_WORK)

/* ---- table --------------------------------------------------------------- */

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
	KT_PROBE(tasklet_entry, TASKLET_ENTRY, probe_tasklet_entry,
		 struct tasklet_struct *, void *),
	KT_PROBE(tasklet_exit, TASKLET_EXIT, probe_tasklet_exit,
		 struct tasklet_struct *, void *),
	{
		.name = "ipi_raise",
		.func = KT_PROBE_FUNC(NULL, probe_ipi_raise, ipi_raise,
				      const struct cpumask *, const char *),
		.silent = NOT_CALLED,
		.events = { KTAPE_EV_IPI_RAISE },
	}, {
		.name = "ipi_entry",
		.func = KT_PROBE_FUNC(NULL, probe_ipi_entry, ipi_entry,
				      const char *),
		.silent = NOT_CALLED,
		.events = { KTAPE_EV_IPI_ENTRY },
	}, {
		.name = "ipi_exit",
		.func = KT_PROBE_FUNC(NULL, probe_ipi_exit, ipi_exit,
				      const char *),
		.silent = NOT_CALLED,
		.events = { KTAPE_EV_IPI_EXIT },
	},
	KT_PROBE(ipi_send_cpu, IPI_SEND_CPU, probe_ipi_send_cpu,
		 const unsigned int, unsigned long, void *),
	KT_PROBE(ipi_send_cpumask, IPI_SEND_CPUMASK, probe_ipi_send_cpumask,
		 const struct cpumask *, unsigned long, void *),
	KT_PROBE(local_timer_entry, LOCAL_TIMER_ENTRY, probe_local_timer_entry,
		 int),
	KT_PROBE(local_timer_exit, LOCAL_TIMER_EXIT, probe_local_timer_exit,
		 int),
	KT_PROBE(reschedule_entry, IPI_ENTRY, probe_reschedule_entry, int),
	KT_PROBE(reschedule_exit, IPI_EXIT, probe_reschedule_exit, int),
	KT_PROBE(call_function_entry, IPI_ENTRY, probe_call_function_entry,
		 int),
	KT_PROBE(call_function_exit, IPI_EXIT, probe_call_function_exit, int),
	KT_PROBE(call_function_single_entry, IPI_ENTRY,
		 probe_call_function_single_entry, int),
	KT_PROBE(call_function_single_exit, IPI_EXIT,
		 probe_call_function_single_exit, int),
	KT_PROBE(irq_work_entry, IPI_ENTRY, probe_irq_work_entry, int),
	KT_PROBE(irq_work_exit, IPI_EXIT, probe_irq_work_exit, int),
	{}
};
