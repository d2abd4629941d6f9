/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast enable check of events against changes of sessions: want bits,
 * ring pointers and filters of one CPU (module/event/event.h, event.c), changed by
 * module/session/ (profile.c, run.c, filters.c, session.c) and by unload.
 *
 * One event, two sessions, a task and an interrupt that nests in it.  A callback
 * runs with preemption disabled, so synchronize_rcu() has seen the CPU idle once.
 *
 * BY_THREAD: the filters are by thread, so they are in the pass mask instead of the want bits
 * (module/event/now.c).  Two threads take turns.  One of them passes all filters.
 */
#define SESSIONS	2
#define KT_WANT_CHECK	4	/* a filter applies in one of the sessions */
#define BIT(s)		(1 << (s))

#ifndef EVENTS1
#define EVENTS1		2
#endif
#ifndef EVENTS2
#define EVENTS2		1
#endif

/* struct kt_cpu: read by each event */
byte want;
#ifdef BY_THREAD
#define CLOSED		3
#ifndef SWITCHES
#define SWITCHES	2
#endif
#define KT_WANT_SWITCH	4	/* a switch changes the mask */
byte want_switch;	/* want bits of sched_switch */
byte mask;		/* sessions that the thread does not pass, or CLOSED */
byte selective;		/* sessions that have a thread filter, or had one */
byte planned;		/* sessions that have a thread filter */
bool passes;		/* the running thread passes all filters */
bool arrived;		/* KT_ARRIVED: a switch was seen since the mask was closed */
byte switches = SWITCHES;
#define PASSES		passes
#else
#define PASSES		false
#endif
bool irqs_off;
bool ring[SESSIONS];	/* is there a pointer? */
byte filters[SESSIONS];		/* kt_filters[]: 0 = none, else its number */

byte left[2] = { EVENTS1, EVENTS2 };
byte top;
bool attached, unloaded;

/* What the model checks with */
bool ring_freed[SESSIONS];	/* the memory behind the pointer */
byte filters_freed;		/* filters up to this number are freed */
bool quiet[SESSIONS];		/* the session has stopped: no record any more */
bool complete[SESSIONS];	/* it records: each event that begins now is there */
bool strict[SESSIONS];		/* its filter was announced: nothing passes it */
bool open[SESSIONS];		/* it has no filter: all must pass */
byte must[2];			/* per context: sessions that must get the event */

inline use_ring(s)
{
	assert(!unloaded && ring[s] && !ring_freed[s]);
}

/* kt_count(), kt_ring_put() */
inline record(s)
{
	atomic {
		use_ring(s);
		assert(!quiet[s]);
		must[_pid] = must[_pid] & ~BIT(s)
	}
}

/* event_put(): count, check the filter, record */
inline event_put(s)
{
	use_ring(s);
	f = filters[s];
	if
	:: f == 0 || PASSES ->
		atomic { assert(PASSES || !strict[s]); record(s); f = 0 }
	:: else ->
		atomic {
			assert(f > filters_freed);
			must[_pid] = must[_pid] & ~BIT(s);	/* filtered */
			f = 0
		}
	fi
}

/*
 * kt_event_at(): load the want bits, then the mask.  Where both have a bit, kt_event_many()
 * decides, and kt_now_renew() computes a closed mask.
 */
#ifdef BY_THREAD
#define held(w)		((w) & mask)
#define mask_now()	(passes -> 0 : selective)
#define thread_known()	(arrived && (want_switch & 3))
/* kt_now_renew(): with interrupts disabled */
#define renew()		mask = (selective == 0 -> 0 : \
				(thread_known() -> mask_now() : mask))

/* event_by_mask(): the mask alone decides, unless it is closed */
inline event_by_mask(s)
{
	if
	:: atomic { mask == CLOSED -> skip }
		event_put(s)
	:: atomic { mask != CLOSED && (mask & BIT(s)) ->
		use_ring(s);
		assert(!passes && !open[s]);
		must[_pid] = must[_pid] & ~BIT(s) }	/* filtered */
	:: atomic { mask != CLOSED && !(mask & BIT(s)) ->
		assert(passes || !strict[s]) }
		record(s)
	fi
}
#else
#define held(w)		((w) & KT_WANT_CHECK)
#define renew()		skip
#define event_by_mask(s) event_put(s)
#endif

active [2] proctype writer() provided (top <= _pid + 1 && !(irqs_off && _pid == 1))
{
	byte outer, w, f;

end_idle:
	do
#ifdef BY_THREAD
	/* The probe of sched_switch: record_sched_switch(), kt_switch_record() */
	:: atomic {
		_pid == 0 && switches > 0 && attached ->
		switches--;
		irqs_off = true;
		top = 1;
		assert(!unloaded)
	   }
	   w = want_switch;
	   if
	   :: w == 0 || !(w & (mask | KT_WANT_SWITCH)) ->
		/* No session needs the mask. */
		atomic { passes = !passes; arrived = true }
	   :: else ->
		if
		:: selective == 0 -> atomic { passes = !passes; mask = 0 }
		:: else -> atomic {
			passes = !passes;
			arrived = true;
			mask = mask_now() }
		fi
	   fi;
	   atomic { w = 0; irqs_off = false; top = 0 }
#endif
	:: atomic {
		left[_pid] > 0 && attached ->
		left[_pid]--;
		outer = top;
		top = _pid + 1;
		assert(!unloaded);
		must[_pid] = (complete[0] -> 1 : 0) | (complete[1] -> 2 : 0);
	   }
	   /* kt_event() */
	   w = want;
	   if
	   :: atomic { !held(w) ->
		assert(PASSES || (!((w & 1) && strict[0]) && !((w & 2) && strict[1]))) }
		/* kt_put() */
		if
		:: w & 1 -> record(0)
		:: else
		fi;
		if
		:: w & 2 -> record(1)
		:: else
		fi
	   :: else ->
		/* kt_event_many() loads it again; event_put_all() */
		renew();
		w = want;
		if
		:: w & 1 -> event_by_mask(0)
		:: else
		fi;
		if
		:: w & 2 -> event_by_mask(1)
		:: else
		fi
	   fi;
	   atomic {
		assert(!unloaded);
		assert(must[_pid] == 0);
		top = outer;
		outer = 0; w = 0; f = 0
	   }
	od
}

#ifdef M_no_grace_period
#define synchronize_rcu()	skip
#else
#define synchronize_rcu()	top == 0
#endif

#define active_mask()	((active_[0] -> 1 : 0) | (active_[1] -> 2 : 0))

#ifdef BY_THREAD
#define plan(s)		planned = planned & ~BIT(s) | \
				  (active_[s] && filters[s] -> BIT(s) : 0)
#define store_want()	want = sessions
#define store_switch()	want_switch = sessions | (planned -> KT_WANT_SWITCH : 0)

/* What the mask is computed from, then an interrupt that computes it */
inline kt_want_settle(s)
{
	selective = selective & ~BIT(s) | (planned & BIT(s));
	atomic { !irqs_off -> renew() }
}
#else
#define kt_want_settle(s)	skip
#endif

/* kt_want_set(): the want bits, and whether the event is to be checked, in one word */
inline kt_want_set(s)
{
	sessions = (active_[s] -> sessions | BIT(s) : sessions & ~BIT(s));
#ifdef BY_THREAD
	if
	:: active_[s] ->
		/* An interrupt on the CPU: control_write_want() */
		atomic {
			!irqs_off ->
#ifndef M_not_forgotten
			mask = CLOSED;		/* kt_now_forget() */
			arrived = false;
#endif
			plan(s);
			selective = selective | planned;
			store_want();
			store_switch();
			renew()
		}
	:: else ->
		/* A stop has none: kt_want_set_everywhere() */
		plan(s);
#ifdef M_switch_first
		store_switch();
		store_want();
#else
		store_want();
		store_switch();
#endif
	fi
#ifdef M_settle_early
	;
	kt_want_settle(s)
#endif
#ifdef M_open_at_stop
	;
	mask = (sessions -> mask : 0)
#endif
#else
#ifdef M_check_stays
	want = sessions | (want & KT_WANT_CHECK)
#else
#ifdef M_check_forgotten
	want = sessions
#else
	want = sessions | (((sessions & 1) && filters[0]) ||
			   ((sessions & 2) && filters[1]) -> KT_WANT_CHECK : 0)
#endif
#endif
#endif
}

/* kt_session_start_locked() */
inline session_start(s)
{
	attached = true;	/* kt_session_prepare() */
	quiet[s] = false;
#ifdef M_pointer_after_want
	active_[s] = true;
	kt_want_set(s);
	ring[s] = true;
#else
	ring[s] = true;		/* when the session was created */
	active_[s] = true;
	kt_want_set(s);
#endif
	synchronize_rcu();
	kt_want_settle(s);
	open[s] = filters[s] == 0;
	complete[s] = true	/* on-marker */
}

/* session_stop_running() */
inline session_stop(s)
{
	atomic {
		complete[s] = false;	/* off-marker */
		must[0] = must[0] & ~BIT(s);
		must[1] = must[1] & ~BIT(s)
	}
#ifndef M_record_after_stop
	active_[s] = false;
	kt_want_set(s);
#endif
#ifndef M_no_grace_at_stop
	synchronize_rcu();
#endif
	kt_want_settle(s);
	quiet[s] = true
}

/* filters_publish(): new filters, want bits, grace period, free */
inline session_filter(s, new)
{
	byte old = filters[s];
	strict[s] = strict[s] && new;
	open[s] = open[s] && !new;
	filters[s] = new;
	kt_want_set(s);
#ifdef M_filters_freed_early
	filters_freed = old;
#endif
	synchronize_rcu();
	kt_want_settle(s);
	strict[s] = new != 0;
	open[s] = new == 0;
	filters_freed = old
}

/* session_end() of a stopped session */
inline session_destroy(s)
{
	ring[s] = false;	/* kt_session_withdraw_rings() */
	ring_freed[s] = true
}

/*
 * Control: session 0 starts, session 1 starts, a filter is set and replaced and
 * removed, both stop in any order, are destroyed, and the module is unloaded.
 */
active proctype control()
{
	bool active_[SESSIONS];
	byte sessions;	/* that want the event */

	session_start(0);
	if
	:: session_start(1)
	:: true
	fi;
	if
	:: session_filter(0, 1);
	   session_filter(0, 2);
	   if
	   :: session_filter(0, 0)
	   :: true
	   fi
	:: true
	fi;
	if
	:: active_[1] -> session_stop(1); session_start(1)
	:: true
	fi;
#ifdef M_free_before_stop
	ring_freed[0] = true;
#endif
	session_stop(0);
#ifndef M_destroy_running
	if
	:: active_[1] -> session_stop(1)
	:: else
	fi;
#endif
	session_destroy(0);
	session_destroy(1);
	/* ktape_exit(), kt_probe_exit() */
	attached = false;
#ifndef M_no_grace_at_unload
	synchronize_rcu();	/* tracepoint_synchronize_unregister() */
#endif
	unloaded = true
}
