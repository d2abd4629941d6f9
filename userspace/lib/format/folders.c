// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the traces below a folder.  LTTng makes a folder for a session.  That has a folder with a
 * trace for each of its domains (kernel, ust), and the same again for each rotation:
 *
 *	session/kernel/metadata
 *	session/ust/uid/1000/64-bit/metadata
 *	session/archives/20240101T.../kernel/metadata
 *
 * Symbolic links are followed.  A folder that several of them lead to, or that a link above
 * it leads to, is read once.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folders.h"

#define FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

static int find_in(int folder, const char *path, unsigned int depth,
		   struct kt_folders *found);

static int add_folder(struct kt_folders *found, const char *path)
{
	char **more = found->list;

	if (found->nr == KT_FOLDERS_MAX)
		return -E2BIG;
	/* The list has room for a power of two: at 0 and at each of these it is full. */
	if (!(found->nr & (found->nr - 1)))
		more = realloc(more,
			       (found->nr ? found->nr * 2 : 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	found->list = more;
	more[found->nr] = strdup(path);
	return more[found->nr] ? (void)found->nr++, 0 : -ENOMEM;
}

static int is_input_folder(const struct dirent *d)
{
	return *d->d_name != '.' && (d->d_type == DT_DIR || d->d_type == DT_LNK ||
				     d->d_type == DT_UNKNOWN);
}

/* Return -@err if no other folder could be opened either; else report this one, and return 0. */
static int skip_input_folder(const struct kt_folders *found, const char *path,
			     int err)
{
	if (err == ENOMEM || err == EMFILE || err == ENFILE)
		return -err;
	if (found->skip)
		found->skip(found->arg, *path ? path : ".", strerror(err));
	return 0;
}

/* Take a folder.  Return: 1 if it is new, 0 if it was found before, or negative errno. */
static int take_folder(int folder, struct kt_folders *found)
{
	struct kt_map_entry *e;
	struct stat st;

	if (fstat(folder, &st))
		return -errno;
	/* The map's first key has 32 bits, as numbers of devices have in the kernel. */
	e = kt_map_put(&found->taken, (uint32_t)st.st_dev, st.st_ino);
	if (!e)
		return -ENOMEM;
	return e->value ? 0 : (int)(e->value = 1);
}

/*
 * Look into the folder @name of @folder, which has the path @path.  A link to a file is no folder.
 * Return: as kt_folders_find().
 */
static int enter_folder(int folder, const char *path, const char *name,
			unsigned int depth, struct kt_folders *found)
{
	int fd = openat(folder, name, FLAGS), err = fd < 0 ? errno : 0;
	char *below = NULL;

	if (err == ENOTDIR)
		return 0;
	if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0)
		below = NULL;
	if (!below)
		err = -ENOMEM;
	else if (err)
		err = skip_input_folder(found, below, err);
	else
		err = find_in(fd, below, depth + 1, found);
	free(below);
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Find the traces in a folder and below it.  @path: from the first folder to it, "" for the first
 * folder itself; @depth: levels between them.  Return: as kt_folders_find().
 */
static int find_in(int folder, const char *path, unsigned int depth,
		   struct kt_folders *found)
{
	struct dirent **names;
	struct stat st;
	int nr, err = take_folder(folder, found);

	if (err <= 0)
		return err;
	err = 0;
	/* A dangling link counts as well: the caller then reports a trace that cannot be read. */
	if (!fstatat(folder, "metadata", &st, AT_SYMLINK_NOFOLLOW))
		return add_folder(found, *path ? path : ".");
	if (errno != ENOENT)
		return skip_input_folder(found, path, errno);
	if (found->checked++ == KT_FOLDERS_SEEN)
		return -E2BIG;
	nr = scandirat(folder, ".", &names, is_input_folder, versionsort);
	if (nr < 0)
		return skip_input_folder(found, path, errno);
	if (nr && depth == KT_FOLDERS_DEPTH && found->skip)
		found->skip(found->arg, path, "the folders below it are too deep");
	for (int i = 0; i < nr; i++) {
		if (!err && depth < KT_FOLDERS_DEPTH)
			err = enter_folder(folder, path, names[i]->d_name,
					   depth, found);
		free(names[i]);
	}
	free(names);
	return err;
}

/**
 * kt_folders_find() - find the folders that have a file "metadata"
 * @folder: the folder, or one above them
 * @found: skip and arg are the caller's, the rest is filled; ends with kt_folders_free(),
 *	also after a failure
 *
 * What is below a folder with such a file is not read.
 *
 * Return: 0, -E2BIG if there are more than KT_FOLDERS_MAX of them or KT_FOLDERS_SEEN others, or
 * another negative errno.
 */
int kt_folders_find(int folder, struct kt_folders *found)
{
	*found = (struct kt_folders){ .skip = found->skip, .arg = found->arg };
	return find_in(folder, "", 0, found);
}

/* Free what kt_folders_find() has found. */
void kt_folders_free(struct kt_folders *found)
{
	for (size_t i = 0; i < found->nr; i++)
		free(found->list[i]);
	free(found->list);
	kt_map_free(&found->taken);
}
