/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Native events as events of TraceX. */
#ifndef _KT_TRACEX_MAP_H
#define _KT_TRACEX_MAP_H

#include "tracex.h"

#define KT_TRACEX_PER_EVENT	2	/* entries that an event makes at most */

/* Users' events that ours become, from KT_TRACEX_USER_OUT on. */
enum { KT_TRACEX_OUT_MARK = KT_TRACEX_USER_OUT, KT_TRACEX_OUT_USER = 4100 };

/**
 * struct kt_tracex_cpu - who runs on a CPU
 * @tid: the thread, 0: none
 * @known: is it known?
 * @prio: its priority
 * @nesting: interrupts that have not ended
 */
struct kt_tracex_cpu {
	uint32_t tid;
	bool known;
	uint32_t prio;
	uint32_t nesting;
};

/**
 * struct kt_tracex_map - what has to be remembered
 * @cpus: by number
 * @nr_cpus: how many
 */
struct kt_tracex_map {
	struct kt_tracex_cpu *cpus;
	uint32_t nr_cpus;
};

int kt_tracex_map(struct kt_tracex_map *map, const struct ktape_event *e,
		  struct kt_tracex_entry entries[KT_TRACEX_PER_EVENT]);
void kt_tracex_map_free(struct kt_tracex_map *map);

#endif /* _KT_TRACEX_MAP_H */
