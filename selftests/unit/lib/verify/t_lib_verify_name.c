// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that verify needs the name of each thread, except of one that had ended before
 * the module was loaded and still ran to its last switch, and of one whose name made room
 * for another one.
 */
#include "lib_sim_work.h"

#define CPU	  1U
#define GHOST	  997  /* thread without a name */
#define GHOSTS	  1100 /* more than verify remembers */
#define FUNCTIONS 1100U

struct result {
	int ret; /* of the run */
	uint64_t errors;
	uint64_t notes;
	char first[200];
	uint64_t first_ts;
};

static struct result result;

static void verify_name_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (f->rule != KTAPE_RULE_NAME || *r->first)
		return;
	snprintf(r->first, sizeof(r->first), "%s", f->text);
	r->first_ts = f->ts;
}

/* Verify a session into @result without a stop before, and free it. */
static void check_as_it_is(struct sim *s)
{
	const struct ktape_verify_options how = { .finding = verify_name_finding,
						  .arg = &result };
	struct ktape_verify *v;
	const char *folder = trace_folder();

	sim_finish(s);
	memset(&result, 0, sizeof(result));
	sim_save(s, folder, 0);
	if (ktape_verify_open(folder, &how, &v, NULL))
		abort();
	result.ret = ktape_verify_run(v);
	result.errors = ktape_verify_count(v, KTAPE_RULE_NAME, &result.notes);
	ktape_verify_close(v);
	trace_remove(folder);
	sim_free(s);
}

static void verify_name_check(struct sim *s)
{
	sim_stop(s);
	check_as_it_is(s);
}

static struct sim *begin_in(uint32_t mode)
{
	struct sim *s = sim_new(1);

	s->mode = mode;
	s->mask[KTAPE_EV_PROCESS_EXIT / 64] |= 1ULL << KTAPE_EV_PROCESS_EXIT % 64;
	s->mask[KTAPE_EV_TASKLET_ENTRY / 64] |= 1ULL << KTAPE_EV_TASKLET_ENTRY % 64;
	sim_start(s);
	sim_work(s, 200);
	return s;
}

static struct sim *begin_overwrite(void)
{
	return begin_in(KTAPE_MODE_OVERWRITE);
}

/* @tid runs on CPU and leaves it in @state. */
static void run_thread(struct sim *s, int32_t tid, unsigned int state)
{
	uint32_t before = (uint32_t)s->tid[CPU];

	sim_event(s, CPU, KTAPE_EV_SCHED_SWITCH, 0, 2, before, (uint32_t)tid);
	sim_event(s, CPU, KTAPE_EV_SCHED_SWITCH, state << 16, 2, (uint32_t)tid,
		  before);
}

static void test_last_switch(void)
{
	static const unsigned int states[] = { KTAPE_STATE_X, KTAPE_STATE_Z };

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++) {
		struct sim *s = begin_overwrite();

		run_thread(s, GHOST, KTAPE_STATE_PREEMPTED);
		run_thread(s, GHOST, states[i]);
		sim_work(s, 200);
		verify_name_check(s);
		check(!result.ret, "%d wrong: %s", result.ret, result.first);
		check_equal(result.notes, 1);
		check(strstr(result.first, "thread 997 has no name: it had ended"),
		      "%s", result.first);
	}
}

static void test_goes_on(void)
{
	struct sim *s = begin_overwrite();
	uint64_t then;

	then = s->now;
	run_thread(s, GHOST, KTAPE_STATE_S);
	sim_work(s, 200);
	verify_name_check(s);
	check_equal(result.ret, 1);
	check_equal(result.errors, 1);
	check(!strcmp(result.first, "thread 997 has no name"), "%s", result.first);
	/* The place is the thread's first event, although the finding came last. */
	check(result.first_ts >= then && result.first_ts < then + 1000,
	      "at %llu, the thread ran at %llu",
	      (unsigned long long)result.first_ts, (unsigned long long)then);
}

/* The module saw the exit, so it had to know the thread. */
static void test_exit(void)
{
	struct sim *s = begin_overwrite();

	run_thread(s, GHOST, KTAPE_STATE_PREEMPTED);
	sim_event(s, CPU, KTAPE_EV_PROCESS_EXIT, 0, 3, GHOST, GHOST);
	run_thread(s, GHOST, KTAPE_STATE_X);
	verify_name_check(s);
	check_equal(result.errors, 1);
	check(!strcmp(result.first, "thread 997 has no name"), "%s", result.first);
}

/* The last switch of another thread explains nothing. */
static void test_other(void)
{
	struct sim *s = begin_overwrite();

	run_thread(s, GHOST, KTAPE_STATE_S);
	run_thread(s, GHOST + 1, KTAPE_STATE_X);
	verify_name_check(s);
	check_equal(result.errors, 1);
	check_equal(result.notes, 1);
}

static void test_many(void)
{
	struct sim *s = begin_overwrite();

	for (int32_t i = 0; i < GHOSTS; i++)
		run_thread(s, GHOST + i, KTAPE_STATE_S);
	verify_name_check(s);
	check_equal(result.errors, GHOSTS);
}

/* More functions than the first table of what was looked up has room for. */
static void test_functions(void)
{
	struct sim *s = begin_overwrite();

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		sim_event(s, CPU, KTAPE_EV_TASKLET_ENTRY, 0, 2, i, 0x1000 + i);
	verify_name_check(s);
	check_equal(result.notes, FUNCTIONS);
}

/*
 * The disk was full: of a session that still recorded, the rings with the names end
 * before those with the events, or have not begun.
 */
static void test_names_cut_off(void)
{
	enum { LATE, EARLY, NONE, CASES };

	for (int i = LATE; i < CASES; i++) {
		struct sim *s = sim_new(1);

		s->mode = KTAPE_MODE_DISCARD;
		sim_start(s);
		sim_work(s, 200);
		if (i == EARLY)
			run_thread(s, GHOST, KTAPE_STATE_S);
		for (unsigned int r = KTAPE_RING_CONTROL; r < SIM_RINGS; r += 2) {
			sim_close(s, &s->ring[r], sim_sum(s->ring[r].emitted),
				  false);
			while (i == NONE && s->ring[r].nr)
				sim_remove(s, r, 0);
		}
		sim_work(s, 200);
		if (i != EARLY)
			run_thread(s, GHOST, KTAPE_STATE_S);
		check_as_it_is(s);
		check_equal(result.errors, i == EARLY);
		check(strstr(result.first, i == EARLY ? "thread 997 has no name" :
							"in what was not written"),
		      "%d: %s", i, result.first);
	}
}

/* The death of a thread, as an event ring of an overwrite session has it. */
static void record_death(struct sim *s, int32_t tid, uint64_t died)
{
	const uint32_t args[7] = {
		(uint32_t)tid,	(uint32_t)tid,	       0, 0, 0,
		(uint32_t)died, (uint32_t)(died >> 32)
	};
	const struct ktape_record rec = { .opcode = KTAPE_EV_REGISTRY,
					  .dat20 = KTAPE_OBJ_THREAD | 1 << 8,
					  .args = args,
					  .nargs = 7,
					  .blob = "ended",
					  .blob_size = 5 };

	s->ring[CPU * 2 + KTAPE_RING_EVENT].emitted[KTAPE_CLASS_CONTROL]++;
	sim_write(s, CPU, KTAPE_RING_EVENT, &rec);
}

/* Lose the first packets of the event rings, as if they had been overwritten. */
static void lose_first_packets(struct sim *s)
{
	for (unsigned int r = KTAPE_RING_EVENT; r < SIM_RINGS; r += 2) {
		sim_close(s, &s->ring[r], sim_sum(s->ring[r].emitted), false);
		while (s->ring[r].nr)
			sim_remove(s, r, 0);
	}
}

/*
 * A full table forgets first what died first.  So a thread that was there after others
 * had died, or beside a table that is not full, has a name; and so has each thread if no
 * ring with names was overwritten.  The smallest table has 64 entries, of which the threads that
 * live have 8.  Events up to 10 s (@late) behind the death of a thread can be its own, so what
 * counts is the first of @nr_dead, which died 1000 ticks after each other: 60 of them began to die
 * 59000 before @died.
 */
static void test_replaced(void)
{
	static const uint64_t start = 20000000000, late = 10000000000;
	static const struct {
		uint32_t nr_dead; /* threads that ended and whose names are recorded */
		int32_t ghosts; /* threads without a name */
		uint64_t died;	/* when the last of @nr_dead ended */
		bool wrong;
		bool whole;	  /* the event rings are */
		bool waits;	  /* discard mode */
		uint64_t in_ring; /* a death that an event ring has */
	} cases[] = {
		{ 60, 1, start + 100000, false, false, false, 0 },
		{ 60, 1, start - late + 100000, false, false, false, 0 },
		{ 60, 1, start - late + 50000, true, false, false, 0 },
		{ 60, GHOSTS, start + 100000, false, false, false, 0 },
		{ 60, 1, start - late - 1000, true, false, false, 0 },
		{ 60, GHOSTS, start - late - 1000, true, false, false, 0 },
		{ 50, 1, start, true, false, false, 0 },
		{ 0, 1, 0, true, false, false, 0 },
		{ 60, 1, start, true, true, false, 0 },
		{ 60, 1, start, true, false, true, 0 },
		{ 60, 1, start + 100000, false, false, false, start - late - 1000 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sim *s = sim_new(1);
		uint64_t nr = (uint64_t)cases[i].ghosts;

		s->now = start;
		s->nr_dead = cases[i].nr_dead;
		s->died = cases[i].died;
		s->mode = cases[i].waits ? KTAPE_MODE_DISCARD : KTAPE_MODE_OVERWRITE;
		sim_start(s);
		if (!cases[i].whole) {
			sim_work(s, 100);
			lose_first_packets(s);
		}
		if (cases[i].in_ring)
			record_death(s, GHOST - 1, cases[i].in_ring);
		for (int32_t g = 0; g < cases[i].ghosts; g++)
			run_thread(s, GHOST + g, KTAPE_STATE_S);
		verify_name_check(s);
		check(result.errors == (cases[i].wrong ? nr : 0) &&
			      result.notes == (cases[i].wrong ? 0 : nr),
		      "case %u: %llu wrong, %llu notes: %s", i,
		      (unsigned long long)result.errors,
		      (unsigned long long)result.notes, result.first);
		check(!!strstr(result.first, "another name took the place") ==
			      !cases[i].wrong,
		      "case %u: %s", i, result.first);
	}
}

/* The death of a thread, with its name, is in an event ring behind its events. */
static void test_name_late(void)
{
	struct sim *s = sim_new(1);

	s->mode = KTAPE_MODE_OVERWRITE;
	sim_start(s);
	run_thread(s, GHOST, KTAPE_STATE_S);
	sim_work(s, 200);
	record_death(s, GHOST, s->now);
	verify_name_check(s);
	check(!result.errors && !result.notes, "%s", result.first);
}

/* Record for how many names the module had no room. */
static void record_no_room(struct sim *s, uint32_t reason, uint64_t count)
{
	const uint32_t args[7] = { reason, (uint32_t)count,
				   (uint32_t)(count >> 32) };
	const struct ktape_record rec = { .opcode = KTAPE_EV_REGISTRY,
					  .dat20 = KTAPE_OBJ_NO_ROOM,
					  .args = args,
					  .nargs = 7,
					  .blob = "reason",
					  .blob_size = 6 };

	s->ring[CPU * 2 + KTAPE_RING_EVENT].emitted[KTAPE_CLASS_CONTROL]++;
	sim_write(s, CPU, KTAPE_RING_EVENT, &rec);
}

/* All reasons are in the message, or it says that there are more: it is not cut off. */
static void test_no_room_reasons(void)
{
	static const struct {
		uint64_t count;
		const char *end;
	} cases[] = {
		{ 2, "names: 2 at its limit (registry_max=), 2 for want of memory, 2 came faster than it grew" },
		{ 1ULL << 40,
		  "(registry_max=), 1099511627776 for want of memory, and more" },
		{ UINT64_MAX, " 18446744073709551615 for want of memory, and more" },
	};
	static const uint32_t reasons[] = { KTAPE_NO_ROOM_LIMIT,
					    KTAPE_NO_ROOM_MEMORY,
					    KTAPE_NO_ROOM_LATE };

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sim *s = begin_overwrite();
		const char *at;

		run_thread(s, GHOST, KTAPE_STATE_S);
		for (unsigned int k = 0; k < ARRAY_SIZE(reasons); k++)
			record_no_room(s, reasons[k], cases[i].count);
		verify_name_check(s);
		at = strstr(result.first, cases[i].end);
		check(at && !strcmp(at, cases[i].end), "case %u: %s", i,
		      result.first);
	}
}

/* Names that had no room are one note, with their number and the reason. */
static void test_no_room(void)
{
	static const struct {
		uint32_t reason;
		uint64_t count;
		int32_t ghosts;
		const char *text; /* NULL: wrong */
		bool persistent;
	} cases[] = {
		{ KTAPE_NO_ROOM_LIMIT, 5, 3,
		  "3 threads have no name: since it was loaded the module had no room for names: 5 at its limit (registry_max=)",
		  false },
		{ KTAPE_NO_ROOM_LIMIT, 1ULL << 32, 1, "4294967296 at", false },
		{ KTAPE_NO_ROOM_MEMORY, 1, GHOSTS, "1100 threads have no name",
		  false },
		{ KTAPE_NO_ROOM_MEMORY, 1, 1, "1 for want of memory", false },
		{ KTAPE_NO_ROOM_LATE, 1, 1, "came faster", false },
		{ KTAPE_NO_ROOM_REGION, 1, 1, "persistent memory", true },
		{ KTAPE_NO_ROOM_REGION, 1, 1, NULL, false },
		{ KTAPE_NO_ROOM_REFUSED, 1, 1, NULL, false },
		{ KTAPE_NO_ROOM_LIMIT, 0, 1, NULL, false },
		{ KTAPE_NO_ROOM_REASONS, 1, 1, NULL, false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sim *s = begin_in(cases[i].persistent ?
						 KTAPE_MODE_PERSISTENT :
						 KTAPE_MODE_OVERWRITE);

		for (int32_t g = 0; g < cases[i].ghosts; g++)
			run_thread(s, GHOST + g, KTAPE_STATE_S);
		record_no_room(s, cases[i].reason, cases[i].count);
		verify_name_check(s);
		check(result.errors == (cases[i].text ? 0 : 1) &&
			      result.notes == (cases[i].text ? 1 : 0),
		      "case %u: %llu wrong, %llu notes: %s", i,
		      (unsigned long long)result.errors,
		      (unsigned long long)result.notes, result.first);
		check(!cases[i].text || strstr(result.first, cases[i].text),
		      "case %u: %s", i, result.first);
	}
}

static const struct tap_test tests[] = {
	{ "a thread that ended before the load", test_last_switch },
	{ "a thread without a name that goes on", test_goes_on },
	{ "a thread without a name whose exit was recorded", test_exit },
	{ "another thread's last switch", test_other },
	{ "more threads without a name than are remembered", test_many },
	{ "more functions than the first table has room for", test_functions },
	{ "a trace whose names are cut off", test_names_cut_off },
	{ "a thread whose name made room for another one", test_replaced },
	{ "a name that comes behind the events", test_name_late },
	{ "names for which the module had no room", test_no_room },
	{ "reasons why the module had no room", test_no_room_reasons },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
