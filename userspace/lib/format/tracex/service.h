/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Services of other real-time kernels as those of ThreadX. */
#ifndef _KT_TRACEX_SERVICE_H
#define _KT_TRACEX_SERVICE_H

#include "map.h"

int kt_tracex_service(struct kt_tracex_map *map, struct kt_tracex_cpu *c,
		      const struct ktape_event *e, struct kt_tracex_entry *x);
void kt_tracex_acts(struct kt_tracex_map *map, const struct kt_tracex_cpu *c);
int kt_tracex_learn(struct kt_tracex_map *map, const struct kt_tracex_cpu *c,
		    const struct ktape_event *e, struct kt_tracex_entry *x);
const char *kt_tracex_own_name(uint32_t id);

#endif /* _KT_TRACEX_SERVICE_H */
