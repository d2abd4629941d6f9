// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an earlier load left in the region: copied before the memory is used
 * again, and given out as it is.
 *
 * The kernel looks for the magic number and believes nothing else of it;
 * whoever recovers it checks all of it, in user space.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "persist.h"

#define COPY_STEP	(1UL << 20)

/* Protects old and old_size, which alone is read without it. */
static DEFINE_MUTEX(old_lock);
static void *old;
static size_t old_size;

static bool begins_super(const void *page)
{
	const struct ktape_persist *p = page;

	return READ_ONCE(p->magic) == KTAPE_PERSIST_MAGIC;
}

static bool has_superblock(const struct kt_region *r)
{
	return begins_super(r->base) ||
	       begins_super(r->base + r->size - PAGE_SIZE);
}

static bool has_trace(const struct kt_region *r)
{
	struct kt_region half;
	unsigned int i;

	for (i = 0; i < KT_HALVES; i++) {
		half = kt_region_half(r, i);
		if (has_superblock(&half))
			return true;
	}
	/* An older module took the region as a whole. */
	return has_superblock(r);
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

	if (!has_trace(r))
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
	WRITE_ONCE(old_size, r->size);
	pr_info("an earlier trace is in %llu KiB of memory: ktape recover\n",
		r->size >> 10);
	return 0;
}

/**
 * kt_old_drop() - free the copy
 *
 * Context: process context, nobody can read it; may sleep.
 */
void kt_old_drop(void)
{
	vfree(old);
	old = NULL;
	WRITE_ONCE(old_size, 0);
}

/**
 * kt_old_size() - is there former content?
 *
 * Return: its bytes, or 0. Context: any.
 */
u64 kt_old_size(void)
{
	return READ_ONCE(old_size);
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
 * Return: 0; -ENODATA: there is none; -EINTR.
 */
int kt_old_forget(void)
{
	int ret = -ENODATA;

	/* A reader's page may take its time. */
	if (mutex_lock_killable(&old_lock))
		return -EINTR;
	if (old) {
		kt_old_drop();
		ret = 0;
	}
	mutex_unlock(&old_lock);
	return ret;
}
