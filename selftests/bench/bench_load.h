/* SPDX-License-Identifier: GPL-2.0-only */
/* Workloads whose events are known, without anything about tracers. */
#ifndef _BENCH_LOAD_H
#define _BENCH_LOAD_H

#include <stdint.h>

#define SLICES 31 /* per measurement, each between two ticks */

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void write_setting(const char *path, const char *text);

/* Become SCHED_FIFO on CPU 0, where nothing else then runs meanwhile. */
void be_first(void);
/* Make what the workloads need. The partner gets the caller's policy. */
void prepare_load(void);

/* A round is: two switches, a system call, a datagram, some of each with naps. */
void run_switch(unsigned int rounds);
void run_getppid(unsigned int rounds);
void run_udp_datagrams(unsigned int rounds);
void run_mix(unsigned int rounds);

/* Sleep until shortly after a tick, and let threads run that were held up. */
void rest_between_ticks(void);
/* Sleep for longer than the module takes to detach the probes of the last run. */
void settle_system(void);
/* Run a slice between two ticks.  Return: its instructions, by the TSC under icount. */
uint64_t slice_insns(void (*run)(unsigned int rounds), unsigned int rounds);

#endif /* _BENCH_LOAD_H */
