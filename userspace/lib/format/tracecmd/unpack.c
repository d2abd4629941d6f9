// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read parts of the file, and unpack compressed sections and chunks of pages. */
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
	       !strcmp(name, "zlib") ? TC_ZLIB :
				       TC_PACKING_UNKNOWN;
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
int tc_unpack(const struct tc *t, uint8_t *to, size_t size, const uint8_t *from,
	      size_t len)
{
	size_t got;

	if (t->packed == TC_ZLIB)
		return kt_inflate(from, len, to, size) == (ssize_t)size ? 0 : -EBADMSG;
	got = ZSTD_decompress(to, size, from, len);
	if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	return ZSTD_isError(got) || got != size ? -EBADMSG : 0;
}

/*
 * Read @size bytes at @offset of the file.
 * Return: 0 with @bytes to free, or negative errno.
 */
int tc_read_bytes(struct kt_import *s, uint64_t offset, uint64_t size, uint8_t **bytes)
{
	const struct tc *t = s->state;
	ssize_t got;

	if (size > TC_SECTION_MAX || offset > t->file.size ||
	    size > t->file.size - offset)
		return kt_import_fail(s, offset, "the size of a section is wrong");
	*bytes = malloc(size ? size : 1);
	if (!*bytes)
		return -ENOMEM;
	got = kt_pread_all(t->file.fd, *bytes, size, offset);
	if (got == (ssize_t)size)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return got < 0 ?
		       (int)got :
		       kt_import_fail(s, offset, "the file ends inside a section");
}
