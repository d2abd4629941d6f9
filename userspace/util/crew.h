/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that do jobs, while their owner prepares further jobs. */
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
