/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format html, a page with a viewer in it, as the table of formats needs it: output only. */
#ifndef _KT_FORMAT_HTML_H
#define _KT_FORMAT_HTML_H

#include "format/format.h"

extern const struct kt_codec_out kt_html_out;

#endif /* _KT_FORMAT_HTML_H */
