// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits what users without control rights take by open descriptors.
 *
 * With dev_mode= a user without capabilities may read all sessions.  Each of its
 * descriptors takes memory for positions and a buffer until it is closed, however
 * long ago its session has ended.  So each user has a limit, and all of them
 * together, because a user name space gives a program several uids.
 *
 * Descriptors whose opener has control rights are not counted.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "internal.h"

#define USER_FILES 64
#define USER_BYTES SZ_32M
#define ALL_FILES  512
#define ALL_BYTES  SZ_128M

/**
 * struct kt_user - what one user has taken
 * @node: entry in quota_users
 * @uid: the user, who opened the descriptors
 * @files: number of descriptors; the structure exists while there are any
 * @bytes: bytes of memory
 */
struct kt_user {
	struct list_head node;
	kuid_t uid;
	unsigned int files;
	size_t bytes;
};

/* Protects all of this file. */
static DEFINE_MUTEX(quota_lock);
static LIST_HEAD(quota_users);
static unsigned int quota_files;
static size_t quota_bytes;

/* Return the caller's entry, a new one if there is none, for quota_drop_unused(); or NULL. */
static struct kt_user *quota_user(void)
{
	struct kt_user *u;

	list_for_each_entry(u, &quota_users, node)
		if (uid_eq(u->uid, current_uid()))
			return u;
	u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	if (!u)
		return NULL;
	u->uid = current_uid();
	list_add(&u->node, &quota_users);
	return u;
}

/* Free an entry if its user has no descriptor. */
static void quota_drop_unused(struct kt_user *u)
{
	if (u->files)
		return;
	list_del(&u->node);
	kfree(u);
}

static bool quota_has_room(const struct kt_user *u, size_t bytes)
{
	return bytes <= USER_BYTES - u->bytes && bytes <= ALL_BYTES - quota_bytes;
}

static void quota_charge(struct kt_quota *q, size_t bytes)
{
	q->bytes += bytes;
	q->user->bytes += bytes;
	quota_bytes += bytes;
}

/**
 * kt_quota_take() - count a new descriptor for the caller
 * @q: zeroed; filled
 * @bytes: memory of the descriptor
 *
 * Context: process context, may sleep.
 * Return: 0; -EMFILE: the user, or all users, have too many descriptors, or they take
 * too much memory; -ENOMEM.
 */
int kt_quota_take(struct kt_quota *q, size_t bytes)
{
	struct kt_user *u;
	int ret = -ENOMEM;

	mutex_lock(&quota_lock);
	u = quota_user();
	if (!u)
		goto out;
	ret = -EMFILE;
	if (u->files < USER_FILES && quota_files < ALL_FILES &&
	    quota_has_room(u, bytes)) {
		u->files++;
		quota_files++;
		q->user = u;
		quota_charge(q, bytes);
		ret = 0;
	}
	quota_drop_unused(u);
out:
	mutex_unlock(&quota_lock);
	return ret;
}

/**
 * kt_quota_add() - count more memory of a descriptor
 * @q: quota of the descriptor
 * @bytes: the memory
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM: it exceeds the limit.
 */
int kt_quota_add(struct kt_quota *q, size_t bytes)
{
	int ret = 0;

	if (!q->user)
		return 0;
	mutex_lock(&quota_lock);
	if (quota_has_room(q->user, bytes))
		quota_charge(q, bytes);
	else
		ret = -ENOMEM;
	mutex_unlock(&quota_lock);
	return ret;
}

/**
 * kt_quota_sub() - count less memory of a descriptor
 * @q: quota of the descriptor
 * @bytes: as for kt_quota_add()
 *
 * Context: process context, may sleep.
 */
void kt_quota_sub(struct kt_quota *q, size_t bytes)
{
	if (!q->user)
		return;
	mutex_lock(&quota_lock);
	q->bytes -= bytes;
	q->user->bytes -= bytes;
	quota_bytes -= bytes;
	mutex_unlock(&quota_lock);
}

/**
 * kt_quota_return() - count a descriptor no more
 * @q: quota of the descriptor
 *
 * Context: process context, may sleep.
 */
void kt_quota_return(struct kt_quota *q)
{
	if (!q->user)
		return;
	kt_quota_sub(q, q->bytes);
	mutex_lock(&quota_lock);
	q->user->files--;
	quota_files--;
	quota_drop_unused(q->user);
	mutex_unlock(&quota_lock);
	q->user = NULL;
}
