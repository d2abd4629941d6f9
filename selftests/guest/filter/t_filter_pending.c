// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pending context records of a session with a thread filter, while profiles with and without
 * context records take turns.  A context record says which thread runs.  After a switch to a
 * thread that does not pass it is pending: it is written before the first event that does.
 *
 * Two threads that do not pass rename one that passes, so each event comes after a context
 * record that was pending.  A change of the profile interrupts the writer at any step.  From
 * a change to a profile without context records on, no switch is reported, so no record may
 * name a thread.
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_module.h"

#define CPU	1
#define RING	(32UL << 20)
#define ROUNDS	(20 / kt_scale())
#define CHANGES 200
#define NAME	"pending" /* and one more letter */

/* A thread that gives thread @whom the name NAME with letter @nr, until @end. */
struct renamer {
	pthread_t thread;
	int nr;
	pid_t tid, whom;
	bool end;
};

FIXTURE(pending)
{
	int fd;
	struct renamer r[2];
	struct kt_map m;
};

/* Rename a thread and let the other renamer run. */
static void *rename_always(void *arg)
{
	struct renamer *r = arg;
	char path[64], name[] = NAME "a";
	int fd;

	name[strlen(NAME)] += r->nr;
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", r->whom);
	fd = open(path, O_WRONLY);
	kt_pin(CPU);
	__atomic_store_n(&r->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&r->end, __ATOMIC_ACQUIRE) &&
	       write(fd, name, strlen(name)) > 0)
		sched_yield();
	close(fd);
	return NULL;
}

FIXTURE_SETUP(pending)
{
	const pid_t whom = (pid_t)syscall(SYS_gettid);

	self->fd = -1;
	if (kt_online_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	kt_pin(0);
	self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_filter_pid(self->fd, whom, 0));
	ASSERT_EQ(0, kt_map_ring(self->fd, CPU, KTAPE_RING_EVENT, &self->m));
	for (int i = 0; i < 2; i++) {
		self->r[i] = (struct renamer){ .nr = i, .whom = whom };
		ASSERT_EQ(0, pthread_create(&self->r[i].thread, NULL,
					    rename_always, &self->r[i]));
		while (!__atomic_load_n(&self->r[i].tid, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	kt_expedite(true);
}

FIXTURE_TEARDOWN(pending)
{
	kt_expedite(false);
	if (self->fd < 0)
		return;
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&self->r[i].end, true, __ATOMIC_RELEASE);
		pthread_join(self->r[i].thread, NULL);
	}
	kt_unmap_ring(&self->m);
	close(self->fd);
}

/**
 * struct attribution - what the records of the ring say
 * @m: the ring
 * @by: the renamers
 * @last: which of them gave the last name
 * @tid: running thread, as records say; -1 = unknown
 * @block: block of the last record
 * @named: events of a thread that the records name
 * @unnamed: events of an unknown thread
 * @wrong: of @named, those of the other renamer
 */
struct attribution {
	const struct kt_map *m;
	const struct renamer *by;
	int last;
	int32_t tid;
	uint64_t block;
	long named, unnamed, wrong;
};

static void take_thread_of_head(struct attribution *s, const struct kt_rec *r)
{
	const uint64_t size = s->m->e.block_size, block = r->pos / size;
	const struct ktape_block *b =
		(const void *)(s->m->data + block * size % s->m->e.data_size);

	if (block == s->block)
		return;
	s->block = block;
	s->tid = b->context == KTAPE_CTX_UNKNOWN ? -1 : b->tid;
}

/* The name comes before the event, whichever thread the records name. */
static void note_given_name(struct attribution *s, const struct kt_rec *r)
{
	const size_t letter = strlen(NAME);

	if (r->args[0] == (uint32_t)s->by->whom && r->size > letter &&
	    !memcmp(r->blob, NAME, letter))
		s->last = r->blob[letter] - 'a';
}

static void check_rename_record(const struct kt_rec *r, void *arg)
{
	struct attribution *s = arg;

	take_thread_of_head(s, r);
	if (r->op == KTAPE_EV_REGISTRY)
		note_given_name(s, r);
	if (r->op == KTAPE_EV_CONTEXT)
		s->tid = (int32_t)r->args[0];
	if (r->op != KTAPE_EV_PROCESS_RENAME || s->last < 0)
		return;
	if (s->tid < 0)
		s->unnamed++;
	else
		s->named++;
	if (s->tid < 0 || s->tid == s->by[s->last].tid)
		return;
	if (!s->wrong++)
		printf("# an event of thread %d at %#llx belongs to thread %d\n",
		       s->by[s->last].tid, (unsigned long long)r->pos, s->tid);
}

static int set_rename_profile(int fd, uint32_t flags)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET, .flags = flags };

	kt_ops_add(p.mask, KTAPE_EV_PROCESS_RENAME);
	return kt_profile(fd, &p);
}

TEST_F_TIMEOUT(pending, profiles, 300)
{
	struct attribution s = { .m = &self->m, .by = self->r };

	for (int round = 0; round < ROUNDS; round++) {
		s.block = UINT64_MAX;
		s.last = -1;
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		for (int i = 0; i < CHANGES; i++)
			ASSERT_EQ(0, set_rename_profile(
					     self->fd,
					     i & 1 ? KTAPE_PROFILE_NO_CONTEXT : 0));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		ASSERT_LT(0, kt_walk(&self->m, check_rename_record, &s));
	}
	TH_LOG("%ld events of a thread that records name, %ld of none", s.named,
	       s.unnamed);
	EXPECT_LT(0, s.named);
	EXPECT_LT(0, s.unnamed);
	EXPECT_EQ(0, s.wrong);
}

TEST_HARNESS_MAIN
