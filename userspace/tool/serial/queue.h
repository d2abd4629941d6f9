/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue of bytes before a slow line, so that the writer does not block on the line. */
#ifndef _KT_TOOL_SERIAL_QUEUE_H
#define _KT_TOOL_SERIAL_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct send_queue - queue of bytes before a line
 * @line: the line, non-blocking, used by the thread only
 * @signal: descriptor that is readable once a signal came
 * @leave_ms: after a signal, drain for at most this long, in ms
 * @ends: the pipe; the thread closes ends[0]
 * @size: capacity of the pipe, in bytes
 * @thread: copies from the pipe to the line
 * @runs: @thread was started
 * @until: end of @leave_ms, CLOCK_MONOTONIC in ms; 0: no signal yet.  Used by the
 *	thread only
 * @error: negative errno of the line, 0 = none; valid after the thread has ended
 * @left: bytes that were not sent; valid after the thread has ended
 */
struct send_queue {
	int line;
	int signal;
	unsigned int leave_ms;
	int ends[2];
	uint64_t size;
	pthread_t thread;
	bool runs;
	uint64_t until;
	int error;
	uint64_t left;
};

/*
 * Set @line, @signal and @leave_ms of a zeroed queue, begin it, and write to @ends[1].  It can be
 * ended more than once, also if it never began.  The line stays open.
 */
int send_queue_begin(struct send_queue *q, uint64_t size);
uint64_t send_queue_waits(const struct send_queue *q);
int send_queue_end(struct send_queue *q);

#endif /* _KT_TOOL_SERIAL_QUEUE_H */
