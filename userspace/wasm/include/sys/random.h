/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <sys/random.h>: getrandom(2), of what WASI has. */
#ifndef _KT_WASM_SYS_RANDOM_H
#define _KT_WASM_SYS_RANDOM_H

#include <sys/types.h>
#include <unistd.h>

#define GRND_NONBLOCK 1

static inline ssize_t getrandom(void *to, size_t len, unsigned int flags)
{
	(void)flags;
	return getentropy(to, len) ? -1 : (ssize_t)len;
}

#endif /* _KT_WASM_SYS_RANDOM_H */
