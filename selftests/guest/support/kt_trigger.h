/* SPDX-License-Identifier: GPL-2.0-only */
/* Add triggers and cause their events, in guest tests. */
#ifndef _KT_TRIGGER_H
#define _KT_TRIGGER_H

#include <ktape/mark.h>
#include <ktape/trigger.h>

#include "kt.h"

/* Compare argument word @n of the event with @v; @how is EQ, NE, ... */
#define KT_WORD(n, how, v)                                                    \
	{                                                                     \
		.word = n, .width = 32, .op = KTAPE_COMPARE_##how, .value = v \
	}
/* Members of struct ktape_trigger for the condition "a value marker with id @n". */
#define KT_OF_ID(n)                                      \
	.opcode = KTAPE_EV_MARK_VALUE, .nr_compares = 1, \
	.compare = { KT_WORD(0, EQ, n) }

static inline int kt_trigger(int fd, uint32_t op, struct ktape_trigger *t)
{
	t->size = sizeof(*t);
	t->op = op;
	return kt_ioctl(fd, KTAPE_IOC_TRIGGER, t);
}

/* Read trigger @id into @t. Return: 0 or a negative errno. */
static inline int kt_trigger_get(int fd, uint32_t id, struct ktape_trigger *t)
{
	memset(t, 0, sizeof(*t));
	t->id = id;
	return kt_trigger(fd, KTAPE_TRIGGER_GET, t);
}

/* Add a trigger. Return: its id, or a negative errno. */
static inline int kt_trigger_add(int fd, const struct ktape_trigger *spec)
{
	struct ktape_trigger t = *spec;
	int ret = kt_trigger(fd, KTAPE_TRIGGER_ADD, &t);

	return ret ? ret : (int)t.id;
}

static inline int kt_trigger_remove(int fd, uint32_t id)
{
	struct ktape_trigger t = { .id = id };

	return kt_trigger(fd, KTAPE_TRIGGER_REMOVE, &t);
}

/* Return how often a trigger has fired since START; ~0U: there is no such trigger. */
static inline uint32_t kt_trigger_fired(int fd, uint32_t id)
{
	struct ktape_trigger t;

	return kt_trigger_get(fd, id, &t) ? ~0U : t.fired;
}

static inline bool kt_is_running(int fd)
{
	struct ktape_layout l;

	return !kt_layout(fd, &l, NULL, 0) && l.running;
}

static inline bool kt_is_stopped(int fd)
{
	return !kt_is_running(fd);
}

/*
 * Wait until @is returns true, because a trigger acts in a work item, which runs some time
 * later. Return: false if it never did.
 */
static inline bool kt_wait_until(bool (*is)(int fd), int fd)
{
	for (int i = 0; i < 500 * kt_scale(); i++) {
		if (is(fd))
			return true;
		usleep(10000);
	}
	return false;
}

/* Write @n value markers with this id and the value -5. */
static inline void kt_write_values(uint32_t id, int n)
{
	struct ktape_mark m = { .size = sizeof(m),
				.opcode = KTAPE_EV_MARK_VALUE,
				.id = id,
				.value = -5 };
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
	while (n-- > 0)
		kt_ioctl(fd, KTAPE_MARK_IOC_MARK, &m);
}

#endif /* _KT_TRIGGER_H */
