// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of threads of an RTOS trace, and the lists of its events. */
#include "util/hash.h"
#include "stats/rtos.h"

#define UNNAMED "Un-named Thread"

/* Make room for @nr events.  Return: 0 or -ENOMEM. */
int kt_rtos_make_room(struct kt_rtos_events *events, uint64_t nr)
{
	struct kt_rtos_event *more;

	if (nr <= events->room)
		return 0;
	more = realloc(events->list, nr * sizeof(*more));
	if (!more)
		return -ENOMEM;
	events->list = more;
	events->room = nr;
	return 0;
}

static uint32_t *thread_slot(const struct ktape_rtos *r, uint32_t address)
{
	uint32_t mask = r->table_size - 1;
	uint32_t at = (uint32_t)kt_hash(r->seed, address) & mask;

	while (r->table[at] && r->threads[r->table[at] - 1].t.address != address)
		at = (at + 1) & mask;
	return &r->table[at];
}

/* Find a thread by its address.  Return: the thread, or NULL. */
struct kt_rtos_thread *kt_rtos_find(const struct ktape_rtos *r, uint32_t address)
{
	uint32_t nr = r->table_size ? *thread_slot(r, address) : 0;

	return nr ? &r->threads[nr - 1] : NULL;
}

static int grow_table(struct ktape_rtos *r)
{
	uint32_t room = r->room_threads ? r->room_threads * 2 : 64;
	struct kt_rtos_thread *more;
	uint32_t *table;

	if (r->nr_threads < r->room_threads)
		return 0;
	more = realloc(r->threads, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->threads = more;
	table = calloc((size_t)room * 2, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(r->table);
	r->table = table;
	r->table_size = room * 2;
	r->room_threads = room;
	/* Backwards: the first thread with an address keeps the slot. */
	for (uint32_t i = r->nr_threads; i--;)
		*thread_slot(r, r->threads[i].t.address) = i + 1;
	return 0;
}

/*
 * Add a thread.  If several have one address, look-ups find the first.
 * Return: the thread, valid until the next one is added; NULL if there is no memory.
 */
struct kt_rtos_thread *kt_rtos_add(struct ktape_rtos *r, uint32_t address)
{
	struct kt_rtos_thread *t;
	uint32_t *at;

	if (grow_table(r))
		return NULL;
	at = thread_slot(r, address);
	if (!*at)
		*at = r->nr_threads + 1;
	t = &r->threads[r->nr_threads++];
	*t = (struct kt_rtos_thread){
		.t = {
			.address = address, .name = UNNAMED,
			.lowest_prio = KTAPE_RTOS_UNKNOWN,
			.highest_prio = KTAPE_RTOS_UNKNOWN,
			.lowest_threshold = KTAPE_RTOS_UNKNOWN,
			.highest_threshold = KTAPE_RTOS_UNKNOWN,
		},
		.first = KT_RTOS_NEVER, .cursor = KT_RTOS_NEVER,
		.prio = KTAPE_RTOS_UNKNOWN, .threshold = KTAPE_RTOS_UNKNOWN,
		.first_prio = KTAPE_RTOS_UNKNOWN,
		.first_threshold = KTAPE_RTOS_UNKNOWN,
	};
	return t;
}
