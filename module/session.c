// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates, clears and destroys sessions.  Orders:
 *
 *   create	reserve, rings without a lock, publish; barrier, want bits
 *   destroy	gone, want bits, synchronize_rcu(), irq_work_sync(), rings
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "control.h"
#include "persist.h"
#include "probe.h"
#include "registry.h"
#include "ring_mem.h"
#include "session.h"
#include "session_filter.h"
#include "session_trigger.h"

#define DEFAULT_RING		(1UL << 20)
#define DEFAULT_BLOCK		(64UL << 10)
#define DEFAULT_CONTROL		(64UL << 10)
#define CONTROL_BLOCK		(16UL << 10)
#define RING_BLOCKS_MIN		4
#define RING_MAX		(IS_ENABLED(CONFIG_64BIT) ? 1UL << 31 : 1UL << 30)

DEFINE_MUTEX(kt_session_control);
DEFINE_MUTEX(kt_session_lock);
struct kt_session *kt_sessions[KT_SESSIONS];

/*
 * Sessions whose rings are being made, by number.  Nobody finds them, but they have
 * their number, their name and their part of the memory.  Changed with
 * kt_session_control and kt_session_lock held.
 */
static struct kt_session *coming[KT_SESSIONS];

static u64 cpu_bytes(const struct kt_session *s)
{
	/* What the kernel does not use cannot become too little. */
	if (!s || s->mode == KTAPE_MODE_PERSISTENT)
		return 0;
	return (u64)s->size[KTAPE_RING_EVENT] + s->size[KTAPE_RING_CONTROL];
}

/* Of one CPU in all sessions. */
static u64 all_bytes(void)
{
	u64 all = 0;
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++)
		all += cpu_bytes(kt_sessions[i]) + cpu_bytes(coming[i]);
	return all;
}

static u64 bytes_allowed(unsigned int cpus)
{
	return div_u64((u64)totalram_pages() * PAGE_SIZE / 2, cpus);
}

/*
 * Would the rings of all sessions, and of one that is not there yet, take more than
 * half of the memory?  With kt_session_control or kt_session_lock.
 */
static bool is_too_much(const struct kt_session *extra)
{
	return cpu_bytes(extra) + all_bytes() >
	       bytes_allowed(num_online_cpus());
}

static unsigned int cpus_with_rings(const struct kt_session *s)
{
	unsigned int cpu, n = 0;

	for_each_possible_cpu(cpu)
		n += !!s->rings[cpu];
	return n;
}

/**
 * kt_session_has_room() - may one more CPU get rings?
 * @s: the session
 *
 * Context: process context, kt_session_lock.
 * Return: false if all rings there are and these took more than half of the
 * memory.
 */
bool kt_session_has_room(const struct kt_session *s)
{
	u64 all = cpu_bytes(s);
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++) {
		if (cpu_bytes(kt_sessions[i]))
			all += cpu_bytes(kt_sessions[i]) *
			       cpus_with_rings(kt_sessions[i]);
		all += cpu_bytes(coming[i]) * num_online_cpus();
	}
	return !cpu_bytes(s) || all <= bytes_allowed(1);
}

static u64 bytes_left(void)
{
	u64 allowed = bytes_allowed(num_online_cpus()), all = all_bytes();

	return allowed > all ? allowed - all : 0;
}

static void tell_too_much(const struct kt_session *s,
			  struct kt_session_config *c, u64 left)
{
	c->failed_cpu = -1;
	c->failed_asked = cpu_bytes(s) * num_online_cpus();
	c->failed_had = left * num_online_cpus();
}

static int set_sizes(struct kt_session *s, struct kt_session_config *c)
{
	u64 block = c->block_size ?: DEFAULT_BLOCK;
	u64 size = c->ring_size ?: DEFAULT_RING;
	u64 control = c->control_size ?: DEFAULT_CONTROL;

	if (s->mode == KTAPE_MODE_PERSISTENT)
		return kt_persist_take(s, c);
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
	if (s->size[KTAPE_RING_EVENT] <= RING_MAX && !is_too_much(s))
		return 0;
	tell_too_much(s, c, bytes_left());
	return -ENOMEM;
}

static bool is_name_taken(const char *name)
{
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++)
		if (coming[i] && !strcmp(coming[i]->name, name))
			return true;
	return kt_session_named(name);
}

/* Reserve a number.  Return: 0 or -EMFILE. */
static int take_number(struct kt_session *s)
{
	unsigned int id;

	for (id = 0; id < KT_SESSIONS; id++)
		if (!kt_sessions[id] && !coming[id])
			break;
	if (id == KT_SESSIONS)
		return -EMFILE;
	s->id = id;
	s->owner.session = id;
	mutex_lock(&kt_session_lock);
	coming[id] = s;
	mutex_unlock(&kt_session_lock);
	return 0;
}

/* Reserve what a session needs: name, memory, number. */
static int reserve(struct kt_session *s, struct kt_session_config *c)
{
	int ret = mutex_lock_killable(&kt_session_control);

	if (ret)
		return ret;
	ret = s->name[0] && is_name_taken(s->name) ? -EEXIST : 0;
	if (!ret)
		ret = set_sizes(s, c);
	if (!ret)
		ret = take_number(s);
	if (ret)
		kt_persist_close(s);
	mutex_unlock(&kt_session_control);
	return ret;
}

/* Give it back.  Its rings are freed by now. */
static void unreserve(struct kt_session *s)
{
	mutex_lock(&kt_session_control);
	kt_persist_close(s);
	mutex_lock(&kt_session_lock);
	coming[s->id] = NULL;
	mutex_unlock(&kt_session_lock);
	mutex_unlock(&kt_session_control);
}

/*
 * Let everybody find the session.
 * Return: 0; -EAGAIN: a CPU has come that has no rings; -ENOMEM: and may have none;
 * -EINTR: the caller was killed.
 */
static int publish(struct kt_session *s, struct kt_session_config *c)
{
	static u64 serials;
	int ret = mutex_lock_killable(&kt_session_control);

	if (ret)
		return ret;
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	/* A CPU that comes from here on finds the session and makes its rings. */
	if (kt_session_publish_rings(s)) {
		s->serial = ++serials;
		s->era = kt_registry_era();
		coming[s->id] = NULL;
		kt_sessions[s->id] = s;
	} else if (is_too_much(NULL)) {
		tell_too_much(s, c, 0);
		ret = -ENOMEM;
	} else {
		ret = -EAGAIN;
	}
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	mutex_unlock(&kt_session_control);
	return ret;
}

/* Each turn after the first makes rings for a CPU that had none. */
static int make_and_publish(struct kt_session *s, struct kt_session_config *c)
{
	int ret;

	do {
		ret = kt_session_make_rings(s, c);
		if (!ret)
			ret = publish(s, c);
	} while (ret == -EAGAIN);
	return ret;
}

/* Make a session whose number and memory are reserved, without a lock. */
static int make(struct kt_session *s, struct kt_session_config *c)
{
	int ret = kt_persist_lay_out(s);

	if (!ret)
		ret = make_and_publish(s, c);
	/* Memory may be too fragmented for blocks of the default size. */
	while (ret == -ENOMEM && !c->block_size &&
	       s->mode != KTAPE_MODE_PERSISTENT &&
	       s->block_size[KTAPE_RING_EVENT] > PAGE_SIZE) {
		kt_session_free_rings(s);
		s->block_size[KTAPE_RING_EVENT] /= 2;
		ret = make_and_publish(s, c);
	}
	return ret;
}

/* Whoever still waits arms it again through poll(). */
static void look(struct work_struct *work)
{
	struct kt_session *s = container_of(work, struct kt_session, look.work);

	wake_up_all(&s->owner.wait);
}

/**
 * kt_session_create() - make a session, stopped and with an empty profile
 * @config: what it is made of; filled with what failed
 *
 * Seconds may go by until large rings are made.  Everything else goes on meanwhile:
 * control of other sessions, CPUs that come and go.
 *
 * Context: process context, may sleep.
 * Return: the session with one user, and one more if it lingers; ERR_PTR of
 * -EINVAL (mode, sizes), -EEXIST (name), -EMFILE (too many sessions), -ENOMEM,
 * -EINTR (the caller was killed); persistent: as kt_persist_take() and
 * kt_persist_lay_out().
 */
struct kt_session *kt_session_create(struct kt_session_config *config)
{
	struct kt_session *s;
	int ret;

	if (config->mode > KTAPE_MODE_PERSISTENT)
		return ERR_PTR(-EINVAL);
	s = kzalloc(struct_size(s, rings, nr_cpu_ids), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->mode = config->mode;
	s->account = config->account;
	s->lingers = config->lingers;
	s->uid = current_uid();
	if (config->name)
		strscpy(s->name, config->name, sizeof(s->name));
	refcount_set(&s->users, 1 + s->lingers);
	spin_lock_init(&s->reader_lock);
	INIT_LIST_HEAD(&s->readers);
	INIT_DELAYED_WORK(&s->look, look);
	kt_owner_init(&s->owner);
	kt_session_freeze_init(s);
	kt_session_policy_init(s);
	kt_mask_normalise(s->mask);
	ret = reserve(s, config);
	if (ret)
		goto err;
	ret = make(s, config);
	if (!ret)
		return s;
	kt_session_free_rings(s);
	unreserve(s);
err:
	kfree(s);
	return ERR_PTR(ret);
}

/**
 * kt_session_destroy() - end a session and free it
 * @s: the session, ERR_PTR and NULL are nothing; it has no users
 *
 * Context: process context, may sleep.
 */
void kt_session_destroy(struct kt_session *s)
{
	if (IS_ERR_OR_NULL(s))
		return;
	mutex_lock(&kt_session_control);
	/* A trigger, ours or another's, may wait for the lock to start it. */
	s->gone = true;
	kt_session_stop_locked(s);
	mutex_unlock(&kt_session_control);
	cancel_delayed_work_sync(&s->look);
	cancel_delayed_work_sync(&s->watch);
	kt_session_freeze_exit(s);
	kt_session_triggers_exit(s);
	mutex_lock(&kt_session_control);
	kt_session_filters_exit(s);
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	kt_sessions[s->id] = NULL;
	/* No want bit is set since the stop: nobody looks at the pointers. */
	kt_owner_exit(&s->owner);
	kt_session_remove_rings(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	kt_persist_close(s);
	mutex_unlock(&kt_session_control);
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
	mutex_lock(&kt_session_lock);
	kt_session_forget(s);
	mutex_unlock(&kt_session_lock);
}

/**
 * kt_session_forget() - kt_session_clear() within the lock
 * @s: the session
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_forget(struct kt_session *s)
{
	unsigned int cpu, kind;
	unsigned long commit;
	struct kt_ring *r;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			r = kt_session_ring(s, cpu, kind);
			if (!r)
				continue;
			commit = kt_ring_commit(r);
			WRITE_ONCE(*kt_word(&r->page->floor), commit);
			spin_lock(&s->reader_lock);
			if (kt_before(*kt_word(&r->page->consumer), commit))
				/* Pairs with the acquire in consumed(). */
				smp_store_release(kt_word(&r->page->consumer),
						  commit);
			spin_unlock(&s->reader_lock);
		}
	}
	s->began = kt_clock();
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
	/* A stopped session has nothing to close: readers close it for themselves. */
	ret = s->active ? kt_control_flush(s) : 0;
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
		if (kt_sessions[i] && kt_sessions[i]->running)
			kt_control_resume(kt_sessions[i]);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
}
