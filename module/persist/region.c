// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the memory for persistent rings: an address that memmap= keeps from the
 * kernel, or a name of reserve_mem= or of the device tree.
 *
 * Such memory may have no struct pages: nothing here or elsewhere asks for them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/string.h>

#include "persist.h"

static int no_memory(const char *where, const char *why, int err)
{
	pr_err("persist=%s: %s\n", where, why);
	return err;
}

/* ADDRESS,SIZE.  Return: 0 or a negative errno. */
static int parse(const char *where, phys_addr_t *start, u64 *size)
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

static int check_range(const char *where, phys_addr_t start, u64 size)
{
	if (!size || !PAGE_ALIGNED(start) || !PAGE_ALIGNED(size))
		return no_memory(where,
				 "address and size have to be whole pages",
				 -EINVAL);
	if (size < KT_HALVES * KT_HALF_PAGES * PAGE_SIZE)
		return no_memory(where, "it is too small", -EINVAL);
	if ((phys_addr_t)(start + size - 1) < start || size != (size_t)size)
		return no_memory(where, "it ends beyond all addresses",
				 -EINVAL);
	return 0;
}

static bool is_ram(const struct kt_region *r)
{
	return region_intersects(r->start, r->size, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) != REGION_DISJOINT;
}

/* Memory that the kernel does not use at all: ours alone from now on. */
static int claim(struct kt_region *r, const char *where)
{
	if (!request_mem_region(r->start, r->size, KBUILD_MODNAME))
		return no_memory(where, "somebody else uses this memory",
				 -EBUSY);
	r->claimed = true;
	return 0;
}

static int map(struct kt_region *r, const char *where)
{
	r->base = memremap(r->start, r->size, MEMREMAP_WB);
	r->mapped = r->base;
	if (r->base)
		return 0;
	kt_region_put(r);
	return no_memory(where, "it cannot be mapped", -ENOMEM);
}

static int by_address(struct kt_region *r, const char *where)
{
	int ret;

	if (parse(where, &r->start, &r->size))
		return no_memory(where, "not ADDRESS,SIZE", -EINVAL);
	ret = check_range(where, r->start, r->size);
	if (ret)
		return ret;
	if (is_ram(r))
		return no_memory(
			where,
			"the kernel uses this memory: keep it out with memmap=SIZE$ADDRESS",
			-EBUSY);
	ret = claim(r, where);
	return ret ? ret : map(r, where);
}

/* reserve_mem=SIZE:ALIGN:NAME gives memory with struct pages, mapped for ever. */
static int by_reserve_mem(struct kt_region *r, const char *where)
{
#ifdef KT_HAVE_RESERVE_MEM
	phys_addr_t size;
	int ret;

	if (!reserve_mem_find_by_name(where, &r->start, &size))
		return -ENOENT;
	r->size = size;
	ret = check_range(where, r->start, r->size);
	if (!ret)
		r->base = phys_to_virt(r->start);
	return ret;
#else
	return -ENOENT;
#endif
}

#ifdef CONFIG_OF
/* A child of /reserved-memory that the kernel does not use meanwhile. */
static int by_device_tree(struct kt_region *r, const char *where)
{
	struct device_node *parent, *node;
	struct resource res;
	int ret = -ENOENT;

	parent = of_find_node_by_path("/reserved-memory");
	node = parent ? of_get_child_by_name(parent, where) : NULL;
	if (node)
		ret = of_property_read_bool(node, "reusable") ?
			      no_memory(where,
					"a reusable node is used by the kernel",
					-EBUSY) :
			      of_address_to_resource(node, 0, &res);
	of_node_put(node);
	of_node_put(parent);
	if (ret)
		return ret;
	r->start = res.start;
	r->size = resource_size(&res);
	ret = check_range(where, r->start, r->size);
	/* Without no-map it is in the middle of the kernel's, and reserved there. */
	if (!ret && !is_ram(r))
		ret = claim(r, where);
	return ret ? ret : map(r, where);
}
#else
static int by_device_tree(struct kt_region *r, const char *where)
{
	return -ENOENT;
}
#endif

static int by_name(struct kt_region *r, const char *where)
{
	int ret = by_reserve_mem(r, where);

	if (ret == -ENOENT)
		ret = by_device_tree(r, where);
	if (ret == -ENOENT)
		no_memory(where, "no reserved memory of this name", ret);
	return ret;
}

/**
 * kt_region_get() - find and map memory
 * @r: zeroed, receives it
 * @where: "ADDRESS,SIZE" or a name
 *
 * What is wrong is told in the log.
 *
 * Context: module load.
 * Return: 0; -EINVAL: not whole pages, too few, or no address and size; -EBUSY:
 * in use;
 * -ENOENT: no such name; -ENOMEM: it cannot be mapped.
 */
int kt_region_get(struct kt_region *r, const char *where)
{
	return isdigit(*where) ? by_address(r, where) : by_name(r, where);
}

/**
 * kt_region_half() - one of the two parts of a region
 * @r: the region
 * @n: 0 or 1
 *
 * Return: it, which is not to be put. Context: any.
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
 * kt_region_put() - give back what kt_region_get() took
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
