// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of page faults, pages, slab objects and lock contention: each
 * is recorded as often as the test or kt_fire.ko has caused it, with the right fields;
 * addresses of the kernel are tokens, the same for the same address.
 */
#include "kselftest_harness.h"

#include "kt_fire.h"

#define TIMES 20
#define PAGE  4096UL
/* Bits of the architecture for a store; x86 adds one for a program. */
#ifdef __riscv
#define FAULT_WRITE 15
#define FAULT_USER  0
#else
#define FAULT_WRITE 2
#define FAULT_USER  4
#endif
#define FLAGS_MUTEX 32
#define FLAGS_RT    8 /* of all sleeping locks with PREEMPT_RT */
#define FLAGS_SPIN  1
/* What kt_fire allocates, as in modules/fire.c. */
#define KMALLOC_BYTES 12345
#define OBJECT_BYTES  3333
#define PAGE_ORDER    3

FIXTURE(memory)
{
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

/* One fault per page, at its address and with the expected bits. */
TEST_F_TIMEOUT(memory, page_fault_user, 120)
{
	char *p = mmap(NULL, TIMES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int seen[TIMES] = {}, fd;
	uint32_t ip = 0;

	if (!KT_X86 && !kt_available(KTAPE_EV_PAGE_FAULT_USER))
		SKIP(return, "the kernel has no page_fault_user");
	ASSERT_NE(MAP_FAILED, p);
	madvise(p, TIMES * PAGE, MADV_NOHUGEPAGE);
	fd = kt_start_recording(KT_OPS(KTAPE_EV_PAGE_FAULT_USER));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < TIMES; i++)
		*(volatile char *)(p + i * PAGE + i) = 1;
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
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

/* The kernel faults on our pages; the place is a kernel function. */
TEST_F_TIMEOUT(memory, page_fault_kernel, 120)
{
	char *p = mmap(NULL, TIMES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int seen[TIMES] = {}, fd, zero = open("/dev/zero", O_RDONLY);
	char name[KTAPE_NAME_SIZE] = "";

	if (!KT_X86 && !kt_available(KTAPE_EV_PAGE_FAULT_KERNEL))
		SKIP(return, "the kernel has no page_fault_kernel");
	ASSERT_NE(MAP_FAILED, p);
	madvise(p, TIMES * PAGE, MADV_NOHUGEPAGE);
	fd = kt_start_recording(KT_OPS(KTAPE_EV_PAGE_FAULT_KERNEL));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < TIMES; i++)
		ASSERT_EQ(8, read(zero, p + i * PAGE, 8));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];
		uint64_t at = kt_wide(hit->args) - (uintptr_t)p;

		/*
		 * Addresses above are not user addresses: they are recorded as
		 * tokens.
		 */
		EXPECT_LT(kt_wide(hit->args), 1ULL << 47);
		if (at >= TIMES * PAGE)
			continue;
		EXPECT_EQ(FAULT_WRITE, hit->dat20);
		EXPECT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
						 hit->args[2], name));
		seen[at / PAGE]++;
	}
	/* The name of the function depends on kernel and architecture. */
	EXPECT_TRUE(strstr(name, "clear") || strstr(name, "stos"));
	TH_LOG("the kernel was in %s", name);
	for (int i = 0; i < TIMES; i++)
		EXPECT_EQ(1, seen[i]);
	close(zero);
	munmap(p, TIMES * PAGE);
}

/*
 * Each page has the token of its frame's number, the same when it is allocated and when it
 * is freed, and the number is in no word.
 */
TEST_F_TIMEOUT(memory, pages, 120)
{
	unsigned long long pfn[TIMES];
	uint32_t token[TIMES];
	int fd, allocs = 0, frees = 0;

	fd = kt_start_recording(
		KT_OPS(KTAPE_EV_MM_PAGE_ALLOC, KTAPE_EV_MM_PAGE_FREE));
	ASSERT_GE(fd, 0);
	kt_pin(1);
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, kt_fire("pages", 1));
		pfn[i] = kt_fire_number();
		ASSERT_NE(0, pfn[i]);
	}
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	/* In order: only these pages are allocated and freed at once. */
	for (int i = 0; i < self->h.nr && frees < TIMES; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->cpu != 1 || (hit->dat20 & 31) != PAGE_ORDER)
			continue;
		EXPECT_EQ(hit->op == KTAPE_EV_MM_PAGE_ALLOC ? 2 : 1, hit->nargs);
		/* args[1] are the GFP flags. */
		if (hit->op == KTAPE_EV_MM_PAGE_ALLOC && hit->args[1]) {
			token[frees] = hit->args[0];
			allocs = frees + 1;
		} else if (hit->op == KTAPE_EV_MM_PAGE_FREE &&
			   allocs == frees + 1 && hit->args[0] == token[frees]) {
			frees++;
		}
	}
	EXPECT_EQ(TIMES, allocs);
	EXPECT_EQ(TIMES, frees);
	for (int i = 0; i < TIMES; i++) {
		EXPECT_NE(0, token[i]);
		EXPECT_NE((uint32_t)pfn[i], token[i]);
		for (int k = 0; k < i; k++)
			EXPECT_EQ(pfn[i] == pfn[k], token[i] == token[k]);
	}
}

/*
 * An object has the same token when it is allocated and when it is freed, both by fire_kmalloc().
 * Words of kmalloc: object, caller, bytes that were asked for, bytes that the slab has, GFP flags.
 */
TEST_F_TIMEOUT(memory, kmalloc, 120)
{
	char name[KTAPE_NAME_SIZE];
	int fd, allocs = 0, frees = 0;
	uint32_t token = 0, taken;

	fd = kt_start_recording(KT_OPS(KTAPE_EV_KMALLOC, KTAPE_EV_KFREE));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_fire("kmalloc", TIMES));
	taken = kt_fire_number();
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->op == KTAPE_EV_KMALLOC && hit->args[2] == KMALLOC_BYTES) {
			token = hit->args[0];
			allocs++;
			EXPECT_EQ(taken, hit->args[3]);
			EXPECT_NE(0, hit->args[4]);
			EXPECT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
							 hit->args[1], name));
			EXPECT_STREQ("fire_kmalloc", name);
		} else if (hit->op == KTAPE_EV_KFREE && token &&
			   hit->args[0] == token) {
			token = 0;
			frees++;
			EXPECT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
							 hit->args[1], name));
			EXPECT_STREQ("fire_kmalloc", name);
		}
	}
	EXPECT_EQ(TIMES, allocs);
	EXPECT_EQ(TIMES, frees);
}

/* The same for objects of a cache, whose size is in dat20. */
TEST_F_TIMEOUT(memory, kmem_cache, 120)
{
	int fd, allocs = 0, frees = 0;
	char name[KTAPE_NAME_SIZE];
	uint32_t token = 0;

	fd = kt_start_recording(
		KT_OPS(KTAPE_EV_KMEM_CACHE_ALLOC, KTAPE_EV_KMEM_CACHE_FREE));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_fire("cache", TIMES));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (hit->op == KTAPE_EV_KMEM_CACHE_ALLOC &&
		    hit->dat20 == OBJECT_BYTES) {
			token = hit->args[0];
			allocs++;
			EXPECT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
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

#define WAITS 7

/**
 * struct writer - a thread that writes to the helper
 * @thread: the thread
 * @what: what it writes
 * @tid: its thread id, set just before it writes
 * @ret: result of its write
 */
struct writer {
	pthread_t thread;
	const char *what;
	int tid, ret;
};

static void *writer_main(void *arg)
{
	struct writer *w = arg;

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->ret = kt_fire(w->what, 1);
	return NULL;
}

/*
 * Start the thread and wait until it has state @state. Return: 0, or -1 if it
 * never had that state.
 */
static int start_writer(struct writer *w, const char *what, char state)
{
	*w = (struct writer){ .what = what };
	if (pthread_create(&w->thread, NULL, writer_main, w))
		return -1;
	for (int i = 0; i < 500 * kt_scale(); i++) {
		usleep(10000);
		if (__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE) &&
		    kt_thread_state(w->tid) == state)
			return 0;
	}
	return -1;
}

static void interrupt_lock_wait(int sig)
{
}

/*
 * Return true if a lock was waited for WAITS times by a thread that slept in
 * mutex_lock(). Each attempt to take it has a begin and an end. Kernels with
 * lock debugging also record attempts that succeed at once.
 */
static bool is_lock_waited_for(const struct kt_hits *h, uint32_t lock)
{
	const uint32_t flags = kt_is_realtime() ? FLAGS_RT : FLAGS_MUTEX;
	int sleeps = 0, attempts = 0, ends = 0;

	for (int i = 0; i < h->nr; i++) {
		const struct kt_hit *hit = &h->hit[i];

		if (hit->args[0] != lock)
			continue;
		if (hit->op == KTAPE_EV_CONTENTION_BEGIN) {
			sleeps += hit->dat20 == flags;
			attempts += hit->dat20 == (FLAGS_MUTEX | FLAGS_SPIN);
		} else {
			ends += !hit->args[1];
		}
	}
	return sleeps == WAITS && ends >= WAITS &&
	       ends <= (attempts ? attempts : WAITS);
}

/*
 * One thread holds the mutex of the helper's parameters while it sleeps,
 * another one waits for it. The number of waits distinguishes that mutex from
 * all others.
 */
TEST_F_TIMEOUT(memory, contention, 120)
{
	struct sigaction sa = { .sa_handler = interrupt_lock_wait };
	int fd, locks = 0;
	struct writer holder, waiter;
	uint32_t known[1024] = {};
	unsigned int nr = 0;

	if (kt_event_state(KTAPE_EV_CONTENTION_BEGIN) != KTAPE_EVENT_AVAILABLE)
		SKIP(return, "no contention_begin");
	fd = kt_start_recording(
		KT_OPS(KTAPE_EV_CONTENTION_BEGIN, KTAPE_EV_CONTENTION_END));
	ASSERT_GE(fd, 0);
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < WAITS; i++) {
		ASSERT_EQ(0, start_writer(&holder, "hold", 'S'));
		ASSERT_EQ(0, start_writer(&waiter, "nothing", 'D'));
		pthread_kill(holder.thread, SIGUSR1);
		pthread_join(holder.thread, NULL);
		pthread_join(waiter.thread, NULL);
		ASSERT_EQ(0, holder.ret);
		ASSERT_EQ(0, waiter.ret);
	}
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		unsigned int k = 0;

		while (k < nr && known[k] != self->h.hit[i].args[0])
			k++;
		if (k == nr && nr < 1024)
			known[nr++] = self->h.hit[i].args[0];
	}
	for (unsigned int k = 0; k < nr; k++)
		locks += is_lock_waited_for(&self->h, known[k]);
	TH_LOG("%d records of %u locks", self->h.nr, nr);
	EXPECT_EQ(1, locks);
}

TEST_HARNESS_MAIN
