/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel that module/filter/gate.c needs besides ktape_shim.h.
 * Included before everything else; the kernel headers that the source includes
 * are empty files (see Makefile).
 */
#ifndef _GATE_SHIM_H
#define _GATE_SHIM_H

#include <stdlib.h>
#include <sys/types.h>

#include "ring/ring.h"

#define BIT(n)		   (1UL << (n))
#define NSEC_PER_SEC	   1000000000ULL
#define GFP_KERNEL_ACCOUNT 0
#define __rcu

typedef __u16 u16;
#define IS_ENABLED(option)	0
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)

typedef struct {
	long counter;
} atomic_long_t;

#define atomic_long_inc(v) \
	__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_RELAXED)
#define atomic_long_inc_return_release(v) \
	__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_RELEASE)
#define atomic_long_read(v) __atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)

#define cmpxchg(p, old, new) __sync_val_compare_and_swap(p, old, new)

/* GOLDEN_RATIO_64 of the kernel. */
static inline unsigned long hash_long(unsigned long value, unsigned int bits)
{
	return value * 0x61c8864680b583ebUL >> (64 - bits);
}

#define hash_ptr(p, bits) hash_long((unsigned long)(p), bits)

static inline u64 div_u64(u64 n, u32 by)
{
	return n / by;
}

static inline u64 div_u64_rem(u64 n, u32 by, u32 *rest)
{
	*rest = (u32)(n % by);
	return n / by;
}

static inline void *kvzalloc(size_t size, int flags)
{
	(void)flags;
	return calloc(1, size);
}

static inline void kvfree(void *p)
{
	free(p);
}

/* What thread filters compare.  The test has none of them. */
#define CONFIG_CGROUPS		    1
#define DECLARE_PER_CPU(type, name) extern __typeof__(type) name
#define DECLARE_PER_CPU_ALIGNED	    DECLARE_PER_CPU
#define raw_cpu_ptr(p)		    (p)
#define __percpu
#ifdef __LP64__
#define CONFIG_64BIT 1
#endif
#define BUILD_BUG_ON_NOT_POWER_OF_2(n) \
	_Static_assert((n) && !((n) & ((n)-1)), "a power of two")
#define kt_cpu_read(name) (name)

struct cred {
	unsigned int uid;
};

struct cgroup {
	u64 id;
};

/* The current task and CPU, set by the test. */
struct task_struct {
	int pid;
	const struct cred *real_cred;
	struct cgroup *cgroup;
} __attribute__((aligned(64)));

#define task_dfl_cgroup(p) ((p)->cgroup)
#define cgroup_id(cgroup)  ((cgroup)->id)
#define cgroup_is_descendant(cgroup, top) \
	((cgroup) == (top)) /* none is below */
#define __kuid_val(uid)		 (uid)
#define rcu_dereference_sched(p) (p)

extern struct task_struct *gate_current;
extern unsigned int gate_cpu;

#define current		   gate_current
#define smp_processor_id() gate_cpu

static inline u64 kt_clock_hz(void)
{
	return NSEC_PER_SEC;
}

#endif /* _GATE_SHIM_H */
