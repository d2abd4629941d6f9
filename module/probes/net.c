// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network devices and packets.
 *
 * The registry has their names (module/probes/notify.c).
 */
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <trace/events/napi.h>
#include <trace/events/net.h>
#include <trace/events/skb.h>

#include <ktape/objects.h>

#include "event/event.h"
#include "internal.h"
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
u32 kt_netdev_id(const struct net_device *dev)
{
	if (likely(net_eq(dev_net(dev), &init_net)))
		return dev->ifindex;
	return kt_token(dev) | KTAPE_NETDEV_OTHER;
}

static __always_inline u32 dev_index(const struct net_device *dev)
{
	return dev ? kt_netdev_id(dev) : 0;
}

#define SKB_EVENT(NAME, skb, dev)					\
do {									\
	kt_probe_enter();						\
	KT_EVENT3(NAME, ntohs((skb)->protocol), dev_index(dev),		\
		  kt_token(skb), (skb)->len);				\
	kt_probe_leave();						\
} while (0)

static void notrace probe_net_dev_queue(void *data, struct sk_buff *skb)
{
	SKB_EVENT(NET_DEV_QUEUE, skb, skb->dev);
}

static void notrace probe_net_dev_start_xmit(void *data,
					     const struct sk_buff *skb,
					     const struct net_device *dev)
{
	SKB_EVENT(NET_DEV_START_XMIT, skb, dev);
}

/* The driver may have freed it by now. */
static void notrace probe_net_dev_xmit(void *data, struct sk_buff *skb, int rc,
				       struct net_device *dev, unsigned int len)
{
	kt_probe_enter();
	KT_EVENT3(NET_DEV_XMIT, (u8)rc, dev_index(dev), kt_token(skb), len);
	kt_probe_leave();
}

static void notrace probe_netif_receive_skb(void *data, struct sk_buff *skb)
{
	SKB_EVENT(NETIF_RECEIVE_SKB, skb, skb->dev);
}

static void notrace probe_netif_rx(void *data, struct sk_buff *skb)
{
	SKB_EVENT(NETIF_RX, skb, skb->dev);
}

static void notrace probe_napi_poll(void *data, struct napi_struct *napi,
				    int work, int budget)
{
	kt_probe_enter();
	KT_EVENT3(NAPI_POLL, 0, dev_index(napi->dev), work, budget);
	kt_probe_leave();
}

static __always_inline void drop(const struct sk_buff *skb, const void *where,
				 u32 reason)
{
	kt_probe_enter();
	KT_EVENT2(KFREE_SKB, reason & KTAPE_DAT20_MASK, kt_token(skb),
		  kt_token_func((unsigned long)where));
	kt_probe_leave();
}

static void __maybe_unused notrace probe_kfree_skb2(void *data,
						    struct sk_buff *skb,
						    void *location)
{
	drop(skb, location, 0);
}

#ifdef KT_HAVE_DROP_REASON
static void notrace probe_kfree_skb3(void *data, struct sk_buff *skb,
				     void *location,
				     enum skb_drop_reason reason)
{
	drop(skb, location, reason);
}

static void notrace probe_kfree_skb4(void *data, struct sk_buff *skb,
				     void *location,
				     enum skb_drop_reason reason,
				     struct sock *rx_sk)
{
	drop(skb, location, reason);
}

static void notrace probe_kfree_skb4_const(void *data, struct sk_buff *skb,
					   void *location,
					   enum skb_drop_reason reason,
					   const struct sock *rx_sk)
{
	drop(skb, location, reason);
}

#define SKB_DROP	struct sk_buff *, void *, enum skb_drop_reason
#define KFREE_SKB_FUNC							\
	KT_PROBE_FUNC(							\
		KT_PROBE_FUNC(						\
			KT_PROBE_FUNC(NULL, probe_kfree_skb3, kfree_skb, \
				      SKB_DROP),			\
			probe_kfree_skb4, kfree_skb, SKB_DROP,		\
			struct sock *),					\
		probe_kfree_skb4_const, kfree_skb, SKB_DROP,		\
		const struct sock *)
#else
#define KFREE_SKB_FUNC							\
	KT_PROBE_FUNC(NULL, probe_kfree_skb2, kfree_skb,		\
		      struct sk_buff *, void *)
#endif

static void notrace probe_consume_skb(void *data, struct sk_buff *skb,
				      void *location)
{
	kt_probe_enter();
	KT_EVENT2(CONSUME_SKB, 0, kt_token(skb),
		  kt_token_func((unsigned long)location));
	kt_probe_leave();
}

/* Before 6.3 it was not told who frees it. */
static void notrace probe_consume_skb1(void *data, struct sk_buff *skb)
{
	kt_probe_enter();
	KT_EVENT2(CONSUME_SKB, 0, kt_token(skb), 0);
	kt_probe_leave();
}

struct kt_probe kt_probes_net[] = {
	KT_PROBE(net_dev_queue, NET_DEV_QUEUE, probe_net_dev_queue,
		    struct sk_buff *),
	KT_PROBE(net_dev_start_xmit, NET_DEV_START_XMIT,
		    probe_net_dev_start_xmit, const struct sk_buff *,
		    const struct net_device *),
	KT_PROBE(net_dev_xmit, NET_DEV_XMIT, probe_net_dev_xmit,
		    struct sk_buff *, int, struct net_device *, unsigned int),
	KT_PROBE(netif_receive_skb, NETIF_RECEIVE_SKB,
		    probe_netif_receive_skb, struct sk_buff *),
	KT_PROBE(netif_rx, NETIF_RX, probe_netif_rx, struct sk_buff *),
	KT_PROBE(napi_poll, NAPI_POLL, probe_napi_poll, struct napi_struct *,
		    int, int),
	{
		.name = "kfree_skb",
		.func = KFREE_SKB_FUNC,
		.events = { KTAPE_EV_KFREE_SKB },
	}, {
		.name = "consume_skb",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_consume_skb1, consume_skb,
				      struct sk_buff *),
			probe_consume_skb, consume_skb, struct sk_buff *,
			void *),
		.events = { KTAPE_EV_CONSUME_SKB },
	},
	{}
};
