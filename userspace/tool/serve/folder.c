// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: the files of the folder.
 *
 * A name is opened one component after the other.  No component may begin with "." (as ".." does;
 * only the one trace that the user has named may), be empty, or be a symbolic link, so nothing
 * outside of the folder can be opened.  A directory that
 * holds anything besides regular files is no trace: its reader would follow a link.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/serve/serve.h"

#define DEPTH	     4	       /* folders below the folder that are listed */
#define ENTRIES	     100000U   /* most entries that are read for an answer */
#define METADATA_MAX (1 << 20) /* bytes; larger metadata are not shown */
#define FLAGS	     (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* Ends of the names of traces whose contents do not begin with the magic number of a CTF packet. */
static const char *const suffixes[] = { ".kt", ".trx", ".rkh", ".tband", ".zst" };

static bool is_component(const char *name, size_t len)
{
	return len && len <= NAME_MAX && *name != '.';
}

/* Open the entry of a folder that a trace or folder may be. */
static int open_entry(int dir, const char *name, struct stat *st)
{
	int fd = openat(dir, name, FLAGS);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Is every entry of a directory a regular file, with metadata among them?  @size: set to the bytes
 * of its files.  @left: entries that may be read, counted down; a directory with more is no trace.
 */
static bool is_trace_dir(int fd, uint64_t *size, unsigned int *left)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	bool metadata = false, plain = true;
	const struct dirent *e;
	struct stat st;

	*size = 0;
	while (d && plain && (e = readdir(d))) {
		plain = *left > 0;
		*left -= plain;
		if (!plain || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		metadata |= !strcmp(e->d_name, "metadata");
		plain = !fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISREG(st.st_mode);
		*size += plain ? (uint64_t)st.st_size : 0;
	}
	if (d)
		closedir(d);
	return d && plain && metadata;
}

/**
 * serve_open() - open a trace by its name
 * @s: the server
 * @name: path below the folder, from a request
 * @is_dir: set if it is a directory
 *
 * Return: descriptor, or negative errno.
 */
int serve_open(const struct serve *s, const char *name, bool *is_dir)
{
	int fd = fcntl(s->root, F_DUPFD_CLOEXEC, 3), next;
	unsigned int left = ENTRIES;
	char part[NAME_MAX + 1];
	uint64_t size;
	struct stat st = { .st_mode = S_IFDIR };

	if (s->only && strcmp(name, s->only))
		next = -ENOENT;
	else
		next = fd < 0 ? -errno : 0;
	while (!next) {
		size_t len = strcspn(name, "/");

		/* The one trace may be hidden: the user has named it. */
		next = s->only || is_component(name, len) ? 0 : -ENOENT;
		if (next)
			break;
		memcpy(part, name, len);
		part[len] = '\0';
		next = open_entry(fd, part, &st);
		if (next < 0)
			break;
		close(fd);
		fd = next;
		next = 0;
		name += len;
		if (!*name)
			break;
		name++;
	}
	*is_dir = S_ISDIR(st.st_mode);
	if (!next && *is_dir && !is_trace_dir(fd, &size, &left))
		next = -ENOENT;
	if (!next)
		return fd;
	if (fd >= 0)
		close(fd);
	return next;
}

/* ---- the index ------------------------------------------------------------------------- */

static bool is_trace_file(int fd, const char *name)
{
	size_t len = strlen(name);
	uint32_t magic = 0;

	if (pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
	    (le32toh(magic) == KTAPE_BLOCK_MAGIC ||
	     le32toh(magic) == KTAPE_METADATA_MAGIC))
		return true;
	for (size_t i = 0; i < KT_ARRAY_SIZE(suffixes); i++) {
		size_t end = strlen(suffixes[i]);

		if (len > end && !strcmp(name + len - end, suffixes[i]))
			return true;
	}
	return false;
}

static int add_trace(struct serve_list *l, const char *path,
		     const struct stat *st, uint64_t size)
{
	struct serve_trace *more;

	more = realloc(l->traces, (l->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->traces = more;
	more[l->nr] = (struct serve_trace){
		.name = strdup(path),
		.size = size,
		.when = st->st_mtime,
		.is_dir = S_ISDIR(st->st_mode),
	};
	return more[l->nr++].name ? 0 : -ENOMEM;
}

static int list_folder(struct serve_list *l, int fd, const char *path, int depth);

static int list_entry(struct serve_list *l, int dir, const char *path,
		      const char *name, int depth)
{
	char whole[PATH_MAX];
	uint64_t size;
	struct stat st;
	int fd, err = 0;

	if ((size_t)snprintf(whole, sizeof(whole), "%s%s%s", path,
			     *path ? "/" : "", name) >= sizeof(whole))
		return 0;
	fd = open_entry(dir, name, &st);
	if (fd < 0)
		return 0;
	if (S_ISREG(st.st_mode) && is_trace_file(fd, name))
		err = add_trace(l, whole, &st, (uint64_t)st.st_size);
	else if (S_ISDIR(st.st_mode) && is_trace_dir(fd, &size, &l->left))
		err = add_trace(l, whole, &st, size);
	/* A folder that has metadata, but is no trace, is not searched for traces. */
	else if (S_ISDIR(st.st_mode) && depth &&
		 faccessat(fd, "metadata", F_OK, AT_SYMLINK_NOFOLLOW))
		err = list_folder(l, fd, whole, depth - 1);
	close(fd);
	return err;
}

static int list_folder(struct serve_list *l, int fd, const char *path, int depth)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	while (d && !err && l->nr < SERVE_TRACES && l->left && (e = readdir(d))) {
		l->left--;
		if (is_component(e->d_name, strlen(e->d_name)))
			err = list_entry(l, fd, path, e->d_name, depth);
	}
	if (d)
		closedir(d);
	return err;
}

static int by_trace_time(const void *a, const void *b)
{
	const struct serve_trace *x = a, *y = b;

	if (x->when != y->when)
		return x->when > y->when ? -1 : 1;
	return strcmp(x->name, y->name);
}

/**
 * serve_list() - list the traces of the folder, the newest first
 * @s: the server
 * @l: filled; release with serve_list_free()
 *
 * Return: 0 or -ENOMEM.
 */
int serve_list(const struct serve *s, struct serve_list *l)
{
	int err;

	*l = (struct serve_list){ .left = ENTRIES };
	if (s->only)
		err = list_entry(l, s->root, "", s->only, 0);
	else
		err = list_folder(l, s->root, "", DEPTH);
	if (err)
		serve_list_free(l);
	else if (l->nr)
		qsort(l->traces, l->nr, sizeof(*l->traces), by_trace_time);
	return err;
}

/**
 * serve_list_free() - free the traces of serve_list()
 * @l: the list
 */
void serve_list_free(struct serve_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->traces[i].name);
	free(l->traces);
}

/**
 * serve_info() - read the metadata of a directory
 * @s: the server
 * @name: path of the trace
 * @info: filled
 *
 * Return: 0 or negative errno.
 */
int serve_info(const struct serve *s, const char *name, struct ktape_info *info)
{
	char *text = NULL;
	struct stat st;
	bool is_dir;
	int dir = serve_open(s, name, &is_dir), fd, err = -EBADMSG;

	if (dir < 0)
		return dir;
	fd = openat(dir, "metadata", FLAGS);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size <= METADATA_MAX)
		text = malloc((size_t)st.st_size + 1);
	if (text && pread(fd, text, (size_t)st.st_size, 0) == st.st_size)
		err = ktape_metadata_parse(text, (size_t)st.st_size, info, NULL);
	free(text);
	if (fd >= 0)
		close(fd);
	close(dir);
	return err;
}
