// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finding the frames of a stream whose frames end in a flag byte. */
#include "frames.h"

/**
 * kt_frames_next() - find the next frame
 * @s: the trace
 * @flag: byte that ends a frame and does not occur inside a frame
 * @max: most bytes that a frame may have, without the flag
 * @frame: set to its first byte, valid until the input is read on
 *
 * The caller skips the frame and its flag when it is done with it.  Of a frame that is too long
 * the first @max bytes at most are already skipped; the rest comes as the next frame.  One that
 * the end of the input cuts off is skipped as a whole.
 *
 * Return: bytes of the frame without the flag, KT_FRAME_*, or another negative errno.
 */
int64_t kt_frames_next(struct kt_import *s, uint8_t flag, uint64_t max,
		       const uint8_t **frame)
{
	const uint8_t *end;
	uint64_t seen = 0;
	int64_t there;

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
	/* No flag: the frame is longer than @max, or the input ends before it is. */
	there = kt_scan_skip(s->in, kt_min(seen, max));
	if (there < 0)
		return there;
	return seen > max ? KT_FRAME_LONG : seen ? KT_FRAME_CUT : KT_FRAME_END;
}

/**
 * kt_frames_notify() - notify of a frame that is too long or cut off
 * @s: the trace
 * @len: result of kt_frames_next()
 * @offset: offset of the frame's first byte in the input
 * @max: the limit that kt_frames_next() was given
 *
 * Return: @len, but KT_FRAME_END for KT_FRAME_CUT: nothing comes after such a frame.
 */
int64_t kt_frames_notify(struct kt_import *s, int64_t len, uint64_t offset,
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
