// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ktape ship has on disk, in DIR/.ktape-ship:
 *
 *	KEY.tmp/	tables that are being written
 *	KEY.ready/	all tables of a piece; the uploader does not have them yet
 *	KEY.done	the uploader has them
 *	KEY.bad		the piece cannot be converted
 *	KEY.new		a .done or .bad before it has its name
 *	lock		held by the process that ships
 *
 * KEY is the name of the piece and two hashes, because names are used again; see key.c.
 * Earlier versions had NAME.ready and so on, which may be of any piece of that name: such
 * tables are handed over, and other marks are removed, as if they were not there.
 *
 * A piece goes from one state to the next by a rename, after everything before it is on the
 * disk.  So after a crash at any moment each piece is in one of these states, and the work
 * goes on there: what is in KEY.tmp is made again; what is in KEY.ready is handed over
 * again, in the same files with the same names, because the uploader may have been
 * interrupted.  A piece is removed only when KEY.done is on the disk.
 *
 * Outside of this folder nothing is removed but pieces of the log, see find.c.
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

#include "util/file.h"

#include "tool/shared/message.h"
#include "tool/ship/ship.h"

#define STATE	  ".ktape-ship"
#define MODE_DIR  0755
#define MODE_FILE 0666

/* By enum ship_stage: the end of the name of what says in the state that a piece is so far. */
const char *const ship_ends[] = {
	[SHIP_READY] = ".ready",
	[SHIP_DONE] = ".done",
	[SHIP_BAD] = ".bad",
};

/**
 * ship_path() - make the path of a file of the state
 * @s: the folder
 * @p: the piece
 * @end: end of the name
 * @path: filled
 * @size: bytes of @path
 */
void ship_path(const struct ship *s, const struct ship_piece *p,
	       const char *end, char *path, size_t size)
{
	snprintf(path, size, "%s/" STATE "/%s%s", s->path, p->key, end);
}

/**
 * ship_check_locks() - find out whether files can be locked
 *
 * A recorder locks the piece that it writes: without locks, ktape ship would take it as finished.
 *
 * Return: 0 or the exit code.
 */
int ship_check_locks(void)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool missing = fd >= 0 && flock(fd, LOCK_UN) && errno == ENOSYS;

	if (fd >= 0)
		close(fd);
	return missing ?
		       fail("this kernel cannot lock files (CONFIG_FILE_LOCKING), so finished pieces cannot be recognized: convert them with ktape convert") :
		       0;
}

/**
 * ship_open() - open the folder of a log, for this process alone
 * @s: filled; @s->keep, @s->target and @s->log stay.  ship_close() is needed also after an error
 * @path: the folder
 *
 * Return: 0, -EBUSY if another process ships it, or negative errno.
 */
int ship_open(struct ship *s, const char *path)
{
	struct stat st;
	int lock;

	s->path = path;
	s->state = -1;
	s->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return -errno;
	if (mkdirat(s->fd, STATE, MODE_DIR) && errno != EEXIST)
		return -errno;
	/* A link would lead to a folder in which others have their files. */
	s->state = openat(s->fd, STATE,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->state < 0 || fstat(s->state, &st))
		return -errno;
	if (st.st_uid != geteuid() || st.st_mode & S_IWOTH) {
		note("%s/" STATE ": others can write there: it is not used", path);
		return -EPERM;
	}
	/* All processes lock this one file, so no O_EXCL.  Their end releases it. */
	lock = openat(s->state, "lock",
		      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, MODE_FILE);
	if (lock < 0)
		return -errno;
	return flock(lock, LOCK_EX | LOCK_NB) ?
		       (errno == EWOULDBLOCK ? -EBUSY : -errno) :
		       0;
}

/**
 * ship_close() - close the folder
 * @s: the folder
 */
void ship_close(struct ship *s)
{
	free(s->pieces);
	free(s->target);
	free(s->foreign_log);
	if (s->state >= 0)
		close(s->state);
	if (s->fd >= 0)
		close(s->fd);
}

/* ---- trees ---------------------------------------------------------------------------- */

typedef int tree_action(int folder, const char *name, bool is_folder, void *arg);

/*
 * Call @act for all that is in a folder, and then for the folder; for a file or link only for that.
 * Return: 0, the first error of @act, which ends the walk, or negative errno.
 */
static int walk_tree(int folder, const char *name, tree_action *act, void *arg)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	const struct dirent *e;
	struct stat st;
	DIR *dir;

	if (fd < 0)
		return errno == ELOOP ? act(folder, name, false, arg) : -errno;
	if (fstat(fd, &st) || !S_ISDIR(st.st_mode)) {
		close(fd);
		return act(folder, name, false, arg);
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			err = walk_tree(dirfd(dir), e->d_name, act, arg);
	}
	closedir(dir);
	return err ? err : act(folder, name, true, arg);
}

static int remove_entry(int folder, const char *name, bool is_folder, void *arg)
{
	(void)arg;
	return unlinkat(folder, name, is_folder ? AT_REMOVEDIR : 0) ? -errno : 0;
}

static int sync_entry(int folder, const char *name, bool is_folder, void *arg)
{
	(void)arg;
	(void)is_folder;
	return kt_fsync_at(folder, name);
}

static int add_bytes(int folder, const char *name, bool is_folder, void *arg)
{
	uint64_t *bytes = arg;
	struct stat st;

	if (!is_folder && !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		*bytes += (uint64_t)st.st_size;
	return 0;
}

static int remove_tree(int folder, const char *name)
{
	int err = walk_tree(folder, name, remove_entry, NULL);

	return err == -ENOENT ? 0 : err;
}

/* ---- one piece ------------------------------------------------------------------------- */

static int rename_state(const struct ship *s, const char *name,
			const char *from, const char *to)
{
	char old[SHIP_KEY + 16], new[SHIP_KEY + 16];

	snprintf(old, sizeof(old), "%s%s", name, from);
	snprintf(new, sizeof(new), "%s%s", name, to);
	if (renameat(s->state, old, s->state, new))
		return -errno;
	return fsync(s->state) ? -errno : 0;
}

/**
 * ship_begin() - remove what an interrupted conversion of a piece has left
 * @s: the folder
 * @p: the piece
 *
 * Return: 0 or negative errno.
 */
int ship_begin(struct ship *s, const struct ship_piece *p)
{
	char name[SHIP_KEY + 16];

	snprintf(name, sizeof(name), "%s.tmp", p->key);
	return remove_tree(s->state, name);
}

/**
 * ship_converted() - sync KEY.tmp, which has all tables of a piece, and name it KEY.ready
 * @s: the folder
 * @p: the piece; its stage is set
 *
 * Return: 0 or negative errno.
 */
int ship_converted(struct ship *s, struct ship_piece *p)
{
	char name[SHIP_KEY + 16];
	int err;

	snprintf(name, sizeof(name), "%s.tmp", p->key);
	err = walk_tree(s->state, name, sync_entry, NULL);
	if (!err)
		err = rename_state(s, p->key, ".tmp", ship_ends[SHIP_READY]);
	if (!err)
		p->stage = SHIP_READY;
	return err;
}

/**
 * ship_mark() - note on the disk that a piece is done or bad
 * @s: the folder
 * @p: the piece; its stage is set
 * @stage: SHIP_DONE or SHIP_BAD
 *
 * Return: 0 or negative errno.
 */
int ship_mark(struct ship *s, struct ship_piece *p, unsigned int stage)
{
	char name[SHIP_KEY + 16];
	int fd, err = 0;

	snprintf(name, sizeof(name), "%s.new", p->key);
	/* What a crash has left, or a link of someone else. */
	if (unlinkat(s->state, name, 0) && errno != ENOENT)
		return -errno;
	fd = openat(s->state, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    MODE_FILE);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	close(fd);
	if (!err)
		err = rename_state(s, p->key, ".new", ship_ends[stage]);
	if (!err)
		p->stage = stage;
	return err;
}

/**
 * ship_clean() - remove what is left of a piece that is done
 * @s: the folder
 * @p: the piece; it is removed as well, unless pieces are kept
 *
 * Return: 0 or negative errno.
 */
int ship_clean(struct ship *s, struct ship_piece *p)
{
	char name[SHIP_KEY + 16];
	int err;

	snprintf(name, sizeof(name), "%s%s", p->key, ship_ends[SHIP_READY]);
	err = remove_tree(s->state, name);
	if (err || s->keep)
		return err;
	err = ship_remove(s, p);
	/*
	 * EEXIST: a recorder writes to it, or something else has its name.  The mark stays if the
	 * piece does: it was shipped.
	 */
	if (err == -EEXIST && ship_key_holds(s, p->key))
		return 0;
	err = err == -EEXIST ? 0 : err;
	if (!err && fsync(s->fd))
		err = -errno;
	/* The mark goes last: without it the piece would be shipped again. */
	snprintf(name, sizeof(name), "%s%s", p->key, ship_ends[SHIP_DONE]);
	return err ? err : remove_tree(s->state, name);
}

/**
 * ship_forget() - remove a file or folder of the state
 * @s: the folder
 * @file: its name
 *
 * Return: 0 or negative errno.
 */
int ship_forget(struct ship *s, const char *file)
{
	return remove_tree(s->state, file);
}

/**
 * ship_drop() - remove a piece that was not shipped, for want of room
 * @s: the folder
 * @p: the piece
 *
 * Return: 0, also if it is gone; -EEXIST if it has to stay, because a recorder writes to it or
 * other files are in it, then nothing is removed; or negative errno.
 */
int ship_drop(struct ship *s, const struct ship_piece *p)
{
	char name[SHIP_KEY + 16];
	int err = ship_remove(s, p);

	/* What has the name of a piece that is gone stays; the tables go. */
	if (err == -EEXIST && !ship_key_holds(s, p->key))
		err = 0;
	for (unsigned int i = SHIP_READY; i <= SHIP_BAD && !err; i++) {
		snprintf(name, sizeof(name), "%s%s", p->key, ship_ends[i]);
		err = remove_tree(s->state, name);
	}
	snprintf(name, sizeof(name), "%s.tmp", p->key);
	return err ? err : remove_tree(s->state, name);
}

/**
 * ship_bytes() - return the bytes that a piece and its tables take
 * @s: the folder
 * @p: the piece
 *
 * Return: bytes.
 */
uint64_t ship_bytes(const struct ship *s, const struct ship_piece *p)
{
	char name[SHIP_KEY + 16];
	uint64_t bytes = 0;

	if (ship_key_holds(s, p->key))
		walk_tree(s->fd, p->name, add_bytes, &bytes);
	snprintf(name, sizeof(name), "%s%s", p->key, ship_ends[SHIP_READY]);
	walk_tree(s->state, name, add_bytes, &bytes);
	return bytes;
}
