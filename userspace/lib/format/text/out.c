// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as lines of text (format text) or of JSON (format jsonl), one line
 * per record, the same as ktape dump and ktape dump --json print (show/).  Losses have no
 * lines; the sink counts them.
 */
#include "format/writer.h"
#include "text.h"

/* Lines need nothing before the first event, or after the last one. */
static int write_nothing(struct kt_sink *s)
{
	(void)s;
	return 0;
}

static int put_plain_text(struct kt_sink *s, const struct ktape_event *e)
{
	char *p = kt_sink_room(s, ktape_format_bound(e));

	if (!p)
		return s->error;
	return kt_sink_done(s, p + ktape_format_text(s->info, s->registry, e, p));
}

static int put_plain_json(struct kt_sink *s, const struct ktape_event *e)
{
	char *p = kt_sink_room(s, ktape_format_bound(e));

	if (!p)
		return s->error;
	return kt_sink_done(s, p + ktape_format_json(s->info, s->registry, e, p));
}

const struct kt_codec_out kt_text_out = {
	.extra = true,
	.entries = true,
	.alone = true,
	.begin = write_nothing,
	.event = put_plain_text,
	.end = write_nothing,
};

const struct kt_codec_out kt_jsonl_out = {
	.extra = true,
	.entries = true,
	.alone = true,
	.begin = write_nothing,
	.event = put_plain_json,
	.end = write_nothing,
};
