// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test a session in memory that survives a reset (scripts/guest reserves that
 * memory): what it can do, what it refuses, and what is there after the module
 * was reloaded. Real resets are in selftests/guest/persist.
 */
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"

#include <ktape/persist.h>
#include <ktape_mark.h>

#include "kt_persist.h"
#include "kt_spawn.h"

/*
 * Return true if the kernel log has a line with this text after klog_from_here(), which
 * load_ktape() calls.  Lines that were looked at are not looked at again.
 */
static bool klog_has(const char *text)
{
	char line[8192];
	bool found = false;
	ssize_t n;

	/*
	 * read() returns one line; EPIPE: lines were overwritten before they
	 * were read.
	 */
	while ((n = read(klog, line, sizeof(line) - 1)) >= 0 || errno == EPIPE) {
		line[n < 0 ? 0 : n] = '\0';
		found |= strstr(line, text) != NULL;
	}
	return found;
}

/*
 * Start a command of up to 15 words with one space between them, without a shell, which takes
 * longer than many commands on a sanitizer kernel.  @out: gets its output, or KT_SAME.  Return:
 * its process, or -1.
 */
static pid_t spawn_without_shell(const char *command, int out)
{
	char words[256], *argv[16] = {}, *left;
	int nr = 0;

	snprintf(words, sizeof(words), "%s", command);
	for (char *word = strtok_r(words, " ", &left); word && nr < 15;
	     word = strtok_r(NULL, " ", &left))
		argv[nr++] = word;
	return kt_spawn(argv, out, KT_SAME);
}

/* Run a command.  Return: its exit status, or -1. */
static int run_without_shell(const char *command)
{
	return kt_exit_status(spawn_without_shell(command, KT_SAME));
}

/*
 * Return true if the command prints this text. Do not wait for the rest of its
 * output.
 */
static bool prints(const char *command, const char *text)
{
	const size_t keep = strlen(text) - 1;
	char buf[4096];
	size_t len = 0;
	bool found = false;
	int out[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return false;
	pid = spawn_without_shell(command, out[1]);
	if (pid < 0) {
		close(out[0]);
		close(out[1]);
		return false;
	}
	close(out[1]);
	while (!found && (n = read(out[0], buf + len, sizeof(buf) - len)) > 0) {
		len += n;
		found = memmem(buf, len, text, keep + 1);
		/* The text may lie across two reads. */
		if (len > keep) {
			memmove(buf, buf + len - keep, keep);
			len = keep;
		}
	}
	close(out[0]);
	waitpid(pid, NULL, 0);
	return found;
}

static int get_persist_info(int fd, struct ktape_persist_info *i)
{
	memset(i, 0, sizeof(*i));
	i->size = sizeof(*i);
	return kt_ioctl(fd, KTAPE_IOC_PERSIST_INFO, i);
}

/* Tests that do not change the load share it; the next fixture unloads it. */
FIXTURE(same_load)
{
	int fd;
};

FIXTURE_SETUP(same_load)
{
	self->fd = kt_open(O_RDWR);
	if (self->fd < 0) {
		ASSERT_EQ(0, load_ktape(REGION " persist_drop=1"));
		self->fd = kt_open(O_RDWR);
	}
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(same_load)
{
	close(self->fd);
}

/* Session 0 is in one half of the region: its rings fill at least a quarter of that. */
TEST_F(same_load, session_0)
{
	struct ktape_layout_entry e[64];
	struct ktape_features f;
	struct ktape_persist_info i;
	struct ktape_layout l;
	uint64_t bytes = 0;

	ASSERT_EQ(0, kt_features(self->fd, &f));
	EXPECT_TRUE(f.features & KTAPE_FEATURE_PERSIST);
	ASSERT_EQ(0, kt_layout(self->fd, &l, e, 64));
	EXPECT_EQ(KTAPE_MODE_PERSISTENT, l.mode);
	EXPECT_EQ(1, l.running);
	for (unsigned int n = 0; n < l.nr; n++)
		if (e[n].cpu >= 0)
			bytes += e[n].data_size;
	EXPECT_LT(M / 2, bytes);
	EXPECT_GT(HALF, bytes);
	ASSERT_EQ(0, get_persist_info(self->fd, &i));
	EXPECT_EQ(KTAPE_PERSIST_REGION | KTAPE_PERSIST_IN_USE, i.flags);
	EXPECT_EQ(4 * M, i.region_size);
	EXPECT_EQ(0, i.old_size);
}

/* The region may have no struct pages: rings cannot be mapped, names can. */
TEST_F(same_load, mappings)
{
	struct ktape_layout_entry e[64];
	struct ktape_layout l;
	void *p;

	ASSERT_EQ(0, kt_layout(self->fd, &l, e, 64));
	for (unsigned int n = 0; n < l.nr; n++) {
		p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd,
			 (off_t)e[n].offset);
		if (e[n].cpu >= 0) {
			EXPECT_EQ(MAP_FAILED, p);
			EXPECT_EQ(ENODEV, errno);
		} else {
			EXPECT_NE(MAP_FAILED, p);
			munmap(p, PAGE);
		}
	}
}

/* A descriptor that is open for reading drops nothing; unknown flags are refused. */
TEST_F(same_load, rights)
{
	int fd = kt_open(O_RDONLY);
	struct ktape_persist_read r = { .size = sizeof(r), .flags = 1 };
	struct ktape_persist_info i = { .size = sizeof(i), .flags = 1 };

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EPERM, kt_control(fd, KTAPE_IOC_PERSIST_DROP));
	EXPECT_EQ(-EINVAL, kt_ioctl(fd, KTAPE_IOC_PERSIST_READ, &r));
	EXPECT_EQ(-EINVAL, kt_ioctl(fd, KTAPE_IOC_PERSIST_INFO, &i));
	EXPECT_EQ(0, get_persist_info(fd, &i));
	close(fd);
}

/* read() delivers everything, to the last record. */
TEST_F(same_load, reading)
{
	static char buf[256 * 1024];
	int mark = ktape_mark_open();
	uint32_t found = 0;
	ssize_t n;

	ASSERT_LE(0, mark);
	for (int i = 0; i < 100; i++)
		ASSERT_EQ(0, ktape_text(mark, "over and over"));
	close(mark);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	while ((n = read(self->fd, buf, sizeof(buf))) > 0)
		for (char *p = buf;
		     (p = memmem(p, buf + n - p, "over and over", 13)); p++)
			found++;
	EXPECT_EQ(0, n);
	/* A text may lie across two reads. */
	EXPECT_LE(98, found);
	EXPECT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
}

FIXTURE(persist)
{
	int fd;
};

FIXTURE_SETUP(persist)
{
	/* Tests of same_load leave the module loaded. */
	unload_ktape();
	ASSERT_EQ(0, load_ktape(REGION " persist_drop=1"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(persist)
{
	if (self->fd >= 0)
		close(self->fd);
	EXPECT_EQ(0, unload_ktape());
}

/* There is one persistent session at a time, and it must fit in half of the region. */
TEST_F_TIMEOUT(persist, one_at_a_time, 300)
{
	int own;

	EXPECT_EQ(-EBUSY, kt_create(self->fd, KTAPE_MODE_PERSISTENT, 0, 0));
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " persist_drop=1 mode=overwrite"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	for (int i = 0; i < 3; i++) {
		own = kt_create(self->fd, KTAPE_MODE_PERSISTENT, 16 * PAGE, PAGE);
		ASSERT_LE(0, own);
		EXPECT_EQ(-EBUSY, kt_create(self->fd, KTAPE_MODE_PERSISTENT, 0, 0));
		EXPECT_EQ(0, kt_control(own, KTAPE_IOC_START));
		close(own);
	}
	EXPECT_EQ(-ENOSPC, kt_create(self->fd, KTAPE_MODE_PERSISTENT, 64 * M, 0));
	EXPECT_EQ(-ENOSPC, kt_create(self->fd, KTAPE_MODE_PERSISTENT, 0, 4 * M));
}

/* The records of a load can be read raw after it, and dropped. */
TEST_F_TIMEOUT(persist, after_unload, 300)
{
	struct ktape_persist super;
	struct ktape_persist_info i;
	static char page[PAGE + 1];
	struct ktape_features f;

	EXPECT_EQ(-ENODATA, read_old(self->fd, 0, page, PAGE));
	EXPECT_EQ(-ENODATA, kt_control(self->fd, KTAPE_IOC_PERSIST_DROP));
	ASSERT_EQ(0, kt_features(self->fd, &f));
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION));
	EXPECT_TRUE(klog_has("an earlier trace"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, get_persist_info(self->fd, &i));
	EXPECT_EQ(4 * M, i.old_size);

	ASSERT_EQ(PAGE, read_old(self->fd, 0, page, PAGE));
	memcpy(&super, page, sizeof(super));
	EXPECT_EQ(KTAPE_PERSIST_MAGIC, super.magic);
	EXPECT_EQ(0, memcmp(super.uuid, f.uuid, sizeof(f.uuid)));
	EXPECT_EQ(KTAPE_PERSIST_STOPPED, super.state);
	EXPECT_EQ(f.table_hash, super.table_hash);
	EXPECT_EQ(HALF, super.size);
	/* The last page of the half has the superblock again. */
	ASSERT_EQ(PAGE, read_old(self->fd, HALF - PAGE, page, PAGE));
	memcpy(&super, page, sizeof(super));
	EXPECT_EQ(HALF - PAGE, super.here);
	EXPECT_EQ(PAGE, read_old(self->fd, 4 * M - PAGE, page, PAGE + 1));
	EXPECT_EQ(0, read_old(self->fd, 4 * M, page, PAGE));
	EXPECT_EQ(0, read_old(self->fd, ~0ULL, page, PAGE));
	EXPECT_EQ(0, read_old(self->fd, 0, NULL, 0));
	EXPECT_EQ(-EFAULT, read_old(self->fd, 0, NULL, PAGE));
	EXPECT_TRUE(prints("ktape recover -q -o after", "stopped"));
	EXPECT_TRUE(prints("ktape dump after", "sched_switch"));

	EXPECT_EQ(0, kt_control(self->fd, KTAPE_IOC_PERSIST_DROP));
	EXPECT_EQ(-ENODATA, read_old(self->fd, 0, page, PAGE));
	EXPECT_EQ(1, run_without_shell("ktape recover -q -o again"));
}

/* Load again. @uuid gets the UUID of the new load's trace. */
static void reload_persist(struct __test_metadata *_metadata,
			   FIXTURE_DATA(persist) * self, uint8_t *uuid)
{
	struct ktape_features f;

	if (self->fd >= 0)
		close(self->fd);
	EXPECT_EQ(0, unload_ktape());
	EXPECT_EQ(0, load_ktape(REGION));
	self->fd = kt_open(O_RDWR);
	EXPECT_LE(0, self->fd);
	EXPECT_EQ(0, kt_features(self->fd, &f));
	memcpy(uuid, f.uuid, sizeof(f.uuid));
}

/*
 * Return true if `ktape recover` with these parameters gets the trace of that
 * load.
 */
static bool recovers_trace(const char *parameters, const uint8_t *uuid)
{
	char command[64], text[33];

	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", uuid[i]);
	snprintf(command, sizeof(command), "ktape recover -qfj -o halves %s",
		 parameters);
	return prints(command, text);
}

static void move_clock(int hours)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += hours * 3600;
	clock_settime(CLOCK_REALTIME, &t);
}

/*
 * If the traces of two loads are not recovered, both are still there, and the later
 * one is known, also if the time of day went back, as without a real-time clock.  Each load
 * writes to one half again, but the module has kept a copy of both as they were before.
 */
TEST_F_TIMEOUT(persist, crash_loop, 300)
{
	/* The fixture made the first load, which used the first half. */
	static const char *const half[] = { "--at 0", "--at 0x200000" };
	uint8_t uuid[5][16];
	struct ktape_features f;

	ASSERT_EQ(0, kt_features(self->fd, &f));
	memcpy(uuid[0], f.uuid, sizeof(f.uuid));
	for (int i = 1; i < 5; i++) {
		if (i == 3)
			move_clock(-1);
		reload_persist(_metadata, self, uuid[i]);
		EXPECT_TRUE(recovers_trace("", uuid[i - 1]));
		EXPECT_TRUE(recovers_trace(half[(i - 1) % 2], uuid[i - 1]));
		if (i > 1) {
			EXPECT_TRUE(recovers_trace(half[i % 2], uuid[i - 2]));
		}
	}
	move_clock(1);
}

/* A dropped trace is not there at the next load, in neither half. */
TEST_F_TIMEOUT(persist, dropped, 300)
{
	struct ktape_persist_info i;
	struct ktape_features f;
	uint8_t uuid[3][16];

	ASSERT_EQ(0, kt_features(self->fd, &f));
	memcpy(uuid[0], f.uuid, sizeof(f.uuid));
	reload_persist(_metadata, self, uuid[1]);
	EXPECT_EQ(0, kt_control(self->fd, KTAPE_IOC_PERSIST_DROP));
	ASSERT_EQ(0, get_persist_info(self->fd, &i));
	EXPECT_EQ(0, i.old_size);
	reload_persist(_metadata, self, uuid[2]);
	EXPECT_TRUE(recovers_trace("", uuid[1]));
	EXPECT_FALSE(recovers_trace("--at 0", uuid[0]));
	EXPECT_FALSE(recovers_trace("--at 0x200000", uuid[0]));
	/* Also for a load in which nothing was recorded. */
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " mode=overwrite"));
	self->fd = kt_open(O_RDWR);
	EXPECT_TRUE(recovers_trace("", uuid[2]));
	EXPECT_EQ(0, kt_control(self->fd, KTAPE_IOC_PERSIST_DROP));
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION));
	self->fd = kt_open(O_RDWR);
	ASSERT_EQ(0, get_persist_info(self->fd, &i));
	EXPECT_EQ(0, i.old_size);
}

/*
 * A dropped trace is also gone from the half that a session was about to use
 * when it got no session number.
 */
TEST_F_TIMEOUT(persist, dropped_without_number, 300)
{
	struct ktape_persist_info i;
	int fd[64], n = 0;
	uint8_t uuid[16];

	/*
	 * The half to be used has the first trace, the other half the second
	 * one.
	 */
	reload_persist(_metadata, self, uuid);
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " mode=overwrite"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	while (n < 64 && (fd[n] = kt_create(self->fd, KTAPE_MODE_OVERWRITE,
					    16 * PAGE, PAGE)) >= 0)
		n++;
	ASSERT_GT(64, n);
	EXPECT_EQ(-EMFILE, fd[n]);
	EXPECT_EQ(-EMFILE, kt_create(self->fd, KTAPE_MODE_PERSISTENT, 0, 0));
	while (n--)
		close(fd[n]);
	EXPECT_EQ(0, kt_control(self->fd, KTAPE_IOC_PERSIST_DROP));
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " mode=overwrite"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, get_persist_info(self->fd, &i));
	EXPECT_EQ(0, i.old_size);
}

/*
 * While the system hibernates, other software may use the memory, so a persistent session
 * prevents it (EBUSY), and nothing else does.
 */
TEST_F_TIMEOUT(persist, hibernation, 300)
{
	int own;

	if (kt_write_text("/sys/power/pm_test", "freezer") ||
	    !prints("cat /sys/power/state", "disk"))
		SKIP(return, "the kernel has no test mode for it");
	klog_from_here();
	EXPECT_EQ(-EBUSY, kt_write_text("/sys/power/state", "disk"));
	EXPECT_TRUE(klog_has("a persistent session exists"));
	close(self->fd);
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(REGION " persist_drop=1 mode=overwrite"));
	self->fd = kt_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(0, kt_write_text("/sys/power/state", "disk"));
	/* Afterwards a session can be created. */
	own = kt_create(self->fd, KTAPE_MODE_PERSISTENT, 0, 0);
	EXPECT_LE(0, own);
	EXPECT_EQ(-EBUSY, kt_write_text("/sys/power/state", "disk"));
	if (own >= 0)
		close(own);
	EXPECT_EQ(0, kt_write_text("/sys/power/pm_test", "none"));
}

static int drop_rights(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};

	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

/*
 * A descriptor passed to another process gives no access to traces of earlier
 * loads.
 */
TEST_F_TIMEOUT(persist, passed_on_descriptor, 300)
{
	struct ktape_persist_info i;
	uint8_t uuid[16];
	char page[PAGE];
	pid_t pid;
	int status;

	reload_persist(_metadata, self, uuid);
	ASSERT_EQ(PAGE, read_old(self->fd, 0, page, PAGE));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		bool right = !drop_rights() && !get_persist_info(self->fd, &i) &&
			     read_old(self->fd, 0, page, PAGE) == -EPERM &&
			     kt_control(self->fd, KTAPE_IOC_PERSIST_DROP) == -EPERM;

		_exit(!right);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(PAGE, read_old(self->fd, 0, page, PAGE));
}

FIXTURE(refused){};

FIXTURE_SETUP(refused)
{
}

FIXTURE_TEARDOWN(refused)
{
}

/* Impossible parameters are refused, and the log says why. */
TEST_F_TIMEOUT(refused, all, 300)
{
	static const struct {
		const char *parameters, *why;
	} v[] = {
		{ PERSIST(RAM_AT) ",64K", "the kernel uses this memory" },
#if REGION_AT == 0x18000000 /* memory on all sides */
		{ "persist=0,4M", "the kernel uses this memory" },
		{ "persist=0x17fff000,4M", "the kernel uses this memory" },
		{ "persist=0x18001000,4M", "the kernel uses this memory" },
#endif
		{ "persist=0x18000001,1M", "whole pages" },
		{ PERSIST(REGION_AT) ",1000", "whole pages" },
		{ PERSIST(REGION_AT) ",0", "whole pages" },
		{ PERSIST(REGION_AT), "not ADDRESS,SIZE" },
		{ PERSIST(REGION_AT) ",", "not ADDRESS,SIZE" },
		{ REGION ",", "not ADDRESS,SIZE" },
		{ "persist=0xffffffffffffc000,64K", "beyond the last address" },
		{ "persist=nobody", "no reserved memory of this name" },
		{ PERSIST(REGION_AT) ",8K", "the memory is too small" },
		{ PERSIST(REGION_AT) ",64K", "session 0 cannot be created with" },
		{ "mode=persistent", "session 0 cannot be created with" },
	};
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		EXPECT_NE(0, load_ktape(v[i].parameters));
		EXPECT_TRUE(klog_has(v[i].why))
		{
			TH_LOG("%s: no \"%s\" in the log", v[i].parameters,
			       v[i].why);
		}
	}
	/* The refused attempts leave nothing behind. */
	ASSERT_EQ(0, load_ktape(REGION));
	ASSERT_EQ(0, unload_ktape());
	ASSERT_EQ(0, load_ktape(""));
	fd = kt_open(O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENODEV, kt_create(fd, KTAPE_MODE_PERSISTENT, 0, 0));
	close(fd);
	ASSERT_EQ(0, unload_ktape());
}

TEST_HARNESS_MAIN
