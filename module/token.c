// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of tokens, and names for the code addresses among them.
 *
 * A probe cannot look a symbol up.  It puts the address into a small table; an
 * irq_work starts a work item that enters the symbols into the registry.  An
 * address that finds no room there is noted again when it comes again.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

#include "registry.h"
#include "token.h"

#define PENDING		256

u64 kt_token_key[3] __read_mostly;
u32 kt_symbols_seen[KT_SYMBOLS_SEEN];

/* Addresses whose symbols are to be looked up; 0: a free place. */
static unsigned long pending[PENDING];
static atomic_t pending_next;

/* Cut "name+0x1/0x2 [module]" into the name and its numbers. */
static void enter_symbol(unsigned long address)
{
	char text[KSYM_SYMBOL_LEN], *plus;
	unsigned int offset, length;

	sprint_symbol(text, address);
	plus = strstr(text, "+0x");
	/* Without a symbol it would be the address itself. */
	if (!plus || sscanf(plus, "+0x%x/0x%x", &offset, &length) != 2)
		return;
	*plus = '\0';
	kt_registry_set(KTAPE_OBJ_FUNCTION, kt_token((void *)address), offset,
			length, text);
}

static void enter_symbols(struct work_struct *work)
{
	unsigned long address;
	unsigned int i;

	for (i = 0; i < PENDING; i++) {
		/* Pairs with the cmpxchg() in kt_symbol_note(). */
		address = xchg(&pending[i], 0);
		if (address)
			enter_symbol(address);
	}
}

static DECLARE_WORK(symbol_work, enter_symbols);

static void start_work(struct irq_work *work)
{
	schedule_work(&symbol_work);
}

static struct irq_work symbol_irq;

/**
 * kt_symbol_note() - have the symbol of a code address entered
 * @address: the address
 * @token: its token
 *
 * Context: any, NMI included; preemption disabled.
 */
noinline void kt_symbol_note(unsigned long address, u32 token)
{
	unsigned int i = (unsigned int)atomic_inc_return(&pending_next);

	if (!address)
		return;
	/* Pairs with the xchg() in enter_symbols(). */
	if (cmpxchg(&pending[i % PENDING], 0, address))
		return;
	WRITE_ONCE(kt_symbols_seen[token % KT_SYMBOLS_SEEN], token);
	irq_work_queue(&symbol_irq);
}

/**
 * kt_token_init() - choose the keys
 *
 * Context: module load, before the first probe.
 */
void kt_token_init(void)
{
	get_random_bytes(kt_token_key, sizeof(kt_token_key));
	/* Odd factors lose nothing. */
	kt_token_key[1] |= 1;
	kt_token_key[2] |= 1;
	init_irq_work(&symbol_irq, start_work);
}

/**
 * kt_token_exit() - wait for the last symbols
 *
 * Context: module unload, after the last probe.
 */
void kt_token_exit(void)
{
	irq_work_sync(&symbol_irq);
	cancel_work_sync(&symbol_work);
}
