/* SPDX-License-Identifier: GPL-2.0-only */
/* Read names of objects from the mapped registry. */
#ifndef _KT_REGISTRY_H
#define _KT_REGISTRY_H

#include "kt_ring.h"

/* Return the registry's entries, mapped once per process; NULL, and 0 entries: it cannot be. */
static inline const struct ktape_object_entry *kt_map_registry(size_t *nr)
{
	static const struct ktape_object_entry *all;
	static struct ktape_layout_entry l;
	int fd = all ? -1 : kt_open(O_RDONLY);
	void *p;

	if (!all && fd >= 0 && !kt_region(fd, -1, KTAPE_RING_REGISTRY, &l)) {
		p = mmap(NULL, l.data_size, PROT_READ, MAP_SHARED, fd, l.offset);
		if (p != MAP_FAILED)
			all = p;
	}
	if (fd >= 0)
		close(fd);
	*nr = all ? l.data_size / sizeof(*all) : 0;
	return all;
}

/* Copy the name of a live object to @name, KTAPE_NAME_SIZE bytes. Return: true if it is there. */
static inline bool kt_object_known(unsigned int type, uint32_t id, char *name)
{
	const struct ktape_object_entry *e;
	size_t nr;

	e = kt_map_registry(&nr);
	for (size_t i = 0; i < nr; i++)
		if (e[i].type == type && e[i].id == id && !e[i].died &&
		    !(e[i].seq & 1)) {
			memcpy(name, e[i].name, KTAPE_NAME_SIZE);
			return true;
		}
	return false;
}

/* Wait for the name of a live object. Return: 0 or -errno. */
static inline int kt_wait_object_name(unsigned int type, uint32_t id, char *name)
{
	for (int tries = 0; tries < 100 * kt_scale(); tries++) {
		if (kt_object_known(type, id, name))
			return 0;
		usleep(20000);
	}
	return -ENOENT;
}

#endif /* _KT_REGISTRY_H */
