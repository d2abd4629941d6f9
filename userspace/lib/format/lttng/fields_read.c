// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the fields of a CTF event as fields.c has declared those of its class, in the same order.
 *
 * What a variant has differs from event to event, so events of a class with one (@class->varies)
 * get the names of their fields here, too.  A user event then numbers all its fields anew
 * (lt_walk.loose).  An event that ktape has (lt_walk.split) keeps the numbers of the fields that
 * all events of the class have, because kt_tp_bind() has noted these; fields inside variants get
 * numbers behind them (lt_walk.extra).
 *
 * Data that have to be converted or copied, such as arrays of numbers and labels, go into a room
 * (lt_values.room), which moves when it grows.  So their offset there is noted (@at), and
 * place_values() makes pointers of the offsets when all fields were read.
 */
#include "walk.h"

static bool take_field(struct lt_walk *w, const struct ctf_type *t);

/*
 * Return the number of the next field, or -1 if it is left out: @w->end fields were declared, and
 * an event has at most KT_TP_FIELDS.  @t: its type, NULL for the label of the field before it: if
 * that is kept, there is room for the label.
 * What is left out is counted; a field of an event that varies is described.
 */
static int next_field(struct lt_walk *w, const struct ctf_type *t)
{
	bool extra = w->inside && w->split, own = extra || w->loose;
	unsigned int *next = extra ? &w->extra : &w->next;
	unsigned int i = *next;

	if (t && (own ? w->fields == KT_TP_FIELDS : i >= w->end)) {
		w->v->left_of = w->v->left++ ? w->v->left_of : w->class->tp.name;
		return -1;
	}
	(*next)++;
	w->fields += own && t;
	if (w->class->varies)
		lt_describe_field(&w->v->fields[i], w, t);
	return (int)i;
}

static bool read_array(struct lt_walk *w, const struct ctf_type *t,
		       struct kt_tp_value *value)
{
	uint8_t type = lt_array_type(t);
	uint64_t count;

	if (!lt_is_plain(t->element))
		return lt_read_text(w->v, w->c, w->at, t, false);
	if (!ctf_elements(w->at, t, &count))
		return false;
	if (type == KT_TP_ARRAY)
		return lt_read_numbers(w->v, w->at, t->element, count);
	return lt_read_bytes(w->v, w->at, t->element, count, value);
}

static bool read_simple(struct lt_walk *w, const struct ctf_type *t,
			struct kt_tp_value *value)
{
	struct ctf_value one;

	if (!ctf_read(w->at, t, &one))
		return false;
	/* What an event of the kernel means by its number does not depend on the base. */
	w->number = one.number;
	value->number = w->split && t->hex ? one.number : lt_number(t, one.number);
	value->data = one.data;
	value->len = one.len;
	return true;
}

/* Keep the value of a field.  @kept: it is in the room from @from on, unless it has data. */
static void keep_field(struct lt_walk *w, int i, struct kt_tp_value *value,
		       bool kept, size_t from)
{
	if (i < 0) {
		w->v->used = from;
		return;
	}
	kept = kept && !value->data;
	w->v->at[i] = kept ? from : SIZE_MAX;
	if (kept)
		value->len = w->v->used - from;
	w->v->list[i] = *value;
}

/* Find the labels of the field that was read, which begins at @bit. */
static bool take_label(struct lt_walk *w, const struct ctf_type *t, uint64_t bit)
{
	struct kt_tp_value value = { .number = 0 };
	const size_t from = w->v->used;
	const uint64_t end = w->at->bit;
	int i = next_field(w, NULL);

	if (lt_is_plain(t)) {
		if (!lt_read_label(w->v, t, w->number, &value))
			return false;
	} else {
		w->at->bit = bit;
		if (!lt_read_text(w->v, w->c, w->at, t, true))
			return false;
		w->at->bit = end;
	}
	keep_field(w, i, &value, w->v->used > from, from);
	return true;
}

/* Read a field that is no structure or variant. */
static bool take_leaf(struct lt_walk *w, const struct ctf_type *t)
{
	bool single = t->kind == CTF_STRING || lt_is_plain(t);
	struct kt_tp_value value = { .number = 0 };
	const size_t from = w->v->used;
	const uint64_t bit = w->at->bit;
	int i = next_field(w, t);

	if (!(single ? read_simple(w, t, &value) : read_array(w, t, &value)))
		return false;
	keep_field(w, i, &value, !single, from);
	return i < 0 || !lt_has_labels(t) || take_label(w, t, bit);
}

static bool take_ctf_option(struct lt_walk *w, const struct ctf_type *t)
{
	const struct ctf_type *option;
	bool ok;

	if (!ctf_option(w->at, t, &option))
		return false;
	if (!option)
		return true;
	w->inside++;
	ok = take_field(w, option);
	w->inside--;
	return ok;
}

static bool take_members(struct lt_walk *w, const struct ctf_type *t)
{
	bool ok = ctf_align(w->at, t->align);

	for (unsigned int i = 0; i < t->nr_members && ok; i++) {
		const struct ctf_member *m = &t->members[i];
		size_t len = 0;

		if (w->class->varies)
			len = lt_descend(w, lt_name(w->c, m->name));
		w->at->name = m->name;
		ok = take_field(w, m->type);
		w->path[len] = '\0';
	}
	return ok;
}

static bool take_flat(struct lt_walk *w, const struct ctf_type *t)
{
	uint64_t count;
	bool ok = ctf_elements(w->at, t, &count);

	for (uint64_t i = 0; i < count && ok; i++) {
		size_t len = w->class->varies ? lt_descend_index(w, i) : 0;

		w->at->name = NULL;
		ok = take_field(w, t->element);
		w->path[len] = '\0';
	}
	return ok;
}

/* Read a field of any type. */
static bool take_field(struct lt_walk *w, const struct ctf_type *t)
{
	uint64_t before = w->at->bit;
	bool ok;

	if (w->at->depth == CTF_DEPTH)
		return ctf_fail(w->at, "the types are nested too deep");
	w->at->depth++;
	if (t->kind == CTF_STRUCT)
		ok = take_members(w, t);
	else if (t->kind == CTF_VARIANT)
		ok = take_ctf_option(w, t);
	else if (t->kind == CTF_ARRAY && !lt_is_plain(t->element) && lt_is_flat(t))
		ok = take_flat(w, t);
	else
		ok = take_leaf(w, t);
	w->at->depth--;
	if (ok && w->at->bit == before && ++w->at->empty > CTF_EMPTY)
		return ctf_fail(w->at, "an event has too many fields without bits");
	return ok;
}

/*
 * Read a member of a context that says the thread.  Its id needs nothing here: lt_event_next() has
 * read it by its role.
 */
static bool take_ctf_thread(struct lt_walk *w, const struct ctf_type *t, uint8_t use)
{
	struct ctf_value one;

	if (!ctf_read(w->at, t, &one))
		return false;
	if (use == LT_PROCESS)
		w->v->process = (int32_t)one.number;
	if (use == LT_NAME && one.data) {
		w->v->name = one.data;
		w->v->name_len = strnlen((const char *)one.data, one.len);
	}
	return true;
}

static bool take_context(struct lt_walk *w, const struct lt_context *x)
{
	const struct ctf_type *t = x->type;
	bool ok = !t || ctf_align(w->at, t->align);

	for (unsigned int i = 0; t && i < t->nr_members && ok; i++) {
		const struct ctf_member *m = &t->members[i];

		w->at->name = m->name;
		if (!lt_is_kept(x->use[i])) {
			ok = take_ctf_thread(w, m->type, x->use[i]);
			continue;
		}
		if (x->use[i] == LT_CLASH)
			lt_descend(w, "context");
		lt_descend(w, lt_name(w->c, m->name));
		ok = take_field(w, m->type);
		w->path[0] = '\0';
	}
	return ok;
}

/* Point values into the room, which does not move any more, and end texts at their first NUL. */
static void place_values(struct lt_values *v, const struct kt_tp_class *tp)
{
	for (unsigned int i = 0; i < tp->nr; i++) {
		struct kt_tp_value *value = &v->list[i];

		if (v->at[i] != SIZE_MAX)
			value->data = v->room ? v->room + v->at[i] : NULL;
		if (!value->data)
			value->len = 0;
		if (tp->fields[i].type == KT_TP_TEXT && !value->data)
			value->data = "";
		if (tp->fields[i].type == KT_TP_TEXT)
			value->len = strnlen(value->data, value->len);
	}
}

/**
 * lt_values_read() - read the fields of the event at the head of a file
 * @v: filled
 * @c: the metadata
 * @class: class of the event; @class->tp has the fields of this event after it
 * @s: the file; advanced to the end of the event
 *
 * Return: false if the event is damaged, which @s->at.why says, or with @v->no_memory set.
 */
bool lt_values_read(struct lt_values *v, const struct ctf *c,
		    struct lt_class *class, struct lt_stream *s)
{
	struct lt_walk w = {
		.c = (struct ctf *)c,
		.class = class,
		.v = v,
		.at = &s->at,
		.path = v->path,
		.extra = class->nr_fixed,
		.fields = class->nr_fields,
		.split = class->tp.what != KT_TP_USER,
	};
	uint64_t end;

	v->used = 0;
	v->process = 0;
	v->name = NULL;
	v->path[0] = '\0';
	if (class->varies) {
		kt_texts_clear(&v->names);
		memcpy(v->fields, class->fixed,
		       class->nr_fixed * sizeof(*v->fields));
	}
	/* A field that this event turns out not to have is empty, not that of the last event. */
	for (unsigned int i = 0; class->varies && i < class->nr_fixed; i++) {
		v->list[i] = (struct kt_tp_value){ .number = 0 };
		v->at[i] = SIZE_MAX;
	}
	w.loose = class->varies && !w.split;
	if (w.loose)
		w.fields = 0;
	w.end = class->nr_own;
	if (s->event->fields && !take_field(&w, s->event->fields))
		return false;
	/* The contexts stand before the fields in the file, and are declared behind them. */
	end = s->at.bit;
	s->at.bit = s->context_bit;
	w.end = class->nr_fixed;
	if (!take_context(&w, &class->contexts[0]) ||
	    !take_context(&w, &class->contexts[1]))
		return false;
	s->at.bit = end;
	/* Count names that were cut inside variants; of a class, the most that an event had. */
	if (class->varies && w.cut > class->cut) {
		v->cut_fields += w.cut - class->cut;
		class->cut = w.cut;
	}
	if (class->varies) {
		class->tp.fields = v->fields;
		class->tp.renamed = false;
		class->tp.names = &v->names;
		class->tp.nr = w.loose ? w.next : w.extra;
		if (v->no_memory ||
		    kt_tp_name_labels(&v->names, v->fields, class->tp.nr)) {
			v->no_memory = true;
			return false;
		}
	}
	/* Of versions of LTTng that did not count this one from there. */
	if (class->prio >= 0)
		v->list[class->prio].number -= KT_TP_RT_PRIO;
	place_values(v, &class->tp);
	return true;
}

/* Report at the end of the trace what was left out. */
void lt_values_report(struct lt_values *v, struct kt_import *in)
{
	if (v->labels)
		kt_import_note(in, "%llu values of enumerations have more labels than the %u that are kept",
			       (unsigned long long)v->labels, CTF_LABELS);
	if (v->left)
		kt_import_note(
			in, "%llu fields were left out, the first of event %s: an event keeps %u of them",
			(unsigned long long)v->left, v->left_of, KT_TP_FIELDS);
	if (v->elements)
		kt_import_note(in, "%llu elements of arrays were left out: an array keeps %u KiB, an event %u",
			       (unsigned long long)v->elements,
			       LT_VALUE_MAX >> 10, LT_EVENT_MAX >> 10);
	if (v->texts)
		kt_import_note(in, "%llu arrays of structures or texts, or labels, were cut: one keeps %u KiB of text, an event %u",
			       (unsigned long long)v->texts, LT_VALUE_MAX >> 10,
			       LT_EVENT_MAX >> 10);
	if (v->cut_events)
		kt_import_note(in, "%llu names of events have more than %u bytes and are cut",
			       (unsigned long long)v->cut_events, KT_TP_CLASS - 1);
	if (v->cut_fields)
		kt_import_note(in, "%llu names of fields have more than %u bytes and are cut",
			       (unsigned long long)v->cut_fields, KT_TP_NAME);
	v->cut_events = v->cut_fields = 0;
	v->labels = v->left = v->elements = v->texts = 0;
}
