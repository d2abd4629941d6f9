// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes that are under way: by io_uring, or one by one where it is missing. */
#include "record/uring.h"

void kt_queue_open(struct kt_queue *q, bool uring)
{
	memset(q, 0, sizeof(*q));
	q->plain = uring ? io_uring_queue_init(KT_WRITES, &q->ring, 0)
			 : -EOPNOTSUPP;
}

/* Nothing may be under way. */
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

void kt_queue_submit(struct kt_queue *q, struct kt_write *w)
{
	struct io_uring_sqe *sqe;

	w->done = false;
	sqe = q->plain ? NULL : io_uring_get_sqe(&q->ring);
	if (!sqe) {
		write_now(w);
		return;
	}
	io_uring_prep_writev(sqe, w->fd, w->left.iov, w->left.nr,
			     w->left.offset);
	io_uring_sqe_set_data(sqe, w);
	q->in_flight++;
	/* What is not taken now goes with the next one, or when reaping. */
	io_uring_submit(&q->ring);
}

/* A write ended with @res; what is missing is written the plain way. */
static void finish(struct kt_write *w, int res)
{
	kt_pieces_pass(&w->left, res > 0 ? (uint64_t)res : 0);
	write_now(w);
}

static bool take(struct kt_queue *q)
{
	struct io_uring_cqe *cqe;

	if (io_uring_peek_cqe(&q->ring, &cqe) || !cqe)
		return false;
	finish(io_uring_cqe_get_data(cqe), cqe->res);
	io_uring_cqe_seen(&q->ring, cqe);
	q->in_flight--;
	return true;
}

/* Take all writes that are over; if there are none, wait for one. */
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
	while (q->in_flight && take(q))
		any = true;
	if (any || !wait_ms)
		return;
	if (io_uring_wait_cqe_timeout(&q->ring, &cqe, &ts))
		return;
	while (q->in_flight && take(q))
		;
}
