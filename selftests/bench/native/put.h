/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that native.c measures, by number of arguments: the ring's put, the floor, the
 * floor with cmpxchg. put.c says what the floor is.
 */
#ifndef _PUT_H
#define _PUT_H

#include "ring/internal.h"

typedef void put_t(struct kt_ring *r, u32 a0, u32 a1, u32 a2);

extern put_t *const puts_ring[4];
extern put_t *const puts_floor[4];
extern put_t *const puts_cmpxchg[4];
extern put_t *const put_nothing;
extern const struct kt_ring_ops put_ops;

/* Let the floor write to @memory, of a MiB. */
void floor_use(void *memory);

#endif /* _PUT_H */
