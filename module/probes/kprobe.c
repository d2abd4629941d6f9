// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run-time probes: kprobes and kretprobes at functions that the user names.
 *
 * There is one slot for each of the KTAPE_PROBES opcodes from KTAPE_OP_PROBE on.
 * A probe is registered disabled, and enabled while a session or sink wants its
 * event and for a second after that, so an unwanted probe costs nothing.
 *
 * A probe may be hit anywhere, also while ktape itself runs: the ring handles such
 * a hit as a nested writer.  While a handler runs on a CPU, the kernel calls no
 * other there; it counts those hits as missed.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "event/event.h"
#include "internal.h"
#include "names/names.h"
#include "probes.h"

/* Calls of one function that a return probe can follow at the same time. */
#define RETURNS_MAX 256

/**
 * struct kt_probe_slot - the probe of one opcode
 * @rp: the kernel's part; an entry probe uses only the kprobe in it
 * @symbol: name of the function, empty = the slot is free
 * @flags: KTAPE_PROBE_*
 * @nargs: number of arguments to record; of a return probe, 1 = its value
 * @enabled: armed: the kernel calls the handler
 * @error: 0 or the negative errno of the last attempt to enable it
 */
struct kt_probe_slot {
	struct kretprobe rp;
	char symbol[KTAPE_PROBE_SYMBOL];
	u32 flags;
	u32 nargs;
	bool enabled;
	int error;
};

/**
 * struct kt_hits - counts of hits on one CPU, by slot
 * @recorded: hits that were passed on as events
 * @missed: hits that were dropped, because the CPU was reading the trace clock or
 *	RCU did not watch it
 */
struct kt_hits {
	u64 recorded[KTAPE_PROBES];
	u64 missed[KTAPE_PROBES];
};

/**
 * struct kt_missed - hits of a slot's probes that were missed since load
 * @total: the hits, by enum ktape_missed
 * @last_read: counts of the probe that is in the slot now, as read last: the kernel's, which
 *	wrap around, and that of struct kt_hits
 */
struct kt_missed {
	u64 total[KTAPE_MISSED_REASONS];
	struct {
		unsigned long busy;
		u32 returns;
		u64 refused;
	} last_read;
};

/*
 * Protects slots[] and wanted.  Taken inside probe_lock of probe.c.  The counts of
 * missed hits in a slot are read without it, see missed_lock.
 */
static DEFINE_MUTEX(kprobe_lock);
static struct kt_probe_slot slots[KTAPE_PROBES];

/*
 * Protects slot_missed[], and the counts in slots[] and slot_hits against being reset
 * while they are read.  Nothing nests inside.  Control records are written with the
 * CPU hotplug lock held, so kprobe_lock cannot be taken for them: the kernel's
 * functions that are called with it take the hotplug lock.
 */
static DEFINE_SPINLOCK(missed_lock);
static struct kt_missed slot_missed[KTAPE_PROBES];

static u32 wanted; /* bit n: a session or sink wants slot n */

/* Allocated with the first probe, before any handler can run. */
static struct kt_hits __percpu *slot_hits;

/* Record a hit: the address of the probe, and @values, of which addresses become tokens. */
static nokprobe_inline void kprobe_slot_record(const struct kt_probe_slot *slot,
					       const u64 *values)
{
	const u32 opcode = KTAPE_OP_PROBE + (slot - slots);
	const u32 ip = kt_token_func((unsigned long)slot->rp.kp.addr);
	u32 blob[1 + 2 * KTAPE_PROBE_ARGS_MAX], tokens = 0, i;
	struct kt_record rec = {
		.class = KTAPE_CLASS_KPROBE,
		.nargs = 1,
		.size = (1 + 2 * slot->nargs) * sizeof(*blob),
		.args = &ip,
		.blob = blob,
	};

	blob[0] = slot->nargs;
	for (i = 0; i < slot->nargs; i++) {
		u64 value = values[i];

		/* Kernel addresses are recorded as tokens only. */
		if (kt_is_kernel_address(value)) {
			value = kt_token((void *)(unsigned long)value);
			tokens |= BIT(i);
		}
		blob[1 + 2 * i] = (u32)value;
		blob[2 + 2 * i] = (u32)(value >> 32);
	}
	/* dat20: bit 0 is ret, which KTAPE_PROBE_RETURN is as well. */
	rec.code = KT_CODE(opcode,
			   (slot->flags & KTAPE_PROBE_RETURN) | tokens << 1, 1, 1);
	kt_event_record(KTAPE_RING_EVENT, &rec);
}

/*
 * Record a hit, or count it as missed.
 *
 * A hit in a function of the clock must not be recorded: a nested record makes the
 * interrupted writer read the clock again, which hits the probe again, without end.
 */
static nokprobe_inline void kprobe_slot_hit(const struct kt_probe_slot *slot,
					    const u64 *values)
{
	const unsigned int i = slot - slots;
	struct kt_hits *h;

	kt_probe_enter();
	h = this_cpu_ptr(slot_hits);
	/* The probe stays armed for a second after the last session stopped wanting it. */
	if (!kt_wanted(KTAPE_OP_PROBE + i))
		goto out;
	/* RCU: an ftrace-based probe may be in the idle loop; see emit/emit.c. */
	if (kt_clock_is_being_read() || !rcu_is_watching()) {
		kt_count(&h->missed[i]);
		goto out;
	}
	kprobe_slot_record(slot, values);
	kt_count(&h->recorded[i]);
out:
	kt_probe_leave();
}

static int notrace kprobe_slot_on_entry(struct kprobe *kp, struct pt_regs *regs)
{
	const struct kt_probe_slot *slot =
		container_of(kp, struct kt_probe_slot, rp.kp);
	u64 values[KTAPE_PROBE_ARGS_MAX];
	/*
	 * Does in_nmi() count this probe's breakpoint as an NMI?  Then it is counted in
	 * kt_breakpoints, so that the header of a block names the interrupted context.  An
	 * ftrace or jump-optimized probe does not change in_nmi().
	 */
	const bool breakpoint = in_nmi() && !kprobe_ftrace(kp) &&
				kt_is_counted_breakpoint(regs);
	u32 i;

	for (i = 0; i < slot->nargs; i++)
		values[i] = kt_function_argument(regs, i);
	/* No atomics: a nested context restores the count before it returns. */
	if (breakpoint)
		raw_cpu_inc(kt_breakpoints);
	kprobe_slot_hit(slot, values);
	if (breakpoint)
		raw_cpu_dec(kt_breakpoints);
	return 0;
}
NOKPROBE_SYMBOL(kprobe_slot_on_entry);

static int notrace kprobe_slot_on_return(struct kretprobe_instance *ri,
					 struct pt_regs *regs)
{
	const struct kretprobe *rp = kt_kretprobe_of(ri);
	const u64 value = regs_return_value(regs);

	/* NULL: the probe is being unregistered. */
	if (rp)
		kprobe_slot_hit(container_of(rp, struct kt_probe_slot, rp), &value);
	return 0;
}
NOKPROBE_SYMBOL(kprobe_slot_on_return);

static bool kprobe_slot_is_return(const struct kt_probe_slot *slot)
{
	return slot->flags & KTAPE_PROBE_RETURN;
}

static void kprobe_slot_disable(struct kt_probe_slot *slot)
{
	if (slot->enabled)
		disable_kprobe(&slot->rp.kp);
	slot->enabled = false;
}

static void kprobe_slot_enable(struct kt_probe_slot *slot)
{
	if (slot->enabled || !*slot->symbol || kprobe_gone(&slot->rp.kp))
		return;
	slot->error = enable_kprobe(&slot->rp.kp);
	slot->enabled = !slot->error;
}

/*
 * By how much has one of the kernel's counts grown?  The kernel does not count
 * atomically: when two CPUs count at the same time, the count may even go back.  Then
 * at least one hit was missed.
 */
static u64 missed_growth(long grown)
{
	return grown < 0 ? 1 : grown;
}

static u64 missed_refused(unsigned int i)
{
	u64 sum = 0;
	unsigned int cpu;

	if (!slot_hits)
		return 0;
	for_each_possible_cpu(cpu)
		sum += kt_count_read(&per_cpu_ptr(slot_hits, cpu)->missed[i]);
	return sum;
}

/* Add what was missed since the last time.  Called with missed_lock. */
static void missed_update(unsigned int i)
{
	struct kt_missed *m = &slot_missed[i];
	/*
	 * data_race(): the kernel counts up meanwhile.  Each value was right at some moment.
	 * Of several probes at one address each has its own count.
	 */
	const unsigned long busy = data_race(slots[i].rp.kp.nmissed);
	/* data_race(): likewise. */
	const u32 returns = data_race(slots[i].rp.nmissed);
	const u64 refused = missed_refused(i);

	m->total[KTAPE_MISSED_BUSY] += missed_growth(busy - m->last_read.busy);
	m->total[KTAPE_MISSED_RETURNS] +=
		missed_growth((s32)(returns - m->last_read.returns));
	m->total[KTAPE_MISSED_REFUSED] += refused - m->last_read.refused;
	m->last_read.busy = busy;
	m->last_read.returns = returns;
	m->last_read.refused = refused;
}

/*
 * The counts of a slot begin again: those of the kernel, which end with its probe, and, if @hits,
 * our own, which stay until another probe gets the slot.
 */
static void missed_restart(unsigned int i, bool hits)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!hits)
			break;
		per_cpu_ptr(slot_hits, cpu)->recorded[i] = 0;
		per_cpu_ptr(slot_hits, cpu)->missed[i] = 0;
	}
	slot_missed[i].last_read.busy = 0;
	slot_missed[i].last_read.returns = 0;
	if (hits)
		slot_missed[i].last_read.refused = 0;
}

static void kprobe_slot_unregister(struct kt_probe_slot *slot)
{
	if (kprobe_slot_is_return(slot))
		unregister_kretprobe(&slot->rp);
	else
		unregister_kprobe(&slot->rp.kp);
	kt_registry_gone(KTAPE_OBJ_PROBE, KTAPE_OP_PROBE + (slot - slots), 0);
	spin_lock(&missed_lock);
	missed_update(slot - slots);
	memset(slot, 0, sizeof(*slot));
	missed_restart(slot - slots, false);
	spin_unlock(&missed_lock);
}

/* Map the many errors with which the kernel refuses an address to -EINVAL. */
static int kprobe_slot_refusal(int error)
{
	return error == -ENOENT || error == -ENOMEM ? error : -EINVAL;
}

static int kprobe_slot_register(struct kt_probe_slot *slot)
{
	int ret;

	slot->rp.kp.symbol_name = slot->symbol;
	slot->rp.kp.flags = KPROBE_FLAG_DISABLED;
	if (kprobe_slot_is_return(slot)) {
		slot->rp.handler = kprobe_slot_on_return;
		slot->rp.maxactive = RETURNS_MAX;
		ret = register_kretprobe(&slot->rp);
	} else {
		slot->rp.kp.pre_handler = kprobe_slot_on_entry;
		ret = register_kprobe(&slot->rp.kp);
	}
	return ret ? kprobe_slot_refusal(ret) : 0;
}

static int kprobe_slot_check(const struct ktape_probe *p)
{
	bool ret = p->flags & KTAPE_PROBE_RETURN;

	if (p->opcode || p->hits || p->missed || p->reserved)
		return -EINVAL;
	if (p->flags & ~KTAPE_PROBE_RETURN || p->offset > UINT_MAX)
		return -EINVAL;
	if (!*p->symbol || !memchr(p->symbol, '\0', sizeof(p->symbol)))
		return -EINVAL;
	if (p->nargs > (ret ? 1 : KTAPE_PROBE_ARGS_MAX) || (ret && p->offset))
		return -EINVAL;
	/* Arguments are only in their registers at the function's entry. */
	if (p->offset && p->nargs)
		return -EINVAL;
	return ret || p->nargs <= KT_FUNCTION_ARGUMENTS ? 0 : -EOPNOTSUPP;
}

static struct kt_probe_slot *kprobe_slot_find_free(void)
{
	unsigned int i;

	for (i = 0; i < KTAPE_PROBES; i++)
		if (!*slots[i].symbol)
			return &slots[i];
	return NULL;
}

/*
 * Is the probe in the module's own code, or in the kernel's function that reads the
 * cycle counter?  Recording runs through both, so each record would hit the probe
 * again.  Functions that clock=mono calls are allowed, because the rest of the kernel
 * uses them, too.  kt_clock_is_being_read() detects hits there that ktape causes, and
 * they are counted as missed.
 */
static bool kprobe_slot_is_ours(const struct kprobe *kp)
{
	const unsigned long addr = (unsigned long)kp->addr;
	const unsigned long function = kt_cycles_function();

	return within_module(addr, THIS_MODULE) ||
	       (function && addr - kp->offset == function);
}

/* Called with kprobe_lock. */
static int hits_make(void)
{
	struct kt_hits __percpu *hits;

	if (slot_hits)
		return 0;
	hits = alloc_percpu(struct kt_hits);
	if (!hits)
		return -ENOMEM;
	/* Readers with this lock see zeroes. */
	spin_lock(&missed_lock);
	slot_hits = hits;
	spin_unlock(&missed_lock);
	return 0;
}

/* Put a probe into a free slot, enabled if it is wanted.  Return: as kt_kprobe_add(). */
static int kprobe_slot_fill(struct kt_probe_slot *slot, const struct ktape_probe *p)
{
	unsigned int i = slot - slots;
	int ret;

	ret = hits_make();
	if (ret)
		return ret;
	spin_lock(&missed_lock);
	missed_restart(i, true);
	spin_unlock(&missed_lock);
	strscpy(slot->symbol, p->symbol, sizeof(slot->symbol));
	slot->flags = p->flags;
	slot->nargs = p->nargs;
	slot->rp.kp.offset = p->offset;
	ret = kprobe_slot_register(slot);
	if (ret) {
		memset(slot, 0, sizeof(*slot));
		return ret;
	}
	if (kprobe_slot_is_ours(&slot->rp.kp)) {
		kprobe_slot_unregister(slot);
		return -EINVAL;
	}
	kt_registry_set(KTAPE_OBJ_PROBE, KTAPE_OP_PROBE + i,
			kprobe_slot_is_return(slot), 0, slot->symbol);
	if (wanted & BIT(i))
		kprobe_slot_enable(slot);
	return 0;
}

/**
 * kt_kprobe_add() - Register a probe in a free slot
 * @p: symbol, offset, flags and nargs of the probe, all other members 0; receives
 *	the opcode
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if a member is wrong or the kernel refuses a probe there;
 * -ENOENT if there is no such symbol; -ENOSPC if no slot is free; -EOPNOTSUPP if
 * this architecture cannot read so many arguments; -ENOMEM.
 */
int kt_kprobe_add(struct ktape_probe *p)
{
	struct kt_probe_slot *slot;
	int ret = kprobe_slot_check(p);

	if (ret)
		return ret;
	mutex_lock(&kprobe_lock);
	slot = kprobe_slot_find_free();
	ret = slot ? kprobe_slot_fill(slot, p) : -ENOSPC;
	if (!ret)
		p->opcode = KTAPE_OP_PROBE + (slot - slots);
	mutex_unlock(&kprobe_lock);
	return ret;
}

/**
 * kt_kprobe_remove() - Unregister a probe and free its slot
 * @opcode: opcode of the slot
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOENT if the slot is free.
 */
int kt_kprobe_remove(unsigned int opcode)
{
	struct kt_probe_slot *slot = &slots[opcode - KTAPE_OP_PROBE];
	int ret = -ENOENT;

	mutex_lock(&kprobe_lock);
	if (*slot->symbol) {
		kprobe_slot_unregister(slot);
		ret = 0;
	}
	mutex_unlock(&kprobe_lock);
	return ret;
}

/**
 * kt_kprobe_get() - Describe the probe in a slot
 * @p: opcode of the slot; receives the rest, an empty symbol if the slot is free
 *
 * Context: process context, may sleep.
 * Return: 0.
 */
int kt_kprobe_get(struct ktape_probe *p)
{
	const unsigned int i = p->opcode - KTAPE_OP_PROBE;
	const struct kt_probe_slot *slot = &slots[i];
	unsigned int cpu;

	mutex_lock(&kprobe_lock);
	p->flags = slot->flags;
	p->nargs = slot->nargs;
	p->offset = slot->rp.kp.offset;
	strscpy(p->symbol, slot->symbol, sizeof(p->symbol));
	/* data_race(): as in missed_update(). */
	p->missed = data_race(slot->rp.kp.nmissed + (u32)slot->rp.nmissed);
	p->hits = 0;
	if (*slot->symbol)
		p->missed += missed_refused(i);
	for_each_possible_cpu(cpu) {
		if (!*slot->symbol)
			break;
		p->hits += kt_count_read(&per_cpu_ptr(slot_hits, cpu)->recorded[i]);
	}
	mutex_unlock(&kprobe_lock);
	return 0;
}

/**
 * kt_kprobe_want() - Enable the probes of wanted events
 * @mask: union of the profiles of all sessions and sinks, bit n is opcode n
 *
 * Those of other events stay enabled until kt_kprobe_drop().
 *
 * Context: process context, may sleep.
 */
void kt_kprobe_want(const u64 *mask)
{
	unsigned int i;

	BUILD_BUG_ON(KTAPE_OP_PROBE % 64 + KTAPE_PROBES > 64);
	mutex_lock(&kprobe_lock);
	wanted = mask[KTAPE_OP_PROBE / 64] >> KTAPE_OP_PROBE % 64 &
		 (BIT(KTAPE_PROBES) - 1);
	for (i = 0; i < KTAPE_PROBES; i++)
		if (wanted & BIT(i))
			kprobe_slot_enable(&slots[i]);
	mutex_unlock(&kprobe_lock);
}

/**
 * kt_kprobe_drop() - Disable the probes of events that are not wanted
 *
 * Context: process context, may sleep.
 */
void kt_kprobe_drop(void)
{
	unsigned int i;

	mutex_lock(&kprobe_lock);
	for (i = 0; i < KTAPE_PROBES; i++)
		if (!(wanted & BIT(i)))
			kprobe_slot_disable(&slots[i]);
	mutex_unlock(&kprobe_lock);
}

/**
 * kt_kprobe_state() - Say whether the event of a slot can be recorded
 * @opcode: opcode of the slot
 * @error: receives the negative errno if the state is KTAPE_EVENT_FAILED, else 0
 * @attached: receives whether the probe is armed
 *
 * Context: process context, may sleep.
 * Return: enum ktape_event_state.
 */
u32 kt_kprobe_state(unsigned int opcode, int *error, bool *attached)
{
	const struct kt_probe_slot *slot = &slots[opcode - KTAPE_OP_PROBE];
	u32 state = KTAPE_EVENT_AVAILABLE;

	mutex_lock(&kprobe_lock);
	*error = slot->error;
	*attached = slot->enabled && !kprobe_gone((struct kprobe *)&slot->rp.kp);
	if (!*slot->symbol)
		state = KTAPE_EVENT_FREE_SLOT;
	else if (kprobe_gone((struct kprobe *)&slot->rp.kp))
		state = KTAPE_EVENT_GONE;
	else if (slot->error)
		state = KTAPE_EVENT_FAILED;
	mutex_unlock(&kprobe_lock);
	return state;
}

/**
 * kt_kprobe_missed() - Count the hits of a slot's probes that were missed since load
 * @opcode: opcode of the slot
 * @missed: receives the counts, by enum ktape_missed; they never decrease, also when
 *	the probe is removed and another one added
 *
 * Context: process context.
 * Return: false if the probe in the slot is not attached any more: its module was
 * unloaded.
 */
bool kt_kprobe_missed(unsigned int opcode, u64 *missed)
{
	const unsigned int i = opcode - KTAPE_OP_PROBE;
	bool gone;

	spin_lock(&missed_lock);
	missed_update(i);
	memcpy(missed, slot_missed[i].total, sizeof(slot_missed[i].total));
	/* data_race(): the kernel sets the flag while the module is unloaded. */
	gone = data_race(kprobe_gone(&slots[i].rp.kp));
	spin_unlock(&missed_lock);
	return !gone;
}

/**
 * kt_kprobe_exit() - Unregister all probes and wait until no handler runs
 *
 * Context: module unload, may sleep.
 */
void kt_kprobe_exit(void)
{
	unsigned int i;

	mutex_lock(&kprobe_lock);
	for (i = 0; i < KTAPE_PROBES; i++)
		if (*slots[i].symbol)
			kprobe_slot_unregister(&slots[i]);
	free_percpu(slot_hits);
	mutex_unlock(&kprobe_lock);
}
