// SPDX-License-Identifier: LGPL-2.1-or-later
/* Folders of cgroups by name and by number. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/parse.h"

#include "filter.h"

#define DEPTH_MAX	32

/* Where cgroup v2 is mounted: alone, or beside the first version. */
static const char *const roots[] = { "/sys/fs/cgroup",
				     "/sys/fs/cgroup/unified" };

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
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
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
	uint64_t id;
	int fd = -1;

	if (!strncmp(name, "id:", 3)) {
		if (kt_parse_u64(name + 3, &id) || kt_cgroup_name(id, path))
			return -ENOENT;
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(roots) && fd < 0; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s%s%s", roots[i],
				     *name == '/' ? "" : "/", name) <
		    sizeof(path) && strncmp(name, roots[0], strlen(roots[0])))
			fd = open(path, flags);
	}
	if (fd < 0)
		fd = open(name, flags);
	return fd < 0 ? -errno : fd;
}
