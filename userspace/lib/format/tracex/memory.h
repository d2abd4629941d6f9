/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the traced device with gaps, as a dump in Intel HEX or S-records gives it. */
#ifndef _KT_TRACEX_MEMORY_H
#define _KT_TRACEX_MEMORY_H

#include "util/map.h"

#define KT_MEMORY_PAGE 1024U

/**
 * struct kt_memory - bytes at addresses
 * @pages: by address / KT_MEMORY_PAGE: the bytes, of which those without a record are 0
 * @first: address of the first byte
 * @end: address after the last byte; 0 = there is none
 */
struct kt_memory {
	struct kt_map pages;
	uint64_t first;
	uint64_t end;
};

/* Bytes without a record are 0.  kt_memory_next() passes over pages that have none. */
int kt_memory_put(struct kt_memory *m, uint64_t at, const uint8_t *data, size_t len);
void kt_memory_get(const struct kt_memory *m, uint64_t at, uint8_t *to, size_t len);
uint64_t kt_memory_next(const struct kt_memory *m, uint64_t at);
void kt_memory_free(struct kt_memory *m);

#endif /* _KT_TRACEX_MEMORY_H */
