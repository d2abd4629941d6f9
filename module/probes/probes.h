/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the layers above call: attach the probes of wanted events, ask which events
 * can be recorded, add and remove run-time probes at kernel functions.
 *
 * probe.c finds and attaches what the tables of all other files name, so read it last.
 * task.c is the best begin: it has the way of one event.  layout.c finds the bounds of the
 * scheduler's code for it, kprobe.c has the run-time probes.
 */
#ifndef _KT_PROBES_H
#define _KT_PROBES_H

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include <ktape/abi.h>
#include <ktape/filter.h>

int kt_probe_init(void);
void kt_probe_exit(void);
int kt_probe_want(const u64 *mask);
void kt_probe_drop_unavailable(u64 *mask);
void kt_probe_failed(u64 *mask);
bool kt_probe_source(unsigned int opcode, struct ktape_event_info *e);
u32 kt_probe_state(unsigned int opcode, int *error, bool *attached);

bool kt_probe_covers_cgroups(void);
void kt_cgroups_walk(void);

/* Return true for the opcodes of run-time probes, in use or free. */
static inline bool kt_kprobe_is_slot(unsigned int opcode)
{
	return opcode - KTAPE_OP_PROBE < KTAPE_PROBES;
}

#ifdef CONFIG_KPROBES

int kt_kprobe_add(struct ktape_probe *p);
int kt_kprobe_remove(unsigned int opcode);
int kt_kprobe_get(struct ktape_probe *p);
bool kt_kprobe_missed(unsigned int opcode, u64 *missed);

#else

static inline int kt_kprobe_add(struct ktape_probe *p)
{
	return -ENODEV;
}

static inline int kt_kprobe_remove(unsigned int opcode)
{
	return -ENODEV;
}

static inline int kt_kprobe_get(struct ktape_probe *p)
{
	return -ENODEV;
}

static inline bool kt_kprobe_missed(unsigned int opcode, u64 *missed)
{
	memset(missed, 0, KTAPE_MISSED_REASONS * sizeof(*missed));
	return true;
}

#endif /* CONFIG_KPROBES */
#endif /* _KT_PROBES_H */
