/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape record: what its files share.  cmd_record.c has the options and the summary,
 * record_check.c which of them go together, record_config.c the session's settings,
 * record_loop.c the loop that waits and writes, record_log.c and log.c the pieces of -l,
 * record_ship.c their conversion, record_activate.c --activate, child.c the recorded
 * command, daemon.c --daemon.
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
 * @activate: --activate
 * @ctf: --ctf
 * @to: --to
 * @max: --max in bytes; 0: not given
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
	const char *activate;
	const char *ctf;
	const char *to;
	uint64_t max;
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

/**
 * struct activation - when a recording begins
 * @period: at the next multiple of this since the epoch, in ns; 0: at @at
 * @at: ns since the epoch
 */
struct activation {
	uint64_t period;
	uint64_t at;
};

#define SHIPPER_TEXT	1024U

/**
 * struct shipper - the process that converts the pieces of a log
 * @folder: folder of the log
 * @to: where its tables go, as ktape ship takes it
 * @pid: the process; 0: none
 * @out: what it prints; -1: none
 * @status: exit status of the last process; -1: a signal ended it
 * @text: beginning of a line that it prints
 * @len: bytes of @text
 */
struct shipper {
	char *folder;
	char *to;
	pid_t pid;
	int out;
	int status;
	char text[SHIPPER_TEXT];
	size_t len;
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
 * @activation: moment of --activate
 * @shipper: process of --to
 * @daemon: background process of --daemon
 * @config: settings of the session: of --config, overridden by options
 * @two: the metadata are in CTF 2 at the end
 * @detached: the process runs in the background
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
	struct activation activation;
	struct shipper shipper;
	struct daemon daemon;
	struct ktape_config config;
	bool two;
	bool detached;
	bool discard;
	bool began;
	struct loop *loop;
	int pipe;
	int pipe_flags;
	double seconds;
};

/* record_config.c */
int record_configure(struct record *r);

/* record_check.c */
int record_check(struct record *r, int operands);

/* cmd_record.c */
bool record_to_pipe(const struct record *r);
int record_ready(struct record *r);

/* record_log.c */
int record_first_piece(struct record *r);
void record_next_piece(struct record *r, uint64_t now);
void record_unlock_piece(struct record *r);
bool record_is_full(struct record *r, uint64_t now);

/* record_ship.c */
int record_ship_prepare(struct record *r);
void record_ship_begin(struct record *r);
void record_ship_read(struct record *r);
void record_ship_reap(struct record *r);
int record_ship_finish(struct record *r);
void record_ship_release(struct shipper *s);

/* record_activate.c */
int record_activate_parse(struct activation *a, const char *text);
int record_activate(const struct activation *a, bool quiet);

/* record_loop.c */
int record_loop(struct record *r);
int record_wait(void *arg);

#endif /* _KT_TOOL_RECORD_H */
