// SPDX-License-Identifier: LGPL-2.1-or-later
/* The types of CTF metadata: their memory and their names; lists of streams, events and clocks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

#include "ctf.h"

/* Keys of the environment with the tracer's version, in the order of ctf.version_of. */
const char *const ctf_versions[3] = {
	"tracer_major",
	"tracer_minor",
	"tracer_patchlevel",
};

/* ---- memory of the types ----------------------------------------------------------- */

struct ctf_memory {
	struct ctf_memory *next;
	max_align_t data[];
};

/*
 * Return zeroed memory that ctf_free() frees; NULL with @c->out_of_memory set, and with @c->limit
 * if it would be more than CTF_BYTES.
 */
void *ctf_alloc(struct ctf *c, size_t size)
{
	struct ctf_memory *m = NULL;

	if (size > CTF_BYTES || size + sizeof(*m) > CTF_BYTES - c->bytes)
		c->limit = "the types of all traces need more than 1 GiB: read a part of the traces";
	else
		m = calloc(1, sizeof(*m) + size);
	if (!m) {
		c->out_of_memory = true;
		return NULL;
	}
	c->bytes += size + sizeof(*m);
	m->next = c->memory;
	c->memory = m;
	return m->data;
}

/*
 * Make room for one more element behind the @nr that an array has.  An array has room for a power
 * of two, so it is full if @nr is one.  Outgrown arrays are freed with the rest.
 * Return: the array, or NULL without memory, also if that was so the last time (@array is NULL).
 */
void *ctf_grow(struct ctf *c, void *array, size_t nr, size_t size)
{
	void *more;

	if (nr & (nr - 1) || (nr && !array))
		return array;
	more = ctf_alloc(c, (nr ? nr * 2 : 1) * size);
	if (more && nr)
		memcpy(more, array, nr * size);
	return more;
}

/* ---- names ---------------------------------------------------------------------------- */

/* Make room for one more name.  Return: false if there is no memory. */
static bool grow_words(struct ctf *c)
{
	size_t size = c->words_size ? c->words_size * 2 : 1024;
	struct ctf_word **more;

	if (c->nr_words < c->words_size / 2)
		return true;
	more = ctf_alloc(c, size * sizeof(*more));
	if (!more)
		return false;
	for (size_t i = 0; i < c->words_size; i++) {
		struct ctf_word *w = c->words[i];
		size_t at;

		if (!w)
			continue;
		for (at = w->hash & (size - 1); more[at];)
			at = (at + 1) & (size - 1);
		more[at] = w;
	}
	c->words = more;
	c->words_size = size;
	return true;
}

/**
 * ctf_word() - find a name among those of the metadata
 * @c: the metadata
 * @text: the name
 * @len: bytes of it
 * @add: make an entry if there is none
 *
 * There is one entry for each name, so that names are the same if their addresses are.
 *
 * Return: the entry, or NULL without one or without memory.
 */
struct ctf_word *ctf_word(struct ctf *c, const char *text, size_t len, bool add)
{
	struct ctf_word *w;
	uint64_t hash;
	size_t at;

	if (!c->seed) /* the first name; a trace cannot choose names of equal hashes */
		c->seed = kt_hash_seed(c) | 1;
	if (add && !grow_words(c))
		return NULL;
	if (!c->words_size)
		return NULL;
	hash = kt_hash_mix(kt_fnv(c->seed, text, len));
	at = hash & (c->words_size - 1);
	for (; (w = c->words[at]); at = (at + 1) & (c->words_size - 1)) {
		if (w->hash == hash && w->len == len && !memcmp(w->text, text, len))
			return w;
	}
	w = add ? ctf_alloc(c, sizeof(*w) + len + 1) : NULL;
	if (!w)
		return NULL;
	w->hash = hash;
	w->len = len;
	memcpy(w->text, text, len);
	c->words[at] = w;
	c->nr_words++;
	return w;
}

/* Return the only copy of a name, or NULL without memory. */
const char *ctf_name(struct ctf *c, const char *text)
{
	struct ctf_word *w = ctf_word(c, text, strlen(text), true);

	return w ? w->text : NULL;
}

/* ---- types ---------------------------------------------------------------------------- */

/* Return a new type; NULL without memory, or with @c->limit set if there are CTF_TYPES. */
struct ctf_type *ctf_new_type(struct ctf *c, enum ctf_kind kind)
{
	struct ctf_type *t;

	if (c->nr_types == CTF_TYPES) {
		c->limit = "there are too many types";
		return NULL;
	}
	t = ctf_alloc(c, sizeof(*t));
	if (!t)
		return NULL;
	c->nr_types++;
	t->kind = kind;
	t->refers = kind == CTF_VARIANT || kind == CTF_SEQUENCE;
	t->origin = CTF_RELATIVE;
	t->align = kind == CTF_STRING ? 8 : 1;
	t->big = c->big;
	return t;
}

/*
 * The next three add an entry to a list of the metadata, which may move the list.
 * Return: the entry, or NULL without memory.
 */
struct ctf_stream *ctf_add_stream(struct ctf *c)
{
	struct ctf_stream *more =
		ctf_grow(c, c->streams, c->nr_streams, sizeof(*more));

	if (!more)
		return NULL;
	c->streams = more;
	more += c->nr_streams++;
	memset(more, 0, sizeof(*more));
	return more;
}

struct ctf_class *ctf_add_class(struct ctf *c)
{
	struct ctf_class *more =
		ctf_grow(c, c->classes, c->nr_classes, sizeof(*more));

	if (!more)
		return NULL;
	c->classes = more;
	more += c->nr_classes++;
	memset(more, 0, sizeof(*more));
	more->name = "";
	return more;
}

struct ctf_clock *ctf_add_clock(struct ctf *c)
{
	struct ctf_clock *more =
		ctf_grow(c, c->clocks, c->nr_clocks, sizeof(*more));

	if (!more)
		return NULL;
	c->clocks = more;
	more += c->nr_clocks++;
	*more = (struct ctf_clock){ .name = "", .shown = "", .origin.freq = 1000000000 };
	return more;
}

/* Free all memory of the metadata, and make them empty. */
void ctf_free(struct ctf *c)
{
	while (c->memory) {
		struct ctf_memory *m = c->memory;

		c->memory = m->next;
		free(m);
	}
	memset(c, 0, sizeof(*c));
}
