// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the command that is recorded.  Its process is forked early and waits on a pipe,
 * so that recording can begin before it executes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"

#include "tool/record/child.h"
#include "tool/shared/limit.h"

/* Wait for the byte that starts the command, then execute it.  Does not return. */
static void run_child(const struct child *c, char **argv, int go, int trouble)
{
	sigset_t none;
	char byte;
	int err;

	if (kt_read_some(go, &byte, 1) != 1)
		_exit(0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	restore_files_limit();
	if (c->no_stdout)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* If this succeeds, it closes @trouble, and child_begin() reads the end of the pipe. */
	execvp(argv[0], argv);
	err = errno;
	kt_write_all(trouble, &err, sizeof(err));
	_exit(127);
}

static int can_run(const char *path)
{
	struct stat st;

	if (stat(path, &st) || access(path, X_OK))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

/*
 * Find a program as execvp(3) does.  Without PATH that function has places of its own, so it is
 * asked.  Return: 0 or negative errno.
 */
static int find_program(const char *name)
{
	const char *path = getenv("PATH");
	int err = -ENOENT, ret;
	char file[PATH_MAX];

	if (strchr(name, '/') || !path)
		return strchr(name, '/') ? can_run(name) : 0;
	for (;;) {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s%s%s", (int)len, path,
			 len ? "/" : "", name);
		ret = can_run(file);
		if (!ret)
			return 0;
		if (ret == -EACCES)
			err = ret;
		path += len;
		if (!*path++)
			return err;
	}
}

/**
 * child_prepare() - fork the process, which then waits for child_begin()
 * @c: @c->no_stdout is read, the rest is filled
 * @argv: the command, ending in NULL
 *
 * Return: 0 or negative errno; @c->trouble_errno is set if it cannot be run.
 */
int child_prepare(struct child *c, char **argv)
{
	int go[2], trouble[2], err;

	c->name = argv[0];
	c->trouble_errno = find_program(argv[0]);
	if (c->trouble_errno)
		return c->trouble_errno;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(trouble, O_CLOEXEC)) {
		err = -errno;
		goto err_go;
	}
	c->pid = fork();
	if (c->pid < 0) {
		err = -errno;
		c->pid = 0;
		goto err_trouble;
	}
	if (!c->pid) {
		close(go[1]);
		run_child(c, argv, go[0], trouble[1]);
	}
	close(go[0]);
	close(trouble[1]);
	c->go = go[1];
	c->trouble = trouble[0];
	return 0;

err_trouble:
	close(trouble[0]);
	close(trouble[1]);
err_go:
	close(go[0]);
	close(go[1]);
	return err;
}

/**
 * child_begin() - execute the command
 * @c: from child_prepare()
 *
 * Return: 0, or negative errno if it could not be executed.
 */
int child_begin(struct child *c)
{
	int err = 0;

	if (kt_write_all(c->go, "", 1))
		return -ECHILD;
	if (kt_read_some(c->trouble, &err, sizeof(err)) == sizeof(err))
		return -err;
	return 0;
}

/**
 * child_signal() - send a signal to the command, if it runs
 * @c: the command
 * @number: number of the signal
 */
void child_signal(const struct child *c, int number)
{
	if (c->pid && !c->ended)
		kill(c->pid, number);
}

/**
 * child_reap() - take the exit status if the command has ended
 * @c: the command
 */
void child_reap(struct child *c)
{
	if (c->pid && !c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
}

/**
 * child_end() - end the command and close the pipes, without waiting for its end
 * @c: the command; it gets SIGTERM if it still runs
 */
void child_end(struct child *c)
{
	if (!c->pid)
		return;
	child_reap(c);
	child_signal(c, SIGTERM);
	close(c->go);
	close(c->trouble);
	c->pid = 0;
}
