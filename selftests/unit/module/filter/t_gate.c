// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test duration gates with the module's own source: while one context handles a
 * pair, another one is run at each of its instructions, like another CPU or an
 * interrupt, and takes over the slot of a pair of an earlier epoch.
 *
 * A pair is the begin and the end of something, here of a timer.  Its begin takes a slot and is
 * held back (KT_FILTERED); its end becomes a span if it took long enough (KT_SPAN), is held back
 * if not, and passes (KT_PASS) if its begin has no slot.  kt_gates_renew() begins an epoch: then
 * open pairs have no end, and others may take their slots.
 *
 * The two pairs hash to the same slot. "ours" began in the earlier epoch, "new"
 * begins in the present one.
 */
#include "filter/filter.h"
#include "step.h"
#include "tap.h"

#define SLOT_BITS 12 /* as in module/filter/gate.c */
#define ROOM	  4096
#define GATE_NS	  1000
#define LONG_NS	  5000
#define SHORT_NS  10

struct task_struct *gate_current;
unsigned int gate_cpu;
u64 kt_shim_time;

static struct task_struct thread;

static struct {
	struct kt_gates *gates;
	u32 ours, new;	       /* the first arguments of two timers */
	enum kt_result result; /* result of the operation that is stopped */
	enum kt_result begun;  /* result of the begin at the stop */
	enum kt_result ended;  /* result of the end there, if there is one */
	u64 start; /* start of the span that the operation returned */
	void (*come_in)(void);
} w;

/* Return the key of a pair, as module/filter/gate.c computes it. */
static unsigned long key_of_timer(u32 token)
{
	return (unsigned long)token << 3 | (KTAPE_GATE_TIMER + 1);
}

static enum kt_result pass_gates(u32 opcode, u32 token, u64 *start)
{
	const u32 args[] = { token, 7 };
	const struct kt_record rec = {
		.code = KT_CODE(opcode, 0, 0, 2),
		.nargs = 2,
		.args = args,
	};
	struct kt_span span = {};
	enum kt_result result = kt_gates_pass(w.gates, &rec, &span);

	if (start)
		*start = span.args[1] | (u64)span.args[2] << 32;
	return result;
}

static enum kt_result begin_timer(u32 token)
{
	return pass_gates(KTAPE_EV_TIMER_EXPIRE_ENTRY, token, NULL);
}

static enum kt_result end_timer(u32 token, u64 *start)
{
	return pass_gates(KTAPE_EV_TIMER_EXPIRE_EXIT, token, start);
}

static void prepare_gate(void)
{
	static const struct ktape_filter_gate entry = {
		.gate = KTAPE_GATE_TIMER,
		.ns = GATE_NS,
	};

	kt_gates_free(w.gates);
	kt_shim_time = 1000000;
	w.gates = kt_gates_alloc(&entry, 1);
	if (!w.gates)
		abort();
	w.begun = w.ended = KT_PASS;
	w.start = 0;
	gate_current = &thread;
}

/* Begin our pair in an earlier epoch, long ago. */
static void prepare_stale(void)
{
	prepare_gate();
	begin_timer(w.ours);
	kt_gates_renew(w.gates);
	kt_shim_time += LONG_NS;
}

static void end_ours(void *unused)
{
	(void)unused;
	w.result = end_timer(w.ours, &w.start);
}

static void begin_ours(void *unused)
{
	(void)unused;
	w.result = begin_timer(w.ours);
}

static void hold_ours(void *unused)
{
	const u32 args[] = { w.ours };
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_TIMER_EXPIRE_EXIT, 0, 0, 1),
		.nargs = 1,
		.args = args,
	};

	(void)unused;
	kt_gates_rejected(w.gates, &rec);
}

static void begin_new(void *unused)
{
	(void)unused;
	w.result = begin_timer(w.new);
}

static void come_begin_new(void)
{
	w.begun = begin_timer(w.new);
}

static void come_whole_ours(void)
{
	w.begun = begin_timer(w.ours);
	kt_shim_time += LONG_NS;
	w.ended = end_timer(w.ours, NULL);
}

static void stopped(void *unused)
{
	(void)unused;
	w.come_in();
}

/* Check that the pair that began at the stop ends with its own duration. */
static bool new_pair_is_whole(void)
{
	u64 start = 0, began = kt_shim_time;

	if (w.begun != KT_FILTERED) {
		tap_fail("the new pair got no slot");
		return false;
	}
	kt_shim_time += LONG_NS;
	if (end_timer(w.new, &start) != KT_SPAN) {
		tap_fail("the new pair has no end");
		return false;
	}
	if (start != began) {
		tap_fail("the new pair began at %llu, its span says %llu",
			 (unsigned long long)began, (unsigned long long)start);
		return false;
	}
	return true;
}

/*
 * Interrupt @operation at each of its instructions, each time in the state that
 * @ready sets up. @judge checks the result.
 */
static void sweep_gate_operation(void (*ready)(void), void (*operation)(void *),
				 void (*come_in)(void), bool (*judge)(void))
{
	static uintptr_t where[ROOM];
	size_t number, i;

	ready();
	w.come_in = come_in;
	number = step_trace(operation, NULL, where, ROOM);
	check(number > 20 && number < ROOM, "%zu instructions", number);
	for (i = 0; i < number; i++) {
		struct step step = { .at = where[i], .stopped = stopped };

		ready();
		step_run(operation, NULL, &step);
		if (!step.hit)
			continue;
		if (!judge()) {
			snprintf(tap_why + strlen(tap_why),
				 sizeof(tap_why) - strlen(tap_why),
				 ", at instruction %zu of %zu", i, number);
			return;
		}
	}
	tap_note("%zu instructions", number);
}

static bool check_end(void)
{
	if (w.result != KT_PASS) {
		tap_fail("a pair of an earlier epoch got an end: result %u, start %llu",
			 w.result, (unsigned long long)w.start);
		return false;
	}
	return new_pair_is_whole();
}

static void test_end(void)
{
	sweep_gate_operation(prepare_stale, end_ours, come_begin_new, check_end);
}

static bool check_begin(void)
{
	u64 start = 0;

	if (!new_pair_is_whole())
		return false;
	if (w.result != KT_FILTERED || end_timer(w.ours, &start) != KT_SPAN) {
		tap_fail("our pair has no end");
		return false;
	}
	return true;
}

static void test_begin(void)
{
	sweep_gate_operation(prepare_stale, begin_ours, come_begin_new, check_begin);
}

static void test_held(void)
{
	sweep_gate_operation(prepare_stale, hold_ours, come_begin_new,
			     new_pair_is_whole);
}

/* A pair begins and ends while its old slot is being taken over. */
static bool check_taken_over(void)
{
	if (w.begun != KT_FILTERED || w.ended != KT_SPAN) {
		tap_fail("a pair on another CPU is incomplete: %u, %u", w.begun,
			 w.ended);
		return false;
	}
	kt_shim_time += LONG_NS;
	if (w.result != KT_FILTERED || end_timer(w.new, NULL) != KT_SPAN) {
		tap_fail("the pair that was interrupted has no end");
		return false;
	}
	return true;
}

static void test_taken_over(void)
{
	sweep_gate_operation(prepare_stale, begin_new, come_whole_ours,
			     check_taken_over);
}

/* Without interruption: long, short, no pair, another epoch, no slot. */
static void test_alone(void)
{
	u64 start;
	unsigned int i;

	prepare_gate();
	start = kt_shim_time;
	check_equal(begin_timer(1), KT_FILTERED);
	kt_shim_time += LONG_NS;
	check_equal(end_timer(1, &w.start), KT_SPAN);
	check_equal(w.start, start);
	check_equal(end_timer(1, NULL), KT_PASS);
	check_equal(begin_timer(1), KT_FILTERED);
	kt_shim_time += SHORT_NS;
	check_equal(end_timer(1, NULL), KT_FILTERED);
	check_equal(begin_timer(1), KT_FILTERED);
	kt_gates_renew(w.gates);
	check_equal(end_timer(1, NULL), KT_PASS);
	for (i = 0; !kt_gates_collisions(w.gates); i++)
		begin_timer(i);
	check(i > 1000, "a collision with %u open pairs", i);
	kt_gates_renew(w.gates);
	check_equal(begin_timer(i - 1), KT_FILTERED);
	check_equal(kt_gates_collisions(w.gates), 1);
}

static const struct tap_test tests[] = {
	{ "alone: long and short pairs, epochs, no free slot", test_alone },
	{ "end: the slot is taken while its old pair ends", test_end },
	{ "begin: the slot is taken while its old pair begins anew", test_begin },
	{ "held: the slot is taken while a filter gives its pair up", test_held },
	{ "taken over: a pair begins while its old slot is taken", test_taken_over },
};

int main(int argc, char **argv)
{
	unsigned long slot;

	if (!step_init()) {
		printf("TAP version 13\n1..0 # SKIP no single steps here\n");
		return 0;
	}
	w.ours = 1;
	slot = hash_long(key_of_timer(w.ours), SLOT_BITS);
	for (w.new = w.ours + 1;
	     hash_long(key_of_timer(w.new), SLOT_BITS) != slot; w.new += 1)
		;
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
