/* SPDX-License-Identifier: GPL-2.0-only */
/* ktape stats --prom: write metrics while a trace is read; see live.c. */
#ifndef _KT_TOOL_STATS_LIVE_H
#define _KT_TOOL_STATS_LIVE_H

#include <ktape.h>

struct prom;

/**
 * struct stats_live - a run of ktape stats --prom
 * @t: the trace
 * @every: time between two files in ns; 0: only one at the end
 * @prom: the metrics, or NULL
 * @next: when the next file is due, in ns
 * @failed: negative errno of stats_live_write_due(), which then does nothing any more; 0: none
 * @error: negative errno of a file that could not be written; 0: none
 */
struct stats_live {
	struct stats_trace *t;
	uint64_t every;
	struct prom *prom;
	uint64_t next;
	int failed;
	int error;
};

/*
 * A session is read as standard input: stats_live_session() makes it that, and sets @device, to be
 * closed at the end.  stats_live_measure() reads the open trace @t; while it waits for events,
 * stats_live_write_due() has to be called.
 */
int stats_live_session(const char *session, struct ktape_device **device);
void stats_live_write_due(struct stats_live *live);
int stats_live_measure(struct stats_live *live, const char *path);

#endif /* _KT_TOOL_STATS_LIVE_H */
