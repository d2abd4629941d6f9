// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of tasks, softirqs and interrupts that interrupt each other, on all CPUs, in a
 * discard session whose reader follows by mapping: each event is read once, whole, with
 * the next number of its CPU and context, and in order of time.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"

#include "kt_blocks.h"
#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_module.h"
#include "kt_ring.h"

#define MODULE	   "kt_storm.ko"
#define PARAMETERS "/sys/module/kt_storm/parameters/"
#define RING	   (4 << 20)
#define BLOCK	   16384
#define EACH	   40000 /* events of tasks, a CPU and round; fewer of others */
#define ROUNDS	   2
#define STORM_ID   0x5707
#define LEVELS	   3 /* task, softirq, interrupt, as in modules/kt_storm.c */
#define CPUS_MAX   16

/**
 * struct seen - what the reader has seen of one CPU
 * @m: its event ring
 * @pos: position of the next byte to read
 * @ts: time of the last record
 * @seq: next number, by level
 * @mapped: @m is mapped; a CPU that is offline has no ring
 */
struct seen {
	struct kt_map m;
	uint64_t pos, ts, seq[LEVELS];
	bool mapped;
};

static struct seen seen[CPUS_MAX];
static char wrong[160];
static atomic_bool ends;
static long records;
static int session;

static __attribute__((format(printf, 1, 2))) void note_nest_error(const char *format,
								  ...)
{
	va_list ap;

	if (wrong[0])
		return;
	va_start(ap, format);
	vsnprintf(wrong, sizeof(wrong), format, ap);
	va_end(ap);
}

/* As hash_32() of the kernel, with all bits. */
static uint32_t hash(uint32_t value)
{
	return value * 0x61c88647U;
}

static void check_storm_record(int cpu, const struct kt_rec *r)
{
	struct seen *s = &seen[cpu];
	uint64_t n;

	if (r->ts < s->ts)
		note_nest_error("CPU %d: time %llu after %llu", cpu,
				(unsigned long long)r->ts,
				(unsigned long long)s->ts);
	s->ts = r->ts;
	if (r->op != KTAPE_EV_USER_EVENT)
		return;
	if (r->nargs != 5 || r->args[0] != STORM_ID || r->args[1] >= LEVELS) {
		note_nest_error("CPU %d: an event of %u arguments, %#x %u", cpu,
				r->nargs, r->args[0], r->args[1]);
		return;
	}
	n = r->args[2] | (uint64_t)r->args[3] << 32;
	if (n != s->seq[r->args[1]])
		note_nest_error("CPU %d, level %u: %llu instead of %llu", cpu,
				r->args[1], (unsigned long long)n,
				(unsigned long long)s->seq[r->args[1]]);
	if (r->args[4] != hash(r->args[2] ^ r->args[1]))
		note_nest_error("CPU %d, level %u: event %llu is torn", cpu,
				r->args[1], (unsigned long long)n);
	s->seq[r->args[1]] = n + 1;
	records++;
}

/*
 * Read what is published of a CPU.  A block behind which another one has begun is closed: its
 * head says where its records end.
 */
static void read_ring(int cpu)
{
	struct seen *s = &seen[cpu];
	uint64_t commit = kt_load(&s->m.page->commit), size = s->m.e.block_size;

	while (s->pos < commit && !wrong[0]) {
		uint64_t at = s->pos % size, block = s->pos - at, end;
		const char *p = s->m.data + block % s->m.e.data_size;
		const struct ktape_block *b = (const void *)p;
		struct kt_rec r = { .ts = s->ts };
		size_t len;

		end = commit - block > size ? b->content_bits / 8 : commit - block;
		if (!at) {
			r.ts = b->ts_begin;
			at = KTAPE_BLOCK_HEADER;
		}
		for (; at < end; at += len) {
			len = kt_decode((const void *)(p + at), end - at, &r);
			if (!len || !r.op) {
				note_nest_error("CPU %d: no record at %llu", cpu,
						(unsigned long long)(block + at));
				return;
			}
			check_storm_record(cpu, &r);
		}
		s->pos = commit - block > size ? block + size : commit;
	}
}

/* Give the blocks that were read as a whole back to the writers. */
static void report_read_positions(int cpus)
{
	struct ktape_position p[CPUS_MAX];
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_POSITION,
				    .positions = (uintptr_t)p };
	int ret;

	for (int cpu = 0; cpu < cpus; cpu++)
		if (seen[cpu].mapped)
			p[c.nr++] = (struct ktape_position){
				.cpu = cpu,
				.kind = KTAPE_RING_EVENT,
				.position = seen[cpu].pos / BLOCK * BLOCK,
			};
	ret = kt_ioctl(session, KTAPE_IOC_CONSUMER, &c);
	if (ret)
		note_nest_error("POSITION: %d", ret);
}

static void *storm_reader_main(void *arg)
{
	int cpus = *(int *)arg;
	bool last;

	do {
		last = atomic_load(&ends);
		for (int cpu = 0; cpu < cpus; cpu++)
			if (seen[cpu].mapped)
				read_ring(cpu);
		report_read_positions(cpus);
		usleep(1000);
	} while (!last && !wrong[0]);
	return NULL;
}

static bool is_reader_behind(int cpus)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		if (seen[cpu].mapped &&
		    __atomic_load_n(&seen[cpu].pos, __ATOMIC_ACQUIRE) <
			    kt_load(&seen[cpu].m.page->commit))
			return true;
	return false;
}

/*
 * Compare what was read with what the module counted, and add that up: the events of each level
 * in @of, the interrupts in the middle of an event in @nested.
 */
static void compare_storm_counts(struct __test_metadata *_metadata,
				 uint64_t *of, uint64_t *nested)
{
	FILE *f = fopen(PARAMETERS "counts", "r");
	unsigned long long n[LEVELS], inside;
	int cpu;

	ASSERT_NE(NULL, f);
	while (fscanf(f, "%d %llu %llu %llu %llu", &cpu, &n[0], &n[1], &n[2],
		      &inside) == 5)
		for (int level = 0; level < LEVELS; level++) {
			EXPECT_EQ(n[level], seen[cpu].seq[level])
			{
				TH_LOG("CPU %d, level %d", cpu, level);
			}
			of[level] += n[level];
			*nested += level ? 0 : inside;
		}
	fclose(f);
}

FIXTURE(nest)
{
	int cpus;
};

FIXTURE_SETUP(nest)
{
	char path[256];
	const char *folder = getenv("KTAPE_TESTS");

	self->cpus = sysconf(_SC_NPROCESSORS_CONF);
	ASSERT_GE(CPUS_MAX, self->cpus);
	snprintf(path, sizeof(path), "%s/" MODULE, folder ? folder : "/tests");
	ASSERT_EQ(0, kt_insmod(path, ""));
	session = kt_session(KTAPE_MODE_DISCARD, RING, BLOCK,
			     KT_OPS(KTAPE_EV_USER_EVENT));
	ASSERT_LE(0, session);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		seen[cpu].mapped = !kt_map_ring(session, cpu, KTAPE_RING_EVENT,
						&seen[cpu].m);
}

FIXTURE_TEARDOWN(nest)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		if (seen[cpu].mapped)
			kt_unmap_ring(&seen[cpu].m);
	close(session);
	kt_rmmod("kt_storm");
}

TEST_F_TIMEOUT(nest, every_event_once, 7200)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_REGISTER };
	uint64_t of[LEVELS] = {}, nested = 0, lost = 0;
	long rounds = kt_tries(ROUNDS);
	struct ktape_stats stats;
	pthread_t reader;
	char text[16];

	snprintf(text, sizeof(text), "%d", EACH);
	ASSERT_EQ(0, kt_ioctl(session, KTAPE_IOC_CONSUMER, &c));
	ASSERT_EQ(0, kt_control(session, KTAPE_IOC_START));
	ASSERT_EQ(0, pthread_create(&reader, NULL, storm_reader_main, &self->cpus));
	for (long i = 0; i < rounds && !wrong[0]; i++) {
		ASSERT_EQ(0, kt_write_text(PARAMETERS "run", text));
		while (is_reader_behind(self->cpus) && !wrong[0])
			usleep(1000);
	}
	ASSERT_EQ(0, kt_control(session, KTAPE_IOC_STOP));
	atomic_store(&ends, true);
	pthread_join(reader, NULL);
	EXPECT_STREQ("", wrong);
	compare_storm_counts(_metadata, of, &nested);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		if (!kt_stats(session, cpu, KTAPE_RING_EVENT, &stats))
			lost += kt_lost(&stats);
	EXPECT_EQ(0, lost);
	TH_LOG("%ld tries, %ld events read and checked: %llu of tasks, %llu of softirqs, %llu of interrupts; %llu interrupts in the middle of an event",
	       rounds, records, (unsigned long long)of[0],
	       (unsigned long long)of[1], (unsigned long long)of[2],
	       (unsigned long long)nested);
	EXPECT_LT(0, nested);
}

TEST_HARNESS_MAIN
