/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that survives a warm reset: the rings of one session are placed there,
 * and what an earlier load of the module left there can be read.  The layout of
 * the memory is uapi/ktape/persist.h.
 *
 * For a session, in this order: kt_persist_take() reserves the memory and fits the sizes of the
 * rings; kt_persist_lay_out() writes what describes them; kt_persist_place() says where each ring
 * is; kt_persist_close() gives the memory back, also after an error of the second one.
 *
 * Read the files in this order.  Each one calls only files above it: region.c (finds and
 * maps the memory, keeps a copy of what earlier loads left), layout.c (where each ring is in
 * it, checksums of blocks), persist.c (the session in it, its worker, the copy of the
 * registry, panic).
 */
#ifndef _KT_PERSIST_H
#define _KT_PERSIST_H

#include <linux/types.h>

#include <ktape/persist.h>

struct kt_ring_spec;

/**
 * struct kt_persist_config - which memory to use and what to write into it
 * @where: "ADDRESS,SIZE" or the name of reserved memory; empty = no region
 * @drop: discard the traces in it
 * @metadata: CTF text; not copied
 * @length: bytes of @metadata
 * @table_hash: hash of the event table
 */
struct kt_persist_config {
	const char *where;
	bool drop;
	const char *metadata;
	size_t length;
	u64 table_hash;
};

/**
 * struct kt_persist_sizes - sizes of a session's rings
 * @size: bytes of a ring, per enum ktape_ring_kind
 * @block_size: bytes of a block, per enum ktape_ring_kind
 *
 * As a request, sizes are rounded up and 0 = default: for an event ring the
 * largest that fits.  The block size of control rings cannot be requested.
 */
struct kt_persist_sizes {
	u64 size[KTAPE_RINGS_PER_CPU];
	u64 block_size[KTAPE_RINGS_PER_CPU];
};

/* persist.c */
int kt_persist_init(const struct kt_persist_config *config);
void kt_persist_exit(void);
u64 kt_persist_size(void);
bool kt_persist_in_use(void);
int kt_persist_forget(void);
int kt_persist_hibernate(void);
void kt_persist_hibernated(void);
int kt_persist_take(struct kt_persist_sizes *sizes);
int kt_persist_lay_out(void);
void kt_persist_place(struct kt_ring_spec *spec);
void kt_persist_close(void);

/* region.c: "old" is the copy of what earlier loads left */
u64 kt_old_size(void);
long kt_old_read(u64 offset, void __user *to, size_t length);

#endif /* _KT_PERSIST_H */
