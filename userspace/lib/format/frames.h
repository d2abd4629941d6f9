/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of a stream that end in a flag byte, which does not occur inside a frame (RKH
 * trace, Tonbandgeraet).  What is in a frame is the format's own concern.
 */
#ifndef _KT_FRAMES_H
#define _KT_FRAMES_H

#include "reader.h"

/* Results beside negative errnos: no errno is that large. */
enum {
	KT_FRAME_END = -1000,  /* no more frames: the input has ended */
	KT_FRAME_LONG = -1001, /* longer than allowed: part of it was skipped */
	KT_FRAME_CUT = -1002   /* the input ends inside the frame */
};

/*
 * kt_frames_next() returns the length of the next frame, which stays in the input: the caller skips
 * it and its flag.  kt_frames_notify() reports a frame that is too long or cut off.
 */
int64_t kt_frames_next(struct kt_import *s, uint8_t flag, uint64_t max,
		       const uint8_t **frame);
int64_t kt_frames_notify(struct kt_import *s, int64_t len, uint64_t offset,
			 uint64_t max);

#endif /* _KT_FRAMES_H */
