/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a registry consists of: see registry.c, which adds names, and lookup.c. */
#ifndef _KT_REGISTRY_H
#define _KT_REGISTRY_H

#include "util/hash.h"

#include "names/names.h"

#define KT_ANSWERS 256U /* cached results, a power of two */

/* A name that is longer than that of struct ktape_object_info. */
struct kt_long_name {
	struct kt_long_name *next;
	char text[];
};

/* What was recorded about an object, and when. */
struct kt_version {
	uint64_t since;
	struct ktape_object_info object;
};

/* Identity of an object.  @param1 is 0 unless it is part of the id of the type. */
struct kt_key {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
};

/* All versions recorded for a key, in order of time. */
struct kt_version_list {
	struct kt_key key;
	unsigned int nr;
	unsigned int room;
	struct kt_version *versions;
};

/**
 * struct kt_lists - a hash table with open addressing
 * @used: lists with versions
 * @size: entries of @lists, a power of two
 * @lists: the lists; NULL: there are none
 */
struct kt_lists {
	size_t used;
	size_t size;
	struct kt_version_list *lists;
};

/*
 * A cached result: at memo.turn @turn, @key refers to @object (or to none) from @from
 * until @from + @lasts.
 */
struct kt_answer {
	struct kt_key key;
	uint64_t turn;
	uint64_t from;
	uint64_t lasts;
	const struct ktape_object_info *object;
};

/* Caches of a registry, which look-ups change although they take a const registry. */
struct kt_registry_memory {
	struct kt_memo memo;
	struct kt_answer answers[KT_ANSWERS];
};

/**
 * struct ktape_registry - names of objects
 * @formats: formats that can describe user events
 * @memory: caches
 * @seed: of the hash
 * @hz: ticks of the trace clock in a second
 * @total: versions in all lists
 * @left_out: versions dropped because of the limits
 * @recorded: names that were recorded, with repeated ones
 * @first_death: the earliest death in a copy of the module's table, UINT64_MAX = none
 * @no_room: names for which the module had no room, by enum ktape_no_room
 * @own: lists
 * @longer: long names of @own, freed with it
 * @base: a view: the lists of the other registry, for keys that @own does not have
 * @base_turn: a view: memo.turn of the other registry
 */
struct ktape_registry {
	const struct kt_user_format *const *formats;
	struct kt_registry_memory *memory;
	uint64_t seed;
	uint64_t hz;
	size_t total;
	uint64_t left_out;
	uint64_t recorded;
	uint64_t first_death;
	uint64_t no_room[KTAPE_NO_ROOM_REASONS];
	struct kt_lists own;
	struct kt_long_name *longer;
	struct kt_lists base;
	uint64_t base_turn;
};

/* Return the key of an object. */
static inline struct kt_key kt_key_of(uint32_t type, uint32_t id, uint32_t param1)
{
	switch (type) {
	case KTAPE_OBJ_MARKER:
	case KTAPE_OBJ_VALUE:
	case KTAPE_OBJ_ISR:
	case KTAPE_OBJ_CGROUP:
	case KTAPE_OBJ_SYSCALL:
		return (struct kt_key){ type, id, param1 };
	default:
		return (struct kt_key){ type, id, 0 };
	}
}

static inline size_t kt_key_hash(uint64_t seed, struct kt_key k)
{
	uint64_t v = kt_hash(seed, k.id | (uint64_t)k.type << 32);

	return (size_t)kt_hash_mix(v + k.param1);
}

static inline bool kt_list_is_of(const struct kt_version_list *list, struct kt_key k)
{
	return list->key.id == k.id && list->key.type == k.type &&
	       list->key.param1 == k.param1;
}

/* Return the list of @k, or the free entry where the list belongs: a table is never full. */
static inline struct kt_version_list *kt_lists_find(const struct kt_lists *table,
						    uint64_t seed, struct kt_key k)
{
	size_t i = kt_key_hash(seed, k) & (table->size - 1);

	while (table->lists[i].nr && !kt_list_is_of(&table->lists[i], k))
		i = (i + 1) & (table->size - 1);
	return &table->lists[i];
}

#endif /* _KT_REGISTRY_H */
