// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape ship: put the tables of a piece into a folder of this machine.
 *
 * A file gets its name when it is complete and on the disk, those of the table capture
 * last, so an engine that queries the folder meanwhile sees whole files, and a row of
 * capture only where all other tables have theirs.  The files of a piece have the same
 * names each time: after a crash they are put there again, and replace those that were
 * there already.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "tool/ship/ship.h"

#define LAST	  "capture" /* the table whose files come last */
#define MODE_DIR  0777
#define MODE_FILE 0666
#define PART	  65536U /* bytes that are copied at a time */
#define TEMP_ROOM 264U	 /* bytes of a name, and of what is added to it */

static int copy_bytes(int in, int out)
{
	char *part = malloc(PART);
	ssize_t n = part ? 1 : -ENOMEM;
	int err = 0;

	while (n > 0 && !err) {
		n = kt_read_some(in, part, PART);
		if (n > 0)
			err = kt_write_all(out, part, (size_t)n);
	}
	free(part);
	return n < 0 ? (int)n : err;
}

static int copy_file(int from, const char *name, int to, const char *temp)
{
	int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), err;
	int out;

	if (in < 0)
		return -errno;
	out = openat(to, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_FILE);
	err = out < 0 ? -errno : copy_bytes(in, out);
	if (!err && fsync(out))
		err = -errno;
	if (out >= 0)
		close(out);
	close(in);
	return err;
}

/* Put a file there: by a link within a file system, else by a copy. */
static int place_file(int from, const char *name, int to)
{
	char temp[TEMP_ROOM];
	int err = 0;

	/* No engine takes it for a table: these end in .parquet. */
	snprintf(temp, sizeof(temp), ".%s.part", name);
	if (unlinkat(to, temp, 0) && errno != ENOENT)
		return -errno;
	if (linkat(from, name, to, temp, 0))
		err = copy_file(from, name, to, temp);
	if (!err && renameat(to, temp, to, name))
		err = -errno;
	/* rename(2) does nothing if both names are of one file already. */
	unlinkat(to, temp, 0);
	return err;
}

/* Open a folder, made if needed. */
static int open_target_folder(int in, const char *name)
{
	int fd;

	if (mkdirat(in, name, MODE_DIR) && errno != EEXIST)
		return -errno;
	fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int place_tree(int from, int to, const char *but);

static int place_entry(int from, const char *name, int to)
{
	struct stat st;
	int in, out, err;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return place_file(from, name, to);
	in = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in < 0)
		return -errno;
	out = open_target_folder(to, name);
	err = out < 0 ? out : place_tree(in, out, NULL);
	if (out >= 0)
		close(out);
	close(in);
	return err;
}

/* Put there what is in a folder, but one entry, and sync the names to the disk. */
static int place_tree(int from, int to, const char *but)
{
	int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    (!but || strcmp(e->d_name, but) != 0))
			err = place_entry(from, e->d_name, to);
	}
	closedir(dir);
	return err ? err : kt_fsync_at(to, ".");
}

/* Make a folder and those above it.  Return: a descriptor or negative errno. */
static int make_path(const char *path)
{
	char *copy = strdup(path);
	int fd = -ENOMEM;

	if (!copy)
		return fd;
	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(copy, MODE_DIR);
		*p = '/';
	}
	fd = open_target_folder(AT_FDCWD, copy);
	free(copy);
	return fd;
}

/**
 * ship_place() - put tables into a folder of this machine
 * @from: folder with the tables of a piece; nothing in it is changed
 * @to: the folder; it is made if needed
 *
 * Return: 0 or negative errno.
 */
int ship_place(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC), out, err;

	if (in < 0)
		return -errno;
	out = make_path(to);
	err = out < 0 ? out : place_tree(in, out, LAST);
	if (!err)
		err = place_entry(in, LAST, out);
	if (!err)
		err = kt_fsync_at(out, ".");
	if (out >= 0)
		close(out);
	close(in);
	return err;
}
