/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A walk over the types of an event's class, which fields.c and fields_read.c make. */
#ifndef _KT_LTTNG_WALK_H
#define _KT_LTTNG_WALK_H

#include "fields.h"

/**
 * struct lt_walk - a walk over the types of a class
 * @c: the metadata
 * @class: the class
 * @v: values, and room for names
 * @at: place in the packet
 * @path: @v->path
 * @next: number of the next entry; with @split only of those outside of variants
 * @extra: with @split: number of the next entry inside a variant
 * @fields: entries that are no labels, at most KT_TP_FIELDS
 * @number: the last number, as it was read
 * @end: number after the last entry that each event has, of the payload or with the contexts;
 *	further fields outside of variants are left out
 * @loose: a user event with variants: its entries are numbered anew for each event
 * @inside: variants around the field
 * @split: a native event: kt_tp_bind() refers to entries by number, so those that each event has
 *	keep their numbers, and those inside variants come behind them
 * @real: contexts say the thread by its id
 * @known: they say it by that, or by its id in the name space of its process
 * @named: @known, and they say its name as well
 * @cut: names that were cut
 * @visits: types so far
 * @depth: types inside types
 */
struct lt_walk {
	struct ctf *c;
	struct lt_class *class;
	struct lt_values *v;
	struct ctf_at *at;
	char *path;
	unsigned int next;
	unsigned int extra;
	unsigned int fields;
	uint64_t number;
	unsigned int end;
	bool loose;
	unsigned int inside;
	bool split;
	bool real;
	bool known;
	bool named;
	unsigned int cut;
	unsigned int visits;
	unsigned int depth;
};

/* walk.c */

/* Append the name of a member, or an index, to the path.  Return: the path's length before. */
size_t lt_descend(struct lt_walk *w, const char *name);
size_t lt_descend_index(struct lt_walk *w, uint64_t i);

/* Check whether the elements of an array are fields of their own. */
bool lt_is_flat(const struct ctf_type *t);

/* Return enum kt_tp_type of an array that is one field. */
uint8_t lt_array_type(const struct ctf_type *t);

/*
 * Describe a field of type @t; NULL: the labels of the one before it, which get names later.
 * A name that is cut is counted in @w->cut; without memory @w->v->no_memory is set.
 */
void lt_describe_field(struct kt_tp_field *f, struct lt_walk *w,
		       const struct ctf_type *t);

/* Check whether a member of a context is a field of the event.  @use: enum lt_use. */
static inline bool lt_is_kept(uint8_t use)
{
	return use == LT_KEEP || use == LT_CLASH;
}

#endif /* _KT_LTTNG_WALK_H */
