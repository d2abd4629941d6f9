// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test poll(): it reports data when one ring has as many unread bytes as the watermark, or,
 * without a watermark, when the block that the reader reads next is full; it wakes a waiting
 * reader for that, and reports the end of a session.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_load.h"
#include "now.h"

#define BLOCK 4096
#define RING  (16 * BLOCK)
#define IN    (POLLIN | POLLRDNORM)

/*
 * Ends of CPU 0's rings at one time. A test that reads everything and then takes them knows up
 * to where it has read. Renames fill the event ring: each is an event there, and in overwrite
 * mode a name as well if it is new.
 */
struct positions {
	uint64_t commit[KTAPE_RINGS_PER_CPU];
};

static void get_positions(int fd, struct positions *m)
{
	struct ktape_stats st;

	for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
		m->commit[kind] = kt_stats(fd, 0, kind, &st) ? 0 : st.commit;
}

/* Return the largest number of unread bytes in one ring. */
static uint64_t most_unread(int fd, const struct positions *since)
{
	struct positions now;
	uint64_t most = 0;

	get_positions(fd, &now);
	for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
		if (now.commit[kind] - since->commit[kind] > most)
			most = now.commit[kind] - since->commit[kind];
	return most;
}

static void emit_until_unread(int fd, const struct positions *since, uint64_t bytes)
{
	while (most_unread(fd, since) < bytes)
		kt_rename(1);
}

static int poll_once(int fd)
{
	struct pollfd p = { .fd = fd, .events = IN };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

FIXTURE(poll)
{
	int fd;
};

/*
 * Poll with a very long timeout. At its timeout poll() checks the condition
 * once more, so its result alone does not show that it was woken. Return:
 * revents, 0 if it was not woken in time.
 */
static int poll_until_woken(int fd)
{
	struct pollfd p = { .fd = fd, .events = IN };
	int seconds = 10 * kt_scale();
	uint64_t begin = now_ns();

	if (poll(&p, 1, seconds * 1000) < 0)
		return -errno;
	return now_ns() - begin >= seconds * NS_PER_S ? 0 : p.revents;
}

FIXTURE_SETUP(poll)
{
	ASSERT_EQ(0, kt_pin(0));
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, RING, BLOCK,
			      KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
}

FIXTURE_TEARDOWN(poll)
{
	close(self->fd);
}

static int set_watermark(int fd, uint64_t bytes)
{
	struct ktape_watermark w = { .size = sizeof(w), .bytes = bytes };

	return kt_ioctl(fd, KTAPE_IOC_WATERMARK, &w);
}

/* Read everything there is; read bytes are no longer counted. */
static void drain_descriptor(int fd)
{
	static char buf[65536];

	kt_nonblock(fd, true);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
}

static uint64_t count_committed(int fd)
{
	struct ktape_stats st;
	uint64_t n = 0;

	for (int i = 0; i < kt_online_cpus() * KTAPE_RINGS_PER_CPU; i++)
		n += kt_stats(fd, i / KTAPE_RINGS_PER_CPU,
			      i % KTAPE_RINGS_PER_CPU, &st) ?
			     0 :
			     st.commit;
	return n;
}

/*
 * Read everything and poll. @at gets the positions. A kernel thread may start or
 * end at any time, and its name is a record: retry then. Return: as poll_once().
 */
static int drain_and_poll(int fd, struct positions *at)
{
	uint64_t before;
	int revents;

	do {
		before = count_committed(fd);
		drain_descriptor(fd);
		get_positions(fd, at);
		revents = poll_once(fd);
	} while (count_committed(fd) != before);
	return revents;
}

TEST_F(poll, a_block_is_enough)
{
	/* From position 0 on: what was read of the first block counts for its being full. */
	struct positions begin = {};

	drain_descriptor(self->fd);
	EXPECT_EQ(0, poll_once(self->fd));
	emit_until_unread(self->fd, &begin, BLOCK / 2);
	EXPECT_EQ(0, poll_once(self->fd));
	emit_until_unread(self->fd, &begin, BLOCK + 1);
	EXPECT_EQ(IN, poll_once(self->fd));
	drain_descriptor(self->fd);
	EXPECT_EQ(0, poll_once(self->fd));
}

TEST_F(poll, watermark_is_kept)
{
	static const uint64_t marks[] = { 1, 100, BLOCK, 3 * BLOCK, 8 * BLOCK };
	struct positions begin;

	for (unsigned int i = 0; i < ARRAY_SIZE(marks); i++) {
		ASSERT_EQ(0, set_watermark(self->fd, marks[i]));
		EXPECT_EQ(0, drain_and_poll(self->fd, &begin));
		if (marks[i] > 1000) {
			emit_until_unread(self->fd, &begin, marks[i] - 1000);
			EXPECT_EQ(0, poll_once(self->fd));
		}
		emit_until_unread(self->fd, &begin, marks[i]);
		EXPECT_EQ(IN, poll_once(self->fd))
		{
			TH_LOG("watermark %llu", (unsigned long long)marks[i]);
		}
	}
	/* Back to one block. */
	drain_descriptor(self->fd);
	ASSERT_EQ(0, set_watermark(self->fd, 0));
	kt_rename(1);
	EXPECT_EQ(0, poll_once(self->fd));
}

struct emitter {
	int fd;
	uint64_t bytes;
};

static void *emit_later(void *arg)
{
	const struct emitter *e = arg;
	struct positions begin;

	kt_pin(0);
	usleep(300000);
	get_positions(e->fd, &begin);
	emit_until_unread(e->fd, &begin, e->bytes);
	return NULL;
}

static void *stop_poll_later(void *arg)
{
	usleep(300000);
	kt_control(*(int *)arg, KTAPE_IOC_STOP);
	return NULL;
}

/* The data are written while the reader sleeps. */
TEST_F_TIMEOUT(poll, wakes_at_a_block, 300)
{
	struct emitter e = { self->fd, BLOCK + 64 };
	pthread_t thread;

	drain_descriptor(self->fd);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, emit_later, &e));
		EXPECT_EQ(IN, poll_until_woken(self->fd));
		pthread_join(thread, NULL);
		drain_descriptor(self->fd);
	}
}

TEST_F_TIMEOUT(poll, wakes_at_a_large_watermark, 300)
{
	struct emitter e = { self->fd, 6 * BLOCK };
	struct positions begin;
	pthread_t thread;

	ASSERT_EQ(0, set_watermark(self->fd, 4 * BLOCK));
	EXPECT_EQ(0, drain_and_poll(self->fd, &begin));
	ASSERT_EQ(0, pthread_create(&thread, NULL, emit_later, &e));
	EXPECT_EQ(IN, poll_until_woken(self->fd));
	EXPECT_LE(4 * BLOCK, most_unread(self->fd, &begin));
	pthread_join(thread, NULL);
}

/* The watermark is below a block, so less than a block must wake the reader. */
TEST_F_TIMEOUT(poll, wakes_at_a_small_watermark, 300)
{
	struct emitter e = { self->fd, 200 };
	pthread_t thread;

	/*
	 * Do not count the record that opens a block, which wakes the reader
	 * anyhow.
	 */
	kt_rename(1);
	drain_descriptor(self->fd);
	ASSERT_EQ(0, set_watermark(self->fd, 100));
	ASSERT_EQ(0, pthread_create(&thread, NULL, emit_later, &e));
	EXPECT_EQ(IN, poll_until_woken(self->fd));
	pthread_join(thread, NULL);
}

TEST_F_TIMEOUT(poll, stop_hangs_up, 300)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_poll_later, &self->fd));
	EXPECT_EQ(IN | POLLHUP, poll_until_woken(self->fd));
	pthread_join(thread, NULL);
	/* Also after everything was read: then read() returns 0 at once. */
	drain_descriptor(self->fd);
	EXPECT_EQ(IN | POLLHUP, poll_once(self->fd));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(0, poll_once(self->fd));
}

/* Two open files of session 0 have their own watermarks and positions. */
TEST_F(poll, readers_do_not_disturb_each_other)
{
	int a = kt_open(O_RDONLY), b = kt_open(O_RDONLY);
	int session0 = kt_open(O_RDWR);
	struct positions at;

	ASSERT_GE(a, 0);
	ASSERT_GE(b, 0);
	ASSERT_GE(session0, 0);
	ASSERT_EQ(0, kt_control(session0, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_profile_only(session0, KT_OPS(KTAPE_EV_PROCESS_RENAME)));
	ASSERT_EQ(0, kt_control(session0, KTAPE_IOC_START));
	drain_descriptor(a);
	drain_descriptor(b);
	EXPECT_EQ(0, poll_once(a));
	ASSERT_EQ(0, set_watermark(b, 1));
	kt_rename(1);
	EXPECT_EQ(0, poll_once(a));
	EXPECT_EQ(IN, poll_once(b));
	EXPECT_EQ(0, drain_and_poll(b, &at));
	ASSERT_EQ(0, set_watermark(a, 1));
	EXPECT_EQ(IN, poll_once(a));
	close(a);
	close(b);
	close(session0);
}

/*
 * poll() reports data for a reader with a small buffer while read() holds the
 * rest of a packet for it.
 */
TEST_F(poll, part_of_a_packet)
{
	char byte;

	EXPECT_EQ(0, poll_once(self->fd));
	ASSERT_EQ(1, read(self->fd, &byte, 1));
	EXPECT_EQ(IN, poll_once(self->fd));
	drain_descriptor(self->fd);
	EXPECT_EQ(0, poll_once(self->fd));
}

/* A thread that reads @fd byte by byte; @tid: its number; @reads: bytes that it has read. */
struct byte_reader {
	int fd;
	pid_t tid;
	int reads;
};

static void *read_single_bytes(void *arg)
{
	struct byte_reader *w = arg;
	char byte;

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	/* After the last byte of a packet, which has filled its buffer, the next call waits. */
	while (read(w->fd, &byte, 1) > 0)
		__atomic_add_fetch(&w->reads, 1, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * A read() that waits holds no packet: poll() on the same file must not report the
 * packet before, which was delivered to its end.
 */
TEST_F_TIMEOUT(poll, nothing_while_a_read_waits, 300)
{
	struct byte_reader w = { .fd = self->fd };
	pthread_t thread;
	uint64_t before;
	int revents;

	drain_descriptor(self->fd);
	kt_nonblock(self->fd, false);
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_single_bytes, &w));
	kt_rename(1);
	do {
		before = count_committed(self->fd);
		while (!__atomic_load_n(&w.reads, __ATOMIC_ACQUIRE) ||
		       !kt_is_asleep(w.tid))
			usleep(1000);
		revents = poll_once(self->fd);
	} while (count_committed(self->fd) != before);
	EXPECT_EQ(0, revents);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
