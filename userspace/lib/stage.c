// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An output is written under a temporary name in the folder where it belongs, and
 * gets its own name when it is whole.  If writing fails or is interrupted, an
 * earlier output of that name stays as it was.
 *
 * A folder that exists keeps its identity, owner and rights: the temporary folder
 * is inside of it, and its files move up at the end, the metadata last, because a
 * folder without metadata is no trace.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"

#include "stage.h"

#define MODE_DIR	0777

/* Nothing can take the place of what is mounted there. */
static bool is_mount(const char *path)
{
	struct statx stx;

	return !statx(AT_FDCWD, path, 0, STATX_TYPE, &stx) &&
	       stx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Is a file that exists to be written where it is? */
static bool stays(const char *path, const struct stat *st)
{
	return !S_ISREG(st->st_mode) || is_mount(path) ||
	       (st->st_uid != geteuid() && geteuid());
}

static int open_direct(const char *path, unsigned int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

/* Return: a file of a new temporary name, or negative errno. */
static int open_temp(struct kt_stage *s, unsigned int mode)
{
	int fd;

	for (unsigned int nr = 0;; nr++) {
		kt_temp_name(s->temp, nr);
		fd = openat(s->folder, s->temp,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
}

static int open_beside(struct kt_stage *s, const char *place,
		       const struct stat *earlier, unsigned int mode)
{
	const char *slash = strrchr(place, '/');
	char *folder = kt_path_folder(place);
	int fd;

	s->name = strdup(slash ? slash + 1 : place);
	s->folder = folder && s->name ?
			    open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	fd = s->folder >= 0 ? open_temp(s, mode) :
	     folder && s->name ? -errno : -ENOMEM;
	free(folder);
	/* As far as it is allowed, it is whose the earlier one was. */
	if (fd >= 0 && earlier &&
	    (fchown(fd, earlier->st_uid, earlier->st_gid) ||
	     fchmod(fd, earlier->st_mode & 07777)))
		errno = 0;
	if (fd < 0) {
		if (s->folder >= 0)
			close(s->folder);
		s->folder = -1;
		free(s->name);
		s->name = NULL;
	}
	return fd;
}

/**
 * kt_stage_file() - open a file to be written
 * @s: filled; ends with kt_stage_commit() or kt_stage_drop()
 * @path: its name; pipes, devices, open files in /proc, what is mounted and
 *	what only this file allows to change are written directly
 * @mode: of a new file
 *
 * Return: its descriptor, or negative errno.
 */
int kt_stage_file(struct kt_stage *s, const char *path, unsigned int mode)
{
	struct stat st;
	char *place;
	bool there;
	int fd, err;

	*s = (struct kt_stage)KT_STAGE_NONE;
	err = kt_path_follow(path, &place);
	if (err)
		return err;
	if (!place)
		return open_direct(path, mode);
	there = !stat(place, &st);
	if (there && stays(place, &st)) {
		fd = open_direct(path, mode);
	} else if (there && access(place, W_OK)) {
		fd = -errno;
	} else {
		s->replaces = there;
		fd = open_beside(s, place, there ? &st : NULL, mode);
		if (there && (fd == -EACCES || fd == -EPERM || fd == -EROFS))
			fd = open_direct(path, mode);
	}
	free(place);
	return fd;
}

/**
 * kt_stage_folder() - make a temporary folder inside of a folder
 * @s: filled, @s->inner is the folder to write to; ends with kt_stage_commit() or
 *	kt_stage_drop()
 * @folder: where its files go at the end; a descriptor that is taken over
 *
 * Return: 0 or negative errno.
 */
int kt_stage_folder(struct kt_stage *s, int folder)
{
	int err;

	*s = (struct kt_stage)KT_STAGE_NONE;
	for (unsigned int nr = 0;; nr++) {
		kt_temp_name(s->temp, nr);
		if (!mkdirat(folder, s->temp, MODE_DIR))
			break;
		if (errno != EEXIST)
			return -errno;
	}
	s->inner = openat(folder, s->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->inner < 0) {
		err = -errno;
		unlinkat(folder, s->temp, AT_REMOVEDIR);
		return err;
	}
	s->folder = folder;
	return 0;
}

static int move_up(const struct kt_stage *s, const char *name)
{
	return renameat(s->inner, name, s->folder, name) ? -errno : 0;
}

static int remove_file(const struct kt_stage *s, const char *name)
{
	return unlinkat(s->inner, name, 0) ? -errno : 0;
}

/* All but the metadata. */
static int for_each_file(const struct kt_stage *s,
			 int (*act)(const struct kt_stage *s, const char *name))
{
	int copy = openat(s->inner, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (e = readdir(dir))) {
		if (*e->d_name != '.' && strcmp(e->d_name, "metadata"))
			err = act(s, e->d_name);
	}
	closedir(dir);
	return err;
}

static void forget(struct kt_stage *s)
{
	if (s->inner >= 0)
		close(s->inner);
	close(s->folder);
	free(s->name);
	*s = (struct kt_stage)KT_STAGE_NONE;
}

/* What takes the place of an earlier file has to be on the disk before. */
static int sync_temp(const struct kt_stage *s)
{
	int fd = openat(s->folder, s->temp, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

/**
 * kt_stage_hold() - let signals wait, so that none ends us between two renames
 * @before: filled, for sigprocmask(2) behind them
 */
void kt_stage_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

/**
 * kt_stage_commit() - it is whole: it gets its name
 * @s: a file, or a folder whose place is empty by now; a direct output stays
 *
 * Return: 0 or negative errno; then the temporary one may still be dropped.
 */
int kt_stage_commit(struct kt_stage *s)
{
	int err = 0;

	if (!kt_stage_is_open(s))
		return 0;
	if (s->inner >= 0) {
		err = for_each_file(s, move_up);
		if (!err)
			err = move_up(s, "metadata");
		if (!err && unlinkat(s->folder, s->temp, AT_REMOVEDIR))
			err = -errno;
	} else {
		if (s->replaces)
			err = sync_temp(s);
		if (!err && renameat(s->folder, s->temp, s->folder, s->name))
			err = -errno;
	}
	if (!err)
		forget(s);
	return err;
}

/**
 * kt_stage_drop() - it is not wanted: nothing of it stays
 * @s: a file, a folder, or nothing
 */
void kt_stage_drop(struct kt_stage *s)
{
	if (!kt_stage_is_open(s))
		return;
	if (s->inner >= 0) {
		for_each_file(s, remove_file);
		remove_file(s, "metadata");
	}
	unlinkat(s->folder, s->temp, s->inner >= 0 ? AT_REMOVEDIR : 0);
	forget(s);
}
