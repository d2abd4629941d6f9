// SPDX-License-Identifier: LGPL-2.1-or-later
/* Folders of cgroups by name and by number. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/parse.h"

#include "filter/filter.h"

#define DEPTH_MAX	32

/* Where cgroup v2 is mounted: alone, or beside the first version. */
static const char *const roots[] = { "/sys/fs/cgroup",
				     "/sys/fs/cgroup/unified" };

/* The first version has folders there as well, and of other numbers. */
static bool is_v2(const char *root)
{
	struct statfs fs;

	return !statfs(root, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Look for the folder with this number below @name, which is @len long. */
static bool search(char name[KT_PATH_MAX], size_t len, uint64_t id,
		   unsigned int depth)
{
	DIR *dir = opendir(name);
	struct dirent *entry;
	bool found = false;
	size_t more;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		more = strlen(entry->d_name) + 1;
		if (len + more >= KT_PATH_MAX)
			continue;
		name[len] = '/';
		memcpy(name + len + 1, entry->d_name, more);
		found = entry->d_ino == id ||
			(depth && search(name, len + more, id, depth - 1));
		if (!found)
			name[len] = '\0';
	}
	closedir(dir);
	return found;
}

/*
 * The name of the cgroup with this number: its folder has the same.
 * Return: 0 or -ENOENT.
 */
int kt_cgroup_name(uint64_t id, char name[KT_PATH_MAX])
{
	struct stat st;

	for (size_t i = 0; i < KT_ARRAY_SIZE(roots); i++) {
		if (!is_v2(roots[i]))
			continue;
		strcpy(name, roots[i]);
		if (!stat(name, &st) && st.st_ino == id)
			return 0;
		if (search(name, strlen(name), id, DEPTH_MAX))
			return 0;
	}
	return -ENOENT;
}

/*
 * Open a cgroup: a folder's path, its path below the root as in
 * /proc/PID/cgroup, or "id:" and its number.
 * Return: a descriptor or negative errno.
 */
int kt_cgroup_open(const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	char path[KT_PATH_MAX];
	struct statfs fs;
	uint64_t id;
	int fd = -1;

	if (!strncmp(name, "id:", 3)) {
		if (kt_parse_u64(name + 3, &id) || kt_cgroup_name(id, path))
			return -ENOENT;
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(roots) && fd < 0; i++) {
		if (is_v2(roots[i]) && (size_t)snprintf(path, sizeof(path), "%s%s%s", roots[i],
				     *name == '/' ? "" : "/", name) <
		    sizeof(path) && strncmp(name, roots[0], strlen(roots[0])))
			fd = open(path, flags);
	}
	if (fd >= 0)
		return fd;
	fd = open(name, flags);
	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC) {
		close(fd);
		return -EMEDIUMTYPE;
	}
	return fd;
}

int ktape_cgroup_check(const char *name)
{
	int fd = kt_cgroup_open(name);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
