// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that are read ahead for checking in windows: packets of all sizes, damage behind
 * empty packets, the memory that they hold, and windows that are large enough for threads.
 *
 * A window is a span of time.  The events that each CPU has in it are checked on a copy of the
 * checker's state, by any thread.  The packets of a ring that were read ahead for it are a lane.
 */
#define SIM_CPUS     2U
#define TRACE_PACKET (128U << 10)

#include "lib_sim_work.h"

#include <sched.h>

#include "util/pool.h"
#include "verify/internal.h"
#include "verify/window.h"

#define FINDINGS 64U
#define FULL	 9000U /* steps that fill a packet of each CPU */

/* Pieces of work that begin only when a thread has taken each of them. */
struct pieces {
	void (*work)(void *arg, size_t i);
	void *arg;
	size_t nr;
	size_t begun;
};

void __real_kt_pool_run(struct kt_pool *pool, void (*work)(void *arg, size_t i),
			void *arg, size_t nr);
void __wrap_kt_pool_run(struct kt_pool *pool, void (*work)(void *arg, size_t i),
			void *arg, size_t nr);

static bool together; /* there are as many threads as event rings */

static void do_piece(void *arg, size_t i)
{
	struct pieces *p = arg;

	__atomic_fetch_add(&p->begun, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&p->begun, __ATOMIC_RELAXED) < p->nr)
		sched_yield();
	p->work(p->arg, i);
}

/* Calls of kt_pool_run() come here, see Makefile: one thread may be fast enough for all. */
void __wrap_kt_pool_run(struct kt_pool *pool, void (*work)(void *arg, size_t i),
			void *arg, size_t nr)
{
	struct pieces p = { .work = work, .arg = arg, .nr = nr };

	if (together && nr <= SIM_CPUS)
		__real_kt_pool_run(pool, do_piece, &p, nr);
	else
		__real_kt_pool_run(pool, work, arg, nr);
}

/* What a check has found. */
struct result {
	int ended;
	unsigned int nr;
	char text[FINDINGS][sizeof(((struct ktape_finding *)0)->text)];
	uint64_t records;
	uint64_t passed; /* of these, in windows */
	uint64_t shared; /* windows that several threads have checked */
	size_t room;	 /* bytes in lanes */
};

static struct result plain, other;
static size_t refused; /* size of members for which there is no memory */
static bool running;
static unsigned int refuse_from, asked; /* how often there is memory; requests */

void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

/* Calls of calloc() come here, see Makefile. */
void *__wrap_calloc(size_t nr, size_t size)
{
	if (running && size == refused && asked++ >= refuse_from)
		return NULL;
	return __real_calloc(nr, size);
}

static void verify_lane_finding(void *arg, const struct ktape_finding *f)
{
	struct result *r = arg;

	if (r->nr < FINDINGS)
		snprintf(r->text[r->nr], sizeof(r->text[0]), "%u %u %llu: %s",
			 f->cpu, f->ring, (unsigned long long)f->packet, f->text);
	r->nr++;
}

/* Return the bytes that all lanes hold. */
static size_t bytes_in_lanes(const struct ktape_verify *v)
{
	size_t room = 0;

	for (size_t i = 0; i < v->trace->nr_streams; i++)
		for (unsigned int j = 0;
		     v->trace->streams[i]->lane && j < KT_LANE_SLOTS; j++)
			room += v->trace->streams[i]->lane->slots[j].room;
	return room;
}

/* Check a trace.  @jobs 0: one event after the other. */
static void verify_by_jobs(const char *path, unsigned int jobs, struct result *r)
{
	const struct ktape_verify_options how = { .finding = verify_lane_finding,
						  .arg = r,
						  .jobs = jobs };
	struct ktape_error error;
	struct ktape_verify *v;

	memset(r, 0, sizeof(*r));
	r->ended = ktape_verify_open(path, &how, &v, &error);
	check_equal(r->ended, 0);
	if (r->ended)
		return;
	v->one_by_one = !jobs;
	together = jobs >= SIM_CPUS;
	running = true;
	r->ended = ktape_verify_run(v);
	running = false;
	r->records = v->records;
	r->passed = v->windows ? v->windows->passed : 0;
	r->shared = v->windows ? v->windows->shared : 0;
	r->room = bytes_in_lanes(v);
	ktape_verify_close(v);
}

/* Check a trace one by one, by one thread and by several, and compare. */
static void check_lane_ways(const char *path)
{
	verify_by_jobs(path, 0, &plain);
	for (unsigned int jobs = 1; jobs <= 3; jobs += 2) {
		verify_by_jobs(path, jobs, &other);
		check_equal(other.ended, plain.ended);
		check_equal(other.nr, plain.nr);
		check_equal(other.records, plain.records);
		for (unsigned int i = 0; i < plain.nr && i < FINDINGS; i++)
			check(!strcmp(plain.text[i], other.text[i]),
			      "%u threads: finding %u is \"%s\" instead of \"%s\"",
			      jobs, i, other.text[i], plain.text[i]);
	}
}

/* Do @steps steps of work, on any CPU, and close the packets of all event rings. */
static void close_packets(struct sim *s, unsigned int steps)
{
	sim_work(s, steps);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_close(s, &s->ring[cpu * 2],
			  sim_sum(s->ring[cpu * 2].emitted), false);
}

static void save_lane_trace(struct sim *s, const char *dir)
{
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_free(s);
}

/* A session that is quiet, and then busy: a large packet comes after many small ones. */
static void test_lane_sizes(void)
{
	struct sim *s = sim_new(3);
	const char *dir = trace_folder();

	sim_start(s);
	for (unsigned int i = 0; i < 40; i++)
		close_packets(s, 40);
	close_packets(s, FULL);
	for (unsigned int i = 0; i < 40; i++)
		close_packets(s, 40);
	close_packets(s, FULL);
	save_lane_trace(s, dir);
	check_lane_ways(dir);
	check_equal(plain.ended, 0);
	check(other.passed > other.records / 2, "few records were in windows");
	trace_remove(dir);
}

/* Most of the records are checked by several threads at the same time. */
static void test_lane_threads(void)
{
	struct sim *s = sim_new(4);
	const char *dir = trace_folder();

	sim_start(s);
	for (unsigned int i = 0; i < SIM_PACKETS - 40; i++)
		close_packets(s, 160);
	save_lane_trace(s, dir);
	check_lane_ways(dir);
	check_equal(plain.ended, 0);
	check(other.shared, "no window was shared by threads");
	printf("# %llu of %llu records in windows, %llu times shared\n",
	       (unsigned long long)other.passed, (unsigned long long)other.records,
	       (unsigned long long)other.shared);
	trace_remove(dir);
}

/* Add an empty packet to an event ring. */
static void add_empty(struct sim *s, unsigned int cpu)
{
	struct sim_ring *r = &s->ring[cpu * 2];

	sim_open(s, cpu, KTAPE_RING_EVENT);
	sim_close(s, r, sim_sum(r->emitted), false);
}

/* Behind an empty packet, a packet is damaged or is cut off. */
static void check_empty(bool cut)
{
	struct sim *s = sim_new(5);
	const char *dir = trace_folder();
	char path[300];
	struct stat st;

	sim_start(s);
	for (unsigned int i = 0; i < 4; i++)
		close_packets(s, 1000);
	add_empty(s, 0);
	close_packets(s, 1000);
	if (!cut) {
		struct sim_ring *r = &s->ring[0];

		r->packets[r->nr - 1].data[KTAPE_BLOCK_HEADER + 9] ^= 1;
		close_packets(s, 1000);
	}
	save_lane_trace(s, dir);
	snprintf(path, sizeof(path), "%s/cpu0", dir);
	if (stat(path, &st) || (cut && truncate(path, st.st_size - 64)))
		abort();
	check_lane_ways(dir);
	check(plain.ended > 0, "no damage was found");
	trace_remove(dir);
}

static void test_lane_empty_packet(void)
{
	check_empty(false);
	check_empty(true);
}

/*
 * A lane holds what a window needs, however many packets go through it.  @twice: two
 * streams have the same CPU, so that there are no windows.
 */
static void check_lane_memory(bool twice)
{
	struct sim *s = sim_new(6);
	const char *dir = trace_folder();
	char path[300], as[300];

	sim_start(s);
	for (unsigned int i = 0; i < 2 * KT_LANE_SLOTS; i++) {
		close_packets(s, FULL / 3);
		s->nr_truth = 0; /* what happened is not asked for, and would grow */
	}
	save_lane_trace(s, dir);
	snprintf(path, sizeof(path), "%s/cpu0", dir);
	snprintf(as, sizeof(as), "%s/cpu1", dir);
	if (twice && (unlink(as) || link(path, as)))
		abort();
	verify_by_jobs(dir, 3, &other);
	check(twice ? !other.passed : other.passed > other.records / 2,
	      "%llu records were in windows", (unsigned long long)other.passed);
	/* LANE_MAX of verify/window.c, and a packet, of each ring. */
	check(other.room && other.room <= SIM_CPUS * ((512U << 10) + TRACE_PACKET),
	      "packets hold %zu bytes", other.room);
	printf("# %zu KiB\n", other.room >> 10);
	trace_remove(dir);
}

static void test_lane_memory(void)
{
	check_lane_memory(false);
	check_lane_memory(true);
}

/* Without memory for windows, events are checked one after the other. */
static void test_lane_no_memory(void)
{
	static const size_t sizes[] = {
		sizeof(struct kt_windows), sizeof(struct kt_trial),
		sizeof(struct kt_run),	   sizeof(struct kt_item),
		sizeof(struct kt_lane),
	};
	struct sim *s = sim_new(7);
	const char *dir = trace_folder();

	sim_start(s);
	close_packets(s, FULL);
	save_lane_trace(s, dir);
	verify_by_jobs(dir, 0, &plain);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		/* The first request is refused, or the second; there is only one of kt_windows. */
		refused = sizes[i / 2];
		refuse_from = i % 2 && i > 1;
		asked = 0;
		verify_by_jobs(dir, 3, &other);
		refused = 0;
		check(asked > refuse_from, "nothing of size %zu was refused",
		      sizes[i / 2]);
		check_equal(other.ended, plain.ended);
		check_equal(other.records, plain.records);
		check_equal(other.passed, 0U);
		check_equal(other.room, 0U);
	}
	trace_remove(dir);
}

static unsigned int done[SIM_CPUS];

static void count_piece(void *arg, size_t i)
{
	const unsigned int *more = arg;

	done[i] += *more;
}

/* What pieces write is there when all have ended, and what they read was there before. */
static void test_pool(void)
{
	struct kt_pool *pool;
	unsigned int more, sum = 0;

	if (kt_pool_new(SIM_CPUS, &pool))
		abort();
	together = true;
	for (more = 1; more <= 300; more++) {
		kt_pool_run(pool, count_piece, &more, SIM_CPUS);
		sum += more;
		for (unsigned int i = 0; i < SIM_CPUS; i++)
			check_equal(done[i], sum);
	}
	kt_pool_free(pool);
}

static const struct tap_test tests[] = {
	{ "threads see what they write for each other", test_pool },
	{ "large packets come after many small ones", test_lane_sizes },
	{ "threads check windows, and find the same", test_lane_threads },
	{ "damage behind an empty packet is found", test_lane_empty_packet },
	{ "packets that were read ahead hold little memory", test_lane_memory },
	{ "without memory for windows, all is checked", test_lane_no_memory },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
