// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In the place of lib/stream/zin.c: compressed input is recognised and refused, because
 * Debian has no zstd for WebAssembly.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "stream/zin.h"

struct kt_zin {
	bool told;
};

bool kt_zin_is(const void *mark)
{
	return kt_get32(mark) == KT_ZSTD_MAGIC;
}

struct kt_zin *kt_zin_new(int fd, bool seekable, const void *first, size_t len)
{
	(void)fd;
	(void)seekable;
	(void)first;
	(void)len;
	return calloc(1, sizeof(struct kt_zin));
}

void kt_zin_free(struct kt_zin *z)
{
	free(z);
}

void kt_zin_rewind(struct kt_zin *z)
{
	z->told = false;
}

bool kt_zin_again(const struct kt_zin *z)
{
	(void)z;
	return true;
}

bool kt_zin_pending(const struct kt_zin *z)
{
	(void)z;
	return false;
}

size_t kt_zin_memory(const struct kt_zin *z)
{
	return sizeof(*z);
}

/* Report once that the input is compressed.  Return: 0, the end. */
ssize_t kt_zin_read(struct kt_zin *z, void *to, size_t room,
		    struct kt_zin_trouble *trouble)
{
	(void)to;
	(void)room;
	if (!z->told)
		trouble->text =
			"compressed with zstd, which this build cannot unpack: run zstd -d on the file first";
	z->told = true;
	return 0;
}

/* A directory with compressed metadata is as one without metadata. */
ssize_t kt_zin_file(int dir, const char *name, size_t max, uint8_t **data)
{
	(void)dir;
	(void)name;
	(void)max;
	*data = NULL;
	return -ENOENT;
}
