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

#define RECORD_MAX	65536U
#define STEP		(16 * RECORD_MAX)	/* bytes unpacked at once */
#define BLOCK_HEAD	3U	/* bytes that zstd asks for between two blocks: RFC 8878 */

/**
 * pf_packed_begin() - take a compressed record
 * @s: the trace
 * @record: the record, which stays where it is until pf_packed_more() was done with it
 * @len: its bytes
 * @offset: of the record in the file
 *
 * Return: 0 or negative errno.
 */
int pf_packed_begin(struct kt_import *s, const uint8_t *record, size_t len,
		    uint64_t offset)
{
	struct perf *f = s->state;
	size_t head = kt_load32(record, f->big) == RECORD_COMPRESSED ? 8 : 16;

	if (len < head)
		return kt_import_fail(s, offset, "the size of a compressed record is wrong");
	if (head == 16 && kt_load64(record + 8, f->big) > len - head)
		return kt_import_fail(s, offset, "the size of a compressed record is wrong");
	f->packed = (ZSTD_inBuffer){
		record + head, head == 16 ? kt_load64(record + 8, f->big) : len - head, 0,
	};
	f->packed_offset = offset;
	f->unpacking = true;
	return 0;
}

static int make_room(struct perf *f)
{
	if (!f->zstd)
		f->zstd = ZSTD_createDStream();
	if (!f->plain)
		f->plain = malloc(STEP);
	return f->zstd && f->plain ? 0 : -ENOMEM;
}

/**
 * pf_packed_more() - unpack until records can be delivered, or the compressed record ends
 * @s: the trace
 *
 * Return: 0 or negative errno.
 */
int pf_packed_more(struct kt_import *s)
{
	struct perf *f = s->state;
	int err = make_room(f);

	while (!err && f->unpacking && !pf_order_has(&f->order)) {
		ZSTD_outBuffer out = { f->plain, STEP, f->plain_len };
		size_t ret = ZSTD_decompressStream(f->zstd, &out, &f->packed);
		int64_t took;

		if (ZSTD_getErrorCode(ret) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		if (ZSTD_isError(ret))
			return kt_import_fail(s, f->packed_offset,
					      "compressed records are damaged");
		f->plain_len = out.pos;
		f->plain_cut = ret && ret != BLOCK_HEAD;
		/* What zstd still holds did not fit. */
		f->unpacking = f->packed.pos < f->packed.size || out.pos == out.size;
		took = pf_take_records(s, f->plain, f->plain_len, f->packed_offset, true);
		if (took < 0)
			return (int)took;
		f->plain_len -= (size_t)took;
		memmove(f->plain, f->plain + took, f->plain_len);
	}
	return err;
}
