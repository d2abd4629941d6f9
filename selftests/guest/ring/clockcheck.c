// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the times of a trace, for t_clock.sh, which loads the module with each
 * clock. Record calls of all CPUs, each between two readings of CLOCK_MONOTONIC.
 * A trace offers three ways to convert their times to CLOCK_MONOTONIC: the offset
 * in the metadata, the clock_sync records, and the pair of times in each block's
 * header. Times converted with the offset, and with one of the clock_sync records,
 * must lie between the readings; all other pairs must agree with that record, but for a late one
 * of each way (PAIRS_LATE).
 *
 * usage: clockcheck [ROUNDS]
 *   ROUNDS: starts and stops, with pauses between (1 to 3, default 3)
 *
 * Print "mono" or "cycles" and numbers and exit with 0, or print the error and
 * exit with 1, also if there are too few pairs to prove anything.
 */
#include <time.h>

#include "kt_filter.h"
#include "kt_ledger.h"
#include "kt_load.h"
#include "now.h"

#define CPUS_MAX 16
#define CALLS	 3000
#define ROUNDS	 3

/*
 * The two clocks are read one after the other, and a virtual CPU may be
 * descheduled in between, sometimes for long.
 */
#define PAIR_SLACK_NS 100e6 /* between the two readings of a pair */
#define PAIRS_LATE    1	    /* pairs that may be further apart than that */
/* With clock=mono the trace uses the kernel's NMI-safe clock, which may differ slightly. */
#define FAST_SLACK_NS 20e3
#define DRIFT	      1e-4 /* relative error of the trace clock's frequency */

/*
 * The marked calls of one CPU, by the number that each has as argument: CLOCK_MONOTONIC before and
 * after, and the time in the trace.
 */
struct calls {
	uint64_t begin[CALLS], end[CALLS], ts[CALLS];
	int nr;
};

/* One moment in trace clock and CLOCK_MONOTONIC. */
struct pair {
	uint64_t clock;
	int64_t mono;
};

/*
 * All that was recorded: calls, pairs of clock_sync records and of block headers.
 * @ns: nanoseconds of a tick; @offset_ns: CLOCK_MONOTONIC at trace clock 0; @mono:
 * the trace clock is CLOCK_MONOTONIC.
 */
static struct {
	struct calls cpu[CPUS_MAX];
	struct pair syncs[CPUS_MAX * ROUNDS * 2 + 64], blocks[4096];
	int nr_syncs, nr_blocks;
	double ns;
	int64_t offset_ns;
	bool mono;
} c;

static void make_timed_call(uint64_t n)
{
	int cpu = sched_getcpu();
	struct calls *s = &c.cpu[cpu];

	if (s->nr == CALLS)
		return;
	s->begin[s->nr] = now_ns();
	kt_call_marked(s->nr);
	s->end[s->nr++] = now_ns();
}

static void note_block_sync(const struct ktape_block *b, void *arg)
{
	if (b->kind < KTAPE_RINGS_PER_CPU && c.nr_blocks < 4096)
		c.blocks[c.nr_blocks++] =
			(struct pair){ b->sync_clock, b->sync_mono_ns };
}

static void note_clock_record(const struct ktape_block *b,
			      const struct kt_rec *r, void *arg)
{
	int most = sizeof(c.syncs) / sizeof(c.syncs[0]);
	uint64_t n, mono;

	if (r->op == KTAPE_EV_CLOCK_SYNC && c.nr_syncs < most) {
		mono = r->args[0] | (uint64_t)r->args[1] << 32;
		c.syncs[c.nr_syncs++] = (struct pair){ r->ts, mono };
	}
	if (kt_is_marked(r->op, r->blob, &n) && b->cpu < CPUS_MAX && n < CALLS)
		c.cpu[b->cpu].ts[n] = r->ts;
}

/* Return: 1, the exit status. */
static int print_mismatch(const char *what, double a, double b)
{
	printf("%s: %.0f and %.0f\n", what, a, b);
	return 1;
}

/* Read and check the clock's description in the metadata. Return: 0, or 1 after an error. */
static int read_metadata(int fd)
{
	struct ktape_metadata m = { .size = sizeof(m) };
	unsigned long long freq = 0;
	struct ktape_features f;
	long long offset = 0;
	char *text, *p;

	if (kt_features(fd, &f) || kt_ioctl(fd, KTAPE_IOC_METADATA, &m) != -EMSGSIZE)
		return print_mismatch("ioctl", 0, 0);
	text = calloc(1, m.length + 1);
	m.text = (uintptr_t)text;
	if (!text || kt_ioctl(fd, KTAPE_IOC_METADATA, &m))
		return print_mismatch("metadata", 0, 0);
	p = strstr(text, "mono_offset_ns = ");
	if (!p || sscanf(p, "mono_offset_ns = %lld", &offset) != 1)
		return print_mismatch("mono_offset_ns", 0, 0);
	p = strstr(text, "freq = ");
	if (!p || sscanf(p, "freq = %llu", &freq) != 1 || freq != f.clock_hz)
		return print_mismatch("freq", freq, f.clock_hz);
	c.mono = f.clock == KTAPE_CLOCK_MONO;
	if (!strstr(text, c.mono ? "trace_clock = \"mono\"" :
				   "trace_clock = \"cycles\""))
		return print_mismatch("trace_clock", f.clock, 0);
	if (c.mono && (freq != 1000000000 || llabs(offset) > PAIR_SLACK_NS))
		return print_mismatch("mono: freq, offset", freq, offset);
	c.ns = 1e9 / freq;
	c.offset_ns = offset;
	free(text);
	return 0;
}

/* Convert a trace time to CLOCK_MONOTONIC with the reference @p. */
static double to_mono(uint64_t ts, const struct pair *p)
{
	return p->mono + ((double)(int64_t)(ts - p->clock)) * c.ns;
}

/* Check all calls with one reference that is off by at most @slack. */
static int check_calls_by_pair(const char *what, const struct pair *p, double slack)
{
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		const struct calls *s = &c.cpu[cpu];

		for (int i = 0; i < s->nr; i++) {
			double at = to_mono(s->ts[i], p), far;

			far = at > p->mono ? at - p->mono : p->mono - at;
			if (!s->ts[i])
				return print_mismatch("call without a record",
						      cpu, i);
			if (at + slack + far * DRIFT < s->begin[i])
				return print_mismatch(what, at, s->begin[i]);
			if (at - slack - far * DRIFT > s->end[i])
				return print_mismatch(what, at, s->end[i]);
			if (i && s->ts[i] < s->ts[i - 1])
				return print_mismatch("time goes back",
						      s->ts[i], s->ts[i - 1]);
		}
	}
	return 0;
}

static int by_offset(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	double off = b->mono - to_mono(b->clock, a);

	return (off < 0) - (off > 0);
}

/* Choose the pair with the median offset, which is not delayed, as reference for the others. */
static struct pair choose_median_pair(void)
{
	static struct pair p[sizeof(c.syncs) / sizeof(c.syncs[0])];

	memcpy(p, c.syncs, sizeof(p));
	qsort(p, c.nr_syncs, sizeof(*p), by_offset);
	return p[(c.nr_syncs - 1) / 2];
}

/*
 * Compare pairs with a good one. A delay between the two readings makes CLOCK_MONOTONIC, which
 * is read last, too late: PAIRS_LATE pairs may be so by more than the slack, none too early.
 * Return: 0, or 1 if a pair is wrong or there are no more than PAIRS_LATE.
 */
static int check_pairs(const char *what, const struct pair *p, int nr,
		       const struct pair *good)
{
	/* All pairs are within about 10 s. */
	const double slack = PAIR_SLACK_NS + (c.mono ? 0 : 10e9 * DRIFT);
	double best = 1e18, off;
	int late = 0;

	for (int i = 0; i < nr; i++) {
		off = p[i].mono -
		      (c.mono ? (double)p[i].clock : to_mono(p[i].clock, good));
		if (off < -slack || (off > slack && ++late > PAIRS_LATE))
			return print_mismatch(what, p[i].clock, p[i].mono);
		if (off < 0)
			off = -off;
		if (off < best)
			best = off;
	}
	/* A single pair may be delayed and proves nothing. */
	if (nr <= PAIRS_LATE) {
		printf("%s: too few pairs of times: %d, needed %d\n", what, nr,
		       PAIRS_LATE + 1);
		return 1;
	}
	printf("%s: %d pairs, the best within %.0f ns\n", what, nr, best);
	return 0;
}

static int record_rounds(int fd, int rounds)
{
	struct kt_load load[CPUS_MAX];
	struct kt_ledger *l = kt_ledger_new();
	struct kt_buf b = {};
	int cpus = kt_online_cpus();

	l->next = note_clock_record;
	l->t.packet = note_block_sync;
	/*
	 * The pauses last seconds, so that the low half of the clock wraps in most runs: that of
	 * a clock of nanoseconds does so each 4.3 s.
	 */
	for (int i = 0; i < rounds; i++) {
		if (kt_control(fd, KTAPE_IOC_START) ||
		    kt_loads_start(load, cpus, CALLS / ROUNDS, make_timed_call))
			return print_mismatch("start", 0, 0);
		kt_loads_wait(load, cpus);
		if (i < rounds - 1)
			sleep(2);
		kt_control(fd, KTAPE_IOC_STOP);
	}
	if (kt_read_and_parse_all(&l->t, &b, fd) || l->t.error[0]) {
		printf("%s\n", l->t.error);
		return 1;
	}
	free(l);
	kt_buf_free(&b);
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
	int fd = kt_session(KTAPE_MODE_OVERWRITE, 1 << 20, 4096,
			    KT_OPS(KTAPE_EV_SYS_ENTER_WIDE));
	struct pair load, good;
	double slack;

	if (fd < 0 || kt_online_cpus() > CPUS_MAX || rounds < 1 || rounds > ROUNDS)
		return print_mismatch("session", fd, rounds);
	/* The calls of the program busy, which loads all CPUs, would overwrite ours. */
	if (kt_is_busy() &&
	    kt_filter_bit(fd, KTAPE_FILTER_SYSCALL, KTAPE_FILTER_SYSCALL_WORDS,
			  SYS_getppid, true))
		return print_mismatch("filter", fd, 0);
	if (read_metadata(fd) || record_rounds(fd, rounds))
		return 1;
	printf("%s, %.6f ns a tick\n", c.mono ? "mono" : "cycles", c.ns);
	/* With clock=mono both clocks are the same, whatever was read at load. */
	load = (struct pair){ 0, c.mono ? 0 : c.offset_ns };
	slack = c.mono ? FAST_SLACK_NS : PAIR_SLACK_NS;
	if (check_calls_by_pair("metadata", &load, slack))
		return 1;
	if (!c.nr_syncs) {
		printf("the trace has no clock_sync record\n");
		return 1;
	}
	good = choose_median_pair();
	return check_calls_by_pair("clock_sync", &good, PAIR_SLACK_NS) ||
	       check_pairs("clock_sync", c.syncs, c.nr_syncs, &good) ||
	       check_pairs("block", c.blocks, c.nr_blocks, &good);
}
