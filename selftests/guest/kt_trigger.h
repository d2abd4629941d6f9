/* SPDX-License-Identifier: GPL-2.0-only */
/* Triggers, in guest tests. */
#ifndef _KT_TRIGGER_H
#define _KT_TRIGGER_H

#include <ktape/trigger.h>

#include "kt.h"

static inline int kt_trigger(int fd, uint32_t op, struct ktape_trigger *t)
{
	t->size = sizeof(*t);
	t->op = op;
	return kt_ioctl(fd, KTAPE_IOC_TRIGGER, t);
}

static inline int kt_trigger_tell(int fd, uint32_t id, struct ktape_trigger *t)
{
	memset(t, 0, sizeof(*t));
	t->id = id;
	return kt_trigger(fd, KTAPE_TRIGGER_GET, t);
}

/* ADD. Return: its id, or a negative errno. */
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

static inline uint32_t kt_trigger_fired(int fd, uint32_t id)
{
	struct ktape_trigger t;

	return kt_trigger_tell(fd, id, &t) ? ~0U : t.fired;
}

#endif /* _KT_TRIGGER_H */
