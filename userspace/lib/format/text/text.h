/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats that are text, for the table of formats.  All are output only.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	out.c		lines of text and of JSON, as ktape dump prints them
 *	csv.c		comma separated values
 *	chrome.c	JSON for Chrome's trace viewer
 *	layout.h, layout.c	texts with fields in braces
 *	ftrace.c	the text of ftrace, from such texts
 *	traceprinter.c	the text of QNX traceprinter, likewise
 */
#ifndef _KT_FORMAT_TEXT_H
#define _KT_FORMAT_TEXT_H

#include "format/format.h"

extern const struct kt_codec_out kt_chrome_out;
extern const struct kt_codec_out kt_csv_out;
extern const struct kt_codec_out kt_ftrace_out;
extern const struct kt_codec_out kt_jsonl_out;
extern const struct kt_codec_out kt_text_out;
extern const struct kt_codec_out kt_traceprinter_out;

#endif /* _KT_FORMAT_TEXT_H */
