// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that do jobs, while their owner prepares further jobs.
 *
 * Jobs have numbers from 0.  They are begun in this order, and end in any.  The owner
 * gives one job after the other, and waits for a job when it needs the result.  While it
 * waits it does jobs, too, so a crew of one has no thread at all.  The threads are started
 * when a second job is given before the first one was waited for: few jobs need none.
 *
 * The difference to a pool (pool.c): the owner goes on while jobs are done.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/crew.h"

#define STACK (256U << 10)

/* A thread of a crew. */
struct member {
	struct kt_crew *crew;
	unsigned int number;
	pthread_t thread;
};

/**
 * struct kt_crew - threads, and their jobs
 * @lock: protects everything below up to @quit
 * @given: signalled when there is a job, or when the threads are to end
 * @ended: signalled when a job is finished
 * @next: the job that is begun next
 * @nr: number of jobs that were given
 * @done: job n % KT_CREW_JOBS is finished
 * @quit: the threads are to end
 * @work: does a job
 * @arg: first argument of @work
 * @waited: jobs that the owner has waited for
 * @started: starting threads was tried
 * @max: entries of @members
 * @nr_members: threads that run
 * @members: the threads
 */
struct kt_crew {
	pthread_mutex_t lock;
	pthread_cond_t given;
	pthread_cond_t ended;
	uint64_t next;
	uint64_t nr;
	bool done[KT_CREW_JOBS];
	bool quit;
	void (*work)(void *arg, unsigned int thread, uint64_t job);
	void *arg;
	uint64_t waited;
	bool started;
	unsigned int max;
	unsigned int nr_members;
	struct member members[];
};

/* Do the next job.  Called with the lock held. */
static void do_next(struct kt_crew *c, unsigned int thread)
{
	uint64_t job = c->next++;

	pthread_mutex_unlock(&c->lock);
	c->work(c->arg, thread, job);
	pthread_mutex_lock(&c->lock);
	c->done[job % KT_CREW_JOBS] = true;
	pthread_cond_signal(&c->ended);
}

static void *serve_crew(void *arg)
{
	struct member *m = arg;
	struct kt_crew *c = m->crew;

	pthread_mutex_lock(&c->lock);
	while (!c->quit) {
		if (c->next < c->nr)
			do_next(c, m->number);
		else
			pthread_cond_wait(&c->given, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Start threads, as many as there can be.  Signals go to the threads of the program. */
static void start_members(struct kt_crew *c)
{
	sigset_t all, before;
	pthread_attr_t attr;

	c->started = true;
	if (!c->max || pthread_attr_init(&attr))
		return;
	pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (c->nr_members < c->max) {
		struct member *m = &c->members[c->nr_members];

		m->crew = c;
		m->number = c->nr_members + 1;
		if (pthread_create(&m->thread, &attr, serve_crew, m))
			break;
		c->nr_members++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/**
 * kt_crew_new() - Prepare a crew
 * @threads: number of threads that work, the owner included; the system may refuse some
 * @work: does a job; @thread is less than @threads, and 0 for the owner
 * @arg: first argument of @work
 * @crew: set on success; release with kt_crew_free()
 *
 * Return: 0 or -ENOMEM.
 */
int kt_crew_new(unsigned int threads,
		void (*work)(void *arg, unsigned int thread, uint64_t job),
		void *arg, struct kt_crew **crew)
{
	unsigned int max = threads ? threads - 1 : 0;
	struct kt_crew *c = calloc(1, sizeof(*c) + max * sizeof(*c->members));

	if (!c)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->given, NULL);
	pthread_cond_init(&c->ended, NULL);
	c->work = work;
	c->arg = arg;
	c->max = max;
	*crew = c;
	return 0;
}

/**
 * kt_crew_give() - Give the next job
 * @crew: the crew, with fewer than KT_CREW_JOBS jobs that were not waited for
 *
 * What the owner wrote before is visible to the job.
 */
void kt_crew_give(struct kt_crew *crew)
{
	if (!crew->started && crew->nr > crew->waited)
		start_members(crew);
	pthread_mutex_lock(&crew->lock);
	crew->done[crew->nr++ % KT_CREW_JOBS] = false;
	pthread_cond_signal(&crew->given);
	pthread_mutex_unlock(&crew->lock);
}

/**
 * kt_crew_wait() - Wait for a job, and do jobs meanwhile
 * @crew: the crew
 * @job: the oldest job that was not waited for
 *
 * What the job wrote is visible to the owner afterwards.
 */
void kt_crew_wait(struct kt_crew *crew, uint64_t job)
{
	pthread_mutex_lock(&crew->lock);
	while (!crew->done[job % KT_CREW_JOBS]) {
		if (crew->next < crew->nr)
			do_next(crew, 0);
		else
			pthread_cond_wait(&crew->ended, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	crew->waited = job + 1;
}

/* End the threads and free the crew, which may be NULL.  All jobs must be waited for. */
void kt_crew_free(struct kt_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->quit = true;
	pthread_cond_broadcast(&crew->given);
	pthread_mutex_unlock(&crew->lock);
	while (crew->nr_members)
		pthread_join(crew->members[--crew->nr_members].thread, NULL);
	pthread_cond_destroy(&crew->ended);
	pthread_cond_destroy(&crew->given);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}
