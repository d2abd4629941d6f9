/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of bench_guest share. */
#ifndef _BENCH_GUEST_H
#define _BENCH_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <ktape/abi.h>

/**
 * struct set - a workload and the events to record
 * @name: for the output
 * @run: the workload
 * @rounds: of it in a slice, about a million instructions
 * @mask: ktape's profile
 * @tracepoints: names for the floor module
 * @ftrace: names for ftrace
 */
struct set {
	const char *name;
	void (*run)(unsigned int rounds);
	unsigned int rounds;
	uint64_t mask[KTAPE_MASK_WORDS];
	const char *tracepoints;
	const char *ftrace;
};

struct result {
	uint64_t insns;
	uint64_t events;
	uint64_t total;
	uint64_t bytes;
};

/**
 * struct mode - a tracer
 * @name: for the output
 * @on: record
 * @events: how many were recorded so far
 * @off: stop, fill in total and bytes, leave nothing behind
 */
struct mode {
	const char *name;
	void (*on)(const struct set *set);
	uint64_t (*events)(void);
	void (*off)(const struct set *set, struct result *result);
};

#define SLICES		31

extern const struct mode modes[];
extern const char *ktape_ko, *floor_ko, *folder;
extern bool ktape_has_cycles;

void die(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void put_file(const char *path, const char *text);
void settle(void);
uint64_t slice_insns(void (*run)(unsigned int rounds), unsigned int rounds);

/* A session of our own of a module that is loaded. */
void load(const char *path, const char *parameters);
void unload(const char *name);
void ktape_load(void);
int ktape_session(const uint64_t *mask);
void ktape_start(void);
void ktape_counts(struct ktape_stats *stats);

void measure_costs(const char *bench_ko);

#endif /* _BENCH_GUEST_H */
