/* SPDX-License-Identifier: GPL-2.0-only */
/* Going into the background: until it is ready, the caller waits. */
#ifndef _KT_DAEMON_H
#define _KT_DAEMON_H

#include <stdbool.h>

/**
 * struct daemon - a process of the background
 * @on: we are to be one
 * @ready: writing end: one byte is the exit code of who started us, or -1
 * @pidfile: its path, or NULL
 * @pid_fd: its descriptor, locked as long as we live, or -1
 */
struct daemon {
	bool on;
	int ready;
	char *pidfile;
	int pid_fd;
};

int daemon_begin(struct daemon *d, int *code);
int daemon_pidfile(struct daemon *d, const char *path);
int daemon_detach(struct daemon *d, const char *logfile);
void daemon_end(struct daemon *d, int code);

#endif /* _KT_DAEMON_H */
