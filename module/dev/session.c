// SPDX-License-Identifier: GPL-2.0-only
/* The ioctls of uapi/ktape/session.h: sessions by name, policy, readers. */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "dev.h"

/* A descriptor for @s, of which the caller is a user no longer. */
static long give(struct kt_session *s, int flags)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file;

	if (fd < 0) {
		kt_session_put(s);
		return fd;
	}
	file = kt_dev_open_session(s, flags);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

/* For the caller of a failed kt_session_create(). */
static void tell_failed(const struct kt_session_config *config,
			struct ktape_create *c)
{
	c->failed_cpu = config->failed_cpu;
	c->failed_kind = config->failed_kind;
	c->failed_asked = config->failed_asked;
	c->failed_had = config->failed_had;
}

/**
 * kt_dev_create() - KTAPE_IOC_CREATE
 * @c: copied; filled with what failed, after -ENOMEM
 *
 * Context: process context, may sleep.
 * Return: a descriptor or a negative errno, see uapi/ktape/abi.h.
 */
long kt_dev_create(struct ktape_create *c)
{
	struct kt_session_config config = {
		.mode = c->mode,
		.ring_size = c->ring_size,
		.block_size = c->block_size,
		.control_size = c->control_size,
		.account = true,
		.lingers = c->flags & KTAPE_CREATE_LINGER,
		.name = c->name[0] ? c->name : NULL,
	};
	struct kt_session *s;
	long ret;

	if ((c->flags & ~KTAPE_CREATE_LINGER) || c->reserved || c->failed_cpu ||
	    c->failed_kind || c->failed_asked || c->failed_had)
		return -EINVAL;
	if (config.name ? !kt_session_name_ok(c->name) :
			  config.lingers || memchr_inv(c->name, 0, sizeof(c->name)))
		return -EINVAL;
	ret = kt_dev_allowed();
	if (ret)
		return ret;
	s = kt_session_create(&config);
	if (IS_ERR(s)) {
		if (PTR_ERR(s) == -ENOMEM)
			tell_failed(&config, c);
		return PTR_ERR(s);
	}
	/* So that it can be ended below: it is a user of its own. */
	refcount_inc(&s->users);
	ret = give(s, O_RDWR);
	if (ret < 0)
		kt_session_end(s);
	kt_session_put(s);
	return ret;
}

/**
 * kt_dev_sessions() - KTAPE_IOC_SESSIONS
 * @l: copied; filled
 *
 * Context: process context, may sleep.
 * Return: 0 or a negative errno.
 */
long kt_dev_sessions(struct ktape_session_list *l)
{
	char __user *to = u64_to_user_ptr(l->entries);
	u32 size = min_t(u32, l->entry_size, sizeof(struct ktape_session_info));
	unsigned int id, found = 0;

	if (l->reserved || l->entry_size > PAGE_SIZE ||
	    l->entry_size < sizeof(struct ktape_session_info))
		return -EINVAL;
	for (id = 0; id < KT_SESSIONS; id++) {
		struct ktape_session_info info = {};

		kt_session_tell(id, &info);
		if (info.id != id)
			continue;
		if (found < l->nr) {
			if (copy_to_user(to, &info, size) ||
			    clear_user(to + size, l->entry_size - size))
				return -EFAULT;
			to += l->entry_size;
		}
		found++;
	}
	l->nr = found;
	return 0;
}

static bool ref_ok(const struct ktape_session_ref *ref, u32 flags)
{
	if (ref->reserved || (ref->flags & ~flags))
		return false;
	return ref->id == KTAPE_SESSION_BY_NAME ?
		       kt_session_name_ok(ref->name) :
		       !memchr_inv(ref->name, 0, sizeof(ref->name));
}

/**
 * kt_dev_open_ref() - KTAPE_IOC_OPEN
 * @ref: copied
 * @control: the caller's descriptor may control its session
 *
 * Context: process context, may sleep.
 * Return: a descriptor or a negative errno, see uapi/ktape/session.h.
 */
long kt_dev_open_ref(const struct ktape_session_ref *ref, bool control)
{
	struct kt_session *s;
	long ret;

	if (!ref_ok(ref, KTAPE_OPEN_READONLY))
		return -EINVAL;
	/* A descriptor that was handed on leads to no other session. */
	ret = kt_dev_allowed();
	if (ret)
		return ret;
	s = kt_session_find(ref);
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (ref->flags & KTAPE_OPEN_READONLY)
		control = false;
	return give(s, control ? O_RDWR : O_RDONLY);
}

/**
 * kt_dev_destroy() - KTAPE_IOC_DESTROY
 * @ref: copied
 *
 * Context: process context, may sleep.
 * Return: 0 or a negative errno, see uapi/ktape/session.h.
 */
long kt_dev_destroy(const struct ktape_session_ref *ref)
{
	struct kt_session *s;
	long ret;

	if (!ref_ok(ref, 0))
		return -EINVAL;
	/* Nor to others' ends; lockdown does not keep anything alive. */
	if (!perfmon_capable())
		return -EPERM;
	s = kt_session_find(ref);
	if (IS_ERR(s))
		return PTR_ERR(s);
	ret = kt_session_end(s);
	kt_session_put(s);
	return ret;
}

/**
 * kt_dev_policy() - KTAPE_IOC_POLICY
 * @s: the session
 * @p: copied; filled
 *
 * Context: process context, may sleep.
 * Return: 0 or -EINVAL.
 */
long kt_dev_policy(struct kt_session *s, struct ktape_policy *p)
{
	if (p->op > KTAPE_POLICY_SET || p->flags || p->reserved || p->evicted ||
	    p->shed_percent > 99)
		return -EINVAL;
	if (p->op == KTAPE_POLICY_GET && (p->shed_percent || p->stall_ms))
		return -EINVAL;
	kt_session_policy(s, p);
	return 0;
}

/**
 * kt_dev_reader() - KTAPE_IOC_READER
 * @kf: the descriptor
 * @info: copied; filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -ENXIO: there is no such ring; -ERESTARTSYS.
 */
long kt_dev_reader(struct kt_file *kf, struct ktape_reader_info *info)
{
	const struct kt_reader *rd = &kf->reader;
	const struct kt_cursor *c;
	unsigned long commit;
	struct kt_ring *r;

	if (info->flags || info->id || info->reserved)
		return -EINVAL;
	r = kt_session_ring(kf->session, info->cpu, info->kind);
	if (!r)
		return -ENXIO;
	/* read() changes the counts; it may be waiting. */
	if (mutex_lock_interruptible(&kf->lock))
		return -ERESTARTSYS;
	c = kt_reader_cursor(rd, array_index_nospec(info->cpu, nr_cpu_ids),
			     array_index_nospec(info->kind,
						KTAPE_RINGS_PER_CPU));
	info->flags = (rd->registered ? KTAPE_READER_REGISTERED : 0) |
		      (rd->reads ? KTAPE_READER_READS : 0) |
		      (rd->evicted ? KTAPE_READER_EVICTED : 0);
	info->id = rd->id;
	info->position = READ_ONCE(c->pos);
	commit = kt_ring_commit(r);
	info->unread = kt_before(c->pos, commit) ? commit - c->pos : 0;
	info->records = c->records;
	info->lapped = c->lapped;
	mutex_unlock(&kf->lock);
	return 0;
}
