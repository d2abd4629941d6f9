/* SPDX-License-Identifier: GPL-2.0-only */
/* The texts that a page (format html) has besides events: statistics, ledger, options. */
#ifndef _KT_TOOL_CONVERT_PAGE_H
#define _KT_TOOL_CONVERT_PAGE_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/report/report.h"

/**
 * struct page - statistics of the events that go into a page
 * @on: the format of the output keeps texts
 * @of_rtos: all inputs are of an RTOS: @rtos is measured, too
 * @stats: the statistics
 * @rtos: those of an RTOS
 */
struct page {
	bool on;
	bool of_rtos;
	struct stats_trace stats;
	struct stats_rtos rtos;
};

/**
 * struct page_selected - an option that selects a part of the trace
 * @option: its name
 * @value: its value, or NULL
 */
struct page_selected {
	const char *option;
	const char *value;
};

/*
 * Begin when the output is open, add what is written to it, then write the texts: page_selection(),
 * page_end().  page_release() is also for one that is all zeros.  Functions with a result return 0
 * or negative errno.  Nothing is done if the format keeps no texts.
 */
int page_begin(struct page *p, const struct ktape_sink *sink,
	       const struct ktape_info *info,
	       const struct ktape_registry *registry, bool of_rtos);
int page_event(struct page *p, const struct ktape_event *e);
void page_notice(struct page *p, const struct ktape_notice *n);
int page_selection(const struct page *p, struct ktape_sink *sink,
		   const struct page_selected *s, size_t nr);
int page_end(struct page *p, struct ktape_sink *sink, const char *trace);
void page_release(struct page *p);

#endif /* _KT_TOOL_CONVERT_PAGE_H */
