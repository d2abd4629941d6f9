// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the creation of sessions that take a large part of the memory, up to the
 * limit of half of it. That takes time. Meanwhile other calls proceed, two sessions
 * cannot exceed the limit together, and a creator that is killed leaves nothing
 * behind.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include <ktape/session.h>
#include "kt_load.h"
#include "kt_module.h"
#include "kt_stream.h"

#define K	  1024UL
#define M	  (1024 * K)
#define TURNS_MAX 200 /* sessions to wait for an overlap */

/**
 * struct maker - a thread that creates a session, or one after the other
 * @thread: the thread
 * @dev: the device
 * @ring: bytes of an event ring
 * @block: bytes of a block
 * @begun: calls of CREATE that have begun
 * @ended: calls of CREATE that have ended
 * @closing: sessions of which close() has begun
 * @closed: sessions of which it has ended
 * @failed: last error; of create_big_session() the descriptor or the error
 * @stop: the thread is to end
 */
struct maker {
	pthread_t thread;
	int dev;
	uint64_t ring, block;
	long begun, ended;
	long closing, closed;
	int failed;
	bool stop;
};

FIXTURE(big)
{
	int dev, cpus;
	uint64_t ring; /* bytes of the largest event ring that fits; a power of two */
	struct maker m;
};

/* Return the bytes of a CPU's two rings in mode discard, whose control rings are the largest. */
static uint64_t bytes_of_both_rings(uint64_t ring)
{
	return ring + (ring / 8 < 64 * K ? 64 * K : ring / 8);
}

/*
 * Return true if rings of this size fit beside session 0, in half of the
 * memory.
 */
static bool fits(uint64_t ring, int cpus)
{
	return (bytes_of_both_rings(ring) + bytes_of_both_rings(M)) * cpus <=
	       kt_meminfo("MemTotal") * K / 2;
}

FIXTURE_SETUP(big)
{
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	self->cpus = kt_online_cpus();
	if (self->cpus < 2)
		SKIP(return, "needs 2 CPUs");
	self->ring = M;
	while (fits(2 * self->ring, self->cpus))
		self->ring *= 2;
}

FIXTURE_TEARDOWN(big)
{
	close(self->dev);
}

static long load_long(const long *p)
{
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

/*
 * Return how many rings are there less than two for each online CPU; negative: offline CPUs
 * have some; 1 as well if the layout cannot be read.
 */
static int rings_missing(int fd)
{
	struct ktape_layout l;

	/* The layout has the registry besides the rings. */
	return kt_layout(fd, &l, NULL, 0) ? 1 :
					    2 * kt_online_cpus() + 1 - (int)l.nr;
}

static void *make_sessions(void *arg)
{
	struct maker *m = arg;
	int fd;

	while (!__atomic_load_n(&m->stop, __ATOMIC_RELAXED) && m->begun < TURNS_MAX) {
		__atomic_add_fetch(&m->begun, 1, __ATOMIC_SEQ_CST);
		fd = kt_create(m->dev, KTAPE_MODE_OVERWRITE, m->ring, 4 * K);
		__atomic_add_fetch(&m->ended, 1, __ATOMIC_SEQ_CST);
		if (fd < 0) {
			m->failed = fd;
			continue;
		}
		__atomic_add_fetch(&m->closing, 1, __ATOMIC_SEQ_CST);
		close(fd);
		__atomic_add_fetch(&m->closed, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Number of the session that is being created or destroyed right now, or 0. */
static long current_turn(struct maker *m, bool ending)
{
	const long n = load_long(ending ? &m->closing : &m->begun);

	return load_long(ending ? &m->closed : &m->ended) < n ? n : 0;
}

/*
 * Return true if session @n has allocated, or freed, part of its memory and not
 * all. @before: free KiB without the session. Others use memory, too, so the part has to be
 * more than an eighth of the event rings and less than three quarters.
 */
static bool is_in_the_middle(struct maker *m, bool ending, long n, long before,
			     int cpus)
{
	const long all = m->ring / K * cpus;
	const long taken = before - kt_meminfo("MemFree");

	return n && current_turn(m, ending) == n && taken > all / 8 &&
	       taken < all / 4 * 3;
}

static void start_maker(struct __test_metadata *_metadata, FIXTURE_DATA(big) * self)
{
	self->m = (struct maker){ .dev = self->dev, .ring = self->ring };
	ASSERT_EQ(0, pthread_create(&self->m.thread, NULL, make_sessions, &self->m));
}

static void stop_maker(FIXTURE_DATA(big) * self)
{
	__atomic_store_n(&self->m.stop, true, __ATOMIC_RELAXED);
	pthread_join(self->m.thread, NULL);
}

/* ---- the other calls; each returns 0 or a negative errno ----------------------- */

static int call_sessions(int fd)
{
	struct ktape_session_list l = {
		.size = sizeof(l),
		.entry_size = sizeof(struct ktape_session_info),
	};

	return kt_ioctl(fd, KTAPE_IOC_SESSIONS, &l);
}

static int call_profile(int fd)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_GET };

	return kt_profile(fd, &p);
}

static int call_start(int fd)
{
	return kt_control(fd, KTAPE_IOC_START);
}

/* EAGAIN: a ring is full, because the session is not read. */
static int call_flush(int fd)
{
	int ret = kt_control(fd, KTAPE_IOC_FLUSH);

	return ret == -EAGAIN ? 0 : ret;
}

/* Take the last CPU offline or online. */
static int call_hotplug(int fd)
{
	const int all = sysconf(_SC_NPROCESSORS_CONF);

	return kt_set_online(all - 1, kt_online_cpus() < all);
}

FIXTURE_VARIANT(big)
{
	int (*call)(int fd);
	bool ending; /* during the end of a session, not during CREATE */
};

FIXTURE_VARIANT_ADD(big, sessions){ .call = call_sessions };
FIXTURE_VARIANT_ADD(big, profile){ .call = call_profile };
FIXTURE_VARIANT_ADD(big, start){ .call = call_start };
FIXTURE_VARIANT_ADD(big, flush){ .call = call_flush };
FIXTURE_VARIANT_ADD(big, hotplug){ .call = call_hotplug };
FIXTURE_VARIANT_ADD(big, ending_sessions){
	.call = call_sessions,
	.ending = true,
};
FIXTURE_VARIANT_ADD(big, ending_profile){
	.call = call_profile,
	.ending = true,
};
FIXTURE_VARIANT_ADD(big, ending_flush){
	.call = call_flush,
	.ending = true,
};

/*
 * Check that a command does not wait for CREATE: when the command begins the
 * session has part of its memory, and when it ends the session does not have
 * all. If the command had waited, the session would have all its memory
 * afterwards. The same for a session that is being destroyed and frees its
 * memory.
 */
TEST_F_TIMEOUT(big, other_calls_proceed, 300)
{
	const int fd = kt_create(self->dev, KTAPE_MODE_DISCARD, 64 * K, 4 * K);
	const long before = kt_meminfo("MemFree");
	long tried = 0, overlaps = 0, n;

	ASSERT_LE(0, fd);
	/* Taking a CPU offline waits for grace periods. */
	kt_expedite(true);
	start_maker(_metadata, self);
	while (!overlaps && load_long(&self->m.ended) < TURNS_MAX) {
		n = current_turn(&self->m, variant->ending);
		if (!is_in_the_middle(&self->m, variant->ending, n, before,
				      self->cpus))
			continue;
		tried++;
		EXPECT_EQ(0, variant->call(fd));
		overlaps += is_in_the_middle(&self->m, variant->ending, n,
					     before, self->cpus);
	}
	stop_maker(self);
	kt_expedite(false);
	kt_set_online((int)sysconf(_SC_NPROCESSORS_CONF) - 1, true);
	printf("# %ld sessions, %ld calls\n", self->m.ended, tried);
	EXPECT_LT(0, overlaps);
	EXPECT_EQ(0, self->m.failed);
	close(fd);
}

FIXTURE(pair)
{
	int dev, cpus;
	uint64_t ring;
};

FIXTURE_SETUP(pair)
{
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	self->cpus = kt_online_cpus();
	self->ring = M;
	while (fits(2 * self->ring, self->cpus))
		self->ring *= 2;
}

FIXTURE_TEARDOWN(pair)
{
	close(self->dev);
}

/* A CPU comes online during CREATE: it gets its rings like all others. */
TEST_F_TIMEOUT(pair, cpus_come_online, 300)
{
	const int turns = kt_scale() > 1 ? 4 : 12;
	const int cpu = self->cpus - 1;
	int fd, status, tries;
	pid_t pid;

	if (self->cpus < 2)
		SKIP(return, "needs 2 CPUs");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		while (!kt_set_online(cpu, false) && !kt_set_online(cpu, true))
			;
		_exit(1);
	}
	for (int i = 0; i < turns; i++) {
		fd = kt_create(self->dev, i % 3, self->ring / 4, 4 * K);
		ASSERT_LE(0, fd);
		/* The last CPU may be offline then: its rings stay all the same. */
		kill(pid, SIGSTOP);
		EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
		/* A work item makes those of 32 MiB and more, once the CPU runs. */
		tries = self->ring / 4 < 32 * M ? 0 : 3000 * kt_scale();
		while (tries-- > 0 && rings_missing(fd) > 0)
			usleep(10000);
		kill(pid, SIGCONT);
		EXPECT_GE(0, rings_missing(fd));
		close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFSIGNALED(status));
	kt_set_online(cpu, true);
}

static void *create_big_session(void *arg)
{
	struct maker *m = arg;

	m->failed = kt_create(m->dev, KTAPE_MODE_OVERWRITE, m->ring, m->block);
	__atomic_add_fetch(&m->ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Return the KiB that were allocated since @before KiB were free. */
static long taken_since(long before)
{
	return before - kt_free_kib();
}

/*
 * CPUs come online during the CREATE of a session that, with these CPUs' rings,
 * would nearly exceed the limit: either CREATE is refused, or it was done
 * before they came. The limit holds in both cases. They come when @percent of the memory for
 * the other CPUs' rings is taken. @block: bytes of a block, 0 = the default.  Return true if
 * CREATE went on when the first of them came.
 */
static bool bring_cpus_during_create(struct __test_metadata *_metadata, int dev,
				     uint64_t block, int percent)
{
	const int cpus = kt_online_cpus(), few = cpus / 2;
	struct maker m = { .dev = dev, .ring = M, .block = block };
	const long limit = kt_meminfo("MemTotal") / 2;
	long before, taken;
	bool meanwhile;

	for (int cpu = few; cpu < cpus; cpu++)
		EXPECT_EQ(0, kt_set_online(cpu, false));
	while (fits(2 * m.ring, few))
		m.ring *= 2;
	before = kt_free_kib();
	EXPECT_EQ(0, pthread_create(&m.thread, NULL, create_big_session, &m));
	while (!load_long(&m.ended) &&
	       taken_since(before) < (long)(m.ring / K) * few * percent / 100)
		;
	meanwhile = !load_long(&m.ended);
	for (int cpu = few; cpu < cpus; cpu++)
		EXPECT_EQ(0, kt_set_online(cpu, true));
	pthread_join(m.thread, NULL);
	taken = taken_since(before);
	printf("# blocks of %llu, at %d%%: %d, %ld of %ld KiB\n",
	       (unsigned long long)block, percent, m.failed, taken, limit);
	/* The memory of the CPUs themselves is much less. */
	EXPECT_GT(limit + limit / 16, taken);
	EXPECT_TRUE(m.failed >= 0 || m.failed == -ENOMEM);
	if (m.failed >= 0)
		close(m.failed);
	return meanwhile;
}

TEST_F_TIMEOUT(pair, limit_with_new_cpus, 300)
{
	static const int percent[] = { 10, 50, 80, 100 };
	int meanwhile = 0;

	if (self->cpus < 4)
		SKIP(return, "needs 4 CPUs");
	kt_expedite(true);
	for (size_t i = 0; i < ARRAY_SIZE(percent); i++) {
		meanwhile += bring_cpus_during_create(_metadata, self->dev,
						      4 * K, percent[i]);
		/* With blocks of the default size. */
		meanwhile += bring_cpus_during_create(_metadata, self->dev, 0,
						      percent[i]);
	}
	kt_expedite(false);
	printf("# %d of %zu times CREATE went on\n", meanwhile,
	       2 * ARRAY_SIZE(percent));
	EXPECT_LT(0, meanwhile);
}

/* ---- names on a CPU without rings -------------------------------------------------- */

#define LONELY "without-rings"

static void find_lonely_name(const struct ktape_block *b,
			     const struct kt_rec *r, void *arg)
{
	bool *reported = arg;

	*reported |= b->kind != KTAPE_RING_REGISTRY &&
		     r->op == KTAPE_EV_REGISTRY && r->size == strlen(LONELY) &&
		     !memcmp(r->blob, LONELY, r->size);
}

/* Take the memory that is left for rings, in few sessions.  Return: their number. */
static int fill_ring_memory(int dev, uint64_t ring, int *fd)
{
	int nr = 0;

	for (; ring >= M && nr < 5; ring /= 2) {
		fd[nr] = kt_create(dev, KTAPE_MODE_OVERWRITE, ring, 0);
		if (fd[nr] >= 0)
			nr++;
	}
	return nr;
}

/* Give this thread a name on a CPU. */
static int rename_on(int cpu)
{
	kt_pin(cpu);
	return prctl(PR_SET_NAME, LONELY);
}

/*
 * A CPU comes online, and there is no memory for its rings.  Another CPU records the name that
 * a thread gets there, so a reader of the stream gets it.
 */
TEST_F_TIMEOUT(pair, names_without_rings, 300)
{
	const int cpu = self->cpus - 1;
	static struct kts t = { .record = find_lonely_name };
	bool reported = false;
	struct kt_buf b = {};
	int fd, others[5], nr, status;
	pid_t pid;

	if (self->cpus < 2)
		SKIP(return, "needs 2 CPUs");
	t.arg = &reported;
	ASSERT_EQ(0, kt_set_online(cpu, false));
	fd = kt_create(self->dev, KTAPE_MODE_DISCARD, self->ring, 0);
	EXPECT_LE(0, fd);
	nr = fill_ring_memory(self->dev, self->ring, others);
	EXPECT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_SET, KTAPE_EV_MARK, 0, 0));
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_set_online(cpu, true));
	EXPECT_LT(0, rings_missing(fd));
	pid = fork();
	if (!pid)
		_exit(rename_on(cpu));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
	/* CPUs with rings record the names of the one without every quarter of a second. */
	for (int i = 0; i < 5000 * kt_scale() && !reported; i++) {
		if (kt_buf_read(&b, fd, 65536) <= 0) {
			kt_control(fd, KTAPE_IOC_FLUSH);
			usleep(10000);
		}
		kts_feed(&t, b.p + t.offset, b.len - t.offset);
	}
	EXPECT_TRUE(reported);
	EXPECT_STREQ("", t.error);
	kt_buf_free(&b);
	close(fd);
	while (nr)
		close(others[--nr]);
}

/*
 * Create two sessions at once that fit alone but not together: one succeeds,
 * never both.
 */
TEST_F_TIMEOUT(pair, two_at_once, 300)
{
	const int turns = kt_scale() > 1 ? 4 : 12;
	struct maker m[2];
	int made = 0;

	for (int i = 0; i < turns; i++) {
		for (int j = 0; j < 2; j++) {
			m[j] = (struct maker){ .dev = self->dev,
					       .ring = self->ring,
					       .block = 4 * K };
			ASSERT_EQ(0, pthread_create(&m[j].thread, NULL,
						    create_big_session, &m[j]));
		}
		for (int j = 0; j < 2; j++)
			pthread_join(m[j].thread, NULL);
		for (int j = 0; j < 2; j++)
			EXPECT_TRUE(m[j].failed >= 0 || m[j].failed == -ENOMEM);
		made = (m[0].failed >= 0) + (m[1].failed >= 0);
		EXPECT_EQ(1, made);
		for (int j = 0; j < 2; j++)
			if (m[j].failed >= 0)
				close(m[j].failed);
	}
}

/* A name is unique, also while the first session with it is being created. */
TEST_F_TIMEOUT(pair, one_name, 300)
{
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = 64 * K,
				  .block_size = 4 * K,
				  .name = "only-one" };
	long before = kt_free_kib();
	int until[2], fd, status;
	char none;
	pid_t pid;

	ASSERT_EQ(0, pipe(until));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		c.ring_size = self->ring;
		close(until[1]);
		fd = kt_ioctl(self->dev, KTAPE_IOC_CREATE, &c);
		/* The process keeps the session until its parent closes the pipe. */
		_exit(read(until[0], &none, 1) != 0 || fd < 0);
	}
	close(until[0]);
	while (taken_since(before) < (long)(self->ring / K) * self->cpus / 16)
		kt_pause();
	fd = kt_ioctl(self->dev, KTAPE_IOC_CREATE, &c);
	EXPECT_EQ(-EEXIST, fd);
	close(until[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	if (fd >= 0)
		close(fd);
}

/*
 * Wait until no more than @most KiB of what was free @before are missing. Return: false if
 * that does not come.
 */
static bool is_free_again(long before, long most)
{
	long missing = 0;

	for (int i = 0; i < 100 * kt_scale(); i++) {
		missing = before - kt_free_kib();
		if (missing <= most)
			return true;
		printf("# %ld KiB are missing, %ld are in the lists of CPUs\n",
		       missing, kt_free_in_lists_kib());
		usleep(100000);
	}
	return false;
}

/*
 * Kill the creator during CREATE: it exits, and its memory, number and name are
 * free.
 */
TEST_F_TIMEOUT(pair, killed, 300)
{
	const long all = self->ring / K * self->cpus;
	const int turns = kt_scale() > 1 ? 4 : 16;
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = self->ring,
				  .flags = KTAPE_CREATE_LINGER,
				  .name = "killed" };
	struct ktape_session_ref ref = { .size = sizeof(ref),
					 .id = KTAPE_SESSION_BY_NAME,
					 .name = "killed" };
	const long at_first = kt_free_kib();
	int killed = 0, status;
	pid_t pid, gone;
	long before;

	for (int i = 0; i < turns; i++) {
		before = kt_free_kib();
		gone = 0;
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			_exit(kt_ioctl(self->dev, KTAPE_IOC_CREATE, &c) < 0);
		while (before - kt_free_kib() < all / 16 && !gone) {
			kt_pause();
			gone = waitpid(pid, &status, WNOHANG);
		}
		kill(pid, SIGKILL);
		if (!gone)
			gone = waitpid(pid, &status, 0);
		ASSERT_EQ(pid, gone);
		killed += WIFSIGNALED(status);
		/*
		 * A session that was created before the signal must be
		 * destroyed by name.
		 */
		kt_ioctl(self->dev, KTAPE_IOC_DESTROY, &ref);
		ASSERT_TRUE(is_free_again(before, all / 16));
	}
	ASSERT_TRUE(is_free_again(at_first, all / 16));
	printf("# %d of %d were killed in time\n", killed, turns);
	EXPECT_LT(0, killed);
}

TEST_HARNESS_MAIN
