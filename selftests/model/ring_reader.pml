/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other side of the ring's model: a reader, control, the clock.
 */

/*
 * A reader: kt_packet_copy(), packet_copy_block(), and readers of the mapping.
 * It copies slot by slot, and looks at the copy only if tail says that the block
 * was there all the time.
 */
active proctype reader()
{
	byte pos, c, t, start, n, i, inside, time, b_emitted, b_lost, meta;
	byte last_emitted, last_lost;
	bool closed, bad, finish;

end_idle:	do
	:: atomic {
		READER && commit != pos || idle() ->
		finish = idle();
		c = commit
	   }
	   /* packet_skip_lost(): kt_ring_oldest() */
	   atomic {
		t = (floor > tail -> floor : tail);
#if MODE == DISCARD
		/* What was not consumed is there, unless it was cleared. */
		assert(t <= pos || t <= floor);
#endif
		pos = (t > pos -> t : pos);
		if
		:: pos >= c && finish -> goto drained
		:: pos >= c -> goto next
		:: else
		fi;
		start = pos - OFF(pos);
		closed = c - start > BLOCK;
#ifdef M_consumer_before_copy
		consumer = (closed -> start + BLOCK : c)
#endif
	   }
	   /* packet_copy_block(): the header, then the records */
	   atomic {
		inside = (closed -> content[INDEX(start)] : c - start);
		bad = seq[INDEX(start)] != start / BLOCK + 1 || inside < 1;
		t = tid[INDEX(start)];
		time = ts_begin[INDEX(start)];
		b_emitted = h_emitted[INDEX(start)];
		b_lost = h_lost[INDEX(start)];
		i = start + 1;
		n = 0
	   }
#ifdef M_second_look_early
	   atomic {
		if
		:: tail > start -> goto next
		:: else
		fi
	   }
#endif
	   do
	   :: atomic { i < start + inside ->
		meta = slot_meta[i % SIZE];
		bad = bad || slot_pos[i % SIZE] != i + 1;
		if
		:: (meta & IS_FIRST) || (meta & IS_EXTEND) ->
			/* full time: upper half by header and extensions */
			if
			:: meta & IS_EXTEND -> time = meta >> TIME_SHIFT
			:: else
			fi;
			bad = bad || HI(meta >> TIME_SHIFT) != HI(time) ||
			      meta >> TIME_SHIFT < time;
			time = meta >> TIME_SHIFT
		:: else
		fi;
		if
		:: meta & IS_FIRST ->
			n++;
			bad = bad || (t != UNKNOWN && t != THREAD(meta) &&
				      !(meta & ANY_THREAD));
			t = (meta & IS_SWITCH -> 1 - THREAD(meta) : t)
		:: else
		fi;
		meta = 0;
		i++ }
	   :: else -> break
	   od;
	   /* smp_rmb(), tail again */
	   atomic {
#if !defined(M_no_second_look) && !defined(M_second_look_early)
		if
		:: tail > start ->
			assert(pos < (tail > floor -> tail : floor));
			goto next
		:: else
		fi;
#endif
		assert(!bad);
		pos = (closed -> start + BLOCK : c);
		if
		:: closed ->
			/* every record of the block, and none twice */
			assert(n == stored_in[start / BLOCK]);
			assert(b_emitted >= last_emitted);
			assert(b_lost >= last_lost);
			last_emitted = b_emitted;
			last_lost = b_lost
		:: else
		fi
	   }
#if MODE == DISCARD && !defined(M_consumer_before_copy)
	   /* kt_ring_consume(), under a lock that control takes, too */
	   atomic { consumer = (pos > consumer -> pos : consumer) }
#endif
next:	   atomic {
		t = 0; start = 0; n = 0; i = 0; inside = 0; time = 0; c = 0;
		b_emitted = 0; b_lost = 0; closed = false; bad = false; meta = 0
	   }
	od;
drained:
	atomic {
		assert(committed == write && commit == write);
		assert(emitted == true_emitted);
		assert(emitted == stored + filtered + lost);
		assert(MODE != SNAPSHOT || filling == KT_ROOM ||
		       (filling == KT_FILLED && full_at == true_full));
		assert(commit == 0 || (told - 1) / BLOCK == (commit - 1) / BLOCK);
	}
}

/*
 * Control, on another CPU: kt_session_clear(), kt_session_stop() and
 * kt_session_start().
 */
active proctype control()
{
	byte c, t;

#if CLEAR
	/* session_forget() */
	c = commit;
#ifdef M_remote_tail
	tail = c;
#else
	floor = c;
#endif
	atomic { consumer = (c > consumer -> c : consumer) };
	c = 0;
#endif
#if STOP_ONCE
	/* session_stop_running(): the want bits, synchronize_rcu() */
	want = false;
	top == 0;
	assert(commit == write && committed == write);
	/* kt_ring_halt(), session_set_flags() */
	atomic { stop_end = write; desc = STOP };
	stopped = true;
	c = commit;
	atomic { commit == c; assert(write == c) };
	assert(stopped);
	stopped = false;
	want = true;
#endif
	control_done = true
}

#if TICKS
active proctype clock()
{
end_idle:	do
	:: time_now < TICKS -> time_now++
	od
}
#endif
