// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping of rings and registry: shared, read-only, one region at a time.
 *
 * Pages are inserted by .fault, and each mapping holds a reference to each page it
 * has touched.  So a page that was zapped is inserted again at the next access,
 * and freeing a ring never frees a mapped page.
 *
 * When the rings of a session that has ended are taken away, its mappings are zapped,
 * and a further access is a bus error.  .fault inserts the page itself, with the
 * rings still there: a page that it only returned could be inserted after the zap.
 *
 * File offsets: all regions of a session have the same distance, which is what the
 * largest of them needs.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "names/names.h"
#include "ring/ring.h"
#include "internal.h"

/*
 * Return the number of regions of a session.  Region cpu * KTAPE_RINGS_PER_CPU +
 * kind is that ring, the last one is the registry.
 */
static unsigned int map_regions(void)
{
	return nr_cpu_ids * KTAPE_RINGS_PER_CPU + 1;
}

/* Return the distance between two regions in pages. */
static unsigned long map_region_pages(const struct kt_session *s)
{
	unsigned long ring = max(s->size[0], s->size[1]) >> PAGE_SHIFT;
	/* As large as it can get, because offsets must not change when it grows. */
	unsigned long registry = DIV_ROUND_UP(
		kt_registry_max() * sizeof(struct ktape_object_entry), PAGE_SIZE);

	/* The control page comes before a ring's blocks. */
	return 1 + max(ring, registry);
}

/* Return the file offset of a region in bytes. */
static u64 map_region_offset(const struct kt_session *s, unsigned int index)
{
	return ((u64)map_region_pages(s) * index) << PAGE_SHIFT;
}

/* Return the page at a page offset of the file, or NULL. */
static struct page *map_page_at(const struct kt_session *s, unsigned long pgoff)
{
	unsigned long pages = map_region_pages(s);
	unsigned long index = pgoff / pages;
	struct kt_ring *r;

	if (index == nr_cpu_ids * KTAPE_RINGS_PER_CPU)
		return kt_registry_page_at(pgoff % pages);
	if (index > nr_cpu_ids * KTAPE_RINGS_PER_CPU)
		return NULL;
	r = kt_session_ring(s, index / KTAPE_RINGS_PER_CPU,
			    index % KTAPE_RINGS_PER_CPU);
	return r ? kt_ring_page_at(r, pgoff % pages) : NULL;
}

static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct kt_file *kf = vmf->vma->vm_file->private_data;
	struct kt_session *s = kf->session;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct page *page;

	if (!kt_session_rings_get(s))
		return ret;
	page = map_page_at(s, vmf->pgoff);
	if (page)
		ret = vmf_insert_page(vmf->vma, vmf->address, page);
	kt_session_rings_put(s);
	return ret;
}

static int map_refuse_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct map_vm_ops = {
	.fault = map_fault,
	.KT_VM_MAY_SPLIT = map_refuse_split,
};

/**
 * kt_dev_mmap() - map a region or a part of one
 * @file: the descriptor
 * @vma: the mapping
 *
 * A mapping keeps the file open, and the file keeps the session.  So .open and
 * .close have nothing to count, even if the process forks.
 *
 * Context: process context with the mmap lock; takes no lock of this module but
 * rings_lock.
 * Return: 0; -EPERM: writable or executable; -EINVAL: private, or not within one
 * region; -ENODEV: a ring of a persistent session, or the data cache has aliases;
 * -ESTALE: the rings were taken away.
 */
int kt_dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct kt_file *kf = file->private_data;
	unsigned long pages = map_region_pages(kf->session);
	unsigned long count = vma_pages(vma);
	unsigned long first = vma->vm_pgoff % pages;
	bool inside;

	/* The reader would not see what the kernel writes through its mapping. */
	if (kt_dcache_is_aliasing())
		return -ENODEV;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	/* A shared mapping of a file that is not open for writing has VM_MAYSHARE only. */
	if (!(vma->vm_flags & VM_SHARED) && !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (count > pages - first)
		return -EINVAL;
	/* The persistent region may have no struct pages. */
	if (kf->session->mode == KTAPE_MODE_PERSISTENT &&
	    vma->vm_pgoff / pages < nr_cpu_ids * KTAPE_RINGS_PER_CPU)
		return -ENODEV;
	if (!kt_session_rings_get(kf->session))
		return -ESTALE;
	inside = map_page_at(kf->session, vma->vm_pgoff) &&
		 map_page_at(kf->session, vma->vm_pgoff + count - 1);
	kt_session_rings_put(kf->session);
	if (!inside)
		return -EINVAL;
	/* VM_MIXEDMAP is for vmf_insert_page(). */
	kt_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY | VM_MIXEDMAP,
			VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &map_vm_ops;
	return 0;
}

static void map_describe_ring(const struct kt_session *s, unsigned int index,
			      const struct kt_ring *r, struct ktape_layout_entry *e)
{
	e->cpu = r->cpu;
	e->kind = r->kind;
	e->offset = map_region_offset(s, index);
	e->ctl_size = PAGE_SIZE;
	e->block_size = r->block_size;
	e->data_size = r->size;
}

/* Describe region @index.  Return: false: there is no such region. */
static bool map_describe(struct kt_session *s, unsigned int index,
			 struct ktape_layout_entry *e)
{
	struct kt_ring *r;

	if (index == map_regions() - 1) {
		e->cpu = -1;
		e->kind = KTAPE_RING_REGISTRY;
		e->offset = map_region_offset(s, index);
		e->data_size = (u64)kt_registry_entries() *
			       sizeof(struct ktape_object_entry);
		return true;
	}
	if (!kt_session_rings_get(s))
		return false;
	r = kt_session_ring(s, index / KTAPE_RINGS_PER_CPU,
			    index % KTAPE_RINGS_PER_CPU);
	if (r)
		map_describe_ring(s, index, r, e);
	kt_session_rings_put(s);
	return r;
}

/**
 * kt_ioctl_layout() - list the regions that can be mapped
 * @file: the descriptor
 * @arg: struct ktape_layout; filled
 *
 * Context: process context, may sleep.
 * Return: 0 or -EFAULT.
 */
long kt_ioctl_layout(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_layout *l = &arg->layout;
	struct kt_session *s = kt_file_of(file)->session;
	struct ktape_layout_entry __user *to = u64_to_user_ptr(l->entries);
	unsigned int i, found = 0;

	for (i = 0; i < map_regions(); i++) {
		struct ktape_layout_entry e = {};

		if (!map_describe(s, i, &e))
			continue;
		if (found < l->nr && copy_to_user(to + found, &e, sizeof(e)))
			return -EFAULT;
		found++;
	}
	l->nr = found;
	l->session = kt_session_number(s);
	l->mode = s->mode;
	l->running = READ_ONCE(s->running);
	l->generation = READ_ONCE(s->owner.generation);
	return 0;
}
