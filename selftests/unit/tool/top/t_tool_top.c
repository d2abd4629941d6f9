// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the intervals of ktape top on the scene in lib_scene.h; 1 tick is 1 ns. The
 * numbers were counted by hand from its lines.
 */
#include "lib_scene.h"
#include "tool/top/top.h"
#include "util/bits.h"

#define VIEWS	   256
#define take_event ((scene_take *)top_model_event)

static struct top_view *views[VIEWS];
static size_t nr_views;

static int keep_view(void *arg, struct top_view *v)
{
	(void)arg;
	if (nr_views == VIEWS)
		abort();
	views[nr_views++] = v;
	return 0;
}

static void forget_views(void)
{
	while (nr_views)
		top_view_free(views[--nr_views]);
}

static struct ktape_registry *names;

static struct top_model *begin_top_model(uint64_t interval)
{
	struct top_model *m;

	forget_views();
	if (ktape_registry_new(scene_info.freq, &names) ||
	    scene_names_to(names, NULL, NULL) ||
	    top_model_new(&scene_info, names, interval, keep_view, NULL, &m))
		abort();
	return m;
}

static void end_top_model(struct top_model *m)
{
	top_model_free(m);
	ktape_registry_free(names);
}

static void play_top_model(uint64_t interval)
{
	struct top_model *m = begin_top_model(interval);

	if (scene_play(0, SCENE_EVENTS, take_event, m) || top_model_end(m))
		abort();
	end_top_model(m);
}

static const struct ktape_linux_thread *thread_of(const struct top_view *v,
						  int32_t tid)
{
	for (size_t i = 0; i < v->nr_threads; i++) {
		if (v->threads[i].tid == tid)
			return &v->threads[i];
	}
	return NULL;
}

/* The scene is from 1000 to 21100. */
static void edges(void)
{
	play_top_model(5000);
	check_equal(nr_views, 5);
	for (size_t i = 0; i < nr_views; i++) {
		check_equal(views[i]->number, i + 1);
		check_equal((uint64_t)views[i]->from, 1000 + i * 5000);
		check_equal(views[i]->span, i == 4 ? 100 : 5000);
		check_equal(views[i]->nr_points, i + 1);
	}
	/* An event at the end of an interval belongs to the next one. */
	check_equal(views[0]->events, 9);
	check_equal(views[4]->events, 3);
}

static void contents(void)
{
	const struct ktape_linux_thread *t;
	const struct top_view *v;

	play_top_model(5000);
	/* From 6000 to 11000: app runs to 8000, and again after 14000. */
	v = views[1];
	t = thread_of(v, 100);
	check(t && !strcmp(t->name, "app"), "no app");
	check_equal(t->run, 2000);
	check_equal(t->wait, 2900); /* woken in the interval before */
	check_equal(v->series[KTAPE_SERIES_WAKEUP].count, 2);
	check_equal(v->shares[KTAPE_SERIES_RUN_QUEUE][TOP_SHARES - 1].value, 2900);
	check_equal(v->classes[KTAPE_CLASS_SCHED], 7);
	check_equal(v->classes[KTAPE_CLASS_IRQ], 2);
	check_equal(v->classes[KTAPE_CLASS_SYSCALL], 1);
	/* The handler from 9000 to 10000, on one of two CPUs. */
	check(top_share_of(v, TOP_IRQ) == 0.1, "%f", top_share_of(v, TOP_IRQ));
	check(v->curves[TOP_IRQ][1] == 0.1, "%f", v->curves[TOP_IRQ][1]);
	check(v->curves[TOP_CPU][0] == 0.8, "%f", v->curves[TOP_CPU][0]);
	/* A wait that goes on is counted where it ends. */
	t = thread_of(views[2], 100);
	check(t && t->wait_max == 4700, "longest wait");
}

/* All intervals together have what one has. */
static void sums(void)
{
	uint64_t run = 0, events = 0, span = 0;

	play_top_model(1ULL << 40);
	check_equal(nr_views, 1);
	check_equal(views[0]->events, SCENE_EVENTS);
	check_equal(views[0]->span, 20100);
	for (uint64_t interval = 1; interval < 21000; interval = interval * 3) {
		if (20100 / interval > VIEWS - 2)
			continue;
		play_top_model(interval);
		run = events = span = 0;
		for (size_t i = 0; i < nr_views; i++) {
			const struct ktape_linux_thread *t =
				thread_of(views[i], 100);

			run += t ? t->run : 0;
			events += views[i]->events;
			span += views[i]->span;
		}
		check_equal(run, 7000);
		check_equal(events, SCENE_EVENTS);
		check_equal(span, 20100);
	}
}

/* A pause costs one interval, however long it is; so does the end of time. */
static void top_pauses(void)
{
	static const struct scene_event far[] = {
		{ 1000, 0, 5, KTAPE_EV_CONTEXT, 1, 0xff, { 5 }, NULL, 0 },
		{ 1000000777, 0, 5, SWITCH(5, 0, KTAPE_STATE_S), NULL, 0 },
		{ UINT64_MAX - 5, 0, 0, SWITCH(0, 5, KTAPE_STATE_R), NULL, 0 },
		{ UINT64_MAX, 0, 5, SWITCH(5, 0, KTAPE_STATE_S), NULL, 0 },
	};
	struct top_model *m = begin_top_model(100);

	check_equal(scene_play_of(far, 0, 2, take_event, m), 0);
	check_equal(nr_views, 2);
	check_equal(views[0]->span, 100);
	check_equal(views[1]->span, 999999600);
	check_equal(scene_play_of(far, 2, 4, take_event, m), 0);
	check_equal(top_model_end(m), 0);
	check(nr_views <= 6, "%zu", nr_views);
	end_top_model(m);
}

static void top_losses(void)
{
	struct ktape_notice lost = scene_lost;
	struct top_model *m = begin_top_model(10000);
	size_t half = 0;

	while (scene[half].ts < lost.to)
		half++;
	check_equal(scene_play(0, half, take_event, m), 0);
	top_model_notice(m, &lost);
	lost.count = 0;
	top_model_notice(m, &lost);
	lost.kind = KTAPE_NOTICE_LATE;
	lost.count = 1000;
	top_model_notice(m, &lost);
	check_equal(scene_play(half, SCENE_EVENTS, take_event, m), 0);
	check_equal(top_model_end(m), 0);
	check_equal(nr_views, 3);
	check_equal(views[0]->lost, 0);
	check_equal(views[1]->lost, 5);
	check(views[1]->unknown, "the loss without a count");
	check_equal(views[2]->lost, 0);
	check_equal(views[2]->lost_total, 5);
	check(!views[2]->unknown, "it is unknown again");
	end_top_model(m);
}

/*
 * A loss that is reported before the first event belongs to the intervals that it overlaps, its
 * events to the last of them.
 */
static void early_losses(void)
{
	struct ktape_notice lost = scene_lost;
	struct top_model *m = begin_top_model(5000);

	lost.from = 12000;
	lost.to = 18500;
	lost.count = 7;
	top_model_notice(m, &lost);
	check_equal(scene_play(0, SCENE_EVENTS, take_event, m), 0);
	check_equal(top_model_end(m), 0);
	check(nr_views >= 4, "%zu intervals", nr_views);
	for (size_t i = 0; i < nr_views; i++) {
		const struct top_view *v = views[i];
		uint64_t gaps = 0, on_cpus = 0, unknown = 0;

		for (size_t c = 0; c < v->nr_cpus; c++) {
			gaps += v->cpus[c].gaps;
			on_cpus += v->cpus[c].lost;
			unknown = kt_max(unknown, v->cpus[c].unknown);
		}
		/* From 1000 on: it begins in the third interval and ends in the fourth. */
		check_equal(v->lost, i == 3 ? 7 : 0);
		check_equal(on_cpus, v->lost);
		check_equal(v->lost_total, i < 3 ? 0 : 7);
		check_equal(v->unknown, i == 2);
		check_equal(gaps, i == 2);
		check(unknown <= v->span, "more unknown time than it has");
	}
	end_top_model(m);
}

static void curves(void)
{
	struct scene_event e = { 0, 0, 5, SWITCH(5, 5, KTAPE_STATE_R), NULL, 0 };
	struct top_model *m = begin_top_model(10);

	/* One event in the first interval, two in the second ... */
	for (unsigned int i = 0; i < TOP_HISTORY + 50; i++) {
		for (unsigned int k = 0; k <= i; k++) {
			e.ts = i * 10;
			check_equal(scene_play_of(&e, 0, 1, take_event, m), 0);
		}
	}
	check_equal(nr_views, TOP_HISTORY + 49);
	check_equal(views[nr_views - 1]->nr_points, TOP_HISTORY);
	for (unsigned int i = 0; i < TOP_HISTORY; i++) {
		double rate = views[nr_views - 1]->curves[TOP_EVENTS][i];

		check(rate == (50.0 + i) * 1e8, "%u: %f", i, rate);
	}
	end_top_model(m);
}

static void top_orders(void)
{
	static const struct {
		const char *key;
		const char *filter;
		int32_t tids[4];
		size_t nr;
	} want[] = {
		{ "run", "", { 101, 100, 7 }, 3 },
		{ "wait", "", { 100, 7, 101 }, 3 },
		{ "longest", "", { 100, 7, 101 }, 3 },
		{ "switches", "", { 100, 7, 101 }, 3 },
		{ "tid", "", { 7, 100, 101 }, 3 },
		{ "name", "", { 100, 7, 101 }, 3 },
		{ "run", "work", { 7 }, 1 },
		{ "run", "101", { 101 }, 1 },
		{ "run", "100", { 101, 100 }, 2 }, /* the process */
		{ "run", "nothing", { 0 }, 0 },
	};
	const struct ktape_linux_thread *list[8];
	struct top_order o;

	play_top_model(1ULL << 40);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		check_equal(top_key_parse(want[i].key, &o.key), 0);
		strcpy(o.filter, want[i].filter);
		check_equal(top_order_apply(&o, views[0], list), want[i].nr);
		for (size_t k = 0; k < want[i].nr; k++)
			check(list[k]->tid == want[i].tids[k], "%zu: %d", i,
			      list[k]->tid);
	}
	check(top_key_parse("cpu", &o.key) < 0, "an unknown key");
}

static const struct tap_test tests[] = {
	{ "begin and end of intervals", edges },
	{ "contents of intervals", contents },
	{ "intervals add up to the whole", sums },
	{ "pauses", top_pauses },
	{ "losses", top_losses },
	{ "losses that are told early are in their intervals", early_losses },
	{ "curves", curves },
	{ "order and filter of threads", top_orders },
};

int main(int argc, char **argv)
{
	int ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);

	forget_views();
	return ret;
}
