// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The bytes of a trace buffer, to be read at any offset, because the oldest event is in its
 * middle.  A regular file is read with pread(); a pipe is read into memory first, Intel HEX
 * and S-records into one with gaps (memory.c).
 */
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "internal.h"

#define LINE_MAX_LEN 1024U /* bytes of a line */
#define RECORD_MAX   300U  /* bytes of a record */
#define TOO_MUCH     "the trace buffer is larger than %u MiB"

/* ---- memory -------------------------------------------------------------------- */

/* Make room for @size bytes in memory; new ones are 0.  Return: 0, -EBADMSG or -ENOMEM. */
static int grow_image(struct kt_image *image, struct kt_import *s, uint64_t size)
{
	size_t cap = image->cap ? image->cap : KT_IMAGE_WINDOW;
	uint8_t *data;

	if (size > KT_IMAGE_MAX)
		return kt_import_fail(s, s->in->offset, TOO_MUCH,
				      KT_IMAGE_MAX >> 20);
	if (size <= image->cap)
		return 0;
	while (cap < size)
		cap *= 2;
	data = realloc(image->data, cap);
	if (!data)
		return -ENOMEM;
	memset(data + image->cap, 0, cap - image->cap);
	image->data = data;
	image->cap = cap;
	return 0;
}

static int put_image_bytes(struct kt_image *image, struct kt_import *s,
			   uint64_t at, const uint8_t *data, size_t len)
{
	int err = grow_image(image, s, at + len);

	if (err)
		return err;
	if (len)
		memcpy(image->data + at, data, len);
	image->size = kt_max(image->size, at + len);
	return 0;
}

static int read_pipe(struct kt_image *image, struct kt_import *s)
{
	int64_t there;
	int err = 0;

	while (!err && (there = kt_scan_need(s->in, 1)) > 0) {
		err = put_image_bytes(image, s, image->size,
				      kt_scan_head(s->in), (size_t)there);
		if (!err)
			err = kt_scan_skip(s->in, (uint64_t)there);
	}
	return err ? err : (int)there; /* 0, or why no more could be read */
}

/* ---- records of text ------------------------------------------------------------ */

/**
 * struct records - Intel HEX or S-records that are being read
 * @image: the bytes so far
 * @upper: upper part of addresses, from an extended address record
 * @ended: an end record came
 */
struct records {
	struct kt_image *image;
	uint32_t upper;
	bool ended;
};

static int image_hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Convert pairs of digits to bytes.  Return: number of bytes, -1 for another character. */
static int image_hex_to_bytes(uint8_t *to, const uint8_t *text, size_t len)
{
	if (len & 1 || len / 2 > RECORD_MAX)
		return -1;
	for (size_t i = 0; i < len; i += 2) {
		int high = image_hex_digit(text[i]),
		    low = image_hex_digit(text[i + 1]);

		if (high < 0 || low < 0)
			return -1;
		to[i / 2] = (uint8_t)(high << 4 | low);
	}
	return (int)(len / 2);
}

/*
 * Put the bytes of a record.  find_header() looks at each fourth address from image->first on:
 * that is the address of the first record, or the word of the lowest one if that comes later.
 */
static int put_record(struct records *r, struct kt_import *s, uint64_t address,
		      const uint8_t *data, size_t len)
{
	struct kt_image *image = r->image;
	uint64_t before = image->memory.first;
	bool begun = image->memory.end;
	int err = kt_memory_put(&image->memory, address, data, len);

	if (err)
		return err;
	if (!begun)
		image->first = image->memory.first;
	else if (image->memory.first < before)
		image->first = image->memory.first & ~3ULL;
	image->size = image->memory.end - image->first;
	if (image->size <= KT_IMAGE_MAX)
		return 0;
	return kt_import_fail(s, s->in->offset, TOO_MUCH, KT_IMAGE_MAX >> 20);
}

static const char *check_hex(const uint8_t *b, int len)
{
	uint8_t sum = 0;

	if (len < 5 || b[0] != len - 5)
		return "a record has a wrong length";
	for (int i = 0; i < len; i++)
		sum += b[i];
	return sum ? "a record has a wrong checksum" : NULL;
}

/* Take a record of Intel HEX: ":LLAAAATT...CC", @b from LL on. */
static int take_image_hex(struct records *r, struct kt_import *s,
			  const uint8_t *b, int len)
{
	uint32_t word = (uint32_t)b[4] << 8 | b[5];
	const char *why = check_hex(b, len);

	if (why) {
		kt_import_bad(s, s->in->offset, "%s", why);
		return 0;
	}
	switch (b[3]) {
	case 0:
		return put_record(r, s,
				  (uint64_t)r->upper + ((uint32_t)b[1] << 8 | b[2]),
				  b + 4, b[0]);
	case 1:
		r->ended = true;
		return 0;
	case 2:
		r->upper = b[0] == 2 ? word << 4 : r->upper;
		return 0;
	case 4:
		r->upper = b[0] == 2 ? word << 16 : r->upper;
		return 0;
	default: /* start address of a program */
		return 0;
	}
}

/* Take an S-record: "STLLAA..CC", @type is T, @b from LL on. */
static int take_srec(struct records *r, struct kt_import *s, int type,
		     const uint8_t *b, int len)
{
	/* bytes of the address, by type */
	static const uint8_t widths[10] = { 2, 2, 3, 4, 0, 2, 3, 4, 3, 2 };
	int width = widths[type];
	uint64_t address = 0;
	uint8_t sum = 0;

	for (int i = 0; i < len; i++)
		sum += b[i];
	if (len < 2 || b[0] != len - 1 || len < width + 2 || sum != 0xff) {
		kt_import_bad(s, s->in->offset,
			      "a record has a wrong length or checksum");
		return 0;
	}
	for (int i = 0; i < width; i++)
		address = address << 8 | b[1 + i];
	if (type >= 7)
		r->ended = true;
	if (type < 1 || type > 3)
		return 0;
	return put_record(r, s, address, b + 1 + width, (size_t)(len - width - 2));
}

static int take_image_line(struct records *r, struct kt_import *s,
			   const uint8_t *p, size_t len)
{
	uint8_t bytes[RECORD_MAX] = { 0 };
	int n = -1, type = 0;
	bool srec = len >= 2 && (p[0] | 0x20) == 's';

	if (srec) {
		type = p[1] - '0';
		if (type >= 0 && type <= 9)
			n = image_hex_to_bytes(bytes, p + 2, len - 2);
	} else if (p[0] == ':') {
		n = image_hex_to_bytes(bytes, p + 1, len - 1);
	}
	if (n < 0) {
		kt_import_bad(s, s->in->offset,
			      "a line is neither Intel HEX nor an S-record");
		return 0;
	}
	return srec ? take_srec(r, s, type, bytes, n) :
		      take_image_hex(r, s, bytes, n);
}

/*
 * Find the next line.  @skip is set to its length with the line end.
 * Return: length without the line end, -ENODATA at the end of the input, or another negative errno.
 */
static int64_t next_line(struct kt_import *s, size_t *skip)
{
	int64_t there = kt_scan_need(s->in, LINE_MAX_LEN);
	const uint8_t *p, *nl;
	size_t len;

	if (there <= 0)
		return there ? there : -ENODATA;
	p = kt_scan_head(s->in);
	len = (size_t)kt_min((uint64_t)there, LINE_MAX_LEN);
	nl = memchr(p, '\n', len);
	*skip = nl ? (size_t)(nl - p) + 1 : len;
	len = nl ? (size_t)(nl - p) : len;
	while (len && (p[len - 1] == '\r' || p[len - 1] == ' '))
		len--;
	return (int64_t)len;
}

static int read_records(struct kt_image *image, struct kt_import *s)
{
	struct records r = { .image = image };
	size_t skip = 0;
	int64_t len = 0;
	int err = 0;

	while (!err && !r.ended && (len = next_line(s, &skip)) >= 0) {
		if (len)
			err = take_image_line(&r, s, kt_scan_head(s->in),
					      (size_t)len);
		if (!err)
			err = kt_scan_skip(s->in, skip);
	}
	if (len < 0 && len != -ENODATA)
		return (int)len;
	if (!err && !r.ended)
		kt_import_bad(s, s->in->offset, "the end record is missing");
	return err;
}

/* ---- for in.c ------------------------------------------------------------------ */

/* Return the form of an input by its first bytes. */
enum kt_image_form kt_image_form_of(const uint8_t *data, size_t len)
{
	uint8_t bytes[4];

	if (len >= 4 && (kt_get32(data) == KT_TRACEX_MAGIC ||
			 __builtin_bswap32(kt_get32(data)) == KT_TRACEX_MAGIC))
		return KT_IMAGE_BINARY;
	while (len && (*data == '\r' || *data == '\n' || *data == ' ')) {
		data++;
		len--;
	}
	if (len >= 11 && *data == ':' &&
	    image_hex_to_bytes(bytes, data + 1, 8) == 4 && bytes[3] <= 5)
		return KT_IMAGE_HEX;
	if (len >= 10 && (*data | 0x20) == 's' && data[1] >= '0' &&
	    data[1] <= '9' && image_hex_to_bytes(bytes, data + 2, 8) == 4)
		return KT_IMAGE_SREC;
	return KT_IMAGE_UNKNOWN;
}

/* Read the window from @at on.  Return: number of bytes in it, or negative errno. */
static int64_t fill_window(struct kt_image *image, uint64_t at)
{
	uint64_t n = kt_min(KT_IMAGE_WINDOW, image->size - at);

	if (image->fd >= 0)
		return kt_pread_all(image->fd, image->window, KT_IMAGE_WINDOW,
				    image->base + at);
	kt_memory_get(&image->memory, image->first + image->begin + at,
		      image->window, (size_t)n);
	return (int64_t)n;
}

/**
 * kt_image_read() - return bytes of the trace buffer
 * @image: the trace buffer
 * @at: offset of the first byte
 * @len: number of bytes, up to KT_IMAGE_WINDOW
 * @data: set to the bytes, valid until the next call; not set if there are none
 *
 * Return: number of bytes, less than @len at the end and 0 behind it; or negative errno.
 */
int64_t kt_image_read(struct kt_image *image, uint64_t at, size_t len,
		      const uint8_t **data)
{
	int64_t n;

	if (at >= image->size)
		return 0;
	len = (size_t)kt_min(len, image->size - at);
	if (image->data) {
		*data = image->data + image->begin + at;
		return (int64_t)len;
	}
	if (at < image->at || at + len > image->at + image->there) {
		n = fill_window(image, at);
		if (n < 0)
			return n;
		image->at = at;
		image->there = (size_t)n;
		len = (size_t)kt_min(len, image->there);
	}
	*data = image->window + (at - image->at);
	return (int64_t)len;
}

/* Return the offset of the next word.  A gap is passed over: it ends where a page begins. */
static uint64_t next_word(const struct kt_image *image, uint64_t at)
{
	uint64_t address = image->first + at + 4, next = address;

	if (!image->data && address % KT_MEMORY_PAGE < 4)
		next = kt_memory_next(&image->memory, address);
	return at + 4 + ((next - address) & ~3ULL);
}

/*
 * Let the image begin at the TXTB header, because a dump of memory may begin before the trace
 * buffer.  Without a header the image stays as it is, and the reader in in.c fails.
 */
static void find_header(struct kt_image *image)
{
	const uint8_t *p;

	for (uint64_t i = 0; i + KT_TRACEX_HEADER <= image->size;
	     i = next_word(image, i)) {
		kt_image_read(image, i, 4, &p); /* all is in memory: it cannot fail */
		if (kt_get32(p) != KT_TRACEX_MAGIC &&
		    __builtin_bswap32(kt_get32(p)) != KT_TRACEX_MAGIC)
			continue;
		image->begin = i;
		image->size -= i;
		image->there = 0;
		return;
	}
}

/**
 * kt_image_open() - make the bytes of a trace buffer readable at any offset
 * @image: filled; ends with kt_image_close(), also after an error
 * @s: the trace, at the beginning of its input
 *
 * Return: 0, -EBADMSG with kt_import_fail(), or another negative errno.
 */
int kt_image_open(struct kt_image *image, struct kt_import *s)
{
	int64_t there = kt_scan_need(s->in, 64);
	enum kt_image_form form;
	struct stat st;
	int err;

	image->fd = -1;
	if (there < 0)
		return (int)there;
	form = kt_image_form_of(kt_scan_head(s->in), (size_t)there);
	if (form == KT_IMAGE_UNKNOWN)
		return kt_import_fail(
			s, s->in->offset,
			"the input begins neither with TXTB nor with Intel HEX or S-records");
	if (form == KT_IMAGE_BINARY && s->in->seekable &&
	    !fstat(s->in->fd, &st) && S_ISREG(st.st_mode)) {
		image->fd = s->in->fd;
		image->base = s->in->offset;
		if ((uint64_t)st.st_size > image->base)
			image->size = (uint64_t)st.st_size - image->base;
		return 0;
	}
	err = form == KT_IMAGE_BINARY ? read_pipe(image, s) :
					read_records(image, s);
	if (!err)
		find_header(image);
	return err;
}

/* Free what the image holds. */
void kt_image_close(struct kt_image *image)
{
	free(image->data);
	image->data = NULL;
	kt_memory_free(&image->memory);
}
