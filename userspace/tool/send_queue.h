/* SPDX-License-Identifier: GPL-2.0-only */
/* What waits for a slow line, so that its writer need not. */
#ifndef _KT_SEND_QUEUE_H
#define _KT_SEND_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct send_queue - bytes between a writer and a line
 * @line: non-blocking, nobody else's
 * @signal: can be read once a signal has come
 * @leave_ms: for so long after that the line may take what waits
 * @ends: of the pipe; the thread closes the first one
 * @size: bytes that may wait
 * @thread: copies from the pipe to the line
 * @runs: there is one
 * @until: ms: of @leave_ms, or 0: no signal came.  The thread's.
 * @error: of the line, 0 or negative errno; read when the thread has ended
 * @left: bytes that the line did not take, the same
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

int send_queue_begin(struct send_queue *q, uint64_t size);
uint64_t send_queue_waits(const struct send_queue *q);
int send_queue_end(struct send_queue *q);

#endif /* _KT_SEND_QUEUE_H */
