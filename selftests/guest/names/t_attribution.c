// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that a reader can attribute each event to a thread by block heads,
 * switches and context records. A context record says that the CPU changes to a
 * thread; a session has them while its profile (the set of events that it records)
 * lacks sched_switch, unless NO_CONTEXT is set. Two threads take turns on one CPU
 * and each names itself in its system calls, while sessions start, stop and change
 * their profile.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_load.h"
#include "kt_ring.h"

#define CPU	1
#define RING	(4UL << 20)
#define BLOCK	(64UL << 10)
#define THREADS 2
#define ENOUGH	20 /* calls, so that a test that recorded nothing fails */

static long made; /* system calls of all threads */

/* A thread names itself by getpriority(PRIO_PROCESS, tid). */
static void call_out(void)
{
	syscall(SYS_getpriority, 0, gettid());
	__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
	sched_yield();
}

/*
 * Wait @us microseconds, kt_scale() times as long on a slower kernel, and until @calls
 * calls have begun and ended meanwhile.
 */
static void let_call(long us, long calls)
{
	/* One call of each thread may have begun before. */
	long until = __atomic_load_n(&made, __ATOMIC_RELAXED) + calls + THREADS;

	usleep(us * kt_scale());
	while (__atomic_load_n(&made, __ATOMIC_RELAXED) < until)
		usleep(1000);
}

static void *turns(void *arg)
{
	kt_pin(CPU);
	while (!__atomic_load_n((int *)arg, __ATOMIC_RELAXED))
		call_out();
	return NULL;
}

/* Compare the thread that a reader derives with the thread that the call names. */
struct belief {
	int32_t tid;
	long right, wrong, unknown;
};

static void attribution_record(const struct kt_rec *r, void *arg)
{
	const uint64_t *args = (const void *)r->blob;
	struct belief *b = arg;

	if (r->op == KTAPE_EV_SCHED_SWITCH)
		b->tid = (int32_t)r->args[1];
	if (r->op == KTAPE_EV_CONTEXT)
		b->tid = (int32_t)r->args[0];
	if (r->op != KTAPE_EV_SYS_ENTER_WIDE || (r->dat20 & 0xffff) != SYS_getpriority)
		return;
	if (b->tid < 0)
		b->unknown++;
	else if (b->tid == (int32_t)args[1])
		b->right++;
	else
		b->wrong++;
}

/* Walk a ring like kt_walk(), and use the thread in each block head too. */
static void attribution_check(int fd, struct belief *b)
{
	struct kt_map m;
	uint64_t pos, commit;

	if (kt_map_ring(fd, CPU, KTAPE_RING_EVENT, &m))
		return;
	commit = kt_load(&m.page->commit);
	for (pos = kt_oldest(&m); pos < commit; pos += BLOCK) {
		const char *block = m.data + pos % RING;
		const struct ktape_block *head = (const void *)block;
		size_t end = commit - pos > BLOCK ? head->content_bits / 8 :
						    commit - pos;
		struct kt_rec r = { .ts = head->ts_begin };
		size_t at, len;

		b->tid = head->context == KTAPE_CTX_UNKNOWN ? -1 : head->tid;
		for (at = KTAPE_BLOCK_HEADER; at < end; at += len) {
			len = kt_decode((const void *)(block + at), end - at, &r);
			if (!len)
				break;
			attribution_record(&r, b);
		}
	}
	kt_unmap_ring(&m);
}

FIXTURE(who)
{
	int fd, ends;
	pthread_t thread[THREADS];
	struct belief b;
};

FIXTURE_SETUP(who)
{
	int dev = kt_open(O_RDWR);

	ASSERT_GE(dev, 0);
	self->fd = kt_create(dev, KTAPE_MODE_OVERWRITE, RING, BLOCK);
	ASSERT_GE(self->fd, 0);
	close(dev);
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&self->thread[i], NULL, turns,
					    &self->ends));
	kt_pin(0);
}

static void end_attribution(FIXTURE_DATA(who) * self)
{
	__atomic_store_n(&self->ends, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(self->thread[i], NULL);
	kt_control(self->fd, KTAPE_IOC_STOP);
	attribution_check(self->fd, &self->b);
}

FIXTURE_TEARDOWN(who)
{
	close(self->fd);
}

static int set_switch_profile(int fd, unsigned int switches, __u32 flags)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET, .flags = flags };

	kt_ops_add(p.mask, KTAPE_EV_SYS_ENTER_WIDE);
	if (switches)
		kt_ops_add(p.mask, KTAPE_EV_SCHED_SWITCH);
	return kt_profile(fd, &p);
}

/*
 * Switches are not recorded while the session is stopped, so START must report
 * the current thread.
 */
TEST_F_TIMEOUT(who, start_again, 120)
{
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, set_switch_profile(self->fd, i & 1, 0));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		let_call(3000, 2);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		usleep(3000);
	}
	end_attribution(self);
	TH_LOG("%ld calls", self->b.right);
	EXPECT_LT(ENOUGH, self->b.right);
	EXPECT_EQ(0, self->b.wrong);
	EXPECT_EQ(0, self->b.unknown);
}

/*
 * No session records switches, nor does session 0 (the flight recorder that the module
 * starts): context records report all of them.
 */
TEST_F_TIMEOUT(who, nobody_records_switches, 120)
{
	int zero = kt_open(O_RDWR);

	ASSERT_GE(zero, 0);
	ASSERT_EQ(0, set_switch_profile(self->fd, 0, 0));
	ASSERT_EQ(0, kt_control(zero, KTAPE_IOC_STOP));
	EXPECT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	let_call(100000, 200);
	end_attribution(self);
	EXPECT_EQ(0, kt_control(zero, KTAPE_IOC_START));
	close(zero);
	TH_LOG("%ld calls", self->b.right);
	EXPECT_LT(ENOUGH, self->b.right);
	EXPECT_EQ(0, self->b.wrong);
	EXPECT_EQ(0, self->b.unknown);
}

/*
 * When sched_switch is added to the profile or removed from it, context records stop
 * or begin: no event in between may become unattributable.
 */
TEST_F_TIMEOUT(who, changes_while_recording, 120)
{
	ASSERT_EQ(0, set_switch_profile(self->fd, 0, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < 12; i++) {
		let_call(3000, 2);
		ASSERT_EQ(0, set_switch_profile(self->fd, !(i & 1), 0));
	}
	end_attribution(self);
	TH_LOG("%ld calls", self->b.right);
	EXPECT_LT(ENOUGH, self->b.right);
	EXPECT_EQ(0, self->b.wrong);
	EXPECT_EQ(0, self->b.unknown);
}

/* Without context records and switches the thread must be unknown, not guessed. */
TEST_F_TIMEOUT(who, unknown_without_context, 120)
{
	ASSERT_EQ(0, set_switch_profile(self->fd, 0, KTAPE_PROFILE_NO_CONTEXT));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	let_call(100000, 200);
	/* Check the ring before a fast machine overwrites it. */
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	attribution_check(self->fd, &self->b);
	EXPECT_EQ(0, self->b.right);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	let_call(3000, 2);
	ASSERT_EQ(0, set_switch_profile(self->fd, 1, KTAPE_PROFILE_NO_CONTEXT));
	let_call(100000, 200);
	end_attribution(self);
	TH_LOG("%ld calls unknown, %ld known", self->b.unknown, self->b.right);
	EXPECT_LT(ENOUGH, self->b.unknown);
	EXPECT_LT(ENOUGH, self->b.right);
	EXPECT_EQ(0, self->b.wrong);
}

TEST_HARNESS_MAIN
