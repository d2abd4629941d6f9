/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the traces below a folder: the folders in it that have a file "metadata". */
#ifndef _KT_FOLDERS_H
#define _KT_FOLDERS_H

#include <stddef.h>

#include "util/map.h"

#define KT_FOLDERS_MAX	 4096U /* folders that are found */
#define KT_FOLDERS_DEPTH 10U   /* levels below the first folder that are read */
#define KT_FOLDERS_SEEN	 (1U << 16) /* other folders that are read */

/**
 * struct kt_folders - the folders with a file "metadata" below a folder
 * @list: their paths from there, in the order of their names; "." is the folder itself
 * @nr: entries of @list
 * @checked: folders without "metadata" whose entries were read
 * @taken: by device and inode: folders that were met, so that each is read once
 * @skip: called for each folder that is left out, with its path and the reason; may be NULL
 * @arg: first argument of @skip
 */
struct kt_folders {
	char **list;
	size_t nr;
	unsigned int checked;
	struct kt_map taken;
	void (*skip)(void *arg, const char *path, const char *why);
	void *arg;
};

/* The caller sets @skip and @arg before, and calls kt_folders_free() also if this fails. */
int kt_folders_find(int folder, struct kt_folders *found);
void kt_folders_free(struct kt_folders *found);

#endif /* _KT_FOLDERS_H */
