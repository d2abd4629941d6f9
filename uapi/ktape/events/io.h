/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/* Block and network devices: opcodes 120 to 139.  Included by ktape/events.h. */

KTAPE_EVENT(120, BLOCK_RQ_INSERT, block_rq_insert, BLOCK,
	    "a request goes into a queue")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_RQ_INSERT)

KTAPE_EVENT(121, BLOCK_RQ_ISSUE, block_rq_issue, BLOCK,
	    "a request goes to the driver")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_RQ_ISSUE)

KTAPE_EVENT(122, BLOCK_RQ_COMPLETE, block_rq_complete, BLOCK,
	    "a request, or a part of it, is done")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
	KTAPE_BITS(U32, status, 8, "blk_status_t, 0 is good")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_RQ_COMPLETE)

KTAPE_EVENT(123, BLOCK_RQ_REQUEUE, block_rq_requeue, BLOCK,
	    "a request goes back into the queue")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_RQ_REQUEUE)

KTAPE_EVENT(124, BLOCK_BIO_QUEUE, block_bio_queue, BLOCK,
	    "an operation is handed to the block layer")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_BIO_QUEUE)

KTAPE_EVENT(125, BLOCK_BIO_COMPLETE, block_bio_complete, BLOCK,
	    "an operation is done")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
	KTAPE_BITS(U32, status, 8, "blk_status_t, 0 is good")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_BIO_COMPLETE)

KTAPE_EVENT(126, BLOCK_RQ_MERGE, block_rq_merge, BLOCK,
	    "a request was joined with another")
	KTAPE_BITS(U32, op, 8, "REQ_OP_*")
KTAPE_ARGS()
	KTAPE_ARG(DEV, dev, "the device")
	KTAPE_ARG(U64, sector, "the first, of 512 bytes")
	KTAPE_ARG(U32, bytes, "bytes of the request")
KTAPE_END(BLOCK_RQ_MERGE)

KTAPE_EVENT(132, NET_DEV_QUEUE, net_dev_queue, NET,
	    "a packet goes into the queue of a device")
	KTAPE_BITS(X32, protocol, 16, "EtherType")
KTAPE_ARGS()
	KTAPE_ARG(NETDEV, dev, "index of the device, or its number in the registry")
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(U32, len, "bytes of the packet")
KTAPE_END(NET_DEV_QUEUE)

KTAPE_EVENT(133, NET_DEV_START_XMIT, net_dev_start_xmit, NET,
	    "a packet goes to the driver")
	KTAPE_BITS(X32, protocol, 16, "EtherType")
KTAPE_ARGS()
	KTAPE_ARG(NETDEV, dev, "index of the device, or its number in the registry")
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(U32, len, "bytes of the packet")
KTAPE_END(NET_DEV_START_XMIT)

KTAPE_EVENT(134, NET_DEV_XMIT, net_dev_xmit, NET,
	    "the driver took a packet, or not")
	KTAPE_BITS(U32, rc, 8, "netdev_tx_t, 0 is good")
KTAPE_ARGS()
	KTAPE_ARG(NETDEV, dev, "index of the device, or its number in the registry")
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(U32, len, "bytes of the packet")
KTAPE_END(NET_DEV_XMIT)

KTAPE_EVENT(135, NETIF_RECEIVE_SKB, netif_receive_skb, NET,
	    "a packet goes up the stack")
	KTAPE_BITS(X32, protocol, 16, "EtherType")
KTAPE_ARGS()
	KTAPE_ARG(NETDEV, dev, "index of the device, or its number in the registry")
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(U32, len, "bytes of the packet")
KTAPE_END(NETIF_RECEIVE_SKB)

KTAPE_EVENT(136, NETIF_RX, netif_rx, NET, "a packet waits to go up the stack")
	KTAPE_BITS(X32, protocol, 16, "EtherType")
KTAPE_ARGS()
	KTAPE_ARG(NETDEV, dev, "index of the device, or its number in the registry")
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(U32, len, "bytes of the packet")
KTAPE_END(NETIF_RX)

KTAPE_EVENT(137, NAPI_POLL, napi_poll, NET, "a device was polled")
KTAPE_ARGS()
	KTAPE_ARG(NETDEV, dev, "index of the device, or its number in the registry")
	KTAPE_ARG(U32, work, "packets that it had")
	KTAPE_ARG(U32, budget, "packets that it might have")
KTAPE_END(NAPI_POLL)

KTAPE_EVENT(138, KFREE_SKB, kfree_skb, NET, "a packet is dropped")
	KTAPE_BITS(U32, reason, 20,
		   "SKB_DROP_REASON_* of the running kernel, if it passes one")
KTAPE_ARGS()
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(FUNC, location, "function that drops the packet")
KTAPE_END(KFREE_SKB)

KTAPE_EVENT(139, CONSUME_SKB, consume_skb, NET,
	    "a packet was consumed and is freed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, skb, "the packet")
	KTAPE_ARG(FUNC, location, "function that frees the packet, if the kernel passes it")
KTAPE_END(CONSUME_SKB)
