// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on system calls of threads that change CPUs while these record
 * different events.
 *
 * The profile is the set of events that a session records.  At each start, stop and change
 * of it, each CPU writes a marker, a control record that says from when it records which
 * events.  CPUs do so one after the other, so for a moment, and after a lost marker for
 * longer, calls are checked on some CPUs only.
 */
#include "lib_verify.h"
#include "verify/call.h"

#define CHECKED 0U  /* CPU whose calls are checked */
#define OTHER	1U  /* CPU whose marker comes earlier, later or never */
#define THREAD	100 /* runs on CHECKED at the start */
#define NOTHING 101 /* runs on the CPU on which THREAD does not run */

#define SEED	1 /* of the simulated session */
#define WITHOUT 7 /* a CPU without rings */

static const uint64_t nothing[KTAPE_MASK_WORDS];

static void switch_to(struct sim *s, unsigned int cpu, int32_t next)
{
	sim_event(s, cpu, KTAPE_EV_SCHED_SWITCH, 0, 2, (uint32_t)s->tid[cpu],
		  (uint32_t)next);
	s->tid[cpu] = next;
}

static void move(struct sim *s, unsigned int from, unsigned int to)
{
	switch_to(s, from, NOTHING + (int32_t)from);
	switch_to(s, to, THREAD);
}

static void enter(struct sim *s, unsigned int cpu, unsigned int nr)
{
	sim_event(s, cpu, KTAPE_EV_SYS_ENTER, nr, 0, 0, 0);
}

static void leave(struct sim *s, unsigned int cpu, unsigned int nr)
{
	sim_event(s, cpu, KTAPE_EV_SYS_EXIT, nr, 2, 0, 0);
}

/*
 * The thread ends on OTHER what it began on CHECKED, and begins on OTHER what it ends on
 * CHECKED.  There is nothing wrong with that.
 */
static void wander(struct sim *s)
{
	enter(s, CHECKED, 1);
	leave(s, CHECKED, 1);
	enter(s, CHECKED, 2);
	move(s, CHECKED, OTHER);
	leave(s, OTHER, 2);
	enter(s, OTHER, 3);
	leave(s, OTHER, 3);
	move(s, OTHER, CHECKED);
	enter(s, CHECKED, 4);
	move(s, CHECKED, OTHER);
	leave(s, OTHER, 4);
	enter(s, OTHER, 5);
	move(s, OTHER, CHECKED);
	leave(s, CHECKED, 5);
}

/* Call 6 of THREAD has no end.  Another thread calls in the meantime. */
static void forget_one(struct sim *s)
{
	enter(s, CHECKED, 6);
	enter(s, OTHER, 1);
	leave(s, OTHER, 1);
	enter(s, CHECKED, 7);
	leave(s, CHECKED, 7);
}

static void finish(struct sim *s)
{
	wander(s);
	sim_stop(s);
	sim_finish(s);
	save(s, 0);
}

static void check_missing(struct sim *s)
{
	(void)s;
	check_only(KTAPE_RULE_PAIR, KTAPE_RING_EVENT, CHECKED);
	check_equal(result.errors[KTAPE_RULE_PAIR], 1U);
}

/*
 * OTHER records nothing any more, CHECKED goes on.  @wrong: a call on CHECKED has no end, which
 * is found although calls on OTHER are not checked.
 */
static void stop(bool wrong)
{
	struct sim *s = sim_new(SEED);

	sim_start(s);
	wander(s);
	sim_profile_on(s, OTHER, KTAPE_PHASE_OFF, nothing);
	wander(s);
	if (wrong)
		forget_one(s);
	finish(s);
	if (wrong)
		check_missing(s);
	else
		check_whole(s);
	done(s);
}

static void test_stop(void)
{
	stop(false);
}

static void test_stop_wrong(void)
{
	stop(true);
}

/*
 * As sim_start(), but the CPUs write their on-markers one after the other: CHECKED after the
 * first calls, all after the second.
 */
static void test_start(void)
{
	struct sim *s = sim_new(SEED);

	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_ledger(s, cpu, 1);
	s->running = true;
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_context(s, cpu);
		sim_phase(s, cpu, KTAPE_PHASE_ON);
	}
	wander(s);
	sim_profile_on(s, CHECKED, KTAPE_PHASE_ON, s->mask);
	wander(s);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_profile_on(s, cpu, KTAPE_PHASE_ON, s->mask);
	finish(s);
	check_whole(s);
	done(s);
}

/*
 * Ends of calls (sys_exit) are not recorded any more, first on OTHER, then on all CPUs, and
 * later they are again, first on CHECKED.
 */
static void test_profile(void)
{
	uint64_t some[KTAPE_MASK_WORDS];
	struct sim *s = sim_new(SEED);

	memcpy(some, s->mask, sizeof(some));
	some[KTAPE_EV_SYS_EXIT / 64] &= ~(1ULL << (KTAPE_EV_SYS_EXIT % 64));
	sim_start(s);
	wander(s);
	sim_profile_on(s, OTHER, KTAPE_PHASE_OFF, some);
	wander(s);
	sim_change(s, KTAPE_EV_SYS_EXIT, false);
	wander(s);
	s->mask[KTAPE_EV_SYS_EXIT / 64] |= 1ULL << (KTAPE_EV_SYS_EXIT % 64);
	wander(s);
	sim_profile_on(s, CHECKED, KTAPE_PHASE_ON, s->mask);
	wander(s);
	sim_profile_on(s, OTHER, KTAPE_PHASE_ON, s->mask);
	finish(s);
	check_whole(s);
	done(s);
}

/*
 * A control record of OTHER is lost.  It may have been a marker, so from then on it is not known
 * which events OTHER records.
 */
static void test_lost_marker(void)
{
	struct sim *s = sim_new(SEED);
	struct sim_ring *r = &s->ring[OTHER * 2 + KTAPE_RING_CONTROL];

	sim_start(s);
	wander(s);
	r->emitted[KTAPE_CLASS_CONTROL]++;
	r->lost[KTAPE_CLASS_CONTROL]++;
	r->first[KTAPE_CLASS_CONTROL] = s->now;
	r->last[KTAPE_CLASS_CONTROL] = s->now;
	/* The next packet says so. */
	for (unsigned int before = r->nr; r->nr == before;)
		sim_sync(s, OTHER, true);
	for (unsigned int i = 0; i < 100; i++)
		wander(s);
	finish(s);
	check_whole(s);
	done(s);
}

/* THREAD ends its call on OTHER while the header of a packet says: thread unknown. */
static void test_unknown_thread(void)
{
	struct sim *s = sim_new(SEED);
	struct sim_ring *r = &s->ring[OTHER * 2 + KTAPE_RING_EVENT];
	struct ktape_block *head;

	s->mask[KTAPE_EV_SOFTIRQ_RAISE / 64] |= 1ULL
						<< (KTAPE_EV_SOFTIRQ_RAISE % 64);
	sim_start(s);
	enter(s, CHECKED, 2);
	move(s, CHECKED, OTHER);
	for (unsigned int before = r->nr; r->nr == before;)
		sim_event(s, OTHER, KTAPE_EV_SOFTIRQ_RAISE, 1, 0, 0, 0);
	head = (void *)r->packets[r->nr].data;
	head->tid = -1;
	head->context = KTAPE_CTX_UNKNOWN;
	leave(s, OTHER, 2);
	move(s, OTHER, CHECKED);
	finish(s);
	check_whole(s);
	done(s);
}

/*
 * THREAD ends its call and begins another one on OTHER, in the first packet.  Return: the
 * ring, whose next packet follows long after.  @wrong: a later call has no end.
 */
static struct sim_ring *work_in_first(struct sim *s, bool wrong)
{
	struct sim_ring *r = &s->ring[OTHER * 2 + KTAPE_RING_EVENT];

	sim_start(s);
	enter(s, CHECKED, 2);
	move(s, CHECKED, OTHER);
	leave(s, OTHER, 2);
	enter(s, OTHER, 3);
	move(s, OTHER, CHECKED);
	leave(s, CHECKED, 3);
	while (!r->nr) {
		enter(s, OTHER, 1);
		leave(s, OTHER, 1);
	}
	wander(s);
	if (wrong)
		forget_one(s);
	sim_stop(s);
	sim_finish(s);
	return r;
}

/* The packet was overwritten before it was read. */
static void overwritten(bool wrong)
{
	struct sim *s = sim_new(SEED);

	work_in_first(s, wrong);
	sim_remove(s, OTHER * 2 + KTAPE_RING_EVENT, 0);
	save(s, 0);
	if (wrong)
		check_missing(s);
	else
		check(!result.ret, "%s", result.finding[0].text);
	done(s);
}

static void test_overwritten(void)
{
	overwritten(false);
}

static void test_overwritten_wrong(void)
{
	overwritten(true);
}

/*
 * A piece is one file or folder of a rotating log.  Its rings begin with an empty packet, which
 * has the number of the packet before.  Put such a packet in the place of the first one.
 */
static void begin_piece(struct sim_packet *p, uint64_t ts)
{
	struct ktape_block *head = (void *)p->data;

	head->content_bits = head->packet_bits = KTAPE_BLOCK_HEADER * 8;
	head->context = KTAPE_CTX_CONTINUED;
	head->tid = -1;
	head->emitted = 0;
	head->ts_begin = head->ts_end = ts;
	p->len = KTAPE_BLOCK_HEADER;
	ktape_packet_seal(head);
}

/*
 * The empty packet says that nothing is missing before the piece, so ends of calls whose begin is
 * not in it are errors.
 */
static void test_piece(void)
{
	struct sim *s = sim_new(SEED);
	struct sim_packet *p = work_in_first(s, false)->packets;

	begin_piece(p, ((struct ktape_block *)(void *)p->data)->ts_begin);
	save(s, 0);
	check(result.errors[KTAPE_RULE_PAIR], "nothing was found");
	done(s);
}

/* The ring of events of a CPU. */
static unsigned int events_of(unsigned int cpu)
{
	return cpu * 2 + KTAPE_RING_EVENT;
}

/*
 * A flush closes the block of OTHER later than that of CHECKED: what OTHER records in between
 * is in the earlier piece, what CHECKED records then is in this one.
 */
static void test_piece_begins(void)
{
	struct sim *s = sim_new(SEED);

	sim_start(s);
	wander(s);
	sim_cut(s, events_of(CHECKED));
	enter(s, CHECKED, 2);
	move(s, CHECKED, OTHER);
	leave(s, OTHER, 2);
	sim_cut(s, events_of(OTHER));
	move(s, OTHER, CHECKED);
	wander(s);
	sim_stop(s);
	sim_finish(s);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		struct sim_packet *p = s->ring[cpu * 2 + KTAPE_RING_EVENT].packets;

		begin_piece(p, ((struct ktape_block *)(void *)p->data)->ts_end);
	}
	save(s, 0);
	check(!result.errors[KTAPE_RULE_PAIR], "%s", result.finding[0].text);
	done(s);
}

/* ---- a CPU that was read to an earlier moment than another one ----------------- */

/* What CPU CHECKED does behind the end of what was read of it. */
enum unread {
	RECORDS,    /* it goes on */
	RESTARTS,   /* the session was stopped, and is started again */
	COMES_BACK, /* it was offline, and comes online again */
	UNKNOWN, /* nothing of it was read at all; that there is such a CPU is in the metadata */
	STOPS /* it goes on until the session is stopped: all should be there */
};

static void come_back(struct sim *s)
{
	sim_online(s, CHECKED, true);
	sim_profile_on(s, CHECKED, KTAPE_PHASE_ON, s->mask);
	sim_context(s, CHECKED);
}

/*
 * THREAD goes @times times from OTHER to CHECKED and back, and what it does on CHECKED was not
 * read.  Next, OTHER records the begin of a call although the one before seems open (@begins),
 * or the end of a call whose begin was not read.
 */
static void read_to_different_ends(enum unread how, bool begins, unsigned int times)
{
	struct sim *s = sim_new(SEED);
	unsigned int nr[2] = {};

	s->listed = how == UNKNOWN;
	sim_start(s);
	enter(s, CHECKED, 1);
	leave(s, CHECKED, 1);
	if (how == RESTARTS)
		sim_stop(s);
	move(s, CHECKED, OTHER);
	if (how == COMES_BACK) {
		sim_ledger(s, CHECKED, 0);
		sim_online(s, CHECKED, false);
	}
	for (unsigned int ring = 0; ring < 2 && how != UNKNOWN; ring++) {
		sim_cut(s, CHECKED * 2 + ring);
		nr[ring] = s->ring[CHECKED * 2 + ring].nr;
	}
	if (how == RESTARTS)
		sim_start(s);
	if (how == COMES_BACK)
		come_back(s);
	for (unsigned int i = 0; i < times; i++) {
		enter(s, OTHER, 2);
		move(s, OTHER, CHECKED);
		leave(s, CHECKED, 2);
		if (!begins)
			enter(s, CHECKED, 3);
		move(s, CHECKED, OTHER);
		if (begins)
			enter(s, OTHER, 3);
		leave(s, OTHER, 3);
	}
	if (how == STOPS)
		sim_stop(s);
	else
		sim_sync(s, OTHER, true);
	sim_finish(s);
	for (unsigned int ring = 0; ring < 2; ring++)
		sim_end_after(s, CHECKED * 2 + ring, nr[ring]);
	save(s, 0);
	if (how == STOPS) {
		/* The first KT_UNSURE_MAX wrong calls are reported, and all others as one. */
		check_equal(result.errors[KTAPE_RULE_PAIR],
			    kt_min(times, KT_UNSURE_MAX + 1));
		check(result.finding[0].ts < result.finding[times > 1].ts ||
			      times == 1,
		      "the second one is not later");
	} else {
		check(!result.ret, "%u: %s", how, result.finding[0].text);
		check_equal(result.notes[KTAPE_RULE_PAIR], 1U);
	}
	done(s);
}

static void test_ends(void)
{
	for (enum unread how = RECORDS; how <= STOPS; how++) {
		read_to_different_ends(how, false, 1);
		read_to_different_ends(how, true, 1);
		read_to_different_ends(how, true, 3);
	}
	read_to_different_ends(RECORDS, true, KT_UNSURE_MAX + 6);
	read_to_different_ends(STOPS, true, KT_UNSURE_MAX);
	read_to_different_ends(STOPS, true, KT_UNSURE_MAX + 6);
}

/* A CPU has no rings: what THREAD does there is not recorded, up to the end. */
static void test_without(void)
{
	const uint32_t args[] = { WITHOUT, 0, 0 };
	const struct ktape_record rec = { .opcode = KTAPE_EV_CPU_WITHOUT,
					  .args = args,
					  .nargs = 1 };
	struct sim *s = sim_new(SEED);

	sim_start(s);
	sim_control(s, CHECKED, &rec);
	sim_control(s, OTHER, &rec);
	enter(s, CHECKED, 2);
	switch_to(s, CHECKED, NOTHING);
	switch_to(s, CHECKED, THREAD);
	leave(s, CHECKED, 3);
	sim_stop(s);
	sim_finish(s);
	save(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	check_equal(result.notes[KTAPE_RULE_PAIR], 1U);
	done(s);
}

/*
 * The events of OTHER end early, but THREAD was on CHECKED all the time, so no change of CPU can
 * explain that a call has no end.
 */
static void test_stays(void)
{
	for (unsigned int stops = 0; stops < 2; stops++) {
		struct sim *s = sim_new(SEED);

		sim_start(s);
		sim_cut(s, events_of(OTHER));
		enter(s, CHECKED, 6);
		enter(s, CHECKED, 7);
		leave(s, CHECKED, 7);
		if (stops)
			sim_stop(s);
		else
			sim_sync(s, CHECKED, true);
		sim_finish(s);
		save(s, 0);
		check_missing(s);
		done(s);
	}
}

/*
 * OTHER has no event after the call that is wrong, but its packet ends later, so all that it did
 * was read.
 */
static void test_ends_wrong(void)
{
	struct sim *s = sim_new(SEED);

	sim_start(s);
	wander(s);
	enter(s, CHECKED, 6);
	switch_to(s, CHECKED, NOTHING);
	switch_to(s, CHECKED, THREAD);
	enter(s, CHECKED, 7);
	sim_sync(s, CHECKED, true);
	sim_sync(s, OTHER, true);
	sim_finish(s);
	save(s, 0);
	check_missing(s);
	check_equal(result.notes[KTAPE_RULE_PAIR], 0U);
	done(s);
}

static const struct tap_test tests[] = {
	{ "calls while CPUs stop one after the other", test_stop },
	{ "a call without an end while CPUs stop", test_stop_wrong },
	{ "calls while CPUs start one after the other", test_start },
	{ "calls while CPUs change their profile one after the other", test_profile },
	{ "calls on a CPU whose marker was lost", test_lost_marker },
	{ "the end of a call of an unknown thread", test_unknown_thread },
	{ "calls of a thread that was on a CPU whose records were overwritten",
	  test_overwritten },
	{ "a call without an end after records were overwritten",
	  test_overwritten_wrong },
	{ "calls of a thread where another piece begins", test_piece },
	{ "calls of a thread while the pieces change", test_piece_begins },
	{ "calls of a thread on CPUs that were read to different ends", test_ends },
	{ "a call without an end before those ends", test_ends_wrong },
	{ "calls of a thread that was on a CPU without rings", test_without },
	{ "a call without an end of a thread that stays on its CPU", test_stays },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
