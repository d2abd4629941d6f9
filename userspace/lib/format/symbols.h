/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of a kernel by their address, from a copy of /proc/kallsyms. */
#ifndef _KT_SYMBOLS_H
#define _KT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct kt_symbol {
	uint64_t address;
	const char *name;
};

/**
 * struct kt_symbols - functions by their address
 * @text: the copy, with a NUL behind each name
 * @list: functions, sorted once kt_symbols_find() is called
 * @nr: entries of @list
 */
struct kt_symbols {
	char *text;
	struct kt_symbol *list;
	size_t nr;
};

int kt_symbols_take(struct kt_symbols *s, char *text, size_t len);
const char *kt_symbols_find(void *symbols, uint64_t address, uint64_t *offset);
void kt_symbols_free(struct kt_symbols *s);

#endif /* _KT_SYMBOLS_H */
