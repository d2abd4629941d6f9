/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts of trace_printk().  The kernel keeps formats and constant texts once, and records
 * their address and the arguments as vbin_printf() of lib/vsprintf.c packs them.
 * /sys/kernel/tracing/printk_formats has the texts:
 *
 *	0xffffffff82819a3e : "read %d of %s\n"
 */
#ifndef _KT_PRINTK_H
#define _KT_PRINTK_H

#include <stdbool.h>

#include "format/symbols.h"

/* A format or constant text, and where the traced kernel had it. */
struct kt_printk_text {
	uint64_t address;
	const char *text;
};

/**
 * struct kt_printk - texts by their address
 * @copy: the file, which the texts are in
 * @list: the texts, sorted by address
 * @nr: entries of @list
 */
struct kt_printk {
	char *copy;
	struct kt_printk_text *list;
	size_t nr;
};

/**
 * struct kt_printk_args - arguments of a format, and what is needed to print them
 * @at: the next one
 * @begin: the first one
 * @end: after the last one
 * @long_size: bytes of the kernel's long
 * @big: arguments are big-endian
 * @ints: %hd and %hhd are recorded as an int, as Linux does from 6.14 on
 * @symbols: names of functions
 * @missing: set by kt_printk_format(): there are fewer than the format has
 * @cut: set by kt_printk_format(): a width of the format was too large and is limited
 */
struct kt_printk_args {
	const uint8_t *at;
	const uint8_t *begin;
	const uint8_t *end;
	uint32_t long_size;
	bool big;
	bool ints;
	struct kt_symbols *symbols;
	bool missing;
	bool cut;
};

#define KT_PRINTK_MAX 65535U /* characters of a text that is made */

/* kt_printk_take() owns @text, which is from malloc(). */
int kt_printk_take(struct kt_printk *p, char *text, size_t len);
const char *kt_printk_find(const struct kt_printk *p, uint64_t address);
size_t kt_printk_format(char *to, size_t room, const char *format,
			struct kt_printk_args *args);
void kt_printk_free(struct kt_printk *p);

#endif /* _KT_PRINTK_H */
