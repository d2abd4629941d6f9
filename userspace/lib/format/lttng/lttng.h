/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format lttng, the trace of LTTng's kernel tracer (CTF), as the table of formats needs it; and
 * CTF 2 metadata for native traces (meta2.c).
 */
#ifndef _KT_FORMAT_LTTNG_H
#define _KT_FORMAT_LTTNG_H

#include "format/format.h"

extern const struct kt_codec_in kt_lttng_in;
extern const struct kt_codec_out kt_lttng_out;

/*
 * Make CTF 2 metadata of @text, those of CTF 1.8; the caller frees @json.
 * Return: 0, -EBADMSG if @text cannot be parsed, or -ENOMEM.
 */
int kt_lttng_ctf2(const char *text, size_t len, char **json, size_t *size);

#endif /* _KT_FORMAT_LTTNG_H */
