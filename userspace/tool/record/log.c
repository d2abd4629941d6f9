// SPDX-License-Identifier: GPL-2.0-only
/* ktape record -l: decide when a piece is full, and begin the next one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <ktape.h>

#include "util/path.h"

#include "tool/record/record.h"
#include "tool/shared/message.h"

#define NAMES_MAX   10000U	   /* names to try */
#define PATIENCE_NS 1000000000ULL  /* wait after finding the piece empty */
#define RETRY_NS    10000000000ULL /* wait after failing to begin a piece */

/*
 * Lock the folder of a piece that is about to be made, until the piece itself is locked: ktape
 * ship, which locks the folder to read it, would take a piece without a lock as finished.
 * Return: a descriptor or -1.
 */
static int lock_folder(const struct record *r)
{
	char *path = log_name(&r->log, 0);
	char *folder = path ? kt_path_folder(path) : NULL;
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	free(path);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

/*
 * Lock the current piece, and unlock the one before.  ktape ship takes pieces that are not
 * locked.  The kernel unlocks them if this process dies.
 */
static void lock_current_piece(struct record *r)
{
	int fd = open(log_current(&r->log), O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	if (r->log.lock > 0)
		close(r->log.lock);
	r->log.lock = fd;
}

/**
 * record_unlock_piece() - let ktape ship have the last piece
 * @r: recording that is over
 */
void record_unlock_piece(struct record *r)
{
	if (r->log.lock > 0)
		close(r->log.lock);
	r->log.lock = 0;
}

/* Begin a piece under the first name that is free.  Return: 0 or negative errno. */
static int try_names(struct record *r,
		     int (*make)(struct record *r, const char *path))
{
	int err = -EEXIST;

	for (unsigned int i = 0; i < NAMES_MAX && err == -EEXIST; i++) {
		char *path = log_name(&r->log, i);

		if (!path)
			return -errno;
		err = make(r, path);
		if (!err)
			return log_add(&r->log, path);
		free(path);
	}
	return err;
}

static int make_piece(struct record *r,
		      int (*make)(struct record *r, const char *path))
{
	int folder = lock_folder(r);
	int err = try_names(r, make);

	if (!err)
		lock_current_piece(r);
	if (folder >= 0)
		close(folder);
	return err;
}

static int open_first(struct record *r, const char *path)
{
	struct ktape_recorder_options how = {
		.dir = path,
		.remark = r->log.remark,
		.flags = KTAPE_RECORD_PIECES |
			 (r->o.session ? KTAPE_RECORD_ATTACHED : 0U) |
			 (r->o.no_uring ? KTAPE_RECORD_NO_URING : 0U) |
			 (r->log.file ? KTAPE_RECORD_FILE : 0U) |
			 (r->log.zstd ? KTAPE_RECORD_ZSTD : 0U),
	};

	return ktape_recorder_open(r->session, &how, &r->recorder);
}

static int open_next(struct record *r, const char *path)
{
	return ktape_recorder_rotate(r->recorder, path);
}

/**
 * record_first_piece() - begin a log
 * @r: recording whose session is open
 *
 * Return: 0 or negative errno.
 */
int record_first_piece(struct record *r)
{
	int err;

	if (r->log.keep)
		log_find_earlier(&r->log);
	err = make_piece(r, open_first);
	if (!err)
		log_expire(&r->log);
	return err;
}

/*
 * Return true if the current piece is empty, even after flushing open blocks.
 *
 * Records in open blocks go to the next piece unless they are flushed.  Without the
 * flush, a quiet session would produce one empty piece after the other, and --keep
 * would remove the pieces that have records.
 */
static bool is_log_piece_empty(const struct record *r)
{
	struct ktape_recorder_stats s;

	ktape_recorder_stats(r->recorder, &s);
	if (s.piece_records || !s.pending)
		return !s.piece_records;
	/* The next ktape_recorder_step() returns an error of the flush. */
	ktape_recorder_flush(r->recorder);
	ktape_recorder_stats(r->recorder, &s);
	return !s.piece_records;
}

/**
 * record_next_piece() - begin the next piece, unless the current one is empty
 * @r: the recording
 * @now: CLOCK_MONOTONIC, in ns
 *
 * If that fails, a message is printed once, and it is tried again later.  If the session has
 * ended, the next step says so.
 */
void record_next_piece(struct record *r, uint64_t now)
{
	struct log *log = &r->log;
	int err;

	if (is_log_piece_empty(r)) {
		log->retry = now + PATIENCE_NS;
		return;
	}
	err = make_piece(r, open_next);
	log->retry = err ? now + RETRY_NS : 0;
	if (!err) {
		log->began = now;
		log->reported = false;
		log_expire(log);
		record_ship_begin(r);
	} else if (!log->reported && err != -ESTALE) {
		log->reported = true;
		note("cannot begin the next piece of %s: %s; the recording continues in %s",
		     log->pattern, strerror(-err), log_current(log));
	}
}

/**
 * record_is_full() - has the current piece reached its size or time?
 * @r: the recording
 * @now: CLOCK_MONOTONIC, in ns
 *
 * Return: true if the next piece should begin; false before @r->log.retry in any case.
 */
bool record_is_full(struct record *r, uint64_t now)
{
	const struct log *log = &r->log;
	struct ktape_recorder_stats s;

	if (now < log->retry)
		return false;
	if (log->time && now - log->began >= log->time)
		return true;
	if (!log->bytes)
		return false;
	ktape_recorder_stats(r->recorder, &s);
	return s.piece_bytes >= log->bytes;
}
