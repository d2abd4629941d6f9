/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page with a viewer for the table of formats: output only. */
#ifndef _KT_FORMAT_HTML_H
#define _KT_FORMAT_HTML_H

#include "format/format.h"

extern const struct kt_codec_out kt_html_out;

#endif /* _KT_FORMAT_HTML_H */
