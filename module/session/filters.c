// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of filters, with their checks, and changes of a session's filters.
 * Whether an event passes them is decided in filter/.  The functions parse_*(), filter_get_*()
 * and drop_*() are members of struct kt_filter_kind (session.h).
 *
 * Filters are read by writers under RCU.  Each kind is changed as a whole:
 *
 *   set	change a copy; write on-markers; publish the copy; set want bits (which
 *		sessions record an event on a CPU, want.c); synchronize_rcu(); release the
 *		old filters
 *   off	the same, with off-markers after synchronize_rcu()
 *
 * So an on-marker comes before the first event that the filter rejects, and an
 * off-marker after the last one.
 */
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "internal.h"

/* Levels of severity.  As f->severity: no exception passes. */
#define SEVERITIES 4U

/* An hour, see struct ktape_filter_gate. */
#define GATE_NS_MAX (3600ULL * NSEC_PER_SEC)

/* ---- bitmaps: words that are not given are zero --------------------------- */

static int parse_words(struct kt_filters *f, const struct kt_filter_kind *k,
		       const void *entries, u32 nr)
{
	void *words = (void *)f + k->words;

	memset(words, 0, k->max * sizeof(u64));
	memcpy(words, entries, nr * sizeof(u64));
	return 0;
}

/* Return true if an event can have a rate limit or a call stack. */
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

/* ---- CPUs ---------------------------------------------------------------- */

#define CPU_WORDS DIV_ROUND_UP(NR_CPUS, 64)

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

static void filter_get_cpus(const struct kt_filters *f, void *to)
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

#define PID_FLAGS (KTAPE_PID_THREADS | KTAPE_PID_CHILDREN | KTAPE_PID_EXCEPT)

/* Return true if any entry excludes (@except is KTAPE_PID_EXCEPT) or includes (0). */
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

/*
 * Add the threads of include entries to the set @pass, those of exclude entries to
 * @except (0: no such set).  Copy the entries to @to, with ids of the initial pid
 * name space.  Return: 0; -ESRCH: no such thread; the caller closes the sets.
 */
static int pids_follow(const struct ktape_filter_pid *from, u32 nr, u32 pass,
		       u32 except, struct ktape_filter_pid *to)
{
	int ret;
	u32 i;

	for (i = 0; i < nr; i++) {
		to[i].flags = from[i].flags;
		ret = kt_track_add(from[i].flags & KTAPE_PID_EXCEPT ? except : pass,
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
	/* One more: a filter without entries has an array, too. */
	pids = kvmalloc_array(nr + 1, sizeof(*pids), GFP_KERNEL_ACCOUNT);
	if (!pids)
		return -ENOMEM;
	/* Fill new sets.  The old ones stay in force until they are replaced. */
	if (pids_have(from, nr, KTAPE_PID_EXCEPT))
		except = kt_track_open();
	/* With exclude entries alone all others pass; without any entry none does. */
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

static void filter_get_pids(const struct kt_filters *f, void *to)
{
	struct ktape_filter_pid *pids = to;
	u32 i;

	for (i = 0; i < f->nr[KTAPE_FILTER_PID]; i++) {
		/* A set is one bit, so both together are a mask of sets. */
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

static void filter_get_cgroups(const struct kt_filters *f, void *to)
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

static void filter_get_cgroups(const struct kt_filters *f, void *to)
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

static void filter_get_uids(const struct kt_filters *f, void *to)
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

static void filter_get_severity(const struct kt_filters *f, void *to)
{
	*(u32 *)to = f->severity;
}

static int parse_gates(struct kt_filters *f, const void *entries, u32 nr)
{
	const struct ktape_filter_gate *from = entries;
	struct kt_gates *gates;
	u32 i, given = 0;

	for (i = 0; i < nr; i++) {
		if (from[i].gate >= KTAPE_GATES || from[i].reserved ||
		    from[i].ns > GATE_NS_MAX || given & BIT(from[i].gate))
			return -EINVAL;
		given |= BIT(from[i].gate);
	}
	gates = kt_gates_alloc(from, nr);
	if (!gates)
		return -ENOMEM;
	f->gates = gates;
	return 0;
}

static void filter_get_gates(const struct kt_filters *f, void *to)
{
	kt_gates_entries(f->gates, to);
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

static void filter_get_rates(const struct kt_filters *f, void *to)
{
	kt_rates_entries(f->rates, to);
}

static void drop_rates(struct kt_filters *f)
{
	kt_rates_free(f->rates);
}

/* ---- the table ------------------------------------------------------------- */

#define BITMAP(member, nr)                                               \
	{                                                                \
		.size = sizeof(u64), .get_size = sizeof(u64), .max = nr, \
		.words = offsetof(struct kt_filters, member),            \
	}

const struct kt_filter_kind kt_filter_kinds[KTAPE_FILTER_KINDS] = {
	[KTAPE_FILTER_CPU] = {
		.size = sizeof(u64),
		.get_size = sizeof(u64),
		.max = CPU_WORDS,
		.parse = parse_cpus,
		.get = filter_get_cpus,
		.drop = drop_cpus,
	},
	[KTAPE_FILTER_SYSCALL] = BITMAP(syscalls, KTAPE_FILTER_SYSCALL_WORDS),
	[KTAPE_FILTER_IRQ] = BITMAP(irqs, KTAPE_FILTER_IRQ_WORDS),
	[KTAPE_FILTER_SOFTIRQ] = BITMAP(softirqs, 1),
	[KTAPE_FILTER_SIGNAL] = BITMAP(signals, 1),
	[KTAPE_FILTER_PID] = {
		.size = sizeof(struct ktape_filter_pid),
		.get_size = sizeof(struct ktape_filter_pid),
		.max = KTAPE_FILTER_PIDS,
		.parse = parse_pids,
		.get = filter_get_pids,
		.drop = drop_pids,
		.collisions = pids_missed,
	},
	[KTAPE_FILTER_CGROUP] = {
		.size = sizeof(s32),
		.get_size = sizeof(u64),
		.max = KTAPE_FILTER_CGROUPS,
		.parse = parse_cgroups,
		.get = filter_get_cgroups,
		.drop = drop_cgroups,
	},
	[KTAPE_FILTER_UID] = {
		.size = sizeof(u32),
		.get_size = sizeof(u32),
		.max = KTAPE_FILTER_UIDS,
		.parse = parse_uids,
		.get = filter_get_uids,
	},
	[KTAPE_FILTER_SEVERITY] = {
		.size = sizeof(u32),
		.get_size = sizeof(u32),
		.max = 1,
		.parse = parse_severity,
		.get = filter_get_severity,
	},
	[KTAPE_FILTER_GATE] = {
		.size = sizeof(struct ktape_filter_gate),
		.get_size = sizeof(struct ktape_filter_gate),
		.max = KTAPE_GATES,
		.empty_is_off = true,
		.parse = parse_gates,
		.get = filter_get_gates,
		.drop = drop_gates,
		.collisions = gates_collisions,
	},
	[KTAPE_FILTER_RATE] = {
		.size = sizeof(struct ktape_filter_rate),
		.get_size = sizeof(struct ktape_filter_rate),
		.max = KTAPE_FILTER_RATES,
		.empty_is_off = true,
		.parse = parse_rates,
		.get = filter_get_rates,
		.drop = drop_rates,
	},
	[KTAPE_FILTER_STACK] = {
		.size = sizeof(u64),
		.get_size = sizeof(u64),
		.max = KTAPE_MASK_WORDS,
		.empty_is_off = true,
		.words = offsetof(struct kt_filters, stacks),
		.parse = parse_stacks,
	},
};

/* ---- changes of a session's filters ------------------------------------------ */

static struct kt_filters *filters_of_session(const struct kt_session *s)
{
	return rcu_dereference_protected(kt_filters[s->id],
					 lockdep_is_held(&kt_session_control));
}

/*
 * Return a copy that can be changed; NULL: no memory.  It shares what the kinds point to (sets,
 * gates, rates, CPUs) with @old.  So of @old, when no writer uses it any more, only the kind that
 * has changed is dropped, and gates that both have forget their pairs for both.
 */
static struct kt_filters *filters_copy(const struct kt_filters *old)
{
	if (old)
		return kmemdup(old, sizeof(*old), GFP_KERNEL_ACCOUNT);
	return kzalloc(sizeof(*old), GFP_KERNEL_ACCOUNT);
}

/*
 * Replace @old by @new; each may be NULL for none.  @kind is the filter that changes; @phase: it is
 * on or off from now on.  Afterwards no writer uses @old, and the caller may free it.
 */
static void filters_publish(struct kt_session *s, struct kt_filters *new,
			    const struct kt_filters *old, u32 kind, u32 phase)
{
	u64 extra[KTAPE_MASK_WORDS] = {};
	bool on = phase == KTAPE_PHASE_ON;

	/* If the new filter rejects switches, context records are wanted. */
	kt_mask_set(extra, KTAPE_EV_CONTEXT);
	if (s->running)
		kt_session_probes(extra);
	kt_session_lock_both();
	WRITE_ONCE(s->owner.generation, s->owner.generation + 1);
	if (s->running && on)
		kt_control_filters(s, phase, new, BIT(kind));
	/* Pairs that are open now began under the former filters: forget them. */
	kt_filters_renew_gates(new);
	kt_triggers_renew_gates(kt_session_triggers(s));
	rcu_assign_pointer(kt_filters[s->id], new);
	kt_match_renew();
	if (s->running)
		kt_session_want(s, old);
	kt_session_synchronize(s);
	/* Until now the old filters may have rejected the end of a pair, too. */
	kt_session_forget_pairs(s);
	if (s->running && kind == KTAPE_FILTER_CPU)
		kt_control_included(s, old);
	if (s->running && !on)
		kt_control_filters(s, phase, old, BIT(kind));
	kt_session_unlock_both();
	/* Let go of the probe that was attached for context records, unless they are wanted. */
	if (s->running)
		kt_session_probes(NULL);
}

static void filters_drop_kind(struct kt_filters *f, u32 kind)
{
	if (f && kt_filter_in_force(f, kind) && kt_filter_kinds[kind].drop)
		kt_filter_kinds[kind].drop(f);
}

static int filters_set(struct kt_session *s, u32 kind, const void *entries, u32 nr)
{
	const struct kt_filter_kind *k = &kt_filter_kinds[kind];
	struct kt_filters *old = filters_of_session(s), *new = filters_copy(old);
	int ret;

	if (!new)
		return -ENOMEM;
	/*
	 * Following threads waits for grace periods and walks all threads.  The session is
	 * busy meanwhile, so @old stays in force.
	 */
	kt_session_let_go(s);
	ret = k->parse ? k->parse(new, entries, nr) :
			 parse_words(new, k, entries, nr);
	kt_session_go_on(s);
	if (ret) {
		kfree(new);
		return ret;
	}
	new->kinds |= BIT(kind);
	/* Triggers do not get the events that a gate rejects. */
	if (kind == KTAPE_FILTER_GATE &&
	    kt_triggers_follow(kt_session_triggers(s), new->gates)) {
		filters_drop_kind(new, kind);
		kfree(new);
		return -EBUSY;
	}
	new->nr[kind] = nr;
	kt_filter_applies(new);
	filters_publish(s, new, old, kind, KTAPE_PHASE_ON);
	filters_drop_kind(old, kind);
	kfree(old);
	return 0;
}

static int filters_off(struct kt_session *s, u32 kind)
{
	struct kt_filters *old = filters_of_session(s), *new = NULL;

	if (!old || !kt_filter_in_force(old, kind))
		return 0;
	if (old->kinds != BIT(kind)) {
		new = filters_copy(old);
		if (!new)
			return -ENOMEM;
		new->kinds &= ~BIT(kind);
		kt_filter_applies(new);
	}
	filters_publish(s, new, old, kind, KTAPE_PHASE_OFF);
	filters_drop_kind(old, kind);
	kfree(old);
	return 0;
}

/**
 * kt_session_filter_set() - set a filter in place of the former one of its kind
 * @s: the session
 * @kind: enum ktape_filter_kind
 * @entries: the entries
 * @nr: number of entries, at most the kind's maximum; 0 turns some kinds off
 *
 * Nothing changes on failure.
 *
 * Context: process context, in the name spaces that the entries refer to; may
 * sleep.
 * Return: 0; -ENODEV: the session has ended; -ENOMEM; what the kind's check returns; -EBUSY:
 * a gate for a pair of events that a trigger of the session waits for.
 */
int kt_session_filter_set(struct kt_session *s, u32 kind, const void *entries, u32 nr)
{
	int ret;

	kt_session_enter(s);
	if (s->gone)
		ret = -ENODEV;
	else if (nr || !kt_filter_kinds[kind].empty_is_off)
		ret = filters_set(s, kind, entries, nr);
	else
		ret = filters_off(s, kind);
	kt_session_leave();
	return ret;
}

/**
 * kt_session_filter_off() - turn a filter off, if it is on
 * @s: the session
 * @kind: enum ktape_filter_kind
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV: the session has ended; -ENOMEM.
 */
int kt_session_filter_off(struct kt_session *s, u32 kind)
{
	int ret;

	kt_session_enter(s);
	ret = s->gone ? -ENODEV : filters_off(s, kind);
	kt_session_leave();
	return ret;
}

/**
 * kt_session_filter_get() - describe a filter
 * @s: the session
 * @to: in: kind; out: nr, active, generation and collisions
 * @entries: zeroed, with room for all entries of the kind; or NULL
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV: the session has ended.
 */
int kt_session_filter_get(struct kt_session *s, struct ktape_filter *to, void *entries)
{
	const struct kt_filter_kind *kind = &kt_filter_kinds[to->kind];
	const struct kt_filters *f;

	kt_session_enter(s);
	/* Another session may have its number. */
	if (s->gone) {
		kt_session_leave();
		return -ENODEV;
	}
	f = filters_of_session(s);
	to->generation = s->owner.generation;
	to->active = f && kt_filter_in_force(f, to->kind);
	to->nr = to->active ? f->nr[to->kind] : 0;
	if (to->active && kind->collisions)
		to->collisions = kind->collisions(f);
	if (to->nr && entries && kind->get)
		kind->get(f, entries);
	else if (to->nr && entries)
		memcpy(entries, (const void *)f + kind->words,
		       kind->max * sizeof(u64));
	kt_session_leave();
	return 0;
}

/**
 * kt_session_filters_exit() - free the filters of a session that ends
 * @s: the session, stopped for a grace period
 *
 * Context: process context without any of our locks, may sleep.
 */
void kt_session_filters_exit(struct kt_session *s)
{
	struct kt_filters *f;
	unsigned int kind;

	kt_session_enter_any();
	f = filters_of_session(s);
	mutex_lock(&kt_session_lock);
	RCU_INIT_POINTER(kt_filters[s->id], NULL);
	kt_match_renew();
	mutex_unlock(&kt_session_lock);
	kt_session_leave();
	/* kt_filter_thread_exits() uses filters without a want bit. */
	if (f)
		synchronize_rcu();
	for (kind = 0; kind < KTAPE_FILTER_KINDS; kind++)
		filters_drop_kind(f, kind);
	kfree(f);
}
