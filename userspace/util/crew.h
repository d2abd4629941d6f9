/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that do jobs, while their owner prepares further jobs.
 *
 * A job has no description but its number: that of its kt_crew_give(), from 0, which @work gets.
 * Jobs are begun in this order, and end in any.  kt_crew_wait(crew, n) returns when job n has
 * ended; the owner does jobs meanwhile.  It waits for the jobs in the order of their numbers, and
 * has given no more than KT_CREW_JOBS that it has not waited for.  kt_crew_free() waits for no
 * job: call it when all were waited for.  All these functions are called by the owner alone.
 */
#ifndef _KT_CREW_H
#define _KT_CREW_H

#include <stdint.h>

/* Most jobs that can be given and not waited for. */
#define KT_CREW_JOBS 64U

struct kt_crew;

int kt_crew_new(unsigned int threads,
		void (*work)(void *arg, unsigned int thread, uint64_t job),
		void *arg, struct kt_crew **crew);
void kt_crew_give(struct kt_crew *crew);
void kt_crew_wait(struct kt_crew *crew, uint64_t job);
void kt_crew_free(struct kt_crew *crew);

#endif /* _KT_CREW_H */
