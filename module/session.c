// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates, starts, stops and destroys sessions; changes profiles.
 *
 * What a session records is said by the want bytes alone (event.h).  Orders:
 *
 *   create	rings, barrier, want bits
 *   on		probes, want bits, synchronize_rcu(), markers
 *   off	markers, want bits, synchronize_rcu()
 *   destroy	off, irq_work_sync(), pointers, synchronize_rcu(), rings
 *
 * A probe is a section with preemption disabled, so after synchronize_rcu()
 * nobody writes who has not seen the change, and commit == write once the want
 * bits of a session are clear.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "control.h"
#include "probe.h"
#include "ring_mem.h"
#include "session.h"

#define DEFAULT_RING		(1UL << 20)
#define DEFAULT_BLOCK		(64UL << 10)
#define DEFAULT_CONTROL		(64UL << 10)
#define CONTROL_BLOCK		(16UL << 10)
#define RING_BLOCKS_MIN		4
#define RING_MAX		(IS_ENABLED(CONFIG_64BIT) ? 1UL << 31 : 1UL << 30)

DEFINE_MUTEX(kt_session_lock);
static struct kt_session *sessions[KT_SESSIONS];

/**
 * kt_session_ring() - a ring of a session
 * @s: the session
 * @cpu: any number
 * @kind: any number
 *
 * Context: any.
 * Return: the ring, or NULL if there is none.
 */
struct kt_ring *kt_session_ring(const struct kt_session *s, unsigned int cpu,
				unsigned int kind)
{
	const struct kt_rings *rings;

	if (cpu >= nr_cpu_ids || kind >= KTAPE_RINGS_PER_CPU)
		return NULL;
	/* Pairs with the release in make_rings(). */
	rings = smp_load_acquire(&s->rings[cpu]);
	return rings ? rings->ring[kind] : NULL;
}

static bool mask_has(const u64 *mask, unsigned int opcode)
{
	return mask[opcode / 64] & BIT_ULL(opcode % 64);
}

static void mask_set(u64 *mask, unsigned int opcode)
{
	mask[opcode / 64] |= BIT_ULL(opcode % 64);
}

static void mask_clear(u64 *mask, unsigned int opcode)
{
	mask[opcode / 64] &= ~BIT_ULL(opcode % 64);
}

/**
 * kt_session_mask_ok() - are there events for all bits of a mask?
 * @mask: bit n is opcode n
 *
 * Context: any.
 * Return: true or false.
 */
bool kt_session_mask_ok(const u64 *mask)
{
	unsigned int i;

	for (i = 0; i < KTAPE_OPCODES; i++)
		if (mask_has(mask, i) && !kt_event_opcode_exists(i))
			return false;
	return true;
}

/* Bring a profile into the form in which it is kept and told. */
static void normalise(u64 *mask)
{
	unsigned int i;

	for (i = KTAPE_OP_CONTROL; i < KTAPE_OP_EXCEPTION; i++)
		if (kt_event_opcode_exists(i))
			mask_set(mask, i);
	/* The wide forms take the place of the fast ones. */
	if (mask_has(mask, KTAPE_EV_SYS_ENTER_WIDE))
		mask_clear(mask, KTAPE_EV_SYS_ENTER);
	if (mask_has(mask, KTAPE_EV_SYS_EXIT_WIDE))
		mask_clear(mask, KTAPE_EV_SYS_EXIT);
}

/*
 * Context records stand for sched_switch: they are wanted when the session
 * records anything else into event rings, unless it was told to omit them.
 */
static bool wants_context(const struct kt_session *s)
{
	unsigned int i;

	if (mask_has(s->mask, KTAPE_EV_SCHED_SWITCH) ||
	    (s->flags & KTAPE_PROFILE_NO_CONTEXT))
		return false;
	for (i = KTAPE_OP_EXCEPTION + 1; i < KTAPE_OPCODES; i++)
		if (mask_has(s->mask, i))
			return true;
	return false;
}

static bool wants(const struct kt_session *s, unsigned int opcode)
{
	if (!s->active)
		return false;
	if (opcode == KTAPE_EV_CONTEXT)
		return wants_context(s);
	return mask_has(s->mask, opcode);
}

/* Set and clear the want bits of a session on one CPU. */
static void kt_want_set(const struct kt_session *s, unsigned int cpu)
{
	struct kt_cpu *c = per_cpu_ptr(&kt_cpus, cpu);
	unsigned int i;
	u8 old, new;

	if (!kt_session_ring(s, cpu, 0))
		return;
	/*
	 * The pointers to the rings come before the bits.  Pairs with the
	 * address dependency from the bit to the pointer in kt_event().
	 */
	smp_wmb();
	for (i = 0; i < KTAPE_OPCODES; i++) {
		old = READ_ONCE(c->want[i]);
		new = wants(s, i) ? old | BIT(s->id) : old & ~BIT(s->id);
		if (new != old)
			WRITE_ONCE(c->want[i], new);
	}
}

static void want_everywhere(const struct kt_session *s)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		kt_want_set(s, cpu);
}

/* Attach the probes that any running session wants. */
static int update_probes(void)
{
	u64 mask[KTAPE_MASK_WORDS] = {};
	unsigned int i, j;

	for (i = 0; i < KT_SESSIONS; i++) {
		for (j = 0; sessions[i] && j < KTAPE_OPCODES; j++)
			if (wants(sessions[i], j))
				mask_set(mask, j);
	}
	return kt_probe_want(mask);
}

static void set_flags(struct kt_session *s, u64 flags)
{
	unsigned int cpu, kind;
	struct kt_ring *r;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = kt_session_ring(s, cpu, kind);
			if (r)
				WRITE_ONCE(r->page->flags, flags);
		}
	}
}

static int start(struct kt_session *s)
{
	if (s->running)
		return 0;
	set_flags(s, 0);
	s->owner.generation++;
	s->active = true;
	WRITE_ONCE(s->running, true);
	/* A probe that fails is told by the event's state, the others go on. */
	update_probes();
	want_everywhere(s);
	synchronize_rcu();
	kt_control_session(s, KTAPE_PHASE_ON);
	kt_control_profile(s, KTAPE_PHASE_ON, s->mask);
	return 0;
}

static void stop(struct kt_session *s)
{
	u64 nothing[KTAPE_MASK_WORDS] = {};

	if (!s->running)
		return;
	kt_control_profile(s, KTAPE_PHASE_OFF, nothing);
	s->active = false;
	want_everywhere(s);
	synchronize_rcu();
	kt_control_ledger(s);
	kt_control_session(s, KTAPE_PHASE_OFF);
	set_flags(s, KT_RING_STOPPED);
	update_probes();
	/* Pairs with the read barrier in refill(): nothing comes any more. */
	smp_store_release(&s->running, false);
	wake_up_all(&s->owner.wait);
}

/**
 * kt_session_start() - record
 * @s: the session
 *
 * Context: process context, may sleep.
 * Return: 0.
 */
int kt_session_start(struct kt_session *s)
{
	int ret;

	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	ret = start(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	return ret;
}

/**
 * kt_session_stop() - stop recording
 * @s: the session
 *
 * Afterwards commit == write in all rings and the counts are exact.
 *
 * Context: process context, may sleep.
 */
void kt_session_stop(struct kt_session *s)
{
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	stop(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
}

/* Change the profile of a session that records, with its markers. */
static void change(struct kt_session *s, const u64 *mask, u32 flags)
{
	u64 added = 0, removed = 0;
	unsigned int i;

	for (i = 0; i < KTAPE_MASK_WORDS; i++) {
		added |= mask[i] & ~s->mask[i];
		removed |= s->mask[i] & ~mask[i];
	}
	WRITE_ONCE(s->owner.generation, s->owner.generation + 1);
	if (s->running && removed)
		kt_control_profile(s, KTAPE_PHASE_OFF, mask);
	memcpy(s->mask, mask, sizeof(s->mask));
	s->flags = flags;
	if (!s->running)
		return;
	update_probes();
	want_everywhere(s);
	synchronize_rcu();
	if (added)
		kt_control_profile(s, KTAPE_PHASE_ON, mask);
}

/**
 * kt_session_profile() - replace the profile
 * @s: the session
 * @mask: bit n is opcode n, checked by kt_session_mask_ok()
 * @flags: KTAPE_PROFILE_*
 *
 * Context: process context, may sleep; cpus_read_lock() and kt_session_lock
 * are held.
 * Return: 0.
 */
int kt_session_profile(struct kt_session *s, const u64 *mask, u32 flags)
{
	u64 new[KTAPE_MASK_WORDS];

	lockdep_assert_held(&kt_session_lock);
	memcpy(new, mask, sizeof(new));
	normalise(new);
	change(s, new, flags);
	return 0;
}

/**
 * kt_session_parse_profile() - a profile from a module parameter
 * @text: none, default, all, or up to 64 hexadecimal digits
 * @mask: where to
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int kt_session_parse_profile(const char *text, u64 *mask)
{
	static const u32 in_default =
		BIT(KTAPE_CLASS_EXCEPTION) | BIT(KTAPE_CLASS_USER) |
		BIT(KTAPE_CLASS_SCHED) | BIT(KTAPE_CLASS_PROCESS) |
		BIT(KTAPE_CLASS_IRQ) | BIT(KTAPE_CLASS_SOFTIRQ);
	bool all = !strcmp(text, "all"), def = !strcmp(text, "default");
	unsigned int i, len;
	int digit;

	memset(mask, 0, KTAPE_MASK_WORDS * sizeof(*mask));
	if (all || def || !strcmp(text, "none")) {
		for (i = 0; i < KTAPE_OPCODES; i++)
			if (kt_event_opcode_exists(i) &&
			    i != KTAPE_EV_SYS_ENTER_WIDE &&
			    i != KTAPE_EV_SYS_EXIT_WIDE &&
			    (all || (def && BIT(kt_event_class(i)) & in_default)))
				mask_set(mask, i);
		return 0;
	}
	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		text += 2;
	len = strlen(text);
	if (!len || len > KTAPE_OPCODES / 4)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		digit = hex_to_bin(text[len - 1 - i]);
		if (digit < 0)
			return -EINVAL;
		mask[i / 16] |= (u64)digit << (i % 16 * 4);
	}
	return kt_session_mask_ok(mask) ? 0 : -EINVAL;
}

static void free_rings(struct kt_rings *rings)
{
	unsigned int kind;

	for (kind = 0; rings && kind < KTAPE_RINGS_PER_CPU; kind++)
		kt_ring_free(rings->ring[kind]);
	kfree(rings);
}

/* Give a CPU its rings.  Nobody frees them before the session ends. */
static int make_rings(struct kt_session *s, unsigned int cpu)
{
	struct kt_ring_spec spec = {
		.mode = s->mode,
		.cpu = cpu,
		.account = s->account,
		.owner = &s->owner,
	};
	struct kt_rings *rings;
	struct kt_ring *r;

	if (s->rings[cpu])
		return 0;
	rings = kzalloc(sizeof(*rings), GFP_KERNEL);
	if (!rings)
		return -ENOMEM;
	for (; spec.kind < KTAPE_RINGS_PER_CPU; spec.kind++) {
		spec.size = s->size[spec.kind];
		spec.block_size = s->block_size[spec.kind];
		r = kt_ring_alloc(&spec);
		if (IS_ERR(r)) {
			free_rings(rings);
			return PTR_ERR(r);
		}
		WRITE_ONCE(r->page->flags, s->running ? 0 : KT_RING_STOPPED);
		rings->ring[spec.kind] = r;
		per_cpu_ptr(&kt_cpus, cpu)->ring[spec.kind][s->id] = r;
	}
	/* Pairs with the acquire in kt_session_ring(). */
	smp_store_release(&s->rings[cpu], rings);
	return 0;
}

static void remove_rings(struct kt_session *s)
{
	unsigned int cpu, kind;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			per_cpu_ptr(&kt_cpus, cpu)->ring[kind][s->id] = NULL;
		free_rings(s->rings[cpu]);
		s->rings[cpu] = NULL;
	}
}

static int set_sizes(struct kt_session *s, const struct kt_session_config *c)
{
	u64 block = c->block_size ?: DEFAULT_BLOCK;
	u64 size = c->ring_size ?: DEFAULT_RING;
	u64 control = c->control_size ?: DEFAULT_CONTROL;

	if (size > RING_MAX || block > RING_MAX / RING_BLOCKS_MIN ||
	    control > RING_MAX)
		return -EINVAL;
	/* A small ring that did not ask for a block size gets smaller blocks. */
	if (!c->block_size)
		block = min_t(u64, block, size / RING_BLOCKS_MIN);
	block = roundup_pow_of_two(max_t(u64, block, PAGE_SIZE));
	if (get_order(block) > KT_ORDER_MAX)
		return -EINVAL;
	s->block_size[KTAPE_RING_EVENT] = block;
	s->size[KTAPE_RING_EVENT] =
		max_t(u64, roundup_pow_of_two(max_t(u64, size, 1)),
		      block * RING_BLOCKS_MIN);
	block = max_t(u64, PAGE_SIZE, min_t(u64, block, CONTROL_BLOCK));
	s->block_size[KTAPE_RING_CONTROL] = block;
	s->size[KTAPE_RING_CONTROL] =
		max_t(u64, roundup_pow_of_two(max_t(u64, control, 1)),
		      block * RING_BLOCKS_MIN);
	if (s->size[KTAPE_RING_EVENT] > RING_MAX ||
	    (u64)(s->size[KTAPE_RING_EVENT] + s->size[KTAPE_RING_CONTROL]) *
			    num_online_cpus() >
		    (u64)totalram_pages() * PAGE_SIZE / 2)
		return -ENOMEM;
	return 0;
}

static int add_online_cpus(struct kt_session *s)
{
	unsigned int cpu;
	int ret;

	for_each_online_cpu(cpu) {
		ret = make_rings(s, cpu);
		if (ret)
			return ret;
	}
	return 0;
}

/* Find a number and make the rings.  Called with both locks. */
static int set_up(struct kt_session *s, const struct kt_session_config *c)
{
	unsigned int id;
	int ret;

	for (id = 0; id < KT_SESSIONS; id++)
		if (!sessions[id])
			break;
	if (id == KT_SESSIONS)
		return -EMFILE;
	s->id = id;
	ret = add_online_cpus(s);
	if (ret)
		remove_rings(s);
	else
		sessions[id] = s;
	return ret;
}

/**
 * kt_session_create() - make a session, stopped and with an empty profile
 * @config: what it is made of
 *
 * Context: process context, may sleep.
 * Return: the session; ERR_PTR of -EINVAL (mode, sizes), -EMFILE (too many
 * sessions), -ENOMEM.
 */
struct kt_session *kt_session_create(const struct kt_session_config *config)
{
	struct kt_session *s;
	int ret;

	if (config->mode > KTAPE_MODE_DISCARD)
		return ERR_PTR(-EINVAL);
	s = kzalloc(struct_size(s, rings, nr_cpu_ids), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->mode = config->mode;
	s->account = config->account;
	spin_lock_init(&s->reader_lock);
	INIT_LIST_HEAD(&s->readers);
	kt_owner_init(&s->owner);
	normalise(s->mask);
	ret = set_sizes(s, config);
	if (!ret) {
		cpus_read_lock();
		mutex_lock(&kt_session_lock);
		ret = set_up(s, config);
		mutex_unlock(&kt_session_lock);
		cpus_read_unlock();
	}
	if (ret) {
		kfree(s);
		return ERR_PTR(ret);
	}
	return s;
}

/**
 * kt_session_destroy() - end a session and free it
 * @s: the session, ERR_PTR and NULL are nothing; no file has it open
 *
 * Context: process context, may sleep.
 */
void kt_session_destroy(struct kt_session *s)
{
	if (IS_ERR_OR_NULL(s))
		return;
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	stop(s);
	sessions[s->id] = NULL;
	/* No want bit is set since stop(): nobody looks at the pointers. */
	kt_owner_exit(&s->owner);
	remove_rings(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	kfree(s);
}

/**
 * kt_session_clear() - forget what was recorded
 * @s: the session
 *
 * Control moves its own word, floor; tail stays the writer's.
 *
 * Context: process context.
 */
void kt_session_clear(struct kt_session *s)
{
	unsigned int cpu, kind;
	unsigned long commit;
	struct kt_ring *r;

	mutex_lock(&kt_session_lock);
	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = kt_session_ring(s, cpu, kind);
			if (!r)
				continue;
			commit = kt_ring_commit(r);
			WRITE_ONCE(*kt_word(&r->page->floor), commit);
			spin_lock(&s->reader_lock);
			/* Pairs with the acquire of consumer in make_room(). */
			if (kt_before(*kt_word(&r->page->consumer), commit))
				smp_store_release(kt_word(&r->page->consumer),
						  commit);
			spin_unlock(&s->reader_lock);
		}
	}
	mutex_unlock(&kt_session_lock);
}

/**
 * kt_session_flush() - close the open blocks
 * @s: the session
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP if its mode is not discard; -EAGAIN when a ring had
 * no room for another block.
 */
int kt_session_flush(struct kt_session *s)
{
	int ret;

	if (s->mode != KTAPE_MODE_DISCARD)
		return -EOPNOTSUPP;
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	ret = kt_control_flush(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	return ret;
}

/**
 * kt_session_resumed() - the system was suspended: relate the clocks anew
 *
 * Context: process context, may sleep.
 */
void kt_session_resumed(void)
{
	unsigned int i;

	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	for (i = 0; i < KT_SESSIONS; i++)
		if (sessions[i] && sessions[i]->running)
			kt_control_resume(sessions[i]);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
}

/* ---- CPUs come and go -------------------------------------------------- */

static int cpuhp_state_prepare, cpuhp_state_online;

/* On another CPU, before @cpu runs: a CPU without memory goes unrecorded. */
static int cpu_prepare(unsigned int cpu)
{
	unsigned int i;

	mutex_lock(&kt_session_lock);
	for (i = 0; i < KT_SESSIONS; i++) {
		if (!sessions[i])
			continue;
		if (make_rings(sessions[i], cpu))
			pr_warn_once("no memory for the rings of CPU %u\n",
				     cpu);
		kt_want_set(sessions[i], cpu);
	}
	mutex_unlock(&kt_session_lock);
	return 0;
}

static int cpu_change(unsigned int cpu, bool online)
{
	unsigned int i;

	mutex_lock(&kt_session_lock);
	for (i = 0; i < KT_SESSIONS; i++)
		if (sessions[i] && sessions[i]->running)
			kt_control_cpu(sessions[i], cpu, online);
	mutex_unlock(&kt_session_lock);
	return 0;
}

static int cpu_online_cb(unsigned int cpu)
{
	return cpu_change(cpu, true);
}

static int cpu_offline_cb(unsigned int cpu)
{
	return cpu_change(cpu, false);
}

/**
 * kt_session_hotplug_init() - follow CPUs as they come and go
 *
 * Context: module load, before the first session.
 * Return: 0 or a negative errno.
 */
int kt_session_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "ktape:prepare",
					cpu_prepare, NULL);
	if (ret < 0)
		return ret;
	cpuhp_state_prepare = ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ktape:online",
					cpu_online_cb, cpu_offline_cb);
	if (ret < 0) {
		cpuhp_remove_state_nocalls(cpuhp_state_prepare);
		return ret;
	}
	cpuhp_state_online = ret;
	return 0;
}

/**
 * kt_session_hotplug_exit() - no longer follow CPUs
 *
 * Context: module unload, after the last session.
 */
void kt_session_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(cpuhp_state_online);
	cpuhp_remove_state_nocalls(cpuhp_state_prepare);
}
