// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel tells by notifiers: that it dies or panics, which is an
 * exception, and which network devices there are, which are objects.
 */
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#ifdef KT_HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif

#include "emit/exception.h"
#include "internal.h"
#include "names/registry.h"
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

static int on_netdevice(struct notifier_block *nb, unsigned long event,
			void *data)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(data);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		kt_registry_set(KTAPE_OBJ_NET_DEVICE, kt_netdev_id(dev),
				dev_net(dev)->ns.inum, dev->ifindex, dev->name);
		break;
	case NETDEV_UNREGISTER:
		kt_registry_gone(KTAPE_OBJ_NET_DEVICE, kt_netdev_id(dev), 0);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block die_notifier = { .notifier_call = on_die };
static struct notifier_block panic_notifier = { .notifier_call = on_panic };
static struct notifier_block net_notifier = { .notifier_call = on_netdevice };

/**
 * kt_notify_init() - listen; network devices that are there are told at once
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
	if (!IS_ENABLED(CONFIG_NET))
		return 0;
	ret = register_netdevice_notifier(&net_notifier);
	if (ret)
		goto err_panic;
	return 0;

err_panic:
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
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
	if (IS_ENABLED(CONFIG_NET))
		unregister_netdevice_notifier(&net_notifier);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	unregister_die_notifier(&die_notifier);
}
