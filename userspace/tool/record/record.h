/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape record: create a session, or take that of -S, and write its rings.
 *
 * In the order in which to read them:
 *	config.c	settings of the session
 *	activate.c	--activate: wait for a moment of the clock
 *	ship.c		--to: a process that converts finished pieces
 *	check.c		which options go together
 *	child.c		the command that is recorded
 *	messages.c	messages without a terminal
 *	daemon.c	--daemon and the pidfile
 *	log.c		-l: when a piece is full, and the next one
 *	loop.c		wait for rings, the command, the time and signals; write
 *	record.c	options, setting up, the summary
 *
 * snapshot.c, recover.c and try.c are the commands of these names: they make a trace, too.
 */
#ifndef _KT_TOOL_RECORD_H
#define _KT_TOOL_RECORD_H

#include <stdbool.h>
#include <string.h>

#include <ktape.h>

#include "tool/log/log.h"
#include "tool/record/child.h"
#include "tool/record/daemon.h"
#include "tool/session/filters.h"
#include "tool/shared/opt.h"

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
 * @keep: --keep; NOT_GIVEN: all pieces
 * @zstd: --zstd
 * @daemon: --daemon
 * @device: --device
 * @session: -S
 * @config: --config
 * @save: --save
 * @filters: --pid and the other filters
 * @ring_size: -b; NOT_GIVEN: the usual one, or that of --config
 * @block_size: -B; the same
 * @time: -d in nanoseconds; NOT_GIVEN: no end
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

#define SHIPPER_TEXT 1024U /* bytes of a line of ktape ship */

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
 * @command: ktape record, for messages
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
 * @ctf2: the metadata are in CTF 2 at the end
 * @detached: record_redirect() was called: messages go to --logfile or the system log, and with
 *	--daemon the process runs in the background
 * @discard: the session is in discard mode
 * @began: the session, and the command if there is one, were started
 * @loop: state of record_loop() while it runs, or NULL
 * @pipe: descriptor that a pipe form is written to
 * @pipe_flags: flags of standard output to restore at the end; -1: unchanged
 * @seconds: duration of the recording
 */
struct record {
	const struct kt_command *command;
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
	bool ctf2;
	bool detached;
	bool discard;
	bool began;
	struct loop *loop;
	int pipe;
	int pipe_flags;
	double seconds;
};

/**
 * record_to_pipe() - is the trace a pipe form on standard output?
 * @r: the recording
 *
 * Return: true for -o -.
 */
static inline bool record_to_pipe(const struct record *r)
{
	return r->o.output && !strcmp(r->o.output, "-");
}

/* config.c */
int record_configure(struct record *r);

/* check.c */
int record_check(struct record *r, int operands);

/* log.c */
int record_first_piece(struct record *r);
void record_next_piece(struct record *r, uint64_t now);
void record_unlock_piece(struct record *r);
bool record_is_full(struct record *r, uint64_t now);

/* ship.c */
int record_ship_prepare(struct record *r);
void record_ship_begin(struct record *r);
void record_ship_read(struct record *r);
void record_ship_reap(struct record *r);
int record_ship_finish(struct record *r);
void record_ship_release(struct shipper *s);

/* activate.c */
int record_activate_parse(const struct kt_command *command,
			  struct activation *a, const char *text);
int record_activate(const struct activation *a, bool quiet);

/* loop.c */
bool record_needs_redirect(const struct record *r);
int record_redirect(struct record *r);
int record_loop(struct record *r);
int record_wait(void *arg);

extern const struct kt_command command_record;
extern const struct kt_command command_recover;
extern const struct kt_command command_snapshot;
extern const struct kt_command command_try;

#endif /* _KT_TOOL_RECORD_H */
