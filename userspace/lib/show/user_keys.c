// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keys of an object of JSON whose members are the fields of a user event.  Names come from the
 * trace and may be equal; a reader of JSON keeps one of two equal keys.  Keys are compared by a
 * hash of 64 bits: where two have the same one, a number is given without need.
 */
#include "util/hash.h"

#include "show/user_event.h"

/* Keys, also of earlier events, above which the map is emptied. */
#define KEYS_MAX 4096U

static uint64_t hash_key(const char *name, uint32_t more, const char *behind)
{
	char number[KT_PUT_U64_MAX + 2] = "";
	const char *const parts[] = { name, number, behind };
	uint64_t hash = KT_FNV_BEGIN;

	if (more)
		*kt_put_u64(kt_put_char(number, '_'), more) = '\0';
	for (size_t i = 0; i < KT_ARRAY_SIZE(parts); i++)
		hash = kt_fnv(hash, parts[i], strlen(parts[i]));
	return hash;
}

/* Check whether a field with the number @more has a key that is taken. */
static bool is_key_taken(const struct kt_user_keys *k,
			 const struct kt_user_field *f, uint32_t more)
{
	return kt_map_find(&k->taken, k->event, hash_key(f->name, more, "")) ||
	       (f->object && kt_map_find(&k->taken, k->event,
					 hash_key(f->name, more, "_name")));
}

/*
 * Number one field.  The entry of a name has the last number that the name got in this event, so
 * that none is tried twice.
 */
static int number_field(struct kt_user_keys *k, struct kt_user_field *f)
{
	const uint64_t hash = hash_key(f->name, 0, "");
	struct kt_map_entry *entry;

	f->more = 0;
	if (is_key_taken(k, f, 0)) {
		entry = kt_map_find(&k->taken, k->event, hash);
		/* The second field of a name is NAME_2. */
		f->more = (uint32_t)kt_max(entry ? entry->value : 0, 1);
		do {
			f->more++;
		} while (is_key_taken(k, f, f->more));
	}
	if (!kt_map_put(&k->taken, k->event, hash_key(f->name, f->more, "")) ||
	    (f->object && !kt_map_put(&k->taken, k->event,
				      hash_key(f->name, f->more, "_name"))))
		return -ENOMEM;
	entry = kt_map_put(&k->taken, k->event, hash);
	if (entry)
		entry->value = f->more;
	return entry ? 0 : -ENOMEM;
}

/**
 * kt_user_number() - Number the fields of an event whose names are equal
 * @k: memory for this; all zero = none yet
 * @u: the event; @more of its fields is set, so that no two keys NAME or NAME_MORE are equal,
 *	also with "_name" behind those of objects
 *
 * Return: 0 or -ENOMEM.
 */
int kt_user_number(struct kt_user_keys *k, struct kt_user_event *u)
{
	int err = 0;

	if (u->nr < 2)
		return 0;
	if (k->taken.nr > KEYS_MAX) {
		kt_map_free(&k->taken);
		k->taken = (struct kt_map){ .entries = NULL };
	}
	k->event++;
	for (unsigned int i = 0; i < u->nr && !err; i++)
		err = number_field(k, &u->fields[i]);
	return err;
}
