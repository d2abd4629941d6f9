/* SPDX-License-Identifier: GPL-2.0-only */
/* Serial lines, and the frames that ktape send and receive use on them. */
#ifndef _KT_SERIAL_H
#define _KT_SERIAL_H

#include <stdint.h>

#define SERIAL_FRAMES	"rkh|cobs"	/* names of the frames, for --frame */

/**
 * struct serial_frame - a frame format that resynchronises after lost bytes
 * @name: name for --frame
 * @format: ktape format that has these frames
 * @options: options of that format for writing and reading, or NULL
 */
struct serial_frame {
	const char *name;
	const char *format;
	const char *options;
};

const struct serial_frame *serial_frame(const char *name);
int serial_open(const char *path, int flags, uint64_t baud);

#endif /* _KT_SERIAL_H */
