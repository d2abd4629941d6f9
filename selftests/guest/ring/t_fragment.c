// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test rings on a machine whose memory is fragmented: pipes hold pages between the free
 * ones, so hardly any piece of memory is as large as a block.  Sessions have rings of the
 * size that they ask for, with everything in them, and status says how much of them is
 * in pieces smaller than a block.  Also how rings are charged to a memory cgroup, and how
 * the command reports a lack of memory.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include <ktape/mark.h>
#include <ktape/session.h>
#include "kt_fragment.h"
#include "kt_load.h"
#include "kt_module.h"
#include "kt_session.h"
#include "kt_spawn.h"
#include "kt_stream.h"

#define K	     1024UL
#define M	     (1024 * K)
#define ASKED	     (24 * M)
#define RING	     (32 * M) /* ASKED, rounded up by the module */
#define BLOCK	     (64 * K)
#define PAGE	     (4 * K)
#define MIN_FREE     "/proc/sys/vm/min_free_kbytes"
#define MIN_FREE_KIB "8192" /* less than usual, so that nothing is killed */
#define CPUS_MAX     16
#define CGROUP	     "/sys/fs/cgroup/ktape-fragment"
#define CHUNK	     (1 << 20)
#define MARK	     "/dev/ktape_mark"

static struct ktg_pipes pipes;

/* Free memory is single pages. */
FIXTURE(pages)
{
	int dev, fd, cpus;
	char min_free[32];
};

/* Free memory is pieces of KTG_RUN pages, so processes can be made. */
FIXTURE(fragment)
{
	int dev, fd, cpus;
	char min_free[32];
};

/* Create a session of which a failure says how far it came. */
static int create_and_explain(int dev)
{
	struct ktape_create c = { .size = sizeof(c),
				  .mode = KTAPE_MODE_DISCARD,
				  .ring_size = ASKED,
				  .block_size = BLOCK };
	int fd = kt_ioctl(dev, KTAPE_IOC_CREATE, &c);

	if (fd < 0)
		printf("# %s: CPU %d, kind %u: %llu of %llu bytes\n",
		       strerror(-fd), c.failed_cpu, c.failed_kind,
		       (unsigned long long)c.failed_had,
		       (unsigned long long)c.failed_asked);
	return fd;
}

static void read_line(const char *path, char *to, int room)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(to, room, f))
		to[0] = 0;
	if (f)
		fclose(f);
}

/*
 * Fragment the memory in runs of @run pages; pieces of @rare KiB must be few then, and
 * the free memory large enough for the rings. @min_free gets the setting to be restored.
 * Return: 0, or -1 if it failed or the memory is not like that.
 */
static int set_up_fragments(struct __test_metadata *_metadata, char *min_free,
			    int room, int cpus, int run, unsigned long rare)
{
	read_line(MIN_FREE, min_free, room);
	if (kt_write_text(MIN_FREE, MIN_FREE_KIB) || ktg_fragment(&pipes, run))
		return -1;
	TH_LOG("%d pipes; %ld KiB free, %ld available, %ld in pieces of %lu KiB",
	       pipes.nr, kt_free_kib(), kt_meminfo("MemAvailable"),
	       ktg_whole_kib(rare), rare);
	/* Otherwise nothing would be tested. */
	if (ktg_whole_kib(rare) >= (long)(RING / K * cpus / 2) ||
	    kt_free_kib() <= (long)(RING / K * cpus * 5 / 4))
		return -1;
	return 0;
}

static void tear_down(int dev, int fd, const char *min_free)
{
	if (fd >= 0)
		close(fd);
	close(dev);
	ktg_release(&pipes);
	kt_write_text(MIN_FREE, min_free);
}

FIXTURE_SETUP(pages)
{
	self->fd = -1;
	self->cpus = kt_online_cpus();
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	ASSERT_GE(CPUS_MAX, self->cpus);
	ASSERT_EQ(0, set_up_fragments(_metadata, self->min_free,
				      sizeof(self->min_free), self->cpus, 1,
				      2 * PAGE / K));
}

FIXTURE_TEARDOWN(pages)
{
	tear_down(self->dev, self->fd, self->min_free);
}

FIXTURE_SETUP(fragment)
{
	self->fd = -1;
	self->cpus = kt_online_cpus();
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	ASSERT_EQ(0, set_up_fragments(_metadata, self->min_free,
				      sizeof(self->min_free), self->cpus,
				      KTG_RUN, BLOCK / K));
}

FIXTURE_TEARDOWN(fragment)
{
	tear_down(self->dev, self->fd, self->min_free);
}

/* ---- what is in the rings ------------------------------------------------- */

/* Make text number @n of a CPU.  Return: its bytes. */
static int fill_mark_text(char *to, int cpu, uint64_t n)
{
	int len = snprintf(to, KTAPE_MARK_TEXT_MAX, "%d %llu ", cpu,
			   (unsigned long long)n);

	memset(to + len, 'a' + (int)((n + (unsigned int)cpu) % 26),
	       KTAPE_MARK_TEXT_MAX - (size_t)len);
	return KTAPE_MARK_TEXT_MAX;
}

/**
 * struct texts - the texts found in one ring
 * @cpu: its CPU
 * @nr: number of texts, which are to be numbered from 0 on
 * @wrong: texts that are not the next one
 */
struct texts {
	int cpu;
	uint64_t nr, wrong;
};

static void check_text(struct texts *s, const struct kt_rec *r)
{
	char want[KTAPE_MARK_TEXT_MAX];

	if (r->op != KTAPE_EV_TEXT)
		return;
	fill_mark_text(want, s->cpu, s->nr);
	s->wrong += r->size < sizeof(want) || memcmp(r->blob, want, sizeof(want));
	s->nr++;
}

static void check_mapped_text(const struct kt_rec *r, void *arg)
{
	check_text(arg, r);
}

static void check_read_text(const struct ktape_block *b, const struct kt_rec *r,
			    void *arg)
{
	struct texts *s = arg;

	if (b->cpu < CPUS_MAX && b->kind == KTAPE_RING_EVENT)
		check_text(&s[b->cpu], r);
}

/* Read the whole stream of a stopped session in little memory. */
static int read_stream_in_chunks(int fd, struct kts *t)
{
	static char buf[2 * CHUNK];
	size_t have = 0, done;
	ssize_t n;

	while ((n = read(fd, buf + have, CHUNK)) > 0) {
		have += (size_t)n;
		done = kts_feed(t, buf, have);
		have -= done;
		memmove(buf, buf + done, have);
		if (t->error[0] || have > CHUNK)
			return -EBADMSG;
	}
	return n < 0 ? -errno : 0;
}

/* Write texts on one CPU until its ring has lost some.  Return: their number, 0 = failed. */
static uint64_t write_texts(int fd, int mark, int cpu, struct ktape_stats *st)
{
	char text[KTAPE_MARK_TEXT_MAX];
	uint64_t n = 0;
	int len;

	if (kt_pin(cpu))
		return 0;
	do {
		len = fill_mark_text(text, cpu, n);
		if (write(mark, text, (size_t)len) != len)
			return 0;
		n++;
		if (n % 64 == 0 && kt_stats(fd, cpu, KTAPE_RING_EVENT, st))
			return 0;
	} while (n % 64 || !st->lost[KTAPE_LOST_FULL][KTAPE_CLASS_USER]);
	return n;
}

/* A discard session whose rings are filled has all texts that it did not count as lost. */
TEST_F_TIMEOUT(pages, whole_rings, 600)
{
	struct texts mapped[CPUS_MAX] = { 0 }, read[CPUS_MAX] = { 0 };
	struct ktape_stats st[CPUS_MAX];
	uint64_t pieces = 0, written[CPUS_MAX], stored;
	static struct kts t;
	struct kt_map m;
	int mark = open(MARK, O_WRONLY);
	long before = kt_free_kib(), after;

	ASSERT_LE(0, mark);
	self->fd = create_and_explain(self->dev);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_TEXT)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		written[cpu] = write_texts(self->fd, mark, cpu, &st[cpu]);
		ASSERT_LT(0, written[cpu]);
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		ASSERT_EQ(0, kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st[cpu]));
		EXPECT_EQ(0, st[cpu].in_pieces % BLOCK);
		EXPECT_GE(RING, st[cpu].in_pieces);
		EXPECT_EQ(written[cpu], st[cpu].emitted[KTAPE_CLASS_USER]);
		pieces += st[cpu].in_pieces;
		stored = written[cpu] -
			 st[cpu].lost[KTAPE_LOST_FULL][KTAPE_CLASS_USER];
		/* All blocks but the last are full of texts. */
		EXPECT_LT((RING - 2 * BLOCK) / (KTAPE_MARK_TEXT_MAX + 32), stored);
		ASSERT_EQ(0, kt_map_ring(self->fd, cpu, KTAPE_RING_EVENT, &m));
		ASSERT_EQ(RING, m.e.data_size);
		for (int again = 0; again < 2; again++) {
			mapped[cpu] = (struct texts){ .cpu = cpu };
			ASSERT_LT(0, kt_walk(&m, check_mapped_text, &mapped[cpu]));
			EXPECT_EQ(stored, mapped[cpu].nr);
			EXPECT_EQ(0, mapped[cpu].wrong);
			/* The next access brings the pages back. */
			ASSERT_EQ(0, madvise(m.page, m.size, MADV_DONTNEED));
		}
		kt_unmap_ring(&m);
		read[cpu].cpu = cpu;
	}
	t.record = check_read_text;
	t.arg = read;
	ASSERT_EQ(0, read_stream_in_chunks(self->fd, &t)) TH_LOG("%s", t.error);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		EXPECT_EQ(mapped[cpu].nr, read[cpu].nr);
		EXPECT_EQ(0, read[cpu].wrong);
	}
	TH_LOG("%llu of %lu KiB in pieces, %llu texts on CPU 0",
	       (unsigned long long)pieces / K, RING / K * self->cpus,
	       (unsigned long long)read[0].nr);
	/* At most half of the rings can be whole blocks, see set_up_fragments(). */
	EXPECT_LT(RING * self->cpus / 2, pieces);
	close(self->fd);
	self->fd = -1;
	close(mark);
	/* The session is freed by the last close(). */
	after = kt_free_kib();
	EXPECT_GT(RING / K, labs(before - after))
	{
		TH_LOG("%ld KiB free before, %ld after", before, after);
	}
}

/* A mapping keeps the pages of a session that was closed. */
TEST_F_TIMEOUT(pages, mapping_outlives_session, 300)
{
	struct ktape_stats st = { 0 };
	struct texts texts = { 0 };
	struct kt_map m;
	int mark = open(MARK, O_WRONLY);

	ASSERT_LE(0, mark);
	self->fd = create_and_explain(self->dev);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_TEXT)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_LT(0, write_texts(self->fd, mark, 0, &st));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_map_ring(self->fd, 0, KTAPE_RING_EVENT, &m));
	close(self->fd);
	self->fd = -1;
	close(mark);
	EXPECT_LT(0, kt_walk(&m, check_mapped_text, &texts));
	EXPECT_LT(0, texts.nr);
	EXPECT_EQ(0, texts.wrong);
	kt_unmap_ring(&m);
}

/* ---- the command ---------------------------------------------------------- */

/* Run a shell command.  Return: its exit status; @out receives its output. */
static int run_in_shell(const char *command, char *out, size_t room)
{
	FILE *f = popen(command, "r");
	size_t n = f ? fread(out, 1, room - 1, f) : 0;
	int status = f ? pclose(f) : -1;

	out[n] = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Into rings in pieces the command records as into others: a whole trace with all texts. */
TEST_F_TIMEOUT(fragment, record, 600)
{
	char out[65536];
	long n = 0;

	if (run_in_shell("ktape version 2>&1", out, sizeof(out)))
		SKIP(return, "no ktape");
	/* 4000 texts of each of two CPUs fit in their rings, so none may be missing. */
	ASSERT_EQ(0, run_in_shell("ktape record -b 24M -e text,sched -o trace -- act cpu 0 text 4000 cpu 1 text 4000 2>&1",
				  out, sizeof(out)))
	TH_LOG("%s", out);
	ASSERT_EQ(0, run_in_shell("ktape verify trace 2>&1", out, sizeof(out)))
	TH_LOG("%s", out);
	ASSERT_EQ(0, run_in_shell("ktape dump --json trace | grep -c '\"event\":\"text\"'",
				  out, sizeof(out)));
	n = atol(out);
	EXPECT_EQ(8000, n);
}

/* Its status says that rings are in pieces. */
TEST_F_TIMEOUT(fragment, status, 300)
{
	char out[65536];

	if (run_in_shell("ktape version 2>&1", out, sizeof(out)))
		SKIP(return, "no ktape");
	ASSERT_EQ(0, run_in_shell("ktape start frag -m overwrite -b 24M -e text 2>&1",
				  out, sizeof(out)))
	TH_LOG("%s", out);
	ASSERT_EQ(0, run_in_shell("ktape status frag", out, sizeof(out)));
	EXPECT_NE(NULL, strstr(out, " in pieces: ")) TH_LOG("%s", out);
	ASSERT_EQ(0, run_in_shell("ktape status frag --json | grep -c '\"in_pieces\":[1-9]'",
				  out, sizeof(out)));
	EXPECT_LT(0, atol(out));
	EXPECT_EQ(0, run_in_shell("ktape destroy frag 2>&1", out, sizeof(out)));
}

/* ---- memory cgroups ------------------------------------------------------- */

static int make_cgroup(void)
{
	if (kt_kernel_is_before(5, 11))
		return -EOPNOTSUPP;
	kt_write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	return access(CGROUP "/memory.max", W_OK) ? -EOPNOTSUPP : 0;
}

static long charged_kib(void)
{
	FILE *f = fopen(CGROUP "/memory.current", "re");
	long bytes = -1;

	if (f) {
		if (fscanf(f, "%ld", &bytes) != 1)
			bytes = -1;
		fclose(f);
	}
	return bytes / (long)K;
}

/*
 * Create a session in the cgroup and close it.  *@made: the KiB that were charged for it, *@closed:
 * what of that is left, -1 = not known.  Return: 0 or a negative errno.
 */
static int charge_session(int dev, uint64_t ring, long *made, long *closed)
{
	int fd;
	long found[2];
	int p[2];
	pid_t pid;

	if (pipe(p))
		return -errno;
	pid = kt_fork_in_cgroup(CGROUP);
	if (!pid) {
		long before = charged_kib();

		fd = kt_create(dev, KTAPE_MODE_OVERWRITE, ring, BLOCK);
		found[0] = charged_kib() - before;
		close(fd);
		found[1] = charged_kib() - before;
		_exit(fd < 0 || write(p[1], found, sizeof(found)) != sizeof(found));
	}
	close(p[1]);
	if (read(p[0], found, sizeof(found)) != sizeof(found))
		found[0] = found[1] = -1;
	close(p[0]);
	*made = found[0];
	*closed = found[1];
	return kt_exit_status(pid) ? -ECHILD : 0;
}

/* Rings in pieces are charged to the cgroup of the process that makes them, to the last page. */
TEST_F_TIMEOUT(fragment, charged, 300)
{
	const long all = (long)(RING / K) * self->cpus;
	long made = 0, closed = 0;

	if (make_cgroup())
		SKIP(return, "no memory cgroups, or rings are not charged");
	ASSERT_EQ(0, kt_write_text(CGROUP "/memory.max", "max"));
	ASSERT_EQ(0, charge_session(self->dev, ASKED, &made, &closed));
	TH_LOG("%ld KiB of rings: %ld charged, %ld after the end", all, made,
	       closed);
	EXPECT_LE(all, made);
	/* The lists of pages in use, positions and control rings. */
	EXPECT_GT(all + all / 64 + 4096, made);
	/* Each CPU keeps some pages charged for the next caller. */
	EXPECT_GT(4096, closed);
	rmdir(CGROUP);
}

/* The command says how much of a ring could be allocated: as much as the cgroup allows. */
TEST_F_TIMEOUT(fragment, message, 300)
{
	unsigned long long had, missing;
	char out[4096], *p;

	if (make_cgroup())
		SKIP(return, "no memory cgroups, or rings are not charged");
	if (run_in_shell("ktape version 2>&1", out, sizeof(out)))
		SKIP(return, "no ktape");
	ASSERT_EQ(0, kt_write_text(CGROUP "/memory.max", "24M"));
	EXPECT_EQ(1, run_in_shell("echo 0 >" CGROUP
				  "/cgroup.procs; exec ktape start frag -m overwrite -b 24M -e text 2>&1",
				  out, sizeof(out)));
	TH_LOG("%s", out);
	p = strstr(out, "CPU 0: it needs 32M (-b 24M, rounded up), of which ");
	ASSERT_NE(NULL, p);
	p = strstr(p, "which ");
	ASSERT_EQ(2, sscanf(p, "which %lluK could be allocated and %lluK were missing",
			    &had, &missing));
	EXPECT_EQ(RING / K, had + missing);
	/* The command itself takes some of the 24 MiB. */
	EXPECT_GT(24 * K, had);
	EXPECT_LT(12 * K, had);
	rmdir(CGROUP);
}

TEST_HARNESS_MAIN
