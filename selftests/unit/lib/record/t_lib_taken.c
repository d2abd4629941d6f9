// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test readers and recorders whose rings are taken away, because the session has ended: at
 * rest, in each write, and before each call that loads from a mapping.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "lib_device.h"

#define GROWN 5U    /* blocks of each ring, the open one included */
#define EACH  1900U /* records in the closed ones, at least */

static char dirs[2][320];
static unsigned int caught;
static unsigned int writes;
static unsigned int take_at; /* number of the write in which the rings are taken; 0: in none */

/* Take them before the write, the same and load from them at once, or after the write. */
static enum { BEFORE, SEEN, AFTER, WAYS } take_way;

/* Like the command's: after a SIGBUS of the kernel for a ring, zeros are there instead. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code > 0 && ktape_device_bus_error(info->si_addr)) {
		caught++;
		return;
	}
	signal(number, SIG_DFL);
}

/* The recorder's plain writes come here. */
static ssize_t write_pieces(int fd, const struct iovec *v, int n, off_t at)
{
	bool now = ++writes == take_at;
	ssize_t ret;

	if (now && take_way != AFTER)
		device_take();
	/* A bus error elsewhere: the kernel finds zeros, and no fault. */
	for (int i = 0; now && take_way == SEEN && i < n; i++)
		(void)*(volatile char *)v[i].iov_base;
	ret = syscall(SYS_pwritev, fd, v, n, at, 0);
	if (now && take_way == AFTER)
		device_take();
	return ret;
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
	return write_pieces(fd, v, n, at);
}

ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
	return write_pieces(fd, v, n, at);
}

static struct ktape_recorder *begin_with_flags(unsigned int flags)
{
	const struct ktape_recorder_options how = {
		.dir = dirs[0],
		.flags = flags | KTAPE_RECORD_ATTACHED | KTAPE_RECORD_NO_URING,
	};
	struct ktape_recorder *rec;

	trace_remove(dirs[0]);
	device_begin();
	closes = true;
	flush_error = 0;
	after_flush = NULL;
	rings_there = RINGS;
	caught = 0;
	writes = 0;
	take_at = 0;
	take_way = BEFORE;
	if (ktape_recorder_open(&device, &how, &rec))
		abort();
	device_grow(GROWN - 1, 5);
	return rec;
}

/* All that is counted is in the trace, and the trace is not damaged. */
static void end_taken(struct ktape_recorder *rec, unsigned int least)
{
	struct ktape_recorder_stats stats;
	struct trace_result r;

	check_equal(ktape_recorder_finish(rec), -ESTALE);
	ktape_recorder_stats(rec, &stats);
	check(ktape_recorder_kept(rec) != NULL, "nothing was kept");
	ktape_recorder_close(rec);
	trace_read(dirs[0], 0, &r);
	check_equal(r.opened, 0);
	check_equal(r.ended, 0);
	check_equal(r.corrupt, 0);
	check_equal(r.truncated, 0);
	check_equal(r.lost, 0);
	check_equal(r.events, stats.records);
	check(r.events >= least, "%u events, %u expected", r.events, least);
	check(stats.emitted >= stats.records && stats.emitted <= emitted,
	      "%llu emitted, %llu recorded", (unsigned long long)stats.emitted,
	      (unsigned long long)stats.records);
	check_equal(stats.lost, 0);
	check_equal(stats.missed, 0);
	check_equal(stats.pending, 0);
	trace_remove(dirs[0]);
}

/* Records in closed blocks of all rings. */
static unsigned int in_closed(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < RINGS; i++)
		n += (unsigned int)rings[i].records;
	return n;
}

static void test_elsewhere(void)
{
	struct ktape_recorder *rec = begin_with_flags(0);
	static char other;

	check(!ktape_device_bus_error(NULL), "an address of nobody");
	check(!ktape_device_bus_error(&other), "the program's own memory");
	check(!ktape_device_bus_error(memory), "the program's own mapping");
	check_equal(ktape_recorder_finish(rec), 0);
	ktape_recorder_close(rec);
	trace_remove(dirs[0]);
}

static void test_reader(void)
{
	static unsigned char block[BLOCK];
	struct ktape_object_entry *names;
	struct ktape_ring_info before, info;
	struct ktape_reader *reader;

	device_begin();
	device_grow(GROWN - 1, 5);
	check_equal(ktape_reader_open(&device, &reader), 0);
	check_equal(ktape_reader_read(reader, 0, 0, block, sizeof(block)), BLOCK);
	check_equal(ktape_reader_ring(reader, 0, &before), 0);
	caught = 0;
	device_take();
	check_equal(ktape_reader_read(reader, 0, 0, block, sizeof(block)), -ESTALE);
	check_equal(caught, 1);
	check_equal(ktape_reader_read(reader, 1, KTAPE_READ_OPEN, block,
				      sizeof(block)),
		    -ESTALE);
	check_equal(ktape_reader_refresh(reader), -ESTALE);
	check_equal(ktape_reader_ring(reader, 0, &info), -ESTALE);
	check_equal(info.records, before.records);
	check_equal(info.position, before.position);
	check_equal(info.missed, 0);
	check_equal(info.lost, 0);
	/* What was emitted up to the end of the packet. */
	check_equal(info.emitted, before.records);
	check(!ktape_reader_checkpoint(reader, &names), "no names");
	free(names);
	ktape_reader_close(reader);
}

/* A new reader uses entries of an earlier one again. */
static void test_again(void)
{
	for (unsigned int i = 0; i < 3; i++)
		test_reader();
}

static void test_at_rest(void)
{
	struct ktape_recorder *rec = begin_with_flags(0);

	while (ktape_recorder_step(rec) > 0)
		;
	device_take();
	check_equal(ktape_recorder_step(rec), -ESTALE);
	check(caught >= 1, "no bus error");
	end_taken(rec, in_closed());
}

/* The first to load is the end of the recording, or its counts. */
static void test_at_end(void)
{
	struct ktape_recorder_stats stats;

	for (unsigned int i = 0; i < 2; i++) {
		struct ktape_recorder *rec = begin_with_flags(0);

		while (ktape_recorder_step(rec) > 0)
			;
		device_take();
		if (i)
			ktape_recorder_stats(rec, &stats);
		end_taken(rec, in_closed());
	}
}

/* Copied packets: of a file in pipe form, and compressed ones. */
static void test_copies(void)
{
	static const unsigned int flags[] = { KTAPE_RECORD_FILE, KTAPE_RECORD_ZSTD };

	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++) {
		struct ktape_recorder *rec = begin_with_flags(flags[i]);

		while (ktape_recorder_step(rec) > 0)
			;
		device_take();
		end_taken(rec, in_closed());
	}
}

/*
 * Take the rings in each write in turn, in each way.  The first round takes them after all writes,
 * and counts these (@nr).
 */
static void test_taken_while_writing(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < (nr + 1) * WAYS; i++) {
		struct ktape_recorder *rec = begin_with_flags(0);

		take_at = i / WAYS;
		take_way = i % WAYS;
		while (ktape_recorder_step(rec) > 0)
			;
		if (!i)
			nr = writes;
		check(!take_at || taken, "write %u of %u was not made", take_at, nr);
		if (!taken)
			device_take();
		/* In the second write of a ring are its blocks. */
		end_taken(rec, take_way == AFTER ? take_at / 2 * EACH : 0);
	}
	/* The empty packet before the first one, and blocks, of each ring. */
	check(nr >= 2 * RINGS, "%u writes", nr);
}

static void test_rotate(void)
{
	struct ktape_recorder *rec = begin_with_flags(KTAPE_RECORD_PIECES);

	while (ktape_recorder_step(rec) > 0)
		;
	device_take();
	check_equal(ktape_recorder_rotate(rec, dirs[1]), -ESTALE);
	check(access(dirs[1], F_OK), "there is a next piece");
	check_equal(ktape_recorder_step(rec), -ESTALE);
	end_taken(rec, in_closed());
}

static void test_taken_in_flush(void)
{
	struct ktape_recorder *rec = begin_with_flags(0);

	while (ktape_recorder_step(rec) > 0)
		;
	device_take();
	check_equal(ktape_recorder_flush(rec), -ESTALE);
	end_taken(rec, in_closed());
}

static void test_taken_staged(void)
{
	struct ktape_recorder *rec = begin_with_flags(KTAPE_RECORD_STAGED);

	while (ktape_recorder_step(rec) > 0)
		;
	device_take();
	end_taken(rec, in_closed());
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "addresses elsewhere", test_elsewhere },
		{ "a reader", test_reader },
		{ "a reader after another", test_again },
		{ "a recorder that has written all", test_at_rest },
		{ "the end of a recording", test_at_end },
		{ "packets that are copied", test_copies },
		{ "in each write", test_taken_while_writing },
		{ "a next piece", test_rotate },
		{ "a flush", test_taken_in_flush },
		{ "a staged trace", test_taken_staged },
	};
	const struct sigaction action = {
		.sa_sigaction = on_bus_error,
		.sa_flags = SA_SIGINFO,
	};
	const char *dir = trace_folder();
	int ret;

	sigaction(SIGBUS, &action, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++)
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%u", dir, i);
	ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(dir);
	return ret;
}
