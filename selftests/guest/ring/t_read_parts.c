// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test open blocks, which read() delivers in parts: every record once, at any
 * pace and with several readers of one descriptor; and the ends of blocks.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_load.h"
#include "kt_stream.h"

#define CPUS_MAX 16

/**
 * struct marks_read - marked calls, which have a number as argument, in the order of the stream
 * @next: number that the next call must have, by CPU
 * @wrong: calls with another number
 * @first: the first of these as text
 */
struct marks_read {
	uint64_t next[CPUS_MAX];
	uint64_t wrong;
	char first[100];
};

static void check_next_mark(const struct ktape_block *b, const struct kt_rec *r,
			    void *arg)
{
	struct marks_read *s = arg;
	uint64_t n;

	if (!kt_is_marked(r->op, r->blob, &n) || b->cpu >= CPUS_MAX)
		return;
	if (n != s->next[b->cpu] && !s->wrong++)
		snprintf(s->first, sizeof(s->first), "cpu %u: %llu not %llu",
			 b->cpu, (unsigned long long)n,
			 (unsigned long long)s->next[b->cpu]);
	s->next[b->cpu] = n + 1;
}

/* Return the number of packets that continue a block. */
static uint64_t count_parts(const struct kts *t)
{
	uint64_t n = 0;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		n += t->stream[cpu][KTAPE_RING_EVENT].parts;
	return n;
}

FIXTURE(parts)
{
	int fd, cpus;
	uint64_t calls;
	struct kt_buf b;
	struct kts *t;
	struct marks_read marks;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_SETUP(parts)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->calls = 10000 / kt_scale();
	self->t = calloc(1, sizeof(*self->t));
	ASSERT_NE(NULL, self->t);
	self->t->record = check_next_mark;
	self->t->arg = &self->marks;
	/* There is room for all events; a discarded one would have no number in the stream. */
	self->fd = kt_session(KTAPE_MODE_DISCARD, 4 << 20, 16384,
			      KT_OPS(KTAPE_EV_SYS_ENTER_WIDE));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
}

FIXTURE_TEARDOWN(parts)
{
	close(self->fd);
	kt_buf_free(&self->b);
	free(self->t);
}

#define EXPECT_ALL_MARKS()                                           \
	do {                                                         \
		EXPECT_STREQ("", self->t->error);                    \
		EXPECT_STREQ("", self->marks.first);                 \
		EXPECT_EQ(0, self->marks.wrong);                     \
		for (int i = 0; i < self->cpus; i++)                 \
			EXPECT_EQ(self->calls, self->marks.next[i]); \
	} while (0)

/* Read without blocking in random sizes while all CPUs record. */
TEST_F_TIMEOUT(parts, each_record_once, 180)
{
	unsigned int seed = 1;
	size_t fed = 0;
	ssize_t n;

	kt_nonblock(self->fd, true);
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, self->calls,
				    kt_call_marked));
	for (int i = 0; i < 20000 / kt_scale(); i++) {
		n = kt_buf_read(&self->b, self->fd, 1 + rand_r(&seed) % 3000);
		if (n == -EAGAIN)
			sched_yield();
		else
			ASSERT_LT(0, n);
	}
	kt_loads_wait(self->load, self->cpus);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_slurp(&self->b, self->fd, 65536));
	fed = kts_feed(self->t, self->b.p, self->b.len);
	EXPECT_EQ(self->b.len, fed);
	EXPECT_ALL_MARKS();
	EXPECT_LT(0, count_parts(self->t));
}

/**
 * struct reader - one of two threads that read a descriptor
 * @thread: the thread
 * @fd: the descriptor
 * @seed: of its random buffer sizes
 * @b: what it has read, in order
 * @ends: end of each read() in @b
 * @nr: number of reads
 * @at: number of reads that merge_reads() has placed
 * @last: result of its last read()
 */
struct reader {
	pthread_t thread;
	int fd;
	unsigned int seed;
	struct kt_buf b;
	size_t *ends, nr, at;
	ssize_t last;
};

/*
 * Larger than the metadata and any packet, so that a read returns whole
 * packets.
 */
#define READ_MIN  (160 << 10)
#define READS_MAX 10000

static void *read_random_parts(void *arg)
{
	struct reader *r = arg;

	do {
		r->last = kt_buf_read(&r->b, r->fd,
				      READ_MIN + rand_r(&r->seed) % 8000);
		if (r->last > 0)
			r->ends[r->nr++] = r->b.len;
	} while (r->last > 0 && r->nr < READS_MAX);
	return NULL;
}

static size_t next_read_chunk(const struct reader *r, const char **p)
{
	size_t begin = r->at ? r->ends[r->at - 1] : 0;

	*p = r->b.p + begin;
	return r->at < r->nr ? r->ends[r->at] - begin : 0;
}

/*
 * Merge the remaining reads of two readers behind @to, so that the stream,
 * parsed as @t so far, stays valid to its end. At the end of a packet both
 * readers may be possible; if the choice proves wrong later, it is undone.
 * @to has room for everything. Return: whether there is such an order.
 */
static bool merge_reads(const struct kts *t, struct reader *r, struct kt_buf *to)
{
	struct kts *next = malloc(sizeof(*next));
	size_t n, len = to->len;
	bool ok = r[0].at == r[0].nr && r[1].at == r[1].nr && t->offset == len;
	const char *p;

	for (int i = 0; i < 2 && !ok && next; i++) {
		n = next_read_chunk(&r[i], &p);
		if (!n)
			continue;
		memcpy(to->p + len, p, n);
		to->len = len + n;
		*next = *t;
		kts_feed(next, to->p + t->offset, to->len - t->offset);
		r[i].at++;
		ok = !next->error[0] && merge_reads(next, r, to);
		if (!ok)
			r[i].at--;
	}
	free(next);
	return ok;
}

/*
 * Two threads share a descriptor: each byte is delivered once, and none is
 * missing. There must be one order of their reads in which packets are complete
 * and follow each other.
 */
TEST_F_TIMEOUT(parts, two_threads_on_a_descriptor, 180)
{
	struct reader r[2] = { { .fd = self->fd, .seed = 1 },
			       { .fd = self->fd, .seed = 2 } };
	static const struct kts nothing;

	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, self->calls,
				    kt_call_marked));
	for (int i = 0; i < 2; i++) {
		r[i].ends = calloc(READS_MAX, sizeof(size_t));
		ASSERT_NE(NULL, r[i].ends);
		ASSERT_EQ(0, pthread_create(&r[i].thread, NULL,
					    read_random_parts, &r[i]));
	}
	kt_loads_wait(self->load, self->cpus);
	/*
	 * By now both have read all that the loads left. Their own calls are events too, so
	 * they go on, with parts of open blocks.
	 */
	usleep(600000);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	for (int i = 0; i < 2; i++) {
		pthread_join(r[i].thread, NULL);
		EXPECT_EQ(0, r[i].last);
		EXPECT_LT(0, r[i].nr);
	}
	self->b.p = malloc(r[0].b.len + r[1].b.len);
	ASSERT_NE(NULL, self->b.p);
	EXPECT_TRUE(merge_reads(&nothing, r, &self->b));
	EXPECT_EQ(self->b.len, kts_feed(self->t, self->b.p, self->b.len));
	EXPECT_ALL_MARKS();
	for (int i = 0; i < 2; i++) {
		kt_buf_free(&r[i].b);
		free(r[i].ends);
	}
}

/* ---- where a block ends --------------------------------------------------- */

#define BLOCK 4096

/* What the thread on CPU 2 is to do, or has done. */
enum filler { FILL, READY, FILLED, END_WITH_ONE_MORE };

static int filler_state;  /* enum filler */
static long filler_calls; /* calls that fit in the block */

static void set_filler_state(int s)
{
	__atomic_store_n(&filler_state, s, __ATOMIC_SEQ_CST);
}

static int get_filler_state(void)
{
	return __atomic_load_n(&filler_state, __ATOMIC_SEQ_CST);
}

static void wait_filler_state(int s)
{
	while (get_filler_state() != s)
		;
}

/* Make filler_calls calls on CPU 2 at each FILL; at the end one more, and return. */
static void *fill_block_main(void *arg)
{
	int s;

	kt_pin(2);
	set_filler_state(READY);
	do {
		while ((s = get_filler_state()) != FILL && s != END_WITH_ONE_MORE)
			;
		kt_getppids(s == FILL ? filler_calls : 1);
		if (s == FILL)
			set_filler_state(FILLED);
	} while (s == FILL);
	return NULL;
}

/*
 * Have the block of CPU 2 filled to its last byte. START and the tracer's samples
 * write records too, so ask for the room left in the block: sys_enter takes 8
 * bytes. Repeat if another event came in between. Return: whether it is full.
 */
static bool fill_block_of_cpu_2(int fd)
{
	struct ktape_stats st;

	for (int tries = 0; tries < 20; tries++) {
		if (kt_stats(fd, 2, KTAPE_RING_EVENT, &st))
			return false;
		filler_calls = (BLOCK - (long)(st.commit % BLOCK)) / 8;
		set_filler_state(FILL);
		wait_filler_state(FILLED);
		if (kt_stats(fd, 2, KTAPE_RING_EVENT, &st))
			return false;
		if (st.commit && st.commit % BLOCK == 0)
			return true;
	}
	return false;
}

FIXTURE(ends){};

FIXTURE_SETUP(ends)
{
}

FIXTURE_TEARDOWN(ends)
{
}

/*
 * A block is full to its last byte while the next one is not open: the block is
 * not closed yet, and a reader must not spin, but wait as for any other open
 * block.
 */
TEST_F_TIMEOUT(ends, full_to_the_byte, 180)
{
	struct kt_buf b = {};
	int fd, status, waited;
	pthread_t thread;
	pid_t pid;

	if (kt_online_cpus() < 3)
		SKIP(return, "fewer than 3 CPUs");
	kt_pin(0);
	fd = kt_session(KTAPE_MODE_OVERWRITE, 16 * BLOCK, BLOCK,
			KT_OPS(KTAPE_EV_SYS_ENTER));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, fill_block_main, NULL));
	wait_filler_state(READY);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	kt_nonblock(fd, true);
	/* Our own reads are events, so there is no end. */
	for (int i = 0; i < 10; i++)
		ASSERT_LT(0, kt_buf_read(&b, fd, 65536));
	if (!fill_block_of_cpu_2(fd)) {
		set_filler_state(END_WITH_ONE_MORE);
		pthread_join(thread, NULL);
		close(fd);
		SKIP(return, "other calls were on CPU 2 all the time");
	}
	kt_nonblock(fd, false);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(kt_buf_read(&b, fd, 65536) > 0 ? 0 : 1);
	for (waited = 0; waited < 50 * kt_scale(); waited++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		usleep(100000);
	}
	EXPECT_GT(50 * kt_scale(), waited)
	{
		TH_LOG("read() does not come back");
	}
	set_filler_state(END_WITH_ONE_MORE);
	pthread_join(thread, NULL);
	if (waited == 50 * kt_scale())
		waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	kt_buf_free(&b);
	close(fd);
}

static void on_rename(const struct ktape_block *b, const struct kt_rec *r, void *arg)
{
	if (r->op == KTAPE_EV_PROCESS_RENAME && b->cpu == 2)
		*(bool *)arg = true;
}

static void rename_once(uint64_t n)
{
	kt_rename(n);
}

static void make_load_calls(uint64_t n)
{
	kt_getppids(100);
}

/*
 * One event in a quiet ring must be delivered while another CPU fills block
 * after block.
 */
TEST_F_TIMEOUT(ends, quiet_beside_busy, 240)
{
	struct kt_load busy = { .cpu = 1, .call = make_load_calls };
	struct kt_load once = { .cpu = 2, .call = rename_once, .limit = 1 };
	struct kt_buf b = {};
	bool seen = false;
	struct kts *t = calloc(1, sizeof(*t));
	size_t fed = 0;
	uint64_t until;
	int fd;

	if (kt_online_cpus() < 3)
		SKIP(return, "fewer than 3 CPUs");
	ASSERT_NE(NULL, t);
	t->record = on_rename;
	t->arg = &seen;
	kt_pin(0);
	fd = kt_session(KTAPE_MODE_DISCARD, 1 << 20, 4096,
			KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, pthread_create(&busy.thread, NULL, kt_load_main, &busy));
	/* From now on every read() finds a full block of CPU 1. */
	for (int i = 0; i < 20; i++)
		ASSERT_LT(0, kt_buf_read(&b, fd, 65536));
	ASSERT_EQ(0, pthread_create(&once.thread, NULL, kt_load_main, &once));
	kt_loads_wait(&once, 1);
	until = time(NULL) + 20 * kt_scale();
	while (!seen && (uint64_t)time(NULL) < until) {
		ASSERT_LT(0, kt_buf_read(&b, fd, 65536));
		fed += kts_feed(t, b.p + fed, b.len - fed);
		ASSERT_STREQ("", t->error);
	}
	EXPECT_TRUE(seen);
	kt_loads_stop(&busy, 1);
	kt_buf_free(&b);
	free(t);
	close(fd);
}

/*
 * A reader advances its position by CONSUMER: no packet may continue the
 * skipped block.
 */
TEST_F(ends, position_moves_on)
{
	struct ktape_position pos[2] = { { .cpu = 0 }, { .cpu = 0, .kind = 1 } };
	struct ktape_consumer c = { .size = sizeof(c),
				    .nr = 2,
				    .op = KTAPE_CONSUMER_POSITION,
				    .positions = (uintptr_t)pos };
	struct ktape_stats st;
	struct kt_buf b = {};
	struct kts t = {};
	int fd;

	kt_pin(0);
	fd = kt_session(KTAPE_MODE_OVERWRITE, 65536, 4096,
			KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(fd, 0);
	/* A new kernel worker writes a name, too. */
	ASSERT_EQ(0, kt_filter_pid(fd, getpid(), 0));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	kt_nonblock(fd, true);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5 + 200 * round; i++)
			kt_rename(i);
		for (int kind = 0; kind < 2; kind++) {
			ASSERT_EQ(0, kt_stats(fd, 0, kind, &st));
			pos[kind].position = st.commit;
		}
		ASSERT_EQ(0, kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c));
		for (int i = 0; i < 5; i++)
			kt_rename(i);
		ASSERT_EQ(-EAGAIN, kt_slurp(&b, fd, 65536));
		/* Parse all that was read in all rounds. */
		EXPECT_EQ(b.len, kts_feed(&t, b.p, b.len));
		ASSERT_STREQ("", t.error);
		EXPECT_EQ(5 * (round + 1),
			  t.stream[0][0].class[KTAPE_CLASS_PROCESS]);
		memset(&t, 0, sizeof(t));
	}
	kt_buf_free(&b);
	close(fd);
}

TEST_HARNESS_MAIN
