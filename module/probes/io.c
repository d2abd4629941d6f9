// SPDX-License-Identifier: GPL-2.0-only
/* Block devices: requests and the operations that they are made of. */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/device.h>
#include <linux/hash.h>
#include <trace/events/block.h>

#include "event/event.h"
#include "names/late.h"
#include "internal.h"

/* Devices whose names were asked for lately, by a hash of their numbers. */
#define SEEN_BITS	10

static u32 seen[1 << SEEN_BITS];

static noinline void note_name(u32 *place, u32 mark, dev_t dev,
			       const char *name)
{
	if (kt_name_note(KTAPE_OBJ_BLOCK_DEVICE, dev, name))
		WRITE_ONCE(*place, mark);
}

/* A number may be given to another disk later, maybe at the same address. */
static __always_inline bool name_is_new(dev_t dev, const char *name,
					u32 **place, u32 *mark)
{
	*place = &seen[hash_32(dev, SEEN_BITS)];
	*mark = kt_name_hash(name) * 31 + dev;
	return unlikely(READ_ONCE(**place) != *mark);
}

static __always_inline dev_t rq_dev(struct request *rq)
{
	struct gendisk *disk = kt_rq_disk(rq);
	u32 *place, mark;
	dev_t dev;

	if (!disk)
		return 0;
	dev = disk_devt(disk);
	if (name_is_new(dev, disk->disk_name, &place, &mark))
		note_name(place, mark, dev, disk->disk_name);
	return dev;
}

static __always_inline dev_t bio_device(struct bio *bio)
{
	const char *name = kt_bio_name(bio);
	dev_t dev = bio_dev(bio);
	u32 *place, mark;

	if (name && name_is_new(dev, name, &place, &mark))
		note_name(place, mark, dev, name);
	return dev;
}

static __always_inline u64 rq_sector(struct request *rq)
{
	if (blk_rq_is_passthrough(rq) || blk_rq_pos(rq) == (sector_t)-1)
		return 0;
	return blk_rq_pos(rq);
}

#define STATUS_SHIFT	8

/* All of these events look the same. */
#define BLOCK_EVENT(NAME, dat20, dev, sector_, bytes)			\
do {									\
	u64 __sector = sector_;						\
	const u32 __args[] = { dev, (u32)__sector,			\
			       (u32)(__sector >> 32), bytes };		\
									\
	KT_EVENT_LONG(NAME, dat20, __args, NULL, 0);			\
} while (0)

#define RQ_EVENT(NAME, rq)						\
do {									\
	kt_probe_enter();						\
	if (KT_WANTED(NAME))						\
		BLOCK_EVENT(NAME, (__force u32)req_op(rq), rq_dev(rq),		\
			    rq_sector(rq), blk_rq_bytes(rq));		\
	kt_probe_leave();						\
} while (0)

#define BIO_EVENT(NAME, bio, status)					\
do {									\
	kt_probe_enter();						\
	if (KT_WANTED(NAME))						\
		BLOCK_EVENT(NAME, (__force u32)bio_op(bio) | (status) << STATUS_SHIFT, \
			    bio_device(bio), (bio)->bi_iter.bi_sector,	\
			    (bio)->bi_iter.bi_size);			\
	kt_probe_leave();						\
} while (0)

static void notrace probe_block_rq_insert(void *data, struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_INSERT, rq);
}

static void notrace probe_block_rq_issue(void *data, struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_ISSUE, rq);
}

static void notrace probe_block_rq_requeue(void *data, struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_REQUEUE, rq);
}

static void notrace probe_block_rq_merge(void *data, struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_MERGE, rq);
}

/* Before 5.11 the queue came first. */
static void notrace probe_block_rq_insert_q(void *data, struct request_queue *q,
					    struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_INSERT, rq);
}

static void notrace probe_block_rq_issue_q(void *data, struct request_queue *q,
					   struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_ISSUE, rq);
}

static void notrace probe_block_rq_requeue_q(void *data,
					     struct request_queue *q,
					     struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_REQUEUE, rq);
}

static void notrace probe_block_rq_merge_q(void *data, struct request_queue *q,
					   struct request *rq)
{
	RQ_EVENT(BLOCK_RQ_MERGE, rq);
}

static __always_inline void rq_complete(struct request *rq, blk_status_t status,
					unsigned int bytes)
{
	kt_probe_enter();
	if (KT_WANTED(BLOCK_RQ_COMPLETE))
		BLOCK_EVENT(BLOCK_RQ_COMPLETE,
			    (__force u32)req_op(rq) |
				    (__force u32)status << STATUS_SHIFT,
			    rq_dev(rq), rq_sector(rq), bytes);
	kt_probe_leave();
}

static void notrace probe_block_rq_complete(void *data, struct request *rq,
					    blk_status_t status,
					    unsigned int bytes)
{
	rq_complete(rq, status, bytes);
}

/* Before 5.16 it was told by an errno. */
static void notrace probe_block_rq_complete_errno(void *data,
						  struct request *rq, int error,
						  unsigned int bytes)
{
	rq_complete(rq, errno_to_blk_status(error), bytes);
}

static void notrace probe_block_bio_queue(void *data, struct bio *bio)
{
	BIO_EVENT(BLOCK_BIO_QUEUE, bio, 0U);
}

static void notrace probe_block_bio_queue_q(void *data, struct request_queue *q,
					    struct bio *bio)
{
	BIO_EVENT(BLOCK_BIO_QUEUE, bio, 0U);
}

static void notrace probe_block_bio_complete(void *data,
					     struct request_queue *q,
					     struct bio *bio)
{
	BIO_EVENT(BLOCK_BIO_COMPLETE, bio, (__force u32)bio->bi_status);
}

#define RQ_ROW(tp, NAME)						\
	{								\
		.name = #tp,						\
		.func = KT_PROBE_FUNC(					\
			KT_PROBE_FUNC(NULL, probe_##tp##_q, tp,		\
				      struct request_queue *,		\
				      struct request *),		\
			probe_##tp, tp, struct request *),		\
		.events = { KTAPE_EV_##NAME },				\
	}

struct kt_probe kt_probes_block[] = {
	RQ_ROW(block_rq_insert, BLOCK_RQ_INSERT),
	RQ_ROW(block_rq_issue, BLOCK_RQ_ISSUE),
	RQ_ROW(block_rq_requeue, BLOCK_RQ_REQUEUE),
	RQ_ROW(block_rq_merge, BLOCK_RQ_MERGE),
	{
		.name = "block_rq_complete",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_block_rq_complete_errno,
				      block_rq_complete, struct request *, int,
				      unsigned int),
			probe_block_rq_complete, block_rq_complete,
			struct request *, blk_status_t, unsigned int),
		.events = { KTAPE_EV_BLOCK_RQ_COMPLETE },
	}, {
		.name = "block_bio_queue",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_block_bio_queue_q,
				      block_bio_queue, struct request_queue *,
				      struct bio *),
			probe_block_bio_queue, block_bio_queue, struct bio *),
		.events = { KTAPE_EV_BLOCK_BIO_QUEUE },
	},
	KT_PROBE(block_bio_complete, BLOCK_BIO_COMPLETE,
		    probe_block_bio_complete, struct request_queue *, struct bio *),
	{}
};
