// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on a recording that ended while its session recorded: its rings end
 * at different moments.  A control ring that was read further than the event ring has
 * ledgers of events that are not in the trace; an event ring that was read further lacks
 * the markers of its last events.  Neither is a violation, and neither proves anything.
 */
#include <sys/wait.h>

#include "lib_verify.h"

#define EVENTS	0U /* rings of CPU 0 */
#define CONTROL 1U

/* Remove the packets of a ring behind the first @nr, of which there must be some. */
static void end_after(struct sim *s, unsigned int ring, unsigned int nr)
{
	check(s->ring[ring].nr > nr, "ring %u has %u packets", ring,
	      s->ring[ring].nr);
	sim_end_after(s, ring, nr);
}

static void deliver_signals(struct sim *s, unsigned int signals)
{
	while (signals--)
		sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 1, 1, 1, 2);
}

/*
 * Stop and start again after @lacking events of CPU 0; its event ring was read only up to before
 * them.  @ends: the session stops at the end.
 */
static struct sim *restarted(unsigned int lacking, bool ends)
{
	struct sim *s = sim_new(21);
	unsigned int nr;

	sim_start(s);
	sim_work(s, 100);
	deliver_signals(s, 1);
	sim_cut(s, EVENTS);
	nr = s->ring[EVENTS].nr;
	deliver_signals(s, lacking);
	sim_stop(s);
	sim_start(s);
	deliver_signals(s, 1);
	if (ends)
		sim_stop(s);
	sim_finish(s);
	end_after(s, EVENTS, nr);
	return s;
}

static void test_ledger(void)
{
	struct sim *s = restarted(3, false);

	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	/* One says that the session still records, the other what is missing. */
	check_equal(result.notes[KTAPE_RULE_LEDGER], 2);
	end_verified(s);
}

/* The event ring of CPU 0 is not in the trace at all. */
static void test_no_events(void)
{
	struct sim *s = restarted(3, false);

	end_after(s, EVENTS, 0);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 0);
	end_verified(s);
}

/*
 * Verify what a sender writes to a pipe.  The sender waits 3 seconds before the last @tail bytes
 * and the end, in which all events before them are usually delivered; if they are not, the result
 * must be the same.
 */
static void verify_pipe(const char *file, size_t tail)
{
	static char bytes[1 << 18];
	int fd = open(file, O_RDONLY), p[2];
	ssize_t len = read(fd, bytes, sizeof(bytes));
	char path[32];
	size_t first;
	pid_t sender;

	close(fd);
	if (pipe(p) || len <= (ssize_t)tail || len == sizeof(bytes))
		abort();
	first = (size_t)len - tail;
	fflush(NULL);
	sender = fork();
	if (!sender) {
		if (write(p[1], bytes, first) != (ssize_t)first)
			_exit(1);
		usleep(3000000);
		_exit(write(p[1], bytes + first, tail) != (ssize_t)tail);
	}
	close(p[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", p[0]);
	verify_trace(path);
	close(p[0]);
	waitpid(sender, NULL, 0);
}

/* In a pipe, a ring without a packet may get one, whose records are later. */
static void test_ends_in_pipe(void)
{
	const char *dir = trace_folder();
	char file[400];

	mkdir(dir, 0777);
	snprintf(file, sizeof(file), "%s/pipe", dir);
	for (unsigned int later = 0; later < 2; later++) {
		struct sim *s = sim_new(21);
		unsigned int nr;

		sim_start(s);
		deliver_signals(s, 1);
		sim_cut(s, EVENTS);
		nr = s->ring[EVENTS].nr;
		/* Three events that no packet has, but the ledger of the stop. */
		s->ring[EVENTS].emitted[KTAPE_CLASS_SIGNAL] += 3;
		sim_stop(s);
		sim_start(s);
		deliver_signals(s, 1);
		sim_finish(s);
		if (!later)
			end_after(s, EVENTS, nr);
		sim_save_pipe(s, file);
		/* The later packet is the last one: other rings have one packet each. */
		verify_pipe(file, later ? s->ring[EVENTS].packets[nr].len : 0);
		check(later ? result.errors[KTAPE_RULE_LEDGER] > 0 : !result.ret,
		      "%d wrong: %s", result.ret, result.finding[0].text);
		sim_free(s);
	}
	unlink(file);
	rmdir(dir);
}

/*
 * Thread 100 begins a call on CPU 0 and ends another one on CPU 1, when CPU 0 seems to have
 * no more events.  In a pipe a packet may follow, which shows that none is missing.
 */
static void test_pipe_calls(void)
{
	const char *dir = trace_folder();
	struct sim *s = sim_new(21);
	char file[400];
	unsigned int nr;

	mkdir(dir, 0777);
	snprintf(file, sizeof(file), "%s/pipe", dir);
	sim_start(s);
	sim_event(s, 0, KTAPE_EV_SYS_ENTER, 2, 0, 0, 0);
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, 100, 101);
	sim_cut(s, EVENTS);
	nr = s->ring[EVENTS].nr;
	sim_event(s, 1, KTAPE_EV_SCHED_SWITCH, 0, 2, (uint32_t)s->tid[1], 100);
	sim_event(s, 1, KTAPE_EV_SYS_EXIT, 3, 2, 0, 0);
	sim_sync(s, 1, true);
	deliver_signals(s, 1);
	sim_sync(s, 0, true);
	sim_finish(s);
	sim_save_pipe(s, file);
	verify_pipe(file, s->ring[EVENTS].packets[nr].len);
	check_equal(result.errors[KTAPE_RULE_PAIR], 1U);
	check_equal(result.notes[KTAPE_RULE_PAIR], 0U);
	sim_free(s);
	unlink(file);
	rmdir(dir);
}

static struct ktape_block *head_of(struct sim *s, unsigned int at)
{
	return (void *)s->ring[EVENTS].packets[at].data;
}

/*
 * A reader that came late missed a packet with events before and after a start, from whose
 * ledger on the classes are counted.  The next packet, which reports @missed lost events, does
 * not say how many were before.  The last packet reports @more.  @missed 0: as many as there
 * were.  @wrong: the ledgers contradict that.
 */
static void miss_over_start(uint64_t missed, uint64_t more, bool wrong)
{
	struct sim *s = sim_new(21);
	struct sim_ring *r = &s->ring[EVENTS];
	unsigned int at;

	sim_start(s);
	sim_work(s, 100);
	sim_cut(s, EVENTS);
	deliver_signals(s, 5);
	sim_cut(s, EVENTS);
	at = r->nr;
	deliver_signals(s, 2);
	sim_stop(s);
	sim_start(s);
	deliver_signals(s, 3);
	sim_cut(s, EVENTS);
	deliver_signals(s, 4);
	sim_cut(s, EVENTS);
	deliver_signals(s, 5);
	sim_stop(s);
	sim_finish(s);
	if (!missed)
		missed = head_of(s, at)->emitted - head_of(s, at - 1)->emitted;
	sim_remove(s, EVENTS, at--);
	sim_remove(s, EVENTS, 0);
	for (unsigned int i = 0; i < r->nr; i++) {
		struct ktape_block *h = head_of(s, i);

		h->flags |= i && i != at ? 0 : KTAPE_BLOCK_GAP;
		h->discarded += (i < at ? 0 : missed) + (i + 1 < r->nr ? 0 : more);
		ktape_packet_seal(h);
	}
	save_and_verify(s, 0);
	check(wrong ? result.errors[KTAPE_RULE_LEDGER] > 0 : !result.ret,
	      "%d wrong: %s", result.ret, result.finding[0].text);
	end_verified(s);
}

static void test_missed_over_start(void)
{
	miss_over_start(0, 0, false);
	/* Fewer than were missed after the start, and more. */
	miss_over_start(1, 0, true);
	miss_over_start(0, 20, true);
}

/* A record more than there were events is wrong in any case. */
static void test_too_many(void)
{
	struct sim *s = sim_new(21);
	uint64_t *emitted = &s->ring[EVENTS].emitted[KTAPE_CLASS_SIGNAL];

	sim_start(s);
	deliver_signals(s, 2);
	--*emitted;
	sim_stop(s);
	++*emitted;
	sim_start(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_LEDGER], "nothing is wrong");
	end_verified(s);
}

/* The trace has the end of the session: the events are missing. */
static void test_finished(void)
{
	struct sim *s = restarted(3, true);

	save_and_verify(s, 0);
	check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 0);
	end_verified(s);
}

/* ---- markers that were not read ------------------------------------------------ */

/* CPU 0 is offline for a while; its idle thread runs first. */
static void be_offline(struct sim *s)
{
	sim_online(s, 0, false);
	sim_online(s, 0, true);
	sim_profile_on(s, 0, KTAPE_PHASE_ON, s->mask);
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, 0, 101);
	s->tid[0] = 101;
}

/* Threads leave their calls, and others run, while the session is stopped. */
static void restart_session(struct sim *s)
{
	sim_stop(s);
	sim_cut(s, EVENTS);
	memset(s->calling, 0, sizeof(s->calling));
	s->tid[0] = s->tid[0] == 103 ? 102 : 103;
	sim_start(s);
}

static void filter_threads(struct sim *s)
{
	sim_filter(s, KTAPE_FILTER_PID, true);
	sim_work(s, 60);
	sim_filter(s, KTAPE_FILTER_PID, false);
}

static void leave_ends_out(struct sim *s)
{
	sim_change(s, KTAPE_EV_SYS_EXIT, false);
	sim_work(s, 60);
	sim_change(s, KTAPE_EV_SYS_EXIT, true);
}

/* Do @what.  If not @marked, the control rings were read only up to there, without its markers. */
static void do_unmarked(void (*what)(struct sim *s), bool marked)
{
	struct sim *s = sim_new(22);
	unsigned int nr[2];

	sim_start(s);
	sim_work(s, 100);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		sim_cut(s, cpu * 2 + CONTROL);
		nr[cpu] = s->ring[cpu * 2 + CONTROL].nr;
	}
	what(s);
	sim_work(s, 60);
	sim_sync(s, 0, true);
	sim_sync(s, 1, true);
	sim_finish(s);
	for (unsigned int cpu = 0; !marked && cpu < 2; cpu++)
		end_after(s, cpu * 2 + CONTROL, nr[cpu]);
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	check_equal(result.notes[KTAPE_RULE_MARKER], marked ? 0 : 2);
	if (marked)
		check_whole_result(s);
	end_verified(s);
}

static void test_unmarked(void)
{
	static const struct {
		void (*what)(struct sim *s);
	} cases[] = {
		{ be_offline },
		{ restart_session },
		{ filter_threads },
		{ leave_ends_out },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		do_unmarked(cases[i].what, true);
		do_unmarked(cases[i].what, false);
	}
}

/* The control ring was read as far as the event ring, and explains nothing. */
static void test_ends_without_marker(void)
{
	struct sim *s = sim_new(22);

	sim_start(s);
	sim_work(s, 100);
	sim_switch(s, 0);
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, 0, 101);
	s->tid[0] = 101;
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_SWITCH, KTAPE_RING_EVENT, 0);
	end_verified(s);
}

/* What follows when all control rings end with the session. */
enum next {
	NO_START,
	START,
	START_IN_BLOCK /* of the event ring that was open at the stop */
};

static void test_ends_late_events(void)
{
	for (enum next next = NO_START; next <= START_IN_BLOCK; next++) {
		struct sim *s = sim_new(24);
		unsigned int nr[2];

		sim_start(s);
		sim_work(s, 100);
		deliver_signals(s, 1);
		sim_stop(s);
		for (unsigned int cpu = 0; cpu < 2; cpu++) {
			if (next != START_IN_BLOCK)
				sim_cut(s, cpu * 2 + EVENTS);
			sim_cut(s, cpu * 2 + CONTROL);
			nr[cpu] = s->ring[cpu * 2 + CONTROL].nr;
		}
		if (next != NO_START)
			sim_start(s);
		s->running = true;
		deliver_signals(s, 5);
		s->running = false;
		sim_finish(s);
		for (unsigned int cpu = 0; next != NO_START && cpu < 2; cpu++)
			end_after(s, cpu * 2 + CONTROL, nr[cpu]);
		save_and_verify(s, 0);
		if (next == NO_START)
			check_only(KTAPE_RULE_MARKER, KTAPE_RING_EVENT, 0);
		else
			check(!result.ret, "%s", result.finding[0].text);
		end_verified(s);
	}
}

/* ---- absence ------------------------------------------------------------------- */

/* Ask whether CPU 0 delivered a signal in a span in which it did. */
static unsigned int ask_signal_absence(struct sim *s, uint64_t from, uint64_t to)
{
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = from,
		.to = to,
		.one_cpu = true,
	};
	struct ktape_verify *v;
	unsigned int verdict;

	folder = trace_folder();
	sim_save(s, folder, 0);
	if (ktape_verify_open(folder, NULL, &v, NULL) ||
	    ktape_verify_ask(v, &q) || ktape_verify_run(v) < 0)
		abort();
	verdict = ktape_verify_verdict(v, -1, NULL);
	ktape_verify_close(v);
	return verdict;
}

static void test_absent_events(void)
{
	/* The control ring of CPU 0 has the second start, or only that of CPU 1 has it. */
	for (unsigned int has = 0; has < 2; has++) {
		struct sim *s = sim_new(23);
		unsigned int events, control;
		uint64_t from;

		sim_start(s);
		sim_work(s, 100);
		deliver_signals(s, 1);
		sim_cut(s, EVENTS);
		events = s->ring[EVENTS].nr;
		from = s->now + 1;
		deliver_signals(s, 3);
		sim_stop(s);
		sim_cut(s, CONTROL);
		control = s->ring[CONTROL].nr;
		sim_start(s);
		sim_finish(s);
		end_after(s, EVENTS, events);
		if (!has)
			end_after(s, CONTROL, control);
		check_equal(ask_signal_absence(s, from, from + 2),
			    KTAPE_ABSENT_NOT_ENABLED);
		end_verified(s);
	}
}

/* The event was not enabled, but the markers of that were not read. */
static void test_absent_markers(void)
{
	struct sim *s = sim_new(34);
	unsigned int nr;
	uint64_t from, to;

	sim_start(s);
	sim_work(s, 100);
	sim_cut(s, CONTROL);
	nr = s->ring[CONTROL].nr;
	sim_change(s, KTAPE_EV_SIGNAL_DELIVER, false);
	from = s->now;
	deliver_signals(s, 5);
	to = s->now;
	sim_change(s, KTAPE_EV_SIGNAL_DELIVER, true);
	sim_work(s, 60);
	sim_finish(s);
	end_after(s, CONTROL, nr);
	check_equal(ask_signal_absence(s, from, to), KTAPE_ABSENT_NOT_ENABLED);
	end_verified(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a ledger with events that were not read", test_ledger },
		{ "the same without the event ring", test_no_events },
		{ "a ledger with fewer events than there are", test_too_many },
		{ "events that were missed before and after a start",
		  test_missed_over_start },
		{ "a ledger in a trace with the end of its session", test_finished },
		{ "events whose markers were not read", test_unmarked },
		{ "a control ring that was read without a marker",
		  test_ends_without_marker },
		{ "events after the last record of the control rings",
		  test_ends_late_events },
		{ "events that were not read are not proved absent",
		  test_absent_events },
		{ "nor are those whose markers were not read", test_absent_markers },
		/* Last, because it waits for seconds, and a mutant ends at the first failure. */
		{ "a pipe that ends there, or goes on", test_ends_in_pipe },
		{ "a call without an end in a pipe that goes on", test_pipe_calls },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
