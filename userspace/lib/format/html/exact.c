// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The range of which a page has everything (option "exact"): its spans are never merged,
 * and its events are those that keep their fields.  The rest of the trace is around it,
 * with less detail.
 *
 * The range must fit into the page.  If it does not, the conversion fails, because a
 * page that says "exact" and leaves something out would be wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include "util/parse.h"

#include "internal.h"

/* Times from 31 years on are since the epoch, as in --from-time. */
#define EPOCH_FROM	1000000000000000000LL
#define SPANS_SHARE	2	/* the range may have 1/2 of the spans of a page */

static bool read_range(const char *text, struct html_exact *x)
{
	const char *dash = strchr(text, '-');
	uint64_t from, to;
	char *first;
	int err;

	if (!dash)
		return false;
	first = strndup(text, (size_t)(dash - text));
	err = first ? kt_parse_time(first, &from) : -ENOMEM;
	free(first);
	if (err || kt_parse_time(dash + 1, &to) || from >= to || to > INT64_MAX)
		return false;
	x->given = true;
	x->from = (int64_t)from;
	x->to = (int64_t)to;
	return true;
}

/**
 * html_exact_read() - read the option "exact"
 * @h: the page
 *
 * Return: 0 or -EBADMSG after kt_sink_fail().
 */
int html_exact_read(struct html *h)
{
	const char *text = kt_codec_option(&h->s->options, "exact");

	if (!text || read_range(text, &h->exact))
		return 0;
	return kt_sink_fail(h->s,
			    "html: exact=%s: give two times, the earlier one first, such as exact=1.5-2.25",
			    text);
}

/**
 * html_exact_begin() - convert the range to times of the page
 * @h: the page
 * @ts: time 0 of the page, in ticks
 */
void html_exact_begin(struct html *h, uint64_t ts)
{
	int64_t origin = h->exact.from >= EPOCH_FROM
				 ? h->origin
				 : ktape_mono_ns(h->s->info, ts);

	if (!h->exact.given)
		return;
	h->exact.from = (int64_t)((uint64_t)h->exact.from - (uint64_t)origin);
	h->exact.to = (int64_t)((uint64_t)h->exact.to - (uint64_t)origin);
}

static void fail(struct html *h, const char *what, uint64_t most, const char *key)
{
	if (!h->s->error)
		h->s->error = kt_sink_fail(
			h->s,
			"html: the range of exact= has more than %llu %s: give a shorter range, or raise %s=",
			(unsigned long long)most, what, key);
}

/* Count a span that was added.  Fail if those of the range do not fit into the page. */
void html_exact_span(struct html *h, const struct html_span *s)
{
	size_t most = h->level.most / SPANS_SHARE;

	if (html_exact_has(h, s->begin, s->begin + (int64_t)s->dur) &&
	    ++h->exact.spans > most)
		fail(h, "spans", most, "spans");
}

/* Count an event of the range.  Return: false if it does not fit into the page. */
bool html_exact_event(struct html *h)
{
	if (++h->exact.events <= h->events_most)
		return true;
	fail(h, "events", h->events_most, "events");
	return false;
}
