// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test a discard session without a reader: from a fill level on (75 percent of the
 * ring) events of the least important classes are shed, that is discarded and
 * counted as such, to leave room for the others, and the ledger adds up. Stalled
 * readers are evicted. The smallest rings keep an exception.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_module.h"
#include "kt_ring.h"
#include "kt_session.h"

#define CPUS_MAX 16
#define RING	 65536
#define BLOCK	 4096
#define STALL_MS \
	200 /* a reader that has not read for so long while a ring is full stalls */

static const unsigned char mixed_ops[] = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT,
					   KTAPE_EV_SCHED_SWITCH, 0 };

/* System calls of priority 0 and switches of priority 2. */
static void make_prioritized_calls(uint64_t n)
{
	syscall(SYS_getppid);
	if (n % 4 == 0)
		sched_yield();
}

FIXTURE(shed)
{
	int main, fd, cpus;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_SETUP(shed)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_named(self->main, "shed", KTAPE_MODE_DISCARD, RING, BLOCK, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(shed)
{
	close(self->fd);
	close(self->main);
}

static void check_shed_ledger(struct __test_metadata *_metadata, int fd, int cpus)
{
	struct kt_ledger *l = kt_ledger_new();
	struct kt_buf b = {};

	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, fd));
	EXPECT_LE(0, kt_ledger_check(l, fd, cpus));
	EXPECT_STREQ("", l->t.error);
	kt_buf_free(&b);
	free(l);
}

TEST_F_TIMEOUT(shed, least_important_first, 120)
{
	struct ktape_stats st;
	uint64_t shed, syscalls;

	ASSERT_EQ(0, kt_profile_only(self->fd, mixed_ops));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 20000 / kt_scale(),
				    make_prioritized_calls));
	kt_loads_wait(self->load, self->cpus);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		ASSERT_EQ(0, kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st));
		shed = st.lost[KTAPE_LOST_SHED][KTAPE_CLASS_SYSCALL];
		syscalls = st.emitted[KTAPE_CLASS_SYSCALL];
		EXPECT_LT(0, shed);
		EXPECT_EQ(kt_sum(st.lost[KTAPE_LOST_SHED]), shed);
		EXPECT_EQ(0, st.lost[KTAPE_LOST_FULL][KTAPE_CLASS_SYSCALL]);
		/*
		 * System calls may use three quarters of the ring, switches all
		 * of it.
		 */
		EXPECT_LT(0, syscalls - shed);
		EXPECT_LE(RING * 3 / 4, st.commit);
	}
	check_shed_ledger(_metadata, self->fd, self->cpus);
}

/* Read what is there. Our own calls go on meanwhile, so there is no natural end. */
static void read_meanwhile(struct kt_buf *b, int fd)
{
	for (int i = 0; i < 20; i++)
		kt_buf_read(b, fd, 65536);
}

/* After a reader has made room, nothing is shed until the ring fills again. */
TEST_F_TIMEOUT(shed, shedding_ends, 60)
{
	struct ktape_stats before, after;
	struct kt_buf b = {};

	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_profile_only(self->fd, mixed_ops));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_nonblock(self->fd, true);
	for (int round = 0; round < 5; round++) {
		kt_getppids(8000);
		read_meanwhile(&b, self->fd);
		kt_buf_free(&b);
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &before));
		EXPECT_LT(0, kt_sum(before.lost[KTAPE_LOST_SHED]));
		kt_getppids(100);
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &after));
		EXPECT_EQ(kt_lost(&before), kt_lost(&after));
	}
}

/*
 * The policy: its defaults, what it refuses, and thresholds of 0 (never shed) and 10 percent.
 * A session with a single class does not shed, because no other class would profit.
 */
TEST_F_TIMEOUT(shed, policy, 60)
{
	struct ktape_policy p;
	struct ktape_stats st;
	int ro;

	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_GET, 0, 0, &p));
	EXPECT_EQ(75, p.shed_percent);
	EXPECT_EQ(0, p.stall_ms);
	EXPECT_EQ(-EINVAL, kt_policy(self->fd, KTAPE_POLICY_SET, 100, 0, &p));
	EXPECT_EQ(-EINVAL, kt_policy(self->fd, KTAPE_POLICY_GET, 1, 0, &p));
	EXPECT_EQ(-EINVAL, kt_policy(self->fd, 2, 0, 0, &p));
	ro = kt_attach(self->main, "shed", KTAPE_OPEN_READONLY);
	EXPECT_EQ(-EPERM, kt_policy(ro, KTAPE_POLICY_SET, 50, 0, &p));
	EXPECT_EQ(0, kt_policy(ro, KTAPE_POLICY_GET, 0, 0, &p));
	close(ro);
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(20000);
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(0, kt_sum(st.lost[KTAPE_LOST_SHED]));
	EXPECT_LT(0, kt_sum(st.lost[KTAPE_LOST_FULL]));
	/* Turn shedding off for a profile with both classes. */
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_SET, 0, 0, &p));
	ASSERT_EQ(0, kt_profile_only(self->fd, mixed_ops));
	kt_getppids(20000);
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(0, kt_sum(st.lost[KTAPE_LOST_SHED]));
	/* Shed from a tenth of the ring on. */
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_SET, 10, 0, &p));
	kt_getppids(1000);
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_LT(0, kt_sum(st.lost[KTAPE_LOST_SHED]));
}

/* ---- readers that stall --------------------------------------------------- */

/* Records of evictions: their number, and reader and thread of the last one. */
struct evictions {
	uint32_t nr, reader, tid;
};

static void count_evictions(const struct ktape_block *b, const struct kt_rec *r,
			    void *arg)
{
	struct evictions *t = arg;

	if (r->op != KTAPE_EV_EVICT)
		return;
	t->nr++;
	t->reader = r->args[0];
	t->tid = r->args[1];
}

static int consumer_ioctl(int fd, uint32_t op)
{
	struct ktape_consumer c = { .size = sizeof(c), .op = op };

	return kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c);
}

/*
 * Of two consumers, the readers for which a discard session waits, the one that never reads is
 * evicted when it keeps a ring full, and the eviction is recorded on each CPU. The last consumer
 * is never evicted.
 */
TEST_F_TIMEOUT(shed, stalled_reader, 120)
{
	struct kt_ledger *l = kt_ledger_new();
	struct ktape_reader_info info;
	struct evictions evictions = {};
	struct kt_buf b = {};
	struct ktape_policy p;
	int slow = kt_attach(self->main, "shed", 0);
	uint32_t id;

	l->next = count_evictions;
	l->arg = &evictions;
	ASSERT_LE(0, slow);
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_SET, 0, STALL_MS, &p));
	ASSERT_EQ(0, consumer_ioctl(self->fd, KTAPE_CONSUMER_REGISTER));
	ASSERT_EQ(0, consumer_ioctl(slow, KTAPE_CONSUMER_REGISTER));
	ASSERT_EQ(0, kt_reader_info(slow, 0, 0, &info));
	EXPECT_EQ(KTAPE_READER_REGISTERED, info.flags);
	id = info.id;
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	/* A slow consumer is not evicted while the rings have room. */
	usleep(STALL_MS * 2500); /* 2.5 times as long */
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_GET, 0, 0, &p));
	EXPECT_EQ(0, p.evicted);
	kt_nonblock(self->fd, true);
	/*
	 * A consumer that has only read metadata when a ring is full counts as
	 * stalled.
	 */
	for (int i = 0; i < 20; i++)
		kt_read_and_parse(&l->t, &b, self->fd, 65536);
	for (int i = 0; i < 600 && !p.evicted; i++) {
		kt_getppids(2000);
		kt_read_and_parse(&l->t, &b, self->fd, 65536);
		usleep(20000);
		ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_GET, 0, 0, &p));
	}
	EXPECT_EQ(1, p.evicted);
	ASSERT_EQ(0, kt_reader_info(slow, 0, 0, &info));
	EXPECT_EQ(KTAPE_READER_EVICTED, info.flags);
	ASSERT_EQ(0, kt_reader_info(self->fd, 0, 0, &info));
	EXPECT_EQ(KTAPE_READER_REGISTERED | KTAPE_READER_READS, info.flags);
	/* The last consumer may sleep as long as it likes. */
	kt_getppids(20000);
	usleep(STALL_MS * 4000);
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_GET, 0, 0, &p));
	EXPECT_EQ(1, p.evicted);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, self->fd));
	EXPECT_LE(0, kt_ledger_check(l, self->fd, self->cpus));
	EXPECT_STREQ("", l->t.error);
	EXPECT_EQ(self->cpus, evictions.nr);
	EXPECT_EQ(id, evictions.reader);
	EXPECT_EQ(getpid(), evictions.tid);
	/* An evicted consumer may register again. */
	EXPECT_EQ(0, consumer_ioctl(slow, KTAPE_CONSUMER_REGISTER));
	ASSERT_EQ(0, kt_reader_info(slow, 0, 0, &info));
	EXPECT_EQ(KTAPE_READER_REGISTERED, info.flags);
	close(slow);
	kt_buf_free(&b);
	free(l);
}

/* A killed consumer no longer holds back the writer. */
TEST_F_TIMEOUT(shed, killed_reader, 60)
{
	struct ktape_stats before, after;
	struct kt_buf b = {};
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		fd = kt_attach(self->main, "shed", 0);
		if (consumer_ioctl(fd, KTAPE_CONSUMER_REGISTER))
			_exit(1);
		raise(SIGSTOP);
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_EQ(true, WIFSTOPPED(status));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, consumer_ioctl(self->fd, KTAPE_CONSUMER_REGISTER));
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_nonblock(self->fd, true);
	for (int i = 0; i < 2; i++) {
		kt_getppids(20000);
		read_meanwhile(&b, self->fd);
		kt_buf_free(&b);
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &before));
		kt_getppids(100);
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &after));
		/* It keeps the ring full until it is killed. */
		if (i == 0) {
			EXPECT_LT(kt_lost(&before), kt_lost(&after));
		} else {
			EXPECT_EQ(kt_lost(&before), kt_lost(&after));
		}
		if (i == 0) {
			kill(pid, SIGKILL);
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
		}
	}
}

/* ---- what a flood cannot push out ----------------------------------------- */

struct found {
	int nr;
};

/* Count the exception that ktape_flood emits. */
static void count_flood_exception(const struct kt_rec *r, void *arg)
{
	struct found *f = arg;

	f->nr += r->op == KTAPE_EV_EXCEPTION && r->nargs == 2 &&
		 r->args[0] == KTAPE_EXC_CODE(0x4711, 7) && r->args[1] == 42;
}

static int load_flood(long events)
{
	char params[32];

	snprintf(params, sizeof(params), "events=%ld", events);
	return kt_insmod("/tests/ktape_flood.ko", params);
}

/*
 * An exception stays, though 10^7 markers overwrite the smallest rings: it is in the control
 * ring, they are in the event ring.
 */
TEST_F_TIMEOUT(shed, exception_survives, 240)
{
	/* Rounded up to the smallest rings, of 16 KiB. */
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = 1024,
				  .control_size = 1024 };
	const long events = 10000000 / kt_scale();
	uint64_t marks = 0, lost = 0, lapped = 0;
	struct found found = {};
	struct ktape_stats st;
	struct kt_map m;
	int fd = kt_ioctl(self->main, KTAPE_IOC_CREATE, &c);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_profile_only(fd, KT_OPS(KTAPE_EV_EXCEPTION, KTAPE_EV_MARK)));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, load_flood(events));
	ASSERT_EQ(0, kt_rmmod("ktape_flood"));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		ASSERT_EQ(0, kt_map_ring(fd, cpu, KTAPE_RING_CONTROL, &m));
		EXPECT_EQ(16384, m.e.data_size);
		ASSERT_LE(0, kt_walk(&m, count_flood_exception, &found));
		kt_unmap_ring(&m);
		ASSERT_EQ(0, kt_stats(fd, cpu, KTAPE_RING_EVENT, &st));
		marks += st.emitted[KTAPE_CLASS_USER];
		lost += kt_lost(&st);
		lapped += st.tail;
	}
	EXPECT_EQ(1, found.nr);
	EXPECT_EQ(events, marks);
	EXPECT_EQ(0, lost);
	/* A marker takes more than 8 bytes: what is not in the rings was overwritten. */
	EXPECT_LT(events * 8, lapped + 16384 * self->cpus);
	TH_LOG("%ld markers, %llu MiB overwritten", events,
	       (unsigned long long)lapped >> 20);
	close(fd);
}

/*
 * A test that is ended in the middle of the flood leaves no module that holds ktape. The
 * flood would take a minute.
 */
TEST_F_TIMEOUT(shed, flood_ends_with_its_program, 240)
{
	struct ktape_stats st = {};
	int status;
	pid_t pid;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_MARK)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		kt_pin(0);
		_exit(load_flood(100000000 / kt_scale()));
	}
	while (!st.emitted[KTAPE_CLASS_USER]) {
		usleep(1000);
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	}
	kill(pid, SIGTERM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(true, WIFSIGNALED(status));
	EXPECT_EQ(-ENOENT, kt_rmmod("ktape_flood"));
}

TEST_HARNESS_MAIN
