// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what a recorder learns of a session's profile from control records, because the next piece
 * of a rotating log begins with that: an on-marker sets the profile, an off-marker leaves what it
 * names, and the off-marker of a stop, which names nothing, ends it.
 */
#include "lib_trace.h"
#include "stream/state.h"

#define SWITCH	       BIT_OF(KTAPE_EV_SCHED_SWITCH)
#define WAKING	       BIT_OF(KTAPE_EV_SCHED_WAKING)
#define BIT_OF(opcode) (1ULL << ((opcode) % 64))

/* Have @s learn a packet with one profile record, with @mask in the word of these two events. */
static void learn_profile_record(struct kt_state *s, uint32_t phase,
				 uint32_t generation, uint64_t mask)
{
	unsigned char data[TRACE_PACKET];
	uint64_t words[KTAPE_MASK_WORDS] = { [KTAPE_EV_SCHED_SWITCH / 64] = mask };
	const struct ktape_block head = { .kind = KTAPE_RING_CONTROL, .seq = 1 };
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_PROFILE,
		.ts = 1,
		.dat20 = phase,
		.args = &generation,
		.nargs = 1,
		.blob = words,
		.blob_size = sizeof(words),
	};
	struct ktape_builder b;

	ktape_build_begin(&b, data, sizeof(data), &head);
	if (ktape_build_add(&b, &rec))
		abort();
	kt_state_learn(s, data, ktape_build_end(&b, 2, 0));
}

/* Expect that @mask is known as the profile, or with 0 that none is. */
static void expect_profile(const struct kt_state *s, uint32_t generation,
			   uint64_t mask)
{
	check_equal(s->generation, generation);
	check_equal(s->profile, mask != 0);
	check_equal(s->mask[KTAPE_EV_SCHED_SWITCH / 64], mask);
}

static void test_profile(void)
{
	struct kt_state s = {};

	check_equal(KTAPE_EV_SCHED_SWITCH / 64, KTAPE_EV_SCHED_WAKING / 64);
	/* An off-marker alone does not say what is in force. */
	learn_profile_record(&s, KTAPE_PHASE_OFF, 1, SWITCH);
	expect_profile(&s, 1, 0);
	learn_profile_record(&s, KTAPE_PHASE_ON, 2, SWITCH | WAKING);
	expect_profile(&s, 2, SWITCH | WAKING);
	/* The profile loses an event: no on-marker follows. */
	learn_profile_record(&s, KTAPE_PHASE_OFF, 3, SWITCH);
	expect_profile(&s, 3, SWITCH);
	/* An off-marker adds nothing. */
	learn_profile_record(&s, KTAPE_PHASE_OFF, 4, SWITCH | WAKING);
	expect_profile(&s, 4, SWITCH);
	/* A stop. */
	learn_profile_record(&s, KTAPE_PHASE_OFF, 5, 0);
	expect_profile(&s, 5, 0);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "profile: on, narrowed, stopped", test_profile },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
