/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats that are text, for the table of formats.  All are output only:
 * lines of text and of JSON (out.c), CSV (csv.c), Chrome's JSON (chrome.c), and the
 * text of ftrace (ftrace.c) and QNX traceprinter (traceprinter.c).
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
