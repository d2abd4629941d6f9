// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the parameter dev_mode=. Without it, or if it gives rights to the owner only, a user
 * needs a capability, whatever the permissions of the node. If it gives rights to the group
 * or to others, the permissions of the node alone decide who opens the device. Some commands
 * still need a capability.
 */
#include <grp.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "kselftest_harness.h"

#include <ktape/mark.h>
#include <ktape/session.h>

#include "kt_load.h"
#include "kt_probe.h"

#define MARK_DEVICE "/dev/ktape_mark"

/* No passwd or group file is needed: the kernel only compares numbers. */
#define GROUP	 4242
#define MEMBER	 4001
#define STRANGER 4002

/* Become an unprivileged user: exec is not needed to lose the capabilities. */
static int become(uid_t uid, gid_t group)
{
	gid_t groups[] = { group };

	if (setgroups(1, groups) || setgid(uid) || setuid(uid))
		return -errno;
	return 0;
}

/* Load the module; the nodes get the group, and the device @chmod_to if that is not 0. */
static int load_for_group(const char *parameters, mode_t chmod_to)
{
	int ret = kt_insmod_ktape(parameters);

	if (ret)
		return ret;
	if (chown(KT_DEVICE, 0, GROUP) || chown(MARK_DEVICE, 0, GROUP))
		return -errno;
	return chmod_to && chmod(KT_DEVICE, chmod_to) ? -errno : 0;
}

static void check_open(struct __test_metadata *_metadata, int flags, int want)
{
	int fd = kt_open(flags);

	EXPECT_EQ(want, fd < 0 ? fd : 0)
	{
		TH_LOG("flags %#x", flags);
	}
	if (fd >= 0)
		close(fd);
}

/* ---- opening ----------------------------------------------------------- */

FIXTURE(open){};

FIXTURE_VARIANT(open)
{
	const char *parameters;
	mode_t chmod_to;
	uid_t uid;
	gid_t group;
	int want_read;
	int want_write;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(open, default_chmod_is_not_enough)
{
	.parameters = "size=64K", .chmod_to = 0666, .uid = MEMBER,
	.group = GROUP, .want_read = -EPERM, .want_write = -EPERM,
};
FIXTURE_VARIANT_ADD(open, owner_only_chmod_is_not_enough)
{
	.parameters = "size=64K dev_mode=0400", .chmod_to = 0666,
	.uid = MEMBER, .group = GROUP, .want_read = -EPERM,
	.want_write = -EPERM,
};
FIXTURE_VARIANT_ADD(open, readers)
{
	.parameters = "size=64K dev_mode=0640", .uid = MEMBER, .group = GROUP,
	.want_write = -EACCES,
};
FIXTURE_VARIANT_ADD(open, readers_and_a_stranger)
{
	.parameters = "size=64K dev_mode=0640", .uid = STRANGER,
	.group = STRANGER, .want_read = -EACCES, .want_write = -EACCES,
};
FIXTURE_VARIANT_ADD(open, writers)
{
	.parameters = "size=64K dev_mode=0660", .uid = MEMBER, .group = GROUP,
};
FIXTURE_VARIANT_ADD(open, writers_and_a_stranger)
{
	.parameters = "size=64K dev_mode=0660", .uid = STRANGER,
	.group = STRANGER, .want_read = -EACCES, .want_write = -EACCES,
};
FIXTURE_VARIANT_ADD(open, the_node_is_narrowed)
{
	.parameters = "size=64K dev_mode=0660", .chmod_to = 0600,
	.uid = MEMBER, .group = GROUP, .want_read = -EACCES,
	.want_write = -EACCES,
};
FIXTURE_VARIANT_ADD(open, everybody_reads)
{
	.parameters = "size=64K dev_mode=0644", .uid = STRANGER,
	.group = STRANGER, .want_write = -EACCES,
};
/* clang-format on */

FIXTURE_SETUP(open)
{
	ASSERT_EQ(0, load_for_group(variant->parameters, variant->chmod_to));
}

/* The test itself has given up the right to unload. */
FIXTURE_TEARDOWN_PARENT(open)
{
	kt_rmmod("ktape");
}

TEST_F(open, as)
{
	ASSERT_EQ(0, become(variant->uid, variant->group));
	check_open(_metadata, O_RDONLY, variant->want_read);
	check_open(_metadata, O_RDONLY | O_NONBLOCK, variant->want_read);
	check_open(_metadata, O_RDWR, variant->want_write);
	check_open(_metadata, O_WRONLY, variant->want_write);
	check_open(_metadata, O_WRONLY | O_TRUNC, variant->want_write);
}

/* ---- what a member may do ---------------------------------------------- */

FIXTURE(member){};

FIXTURE_SETUP(member)
{
}

FIXTURE_TEARDOWN_PARENT(member)
{
	kt_rmmod("ktape");
}

static int session_ref(int fd, unsigned long cmd, const char *name)
{
	struct ktape_session_ref ref = { .size = sizeof(ref),
					 .id = KTAPE_SESSION_BY_NAME };

	snprintf(ref.name, sizeof(ref.name), "%s", name);
	return kt_ioctl(fd, cmd, &ref);
}

static int make_lingering(int fd, const char *name)
{
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = 64 << 10,
				  .flags = KTAPE_CREATE_LINGER };
	int ret;

	snprintf(c.name, sizeof(c.name), "%s", name);
	ret = kt_ioctl(fd, KTAPE_IOC_CREATE, &c);
	if (ret < 0)
		return ret;
	close(ret);
	return 0;
}

TEST_F(member, reads_but_does_not_control)
{
	struct kt_map m;
	int fd, other;

	ASSERT_EQ(0, load_for_group("size=64K dev_mode=0640", 0));
	fd = kt_open(O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, make_lingering(fd, "night"));
	close(fd);

	ASSERT_EQ(0, become(MEMBER, GROUP));
	fd = kt_open(O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m));
	EXPECT_LT(0U, m.page->commit);
	EXPECT_EQ(-1, mprotect(m.page, m.size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-EPERM, kt_control(fd, KTAPE_IOC_STOP));
	EXPECT_EQ(-EPERM, kt_control(fd, KTAPE_IOC_CLEAR));
	EXPECT_EQ(-EPERM, kt_create(fd, KTAPE_MODE_OVERWRITE, 64 << 10, 0));
	EXPECT_EQ(-EPERM, kt_probe_add(fd, "do_exit", 0, 0));
	EXPECT_EQ(-EPERM, session_ref(fd, KTAPE_IOC_DESTROY, "night"));
	/* A read-only descriptor opens other sessions, but only for reading. */
	other = session_ref(fd, KTAPE_IOC_OPEN, "night");
	ASSERT_LE(0, other);
	EXPECT_EQ(-EPERM, kt_control(other, KTAPE_IOC_START));
}

TEST_F(member, records_but_adds_no_probe)
{
	const unsigned char *ops = KT_OPS(KTAPE_EV_SCHED_SWITCH);
	struct ktape_stats st;
	int fd, own;

	ASSERT_EQ(0, load_for_group("size=64K dev_mode=0660", 0));
	ASSERT_EQ(0, become(MEMBER, GROUP));
	own = kt_session(KTAPE_MODE_OVERWRITE, 64 << 10, 0, ops);
	ASSERT_LE(0, own);
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_control(own, KTAPE_IOC_START));
	for (int i = 0; i < 20; i++)
		usleep(1000);
	ASSERT_EQ(0, kt_control(own, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_stats(own, 0, KTAPE_RING_EVENT, &st));
	EXPECT_LE(20U, kt_sum(st.emitted));
	/* Run-time probes need the capability, whatever the descriptor. */
	EXPECT_EQ(-EPERM, kt_probe_add(own, "do_exit", 0, 0));
	/* A session that a member left behind must not be there for ever. */
	fd = kt_open(O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, make_lingering(fd, "night"));
	EXPECT_EQ(0, session_ref(fd, KTAPE_IOC_DESTROY, "night"));
	EXPECT_EQ(-ENOENT, session_ref(fd, KTAPE_IOC_DESTROY, "night"));
}

/* A member may control the device, but not emit exceptions, for which a user needs a capability. */
TEST_F(member, emits_like_other_users)
{
	struct ktape_trace t = { .size = sizeof(t), .opcode = KTAPE_EV_EXCEPTION };
	int fd;

	ASSERT_EQ(0, load_for_group("size=64K dev_mode=0660 mark_mode=0620", 0));
	ASSERT_EQ(0, become(MEMBER, GROUP));
	fd = open(MARK_DEVICE, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EPERM, kt_ioctl(fd, KTAPE_MARK_IOC_TRACE, &t));
	EXPECT_EQ(5, write(fd, "hello", 5));
}

/* ---- loading ----------------------------------------------------------- */

TEST(mode_of_the_device)
{
	static const struct {
		const char *parameters;
		unsigned int mode;
	} vector[] = {
		{ "size=64K", 0600 },
		{ "size=64K dev_mode=0640", 0640 },
		{ "size=64K dev_mode=0660", 0660 },
		{ "size=64K dev_mode=0400", 0400 },
	};
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		ASSERT_EQ(0, kt_insmod_ktape(vector[i].parameters));
		ASSERT_EQ(0, stat(KT_DEVICE, &st));
		EXPECT_EQ(vector[i].mode, st.st_mode & 07777);
		EXPECT_EQ(0, st.st_gid);
		ASSERT_EQ(0, kt_rmmod("ktape"));
	}
	EXPECT_EQ(-EINVAL, kt_insmod_ktape("dev_mode=01640"));
	EXPECT_EQ(-ENOENT, kt_rmmod("ktape"));
}

TEST_HARNESS_MAIN
