// SPDX-License-Identifier: GPL-2.0-only
/* The ioctl for filters: entries come and go as arrays in user space. */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "dev.h"
#include "session/session.h"

static int set(struct kt_session *s, const struct ktape_filter *f)
{
	const struct kt_filter_kind *kind = &kt_filter_kinds[f->kind];
	void *entries = NULL;
	int ret;

	if (f->nr > kind->max)
		return -EINVAL;
	if (f->nr) {
		entries = vmemdup_user(u64_to_user_ptr(f->entries),
				       array_size(f->nr, kind->size));
		if (IS_ERR(entries))
			return PTR_ERR(entries);
	}
	ret = kt_session_filter_set(s, f->kind, entries, f->nr);
	kvfree(entries);
	return ret;
}

static int get(struct kt_session *s, struct ktape_filter *f)
{
	const struct kt_filter_kind *kind = &kt_filter_kinds[f->kind];
	u32 room = f->nr;
	void *entries;
	int ret = 0;

	entries = kvcalloc(kind->max, kind->told, GFP_KERNEL);
	if (!entries)
		return -ENOMEM;
	kt_session_filter_tell(s, f, entries);
	if (copy_to_user(u64_to_user_ptr(f->entries), entries,
			 array_size(min(room, f->nr), kind->told)))
		ret = -EFAULT;
	kvfree(entries);
	return ret;
}

/**
 * kt_dev_filter() - tell, set or take away a filter
 * @s: the session
 * @f: what to do; receives what is in force then
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL, -EFAULT, -ENOMEM; what the kind says of its entries.
 */
long kt_dev_filter(struct kt_session *s, struct ktape_filter *f)
{
	int ret;

	if (f->op > KTAPE_FILTER_OFF || f->kind >= KTAPE_FILTER_KINDS ||
	    f->active || f->generation || f->collisions ||
	    (f->op == KTAPE_FILTER_OFF && (f->nr || f->entries)))
		return -EINVAL;
	f->kind = array_index_nospec(f->kind, KTAPE_FILTER_KINDS);
	if (f->op == KTAPE_FILTER_GET)
		return get(s, f);
	if (f->op == KTAPE_FILTER_SET)
		ret = set(s, f);
	else
		ret = kt_session_filter_off(s, f->kind);
	if (!ret)
		kt_session_filter_tell(s, f, NULL);
	return ret;
}
