/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The native format as the table of formats needs it: written here, read by lib/stream.  Read
 * out.c, the only file, after lib/stream/packet.h and lib/write/write.h, whose functions it calls.
 */
#ifndef _KT_FORMAT_NATIVE_H
#define _KT_FORMAT_NATIVE_H

#include "format/format.h"

extern const struct kt_codec_out kt_native_out;

#endif /* _KT_FORMAT_NATIVE_H */
