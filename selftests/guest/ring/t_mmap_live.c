// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test mappings while all CPUs record: pages and whole mappings are dropped,
 * memory is under pressure, and mapping, read() and O_DIRECT give the same
 * bytes.
 *
 * If the allocator considered a page of a ring free, it would give the page to
 * the process that takes all memory: that process would find records in its
 * pages, or the ring would be overwritten by the process's pattern.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ring.h"

#define PAGE	  4096UL
#define RING	  (128UL << 10)
#define BLOCK	  (32UL << 10)
#define MAX_CPUS  16
#define REMAPS	  1000
#define KEEP_KIB  (96L << 10) /* memory that is left to the rest of the system */
#define SCRIBBLE  0xdeadbeefdeadbeefULL
#define STRIDE	  8    /* words in a cache line */
#define SLACK_KIB 8192 /* free memory that may change meanwhile */

FIXTURE(live)
{
	int main;
	int fd;
	int cpus;
	struct kt_map m[MAX_CPUS][KTAPE_RINGS_PER_CPU];
	pthread_t thread[MAX_CPUS];
};

static atomic_bool ends;

/* Fill the event ring of one CPU again and again. */
static void *fill_ring_main(void *cpu)
{
	kt_pin((long)cpu);
	while (!atomic_load(&ends)) {
		kt_getppids(200);
		usleep(500 * kt_scale());
	}
	return NULL;
}

FIXTURE_SETUP(live)
{
	struct ktape_create c = { .size = sizeof(c),
				  .ring_size = RING,
				  .block_size = BLOCK };

	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_ioctl(self->main, KTAPE_IOC_CREATE, &c);
	ASSERT_LE(0, self->fd);
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_GE(MAX_CPUS, self->cpus);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			ASSERT_EQ(0, kt_map_ring(self->fd, cpu, kind,
						 &self->m[cpu][kind]));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, KTAPE_EV_SYS_ENTER,
				    KTAPE_EV_SYS_EXIT, KTAPE_EV_SCHED_SWITCH));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (long cpu = 0; cpu < self->cpus; cpu++)
		ASSERT_EQ(0, pthread_create(&self->thread[cpu], NULL,
					    fill_ring_main, (void *)cpu));
}

FIXTURE_TEARDOWN(live)
{
	close(self->fd);
	close(self->main);
}

/*
 * Wait until each event ring has been filled once, otherwise nothing is tested; then end the
 * threads that fill them, and stop the session.
 */
static void stop_when_filled(struct __test_metadata *_metadata,
			     struct _test_data_live *self)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		while (kt_load(&self->m[cpu][0].page->commit) <= RING)
			usleep(10000);
	atomic_store(&ends, true);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		pthread_join(self->thread[cpu], NULL);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
}

/* Check that every block and record of every ring is well-formed. */
static void check_live_rings(struct __test_metadata *_metadata,
			     struct _test_data_live *self)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			EXPECT_LT(0, kt_walk(&self->m[cpu][kind], NULL, NULL))
			{
				TH_LOG("cpu %d kind %d", cpu, kind);
			}
		}
}

static void touch_mapped_pages(const struct kt_map *m)
{
	for (size_t off = 0; off < m->size; off += PAGE)
		(void)*((volatile char *)m->page + off);
}

/* Drop page after page; published data must not change. */
TEST_F_TIMEOUT(live, pages_dropped_one_by_one, 120)
{
	for (int round = 0; round < 4; round++) {
		for (int cpu = 0; cpu < self->cpus; cpu++) {
			struct kt_map *m = &self->m[cpu][0];
			char *page = (char *)m->page;
			uint64_t before = m->page->commit;

			touch_mapped_pages(m);
			for (size_t off = 0; off < m->size; off += PAGE) {
				ASSERT_EQ(0, madvise(page + off, PAGE,
						     MADV_DONTNEED));
				if (off % (3 * PAGE) == 0)
					(void)*(volatile char *)(page + off);
			}
			EXPECT_LE(before, m->page->commit);
		}
		usleep(10000);
	}
	stop_when_filled(_metadata, self);
	check_live_rings(_metadata, self);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		madvise(self->m[cpu][0].page, self->m[cpu][0].size, MADV_DONTNEED);
	check_live_rings(_metadata, self);
}

/* Unmap rings, with some or all pages touched, and map them again while CPUs record. */
TEST_F_TIMEOUT(live, mappings_dropped, 120)
{
	const int rounds = REMAPS / kt_scale();
	struct kt_map *m;

	for (int i = 0; i < rounds; i++) {
		m = &self->m[i % self->cpus][0];
		if (i % 3 == 0)
			touch_mapped_pages(m);
		else
			(void)*(volatile char *)(m->data + i % 16 * PAGE);
		kt_unmap_ring(m);
		ASSERT_EQ(0, kt_map_ring(self->fd, i % self->cpus,
					 KTAPE_RING_EVENT, m));
	}
	stop_when_filled(_metadata, self);
	check_live_rings(_metadata, self);
}

/* ---- memory pressure --------------------------------------------------- */

/*
 * Allocate memory, fill it with a pattern and check that the pattern stays, in
 * a child process, so that all memory is freed at once. Return: exit status: 0
 * if the pattern stayed, 1 without memory, 2 if a word has changed.
 */
static int take_memory(long kib)
{
	size_t n = (size_t)kib * 1024 / sizeof(uint64_t);
	uint64_t *p = mmap(NULL, n * sizeof(*p), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < n; i += STRIDE)
		p[i] = SCRIBBLE + i;
	usleep(100000);
	for (size_t i = 0; i < n; i++)
		if (p[i] != (i % STRIDE ? 0 : SCRIBBLE + i))
			return 2;
	return 0;
}

/* Page flags, <linux/kernel-page-flags.h>. */
#define KPF_SLAB     7
#define KPF_BUDDY    10
#define KPF_HWPOISON 19

static uint64_t pagemap_entry(const char *path, uint64_t index)
{
	int fd = open(path, O_RDONLY);
	uint64_t entry = 0;

	if (fd < 0 || pread(fd, &entry, 8, index * 8) != 8)
		entry = ~0ULL;
	if (fd >= 0)
		close(fd);
	return entry;
}

/*
 * No page of a mapped ring may be in the allocator's free lists, of a slab or poisoned.
 * Return: 0, -1: a page is not mapped, -2: a page has such a flag. Without
 * /proc/kpageflags nothing is checked.
 */
static int check_page_flags(const struct kt_map *m)
{
	const uint64_t bad = 1 << KPF_SLAB | 1 << KPF_BUDDY | 1 << KPF_HWPOISON;
	uint64_t pagemap, flags;

	if (access("/proc/kpageflags", R_OK))
		return 0;
	touch_mapped_pages(m);
	for (size_t off = 0; off < m->size; off += PAGE) {
		pagemap = pagemap_entry("/proc/self/pagemap",
					((uintptr_t)m->page + off) / PAGE);
		if (!(pagemap >> 63))
			return -1;
		flags = pagemap_entry("/proc/kpageflags",
				      pagemap & ((1ULL << 55) - 1));
		if (flags & bad)
			return -2;
	}
	return 0;
}

/*
 * Have all pages mapped once, and then drop them (0), keep them (1), or unmap the ring
 * and map it again (2), as @how says.
 */
static int touch_and_leave_ring(struct _test_data_live *self, int cpu, int kind,
				int how)
{
	struct kt_map *m = &self->m[cpu][kind];

	touch_mapped_pages(m);
	if (how == 0)
		return madvise(m->page, m->size, MADV_DONTNEED);
	if (how == 1)
		return 0;
	kt_unmap_ring(m);
	return kt_map_ring(self->fd, cpu, kind, m);
}

TEST_F_TIMEOUT(live, memory_pressure, 200)
{
	int status;
	pid_t pid;
	long kib;

	for (int cpu = 0; cpu < self->cpus; cpu++)
		for (int kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			ASSERT_EQ(0, touch_and_leave_ring(self, cpu, kind, cpu % 3));
	kib = kt_meminfo("MemAvailable") - KEEP_KIB;
	/*
	 * The allocator reuses recently freed pages first; allocating all
	 * memory takes minutes.
	 */
	if (kt_scale() > 1)
		kib /= 32;
	ASSERT_LT(0, kib);
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0)
		_exit(take_memory(kib));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status)
	{
		TH_LOG("%ld KiB", kib);
	}
	stop_when_filled(_metadata, self);
	check_live_rings(_metadata, self);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		EXPECT_EQ(0, check_page_flags(&self->m[cpu][0]));
}

/* The memory of sessions and mappings is freed, in either order of closing. */
TEST(memory_comes_back)
{
	long before = 0, after;
	struct kt_map m;
	int main = kt_open(O_RDWR), fd;

	ASSERT_LE(0, main);
	for (int i = 0; i < 60; i++) {
		if (i == 10)
			before = kt_free_kib();
		fd = kt_create(main, 0, 2 * RING, BLOCK);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m));
		touch_mapped_pages(&m);
		if (i % 2)
			close(fd);
		kt_unmap_ring(&m);
		if (i % 2 == 0)
			close(fd);
	}
	/* Each of 50 rounds took 256 KiB of event ring per CPU, of which the mapping had one. */
	after = kt_free_kib();
	EXPECT_LT(before - SLACK_KIB * kt_scale(), after)
	{
		TH_LOG("%ld KiB before, %ld KiB after", before, after);
	}
}

/* ---- the same bytes ---------------------------------------------------- */

static const struct kt_map *ring_of(struct _test_data_live *self,
				    const struct ktape_block *b)
{
	if ((int)b->cpu >= self->cpus || b->kind >= KTAPE_RINGS_PER_CPU)
		return NULL;
	return &self->m[b->cpu][b->kind];
}

/*
 * Compare a packet of read() with the mapped blocks. Packets are numbered from
 * the first one that this reader received; @first has for each ring the number of
 * that one's block in the ring, from 1 on, or 0 before it is known, and is set here. Return:
 * number of equal bytes, 0 for a packet of the registry, -1 if some differ.
 */
static long compare_with_mapping(struct _test_data_live *self,
				 const struct ktape_block *b, uint64_t *first)
{
	const struct kt_map *m = ring_of(self, b);
	size_t len = b->content_bits / 8 - KTAPE_BLOCK_HEADER;
	uint64_t pos;

	if (!m)
		return 0;
	first += b->cpu * KTAPE_RINGS_PER_CPU + b->kind;
	if (!*first)
		*first = kt_oldest(m) / m->e.block_size + 1 - b->seq + 1;
	pos = (b->seq + *first - 2) * m->e.block_size;
	if (memcmp(b + 1, m->data + pos % m->e.data_size + KTAPE_BLOCK_HEADER, len))
		return -1;
	return len;
}

TEST_F_TIMEOUT(live, equals_read, 120)
{
	uint64_t first[MAX_CPUS * KTAPE_RINGS_PER_CPU] = {};
	const size_t room = 64 << 20;
	char *buf = malloc(room);
	uint64_t equal = 0, want = 0;
	size_t len = 0, at;
	ssize_t n;

	ASSERT_NE(NULL, buf);
	stop_when_filled(_metadata, self);
	check_live_rings(_metadata, self);
	while ((n = read(self->fd, buf + len, room - len)) > 0)
		len += n;
	ASSERT_EQ(0, n);
	at = ((struct ktape_metadata_packet *)buf)->packet_bits / 8;
	while (at < len) {
		struct ktape_block *b = (void *)(buf + at);
		long same = compare_with_mapping(self, b, first);

		ASSERT_EQ(KTAPE_BLOCK_MAGIC, b->magic);
		ASSERT_LE(0, same)
		{
			TH_LOG("cpu %u kind %u packet %llu", b->cpu, b->kind,
			       b->seq);
		}
		equal += same;
		at += b->packet_bits / 8;
	}
	/*
	 * Everything was read: blocks are compared without their headers, and closed ones
	 * are full except for less than one record.
	 */
	for (int cpu = 0; cpu < self->cpus; cpu++)
		want += self->m[cpu][0].page->commit - kt_oldest(&self->m[cpu][0]);
	EXPECT_LT(want - want / 32, equal);
	free(buf);
}

TEST_F_TIMEOUT(live, o_direct, 120)
{
	const struct kt_map *m = &self->m[0][0];
	void *copy;
	int fd;

	stop_when_filled(_metadata, self);
	fd = open("/scratch/ring", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
	if (fd < 0 && errno == EINVAL)
		SKIP(return, "/scratch has no O_DIRECT");
	ASSERT_LE(0, fd);
	unlink("/scratch/ring");
	ASSERT_EQ(0, posix_memalign(&copy, PAGE, RING));
	/* No page has been accessed before; start inside a block, too. */
	EXPECT_EQ(RING, pwrite(fd, m->data, RING, 0));
	EXPECT_EQ(RING, pread(fd, copy, RING, 0));
	EXPECT_EQ(0, memcmp(copy, m->data, RING));
	EXPECT_EQ(BLOCK, pwrite(fd, m->data + 3 * PAGE, BLOCK, 0));
	EXPECT_EQ(BLOCK, pread(fd, copy, BLOCK, 0));
	EXPECT_EQ(0, memcmp(copy, m->data + 3 * PAGE, BLOCK));
	/*
	 * Reading a file with O_DIRECT into the mapping is a write to the
	 * mapping.
	 */
	EXPECT_EQ(-1, pread(fd, m->data, PAGE, 0));
	EXPECT_EQ(EFAULT, errno);
	close(fd);
}

TEST_HARNESS_MAIN
