/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CTF 2 metadata of the lttng format, see meta2.c. */
#ifndef _KT_LTTNG_META2_H
#define _KT_LTTNG_META2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Write CTF 2 metadata for the streams that @text, metadata of CTF 1.8, describes.  @keep: keep
 * @text in them as an attribute.  Return: 0, -EBADMSG if it cannot be parsed, or -ENOMEM.
 */
int lt_put_ctf2(FILE *f, const char *text, size_t len, bool keep);

#endif /* _KT_LTTNG_META2_H */
