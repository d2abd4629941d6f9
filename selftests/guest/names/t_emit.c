// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that every form of event that a module or a program can emit arrives in
 * read() unchanged, once, and in order.
 */
#include "kselftest_harness.h"

#include "kt_emit.h"

#define MODULE	     "/tests/ktape_emit.ko"
#define SESSION_RING (64 << 10)
#define CODE(minor)  KTAPE_EXC_CODE(0x1234, minor)
#define HAS_BUFFER   8

static struct kt_emit_recs seen;

/* ---- exceptions ---------------------------------------------------------- */

/* Trace<n> and Trace<n>b; missing initialisers are zero. */
#define BOTH(severity, n, ...)                                                      \
	{ KTAPE_EV_EXCEPTION, severity, 1 + (n), { CODE(n), __VA_ARGS__ }, 0, "" }, \
	{                                                                           \
		KTAPE_EV_EXCEPTION, (severity) | HAS_BUFFER, 1 + (n),               \
			{ CODE(16 + (n)), __VA_ARGS__ }, 3, "buf"                   \
	}

#define ALL_TRACES                                                      \
	BOTH(KTAPE_SW_SEVERITY0, 0, 0), BOTH(KTAPE_SW_SEVERITY1, 1, 1), \
		BOTH(KTAPE_SW_SEVERITY2, 2, 1, 2),                      \
		BOTH(KTAPE_SW_SEVERITY3, 3, 1, 2, 3),                   \
		BOTH(KTAPE_HW_SEVERITY0, 4, 1, 2, 3, 4),                \
		BOTH(KTAPE_HW_SEVERITY1, 5, 1, 2, 3, 4, 5),             \
		BOTH(KTAPE_HW_SEVERITY3, 6, 1, 2, 3, 4, 5, 6)

static const struct kt_emit_rec kernel_exceptions[] = {
	ALL_TRACES,
	{ KTAPE_EV_EXCEPTION, KTAPE_HW_SEVERITY2 | HAS_BUFFER, 1, { CODE(32) }, 3, "buf" },
	{ 0 },
};

static const struct kt_emit_rec user_exceptions[] = {
	ALL_TRACES,
	/* An empty buffer differs from no buffer. */
	{ KTAPE_EV_EXCEPTION, KTAPE_HW_SEVERITY2 | HAS_BUFFER, 1, { CODE(33) }, 0, "" },
	{ 0 },
};

/* ---- markers and user events ---------------------------------------------- */

#define MARK(NAME, task, id, message)                                          \
	{                                                                      \
		KTAPE_EV_##NAME, task, 1, { id }, sizeof(message) - 1, message \
	}
#define VALUE(task, id, low, high, message)                      \
	{                                                        \
		KTAPE_EV_MARK_VALUE, task, 3, { id, low, high }, \
			sizeof(message) - 1, message             \
	}

/* The code word of a record: opcode 200, dat20 0xabcde, a blob follows, 2 arguments. */
#define FOREIGN (200U | 0xabcdeU << 8 | 1U << 28 | 2U << 29)

static const struct kt_emit_rec kernel_markers[] = {
	{ KTAPE_EV_TRACE_EVENT, 0, 1, { FOREIGN }, 11, "\1\0\0\0\2\0\0\0buf" },
	MARK(MARK_BEGIN, 1, 0, "zero"),
	MARK(MARK_BEGIN, 0, 7, ""),
	MARK(MARK, 0, 7, "moment"),
	MARK(MARK_END, 0, 7, ""),
	MARK(MARK, 1, 7, ""),
	MARK(MARK_END, 1, 0, "zero"),
	VALUE(0, 9, -5U, ~0U, ""),
	VALUE(1, 9, ~0U, 0x7fffffff, "most"),
	{ KTAPE_EV_ISR_ENTER, 0, 1, { 3 }, 0, "" },
	{ KTAPE_EV_ISR_EXIT, 0, 1, { 3 }, 0, "" },
	{ KTAPE_EV_USER_EVENT, 0, 3, { 1025, 1, 2 }, 8, "\x31\xc8\x07text" },
	{ KTAPE_EV_USER_EVENT, 1, 1, { 1026 }, 0, "" },
	{ 0 },
};

/*
 * Every type of argument, in the order of enum ktape_format: a byte with the width for display in
 * its upper half and the type in its lower one, then the value.
 */
#define TYPED                    \
	"\x10\xff"               \
	"\x21\xff"               \
	"\x32\xfe\xff"           \
	"\x43\xfe\xff"           \
	"\x54\xfd\xff\xff\xff"   \
	"\x65\xfd\xff\xff\xff"   \
	"\x76\xef\xbe\xad\xde"   \
	"\x07"                   \
	"text\0"                 \
	"\x08\x03"               \
	"mem"                    \
	"\x09\1\2\3\4\5\6\7\x08" \
	"\x0a\1\0\0\0\0\0\0\0"   \
	"\x0b\x09\0\0\0"

static const struct kt_emit_rec user_markers[] = {
	MARK(MARK, 0, 1, "moment"),
	MARK(MARK, 1, 0xffffffff, ""),
	MARK(MARK_BEGIN, 0, 2, "outer"),
	MARK(MARK_BEGIN, 1, 2, "inner"),
	MARK(MARK_END, 1, 2, ""),
	MARK(MARK_END, 0, 2, ""),
	VALUE(0, 3, 0, 0x80000000, "least"),
	VALUE(1, 3, 42, 0, ""),
	{ KTAPE_EV_USER_EVENT, 0, 7, { 1025, 1, 2, 3, 4, 5, 6 }, 0, "" },
	{ KTAPE_EV_USER_EVENT, 1, 1, { 1026 }, sizeof(TYPED) - 1, TYPED },
	{ KTAPE_EV_TEXT, 0, 0, { 0 }, 4, "text" },
	{ KTAPE_EV_TEXT, 0, 0, { 0 }, 0, "" },
	{ KTAPE_EV_TEXT, 0, 0, { 0 }, 10, "two\nlines\n" },
	{ 0 },
};

/* ---- tests ------------------------------------------------------------------ */

#define ENTRIES(table) ((int)ARRAY_SIZE(table) - 1)

FIXTURE(emit){};

FIXTURE_SETUP(emit)
{
}

FIXTURE_TEARDOWN(emit)
{
}

TEST_F_TIMEOUT(emit, all_forms_of_a_module, 120)
{
	struct ktape_object_entry e;
	int fd;

	ASSERT_EQ(0, kt_pin(0));
	fd = kt_emit_session(SESSION_RING);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_insmod(MODULE, ""));
	EXPECT_EQ(0, kt_rmmod("ktape_emit"));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	ASSERT_STREQ("", seen.error);
	EXPECT_EQ(ENTRIES(kernel_exceptions),
		  kt_emit_compare(&seen, true, kernel_exceptions));
	EXPECT_EQ(ENTRIES(kernel_markers),
		  kt_emit_compare(&seen, false, kernel_markers));
	/* Names stay after the module that gave them is unloaded. */
	ASSERT_TRUE(kt_copy_object(fd, KTAPE_OBJ_MARKER, 7, &e));
	EXPECT_STREQ("seven", e.name);
	ASSERT_TRUE(kt_copy_object(fd, KTAPE_OBJ_ISR, 3, &e));
	EXPECT_STREQ("three", e.name);
	EXPECT_EQ(0, e.param1);
	close(fd);
}

static void emit_traces(int m, struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, Trace0(m, _TRACE_SW_SEVERITY0, CODE(0)));
	EXPECT_EQ(0, Trace0b(m, _TRACE_SW_SEVERITY0, CODE(16), "buf", 3));
	EXPECT_EQ(0, Trace1(m, _TRACE_SW_SEVERITY1, CODE(1), 1));
	EXPECT_EQ(0, Trace1b(m, _TRACE_SW_SEVERITY1, CODE(17), 1, "buf", 3));
	EXPECT_EQ(0, Trace2(m, _TRACE_SW_SEVERITY2, CODE(2), 1, 2));
	EXPECT_EQ(0, Trace2b(m, _TRACE_SW_SEVERITY2, CODE(18), 1, 2, "buf", 3));
	EXPECT_EQ(0, Trace3(m, _TRACE_SW_SEVERITY3, CODE(3), 1, 2, 3));
	EXPECT_EQ(0, Trace3b(m, _TRACE_SW_SEVERITY3, CODE(19), 1, 2, 3, "buf", 3));
	EXPECT_EQ(0, Trace4(m, _TRACE_HW_SEVERITY0, CODE(4), 1, 2, 3, 4));
	EXPECT_EQ(0, Trace4b(m, _TRACE_HW_SEVERITY0, CODE(20), 1, 2, 3, 4, "buf", 3));
	EXPECT_EQ(0, Trace5(m, _TRACE_HW_SEVERITY1, CODE(5), 1, 2, 3, 4, 5));
	EXPECT_EQ(0, Trace5b(m, _TRACE_HW_SEVERITY1, CODE(21), 1, 2, 3, 4, 5,
			     "buf", 3));
	EXPECT_EQ(0, Trace6(m, _TRACE_HW_SEVERITY3, CODE(6), 1, 2, 3, 4, 5, 6));
	EXPECT_EQ(0, Trace6b(m, _TRACE_HW_SEVERITY3, CODE(22), 1, 2, 3, 4, 5, 6,
			     "buf", 3));
	EXPECT_EQ(0, Trace0b(m, _TRACE_HW_SEVERITY2, CODE(33), "", 0));
}

static void emit_typed(int m, struct __test_metadata *_metadata)
{
	struct ktape_typed t = { 0 };

	ktape_typed_s8(&t, 1, -1);
	ktape_typed_u8(&t, 2, 255);
	ktape_typed_s16(&t, 3, -2);
	ktape_typed_u16(&t, 4, 0xfffe);
	ktape_typed_s32(&t, 5, -3);
	ktape_typed_u32(&t, 6, 0xfffffffd);
	ktape_typed_x32(&t, 7, 0xdeadbeef);
	ktape_typed_string(&t, "text");
	ktape_typed_memory(&t, "mem", 3);
	ktape_typed_object(&t, 0, 0x0807060504030201);
	ktape_typed_function(&t, 0, 1);
	ktape_typed_signal(&t, 0, 9);
	EXPECT_EQ(0, ktape_user_event(m, 0, 1025,
				      ktape_args(6, 1, 2, 3, 4, 5, 6), NULL));
	EXPECT_EQ(0, ktape_user_event(m, KTAPE_TRACE_TASK, 1026,
				      ktape_args(0, 0, 0, 0, 0, 0, 0), &t));
}

TEST_F_TIMEOUT(emit, all_forms_of_a_program, 120)
{
	int fd, m = ktape_mark_open();

	ASSERT_LE(0, m);
	ASSERT_EQ(0, kt_pin(0));
	fd = kt_emit_session(SESSION_RING);
	ASSERT_LE(0, fd);
	emit_traces(m, _metadata);
	EXPECT_EQ(0, ktape_mark(m, 1, "moment"));
	EXPECT_EQ(0, ktape_task_mark(m, 0xffffffff, NULL));
	EXPECT_EQ(0, ktape_begin(m, 2, "outer"));
	EXPECT_EQ(0, ktape_task_begin(m, 2, "inner"));
	EXPECT_EQ(0, ktape_task_end(m, 2, NULL));
	EXPECT_EQ(0, ktape_end(m, 2, NULL));
	EXPECT_EQ(0, ktape_value(m, 3, INT64_MIN, "least"));
	EXPECT_EQ(0, ktape_task_value(m, 3, 42, NULL));
	emit_typed(m, _metadata);
	EXPECT_EQ(0, ktape_text(m, "text\n"));
	EXPECT_EQ(0, ktape_text(m, "\n"));
	EXPECT_EQ(0, ktape_text(m, "two\nlines\n\n"));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	ASSERT_STREQ("", seen.error);
	EXPECT_EQ(ENTRIES(user_exceptions),
		  kt_emit_compare(&seen, true, user_exceptions));
	EXPECT_EQ(ENTRIES(user_markers),
		  kt_emit_compare(&seen, false, user_markers));
	close(fd);
	close(m);
}

/* Return true if all words of a stored TraceEvent are equal, as written: it is not torn. */
static bool has_equal_words(const struct kt_emit_rec *v)
{
	uint32_t words[15];

	if (v->size != sizeof(words))
		return false;
	memcpy(words, v->blob, sizeof(words));
	for (size_t i = 1; i < ARRAY_SIZE(words); i++)
		if (words[i] != words[0])
			return false;
	return true;
}

/* Tasks, interrupts and a sink emit into each other: each event arrives once, and whole. */
TEST_F_TIMEOUT(emit, contexts_that_nest, 120)
{
	/* Code words as in modules/ktape_nest.c: a blob and 7 arguments. */
	const uint32_t task = 201U | 1U << 28 | 7U << 29;
	const uint32_t irq = 202U | 1U << 28 | 7U << 29;
	const uint32_t sink = 203U | 1U << 28 | 7U << 29;
	int fd = kt_emit_session(256 << 10), tasks, irqs;
	struct ktape_stats st;
	uint64_t nested = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_insmod("/tests/ktape_nest.ko", ""));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	ASSERT_STREQ("", seen.error);
	tasks = kt_parameter("ktape_nest", "in_tasks");
	irqs = kt_parameter("ktape_nest", "in_interrupts");
	EXPECT_EQ(0, kt_parameter("ktape_nest", "torn"));
	/*
	 * The module has a sink, a function that ktape calls with each event of
	 * a kind, and which emits that event again. Four writers may nest. The
	 * fifth is counted as lost, which ends the recursion.
	 */
	EXPECT_EQ(5, kt_parameter("ktape_nest", "in_sinks"));
	EXPECT_EQ(4, kt_emit_count(&seen, KTAPE_EV_TRACE_EVENT, sink));
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		ASSERT_EQ(0, kt_stats(fd, cpu, KTAPE_RING_EVENT, &st));
		nested += st.lost[KTAPE_LOST_NESTED][KTAPE_CLASS_USER];
	}
	EXPECT_EQ(1, nested);
	EXPECT_EQ(0, kt_rmmod("ktape_nest"));
	EXPECT_LE(300 * kt_online_cpus(), tasks);
	EXPECT_LE(300 * kt_online_cpus(), irqs);
	EXPECT_EQ(tasks + irqs + 4, (int)seen.nr);
	EXPECT_EQ(tasks, kt_emit_count(&seen, KTAPE_EV_TRACE_EVENT, task));
	EXPECT_EQ(irqs, kt_emit_count(&seen, KTAPE_EV_TRACE_EVENT, irq));
	for (size_t i = 0; i < seen.nr; i++)
		ASSERT_TRUE(has_equal_words(&seen.v[i]));
	close(fd);
}

/*
 * Get a class's counts over all CPUs: n[0] emitted events, n[1] those of them that were lost
 * because contexts nested too deep, or RCU did not watch.
 */
static void count_lost_emits(int fd, uint32_t kind, uint32_t class, uint64_t *n)
{
	struct ktape_stats st;

	n[0] = n[1] = 0;
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		if (kt_stats(fd, cpu, kind, &st))
			return;
		n[0] += st.emitted[class];
		n[1] += st.lost[KTAPE_LOST_NESTED][class];
	}
}

/*
 * Where RCU is not watching, filters and rings may be freed at any time, so the
 * event is dropped and counted.
 */
TEST_F_TIMEOUT(emit, rcu_not_watching, 120)
{
	int fd = kt_emit_session(256 << 10);
	uint64_t user[2], exceptions[2];

	ASSERT_LE(0, fd);
	if (access("/tests/kt_unwatched.ko", R_OK))
		SKIP(return, "the kernel has no ct_idle_enter()");
	/*
	 * Each round emits 5 events and 2 exceptions while RCU is not watching,
	 * then a marker while it is.
	 */
	ASSERT_EQ(0, kt_insmod("/tests/kt_unwatched.ko", "rounds=100"));
	ASSERT_EQ(100, kt_parameter("kt_unwatched", "unwatched"));
	ASSERT_EQ(0, kt_rmmod("kt_unwatched"));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	ASSERT_STREQ("", seen.error);
	EXPECT_EQ(100, (int)seen.nr);
	EXPECT_EQ(100, kt_emit_count(&seen, KTAPE_EV_MARK, 2));
	count_lost_emits(fd, KTAPE_RING_EVENT, KTAPE_CLASS_USER, user);
	EXPECT_EQ(600, user[0]);
	EXPECT_EQ(500, user[1]);
	count_lost_emits(fd, KTAPE_RING_CONTROL, KTAPE_CLASS_EXCEPTION, exceptions);
	EXPECT_EQ(200, exceptions[0]);
	EXPECT_EQ(200, exceptions[1]);
	close(fd);
}

/*
 * While no session asks for these events the calls do nothing and nothing is counted. Session 0,
 * which @dev is, first records switches only.
 */
TEST_F_TIMEOUT(emit, without_a_session, 120)
{
	int dev = kt_open(O_RDWR), m = ktape_mark_open(), i;
	uint64_t before, after, rate;

	ASSERT_LE(0, dev);
	ASSERT_LE(0, m);
	ASSERT_EQ(0, kt_profile_only(dev, KT_OPS(KTAPE_EV_SCHED_SWITCH)));
	ASSERT_EQ(0, kt_emit_counts(dev, &before, &rate));
	ASSERT_EQ(0, kt_insmod(MODULE, ""));
	EXPECT_EQ(0, kt_rmmod("ktape_emit"));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, ktape_mark(m, 1, "unheard"));
	/* The profile has the events again while the module is loaded. */
	ASSERT_EQ(0, kt_insmod(MODULE, ""));
	ASSERT_EQ(0, kt_emit_counts(dev, &after, &rate));
	EXPECT_EQ(before, after);
	ASSERT_EQ(0, kt_profile_only(dev, KT_EMITTED));
	EXPECT_EQ(0, kt_rmmod("ktape_emit"));
	ASSERT_EQ(0, kt_insmod(MODULE, ""));
	EXPECT_EQ(0, kt_rmmod("ktape_emit"));
	ASSERT_EQ(0, kt_emit_counts(dev, &after, &rate));
	EXPECT_EQ(before + ENTRIES(kernel_markers), after);
	close(m);
	close(dev);
}

/* Each profile bit enables one event only. TEXT is left out, as the module emits none. */
TEST_F_TIMEOUT(emit, one_event_at_a_time, 120)
{
	static const unsigned char ops[] = {
		KTAPE_EV_EXCEPTION, KTAPE_EV_MARK,	 KTAPE_EV_MARK_BEGIN,
		KTAPE_EV_MARK_END,  KTAPE_EV_MARK_VALUE, KTAPE_EV_ISR_ENTER,
		KTAPE_EV_ISR_EXIT,  KTAPE_EV_USER_EVENT, KTAPE_EV_TRACE_EVENT,
	};
	/* As often as the tables kernel_exceptions and kernel_markers have them. */
	static const int want[] = { 15, 2, 2, 2, 2, 1, 1, 2, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		int fd = kt_session(KTAPE_MODE_OVERWRITE, SESSION_RING, 0,
				    KT_OPS(ops[i]));

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		ASSERT_EQ(0, kt_insmod(MODULE, ""));
		ASSERT_EQ(0, kt_rmmod("ktape_emit"));
		ASSERT_EQ(0, kt_emit_collect(fd, &seen));
		EXPECT_EQ(want[i], (int)seen.nr);
		EXPECT_EQ(want[i], kt_emit_count(&seen, ops[i], 0));
		close(fd);
	}
}

TEST_HARNESS_MAIN
