// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open, create, map, start, read, stop, destroy and close, bring CPUs online and
 * offline, and unload and load the module, all at the same time and in random order.
 * Threads also use and close descriptors that they share, in the middle of each other's
 * calls.  Each call succeeds or fails with an error that it may have, and at the end
 * everything works and the module can be unloaded.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_module.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"

#define USERS	   5
#define SHARED	   4 /* descriptors that all threads use */
#define UNLOADS	   8 /* attempts; half of them while nothing is open */
#define PARAMETERS "size=64K profile=none"

static atomic_bool ends, quiet; /* the threads end; they open nothing more for now */
static atomic_long opened, created, mapped, profiled, started, destroyed,
	toggled, wrong;
static atomic_long shared_used, shared_closed;
static atomic_int shared[SHARED];
static atomic_int wrong_ret, wrong_step;
static uint64_t first_seed;

/*
 * Errors that a call may have here: there is no module, no such session any more, as
 * many sessions as possible, no such CPU's ring, no memory, nothing to read yet, or the
 * session is in a state that does not allow the call.
 */
static bool may_fail(int ret)
{
	return ret == -ENOENT || ret == -ENXIO || ret == -ENODEV ||
	       ret == -EMFILE || ret == -EEXIST || ret == -EBUSY ||
	       ret == -ENOMEM || ret == -EAGAIN || ret == -EINTR || ret == -EINVAL;
}

/*
 * Return whether a call succeeded, and count a result that is wrong. @step numbers the calls of
 * this file, to be printed.
 */
static bool step_succeeded(int step, int ret)
{
	if (ret >= 0)
		return true;
	if (!may_fail(ret)) {
		atomic_store(&wrong_step, step);
		atomic_store(&wrong_ret, ret);
		atomic_fetch_add(&wrong, 1);
	}
	return false;
}

/* Destroy any session but session 0, or open it. */
static void meddle(uint64_t *seed, int dev)
{
	struct ktape_session_ref ref = { .size = sizeof(ref),
					 .id = 1 + lcg_below(seed, 7) };
	int fd;

	if (lcg_below(seed, 2)) {
		if (step_succeeded(1, kt_ioctl(dev, KTAPE_IOC_DESTROY, &ref)))
			atomic_fetch_add(&destroyed, 1);
		return;
	}
	fd = kt_ioctl(dev, KTAPE_IOC_OPEN, &ref);
	if (step_succeeded(2, fd))
		close(fd);
}

/* ---- descriptors that another thread may close at any moment ------------------- */

/* Let others use a descriptor of the session. */
static void share(uint64_t *seed, int fd)
{
	int old = atomic_exchange(&shared[lcg_below(seed, SHARED)], dup(fd));

	if (old >= 0)
		close(old);
}

static void close_shared(void)
{
	for (int i = 0; i < SHARED; i++) {
		int fd = atomic_exchange(&shared[i], -1);

		if (fd >= 0)
			close(fd);
	}
}

static int add_and_remove_trigger(uint64_t *seed, int fd)
{
	struct ktape_trigger t = {
		.opcode = KTAPE_EV_SYS_ENTER,
		.actions = KTAPE_TRIGGER_MARK | KTAPE_TRIGGER_STOP,
		.target = KTAPE_TRIGGER_SELF,
	};
	int id = kt_trigger_add(fd, &t);

	if (id >= 0 && lcg_below(seed, 2))
		kt_trigger_remove(fd, id);
	return id;
}

static int change_consumer(uint64_t *seed, int fd)
{
	struct ktape_consumer c = { .size = sizeof(c), .op = lcg_below(seed, 2) };

	return kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c);
}

/*
 * The descriptor may be closed meanwhile, and its number belong to another file.  Then
 * EBADF, ENOTTY, EACCES or ENODATA is right, so the results are not checked.
 */
static void use_shared(uint64_t *seed)
{
	int at = lcg_below(seed, SHARED), fd = atomic_load(&shared[at]);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct ktape_policy policy;
	struct kt_map m;

	if (fd < 0)
		return;
	atomic_fetch_add(&shared_used, 1);
	switch (lcg_below(seed, 10)) {
	case 0:
		fd = atomic_exchange(&shared[at], -1);
		if (fd >= 0 && !close(fd))
			atomic_fetch_add(&shared_closed, 1);
		break;
	case 1:
		kt_control(fd, KTAPE_IOC_START);
		break;
	case 2:
		kt_control(fd, KTAPE_IOC_STOP);
		break;
	case 3:
		kt_control(fd, KTAPE_IOC_FLUSH);
		break;
	case 4:
		if (!kt_map_ring(fd, lcg_below(seed, 4), KTAPE_RING_EVENT, &m)) {
			if (kt_load(&m.page->tail) > kt_load(&m.page->commit))
				atomic_fetch_add(&wrong, 1);
			kt_unmap_ring(&m);
		}
		break;
	case 5:
		add_and_remove_trigger(seed, fd);
		break;
	case 6:
		kt_filter_gate(fd, KTAPE_GATE_SYSCALL, 1000);
		break;
	case 7:
		change_consumer(seed, fd);
		break;
	case 8:
		kt_policy(fd, KTAPE_POLICY_SET, 50, 10, &policy);
		break;
	default:
		poll(&p, 1, 0);
	}
}

/* A child process that is killed while it has the descriptor. */
static void leave_to_child(int fd)
{
	pid_t pid = fork();
	char byte;

	if (!pid) {
		if (read(fd, &byte, 1) < 0)
			pause();
		pause();
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Ask for all events, but those of run-time probes. */
static int ask_for_events(int fd)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	for (int op = KTAPE_OP_EXCEPTION; op < KTAPE_OP_PROBE; op++)
		if (kts_shapes[op].name)
			kt_ops_add(p.mask, op);
	return kt_profile(fd, &p);
}

static void use_session(uint64_t *seed, int dev, int fd)
{
	struct kt_map m = {};
	char buf[4096];

	for (int i = lcg_below(seed, 12); i >= 0; i--) {
		switch (lcg_below(seed, 13)) {
		case 0:
			if (step_succeeded(10, ask_for_events(fd)))
				atomic_fetch_add(&profiled, 1);
			break;
		case 1:
			if (step_succeeded(3, kt_control(fd, KTAPE_IOC_START)))
				atomic_fetch_add(&started, 1);
			break;
		case 2:
			step_succeeded(4, kt_control(fd, KTAPE_IOC_STOP));
			break;
		case 3:
			step_succeeded(5, kt_control(fd, KTAPE_IOC_CLEAR));
			break;
		case 4:
			if (m.page ||
			    !step_succeeded(6, kt_map_ring(fd, lcg_below(seed, 4),
							   KTAPE_RING_EVENT, &m)))
				break;
			atomic_fetch_add(&mapped, 1);
			break;
		case 5:
			meddle(seed, dev);
			break;
		case 6:
			step_succeeded(7, read(fd, buf, sizeof(buf)) < 0 ? -errno :
									   0);
			break;
		case 7:
			if (!lcg_below(seed, 8))
				leave_to_child(fd);
			break;
		case 8:
			share(seed, fd);
			break;
		case 9 ... 11:
			use_shared(seed);
			break;
		default:
			kt_getppids(20);
		}
	}
	/* The last reference is the descriptor or the mapping. */
	if (lcg_below(seed, 2)) {
		close(fd);
		fd = -1;
	}
	if (m.page) {
		if (kt_load(&m.page->tail) > kt_load(&m.page->commit))
			atomic_fetch_add(&wrong, 1);
		kt_unmap_ring(&m);
	}
	if (fd >= 0)
		close(fd);
}

static void *use_main(void *arg)
{
	uint64_t seed = first_seed + (uintptr_t)arg;

	while (!atomic_load(&ends)) {
		int dev, fd;

		if (atomic_load(&quiet)) {
			usleep(1000);
			continue;
		}
		dev = kt_open(O_RDWR | O_NONBLOCK);
		if (!step_succeeded(8, dev)) {
			usleep(1000);
			continue;
		}
		atomic_fetch_add(&opened, 1);
		fd = kt_create(dev, lcg_below(&seed, 3), 65536, 4096);
		if (step_succeeded(9, fd)) {
			atomic_fetch_add(&created, 1);
			fcntl(fd, F_SETFL, O_NONBLOCK);
			use_session(&seed, dev, fd);
		}
		close(dev);
	}
	return NULL;
}

static void *toggle_main(void *arg)
{
	uint64_t seed = first_seed + 1000;
	int cpus = *(int *)arg;

	while (!atomic_load(&ends)) {
		int cpu = 1 + lcg_below(&seed, cpus - 1);

		if (!kt_set_online(cpu, false))
			atomic_fetch_add(&toggled, 1);
		usleep(lcg_below(&seed, 20000));
		kt_set_online(cpu, true);
		usleep(lcg_below(&seed, 20000));
	}
	return NULL;
}

/* Unload while programs use the module, and while they are letting go of it. */
static long unload_and_load(struct __test_metadata *_metadata, long attempts)
{
	uint64_t seed = first_seed + 2000;
	long unloaded = 0;

	for (long i = 0; i < attempts; i++) {
		int ret;

		atomic_store(&quiet, i & 1);
		usleep(lcg_below(&seed, 100000));
		/* A thread that does not know of @quiet yet still has descriptors. */
		for (int k = 0; k < 200; k++) {
			if (i & 1)
				close_shared();
			ret = kt_rmmod("ktape");
			if (!ret || !(i & 1))
				break;
			usleep(5000 * kt_scale());
		}
		if (ret) {
			EXPECT_TRUE(ret == -EAGAIN || ret == -EBUSY)
			{
				TH_LOG("rmmod: %d", ret);
			}
			continue;
		}
		unloaded++;
		atomic_store(&quiet, false);
		EXPECT_EQ(0, kt_insmod_ktape(PARAMETERS));
	}
	atomic_store(&quiet, false);
	return unloaded;
}

FIXTURE(race)
{
	int cpus;
};

FIXTURE_SETUP(race)
{
	kt_expedite(true);
	self->cpus = sysconf(_SC_NPROCESSORS_CONF);
	ASSERT_EQ(0, kt_insmod_ktape(PARAMETERS));
}

FIXTURE_TEARDOWN(race)
{
	for (int cpu = 1; cpu < self->cpus; cpu++)
		kt_set_online(cpu, true);
	kt_expedite(false);
	kt_rmmod("ktape");
}

TEST_F_TIMEOUT(race, everything_at_once, 3600)
{
	long attempts = kt_hostile_factor() * UNLOADS, unloaded;
	bool toggles = self->cpus > 1 &&
		       !access("/sys/devices/system/cpu/cpu1/online", W_OK);
	pthread_t user[USERS], toggle;

	for (int i = 0; i < SHARED; i++)
		atomic_store(&shared[i], -1);
	first_seed = kt_seed();
	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)first_seed);
	for (uintptr_t i = 0; i < USERS; i++)
		ASSERT_EQ(0, pthread_create(&user[i], NULL, use_main, (void *)i));
	if (toggles)
		ASSERT_EQ(0, pthread_create(&toggle, NULL, toggle_main, &self->cpus));
	unloaded = unload_and_load(_metadata, attempts);
	while (!atomic_load(&shared_closed))
		usleep(1000);
	atomic_store(&ends, true);
	for (int i = 0; i < USERS; i++)
		pthread_join(user[i], NULL);
	if (toggles)
		pthread_join(toggle, NULL);
	close_shared();
	TH_LOG("%ld opened, %ld created, %ld mapped, %ld with all events, %ld started, %ld destroyed",
	       opened, created, mapped, profiled, started, destroyed);
	TH_LOG("%ld times offline, unloaded by %ld of %ld attempts", toggled,
	       unloaded, attempts);
	TH_LOG("%ld uses of shared descriptors, %ld of them closed",
	       shared_used, shared_closed);
	EXPECT_EQ(0, wrong)
	{
		TH_LOG("step %d: %d", wrong_step, wrong_ret);
	}
	EXPECT_LT(0, created);
	EXPECT_LT(0, profiled);
	EXPECT_LT(0, started);
	EXPECT_LT(0, unloaded);
	EXPECT_LT(0, shared_closed);
	/* Nothing is left that holds the module. */
	EXPECT_EQ(0, kt_rmmod("ktape"));
}

TEST_HARNESS_MAIN
