// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an earlier load left in the region: copied before the memory is used
 * again, and given out as it is.
 *
 * The kernel looks for the magic number and believes nothing else of it;
 * whoever recovers it checks all of it, in user space.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "persist.h"

#define COPY_STEP	(1UL << 20)

/* Protects old and old_size, which are constant while the module loads. */
static DEFINE_MUTEX(old_lock);
static void *old;
static u64 old_size;

static bool has_superblock(const struct kt_region *r, u64 offset)
{
	const struct ktape_persist *p = r->base + offset;

	return READ_ONCE(p->magic) == KTAPE_PERSIST_MAGIC;
}

/**
 * kt_old_keep() - copy what an earlier load left in a region
 * @r: the region, whose content is not to be trusted
 *
 * Context: module load, may sleep.
 * Return: 0, also if there was nothing; -ENOMEM: it is there and there is no
 * room for a copy.
 */
int kt_old_keep(const struct kt_region *r)
{
	u64 at, part;

	if (!has_superblock(r, 0) && !has_superblock(r, r->size - PAGE_SIZE))
		return 0;
	if (r->size > (u64)totalram_pages() * PAGE_SIZE / 2)
		return -ENOMEM;
	old = vmalloc(r->size);
	if (!old)
		return -ENOMEM;
	for (at = 0; at < r->size; at += part) {
		part = min_t(u64, COPY_STEP, r->size - at);
		memcpy(old + at, r->base + at, part);
		cond_resched();
	}
	old_size = r->size;
	pr_info("an earlier trace of %llu KiB of memory is there: ktape recover\n",
		old_size >> 10);
	return 0;
}

/**
 * kt_old_drop() - free the copy
 *
 * Context: process context; may sleep.
 */
void kt_old_drop(void)
{
	mutex_lock(&old_lock);
	vfree(old);
	old = NULL;
	old_size = 0;
	mutex_unlock(&old_lock);
}

/**
 * kt_old_size() - is there former content?
 *
 * Return: its bytes, or 0. Context: process context.
 */
u64 kt_old_size(void)
{
	u64 size;

	mutex_lock(&old_lock);
	size = old_size;
	mutex_unlock(&old_lock);
	return size;
}

/**
 * kt_old_read() - read former content
 * @offset: where from
 * @to: where to, in user space
 * @length: room
 *
 * Context: process context, may sleep.
 * Return: bytes, 0 at the end; -ENODATA: there is none; -EFAULT; -EINTR.
 */
long kt_old_read(u64 offset, void __user *to, size_t length)
{
	long ret = -ENODATA;

	/* A page of the reader's may take its time. */
	if (mutex_lock_killable(&old_lock))
		return -EINTR;
	if (!old)
		goto out;
	ret = 0;
	if (offset >= old_size)
		goto out;
	ret = min_t(u64, length, old_size - offset);
	ret = min_t(u64, ret, KTAPE_PERSIST_READ_MAX);
	if (copy_to_user(to, old + offset, ret))
		ret = -EFAULT;
out:
	mutex_unlock(&old_lock);
	return ret;
}

/**
 * kt_old_forget() - free the copy, if there is one
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENODATA.
 */
int kt_old_forget(void)
{
	if (!kt_old_size())
		return -ENODATA;
	kt_old_drop();
	return 0;
}
