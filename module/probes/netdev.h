/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of network devices in records and in the registry. */
#ifndef _KT_NETDEV_H
#define _KT_NETDEV_H

#include <linux/netdevice.h>
#include <net/net_namespace.h>

#include <ktape/objects.h>

#include "names/symbol.h"

/**
 * kt_netdev_id() - a network device's number
 * @dev: the device
 *
 * Indices are counted by name space.  Those of the initial one stand for
 * themselves; another one's device has a token, with the uppermost bit set.
 *
 * Context: any.
 * Return: the number.
 */
static __always_inline u32 kt_netdev_id(const struct net_device *dev)
{
	if (likely(net_eq(dev_net(dev), &init_net)))
		return dev->ifindex;
	return kt_token(dev) | KTAPE_NETDEV_OTHER;
}

#endif /* _KT_NETDEV_H */
