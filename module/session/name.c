// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions that others find: by name or number, in a list, until destroyed.
 *
 * Each open file is a user of its session; a name that lingers is one more.  The
 * last user frees it.  Who looks for a session with kt_session_control held may
 * find one without users that is about to be freed, and passes it over.
 */
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "session.h"

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

/**
 * kt_session_named() - find a session by name
 * @name: ends in NUL
 *
 * Context: process context, kt_session_control.
 * Return: the session, of which the caller is no user, or NULL.
 */
struct kt_session *kt_session_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++)
		if (session_can_be_found(kt_sessions[i]) &&
		    !strcmp(kt_sessions[i]->name, name))
			return kt_sessions[i];
	return NULL;
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
		s = kt_session_named(ref->name);
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
		kt_session_destroy(s);
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
		kt_session_destroy(kt_sessions[i]);
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
