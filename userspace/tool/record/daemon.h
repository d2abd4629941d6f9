/* SPDX-License-Identifier: GPL-2.0-only */
/* Run in the background (ktape record --daemon), and the pidfile. */
#ifndef _KT_TOOL_RECORD_DAEMON_H
#define _KT_TOOL_RECORD_DAEMON_H

#include <stdbool.h>

/**
 * struct daemon - background process
 * @on: --daemon was given
 * @ready: write end of a pipe: one byte is the exit code for the caller; -1: none
 * @pidfile: absolute path of the pidfile, or NULL
 * @pid_fd: the pidfile, locked while the process lives; -1: none
 */
struct daemon {
	bool on;
	int ready;
	char *pidfile;
	int pid_fd;
};

/*
 * daemon.c: in this order.  Of the two processes in which daemon_begin() returns, the caller's
 * exits; the other one goes on, and daemon_redirect() lets the caller's exit with success.
 * daemon_end() is last; a process that ends without it lets the caller's fail.
 */
int daemon_begin(struct daemon *d, int *code);
int daemon_pidfile(struct daemon *d, const char *path);
int daemon_redirect(struct daemon *d, const char *logfile);
void daemon_end(struct daemon *d, int code);

/* messages.c */
int redirect_messages(const char *logfile);

#endif /* _KT_TOOL_RECORD_DAEMON_H */
