// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for interrupts: handlers, softirqs, tasklets, interrupts between CPUs
 * (IPIs) and the local timer of x86.  They record the events of
 * uapi/ktape/events/irq.h.
 *
 * A handler's name enters the registry when the interrupt occurs, because the
 * kernel has no tracepoint for request_irq().
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/jiffies.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#include <trace/events/ipi.h>
#include <trace/events/irq.h>

#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/trace/irq_vectors.h>
#endif

#include "event/event.h"
#include "internal.h"
#include "names/names.h"

/* ---- interrupt handlers and softirqs ------------------------------------- */

#define IRQ_BITS 18
#define IRQ_MASK ((1U << IRQ_BITS) - 1)

#define IRQ_CHECKS 4096U

/**
 * struct irq_check - the last check of an interrupt's name
 * @irq: number of the interrupt
 * @name: address of the name that its action had
 * @tick: time of the check in jiffies, low 32 bits
 * @mark: hash of the number and name that were last entered into the registry
 *
 * Interrupts whose numbers are equal modulo IRQ_CHECKS share an irq_check.  Within a
 * tick it belongs to the interrupt that occurred first.  If several CPUs write it at
 * once, the worst result is one more check.
 */
struct irq_check {
	u32 irq;
	const char *name;
	u32 tick;
	u32 mark;
};

/* NULL until irq_checks_make(), which runs before the probe is attached. */
static struct irq_check *irq_checks __read_mostly;

static int irq_checks_make(void)
{
	if (!irq_checks)
		irq_checks = __vmalloc(IRQ_CHECKS * sizeof(*irq_checks),
				       GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	return irq_checks ? 0 : -ENOMEM;
}

/**
 * kt_irq_exit() - free the checks of names
 *
 * Context: module unload, after the last probe.
 */
void kt_irq_exit(void)
{
	vfree(irq_checks);
}

/*
 * Return the first action of an interrupt, NULL if it has none.  free_irq() on
 * another CPU may unlink it at any moment, so load each pointer once.  The action
 * stays valid: free_irq() waits for the handler that is running here.
 */
static const struct irqaction *irq_first_action(unsigned int irq)
{
	struct irq_data *data = irq_get_irq_data(irq);
	const struct irq_desc *desc = data ? irq_data_to_desc(data) : NULL;

	return desc ? READ_ONCE(desc->action) : NULL;
}

/*
 * Return the name of an interrupt.  Each action of a shared interrupt may have a name:
 * take the first.
 */
static const char *irq_action_name(unsigned int irq, const struct irqaction *action)
{
	const struct irqaction *next;

	if (!(action->flags & IRQF_SHARED))
		return action->name;
	next = irq_first_action(irq);
	while (next && !next->name)
		next = READ_ONCE(next->next);
	return next ? next->name : action->name;
}

/*
 * Enter the name of an interrupt into the registry if it has changed.  A NULL name,
 * which request_irq() accepts, removes the entry.
 */
static noinline void irq_check_name(struct irq_check *l, unsigned int irq,
				    const struct irqaction *action)
{
	const char *name = irq_action_name(irq, action);
	const u32 mark = kt_name_hash(name) * 31 + irq;

	/* If kt_name_note() has no room, the check at the next tick retries. */
	WRITE_ONCE(l->irq, irq);
	WRITE_ONCE(l->name, action->name);
	WRITE_ONCE(l->tick, (u32)jiffies);
	if (mark != READ_ONCE(l->mark) && kt_name_note(KTAPE_OBJ_IRQ, irq, name))
		WRITE_ONCE(l->mark, mark);
}

/*
 * Was the name of this interrupt, or of one that shares its irq_check, checked in
 * this tick?
 *
 * The kernel does not report that an interrupt was freed and requested again.  A
 * name at another address is checked at once.  A new owner may have its action and
 * name at the old addresses, so a name is also checked once a tick; until then
 * the new owner's events appear under the old name.
 *
 * Only a new name of the same unshared interrupt is checked at once: the actions of a
 * shared interrupt and the interrupts that share an irq_check take turns, and would be
 * checked each time.
 */
static __always_inline bool irq_is_checked(const struct irq_check *l,
					   unsigned int irq,
					   const struct irqaction *action)
{
	return READ_ONCE(l->tick) == (u32)jiffies &&
	       (READ_ONCE(l->name) == action->name ||
		READ_ONCE(l->irq) != irq || action->flags & IRQF_SHARED);
}

/*
 * Check the name of an interrupt, then record the event.  The arguments are those of the probe,
 * in the same registers, so that the probe's tail call moves nothing.  barrier_data() keeps the
 * compiler from leaving out @data, which is not used.  kt_probe_leave() ends what the probe's
 * kt_probe_enter() began.
 */
static noinline void notrace record_irq_checked(void *data, int irq,
						struct irqaction *action)
{
	barrier_data(data);
	if (KT_WANTED(IRQ_HANDLER_ENTRY))
		irq_check_name(&irq_checks[(unsigned int)irq % IRQ_CHECKS], irq,
			       action);
	KT_EVENT0(IRQ_HANDLER_ENTRY, irq & IRQ_MASK);
	kt_probe_leave();
}

static void notrace probe_irq_handler_entry(void *data, int irq,
					    struct irqaction *action)
{
	struct irq_check *l = &irq_checks[(unsigned int)irq % IRQ_CHECKS];

	kt_probe_enter();
	if (unlikely(!irq_is_checked(l, irq, action)))
		return record_irq_checked(data, irq, action);
	KT_INLINE0(data, IRQ_HANDLER_ENTRY, irq & IRQ_MASK);
	kt_probe_leave();
}

static void notrace probe_irq_handler_exit(void *data, int irq,
					   struct irqaction *action, int ret)
{
	kt_probe_enter();
	KT_INLINE0(data, IRQ_HANDLER_EXIT,
		   (irq & IRQ_MASK) | ((u32)ret & 3) << IRQ_BITS);
	kt_probe_leave();
}

static void notrace probe_softirq_raise(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_INLINE0(data, SOFTIRQ_RAISE, vec);
	kt_probe_leave();
}

static void notrace probe_softirq_entry(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_INLINE0(data, SOFTIRQ_ENTRY, vec);
	kt_probe_leave();
}

static void notrace probe_softirq_exit(void *data, unsigned int vec)
{
	kt_probe_enter();
	KT_INLINE0(data, SOFTIRQ_EXIT, vec);
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
	KT_EVENT2(TASKLET_ENTRY, 0, kt_token(t), kt_token_func((unsigned long)func));
	kt_probe_leave();
}

/* The tasklet's function may have freed it: use only the address. */
static void notrace probe_tasklet_exit(void *data, struct tasklet_struct *t,
				       void *func)
{
	kt_probe_enter();
	KT_EVENT2(TASKLET_EXIT, 0, kt_token(t), kt_token_func((unsigned long)func));
	kt_probe_leave();
}

/* ---- interrupts between CPUs --------------------------------------------- */

#ifndef KT_HAVE_TP_ipi_send_cpu
KT_TP_MISSING(ipi_send_cpu);
#endif
#ifndef KT_HAVE_TP_ipi_send_cpumask
KT_TP_MISSING(ipi_send_cpumask);
#endif
/* Newer kernels declare these only for architectures that call them. */
#if defined(KT_HAVE_EXTRA_IPI) && !defined(CONFIG_HAVE_EXTRA_IPI_TRACEPOINTS)
KT_TP_MISSING(ipi_raise);
KT_TP_MISSING(ipi_entry);
KT_TP_MISSING(ipi_exit);
#endif

/* Only ARM calls ipi_raise, ipi_entry and ipi_exit; x86 has its own, see below. */
#define NOT_CALLED (!IS_ENABLED(CONFIG_ARM) && !IS_ENABLED(CONFIG_ARM64))

#define CPU_MASK 0xfff

/* How the reasons that the tracepoints pass as text begin. */
static const struct {
	const char *text;
	u8 length;
	u8 reason;
} reasons[] = {
#define REASON(begin, NAME)                                \
	{                                                  \
		begin, sizeof(begin) - 1, KTAPE_IPI_##NAME \
	}
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

static void notrace probe_ipi_send_cpumask(void *data, const struct cpumask *mask,
					   unsigned long callsite, void *callback)
{
	u64 cpus = ipi_first_cpus(mask);
	u32 words[4] = { (u32)cpus, (u32)(cpus >> 32) };

	kt_probe_enter();
	words[2] = kt_token_func(callsite);
	words[3] = kt_token_func((unsigned long)callback);
	KT_EVENT_LONG(IPI_SEND_CPUMASK, 0, words, NULL, 0);
	kt_probe_leave();
}

/* ---- x86: interrupts between CPUs, local timer --------------------------- */

/* The configuration decides which of these exist; their prototype never changed. */
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

#define VECTOR_MASK 0xff

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

/* Define the entry and exit probe for one reason. */
#define IPI_PROBES(name, REASON)                                         \
	static void notrace probe_##name##_entry(void *data, int vector) \
	{                                                                \
		kt_probe_enter();                                        \
		KT_EVENT0(IPI_ENTRY, KTAPE_IPI_##REASON);                \
		kt_probe_leave();                                        \
	}                                                                \
	static void notrace probe_##name##_exit(void *data, int vector)  \
	{                                                                \
		kt_probe_enter();                                        \
		KT_EVENT0(IPI_EXIT, KTAPE_IPI_##REASON);                 \
		kt_probe_leave();                                        \
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
				      irq_handler_entry, int, struct irqaction *),
		.prepare = irq_checks_make,
		.events = { KTAPE_EV_IRQ_HANDLER_ENTRY },
	},
	{
		.name = "irq_handler_exit",
		.func = KT_PROBE_FUNC(NULL, probe_irq_handler_exit, irq_handler_exit,
				      int, struct irqaction *, int),
		.events = { KTAPE_EV_IRQ_HANDLER_EXIT },
	},
	{
		.name = "softirq_raise",
		.func = KT_PROBE_FUNC(NULL, probe_softirq_raise, softirq_raise,
				      unsigned int),
		.events = { KTAPE_EV_SOFTIRQ_RAISE },
	},
	{
		.name = "softirq_entry",
		.func = KT_PROBE_FUNC(NULL, probe_softirq_entry, softirq_entry,
				      unsigned int),
		.events = { KTAPE_EV_SOFTIRQ_ENTRY },
	},
	{
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
	},
	{
		.name = "ipi_entry",
		.func = KT_PROBE_FUNC(NULL, probe_ipi_entry, ipi_entry, const char *),
		.silent = NOT_CALLED,
		.events = { KTAPE_EV_IPI_ENTRY },
	},
	{
		.name = "ipi_exit",
		.func = KT_PROBE_FUNC(NULL, probe_ipi_exit, ipi_exit, const char *),
		.silent = NOT_CALLED,
		.events = { KTAPE_EV_IPI_EXIT },
	},
	KT_PROBE(ipi_send_cpu, IPI_SEND_CPU, probe_ipi_send_cpu,
		 const unsigned int, unsigned long, void *),
	KT_PROBE(ipi_send_cpumask, IPI_SEND_CPUMASK, probe_ipi_send_cpumask,
		 const struct cpumask *, unsigned long, void *),
	KT_PROBE(local_timer_entry, LOCAL_TIMER_ENTRY, probe_local_timer_entry, int),
	KT_PROBE(local_timer_exit, LOCAL_TIMER_EXIT, probe_local_timer_exit, int),
	KT_PROBE(reschedule_entry, IPI_ENTRY, probe_reschedule_entry, int),
	KT_PROBE(reschedule_exit, IPI_EXIT, probe_reschedule_exit, int),
	KT_PROBE(call_function_entry, IPI_ENTRY, probe_call_function_entry, int),
	KT_PROBE(call_function_exit, IPI_EXIT, probe_call_function_exit, int),
	KT_PROBE(call_function_single_entry, IPI_ENTRY,
		 probe_call_function_single_entry, int),
	KT_PROBE(call_function_single_exit, IPI_EXIT,
		 probe_call_function_single_exit, int),
	KT_PROBE(irq_work_entry, IPI_ENTRY, probe_irq_work_entry, int),
	KT_PROBE(irq_work_exit, IPI_EXIT, probe_irq_work_exit, int),
	{}
};
