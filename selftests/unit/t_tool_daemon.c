// SPDX-License-Identifier: GPL-2.0-only
/* The pidfile: between open() and the lock its owner may end, and remove it. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

/* As in userspace/tool/daemon.h: tests include no part of the tool. */
struct daemon {
	bool on;
	int ready;
	char *pidfile;
	int pid_fd;
};

int daemon_pidfile(struct daemon *d, const char *path);
void daemon_end(struct daemon *d, int code);

int fail(const char *format, ...);
int say_to(const char *logfile);

static char path[64];
static int ends;	/* so many times the owner ends just before the lock */
static bool follows;	/* and another one comes */

int fail(const char *format, ...)
{
	(void)format;
	return 1;
}

int say_to(const char *logfile)
{
	(void)logfile;
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

static void take(int times, bool again)
{
	struct daemon d = { .ready = -1, .pid_fd = -1 };
	struct stat ours, there;

	ends = times;
	follows = again;
	check(!daemon_pidfile(&d, path), "not taken");
	check(!ends && d.pid_fd >= 0 && !fstat(d.pid_fd, &ours) &&
	      !stat(path, &there) && ours.st_ino == there.st_ino,
	      "the lock is on a file that is gone");
	check(there.st_size > 1, "no number in it");
	daemon_end(&d, 0);
	check(access(path, F_OK), "it is left behind");
}

static void test_race(void)
{
	take(0, false);
	take(1, false);
	take(1, true);
	take(3, true);
}

static const struct tap_test tests[] = {
	{ "a pidfile that goes before it is locked", test_race },
};

int main(int argc, char **argv)
{
	snprintf(path, sizeof(path), "/tmp/ktape-pid.%ld", (long)getpid());
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
