/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace exceptions: events with a severity, for the control ring. */
#ifndef _KT_EXCEPTION_H
#define _KT_EXCEPTION_H

#include <linux/types.h>

#include <ktape/abi.h>

#define KT_EXCEPTION_ARGS	(KTAPE_NARGS_MAX - 1)

void kt_exception(u32 severity, u32 code, const u32 *args, unsigned int nargs,
		  const void *buffer, u32 length, bool has_buffer);

#endif /* _KT_EXCEPTION_H */
