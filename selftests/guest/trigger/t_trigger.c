// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test triggers: each condition and each action, refused arguments, and that a
 * snapshot holds the requested time on both sides.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <ktape/filter.h>

#include "kselftest_harness.h"

#include "kt_clock.h"
#include "kt_ledger.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"
#include "now.h"

#define CPUS_MAX 16
#define RING	 (1 << 20)

FIXTURE(trigger)
{
	int main, fd, cpus;
};

FIXTURE_SETUP(trigger)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_named(self->main, "trigger", KTAPE_MODE_OVERWRITE, RING,
			    4096, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_MARK_VALUE)));
	ASSERT_EQ(0, kt_pin(0));
}

FIXTURE_TEARDOWN(trigger)
{
	close(self->fd);
	close(self->main);
}

/*
 * Return by what times are to be multiplied on this kernel: on a slow one timers
 * are late, but less than its other work is slow.
 */
static int timer_scale(void)
{
	return kt_scale() > 1 ? 3 : 1;
}

/* ---- conditions ----------------------------------------------------------- */

/*
 * Every comparison, signed and unsigned, of words, of two words, of bits. The numbers are the
 * word (7: dat20), its first bit, the number of bits, the comparison, and the value. The event
 * is a value marker: its word 0 is the id, 7, and the words 1 and 2 are the value, -5.
 */
TEST_F(trigger, compares)
{
	static const struct {
		struct ktape_trigger_compare c;
		uint32_t fires;
	} cases[] = {
		{ KT_WORD(0, EQ, 7), 1 },
		{ KT_WORD(0, EQ, 8), 0 },
		{ KT_WORD(0, NE, 8), 1 },
		{ KT_WORD(0, NE, 7), 0 },
		{ KT_WORD(0, LT, 8), 1 },
		{ KT_WORD(0, LT, 7), 0 },
		{ KT_WORD(0, LE, 7), 1 },
		{ KT_WORD(0, LE, 6), 0 },
		{ KT_WORD(0, GT, 6), 1 },
		{ KT_WORD(0, GT, 7), 0 },
		{ KT_WORD(0, GE, 7), 1 },
		{ KT_WORD(0, GE, 8), 0 },
		{ KT_WORD(0, ANY, 4), 1 },
		{ KT_WORD(0, ANY, 8), 0 },
		{ { 0, 1, 2, KTAPE_COMPARE_EQ, 3 }, 1 },
		{ { 0, 3, 2, KTAPE_COMPARE_EQ, 0 }, 1 },
		/* The value, which is -5. */
		{ { 1, 0, 64, KTAPE_COMPARE_EQ, -5ULL }, 1 },
		{ { 1, 0, 64, KTAPE_COMPARE_LT, 0 }, 0 },
		{ { 1, 0, 64, KTAPE_COMPARE_LT | KTAPE_COMPARE_SIGNED, 0 }, 1 },
		{ { 1, 0, 32, KTAPE_COMPARE_EQ | KTAPE_COMPARE_SIGNED, -5ULL }, 1 },
		{ { 1, 0, 32, KTAPE_COMPARE_EQ, -5U }, 1 },
		{ { 7, 0, 20, KTAPE_COMPARE_EQ, 0 }, 1 },
		{ { 7, 0, 20, KTAPE_COMPARE_ANY, 0xfffff }, 0 },
		/* The event has three words. */
		{ KT_WORD(3, GE, 0), 0 },
		{ { 2, 0, 64, KTAPE_COMPARE_GE, 0 }, 0 },
	};
	struct ktape_trigger t = { .opcode = KTAPE_EV_MARK_VALUE, .nr_compares = 1 };

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int id;

		t.compare[0] = cases[i].c;
		id = kt_trigger_add(self->fd, &t);
		ASSERT_LE(0, id) TH_LOG("case %zu", i);
		kt_write_values(7, 1);
		EXPECT_EQ(cases[i].fires, kt_trigger_fired(self->fd, id))
		{
			TH_LOG("case %zu", i);
		}
		ASSERT_EQ(0, kt_trigger_remove(self->fd, id));
	}
	/* Several conditions must all hold. */
	t.nr_compares = 2;
	t.compare[0] = (struct ktape_trigger_compare)KT_WORD(0, EQ, 7);
	t.compare[1] = (struct ktape_trigger_compare)KT_WORD(0, EQ, 8);
	ASSERT_EQ(0, kt_trigger_add(self->fd, &t));
	kt_write_values(7, 1);
	kt_write_values(8, 1);
	EXPECT_EQ(0, kt_trigger_fired(self->fd, 0));
}

/**
 * struct found - what a stream has
 * @marks: markers 4711 in CPU 0's event ring
 * @triggers: trigger records
 * @behind: markers right behind a value there
 * @id: trigger of the last trigger record
 * @opcode: its event
 * @when: its condition
 * @last_op: opcode of the last record in CPU 0's event ring
 */
struct found {
	int marks, triggers, behind;
	uint32_t id, opcode, when;
	uint32_t last_op;
};

static void note_trigger_record(const struct ktape_block *b,
				const struct kt_rec *r, void *arg)
{
	struct found *f = arg;

	if (b->kind == KTAPE_RING_CONTROL && r->op == KTAPE_EV_TRIGGER) {
		f->triggers++;
		f->id = r->dat20 & 31;
		f->when = r->dat20 >> 5;
		f->opcode = r->args[0];
	}
	if (b->kind != KTAPE_RING_EVENT || b->cpu || r->op == KTAPE_TIME_EXTEND)
		return;
	if (r->op == KTAPE_EV_MARK) {
		f->marks += r->args[0] == 4711;
		f->behind += f->last_op == KTAPE_EV_MARK_VALUE;
	}
	f->last_op = r->op;
}

/* Parse the stream and check its ledger. */
static void check_trigger_stream(struct __test_metadata *_metadata, int fd,
				 int cpus, struct found *found)
{
	struct kt_ledger *l = kt_ledger_new();
	struct kt_buf b = {};

	memset(found, 0, sizeof(*found));
	l->next = note_trigger_record;
	l->arg = found;
	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, fd));
	EXPECT_EQ(0, kt_ledger_check(l, fd, cpus));
	EXPECT_STREQ("", l->t.error);
	kt_buf_free(&b);
	free(l);
}

/*
 * A trigger fires at every 10th event, three times, and counts anew after START. The
 * marker that it writes stands right behind its event.
 */
TEST_F(trigger, nth)
{
	struct ktape_trigger t = { KT_OF_ID(7), .nth = 10, .limit = 3,
				   .actions = KTAPE_TRIGGER_MARK, .mark = 4711 };
	struct found found;

	ASSERT_EQ(0, kt_trigger_add(self->fd, &t));
	kt_write_values(7, 100);
	EXPECT_EQ(0, kt_trigger_fired(self->fd, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(8, 100);
	kt_write_values(7, 9);
	EXPECT_EQ(0, kt_trigger_fired(self->fd, 0));
	kt_write_values(7, 1);
	EXPECT_EQ(1, kt_trigger_fired(self->fd, 0));
	kt_write_values(7, 90);
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(3, t.fired);
	EXPECT_EQ(100, t.matches);
	EXPECT_LT(0, t.last);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	check_trigger_stream(_metadata, self->fd, self->cpus, &found);
	EXPECT_EQ(3, found.triggers);
	EXPECT_EQ(3, found.marks);
	EXPECT_EQ(3, found.behind);
	EXPECT_EQ(0, found.id);
	EXPECT_EQ(KTAPE_TRIGGER_EVENT, found.when);
	EXPECT_EQ(KTAPE_EV_MARK_VALUE, found.opcode);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(0, kt_trigger_fired(self->fd, 0));
	kt_write_values(7, 20);
	EXPECT_EQ(2, kt_trigger_fired(self->fd, 0));
}

/*
 * All firings are counted, but of continuous ones only some are recorded: the first 16, then the
 * 32nd, the 64th and so on.
 */
TEST_F(trigger, many)
{
	struct ktape_trigger t = { KT_OF_ID(7) };
	struct found found;

	ASSERT_EQ(0, kt_trigger_add(self->fd, &t));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(7, 2000);
	EXPECT_EQ(2000, kt_trigger_fired(self->fd, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	check_trigger_stream(_metadata, self->fd, self->cpus, &found);
	/* And the powers of two from 32 to 1024. */
	EXPECT_EQ(16 + 6, found.triggers);
}

/* Sleep in a system call. Return: upper limit of its duration, in ns. */
static uint64_t sleep_in_call(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
	uint64_t since = now_ns();

	syscall(SYS_nanosleep, &ts, NULL);
	return now_ns() - since;
}

/*
 * Fires for a call of 300 ms and not for short calls. SYS_SPAN stands for the begin and the end of
 * a call together; the lower 16 bits of its dat20 are the number of the call.
 */
TEST_F(trigger, longer)
{
	struct ktape_trigger t = {
		.when = KTAPE_TRIGGER_LONGER,
		.opcode = KTAPE_EV_SYS_SPAN,
		.duration_ns = 200000000ULL,
		.nr_compares = 1,
		.compare = { { KTAPE_COMPARE_DAT20, 0, 16, KTAPE_COMPARE_EQ,
			       SYS_nanosleep } },
	};
	struct ktape_filter_gate gate = { .gate = KTAPE_GATE_SYSCALL, .ns = 1 };
	uint64_t took = UINT64_MAX;
	uint32_t before = 0;
	struct ktape_filter f = { .size = sizeof(f),
				  .op = KTAPE_FILTER_SET,
				  .kind = KTAPE_FILTER_GATE,
				  .nr = 1,
				  .entries = (uintptr_t)&gate };
	int id;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER,
						      KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	id = kt_trigger_add(self->fd, &t);
	ASSERT_LE(0, id);
	/* Repeat if the machine was paused meanwhile. */
	for (int i = 0; i < 10 && took >= t.duration_ns; i++) {
		before = kt_trigger_fired(self->fd, id);
		took = sleep_in_call(1);
		kt_getppids(100);
	}
	EXPECT_GT(t.duration_ns, took);
	EXPECT_EQ(before, kt_trigger_fired(self->fd, id));
	sleep_in_call(300);
	EXPECT_EQ(before + 1, kt_trigger_fired(self->fd, id));
	ASSERT_EQ(0, kt_trigger_get(self->fd, id, &t));
	EXPECT_EQ(0, t.missed);
	ASSERT_EQ(0, kt_trigger_remove(self->fd, id));
	/* A pair that a gate filters would not be seen. */
	ASSERT_EQ(0, kt_ioctl(self->fd, KTAPE_IOC_FILTER, &f));
	t = (struct ktape_trigger){ .when = KTAPE_TRIGGER_LONGER,
				    .opcode = KTAPE_EV_SYS_SPAN,
				    .duration_ns = 1 };
	EXPECT_EQ(-EBUSY, kt_trigger_add(self->fd, &t));
	t.opcode = KTAPE_EV_IRQ_SPAN;
	EXPECT_EQ(0, kt_trigger_add(self->fd, &t));
}

static bool fired_twice(int fd)
{
	return kt_trigger_fired(fd, 0) >= 2;
}

/* Silence is reported once, and again after the next event. */
TEST_F_TIMEOUT(trigger, quiet, 60)
{
	const int ms = 300 * timer_scale();
	struct ktape_trigger t = { KT_OF_ID(7), .when = KTAPE_TRIGGER_QUIET,
				   .duration_ns = ms * 1000000ULL };
	/* Least time without an event after which it may fire: it counts in jiffies. */
	const uint64_t silence = t.duration_ns / 10 * 9;
	uint64_t last, before;
	uint32_t fired, away = 0;

	ASSERT_EQ(0, kt_trigger_add(self->fd, &t));
	usleep(2000 * ms);
	EXPECT_EQ(0, kt_trigger_fired(self->fd, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	/* Other events do not end the silence. */
	for (int i = 0; i < 500 && !kt_trigger_fired(self->fd, 0); i++) {
		kt_write_values(8, 1);
		usleep(50000);
	}
	for (int i = 0; i < 2 * ms / 50; i++) {
		kt_write_values(8, 1);
		usleep(50000);
	}
	EXPECT_EQ(1, kt_trigger_fired(self->fd, 0));
	last = now_ns();
	for (int i = 0; i < 20 * timer_scale(); i++) {
		before = now_ns();
		kt_write_values(7, 1);
		away += now_ns() - last >= silence;
		last = before;
		usleep(50000);
	}
	fired = kt_trigger_fired(self->fd, 0);
	away += now_ns() - last >= silence;
	/* A pause of the machine is a silence, too: two firings are allowed for each. */
	EXPECT_GE(1 + 2 * away, fired);
	EXPECT_TRUE(kt_wait_until(fired_twice, self->fd));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
}

/* ---- actions --------------------------------------------------------------- */

static bool profile_has(int fd, unsigned int op)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_GET };

	return !kt_profile(fd, &p) && kt_ops_has(p.mask, op);
}

static bool has_irqs(int fd)
{
	return profile_has(fd, KTAPE_EV_IRQ_HANDLER_ENTRY);
}

/* Start, change and stop another session; then stop our own. */
TEST_F(trigger, sessions)
{
	struct ktape_trigger start = { KT_OF_ID(1), .limit = 1,
				       .actions = KTAPE_TRIGGER_START };
	struct ktape_trigger stop = { KT_OF_ID(2), .limit = 1,
				      .actions = KTAPE_TRIGGER_STOP };
	struct ktape_trigger profile = { KT_OF_ID(3), .limit = 1,
					 .actions = KTAPE_TRIGGER_PROFILE };
	struct ktape_trigger end = { KT_OF_ID(4), .actions = KTAPE_TRIGGER_STOP,
				     .target = KTAPE_TRIGGER_SELF };
	struct ktape_layout l;
	int other = kt_named(self->main, "other", KTAPE_MODE_OVERWRITE, 16384,
			     4096, 0);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, kt_layout(other, &l, NULL, 0));
	start.target = stop.target = profile.target = l.session;
	kt_ops_add(profile.mask, KTAPE_EV_IRQ_HANDLER_ENTRY);
	ASSERT_LE(0, kt_trigger_add(self->fd, &start));
	ASSERT_LE(0, kt_trigger_add(self->fd, &stop));
	ASSERT_LE(0, kt_trigger_add(self->fd, &profile));
	ASSERT_LE(0, kt_trigger_add(self->fd, &end));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_FALSE(kt_is_running(other));
	kt_write_values(1, 1);
	EXPECT_TRUE(kt_wait_until(kt_is_running, other));
	EXPECT_FALSE(has_irqs(other));
	kt_write_values(3, 1);
	EXPECT_TRUE(kt_wait_until(has_irqs, other));
	kt_write_values(2, 1);
	EXPECT_TRUE(kt_wait_until(kt_is_stopped, other));
	EXPECT_TRUE(kt_is_running(self->fd));
	kt_write_values(4, 1);
	EXPECT_TRUE(kt_wait_until(kt_is_stopped, self->fd));
	/*
	 * A new session with the number of a destroyed one must not get its
	 * actions.
	 */
	close(other);
	other = kt_named(self->main, "next", KTAPE_MODE_OVERWRITE, 16384, 4096, 0);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, kt_layout(other, &l, NULL, 0));
	EXPECT_EQ(start.target, l.session);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(1, 1);
	usleep(200000 * timer_scale());
	EXPECT_FALSE(kt_is_running(other));
	close(other);
}

/* Each firing signals the eventfd once; other events and a removed trigger do not. */
TEST_F(trigger, eventfd)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct ktape_trigger t = { KT_OF_ID(7), .actions = KTAPE_TRIGGER_NOTIFY,
				   .eventfd = fd };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_trigger_add(self->fd, &t));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(8, 10);
	EXPECT_EQ(0, poll(&p, 1, 100));
	for (int i = 0; i < 3; i++) {
		kt_write_values(7, 1);
		EXPECT_EQ(1, poll(&p, 1, 5000 * kt_scale()));
		EXPECT_EQ(8, read(fd, &n, sizeof(n)));
		EXPECT_EQ(1, n);
	}
	ASSERT_EQ(0, kt_trigger_remove(self->fd, 0));
	kt_write_values(7, 1);
	EXPECT_EQ(0, poll(&p, 1, 200 * timer_scale()));
	close(fd);
}

/* ---- snapshots ------------------------------------------------------------- */

/* Times: of the first and the last value in CPU 0's event ring, and of the trigger record. */
struct window {
	uint64_t first, last, fired;
};

static void note_window_record(const struct ktape_block *b,
			       const struct kt_rec *r, void *arg)
{
	struct window *w = arg;

	if (r->op == KTAPE_EV_TRIGGER)
		w->fired = r->ts;
	if (b->kind != KTAPE_RING_EVENT || b->cpu || r->op != KTAPE_EV_MARK_VALUE)
		return;
	if (!w->first)
		w->first = r->ts;
	w->last = r->ts;
}

/* Return @ms in ticks of the trace clock. */
static uint64_t ms_to_ticks(int fd, uint64_t ms)
{
	struct ktape_features f;

	kt_features(fd, &f);
	return f.clock_hz / 1000 * ms;
}

/* Add a trigger of value 9 that takes a snapshot of this time. Return: its id or -errno. */
static int add_snapshot_trigger(int fd, uint64_t before_ms, uint64_t after_ms)
{
	struct ktape_trigger t = { KT_OF_ID(9), .limit = 1,
				   .actions = KTAPE_TRIGGER_SNAPSHOT,
				   .before_ns = before_ms * 1000000,
				   .after_ns = after_ms * 1000000 };

	return kt_trigger_add(fd, &t);
}

/*
 * Write values for @ms, or until the session stops. Return: a time before the
 * last value that was recorded before @end.
 */
static uint64_t write_values(int fd, int ms, uint64_t end)
{
	uint64_t from, last = 0;

	for (int i = 0; i < ms / 10 && kt_is_running(fd); i++) {
		from = kt_now();
		kt_write_values(1, 5);
		if (kt_now() <= end)
			last = from;
		usleep(10000);
	}
	return last;
}

static void read_window(struct __test_metadata *_metadata, int fd, struct window *w)
{
	struct kts *t = calloc(1, sizeof(*t));
	struct kt_buf b = {};

	memset(w, 0, sizeof(*w));
	t->record = note_window_record;
	t->arg = w;
	ASSERT_EQ(0, kt_read_and_parse_all(t, &b, fd));
	EXPECT_STREQ("", t->error);
	kt_buf_free(&b);
	free(t);
}

/* The requested window is there on both sides. */
TEST_F_TIMEOUT(trigger, snapshot, 60)
{
	const int ms = 400 * timer_scale();
	struct ktape_trigger t;
	uint64_t end, last;
	struct window w;

	if (!kt_clock_setup(self->main))
		SKIP(return, "the clock cannot be read");
	ASSERT_EQ(0, add_snapshot_trigger(self->fd, ms, ms));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	write_values(self->fd, 2 * ms, 0);
	kt_write_values(9, 1);
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	/* The trigger counts in jiffies, which may lag. */
	end = t.last + ms_to_ticks(self->fd, ms * 3 / 4);
	last = write_values(self->fd, 100 * ms, end);
	EXPECT_LE(end, kt_now());
	EXPECT_FALSE(kt_is_running(self->fd));
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(KTAPE_TRIGGER_DONE, t.flags);
	EXPECT_LE(t.before_ns, t.held_ns);
	EXPECT_EQ(1, t.fired);
	read_window(_metadata, self->fd, &w);
	EXPECT_LT(0, w.fired);
	EXPECT_LE(w.first + ms_to_ticks(self->fd, ms), w.fired);
	EXPECT_LE(last, w.last);
	/* START arms it again. */
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(0, t.flags);
	EXPECT_EQ(0, t.fired);
	kt_write_values(9, 1);
	EXPECT_TRUE(kt_wait_until(kt_is_stopped, self->fd));
}

/* If the rings do not reach back that far, the status says so. */
TEST_F_TIMEOUT(trigger, snapshot_too_short, 60)
{
	int fd = kt_named(self->main, "small", KTAPE_MODE_OVERWRITE, 16384, 4096, 0);
	struct ktape_trigger t;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_profile_only(fd, KT_OPS(KTAPE_EV_MARK_VALUE)));
	ASSERT_EQ(0, add_snapshot_trigger(fd, 3600000, 0));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	kt_write_values(1, 5000);
	kt_write_values(9, 1);
	EXPECT_TRUE(kt_wait_until(kt_is_stopped, fd));
	ASSERT_EQ(0, kt_trigger_get(fd, 0, &t));
	EXPECT_EQ(KTAPE_TRIGGER_DONE | KTAPE_TRIGGER_SHORT, t.flags);
	EXPECT_GT(t.before_ns, t.held_ns);
	close(fd);
}

/* STOP and START during the time after the trigger end the pending snapshot: it stops nothing. */
TEST_F_TIMEOUT(trigger, snapshot_forgotten, 60)
{
	const int ms = 300 * timer_scale();

	ASSERT_EQ(0, add_snapshot_trigger(self->fd, 0, ms));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(9, 1);
	usleep(50000);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	usleep(2000 * ms);
	EXPECT_TRUE(kt_is_running(self->fd));
}

/* ---- limits ----------------------------------------------------------------- */

/* A session has up to 16 triggers; a read-only descriptor reads them, but changes none. */
TEST_F(trigger, sixteen)
{
	const struct ktape_trigger t = { KT_OF_ID(7) };
	int ro = kt_attach(self->main, "trigger", KTAPE_OPEN_READONLY);
	struct ktape_trigger got;

	for (int i = 0; i < KTAPE_TRIGGERS; i++)
		ASSERT_EQ(i, kt_trigger_add(self->fd, &t));
	EXPECT_EQ(-ENOSPC, kt_trigger_add(self->fd, &t));
	EXPECT_EQ(-EPERM, kt_trigger_add(ro, &t));
	EXPECT_EQ(-EPERM, kt_trigger_remove(ro, 5));
	EXPECT_EQ(0, kt_trigger_get(ro, 5, &got));
	EXPECT_EQ(KTAPE_EV_MARK_VALUE, got.opcode);
	ASSERT_EQ(0, kt_trigger_remove(self->fd, 5));
	EXPECT_EQ(-ENOENT, kt_trigger_remove(self->fd, 5));
	EXPECT_EQ(-ENOENT, kt_trigger_get(self->fd, 5, &got));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(7, 1);
	EXPECT_EQ(1, kt_trigger_fired(self->fd, 15));
	EXPECT_EQ(5, kt_trigger_add(self->fd, &t));
	close(ro);
}

/* Triggers with a wrong member, or a wrong combination; comparisons as in compares. */
static const struct ktape_trigger invalid[] = {
	{ .opcode = KTAPE_EV_LEDGER },
	{ .opcode = 255 },
	{ .opcode = 1000 },
	{ .opcode = KTAPE_EV_SYS_SPAN },
	{ .opcode = KTAPE_EV_KERNEL_STACK },
	{ KT_OF_ID(1), .when = 3 },
	{ KT_OF_ID(1), .id = 1 },
	{ KT_OF_ID(1), .nth = 0x80000000 },
	{ KT_OF_ID(1), .limit = 0x80000000 },
	{ KT_OF_ID(1), .duration_ns = 1 },
	{ KT_OF_ID(1), .mark = 1 },
	{ KT_OF_ID(1), .eventfd = 1 },
	{ KT_OF_ID(1), .target = 1 },
	{ KT_OF_ID(1), .before_ns = 1 },
	{ KT_OF_ID(1), .after_ns = 1 },
	{ KT_OF_ID(1), .mask = { 1ULL << 40 } },
	{ KT_OF_ID(1), .actions = 64 },
	{ KT_OF_ID(1), .matches = 1 },
	{ KT_OF_ID(1), .fired = 1 },
	{ KT_OF_ID(1), .last = 1 },
	{ KT_OF_ID(1), .actions = KTAPE_TRIGGER_START, .target = 8 },
	{ KT_OF_ID(1), .actions = KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP },
	{ KT_OF_ID(1), .actions = KTAPE_TRIGGER_PROFILE, .mask = { 1 } },
	{ KT_OF_ID(1), .actions = KTAPE_TRIGGER_SNAPSHOT,
	  .after_ns = KTAPE_TRIGGER_NS_MAX + 1 },
	{ KT_OF_ID(1), .when = KTAPE_TRIGGER_QUIET, .duration_ns = 1000 },
	{ KT_OF_ID(1), .when = KTAPE_TRIGGER_QUIET, .nth = 1,
	  .duration_ns = 1000000000 },
	{ KT_OF_ID(1), .when = KTAPE_TRIGGER_LONGER, .duration_ns = 1000 },
	{ .opcode = KTAPE_EV_SYS_SPAN, .when = KTAPE_TRIGGER_LONGER },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 5 },
	{ .opcode = KTAPE_EV_MARK, .compare = { KT_WORD(0, EQ, 1) } },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1 },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1, .compare = { { 8, 0, 32, 0, 0 } } },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1, .compare = { { 6, 0, 64, 0, 0 } } },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1, .compare = { { 0, 1, 32, 0, 0 } } },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1, .compare = { { 0, 0, 33, 0, 0 } } },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1, .compare = { { 7, 0, 21, 0, 0 } } },
	{ .opcode = KTAPE_EV_MARK, .nr_compares = 1, .compare = { { 0, 0, 32, 7, 0 } } },
	{ .opcode = KTAPE_EV_MARK,
	  .nr_compares = 1,
	  .compare = { { 0, 0, 32, 0x200, 0 } } },
};

TEST_F(trigger, refused)
{
	struct ktape_trigger t = { KT_OF_ID(1), .actions = KTAPE_TRIGGER_START,
				   .target = 7 };

	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++) {
		EXPECT_EQ(-EINVAL, kt_trigger_add(self->fd, &invalid[i]))
		{
			TH_LOG("case %zu", i);
		}
	}
	EXPECT_EQ(-ENOENT, kt_trigger_add(self->fd, &t));
	t = (struct ktape_trigger){ KT_OF_ID(1), .actions = KTAPE_TRIGGER_NOTIFY,
				    .eventfd = -1 };
	EXPECT_EQ(-EBADF, kt_trigger_add(self->fd, &t));
	t.eventfd = self->fd;
	EXPECT_EQ(-EINVAL, kt_trigger_add(self->fd, &t));
	EXPECT_EQ(-ENOENT, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(-EINVAL, kt_trigger_get(self->fd, KTAPE_TRIGGERS, &t));
	/* GET and REMOVE take the id only; there is no operation 3. */
	memset(&t, 0, sizeof(t));
	t.when = 1;
	EXPECT_EQ(-EINVAL, kt_trigger(self->fd, KTAPE_TRIGGER_GET, &t));
	EXPECT_EQ(-EINVAL, kt_trigger(self->fd, KTAPE_TRIGGER_REMOVE, &t));
	t.when = 0;
	EXPECT_EQ(-EINVAL, kt_trigger(self->fd, 3, &t));
}

static void call_getppid_once(uint64_t n)
{
	syscall(SYS_getppid);
}

/*
 * Add two triggers, start, and remove them again, while a thread on each CPU makes calls that fire
 * both; one of them stops the session. No ioctl may fail, and a session that is created
 * afterwards must work.
 */
TEST_F_TIMEOUT(trigger, storm, 120)
{
	struct ktape_trigger t = { .opcode = KTAPE_EV_SYS_ENTER,
				   .nth = 3,
				   .actions = KTAPE_TRIGGER_MARK |
					      KTAPE_TRIGGER_STOP |
					      KTAPE_TRIGGER_NOTIFY,
				   .target = KTAPE_TRIGGER_SELF };
	struct ktape_trigger slow = { .opcode = KTAPE_EV_SYS_SPAN,
				      .when = KTAPE_TRIGGER_LONGER,
				      .duration_ns = 1 };
	struct kt_load load[CPUS_MAX];
	struct found found;

	t.eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, t.eventfd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER,
						      KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(0, kt_loads_start(load, self->cpus, 20000 / kt_scale(),
				    call_getppid_once));
	for (int i = 0; i < 30; i++) {
		int a = kt_trigger_add(self->fd, &t),
		    b = kt_trigger_add(self->fd, &slow);

		ASSERT_LE(0, a);
		ASSERT_LE(0, b);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		kt_getppids(20);
		ASSERT_EQ(0, kt_trigger_remove(self->fd, a));
		ASSERT_EQ(0, kt_trigger_remove(self->fd, b));
	}
	/* Destroy a session while its triggers fire. */
	ASSERT_LE(0, kt_trigger_add(self->fd, &t));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(20);
	close(self->fd);
	kt_loads_wait(load, self->cpus);
	close(t.eventfd);
	self->fd = kt_named(self->main, "trigger", KTAPE_MODE_OVERWRITE, RING,
			    4096, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	check_trigger_stream(_metadata, self->fd, self->cpus, &found);
}

TEST_HARNESS_MAIN
