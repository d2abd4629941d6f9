// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change the profile under load: markers on every CPU, no event missing between
 * an on-marker and an off-marker, nothing recorded while an event is off;
 * context records; unused probes are detached.
 *
 * A marker guarantees: an on-marker is written after the last CPU began to
 * record the event, an off-marker before the first CPU stops.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_module.h"
#include "kt_ring.h"
#include "now.h"

#define LOAD_CPU    1
#define CONTROL_CPU 0
#define FLIPS	    1000
#define RING	    (32UL << 20)
#define BURST	    128
#define BATCH	    50 /* pairs of changes, on and off, between two checks */
#define NUMBERS	    (4L << 20) /* numbers remembered at a time */
#define CLOCKS_NS   1000 /* ns by which two readings of a clock may differ */
#define NAPS	    100	 /* sleeps, each of which gives a context record */

FIXTURE(live)
{
	int main;
	int fd;
};

FIXTURE_SETUP(live)
{
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = RING,
				  .control_size = 1 << 20 };

	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_ioctl(self->main, KTAPE_IOC_CREATE, &c);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_pin(CONTROL_CPU));
}

FIXTURE_TEARDOWN(live)
{
	close(self->fd);
	close(self->main);
}

/* ---- markers ----------------------------------------------------------- */

#define MARKERS 256

/* A marker of the profile, on or off; @mask: the profile after the change. */
struct marker {
	uint64_t ts;
	uint32_t phase, generation;
	__u64 mask[KTAPE_MASK_WORDS];
};

/* What a control ring has: markers, session and clock_sync records, and malformed markers. */
struct markers {
	long n, sessions, syncs, wrong;
	struct marker m[MARKERS];
};

static void keep_profile_marker(const struct kt_rec *r, void *arg)
{
	struct markers *all = arg;
	struct marker *m = &all->m[all->n];

	all->sessions += r->op == KTAPE_EV_SESSION;
	all->syncs += r->op == KTAPE_EV_CLOCK_SYNC;
	if (r->op != KTAPE_EV_PROFILE)
		return;
	if (all->n + 1 == MARKERS || r->nargs != 1 || r->size != sizeof(m->mask)) {
		all->wrong++;
		return;
	}
	m->ts = r->ts;
	m->phase = r->dat20;
	m->generation = r->args[0];
	memcpy(m->mask, r->blob, sizeof(m->mask));
	all->n++;
}

/* Collect the profile's markers of one CPU. The session must be stopped. */
static struct markers *markers_of(int fd, int cpu)
{
	struct markers *all = calloc(1, sizeof(*all));
	struct kt_map m;

	if (kt_map_ring(fd, cpu, KTAPE_RING_CONTROL, &m)) {
		all->wrong = -1;
		return all;
	}
	if (kt_walk(&m, keep_profile_marker, all) < 0)
		all->wrong++;
	kt_unmap_ring(&m);
	return all;
}

/* Changes: operation, opcodes (0 = none), and whether an off-marker and an on-marker follow. */
static const struct change {
	__u32 op;
	unsigned int a, b;
	bool off, on;
} changes[] = {
	{ KTAPE_PROFILE_OR, KTAPE_EV_SYS_ENTER, 0, false, true },
	{ KTAPE_PROFILE_OR, KTAPE_EV_SYS_ENTER, 0, false, false },
	{ KTAPE_PROFILE_OR, KTAPE_EV_SYS_EXIT, KTAPE_EV_SCHED_SWITCH, false, true },
	{ KTAPE_PROFILE_ANDNOT, KTAPE_EV_SYS_EXIT, 0, true, false },
	{ KTAPE_PROFILE_ANDNOT, KTAPE_EV_PROCESS_FORK, 0, false, false },
	{ KTAPE_PROFILE_SET, KTAPE_EV_SYS_EXIT, KTAPE_EV_SYS_ENTER, true, true },
	{ KTAPE_PROFILE_SET, KTAPE_EV_SYS_ENTER_WIDE, 0, true, true },
	{ KTAPE_PROFILE_SET, 0, 0, true, false },
};

TEST_F(live, markers_on_every_cpu)
{
	struct ktape_profile after[ARRAY_SIZE(changes) + 1] = {};
	struct markers *all;
	long k;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_profile(self->fd, &after[0]));
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct ktape_profile *p = &after[i + 1];

		p->op = changes[i].op;
		kt_ops_add(p->mask, changes[i].a);
		kt_ops_add(p->mask, changes[i].b);
		p->mask[0] &= ~1ULL;
		ASSERT_EQ(0, kt_profile(self->fd, p));
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		all = markers_of(self->fd, cpu);
		EXPECT_EQ(0, all->wrong);
		/* START and STOP have one of each. */
		EXPECT_EQ(2, all->sessions);
		EXPECT_EQ(2, all->syncs);
		EXPECT_EQ(KTAPE_PHASE_ON, all->m[0].phase);
		EXPECT_EQ(0, memcmp(after[0].mask, all->m[0].mask,
				    sizeof(after[0].mask)));
		EXPECT_EQ(after[0].generation, all->m[0].generation);
		k = 1;
		for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
			const __u32 phases[] = { KTAPE_PHASE_OFF, KTAPE_PHASE_ON };
			const bool there[] = { changes[i].off, changes[i].on };

			for (int j = 0; j < 2; j++) {
				const struct marker *m = &all->m[k];

				if (!there[j])
					continue;
				k++;
				EXPECT_EQ(phases[j], m->phase);
				EXPECT_EQ(after[i + 1].generation, m->generation);
				EXPECT_EQ(0, memcmp(after[i + 1].mask, m->mask,
						    sizeof(m->mask)))
				{
					TH_LOG("cpu %d change %zu", cpu, i);
				}
				EXPECT_LE(m[-1].ts, m->ts);
			}
		}
		ASSERT_EQ(k + 1, all->n);
		EXPECT_EQ(KTAPE_PHASE_OFF, all->m[k].phase);
		EXPECT_EQ(0, all->m[k].mask[0] | all->m[k].mask[1] |
				     all->m[k].mask[2] | all->m[k].mask[3]);
		free(all);
	}
}

/* ---- a thousand changes under load ------------------------------------- */

static atomic_long next_number;
static atomic_bool load_ends;
static struct call {
	uint64_t before, after;
} called[NUMBERS];

/*
 * Return the entry of call @n. Numbers only grow; an entry is reused NUMBERS
 * calls later.
 */
static struct call *call_entry(long n)
{
	return &called[n % NUMBERS];
}

/* Spend time without system calls. */
static void spin_without_calls(void)
{
	for (volatile int i = 0; i < 100000; i++)
		if (i % 1000 == 0)
			kt_pause();
}

/*
 * Make system calls that return 0, 1, 2, ... in bursts, because a continuous
 * load would overflow any ring.
 */
static void *lseek_main(void *unused)
{
	int fd = syscall(SYS_memfd_create, "load", 0);

	kt_pin(LOAD_CPU);
	for (long n = 0; !atomic_load(&load_ends); n++) {
		call_entry(n)->before = now_ns();
		if (syscall(SYS_lseek, fd, n, SEEK_SET) != n)
			return (void *)1;
		call_entry(n)->after = now_ns();
		atomic_store(&next_number, n + 1);
		if (n % BURST == 0)
			spin_without_calls();
	}
	close(fd);
	return NULL;
}

/**
 * struct found - the recorded calls
 * @times: how often each was recorded, by number modulo NUMBERS
 * @first: number of the first call that may be recorded
 * @last: number of the last one; it may have begun before STOP
 * @unknown: recorded numbers outside of these
 */
struct found {
	char times[NUMBERS];
	long first, last, unknown;
};

static struct found found;

static void count_lseek_exit(const struct kt_rec *r, void *arg)
{
	struct found *f = arg;
	int64_t n;

	if (r->op != KTAPE_EV_SYS_EXIT || (r->dat20 & 0xffff) != SYS_lseek)
		return;
	memcpy(&n, r->args, sizeof(n));
	if (n < f->first || n > f->last)
		f->unknown++;
	else
		f->times[n % NUMBERS]++;
}

/* Return the number of the call that comes next or is running. */
static long next_call(void)
{
	return atomic_load(&next_number);
}

/* Number of calls when a change was requested and when it was done. */
struct window {
	long before_on, after_on, before_off, after_off;
};

/*
 * Return how many calls of a window were wrongly recorded or not. A call that was running
 * during a change may be recorded or not.
 */
static long wrong_by_calls(const struct found *f, const struct window *w,
			   long on_again)
{
	long wrong = 0;

	for (long n = w->after_on + 1; n < w->before_off; n++)
		wrong += f->times[n % NUMBERS] != 1;
	for (long n = w->after_off + 1; n < on_again; n++)
		wrong += f->times[n % NUMBERS] != 0;
	return wrong;
}

/* Return how many calls between an on-marker and the next marker were not recorded. */
static long missing_by_markers(const struct found *f, const struct markers *all)
{
	long k = 0, missing = 0;

	for (long n = f->first; n < f->last; n++) {
		const struct call *c = call_entry(n);

		while (k + 1 < all->n && all->m[k + 1].ts <= c->before)
			k++;
		if (k + 1 < all->n && all->m[k].phase == KTAPE_PHASE_ON &&
		    kt_ops_has(all->m[k].mask, KTAPE_EV_SYS_EXIT) &&
		    c->before > all->m[k].ts + CLOCKS_NS &&
		    c->after + CLOCKS_NS < all->m[k + 1].ts)
			missing += !f->times[n % NUMBERS];
	}
	return missing;
}

/* Record, change the profile, check the rings and clear them. */
static void flip_profile(struct __test_metadata *_metadata, int fd,
			 const struct kt_map *m)
{
	struct window w[BATCH];
	struct markers *all;

	memset(&found, 0, sizeof(found));
	found.first = next_call();
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	for (int i = 0; i < BATCH; i++) {
		w[i].before_on = next_call();
		ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_OR,
					    KTAPE_EV_SYS_EXIT, 0, 0));
		w[i].after_on = next_call();
		usleep(i % 8 * 100);
		w[i].before_off = next_call();
		ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_ANDNOT,
					    KTAPE_EV_SYS_EXIT, 0, 0));
		w[i].after_off = next_call();
		usleep(i % 5 * 100);
	}
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	found.last = next_call();
	ASSERT_LE(kt_load(&m->page->tail), kt_load(&m->page->floor))
	{
		TH_LOG("ring too small for this machine");
	}
	ASSERT_LT(0, kt_walk(m, count_lseek_exit, &found));
	EXPECT_EQ(0, found.unknown);
	for (int i = 0; i < BATCH; i++)
		EXPECT_EQ(0, wrong_by_calls(&found, &w[i],
					    i + 1 < BATCH ? w[i + 1].before_on :
							    found.last));
	all = markers_of(fd, LOAD_CPU);
	EXPECT_EQ(0, all->wrong);
	EXPECT_EQ(2 * BATCH + 2, all->n);
	EXPECT_EQ(0, missing_by_markers(&found, all));
	ASSERT_GT(NUMBERS, next_call() - found.first)
	{
		TH_LOG("too few numbers for this machine");
	}
	free(all);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_CLEAR));
}

TEST_F_TIMEOUT(live, changes_under_load, 150)
{
	struct ktape_features f;
	pthread_t thread;
	struct kt_map m;
	void *ret;

	ASSERT_EQ(0, kt_features(self->fd, &f));
	ASSERT_EQ(KTAPE_CLOCK_MONO, f.clock);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT, &m));
	/* Expedite grace periods, so that a thousand changes take seconds. */
	kt_expedite(true);
	ASSERT_EQ(0, pthread_create(&thread, NULL, lseek_main, NULL));
	while (next_call() < 1000)
		usleep(1000);
	for (int i = 0; i < FLIPS / 2 / kt_scale(); i += BATCH)
		flip_profile(_metadata, self->fd, &m);
	atomic_store(&load_ends, true);
	pthread_join(thread, &ret);
	kt_expedite(false);
	EXPECT_EQ(NULL, ret);
}

/* ---- context records --------------------------------------------------- */

/* Context records: of this thread, which is @tid, of an unknown one, and all. */
struct contexts {
	long mine, unknown, all;
	uint32_t tid;
};

static void count_contexts(const struct kt_rec *r, void *arg)
{
	struct contexts *c = arg;

	if (r->op != KTAPE_EV_CONTEXT)
		return;
	c->all++;
	c->mine += r->args[0] == c->tid;
	c->unknown += r->args[0] == (uint32_t)-1;
}

/*
 * Profiles, and whether each change to another thread needs a context record: not without an
 * event, nor with sched_switch, which names the thread, nor if the profile refuses them.
 */
static const struct context_vector {
	const char *name;
	unsigned int a, b;
	__u32 flags;
	bool want;
} context_vectors[] = {
	{ "sys_enter", KTAPE_EV_SYS_ENTER, 0, 0, true },
	{ "irq", KTAPE_EV_IRQ_HANDLER_ENTRY, 0, 0, true },
	{ "nothing", 0, 0, 0, false },
	{ "sched_switch", KTAPE_EV_SCHED_SWITCH, 0, 0, false },
	{ "both", KTAPE_EV_SCHED_SWITCH, KTAPE_EV_SYS_ENTER, 0, false },
	{ "no context", KTAPE_EV_SYS_ENTER, 0, KTAPE_PROFILE_NO_CONTEXT, false },
};

/* Return how often this thread has slept while another thread ran. */
static long count_sleeps(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) ? 0 : r.ru_nvcsw;
}

TEST_F(live, context_records)
{
	for (size_t i = 0; i < ARRAY_SIZE(context_vectors); i++) {
		const struct context_vector *v = &context_vectors[i];
		struct ktape_profile p = { .op = KTAPE_PROFILE_SET,
					   .flags = v->flags };
		struct contexts c = { .tid = gettid() };
		struct kt_map m;
		long until;

		kt_ops_add(p.mask, v->a);
		kt_ops_add(p.mask, v->b);
		p.mask[0] &= ~1ULL;
		ASSERT_EQ(0, kt_profile(self->fd, &p));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		/* The timer can expire before the sleep has begun. */
		until = count_sleeps() + NAPS;
		while (count_sleeps() < until)
			usleep(100 * kt_scale());
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		for (__u32 kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			ASSERT_EQ(0, kt_map_ring(self->fd, CONTROL_CPU, kind, &m));
			ASSERT_LE(0, kt_walk(&m, count_contexts, &c));
			kt_unmap_ring(&m);
		}
		/* This thread was switched in after each sleep. */
		EXPECT_EQ(v->want, c.mine >= NAPS)
		{
			TH_LOG("%s: %ld of %ld", v->name, c.mine, c.all);
		}
		/*
		 * One record has the thread at START, or says that it is
		 * unknown.
		 */
		EXPECT_LE(1, c.all);
		EXPECT_EQ(v->want, c.all > 1);
		EXPECT_EQ(!!v->flags, c.unknown);
	}
}

/* ---- probes ------------------------------------------------------------ */

/* Return 1 if the probe of an event is attached, 0 if not, or a negative errno. */
static int is_attached(int fd, unsigned int opcode)
{
	struct ktape_event_info e = { .size = sizeof(e), .opcode = opcode };
	int ret = kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &e);

	return ret ? ret : (int)e.attached;
}

/*
 * Wait until the probe of sys_enter is detached, which takes its time after the last session
 * has ended its use. Return: as is_attached().
 */
static int wait_detached(int fd)
{
	int left = 100 * kt_scale();

	while (left-- && is_attached(fd, KTAPE_EV_SYS_ENTER) == 1)
		usleep(100000);
	return is_attached(fd, KTAPE_EV_SYS_ENTER);
}

TEST_F_TIMEOUT(live, probes_attach_and_detach, 120)
{
	int other = kt_create(self->main, 0, 1 << 16, 0);

	ASSERT_EQ(0, wait_detached(self->fd));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	EXPECT_EQ(0, is_attached(self->fd, KTAPE_EV_SYS_ENTER));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(1, is_attached(self->fd, KTAPE_EV_SYS_ENTER));
	EXPECT_EQ(0, is_attached(self->fd, KTAPE_EV_SYS_EXIT));
	/* Two sessions use the probe; it stays until neither does. */
	ASSERT_EQ(0, kt_profile_ops(other, KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_ANDNOT,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	/* A probe without a user is detached after a second. */
	sleep(2);
	EXPECT_EQ(1, is_attached(self->fd, KTAPE_EV_SYS_ENTER));
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_STOP));
	EXPECT_EQ(0, wait_detached(self->fd));
	/*
	 * Disabling and enabling keeps the probe; the end of a session removes
	 * it.
	 */
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_START));
	sleep(2);
	EXPECT_EQ(1, is_attached(self->fd, KTAPE_EV_SYS_ENTER));
	close(other);
	EXPECT_EQ(0, wait_detached(self->fd));
}

TEST_HARNESS_MAIN
