/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format tracecmd, trace.dat of trace-cmd, as the table of formats needs it: input only. */
#ifndef _KT_FORMAT_TRACECMD_H
#define _KT_FORMAT_TRACECMD_H

#include "format/format.h"

extern const struct kt_codec_in kt_tracecmd_in;

#endif /* _KT_FORMAT_TRACECMD_H */
