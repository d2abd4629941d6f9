// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test CPU hotplug while a session records: rings of offline CPUs stay
 * readable, every event is in the ledger, and a CPU that comes back records
 * again.
 */
#include <sys/stat.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_ledger.h"
#include "kt_load.h"
#include "kt_ring.h"
#include "kt_spawn.h"
#include "kt_trigger.h"

#define CPUS_MAX 16
#define ROUNDS	 10
#define CGROUP	 "/sys/fs/cgroup/ktape-hotplug"

/* Rings that the loads must not fill, one for each CPU. */
static struct kt_map rings[CPUS_MAX];
static int nr_rings;

/*
 * Is a ring half full?  On a slow kernel a CPU takes seconds to go offline, and only then
 * are the rings read again.
 */
static bool is_a_ring_half_full(void)
{
	for (int i = __atomic_load_n(&nr_rings, __ATOMIC_ACQUIRE) - 1; i >= 0; i--) {
		const struct ktape_ring_page *page = rings[i].page;
		unsigned long unread =
			kt_load(&page->commit) - kt_load(&page->consumer);

		if (unread > rings[i].e.data_size / 2)
			return true;
	}
	return false;
}

/* Make some calls, unless a ring is about to be full, and sleep. */
static void call_and_sleep(uint64_t n)
{
	if (is_a_ring_half_full()) {
		usleep(50000);
		return;
	}
	kt_getppids(10);
	usleep(2000 + n % 7 * 100);
}

/* A thread that makes calls on any CPU. */
struct load {
	pthread_t thread;
	bool stop;
};

static void *wander_main(void *arg)
{
	struct load *l = arg;

	for (uint64_t n = 0; !__atomic_load_n(&l->stop, __ATOMIC_RELAXED); n++)
		call_and_sleep(n);
	return NULL;
}

/**
 * struct hotplugs - records of hotplug in a stream
 * @came: by CPU, records that it came online
 * @went: by CPU, records that it went offline
 * @wrong: such records about another CPU than the one that wrote them, or that do not
 *	alternate, offline first
 * @without: by the CPU that wrote them, records that the last CPU came without rings
 * @with: likewise, records that it has got rings
 * @others: these two about another CPU than the last one
 * @marked: marked calls (kt_call_marked()), by CPU
 */
struct hotplugs {
	int came[CPUS_MAX], went[CPUS_MAX], wrong;
	int without[CPUS_MAX];
	int with[CPUS_MAX];
	int others;
	uint64_t marked[CPUS_MAX];
};

static void count_hotplug_record(const struct ktape_block *b,
				 const struct kt_rec *r, void *arg)
{
	struct hotplugs *s = arg;
	uint64_t n;

	if (b->cpu >= CPUS_MAX)
		return;
	if (kt_is_marked(r->op, r->blob, &n))
		s->marked[b->cpu]++;
	if (r->op == KTAPE_EV_CPU_WITHOUT) {
		s->without[b->cpu]++;
		s->others += (int)r->args[0] != kt_online_cpus() - 1;
	}
	if (r->op == KTAPE_EV_CPU_WITH) {
		s->with[b->cpu]++;
		s->others += (int)r->args[0] != kt_online_cpus() - 1;
	}
	if (r->op != KTAPE_EV_CPU)
		return;
	s->wrong += r->args[0] != b->cpu;
	if (r->dat20)
		s->came[b->cpu]++;
	else
		s->went[b->cpu]++;
	/* Offline and online records alternate; the first one is offline. */
	s->wrong += s->came[b->cpu] > s->went[b->cpu] ||
		    s->went[b->cpu] > s->came[b->cpu] + 1;
}

FIXTURE(hotplug)
{
	int fd, cpus;
	struct kt_ledger *l;
	struct kt_buf b;
	struct hotplugs found;
	struct load load[CPUS_MAX];
};

FIXTURE_SETUP(hotplug)
{
	self->fd = -1;
	self->cpus = kt_online_cpus();
	if (self->cpus < 2 || self->cpus > CPUS_MAX)
		SKIP(return, "needs 2 to %d CPUs", CPUS_MAX);
	if (access("/sys/devices/system/cpu/cpu1/online", W_OK))
		SKIP(return, "CPU 1 cannot be turned off");
	self->l = kt_ledger_new();
	self->l->next = count_hotplug_record;
	self->l->arg = &self->found;
	for (int i = 0; i < self->cpus; i++)
		ASSERT_EQ(0, pthread_create(&self->load[i].thread, NULL,
					    wander_main, &self->load[i]));
}

static void stop_loads(FIXTURE_DATA(hotplug) * self)
{
	for (int i = 0; i < self->cpus; i++)
		__atomic_store_n(&self->load[i].stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < self->cpus; i++)
		if (self->load[i].thread)
			pthread_join(self->load[i].thread, NULL);
	memset(self->load, 0, sizeof(self->load));
	for (; nr_rings > 0; nr_rings--)
		kt_unmap_ring(&rings[nr_rings - 1]);
}

FIXTURE_TEARDOWN(hotplug)
{
	if (!self->l)
		return;
	stop_loads(self);
	for (int cpu = 1; cpu < self->cpus; cpu++)
		kt_set_online(cpu, true);
	if (self->fd >= 0)
		close(self->fd);
	kt_buf_free(&self->b);
	free(self->l);
}

static void *marked_main(void *arg)
{
	if (kt_pin(*(int *)arg))
		return arg;
	for (int i = 0; i < 10; i++)
		kt_call_marked(i);
	return NULL;
}

/* Make ten marked calls on a CPU, in a thread. Return: 0, or -1 if it could not run there. */
static int call_on_cpu(int cpu)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, NULL, marked_main, &cpu))
		return -1;
	pthread_join(thread, &ret);
	return ret ? -1 : 0;
}

static int hotplug_session(uint32_t mode, uint64_t ring)
{
	return kt_session(mode, ring, 16384,
			  KT_OPS(KTAPE_EV_SCHED_SWITCH, KTAPE_EV_SYS_ENTER_WIDE,
				 KTAPE_EV_IRQ_HANDLER_ENTRY,
				 KTAPE_EV_SCHED_MIGRATE_TASK));
}

/*
 * Take each CPU but the first offline and online, often and in random order.
 * The stream must hold every event.
 */
TEST_F_TIMEOUT(hotplug, offline_and_online, 7200)
{
	int rounds = kt_hostile_factor() * ROUNDS * (self->cpus - 1) /
		     (kt_scale() > 1 ? 3 : 1);
	uint64_t made[CPUS_MAX] = {};
	int turns[CPUS_MAX] = {};
	uint64_t seed = kt_seed(), records = 0;
	ssize_t n;

	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
	self->fd = hotplug_session(KTAPE_MODE_DISCARD, 4 << 20);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < self->cpus; i++)
		ASSERT_EQ(0, kt_map_ring(self->fd, i, KTAPE_RING_EVENT, &rings[i]));
	__atomic_store_n(&nr_rings, self->cpus, __ATOMIC_RELEASE);
	kt_nonblock(self->fd, true);
	for (int i = 0; i < rounds; i++) {
		int cpu = 1 + (i < self->cpus - 1 ?
				       i :
				       (int)lcg_below(&seed, self->cpus - 1));

		ASSERT_EQ(0, kt_set_online(cpu, false));
		usleep(20000);
		n = kt_read_and_parse(&self->l->t, &self->b, self->fd, 4 << 20);
		ASSERT_LT(0, n);
		ASSERT_STREQ("", self->l->t.error);
		ASSERT_EQ(0, kt_set_online(cpu, true));
		ASSERT_EQ(0, call_on_cpu(cpu));
		turns[cpu]++;
		n = kt_read_and_parse(&self->l->t, &self->b, self->fd, 4 << 20);
		ASSERT_LT(0, n);
		ASSERT_STREQ("", self->l->t.error);
		made[cpu] += 10;
	}
	stop_loads(self);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(0, kt_ledger_check(self->l, self->fd, self->cpus));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(0, self->found.wrong);
	for (int cpu = 1; cpu < self->cpus; cpu++) {
		EXPECT_EQ(turns[cpu], self->found.came[cpu]);
		EXPECT_EQ(turns[cpu], self->found.went[cpu]);
		EXPECT_EQ(made[cpu], self->found.marked[cpu]);
		/* Each had rings before. */
		EXPECT_EQ(0, self->found.with[cpu]);
	}
	for (int cpu = 0; cpu < self->cpus; cpu++)
		records += self->l->t.stream[cpu][KTAPE_RING_EVENT].records;
	TH_LOG("%d tries, %d transitions; %llu records", rounds, 2 * rounds,
	       (unsigned long long)records);
}

/* Stop while a CPU is offline: its ring is readable, and continues later. */
TEST_F_TIMEOUT(hotplug, stopped_while_offline, 300)
{
	int away = self->cpus - 1;
	struct ktape_stats st;

	self->fd = hotplug_session(KTAPE_MODE_DISCARD, 1 << 20);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_set_online(away, false));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	ASSERT_STREQ("", self->l->t.error);
	EXPECT_EQ(10, self->found.marked[away]);
	EXPECT_EQ(0, kt_ledger_check(self->l, self->fd, self->cpus));
	EXPECT_STREQ("", self->l->t.error);

	/*
	 * The counts of the offline CPU can be read. It comes online while the session is
	 * stopped: nothing is recorded.
	 */
	ASSERT_EQ(0, kt_stats(self->fd, away, KTAPE_RING_EVENT, &st));
	ASSERT_EQ(0, kt_set_online(away, true));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_EQ(10, self->found.marked[away]);

	/* The CPU is offline again at START. */
	ASSERT_EQ(0, kt_set_online(away, false));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_set_online(away, true));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(20, self->found.marked[away]);
	stop_loads(self);
	EXPECT_EQ(0, kt_ledger_check(self->l, self->fd, self->cpus));
	EXPECT_STREQ("", self->l->t.error);
}

static int count_rings_of(int fd, int cpu)
{
	struct ktape_layout_entry e[CPUS_MAX * 2 + 1];
	struct ktape_layout l;
	int n = 0;

	if (kt_layout(fd, &l, e, CPUS_MAX * 2 + 1))
		return -1;
	for (uint32_t i = 0; i < l.nr; i++)
		n += e[i].cpu == cpu && e[i].data_size > 0;
	return n;
}

/*
 * Create a session while a CPU is offline: its rings are allocated when it
 * comes online.
 */
TEST_F_TIMEOUT(hotplug, created_while_offline, 300)
{
	int away = self->cpus - 1;
	struct ktape_stats st;
	struct kt_map m;

	ASSERT_EQ(0, kt_set_online(away, false));
	self->fd = hotplug_session(KTAPE_MODE_OVERWRITE, 1 << 20);
	ASSERT_GE(self->fd, 0);
	EXPECT_EQ(0, count_rings_of(self->fd, away));
	EXPECT_EQ(-ENXIO, kt_stats(self->fd, away, KTAPE_RING_EVENT, &st));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_nonblock(self->fd, true);
	ASSERT_LT(0, kt_read_and_parse(&self->l->t, &self->b, self->fd, 400000));
	ASSERT_EQ(0, kt_set_online(away, true));
	EXPECT_EQ(2, count_rings_of(self->fd, away));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_map_ring(self->fd, away, KTAPE_RING_EVENT, &m));
	EXPECT_LT(0, kt_load(&m.page->commit));
	kt_unmap_ring(&m);
	stop_loads(self);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(1, self->found.came[away]);
	EXPECT_EQ(10, self->found.marked[away]);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		EXPECT_EQ(cpu != away, self->found.with[cpu]);
	EXPECT_EQ(0, self->found.others);
}

/*
 * Rings that are too large to be made under the hotplug lock come later: the others say
 * that the CPU has none, and then that it has got some.  From then on all is recorded.
 */
TEST_F_TIMEOUT(hotplug, large_rings_come_later, 300)
{
	int away = self->cpus - 1, tries = 600;
	struct ktape_stats st;

	stop_loads(self);
	ASSERT_EQ(0, kt_set_online(away, false));
	self->fd = hotplug_session(KTAPE_MODE_DISCARD, 64 << 20);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_set_online(away, true));
	while (count_rings_of(self->fd, away) != 2 && tries--)
		usleep(100000);
	ASSERT_EQ(2, count_rings_of(self->fd, away));
	/*
	 * It records from when its want bits, which say what a CPU records, are set: right after
	 * its rings and under the session's lock. This ioctl takes the lock, too, so it waits for them.
	 */
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SCHED_SWITCH, 0, 0));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_stats(self->fd, away, KTAPE_RING_EVENT, &st));
	/* It goes and comes back with its rings. */
	ASSERT_EQ(0, kt_set_online(away, false));
	ASSERT_EQ(0, kt_set_online(away, true));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(0, kt_ledger_check(self->l, self->fd, self->cpus));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(2, self->found.came[away]);
	EXPECT_EQ(1, self->found.went[away]);
	EXPECT_EQ(20, self->found.marked[away]);
	for (int cpu = 0; cpu < away; cpu++) {
		EXPECT_EQ(1, self->found.without[cpu]);
		EXPECT_EQ(1, self->found.with[cpu]);
	}
	EXPECT_EQ(0, self->found.others);
}

/* A session ends while the rings of a CPU are being made: they are freed as well. */
TEST_F_TIMEOUT(hotplug, ends_before_large_rings, 300)
{
	int away = self->cpus - 1;
	long before, after;

	stop_loads(self);
	before = kt_free_kib();
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, kt_set_online(away, false));
		self->fd = hotplug_session(KTAPE_MODE_OVERWRITE, 64 << 20);
		ASSERT_GE(self->fd, 0);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		ASSERT_EQ(0, kt_set_online(away, true));
		if (i % 2)
			usleep(i * 1000);
		close(self->fd);
		self->fd = -1;
	}
	after = kt_free_kib();
	/* A single ring that is not freed takes so much. */
	EXPECT_GT(64 << 10, before - after)
	{
		TH_LOG("%ld KiB free before, %ld after", before, after);
	}
}

static bool has_cgroup(void)
{
	kt_write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	if (!access(CGROUP "/memory.max", W_OK))
		return true;
	rmdir(CGROUP);
	return false;
}

/*
 * Bring a CPU online. Its rings are charged to the task that does so; the memory
 * cgroup of that task has just @kib for them. Return: 0 or a negative errno.
 */
static int online_with_memory(int cpu, long kib)
{
	char limit[32];
	int status;
	pid_t pid;

	snprintf(limit, sizeof(limit), "%ldK", kib);
	if (kt_write_text(CGROUP "/memory.max", limit))
		return -EOPNOTSUPP;
	pid = kt_fork_in_cgroup(CGROUP);
	if (!pid)
		_exit(-kt_set_online(cpu, true));
	status = kt_exit_status(pid);
	return status < 0 ? -ECHILD : -status;
}

/*
 * Without memory for its rings a CPU comes online all the same. The other CPUs
 * record the failure at once and at each on-marker.
 */
TEST_F_TIMEOUT(hotplug, without_memory, 120)
{
	int away = self->cpus - 1;

	if (!has_cgroup())
		SKIP(return, "no memory cgroups");
	if (kt_kernel_is_before(5, 11))
		SKIP(return, "ktape does not charge rings before 5.11");
	stop_loads(self);
	ASSERT_EQ(0, kt_set_online(away, false));
	self->fd = hotplug_session(KTAPE_MODE_DISCARD, 8 << 20);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, online_with_memory(away, 2048));
	EXPECT_EQ(0, count_rings_of(self->fd, away));
	EXPECT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	for (int cpu = 0; cpu < away; cpu++)
		EXPECT_EQ(1, self->found.without[cpu]);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	for (int cpu = 0; cpu < away; cpu++)
		EXPECT_EQ(2, self->found.without[cpu]);

	/* The CPU comes online again with enough memory. */
	ASSERT_EQ(0, kt_set_online(away, false));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_set_online(away, true));
	EXPECT_EQ(2, count_rings_of(self->fd, away));
	ASSERT_EQ(0, call_on_cpu(away));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	for (int cpu = 0; cpu < away; cpu++)
		EXPECT_EQ(2, self->found.without[cpu]);
	EXPECT_EQ(10, self->found.marked[away]);
	EXPECT_EQ(0, self->found.others);
	EXPECT_EQ(0, kt_ledger_check(self->l, self->fd, self->cpus));
	EXPECT_STREQ("", self->l->t.error);
	rmdir(CGROUP);
}

/*
 * With memory for only one of its two rings a CPU has no rings at all. That
 * also holds for events that are recorded without a profile bit: a trigger that
 * waits for silence would write its firing to one ring and a marker to the
 * other.
 */
TEST_F_TIMEOUT(hotplug, half_of_the_rings, 120)
{
	const struct ktape_trigger quiet = {
		.opcode = KTAPE_EV_MARK,
		.when = KTAPE_TRIGGER_QUIET,
		.duration_ns = KTAPE_TRIGGER_QUIET_MIN,
		.actions = KTAPE_TRIGGER_MARK,
		.mark = 1,
	};
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = 4 << 20,
				  .mode = KTAPE_MODE_OVERWRITE,
				  .control_size = 4 << 20 };
	int away = self->cpus - 1, dev = kt_open(O_RDWR);

	ASSERT_GE(dev, 0);
	if (!has_cgroup())
		SKIP(return, "no memory cgroups");
	if (kt_kernel_is_before(5, 11))
		SKIP(return, "ktape does not charge rings before 5.11");
	ASSERT_EQ(0, kt_set_online(away, false));
	self->fd = kt_ioctl(dev, KTAPE_IOC_CREATE, &c);
	close(dev);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_trigger_add(self->fd, &quiet));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int kib = 5 << 10; kib < 8 << 10; kib += 512) {
		ASSERT_EQ(0, online_with_memory(away, kib));
		ASSERT_EQ(0, count_rings_of(self->fd, away))
		TH_LOG("%d KiB", kib);
		/*
		 * The silence is checked on the CPU where this test runs, while
		 * it stays awake.
		 */
		ASSERT_EQ(0, kt_pin(away));
		for (int i = 0; i < 3; i++) {
			ASSERT_EQ(0, kt_trigger_remove(self->fd, 0));
			ASSERT_EQ(0, kt_trigger_add(self->fd, &quiet));
			while (!kt_trigger_fired(self->fd, 0))
				sched_yield();
		}
		ASSERT_EQ(0, kt_set_online(away, false));
	}
	ASSERT_EQ(0, kt_set_online(away, true));
	EXPECT_EQ(2, count_rings_of(self->fd, away));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	rmdir(CGROUP);
}

TEST_HARNESS_MAIN
