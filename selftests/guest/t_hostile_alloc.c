// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make each allocation of each call fail, one after the other.  The call succeeds
 * nevertheless, or fails with ENOMEM, and succeeds when it is repeated.  Loading the
 * module and creating a session are in t_load_fail.
 */
#include <poll.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_hostile.h"
#include "kt_load.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"

#define FAIL_NTH	"/proc/self/fail-nth"
#define NTH_MAX		3000
#define ENTRIES		129

static int dev, fd, mark;
static unsigned int slot;	/* opcode of a probe that was added, or 0 */
static char buf[65536];

/* Make the @nth allocation of this thread from here on fail; 0: none. */
static int fail_nth(int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", nth);
	return kt_write_text(FAIL_NTH, text);
}

/* Return true if the call never reached the allocation that was to fail. */
static bool not_reached(void)
{
	char text[16] = "";
	int f = open(FAIL_NTH, O_RDONLY | O_CLOEXEC);

	if (f < 0 || read(f, text, sizeof(text) - 1) < 0)
		return true;
	close(f);
	return atoi(text) > 0;
}

static bool can_inject(void)
{
	if (access(FAIL_NTH, W_OK))
		return false;
	/* Include allocations that may sleep, pages as well as slabs. */
	kt_write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	kt_write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	kt_write_text("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	return true;
}

/* ---- calls: a result or a negative errno ----------------------------------- */

static int or_errno(long ret)
{
	return ret < 0 ? -errno : 0;
}

static int close_it(int ret)
{
	if (ret >= 0)
		close(ret);
	return ret < 0 ? ret : 0;
}

static int do_open(void)
{
	return close_it(kt_open(O_RDWR));
}

static int do_open_mark(void)
{
	int m = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);

	return close_it(m < 0 ? -errno : m);
}

static int do_open_session(void)
{
	struct ktape_session_ref ref = { .size = sizeof(ref) };

	return close_it(kt_ioctl(dev, KTAPE_IOC_OPEN, &ref));
}

static int do_layout(void)
{
	struct ktape_layout_entry e[ENTRIES];
	struct ktape_layout l;

	return kt_layout(fd, &l, e, ENTRIES);
}

static int do_metadata(void)
{
	static char text[1 << 20];
	struct ktape_metadata m = { .size = sizeof(m), .length = sizeof(text),
				    .text = (uintptr_t)text };

	return kt_ioctl(fd, KTAPE_IOC_METADATA, &m);
}

static int do_sessions(void)
{
	struct ktape_session_info all[8];
	int ret = kt_sessions(dev, all);

	return ret < 0 ? ret : 0;
}

static int do_profile(void)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	kt_mask_add(p.mask, KTAPE_EV_SYS_ENTER);
	kt_mask_add(p.mask, KTAPE_EV_SCHED_SWITCH);
	return kt_profile(fd, &p);
}

static int do_start(void)
{
	return kt_command(fd, KTAPE_IOC_START);
}

static void after_start(void)
{
	kt_command(fd, KTAPE_IOC_STOP);
}

static void before_stop(void)
{
	kt_command(fd, KTAPE_IOC_START);
}

static int do_stop(void)
{
	return kt_command(fd, KTAPE_IOC_STOP);
}

static int set_filter(uint32_t kind, const void *entries, uint32_t nr)
{
	struct ktape_filter f = { .size = sizeof(f), .op = KTAPE_FILTER_SET,
				  .kind = kind, .nr = nr,
				  .entries = (uintptr_t)entries };

	return kt_ioctl(fd, KTAPE_IOC_FILTER, &f);
}

static int do_filter_pid(void)
{
	struct ktape_filter_pid e[2] = {
		{ getpid(), KTAPE_PID_THREADS | KTAPE_PID_CHILDREN },
		{ 1, KTAPE_PID_EXCEPT },
	};

	return set_filter(KTAPE_FILTER_PID, e, 2);
}

static int do_filter_uid(void)
{
	uint32_t uid = 0;

	return set_filter(KTAPE_FILTER_UID, &uid, 1);
}

static int do_filter_syscall(void)
{
	uint64_t bits[KTAPE_FILTER_SYSCALL_WORDS] = { ~0ULL };

	return set_filter(KTAPE_FILTER_SYSCALL, bits, KTAPE_FILTER_SYSCALL_WORDS);
}

static int do_filter_gate(void)
{
	struct ktape_filter_gate e = { .gate = KTAPE_GATE_SYSCALL, .ns = 1000 };

	return set_filter(KTAPE_FILTER_GATE, &e, 1);
}

static int do_filter_rate(void)
{
	struct ktape_filter_rate e = { KTAPE_EV_SYS_ENTER, 1000 };

	return set_filter(KTAPE_FILTER_RATE, &e, 1);
}

static int do_filter_stack(void)
{
	uint64_t bits[KTAPE_MASK_WORDS] = {};

	kt_mask_add((__u64 *)bits, KTAPE_EV_SCHED_SWITCH);
	return set_filter(KTAPE_FILTER_STACK, bits, KTAPE_MASK_WORDS);
}

static int do_trigger(void)
{
	struct ktape_trigger t = { .size = sizeof(t), .op = KTAPE_TRIGGER_ADD,
				   .when = KTAPE_TRIGGER_EVENT,
				   .opcode = KTAPE_EV_SYS_ENTER,
				   .actions = KTAPE_TRIGGER_MARK };
	int ret = kt_ioctl(fd, KTAPE_IOC_TRIGGER, &t);

	if (!ret) {
		struct ktape_trigger r = { .size = sizeof(r), .id = t.id,
					   .op = KTAPE_TRIGGER_REMOVE };

		ret = kt_ioctl(fd, KTAPE_IOC_TRIGGER, &r);
	}
	return ret;
}

static int do_probe(void)
{
	struct ktape_probe p = { .size = sizeof(p), .op = KTAPE_PROBE_ADD,
				 .symbol = "do_sys_openat2" };
	int ret = kt_ioctl(dev, KTAPE_IOC_PROBE, &p);

	slot = ret ? 0 : p.opcode;
	return ret;
}

static void after_probe(void)
{
	struct ktape_probe r = { .size = sizeof(r), .opcode = slot,
				 .op = KTAPE_PROBE_REMOVE };

	if (slot)
		kt_ioctl(dev, KTAPE_IOC_PROBE, &r);
	slot = 0;
}

static int do_consumer(void)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_REGISTER };
	int ret = kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c);

	if (!ret) {
		c.op = KTAPE_CONSUMER_UNREGISTER;
		ret = kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c);
	}
	return ret;
}

static int do_read(void)
{
	struct ktape_session_ref ref = { .size = sizeof(ref) };
	int s = kt_ioctl(dev, KTAPE_IOC_OPEN, &ref), ret = s;

	for (int i = 0; s >= 0 && i < 4; i++) {
		fcntl(s, F_SETFL, O_NONBLOCK);
		ret = or_errno(read(s, buf, sizeof(buf)));
		if (ret)
			break;
	}
	if (s >= 0)
		close(s);
	return ret == -EAGAIN ? 0 : ret;
}

static int do_map(void)
{
	struct kt_map m;
	int ret = kt_map(fd, 0, KTAPE_RING_EVENT, &m);

	if (!ret) {
		/* The page fault of a system call allocates, and may be refused. */
		madvise(m.page, m.size, MADV_WILLNEED);
		kt_unmap(&m);
	}
	return ret;
}

static int do_poll(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return or_errno(poll(&p, 1, 0));
}

static int do_mark(void)
{
	return or_errno(write(mark, "text", 4));
}

static int do_name(void)
{
	static uint32_t id;
	struct ktape_name n = { .size = sizeof(n), .type = KTAPE_OBJ_USER,
				.id = ++id % 16, .name = "name" };

	return kt_ioctl(mark, KTAPE_MARK_IOC_NAME, &n);
}

/**
 * struct call - a call of the module
 * @call: makes it; its allocations fail
 * @before: what it needs, or NULL
 * @after: undoes it, or NULL
 */
struct call {
	const char *name;
	int (*call)(void);
	void (*before)(void);
	void (*after)(void);
};

static const struct call calls[] = {
	{ "open", do_open }, { "open mark", do_open_mark },
	{ "OPEN", do_open_session }, { "LAYOUT", do_layout },
	{ "METADATA", do_metadata }, { "SESSIONS", do_sessions },
	{ "PROFILE", do_profile },
	{ "START", do_start, NULL, after_start },
	{ "STOP", do_stop, before_stop, after_start },
	{ "FILTER pid", do_filter_pid }, { "FILTER uid", do_filter_uid },
	{ "FILTER syscall", do_filter_syscall },
	{ "FILTER gate", do_filter_gate }, { "FILTER rate", do_filter_rate },
	{ "FILTER stack", do_filter_stack }, { "TRIGGER", do_trigger },
	{ "PROBE", do_probe, NULL, after_probe },
	{ "CONSUMER", do_consumer }, { "read", do_read }, { "mmap", do_map },
	{ "poll", do_poll }, { "write mark", do_mark }, { "NAME", do_name },
};

/*
 * Make a call whose allocation @nth fails; 0: none.  Return its result, and in @over
 * whether it did not make that many.
 */
static int make_call(const struct call *c, int nth, bool *over)
{
	int ret;

	if (c->before)
		c->before();
	fail_nth(nth);
	ret = c->call();
	*over = not_reached();
	fail_nth(0);
	if (c->after)
		c->after();
	return ret;
}

/* ---- the test -------------------------------------------------------------- */

FIXTURE(alloc) {
};

FIXTURE_SETUP(alloc)
{
	kt_write_text("/sys/kernel/rcu_expedited", "1");
	dev = kt_open(O_RDWR);
	ASSERT_LE(0, dev);
	fd = kt_create(dev, KTAPE_MODE_DISCARD, 65536, 4096);
	ASSERT_LE(0, fd);
	mark = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, mark);
}

FIXTURE_TEARDOWN(alloc)
{
	close(mark);
	close(fd);
	close(dev);
	kt_write_text("/sys/kernel/rcu_expedited", "0");
}

TEST_F_TIMEOUT(alloc, each_of_each_call, 1800)
{
	int total = 0, mattered = 0;

	if (!can_inject())
		SKIP(return, "kernel without CONFIG_FAULT_INJECTION");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		int nth, failed = 0, ret;
		bool over;

		EXPECT_EQ(0, make_call(&calls[i], 0, &over)) {
			TH_LOG("%s without a failure", calls[i].name);
		}
		for (nth = 1, over = false; nth < NTH_MAX && !over; nth++) {
			ret = make_call(&calls[i], nth, &over);
			EXPECT_TRUE(!ret || ret == -ENOMEM) {
				TH_LOG("%s, allocation %d: %d", calls[i].name,
				       nth, ret);
			}
			failed += ret != 0;
		}
		EXPECT_EQ(0, make_call(&calls[i], 0, &over)) {
			TH_LOG("%s after all failures", calls[i].name);
		}
		printf("# %s: %d allocations, %d of them needed\n",
		       calls[i].name, nth - 2, failed);
		total += nth - 2;
		mattered += failed;
		EXPECT_GT(NTH_MAX, nth);
	}
	TH_LOG("%d allocations, %d of them needed", total, mattered);
	EXPECT_LT(0, mattered);
}

TEST_HARNESS_MAIN
