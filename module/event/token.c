// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tokens (keyed 32-bit hashes that replace addresses), and the code addresses
 * whose symbols are still to be looked up.
 *
 * A probe cannot look a symbol up.  It stores the address in a small table of
 * pending addresses and queues the irq_work of names/symbol.c, which looks the
 * symbols up and enters them into the registry.  An address that finds no free
 * place is dropped, and stored when it occurs again.
 *
 * Looked-up addresses stay in kt_symbols, so that a probe stores each address once.
 * Only names/symbol.c writes to that table.  It has few places until the first session
 * records.
 */
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/random.h>

#include "internal.h"

#define WAYS KT_SYMBOLS_FEW /* places in which an address may be */

u64 kt_token_key[3] __read_mostly;

static unsigned long few_symbols[KT_SYMBOLS_FEW];
struct kt_symbols kt_symbols __read_mostly = {
	.mask = KT_SYMBOLS_FEW - 1,
	.places = few_symbols,
};

/* Addresses to be looked up, hashed by token; 0 = free place. */
static unsigned long pending_symbols[KT_SYMBOLS_PENDING];

static struct irq_work *pending_work;

/**
 * kt_symbol_place() - Find the place of an address among those looked up
 * @token: token of the address
 * @address: code address, or 0 to find a free place for @token
 *
 * Context: any.
 * Return: the place, or NULL if there is none.
 */
unsigned long *kt_symbol_place(u32 token, unsigned long address)
{
	unsigned long *place;
	unsigned int way;
	/* Pairs with the release in kt_symbols_make_room(): the places are there. */
	u32 mask = smp_load_acquire(&kt_symbols.mask);

	for (way = 0; way < WAYS; way++) {
		place = &READ_ONCE(kt_symbols.places)[(token ^ way) & mask];
		if (READ_ONCE(*place) == address)
			return place;
	}
	return NULL;
}

/*
 * Must a lookup be put off, because the address could not be remembered?
 *
 * If all its places in kt_symbols are taken, an address is looked up each
 * time it occurs.  The lookup itself may cause events with that address, which
 * would be an endless loop.  So let one such address through per tick.
 */
static bool symbol_is_throttled(u32 token)
{
	static u32 last;
	u32 tick = (u32)jiffies;

	if (kt_symbol_place(token, 0))
		return false;
	if (READ_ONCE(last) == tick)
		return true;
	WRITE_ONCE(last, tick);
	return false;
}

/* Request the symbol of a code address.  Out of line: once for each address. */
static noinline void symbol_make_pending(unsigned long address, u32 token)
{
	unsigned long old = address;
	unsigned int way;

	if (!address || kt_symbol_place(token, address) ||
	    symbol_is_throttled(token))
		return;
	for (way = 0; way < WAYS && old; way++) {
		/* Pairs with the xchg() in kt_symbol_take(). */
		old = cmpxchg(&pending_symbols[(token ^ way) % KT_SYMBOLS_PENDING],
			      0, address);
		if (old == address)
			return;
	}
	if (!old)
		irq_work_queue(pending_work);
}

/**
 * kt_token_func() - Return the token of a code address, and request its symbol
 * @address: in the kernel or a module, may be 0
 *
 * Context: any, NMI included; preemption disabled.
 * Return: the token, 0 for address 0 only.
 */
u32 notrace kt_token_func(unsigned long address)
{
	u32 token = kt_token((const void *)address);
	/* As in kt_symbol_place(). */
	u32 place = token & smp_load_acquire(&kt_symbols.mask);

	if (unlikely(READ_ONCE(READ_ONCE(kt_symbols.places)[place]) != address))
		symbol_make_pending(address, token);
	return token;
}

/**
 * kt_symbol_take() - Take a pending address out of its place
 * @place: below KT_SYMBOLS_PENDING
 *
 * Context: any.
 * Return: the address, 0 if the place is free.
 */
unsigned long kt_symbol_take(unsigned int place)
{
	/* Pairs with the cmpxchg() in symbol_make_pending(). */
	return xchg(&pending_symbols[place], 0);
}

/**
 * kt_token_init() - Choose the keys of this load
 * @on_pending: queued when an address is pending
 *
 * Context: module load, before the first probe.
 */
void kt_token_init(struct irq_work *on_pending)
{
	pending_work = on_pending;
	get_random_bytes(kt_token_key, sizeof(kt_token_key));
	/* An odd factor maps different numbers to different numbers. */
	kt_token_key[1] |= 1;
	kt_token_key[2] |= 1;
}
