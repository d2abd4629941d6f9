// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test how readers are woken: each of 10,000 waiting descriptors, and in an interrupt
 * only a few threads, however many wait.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "kt_events.h"

#define BLOCK	    65536 /* has room for the names of all threads */
#define DESCRIPTORS 10000
#define THREADS	    150
#define AT_ONCE \
	4 /* threads that an interrupt may wake: WAKE_AT_ONCE of the module */

FIXTURE(wake)
{
	int fd;
};

FIXTURE_SETUP(wake)
{
	ASSERT_EQ(0, kt_pin(0));
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, 16 * BLOCK, BLOCK,
			      KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
}

FIXTURE_TEARDOWN(wake)
{
	close(self->fd);
}

/* Return the position up to which CPU 0 has recorded. */
static uint64_t recorded_position(int fd)
{
	struct ktape_stats st;

	return kt_stats(fd, 0, KTAPE_RING_EVENT, &st) ? 0 : st.commit;
}

/* Fill the block of CPU 0 that is open, and another one: that wakes readers. */
static void fill_two_blocks(int fd)
{
	uint64_t begin = recorded_position(fd);

	while (recorded_position(fd) - begin <= 2 * BLOCK)
		kt_rename(1);
}

/*
 * Wait at @nr duplicates of the descriptor: each is an entry in the queue of those
 * that wait.  Return: the epoll descriptor, or a negative errno.
 */
static int watch_duplicates(int fd, unsigned int nr)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int all = epoll_create1(EPOLL_CLOEXEC);

	for (unsigned int i = 0; i < nr; i++) {
		int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

		e.data.u32 = i;
		if (copy < 0 || epoll_ctl(all, EPOLL_CTL_ADD, copy, &e))
			return -errno;
	}
	return all;
}

/*
 * Wait until epoll has reported each of @nr descriptors.  It reports one (edge-triggered)
 * only if the entry of that descriptor was woken; if one is missing, the wait goes on until
 * run-tests ends the test.  Return: their number.
 */
static unsigned int wait_for_edges(int all, unsigned int nr)
{
	static struct epoll_event e[512];
	static bool was_woken[DESCRIPTORS];
	unsigned int woken = 0;

	memset(was_woken, 0, sizeof(was_woken));
	while (woken < nr) {
		int n = epoll_wait(all, e, ARRAY_SIZE(e), -1);

		for (int i = 0; i < n; i++) {
			woken += !was_woken[e[i].data.u32];
			was_woken[e[i].data.u32] = true;
		}
	}
	return woken;
}

TEST_F_TIMEOUT(wake, each_of_10000_descriptors, 300)
{
	const struct rlimit files = { DESCRIPTORS + 100, DESCRIPTORS + 100 };
	static struct epoll_event e[512];
	int all;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	all = watch_duplicates(self->fd, DESCRIPTORS);
	ASSERT_GE(all, 0);
	/* What was there when they began to wait is reported first. */
	fill_two_blocks(self->fd);
	EXPECT_EQ(DESCRIPTORS, wait_for_edges(all, DESCRIPTORS));
	for (int i = 0; i < 3; i++) {
		/* An earlier wake-up may still be under way: take its edges. */
		while (epoll_wait(all, e, ARRAY_SIZE(e), 200) > 0)
			;
		fill_two_blocks(self->fd);
		EXPECT_EQ(DESCRIPTORS, wait_for_edges(all, DESCRIPTORS));
	}
	close(all);
}

/* ---- threads that wait, and the interrupts that wake them --------------------- */

/* A thread that waits in poll(). */
struct waiter {
	pthread_t thread;
	pid_t tid;
	int fd;
	short revents;
};

static void *wait_main(void *arg)
{
	struct waiter *w = arg;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	poll(&p, 1, -1);
	w->revents = p.revents;
	return NULL;
}

/* Once a thread has stored its tid, poll() is the only place where it sleeps. */
static bool sleeps_in_poll(const struct waiter *w)
{
	pid_t tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE);
	char path[64], text[256] = "", *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = tid ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static bool is_waiter(const struct waiter *w, int32_t tid)
{
	for (int i = 0; i < THREADS; i++)
		if (w[i].tid == tid)
			return true;
	return false;
}

/*
 * Return the largest number of the threads that one irq_work interrupt of CPU 0 woke,
 * and in @all how often any of them was woken anywhere.
 */
static unsigned int woken_at_once(const struct kt_events *e,
				  const struct waiter *w, unsigned int *all)
{
	unsigned int now = 0, most = 0;
	bool inside = false;

	*all = 0;
	for (size_t i = 0; i < e->nr; i++) {
		const struct kt_ev *v = &e->v[i];

		if (v->op == KTAPE_EV_SCHED_WAKING && is_waiter(w, v->arg[0])) {
			++*all;
			now += inside && !v->cpu;
			most = now > most ? now : most;
		}
		if (v->op == KTAPE_EV_SCHED_WAKING || v->cpu ||
		    v->dat20 != KTAPE_IPI_IRQ_WORK)
			continue;
		inside = v->op == KTAPE_EV_IPI_ENTRY;
		now = 0;
	}
	return most;
}

TEST_F_TIMEOUT(wake, few_threads_in_an_interrupt, 300)
{
	static struct waiter w[THREADS];
	struct kt_events e;
	unsigned int most, all;

	if (!kt_available(KTAPE_EV_IPI_ENTRY))
		SKIP(return, "the kernel does not tell of irq_work interrupts");
	for (int i = 0; i < THREADS; i++) {
		w[i].fd = self->fd;
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, wait_main, &w[i]));
	}
	for (int i = 0; i < THREADS; i++)
		while (!sleeps_in_poll(&w[i]))
			usleep(1000);
	ASSERT_EQ(0, kt_events_start(&e, KT_OPS(KTAPE_EV_IPI_ENTRY, KTAPE_EV_IPI_EXIT,
						KTAPE_EV_SCHED_WAKING)));
	fill_two_blocks(self->fd);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		EXPECT_TRUE(w[i].revents & POLLIN);
	}
	ASSERT_STREQ("", kt_events_stop(&e));
	most = woken_at_once(&e, w, &all);
	EXPECT_LE(THREADS, all);
	EXPECT_LE(1, most);
	EXPECT_GE(AT_ONCE, most);
	TH_LOG("%u threads woken, at most %u in one interrupt", all, most);
	kt_events_free(&e);
}

TEST_HARNESS_MAIN
