// SPDX-License-Identifier: GPL-2.0-only
/* Signals: sent and taken. */
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <trace/events/signal.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

#define SIGNAL_BITS	7
#define SIGNAL_MASK	((1U << SIGNAL_BITS) - 1)
#define FLAG_GROUP	(1U << SIGNAL_BITS)
#define RESULT_MASK	7

/* What signals come with, or one of two small numbers that say: nothing. */
static int code_of(const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		return SI_USER;
	if (info == SEND_SIG_PRIV)
		return SI_KERNEL;
	return info->si_code;
}

static int errno_of(const struct kernel_siginfo *info)
{
	return info <= SEND_SIG_PRIV ? 0 : info->si_errno;
}

static void notrace probe_signal_generate(void *data, int sig,
					  struct kernel_siginfo *info,
					  struct task_struct *p, int group,
					  int result)
{
	kt_probe_enter();
	KT_EVENT3_OF(SIGNAL_GENERATE, p,
		     (sig & SIGNAL_MASK) | (group ? FLAG_GROUP : 0) |
			     (result & RESULT_MASK) << (SIGNAL_BITS + 1),
		     p->pid, code_of(info), errno_of(info));
	kt_probe_leave();
}

/* 0 and 1 are no addresses. */
static u32 handler_of(const struct k_sigaction *ka)
{
	unsigned long handler =
		(__force unsigned long)READ_ONCE(ka->sa.sa_handler);

	if (handler <= (__force unsigned long)SIG_IGN)
		return handler;
	return kt_token((const void *)handler);
}

static void notrace probe_signal_deliver(void *data, int sig,
					 struct kernel_siginfo *info,
					 struct k_sigaction *ka)
{
	kt_probe_enter();
	KT_EVENT3(SIGNAL_DELIVER, sig & SIGNAL_MASK, code_of(info),
		  (u32)ka->sa.sa_flags, handler_of(ka));
	kt_probe_leave();
}

struct kt_probe kt_probes_signal[] = {
	KT_PROBE(signal_generate, SIGNAL_GENERATE, probe_signal_generate, int,
		 struct kernel_siginfo *, struct task_struct *, int, int),
	KT_PROBE(signal_deliver, SIGNAL_DELIVER, probe_signal_deliver, int,
		 struct kernel_siginfo *, struct k_sigaction *),
	{}
};
