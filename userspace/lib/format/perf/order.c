// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records in the order of time: see struct pd_order. */
#include "internal.h"

#define HELD_MAX (192U << 20) /* bytes that wait for the end of a round */

static int by_record_time(const void *a, const void *b)
{
	const struct pd_item *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* Return whether pd_order_take() has a record. */
bool pd_order_has(const struct pd_order *o)
{
	return o->next < o->ready;
}

/* Sort records, unless they are sorted: most come so, and many may have no time at all. */
static void sort_order(struct pd_item *items, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (by_record_time(&items[i - 1], &items[i]) > 0) {
			qsort(items, nr, sizeof(*items), by_record_time);
			return;
		}
	}
}

/* Make room for one more record, of @len bytes.  Return: 0 or -ENOMEM. */
static int make_perf_room(struct pd_order *o, size_t len)
{
	struct pd_item *items;
	uint8_t *bytes;
	size_t cap = o->cap ? o->cap : 1U << 20;

	if (o->nr_items == o->room) {
		items = realloc(o->items, (o->room * 2 + 64) * sizeof(*items));
		if (!items)
			return -ENOMEM;
		o->items = items;
		o->room = o->room * 2 + 64;
	}
	while (cap - o->len < len)
		cap *= 2;
	if (cap == o->cap)
		return 0;
	bytes = realloc(o->bytes, cap);
	if (!bytes)
		return -ENOMEM;
	o->bytes = bytes;
	o->cap = cap;
	return 0;
}

/**
 * pd_order_add() - let a record wait
 * @o: the queue
 * @ts: its time
 * @data: the record
 * @len: bytes of @data, a multiple of 8
 * @offset: of the record in the file
 *
 * Return: 0 or -ENOMEM.
 */
int pd_order_add(struct pd_order *o, uint64_t ts, const void *data, size_t len,
		 uint64_t offset)
{
	int err = make_perf_room(o, len);

	if (err)
		return err;
	memcpy(o->bytes + o->len, data, len);
	o->items[o->nr_items++] = (struct pd_item){
		ts,
		o->counter++,
		o->len,
		offset,
	};
	o->len += len;
	o->latest = kt_max(o->latest, ts);
	o->late += ts && ts < o->frontier; /* 0: it has no time */
	/*
	 * A file without rounds: let go of what waits, and count earlier records that follow as
	 * late.  Once is enough: the reader takes what is ready before it reads on.
	 */
	if (!pd_order_has(o) && o->len + o->nr_items * sizeof(*o->items) > HELD_MAX)
		pd_order_round(o, true);
	return 0;
}

/**
 * pd_order_round() - a round ends
 * @o: the queue
 * @all: make all ready; else those up to the latest time of the round before
 */
void pd_order_round(struct pd_order *o, bool all)
{
	uint64_t until = all ? UINT64_MAX : o->complete;

	/* Records before @ready are sorted, and no earlier one comes. */
	if (o->nr_items > o->ready)
		sort_order(o->items + o->ready, o->nr_items - o->ready);
	while (o->ready < o->nr_items && o->items[o->ready].ts <= until)
		o->ready++;
	if (o->ready > o->next)
		o->frontier = kt_max(o->frontier, o->items[o->ready - 1].ts);
	o->complete = o->latest;
}

/* Move what waits to the beginning, once half of the records were delivered. */
static void compact_order(struct pd_order *o)
{
	size_t left = o->nr_items - o->next, at = 0;

	if (o->next < o->nr_items / 2 || !o->next)
		return;
	memmove(o->items, o->items + o->next, left * sizeof(*o->items));
	o->nr_items = left;
	o->ready -= o->next;
	o->next = 0;
	if (!left) {
		o->len = 0;
		return;
	}
	/* Bytes are in the order of the file: drop those before the first that waits. */
	at = o->len;
	for (size_t i = 0; i < left; i++)
		at = kt_min(at, o->items[i].at);
	memmove(o->bytes, o->bytes + at, o->len - at);
	o->len -= at;
	for (size_t i = 0; i < left; i++)
		o->items[i].at -= at;
}

/**
 * pd_order_take() - return the next record that is complete
 * @o: the queue
 * @offset: set to its offset in the file
 *
 * Return: the record, valid until this or pd_order_add() is called; NULL if none is complete.
 */
const uint8_t *pd_order_take(struct pd_order *o, uint64_t *offset)
{
	const struct pd_item *i;

	if (o->next == o->ready) {
		compact_order(o);
		return NULL;
	}
	i = &o->items[o->next++];
	o->delivered = i->ts;
	*offset = i->offset;
	return o->bytes + i->at;
}

void pd_order_free(struct pd_order *o)
{
	free(o->items);
	free(o->bytes);
}
