/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes at functions of the kernel, added at run time. */
#ifndef _KT_KPROBE_H
#define _KT_KPROBE_H

#include <linux/errno.h>
#include <linux/types.h>

#include <ktape/abi.h>
#include <ktape/filter.h>

static inline bool kt_kprobe_is_slot(unsigned int opcode)
{
	return opcode - KTAPE_OP_PROBE < KTAPE_PROBES;
}

#ifdef CONFIG_KPROBES

int kt_kprobe_add(struct ktape_probe *p);
int kt_kprobe_remove(unsigned int opcode);
int kt_kprobe_get(struct ktape_probe *p);
void kt_kprobe_want(const u64 *mask);
void kt_kprobe_drop(void);
void kt_kprobe_exit(void);
u32 kt_kprobe_state(unsigned int opcode, int *error, bool *attached);

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

static inline void kt_kprobe_want(const u64 *mask)
{
}

static inline void kt_kprobe_drop(void)
{
}

static inline void kt_kprobe_exit(void)
{
}

static inline u32 kt_kprobe_state(unsigned int opcode, int *error,
				  bool *attached)
{
	*error = 0;
	*attached = false;
	return KTAPE_EVENT_NO_CONFIG;
}

#endif /* CONFIG_KPROBES */
#endif /* _KT_KPROBE_H */
