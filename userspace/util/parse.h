/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people write on command lines; everything checks the whole text. */
#ifndef _KT_PARSE_H
#define _KT_PARSE_H

#include <stdint.h>

int kt_parse_u64(const char *text, uint64_t *value);
int kt_parse_size(const char *text, uint64_t *bytes);
int kt_parse_time(const char *text, uint64_t *ns);
int kt_parse_mask(const char *text, uint64_t mask[4]);

#endif /* _KT_PARSE_H */
