// SPDX-License-Identifier: GPL-2.0-only
/* The ioctl for probes at run time: who may, when, and what is well formed. */
#include <linux/capability.h>
#include <linux/security.h>
#include <linux/string.h>

#include "dev.h"
#include "probes/probes.h"

static long add(struct ktape_probe *p)
{
	/* The kernel asks this of those who come through tracefs or perf. */
	int ret = security_locked_down(LOCKDOWN_KPROBES);

	return ret ?: kt_kprobe_add(p);
}

/* Nothing but the slot may be said. */
static bool names_slot(const struct ktape_probe *p)
{
	return kt_kprobe_is_slot(p->opcode) && !p->flags && !p->nargs &&
	       !p->reserved && !p->offset && !p->hits && !p->missed &&
	       !memchr_inv(p->symbol, 0, sizeof(p->symbol));
}

/**
 * kt_dev_probe() - add, remove or tell a probe at run time
 * @p: as in uapi/ktape/filter.h; the caller may do it
 *
 * Context: process context, may sleep.
 * Return: 0 or a negative errno as said there.
 */
long kt_dev_probe(struct ktape_probe *p)
{
	/* It concerns all sessions: a descriptor that was handed on is not enough. */
	long ret = p->op == KTAPE_PROBE_GET || perfmon_capable() ? 0 : -EPERM;

	if (ret)
		return ret;
	if (p->op == KTAPE_PROBE_ADD)
		return add(p);
	if (p->op > KTAPE_PROBE_REMOVE || !names_slot(p))
		return -EINVAL;
	return p->op == KTAPE_PROBE_GET ? kt_kprobe_get(p) : kt_session_remove_probe(p->opcode);
}
