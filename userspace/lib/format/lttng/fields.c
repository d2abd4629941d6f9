// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fields of CTF events become those of format/tracepoint.h.
 *
 *	struct { int x; } s	s.x
 *	int a[3], a[n]		an array of numbers; of bytes: bytes, or a text if encoded so
 *	struct { int x; } a[2]	a[0].x a[1].x, unless they are many; then, and if their number
 *				is in another field, a text (elements.c)
 *	variant <tag> v		v, what the tag selects
 *	enumerations		their numbers; e_label has the labels (labels.c)
 *
 * Fields of contexts follow those of the payload, without those that say the thread, its
 * process and its name.  What an event has behind a variant's field depends on the tag, so
 * classes with variants get the names of their fields with each event.
 */
#include "fields.h"

#define VISITS	   (2 * KT_TP_FIELDS) /* types of a class that are examined */
#define VISITS_ALL (1U << 22)	      /* the same of all classes */

/**
 * struct walk - a walk over the types of a class
 * @c: the metadata
 * @class: the class
 * @v: values, and room for names
 * @at: place in the packet
 * @path: @v->path
 * @next: number of the next entry
 * @extra: of the next one inside a variant, if fields of fixed numbers are searched
 * @fields: entries that are no labels
 * @number: the last number, as it was read
 * @end: number after the last entry that each event has
 * @loose: each event has all its entries anew
 * @inside: inside a variant
 * @split: events inside variants have numbers of their own
 * @real: contexts say the thread by its id
 * @known: they say it by that, or by its id in the name space of its process
 * @named: they say its name as well
 * @cut: names that were cut
 * @visits: types so far
 * @depth: types inside types
 */
struct walk {
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

/* Append to the path.  Return: its length before. */
static size_t descend_type(struct walk *w, const char *name)
{
	size_t len = strlen(w->path);

	snprintf(w->path + len, sizeof(w->v->path) - len, "%s%s",
		 len && *name != '[' ? "." : "", name);
	return len;
}

static size_t descend_index(struct walk *w, uint64_t i)
{
	char index[24];

	snprintf(index, sizeof(index), "[%llu]", (unsigned long long)i);
	return descend_type(w, index);
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

/* Check whether the elements of an array are fields of their own. */
static bool is_flat(const struct ctf_type *t)
{
	return t->kind == CTF_ARRAY && t->count && flat_size(t, 0) <= LT_FLAT;
}

static uint8_t array_type(const struct ctf_type *t)
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

/* Describe a field of type @t; NULL: the labels of the one before it, which get names later. */
static void describe_members(struct kt_tp_field *f, struct walk *w,
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
		f->type = array_type(t);
		f->fixed = t->kind == CTF_ARRAY;
		if (f->type == KT_TP_ARRAY) {
			f->elem = lt_number_type(t->element);
			f->narrow = is_float_type(t->element);
		}
	}
}

/* ---- declare ---------------------------------------------------------------------------- */

static void declare_leaf(struct walk *w, const struct ctf_type *t)
{
	if (w->fields == KT_TP_FIELDS)
		return;
	w->fields++;
	describe_members(&w->class->fixed[w->next++], w, t);
	if (lt_has_labels(t))
		describe_members(&w->class->fixed[w->next++], w, NULL);
}

static void declare_field(struct walk *w, const struct ctf_type *t)
{
	size_t len;

	if (w->visits == VISITS || w->c->visits == VISITS_ALL || w->depth == CTF_DEPTH)
		return;
	w->visits++;
	w->c->visits++;
	w->depth++;
	if (t->kind == CTF_STRUCT) {
		for (unsigned int i = 0; i < t->nr_members; i++) {
			len = descend_type(w, lt_name(w->c, t->members[i].name));
			declare_field(w, t->members[i].type);
			w->path[len] = '\0';
		}
	} else if (t->kind == CTF_VARIANT) {
		w->class->varies = true;
	} else if (t->kind == CTF_ARRAY && !lt_is_plain(t->element) && is_flat(t)) {
		for (uint64_t i = 0; i < t->count; i++) {
			len = descend_index(w, i);
			declare_field(w, t->element);
			w->path[len] = '\0';
		}
	} else {
		declare_leaf(w, t);
	}
	w->depth--;
}

static bool has_member(const struct ctf *c, const struct ctf_type *t,
		       const char *name)
{
	for (unsigned int i = 0; t && i < t->nr_members; i++) {
		if (!strcmp(lt_name(c, t->members[i].name), name))
			return true;
	}
	return false;
}

static bool has_context(const struct ctf *c, const struct lt_class *class,
			const char *name)
{
	return has_member(c, class->contexts[0].type, name) ||
	       has_member(c, class->contexts[1].type, name);
}

/* Mark the names of the payload, which fields of contexts may have as well. */
static bool mark_names(struct walk *w, const struct ctf_type *fields)
{
	const char *name;
	struct ctf_word *word;

	if (!w->class->contexts[0].type && !w->class->contexts[1].type)
		return true;
	for (unsigned int i = 0; fields && i < fields->nr_members; i++) {
		name = lt_name(w->c, fields->members[i].name);
		word = ctf_word(w->c, name, strlen(name), true);
		if (!word)
			return false;
		word->owner = fields;
	}
	return true;
}

/* Find out what contexts say of the thread. */
static void find_ctf_thread(struct walk *w)
{
	w->real = has_context(w->c, w->class, "tid");
	w->known = w->real || has_context(w->c, w->class, "vtid");
	w->named = w->known && has_context(w->c, w->class, "procname");
}

static uint8_t use_of(const struct walk *w, const struct ctf_class *e,
		      const struct ctf_member *m)
{
	const char *name = lt_name(w->c, m->name);
	bool number = lt_is_plain(m->type);
	const struct ctf_word *word;

	if (number && !strcmp(name, w->real ? "tid" : "vtid"))
		return LT_THREAD;
	if (w->known && !number && !strcmp(name, "procname"))
		return LT_NAME;
	if (w->named && number && !strcmp(name, w->real ? "pid" : "vpid"))
		return LT_PROCESS;
	word = ctf_word(w->c, name, strlen(name), false);
	return word && e->fields && word->owner == e->fields ? LT_CLASH : LT_KEEP;
}

static bool is_kept(uint8_t use)
{
	return use == LT_KEEP || use == LT_CLASH;
}

static bool declare_context(struct walk *w, const struct ctf_class *e,
			    struct lt_context *x)
{
	const struct ctf_type *t = x->type;
	size_t len;

	if (!t)
		return true;
	x->use = ctf_alloc(w->c, kt_max(t->nr_members, 1));
	if (!x->use)
		return false;
	for (unsigned int i = 0; i < t->nr_members; i++) {
		x->use[i] = use_of(w, e, &t->members[i]);
		if (!is_kept(x->use[i]))
			continue;
		if (x->use[i] == LT_CLASH)
			descend_type(w, "context");
		len = descend_type(w, lt_name(w->c, t->members[i].name));
		declare_field(w, t->members[i].type);
		w->path[x->use[i] == LT_CLASH ? 0 : len] = '\0';
	}
	return true;
}

static const struct ctf_type *stream_context(const struct ctf *c, uint64_t stream)
{
	for (size_t i = 0; i < c->nr_streams; i++) {
		if (c->streams[i].id == stream)
			return c->streams[i].event_context;
	}
	return NULL;
}

/*
 * LTTng's priorities are relative to KT_TP_RT_PRIO, but up to version 2.7.0 not those of threads
 * that are woken.
 */
static bool is_absolute(const struct ctf *c, const char *name)
{
	const uint64_t *v = c->version_of;

	if (strcmp(c->tracer, "lttng-modules") != 0 || !v[0] || v[0] > 2)
		return false;
	return (v[0] < 2 || v[1] < 7 || (v[1] == 7 && !v[2])) &&
	       kt_tp_is_one_of(name, "sched_wakeup|sched_wakeup_new|sched_waking");
}

/* Set which field has a priority that is not relative. */
static void find_prio(const struct ctf *c, struct lt_class *class)
{
	class->prio = -1;
	for (unsigned int i = 0; i < class->nr_own; i++) {
		if (!strcmp(class->fixed[i].name, "prio") &&
		    is_absolute(c, class->tp.name))
			class->prio = (int)i;
	}
}

/* Keep the fields that were found in the memory of the metadata.  Return: false without it. */
static bool keep_fields(struct ctf *c, struct lt_class *class,
			const struct kt_tp_field *fields)
{
	const unsigned int nr = class->nr_fixed;
	size_t size = 1;
	char *names;

	for (unsigned int i = 0; i < nr; i++)
		size += strlen(fields[i].name) + 1;
	names = ctf_alloc(c, size);
	class->fixed = names ? ctf_alloc(c, (nr + 1) * sizeof(*fields)) : NULL;
	if (!class->fixed)
		return false;
	memcpy(class->fixed, fields, nr * sizeof(*fields));
	for (unsigned int i = 0; i < nr; i++) {
		size = strlen(fields[i].name) + 1;
		class->fixed[i].name = memcpy(names, fields[i].name, size);
		names += size;
	}
	return true;
}

/* Find the fields of a class, and which of them say the thread.  Return: 0 or -ENOMEM. */
static int declare_class(struct ctf *c, const struct ctf_class *e,
			 struct lt_class *class, struct lt_values *v)
{
	struct walk w = { .c = c, .class = class, .v = v, .path = v->path };
	bool ok;

	kt_texts_clear(&v->names);
	v->path[0] = '\0';
	class->fixed = v->fields;
	if (e->fields)
		declare_field(&w, e->fields);
	class->nr_own = w.next;
	w.visits = 0;
	find_ctf_thread(&w);
	ok = mark_names(&w, e->fields) &&
	     declare_context(&w, e, &class->contexts[0]) &&
	     declare_context(&w, e, &class->contexts[1]);
	class->nr_fixed = w.next;
	class->nr_fields = w.fields;
	ok = ok && !v->no_memory &&
	     !kt_tp_name_labels(&v->names, v->fields, w.next);
	if (!ok || !keep_fields(c, class, v->fields))
		return -ENOMEM;
	class->cut = w.cut;
	v->cut_fields += w.cut;
	return 0;
}

/* Return what types have in common that are copies of one structure. */
static const void *ctf_shape_of(const struct ctf_type *t)
{
	return t && t->kind == CTF_STRUCT && t->members ?
		       (const void *)t->members :
		       t;
}

/*
 * Do the same for a class whose types another class may have: it shares that one's fields.
 * Thousands of classes may have one large type.
 */
static int share_class(struct ctf *c, const struct ctf_class *e,
		       struct lt_class *mine, struct lt_values *v)
{
	const void *shapes[] = {
		ctf_shape_of(mine->contexts[0].type),
		ctf_shape_of(mine->contexts[1].type),
	};
	const uint64_t mix = (uintptr_t)shapes[0] * 31 + (uintptr_t)shapes[1];
	struct kt_map_entry *shape = kt_map_put(&v->shapes, (uint32_t)(mix >> 4),
						(uintptr_t)ctf_shape_of(e->fields));
	const struct lt_class *other;

	if (!shape)
		return -ENOMEM;
	other = (const struct lt_class *)(uintptr_t)shape->value;
	if (!other || ctf_shape_of(other->contexts[0].type) != shapes[0] ||
	    ctf_shape_of(other->contexts[1].type) != shapes[1]) {
		shape->value = (uintptr_t)mine;
		return declare_class(c, e, mine, v);
	}
	mine->fixed = other->fixed;
	mine->nr_own = other->nr_own;
	mine->nr_fixed = other->nr_fixed;
	mine->nr_fields = other->nr_fields;
	mine->varies = other->varies;
	mine->cut = other->cut;
	v->cut_fields += other->cut;
	mine->contexts[0].use = other->contexts[0].use;
	mine->contexts[1].use = other->contexts[1].use;
	return 0;
}

/*
 * Give a class fields of its own: those that have the name of a field of the event get another
 * one (kt_tp_put_extra()), which is no concern of other classes with these fields.
 */
static int own_fields(struct ctf *c, struct lt_class *class)
{
	const size_t size = class->nr_fixed * sizeof(*class->fixed);
	struct kt_tp_field *own = ctf_alloc(c, kt_max(size, 1));

	if (!own)
		return -ENOMEM;
	class->tp.fields = memcpy(own, class->fixed, size);
	return 0;
}

/**
 * lt_class_bind() - find out what the events of a class become
 * @tp: memory of the mapping
 * @c: the metadata
 * @e: the class in it
 * @class: filled
 * @v: its fields are overwritten; @v->shapes is of the trace
 *
 * Return: 0 or negative errno.
 */
int lt_class_bind(struct kt_tp *tp, struct ctf *c, const struct ctf_class *e,
		  struct lt_class *class, struct lt_values *v)
{
	int err;

	class->contexts[0].type = stream_context(c, e->stream);
	class->contexts[1].type = e->context;
	err = share_class(c, e, class, v);
	if (err)
		return err;
	v->cut_events += strlen(e->name) >= sizeof(class->tp.name);
	snprintf(class->tp.name, sizeof(class->tp.name), "%.*s",
		 (int)sizeof(class->tp.name) - 1, e->name);
	/* A context has the values of the running thread, not of the one the event is of. */
	class->tp.fields = class->fixed;
	class->tp.nr = class->nr_own;
	err = kt_tp_bind(tp, &class->tp);
	class->tp.nr = class->nr_fixed;
	if (!err && class->tp.what != KT_TP_USER && !class->varies)
		err = own_fields(c, class);
	find_prio(c, class);
	class->dumps = !strcmp(e->name, "lttng_statedump_process_state");
	return err;
}

/* ---- read ------------------------------------------------------------------------------- */

static bool take_field(struct walk *w, const struct ctf_type *t);

/*
 * Return the number of the next field, or -1 if it is left out.  @t: as for
 * describe_members(); the label of a field that is kept has a place.
 */
static int next_field(struct walk *w, const struct ctf_type *t)
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
		describe_members(&w->v->fields[i], w, t);
	return (int)i;
}

static bool read_array(struct walk *w, const struct ctf_type *t,
		       struct kt_tp_value *value)
{
	uint8_t type = array_type(t);
	uint64_t count;

	if (!lt_is_plain(t->element))
		return lt_read_text(w->v, w->c, w->at, t, false);
	if (!ctf_elements(w->at, t, &count))
		return false;
	if (type == KT_TP_ARRAY)
		return lt_read_numbers(w->v, w->at, t->element, count);
	return lt_read_bytes(w->v, w->at, t->element, count, value);
}

static bool read_simple(struct walk *w, const struct ctf_type *t,
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
static void keep_field(struct walk *w, int i, struct kt_tp_value *value,
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
static bool take_label(struct walk *w, const struct ctf_type *t, uint64_t bit)
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
static bool take_leaf(struct walk *w, const struct ctf_type *t)
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

static bool take_ctf_option(struct walk *w, const struct ctf_type *t)
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

static bool take_members(struct walk *w, const struct ctf_type *t)
{
	bool ok = ctf_align(w->at, t->align);

	for (unsigned int i = 0; i < t->nr_members && ok; i++) {
		const struct ctf_member *m = &t->members[i];
		size_t len = 0;

		if (w->class->varies)
			len = descend_type(w, lt_name(w->c, m->name));
		w->at->name = m->name;
		ok = take_field(w, m->type);
		w->path[len] = '\0';
	}
	return ok;
}

static bool take_flat(struct walk *w, const struct ctf_type *t)
{
	uint64_t count;
	bool ok = ctf_elements(w->at, t, &count);

	for (uint64_t i = 0; i < count && ok; i++) {
		size_t len = w->class->varies ? descend_index(w, i) : 0;

		w->at->name = NULL;
		ok = take_field(w, t->element);
		w->path[len] = '\0';
	}
	return ok;
}

/* Read a field of any type. */
static bool take_field(struct walk *w, const struct ctf_type *t)
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
	else if (t->kind == CTF_ARRAY && !lt_is_plain(t->element) && is_flat(t))
		ok = take_flat(w, t);
	else
		ok = take_leaf(w, t);
	w->at->depth--;
	if (ok && w->at->bit == before && ++w->at->empty > CTF_EMPTY)
		return ctf_fail(w->at, "an event has too many fields without bits");
	return ok;
}

/* Read a member of a context that says the thread. */
static bool take_ctf_thread(struct walk *w, const struct ctf_type *t, uint8_t use)
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

static bool take_context(struct walk *w, const struct lt_context *x)
{
	const struct ctf_type *t = x->type;
	bool ok = !t || ctf_align(w->at, t->align);

	for (unsigned int i = 0; t && i < t->nr_members && ok; i++) {
		const struct ctf_member *m = &t->members[i];

		w->at->name = m->name;
		if (!is_kept(x->use[i])) {
			ok = take_ctf_thread(w, m->type, x->use[i]);
			continue;
		}
		if (x->use[i] == LT_CLASH)
			descend_type(w, "context");
		descend_type(w, lt_name(w->c, m->name));
		ok = take_field(w, m->type);
		w->path[0] = '\0';
	}
	return ok;
}

/* Values in the room have their place now, and texts end at their first NUL. */
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
	struct walk w = {
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
	end = s->at.bit;
	s->at.bit = s->context_bit;
	w.end = class->nr_fixed;
	if (!take_context(&w, &class->contexts[0]) ||
	    !take_context(&w, &class->contexts[1]))
		return false;
	s->at.bit = end;
	/* Further names inside variants. */
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
