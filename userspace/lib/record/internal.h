/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorder: what its files share.  Read them in this order; each calls only those
 * before it: uring.c, output.c, names.c, write.c, step.c, cgroups.c, record.c, rotate.c.
 */
#ifndef _KT_RECORD_INTERNAL_H
#define _KT_RECORD_INTERNAL_H

#include "write/write.h"
#include "device/ring.h"
#include "stream/state.h"
#include "record/uring.h"

#define KT_BATCH_BLOCKS 64U	   /* most blocks in one write */
#define KT_BATCH_BYTES	(1U << 20) /* most bytes, unless a block is larger */

#define KT_NAMES_PACKET (64U << 10) /* bytes of a packet with names */
#define KT_REAP_MS	20	    /* to wait for a write */

/**
 * struct kt_batch - consecutive blocks of a ring in one write
 * @write: the write
 * @iov: first page and rest of each block
 * @views: the blocks
 * @nr: number of blocks
 * @pages: copies of their first pages, with patched headers
 * @offset: offset in the file
 * @next: next batch of the same ring, or next free batch
 */
struct kt_batch {
	struct kt_write write;
	struct iovec iov[2 * KT_BATCH_BLOCKS];
	struct kt_view views[KT_BATCH_BLOCKS];
	unsigned int nr;
	uint8_t *pages;
	uint64_t offset;
	struct kt_batch *next;
};

/*
 * A block that the kernel overwrote in the ring while it was written to the file: where it is in
 * the file, and how many records it had.
 */
struct kt_dropped {
	uint64_t offset;
	uint64_t records;
};

/**
 * struct kt_out - output state of a ring
 * @file: file of the ring, NULL = no packet yet
 * @first: oldest batch in flight, or NULL
 * @last: latest batch in flight
 * @dropped: blocks to patch when no write is in flight
 * @nr_dropped: number of @dropped
 * @failed: a write failed; the file ends after the last complete packet
 * @position: position in the ring up to which everything was written
 * @reported: position that was reported to the session
 * @goal: position up to which a flush or rotation writes
 * @state: session state, tracked for the control rings of a log
 */
struct kt_out {
	struct kt_ctf_file *file;
	struct kt_batch *first;
	struct kt_batch *last;
	struct kt_dropped *dropped;
	size_t nr_dropped;
	bool failed;
	uint64_t position;
	uint64_t reported;
	uint64_t goal;
	struct kt_state state;
};

/**
 * struct ktape_recorder - a recording
 * @device: the session
 * @reader: its mapped rings
 * @ctf: the trace, NULL = pipe form on @fd
 * @flags: KTAPE_RECORD_*
 * @remark: comment in the metadata of each piece, or NULL
 * @fd: descriptor for a pipe form
 * @pipe: the output is @fd
 * @attached: the session may outlive the recorder
 * @wait: called if a non-blocking @fd accepts no data, or NULL
 * @arg: argument of @wait
 * @outs: output state of each ring
 * @nr_outs: number of entries in @outs
 * @queue: writes in flight
 * @batches: all batches of writes
 * @free: batches that are not in flight
 * @page_size: bytes of a page of the session
 * @block: aligned buffer for one block
 * @block_size: bytes of @block
 * @positions: array for reporting positions
 * @names: names at the start of the recording or piece
 * @nr_names: number of entries in @names
 * @cgroups: cgroups of the threads among @names, as in the registry
 * @nr_cgroups: number of entries in @cgroups
 * @names_written: @names were written
 * @names_seq: sequence number of the last packet with names
 * @parts: pipe: also write one part of each open block in the next step
 * @progress: the current step has written or completed something
 * @bytes: bytes written
 * @piece_records: records written before the current piece
 * @plain: @ctf->plain after @ctf was closed
 * @kept: path of the finished trace, or NULL
 * @error: first error
 */
struct ktape_recorder {
	struct ktape_device *device;
	struct ktape_reader *reader;
	struct ktape_ctf *ctf;
	unsigned int flags;
	char *remark;
	int fd;
	bool pipe;
	bool attached;
	int (*wait)(void *arg);
	void *arg;
	struct kt_out *outs;
	unsigned int nr_outs;
	struct kt_queue queue;
	struct kt_batch *batches;
	struct kt_batch *free;
	size_t page_size;
	uint8_t *block;
	size_t block_size;
	struct ktape_position *positions;
	struct ktape_object_entry *names;
	int nr_names;
	struct ktape_object_entry *cgroups;
	int nr_cgroups;
	bool names_written;
	uint64_t names_seq;
	bool parts;
	bool progress;
	uint64_t bytes;
	uint64_t piece_records;
	int plain;
	char *kept;
	int error;
};

/* output.c */
int kt_record_output(struct ktape_recorder *rec, const uint8_t *packet, size_t len);
void kt_record_fail(struct ktape_recorder *rec, int err);

/* write.c */
int kt_record_alloc(struct ktape_recorder *rec);
void kt_record_free(struct ktape_recorder *rec);
void kt_record_drain(struct ktape_recorder *rec, unsigned int ring);
void kt_record_complete(struct ktape_recorder *rec, unsigned int ring);
int64_t kt_record_copy(struct ktape_recorder *rec, unsigned int ring,
		       unsigned int flags);

/* step.c */
void kt_record_step(struct ktape_recorder *rec);
void kt_record_poll(struct ktape_recorder *rec);
void kt_record_settle(struct ktape_recorder *rec);
void kt_record_report(struct ktape_recorder *rec);

/* record.c */
int kt_record_create(struct ktape_recorder *rec, const char *path,
		     struct ktape_ctf **ctf);
int kt_record_redescribe(struct ktape_recorder *rec);
int kt_record_refresh(struct ktape_recorder *rec);
void kt_record_to_ends(struct ktape_recorder *rec, bool stopped);
uint64_t kt_record_count(struct ktape_recorder *rec);

/*
 * names.c.  kt_record_start() is for the packet with header @head, and does nothing but for the
 * first one.  kt_record_write_names() leaves out the names that are the same in @known.
 */
int kt_record_start(struct ktape_recorder *rec, const uint8_t *head);
int kt_record_write_names(struct ktape_recorder *rec, uint64_t ts,
			  const struct ktape_object_entry *names, int nr,
			  const struct ktape_object_entry *known, int nr_known);
void kt_record_last_names(struct ktape_recorder *rec);
int kt_record_restate(struct ktape_recorder *rec);

/* cgroups.c */
int kt_record_find_cgroups(struct ktape_recorder *rec, bool records);
int kt_record_restate_cgroups(struct ktape_recorder *rec);

#endif /* _KT_RECORD_INTERNAL_H */
