/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's lock-free ring: reserve, store, publish.
 *
 * The same source is compiled into the module and, with a small shim instead of
 * the kernel's headers, into the native tests and benchmarks.
 *
 * Every word has one writing CPU.  The CPU that owns the ring, in any of its
 * contexts, writes all of struct kt_ring and the commit, tail and count words
 * of the control page; control paths on other CPUs write floor, consumer and
 * flags.  Callers have preemption disabled on the owning CPU, so that writers
 * nest strictly: task, softirq, irq, nmi.
 *
 * Words and who may see them torn:
 *   write      moved on by cmpxchg only; [committed, write) is reserved
 *   committed  private copy of commit; whoever reserved at committed owns it and
 *              publishes for everybody who nested on top
 *   desc       one pointer, so that a nested context cannot tear {end, bias}
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

struct page;

/* ---- the trace clock: clock.c --------------------------------------------- */

/* Outside the kernel the shim has these. */
#ifdef __KERNEL__

DECLARE_STATIC_KEY_FALSE(kt_clock_called);

u64 kt_clock_slow(void);
DECLARE_PER_CPU(unsigned int, kt_clock_reading);

/**
 * kt_clock_by_call() - does reading the clock take a function call?
 *
 * What is called may have a probe, and a clock that is called may step back a
 * little: writers of the ring have a way of their own for it.
 *
 * Return: true or false, patched into the code or constant. Context: any.
 */
static __always_inline bool kt_clock_by_call(void)
{
	return KT_CYCLES_BY_CALL || static_branch_unlikely(&kt_clock_called);
}

/**
 * kt_clock() - read the trace clock
 *
 * Not ordered with the instructions around it: an interrupt orders by itself,
 * and within one context the order of reading is the program's.
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
 * kt_clock_halves() - read the trace clock in two halves
 * @lo: receives the lower half
 * @hi: receives the upper half
 * @by_call: constant, what kt_clock_by_call() says
 *
 * The fast path stores one half and compares the other; putting them together
 * and apart again would be a quarter of its instructions.
 *
 * Context: any, preemption disabled.
 */
static __always_inline void kt_clock_halves(u32 *lo, u32 *hi,
					    const bool by_call)
{
	u64 ts;

	if (by_call) {
		/* Contexts that come in between leave it as they found it. */
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
 * kt_clock_is_being_read() - does a writer of this CPU read the clock just now?
 *
 * For probes that may be hit by reading it.
 *
 * Context: any, preemption disabled.
 * Return: true or false; never true when it takes no function call.
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
bool kt_clock_stable(void);
u32 kt_clock_id(void);
const char *kt_clock_name(void);
void kt_clock_moment(struct kt_moment *m);

#endif /* __KERNEL__ */

/* ---- one ring: ring.c, cut.c, loss.c --------------------------------------- */

struct kt_record;
struct kt_ring;

/**
 * struct kt_ring_ops - what a ring tells its user
 * @opening: a block is being opened: fill in the members of its header that are
 *	the user's; @ts is the time of its first record
 * @opened: a block was closed and the next one opened; @since is the trace clock
 *	at which this writer began to open it, 0 if another writer opened it
 * @filled: snapshot mode: a record found no room
 * @parked: discard mode: @rec was lost because no block could be opened
 *
 * All are called from the slow path, on the owning CPU in the context of the
 * writer, possibly an NMI.
 */
struct kt_ring_ops {
	void (*opening)(struct kt_ring *r, struct ktape_block *block, u64 ts);
	void (*opened)(struct kt_ring *r, u64 since);
	void (*filled)(struct kt_ring *r);
	void (*parked)(struct kt_ring *r, const struct kt_record *rec);
};

/**
 * struct kt_desc - where the records of one block go in its present lap
 * @end: position of the block's end
 * @bias: address of a record minus its position
 *
 * Rewritten only by the opener of the block's next lap, after the lapping
 * check: until then no context can hold a reservation in the former lap.
 */
struct kt_desc {
	unsigned long end;
	unsigned long bias;
};

/**
 * enum kt_filling - did a record of a snapshot find no room?
 * @KT_ROOM: no
 * @KT_FILLING: yes, and the time is being written
 * @KT_FILLED: yes, and the time is there
 */
enum kt_filling {
	KT_ROOM,
	KT_FILLING,
	KT_FILLED,
};

#define KT_SHED_LEVELS	2	/* classes of higher priority are never shed */

/**
 * struct kt_loss - losses of one class that no record has told of yet
 * @first: time of the first of them
 * @last: time of the last one
 * @told: how many were told before
 * @open: there are some
 */
struct kt_loss {
	u64 first;
	u64 last;
	u64 told;
	u64 open;
};

/**
 * struct kt_ring - one CPU's ring of one kind in one session
 * @write: position of the next reservation
 * @desc: descriptor of the block that is being filled, or @stop
 * @committed: private copy of @page's commit
 * @ts_hi: upper half of the trace clock at the last slow path
 * @latest: the latest time taken: with a clock that takes a call of each record,
 *	else of the slow path
 * @lapped: the ring was filled once
 * @page: control page, mapped by readers
 * @size: bytes of all blocks, a power of two
 * @block_size: bytes of a block, a power of two
 * @block_shift: its logarithm
 * @nr_blocks: @size / @block_size
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @parked: discard mode: the block that could not be opened last, or no block
 * @above: snapshot mode: where readers may have been before a cut
 * @stop: a descriptor that sends every writer into the slow path
 * @filling: snapshot mode: enum kt_filling, of @full
 * @full: trace clock of the first record without room
 * @shed_at: discard mode: bytes in use above which classes of priority 0, and
 *	of priority 1, are dropped; stored by control
 * @blocks: descriptor of each block
 * @base: address of each block
 * @ops: functions of the user of the ring
 * @owner: for @ops
 * @told_at: when losses were told last
 * @ending: of a control ring: what ends the session comes next
 * @losses: counts what happened to @loss
 * @lossy: there are losses to be told
 * @telling: they are being told
 * @behind: the clock stepped back and has not come to @latest yet
 * @told_step: the time, as in @latest, at which the clock was told to be behind
 * @losing: contexts that have counted one and not noted its time yet
 * @loss: losses per class; of the owning CPU, as everything else
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
	unsigned long parked;
	unsigned long above;
	struct kt_desc stop;
	u32 filling;
	u64 full;
	unsigned long shed_at[KT_SHED_LEVELS];
	struct kt_desc *blocks;
	void **base;
	const struct kt_ring_ops *ops;
	void *owner;
	u64 told_at;
	bool ending;
	unsigned long losses;
	bool lossy;
	bool telling;
	bool behind;
	unsigned long told_step;
	unsigned int losing;
	struct kt_loss loss[KTAPE_CLASSES];
};

/**
 * struct kt_record - a record for the paths that are not inlined
 * @code: opcode | dat20 << 8 | p << 28 | nargs << 29
 * @class: its event class, for the counts
 * @nargs: argument words
 * @size: bytes at @blob
 * @args: the argument words
 * @blob: what follows the arguments when p is set
 */
struct kt_record {
	u32 code;
	u32 class;
	u32 nargs;
	u32 size;
	const u32 *args;
	const void *blob;
};

#define KT_CODE(opcode, dat20, p, nargs)				\
	((u32)(opcode) | ((u32)(dat20) & KTAPE_DAT20_MASK) << 8 |	\
	 (u32)(p) << 28 | (u32)(nargs) << 29)

/* Bytes of blobs that fit with any arguments into a block of @block_size. */
#define KT_BLOB_MAX(block_size) \
	((block_size) - KTAPE_BLOCK_HEADER - KTAPE_RECORD_SIZE(8))

int kt_ring_write(struct kt_ring *r, const struct kt_record *rec);
int kt_ring_flush(struct kt_ring *r);
void kt_ring_halt(struct kt_ring *r);
void kt_ring_cut(struct kt_ring *r, unsigned long position);
void kt_ring_renew(struct kt_ring *r);

/**
 * struct kt_cut - where a ring is cut, and what that takes away
 * @ring: the ring
 * @time: what has this time or a later one goes
 * @oldest: position of its oldest data
 * @start: block to look at next
 * @position: where to cut
 * @events: records that go, per opcode
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
void kt_ring_slow(struct kt_ring *r, u32 code, u32 class, u32 a0, u32 a1,
		  u32 a2);
void kt_ring_put_called(struct kt_ring *r, u32 code, u32 class, u32 a0, u32 a1,
			u32 a2);
void kt_ring_lose(struct kt_ring *r, unsigned int reason, unsigned int class);
bool kt_ring_loss_take(struct kt_ring *r, unsigned int class,
		       struct kt_loss *taken);
void kt_ring_loss_back(struct kt_ring *r, unsigned int class,
		       const struct kt_loss *taken);
u64 kt_ring_lost(const struct ktape_ring_page *page, unsigned int reason);
u64 kt_ring_emitted(const struct ktape_ring_page *page);
u64 kt_ring_filtered(const struct ktape_ring_page *page);

/**
 * kt_ring_spare() - when does a ring that waits for its reader open no more?
 * @r: the ring
 *
 * Return: the bytes from the begin of the block that is read above which its last
 * block is in use; that of a control ring is for the end, so it is the last but
 * one. Context: any.
 */
static inline unsigned long kt_ring_spare(const struct kt_ring *r)
{
	return r->size -
	       (r->kind == KTAPE_RING_CONTROL ? 2 : 1) * r->block_size;
}

/* Positions only grow; with 32 bits they wrap, so compare by difference. */
static inline bool kt_before(unsigned long a, unsigned long b)
{
	return (long)(a - b) < 0;
}

/*
 * A position in the control page is a u64 of which 32-bit kernels use the low
 * half, so that storing it is one instruction everywhere.
 */
static inline unsigned long *kt_word(u64 *p)
{
	return (unsigned long *)p;
}

/**
 * kt_ring_commit() - return the position up to which records can be read
 * @r: the ring
 *
 * Return: the position behind the last published record. Context: any.
 */
static inline unsigned long kt_ring_commit(const struct kt_ring *r)
{
	/* Pairs with the release of commit in kt_ring_publish(). */
	return smp_load_acquire(kt_word(&r->page->commit));
}

/**
 * kt_ring_oldest() - return the position of the oldest data for readers
 * @r: the ring
 *
 * Overwriting moves tail, and clearing the session moves floor.
 *
 * Return: tail or floor, the one nearer to commit. Context: any.
 */
static inline unsigned long kt_ring_oldest(const struct kt_ring *r)
{
	unsigned long tail = READ_ONCE(*kt_word(&r->page->tail));
	unsigned long floor = READ_ONCE(*kt_word(&r->page->floor));
	unsigned long commit = kt_ring_commit(r);

	/* Not a plain maximum: an old floor may have wrapped on 32 bits. */
	return commit - floor < commit - tail ? floor : tail;
}

/**
 * kt_ring_is_damaged() - check whether the positions of a ring are impossible
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
	unsigned long commit, tail;

	if (r->mode != KTAPE_MODE_PERSISTENT)
		return false;
	commit = kt_ring_commit(r);
	tail = READ_ONCE(*kt_word(&r->page->tail));
	/*
	 * The writer may lap us between the two loads: then it has moved commit,
	 * too.  Pairs with the write barrier in make_room().
	 */
	smp_rmb();
	return commit - tail > r->size && commit == kt_ring_commit(r);
}

/**
 * kt_record_length() - bytes of a record
 * @word: its first words
 * @left: bytes that there are
 *
 * Return: the length, 0 if it exceeds @left. Context: any.
 */
static inline size_t kt_record_length(const u32 *word, size_t left)
{
	size_t nargs = word[1] >> 29;
	size_t length = 8 + nargs * 4;

	if (word[1] & KT_CODE(0, 0, 1, 0)) {
		if (left < length + 4)
			return 0;
		length += 4 + (size_t)word[2 + nargs];
	}
	length = ALIGN(length, KTAPE_RECORD_ALIGN);
	return length <= left ? length : 0;
}

/**
 * kt_record_time() - whole time of a record
 * @before: that of the record before it, of a block's begin for the first one
 * @word: its first words
 *
 * A time extension goes before the first record of a later upper half.  So if a
 * lower half is smaller than that before it, the clock has stepped back, by less
 * than the writer could see, and no 2^32 ticks have passed: time stands still
 * until the clock has come to where it was.
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

static __always_inline void kt_count(u64 *p)
{
	/* One instruction on the owning CPU (race R5), never a load and a store. */
	kt_local_inc(p);
}

/**
 * kt_ring_publish() - make a stored record visible, or leave it to the owner
 * @r: the ring
 * @start: begin of the caller's reservation
 * @end: end of the caller's reservation
 *
 * The context whose reservation starts at committed owns publication.  As long
 * as committed < write every other start lies above it, so nobody else
 * publishes; contexts that nested on top have finished by now (strict nesting)
 * and only left their end in write.
 *
 * The shared commit goes first and the private copy second: giving up
 * ownership before the store would let a nested context publish a newer value
 * that we then turn back (race R1).  After giving up, write is looked at again,
 * because a context may have nested between our load of committed and the
 * store (race R2).
 */
static __always_inline void kt_ring_publish(struct kt_ring *r,
					    unsigned long start,
					    unsigned long end)
{
	barrier();	/* the record is stored before ownership is looked at */
	if (r->committed != start)
		return;
	/* Pairs with the acquire of commit in every reader. */
	smp_store_release(kt_word(&r->page->commit), end);
	barrier();
	r->committed = end;
	barrier();
	if (unlikely(r->write != end))
		kt_ring_publish_slow(r);
}

/*
 * The kernel's fast clock may step back by a few ns while it is adjusted, and
 * in 32 bits that would read as a step of 2^32.  (A cycle counter is taken as it
 * is in the fast path; the slow path looks, see note_step().)  The latest time is
 * moved on before the reservation: stored after it, a nested context would miss
 * it.  32-bit kernels keep its lower half, and compare it only with times of the
 * same upper half.
 */
static __always_inline void kt_ring_not_back(struct kt_ring *r, u32 *lo,
					     u32 *hi)
{
	const bool whole = sizeof(long) == 8;
	unsigned long ts = (unsigned long)((u64)*hi << 32 | *lo);
	unsigned long latest = READ_ONCE(r->latest);

	if (!whole && *hi != r->ts_hi) {
		/* Forward into the next turn, or back out of this one. */
		if ((int)(*hi - r->ts_hi) > 0) {
			WRITE_ONCE(r->latest, ts);
			return;
		}
		*hi = r->ts_hi;
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

/* kt_ring_put() for one of the two ways to read the clock. */
static __always_inline void kt_ring_put_clock(struct kt_ring *r, u32 code,
					      u32 class,
					      const unsigned int nargs, u32 a0,
					      u32 a1, u32 a2,
					      const bool by_call)
{
	const unsigned long len = KTAPE_RECORD_SIZE(nargs);
	unsigned long w, end;
	struct kt_desc *d;
	u32 *p, lo, hi;

	do {
		w = r->write;
		barrier();	/* the time is read after write: it cannot go back */
		/*
		 * Loaded once: a nested writer that parks the block stores
		 * another descriptor and leaves write alone, so that no cmpxchg
		 * fails.  The end that was checked and the bias that is used
		 * have to be those of one descriptor.
		 */
		d = READ_ONCE(r->desc);
		end = w + len;
		kt_clock_halves(&lo, &hi, by_call);
		if (by_call)
			kt_ring_not_back(r, &lo, &hi);
		if (unlikely(hi != r->ts_hi || kt_before(d->end, end)))
			return kt_ring_slow(r, code, class, a0, a1, a2);
		/*
		 * If a nested context reserved since write was loaded, this
		 * fails; if not, the descriptor is still that of w's block.
		 */
	} while (unlikely(!kt_try_cmpxchg_local(&r->write, &w, end)));

	p = (u32 *)(d->bias + w);
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
	kt_ring_publish(r, w, end);
}

/**
 * kt_ring_put() - record an event with up to three argument words
 * @r: the ring
 * @code: from KT_CODE(), nargs included
 * @class: its event class, for counting it if it is lost
 * @nargs: 0 to 3, a constant where time matters
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 *
 * A clock that takes a call would have the compiler keep everything in
 * registers that calls preserve, so that way is out of line.
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

/* ---- the memory of rings: memory.c ----------------------------------------- */

/**
 * struct kt_ring_spec - what kind of ring is wanted
 * @size: bytes of all blocks, a power of two
 * @block_size: bytes of a block, a power of two of at least a page
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @account: charge the memory to the caller's cgroup; what can be mapped, which is
 *	nearly all of it, from Linux 5.11 on
 * @page: persistent mode: zeroed control page, which stays the caller's
 * @blocks: persistent mode: all blocks in a row, likewise
 * @ops: functions that the ring calls
 * @owner: for @ops
 * @had: out: bytes of @size for which there was memory
 */
struct kt_ring_spec {
	unsigned long size;
	unsigned long block_size;
	unsigned int mode;
	unsigned int cpu;
	unsigned int kind;
	bool account;
	void *page;
	char *blocks;
	const struct kt_ring_ops *ops;
	void *owner;
	unsigned long had;
};

struct kt_ring *kt_ring_alloc(struct kt_ring_spec *spec);
void kt_ring_free(struct kt_ring *r);
struct page *kt_ring_page_at(const struct kt_ring *r, unsigned long page);

#endif /* _KT_RING_H */
