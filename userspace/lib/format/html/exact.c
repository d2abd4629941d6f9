// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The range of which a page has everything (option "exact"): its spans are never merged,
 * and its events are those that keep their fields.  The rest of the trace is around it,
 * with less detail.
 *
 * The range must be in what is converted, and fit into the page.  If it does not, the
 * conversion fails, because a page that says "exact" and leaves something out would be
 * wrong.  Of a range that begins before the first event, or ends after the last one, the
 * page says the part that it has.
 */
#include <stdio.h>
#include <stdlib.h>

#include "util/nanoseconds.h"
#include "util/parse.h"

#include "internal.h"

/* Times from 31 years on are since the epoch, as in --from-time. */
#define EPOCH_FROM  1000000000000000000LL
#define SPANS_SHARE 2 /* the range may have 1/2 of the spans of a page */

/* Read a time, of the epoch behind "@" or if it is large.  Return: false if it is none. */
static bool read_time(const char *text, int64_t *ns, bool *epoch)
{
	bool at = *text == '@';
	uint64_t value;

	if (kt_parse_time(text + at, &value) || value > INT64_MAX)
		return false;
	*ns = (int64_t)value;
	*epoch = at || *ns >= EPOCH_FROM;
	return true;
}

static bool read_range(const char *text, struct html_exact *x)
{
	const char *dash = strchr(text, '-');
	char *first = dash ? strndup(text, (size_t)(dash - text)) : NULL;
	bool read = first && read_time(first, &x->from, &x->from_epoch) &&
		    read_time(dash + 1, &x->to, &x->to_epoch);

	free(first);
	/* Times of two clocks are compared once the trace has shown what they are. */
	x->given = read && (x->from_epoch != x->to_epoch || x->from < x->to);
	return x->given;
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
	return kt_sink_fail(
		h->s,
		"html: exact=%s: give two times, the earlier one first, such as exact=1.5-2.25",
		text);
}

/* Convert a time of a clock to one of the page; what does not fit 64 bits becomes the nearest. */
static int64_t page_time(int64_t ns, int64_t origin)
{
	int64_t t;

	if (__builtin_sub_overflow(ns, origin, &t))
		return origin < 0 ? INT64_MAX : INT64_MIN;
	return t;
}

/**
 * html_exact_begin() - convert the range to times of the page
 * @h: the page, whose time 0 is known
 */
void html_exact_begin(struct html *h)
{
	int64_t mono = html_mono_origin(h);
	struct html_exact *x = &h->exact;

	if (!x->given)
		return;
	x->from = page_time(x->from, x->from_epoch ? h->origin : mono);
	x->to = page_time(x->to, x->to_epoch ? h->origin : mono);
}

/**
 * html_exact_end() - limit the range to the time that the page has
 * @h: the page, all of whose events were added
 *
 * Return: 0, or -EBADMSG after kt_sink_fail(): the page has no such time.
 */
int html_exact_end(struct html *h)
{
	int64_t last = h->last > h->lost_to ? h->last : h->lost_to;
	struct html_exact *x = &h->exact;

	if (!x->given)
		return 0;
	if (!h->begun)
		return kt_sink_fail(h->s, "html: exact=: the input has no events");
	if (x->from >= x->to)
		return kt_sink_fail(
			h->s,
			"html: exact=: the second time has to be later than the first");
	if (x->to < 0 || x->from > last)
		return kt_sink_fail(
			h->s,
			"html: exact=: nothing is converted of that time: the output has %lld.%09lld s, and the range %s",
			(long long)(last / NS_PER_S), (long long)(last % NS_PER_S),
			x->to < 0 ? "ends before them" : "begins after them");
	x->from = x->from > 0 ? x->from : 0;
	x->to = x->to < last ? x->to : last;
	return 0;
}

static void fail_exact(struct html *h, const char *what, uint64_t most,
		       const char *key)
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

	if (html_exact_has(h, s->begin, html_until(s->begin, s->dur)) &&
	    ++h->exact.spans > most)
		fail_exact(h, "spans", most, "spans");
}

/* Fail: spans that cannot be merged have filled the page, and one of the range came. */
void html_exact_full(struct html *h)
{
	if (!h->s->error)
		h->s->error = kt_sink_fail(
			h->s,
			"html: more than %llu spans cannot be merged, and those of exact= do not fit beside them: raise spans=",
			(unsigned long long)h->level.most);
}

/* Count an event of the range.  Return: false, after failing, if it does not fit into the page. */
bool html_exact_event(struct html *h)
{
	if (++h->exact.events <= h->events_most)
		return true;
	fail_exact(h, "events", h->events_most, "events");
	return false;
}
