/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes that are under way: by io_uring, or one by one where it is missing. */
#ifndef _KT_URING_H
#define _KT_URING_H

#include <liburing.h>

#include "util/file.h"

#include "stream/packet.h"

/* Writes under way at a time. */
#define KT_WRITES	16U

/**
 * struct kt_write - a write
 * @fd: where to
 * @left: what is to be written
 * @size: bytes in all
 * @done: it is over
 * @result: 0 or negative errno
 */
struct kt_write {
	int fd;
	struct kt_pieces left;
	uint64_t size;
	bool done;
	int result;
};

/**
 * struct kt_queue - writes that are under way
 * @ring: io_uring
 * @in_flight: how many
 * @plain: why there is no io_uring (negative errno), or 0
 */
struct kt_queue {
	struct io_uring ring;
	unsigned int in_flight;
	int plain;
};

void kt_queue_open(struct kt_queue *q, bool uring);
void kt_queue_close(struct kt_queue *q);
void kt_queue_submit(struct kt_queue *q, struct kt_write *w);
void kt_queue_reap(struct kt_queue *q, unsigned int wait_ms);

#endif /* _KT_URING_H */
