/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Build filter values and find cgroups, for the ioctls that read and set filters. */
#ifndef _KT_FILTER_H
#define _KT_FILTER_H

#include "stream/packet.h"

#define KT_PATH_MAX	4096

/* parse.c */
void *kt_filter_add(struct ktape_filter_value *v, size_t size);

/* cgroup.c */
int kt_cgroup_open(const char *name);
int kt_cgroup_name(uint64_t id, char name[KT_PATH_MAX]);

#endif /* _KT_FILTER_H */
