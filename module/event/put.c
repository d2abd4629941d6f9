// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores an event in the rings of a set of sessions.  The caller has decided that all of
 * them record it.
 *
 * All functions have the event in registers, and those that are on the way of most events
 * call others only as their last step.  So they are tail calls, and save no registers.
 */
#include "internal.h"

static __always_inline struct kt_ring *put_ring(u32 place, unsigned long sessions)
{
	return kt_cpu_read(
		kt_cpus->rings[KT_PLACE_KIND(place) * KT_SESSIONS + __ffs(sessions)]);
}

/* Store an event in some sessions: by the slow path, or that for a clock that takes a call. */
static noinline void notrace put_rest(u32 code, u32 place, u32 a0, u32 a1,
				      u32 a2, unsigned long sessions)
{
	const u32 class = KT_PLACE_CLASS(place);
	struct kt_ring *r;

	for (; sessions; sessions &= sessions - 1) {
		r = put_ring(place, sessions);
		kt_count(&r->page->emitted[class]);
		if (kt_clock_by_call())
			kt_ring_put_called(r, code, class, a0, a1, a2);
		else
			kt_ring_slow(r, code, class, a0, a1, a2);
	}
}

/* The same, but the first session has counted the event and takes the slow path. */
static noinline void notrace put_slow(u32 code, u32 place, u32 a0, u32 a1,
				      u32 a2, unsigned long sessions)
{
	kt_ring_slow(put_ring(place, sessions), code, KT_PLACE_CLASS(place), a0,
		     a1, a2);
	put_rest(code, place, a0, a1, a2, sessions & (sessions - 1));
}

/*
 * The same, but the first session has stored the event and has to publish the records that
 * nested writers left behind it.
 */
static noinline void notrace put_nested(u32 code, u32 place, u32 a0, u32 a1,
					u32 a2, unsigned long sessions)
{
	kt_ring_publish_slow(put_ring(place, sessions));
	put_rest(code, place, a0, a1, a2, sessions & (sessions - 1));
}

/* Store an event with @nargs words, a constant, in at least one session. */
static __always_inline void put_words(u32 code, u32 place, u32 a0, u32 a1,
				      u32 a2, unsigned long sessions,
				      const unsigned int nargs)
{
	const unsigned long len = KTAPE_RECORD_SIZE(nargs);
	struct kt_ring *r;
	unsigned long w;
	u32 *p, lo;

	if (kt_clock_by_call())
		return put_rest(code, place, a0, a1, a2, sessions);
	do {
		r = put_ring(place, sessions);
		kt_count(&r->page->emitted[KT_PLACE_CLASS(place)]);
		if (unlikely(!kt_ring_reserve(r, len, &w, &p, &lo, false)))
			return put_slow(code, place, a0, a1, a2, sessions);
		kt_record_fill(p, lo, code, nargs, a0, a1, a2);
		if (unlikely(!kt_ring_published(r, w, w + len)))
			return put_nested(code, place, a0, a1, a2, sessions);
		sessions &= sessions - 1;
	} while (sessions);
}

/*
 * kt_put0() to kt_put3() take only the words that the event has, so all arguments stay in the
 * first registers.
 */

/**
 * kt_put0() - Do kt_put() for an event without argument words
 * @code: as of kt_put()
 * @place: as of kt_put()
 * @sessions: as of kt_put()
 *
 * Context: as kt_put().
 */
void notrace kt_put0(u32 code, u32 place, unsigned long sessions)
{
	put_words(code, place, 0, 0, 0, sessions, 0);
}

/**
 * kt_put1() - Do kt_put() for an event with one argument word
 * @code: as of kt_put()
 * @place: as of kt_put()
 * @a0: as of kt_put()
 * @sessions: as of kt_put()
 *
 * Context: as kt_put().
 */
void notrace kt_put1(u32 code, u32 place, u32 a0, unsigned long sessions)
{
	put_words(code, place, a0, 0, 0, sessions, 1);
}

/**
 * kt_put2() - Do kt_put() for an event with two argument words
 * @code: as of kt_put()
 * @place: as of kt_put()
 * @a0: as of kt_put()
 * @a1: as of kt_put()
 * @sessions: as of kt_put()
 *
 * Context: as kt_put().
 */
void notrace kt_put2(u32 code, u32 place, u32 a0, u32 a1, unsigned long sessions)
{
	put_words(code, place, a0, a1, 0, sessions, 2);
}

/**
 * kt_put3() - Do kt_put() for an event with three argument words
 * @code: as of kt_put()
 * @place: as of kt_put()
 * @a0: as of kt_put()
 * @a1: as of kt_put()
 * @a2: as of kt_put()
 * @sessions: as of kt_put()
 *
 * Context: as kt_put().
 */
void notrace kt_put3(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
		     unsigned long sessions)
{
	put_words(code, place, a0, a1, a2, sessions, 3);
}

/**
 * kt_put() - Store an event in a set of sessions
 * @code: from KT_CODE()
 * @place: from KT_PLACE_OF()
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @sessions: bit n: session n, which records; at least one
 *
 * The addresses of the rings' pointers are computed from @sessions, which the caller has
 * from want bits, so an address dependency orders their load behind that of the want bits.
 * Pairs with the barrier in kt_want_apply().
 *
 * Context: as kt_event().
 */
noinline void notrace kt_put(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
			     unsigned long sessions)
{
	/* The number of words is in the highest bits of @code. */
	if (code < KT_CODE(0, 0, 0, 2)) {
		if (code < KT_CODE(0, 0, 0, 1))
			kt_put0(code, place, sessions);
		else
			kt_put1(code, place, a0, sessions);
	} else {
		if (code < KT_CODE(0, 0, 0, 3))
			kt_put2(code, place, a0, a1, sessions);
		else
			kt_put3(code, place, a0, a1, a2, sessions);
	}
}
