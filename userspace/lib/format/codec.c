// SPDX-License-Identifier: LGPL-2.1-or-later
/* The formats: one table. */
#include "codec.h"
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

/* The format of which one is most sure, or NULL. */
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

static bool is_known(const struct ktape_codec_option *known, const char *key)
{
	for (; known && known->key; known++) {
		if (!strcmp(known->key, key))
			return true;
	}
	return false;
}

/*
 * Take "key=value,key,..." apart.
 * Return: 0, -ENOMEM, or -EINVAL with @error filled.
 */
int kt_codec_options_parse(struct kt_codec_options *o, const char *text,
			   const struct ktape_codec_option *known,
			   const char *format, struct ktape_error *error)
{
	char *at, *part, *value;

	memset(o, 0, sizeof(*o));
	if (!text || !*text)
		return 0;
	o->text = strdup(text);
	if (!o->text)
		return -ENOMEM;
	at = o->text;
	while ((part = strsep(&at, ","))) {
		if (!*part)
			continue;
		value = strchr(part, '=');
		if (value)
			*value++ = '\0';
		if (!is_known(known, part)) {
			kt_error(error, 0, "%s has no option \"%.40s\"", format,
				 part);
			return -EINVAL;
		}
		if (o->nr == KT_CODEC_OPTIONS) {
			kt_error(error, 0, "too many options");
			return -EINVAL;
		}
		o->keys[o->nr] = part;
		o->values[o->nr++] = value ? value : "";
	}
	return 0;
}

void kt_codec_options_free(struct kt_codec_options *o)
{
	free(o->text);
	memset(o, 0, sizeof(*o));
}

/* Return: the value that was given last, or NULL. */
const char *kt_codec_option(const struct kt_codec_options *o, const char *key)
{
	for (unsigned int i = o->nr; i--;) {
		if (!strcmp(o->keys[i], key))
			return o->values[i];
	}
	return NULL;
}

/*
 * The format whose event a user event stands for, or NULL.  @name: set to its name,
 * or to "user".
 */
const struct kt_codec_in *kt_codec_of_user(uint32_t id, const char **name)
{
	*name = "user";
	for (size_t i = 0; id >= KTAPE_FORMAT_ID_FIRST &&
			   i < KT_ARRAY_SIZE(codecs); i++) {
		const struct kt_codec_in *in = codecs[i].in;

		if (!in || in->user_ids != (id & KTAPE_FORMAT_ID_MASK))
			continue;
		*name = codecs[i].name;
		return in;
	}
	return NULL;
}

/* Name of a user event that stands for one of a format's, or NULL. */
const char *kt_codec_user_name(uint32_t id)
{
	const char *format;
	const struct kt_codec_in *in = kt_codec_of_user(id, &format);

	return in && in->user_name ? in->user_name(id & ~KTAPE_FORMAT_ID_MASK)
				   : NULL;
}
