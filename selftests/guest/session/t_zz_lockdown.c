// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that lockdown=integrity does not keep a session from recording a probe, and
 * that lockdown=confidentiality closes the device. Lockdown stays until the next
 * boot and forbids loading unsigned modules, so this is the last program.
 */
#include "kselftest_harness.h"

#include "kt_load.h"
#include "kt_probe.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

/* kmemleak's search for leaks after the tests would no longer be allowed. */
static bool may_lock_down(void)
{
	return !access(LOCKDOWN, W_OK) &&
	       access("/sys/kernel/debug/kmemleak", F_OK);
}

/* Return: 0 or -errno. */
static int lock_down(const char *level)
{
	return kt_write_text(LOCKDOWN, level);
}

static bool is_locked_down(const char *level)
{
	char text[100] = "";
	int fd = open(LOCKDOWN, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strstr(text, level);
}

static void count_hits(const struct kt_rec *r, void *arg)
{
	int *hits = arg;

	*hits += r->op == KTAPE_OP_PROBE;
}

/* This level forbids to change the kernel, and recording changes nothing. */
TEST(integrity)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC };
	int fd, session, opened, hits = 0;
	struct kt_map m;

	if (!may_lock_down())
		SKIP(return, "no " LOCKDOWN
			     ", or it would end the search for leaks");
	if (is_locked_down("[confidentiality]"))
		SKIP(return, "this kernel is locked down further already");
	if (!is_locked_down("[integrity]"))
		ASSERT_EQ(0, lock_down("integrity"));
	ASSERT_TRUE(is_locked_down("[integrity]"));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		opened = kt_open(flags[i]);
		EXPECT_LE(0, opened);
		close(opened);
	}
	fd = kt_open(O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(KTAPE_OP_PROBE, kt_probe_add(fd, KT_SYSCALL("getppid"), 0, 0));
	session = kt_session(KTAPE_MODE_OVERWRITE, 1 << 20, 0,
			     KT_OPS(KTAPE_OP_PROBE));
	ASSERT_LE(0, session);
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_control(session, KTAPE_IOC_START));
	kt_getppids(100);
	ASSERT_EQ(0, kt_control(session, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_map_ring(session, 0, KTAPE_RING_EVENT, &m));
	EXPECT_LE(0, kt_walk(&m, count_hits, &hits));
	EXPECT_LE(100, hits);
	kt_unmap_ring(&m);
	close(session);
	EXPECT_EQ(0, kt_probe_remove(fd, KTAPE_OP_PROBE));
	close(fd);
}

/* This level forbids reading the kernel's memory: no new descriptor, session or probe. */
TEST(confidentiality)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC };
	int fd = kt_open(O_RDWR);

	if (!may_lock_down())
		SKIP(return, "no " LOCKDOWN
			     ", or it would end the search for leaks");
	ASSERT_LE(0, fd);
	ASSERT_EQ(KTAPE_OP_PROBE, kt_probe_add(fd, KT_SYSCALL("getppid"), 0, 0));
	ASSERT_EQ(0, lock_down("confidentiality"));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		EXPECT_EQ(-EPERM, kt_open(flags[i]));
	EXPECT_EQ(-EPERM, kt_create(fd, 0, 0, 0));
	/* Existing probes stay and can be removed. */
	EXPECT_EQ(-EPERM, kt_probe_add(fd, KT_SYSCALL("getppid"), 0, 0));
	EXPECT_EQ(-EPERM, kt_probe_add(fd, KT_SYSCALL("getppid"), 1, 1));
	EXPECT_STREQ(KT_SYSCALL("getppid"), kt_probe_get(fd, KTAPE_OP_PROBE).symbol);
	EXPECT_EQ(0, kt_probe_remove(fd, KTAPE_OP_PROBE));
	/* A process that has sessions open can still stop them. */
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_CLEAR));
}

TEST_HARNESS_MAIN
