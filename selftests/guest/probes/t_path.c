// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test sys_path, which records the path that a system call opens or executes: for each such
 * call in both system call tables, complete, truncated, unreadable, and while another thread
 * changes it. A record must have bytes of the path only, and say if some are missing.
 */
#include "kselftest_harness.h"

#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "kt_ring.h"

#define LOAD_CPU   0
#define OURS	   "/ktape-path/" /* no such folder */
#define SHELL	   "/bin/./sh"	  /* as no other program writes it */
#define PATH_BYTES 256
#define COMPAT	   (1U << 16) /* of dat20: a call by the 32-bit table */
#define CUT	   (1U << 18) /* of dat20: the path is incomplete */
#define PATHS_MAX  256
#define TIMES	   5

/**
 * struct path - a record
 * @dat20: its 20-bit data
 * @enter: 20-bit data of the sys_enter that follows
 * @len: length of the path
 * @text: the path
 */
struct path {
	uint32_t dat20, enter, len;
	char text[PATH_BYTES + 1];
};

/* Memory that system calls read, below 4 GiB for the 32-bit ones. */
struct low {
	char path[2 * 4096]; /* the second page can be unmapped */
	uint32_t argv[2];    /* a pointer to @path, and NULL */
	struct open_how how;
};

/**
 * struct call - a system call with a path
 * @nr: its number
 * @compat: it is called by the 32-bit table
 * @arg: index of the path among its arguments
 * @next: what the argument behind the path is: a mode or flags, a struct open_how, or argv
 */
struct call {
	long nr;
	bool compat;
	int arg;
	enum { MODE, HOW, ARGV } next;
};

static const struct call native_calls[] = {
#ifdef SYS_open
	{ SYS_open, false, 0, MODE },	{ SYS_creat, false, 0, MODE },
#endif
	{ SYS_openat, false, 1, MODE }, { SYS_openat2, false, 1, HOW },
	{ SYS_execve, false, 0, ARGV }, { SYS_execveat, false, 1, ARGV },
};

/* Of 32-bit programs on x86. */
static const struct call compat_calls[] = {
	{ 5, true, 0, MODE },  { 8, true, 0, MODE },  { 295, true, 1, MODE },
	{ 437, true, 1, HOW }, { 11, true, 0, ARGV }, { 358, true, 1, ARGV },
};

static const struct call openat2_call = { SYS_openat2, false, 1, HOW };

/*
 * @low: what the system calls get
 * @paths: the records of paths, @nr of them
 * @pending: the one whose sys_enter has not come yet, -1 = none; only while the ring is walked
 */
FIXTURE(path)
{
	int main, fd;
	struct kt_map m;
	struct low *low;
	struct path *paths;
	long nr, pending;
};

FIXTURE_SETUP(path)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 1 << 20, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT, &self->m));
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
	self->low = mmap(NULL, sizeof(*self->low), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT | MAP_POPULATE,
			 -1, 0);
	ASSERT_NE(MAP_FAILED, self->low);
	self->low->argv[0] = (uint32_t)(uintptr_t)self->low->path;
	self->paths = calloc(PATHS_MAX, sizeof(*self->paths));
	ASSERT_NE(NULL, self->paths);
	/* A path is recorded before its sys_enter, though its probe is attached after that one. */
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_PATH, 0, 0));
}

FIXTURE_TEARDOWN(path)
{
	free(self->paths);
	close(self->fd);
	close(self->main);
}

#ifdef __x86_64__
static long call32(const struct call *c, const struct low *low, const void *p)
{
	uint32_t args[5] = {}, path = (uint32_t)(uintptr_t)p;
	uint32_t how = (uint32_t)(uintptr_t)&low->how;
	uint32_t argv = (uint32_t)(uintptr_t)low->argv;
	long ret = c->nr;

	args[0] = (uint32_t)AT_FDCWD;
	args[c->arg] = path;
	args[c->arg + 1] = c->next == HOW ? how : c->next == ARGV ? argv : 0;
	args[c->arg + 2] = c->next == HOW ? sizeof(low->how) : 0;
	__asm__ volatile("int $0x80"
			 : "+a"(ret)
			 : "b"(args[0]), "c"(args[1]), "d"(args[2]),
			   "S"(args[3]), "D"(args[4])
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}
#else
static long call32(const struct call *c, const struct low *low, const void *p)
{
	return -ENOSYS;
}
#endif

static long call64(const struct call *c, const struct low *low, const void *p)
{
	char *argv[] = { (char *)low->path, NULL }, *env[] = { NULL };
	long args[5] = {};

	args[0] = AT_FDCWD;
	args[c->arg] = (long)p;
	args[c->arg + 1] = c->next == HOW  ? (long)&low->how :
			   c->next == ARGV ? (long)argv :
					     0;
	args[c->arg + 2] = c->next == HOW  ? (long)sizeof(low->how) :
			   c->next == ARGV ? (long)env :
					     0;
	return syscall(c->nr, args[0], args[1], args[2], args[3], args[4]);
}

static void make_path_call(const struct call *c, const struct low *low,
			   const void *p)
{
	if (c->compat)
		call32(c, low, p);
	else
		call64(c, low, p);
}

static uint32_t path_call_bits(const struct call *c)
{
	return (uint32_t)c->nr | (c->compat ? COMPAT : 0);
}

/* Keep the records that may be ours. */
static void keep_path_record(const struct kt_rec *r, void *arg)
{
	FIXTURE_DATA(path) *self = arg;
	struct path *p = &self->paths[self->nr];

	if (r->op == KTAPE_EV_SYS_ENTER && self->pending >= 0) {
		self->paths[self->pending].enter = r->dat20;
		self->pending = -1;
	}
	if (r->op != KTAPE_EV_SYS_PATH || self->nr == PATHS_MAX ||
	    r->size > PATH_BYTES)
		return;
	p->dat20 = r->dat20;
	p->len = r->size;
	memcpy(p->text, r->blob, r->size);
	p->text[r->size] = '\0';
	if (r->size && strncmp(p->text, OURS, strlen(OURS)) &&
	    strcmp(p->text, SHELL) && p->text[0] != 'a')
		return;
	self->pending = self->nr++;
}

static void collect_paths(struct __test_metadata *_metadata, FIXTURE_DATA(path) * self)
{
	self->nr = 0;
	self->pending = -1;
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, self->m.page->tail);
	ASSERT_LE(0, kt_walk(&self->m, keep_path_record, self));
}

static void check_path_calls(struct __test_metadata *_metadata,
			     FIXTURE_DATA(path) * self,
			     const struct call *first, int nr)
{
	char must[64];

	for (int n = 0; n < TIMES; n++)
		for (int i = 0; i < nr; i++) {
			sprintf(self->low->path, OURS "%d/%d", n, i);
			make_path_call(&first[i], self->low, self->low->path);
			/* A call without a path, and one whose path is not recorded. */
			syscall(SYS_getppid);
			syscall(SYS_faccessat, AT_FDCWD, self->low->path, 0);
		}
	collect_paths(_metadata, self);
	ASSERT_EQ(TIMES * nr, self->nr);
	for (int i = 0; i < self->nr; i++) {
		const struct path *p = &self->paths[i];

		sprintf(must, OURS "%d/%d", i / nr, i % nr);
		EXPECT_STREQ(must, p->text);
		EXPECT_EQ(path_call_bits(&first[i % nr]), p->dat20);
		EXPECT_EQ(path_call_bits(&first[i % nr]), p->enter);
	}
}

TEST_F(path, each_call)
{
	check_path_calls(_metadata, self, native_calls, ARRAY_SIZE(native_calls));
}

TEST_F(path, each_call_of_the_32_bit_table)
{
	/* Without a 32-bit entry the instruction faults. */
	if (access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "kernel without 32-bit system calls");
	check_path_calls(_metadata, self, compat_calls, ARRAY_SIZE(compat_calls));
}

/* A path of 256 bytes or more is cut to so many. */
TEST_F(path, lengths)
{
	static const unsigned int len[] = { 1, 2, 7, 254, 255, 256, 257, 4000 };
	const struct call *c = &openat2_call;

	for (size_t i = 0; i < ARRAY_SIZE(len); i++) {
		memset(self->low->path, 'a', len[i]);
		self->low->path[len[i]] = '\0';
		make_path_call(c, self->low, self->low->path);
	}
	collect_paths(_metadata, self);
	ASSERT_EQ(ARRAY_SIZE(len), self->nr);
	for (size_t i = 0; i < ARRAY_SIZE(len); i++) {
		const struct path *p = &self->paths[i];
		bool cut = len[i] >= PATH_BYTES;

		EXPECT_EQ(cut ? PATH_BYTES : len[i], p->len);
		EXPECT_EQ(p->len, strspn(p->text, "a"));
		EXPECT_EQ(path_call_bits(c) | (cut ? CUT : 0), p->dat20);
	}
}

/* At the end of a page, with the next page mapped or unmapped. */
TEST_F(path, end_of_a_page)
{
	static const unsigned int before[] = { 1, 7, 8, 200, 255, 256, 257 };
	char *second = self->low->path + 4096;
	const struct call *c = &openat2_call;
	size_t n = ARRAY_SIZE(before);

	memset(self->low->path, 'a', sizeof(self->low->path));
	second[3] = '\0';
	for (size_t i = 0; i < n; i++)
		make_path_call(c, self->low, second - before[i]);
	second[-1] = '\0';
	for (int round = 0; round < 2; round++) {
		ASSERT_EQ(0, mprotect(second, 4096, PROT_NONE));
		for (size_t i = 0; i < n; i++)
			make_path_call(c, self->low, second - before[i]);
		second[-1] = 'a';
	}
	collect_paths(_metadata, self);
	/* One of them is the empty path, which is complete. */
	ASSERT_EQ(3 * n, self->nr);
	for (size_t i = 0; i < 3 * n; i++) {
		const unsigned int b = before[i % n];
		const unsigned int there = i < n     ? b + 3 :
					   i < 2 * n ? b - 1 :
						       b;
		const bool cut = i < 2 * n ? there >= PATH_BYTES : true;
		const struct path *p = &self->paths[i];

		EXPECT_EQ(there < PATH_BYTES ? there : PATH_BYTES, p->len)
		{
			TH_LOG("%zu: %u bytes before the end", i, b);
		}
		EXPECT_EQ(p->len, strspn(p->text, "a"));
		EXPECT_EQ(path_call_bits(c) | (cut ? CUT : 0), p->dat20);
	}
}

/* Unreadable paths, one of them in a page that was not touched yet: no bytes, and marked as cut. */
TEST_F(path, unreadable)
{
	const void *fresh =
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const void *bad[] = { NULL,
			      (void *)1,
			      (void *)-1L,
			      (void *)-4096L,
			      (void *)(uintptr_t)(1ULL << 63),
			      (void *)(uintptr_t)0x7ffffffff000ULL,
			      fresh };
	const struct call *c = &openat2_call;

	ASSERT_NE(MAP_FAILED, fresh);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		make_path_call(c, self->low, bad[i]);
	collect_paths(_metadata, self);
	ASSERT_EQ(ARRAY_SIZE(bad), self->nr);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(0, self->paths[i].len);
		EXPECT_EQ(path_call_bits(c) | CUT, self->paths[i].dat20);
	}
}

/* ---- another thread changes the path meanwhile ----------------------------- */

#define BATCHES 200
#define BATCH	10
#define BEFORE	100 /* bytes of the path in the first page */
#define AREA	700 /* bytes that change, more than are recorded */

/**
 * struct changer - the thread that changes the path
 * @low: the memory of the path
 * @changes: number of changes so far
 * @ends: set by the test to end the thread
 * @failed: one of its calls has failed
 */
struct changer {
	struct low *low;
	atomic_long changes;
	atomic_bool ends;
	bool failed;
};

/*
 * Write one letter or another, with the end of the path at any place or beyond what is
 * recorded, and take the second page away and give it back, or free it.
 */
static void *change_path_bytes(void *arg)
{
	struct changer *c = arg;
	char *second = c->low->path + 4096;
	unsigned int seed = 1;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		c->failed = kt_pin(LOAD_CPU + 1);
	while (!atomic_load(&c->ends)) {
		long n = atomic_load(&c->changes);

		memset(second - BEFORE, n & 1 ? 'a' : 'b', AREA);
		second[-BEFORE + rand_r(&seed) % AREA] = '\0';
		if (n % 4 == 2)
			c->failed |= madvise(second, 4096, MADV_DONTNEED);
		if (n % 4 == 3)
			c->failed |= mprotect(second, 4096, PROT_NONE) ||
				     mprotect(second, 4096, PROT_READ | PROT_WRITE);
		atomic_fetch_add(&c->changes, 1);
		kt_pause();
	}
	return NULL;
}

/* Records of paths: complete, cut, with both letters, with anything else. */
struct changed {
	long whole, cut, mixed, wrong;
};

/* A path must have letters only: no NUL inside, and nothing that the thread did not write. */
static void count_changed(const struct kt_rec *r, void *arg)
{
	struct changed *seen = arg;
	uint32_t letters = 0;

	if (r->op != KTAPE_EV_SYS_PATH || (r->dat20 & ~CUT) != SYS_openat2)
		return;
	while (letters < r->size &&
	       (r->blob[letters] == 'a' || r->blob[letters] == 'b'))
		letters++;
	seen->wrong += letters != r->size || r->size > PATH_BYTES ||
		       (!(r->dat20 & CUT) && r->size == PATH_BYTES);
	seen->mixed += r->size && memchr(r->blob, 'a', r->size) &&
		       memchr(r->blob, 'b', r->size);
	if (r->dat20 & CUT)
		seen->cut++;
	else
		seen->whole++;
}

/*
 * Where CPUs take turns, most changes come between two calls.  Where they run at once
 * (KTAPE_PARALLEL), some texts have both letters, unless other busy tasks leave the two
 * threads no time together.
 */
TEST_F(path, changed_meanwhile)
{
	struct changer c = { .low = self->low };
	struct changed seen = {};
	pthread_t thread;

	/* Nothing else may fill the ring. */
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_PATH, 0, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_path_bytes, &c));
	for (int i = 0; i < BATCHES; i++) {
		long before = atomic_load(&c.changes);

		while (atomic_load(&c.changes) == before)
			usleep(100);
		for (int n = 0; n < BATCH; n++)
			make_path_call(&openat2_call, self->low,
				       self->low->path + 4096 - BEFORE);
	}
	atomic_store(&c.ends, true);
	pthread_join(thread, NULL);
	EXPECT_FALSE(c.failed);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, self->m.page->tail);
	ASSERT_LE(0, kt_walk(&self->m, count_changed, &seen));
	TH_LOG("%ld whole, %ld cut, %ld with both letters, %ld changes",
	       seen.whole, seen.cut, seen.mixed, (long)atomic_load(&c.changes));
	EXPECT_EQ(BATCHES * BATCH, seen.whole + seen.cut);
	EXPECT_EQ(0, seen.wrong);
	EXPECT_LT(0, seen.whole);
	EXPECT_LT(0, seen.cut);
	EXPECT_TRUE(seen.mixed || !getenv("KTAPE_PARALLEL") || kt_is_busy());
}

/*
 * In a child, an execve() that fails, and then one that succeeds, which leaves nothing of the
 * memory with the path.
 */
TEST_F(path, exec)
{
	/*
	 * On the stack, because pages that a child has not touched yet may be
	 * missing.
	 */
	char shell[] = SHELL;
	char path[] = OURS "../bin/sh";
	int status;
	pid_t pid;

	for (int i = 0; i < TIMES; i++) {
		pid = fork();
		if (!pid) {
			char *argv[] = { path, "-c", "exit 7", NULL };

			execve(path, argv, NULL);
			execve(shell, argv, NULL);
			_exit(1);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(7, WEXITSTATUS(status));
	}
	collect_paths(_metadata, self);
	ASSERT_EQ(2 * TIMES, self->nr);
	for (int i = 0; i < 2 * TIMES; i++) {
		EXPECT_STREQ(i % 2 ? shell : path, self->paths[i].text);
		EXPECT_EQ(SYS_execve, self->paths[i].dat20);
		EXPECT_EQ(SYS_execve, self->paths[i].enter);
	}
}

TEST_HARNESS_MAIN
