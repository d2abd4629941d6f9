/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables that parsing and formatting of filters share. */
#ifndef _KT_FILTER_INTERNAL_H
#define _KT_FILTER_INTERNAL_H

#include "filter/filter.h"

#define KT_SYSCALLS 512U /* bits per system call table */

/**
 * struct kt_bits - a kind of filter that is a bitmap
 * @bits: number of bits, 0 = the kind is not a bitmap
 * @words: 64-bit words of the bitmap
 * @first: number that bit 0 stands for
 * @names: enum ktape_field_type that names the numbers, KTAPE_TYPES = no names
 * @add: set the bits of an item of the text; returns false if it is not valid
 */
struct kt_bits {
	unsigned int bits;
	unsigned int words;
	unsigned int first;
	unsigned int names;
	bool (*add)(const struct kt_bits *b, const char *item, uint64_t *to);
};

/* bits.c: bitmaps by kind, number of bits that "all" means, name of this machine or "" */
extern const struct kt_bits kt_filter_bits[KTAPE_FILTER_KINDS];
unsigned int kt_bits_in_use(unsigned int kind);
const char *kt_this_machine(void);

/* parse.c: names of the KTAPE_PID_* bits, then NULL; name of a KTAPE_GATE_* or NULL */
extern const char *const kt_pid_flags[];
const char *kt_gate_name(unsigned int gate);

/* format.c: @first: no item was put before; set to false by the first one */
void kt_put_duration(FILE *f, uint64_t ns);
void kt_put_mask(FILE *f, const uint64_t *mask, bool *first);

#endif /* _KT_FILTER_INTERNAL_H */
