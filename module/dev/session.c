// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls about whole sessions: create, list, open and destroy them, control
 * recording, read counts; and about the memory of persistent sessions.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "names/names.h"
#include "persist/persist.h"
#include "internal.h"

/* ---- sessions ---------------------------------------------------------------- */

/*
 * Install a new descriptor for @s.  Takes over the caller's reference to the
 * session, also on failure.  Return: the descriptor or a negative errno.
 */
static long session_install_fd(struct kt_session *s, int flags,
			       const struct file *caller)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file;

	if (fd < 0) {
		kt_session_put(s);
		return fd;
	}
	file = kt_dev_open_session(s, flags, caller->f_op);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

/* Copy what kt_session_create() said about a lack of memory. */
static void create_copy_failure(const struct kt_session_config *config,
				struct ktape_create *c)
{
	c->failed_cpu = config->failed_cpu;
	c->failed_kind = config->failed_kind;
	c->failed_asked = config->failed_asked;
	c->failed_had = config->failed_had;
}

/**
 * kt_ioctl_create() - create a session
 * @file: the descriptor
 * @arg: struct ktape_create; filled with what failed, after -ENOMEM
 *
 * Context: process context, may sleep.
 * Return: a descriptor or a negative errno, see struct ktape_create.
 */
long kt_ioctl_create(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_create *c = &arg->create;
	struct kt_session_config config = {
		.mode = c->mode,
		.ring_size = c->ring_size,
		.block_size = c->block_size,
		.control_size = c->control_size,
		.account = true,
		.lingers = c->flags & KTAPE_CREATE_LINGER,
		.log = c->flags & KTAPE_CREATE_LOG,
		.name = c->name[0] ? c->name : NULL,
	};
	struct kt_session *s;
	long ret;

	if ((c->flags & ~(KTAPE_CREATE_LINGER | KTAPE_CREATE_LOG)) || c->reserved ||
	    c->failed_cpu || c->failed_kind || c->failed_asked || c->failed_had)
		return -EINVAL;
	if (config.name ? !kt_session_name_ok(c->name) :
			  config.lingers || memchr_inv(c->name, 0, sizeof(c->name)))
		return -EINVAL;
	ret = kt_dev_allowed();
	if (ret)
		return ret;
	if (config.log && !kt_dev_reads_log())
		return -EPERM;
	s = kt_session_create(&config);
	if (IS_ERR(s)) {
		if (PTR_ERR(s) == -ENOMEM)
			create_copy_failure(&config, c);
		return PTR_ERR(s);
	}
	/* A second reference, to end the session if no descriptor can be installed. */
	refcount_inc(&s->users);
	ret = session_install_fd(s, O_RDWR, file);
	if (ret < 0)
		kt_session_end(s);
	/* The descriptor holds the session from here on. */
	kt_session_unhold(s);
	kt_session_put(s);
	return ret;
}

/**
 * kt_ioctl_sessions() - list the sessions
 * @file: the descriptor
 * @arg: struct ktape_session_list; filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL, -EFAULT.
 */
long kt_ioctl_sessions(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_session_list *l = &arg->sessions;
	char __user *to = u64_to_user_ptr(l->entries);
	u32 size = min_t(u32, l->entry_size, sizeof(struct ktape_session_info));
	unsigned int place, found = 0;

	if (l->reserved || l->entry_size > PAGE_SIZE ||
	    l->entry_size < KTAPE_SESSION_INFO_FIRST)
		return -EINVAL;
	/* Numbers may be free; behind them come sessions that have ended, without a gap. */
	for (place = 0;; place++) {
		struct ktape_session_info info = {};

		if (!kt_session_describe(place, &info)) {
			if (place < KT_SESSIONS)
				continue;
			break;
		}
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

static bool session_ref_ok(const struct ktape_session_ref *ref, u32 flags)
{
	if (ref->reserved || (ref->flags & ~flags))
		return false;
	return ref->id == KTAPE_SESSION_BY_NAME ?
		       kt_session_name_ok(ref->name) :
		       !memchr_inv(ref->name, 0, sizeof(ref->name));
}

/**
 * kt_ioctl_open() - open a session
 * @file: the descriptor
 * @arg: struct ktape_session_ref
 *
 * Context: process context, may sleep.
 * Return: a descriptor or a negative errno, see struct ktape_session_ref.
 */
long kt_ioctl_open(struct file *file, union kt_ioctl_arg *arg)
{
	const struct ktape_session_ref *ref = &arg->ref;
	bool control = kt_dev_may_control(file);
	struct kt_session *s;
	long ret;

	if (!session_ref_ok(ref, KTAPE_OPEN_READONLY))
		return -EINVAL;
	/* An inherited descriptor must not give access to other sessions. */
	ret = kt_dev_allowed();
	if (ret)
		return ret;
	s = kt_session_find(ref);
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (s->log && !kt_dev_reads_log()) {
		kt_session_put(s);
		return -EPERM;
	}
	if (ref->flags & KTAPE_OPEN_READONLY)
		control = false;
	return session_install_fd(s, control ? O_RDWR : O_RDONLY, file);
}

/**
 * kt_ioctl_destroy() - destroy a session
 * @file: the descriptor
 * @arg: struct ktape_session_ref
 *
 * Context: process context, may sleep.
 * Return: 0 or a negative errno, see struct ktape_session_ref.
 */
long kt_ioctl_destroy(struct file *file, union kt_ioctl_arg *arg)
{
	const struct ktape_session_ref *ref = &arg->ref;
	struct kt_session *s;
	long ret;

	if (!session_ref_ok(ref, 0))
		return -EINVAL;
	/*
	 * An inherited descriptor must not allow destroying other sessions.
	 * Destroying remains allowed under lockdown.
	 */
	if (!kt_dev_caller_has_rights())
		return -EPERM;
	s = kt_session_find(ref);
	if (IS_ERR(s))
		return PTR_ERR(s);
	ret = kt_session_end(s);
	kt_session_put(s);
	return ret;
}

/* ---- recording --------------------------------------------------------------- */

/*
 * The table in ioctl.c admits only descriptors that may control their session to START, STOP,
 * CLEAR and FLUSH.  PROFILE and POLICY can also be read, so their handlers check that.
 *
 * Priorities and policies of threads enter the registry when kt_registry_refresh() walks over
 * all threads: at START and STOP, so that the trace has those of its begin and end.
 */

/**
 * kt_ioctl_profile() - get or change the profile
 * @file: the descriptor
 * @arg: struct ktape_profile; filled with the profile in force
 *
 * Context: process context, may sleep.
 * Return: 0; -EPERM, -EINVAL; -ENODEV: the session has ended.
 */
long kt_ioctl_profile(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_profile *p = &arg->profile;

	if (p->op > KTAPE_PROFILE_ANDNOT || p->generation ||
	    (p->flags & ~KTAPE_PROFILE_NO_CONTEXT) ||
	    (p->flags && p->op != KTAPE_PROFILE_SET))
		return -EINVAL;
	if (p->op != KTAPE_PROFILE_GET) {
		if (!kt_dev_may_control(file))
			return -EPERM;
		if (!kt_session_mask_ok(p->mask))
			return -EINVAL;
	}
	return kt_session_profile(kt_file_of(file)->session, p);
}

/**
 * kt_ioctl_start() - start recording
 * @file: the descriptor
 * @arg: struct ktape_command
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -ENODEV: the session was destroyed.
 */
long kt_ioctl_start(struct file *file, union kt_ioctl_arg *arg)
{
	if (arg->command.flags)
		return -EINVAL;
	kt_registry_refresh();
	return kt_session_start(kt_file_of(file)->session);
}

/**
 * kt_ioctl_stop() - stop recording
 * @file: the descriptor
 * @arg: struct ktape_command
 *
 * Context: process context, may sleep.
 * Return: 0 or -EINVAL.
 */
long kt_ioctl_stop(struct file *file, union kt_ioctl_arg *arg)
{
	if (arg->command.flags)
		return -EINVAL;
	kt_registry_refresh();
	kt_session_stop(kt_file_of(file)->session);
	return 0;
}

/**
 * kt_ioctl_clear() - discard what was recorded
 * @file: the descriptor
 * @arg: struct ktape_command
 *
 * Context: process context, may sleep.
 * Return: 0 or -EINVAL.
 */
long kt_ioctl_clear(struct file *file, union kt_ioctl_arg *arg)
{
	if (arg->command.flags)
		return -EINVAL;
	kt_session_clear(kt_file_of(file)->session);
	return 0;
}

/**
 * kt_ioctl_flush() - close the open blocks
 * @file: the descriptor
 * @arg: struct ktape_command
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; as kt_session_flush().
 */
long kt_ioctl_flush(struct file *file, union kt_ioctl_arg *arg)
{
	return arg->command.flags ? -EINVAL :
				    kt_session_flush(kt_file_of(file)->session);
}

/* Fill @st with the positions and counts of a ring. */
static void stats_fill(struct kt_ring *r, struct ktape_stats *st)
{
	const struct ktape_ring_page *page = r->page;
	unsigned int class, i;

	st->commit = kt_ring_commit(r);
	st->tail = kt_ring_tail(r);
	st->floor = kt_wide_load(&r->floor);
	st->consumer = kt_ring_consumed(r);
	st->in_pieces = kt_ring_in_pieces(r);
	for (class = 0; class < KTAPE_CLASSES; ++class) {
		st->emitted[class] = kt_count_read(&page->emitted[class]);
		st->filtered[class] = kt_count_read(&page->filtered[class]);
		for (i = 0; i < KTAPE_LOST_REASONS; i++)
			st->lost[i][class] = kt_count_read(&page->lost[i][class]);
	}
}

/**
 * kt_ioctl_stats() - return the positions and counts of one ring
 * @file: the descriptor
 * @arg: struct ktape_stats; filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -ENXIO: no such ring; -ESTALE: the rings were taken away.
 */
long kt_ioctl_stats(struct file *file, union kt_ioctl_arg *arg)
{
	struct kt_session *s = kt_file_of(file)->session;
	struct ktape_stats *st = &arg->stats;
	struct kt_ring *r;

	if (st->flags)
		return -EINVAL;
	if (!kt_session_rings_get(s))
		return -ESTALE;
	r = kt_session_ring(s, st->cpu, st->kind);
	if (r)
		stats_fill(r, st);
	kt_session_rings_put(s);
	return r ? 0 : -ENXIO;
}

/**
 * kt_ioctl_policy() - get or set what a discard session does when readers are slow
 * @file: the descriptor
 * @arg: struct ktape_policy; filled with the policy in force
 *
 * Context: process context, may sleep.
 * Return: 0; -EPERM, -EINVAL; -ENODEV: the session has ended.
 */
long kt_ioctl_policy(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_policy *p = &arg->policy;

	if (p->op != KTAPE_POLICY_GET && !kt_dev_may_control(file))
		return -EPERM;
	if (p->op > KTAPE_POLICY_SET || p->flags || p->reserved || p->evicted ||
	    p->shed_percent > 99)
		return -EINVAL;
	if (p->op == KTAPE_POLICY_GET && (p->shed_percent || p->stall_ms))
		return -EINVAL;
	return kt_session_policy(kt_file_of(file)->session, p);
}

/* ---- memory that survives a reset -------------------------------------------- */

/**
 * kt_ioctl_persist_info() - describe the persistent region
 * @file: the descriptor
 * @arg: struct ktape_persist_info; filled
 *
 * Context: process context.
 * Return: 0 or -EINVAL.
 */
long kt_ioctl_persist_info(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_persist_info *info = &arg->persist_info;

	if (info->flags || info->region_size || info->old_size)
		return -EINVAL;
	info->region_size = kt_persist_size();
	info->old_size = kt_old_size();
	if (info->region_size)
		info->flags |= KTAPE_PERSIST_REGION;
	if (kt_persist_in_use())
		info->flags |= KTAPE_PERSIST_IN_USE;
	return 0;
}

/**
 * kt_ioctl_persist_read() - read what an earlier load left in the region
 * @file: the descriptor
 * @arg: struct ktape_persist_read; its length is filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -EPERM: no CAP_SYSLOG; as kt_dev_allowed() and kt_old_read().
 */
long kt_ioctl_persist_read(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_persist_read *rd = &arg->persist_read;
	long ret;

	if (rd->flags)
		return -EINVAL;
	/* An inherited descriptor must not give access to other traces. */
	ret = kt_dev_allowed();
	if (ret)
		return ret;
	/* Earlier traces may have the kernel's log, and whether they say so is not trusted. */
	if (!kt_dev_reads_log())
		return -EPERM;
	ret = kt_old_read(rd->offset, u64_to_user_ptr(rd->data),
			  min_t(u64, rd->length, KTAPE_PERSIST_READ_MAX));
	if (ret < 0)
		return ret;
	rd->length = ret;
	return 0;
}

/**
 * kt_ioctl_persist_drop() - discard what earlier loads left in the region
 * @file: the descriptor
 * @arg: struct ktape_command
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; as kt_dev_allowed() and kt_persist_forget().
 */
long kt_ioctl_persist_drop(struct file *file, union kt_ioctl_arg *arg)
{
	int ret;

	if (arg->command.flags)
		return -EINVAL;
	ret = kt_dev_allowed();
	return ret ? ret : kt_persist_forget();
}
