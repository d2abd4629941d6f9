/* SPDX-License-Identifier: GPL-2.0-only */
/* The command that ktape record runs and records. */
#ifndef _KT_TOOL_RECORD_CHILD_H
#define _KT_TOOL_RECORD_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct child - a command that waits for the recording to begin
 * @name: name of the command
 * @no_stdout: send its standard output to standard error
 * @pid: its process; 0: none
 * @go: write end of a pipe: one byte starts the command
 * @trouble: read end of a pipe: errno of execvp(3), or end of file on success
 * @trouble_errno: negative errno why it could not be run; 0: none
 * @ended: the command has ended
 * @status: status from waitpid(2), valid if @ended
 */
struct child {
	const char *name;
	bool no_stdout;
	pid_t pid;
	int go;
	int trouble;
	int trouble_errno;
	bool ended;
	int status;
};

/*
 * child_prepare() forks, child_begin() executes; if the program is not found, child_prepare() sets
 * @trouble_errno.  child_reap() sets @ended.  child_end() is for every struct, also one of zeros.
 */
int child_prepare(struct child *c, char **argv);
int child_begin(struct child *c);
void child_signal(const struct child *c, int number);
void child_reap(struct child *c);
void child_end(struct child *c);

#endif /* _KT_TOOL_RECORD_CHILD_H */
