/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of traces as JSON and for a terminal, and sizes with their unit. */
#ifndef _KT_TOOL_SHARED_TEXT_H
#define _KT_TOOL_SHARED_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Write a text as a JSON string, cut if it is very long; put_json_text(): to standard output. */
void put_json_text(const char *text);
void write_json_text(FILE *f, const char *text);

/* Write a text without characters that control a terminal. */
void put_shown(FILE *f, const char *text);

/* Write a number of bytes with a unit: "1.5 MB". */
void put_human(char *to, size_t size, uint64_t bytes);

#endif /* _KT_TOOL_SHARED_TEXT_H */
