/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What commands print about a trace: its statistics, which the library computes (lib/stats).
 *
 * Besides Linux these are of a real-time system (RTOS): the analyses of TraceX, the trace viewer
 * of ThreadX, and response times of RKH, a framework for state machines.
 *
 * In the order in which to read them:
 *	json.c		statistics of Linux as JSON
 *	linux.c		measure a trace of Linux, print its statistics as text or JSON
 *	response.c	response times of RKH as text and JSON
 *	rtos.c		statistics of an RTOS as JSON
 */
#ifndef _KT_TOOL_REPORT_H
#define _KT_TOOL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <ktape.h>

#include "tool/shared/loss.h"

#define STATS_SHARES 4 /* number of percentiles */

/* Percentiles that are shown, and their names. */
extern const struct stats_share {
	const char *name;
	uint32_t millionth;
} stats_shares[STATS_SHARES];

/**
 * struct stats_trace - a trace that is measured
 * @path: operand
 * @trace: the open trace, or NULL
 * @info: its metadata
 * @linux_stats: its Linux statistics, or NULL
 * @losses: events that are missing
 * @missed: hits of probes that did not reach the tracer
 * @damaged: a part could not be read, or did not fit into bounded memory
 */
struct stats_trace {
	const char *path;
	struct ktape_trace *trace;
	const struct ktape_info *info;
	struct ktape_linux *linux_stats;
	struct losses losses;
	struct missed_hits missed;
	bool damaged;
};

/**
 * struct stats_rtos - statistics of a trace of an RTOS
 * @rtos: TraceX analyses, or NULL
 * @responses: RKH response times, or NULL
 * @info: metadata of the trace
 * @registry: names
 */
struct stats_rtos {
	struct ktape_rtos *rtos;
	struct ktape_responses *responses;
	const struct ktape_info *info;
	const struct ktape_registry *registry;
};

/**
 * struct stats_show - what is shown
 * @json: print a JSON object
 * @all: print all entries, not only the largest
 * @histogram: print histograms
 */
struct stats_show {
	bool json;
	bool all;
	bool histogram;
};

#define STATS_NAME_MAX 128			/* bytes of a name */
#define STATS_NAME     (STATS_NAME_MAX * 4 + 1) /* escaped */
#define STATS_COLUMN   14			/* for a name */

/* linux.c */
const char *stats_name(char shown[STATS_NAME], const char *name);
const char *stats_column(char shown[STATS_NAME], const char *name,
			 unsigned int columns);

/* Read the open trace to its end into @linux_stats.  stats_close() frees both. */
int stats_measure(struct stats_trace *s);
void stats_close(struct stats_trace *s);
bool stats_report_bounds(const struct stats_trace *s, const char *path);
void stats_print(const struct stats_trace *s, const struct stats_show *how);
void stats_head(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* json.c: values, and the members of an object without its braces */
void stats_put_ns(FILE *f, int64_t ns);
void stats_put_tgid(FILE *f, const struct ktape_linux_thread *t);
void stats_put_json(FILE *f, const struct stats_trace *s);

/* rtos.c: begin, then events and notices in order; stats_rtos_release() is also for all zeros. */
int stats_rtos_begin(struct stats_rtos *s, const struct ktape_info *info,
		     const struct ktape_registry *registry);
int stats_rtos_event(struct stats_rtos *s, const struct ktape_event *e);
void stats_rtos_notice(struct stats_rtos *s, const struct ktape_notice *n);
void stats_rtos_release(struct stats_rtos *s);
bool stats_service(const struct stats_rtos *s, uint32_t id,
		   char text[STATS_NAME_MAX]);
int stats_put_rtos(FILE *f, const struct stats_rtos *s, bool services);

/* response.c */
void stats_put_responses(FILE *f, const struct stats_rtos *s);
void stats_print_responses(const struct stats_rtos *s);

#endif /* _KT_TOOL_REPORT_H */
