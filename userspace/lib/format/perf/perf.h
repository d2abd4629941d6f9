/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf.data for the table of formats: input only. */
#ifndef _KT_FORMAT_PERF_H
#define _KT_FORMAT_PERF_H

#include "format/format.h"

extern const struct kt_codec_in kt_perf_in;

#endif /* _KT_FORMAT_PERF_H */
