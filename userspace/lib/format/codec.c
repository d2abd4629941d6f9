// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of formats.  It names every format, so it stands above all of them: a
 * format, and what formats share, must not call anything here.
 */
#include "codecs.h"
#include "sink.h"
#include "format/lttng/lttng.h"
#include "format/native/native.h"
#include "format/parquet/parquet.h"
#include "format/perfetto/perfetto.h"
#include "format/rkh/rkh.h"
#include "format/tband/tband.h"
#include "format/text/text.h"
#include "format/tracex/tracex.h"

static const struct ktape_codec codecs[] = {
	{ "native", "CTF 1.8 as the module writes it: a directory or a pipe form",
	  NULL, &kt_native_out },
	{ "tband", "Tonbandgeraet: COBS frames", &kt_tband_in,
	  &kt_tband_out },
	{ "rkh", "RKH trace: frames between 0x7E", &kt_rkh_in, &kt_rkh_out },
	{ "tracex", "ThreadX TraceX: .trx; in also Intel HEX and S-records",
	  &kt_tracex_in, &kt_tracex_out },
	{ "jsonl", "lines of JSON, as ktape dump --json", NULL, &kt_jsonl_out },
	{ "csv", "comma separated values, one line an event", NULL,
	  &kt_csv_out },
	{ "perfetto", "protobuf for ui.perfetto.dev and trace_processor", NULL,
	  &kt_perfetto_out },
	{ "lttng", "CTF as LTTng's kernel tracer writes it, for Trace Compass",
	  NULL, &kt_lttng_out },
	{ "parquet", "columns for DuckDB, Spark, ClickHouse and others", NULL,
	  &kt_parquet_out },
	{ "chrome", "JSON of Chrome's trace viewer", NULL, &kt_chrome_out },
	{ "text", "lines of text, as ktape dump", NULL, &kt_text_out },
	{ "ftrace", "lines of text, as /sys/kernel/tracing/trace", NULL,
	  &kt_ftrace_out },
	{ "traceprinter", "lines of text, as QNX traceprinter", NULL,
	  &kt_traceprinter_out },
};

const struct kt_user_format *const kt_user_formats[] = {
	&kt_tband_user, &kt_rkh_user, &kt_tracex_user, NULL,
};

const struct ktape_codec *ktape_codec(unsigned int i)
{
	return i < KT_ARRAY_SIZE(codecs) ? &codecs[i] : NULL;
}

const struct ktape_codec *ktape_codec_find(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(codecs); i++) {
		if (!strcmp(codecs[i].name, name))
			return &codecs[i];
	}
	return NULL;
}

bool ktape_codec_reads(const struct ktape_codec *codec)
{
	return codec->in || codec == codecs;
}

const struct ktape_codec_option *
ktape_codec_options(const struct ktape_codec *codec, bool out)
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
const struct ktape_codec *kt_codec_probe(const uint8_t *data, size_t len,
					 bool whole)
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

/* ---- what needs the table ------------------------------------------------- */

int ktape_registry_new(uint64_t hz, struct ktape_registry **registry)
{
	return kt_registry_new(hz, kt_user_formats, registry);
}

int ktape_sink_open(const struct ktape_sink_options *options,
		    struct ktape_sink **sink, struct ktape_error *error)
{
	const struct ktape_codec *c = ktape_codec_find(options->format);

	if (error)
		memset(error, 0, sizeof(*error));
	if (!c || !c->out) {
		kt_error(error, 0, "no format \"%.40s\" that could be written",
			 options->format);
		return -EINVAL;
	}
	return kt_sink_open(c->out, options, sink, error);
}
