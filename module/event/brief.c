// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records an event in several sessions, or in sessions that filter by thread.
 *
 * The way of event.c builds a record for filters, triggers and sinks to look at.
 * These ways do without: struct kt_cpu.brief says that there is none, or that
 * only the thread is to be looked at.
 *
 * All functions have the arguments of kt_event_many() in registers, and those
 * that are on the way of most events call others only as their last step.  So
 * they have nothing to save.
 */
#include <linux/sched.h>

#include "internal.h"

static __always_inline struct kt_ring *brief_ring(u32 place,
						  unsigned long sessions)
{
	return kt_cpu_read(
		kt_cpus->rings[KT_PLACE_RINGS(place) + __ffs(sessions)]);
}

/* Record an event in some sessions, in each by any way that its ring takes. */
static noinline void notrace brief_rest(u32 code, u32 place, u32 a0, u32 a1,
					u32 a2, unsigned long sessions)
{
	const u32 class = KT_PLACE_CLASS(place);
	struct kt_ring *r;

	for (; sessions; sessions &= sessions - 1) {
		r = brief_ring(place, sessions);
		kt_count(&r->page->emitted[class]);
		if (kt_clock_by_call())
			kt_ring_put_called(r, code, class, a0, a1, a2);
		else
			kt_ring_slow(r, code, class, a0, a1, a2);
	}
}

/* The same, but the first one has counted the event and takes the slow path. */
static noinline void notrace brief_slow(u32 code, u32 place, u32 a0, u32 a1,
					u32 a2, unsigned long sessions)
{
	kt_ring_slow(brief_ring(place, sessions), code, KT_PLACE_CLASS(place),
		     a0, a1, a2);
	brief_rest(code, place, a0, a1, a2, sessions & (sessions - 1));
}

/* The same, but the first one has published the event, not yet what nested. */
static noinline void notrace brief_publish(u32 code, u32 place, u32 a0, u32 a1,
					   u32 a2, unsigned long sessions)
{
	kt_ring_publish_slow(brief_ring(place, sessions));
	brief_rest(code, place, a0, a1, a2, sessions & (sessions - 1));
}

/* Record an event with @nargs words, a constant, in at least one session. */
static __always_inline void brief_put(u32 code, u32 place, u32 a0, u32 a1,
				      u32 a2, unsigned long sessions,
				      const unsigned int nargs)
{
	const unsigned long len = KTAPE_RECORD_SIZE(nargs);
	struct kt_ring *r;
	unsigned long w;
	u32 *p, lo;

	if (kt_clock_by_call())
		return brief_rest(code, place, a0, a1, a2, sessions);
	do {
		r = brief_ring(place, sessions);
		kt_count(&r->page->emitted[KT_PLACE_CLASS(place)]);
		if (unlikely(!kt_ring_reserve(r, len, &w, &p, &lo, false)))
			return brief_slow(code, place, nargs > 0 ? a0 : 0,
					  nargs > 1 ? a1 : 0,
					  nargs > 2 ? a2 : 0, sessions);
		kt_record_fill(p, lo, code, nargs, a0, a1, a2);
		if (unlikely(!kt_ring_published(r, w, w + len)))
			return brief_publish(code, place, nargs > 0 ? a0 : 0,
					     nargs > 1 ? a1 : 0,
					     nargs > 2 ? a2 : 0, sessions);
		sessions &= sessions - 1;
	} while (sessions);
}

#define BRIEF_PUT(nargs)						\
static noinline void notrace brief_put##nargs(u32 code, u32 place, u32 a0, \
					      u32 a1, u32 a2,		\
					      unsigned long sessions)	\
{									\
	brief_put(code, place, a0, a1, a2, sessions, nargs);		\
}
BRIEF_PUT(0)
BRIEF_PUT(1)
BRIEF_PUT(2)
BRIEF_PUT(3)

/**
 * kt_event_put1() - Record an event with one word, whatever the filters say
 * @code: from KT_CODE()
 * @place: from KT_PLACE_OF()
 * @a0: argument word
 * @sessions: bit n: session n, which records; at least one
 *
 * Context: as kt_event().
 */
void notrace kt_event_put1(u32 code, u32 place, u32 a0, unsigned long sessions)
{
	brief_put1(code, place, a0, 0, 0, sessions);
}

/* Record an event in at least one session, whatever the filters say. */
static __always_inline void brief_unfiltered(u32 code, u32 place, u32 a0,
					     u32 a1, u32 a2,
					     unsigned long sessions)
{
	if (code < KT_CODE(0, 0, 0, 2)) {
		if (code < KT_CODE(0, 0, 0, 1))
			brief_put0(code, place, a0, a1, a2, sessions);
		else
			brief_put1(code, place, a0, a1, a2, sessions);
	} else {
		if (code < KT_CODE(0, 0, 0, 3))
			brief_put2(code, place, a0, a1, a2, sessions);
		else
			brief_put3(code, place, a0, a1, a2, sessions);
	}
}

/* Count an event as filtered in at least one session. */
static __always_inline void brief_held(u32 place, unsigned long held)
{
	struct ktape_ring_page *page;

	do {
		page = brief_ring(place, held)->page;
		kt_count(&page->emitted[KT_PLACE_CLASS(place)]);
		kt_count(&page->filtered[KT_PLACE_CLASS(place)]);
		held &= held - 1;
	} while (held);
}

/* Count an event as filtered in sessions, and record it in others. */
static __always_inline void brief_filtered(u32 code, u32 place, u32 a0, u32 a1,
					   u32 a2, unsigned long held,
					   unsigned long pass)
{
	if (held)
		brief_held(place, held);
	if (pass)
		brief_unfiltered(code, place, a0, a1, a2, pass);
}

/* Record an event that passes in sessions some of which may be owed a record. */
static noinline void notrace brief_passed(u32 code, u32 place, u32 a0, u32 a1,
					  u32 a2, unsigned long pass)
{
	if (pass & kt_cpu_read(kt_now.owed))
		kt_switch_pay(pass);
	brief_unfiltered(code, place, a0, a1, a2, pass);
}

/* Record an event by the verdicts on the running thread and on the other one. */
static noinline void notrace brief_by_both(u32 code, u32 place, u32 a0, u32 a1,
					   u32 a2, struct task_struct *other)
{
	const u32 brief = kt_cpu_read(kt_cpus->brief[(u8)code]);
	const u32 own = kt_cpu_read(kt_now.pass);
	struct kt_kept verdict;
	unsigned long pass;

	/* It may have been closed since brief_judged() loaded it. */
	if (unlikely(own & KT_NOT_JUDGED))
		return kt_event_checked(code, place, a0, a1, a2, other);
	kt_verdict_get(other, brief, &verdict);
	pass = (u8)brief & (own | verdict.pass);
	if ((u8)brief & ~pass)
		brief_held(place, (u8)brief & ~pass);
	if (pass)
		brief_passed(code, place, a0, a1, a2, pass);
}

/* Find the verdict on the running thread again, and judge the event by itself. */
static noinline void notrace brief_judge(u32 code, u32 place, u32 a0, u32 a1,
					 u32 a2, struct task_struct *other)
{
	if (!in_nmi())
		kt_switch_judge();
	kt_event_checked(code, place, a0, a1, a2, other);
}

/* Record an event by the verdict on the running thread, if that is enough. */
static noinline void notrace brief_judged(u32 code, u32 place, u32 a0, u32 a1,
					  u32 a2, struct task_struct *other)
{
	const u32 brief = kt_cpu_read(kt_cpus->brief[(u8)code]);
	const u32 pass = kt_cpu_read(kt_now.pass);
	const unsigned long sessions = (u8)brief;

	/* brief may have changed since kt_event_many() loaded it. */
	if (unlikely(!(kt_cpu_read(kt_now.thread) & KT_ARRIVED) ||
		     !(brief & KT_JUDGED)))
		return kt_event_checked(code, place, a0, a1, a2, other);
	if (unlikely(pass & KT_NOT_JUDGED))
		return brief_judge(code, place, a0, a1, a2, other);
	if (sessions & ~pass && other)
		return brief_by_both(code, place, a0, a1, a2, other);
	if (sessions & ~pass)
		brief_held(place, sessions & ~pass);
	if (sessions & pass)
		brief_passed(code, place, a0, a1, a2, sessions & pass);
}

/* Has the running thread still the uid that the verdict was found for? */
static __always_inline bool brief_verdict_holds(void)
{
	const unsigned long thread = kt_cpu_read(kt_now.thread);

	return thread & KT_ARRIVED &&
	       kt_thread_uid((void *)(thread - KT_ARRIVED)) ==
		       kt_cpu_read(kt_now.uid);
}

/* Do brief_judged() for filters whose verdicts vary. */
static noinline void notrace brief_varying(u32 code, u32 place, u32 a0, u32 a1,
					   u32 a2, struct task_struct *other)
{
	const u32 brief = kt_cpu_read(kt_cpus->brief[(u8)code]);
	const unsigned long sessions = (u8)brief;

	if (unlikely(!brief_verdict_holds()))
		return brief_judge(code, place, a0, a1, a2, other);
	if (sessions && !(sessions & (u8)~kt_cpu_read(kt_now.ready)))
		return brief_unfiltered(code, place, a0, a1, a2, sessions);
	if (sessions && !other &&
	    !(sessions & (u8)~kt_cpu_read(kt_now.held)))
		return brief_held(place, sessions);
	brief_judged(code, place, a0, a1, a2, other);
}

/**
 * kt_event_switch_in() - Record a switch in all sessions that want it
 * @code: from KT_CODE() for sched_switch
 * @prev: the outgoing thread
 * @next: the incoming thread
 *
 * Context: the probe of sched_switch.
 */
noinline void notrace kt_event_switch_in(u32 code, struct task_struct *prev,
					 struct task_struct *next)
{
	const unsigned long sessions =
		kt_cpu_read(kt_cpus->want[KTAPE_EV_SCHED_SWITCH]);

	/* It may have changed since the route was loaded. */
	if (unlikely(!sessions))
		return;
	kt_switch_begin(next);
	brief_put(code, KT_PLACE(SCHED_SWITCH), prev->pid, next->pid, 0,
		  sessions, 2);
	kt_switch_end();
}

/**
 * kt_event_many() - Do kt_event() for any number of sessions
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * The addresses of the rings' pointers are computed from brief, which orders the
 * loads.  Pairs with the barrier in kt_want_apply().
 *
 * While a switch is being recorded, the verdict is still that on current.
 *
 * Context: as kt_event().
 */
noinline void notrace kt_event_many(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
				    struct task_struct *other)
{
	const u32 brief = kt_cpu_read(kt_cpus->brief[(u8)code]);

	BUILD_BUG_ON(KTAPE_OPCODES != 256);	/* (u8)code is the opcode */
	if (kt_nmi_unsafe())
		return kt_event_checked(code, place, a0, a1, a2, other);
	/* No thread filters, and at least one session. */
	if ((s32)brief > 0)
		return brief_unfiltered(code, place, a0, a1, a2, brief);
	if (brief & KT_VERDICT_VARIES)
		return brief_varying(code, place, a0, a1, a2, other);
	if (!other && (brief & ~kt_cpu_read(kt_now.held)) == KT_JUDGED)
		return brief_held(place, (u8)brief);
	if (brief)
		return brief_judged(code, place, a0, a1, a2, other);
	kt_event_checked(code, place, a0, a1, a2, other);
}

/**
 * kt_event_about() - Do kt_event_many() for an event that may be about another task
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Short if the route has one session, whose filters neither of the two threads passes.
 *
 * Context: as kt_event().
 */
noinline void notrace kt_event_about(u32 code, u32 place, u32 a0, u32 a1,
				     u32 a2, struct task_struct *other)
{
	const unsigned long route = kt_cpu_read(kt_cpus->route[(u8)code]);
	struct ktape_ring_page *page =
		kt_cpu_read(kt_cpus->held_pages[KT_PLACE_RINGS(place) + route]);
	u32 pass = 0;

	if (!page || (other && !kt_verdict_look(kt_cpus->kept, other, &pass)) ||
	    pass >> (route - KT_ROUTE_JUDGED) & 1)
		return kt_event_many(code, place, a0, a1, a2, other);
	kt_count(&page->emitted[KT_PLACE_CLASS(place)]);
	kt_count(&page->filtered[KT_PLACE_CLASS(place)]);
}
