// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape record -l: names of the pieces of a log, and removal of old pieces (--keep).
 * When a piece ends is decided in record/log.c.
 *
 * A comment in the metadata of a piece names the log.  Only traces with that comment
 * are removed, and only if they contain no foreign files.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/log/log.h"
#include "tool/shared/message.h"

#define USUAL_NAME "ktape-%Y%m%d-%H%M%S"

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len > n && !strcmp(text + len - n, end);
}

/*
 * Is the folder at this path a piece that an earlier -l has written under this very name, which
 * has no conversions?  Then -l means that name again, not a folder for pieces.
 */
static bool is_own_piece(const char *whole)
{
	char *pattern;
	bool own;

	if (log_of_piece(whole, &pattern))
		return false;
	own = !strcmp(pattern, whole);
	free(pattern);
	return own;
}

/* Check whether a name is that of a folder for pieces.  @whole is its absolute path. */
static bool is_existing_folder(const char *path, const char *whole)
{
	struct stat st;

	return path[strlen(path) - 1] == '/' ||
	       (!stat(path, &st) && S_ISDIR(st.st_mode) && !is_own_piece(whole));
}

/* Return the absolute path, because --daemon changes the current directory. */
static char *absolute_path(const char *name)
{
	char here[PATH_MAX], *path;

	if (*name == '/')
		return strdup(name);
	if (!getcwd(here, sizeof(here)))
		return NULL;
	return asprintf(&path, "%s/%s", here, name) < 0 ? NULL : path;
}

/**
 * log_prepare() - set up the names of a log
 * @log: filled, except for @bytes, @time (log_parse_rotate()) and @keep
 * @pattern: directory, or path with conversions of strftime(3)
 * @zstd: compress the pieces; implied by a @pattern that ends in .zst
 *
 * Return: 0 or the exit code.
 */
int log_prepare(struct log *log, const char *pattern, bool zstd)
{
	char *whole;
	size_t len;

	if (!*pattern)
		return fail("-l \"\": the name of a folder or file is missing");
	whole = absolute_path(pattern);
	if (!whole)
		return fail("-l \"%s\": %s", pattern, strerror(errno));
	if (is_existing_folder(pattern, whole)) {
		for (len = strlen(whole); len && whole[len - 1] == '/';)
			whole[--len] = '\0';
		if (asprintf(&log->pattern, "%s/%s", whole, USUAL_NAME) < 0)
			log->pattern = NULL;
		free(whole);
	} else {
		log->pattern = whole;
	}
	if (!log->pattern)
		return fail("%s", strerror(ENOMEM));
	len = strlen(log->pattern);
	if (ends_with(log->pattern, LOG_FILE_END LOG_ZSTD_END)) {
		log->pattern[len - strlen(LOG_ZSTD_END)] = '\0';
		zstd = true;
	}
	log->file = ends_with(log->pattern, LOG_FILE_END);
	log->zstd = zstd;
	/* The pattern becomes part of a comment in the metadata. */
	if (strstr(log->pattern, "*/") || strpbrk(log->pattern, "\r\n"))
		return fail("-l: a name cannot contain \"*/\" or a line break");
	if (asprintf(&log->remark, "%s%s", LOG_REMARK, log->pattern) < 0) {
		log->remark = NULL;
		return fail("%s", strerror(ENOMEM));
	}
	return 0;
}

/**
 * log_parse_rotate() - parse the argument of --rotate
 * @log: @log->bytes or @log->time is set
 * @text: size with K, M or G, or time with a unit
 *
 * Return: 0 or -EINVAL.
 */
int log_parse_rotate(struct log *log, const char *text)
{
	size_t digits = strspn(text, "0123456789.");
	bool size = text[digits] && strchr("KMGk", text[digits]);

	/* A number without a unit could be a size or a time. */
	if (!digits || !text[digits])
		return -EINVAL;
	if (size)
		return kt_parse_size(text, &log->bytes) || !log->bytes ? -EINVAL : 0;
	return kt_parse_time(text, &log->time) || !log->time ? -EINVAL : 0;
}

/* Make the missing directories of a path. */
static void make_log_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
}

/**
 * log_name() - make the name of the next piece, and the folders in it that are missing
 * @log: the log
 * @attempt: number that is added to the name, because the names with smaller ones are
 *	taken; 0: none
 *
 * Return: path, which the caller frees; NULL with errno set: ENAMETOOLONG: the name is empty or too
 * long; ENOMEM; EOVERFLOW: the time has no date.
 */
char *log_name(const struct log *log, unsigned int attempt)
{
	size_t cut = log->file ? strlen(LOG_FILE_END) : 0;
	time_t now = time(NULL);
	char text[PATH_MAX], suffix[16] = "";
	struct tm tm;
	char *path;
	size_t len;

	if (!localtime_r(&now, &tm))
		return NULL;
	len = strftime(text, sizeof(text), log->pattern, &tm);
	if (len <= cut) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (attempt)
		snprintf(suffix, sizeof(suffix), "-%u", attempt);
	if (asprintf(&path, "%.*s%s%s%s", (int)(len - cut), text, suffix,
		     log->file ? LOG_FILE_END : "",
		     log->file && log->zstd ? LOG_ZSTD_END : "") < 0) {
		errno = ENOMEM;
		return NULL;
	}
	make_log_folders(path);
	return path;
}

static int add_log_piece(struct log *log, char *path, int64_t begun)
{
	size_t size = (log->nr_pieces + 1) * sizeof(*log->pieces);
	struct log_piece *more = realloc(log->pieces, size);

	if (!more)
		return -ENOMEM;
	log->pieces = more;
	more[log->nr_pieces].path = path;
	more[log->nr_pieces++].begun = begun;
	return 0;
}

/**
 * log_add() - add a piece that was begun
 * @log: the log
 * @path: path of the piece; the log frees it, but not after an error
 *
 * Return: 0 or -ENOMEM.
 */
int log_add(struct log *log, char *path)
{
	log->made++;
	/* It stands behind the pieces of earlier runs, as the newest. */
	return add_log_piece(log, path, INT64_MAX);
}

/**
 * log_current() - return the piece that is being written
 * @log: the log
 *
 * Return: its path.
 */
const char *log_current(const struct log *log)
{
	return log->nr_pieces ? log->pieces[log->nr_pieces - 1].path : log->pattern;
}

/* Does a trace have the comment of this log, and a name that the log would give it? */
static bool is_piece_of(const struct log *log, const char *path)
{
	const char *name = strrchr(path, '/');
	char *pattern;
	bool ours;

	if (log_of_piece(path, &pattern))
		return false;
	ours = !strcmp(pattern, log->pattern);
	free(pattern);
	return ours && log_gives_name(log->pattern, name ? name + 1 : path);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct log_piece *one = a, *other = b;

	if (one->begun != other->begun)
		return one->begun < other->begun ? -1 : 1;
	return strcmp(one->path, other->path);
}

/*
 * Return when a piece was begun, in ns since the epoch: its metadata changes later only if more
 * CPUs come online.  0: not known.
 */
static int64_t piece_begin_time(const char *path)
{
	char metadata[PATH_MAX];
	struct stat st;

	snprintf(metadata, sizeof(metadata), "%s/metadata", path);
	if (stat(metadata, &st) && stat(path, &st))
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/**
 * log_find_earlier() - find the pieces that earlier runs of this log have left
 * @log: log without pieces
 *
 * Only done if all pieces are in one directory, that is, if the name of the log has no
 * conversions before its last slash.
 */
void log_find_earlier(struct log *log)
{
	char *slash = strrchr(log->pattern, '/'), *path;
	struct dirent *entry;
	DIR *dir;

	/* Cut the name to its directory, except while is_piece_of() needs it. */
	*slash = '\0';
	dir = strchr(log->pattern, '%') ?
		      NULL :
		      opendir(slash == log->pattern ? "/" : log->pattern);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    asprintf(&path, "%s/%s", log->pattern, entry->d_name) < 0)
			continue;
		*slash = '/';
		if (!is_piece_of(log, path) ||
		    add_log_piece(log, path, piece_begin_time(path)))
			free(path);
		*slash = '\0';
	}
	*slash = '/';
	if (dir)
		closedir(dir);
	if (log->nr_pieces)
		qsort(log->pieces, log->nr_pieces, sizeof(*log->pieces),
		      compare_pieces);
}

/**
 * log_expire() - remove the oldest pieces beyond --keep
 * @log: the log
 *
 * A path that is no longer a piece of this log is not removed.  What cannot be removed is reported
 * and forgotten, so that it is not tried again for each piece.
 */
void log_expire(struct log *log)
{
	unsigned int gone = 0;

	while (log->keep && log->nr_pieces - gone > log->keep) {
		char *path = log->pieces[gone++].path;
		int err = is_piece_of(log, path) ? ktape_piece_remove(path) :
						   -EEXIST;

		if (err == -EEXIST && !access(path, F_OK))
			note("%s is not a piece of this log, or has other files in it: it is kept",
			     path);
		else if (err && err != -EEXIST && err != -ENOENT)
			note("cannot remove %s: %s", path, strerror(-err));
		free(path);
	}
	log->nr_pieces -= gone;
	if (gone)
		memmove(log->pieces, log->pieces + gone,
			log->nr_pieces * sizeof(*log->pieces));
}

/**
 * log_release() - free the names of a log
 * @log: the log
 */
void log_release(struct log *log)
{
	for (unsigned int i = 0; i < log->nr_pieces; i++)
		free(log->pieces[i].path);
	free(log->pieces);
	free(log->pattern);
	free(log->remark);
}
