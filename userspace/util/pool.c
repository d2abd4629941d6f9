// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that do independent pieces of work, numbered from 0.
 *
 * The caller of kt_pool_run() works, too, so a pool of one has no thread at all.  A
 * thread takes the next piece when it has finished one.  Signals go to the threads of the
 * program, not to these.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/bits.h"
#include "util/pool.h"

#define STACK (256U << 10)

/**
 * struct kt_pool - threads, and the work that they share
 * @lock: protects everything below up to @quit
 * @begun: signalled when there is work, or when the threads are to end
 * @ended: signalled when the last piece is finished
 * @work: does piece i
 * @arg: first argument of @work
 * @next: the next piece
 * @nr: number of pieces
 * @busy: pieces that were taken and are not finished
 * @quit: the threads are to end
 * @nr_threads: entries of @threads
 * @threads: the threads
 */
struct kt_pool {
	pthread_mutex_t lock;
	pthread_cond_t begun;
	pthread_cond_t ended;
	void (*work)(void *arg, size_t i);
	void *arg;
	size_t next;
	size_t nr;
	size_t busy;
	bool quit;
	unsigned int nr_threads;
	pthread_t threads[];
};

/* Return the number of CPUs that this process may use, at least 1. */
unsigned int kt_pool_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)kt_max((uint64_t)CPU_COUNT(&set), 1);
}

/* Do pieces until none is left.  Called with the lock held. */
static void do_pieces(struct kt_pool *p)
{
	size_t i;

	while (p->next < p->nr) {
		i = p->next++;
		p->busy++;
		pthread_mutex_unlock(&p->lock);
		p->work(p->arg, i);
		pthread_mutex_lock(&p->lock);
		p->busy--;
	}
	if (!p->busy)
		pthread_cond_signal(&p->ended);
}

static void *serve_pool(void *arg)
{
	struct kt_pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->quit) {
		if (p->next < p->nr)
			do_pieces(p);
		else
			pthread_cond_wait(&p->begun, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Start threads, as many as there can be. */
static void start_threads(struct kt_pool *p, unsigned int threads)
{
	sigset_t all, before;
	pthread_attr_t attr;

	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (p->nr_threads < threads &&
	       !pthread_create(&p->threads[p->nr_threads], &attr, serve_pool, p))
		p->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/**
 * kt_pool_new() - Start a pool
 * @threads: number of threads that work, the caller of kt_pool_run() included.  There
 *	may be fewer if the system refuses some
 * @pool: set on success; release with kt_pool_free()
 *
 * Return: 0 or -ENOMEM.
 */
int kt_pool_new(unsigned int threads, struct kt_pool **pool)
{
	struct kt_pool *p;

	p = calloc(1, sizeof(*p) + threads * sizeof(*p->threads));
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->begun, NULL);
	pthread_cond_init(&p->ended, NULL);
	if (threads > 1)
		start_threads(p, threads - 1);
	*pool = p;
	return 0;
}

/**
 * kt_pool_run() - Do pieces of work, and wait until all are finished
 * @pool: the pool
 * @work: does piece @i; pieces must not depend on each other
 * @arg: first argument of @work
 * @nr: number of pieces
 *
 * What the caller wrote before is visible to the pieces, and what they wrote is visible
 * to the caller afterwards.
 */
void kt_pool_run(struct kt_pool *pool, void (*work)(void *arg, size_t i),
		 void *arg, size_t nr)
{
	if (!pool->nr_threads || nr < 2) {
		for (size_t i = 0; i < nr; i++)
			work(arg, i);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->work = work;
	pool->arg = arg;
	pool->next = 0;
	pool->nr = nr;
	pthread_cond_broadcast(&pool->begun);
	do_pieces(pool);
	while (pool->busy)
		pthread_cond_wait(&pool->ended, &pool->lock);
	pool->next = pool->nr = 0;
	pthread_mutex_unlock(&pool->lock);
}

/* End the threads and free the pool, which may be NULL. */
void kt_pool_free(struct kt_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->begun);
	pthread_mutex_unlock(&pool->lock);
	while (pool->nr_threads)
		pthread_join(pool->threads[--pool->nr_threads], NULL);
	pthread_cond_destroy(&pool->ended);
	pthread_cond_destroy(&pool->begun);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
