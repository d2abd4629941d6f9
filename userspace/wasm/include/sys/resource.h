/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <sys/resource.h>: WASI has no limits that a process could ask for. */
#ifndef _KT_WASM_SYS_RESOURCE_H
#define _KT_WASM_SYS_RESOURCE_H

#include <errno.h>

#define RLIMIT_NOFILE 7

typedef unsigned long long rlim_t;

struct rlimit {
	rlim_t rlim_cur;
	rlim_t rlim_max;
};

static inline int getrlimit(int resource, struct rlimit *limit)
{
	(void)resource;
	(void)limit;
	errno = ENOSYS;
	return -1;
}

#endif /* _KT_WASM_SYS_RESOURCE_H */
