// SPDX-License-Identifier: GPL-2.0-only
/* Test who may open the device, and which rights a descriptor has and keeps. */
#include <linux/capability.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_argument.h"
#include "kt_pass.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

#define ALL    (~0ULL)
#define CAP(n) (1ULL << (n))

/* Give up all capabilities but @caps. Return: 0 or a negative errno. */
static int set_caps(uint64_t caps)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct now[2], data[2] = {};

	if (syscall(SYS_capget, &head, now))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted = now[i].permitted & caps >> 32 * i;
		data[i].effective = data[i].permitted;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* ---- opening ----------------------------------------------------------- */

FIXTURE(open)
{
	int fd;
};

FIXTURE_VARIANT(open)
{
	uint64_t caps;
	uid_t uid;
	bool userns;
	int want;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(open, root) { .caps = ALL };
FIXTURE_VARIANT_ADD(open, perfmon) { .caps = CAP(CAP_PERFMON) };
FIXTURE_VARIANT_ADD(open, sys_admin) { .caps = CAP(CAP_SYS_ADMIN) };
FIXTURE_VARIANT_ADD(open, no_capability) { .caps = 0, .want = -EPERM };
FIXTURE_VARIANT_ADD(open, all_others)
{
	.caps = ALL & ~CAP(CAP_PERFMON) & ~CAP(CAP_SYS_ADMIN), .want = -EPERM,
};
FIXTURE_VARIANT_ADD(open, tracers)
{
	.caps = CAP(CAP_SYS_PTRACE) | CAP(CAP_SYSLOG) | CAP(CAP_SYS_MODULE) |
		CAP(CAP_DAC_OVERRIDE), .want = -EPERM,
};
FIXTURE_VARIANT_ADD(open, nobody) { .uid = 65534, .want = -EACCES };
FIXTURE_VARIANT_ADD(open, user_namespace_root)
{
	.caps = ALL, .userns = true, .want = -EPERM,
};
/* clang-format on */

FIXTURE_SETUP(open)
{
	ASSERT_EQ(0, kt_pin(0));
}

FIXTURE_TEARDOWN(open)
{
}

TEST_F(open, as)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR,
				     O_RDONLY | O_NONBLOCK, O_WRONLY | O_TRUNC };

	if (variant->userns) {
		if (unshare(CLONE_NEWUSER))
			SKIP(return, "no user namespaces");
		ASSERT_EQ(0, kt_write_text("/proc/self/setgroups", "deny"));
		ASSERT_EQ(0, kt_write_text("/proc/self/uid_map", "0 0 1"));
		ASSERT_EQ(0, kt_write_text("/proc/self/gid_map", "0 0 1"));
		ASSERT_EQ(0, getuid());
	}
	if (variant->uid) {
		ASSERT_EQ(0, setuid(variant->uid));
	} else {
		ASSERT_EQ(0, set_caps(variant->caps));
	}
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		self->fd = kt_open(flags[i]);
		EXPECT_EQ(variant->want, self->fd < 0 ? self->fd : 0)
		{
			TH_LOG("flags %#x", flags[i]);
		}
		if (self->fd >= 0)
			close(self->fd);
	}
}

TEST(mode_of_the_device)
{
	struct stat st;

	ASSERT_EQ(0, stat(KT_DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(0, st.st_uid);
}

/* ---- descriptors ------------------------------------------------------- */

#define RIGHT(NAME, member, op, write, want)                                      \
	{                                                                         \
#NAME " " #op, KTAPE_IOC_##NAME,                                  \
			sizeof(((union kt_argument *)0)->member), op, write, want \
	}

/*
 * Commands, and which of them need a descriptor open for writing. The order matters, because
 * each may change the session. The rights of OPEN, FILTER, PROBE and the commands of persistent
 * memory are in t_session.c, t_filter_ioctl.c, t_kprobe.c and t_persist.c.
 */
static const struct {
	const char *name;
	unsigned long cmd;
	size_t size;
	__u32 op; /* second word */
	bool write;
	int want; /* result with write access; for CREATE a descriptor */
} rights[] = {
	RIGHT(FEATURES, features, 0, false, 0),
	RIGHT(LAYOUT, layout, 0, false, 0),
	RIGHT(PROFILE, profile, KTAPE_PROFILE_GET, false, 0),
	RIGHT(STATS, stats, 0, false, 0),
	RIGHT(EVENT_INFO, event_info, 0, false, 0),
	RIGHT(METADATA, metadata, 0, false, -EMSGSIZE),
	RIGHT(WATERMARK, watermark, 0, false, 0),
	RIGHT(CONSUMER, consumer, KTAPE_CONSUMER_POSITION, false, -EINVAL),
	RIGHT(PROFILE, profile, KTAPE_PROFILE_SET, true, 0),
	RIGHT(PROFILE, profile, KTAPE_PROFILE_OR, true, 0),
	RIGHT(PROFILE, profile, KTAPE_PROFILE_ANDNOT, true, 0),
	RIGHT(START, command, 0, true, 0),
	RIGHT(STOP, command, 0, true, 0),
	RIGHT(CLEAR, command, 0, true, 0),
	RIGHT(FLUSH, command, 0, true, -EOPNOTSUPP),
	RIGHT(CONSUMER, consumer, KTAPE_CONSUMER_REGISTER, true, 0),
	RIGHT(CONSUMER, consumer, KTAPE_CONSUMER_UNREGISTER, true, 0),
	RIGHT(CREATE, create, 0, true, 0),
	RIGHT(POLICY, policy, KTAPE_POLICY_GET, false, 0),
	RIGHT(READER, reader, 0, false, 0),
	RIGHT(POLICY, policy, KTAPE_POLICY_SET, true, 0),
	RIGHT(TRIGGER, trigger, KTAPE_TRIGGER_GET, false, -ENOENT),
	RIGHT(TRIGGER, trigger, KTAPE_TRIGGER_ADD, true, -EINVAL),
	RIGHT(TRIGGER, trigger, KTAPE_TRIGGER_REMOVE, true, -ENOENT),
	RIGHT(DESTROY, ref, 0, true, -EBUSY),
};

/*
 * Commands on sessions other than the descriptor's own need the right to open
 * one.
 */
static bool acts_on_other_sessions(unsigned long cmd)
{
	return cmd == KTAPE_IOC_CREATE || cmd == KTAPE_IOC_DESTROY;
}

/*
 * Check the result of each command on @fd, which is open for @write or not; @may_open:
 * this process may open the device.
 */
static void check_rights(struct __test_metadata *_metadata, int fd, bool write,
			 bool may_open)
{
	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		union kt_argument a = { .size = rights[i].size };
		int want = rights[i].want, ret;

		if ((rights[i].write && !write) ||
		    (!may_open && acts_on_other_sessions(rights[i].cmd)))
			want = -EPERM;
		((__u32 *)&a)[1] = rights[i].op;
		ret = kt_ioctl(fd, rights[i].cmd, &a);
		if (rights[i].cmd == KTAPE_IOC_CREATE && ret > 0)
			ret = close(ret);
		EXPECT_EQ(want, ret)
		{
			TH_LOG("%s", rights[i].name);
		}
	}
	/*
	 * Rights are checked before the argument, so EPERM does not reveal
	 * whether the argument is valid.
	 */
	if (!write)
		EXPECT_EQ(-EPERM, kt_ioctl(fd, KTAPE_IOC_CREATE, NULL));
}

FIXTURE(rights)
{
	int control; /* session 0, to check the result */
};

FIXTURE_SETUP(rights)
{
	self->control = kt_open(O_RDWR);
	ASSERT_LE(0, self->control);
}

FIXTURE_TEARDOWN(rights)
{
	close(self->control);
}

static struct ktape_layout layout_of(int fd)
{
	struct ktape_layout l;

	kt_layout(fd, &l, NULL, 0);
	return l;
}

TEST_F(rights, read_only)
{
	int fd = kt_open(O_RDONLY | O_NONBLOCK);
	struct ktape_layout before, after;
	struct pollfd pfd = { fd, POLLIN };
	struct kt_map m;
	uint64_t floor;
	char byte;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_control(self->control, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m));
	floor = m.page->floor;
	before = layout_of(fd);
	check_rights(_metadata, fd, false, true);
	after = layout_of(fd);
	EXPECT_EQ(1, after.running);
	EXPECT_EQ(before.generation, after.generation);
	EXPECT_EQ(floor, m.page->floor);
	EXPECT_EQ(1, read(fd, &byte, 1));
	EXPECT_LE(0, poll(&pfd, 1, 0));
	EXPECT_EQ(-1, mprotect(m.page, m.size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_SHARED, fd, m.e.offset));
	/* Neither F_SETFL nor dup() gives the right to change the session. */
	fcntl(fd, F_SETFL, O_RDWR);
	EXPECT_EQ(-EPERM, kt_control(fd, KTAPE_IOC_STOP));
	EXPECT_EQ(-EPERM, kt_control(dup(fd), KTAPE_IOC_STOP));
	EXPECT_EQ(1, layout_of(fd).running);
}

TEST_F(rights, write_only)
{
	int fd = kt_open(O_WRONLY);
	char byte;

	ASSERT_LE(0, fd);
	check_rights(_metadata, fd, true, true);
	EXPECT_EQ(-1, read(fd, &byte, 1));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, write(fd, "x", 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_START));
}

/* A child process opens the device, drops its rights and passes the descriptor. */
static void open_and_pass(int to, int flags)
{
	int fd = kt_open(flags);

	_exit(fd < 0 || set_caps(0) || kt_send_fd(to, fd));
}

TEST_F(rights, passed_on)
{
	static const int flags[] = { O_RDONLY, O_RDWR };
	int pair[2], status, fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (int i = 0; i < 2; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			open_and_pass(pair[1], flags[i]);
		fd = kt_receive_fd(pair[0]);
		ASSERT_LE(0, fd);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		/*
		 * This process has all rights, but the descriptor keeps the
		 * rights of its opening.
		 */
		check_rights(_metadata, fd, flags[i] == O_RDWR, true);
		close(fd);
	}
}

/*
 * When a process loses rights later, its descriptors keep theirs, but it can no
 * longer open the device.
 */
TEST_F(rights, kept_but_not_renewed)
{
	int rd = kt_open(O_RDONLY), own = kt_create(self->control, 0, 1, 0);
	char path[2][32];

	ASSERT_LE(0, rd);
	ASSERT_LE(0, own);
	snprintf(path[0], sizeof(path[0]), "/proc/self/fd/%d", rd);
	snprintf(path[1], sizeof(path[1]), "/proc/self/fd/%d", own);
	/* Reopening /proc/self/fd/N of a session must fail. */
	EXPECT_EQ(-1, open(path[1], O_RDWR));
	ASSERT_EQ(0, set_caps(0));
	check_rights(_metadata, rd, false, false);
	check_rights(_metadata, own, true, false);
	EXPECT_EQ(-1, open(path[0], O_RDWR));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, open(path[0], O_RDONLY));
	EXPECT_EQ(EPERM, errno);
}

/* A trigger may act on its own session, but with lost rights on no other one. */
TEST_F(rights, no_trigger_on_others)
{
	struct ktape_trigger t = { KT_OF_ID(1), .limit = 1 };
	static const uint32_t actions[] = { KTAPE_TRIGGER_START, KTAPE_TRIGGER_STOP,
					    KTAPE_TRIGGER_PROFILE };
	int own = kt_create(self->control, 0, 1, 0);

	ASSERT_LE(0, own);
	for (int lost = 0; lost < 2; lost++) {
		for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
			int id;

			t.actions = actions[i];
			t.target = 0;
			id = kt_trigger_add(own, &t);
			EXPECT_EQ(lost ? -EPERM : 0, id < 0 ? id : 0);
			if (id >= 0)
				EXPECT_EQ(0, kt_trigger_remove(own, id));
			t.target = KTAPE_TRIGGER_SELF;
			id = kt_trigger_add(own, &t);
			EXPECT_LE(0, id);
			EXPECT_EQ(0, kt_trigger_remove(own, id));
		}
		ASSERT_EQ(0, set_caps(0));
	}
}

static uint32_t console_state(int fd)
{
	struct ktape_event_info e = { .size = sizeof(e), .opcode = KTAPE_EV_CONSOLE };

	return kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &e) ? ~0U : e.state;
}

/* What the kernel prints needs CAP_SYSLOG: to make a session for it, and to open one. */
TEST_F(rights, kernel_log)
{
	int log = kt_create_with(self->control, 0, 64 << 10, 0, KTAPE_CREATE_LOG);
	int plain = kt_create(self->control, 0, 64 << 10, 0), fd;
	uint32_t id;

	ASSERT_LE(0, log);
	ASSERT_LE(0, plain);
	id = layout_of(log).session;
	EXPECT_EQ(KTAPE_EVENT_AVAILABLE, console_state(self->control));
	EXPECT_EQ(KTAPE_EVENT_AVAILABLE, console_state(log));
	EXPECT_EQ(KTAPE_EVENT_RIGHTS, console_state(plain));
	ASSERT_EQ(0, set_caps(CAP(CAP_PERFMON) | CAP(CAP_SYSLOG)));
	fd = kt_attach_id(self->control, id);
	EXPECT_LE(0, fd);
	close(fd);
	fd = kt_create_with(self->control, 0, 64 << 10, 0, KTAPE_CREATE_LOG);
	EXPECT_LE(0, fd);
	close(fd);
	ASSERT_EQ(0, set_caps(CAP(CAP_PERFMON)));
	EXPECT_EQ(-EPERM, kt_attach_id(self->control, id));
	EXPECT_EQ(-EPERM, kt_create_with(self->control, 0, 64 << 10, 0,
					 KTAPE_CREATE_LOG));
	EXPECT_EQ(KTAPE_EVENT_RIGHTS, console_state(self->control));
	/* The descriptor that root has opened goes on. */
	EXPECT_EQ(0, kt_control(log, KTAPE_IOC_START));
	EXPECT_EQ(0, kt_control(log, KTAPE_IOC_STOP));
	close(log);
	close(plain);
}

/* O_TRUNC with write access clears the rings; no other way to truncate does. */
TEST_F(rights, truncation_clears)
{
	static const struct {
		int flags;
		bool clears;
	} vector[] = {
		{ O_RDONLY, false },
		{ O_RDWR, false },
		{ O_WRONLY, false },
		{ O_RDONLY | O_TRUNC, false },
		{ O_WRONLY | O_TRUNC, true },
		{ O_RDWR | O_TRUNC, true },
		{ O_WRONLY | O_CREAT | O_TRUNC, true },
	};
	struct kt_map m;
	int fd;

	ASSERT_EQ(0, kt_map_ring(self->control, 0, KTAPE_RING_CONTROL, &m));
	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		ASSERT_EQ(0, kt_control(self->control, KTAPE_IOC_START));
		ASSERT_EQ(0, kt_control(self->control, KTAPE_IOC_STOP));
		ASSERT_LT(kt_oldest(&m), m.page->commit);
		fd = kt_open(vector[i].flags);
		ASSERT_LE(0, fd);
		EXPECT_EQ(vector[i].clears, m.page->floor == m.page->commit)
		{
			TH_LOG("flags %#x", vector[i].flags);
		}
		EXPECT_EQ(-1, ftruncate(fd, 0));
		close(fd);
	}
	EXPECT_EQ(-1, truncate(KT_DEVICE, 0));
}

TEST_HARNESS_MAIN
