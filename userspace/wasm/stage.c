// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In the place of util/stage.c, util/temp.c and util/path.c: outputs are written under
 * their final name, into a file system in memory that has nothing to replace and no links.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"
#include "util/stage.h"

int kt_stage_direct(const char *path, unsigned int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

/* An output is dropped by its name in the root, which is open as @s->folder. */
int kt_stage_file(struct kt_stage *s, const char *path, unsigned int mode)
{
	int fd = kt_stage_direct(path, mode);

	*s = (struct kt_stage)KT_STAGE_NONE;
	if (fd < 0)
		return fd;
	s->name = strdup(path);
	s->folder = s->name ? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (s->folder < 0) {
		free(s->name);
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/*
 * Make an inner folder, as util/stage.c does: before the writer of a trace commits, it checks once
 * more that the outer one has no files.
 */
int kt_stage_folder(struct kt_stage *s, int folder,
		    bool (*is_ours)(const char *name))
{
	*s = (struct kt_stage)KT_STAGE_NONE;
	strcpy(s->temp, KT_TEMP_PREFIX "new");
	if (mkdirat(folder, s->temp, 0777))
		return -errno;
	s->inner = openat(folder, s->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->inner < 0)
		return -errno;
	s->folder = folder;
	s->is_ours = is_ours;
	return 0;
}

void kt_stage_keep(struct kt_stage *s)
{
	if (!kt_stage_is_open(s))
		return;
	if (s->inner >= 0)
		close(s->inner);
	close(s->folder);
	free(s->name);
	*s = (struct kt_stage)KT_STAGE_NONE;
}

/* Move the files of the inner folder to @to, or remove them if @to is -1. */
static int empty_inner(struct kt_stage *s, int to)
{
	int copy = openat(s->inner, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int err = dir ? 0 : -errno;

	/* Entries go away while the folder is read: begin again each time. */
	while (!err && (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (to < 0 ? unlinkat(s->inner, e->d_name, 0) :
			     renameat(s->inner, e->d_name, to, e->d_name))
			err = -errno;
		rewinddir(dir);
	}
	if (dir)
		closedir(dir);
	return err					  ? err :
	       unlinkat(s->folder, s->temp, AT_REMOVEDIR) ? -errno :
							    0;
}

int kt_stage_commit(struct kt_stage *s)
{
	int err = s->inner >= 0 ? empty_inner(s, s->folder) : 0;

	if (!err)
		kt_stage_keep(s);
	return err;
}

int kt_stage_rename(struct kt_stage *s, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	if (rename(s->name, copy)) {
		free(copy);
		return -errno;
	}
	free(s->name);
	s->name = copy;
	return 0;
}

int kt_stage_move(struct kt_stage *s, int folder)
{
	struct kt_stage next;
	int err = kt_stage_folder(&next, folder, s->is_ours);

	if (err)
		return err;
	err = empty_inner(s, next.inner);
	if (err)
		return err;
	kt_stage_keep(s);
	*s = next;
	return 0;
}

void kt_stage_drop(struct kt_stage *s)
{
	if (!kt_stage_is_open(s))
		return;
	if (s->inner >= 0)
		empty_inner(s, -1);
	else
		unlink(s->name);
	kt_stage_keep(s);
}

/* A file without a name: only memory is its place. */
FILE *kt_tmpfile(void)
{
	FILE *f = fopen("/.tmp", "w+");

	if (f)
		unlink("/.tmp");
	return f;
}

int kt_temp_folder(int folder, char name[KT_TEMP_NAME])
{
	int fd;

	strcpy(name, KT_TEMP_PREFIX "new");
	if (mkdirat(folder, name, 0777))
		return -errno;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* No signal removes a name. */
void kt_temp_forget(int folder, const char *name)
{
	(void)folder;
	(void)name;
}

bool kt_temp_is_name(const char *name)
{
	return !strncmp(name, KT_TEMP_PREFIX, strlen(KT_TEMP_PREFIX));
}

int kt_path_follow(const char *path, char **place)
{
	*place = strdup(path);
	return *place ? 0 : -ENOMEM;
}
