/* SPDX-License-Identifier: GPL-2.0-only */
/* Run programs without a shell, and wait for processes. */
#ifndef _KT_SPAWN_H
#define _KT_SPAWN_H

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include "kt.h"

#define KT_SAME (-1) /* the output stays what it is here */

/**
 * kt_spawn() - start a program
 * @argv: its name, searched in $PATH, and its arguments, up to NULL
 * @out: descriptor that becomes its standard output, or KT_SAME
 * @err: the same for its standard error
 *
 * Return: its process, or -1, with errno set.
 */
static inline pid_t kt_spawn(char *const argv[], int out, int err)
{
	posix_spawn_file_actions_t files;
	pid_t pid = -1;
	int ret;

	posix_spawn_file_actions_init(&files);
	if (out != KT_SAME)
		posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (err != KT_SAME)
		posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
	ret = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	errno = ret;
	return ret ? -1 : pid;
}

/**
 * kt_exit_status() - wait until a process ends
 * @pid: a child, or -1, which fork() and kt_spawn() return when they fail
 *
 * Return: its exit status, or -1 if there is no such child or a signal ended it.
 */
static inline int kt_exit_status(pid_t pid)
{
	int status;
	pid_t ended;

	if (pid < 0)
		return -1;
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Run a program to its end, see kt_spawn().  Return: its exit status, 127 if there is no such
 * program, as from a shell, or -1.
 */
static inline int kt_run(char *const argv[], int out, int err)
{
	pid_t pid = kt_spawn(argv, out, err);

	return pid < 0 && errno == ENOENT ? 127 : kt_exit_status(pid);
}

/**
 * kt_fork_in_cgroup() - fork a child that is in another cgroup
 * @path: folder of the cgroup (v2)
 *
 * What the child takes is charged to that cgroup.  A child that cannot move exits with 255.
 *
 * Return: as fork().
 */
static inline pid_t kt_fork_in_cgroup(const char *path)
{
	char procs[128];
	pid_t pid = fork();

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	if (!pid && kt_write_text(procs, "0"))
		_exit(255);
	return pid;
}

#endif /* _KT_SPAWN_H */
