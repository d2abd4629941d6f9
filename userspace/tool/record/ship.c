// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape record -l --to: ktape ship as a process beside the recorder, which converts each
 * finished piece.  When the recording is over, it runs once more for the last piece.
 *
 * What it prints becomes messages of this command, because with --daemon there is no
 * terminal.  It ends with this process, however that ends; its work goes on from what is
 * on the disk when the log is recorded again, or by ktape ship.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape.h>

#include "util/file.h"

#include "tool/record/record.h"
#include "tool/shared/message.h"
#include "tool/shared/self.h"
#include "tool/ship/ship.h"

#define PREFIX	      "ktape: "
#define FOLDER_OPTION "parquet:dir="
#define NICE	      10  /* added to the nice value of ktape ship */
#define ARGS	      16U /* room for its arguments */
#define NUMBER_TEXT   24U /* bytes of a number as text */
#define WITHOUT_SIGNALS_MS \
	100 /* between two looks at its end, without a signalfd */

enum {
	EXIT_LEFT = 3 /* of ktape ship: pieces are left */
};

static bool is_relative_folder(const char *to)
{
	return !strncmp(to, FOLDER_OPTION, strlen(FOLDER_OPTION)) &&
	       to[strlen(FOLDER_OPTION)] != '/';
}

/**
 * record_ship_prepare() - check --to, and find out the folder of the log and where its tables go
 * @r: recording with --to, whose log is prepared
 *
 * Return: 0 or the exit code.
 */
int record_ship_prepare(struct record *r)
{
	struct shipper *s = &r->shipper;
	char here[SELF_PATH];
	const char *slash = strrchr(r->log.pattern, '/');

	if (!ship_has_target(r->o.to))
		return misuse(r->command,
			      "--to %s: see ktape-ship(1) for what it can be",
			      r->o.to);
	if (!ktape_codec_find("parquet"))
		return fail("format parquet is not built in");
	if (ship_check_locks())
		return EXIT_FAILED;
	s->folder = strndup(r->log.pattern, (size_t)(slash - r->log.pattern));
	if (!s->folder)
		return fail("%s", strerror(ENOMEM));
	if (strchr(s->folder, '%'))
		return misuse(r->command,
			      "--to needs all pieces in one folder: -l %s names several",
			      r->o.log);
	/* --daemon changes the current directory. */
	if (!is_relative_folder(r->o.to))
		s->to = strdup(r->o.to);
	else if (!getcwd(here, sizeof(here)) ||
		 asprintf(&s->to, FOLDER_OPTION "%s/%s", here,
			  r->o.to + strlen(FOLDER_OPTION)) < 0)
		s->to = NULL;
	return s->to ? 0 : fail("%s", strerror(ENOMEM));
}

/* Run ktape ship in the process that was forked for it. */
static void run_shipper(char *const argv[], const char *path, int out, pid_t parent)
{
	sigset_t none;

	/* It ends with the recorder, even if that is killed. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* Recording goes first.  If that fails, it only ships with the usual priority. */
	if (nice(NICE) < 0)
		errno = 0;
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execv(path, argv);
	_exit(127);
}

/* Fork ktape ship with these arguments.  Return: 0 or negative errno. */
static int spawn_shipper(struct shipper *s, char *const argv[])
{
	const pid_t parent = getpid();
	char path[SELF_PATH];
	int ends[2], err = self_path(path);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	s->pid = fork();
	if (!s->pid)
		run_shipper(argv, path, ends[1], parent);
	err = s->pid < 0 ? -errno : 0;
	close(ends[1]);
	if (err) {
		s->pid = 0;
		close(ends[0]);
		return err;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	s->out = ends[0];
	s->len = 0;
	return 0;
}

/* Begin ktape ship, until a signal (@follow) or once.  Return: 0 or negative errno. */
static int begin_shipper(struct record *r, bool follow)
{
	char max[NUMBER_TEXT];
	char *argv[ARGS] = { (char *)"ktape", (char *)"ship", (char *)"-q",
			     (char *)"--to",  r->shipper.to,  (char *)"--log",
			     r->log.pattern };
	unsigned int n = 7; /* arguments so far */

	if (follow) {
		argv[n++] = (char *)"--follow";
	} else {
		argv[n++] = (char *)"--tries";
		argv[n++] = (char *)"1";
	}
	if (r->o.max) {
		snprintf(max, sizeof(max), "%llu", (unsigned long long)r->o.max);
		argv[n++] = (char *)"--max";
		argv[n++] = max;
	}
	argv[n++] = (char *)"--";
	argv[n++] = r->shipper.folder;
	argv[n] = NULL;
	return spawn_shipper(&r->shipper, argv);
}

/**
 * record_ship_begin() - begin to convert pieces, unless that is going on
 * @r: recording that has begun its first piece
 *
 * If that fails, a message is printed, and it is tried again with the next piece.
 */
void record_ship_begin(struct record *r)
{
	int err;

	if (!r->o.to || r->shipper.pid)
		return;
	err = begin_shipper(r, true);
	if (err)
		note("pieces are not converted: %s: it is tried again with the next piece",
		     strerror(-err));
}

/* Print the whole lines that have arrived as messages. */
static void put_lines(struct shipper *s)
{
	char *line = s->text, *end;

	s->text[s->len] = '\0';
	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		note("%s", strncmp(line, PREFIX, strlen(PREFIX)) ?
				   line :
				   line + strlen(PREFIX));
		line = end + 1;
	}
	s->len -= (size_t)(line - s->text);
	memmove(s->text, line, s->len);
	/* A line that does not fit is printed in parts. */
	if (s->len == SHIPPER_TEXT - 1) {
		note("%s", s->text);
		s->len = 0;
	}
}

/**
 * record_ship_read() - pass on the messages of ktape ship that have arrived
 * @r: recording
 */
void record_ship_read(struct record *r)
{
	struct shipper *s = &r->shipper;
	ssize_t n = 1;

	while (s->out >= 0 && n > 0) {
		n = read(s->out, s->text + s->len, SHIPPER_TEXT - 1 - s->len);
		if (n > 0) {
			s->len += (size_t)n;
			put_lines(s);
		} else if (!n) {
			close(s->out);
			s->out = -1;
		}
	}
}

/**
 * record_ship_reap() - take note if ktape ship has ended
 * @r: recording
 */
void record_ship_reap(struct record *r)
{
	struct shipper *s = &r->shipper;
	int status;

	if (!s->pid || waitpid(s->pid, &status, WNOHANG) != s->pid)
		return;
	s->pid = 0;
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	record_ship_read(r);
}

/* Wait for the end of ktape ship; pass a signal on to it: record_loop() has blocked them. */
static void wait_for_end(struct record *r)
{
	struct shipper *s = &r->shipper;
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	fds[1].fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	while (s->pid) {
		fds[0].fd = s->out;
		/* Without a signalfd, poll() does not return when the process ends. */
		if (poll(fds, 2, fds[1].fd < 0 ? WITHOUT_SIGNALS_MS : -1) < 0 &&
		    errno != EINTR)
			break;
		record_ship_read(r);
		while (kt_read_some(fds[1].fd, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGCHLD)
				kill(s->pid, SIGTERM);
		}
		record_ship_reap(r);
	}
	if (fds[1].fd >= 0)
		close(fds[1].fd);
}

static void report_left(const struct record *r)
{
	if (r->shipper.status == EXIT_LEFT)
		note("pieces in %s are not converted yet: ktape ship --to '%s' %s",
		     r->shipper.folder, r->shipper.to, r->shipper.folder);
	else if (r->shipper.status)
		note("not all pieces in %s could be converted: ktape ship --to '%s' %s",
		     r->shipper.folder, r->shipper.to, r->shipper.folder);
}

/**
 * record_ship_finish() - end ktape ship, then run it once for what is left
 * @r: recording that is over, whose last piece is not locked any more
 *
 * Return: 0 or the exit code.
 */
int record_ship_finish(struct record *r)
{
	struct shipper *s = &r->shipper;
	int err;

	if (s->pid) {
		kill(s->pid, SIGTERM);
		wait_for_end(r);
	}
	err = begin_shipper(r, false);
	if (err)
		return fail("the last piece is not converted: %s", strerror(-err));
	wait_for_end(r);
	report_left(r);
	return s->status ? EXIT_FAILED : EXIT_OK;
}

/**
 * record_ship_release() - free what belongs to --to
 * @s: the process
 */
void record_ship_release(struct shipper *s)
{
	if (s->out >= 0)
		close(s->out);
	free(s->folder);
	free(s->to);
}
