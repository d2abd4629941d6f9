// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape ship: what a piece is, and its removal.
 *
 * A piece says in its metadata of which log it is, its name is one that this log gives, and
 * it has no files of others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "write/write.h"

#include "tool/log/log.h"
#include "tool/ship/ship.h"

#define PATH_ROOM \
	4352U /* bytes of a path: a folder of PATH_MAX, and a name in it */

/**
 * ship_piece_check() - check that an entry is a piece of the log, and has no files of others
 * @s: the folder
 * @name: name of the entry
 * @key: set to the piece's key
 *
 * If @s->log is NULL, @s->foreign_log is set to the log of the first piece whose log has its pieces
 * elsewhere.
 *
 * Return: 0, -EEXIST if it is not, or -ENOMEM.
 */
int ship_piece_check(struct ship *s, const char *name, char key[SHIP_KEY])
{
	char path[PATH_ROOM], *pattern;
	struct stat st;
	bool ours;
	int err;

	snprintf(path, sizeof(path), "%s/%s", s->path, name);
	if (fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return -EEXIST;
	err = log_of_piece(path, &pattern);
	if (err)
		return err == -ENOMEM ? err : -EEXIST;
	ours = s->log ? !strcmp(pattern, s->log) :
			log_is_in(pattern, s->path, s->fd);
	if (!ours && !s->log && !s->foreign_log) {
		s->foreign_log = pattern;
		return -EEXIST;
	}
	ours = ours && log_gives_name(pattern, name) &&
	       !ship_key(s, name, pattern, key);
	free(pattern);
	err = ours ? kt_piece_check(path) : -EEXIST;
	return !err || err == -ENOMEM ? err : -EEXIST;
}

/*
 * Lock a piece against recorders.
 * Return: a descriptor; -EEXIST if a recorder writes to it, or a link or socket has its name; or
 * negative errno.
 */
static int lock_to_remove(const struct ship *s, const char *name)
{
	int fd, err = 0;

	/* A recorder that begins a piece has the folder locked until it has locked the piece. */
	if (flock(s->fd, LOCK_SH))
		return -errno;
	fd = openat(s->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		err = errno == ELOOP || errno == ENXIO ? -EEXIST : -errno;
	else if (flock(fd, LOCK_SH | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EEXIST : -errno;
	flock(s->fd, LOCK_UN);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/**
 * ship_remove() - remove a piece of the log, and nothing else
 * @s: the folder
 * @p: the piece; something else may have its name by now
 *
 * Return: 0, also if nothing has the name; -EEXIST if what has it is not this piece, or a
 * recorder writes to it, then it stays; or negative errno.
 */
int ship_remove(struct ship *s, const struct ship_piece *p)
{
	char path[PATH_ROOM], key[SHIP_KEY];
	int fd = lock_to_remove(s, p->name), err;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	err = ship_piece_check(s, p->name, key);
	if (!err && strcmp(key, p->key) != 0)
		err = -EEXIST;
	if (!err) {
		snprintf(path, sizeof(path), "%s/%s", s->path, p->name);
		err = ktape_piece_remove(path);
	}
	close(fd);
	return err;
}
