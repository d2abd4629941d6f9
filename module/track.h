/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that filters follow, with their threads and children.
 *
 * A set is one bit.  There are two for each session, so that a filter can be
 * replaced by another at one moment.
 */
#ifndef _KT_TRACK_H
#define _KT_TRACK_H

#include <linux/types.h>

struct task_struct;

int kt_track_init(void);
void kt_track_exit(void);
u16 kt_track_open(void);
int kt_track_add(u16 set, s32 nr, u32 flags, s32 *global);
s32 kt_track_number(s32 global);
void kt_track_walk(u16 set);
void kt_track_close(u16 set);
u64 kt_track_missed(u16 set);
bool kt_track_has(const struct task_struct *p, u16 set);
void kt_track_fork(const struct task_struct *parent,
		   const struct task_struct *child);
void kt_track_free(const struct task_struct *p);

#endif /* _KT_TRACK_H */
