/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's lock-free ring: reserve, store, publish.  Also the trace clock that
 * stamps its records.  Its memory is in memory.h.
 *
 * Read the files in this order.  Each one calls only files above it: wide.h (64 bits on
 * 32-bit kernels), this header (the fast path), clock.c (the trace clock), loss.c
 * (counts and times of lost events), ring.c (the slow paths), cut.c (the end of a full
 * snapshot), memory.c (blocks and their pages).
 *
 * Not here: which events are recorded (event/), which rings exist (session/).
 *
 * The same source is compiled into the module and, with a small shim instead of
 * the kernel's headers, into the native tests and benchmarks.
 *
 * A position counts bytes since the ring was made and only grows; modulo the
 * ring's size it is an offset into the blocks.  A lap is one pass over all
 * blocks.  struct ktape_ring_page (uapi/ktape/abi.h) describes the positions
 * commit, tail, floor and consumer.
 *
 * Every word has one writing CPU.  The CPU that owns the ring, in any of its
 * contexts, writes struct kt_ring except @floor, @shed_at and @ending, and the commit,
 * tail and count words of the control page.  Control paths on other CPUs (such
 * as ioctls) write these three, and the floor, consumer, flags and frozen words.  While
 * no writer runs on the owning CPU, they may also write records and cut the ring (cut.c).
 * Writers run on the owning CPU with preemption disabled, so that they nest
 * strictly: task, softirq, irq, nmi.
 *
 * Words that a nested writer may change under an interrupted one:
 *   write      advanced by cmpxchg only; [committed, write) is reserved
 *   committed  private copy of commit; the writer that reserved at committed
 *              owns publication and publishes for the writers nested on top
 *   desc       one pointer, so that a nested writer cannot tear {end, bias}
 *   ts_hi      stored by each pass of the slow path, perhaps late: that costs the next
 *              writer one more pass
 *   latest     kept from going back by kt_ring_not_back()
 *
 * R1 to R9 are names of races with nested writers: ring.c and module/doc/ring.md list them.
 */
#ifndef _KT_RING_H
#define _KT_RING_H

#ifdef __KERNEL__
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#endif

#include <ktape/abi.h>

#include "compat.h"
#include "memory.h"
#include "wide.h"

struct page;

/* ---- the trace clock: clock.c --------------------------------------------- */

/* Outside the kernel ktape_shim.h provides the clock. */
#ifdef __KERNEL__

DECLARE_STATIC_KEY_FALSE(kt_clock_called);

u64 kt_clock_slow(void);
DECLARE_PER_CPU(unsigned int, kt_clock_reading);

/**
 * kt_clock_by_call() - Does reading the clock take a function call?
 *
 * The called function may have a kprobe, and its clock may step back a little.
 * Writers of the ring therefore take another path with such a clock.
 *
 * Return: true or false, patched into the code or constant. Context: any.
 */
static __always_inline bool kt_clock_by_call(void)
{
	return KT_CYCLES_BY_CALL || static_branch_unlikely(&kt_clock_called);
}

/**
 * kt_clock() - Read the trace clock
 *
 * The read is not ordered with the instructions around it.  It need not be: an
 * interrupt orders by itself, and reads within one context are in program
 * order.
 *
 * Return: ticks. Context: any, NMI included.
 */
static __always_inline u64 kt_clock(void)
{
	if (kt_clock_by_call())
		return kt_clock_slow();
	return get_cycles();
}

/**
 * kt_clock_halves() - Read the trace clock in two halves
 * @lo: receives the lower half
 * @hi: receives the upper half
 * @by_call: constant, the result of kt_clock_by_call()
 *
 * The fast path stores one half and compares the other: joining and splitting
 * them would be a quarter of its instructions.
 *
 * Context: any, preemption disabled.
 */
static __always_inline void kt_clock_halves(u32 *lo, u32 *hi, const bool by_call)
{
	u64 ts;

	if (by_call) {
		/* No atomic needed: a nested context restores the count. */
		raw_cpu_inc(kt_clock_reading);
		barrier();
		ts = kt_clock_slow();
		barrier();
		raw_cpu_dec(kt_clock_reading);
		*lo = (u32)ts;
		*hi = (u32)(ts >> 32);
	} else {
		kt_get_cycles_halves(lo, hi);
	}
}

/**
 * kt_clock_is_being_read() - Is a writer of this CPU reading the clock?
 *
 * A probe on a function that the clock read calls must not record, because it
 * would read the clock again and recurse.
 *
 * Context: any, preemption disabled.
 * Return: true or false; never true when the read takes no function call.
 */
static __always_inline bool kt_clock_is_being_read(void)
{
	return raw_cpu_read(kt_clock_reading);
}

/**
 * struct kt_moment - one moment on all clocks
 * @clock: trace clock, ticks
 * @mono: CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME, ns
 * @real: CLOCK_REALTIME, ns
 */
struct kt_moment {
	u64 clock;
	u64 mono;
	u64 boot;
	u64 real;
};

int kt_clock_init(const char *wish, void (*on_step)(void));
void kt_clock_exit(void);
void kt_clock_may_stop(void);
u64 kt_clock_hz(void);
u64 kt_clock_to_ns(u64 ticks);
u64 kt_clock_from_ns(u64 ns);
bool kt_clock_stable(void);
void kt_clock_check(void);
u32 kt_clock_id(void);
const char *kt_clock_name(void);
void kt_clock_moment(struct kt_moment *m);

#endif /* __KERNEL__ */

/* ---- one ring: ring.c, cut.c, loss.c --------------------------------------- */

struct kt_record;
struct kt_ring;

/**
 * struct kt_ring_ops - callbacks from a ring to the layer that uses it
 * @opening: a block is being opened for @rec, NULL = a flush; fill in the header
 *	members of @block that the ring does not know
 * @opened: a block was closed and the next one opened; @since is the time at
 *	which this writer began to open it, 0 if another writer opened it
 * @filled: snapshot mode: a record found no room
 * @parked: @rec was lost because no block could be opened
 *
 * All run on slow paths in the context of the writer, possibly an NMI: on the owning CPU, or on
 * that of a control path that writes while no writer runs on the owning one.
 */
struct kt_ring_ops {
	void (*opening)(struct kt_ring *r, struct ktape_block *block,
			const struct kt_record *rec);
	void (*opened)(struct kt_ring *r, u64 since);
	void (*filled)(struct kt_ring *r);
	void (*parked)(struct kt_ring *r, const struct kt_record *rec);
};

/**
 * struct kt_desc - where the records of a block go in its current lap
 * @end: position of the block's end
 * @bias: address of a record minus its position
 *
 * Only the opener of the block's next lap rewrites it, after the lapping check
 * has shown that no context holds a reservation in the former lap.
 */
struct kt_desc {
	unsigned long end;
	unsigned long bias;
};

/**
 * enum kt_filling - state of &kt_ring.full
 * @KT_ROOM: every record found room, @full is not valid
 * @KT_FILLING: a record found no room, its writer is storing @full
 * @KT_FILLED: a record found no room, @full is valid
 */
enum kt_filling {
	KT_ROOM,
	KT_FILLING,
	KT_FILLED,
};

#define KT_SHED_LEVELS 2 /* this and higher priorities are never shed */

/**
 * struct kt_loss - losses of one class that no loss record reports yet
 * @first: time of the first unreported loss
 * @last: time of the last unreported loss
 * @reported: in a ring: number of losses reported since the ring was made; from
 *	kt_ring_loss_take(): number of losses to report
 * @open: 0 = no unreported loss, @first and @last are not valid
 */
struct kt_loss {
	u64 first;
	u64 last;
	u64 reported;
	u64 open;
};

/**
 * struct kt_ring - one CPU's ring of one kind in one session
 * @write: position of the next reservation
 * @desc: descriptor of the block that is being filled, or &@stop
 * @committed: private copy of @page's commit
 * @ts_hi: upper half of the trace clock at the last pass of the slow path
 * @latest: latest time taken; a clock that takes a call updates it with each
 *	record, any other clock only in the slow path
 * @lapped: nonzero once every block has been opened
 * @page: control page, mapped by readers
 * @size: bytes of all blocks, a power of two
 * @block_size: bytes of a block, a power of two
 * @block_shift: log2 of @block_size
 * @nr_blocks: @size / @block_size
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @upper: 32-bit kernels: upper word of the position of the block that was
 *	opened last, see wide.h
 * @floor: copy of @page's floor, for the kernel
 * @parked: position of the block that could not be opened last, ~0 = none
 * @above: snapshot mode: highest commit that a cut has ever moved back
 * @stop: descriptor that sends every writer into the slow path
 * @filling: snapshot mode: state of @full, enum kt_filling
 * @full: snapshot mode: time of the first record that found no room
 * @shed_at: discard mode: bytes in use above which records of priority 0, and
 *	of priority 1, are dropped; written by control paths
 * @blocks: descriptor of each block
 * @base: address of each block
 * @ops: callbacks of the layer that uses the ring
 * @owner: argument of @ops, not used by the ring
 * @reported_at: time of the last loss report, 0 = none
 * @ending: control ring: the session is ending; written by control paths
 * @losses: generation of @loss, incremented by each loss
 * @lossy: @loss may have losses to report
 * @reporting: a context of this CPU is reporting losses
 * @behind: the clock stepped back and has not reached @latest yet
 * @reported_step: value of @latest at the last call of kt_clock_stepped_back()
 * @losing: contexts that counted a loss and have not stored its time yet
 * @loss: unreported losses of each class
 * @pages: pages of the blocks that are in pieces, in their order; NULL = none
 * @nr_pages: number of these pages
 * @map: where they are mapped in a row; the @base of such a block points there
 */
struct kt_ring {
	unsigned long write;
	struct kt_desc *desc;
	unsigned long committed;
	u32 ts_hi;
	u32 lapped;
	struct ktape_ring_page *page;
	unsigned long latest;

	unsigned long size ____cacheline_aligned;
	unsigned long block_size;
	unsigned int block_shift;
	unsigned int nr_blocks;
	unsigned int mode;
	unsigned int cpu;
	unsigned int kind;
	unsigned long upper;
	u64 floor;
	unsigned long parked;
	u64 above;
	struct kt_desc stop;
	u32 filling;
	u64 full;
	unsigned long shed_at[KT_SHED_LEVELS];
	struct kt_desc *blocks;
	void **base;
	const struct kt_ring_ops *ops;
	void *owner;
	u64 reported_at;
	bool ending;
	unsigned long losses;
	bool lossy;
	bool reporting;
	bool behind;
	unsigned long reported_step;
	unsigned int losing;
	struct kt_loss loss[KTAPE_CLASSES];
	struct page **pages;
	unsigned long nr_pages;
	void *map;
};

/**
 * struct kt_record - a record for the paths that are not inlined
 * @code: opcode | dat20 << 8 | p << 28 | nargs << 29
 * @class: its event class, for the counts
 * @nargs: number of argument words
 * @size: bytes at @blob
 * @args: argument words
 * @blob: bytes after the arguments; NULL = none, p is clear
 */
struct kt_record {
	u32 code;
	u32 class;
	u32 nargs;
	u32 size;
	const u32 *args;
	const void *blob;
};

#define KT_CODE(opcode, dat20, p, nargs)                          \
	((u32)(opcode) | (KTAPE_DAT20_MASK & (u32)(dat20)) << 8 | \
	 (u32)(p) << 28 | (u32)(nargs) << 29)

/* Largest blob that fits into a block with any number of arguments: 7 words and its size. */
/* clang-format off */
#define KT_BLOB_MAX(block_size) \
	((block_size) - KTAPE_BLOCK_HEADER - KTAPE_RECORD_SIZE(8))
/* clang-format on */

int kt_ring_write(struct kt_ring *r, const struct kt_record *rec);
int kt_ring_flush(struct kt_ring *r);
void kt_ring_halt(struct kt_ring *r);
void kt_ring_cut(struct kt_ring *r, unsigned long position);
void kt_ring_renew(struct kt_ring *r);

/**
 * struct kt_cut - search for the position at which a full snapshot is cut
 * @ring: the ring
 * @time: records of this time and later are removed
 * @oldest: position of the oldest data
 * @start: position of the block to look at next
 * @position: where to cut, valid when the search has ended
 * @events: removed records per opcode
 */
struct kt_cut {
	struct kt_ring *ring;
	u64 time;
	unsigned long oldest;
	unsigned long start;
	unsigned long position;
	u32 events[KTAPE_OPCODES];
};

void kt_cut_begin(struct kt_cut *c, struct kt_ring *r, unsigned long oldest,
		  u64 time);
bool kt_cut_step(struct kt_cut *c);
void kt_ring_publish_slow(struct kt_ring *r);
void kt_ring_slow(struct kt_ring *r, u32 code, u32 class, u32 a0, u32 a1, u32 a2);
void kt_ring_put_called(struct kt_ring *r, u32 code, u32 class, u32 a0, u32 a1,
			u32 a2);
void kt_ring_lose(struct kt_ring *r, unsigned int reason, unsigned int class);
bool kt_ring_loss_take(struct kt_ring *r, unsigned int class, struct kt_loss *taken);
void kt_ring_loss_back(struct kt_ring *r, unsigned int class,
		       const struct kt_loss *taken);
u64 kt_ring_lost(const struct ktape_ring_page *page, unsigned int reason);
u64 kt_ring_emitted(const struct ktape_ring_page *page);
u64 kt_ring_filtered(const struct ktape_ring_page *page);

/**
 * kt_ring_spare() - Get the bytes in use above which a ring cannot open a block
 * @r: ring of a discard session
 *
 * A ring cannot open another block while its last free block is in use.  A
 * control ring reserves that block for the records that end the session, so its
 * limit is one block lower.
 *
 * Return: bytes, counted from the start of the block that the consumer reads.
 * Context: any.
 */
static inline unsigned long kt_ring_spare(const struct kt_ring *r)
{
	return r->size - (r->kind == KTAPE_RING_CONTROL ? 2 : 1) * r->block_size;
}

/* Compare positions by their difference, because 32-bit kernels wrap them. */
static inline bool kt_before(unsigned long a, unsigned long b)
{
	return (long)(a - b) < 0;
}

/**
 * kt_ring_commit() - Return the position up to which records can be read
 * @r: the ring
 *
 * Return: the position behind the last published record. Context: any.
 */
static inline u64 kt_ring_commit(const struct kt_ring *r)
{
	return kt_position(&r->upper, &r->page->commit);
}

/**
 * kt_ring_tail() - Return the position below which data was overwritten
 * @r: the ring
 *
 * Return: the position. Context: any.
 */
static inline u64 kt_ring_tail(const struct kt_ring *r)
{
	return kt_position(&r->upper, &r->page->tail);
}

/**
 * kt_ring_consumed() - Return the position below which consumers have read
 * @r: the ring of a discard session
 *
 * Return: the position. Context: process context.
 */
static inline u64 kt_ring_consumed(const struct kt_ring *r)
{
	unsigned long consumer = READ_ONCE(*kt_word(&r->page->consumer));
	u64 commit;

	if (KT_WIDE)
		return consumer;
	smp_rmb(); /* commit is not the older one */
	commit = kt_ring_commit(r);
	/* At most a ring lies between the two. */
	return commit - ((unsigned long)commit - consumer);
}

/**
 * kt_ring_consume() - Allow to overwrite the data below a position, if it is a later one
 * @r: the ring
 * @to: the position, at most commit
 *
 * Context: process context; one caller at a time.
 */
static inline void kt_ring_consume(struct kt_ring *r, u64 to)
{
	if (!kt_position_before(kt_ring_consumed(r), to))
		return;
	/*
	 * Pairs with the acquire of consumer in ring_consumed(): the reader is
	 * done with the data before a writer overwrites them.
	 */
	smp_store_release(kt_word(&r->page->consumer), (unsigned long)to);
}

/**
 * kt_ring_set_floor() - Hide all data below a position
 * @r: the ring
 * @floor: the position
 *
 * Context: process context; one caller at a time.
 */
static inline void kt_ring_set_floor(struct kt_ring *r, u64 floor)
{
	kt_wide_store(&r->floor, floor);
	kt_wide_store(&r->page->floor, floor);
}

/**
 * kt_ring_oldest() - Return the position of the oldest data for readers
 * @r: the ring
 *
 * Overwriting moves tail, and clearing the session moves floor.
 *
 * Return: tail or floor, the one nearer to commit. Context: process context.
 */
static inline u64 kt_ring_oldest(struct kt_ring *r)
{
	u64 tail = kt_ring_tail(r), floor = kt_wide_load(&r->floor);
	u64 commit = kt_ring_commit(r);

	/* Not a plain maximum: a damaged tail may be above commit. */
	return commit - floor < commit - tail ? floor : tail;
}

/**
 * kt_ring_is_damaged() - Are the positions of a ring impossible?
 * @r: the ring
 *
 * Only the memory of a persistent session can be written by something other
 * than this module.
 *
 * Return: true if commit and tail are further apart than the ring is large.
 * Context: any.
 */
static inline bool kt_ring_is_damaged(const struct kt_ring *r)
{
	u64 commit, tail;

	if (r->mode != KTAPE_MODE_PERSISTENT)
		return false;
	commit = kt_ring_commit(r);
	tail = kt_ring_tail(r);
	/*
	 * Load commit again: a writer that laps the ring between the two loads
	 * advances tail beyond the old commit, but also advances commit.  Pairs
	 * with the write barrier in ring_make_room().
	 */
	smp_rmb();
	return commit - tail > r->size && commit == kt_ring_commit(r);
}

/**
 * kt_record_length() - Get the length of a record
 * @word: first word of the record
 * @left: bytes up to the end of the data, at least 8
 *
 * Return: bytes, 0 if the record would exceed @left. Context: any.
 */
static inline size_t kt_record_length(const u32 *word, size_t left)
{
	size_t nargs = word[1] >> 29;
	size_t length = 8 + nargs * 4;

	if (word[1] & KT_CODE(0, 0, 1, 0)) {
		/* Look at the size alone: a sum may wrap with 32 bits. */
		if (left < length + 4 || word[2 + nargs] > left)
			return 0;
		length += 4 + (size_t)word[2 + nargs];
	}
	length = ALIGN(length, KTAPE_RECORD_ALIGN);
	return length <= left ? length : 0;
}

/**
 * kt_record_time() - Get the full time of a record
 * @before: time of the previous record, or the begin time of the block
 * @word: first word of the record
 *
 * Before the first record of a new upper half the writer stores a time
 * extension, or it opens a block.  So a lower half that is smaller than the previous one does not
 * mean that 2^32 ticks have passed: the clock stepped back, and the writer did
 * not notice.  The time then stays at @before until the clock has reached it.
 *
 * Return: the time. Context: any.
 */
static inline u64 kt_record_time(u64 before, const u32 *word)
{
	u64 ts;

	if ((u8)word[1] == KTAPE_TIME_EXTEND)
		ts = word[2] | (u64)word[3] << 32;
	else
		ts = (before >> 32) << 32 | word[0];
	return ts < before ? before : ts;
}

/**
 * kt_ring_published() - Publish a stored record, or leave that to an outer writer
 * @r: the ring
 * @start: start of the caller's reservation
 * @end: end of the caller's reservation
 *
 * The writer whose reservation starts at committed owns publication.  As long
 * as committed < write every other reservation starts above it, so no other
 * writer publishes.  Writers that nested on top have finished by now (strict
 * nesting) and only advanced write.
 *
 * The shared commit is stored first and the private copy second.  Giving up
 * ownership before the store would let a nested writer publish a newer value
 * that this store then turns back (race R1).  After ownership is given up,
 * write is checked again, because a writer may have nested between the load of
 * committed and the store (race R2).
 *
 * Return: false if a writer has nested meanwhile: the caller must call
 * kt_ring_publish_slow(). Context: as kt_ring_put().
 */
static __always_inline bool kt_ring_published(struct kt_ring *r,
					      unsigned long start, unsigned long end)
{
	barrier(); /* the record is stored before ownership is checked */
	/*
	 * data_race(): a nested writer may change these words, and any value is
	 * right, see above.  READ_ONCE() would cost an instruction, because gcc
	 * does not compare with memory that is volatile.
	 */
	if (data_race(r->committed) != start)
		return true;
	/* Pairs with the acquire of commit in every reader. */
	smp_store_release(kt_word(&r->page->commit), end);
	barrier();
	WRITE_ONCE(r->committed, end);
	barrier();
	/* data_race(): as above. */
	return data_race(r->write) == end;
}

/**
 * kt_ring_publish() - Publish a stored record, and what nested on top of it
 * @r: the ring
 * @start: start of the caller's reservation
 * @end: end of the caller's reservation
 *
 * Context: as kt_ring_put().
 */
static __always_inline void kt_ring_publish(struct kt_ring *r,
					    unsigned long start, unsigned long end)
{
	if (unlikely(!kt_ring_published(r, start, end)))
		kt_ring_publish_slow(r);
}

/*
 * Keep times from going back: a time before @latest becomes @latest, any other
 * time advances @latest.
 *
 * The kernel's fast clock may step back by a few ns while it is adjusted.  A CTF reader
 * takes a smaller 32-bit time for a step of 2^32 forward; kt_record_time() does not, but
 * cannot tell by how much the clock went back.  (The fast path does not check a cycle
 * counter; the slow path does, see ring_note_step().)
 *
 * Advance @latest before the reservation, because a nested writer must see it.
 * 32-bit kernels keep the lower half in @latest, and compare it only with times
 * of the same upper half.
 */
static __always_inline void kt_ring_not_back(struct kt_ring *r, u32 *lo, u32 *hi)
{
	const bool whole = sizeof(long) == 8;
	unsigned long ts = (unsigned long)((u64)*hi << 32 | *lo);
	unsigned long latest = READ_ONCE(r->latest);

	if (!whole && *hi != READ_ONCE(r->ts_hi)) {
		/* Forward into the next upper half, or back out of this one. */
		if ((int)(*hi - READ_ONCE(r->ts_hi)) > 0) {
			WRITE_ONCE(r->latest, ts);
			return;
		}
		*hi = READ_ONCE(r->ts_hi);
		*lo = (u32)latest;
		return;
	}
	do {
		if (latest >= ts) {
			*lo = (u32)latest;
			if (whole)
				*hi = (u32)((u64)latest >> 32);
			return;
		}
	} while (!kt_try_cmpxchg_local(&r->latest, &latest, ts));
}

/**
 * kt_ring_reserve() - Reserve room for a record in the current block
 * @r: the ring
 * @len: length of the record
 * @w: receives the position of the record
 * @p: receives its address
 * @lo: receives the lower half of its time
 * @by_call: constant, the result of kt_clock_by_call()
 *
 * The caller stores the record and then calls kt_ring_publish().
 *
 * Context: as kt_ring_put().
 * Return: true; false: only the slow path can record it.
 */
static __always_inline bool kt_ring_reserve(struct kt_ring *r,
					    const unsigned long len,
					    unsigned long *w, u32 **p, u32 *lo,
					    const bool by_call)
{
	struct kt_desc *d;
	unsigned long end;
	u32 hi;

	do {
		*w = READ_ONCE(r->write);
		barrier(); /* the time is read after write: it cannot go back */
		/*
		 * Load desc once: the end that is checked and the bias that is
		 * used must belong to one descriptor.  A nested writer that
		 * parks the block stores another descriptor and leaves write
		 * alone, so the cmpxchg would not notice.
		 */
		d = READ_ONCE(r->desc);
		end = *w + len;
		kt_clock_halves(lo, &hi, by_call);
		if (by_call)
			kt_ring_not_back(r, lo, &hi);
		/*
		 * data_race(): as in kt_ring_published().  A nested writer stores
		 * both, and late values lead into the slow path (R8).
		 */
		if (unlikely(hi != data_race(r->ts_hi) ||
			     kt_before(data_race(d->end), end))) /* R8 */
			return false;
		/*
		 * If a nested writer reserved since write was loaded, this
		 * fails.  If not, the descriptor is still that of w's block.
		 */
	} while (unlikely(!kt_try_cmpxchg_local(&r->write, w, end)));
	*p = (u32 *)(d->bias + *w);
	return true;
}

/* Store a record with up to three argument words. */
static __always_inline void kt_record_fill(u32 *p, u32 lo, u32 code,
					   const unsigned int nargs, u32 a0,
					   u32 a1, u32 a2)
{
	p[0] = lo;
	p[1] = code;
	if (nargs > 0) {
		p[2] = a0;
		p[3] = nargs > 1 ? a1 : 0;
	}
	if (nargs > 2) {
		p[4] = a2;
		p[5] = 0;
	}
}

/* kt_ring_put() for one of the two kinds of clock. */
static __always_inline void kt_ring_put_clock(struct kt_ring *r, u32 code, u32 class,
					      const unsigned int nargs, u32 a0,
					      u32 a1, u32 a2, const bool by_call)
{
	const unsigned long len = KTAPE_RECORD_SIZE(nargs);
	unsigned long w;
	u32 *p, lo;

	if (unlikely(!kt_ring_reserve(r, len, &w, &p, &lo, by_call)))
		return kt_ring_slow(r, code, class, a0, a1, a2);
	kt_record_fill(p, lo, code, nargs, a0, a1, a2);
	kt_ring_publish(r, w, w + len);
}

/**
 * kt_ring_put() - Record an event with up to three argument words
 * @r: the ring
 * @code: from KT_CODE(), nargs included
 * @class: event class, for counting the event if it is lost
 * @nargs: 0 to 3, constant on the hot path
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 *
 * The path for a clock that takes a call is out of line.  Inlined, it would
 * make the compiler save and restore call-preserved registers in each probe.
 *
 * Context: any, on the owning CPU with preemption disabled.
 */
static __always_inline void kt_ring_put(struct kt_ring *r, u32 code, u32 class,
					const unsigned int nargs, u32 a0,
					u32 a1, u32 a2)
{
	if (kt_clock_by_call())
		kt_ring_put_called(r, code, class, a0, a1, a2);
	else
		kt_ring_put_clock(r, code, class, nargs, a0, a1, a2, false);
}

#endif /* _KT_RING_H */
