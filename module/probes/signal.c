// SPDX-License-Identifier: GPL-2.0-only
/* Signals. */
#include <linux/sched/signal.h>
#include <trace/events/signal.h>

#include "../event.h"
#include "../probe.h"

static void notrace probe_signal_generate(void *data, int sig,
					  struct kernel_siginfo *info,
					  struct task_struct *p, int group,
					  int result)
{
	bool real = info != SEND_SIG_NOINFO && info != SEND_SIG_PRIV;
	int code = info == SEND_SIG_PRIV ? SI_KERNEL : SI_USER;

	kt_probe_enter();
	KT_EVENT3_OF(SIGNAL_GENERATE, p,
		     (sig & 127) | !!group << 7 | (result & 7) << 8, p->pid,
		     real ? info->si_code : code, real ? info->si_errno : 0);
	kt_probe_leave();
}

struct kt_probe kt_probes_signal[] = {
	{
		.name = "signal_generate",
		.func = KT_PROBE_FUNC(NULL, probe_signal_generate,
				      signal_generate, int,
				      struct kernel_siginfo *,
				      struct task_struct *, int, int),
		.events = { KTAPE_EV_SIGNAL_GENERATE },
	},
	{}
};
