/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpack a whole stream of zlib; see inflate.c.  Returns the bytes in @to, or -EBADMSG. */
#ifndef _KT_INFLATE_H
#define _KT_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t kt_inflate(const uint8_t *from, size_t len, uint8_t *to, size_t room);

#endif /* _KT_INFLATE_H */
