// SPDX-License-Identifier: LGPL-2.1-or-later
/* In the place of util/crew.c: there are no threads, so a job is done when it is waited for. */
#include <errno.h>
#include <stdlib.h>

#include "util/crew.h"

struct kt_crew {
	void (*work)(void *arg, unsigned int thread, uint64_t job);
	void *arg;
	uint64_t next;
};

int kt_crew_new(unsigned int threads,
		void (*work)(void *arg, unsigned int thread, uint64_t job),
		void *arg, struct kt_crew **crew)
{
	struct kt_crew *c = calloc(1, sizeof(*c));

	(void)threads;
	if (!c)
		return -ENOMEM;
	c->work = work;
	c->arg = arg;
	*crew = c;
	return 0;
}

void kt_crew_give(struct kt_crew *crew)
{
	(void)crew;
}

void kt_crew_wait(struct kt_crew *crew, uint64_t job)
{
	while (crew->next <= job)
		crew->work(crew->arg, 0, crew->next++);
}

void kt_crew_free(struct kt_crew *crew)
{
	free(crew);
}
