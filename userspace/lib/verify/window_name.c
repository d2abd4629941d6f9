// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * After the trials of a window, each of which has checked the events of one CPU: the events that
 * give names, or refer to a number for the first time, in the order of all CPUs.  They are few.
 * Each goes through the function that checks one event after the other, which may report it.
 */
#include "verify/window.h"

static int by_name_time(const void *a, const void *b)
{
	const struct kt_item *x = *(const struct kt_item *const *)a;
	const struct kt_item *y = *(const struct kt_item *const *)b;

	if (x->event.ts != y->event.ts)
		return x->event.ts < y->event.ts ? -1 : 1;
	if (x->event.cpu != y->event.cpu)
		return x->event.cpu < y->event.cpu ? -1 : 1;
	return (x > y) - (x < y);
}

/* Check an item.  A finding gets the place of the current stream, so that is the item's. */
static void check_item(struct ktape_verify *v, const struct kt_item *item)
{
	const struct ktape_event *e = &item->event;
	struct kt_stream place = {
		.kind = e->kind,
		.cpu = e->cpu,
		.seq = item->seq,
		.offset = item->offset,
	};

	v->trace->current = &place;
	v->event = e;
	if (item->kind == KT_ITEM_MENTION)
		kt_name_check(v, item->type, item->id, e->ts);
	else
		kt_name_match(v, e);
	v->event = NULL;
	v->trace->current = NULL;
}

/* Take the items of all trials.  Return: 0 or negative errno. */
int kt_items_apply(struct kt_windows *w)
{
	struct ktape_verify *v = w->v;
	const struct kt_item **list;
	size_t nr = 0;
	int err = 0;

	for (unsigned int i = 0; i < w->nr; i++)
		nr += w->trials[i]->nr_items;
	if (!nr)
		return 0;
	list = kt_windows_scratch(w, nr * sizeof(*list));
	if (!list)
		return -ENOMEM;
	nr = 0;
	for (unsigned int i = 0; i < w->nr; i++)
		for (size_t j = 0; j < w->trials[i]->nr_items; j++)
			list[nr++] = &w->trials[i]->items[j];
	qsort(list, nr, sizeof(*list), by_name_time);
	for (size_t i = 0; i < nr && !err; i++) {
		if (list[i]->kind == KT_ITEM_NAME)
			err = ktape_registry_add(v->trace->registry,
						 &list[i]->event);
		else
			check_item(v, list[i]);
		if (!err)
			err = v->failed;
	}
	return err;
}
