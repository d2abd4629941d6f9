/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace exceptions: events with a severity, for the control ring. */
#ifndef _KT_EXCEPTION_H
#define _KT_EXCEPTION_H

#include <linux/types.h>

#include <ktape/abi.h>

#define KT_EXCEPTION_ARGS	(KTAPE_NARGS_MAX - 1)

struct task_struct;

void kt_exception_of(u32 severity, u32 code, const u32 *args,
		     unsigned int nargs, const void *buffer, u32 length,
		     bool has_buffer, struct task_struct *other);

/* One that is about no other thread. */
static inline void kt_exception(u32 severity, u32 code, const u32 *args,
				unsigned int nargs, const void *buffer,
				u32 length, bool has_buffer)
{
	kt_exception_of(severity, code, args, nargs, buffer, length, has_buffer,
			NULL);
}

#endif /* _KT_EXCEPTION_H */
