// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that verify takes the time at which a packet is loaded into account: the
 * reader loads a packet as soon as its predecessor is used up, which is earlier
 * than its first record. Records that come in between on other rings and CPUs
 * count when the packet is checked.
 */
#include "lib_sim_work.h"

#define CPU   0U
#define RING  (CPU * 2 + KTAPE_RING_EVENT)
#define OTHER 1U
#define FIRST 100 /* thread that runs on CPU at the start */

struct result {
	int ret; /* of the run */
	uint64_t errors[KTAPE_RULES];
	struct ktape_finding first;
};

static struct result result;
static const char *folder;

static void verify_load_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (!f->note && !*r->first.text)
		r->first = *f;
}

/* Save and verify a session into @result. */
static void verify_load_check(struct sim *s)
{
	const struct ktape_verify_options how = { .finding = verify_load_finding,
						  .arg = &result };
	struct ktape_verify *v;

	memset(&result, 0, sizeof(result));
	folder = trace_folder();
	sim_save(s, folder, 0);
	if (ktape_verify_open(folder, &how, &v, NULL))
		abort();
	result.ret = ktape_verify_run(v);
	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		result.errors[i] = ktape_verify_count(v, i, NULL);
	ktape_verify_close(v);
}

static void remove_loaded_trace(struct sim *s)
{
	trace_remove(folder);
	sim_free(s);
}

/* Check that only @rule is broken. */
static void check_rule(unsigned int rule)
{
	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		check((result.errors[i] > 0) == (i == rule),
		      "%llu of rule %s, the first: %s",
		      (unsigned long long)result.errors[i], ktape_rule_name(i),
		      result.first.text);
}

static void check_load_whole(void)
{
	check(!result.ret, "%d wrong, the first: rule %s, cpu %u packet %llu: %s",
	      result.ret, ktape_rule_name(result.first.rule), result.first.cpu,
	      (unsigned long long)result.first.packet, result.first.text);
}

/* Leave @room bytes in the open packet of CPU's event ring. */
static void fill_event_packet(struct sim *s, size_t room)
{
	const struct sim_ring *r = &s->ring[RING];

	/* Records of 8 bytes that are not part of a pair. */
	while (r->b.at + room < r->b.size)
		sim_event(s, CPU, KTAPE_EV_SOFTIRQ_RAISE, 1, 0, 0, 0);
	check_equal(r->b.at + room, r->b.size);
}

/* A session whose last packet of CPU has @room bytes left. */
static struct sim *begin_with_room(size_t room)
{
	struct sim *s = sim_new(1);

	s->mask[KTAPE_EV_SOFTIRQ_RAISE / 64] |= 1ULL
						<< (KTAPE_EV_SOFTIRQ_RAISE % 64);
	sim_start(s);
	sim_work(s, 200);
	fill_event_packet(s, room);
	return s;
}

/* Another thread runs on CPU without a switch record. */
static void change_thread(struct sim *s)
{
	s->tid[CPU] = s->tid[CPU] == FIRST ? FIRST + 1 : FIRST;
}

static void finish_and_check_load(struct sim *s)
{
	sim_event(s, CPU, KTAPE_EV_SOFTIRQ_RAISE, 1, 0, 0, 0);
	sim_work(s, 200);
	sim_stop(s);
	sim_finish(s);
	verify_load_check(s);
}

static void test_load_before_stop(void)
{
	/* A context record takes 16 bytes, so it opens the next packet. */
	for (size_t room = 0; room <= 8; room += 8) {
		struct sim *s = begin_with_room(room);
		unsigned int before = s->ring[RING].nr;

		sim_stop(s);
		change_thread(s);
		sim_start(s);
		check_equal(s->ring[RING].nr, before + 1);
		finish_and_check_load(s);
		check_load_whole();
		remove_loaded_trace(s);
	}
}

static void test_load_before_profile(void)
{
	for (size_t room = 0; room <= 8; room += 8) {
		struct sim *s = begin_with_room(room);

		sim_change(s, KTAPE_EV_SCHED_SWITCH, false);
		change_thread(s);
		sim_context(s, CPU);
		sim_change(s, KTAPE_EV_SCHED_SWITCH, true);
		finish_and_check_load(s);
		check_load_whole();
		remove_loaded_trace(s);
	}
}

static void test_filter(void)
{
	struct sim *s = begin_with_room(0);

	sim_filter(s, KTAPE_FILTER_PID, true);
	change_thread(s);
	sim_filter(s, KTAPE_FILTER_PID, false);
	finish_and_check_load(s);
	check_load_whole();
	remove_loaded_trace(s);
}

/* Nothing explains that another thread runs. */
static void test_nothing(void)
{
	struct sim *s = begin_with_room(0);
	unsigned int full = s->ring[RING].nr + 1; /* number of the packet, from 1 */

	change_thread(s);
	sim_event(s, CPU, KTAPE_EV_SOFTIRQ_RAISE, 1, 0, 0, 0);
	sim_stop(s);
	sim_finish(s);
	verify_load_check(s);
	check_rule(KTAPE_RULE_SWITCH);
	check_equal(result.ret, 1);
	check_equal(result.first.cpu, CPU);
	check_equal(result.first.ring, KTAPE_RING_EVENT);
	check_equal(result.first.packet, full + 1);
	check(strstr(result.first.text, "the packet begins with thread"), "%s",
	      result.first.text);
	remove_loaded_trace(s);
}

/*
 * In a gap of CPU a thread enters a call on OTHER, comes back and leaves the
 * call: the trace has only the entry.
 */
static void make_gap(struct sim *s, bool reported)
{
	unsigned int gap;
	struct sim_packet *p;

	sim_start(s);
	fill_event_packet(s, 0);
	gap = s->ring[RING].nr + 1;
	sim_switch_to(s, CPU, FIRST + 1);
	sim_switch_to(s, OTHER, FIRST);
	sim_enter(s, OTHER, 1);
	sim_switch_to(s, OTHER, FIRST + SIM_THREADS);
	sim_switch_to(s, CPU, FIRST);
	sim_leave(s, CPU, 1);
	fill_event_packet(s, 0);
	sim_enter(s, CPU, 3);
	sim_leave(s, CPU, 3);
	sim_stop(s);
	sim_finish(s);
	sim_remove(s, RING, gap);
	p = &s->ring[RING].packets[gap];
	p->data[AT_FLAGS] |= reported ? KTAPE_BLOCK_GAP : 0;
	ktape_packet_seal(p->data);
}

static void test_gap(void)
{
	for (unsigned int reported = 0; reported < 2; reported++) {
		struct sim *s = sim_new(1);

		s->mask[KTAPE_EV_SOFTIRQ_RAISE / 64] |=
			1ULL << (KTAPE_EV_SOFTIRQ_RAISE % 64);
		make_gap(s, reported);
		verify_load_check(s);
		/* The missing packet is one finding; its consequences are none. */
		check_rule(reported ? KTAPE_RULE_LEDGER : KTAPE_RULE_SEQUENCE);
		remove_loaded_trace(s);
	}
}

static const struct tap_test tests[] = {
	{ "a packet is full before a stop and a start", test_load_before_stop },
	{ "a packet is full before switches are disabled", test_load_before_profile },
	{ "a packet is full before a filter", test_filter },
	{ "a packet is full without a change", test_nothing },
	{ "calls that continue in a gap", test_gap },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
