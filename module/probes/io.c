// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for block devices and the network.  They record the events of
 * uapi/ktape/events/io.h.
 *
 * Callbacks that end in _q, _errno or a number of arguments are for other prototypes of a
 * tracepoint.  KT_PROBE_FUNC(otherwise, func, tracepoint, types...) takes the callback whose
 * types are those of this kernel's headers.
 *
 * Names: a block device enters the registry when its first event is recorded, a
 * network device when it is registered, by a notifier.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/device.h>
#include <linux/hash.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
#include <trace/events/block.h>
#include <trace/events/napi.h>
#include <trace/events/net.h>
#include <trace/events/skb.h>

#include <ktape/objects.h>

#include "event/event.h"
#include "internal.h"
#include "names/names.h"

/* ---- block devices ------------------------------------------------------- */

/*
 * Hash of the name last entered for a device, by a hash of the device's number.  If two
 * devices share one of the 1024 places, their names are only entered more often.
 */
#define NOTED_BITS 10

static u32 noted[1 << NOTED_BITS];

static noinline void block_note_name(u32 *place, u32 mark, dev_t dev,
				     const char *name)
{
	if (kt_name_note(KTAPE_OBJ_BLOCK_DEVICE, dev, name))
		WRITE_ONCE(*place, mark);
}

/*
 * Does the name of a device differ from the one last entered?  Hash the content,
 * because a new disk may have the number and the address of the name of an old one.
 * @place and @mark receive what block_note_name() stores.
 */
static __always_inline bool block_name_is_new(dev_t dev, const char *name,
					      u32 **place, u32 *mark)
{
	*place = &noted[hash_32(dev, NOTED_BITS)];
	*mark = kt_name_hash(name) * 31 + dev;
	return unlikely(READ_ONCE(**place) != *mark);
}

static __always_inline dev_t block_rq_dev(struct request *rq)
{
	struct gendisk *disk = kt_rq_disk(rq);
	u32 *place, mark;
	dev_t dev;

	if (!disk)
		return 0;
	dev = disk_devt(disk);
	if (block_name_is_new(dev, disk->disk_name, &place, &mark))
		block_note_name(place, mark, dev, disk->disk_name);
	return dev;
}

static __always_inline dev_t block_bio_dev(struct bio *bio)
{
	const char *name = kt_bio_name(bio);
	dev_t dev = bio_dev(bio);
	u32 *place, mark;

	if (name && block_name_is_new(dev, name, &place, &mark))
		block_note_name(place, mark, dev, name);
	return dev;
}

static __always_inline u64 block_rq_sector(struct request *rq)
{
	if (blk_rq_is_passthrough(rq) || blk_rq_pos(rq) == (sector_t)-1)
		return 0;
	return blk_rq_pos(rq);
}

#define STATUS_SHIFT 8

/* Record an event of class block; all have the same argument words. */
static void notrace record_block(u32 opcode, u32 operation, u32 status,
				 dev_t dev, u64 sector, u32 bytes)
{
	const u32 args[] = { dev, (u32)sector, (u32)(sector >> 32), bytes };
	const struct kt_record rec = {
		/* 0: no blob. */
		.code = KT_CODE(opcode, operation | status << STATUS_SHIFT, 0,
				ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_BLOCK,
		.nargs = ARRAY_SIZE(args),
		.args = args,
	};

	kt_event_record(KT_RING_OF_BLOCK, &rec);
}

/* Preemption is off from kt_probe_enter() on, because rings are per CPU. */
static noinline void notrace record_rq(u32 opcode, struct request *rq,
				       u32 status, u32 bytes)
{
	kt_probe_enter();
	if (kt_wanted(opcode))
		record_block(opcode, (__force u32)req_op(rq), status,
			     block_rq_dev(rq), block_rq_sector(rq), bytes);
	kt_probe_leave();
}

static noinline void notrace record_bio(u32 opcode, struct bio *bio, u32 status)
{
	kt_probe_enter();
	if (kt_wanted(opcode))
		record_block(opcode, (__force u32)bio_op(bio), status,
			     block_bio_dev(bio), bio->bi_iter.bi_sector,
			     bio->bi_iter.bi_size);
	kt_probe_leave();
}

static void notrace probe_block_rq_insert(void *data, struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_INSERT, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_issue(void *data, struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_ISSUE, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_requeue(void *data, struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_REQUEUE, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_merge(void *data, struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_MERGE, rq, 0, blk_rq_bytes(rq));
}

/* Before 5.11 the tracepoints passed the queue first. */
static void notrace probe_block_rq_insert_q(void *data, struct request_queue *q,
					    struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_INSERT, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_issue_q(void *data, struct request_queue *q,
					   struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_ISSUE, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_requeue_q(void *data, struct request_queue *q,
					     struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_REQUEUE, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_merge_q(void *data, struct request_queue *q,
					   struct request *rq)
{
	record_rq(KTAPE_EV_BLOCK_RQ_MERGE, rq, 0, blk_rq_bytes(rq));
}

static void notrace probe_block_rq_complete(void *data, struct request *rq,
					    blk_status_t status, unsigned int bytes)
{
	record_rq(KTAPE_EV_BLOCK_RQ_COMPLETE, rq, (__force u32)status, bytes);
}

/* Before 5.16 the tracepoint passed an errno instead of a status. */
static void notrace probe_block_rq_complete_errno(void *data, struct request *rq,
						  int error, unsigned int bytes)
{
	record_rq(KTAPE_EV_BLOCK_RQ_COMPLETE, rq,
		  (__force u32)errno_to_blk_status(error), bytes);
}

static void notrace probe_block_bio_queue(void *data, struct bio *bio)
{
	record_bio(KTAPE_EV_BLOCK_BIO_QUEUE, bio, 0);
}

static void notrace probe_block_bio_queue_q(void *data, struct request_queue *q,
					    struct bio *bio)
{
	record_bio(KTAPE_EV_BLOCK_BIO_QUEUE, bio, 0);
}

static void notrace probe_block_bio_complete(void *data, struct request_queue *q,
					     struct bio *bio)
{
	record_bio(KTAPE_EV_BLOCK_BIO_COMPLETE, bio, (__force u32)bio->bi_status);
}

#define RQ_ROW(tp, NAME)                                                      \
	{                                                                     \
		.name = #tp,                                                  \
		.func = KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_##tp##_q, tp, \
						    struct request_queue *,   \
						    struct request *),        \
				      probe_##tp, tp, struct request *),      \
		.events = { KTAPE_EV_##NAME },                                \
	}

/* ---- network ------------------------------------------------------------- */

/**
 * kt_netdev_id() - Return the number of a network device in records and registry
 * @dev: the device
 *
 * Each network name space counts interface indices from 1.  A device of the
 * initial name space has its index; any other has a token (a keyed hash of the address,
 * which does not reveal it) with KTAPE_NETDEV_OTHER, the highest bit, set.
 *
 * Context: any.
 * Return: the number.
 */
u32 notrace kt_netdev_id(const struct net_device *dev)
{
	if (likely(net_eq(dev_net(dev), &init_net)))
		return dev->ifindex;
	return kt_token(dev) | KTAPE_NETDEV_OTHER;
}

static __always_inline u32 netdev_index(const struct net_device *dev)
{
	return dev ? kt_netdev_id(dev) : 0;
}

#define SKB_EVENT(NAME, skb, dev)                                          \
	do {                                                               \
		kt_probe_enter();                                          \
		KT_EVENT3(NAME, ntohs((skb)->protocol), netdev_index(dev), \
			  kt_token(skb), (skb)->len);                      \
		kt_probe_leave();                                          \
	} while (0)

static void notrace probe_net_dev_queue(void *data, struct sk_buff *skb)
{
	SKB_EVENT(NET_DEV_QUEUE, skb, skb->dev);
}

static void notrace probe_net_dev_start_xmit(void *data, const struct sk_buff *skb,
					     const struct net_device *dev)
{
	SKB_EVENT(NET_DEV_START_XMIT, skb, dev);
}

/*
 * The driver may have freed the packet: use only its address.  The event has 8 bits for
 * @rc, a netdev_tx_t; 0 is NETDEV_TX_OK.
 */
static void notrace probe_net_dev_xmit(void *data, struct sk_buff *skb, int rc,
				       struct net_device *dev, unsigned int len)
{
	kt_probe_enter();
	KT_EVENT3(NET_DEV_XMIT, (u8)rc, netdev_index(dev), kt_token(skb), len);
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
	KT_EVENT3(NAPI_POLL, 0, netdev_index(napi->dev), work, budget);
	kt_probe_leave();
}

static __always_inline void record_skb_drop(const struct sk_buff *skb,
					    const void *where, u32 reason)
{
	kt_probe_enter();
	KT_EVENT2(KFREE_SKB, reason & KTAPE_DAT20_MASK, kt_token(skb),
		  kt_token_func((unsigned long)where));
	kt_probe_leave();
}

/* Before 5.17 the tracepoint did not pass a reason. */
static void __maybe_unused notrace probe_kfree_skb2(void *data, struct sk_buff *skb,
						    void *location)
{
	record_skb_drop(skb, location, 0);
}

#ifdef KT_HAVE_DROP_REASON
static void notrace probe_kfree_skb3(void *data, struct sk_buff *skb,
				     void *location, enum skb_drop_reason reason)
{
	record_skb_drop(skb, location, reason);
}

/* From 6.11 on the tracepoint also passes the receiving socket, later as const. */
static void notrace probe_kfree_skb4(void *data, struct sk_buff *skb,
				     void *location, enum skb_drop_reason reason,
				     struct sock *rx_sk)
{
	record_skb_drop(skb, location, reason);
}

static void notrace probe_kfree_skb4_const(void *data, struct sk_buff *skb,
					   void *location,
					   enum skb_drop_reason reason,
					   const struct sock *rx_sk)
{
	record_skb_drop(skb, location, reason);
}

#define SKB_DROP struct sk_buff *, void *, enum skb_drop_reason
#define KFREE_SKB_FUNC                                                     \
	KT_PROBE_FUNC(KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_kfree_skb3,  \
						  kfree_skb, SKB_DROP),    \
				    probe_kfree_skb4, kfree_skb, SKB_DROP, \
				    struct sock *),                        \
		      probe_kfree_skb4_const, kfree_skb, SKB_DROP,         \
		      const struct sock *)
#else
#define KFREE_SKB_FUNC \
	KT_PROBE_FUNC(NULL, probe_kfree_skb2, kfree_skb, struct sk_buff *, void *)
#endif

static void notrace probe_consume_skb(void *data, struct sk_buff *skb, void *location)
{
	kt_probe_enter();
	KT_EVENT2(CONSUME_SKB, 0, kt_token(skb),
		  kt_token_func((unsigned long)location));
	kt_probe_leave();
}

/* Before 6.3 the tracepoint did not pass the caller. */
static void notrace probe_consume_skb1(void *data, struct sk_buff *skb)
{
	kt_probe_enter();
	KT_EVENT2(CONSUME_SKB, 0, kt_token(skb), 0);
	kt_probe_leave();
}

/* ---- network devices ----------------------------------------------------- */

static int netdev_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(data);

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		kt_registry_set(KTAPE_OBJ_NET_DEVICE, kt_netdev_id(dev),
				dev_net(dev)->ns.inum, dev->ifindex, dev->name);
		break;
	case NETDEV_UNREGISTER:
		/* 0: a network device has no second part of its number. */
		kt_registry_gone(KTAPE_OBJ_NET_DEVICE, kt_netdev_id(dev), 0);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block net_notifier = { .notifier_call = netdev_event };

/**
 * kt_netdev_init() - Enter all network devices into the registry, watch changes
 *
 * The kernel calls a new notifier for all devices that exist.
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_netdev_init(void)
{
	if (!IS_ENABLED(CONFIG_NET))
		return 0;
	return register_netdevice_notifier(&net_notifier);
}

/**
 * kt_netdev_exit() - Stop watching network devices
 *
 * Context: module unload, may sleep.
 */
void kt_netdev_exit(void)
{
	if (IS_ENABLED(CONFIG_NET))
		unregister_netdevice_notifier(&net_notifier);
}

/* ---- table --------------------------------------------------------------- */

struct kt_probe kt_probes_io[] = {
	RQ_ROW(block_rq_insert, BLOCK_RQ_INSERT),
	RQ_ROW(block_rq_issue, BLOCK_RQ_ISSUE),
	RQ_ROW(block_rq_requeue, BLOCK_RQ_REQUEUE),
	RQ_ROW(block_rq_merge, BLOCK_RQ_MERGE),
	{
		.name = "block_rq_complete",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_block_rq_complete_errno, block_rq_complete,
				      struct request *, int, unsigned int),
			probe_block_rq_complete, block_rq_complete,
			struct request *, blk_status_t, unsigned int),
		.events = { KTAPE_EV_BLOCK_RQ_COMPLETE },
	},
	{
		.name = "block_bio_queue",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_block_bio_queue_q, block_bio_queue,
				      struct request_queue *, struct bio *),
			probe_block_bio_queue, block_bio_queue, struct bio *),
		.events = { KTAPE_EV_BLOCK_BIO_QUEUE },
	},
	KT_PROBE(block_bio_complete, BLOCK_BIO_COMPLETE,
		 probe_block_bio_complete, struct request_queue *, struct bio *),
	KT_PROBE(net_dev_queue, NET_DEV_QUEUE, probe_net_dev_queue, struct sk_buff *),
	KT_PROBE(net_dev_start_xmit, NET_DEV_START_XMIT, probe_net_dev_start_xmit,
		 const struct sk_buff *, const struct net_device *),
	KT_PROBE(net_dev_xmit, NET_DEV_XMIT, probe_net_dev_xmit,
		 struct sk_buff *, int, struct net_device *, unsigned int),
	KT_PROBE(netif_receive_skb, NETIF_RECEIVE_SKB, probe_netif_receive_skb,
		 struct sk_buff *),
	KT_PROBE(netif_rx, NETIF_RX, probe_netif_rx, struct sk_buff *),
	KT_PROBE(napi_poll, NAPI_POLL, probe_napi_poll, struct napi_struct *,
		 int, int),
	{
		.name = "kfree_skb",
		.func = KFREE_SKB_FUNC,
		.events = { KTAPE_EV_KFREE_SKB },
	},
	{
		.name = "consume_skb",
		.func = KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_consume_skb1,
						    consume_skb, struct sk_buff *),
				      probe_consume_skb, consume_skb,
				      struct sk_buff *, void *),
		.events = { KTAPE_EV_CONSUME_SKB },
	},
	{}
};
