/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writers of one ring: module/ring/ring.h and ring.c on the owning CPU.
 *
 * A slot stands for the bytes of the smallest record.  A block has BLOCK slots:
 * its header, and records of one or two slots.  A step of a process is one
 * access to a word that a nested writer or another CPU may change at that
 * moment; what touches only the context's own variables belongs to the step
 * before it.  Names are those of the C code.
 *
 * Memory is sequentially consistent here, because a nested writer runs on the
 * CPU of the writer that it interrupts.  What another CPU sees out of order is
 * the subject of litmus/ and of selftests/unit/module/ring/t_model.c.
 *
 * A configuration (models.conf) sets the switches that ring_state.pml explains; a
 * mutant sets M_NAME.
 */
#include "ring_state.pml"

/* kt_ring_ops.opened(): the readers look at commit from here on. */
#define opened()	told = commit

/*
 * context_fill(): the thread that a block's header names.  The record of a switch
 * belongs to the outgoing thread; an NMI does not know on which side of it it nests.
 */
#ifdef M_nmi_in_switch
#define context_fill()	(unknown -> UNKNOWN : current)
#else
#define context_fill() \
	(unknown -> UNKNOWN : \
	 (sw || arriving == 0 -> current : \
	  (arriving == BEGUN -> UNKNOWN : 1 - current)))
#endif

/*
 * A context: kt_event(), then kt_ring_put_clock(), kt_ring_slow() and
 * kt_ring_publish().  Process 0 is the task, 1 an interrupt, 2 an NMI, which may
 * nest in both.  A process runs only while no context above it runs.
 */
active [LEVELS] proctype writer() provided (top <= _pid + 1)
{
	byte outer, length, w, finish, d, ts, block, record, limit, was;
	byte p_emitted, p_lost, own, halted;
	bool sw, flush, open, extend, first, slow;
	short at;

end_idle:
	do
	/* kt_event(): load the want bit, count */
	:: atomic {
		left[_pid] > 0 && (_pid != 1 || !irqs_off) ->
		left[_pid]--;
		if
		:: !want && !LATE -> goto end_idle
		:: else
		fi;
		outer = top;
		top = _pid + 1;
		own = current;
		halted = (outer == 0 -> park_done : 255);
		slow = SLOW;
		if
		:: length = 1
		:: SIZES > 1 -> length = 2
		:: SWITCHES && _pid == 0 ->
			/* kt_switch_begin() */
			length = SIZES; sw = true; irqs_off = true;
#ifdef M_arrived_early
			arriving = ARRIVED
#else
			arriving = BEGUN
#endif
		:: FLUSH && _pid == 0 -> flush = true; irqs_off = true
		fi;
		if
		:: flush -> goto slow_path
		:: else -> emitted++; true_emitted++
		fi;
		if
		:: FILTERED && _pid == 0 -> filtered++; goto done
		:: true
		fi;
		if
		:: slow -> goto slow_path
		:: else
		fi;
#if TICKS && defined(M_time_once)
		ts = time_now;
#endif
	   }

	   /* ---- kt_ring_put_clock() ------------------------------------- */
fast:
#if TICKS && defined(M_time_before_write)
	   ts = time_now;
#endif
	   w = write;
	   d = desc;
#if TICKS && !defined(M_time_once) && !defined(M_time_before_write)
	   ts = time_now;
#endif
	   if
#ifdef M_torn_descriptor
	   :: HI(ts) != ts_hi || c_end < w + length -> goto slow_path
#else
	   :: HI(ts) != ts_hi || end_of(d) < w + length -> goto slow_path
#endif
	   :: else
	   fi;
#ifdef M_desc_twice
	   d = desc;
#endif
	   atomic {
		if
#ifndef M_plain_reserve
		:: write != w -> goto fast
#endif
		:: else -> assert(halted != UP(w)); reserve(w + length)
		fi;
#ifdef M_torn_descriptor
		at = c_bias + w;
#else
		at = desc_bias[d] + w;
#endif
		assert(at >= 0 && at < SIZE);
		finish = w + length;
		goto store
	   };

	   /* ---- ring_put(), plan_record() -------------------------------- */
slow_path:
	   atomic {
		skip;
#ifndef M_no_stop_check
		if
		:: stopped -> goto lose
		:: else
		fi;
#endif
	   }
plan:	   w = write;
#if TICKS
	   ts = time_now;
#endif
	   atomic {
#ifdef M_no_extend
		extend = false;
#else
		extend = HI(ts) != ts_hi;
#endif
		first = w == 0;
#ifdef M_exact_fill
		open = first || flush || parked == UP(w) ||
		       OFF(w) + extend + length > BLOCK;
#else
		open = OFF(w) == 0 || flush || parked == UP(w) ||
		       OFF(w) + extend + length > BLOCK;
#endif
		if
		:: !open ->
			block = w - OFF(w);
			record = w + extend;
			finish = record + length;
			goto try_reserve
		:: else
		fi;
		extend = false;
		block = (OFF(w) == 0 -> w : UP(w));
		record = block + 1;
		finish = record + length;
		assert(block / BLOCK < BLOCKS);
		/* ring_make_room() */
		if
		:: block < SIZE -> goto counts
		:: else -> limit = block + BLOCK - SIZE
		fi
	   }
	   atomic {
		skip;
#if MODE == SNAPSHOT
		if
		:: floor < limit -> goto beyond
		:: else
		fi;
#endif
#ifndef M_no_lap_check
		if
		:: committed < limit -> goto lose
		:: else
		fi;
#endif
#if MODE == DISCARD && !defined(M_no_consumer_check)
		if
		:: consumer < limit -> goto park
		:: else
		fi;
#endif
	   }
#ifndef M_tail_after_reserve
	   move_tail();
#endif
counts:	   atomic {
		p_emitted = emitted - !flush;
		p_lost = lost
	   }
try_reserve:
#if TICKS && defined(M_extend_before_reserve)
	   ts_hi = HI(ts);
#endif
	   atomic {
		if
#ifndef M_plain_reserve_slow
		:: write != w -> goto plan
#endif
		:: else -> assert(open || halted != UP(w)); reserve(finish)
		fi
	   }
#if TICKS && !defined(M_extend_before_reserve)
	   ts_hi = HI(ts);
#endif
	   if
	   :: !open -> goto same_block
	   :: else
	   fi;
#ifdef M_tail_after_reserve
	   if
	   :: block >= SIZE -> limit = block + BLOCK - SIZE; move_tail()
	   :: else
	   fi;
#endif
#ifdef M_counts_after_reserve
	   atomic {
		p_emitted = emitted - !flush;
		p_lost = lost
	   }
#endif
	   /* close_block(), open_block() */
	   if
	   :: atomic { !first ->
		content[INDEX(block - BLOCK)] = w - (block - BLOCK);
		h_emitted[INDEX(block - BLOCK)] = p_emitted;
		h_lost[INDEX(block - BLOCK)] = p_lost }
	   :: else
	   fi;
	   atomic {
		seq[INDEX(block)] = block / BLOCK + 1;
		ts_begin[INDEX(block)] = ts;
		tid[INDEX(block)] = context_fill()
	   }
#ifdef M_closing_at_open
	   content[INDEX(block)] = 0;
#endif
#ifdef M_end_before_bias
	   desc_end[INDEX(block)] = block + BLOCK;
	   desc_bias[INDEX(block)] = INDEX(block) * BLOCK - block;
#else
	   desc_bias[INDEX(block)] = INDEX(block) * BLOCK - block;
	   desc_end[INDEX(block)] = block + BLOCK;
#endif
	   goto lead;
same_block:
	   atomic {
		if
		:: extend ->
			slot_pos[w % SIZE] = w + 1;
			slot_meta[w % SIZE] = IS_EXTEND | ts << TIME_SHIFT
		:: else
		fi;
		/* Correct a descriptor that was stored late (R8). */
		if
		:: desc_end[INDEX(block)] != block + BLOCK -> goto led
		:: else
		fi
	   }
lead:	   /* ring_lead_to() */
#ifdef M_park_is_undone
	   if
	   :: atomic { parked == block + BLOCK -> stop_end = block; desc = STOP;
		goto led }
	   :: else
	   fi;
	   desc = INDEX(block);
#else
#ifdef M_torn_descriptor
	   c_end = desc_end[INDEX(block)];
	   c_bias = desc_bias[INDEX(block)];
#endif
	   desc = INDEX(block);
	   if
	   :: parked == block + BLOCK -> lead_to_slow(block)
	   :: else
	   fi;
#endif
led:	   atomic {
		at = record % SIZE;
		if
		:: flush -> goto publish
		:: else
		fi
	   }

	   /* ---- record_store() ------------------------------------------- */
store:	   atomic {
		slot_pos[at] = finish - length + 1;
		slot_meta[at] = IS_FIRST | (sw -> IS_SWITCH : 0) | own << 2 |
				(_pid == 2 -> ANY_THREAD : 0) | ts << TIME_SHIFT;
		if
		:: length == 1 -> goto publish
		:: else
		fi
	   }
	   atomic {
		slot_pos[(at + 1) % SIZE] = finish;
		slot_meta[(at + 1) % SIZE] = 0
	   }

	   /* ---- kt_ring_publish() ------------------------------------------ */
publish:   atomic {
		limit = 0; p_emitted = 0; p_lost = 0; at = 0; record = 0; d = 0;
		ts = 0; block = 0; first = false; extend = false; own = 0; halted = 0;
#ifndef M_publish_by_anyone
		if
		:: committed != w -> goto published
		:: else
		fi
#endif
	   }
#ifdef M_commit_after_private
	   committed = finish;
	   store_commit(finish);
#else
	   store_commit(finish);
	   committed = finish;
#endif
	   if
#ifdef M_no_recheck
	   :: true -> goto published
#else
	   :: write == finish -> goto published
	   :: else
#endif
	   fi;
	   /* kt_ring_publish_slow() */
	   was = committed;
again:
#ifdef M_recheck_order
	   limit = committed;
	   finish = write;
	   if
	   :: limit >= finish -> goto crossed
	   :: else
	   fi;
#else
	   finish = write;
	   if
	   :: committed >= finish -> goto crossed
	   :: else
	   fi;
#endif
#ifdef M_commit_after_private_slow
	   committed = finish;
	   store_commit(finish);
#else
	   store_commit(finish);
	   committed = finish;
#endif
	   goto again;
crossed:   atomic {
		skip;
#ifndef M_told_too_early
		if
		:: (was - 1) / BLOCK != (committed - 1) / BLOCK -> opened()
		:: else
		fi
#endif
	   }
published: atomic {
		if
		:: open -> opened()
		:: else
		fi;
		goto done
	   };

	   /* ---- losses ----------------------------------------------------- */
#if MODE == SNAPSHOT
beyond:	   /* ring_fill(), record_drop() */
	   was = filling;
	   if
#ifdef M_fill_latest
	   :: was == KT_ROOM || was == KT_FILLED ->
#else
	   :: was == KT_ROOM || (was == KT_FILLED && ts < full_at) ->
#endif
		filling = KT_FILLING;
		full_at = ts;
		filling = KT_FILLED
	   :: else
	   fi;
	   atomic {
		true_full = (ts < true_full -> ts : true_full);
		if
		:: !flush ->
			true_emitted--;
#ifndef M_beyond_counts
			emitted--;
#endif
		:: else
		fi;
		goto done
	   };
#endif
park:	   /* ring_park(), ops->parked(): a lost switch leaves the thread unknown */
	   atomic {
		if
		:: flush -> goto done
		:: else
		fi;
		unknown = unknown || sw
	   }
#ifndef M_fits_after_loss
	   parked = block;
#endif
	   stop_end = block - BLOCK;
	   atomic { desc = STOP; park_done = block }
lose:	   /* kt_ring_lose(): one instruction on the owning CPU (R5) */
	   if
	   :: flush -> goto done
	   :: else
#ifdef M_count_in_two
		was = lost;
		lost = was + 1;
#else
		lost++;
#endif
	   fi;

done:	   if
	   :: sw ->
		/* kt_switch_end(), then the switch itself */
		arriving = ARRIVED;
		atomic { current = 1 - current; unknown = false; arriving = 0 }
	   :: else
	   fi;
	   atomic {
		if
		:: sw || flush -> irqs_off = false
		:: else
		fi;
		top = outer;
		outer = 0; length = 0; w = 0; finish = 0; d = 0; ts = 0; block = 0;
		record = 0; limit = 0; was = 0; p_emitted = 0; p_lost = 0; own = 0; halted = 0;
		sw = false; flush = false; open = false; extend = false;
		first = false; slow = false; at = 0
	   }
	od
}

#include "ring_reader.pml"
