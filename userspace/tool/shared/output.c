// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refuse an output that would overwrite what is being read: an input, a file of an
 * input directory, or a file that belongs to an input stream (metadata, registry).
 *
 * Paths cannot be compared, because of links and mounts.  Files and directories are
 * compared by device and inode.  All files in an input directory are read, so a new
 * output in it is refused, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/path.h"

#include "tool/shared/message.h"
#include "tool/shared/output.h"

#define FD_PATH	 32 /* room for "/proc/self/fd/%d" */
#define FIRST_FD 3  /* the first that is not a standard descriptor */

/**
 * struct output - output to be checked
 * @name: name in messages
 * @there: it exists
 * @st: device, inode and type, if it exists
 * @folder: descriptor of the directory that it is or will be in; -1: unknown
 */
struct output {
	const char *name;
	bool there;
	struct stat st;
	int folder;
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Return true if a file keeps its contents.  Terminals, the device, pipes and sockets
 * have nothing to overwrite, so they may be both input and output.
 */
static bool keeps_contents(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISBLK(st->st_mode);
}

static bool is_output(const struct output *o, int folder, const char *name)
{
	struct stat st;

	return o->there && !fstatat(folder, name, &st, 0) && is_same(&st, &o->st);
}

/*
 * Return true if @folder, or a directory above it, is the same as @other.  The search ends at
 * the root, whose ".." is itself.
 */
static bool lies_in(int folder, const struct stat *other)
{
	int at = fcntl(folder, F_DUPFD_CLOEXEC, FIRST_FD), up;
	struct stat st, below = { .st_ino = 0 };
	bool found = false;

	while (at >= 0 && !fstat(at, &st) && !is_same(&st, &below)) {
		found = is_same(&st, other);
		if (found)
			break;
		below = st;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	if (at >= 0)
		close(at);
	return found;
}

/* Set @name to the file of directory @path that is the output, or "". */
static void find_output_in(const struct output *o, const char *path,
			   char name[NAME_MAX + 1])
{
	DIR *dir = o->there ? opendir(path) : NULL;
	const struct dirent *e;

	*name = '\0';
	while (dir && !*name && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    is_output(o, dirfd(dir), e->d_name))
			snprintf(name, NAME_MAX + 1, "%s", e->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Check an input directory.  Return: 0 or the exit code. */
static int check_folder(const struct output *o, const char *path,
			const struct stat *st)
{
	char name[NAME_MAX + 1];

	find_output_in(o, path, name);
	if (*name)
		return fail("%s is the file %s of the input %s: choose another output",
			    o->name, name, path);
	if (o->folder >= 0 && lies_in(o->folder, st))
		return fail("%s is inside the input %s: choose an output outside of it",
			    o->name, path);
	return 0;
}

/*
 * Check the files that a single stream needs beside it, and for any input that it is not inside an
 * output that is a directory.  Return: 0 or the exit code.
 */
static int check_beside(const struct output *o, const char *path)
{
	static const char *const names[] = {
		"metadata",
		"metadata.zst",
		"registry",
		"registry.zst",
	};
	char *whole = realpath(path, NULL);
	char *folder = whole ? kt_path_folder(whole) : NULL;
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int ret = 0;

	for (size_t i = 0; fd >= 0 && !ret && i < KT_ARRAY_SIZE(names); i++) {
		if (is_output(o, fd, names[i]))
			ret = fail("%s is the file %s that the input %s needs: choose another output",
				   o->name, names[i], path);
	}
	if (fd >= 0 && !ret && o->there && S_ISDIR(o->st.st_mode) &&
	    lies_in(fd, &o->st))
		ret = fail("the input %s is inside %s: choose another output",
			   path, o->name);
	if (fd >= 0)
		close(fd);
	free(folder);
	free(whole);
	return ret;
}

/*
 * Find the file of an operand, which may be FILE@CORE (input_open() in input/input.c splits it).
 * Return: false: none.
 */
static bool find_input(const char *operand, char path[PATH_MAX], struct stat *st)
{
	char *at;

	snprintf(path, PATH_MAX, "%s",
		 strcmp(operand, "-") ? operand : "/proc/self/fd/0");
	if (!stat(path, st))
		return true;
	at = strrchr(path, '@');
	if (!at)
		return false;
	*at = '\0';
	return !stat(path, st);
}

static int check_input(const struct output *o, const char *operand)
{
	char path[PATH_MAX];
	struct stat st;
	int ret = 0;

	if (!find_input(operand, path, &st) || !keeps_contents(&st))
		return 0;
	if (o->there && is_same(&st, &o->st))
		return fail("%s is also an input: choose another output", o->name);
	if (S_ISDIR(st.st_mode))
		ret = check_folder(o, path, &st);
	return ret ? ret : check_beside(o, path);
}

/*
 * Open the directory that an output is or will be in.  If the output is an existing
 * directory, take its "..": the path may end in a slash or be ".".
 *
 * Return: 0 with a descriptor, or with -1 if the directory is unknown; or negative
 * errno.
 */
static int open_place(const char *path, int *fd)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	int at = open(path, flags), err;
	char *place, *folder;
	bool last;

	*fd = -1;
	if (at >= 0) {
		*fd = openat(at, "..", flags);
		close(at);
		return 0;
	}
	err = kt_path_follow(path, &place);
	/* A link in /proc to an open file has no other name, hence no directory. */
	if (err || !place)
		return err;
	do {
		/* Missing directories may be created later: go up to one that exists. */
		folder = kt_path_folder(place);
		last = !folder || !strcmp(folder, place);
		if (folder)
			*fd = open(folder, flags);
		free(place);
		place = folder;
	} while (*fd < 0 && errno == ENOENT && !last);
	free(place);
	return folder ? 0 : -ENOMEM;
}

/**
 * output_check() - refuse an output that is an input, or part of one
 * @path: path of the output; "-": standard output
 * @inputs: operands of the inputs
 * @nr: number of inputs
 *
 * Return: 0 or the exit code.
 */
int output_check(const char *path, char *const *inputs, int nr)
{
	const bool out = !strcmp(path, "-");
	struct output o = { .name = out ? "standard output" : path, .folder = -1 };
	int ret = 0, err = out ? 0 : open_place(path, &o.folder);

	if (err)
		return fail("%s: %s", path, strerror(-err));
	o.there = !(out ? fstat(STDOUT_FILENO, &o.st) : stat(path, &o.st));
	if (o.there && !keeps_contents(&o.st))
		nr = 0;
	for (int i = 0; i < nr && !ret; i++)
		ret = check_input(&o, inputs[i]);
	if (o.folder >= 0)
		close(o.folder);
	return ret;
}

/*
 * Return true if a directory is a native trace.  -ENOENT says that it is one, whose metadata
 * have no remark.
 */
static bool is_trace(int folder)
{
	char path[FD_PATH], *remark = NULL;
	int err;

	if (faccessat(folder, "metadata", F_OK, 0))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
	err = ktape_piece_remark(path, &remark);
	if (!err)
		free(remark);
	return !err || err == -ENOENT;
}

static int refuse_place(const char *path, int trace)
{
	char fd[FD_PATH], name[PATH_MAX];
	ssize_t len;

	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", trace);
	len = readlink(fd, name, sizeof(name) - 1);
	name[len > 0 ? len : 0] = '\0';
	return fail("%s is inside the trace %s: choose an output outside of it",
		    path, name);
}

/**
 * output_check_place() - refuse to create a trace inside another trace
 * @path: path of the new trace; "-": standard output
 *
 * Return: 0 or the exit code.
 */
int output_check_place(const char *path)
{
	struct stat st, below = { .st_ino = 0 };
	int at = -1, ret = 0, up, err;

	err = strcmp(path, "-") ? open_place(path, &at) : 0;
	if (err)
		return fail("%s: %s", path, strerror(-err));
	while (at >= 0 && !fstat(at, &st) && !is_same(&st, &below) && !ret) {
		if (is_trace(at))
			ret = refuse_place(path, at);
		below = st;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	if (at >= 0)
		close(at);
	return ret;
}
