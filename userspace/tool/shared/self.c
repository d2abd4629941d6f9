// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run this command again, or another program, and wait for its end.
 *
 * ktape record -o FILE.html and ktape try record into a temporary trace and write a page of the
 * format html from it, by running ktape convert.  A new process has no signals of the recording
 * pending, and a Ctrl-C ends only it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"

#include "tool/shared/message.h"
#include "tool/shared/self.h"

#define ENDING	 ".html"
#define TRACE	 ".trace"
#define HOST_MAX 64

extern char **environ;

/* Return true if the format html is built in. */
bool page_can_write(void)
{
	const struct ktape_codec *c = ktape_codec_find("html");

	return c && c->out;
}

/* Return true if a path is that of a page. */
bool page_is_name(const char *path)
{
	size_t len = strlen(path);

	return len > strlen(ENDING) && !strcmp(path + len - strlen(ENDING), ENDING);
}

/* Return the path of the folder for a page's trace, which the caller frees; NULL: no memory. */
char *page_trace_path(const char *page)
{
	char *path;

	return asprintf(&path, "%s%s", page, TRACE) < 0 ? NULL : path;
}

/**
 * page_usual_name() - return the name of a page that the user gave none
 *
 * Return: "ktape-HOST-DATE.html", which the caller frees, or NULL: no memory.
 */
char *page_usual_name(void)
{
	char host[HOST_MAX] = "", date[32];
	time_t now = time(NULL);
	struct tm tm;
	char *name;

	gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p; p++)
		*p = *p == '/' || *p == ' ' ? '_' : *p;
	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	return asprintf(&name, "ktape-%s-%s" ENDING, *host ? host : "host",
			date) < 0 ?
		       NULL :
		       name;
}

/*
 * Start a program, in which no signal is blocked: this command blocks those that it takes
 * from a descriptor.  Return: 0 or negative errno.
 */
static int start_program(const char *path, char *const argv[], pid_t *pid)
{
	posix_spawnattr_t how;
	sigset_t none, plain;
	int err = posix_spawnattr_init(&how);

	if (err)
		return -err;
	sigemptyset(&none);
	sigemptyset(&plain);
	sigaddset(&plain, SIGPIPE);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &plain);
	posix_spawnattr_setflags(&how,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	err = posix_spawnp(pid, path, NULL, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	return -err;
}

/* Wait for a process.  Return: its exit status, -EINTR if a signal ended it, or negative errno. */
static int wait_for_program(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/**
 * run_program() - run a program and wait for its end
 * @path: the program, searched in PATH unless it has a slash
 * @argv: its arguments
 *
 * Return: its exit status, -EINTR if a signal ended it, or negative errno if it cannot be run.
 */
int run_program(const char *path, char *const argv[])
{
	pid_t pid;
	int err = start_program(path, argv, &pid);

	return err ? err : wait_for_program(pid);
}

/* Return the signals that end this process, without those that are ignored. */
static sigset_t ending_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		if (!sigaction(numbers[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	}
	return set;
}

/* End a process by SIGTERM when one of the signals in @set comes, until it ends. */
static void pass_signals_on(pid_t pid, const sigset_t *set)
{
	struct pollfd fds[] = {
		{ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
		{ .fd = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC),
		  .events = POLLIN },
	};
	struct signalfd_siginfo info;

	/*
	 * Without the pidfd (Linux before 5.3), poll() would not return when the process ends:
	 * then no signal is passed on.
	 */
	while (fds[0].fd >= 0 && !(fds[0].revents & POLLIN)) {
		if (poll(fds, KT_ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			break;
		while (kt_read_some(fds[1].fd, &info, sizeof(info)) == sizeof(info))
			kill(pid, SIGTERM);
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(fds); i++) {
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	}
}

/**
 * self_path() - find the path of this command
 * @path: set to it
 *
 * It is run again by this path, so that the process has its name in traces.
 *
 * Return: 0 or negative errno.
 */
int self_path(char path[SELF_PATH])
{
	ssize_t len = readlink("/proc/self/exe", path, SELF_PATH - 1);

	if (len < 0)
		return -errno;
	path[len] = '\0';
	return 0;
}

/**
 * run_self() - run this command again
 * @argv: its arguments
 *
 * Return: as run_program().
 */
int run_self(char *const argv[])
{
	char path[SELF_PATH];
	int err = self_path(path);

	return err ? err : run_program(path, argv);
}

/**
 * run_self_until_signal() - run this command again, and pass signals on to it
 * @argv: its arguments
 *
 * SIGINT, SIGTERM and SIGHUP end it, not this process, which then says what is left.
 * Those that came before are forgotten: they ended what went before.  Those that are
 * ignored stay ignored.
 *
 * Return: as run_program().
 */
int run_self_until_signal(char *const argv[])
{
	const struct timespec now = { .tv_sec = 0 };
	char path[SELF_PATH];
	sigset_t set, before;
	pid_t pid;
	int ret = self_path(path);

	if (ret)
		return ret;
	set = ending_signals();
	sigprocmask(SIG_BLOCK, &set, &before);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	ret = start_program(path, argv, &pid);
	if (!ret) {
		pass_signals_on(pid, &set);
		ret = wait_for_program(pid);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/**
 * page_remove_trace() - remove the trace of a page
 * @path: its folder, which has files only
 *
 * Return: 0 or negative errno.
 */
int page_remove_trace(const char *path)
{
	const struct dirent *e;
	DIR *dir = opendir(path);

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		if (e->d_type != DT_DIR)
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	closedir(dir);
	return rmdir(path) ? -errno : 0;
}

/**
 * page_write() - convert a trace to a page, and remove the trace
 * @page: path of the page
 * @trace: folder of the trace
 *
 * If that fails, the trace is kept.
 *
 * Return: 0 or the exit code.
 */
int page_write(const char *page, const char *trace)
{
	char *const argv[] = { (char *)"ktape", (char *)"convert",
			       (char *)"-q",	(char *)"--to",
			       (char *)"html",	(char *)"-o",
			       (char *)page,	(char *)"--",
			       (char *)trace,	NULL };
	int ret = run_self_until_signal(argv);

	if (ret == -EINTR)
		fail("%s: not written: a signal ended ktape convert", page);
	else if (ret < 0)
		fail("cannot run ktape convert: %s", strerror(-ret));
	if (ret) {
		note("the trace is kept: ktape convert --to html -o %s %s",
		     page, trace);
		return EXIT_FAILED;
	}
	ret = page_remove_trace(trace);
	return ret ? fail("%s: cannot be removed: %s", trace, strerror(-ret)) :
		     EXIT_OK;
}
