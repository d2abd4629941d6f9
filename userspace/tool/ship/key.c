// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape ship: the key of a piece, which no other piece has.
 *
 * A recorder that removed a piece gives its name to a later one if the log's name has no
 * seconds.  So the state has a key for each piece, NAME.LOG-PIECE.  LOG is
 * a hash of the name of the log.  PIECE is a hash of the inode, size and time of the file with
 * the metadata, which do not change once the piece is finished.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/hash.h"

#include "tool/ship/ship.h"

#define HASH_DIGITS 16U			  /* of a hash, hexadecimal */
#define ID_LEN	    (2 * HASH_DIGITS + 2) /* .LOG-PIECE */

static uint64_t hash_log(const char *log)
{
	return kt_fnv(KT_FNV_BEGIN, log, strlen(log));
}

/* Hash what differs between pieces of the same name.  Return: 0 or negative errno. */
static int hash_piece(const struct ship *s, const char *name, uint64_t *hash)
{
	char path[SHIP_NAME + 16];
	struct stat st;
	uint64_t parts[4];

	if (fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	snprintf(path, sizeof(path), "%s/metadata", name);
	if (S_ISDIR(st.st_mode) && fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	parts[0] = st.st_ino;
	parts[1] = (uint64_t)st.st_size;
	parts[2] = (uint64_t)st.st_mtim.tv_sec;
	parts[3] = (uint64_t)st.st_mtim.tv_nsec;
	*hash = kt_fnv(KT_FNV_BEGIN, parts, sizeof(parts));
	return 0;
}

/**
 * ship_key() - make the key of a piece
 * @s: the folder
 * @name: name of the piece
 * @log: name of its log
 * @key: filled
 *
 * Return: 0 or negative errno.
 */
int ship_key(const struct ship *s, const char *name, const char *log,
	     char key[SHIP_KEY])
{
	uint64_t piece;
	int err = hash_piece(s, name, &piece);

	if (!err)
		snprintf(key, SHIP_KEY, "%s.%016" PRIx64 "-%016" PRIx64, name,
			 hash_log(log), piece);
	return err;
}

/* Return the part of a key that follows the name, or NULL: it is of an earlier version. */
static const char *id_of(const char *key)
{
	const size_t len = strlen(key);
	const char *id = key + len - ID_LEN;

	if (len <= ID_LEN || *id != '.' ||
	    strspn(id + 1, "0123456789abcdef") != HASH_DIGITS ||
	    id[HASH_DIGITS + 1] != '-' ||
	    strspn(id + HASH_DIGITS + 2, "0123456789abcdef") != HASH_DIGITS)
		return NULL;
	return id;
}

/**
 * ship_key_name() - find out the name of the piece that a key is of
 * @key: the key
 * @name: filled
 *
 * Return: false: the key names no piece, as those of earlier versions; @name is the key.
 */
bool ship_key_name(const char *key, char name[SHIP_NAME])
{
	const char *id = id_of(key);
	const size_t len = id ? (size_t)(id - key) : strlen(key);

	snprintf(name, SHIP_NAME, "%.*s", (int)len, key);
	return id;
}

/**
 * ship_key_is_of() - is a key of a piece of this log?
 * @key: the key
 * @log: name of the log
 *
 * Return: true if it is.
 */
bool ship_key_is_of(const char *key, const char *log)
{
	const char *id = id_of(key);
	char hash[HASH_DIGITS + 1];

	snprintf(hash, sizeof(hash), "%016" PRIx64, hash_log(log));
	return id && !strncmp(id + 1, hash, HASH_DIGITS);
}

/**
 * ship_key_holds() - does the piece that a key is of still have its name?
 * @s: the folder
 * @key: the key
 *
 * Return: false: nothing has the name, or something else has.
 */
bool ship_key_holds(const struct ship *s, const char *key)
{
	char name[SHIP_NAME], hash[HASH_DIGITS + 1];
	const char *id = id_of(key);
	uint64_t piece;

	if (!id || !ship_key_name(key, name) || hash_piece(s, name, &piece))
		return false;
	snprintf(hash, sizeof(hash), "%016" PRIx64, piece);
	return !strcmp(id + HASH_DIGITS + 2, hash);
}
