/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the contexts of the ring's model share: struct kt_ring, its control page,
 * its blocks, and what the model itself keeps to check them.
 *
 * A position counts slots since the ring was made.
 */

#define OVERWRITE	0
#define DISCARD		1
#define SNAPSHOT	2

/* Switches of a configuration */
#ifndef MODE
#define MODE		OVERWRITE
#endif
#ifndef EVENTS1		/* events of the task, */
#define EVENTS1		1
#endif
#ifndef EVENTS2		/* of an interrupt, */
#define EVENTS2		0
#endif
#ifndef EVENTS3		/* and of one that may also nest in the first */
#define EVENTS3		0
#endif
#ifndef SIZES		/* 2: records of one and of two slots */
#define SIZES		1
#endif
#ifndef BLOCK
#define BLOCK		3
#endif
#ifndef NR
#define NR		2
#endif
#ifndef TICKS		/* steps of the clock */
#define TICKS		0
#endif
#ifndef SWITCHES	/* the task may switch to the other thread */
#define SWITCHES	0
#endif
#ifndef FLUSH		/* the task may close the block, kt_ring_flush() */
#define FLUSH		0
#endif
#ifndef FILTERED	/* a filter may hold an event of the task back */
#define FILTERED	0
#endif
#ifndef SLOW		/* all records take the slow path: kt_ring_write() */
#define SLOW		0
#endif
#ifndef READER		/* 0: the reader runs only when the writers are done */
#define READER		1
#endif
#ifndef CLEAR		/* control clears the ring once */
#define CLEAR		0
#endif
#ifndef STOP_ONCE	/* control stops the session once, and starts it again */
#define STOP_ONCE	0
#endif
#ifndef LATE		/* events that do not look at the want bits */
#define LATE		0
#endif

#define LEVELS		3
#define SIZE		(NR * BLOCK)
#define BLOCKS		12	/* blocks that a run may open */

#define OFF(p)		((p) % BLOCK)
#define INDEX(p)	((p) / BLOCK % NR)
#define UP(p)		((p) - OFF(p) + BLOCK)
#define HI(t)		((t) >> 1)

/* Two threads, 0 and 1 */
#define UNKNOWN		2

/* struct kt_now.thread, between the begin of a switch's record and the switch */
#define BEGUN		1
#define ARRIVED		2

/* Of a slot: begin of a record, its kind, its thread, its full time */
#define IS_FIRST	1
#define IS_SWITCH	2
#define THREAD(m)	((m) >> 2 & 1)
#define IS_EXTEND	8
#define ANY_THREAD	16
#define TIME_SHIFT	5

/* enum kt_filling */
#define KT_ROOM		0
#define KT_FILLING	1
#define KT_FILLED	2

/* struct kt_ring: written by the owning CPU in all its contexts */
#define STOP		NR
byte write, committed, desc = STOP, stop_end, ts_hi, parked = 255;
byte filling, full_at = 255;
byte desc_end[NR];
short desc_bias[NR + 1] = -100;	/* no address until open_block() */
#ifdef M_torn_descriptor
byte c_end;
short c_bias;
#endif

/* The control page */
byte commit, tail, floor, consumer, emitted, filtered, lost;
bool stopped;

/* The blocks: headers and slots */
byte seq[NR], tid[NR], ts_begin[NR], content[NR], h_emitted[NR], h_lost[NR];
byte slot_pos[SIZE], slot_meta[SIZE];

/* The CPU, its clock, its thread, the want bit of the only event */
byte left[LEVELS] = { EVENTS1, EVENTS2, EVENTS3 };
byte top, time_now, current, arriving;
bool irqs_off, unknown, want = true;

/* What the model checks with: none of these has a counterpart in the code. */
byte true_emitted;	/* events that belong to the trace */
byte used;		/* slots that were reserved, all reservations together */
byte stored;		/* records with a reservation */
byte stored_in[BLOCKS];	/* the same by block, since the ring was made */
byte told;		/* commit when readers were woken last */
byte park_done = 255;	/* block that no record may avoid any more */
byte true_full = 255;	/* earliest time at which a record found no room */
bool control_done;

#define idle()		(top == 0 && left[0] + left[1] + left[2] == 0 && \
			 control_done)

#define end_of(d)	(d == STOP -> stop_end : desc_end[(d == STOP -> 0 : d)])


/* Reserve up to @to: what kt_try_cmpxchg_local() does when it succeeds. */
inline reserve(to)
{
	atomic {
		used = used + to - w;
		write = to;
		assert(used == write);	/* no two reservations overlap */
		if
		:: length > 0 ->
			stored++;
			stored_in[(to - length) / BLOCK]++
		:: else
		fi
	}
}

inline store_commit(to)
{
	atomic {
		assert(to >= commit);	/* commit never goes back */
		assert(to <= write);
		commit = to
	}
}

/* Move tail by maximum, by cmpxchg. */
inline move_tail()
{
#if defined(M_no_tail)
	skip;
#elif defined(M_tail_store)
	was = tail;
	if
	:: was < limit ->
		atomic { assert(limit >= tail); tail = limit }
	:: else
	fi;
	was = 0;
#else
	atomic {
		if
		:: tail < limit -> tail = limit
		:: else
		fi
	}
#endif
}

inline lead_to_slow(block_)
{
	stop_end = block_;
	desc = STOP
}
