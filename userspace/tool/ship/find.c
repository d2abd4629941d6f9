// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape ship: find the pieces of the log in a folder.
 *
 * Nothing else in the folder is read, moved or removed: others may keep their files there, and
 * folders that were the target of earlier runs may be there, too, with their tables.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/nanoseconds.h"

#include "write/write.h"

#include "tool/shared/message.h"
#include "tool/ship/ship.h"

static bool exists(const struct ship *s, const char *key, const char *end)
{
	char file[SHIP_KEY + 16];

	snprintf(file, sizeof(file), "%s%s", key, end);
	return !faccessat(s->state, file, F_OK, 0);
}

/* Return how far the piece of a key is; if a crash has left two states, the later one. */
static unsigned int stage_of(const struct ship *s, const char *key)
{
	for (unsigned int i = SHIP_BAD; i > SHIP_WAITS; i--) {
		if (exists(s, key, ship_ends[i]))
			return i;
	}
	return SHIP_WAITS;
}

static int by_piece_time(const void *a, const void *b)
{
	const struct ship_piece *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Check for the folder that gets the tables, which may be in that of the log. */
static bool is_target(const struct ship *s, const struct stat *st)
{
	struct stat target;

	return s->target && !stat(s->target, &target) &&
	       target.st_dev == st->st_dev && target.st_ino == st->st_ino;
}

/*
 * Check whether a recorder writes to a piece: it holds a lock as long as it does.  A piece that
 * cannot be opened counts as locked, so that it is left alone.
 */
static bool is_locked(const struct ship *s, const char *name)
{
	/* O_NONBLOCK: opening a FIFO without a writer would block. */
	int fd = openat(s->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd < 0 || flock(fd, LOCK_SH | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Count an entry that is no piece; report_foreign_entries() prints one of their names once. */
static void count_foreign(struct ship *s, const char *name)
{
	if (!s->foreign++)
		snprintf(s->foreign_name, sizeof(s->foreign_name), "%s", name);
}

static int add_found(struct ship *s, const struct ship_piece *p)
{
	struct ship_piece *more = realloc(s->pieces, (s->nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->pieces = more;
	s->pieces[s->nr++] = *p;
	return 0;
}

/* Add an entry of the folder that may be a piece. */
static int add_entry(struct ship *s, const char *name)
{
	struct ship_piece p = { .stage = SHIP_WAITS };
	struct stat st;

	if (strlen(name) >= SHIP_NAME ||
	    fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))) {
		count_foreign(s, name);
		return 0;
	}
	if (is_target(s, &st))
		return 0;
	p.time = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	p.locked = is_locked(s, name);
	strcpy(p.name, name);
	return add_found(s, &p);
}

/* Keep those entries that are pieces of the log.  Return: 0 or -ENOMEM. */
static int keep_pieces(struct ship *s)
{
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < s->nr; i++) {
		struct ship_piece *p = &s->pieces[i];

		err = ship_piece_check(s, p->name, p->key);
		if (err == -ENOMEM)
			return err;
		if (err) {
			count_foreign(s, p->name);
			continue;
		}
		p->stage = stage_of(s, p->key);
		s->pieces[nr++] = *p;
	}
	s->nr = nr;
	return 0;
}

/* Cut an end off the name of a file of the state.  Return: false if it has another one. */
static bool has_end(const char *file, const char *end, char key[SHIP_KEY])
{
	size_t len = strlen(file), more = strlen(end);

	if (len <= more || len - more >= SHIP_KEY || strcmp(file + len - more, end))
		return false;
	memcpy(key, file, len - more);
	key[len - more] = '\0';
	return true;
}

static bool is_known_key(const struct ship *s, const char *key)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (!strcmp(s->pieces[i].key, key))
			return true;
	}
	return false;
}

/*
 * Check whether a file of the state is of no use any more: what an interrupted run has left, and
 * the mark of a piece that is gone.  A .done beside tables (.ready) stays until they are removed,
 * because without it they would be shipped again.
 */
static bool is_useless(const struct ship *s, const char *file)
{
	char key[SHIP_KEY];

	/* Nothing is converted while the folder is read, so no run needs it. */
	if (has_end(file, ".tmp", key) || has_end(file, ".new", key))
		return true;
	if (has_end(file, ship_ends[SHIP_DONE], key))
		return !ship_key_holds(s, key) &&
		       !exists(s, key, ship_ends[SHIP_READY]);
	return has_end(file, ship_ends[SHIP_BAD], key) && !ship_key_holds(s, key);
}

/*
 * Add a piece of which only the tables are left: a recorder with --keep may have removed it, or
 * something else has its name now.  Its tables are shipped all the same, but not those of
 * another log than @s->log, and before all others, because its time is not known (0).  Remove
 * files of the state that are of no use any more.
 */
static int add_left(struct ship *s, const char *file)
{
	struct ship_piece p = { .time = 0 };

	if (is_useless(s, file))
		return ship_forget(s, file);
	if (!has_end(file, ship_ends[SHIP_READY], p.key) ||
	    is_known_key(s, p.key) || (s->log && !ship_key_is_of(p.key, s->log)))
		return 0;
	ship_key_name(p.key, p.name);
	p.stage = stage_of(s, p.key);
	return add_found(s, &p);
}

/* Call @act for the entries of a folder that are not hidden. */
static int read_folder(struct ship *s, int folder,
		       int (*act)(struct ship *s, const char *name))
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while (!err && (e = readdir(dir))) {
		if (*e->d_name != '.')
			err = act(s, e->d_name);
	}
	closedir(dir);
	return err;
}

/* Print once which entries are left alone. */
static void report_foreign_entries(struct ship *s)
{
	if (s->reported || !s->foreign)
		return;
	s->reported = true;
	note("%s: %zu entries are no finished pieces of this log, and stay as they are (%s%s)",
	     s->path, s->foreign, s->foreign_name, s->foreign > 1 ? ", ..." : "");
	if (s->foreign_log)
		note("%s: pieces of the log %s were moved there: --log '%s' takes them",
		     s->path, s->foreign_log, s->foreign_log);
}

/**
 * ship_find() - find the pieces of the log, and how far each one is
 * @s: the folder
 *
 * Return: 0 or negative errno.
 */
int ship_find(struct ship *s)
{
	int err;

	s->nr = 0;
	s->foreign = 0;
	/* While a recorder begins a piece, which is not locked yet, it locks the folder. */
	if (flock(s->fd, LOCK_SH))
		return -errno;
	err = read_folder(s, s->fd, add_entry);
	flock(s->fd, LOCK_UN);
	if (!err)
		err = keep_pieces(s);
	if (!err)
		err = read_folder(s, s->state, add_left);
	if (err)
		return err;
	report_foreign_entries(s);
	if (s->nr)
		qsort(s->pieces, s->nr, sizeof(*s->pieces), by_piece_time);
	return 0;
}
