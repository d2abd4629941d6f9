/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TraceX for the table of formats. */
#ifndef _KT_FORMAT_TRACEX_H
#define _KT_FORMAT_TRACEX_H

#include "show/user_event.h"
#include "format/format.h"

extern const struct kt_codec_in kt_tracex_in;
extern const struct kt_codec_out kt_tracex_out;
extern const struct kt_user_format kt_tracex_user;

#endif /* _KT_FORMAT_TRACEX_H */
