/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of open pairs of the gates (module/filter/gate.c): contexts begin and end
 * pairs, each with a key of its own, in two slots for which all of them compete.  Control
 * begins a new epoch, after which the slots of earlier pairs may be reused.
 *
 * The contexts run in any order, which includes that one interrupts another.  A pair is a
 * number that no other pair has.  What the end makes of the epoch that it has found, pairs
 * that are forgotten, and different orders of the slots are not here.  Weak memory is in
 * litmus/gate-pair.
 */
#ifndef PAIRS		/* pairs of each context */
#define PAIRS		2
#endif
#ifndef CONTEXTS
#define CONTEXTS	3
#endif
#ifndef EPOCHS		/* new epochs */
#define EPOCHS		1
#endif
#ifndef TWICE		/* a pair may be ended twice */
#define TWICE		0
#endif
#define SLOTS		2
#define NOTHING		SLOTS

#define SLOT_FREE	0
#define SLOT_OPEN	1
#define SLOT_CLAIMED	2
#define SLOT_USE	4

#define state_of(s)	((s) % 4)
#define use_of(s)	((s) - (s) % 4)

byte seq[SLOTS];
byte key[SLOTS] = CONTEXTS;	/* nobody's */
byte start[SLOTS];
byte epoch_of[SLOTS] = 255;
byte epoch;

/* What the model checks with */
byte claimers[SLOTS];

/* cmpxchg() */
inline gate_claim_slot(i, s)
{
	atomic {
		if
#ifdef M_claim_without_use
		:: state_of(seq[i]) == state_of(s) ->
#else
		:: seq[i] == s ->
#endif
			seq[i] = use_of(s) + SLOT_CLAIMED;
			claimers[i]++;
			assert(claimers[i] == 1);
			slot = i
		:: else
		fi
	}
}

inline gate_release_slot(i, state)
{
	atomic {
		claimers[i]--;
#ifdef M_use_not_counted
		seq[i] = use_of(seq[i]) + state
#else
		seq[i] = use_of(seq[i]) + SLOT_USE + state
#endif
	}
}

inline gate_claim_pair()
{
	i = 0;
	do
	:: i < SLOTS && slot == NOTHING ->
		if
		:: key[i] == _pid ->
			s = seq[i];
			if
#ifdef M_key_not_looked_at_again
			:: state_of(s) == SLOT_OPEN ->
#else
			:: state_of(s) == SLOT_OPEN && key[i] == _pid ->
#endif
				gate_claim_slot(i, s)
			:: else
			fi
		:: else
		fi;
		i++
	:: else -> break
	od;
	s = 0
}

inline gate_claim_room()
{
	i = 0;
	do
	:: i < SLOTS && slot == NOTHING ->
		s = seq[i];
		e = epoch_of[i];
		if
#ifndef M_claimed_is_room
		:: state_of(s) == SLOT_CLAIMED
#endif
#ifndef M_open_is_room
		:: state_of(s) == SLOT_OPEN && e == epoch
#endif
		:: else -> gate_claim_slot(i, s)
		fi;
		i++
	:: else -> break
	od;
	s = 0; e = 0
}

inline gate_begin_pair()
{
	gate_claim_pair();
	if
	:: slot == NOTHING -> gate_claim_room()
	:: else
	fi;
	if
	:: slot != NOTHING ->
#ifdef M_open_before_key
		gate_release_slot(slot, SLOT_OPEN);
#endif
		key[slot] = _pid;
		start[slot] = mine;
		began = epoch;
		epoch_of[slot] = began;
#ifndef M_open_before_key
		gate_release_slot(slot, SLOT_OPEN);
#endif
		open = true
	:: else
	fi;
	slot = NOTHING
}

inline gate_end_pair()
{
	gate_claim_pair();
	if
	:: slot != NOTHING ->
		s = start[slot];
		e = epoch_of[slot];
		/* What was found is the last pair of this context. */
		assert(key[slot] == _pid && s == mine && e == began && open);
#ifdef M_end_keeps_open
		gate_release_slot(slot, SLOT_OPEN)
#else
		gate_release_slot(slot, SLOT_FREE)
#endif
	:: else ->
		/* Nobody takes the slot of a pair of this epoch. */
		assert(!open || began != epoch)
	fi;
	atomic { slot = NOTHING; s = 0; e = 0; began = 0; open = false }
}

active [CONTEXTS] proctype context()
{
	byte i, s, e, n, mine, began, slot = NOTHING;
	bool open;

	do
	:: n < PAIRS ->
		mine = 1 + _pid * PAIRS + n;
		open = false;
		gate_begin_pair();
		n++;
		if
		:: gate_end_pair()
#if TWICE
		/* An end without a begin finds nothing. */
		:: gate_end_pair(); gate_end_pair()
#endif
		/* The end of the last pair is never seen. */
		:: n == PAIRS -> break
		/* Nor that of an earlier one: the next begins in its slot. */
		:: n < PAIRS
		fi
	:: else -> break
	od
}

active proctype control()
{
	byte n;

	do
	:: n < EPOCHS -> epoch++; n++
	:: else -> break
	od
}
