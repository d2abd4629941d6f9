// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replace and remove traces, but never anything else.
 *
 * A directory is replaced or removed only if all its files have the names of a trace
 * and its metadata is ktape's.  A staged trace is written in a temporary folder inside
 * the directory and is moved out of it when it is complete.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write/write.h"
#include "stream/metadata.h"
#include "stream/scan.h"

static const char *const prefixes[] = {
	[KTAPE_RING_EVENT] = "cpu",
	[KTAPE_RING_CONTROL] = "control",
};

/* Return how the names of stream files of a kind begin, NULL for the registry. */
const char *kt_ctf_prefix(uint32_t kind)
{
	return kind < KT_ARRAY_SIZE(prefixes) ? prefixes[kind] : NULL;
}

/* Check whether a file of a trace can have this name. */
static bool is_own_file(const char *name)
{
	size_t whole = strlen(name), end = strlen(KT_CTF_PACKED);

	if (!strcmp(name, "metadata") || !strcmp(name, KT_CTF_NEXT))
		return true;
	if (whole > end && !strcmp(name + whole - end, KT_CTF_PACKED))
		whole -= end;
	if (whole == strlen("registry") && !strncmp(name, "registry", whole))
		return true;
	for (size_t i = 0; i < KT_ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], len) && whole > len &&
		    strspn(name + len, "0123456789") == whole - len)
			return true;
	}
	return false;
}

/* Return: 0 if a file may be removed with its trace, -EEXIST if not, or negative errno. */
static int is_replaceable(int dir, const char *name)
{
	struct stat st;

	if (!is_own_file(name))
		return -EEXIST;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

/* Remove a stream.  The metadata is removed last, so that a remainder is readable. */
static int remove_stream(int dir, const char *name)
{
	if (strcmp(name, "metadata") && unlinkat(dir, name, 0))
		return -errno;
	return 0;
}

/*
 * Call @act for each entry of a directory that has no name of a temporary folder (util/temp.h).
 * Return: 1, 0 if the directory is empty, or the first negative errno.
 */
static int for_each_entry(int fd, int (*act)(int dir, const char *name))
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int err = 0, nr = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    kt_temp_is_name(entry->d_name))
			continue;
		err = act(fd, entry->d_name);
		nr = 1;
	}
	closedir(dir);
	return err ? err : nr;
}

static int refuse_entry(int dir, const char *name)
{
	(void)dir;
	(void)name;
	return -ENOTEMPTY;
}

static bool has_our_metadata(int dir)
{
	struct ktape_info info;
	uint8_t *data;
	ssize_t len = kt_read_file(dir, "metadata", KT_METADATA_MAX, &data);
	bool ours;

	ours = len >= 0 && !ktape_metadata_parse(data, (size_t)len, &info, NULL);
	free(data);
	return ours;
}

/*
 * Check that a directory is empty or, with @force, contains only a trace.
 * Return: 1 if it contains a trace, 0 if it is empty, or negative errno.
 */
static int check_replaced_empty(int fd, bool force)
{
	int ret = for_each_entry(fd, force ? is_replaceable : refuse_entry);

	if (ret <= 0)
		return ret;
	return has_our_metadata(fd) ? 1 : -EEXIST;
}

/*
 * Check as check_replaced_empty(), then remove the trace; if the check fails, remove nothing.
 * Return: 0 or negative errno.
 */
int kt_ctf_make_empty(int fd, bool force)
{
	int ret = check_replaced_empty(fd, force);

	if (ret <= 0)
		return ret;
	ret = for_each_entry(fd, remove_stream);
	if (ret < 0)
		return ret;
	return unlinkat(fd, "metadata", 0) ? -errno : 0;
}

/*
 * Write the trace to a temporary folder inside its directory, until it is complete.
 * Return: 0, then @dir is that folder and the stage owns both; or negative errno.
 */
int kt_ctf_stage(struct ktape_ctf *ctf)
{
	int ret = check_replaced_empty(ctf->dir, ctf->flags & KTAPE_CTF_FORCE);

	if (ret < 0)
		return ret;
	ctf->replaces = ret > 0;
	ret = kt_stage_folder(&ctf->stage, ctf->dir, is_own_file);
	if (!ret)
		ctf->dir = ctf->stage.inner;
	return ret;
}

/*
 * Let a staged trace go to another folder, which may have another trace.
 * Return: 0, then the trace owns @folder; or negative errno.
 */
int kt_ctf_move(struct ktape_ctf *ctf, int folder)
{
	int ret = check_replaced_empty(folder, true);

	if (ret < 0)
		return ret;
	ctf->replaces = ret > 0;
	ctf->flags |= KTAPE_CTF_FORCE;
	ret = kt_stage_move(&ctf->stage, folder);
	if (!ret)
		ctf->dir = ctf->stage.inner;
	return ret;
}

/*
 * Move a staged trace to its place, even if a failed write has cut it short.
 * Return: 0, also if the trace is not staged; or negative errno, then it is still staged.
 */
int kt_ctf_settle(struct ktape_ctf *ctf)
{
	int err;

	if (!kt_stage_is_open(&ctf->stage))
		return 0;
	err = check_replaced_empty(ctf->stage.folder, ctf->flags & KTAPE_CTF_FORCE);
	if (err >= 0)
		err = kt_stage_commit(&ctf->stage);
	/* The stage has closed both folders. */
	if (!err)
		ctf->dir = -1;
	return err;
}

/*
 * Keep a trace that is still staged, because it could not be moved, in its temporary folder.
 * Return: path of the trace, that folder or its place, which the caller frees; NULL if there is no
 * memory.
 */
char *kt_ctf_keep(struct ktape_ctf *ctf)
{
	char *path;

	if (!kt_stage_is_open(&ctf->stage))
		return strdup(ctf->path);
	if (asprintf(&path, "%s/%s", ctf->path, ctf->stage.temp) < 0)
		path = NULL;
	kt_stage_keep(&ctf->stage);
	/* The stage has closed both folders. */
	ctf->dir = -1;
	return path;
}

/* Remove a trace that is still staged, and its directory if this writer created it. */
void kt_ctf_drop(struct ktape_ctf *ctf)
{
	if (!kt_stage_is_open(&ctf->stage))
		return;
	kt_stage_drop(&ctf->stage);
	ctf->dir = -1;
	if (ctf->made)
		rmdir(ctf->path);
}

int ktape_ctf_commit(struct ktape_ctf *ctf)
{
	return ctf->error ? ctf->error : kt_ctf_settle(ctf);
}

/*
 * Read the metadata of a trace: text, or the packets of a pipe form.  @data: set to them, and freed
 * by the caller also after an error.  Return: 0; -EBADMSG if there is none; or negative errno.
 */
static int read_replaced_metadata(const char *path, uint8_t **data, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct kt_scan scan;
	struct stat st;
	ssize_t n = 0;
	int err = 0;

	*data = NULL;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else if (S_ISREG(st.st_mode)) {
		kt_scan_init(&scan, fd);
		err = kt_scan_metadata(&scan, data, len, NULL);
		kt_scan_free(&scan);
		*data = err ? NULL : *data;
	} else if (S_ISDIR(st.st_mode)) {
		n = kt_read_file(fd, "metadata", KT_METADATA_MAX, data);
		*len = (size_t)n;
		err = n == -ENOENT ? -EBADMSG : n < 0 ? (int)n : 0;
	} else {
		err = -EBADMSG;
	}
	close(fd);
	return err;
}

/*
 * Read the metadata as text, which the caller frees, and check that ktape wrote it.
 * Return: 0; -EBADMSG if it did not; or negative errno.
 */
static int check_replaced_metadata(const char *path, char **text, size_t *len,
				   struct ktape_info *info)
{
	uint8_t *data;
	size_t size;
	int err;

	err = read_replaced_metadata(path, &data, &size);
	if (!err)
		err = ktape_metadata_parse(data, size, info, NULL);
	if (!err && size >= 4 && kt_get32(data) == KTAPE_METADATA_MAGIC) {
		err = kt_metadata_unpack(data, size, text, len, NULL);
	} else if (!err) {
		*text = (char *)data;
		*len = size;
		data = NULL;
	}
	free(data);
	return err;
}

int ktape_piece_remark(const char *path, char **remark)
{
	char *text = NULL, *at = NULL, *from;
	struct ktape_info info;
	size_t len;
	int err;

	err = check_replaced_metadata(path, &text, &len, &info);
	if (err)
		return err;
	/* A conversion has the metadata of its input, whose remark is not about it. */
	if (!info.converted && len > 4 && !memcmp(text + len - 4, " */\n", 4)) {
		text[len - 4] = '\0';
		for (from = text; (from = strstr(from, "\n/* ")); from++)
			at = from + 4;
	}
	/* The comment ends earlier, and something else follows it. */
	if (at && strstr(at, "*/"))
		at = NULL;
	*remark = at ? strdup(at) : NULL;
	free(text);
	return *remark ? 0 : at ? -ENOMEM : -ENOENT;
}

/*
 * Check that a trace can be removed as a piece: a folder has only its files.  A file is not looked
 * into.  Return: 0, -EEXIST if a folder has anything else or no trace, or negative errno.
 */
int kt_piece_check(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret;

	if (fd < 0)
		return errno == ENOTDIR ? 0 : -errno;
	ret = check_replaced_empty(fd, true);
	close(fd);
	return ret < 0 ? ret : ret ? 0 : -EEXIST;
}

int ktape_piece_remove(const char *path)
{
	struct ktape_info info;
	struct stat st;
	char *text;
	size_t len;
	int fd, err;

	err = check_replaced_metadata(path, &text, &len, &info);
	if (err)
		return err == -EBADMSG ? -EEXIST : err;
	free(text);
	if (lstat(path, &st))
		return -errno;
	if (S_ISREG(st.st_mode))
		return unlink(path) ? -errno : 0;
	if (!S_ISDIR(st.st_mode))
		return -EEXIST;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = kt_ctf_make_empty(fd, true);
	close(fd);
	return err ? err : rmdir(path) ? -errno : 0;
}
