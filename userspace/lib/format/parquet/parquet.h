/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Apache Parquet for the table of formats: output only. */
#ifndef _KT_FORMAT_PARQUET_H
#define _KT_FORMAT_PARQUET_H

#include "format/format.h"

extern const struct kt_codec_out kt_parquet_out;

#endif /* _KT_FORMAT_PARQUET_H */
