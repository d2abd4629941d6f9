/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that do not come from tracepoints: markers, exceptions, user events and
 * their names, from other modules and from programs; and sinks, functions of other
 * modules that are called for records.
 *
 * What other modules call is declared in module/include/ktape.
 *
 * Read the files in this order.  Each one calls only files above it: sink.c, exception.c,
 * emit.c, name.c.
 */
#ifndef _KT_EMIT_H
#define _KT_EMIT_H

#include <linux/types.h>
#include <linux/uidgid.h>

#include <ktape/emit.h>
#include <ktape/mark.h>

struct task_struct;

/* ---- markers, values, texts: emit.c ---------------------------------------- */

int kt_emit_init(unsigned int max_str);
void kt_emit_exit(void);
void kt_emit_want(const u64 *mask);
void kt_emit_mark(u32 opcode, bool task, u32 id, s64 value, const char *message,
		  u32 length);
void kt_emit_text(const char *text, u32 length, bool cut);
void kt_emit_lost(u32 opcode, u32 reason);

/* ---- names that modules and programs give: name.c -------------------------- */

int kt_emit_name(const struct ktape_name *n, const kuid_t *owner);

/* ---- exceptions, events with a severity: exception.c ----------------------- */

/* Argument words of an exception besides its code. */
#define KT_EXCEPTION_ARGS (KTAPE_NARGS_MAX - 1)

void kt_exception_of(u32 severity, u32 code, const u32 *args,
		     unsigned int nargs, const void *buffer, u32 length,
		     bool has_buffer, struct task_struct *other);

/* Record an exception that is about no thread besides the current one. */
static inline void kt_exception(u32 severity, u32 code, const u32 *args,
				unsigned int nargs, const void *buffer,
				u32 length, bool has_buffer)
{
	kt_exception_of(severity, code, args, nargs, buffer, length, has_buffer,
			NULL);
}

/* ---- sinks: sink.c --------------------------------------------------------- */

bool kt_sink_runs(void);
int kt_sink_init(void (*on_change)(void));
void kt_sink_exit(void);

#endif /* _KT_EMIT_H */
