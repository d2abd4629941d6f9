/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of a kernel by their address, from a copy of /proc/kallsyms. */
#ifndef _KT_SYMBOLS_H
#define _KT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A function; @name points into the copy. */
struct kt_symbol {
	uint64_t address;
	const char *name;
};

/**
 * struct kt_symbols - functions by their address
 * @text: the copy, with a NUL behind each name
 * @list: functions, sorted by address, one name for each
 * @nr: entries of @list
 */
struct kt_symbols {
	char *text;
	struct kt_symbol *list;
	size_t nr;
};

/* Take a copy of /proc/kallsyms; @s owns @text from here on. */
int kt_symbols_take(struct kt_symbols *s, char *text, size_t len);
/* @symbols: struct kt_symbols; void *, as this is the callback "symbol" of struct kt_tp. */
const char *kt_symbols_find(void *symbols, uint64_t address, uint64_t *offset);
void kt_symbols_free(struct kt_symbols *s);

#endif /* _KT_SYMBOLS_H */
