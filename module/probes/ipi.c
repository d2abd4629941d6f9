// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts between CPUs, where the tracepoints are the same everywhere. */
#include <linux/cpumask.h>
#include <linux/string.h>
#include <trace/events/ipi.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

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

static u32 reason_of(const char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strncmp(text, reasons[i].text, reasons[i].length))
			return reasons[i].reason;
	return KTAPE_IPI_OTHER;
}

static u64 first_cpus(const struct cpumask *mask)
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
	u64 cpus = first_cpus(mask);

	kt_probe_enter();
	KT_EVENT2(IPI_RAISE, reason_of(reason), (u32)cpus, (u32)(cpus >> 32));
	kt_probe_leave();
}

static void notrace probe_ipi_entry(void *data, const char *reason)
{
	kt_probe_enter();
	KT_EVENT0(IPI_ENTRY, reason_of(reason));
	kt_probe_leave();
}

static void notrace probe_ipi_exit(void *data, const char *reason)
{
	kt_probe_enter();
	KT_EVENT0(IPI_EXIT, reason_of(reason));
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
	u64 cpus = first_cpus(mask);
	u32 words[4] = { (u32)cpus, (u32)(cpus >> 32) };

	kt_probe_enter();
	words[2] = kt_token_func(callsite);
	words[3] = kt_token_func((unsigned long)callback);
	KT_EVENT_LONG(IPI_SEND_CPUMASK, 0, words, NULL, 0);
	kt_probe_leave();
}

struct kt_probe kt_probes_ipi[] = {
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
	{}
};
