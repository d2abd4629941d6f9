/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format rkh, the trace of the RKH framework for state machines, as the table of formats needs
 * it: input, output, and the fields of its user events.
 */
#ifndef _KT_FORMAT_RKH_H
#define _KT_FORMAT_RKH_H

#include "format/format.h"

extern const struct kt_codec_in kt_rkh_in;
extern const struct kt_codec_out kt_rkh_out;
extern const struct kt_user_format kt_rkh_user;

#endif /* _KT_FORMAT_RKH_H */
