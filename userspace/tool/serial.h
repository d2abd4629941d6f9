/* SPDX-License-Identifier: GPL-2.0-only */
/* Serial lines. */
#ifndef _KT_SERIAL_H
#define _KT_SERIAL_H

#include <stdint.h>

#define SERIAL_FRAME	"rkh"	/* the format whose frames resynchronise */

int serial_open(const char *path, int flags, uint64_t baud);

#endif /* _KT_SERIAL_H */
