/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays of tests that grow. A test that gets no memory aborts, because it could not go on. */
#ifndef _GROW_H
#define _GROW_H

#include <stdlib.h>

/* As realloc(), but never NULL. */
static inline void *grow_to(void *v, size_t bytes)
{
	v = realloc(v, bytes);
	if (!v)
		abort();
	return v;
}

/* Let array @v, which has @nr entries and room for @room of them, take another one. */
#define GROW(v, nr, room)                                        \
	do {                                                     \
		if ((nr) == (room)) {                            \
			(room) = (room)*2 + 64;                  \
			(v) = grow_to(v, (room) * sizeof(*(v))); \
		}                                                \
	} while (0)

#endif /* _GROW_H */
