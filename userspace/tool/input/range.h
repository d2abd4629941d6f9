/* SPDX-License-Identifier: GPL-2.0-only */
/* The selected part of a trace: times and CPUs. */
#ifndef _KT_TOOL_INPUT_RANGE_H
#define _KT_TOOL_INPUT_RANGE_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/shared/opt.h"

#define RANGE_CPUS 8192U

/**
 * struct moment - a time on the command line
 * @given: the option was given
 * @mono: CLOCK_MONOTONIC, as in text; else since the epoch, as in JSON
 * @ns: the time, in ns
 */
struct moment {
	bool given;
	bool mono;
	int64_t ns;
};

/**
 * struct range - selected times, and the times and CPUs that the trace has
 * @from: first selected time
 * @to: end of the selected times, itself not selected
 * @any: the trace has an event or a gap
 * @first: earliest event or gap, in ticks
 * @last: latest event or gap, in ticks
 * @cpus: bit n: the trace has events or gaps of CPU n, or its rings were recorded
 */
struct range {
	struct moment from;
	struct moment to;
	bool any;
	uint64_t first;
	uint64_t last;
	uint64_t cpus[RANGE_CPUS / 64];
};

/* Help texts of the options, the same in all subcommands. */
#define RANGE_FROM_HELP "from then on: 11.5, 250ms, 1795424806915379658ns"
#define RANGE_TO_HELP	"until then, not included"

/*
 * A time of an option: moment_parse() leaves one that is not given.  With both, check their order;
 * without a message 0, else the exit code is returned.
 */
int moment_parse(const struct kt_command *command, const char *option,
		 const char *text, struct moment *m);
bool moment_is_after(const struct moment *m, const struct ktape_info *info,
		     uint64_t ts);
uint64_t moment_ticks(const struct moment *m, const struct ktape_info *info);
int range_check_order(const struct kt_command *command, const struct range *r,
		      const struct ktape_info *info);

/*
 * While the trace is read, add its information, events, losses and CPUs; then the checks of times
 * and CPUs are possible.  range_empty() forgets what was added, not @from and @to.
 */
void range_add_info(struct range *r, const struct ktape_info *info);
void range_add_loss(struct range *r, const struct ktape_notice *n);
int range_check_times(const struct range *r, const struct ktape_info *info);
void range_empty(struct range *r);
void range_join(struct range *r, const struct range *other);
bool range_has_cpu(const struct range *r, uint64_t cpu);
int range_refuse_cpu(const struct range *r, uint64_t cpu);
void range_note_cpu(const struct range *r, uint64_t cpu);

/**
 * range_add_cpu() - note that the trace has a CPU
 * @r: the range
 * @cpu: CPU number
 */
static inline void range_add_cpu(struct range *r, uint32_t cpu)
{
	if (cpu < RANGE_CPUS)
		r->cpus[cpu / 64] |= 1ULL << (cpu % 64);
}

/**
 * range_add() - note the time and CPU of an event of the trace
 * @r: the range
 * @e: the event; ignored in the registry stream, which has no times and CPUs, and if its CPU is
 *	RANGE_CPUS or above
 */
static inline void range_add(struct range *r, const struct ktape_event *e)
{
	if (e->kind == KTAPE_RING_REGISTRY || e->cpu >= RANGE_CPUS)
		return;
	if (!r->any || e->ts < r->first)
		r->first = e->ts;
	if (!r->any || e->ts > r->last)
		r->last = e->ts;
	r->any = true;
	range_add_cpu(r, e->cpu);
}

#endif /* _KT_TOOL_INPUT_RANGE_H */
