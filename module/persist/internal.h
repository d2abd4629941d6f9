/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that only the files of this folder share. */
#ifndef _KT_PERSIST_INTERNAL_H
#define _KT_PERSIST_INTERNAL_H

#include "persist.h"

/*
 * One load of the module records into one half of the region, so that the trace
 * of the load before stays in the other half until user space has read it, even
 * if this load crashes, too.  uapi/ktape/persist.h calls each half a region.
 */
#define KT_HALVES     2
#define KT_HALF_PAGES 2 /* minimum: a page for each superblock */

/**
 * struct kt_region - memory that only this module uses
 * @base: virtual address; NULL = no region
 * @size: bytes, whole pages; an odd page belongs to no half
 * @start: physical address
 * @claimed: entered into the list of I/O resources by this module
 * @mapped: mapped with memremap()
 */
struct kt_region {
	void *base;
	u64 size;
	phys_addr_t start;
	bool claimed;
	bool mapped;
};

/**
 * struct kt_persist_slot - one ring of the region, as seen by code other than its writer
 * @page: control page
 * @checks: checksums, one per block
 * @blocks: first block
 * @size: bytes of all blocks, a power of two
 * @block_shift: log2 of the bytes of a block
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @checked: lower word of the position up to which closed blocks were checked, see
 *	kt_slot_check(); a panic reads it at any time
 */
struct kt_persist_slot {
	struct ktape_ring_page *page;
	struct ktape_persist_check *checks;
	char *blocks;
	unsigned long size;
	unsigned int block_shift;
	unsigned int cpu;
	unsigned int kind;
	unsigned long checked;
};

/**
 * struct kt_layout - the parts of a half that is laid out
 * @slots: rings
 * @nr_slots: number of rings
 * @names: copy of the registry
 * @nr_names: entries of @names
 *
 * Anything may overwrite the region, so its own tables are never read back: the
 * module uses this copy.
 */
struct kt_layout {
	struct kt_persist_slot *slots;
	unsigned int nr_slots;
	struct ktape_object_entry *names;
	unsigned int nr_names;
};

/* region.c; "old" is the copy of what earlier loads left */
int kt_region_get(struct kt_region *r, const char *where);
struct kt_region kt_region_half(const struct kt_region *r, unsigned int n);
void kt_region_put(struct kt_region *r);
int kt_old_keep(const struct kt_region *r);
void kt_old_drop(void);
int kt_old_forget(void);

/* layout.c */
unsigned int kt_layout_rings(void);
int kt_layout_fit(struct kt_persist_sizes *sizes, const struct kt_region *r,
		  const struct kt_persist_config *config);
int kt_layout_write(const struct kt_persist_sizes *sizes, const struct kt_region *r,
		    const struct kt_persist_config *config, u32 sequence,
		    struct kt_layout *layout);
void kt_layout_state(const struct kt_region *r, u32 state);
void kt_layout_wipe(const struct kt_region *r);
bool kt_layout_is_there(const struct kt_region *r, u32 *sequence);
u64 kt_slot_commit(const struct kt_persist_slot *slot);
u64 kt_slot_checked(const struct kt_persist_slot *slot, u64 commit);
u64 kt_slot_check(const struct kt_persist_slot *slot, u64 pos, u64 commit,
		  unsigned long *budget, bool may_sleep);
void kt_slot_clean(const struct kt_persist_slot *slot, u64 from, u64 commit);

#endif /* _KT_PERSIST_INTERNAL_H */
