// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test a cgroup filter with every way in which a thread gets another cgroup.
 *
 * The module keeps whether a thread passes (the match) until a tracepoint says that the
 * thread has moved.  So in each test a thread gets another cgroup, most often while it runs
 * on another CPU without a switch, and must be matched with the new one as soon as the call
 * that moved it returns.
 */
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"

#include "kt_worker.h"

#define ROUNDS (150 / kt_scale())
#define TOP    "/sys/fs/cgroup/kt_moves"
#define IN     TOP "/in" /* the filter lets its threads pass */
#define OUT    TOP "/out"
#define NAMED  "/tmp/kt_named" /* another hierarchy */

FIXTURE(moves)
{
	int fd;
	struct kt_tally t;
};

FIXTURE_VARIANT(moves)
{
	unsigned char ops[3];
};

/* clang-format off */
FIXTURE_VARIANT_ADD(moves, calls)
{
	.ops = { KTAPE_EV_SYS_ENTER },
};
FIXTURE_VARIANT_ADD(moves, calls_and_switches)
{
	.ops = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SCHED_SWITCH },
};
/* clang-format on */

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

FIXTURE_SETUP(moves)
{
	int32_t in;

	self->fd = -1;
	if (kt_online_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	mkdir(TOP, 0700);
	if (mkdir(IN, 0700) || mkdir(OUT, 0700))
		SKIP(return, "no cgroups");
	self->fd = worker_session(variant->ops);
	ASSERT_LE(0, self->fd);
	in = open_folder(IN);
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CGROUP, &in, 1));
	close(in);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_pin(0);
}

FIXTURE_TEARDOWN(moves)
{
	if (self->fd >= 0)
		close(self->fd);
	rmdir(IN);
	rmdir(OUT);
	rmdir(TOP);
}

/* Move a process, by its number or as itself (0). */
static int move_process_to_cgroup(pid_t pid, const char *to)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", to);
	snprintf(text, sizeof(text), "%d", pid);
	return kt_write_text(path, text);
}

static void check_moved_calls(struct __test_metadata *_metadata,
			      FIXTURE_DATA(moves) * self, uint64_t yes)
{
	check_worker_calls(_metadata, self->fd, &self->t, yes);
	/* What did not pass was counted. */
	EXPECT_LT(0, self->t.filtered[KTAPE_CLASS_SYSCALL]);
}

/* Start a process in a cgroup.  Return: its number, or 0 in it. */
static pid_t clone_into(const char *path)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)open_folder(path),
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	close((int)args.cgroup);
	return pid;
}

/* Let a new process make calls: cloned into @path, or forked if it is NULL. */
static int call_in(const char *path, bool yes)
{
	return call_in_child(path ? clone_into(path) : kt_fork_plainly(), yes);
}

TEST_F_TIMEOUT(moves, by_another_process, 300)
{
	struct worker *w = start_worker_process(CPU);

	ASSERT_NE(NULL, w);
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, move_process_to_cgroup(w->tid, i & 1 ? OUT : IN));
		give_worker_order(w, i & 1 ? CALL_NO : CALL_YES);
	}
	end_worker_process(w);
	check_moved_calls(_metadata, self, (uint64_t)(ROUNDS + 1) / 2 * CALLS);
}

TEST_F_TIMEOUT(moves, by_itself, 300)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		kt_pin(CPU);
		for (int i = 0; i < ROUNDS; i++) {
			if (move_process_to_cgroup(0, i & 1 ? OUT : IN))
				_exit(1);
			make_worker_calls(!(i & 1));
		}
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	check_moved_calls(_metadata, self, (uint64_t)(ROUNDS + 1) / 2 * CALLS);
}

/*
 * Processes that are made in one cgroup and in the other often have the same task_struct.
 * A CPU keeps a match in one of 32 places, by the last bits of the thread's number.  Numbers
 * grow by one, so if the processes took turns by twos, a place would always have the same
 * answer, and a wrong one would not show.  Therefore every third one passes.
 */
TEST_F_TIMEOUT(moves, clone_into_cgroup, 300)
{
	kt_pin(CPU);
	for (int i = 0; i < ROUNDS; i++)
		ASSERT_EQ(0, call_in(i % 3 ? OUT : IN, !(i % 3)));
	kt_pin(0);
	check_moved_calls(_metadata, self, (uint64_t)(ROUNDS + 2) / 3 * CALLS);
}

/* The same for children that have the cgroup of their parent. */
TEST_F_TIMEOUT(moves, forked_in_turns, 300)
{
	int go[2], done[2], status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(done));
	pid = fork();
	if (!pid) {
		kt_pin(CPU);
		close(go[1]);
		if (move_process_to_cgroup(0, IN))
			_exit(1);
		while (read(go[0], &byte, 1) == 1)
			if (call_in(NULL, true) || write(done[1], "d", 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	kt_pin(CPU);
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(1, write(go[1], "g", 1));
		ASSERT_EQ(1, read(done[0], &byte, 1));
		/* Two of them, so that every third one passes here, too. */
		for (int n = 0; n < 2; n++)
			ASSERT_EQ(0, call_in(NULL, false));
	}
	close(go[1]);
	close(done[0]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	kt_pin(0);
	check_moved_calls(_metadata, self, (uint64_t)ROUNDS * CALLS);
}

/* Cgroups are removed, and others are made, at the same addresses; every third one passes. */
TEST_F_TIMEOUT(moves, cgroups_made_anew, 300)
{
	const char *path;

	kt_pin(CPU);
	for (int i = 0; i < ROUNDS; i++) {
		path = i % 3 ? OUT "/new" : IN "/new";
		ASSERT_EQ(0, mkdir(path, 0700));
		ASSERT_EQ(0, call_in(path, !(i % 3)));
		ASSERT_EQ(0, rmdir(path));
	}
	kt_pin(0);
	check_moved_calls(_metadata, self, (uint64_t)(ROUNDS + 2) / 3 * CALLS);
}

/* Controllers give each thread another set of states, but not another cgroup. */
TEST_F_TIMEOUT(moves, controllers_change, 300)
{
	static const char *const tops[] = {
		"/sys/fs/cgroup/cgroup.subtree_control",
		TOP "/cgroup.subtree_control",
	};
	struct worker *w = start_worker_process(CPU);

	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, move_process_to_cgroup(w->tid, IN));
	if (kt_write_text(tops[0], "+pids") || kt_write_text(tops[1], "+pids")) {
		end_worker_process(w);
		SKIP(return, "no controller for processes");
	}
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, kt_write_text(tops[1], i & 1 ? "+pids" : "-pids"));
		give_worker_order(w, CALL_YES);
	}
	ASSERT_EQ(0, move_process_to_cgroup(w->tid, OUT));
	give_worker_order(w, CALL_NO);
	kt_write_text(tops[1], "-pids");
	end_worker_process(w);
	check_moved_calls(_metadata, self, (uint64_t)ROUNDS * CALLS);
}

/* Moves in a hierarchy of its own say nothing about the cgroup that the filter has. */
TEST_F_TIMEOUT(moves, another_hierarchy, 300)
{
	struct worker *w;
	uint64_t yes = 0;

	mkdir(NAMED, 0700);
	if (mount("none", NAMED, "cgroup", 0, "none,name=kt_moves"))
		SKIP(return, "no cgroups of version 1");
	mkdir(NAMED "/some", 0700);
	w = start_worker_process(CPU);
	ASSERT_NE(NULL, w);
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, move_process_to_cgroup(w->tid, i & 2 ? OUT : IN));
		ASSERT_EQ(0, move_process_to_cgroup(
				     w->tid, i & 1 ? NAMED : NAMED "/some"));
		give_worker_order(w, i & 2 ? CALL_NO : CALL_YES);
		yes += i & 2 ? 0 : CALLS;
	}
	end_worker_process(w);
	rmdir(NAMED "/some");
	EXPECT_EQ(0, umount(NAMED));
	rmdir(NAMED);
	check_moved_calls(_metadata, self, yes);
}

/* ---- an event about a thread that does not run ------------------------------- */

/* Count in waking[1] how often thread waking[0] was woken. */
static void count_wakings_of(const struct kt_rec *r, struct kt_tally *t)
{
	int *waking = t->arg;

	waking[1] += r->op == KTAPE_EV_SCHED_WAKING &&
		     r->args[0] == (uint32_t)waking[0];
}

/*
 * Has this reader of a pipe taken so many bytes, and does it wait for the next one?  A reader
 * that was woken looks asleep again just before it takes its byte, so it counts the bytes.
 * The pipe itself is not asked, because that takes its lock, for which the reader would
 * then wait, and be woken, once more.
 */
static bool waits_after(const volatile int *bytes, int number, pid_t reader)
{
	return *bytes == number && kt_is_asleep(reader);
}

/* A process outside wakes one that moves into the cgroup and out of it again. */
TEST_F_TIMEOUT(moves, woken_thread, 300)
{
	const unsigned char ops[] = { KTAPE_EV_SCHED_WAKING, 0 };
	volatile int *bytes = mmap(NULL, sizeof(*bytes), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd[2], waking[2] = {}, status;
	char byte;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, (void *)bytes);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, set_worker_profile(self->fd, ops));
	ASSERT_EQ(0, pipe(fd));
	pid = fork();
	if (!pid) {
		close(fd[1]);
		kt_pin(CPU);
		while (read(fd[0], &byte, 1) == 1)
			++*bytes;
		_exit(0);
	}
	close(fd[0]);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < 3 * ROUNDS; i++) {
		if (i == ROUNDS || i == 2 * ROUNDS)
			ASSERT_EQ(0, move_process_to_cgroup(
					     pid, i == ROUNDS ? IN : OUT));
		while (!waits_after(bytes, i, pid))
			sched_yield();
		ASSERT_EQ(1, write(fd[1], "w", 1));
	}
	waking[0] = pid;
	kt_stop_and_tally(&self->t, self->fd, count_wakings_of, waking);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(ROUNDS, waking[1]);
	close(fd[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	munmap((void *)bytes, sizeof(*bytes));
}

TEST_HARNESS_MAIN
