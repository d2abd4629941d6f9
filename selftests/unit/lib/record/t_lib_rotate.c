// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test where a piece of a log ends: at the blocks that one flush has closed, whatever the
 * rings do meanwhile.
 */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "lib_device.h"

/* The control ring of CPU 0; blocks of each ring before the flush, the open one included. */
#define CONTROL 2U
#define GROWN	3U

static char dirs[2][320];
static void (*while_writing)(void);
static int rename_error;

/* The recorder's plain writes come here. */
static void write_begins(void)
{
	void (*what)(void) = while_writing;

	while_writing = NULL;
	if (what)
		what();
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
	write_begins();
	return syscall(SYS_pwritev, fd, v, n, at, 0);
}

ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
	write_begins();
	return syscall(SYS_pwritev, fd, v, n, at, 0);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	write_begins();
	return syscall(SYS_pwrite64, fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	write_begins();
	return syscall(SYS_pwrite64, fd, data, n, at);
}

/* The recorder's metadata come here. */
int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	errno = rename_error;
	if (rename_error)
		return -1;
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

/* Return the whole blocks of a ring in a piece; the empty packet before them is smaller. */
static unsigned int blocks_of(const char *dir, const char *file)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (stat(path, &st))
		return 0;
	return (unsigned int)(st.st_size / BLOCK);
}

/* Begin while only the first @there rings are there. */
static struct ktape_recorder *begin_with_rings(unsigned int there)
{
	const struct ktape_recorder_options how = {
		.dir = dirs[0],
		.flags = KTAPE_RECORD_ATTACHED | KTAPE_RECORD_PIECES |
			 KTAPE_RECORD_NO_URING,
	};
	struct ktape_recorder *rec;

	device_begin();
	closes = true;
	flushes = 0;
	flush_error = 0;
	before_flush = NULL;
	after_flush = NULL;
	while_writing = NULL;
	at_layout = NULL;
	after_layout = NULL;
	rename_error = 0;
	rings_there = there;
	if (ktape_recorder_open(&device, &how, &rec))
		abort();
	device_grow(GROWN - 1, 5);
	return rec;
}

static struct ktape_recorder *begin_rotation(void)
{
	return begin_with_rings(RINGS);
}

static void rotate_and_check(struct ktape_recorder *rec, unsigned int times)
{
	check_equal(ktape_recorder_rotate(rec, dirs[1]), 0);
	check_equal(flushes, times);
}

static void end_rotation(struct ktape_recorder *rec)
{
	ktape_recorder_close(rec);
	trace_remove(dirs[0]);
	trace_remove(dirs[1]);
}

static void check_block_counts(unsigned int cpu0, unsigned int cpu1,
			       unsigned int control0)
{
	check_equal(blocks_of(dirs[0], "cpu0"), cpu0);
	check_equal(blocks_of(dirs[0], "cpu1"), cpu1);
	check_equal(blocks_of(dirs[0], "control0"), control0);
}

static void test_quiet(void)
{
	struct ktape_recorder *rec = begin_rotation();

	rotate_and_check(rec, 1);
	check_block_counts(GROWN, GROWN, GROWN);
	end_rotation(rec);
}

static void close_event_block(void)
{
	device_close_block(1, UINT32_MAX);
}

/* A block that is closed while another ring is written is of the next piece. */
static void test_rotate_while_writing(void)
{
	struct ktape_recorder *rec = begin_rotation();

	while_writing = close_event_block;
	rotate_and_check(rec, 1);
	check(!while_writing, "nothing was written");
	check_block_counts(GROWN, GROWN, GROWN);
	end_rotation(rec);
}

static void close_once(void)
{
	after_flush = NULL;
	close_event_block();
}

/* A ring goes on before its position is noted: it is not known which block the flush closed. */
static void test_before_position(void)
{
	struct ktape_recorder *rec = begin_rotation();

	after_flush = close_once;
	rotate_and_check(rec, 2);
	/* The block that it closed itself is in the same piece, before the second flush. */
	check_block_counts(GROWN, GROWN + 1, GROWN);
	end_rotation(rec);
}

/* A flush closes no block without records, so the ring has closed it itself. */
static void test_rotate_empty_block(void)
{
	struct ktape_recorder *rec = begin_rotation();

	device_close_block(1, 5);
	after_flush = close_once;
	rotate_and_check(rec, 2);
	end_rotation(rec);
}

static void write_missed(void)
{
	device_count(CONTROL, device_block(CONTROL, 1));
}

/*
 * With a run-time probe, a flush writes how many hits were missed to each control ring, also
 * of CPUs without events, and closes the block: it is not the ring that has closed it.
 */
static void test_rotate_missed_hits(void)
{
	struct ktape_recorder *rec = begin_rotation();
	struct trace_result r;

	device_close_block(CONTROL, 5);
	before_flush = write_missed;
	rotate_and_check(rec, 1);
	trace_read(dirs[0], 0, &r);
	check_equal(r.events, emitted + 1);
	end_rotation(rec);
}

/* A mode without flush: the piece ends where the rings have closed blocks themselves. */
static void test_no_flush(void)
{
	struct ktape_recorder *rec = begin_rotation();

	closes = false;
	rotate_and_check(rec, 1);
	check_block_counts(GROWN - 1, GROWN - 1, GROWN - 1);
	end_rotation(rec);
}

/* A flush that never succeeds is not repeated: each one writes to the control rings. */
static void test_errors(void)
{
	static const int error[] = { -EAGAIN, -ENODEV };

	for (unsigned int i = 0; i < ARRAY_SIZE(error); i++) {
		struct ktape_recorder *rec = begin_rotation();

		flush_error = error[i];
		rotate_and_check(rec, 1);
		end_rotation(rec);
	}
}

static void consume_once(void)
{
	device_store(&device_page(0)->consumer, 1);
}

/*
 * A ring is full.  Its consumer reads on during the writes, so the flush is tried again; then
 * it stands still, and a third flush would be in vain.
 */
static void test_rotate_full_ring(void)
{
	struct ktape_recorder *rec = begin_rotation();

	flush_error = -EAGAIN;
	while_writing = consume_once;
	rotate_and_check(rec, 2);
	end_rotation(rec);
}

static void stop_rings(void)
{
	for (unsigned int i = 0; i < RINGS; i++)
		device_page(i)->flags = KTAPE_RING_FLAG_STOPPED;
}

/* While the first @there rings are there, @hook stops the session: all is in the piece. */
static void read_to_ends(unsigned int there, void (*hook)(void))
{
	struct ktape_recorder *rec = begin_with_rings(there);
	struct trace_result r;

	closes = false;
	after_flush = hook;
	rotate_and_check(rec, 1);
	trace_read(dirs[0], 0, &r);
	check_equal(r.events, emitted);
	end_rotation(rec);
}

/* A stopped session closes no block: its rings are read to their ends. */
static void test_rotate_stopped(void)
{
	read_to_ends(RINGS, stop_rings);
}

static void clear_and_stop(void)
{
	/* One ring has records in its open block only, another none at all. */
	device_page(0)->floor = (GROWN - 1) * BLOCK;
	device_page(1)->floor = device_page(1)->commit;
	stop_rings();
}

/* What was cleared unread is missing in the piece whose ledgers count it, not in the next. */
static void test_rotate_cleared(void)
{
	struct ktape_recorder *rec = begin_rotation();
	struct trace_result r;
	unsigned int before;

	closes = false;
	after_flush = clear_and_stop;
	rotate_and_check(rec, 1);
	trace_read(dirs[0], 0, &r);
	check(r.lost > 0, "nothing is missing");
	check_equal(r.events + r.lost, emitted);

	/* It goes on in the blocks that were open. */
	before = emitted;
	for (unsigned int i = 0; i < RINGS; i++)
		device_page(i)->flags = 0;
	device_grow(2, 7);
	check_equal(ktape_recorder_finish(rec), 0);
	trace_read(dirs[1], 0, &r);
	check_equal(r.events, emitted - before);
	check_equal(r.lost, 0);
	end_rotation(rec);
}

static void come_online(void)
{
	rings_there = RINGS;
}

/* The rings of a CPU that came online since the last look are in the piece that has its time. */
static void test_new_rings(void)
{
	struct ktape_recorder *rec = begin_with_rings(1);

	after_flush = come_online;
	/* It is not known which of their blocks the first flush closed. */
	rotate_and_check(rec, 2);
	check_block_counts(GROWN, GROWN, GROWN);
	end_rotation(rec);
}

static void come_online_and_stop(void)
{
	come_online();
	stop_rings();
}

/* The other rings are read to their ends, so the new ones must be, too. */
static void test_new_rings_stopped(void)
{
	read_to_ends(1, come_online_and_stop);
}

static void stop_behind_layout(void)
{
	after_layout = NULL;
	come_online_and_stop();
	device_block(0, 9);
}

/* A stop after the look for new rings: what the new ones have is of the next piece, as all is. */
static void test_stopped_after_look(void)
{
	struct ktape_recorder *rec = begin_with_rings(1);
	struct trace_result r;
	uint64_t before = device_load(&device_page(0)->emitted[0]);

	after_layout = stop_behind_layout;
	rotate_and_check(rec, 1);
	trace_read(dirs[0], 0, &r);
	check_equal(r.events, before);
	end_rotation(rec);
}

static unsigned int layouts;

static void come_online_at_the_end(void)
{
	/* The first question is whether the session runs. */
	if (++layouts != 2)
		return;
	come_online();
	device_close_block(0, UINT32_MAX);
}

/* Rings that appear at the end are looked for when those that were there have ended. */
static void test_new_rings_at_end(void)
{
	struct ktape_recorder *rec = begin_with_rings(1);
	struct trace_result r;

	layouts = 0;
	at_layout = come_online_at_the_end;
	check_equal(ktape_recorder_finish(rec), 0);
	check(layouts > 2, "%u questions", layouts);
	trace_read(dirs[0], 0, &r);
	check_equal(r.events, emitted);
	end_rotation(rec);
}

/* Check that the metadata of a piece lists exactly these CPUs. */
static void lists(const char *dir, const char *cpus)
{
	char path[400], text[1 << 16], line[40];
	FILE *f;
	size_t len;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "r");
	len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[len] = '\0';
	snprintf(line, sizeof(line), "cpus = \"%s\";", cpus);
	check(strstr(text, line) != NULL, "%s has no %s", path, line);
	if (f)
		fclose(f);
}

/* A recorder may be killed at any moment: its metadata always has all CPUs that it knows. */
static void test_new_cpu_is_listed(void)
{
	struct ktape_recorder *rec = begin_with_rings(1);

	lists(dirs[0], "0");
	come_online();
	check_equal(ktape_recorder_refresh(rec), 0);
	lists(dirs[0], "0-1");
	end_rotation(rec);

	rec = begin_with_rings(1);
	after_flush = come_online;
	rotate_and_check(rec, 2);
	lists(dirs[1], "0-1");
	end_rotation(rec);
}

/* If the list cannot be written, the rings are, and the end of the trace fails. */
static void test_new_cpu_is_not_listed(void)
{
	for (unsigned int again = 0; again < 2; again++) {
		struct ktape_recorder *rec = begin_with_rings(1);
		struct trace_result r;

		come_online();
		rename_error = EIO;
		check_equal(ktape_recorder_refresh(rec), 0);
		lists(dirs[0], "0");
		rename_error = again ? 0 : EIO;
		check_equal(ktape_recorder_finish(rec), -rename_error);
		rename_error = 0;
		trace_read(dirs[0], 0, &r);
		check_equal(r.events, emitted);
		lists(dirs[0], again ? "0-1" : "0");
		end_rotation(rec);
	}
}

/* The same at the end of a piece. */
static void test_new_cpu_is_not_listed_in_piece(void)
{
	struct ktape_recorder *rec = begin_with_rings(1);

	after_flush = come_online;
	rename_error = EIO;
	check_equal(ktape_recorder_rotate(rec, dirs[1]), -EIO);
	check_block_counts(GROWN, GROWN, GROWN);
	end_rotation(rec);
}

/* A flush promises that everything recorded before it is in the files. */
static void test_new_rings_flushed(void)
{
	struct ktape_recorder *rec = begin_with_rings(1);

	after_flush = come_online;
	check_equal(ktape_recorder_flush(rec), 0);
	check_block_counts(GROWN, GROWN, GROWN);
	end_rotation(rec);
}

/* Read the header of the first or the last packet of CPU 0 in a piece. */
static void read_cpu0_head(const char *dir, bool last, struct ktape_block *head)
{
	char path[400];
	struct stat st;
	off_t at = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu0", dir);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		abort();
	do {
		check_equal(pread(fd, head, sizeof(*head), at), sizeof(*head));
		check(head->packet_bits, "no packet at %lld", (long long)at);
		at += (off_t)head->packet_bits / 8;
	} while (last && at < st.st_size);
	close(fd);
}

/*
 * An open packet has the counters of the moment at which it was read, which may be of more
 * events than the block had when it was closed.  The next piece goes on from the latter.
 */
static void test_counters(void)
{
	struct ktape_recorder *rec = begin_rotation();
	__u64 *counter = &device_page(0)->emitted[0], *filtered;
	uint64_t count = device_load(counter);
	struct ktape_block last, first;

	filtered = &device_page(0)->filtered[0];
	closes = false;
	device_store(counter, count + 1000);
	device_store(filtered, 100);
	check_equal(ktape_recorder_flush(rec), 0);
	closes = true;
	device_count(0, device_block(0, 7)); /* two more */
	device_store(filtered, 0);
	rotate_and_check(rec, 2);
	check_equal(ktape_recorder_finish(rec), 0);
	read_cpu0_head(dirs[0], true, &last);
	read_cpu0_head(dirs[1], false, &first);
	check_equal(last.emitted, count + 2);
	check_equal(first.seq, last.seq);
	check_equal(first.emitted, last.emitted);
	check_equal(first.filtered, last.filtered);
	check_equal(first.lost[0], last.lost[0]);
	end_rotation(rec);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "rings that are quiet", test_quiet },
		{ "a block that is closed while another ring is written",
		  test_rotate_while_writing },
		{ "a block that is closed before the positions are noted",
		  test_before_position },
		{ "an empty block at the flush", test_rotate_empty_block },
		{ "missed hits in the control ring of an idle CPU",
		  test_rotate_missed_hits },
		{ "a mode without flush", test_no_flush },
		{ "a flush that fails", test_errors },
		{ "a ring that was full", test_rotate_full_ring },
		{ "a session that is stopped", test_rotate_stopped },
		{ "a session that is cleared and stopped", test_rotate_cleared },
		{ "a CPU that has come online", test_new_rings },
		{ "a CPU that has come online before the stop",
		  test_new_rings_stopped },
		{ "a CPU that has come online is listed at once",
		  test_new_cpu_is_listed },
		{ "a CPU that has come online before a flush",
		  test_new_rings_flushed },
		{ "a stop after the look for new CPUs", test_stopped_after_look },
		{ "a CPU that comes online at the end", test_new_rings_at_end },
		{ "counters of an open packet", test_counters },
		{ "a list of CPUs that cannot be written",
		  test_new_cpu_is_not_listed },
		{ "the same in a piece", test_new_cpu_is_not_listed_in_piece },
	};
	const char *dir = trace_folder();
	int ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++)
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%u", dir, i);
	ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(dir);
	return ret;
}
