// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A hash table with open addressing.  Removing an entry moves later ones forward, so
 * there are no deleted entries that slow down look-ups.
 */
#include <errno.h>
#include <stdlib.h>

#include "hash.h"
#include "map.h"

#define FIRST_SIZE 256

static size_t hash_index(const struct kt_map *map, uint32_t kind, uint64_t key)
{
	return kt_hash(map->seed + kind, key) & (map->size - 1);
}

/* Return the entry of a key, or the free entry where it belongs. */
static struct kt_map_entry *find_entry(const struct kt_map *map, uint32_t kind,
				       uint64_t key)
{
	size_t i = hash_index(map, kind, key);

	while (map->entries[i].used &&
	       (map->entries[i].key != key || map->entries[i].kind != kind))
		i = (i + 1) & (map->size - 1);
	return &map->entries[i];
}

/**
 * kt_map_find() - Look up an entry
 * @map: the table
 * @kind: first part of the key
 * @key: second part of the key
 *
 * Return: the entry, valid until the next kt_map_put() or kt_map_remove(), or NULL.
 */
struct kt_map_entry *kt_map_find(const struct kt_map *map, uint32_t kind,
				 uint64_t key)
{
	struct kt_map_entry *e = map->size ? find_entry(map, kind, key) : NULL;

	return e && e->used ? e : NULL;
}

static bool grow_map(struct kt_map *map)
{
	struct kt_map more = {
		.size = map->size ? map->size * 2 : FIRST_SIZE,
		.nr = map->nr,
		.seed = map->size ? map->seed : kt_hash_seed(map),
	};

	more.entries = calloc(more.size, sizeof(*more.entries));
	if (!more.entries)
		return false;
	for (size_t i = 0; i < map->size; i++) {
		const struct kt_map_entry *e = &map->entries[i];

		if (e->used)
			*find_entry(&more, e->kind, e->key) = *e;
	}
	free(map->entries);
	*map = more;
	return true;
}

/**
 * kt_map_put() - Look up an entry, or add a zeroed one
 * @map: the table
 * @kind: first part of the key
 * @key: second part of the key
 *
 * Return: as kt_map_find(), or NULL if there is no memory.
 */
struct kt_map_entry *kt_map_put(struct kt_map *map, uint32_t kind, uint64_t key)
{
	struct kt_map_entry *e = map->size ? find_entry(map, kind, key) : NULL;

	if (e && e->used)
		return e;
	if (!e || map->nr * 2 >= map->size) {
		if (!grow_map(map))
			return NULL;
		e = find_entry(map, kind, key);
	}
	*e = (struct kt_map_entry){ .used = true, .kind = kind, .key = key };
	map->nr++;
	return e;
}

/**
 * kt_map_remove() - Remove an entry
 * @map: the table
 * @entry: an entry of the table
 */
void kt_map_remove(struct kt_map *map, struct kt_map_entry *entry)
{
	size_t hole = (size_t)(entry - map->entries), i = hole;

	map->nr--;
	/* Move later entries forward that were displaced by this one. */
	for (;;) {
		size_t home;

		map->entries[hole].used = false;
		do {
			i = (i + 1) & (map->size - 1);
			if (!map->entries[i].used)
				return;
			home = hash_index(map, map->entries[i].kind,
					  map->entries[i].key);
		} while (((i - home) & (map->size - 1)) <
			 ((i - hole) & (map->size - 1)));
		map->entries[hole] = map->entries[i];
		hole = i;
	}
}

/* Free all entries.  @map must be zeroed before it is used again. */
void kt_map_free(struct kt_map *map)
{
	free(map->entries);
}
