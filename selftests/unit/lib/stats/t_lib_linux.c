// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test Linux statistics on the scene in lib_scene.h. All numbers here were
 * counted by hand from its lines: 1 tick is 1 ns.
 *
 * With --scene, --lossy, --named or --interrupts it writes a native trace for tests of the
 * command instead: the scene, with a loss, with another name of its interrupt, or interrupts.
 */
#include "stats/hist.h"
#include "lib_scene.h"
#include "util/map.h"

static bool stacks; /* each switch has the call stack of the thread that left */

static int linux_event(void *l, const struct ktape_event *e)
{
	static const unsigned char frames[16];
	struct ktape_event stack = { .ts = e->ts,
				     .cpu = e->cpu,
				     .kind = e->kind,
				     .tid = e->tid,
				     .opcode = KTAPE_EV_KERNEL_STACK,
				     .dat20 = KTAPE_EV_SCHED_SWITCH,
				     .known = true,
				     .blob = frames,
				     .blob_size = sizeof(frames) };
	int err = ktape_linux_take(l, e);

	return err || !stacks || e->opcode != KTAPE_EV_SCHED_SWITCH ?
		       err :
		       ktape_linux_take(l, &stack);
}

static struct ktape_linux *make_linux_stats(struct ktape_registry **registry,
					    bool loss)
{
	struct ktape_linux *l;
	size_t half = 0;

	if (ktape_registry_new(scene_info.freq, registry) ||
	    scene_names_to(*registry, NULL, NULL) ||
	    ktape_linux_new(&scene_info, *registry, &l))
		abort();
	while (scene[half].ts < scene_lost.to)
		half++;
	if (scene_play(0, half, linux_event, l))
		abort();
	if (loss)
		ktape_linux_notice(l, &scene_lost);
	if (scene_play(half, SCENE_EVENTS, linux_event, l) || ktape_linux_finish(l))
		abort();
	return l;
}

static void free_linux_stats(struct ktape_linux *l, struct ktape_registry *registry)
{
	ktape_linux_free(l);
	ktape_registry_free(registry);
}

/*
 * Return the index of a series of a kind; @name NULL: of all objects together.  If there is none,
 * the index is that behind the last series.
 */
static size_t find_linux_series(const struct ktape_linux *l, unsigned int kind,
				const char *name)
{
	const struct ktape_series *s;
	size_t i = 0;

	for (; (s = ktape_linux_series(l, i)); i++) {
		if (s->kind == kind && (s->key == KTAPE_SERIES_ALL) == !name &&
		    (!name || !strcmp(s->name, name)))
			break;
	}
	return i;
}

static void times(void)
{
	struct ktape_registry *registry;
	struct ktape_linux *l = make_linux_stats(&registry, false);
	const struct ktape_linux_cpu *c = ktape_linux_cpu(l, 0);

	check_equal(ktape_linux_span(l), 20100);
	check(c, "no CPU");
	check_equal(c->run, 10500);
	check_equal(c->idle, 5100);
	check_equal(c->irq, 3500);
	check_equal(c->softirq, 1000);
	check_equal(c->unknown, 0);
	check_equal(c->switches, 7);
	c = ktape_linux_cpu(l, 1);
	check(c, "no second CPU");
	check_equal(c->run, 20000);
	check_equal(c->irq, 100);
	check_equal(c->idle, 0);
	check(!ktape_linux_cpu(l, 2), "a third CPU");
	free_linux_stats(l, registry);
}

static void threads(void)
{
	static const struct {
		int32_t tid;
		const char *name;
		uint64_t run;
		uint64_t wait;
		uint64_t wait_max;
		uint64_t waits;
		uint64_t switches;
	} want[] = {
		{ 101, "wor\"ker\xff", 20000, 0, 0, 0, 0 },
		{ 100, "app", 7000, 2900 + 4700 + 700, 4700, 3, 3 },
		{ 7, "kworker/0:1", 3500, 1000, 1000, 1, 1 },
		{ 0, "swapper", 0, 0, 0, 0, 3 },
	};
	struct ktape_registry *registry;
	struct ktape_linux *l = make_linux_stats(&registry, false);

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct ktape_linux_thread *t = ktape_linux_thread(l, i);

		check(t && t->tid == want[i].tid, "%zu", i);
		check(!strcmp(t->name, want[i].name), "%s", t->name);
		check_equal(t->run, want[i].run);
		check_equal(t->wait, want[i].wait);
		check_equal(t->wait_max, want[i].wait_max);
		check_equal(t->waits, want[i].waits);
		check_equal(t->switches, want[i].switches);
	}
	check(!ktape_linux_thread(l, ARRAY_SIZE(want)), "too many");
	free_linux_stats(l, registry);
}

static void call_stacks(void)
{
	stacks = true;
	times();
	threads();
	stacks = false;
}

static void series(void)
{
	static const struct {
		unsigned int kind;
		const char *name;
		uint64_t count;
		uint64_t sum;
		uint64_t min;
		uint64_t max;
		uint64_t errors;
	} want[] = {
		{ KTAPE_SERIES_IRQ, NULL, 2, 3000, 1000, 2000, 0 },
		{ KTAPE_SERIES_IRQ, "ahci", 2, 3000, 1000, 2000, 0 },
		{ KTAPE_SERIES_TICK, "236", 1, 500, 500, 500, 0 },
		{ KTAPE_SERIES_IPI, NULL, 1, 100, 100, 100, 0 },
		{ KTAPE_SERIES_SOFTIRQ, "NET_RX", 1, 1000, 1000, 1000, 0 },
		{ KTAPE_SERIES_SOFTIRQ_WAIT, "NET_RX", 1, 1700, 1700, 1700, 0 },
		{ KTAPE_SERIES_WAKEUP, NULL, 4, 9700, 800, 4800, 0 },
		{ KTAPE_SERIES_RUN_QUEUE, NULL, 4, 9300, 700, 4700, 0 },
		{ KTAPE_SERIES_SYSCALL, NULL, 3, 11500, 500, 8000, 1 },
		{ KTAPE_SERIES_SYSCALL, "read", 2, 8500, 500, 8000, 1 },
		{ KTAPE_SERIES_SYSCALL, "nanosleep", 1, 3000, 3000, 3000, 0 },
		{ KTAPE_SERIES_WORK, "do_work", 1, 2000, 2000, 2000, 0 },
		{ KTAPE_SERIES_HRTIMER, "hrtimer_wakeup", 1, 300, 300, 300, 0 },
		{ KTAPE_SERIES_HRTIMER_LATE, "hrtimer_wakeup", 1, 700, 700, 700, 0 },
		{ KTAPE_SERIES_BLOCK, "8:0", 1, 2000, 2000, 2000, 0 },
		{ KTAPE_SERIES_TIMER, NULL, 0, 0, 0, 0, 0 },
		{ KTAPE_SERIES_BLOCK_WAIT, NULL, 0, 0, 0, 0, 0 },
	};
	struct ktape_registry *registry;
	struct ktape_linux *l = make_linux_stats(&registry, false);

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		size_t at = find_linux_series(l, want[i].kind, want[i].name);
		const struct ktape_series *s = ktape_linux_series(l, at);

		check(s, "no %s %s", ktape_series_name(want[i].kind),
		      want[i].name ? want[i].name : "");
		check_equal(s->count, want[i].count);
		check_equal(s->sum, want[i].sum);
		check_equal(s->min, want[i].min);
		check_equal(s->max, want[i].max);
		check_equal(s->errors, want[i].errors);
		check_equal(s->uncertain, 0);
	}
	free_linux_stats(l, registry);
}

static void instead(void)
{
	static const struct {
		int32_t tid;
		int32_t other;
		uint64_t ns;
		uint64_t count;
	} want[] = {
		{ 100, 0, 2900 + 1200 + 700, 3 },
		{ 100, 7, 3500, 1 },
		{ 7, 0, 1000, 1 },
	};
	struct ktape_registry *registry;
	struct ktape_linux *l = make_linux_stats(&registry, false);

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct ktape_linux_instead *p = ktape_linux_instead(l, i);

		check(p, "%zu", i);
		check(p->tid == want[i].tid && p->other == want[i].other,
		      "%d %d", p->tid, p->other);
		check_equal(p->ns, want[i].ns);
		check_equal(p->count, want[i].count);
	}
	check(!ktape_linux_instead(l, ARRAY_SIZE(want)), "too many");
	free_linux_stats(l, registry);
}

static void quantiles(void)
{
	struct ktape_registry *registry;
	struct ktape_linux *l = make_linux_stats(&registry, false);
	size_t i = find_linux_series(l, KTAPE_SERIES_WAKEUP, NULL);
	struct ktape_quantile q;

	/* 800, 1100, 3000, 4800: at most 1/32 too large, and never beyond the largest. */
	ktape_linux_quantile(l, i, 500000, &q);
	check_equal(q.value, 1119);
	check_equal(q.low, q.value);
	check_equal(q.high, q.value);
	ktape_linux_quantile(l, i, 990000, &q);
	check_equal(q.value, 4800);
	check_equal(ktape_linux_bucket(l, i, 10), 1); /* 512 to 1023 */
	check_equal(ktape_linux_bucket(l, i, 11), 1);
	check_equal(ktape_linux_bucket(l, i, 12), 1);
	check_equal(ktape_linux_bucket(l, i, 13), 1);
	check_equal(ktape_linux_bucket(l, i, 14), 0);
	free_linux_stats(l, registry);
}

struct sums {
	uint64_t run[2];
	uint64_t idle[2];
	uint64_t irq[2];
	uint64_t switches;
	uint64_t app_run;
	uint64_t app_wait;
	uint64_t count[KTAPE_SERIES_KINDS];
	uint64_t sum[KTAPE_SERIES_KINDS];
	uint64_t span;
};

static void add_sums(const struct ktape_linux *l, struct sums *sums)
{
	const struct ktape_linux_thread *t;
	const struct ktape_linux_cpu *c;

	sums->span += ktape_linux_span(l);
	for (uint32_t i = 0; (c = ktape_linux_cpu(l, i)) && i < 2; i++) {
		sums->run[i] += c->run;
		sums->idle[i] += c->idle;
		sums->irq[i] += c->irq;
		sums->switches += c->switches;
	}
	for (size_t i = 0; (t = ktape_linux_thread(l, i)); i++) {
		sums->app_run += t->tid == 100 ? t->run : 0;
		sums->app_wait += t->tid == 100 ? t->wait : 0;
	}
	for (size_t i = 0; i < KTAPE_SERIES_KINDS; i++) {
		sums->count[i] += ktape_linux_series(l, i)->count;
		sums->sum[i] += ktape_linux_series(l, i)->sum;
	}
}

/* Wherever the trace is cut, the intervals have what the whole has. */
static void intervals(void)
{
	struct ktape_registry *registry;
	struct sums whole = { .span = 0 };
	struct ktape_linux *l = make_linux_stats(&registry, false);

	add_sums(l, &whole);
	free_linux_stats(l, registry);
	check_equal(whole.app_run, 7000);
	for (size_t cut = 1; cut < SCENE_EVENTS; cut++) {
		struct sums parts = { .span = 0 };

		check_equal(ktape_registry_new(scene_info.freq, &registry), 0);
		check_equal(ktape_linux_new(&scene_info, registry, &l), 0);
		check_equal(scene_play(0, cut, linux_event, l), 0);
		check_equal(ktape_linux_advance(l, scene[cut].ts), 0);
		check_equal(ktape_linux_finish(l), 0);
		add_sums(l, &parts);
		ktape_linux_restart(l);
		check(!ktape_linux_thread(l, 0), "a thread is left");
		check(!ktape_linux_series(l, KTAPE_SERIES_KINDS),
		      "a series is left");
		check(!ktape_linux_longest_wait(l), "a wait is left");
		check_equal(ktape_linux_series(l, 0)->max_ts, 0);
		check_equal(scene_play(cut, SCENE_EVENTS, linux_event, l), 0);
		check_equal(ktape_linux_finish(l), 0);
		add_sums(l, &parts);
		check(!memcmp(&parts, &whole, sizeof(whole)), "cut at %zu", cut);
		free_linux_stats(l, registry);
	}
}

/* Five events of CPU 1 between 16100 and 16400. */
static void linux_losses(void)
{
	struct ktape_registry *registry;
	struct ktape_linux *l = make_linux_stats(&registry, true);
	const struct ktape_linux_cpu *c = ktape_linux_cpu(l, 1);
	const struct ktape_series *s;
	struct ktape_quantile q;
	size_t i;

	check_equal(c->lost, 5);
	check_equal(c->gaps, 1);
	check_equal(c->run, 19700);
	check_equal(c->unknown, 300);
	/* With 4 known and 5 unknown values the median is unknown. */
	i = find_linux_series(l, KTAPE_SERIES_WAKEUP, NULL);
	s = ktape_linux_series(l, i);
	check_equal(s->count, 4);
	ktape_linux_quantile(l, i, 500000, &q);
	check_equal(q.value, 1119);
	check_equal(q.low, 0);
	check_equal(q.high, UINT64_MAX);
	/* The minimum of 9 is at most the smallest known value: 800, in the bucket from 800 to 815. */
	ktape_linux_quantile(l, i, 1, &q);
	check_equal(q.high, 815);
	check_equal(q.low, 0);
	free_linux_stats(l, registry);
}

/* A wait with a loss in it is counted, but its duration is unknown. */
static void uncertain(void)
{
	static const struct ktape_notice lost = {
		.kind = KTAPE_NOTICE_LOST,
		.stream = true,
		.cpu = 1,
		.from = 3200,
		.to = 3300,
	};
	struct ktape_registry *registry;
	const struct ktape_series *s;
	struct ktape_quantile q;
	struct ktape_linux *l;
	size_t i = 0;

	check_equal(ktape_registry_new(scene_info.freq, &registry), 0);
	check_equal(ktape_linux_new(&scene_info, registry, &l), 0);
	while (scene[i].ts < lost.to)
		i++;
	check_equal(scene_play(0, i, linux_event, l), 0);
	ktape_linux_notice(l, &lost);
	check_equal(scene_play(i, SCENE_EVENTS, linux_event, l), 0);
	check_equal(ktape_linux_finish(l), 0);
	i = find_linux_series(l, KTAPE_SERIES_WAKEUP, NULL);
	s = ktape_linux_series(l, i);
	check_equal(s->count, 3);
	check_equal(s->uncertain, 1);
	check_equal(ktape_linux_series(l, KTAPE_SERIES_IRQ)->uncertain, 1);
	ktape_linux_quantile(l, i, 1, &q);
	check_equal(q.low, 0);
	check_equal(q.high, UINT64_MAX);
	check_equal(ktape_linux_cpu(l, 1)->uncounted, 1);
	free_linux_stats(l, registry);
}

/* Bounds of buckets ascend to the largest number; a value is kept at most 1/32 too large. */
static void histograms(void)
{
	static struct kt_hist h;
	uint64_t last = 0;

	for (unsigned int b = 1; b < KT_HIST_BUCKETS; b++) {
		check(kt_hist_upper(b) > last, "%u", b);
		last = kt_hist_upper(b);
	}
	check_equal(last, UINT64_MAX);
	for (uint64_t v = 0; v < 1000; v++)
		kt_hist_add(&h, v);
	for (uint64_t rank = 1; rank <= 1000; rank++) {
		uint64_t v = kt_hist_rank(&h, rank);

		check(v >= rank - 1 && (v - rank + 1) * 32 <= rank - 1, "%llu",
		      (unsigned long long)v);
	}
	kt_hist_add(&h, UINT64_MAX);
	check_equal(kt_hist_rank(&h, 1001), UINT64_MAX);
}

/* The map has what an array says that it has, after random additions and removals. */
static void maps(void)
{
	struct kt_map map = { 0 };
	static bool there[4096];
	unsigned int seed = 7, nr = 0;

	for (unsigned int i = 0; i < 200000; i++) {
		unsigned int key = (unsigned int)rand_r(&seed) % 4096;
		struct kt_map_entry *e = kt_map_find(&map, key % 3, key * 64);

		check((e != NULL) == there[key], "%u", key);
		check(!e || e->value == key, "%u", key);
		if (e) {
			kt_map_remove(&map, e);
			nr--;
		} else {
			e = kt_map_put(&map, key % 3, key * 64);
			check(e, "no memory");
			e->value = key;
			nr++;
		}
		there[key] = !there[key];
		check_equal(map.nr, nr);
	}
	kt_map_free(&map);
}

/*
 * A negative value in the result register is an error only for calls that
 * return a status: after rt_sigreturn() it is what the signal had interrupted.
 */
static void statuses(void)
{
	static const struct {
		uint32_t call; /* number and table */
		uint64_t errors;
	} calls[] = {
		{ 0, 1 },	      /* read */
		{ 15, 0 },	      /* rt_sigreturn */
		{ 335, 0 },	      /* uretprobe, on kernels that have it */
		{ 100, 0 },	      /* times */
		{ 173 | 1 << 16, 0 }, /* rt_sigreturn of i386 */
		{ 119 | 1 << 16, 0 }, /* sigreturn of i386 */
		{ 3 | 1 << 16, 1 },   /* read of i386 */
		{ 513 | 2 << 16, 0 }, /* rt_sigreturn of x32 */
	};
	static const uint32_t ret[] = { (uint32_t)-11, 0xffffffff };

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		uint32_t abi = calls[i].call >> 16, nr = calls[i].call & 0xffff;
		struct ktape_event e = {
			.ts = 100,
			.tid = 7,
			.known = true,
			.args = ret,
			.opcode = KTAPE_EV_SYS_ENTER,
			.dat20 = calls[i].call,
		};
		const char *name = ktape_syscall_abi_name("x86_64", abi, nr);
		struct ktape_info info = scene_info;
		struct ktape_registry *registry;
		const struct ktape_series *s;
		struct ktape_linux *l;

		if (!name) /* these headers are older than the call */
			continue;
		snprintf(info.machine, sizeof(info.machine), "x86_64");
		check_equal(ktape_registry_new(1, &registry), 0);
		check_equal(ktape_linux_new(&info, registry, &l), 0);
		check_equal(ktape_linux_take(l, &e), 0);
		e.ts = 200;
		e.opcode = KTAPE_EV_SYS_EXIT;
		e.nargs = 2;
		/* The kernel does not record this call's number at its exit. */
		if (strstr(name, "sigreturn"))
			e.dat20 = 0xffff | 1 << 18;
		check_equal(ktape_linux_take(l, &e), 0);
		check_equal(ktape_linux_finish(l), 0);
		s = ktape_linux_series(
			l, find_linux_series(l, KTAPE_SERIES_SYSCALL, name));
		check(s && s->count == 1, "%s is not counted", name);
		check(s->errors == calls[i].errors, "%s: %u errors", name,
		      (unsigned int)s->errors);
		s = ktape_linux_series(
			l, find_linux_series(l, KTAPE_SERIES_SYSCALL, NULL));
		check_equal(s->errors, calls[i].errors);
		free_linux_stats(l, registry);
	}
}

/* A thread that ended more than 10 s before the last event keeps its name. */
static void linux_ended_thread(void)
{
	static const uint32_t named[] = { 7, 6, 0, 1000, 0, 5000, 0 };
	static const uint32_t runs[] = { 0, 7 }, leaves[] = { 7, 0 };
	const struct ktape_event events[] = {
		{ .ts = 1000,
		  .opcode = KTAPE_EV_REGISTRY,
		  .nargs = 7,
		  .args = named,
		  .dat20 = KTAPE_OBJ_THREAD,
		  .blob = "brief",
		  .blob_size = 5,
		  .known = true },
		{ .ts = 2000,
		  .opcode = KTAPE_EV_SCHED_SWITCH,
		  .nargs = 2,
		  .args = runs,
		  .tid = 0,
		  .known = true },
		{ .ts = 5000,
		  .opcode = KTAPE_EV_SCHED_SWITCH,
		  .nargs = 2,
		  .args = leaves,
		  .tid = 7,
		  .known = true,
		  .dat20 = KTAPE_STATE_X << 16 },
		{ .ts = 5000 + 30 * scene_info.freq,
		  .opcode = KTAPE_EV_MARK,
		  .nargs = 1,
		  .args = runs,
		  .tid = 0,
		  .known = true },
	};
	const struct ktape_linux_thread *t;
	struct ktape_registry *registry;
	struct ktape_linux *l;
	size_t i = 0;

	check_equal(ktape_registry_new(scene_info.freq, &registry), 0);
	check_equal(ktape_linux_new(&scene_info, registry, &l), 0);
	check_equal(ktape_registry_add(registry, &events[0]), 0);
	for (size_t k = 1; k < ARRAY_SIZE(events); k++)
		check_equal(ktape_linux_take(l, &events[k]), 0);
	check_equal(ktape_linux_finish(l), 0);
	while ((t = ktape_linux_thread(l, i)) && t->tid != 7)
		i++;
	check(t, "no thread 7");
	check(!strcmp(t->name, "brief"), "it is called \"%s\"", t->name);
	check_equal(t->tgid, 6);
	check_equal(t->run, 3000);
	free_linux_stats(l, registry);
}

/* Random events in random order. */
static void linux_random_events(void)
{
	uint64_t words[8] = { 0 };
	struct ktape_registry *registry;
	const struct ktape_series *s;
	struct ktape_linux *l;
	unsigned int seed = 3;
	uint64_t count = 0;

	check_equal(ktape_registry_new(1, &registry), 0);
	check_equal(ktape_linux_new(&scene_info, registry, &l), 0);
	for (unsigned int i = 0; i < 300000; i++) {
		uint32_t args[7];
		struct ktape_event e = {
			.ts = (uint64_t)rand_r(&seed) << (i % 33),
			.cpu = (uint32_t)rand_r(&seed) % 5,
			.tid = rand_r(&seed) % 20 - 1,
			.opcode = (uint8_t)(rand_r(&seed) % 256),
			.nargs = (uint8_t)(rand_r(&seed) % 8),
			.args = args,
			.dat20 = (uint32_t)rand_r(&seed) & 0xfffff,
			.known = true,
		};
		const struct ktape_notice n = {
			.kind = KTAPE_NOTICE_LOST,
			.cpu = e.cpu,
			.from = e.ts,
			.to = e.ts + 5,
			.count = i & 1,
		};

		for (unsigned int a = 0; a < 7; a++)
			args[a] = (uint32_t)rand_r(&seed) % 16;
		if (rand_r(&seed) & 1) {
			/* An empty profile, which is a pause, or not. */
			words[0] = (uint64_t)rand_r(&seed) & 1;
			e.blob = words;
			e.blob_size = sizeof(words);
		}
		check_equal(ktape_linux_take(l, &e), 0);
		if (i % 1000 == 999)
			ktape_linux_notice(l, &n);
	}
	check_equal(ktape_linux_finish(l), 0);
	for (size_t i = 0; (s = ktape_linux_series(l, i)); i++)
		count += s->count;
	check(count, "nothing was measured");
	free_linux_stats(l, registry);
}

static const struct tap_test tests[] = {
	{ "time of CPUs", times },
	{ "threads", threads },
	{ "call stacks of switches change nothing", call_stacks },
	{ "threads that ended long before the end", linux_ended_thread },
	{ "durations and latencies", series },
	{ "results that are not a status", statuses },
	{ "threads that ran instead", instead },
	{ "quantiles", quantiles },
	{ "intervals", intervals },
	{ "losses", linux_losses },
	{ "intervals with a loss in them", uncertain },
	{ "histograms", histograms },
	{ "maps", maps },
	{ "unusual events", linux_random_events },
};

/* The interrupt has another name. */
static int write_named(const char *path, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(scene_names); i++) {
		if (scene_names[i].type == KTAPE_OBJ_IRQ)
			scene_names[i].name = name;
	}
	return scene_write("native", NULL, path, false);
}

#define IRQ_EVERY 100000 /* ns */

/*
 * Write interrupts of 1 to 2 us, of which one in 40 takes up to 20 times as long.
 * All take @percent of that.
 */
static int write_interrupts(const char *path, unsigned int nr, unsigned int percent)
{
	struct ktape_sink_options how = {
		.format = "native",
		.path = path,
		.info = &scene_info,
	};
	struct ktape_event e = { .tid = 0, .known = true, .size = 16 };
	struct ktape_sink *sink;
	unsigned int seed = 7;

	if (ktape_registry_new(scene_info.freq,
			       (struct ktape_registry **)&how.registry) ||
	    ktape_sink_open(&how, &sink, NULL))
		abort();
	for (unsigned int i = 1; i <= nr; i++) {
		uint64_t ns = 1000 + (unsigned int)rand_r(&seed) % 1000;

		if (!(rand_r(&seed) % 40))
			ns *= 1 + (unsigned int)rand_r(&seed) % 20;
		e.ts = (uint64_t)i * IRQ_EVERY;
		e.opcode = KTAPE_EV_IRQ_HANDLER_ENTRY;
		e.dat20 = 24;
		if (ktape_sink_event(sink, &e))
			abort();
		e.ts += ns * percent / 100;
		e.opcode = KTAPE_EV_IRQ_HANDLER_EXIT;
		e.dat20 = 24 | 1 << 18;
		if (ktape_sink_event(sink, &e))
			abort();
	}
	if (ktape_sink_finish(sink))
		abort();
	ktape_sink_close(sink);
	ktape_registry_free((struct ktape_registry *)how.registry);
	return 0;
}

/* With options it writes a trace; scene_write() returns -1 when it has written to a path. */
int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--interrupts"))
		return write_interrupts(argv[2], (unsigned int)atoi(argv[3]),
					(unsigned int)atoi(argv[4]));
	if (argc == 4 && !strcmp(argv[1], "--named"))
		return write_named(argv[2], argv[3]) < -1;
	if (argc == 3 && !strcmp(argv[1], "--scene"))
		return scene_write("native", NULL, argv[2], false) < -1;
	if (argc == 3 && !strcmp(argv[1], "--lossy"))
		return scene_write("native", NULL, argv[2], true) < -1;
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
