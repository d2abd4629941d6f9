// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slow paths of the ring: opening blocks, time extensions, refusal and
 * loss.  The fast path and its races R1 and R2 are in ring.h, R5 is in wide.h; cut.c
 * shortens a full snapshot; loss.c counts.
 *
 * A block is opened by the writer whose record no longer fits.  Its
 * reservation covers the rest of the old block, the header of the new one and
 * the record, so that opening is nothing but a larger record:
 *
 *        old block                      new block
 *   ... | record | padding             | header | record | ...
 *                ^ w = write                             ^ end
 *
 * Races that this file answers:
 *   R3 lapping	a nested writer must not open a block in which an outer writer
 *		still has a record open: drop, counted as nested
 *   R4 closing	the opener may be interrupted before it wrote the header, and
 *		the nested writer may fill and close that block: opening never
 *		writes the members that closing writes
 *   R6 exact fill	w == end of a block: the new block starts at w
 *   R7 tail	advances, as a maximum, before the reservation, not after it
 *   R8 ts_hi, desc	an outer writer may store them late; a stale value only
 *		costs one more pass through here
 *   R9 retries	nothing long happens between loading write and the cmpxchg
 */
#include "internal.h"

/*
 * Reason beyond enum ktape_lost: the record is later than the end of a full
 * snapshot.  It counts neither as emitted nor as lost.
 */
#define BEYOND KTAPE_LOST_REASONS

static const u8 priority[KTAPE_CLASSES] = {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	[number] = priority,
#include <ktape/events.h>
};

/* What one pass through the slow path is going to do. */
struct kt_plan {
	unsigned long write;  /* position where the reservation starts */
	unsigned long end;    /* position where the reservation ends */
	unsigned long block;  /* position of the block of the record */
	unsigned long upper;  /* if it is opened: as &kt_ring.upper */
	unsigned long record; /* position of the record */
	u64 ts;		      /* time of the record */
	bool open;	      /* open a block at @block */
	bool first;	      /* no block precedes it */
	bool extend;	      /* put a time extension before the record */
	bool behind;	      /* the clock is behind the latest time */
	u64 emitted;	      /* totals for the block that is closed */
	u64 filtered;
	u64 lost[KTAPE_LOST_REASONS];
};

/**
 * kt_ring_init() - Set up a ring
 * @r: zeroed by the caller
 * @config: description; its arrays and pages stay the caller's
 *
 * The ring is halted: see kt_ring_halt().
 *
 * Context: any; no writer and no reader yet.
 */
void kt_ring_init(struct kt_ring *r, const struct kt_ring_config *config)
{
	r->block_size = config->block_size;
	r->block_shift = __ffs(config->block_size);
	r->nr_blocks = config->nr_blocks;
	r->size = config->block_size * config->nr_blocks;
	r->mode = config->mode;
	r->cpu = config->cpu;
	r->kind = config->kind;
	r->page = config->page;
	r->blocks = config->blocks;
	r->base = config->base;
	r->ops = config->ops;
	r->owner = config->owner;
	r->write = config->start;
	r->committed = config->start;
	r->lapped = config->start != 0;
	r->parked = ~0UL; /* no block begins there */
	r->upper = kt_upper_of(config->start >> KT_UPPER_SHIFT, config->start);
	r->above = config->start;
	r->stop.end = config->start;
	r->shed_at[0] = ~0UL;
	r->shed_at[1] = ~0UL;
	r->desc = &r->stop;
	*kt_word(&r->page->commit) = config->start;
	*kt_word(&r->page->tail) = config->start;
	*kt_word(&r->page->consumer) = config->start;
	kt_upper_advance(kt_upper_word(&r->page->commit), r->upper);
	kt_ring_set_floor(r, config->start);
}

/**
 * kt_ring_publish_slow() - Publish what writers reserved during publication
 * @r: the ring
 *
 * Load write before committed.  If committed has reached the loaded write, all
 * reservations up to there are published, and a writer that reserved after the
 * load owned its publication itself.
 *
 * A nested opener calls opened() before its block is published, so the readers
 * that opened() wakes may find the old commit.  Call opened() again when this
 * publication has crossed the end of a block.
 *
 * Context: as kt_ring_publish().
 */
noinline void kt_ring_publish_slow(struct kt_ring *r)
{
	unsigned long from = READ_ONCE(r->committed);

	for (;;) {
		unsigned long w = READ_ONCE(r->write);

		barrier();
		if (!kt_before(READ_ONCE(r->committed), w))
			break;
		/* Pairs with the acquire of commit in every reader. */
		smp_store_release(kt_word(&r->page->commit), w);
		barrier();
		WRITE_ONCE(r->committed, w);
		barrier();
	}
	/* Did commit cross the end of a block? */
	if (((from - 1) ^ (READ_ONCE(r->committed) - 1)) >> r->block_shift)
		r->ops->opened(r, 0);
}

static unsigned int ring_block_index(const struct kt_ring *r, unsigned long pos)
{
	return (pos >> r->block_shift) & (r->nr_blocks - 1);
}

static void *ring_address(const struct kt_ring *r, unsigned long pos)
{
	return r->base[ring_block_index(r, pos)] + (pos & (r->block_size - 1));
}

static unsigned long ring_consumed(const struct kt_ring *r)
{
	/* Pairs with the release in kt_ring_consume(): the data was read. */
	return smp_load_acquire(kt_word(&r->page->consumer));
}

/* Does an event belong to the records that end a session? */
static bool opcode_ends_session(u8 opcode)
{
	return opcode == KTAPE_EV_LEDGER || opcode == KTAPE_EV_PROFILE ||
	       opcode == KTAPE_EV_SESSION || opcode == KTAPE_EV_FREEZE ||
	       opcode == KTAPE_EV_LOSS || opcode == KTAPE_EV_MISSED ||
	       opcode == KTAPE_EV_CLOCK_SYNC;
}

/*
 * Must a record stay out of the reserved block of its control ring?
 *
 * The last free block of a control ring that does not overwrite is reserved for
 * the records that end the session.  A trace that lacks a name or an exception
 * can be read; a trace without ledger and end markers cannot be checked.
 */
static bool record_is_ordinary(const struct kt_ring *r, const struct kt_record *rec)
{
	return rec && r->kind == KTAPE_RING_CONTROL &&
	       !(READ_ONCE(r->ending) && opcode_ends_session((u8)rec->code));
}

/* Is @block the last free block of a control ring, or beyond it? */
static bool block_is_reserve(const struct kt_ring *r, unsigned long block)
{
	unsigned long limit = block + 2 * r->block_size - r->size;
	unsigned long oldest;

	if (r->kind != KTAPE_RING_CONTROL)
		return false;
	if (r->mode == KTAPE_MODE_DISCARD)
		oldest = ring_consumed(r);
	else if (r->mode == KTAPE_MODE_SNAPSHOT)
		oldest = READ_ONCE(*kt_word(&r->page->floor));
	else
		return false;
	return kt_before(oldest & ~(r->block_size - 1), limit);
}

/*
 * Make room for a block at @block, to be opened for @rec (NULL: for a flush).
 * The block takes the memory of an older one, whose end is @limit: move tail there.  In the
 * first lap there is none, but its last block may be the reserved one of a control ring.
 * Return: 0, or 1 + the reason of loss or BEYOND.
 */
static int ring_make_room(struct kt_ring *r, unsigned long block,
			  const struct kt_record *rec)
{
	unsigned long limit = block + r->block_size - r->size;
	unsigned long tail;

	if (!READ_ONCE(r->lapped) && block + r->block_size < r->size)
		return 0;
	if (record_is_ordinary(r, rec) && block_is_reserve(r, block))
		return 1 + KTAPE_LOST_FULL;
	if (!READ_ONCE(r->lapped) && block < r->size)
		return 0;
	if (r->mode == KTAPE_MODE_SNAPSHOT &&
	    kt_before(READ_ONCE(*kt_word(&r->page->floor)), limit))
		return 1 + BEYOND;
	if (kt_before(READ_ONCE(r->committed), limit))
		return 1 + KTAPE_LOST_NESTED;
	if (r->mode == KTAPE_MODE_DISCARD && kt_before(ring_consumed(r), limit))
		return 1 + KTAPE_LOST_FULL;

	tail = READ_ONCE(*kt_word(&r->page->tail));
	while (kt_before(tail, limit) &&
	       !kt_try_cmpxchg_local(kt_word(&r->page->tail), &tail, limit))
		;
	/*
	 * Pairs with the read barrier between a reader's copy and its second
	 * load of tail: a reader that saw part of the new block sees this tail.
	 */
	smp_wmb();
	return 0;
}

/*
 * Take the totals for the header of the block that is closed.  Called before
 * the reservation: after it a nested writer could close the next block first,
 * and totals would decrease from one block to the next.
 */
static void plan_counts(const struct kt_ring *r, struct kt_plan *p, bool flush)
{
	unsigned int i;

	/* The caller has counted the event that opens the next block. */
	p->emitted = kt_ring_emitted(r->page) - !flush;
	p->filtered = kt_ring_filtered(r->page);
	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		p->lost[i] = kt_ring_lost(r->page, i);
}

/*
 * Return the time of the record that was published last, 0 = none.  Walks one
 * block, and runs once per backward step of the clock.
 */
static u64 ring_newest_time(const struct kt_ring *r)
{
	unsigned long commit = READ_ONCE(r->committed), start, at;
	const struct ktape_block *b;
	const u32 *word;
	size_t length;
	u64 ts;

	if (READ_ONCE(*kt_word(&r->page->floor)) == commit)
		return 0;
	start = (commit - 1) & ~(r->block_size - 1);
	b = ring_address(r, start);
	ts = b->ts_begin;
	for (at = KTAPE_BLOCK_HEADER; at < commit - start; at += length) {
		word = (const void *)((const char *)b + at);
		length = kt_record_length(word, commit - start - at);
		if (!length)
			break;
		ts = kt_record_time(ts, word);
	}
	barrier();
	/* If the block was overwritten meanwhile, @latest is newer. */
	return kt_before(start, READ_ONCE(*kt_word(&r->page->tail))) ? 0 : ts;
}

/*
 * Note that the cycle counter stepped back.
 *
 * Firmware or a hypervisor may set the counter back.  Where the upper half
 * stays the same, a CTF reader takes that for a step of 2^32 forward.  The
 * fast path cannot afford a check.  The slow path checks: a record with another
 * upper half enters it at once, any other at the end of its block.  From then
 * on all records take the slow path and get the latest time, until the clock
 * has reached that time or has got a bias (kt_clock_stepped_back()).
 *
 * Records that took the fast path between the step and this point have
 * decreasing lower halves, see kt_record_time().
 */
static noinline __cold void ring_note_step(struct kt_ring *r)
{
	unsigned long latest, newest;
	u64 ts;

	/* kt_ring_not_back() handles a clock that takes a call. */
	if (kt_clock_by_call() || READ_ONCE(r->behind))
		return;
	ts = ring_newest_time(r);
	newest = (unsigned long)ts;
	latest = READ_ONCE(r->latest);
	/* 32-bit kernels compare within one upper half. */
	if (sizeof(long) == 8 || (u32)(ts >> 32) == READ_ONCE(r->ts_hi))
		while (latest < newest &&
		       !kt_try_cmpxchg_local(&r->latest, &latest, newest))
			;
	barrier();
	/* Store @behind last: a writer that nests here must advance @latest. */
	WRITE_ONCE(r->behind, true);
}

/*
 * Report a backward step of the clock, once for each value of @latest.
 *
 * The report sends this CPU an interrupt that may record events in this ring.
 * So a writer reports when it has nothing reserved and is not about to reserve.
 * Records of that interrupt get the time @latest and do not report again.
 */
static noinline __cold void ring_report_step(struct kt_ring *r)
{
	unsigned long latest = READ_ONCE(r->latest);

	if (READ_ONCE(r->reported_step) == latest)
		return;
	WRITE_ONCE(r->reported_step, latest);
	barrier();
	kt_clock_stepped_back(kt_ring_time(r));
}

/*
 * Take the time of a record, which is never before a time taken earlier, and note a step
 * back of the clock.  32-bit kernels keep the upper half of the latest time in ts_hi.
 * Return: true if the clock is behind a time that was taken before.
 */
static bool ring_take_time(struct kt_ring *r, u64 *ts)
{
	u32 turn = READ_ONCE(r->ts_hi), lo, hi;
	unsigned long latest;
	bool behind;

	barrier(); /* a writer that nests here may change ts_hi */
	latest = READ_ONCE(r->latest);
	barrier(); /* a writer that nests here has a later time */
	kt_clock_read_halves(&lo, &hi);
	if (sizeof(long) == 8)
		behind = ((u64)hi << 32 | lo) < latest;
	else
		behind = (int)(hi - turn) < 0 || (hi == turn && lo < latest);
	if (unlikely(behind))
		ring_note_step(r);
	kt_ring_not_back(r, &lo, &hi);
	*ts = (u64)hi << 32 | lo;
	return behind;
}

/*
 * Plan where a record of @len bytes goes at the current write position.
 * Return: as ring_make_room().
 */
static int plan_record(struct kt_ring *r, struct kt_plan *p, unsigned long len,
		       const struct kt_record *rec)
{
	const bool flush = !rec;
	unsigned long off;
	int full;

	p->write = READ_ONCE(r->write);
	barrier(); /* the time is read after write: it cannot go back */
	p->behind = ring_take_time(r, &p->ts);
	off = p->write & (r->block_size - 1);
	p->first = off == 0 && !READ_ONCE(r->lapped) && p->write == 0;
	p->extend = (u32)(p->ts >> 32) != READ_ONCE(r->ts_hi);
	p->open = off == 0 || flush ||
		  READ_ONCE(r->parked) == p->write - off + r->block_size ||
		  off + (p->extend ? KTAPE_TIME_EXTEND_SIZE : 0) + len >
			  r->block_size;
	if (!p->open) {
		p->block = p->write - off;
		p->record = p->write + (p->extend ? KTAPE_TIME_EXTEND_SIZE : 0);
		p->end = p->record + len;
		return 0;
	}
	p->extend = false; /* the header has the full time */
	p->block = off == 0 ? p->write : p->write - off + r->block_size;
	p->upper = kt_upper_of(READ_ONCE(r->upper), p->block);
	p->record = p->block + KTAPE_BLOCK_HEADER;
	p->end = p->record + len;
	full = ring_make_room(r, p->block, rec);
	if (!full && !p->first)
		plan_counts(r, p, flush);
	return full;
}

/* Get the bytes from the start of the consumer's block up to @position. */
static unsigned long ring_in_use(const struct kt_ring *r, unsigned long position)
{
	return position - (ring_consumed(r) & ~(r->block_size - 1));
}

/*
 * Must each record of this block be checked: for shedding, for the reserve of
 * the session's end, or because the clock stepped back?  The writers of such a
 * block take the slow path; the checks cost nothing in other blocks.
 */
static bool block_is_guarded(const struct kt_ring *r, unsigned long block)
{
	return READ_ONCE(r->behind) || block_is_reserve(r, block) ||
	       (r->mode == KTAPE_MODE_DISCARD &&
		ring_in_use(r, block + r->block_size) > READ_ONCE(r->shed_at[0]));
}

static void ring_lead_to_slow(struct kt_ring *r, unsigned long block)
{
	/*
	 * Store an end that is near and below all further reservations: with
	 * 32 bits an end from long ago would compare as one in the future.
	 */
	WRITE_ONCE(r->stop.end, block);
	barrier();
	WRITE_ONCE(r->desc, &r->stop);
}

/* Send writers to a block, or into the slow path if the block is guarded. */
static void ring_lead_to(struct kt_ring *r, struct kt_desc *d, unsigned long block)
{
	if (block_is_guarded(r, block)) {
		ring_lead_to_slow(r, block);
		return;
	}
	WRITE_ONCE(r->desc, d);
	barrier();
	/* Check this last: a nested writer may have parked the ring. */
	if (READ_ONCE(r->parked) == block + r->block_size)
		ring_lead_to_slow(r, block);
}

/*
 * Park the ring after the next block could not be opened: no record goes into
 * the rest of the current block.
 *
 * A later record may be small enough for that rest.  But if the lost record was
 * a context switch, readers would attribute the later record to the wrong
 * thread.  So the next record opens a block, whose header names the running
 * thread, or is lost too.  A writer that this one interrupted may still store
 * into the rest, because its event came before the loss.  A record that was lost as
 * nested parks nothing: it interrupted a writer, so it is not of a context switch.
 */
static void ring_park(struct kt_ring *r, const struct kt_plan *p,
		      const struct kt_record *rec)
{
	r->ops->parked(r, rec);
	WRITE_ONCE(r->parked, p->block);
	barrier();
	ring_lead_to_slow(r, p->block - r->block_size);
}

/* Write the header members that describe the end of the previous block. */
static void close_block(struct kt_ring *r, const struct kt_plan *p)
{
	unsigned long start = p->block - r->block_size;
	struct ktape_block *b = ring_address(r, start);
	unsigned int i;
	u64 lost = 0;

	b->content_bits = (u64)(p->write - start) * 8;
	b->ts_end = p->ts;
	b->emitted = p->emitted;
	b->filtered = p->filtered;
	for (i = 0; i < KTAPE_LOST_REASONS; i++) {
		b->lost[i] = p->lost[i];
		lost += b->lost[i];
	}
	b->discarded = lost;
}

/* Write the header members known at opening, none of close_block() (R4). */
static void open_block(struct kt_ring *r, const struct kt_plan *p,
		       const struct kt_record *rec)
{
	struct ktape_block *b = ring_address(r, p->block);
	struct kt_desc *d = &r->blocks[ring_block_index(r, p->block)];

	b->magic = KTAPE_BLOCK_MAGIC;
	b->stream_id = 0;
	b->instance = (u64)r->kind << 32 | r->cpu;
	b->reserved0 = 0;
	b->flags = 0;
	b->crc32c = 0;
	b->reserved1 = 0;
	b->ts_begin = p->ts;
	b->packet_bits = (u64)r->block_size * 8;
	b->seq = (kt_wide_of(p->upper, p->block) >> r->block_shift) + 1;
	b->cpu = r->cpu;
	b->kind = r->kind;
	b->reserved2 = 0;
	r->ops->opening(r, b, rec);
	if (!rec && r->kind == KTAPE_RING_CONTROL) {
		/* It has no switches; any thread may write the first record. */
		b->tid = -1;
		b->prio = 0;
		b->context = KTAPE_CTX_UNKNOWN;
	}

	/* A nested writer that sees the new end also sees the new bias. */
	WRITE_ONCE(d->bias, (unsigned long)b - p->block);
	barrier();
	WRITE_ONCE(d->end, p->block + r->block_size);
	barrier();
	ring_lead_to(r, d, p->block);
	if (p->block + r->block_size - r->size == 0)
		WRITE_ONCE(r->lapped, 1);
}

static void record_store(u32 *to, const struct kt_record *rec, u32 ts)
{
	u32 i;

	to[0] = ts;
	to[1] = rec->code;
	to += 2;
	for (i = 0; i < rec->nargs; i++)
		to[i] = rec->args[i];
	if (rec->blob) {
		char *bytes = (char *)&to[i + 1];
		u32 whole = ALIGN(rec->nargs * 4 + 4 + rec->size,
				  KTAPE_RECORD_ALIGN);

		to[i] = rec->size;
		memcpy(bytes, rec->blob, rec->size);
		memset(bytes + rec->size, 0, whole - rec->nargs * 4 - 4 - rec->size);
	} else if (i & 1) {
		to[i] = 0;
	}
}

static void extend_store(struct kt_ring *r, const struct kt_plan *p)
{
	u32 *to = ring_address(r, p->write);

	to[0] = (u32)p->ts;
	to[1] = KT_CODE(KTAPE_TIME_EXTEND, 0, 0, 4);
	to[2] = (u32)p->ts;
	to[3] = (u32)(p->ts >> 32);
	to[4] = 0;
	to[5] = 0;
}

static unsigned long record_size(const struct kt_ring *r, const struct kt_record *rec)
{
	unsigned long len;

	if (!rec)
		return 0;
	len = 8 + rec->nargs * 4;
	/* More than a block does not fit, and a sum could wrap with 32 bits. */
	if (rec->blob)
		len += 4 + (rec->size < r->block_size ? rec->size : r->block_size);
	return ALIGN(len, KTAPE_RECORD_ALIGN);
}

/* Count a record that is not written: as lost, or behind a snapshot's end not even as emitted. */
static void record_drop(struct kt_ring *r, const struct kt_record *rec,
			unsigned int reason)
{
	if (!rec)
		return;
	if (reason == BEYOND)
		kt_count_add(&r->page->emitted[rec->class], -1);
	else
		kt_ring_lose(r, reason, rec->class);
}

/*
 * Note that a record at time @ts found no room in a snapshot ring.
 *
 * A snapshot ends when the first of its rings is full.  Records and losses
 * after that moment are not part of it: kt_ring_cut() removes the records that
 * the rings took until the stop.
 *
 * A nested writer has a later time.  If it nests while filling == KT_FILLING it
 * leaves @full alone; if it stored @full first, the interrupted writer replaces
 * it with its earlier time.
 */
static void ring_fill(struct kt_ring *r, u64 ts)
{
	u32 filling = READ_ONCE(r->filling);

	if (filling == KT_ROOM || (filling == KT_FILLED && ts < r->full)) {
		WRITE_ONCE(r->filling, KT_FILLING);
		barrier();
		r->full = ts;
		barrier();
		WRITE_ONCE(r->filling, KT_FILLED);
	}
	r->ops->filled(r);
}

/* Is so much unread that a record of this class is dropped? */
static bool ring_sheds(const struct kt_ring *r, const struct kt_record *rec)
{
	unsigned int level = priority[rec->class];

	return r->mode == KTAPE_MODE_DISCARD && level < KT_SHED_LEVELS &&
	       ring_in_use(r, READ_ONCE(r->write)) > READ_ONCE(r->shed_at[level]);
}

/*
 * Is there a reason to drop the record before room is reserved?
 * Return: as ring_make_room().
 */
static int ring_refuses(const struct kt_ring *r, const struct kt_record *rec,
			unsigned long len)
{
	/* A ring refuses records before its session starts and after it has stopped. */
	if (READ_ONCE(r->page->flags) & KTAPE_RING_FLAG_STOPPED)
		return 1 + KTAPE_LOST_FULL;
	/* A flush or the session's end may have opened the reserved block. */
	if (record_is_ordinary(r, rec) &&
	    block_is_reserve(r, (READ_ONCE(r->write) - 1) & ~(r->block_size - 1)))
		return 1 + KTAPE_LOST_FULL;
	if (len > r->block_size - KTAPE_BLOCK_HEADER)
		return 1 + KTAPE_LOST_TOO_BIG;
	return rec && ring_sheds(r, rec) ? 1 + KTAPE_LOST_SHED : 0;
}

/*
 * Write @rec, or close the block that is being filled if @rec is NULL.  The caller has counted
 * @rec as emitted; a record that is not written is counted here, see record_drop().
 * Return: as ring_make_room().
 */
static int ring_put(struct kt_ring *r, const struct kt_record *rec)
{
	unsigned long len = record_size(r, rec);
	struct kt_desc *d;
	struct kt_plan p;
	int full = ring_refuses(r, rec, len);

	if (unlikely(full)) {
		record_drop(r, rec, full - 1);
		return full;
	}
	do {
		full = plan_record(r, &p, len, rec);
		if (unlikely(full)) {
			if (full == 1 + BEYOND)
				ring_fill(r, p.ts);
			else if (full == 1 + KTAPE_LOST_FULL && rec)
				ring_park(r, &p, rec);
			record_drop(r, rec, full - 1);
			if (unlikely(p.behind))
				ring_report_step(r);
			return full;
		}
	} while (!kt_try_cmpxchg_local(&r->write, &p.write, p.end));

	/* [p.write, p.end) is reserved for this writer. */
	WRITE_ONCE(r->ts_hi, (u32)(p.ts >> 32));
	if (!p.behind && READ_ONCE(r->behind))
		WRITE_ONCE(r->behind, false);
	if (p.open) {
		kt_upper_advance(&r->upper, p.upper);
		kt_upper_advance(kt_upper_word(&r->page->commit), p.upper);
		if (!p.first)
			close_block(r, &p);
		open_block(r, &p, rec);
	} else {
		if (p.extend)
			extend_store(r, &p);
		/*
		 * Correct a descriptor that was stored late (R8).  If the block's opener has
		 * not stored its end yet, it sends writers there itself.
		 */
		d = &r->blocks[ring_block_index(r, p.block)];
		if (READ_ONCE(d->end) == p.block + r->block_size)
			ring_lead_to(r, d, p.block);
	}
	if (rec)
		record_store(ring_address(r, p.record), rec, (u32)p.ts);
	kt_ring_publish(r, p.write, p.end);
	if (p.open)
		r->ops->opened(r, p.ts);
	if (unlikely(p.behind))
		ring_report_step(r);
	return 0;
}

/**
 * kt_ring_write() - Record an event of any shape
 * @r: the ring
 * @rec: the record, which the caller has counted as emitted; a loss is counted here
 *
 * Context: any, on the owning CPU with preemption disabled.
 * Return: 0; else it was not recorded: 1 + the reason for which it was lost, or, behind the
 * end of a snapshot, 1 + KTAPE_LOST_REASONS.
 */
int kt_ring_write(struct kt_ring *r, const struct kt_record *rec)
{
	return ring_put(r, rec);
}

/**
 * kt_ring_slow() - Record an event that the fast path cannot record
 * @r: the ring
 * @code: from KT_CODE(), nargs included
 * @class: its event class
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 *
 * Context: as kt_ring_put().
 */
noinline void kt_ring_slow(struct kt_ring *r, u32 code, u32 class, u32 a0,
			   u32 a1, u32 a2)
{
	const u32 args[] = { a0, a1, a2 };
	const struct kt_record rec = {
		.code = code,
		.class = class,
		.nargs = code >> 29,
		.args = args,
	};

	ring_put(r, &rec);
}

/**
 * kt_ring_put_called() - Do kt_ring_put() with a clock that takes a call
 * @r: the ring
 * @code: from KT_CODE(), nargs included
 * @class: its event class
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 *
 * Context: as kt_ring_put().
 */
noinline void kt_ring_put_called(struct kt_ring *r, u32 code, u32 class, u32 a0,
				 u32 a1, u32 a2)
{
	switch (code >> 29) {
	case 0:
		return kt_ring_put_clock(r, code, class, 0, a0, a1, a2, true);
	case 1:
		return kt_ring_put_clock(r, code, class, 1, a0, a1, a2, true);
	case 2:
		return kt_ring_put_clock(r, code, class, 2, a0, a1, a2, true);
	case 3:
		return kt_ring_put_clock(r, code, class, 3, a0, a1, a2, true);
	}
}

/**
 * kt_ring_flush() - Close the block that is being filled
 * @r: the ring
 *
 * An empty block stays open, and a ring without any block stays so.
 *
 * Context: on the owning CPU with interrupts disabled.
 * Return: 0, or -EAGAIN when there is no room for another block, or the ring is stopped.
 */
int kt_ring_flush(struct kt_ring *r)
{
	unsigned long at = READ_ONCE(r->write), off = at & (r->block_size - 1);

	if (off == KTAPE_BLOCK_HEADER || (at == 0 && !READ_ONCE(r->lapped)))
		return 0;
	return ring_put(r, NULL) ? -EAGAIN : 0;
}

/**
 * kt_ring_halt() - Send further writers into the slow path
 * @r: the ring
 *
 * The slow path refuses records while KTAPE_RING_FLAG_STOPPED is set.  If it is
 * clear, the first writer there restores the descriptor.
 *
 * Context: on the owning CPU, or with no writer left.
 */
void kt_ring_halt(struct kt_ring *r)
{
	WRITE_ONCE(r->stop.end, READ_ONCE(r->write));
	WRITE_ONCE(r->desc, &r->stop);
}
