// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU finds out once a switch whether the thread that runs passes the thread
 * filters, and keeps the result: the match.  Change what the match depends on while the
 * thread runs on another CPU, without a switch in between.  The thread makes one call
 * while it passes and another one while it does not, so the trace shows a wrong match.
 */
#include <sys/stat.h>

#include "kselftest_harness.h"

#include "kt_worker.h"

#define ROUNDS (300 / kt_scale())
#define NOBODY 65534
#define CGROUP "/sys/fs/cgroup/kt_match"

FIXTURE(match)
{
	int fd;
	struct worker w;
	struct kt_tally t;
};

FIXTURE_VARIANT(match)
{
	unsigned char ops[3];
};

/* clang-format off */
FIXTURE_VARIANT_ADD(match, calls)
{
	.ops = { KTAPE_EV_SYS_ENTER },
};
FIXTURE_VARIANT_ADD(match, calls_and_switches)
{
	.ops = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SCHED_SWITCH },
};
/* clang-format on */

FIXTURE_SETUP(match)
{
	if (kt_online_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	self->fd = worker_session(variant->ops);
	ASSERT_LE(0, self->fd);
	kt_pin(0);
	ASSERT_EQ(0, start_worker_thread(&self->w, CPU));
}

FIXTURE_TEARDOWN(match)
{
	if (self->w.tid)
		end_worker_thread(&self->w);
	close(self->fd);
}

static void check_match_calls(struct __test_metadata *_metadata,
			      FIXTURE_DATA(match) * self, uint64_t yes)
{
	check_worker_calls(_metadata, self->fd, &self->t, yes);
}

static int move_thread_to_cgroup(pid_t tid, bool in)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", tid);
	return kt_write_text(in ? CGROUP "/cgroup.threads" :
				  "/sys/fs/cgroup/cgroup.threads",
			     text);
}

/* Another process moves the thread into the cgroup and out of it. */
TEST_F_TIMEOUT(match, cgroup_changes, 300)
{
	int32_t cgroup;

	mkdir(CGROUP, 0700);
	if (kt_write_text(CGROUP "/cgroup.type", "threaded")) {
		rmdir(CGROUP);
		SKIP(return, "no threaded cgroups");
	}
	cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CGROUP, &cgroup, 1));
	close(cgroup);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, move_thread_to_cgroup(self->w.tid, !(i & 1)));
		give_worker_order(&self->w, i & 1 ? CALL_NO : CALL_YES);
	}
	check_match_calls(_metadata, self, (uint64_t)((ROUNDS + 1) / 2) * CALLS);
	ASSERT_EQ(0, move_thread_to_cgroup(self->w.tid, false));
	EXPECT_EQ(0, rmdir(CGROUP));
}

/* The filter is set for the thread, and for another one. */
TEST_F_TIMEOUT(match, filter_changes, 300)
{
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < ROUNDS / 3; i++) {
		bool yes = i & 1;

		ASSERT_EQ(0, kt_filter_pid(self->fd,
					   yes ? self->w.tid : getpid(), 0));
		give_worker_order(&self->w, yes ? CALL_YES : CALL_NO);
	}
	check_match_calls(_metadata, self, (uint64_t)(ROUNDS / 3 / 2) * CALLS);
}

/* No filter, and one that holds the thread back. */
TEST_F_TIMEOUT(match, filter_comes_and_goes, 300)
{
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < ROUNDS / 6; i++) {
		ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
		give_worker_order(&self->w, CALL_NO);
		ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_PID));
		give_worker_order(&self->w, CALL_YES);
	}
	check_match_calls(_metadata, self, (uint64_t)(ROUNDS / 6) * CALLS);
}

/* The thread changes its real uid by itself; its effective one stays root's. */
static void *change_uid(void *arg)
{
	int *failed = arg;

	kt_pin(CPU);
	for (int i = 0; i < ROUNDS; i++) {
		*failed |= syscall(SYS_setresuid, i & 1 ? 0 : NOBODY, 0, 0) != 0;
		make_worker_calls(!(i & 1));
	}
	return NULL;
}

TEST_F_TIMEOUT(match, uid_changes, 300)
{
	const uint32_t uid = NOBODY;
	pthread_t thread;
	int failed = 0;

	end_worker_thread(&self->w);
	self->w.tid = 0;
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_UID, &uid, 1));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_uid, &failed));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, failed);
	check_match_calls(_metadata, self, (uint64_t)((ROUNDS + 1) / 2) * CALLS);
}

/*
 * Followed children and others take turns in forking on one CPU, so that a new thread
 * often has the task_struct of one that passed where the new one does not, or the reverse.
 */
TEST_F_TIMEOUT(match, children, 300)
{
	int go[2], done[2];
	char byte;
	pid_t pid;

	end_worker_thread(&self->w);
	self->w.tid = 0;
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(done));
	pid = fork();
	if (!pid) {
		kt_pin(CPU);
		close(go[1]);
		while (read(go[0], &byte, 1) == 1) {
			call_in_child(kt_fork_plainly(), true);
			if (write(done[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	kt_pin(CPU);
	ASSERT_EQ(0, kt_filter_pid(self->fd, pid, KTAPE_PID_CHILDREN));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(1, write(go[1], "g", 1));
		ASSERT_EQ(1, read(done[0], &byte, 1));
		/*
		 * A CPU keeps matches in 32 places, by the thread's number. Two others make three
		 * numbers a round, so each place is used by threads that pass and by others.
		 */
		for (int n = 0; n < 2; n++)
			call_in_child(kt_fork_plainly(), false);
	}
	close(go[1]);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	kt_pin(0);
	EXPECT_EQ(0, kt_filter_get(self->fd, KTAPE_FILTER_PID).collisions);
	check_match_calls(_metadata, self, (uint64_t)ROUNDS * CALLS);
	close(done[0]);
}

/* ---- threads that call all the time ---------------------------------------- */

/**
 * struct caller - a thread that calls again and again
 * @thread: the thread
 * @tid: its number
 * @yes: its calls must be recorded
 * @go: 1: it begins; 2: it ends
 * @made: calls that it has made
 */
struct caller {
	pthread_t thread;
	pid_t tid;
	bool yes;
	int go;
	uint64_t made;
};

static void *call_until_end(void *arg)
{
	struct caller *c = arg;
	cpu_set_t all;
	int go;

	/* The fixture has pinned its thread to CPU 0, which made this one. */
	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all))
		perror("# affinity");
	__atomic_store_n(&c->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	do {
		go = __atomic_load_n(&c->go, __ATOMIC_ACQUIRE);
		if (go == 1) {
			syscall(c->yes ? YES : NO, 0);
			__atomic_add_fetch(&c->made, 1, __ATOMIC_RELAXED);
		}
		usleep(100);
	} while (go != 2);
	return NULL;
}

/* Have both threads run on CPU only, or on all CPUs. Return: 0 or -1. */
static int move_callers(const struct caller *c, bool to_cpu)
{
	cpu_set_t set;
	int ret = 0;

	memset(&set, to_cpu ? 0 : 0xff, sizeof(set));
	if (to_cpu)
		CPU_SET(CPU, &set);
	for (int i = 0; i < 2; i++)
		ret |= sched_setaffinity(c[i].tid, sizeof(set), &set);
	return ret;
}

/* Wait until each thread has made some more calls where it is allowed to run now. */
static void wait_for_calls(struct caller *c)
{
	uint64_t to;

	for (int i = 0; i < 2; i++) {
		to = __atomic_load_n(&c[i].made, __ATOMIC_RELAXED) + 20;
		while (__atomic_load_n(&c[i].made, __ATOMIC_RELAXED) < to)
			usleep(1000);
	}
}

/*
 * The CPU goes offline and comes back, and both kinds of threads move to it: what it kept of their
 * matches is of the time before.
 */
TEST_F_TIMEOUT(match, hotplug, 300)
{
	struct caller c[2] = { { .yes = true }, { .yes = false } };

	end_worker_thread(&self->w);
	self->w.tid = 0;
	if (kt_set_online(CPU, false) || kt_set_online(CPU, true))
		SKIP(return, "no CPU hotplug");
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_create(&c[i].thread, NULL, call_until_end,
					    &c[i]));
		while (!__atomic_load_n(&c[i].tid, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	ASSERT_EQ(0, kt_filter_pid(self->fd, c[0].tid, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&c[i].go, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, kt_set_online(CPU, false));
		wait_for_calls(c);
		ASSERT_EQ(0, kt_set_online(CPU, true));
		ASSERT_EQ(0, move_callers(c, true));
		wait_for_calls(c);
		ASSERT_EQ(0, move_callers(c, false));
	}
	for (int i = 0; i < 2; i++)
		__atomic_store_n(&c[i].go, 2, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(c[i].thread, NULL);
	EXPECT_LT(0, c[0].made);
	EXPECT_LT(0, c[1].made);
	check_match_calls(_metadata, self, c[0].made);
}

TEST_HARNESS_MAIN
