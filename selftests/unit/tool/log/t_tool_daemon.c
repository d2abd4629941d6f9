// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the pidfile: between open() and the lock its owner may exit and remove
 * it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/record/daemon.h"
#include "tool/shared/message.h"

#include "tap.h"

static char path[64];
static int ends;     /* number of times the owner exits just before the lock */
static bool follows; /* each time another owner starts at once */
static int reported = -1; /* pipe that gets the folder in which the log is opened */

int fail(const char *format, ...)
{
	(void)format;
	return 1;
}

/* Report the current folder when it is opened. */
int redirect_messages(const char *logfile)
{
	char here[200] = "";

	(void)logfile;
	if (reported >= 0 && (!getcwd(here, sizeof(here)) ||
			      write(reported, here, strlen(here)) < 0))
		return 1;
	return 0;
}

int flock(int fd, int how)
{
	FILE *f;

	if (ends && ends--) {
		unlink(path);
		f = follows ? fopen(path, "w") : NULL;
		if (f)
			fclose(f);
	}
	return (int)syscall(SYS_flock, fd, how);
}

static void take_pidfile(int times, bool again)
{
	struct daemon d = { .ready = -1, .pid_fd = -1 };
	struct stat ours, there;

	ends = times;
	follows = again;
	check(!daemon_pidfile(&d, path), "the pidfile was not created");
	check(!ends && d.pid_fd >= 0 && !fstat(d.pid_fd, &ours) &&
		      !stat(path, &there) && ours.st_ino == there.st_ino,
	      "the locked file was removed");
	check(there.st_size > 1, "no number in it");
	daemon_end(&d, 0);
	check(access(path, F_OK), "the pidfile is left behind");
}

static void test_race(void)
{
	take_pidfile(0, false);
	take_pidfile(1, false);
	take_pidfile(1, true);
	take_pidfile(3, true);
}

/* The pidfile was removed and belongs to another process now. */
static void test_stolen(void)
{
	struct daemon d = { .ready = -1, .pid_fd = -1 };
	FILE *f;

	check(!daemon_pidfile(&d, path), "the pidfile was not created");
	unlink(path);
	f = fopen(path, "w");
	check(f, "there is no other owner");
	fclose(f);
	daemon_end(&d, 0);
	check(!access(path, F_OK), "another process's pidfile was removed");
	unlink(path);
}

/* The log's name is relative to the folder of the caller. */
static void test_logfile(void)
{
	struct daemon d = { .on = true, .ready = -1, .pid_fd = -1 };
	char here[200], there[200] = "";
	int end[2], status;
	pid_t pid;

	check(getcwd(here, sizeof(here)) && !pipe(end), "no pipe");
	pid = fork();
	if (!pid) {
		reported = end[1];
		d.ready = dup(end[1]);
		_exit(daemon_redirect(&d, "log"));
	}
	close(end[1]);
	check(waitpid(pid, &status, 0) == pid && !status, "not detached");
	check(read(end[0], there, sizeof(there) - 1) > 0, "there is no message");
	check(!strncmp(there, here, strlen(here)), "%s, not %s", there, here);
	close(end[0]);
}

static const struct tap_test tests[] = {
	{ "a pidfile that is removed before it is locked", test_race },
	{ "a pidfile of another process", test_stolen },
	{ "a log in the current folder", test_logfile },
};

int main(int argc, char **argv)
{
	snprintf(path, sizeof(path), "/tmp/ktape-pid.%ld", (long)getpid());
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
