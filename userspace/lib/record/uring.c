// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A queue of writes.  If the kernel has io_uring, writes are asynchronous; otherwise
 * kt_queue_submit() completes each write before it returns.
 */
#include "record/uring.h"

/* Open a queue.  If @uring is false, do not use io_uring. */
void kt_queue_open(struct kt_queue *q, bool uring)
{
	memset(q, 0, sizeof(*q));
	q->plain = uring ? io_uring_queue_init(KT_WRITES, &q->ring, 0) : -EOPNOTSUPP;
}

/* Close a queue.  No write may be in flight. */
void kt_queue_close(struct kt_queue *q)
{
	if (!q->plain)
		io_uring_queue_exit(&q->ring);
	q->plain = -ESHUTDOWN;
}

static void write_now(struct kt_write *w)
{
	w->result = kt_pwritev_all(w->fd, &w->left);
	w->done = true;
}

/* Begin a write, or do it if there is no io_uring or no room in it. */
void kt_queue_submit(struct kt_queue *q, struct kt_write *w)
{
	struct io_uring_sqe *sqe;

	w->done = false;
	sqe = q->plain ? NULL : io_uring_get_sqe(&q->ring);
	if (!sqe) {
		write_now(w);
		return;
	}
	io_uring_prep_writev(sqe, w->fd, w->left.iov, w->left.nr, w->left.offset);
	io_uring_sqe_set_data(sqe, w);
	q->in_flight++;
	/* An entry that is not accepted now is submitted with the next one. */
	io_uring_submit(&q->ring);
}

/*
 * Finish a write that returned @res: write the missing rest without io_uring.  That is all of it
 * after an error, which is the result only if it comes again.
 */
static void finish_write(struct kt_write *w, int res)
{
	kt_pieces_pass(&w->left, res > 0 ? (uint64_t)res : 0);
	write_now(w);
}

static bool reap_one(struct kt_queue *q)
{
	struct io_uring_cqe *cqe;

	if (io_uring_peek_cqe(&q->ring, &cqe) || !cqe)
		return false;
	finish_write(io_uring_cqe_get_data(cqe), cqe->res);
	io_uring_cqe_seen(&q->ring, cqe);
	q->in_flight--;
	return true;
}

/* Finish all completed writes; if there are none, wait for one up to @wait_ms. */
void kt_queue_reap(struct kt_queue *q, unsigned int wait_ms)
{
	struct __kernel_timespec ts = {
		.tv_sec = wait_ms / 1000,
		.tv_nsec = wait_ms % 1000 * 1000000LL,
	};
	struct io_uring_cqe *cqe;
	bool any = false;

	if (!q->in_flight)
		return;
	io_uring_submit(&q->ring);
	while (q->in_flight && reap_one(q))
		any = true;
	if (any || !wait_ms)
		return;
	if (io_uring_wait_cqe_timeout(&q->ring, &cqe, &ts))
		return;
	while (q->in_flight && reap_one(q))
		;
}
