// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on intact traces, and on damaged ones: the broken rule
 * and its place.
 */
#include "lib_verify.h"

#define STEPS 3000
static char path[300];

static struct sim *make_simple_session(void)
{
	struct sim *s = sim_new(1);

	s->mask[KTAPE_EV_PROCESS_FREE / 64] |= 1ULL << KTAPE_EV_PROCESS_FREE % 64;
	sim_start(s);
	sim_work(s, STEPS);
	/* A thread that ended before the first start needs no name. */
	sim_event(s, 1, KTAPE_EV_PROCESS_FREE, 0, 2, 998, 998);
	sim_stop(s);
	sim_finish(s);
	return s;
}

static void test_verify_whole(void)
{
	struct sim *s = make_simple_session();

	check(s->ring[0].nr > 4 && s->ring[2].nr > 4, "too few packets");
	save_and_verify(s, 0);
	check_whole_result(s);
	end_verified(s);
}

static void test_verify_pipe(void)
{
	struct sim *s = make_simple_session();

	folder = trace_folder();
	snprintf(path, sizeof(path), "%s/pipe", folder);
	sim_save_pipe(s, path);
	verify_trace(path);
	check_whole_result(s);
	end_verified(s);
}

/* Losses, filters, other profiles, a STOP and a START in the middle. */
static void test_verify_eventful(void)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct sim *s = sim_new(seed);

		sim_start(s);
		for (unsigned int i = 0; i < 12; i++) {
			sim_work(s, 200);
			switch (sim_random(s, 6)) {
			case 0:
				s->losing[0] ^= 1U << KTAPE_CLASS_SYSCALL;
				break;
			case 1:
				s->losing[1] ^= ~1U;
				break;
			case 2:
				sim_filter(s, KTAPE_FILTER_PID,
					   !(s->filter >> KTAPE_FILTER_PID & 1));
				break;
			case 3:
				sim_change(s, KTAPE_EV_IRQ_HANDLER_EXIT,
					   !(s->mask[0] >> KTAPE_EV_IRQ_HANDLER_EXIT &
					     1));
				break;
			case 4:
				sim_stop(s);
				sim_work(s, 20);
				sim_start(s);
				break;
			default:
				for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
					sim_ledger(s, cpu, 2);
				break;
			}
		}
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check(!result.ret, "seed %llu: rule %s, cpu %u ring %u: %s",
		      (unsigned long long)seed,
		      ktape_rule_name(result.finding[0].rule), result.finding[0].cpu,
		      result.finding[0].ring, result.finding[0].text);
		check_whole_result(s);
		end_verified(s);
	}
}

static void test_flipped(void)
{
	struct sim *s = make_simple_session();

	folder = trace_folder();
	sim_save(s, folder, 0);
	snprintf(path, sizeof(path), "%s/cpu1", folder);
	/* In the third packet: the first one is empty. */
	trace_flip(path, KTAPE_BLOCK_HEADER + s->ring[2].packets[0].len + 500, 0x10);
	verify_trace(folder);
	check(result.errors[KTAPE_RULE_CHECKSUM] == 1, "no bad checksum");
	check_equal(result.finding[0].rule, KTAPE_RULE_CHECKSUM);
	check_equal(result.finding[0].cpu, 1);
	check_equal(result.finding[0].ring, KTAPE_RING_EVENT);
	check_equal(result.finding[0].packet, 2);
	check_equal(result.finding[0].offset,
		    KTAPE_BLOCK_HEADER + s->ring[2].packets[0].len);
	/* One packet is missing because of it. */
	check_equal(result.errors[KTAPE_RULE_SEQUENCE], 1);
	check_equal(result.nr, 2);
	end_verified(s);
}

static void test_unsealed(void)
{
	struct sim *s = make_simple_session();

	trace_unseal(s->ring[0].packets[1].data);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_CHECKSUM, KTAPE_RING_EVENT, 0);
	check_equal(result.finding[0].packet, 2);
	end_verified(s);
}

static void test_verify_removed_packet(void)
{
	struct sim *s = make_simple_session();

	sim_remove(s, 2, 3);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_SEQUENCE, KTAPE_RING_EVENT, 1);
	check_equal(result.finding[0].packet, 5);
	check(strstr(result.finding[0].text, "from number 4 on"), "%s",
	      result.finding[0].text);
	end_verified(s);
}

/* The sequence numbers look like a late reader; the counts contradict that. */
static void test_removed_as_gap(void)
{
	struct sim *s = make_simple_session();
	struct sim_packet *p;

	sim_remove(s, 2, 3);
	p = &s->ring[2].packets[3];
	p->data[AT_FLAGS] |= KTAPE_BLOCK_GAP;
	ktape_packet_seal(p->data);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 1);
	end_verified(s);
}

/* Names may be missing in gaps of a session that does not wait for its readers. */
static void test_names_in_events(void)
{
	for (unsigned int waits = 0; waits < 2; waits++) {
		struct sim *s = sim_new(1);
		struct sim_packet *p;

		s->mode = waits ? KTAPE_MODE_DISCARD : KTAPE_MODE_OVERWRITE;
		sim_start(s);
		sim_work(s, STEPS);
		sim_event(s, 1, KTAPE_EV_SCHED_SWITCH, 0, 2,
			  (uint32_t)s->tid[1], 999);
		s->tid[1] = 999;
		sim_stop(s);
		sim_finish(s);
		sim_remove(s, 2, 3);
		p = &s->ring[2].packets[3];
		p->data[AT_FLAGS] |= KTAPE_BLOCK_GAP;
		ktape_packet_seal(p->data);
		save_and_verify(s, 0);
		check_equal(result.errors[KTAPE_RULE_NAME], waits);
		check_equal(result.notes[KTAPE_RULE_NAME], !waits);
		end_verified(s);
	}
}

/* A thread started while the session was stopped needs no name record. */
static void test_names_of_a_pause(void)
{
	for (unsigned int pause = 0; pause < 2; pause++) {
		struct sim *s = sim_new(1);

		sim_start(s);
		sim_work(s, STEPS);
		if (pause) {
			sim_stop(s);
			sim_start(s);
		}
		sim_event(s, 1, KTAPE_EV_SCHED_SWITCH, 0, 2,
			  (uint32_t)s->tid[1], 999);
		s->tid[1] = 999;
		sim_stop(s);
		/* A later STOP explains nothing. */
		sim_start(s);
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_equal(result.errors[KTAPE_RULE_NAME], !pause);
		check_equal(result.notes[KTAPE_RULE_NAME], pause);
		end_verified(s);
	}
}

static void test_swapped(void)
{
	struct sim *s = make_simple_session();

	sim_swap(s, 0, 2);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_SEQUENCE] > 0, "no bad sequence");
	check(result.errors[KTAPE_RULE_TIME] > 0, "no bad time");
	check_equal(result.finding[0].rule, KTAPE_RULE_SEQUENCE);
	check_equal(result.finding[0].packet, 4);
	end_verified(s);
}

static void test_verify_repeated_packet(void)
{
	struct sim *s = make_simple_session();
	struct sim_ring *r = &s->ring[0];

	memmove(&r->packets[3], &r->packets[2],
		(SIM_PACKETS - 4) * sizeof(r->packets[0]));
	r->nr++;
	r->packets[3].data = malloc(TRACE_PACKET);
	memcpy(r->packets[3].data, r->packets[2].data, r->packets[2].len);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_SEQUENCE] > 0, "no bad sequence");
	check(strstr(result.finding[0].text, "packet 3 comes after packet 3"),
	      "%s", result.finding[0].text);
	end_verified(s);
}

static void test_verify_truncated_file(void)
{
	struct sim *s = make_simple_session();
	struct stat st;

	folder = trace_folder();
	sim_save(s, folder, 0);
	snprintf(path, sizeof(path), "%s/cpu0", folder);
	if (stat(path, &st) || truncate(path, st.st_size - 24))
		abort();
	verify_trace(folder);
	check(result.errors[KTAPE_RULE_FORM] == 1, "nothing was truncated");
	check_equal(result.finding[0].ring, KTAPE_RING_EVENT);
	check_equal(result.finding[0].cpu, 0);
	check_equal(result.finding[0].offset, (uint64_t)st.st_size - 24);
	end_verified(s);
}

/* Truncated at the end of a packet: only the ledger shows that one is missing. */
static void test_cut_between(void)
{
	struct sim *s = make_simple_session();

	sim_remove(s, 0, s->ring[0].nr - 1);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 0);
	end_verified(s);
}

static void test_no_stream(void)
{
	struct sim *s = make_simple_session();

	folder = trace_folder();
	sim_save(s, folder, 0);
	snprintf(path, sizeof(path), "%s/cpu1", folder);
	unlink(path);
	verify_trace(folder);
	check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 1);
	end_verified(s);
}

static void test_verify_no_end(void)
{
	struct sim *s = make_simple_session();

	while (s->ring[3].nr > 1)
		sim_remove(s, 3, s->ring[3].nr - 1);
	sim_take(s, 3, KTAPE_EV_CLOCK_SYNC, 0, 0);
	sim_take(s, 3, KTAPE_EV_SESSION, 3, KTAPE_PHASE_OFF);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_MARKER, KTAPE_RING_CONTROL, 1);
	end_verified(s);
}

/* The ledger or the order of markers reveals every removed marker. */
static void test_verify_no_marker(void)
{
	static const struct {
		unsigned int opcode;
		uint32_t bits;
		uint32_t dat20;
		unsigned int rule;
	} markers[] = {
		{ KTAPE_EV_PROFILE, 3, KTAPE_PHASE_ON, KTAPE_RULE_LEDGER },
		{ KTAPE_EV_PROFILE, 3, KTAPE_PHASE_OFF, KTAPE_RULE_MARKER },
		{ KTAPE_EV_SESSION, 3, KTAPE_PHASE_ON, KTAPE_RULE_LEDGER },
		{ KTAPE_EV_SESSION, 3, KTAPE_PHASE_OFF, KTAPE_RULE_MARKER },
		{ KTAPE_EV_LEDGER, 0x7ff, 0, KTAPE_RULE_LEDGER },
		{ KTAPE_EV_LEDGER, 0x7ff, 1 << 5, KTAPE_RULE_MARKER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++) {
		struct sim *s = make_simple_session();

		check(sim_take(s, 1, markers[i].opcode, markers[i].bits,
			       markers[i].dat20),
		      "there is no marker %zu", i);
		save_and_verify(s, 0);
		check(result.errors[markers[i].rule] > 0,
		      "the missing marker %zu is not detected: %d wrong", i,
		      result.ret);
		check_equal(result.finding[0].cpu, 0);
		end_verified(s);
	}
}

/* Remove one record and recompute the packet's checksum. */
static void test_no_record(void)
{
	struct sim *s = make_simple_session();

	check(sim_take(s, 0, KTAPE_EV_SYS_EXIT, 0, 0), "there is no such record");
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_LEDGER] == 1, "%d wrong", result.ret);
	check(strstr(result.finding[0].text, "syscall") ||
		      strstr(result.finding[1].text, "syscall"),
	      "%s", result.finding[0].text);
	end_verified(s);
}

/* Counts in headers that are wrong by more than contexts can nest. */
static void test_bound(void)
{
	static const int by[] = { 100, -100 };

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		struct sim *s = make_simple_session();
		struct ktape_block *h = (void *)s->ring[0].packets[2].data;

		h->emitted += (uint64_t)by[i];
		ktape_packet_seal(h);
		save_and_verify(s, 0);
		check_only(KTAPE_RULE_BOUND, KTAPE_RING_EVENT, 0);
		check_equal(result.finding[0].packet, 3);
		end_verified(s);
	}
}

/* A loss that no loss record reports, and one that is reported twice. */
static void test_loss(void)
{
	for (int twice = 0; twice < 2; twice++) {
		struct sim *s = sim_new(5);

		sim_start(s);
		sim_work(s, 500);
		s->losing[1] = 1U << KTAPE_CLASS_SYSCALL;
		sim_work(s, 100);
		s->losing[1] = 0;
		sim_work(s, 500);
		if (twice)
			s->ring[2].reported[KTAPE_CLASS_SYSCALL]--;
		else
			s->ring[2].lost[KTAPE_CLASS_SYSCALL]++;
		if (!twice)
			s->ring[2].reported[KTAPE_CLASS_SYSCALL]++;
		if (!twice)
			s->ring[2].emitted[KTAPE_CLASS_SYSCALL]++;
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_only(KTAPE_RULE_LOSS, KTAPE_RING_CONTROL, 1);
		end_verified(s);
	}
}

/* Reported losses are counted and are no errors. */
static void test_lossy(void)
{
	struct sim *s = sim_new(6);

	sim_start(s);
	sim_work(s, 500);
	s->losing[0] = ~1U;
	sim_work(s, 300);
	s->losing[0] = 0;
	sim_work(s, 1000);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	check_equal(result.lost, sim_sum(s->ring[0].lost));
	check(result.lost > 100, "too few");
	end_verified(s);
}

static void test_verify_pairs(void)
{
	static const struct {
		unsigned int opcode;
		uint32_t dat20;
		unsigned int words;
		uint32_t a, b;
		unsigned int rule;
	} odd[] = {
		{ KTAPE_EV_IRQ_HANDLER_ENTRY, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_IRQ_HANDLER_EXIT, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_SOFTIRQ_ENTRY, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_SOFTIRQ_EXIT, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_SCHED_SWITCH, 0, 2, 104, 105, KTAPE_RULE_SWITCH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct sim *s = sim_new(7);

		sim_start(s);
		sim_work(s, 500);
		sim_event(s, 0, odd[i].opcode, odd[i].dat20, odd[i].words,
			  odd[i].a, odd[i].b);
		sim_work(s, 500);
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		/* After a wrong switch the caller is another thread. */
		if (odd[i].rule == KTAPE_RULE_SWITCH)
			result.errors[KTAPE_RULE_PAIR] = 0;
		check_only(odd[i].rule, KTAPE_RING_EVENT, 0);
		check_equal(result.finding[0].rule, odd[i].rule);
		end_verified(s);
	}
}

/* A handler ends while another that interrupted it still runs. */
static void test_nesting(void)
{
	static const unsigned int begins[] = { KTAPE_EV_IRQ_HANDLER_ENTRY,
					       KTAPE_EV_SOFTIRQ_ENTRY };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		struct sim *s = sim_new(7);

		sim_start(s);
		sim_work(s, 500);
		sim_event(s, 0, begins[i], 5, 0, 0, 0);
		sim_event(s, 0, begins[i], 6, 0, 0, 0);
		sim_event(s, 0, begins[i] + 1, 5, 0, 0, 0);
		sim_work(s, 500);
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_only(KTAPE_RULE_PAIR, KTAPE_RING_EVENT, 0);
		check(strstr(result.finding[0].text, " 5 ends while 6 is running"),
		      "%s", result.finding[0].text);
		end_verified(s);
	}
}

/* A thread enters a call within a call. */
static void test_verify_calls(void)
{
	struct sim *s = sim_new(8);
	uint32_t bit;

	sim_start(s);
	sim_work(s, 500);
	bit = 1U << (s->tid[0] - 100);
	if (!(s->calling[0] & bit))
		sim_call(s, 0);
	sim_event(s, 0, KTAPE_EV_SYS_ENTER, 2, 0, 0, 0);
	sim_event(s, 0, KTAPE_EV_SYS_EXIT, 3, 2, 0, 0);
	sim_work(s, 500);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_PAIR, KTAPE_RING_EVENT, 0);
	/* A call within a call, and its exit with another number. */
	check(result.errors[KTAPE_RULE_PAIR] >= 2, "only %llu",
	      (unsigned long long)result.errors[KTAPE_RULE_PAIR]);
	end_verified(s);
}

static void test_times(void)
{
	struct sim *s = make_simple_session();
	struct ktape_block *h = (void *)s->ring[2].packets[4].data;

	h->ts_begin -= 5000;
	ktape_packet_seal(h);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_TIME] > 0, "%d wrong", result.ret);
	check_equal(result.finding[0].packet, 5);
	check_equal(result.finding[0].cpu, 1);
	end_verified(s);
	/* A record whose time goes back is shown at its predecessor's time. */
	s = make_simple_session();
	h = (void *)s->ring[2].packets[4].data;
	memset(s->ring[2].packets[4].data + KTAPE_BLOCK_HEADER, 0, 4);
	ktape_packet_seal(h);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_TIME] > 0, "%d wrong", result.ret);
	end_verified(s);
	/* The end time of the packet precedes its later records. */
	s = make_simple_session();
	h = (void *)s->ring[2].packets[4].data;
	h->ts_end = h->ts_begin;
	ktape_packet_seal(s->ring[2].packets[4].data);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_TIME] > 0, "%d wrong", result.ret);
	end_verified(s);
}

/* Set records and packet end from @from on back by @by. */
static void step_packet_back(unsigned char *data, size_t len, uint64_t from,
			     uint64_t by)
{
	struct ktape_block *h = (void *)data;
	struct ktape_packet p;
	struct ktape_event e;
	uint32_t low;

	check(!ktape_packet_open(&p, data, len, NULL, NULL), "no packet");
	while (ktape_packet_next(&p, &e, NULL) > 0) {
		low = (uint32_t)(e.ts - by);
		if (e.ts >= from)
			memcpy(data + e.offset, &low, sizeof(low));
	}
	if (h->ts_begin >= from)
		h->ts_begin -= by;
	h->ts_end -= by;
	ktape_packet_seal(data);
}

/* By half a block's age; it and the next block end before the clock catches up. */
static void test_step_between(void)
{
	struct sim *s = make_simple_session();
	struct sim_packet *of = &s->ring[2].packets[4];
	struct ktape_block *h = (void *)of[0].data;
	const uint64_t age = h->ts_end - h->ts_begin;
	const uint64_t from = h->ts_begin + age / 4 * 3;

	check_equal(h->ts_begin >> 32,
		    ((struct ktape_block *)of[1].data)->ts_end >> 32);
	step_packet_back(of[0].data, of[0].len, from, age / 2);
	step_packet_back(of[1].data, of[1].len, from, age / 2);
	save_and_verify(s, 0);
	check_equal(result.errors[KTAPE_RULE_TIME], 1);
	check_equal(result.errors[KTAPE_RULE_FORM], 0);
	check_equal(result.finding[0].packet, 5);
	check(strstr(result.finding[0].text, "the trace clock went back"), "%s",
	      result.finding[0].text);
	end_verified(s);
}

static void test_verify_nameless(void)
{
	struct sim *s = make_simple_session();

	save_and_verify(s, 2);
	check_equal(result.errors[KTAPE_RULE_NAME], 2);
	check(strstr(result.finding[0].text, "10"), "%s", result.finding[0].text);
	check_equal(result.ret, 2);
	end_verified(s);
}

static void test_verify_unstable_clock(void)
{
	struct sim *s = sim_new(9);

	sim_start(s);
	sim_work(s, 500);
	sim_sync(s, 1, false);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_equal(result.ret, 1);
	check_equal(result.errors[KTAPE_RULE_CLOCK], 1);
	end_verified(s);
}

/* A full snapshot and an evicted reader are no errors. */
static void test_verify_frozen(void)
{
	struct sim *s = sim_new(11);

	s->mode = KTAPE_MODE_SNAPSHOT;
	sim_start(s);
	sim_work(s, 500);
	sim_words(s, KTAPE_EV_EVICT, 1, 100, 10);
	s->now += 5000;
	sim_stop_full(s, s->now - 5000);
	sim_finish(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	end_verified(s);

	s = sim_new(11);
	sim_start(s);
	sim_words(s, KTAPE_EV_FREEZE, 0, 0, 0);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_MARKER, KTAPE_RING_CONTROL, 0);
	end_verified(s);
}

/* A CPU without memory for its rings gives one note. */
static void test_verify_without_rings(void)
{
	struct sim *s = sim_new(12);
	const uint32_t cpus[] = { SIM_CPUS, UINT32_MAX };
	struct ktape_record rec = { .opcode = KTAPE_EV_CPU_WITHOUT,
				    .args = cpus,
				    .nargs = 1 };

	sim_start(s);
	sim_work(s, 100);
	for (unsigned int i = 0; i < 6; i++)
		sim_control(s, i % SIM_CPUS, &rec);
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	check_equal(result.notes[KTAPE_RULE_MARKER], 1);
	end_verified(s);

	/* The same for one that came online with rings, and is not in the trace. */
	s = sim_new(12);
	sim_start(s);
	rec.opcode = KTAPE_EV_CPU_WITH;
	for (unsigned int i = 0; i < SIM_CPUS; i++)
		sim_control(s, i, &rec);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	check_equal(result.notes[KTAPE_RULE_MARKER], 0);
	check_equal(result.notes[KTAPE_RULE_FORM], 1);
	end_verified(s);

	s = sim_new(12);
	sim_start(s);
	rec.args = &cpus[1];
	sim_control(s, 0, &rec);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_FORM, KTAPE_RING_CONTROL, 0);
	end_verified(s);
}

/* A control ring without room for the end of its session reports a loss. */
static void test_lossy_end(void)
{
	struct sim *s = make_simple_session();
	struct sim_ring *r = &s->ring[3];
	struct ktape_block *h;

	while (sim_take(s, 3, KTAPE_EV_SESSION, 3, KTAPE_PHASE_OFF))
		;
	save_and_verify(s, 0);
	check(result.ret, "the missing end is not detected");
	trace_remove(folder);
	h = (void *)r->packets[r->nr - 1].data;
	h->emitted--;
	h->lost[KTAPE_LOST_FULL]++;
	h->discarded++;
	ktape_packet_seal(h);
	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	end_verified(s);
}

/*
 * A snapshot of a session that was stopped and started: of one ring the reader has found
 * nothing any more, or only a few records.
 */
static void test_verify_overwritten(void)
{
	for (unsigned int left = 0; left < 2; left++) {
		struct sim *s = sim_new(15);
		struct sim_ring *r = &s->ring[2];
		struct ktape_block *h;

		s->mode = KTAPE_MODE_OVERWRITE;
		sim_start(s);
		sim_work(s, STEPS / 2);
		sim_stop(s);
		sim_start(s);
		sim_work(s, STEPS / 2);
		sim_finish(s);
		while (r->nr > 1 + left)
			sim_remove(s, 2, 0);
		h = (void *)r->packets[0].data;
		check(h->seq > 1, "the ring has one packet only");
		h->flags |= KTAPE_BLOCK_GAP;
		if (!left)
			h->content_bits = h->packet_bits = KTAPE_BLOCK_HEADER * 8;
		if (!left)
			r->packets[0].len = KTAPE_BLOCK_HEADER;
		ktape_packet_seal(h);
		save_and_verify(s, 0);
		check(!result.ret, "%s", result.finding[0].text);
		/* That the session still records, and not that anything is missing. */
		check_equal(result.notes[KTAPE_RULE_LEDGER], 1);
		end_verified(s);
	}
}

/* What a reader of a running session has missed is later than the last ledger. */
static void test_missed_since(void)
{
	struct sim *s = sim_new(16);
	struct sim_ring *r = &s->ring[2];
	uint64_t gone;
	unsigned int i;

	sim_start(s);
	sim_work(s, 300);
	sim_stop(s);
	sim_start(s);
	sim_work(s, STEPS);
	sim_finish(s);
	i = r->nr - 3;
	gone = ((struct ktape_block *)r->packets[i].data)->emitted -
	       ((struct ktape_block *)r->packets[i - 1].data)->emitted;
	sim_remove(s, 2, i);
	for (; i < r->nr; i++) {
		struct ktape_block *h = (void *)r->packets[i].data;

		h->flags |= i == r->nr - 2 ? KTAPE_BLOCK_GAP : 0;
		h->discarded += gone;
		ktape_packet_seal(h);
	}
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	end_verified(s);
}

static void test_after_the_end(void)
{
	struct sim *s = sim_new(10);

	sim_start(s);
	sim_work(s, 500);
	sim_stop(s);
	s->running = true;
	sim_event(s, 1, KTAPE_EV_SOFTIRQ_ENTRY, 1, 0, 0, 0);
	s->running = false;
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_MARKER, KTAPE_RING_EVENT, 1);
	end_verified(s);
}

static void test_no_trace(void)
{
	folder = trace_folder();
	verify_trace(folder);
	check_equal((unsigned int)-result.ret, EBADMSG);
	verify_trace("/nowhere");
	check_equal((unsigned int)-result.ret, ENOENT);
	trace_remove(folder);
	folder = NULL;
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "an intact trace", test_verify_whole },
		{ "an intact pipe form", test_verify_pipe },
		{ "losses, filters, profiles, stops: all explained",
		  test_verify_eventful },
		{ "a flipped bit", test_flipped },
		{ "a packet without a checksum", test_unsealed },
		{ "a removed packet", test_verify_removed_packet },
		{ "a removed packet declared as a gap", test_removed_as_gap },
		{ "names among overwritten events", test_names_in_events },
		{ "names: threads started while stopped", test_names_of_a_pause },
		{ "swapped packets", test_swapped },
		{ "a repeated packet", test_verify_repeated_packet },
		{ "a truncated file", test_verify_truncated_file },
		{ "a file truncated between packets", test_cut_between },
		{ "a missing stream", test_no_stream },
		{ "a stream without the session's end", test_verify_no_end },
		{ "a removed marker", test_verify_no_marker },
		{ "a removed record", test_no_record },
		{ "counts beyond the bound", test_bound },
		{ "losses without a loss record", test_loss },
		{ "reported losses", test_lossy },
		{ "pairs and switches", test_verify_pairs },
		{ "handlers are nested", test_nesting },
		{ "calls", test_verify_calls },
		{ "times", test_times },
		{ "the clock steps back in one packet and catches up in another",
		  test_step_between },
		{ "threads without a name", test_verify_nameless },
		{ "an unstable clock", test_verify_unstable_clock },
		{ "a full snapshot", test_verify_frozen },
		{ "a CPU without rings", test_verify_without_rings },
		{ "a lost end of the session", test_lossy_end },
		{ "a snapshot of an overwritten ring", test_verify_overwritten },
		{ "records missed after the last ledger", test_missed_since },
		{ "events after the end", test_after_the_end },
		{ "not a trace", test_no_trace },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
