/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Name the objects that other modules emit.
 *
 * Call these functions from task context, at any time.  A name is cut to
 * KTAPE_NAME_SIZE - 1 bytes; an empty name or NULL removes the object.
 *
 * Return: 0; -EINVAL if the type cannot be named or a parameter is out of range;
 * -EDEADLK in a sink, where nothing can be named.
 */
#ifndef _KTAPE_NAME_H
#define _KTAPE_NAME_H

#include <linux/types.h>

#include <ktape/mark.h>

int ktape_name(u32 type, u32 id, u32 param1, u32 param2, const char *name);

static inline int ktape_name_marker(u32 id, const char *name)
{
	return ktape_name(KTAPE_OBJ_MARKER, id, 0, 0, name);
}

static inline int ktape_name_value(u32 id, const char *name)
{
	return ktape_name(KTAPE_OBJ_VALUE, id, 0, 0, name);
}

/* Name an interrupt routine of one CPU, or with cpu -1 of all CPUs. */
static inline int ktape_name_isr(int cpu, u32 id, const char *name)
{
	return ktape_name(KTAPE_OBJ_ISR, id, cpu + 1, 0, name);
}

/* Name the subsystem that uses a major code of exceptions. */
static inline int ktape_name_exception(u32 major, const char *name)
{
	return ktape_name(KTAPE_OBJ_EXCEPTION, major, 0, 0, name);
}

/*
 * Name a user event.  formats: enum ktape_format of its first nr typed
 * arguments, 4 bits each, the first one in the lowest bits.
 */
static inline int ktape_name_user_event(u32 id, u32 formats, u32 nr, const char *name)
{
	return ktape_name(KTAPE_OBJ_USER_EVENT, id, formats, nr, name);
}

/*
 * Name an object of a user-defined type: see enum ktape_user_object for types
 * and parameters.
 */
static inline int ktape_name_object(u32 type, u32 id, u32 param1, u32 param2,
				    const char *name)
{
	return ktape_name(KTAPE_OBJ_USER + type, id, param1, param2, name);
}

#endif /* _KTAPE_NAME_H */
