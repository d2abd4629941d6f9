// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records that perf -z compressed: one stream, which goes on from one compressed record to the
 * next, and whose pieces end anywhere in a record.
 *
 * A few bytes may stand for gigabytes.  They are unpacked in steps, between which the reader
 * delivers what is complete.
 */
#include <zstd_errors.h>

#include "internal.h"

#define RECORD_MAX 65536U /* bytes: the size of a record has 16 bits */
/* Bytes unpacked at once: more than a record, so a full step completes at least one. */
#define STEP (16 * RECORD_MAX)
#define BLOCK_HEAD \
	3U /* bytes that zstd asks for between two blocks: RFC 8878 */

/**
 * pd_packed_begin() - take a compressed record
 * @s: the trace
 * @record: the record, which stays where it is until it is unpacked
 * @len: its bytes
 * @offset: of the record in the file
 *
 * Return: 0 or negative errno.
 */
int pd_packed_begin(struct kt_import *s, const uint8_t *record, size_t len,
		    uint64_t offset)
{
	struct perf *f = s->state;
	/* COMPRESSED2 has the size of the data behind its head, because it is padded. */
	size_t head = kt_load32(record, f->big) == RECORD_COMPRESSED ? 8 : 16;

	if (len < head)
		return kt_import_fail(s, offset,
				      "the size of a compressed record is wrong");
	if (head == 16 && kt_load64(record + 8, f->big) > len - head)
		return kt_import_fail(s, offset,
				      "the size of a compressed record is wrong");
	f->packed = (ZSTD_inBuffer){
		record + head,
		head == 16 ? kt_load64(record + 8, f->big) : len - head,
		0,
	};
	f->packed_offset = offset;
	f->unpacking = true;
	return 0;
}

static int make_packed_room(struct perf *f)
{
	if (!f->zstd)
		f->zstd = ZSTD_createDStream();
	if (!f->plain)
		f->plain = malloc(STEP);
	return f->zstd && f->plain ? 0 : -ENOMEM;
}

/**
 * pd_packed_unpack() - unpack the next piece of the compressed record
 * @s: the trace; its @unpacking is cleared at the end of the compressed record
 *
 * The piece is put behind the @plain_len bytes at @plain.  So before the next call the caller takes
 * the records that are complete, and moves the rest to the front.
 *
 * Return: 0 with @plain_len bytes at @plain, or negative errno.
 */
int pd_packed_unpack(struct kt_import *s)
{
	struct perf *f = s->state;
	ZSTD_outBuffer out;
	size_t ret;

	if (make_packed_room(f))
		return -ENOMEM;
	out = (ZSTD_outBuffer){ f->plain, STEP, f->plain_len };
	ret = ZSTD_decompressStream(f->zstd, &out, &f->packed);
	if (ZSTD_getErrorCode(ret) == ZSTD_error_memory_allocation)
		return -ENOMEM;
	if (ZSTD_isError(ret))
		return kt_import_fail(s, f->packed_offset,
				      "compressed records are damaged");
	f->plain_len = out.pos;
	f->plain_cut = ret && ret != BLOCK_HEAD;
	/* What zstd still holds did not fit. */
	f->unpacking = f->packed.pos < f->packed.size || out.pos == out.size;
	return 0;
}
