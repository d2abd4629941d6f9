// SPDX-License-Identifier: GPL-2.0-only
/* The ioctls of uapi/ktape/persist.h. */
#include <linux/kernel.h>

#include "dev.h"
#include "persist/persist.h"

/**
 * kt_dev_persist_info() - is there a region, and something old in it?
 * @info: receives it; all but the size was zero
 *
 * Sizes are for everybody with a descriptor, as those of rings are.
 *
 * Context: process context.
 * Return: 0, or -EINVAL.
 */
long kt_dev_persist_info(struct ktape_persist_info *info)
{
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
 * kt_dev_persist_read() - read what an earlier load left
 * @rd: from where and where to; receives how much
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; as kt_dev_allowed() and kt_old_read().
 */
long kt_dev_persist_read(struct ktape_persist_read *rd)
{
	long ret;

	if (rd->flags)
		return -EINVAL;
	/* A descriptor that was handed on leads to no other session. */
	ret = kt_dev_allowed();
	if (ret)
		return ret;
	ret = kt_old_read(rd->offset, u64_to_user_ptr(rd->data),
			  min_t(u64, rd->length, KTAPE_PERSIST_READ_MAX));
	if (ret < 0)
		return ret;
	rd->length = ret;
	return 0;
}

/**
 * kt_dev_persist_drop() - forget what an earlier load left
 * @c: flags have to be zero
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; as kt_dev_allowed() and kt_persist_forget().
 */
long kt_dev_persist_drop(const struct ktape_command *c)
{
	int ret;

	if (c->flags)
		return -EINVAL;
	ret = kt_dev_allowed();
	return ret ? ret : kt_persist_forget();
}
