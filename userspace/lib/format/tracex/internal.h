/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TraceX: what the files of this folder share.  The events themselves are those of ThreadX
 * (rtos/threadx.h).  Read the files in this order; each calls only those before it:
 *
 * user.c	fields of events that are kept as user events
 * memory.c	reading: memory with gaps, which Intel HEX and S-records describe
 * image.c	reading: the bytes of a trace buffer, also from such records
 * custom.c	reading: names of users' events from a .trxc file
 * in.c		reading; it draws the format
 * out.c	writing
 */
#ifndef _KT_TRACEX_INTERNAL_H
#define _KT_TRACEX_INTERNAL_H

#include "format/reader.h"
#include "rtos/threadx.h"
#include "memory.h"
#include "tracex.h"

#define KT_TRACEX_MAGIC	   0x54585442U
#define KT_TRACEX_HEADER   48U	/* bytes of the header */
#define KT_TRACEX_ENTRY	   32U	/* of an event */
#define KT_TRACEX_OBJECT   16U	/* of a registry entry, without its name */
#define KT_TRACEX_NAME_MAX 255U /* longest names that are read */
#define KT_TRACEX_HAS_PRIO \
	0x80U /* third byte of a thread's entry: it has a priority */
#define KT_TRACEX_CORE_SHIFT 24 /* bits of the event word from here: core */

/* ---- the bytes of a trace buffer (image.c) ----------------------------- */

#define KT_IMAGE_MAX	(256U << 20) /* most bytes that are held in memory */
#define KT_IMAGE_WINDOW 65536U	     /* bytes of a file that are read at once */

/* The form of an input. */
enum kt_image_form {
	KT_IMAGE_UNKNOWN,
	KT_IMAGE_BINARY,
	KT_IMAGE_HEX,
	KT_IMAGE_SREC
};

/**
 * struct kt_image - the bytes of a trace buffer
 * @fd: file that holds them; -1 = they are in @data, or in @memory
 * @base: offset of the first byte in the file
 * @data: the bytes
 * @cap: bytes allocated for @data
 * @memory: the bytes of records
 * @first: address of the first byte that counts in @memory
 * @size: number of bytes, from @begin on
 * @begin: bytes of @data or @memory before the trace buffer; a file has none
 * @window: part of the file or of @memory that was read last
 * @at: offset of @window in the trace buffer
 * @there: bytes in @window
 */
struct kt_image {
	int fd;
	uint64_t base;
	uint8_t *data;
	size_t cap;
	struct kt_memory memory;
	uint64_t first;
	uint64_t size;
	uint64_t begin;
	uint8_t window[KT_IMAGE_WINDOW];
	uint64_t at;
	size_t there;
};

enum kt_image_form kt_image_form_of(const uint8_t *data, size_t len);
/* kt_image_close() follows kt_image_open() also after an error. */
int kt_image_open(struct kt_image *image, struct kt_import *s);
int64_t kt_image_read(struct kt_image *image, uint64_t at, size_t len,
		      const uint8_t **data);
void kt_image_close(struct kt_image *image);

/* ---- a .trxc file (custom.c) ------------------------------------------- */

#define KT_CUSTOM_TEXT 64 /* bytes of a name or label, its NUL included */

/**
 * struct kt_custom - a user's event
 * @id: its number
 * @texts: its name, and the labels of its four words; "" = none
 */
struct kt_custom {
	uint32_t id;
	char texts[5][KT_CUSTOM_TEXT];
};

/**
 * struct kt_customs - all events of a .trxc file
 * @events: the events in the order of their numbers
 * @nr: number of events
 */
struct kt_customs {
	struct kt_custom *events;
	size_t nr;
};

/* The caller of kt_customs_read() frees @c->events, also after an error. */
int kt_customs_read(struct kt_customs *c, const char *path, struct kt_import *s);
const struct kt_custom *kt_customs_find(const struct kt_customs *c, uint32_t id);

#endif /* _KT_TRACEX_INTERNAL_H */
