// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory of the traced device, as a dump in Intel HEX or S-records gives it, with gaps.
 * The records of a dump can come in any order and be far from each other: only pages that
 * have a byte of a record are held, so that a small file needs little.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "memory.h"

#define NO_KIND 0 /* all keys of this map are of one kind */

static uint8_t *page_of(const struct kt_memory *m, uint64_t at)
{
	const struct kt_map_entry *e =
		kt_map_find(&m->pages, NO_KIND, at / KT_MEMORY_PAGE);

	return e ? (uint8_t *)(uintptr_t)e->value : NULL;
}

/* Return the page of an address, made if it is missing; NULL without memory. */
static uint8_t *make_page(struct kt_memory *m, uint64_t at)
{
	uint8_t *page = page_of(m, at);
	struct kt_map_entry *e;

	if (page)
		return page;
	page = calloc(1, KT_MEMORY_PAGE);
	e = page ? kt_map_put(&m->pages, NO_KIND, at / KT_MEMORY_PAGE) : NULL;
	if (!e) {
		free(page);
		return NULL;
	}
	e->value = (uintptr_t)page;
	return page;
}

/* Return how many of @len bytes from @at on are in its page. */
static size_t in_page(uint64_t at, size_t len)
{
	return kt_min(len, KT_MEMORY_PAGE - (size_t)(at % KT_MEMORY_PAGE));
}

/* Put the bytes of a record of the dump.  Return: 0 or -ENOMEM. */
int kt_memory_put(struct kt_memory *m, uint64_t at, const uint8_t *data, size_t len)
{
	if (len) {
		m->first = m->end ? kt_min(m->first, at) : at;
		m->end = kt_max(m->end, at + len);
	}
	while (len) {
		size_t n = in_page(at, len);
		uint8_t *page = make_page(m, at);

		if (!page)
			return -ENOMEM;
		memcpy(page + at % KT_MEMORY_PAGE, data, n);
		at += n;
		data += n;
		len -= n;
	}
	return 0;
}

/* Copy bytes; those without a record are 0. */
void kt_memory_get(const struct kt_memory *m, uint64_t at, uint8_t *to, size_t len)
{
	while (len) {
		size_t n = in_page(at, len);
		const uint8_t *page = page_of(m, at);

		if (page)
			memcpy(to, page + at % KT_MEMORY_PAGE, n);
		else
			memset(to, 0, n);
		at += n;
		to += n;
		len -= n;
	}
}

/* Return the first address from @at on whose page has a record, or the end. */
uint64_t kt_memory_next(const struct kt_memory *m, uint64_t at)
{
	while (at < m->end && !page_of(m, at))
		at += in_page(at, KT_MEMORY_PAGE);
	return kt_min(at, m->end);
}

void kt_memory_free(struct kt_memory *m)
{
	for (size_t i = 0; i < m->pages.size; i++) {
		if (m->pages.entries[i].used)
			free((void *)(uintptr_t)m->pages.entries[i].value);
	}
	kt_map_free(&m->pages);
	*m = (struct kt_memory){ .end = 0 };
}
