// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enters the symbols of code addresses into the registry.
 *
 * Probes leave addresses in the table of event/token.c and queue symbol_irq,
 * which starts a work item that looks the symbols up: kallsyms takes locks that
 * a probe must not take.
 *
 * A looked-up address is remembered until the module that owns it is loaded or
 * unloaded, because another module may then have other functions there.
 */
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

#include "event/event.h"
#include "names.h"

/* Serializes writers of kt_symbols. */
static DEFINE_MUTEX(symbol_lock);

/* Enter the symbol of an address.  Its text is "name+0x1/0x2 [module]": offset and length. */
static void symbol_enter(unsigned long address, u32 token)
{
	char text[KSYM_SYMBOL_LEN], *plus;
	unsigned int offset, length;

	sprint_symbol(text, address);
	plus = strstr(text, "+0x");
	/* Without a symbol the text is the address itself, which must not be revealed. */
	if (!plus || sscanf(plus, "+0x%x/0x%x", &offset, &length) != 2)
		return;
	*plus = '\0';
	kt_registry_set(KTAPE_OBJ_FUNCTION, token, offset, length, text);
}

/* Enter the symbol of an address, unless that was done, and remember the address. */
static void symbol_look_up(unsigned long address)
{
	u32 token = kt_token((void *)address);
	unsigned long *to;

	mutex_lock(&symbol_lock);
	if (!kt_symbol_place(token, address)) {
		symbol_enter(address, token);
		/* A free place.  If there is none, the address is looked up again. */
		to = kt_symbol_place(token, 0);
		if (to)
			WRITE_ONCE(*to, address);
	}
	mutex_unlock(&symbol_lock);
}

static void symbol_work_run(struct work_struct *work)
{
	unsigned long address;
	unsigned int i;

	for (i = 0; i < KT_SYMBOLS_PENDING; i++) {
		address = kt_symbol_take(i);
		if (address)
			symbol_look_up(address);
	}
}

static DECLARE_WORK(symbol_work, symbol_work_run);

static void symbol_irq_run(struct irq_work *work)
{
	schedule_work(&symbol_work);
}

static struct irq_work symbol_irq;

/*
 * Forget the functions of a module that is loaded or unloaded.  If an address is
 * looked up while its module is being unloaded, it is forgotten when another module is
 * loaded at that address.
 */
static int symbol_module_event(struct notifier_block *nb, unsigned long event,
			       void *data)
{
	const struct module *mod = data;
	unsigned long address;
	unsigned int i;

	if (event != MODULE_STATE_COMING && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&symbol_lock);
	for (i = 0; i <= kt_symbols.mask; i++) {
		address = kt_symbols.places[i];
		if (!address || !within_module(address, mod))
			continue;
		WRITE_ONCE(kt_symbols.places[i], 0);
		kt_registry_gone(KTAPE_OBJ_FUNCTION, kt_token((void *)address), 0);
	}
	mutex_unlock(&symbol_lock);
	kt_stack_module(mod);
	return NOTIFY_OK;
}

static struct notifier_block symbol_module_notifier = {
	.notifier_call = symbol_module_event,
};

/**
 * kt_symbols_refresh() - Forget the functions for whose name there was no room
 *
 * They are looked up again when they occur, and so are addresses without a symbol, which have
 * no entry either.
 *
 * Context: process context, may sleep.
 */
void kt_symbols_refresh(void)
{
	unsigned long address;
	unsigned int i;

	mutex_lock(&symbol_lock);
	for (i = 0; i <= kt_symbols.mask; i++) {
		address = kt_symbols.places[i];
		if (address && !kt_registry_has(KTAPE_OBJ_FUNCTION,
						kt_token((void *)address), 0))
			WRITE_ONCE(kt_symbols.places[i], 0);
	}
	mutex_unlock(&symbol_lock);
}

static unsigned long *many_symbols;

/**
 * kt_symbols_make_room() - Remember as many addresses as a session may need
 *
 * Without memory for that, few are remembered, and the others are looked up again.
 *
 * Context: process context, may sleep.
 */
void kt_symbols_make_room(void)
{
	const unsigned long *few;
	unsigned long *to;
	unsigned int i;

	mutex_lock(&symbol_lock);
	few = kt_symbols.places;
	if (!many_symbols)
		many_symbols = __vmalloc(KT_SYMBOLS_MANY * sizeof(*many_symbols),
					 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!many_symbols || kt_symbols.places == many_symbols)
		goto out;
	/* A task that still has the old mask finds its places in the new table, too. */
	WRITE_ONCE(kt_symbols.places, many_symbols);
	/* Pairs with the acquire in kt_symbol_place() and kt_token_func(). */
	smp_store_release(&kt_symbols.mask, KT_SYMBOLS_MANY - 1);
	for (i = 0; i < KT_SYMBOLS_FEW; i++) {
		to = few[i] ? kt_symbol_place(kt_token((void *)few[i]), 0) : NULL;
		if (to)
			WRITE_ONCE(*to, few[i]);
	}
out:
	mutex_unlock(&symbol_lock);
}

/**
 * kt_symbol_init() - Choose the token keys and accept addresses to look up
 *
 * Context: module load, before the first probe.
 * Return: 0 or a negative errno.
 */
int kt_symbol_init(void)
{
	init_irq_work(&symbol_irq, symbol_irq_run);
	kt_token_init(&symbol_irq);
	return register_module_notifier(&symbol_module_notifier);
}

/**
 * kt_symbol_exit() - Wait for the last symbols
 *
 * Context: module unload, after the last probe.
 */
void kt_symbol_exit(void)
{
	unregister_module_notifier(&symbol_module_notifier);
	irq_work_sync(&symbol_irq);
	cancel_work_sync(&symbol_work);
}

/**
 * kt_symbols_free() - Free the table of addresses
 *
 * Context: module unload, when nothing calls kt_symbols_refresh() any more.
 */
void kt_symbols_free(void)
{
	vfree(many_symbols);
}
