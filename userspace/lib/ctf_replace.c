// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which files are those of a trace, and which trace may go for another one. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctf.h"

static const char *const prefixes[] = {
	[KTAPE_RING_EVENT] = "cpu",
	[KTAPE_RING_CONTROL] = "control",
};

/* How names of stream files of this kind begin, or NULL. */
const char *kt_ctf_prefix(uint32_t kind)
{
	return kind < KT_ARRAY_SIZE(prefixes) ? prefixes[kind] : NULL;
}

/* Is this a file of a trace, as we write it? */
static bool is_ours(const char *name)
{
	if (!strcmp(name, "metadata") || !strcmp(name, "registry"))
		return true;
	for (size_t i = 0; i < KT_ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], len) && name[len] &&
		    strspn(name + len, "0123456789") == strlen(name + len))
			return true;
	}
	return false;
}

static int is_replaceable(int dir, const char *name)
{
	struct stat st;

	if (!is_ours(name))
		return -EEXIST;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

/* Metadata is removed at the end, so that what remains can be read. */
static int remove_stream(int dir, const char *name)
{
	if (strcmp(name, "metadata") && unlinkat(dir, name, 0))
		return -errno;
	return 0;
}

/* Return: the sum of what @act returned, or the first negative errno. */
static int for_each_entry(int fd, int (*act)(int dir, const char *name))
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int err = 0, nr = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		err = act(fd, entry->d_name);
		nr++;
	}
	closedir(dir);
	return err ? err : nr;
}

static int refuse(int dir, const char *name)
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

	ours = len >= 0 &&
	       !ktape_metadata_parse(data, (size_t)len, &info, NULL);
	free(data);
	return ours;
}

/*
 * Only an empty directory will do, or one whose trace may be replaced.  All is
 * looked at before anything is removed.
 */
int kt_ctf_make_empty(int fd, bool force)
{
	int ret = for_each_entry(fd, force ? is_replaceable : refuse);

	if (ret <= 0)
		return ret;
	if (!has_our_metadata(fd))
		return -EEXIST;
	ret = for_each_entry(fd, remove_stream);
	if (ret < 0)
		return ret;
	return unlinkat(fd, "metadata", 0) ? -errno : 0;
}
