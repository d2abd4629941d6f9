/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One ring of a simulated device, which a thread fills with the blocks of a trace.
 *
 * In this order: device_make(); the recorder opens device_get(); device_start(), and the recorder
 * reads until device_done(); device_finish(); device_records().  What fails ends the program.
 */
#ifndef _BENCH_DEVICE_H
#define _BENCH_DEVICE_H

#include <stdint.h>
#include <time.h>

#include <ktape.h>

#define BLOCK	  (64U << 10) /* as ktape record has by default */
#define BLOCKS	  64U
#define WATERMARK 16U /* blocks after which the recorder is woken */

/* Make the device with the full blocks of these files of a trace. */
void device_make(char **files, int nr);

/* Return: the device, for ktape_recorder_open(). */
struct ktape_device *device_get(void);

/* Return: the eventfd that the recorder's loop reads to wait until there is something to do. */
int device_ready(void);

/* Fill so many blocks in another thread. */
void device_start(uint64_t blocks);

/* Wait for the thread.  Return: its CPU time. */
struct timespec device_finish(void);

/* Return: 1 if all blocks are in the ring, else 0. */
int device_done(void);

/* Return: number of records in the blocks that were put into the ring. */
uint64_t device_records(void);

#endif /* _BENCH_DEVICE_H */
