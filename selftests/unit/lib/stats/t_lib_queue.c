// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test which threads ran while others stood in run queues, and that nothing is counted
 * while nothing is recorded.  All numbers were counted by hand: 1 tick is 1 ns.
 */
#include "lib_scene.h"
#include "stats/linux.h"

#define MIGRATE(tid, from, to)                           \
	KTAPE_EV_SCHED_MIGRATE_TASK, 2, 120 | (to) << 8, \
	{                                                \
		(tid), (from)                            \
	}

static struct ktape_registry *registry;

static struct ktape_linux *begin_queue_stats(void)
{
	struct ktape_linux *l;

	if (ktape_registry_new(scene_info.freq, &registry) ||
	    ktape_linux_new(&scene_info, registry, &l))
		abort();
	return l;
}

static void play_queue_scene(struct ktape_linux *l,
			     const struct scene_event *events, size_t nr)
{
	check_equal(scene_play_of(events, 0, nr, (scene_take *)ktape_linux_take, l),
		    0);
}

static void end_queue_stats(struct ktape_linux *l)
{
	ktape_linux_free(l);
	ktape_registry_free(registry);
}

/* What ran while a thread waited; -1 = not known. */
static void check_ran_instead(const struct ktape_linux *l, int32_t tid,
			      int32_t other, uint64_t ns)
{
	const struct ktape_linux_instead *p;

	for (size_t i = 0; (p = ktape_linux_instead(l, i)); i++) {
		if (p->tid != tid || p->other != other)
			continue;
		check(p->ns == ns, "%d while %d waited: %llu, not %llu", other,
		      tid, (unsigned long long)p->ns, (unsigned long long)ns);
		return;
	}
	check(!ns, "%d did not run while %d waited", other, tid);
}

/* 101 is woken on CPU 1, moves to 0 and 2, and runs on 2; later it is preempted there. */
static const struct scene_event moves[] = {
	{ 1000, 0, 0, SWITCH(0, 100, KTAPE_STATE_R), NULL, 0 },
	{ 1000, 1, 0, SWITCH(0, 104, KTAPE_STATE_R), NULL, 0 },
	{ 1000, 2, 0, SWITCH(0, 106, KTAPE_STATE_R), NULL, 0 },
	{ 2000, 0, 100, WAKEUP(101, 1), NULL, 0 },
	{ 4000, 1, 104, SWITCH(104, 105, KTAPE_STATE_S), NULL, 0 },
	{ 7000, 0, 100, MIGRATE(101, 1, 0), NULL, 0 },
	{ 8000, 0, 100, MIGRATE(101, 0, 2), NULL, 0 },
	{ 12000, 2, 106, SWITCH(106, 101, KTAPE_STATE_S), NULL, 0 },
	{ 13000, 2, 101, SWITCH(101, 106, KTAPE_STATE_PREEMPTED), NULL, 0 },
	{ 17000, 2, 106, SWITCH(106, 107, KTAPE_STATE_S), NULL, 0 },
	{ 22000, 2, 107, SWITCH(107, 106, KTAPE_STATE_S), NULL, 0 },
	{ 25000, 2, 106, SWITCH(106, 101, KTAPE_STATE_S), NULL, 0 },
};

static void queues(void)
{
	const struct ktape_linux_instead *longest;
	struct ktape_linux *l = begin_queue_stats();

	/* The first wait: 10000, of which 4000 on the CPU that it gets. */
	play_queue_scene(l, moves, 8);
	longest = ktape_linux_longest_wait(l);
	check(longest && longest->tid == 101 && longest->other == 106, "longest");
	check_equal(longest->ns, 4000);
	/* The second one, 12000: 107 runs longest at a time, 106 in sum. */
	play_queue_scene(l, moves + 8, ARRAY_SIZE(moves) - 8);
	check_equal(ktape_linux_finish(l), 0);
	longest = ktape_linux_longest_wait(l);
	check(longest && longest->tid == 101 && longest->other == 106, "longest");
	check_equal(longest->ns, 7000);
	check_ran_instead(l, 101, 104, 2000);
	check_ran_instead(l, 101, 105, 3000);
	check_ran_instead(l, 101, 100, 1000);
	check_ran_instead(l, 101, 106, 4000 + 7000);
	check_ran_instead(l, 101, 107, 5000);
	check_ran_instead(l, 101, -1, 0);
	end_queue_stats(l);
}

/* Of 12 moves the first seven queues are known, and the last one. */
static void many_moves(void)
{
	struct ktape_linux *l = begin_queue_stats();
	struct scene_event move = { 2000, 0, 100, MIGRATE(101, 1, 0), NULL, 0 };
	static const struct scene_event last = {
		4000, 1, 104, SWITCH(104, 101, KTAPE_STATE_S), NULL, 0
	};

	play_queue_scene(l, moves, 4);
	for (unsigned int i = 1; i <= 12; i++) {
		move.ts = 2000 + i * 100;
		move.dat20 = 120 | (i + 1) % 2 << 8;
		play_queue_scene(l, &move, 1);
	}
	play_queue_scene(l, &last, 1);
	check_equal(ktape_linux_finish(l), 0);
	check_ran_instead(l, 101, 104, 4 * 100 + 800);
	check_ran_instead(l, 101, 100, 3 * 100);
	check_ran_instead(l, 101, -1, 5 * 100);
	end_queue_stats(l);
}

/* A CPU without an event is not known, and a wait that ends otherwise leaves nothing. */
static void unknown_queues(void)
{
	static const struct scene_event events[] = {
		{ 1000, 0, 0, SWITCH(0, 100, KTAPE_STATE_R), NULL, 0 },
		{ 2000, 0, 100, WAKEUP(101, 7), NULL, 0 },
		{ 3000, 0, 100, MIGRATE(101, 7, 6), NULL, 0 },
		{ 5000, 0, 100, SWITCH(100, 101, KTAPE_STATE_S), NULL, 0 },
		{ 6000, 0, 101, WAKEUP(102, 0), NULL, 0 },
		{ 6500, 0, 101, MIGRATE(102, 0, 1), NULL, 0 },
		{ 7000, 1, 0, SWITCH(102, 103, KTAPE_STATE_S), NULL, 0 },
		{ 8000, 0, 101, WAKEUP(102, 0), NULL, 0 },
		{ 9000, 0, 101, SWITCH(101, 102, KTAPE_STATE_S), NULL, 0 },
	};
	struct ktape_linux *l = begin_queue_stats();

	play_queue_scene(l, events, ARRAY_SIZE(events));
	check_equal(ktape_linux_finish(l), 0);
	check_ran_instead(l, 101, -1, 3000);
	check_ran_instead(l, 101, 100, 0);
	check_ran_instead(l, 102, 101, 1000);
	end_queue_stats(l);
}

/* ---- what is not recorded ------------------------------------------------------------ */

static const uint64_t none[KTAPE_MASK_WORDS];
static const uint64_t all[KTAPE_MASK_WORDS] = { UINT64_MAX, UINT64_MAX };
static const uint64_t without_calls[KTAPE_MASK_WORDS] = {
	UINT64_MAX & ~(1ULL << KTAPE_EV_SYS_ENTER), UINT64_MAX
};

#define PROFILE(mask) \
	KTAPE_EV_PROFILE, 1, 0, { 0 }, (const char *)(mask), sizeof(mask)

static const struct ktape_linux_thread *
find_linux_thread(const struct ktape_linux *l, int32_t tid)
{
	const struct ktape_linux_thread *t;
	size_t i = 0;

	while ((t = ktape_linux_thread(l, i)) && t->tid != tid)
		i++;
	return t;
}

/*
 * From 5000 to 15000 nothing is recorded.  100 runs before and after, 101 waits since
 * 3000, a call of 100 is open since 4000.  The ledgers are recorded during pauses.
 */
static const struct scene_event paused[] = {
	{ 1000, 0, 0, PROFILE(all) },
	{ 1000, 0, 0, SWITCH(0, 100, KTAPE_STATE_R), NULL, 0 },
	{ 3000, 0, 100, WAKEUP(101, 0), NULL, 0 },
	{ 4000, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
	{ 5000, 0, 100, PROFILE(none) },
	{ 9000, 0, 100, KTAPE_EV_LEDGER, 0, 0, { 0 }, NULL, 0 },
	{ 15000, 0, 100, PROFILE(all) },
	{ 16000, 0, 100, KTAPE_EV_SYS_EXIT, 2, SYS_READ, { 1, 0 }, NULL, 0 },
	{ 17000, 0, 100, SWITCH(100, 101, KTAPE_STATE_S), NULL, 0 },
	{ 18000, 0, 101, WAKEUP(100, 0), NULL, 0 },
	{ 20000, 0, 101, SWITCH(101, 100, KTAPE_STATE_S), NULL, 0 },
	{ 21000, 0, 100, PROFILE(none) },
	{ 30000, 0, 100, KTAPE_EV_LEDGER, 0, 0, { 0 }, NULL, 0 },
};

static void queue_pauses(void)
{
	struct ktape_linux *l = begin_queue_stats();
	const struct ktape_linux_cpu *c;
	const struct ktape_series *s;

	play_queue_scene(l, paused, ARRAY_SIZE(paused));
	check_equal(ktape_linux_finish(l), 0);
	c = ktape_linux_cpu(l, 0);
	check_equal(c->unknown, 10000 + 9000);
	check_equal(c->run, 4000 + 6000);
	check_equal(c->idle, 0);
	check_equal(find_linux_thread(l, 100)->run, 4000 + 2000 + 1000);
	check_equal(find_linux_thread(l, 101)->run, 3000);
	/* The wait over the pause is not counted, but reported; the other one is. */
	check(!find_linux_thread(l, 101)->waits && !find_linux_thread(l, 101)->wait,
	      "wait of 101");
	check_equal(find_linux_thread(l, 100)->wait, 2000);
	check_ran_instead(l, 101, 100, 0);
	check_ran_instead(l, 100, 101, 2000);
	s = ktape_linux_series(l, KTAPE_SERIES_RUN_QUEUE);
	check_equal(s->count, 1);
	check_equal(s->uncertain, 1);
	s = ktape_linux_series(l, KTAPE_SERIES_SYSCALL);
	check_equal(s->count, 0);
	check_equal(s->uncertain, 1);
	check_equal(c->lost, 0);
	end_queue_stats(l);
}

/* Enabling more events makes open intervals uncertain; disabling some does not. */
static void changes(void)
{
	struct scene_event more[] = {
		{ 1000, 0, 0, PROFILE(all) },
		{ 1000, 0, 0, SWITCH(0, 100, KTAPE_STATE_R), NULL, 0 },
		{ 2000, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
		{ 3000, 0, 100, PROFILE(without_calls) },
		{ 5000, 0, 100, KTAPE_EV_SYS_EXIT, 2, SYS_READ, { 1, 0 }, NULL, 0 },
	};
	const struct ktape_series *s;
	struct ktape_linux *l = begin_queue_stats();

	play_queue_scene(l, more, ARRAY_SIZE(more));
	check_equal(ktape_linux_finish(l), 0);
	s = ktape_linux_series(l, KTAPE_SERIES_SYSCALL);
	check_equal(s->count, 1);
	check_equal(s->uncertain, 0);
	check_equal(ktape_linux_cpu(l, 0)->run, 4000);
	end_queue_stats(l);
	l = begin_queue_stats();
	more[0].blob = (const char *)without_calls;
	more[3].blob = (const char *)all;
	play_queue_scene(l, more, ARRAY_SIZE(more));
	check_equal(ktape_linux_finish(l), 0);
	s = ktape_linux_series(l, KTAPE_SERIES_SYSCALL);
	check_equal(s->count, 0);
	check_equal(s->uncertain, 1);
	check_equal(ktape_linux_cpu(l, 0)->run, 4000);
	end_queue_stats(l);
}

/* So many intervals are open that the first queue of 101 is not kept. */
static void forgotten_queue(void)
{
	static const struct scene_event rest[] = {
		{ 7000, 0, 100, MIGRATE(101, 1, 0), NULL, 0 },
		{ 9000, 0, 100, SWITCH(100, 101, KTAPE_STATE_S), NULL, 0 },
	};
	struct scene_event woken = { 2500, 3, 0, WAKEUP(0, 3), NULL, 0 };
	struct ktape_linux *l = begin_queue_stats();

	play_queue_scene(l, moves, 4);
	/* Threads that wait from now on, until no more are followed. */
	for (uint32_t tid = 1000; !l->left[KT_SL_LEFT_OPEN]; tid++) {
		woken.args[0] = tid;
		play_queue_scene(l, &woken, 1);
	}
	play_queue_scene(l, rest, ARRAY_SIZE(rest));
	check_equal(ktape_linux_finish(l), 0);
	/* 5000 in the queue of CPU 1, 2000 in that of 0: when it moved is not known. */
	check_ran_instead(l, 101, 104, 0);
	check_ran_instead(l, 101, 100, 0);
	check_ran_instead(l, 101, -1, 7000);
	end_queue_stats(l);
}

#define TURNS 4096U /* threads that take turns */

/* Return how many waits had more switches than could be looked at. */
static uint64_t count_short(const struct ktape_linux *l)
{
	const char *what;
	uint64_t nr;

	for (unsigned int i = 0; (nr = ktape_linux_left_out(l, i, &what)); i++) {
		if (!strncmp(what, "beginnings of long waits", 24))
			return nr;
	}
	return 0;
}

/*
 * Threads take turns of 10, until no look is left for their long waits.  Thread 2 then
 * runs for 30, so the wait of thread 3 is the longest so far: what ran is known for it
 * nevertheless.
 */
static void many_turns(void)
{
	struct scene_event turn = { 1000, 0, 0, SWITCH(0, 1, KTAPE_STATE_R),
				    NULL, 0 };
	const struct ktape_linux_instead *longest;
	struct ktape_linux *l = begin_queue_stats();
	uint32_t tid = 0;

	play_queue_scene(l, &turn, 1);
	while (!count_short(l) || tid) {
		turn.ts += 10;
		turn.args[0] = 1 + tid;
		tid = (tid + 1) % TURNS;
		turn.args[1] = 1 + tid;
		play_queue_scene(l, &turn, 1);
	}
	for (tid = 1; tid <= TURNS; tid++) {
		turn.ts += tid == 2 ? 30 : 10;
		turn.args[0] = tid;
		turn.args[1] = tid % TURNS + 1;
		play_queue_scene(l, &turn, 1);
	}
	longest = ktape_linux_longest_wait(l);
	check(longest && longest->tid == 3 && longest->other == 2, "longest");
	check_equal(longest->ns, 30);
	end_queue_stats(l);
}

static const struct tap_test tests[] = {
	{ "what ran in the queues of a thread that moves", queues },
	{ "a thread that moves often", many_moves },
	{ "queues of unknown CPUs", unknown_queues },
	{ "a queue that is forgotten because too many intervals are open",
	  forgotten_queue },
	{ "so many long waits that there is no look left for all", many_turns },
	{ "nothing is counted over a pause", queue_pauses },
	{ "events that are enabled later", changes },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
