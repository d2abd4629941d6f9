// SPDX-License-Identifier: GPL-2.0-only
/*
 * Be a program with very many threads, in a system with very many cgroups, which come and
 * go; and write down what /proc says of each, so that a test can compare.
 *
 * usage: crowd FILE THREADS CGROUPS
 *
 * Makes the threads and cgroups, creates FILE.ready and waits for FILE.go.  Then ends and
 * replaces each thread and each cgroup, one after the other, creates FILE.done and waits
 * until FILE.go is removed.  Lines of FILE, in the end:
 *   thread TID NAME	by /proc/self/task/TID/comm
 *   cgroup ID PATH	by the inode of its folder
 *
 * The threads are made by clone() and share the state of the C library with their maker, so
 * they call nothing that changes it.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kt_load.h"

#define STACK  8192
#define FOLDER "/sys/fs/cgroup/crowd"

/* What a thread and its maker tell each other. */
struct member {
	int named;
	int leave;
	int tid; /* the kernel clears it when the thread is gone */
	int number;
};

static struct member *members;
static char *stacks;
static FILE *out;
static int made;

static int exit_with_errno(const char *what)
{
	perror(what);
	exit(1);
}

static long futex(int *word, int op, int value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static int member_main(void *arg)
{
	struct member *m = arg;
	char name[16];

	snprintf(name, sizeof(name), "crowd-%d", m->number);
	prctl(PR_SET_NAME, name);
	__atomic_store_n(&m->named, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&m->leave, __ATOMIC_ACQUIRE))
		futex(&m->leave, FUTEX_WAIT, 0);
	syscall(SYS_exit, 0);
	return 0;
}

static void member_start(int i)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
			  CLONE_CHILD_CLEARTID;
	struct member *m = &members[i];

	*m = (struct member){ .number = made++ };
	if (clone(member_main, stacks + (size_t)(i + 1) * STACK, flags, m,
		  &m->tid, NULL, &m->tid) < 0)
		exit_with_errno("clone");
}

/* Wait until a thread has its name, and write down what /proc says. */
static void member_note(int i)
{
	char path[64], name[32];
	FILE *f;

	while (!__atomic_load_n(&members[i].named, __ATOMIC_ACQUIRE))
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", members[i].tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%31s", name) != 1)
		exit_with_errno(path);
	fclose(f);
	fprintf(out, "thread %d %s\n", members[i].tid, name);
}

static void member_end(int i)
{
	int tid;

	__atomic_store_n(&members[i].leave, 1, __ATOMIC_RELEASE);
	futex(&members[i].leave, FUTEX_WAKE, 1);
	while ((tid = __atomic_load_n(&members[i].tid, __ATOMIC_ACQUIRE)))
		futex(&members[i].tid, FUTEX_WAIT, tid);
}

static void crowd_group_path(char path[64], int number)
{
	snprintf(path, 64, FOLDER "/c%d", number);
}

static void group_make(int number)
{
	char path[64];
	struct stat st;

	crowd_group_path(path, number);
	if (mkdir(path, 0700) || stat(path, &st))
		exit_with_errno(path);
	fprintf(out, "cgroup %llu %s\n", (unsigned long long)st.st_ino,
		path + strlen("/sys/fs/cgroup"));
}

static void group_remove(int number)
{
	char path[64];

	crowd_group_path(path, number);
	if (rmdir(path))
		exit_with_errno(path);
}

static void write_limit(const char *path, int value)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%d\n", value) < 0 || fclose(f))
		exit_with_errno(path);
}

/* Return the name FILE.WHAT. */
static const char *beside(const char *file, const char *what)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s.%s", file, what);
	return path;
}

static void signal_by_file(const char *file, const char *what)
{
	fflush(out);
	close(open(beside(file, what), O_WRONLY | O_CREAT, 0600));
}

/* Wait until FILE.go is there, or is not. */
static void await(const char *file, bool there)
{
	while (!access(beside(file, "go"), F_OK) != there)
		usleep(20000);
}

int main(int argc, char **argv)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int threads, groups;

	if (argc != 4)
		return 2;
	threads = atoi(argv[2]);
	groups = atoi(argv[3]);
	write_limit("/proc/sys/kernel/threads-max", 8 * threads + 10000);
	write_limit("/proc/sys/kernel/pid_max", 4000000);
	setrlimit(RLIMIT_NPROC, &all);
	out = fopen(argv[1], "w");
	members = calloc(threads, sizeof(*members));
	stacks = mmap(NULL, (size_t)threads * STACK, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!out || !members || stacks == MAP_FAILED)
		exit_with_errno(argv[1]);
	mkdir(FOLDER, 0700);
	for (int i = 0; i < groups; i++)
		group_make(i);
	for (int i = 0; i < threads; i++)
		member_start(i);
	for (int i = 0; i < threads; i++)
		member_note(i);
	signal_by_file(argv[1], "ready");
	await(argv[1], true);
	for (int i = 0; i < threads; i++) {
		member_end(i);
		member_start(i);
		member_note(i);
	}
	for (int i = 0; i < groups; i++) {
		group_remove(i);
		group_make(groups + i);
	}
	signal_by_file(argv[1], "done");
	await(argv[1], false);
	/* Its threads end with it. */
	for (int i = 0; i < groups; i++)
		group_remove(groups + i);
	rmdir(FOLDER);
	return 0;
}
