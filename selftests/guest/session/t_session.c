// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test sessions with names: who can find them, how long they live, what a
 * destroyed session still gives to its open descriptors, and creation and
 * destruction under load.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_pass.h"
#include "kt_ring.h"
#include "kt_session.h"

#define RING   65536
#define BLOCK  4096
#define LINGER KTAPE_CREATE_LINGER
#define FDS    64 /* more descriptors than a test opens */

FIXTURE(session)
{
	int main;
};

FIXTURE_SETUP(session)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
}

FIXTURE_TEARDOWN(session)
{
	struct ktape_session_info all[8];
	int nr = kt_list_sessions(self->main, all);

	for (int i = 0; i < nr; i++)
		if (all[i].name[0])
			kt_destroy(self->main, all[i].name);
	/* A destroyed session exists as long as a descriptor is open. */
	for (int fd = self->main + 1; fd < FDS; fd++)
		close(fd);
	EXPECT_EQ(1, kt_list_sessions(self->main, all));
	close(self->main);
}

TEST_F(session, names)
{
	static const char *const good[] = { "a", "_", "Z9_.-", "x.y",
					    "abcdefghijklmnopqrstuvwxyz01234" };
	static const char *const bad[] = { "1",	  "-a",	 ".a",	     "a b",
					   "a/b", "a\n", "\xc3\xa4", "a\xff" };
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = RING,
				  .flags = LINGER };
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		fd = kt_named(self->main, good[i], 0, RING, BLOCK, 0);
		ASSERT_LE(0, fd)
		{
			TH_LOG("%s: %d", good[i], fd);
		}
		EXPECT_EQ(-EEXIST, kt_named(self->main, good[i], 0, RING, BLOCK, 0));
		close(fd);
		EXPECT_EQ(-ENOENT, kt_attach(self->main, good[i], 0));
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, kt_named(self->main, bad[i], 0, RING, BLOCK, 0));
		EXPECT_EQ(-EINVAL, kt_attach(self->main, bad[i], 0));
		EXPECT_EQ(-EINVAL, kt_destroy(self->main, bad[i]));
	}
	/*
	 * A name without a NUL, with bytes behind its NUL, and a lingering
	 * session without a name.
	 */
	memset(c.name, 'a', sizeof(c.name));
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_CREATE, &c));
	memset(c.name, 0, sizeof(c.name));
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_CREATE, &c));
	c.name[0] = 'a';
	c.name[9] = 'b';
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_CREATE, &c));
	/* Members that the kernel only writes. */
	c.name[9] = 0;
	c.failed_had = 1;
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_CREATE, &c));
}

/* The structure of the version without names: 40 bytes, behind which nothing is written. */
TEST_F(session, old_size)
{
	struct ktape_create c = { .size = 40, .ring_size = kt_ring_max() };
	int fd;

	memset(c.name, 'x', sizeof(c.name));
	EXPECT_EQ(-ENOMEM, kt_ioctl(self->main, KTAPE_IOC_CREATE, &c));
	EXPECT_EQ('x', c.name[0]);
	c.ring_size = RING;
	fd = kt_ioctl(self->main, KTAPE_IOC_CREATE, &c);
	EXPECT_LE(0, fd);
	close(fd);
}

/* A session that asks for too much is refused as a whole (CPU -1), and told what it could have. */
TEST_F(session, no_memory)
{
	struct ktape_create c = { .size = sizeof(c), .ring_size = kt_ring_max() };

	EXPECT_EQ(-ENOMEM, kt_ioctl(self->main, KTAPE_IOC_CREATE, &c));
	EXPECT_EQ(-1, c.failed_cpu);
	EXPECT_LE(kt_online_cpus() * kt_ring_max(), c.failed_asked);
	EXPECT_LT(0, c.failed_had);
	EXPECT_LE(c.failed_had, (uint64_t)kt_meminfo("MemTotal") * 512);
}

/*
 * The default size of a control ring: in mode discard an eighth of the event ring, which
 * the names of a burst of new tasks do not fill.
 */
TEST_F(session, control_size)
{
	static const struct {
		uint32_t mode;
		uint64_t ring, block, control;
	} sizes[] = {
		{ KTAPE_MODE_DISCARD, 65536, 0, 65536 },
		{ KTAPE_MODE_DISCARD, 0, 0, 1 << 17 },
		{ KTAPE_MODE_DISCARD, 3 << 20, 0, 1 << 19 },
		{ KTAPE_MODE_DISCARD, 8 << 20, 0, 1 << 20 },
		/* The event ring has four blocks of a MiB at least. */
		{ KTAPE_MODE_DISCARD, 65536, 1 << 20, 1 << 19 },
		{ KTAPE_MODE_OVERWRITE, 8 << 20, 0, 65536 },
		{ KTAPE_MODE_SNAPSHOT, 8 << 20, 0, 65536 },
	};
	struct ktape_session_info i;

	for (unsigned int n = 0; n < ARRAY_SIZE(sizes); n++) {
		int fd = kt_named(self->main, "control", sizes[n].mode,
				  sizes[n].ring, sizes[n].block, 0);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, kt_session_info(self->main, "control", &i));
		EXPECT_EQ(sizes[n].control, i.control_size);
		close(fd);
	}
}

TEST_F(session, list)
{
	struct ktape_session_info all[8], i;
	struct ktape_session_list l = { .size = sizeof(l), .nr = 1 };
	int a = kt_named(self->main, "a", KTAPE_MODE_DISCARD, 100000, 5000, 0);
	int b = kt_named(self->main, "b", KTAPE_MODE_SNAPSHOT, RING, BLOCK, LINGER);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(3, kt_list_sessions(self->main, all));
	EXPECT_EQ(0, all[0].id);
	EXPECT_EQ(KTAPE_SESSION_RUNNING, all[0].flags);
	EXPECT_STREQ("", all[0].name);
	ASSERT_EQ(0, kt_session_info(self->main, "a", &i));
	EXPECT_EQ(KTAPE_MODE_DISCARD, i.mode);
	EXPECT_EQ(0, i.flags);
	EXPECT_EQ(getuid(), i.uid);
	EXPECT_EQ(1, i.files);
	EXPECT_EQ(131072, i.ring_size);
	EXPECT_EQ(8192, i.block_size);
	ASSERT_EQ(0, kt_session_info(self->main, "b", &i));
	EXPECT_EQ(KTAPE_SESSION_LINGERS, i.flags);
	EXPECT_EQ(0, i.frozen);
	close(b);
	ASSERT_EQ(0, kt_session_info(self->main, "b", &i));
	EXPECT_EQ(0, i.files);
	close(a);
	EXPECT_EQ(-ENOENT, kt_session_info(self->main, "a", &i));
	/* Room for one entry of two; entries that are too small or too large. */
	l.entry_size = sizeof(i);
	l.entries = (uintptr_t)all;
	memset(all, 0x5a, sizeof(all));
	EXPECT_EQ(0, kt_ioctl(self->main, KTAPE_IOC_SESSIONS, &l));
	EXPECT_EQ(2, l.nr);
	EXPECT_EQ(0x5a5a5a5a, all[1].id);
	/* A program that was built before the entries grew. */
	l.nr = 1;
	l.entry_size = KTAPE_SESSION_INFO_FIRST;
	all[0].left_ms = 0x5a5a5a5a;
	EXPECT_EQ(0, kt_ioctl(self->main, KTAPE_IOC_SESSIONS, &l));
	EXPECT_EQ(0x5a5a5a5a, all[0].left_ms);
	l.nr = 1;
	l.entry_size = KTAPE_SESSION_INFO_FIRST - 1;
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_SESSIONS, &l));
	l.entry_size = 8192;
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_SESSIONS, &l));
	/* The kernel zeroes what it does not know of an entry: here it lies in all[1]. */
	l.entry_size = sizeof(all[0]) + 8;
	EXPECT_EQ(0, kt_ioctl(self->main, KTAPE_IOC_SESSIONS, &l));
	EXPECT_EQ(0, all[1].id);
	EXPECT_EQ(0, all[1].mode);
}

/*
 * Open by name and by number: the new descriptor has only the rights that were
 * asked for.
 */
TEST_F(session, attach)
{
	struct ktape_layout l, m;
	int a = kt_named(self->main, "a", 0, RING, BLOCK, 0), b, c, ro;

	ASSERT_LE(0, a);
	b = kt_attach(self->main, "a", 0);
	ASSERT_LE(0, b);
	EXPECT_EQ(FD_CLOEXEC, fcntl(b, F_GETFD));
	EXPECT_EQ(O_RDWR, fcntl(b, F_GETFL) & O_ACCMODE);
	ASSERT_EQ(0, kt_layout(a, &l, NULL, 0));
	ASSERT_EQ(0, kt_layout(b, &m, NULL, 0));
	EXPECT_EQ(l.session, m.session);
	c = kt_attach_id(self->main, l.session);
	ASSERT_LE(0, c);
	EXPECT_EQ(0, kt_control(c, KTAPE_IOC_START));
	close(c);
	c = kt_attach(self->main, "a", KTAPE_OPEN_READONLY);
	ASSERT_LE(0, c);
	EXPECT_EQ(-EPERM, kt_control(c, KTAPE_IOC_STOP));
	/* A read-only descriptor can open read-only descriptors only. */
	ro = kt_open(O_RDONLY);
	b = kt_attach(ro, "a", 0);
	ASSERT_LE(0, b);
	EXPECT_EQ(O_RDONLY, fcntl(b, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(-EPERM, kt_control(b, KTAPE_IOC_STOP));
	EXPECT_EQ(-EPERM, kt_destroy(ro, "a"));
	EXPECT_EQ(-EPERM, kt_named(ro, "b", 0, RING, BLOCK, 0));
	EXPECT_EQ(-ENOENT, kt_attach(ro, "b", 0));
	EXPECT_EQ(-ENOENT, kt_attach_id(ro, 7));
	EXPECT_EQ(-ENOENT, kt_attach_id(ro, 8));
	EXPECT_EQ(-ENOENT, kt_attach_id(ro, ~0U - 1));
	/* The session lives until its last descriptor is closed. */
	close(a);
	EXPECT_EQ(0, kt_layout(c, &l, NULL, 0));
	EXPECT_EQ(1, l.running);
}

/* A process without rights cannot open a session (EPERM), though it has inherited a descriptor. */
TEST_F(session, no_rights)
{
	int a = kt_named(self->main, "a", 0, RING, BLOCK, 0), status;
	pid_t pid;

	ASSERT_LE(0, a);
	pid = fork();
	if (!pid) {
		if (setuid(12345))
			_exit(1);
		_exit(kt_attach(self->main, "a", 0) == -EPERM ? 0 : 2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(session, destroy)
{
	struct ktape_session_ref zero = { .size = sizeof(zero) };
	struct ktape_session_info all[8];
	struct ktape_layout l;
	struct kt_map m;
	uint64_t commit;
	int a = kt_named(self->main, "a", 0, RING, BLOCK, LINGER);

	ASSERT_LE(0, a);
	ASSERT_EQ(0, kt_profile_only(a, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_control(a, KTAPE_IOC_START));
	kt_getppids(1000);
	ASSERT_EQ(0, kt_destroy(self->main, "a"));
	EXPECT_EQ(-ENOENT, kt_destroy(self->main, "a"));
	EXPECT_EQ(-ENOENT, kt_attach(self->main, "a", 0));
	EXPECT_EQ(-ENODEV, kt_control(a, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_layout(a, &l, NULL, 0));
	EXPECT_EQ(0, l.running);
	/* A destroyed session's memory stays for its descriptors; its number is free. */
	EXPECT_EQ(KTAPE_SESSION_BY_NAME, l.session);
	ASSERT_EQ(0, kt_map_ring(a, 0, KTAPE_RING_EVENT, &m));
	commit = kt_load(&m.page->commit);
	kt_getppids(100);
	EXPECT_EQ(commit, kt_load(&m.page->commit));
	EXPECT_LE(0, kt_walk(&m, NULL, NULL));
	ASSERT_EQ(2, kt_list_sessions(self->main, all));
	EXPECT_EQ(KTAPE_SESSION_GONE, all[1].flags & KTAPE_SESSION_GONE);
	EXPECT_EQ(KTAPE_SESSION_BY_NAME, all[1].id);
	kt_unmap_ring(&m);
	/* The name is free at once. */
	EXPECT_LE(0, kt_named(self->main, "a", 0, RING, BLOCK, LINGER));
	close(a);
	/* Session 0 cannot be destroyed. */
	EXPECT_EQ(-EBUSY, kt_ioctl(self->main, KTAPE_IOC_DESTROY, &zero));
	zero.flags = 1;
	EXPECT_EQ(-EINVAL, kt_ioctl(self->main, KTAPE_IOC_DESTROY, &zero));
}

/* A lingering session keeps recording after its creator was killed. */
TEST_F(session, outlives_its_creator)
{
	struct ktape_stats before, after;
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		fd = kt_named(self->main, "a", 0, RING, BLOCK, LINGER);
		if (fd < 0 || kt_named(self->main, "b", 0, RING, BLOCK, 0) < 0)
			_exit(1);
		if (kt_profile_only(fd, KT_OPS(KTAPE_EV_SYS_ENTER)) ||
		    kt_control(fd, KTAPE_IOC_START))
			_exit(2);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(SIGKILL, status);
	EXPECT_EQ(-ENOENT, kt_attach(self->main, "b", 0));
	fd = kt_attach(self->main, "a", 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_stats(fd, 0, KTAPE_RING_EVENT, &before));
	kt_getppids(100);
	ASSERT_EQ(0, kt_stats(fd, 0, KTAPE_RING_EVENT, &after));
	EXPECT_LE(100, kt_sum(after.emitted) - kt_sum(before.emitted));
	close(fd);
}

/* ---- under load --------------------------------------------------------- */

#define CPUS_MAX 16
#define MAKERS	 3

/* Thread number @number, which makes and destroys sessions; @failed: result of its last round. */
struct maker {
	pthread_t thread;
	int main, number, rounds, failed;
};

/*
 * Make a session, record, destroy it, read it. Return: 0, a negative errno, or what failed: 1 the
 * recording, 2 reading, 3 the counts, 4 the stream.
 */
static int make_and_read_session(const struct maker *m, int round)
{
	uint32_t mode = (m->number + round) % 3;
	struct kt_ledger *l;
	struct kt_buf b = {};
	char name[16];
	int fd, other, ret = 1;

	snprintf(name, sizeof(name), "maker%d", m->number);
	fd = kt_named(m->main, name, mode, RING, BLOCK, LINGER);
	if (fd < 0)
		return fd;
	if (kt_profile_only(fd, KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT,
				       KTAPE_EV_SCHED_SWITCH)) ||
	    kt_control(fd, KTAPE_IOC_START))
		goto out;
	usleep(round % 4 * 2000);
	other = kt_attach(m->main, name, KTAPE_OPEN_READONLY);
	if (other < 0)
		goto out;
	ret = kt_destroy(m->main, name);
	/* Read the session; the counts add up unless events were overwritten. */
	l = kt_ledger_new();
	if (!ret && kt_read_and_parse_all(&l->t, &b, other))
		ret = 2;
	if (!ret && mode && kt_ledger_check(l, other, kt_online_cpus()) < 0)
		ret = 3;
	if (!ret && l->t.error[0]) {
		printf("# %s, mode %u: %s\n", name, mode, l->t.error);
		ret = 4;
	}
	kt_buf_free(&b);
	free(l);
	close(other);
out:
	kt_destroy(m->main, name);
	close(fd);
	return ret;
}

static void *maker_main(void *arg)
{
	struct maker *m = arg;

	for (int i = 0; i < m->rounds && !m->failed; i++)
		m->failed = make_and_read_session(m, i);
	return NULL;
}

static void call_with_pauses(uint64_t n)
{
	syscall(SYS_getppid);
	if (n % 64)
		return;
	sched_yield();
	kt_pause();
}

/*
 * Several threads create, destroy, open and read sessions while all CPUs
 * record.
 */
TEST_F_TIMEOUT(session, create_and_destroy_under_load, 240)
{
	struct kt_load load[CPUS_MAX] = {};
	struct maker m[MAKERS] = {};
	int cpus = kt_online_cpus();

	ASSERT_EQ(0, kt_loads_start(load, cpus, 0, call_with_pauses));
	for (int i = 0; i < MAKERS; i++) {
		m[i] = (struct maker){ .main = self->main,
				       .number = i,
				       .rounds = 24 / kt_scale() + 2 };
		ASSERT_EQ(0, pthread_create(&m[i].thread, NULL, maker_main, &m[i]));
	}
	for (int i = 0; i < MAKERS; i++) {
		pthread_join(m[i].thread, NULL);
		EXPECT_EQ(0, m[i].failed);
	}
	kt_loads_stop(load, cpus);
}

/* ---- references ------------------------------------------------- */

/*
 * A descriptor in a socket's queue keeps the session after its creator has
 * died.
 */
TEST_F(session, passed_on)
{
	int pair[2], fd, status;
	struct ktape_layout l;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		fd = kt_named(self->main, "p", 0, RING, BLOCK, 0);
		if (fd < 0 || kt_control(fd, KTAPE_IOC_START) ||
		    kt_send_fd(pair[1], fd))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(SIGKILL, status);
	fd = kt_attach(self->main, "p", KTAPE_OPEN_READONLY);
	EXPECT_LE(0, fd);
	close(fd);
	fd = kt_receive_fd(pair[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_layout(fd, &l, NULL, 0));
	EXPECT_EQ(1, l.running);
	close(fd);
	EXPECT_EQ(-ENOENT, kt_attach(self->main, "p", 0));
	close(pair[0]);
	close(pair[1]);
}

/*
 * A forked child has the descriptor but not the mapping; an executed program
 * has neither.
 */
TEST_F(session, fork_and_exec)
{
	int fd = kt_named(self->main, "f", 0, RING, BLOCK, 0), status, go[2];
	struct kt_map m;
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		char byte;

		if (!mincore(m.page, 4096, (void *)&byte))
			_exit(1);
		close(go[1]);
		if (read(go[0], &byte, 1) != 0 || kt_control(fd, KTAPE_IOC_START))
			_exit(2);
		execl("/bin/busybox", "sh", "-c",
		      "for f in /proc/self/fd/*; do readlink $f; done | grep -q ktape && exit 3; exit 0",
		      NULL);
		_exit(4);
	}
	kt_unmap_ring(&m);
	close(fd);
	/* Only the child keeps the session, until it calls execve(). */
	fd = kt_attach(self->main, "f", KTAPE_OPEN_READONLY);
	EXPECT_LE(0, fd);
	close(fd);
	close(go[0]);
	close(go[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(-ENOENT, kt_attach(self->main, "f", 0));
}

TEST_HARNESS_MAIN
