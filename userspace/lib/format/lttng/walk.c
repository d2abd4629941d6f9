// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which fields a CTF type becomes, with which names: for fields.c, which declares the fields of a
 * class, and fields_read.c, which has to find the same ones in each event.
 *
 * The name of a field is the path to it: s.x, a[0].x.  An array is flat if its elements become
 * fields of their own, at most LT_FLAT; any other one is one field.
 */
#include "walk.h"

/* Append the name of a member to the path, or an index.  Return: the path's length before. */
size_t lt_descend(struct lt_walk *w, const char *name)
{
	size_t len = strlen(w->path);

	snprintf(w->path + len, sizeof(w->v->path) - len, "%s%s",
		 len && *name != '[' ? "." : "", name);
	return len;
}

size_t lt_descend_index(struct lt_walk *w, uint64_t i)
{
	char index[24];

	snprintf(index, sizeof(index), "[%llu]", (unsigned long long)i);
	return lt_descend(w, index);
}

/*
 * Return how many fields a type becomes if it is flat, at least 1, at most LT_FLAT + 1.
 * It is kept with the type: a type may be a part of many others.
 */
static unsigned int flat_size(const struct ctf_type *t, unsigned int depth)
{
	unsigned int size = 0, each;

	if (t->flat)
		return t->flat;
	if (depth == CTF_DEPTH)
		return LT_FLAT + 1;
	switch (t->kind) {
	case CTF_STRUCT:
	case CTF_VARIANT:
		for (unsigned int i = 0; i < t->nr_members && size <= LT_FLAT; i++) {
			each = flat_size(t->members[i].type, depth + 1);
			size = t->kind == CTF_STRUCT ?
				       size + each :
				       (unsigned int)kt_max(size, each);
		}
		break;
	case CTF_ARRAY:
		each = lt_is_plain(t->element) ? 0 :
						 flat_size(t->element, depth + 1);
		size = t->count > LT_FLAT ? LT_FLAT + 1 :
					    (unsigned int)t->count * each;
		break;
	default:
		break;
	}
	size = (unsigned int)kt_min(kt_max(size, 1), LT_FLAT + 1);
	((struct ctf_type *)t)->flat = (uint8_t)size;
	return size;
}

bool lt_is_flat(const struct ctf_type *t)
{
	return t->kind == CTF_ARRAY && t->count && flat_size(t, 0) <= LT_FLAT;
}

/* Return enum kt_tp_type of an array that is one field. */
uint8_t lt_array_type(const struct ctf_type *t)
{
	const struct ctf_type *e = t->element;

	if (!lt_is_plain(e))
		return KT_TP_TEXT;
	if (e->kind != CTF_INTEGER || e->size != 8 || e->nr_labels)
		return KT_TP_ARRAY;
	if (t->text)
		return KT_TP_TEXT;
	/* Bytes have no sign. */
	return e->is_signed ? KT_TP_ARRAY : KT_TP_BYTES;
}

static bool is_float_type(const struct ctf_type *t)
{
	return t->kind == CTF_FLOAT && t->size <= 32;
}

/*
 * Describe a field of type @t, whose name is the path.  NULL: the labels of the field before it;
 * kt_tp_name_labels() names them later.
 */
void lt_describe_field(struct kt_tp_field *f, struct lt_walk *w,
		       const struct ctf_type *t)
{
	size_t len = t ? strlen(w->path) : 0;

	w->cut += len > KT_TP_NAME;
	f->name = kt_texts_add(&w->v->names, w->path, kt_min(len, KT_TP_NAME), "");
	if (!f->name)
		w->v->no_memory = true;
	f->name = f->name ? f->name : "";
	f->elem = 0;
	f->wide = f->fixed = f->narrow = false;
	if (!t) {
		f->type = KT_TP_LABEL;
	} else if (t->kind == CTF_STRING) {
		f->type = KT_TP_TEXT;
	} else if (lt_is_plain(t)) {
		f->type = lt_number_type(t);
		f->wide = t->size > 32;
		f->narrow = is_float_type(t);
	} else {
		f->type = lt_array_type(t);
		f->fixed = t->kind == CTF_ARRAY;
		if (f->type == KT_TP_ARRAY) {
			f->elem = lt_number_type(t->element);
			f->narrow = is_float_type(t->element);
		}
	}
}
