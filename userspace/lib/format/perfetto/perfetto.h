/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Perfetto's protobuf trace for the table of formats: output only. */
#ifndef _KT_FORMAT_PERFETTO_H
#define _KT_FORMAT_PERFETTO_H

#include "format/format.h"

extern const struct kt_codec_out kt_perfetto_out;

#endif /* _KT_FORMAT_PERFETTO_H */
