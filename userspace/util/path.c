// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the folder of a path, and follow symbolic links. */
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

#define LINKS_MAX 40 /* most links, as in the kernel */

/**
 * kt_path_folder() - Return the folder that contains what a path names
 * @path: the path; trailing slashes are ignored
 *
 * Return: path of the folder, which the caller frees, or NULL without memory.
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

/* Check for a link in /proc, which refers to an open file and whose text is no path. */
static bool is_of_proc(const char *path)
{
	char *folder = kt_path_folder(path);
	struct statfs fs;
	bool proc;

	proc = folder && !statfs(folder, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	free(folder);
	return proc;
}

/* Follow one symbolic link.  @path is freed. */
static char *follow_link(char *path)
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

/* Check for a link that only root can have made: nobody else may write its folder. */
static bool is_of_root(const char *path)
{
	char *folder = kt_path_folder(path);
	struct stat st;
	bool root;

	root = folder && !stat(folder, &st) && !st.st_uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
	free(folder);
	return root;
}

/* Do kt_path_follow(), or with @only_root kt_path_follow_root(). */
static int follow_path_link(const char *path, bool only_root, char **place)
{
	char *at = strdup(path);
	struct stat st;
	int err;

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
		if (only_root && !is_of_root(at))
			break;
		at = follow_link(at);
	}
	err = at ? -ELOOP : -ENOMEM;
	free(at);
	return err;
}

/**
 * kt_path_follow() - Follow symbolic links at the end of a path
 * @path: the path, which need not exist
 * @place: set to the path after following all links, which the caller frees; NULL if
 *	the last link is to an open file in /proc, which has no other name
 *
 * Return: 0, -ELOOP or -ENOMEM.
 */
int kt_path_follow(const char *path, char **place)
{
	return follow_path_link(path, false, place);
}

/**
 * kt_path_follow_root() - Follow symbolic links of root at the end of a path
 * @path: as of kt_path_follow(), for example /dev/stdout
 * @place: as of kt_path_follow()
 *
 * Return: 0, -ELOOP also for a link in a folder that another user may write, or -ENOMEM.
 */
int kt_path_follow_root(const char *path, char **place)
{
	return follow_path_link(path, true, place);
}
