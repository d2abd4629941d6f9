// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What threads are called when: a program gives its thread another name, and thread ids
 * are used again.  The page has each name of a thread with the moment, and with the event,
 * from which on the registry has it, so that it says of an event what ktape dump says.
 */
#include "internal.h"

#define CHUNK 8192U /* names in a block */

/*
 * Put the name that a thread has from @begin and from the next event on.  @name: number of the
 * string + 1, 0 = none.
 */
static void put_called_name(struct html *h, int32_t tid, int64_t begin, uint32_t name)
{
	struct html_bytes *b = &h->called;

	html_signed(h, b, tid);
	html_number(h, b, h->events - h->called_event);
	html_signed(h, b, html_since(h->called_time, begin));
	html_number(h, b, name);
	h->called_event = h->events;
	h->called_time = begin;
	if (++h->nr_called == CHUNK)
		html_called_flush(h);
}

/**
 * html_note_name() - note what a thread is called at an event
 * @h: the page
 * @l: the event
 * @tid: the thread
 * @now: time of the event
 */
void html_note_name(struct html *h, const struct kt_line *l, int32_t tid, int64_t now)
{
	const struct ktape_object_info *o;
	struct html_thread *t = html_thread(h, tid);
	uint64_t ts = l->event->ts, from, lasts;
	uint32_t name;

	/*
	 * The registry has learned no name since it was last asked (turn counts its names), and
	 * the answer holds for this time, too: nothing is new.
	 */
	if (!t || (t->called_turn == l->memo->turn &&
		   ts - t->called_from <= t->called_lasts))
		return;
	o = ktape_registry_thread(l->registry, tid, ts);
	name = o ? html_string(h, o->name, o->name_len) + 1 : 0;
	kt_registry_lasts(l->registry, tid, ts, &from, &lasts);
	if (!t->called_turn || name != t->called) {
		/* It has the name since @from, unless the name before held longer. */
		if (t->called_turn && from > t->called_from + t->called_lasts)
			now = html_earlier(now, html_time(h, from));
		put_called_name(h, tid, now, name);
	}
	t->called = name;
	t->called_turn = l->memo->turn;
	t->called_from = from;
	t->called_lasts = lasts;
}

/**
 * html_called_flush() - write the names that are new
 * @h: the page
 *
 * Return: 0 or negative errno.
 */
int html_called_flush(struct html *h)
{
	int err = 0;

	if (h->nr_called)
		err = html_block(h, "called", NULL, h->nr_called, &h->called);
	h->called.len = 0;
	h->nr_called = 0;
	h->called_event = 0;
	h->called_time = 0;
	return err;
}
