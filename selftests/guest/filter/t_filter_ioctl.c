// SPDX-License-Identifier: GPL-2.0-only
/* Test the ioctl for filters: accepted arguments, results, and rights. */
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "kt_filter.h"

#define BAD ((void *)-4096L)

FIXTURE(ioctl)
{
	int main;
	int fd;
};

FIXTURE_SETUP(ioctl)
{
	self->main = kt_open(O_RDWR);
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, 1 << 16, 0,
			      KT_OPS(KTAPE_EV_SYS_ENTER));
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(ioctl)
{
	close(self->fd);
	close(self->main);
}

/*
 * Entries for vectors[]. Arrays in no_ have something that does not exist, those in odd_ a
 * reserved flag or member, and the third entry of gates and of rates repeats the first.
 */
static const uint64_t words[2048];
static const uint64_t ones[KTAPE_MASK_WORDS] = { ~0ULL, ~0ULL, ~0ULL, ~0ULL };
static const uint64_t no_opcode[] = { 0, 0, 0, 1ULL << 63 };
static const uint64_t control_op[] = { 1ULL << KTAPE_EV_CONTEXT };
static const struct ktape_filter_pid init_pid[KTAPE_FILTER_PIDS + 1] = { { 1, 0 } };
static const struct ktape_filter_pid no_pid[] = { { 1, 0 }, { 4194303, 0 } };
static const struct ktape_filter_pid zero_pid[] = { { 0, 0 } };
static const struct ktape_filter_pid negative_pid[] = { { -1, 0 } };
static const struct ktape_filter_pid odd_pid[] = { { 1, 8 } };
static const int32_t no_fd[] = { -1 };
static const uint32_t bad_uid[] = { 0, -1 };
static const uint32_t severity[] = { 3, 4 };
static const struct ktape_filter_gate gates[] = {
	{ KTAPE_GATE_SYSCALL, 0, 1000 },
	{ KTAPE_GATE_WORK, 0, 0 },
	{ KTAPE_GATE_SYSCALL, 0, 1000 },
};
static const struct ktape_filter_gate no_gate[] = { { KTAPE_GATES, 0, 1 } };
static const struct ktape_filter_gate odd_gate[] = { { 0, 1, 1 } };
static const struct ktape_filter_gate long_gate[] = {
	{ 0, 0, 3600ULL * 1000000000 + 1 }
};
static const struct ktape_filter_rate rates[] = {
	{ KTAPE_EV_SYS_ENTER, 1 },
	{ KTAPE_EV_SYS_EXIT, 1 },
	{ KTAPE_EV_SYS_ENTER, 1 },
};
static const struct ktape_filter_rate no_rate[] = { { 256, 1 } };
static const struct ktape_filter_rate extend_rate[] = { { 255, 1 } };
static const struct ktape_filter_rate control_rate[] = { { KTAPE_EV_PROFILE, 1 } };

#define SET(kind, entries, nr, result)                                     \
	{                                                                  \
		KTAPE_FILTER_SET, KTAPE_FILTER_##kind, nr, entries, result \
	}

static const struct {
	uint32_t op, kind, nr;
	const void *entries;
	int result;
} vectors[] = {
	{ KTAPE_FILTER_OFF + 1, KTAPE_FILTER_CPU, 0, NULL, -EINVAL },
	{ KTAPE_FILTER_SET, KTAPE_FILTER_KINDS, 0, NULL, -EINVAL },
	{ KTAPE_FILTER_GET, ~0U, 0, NULL, -EINVAL },
	{ KTAPE_FILTER_OFF, KTAPE_FILTER_CPU, 1, NULL, -EINVAL },
	{ KTAPE_FILTER_OFF, KTAPE_FILTER_CPU, 0, words, -EINVAL },
	SET(CPU, BAD, 1, -EFAULT),
	SET(CPU, ones, 4, -EINVAL),
	SET(CPU, words, 1, 0),
	SET(CPU, words, 2048, -EINVAL),
	SET(SYSCALL, words, 16, 0),
	SET(SYSCALL, words, 17, -EINVAL),
	SET(SYSCALL, BAD, 16, -EFAULT),
	SET(IRQ, words, 64, 0),
	SET(IRQ, words, 65, -EINVAL),
	SET(SOFTIRQ, words, 1, 0),
	SET(SOFTIRQ, words, 2, -EINVAL),
	SET(SIGNAL, words, 1, 0),
	SET(SIGNAL, words, 2, -EINVAL),
	SET(PID, init_pid, 1, 0),
	SET(PID, no_pid, 2, -ESRCH),
	SET(PID, zero_pid, 1, -EINVAL),
	SET(PID, negative_pid, 1, -EINVAL),
	SET(PID, odd_pid, 1, -EINVAL),
	SET(PID, BAD, 1, -EFAULT),
	SET(PID, init_pid, KTAPE_FILTER_PIDS + 1, -EINVAL),
	SET(CGROUP, no_fd, 1, -EBADF),
	SET(CGROUP, words, 9, -EINVAL),
	SET(UID, words, 16, 0),
	SET(UID, words, 17, -EINVAL),
	SET(UID, bad_uid, 2, -EINVAL),
	SET(SEVERITY, severity, 1, 0),
	SET(SEVERITY, severity + 1, 1, -EINVAL),
	SET(SEVERITY, severity, 2, -EINVAL),
	SET(GATE, gates, 2, 0),
	SET(GATE, gates, 3, -EINVAL),
	SET(GATE, no_gate, 1, -EINVAL),
	SET(GATE, odd_gate, 1, -EINVAL),
	SET(GATE, long_gate, 1, -EINVAL),
	SET(GATE, gates, 7, -EINVAL),
	SET(RATE, rates, 2, 0),
	SET(RATE, rates, 3, -EINVAL),
	SET(RATE, no_rate, 1, -EINVAL),
	SET(RATE, extend_rate, 1, -EINVAL),
	SET(RATE, control_rate, 1, -EINVAL),
	SET(RATE, words, 33, -EINVAL),
	SET(STACK, words, 4, 0),
	SET(STACK, words, 5, -EINVAL),
	SET(STACK, ones, 4, -EINVAL),
	SET(STACK, no_opcode, 4, -EINVAL),
	SET(STACK, control_op, 1, -EINVAL),
};

/* A refused filter changes neither the filter in force nor its generation. */
TEST_F_TIMEOUT(ioctl, validation, 120)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint32_t kind = vectors[i].kind < KTAPE_FILTER_KINDS ?
					vectors[i].kind :
					0;
		struct ktape_filter before = kt_filter_get(self->fd, kind);
		struct ktape_filter f = {
			.op = vectors[i].op, .kind = vectors[i].kind,
			.nr = vectors[i].nr,
			.entries = (uintptr_t)vectors[i].entries,
		}, after;

		EXPECT_EQ(vectors[i].result, kt_filter(self->fd, &f))
		{
			TH_LOG("vector %zu, kind %u", i, vectors[i].kind);
		}
		after = kt_filter_get(self->fd, kind);
		if (vectors[i].result) {
			EXPECT_EQ(0, memcmp(&before, &after, sizeof(after)));
			continue;
		}
		EXPECT_EQ(1, f.active);
		EXPECT_EQ(vectors[i].nr, f.nr);
		EXPECT_EQ(before.generation + 1, f.generation);
		EXPECT_EQ(f.generation, after.generation);
	}
}

/* Members that the kernel only writes must be 0; GET writes no more entries than there are. */
TEST_F(ioctl, output_members)
{
	struct ktape_filter f = { .active = 1 };

	EXPECT_EQ(-EINVAL, kt_filter(self->fd, &f));
	f = (struct ktape_filter){ .generation = 1 };
	EXPECT_EQ(-EINVAL, kt_filter(self->fd, &f));
	f = (struct ktape_filter){ .collisions = 1 };
	EXPECT_EQ(-EINVAL, kt_filter(self->fd, &f));
	f = (struct ktape_filter){ .kind = KTAPE_FILTER_PID,
				   .nr = 4,
				   .entries = (uintptr_t)BAD };
	EXPECT_EQ(0, kt_filter(self->fd, &f));
	EXPECT_EQ(0, f.nr);
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_PID, init_pid, 1));
	f = (struct ktape_filter){ .kind = KTAPE_FILTER_PID,
				   .nr = 4,
				   .entries = (uintptr_t)BAD };
	EXPECT_EQ(-EFAULT, kt_filter(self->fd, &f));
}

/*
 * The filter in force is returned as far as the buffer has room, with nothing written beyond.
 * CGROUP is not among them: it is set by a descriptor and returned as an id
 * (t_filter_object.c).
 */
TEST_F_TIMEOUT(ioctl, returns_what_was_set, 60)
{
	static const uint64_t map[] = { 5, 0, 1ULL << 40 };
	static const uint64_t cpus[] = { 3 }, stacks[] = { 1ULL << 60 };
	const struct ktape_filter_pid pid[] = {
		{ getpid(), KTAPE_PID_THREADS },
		{ 1, KTAPE_PID_CHILDREN | KTAPE_PID_EXCEPT },
	};
	const uint32_t uids[] = { 7, 0 };
	const struct {
		uint32_t kind, nr;
		const void *entries;
		size_t size;
	} all[] = {
		{ KTAPE_FILTER_CPU, 1, cpus, 8 },
		{ KTAPE_FILTER_SYSCALL, 3, map, 8 },
		{ KTAPE_FILTER_IRQ, 3, map, 8 },
		{ KTAPE_FILTER_SOFTIRQ, 1, map, 8 },
		{ KTAPE_FILTER_SIGNAL, 1, map, 8 },
		{ KTAPE_FILTER_PID, 2, pid, sizeof(pid[0]) },
		{ KTAPE_FILTER_UID, 2, uids, 4 },
		{ KTAPE_FILTER_SEVERITY, 1, severity, 4 },
		{ KTAPE_FILTER_GATE, 2, gates, sizeof(gates[0]) },
		{ KTAPE_FILTER_RATE, 2, rates, sizeof(rates[0]) },
		{ KTAPE_FILTER_STACK, 1, stacks, 8 },
	};
	char got[512];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ASSERT_EQ(0, kt_filter_set(self->fd, all[i].kind,
					   all[i].entries, all[i].nr));
	for (uint32_t room = 0; room < 5; room++) {
		for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
			struct ktape_filter f = {
				.kind = all[i].kind,
				.nr = room,
				.entries = (uintptr_t)got,
			};
			uint32_t n = room < all[i].nr ? room : all[i].nr;

			memset(got, 0xa5, sizeof(got));
			ASSERT_EQ(0, kt_filter(self->fd, &f));
			EXPECT_EQ(all[i].nr, f.nr);
			EXPECT_EQ(1, f.active);
			EXPECT_EQ(0, memcmp(got, all[i].entries, n * all[i].size))
			{
				TH_LOG("kind %u", all[i].kind);
			}
			EXPECT_EQ((char)0xa5, got[n * all[i].size]);
		}
	}
	/* Remove each kind on its own. */
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		ASSERT_EQ(0, kt_filter_off(self->fd, all[i].kind));
		for (size_t j = 0; j < ARRAY_SIZE(all); j++)
			EXPECT_EQ(j > i,
				  kt_filter_get(self->fd, all[j].kind).active);
	}
}

/* An empty filter lets nothing pass; of gates, rates and stacks it means no filter. */
TEST_F(ioctl, empty_filters)
{
	for (uint32_t kind = 0; kind < KTAPE_FILTER_KINDS; kind++) {
		bool off = kind >= KTAPE_FILTER_GATE;

		ASSERT_EQ(0, kt_filter_set(self->fd, kind, NULL, 0))
		{
			TH_LOG("kind %u", kind);
		}
		EXPECT_EQ(!off, kt_filter_get(self->fd, kind).active);
	}
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_GATE, gates, 1));
	EXPECT_EQ(1, kt_filter_get(self->fd, KTAPE_FILTER_GATE).active);
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_GATE, NULL, 0));
	EXPECT_EQ(0, kt_filter_get(self->fd, KTAPE_FILTER_GATE).active);
}

TEST_F(ioctl, read_only_descriptor)
{
	int fd = kt_open(O_RDONLY);

	EXPECT_EQ(0, kt_filter_get(fd, KTAPE_FILTER_PID).active);
	EXPECT_EQ(-EPERM, kt_filter_set(fd, KTAPE_FILTER_PID, init_pid, 1));
	EXPECT_EQ(-EPERM, kt_filter_off(fd, KTAPE_FILTER_PID));
	close(fd);
}

/*
 * Destroying a session frees its filters; many sessions are created and destroyed. What is not
 * freed is found by kmemleak, on the debug kernel.
 */
TEST_F_TIMEOUT(ioctl, many_sessions, 120)
{
	int rounds = 40 / kt_scale() + 3;

	for (int i = 0; i < rounds; i++) {
		int fd = kt_session(0, 1 << 16, 0, KT_OPS(KTAPE_EV_SYS_ENTER));

		ASSERT_LE(0, fd);
		if (i % 2)
			ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		for (int again = 0; again < 2; again++) {
			ASSERT_EQ(0, kt_filter_pid(fd, getpid(), KTAPE_PID_CHILDREN));
			ASSERT_EQ(0, kt_filter_set(fd, KTAPE_FILTER_GATE, gates, 2));
			ASSERT_EQ(0, kt_filter_set(fd, KTAPE_FILTER_RATE, rates, 2));
			ASSERT_EQ(0, kt_filter_set(fd, KTAPE_FILTER_CPU, words, 1));
		}
		close(fd);
	}
}

TEST_HARNESS_MAIN
