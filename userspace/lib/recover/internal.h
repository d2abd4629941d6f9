/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recovering a trace from memory: what the files of this folder share.  Read them in this
 * order; each calls only those before it: input.c, names.c, ring.c, recover.c.
 */
#ifndef _KT_RECOVER_INTERNAL_H
#define _KT_RECOVER_INTERNAL_H

#include "stream/packet.h"

/**
 * struct kt_recovery - a recovery
 * @in: the memory
 * @out: receiver of the trace
 * @hooks: callbacks of the caller
 * @base: offset of the region in the input
 * @super: validated superblock of the region
 * @table: table of the rings; a ring that is left out has no blocks
 * @result: result for the caller
 * @done: bytes of blocks processed
 * @all: bytes of all blocks
 * @last_ts: latest time in any ring, in ticks
 */
struct kt_recovery {
	const struct ktape_recover_input *in;
	const struct ktape_recover_output *out;
	struct ktape_recover_hooks hooks;
	uint64_t base;
	struct ktape_persist super;
	struct ktape_persist_ring *table;
	struct ktape_recovered *result;
	uint64_t done;
	uint64_t all;
	uint64_t last_ts;
};

/* input.c; offsets are those in the region, without @base */
int kt_recover_read(const struct kt_recovery *rec, uint64_t offset, void *to,
		    size_t len);
void kt_recover_report(const struct kt_recovery *rec, uint64_t offset,
		       const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int kt_recover_progress(struct kt_recovery *rec, uint64_t bytes);

/* ring.c */
int kt_recover_ring(struct kt_recovery *rec, const struct ktape_persist_ring *desc,
		    struct ktape_recover_ring *result);

/* names.c */
int kt_recover_names(struct kt_recovery *rec);

#endif /* _KT_RECOVER_INTERNAL_H */
