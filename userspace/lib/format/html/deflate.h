/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compression with deflate (RFC 1951), which every browser can undo; see deflate.c. */
#ifndef _KT_HTML_DEFLATE_H
#define _KT_HTML_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#define KT_DEFLATE_WINDOW \
	(1U << 15) /* a copy is of bytes less than this far back */
#define KT_DEFLATE_HASHES (1U << 15) /* values of hash_at() */

/**
 * struct kt_deflate - memory of the compressor
 * @heads: by hash of three bytes: their last position + 1, 0 = none
 * @chain: by position in the window: the position + 1 before with the same hash
 */
struct kt_deflate {
	uint32_t heads[KT_DEFLATE_HASHES];
	uint32_t chain[KT_DEFLATE_WINDOW];
};

/* kt_deflate() returns how many bytes it has put to @to: kt_deflate_bound() of them at most. */
size_t kt_deflate_bound(size_t len);
size_t kt_deflate(struct kt_deflate *d, const uint8_t *from, size_t len,
		  uint8_t *to);

#endif /* _KT_HTML_DEFLATE_H */
