/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of traces as JSON and for a terminal, and sizes with their unit. */
#ifndef _KT_TOOL_SHARED_TEXT_H
#define _KT_TOOL_SHARED_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void put_json_text(const char *text);
void write_json_text(FILE *f, const char *text);
void put_shown(FILE *f, const char *text);
void put_human(char *to, size_t size, uint64_t bytes);

#endif /* _KT_TOOL_SHARED_TEXT_H */
