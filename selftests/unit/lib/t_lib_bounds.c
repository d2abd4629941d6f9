// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the memory and work that hostile events take in analyses and when they are written
 * (see lib_bounds.h; t_lib_bounds_input reads them). Memory is bounded for any amount of
 * events, and twice as many take about twice the work, which is the number of branches in
 * libktape. A scene is one kind of such events: it returns how many libktape left out, or 0
 * where that is not checked.
 */
#include "lib_bounds.h"

/* ---- names -------------------------------------------------------------------------- */

static uint64_t names_scene(uint64_t n)
{
	struct ktape_registry *r;
	uint64_t left;

	must_succeed(ktape_registry_new(1, &r));
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[7] = { (uint32_t)i, 1 };
		struct ktape_event e = name_event_of(args, KTAPE_OBJ_THREAD, 1);

		must_succeed(ktape_registry_add(r, &e));
	}
	left = ktape_registry_left_out(r);
	ktape_registry_free(r);
	return left;
}

/* Steps between the keys of two objects of similar_keys(). */
static uint32_t id_step, param1_step;

/* Return: how many of the objects are found again. */
static uint64_t similar_keys(uint64_t n)
{
	struct ktape_registry *r;
	uint64_t found = 0;

	must_succeed(ktape_registry_new(1, &r));
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t args[7] = { i * id_step, i * param1_step };
		struct ktape_event e = name_event_of(args, KTAPE_OBJ_ISR, 1);

		must_succeed(ktape_registry_add(r, &e));
	}
	for (uint32_t i = 0; i < n; i++)
		found += !!ktape_registry_object(r, KTAPE_OBJ_ISR, i * id_step,
						 i * param1_step, 1);
	ktape_registry_free(r);
	return found;
}

static struct took run_similar_keys(uint32_t id, uint32_t param1)
{
	id_step = id;
	param1_step = param1;
	return run_scene(similar_keys, 1 << 13);
}

/* Keys that differ in few bits, at any place, take at most twice the work of others. */
static void work_of_similar_keys(void)
{
	struct took usual = run_similar_keys(0x9e3779b1, 0x85ebca6b), t;

	check(usual.work > 1 << 13, "no branches are counted");
	for (unsigned int i = 0; i < 30; i++) {
		t = run_similar_keys(i % 2 << i / 2, 1U << (14 - i / 2));
		check(t.left == 1 << 13 && t.work <= usual.work * 2,
		      "keys %u: %llu found, %g times the work", i,
		      (unsigned long long)t.left, 1. * t.work / usual.work);
	}
}

/* ---- the analyses of TraceX --------------------------------------------------------- */

static struct ktape_rtos *rtos;

/* Event 0xff0001 stands for the head of TraceX's buffer, 0xff0002 for an entry of its registry. */
static void begin_tracex(void)
{
	const uint32_t head[] = {
		KTAPE_FORMAT_ID_TRACEX | 0xff0001, UINT32_MAX, 0, 0, 32,
	};
	struct ktape_event e = event_of(KTAPE_EV_USER_EVENT, 5, head, 0);

	must_succeed(ktape_rtos_new(&rtos));
	must_succeed(ktape_rtos_take(rtos, &e));
}

/* Add event @id of ThreadX: 68 is queue_receive, from 1025 on they are the user's. */
static void add_tracex_entry(uint32_t cpu, uint32_t id, uint32_t thread, uint64_t ts)
{
	const uint32_t args[7] = {
		KTAPE_FORMAT_ID_TRACEX | id, thread, 4, 0, 0, thread, 5
	};
	struct ktape_event e = event_of(KTAPE_EV_USER_EVENT, 7, args, ts);

	e.cpu = cpu;
	must_succeed(ktape_rtos_take(rtos, &e));
}

static uint64_t end_tracex(void)
{
	const char *what;
	uint64_t left;

	must_succeed(ktape_rtos_finish(rtos));
	left = ktape_rtos_left_out(rtos, 0, &what);
	ktape_rtos_free(rtos);
	return left;
}

static uint64_t rtos_events(uint64_t n)
{
	begin_tracex();
	for (uint64_t i = 0; i < n; i++)
		add_tracex_entry(0, 68, 1 + i % 7, i);
	return end_tracex();
}

/*
 * Each event, a thread_suspend (2), says that another thread runs next, so a RUNNING event is
 * inserted before the next one.
 */
static uint64_t rtos_running(uint64_t n)
{
	begin_tracex();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[7] = {
			KTAPE_FORMAT_ID_TRACEX | 2, 1, 4, 0, 2, 1, 5
		};
		struct ktape_event e =
			event_of(KTAPE_EV_USER_EVENT, 7, args, i * 100);

		must_succeed(ktape_rtos_take(rtos, &e));
	}
	return end_tracex();
}

static uint64_t rtos_threads(uint64_t n)
{
	begin_tracex();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[5] = { KTAPE_FORMAT_ID_TRACEX | 0xff0002,
					   1 << 16, (uint32_t)i * 256, 0, 0 };
		struct ktape_event e = event_of(KTAPE_EV_USER_EVENT, 5, args, 0);

		e.blob = "\7name";
		e.blob_size = 6;
		must_succeed(ktape_rtos_take(rtos, &e));
	}
	return end_tracex();
}

static uint64_t rtos_cores(uint64_t n)
{
	begin_tracex();
	for (uint64_t i = 0; i < n; i++)
		add_tracex_entry((uint32_t)i % 8192, 68, 1 + (uint32_t)i, i);
	return end_tracex();
}

/* The services of each of many threads. */
static uint64_t rtos_services(uint64_t n)
{
	const struct ktape_rtos_thread *t;
	struct ktape_rtos_count *counts;
	size_t nr;

	begin_tracex();
	for (uint64_t i = 0; i < n; i++)
		add_tracex_entry(0, 1025 + (uint32_t)i, 1 + (uint32_t)i, i);
	must_succeed(ktape_rtos_finish(rtos));
	must_succeed(ktape_rtos_popular(rtos, -1, &counts, &nr));
	free(counts);
	for (size_t i = 0; (t = ktape_rtos_thread(rtos, i)); i++) {
		must_succeed(ktape_rtos_popular(rtos, t->address, &counts, &nr));
		free(counts);
	}
	ktape_rtos_free(rtos);
	return 0;
}

/* Addresses that collide in a hash table without a secret seed. */
static uint64_t rtos_collisions(uint64_t n)
{
	const uint32_t inverse = 0x0e8b2f51; /* of 0x9e3779b1 */

	begin_tracex();
	for (uint64_t i = 0; i < n; i++)
		add_tracex_entry(0, 68,
				 (uint32_t)((i & 127) | i >> 7 << 27) * inverse, i);
	return end_tracex();
}

/* ---- statistics of Linux --------------------------------------------------------------- */

static struct ktape_registry *registry;
static struct ktape_linux *stats;

static void begin_bounded_linux(void)
{
	must_succeed(ktape_registry_new(1, &registry));
	must_succeed(ktape_linux_new(&bounds_info, registry, &stats));
}

static uint64_t end_linux(void)
{
	const char *what;
	uint64_t left;

	must_succeed(ktape_linux_finish(stats));
	left = ktape_linux_left_out(stats, 0, &what);
	ktape_linux_free(stats);
	ktape_registry_free(registry);
	return left;
}

static uint64_t linux_functions(uint64_t n)
{
	begin_bounded_linux();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { 5, (uint32_t)i };
		struct ktape_event e = event_of(KTAPE_EV_WORKQUEUE_EXECUTE_START,
						2, args, i * 2);

		must_succeed(ktape_linux_take(stats, &e));
		e.opcode = KTAPE_EV_WORKQUEUE_EXECUTE_END;
		e.ts++;
		must_succeed(ktape_linux_take(stats, &e));
	}
	return end_linux();
}

static uint64_t linux_threads(uint64_t n)
{
	begin_bounded_linux();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { (uint32_t)i, (uint32_t)i + 1 };
		struct ktape_event e = event_of(KTAPE_EV_SCHED_SWITCH, 2, args, i);

		e.dat20 = KTAPE_STATE_S << 16;
		must_succeed(ktape_linux_take(stats, &e));
	}
	return end_linux();
}

/* All threads wait and see each other run. */
static uint64_t linux_pairs(uint64_t n)
{
	begin_bounded_linux();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { (uint32_t)(i * 7919) % 4000 + 1,
					  (uint32_t)((i + 1) * 7919) % 4000 + 1 };
		struct ktape_event e = event_of(KTAPE_EV_SCHED_SWITCH, 2, args, i);

		e.dat20 = KTAPE_STATE_R << 16;
		must_succeed(ktape_linux_take(stats, &e));
	}
	return end_linux();
}

/*
 * A quarter as many threads as switches take turns.  Each sees all others run while it
 * waits, so the work for all waits would be the square.  @growing: each thread runs
 * longer than the last one, so each wait is the longest so far.
 */
static uint64_t threads_take_turns(uint64_t n, bool growing)
{
	const uint64_t threads = n / 4;

	begin_bounded_linux();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { (uint32_t)(i % threads) + 1,
					  (uint32_t)((i + 1) % threads) + 1 };
		struct ktape_event e = event_of(KTAPE_EV_SCHED_SWITCH, 2, args,
						growing ? i * i : i);

		e.dat20 = KTAPE_STATE_R << 16;
		must_succeed(ktape_linux_take(stats, &e));
	}
	return end_linux();
}

static uint64_t linux_turns(uint64_t n)
{
	return threads_take_turns(n, false);
}

static uint64_t linux_growing_turns(uint64_t n)
{
	return threads_take_turns(n, true);
}

static uint64_t linux_open(uint64_t n)
{
	begin_bounded_linux();
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { 8 << 20, (uint32_t)i, 0, 0 };
		struct ktape_event e =
			event_of(KTAPE_EV_BLOCK_RQ_ISSUE, 4, args, i);

		must_succeed(ktape_linux_take(stats, &e));
	}
	return end_linux();
}

/* Requests (kind 9) that collide in a table that hashes key ^ kind << 56 without a secret seed. */
static uint64_t linux_collisions(uint64_t n)
{
	const uint64_t inverse = 0xf1de83e19937733dULL; /* of 0x9e3779b97f4a7c15 */

	begin_bounded_linux();
	for (uint64_t i = 0; i < n; i++) {
		uint64_t sector = (i << 49) * inverse ^ 9ULL << 56;
		const uint32_t args[] = { 0, (uint32_t)sector,
					  (uint32_t)(sector >> 32), 0 };
		struct ktape_event e =
			event_of(KTAPE_EV_BLOCK_RQ_ISSUE, 4, args, i);

		must_succeed(ktape_linux_take(stats, &e));
	}
	return end_linux();
}

/* ---- what is written ------------------------------------------------------------------- */

static struct ktape_sink *open_sink(const char *format, const char *options)
{
	struct ktape_sink_options how = {
		.format = format,
		.options = options,
		.path = "/dev/null",
		.info = &bounds_info,
	};
	struct ktape_sink *sink;

	must_succeed(ktape_registry_new(1, &registry));
	how.registry = registry;
	must_succeed(ktape_sink_open(&how, &sink, NULL));
	return sink;
}

/* Return the number of events that the format could not hold. */
static uint64_t close_sink(struct ktape_sink *sink)
{
	const char *what;
	uint64_t missed;

	must_succeed(ktape_sink_finish(sink));
	missed = ktape_sink_missed(sink, 0, &what);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	return missed;
}

static uint64_t native_cpus(uint64_t n)
{
	static uint8_t blob[60000];
	struct ktape_sink *sink = open_sink("native", "form=pipe");

	for (uint64_t i = 0; i < n; i++) {
		struct ktape_event e = event_of(KTAPE_EV_TEXT, 0, NULL, i);

		e.cpu = (uint32_t)i % 8192;
		e.blob = blob;
		e.blob_size = sizeof(blob);
		e.size = 8 + 4 + sizeof(blob);
		must_succeed(ktape_sink_event(sink, &e));
	}
	return close_sink(sink);
}

static uint64_t perfetto_threads(uint64_t n)
{
	struct ktape_sink *sink = open_sink("perfetto", NULL);

	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { (uint32_t)i, (uint32_t)i + 1 };
		struct ktape_event e = event_of(KTAPE_EV_SCHED_SWITCH, 2, args, i);

		e.tid = (int32_t)i;
		must_succeed(ktape_sink_event(sink, &e));
	}
	return close_sink(sink);
}

/*
 * Events of many queues (102 is queue_send), each of which has a state, and of many mutexes (52 is
 * mutex_get).
 */
static uint64_t add_states(struct ktape_sink *sink, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t queue[] = { KTAPE_FORMAT_ID_TBAND | 102,
					   (uint32_t)i, 1 };
		const uint32_t mutex[] = {
			KTAPE_FORMAT_ID_TRACEX | 52, (uint32_t)i, 0, 0, 0, 1, 1
		};
		struct ktape_event e =
			event_of(KTAPE_EV_USER_EVENT, 3, queue, 2 * i);

		e.blob = "";
		must_succeed(ktape_sink_event(sink, &e));
		e = event_of(KTAPE_EV_USER_EVENT, 7, mutex, 2 * i + 1);
		e.blob = "";
		must_succeed(ktape_sink_event(sink, &e));
	}
	return close_sink(sink);
}

static uint64_t perfetto_states(uint64_t n)
{
	return add_states(open_sink("perfetto", NULL), n);
}

static uint64_t chrome_states(uint64_t n)
{
	return add_states(open_sink("chrome", NULL), n);
}

/* Markers and values of many ids and threads, each with a track of its own. */
static uint64_t add_markers(struct ktape_sink *sink, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { (uint32_t)i, 1, 0 };
		struct ktape_event e =
			event_of(KTAPE_EV_MARK_BEGIN, 1, args, 2 * i);

		e.dat20 = 1;
		e.tid = (int32_t)i;
		e.blob = "";
		must_succeed(ktape_sink_event(sink, &e));
		e = event_of(KTAPE_EV_MARK_VALUE, 3, args, 2 * i + 1);
		e.blob = "";
		must_succeed(ktape_sink_event(sink, &e));
	}
	return close_sink(sink);
}

static uint64_t perfetto_markers(uint64_t n)
{
	return add_markers(open_sink("perfetto", NULL), n);
}

static uint64_t chrome_markers(uint64_t n)
{
	return add_markers(open_sink("chrome", NULL), n);
}

static struct ktape_sink *open_lttng(char *dir)
{
	struct ktape_sink_options how = { .format = "lttng",
					  .path = dir,
					  .info = &bounds_info };
	struct ktape_sink *sink;

	if (!mkdtemp(dir))
		abort();
	must_succeed(ktape_registry_new(1, &registry));
	how.registry = registry;
	must_succeed(ktape_sink_open(&how, &sink, NULL));
	return sink;
}

static void remove_dir(const char *dir)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	must_succeed(-!!system(command));
}

/* Events with many names and signatures, each of which may be declared. */
static uint64_t lttng_users(uint64_t n)
{
	char dir[] = "/tmp/ktape-bounds.XXXXXX";
	struct ktape_sink *sink = open_lttng(dir);
	uint8_t typed[64] = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[] = { KTAPE_FORMAT_ID_TRACEX |
					  (1025 + (uint32_t)i % 60000) };
		struct ktape_event e = event_of(KTAPE_EV_USER_EVENT, 1, args, i);

		/* Signed and unsigned numbers. */
		for (unsigned int k = 0; k < 16; k++)
			typed[k * 2] = i >> k & 1;
		e.blob = typed;
		e.blob_size = 32;
		e.size += 36;
		must_succeed(ktape_sink_event(sink, &e));
	}
	close_sink(sink);
	remove_dir(dir);
	return 0;
}

/* System calls of all numbers and tables, most of them unknown. */
static uint64_t lttng_calls(uint64_t n)
{
	char dir[] = "/tmp/ktape-bounds.XXXXXX";
	struct ktape_sink *sink = open_lttng(dir);
	static const uint8_t words[64];

	for (uint64_t i = 0; i < n; i++) {
		const uint32_t args[6] = { 0 };
		struct ktape_event e =
			event_of(i & 1 ? KTAPE_EV_SYS_EXIT : KTAPE_EV_SYS_ENTER,
				 i & 1 ? 2 : 0, args, i);

		e.dat20 = (uint32_t)(i / 4) & 0x7ffff;
		if (i & 2) {
			e.opcode = i & 1 ? KTAPE_EV_SYS_EXIT_WIDE :
					   KTAPE_EV_SYS_ENTER_WIDE;
			e.nargs = 1;
			e.blob = words;
			e.blob_size = i & 1 ? 56 : 48;
			e.size = 80;
		}
		must_succeed(ktape_sink_event(sink, &e));
	}
	close_sink(sink);
	remove_dir(dir);
	return 0;
}

/* ---- tests ---------------------------------------------------------------------------------- */

/*
 * Each scene has far more objects than libktape keeps, or is written without being kept.  A limit
 * is what is taken then, with some room (names take 289 MiB); it is less than keeping all takes.
 * true: libktape has to report that it left something out.
 */

static void memory_names(void)
{
	check_scene_memory("names", names_scene, 3000000, 320 * MIB, true);
}

static void memory_rtos(void)
{
	check_scene_memory("events", rtos_events, 6000000, 448 * MIB, true);
	check_scene_memory("running", rtos_running, 6000000, 768 * MIB, true);
	check_scene_memory("threads", rtos_threads, 2000000, 64 * MIB, true);
}

static void memory_linux(void)
{
	check_scene_memory("functions", linux_functions, 60000, 256 * MIB, true);
	check_scene_memory("threads", linux_threads, 3000000, 256 * MIB, true);
	check_scene_memory("pairs", linux_pairs, 20000, 80 * MIB, true);
	check_scene_memory("open", linux_open, 4000000, 160 * MIB, true);
}

static void memory_output(void)
{
	check_scene_memory("native", native_cpus, 9000, 192 * MIB, false);
	check_scene_memory("perfetto", perfetto_threads, 1200000, 192 * MIB, false);
	check_scene_memory("states for perfetto", perfetto_states, 800000,
			   96 * MIB, true);
	check_scene_memory("states for chrome", chrome_states, 800000, 96 * MIB,
			   true);
	check_scene_memory("markers for perfetto", perfetto_markers, 700000,
			   192 * MIB, false);
	check_scene_memory("markers for chrome", chrome_markers, 500000,
			   32 * MIB, false);
	check_scene_memory("users for lttng", lttng_users, 100000, 48 * MIB, false);
	check_scene_memory("calls for lttng", lttng_calls, 1 << 21, 32 * MIB, false);
}

static void linear(void)
{
	check_work("names", names_scene, 100000);
	check_work("events", rtos_events, 100000);
	check_work("running", rtos_running, 100000);
	check_work("threads", rtos_threads, 20000);
	check_work("cores", rtos_cores, 4000);
	check_work("services", rtos_services, 4000);
	check_work("addresses", rtos_collisions, 2000);
	check_work("functions", linux_functions, 4000);
	check_work("threads of Linux", linux_threads, 50000);
	check_work("turns", linux_turns, 20000);
	check_work("growing turns", linux_growing_turns, 20000);
	check_work("requests", linux_collisions, 8000);
	check_work("perfetto", perfetto_threads, 50000);
	check_work("states for perfetto", perfetto_states, 20000);
	check_work("states for chrome", chrome_states, 20000);
	check_work("markers for perfetto", perfetto_markers, 20000);
	check_work("markers for chrome", chrome_markers, 20000);
	check_work("users for lttng", lttng_users, 20000);
	check_work("calls for lttng", lttng_calls, 100000);
}

static const struct tap_test tests[] = {
	{ "memory for names", memory_names },
	{ "memory for the analyses of TraceX", memory_rtos },
	{ "memory for the statistics of Linux", memory_linux },
	{ "memory for writing", memory_output },
	{ "work of objects with similar keys", work_of_similar_keys },
	{ "work of analyses", linear },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
