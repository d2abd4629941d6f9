// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hundred processes of users without rights flood /dev/ktape_mark with marks of all
 * sizes and with calls that are wrong.  Each mark that was accepted is in a ring or is
 * counted as lost, all users together get no more than their rate, and the marks of a
 * privileged process are accepted meanwhile.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"

#include <ktape/mark.h>

#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_ring.h"
#include "now.h"

#define PATH	      "/dev/ktape_mark"
#define PROCESSES     100
#define USERS	      10
#define UID	      12000
#define CALLS	      40
#define RING	      (1 << 20)
#define USERS_AT_ONCE 4 /* all users get the rate of so many */

/**
 * struct counts - what the processes count together
 * @accepted: marks, texts and user events that the kernel accepted
 * @refused: number of these over the rate
 * @calls: calls altogether
 * @strange: calls with an error that none should have
 * @error: one of these errors
 */
struct counts {
	long accepted, refused, calls, strange;
	int error;
};

static struct counts *sum;

/*
 * May a call of flood_once() end so?  Most of these errors are of wrong arguments.  EPERM: only
 * privileged processes may raise exceptions, or change a name of another user.  ENOSPC: the
 * registry is full.  ENOMEM: there is no memory for a copy of the text.
 */
static bool is_expected_error(int error)
{
	return error == EINVAL || error == EFAULT || error == E2BIG ||
	       error == EPERM || error == ENOTTY || error == ENOSPC ||
	       error == ENOMEM || error == EMSGSIZE;
}

static void count_mark_result(long ret, bool emits)
{
	int error = errno;

	__atomic_fetch_add(&sum->calls, 1, __ATOMIC_RELAXED);
	if (ret >= 0) {
		if (emits)
			__atomic_fetch_add(&sum->accepted, 1, __ATOMIC_RELAXED);
	} else if (error == EBUSY) {
		/* Names have the same limit, but are no events. */
		if (emits)
			__atomic_fetch_add(&sum->refused, 1, __ATOMIC_RELAXED);
	} else if (!is_expected_error(error)) {
		__atomic_fetch_add(&sum->strange, 1, __ATOMIC_RELAXED);
		sum->error = error;
	}
}

static void flood_once(uint64_t *seed, int m, const struct kt_traps *t)
{
	size_t size = lcg_below(seed, 2) ? lcg_below(seed, 100) :
					   lcg_below(seed, 6000);
	char *at = kt_address(seed, t, size);
	struct ktape_mark mark = {
		.size = sizeof(mark),
		.opcode = KTAPE_EV_MARK + lcg_below(seed, 5),
		.flags = lcg_below(seed, 3),
		.id = lcg_next(seed),
		.message = (uintptr_t)at,
		.length = size,
	};
	struct ktape_trace trace = {
		.size = sizeof(trace),
		.code = lcg_next(seed),
		.opcode = lcg_below(seed, 4) ? KTAPE_EV_USER_EVENT :
					       KTAPE_EV_EXCEPTION,
		.flags = lcg_below(seed, 4),
		.nargs = lcg_below(seed, 8),
		.length = size,
		.buffer = (uintptr_t)at,
	};
	struct ktape_name name = {
		.size = sizeof(name),
		.type = KTAPE_OBJ_USER,
		.id = lcg_below(seed, 100000),
		.name = "flood",
	};

	switch (lcg_below(seed, 5)) {
	case 0:
		count_mark_result(write(m, at, size), true); /* empty texts, too */
		break;
	case 1:
		count_mark_result(ioctl(m, KTAPE_MARK_IOC_MARK, &mark), true);
		break;
	case 2:
		count_mark_result(ioctl(m, KTAPE_MARK_IOC_TRACE, &trace), true);
		break;
	case 3:
		count_mark_result(ioctl(m, KTAPE_MARK_IOC_NAME, &name), false);
		break;
	default:
		count_mark_result(ioctl(m,
					lcg_below(seed, 2) ? KTAPE_MARK_IOC_MARK :
							     lcg_next(seed),
					at),
				  false);
	}
}

static void flood(int n, uint64_t seed, long calls)
{
	struct kt_traps t;
	int m;

	seed += n;
	if (kt_traps_make(&t) || setgid(UID) || setuid(UID + n % USERS))
		_exit(1);
	m = open(PATH, O_WRONLY | O_CLOEXEC);
	if (m < 0)
		_exit(2);
	/* A page of zeros is no valid structure, so the random ioctl() emits nothing. */
	while (calls--)
		flood_once(&seed, m, &t);
	_exit(0);
}

/**
 * struct sums - counts of the event rings of all CPUs
 * @emitted: marks that the module counted, which is class user
 * @lost: events of any class that were lost for any reason
 * @rate: those of @lost that were marks over the rate
 * @held: records in the rings, with time extensions
 */
struct sums {
	uint64_t emitted, lost, rate, held;
};

static void add_up_rings(struct __test_metadata *_metadata, int fd, struct sums *s)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < cpus; cpu++) {
		struct ktape_stats st;
		struct kt_map m;
		long n;

		if (kt_stats(fd, cpu, KTAPE_RING_EVENT, &st))
			continue;
		s->emitted += st.emitted[KTAPE_CLASS_USER];
		s->rate += st.lost[KTAPE_LOST_RATE][KTAPE_CLASS_USER];
		s->lost += kt_lost(&st);
		ASSERT_EQ(0, kt_map_ring(fd, cpu, KTAPE_RING_EVENT, &m));
		n = kt_walk(&m, NULL, NULL);
		ASSERT_LE(0, n);
		s->held += n;
		kt_unmap_ring(&m);
	}
}

/* Return what all users together may emit in @seconds, with their bursts, of 0.1 s each. */
static double most_of_all(double seconds)
{
	FILE *f = fopen("/sys/module/ktape/parameters/mark_rate", "r");
	long rate = 0;

	if (!f || fscanf(f, "%ld", &rate) != 1)
		rate = 0;
	if (f)
		fclose(f);
	return USERS_AT_ONCE * (rate * (seconds + 0.1) + 1);
}

FIXTURE(mark)
{
	int fd;
};

FIXTURE_SETUP(mark)
{
	sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sum);
	ASSERT_EQ(0, chmod(PATH, 0666));
	self->fd = kt_session(KTAPE_MODE_DISCARD, RING, 4096,
			      KT_OPS(KTAPE_EV_MARK, KTAPE_EV_MARK_BEGIN,
				     KTAPE_EV_MARK_END, KTAPE_EV_MARK_VALUE,
				     KTAPE_EV_ISR_ENTER, KTAPE_EV_ISR_EXIT,
				     KTAPE_EV_USER_EVENT, KTAPE_EV_TEXT));
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(mark)
{
	chmod(PATH, 0600);
	close(self->fd);
}

/* Emit while others flood, until all of them have ended.  Return: number of marks. */
static long emit_meanwhile(struct __test_metadata *_metadata, int *failed)
{
	int m = open(PATH, O_WRONLY | O_CLOEXEC), status, left = PROCESSES;
	long own = 0;
	pid_t pid;

	EXPECT_LE(0, m);
	while (left) {
		EXPECT_EQ(4, write(m, "mine", 4))
		{
			TH_LOG("mark %ld: error %d", own, errno);
		}
		own++;
		usleep(1000);
		while (left && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
			*failed += status != 0;
			left--;
		}
		if (left && pid < 0)
			break;
	}
	EXPECT_EQ(0, left);
	close(m);
	return own;
}

TEST_F_TIMEOUT(mark, flood_of_100_processes, 3600)
{
	long calls = kt_tries(CALLS), own;
	uint64_t seed = kt_seed();
	struct sums s = {};
	double since, took;
	int failed = 0;

	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	since = now_s();
	for (int i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid)
			flood(i, seed, calls);
	}
	own = emit_meanwhile(_metadata, &failed);
	took = now_s() - since;
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	add_up_rings(_metadata, self->fd, &s);
	TH_LOG("%ld tries, %ld accepted, %ld over the rate; %ld of root",
	       sum->calls, sum->accepted, sum->refused, own);
	TH_LOG("%llu emitted, %llu lost, %llu of them over the rate, %llu held",
	       (unsigned long long)s.emitted, (unsigned long long)s.lost,
	       (unsigned long long)s.rate, (unsigned long long)s.held);
	EXPECT_EQ(0, failed);
	EXPECT_EQ(0, sum->strange)
	{
		TH_LOG("an error %d", sum->error);
	}
	EXPECT_EQ(PROCESSES * calls, sum->calls);
	EXPECT_LT(0, sum->accepted);
	EXPECT_GE(most_of_all(took), sum->accepted);
	EXPECT_EQ(s.emitted, sum->accepted + sum->refused + own);
	EXPECT_EQ(s.rate, sum->refused);
	/* Time extensions are held, too. */
	EXPECT_LE(s.emitted - s.lost, s.held);
}

TEST_HARNESS_MAIN
