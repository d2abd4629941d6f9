// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates, finds, lists and destroys sessions.  Orders:
 *
 *   create	reserve, rings without a lock, publish; barrier, want bits
 *   destroy	gone, want bits, synchronize_rcu(), irq_work_sync(), withdraw; rings
 *		without a lock, number and memory
 *
 * Each open file is a user of its session; a name that lingers is one more.  The
 * last user frees it.  Who looks for a session with kt_session_control held may
 * find one without users that is about to be freed, and passes it over.
 */
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "persist/persist.h"
#include "names/names.h"
#include "ring/ring.h"
#include "internal.h"

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
 * Sessions whose rings are being made or freed, by number.  They are in no list that
 * others look into, but have their number and their part of the memory, and those that
 * come their name.  Changed with kt_session_control and kt_session_lock held.
 */
static struct kt_session *unlisted[KT_SESSIONS];

static u64 session_cpu_bytes(const struct kt_session *s)
{
	/* What the kernel does not use cannot become too little. */
	if (!s || s->mode == KTAPE_MODE_PERSISTENT)
		return 0;
	return (u64)s->size[KTAPE_RING_EVENT] + s->size[KTAPE_RING_CONTROL];
}

/*
 * What its rings take, or will take.  Those of CPUs that have left stay.  Whoever
 * makes or frees rings without a lock changes the pointers meanwhile, those of CPUs
 * that left among them: rings that come or go right now are counted or are not.
 */
static u64 session_ring_bytes(const struct kt_session *s, bool online)
{
	unsigned int cpu, n = 0;

	if (!session_cpu_bytes(s))
		return 0;
	for_each_possible_cpu(cpu)
		n += READ_ONCE(s->rings[cpu]) || (online && cpu_online(cpu));
	return session_cpu_bytes(s) * n;
}

/*
 * All sessions but @but.  CPUs that are online and have no rings count in those
 * that are being made; in others, where they have none for want of memory, as
 * @online says.
 */
static u64 sessions_ring_bytes(const struct kt_session *but, bool online)
{
	u64 all = 0;
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++) {
		if (kt_sessions[i] != but)
			all += session_ring_bytes(kt_sessions[i], online);
		if (unlisted[i] && unlisted[i] != but)
			all += session_ring_bytes(unlisted[i],
						  !unlisted[i]->gone);
	}
	return all;
}

static u64 sessions_bytes_allowed(void)
{
	return (u64)totalram_pages() * PAGE_SIZE / 2;
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
	return !session_cpu_bytes(s) ||
	       session_cpu_bytes(s) + sessions_ring_bytes(NULL, false) <=
		       sessions_bytes_allowed();
}

/*
 * Do the rings of a session that is being made fit, with those of all others, into
 * half of the memory?  With kt_session_control or kt_session_lock.
 * Return: 0; -ENOMEM, and @c tells.
 */
static int session_check_room(const struct kt_session *s,
			      struct kt_session_config *c)
{
	u64 allowed = sessions_bytes_allowed(),
	    others = sessions_ring_bytes(s, true);
	u64 asked = session_ring_bytes(s, true);

	if (!asked || asked + others <= allowed)
		return 0;
	c->failed_cpu = -1;
	c->failed_asked = asked;
	c->failed_had = allowed > others ? allowed - others : 0;
	return -ENOMEM;
}

static int session_too_large(const struct kt_session *s,
			     struct kt_session_config *c)
{
	c->failed_cpu = -1;
	c->failed_asked = session_ring_bytes(s, true);
	c->failed_had = 0;
	return -ENOMEM;
}

/* Reserve the persistent region, which decides about the sizes of the rings. */
static int session_take_region(struct kt_session *s,
			       const struct kt_session_config *c)
{
	struct kt_persist_sizes sizes = {
		.size = {
			[KTAPE_RING_EVENT] = c->ring_size,
			[KTAPE_RING_CONTROL] = c->control_size,
		},
		.block_size = { [KTAPE_RING_EVENT] = c->block_size },
	};
	int ret = kt_persist_take(&sizes);
	unsigned int kind;

	for (kind = 0; !ret && kind < KTAPE_RINGS_PER_CPU; kind++) {
		s->size[kind] = sizes.size[kind];
		s->block_size[kind] = sizes.block_size[kind];
	}
	return ret;
}

static int session_set_sizes(struct kt_session *s, struct kt_session_config *c)
{
	u64 block = c->block_size ?: DEFAULT_BLOCK;
	u64 size = c->ring_size ?: DEFAULT_RING;
	u64 control = c->control_size ?: DEFAULT_CONTROL;

	if (s->mode == KTAPE_MODE_PERSISTENT)
		return session_take_region(s, c);
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
	return s->size[KTAPE_RING_EVENT] <= RING_MAX ?
		       session_check_room(s, c) :
		       session_too_large(s, c);
}

/**
 * kt_session_name_ok() - may a session have this name?
 * @name: KTAPE_SESSION_NAME bytes
 *
 * Context: any.
 * Return: true or false; an empty name is none.
 */
bool kt_session_name_ok(const char *name)
{
	size_t i, len = strnlen(name, KTAPE_SESSION_NAME);

	if (!len || len == KTAPE_SESSION_NAME)
		return false;
	if (!isascii(name[0]) || (!isalpha(name[0]) && name[0] != '_'))
		return false;
	for (i = 1; i < len; i++)
		if (!isascii(name[i]) ||
		    (!isalnum(name[i]) && !strchr("_-.", name[i])))
			return false;
	return !memchr_inv(name + len, 0, KTAPE_SESSION_NAME - len);
}

static bool session_can_be_found(const struct kt_session *s)
{
	return s && !s->gone && refcount_read(&s->users);
}

/* Return the session of that name, or NULL.  Takes kt_session_control held. */
static struct kt_session *session_find_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++)
		if (session_can_be_found(kt_sessions[i]) &&
		    !strcmp(kt_sessions[i]->name, name))
			return kt_sessions[i];
	return NULL;
}

static bool session_name_is_taken(const char *name)
{
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++)
		if (unlisted[i] && !unlisted[i]->gone &&
		    !strcmp(unlisted[i]->name, name))
			return true;
	return session_find_named(name);
}

/* Return: a number that no session has, or KT_SESSIONS. */
static unsigned int session_find_number(void)
{
	unsigned int id;

	for (id = 0; id < KT_SESSIONS; id++)
		if (!kt_sessions[id] && !unlisted[id])
			break;
	return id;
}

/* With kt_session_control, under which the number was found. */
static void session_take_number(struct kt_session *s, unsigned int id)
{
	s->id = id;
	s->owner.session = id;
	mutex_lock(&kt_session_lock);
	unlisted[id] = s;
	mutex_unlock(&kt_session_lock);
}

/*
 * Reserve what a session needs: name, number, memory.  The memory last: that of a
 * persistent session is its own from then on, and is to be laid out.
 */
static int session_reserve(struct kt_session *s, struct kt_session_config *c)
{
	int ret = mutex_lock_killable(&kt_session_control);
	unsigned int id;

	if (ret)
		return ret;
	id = session_find_number();
	if (s->name[0] && session_name_is_taken(s->name))
		ret = -EEXIST;
	else if (id == KT_SESSIONS)
		ret = -EMFILE;
	else
		ret = session_set_sizes(s, c);
	if (!ret)
		session_take_number(s, id);
	mutex_unlock(&kt_session_control);
	return ret;
}

/* Give it back.  Its rings are freed by now. */
static void session_unreserve(struct kt_session *s)
{
	mutex_lock(&kt_session_control);
	if (s->mode == KTAPE_MODE_PERSISTENT)
		kt_persist_close();
	mutex_lock(&kt_session_lock);
	unlisted[s->id] = NULL;
	mutex_unlock(&kt_session_lock);
	mutex_unlock(&kt_session_control);
}

/*
 * Let everybody find the session.
 * Return: 0; -EAGAIN: a CPU has come that has no rings; -ENOMEM: with the CPUs that
 * have come it is too much; -EINTR: the caller was killed.
 */
static int session_publish(struct kt_session *s, struct kt_session_config *c)
{
	static u64 serials;
	int ret = mutex_lock_killable(&kt_session_control);

	if (ret)
		return ret;
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	/* First: a CPU that came while rings were made may have got some. */
	ret = session_check_room(s, c);
	/* A CPU that comes from here on finds the session and makes its rings. */
	if (!ret && !kt_session_publish_rings(s))
		ret = -EAGAIN;
	if (!ret) {
		s->serial = ++serials;
		s->era = kt_registry_era();
		unlisted[s->id] = NULL;
		kt_sessions[s->id] = s;
	}
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	mutex_unlock(&kt_session_control);
	return ret;
}

/* Memory may be too fragmented for blocks of the default size: try smaller ones. */
static int session_fit_rings(struct kt_session *s, struct kt_session_config *c)
{
	int ret = kt_session_make_rings(s, c);

	while (ret == -ENOMEM && !c->block_size &&
	       s->mode != KTAPE_MODE_PERSISTENT &&
	       s->block_size[KTAPE_RING_EVENT] > PAGE_SIZE) {
		kt_session_free_rings(s);
		s->block_size[KTAPE_RING_EVENT] /= 2;
		ret = kt_session_make_rings(s, c);
	}
	return ret;
}

/*
 * Make a session whose number and memory are reserved, without a lock.  Each turn
 * after the first makes rings for a CPU that had none.
 */
static int session_make(struct kt_session *s, struct kt_session_config *c)
{
	int ret = s->mode == KTAPE_MODE_PERSISTENT ? kt_persist_lay_out() : 0;

	if (ret)
		return ret;
	do {
		ret = session_fit_rings(s, c);
		if (!ret)
			ret = session_publish(s, c);
	} while (ret == -EAGAIN);
	return ret;
}

/* Whoever still waits arms it again through poll(). */
static void session_look_work(struct work_struct *work)
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
	INIT_DELAYED_WORK(&s->look, session_look_work);
	kt_owner_init(&s->owner);
	kt_session_freeze_init(s);
	kt_session_policy_init(s);
	kt_mask_normalise(s->mask);
	ret = session_reserve(s, config);
	if (ret)
		goto err;
	ret = session_make(s, config);
	if (!ret)
		return s;
	kt_session_free_rings(s);
	session_unreserve(s);
err:
	kfree(s);
	return ERR_PTR(ret);
}

/**
 * kt_session_create_first() - create session 0, which records from now on
 * @config: what the session is made of; filled with what failed
 * @mask: its profile, checked
 *
 * Context: module load, before any other session.
 * Return: as kt_session_create().
 */
struct kt_session *kt_session_create_first(struct kt_session_config *config,
					   const u64 *mask)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };
	struct kt_session *s = kt_session_create(config);

	if (IS_ERR(s))
		return s;
	memcpy(p.mask, mask, sizeof(p.mask));
	kt_session_profile(s, &p);
	kt_session_start(s);
	return s;
}

/*
 * End a session without users and free it; ERR_PTR and NULL are ignored.
 *
 * Freeing large rings takes long, so it is done without a lock.  Until they are
 * freed, the session keeps its number, and its rings count as memory in use.
 */
static void session_destroy(struct kt_session *s)
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
	unlisted[s->id] = s;
	/* No want bit is set since the stop: nobody looks at the pointers. */
	kt_owner_exit(&s->owner);
	kt_session_withdraw_rings(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	mutex_unlock(&kt_session_control);
	kt_session_free_rings(s);
	session_unreserve(s);
	kfree(s);
}

/**
 * kt_session_find() - become a user of a session
 * @ref: its number or name, checked
 *
 * Context: process context, may sleep.
 * Return: the session, for kt_session_put(), or ERR_PTR(-ENOENT).
 */
struct kt_session *kt_session_find(const struct ktape_session_ref *ref)
{
	struct kt_session *s = NULL;

	mutex_lock(&kt_session_control);
	if (ref->id == KTAPE_SESSION_BY_NAME)
		s = session_find_named(ref->name);
	else if (ref->id < KT_SESSIONS)
		s = kt_sessions[array_index_nospec(ref->id, KT_SESSIONS)];
	if (!session_can_be_found(s) || !refcount_inc_not_zero(&s->users))
		s = ERR_PTR(-ENOENT);
	mutex_unlock(&kt_session_control);
	return s;
}

/**
 * kt_session_put() - no longer be a user of a session; the last one frees it
 * @s: the session
 *
 * Context: process context, may sleep.
 */
void kt_session_put(struct kt_session *s)
{
	if (refcount_dec_and_test(&s->users))
		session_destroy(s);
}

/**
 * kt_session_end() - stop a session and take its name away
 * @s: the session, of which the caller is a user
 *
 * Whoever has it open can still read what it recorded.
 *
 * Context: process context, may sleep.
 * Return: 0; -EBUSY: it is session 0, which is the module's; -ENOENT: somebody
 * else did it.
 */
int kt_session_end(struct kt_session *s)
{
	bool lingers;

	if (!s->id)
		return -EBUSY;
	mutex_lock(&kt_session_control);
	if (s->gone) {
		mutex_unlock(&kt_session_control);
		return -ENOENT;
	}
	/* Nobody finds it any more, and nobody can start it. */
	s->gone = true;
	lingers = s->lingers;
	mutex_unlock(&kt_session_control);
	kt_session_stop(s);
	if (lingers)
		kt_session_put(s);
	return 0;
}

/**
 * kt_session_end_all() - free all sessions
 *
 * Context: module unload; no file is open.
 */
void kt_session_end_all(void)
{
	unsigned int i;

	/* Session 0 was the first and is the last. */
	for (i = KT_SESSIONS; i-- > 0;)
		session_destroy(kt_sessions[i]);
}

/**
 * kt_session_tell() - describe a session
 * @id: its number, below KT_SESSIONS
 * @to: zeroed; its id is KTAPE_SESSION_BY_NAME if there is none
 *
 * Context: process context, may sleep.
 */
void kt_session_tell(unsigned int id, struct ktape_session_info *to)
{
	const struct kt_session *s;

	to->id = KTAPE_SESSION_BY_NAME;
	mutex_lock(&kt_session_control);
	s = kt_sessions[id];
	if (s && refcount_read(&s->users)) {
		to->id = id;
		to->mode = s->mode;
		to->flags =
			(s->running ? KTAPE_SESSION_RUNNING : 0) |
			(s->lingers && !s->gone ? KTAPE_SESSION_LINGERS : 0) |
			(s->frozen ? KTAPE_SESSION_FROZEN : 0) |
			(s->gone ? KTAPE_SESSION_GONE : 0);
		to->uid = from_kuid_munged(current_user_ns(), s->uid);
		to->generation = s->owner.generation;
		to->files = atomic_read(&s->files);
		to->ring_size = s->size[KTAPE_RING_EVENT];
		to->control_size = s->size[KTAPE_RING_CONTROL];
		to->block_size = s->block_size[KTAPE_RING_EVENT];
		to->control_block = s->block_size[KTAPE_RING_CONTROL];
		to->frozen = s->frozen;
		to->evicted = READ_ONCE(s->evicted);
		memcpy(to->name, s->name, sizeof(to->name));
	}
	mutex_unlock(&kt_session_control);
}
