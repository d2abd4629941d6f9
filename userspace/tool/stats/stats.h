/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape stats and ktape diff.
 *
 * In the order in which to read them:
 *	condition.c	--fail-if
 *	prom.c		metrics for Prometheus
 *	live.c		stats --prom: when the metrics are written
 *	stats.c		ktape stats
 *	diff.c		ktape diff
 *
 * What both print of a trace is in report/.
 */
#ifndef _KT_TOOL_STATS_H
#define _KT_TOOL_STATS_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/shared/opt.h"

struct stats_trace;

#define EXIT_HOLDS     3 /* a condition of --fail-if holds */
#define EXIT_UNDECIDED 4 /* too few values to compare two traces */

/*
 * condition.c: check the text of the conditions before a trace is read, then evaluate them.
 * @two, @a: two traces are compared.  Return: 0 or the exit code.
 */
int stats_check_conditions(const struct kt_command *command,
			   const struct kt_opt_list *conditions, bool two);
int stats_evaluate(const struct kt_opt_list *conditions,
		   const struct stats_trace *a, const struct stats_trace *b);

extern const struct kt_command command_diff;
extern const struct kt_command command_stats;

#endif /* _KT_TOOL_STATS_H */
