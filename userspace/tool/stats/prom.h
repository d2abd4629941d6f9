/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics for Prometheus; see prom.c. */
#ifndef _KT_TOOL_STATS_PROM_H
#define _KT_TOOL_STATS_PROM_H

#include <ktape.h>

struct prom;

/*
 * prom_add() adds the statistics of an interval to all before it, prom_write() replaces the file
 * @path.  Both return 0 or negative errno.  @path and @info must stay valid.
 */
struct prom *prom_new(const char *path, const struct ktape_info *info);
int prom_add(struct prom *p, const struct ktape_linux *l);
int prom_write(struct prom *p);
void prom_free(struct prom *p);

#endif /* _KT_TOOL_STATS_PROM_H */
