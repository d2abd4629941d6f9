// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run in the background, and keep a pidfile.
 *
 * daemon_begin() forks.  The caller's process waits on a pipe until the background
 * process calls daemon_redirect() or daemon_end(), and exits with the code that it
 * gets.  So errors of setting up appear on standard error, with an exit status;
 * later ones go to the system log or --logfile.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"

#include "tool/record/daemon.h"
#include "tool/shared/message.h"

#define PID_TEXT 24 /* bytes of a process id as text, with a newline */

/* Wait for the exit code from the background process. */
static int wait_for_code(int fd)
{
	unsigned char code;

	return kt_read_some(fd, &code, 1) == 1 ? code : EXIT_FAILED;
}

/* Detach from the terminal; the second fork prevents getting one again. */
static int leave_terminal(int ready[2])
{
	pid_t pid;

	close(ready[0]);
	if (setsid() < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid)
		_exit(0);
	return 0;
}

/**
 * daemon_begin() - fork the background process
 * @d: does nothing unless @d->on
 * @code: set to the exit code, in the caller's process
 *
 * Return: 0 in the background process (or without @d->on), 1 in the caller's
 * process, or negative errno.
 */
int daemon_begin(struct daemon *d, int *code)
{
	int ready[2], err;
	pid_t pid;

	if (!d->on)
		return 0;
	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(ready[0]);
		close(ready[1]);
		return err;
	}
	d->ready = ready[1];
	if (!pid)
		return leave_terminal(ready);
	close(ready[1]);
	d->ready = -1;
	waitpid(pid, NULL, 0);
	*code = wait_for_code(ready[0]);
	close(ready[0]);
	return 1;
}

static void read_pid(int fd, char text[PID_TEXT])
{
	memset(text, 0, PID_TEXT);
	if (kt_pread_all(fd, text, PID_TEXT - 1, 0) < 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static int report_in_use(int fd, const char *path)
{
	char text[PID_TEXT];

	read_pid(fd, text);
	return fail("%s: process %s is already running", path, text);
}

/*
 * Try to lock the pidfile.  A kernel without CONFIG_FILE_LOCKING has no flock(2):
 * then the process that the file names owns it while that process lives.
 */
static bool take_pidfile_lock(int fd)
{
	char text[PID_TEXT];
	pid_t pid;

	if (!flock(fd, LOCK_EX | LOCK_NB))
		return true;
	if (errno != ENOSYS)
		return false;
	read_pid(fd, text);
	pid = (pid_t)strtol(text, NULL, 10);
	if (pid <= 0 || pid == getpid() || (kill(pid, 0) && errno == ESRCH))
		return true;
	errno = EWOULDBLOCK;
	return false;
}

/* Return true if the pidfile's owner removed it between our open() and our lock. */
static bool pidfile_is_gone(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) || lstat(path, &there) ||
	       ours.st_dev != there.st_dev || ours.st_ino != there.st_ino;
}

/* Open and lock the pidfile.  Return: descriptor; or -1 with *code set. */
static int lock_pidfile(const char *path, int *code)
{
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd >= 0 && take_pidfile_lock(fd)) {
			if (!pidfile_is_gone(fd, path))
				return fd;
			close(fd);
			continue;
		}
		*code = fd >= 0 && errno == EWOULDBLOCK ?
				report_in_use(fd, path) :
				fail("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
}

/**
 * daemon_pidfile() - lock the pidfile and write our process id to it
 * @d: background process
 * @path: path of the file; one that a dead process has left is reused
 *
 * Return: 0 or the exit code.
 */
int daemon_pidfile(struct daemon *d, const char *path)
{
	char text[PID_TEXT], whole[PATH_MAX] = "";
	int fd, len, code = EXIT_FAILED;

	fd = lock_pidfile(path, &code);
	if (fd < 0)
		return code;
	len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) || kt_write_all(fd, text, (size_t)len)) {
		close(fd);
		return fail("%s: %s", path, strerror(errno));
	}
	d->pid_fd = fd;
	d->pidfile = realpath(path, whole) ? strdup(whole) : NULL;
	return 0;
}

/**
 * daemon_redirect() - report success to the caller's process and detach
 * @d: background process; without @d->on only @logfile is opened
 * @logfile: file for messages; NULL: the system log
 *
 * Return: 0 or the exit code.
 */
int daemon_redirect(struct daemon *d, const char *logfile)
{
	const unsigned char code = EXIT_OK;
	int null;

	if (!d->on)
		return logfile ? redirect_messages(logfile) : 0;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* Open the log before chdir(): its path is relative to the caller's directory. */
	if (null >= 0 && redirect_messages(logfile))
		return EXIT_FAILED;
	if (null < 0 || chdir("/"))
		return fail("cannot go into the background (/dev/null or chdir to /): %s",
			    strerror(errno));
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close(null);
	kt_write_all(d->ready, &code, 1);
	close(d->ready);
	d->ready = -1;
	return 0;
}

/**
 * daemon_end() - remove the pidfile, and report to the caller if it still waits
 * @d: background process
 * @code: exit code for the caller's process
 */
void daemon_end(struct daemon *d, int code)
{
	const unsigned char byte = (unsigned char)code;

	/* Unlink it while locked: a process that locks it next finds that it was removed. */
	if (d->pidfile && !pidfile_is_gone(d->pid_fd, d->pidfile))
		unlink(d->pidfile);
	if (d->pid_fd >= 0)
		close(d->pid_fd);
	if (d->ready >= 0) {
		kt_write_all(d->ready, &byte, 1);
		close(d->ready);
	}
	free(d->pidfile);
	d->pidfile = NULL;
	d->ready = -1;
	d->pid_fd = -1;
}
