/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of formats, for the layers above formats (userspace/README.md).  A format must
 * not include this, because the table includes the format.
 */
#ifndef _KT_FORMATS_H
#define _KT_FORMATS_H

#include "format/format.h"
#include "show/user_event.h"

/*
 * Formats whose events are kept as user events (opcode user_event, with the fields of the
 * other tracer); NULL after the last one.
 */
extern const struct kt_user_format *const kt_user_formats[];

/*
 * formats.c.  A codec is the reader and the writer of a format.  @out: it must be writable,
 * else readable; @whole: @data is the whole input.
 */
const struct ktape_codec *kt_codec_get(const char *name, bool out,
				       struct ktape_error *error);
const struct ktape_codec *kt_codec_probe(const uint8_t *data, size_t len,
					 bool whole);

#endif /* _KT_FORMATS_H */
