// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test read(): the order of packets, any buffer size, waiting for data, signals, and the end
 * of a session.
 */
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_load.h"
#include "kt_stream.h"

/* Session 0 has small rings (tests.conf), because reading byte by byte is slow. */
#define EVENTS 2000

/* Record events in session 0 and stop it. Return: a descriptor, or -1. */
static int record_and_stop_session0(int events)
{
	int fd = kt_open(O_RDWR);

	if (fd < 0 || kt_control(fd, KTAPE_IOC_START))
		return -1;
	for (int i = 0; i < events; i++) {
		kt_rename(i);
		sched_yield();
	}
	return kt_control(fd, KTAPE_IOC_STOP) ? -1 : fd;
}

/* Return the offset at which the packets of the rings begin, behind metadata and registry. */
static size_t data_begin(const struct kt_buf *b)
{
	size_t at = 0;

	while (at < b->len) {
		const struct ktape_block *p = (const void *)(b->p + at);

		if (p->magic == KTAPE_BLOCK_MAGIC && p->kind != KTAPE_RING_REGISTRY)
			break;
		at += kts_packet_size(p, b->len - at);
	}
	return at;
}

/* The session is stopped: every buffer size must give the same bytes. */
TEST(buffer_sizes)
{
	static const size_t sizes[] = { 1 << 20, 1, 3, 7, 4095, 4096, 65536 };
	struct kt_buf first = {}, b = {};
	int control = record_and_stop_session0(EVENTS), fd;
	size_t begin, data;

	ASSERT_GE(control, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct kts t = {};

		fd = kt_open(O_RDONLY);
		ASSERT_GE(fd, 0);
		ASSERT_EQ(0, kt_slurp(&b, fd, sizes[i]));
		ASSERT_EQ(0, kt_buf_read(&b, fd, sizes[i]));
		EXPECT_EQ(b.len, kts_feed(&t, b.p, b.len));
		ASSERT_STREQ("", t.error)
		{
			TH_LOG("%zu bytes a read", sizes[i]);
		}
		close(fd);
		/* The registry may get names meanwhile: compare what is behind it. */
		begin = data_begin(&b);
		ASSERT_LT(begin, b.len);
		if (!i) {
			first = b;
			b = (struct kt_buf){};
			continue;
		}
		data = first.len - data_begin(&first);
		ASSERT_EQ(data, b.len - begin);
		ASSERT_EQ(0, memcmp(first.p + data_begin(&first), b.p + begin, data))
		{
			TH_LOG("%zu bytes a read: other bytes", sizes[i]);
		}
		kt_buf_free(&b);
	}
	kt_buf_free(&first);
	EXPECT_EQ(0, kt_control(control, KTAPE_IOC_START));
	close(control);
}

TEST(metadata_first_then_registry)
{
	struct ktape_metadata m = { .size = sizeof(m) };
	struct kts_stream *registry;
	struct kt_buf b = {};
	struct kts t = {};
	int fd = record_and_stop_session0(10);
	char *text;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(-EMSGSIZE, kt_ioctl(fd, KTAPE_IOC_METADATA, &m));
	text = malloc(m.length);
	ASSERT_NE(NULL, text);
	m.text = (uintptr_t)text;
	ASSERT_EQ(0, kt_ioctl(fd, KTAPE_IOC_METADATA, &m));

	ASSERT_EQ(0, kt_slurp(&b, fd, 65536));
	EXPECT_EQ(b.len, kts_feed(&t, b.p, b.len));
	EXPECT_STREQ("", t.error);
	EXPECT_EQ(m.length, t.metadata);
	EXPECT_EQ(0, memcmp(text, b.p + sizeof(struct ktape_metadata_packet),
			    m.length));
	registry = &t.stream[0][KTAPE_RING_REGISTRY];
	EXPECT_GE(registry->packets, 1);
	/* There are far more threads than that, the kernel's included. */
	EXPECT_GE(registry->records, 5);
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		EXPECT_GE(t.stream[cpu][KTAPE_RING_EVENT].packets, 1);
		EXPECT_GE(t.stream[cpu][KTAPE_RING_CONTROL].packets, 1);
	}
	free(text);
	kt_buf_free(&b);
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	close(fd);
}

/*
 * A drained session in which only this test causes events. @b: what was read; @fed: bytes of
 * it that @t has parsed.
 */
FIXTURE(quiet)
{
	int fd;
	struct kt_buf b;
	struct kts t;
	size_t fed;
};

static void interrupt_read(int sig)
{
}

FIXTURE_SETUP(quiet)
{
	struct sigaction sa = { .sa_handler = interrupt_read };

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	kt_pin(0);
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, 65536, 4096,
			      KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(self->fd, 0);
	/* A new kernel worker writes a name, too. */
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_nonblock(self->fd, true);
	ASSERT_EQ(-EAGAIN, kt_slurp(&self->b, self->fd, 65536));
	kt_nonblock(self->fd, false);
}

FIXTURE_TEARDOWN(quiet)
{
	close(self->fd);
	kt_buf_free(&self->b);
}

/* Parse what was read. Return: the renames in the stream so far. */
static uint64_t parse_renames(FIXTURE_DATA(quiet) * self)
{
	self->fed += kts_feed(&self->t, self->b.p + self->fed,
			      self->b.len - self->fed);
	return self->t.stream[0][KTAPE_RING_EVENT].class[KTAPE_CLASS_PROCESS];
}

/* Parse what was read. Return: the records of all rings so far. */
static uint64_t count_all_records(FIXTURE_DATA(quiet) * self)
{
	uint64_t n = 0;

	parse_renames(self);
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++)
		for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			n += self->t.stream[cpu][kind].records;
	return n;
}

TEST_F(quiet, eagain_when_drained)
{
	uint64_t before = count_all_records(self);
	size_t len = self->b.len;

	kt_nonblock(self->fd, true);
	/* Only names of other threads may have come, which no filter stops. */
	EXPECT_EQ(-EAGAIN, kt_slurp(&self->b, self->fd, 4096));
	if (self->b.len != len)
		EXPECT_LT(before, count_all_records(self));
	kt_rename(1);
	EXPECT_LT(0, kt_buf_read(&self->b, self->fd, 65536));
	EXPECT_EQ(-EAGAIN, kt_slurp(&self->b, self->fd, 65536));
	EXPECT_EQ(1, parse_renames(self));
	EXPECT_STREQ("", self->t.error);
}

TEST_F(quiet, read_of_zero_bytes)
{
	char byte;

	EXPECT_EQ(0, read(self->fd, &byte, 0));
}

/* Far less than a block, followed by a pause: read() delivers it all the same. */
TEST_F_TIMEOUT(quiet, part_of_a_block_comes, 180)
{
	for (int i = 1; i <= 3; i++) {
		kt_rename(i);
		alarm(20 * kt_scale());
		while (parse_renames(self) < (uint64_t)i && !self->t.error[0])
			ASSERT_LT(0, kt_buf_read(&self->b, self->fd, 65536));
		alarm(0);
		ASSERT_STREQ("", self->t.error);
		EXPECT_EQ(i, parse_renames(self));
	}
	EXPECT_LT(0, self->t.stream[0][KTAPE_RING_EVENT].parts);
}

/*
 * A signal ends a read() that waits. Names of threads that start and end may still come,
 * but not for ever.
 */
TEST_F_TIMEOUT(quiet, signal_interrupts, 180)
{
	struct itimerval every = { { 0, 400000 }, { 0, 400000 } };

	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(-EINTR, kt_slurp(&self->b, self->fd, 65536));
}

static void *stop_read_later(void *arg)
{
	usleep(600000);
	return kt_control(*(int *)arg, KTAPE_IOC_STOP) ? arg : NULL;
}

TEST_F_TIMEOUT(quiet, stop_ends_a_waiting_read, 180)
{
	struct kts_stream *control = &self->t.stream[0][KTAPE_RING_CONTROL];
	pthread_t thread;
	uint64_t before;

	/* What is read so far has all of START. */
	EXPECT_EQ(0, parse_renames(self));
	before = control->records;
	kt_rename(7);
	ASSERT_EQ(0, pthread_create(&thread, NULL, stop_read_later, &self->fd));
	ASSERT_EQ(0, kt_slurp(&self->b, self->fd, 65536));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, kt_buf_read(&self->b, self->fd, 1));
	EXPECT_EQ(1, parse_renames(self));
	EXPECT_EQ(self->b.len, self->fed);
	EXPECT_STREQ("", self->t.error);
	/* STOP writes an off-marker, a ledger, session and clock_sync. */
	EXPECT_LE(4, control->records - before);
}

/* A session is started again: read() continues where it was. */
TEST_F(quiet, start_again_goes_on)
{
	struct kts_stream *s = &self->t.stream[0][KTAPE_RING_EVENT];
	uint64_t before;

	EXPECT_EQ(0, parse_renames(self));
	before = s->parts;
	for (int i = 1; i <= 3; i++) {
		kt_rename(i);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		kt_rename(i);
		ASSERT_EQ(0, kt_slurp(&self->b, self->fd, 4096));
		EXPECT_EQ(i, parse_renames(self));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	}
	EXPECT_STREQ("", self->t.error);
	/* One more if the first packet was read before the first rename. */
	EXPECT_LE(2, s->parts - before);
	EXPECT_GE(3, s->parts - before);
}

TEST_F(quiet, bad_buffer)
{
	char *volatile nowhere = (char *)8;

	kt_rename(1);
	EXPECT_EQ(-1, read(self->fd, nowhere, 4096));
	EXPECT_EQ(EFAULT, errno);
	/* No events were lost meanwhile. */
	kt_nonblock(self->fd, true);
	EXPECT_EQ(-EAGAIN, kt_slurp(&self->b, self->fd, 4096));
	EXPECT_EQ(1, parse_renames(self));
	EXPECT_STREQ("", self->t.error);
}

TEST_HARNESS_MAIN
