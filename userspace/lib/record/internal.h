/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving rings into files: what the two halves of the recorder share. */
#ifndef _KT_RECORD_INTERNAL_H
#define _KT_RECORD_INTERNAL_H

#include "write/write.h"
#include "device/ring.h"
#include "stream/state.h"
#include "record/uring.h"

#define KT_BATCH_BLOCKS	64U		/* of one write ... */
#define KT_BATCH_BYTES	(1U << 20)	/* ... and unless a block is larger */

#define KT_NAMES_PACKET	(64U << 10)

/**
 * struct kt_batch - neighbouring blocks in one write
 * @write: the write
 * @iov: first page and rest of each block
 * @views: the blocks
 * @nr: how many
 * @pages: their first pages, as saved
 * @offset: in the file
 * @next: of the same ring, or free
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

/* A block in a file whose rest was overwritten while it was being written. */
struct kt_hole {
	uint64_t offset;
	uint64_t records;
};

/**
 * struct kt_out - a ring on its way into a file
 * @file: where to, once there is something
 * @first: batch that was begun first, of those under way
 * @last: the last one
 * @holes: to be mended when nothing is under way
 * @nr_holes: how many
 * @failed: a write failed; what is behind it is not kept
 * @position: up to which everything was written
 * @reported: up to which the session knows of it
 * @goal: up to which everything is wanted now
 * @state: of a control ring of a log: what is in force
 */
struct kt_out {
	struct kt_ctf_file *file;
	struct kt_batch *first;
	struct kt_batch *last;
	struct kt_hole *holes;
	size_t nr_holes;
	bool failed;
	uint64_t position;
	uint64_t reported;
	uint64_t goal;
	struct kt_state state;
};

struct ktape_recorder {
	struct ktape_device *device;
	struct ktape_reader *reader;
	struct ktape_ctf *ctf;		/* NULL: pipe form */
	unsigned int flags;	/* KTAPE_RECORD_* */
	char *remark;		/* in the metadata of each piece, or NULL */
	int fd;
	bool pipe;
	bool attached;
	int (*wait)(void *arg);	/* for the reader of the pipe, or NULL */
	void *arg;
	struct kt_out *outs;
	unsigned int nr_outs;
	struct kt_queue queue;
	struct kt_batch *batches;
	struct kt_batch *free;
	size_t page_size;
	uint8_t *block;			/* room for one, aligned */
	size_t block_size;
	struct ktape_position *positions;
	struct ktape_object_entry *names;	/* at the start */
	int nr_names;
	bool names_written;
	uint64_t names_seq;
	bool parts;			/* pipe: open blocks as well, once */
	bool progress;
	uint64_t bytes;
	uint64_t piece_records;		/* before this piece */
	int plain;			/* of @ctf, when it is closed */
	char *kept;			/* where the finished trace is, or NULL */
	int error;
};

/* write.c */
int kt_record_alloc(struct ktape_recorder *rec);
void kt_record_free(struct ktape_recorder *rec);
void kt_record_drain(struct ktape_recorder *rec, unsigned int ring);
void kt_record_complete(struct ktape_recorder *rec, unsigned int ring);
void kt_record_fail(struct ktape_recorder *rec, int err);

/* record.c */
int kt_record_create(struct ktape_recorder *rec, const char *path,
		     struct ktape_ctf **ctf);
int kt_record_redescribe(struct ktape_recorder *rec);
bool kt_record_copies(const struct ktape_recorder *rec, unsigned int ring);
uint64_t kt_record_count(struct ktape_recorder *rec);
void kt_record_step(struct ktape_recorder *rec);
void kt_record_settle(struct ktape_recorder *rec);
int kt_record_packet(struct ktape_recorder *rec, const uint8_t *packet,
		     size_t len);
int64_t kt_record_copy(struct ktape_recorder *rec, unsigned int ring,
		       unsigned int flags);

/* names.c */
int kt_record_start(struct ktape_recorder *rec, const uint8_t *head);
void kt_record_last_names(struct ktape_recorder *rec);
int kt_record_restate(struct ktape_recorder *rec);

#endif /* _KT_RECORD_INTERNAL_H */
