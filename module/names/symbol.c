// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys of tokens, and names for the code addresses among them.
 *
 * A probe cannot look a symbol up.  It puts the address into a small table; an
 * irq_work starts a work item that enters the symbols into the registry.  An
 * address that finds no room there is noted again when it comes again.
 *
 * What was looked up is remembered until a module that has the address comes or
 * goes: another one's functions are no longer those of that name.
 */
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

#include "registry.h"
#include "event/stack.h"
#include "symbol.h"

#define PENDING		256
#define WAYS		8	/* places in which an address may be */

u64 kt_token_key[3] __read_mostly;
unsigned long kt_symbols_seen[KT_SYMBOLS_SEEN];

/* Protects kt_symbols_seen against each other's changes. */
static DEFINE_MUTEX(symbol_lock);

/* Addresses whose symbols are to be looked up, near their token; 0: a free place. */
static unsigned long pending[PENDING];

static unsigned long *place(u32 token, unsigned int way)
{
	return &kt_symbols_seen[(token ^ way) % KT_SYMBOLS_SEEN];
}

/* The place of an address, or with 0 a free one; NULL: there is none. */
static unsigned long *find(u32 token, unsigned long address)
{
	unsigned int way;

	for (way = 0; way < WAYS; way++)
		if (READ_ONCE(*place(token, way)) == address)
			return place(token, way);
	return NULL;
}

/* Cut "name+0x1/0x2 [module]" into the name and its numbers. */
static void enter_symbol(unsigned long address, u32 token)
{
	char text[KSYM_SYMBOL_LEN], *plus;
	unsigned int offset, length;

	sprint_symbol(text, address);
	plus = strstr(text, "+0x");
	/* Without a symbol it would be the address itself. */
	if (!plus || sscanf(plus, "+0x%x/0x%x", &offset, &length) != 2)
		return;
	*plus = '\0';
	kt_registry_set(KTAPE_OBJ_FUNCTION, token, offset, length, text);
}

static void look_up(unsigned long address)
{
	u32 token = kt_token((void *)address);
	unsigned long *to;

	mutex_lock(&symbol_lock);
	if (!find(token, address)) {
		enter_symbol(address, token);
		to = find(token, 0);
		if (to)
			WRITE_ONCE(*to, address);
	}
	mutex_unlock(&symbol_lock);
}

static void enter_symbols(struct work_struct *work)
{
	unsigned long address;
	unsigned int i;

	for (i = 0; i < PENDING; i++) {
		/* Pairs with the cmpxchg() in kt_symbol_note(). */
		address = xchg(&pending[i], 0);
		if (address)
			look_up(address);
	}
}

static DECLARE_WORK(symbol_work, enter_symbols);

static void start_work(struct irq_work *work)
{
	schedule_work(&symbol_work);
}

static struct irq_work symbol_irq;

/*
 * Where there is no room to remember addresses they come again and again, that
 * of our own work item maybe among them.  Each tick has one of them.
 */
static bool crowded(u32 token)
{
	static u32 last;
	u32 tick = (u32)jiffies;

	if (find(token, 0))
		return false;
	if (READ_ONCE(last) == tick)
		return true;
	WRITE_ONCE(last, tick);
	return false;
}

/**
 * kt_symbol_note() - have the symbol of a code address entered
 * @address: the address
 * @token: its token
 *
 * Context: any, NMI included; preemption disabled.
 */
noinline void kt_symbol_note(unsigned long address, u32 token)
{
	unsigned long old = address;
	unsigned int way;

	if (!address || find(token, address) || crowded(token))
		return;
	for (way = 0; way < WAYS && old; way++) {
		/* Pairs with the xchg() in enter_symbols(). */
		old = cmpxchg(&pending[(token ^ way) % PENDING], 0, address);
		if (old == address)
			return;
	}
	if (!old)
		irq_work_queue(&symbol_irq);
}

/*
 * The addresses of a module that comes or goes are no longer those of the
 * functions that had them.  What is looked up while one goes is found here when
 * another one takes its place.
 */
static int module_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	const struct module *mod = data;
	unsigned long address;
	unsigned int i;

	if (event != MODULE_STATE_COMING && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&symbol_lock);
	for (i = 0; i < KT_SYMBOLS_SEEN; i++) {
		address = kt_symbols_seen[i];
		if (!address || !within_module(address, mod))
			continue;
		WRITE_ONCE(kt_symbols_seen[i], 0);
		kt_registry_gone(KTAPE_OBJ_FUNCTION,
				 kt_token((void *)address), 0);
	}
	mutex_unlock(&symbol_lock);
	kt_stack_module(mod);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
};

/**
 * kt_token_init() - choose the keys
 *
 * Context: module load, before the first probe.
 * Return: 0 or a negative errno.
 */
int kt_token_init(void)
{
	get_random_bytes(kt_token_key, sizeof(kt_token_key));
	/* Odd factors lose nothing. */
	kt_token_key[1] |= 1;
	kt_token_key[2] |= 1;
	init_irq_work(&symbol_irq, start_work);
	return register_module_notifier(&module_notifier);
}

/**
 * kt_token_exit() - wait for the last symbols
 *
 * Context: module unload, after the last probe.
 */
void kt_token_exit(void)
{
	unregister_module_notifier(&module_notifier);
	irq_work_sync(&symbol_irq);
	cancel_work_sync(&symbol_work);
}
