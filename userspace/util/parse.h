/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing of values on command lines.  All return 0, -EINVAL or -ERANGE. */
#ifndef _KT_PARSE_H
#define _KT_PARSE_H

#include <stdint.h>

int kt_parse_u64(const char *text, uint64_t *value);
int kt_parse_size(const char *text, uint64_t *bytes);
int kt_parse_time(const char *text, uint64_t *ns);
int kt_parse_mask(const char *text, uint64_t mask[4]);

#endif /* _KT_PARSE_H */
