/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What parsing and formatting of filters share. */
#ifndef _KT_FILTER_INTERNAL_H
#define _KT_FILTER_INTERNAL_H

#include "filter/filter.h"

#define KT_SYSCALLS	512U	/* of each table */

/**
 * struct kt_bits - a filter that is a bitmap
 * @bits: how many there are
 * @words: of the bitmap
 * @first: number of bit 0
 * @names: name of a number by this field type, or KTAPE_TYPES
 * @add: set the bits of an item; false: it is none
 */
struct kt_bits {
	unsigned int bits;
	unsigned int words;
	unsigned int first;
	unsigned int names;
	bool (*add)(const struct kt_bits *b, const char *item, uint64_t *to);
};

/* bits.c */
extern const struct kt_bits kt_filter_bits[KTAPE_FILTER_KINDS];
unsigned int kt_bits_in_use(unsigned int kind);
const char *kt_this_machine(void);

/* parse.c */
extern const char *const kt_pid_flags[];
const char *kt_gate_name(unsigned int gate);

/* format.c */
void kt_put_duration(FILE *f, uint64_t ns);
void kt_put_mask(FILE *f, const uint64_t *mask, bool *first);

#endif /* _KT_FILTER_INTERNAL_H */
