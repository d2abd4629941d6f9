// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the registry, which grows while it is used.
 *
 * The table is a list of chunks.  A chunk is allocated once, never moved and freed at
 * unload, so slots and mapped pages stay where they are.  The table has room for as many
 * entries as a share of the machine's memory, or registry_max=, allows.
 * It is allocated and grows in growth.c.
 */
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "internal.h"
#include "names.h"

struct kt_chunk **kt_chunks;
struct kt_table kt_table;

/**
 * kt_table_wake() - Let the table grow, or record the counts of names without room
 *
 * Context: any but NMI.
 */
void kt_table_wake(void)
{
	if (READ_ONCE(kt_table.woken) || READ_ONCE(kt_table.closed))
		return;
	WRITE_ONCE(kt_table.woken, true);
	irq_work_queue(&kt_table.irq);
}

/**
 * kt_table_limit() - Return why the table cannot have more slots than now
 *
 * Context: any.
 * Return: KTAPE_NO_ROOM_LATE if it can, else the reason why it cannot.
 */
enum ktape_no_room kt_table_limit(void)
{
	if (READ_ONCE(kt_table.nr) >= kt_table.max)
		return KTAPE_NO_ROOM_LIMIT;
	return READ_ONCE(kt_table.failed) ? KTAPE_NO_ROOM_MEMORY :
					    KTAPE_NO_ROOM_LATE;
}

/**
 * kt_registry_entries() - Return the number of slots in the table
 *
 * Return: the number, which only grows. Context: any.
 */
unsigned int kt_registry_entries(void)
{
	/* Pairs with the release in table_extend(): the chunks are there. */
	return smp_load_acquire(&kt_table.nr);
}

/**
 * kt_registry_max() - Return the number of slots that the table can have
 *
 * Return: the number. Context: any.
 */
unsigned int kt_registry_max(void)
{
	return kt_table.max;
}

/**
 * kt_registry_limit() - Return why the table does not grow now
 *
 * Return: enum ktape_no_room, 0 = it can grow. Context: any.
 */
unsigned int kt_registry_limit(void)
{
	enum ktape_no_room why = kt_table_limit();

	return why == KTAPE_NO_ROOM_LATE ? 0 : why;
}

/**
 * kt_registry_page_at() - Return a page of the table, for mapping it
 * @page: number of the page, from 0
 *
 * Context: any.
 * Return: the page, without taking a reference; NULL past the end of the table.
 */
struct page *kt_registry_page_at(unsigned long page)
{
	const struct kt_chunk *c;
	u32 slot;

	if (page >= kt_registry_entries() / KT_PAGE_SLOTS)
		return NULL;
	slot = page * KT_PAGE_SLOTS;
	c = kt_chunks[slot / KT_CHUNK_SLOTS];
	return vmalloc_to_page(&c->entry[slot % KT_CHUNK_SLOTS]);
}
