/* SPDX-License-Identifier: GPL-2.0-only */
/* Rings in memory that survives a warm reset, see uapi/ktape/persist.h. */
#ifndef _KT_PERSIST_H
#define _KT_PERSIST_H

#include <ktape/persist.h>

#include "session/session.h"

struct kt_ring_spec;

/*
 * A load records into one half of the region, so that what the load before has
 * left in the other outlives a crash before somebody has taken it.
 */
#define KT_HALVES	2
#define KT_HALF_PAGES	2	/* for superblocks, at the least */

/**
 * struct kt_region - memory that nobody else uses
 * @base: where it is mapped; NULL: there is none
 * @size: bytes, whole pages; not all of them are in a half if their number is odd
 * @start: physical address
 * @claimed: it is in the list of resources as ours
 * @mapped: by memremap()
 */
struct kt_region {
	void *base;
	u64 size;
	phys_addr_t start;
	bool claimed;
	bool mapped;
};

/**
 * struct kt_slot - a ring of the region as those see it who do not write it
 * @page: its control page
 * @checks: one a block
 * @blocks: the blocks
 * @size: bytes of all of them
 * @block_shift: log2 of the bytes of one
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @checked: closed blocks below this position have their checksums
 */
struct kt_slot {
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
 * struct kt_layout - where everything is in a half that is laid out
 * @slots: the rings
 * @nr_slots: how many
 * @names: the copy of the registry
 * @nr_names: its entries
 *
 * It is believed, so it is here and not read from the region.
 */
struct kt_layout {
	struct kt_slot *slots;
	unsigned int nr_slots;
	struct ktape_object_entry *names;
	unsigned int nr_names;
};

/**
 * struct kt_persist_config - what to do with which memory
 * @where: "ADDRESS,SIZE" or a name; empty: there is no region
 * @drop: forget what is in it
 * @metadata: CTF text, stays where it is
 * @length: its bytes
 * @table_hash: of the event table
 */
struct kt_persist_config {
	const char *where;
	bool drop;
	const char *metadata;
	size_t length;
	u64 table_hash;
};

/* persist.c */
int kt_persist_init(const struct kt_persist_config *config);
void kt_persist_exit(void);
u64 kt_persist_size(void);
bool kt_persist_in_use(void);
int kt_persist_forget(void);
int kt_persist_hibernate(void);
void kt_persist_hibernated(void);
int kt_persist_take(struct kt_session *s, const struct kt_session_config *c);
int kt_persist_lay_out(struct kt_session *s);
void kt_persist_close(struct kt_session *s);
void kt_persist_place(const struct kt_session *s, struct kt_ring_spec *spec);

/* persist_check.c */
unsigned long kt_slot_commit(const struct kt_slot *slot);
unsigned long kt_slot_check(const struct kt_slot *slot, unsigned long pos,
			    unsigned long commit, unsigned long *budget,
			    bool may_sleep);
void kt_slot_clean(const struct kt_slot *slot, unsigned long from,
		   unsigned long commit);

/* persist_region.c */
int kt_region_get(struct kt_region *r, const char *where);
struct kt_region kt_region_half(const struct kt_region *r, unsigned int n);
void kt_region_put(struct kt_region *r);

/* persist_layout.c */
int kt_layout_fit(struct kt_session *s, const struct kt_session_config *c,
		  const struct kt_region *r,
		  const struct kt_persist_config *config);
int kt_layout_write(const struct kt_session *s, const struct kt_region *r,
		    const struct kt_persist_config *config, u32 sequence,
		    struct kt_layout *layout);
void kt_layout_state(const struct kt_region *r, u32 state);
void kt_layout_wipe(const struct kt_region *r);
bool kt_layout_is_there(const struct kt_region *r, u32 *sequence);
unsigned int kt_layout_rings(void);

/* persist_old.c */
int kt_old_keep(const struct kt_region *r);
void kt_old_drop(void);
u64 kt_old_size(void);
long kt_old_read(u64 offset, void __user *to, size_t length);
int kt_old_forget(void);

#endif /* _KT_PERSIST_H */
