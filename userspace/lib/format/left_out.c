// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counting the fields for which another format's event has no place. */
#include "left_out.h"
#include "tracepoint.h"

/**
 * kt_left_out_find() - Find the fields that a format leaves out of an event
 * @out: filled
 * @opcode: the event
 * @holds: checks whether the format has a field
 * @arg: its first argument
 *
 * Those in the blob count as one; "full", a call's whole number, counts where 16 bits are too few.
 *
 * Return: false if they are more than KT_LEFT_OUT_MAX, or the event table has no place for one.
 */
bool kt_left_out_find(struct kt_left_out *out, unsigned int opcode,
		      kt_holds_field *holds, const void *arg)
{
	const struct ktape_event_desc *d = ktape_event_desc(opcode);

	*out = (struct kt_left_out){ 0 };
	for (unsigned int i = 0; i < d->nr_fields; i++) {
		const struct ktape_field *f = &d->fields[i];

		/* PLACE_BLOB is no field: it says that those after it are in the blob. */
		if (f->place == KTAPE_PLACE_BLOB || holds(arg, f->name))
			continue;
		/* The whole number of a system call, beside its lower 16 bits. */
		if (!strcmp(f->name, "full"))
			out->full = true;
		else if (f->place != KTAPE_PLACE_BITS && f->place != KTAPE_PLACE_ARG)
			out->blob = true;
		else if (out->nr == KT_LEFT_OUT_MAX ||
			 !kt_place_find(d, f->name, &out->places[out->nr++]))
			return false;
	}
	return true;
}

static bool is_field_kept(const void *names, const char *name)
{
	return kt_tp_is_one_of(name, names);
}

/**
 * kt_left_out_find_all() - Find the fields that a format leaves out of its events
 * @out: by opcode, zeroed; filled for the events of @held
 * @held: the fields that the format has
 * @nr: entries of @held
 *
 * Return: false as kt_left_out_find().
 */
bool kt_left_out_find_all(struct kt_left_out out[KTAPE_OPCODES],
			  const struct kt_format_fields *held, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!kt_left_out_find(&out[held[i].opcode], held[i].opcode,
				      is_field_kept, held[i].names))
			return false;
	}
	return true;
}

/* Check that a value says something: a flag that is set, a thread that is known. */
static bool has_meaning(const struct kt_place *place, uint64_t value)
{
	if (place->type == KTAPE_TYPE_BOOL)
		return value;
	return place->type != KTAPE_TYPE_TID || (int64_t)value >= 0;
}

/**
 * kt_left_out_count() - Count what is left out of an event
 * @out: from kt_left_out_find()
 * @s: the sink
 * @e: event for which kt_event_fits() holds
 */
void kt_left_out_count(const struct kt_left_out *out, struct kt_sink *s,
		       const struct ktape_event *e)
{
	uint64_t nr = (out->blob && e->blob_size) +
		      (out->full && e->dat20 & KT_CALL_LARGE);

	for (unsigned int i = 0; i < out->nr; i++)
		nr += has_meaning(&out->places[i],
				  kt_place_value(&out->places[i], e));
	if (nr)
		kt_sink_miss(s, KT_LEFT_OUT, nr);
}
