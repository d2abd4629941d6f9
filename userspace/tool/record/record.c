// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape record: create a session (or take that of -S) and write its rings to a
 * directory, a pipe (pipe form: one stream, which --split splits into the files of a
 * directory) or a rotating log, until a time, a command or a signal ends it.
 * This file has the options, setting up and the summary; check.c has what options
 * exclude each other; the loop is in loop.c, reading and writing rings in the
 * library (lib/record/).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/record/record.h"
#include "tool/session/session.h"
#include "tool/shared/ctf2.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/self.h"
#include "tool/shared/signals.h"
#include "tool/shared/text.h"

#define OPT(member) offsetof(struct record_options, member)

static const struct kt_option options[] = {
	{ "events", 'e', KT_OPT_TEXT, OPT(events), "LIST",
	  "events, classes, globs, comma separated" },
	{ "profile", 'p', KT_OPT_TEXT, OPT(profile), "MASK",
	  "none, default, all or a 0x mask; default without -e" },
	{ "mode", 'm', KT_OPT_TEXT, OPT(mode), "MODE",
	  "discard (default), overwrite or snapshot" },
	{ "session", 'S', KT_OPT_TEXT, OPT(session), "NAME",
	  "record an existing session, by name or number" },
	{ "buffer", 'b', KT_OPT_SIZE, OPT(ring_size), "SIZE",
	  "ring size of each CPU (default 4M)" },
	{ "block", 'B', KT_OPT_SIZE, OPT(block_size), "SIZE",
	  "block size (default 64K)" },
	{ "duration", 'd', KT_OPT_TIME, OPT(time), "TIME",
	  "stop after this time: 10s, 500ms" },
	{ "activate", 0, KT_OPT_TEXT, OPT(activate), "/TIME|DATE",
	  "begin at a multiple of TIME of the clock, or at DATE" },
	{ "output", 'o', KT_OPT_TEXT, OPT(output), "DIR|FILE.html|-",
	  "directory or page to create; -: pipe form on standard output" },
	{ "log", 'l', KT_OPT_TEXT, OPT(log), "DIR|NAME",
	  "instead of -o: rotating log, named as by strftime(3)" },
	{ "rotate", 0, KT_OPT_TEXT, OPT(rotate), "SIZE|TIME",
	  "-l: begin a new piece after this much: 100M, 1h" },
	{ "keep", 0, KT_OPT_NUMBER, OPT(keep), "N",
	  "-l: keep N pieces, remove the oldest" },
	{ "to", 0, KT_OPT_TEXT, OPT(to), "URL|COMMAND|parquet",
	  "-l: convert finished pieces, as by ktape ship --to" },
	{ "max", 0, KT_OPT_SIZE, OPT(max), "SIZE",
	  "--to: remove the oldest pieces if all take more" },
	{ "zstd", 0, KT_OPT_FLAG, OPT(zstd), NULL, "compress" },
	{ "daemon", 0, KT_OPT_FLAG, OPT(daemon), NULL, "-l: run in the background" },
	{ "pidfile", 0, KT_OPT_TEXT, OPT(pidfile), "FILE",
	  "-l: write the process id to FILE while running" },
	{ "logfile", 0, KT_OPT_TEXT, OPT(logfile), "FILE",
	  "-l: write messages to FILE (else, --daemon: syslog)" },
	{ "split", 0, KT_OPT_TEXT, OPT(split), "FILE|-",
	  "do not record; make the directory from a pipe form" },
	{ "config", 'C', KT_OPT_TEXT, OPT(config), "FILE",
	  "read settings from FILE; options override them" },
	{ "save", 0, KT_OPT_TEXT, OPT(save), "FILE",
	  "write settings to FILE; without -o, do not record" },
	FILTER_OPTIONS(struct record_options, filters),
	{ "ctf", 0, KT_OPT_TEXT, OPT(ctf), "1.8|2",
	  "-o DIR: version of its metadata (default: 1.8)" },
	{ "force", 'f', KT_OPT_FLAG, OPT(force), NULL, "replace the trace in DIR" },
	{ "no-uring", 0, KT_OPT_FLAG, OPT(no_uring), NULL, "write without io_uring" },
	{ "quiet", 'q', KT_OPT_FLAG, OPT(quiet), NULL, "no progress, no summary" },
	{ "device", 0, KT_OPT_TEXT, OPT(device), "PATH",
	  "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

/* Damage found while splitting a pipe form. */
struct split_damage {
	const char *input;
	bool packets;
	bool metadata;
};

static void take_split_notice(void *arg, const struct ktape_notice *n)
{
	struct split_damage *damage = arg;

	damage->packets |= n->kind == KTAPE_NOTICE_CORRUPT;
	damage->metadata |= n->kind == KTAPE_NOTICE_METADATA;
	if (n->kind == KTAPE_NOTICE_METADATA)
		note("%s: %s", damage->input, n->error.text);
	if (n->kind == KTAPE_NOTICE_TRUNCATED || n->kind == KTAPE_NOTICE_CORRUPT)
		note("at byte %llu: %s", (unsigned long long)n->error.offset,
		     n->error.text);
}

static int report_occupied(const char *dir, int err)
{
	if (err == -ENOTEMPTY)
		return fail("%s is not empty: use --force to replace the trace in it",
			    dir);
	return fail("%s has files that are not of a ktape trace: nothing was removed, choose another directory",
		    dir);
}

static bool has_final_slash(const char *path)
{
	size_t len = strlen(path);

	return len > 1 && path[len - 1] == '/';
}

/* Make a directory from a pipe form (--split).  Return: 0 or the exit code. */
static int split_pipe(const struct record_options *o)
{
	struct split_damage damage = { .input = o->split };
	const struct ktape_trace_options how = {
		.notice = take_split_notice,
		.arg = &damage,
	};
	char *const input = (char *)o->split;
	struct ktape_error error = { .text = "" };
	int err = output_check(o->output, &input, 1);

	if (err)
		return err;
	/* If a signal ends the command, it removes the temporary folder. */
	err = signals_sweep(o->output);
	if (!err)
		err = ktape_split(o->split, o->output, o->force, &how, &error);
	if (err == -ENOTEMPTY || err == -EEXIST)
		return report_occupied(o->output, err);
	if (err == -EBADMSG)
		return fail("%s: %s", o->split, error.text);
	if (err < 0)
		return fail("%s to %s: %s", o->split, o->output, strerror(-err));
	/*
	 * 1: the input is a file, and its output did not replace an earlier trace.  If it is
	 * a pipe, the rest is in place, and @damage says what is missing.
	 */
	if (err)
		return fail("a part of %s is damaged: %s stays as it was, and what could be read is in %.*s.partial",
			    o->split, o->output,
			    (int)(strlen(o->output) - has_final_slash(o->output)),
			    o->output);
	if (damage.packets)
		return fail("%s: damaged packets were left out", o->split);
	if (damage.metadata)
		return fail("%s: its metadata was changed and is copied as it is: names, times and fields may be wrong",
			    o->split);
	return EXIT_OK;
}

/* Set the filters and the profile of the session.  Return: 0 or the exit code. */
static int set_profile(struct record *r)
{
	const struct ktape_config *c = &r->config;
	uint64_t events[KTAPE_MASK_WORDS];
	struct ktape_profile p = { .flags = 0 };
	int err;

	/* false: keep the filters that the session has. */
	if (filters_apply(r->session, c, false))
		return EXIT_FAILED;
	memcpy(p.mask, c->mask, sizeof(p.mask));
	if (c->given & KTAPE_CONFIG_CONTEXT && !c->context)
		p.flags = KTAPE_PROFILE_NO_CONTEXT;
	if (r->o.events && !ktape_mask_parse(r->o.events, events, NULL))
		report_unavailable(r->session, r->o.events, events);
	/* Recording the kernel's log needs a right. */
	report_no_log(r->session, r->o.events, c->mask);
	err = ktape_device_profile(r->session, KTAPE_PROFILE_SET, &p);
	return err ? report_profile_refused(r->session, c->mask, err) : 0;
}

/* Create a session.  Return: 0 or the exit code. */
static int make_record_session(struct record *r)
{
	struct ktape_create create = {
		.mode = r->config.mode,
		.ring_size = r->o.ring_size,
		.block_size = (uint32_t)r->o.block_size,
	};
	struct ktape_device *device;
	int err;

	if (open_device(r->o.device, true, &device))
		return EXIT_FAILED;
	err = session_create(device, &create, r->config.mask, &r->session);
	if (err)
		err = session_refused(device, &create, err);
	else
		report_sizes(r->session, &create);
	ktape_device_close(device);
	return err ? err : set_profile(r);
}

/*
 * Attach to the session of -S, and set the sizes in r->o to those of its rings.
 * Return: 0 or the exit code.
 */
static int attach_session(struct record *r)
{
	struct ktape_layout_entry *entries = NULL;
	struct ktape_layout layout;
	int err;

	if (open_named(r->o.device, r->o.session, may_control(r->o.device),
		       &r->session))
		return EXIT_FAILED;
	err = ktape_device_layout(r->session, &layout, &entries);
	for (unsigned int i = 0; !err && i < layout.nr; i++) {
		if (entries[i].kind != KTAPE_RING_EVENT)
			continue;
		r->o.ring_size = entries[i].data_size;
		r->o.block_size = entries[i].block_size;
		break;
	}
	free(entries);
	if (err)
		return fail("cannot read the layout of the session: %s",
			    strerror(-err));
	/* Without -S, record_configure() has set it. */
	r->discard = layout.mode == KTAPE_MODE_DISCARD;
	return 0;
}

/*
 * Create or attach the session, become a consumer if its mode has them, and set its watermark.
 * Return: 0 or the exit code.
 */
static int open_session(struct record *r)
{
	int err = r->o.session ? attach_session(r) : make_record_session(r);

	if (err)
		return err;
	/* A ring in discard mode waits until its consumers have read. */
	if (r->discard)
		err = ktape_device_consumer(r->session, true);
	/* Wake us when an eighth of a ring is unread, but not for less than two blocks. */
	if (!err)
		err = ktape_device_watermark(
			r->session,
			kt_min(kt_max(r->o.block_size * 2, r->o.ring_size / 8),
			       r->o.ring_size));
	return err ? fail("cannot prepare the session: %s", strerror(-err)) : 0;
}

/* Return the path that is being written, for messages. */
static const char *target_name(const struct record *r)
{
	return r->o.log ? log_current(&r->log) : r->o.output;
}

/*
 * Make standard output non-blocking, because the rings have to be drained even if the
 * reader of the pipe stops.  Open a pipe anew for that: other processes may share the
 * open file description, whose flags would change for them too.
 */
static void open_output_pipe(struct record *r)
{
	struct stat st;
	int flags, fd = -1;

	r->pipe = STDOUT_FILENO;
	if (fstat(STDOUT_FILENO, &st))
		return;
	if (S_ISFIFO(st.st_mode))
		fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		r->pipe = fd;
		return;
	}
	flags = fcntl(STDOUT_FILENO, F_GETFL);
	if ((S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && flags >= 0) {
		fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
		r->pipe_flags = flags;
	}
}

/* Open the output and the recorder.  Return: 0 or the exit code. */
static int open_recorder(struct record *r)
{
	struct ktape_recorder_options how = {
		.dir = record_to_pipe(r) ? NULL : r->o.output,
		.wait = record_wait,
		.arg = r,
		.flags = (r->o.force ? KTAPE_RECORD_FORCE : 0U) |
			 (r->o.session ? KTAPE_RECORD_ATTACHED : 0U) |
			 (r->o.no_uring ? KTAPE_RECORD_NO_URING : 0U) |
			 (r->o.zstd ? KTAPE_RECORD_ZSTD : 0U),
	};
	int err;

	if (record_to_pipe(r) && isatty(STDOUT_FILENO))
		return fail("standard output is a terminal, and a trace is binary: redirect it, or use -o DIR");
	if (record_to_pipe(r))
		open_output_pipe(r);
	how.fd = r->pipe;
	if (r->o.log)
		err = record_first_piece(r);
	else
		err = ktape_recorder_open(r->session, &how, &r->recorder);
	if (err == -ENOTEMPTY || (err == -EEXIST && r->o.output))
		return report_occupied(r->o.output, err);
	if (err)
		return fail("%s: %s", r->o.log ? r->log.pattern : r->o.output,
			    recorder_error(err));
	return 0;
}

static void report_summary(const struct record *r,
			   const struct ktape_recorder_stats *s)
{
	char size[16], pieces[48] = "";

	if (r->o.quiet)
		return;
	put_human(size, sizeof(size), s->bytes);
	if (r->o.log && r->log.made > 1)
		snprintf(pieces, sizeof(pieces), " the last of %llu pieces is",
			 (unsigned long long)r->log.made);
	note("%llu events, %s, %llu lost, %llu filtered, %.2f s:%s %s",
	     (unsigned long long)s->records, size,
	     (unsigned long long)(s->lost + s->missed),
	     (unsigned long long)s->filtered, r->seconds, pieces, target_name(r));
}

static void report_plain_writes(const struct record *r,
				const struct ktape_recorder_stats *s)
{
	if (s->plain_writes && !record_to_pipe(r) && !r->o.no_uring &&
	    !r->o.zstd && !r->log.file)
		note("using plain writes, because io_uring or O_DIRECT is not available: %s",
		     strerror(-s->plain_writes));
}

/*
 * Was the session cleared, so that records are gone that nobody has read?  Then a ring has a floor,
 * the position below which everything was cleared.
 */
static bool was_cleared(struct ktape_device *session)
{
	struct ktape_layout_entry *entries = NULL;
	struct ktape_layout layout;
	struct ktape_stats st;
	bool cleared = false;

	if (ktape_device_layout(session, &layout, &entries))
		return false;
	for (unsigned int i = 0; i < layout.nr; i++)
		cleared |= entries[i].kind < KTAPE_RINGS_PER_CPU &&
			   !ktape_device_stats(session, entries[i].cpu,
					       entries[i].kind, &st) &&
			   st.floor;
	free(entries);
	return cleared;
}

/*
 * Check that every emitted event was recorded, filtered or lost.  That only holds in
 * discard mode, where nothing is overwritten.  Events that another process has cleared
 * count as missed.  Return: the exit code.
 */
static int check_counts(const struct record *r, const struct ktape_recorder_stats *s)
{
	uint64_t lost = s->lost;

	if (s->missed && was_cleared(r->session))
		lost += s->missed;
	if (s->records + s->filtered + lost == s->emitted)
		return EXIT_OK;
	return fail("internal error, the counts disagree: %llu recorded + %llu filtered + %llu lost, but %llu emitted",
		    (unsigned long long)s->records, (unsigned long long)s->filtered,
		    (unsigned long long)lost, (unsigned long long)s->emitted);
}

/* Print the summary and the error that ended the recording.  Return: the exit code. */
static int report_record_end(struct record *r, int err)
{
	struct ktape_recorder_stats s;
	int status = r->child.status;

	ktape_recorder_stats(r->recorder, &s);
	report_summary(r, &s);
	report_plain_writes(r, &s);
	if (r->child.ended && !r->o.quiet && status)
		note("the command %s %d",
		     WIFSIGNALED(status) ? "was killed by signal" :
					   "exited with status",
		     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	/* The reader of the pipe, such as head, needs no more. */
	if (err == -EPIPE && record_to_pipe(r))
		return EXIT_OK;
	if (err == -ECANCELED && record_to_pipe(r))
		return fail("the reader of the pipe stopped reading: the trace that it has is cut off");
	if (err)
		return fail("%s: %s; the trace up to this point is kept",
			    target_name(r), recording_error(err));
	/* The counts of a session of -S include events before this recording. */
	return r->discard && !r->o.session ? check_counts(r, &s) : EXIT_OK;
}

static int report_no_command(const struct child *c)
{
	return fail("cannot run %s: %s", c->name, strerror(-c->trouble_errno));
}

/* Remove the output of a recording that could not begin.  Return: the exit code. */
static int cancel_recording(struct record *r, int err)
{
	ktape_recorder_cancel(r->recorder);
	r->recorder = NULL;
	if (r->child.trouble_errno)
		return report_no_command(&r->child);
	return fail("cannot start the recording: %s", strerror(-err));
}

/* Check for a folder that has something in it. */
static bool is_occupied(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	bool found = false;

	while (dir && (e = readdir(dir)))
		found |= strcmp(e->d_name, ".") != 0 &&
			 strcmp(e->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	return found;
}

/* Wait for the moment of --activate.  Return: 0 or the exit code. */
static int wait_for_moment(struct record *r)
{
	int err;

	/* Say now what opening the recorder would say when the moment has come. */
	if (r->o.output && !r->o.force && !record_to_pipe(r) &&
	    is_occupied(r->o.output))
		return report_occupied(r->o.output, -ENOTEMPTY);
	/* With --daemon or --logfile, go into the background before waiting. */
	if (record_needs_redirect(r) && record_redirect(r))
		return EXIT_FAILED;
	err = record_activate(&r->activation, r->o.quiet);
	if (err == -EINTR)
		return fail("a signal came before the recording began: nothing was recorded");
	return err ? fail("cannot wait for the time of --activate: %s",
			  strerror(-err)) :
		     0;
}

static int record_session(struct record *r)
{
	int ret, err;

	signal(SIGPIPE, SIG_IGN);
	ret = r->o.pidfile ? daemon_pidfile(&r->daemon, r->o.pidfile) : 0;
	if (!ret)
		ret = open_session(r);
	if (!ret && r->o.activate)
		ret = wait_for_moment(r);
	if (!ret)
		ret = open_recorder(r);
	if (!ret) {
		err = record_loop(r);
		/* @began: the session and the command were started. */
		ret = r->began ? report_record_end(r, err) :
				 cancel_recording(r, err);
	}
	ktape_recorder_close(r->recorder);
	ktape_device_close(r->session);
	child_end(&r->child);
	if (r->pipe_flags >= 0)
		fcntl(STDOUT_FILENO, F_SETFL, r->pipe_flags);
	/* ktape ship leaves a piece alone that is locked. */
	if (r->began && r->o.to) {
		record_unlock_piece(r);
		err = record_ship_finish(r);
		ret = ret ? ret : err;
	}
	return ret;
}

static int run_recording(struct record *r, int argc, char **argv)
{
	int ret, code;

	ret = daemon_begin(&r->daemon, &code);
	if (ret)
		return ret < 0 ? fail("fork: %s", strerror(-ret)) : code;
	if (argc) {
		/* The command's output must not go into the trace's pipe. */
		r->child.no_stdout = record_to_pipe(r);
		ret = child_prepare(&r->child, argv);
		if (r->child.trouble_errno)
			return report_no_command(&r->child);
		if (ret)
			return fail("fork: %s", strerror(-ret));
	}
	ret = record_session(r);
	daemon_end(&r->daemon, ret);
	return ret;
}

/* Say where the trace of a page is, because the recording failed.  Return: @ret. */
static int page_kept(const struct record *r, int ret)
{
	note("no page was written; what was recorded is in %s", r->trace);
	return ret;
}

/* Convert what was recorded.  Return: 0 or the exit code. */
static int write_page(const struct record *r)
{
	int ret = page_write(r->page, r->trace);

	if (!ret && !r->o.quiet)
		note("page: %s   (open it in a browser)", r->page);
	return ret;
}

static int cmd_record(int argc, char **argv)
{
	struct record r = {
		.command = &command_record,
		.o = {
			.ring_size = NOT_GIVEN,
			.block_size = NOT_GIVEN,
			.time = NOT_GIVEN,
			.keep = NOT_GIVEN,
		},
		.shipper = { .out = -1 },
		.daemon = { .ready = -1, .pid_fd = -1 },
		.pipe_flags = -1,
	};
	int first, ret;

	ret = kt_options(&command_record, argc, argv, &r.o, &first);
	if (ret >= 0)
		return ret;
	ret = record_check(&r, argc - first);
	if (!ret && r.o.split)
		ret = split_pipe(&r.o);
	else if (!ret && (r.o.output || r.o.log))
		ret = run_recording(&r, argc - first, argv + first);
	if (r.ctf2 && r.began && !ret)
		ret = ctf2_describe(r.o.output);
	if (r.page && r.began)
		ret = ret ? page_kept(&r, ret) : write_page(&r);
	free(r.trace);
	ktape_config_release(&r.config);
	log_release(&r.log);
	record_ship_release(&r.shipper);
	return ret;
}

const struct kt_command command_record = {
	.name = "record",
	.operands = "-o DIR|FILE.html|- | -l NAME [--] [COMMAND...]",
	.help = "record until a time, a command or Ctrl-C ends it",
	.options = options,
	.in_order = 1,
	.run = KT_RUN(cmd_record),
};
