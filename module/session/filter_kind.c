// SPDX-License-Identifier: GPL-2.0-only
/* The kinds of filters: what their entries may be and what becomes of them. */
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "session.h"
#include "filters.h"
#include "filter/track.h"

#define SEVERITIES	4U
#define GATE_NS_MAX	(3600ULL * NSEC_PER_SEC)

/* ---- bitmaps: what is not given is zero ---------------------------------- */

#define BITMAP_KIND(name, member, words)				\
static int parse_##name(struct kt_filters *f, const void *entries, u32 nr) \
{									\
	memset(member, 0, (words) * sizeof(u64));			\
	memcpy(member, entries, nr * sizeof(u64));			\
	return 0;							\
}									\
									\
static void tell_##name(const struct kt_filters *f, void *to)		\
{									\
	memcpy(to, member, (words) * sizeof(u64));			\
}

BITMAP_KIND(syscalls, f->syscalls, KTAPE_FILTER_SYSCALL_WORDS)
BITMAP_KIND(irqs, f->irqs, KTAPE_FILTER_IRQ_WORDS)
BITMAP_KIND(softirqs, &f->softirqs, 1)
BITMAP_KIND(signals, &f->signals, 1)

static bool filter_opcode_ok(unsigned int opcode)
{
	return opcode >= KTAPE_OP_EXCEPTION && opcode < KTAPE_TIME_EXTEND &&
	       kt_event_opcode_exists(opcode);
}

static int parse_stacks(struct kt_filters *f, const void *entries, u32 nr)
{
	u64 mask[KTAPE_MASK_WORDS] = {};
	unsigned int i;

	memcpy(mask, entries, nr * sizeof(u64));
	for (i = 0; i < KTAPE_OPCODES; i++)
		if (kt_mask_has(mask, i) && !filter_opcode_ok(i))
			return -EINVAL;
	memcpy(f->stacks, mask, sizeof(mask));
	return 0;
}

static void tell_stacks(const struct kt_filters *f, void *to)
{
	memcpy(to, f->stacks, sizeof(f->stacks));
}

/* ---- CPUs ---------------------------------------------------------------- */

#define CPU_WORDS	DIV_ROUND_UP(NR_CPUS, 64)

static int parse_cpus(struct kt_filters *f, const void *entries, u32 nr)
{
	const u64 *words = entries;
	unsigned long *cpus;
	unsigned int i;

	cpus = bitmap_zalloc(nr_cpu_ids, GFP_KERNEL_ACCOUNT);
	if (!cpus)
		return -ENOMEM;
	for (i = 0; i < nr * 64; i++) {
		if (!(words[i / 64] >> (i % 64) & 1))
			continue;
		if (i >= nr_cpu_ids) {
			bitmap_free(cpus);
			return -EINVAL;
		}
		__set_bit(i, cpus);
	}
	f->cpus = cpus;
	return 0;
}

static void tell_cpus(const struct kt_filters *f, void *to)
{
	u64 *words = to;
	unsigned int cpu;

	for_each_set_bit(cpu, f->cpus, nr_cpu_ids)
		words[cpu / 64] |= BIT_ULL(cpu % 64);
}

static void drop_cpus(struct kt_filters *f)
{
	bitmap_free(f->cpus);
}

/* ---- threads ------------------------------------------------------------- */

#define PID_FLAGS	(KTAPE_PID_THREADS | KTAPE_PID_CHILDREN | \
			 KTAPE_PID_EXCEPT)

/* Are there threads that are let through, or that are not? */
static bool pids_have(const struct ktape_filter_pid *pids, u32 nr, u32 except)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if ((pids[i].flags & KTAPE_PID_EXCEPT) == except)
			return true;
	return false;
}

static void pids_close_set(u32 set)
{
	if (set)
		kt_track_close(set);
}

/* Put the threads into sets.  Return: 0 or -ESRCH. */
static int pids_follow(const struct ktape_filter_pid *from, u32 nr, u32 pass,
		       u32 except, struct ktape_filter_pid *to)
{
	int ret;
	u32 i;

	for (i = 0; i < nr; i++) {
		to[i].flags = from[i].flags;
		ret = kt_track_add(from[i].flags & KTAPE_PID_EXCEPT ? except
								    : pass,
				   from[i].pid, from[i].flags, &to[i].pid);
		if (ret)
			return ret;
	}
	if (pass)
		kt_track_walk(pass);
	if (except)
		kt_track_walk(except);
	return 0;
}

static int parse_pids(struct kt_filters *f, const void *entries, u32 nr)
{
	const struct ktape_filter_pid *from = entries;
	struct ktape_filter_pid *pids;
	u32 i, pass = 0, except = 0;
	int ret;

	for (i = 0; i < nr; i++)
		if (from[i].pid <= 0 || from[i].flags & ~PID_FLAGS)
			return -EINVAL;
	ret = kt_track_init();
	if (ret)
		return ret;
	pids = kvmalloc_array(nr + 1, sizeof(*pids), GFP_KERNEL_ACCOUNT);
	if (!pids)
		return -ENOMEM;
	/* New sets: those that are in force go when these are. */
	if (pids_have(from, nr, KTAPE_PID_EXCEPT))
		except = kt_track_open();
	if (!except || pids_have(from, nr, 0))
		pass = kt_track_open();
	ret = pids_follow(from, nr, pass, except, pids);
	if (ret) {
		pids_close_set(pass);
		pids_close_set(except);
		kvfree(pids);
		return ret;
	}
	f->pid_set = pass;
	f->pid_except = except;
	f->pids = pids;
	return 0;
}

static void tell_pids(const struct kt_filters *f, void *to)
{
	struct ktape_filter_pid *pids = to;
	u32 i;

	for (i = 0; i < f->nr[KTAPE_FILTER_PID]; i++) {
		pids[i].pid = kt_track_number(f->pid_set | f->pid_except,
					      f->pids[i].pid);
		pids[i].flags = f->pids[i].flags;
	}
}

static void drop_pids(struct kt_filters *f)
{
	pids_close_set(f->pid_set);
	pids_close_set(f->pid_except);
	kvfree(f->pids);
}

static u64 pids_missed(const struct kt_filters *f)
{
	return (f->pid_set ? kt_track_missed(f->pid_set) : 0) +
	       (f->pid_except ? kt_track_missed(f->pid_except) : 0);
}

#ifdef CONFIG_CGROUPS

static void put_cgroups(struct cgroup *const *cgroups, u32 nr)
{
	while (nr--)
		cgroup_put(cgroups[nr]);
}

static int parse_cgroups(struct kt_filters *f, const void *entries, u32 nr)
{
	struct cgroup *cgroups[KTAPE_FILTER_CGROUPS];
	const s32 *fds = entries;
	u32 i;

	for (i = 0; i < nr; i++) {
		cgroups[i] = cgroup_get_from_fd(fds[i]);
		if (IS_ERR(cgroups[i])) {
			put_cgroups(cgroups, i);
			return PTR_ERR(cgroups[i]);
		}
	}
	memcpy(f->cgroups, cgroups, nr * sizeof(*cgroups));
	return 0;
}

static void tell_cgroups(const struct kt_filters *f, void *to)
{
	u64 *ids = to;
	u32 i;

	for (i = 0; i < f->nr[KTAPE_FILTER_CGROUP]; i++)
		ids[i] = cgroup_id(f->cgroups[i]);
}

static void drop_cgroups(struct kt_filters *f)
{
	put_cgroups(f->cgroups, f->nr[KTAPE_FILTER_CGROUP]);
}

#else

static int parse_cgroups(struct kt_filters *f, const void *entries, u32 nr)
{
	return -EOPNOTSUPP;
}

static void tell_cgroups(const struct kt_filters *f, void *to)
{
}

#define drop_cgroups NULL

#endif

static int parse_uids(struct kt_filters *f, const void *entries, u32 nr)
{
	uid_t uids[KTAPE_FILTER_UIDS];
	const u32 *from = entries;
	kuid_t uid;
	u32 i;

	for (i = 0; i < nr; i++) {
		uid = make_kuid(current_user_ns(), from[i]);
		if (!uid_valid(uid))
			return -EINVAL;
		uids[i] = from_kuid(&init_user_ns, uid);
	}
	memcpy(f->uids, uids, nr * sizeof(*uids));
	return 0;
}

static void tell_uids(const struct kt_filters *f, void *to)
{
	u32 *uids = to;
	u32 i;

	for (i = 0; i < f->nr[KTAPE_FILTER_UID]; i++)
		uids[i] = from_kuid_munged(current_user_ns(),
				make_kuid(&init_user_ns, f->uids[i]));
}

/* ---- severity, gates, rates ---------------------------------------------- */

static int parse_severity(struct kt_filters *f, const void *entries, u32 nr)
{
	const u32 *severity = entries;

	if (nr && *severity >= SEVERITIES)
		return -EINVAL;
	f->severity = nr ? *severity : SEVERITIES;
	return 0;
}

static void tell_severity(const struct kt_filters *f, void *to)
{
	*(u32 *)to = f->severity;
}

static int parse_gates(struct kt_filters *f, const void *entries, u32 nr)
{
	const struct ktape_filter_gate *from = entries;
	struct kt_gates *gates;
	u32 i, seen = 0;

	for (i = 0; i < nr; i++) {
		if (from[i].gate >= KTAPE_GATES || from[i].reserved ||
		    from[i].ns > GATE_NS_MAX || seen & BIT(from[i].gate))
			return -EINVAL;
		seen |= BIT(from[i].gate);
	}
	gates = kt_gates_alloc(from, nr);
	if (!gates)
		return -ENOMEM;
	f->gates = gates;
	return 0;
}

static void tell_gates(const struct kt_filters *f, void *to)
{
	kt_gates_tell(f->gates, to);
}

static void drop_gates(struct kt_filters *f)
{
	kt_gates_free(f->gates);
}

static u64 gates_collisions(const struct kt_filters *f)
{
	return kt_gates_collisions(f->gates);
}

static int parse_rates(struct kt_filters *f, const void *entries, u32 nr)
{
	const struct ktape_filter_rate *from = entries;
	struct kt_rates *rates;
	u32 i, j;

	for (i = 0; i < nr; i++) {
		if (!filter_opcode_ok(from[i].opcode))
			return -EINVAL;
		for (j = 0; j < i; j++)
			if (from[j].opcode == from[i].opcode)
				return -EINVAL;
	}
	rates = kt_rates_alloc(from, nr);
	if (!rates)
		return -ENOMEM;
	f->rates = rates;
	return 0;
}

static void tell_rates(const struct kt_filters *f, void *to)
{
	kt_rates_tell(f->rates, to);
}

static void drop_rates(struct kt_filters *f)
{
	kt_rates_free(f->rates);
}

/* ---- the table ------------------------------------------------------------- */

#define BITMAP(name, words)						\
	{								\
		.size = sizeof(u64),					\
		.told = sizeof(u64),					\
		.max = words,						\
		.parse = parse_##name,					\
		.tell = tell_##name,					\
	}

const struct kt_filter_kind kt_filter_kinds[KTAPE_FILTER_KINDS] = {
	[KTAPE_FILTER_CPU] = {
		.size = sizeof(u64),
		.told = sizeof(u64),
		.max = CPU_WORDS,
		.parse = parse_cpus,
		.tell = tell_cpus,
		.drop = drop_cpus,
	},
	[KTAPE_FILTER_SYSCALL] = BITMAP(syscalls, KTAPE_FILTER_SYSCALL_WORDS),
	[KTAPE_FILTER_IRQ] = BITMAP(irqs, KTAPE_FILTER_IRQ_WORDS),
	[KTAPE_FILTER_SOFTIRQ] = BITMAP(softirqs, 1),
	[KTAPE_FILTER_SIGNAL] = BITMAP(signals, 1),
	[KTAPE_FILTER_PID] = {
		.size = sizeof(struct ktape_filter_pid),
		.told = sizeof(struct ktape_filter_pid),
		.max = KTAPE_FILTER_PIDS,
		.parse = parse_pids,
		.tell = tell_pids,
		.drop = drop_pids,
		.collisions = pids_missed,
	},
	[KTAPE_FILTER_CGROUP] = {
		.size = sizeof(s32),
		.told = sizeof(u64),
		.max = KTAPE_FILTER_CGROUPS,
		.parse = parse_cgroups,
		.tell = tell_cgroups,
		.drop = drop_cgroups,
	},
	[KTAPE_FILTER_UID] = {
		.size = sizeof(u32),
		.told = sizeof(u32),
		.max = KTAPE_FILTER_UIDS,
		.parse = parse_uids,
		.tell = tell_uids,
	},
	[KTAPE_FILTER_SEVERITY] = {
		.size = sizeof(u32),
		.told = sizeof(u32),
		.max = 1,
		.parse = parse_severity,
		.tell = tell_severity,
	},
	[KTAPE_FILTER_GATE] = {
		.size = sizeof(struct ktape_filter_gate),
		.told = sizeof(struct ktape_filter_gate),
		.max = KTAPE_GATES,
		.empty_is_off = true,
		.parse = parse_gates,
		.tell = tell_gates,
		.drop = drop_gates,
		.collisions = gates_collisions,
	},
	[KTAPE_FILTER_RATE] = {
		.size = sizeof(struct ktape_filter_rate),
		.told = sizeof(struct ktape_filter_rate),
		.max = KTAPE_FILTER_RATES,
		.empty_is_off = true,
		.parse = parse_rates,
		.tell = tell_rates,
		.drop = drop_rates,
	},
	[KTAPE_FILTER_STACK] = {
		.size = sizeof(u64),
		.told = sizeof(u64),
		.max = KTAPE_MASK_WORDS,
		.empty_is_off = true,
		.parse = parse_stacks,
		.tell = tell_stacks,
	},
};
