// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the traces below a folder.  LTTng makes a folder of a session with a trace for each
 * of its domains, and once more for each time that it is rotated:
 *
 *	session/kernel/metadata
 *	session/ust/uid/1000/64-bit/metadata
 *	session/archives/20240101T.../kernel/metadata
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

#define FLAGS	(O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

static int find_in(int folder, const char *path, unsigned int depth,
		   struct kt_folders *found);

static int add_folder(struct kt_folders *found, const char *path)
{
	char **more = found->list;

	if (found->nr == KT_FOLDERS_MAX)
		return -E2BIG;
	if (!(found->nr & (found->nr - 1)))
		more = realloc(more, (found->nr ? found->nr * 2 : 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	found->list = more;
	more[found->nr] = strdup(path);
	return more[found->nr] ? (void)found->nr++, 0 : -ENOMEM;
}

static int is_folder(const struct dirent *d)
{
	return *d->d_name != '.' && (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN);
}

/* Look into the folder @name of @folder, which has the path @path. */
static int enter(int folder, const char *path, const char *name, unsigned int depth,
		 struct kt_folders *found)
{
	int fd = openat(folder, name, FLAGS), err;
	char *below = NULL;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP || errno == EACCES ? 0 : -errno;
	err = asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0 ?
		      -ENOMEM : find_in(fd, below, depth + 1, found);
	free(below);
	close(fd);
	return err;
}

static int find_in(int folder, const char *path, unsigned int depth,
		   struct kt_folders *found)
{
	struct dirent **names;
	struct stat st;
	int nr, err = 0;

	if (!fstatat(folder, "metadata", &st, 0))
		return add_folder(found, *path ? path : ".");
	if (depth == KT_FOLDERS_DEPTH)
		return 0;
	if (found->seen++ == KT_FOLDERS_SEEN)
		return -E2BIG;
	nr = scandirat(folder, ".", &names, is_folder, versionsort);
	if (nr < 0)
		return -errno;
	for (int i = 0; i < nr; i++) {
		if (!err)
			err = enter(folder, path, names[i]->d_name, depth, found);
		free(names[i]);
	}
	free(names);
	return err;
}

/**
 * kt_folders_find() - find the folders that have a file "metadata"
 * @folder: the folder, or one above them
 * @found: filled; ends with kt_folders_free(), also after a failure
 *
 * What is below a folder with such a file is not looked at.
 *
 * Return: 0, -E2BIG if there are more than KT_FOLDERS_MAX or too many others, or another
 * negative errno.
 */
int kt_folders_find(int folder, struct kt_folders *found)
{
	*found = (struct kt_folders){ .list = NULL };
	return find_in(folder, "", 0, found);
}

/* Free what kt_folders_find() has found. */
void kt_folders_free(struct kt_folders *found)
{
	for (size_t i = 0; i < found->nr; i++)
		free(found->list[i]);
	free(found->list);
}
