/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growing hash table that maps two numbers to two numbers.
 *
 * kt_map_find() returns NULL if there is no such entry.  kt_map_put() adds one with both
 * values 0 in that case, and returns NULL if there is no memory.  An entry is valid until the
 * next kt_map_put() or kt_map_remove().  kt_map_free() does not empty the structure.
 */
#ifndef _KT_MAP_H
#define _KT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kt_map_entry - an entry
 * @used: the entry is in use
 * @kind: first part of the key
 * @key: second part of the key
 * @value: first value
 * @extra: second value
 */
struct kt_map_entry {
	bool used;
	uint32_t kind;
	uint64_t key;
	uint64_t value;
	uint64_t extra;
};

/**
 * struct kt_map - a table; all zero = empty
 * @entries: the entries, NULL = none yet
 * @seed: seed of the hash, set with the first entry
 * @size: number of entries allocated, a power of two
 * @nr: number of entries in use
 */
struct kt_map {
	struct kt_map_entry *entries;
	uint64_t seed;
	size_t size;
	size_t nr;
};

struct kt_map_entry *kt_map_find(const struct kt_map *map, uint32_t kind,
				 uint64_t key);
struct kt_map_entry *kt_map_put(struct kt_map *map, uint32_t kind, uint64_t key);
void kt_map_remove(struct kt_map *map, struct kt_map_entry *entry);
void kt_map_free(struct kt_map *map);

#endif /* _KT_MAP_H */
