/* SPDX-License-Identifier: GPL-2.0-only */
/* The command that is recorded. */
#ifndef _KT_CHILD_H
#define _KT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct child - a command that waits for the recording to begin
 * @name: of the command
 * @no_stdout: its standard output is our standard error
 * @pid: its process, 0 if there is none
 * @go: writing end: one byte lets it begin
 * @trouble: reading end: errno of execvp(3), or its end
 * @trouble_errno: negative errno with which it could not be run, or 0
 * @ended: it is over
 * @status: as from waitpid(2)
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

int child_prepare(struct child *c, char **argv);
int child_begin(struct child *c);
void child_signal(const struct child *c, int number);
void child_reap(struct child *c);
void child_end(struct child *c);

#endif /* _KT_CHILD_H */
