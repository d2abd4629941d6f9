// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The keys that the members of a structure have in JSON (elements.c).  An object has each key
 * once, but a structure may have two fields of one name, or a field whose name is that of the
 * labels of another one.  Names of fields come first, then those of labels; what is taken gets
 * a number:
 *
 *	struct { enum : int { A = 1 } e; string e_label; int x; int x; }
 *	{"e":1,"e_label_2":"A","e_label":"text","x":2,"x_2":3}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

#define LABEL  "_label"
#define NUMBER "_4294967295" /* the longest one */

/**
 * struct keys - the keys of a structure while they are given out
 * @c: the metadata
 * @t: the structure
 * @text: room for the longest key
 * @size: bytes of @text
 * @found: the keys
 * @differ: they are not the names of the members
 */
struct keys {
	struct ctf *c;
	struct ctf_type *t;
	char *text;
	size_t size;
	struct ctf_key *found;
	bool differ;
};

/*
 * Claim a key for the structure.  @word: set to its entry, NULL = no memory.
 * Return: the key, or NULL if the structure has it already, or without memory.
 */
static const char *claim_key(struct keys *k, const char *key, struct ctf_word **word)
{
	struct ctf_word *w = ctf_word(k->c, key, strlen(key), true);

	*word = w;
	if (!w || w->owner == k->t)
		return NULL;
	w->owner = k->t;
	w->option = 1;
	return w->text;
}

/*
 * Return the key, or with the next number behind it; NULL without memory.
 * The word has the last number, so that many equal keys do not try all numbers each.
 */
static const char *claim_next_key(struct keys *k, const char *key)
{
	struct ctf_word *first, *word;
	const char *found = claim_key(k, key, &first);

	word = first;
	while (!found && word) {
		snprintf(k->text, k->size, "%s_%u", first->text, ++first->option);
		found = claim_key(k, k->text, &word);
	}
	return found;
}

/* Give out the names, which come first, and then numbers to those that are there again. */
static bool take_names(struct keys *k)
{
	const struct ctf_member *m = k->t->members;
	struct ctf_word *word;

	for (unsigned int i = 0; i < k->t->nr_members; i++) {
		k->found[i].name = claim_key(k, lt_name(k->c, m[i].name), &word);
		if (!word)
			return false;
		k->differ |= !k->found[i].name;
	}
	for (unsigned int i = 0; i < k->t->nr_members; i++) {
		if (k->found[i].name)
			continue;
		k->found[i].name = claim_next_key(k, lt_name(k->c, m[i].name));
		if (!k->found[i].name)
			return false;
	}
	return true;
}

static bool take_labels(struct keys *k)
{
	for (unsigned int i = 0; i < k->t->nr_members; i++) {
		if (!lt_has_labels(k->t->members[i].type))
			continue;
		snprintf(k->text, k->size, "%s" LABEL, k->found[i].name);
		k->found[i].label = claim_next_key(k, k->text);
		if (!k->found[i].label)
			return false;
		k->differ = true;
	}
	return true;
}

/* Return the room that the longest key may need. */
static size_t longest_key(const struct ctf_type *t)
{
	size_t max = 0;

	for (unsigned int i = 0; i < t->nr_members; i++)
		max = kt_max(max, strlen(t->members[i].name));
	/* A name with a number may get a label with one. */
	return max + sizeof(NUMBER) + sizeof(LABEL) + sizeof(NUMBER);
}

static bool keep_keys(struct keys *k)
{
	const size_t size = k->t->nr_members * sizeof(*k->found);
	struct ctf_key *copy;

	if (!k->differ)
		return true;
	copy = ctf_alloc(k->c, size);
	if (copy)
		k->t->keys = memcpy(copy, k->found, size);
	return copy;
}

/**
 * ctf_name_keys() - find the keys of a structure whose members are complete
 * @c: the metadata
 * @t: the structure; its keys are set unless they are just the names of its members
 *
 * Return: false without memory.
 */
bool ctf_name_keys(struct ctf *c, struct ctf_type *t)
{
	struct keys k = { .c = c, .t = t, .size = longest_key(t) };
	bool ok;

	k.text = malloc(k.size);
	k.found = calloc((size_t)t->nr_members + 1, sizeof(*k.found));
	c->out_of_memory |= !k.text || !k.found;
	ok = k.text && k.found && take_names(&k) && take_labels(&k) &&
	     keep_keys(&k);
	free(k.text);
	free(k.found);
	return ok;
}
