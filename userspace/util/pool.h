/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that do independent pieces of work.
 *
 * kt_pool_run() calls @work for each number below @nr, in any order and in several threads, the
 * caller's included, and returns when all of these calls have returned.  One thread at a time may
 * use a pool.
 */
#ifndef _KT_POOL_H
#define _KT_POOL_H

#include <stddef.h>

struct kt_pool;

unsigned int kt_pool_cpus(void);
int kt_pool_new(unsigned int threads, struct kt_pool **pool);
void kt_pool_run(struct kt_pool *pool, void (*work)(void *arg, size_t i),
		 void *arg, size_t nr);
void kt_pool_free(struct kt_pool *pool);

#endif /* _KT_POOL_H */
