/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape send and ktape receive: a trace over a serial line.
 *
 * In the order in which to read them:
 *	serial.c	open a line, its speed and frame format
 *	queue.c		bytes before a slow line
 *	send.c		ktape send
 *	receive.c	ktape receive
 */
#ifndef _KT_TOOL_SERIAL_H
#define _KT_TOOL_SERIAL_H

#include <stdint.h>

#include "tool/shared/opt.h"

#define SERIAL_FRAMES "rkh|cobs" /* names of the frames, for --frame */

/**
 * struct serial_frame - a frame format that resynchronises after lost bytes
 * @name: name for --frame
 * @format: ktape format that has these frames
 * @options: options of that format for writing and reading, or NULL
 *
 * rkh: the frames of RKH, a framework for state machines.  cobs: those of Tonbandgeraet
 * (format tband), with checksums.
 */
struct serial_frame {
	const char *name;
	const char *format;
	const char *options;
};

/* Return the frame format of a name, rkh for NULL; or NULL. */
const struct serial_frame *serial_frame(const char *name);

/* Return a descriptor, -EINVAL if no line has that speed (0: unchanged), or another errno. */
int serial_open(const char *path, int flags, uint64_t baud);

extern const struct kt_command command_receive;
extern const struct kt_command command_send;

#endif /* _KT_TOOL_SERIAL_H */
