// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the truth table of four kinds of filters on one event (the filters of RKH,
 * a tracer whose `--suppress` and `--pass` the command has): it is recorded if its
 * group, the event, its object and its signal all pass. A group is a class of
 * events, an object a thread.
 */
#include "kselftest_harness.h"

#include "kt_filter.h"

#define TIMES  25
#define RING   (1U << 20)
#define SIGNAL SIGUSR1

/* Bits of a row. */
#define GROUP  1 /* the class is in the profile */
#define EVENT  2 /* the opcode is in the profile */
#define OBJECT 4 /* the pid filter names us, else another process */
#define NUMBER 8 /* the bitmap of signals has our signal */
#define ROWS   16

static void count_own_signals(const struct kt_rec *r, struct kt_tally *t)
{
	uint64_t *n = t->arg;

	*n += r->op == KTAPE_EV_SIGNAL_GENERATE && (r->dat20 & 127) == SIGNAL &&
	      (pid_t)r->args[0] == getpid();
}

/*
 * A profile has a bit for each event and none for a class: without GROUP it has no event of the
 * class, whatever EVENT says.
 */
static int set_row_profile(int fd, int row)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET,
				   .flags = KTAPE_PROFILE_NO_CONTEXT };

	for (int op = KTAPE_OP_EXCEPTION; row & GROUP && op < 255; op++)
		if (kts_shapes[op].name && kts_shapes[op].class == KTAPE_CLASS_SIGNAL)
			kt_ops_add(p.mask, op);
	if (!(row & EVENT))
		p.mask[KTAPE_EV_SIGNAL_GENERATE / 64] &=
			~(1ULL << KTAPE_EV_SIGNAL_GENERATE % 64);
	return kt_profile(fd, &p);
}

static int set_row_filters(int fd, int row, pid_t other)
{
	return kt_filter_pid(fd, row & OBJECT ? getpid() : other, 0) ?:
		       kt_filter_bit(fd, KTAPE_FILTER_SIGNAL, 1, SIGNAL - 1,
				     row & NUMBER);
}

FIXTURE(truth){};

FIXTURE_SETUP(truth)
{
}

FIXTURE_TEARDOWN(truth)
{
}

TEST_F_TIMEOUT(truth, sixteen_rows, 120)
{
	pid_t other = fork();

	if (!other)
		for (;;)
			pause();
	signal(SIGNAL, kt_on_alarm);
	for (int row = 0; row < ROWS; row++) {
		bool wanted = (row & (GROUP | EVENT)) == (GROUP | EVENT);
		bool pass = row == ROWS - 1;
		int fd = kt_session(0, RING, 0, KT_OPS(0));
		uint64_t recorded = 0;
		struct kt_tally t;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, set_row_profile(fd, row));
		ASSERT_EQ(0, set_row_filters(fd, row, other));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		for (int i = 0; i < TIMES; i++)
			raise(SIGNAL);
		kt_stop_and_tally(&t, fd, count_own_signals, &recorded);
		TH_LOG("group %d event %d object %d signal %d: %llu of %d",
		       !!(row & GROUP), !!(row & EVENT), !!(row & OBJECT),
		       !!(row & NUMBER), (unsigned long long)recorded, TIMES);
		EXPECT_EQ(0, t.wrong);
		EXPECT_EQ(pass ? TIMES : 0, recorded);
		/*
		 * An event that is not in the profile is not counted as
		 * emitted.
		 */
		if (wanted && !pass)
			EXPECT_LE(TIMES, t.filtered[KTAPE_CLASS_SIGNAL]);
		if (!(row & GROUP))
			EXPECT_EQ(0, t.filtered[KTAPE_CLASS_SIGNAL]);
		close(fd);
	}
	kill(other, SIGKILL);
}

TEST_HARNESS_MAIN
