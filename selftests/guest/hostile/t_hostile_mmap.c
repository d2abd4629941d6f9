// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map, unmap, protect, advise, move, lock, fork, read from outside and fault by
 * userfaultfd, in random order and with random ranges.  Whatever the kernel allows:
 * nothing becomes writable or executable, no byte beyond a region is seen, what is
 * mapped equals what is in the ring, and at the end no page is mapped any more.  What the
 * test has mapped and found is in @st of kt_held.h.
 */
#include <linux/userfaultfd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_held.h"
#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_peer.h"
#include "kt_ring.h"

#define RING	  (16 * PAGE)
#define TRIES	  4000
#define PAGES_MAX 4096

static uint64_t seed;
static struct kt_peer peer;
/* Pages that a process has read of another one; not each kernel has both calls. */
static long by_vm, by_mem;

/* ---- what is tried ------------------------------------------------------------ */

static void *range_of(const struct held *h, size_t *size)
{
	size_t pages = h->size / PAGE, from = 0;

	*size = h->size;
	if (lcg_below(&seed, 3)) {
		from = lcg_below(&seed, pages);
		*size = (1 + lcg_below(&seed, pages - from)) * PAGE;
	}
	return h->p + from * PAGE;
}

static void try_map_flags(struct held *h)
{
	static const int flags[] = {
		MAP_SHARED,
		MAP_SHARED | MAP_POPULATE,
		MAP_SHARED | MAP_NORESERVE,
		MAP_SHARED | MAP_LOCKED,
		MAP_SHARED | MAP_32BIT,
		MAP_SHARED_VALIDATE,
		MAP_SHARED_VALIDATE | MAP_SYNC,
		MAP_SHARED | MAP_HUGETLB,
		MAP_SHARED | MAP_GROWSDOWN,
		MAP_PRIVATE,
		MAP_PRIVATE | MAP_POPULATE,
	};
	const struct ktape_layout_entry *e = &st.e[lcg_below(&seed, st.l.nr)];
	size_t size = (1 + lcg_below(&seed, 20)) * PAGE;
	uint64_t off = e->offset + lcg_below(&seed, 40) * PAGE;
	int prot = lcg_below(&seed, 2) ? PROT_READ : (int)lcg_below(&seed, 8);
	int flag = flags[lcg_below(&seed, ARRAY_SIZE(flags))];
	void *p;

	if (!lcg_below(&seed, 8))
		off = kt_extreme(&seed) & ~(PAGE - 1);
	if (!lcg_below(&seed, 8))
		size = kt_extreme(&seed);
	p = mmap(NULL, size, prot, flag, st.fd, off);
	if (p == MAP_FAILED)
		return;
	st.allowed++;
	size = (size + PAGE - 1) & ~(PAGE - 1);
	if (prot & (PROT_WRITE | PROT_EXEC) || (flag & MAP_TYPE) == MAP_PRIVATE)
		note_mapping_error("mmap with protection %d and flags %#x",
				   prot, flag);
	if (!content_at(off) || !content_at(off + size - PAGE))
		note_mapping_error("mmap of %zu bytes at %#llx", size,
				   (unsigned long long)off);
	/* Only what can be read is kept. */
	if (prot == PROT_NONE && mprotect(p, size, PROT_READ))
		note_mapping_error("PROT_NONE is forever");
	*h = (struct held){ p, size, off };
}

static void try_protect(const struct held *h)
{
	int prot = lcg_below(&seed, 8);
	size_t size;
	void *p = range_of(h, &size);

	if (mprotect(p, size, prot))
		return;
	st.allowed++;
	if (prot & (PROT_WRITE | PROT_EXEC))
		note_mapping_error("mprotect(%d)", prot);
	if (mprotect(p, size, PROT_READ))
		note_mapping_error("mprotect(%d) is forever", prot);
}

static void try_advice(const struct held *h)
{
	/* Poisoning (100, 101) would offline pages of the machine. */
	int advice = lcg_below(&seed, 30);
	size_t size;
	void *p = range_of(h, &size);

	if (madvise(p, size, advice))
		return;
	st.allowed++;
	if (advice == MADV_REMOVE || advice == MADV_FREE || advice == MADV_DODUMP ||
	    advice == MADV_POPULATE_WRITE || advice == MADV_WIPEONFORK)
		note_mapping_error("madvise(%d)", advice);
}

static void try_move(struct held *h)
{
	static const int flags[] = {
		0,
		MREMAP_MAYMOVE,
		MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
	};
	size_t old, size = lcg_below(&seed, 2) ? h->size :
						 lcg_below(&seed, 40) * PAGE;
	void *from = range_of(h, &old);
	int flag = flags[lcg_below(&seed, ARRAY_SIZE(flags))];
	void *p = mremap(from, old, size, flag);

	if (p == MAP_FAILED)
		return;
	st.allowed++;
	/* Nothing has changed. */
	if (p == from && size == old)
		return;
	/* With DONTUNMAP the old place stays, so that a part may get a second one. */
	if (flag & MREMAP_DONTUNMAP) {
		if (old != size)
			note_mapping_error("mremap() of %zu bytes to %zu", old,
					   size);
		check_mapped_page(&(struct held){ p, size,
						  h->off + ((char *)from - h->p) },
				  0, p);
		munmap(p, size);
		return;
	}
	if (from != h->p || old != h->size || size != h->size)
		note_mapping_error("mremap() of %zu of %zu bytes to %zu", old,
				   h->size, size);
	h->p = p;
}

static void try_unmap(struct held *h)
{
	size_t size;
	void *p = range_of(h, &size);

	if (munmap(p, size))
		return;
	st.allowed++;
	if (size != h->size)
		note_mapping_error("munmap() of %zu of %zu bytes", size, h->size);
	h->p = NULL;
}

/* A mapping over a part of @h would split it and is refused; one over all of it replaces it. */
static void try_over(struct held *h)
{
	size_t size;
	void *p = range_of(h, &size);

	if (mmap(p, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		return;
	st.allowed++;
	if (size != h->size)
		note_mapping_error("mapped over %zu of %zu bytes", size, h->size);
	munmap(p, size);
	h->p = NULL;
}

/* Check what a process saw of the page at @at of a mapping of another one. */
static void check_look(const struct held *h, size_t at, const struct kt_look *l,
		       const char *who)
{
	st.allowed += l->vm_read;
	if (l->vm_read)
		check_mapped_page(h, at, l->by_vm);
	if (l->mem_read)
		check_mapped_page(h, at, l->by_mem);
	if (l->wrote)
		note_mapping_error("%s writes to it", who);
	by_vm += l->vm_read;
	by_mem += l->mem_read;
}

/*
 * Another process reads this mapping from outside, and this one a mapping of the same range
 * that the other one has.  Neither may write.
 */
static void try_from_outside(const struct held *h)
{
	size_t at = lcg_below(&seed, h->size / PAGE) * PAGE;
	static struct kt_look look;
	char *theirs;

	if (!kt_peer_look(&peer, h->p + at, &look)) {
		note_mapping_error("the other process has ended");
		return;
	}
	check_look(h, at, &look, "another process");
	theirs = kt_peer_map(&peer, h->off, h->size);
	if (!theirs) {
		note_mapping_error("another process cannot map %zu bytes at %#llx",
				   h->size, (unsigned long long)h->off);
		return;
	}
	kt_look_at(peer.pid, theirs + at, &look);
	check_look(h, at, &look, "this process");
}

/* A tracer peeks at a child that has a mapping of its own, and pokes. */
static void try_tracer(const struct held *h)
{
	size_t at = lcg_below(&seed, h->size / 8) * 8;
	const char *is;
	pid_t pid = fork();
	int status;
	long word;

	if (pid < 0)
		return;
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		/* At the same place, which was not inherited. */
		if (mmap(h->p, h->size, PROT_READ, MAP_SHARED | MAP_FIXED,
			 st.fd, h->off) != h->p)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, pid, h->p + at, 0);
		is = content_at(h->off + at);
		st.allowed += !errno;
		/* The last region, the registry, changes meanwhile. */
		if (!errno && is && h->off + at < st.e[st.l.nr - 1].offset &&
		    memcmp(&word, is, sizeof(word)))
			note_mapping_error("peeked at other bytes");
		if (!ptrace(PTRACE_POKEDATA, pid, h->p + at, 1L))
			note_mapping_error("poked");
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* A child inherits what MADV_DOFORK allows, and ends by exec, exit or a signal. */
static void try_fork(const struct held *h)
{
	int how = lcg_below(&seed, 4);
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		unsigned char vec[HELD_PAGES];

		if (!mincore(h->p, PAGE, vec)) {
			if (how == 1)
				munmap(h->p, h->size);
			else if (mprotect(h->p, h->size, PROT_READ | PROT_WRITE) == 0)
				_exit(9);
		}
		if (how == 2)
			execl("/bin/busybox", "true", NULL);
		if (how == 3)
			raise(SIGKILL);
		_exit(0);
	}
	if (waitpid(pid, &how, 0) == pid && WIFEXITED(how) && WEXITSTATUS(how) == 9)
		note_mapping_error("writable in a child");
	st.allowed++;
}

/* With userfaultfd a process would decide which bytes a page fault finds in the mapping. */
static void try_userfault(const struct held *h)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = {
		.range = { (uintptr_t)h->p, h->size },
		.mode = 1U << lcg_below(&seed, 3),
	};
	int u = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (u < 0)
		return;
	if (!ioctl(u, UFFDIO_API, &api)) {
		st.watched++;
		if (!ioctl(u, UFFDIO_REGISTER, &r))
			note_mapping_error("userfaultfd, mode %llu",
					   (unsigned long long)r.mode);
	}
	close(u);
}

static void try_lock(const struct held *h)
{
	size_t size;
	void *p = range_of(h, &size);

	/* A lock of a part would split the mapping and is refused; of all of it, it is allowed. */
	if (!mlock(p, size)) {
		st.allowed++;
		munlock(p, size);
	}
	msync(p, size, lcg_below(&seed, 8));
}

static void try_one(void)
{
	struct held *h = &st.held[lcg_below(&seed, MAPS)];
	size_t at;

	st.tries++;
	if (!h->p) {
		try_map_flags(h);
		return;
	}
	switch (lcg_below(&seed, 40)) {
	case 0 ... 5:
		try_protect(h);
		break;
	case 6 ... 13:
		try_advice(h);
		break;
	case 14 ... 19:
		try_move(h);
		break;
	case 20 ... 24:
		try_unmap(h);
		break;
	case 25 ... 27:
		try_over(h);
		break;
	case 28 ... 31:
		try_from_outside(h);
		break;
	case 32:
		if (!lcg_below(&seed, 4))
			try_tracer(h);
		break;
	case 33:
		if (!lcg_below(&seed, 2))
			try_fork(h);
		break;
	case 34:
		try_userfault(h);
		break;
	case 35:
		check_held(h);
		break;
	case 36 ... 37:
		try_lock(h);
		break;
	default:
		at = lcg_below(&seed, h->size / PAGE) * PAGE;
		check_mapped_page(h, at, h->p + at);
	}
}

/* ---- pages ---------------------------------------------------------------------- */

/**
 * struct frames - the pages of all rings
 * @map: descriptor of /proc/self/pagemap
 * @count: descriptor of /proc/kpagecount
 * @nr: number of pages
 * @number: their page frame numbers
 */
struct frames {
	int map, count, nr;
	uint64_t number[PAGES_MAX];
};

static void add_page_frame(struct frames *f, const void *p)
{
	uint64_t entry = 0;

	if (f->nr < PAGES_MAX &&
	    pread(f->map, &entry, 8, (uintptr_t)p / PAGE * 8) == 8 && entry >> 63)
		f->number[f->nr++] = entry & ((1ULL << 55) - 1);
}

/* Return how many pages are not mapped exactly @times times. */
static long not_mapped(const struct frames *f, uint64_t times)
{
	uint64_t n;
	long bad = 0;

	for (int i = 0; i < f->nr; i++)
		bad += pread(f->count, &n, 8, f->number[i] * 8) != 8 || n != times;
	return bad;
}

FIXTURE(hostile)
{
	int dev;
};

FIXTURE_SETUP(hostile)
{
	self->dev = kt_open(O_RDWR);
	st.fd = kt_session(KTAPE_MODE_OVERWRITE, RING, PAGE,
			   KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
	ASSERT_LE(0, st.fd);
	ASSERT_EQ(0, kt_control(st.fd, KTAPE_IOC_START));
	kt_getppids(20000);
	ASSERT_EQ(0, kt_control(st.fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_layout(st.fd, &st.l, st.e, KT_REGIONS_MAX));
	for (__u32 i = 0; i < st.l.nr; i++) {
		st.copy[i] = mmap(NULL, region_size(&st.e[i]), PROT_READ,
				  MAP_SHARED, st.fd, st.e[i].offset);
		ASSERT_NE(MAP_FAILED, st.copy[i]);
	}
}

FIXTURE_TEARDOWN(hostile)
{
	close(st.fd);
	close(self->dev);
}

TEST_F_TIMEOUT(hostile, mappings, 3600)
{
	long tries = kt_tries(TRIES);
	struct frames f = {
		.map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
		.count = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC),
	};

	seed = kt_seed();
	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
	ASSERT_EQ(0, kt_peer_start(&peer, st.fd));
	while (st.tries < tries && !st.wrong[0])
		try_one();
	EXPECT_EQ(0, kt_peer_end(&peer));
	EXPECT_STREQ("", st.wrong);
	for (int i = 0; i < MAPS; i++)
		if (st.held[i].p) {
			check_held(&st.held[i]);
			EXPECT_EQ(0, munmap(st.held[i].p, st.held[i].size));
		}
	EXPECT_STREQ("", st.wrong);
	/*
	 * Only the mapping of the whole region is left, then none.  The registry, the last
	 * region, is not of this session alone.
	 */
	for (__u32 i = 0; i + 1 < st.l.nr; i++) {
		for (size_t at = 0; at < region_size(&st.e[i]); at += PAGE) {
			(void)*(volatile char *)(st.copy[i] + at);
			add_page_frame(&f, st.copy[i] + at);
		}
	}
	EXPECT_EQ(0, not_mapped(&f, 1));
	for (__u32 i = 0; i < st.l.nr; i++)
		EXPECT_EQ(0, munmap(st.copy[i], region_size(&st.e[i])));
	EXPECT_EQ(0, not_mapped(&f, 0));
	TH_LOG("%ld tries, %ld allowed, %ld with userfaultfd; read from outside: %ld by process_vm_readv(), %ld by /proc/PID/mem; %d pages counted",
	       st.tries, st.allowed, st.watched, by_vm, by_mem, f.nr);
	EXPECT_LT(0, st.allowed);
	EXPECT_LT(0, by_vm + by_mem);
	close(f.map);
	close(f.count);
}

TEST_HARNESS_MAIN
