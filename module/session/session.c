// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creates, finds and lists sessions.  What a session records and when
 * is not decided here but in profile.c and run.c.
 *
 *   create	reserve name, number and memory; allocate rings without a lock;
 *		publish the session and its rings
 *   end	end.c
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
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

#include "names/names.h"
#include "persist/persist.h"
#include "ring/ring.h"
#include "internal.h"

#define DEFAULT_RING	(1UL << 20)
#define DEFAULT_BLOCK	(64UL << 10)
#define DEFAULT_CONTROL (64UL << 10) /* at least */
#define CONTROL_BLOCK	(16UL << 10)
#define RING_BLOCKS_MIN 4

/* Reserve the persistent region.  Its size limits the sizes of the rings. */
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

/*
 * Compute the sizes of the rings and check that their memory is available, or reserve the
 * persistent region.
 */
static int session_set_sizes(struct kt_session *s, struct kt_session_config *c)
{
	u64 block = c->block_size ?: DEFAULT_BLOCK;
	u64 size = c->ring_size ?: DEFAULT_RING;
	u64 control = c->control_size;

	if (s->mode == KTAPE_MODE_PERSISTENT)
		return session_take_region(s, c);
	if (size > KT_RING_MAX || block > KT_RING_MAX / RING_BLOCKS_MIN ||
	    control > KT_RING_MAX)
		return -EINVAL;
	/* A ring smaller than 4 default blocks gets smaller blocks, not more bytes. */
	if (!c->block_size)
		block = min_t(u64, block, size / RING_BLOCKS_MIN);
	block = roundup_pow_of_two(max_t(u64, block, PAGE_SIZE));
	if (get_order(block) > KT_ORDER_MAX || block > KTAPE_BLOCK_MAX)
		return -EINVAL;
	s->block_size[KTAPE_RING_EVENT] = block;
	size = max_t(u64, roundup_pow_of_two(size), block * RING_BLOCKS_MIN);
	s->size[KTAPE_RING_EVENT] = size;
	/* In mode discard the names of tasks come here: a flood, where many tasks are made. */
	if (!control)
		control = s->mode == KTAPE_MODE_DISCARD ?
				  max_t(u64, DEFAULT_CONTROL, size / 8) :
				  DEFAULT_CONTROL;
	/* A block has at least a page already, so the blocks of the control ring have, too. */
	block = min_t(u64, block, max(PAGE_SIZE, CONTROL_BLOCK));
	s->block_size[KTAPE_RING_CONTROL] = block;
	s->size[KTAPE_RING_CONTROL] =
		max_t(u64, roundup_pow_of_two(control), block * RING_BLOCKS_MIN);
	return kt_session_check_room(s, c);
}

/**
 * kt_session_name_ok() - check the name of a session
 * @name: KTAPE_SESSION_NAME bytes
 *
 * Context: any.
 * Return: true if the name is valid and not empty, and zeros follow it.
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
	return s && !s->gone && refcount_read(&s->holders);
}

/* Return the session of that name, or NULL.  Called with kt_session_control. */
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
		if (kt_sessions_unlisted[i] &&
		    !strcmp(kt_sessions_unlisted[i]->name, name))
			return true;
	return session_find_named(name);
}

/* Return a number that no session has, or KT_SESSIONS. */
static unsigned int session_find_number(void)
{
	unsigned int id;

	for (id = 0; id < KT_SESSIONS; id++)
		if (!kt_sessions[id] && !kt_sessions_unlisted[id])
			break;
	return id;
}

/* Give @s the number that was found under the same kt_session_control. */
static void session_take_number(struct kt_session *s, unsigned int id)
{
	s->id = id;
	s->owner.session = id;
	mutex_lock(&kt_session_lock);
	kt_sessions_unlisted[id] = s;
	mutex_unlock(&kt_session_lock);
}

/*
 * Reserve the name, the number and the memory of a new session.  The memory comes
 * last, because only session_unreserve() gives the persistent region back.
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
	kt_session_leave();
	return ret;
}

/* Release number and memory of a session that could not be made. */
static void session_unreserve(struct kt_session *s)
{
	kt_session_enter_any();
	if (s->mode == KTAPE_MODE_PERSISTENT)
		kt_persist_close();
	mutex_lock(&kt_session_lock);
	kt_sessions_unlisted[s->id] = NULL;
	mutex_unlock(&kt_session_lock);
	kt_session_leave();
}

/*
 * Publish a session: other tasks can find it, and writers its rings.
 * Return: 0; -EAGAIN: a CPU without rings has come online; -ENOMEM: the rings of
 * CPUs that have come online exceed the limit; -EINTR: the caller was killed.
 */
static int session_publish(struct kt_session *s, struct kt_session_config *c)
{
	static u64 serials;
	int ret = mutex_lock_killable(&kt_session_control);

	if (ret)
		return ret;
	kt_session_lock_both();
	/*
	 * Check again: a CPU that came online since session_reserve() has got
	 * rings in the other sessions.
	 */
	ret = kt_session_check_room(s, c);
	/*
	 * A CPU that comes online after this lock is released finds the session
	 * in kt_sessions[] and allocates its own rings.
	 */
	if (!ret && !kt_session_publish_rings(s))
		ret = -EAGAIN;
	if (!ret) {
		s->serial = ++serials;
		s->era = kt_registry_begin_era();
		kt_sessions_unlisted[s->id] = NULL;
		kt_sessions[s->id] = s;
		/* It has no want bits yet, and had none with this number before. */
		kt_log_allow(s->id, s->log);
	}
	kt_session_unlock_both();
	kt_session_leave();
	return ret;
}

/*
 * Allocate the rings of a reserved session without a lock, and publish it.  The
 * loop repeats when a CPU came online that has no rings yet.
 */
static int session_make(struct kt_session *s, struct kt_session_config *c)
{
	int ret = s->mode == KTAPE_MODE_PERSISTENT ? kt_persist_lay_out() : 0;

	if (ret)
		return ret;
	do {
		ret = kt_session_make_rings(s, c);
		if (!ret)
			ret = session_publish(s, c);
	} while (ret == -EAGAIN);
	return ret;
}

/*
 * Make a session that is initialised.
 * Return: 0, or an error of kt_session_create(), after which nothing is reserved any more.
 */
static int session_try(struct kt_session *s, struct kt_session_config *c)
{
	int ret = session_reserve(s, c);

	if (ret)
		return ret;
	ret = session_make(s, c);
	if (!ret)
		return 0;
	kt_session_free_rings(s);
	session_unreserve(s);
	return ret;
}

/*
 * Return true if a session that lacked memory could be made once ended sessions give theirs
 * back: not if it alone exceeds what all may have, or a ring what one may have.
 */
static bool session_may_fit(const struct kt_session *s,
			    const struct kt_session_config *c)
{
	return s->size[KTAPE_RING_EVENT] <= KT_RING_MAX &&
	       (c->failed_cpu >= 0 ||
		c->failed_asked <= kt_sessions_bytes_allowed());
}

/* Let a session that has ended make way for one that failed with @error. */
static bool session_make_way(const struct kt_session *s,
			     const struct kt_session_config *c, int error)
{
	if (error == -ENOMEM)
		return session_may_fit(s, c) && kt_session_reclaim(false);
	return error == -EBUSY && kt_session_reclaim(true);
}

/* Wake all pollers.  A poller that still has too little to read goes on waiting. */
static void session_wake_work(struct work_struct *work)
{
	struct kt_session *s =
		container_of(work, struct kt_session, wake_again.work);

	kt_owner_wake(&s->owner);
}

static struct kt_session *session_alloc(void)
{
	struct kt_session *s;

	s = kzalloc(struct_size(s, rings, nr_cpu_ids), GFP_KERNEL);
	if (!s)
		return NULL;
	s->with_rings = bitmap_zalloc(nr_cpu_ids, GFP_KERNEL);
	if (s->with_rings)
		return s;
	kfree(s);
	return NULL;
}

/**
 * kt_session_create() - create a session, stopped and with an empty profile
 * @config: what the session is made of; filled with what failed
 *
 * Allocating large rings may take seconds.  Control of other sessions and CPU
 * hotplug go on meanwhile.
 *
 * Context: process context, may sleep.
 * Return: the session with one reference that holds it, and one more if it lingers;
 * ERR_PTR of -EINVAL (mode, sizes), -EEXIST (name), -EMFILE (too many sessions), -ENOMEM,
 * -EINTR (the caller was killed); persistent: as kt_persist_take() and
 * kt_persist_lay_out().
 */
struct kt_session *kt_session_create(struct kt_session_config *config)
{
	struct kt_session *s;
	int ret;

	if (config->mode > KTAPE_MODE_PERSISTENT)
		return ERR_PTR(-EINVAL);
	s = session_alloc();
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->mode = config->mode;
	s->account = config->account;
	s->lingers = config->lingers;
	s->log = config->log;
	s->uid = current_uid();
	if (config->name)
		strscpy(s->name, config->name, sizeof(s->name));
	refcount_set(&s->users, 1 + s->lingers);
	refcount_set(&s->holders, 1 + s->lingers);
	spin_lock_init(&s->reader_lock);
	INIT_LIST_HEAD(&s->readers);
	INIT_LIST_HEAD(&s->guests);
	INIT_DELAYED_WORK(&s->wake_again, session_wake_work);
	kt_session_late_init(s);
	kt_owner_init(&s->owner);
	kt_session_freeze_init(s);
	kt_session_policy_init(s);
	kt_session_catch_up_init(s);
	kt_session_end_init(s);
	kt_mask_normalise(s->mask);
	do {
		ret = session_try(s, config);
		if (!ret)
			return s;
	} while (session_make_way(s, config, ret));
	kt_session_dealloc(s);
	return ERR_PTR(ret);
}

/**
 * kt_session_create_first() - create session 0, and start it
 * @config: what the session is made of; filled with what failed
 * @mask: its profile, checked
 *
 * Context: module load, before any other session.
 * Return: as kt_session_create(); also the session if it cannot be started, and the log says so.
 */
struct kt_session *kt_session_create_first(struct kt_session_config *config,
					   const u64 *mask)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };
	struct kt_session *s = kt_session_create(config);
	int ret;

	if (IS_ERR(s))
		return s;
	memcpy(p.mask, mask, sizeof(p.mask));
	kt_session_profile(s, &p);
	ret = kt_session_start(s);
	if (ret)
		pr_err("session 0 does not record: error %d: try \"ktape start\"\n",
		       ret);
	return s;
}

/**
 * kt_session_find() - look a session up and take a reference
 * @ref: number or name, checked
 *
 * Context: process context, may sleep.
 * Return: the session, for kt_session_put(), or ERR_PTR(-ENOENT).
 */
struct kt_session *kt_session_find(const struct ktape_session_ref *ref)
{
	struct kt_session *s = NULL;

	kt_session_enter_any();
	if (ref->id == KTAPE_SESSION_BY_NAME)
		s = session_find_named(ref->name);
	else if (ref->id < KT_SESSIONS)
		s = kt_sessions[array_index_nospec(ref->id, KT_SESSIONS)];
	if (!session_can_be_found(s) || !refcount_inc_not_zero(&s->users))
		s = ERR_PTR(-ENOENT);
	kt_session_leave();
	return s;
}

/* Fill @to for a session.  Called with kt_session_control. */
static void session_describe(const struct kt_session *s,
			     struct ktape_session_info *to)
{
	to->id = kt_session_number(s);
	to->mode = s->mode;
	to->flags = (s->running ? KTAPE_SESSION_RUNNING : 0) |
		    (s->lingers && !s->gone ? KTAPE_SESSION_LINGERS : 0) |
		    (s->frozen ? KTAPE_SESSION_FROZEN : 0) |
		    (s->log ? KTAPE_SESSION_LOG : 0) |
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
	to->left_ms = kt_session_left_ms(s);
}

/* Return the session at a place of kt_session_describe(), or NULL. */
static const struct kt_session *session_at(unsigned int place)
{
	const struct kt_session *s;

	if (place < KT_SESSIONS)
		return kt_sessions[place];
	place -= KT_SESSIONS;
	list_for_each_entry(s, &kt_sessions_ended, ended)
		if (!place--)
			return s;
	return NULL;
}

/**
 * kt_session_describe() - describe a session
 * @place: below KT_SESSIONS: number of the session; from there on sessions that have
 *	ended and still have their rings
 * @to: zeroed; filled
 *
 * Context: process context, may sleep.
 * Return: false: there is no such session.
 */
bool kt_session_describe(unsigned int place, struct ktape_session_info *to)
{
	const struct kt_session *s;

	kt_session_enter_any();
	s = session_at(place);
	if (s)
		session_describe(s, to);
	kt_session_leave();
	return s;
}
