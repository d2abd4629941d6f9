// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leave probes armed when the module is unloaded: the runner of the guest (run-tests) unloads
 * it after this program, and fails the test if the kernel crashes or warns.
 */
#include "kselftest_harness.h"

#include <time.h>

#include "kt_probe.h"

/*
 * Session 0 keeps the probes in its profile, so they are armed when the module
 * is unloaded after this program. Meanwhile a process sleeps in a probed
 * function, with its return address replaced by the kretprobe's.
 */
TEST(armed_at_unload)
{
	static const char *const names[] = {
		KT_SYSCALL("clock_nanosleep"),
		"ktime_get_mono_fast_ns",
		KT_SYSCALL("getppid"),
	};
	const struct timespec nap = { .tv_nsec = 300000000 };
	int fd = kt_open(O_RDWR), nr = -1;

	ASSERT_LE(0, fd);
	for (int i = 0; i < 6; i++) {
		nr = kt_probe_add(fd, names[i / 2], i & 1, 0);
		ASSERT_EQ(KTAPE_OP_PROBE + i, nr);
		ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_OR, nr, 0, 0));
	}
	if (!fork()) {
		/* The process must outlive this program. */
		setsid();
		for (int i = 0; i < 64; i++)
			close(i);
		for (int i = 0; i < 10 * kt_scale(); i++) {
			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
			kt_getppids(100);
		}
		_exit(0);
	}
	usleep(500000);
	EXPECT_LE(1, kt_probe_get(fd, KTAPE_OP_PROBE).hits);
	close(fd);
}

TEST_HARNESS_MAIN
