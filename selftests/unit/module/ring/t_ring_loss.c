// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lose events at every instruction of what takes the losses of a ring for a record.
 *
 * Each loss must be counted in exactly one interval, no interval may be empty, and an
 * interval must begin with the time of its first loss and end with that of its last: else a
 * loss record names a time at which nothing was lost, or leaves out one.
 */
#include "rig.h"
#include "step.h"
#include "tap.h"

#define BLOCK_SIZE 512UL
#define BLOCKS	   4
#define ROOM	   512 /* instructions of kt_ring_loss_take(), at most */
#define CLASS	   5
#define REASON	   KTAPE_LOST_FULL

static struct rig rig;
static struct kt_loss taken;
static bool is_taken;
static unsigned int interrupted; /* instructions at which a loss came */
static u64 nested_at;		 /* time of the loss that interrupts */

/* Lose an event now.  Return: its time. */
static u64 lose_one(void)
{
	kt_shim_time += 10;
	kt_ring_lose(&rig.ring, REASON, CLASS);
	return kt_shim_time;
}

static void take(void *arg)
{
	(void)arg;
	is_taken = kt_ring_loss_take(&rig.ring, CLASS, &taken);
}

static void lose_in_between(void *arg)
{
	(void)arg;
	nested_at = lose_one();
}

/* Take what was lost twice before, interrupted by a loss at this instruction. */
static void take_losses_interrupted(uintptr_t at)
{
	struct step step = { .at = at, .stopped = lose_in_between };
	struct kt_loss first;
	u64 begin, last;

	kt_shim_time = 1000;
	rig_again(&rig, KTAPE_MODE_DISCARD, 0);
	begin = lose_one();
	last = lose_one();
	step_run(take, NULL, &step);
	if (!step.hit)
		return;
	interrupted++;
	check(is_taken, "no loss is pending");
	first = taken;
	take(NULL);
	check_equal(first.first, begin);
	check_equal(first.reported + (is_taken ? taken.reported : 0), 3);
	if (!is_taken) {
		/* All three are in the first interval. */
		check_equal(first.last, nested_at);
		return;
	}
	check_equal(first.reported, 2);
	check_equal(first.last, last);
	check_equal(taken.first, nested_at);
	check_equal(taken.last, nested_at);
}

static void test_loss_at_each_instruction(void)
{
	static uintptr_t where[ROOM];
	size_t number;

	rig_again(&rig, KTAPE_MODE_DISCARD, 0);
	lose_one();
	number = step_trace(take, NULL, where, ROOM);
	check(number > 10 && number < ROOM, "%zu instructions", number);
	for (size_t i = 0; i < number && !tap_why[0]; i++) {
		take_losses_interrupted(where[i]);
		if (tap_why[0])
			printf("# at instruction %zu of %zu\n", i, number);
	}
	/* step_trace() also notes instructions around the call, which step_run() does not reach. */
	check(interrupted > number / 2, "%u of %zu instructions were reached",
	      interrupted, number);
	tap_note("%u instructions", interrupted);
}

static const struct tap_test tests[] = {
	{ "a loss at each instruction of kt_ring_loss_take()",
	  test_loss_at_each_instruction },
};

int main(int argc, char **argv)
{
	if (!step_init()) {
		printf("TAP version 13\n1..0 # SKIP no single steps here\n");
		return 0;
	}
	rig_make(&rig, BLOCK_SIZE, BLOCKS, KTAPE_MODE_DISCARD, 0);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
