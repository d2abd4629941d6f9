// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frames of a stream, for the formats that have a byte between them. */
#include "frames.h"

/**
 * kt_frames_next() - find the next frame
 * @s: the input
 * @flag: what ends a frame
 * @max: bytes that a frame may have
 * @frame: set to its first byte, good until more is read
 *
 * The frame and its flag are still to be skipped; of one that is too long, or is
 * cut off, what was seen has been.
 *
 * Return: its bytes without the flag, KT_FRAME_*, or negative errno.
 */
int64_t kt_frames_next(struct kt_import *s, uint8_t flag, uint64_t max,
		       const uint8_t **frame)
{
	const uint8_t *end;
	uint64_t seen = 0;
	int64_t there;
	bool cut;

	do {
		there = kt_scan_need(s->in, seen + 1);
		if (there < 0)
			return there;
		if ((uint64_t)there <= seen)
			break;
		*frame = kt_scan_head(s->in);
		end = memchr(*frame + seen, flag, (size_t)there - seen);
		if (end && (uint64_t)(end - *frame) <= max)
			return end - *frame;
		seen = (uint64_t)there;
	} while (seen <= max);
	cut = (uint64_t)there <= seen && seen <= max && s->in->eof;
	there = kt_scan_skip(s->in, kt_min(seen, max));
	if (there < 0)
		return there;
	return cut ? seen ? KT_FRAME_CUT : KT_FRAME_END : KT_FRAME_LONG;
}

/**
 * kt_frames_tell() - tell of a frame that is none
 * @s: the input
 * @len: what kt_frames_next() returned
 * @offset: where the frame begins
 * @max: as above
 *
 * Return: @len, KT_FRAME_END instead of KT_FRAME_CUT.
 */
int64_t kt_frames_tell(struct kt_import *s, int64_t len, uint64_t offset,
		       uint64_t max)
{
	struct ktape_error error;

	if (len == KT_FRAME_LONG)
		kt_import_bad(s, offset, "a frame of more than %llu bytes",
			      (unsigned long long)max);
	if (len != KT_FRAME_CUT)
		return len;
	kt_error(&error, offset, "the last frame is cut off");
	kt_import_truncated(s, &error);
	return KT_FRAME_END;
}
