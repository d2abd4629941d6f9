// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that the status of a trigger's snapshot is true: how far the rings reach
 * back on each CPU, how much of the time after the trigger they have, and that
 * the snapshot is complete once it is reported.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <ktape.h>

#include "kselftest_harness.h"

#include "kt_clock.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"
#include "now.h"

#define RING	  (64 << 10)
#define MINUTE_MS 60000ULL
#define SIDE_MS	  300	 /* time to be held on each side of the trigger */
#define PACE_NS	  200000 /* between values of the busy CPU; its ring holds 2500 */
#define CPUS	  8
#define NOTES	  60000 /* values that each CPU may write */

FIXTURE(window)
{
	int main, fd, notify;
};

FIXTURE_SETUP(window)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->notify);
	self->fd = kt_named(self->main, "window", KTAPE_MODE_OVERWRITE, RING,
			    4096, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_MARK_VALUE)));
}

FIXTURE_TEARDOWN(window)
{
	close(self->fd);
	close(self->notify);
	close(self->main);
}

static int add_snapshot(FIXTURE_DATA(window) * self, uint64_t before_ms,
			uint64_t after_ms, uint32_t actions)
{
	const struct ktape_trigger t = {
		KT_OF_ID(9),
		.actions = KTAPE_TRIGGER_SNAPSHOT | actions,
		.eventfd = actions ? self->notify : 0,
		.before_ns = before_ms * 1000000,
		.after_ns = after_ms * 1000000,
	};

	return kt_trigger_add(self->fd, &t);
}

/*
 * Fire the trigger, and check that the status calls the snapshot short: the session was
 * started or cleared at @since, and cannot hold more.
 */
static void check_short_snapshot(struct __test_metadata *_metadata,
				 FIXTURE_DATA(window) * self, uint64_t since)
{
	struct ktape_trigger t;

	kt_write_values(9, 1);
	ASSERT_TRUE(kt_wait_until(kt_is_stopped, self->fd));
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(KTAPE_TRIGGER_DONE | KTAPE_TRIGGER_SHORT, t.flags);
	EXPECT_LT(0, t.held_ns);
	EXPECT_GT(now_ns() - since, t.held_ns);
}

/* The rings hold everything since START, which is less than the window. */
TEST_F(window, since_start)
{
	uint64_t since;

	ASSERT_EQ(0, add_snapshot(self, MINUTE_MS, 0, 0));
	since = now_ns();
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(1, 10);
	check_short_snapshot(_metadata, self, since);
	/* The time in which the session was stopped does not count. */
	usleep(500000);
	since = now_ns();
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(1, 10);
	check_short_snapshot(_metadata, self, since);
}

TEST_F(window, since_clear)
{
	uint64_t since;

	ASSERT_EQ(0, add_snapshot(self, MINUTE_MS, 0, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(1, 10);
	usleep(500000);
	since = now_ns();
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
	kt_write_values(1, 10);
	check_short_snapshot(_metadata, self, since);
}

/*
 * A ring has wrapped, and CLEAR comes in the middle of a block: what the block has from before
 * does not count as held.
 */
TEST_F(window, within_a_block)
{
	uint64_t since;

	ASSERT_EQ(0, add_snapshot(self, MINUTE_MS, 0, 0));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(1, RING / 16);
	usleep(500000);
	since = now_ns();
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
	check_short_snapshot(_metadata, self, since);
}

/* Wait for the eventfd of a trigger. Return: how often it was signalled. */
static uint64_t wait_for_signals(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;

	if (poll(&p, 1, ms) != 1 || read(fd, &n, sizeof(n)) != sizeof(n))
		return 0;
	return n;
}

/* A reported snapshot is complete, also without a time after the trigger. */
TEST_F_TIMEOUT(window, reported_when_done, 60)
{
	struct ktape_trigger t;

	ASSERT_EQ(0, add_snapshot(self, 0, 0, KTAPE_TRIGGER_NOTIFY));
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		kt_write_values(9, 1);
		EXPECT_EQ(1, wait_for_signals(self->notify, 5000 * kt_scale()));
		ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
		EXPECT_EQ(KTAPE_TRIGGER_DONE, t.flags);
		EXPECT_FALSE(kt_is_running(self->fd));
	}
	EXPECT_EQ(0, wait_for_signals(self->notify, 200 * kt_scale()));
}

/* A trigger whose action also stops its own session is done at once. */
TEST_F(window, reported_when_stopped)
{
	struct ktape_trigger spec = { KT_OF_ID(9), .eventfd = self->notify,
				      .target = KTAPE_TRIGGER_SELF,
				      .actions = KTAPE_TRIGGER_SNAPSHOT |
						 KTAPE_TRIGGER_STOP |
						 KTAPE_TRIGGER_NOTIFY };
	struct ktape_trigger t;

	for (int i = 0; i < 3; i++) {
		/* The second snapshot continues, the third one reaches back. */
		spec.after_ns = i == 1 ? MINUTE_MS * 1000000 : 0;
		spec.before_ns = i == 2 ? MINUTE_MS * 1000000 : 0;
		ASSERT_EQ(0, kt_trigger_add(self->fd, &spec));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		kt_write_values(9, 1);
		EXPECT_EQ(1, wait_for_signals(self->notify, 5000 * kt_scale()));
		EXPECT_FALSE(kt_is_running(self->fd));
		ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
		EXPECT_EQ(KTAPE_TRIGGER_DONE | (i ? KTAPE_TRIGGER_SHORT : 0),
			  t.flags);
		EXPECT_EQ(1, t.fired);
		ASSERT_EQ(0, kt_trigger_remove(self->fd, 0));
	}
	EXPECT_EQ(0, wait_for_signals(self->notify, 200 * kt_scale()));
}

/* A session that was stopped otherwise is not reported as done. */
TEST_F(window, not_reported_otherwise)
{
	struct ktape_trigger t;

	ASSERT_EQ(0, add_snapshot(self, 0, 1000 * kt_scale(), KTAPE_TRIGGER_NOTIFY));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_write_values(9, 1);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(1, t.fired);
	EXPECT_EQ(0, t.flags);
	EXPECT_EQ(0, wait_for_signals(self->notify, 1500 * kt_scale()));
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	EXPECT_EQ(0, t.flags);
}

/* ---- the window ------------------------------------------------------------ */

/**
 * struct notes - values that a thread recorded on its CPU, and when
 * @load: the thread, which numbers its values
 * @from: trace clock before the value of that number
 * @to: trace clock after it
 */
struct notes {
	struct kt_load load;
	uint64_t from[NOTES], to[NOTES];
};

/**
 * struct held - the values that a ring holds
 * @first: number of the first value
 * @next: number after the last value
 * @gaps: missing numbers in between
 * @begin: time of the first record
 * @end: time of the last record
 */
struct held {
	uint64_t first, next, gaps, begin, end;
};

static struct notes *notes;
static int busy_cpu;

/*
 * Limit the speed of the busy thread: its ring must hold everything after the
 * trigger on any machine. It wraps in no less than half a second, of which 300
 * ms come after the trigger. A thread that was preempted does not catch up.
 */
static void keep_pace(int cpu, uint64_t n)
{
	uint64_t due = notes[cpu].from[n - n % 16] +
		       kt_ticks(16 * PACE_NS * (uint64_t)kt_scale());
	uint64_t now = kt_now();

	if (now < due)
		usleep(kt_ticks_ns(due - now) / 1000);
}

static void note_value(uint64_t n)
{
	static __thread int fd = -1;
	struct ktape_mark m = {
		.size = sizeof(m), .id = 1, .value = n, .opcode = KTAPE_EV_MARK_VALUE
	};
	int cpu = sched_getcpu();

	if (fd < 0)
		fd = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
	if (n >= NOTES) {
		usleep(10000);
		return;
	}
	notes[cpu].from[n] = kt_now();
	kt_ioctl(fd, KTAPE_MARK_IOC_MARK, &m);
	notes[cpu].to[n] = kt_now();
	if (cpu != busy_cpu)
		usleep(4000 * kt_scale());
	else if (n % 16 == 15)
		keep_pace(cpu, n);
}

static void note_held_value(struct held *h, uint64_t ts, uint32_t id, uint64_t n)
{
	if (!h->begin)
		h->begin = ts;
	h->end = ts;
	if (id != 1)
		return;
	if (!h->next)
		h->first = n;
	else
		h->gaps += n != h->next;
	h->next = n + 1;
}

static void note_value_record(const struct kt_rec *r, void *arg)
{
	uint64_t value;

	if (r->op != KTAPE_EV_MARK_VALUE)
		return;
	memcpy(&value, &r->args[1], sizeof(value));
	note_held_value(arg, r->ts, r->args[0], value);
}

/* Read which values the ring of a CPU holds. Return: number of records, or negative. */
static long read_held_values(int fd, int cpu, struct held *h)
{
	struct kt_map m;
	long n;

	memset(h, 0, sizeof(*h));
	if (kt_map_ring(fd, cpu, KTAPE_RING_EVENT, &m))
		return -1;
	n = kt_walk(&m, note_value_record, h);
	kt_unmap_ring(&m);
	return n;
}

/* Save a trace like `ktape snapshot` does, and read which values of each CPU it holds. */
static int read_saved_window(const char *name, struct held *h)
{
	const struct ktape_recorder_options how = {
		.dir = "saved",
		.flags = KTAPE_RECORD_ATTACHED | KTAPE_RECORD_NO_URING |
			 KTAPE_RECORD_FORCE,
	};
	struct ktape_device *dev, *s;
	struct ktape_recorder *rec;
	const struct ktape_event *e;
	struct ktape_trace *t;
	uint64_t value;

	if (ktape_device_open(NULL, true, &dev) ||
	    ktape_device_attach(dev, name, true, &s) ||
	    ktape_recorder_open(s, &how, &rec) || ktape_recorder_finish(rec))
		return -1;
	ktape_recorder_close(rec);
	ktape_device_close(s);
	ktape_device_close(dev);
	if (ktape_trace_open("saved", NULL, &t, NULL))
		return -1;
	while (ktape_trace_next(t, &e) > 0)
		if (e->opcode == KTAPE_EV_MARK_VALUE && e->cpu < CPUS &&
		    !ktape_event_field(e, "value", &value))
			note_held_value(&h[e->cpu], e->ts,
					ktape_event_arg(e, 0), value);
	ktape_trace_close(t);
	return 0;
}

/*
 * Everything that a thread recorded from @from to @to is there, and nothing
 * after @end.
 */
static void expect_window(struct __test_metadata *_metadata,
			  const struct held *h, const struct notes *n,
			  uint64_t from, uint64_t to, uint64_t end)
{
	uint64_t done = n->load.done < NOTES ? n->load.done : NOTES, asked = 0;
	uint64_t missing = 0, late = 0;

	for (uint64_t i = 0; i < done; i++) {
		bool there = h->next && i >= h->first && i < h->next;
		bool within = n->from[i] >= from && n->to[i] <= to;

		asked += within;
		missing += within && !there;
		late += there && n->from[i] >= end;
	}
	EXPECT_EQ(0, h->gaps);
	EXPECT_EQ(0, missing)
	{
		TH_LOG("%llu of %llu", (unsigned long long)missing,
		       (unsigned long long)asked);
	}
	EXPECT_EQ(0, late);
	EXPECT_LT(0, asked);
}

/*
 * Start threads that record values on all CPUs. Return after @us, and if @busy is not -1, after
 * the ring of that CPU has wrapped or ten more seconds; the threads go on.
 */
static void record_values(struct __test_metadata *_metadata, int fd, int cpus,
			  int busy, uint64_t us)
{
	struct ktape_stats st;

	for (int i = 0; i < cpus; i++) {
		notes[i].load = (struct kt_load){ .cpu = i, .call = note_value };
		ASSERT_EQ(0, pthread_create(&notes[i].load.thread, NULL,
					    kt_load_main, &notes[i].load));
	}
	usleep(us);
	for (int i = 0; i < 1000 && busy >= 0; i++) {
		ASSERT_EQ(0, kt_stats(fd, busy, KTAPE_RING_EVENT, &st));
		if (st.tail)
			break;
		usleep(10000 * kt_scale());
	}
}

static void stop_note_threads(int cpus)
{
	for (int i = 0; i < cpus; i++)
		__atomic_store_n(&notes[i].load.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < cpus; i++)
		pthread_join(notes[i].load.thread, NULL);
}

/*
 * Check each ring and its copy in the saved trace. @to: end of the time that must be held; @end:
 * trace clock when the session had stopped. Return: how far back the rings that have wrapped
 * all reach, in ns; UINT64_MAX: none has.
 */
static uint64_t check_all_windows(struct __test_metadata *_metadata, int fd,
				  int busy, const struct ktape_trigger *t,
				  uint64_t to, uint64_t end)
{
	int cpus = kt_online_cpus() < CPUS ? kt_online_cpus() : CPUS;
	struct held saved[CPUS] = {}, h;
	uint64_t back = UINT64_MAX;
	struct ktape_stats st;

	ASSERT_EQ(0, read_saved_window("window", saved));
	for (int i = 0; i < cpus; i++) {
		ASSERT_LT(0, read_held_values(fd, i, &h));
		ASSERT_EQ(0, kt_stats(fd, i, KTAPE_RING_EVENT, &st));
		EXPECT_EQ(i == busy, st.tail != 0);
		EXPECT_LE(h.begin, t->last);
		if (st.tail && kt_ticks_ns(t->last - h.begin) < back)
			back = kt_ticks_ns(t->last - h.begin);
		expect_window(_metadata, &h, &notes[i],
			      t->last - kt_ticks(t->held_ns), to, end);
		EXPECT_EQ(h.first, saved[i].first);
		EXPECT_EQ(h.next, saved[i].next);
		EXPECT_EQ(0, saved[i].gaps);
		printf("# cpu %d: from %lld to %lld us, held %llu us\n", i,
		       -(long long)kt_ticks_ns(t->last - h.begin) / 1000,
		       (long long)kt_ticks_ns(h.end - t->last) / 1000,
		       (unsigned long long)t->held_ns / 1000);
	}
	return back;
}

/*
 * Record values on all CPUs, fire a trigger on the first one and check the
 * rings. Unless @busy is -1, the ring of that CPU wraps: it reaches back less than
 * requested, and the status says how far.
 */
static void record_and_check_windows(struct __test_metadata *_metadata,
				     FIXTURE_DATA(window) * self, int busy)
{
	const uint64_t ms = SIDE_MS * kt_scale();
	const uint64_t before = busy < 0 ? ms : MINUTE_MS;
	int cpus = kt_online_cpus() < CPUS ? kt_online_cpus() : CPUS;
	struct ktape_trigger t;
	uint64_t end, back;

	notes = calloc(cpus, sizeof(*notes));
	ASSERT_NE(NULL, notes);
	busy_cpu = busy;
	ASSERT_EQ(0, add_snapshot(self, before, ms, KTAPE_TRIGGER_NOTIFY));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	record_values(_metadata, self->fd, cpus, busy, 2 * ms * 1000);
	ASSERT_EQ(0, kt_pin(0));
	kt_write_values(9, 1);
	EXPECT_EQ(1, wait_for_signals(self->notify, 10000 * kt_scale()));
	end = kt_now();
	/* Values from now on are after the end. */
	usleep(20000);
	stop_note_threads(cpus);
	ASSERT_EQ(0, kt_trigger_get(self->fd, 0, &t));
	back = check_all_windows(_metadata, self->fd, busy, &t,
				 t.last + kt_ticks(ms * 1000000), end);
	if (busy < 0) {
		EXPECT_EQ(KTAPE_TRIGGER_DONE, t.flags);
		EXPECT_LE(before * 1000000, t.held_ns);
	} else {
		EXPECT_EQ(KTAPE_TRIGGER_DONE | KTAPE_TRIGGER_SHORT, t.flags);
		/* The division rounds down. */
		EXPECT_GE(back, t.held_ns);
		EXPECT_LE(back, t.held_ns + 2);
	}
	free(notes);
}

TEST_F_TIMEOUT(window, on_every_cpu, 60)
{
	if (!kt_clock_setup(self->main))
		SKIP(return, "the clock cannot be read");
	record_and_check_windows(_metadata, self, -1);
}

TEST_F_TIMEOUT(window, short_on_one_cpu, 60)
{
	if (!kt_clock_setup(self->main))
		SKIP(return, "the clock cannot be read");
	record_and_check_windows(_metadata, self, kt_online_cpus() - 1);
}

TEST_HARNESS_MAIN
