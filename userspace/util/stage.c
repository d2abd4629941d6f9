// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write an output under a temporary name in its final folder, and rename it when it is
 * complete.  If writing fails or is interrupted, an earlier output stays as it was.
 *
 * An existing folder keeps its inode, owner and permissions, so the temporary folder is
 * inside it.  When the output is complete, the earlier files move to a second temporary
 * folder and the new ones move up; if that fails, all of them move back.  The file
 * "metadata" is removed first and added last: a folder without metadata is not a trace,
 * so a reader in between does not take a partial trace for a complete one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "path.h"

#include "stage.h"

#define MODE_PRIVATE 0600
#define METADATA     "metadata"

/* Check for a mount point, which cannot be replaced by rename(2). */
static bool is_mount(const char *path)
{
	struct statx stx;

	return !statx(AT_FDCWD, path, 0, STATX_TYPE, &stx) &&
	       stx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Check whether an existing file must be written in place. */
static bool is_written_in_place(const char *path, const struct stat *st)
{
	/* Other hard links would keep the old content after a rename. */
	return !S_ISREG(st->st_mode) || st->st_nlink > 1 || is_mount(path) ||
	       (st->st_uid != geteuid() && geteuid());
}

/**
 * kt_stage_direct() - Open a file to write it in place
 * @path: path of the file, which is truncated
 * @mode: permissions of a new file
 *
 * Return: descriptor, or negative errno.
 */
int kt_stage_direct(const char *path, unsigned int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

/*
 * Give a new file the owner, group and permissions of the earlier one, as far as the
 * process may.  No user may gain a permission: if owner or group cannot be set, the
 * group and others get only what both had.
 */
static void copy_permissions(int fd, const struct stat *earlier)
{
	unsigned int mode = earlier->st_mode & 0777, both;

	if (fchown(fd, earlier->st_uid, earlier->st_gid)) {
		both = mode & mode >> 3 & 7;
		mode = (mode & 0700) | both << 3 | both;
	}
	/* If this fails, the file stays private.  The assignment only uses the result. */
	if (fchmod(fd, mode))
		errno = 0;
}

/*
 * Open a temporary file in the folder of @place, with the permissions of the @earlier file if
 * there is one.  Return: descriptor, with name and folder in @s; or negative errno.
 */
static int open_beside(struct kt_stage *s, const char *place,
		       const struct stat *earlier, unsigned int mode)
{
	const char *slash = strrchr(place, '/');
	char *folder = kt_path_folder(place);
	int fd;

	s->name = strdup(slash ? slash + 1 : place);
	s->folder = folder && s->name ?
			    open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) :
			    -1;
	if (s->folder >= 0)
		fd = kt_temp_file(s->folder, s->temp, earlier ? MODE_PRIVATE : mode);
	else
		fd = folder && s->name ? -errno : -ENOMEM;
	free(folder);
	if (fd >= 0 && earlier)
		copy_permissions(fd, earlier);
	if (fd < 0) {
		if (s->folder >= 0)
			close(s->folder);
		s->folder = -1;
		free(s->name);
		s->name = NULL;
	}
	return fd;
}

static bool ends_in_a_slash(const char *path)
{
	size_t len = strlen(path);

	return len && path[len - 1] == '/';
}

/**
 * kt_stage_file() - Open a file under a temporary name
 * @s: filled; end with kt_stage_commit() or kt_stage_drop()
 * @path: final path.  Pipes, devices, open files in /proc, mount points, files with
 *	several hard links, files of another user (unless the caller is root), and files
 *	in folders that may not be written are written in place
 * @mode: permissions of a new file
 *
 * Return: descriptor, or negative errno.
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
	/* Open a link in /proc as it is; for a trailing slash, open(2) returns an error. */
	if (!place || ends_in_a_slash(place)) {
		free(place);
		return kt_stage_direct(path, mode);
	}
	there = !stat(place, &st);
	if (there && is_written_in_place(place, &st)) {
		fd = kt_stage_direct(path, mode);
	} else if (there && access(place, W_OK)) {
		fd = -errno;
	} else {
		s->replaces = there;
		fd = open_beside(s, place, there ? &st : NULL, mode);
		if (there && (fd == -EACCES || fd == -EPERM || fd == -EROFS))
			fd = kt_stage_direct(path, mode);
	}
	free(place);
	return fd;
}

/*
 * Open a file to write it in place.  A FIFO that nobody reads is an error, because waiting
 * for its reader would let whoever made it stop the process.
 */
static int open_private(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY |
				    O_NONBLOCK | flags);
	int now, err;

	if (fd < 0)
		return -errno;
	now = fcntl(fd, F_GETFL);
	if (now >= 0 && !fcntl(fd, F_SETFL, now & ~O_NONBLOCK))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Do kt_stage_private() for a path whose links of root were followed. */
static int stage_private(struct kt_stage *s, const char *path, unsigned int mode)
{
	struct stat st;
	bool there = !lstat(path, &st);
	bool in_place = there && (!S_ISREG(st.st_mode) || is_mount(path));
	int fd = -EACCES; /* as of a folder that may not be written: then in place */

	/* rename(2) replaces a link that comes after this check, and does not follow it. */
	if (!in_place) {
		s->replaces = there;
		fd = open_beside(s, path, there ? &st : NULL, mode);
	}
	if (!there || (fd != -EACCES && fd != -EPERM && fd != -EROFS))
		return fd;
	return open_private(path, O_NOFOLLOW);
}

/**
 * kt_stage_private() - Open a file under a temporary name, and follow no link of others
 * @s: as of kt_stage_file()
 * @path: final path.  Pipes, devices, mount points and files in folders that may not be
 *	written are written in place, all others are replaced
 * @mode: permissions of a new file
 *
 * For a file that is written again and again, maybe by root, in a folder that another
 * user may change: whoever exchanges the file for a link must not choose what is
 * overwritten.  A link in a folder that only root may write is followed: /dev/stdout.
 *
 * Return: descriptor, -ELOOP if @path is a symbolic link of others, -EISDIR if it ends in
 * a slash, -ENXIO for a FIFO that nobody reads, or another negative errno.
 */
int kt_stage_private(struct kt_stage *s, const char *path, unsigned int mode)
{
	char *place;
	int fd, err;

	*s = (struct kt_stage)KT_STAGE_NONE;
	if (ends_in_a_slash(path))
		return -EISDIR;
	err = kt_path_follow_root(path, &place);
	if (err)
		return err;
	if (!place)
		return open_private(path, 0);
	fd = ends_in_a_slash(place) ? -EISDIR : stage_private(s, place, mode);
	free(place);
	return fd;
}

/**
 * kt_stage_folder() - Make a temporary folder inside a folder
 * @s: filled; write to @s->inner; end with kt_stage_commit(), kt_stage_keep() or
 *	kt_stage_drop()
 * @folder: descriptor of the final folder, owned by @s after success
 * @is_ours: checks whether a file of an earlier output, to be replaced, can have a name
 *
 * Return: 0 or negative errno.
 */
int kt_stage_folder(struct kt_stage *s, int folder,
		    bool (*is_ours)(const char *name))
{
	int inner;

	*s = (struct kt_stage)KT_STAGE_NONE;
	inner = kt_temp_folder(folder, s->temp);
	if (inner < 0)
		return inner;
	s->inner = inner;
	s->folder = folder;
	s->is_ours = is_ours;
	return 0;
}

static void forget_stage(struct kt_stage *s)
{
	kt_temp_forget(s->folder, s->temp);
	if (s->inner >= 0)
		close(s->inner);
	close(s->folder);
	free(s->name);
	*s = (struct kt_stage)KT_STAGE_NONE;
}

/* ---- the files of a folder ------------------------------------------------------ */

static int count_file(int from, const char *name, int to)
{
	(void)from;
	(void)name;
	(void)to;
	return 1;
}

static int sync_file(int from, const char *name, int to)
{
	(void)to;
	return kt_fsync_at(from, name);
}

static int move_file(int from, const char *name, int to)
{
	return renameat(from, name, to, name) ? -errno : 0;
}

static int remove_file(int from, const char *name, int to)
{
	(void)to;
	return unlinkat(from, name, 0) ? -errno : 0;
}

/*
 * Call @act for each file of an output except the metadata, until it does not return 0.
 * Return: that, 0, or negative errno if the folder cannot be read.
 */
static int for_each_stream(const struct kt_stage *s, int from, int to,
			   int (*act)(int from, const char *name, int to))
{
	int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int ret = 0;

	if (!dir) {
		ret = -errno;
		if (copy >= 0)
			close(copy);
		return ret;
	}
	while (!ret && (e = readdir(dir))) {
		if (*e->d_name == '.' || !strcmp(e->d_name, METADATA) ||
		    (from == s->folder && !s->is_ours(e->d_name)))
			continue;
		ret = act(from, e->d_name, to);
	}
	closedir(dir);
	return ret;
}

/* Call @act for the metadata, if there is any. */
static int on_metadata(int from, int to,
		       int (*act)(int from, const char *name, int to))
{
	struct stat st;

	if (fstatat(from, METADATA, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	return act(from, METADATA, to);
}

/* Move the files of an output from @from to @to, the metadata last. */
static int bring_files(const struct kt_stage *s, int from, int to)
{
	int err = for_each_stream(s, from, to, move_file);

	return err ? err : on_metadata(from, to, move_file);
}

/* Move, remove or count (@act) the files of an output in @from, the metadata first. */
static int clear_files(const struct kt_stage *s, int from, int to,
		       int (*act)(int from, const char *name, int to))
{
	int err = on_metadata(from, to, act);

	return err ? err : for_each_stream(s, from, to, act);
}

/* Sync the new files before earlier ones are touched. */
static int sync_inner(const struct kt_stage *s)
{
	int err = for_each_stream(s, s->inner, -1, sync_file);

	if (!err)
		err = sync_file(s->inner, METADATA, -1);
	return err ? err : kt_fsync_at(s->inner, ".");
}

/*
 * Move the earlier files to @old, -1 = there are none, and the new ones up.
 * Return: 0, or negative errno after moving all of them back.
 */
static int commit_inner(struct kt_stage *s, int old)
{
	int err = 0;

	if (old >= 0)
		err = clear_files(s, s->folder, old, move_file);
	if (!err) {
		err = bring_files(s, s->inner, s->folder);
		if (!err && old >= 0)
			err = kt_fsync_at(s->folder, ".");
		if (err)
			clear_files(s, s->folder, s->inner, move_file);
	}
	if (err && old >= 0)
		bring_files(s, old, s->folder);
	return err;
}

/* Commit a folder.  Without earlier files nothing is synced, because nothing can be lost. */
static int commit_stage_folder(struct kt_stage *s)
{
	char name[KT_TEMP_NAME];
	sigset_t before;
	int old = -1, err;

	err = clear_files(s, s->folder, -1, count_file);
	if (err < 0)
		return err;
	if (err) {
		err = sync_inner(s);
		if (err)
			return err;
		old = kt_temp_folder(s->folder, name);
		if (old < 0)
			return old;
		/* The signal handler must not remove the earlier files in this folder. */
		kt_temp_forget(s->folder, name);
	}
	kt_temp_hold(&before);
	err = commit_inner(s, old);
	if (!err)
		unlinkat(s->folder, s->temp, AT_REMOVEDIR);
	if (old >= 0) {
		if (!err)
			clear_files(s, old, -1, remove_file);
		close(old);
		/* Fails if an earlier file could not move back: keep the file and the folder. */
		unlinkat(s->folder, name, AT_REMOVEDIR);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* ---- commit, keep, drop ------------------------------------------------------------ */

/* Sync the new file before it replaces an earlier one. */
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

static int commit_file(const struct kt_stage *s)
{
	int err = s->replaces ? sync_temp(s) : 0;

	if (!err && renameat(s->folder, s->temp, s->folder, s->name))
		err = -errno;
	return err;
}

/**
 * kt_stage_commit() - Give a complete output its final name
 * @s: a file or folder; nothing is done if the output is not staged
 *
 * Return: 0 or negative errno; after an error the earlier output is unchanged, and the
 * caller may keep or drop the temporary one.
 */
int kt_stage_commit(struct kt_stage *s)
{
	int err;

	if (!kt_stage_is_open(s))
		return 0;
	err = s->inner >= 0 ? commit_stage_folder(s) : commit_file(s);
	if (!err)
		forget_stage(s);
	return err;
}

/**
 * kt_stage_rename() - Give a staged file another final name
 * @s: a file that is staged
 * @name: the name, in the same folder
 *
 * Return: 0 or negative errno; -EEXIST if there is something of that name.
 */
int kt_stage_rename(struct kt_stage *s, const char *name)
{
	char *copy;
	struct stat st;

	if (!fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	s->replaces = false;
	free(s->name);
	s->name = copy;
	return 0;
}

/**
 * kt_stage_move() - Move a staged folder into another folder
 * @s: a folder that is staged
 * @folder: descriptor of the other folder, owned by @s after success
 *
 * Return: 0 or negative errno.
 */
int kt_stage_move(struct kt_stage *s, int folder)
{
	struct kt_stage next;
	int err = kt_stage_folder(&next, folder, s->is_ours);

	if (err)
		return err;
	err = bring_files(s, s->inner, next.inner);
	if (err) {
		bring_files(s, next.inner, s->inner);
		unlinkat(folder, next.temp, AT_REMOVEDIR);
		kt_temp_forget(folder, next.temp);
		close(next.inner);
		return err;
	}
	kt_stage_drop(s);
	*s = next;
	return 0;
}

/**
 * kt_stage_keep() - Keep an output under its temporary name
 * @s: a file or folder
 */
void kt_stage_keep(struct kt_stage *s)
{
	if (kt_stage_is_open(s))
		forget_stage(s);
}

/**
 * kt_stage_drop() - Remove an output
 * @s: a file or folder; nothing is done if the output is not staged
 */
void kt_stage_drop(struct kt_stage *s)
{
	if (!kt_stage_is_open(s))
		return;
	if (s->inner >= 0)
		clear_files(s, s->inner, -1, remove_file);
	unlinkat(s->folder, s->temp, s->inner >= 0 ? AT_REMOVEDIR : 0);
	forget_stage(s);
}
