// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find cgroups (version 2) by path and by number. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/parse.h"

#include "filter/filter.h"

#define DEPTH_MAX 32 /* folders below a root that are searched */

/* Mount points of cgroup v2: alone, or beside version 1. */
static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

/* Check that a mount point is cgroup v2; version 1 uses the same paths. */
static bool is_v2(const char *root)
{
	struct statfs fs;

	return !statfs(root, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/*
 * Search below @name, of @len bytes, for the directory with this number.
 * Return: true, then @name is its path; false, then @name is as before.
 */
static bool search_cgroup(char name[KT_PATH_MAX], size_t len, uint64_t id,
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
			(depth && search_cgroup(name, len + more, id, depth - 1));
		if (!found)
			name[len] = '\0';
	}
	closedir(dir);
	return found;
}

/*
 * Find the path of a cgroup by its number, which is the inode of its directory.
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
		if (search_cgroup(name, strlen(name), id, DEPTH_MAX))
			return 0;
	}
	return -ENOENT;
}

/*
 * Open a cgroup by the path of its directory, by its path below the root as in
 * /proc/PID/cgroup, or by "id:" and its number.
 * Return: a descriptor; -EMEDIUMTYPE if the directory is not a cgroup; or negative errno.
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
	/* A path that has a root already is opened as it is, below. */
	for (size_t i = 0; i < KT_ARRAY_SIZE(roots) && fd < 0; i++) {
		if (is_v2(roots[i]) &&
		    (size_t)snprintf(path, sizeof(path), "%s%s%s", roots[i],
				     *name == '/' ? "" : "/", name) < sizeof(path) &&
		    strncmp(name, roots[0], strlen(roots[0])))
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
