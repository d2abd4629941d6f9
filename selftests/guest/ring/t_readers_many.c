// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run 32 readers of one session at once, half of them by a mapping, while a thread
 * floods the ring of CPU 0 and another one that of CPU 1: each reader checks at least 10^5
 * records of CPU 0, which must be in order. Also test what one reader is told of the records that
 * it missed, lseek(), and three sessions of different profiles and modes at once.
 */
#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_ring.h"
#include "kt_session.h"

#define CPUS_MAX 16
#define READERS	 32
#define RING	 (1 << 20)
#define BLOCK	 65536

/**
 * struct reader - a thread that reads the session and checks CPU 0's ring
 * @thread: the thread
 * @fd: its descriptor
 * @maps: it reads a mapping, not by read()
 * @enough: it ends after as many records
 * @records: records that it has checked
 * @lapped: bytes that were overwritten before it read the mapping
 * @next: least number that the next marked call of CPU 0's thread may have as argument
 * @ts: time of the last record
 * @bad: errors in records and blocks
 * @t: parse of what read() returned
 * @error: first error, "" = none
 */
struct reader {
	pthread_t thread;
	int fd;
	bool maps;
	uint64_t enough, records, lapped, next, ts, bad;
	struct kts *t;
	char error[200];
};

/* Check that times and the numbers of the writer's calls only grow. */
static void check_record_order(struct reader *r, const struct kt_rec *rec)
{
	uint64_t n;

	r->bad += rec->ts < r->ts;
	r->ts = rec->ts;
	r->records++;
	if (!kt_is_marked(rec->op, rec->blob, &n))
		return;
	r->bad += r->next && n < r->next;
	r->next = n + 1;
}

static void check_reader_record(const struct ktape_block *b,
				const struct kt_rec *rec, void *arg)
{
	if (!b->cpu && b->kind == KTAPE_RING_EVENT && rec->op != KTAPE_TIME_EXTEND)
		check_record_order(arg, rec);
}

static void *stream_reader_main(void *arg)
{
	struct reader *r = arg;
	struct kt_buf b = {};
	ssize_t n;

	r->t->record = check_reader_record;
	r->t->arg = r;
	do {
		n = kt_read_and_parse(r->t, &b, r->fd, 65536);
	} while (n > 0 && !r->t->error[0] && r->records < r->enough);
	snprintf(r->error, sizeof(r->error), "%s", r->t->error);
	kt_buf_free(&b);
	return NULL;
}

/*
 * Copy the block at *@pos, check it, and advance *@pos behind it.  If it was overwritten, go on
 * with the oldest one, and count what is between as lapped; if that happens during the copy,
 * which tail tells, leave it to the next call.  Return: false if the block is not closed yet.
 */
static bool check_next_block(struct reader *r, const struct kt_map *m,
			     uint64_t *pos, char *copy)
{
	uint64_t size = m->e.block_size, commit = kt_load(&m->page->commit), at;
	const struct ktape_block *b = (const void *)copy;
	struct kt_rec rec;
	size_t len;

	if (*pos < kt_oldest(m)) {
		r->lapped += kt_oldest(m) - *pos;
		*pos = kt_oldest(m);
	}
	if (commit <= *pos + size)
		return false;
	memcpy(copy, m->data + *pos % m->e.data_size, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (kt_load(&m->page->tail) > *pos)
		return true;
	r->bad += b->magic != KTAPE_BLOCK_MAGIC || b->seq != *pos / size + 1;
	rec.ts = b->ts_begin;
	for (at = KTAPE_BLOCK_HEADER; at < b->content_bits / 8; at += len) {
		len = kt_decode((const void *)(copy + at),
				b->content_bits / 8 - at, &rec);
		if (!len) {
			r->bad++;
			break;
		}
		if (rec.op != KTAPE_TIME_EXTEND)
			check_record_order(r, &rec);
	}
	*pos += size;
	return true;
}

static void *block_reader_main(void *arg)
{
	struct reader *r = arg;
	char *copy = malloc(BLOCK);
	uint64_t pos = 0;
	struct kt_map m;

	if (kt_map_ring(r->fd, 0, KTAPE_RING_EVENT, &m)) {
		snprintf(r->error, sizeof(r->error), "no mapping");
		return NULL;
	}
	while (r->records < r->enough)
		if (!check_next_block(r, &m, &pos, copy))
			usleep(2000);
	kt_unmap_ring(&m);
	free(copy);
	return NULL;
}

FIXTURE(many)
{
	int main, fd;
	struct kt_load load[CPUS_MAX];
	struct reader r[READERS];
};

FIXTURE_SETUP(many)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
}

FIXTURE_TEARDOWN(many)
{
	close(self->main);
}

TEST_F_TIMEOUT(many, readers, 280)
{
	uint64_t lapped = 0, records = 0;

	self->fd = kt_named(self->main, "many", 0, RING, BLOCK, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER_WIDE,
						      KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_loads_start(self->load, 2, 0, kt_call_marked));
	for (int i = 0; i < READERS; i++) {
		struct reader *r = &self->r[i];

		r->maps = i % 2;
		r->enough = 100000 / kt_scale();
		r->t = calloc(1, sizeof(*r->t));
		r->fd = kt_attach(self->main, "many", KTAPE_OPEN_READONLY);
		ASSERT_LE(0, r->fd);
		ASSERT_EQ(0, pthread_create(&r->thread, NULL,
					    r->maps ? block_reader_main :
						      stream_reader_main,
					    r));
	}
	for (int i = 0; i < READERS; i++) {
		struct reader *r = &self->r[i];
		struct ktape_reader_info info;

		pthread_join(r->thread, NULL);
		EXPECT_STREQ("", r->error);
		EXPECT_EQ(0, r->bad)
		{
			TH_LOG("reader %d", i);
		}
		EXPECT_LE(r->enough, r->records);
		ASSERT_EQ(0, kt_reader_info(r->fd, 0, KTAPE_RING_EVENT, &info));
		/* The module counts for read(); it knows nothing of a mapping. */
		if (!r->maps) {
			EXPECT_LE(r->records, info.records);
		} else {
			EXPECT_EQ(0, info.records + info.lapped);
		}
		/* A record has about 32 bytes. */
		lapped += r->maps ? r->lapped / 32 : info.lapped;
		records += r->records;
		close(r->fd);
		free(r->t);
	}
	kt_loads_stop(self->load, 2);
	TH_LOG("%llu records judged, about %llu lapped",
	       (unsigned long long)records, (unsigned long long)lapped);
	close(self->fd);
}

/*
 * A reader fell behind and read to the end: records read and records lost must
 * add up.
 */
TEST_F_TIMEOUT(many, own_loss, 60)
{
	struct ktape_reader_info info;
	struct ktape_stats st;
	struct kt_buf b = {};
	int slow;

	self->fd = kt_named(self->main, "loss", 0, 16384, 4096, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_pin(0));
	slow = kt_attach(self->main, "loss", KTAPE_OPEN_READONLY);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_nonblock(slow, true);
	for (int i = 0; i < 3; i++) {
		/* Our own calls go on meanwhile, so there is no natural end. */
		for (int k = 0; k < 10; k++)
			kt_buf_read(&b, slow, 65536);
		kt_getppids(10000);
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_slurp(&b, slow, 65536));
	ASSERT_EQ(0, kt_stats(slow, 0, KTAPE_RING_EVENT, &st));
	ASSERT_EQ(0, kt_reader_info(slow, 0, KTAPE_RING_EVENT, &info));
	EXPECT_EQ(KTAPE_READER_READS, info.flags);
	EXPECT_EQ(st.commit, info.position);
	EXPECT_EQ(0, info.unread);
	EXPECT_LT(15000, info.lapped);
	EXPECT_EQ(kt_sum(st.emitted), info.records + info.lapped);
	EXPECT_EQ(0, kt_lost(&st));
	/* Another descriptor has its own counts. */
	ASSERT_EQ(0, kt_reader_info(self->fd, 0, KTAPE_RING_EVENT, &info));
	EXPECT_EQ(0, info.records + info.lapped + info.position);
	EXPECT_EQ(st.commit, info.unread);
	EXPECT_EQ(-ENXIO, kt_reader_info(slow, 4096, 0, &info));
	EXPECT_EQ(-ENXIO, kt_reader_info(slow, 0, 2, &info));
	kt_buf_free(&b);
	close(slow);
	close(self->fd);
}

/*
 * Numbers of the first and last marked call up to the end of a stream, and the records of its
 * event rings, -1 = the stream is wrong.
 */
struct mark_range {
	struct kts *t;
	uint64_t first, last, records;
};

static void note_mark_range(const struct ktape_block *b,
			    const struct kt_rec *rec, void *arg)
{
	struct mark_range *s = arg;
	uint64_t n;

	s->records += b->kind == KTAPE_RING_EVENT;
	if (!kt_is_marked(rec->op, rec->blob, &n))
		return;
	if (!s->last)
		s->first = n;
	s->last = n;
}

static struct mark_range read_to_end_range(int fd)
{
	struct mark_range s = { .t = calloc(1, sizeof(*s.t)) };
	struct kt_buf b = {};

	s.t->record = note_mark_range;
	s.t->arg = &s;
	if (kt_read_and_parse_all(s.t, &b, fd) || s.t->error[0])
		s.records = -1;
	kt_buf_free(&b);
	free(s.t);
	return s;
}

/* lseek() goes to the oldest or to the newest data, and nowhere else. */
TEST_F(many, seek)
{
	struct mark_range s;

	self->fd = kt_named(self->main, "seek", 0, RING, BLOCK, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER_WIDE)));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int n = 1; n <= 500; n++)
		kt_call_marked(n);
	/* Seek to the newest data: earlier data are not delivered. */
	EXPECT_EQ(0, lseek(self->fd, 0, SEEK_END));
	for (int n = 501; n <= 1000; n++)
		kt_call_marked(n);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	s = read_to_end_range(self->fd);
	EXPECT_EQ(501, s.first);
	EXPECT_EQ(1000, s.last);
	/*
	 * Seek to the oldest data: a complete stream, then once more from its
	 * middle.
	 */
	for (int i = 0; i < 2; i++) {
		char some[1000];

		EXPECT_EQ(0, lseek(self->fd, 0, SEEK_SET));
		EXPECT_EQ(1000, read(self->fd, some, sizeof(some)));
		EXPECT_EQ(0, lseek(self->fd, 0, SEEK_SET));
		s = read_to_end_range(self->fd);
		EXPECT_EQ(1, s.first);
		EXPECT_EQ(1000, s.last);
	}
	EXPECT_EQ(0, lseek(self->fd, 0, SEEK_END));
	s = read_to_end_range(self->fd);
	EXPECT_EQ(0, s.records);
	EXPECT_EQ(-1, lseek(self->fd, 1, SEEK_SET));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_CUR));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, pread(self->fd, &s, 1, 0));
	EXPECT_EQ(ESPIPE, errno);
	close(self->fd);
}

/* ---- three sessions ------------------------------------------------------ */

static void mark_and_yield(uint64_t n)
{
	kt_call_marked(n);
	if (n % 8 == 0)
		sched_yield();
}

/* Read a stopped session to its end, and check the counts if it is @whole. */
static void check_rest_of_stream(struct __test_metadata *_metadata, int fd,
				 bool whole, int cpus)
{
	struct kt_ledger *l = kt_ledger_new();
	struct kt_buf b = {};

	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, fd));
	if (whole) {
		EXPECT_LE(0, kt_ledger_check(l, fd, cpus));
	}
	EXPECT_STREQ("", l->t.error);
	kt_buf_free(&b);
	free(l);
}

TEST_F_TIMEOUT(many, three_sessions, 120)
{
	static const struct {
		const char *name;
		uint32_t mode;
		unsigned char ops[4];
	} plan[] = {
		{ "calls",
		  KTAPE_MODE_OVERWRITE,
		  { KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT } },
		{ "sched",
		  KTAPE_MODE_DISCARD,
		  { KTAPE_EV_SCHED_SWITCH, KTAPE_EV_SYS_ENTER } },
		{ "snap",
		  KTAPE_MODE_SNAPSHOT,
		  { KTAPE_EV_SCHED_SWITCH, KTAPE_EV_SCHED_WAKEUP, KTAPE_EV_SYS_EXIT } },
	};
	int cpus = kt_online_cpus(), fd[3];
	uint64_t calls = 20000 / kt_scale(), switches[2] = {}, enters[2] = {};
	struct ktape_session_info info;
	struct ktape_stats st[3];

	ASSERT_LE(cpus, CPUS_MAX);
	for (int i = 0; i < 3; i++) {
		/* The snapshot session fills up at any scale of the load. */
		fd[i] = kt_named(self->main, plan[i].name, plan[i].mode,
				 plan[i].mode == KTAPE_MODE_SNAPSHOT ? 1 << 15 :
								       1 << 18,
				 4096, 0);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, kt_profile_only(fd[i], plan[i].ops));
		ASSERT_EQ(0, kt_control(fd[i], KTAPE_IOC_START));
	}
	ASSERT_EQ(0, kt_loads_start(self->load, cpus, calls, mark_and_yield));
	kt_loads_wait(self->load, cpus);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, kt_control(fd[i], KTAPE_IOC_STOP));
	for (int cpu = 0; cpu < cpus; cpu++) {
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(0, kt_stats(fd[i], cpu, 0, &st[i]));
		/*
		 * Each session has its own classes, the threads that ran and
		 * names, and nothing else.
		 */
		EXPECT_EQ(kt_sum(st[0].emitted),
			  st[0].emitted[KTAPE_CLASS_CONTROL] +
				  st[0].emitted[KTAPE_CLASS_SYSCALL]);
		EXPECT_EQ(kt_sum(st[1].emitted),
			  st[1].emitted[KTAPE_CLASS_CONTROL] +
				  st[1].emitted[KTAPE_CLASS_SYSCALL] +
				  st[1].emitted[KTAPE_CLASS_SCHED]);
		EXPECT_LE(2 * calls, st[0].emitted[KTAPE_CLASS_SYSCALL]);
		EXPECT_LE(calls, st[1].emitted[KTAPE_CLASS_SYSCALL]);
		EXPECT_EQ(0, kt_lost(&st[0]));
		EXPECT_EQ(0, kt_lost(&st[2]));
		switches[0] += st[1].emitted[KTAPE_CLASS_SCHED];
		switches[1] += st[2].emitted[KTAPE_CLASS_SCHED];
		enters[0] += st[0].emitted[KTAPE_CLASS_SYSCALL];
		enters[1] += st[1].emitted[KTAPE_CLASS_SYSCALL];
	}
	EXPECT_LT(0, switches[0]);
	EXPECT_LT(0, switches[1]);
	EXPECT_LT(enters[1], enters[0]);
	ASSERT_EQ(0, kt_session_info(self->main, "snap", &info));
	EXPECT_NE(0, info.frozen);
	for (int i = 0; i < 3; i++) {
		/* The first one, in overwrite mode, has lost its oldest events. */
		check_rest_of_stream(_metadata, fd[i], i, cpus);
		close(fd[i]);
	}
}

TEST_HARNESS_MAIN
