// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes at functions of the kernel, added at run time: one slot an opcode.
 *
 * A probe is registered disabled and enabled while somebody wants its event, so
 * that what nobody records costs nothing.  It may be hit anywhere, in the middle
 * of our own work too: the rings take that for a nested context.  The kernel
 * does not call a handler while another one runs on the same CPU; it counts
 * such hits as missed.
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

/* Calls of one function whose returns can be awaited at the same time. */
#define RETURNS_MAX	256

/**
 * struct kt_slot - the probe of one opcode
 * @rp: the kernel's part; of a probe at an entry only its kprobe is used
 * @symbol: name of the function, empty: a free slot
 * @flags: KTAPE_PROBE_*
 * @nargs: how many arguments are recorded; of a return probe, values
 * @enabled: it is armed
 * @error: of the last try to enable it
 */
struct kt_slot {
	struct kretprobe rp;
	char symbol[KTAPE_PROBE_SYMBOL];
	u32 flags;
	u32 nargs;
	bool enabled;
	int error;
};

/**
 * struct kt_hits - what one CPU has seen of each slot
 * @recorded: how many
 * @missed: how many were not: we were reading the clock, or RCU did not watch
 */
struct kt_hits {
	unsigned long recorded[KTAPE_PROBES];
	unsigned long missed[KTAPE_PROBES];
};

/* Protects the slots and what is wanted of them; inside probe_lock. */
static DEFINE_MUTEX(kprobe_lock);
static struct kt_slot slots[KTAPE_PROBES];
static u32 wanted;	/* bit n: slot n */

static DEFINE_PER_CPU(struct kt_hits, slot_hits);

static nokprobe_inline void kprobe_slot_record(const struct kt_slot *slot,
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

		/* Where things are in the kernel is told nowhere. */
		if (kt_is_kernel_address(value)) {
			value = kt_token((void *)(unsigned long)value);
			tokens |= BIT(i);
		}
		blob[1 + 2 * i] = (u32)value;
		blob[2 + 2 * i] = (u32)(value >> 32);
	}
	rec.code = KT_CODE(opcode,
			   (slot->flags & KTAPE_PROBE_RETURN) | tokens << 1, 1,
			   1);
	kt_event_record(KTAPE_RING_EVENT, &rec);
}

/*
 * A record that comes in while its own CPU reads the clock for another one makes
 * that one read the clock again, where the same probe would be hit again, and
 * so on without end.
 */
static nokprobe_inline void kprobe_slot_hit(const struct kt_slot *slot,
					    const u64 *values)
{
	const unsigned int i = slot - slots;
	struct kt_hits *h;

	kt_probe_enter();
	h = this_cpu_ptr(&slot_hits);
	/* It is disarmed a second after the last one wanted it. */
	if (!kt_cpu_read(kt_cpus.want[KTAPE_OP_PROBE + i]) &&
	    !kt_sink_wants(KTAPE_OP_PROBE + i))
		goto out;
	/* Functions of the idle loop may have a probe by ftrace; see emit.c. */
	if (kt_clock_is_being_read() || !rcu_is_watching()) {
		kt_count_long(&h->missed[i]);
		goto out;
	}
	kprobe_slot_record(slot, values);
	kt_count_long(&h->recorded[i]);
out:
	kt_probe_leave();
}

static int notrace kprobe_slot_on_entry(struct kprobe *kp, struct pt_regs *regs)
{
	const struct kt_slot *slot = container_of(kp, struct kt_slot, rp.kp);
	u64 values[KTAPE_PROBE_ARGS_MAX];
	/* The others come by a call or a jump; in_nmi() is then what it was. */
	const bool breakpoint = in_nmi() && !kprobe_ftrace(kp) &&
				kt_is_counted_breakpoint(regs);
	u32 i;

	for (i = 0; i < slot->nargs; i++)
		values[i] = kt_function_argument(regs, i);
	/* Contexts that come in between leave it as they found it. */
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

	/* It is being unregistered: rp is gone. */
	if (rp)
		kprobe_slot_hit(container_of(rp, struct kt_slot, rp), &value);
	return 0;
}
NOKPROBE_SYMBOL(kprobe_slot_on_return);

static bool kprobe_slot_is_return(const struct kt_slot *slot)
{
	return slot->flags & KTAPE_PROBE_RETURN;
}

static void kprobe_slot_disable(struct kt_slot *slot)
{
	if (slot->enabled)
		disable_kprobe(&slot->rp.kp);
	slot->enabled = false;
}

static void kprobe_slot_enable(struct kt_slot *slot)
{
	if (slot->enabled || !*slot->symbol || kprobe_gone(&slot->rp.kp))
		return;
	slot->error = enable_kprobe(&slot->rp.kp);
	slot->enabled = !slot->error;
}

static void kprobe_slot_unregister(struct kt_slot *slot)
{
	if (kprobe_slot_is_return(slot))
		unregister_kretprobe(&slot->rp);
	else
		unregister_kprobe(&slot->rp.kp);
	kt_registry_gone(KTAPE_OBJ_PROBE, KTAPE_OP_PROBE + (slot - slots), 0);
	memset(slot, 0, sizeof(*slot));
}

/* The kernel has many words for "not there". */
static int kprobe_slot_refusal(int error)
{
	return error == -ENOENT || error == -ENOMEM ? error : -EINVAL;
}

static int kprobe_slot_register(struct kt_slot *slot)
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
	/* Within a function the registers are no arguments any more. */
	if (p->offset && p->nargs)
		return -EINVAL;
	return ret || p->nargs <= KT_FUNCTION_ARGUMENTS ? 0 : -EOPNOTSUPP;
}

static struct kt_slot *kprobe_slot_find_free(void)
{
	unsigned int i;

	for (i = 0; i < KTAPE_PROBES; i++)
		if (!*slots[i].symbol)
			return &slots[i];
	return NULL;
}

/*
 * Is it at code that each record runs through?  That of the module would be hit
 * by its own records; the function that reads the cycle counter, by all of them.
 * What clock=mono calls is the kernel's in many other places: there hits of our
 * own are left out, and counted as missed, by kt_clock_is_being_read().
 */
static bool kprobe_slot_is_ours(const struct kprobe *kp)
{
	const unsigned long addr = (unsigned long)kp->addr;
	const unsigned long function = kt_cycles_function();

	return within_module(addr, THIS_MODULE) ||
	       (function && addr - kp->offset == function);
}

static int kprobe_slot_fill(struct kt_slot *slot, const struct ktape_probe *p)
{
	unsigned int i = slot - slots, cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		per_cpu(slot_hits, cpu).recorded[i] = 0;
		per_cpu(slot_hits, cpu).missed[i] = 0;
	}
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
 * kt_kprobe_add() - add a probe to a free slot
 * @p: symbol, offset, flags, nargs; the others are zero.  Receives the opcode
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL: bad members, or the kernel refuses a probe there; -ENOENT:
 * no such symbol; -ENOSPC: no free slot; -EOPNOTSUPP: no arguments to be had;
 * -ENOMEM.
 */
int kt_kprobe_add(struct ktape_probe *p)
{
	struct kt_slot *slot;
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
 * kt_kprobe_remove() - remove a probe
 * @opcode: of a slot
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOENT: the slot is free.
 */
int kt_kprobe_remove(unsigned int opcode)
{
	struct kt_slot *slot = &slots[opcode - KTAPE_OP_PROBE];
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
 * kt_kprobe_get() - tell what a slot holds
 * @p: opcode of a slot; the rest is filled, with an empty symbol for a free slot
 *
 * Context: process context, may sleep.
 * Return: 0.
 */
int kt_kprobe_get(struct ktape_probe *p)
{
	const unsigned int i = p->opcode - KTAPE_OP_PROBE;
	const struct kt_slot *slot = &slots[i];
	unsigned int cpu;

	mutex_lock(&kprobe_lock);
	p->flags = slot->flags;
	p->nargs = slot->nargs;
	p->offset = slot->rp.kp.offset;
	strscpy(p->symbol, slot->symbol, sizeof(p->symbol));
	p->missed = slot->rp.kp.nmissed + slot->rp.nmissed;
	p->hits = 0;
	for_each_possible_cpu(cpu) {
		if (!*slot->symbol)
			break;
		p->hits += READ_ONCE(per_cpu(slot_hits, cpu).recorded[i]);
		p->missed += READ_ONCE(per_cpu(slot_hits, cpu).missed[i]);
	}
	mutex_unlock(&kprobe_lock);
	return 0;
}

/**
 * kt_kprobe_want() - enable what is wanted now
 * @mask: union of the sessions' profiles, bit n is opcode n
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
 * kt_kprobe_drop() - disable what nobody wants
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
 * kt_kprobe_state() - can the event of a slot be recorded?
 * @opcode: of a slot
 * @error: out: with KTAPE_EVENT_FAILED the reason
 * @attached: out: the probe is armed
 *
 * Context: process context, may sleep.
 * Return: enum ktape_event_state.
 */
u32 kt_kprobe_state(unsigned int opcode, int *error, bool *attached)
{
	const struct kt_slot *slot = &slots[opcode - KTAPE_OP_PROBE];
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
 * kt_kprobe_exit() - remove all probes and wait until no handler runs
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
	mutex_unlock(&kprobe_lock);
}
