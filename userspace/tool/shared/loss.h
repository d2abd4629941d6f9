/* SPDX-License-Identifier: GPL-2.0-only */
/* What is missing in a trace, or in what is made of it. */
#ifndef _KT_TOOL_SHARED_LOSS_H
#define _KT_TOOL_SHARED_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include <ktape.h>

#define LOSS_TEXT 128 /* bytes of the text of losses_text() */

/**
 * struct losses - events that are missing in what is read
 * @count: how many were lost, as far as it is known
 * @gaps: in how many places
 * @unknown: there is a gap whose number of events is not known
 * @overwritten: events that a ring had overwritten before the trace begins; they do not count
 *	as lost
 * @late: rings that have overwritten events so
 * @late_unknown: for one of these rings the number is not known
 */
struct losses {
	uint64_t count;
	uint64_t gaps;
	bool unknown;
	uint64_t overwritten;
	uint64_t late;
	bool late_unknown;
};

/* Names of enum ktape_lost. */
extern const char *const lost_reasons[];

/* Names of enum ktape_missed. */
extern const char *const missed_reasons[];

/**
 * struct missed_hits - hits of probes that did not reach the tracer
 * @reported_to: end of the last interval that was counted, by opcode and enum ktape_missed
 * @count: number of hits
 * @unknown: there are some whose number is not known
 */
struct missed_hits {
	uint64_t reported_to[KTAPE_OPCODES][KTAPE_MISSED_REASONS];
	uint64_t count;
	bool unknown;
};

void missed_add(struct missed_hits *m, const struct ktape_event *e);
void losses_add(struct losses *l, const struct ktape_notice *n);
const char *losses_text(char to[LOSS_TEXT], const struct losses *l,
			const char *verb);
void note_overwritten(const char *path, const struct losses *l);
void report_left_out(const char *path, const char *what, uint64_t count);
void report_names_left_out(const char *path, const struct ktape_registry *names);
void report_not_held(const char *format, const struct ktape_sink *sink, bool all);

#endif /* _KT_TOOL_SHARED_LOSS_H */
