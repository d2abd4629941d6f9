/* SPDX-License-Identifier: GPL-2.0-only */
/* All threads, one after the other. */
#ifndef _KT_THREADS_H
#define _KT_THREADS_H

struct task_struct;

void kt_threads_walk(void (*look)(struct task_struct *p, void *arg), void *arg);

#endif /* _KT_THREADS_H */
