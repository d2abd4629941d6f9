// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the memory for persistent rings, and keeps a copy of what an earlier load
 * of the module left there.
 *
 * The memory is given by an address that memmap= keeps from the kernel, or by a
 * name of reserve_mem= or of the device tree.  It may have no struct pages, so no
 * code may ask for them.
 *
 * The copy is made before the memory is used again, and returned as it was found.
 * The kernel only looks for the magic number.  User space checks everything else
 * when it recovers the trace.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "internal.h"

/* Log why @where cannot be used.  Return: @err. */
static int region_refuse(const char *where, const char *why, int err)
{
	pr_err("persist=%s: %s\n", where, why);
	return err;
}

/* Parse ADDRESS,SIZE.  Return: 0 or -EINVAL. */
static int region_parse(const char *where, phys_addr_t *start, u64 *size)
{
	char *end;
	u64 address;

	address = memparse(where, &end);
	if (*end != ',')
		return -EINVAL;
	where = end + 1;
	*size = memparse(where, &end);
	*start = address;
	return end == where || *end || *start != address ? -EINVAL : 0;
}

static int region_check_range(const char *where, phys_addr_t start, u64 size)
{
	if (!size || !PAGE_ALIGNED(start) || !PAGE_ALIGNED(size))
		return region_refuse(where, "address and size must be whole pages",
				     -EINVAL);
	if (size < KT_HALVES * KT_HALF_PAGES * PAGE_SIZE)
		return region_refuse(
			where,
			"the memory is too small: at least 4 pages are needed",
			-EINVAL);
	if ((phys_addr_t)(start + size - 1) < start || size != (size_t)size)
		return region_refuse(where,
				     "the memory ends beyond the last address",
				     -EINVAL);
	return 0;
}

static bool region_is_ram(const struct kt_region *r)
{
	return region_intersects(r->start, r->size, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) != REGION_DISJOINT;
}

/* Claim memory that the kernel does not use, so that no driver can use it, too. */
static int region_claim(struct kt_region *r, const char *where)
{
	if (!request_mem_region(r->start, r->size, KBUILD_MODNAME))
		return region_refuse(
			where, "another driver uses this memory, see /proc/iomem",
			-EBUSY);
	r->claimed = true;
	return 0;
}

/* Map the memory; if that fails, release it.  Return: 0 or -ENOMEM. */
static int region_map(struct kt_region *r, const char *where)
{
	r->base = memremap(r->start, r->size, MEMREMAP_WB);
	r->mapped = r->base;
	if (r->base)
		return 0;
	kt_region_put(r);
	return region_refuse(where, "the memory cannot be mapped", -ENOMEM);
}

static int region_by_address(struct kt_region *r, const char *where)
{
	int ret;

	if (region_parse(where, &r->start, &r->size))
		return region_refuse(where, "not ADDRESS,SIZE", -EINVAL);
	ret = region_check_range(where, r->start, r->size);
	if (ret)
		return ret;
	if (region_is_ram(r))
		return region_refuse(
			where,
			"the kernel uses this memory: keep it out with memmap=SIZE$ADDRESS",
			-EBUSY);
	ret = region_claim(r, where);
	return ret ? ret : region_map(r, where);
}

/* Find memory of reserve_mem=SIZE:ALIGN:NAME, which has a permanent mapping. */
static int region_by_reserve_mem(struct kt_region *r, const char *where)
{
#ifdef KT_HAVE_RESERVE_MEM
	phys_addr_t size;
	int ret;

	if (!reserve_mem_find_by_name(where, &r->start, &size))
		return -ENOENT;
	r->size = size;
	ret = region_check_range(where, r->start, r->size);
	if (!ret)
		r->base = phys_to_virt(r->start);
	return ret;
#else
	return -ENOENT;
#endif
}

#ifdef CONFIG_OF
/* Read the addresses of a node of the device tree that the kernel does not use itself. */
static int region_read_node(const char *where, struct device_node *node,
			    struct resource *res)
{
	if (of_property_read_bool(node, "reusable"))
		return region_refuse(
			where, "the node is reusable, so the kernel uses its memory",
			-EBUSY);
	/* Memory whose place the kernel chooses at each boot has no reg. */
	if (of_address_to_resource(node, 0, res))
		return region_refuse(where,
				     "the node has no address in a property reg",
				     -EINVAL);
	return 0;
}

/* Find a child of /reserved-memory. */
static int region_by_device_tree(struct kt_region *r, const char *where)
{
	struct device_node *parent, *node;
	struct resource res;
	int ret = -ENOENT;

	parent = of_find_node_by_path("/reserved-memory");
	node = parent ? of_get_child_by_name(parent, where) : NULL;
	if (node)
		ret = region_read_node(where, node, &res);
	of_node_put(node);
	of_node_put(parent);
	if (ret)
		return ret;
	r->start = res.start;
	r->size = resource_size(&res);
	ret = region_check_range(where, r->start, r->size);
	/* Without no-map the node is part of System RAM and already reserved. */
	if (!ret && !region_is_ram(r))
		ret = region_claim(r, where);
	return ret ? ret : region_map(r, where);
}
#else
static int region_by_device_tree(struct kt_region *r, const char *where)
{
	return -ENOENT;
}
#endif

static int region_by_name(struct kt_region *r, const char *where)
{
	int ret = region_by_reserve_mem(r, where);

	if (ret == -ENOENT)
		ret = region_by_device_tree(r, where);
	if (ret == -ENOENT)
		region_refuse(where, "no reserved memory of this name", ret);
	return ret;
}

/**
 * kt_region_get() - find and map the memory of the region
 * @r: zeroed; filled
 * @where: "ADDRESS,SIZE" or a name
 *
 * The log says what is wrong.
 *
 * Context: module load.
 * Return: 0; -EINVAL: not whole pages, too small, not ADDRESS,SIZE, or a node without
 * an address; -EBUSY: the memory is in use; -ENOENT: no such name; -ENOMEM: it cannot be
 * mapped.
 */
int kt_region_get(struct kt_region *r, const char *where)
{
	return isdigit(*where) ? region_by_address(r, where) :
				 region_by_name(r, where);
}

/**
 * kt_region_half() - return one half of a region
 * @r: the region
 * @n: 0 or 1
 *
 * Return: the half, which must not be passed to kt_region_put(). Context: any.
 */
struct kt_region kt_region_half(const struct kt_region *r, unsigned int n)
{
	u64 size = round_down(r->size / KT_HALVES, PAGE_SIZE);

	return (struct kt_region){
		.base = r->base + n * size,
		.size = size,
		.start = r->start + n * size,
	};
}

/**
 * kt_region_put() - unmap and release the memory of kt_region_get()
 * @r: the region
 *
 * Context: module load and unload.
 */
void kt_region_put(struct kt_region *r)
{
	if (r->mapped)
		memunmap(r->base);
	if (r->claimed)
		release_mem_region(r->start, r->size);
	memset(r, 0, sizeof(*r));
}

#define COPY_STEP (1UL << 20)

/* Protects old and old_size; old_size is also read without it. */
static DEFINE_MUTEX(old_lock);
static void *old;
static size_t old_size;

static bool page_is_superblock(const void *page)
{
	const struct ktape_persist *p = page;

	return READ_ONCE(p->magic) == KTAPE_PERSIST_MAGIC;
}

static bool region_has_superblock(const struct kt_region *r)
{
	return page_is_superblock(r->base) ||
	       page_is_superblock(r->base + r->size - PAGE_SIZE);
}

static bool region_has_trace(const struct kt_region *r)
{
	struct kt_region half;
	unsigned int i;

	for (i = 0; i < KT_HALVES; i++) {
		half = kt_region_half(r, i);
		if (region_has_superblock(&half))
			return true;
	}
	/* Older versions of this module laid out the region as a whole. */
	return region_has_superblock(r);
}

/**
 * kt_old_keep() - copy what an earlier load left in a region
 * @r: the region, whose content is not trusted
 *
 * Context: module load, may sleep.
 * Return: 0, also if there is no trace; -ENOMEM: no memory for the copy, or it
 * would take more than half of the memory.
 */
int kt_old_keep(const struct kt_region *r)
{
	u64 at, part;

	if (!region_has_trace(r))
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
	pr_info("an earlier trace was found in %llu KiB of memory: read it with \"ktape recover\"\n",
		r->size >> 10);
	return 0;
}

/**
 * kt_old_drop() - free the copy
 *
 * Context: process context with old_lock, or module unload; may sleep.
 */
void kt_old_drop(void)
{
	vfree(old);
	old = NULL;
	WRITE_ONCE(old_size, 0);
}

/**
 * kt_old_size() - return the size of the copy
 *
 * Return: bytes; 0: there is none. Context: any.
 */
u64 kt_old_size(void)
{
	return READ_ONCE(old_size);
}

/**
 * kt_old_read() - read from the copy
 * @offset: bytes from its begin
 * @to: user space buffer
 * @length: bytes of @to
 *
 * A page fault in copy_to_user() may take for ever, if the caller wants it to.  So
 * the lock is not held meanwhile.
 *
 * Context: process context, may sleep.
 * Return: bytes read, at most KTAPE_PERSIST_READ_MAX; 0: the end; -ENODATA: there
 * is no copy; -EFAULT; -ENOMEM.
 */
long kt_old_read(u64 offset, void __user *to, size_t length)
{
	long ret = -ENODATA;
	void *part = NULL;

	length = min_t(size_t, length, KTAPE_PERSIST_READ_MAX);
	if (length) {
		part = kvmalloc(length, GFP_KERNEL_ACCOUNT);
		if (!part)
			return -ENOMEM;
	}
	mutex_lock(&old_lock);
	if (old) {
		ret = offset < old_size ? min_t(u64, length, old_size - offset) : 0;
		memcpy(part, old + offset, ret);
	}
	mutex_unlock(&old_lock);
	if (ret > 0 && copy_to_user(to, part, ret))
		ret = -EFAULT;
	kvfree(part);
	return ret;
}

/**
 * kt_old_forget() - free the copy, if there is one
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODATA: there is none.
 */
int kt_old_forget(void)
{
	int ret = -ENODATA;

	mutex_lock(&old_lock);
	if (old) {
		kt_old_drop();
		ret = 0;
	}
	mutex_unlock(&old_lock);
	return ret;
}
