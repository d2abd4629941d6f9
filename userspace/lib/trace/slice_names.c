// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names in event rings, of all slices that were cut.
 *
 * A line of output depends on all names before its event, so also on those of slices that other
 * threads read.  Therefore names are copied when a slice is cut.  Before a thread reads a
 * slice, it adds the names of all earlier slices to its own view of the registry.  The
 * registry of the trace gets the names when no slice is read.
 */
#include "trace/slice.h"

#define NAMES_AT_LEAST 4096U
#define NAMES_EACH     64U /* of one stream in a slice, at most */

/* Prepare for names.  Return: 0 or -ENOMEM. */
int kt_names_new(struct kt_slices *sl)
{
	sl->turn = 1;
	/* The streams of a slice share a quarter of the room. */
	sl->max_names = kt_max(NAMES_AT_LEAST / 4 / sl->max, 1);
	sl->max_names = kt_min(sl->max_names, NAMES_EACH);
	/* For two slices at least. */
	sl->room_names = kt_max(sl->max * sl->max_names * 2, NAMES_AT_LEAST);
	sl->names = calloc(sl->room_names, sizeof(*sl->names));
	return sl->names ? 0 : -ENOMEM;
}

/* Check whether there is room for the names of another slice. */
bool kt_names_room(const struct kt_slices *sl)
{
	return sl->room_names - sl->nr_names >= sl->nr * sl->max_names;
}

/* Drop all names but the first @nr. */
void kt_names_cut(struct kt_slices *sl, size_t nr)
{
	while (sl->nr_names > nr)
		free(sl->names[--sl->nr_names]);
}

static int add_slice_name(struct kt_slices *sl, const struct ktape_event *e,
			  uint64_t number)
{
	const size_t args = e->nargs * 4U;
	struct kt_slice_name *name;

	name = malloc(sizeof(*name) + args + e->blob_size);
	if (!name)
		return -ENOMEM;
	name->event = *e;
	name->number = number;
	name->event.args = memcpy(name->data, e->args, args);
	if (e->blob)
		name->event.blob = memcpy(name->data + args, e->blob, e->blob_size);
	sl->names[sl->nr_names++] = name;
	return 0;
}

/* Begin reading packet @slot of a cursor, from its begin or from where the slice begins. */
static void open_slice_packet(const struct kt_cursor *c, uint64_t slot,
			      struct ktape_packet *p)
{
	const struct kt_lane_slot *at =
		kt_lane_slot(c->s->lane, (unsigned int)(slot - c->passed));

	kt_packet_begin(p, at->data, at->len, NULL, NULL);
	if (slot != c->here.slot)
		return;
	p->at = c->here.at;
	p->ts = c->here.ts;
}

/* Copy the names of one stream, which were counted.  Return: 0 or -ENOMEM. */
static int collect_of(struct kt_slices *sl, const struct kt_cursor *c)
{
	uint64_t slot = c->here.slot, nr = 0;
	struct ktape_packet packet;
	struct ktape_event e;
	const char *why;
	int err = 0;

	open_slice_packet(c, slot, &packet);
	while (!err && nr < c->names) {
		if (kt_packet_read(&packet, &e, &why) <= 0)
			open_slice_packet(c, ++slot, &packet);
		else if (e.opcode == KTAPE_EV_REGISTRY)
			err = add_slice_name(sl, &e, nr++);
	}
	return err;
}

/* The order in which the trace delivers names. */
static int by_slice_place(const void *a, const void *b)
{
	const struct kt_slice_name *x = *(struct kt_slice_name *const *)a;
	const struct kt_slice_name *y = *(struct kt_slice_name *const *)b;

	if (x->event.ts != y->event.ts)
		return x->event.ts < y->event.ts ? -1 : 1;
	if (x->event.cpu != y->event.cpu)
		return x->event.cpu < y->event.cpu ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Copy the names of the slice that was cut.  Return: 0 or -ENOMEM. */
int kt_names_collect(struct kt_slices *sl)
{
	const size_t first = sl->nr_names;
	int err = 0;

	for (size_t i = 0; i < sl->nr && !err; i++)
		if (sl->cursors[i].names)
			err = collect_of(sl, &sl->cursors[i]);
	if (err)
		kt_names_cut(sl, first);
	else if (sl->nr_names > first + 1)
		qsort(sl->names + first, sl->nr_names - first,
		      sizeof(*sl->names), by_slice_place);
	return err;
}

/*
 * Add all names to the registry of the trace, and begin again.  No slice is read.
 * Return: 0 or -ENOMEM.
 */
int kt_names_apply(struct kt_slices *sl)
{
	int err = 0;

	for (size_t i = 0; i < sl->nr_names && !err; i++)
		err = ktape_registry_add(sl->t->registry, &sl->names[i]->event);
	sl->turn += sl->nr_names != 0;
	kt_names_cut(sl, 0);
	return err;
}
