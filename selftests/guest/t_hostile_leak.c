// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search everything that a reader can map or read for addresses of the kernel and for
 * memory that nobody has set: rings that are new in memory that a program has filled
 * before, and records of all events.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_leak.h"
#include "kt_ledger.h"
#include "kt_load.h"
#include "kt_ring.h"
#include "kt_session.h"

#define RING_NEW	(4 << 20)	/* of each CPU */
#define RING		(1 << 20)
#define RECORDS		100000
#define ENTRIES		129
#define THREADS		4

/* Map each region of a session, the registry included, and search all of it. */
static void leak_regions(struct __test_metadata *_metadata, int fd,
			 struct kt_leak *others, struct kt_leak *blocks)
{
	struct ktape_layout_entry e[ENTRIES];
	struct ktape_layout l;

	ASSERT_EQ(0, kt_layout(fd, &l, e, ENTRIES));
	for (__u32 i = 0; i < l.nr; i++) {
		size_t size = e[i].ctl_size + e[i].data_size;
		char *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd,
			       e[i].offset);

		ASSERT_NE(MAP_FAILED, p);
		kt_leak_bytes(others, p, e[i].ctl_size);
		kt_leak_bytes(e[i].kind == KTAPE_RING_EVENT ? blocks : others,
			      p + e[i].ctl_size, e[i].data_size);
		munmap(p, size);
	}
}

FIXTURE(leak) {
	int dev;
};

FIXTURE_SETUP(leak)
{
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	if (kt_clears_memory())
		TH_LOG("this kernel clears memory when it allocates: only addresses are found");
}

FIXTURE_TEARDOWN(leak)
{
	close(self->dev);
}

/* The rings of a new session, its control pages, the registry, and read(). */
TEST_F_TIMEOUT(leak, new_rings, 600)
{
	struct kt_leak others = {}, blocks = {}, read = {};
	long mib = kt_fill_pages(), messages = kt_fill_slabs();
	struct kt_buf b = {};
	int fd;

	ASSERT_LT(0, mib);
	fd = kt_create(self->dev, KTAPE_MODE_OVERWRITE, RING_NEW, 4096);
	ASSERT_LE(0, fd);
	leak_regions(_metadata, fd, &others, &blocks);
	EXPECT_EQ(0, kt_slurp(&b, fd, 65536));
	kt_leak_bytes(&read, b.p, b.len);
	TH_LOG("%ld MiB and %ld messages were filled; %llu bytes of new blocks, %llu of others mapped, %zu read",
	       mib, messages, (unsigned long long)blocks.bytes,
	       (unsigned long long)others.bytes, b.len);
	EXPECT_LE(RING_NEW, blocks.bytes);
	EXPECT_EQ(0, blocks.not_zero);
	EXPECT_EQ(0, blocks.pattern);
	EXPECT_EQ(0, others.pattern) {
		TH_LOG("%#llx at %#zx", (unsigned long long)others.value,
		       others.at);
	}
	EXPECT_LT(10000, b.len);
	EXPECT_EQ(0, read.pattern) {
		TH_LOG("%#llx at %#zx of read()", (unsigned long long)read.value,
		       read.at);
	}
	kt_buf_free(&b);
	close(fd);
}

/* ---- records --------------------------------------------------------------- */

static void on_map(const struct kt_rec *r, void *arg)
{
	kt_leak_record(arg, r);
}

static void on_read(const struct ktape_block *b, const struct kt_rec *r, void *arg)
{
	kt_leak_record(arg, r);
}

static bool is_one_byte(ssize_t n)
{
	return n == 1;
}

/* Cause many kinds of events. */
static void *work_main(void *failed)
{
	char byte;
	int p[2];

	for (int i = 0; i < 40; i++) {
		int f = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		bool ok;

		if (m == MAP_FAILED || f < 0 || pipe(p))
			return failed;
		m[0] = m[4096] = 1;
		munmap(m, 65536);
		ok = is_one_byte(read(f, &byte, 1)) &&
		     is_one_byte(write(p[1], "x", 1)) &&
		     is_one_byte(read(p[0], &byte, 1));
		close(f);
		close(p[0]);
		close(p[1]);
		if (!ok)
			return failed;
		pthread_kill(pthread_self(), SIGALRM);
		usleep(100);
		kt_getppids(50);
	}
	return NULL;
}

/* Everything is recorded while threads and a child work. */
static void record_round(struct __test_metadata *_metadata, int fd)
{
	pthread_t thread[THREADS];
	void *failed = NULL;
	pid_t pid;

	ASSERT_EQ(0, kt_command(fd, KTAPE_IOC_START));
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, work_main,
					    &failed));
	pid = fork();
	if (!pid) {
		execl("/bin/busybox", "true", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &failed);
		EXPECT_EQ(NULL, failed);
	}
	ASSERT_EQ(0, kt_command(fd, KTAPE_IOC_STOP));
}

static void leak_maps(struct __test_metadata *_metadata, int fd, struct kt_leak *l)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct kt_map m;

	for (int i = 0; i < 2 * cpus; i++) {
		if (kt_map(fd, i / 2, i % 2, &m))
			continue;
		ASSERT_LE(0, kt_walk(&m, on_map, l));
		kt_unmap(&m);
	}
}

/* Read it all from the beginning, by a descriptor of its own. */
static void leak_read(struct __test_metadata *_metadata, int fd, int dev,
		      struct kt_leak *l, struct kt_leak *bytes)
{
	struct kts *t = calloc(1, sizeof(*t));
	struct kt_buf b = {};
	struct ktape_layout is;
	int own;

	ASSERT_NE(NULL, t);
	ASSERT_EQ(0, kt_layout(fd, &is, NULL, 0));
	own = kt_attach_id(dev, is.session);
	ASSERT_LE(0, own);
	t->record = on_read;
	t->arg = l;
	EXPECT_EQ(0, kt_slurp(&b, own, 65536));
	EXPECT_EQ(b.len, kts_feed(t, b.p, b.len));
	EXPECT_STREQ("", t->error);
	kt_leak_bytes(bytes, b.p, b.len);
	kt_buf_free(&b);
	free(t);
	close(own);
}

TEST_F_TIMEOUT(leak, records_of_all_events, 3600)
{
	struct ktape_profile all = { .op = KTAPE_PROFILE_SET };
	uint64_t enough = kt_tries(RECORDS);
	struct kt_leak others = {}, blocks = {}, read = {}, l = {};
	int ops = 0, rounds;
	int fd;

	kt_alarms(0);
	kt_fill_slabs();
	fd = kt_create(self->dev, KTAPE_MODE_OVERWRITE, RING, 4096);
	ASSERT_LE(0, fd);
	for (int op = KTAPE_OP_EXCEPTION; op < KTAPE_OP_PROBE; op++)
		if (kt_available(op))
			kt_mask_add(all.mask, op);
	ASSERT_EQ(0, kt_profile(fd, &all));
	for (rounds = 0; l.records < enough; rounds++) {
		record_round(_metadata, fd);
		if (rounds % 8 == 7)
			kt_fill_slabs();
		if (rounds % 4)
			leak_maps(_metadata, fd, &l);
		else
			leak_read(_metadata, fd, self->dev, &l, &read);
		leak_regions(_metadata, fd, &others, &blocks);
		ASSERT_EQ(0, kt_command(fd, KTAPE_IOC_CLEAR));
	}
	for (int op = 0; op < KTAPE_OPCODES; op++)
		ops += l.of[op] != 0;
	TH_LOG("%llu records of %d events in %d rounds; %llu bytes mapped, %llu read",
	       (unsigned long long)l.records, ops, rounds,
	       (unsigned long long)(others.bytes + blocks.bytes),
	       (unsigned long long)read.bytes);
	EXPECT_LT(20, ops);
	EXPECT_EQ(0, l.addresses + l.pattern + l.padding) {
		TH_LOG("%llu addresses, %llu old, %llu padding; event %u: %#llx at %zu",
		       (unsigned long long)l.addresses,
		       (unsigned long long)l.pattern,
		       (unsigned long long)l.padding, l.op,
		       (unsigned long long)l.value, l.at);
	}
	EXPECT_EQ(0, others.pattern + blocks.pattern + read.pattern);
	close(fd);
}

TEST_HARNESS_MAIN
