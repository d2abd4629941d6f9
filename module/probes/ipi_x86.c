// SPDX-License-Identifier: GPL-2.0-only
/* x86's own tracepoints: interrupts from other CPUs, and its local timer. */
#include <linux/types.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/trace/irq_vectors.h>
#endif

#include "event/event.h"
#include "internal.h"

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

struct kt_probe kt_probes_ipi_x86[] = {
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
