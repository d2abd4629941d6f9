// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stress the ring: timer signals interrupt a writer on three levels, like
 * softirq, irq and NMI interrupt a thread, while a reader on another CPU checks
 * every record that it gets.
 *
 * KTAPE_STRESS_RECORDS: number of records to write in all
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lcg.h"
#include "reader.h"
#include "tap.h"

#ifndef STRESS_RECORDS
#define STRESS_RECORDS 40000000ULL
#endif

#define LEVELS 3
#define PERIOD 150000 /* ns between signals of a level */
/* Seconds that a plan may take on a busy machine. */
#define PATIENCE (1800 + target / (STRESS_RECORDS / 1800))

struct plan {
	unsigned long block_size;
	unsigned int blocks;
	unsigned int mode;
	unsigned int percent; /* share of all records */
	unsigned int rings; /* rings of records that are written before waiting for the reader */
	bool to_read; /* the share counts records read, not written */
};

/*
 * On a busy machine most of a small ring is overwritten before the reader gets
 * to it.
 */
static const struct plan plans[] = {
	{ 64 << 10, 16, KTAPE_MODE_OVERWRITE, 60, 2, true },
	{ 4096, 4, KTAPE_MODE_OVERWRITE, 10, 100, false },
	{ 1024, 4, KTAPE_MODE_OVERWRITE, 3, 400, false },
	{ 64 << 10, 16, KTAPE_MODE_DISCARD, 25, 1, true },
	{ 4096, 4, KTAPE_MODE_DISCARD, 2, 4, true },
};

static struct rig rig;
static struct reader reader;
static volatile unsigned int level, inside;
static volatile bool done;
static uint64_t luck = 1;
static u64 target; /* records to write in all */

static struct {
	u64 written, lost, read, nested, interrupted, deep, rejected;
	u64 extends;
} total;

/* Mostly small records, as in real use. */
static unsigned int shape_of(u32 number)
{
	static const u8 shapes[] = {
		2, 0, 1, 2, 3, 0, 2, 1, 5, 2, 0, 3, 1, 2,  2, 0, 1,
		9, 2, 3, 0, 2, 7, 1, 0, 2, 2, 3, 1, 0, 11, 2, 1,
	};

	return shapes[number % sizeof(shapes)];
}

static inline void emit_stress_record(unsigned int context, u32 number)
{
	inside = 1;
	rig_emit(&rig, context, shape_of(number));
	inside = 0;
}

/* A signal of level n interrupts levels below n only. */
static void on_level_signal(int signal)
{
	unsigned int mine = (unsigned int)(signal - SIGRTMIN) + 1, i, burst;
	unsigned int outer = level, was_inside = inside;

	level = mine;
	total.interrupted += was_inside;
	total.deep += outer > 0;
	burst = lcg_below(&luck, 256);
	/* Mostly a few records; sometimes more than a small ring holds. */
	burst = burst < 250 ? 1 + burst % 4 : 200;
	for (i = 0; i < burst; i++)
		emit_stress_record(mine, rig.seq[mine]);
	total.nested += burst;
	if (burst == 4)
		rig_emit_too_big(&rig, mine);
	level = outer;
	inside = was_inside;
}

static void handle_signals(void)
{
	int n, below;

	for (n = 0; n < LEVELS; n++) {
		struct sigaction action = { .sa_handler = on_level_signal };

		sigemptyset(&action.sa_mask);
		for (below = 0; below <= n; below++)
			sigaddset(&action.sa_mask, SIGRTMIN + below);
		sigaction(SIGRTMIN + n, &action, NULL);
	}
}

static bool start_timers(timer_t *timers)
{
	int n;

	for (n = 0; n < LEVELS; n++) {
		struct sigevent event = {
			.sigev_notify = SIGEV_THREAD_ID,
			.sigev_signo = SIGRTMIN + n,
		};
		struct itimerspec when = {
			.it_interval.tv_nsec = PERIOD + 13700 * n,
			.it_value.tv_nsec = PERIOD,
		};

		event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
		if (timer_create(CLOCK_MONOTONIC, &event, &timers[n]) ||
		    timer_settime(timers[n], 0, &when, NULL))
			return false;
	}
	return true;
}

/* Pin the writer to one CPU, as the ring requires; the reader may run on any. */
static void settle_down(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *read_until_done(void *arg)
{
	bool last;

	(void)arg;
	do {
		/* Before reading: what was written until then is read once more. */
		last = done;
		barrier();
		if (!reader_poll(&reader))
			break;
		smp_store_release(kt_word(&rig.page->consumer),
				  (unsigned long)reader.position &
					  ~(rig.block_size - 1));
	} while (!last);
	return NULL;
}

/* Records that the ring took: rig_written() also counts those that it lost. */
static u64 accepted(void)
{
	return rig_written(&rig) - rig_lost(&rig);
}

/*
 * Write bursts of some rings' length at full speed. In between the reader may
 * catch up; otherwise most records would be overwritten before it checks them.
 */
static void write_bursts(const struct plan *plan, u64 records)
{
	/* A record of shape_of() has about 17 bytes. */
	u64 burst = plan->rings * plan->blocks * plan->block_size / 17, i;
	time_t end = time(NULL) + (time_t)PATIENCE;

	while ((plan->to_read ? READ_ONCE(reader.records) : accepted()) < records &&
	       !READ_ONCE(reader.error[0]) && time(NULL) < end) {
		for (i = 0; i < burst; i++)
			emit_stress_record(0, rig.seq[0]);
		while ((unsigned long)READ_ONCE(reader.position) !=
			       READ_ONCE(rig.ring.write) &&
		       !READ_ONCE(reader.error[0]))
			usleep(10);
	}
}

static void ring_stress_check(const struct plan *plan)
{
	u64 lost = rig_lost(&rig), written = rig_written(&rig);
	unsigned int i;

	check(!reader.error[0], "%s", reader.error);
	check_equal(*kt_word(&rig.page->commit), rig.ring.write);
	check_equal(rig.ring.committed, rig.ring.write);
	check_equal(reader.position, kt_ring_commit(&rig.ring));
	check(rig.opened >= rig.opening, "%llu opened blocks, reported %llu times",
	      (unsigned long long)rig.opening, (unsigned long long)rig.opened);
	check_equal(kt_ring_emitted(rig.page), written);
	check(rig_guards_hold(&rig), "written outside the blocks");
	if (plan->mode == KTAPE_MODE_DISCARD) {
		check_equal(reader.records + lost, written);
		check_equal(reader.skipped, 0);
	}
	check(reader.missing <= lost, "%llu records are missing, %llu lost",
	      reader.missing, lost);
	for (i = 0; i < RIG_CONTEXTS && !lost; i++)
		check(!reader.known[i] || reader.next[i] == rig.seq[i],
		      "context %u ends with %u, not %u", i, reader.next[i],
		      rig.seq[i]);
}

static void run_plan(const struct plan *plan)
{
	timer_t timers[LEVELS];
	pthread_t thread;
	cpu_set_t before;
	int n;

	/* Soon after the start, the lower 32 bits of positions wrap. */
	rig_make(&rig, plan->block_size, plan->blocks, plan->mode,
		 (unsigned long)((1ULL << 32) - 4 * plan->block_size * plan->blocks));
	reader_start(&reader, &rig);
	done = false;
	check(!pthread_create(&thread, NULL, read_until_done, NULL), "no thread");
	sched_getaffinity(0, sizeof(before), &before);
	settle_down();
	check(start_timers(timers), "no timers: %s", strerror(errno));
	write_bursts(plan, target * plan->percent / 100);
	for (n = 0; n < LEVELS; n++)
		timer_delete(timers[n]);
	done = true;
	sched_setaffinity(0, sizeof(before), &before);
	pthread_join(thread, NULL);
	ring_stress_check(plan);
	total.written += accepted();
	total.lost += rig_lost(&rig);
	total.read += reader.records;
	total.rejected += reader.rejected;
	total.extends += reader.extends;
	tap_note("%llu written, %llu lost, %llu read", accepted(),
		 rig_lost(&rig), reader.records);
	reader_free(&reader);
	rig_free(&rig);
}

static void test_overwrite_large(void)
{
	run_plan(&plans[0]);
}

static void test_stress_overwrite(void)
{
	run_plan(&plans[1]);
}

static void test_overwrite_small(void)
{
	run_plan(&plans[2]);
}

static void test_discard_large(void)
{
	run_plan(&plans[3]);
}

static void test_stress_discard(void)
{
	run_plan(&plans[4]);
}

static void test_stress_sum(void)
{
	tap_note("%llu written, %llu read and checked, %llu lost, %llu nested, %llu times inside the ring, %llu on two levels, %llu time extensions, %llu copies rejected",
		 total.written, total.read, total.lost, total.nested,
		 total.interrupted, total.deep, total.extends, total.rejected);
	check(total.written >= target / 20 * 19, "only %llu written", total.written);
	check(total.nested > 0 && total.interrupted > 0, "nothing nested");
}

static const struct tap_test tests[] = {
	{ "overwrite, 16 blocks of 64 KiB", test_overwrite_large },
	{ "overwrite, 4 blocks of 4 KiB", test_stress_overwrite },
	{ "overwrite, 4 blocks of 1 KiB", test_overwrite_small },
	{ "discard, 16 blocks of 64 KiB", test_discard_large },
	{ "discard, 4 blocks of 4 KiB", test_stress_discard },
	{ "sum", test_stress_sum },
};

int main(int argc, char **argv)
{
	const char *records = getenv("KTAPE_STRESS_RECORDS");

	target = records ? strtoull(records, NULL, 0) : STRESS_RECORDS;
	handle_signals();
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
