// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel tells by notifiers: that it dies or panics, which is an
 * exception.
 */
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#ifdef KT_HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif

#include "emit/exception.h"
#include "internal.h"
#include "names/symbol.h"

static void report(u32 code, const u32 *args, unsigned int nargs,
		   const char *text)
{
	kt_exception(KTAPE_SW_SEVERITY3, code, args, nargs, text,
		     text ? strnlen(text, KT_TEXT_MAX) : 0, text);
}

/* The chain also hears of breakpoints and traps, which are no deaths. */
static int on_die(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct die_args *die = data;
	u32 args[4] = {};

	if (event != DIE_OOPS)
		return NOTIFY_DONE;
	kt_probe_enter();
	if (die->regs)
		args[0] = kt_token_func(instruction_pointer(die->regs));
	args[1] = die->trapnr;
	args[2] = die->err;
	args[3] = die->signr;
	report(KTAPE_EXC_DIE, args, ARRAY_SIZE(args), die->str);
	kt_probe_leave();
	return NOTIFY_DONE;
}

static int on_panic(struct notifier_block *nb, unsigned long event, void *data)
{
	report(KTAPE_EXC_PANIC, NULL, 0, data);
	return NOTIFY_DONE;
}

static struct notifier_block die_notifier = { .notifier_call = on_die };
static struct notifier_block panic_notifier = { .notifier_call = on_panic };

/**
 * kt_notify_init() - listen
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_notify_init(void)
{
	int ret = register_die_notifier(&die_notifier);

	if (ret)
		return ret;
	ret = atomic_notifier_chain_register(&panic_notifier_list,
					     &panic_notifier);
	if (ret)
		goto err_die;
	return 0;

err_die:
	unregister_die_notifier(&die_notifier);
	return ret;
}

/**
 * kt_notify_exit() - no longer listen
 *
 * Context: module unload, may sleep.
 */
void kt_notify_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	unregister_die_notifier(&die_notifier);
}
