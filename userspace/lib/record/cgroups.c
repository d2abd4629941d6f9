// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the cgroups of the threads that exist when a recording or a piece begins.  The
 * module announces only changes: an entry for each thread would double its registry, and
 * the kernel has the answer in /proc.
 *
 * Threads that begin later have the cgroup of their maker, or an entry of the module.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/filter.h"
#include "record/internal.h"

#define LINE	      4352U /* bytes that are read of /proc/TID/cgroup */
#define OF_V2	      "0::" /* begins the line of cgroup version 2 */
#define BETWEEN_LOOKS 64    /* names, until the rings are read again */

/* Inode numbers of the initial name spaces: include/linux/proc_ns.h of the kernel. */
#define INITIAL_PID    0xeffffffcU
#define INITIAL_CGROUP 0xeffffffbU

static bool is_initial(const char *name_space, uint32_t inode)
{
	struct stat st;

	return !stat(name_space, &st) && st.st_ino == inode;
}

/* Read the path of a thread's cgroup.  Return: it, in @line, or NULL. */
static const char *read_path(uint32_t tid, char line[LINE])
{
	char name[32], *path, *end;
	ssize_t len;
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", tid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	len = read(fd, line, LINE - 1);
	close(fd);
	if (len <= 0)
		return NULL;
	line[len] = '\0';
	/* The line of version 2 is the last one: those of version 1 come before. */
	path = strncmp(line, OF_V2, strlen(OF_V2)) ? strstr(line, "\n" OF_V2) : line;
	if (!path)
		return NULL;
	path = strchr(path, '/');
	end = path ? strchr(path, '\n') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	return path;
}

/* Return the number of a cgroup, the inode of its directory; 0: it cannot be found. */
static uint64_t cgroup_number_of(const char *path)
{
	int fd = kt_cgroup_open(path);
	struct stat st;
	uint64_t id = fd >= 0 && !fstat(fd, &st) ? st.st_ino : 0;

	if (fd >= 0)
		close(fd);
	return id;
}

static void fill_entry(struct ktape_object_entry *e,
		       const struct ktape_object_entry *thread,
		       const char *path, uint64_t id)
{
	size_t len = strlen(path);

	*e = (struct ktape_object_entry){
		.type = KTAPE_OBJ_TASK_CGROUP,
		.id = thread->id,
		.param1 = (uint32_t)id,
		.param2 = (uint32_t)(id >> 32),
		.born = thread->born,
	};
	/* A path that is too long keeps its end. */
	if (len >= sizeof(e->name))
		path += len - (sizeof(e->name) - 1);
	strcpy(e->name, path);
}

/*
 * kt_record_find_cgroups() - Find the cgroups of the threads among the names
 * @records: the recording is under way: read the rings meanwhile
 *
 * A thread that ends meanwhile has none.  In other name spaces than the initial ones
 * /proc has other numbers and paths, so there none is found.
 *
 * Return: 0 or -ENOMEM.
 */
int kt_record_find_cgroups(struct ktape_recorder *rec, bool records)
{
	char line[LINE], last[LINE] = "";
	struct ktape_object_entry *list;
	const char *path;
	uint64_t id = 0;

	rec->nr_cgroups = 0;
	if (!is_initial("/proc/self/ns/pid", INITIAL_PID) ||
	    !is_initial("/proc/self/ns/cgroup", INITIAL_CGROUP))
		return 0;
	list = realloc(rec->cgroups, ((size_t)rec->nr_names + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	rec->cgroups = list;
	for (int i = 0; i < rec->nr_names; i++) {
		const struct ktape_object_entry *e = &rec->names[i];

		path = e->type == KTAPE_OBJ_THREAD && !e->died && e->id ?
			       read_path(e->id, line) :
			       NULL;
		if (records && i % BETWEEN_LOOKS == 0)
			kt_record_poll(rec);
		if (!path)
			continue;
		/* Neighbours in the registry often have the same one. */
		if (strcmp(path, last) != 0) {
			strcpy(last, path);
			id = cgroup_number_of(path);
		}
		fill_entry(&list[rec->nr_cgroups++], e, path, id);
	}
	return 0;
}

/*
 * Write the cgroups of threads into a new piece, whose streams have begun.  Finding them
 * takes a second for 20,000 threads, in which the rings are read.
 */
int kt_record_restate_cgroups(struct ktape_recorder *rec)
{
	int err = kt_record_find_cgroups(rec, true);

	return err ? err :
		     kt_record_write_names(rec, rec->reader->latest, rec->cgroups,
					   rec->nr_cgroups, NULL, 0);
}
