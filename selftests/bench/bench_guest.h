/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of bench_guest share: bench_guest.c measures, bench_tracers.c has the tracers,
 * bench_costs.c the costs of single events.
 */
#ifndef _BENCH_GUEST_H
#define _BENCH_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <ktape/abi.h>
#include "bench_load.h"

/**
 * struct set - a workload and the events to record
 * @name: its name in the output
 * @run: the workload
 * @rounds: rounds per slice (slice_insns()), about a million instructions
 * @mask: ktape's profile
 * @tracepoints: names of its events for the floor module
 * @ftrace: names of its events for ftrace
 * @brief: not measured with further sessions and filters
 */
struct set {
	const char *name;
	void (*run)(unsigned int rounds);
	unsigned int rounds;
	uint64_t mask[KTAPE_MASK_WORDS];
	const char *tracepoints;
	const char *ftrace;
	bool brief;
};

/**
 * struct result - what a mode has taken for a set
 * @insns: instructions of the slices
 * @events: events that were recorded in them
 * @total: events in the buffer at the end
 * @bytes: their bytes
 */
struct result {
	uint64_t insns;
	uint64_t events;
	uint64_t total;
	uint64_t bytes;
};

/**
 * struct mode - a tracer
 * @name: its name in the output
 * @on: start recording
 * @events: return the number of events recorded so far
 * @off: stop, fill in total and bytes, leave nothing behind
 * @more: several sessions, or a filter
 */
struct mode {
	const char *name;
	void (*on)(const struct set *set);
	uint64_t (*events)(void);
	void (*off)(const struct set *set, struct result *result);
	bool more;
};

#define CGROUP_ROOT "/sys/fs/cgroup"
#define CGROUP	    CGROUP_ROOT "/bench"

extern const struct mode modes[];
extern const char *ktape_ko, *floor_ko; /* files of the modules */
extern const char *folder;    /* gets what ktape records, for each set a file */
extern bool ktape_has_cycles; /* the module's clock is the cycle counter */

void must_insmod(const char *path, const char *parameters);
void must_rmmod(const char *name);
void ktape_load(void);
/* Create a session of the loaded module; ktape_start() and ktape_counts() are of the last one. */
int ktape_session(const uint64_t *mask);
void ktape_filter(int fd, unsigned int kind, const void *entries, unsigned int nr);
void ktape_start(void);
void ktape_counts(struct ktape_stats *stats);

void measure_costs(const char *bench_ko);

#endif /* _BENCH_GUEST_H */
