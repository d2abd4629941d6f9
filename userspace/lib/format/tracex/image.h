/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a trace buffer: a file, or memory where the input is no such. */
#ifndef _KT_TRACEX_IMAGE_H
#define _KT_TRACEX_IMAGE_H

#include "format/import.h"

#define KT_IMAGE_MAX	(256U << 20)	/* bytes in memory */
#define KT_IMAGE_WINDOW	65536U

/* What an input is in. */
enum kt_image_form {
	KT_IMAGE_UNKNOWN,
	KT_IMAGE_BINARY,
	KT_IMAGE_HEX,
	KT_IMAGE_SREC
};

/**
 * struct kt_image - the bytes
 * @fd: file, or -1: they are in @data
 * @base: where they begin there
 * @data: the bytes
 * @cap: room in @data
 * @size: how many
 * @begin: of them are to be left out
 * @window: a part of the file
 * @at: where that part is
 * @there: bytes of it
 */
struct kt_image {
	int fd;
	uint64_t base;
	uint8_t *data;
	size_t cap;
	uint64_t size;
	uint64_t begin;
	uint8_t window[KT_IMAGE_WINDOW];
	uint64_t at;
	size_t there;
};

enum kt_image_form kt_image_form(const uint8_t *data, size_t len);
int kt_image_open(struct kt_image *image, struct kt_import *s);
int64_t kt_image_read(struct kt_image *image, uint64_t at, size_t len,
		      const uint8_t **data);
void kt_image_close(struct kt_image *image);

#endif /* _KT_TRACEX_IMAGE_H */
