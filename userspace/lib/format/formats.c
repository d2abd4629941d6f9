// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of formats.  It names every format, so it stands above all of them: a
 * format, and what formats share, must not call anything here.
 */
#include "util/near.h"

#include "formats.h"
#include "writer.h"
#include "tracepoint.h"
#include "format/html/html.h"
#include "format/lttng/lttng.h"
#include "format/native/native.h"
#include "format/parquet/parquet.h"
#include "format/perf/perf.h"
#include "format/perfetto/perfetto.h"
#include "format/rkh/rkh.h"
#include "format/tband/tband.h"
#include "format/text/text.h"
#include "format/tracecmd/tracecmd.h"
#include "format/tracex/tracex.h"

/*
 * formats.inc is made by the Makefile from FORMATS=: KT_FORMATS is that text, and
 * KT_HAS_NAME is 1 for each folder NAME that is built, else 0.  A format that is left
 * out keeps its row, with NULL for in and out, so that messages can name it.
 */
#include "formats.inc"

#define IF(has, pointer) ((has) ? (pointer) : NULL)

/* The first row, native, can always be read, because lib/stream reads it. */
static const struct ktape_codec codecs[] = {
	{ "native", "CTF 1.8 as the module writes it: a directory or a pipe form",
	  NULL, IF(KT_HAS_NATIVE, &kt_native_out) },
	{ "tband", "Tonbandgeraet: COBS frames", IF(KT_HAS_TBAND, &kt_tband_in),
	  IF(KT_HAS_TBAND, &kt_tband_out) },
	{ "rkh", "RKH trace: frames between 0x7E", IF(KT_HAS_RKH, &kt_rkh_in),
	  IF(KT_HAS_RKH, &kt_rkh_out) },
	{ "tracex", "ThreadX TraceX: .trx; reads Intel HEX and S-records as well",
	  IF(KT_HAS_TRACEX, &kt_tracex_in), IF(KT_HAS_TRACEX, &kt_tracex_out) },
	{ "jsonl", "lines of JSON, as ktape dump --json", NULL,
	  IF(KT_HAS_TEXT, &kt_jsonl_out) },
	{ "csv", "comma separated values, a line for each event", NULL,
	  IF(KT_HAS_TEXT, &kt_csv_out) },
	{ "perfetto", "protobuf for ui.perfetto.dev and trace_processor", NULL,
	  IF(KT_HAS_PERFETTO, &kt_perfetto_out) },
	{ "html", "a page with a viewer, for any browser and without a network",
	  NULL, IF(KT_HAS_HTML, &kt_html_out) },
	{ "lttng", "CTF as LTTng's kernel tracer writes it, for Trace Compass",
	  IF(KT_HAS_LTTNG, &kt_lttng_in), IF(KT_HAS_LTTNG, &kt_lttng_out) },
	{ "tracecmd", "trace.dat of trace-cmd, from ftrace",
	  IF(KT_HAS_TRACECMD, &kt_tracecmd_in), NULL },
	{ "perf", "perf.data of perf: tracepoints",
	  IF(KT_HAS_PERF, &kt_perf_in), NULL },
	{ "parquet", "columns for DuckDB, Spark, ClickHouse and others", NULL,
	  IF(KT_HAS_PARQUET, &kt_parquet_out) },
	{ "chrome", "JSON of Chrome's trace viewer", NULL,
	  IF(KT_HAS_TEXT, &kt_chrome_out) },
	{ "text", "lines of text, as ktape dump", NULL,
	  IF(KT_HAS_TEXT, &kt_text_out) },
	{ "ftrace", "lines of text, as /sys/kernel/tracing/trace", NULL,
	  IF(KT_HAS_TEXT, &kt_ftrace_out) },
	{ "traceprinter", "lines of text, as QNX traceprinter", NULL,
	  IF(KT_HAS_TEXT, &kt_traceprinter_out) },
};

int ktape_metadata_ctf2(const char *text, size_t len, char **json, size_t *size)
{
#if KT_HAS_LTTNG
	return kt_lttng_ctf2(text, len, json, size);
#else
	(void)text;
	(void)len;
	(void)json;
	(void)size;
	return -EOPNOTSUPP;
#endif
}

const struct kt_user_format *const kt_user_formats[] = {
#if KT_HAS_TBAND
	&kt_tband_user,
#endif
#if KT_HAS_RKH
	&kt_rkh_user,
#endif
#if KT_HAS_TRACEX
	&kt_tracex_user,
#endif
	&kt_tp_user,	 NULL,
};

static bool is_built(const struct ktape_codec *codec)
{
	return ktape_codec_reads(codec) || codec->out;
}

const struct ktape_codec *ktape_codec(unsigned int i)
{
	for (size_t at = 0; at < KT_ARRAY_SIZE(codecs); at++) {
		if (is_built(&codecs[at]) && !i--)
			return &codecs[at];
	}
	return NULL;
}

const struct ktape_codec *ktape_codec_find(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(codecs); i++) {
		if (!strcmp(codecs[i].name, name))
			return is_built(&codecs[i]) ? &codecs[i] : NULL;
	}
	return NULL;
}

/* Return true if the table has a format of this name, built in or not. */
static bool is_format_known(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(codecs); i++) {
		if (!strcmp(codecs[i].name, name))
			return true;
	}
	return false;
}

static void report_format_unknown(const char *name, struct ktape_error *error)
{
	struct kt_near n = { .word = name, .len = strlen(name) };
	const struct ktape_codec *c;

	for (unsigned int i = 0; (c = ktape_codec(i)); i++)
		kt_near_try(&n, c->name);
	if (n.best)
		kt_error(error, 0,
			 "unknown format \"%.40s\": did you mean \"%s\"? (`ktape convert --list` shows the formats)",
			 name, n.best);
	else
		kt_error(error, 0,
			 "unknown format \"%.40s\" (`ktape convert --list` shows the formats)",
			 name);
}

/**
 * kt_codec_get() - find the format that the user named
 * @name: name of the format
 * @out: the format must be writable, else readable
 * @error: filled if there is no such format; may be NULL
 *
 * Return: the format, or NULL.
 */
const struct ktape_codec *kt_codec_get(const char *name, bool out,
				       struct ktape_error *error)
{
	const struct ktape_codec *c = ktape_codec_find(name);

	if (c && (out ? !!c->out : ktape_codec_reads(c)))
		return c;
	/*
	 * A format that was found has the other direction.  So has native, but ktape reads it
	 * even where its writer is left out: then it is the writer that is not built in.
	 */
	if (c && (!out || KT_HAS_NATIVE || c != codecs))
		kt_error(error, 0, "format %s can only be %s", name,
			 out ? "read" : "written");
	else if (is_format_known(name))
		kt_error(error, 0, "format %s is not built in (FORMATS=%s)",
			 name, KT_FORMATS);
	else
		report_format_unknown(name, error);
	return NULL;
}

bool ktape_codec_reads(const struct ktape_codec *codec)
{
	return codec->in || codec == codecs;
}

const struct ktape_codec_option *ktape_codec_options(const struct ktape_codec *codec,
						     bool out)
{
	if (out)
		return codec->out ? codec->out->options : NULL;
	return codec->in ? codec->in->options : NULL;
}

/**
 * kt_codec_probe() - find the format that an input most probably has
 * @data: first bytes of the input
 * @len: how many, up to KT_CODEC_PROBE
 * @whole: @data is the whole input
 *
 * Return: the format, or NULL if no format recognises the input.
 */
const struct ktape_codec *kt_codec_probe(const uint8_t *data, size_t len, bool whole)
{
	const struct ktape_codec *best = NULL;
	int most = 0;

	for (size_t i = 0; i < KT_ARRAY_SIZE(codecs); i++) {
		const struct kt_codec_in *in = codecs[i].in;
		int sure = in && in->probe ? in->probe(data, len, whole) : 0;

		if (sure <= most)
			continue;
		most = sure;
		best = &codecs[i];
	}
	return best;
}

/* ---- public functions that need the table --------------------------------- */

int ktape_registry_new(uint64_t hz, struct ktape_registry **registry)
{
	return kt_registry_new(hz, kt_user_formats, registry);
}

int ktape_sink_open(const struct ktape_sink_options *options,
		    struct ktape_sink **sink, struct ktape_error *error)
{
	const struct ktape_codec *c;

	if (error)
		memset(error, 0, sizeof(*error));
	c = kt_codec_get(options->format, true, error);
	return c ? kt_sink_open(c->out, options, sink, error) : -EINVAL;
}
