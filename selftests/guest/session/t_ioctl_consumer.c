// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test CONSUMER, by which a reader reports how far it has read: which positions are
 * accepted, and how far they let the writer advance. Session 0 is in discard mode
 * (tests.conf); it can be opened twice, so there are two consumers.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ring.h"

#define PAGE	  4096
#define POSITIONS 128

FIXTURE(consumer)
{
	int fd[2];	    /* two readers of session 0 */
	struct kt_map ring; /* event ring of CPU 0 */
	uint64_t base;	    /* position of the oldest data */
	uint64_t block;
	uint64_t commit;
};

/* A stopped session with some blocks in CPU 0's event ring. */
FIXTURE_SETUP(consumer)
{
	for (int i = 0; i < 2; i++) {
		self->fd[i] = kt_open(O_RDWR);
		ASSERT_LE(0, self->fd[i]);
	}
	ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_map_ring(self->fd[0], 0, KTAPE_RING_EVENT, &self->ring));
	ASSERT_EQ(0, kt_profile_ops(self->fd[0], KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_CLEAR));
	self->base = kt_oldest(&self->ring);
	self->block = self->ring.e.block_size;
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_START));
	kt_getppids(5 * self->block / 8);
	ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_STOP));
	/* Rarely that is exactly the end of a block: write a few more then. */
	if (self->ring.page->commit % self->block == 0) {
		ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_START));
		kt_getppids(10);
		ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_STOP));
	}
	self->commit = self->ring.page->commit;
	ASSERT_LT(self->base + 4 * self->block, self->commit);
	ASSERT_NE(0, self->commit % self->block);
	/* Signals come in the middle of the calls from now on, and must not show. */
	kt_alarms(100);
}

FIXTURE_TEARDOWN(consumer)
{
	kt_alarms(0);
	for (int i = 0; i < 2; i++)
		close(self->fd[i]);
}

/* Register or unregister as consumer, as @op says. */
static int change_registration(int fd, uint32_t op)
{
	struct ktape_consumer c = { .size = sizeof(c), .op = op };

	return kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c);
}

static int report_positions(int fd, const struct ktape_position *p, uint32_t nr)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .nr = nr,
				    .op = KTAPE_CONSUMER_POSITION,
				    .positions = (uintptr_t)p };

	return kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c);
}

static int report_one(int fd, uint64_t position)
{
	struct ktape_position p = { .position = position };

	return report_positions(fd, &p, 1);
}

/* Return the first block boundary at or above @n blocks from the base. */
static uint64_t block_boundary(uint64_t base, uint64_t block, unsigned int n)
{
	return (base + block - 1) / block * block + n * block;
}

/*
 * A position is accepted if it is the begin of a block or the end of what was recorded, and
 * neither below the position before nor beyond that end.
 */
TEST_F(consumer, one_position)
{
	const uint64_t at = block_boundary(self->base, self->block, 1);
	const uint64_t end = self->commit;
	const struct {
		uint64_t position;
		int want;
		uint64_t consumer; /* afterwards */
	} vector[] = {
		{ at, 0, at },
		{ at, 0, at },
		{ at - self->block, -EINVAL, at },
		{ at + 8, -EINVAL, at },
		{ at + 1, -EINVAL, at },
		{ at - 1, -EINVAL, at },
		{ at + self->block, 0, at + self->block },
		{ at, -EINVAL, at + self->block },
		{ end - 8, -EINVAL, at + self->block },
		{ end + 8, -EINVAL, at + self->block },
		{ block_boundary(end, self->block, 0), -EINVAL, at + self->block },
		{ 1ULL << 31, -EINVAL, at + self->block },
		{ 1ULL << 32, -EINVAL, at + self->block },
		{ 1ULL << 63, -EINVAL, at + self->block },
		{ -self->block, -EINVAL, at + self->block },
		{ ~0ULL, -EINVAL, at + self->block },
		{ end, 0, end },
		{ end, 0, end },
		{ end - end % self->block, -EINVAL, end },
		{ 0, -EINVAL, end },
	};

	ASSERT_EQ(0, change_registration(self->fd[0], KTAPE_CONSUMER_REGISTER));
	EXPECT_EQ(self->base, self->ring.page->consumer);
	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		EXPECT_EQ(vector[i].want,
			  report_one(self->fd[0], vector[i].position))
		{
			TH_LOG("vector %zu", i);
		}
		EXPECT_EQ(vector[i].consumer, self->ring.page->consumer)
		{
			TH_LOG("vector %zu", i);
		}
	}
}

/*
 * Fill in the end of each ring, and after them the last one again, as a surplus entry.
 * Return: number of rings.
 */
static __u32 get_ring_ends(int fd, __u32 cpus, struct ktape_position *p)
{
	struct ktape_stats st;
	__u32 n = 0;

	for (__u32 cpu = 0; cpu < cpus; cpu++)
		for (__u32 kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			if (!kt_stats(fd, cpu, kind, &st))
				p[n++] = (struct ktape_position){ cpu, kind,
								  st.commit };
	p[n] = p[n - 1];
	return n;
}

/* Either all positions of a call are accepted, or none. */
TEST_F(consumer, batch)
{
	const uint64_t at = block_boundary(self->base, self->block, 1);
	const struct ktape_position good = { .position = at };
	const struct ktape_position bad[] = {
		{ .cpu = 1, .position = ~0ULL },
		{ .kind = KTAPE_RING_CONTROL, .position = 1ULL << 40 },
		{ .kind = KTAPE_RING_REGISTRY },
		{ .kind = ~0U },
		{ .cpu = POSITIONS },
		{ .cpu = ~0U },
		{ .cpu = 1U << 31 },
		{ .position = at - self->block }, /* the same ring twice */
		{ .position = at + self->block },
		{ .position = at },
	};
	struct ktape_position p[POSITIONS + 1];
	__u32 n;

	ASSERT_EQ(0, change_registration(self->fd[0], KTAPE_CONSUMER_REGISTER));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		p[0] = good;
		p[1] = bad[i];
		EXPECT_EQ(-EINVAL, report_positions(self->fd[0], p, 2))
		{
			TH_LOG("vector %zu", i);
		}
		EXPECT_EQ(self->base, self->ring.page->consumer)
		{
			TH_LOG("vector %zu", i);
		}
	}
	/* The valid ones are accepted in any order. */
	n = get_ring_ends(self->fd[0], POSITIONS / KTAPE_RINGS_PER_CPU, p);
	ASSERT_LE(2, n);
	p[0] = p[n - 1];
	p[n - 1] = good;
	EXPECT_EQ(0, report_positions(self->fd[0], p, n));
	EXPECT_EQ(at, self->ring.page->consumer);
}

/* How many positions a call may have, and that all of them must be readable. */
TEST_F(consumer, batch_sizes)
{
	char *end = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t at = block_boundary(self->base, self->block, 0);
	struct ktape_position p[POSITIONS + 1], *last;
	struct ktape_features f;
	__u32 n;

	ASSERT_NE(MAP_FAILED, end);
	end += PAGE;
	ASSERT_EQ(0, mprotect(end, PAGE, PROT_NONE));
	ASSERT_EQ(0, kt_features(self->fd[0], &f));
	ASSERT_GE(POSITIONS, f.cpus * KTAPE_RINGS_PER_CPU);
	n = get_ring_ends(self->fd[0], f.cpus, p);
	p[0].position = at;
	EXPECT_EQ(-EINVAL, report_positions(self->fd[0], p, 0));
	EXPECT_EQ(0, report_positions(self->fd[0], p, n));
	/* A call may have as many positions as possible CPUs have rings, though some have none. */
	if (n == f.cpus * KTAPE_RINGS_PER_CPU)
		EXPECT_EQ(-EINVAL, report_positions(self->fd[0], p, n + 1));
	/* The bytes of so many positions would be 16 in 32 bits: those of one. */
	EXPECT_EQ(-EINVAL, report_positions(self->fd[0], p, 0x10000001));
	EXPECT_EQ(-EINVAL, report_positions(self->fd[0], p, 0x80000000));
	EXPECT_EQ(-EINVAL, report_positions(self->fd[0], p, ~0U));
	EXPECT_EQ(-EFAULT, report_positions(self->fd[0], NULL, 1));
	EXPECT_EQ(-EFAULT, report_positions(self->fd[0], (void *)-16UL, 1));

	/*
	 * The second of two entries cannot be read: the first position is not
	 * accepted either.
	 */
	ASSERT_EQ(0, change_registration(self->fd[0], KTAPE_CONSUMER_REGISTER));
	last = (void *)(end - sizeof(*last));
	*last = (struct ktape_position){ .position = at + self->block };
	EXPECT_EQ(-EFAULT, report_positions(self->fd[0], last, 2));
	EXPECT_EQ(at, self->ring.page->consumer);
	EXPECT_EQ(0, report_positions(self->fd[0], last, 1));
	EXPECT_EQ(at + self->block, self->ring.page->consumer);
}

/*
 * The slowest registered consumer limits the writer; a consumer that closes its
 * descriptor is forgotten.
 */
TEST_F(consumer, slowest_decides)
{
	const uint64_t at = block_boundary(self->base, self->block, 0);

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, change_registration(self->fd[i],
						 KTAPE_CONSUMER_REGISTER));
	ASSERT_EQ(0, report_one(self->fd[1], at + 2 * self->block));
	EXPECT_EQ(self->base, self->ring.page->consumer);
	ASSERT_EQ(0, report_one(self->fd[0], at + self->block));
	EXPECT_EQ(at + self->block, self->ring.page->consumer);
	ASSERT_EQ(0, change_registration(self->fd[0], KTAPE_CONSUMER_UNREGISTER));
	EXPECT_EQ(at + 2 * self->block, self->ring.page->consumer);
	/* A report without registration moves only where the caller's own read() goes on. */
	ASSERT_EQ(0, report_one(self->fd[0], at + 3 * self->block));
	EXPECT_EQ(at + 2 * self->block, self->ring.page->consumer);
	/*
	 * A consumer that registers again does not take back space that was
	 * freed.
	 */
	ASSERT_EQ(0, change_registration(self->fd[0], KTAPE_CONSUMER_REGISTER));
	EXPECT_EQ(at + 2 * self->block, self->ring.page->consumer);
	close(self->fd[1]);
	EXPECT_EQ(at + 3 * self->block, self->ring.page->consumer);
}

/* Unread data is not overwritten, read data is. */
TEST_F(consumer, holds_the_writer)
{
	const uint64_t size = self->ring.e.data_size;
	uint64_t at;

	ASSERT_EQ(0, change_registration(self->fd[0], KTAPE_CONSUMER_REGISTER));
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_START));
		kt_getppids(2 * size / 8);
		ASSERT_EQ(0, kt_control(self->fd[0], KTAPE_IOC_STOP));
		at = self->ring.page->commit;
		EXPECT_LE(at, self->ring.page->consumer + size);
		EXPECT_LE(self->ring.page->tail, self->ring.page->consumer);
		EXPECT_LT(self->commit, at);
		EXPECT_NE(0, self->ring.page->lost[KTAPE_LOST_FULL][KTAPE_CLASS_SYSCALL]);
		EXPECT_LT(0, kt_walk(&self->ring, NULL, NULL));
		self->commit = at;
		ASSERT_EQ(0, report_one(self->fd[0], at));
		EXPECT_EQ(at, self->ring.page->consumer);
	}
}

static void interrupt_by_alarm(int sig)
{
}

/* Fork a child that reads the shared descriptor until it ends. */
static pid_t fork_reader(int fd)
{
	static char buf[1 << 20];
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			if (read(fd, buf, sizeof(buf)) <= 0)
				_exit(0);
	return pid;
}

/*
 * A quiet session must not block CONSUMER uninterruptibly. The caller is
 * started before the reader waits, because a new thread's name is an event that
 * would wake the reader.
 */
TEST_F_TIMEOUT(consumer, while_a_reader_waits, 60)
{
	struct sigaction sa = { .sa_handler = interrupt_by_alarm };
	pid_t waits, calls;
	int status = 0, ended = 0, cue[2];
	int fd = kt_create(self->fd[0], KTAPE_MODE_DISCARD, 0, 0);

	kt_alarms(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(cue));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	calls = fork();
	ASSERT_LE(0, calls);
	if (calls == 0) {
		sigaction(SIGALRM, &sa, NULL);
		if (read(cue[0], &status, 1) != 1)
			_exit(1);
		alarm(1);
		status = change_registration(fd, KTAPE_CONSUMER_REGISTER);
		_exit(status && status != -EINTR);
	}
	waits = fork_reader(fd);
	ASSERT_LT(0, waits);
	while (!kt_is_asleep(waits))
		usleep(10000);
	ASSERT_EQ(1, write(cue[1], "x", 1));
	for (int i = 0; i < 50 * kt_scale() && !ended; i++) {
		usleep(100000);
		ended = waitpid(calls, &status, WNOHANG);
	}
	EXPECT_EQ(calls, ended)
	{
		TH_LOG("CONSUMER waits for read() in another process");
	}
	EXPECT_EQ(0, status);
	kill(waits, SIGKILL);
	kill(calls, SIGKILL);
	EXPECT_EQ(waits, waitpid(waits, NULL, 0));
	if (!ended)
		waitpid(calls, NULL, 0);
	close(fd);
}

TEST_HARNESS_MAIN
