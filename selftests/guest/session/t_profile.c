// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the profile: which masks and flags are valid, what each operation changes,
 * and that exactly the events in it are recorded. Markers, context records and
 * probes are in t_profile_live.c.
 */
#include "kselftest_harness.h"

#include "kt_ring.h"

#define LOAD_CPU 0
#define CALLS	 500
/* Opcodes below are of class control. */
#define FIRST_OF_EVENTS KTAPE_OP_EXCEPTION

static const bool exists[KTAPE_OPCODES] = {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) [opcode] = true,
#include <ktape/events.h>
};

FIXTURE(profile)
{
	int main;
	int fd;		      /* our own session */
	struct kt_map events; /* ring of LOAD_CPU, where this test runs */
	struct kt_map control;
};

FIXTURE_SETUP(profile)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 1 << 20, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT,
				 &self->events));
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_CONTROL,
				 &self->control));
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
}

FIXTURE_TEARDOWN(profile)
{
	close(self->fd);
	close(self->main);
}

/* Return the profile in force. */
static struct ktape_profile get_profile(int fd)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_GET };

	kt_profile(fd, &p);
	return p;
}

/* ---- masks ------------------------------------------------------------- */

/* Return the bits of class control in the first word: they are always set. */
static __u64 control_bits(void)
{
	__u64 mask[KTAPE_MASK_WORDS] = {};

	for (int op = 0; op < FIRST_OF_EVENTS; op++)
		if (exists[op])
			kt_ops_add(mask, op);
	return mask[0];
}

/* The bit of each opcode is accepted if there is such an event, and otherwise changes nothing. */
TEST_F(profile, every_bit)
{
	const __u64 control = control_bits();

	for (__u32 op = KTAPE_PROFILE_SET; op <= KTAPE_PROFILE_ANDNOT; op++) {
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
					    KTAPE_EV_SCHED_SWITCH, 0, 0));
		for (int bit = 0; bit < KTAPE_OPCODES; bit++) {
			const struct ktape_profile before = get_profile(self->fd);
			struct ktape_profile p = { .op = op }, after;

			kt_ops_add(p.mask, bit);
			EXPECT_EQ(exists[bit] ? 0 : -EINVAL,
				  kt_profile(self->fd, &p))
			{
				TH_LOG("op %u, bit %d", op, bit);
			}
			after = get_profile(self->fd);
			EXPECT_EQ(control, after.mask[0] & control);
			if (exists[bit]) {
				EXPECT_EQ(0, memcmp(&p.mask, &after.mask,
						    sizeof(p.mask)));
				continue;
			}
			EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
		}
	}
}

/* One wrong bit among valid ones: the whole mask is refused. */
TEST_F(profile, all_or_nothing)
{
	const struct ktape_profile before = get_profile(self->fd);
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET }, after;

	memset(p.mask, 0xff, sizeof(p.mask));
	EXPECT_EQ(-EINVAL, kt_profile(self->fd, &p));
	memset(p.mask, 0, sizeof(p.mask));
	kt_ops_add(p.mask, KTAPE_EV_SYS_ENTER);
	kt_ops_add(p.mask, KTAPE_TIME_EXTEND);
	EXPECT_EQ(-EINVAL, kt_profile(self->fd, &p));
	after = get_profile(self->fd);
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(profile, operations)
{
	const unsigned int sw = KTAPE_EV_SCHED_SWITCH, in = KTAPE_EV_SYS_ENTER;
	const unsigned int fork = KTAPE_EV_PROCESS_FORK;
	const struct {
		__u32 op;
		unsigned int a, b; /* opcodes in the mask, 0 = none */
		bool sw, in, fork; /* afterwards */
	} vector[] = {
		{ KTAPE_PROFILE_SET, sw, in, true, true, false },
		{ KTAPE_PROFILE_OR, fork, in, true, true, true },
		{ KTAPE_PROFILE_ANDNOT, sw, 0, false, true, true },
		{ KTAPE_PROFILE_ANDNOT, sw, in, false, false, true },
		{ KTAPE_PROFILE_GET, sw, in, false, false, true },
		{ KTAPE_PROFILE_OR, 0, 0, false, false, true },
		{ KTAPE_PROFILE_SET, sw, 0, true, false, false },
		{ KTAPE_PROFILE_SET, 0, 0, false, false, false },
	};
	__u32 generation = get_profile(self->fd).generation;

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		struct ktape_profile p = { .op = vector[i].op };

		kt_ops_add(p.mask, vector[i].a);
		kt_ops_add(p.mask, vector[i].b);
		p.mask[0] &= ~1ULL;
		ASSERT_EQ(0, kt_profile(self->fd, &p));
		generation += p.op != KTAPE_PROFILE_GET;
		EXPECT_EQ(generation, p.generation);
		EXPECT_EQ(vector[i].sw, kt_ops_has(p.mask, sw));
		EXPECT_EQ(vector[i].in, kt_ops_has(p.mask, in));
		EXPECT_EQ(vector[i].fork, kt_ops_has(p.mask, fork));
		EXPECT_EQ(sizeof(p), p.size);
		EXPECT_EQ(vector[i].op, p.op);
	}
}

/* Of an event's two forms, only the wide one stays in a mask that would have both. */
TEST_F(profile, wide_replaces_short)
{
	const unsigned int fast[] = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT };
	const unsigned int wide[] = { KTAPE_EV_SYS_ENTER_WIDE,
				      KTAPE_EV_SYS_EXIT_WIDE };
	struct ktape_profile p;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
					    fast[i], wide[i], fast[!i]));
		p = get_profile(self->fd);
		EXPECT_FALSE(kt_ops_has(p.mask, fast[i]));
		EXPECT_TRUE(kt_ops_has(p.mask, wide[i]));
		EXPECT_TRUE(kt_ops_has(p.mask, fast[!i]));
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR, fast[i],
					    0, 0));
		EXPECT_FALSE(kt_ops_has(get_profile(self->fd).mask, fast[i]));
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
					    fast[i], 0, 0));
		EXPECT_TRUE(kt_ops_has(get_profile(self->fd).mask, fast[i]));
	}
}

TEST_F(profile, flags)
{
	struct ktape_profile p;

	for (unsigned int bit = 0; bit < 32; bit++) {
		p = (struct ktape_profile){ .op = KTAPE_PROFILE_SET,
					    .flags = 1U << bit };
		EXPECT_EQ(p.flags == KTAPE_PROFILE_NO_CONTEXT ? 0 : -EINVAL,
			  kt_profile(self->fd, &p));
	}
	EXPECT_EQ(KTAPE_PROFILE_NO_CONTEXT, get_profile(self->fd).flags);
	for (__u32 op = 0; op <= KTAPE_PROFILE_ANDNOT; op++) {
		p = (struct ktape_profile){ .op = op,
					    .flags = KTAPE_PROFILE_NO_CONTEXT };
		EXPECT_EQ(op == KTAPE_PROFILE_SET ? 0 : -EINVAL,
			  kt_profile(self->fd, &p));
	}
	/* OR and ANDNOT keep the flags, SET replaces them. */
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	EXPECT_EQ(KTAPE_PROFILE_NO_CONTEXT, get_profile(self->fd).flags);
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	EXPECT_EQ(0, get_profile(self->fd).flags);
}

/* Session 0 was loaded without parameters. */
TEST_F(profile, default_of_session_0)
{
	static const unsigned int on[] = {
		KTAPE_EV_SCHED_SWITCH, KTAPE_EV_SCHED_WAKEUP,
		KTAPE_EV_PROCESS_FORK, KTAPE_EV_IRQ_HANDLER_ENTRY,
		KTAPE_EV_SOFTIRQ_EXIT,
	};
	struct ktape_profile p = get_profile(self->main);

	for (size_t i = 0; i < ARRAY_SIZE(on); i++)
		EXPECT_TRUE(kt_ops_has(p.mask, on[i]));
	for (int op = KTAPE_EV_SYS_ENTER; op <= KTAPE_EV_SYS_EXIT_WIDE; op++)
		EXPECT_FALSE(kt_ops_has(p.mask, op));
}

/* ---- counts ------------------------------------------------------------ */

/* Records of getppid() by event, and other records of events. */
struct tally {
	long enter, exit, enter_wide, exit_wide, other;
	long mismatched; /* exits with a different result */
};

static void count_call_records(const struct kt_rec *r, void *arg)
{
	struct tally *t = arg;
	long nr = r->dat20 & 0xffff;
	const char *ret = NULL;

	if (r->op < KTAPE_EV_SYS_ENTER || r->op > KTAPE_EV_SYS_EXIT_WIDE) {
		/* Not what ktape adds by itself; a name comes when a kernel worker starts or ends. */
		t->other +=
			r->op != KTAPE_TIME_EXTEND && r->op != KTAPE_EV_TRACER &&
			r->op != KTAPE_EV_REGISTRY && r->op != KTAPE_EV_CONTEXT;
		return;
	}
	if (nr != SYS_getppid)
		return;
	t->enter += r->op == KTAPE_EV_SYS_ENTER;
	t->exit += r->op == KTAPE_EV_SYS_EXIT;
	t->enter_wide += r->op == KTAPE_EV_SYS_ENTER_WIDE;
	t->exit_wide += r->op == KTAPE_EV_SYS_EXIT_WIDE;
	if (r->op == KTAPE_EV_SYS_EXIT)
		ret = (const char *)r->args;
	if (r->op == KTAPE_EV_SYS_EXIT_WIDE)
		ret = r->blob;
	if (ret) {
		int64_t pid;

		memcpy(&pid, ret, sizeof(pid));
		t->mismatched += pid != getppid();
	}
}

FIXTURE(counts)
{
	int main;
};

/* The two events of the profile, and how many records of each kind a call must have. */
FIXTURE_VARIANT(counts)
{
	unsigned int a, b;
	long enter, exit, enter_wide, exit_wide;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(counts, none) { 0, 0 };
FIXTURE_VARIANT_ADD(counts, enter) { KTAPE_EV_SYS_ENTER, 0, 1, 0, 0, 0 };
FIXTURE_VARIANT_ADD(counts, exit) { KTAPE_EV_SYS_EXIT, 0, 0, 1, 0, 0 };
FIXTURE_VARIANT_ADD(counts, both)
{
	KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT, 1, 1, 0, 0
};
FIXTURE_VARIANT_ADD(counts, wide)
{
	KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT_WIDE, 0, 0, 1, 1
};
FIXTURE_VARIANT_ADD(counts, mixed)
{
	KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT, 0, 1, 1, 0
};
FIXTURE_VARIANT_ADD(counts, enter_over_wide)
{
	KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_ENTER_WIDE, 0, 0, 1, 0
};
/* clang-format on */

FIXTURE_SETUP(counts)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
}

FIXTURE_TEARDOWN(counts)
{
	close(self->main);
}

/*
 * Record three times CALLS calls with the two events on, and as many with both off,
 * of which none may be recorded. Another session records system calls meanwhile,
 * which must not matter.
 */
TEST_F(counts, exact)
{
	int fd = kt_create(self->main, 0, 1 << 20, 0);
	int noise = kt_create(self->main, 0, 1 << 16, 0);
	struct tally t = {};
	struct kt_map m;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_map_ring(fd, LOAD_CPU, KTAPE_RING_EVENT, &m));
	ASSERT_EQ(0, kt_profile_ops(noise, KTAPE_PROFILE_SET, KTAPE_EV_SYS_ENTER,
				    KTAPE_EV_SYS_EXIT_WIDE, KTAPE_EV_SCHED_SWITCH));
	ASSERT_EQ(0, kt_control(noise, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_OR, variant->a, variant->b, 0));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_ANDNOT, variant->a,
				    variant->b, 0));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_SET, variant->a,
				    variant->b, 0));
	kt_getppids(2 * CALLS);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	kt_getppids(CALLS);
	ASSERT_EQ(0, m.page->tail);
	EXPECT_LE(0, kt_walk(&m, count_call_records, &t));
	EXPECT_EQ(3 * CALLS * variant->enter, t.enter);
	EXPECT_EQ(3 * CALLS * variant->exit, t.exit);
	EXPECT_EQ(3 * CALLS * variant->enter_wide, t.enter_wide);
	EXPECT_EQ(3 * CALLS * variant->exit_wide, t.exit_wide);
	EXPECT_EQ(0, t.mismatched);
	EXPECT_EQ(0, t.other);
}

TEST_HARNESS_MAIN
