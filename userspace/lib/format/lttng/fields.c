// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fields of CTF events become those of format/tracepoint.h.
 *
 *	struct { int x; } s	s.x
 *	int a[3], a[n]		an array of numbers; of bytes: bytes, or a text if they are
 *				characters
 *	struct { int x; } a[2]	a[0].x a[1].x, unless they are many; then, and if another
 *				field has their number, a text (elements.c)
 *	variant <tag> v		v, what the tag selects
 *	enumerations		their numbers; e_label has the labels (labels.c)
 *
 * Fields of contexts follow those of the payload, without those that say the thread, its
 * process and its name.  What an event has behind a variant's field depends on the tag, so
 * classes with variants get the names of their fields with each event.
 *
 * This file finds out what the events of a class become; fields_read.c reads them.
 */
#include "walk.h"

/* Fields of types beyond these are not declared, so fields_read.c counts them as left out. */
#define VISITS \
	(2 * KT_TP_FIELDS) /* types of a payload that are examined, or of contexts */
#define VISITS_ALL (1U << 22) /* the same of all classes */

/* Declare a field that is no structure or variant, and one for its labels. */
static void declare_leaf(struct lt_walk *w, const struct ctf_type *t)
{
	if (w->fields == KT_TP_FIELDS)
		return;
	w->fields++;
	lt_describe_field(&w->class->fixed[w->next++], w, t);
	if (lt_has_labels(t))
		lt_describe_field(&w->class->fixed[w->next++], w, NULL);
}

/* Declare what a type becomes; of a variant that is known only when an event is read. */
static void declare_field(struct lt_walk *w, const struct ctf_type *t)
{
	size_t len;

	if (w->visits == VISITS || w->c->visits == VISITS_ALL || w->depth == CTF_DEPTH)
		return;
	w->visits++;
	w->c->visits++;
	w->depth++;
	if (t->kind == CTF_STRUCT) {
		for (unsigned int i = 0; i < t->nr_members; i++) {
			len = lt_descend(w, lt_name(w->c, t->members[i].name));
			declare_field(w, t->members[i].type);
			w->path[len] = '\0';
		}
	} else if (t->kind == CTF_VARIANT) {
		w->class->varies = true;
	} else if (t->kind == CTF_ARRAY && !lt_is_plain(t->element) &&
		   lt_is_flat(t)) {
		for (uint64_t i = 0; i < t->count; i++) {
			len = lt_descend_index(w, i);
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
static bool mark_names(struct lt_walk *w, const struct ctf_type *fields)
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

/*
 * Find out what contexts say of the thread: tid is its id, vtid that in the name space of its
 * process, procname its name.  Its process, pid or vpid, is taken only for a name.
 */
static void find_ctf_thread(struct lt_walk *w)
{
	w->real = has_context(w->c, w->class, "tid");
	w->known = w->real || has_context(w->c, w->class, "vtid");
	w->named = w->known && has_context(w->c, w->class, "procname");
}

/* Return enum lt_use of a member of a context. */
static uint8_t use_of(const struct lt_walk *w, const struct ctf_class *e,
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

static bool declare_context(struct lt_walk *w, const struct ctf_class *e,
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
		if (!lt_is_kept(x->use[i]))
			continue;
		if (x->use[i] == LT_CLASH) /* context.NAME: the payload has NAME */
			lt_descend(w, "context");
		len = lt_descend(w, lt_name(w->c, t->members[i].name));
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

/* Set which field has a priority that is not relative: fields_read.c makes it relative. */
static void find_prio(const struct ctf *c, struct lt_class *class)
{
	class->prio = -1;
	for (unsigned int i = 0; i < class->nr_own; i++) {
		if (!strcmp(class->fixed[i].name, "prio") &&
		    is_absolute(c, class->tp.name))
			class->prio = (int)i;
	}
}

/* Copy the fields that were found to the memory of the metadata.  Return: false without it. */
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
	struct lt_walk w = { .c = c, .class = class, .v = v, .path = v->path };
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
 * Declare a class as declare_class() does, but share the fields of a class with the same types, if
 * there is one: thousands of classes may have one large type.
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
 * @tp: state of format/tracepoint.h, which makes our events of tracepoints
 * @c: the metadata
 * @e: the class in it
 * @class: filled
 * @v: its fields are overwritten; @v->shapes is of the trace.  Names that are cut are counted
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
	/*
	 * Bind fields of the payload only.  A context has a "tid" as well, but of the running
	 * thread, not of the one that the event is about.
	 */
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
