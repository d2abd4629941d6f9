// SPDX-License-Identifier: LGPL-2.1-or-later
/* Unpack compressed sections and chunks of pages, with zstd or zlib. */
#include <zstd.h>
#include <zstd_errors.h>

#include "util/inflate.h"

#include "internal.h"

/**
 * tc_packing() - find out how the parts of a file are compressed
 * @name: what its head says
 *
 * Return: enum tc_packing; TC_PACKING_UNKNOWN for another one.
 */
uint8_t tc_packing(const char *name)
{
	return !strcmp(name, "none") ? TC_PLAIN :
	       !strcmp(name, "zstd") ? TC_ZSTD :
	       !strcmp(name, "zlib") ? TC_ZLIB : TC_PACKING_UNKNOWN;
}

/**
 * tc_unpack() - unpack a part of the file
 * @t: the trace
 * @to: receives the bytes
 * @size: how many they are
 * @from: the compressed bytes
 * @len: bytes of @from
 *
 * Return: 0, -ENOMEM, or -EBADMSG if they are damaged or are not @size bytes.
 */
int tc_unpack(const struct tc *t, uint8_t *to, size_t size, const uint8_t *from, size_t len)
{
	size_t got;

	if (t->packed == TC_ZLIB)
		return kt_inflate(from, len, to, size) == (ssize_t)size ? 0 : -EBADMSG;
	got = ZSTD_decompress(to, size, from, len);
	if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	return ZSTD_isError(got) || got != size ? -EBADMSG : 0;
}
