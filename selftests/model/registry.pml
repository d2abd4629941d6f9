/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry: an entry's sequence lock, slots that pass from one object to
 * another, and what a session that was stopped is told (module/names/registry.c,
 * slot.c).
 *
 * Two keys with a lock each share the only slot.  An entry is two words, both of
 * the same value when it is whole.  Values count changes, 0 = the slot was never
 * used.  Weak memory is in litmus/registry-*.
 */
#ifndef CHANGES		/* changes of each object before it dies */
#define CHANGES		2
#endif
#ifndef READER		/* a program that has the table mapped */
#define READER		0
#endif
#ifndef STOP_ONCE	/* the session stops once, and starts again */
#define STOP_ONCE	0
#endif
#define KEYS		2
#define NOBODY		KEYS

/* The entry: its key, and two words of which each has the number of the change */
byte seq, key, name, param;
bool died;
byte chain = NOBODY;		/* key whose living entry the slot has */
bool lock[KEYS];		/* kt_entry_lock() */
bool slot_free = true;		/* by slot_lock */
byte era, era_of;
bool want = true;		/* the session's */

/* What the model checks with */
byte change, writers, done;
byte heard[KEYS];		/* the last change in the session's trace */
bool in_event[KEYS];		/* interrupts are off */

inline raw_spin_lock(k)		{ atomic { !lock[k] -> lock[k] = true } }
inline raw_spin_unlock(k)	{ lock[k] = false }

inline entry_begin_write()
{
	atomic {
		writers++;
		assert(writers == 1);
#ifndef M_seq_stays_even
		seq = seq + 1
#endif
	}
}

inline entry_end_write()
{
#ifdef M_seq_stays_even
	seq = seq + 2;
#else
	seq = seq + 1;
#endif
	writers--
}

/* entry_record(), then the era */
inline entry_announce()
{
#ifdef M_era_before_record
	my_era = era;
#endif
	if
	:: atomic { want -> assert(name > heard[_pid]); heard[_pid] = name }
	:: else
	fi;
#ifdef M_era_before_record
	era_of = my_era;
	my_era = 0
#else
	era_of = era
#endif
}

/* kt_entry_set(), kt_entry_bury(): the object of one key */
active [KEYS] proctype object()
{
	byte i, my_era;

	do
	:: i < CHANGES ->
		atomic { raw_spin_lock(_pid); in_event[_pid] = true }
		if
		:: chain != _pid ->
			/* kt_slot_take() */
			if
			:: atomic { slot_free -> slot_free = false }
			:: else -> goto no_room
			fi
		:: else
		fi;
		entry_begin_write();
		atomic { chain = _pid; key = _pid; died = false }
		atomic { change++; name = change }
		param = change;
		entry_end_write();
		entry_announce();
		i++;
		atomic { in_event[_pid] = false; raw_spin_unlock(_pid) }
	:: i == CHANGES ->
		atomic { raw_spin_lock(_pid); in_event[_pid] = true }
		if
		:: chain != _pid -> goto no_room
		:: else
		fi;
		chain = NOBODY;		/* entry_unchain() */
#ifdef M_release_before_write
		slot_free = true;
#endif
		entry_begin_write();
		atomic { died = true; change++; name = change }
		param = change;
		entry_end_write();
		entry_announce();
#ifndef M_release_before_write
		slot_free = true;	/* kt_slot_release() */
#endif
no_room:
		atomic { i = 0; in_event[_pid] = false; raw_spin_unlock(_pid) }
		break
	od;
	done++
}

/* kt_registry_copy(): take a whole copy, or try again */
inline kt_registry_copy(to)
{
	do
	:: s = seq;
	   atomic { k = key; dead = died }
	   to = name;
	   b = param;
#ifdef M_no_retry
	   break
#else
	   if
#ifdef M_odd_is_accepted
	   :: seq == s -> break
#else
	   :: seq == s && s % 2 == 0 -> break
#endif
	   :: else
	   fi
#endif
	od;
	assert(to == b);
	s = 0; b = 0
}

#if READER
/* A reader of the mapping */
active proctype reader()
{
	byte s, k, a, b, last;
	bool dead;

	do
	:: kt_registry_copy(a);
	   atomic { assert(a >= last); last = a; a = 0; k = 0; dead = false }
	:: done == KEYS -> break
	od
}

#endif

#if STOP_ONCE
#define synchronize_rcu()	!in_event[0] && !in_event[1]

/* Control: the session stops, and starts again */
active proctype control()
{
	byte s, b, k, copy, since;
	bool dead;

	/* session_stop_running() */
#ifdef M_era_after_want
	want = false;
	atomic { era++; since = era };
#else
	atomic { era++; since = era };
	want = false;
#endif
	synchronize_rcu();
	/* kt_session_start_locked(): kt_registry_record_since() comes last */
	want = true;
	synchronize_rcu();
#ifndef M_nothing_is_told
	if
	:: era_of >= since ->
		/* entry_record_again() */
		kt_registry_copy(copy);
		if
		:: copy != 0 ->
#ifndef M_told_without_lock
			raw_spin_lock(k);
#endif
			if
			:: chain == k ->
#ifndef M_told_from_copy
				copy = name;
#endif
				atomic { assert(copy >= heard[k]); heard[k] = copy }
			:: chain != k && dead ->
				/* Of an earlier object of this key, or the last. */
				heard[k] = (copy > heard[k] -> copy : heard[k])
			:: else
			fi;
#ifndef M_told_without_lock
			raw_spin_unlock(k)
#endif
		:: else
		fi
	:: else
	fi;
#endif
	done == KEYS;
	assert(name == 0 || heard[key] == name)
}
#endif
