/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that filters follow, with their threads and children.
 *
 * A set is one bit.  A filter has up to two, and beside those of all sessions
 * there is room for those of one filter more, so that it can take another's
 * place at one moment.
 */
#ifndef _KT_TRACK_H
#define _KT_TRACK_H

#include <linux/types.h>

struct task_struct;

int kt_track_init(void);
void kt_track_exit(void);
u32 kt_track_open(void);
int kt_track_add(u32 set, s32 nr, u32 flags, s32 *global);
s32 kt_track_number(u32 sets, s32 global);
void kt_track_walk(u32 set);
void kt_track_close(u32 set);
u64 kt_track_missed(u32 set);
u32 kt_track_sets(const struct task_struct *p);
void kt_track_fork(const struct task_struct *parent,
		   const struct task_struct *child);
void kt_track_free(const struct task_struct *p);

#endif /* _KT_TRACK_H */
