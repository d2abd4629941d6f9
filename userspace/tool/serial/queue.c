// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue of bytes before a slow line: a pipe, and a thread that copies from it.
 *
 * A terminal buffers only a few KiB.  A sender that blocked on it could not read its
 * input, nor choose which events to shed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "util/bits.h"

#include "tool/serial/queue.h"
#include "tool/shared/clock.h"

#define PART 512 /* bytes that the thread holds outside of the pipe */
#define LEAST \
	(64U << 10) /* bytes that are asked for at least: the usual size of a pipe */

static uint64_t now_ms(void)
{
	return monotonic_ns() / 1000000;
}

/*
 * Wait until @fd is ready; after a signal, not beyond q->until, which is set here.  A hang-up
 * counts as ready: the next read() or write() returns it.
 * Return: 0, -ETIMEDOUT, or another negative errno.
 */
static int wait_ready(struct send_queue *q, int fd, short events)
{
	struct pollfd p[] = {
		{ .fd = fd, .events = events },
		{ .fd = q->signal, .events = POLLIN },
	};
	int n;

	for (;;) {
		uint64_t now = now_ms();
		int timeout = -1;

		if (q->until && now >= q->until)
			return -ETIMEDOUT;
		if (q->until)
			timeout = (int)(q->until - now);
		n = poll(p, q->until ? 1 : 2, timeout);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && !q->until && p[1].revents)
			q->until = now_ms() + q->leave_ms;
		if (n > 0 && p[0].revents)
			return 0;
	}
}

/* Write to the line.  Return: 0 or negative errno; q->left counts what remains. */
static int put_queue_bytes(struct send_queue *q, const char *p, size_t len)
{
	int err = 0;

	while (len && !err) {
		ssize_t n = write(q->line, p, len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			err = wait_ready(q, q->line, POLLOUT);
		} else {
			err = n ? -errno : -EIO;
		}
	}
	q->left += len;
	return err;
}

static uint64_t bytes_readable(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) ? 0 : (uint64_t)n;
}

static void *carry_bytes(void *arg)
{
	struct send_queue *q = arg;
	char part[PART];
	int err;

	for (;;) {
		ssize_t n;

		err = wait_ready(q, q->ends[0], POLLIN);
		if (err)
			break;
		n = read(q->ends[0], part, sizeof(part));
		err = n < 0 ? -errno : 0;
		if (n > 0)
			err = put_queue_bytes(q, part, (size_t)n);
		if (err || n <= 0)
			break;
	}
	q->left += bytes_readable(q->ends[0]);
	q->error = err;
	/* Closing a terminal would wait until its buffer is sent: discard it. */
	if (err == -ETIMEDOUT)
		tcflush(q->line, TCOFLUSH);
	/* The writer gets EPIPE. */
	close(q->ends[0]);
	return NULL;
}

static int start_queue_thread(struct send_queue *q)
{
	sigset_t all, before;
	int err;

	/* Signals have to interrupt the main thread, which waits for input. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(&q->thread, NULL, carry_bytes, q);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/**
 * send_queue_begin() - start a queue before a line
 * @q: queue with @q->line, @q->signal and @q->leave_ms set
 * @size: capacity wanted, in bytes; less if pipes may not be that large
 *
 * The line becomes non-blocking, and @q->size is set to the capacity.  Write to @q->ends[1].
 * That blocks while the queue is full, and fails with EPIPE after the line has failed.  The
 * caller has to ignore SIGPIPE.
 *
 * Return: 0 or negative errno.
 */
int send_queue_begin(struct send_queue *q, uint64_t size)
{
	int flags = fcntl(q->line, F_GETFL), got = -1, err;

	if (flags < 0 || fcntl(q->line, F_SETFL, flags | O_NONBLOCK) ||
	    pipe2(q->ends, O_CLOEXEC))
		return -errno;
	/* Add a quarter, because small writes do not fill the pages of a pipe. */
	size = kt_min(kt_max(size + size / 4, LEAST), INT32_MAX / 2);
	for (; got < 0 && size >= PART; size /= 2)
		got = fcntl(q->ends[1], F_SETPIPE_SZ, (int)size);
	if (got < 0)
		got = fcntl(q->ends[1], F_GETPIPE_SZ);
	q->size = got < 0 ? LEAST : (uint64_t)got;
	err = start_queue_thread(q);
	q->runs = !err;
	if (err) {
		close(q->ends[0]);
		close(q->ends[1]);
	}
	return err;
}

/**
 * send_queue_waits() - return how much is in the queue
 * @q: queue that runs
 *
 * Return: bytes.
 */
uint64_t send_queue_waits(const struct send_queue *q)
{
	return bytes_readable(q->ends[1]);
}

/**
 * send_queue_end() - wait until the queue is drained, and end it
 * @q: queue, or one that was not started; no other descriptor of @q->ends[1] may be
 *	open
 *
 * Wait as long as the line needs, but at most @q->leave_ms after a signal.  @q->left is set to the
 * bytes that were not sent.
 *
 * Return: 0; -ETIMEDOUT: bytes were left after @q->leave_ms; or negative errno of
 * the line.
 */
int send_queue_end(struct send_queue *q)
{
	if (q->runs) {
		close(q->ends[1]);
		pthread_join(q->thread, NULL);
	}
	q->runs = false;
	return q->error;
}
