/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that end in a byte which is nowhere within them. */
#ifndef _KT_FRAMES_H
#define _KT_FRAMES_H

#include "import.h"

enum {
	KT_FRAME_END = -1000,	/* there is none */
	KT_FRAME_LONG = -1001,	/* it was too long, a part of it was left out */
	KT_FRAME_CUT = -1002	/* the input ends in it */
};

int64_t kt_frames_next(struct kt_import *s, uint8_t flag, uint64_t max,
		       const uint8_t **frame);
int64_t kt_frames_tell(struct kt_import *s, int64_t len, uint64_t offset,
		       uint64_t max);

#endif /* _KT_FRAMES_H */
