/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parsing of values on command lines.  All return 0, -EINVAL, also if characters follow the
 * value, or -ERANGE.
 *
 *   u64	decimal, or hexadecimal with 0x
 *   size	bytes, or with K, M, G or KiB, MiB, GiB, all of them powers of 1024
 *   time	with ns, us, ms, s, m, min or h; seconds without a unit
 *   mask	0x and up to 64 hexadecimal digits; bit 0 is the lowest of the last one
 *
 * Sizes and times may have up to 9 decimals: 1.5G.
 */
#ifndef _KT_PARSE_H
#define _KT_PARSE_H

#include <stdint.h>

int kt_parse_u64(const char *text, uint64_t *value);
int kt_parse_size(const char *text, uint64_t *bytes);
int kt_parse_time(const char *text, uint64_t *ns);
int kt_parse_mask(const char *text, uint64_t mask[4]);

#endif /* _KT_PARSE_H */
