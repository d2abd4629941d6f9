// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test mappings: what is refused when mapping and afterwards, what a fork
 * inherits, and that a mapping keeps session and module alive.
 */
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_module.h"
#include "kt_ring.h"

#define PAGE	 4096UL
#define RING	 (16 * PAGE)
#define CHILDREN 200

FIXTURE(mapping)
{
	int main;
	int fd;
	struct ktape_layout l;
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	struct kt_map m; /* event ring of CPU 0, with records */
};

FIXTURE_SETUP(mapping)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, 0, RING, PAGE);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_layout(self->fd, &self->l, self->e, KT_REGIONS_MAX));
	ASSERT_EQ(0, kt_map_ring(self->fd, 0, KTAPE_RING_EVENT, &self->m));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT, 0));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(1000);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_LT(0, kt_walk(&self->m, NULL, NULL));
}

FIXTURE_TEARDOWN(mapping)
{
	close(self->fd);
	close(self->main);
}

static int map_and_unmap(int fd, uint64_t off, size_t len, int prot, int flags)
{
	void *p = mmap(NULL, len, prot, flags, fd, off);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, len);
	return 0;
}

/* ---- mapping ----------------------------------------------------------- */

/* A region can be mapped shared only, and neither writable nor executable. */
TEST_F(mapping, kinds)
{
	static const struct {
		int prot, flags, want;
	} vector[] = {
		{ PROT_READ, MAP_SHARED, 0 },
		{ PROT_READ, MAP_SHARED | MAP_POPULATE, 0 },
		{ PROT_READ, MAP_SHARED_VALIDATE, 0 },
		{ PROT_NONE, MAP_SHARED, 0 },
		{ PROT_WRITE, MAP_SHARED, -EPERM },
		{ PROT_EXEC, MAP_SHARED, -EPERM },
		{ PROT_READ | PROT_WRITE, MAP_SHARED, -EPERM },
		{ PROT_READ | PROT_EXEC, MAP_SHARED, -EPERM },
		{ PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, -EPERM },
		{ PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE, -EPERM },
		{ PROT_READ, MAP_PRIVATE, -EINVAL },
		{ PROT_NONE, MAP_PRIVATE, -EINVAL },
		{ PROT_READ | PROT_WRITE, MAP_PRIVATE, -EPERM },
		{ PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, -EOPNOTSUPP },
	};

	for (__u32 r = 0; r < self->l.nr; r++) {
		const struct ktape_layout_entry *e = &self->e[r];

		for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
			EXPECT_EQ(vector[i].want,
				  map_and_unmap(self->fd, e->offset,
						e->ctl_size + e->data_size,
						vector[i].prot, vector[i].flags))
			{
				TH_LOG("region %u vector %zu", r, i);
			}
		}
	}
}

/*
 * Return true if [first, first + count), in pages of the file, lies within one
 * region.
 */
static bool inside(const struct ktape_layout *l, const struct ktape_layout_entry *e,
		   uint64_t first, uint64_t count)
{
	for (__u32 r = 0; r < l->nr; r++) {
		uint64_t begin = e[r].offset / PAGE;
		uint64_t end = begin + (e[r].ctl_size + e[r].data_size) / PAGE;

		if (first >= begin && first < end && count <= end - first)
			return true;
	}
	return false;
}

/*
 * Every part of a region can be mapped, and nothing else. On a slow kernel
 * there are fewer lengths, but still each end of a region with 1, 2 and 3
 * pages.
 */
TEST_F_TIMEOUT(mapping, every_offset_and_length, 300)
{
	const uint64_t steps = kt_scale() > 1 ? 3 : 18;
	const struct ktape_layout_entry *last = &self->e[self->l.nr - 1];
	uint64_t end = (last->offset + last->data_size) / PAGE + 3;
	int want;

	for (uint64_t off = 0; off < end; off++) {
		for (uint64_t len = 1; len < 70; len += 1 + len / steps) {
			want = inside(&self->l, self->e, off, len) ? 0 : -EINVAL;
			EXPECT_EQ(want, map_and_unmap(self->fd, off * PAGE, len * PAGE,
						      PROT_READ, MAP_SHARED))
			{
				TH_LOG("page %lu, %lu pages", off, len);
			}
		}
	}
}

TEST_F(mapping, far_offsets_and_lengths)
{
	static const uint64_t far[] = {
		1ULL << 31,	    1ULL << 32, 1ULL << 44,
		1ULL << 52,	    1ULL << 62, 0x7fffffff00000000,
		0x7ffffffffffff000, 1ULL << 63, 0xffffffff00000000,
		0xfffffffffffff000,
	};
	static const size_t lengths[] = {
		PAGE,
		2 * PAGE,
		1UL << 30,
		SIZE_MAX >> (sizeof(size_t) == 8 ? 18 : 1),
	};

	for (size_t i = 0; i < ARRAY_SIZE(far); i++)
		for (size_t j = 0; j < ARRAY_SIZE(lengths); j++)
			EXPECT_GT(0, map_and_unmap(self->fd, far[i], lengths[j],
						   PROT_READ, MAP_SHARED));
	for (size_t j = 2; j < ARRAY_SIZE(lengths); j++)
		EXPECT_GT(0, map_and_unmap(self->fd, 0, lengths[j], PROT_READ,
					   MAP_SHARED));
	EXPECT_EQ(-EINVAL, map_and_unmap(self->fd, 0, 0, PROT_READ, MAP_SHARED));
	EXPECT_EQ(-EINVAL, map_and_unmap(self->fd, 1, PAGE, PROT_READ, MAP_SHARED));
	/* Across the end of each region, into the next one. */
	for (__u32 r = 0; r < self->l.nr; r++) {
		const struct ktape_layout_entry *e = &self->e[r];
		size_t size = e->ctl_size + e->data_size;

		EXPECT_EQ(-EINVAL, map_and_unmap(self->fd, e->offset, size + 1,
						 PROT_READ, MAP_SHARED));
		EXPECT_EQ(-EINVAL, map_and_unmap(self->fd, e->offset + size,
						 PAGE, PROT_READ, MAP_SHARED));
		if (r + 1 < self->l.nr)
			EXPECT_EQ(-EINVAL,
				  map_and_unmap(self->fd, e->offset,
						e[1].offset - e->offset + PAGE,
						PROT_READ, MAP_SHARED));
	}
}

/* ---- with a mapping ---------------------------------------------------- */

TEST_F(mapping, cannot_be_changed)
{
	char *page = (char *)self->m.page;
	size_t size = self->m.size;
	const struct {
		size_t off, len;
		int prot;
		int want;
	} vector[] = {
		{ 0, size, PROT_READ | PROT_WRITE, EACCES },
		{ 0, size, PROT_WRITE, EACCES },
		{ 0, size, PROT_READ | PROT_EXEC, EACCES },
		{ 0, size, PROT_EXEC, EACCES },
		{ 0, PAGE, PROT_READ | PROT_WRITE, EACCES },
		{ PAGE, PAGE, PROT_READ | PROT_EXEC, EACCES },
		{ 0, PAGE, PROT_NONE, EINVAL },
		{ PAGE, PAGE, PROT_NONE, EINVAL },
		{ size - PAGE, PAGE, PROT_NONE, EINVAL },
	};

	/* EINVAL: the mapping would have to be split. */
	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		EXPECT_EQ(-1, mprotect(page + vector[i].off, vector[i].len,
				       vector[i].prot))
		{
			TH_LOG("vector %zu", i);
		}
		EXPECT_EQ(vector[i].want, errno);
	}
	EXPECT_EQ(0, mprotect(page, size, PROT_NONE));
	EXPECT_EQ(0, mprotect(page, size, PROT_READ));
	EXPECT_LT(0, kt_walk(&self->m, NULL, NULL));
}

/* Ways in which a debugger writes in spite of a mapping's protection: all must fail. */
TEST_F(mapping, no_indirect_writes)
{
	struct ktape_ring_page before = *self->m.page;
	struct iovec from = { &before, 64 }, to = { self->m.page, 64 };
	char junk[64] = "junk";
	int status, mem = open("/proc/self/mem", O_RDWR);
	pid_t pid;

	ASSERT_LE(0, mem);
	for (size_t off = 0; off < self->m.size; off += PAGE)
		EXPECT_EQ(-1, pwrite(mem, junk, sizeof(junk),
				     (uintptr_t)self->m.page + off));
	close(mem);
	from.iov_base = junk;
	EXPECT_EQ(-1, process_vm_writev(getpid(), &from, 1, &to, 1, 0));
	/* A child process that is traced. */
	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0) {
		struct kt_map m;

		ptrace(PTRACE_TRACEME, 0, 0, 0);
		if (kt_map_ring(self->fd, 0, KTAPE_RING_EVENT, &m))
			_exit(1);
		/* The parent peeks at it: @junk is at the same address in both processes. */
		*(struct ktape_ring_page **)junk = m.page;
		raise(SIGSTOP);
		_exit(memcmp(m.page, &before, sizeof(before)) != 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	errno = 0;
	to.iov_base = (void *)ptrace(PTRACE_PEEKDATA, pid, junk, 0);
	EXPECT_EQ(0, errno);
	EXPECT_EQ(-1, ptrace(PTRACE_POKEDATA, pid, to.iov_base, 0x1234));
	EXPECT_EQ(0, ptrace(PTRACE_CONT, pid, 0, 0));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, memcmp(self->m.page, &before, sizeof(before)));
}

/*
 * Before 5.11 mremap() of a part asked the module only after the move, and then
 * kept the part in both places: a second mapping of the same page of the file.
 */
static bool part_can_be_doubled(void)
{
	return kt_kernel_is_before(5, 11);
}

/*
 * No part can be unmapped, replaced, moved (but see part_can_be_doubled()) or advised, and the
 * whole can be neither resized nor doubled.
 */
TEST_F(mapping, is_not_split)
{
	char *page = (char *)self->m.page;
	size_t size = self->m.size;
	void *over, *to;

	for (size_t off = 0; off < size; off += PAGE)
		EXPECT_EQ(-1, munmap(page + off, PAGE));
	EXPECT_EQ(-1, munmap(page + PAGE, size - PAGE));
	EXPECT_EQ(-1, munmap(page, size - PAGE));
	EXPECT_EQ(MAP_FAILED, mremap(page, size, 2 * size, 0));
	EXPECT_EQ(MAP_FAILED, mremap(page, size, 2 * size, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(page, size, size - PAGE, 0));
	EXPECT_EQ(MAP_FAILED, mremap(page, size, PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(page, 0, size, MREMAP_MAYMOVE));
	to = mremap(page + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		    page + size + (1 << 20));
	if (to != MAP_FAILED && part_can_be_doubled()) {
		EXPECT_EQ(0, memcmp(to, page + PAGE, PAGE));
		EXPECT_EQ(-1, mprotect(to, PAGE, PROT_READ | PROT_WRITE));
		EXPECT_EQ(0, munmap(to, PAGE));
	} else {
		EXPECT_EQ(MAP_FAILED, to);
	}
	over = mmap(page + PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT_EQ(MAP_FAILED, over);
	EXPECT_EQ(-1, madvise(page + PAGE, PAGE, MADV_RANDOM));
	EXPECT_LT(0, kt_walk(&self->m, NULL, NULL));
}

/* The whole mapping can be moved, and is as protected there. */
TEST_F(mapping, moves)
{
	size_t size = self->m.size;
	long n = kt_walk(&self->m, NULL, NULL);
	char *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *from = self->m.page;

	ASSERT_NE(MAP_FAILED, to);
	ASSERT_EQ(to, mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	self->m.page = (void *)to;
	self->m.data = to + PAGE;
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
	EXPECT_EQ(-1, mprotect(to, size, PROT_READ | PROT_WRITE));
	EXPECT_EQ(-1, munmap(to + PAGE, PAGE));
	EXPECT_EQ(0, munmap(to, size));
}

/* madvise() is refused or harmless. */
TEST_F(mapping, advice)
{
	long n = kt_walk(&self->m, NULL, NULL);
	const int refused[] = { MADV_FREE, MADV_REMOVE, MADV_DODUMP,
				MADV_POPULATE_WRITE, MADV_WIPEONFORK };

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		EXPECT_EQ(-1, madvise(self->m.page, self->m.size, refused[i]))
		{
			TH_LOG("advice %d", refused[i]);
		}
	}
	/*
	 * All up to MADV_COLLAPSE (25), refused or not. MADV_DODUMP is refused above, MADV_DOFORK
	 * has a test of its own.
	 */
	for (int advice = 0; advice < 26; advice++) {
		if (advice == MADV_DODUMP || advice == MADV_DOFORK)
			continue;
		madvise(self->m.page, self->m.size, advice);
		ASSERT_EQ(n, kt_walk(&self->m, NULL, NULL))
		{
			TH_LOG("advice %d", advice);
		}
	}
	EXPECT_EQ(0, mlock(self->m.page, self->m.size));
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
	EXPECT_EQ(0, munlock(self->m.page, self->m.size));
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
}

/*
 * The mapping is not dumped (dd), not inherited (dc), does not grow (de), and is never writable
 * (wr, mw) nor executable (ex, me). It has struct pages, so it is neither io nor pf.
 */
TEST_F(mapping, flags)
{
	static const char *const want[] = { " rd ", " sh ", " dd ", " de ", " dc " };
	static const char *const without[] = { " wr ", " mw ", " ex ",
					       " me ", " io ", " pf " };
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512], range[40];
	bool ours = false;

	ASSERT_NE(NULL, f);
	snprintf(range, sizeof(range), "%lx-", (unsigned long)self->m.page);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, range) == line)
			ours = true;
		if (ours && !strncmp(line, "VmFlags:", 8))
			break;
	}
	fclose(f);
	ASSERT_EQ(0, strncmp(line, "VmFlags:", 8));
	line[strcspn(line, "\n")] = ' ';
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		EXPECT_NE(NULL, strstr(line, want[i]))
		{
			TH_LOG("%s", line);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		EXPECT_EQ(NULL, strstr(line, without[i]))
		{
			TH_LOG("%s", line);
		}
	}
}

/* ---- references ---------------------------------------------------- */

/* In a child: read the inherited mapping, end it in one of four ways, and exit. */
static void end_mapping_in_child(struct kt_map *m, long n, int how)
{
	if (kt_walk(m, NULL, NULL) != n)
		_exit(1);
	if (how % 4 == 0)
		kt_unmap_ring(m);
	if (how % 4 == 1)
		madvise(m->page, m->size, MADV_DONTNEED);
	if (how % 4 == 2)
		execl("/bin/true", "true", NULL);
	if (how % 4 == 3)
		raise(SIGKILL);
	_exit(0);
}

TEST_F_TIMEOUT(mapping, forks, 120)
{
	long users = kt_module_users(), n = kt_walk(&self->m, NULL, NULL);
	unsigned char vec[64];
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (pid == 0)
		_exit(mincore(self->m.page, PAGE, vec) == 0 || errno != ENOMEM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	if (madvise(self->m.page, self->m.size, MADV_DOFORK))
		SKIP(return, "this kernel refuses MADV_DOFORK");
	for (int i = 0; i < CHILDREN / kt_scale(); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (pid == 0)
			end_mapping_in_child(&self->m, n, i);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(i % 4 == 3 ? SIGKILL : 0, status);
	}
	EXPECT_EQ(users, kt_module_users());
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
}

/*
 * Fork. Return: 0: the child has the mapping, with @n records and not writable; 1: it has
 * none; 2: it has a wrong one; -1: no child, or it crashed.
 */
static int fork_and_check_mapping(struct kt_map *m, long n)
{
	unsigned char vec[64];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (mincore(m->page, PAGE, vec))
			_exit(errno == ENOMEM ? 1 : 2);
		_exit(kt_walk(m, NULL, NULL) == n &&
				      mprotect(m->page, PAGE, PROT_WRITE) ?
			      0 :
			      2);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The parent's last madvise() says whether a child inherits the mapping, which stays whole. */
TEST_F(mapping, dontfork_and_dofork)
{
	static const struct {
		int advice, want;
	} v[] = {
		{ MADV_DONTFORK, 1 }, { MADV_DOFORK, 0 },   { MADV_DOFORK, 0 },
		{ MADV_DONTFORK, 1 }, { MADV_DONTFORK, 1 }, { MADV_DOFORK, 0 },
	};
	long users = kt_module_users(), n = kt_walk(&self->m, NULL, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		if (madvise(self->m.page, self->m.size, v[i].advice)) {
			ASSERT_EQ(MADV_DOFORK, v[i].advice);
			SKIP(return, "this kernel refuses MADV_DOFORK");
		}
		EXPECT_EQ(v[i].want, fork_and_check_mapping(&self->m, n));
		/* For a part of it the mapping would have to be split. */
		EXPECT_EQ(-1, madvise((char *)self->m.page + PAGE, PAGE,
				      v[i].want ? MADV_DOFORK : MADV_DONTFORK));
		EXPECT_EQ(v[i].want, fork_and_check_mapping(&self->m, n));
	}
	EXPECT_EQ(users, kt_module_users());
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
}

TEST_F(mapping, holds_session_and_module)
{
	long n = kt_walk(&self->m, NULL, NULL);

	close(self->main);
	close(self->fd);
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
	/* Dropped pages come back although no descriptor is open. */
	EXPECT_EQ(0, madvise(self->m.page, self->m.size, MADV_DONTNEED));
	EXPECT_EQ(n, kt_walk(&self->m, NULL, NULL));
	EXPECT_LT(0, kt_module_users());
	EXPECT_EQ(-1, syscall(SYS_delete_module, "ktape", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	kt_unmap_ring(&self->m);
	EXPECT_EQ(0, kt_module_users());
}

TEST_HARNESS_MAIN
