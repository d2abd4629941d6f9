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

static void move_thread(struct sim *s, unsigned int from, unsigned int to)
{
	sim_switch_to(s, from, NOTHING + (int32_t)from);
	sim_switch_to(s, to, THREAD);
}

/*
 * The thread ends on OTHER what it began on CHECKED, and begins on OTHER what it ends on
 * CHECKED.  There is nothing wrong with that.
 */
static void wander_between_cpus(struct sim *s)
{
	sim_enter(s, CHECKED, 1);
	sim_leave(s, CHECKED, 1);
	sim_enter(s, CHECKED, 2);
	move_thread(s, CHECKED, OTHER);
	sim_leave(s, OTHER, 2);
	sim_enter(s, OTHER, 3);
	sim_leave(s, OTHER, 3);
	move_thread(s, OTHER, CHECKED);
	sim_enter(s, CHECKED, 4);
	move_thread(s, CHECKED, OTHER);
	sim_leave(s, OTHER, 4);
	sim_enter(s, OTHER, 5);
	move_thread(s, OTHER, CHECKED);
	sim_leave(s, CHECKED, 5);
}

/* Call 6 of THREAD has no end.  Another thread calls in the meantime. */
static void forget_one(struct sim *s)
{
	sim_enter(s, CHECKED, 6);
	sim_enter(s, OTHER, 1);
	sim_leave(s, OTHER, 1);
	sim_enter(s, CHECKED, 7);
	sim_leave(s, CHECKED, 7);
}

static void finish_and_verify(struct sim *s)
{
	wander_between_cpus(s);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
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
static void stop_one_by_one(bool wrong)
{
	struct sim *s = sim_new(SEED);

	sim_start(s);
	wander_between_cpus(s);
	sim_profile_on(s, OTHER, KTAPE_PHASE_OFF, nothing);
	wander_between_cpus(s);
	if (wrong)
		forget_one(s);
	finish_and_verify(s);
	if (wrong)
		check_missing(s);
	else
		check_whole_result(s);
	end_verified(s);
}

static void test_calls_over_stop(void)
{
	stop_one_by_one(false);
}

static void test_stop_wrong(void)
{
	stop_one_by_one(true);
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
	wander_between_cpus(s);
	sim_profile_on(s, CHECKED, KTAPE_PHASE_ON, s->mask);
	wander_between_cpus(s);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_profile_on(s, cpu, KTAPE_PHASE_ON, s->mask);
	finish_and_verify(s);
	check_whole_result(s);
	end_verified(s);
}

/*
 * Ends of calls (sys_exit) are not recorded any more, first on OTHER, then on all CPUs, and
 * later they are again, first on CHECKED.
 */
static void test_calls_over_profile(void)
{
	uint64_t some[KTAPE_MASK_WORDS];
	struct sim *s = sim_new(SEED);

	memcpy(some, s->mask, sizeof(some));
	some[KTAPE_EV_SYS_EXIT / 64] &= ~(1ULL << (KTAPE_EV_SYS_EXIT % 64));
	sim_start(s);
	wander_between_cpus(s);
	sim_profile_on(s, OTHER, KTAPE_PHASE_OFF, some);
	wander_between_cpus(s);
	sim_change(s, KTAPE_EV_SYS_EXIT, false);
	wander_between_cpus(s);
	s->mask[KTAPE_EV_SYS_EXIT / 64] |= 1ULL << (KTAPE_EV_SYS_EXIT % 64);
	wander_between_cpus(s);
	sim_profile_on(s, CHECKED, KTAPE_PHASE_ON, s->mask);
	wander_between_cpus(s);
	sim_profile_on(s, OTHER, KTAPE_PHASE_ON, s->mask);
	finish_and_verify(s);
	check_whole_result(s);
	end_verified(s);
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
	wander_between_cpus(s);
	r->emitted[KTAPE_CLASS_CONTROL]++;
	r->lost[KTAPE_CLASS_CONTROL]++;
	r->first[KTAPE_CLASS_CONTROL] = s->now;
	r->last[KTAPE_CLASS_CONTROL] = s->now;
	/* The next packet says so. */
	for (unsigned int before = r->nr; r->nr == before;)
		sim_sync(s, OTHER, true);
	for (unsigned int i = 0; i < 100; i++)
		wander_between_cpus(s);
	finish_and_verify(s);
	check_whole_result(s);
	end_verified(s);
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
	sim_enter(s, CHECKED, 2);
	move_thread(s, CHECKED, OTHER);
	for (unsigned int before = r->nr; r->nr == before;)
		sim_event(s, OTHER, KTAPE_EV_SOFTIRQ_RAISE, 1, 0, 0, 0);
	head = (void *)r->packets[r->nr].data;
	head->tid = -1;
	head->context = KTAPE_CTX_UNKNOWN;
	sim_leave(s, OTHER, 2);
	move_thread(s, OTHER, CHECKED);
	finish_and_verify(s);
	check_whole_result(s);
	end_verified(s);
}

/*
 * THREAD ends its call and begins another one on OTHER, in the first packet.  Return: the
 * ring, whose next packet follows long after.  @wrong: a later call has no end.
 */
static struct sim_ring *work_in_first(struct sim *s, bool wrong)
{
	struct sim_ring *r = &s->ring[OTHER * 2 + KTAPE_RING_EVENT];

	sim_start(s);
	sim_enter(s, CHECKED, 2);
	move_thread(s, CHECKED, OTHER);
	sim_leave(s, OTHER, 2);
	sim_enter(s, OTHER, 3);
	move_thread(s, OTHER, CHECKED);
	sim_leave(s, CHECKED, 3);
	while (!r->nr) {
		sim_enter(s, OTHER, 1);
		sim_leave(s, OTHER, 1);
	}
	wander_between_cpus(s);
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
	save_and_verify(s, 0);
	if (wrong)
		check_missing(s);
	else
		check(!result.ret, "%s", result.finding[0].text);
	end_verified(s);
}

static void test_calls_overwritten(void)
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
static void begin_call_piece(struct sim_packet *p, uint64_t ts)
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

	begin_call_piece(p, ((struct ktape_block *)(void *)p->data)->ts_begin);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_PAIR], "nothing was found");
	end_verified(s);
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
	wander_between_cpus(s);
	sim_cut(s, events_of(CHECKED));
	sim_enter(s, CHECKED, 2);
	move_thread(s, CHECKED, OTHER);
	sim_leave(s, OTHER, 2);
	sim_cut(s, events_of(OTHER));
	move_thread(s, OTHER, CHECKED);
	wander_between_cpus(s);
	sim_stop(s);
	sim_finish(s);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++) {
		struct sim_packet *p = s->ring[cpu * 2 + KTAPE_RING_EVENT].packets;

		begin_call_piece(p, ((struct ktape_block *)(void *)p->data)->ts_end);
	}
	save_and_verify(s, 0);
	check(!result.errors[KTAPE_RULE_PAIR], "%s", result.finding[0].text);
	end_verified(s);
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
	sim_enter(s, CHECKED, 1);
	sim_leave(s, CHECKED, 1);
	if (how == RESTARTS)
		sim_stop(s);
	move_thread(s, CHECKED, OTHER);
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
		sim_enter(s, OTHER, 2);
		move_thread(s, OTHER, CHECKED);
		sim_leave(s, CHECKED, 2);
		if (!begins)
			sim_enter(s, CHECKED, 3);
		move_thread(s, CHECKED, OTHER);
		if (begins)
			sim_enter(s, OTHER, 3);
		sim_leave(s, OTHER, 3);
	}
	if (how == STOPS)
		sim_stop(s);
	else
		sim_sync(s, OTHER, true);
	sim_finish(s);
	for (unsigned int ring = 0; ring < 2; ring++)
		sim_end_after(s, CHECKED * 2 + ring, nr[ring]);
	save_and_verify(s, 0);
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
	end_verified(s);
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
static void test_calls_without_rings(void)
{
	const uint32_t args[] = { WITHOUT, 0, 0 };
	const struct ktape_record rec = { .opcode = KTAPE_EV_CPU_WITHOUT,
					  .args = args,
					  .nargs = 1 };
	struct sim *s = sim_new(SEED);

	sim_start(s);
	sim_control(s, CHECKED, &rec);
	sim_control(s, OTHER, &rec);
	sim_enter(s, CHECKED, 2);
	sim_switch_to(s, CHECKED, NOTHING);
	sim_switch_to(s, CHECKED, THREAD);
	sim_leave(s, CHECKED, 3);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	check_equal(result.notes[KTAPE_RULE_PAIR], 1U);
	end_verified(s);
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
		sim_enter(s, CHECKED, 6);
		sim_enter(s, CHECKED, 7);
		sim_leave(s, CHECKED, 7);
		if (stops)
			sim_stop(s);
		else
			sim_sync(s, CHECKED, true);
		sim_finish(s);
		save_and_verify(s, 0);
		check_missing(s);
		end_verified(s);
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
	wander_between_cpus(s);
	sim_enter(s, CHECKED, 6);
	sim_switch_to(s, CHECKED, NOTHING);
	sim_switch_to(s, CHECKED, THREAD);
	sim_enter(s, CHECKED, 7);
	sim_sync(s, CHECKED, true);
	sim_sync(s, OTHER, true);
	sim_finish(s);
	save_and_verify(s, 0);
	check_missing(s);
	check_equal(result.notes[KTAPE_RULE_PAIR], 0U);
	end_verified(s);
}

static const struct tap_test tests[] = {
	{ "calls while CPUs stop one after the other", test_calls_over_stop },
	{ "a call without an end while CPUs stop", test_stop_wrong },
	{ "calls while CPUs start one after the other", test_start },
	{ "calls while CPUs change their profile one after the other",
	  test_calls_over_profile },
	{ "calls on a CPU whose marker was lost", test_lost_marker },
	{ "the end of a call of an unknown thread", test_unknown_thread },
	{ "calls of a thread that was on a CPU whose records were overwritten",
	  test_calls_overwritten },
	{ "a call without an end after records were overwritten",
	  test_overwritten_wrong },
	{ "calls of a thread where another piece begins", test_piece },
	{ "calls of a thread while the pieces change", test_piece_begins },
	{ "calls of a thread on CPUs that were read to different ends", test_ends },
	{ "a call without an end before those ends", test_ends_wrong },
	{ "calls of a thread that was on a CPU without rings",
	  test_calls_without_rings },
	{ "a call without an end of a thread that stays on its CPU", test_stays },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
