// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make allocations fail: loading the module or creating a session either
 * succeeds, or fails with the error and leaves nothing behind, whichever
 * allocation failed.
 */
#include <sys/stat.h>

#include "kselftest_harness.h"

#include "kt_fail.h"
#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_module.h"
#include "kt_spawn.h"

#define CGROUP	"/sys/fs/cgroup/ktape-test"
#define NTH_MAX 5000
#define STEP	19

TEST(baseline)
{
	ASSERT_EQ(0, kt_insmod_ktape("size=64K"));
	EXPECT_EQ(-EEXIST, kt_insmod_ktape("size=64K"));
	ASSERT_EQ(0, kt_rmmod("ktape"));
	EXPECT_EQ(-EINVAL, kt_insmod_ktape("mode=7"));
	EXPECT_EQ(-ENOENT, kt_rmmod("ktape"));
}

FIXTURE(fail){};

FIXTURE_SETUP(fail)
{
	kt_expedite(true);
}

FIXTURE_TEARDOWN(fail)
{
	kt_rmmod("ktape");
	kt_expedite(false);
}

/*
 * Loading makes hundreds of allocations, most of them in the kernel, and takes a second or
 * two on a sanitizer kernel.  There one in STEP fails, from a random one on, and
 * KTAPE_HOSTILE times as many: with STEP or more, each fails once.
 */
TEST_F_TIMEOUT(fail, allocations_of_insmod, 5400)
{
	int step = kt_scale() > 1 ?
			   (STEP + kt_hostile_factor() - 1) / kt_hostile_factor() :
			   1;
	uint64_t seed = kt_seed();
	int nth, first, ret, tries = 0, failed = 0;
	int normal = step > 1 ? 4 : 16;
	bool over = false;

	if (!kt_fail_allocations())
		SKIP(return, "kernel without CONFIG_FAULT_INJECTION");
	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
	first = 1 + lcg_below(&seed, step);
	for (nth = first; nth < NTH_MAX; nth += step) {
		/* One load in @normal uses normal grace periods, which take seconds. */
		kt_expedite(tries % normal);
		ASSERT_EQ(0, kt_fail_nth(nth));
		ret = kt_insmod_ktape("size=64K");
		over = kt_fail_not_reached();
		kt_fail_nth(0);
		/*
		 * Some failures do no harm, like those of sysfs or of a log
		 * message.
		 */
		if (!ret) {
			ASSERT_EQ(0, kt_rmmod("ktape"));
		} else {
			EXPECT_TRUE(ret == -ENOMEM || ret == -EEXIST)
			{
				TH_LOG("allocation %d: %d", nth, ret);
			}
		}
		if (over)
			break;
		tries++;
		failed += ret != 0;
	}
	TH_LOG("allocations %d, %d and so on failed, %d of at most %d; %d mattered",
	       first, first + step, tries, nth - 1, failed);
	EXPECT_TRUE(over);
	EXPECT_LT(0, failed);
}

TEST_F_TIMEOUT(fail, each_of_create, 600)
{
	int nth, dev, fd, failed = 0;

	if (!kt_fail_allocations())
		SKIP(return, "kernel without CONFIG_FAULT_INJECTION");
	ASSERT_EQ(0, kt_insmod_ktape("size=64K"));
	dev = kt_open(O_RDWR);
	ASSERT_GE(dev, 0);
	for (nth = 1; nth < NTH_MAX; nth++) {
		bool over;

		ASSERT_EQ(0, kt_fail_nth(nth));
		fd = kt_create(dev, KTAPE_MODE_OVERWRITE, 65536, 4096);
		over = kt_fail_not_reached();
		kt_fail_nth(0);
		if (fd >= 0) {
			close(fd);
		} else {
			ASSERT_EQ(-ENOMEM, fd);
		}
		failed += fd < 0;
		if (over)
			break;
	}
	TH_LOG("%d allocations, %d of them needed", nth - 1, failed);
	close(dev);
	EXPECT_LT(nth, NTH_MAX);
	EXPECT_LT(0, failed);
	EXPECT_EQ(0, kt_rmmod("ktape"));
}

/*
 * Create a session in a memory cgroup with this limit. Return: the result of CREATE.
 */
static int create_in_cgroup(const char *limit, uint64_t ring)
{
	int dev = kt_open(O_RDWR), status;
	pid_t pid;

	if (dev < 0)
		return dev;
	if (kt_write_text(CGROUP "/memory.max", limit)) {
		close(dev);
		return -EOPNOTSUPP;
	}
	pid = kt_fork_in_cgroup(CGROUP);
	if (!pid) {
		status = kt_create(dev, KTAPE_MODE_OVERWRITE, ring, 0);
		_exit(status < 0 ? -status : 0);
	}
	close(dev);
	status = kt_exit_status(pid);
	return status < 0 ? -ECHILD : -status;
}

/*
 * If memory runs out during CREATE, all of it is freed. KASAN keeps freed memory for a
 * while, and a session's would still be counted: there the slack is larger.
 */
TEST_F_TIMEOUT(fail, session_beyond_cgroup, 300)
{
	const char *scale = getenv("KTAPE_SCALE");
	/* A leak would be five times 6 MiB and once 32 MiB. */
	long slack = 16384 * (scale ? atol(scale) : 1);
	long before, after;

	if (kt_kernel_is_before(5, 11))
		SKIP(return, "ktape does not charge rings before 5.11");
	ASSERT_EQ(0, kt_insmod_ktape("size=64K"));
	kt_write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	if (access(CGROUP "/memory.max", W_OK)) {
		rmdir(CGROUP);
		kt_rmmod("ktape");
		SKIP(return, "no memory cgroups");
	}
	/* Do not count what the first CREATE allocates once. */
	EXPECT_EQ(-ENOMEM, create_in_cgroup("6M", 8 << 20));
	before = kt_free_kib();
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(-ENOMEM, create_in_cgroup("6M", 8 << 20));
	EXPECT_EQ(0, create_in_cgroup("80M", 8 << 20));
	for (int i = 0; i < 20; i++) {
		after = kt_free_kib();
		if (before - after < slack)
			break;
		usleep(500000);
	}
	TH_LOG("%ld KiB free before, %ld after", before, after);
	EXPECT_GT(slack, before - after);
	rmdir(CGROUP);
	EXPECT_EQ(0, kt_rmmod("ktape"));
}

TEST_HARNESS_MAIN
