// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on intact traces, and on those with damaged packets or without some of
 * their packets or records: the broken rule and its place.
 */
#include "lib_verify.h"

static char path[300];

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
					sim_ledger(s, cpu, 2); /* of a flush */
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
	/* In the third packet, whose number is 2: the first one is empty. */
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
		sim_work(s, SIMPLE_STEPS);
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
		sim_work(s, SIMPLE_STEPS);
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

	/* Of CPU 1 the end of the session is not there, nor what comes after it. */
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
	/* dat20 & bits == dat20; of a ledger these are class control, ring 0 or 1, moment stop. */
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
		{ "events after the end", test_after_the_end },
		{ "not a trace", test_no_trace },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
