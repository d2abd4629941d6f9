/* SPDX-License-Identifier: GPL-2.0-only */
/* Serial lines, and what goes over them. */
#ifndef _KT_SERIAL_H
#define _KT_SERIAL_H

#include <stdint.h>

#define SERIAL_FRAMES	"rkh|cobs"	/* their names */

/**
 * struct serial_frame - a format whose frames resynchronise
 * @name: of the form of the frames
 * @format: which format that is
 * @options: for writing and for reading it, or NULL
 */
struct serial_frame {
	const char *name;
	const char *format;
	const char *options;
};

const struct serial_frame *serial_frame(const char *name);
int serial_open(const char *path, int flags, uint64_t baud);

#endif /* _KT_SERIAL_H */
