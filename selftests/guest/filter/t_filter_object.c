// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test filters by thread: pid with threads and children, also in a child pid
 * namespace, uid, and cgroup. Each actor makes its own system call, which
 * identifies its records.
 */
#include <dirent.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/stat.h>

#include "kselftest_harness.h"

#include "kt_cue.h"

#define NOBODY	65534
#define CGROUPS "/sys/fs/cgroup"

FIXTURE(object)
{
	int fd;
	struct cue c[ACTORS];
	uint64_t n[ACTORS];
	struct kt_tally t;
};

FIXTURE_SETUP(object)
{
	self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	ASSERT_LE(0, self->fd);
	for (int a = 0; a < ACTORS; a++)
		ASSERT_EQ(0, cue_init(&self->c[a], a));
}

FIXTURE_TEARDOWN(object)
{
	close(self->fd);
}

/*
 * Stop the session, and return which actors of the set @all it has recorded. It must have all
 * calls of an actor, or none.
 */
static unsigned int recorded_objects(struct __test_metadata *_metadata,
				     FIXTURE_DATA(object) * self, unsigned int all)
{
	unsigned int got = 0;

	memset(self->n, 0, sizeof(self->n));
	kt_stop_and_tally(&self->t, self->fd, count_actor_calls, self->n);
	EXPECT_EQ(0, self->t.wrong);
	for (int a = 0; a < ACTORS; a++) {
		if (!(all & B(a)))
			continue;
		EXPECT_TRUE(self->n[a] == 0 || self->n[a] == CALLS)
		{
			TH_LOG("actor %d: %llu", a, (unsigned long long)self->n[a]);
		}
		got |= self->n[a] ? B(a) : 0;
	}
	return got;
}

/* ---- threads ------------------------------------------------------------------ */

static int renew_session(int *fd)
{
	close(*fd);
	*fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	return *fd < 0 ? *fd : 0;
}

TEST_F_TIMEOUT(object, threads, 120)
{
	const struct {
		bool by_thread;
		uint32_t flags;
		unsigned int pass;
	} vector[] = {
		{ false, 0, B(MAIN) },
		{ true, 0, B(THREAD) },
		{ false, KTAPE_PID_THREADS, B(MAIN) | B(THREAD) | B(LATE) },
		{ true, KTAPE_PID_THREADS, B(MAIN) | B(THREAD) | B(LATE) },
		{ false, KTAPE_PID_CHILDREN, B(MAIN) },
	};

	ASSERT_EQ(0, cue_thread(&self->c[THREAD]));
	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		pid_t tid = vector[i].by_thread ? self->c[THREAD].tid : getpid();

		ASSERT_EQ(0, renew_session(&self->fd));
		ASSERT_EQ(0, kt_filter_pid(self->fd, tid, vector[i].flags));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		/* A thread that is started while the filter is in force. */
		ASSERT_EQ(0, cue_thread(&self->c[LATE]));
		make_actor_calls(MAIN);
		ASSERT_EQ(0, cue_act(&self->c[THREAD]));
		ASSERT_EQ(0, cue_act(&self->c[LATE]));
		EXPECT_EQ(vector[i].pass,
			  recorded_objects(_metadata, self,
					   B(MAIN) | B(THREAD) | B(LATE)))
		{
			TH_LOG("vector %zu", i);
		}
		cue_end(&self->c[LATE]);
	}
	cue_end(&self->c[THREAD]);
}

/* ---- children ------------------------------------------------------------------ */

static int let_family_act(FIXTURE_DATA(object) * self)
{
	make_actor_calls(MAIN);
	return cue_act(&self->c[CHILD]) || cue_act(&self->c[CHILDS_THREAD]) ||
	       cue_act(&self->c[GRANDCHILD]);
}

/* Children that exist when the filter is set, and later ones. */
TEST_F_TIMEOUT(object, children, 120)
{
	const unsigned int heirs = B(CHILD) | B(CHILDS_THREAD) | B(GRANDCHILD);
	const struct {
		bool late; /* started after the filter is set */
		uint32_t flags;
		unsigned int pass;
	} vector[] = {
		{ false, 0, B(MAIN) },
		{ false, KTAPE_PID_THREADS, B(MAIN) },
		{ false, KTAPE_PID_CHILDREN, B(MAIN) | heirs },
		{ true, 0, B(MAIN) },
		{ true, KTAPE_PID_THREADS, B(MAIN) },
		{ true, KTAPE_PID_CHILDREN, B(MAIN) | heirs },
		{ true, KTAPE_PID_CHILDREN | KTAPE_PID_THREADS, B(MAIN) | heirs },
	};

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		pid_t pid = 0, tid;

		ASSERT_EQ(0, renew_session(&self->fd));
		for (int late = 0; late < 2; late++) {
			if (late == vector[i].late) {
				pid = fork_family(self->c);
				/*
				 * Wait until all are ready, which send their tids then. That
				 * of its thread the child itself has read.
				 */
				for (int a = CHILD; a < ACTORS; a++)
					if (a != CHILDS_THREAD)
						read(self->c[a].from[0], &tid,
						     sizeof(tid));
			}
			if (!late)
				ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(),
							   vector[i].flags));
		}
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		ASSERT_EQ(0, let_family_act(self));
		EXPECT_EQ(vector[i].pass,
			  recorded_objects(_metadata, self, B(MAIN) | heirs))
		{
			TH_LOG("vector %zu", i);
		}
		EXPECT_EQ(0, kt_filter_get(self->fd, KTAPE_FILTER_PID).collisions);
		for (int a = ACTORS - 1; a >= CHILD; a--)
			cue_end(&self->c[a]);
		waitpid(pid, NULL, 0);
	}
}

/* A new filter replaces the old one; one without entries lets no thread pass; after OFF all do. */
TEST_F(object, replaced)
{
	ASSERT_EQ(0, cue_thread(&self->c[THREAD]));
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), KTAPE_PID_THREADS));
	ASSERT_EQ(0, kt_filter_pid(self->fd, self->c[THREAD].tid, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	make_actor_calls(MAIN);
	ASSERT_EQ(0, cue_act(&self->c[THREAD]));
	EXPECT_EQ(B(THREAD),
		  recorded_objects(_metadata, self, B(MAIN) | B(THREAD)));
	ASSERT_EQ(0, renew_session(&self->fd));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_PID, NULL, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	make_actor_calls(MAIN);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_PID));
	ASSERT_EQ(0, cue_act(&self->c[THREAD]));
	EXPECT_EQ(B(THREAD),
		  recorded_objects(_metadata, self, B(MAIN) | B(THREAD)));
	cue_end(&self->c[THREAD]);
}

/* ---- the other thread of an event ---------------------------------------------- */

/* A signal passes if the thread that gets it does, whichever thread sends it. */
TEST_F(object, the_other_thread)
{
	uint64_t n[2] = {};
	pid_t pid;

	signal(SIGUSR1, kt_on_alarm);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SIGNAL_GENERATE)));
	ASSERT_EQ(0, kt_filter_pid(self->fd, pid, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < CALLS; i++) {
		kill(pid, SIGUSR1);
		kill(getpid(), SIGUSR1);
	}
	kt_stop_and_tally(&self->t, self->fd, count_actor_signals, n);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(CALLS, n[1]);
	EXPECT_EQ(0, n[0]);
	EXPECT_LE(CALLS, self->t.filtered[KTAPE_CLASS_SIGNAL]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Another thread of the process may set a thread's name. */
static void *rename_main_thread(void *arg)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", getpid());
	fd = open(path, O_WRONLY);
	for (int i = 0; i < CALLS; i++)
		if (write(fd, i & 1 ? "one" : "two", 3) != 3)
			break;
	close(fd);
	return NULL;
}

/* A rename passes if the renamed thread does. */
TEST_F(object, renamed_by_another_thread)
{
	pthread_t thread;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_PROCESS_RENAME)));
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, pthread_create(&thread, NULL, rename_main_thread, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	kt_stop_and_tally(&self->t, self->fd, NULL, NULL);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(CALLS, self->t.op[KTAPE_EV_PROCESS_RENAME]);
}

/* ---- a thread that is made without fork ---------------------------------------------- */

/* Records of the kernel's thread of an io_uring: switches from it, and its name. */
struct poller {
	pid_t tid;
	uint64_t switches, names;
};

static void count_poller_record(const struct kt_rec *r, struct kt_tally *t)
{
	struct poller *p = t->arg;

	if (r->op == KTAPE_EV_SCHED_SWITCH)
		p->switches += (pid_t)r->args[0] == p->tid;
	if (r->op == KTAPE_EV_REGISTRY && (pid_t)r->args[0] == p->tid)
		p->names += r->size > 7 && !memcmp(r->blob, "iou-sqp", 7);
}

/* Return the other thread of this process. */
static pid_t other_thread(void)
{
	DIR *dir = opendir("/proc/self/task");
	pid_t tid = 0;
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (atoi(d->d_name) && atoi(d->d_name) != getpid())
			tid = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return tid;
}

/* Wait until a thread has been switched out once. How long that takes is not predictable. */
static void wait_for_sleep(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	for (int i = 0; i < 3000; i++) {
		usleep(10000);
		if (kt_sum_of(path, "voluntary_ctxt_switches") > 0)
			break;
	}
	/* An event is counted slightly before its record is written. */
	usleep(10000);
}

/* The kernel's thread of an io_uring, which no fork has made, is followed like other threads. */
TEST_F(object, io_uring_thread)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SQPOLL,
					  .sq_thread_idle = 1 };
	struct poller p = {};
	int ring;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SCHED_SWITCH)));
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), KTAPE_PID_THREADS));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ring = syscall(SYS_io_uring_setup, 4, &params);
	if (ring < 0)
		SKIP(return, "no io_uring with a thread that polls");
	p.tid = other_thread();
	ASSERT_NE(0, p.tid);
	wait_for_sleep(p.tid);
	kt_stop_and_tally(&self->t, self->fd, count_poller_record, &p);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_LE(1, p.switches);
	EXPECT_LE(1, p.names);
	close(ring);
}

/* ---- name spaces ------------------------------------------------------------------ */

/*
 * In its own pid namespace the child is pid 1 and filters itself by that
 * number. This process sees it under another number while it lives.
 */
TEST_F(object, pid_namespace)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid) {
		if (getpid() != 1 || kt_filter_pid(self->fd, 1, 0) ||
		    kt_filter_pid(self->fd, 2, 0) != -ESRCH ||
		    kt_filter_tid(self->fd) != 1 ||
		    kt_control(self->fd, KTAPE_IOC_START))
			_exit(1);
		make_actor_calls(CHILD);
		run_actor(&self->c[CHILD]);
		_exit(0);
	}
	close(self->c[CHILD].from[1]);
	ASSERT_EQ(sizeof(status),
		  read(self->c[CHILD].from[0], &status, sizeof(status)));
	EXPECT_EQ(pid, kt_filter_tid(self->fd));
	cue_end(&self->c[CHILD]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	make_actor_calls(MAIN);
	EXPECT_EQ(B(CHILD), recorded_objects(_metadata, self, B(MAIN) | B(CHILD)));
	EXPECT_EQ(0, kt_filter_tid(self->fd));
}

/* A thread without a number in that namespace is returned as 0. */
TEST_F(object, pid_namespace_from_outside)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	EXPECT_EQ(getpid(), kt_filter_tid(self->fd));
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	if (!pid)
		_exit(kt_filter_tid(self->fd) != 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* ---- users ------------------------------------------------------------------------ */

/*
 * Start the session when the child is ready, and let this process and the child act.  Return:
 * the recorded actors.
 */
static unsigned int act_and_get_recorded(struct __test_metadata *_metadata,
					 FIXTURE_DATA(object) * self)
{
	pid_t tid;

	ASSERT_EQ(sizeof(tid), read(self->c[CHILD].from[0], &tid, sizeof(tid)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	make_actor_calls(MAIN);
	ASSERT_EQ(0, cue_act(&self->c[CHILD]));
	return recorded_objects(_metadata, self, B(MAIN) | B(CHILD));
}

TEST_F_TIMEOUT(object, uid, 120)
{
	const struct {
		uint32_t uids[2], nr;
		bool self, main, child;
	} vector[] = {
		{ { 0 }, 1, false, true, false },
		{ { NOBODY }, 1, false, false, true },
		{ { NOBODY, 0 }, 2, false, true, true },
		{ { 4711 }, 1, false, false, false },
		/* A thread must pass both filters. */
		{ { 0 }, 1, true, true, false },
		{ { NOBODY }, 1, true, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		pid_t pid;

		ASSERT_EQ(0, renew_session(&self->fd));
		ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_UID,
					   vector[i].uids, vector[i].nr));
		if (vector[i].self)
			ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
		pid = fork();
		if (!pid) {
			if (setuid(NOBODY))
				_exit(1);
			run_actor(&self->c[CHILD]);
			_exit(0);
		}
		EXPECT_EQ((vector[i].main ? B(MAIN) : 0) |
				  (vector[i].child ? B(CHILD) : 0),
			  act_and_get_recorded(_metadata, self))
		{
			TH_LOG("vector %zu", i);
		}
		cue_end(&self->c[CHILD]);
		waitpid(pid, NULL, 0);
	}
}

/* ---- control groups --------------------------------------------------------------- */

static int enter_cgroup(const char *path)
{
	char file[128];
	int fd, ret;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	ret = fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
	close(fd);
	return ret;
}

/*
 * Threads in the cgroup or in one below it pass, those in another one do not. GET returns the
 * cgroup's id.
 */
TEST_F_TIMEOUT(object, cgroup, 120)
{
	const char *path[] = { CGROUPS "/kt_one", CGROUPS "/kt_one/below",
			       CGROUPS "/kt_two" };
	int32_t cgroup = -1, tmp = open("/tmp", O_RDONLY | O_DIRECTORY);
	uint64_t id = 0;
	struct ktape_filter f = { .kind = KTAPE_FILTER_CGROUP,
				  .nr = 1,
				  .entries = (uintptr_t)&id };
	struct stat st;

	EXPECT_EQ(-EBADF, kt_filter_set(self->fd, KTAPE_FILTER_CGROUP, &tmp, 1));
	close(tmp);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, mkdir(path[i], 0700));
	for (int i = 0; i < 3; i++) {
		pid_t pid;

		ASSERT_EQ(0, renew_session(&self->fd));
		cgroup = open(path[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CGROUP,
					   &cgroup, 1));
		ASSERT_EQ(0, fstat(cgroup, &st));
		close(cgroup);
		pid = fork();
		if (!pid) {
			if (!enter_cgroup(path[i]))
				run_actor(&self->c[CHILD]);
			_exit(0);
		}
		EXPECT_EQ(i < 2 ? B(CHILD) : 0,
			  act_and_get_recorded(_metadata, self));
		ASSERT_EQ(0, kt_filter(self->fd, &f));
		EXPECT_EQ(st.st_ino, id);
		/* The kernel has written these; a command must have them as 0. */
		f.active = f.generation = 0;
		cue_end(&self->c[CHILD]);
		waitpid(pid, NULL, 0);
	}
	for (int i = 2; i >= 0; i--)
		EXPECT_EQ(0, rmdir(path[i]));
}

TEST_HARNESS_MAIN
