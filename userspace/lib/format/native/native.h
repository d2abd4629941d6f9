/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The native format for the table of formats: written here, read by stream/. */
#ifndef _KT_FORMAT_NATIVE_H
#define _KT_FORMAT_NATIVE_H

#include "format/format.h"

extern const struct kt_codec_out kt_native_out;

#endif /* _KT_FORMAT_NATIVE_H */
