/* SPDX-License-Identifier: GPL-2.0-only */
/* Markers, exceptions and user events of modules and programs; their names. */
#ifndef _KT_EMIT_H
#define _KT_EMIT_H

#include <linux/types.h>
#include <linux/uidgid.h>

#include <ktape/emit.h>
#include <ktape/mark.h>

int kt_emit_init(unsigned int max_str);
void kt_emit_exit(void);
void kt_emit_want(const u64 *mask);
void kt_emit_mark(u32 opcode, bool task, u32 id, s64 value,
		  const char *message, u32 length);
void kt_emit_text(const char *text, u32 length, bool cut);
void kt_emit_lost(u32 opcode, u32 reason);

int kt_emit_name(const struct ktape_name *n, const kuid_t *owner);

#endif /* _KT_EMIT_H */
