// SPDX-License-Identifier: LGPL-2.1-or-later
/* Growing bytes, and names that are kept once. */
#include <errno.h>
#include <stdlib.h>

#include "util/hash.h"
#include "util/put.h"

#include "parquet.h"

#define LEAST_CAP   4096U
#define LEAST_SLOTS 1024U
#define TEXT_MAX    UINT32_MAX /* bytes of all names */

/**
 * kt_pq_room() - Make room at the end of bytes
 * @b: the bytes
 * @n: bytes needed; the caller adds to @b->len what it used
 *
 * Return: the room, or NULL: there is no memory.
 */
uint8_t *kt_pq_room(struct kt_pq_buf *b, size_t n)
{
	size_t cap = kt_max(b->cap * 2, b->len + n + LEAST_CAP);
	uint8_t *p;

	if (b->cap - b->len >= n)
		return b->p + b->len;
	p = realloc(b->p, cap);
	if (!p)
		return NULL;
	b->p = p;
	b->cap = cap;
	return p + b->len;
}

static uint64_t hash_text(uint64_t seed, const char *text, size_t len)
{
	uint64_t h = seed ^ len, word;

	for (; len >= 8; text += 8, len -= 8)
		h = kt_hash_mix(h ^ kt_get64(text));
	word = 0;
	memcpy(&word, text, len);
	return kt_hash_mix(h ^ word);
}

/* Return the slot of a name, or the free slot where it belongs. */
static uint32_t *find_slot(const struct kt_pq_pool *pool, uint64_t hash,
			   const char *text, size_t len)
{
	uint32_t mask = pool->nr_slots - 1;

	for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
		const struct kt_pq_name *n;

		if (!pool->slots[i])
			return &pool->slots[i];
		n = &pool->names[pool->slots[i] - 1];
		if (n->hash == hash && n->len == len &&
		    !memcmp(pool->text.p + n->at, text, len))
			return &pool->slots[i];
	}
}

/* Double the slots, and the room for names with them. */
static int grow_pool(struct kt_pq_pool *pool)
{
	uint32_t nr = pool->nr_slots ? pool->nr_slots * 2 : LEAST_SLOTS;
	struct kt_pq_name *names;
	uint32_t *slots;

	names = realloc(pool->names, nr / 2 * sizeof(*names));
	if (!names)
		return -ENOMEM;
	pool->names = names;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (!pool->nr_slots)
		pool->seed = kt_hash_seed(slots);
	for (uint32_t i = 0; i < pool->nr; i++) {
		uint32_t at = (uint32_t)names[i].hash & (nr - 1);

		while (slots[at])
			at = (at + 1) & (nr - 1);
		slots[at] = i + 1;
	}
	free(pool->slots);
	pool->slots = slots;
	pool->nr_slots = nr;
	return 0;
}

/**
 * kt_pq_intern() - Return the number of a name, which is added if it is new
 * @pool: the names
 * @text: the name; bytes that are no UTF-8 are replaced
 * @len: bytes of @text
 *
 * Return: the number, or negative errno.
 */
int64_t kt_pq_intern(struct kt_pq_pool *pool, const char *text, size_t len)
{
	struct kt_pq_name *n;
	uint8_t *to = kt_pq_room(&pool->text, len + 1); /* not NULL for an empty name */
	uint32_t *slot;
	uint64_t hash;

	if (!to || (pool->nr * 2 >= pool->nr_slots && grow_pool(pool)))
		return -ENOMEM;
	if (pool->text.len + len > TEXT_MAX)
		return -EFBIG;
	if (len)
		memcpy(to, text, len);
	kt_utf8_mend((char *)to, len);
	hash = hash_text(pool->seed, (const char *)to, len);
	slot = find_slot(pool, hash, (const char *)to, len);
	if (*slot)
		return *slot - 1;
	n = &pool->names[pool->nr];
	*n = (struct kt_pq_name){ hash, (uint32_t)pool->text.len, (uint32_t)len };
	pool->text.len += len;
	*slot = ++pool->nr;
	return *slot - 1;
}

/**
 * kt_pq_pool_free() - Free the names
 * @pool: the names
 */
void kt_pq_pool_free(struct kt_pq_pool *pool)
{
	free(pool->text.p);
	free(pool->names);
	free(pool->slots);
	memset(pool, 0, sizeof(*pool));
}
