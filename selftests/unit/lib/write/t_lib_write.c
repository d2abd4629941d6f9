// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test writing traces: which outputs are replaced, the recorder on a simulated
 * device, and writes that fail, end early or refuse O_DIRECT.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "lib_device.h"

static char dir[400];

/* ---- directories ---------------------------------------------------------- */

static int create_ctf(unsigned int flags)
{
	struct ktape_ctf *ctf;
	size_t len;
	char *text;
	int err;

	if (ktape_metadata_format(&trace_info, &text, &len))
		abort();
	err = ktape_ctf_create(dir, flags, text, len, &ctf);
	free(text);
	return err ? err : ktape_ctf_close(ctf);
}

static bool trace_has_file(const char *name)
{
	struct stat st;
	char path[500];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &st);
}

static void begin_folder(void)
{
	trace_remove(dir);
	if (mkdir(dir, 0777))
		abort();
}

static void test_replace(void)
{
	begin_folder();
	check(!create_ctf(0), "an empty folder");
	trace_append(dir, "cpu0", "x", 1);
	trace_append(dir, "control12", "x", 1);
	check(create_ctf(0) == -ENOTEMPTY && trace_has_file("cpu0"),
	      "without force");
	check(!create_ctf(KTAPE_CTF_FORCE), "with force");
	check(trace_has_file("metadata") && !trace_has_file("cpu0") &&
		      !trace_has_file("control12"),
	      "wrong files are left");
	trace_remove(dir);
	check(!create_ctf(KTAPE_CTF_FORCE), "no folder");
}

/* Files that are not of a trace are never removed, nor is a trace beside them. */
static void test_write_foreign_files(void)
{
	static const char lttng[] = "/* CTF 1.8 */ trace { major = 1; };\n"
				    "env { tracer_name = \"lttng-modules\"; };\n";
	char path[500];

	begin_folder();
	trace_metadata(dir);
	trace_append(dir, "cpu0", "x", 1);
	trace_append(dir, "control0", "x", 1);
	trace_append(dir, "registry", "x", 1);
	trace_append(dir, "zoo", "x", 1);
	check(create_ctf(KTAPE_CTF_FORCE) == -EEXIST, "a foreign file");
	check(trace_has_file("metadata") && trace_has_file("cpu0") &&
		      trace_has_file("control0") &&
		      trace_has_file("registry") && trace_has_file("zoo"),
	      "a file was removed");

	begin_folder();
	trace_append(dir, "metadata", lttng, sizeof(lttng) - 1);
	trace_append(dir, "cpu0", "x", 1);
	check(create_ctf(KTAPE_CTF_FORCE) == -EEXIST, "a trace of others");
	check(trace_has_file("metadata") && trace_has_file("cpu0"),
	      "a file was removed");

	begin_folder();
	trace_append(dir, "cpu0", "x", 1);
	check(create_ctf(KTAPE_CTF_FORCE) == -EEXIST, "a file of that name");
	check(trace_has_file("cpu0"), "the file was removed");

	begin_folder();
	trace_metadata(dir);
	trace_append(dir, "cpu0", "x", 1);
	snprintf(path, sizeof(path), "%s/cpu1", dir);
	check(!mkdir(path, 0777), "mkdir");
	check(create_ctf(KTAPE_CTF_FORCE) == -EEXIST, "a folder of that name");
	check(trace_has_file("metadata") && trace_has_file("cpu0") &&
		      trace_has_file("cpu1"),
	      "a file was removed");

	begin_folder();
	snprintf(path, sizeof(path), "%s/metadata", dir);
	check(!mkfifo(path, 0666), "mkfifo");
	alarm(200);
	check(create_ctf(KTAPE_CTF_FORCE) == -EEXIST, "a pipe of that name");
	alarm(0);
}

/* In each ring all blocks but one are closed, and the last one was just opened. */
static void make_device(void)
{
	device_begin();
	device_grow(BLOCKS - 1, 0);
}

/*
 * Record all that the device has.  Once the recorder is open, a write that would make a file
 * longer than @limit fails; 0: none does.
 */
static int record_limited(const struct ktape_recorder_options *how,
			  struct ktape_recorder_stats *stats, uint64_t limit)
{
	struct rlimit least, most;
	struct ktape_recorder *r;
	int err;

	err = ktape_recorder_open(&device, how, &r);
	if (err)
		return err;
	getrlimit(RLIMIT_FSIZE, &most);
	least = most;
	if (limit)
		least.rlim_cur = limit;
	setrlimit(RLIMIT_FSIZE, &least);
	do {
		err = ktape_recorder_step(r);
	} while (err > 0);
	err = ktape_recorder_finish(r);
	setrlimit(RLIMIT_FSIZE, &most);
	ktape_recorder_stats(r, stats);
	ktape_recorder_close(r);
	return err;
}

static void test_record(void)
{
	struct ktape_recorder_options how = { .dir = dir };
	struct ktape_recorder_stats stats;
	struct trace_result r;

	for (how.flags = 0; how.flags <= KTAPE_RECORD_NO_URING;
	     how.flags += KTAPE_RECORD_NO_URING) {
		trace_remove(dir);
		make_device();
		check(!record_limited(&how, &stats, 0), "record");
		check_equal(stats.records, emitted);
		check_equal(stats.emitted, emitted);
		trace_read(dir, 0, &r);
		check(r.events == emitted && !r.corrupt && !r.truncated && !r.lost,
		      "%u events of %u", r.events, emitted);
	}
	tap_note("%u events", emitted);
}

/* On a tmpfs, which may accept O_DIRECT, writes are plain and done at once. */
static void test_tmpfs(void)
{
	char folder[] = "/dev/shm/ktape-test.XXXXXX", path[64];
	const struct ktape_recorder_options how = { .dir = path };
	struct ktape_recorder_stats stats;
	struct trace_result r;
	struct statfs fs;

	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS_MAGIC ||
	    !mkdtemp(folder)) {
		tap_skip("no tmpfs on /dev/shm");
		return;
	}
	snprintf(path, sizeof(path), "%s/trace", folder);
	make_device();
	check(!record_limited(&how, &stats, 0), "record");
	check_equal(stats.records, emitted);
	/* The errno that says why; 0 would be direct writes by io_uring. */
	check(stats.plain_writes < 0, "direct writes to a tmpfs");
	trace_read(path, 0, &r);
	check_equal(r.events, emitted);
	trace_remove(folder);
}

/* The events reported as written are those that can be read. */
static void test_failed_writes(void)
{
	/* Within the first header, the first block, later blocks, and at their borders. */
	static const uint64_t limits[] = {
		1,
		KTAPE_BLOCK_HEADER - 1,
		KTAPE_BLOCK_HEADER,
		4096,
		5000,
		8192,
		4096 + 8192,
		60000,
		100000,
	};
	struct ktape_recorder_options how = { .dir = dir };
	struct ktape_recorder_stats stats;
	struct trace_result r;
	size_t i;
	int err;

	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 2 * ARRAY_SIZE(limits); i++) {
		uint64_t limit = limits[i / 2];

		how.flags = i % 2 ? KTAPE_RECORD_NO_URING : 0;
		trace_remove(dir);
		make_device();
		err = record_limited(&how, &stats, limit);
		check(err == -EFBIG, "limit %llu: %d",
		      (unsigned long long)limit, err);
		trace_read(dir, 0, &r);
		check(!r.opened && !r.corrupt && !r.truncated, "limit %llu: %s",
		      (unsigned long long)limit, r.last.error.text);
		check(r.events == stats.records && r.events < emitted,
		      "limit %llu: %u read, %llu told", (unsigned long long)limit,
		      r.events, (unsigned long long)stats.records);
	}
}

/* A recording whose first blocks were written, and no others. */
static void record_part(const struct ktape_recorder_options *how,
			struct ktape_recorder_stats *stats)
{
	struct rlimit least, most;
	struct ktape_recorder *r;

	device_begin();
	device_grow(4, 0);
	check(!ktape_recorder_open(&device, how, &r), "open");
	while (ktape_recorder_step(r) > 0)
		;
	device_grow(8, 0);
	getrlimit(RLIMIT_FSIZE, &most);
	least = most;
	least.rlim_cur = 6 * BLOCK;
	setrlimit(RLIMIT_FSIZE, &least);
	check(ktape_recorder_finish(r) == -EFBIG, "a full disk");
	setrlimit(RLIMIT_FSIZE, &most);
	ktape_recorder_stats(r, stats);
	ktape_recorder_close(r);
}

static void check_trace_events(uint64_t events, const char *what)
{
	struct trace_result r;

	trace_read(dir, 0, &r);
	check(!r.opened && r.events == events, "%s: %u events of %u", what,
	      r.events, (unsigned int)events);
}

/* A staged trace replaces the earlier one at its end; until then the folder has the earlier one. */
static void test_recorder_staged(void)
{
	const struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_STAGED | KTAPE_RECORD_FORCE,
	};
	struct ktape_recorder_stats stats, part;
	struct ktape_recorder *r;

	signal(SIGXFSZ, SIG_IGN);
	trace_remove(dir);
	record_part(&how, &part);
	check(part.records && part.records < emitted, "no part was written");
	check_trace_events(part.records, "what was written is kept");
	make_device();
	check(!ktape_recorder_open(&device, &how, &r), "open");
	ktape_recorder_step(r);
	check_trace_events(part.records, "the earlier trace stays until the end");
	ktape_recorder_close(r);
	check_trace_events(part.records, "and if there is no end");
	check(!record_limited(&how, &stats, 0), "record");
	check_trace_events(stats.records, "it is replaced");
	record_part(&how, &part);
	check_trace_events(stats.records,
			   "an earlier trace is worth more than a part");
	check(!create_ctf(KTAPE_CTF_FORCE) && !trace_has_file("cpu0"),
	      "the folder has another file");
}

/*
 * A file that is none of ours comes into the folder while the trace is staged, so the trace
 * cannot take its place.  The rings are gone by then: the trace is kept under its temporary name.
 */
static void test_kept(void)
{
	const struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_STAGED | KTAPE_RECORD_FORCE,
	};
	struct ktape_recorder *r;
	struct trace_result got;
	const char *kept;

	trace_remove(dir);
	make_device();
	check(!ktape_recorder_open(&device, &how, &r), "open");
	while (ktape_recorder_step(r) > 0)
		;
	trace_append(dir, "theirs", "x", 1);
	check(ktape_recorder_finish(r) == -EEXIST,
	      "the other file does not prevent the rename");
	kept = ktape_recorder_kept(r);
	check(kept && !trace_has_file("metadata"), "not kept");
	trace_read(kept ? kept : dir, 0, &got);
	check(!got.opened && got.events == emitted, "%u events of %u",
	      got.events, (unsigned int)emitted);
	ktape_recorder_close(r);
}

static void test_failed_pipe(void)
{
	struct ktape_recorder_options how = { .dir = NULL };
	struct ktape_recorder_stats stats;
	struct ktape_recorder *r;
	int ends[2], err;

	signal(SIGPIPE, SIG_IGN);
	check(!pipe(ends), "pipe");
	/* Opening writes the metadata, which must not wait for a reader. */
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
	make_device();
	how.fd = ends[1];
	err = ktape_recorder_open(&device, &how, &r);
	check(!err, "open: %d", err);
	close(ends[0]);
	err = ktape_recorder_step(r);
	ktape_recorder_finish(r);
	ktape_recorder_stats(r, &stats);
	ktape_recorder_close(r);
	close(ends[1]);
	check(err == -EPIPE, "%d", err);
	check_equal(stats.records, 0);
}

static int waits;

static int give_up_waiting(void *arg)
{
	(void)arg;
	return ++waits < 3 ? 0 : -ECANCELED;
}

/* The caller decides how long to wait for a stuck reader. */
static void test_stuck_pipe(void)
{
	struct ktape_recorder_options how = { .wait = give_up_waiting };
	struct ktape_recorder_stats stats;
	int ends[2], err;

	check(!pipe2(ends, O_NONBLOCK), "pipe");
	/* Room for the metadata and some of the blocks. */
	fcntl(ends[1], F_SETPIPE_SZ, 128 << 10);
	make_device();
	waits = 0;
	how.fd = ends[1];
	alarm(200);
	err = record_limited(&how, &stats, 0);
	alarm(0);
	close(ends[0]);
	close(ends[1]);
	check(err == -ECANCELED && waits == 3, "%d after %d waits", err, waits);
	check(stats.records && stats.records < emitted, "%llu of %u records",
	      (unsigned long long)stats.records, emitted);
}

static void test_cancel(void)
{
	struct ktape_recorder_options how = { .dir = dir };
	struct ktape_recorder *r;

	trace_remove(dir);
	make_device();
	check(!ktape_recorder_open(&device, &how, &r), "open");
	check(trace_has_file("metadata"), "nothing there");
	ktape_recorder_step(r);
	ktape_recorder_cancel(r);
	check(access(dir, F_OK) && errno == ENOENT, "the folder is there");
	begin_folder();
	make_device();
	check(!ktape_recorder_open(&device, &how, &r), "open");
	ktape_recorder_cancel(r);
	check(!access(dir, F_OK) && !trace_has_file("metadata"), "an empty folder");
}

/* ---- direct writes -------------------------------------------------------- */

ssize_t pwritev64(int fd, const struct iovec *iov, int nr, off64_t offset);

/*
 * After @whole_writes direct writes, @short_writes of them go wrong: all but the last one write
 * 1000 bytes only, and the last one fails with EINVAL.
 */
static int whole_writes, short_writes;

/* Each write causes events, as those of a recorder do that is recorded itself. */
static bool echoes;

/* Close a block of each ring; if the ring is full, its oldest blocks are overwritten. */
static void echo_positions(void)
{
	unsigned int i;
	uint64_t most = (BLOCKS - 1) * BLOCK, begin;

	if (!echoes)
		return;
	for (i = 0; i < RINGS; i++) {
		begin = (rings[i].block + 1) * BLOCK;
		device_page(i)->tail = begin > most ? begin - most : 0;
	}
	device_grow(1, 5);
}

/* Stands before the function of the C library, by which the recorder writes without io_uring. */
ssize_t pwritev64(int fd, const struct iovec *iov, int nr, off64_t offset)
{
	struct iovec part = { .iov_base = iov->iov_base, .iov_len = 1000 };
	int flags = fcntl(fd, F_GETFL);
	ssize_t n;

	echo_positions();
	if (!(flags & O_DIRECT) || !short_writes || whole_writes-- > 0)
		return syscall(SYS_pwritev, fd, iov, nr, offset, 0);
	if (short_writes-- == 1) {
		errno = EINVAL;
		return -1;
	}
	/* So few bytes cannot be written directly. */
	fcntl(fd, F_SETFL, flags & ~O_DIRECT);
	n = syscall(SYS_pwritev, fd, &part, 1, offset, 0);
	fcntl(fd, F_SETFL, flags);
	return n;
}

static void test_short_direct(void)
{
	struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_NO_URING,
	};
	struct ktape_recorder_stats stats;
	struct trace_result r;
	int i;

	for (i = 0; i < 9; i++) {
		trace_remove(dir);
		make_device();
		whole_writes = i / 3;
		short_writes = 2 + i % 3;
		check(!record_limited(&how, &stats, 0), "case %d", i);
		/* Still there: no write had O_DIRECT. */
		if (short_writes) {
			tap_skip("no direct writes below $TMPDIR");
			return;
		}
		check_equal(stats.records, emitted);
		trace_read(dir, 0, &r);
		check(r.events == emitted && !r.corrupt && !r.truncated,
		      "case %d: %u events of %u, corrupt %u", i, r.events,
		      emitted, r.corrupt);
	}
}

/* ---- a session that goes on ----------------------------------------------- */

/*
 * A recorder leaves a session whose events go on: those after its end are neither read nor
 * missed.  @runs: the session still runs.  Else it has stopped, but another process starts it
 * again while the recorder ends.
 */
static void leave_live(bool runs)
{
	struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_NO_URING | KTAPE_RECORD_ATTACHED,
	};
	struct ktape_recorder_stats stats;
	struct ktape_recorder *r;
	struct trace_result read;
	unsigned int had;

	trace_remove(dir);
	device_begin();
	device_grow(2, 33);
	had = emitted;
	check(!ktape_recorder_open(&device, &how, &r), "open");
	running = runs;
	echoes = true;
	alarm(200);
	check(!ktape_recorder_finish(r), "finish");
	alarm(0);
	echoes = false;
	running = false;
	ktape_recorder_stats(r, &stats);
	ktape_recorder_close(r);
	check(emitted > had, "no event came during the writes");
	check_equal(stats.records, had);
	check_equal(stats.missed, 0);
	trace_read(dir, 0, &read);
	check(read.events == had && !read.lost && !read.corrupt && !read.truncated,
	      "%u events of %u, %llu lost", read.events, had,
	      (unsigned long long)read.lost);
}

static void test_leave(void)
{
	leave_live(true);
	leave_live(false);
}

/*
 * CLEAR while the session runs: every ring begins inside a block.  Ring 0 fills up, the others
 * get no more events.  Their positions must not keep the recorder from reporting that of ring 0.
 */
static void test_positions_cleared(void)
{
	struct ktape_recorder_options how = { .flags = KTAPE_RECORD_ATTACHED };
	struct ktape_recorder *r;
	unsigned int i;

	device_begin();
	device_grow(2, 33);
	for (i = 0; i < RINGS; i++) {
		device_page(i)->floor = device_page(i)->commit;
		cursors[i] = device_page(i)->floor;
	}
	how.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	check(!ktape_recorder_open(&device, &how, &r), "open");
	for (i = 2; i < BLOCKS; i++)
		device_close_block(0, UINT32_MAX);
	while (ktape_recorder_step(r) > 0)
		;
	check_equal(cursors[0], BLOCKS * BLOCK);
	check_equal(cursors[1], device_page(1)->floor);
	ktape_recorder_close(r);
	close(how.fd);
}

/*
 * A CPU comes online, and the session is cleared before the recorder maps its rings: what
 * is gone is missed, and the counts agree.
 */
static void test_cleared_late(void)
{
	const struct ktape_recorder_options how = { .dir = dir };
	struct ktape_recorder_stats stats;
	struct trace_result read;
	struct ktape_recorder *r;

	trace_remove(dir);
	device_begin();
	rings_there = 1;
	check(!ktape_recorder_open(&device, &how, &r), "open");
	device_grow(3, 33);
	device_page(1)->floor = BLOCK;
	cursors[1] = BLOCK;
	rings_there = RINGS;
	check(ktape_recorder_refresh(r) >= 0, "refresh");
	device_grow(2, 11);
	check(!ktape_recorder_finish(r), "finish");
	ktape_recorder_stats(r, &stats);
	ktape_recorder_close(r);
	check_equal(stats.emitted, emitted);
	check(stats.missed, "nothing is missed");
	check_equal(stats.records + stats.missed, emitted);
	trace_read(dir, 0, &read);
	check(!read.corrupt && !read.truncated, "the trace is damaged");
	check_equal(read.events, stats.records);
	check_equal(read.lost, stats.missed);
}

/*
 * Another process has moved one of our cursors: the other positions are
 * accepted.
 */
static void test_position_refused(void)
{
	struct ktape_recorder_options how = { .flags = KTAPE_RECORD_ATTACHED };
	struct ktape_recorder *r;

	device_begin();
	how.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	check(!ktape_recorder_open(&device, &how, &r), "open");
	device_grow(2, 33);
	cursors[1] = device_page(1)->commit;
	while (ktape_recorder_step(r) > 0)
		;
	check_equal(cursors[0], 2 * BLOCK);
	check_equal(cursors[2], 2 * BLOCK);
	cursors[1] = 0;
	device_grow(1, 33);
	while (ktape_recorder_step(r) > 0)
		;
	check_equal(cursors[1], 3 * BLOCK);
	ktape_recorder_close(r);
	close(how.fd);
}

/*
 * A 32-bit kernel has two words for each position and each count.  Record from block @first of
 * each ring on, before which it had @records records.
 */
static void narrow_from(uint64_t first, uint64_t records)
{
	struct ktape_recorder_options how = {
		.dir = dir,
		.flags = KTAPE_RECORD_ATTACHED,
	};
	struct ktape_recorder_stats stats;
	struct ktape_recorder *r;
	struct trace_result read;
	unsigned int i;

	trace_remove(dir);
	device_begin();
	device.features.features |= KTAPE_FEATURE_POS32;
	for (i = 0; i < RINGS; i++) {
		rings[i].block = first;
		rings[i].records = rings[i].before = records;
		device_block(i, 0);
		device_count(i, 0);
		device_page(i)->tail = (uint32_t)(first * BLOCK);
		/* Of a CLEAR long ago. */
		device_store(&device_page(i)->floor, 12 * BLOCK);
		cursors[i] = first * BLOCK;
	}
	check(!ktape_recorder_open(&device, &how, &r), "open");
	for (i = 0; i < 3; i++) {
		device_grow(3, 11);
		while (ktape_recorder_step(r) > 0)
			;
		check_equal(cursors[0], (first + 3 * (i + 1)) * BLOCK);
	}
	/*
	 * Records that nobody reads, a lap of the low word: 11 of the open block, which
	 * @emitted has, and 1000 others.
	 */
	for (i = 0; i < RINGS; i++) {
		rings[i].block += (1ULL << 32) / BLOCK;
		rings[i].records += 1000 + 11;
		rings[i].before += 1000;
		device_page(i)->tail = (uint32_t)(rings[i].block * BLOCK);
		device_count(i, device_block(i, 0));
	}
	device_grow(3, 11);
	while (ktape_recorder_step(r) > 0)
		;
	check_equal(cursors[0], rings[0].block * BLOCK);
	check(!ktape_recorder_finish(r), "finish");
	ktape_recorder_stats(r, &stats);
	ktape_recorder_close(r);
	device.features.features &= ~(uint64_t)KTAPE_FEATURE_POS32;
	check_equal(stats.missed, RINGS * (1000 + 11));
	trace_read(dir, 0, &read);
	check(read.events == emitted - RINGS * 11 && !read.corrupt,
	      "%u events of %u", read.events, emitted);
	check_equal(read.lost, RINGS * (1000 + 11));
}

static void test_narrow(void)
{
	const uint64_t step = 1ULL << 29;
	uint64_t n;

	/* Through each combination of the bits that both words have. */
	for (n = 1; n < 18; n++)
		narrow_from(n * step / BLOCK - 4, (n + 1) * step - 500);
	narrow_from(step / BLOCK - 4, 0);
}

/*
 * The metadata lists the CPUs, also those that came online during the
 * recording.
 */
static void test_cpus(void)
{
	const struct ktape_recorder_options how = { .dir = dir };
	struct ktape_recorder *r;
	struct ktape_trace *t;
	const char *text;
	size_t len;

	for (unsigned int late = 0; late < 2; late++) {
		trace_remove(dir);
		make_device();
		rings_there = late ? 1 : RINGS;
		check(!ktape_recorder_open(&device, &how, &r), "open");
		check(!ktape_recorder_flush(r), "flush");
		check(!ktape_trace_open(dir, NULL, &t, NULL), "read");
		check(ktape_trace_info(t)->has_cpus, "no CPUs");
		/* Bits: CPU 0, or both CPUs of the device. */
		check_equal(ktape_trace_info(t)->cpus[0], late ? 1 : 3);
		ktape_trace_close(t);
		rings_there = RINGS;
		check(!ktape_recorder_finish(r), "finish");
		ktape_recorder_close(r);
		check(!trace_has_file("metadata.new"),
		      "a temporary file is left behind");
		check(!ktape_trace_open(dir, NULL, &t, NULL), "read");
		check_equal(ktape_trace_info(t)->cpus[0], 3);
		check_equal(ktape_trace_info(t)->converted, 0);
		text = ktape_trace_metadata(t, &len);
		check(!ktape_metadata_check(text, len, NULL), "no checksum");
		ktape_trace_close(t);
	}
}

/* Values of env, and malformed lists of CPUs. */
static void test_env(void)
{
	static const struct {
		const char *text;
		uint64_t first, last;
	} lists[] = {
		{ "0-3,6", 0x4f, 0 },
		{ "5", 0x20, 0 },
		{ "63,8191", 1ULL << 63, 1ULL << 63 },
		{ "", 0, 0 },
		{ "8192,99999999999,2-", 0, 0 },
		{ "x,1,,3-2", 2, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct ktape_info info;
		char *text;
		size_t len;

		check(!ktape_metadata_format(&trace_info, &text, &len), "text");
		check(!ktape_metadata_add(&text, &len, "cpus", lists[i].text) &&
			      !ktape_metadata_add(&text, &len, "cpus", "9") &&
			      !ktape_metadata_add(&text, &len, "remark", "a\"b\\"),
		      "add");
		check(!ktape_metadata_parse(text, len, &info, NULL), "parse");
		check(info.has_cpus && !info.converted, "%zu", i);
		check(info.cpus[0] == lists[i].first, "%s: %llx", lists[i].text,
		      (unsigned long long)info.cpus[0]);
		check_equal(info.cpus[KTAPE_CPU_WORDS - 1], lists[i].last);
		free(text);
	}
}

static const struct tap_test tests[] = {
	{ "a trace is replaced only with --force", test_replace },
	{ "other files are not replaced", test_write_foreign_files },
	{ "the recorder", test_record },
	{ "the recorder on a tmpfs", test_tmpfs },
	{ "the recorder: failed writes are not counted", test_failed_writes },
	{ "the recorder: a trace is renamed at its end", test_recorder_staged },
	{ "the recorder: a trace that cannot be renamed", test_kept },
	{ "the recorder: a reader that exits", test_failed_pipe },
	{ "the recorder: a stuck reader", test_stuck_pipe },
	{ "the recorder: nothing is left when cancelled", test_cancel },
	{ "short direct writes", test_short_direct },
	{ "events after the end are neither read nor lost", test_leave },
	{ "positions of a cleared session", test_positions_cleared },
	{ "a session that is cleared when a CPU has come online", test_cleared_late },
	{ "a refused position does not block the others", test_position_refused },
	{ "positions of 32 bits that wrap", test_narrow },
	{ "the CPUs of a recording", test_cpus },
	{ "values of the metadata", test_env },
};

int main(int argc, char **argv)
{
	const char *folder = trace_folder();
	int status;

	snprintf(dir, sizeof(dir), "%s/trace", folder);
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(folder);
	return status;
}
