// SPDX-License-Identifier: LGPL-2.1-or-later
/* Folders of paths, and symbolic links. */
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "path.h"

#define LINKS_MAX	40	/* as the kernel follows */

/**
 * kt_path_folder() - the folder that a path names something in
 * @path: the path; slashes at its end name nothing
 *
 * Return: its path, which the caller frees, or NULL.
 */
char *kt_path_folder(const char *path)
{
	size_t len = strlen(path);

	while (len && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	if (!len)
		return strdup(*path == '/' ? "/" : ".");
	return strndup(path, len == 1 ? 1 : len - 1);
}

/* Links in /proc stand for open files, whose name says nothing. */
static bool is_of_proc(const char *path)
{
	char *folder = kt_path_folder(path);
	struct statfs fs;
	bool proc;

	proc = folder && !statfs(folder, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	free(folder);
	return proc;
}

/* Where a symbolic link leads to; @path is freed. */
static char *follow(char *path)
{
	char target[PATH_MAX], *folder = NULL, *next = NULL;
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len > 0) {
		target[len] = '\0';
		folder = kt_path_folder(path);
	}
	if (folder && *target == '/')
		next = strdup(target);
	else if (folder && asprintf(&next, "%s/%s", folder, target) < 0)
		next = NULL;
	free(folder);
	free(path);
	return next;
}

/**
 * kt_path_follow() - follow symbolic links at the end of a path
 * @path: the path; there need be nothing of that name
 * @place: set to where they end, which the caller frees; NULL: at an open file,
 *	which has no other name than that in /proc
 *
 * Return: 0, -ELOOP or -ENOMEM.
 */
int kt_path_follow(const char *path, char **place)
{
	char *at = strdup(path);
	struct stat st;

	*place = NULL;
	for (int i = 0; at && i < LINKS_MAX; i++) {
		if (lstat(at, &st) || !S_ISLNK(st.st_mode)) {
			*place = at;
			return 0;
		}
		if (is_of_proc(at)) {
			free(at);
			return 0;
		}
		at = follow(at);
	}
	free(at);
	return at ? -ELOOP : -ENOMEM;
}
