/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Build filter values and find cgroups, for the ioctls that read and set filters.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	internal.h	the table of filters that are bitmaps
 *	bits.c		text to these bitmaps: CPUs, system calls, interrupts, signals
 *	mask.c		names of events, classes and presets to a mask of opcodes
 *	cgroup.c	cgroups by path and by number
 *	parse.c		text to filters
 *	format.c	filters to text
 *	config.c	a configuration file, which has filters among other settings
 */
#ifndef _KT_FILTER_H
#define _KT_FILTER_H

#include "stream/packet.h"

#define KT_PATH_MAX 4096

/* parse.c: append a zeroed entry, which may move the others; NULL if there is no memory */
void *kt_filter_add(struct ktape_filter_value *v, size_t size);

/* cgroup.c: kt_cgroup_open() returns a descriptor, which the caller closes */
int kt_cgroup_open(const char *name);
int kt_cgroup_name(uint64_t id, char name[KT_PATH_MAX]);

#endif /* _KT_FILTER_H */
