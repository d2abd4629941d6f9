/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two numbers to two numbers, in one table that grows. */
#ifndef _KT_MAP_H
#define _KT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kt_map_entry - an entry
 * @used: it is one
 * @kind: first part of the key
 * @key: second part
 * @value: what belongs to it
 * @extra: a second value
 */
struct kt_map_entry {
	bool used;
	uint32_t kind;
	uint64_t key;
	uint64_t value;
	uint64_t extra;
};

/**
 * struct kt_map - the table
 * @entries: a power of two, or NULL
 * @seed: of places; set with the first entry
 * @size: how many places
 * @nr: how many are used
 */
struct kt_map {
	struct kt_map_entry *entries;
	uint64_t seed;
	size_t size;
	size_t nr;
};

struct kt_map_entry *kt_map_find(const struct kt_map *map, uint32_t kind,
				 uint64_t key);
struct kt_map_entry *kt_map_put(struct kt_map *map, uint32_t kind,
				uint64_t key);
void kt_map_remove(struct kt_map *map, struct kt_map_entry *entry);
void kt_map_free(struct kt_map *map);

#endif /* _KT_MAP_H */
