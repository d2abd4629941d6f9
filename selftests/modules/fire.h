/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between fire.c and fire_error.c, which are the module kt_fire: it causes
 * events that do not occur in a guest, or not in known numbers. Writing a name to
 * /sys/module/kt_fire/parameters/fire causes that event once, in the writer's context.
 * Reading the file returns a number that depends on the last action.
 */
#ifndef _FIRE_H
#define _FIRE_H

#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint.h>

/**
 * struct fire - something that can be caused
 * @name: name to write
 * @run: causes it; Return: 0; -ENOENT: this kernel has no such thing; -ENOMEM
 */
struct fire {
	const char *name;
	int (*run)(void);
};

extern const struct fire fire_errors[];
extern u64 fire_number;

struct tracepoint *fire_find(const char *name);
int fire_error_init(void);
void fire_error_exit(void);

/*
 * Call the probes of a tracepoint that is not exported, like the tracepoint
 * would.
 */
#define FIRE(tp, args, ...)                                             \
	({                                                              \
		struct tracepoint *__tp = fire_find(#tp);               \
		struct tracepoint_func *__f;                            \
                                                                        \
		preempt_disable_notrace();                              \
		__f = __tp ? rcu_dereference_sched(__tp->funcs) : NULL; \
		for (; __f && __f->func; __f++)                         \
			((void (*)(void *, __VA_ARGS__))__f->func)(     \
				__f->data, FIRE_ARGS args);             \
		preempt_enable_notrace();                               \
		__tp ? 0 : -ENOENT;                                     \
	})
#define FIRE_ARGS(...) __VA_ARGS__

#endif /* _FIRE_H */
