// SPDX-License-Identifier: GPL-2.0-only
/* In the place of util/pool.c: there are no threads. */
#include <errno.h>
#include <stdlib.h>

#include "util/pool.h"

struct kt_pool {
	char unused;
};

unsigned int kt_pool_cpus(void)
{
	return 1;
}

int kt_pool_new(unsigned int threads, struct kt_pool **pool)
{
	(void)threads;
	*pool = calloc(1, sizeof(**pool));
	return *pool ? 0 : -ENOMEM;
}

void kt_pool_run(struct kt_pool *pool, void (*work)(void *arg, size_t i),
		 void *arg, size_t nr)
{
	(void)pool;
	for (size_t i = 0; i < nr; i++)
		work(arg, i);
}

void kt_pool_free(struct kt_pool *pool)
{
	free(pool);
}
