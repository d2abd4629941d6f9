// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape ship: convert the finished pieces of a log to tables, and hand each to an
 * uploader.  A piece is finished when no recorder has it locked.
 *
 * A piece goes through stages, which last beyond this process (state.c): it SHIP_WAITS, is
 * SHIP_READY when its tables are whole, and SHIP_DONE when the uploader has them; then the piece
 * is removed, unless --keep.  SHIP_BAD is one that cannot be converted.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"

#include "tool/log/log.h"
#include "tool/shared/message.h"
#include "tool/shared/self.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/ship/ship.h"

#define EXIT_LEFT   3		   /* pieces are left */
#define FOLLOW_NS   (2 * NS_PER_S) /* --follow: between two reads of the folder */
#define BACKOFF_NS  NS_PER_S	   /* default of --backoff */
#define BACKOFF_MAX (300 * NS_PER_S) /* longest wait after a failure */
#define PATH_ROOM   4352U /* bytes of a path: a folder of PATH_MAX, and a name */

struct ship_options {
	const char *to;
	const char *log;
	bool follow;
	bool keep;
	bool json;
	bool quiet;
	uint64_t max;
	uint64_t tries;
	uint64_t backoff;
};

#define OPT(member) offsetof(struct ship_options, member)

static const struct kt_option options[] = {
	{ "to", 't', KT_OPT_TEXT, OPT(to), "URL|COMMAND|parquet",
	  "where the tables go, a command for the folder $1, or DIR/parquet" },
	{ "log", 'l', KT_OPT_TEXT, OPT(log), "NAME",
	  "only the pieces of this log, named as for record -l" },
	{ "follow", 'f', KT_OPT_FLAG, OPT(follow), NULL,
	  "wait for more pieces, until a signal" },
	{ "keep", 'k', KT_OPT_FLAG, OPT(keep), NULL,
	  "keep the pieces that were shipped" },
	{ "max", 'm', KT_OPT_SIZE, OPT(max), "SIZE",
	  "remove the oldest pieces if all take more" },
	{ "tries", 'n', KT_OPT_NUMBER, OPT(tries), "N",
	  "give up after N failures in a row (default: 8; --follow: never)" },
	{ "backoff", 'b', KT_OPT_TIME, OPT(backoff), "TIME",
	  "wait after a failure; doubles up to 5m (default: 1s)" },
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL,
	  "print the result as a JSON object" },
	{ "quiet", 'q', KT_OPT_FLAG, OPT(quiet), NULL, "no summary" },
	{ .name = NULL },
};

/**
 * struct shipping - a run of the command
 * @o: options
 * @s: the folder
 * @wake: readable once a signal came
 * @shipped: pieces that were shipped
 * @bad: pieces that cannot be converted
 * @dropped: pieces that were removed for want of room
 * @dropped_bytes: their bytes
 * @left: finished pieces that are left
 * @failures: failures of the uploader in a row
 */
struct shipping {
	struct ship_options o;
	struct ship s;
	int wake;
	uint64_t shipped;
	uint64_t bad;
	uint64_t dropped;
	uint64_t dropped_bytes;
	uint64_t left;
	uint64_t failures;
};

typedef unsigned long long ull;

/* Wait for a time, or until a signal comes. */
static void wait_ns(const struct shipping *sh, uint64_t ns)
{
	struct pollfd p = { .fd = sh->wake, .events = POLLIN };
	struct timespec t = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	if (!signals_came())
		ppoll(&p, 1, &t, NULL);
}

/* ---- one piece ------------------------------------------------------------------------ */

/* Are the tables of a conversion there, though a part of the piece was damaged? */
static bool has_tables(const char *folder)
{
	char path[PATH_ROOM + 16];

	snprintf(path, sizeof(path), "%s/capture", folder);
	return !access(path, F_OK);
}

/*
 * Convert a piece to KEY.tmp, then name it KEY.ready (state.c).
 * Return: 0: p->stage is SHIP_READY, or SHIP_BAD if nothing of it can be converted, or unchanged if
 * it was removed meanwhile; -EINTR after a signal; or negative errno.
 */
static int convert_piece(struct shipping *sh, struct ship_piece *p)
{
	char from[PATH_ROOM], folder[PATH_ROOM], to[PATH_ROOM + 16];
	char *const argv[] = { (char *)"ktape",
			       (char *)"convert",
			       (char *)"-q",
			       (char *)"--to",
			       to,
			       (char *)"--",
			       from,
			       NULL };
	int ret;

	snprintf(from, sizeof(from), "%s/%s", sh->s.path, p->name);
	ship_path(&sh->s, p, ".tmp", folder, sizeof(folder));
	/* In --to, a comma would begin the next option of the format. */
	if (strchr(folder, ','))
		return -EINVAL;
	ret = ship_begin(&sh->s, p);
	if (ret)
		return ret;
	snprintf(to, sizeof(to), "parquet:dir=%s", folder);
	ret = run_self(argv);
	/* A signal may have ended the conversion; if it is complete, it is not made again. */
	if (ret < 0 || (ret && signals_came()))
		return ret < 0 ? ret : -EINTR;
	/* It was removed, or something else has its name: the next pass finds what is there. */
	if (!ship_key_holds(&sh->s, p->key))
		return 0;
	if (ret && !has_tables(folder)) {
		note("%s: cannot be converted: it stays where it is, and is not shipped",
		     from);
		return ship_mark(&sh->s, p, SHIP_BAD);
	}
	if (ret)
		note("%s: a part of it is damaged: the rest is shipped", from);
	return ship_converted(&sh->s, p);
}

/* Hand over the tables of a piece.  Return: exit status of the uploader or negative errno. */
static int hand_over(const struct shipping *sh, const char *folder)
{
	return sh->s.target ? ship_place(folder, sh->s.target) :
			      ship_send(sh->o.to, folder);
}

static void report_ship_failure(const struct shipping *sh,
				const struct ship_piece *p, int ret)
{
	if (sh->s.target)
		note("%s: its tables cannot be put into %s: %s: it is tried again",
		     p->name, sh->s.target, strerror(-ret));
	else
		note("%s: the uploader failed (%s %d): it is tried again", p->name,
		     ret < 0 ? "error" : "exit status", ret < 0 ? -ret : ret);
}

/*
 * Give the tables of a piece to the uploader.  If that fails, count it in sh->failures; the piece
 * stays as it is.  Return: 0, also then, or negative errno of the state.
 */
static int send_piece(struct shipping *sh, struct ship_piece *p)
{
	char folder[PATH_ROOM];
	int ret;

	ship_path(&sh->s, p, ".ready", folder, sizeof(folder));
	ret = hand_over(sh, folder);
	if (!ret) {
		sh->failures = 0;
		sh->shipped++;
		return ship_mark(&sh->s, p, SHIP_DONE);
	}
	if (!sh->failures++)
		report_ship_failure(sh, p, ret);
	return 0;
}

/* Take the next step with a piece.  Return: 0 or negative errno. */
static int step_piece(struct shipping *sh, struct ship_piece *p)
{
	int err = 0;

	if (p->stage == SHIP_WAITS)
		err = convert_piece(sh, p);
	if (!err && p->stage == SHIP_READY && !signals_came())
		err = send_piece(sh, p);
	if (!err && p->stage == SHIP_DONE)
		err = ship_clean(&sh->s, p);
	return err;
}

/* ---- all pieces ------------------------------------------------------------------------- */

/*
 * Remove the oldest pieces that were not shipped until the others have room, but none that a
 * recorder writes to.  Return: 0 or negative errno.
 */
static int make_room_for_log(struct shipping *sh)
{
	uint64_t all = 0;
	int err = 0;

	for (size_t i = 0; i < sh->s.nr; i++)
		all += ship_bytes(&sh->s, &sh->s.pieces[i]);
	for (size_t i = 0; all > sh->o.max && i < sh->s.nr && !err; i++) {
		const struct ship_piece *p = &sh->s.pieces[i];
		uint64_t bytes = ship_bytes(&sh->s, p);

		if (p->locked || p->stage == SHIP_DONE)
			continue;
		err = ship_drop(&sh->s, p);
		/* A recorder writes to it, or other files are in it: it stays. */
		if (err == -EEXIST) {
			err = 0;
			continue;
		}
		if (err)
			break;
		all -= bytes;
		sh->dropped++;
		sh->dropped_bytes += bytes;
		note("%s: removed before it was shipped: the log takes more than --max",
		     p->name);
	}
	return err;
}

static bool is_in_work(const struct ship_piece *p)
{
	return p->stage == SHIP_WAITS || p->stage == SHIP_READY;
}

/*
 * Go through the finished pieces once, oldest first.  After a failure or a signal the others are
 * only counted.  Return: 0 or negative errno.
 */
static int pass(struct shipping *sh)
{
	int err = ship_find(&sh->s);

	if (!err && sh->o.max) {
		err = make_room_for_log(sh);
		if (!err)
			err = ship_find(&sh->s);
	}
	sh->left = 0;
	sh->bad = 0;
	for (size_t i = 0; i < sh->s.nr && !err; i++) {
		struct ship_piece *p = &sh->s.pieces[i];

		if (p->locked)
			continue;
		if (!sh->failures && !signals_came())
			err = step_piece(sh, p);
		sh->left += is_in_work(p);
		sh->bad += p->stage == SHIP_BAD;
	}
	return err;
}

static uint64_t backoff_of(const struct shipping *sh)
{
	uint64_t ns = sh->o.backoff;

	for (uint64_t i = 1; i < sh->failures && ns < BACKOFF_MAX; i++)
		ns *= 2;
	return kt_min(ns, BACKOFF_MAX);
}

/*
 * Ship until nothing is left, or --tries failures came in a row; with --follow neither ends it.  A
 * signal does in any case.  Return: 0, also after failures, or negative errno.
 */
static int ship_all(struct shipping *sh)
{
	int err = 0;

	while (!err && !signals_came()) {
		const uint64_t failures = sh->failures;

		/* The pass tries the piece that failed again, and then the others. */
		sh->failures = 0;
		err = pass(sh);
		if (err || signals_came())
			break;
		if (sh->failures)
			sh->failures += failures;
		if (!sh->failures && !sh->o.follow && !sh->left)
			break;
		if (sh->failures && !sh->o.follow && sh->failures >= sh->o.tries)
			break;
		wait_ns(sh, sh->failures ? backoff_of(sh) : FOLLOW_NS);
	}
	return err;
}

static void print_shipped(const struct shipping *sh)
{
	if (sh->o.json) {
		printf("{\"shipped\":%llu,\"left\":%llu,\"bad\":%llu,\"dropped\":%llu,\"dropped_bytes\":%llu}\n",
		       (ull)sh->shipped, (ull)sh->left, (ull)sh->bad,
		       (ull)sh->dropped, (ull)sh->dropped_bytes);
		return;
	}
	if (sh->o.quiet)
		return;
	note("%llu pieces shipped, %llu left, %llu cannot be converted, %llu removed unshipped",
	     (ull)sh->shipped, (ull)sh->left, (ull)sh->bad, (ull)sh->dropped);
}

static int run_ship_command(struct shipping *sh, const char *path)
{
	int err;

	sh->wake = signals_pipe();
	if (sh->wake < 0)
		return fail("pipe: %s", strerror(-sh->wake));
	signals_catch();
	sh->s.keep = sh->o.keep;
	err = ship_target_folder(sh->o.to, path, &sh->s.target);
	if (!err)
		err = ship_open(&sh->s, path);
	if (err == -EBUSY)
		return fail("%s: another ktape ship is at work there", path);
	if (!err)
		err = ship_all(sh);
	if (err && err != -EINTR)
		return fail("%s: %s", path, strerror(-err));
	print_shipped(sh);
	err = finish_stdout();
	if (err)
		return err;
	if (sh->bad)
		return EXIT_FAILED;
	/* Pieces of another log that were moved there need --log: they are left, too. */
	return sh->left || sh->dropped || sh->s.foreign_log ? EXIT_LEFT : EXIT_OK;
}

static int cmd_ship(int argc, char **argv)
{
	struct shipping sh = {
		.o = { .tries = 8, .backoff = BACKOFF_NS },
		.s = { .fd = -1, .state = -1 },
	};
	struct log log = { .pattern = NULL };
	int first, ret;

	ret = kt_options(&command_ship, argc, argv, &sh.o, &first);
	if (ret >= 0)
		return ret;
	if (!sh.o.to || argc - first != 1)
		return misuse(&command_ship, "missing --to URL|COMMAND or a folder");
	if (!ship_has_target(sh.o.to))
		return misuse(&command_ship,
			      "--to %s: only s3://, gs://, file:///PATH, parquet and parquet:dir=PATH are known; name a command instead: --to 'rclone copy \"$1\" REMOTE:PATH'",
			      sh.o.to);
	if (!ktape_codec_find("parquet"))
		return fail("format parquet is not built in");
	if (ship_check_locks())
		return EXIT_FAILED;
	ret = sh.o.log ? log_prepare(&log, sh.o.log, false) : EXIT_OK;
	sh.s.log = log.pattern;
	if (!ret)
		ret = run_ship_command(&sh, argv[first]);
	ship_close(&sh.s);
	log_release(&log);
	return ret;
}

const struct kt_command command_ship = {
	.name = "ship",
	.operands = "DIR",
	.help = "convert finished pieces of a log and hand them to an uploader",
	.more = "exit status: 0 all shipped, 1 failed or a piece cannot be converted,\n  2 usage error, 3 pieces are left or were removed\n",
	.options = options,
	.run = KT_RUN(cmd_ship),
};
