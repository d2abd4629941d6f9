// SPDX-License-Identifier: GPL-2.0-only
/* Test CREATE: sizes, limits, and that a session ends with its last user. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ring.h"

#define K	  1024UL
#define M	  (1024 * K)
#define SESSIONS  7    /* beside session 0 */
#define SLACK_KIB 4096 /* memory that the kernel may keep, scaled */

FIXTURE(create)
{
	int main;
};

FIXTURE_SETUP(create)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	/* Signals interrupt all that sleeps: that must not make CREATE fail. */
	kt_alarms(100);
}

FIXTURE_TEARDOWN(create)
{
	kt_alarms(0);
	close(self->main);
}

/**
 * @ring, @block, @control: requested sizes, in bytes
 * @want: 0 or a negative errno; 1: 0 or -ENOMEM, as the machine allows
 * @got_ring, @got_block, @got_control, @got_control_block: resulting sizes
 */
static const struct vector {
	uint64_t ring, block, control;
	int want;
	uint64_t got_ring, got_block, got_control, got_control_block;
} sizes[] = {
	{ 0, 0, 0, 0, M, 64 * K, 64 * K, 16 * K },
	{ 1, 0, 0, 0, 16 * K, 4 * K, 64 * K, 4 * K },
	{ 1, 1, 1, 0, 16 * K, 4 * K, 16 * K, 4 * K },
	{ 16 * K, 4 * K, 16 * K, 0, 16 * K, 4 * K, 16 * K, 4 * K },
	{ 16 * K + 1, 4 * K, 0, 0, 32 * K, 4 * K, 64 * K, 4 * K },
	{ 16 * K, 4 * K + 1, 0, 0, 32 * K, 8 * K, 64 * K, 8 * K },
	{ 100000, 5000, 70000, 0, 128 * K, 8 * K, 128 * K, 8 * K },
	{ 64 * K, 64 * K, 1, 0, 256 * K, 64 * K, 64 * K, 16 * K },
	{ 0, 4 * K, 0, 0, M, 4 * K, 64 * K, 4 * K },
	{ 0, M, 0, 1, 4 * M, M, 64 * K, 16 * K },
	{ 0, 4 * M, 0, 1, 16 * M, 4 * M, 64 * K, 16 * K },
	{ 32 * M, 0, 0, 1, 32 * M, 64 * K, 64 * K, 16 * K },
	{ 0, 8 * M, 0, -EINVAL },
	{ 0, 512 * M, 0, -EINVAL },
	{ 0, 0x7fffffff, 0, -EINVAL },
	{ 0, 0x80000000, 0, -EINVAL },
	{ 0, 0xffffffff, 0, -EINVAL },
	{ 2048 * M, 0, 0, -ENOMEM },
	{ 2048 * M + 1, 0, 0, -EINVAL },
	{ 1ULL << 32, 0, 0, -EINVAL },
	{ 1ULL << 63, 0, 0, -EINVAL },
	{ (1ULL << 63) + 1, 0, 0, -EINVAL },
	{ ~0ULL, 0, 0, -EINVAL },
	{ 0, 0, 2048 * M, -ENOMEM },
	{ 0, 0, 2048 * M + 1, -EINVAL },
	{ 0, 0, 1ULL << 63, -EINVAL },
	{ 0, 0, ~0ULL, -EINVAL },
	{ ~0ULL, 0xffffffff, ~0ULL, -EINVAL },
};

static void check_sizes(struct __test_metadata *_metadata, int fd,
			const struct vector *v)
{
	struct ktape_layout_entry e;

	ASSERT_EQ(0, kt_region(fd, 0, KTAPE_RING_EVENT, &e));
	EXPECT_EQ(v->got_ring, e.data_size);
	EXPECT_EQ(v->got_block, e.block_size);
	ASSERT_EQ(0, kt_region(fd, 0, KTAPE_RING_CONTROL, &e));
	EXPECT_EQ(v->got_control, e.data_size);
	EXPECT_EQ(v->got_control_block, e.block_size);
}

/*
 * Return the bytes of the largest piece of memory that the kernel allocates:
 * /proc/buddyinfo has a column for each size. It limits the size of blocks.
 */
static uint64_t block_max(void)
{
	FILE *f = fopen("/proc/buddyinfo", "r");
	uint64_t bytes = sysconf(_SC_PAGESIZE) / 2;
	char line[512] = "", *p;

	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	p = strstr(line, "zone");
	strtok(p ? p : line, " \n");
	strtok(NULL, " \n"); /* the zone's name */
	while (strtok(NULL, " \n"))
		bytes *= 2;
	return bytes;
}

TEST_F_TIMEOUT(create, sizes, 120)
{
	const uint64_t max = block_max();
	struct ktape_layout_entry e;
	struct ktape_create c;
	int fd, want;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		c = (struct ktape_create){ .size = sizeof(c),
					   .ring_size = sizes[i].ring,
					   .block_size = sizes[i].block,
					   .control_size = sizes[i].control };
		fd = kt_ioctl(self->main, KTAPE_IOC_CREATE, &c);
		want = sizes[i].want == 1 && fd < 0 ? -ENOMEM : sizes[i].want;
		if (want == -ENOMEM && (c.ring_size > kt_ring_max() ||
					c.control_size > kt_ring_max()))
			want = -EINVAL;
		if (want == -EINVAL && c.block_size && c.block_size <= max) {
			/* This kernel has larger blocks. */
			EXPECT_TRUE(fd >= 0 || fd == -ENOMEM);
			if (fd < 0)
				continue;
			ASSERT_EQ(0, kt_region(fd, 0, KTAPE_RING_EVENT, &e));
			EXPECT_LE(c.block_size, e.block_size);
			close(fd);
			continue;
		}
		EXPECT_EQ(want < 0 ? want : 0, fd < 0 ? fd : 0)
		{
			TH_LOG("vector %zu", i);
		}
		if (fd < 0)
			continue;
		check_sizes(_metadata, fd, &sizes[i]);
		close(fd);
	}
}

/*
 * A session may take at most half of the memory, whatever its block size; of 32-bit
 * kernels, half of what they map.
 */
TEST_F_TIMEOUT(create, half_of_memory, 120)
{
	const long low = kt_meminfo("LowTotal");
	const uint64_t half = (low > 0 ? low : kt_meminfo("MemTotal")) * K / 2;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t size = M;

	while (size * cpus <= half)
		size *= 2;
	EXPECT_EQ(-ENOMEM, kt_create(self->main, 0, size, 0));
	EXPECT_EQ(-ENOMEM, kt_create(self->main, 0, size, 4 * K));
	EXPECT_EQ(-ENOMEM, kt_create(self->main, 0, size, 64 * K));
}

/*
 * A new session is stopped, records nothing, and its descriptor is
 * close-on-exec.
 */
TEST_F(create, new_session_is_stopped)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_GET };
	struct ktape_layout l;
	struct kt_map m;
	int fd = kt_create(self->main, KTAPE_MODE_DISCARD, 0, 0);

	ASSERT_LE(0, fd);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(O_RDWR, fcntl(fd, F_GETFL) & O_ACCMODE);
	ASSERT_EQ(0, kt_layout(fd, &l, NULL, 0));
	EXPECT_EQ(0, l.running);
	EXPECT_EQ(KTAPE_MODE_DISCARD, l.mode);
	EXPECT_NE(0, l.session);
	ASSERT_EQ(0, kt_profile(fd, &p));
	EXPECT_EQ(0, p.flags);
	EXPECT_EQ(0, p.mask[0] >> KTAPE_OP_EXCEPTION);
	EXPECT_EQ(0, p.mask[1] | p.mask[2] | p.mask[3]);
	ASSERT_EQ(0, kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m));
	EXPECT_EQ(0, m.page->commit);
	for (size_t i = 0; i < m.e.data_size; i++)
		ASSERT_EQ(0, m.data[i]);
	close(fd);
}

/*
 * Create sessions, up to one more than SESSIONS. @fd gets descriptors, and at the end the
 * error. Return: number of sessions.
 */
static int create_all_sessions(int from, int *fd)
{
	int n;

	for (n = 0; n <= SESSIONS; n++) {
		fd[n] = kt_create(from, n % 2, 16 * K, 4 * K);
		if (fd[n] < 0)
			return n;
	}
	return n;
}

TEST_F(create, at_most_eight)
{
	struct ktape_layout l;
	int fd[SESSIONS + 1];
	unsigned int seen = 1;

	ASSERT_EQ(SESSIONS, create_all_sessions(self->main, fd));
	EXPECT_EQ(-EMFILE, fd[SESSIONS]);
	for (int i = 0; i < SESSIONS; i++) {
		ASSERT_EQ(0, kt_layout(fd[i], &l, NULL, 0));
		EXPECT_EQ(0, seen >> l.session & 1);
		seen |= 1 << l.session;
	}
	EXPECT_EQ(0xff, seen);
	/*
	 * A freed session number is used again, and a session's descriptor can
	 * create sessions.
	 */
	close(fd[3]);
	fd[3] = kt_create(fd[2], 0, 16 * K, 4 * K);
	EXPECT_LE(0, fd[3]);
	for (int i = 0; i < SESSIONS; i++)
		close(fd[i]);
}

/* If no file descriptor is free, CREATE leaves no session behind. */
TEST_F(create, no_descriptor)
{
	int fd[SESSIONS + 1], top = dup(self->main);
	struct rlimit old, low = { top + 1, top + 1 };

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	low.rlim_max = old.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(-EMFILE, kt_create(self->main, 0, 16 * K, 4 * K));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	EXPECT_EQ(SESSIONS, create_all_sessions(self->main, fd));
}

TEST_F(create, ends_with_its_last_user)
{
	int fd[SESSIONS + 1], again;
	struct kt_map m;

	ASSERT_EQ(SESSIONS, create_all_sessions(self->main, fd));
	/* A second descriptor. */
	again = dup(fd[0]);
	close(fd[0]);
	EXPECT_EQ(-EMFILE, kt_create(self->main, 0, 16 * K, 4 * K));
	close(again);
	fd[0] = kt_create(self->main, 0, 16 * K, 4 * K);
	ASSERT_LE(0, fd[0]);
	/* While it is mapped, the session keeps recording. */
	ASSERT_EQ(0, kt_map_ring(fd[0], 0, KTAPE_RING_CONTROL, &m));
	ASSERT_EQ(0, kt_control(fd[0], KTAPE_IOC_START));
	close(fd[0]);
	EXPECT_EQ(-EMFILE, kt_create(self->main, 0, 16 * K, 4 * K));
	EXPECT_LT(0, kt_walk(&m, NULL, NULL));
	kt_unmap_ring(&m);
	fd[0] = kt_create(self->main, 0, 16 * K, 4 * K);
	EXPECT_LE(0, fd[0]);
}

/* The sessions of a killed process end, and their recording stops. */
TEST_F(create, ends_with_its_process)
{
	int fd[SESSIONS + 1], status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (pid == 0) {
		if (create_all_sessions(self->main, fd) != SESSIONS)
			_exit(1);
		for (int i = 0; i < SESSIONS; i++)
			if (kt_profile_ops(fd[i], KTAPE_PROFILE_SET, KTAPE_EV_SYS_ENTER,
					   KTAPE_EV_SCHED_SWITCH, 0) ||
			    kt_control(fd[i], KTAPE_IOC_START))
				_exit(2);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(SIGKILL, status);
	EXPECT_EQ(SESSIONS, create_all_sessions(self->main, fd));
}

/* With @record in discard mode (1), else in overwrite mode (0), where it records nothing. */
static int create_and_close(int from, bool record)
{
	int fd = kt_create(from, record, 64 * K, 4 * K);
	int ret = fd < 0 ? fd : 0;

	if (!ret && record)
		ret = kt_profile_ops(fd, KTAPE_PROFILE_SET, KTAPE_EV_SYS_ENTER,
				     KTAPE_EV_SYS_EXIT, 0);
	if (!ret && record)
		ret = kt_control(fd, KTAPE_IOC_START);
	kt_getppids(record ? 100 : 0);
	if (fd >= 0)
		close(fd);
	return ret;
}

TEST_F_TIMEOUT(create, memory_comes_back, 120)
{
	const int rounds = 1000 / (kt_scale() > 1 ? 20 : 1);
	long before;

	for (int i = 0; i < 20; i++)
		ASSERT_EQ(0, create_and_close(self->main, i % 2));
	before = kt_free_kib();
	for (int i = 0; i < rounds; i++) {
		ASSERT_EQ(0, create_and_close(self->main, i % 40 == 0))
		{
			TH_LOG("round %d", i);
		}
	}
	/* The rings of a round take 128 KiB for each CPU: 64 each for events and control. */
	EXPECT_LT(before - SLACK_KIB * kt_scale(), kt_free_kib())
	{
		TH_LOG("%ld KiB before, %ld KiB after", before, kt_free_kib());
	}
}

TEST_HARNESS_MAIN
