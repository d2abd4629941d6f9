// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what `ktape verify` says was emitted, filtered, lost and missed: whatever happens to
 * packets, the ledgers of start and stop say how many events there were.
 */
#include "lib_verify.h"

#define STEPS 2000

/* Return the events of all rings, as the simulated tracer counts them. */
static uint64_t truth(const struct sim *s)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < SIM_RINGS; i++)
		n += sim_sum(s->ring[i].emitted);
	return n;
}

static uint64_t accounted(void)
{
	return result.records + result.filtered + result.lost + result.missed;
}

static struct sim *begin_emitted_session(unsigned int seed)
{
	struct sim *s = sim_new(seed);

	sim_start(s);
	sim_work(s, STEPS);
	return s;
}

static void finish_emitted_session(struct sim *s)
{
	sim_stop(s);
	sim_finish(s);
}

static void test_emitted_whole(void)
{
	struct sim *s = begin_emitted_session(1);

	finish_emitted_session(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	check(result.counted, "not counted");
	check_equal(result.emitted, truth(s));
	check_equal(accounted(), truth(s));
	end_verified(s);
}

static void test_emitted_eventful(void)
{
	struct sim *s = begin_emitted_session(2);

	sim_filter(s, KTAPE_FILTER_PID, true);
	s->losing[0] ^= 1U << KTAPE_CLASS_SYSCALL;
	sim_work(s, STEPS);
	sim_stop(s);
	sim_start(s);
	sim_work(s, STEPS);
	finish_emitted_session(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	check(result.counted, "not counted");
	check_equal(result.emitted, truth(s));
	check_equal(accounted(), truth(s));
	check(result.filtered && result.lost, "nothing was filtered or lost");
	end_verified(s);
}

/* Each reason for which events were lost is reported, with its number. */
static void test_reasons(void)
{
	struct sim *s = begin_emitted_session(6);
	uint64_t full, shed = 0, lost = 0;

	s->losing[0] = s->losing[1] = 1U << KTAPE_CLASS_SYSCALL;
	sim_work(s, STEPS);
	s->shedding = true;
	sim_work(s, STEPS);
	s->losing[0] = s->losing[1] = 0;
	sim_work(s, STEPS);
	finish_emitted_session(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	for (unsigned int i = 0; i < SIM_RINGS; i++) {
		lost += sim_sum(s->ring[i].lost);
		shed += sim_sum(s->ring[i].shed);
	}
	full = lost - shed;
	check(full && shed, "%llu full, %llu shed", (unsigned long long)full,
	      (unsigned long long)shed);
	check_equal(result.lost, lost);
	check_equal(result.lost_by[KTAPE_LOST_FULL], full);
	check_equal(result.lost_by[KTAPE_LOST_SHED], shed);
	check_equal(result.lost_by[KTAPE_LOST_RATE], 0);
	end_verified(s);
}

/* Packets that are missing change nothing in what was emitted. */
static void test_emitted_removed(void)
{
	struct sim *s = begin_emitted_session(3);
	uint64_t whole;

	finish_emitted_session(s);
	save_and_verify(s, 0);
	whole = accounted();
	trace_remove(folder);
	sim_remove(s, 2, 3);
	sim_remove(s, 0, 2);
	save_and_verify(s, 0);
	check(result.ret, "nothing is found");
	check(result.counted, "not counted");
	check_equal(result.emitted, truth(s));
	check(accounted() < whole, "%llu of %llu",
	      (unsigned long long)accounted(), (unsigned long long)whole);
	end_verified(s);
}

/*
 * The first packets of a ring were overwritten before the reader had read them, and its
 * first packet says how many events they had.
 */
static void test_missed_first(void)
{
	struct sim *s = begin_emitted_session(4);
	struct sim_ring *r = &s->ring[2];
	uint64_t gone;

	finish_emitted_session(s);
	gone = ((struct ktape_block *)r->packets[1].data)->emitted;
	sim_remove(s, 2, 0);
	sim_remove(s, 2, 0);
	for (unsigned int i = 0; i < r->nr; i++) {
		struct ktape_block *h = (void *)r->packets[i].data;

		h->flags |= i ? 0 : KTAPE_BLOCK_GAP;
		h->discarded += gone;
		ktape_packet_seal(h);
	}
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	check(result.counted, "not counted");
	check_equal(result.missed, gone);
	check_equal(accounted(), truth(s));
	check_equal(result.emitted, truth(s));
	end_verified(s);
}

/*
 * Remove the first two packets of an event ring of a session in @mode, as a reader that
 * comes late finds it.  @gone: how many events they had.
 */
static void come_late(struct sim *s, uint32_t mode, uint64_t *gone)
{
	s->mode = mode;
	sim_start(s);
	sim_work(s, STEPS);
	finish_emitted_session(s);
	*gone = ((struct ktape_block *)s->ring[2].packets[1].data)->emitted;
	sim_remove(s, 2, 0);
	sim_remove(s, 2, 0);
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	check(result.counted, "not counted");
	check_equal(result.emitted, truth(s));
	check_equal(result.sum.emitted, truth(s));
	check_equal(accounted() + result.cut, truth(s));
}

/* What was overwritten before the recording began is counted, although no packet says it. */
static void test_overwritten_before(void)
{
	static const uint32_t of[] = { KTAPE_MODE_OVERWRITE, KTAPE_MODE_PERSISTENT };

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct sim *s = sim_new(8);
		uint64_t gone;

		come_late(s, of[i], &gone);
		check_equal(result.missed, gone);
		check_equal(result.cut, 0);
		check_equal(result.sum.cuts, 0);
		check_equal(result.sum.judged, SIM_CPUS);
		check_equal(result.sum.accounted, truth(s));
		end_verified(s);
	}
}

/* A mode that never overwrites: the beginning was cut off, or somebody else has read it. */
static void test_cut_before(void)
{
	static const uint32_t of[] = { KTAPE_MODE_DISCARD, KTAPE_MODE_SNAPSHOT };

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct sim *s = sim_new(9);
		uint64_t gone;

		come_late(s, of[i], &gone);
		check_equal(result.missed, 0);
		check_equal(result.cut, gone);
		check_equal(result.sum.cut, gone);
		check_equal(result.sum.cuts, 1);
		check_equal(result.sum.judged, SIM_CPUS - 1);
		end_verified(s);
	}
}

/*
 * The last packets of a ring are missing: its end was cut off behind a known number.  @late: the
 * first packet is missing as well, which is no violation of its own.  Then the classes are not
 * counted, so the end is the only finding; else each class that lacks records is one, too.
 */
static void test_cut_behind(void)
{
	for (unsigned int late = 0; late < 2; late++) {
		struct sim *s = begin_emitted_session(10);
		struct sim_ring *r = &s->ring[2];
		const struct ktape_block *last;
		uint64_t kept;

		s->mode = KTAPE_MODE_OVERWRITE;
		finish_emitted_session(s);
		last = (const void *)r->packets[r->nr - 3].data;
		kept = last->emitted;
		sim_end_after(s, 2, r->nr - 2);
		if (late)
			sim_remove(s, 2, 0);
		save_and_verify(s, 0);
		check(result.ret == 1 || !late, "%d wrong", result.ret);
		check(result.errors[KTAPE_RULE_LEDGER], "it is not found");
		check_equal(result.emitted, truth(s));
		check_equal(result.cut, sim_sum(r->emitted) - kept);
		end_verified(s);
	}
}

/*
 * Before the reader attached, the ring itself had lost events, and only some since then.
 * The control ring begins later, too: no ledger says how many events there were before.
 */
static void test_lost_first(void)
{
	struct sim *s = begin_emitted_session(5);
	struct sim_ring *r = &s->ring[2];

	while (s->ring[3].nr < 2)
		sim_sync(s, 1, true);
	finish_emitted_session(s);
	sim_remove(s, 2, 0);
	sim_remove(s, 3, 0);
	for (unsigned int i = 0; i < r->nr; i++) {
		struct ktape_block *h = (void *)r->packets[i].data;

		h->flags |= i ? 0 : KTAPE_BLOCK_GAP;
		h->lost[KTAPE_LOST_FULL] += 10;
		h->emitted += 10;
		h->discarded += 3;
		ktape_packet_seal(h);
	}
	save_and_verify(s, 0);
	check_equal(result.lost, 3);
	check_equal(result.missed, 0);
	end_verified(s);
}

static void test_emitted_no_end(void)
{
	struct sim *s = begin_emitted_session(6);

	sim_finish(s);
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	check(!result.counted, "counted without the ledger of a stop");
	end_verified(s);
}

static void test_no_start(void)
{
	struct sim *s = begin_emitted_session(7);

	while (s->ring[1].nr < 2)
		sim_sync(s, 0, true);
	sim_stop(s);
	sim_start(s);
	sim_work(s, STEPS);
	finish_emitted_session(s);
	sim_remove(s, 1, 0);
	save_and_verify(s, 0);
	check(!result.counted, "counted without the ledger of the first start");
	end_verified(s);
}

/* Call stacks that have more frames than their records give one note with their number. */
static void test_cut_stacks(void)
{
	static const uint32_t frames[] = { 1, 0xf00d };
	struct ktape_record rec = { .opcode = KTAPE_EV_KERNEL_STACK,
				    .blob = frames,
				    .blob_size = sizeof(frames) };
	char number[32];
	struct sim *s;

	for (unsigned int cut = 0; cut < 4; cut++) {
		s = sim_new(14);
		sim_start(s);
		sim_work(s, 100);
		for (unsigned int i = 0; i < 6; i++) {
			rec.dat20 = KTAPE_EV_SCHED_SWITCH |
				    (i < cut ? KTAPE_STACK_CUT : 0);
			s->ring[i % SIM_CPUS * 2].emitted[KTAPE_CLASS_STACK]++;
			sim_write(s, i % SIM_CPUS, KTAPE_RING_EVENT, &rec);
		}
		sim_work(s, 100);
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_equal(result.ret, 0);
		check_equal(result.notes[KTAPE_RULE_FORM], cut ? 1 : 0);
		snprintf(number, sizeof(number), "frames: %u", cut);
		check(!cut || strstr(result.form, number), "%s, not %u",
		      result.form, cut);
		end_verified(s);
	}
}

/* Return how many records a ring had written up to the end of a packet, as its header says. */
static uint64_t records_up_to_end(const struct sim_packet *p)
{
	const struct ktape_block *h = (const void *)p->data;
	uint64_t sum = h->emitted - h->filtered;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		sum -= h->lost[i];
	return sum;
}

/* The gap is reported, but with two records fewer than it has. */
static void test_gap_of_fewer(void)
{
	for (unsigned int fewer = 0; fewer < 3; fewer += 2) {
		struct sim *s = begin_emitted_session(17);
		struct sim_ring *r = &s->ring[2];
		uint64_t gone;

		sim_work(s, STEPS);
		finish_emitted_session(s);
		check(r->nr > 5, "%u packets", (unsigned int)r->nr);
		gone = records_up_to_end(&r->packets[3]) -
		       records_up_to_end(&r->packets[2]);
		check(gone > 2, "%llu records", (unsigned long long)gone);
		sim_remove(s, 2, 3);
		for (unsigned int i = 3; i < r->nr; i++) {
			struct ktape_block *h = (void *)r->packets[i].data;

			h->flags |= i == 3 ? KTAPE_BLOCK_GAP : 0;
			h->discarded += gone - fewer;
			ktape_packet_seal(h);
		}
		save_and_verify(s, 0);
		if (fewer)
			check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 1);
		else
			check(!result.ret, "%s", result.finding[0].text);
		end_verified(s);
	}
}

static const struct tap_test tests[] = {
	{ "a whole trace", test_emitted_whole },
	{ "filters, losses, stops and starts", test_emitted_eventful },
	{ "reasons of losses", test_reasons },
	{ "removed packets", test_emitted_removed },
	{ "packets that were overwritten before the first one", test_missed_first },
	{ "packets that were overwritten before the recording",
	  test_overwritten_before },
	{ "packets that are missing in a mode that never overwrites",
	  test_cut_before },
	{ "packets that are missing at the end", test_cut_behind },
	{ "losses before the reader came", test_lost_first },
	{ "without the ledger of a stop", test_emitted_no_end },
	{ "without the ledger of a start", test_no_start },
	{ "a gap of fewer records than are missing", test_gap_of_fewer },
	{ "call stacks longer than their records", test_cut_stacks },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
