// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user without capabilities who may read (the member) keeps descriptors of sessions: plain,
 * mapped, dup'ed, in flight between sockets, asleep in read() and poll().  An ended
 * session gives back its number at once, and its rings when its time (KTAPE_GRACE_MS) is
 * over or another session needs them.  Then its readers get ESTALE, and a bus error from a
 * mapping.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_member.h"
#include "kt_pass.h"
#include "kt_ring.h"

#define ROUNDS	 20
#define SESSIONS 8
#define SMALL	 (64 << 10)
#define WAIT_S	 60 /* for what takes KTAPE_GRACE_MS */

FIXTURE(keep)
{
	int root, member;
};

FIXTURE_SETUP(keep)
{
	ASSERT_EQ(0, kt_member_load("size=64K"));
	self->root = kt_open(O_RDWR);
	ASSERT_LE(0, self->root);
	self->member = kt_member_open(KT_MEMBER);
	ASSERT_LE(0, self->member);
}

FIXTURE_TEARDOWN(keep)
{
	close(self->root);
	close(self->member);
	EXPECT_EQ(0, kt_rmmod_ktape());
}

/*
 * Bytes for each CPU, so that the rings of three sessions fit, and of six do not: all rings may
 * take half of the memory, those of one session take between a twelfth and a sixth.
 */
static uint64_t large_ring(int cpus)
{
	struct sysinfo info;
	uint64_t bytes = 1 << 20;

	sysinfo(&info);
	while (bytes * 2 * cpus <= (uint64_t)info.totalram / 6)
		bytes *= 2;
	return bytes;
}

/* Make a session that records events of this program.  Return: its descriptor or -errno. */
static int record_own_calls(int root, const char *name, uint64_t ring, uint32_t flags)
{
	int fd = kt_named(root, name, KTAPE_MODE_OVERWRITE, ring, 4096, flags);

	if (fd < 0)
		return fd;
	if (kt_profile_only(fd, KT_OPS(KTAPE_EV_SYS_ENTER)) ||
	    kt_control(fd, KTAPE_IOC_START))
		return -EIO;
	kt_getppids(100);
	return fd;
}

/*
 * Return the number of sessions that have ended and have their rings, or a negative errno:
 * -EINVAL if one that has ended has a number, or one that has not has none.
 */
static int count_ended(int fd)
{
	struct ktape_session_info all[64];
	struct ktape_session_list l = { .size = sizeof(l),
					.nr = 64,
					.entry_size = sizeof(*all),
					.entries = (uintptr_t)all };
	int ret = kt_ioctl(fd, KTAPE_IOC_SESSIONS, &l), n = 0;

	for (unsigned int i = 0; !ret && i < l.nr; i++) {
		n += !!(all[i].flags & KTAPE_SESSION_GONE);
		if (!(all[i].flags & KTAPE_SESSION_GONE) != (all[i].id < SESSIONS))
			return -EINVAL;
	}
	return ret ? ret : n;
}

/* Wait until at most @want sessions that have ended have their rings.  Return: their number. */
static int wait_for_ended(int fd, int want)
{
	int n = count_ended(fd);

	for (int i = 0; i < WAIT_S * 20 * kt_scale() && n > want; i++) {
		usleep(50000);
		n = count_ended(fd);
	}
	return n;
}

static sigjmp_buf bus;

static void end_access_on_bus(int sig)
{
	siglongjmp(bus, 1);
}

/* Return true if an access to the mapping is a bus error. */
static bool is_taken(const struct kt_map *m)
{
	struct sigaction a = { .sa_handler = end_access_on_bus }, before;
	volatile bool taken = false;

	sigaction(SIGBUS, &a, &before);
	if (sigsetjmp(bus, 1))
		taken = true;
	else
		kt_load(&m->page->commit);
	sigaction(SIGBUS, &before, NULL);
	return taken;
}

/* ---- ways to keep a session -------------------------------------------------- */

/**
 * struct kept - what the member has of a session
 * @fd: descriptor
 * @twin: a second descriptor of the same file, or -1
 * @socket: socket with a third one in flight, or -1
 * @sleeper: process that is asleep in read() or poll() on it, or 0
 * @map: mapping of a ring; page is NULL: none
 */
struct kept {
	int fd, twin, socket[2];
	pid_t sleeper;
	struct kt_map map;
};

/*
 * Start a process that reads or polls until the session has ended, and then stays.  Return: the
 * process, once it has no other descriptor, or a negative number.
 */
static pid_t sleep_on(int fd, bool polls)
{
	struct pollfd p = { .fd = 0, .events = POLLPRI };
	static char buf[65536];
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		return -errno;
	pid = fork();
	if (pid) {
		close(ready[1]);
		while (read(ready[0], buf, 1) > 0)
			;
		close(ready[0]);
		return pid;
	}
	/* Neither root's descriptor of the session nor the pipe. */
	dup2(fd, 0);
	close_range(1, ~0U, 0);
	kt_nonblock(0, false);
	if (polls)
		poll(&p, 1, -1);
	else
		while (read(0, buf, sizeof(buf)) > 0)
			;
	for (;;)
		pause();
}

/*
 * Keep a session in one of 5 ways: by a descriptor, a mapping, two descriptors of which one
 * is in flight, a process that polls, or one that reads.
 * Return: 0 or a negative errno.
 */
static int keep_session(int dev, const char *name, int way, struct kept *k)
{
	int ret = 0;

	*k = (struct kept){ .fd = kt_member_attach(dev, name),
			    .twin = -1,
			    .socket = { -1, -1 } };
	if (k->fd < 0)
		return k->fd;
	if (way % 5 == 1)
		ret = kt_map_ring(k->fd, 0, KTAPE_RING_EVENT, &k->map);
	if (way % 5 == 1 && !ret)
		for (size_t i = 0; i < k->map.size; i += 4096)
			(void)*(volatile char *)((char *)k->map.page + i);
	if (way % 5 == 2) {
		k->twin = dup(k->fd);
		ret = socketpair(AF_UNIX, SOCK_DGRAM, 0, k->socket) ?
			      -errno :
			      kt_send_fd(k->socket[0], k->fd);
		close(k->fd);
		k->fd = -1;
	}
	if (way % 5 > 2)
		k->sleeper = sleep_on(k->fd, way % 5 == 3);
	return ret;
}

static void drop(struct kept *k)
{
	if (k->map.page)
		kt_unmap_ring(&k->map);
	if (k->sleeper > 0) {
		kill(k->sleeper, SIGKILL);
		waitpid(k->sleeper, NULL, 0);
	}
	if (k->fd >= 0)
		close(k->fd);
	if (k->twin >= 0)
		close(k->twin);
	for (int i = 0; i < 2; i++)
		if (k->socket[i] >= 0)
			close(k->socket[i]);
}

/* ---- tests --------------------------------------------------------------------- */

/*
 * Root records 20 times, with rings so large that those of a few sessions fit into the
 * memory, and the member keeps each session.  No CREATE fails, and all memory is back
 * although the member still holds on.
 */
TEST_F_TIMEOUT(keep, all_ways, 300)
{
	uint64_t ring = large_ring(kt_online_cpus());
	struct kept kept[ROUNDS];
	long before, after;
	char name[16];
	int fd;

	before = kt_free_kib();
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof(name), "keep%d", i);
		fd = record_own_calls(self->root, name, ring, 0);
		ASSERT_LE(0, fd)
		{
			TH_LOG("session %d: %d", i, fd);
		}
		ASSERT_EQ(0, keep_session(self->member, name, i, &kept[i]));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
		close(fd);
		EXPECT_EQ(-ENOENT, kt_attach(self->member, name, 0));
	}
	/* Sessions whose memory was needed have lost their rings; the last ones, at most 5, keep them. */
	EXPECT_GE(5, count_ended(self->root));
	EXPECT_EQ(0, wait_for_ended(self->root, 0));
	after = kt_free_kib();
	/* Descriptors, processes, page tables. */
	EXPECT_GT((long)(ring * kt_online_cpus() / 1024 / 4), before - after)
	{
		TH_LOG("%ld KiB were free before, %ld now", before, after);
	}
	for (int i = 0; i < ROUNDS; i++) {
		if (kept[i].map.page)
			EXPECT_EQ(true, is_taken(&kept[i].map));
		drop(&kept[i]);
	}
}

/* Numbers are free at once, without any wait, also of sessions that are destroyed. */
TEST_F_TIMEOUT(keep, numbers, 120)
{
	struct kept kept[ROUNDS];
	int fd, all_of[SESSIONS];

	for (int i = 0; i < ROUNDS; i++) {
		fd = record_own_calls(self->root, "again", SMALL,
				      i % 2 ? KTAPE_CREATE_LINGER : 0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, keep_session(self->member, "again", i, &kept[i]));
		close(fd);
		if (i % 2)
			ASSERT_EQ(0, kt_destroy(self->root, "again"));
		EXPECT_EQ(-ENOENT, kt_attach(self->root, "again", 0));
	}
	EXPECT_EQ(0, wait_for_ended(self->root, 0));
	for (int i = 0; i < ROUNDS; i++)
		drop(&kept[i]);
	/* All seven numbers are there. */
	for (int i = 1; i < SESSIONS; i++) {
		all_of[i] = record_own_calls(self->root, "", SMALL, 0);
		EXPECT_LE(0, all_of[i]);
	}
	EXPECT_EQ(-EMFILE, record_own_calls(self->root, "", SMALL, 0));
	for (int i = 1; i < SESSIONS; i++)
		close(all_of[i]);
}

/* What a reader gets before and after the rings are taken away. */
TEST_F_TIMEOUT(keep, reader, 120)
{
	int fd = record_own_calls(self->root, "read", SMALL, 0), late, done;
	struct ktape_session_info info[8];
	struct ktape_reader_info reader;
	struct pollfd p = {};
	struct ktape_layout l;
	struct ktape_stats st;
	struct kt_map m, none;
	struct kt_buf b = {};
	char byte;

	ASSERT_LE(0, fd);
	late = kt_member_attach(self->member, "read");
	done = kt_member_attach(self->member, "read");
	ASSERT_LE(0, late);
	ASSERT_LE(0, done);
	ASSERT_EQ(0, kt_map_ring(late, 0, KTAPE_RING_EVENT, &m));
	EXPECT_EQ(1, read(late, &byte, 1));
	close(fd);
	/* The end: everything can be read, and a time runs. */
	ASSERT_EQ(2, kt_list_sessions(self->root, info));
	EXPECT_EQ(KTAPE_SESSION_BY_NAME, info[1].id);
	EXPECT_EQ(KTAPE_SESSION_GONE, info[1].flags);
	EXPECT_LT(0, info[1].left_ms);
	EXPECT_GE(KTAPE_GRACE_MS, info[1].left_ms);
	ASSERT_EQ(0, kt_layout(late, &l, NULL, 0));
	EXPECT_EQ(KTAPE_SESSION_BY_NAME, l.session);
	EXPECT_EQ(0, l.running);
	EXPECT_EQ(0, kt_slurp(&b, done, 65536));
	EXPECT_LT(100 * 8, b.len);
	EXPECT_EQ(false, is_taken(&m));
	EXPECT_EQ(0, kt_stats(late, 0, KTAPE_RING_EVENT, &st));

	EXPECT_EQ(0, wait_for_ended(self->root, 0));
	/* The rest of the packet that read() has begun, then the error. */
	while (read(late, &byte, 1) == 1)
		;
	EXPECT_EQ(ESTALE, errno);
	EXPECT_EQ(-1, read(late, &byte, 1));
	EXPECT_EQ(ESTALE, errno);
	p.fd = late;
	p.events = POLLIN;
	EXPECT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLIN | POLLHUP | POLLERR, p.revents);
	EXPECT_EQ(true, is_taken(&m));
	EXPECT_EQ(-ESTALE, kt_stats(late, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(-ESTALE, kt_reader_info(late, 0, 0, &reader));
	EXPECT_EQ(-ENOENT, kt_map_ring(late, 0, KTAPE_RING_EVENT, &none));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, late, 0));
	EXPECT_EQ(ESTALE, errno);
	/* A descriptor that has read everything is at the end, until it seeks back. */
	EXPECT_EQ(0, read(done, &byte, 1));
	EXPECT_EQ(0, lseek(done, 0, SEEK_SET));
	EXPECT_EQ(-1, read(done, &byte, 1));
	EXPECT_EQ(ESTALE, errno);
	kt_unmap_ring(&m);
	kt_buf_free(&b);
	close(late);
	close(done);
}

/*
 * A descriptor that may control its session keeps the rings of one that was
 * destroyed, for itself and for others, even if another session needs the memory.
 */
TEST_F_TIMEOUT(keep, with_control, 120)
{
	uint64_t ring = large_ring(kt_online_cpus());
	struct ktape_session_info info[8];
	struct kept kept;
	struct kt_map m;
	int fd = record_own_calls(self->root, "held", ring, KTAPE_CREATE_LINGER);
	int big[SESSIONS], nr = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, keep_session(self->member, "held", 1, &kept));
	ASSERT_EQ(0, kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m));
	ASSERT_EQ(0, kt_destroy(self->root, "held"));
	EXPECT_EQ(-ENODEV, kt_control(fd, KTAPE_IOC_START));
	EXPECT_EQ(-ENODEV, kt_profile_only(fd, KT_OPS(KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(2, kt_list_sessions(self->root, info));
	EXPECT_EQ(0, info[1].left_ms);
	do {
		big[nr] = record_own_calls(self->root, "", ring, 0);
	} while (big[nr] >= 0 && ++nr < SESSIONS - 1);
	EXPECT_LE(2, nr);
	EXPECT_EQ(-ENOMEM, big[nr]);
	EXPECT_EQ(false, is_taken(&m));
	EXPECT_EQ(false, is_taken(&kept.map));
	kt_unmap_ring(&m);
	close(fd);
	/* Now only the member has a descriptor, which keeps no rings. */
	big[nr] = record_own_calls(self->root, "", ring, 0);
	EXPECT_LE(0, big[nr]);
	EXPECT_EQ(true, is_taken(&kept.map));
	EXPECT_EQ(0, count_ended(self->root));
	for (int i = 0; i <= nr; i++)
		close(big[i]);
	drop(&kept);
}

/* Users without control rights have few descriptors; root is not counted. */
TEST_F_TIMEOUT(keep, quota, 60)
{
	static const int each = 64, all = 512; /* as in module/dev/quota.c */
	int fds[512], nr = 0, fd = -1, own;
	uid_t uid;

	close(self->member);
	for (uid = KT_MEMBER; nr < all; uid++) {
		for (own = 0; own < each; own++) {
			fds[nr] = kt_member_open(uid);
			ASSERT_LE(0, fds[nr])
			{
				TH_LOG("uid %u, descriptor %d: %d", uid, own,
				       fds[nr]);
			}
			nr++;
		}
		EXPECT_EQ(-EMFILE, kt_member_open(uid));
	}
	EXPECT_EQ(-EMFILE, kt_member_open(uid));
	for (int i = 0; i < 3; i++) {
		fd = kt_open(i ? O_RDONLY : O_RDWR);
		EXPECT_LE(0, fd);
		close(fd);
	}
	close(fds[0]);
	EXPECT_EQ(-EMFILE, kt_member_open(KT_MEMBER + 1));
	fds[0] = kt_member_open(KT_MEMBER);
	EXPECT_LE(0, fds[0]);
	for (int i = 0; i < nr; i++)
		close(fds[i]);
	self->member = kt_member_open(KT_MEMBER);
	EXPECT_LE(0, self->member);
}

TEST_HARNESS_MAIN
