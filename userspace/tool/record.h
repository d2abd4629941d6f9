/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape record: what its files share.  cmd_record.c has the command line and the
 * summary, record_config.c the session's settings, record_loop.c the loop that waits
 * and writes, record_log.c and log.c the pieces of -l, child.c the recorded command,
 * daemon.c --daemon.
 */
#ifndef _KT_TOOL_RECORD_H
#define _KT_TOOL_RECORD_H

#include "child.h"
#include "daemon.h"
#include "filters.h"
#include "log.h"
#include "tool.h"

#define NOT_GIVEN	UINT64_MAX	/* a number that no option has set */

/**
 * struct record_options - options of ktape record
 * @events: -e
 * @profile: -p
 * @mode: -m
 * @output: -o
 * @split: --split
 * @log: -l
 * @rotate: --rotate
 * @pidfile: --pidfile
 * @logfile: --logfile
 * @keep: --keep
 * @zstd: --zstd
 * @daemon: --daemon
 * @device: --device
 * @session: -S
 * @config: --config
 * @save: --save
 * @filters: --pid and the other filters
 * @ring_size: -b
 * @block_size: -B
 * @time: -d in nanoseconds
 * @no_uring: --no-uring
 * @force: --force
 * @quiet: -q
 */
struct record_options {
	const char *events;
	const char *profile;
	const char *mode;
	const char *output;
	const char *split;
	const char *log;
	const char *rotate;
	const char *pidfile;
	const char *logfile;
	uint64_t keep;
	bool zstd;
	bool daemon;
	const char *device;
	const char *session;
	const char *config;
	const char *save;
	struct filter_options filters;
	uint64_t ring_size;
	uint64_t block_size;
	uint64_t time;
	bool no_uring;
	bool force;
	bool quiet;
};

struct loop;

/**
 * struct record - a recording
 * @o: options
 * @session: session that we created, or that of -S
 * @recorder: writes the rings of @session to the trace
 * @page: page to write when the recording is over, or NULL
 * @trace: folder that is recorded to meanwhile, or NULL
 * @child: recorded command
 * @log: pieces of -l
 * @daemon: background process of --daemon
 * @config: settings of the session: of --config, overridden by options
 * @discard: the session is in discard mode
 * @began: the session, and the command if there is one, were started
 * @loop: state of record_loop() while it runs, or NULL
 * @pipe: descriptor that a pipe form is written to
 * @pipe_flags: flags of standard output to restore at the end; -1: unchanged
 * @seconds: duration of the recording
 */
struct record {
	struct record_options o;
	struct ktape_device *session;
	struct ktape_recorder *recorder;
	const char *page;
	char *trace;
	struct child child;
	struct log log;
	struct daemon daemon;
	struct ktape_config config;
	bool discard;
	bool began;
	struct loop *loop;
	int pipe;
	int pipe_flags;
	double seconds;
};

/* record_config.c */
int record_configure(struct record *r);

/* cmd_record.c */
int record_ready(struct record *r);

/* record_log.c */
int record_first_piece(struct record *r);
void record_next_piece(struct record *r, uint64_t now);
bool record_is_full(struct record *r, uint64_t now);

/* record_loop.c */
int record_loop(struct record *r);
int record_wait(void *arg);

#endif /* _KT_TOOL_RECORD_H */
