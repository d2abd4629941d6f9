/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tonbandgeraet for the table of formats: input and output. */
#ifndef _KT_FORMAT_TBAND_H
#define _KT_FORMAT_TBAND_H

#include "format/format.h"

extern const struct kt_codec_in kt_tband_in;
extern const struct kt_codec_out kt_tband_out;
extern const struct kt_user_format kt_tband_user;

#endif /* _KT_FORMAT_TBAND_H */
