// SPDX-License-Identifier: GPL-2.0-only
/* Page faults, pages, slab objects, lock contention: in known numbers. */
#include "kselftest_harness.h"

#include "kt_fire.h"

#define TIMES		20
#define PAGE		4096UL
#define FAULT_WRITE	2
#define FAULT_USER	4
#define FLAGS_MUTEX	32
#define FLAGS_SPIN	1
#define KMALLOC_BYTES	12345
#define OBJECT_BYTES	3333
#define PAGE_ORDER	3

FIXTURE(memory) {
	struct kt_hits h;
	int fire;
};

FIXTURE_SETUP(memory)
{
	self->fire = kt_fire_load();
	ASSERT_EQ(0, self->fire);
}

FIXTURE_TEARDOWN(memory)
{
	kt_hits_free(&self->h);
	if (!self->fire)
		kt_rmmod("kt_fire");
}

/* One fault a page, at the address and with the bits that are known. */
TEST_F(memory, page_fault_user)
{
	char *p = mmap(NULL, TIMES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int seen[TIMES] = {}, fd;
	uint32_t ip = 0;

	ASSERT_NE(MAP_FAILED, p);
	madvise(p, TIMES * PAGE, MADV_NOHUGEPAGE);
	fd = kt_record(KT_OPS(KTAPE_EV_PAGE_FAULT_USER));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < TIMES; i++)
		*(volatile char *)(p + i * PAGE + i) = 1;
	ASSERT_EQ(0, kt_recorded(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];
		uint64_t at = kt_wide(hit->args) - (uintptr_t)p;

		if (at >= TIMES * PAGE)
			continue;
		EXPECT_EQ(at / PAGE, at % PAGE);
		EXPECT_EQ(FAULT_USER | FAULT_WRITE, hit->dat20);
		EXPECT_NE(0, hit->args[2]);
		ip = ip ?: hit->args[2];
		EXPECT_EQ(ip, hit->args[2]);
		seen[at / PAGE]++;
	}
	for (int i = 0; i < TIMES; i++)
		EXPECT_EQ(1, seen[i]);
	munmap(p, TIMES * PAGE);
}

/* The kernel touches pages of ours; where it does is a function. */
TEST_F(memory, page_fault_kernel)
{
	char *p = mmap(NULL, TIMES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int seen[TIMES] = {}, fd, zero = open("/dev/zero", O_RDONLY);
	char name[KTAPE_NAME_SIZE] = "";

	ASSERT_NE(MAP_FAILED, p);
	madvise(p, TIMES * PAGE, MADV_NOHUGEPAGE);
	fd = kt_record(KT_OPS(KTAPE_EV_PAGE_FAULT_KERNEL));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < TIMES; i++)
		ASSERT_EQ(8, read(zero, p + i * PAGE, 8));
	ASSERT_EQ(0, kt_recorded(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];
		uint64_t at = kt_wide(hit->args) - (uintptr_t)p;

		/* What is not below is no address of a program: a token. */
		EXPECT_LT(kt_wide(hit->args), 1ULL << 47);
		if (at >= TIMES * PAGE)
			continue;
		EXPECT_EQ(FAULT_WRITE, hit->dat20);
		EXPECT_EQ(0, kt_object_name(KTAPE_OBJ_FUNCTION, hit->args[2],
					    name));
		seen[at / PAGE]++;
	}
	/* Its name depends on kernel and machine. */
	EXPECT_TRUE(strstr(name, "clear") || strstr(name, "stos"));
	TH_LOG("the kernel was in %s", name);
	for (int i = 0; i < TIMES; i++)
		EXPECT_EQ(1, seen[i]);
	close(zero);
	munmap(p, TIMES * PAGE);
}

TEST_F(memory, pages)
{
	unsigned long long pfn[TIMES];
	int fd, allocs = 0, frees = 0;

	fd = kt_record(KT_OPS(KTAPE_EV_MM_PAGE_ALLOC, KTAPE_EV_MM_PAGE_FREE));
	ASSERT_GE(fd, 0);
	kt_pin(1);
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, kt_fire("pages", 1));
		pfn[i] = kt_fire_number();
	}
	ASSERT_EQ(0, kt_recorded(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	/* In their order: each was allocated and freed with its number. */
	for (int i = 0; i < self->h.nr && frees < TIMES; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->cpu != 1 || (hit->dat20 & 31) != PAGE_ORDER ||
		    kt_wide(hit->args) != pfn[frees])
			continue;
		if (hit->op == KTAPE_EV_MM_PAGE_ALLOC && allocs == frees &&
		    hit->args[2])
			allocs++;
		else if (hit->op == KTAPE_EV_MM_PAGE_FREE &&
			 allocs == frees + 1)
			frees++;
	}
	EXPECT_EQ(TIMES, allocs);
	EXPECT_EQ(TIMES, frees);
}

TEST_F(memory, kmalloc)
{
	char name[KTAPE_NAME_SIZE];
	int fd, allocs = 0, frees = 0;
	uint32_t token = 0, taken;

	fd = kt_record(KT_OPS(KTAPE_EV_KMALLOC, KTAPE_EV_KFREE));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_fire("kmalloc", TIMES));
	taken = kt_fire_number();
	ASSERT_EQ(0, kt_recorded(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->op == KTAPE_EV_KMALLOC &&
		    hit->args[2] == KMALLOC_BYTES) {
			token = hit->args[0];
			allocs++;
			EXPECT_EQ(taken, hit->args[3]);
			EXPECT_NE(0, hit->args[4]);
			EXPECT_EQ(0, kt_object_name(KTAPE_OBJ_FUNCTION,
						    hit->args[1], name));
			EXPECT_STREQ("fire_kmalloc", name);
		} else if (hit->op == KTAPE_EV_KFREE && token &&
			   hit->args[0] == token) {
			token = 0;
			frees++;
			EXPECT_EQ(0, kt_object_name(KTAPE_OBJ_FUNCTION,
						    hit->args[1], name));
			EXPECT_STREQ("fire_kmalloc", name);
		}
	}
	EXPECT_EQ(TIMES, allocs);
	EXPECT_EQ(TIMES, frees);
}

TEST_F(memory, kmem_cache)
{
	int fd, allocs = 0, frees = 0;
	char name[KTAPE_NAME_SIZE];
	uint32_t token = 0;

	fd = kt_record(KT_OPS(KTAPE_EV_KMEM_CACHE_ALLOC,
			      KTAPE_EV_KMEM_CACHE_FREE));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_fire("cache", TIMES));
	ASSERT_EQ(0, kt_recorded(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->op == KTAPE_EV_KMEM_CACHE_ALLOC &&
		    hit->dat20 == OBJECT_BYTES) {
			token = hit->args[0];
			allocs++;
			EXPECT_EQ(0, kt_object_name(KTAPE_OBJ_FUNCTION,
						    hit->args[1], name));
			EXPECT_STREQ("fire_cache", name);
		} else if (hit->op == KTAPE_EV_KMEM_CACHE_FREE && token &&
			   hit->args[0] == token) {
			token = 0;
			frees++;
		}
	}
	EXPECT_EQ(TIMES, allocs);
	EXPECT_EQ(TIMES, frees);
}

/* ---- locks ---------------------------------------------------------------- */

#define WAITS	5

static void *hold(void *arg)
{
	*(int *)arg = kt_fire("hold", 1);
	return NULL;
}

/* Of the mutex of the helper's parameters: what of it was recorded. */
static void count_lock(const struct kt_hits *h, uint32_t lock, int *begins,
		       int *ends)
{
	*begins = *ends = 0;
	for (int i = 0; i < h->nr; i++) {
		const struct kt_hit *hit = &h->hit[i];

		if (hit->args[0] != lock)
			continue;
		if (hit->op == KTAPE_EV_CONTENTION_BEGIN)
			*begins += hit->dat20 == FLAGS_MUTEX;
		else
			*ends += !hit->args[1];
	}
}

/*
 * One thread holds the mutex of the helper's parameters while it sleeps, another
 * one waits for it.  Nobody else waits for any mutex just as often.
 */
TEST_F(memory, contention)
{
	int fd, held = -1, begins, ends, locks = 0;
	uint32_t known[64] = {};
	pthread_t thread;
	unsigned int nr = 0;

	if (kt_event_state(KTAPE_EV_CONTENTION_BEGIN) != KTAPE_EVENT_AVAILABLE)
		SKIP(return, "no contention_begin");
	fd = kt_record(KT_OPS(KTAPE_EV_CONTENTION_BEGIN,
			      KTAPE_EV_CONTENTION_END));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < WAITS; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, hold, &held));
		usleep(40000);
		ASSERT_EQ(0, kt_fire("nothing", 1));
		pthread_join(thread, NULL);
		ASSERT_EQ(0, held);
	}
	ASSERT_EQ(0, kt_recorded(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		unsigned int k = 0;

		while (k < nr && known[k] != self->h.hit[i].args[0])
			k++;
		if (k == nr && nr < 64)
			known[nr++] = self->h.hit[i].args[0];
	}
	for (unsigned int k = 0; k < nr; k++) {
		count_lock(&self->h, known[k], &begins, &ends);
		locks += begins == WAITS && ends == WAITS;
	}
	TH_LOG("%d records of %u locks", self->h.nr, nr);
	EXPECT_EQ(1, locks);
}

TEST_HARNESS_MAIN
