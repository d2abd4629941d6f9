// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions end and their rings are taken away beside everything that readers without
 * control rights do with them, on all CPUs: OPEN, read(), poll(), mmap(), page faults,
 * ioctls, close().  Each call of a reader succeeds or has an error that the end explains, a
 * page of a mapping can be read or is a bus error, and no session is left.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_member.h"
#include "kt_ring.h"

#define CPUS_MAX 16
#define NAMES	 2 /* sessions at a time */
#define ROUNDS	 200
#define LOOKS	 20 /* at a mapping, while the rings may go */
#define RING	 (64 << 10)
#define ENOUGH	 20 /* of each act but WRONG, or the race was not run */

/*
 * What readers did (OPENED, READ, MAPPED), how they met the end of a session (STALE: a call
 * was ESTALE; BUS: the page of a mapping was gone), and what root did (ENDED: a session;
 * TAKEN: a CREATE that took rings away before it was ENOMEM).
 */
enum act { OPENED, READ, STALE, MAPPED, BUS, ENDED, TAKEN, WRONG, ACTS };

static const char *const acts[] = { "opened",	  "read",  "stale", "mapped",
				    "bus errors", "ended", "taken", "wrong" };

/**
 * struct shared - what the processes have in common
 * @n: what happened, by enum act
 * @stop: readers are to end
 * @error: first errno that was none of those expected
 */
struct shared {
	atomic_long n[ACTS];
	atomic_bool stop;
	atomic_int error;
};

static struct shared *all;

static void count_act(enum act what)
{
	atomic_fetch_add(&all->n[what], 1);
}

/* Count a result: one of @good, or of errors that an end explains. */
static void hostile_end_check(long ret, enum act good)
{
	int none = 0;

	if (ret >= 0) {
		count_act(good);
	} else if (ret == -ESTALE) {
		count_act(STALE);
	} else if (ret != -EAGAIN && ret != -ENOENT && ret != -ENXIO) {
		atomic_compare_exchange_strong(&all->error, &none, (int)-ret);
		count_act(WRONG);
	}
}

/* ---- readers ------------------------------------------------------------------- */

static sigjmp_buf bus;

static void end_touch_on_bus(int sig)
{
	siglongjmp(bus, 1);
}

/* Read all pages of a mapping, until one of them is a bus error.  Return: no error. */
static bool touch_until_bus(struct kt_map *m)
{
	if (sigsetjmp(bus, 1)) {
		count_act(BUS);
		return false;
	}
	for (size_t i = 0; i < m->size; i += 4096)
		(void)*(volatile char *)((char *)m->page + i);
	count_act(MAPPED);
	return true;
}

static void watch_mapping(struct kt_map *m)
{
	for (volatile int i = 0; i < LOOKS && touch_until_bus(m); i++)
		usleep(500);
}

static void use(int fd, uint64_t *seed)
{
	struct ktape_reader_info info;
	static char buf[16384];
	struct ktape_stats st;
	struct kt_map m = {};
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int cpu = lcg_below(seed, kt_online_cpus());

	switch (lcg_below(seed, 6)) {
	case 0:
		n = read(fd, buf, lcg_below(seed, sizeof(buf)));
		hostile_end_check(n < 0 ? -errno : n, READ);
		break;
	case 1:
		if (!kt_map_ring(fd, cpu, lcg_below(seed, 2), &m)) {
			watch_mapping(&m);
			kt_unmap_ring(&m);
		}
		break;
	case 2:
		poll(&p, 1, lcg_below(seed, 3));
		break;
	case 3:
		hostile_end_check(kt_stats(fd, cpu, 0, &st), READ);
		break;
	case 4:
		hostile_end_check(kt_reader_info(fd, cpu, 0, &info), READ);
		break;
	default:
		n = lseek(fd, 0, lcg_below(seed, 2) ? SEEK_SET : SEEK_END);
		hostile_end_check(n < 0 ? -errno : n, READ);
	}
}

static void be_member_reader(int cpu)
{
	struct sigaction a = { .sa_handler = end_touch_on_bus };
	uint64_t seed = cpu + 1;
	char name[16];
	int dev, fd;

	kt_pin(cpu);
	sigaction(SIGBUS, &a, NULL);
	if (kt_member_as(KT_MEMBER))
		_exit(1);
	dev = kt_open(O_RDONLY | O_NONBLOCK);
	if (dev < 0)
		_exit(2);
	while (!atomic_load(&all->stop)) {
		snprintf(name, sizeof(name), "end%u", lcg_below(&seed, NAMES));
		fd = kt_attach(dev, name, 0);
		hostile_end_check(fd, OPENED);
		if (fd < 0) {
			sched_yield();
			continue;
		}
		kt_nonblock(fd, true);
		for (int i = lcg_below(&seed, 40); i > 0; i--)
			use(fd, &seed);
		close(fd);
	}
	_exit(0);
}

/* ---- root ------------------------------------------------------------------------ */

/*
 * Return the size of rings of which two sessions exceed what all may have, half of the
 * memory, but one does not.
 */
static uint64_t half_of_all(void)
{
	uint64_t ring = RING, allowed;
	struct sysinfo info;

	if (sysinfo(&info))
		_exit(1);
	allowed = (uint64_t)info.totalram * info.mem_unit / 2;
	while ((ring * 2 + RING) * kt_online_cpus() <= allowed)
		ring *= 2;
	return ring;
}

/*
 * Create a session for which there is no memory beside self->large of the fixture.  The
 * module first takes away the rings that only readers use, and then it is ENOMEM.
 */
static void create_half_of_all(int root)
{
	if (kt_create(root, KTAPE_MODE_OVERWRITE, half_of_all(), 0) != -ENOMEM)
		count_act(WRONG);
	else
		count_act(TAKEN);
}

static void end_sessions(int root, const char *name, uint64_t *seed)
{
	static const uint32_t modes[] = { KTAPE_MODE_OVERWRITE, KTAPE_MODE_DISCARD,
					  KTAPE_MODE_SNAPSHOT };
	char buf[4096];
	uint32_t flags;
	int fd;

	for (int i = 0; i < ROUNDS / kt_scale(); i++) {
		flags = lcg_below(seed, 2) ? KTAPE_CREATE_LINGER : 0;
		fd = kt_named(root, name, modes[lcg_below(seed, 3)], RING, 4096,
			      flags);
		if (fd < 0 || kt_profile_only(fd, KT_OPS(KTAPE_EV_SYS_ENTER)) ||
		    kt_control(fd, KTAPE_IOC_START)) {
			count_act(WRONG);
			return;
		}
		kt_nonblock(fd, true);
		for (int k = lcg_below(seed, 8); k > 0; k--) {
			kt_getppids(200);
			if (read(fd, buf, sizeof(buf)) < 0 && errno != EAGAIN)
				count_act(WRONG);
			sched_yield();
		}
		if (flags && lcg_below(seed, 2)) {
			close(fd);
			fd = -1;
		}
		if (flags && kt_destroy(root, name))
			count_act(WRONG);
		if (fd >= 0)
			close(fd);
		count_act(ENDED);
		if (lcg_below(seed, 2))
			create_half_of_all(root);
	}
}

static void be_root(int nr)
{
	int root = kt_open(O_RDWR);
	uint64_t seed = 100 + nr;
	char name[16];

	snprintf(name, sizeof(name), "end%d", nr);
	if (root < 0)
		_exit(1);
	end_sessions(root, name, &seed);
	_exit(0);
}

static int wait_for_child(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

FIXTURE(end)
{
	int root;
	int large;
};

FIXTURE_SETUP(end)
{
	ASSERT_EQ(0, kt_member_load("size=64K"));
	self->root = kt_open(O_RDWR);
	ASSERT_LE(0, self->root);
	self->large = kt_create(self->root, KTAPE_MODE_OVERWRITE, half_of_all(), 0);
	ASSERT_LE(0, self->large);
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, all);
}

FIXTURE_TEARDOWN(end)
{
	munmap(all, sizeof(*all));
	close(self->large);
	close(self->root);
	EXPECT_EQ(0, kt_rmmod_ktape());
}

TEST_F_TIMEOUT(end, beside_readers, 300)
{
	pid_t reader[CPUS_MAX], root[NAMES];
	struct ktape_session_info info[8];
	int cpus = kt_online_cpus();

	ASSERT_LE(cpus, CPUS_MAX);
	for (int i = 0; i < cpus; i++) {
		reader[i] = fork();
		if (!reader[i])
			be_member_reader(i);
	}
	for (int i = 0; i < NAMES; i++) {
		root[i] = fork();
		if (!root[i])
			be_root(i);
	}
	for (int i = 0; i < NAMES; i++)
		EXPECT_EQ(0, wait_for_child(root[i]));
	atomic_store(&all->stop, true);
	for (int i = 0; i < cpus; i++)
		EXPECT_EQ(0, wait_for_child(reader[i]));
	for (int i = 0; i < ACTS; i++)
		TH_LOG("%ld %s", all->n[i], acts[i]);
	EXPECT_EQ(0, all->n[WRONG])
	{
		TH_LOG("%s", strerror(all->error));
	}
	EXPECT_EQ(NAMES * (ROUNDS / kt_scale()), all->n[ENDED]);
	/* Each race was run. */
	for (int i = 0; i < WRONG; i++) {
		EXPECT_LE(ENOUGH / kt_scale(), all->n[i])
		{
			TH_LOG("too few: %s", acts[i]);
		}
	}
	/* With the readers gone, session 0 and self->large are left. */
	EXPECT_EQ(2, kt_list_sessions(self->root, info));
}

/* Read the counts of a session that ends, after all->stop is set.  Return: 0 or -errno. */
static int be_witness(void)
{
	struct ktape_stats st;
	int dev, fd;

	if (kt_member_as(KT_MEMBER))
		return -EPERM;
	dev = kt_open(O_RDONLY);
	fd = kt_attach(dev, "ends", 0);
	if (fd < 0)
		return fd;
	count_act(OPENED);
	while (!atomic_load(&all->stop))
		usleep(1000);
	return kt_stats(fd, 0, 0, &st);
}

/* A CREATE for more than all rings together may have takes no rings away. */
TEST_F(end, too_large_takes_nothing)
{
	int status, fd = kt_named(self->root, "ends", KTAPE_MODE_OVERWRITE,
				  RING, 4096, 0);
	time_t ended;
	pid_t pid;

	ASSERT_LE(0, fd);
	pid = fork();
	if (!pid)
		_exit(-be_witness());
	while (!all->n[OPENED] && !waitpid(pid, &status, WNOHANG))
		usleep(1000);
	ASSERT_EQ(1, all->n[OPENED]);
	close(fd);
	ended = time(NULL);
	EXPECT_EQ(-ENOMEM,
		  kt_create(self->root, KTAPE_MODE_OVERWRITE, kt_ring_max(), 0));
	atomic_store(&all->stop, true);
	status = wait_for_child(pid);
	if (time(NULL) - ended >= KTAPE_GRACE_MS / 1000 - 1)
		SKIP(return, "its rings may have gone meanwhile");
	EXPECT_EQ(0, WEXITSTATUS(status));
}

TEST_HARNESS_MAIN
