// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that lockdown=confidentiality closes the device. Lockdown stays until
 * the next boot and forbids loading unsigned modules, so this is the last
 * program.
 */
#include "kselftest_harness.h"

#include "kt_probe.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

TEST(confidentiality)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR,
				     O_WRONLY | O_TRUNC };
	int lockdown = open(LOCKDOWN, O_WRONLY);
	int fd = kt_open(O_RDWR);

	if (lockdown < 0)
		SKIP(return, "no " LOCKDOWN);
	if (access("/sys/kernel/debug/kmemleak", F_OK) == 0)
		SKIP(return, "would end the search for leaks at the end");
	ASSERT_LE(0, fd);
	ASSERT_EQ(KTAPE_OP_PROBE,
		  kt_probe_add(fd, KT_SYSCALL("getppid"), 0, 0));
	ASSERT_EQ(15, write(lockdown, "confidentiality", 15));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		EXPECT_EQ(-EPERM, kt_open(flags[i]));
	EXPECT_EQ(-EPERM, kt_create(fd, 0, 0, 0));
	/* Existing probes stay and can be removed. */
	EXPECT_EQ(-EPERM, kt_probe_add(fd, KT_SYSCALL("getppid"), 0, 0));
	EXPECT_EQ(-EPERM, kt_probe_add(fd, KT_SYSCALL("getppid"), 1, 1));
	EXPECT_STREQ(KT_SYSCALL("getppid"),
		     kt_probe_get(fd, KTAPE_OP_PROBE).symbol);
	EXPECT_EQ(0, kt_probe_remove(fd, KTAPE_OP_PROBE));
	/* A process that has sessions open can still stop them. */
	EXPECT_EQ(0, kt_command(fd, KTAPE_IOC_STOP));
	EXPECT_EQ(0, kt_command(fd, KTAPE_IOC_CLEAR));
}

TEST_HARNESS_MAIN
