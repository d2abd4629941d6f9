// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the fields that lengths and tags refer to.
 *
 *	struct { u8 len; } a;  struct { u8 len; } b;  u8 s[a.len];
 *
 * A path is looked up among the fields before it: in the structure that it is in, then in
 * those around it, then in the parts of the event and the packet before; or only in the part
 * that it names.  Where it ends a slot is given to the number, and the field that refers to it
 * keeps the number of the slot.
 *
 * A type may be at many places, where its paths lead to different fields.  So each place gets
 * types of its own where something refers or is referred to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctf.h"

#define INDEX \
	16U /* members from which on the names of a structure are sorted */
/* Most ranges of labels of a variant if they overlap: then each value is compared with all. */
#define OVERLAPS 1024U

/**
 * struct frame - a structure around a field
 * @up: the one around it
 * @t: its type, of this place only
 * @at: number of the member that has the field
 */
struct frame {
	const struct frame *up;
	const struct ctf_type *t;
	unsigned int at;
};

/**
 * struct walk - a walk over the types of a stream or an event class
 * @c: the metadata
 * @roots: by enum ctf_root: the place that points to the type of that part; NULL, or a place with
 *	NULL = it has none
 * @root: the part that is walked; paths may lead to those before it
 * @error: filled on -EBADMSG
 * @offset: of the stream or class in the metadata, for @error
 * @below: slots that were given from the first one on, to numbers of packets and streams
 * @above: slots that were given from the last one down, to numbers of the event class: each class
 *	may have the same ones, as an event is of one class only
 * @outside: a path led out of the part that is walked
 * @depth: types inside types
 * @failed: negative errno
 */
struct walk {
	struct ctf *c;
	const struct ctf_type **roots[CTF_ROOTS];
	unsigned int root;
	struct ktape_error *error;
	uint64_t offset;
	unsigned int below;
	unsigned int above;
	bool outside;
	unsigned int depth;
	int failed;
};

static bool no_memory(struct walk *w)
{
	if (!w->failed)
		w->failed = -ENOMEM;
	return false;
}

static bool resolve_error(struct walk *w, const char *text)
{
	if (w->failed)
		return false;
	w->failed = -EBADMSG;
	snprintf(w->error->text, sizeof(w->error->text), "%s", text);
	w->error->offset = w->offset;
	return false;
}

/* Say which path leads to nothing. */
static bool bad_path(struct walk *w, const struct ctf_type *t)
{
	static const char *const origins[CTF_ROOTS + 1] = {
		"trace.packet.header.",
		"stream.packet.context.",
		"stream.event.header.",
		"stream.event.context.",
		"event.context.",
		"event.fields.",
		"",
	};
	char path[80];

	snprintf(path, sizeof(path), "%s", origins[t->origin]);
	if (!t->nr_path)
		return resolve_error(w, t->kind == CTF_VARIANT ?
						"a variant has no tag" :
						"a sequence has no length");
	for (unsigned int i = 0; i < t->nr_path; i++) {
		size_t len = strlen(path);

		snprintf(path + len, sizeof(path) - len, "%s%s", i ? "." : "",
			 t->path[i]);
	}
	if (w->failed)
		return false;
	w->failed = -EBADMSG;
	snprintf(w->error->text, sizeof(w->error->text),
		 "the %s \"%s\" is no number in the fields before it",
		 t->kind == CTF_VARIANT ? "tag" : "length", path);
	w->error->offset = w->offset;
	return false;
}

/* Give a place a type of its own, unless it has one.  Return: the type, or NULL after an error. */
static struct ctf_type *own_type(struct walk *w, const struct ctf_type **place)
{
	const struct ctf_type *t = *place;
	struct ctf_type *copy;

	if (t->own)
		return (struct ctf_type *)t;
	if (w->c->nr_types == CTF_TYPES) {
		resolve_error(w, "the metadata have too many lengths and tags");
		return NULL;
	}
	copy = ctf_new_type(w->c, t->kind);
	if (!copy) {
		no_memory(w);
		return NULL;
	}
	*copy = *t;
	copy->own = true;
	if (t->nr_members) {
		copy->members =
			ctf_alloc(w->c, t->nr_members * sizeof(*t->members));
		if (!copy->members) {
			no_memory(w);
			return NULL;
		}
		memcpy(copy->members, t->members,
		       t->nr_members * sizeof(*t->members));
	}
	*place = copy;
	return copy;
}

/* ---- paths ---------------------------------------------------------------------------- */

/* Equal names have one address, see ctf_name(): any order of addresses will do. */
static int by_member_name(const void *a, const void *b)
{
	const struct ctf_index *x = a, *y = b;

	if (x->name != y->name)
		return (uintptr_t)x->name < (uintptr_t)y->name ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

/* Sort the names of a large structure, which is searched many times. */
static bool sort_names(struct walk *w, struct ctf_type *t)
{
	struct ctf_index *index;

	if (t->index || t->nr_members < INDEX)
		return true;
	index = ctf_alloc(w->c, t->nr_members * sizeof(*index));
	if (!index)
		return no_memory(w);
	for (unsigned int i = 0; i < t->nr_members; i++)
		index[i] = (struct ctf_index){ t->members[i].name, i };
	qsort(index, t->nr_members, sizeof(*index), by_member_name);
	t->index = index;
	return true;
}

/* Return the last member of a name, before the one of number @end. */
static struct ctf_member *find_ctf_member(struct walk *w, const struct ctf_type *t,
					  unsigned int end, const char *name)
{
	const struct ctf_index key = { name, end };
	unsigned int low = 0, high = t->nr_members, middle;

	if (t->kind != CTF_STRUCT || !sort_names(w, (struct ctf_type *)t))
		return NULL;
	while (!t->index && end--) {
		if (t->members[end].name == name)
			return &t->members[end];
	}
	if (!t->index)
		return NULL;
	while (low < high) { /* the first one that is not before the key */
		middle = low + (high - low) / 2;
		if (by_member_name(&t->index[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && t->index[low - 1].name == name ?
		       &t->members[t->index[low - 1].member] :
		       NULL;
}

/*
 * Check whether the path of @from leads to a number, through the members of structure @t that are
 * before the one of number @end.
 */
static bool leads_to(struct walk *w, const struct ctf_type *t, unsigned int end,
		     const struct ctf_type *from)
{
	for (unsigned int i = 0; i < from->nr_path; i++) {
		const struct ctf_member *m =
			find_ctf_member(w, t, end, from->path[i]);

		if (!m)
			return false;
		t = m->type;
		end = t->nr_members;
	}
	return t->kind == CTF_INTEGER || t->kind == CTF_LEB128;
}

/*
 * Give a slot to the number that leads_to() has found with the same arguments, in part @root.
 * Return: its type, or NULL after an error.
 */
static const struct ctf_type *
give_number_slot(struct walk *w, const struct ctf_type *t, unsigned int end,
		 const struct ctf_type *from, unsigned int root)
{
	struct ctf_type *number = NULL;

	for (unsigned int i = 0; i < from->nr_path; i++) {
		struct ctf_member *m = find_ctf_member(w, t, end, from->path[i]);

		number = own_type(w, &m->type);
		if (!number)
			return NULL;
		t = number;
		end = t->nr_members;
	}
	if (!number || number->slot)
		return number;
	if (w->below + w->above == CTF_SLOTS) {
		resolve_error(w, "an event has too many lengths and tags");
		return NULL;
	}
	/* Slots are numbered from 1 to CTF_SLOTS. */
	number->slot = (uint16_t)(root < CTF_CONTEXT ? ++w->below :
						       CTF_SLOTS - w->above++);
	return number;
}

/*
 * Look a path up in the part of the event that is walked.  CTF 2 says how many structures it passes
 * over (@t->up), from the innermost one, @f, on.
 */
static const struct ctf_type *look_here(struct walk *w, const struct frame *f,
					const struct ctf_type *t)
{
	unsigned int up = t->up;

	for (; f; f = f->up) {
		if (up) {
			up--;
			continue;
		}
		/* A path from the top begins at the outermost structure. */
		if (t->origin != CTF_RELATIVE && f->up)
			continue;
		if (leads_to(w, f->t, f->at, t))
			return give_number_slot(w, f->t, f->at, t, w->root);
	}
	return NULL;
}

/* Look a path up in a part before the one that is walked. */
static const struct ctf_type *look_in(struct walk *w, unsigned int root,
				      const struct ctf_type *t)
{
	const struct ctf_type **place = w->roots[root], *top;

	if (!place || !*place || !leads_to(w, *place, (*place)->nr_members, t))
		return NULL;
	top = own_type(w, place);
	w->outside = true;
	return top ? give_number_slot(w, top, top->nr_members, t, root) : NULL;
}

/*
 * Find the number that the length or the tag of @t refers to, and keep its slot in @t->ref.
 * Return: the type of that number, or NULL after an error.
 */
static const struct ctf_type *
resolve_reference(struct walk *w, const struct frame *f, struct ctf_type *t)
{
	const struct ctf_type *number = NULL;

	if (t->nr_path && (t->origin == CTF_RELATIVE || t->origin == w->root))
		number = look_here(w, f, t);
	if (t->nr_path && t->origin < w->root)
		number = look_in(w, t->origin, t);
	for (unsigned int i = w->root; t->nr_path && t->origin == CTF_RELATIVE &&
				       !number && !w->failed && i--;)
		number = look_in(w, i, t);
	if (!number)
		bad_path(w, t);
	else
		t->ref = number->slot;
	return number;
}

/* ---- variants --------------------------------------------------------------------------- */

/* Let a range of values select an option; one that is empty selects nothing. */
static bool add_choice(struct walk *w, struct ctf_type *t,
		       const struct ctf_range *r, unsigned int member)
{
	struct ctf_choice choice = {
		ctf_sortable(t->tag, (uint64_t)r->low),
		ctf_sortable(t->tag, (uint64_t)r->high),
		member,
	};
	struct ctf_choice *more;

	if (choice.low > choice.high)
		return true;
	more = ctf_grow(w->c, t->choices, t->nr_choices, sizeof(*more));
	if (!more)
		return no_memory(w);
	t->choices = more;
	more[t->nr_choices++] = choice;
	return true;
}

/*
 * An option of CTF 1.8 has the name of the label that selects it.  From the last option on, so
 * that of several with one name the word has the first.
 */
static bool add_labels(struct walk *w, struct ctf_type *t)
{
	for (unsigned int i = t->nr_members; i--;) {
		const char *name = t->members[i].name;
		struct ctf_word *word = ctf_word(w->c, name, strlen(name), true);

		if (!word)
			return no_memory(w);
		word->owner = t;
		word->option = i;
	}
	for (unsigned int i = 0; i < t->tag->nr_labels; i++) {
		const struct ctf_label *l = &t->tag->labels[i];
		const struct ctf_word *word =
			ctf_word(w->c, l->name, strlen(l->name), false);

		if (word && word->owner == t && !t->members[word->option].nr_ranges &&
		    !add_choice(w, t, &l->range, word->option))
			return false;
	}
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct ctf_choice *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

static int by_member(const void *a, const void *b)
{
	const struct ctf_choice *x = a, *y = b;

	return x->member < y->member ? -1 : x->member > y->member;
}

/*
 * Make the list of the values that select options: sorted by value, for a binary search; if some
 * overlap, by option, as the first one is meant.
 */
static bool set_choices(struct walk *w, struct ctf_type *t)
{
	t->choices = NULL;
	t->nr_choices = 0;
	for (unsigned int i = 0; i < t->nr_members; i++) {
		const struct ctf_member *m = &t->members[i];

		for (unsigned int k = 0; k < m->nr_ranges; k++) {
			if (!add_choice(w, t, &m->ranges[k], i))
				return false;
		}
	}
	if (!add_labels(w, t))
		return false;
	if (t->nr_choices)
		qsort(t->choices, t->nr_choices, sizeof(*t->choices), by_low);
	for (unsigned int i = 1; i < t->nr_choices; i++)
		t->overlaps |= t->choices[i].low <= t->choices[i - 1].high;
	if (!t->overlaps)
		return true;
	if (t->nr_choices > OVERLAPS)
		return resolve_error(w, "a variant has too many labels that overlap");
	qsort(t->choices, t->nr_choices, sizeof(*t->choices), by_member);
	return true;
}

/* ---- types ------------------------------------------------------------------------------- */

static bool walk_type(struct walk *w, const struct ctf_type **place,
		      const struct frame *up);

static bool walk_parts(struct walk *w, struct ctf_type *t, const struct frame *up)
{
	struct frame f = { up, t, 0 };

	switch (t->kind) {
	case CTF_STRUCT:
		for (; f.at < t->nr_members; f.at++) {
			if (!walk_type(w, &t->members[f.at].type, &f))
				return false;
		}
		return true;
	case CTF_VARIANT:
		t->tag = resolve_reference(w, up, t);
		if (!t->tag || !set_choices(w, t))
			return false;
		for (unsigned int i = 0; i < t->nr_members; i++) {
			if (!walk_type(w, &t->members[i].type, up))
				return false;
		}
		return true;
	case CTF_SEQUENCE:
		return resolve_reference(w, up, t) && walk_type(w, &t->element, up);
	default: /* an array: numbers and texts refer to nothing */
		return walk_type(w, &t->element, up);
	}
}

static bool walk_type(struct walk *w, const struct ctf_type **place,
		      const struct frame *up)
{
	struct ctf_type *t;
	bool ok;

	/* What is deeper cannot be read: ctf_read() fails there. */
	if (!(*place)->refers || w->depth > CTF_DEPTH)
		return true;
	t = own_type(w, place);
	if (!t)
		return false;
	w->depth++;
	ok = walk_parts(w, t, up);
	w->depth--;
	return ok;
}

static bool walk_root(struct walk *w, enum ctf_root root,
		      const struct ctf_type **place)
{
	w->root = root;
	w->roots[root] = place;
	return !*place || walk_type(w, place, NULL);
}

static bool walk_stream(struct walk *w, struct ctf_stream *s)
{
	w->offset = s->offset;
	return walk_root(w, CTF_PACKET_CONTEXT, &s->packet_context) &&
	       walk_root(w, CTF_EVENT_HEADER, &s->event_header) &&
	       walk_root(w, CTF_COMMON_CONTEXT, &s->event_context);
}

static int compare_stream_id(const void *key, const void *entry)
{
	uint64_t id = *(const uint64_t *)key;
	const struct ctf_stream *s = entry;

	return id < s->id ? -1 : id > s->id;
}

/*
 * Walk the payload.  Thousands of classes may have one type: they share what it becomes, if all
 * its paths stay inside, and if the class's context has taken no slots (@alone), so that the
 * numbers of the slots are the same.
 */
static bool walk_payload(struct walk *w, struct ctf_class *e)
{
	struct ctf_type *t = (struct ctf_type *)e->fields;
	bool alone = !w->above;

	if (t && alone && t->resolved) {
		e->fields = t->resolved;
		w->above = t->nr_slots;
		return true;
	}
	w->outside = false;
	if (!walk_root(w, CTF_PAYLOAD, &e->fields))
		return false;
	if (t && alone && !w->outside && e->fields != t) {
		t->resolved = e->fields;
		t->nr_slots = w->above;
	}
	return true;
}

static bool walk_class(struct walk *w, struct ctf_class *e)
{
	struct ctf_stream *s = bsearch(&e->stream, w->c->streams, w->c->nr_streams,
				       sizeof(*s), compare_stream_id);

	w->offset = e->offset;
	w->above = 0;
	w->roots[CTF_PACKET_CONTEXT] = s ? &s->packet_context : NULL;
	w->roots[CTF_EVENT_HEADER] = s ? &s->event_header : NULL;
	w->roots[CTF_COMMON_CONTEXT] = s ? &s->event_context : NULL;
	return walk_root(w, CTF_CONTEXT, &e->context) && walk_payload(w, e);
}

/**
 * ctf_resolve() - find the fields that lengths and tags refer to
 * @c: the metadata; streams are sorted
 * @error: filled on -EBADMSG
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int ctf_resolve(struct ctf *c, struct ktape_error *error)
{
	struct walk w = { .c = c, .error = error };
	unsigned int above = 0;
	bool ok = walk_root(&w, CTF_PACKET_HEADER, &c->packet_header);

	for (size_t i = 0; i < c->nr_streams && ok; i++)
		ok = walk_stream(&w, &c->streams[i]);
	for (size_t i = 0; i < c->nr_classes && ok; i++) {
		ok = walk_class(&w, &c->classes[i]);
		above = w.above > above ? w.above : above;
	}
	/*
	 * give_number_slot() has compared @above of a class with @below at that time.  Later
	 * classes may have referred to more fields of streams.
	 */
	if (ok && w.below + above > CTF_SLOTS)
		resolve_error(&w, "an event has too many lengths and tags");
	return w.failed;
}
