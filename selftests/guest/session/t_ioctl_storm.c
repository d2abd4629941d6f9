// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads issue random commands with random arguments on shared and own
 * sessions, while another thread changes the arguments concurrently. Afterwards
 * the module must still work.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "kselftest_harness.h"

#include <ktape/filter.h>
#include <ktape/trigger.h>

#include "kt_ring.h"
#include "lcg.h"

#define THREADS	 8
#define SECONDS	 4
#define PATIENCE 20  /* maximum, in seconds, within the harness's limit */
#define ENOUGH	 100 /* minimum number of calls */
#define COMMANDS 15
#define SHARED	 2
#define ARG_SIZE 4096
#define GUARD	 64
#define POISON	 0x5a

/* Other commands are issued only where a changed bit turns one of these into them. */
static const unsigned long commands[COMMANDS] = {
	KTAPE_IOC_FEATURES,   KTAPE_IOC_LAYOUT,	  KTAPE_IOC_PROFILE,
	KTAPE_IOC_START,      KTAPE_IOC_STOP,	  KTAPE_IOC_CLEAR,
	KTAPE_IOC_FLUSH,      KTAPE_IOC_STATS,	  KTAPE_IOC_CONSUMER,
	KTAPE_IOC_EVENT_INFO, KTAPE_IOC_METADATA, KTAPE_IOC_WATERMARK,
	KTAPE_IOC_CREATE,     KTAPE_IOC_FILTER,	  KTAPE_IOC_TRIGGER,
};

/* Values that often pass the first checks. */
static const uint64_t numbers[] = {
	0,	    1,		2,	    3,		4,
	60,	    61,		255,	    256,	4095,
	4096,	    4097,	8192,	    65536,	0x7fffffff,
	0x80000000, 0xffffffff, 1ULL << 32, 1ULL << 63, ~0ULL,
};

/*
 * Memory of one calling thread: the argument of its calls, which another thread changes;
 * bytes behind it, which no call may change; and memory to which the argument points.
 */
struct slot {
	char arg[ARG_SIZE];
	char guard[GUARD];
	char out[16384];
};

static struct slot *slots;
static int shared[1 + SHARED]; /* session 0, and sessions that all threads use */
static atomic_bool ends;
static atomic_long calls, passed, broken, wrong_cmd, wrong_ret;

static uint64_t any_number(uint64_t *seed)
{
	return numbers[lcg_next(seed) % ARRAY_SIZE(numbers)];
}

/*
 * Commands that wait for all CPUs are rare, because they would slow down
 * everything else.
 */
static unsigned long any_command(uint64_t *seed)
{
	unsigned long cmd = commands[lcg_next(seed) % COMMANDS];
	bool slow = cmd == KTAPE_IOC_START || cmd == KTAPE_IOC_STOP ||
		    cmd == KTAPE_IOC_FILTER || cmd == KTAPE_IOC_TRIGGER;

	return slow && lcg_next(seed) % 16 ? KTAPE_IOC_STATS : cmd;
}

/* Keep session sizes small or impossible, so that memory does not run out. */
static void make_create(uint64_t *seed, struct ktape_create *c)
{
	static const uint64_t sizes[] = { 0, 1, 65536, 1ULL << 32, ~0ULL };

	c->mode = lcg_next(seed) % 3;
	c->ring_size = sizes[lcg_next(seed) % ARRAY_SIZE(sizes)];
	c->control_size = sizes[lcg_next(seed) % ARRAY_SIZE(sizes)];
	c->block_size = lcg_next(seed) % 2 ? 4096 : 0;
	c->flags = lcg_next(seed) % 8 == 0;
	c->reserved = 0;
}

/*
 * Fill in an argument that a command may accept. Its pointers, if any, go to s->out: entries at
 * byte 8 (LAYOUT), text at 16 behind its length at 8 (METADATA), positions at 16 (CONSUMER),
 * entries at 16 before members that must be zero (FILTER).
 */
static void make_argument(uint64_t *seed, unsigned long cmd, struct slot *s)
{
	struct ktape_profile *p = (void *)s->arg;
	uint32_t *word = (uint32_t *)s->arg;

	memset(s->arg, 0, 512);
	for (int i = 1; i < 8; i++)
		if (lcg_next(seed) % 4 == 0)
			word[i] = any_number(seed);
	/* The size: most often larger than any structure, with zeros behind it. */
	word[0] = lcg_next(seed) % 8 ? 400 : any_number(seed);
	switch (cmd) {
	case KTAPE_IOC_PROFILE:
		p->size = sizeof(*p);
		p->op = lcg_next(seed) % 16 ? KTAPE_PROFILE_GET :
					      lcg_next(seed) % 4;
		break;
	case KTAPE_IOC_METADATA:
	case KTAPE_IOC_LAYOUT:
		*(uint64_t *)(s->arg + 8) = (uintptr_t)s->out;
		if (cmd == KTAPE_IOC_LAYOUT)
			break;
		*(uint64_t *)(s->arg + 8) = sizeof(s->out);
		*(uint64_t *)(s->arg + 16) = (uintptr_t)s->out;
		break;
	case KTAPE_IOC_CONSUMER:
		*(uint64_t *)(s->arg + 16) = (uintptr_t)s->out;
		for (int i = 0; i < 32; i++)
			((uint64_t *)s->out)[i] = any_number(seed);
		break;
	case KTAPE_IOC_FILTER:
		*(uint64_t *)(s->arg + 16) = (uintptr_t)s->out;
		memset(s->arg + 24, 0, 16);
		for (int i = 0; i < 32; i++)
			((uint64_t *)s->out)[i] = any_number(seed);
		break;
	case KTAPE_IOC_CREATE:
		make_create(seed, (void *)s->arg);
		break;
	}
}

static bool guard_whole(const struct slot *s)
{
	for (int i = 0; i < GUARD; i++)
		if (s->guard[i] != POISON)
			return false;
	return true;
}

/*
 * Return true if an error is right for this command, though not for all of them. A
 * @strange number, which was changed in one bit, may be any command.
 */
static bool is_error_of_command(unsigned long cmd, int ret, bool strange)
{
	if (cmd == KTAPE_IOC_EVENT_INFO && ret == -ENOENT)
		return true;
	return (strange || cmd == KTAPE_IOC_TRIGGER) &&
	       (ret == -ENOENT || ret == -ENOSPC || ret == -EBUSY ||
		(strange && (ret == -ENODATA || ret == -EEXIST)));
}

static void *issue_random_commands(void *arg)
{
	struct slot *s = arg;
	uint64_t seed = 12345 + (s - slots);
	int own = -1, fd, ret;
	unsigned long cmd;
	bool strange;

	while (!atomic_load(&ends)) {
		if (own < 0)
			own = kt_create(shared[0], lcg_next(&seed) % 2, 65536, 0);
		fd = shared[lcg_next(&seed) % ARRAY_SIZE(shared)];
		if (own >= 0 && lcg_next(&seed) % 2)
			fd = own;
		cmd = any_command(&seed);
		strange = lcg_next(&seed) % 64 == 0;
		if (strange)
			cmd ^= 1UL << lcg_next(&seed) % 32;
		make_argument(&seed, cmd, s);
		ret = kt_ioctl(fd, cmd, s->arg);
		atomic_fetch_add(&calls, 1);
		atomic_fetch_add(&passed, ret >= 0);
		if (cmd == KTAPE_IOC_CREATE && ret > 2)
			close(ret);
		/* These errors are right for any command. */
		if (!guard_whole(s) ||
		    (ret < 0 && ret != -EINVAL && ret != -EFAULT && ret != -ENOTTY &&
		     ret != -E2BIG && ret != -ENXIO && ret != -EMSGSIZE &&
		     ret != -EMFILE && ret != -ENOMEM && ret != -EOPNOTSUPP &&
		     ret != -EAGAIN && ret != -ESRCH && ret != -EBADF &&
		     ret != -ENODEV && !is_error_of_command(cmd, ret, strange))) {
			atomic_store(&wrong_cmd, (long)cmd);
			atomic_store(&wrong_ret, ret);
			atomic_fetch_add(&broken, 1);
		}
		if (own >= 0 && lcg_next(&seed) % 512 == 0) {
			close(own);
			own = -1;
		}
	}
	if (own >= 0)
		close(own);
	return NULL;
}

/*
 * Change the arguments of half of the threads while the kernel reads them. It must use
 * the values that it has checked, above all the size.
 */
static void *change_arguments_main(void *unused)
{
	uint64_t seed = 1;

	while (!atomic_load(&ends)) {
		struct slot *s = &slots[lcg_next(&seed) % (THREADS / 2)];
		volatile uint32_t *word = (uint32_t *)s->arg;

		/* Never write a value that CREATE would accept as a large ring. */
		word[0] = lcg_next(&seed) % 2 ? 8 : 400;
		word[1] = lcg_next(&seed) % 4;
	}
	return NULL;
}

static void check_session(struct __test_metadata *_metadata, int fd)
{
	struct ktape_layout_entry e[64];
	struct ktape_stats st;
	struct ktape_layout l;
	struct kt_map m;

	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_layout(fd, &l, e, 64));
	EXPECT_EQ(0, l.running);
	for (__u32 i = 0; i < l.nr; i++) {
		if (e[i].kind == KTAPE_RING_REGISTRY)
			continue;
		ASSERT_EQ(0, kt_stats(fd, e[i].cpu, e[i].kind, &st));
		ASSERT_EQ(0, kt_map_ring(fd, e[i].cpu, e[i].kind, &m));
		EXPECT_EQ(0, memcmp(st.emitted, m.page->emitted,
				    sizeof(st.emitted)));
		EXPECT_LE(0, kt_walk(&m, NULL, NULL));
		kt_unmap_ring(&m);
	}
}

TEST(storm)
{
	pthread_t thread[THREADS + 1];

	slots = mmap(NULL, THREADS * sizeof(*slots), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, slots);
	shared[0] = kt_open(O_RDWR);
	ASSERT_LE(0, shared[0]);
	for (int i = 1; i <= SHARED; i++) {
		shared[i] = kt_create(shared[0], i % 2, 65536, 4096);
		ASSERT_LE(0, shared[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		memset(slots[i].guard, POISON, GUARD);
		ASSERT_EQ(0, pthread_create(&thread[i], NULL,
					    issue_random_commands, &slots[i]));
	}
	ASSERT_EQ(0, pthread_create(&thread[THREADS], NULL,
				    change_arguments_main, NULL));
	kt_alarms(100);
	/* Signals end a sleep early. A slow machine gets more time. */
	for (time_t since = time(NULL), now = since;
	     now < since + SECONDS ||
	     (now < since + PATIENCE && (calls <= ENOUGH || !passed));
	     now = time(NULL))
		usleep(10000);
	atomic_store(&ends, true);
	for (int i = 0; i <= THREADS; i++)
		pthread_join(thread[i], NULL);
	kt_alarms(0);
	TH_LOG("%ld calls, %ld of them succeeded", calls, passed);
	EXPECT_EQ(0, broken)
	{
		TH_LOG("command %#lx: %ld", wrong_cmd, wrong_ret);
	}
	EXPECT_LT(ENOUGH, calls);
	EXPECT_LT(0, passed);
	for (int i = 0; i <= SHARED; i++)
		check_session(_metadata, shared[i]);
}

TEST_HARNESS_MAIN
