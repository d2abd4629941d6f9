// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a list of steps, one after the other, so that a script knows how many
 * events they cause.
 *
 * usage: act STEP...
 *   getppid N, getpgid N, getuid N	N calls
 *   child N, thread N	N calls of getppid() by a child or a thread, which then ends
 *   signal SIG N	N signals to itself
 *   nap N MS		N sleeps of MS milliseconds
 *   serve N MS		N times getppid() and such a sleep
 *   disk N		N blocks read from /dev/vdb with O_DIRECT
 *   text N, value N, code N	N marks: texts "text 1" and so on; values 1 and so on
 * 			of id 77; exceptions of major code 0x1234, minor code 1 and so on
 *   cpu N		move to CPU N
 *   uid N		become user N
 *   cgroup FOLDER	move to that cgroup
 *   into FOLDER	go on in a child that is made in that cgroup
 *   wait FILE		write its pid to FILE, wait until FILE is removed
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/wait.h>

#include <ktape_mark.h>

#include "kt_load.h"

#define BLOCK 4096

static int print_errno(const char *what)
{
	perror(what);
	return -1;
}

static int repeat_call(long nr, char **arg)
{
	for (long n = atol(arg[0]); n > 0; n--)
		syscall(nr, 0);
	return 0;
}

static int act_getppid(char **arg)
{
	return repeat_call(SYS_getppid, arg);
}

static int act_getpgid(char **arg)
{
	return repeat_call(SYS_getpgid, arg);
}

static int act_getuid(char **arg)
{
	return repeat_call(SYS_getuid, arg);
}

static int act_child(char **arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		act_getppid(arg);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return print_errno("child");
	return 0;
}

static void *getppid_main(void *arg)
{
	act_getppid(arg);
	return NULL;
}

static int act_thread(char **arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, getppid_main, arg))
		return print_errno("thread");
	return pthread_join(t, NULL);
}

static int act_signal(char **arg)
{
	int number = atoi(arg[0]);

	signal(number, kt_on_alarm);
	for (int n = atoi(arg[1]); n > 0; n--)
		if (kill(getpid(), number))
			return print_errno("kill");
	return 0;
}

static int act_nap(char **arg)
{
	for (int n = atoi(arg[0]); n > 0; n--)
		usleep(atoi(arg[1]) * 1000);
	return 0;
}

static int act_serve(char **arg)
{
	for (int n = atoi(arg[0]); n > 0; n--) {
		syscall(SYS_getppid);
		usleep(atoi(arg[1]) * 1000);
	}
	return 0;
}

static int act_disk(char **arg)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	int fd = open("/dev/vdb", O_RDONLY | O_DIRECT | O_CLOEXEC);

	for (int n = 0; n < atoi(arg[0]); n++)
		if (pread(fd, block, BLOCK, n * BLOCK) != BLOCK)
			return print_errno("/dev/vdb");
	return close(fd);
}

static int mark_numbered_text(int fd, int n)
{
	char text[32];

	snprintf(text, sizeof(text), "text %d", n);
	return ktape_text(fd, text);
}

static int mark_value(int fd, int n)
{
	return ktape_value(fd, 77, n, NULL);
}

static int mark_code(int fd, int n)
{
	return Trace1(fd, _TRACE_SW_SEVERITY2, KTAPE_EXC_CODE(0x1234, n), n);
}

/* Marks are numbered from 1. */
static int marks(int (*mark)(int fd, int n), char **arg)
{
	int fd = ktape_mark_open(), ret = fd < 0 ? fd : 0;

	for (int n = 1; !ret && n <= atoi(arg[0]); n++)
		ret = mark(fd, n);
	if (fd >= 0)
		close(fd);
	errno = -ret;
	return ret ? print_errno(KTAPE_MARK_PATH) : 0;
}

static int act_text(char **arg)
{
	return marks(mark_numbered_text, arg);
}

static int act_value(char **arg)
{
	return marks(mark_value, arg);
}

static int act_code(char **arg)
{
	return marks(mark_code, arg);
}

static int act_cpu(char **arg)
{
	return kt_pin(atoi(arg[0]));
}

static int act_uid(char **arg)
{
	return setuid(atoi(arg[0])) ? print_errno("setuid") : 0;
}

static int write_number(const char *path, int number)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return print_errno(path);
	fprintf(f, "%d\n", number);
	return fclose(f);
}

static int act_cgroup(char **arg)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.procs", arg[0]);
	return write_number(path, 0);
}

static int act_into(char **arg)
{
	struct clone_args how = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
	};
	int status, fd = open(arg[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long pid;

	if (fd < 0)
		return print_errno(arg[0]);
	how.cgroup = (uint64_t)fd;
	pid = syscall(SYS_clone3, &how, sizeof(how));
	close(fd);
	if (pid < 0)
		return print_errno("clone3");
	if (!pid)
		return 0;
	if (waitpid((pid_t)pid, &status, 0) != pid)
		return print_errno("waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Rename the file into place, so that a reader never sees a partial number. */
static int act_wait(char **arg)
{
	char path[256];

	snprintf(path, sizeof(path), "%s.new", arg[0]);
	if (write_number(path, getpid()) || rename(path, arg[0]))
		return print_errno(arg[0]);
	while (!access(arg[0], F_OK))
		usleep(5000);
	return 0;
}

static const struct {
	const char *name;
	int nargs;
	int (*act)(char **arg);
} steps[] = {
	{ "getppid", 1, act_getppid }, { "getpgid", 1, act_getpgid },
	{ "getuid", 1, act_getuid },   { "child", 1, act_child },
	{ "thread", 1, act_thread },   { "signal", 2, act_signal },
	{ "nap", 2, act_nap },	       { "disk", 1, act_disk },
	{ "text", 1, act_text },       { "value", 1, act_value },
	{ "code", 1, act_code },       { "cpu", 1, act_cpu },
	{ "uid", 1, act_uid },	       { "cgroup", 1, act_cgroup },
	{ "wait", 1, act_wait },       { "serve", 2, act_serve },
	{ "into", 1, act_into },
};

int main(int argc, char **argv)
{
	const size_t nr = sizeof(steps) / sizeof(steps[0]);

	for (int i = 1; i < argc;) {
		size_t s = 0;

		while (s < nr && strcmp(steps[s].name, argv[i]))
			s++;
		if (s == nr || i + steps[s].nargs >= argc) {
			fprintf(stderr,
				"act: %s: unknown step, or arguments are missing\n",
				argv[i]);
			return 2;
		}
		if (steps[s].act(&argv[i + 1]))
			return 1;
		i += 1 + steps[s].nargs;
	}
	return 0;
}
