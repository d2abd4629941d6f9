/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A queue of writes, which are asynchronous if the kernel has io_uring. */
#ifndef _KT_URING_H
#define _KT_URING_H

#include <liburing.h>

#include "util/file.h"

#include "stream/packet.h"

/* Most writes in flight. */
#define KT_WRITES 16U

/**
 * struct kt_write - a write
 * @fd: descriptor of the file
 * @left: data that is still to be written
 * @size: bytes of the whole write
 * @done: the write has finished
 * @result: 0 or negative errno, valid if @done
 */
struct kt_write {
	int fd;
	struct kt_pieces left;
	uint64_t size;
	bool done;
	int result;
};

/**
 * struct kt_queue - a queue of writes
 * @ring: io_uring instance, valid if @plain is 0
 * @in_flight: number of writes in flight
 * @plain: negative errno that says why io_uring is not used, 0 = used
 */
struct kt_queue {
	struct io_uring ring;
	unsigned int in_flight;
	int plain;
};

/*
 * For a write the caller sets @fd and @left, and keeps the data and the kt_write until @done.
 * kt_queue_submit() sets that if it wrote at once, else kt_queue_reap() does.  A caller may have
 * more than KT_WRITES writes: those that find no room are written at once.
 */
void kt_queue_open(struct kt_queue *q, bool uring);
void kt_queue_close(struct kt_queue *q);
void kt_queue_submit(struct kt_queue *q, struct kt_write *w);
void kt_queue_reap(struct kt_queue *q, unsigned int wait_ms);

#endif /* _KT_URING_H */
