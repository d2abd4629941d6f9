// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that the module notices a wrong guess about where the kernel's functions are: the
 * kernel gives wrong answers about its symbols while the module is loaded. Then
 * sched_blocked, which depends on the guess, is not available, and no call stack loses a
 * caller.
 */
#include "kselftest_harness.h"

#include "kt_emit.h"
#include "kt_filter.h"
#include "kt_probe.h"

#define LIE   "/tests/kt_lie.ko"
#define CALLS 100

/**
 * struct seen - what is in a ring
 * @registry: names
 * @stacks: call stacks
 * @whole: those of them that have the function of a system call
 */
struct seen {
	struct kt_map registry;
	int stacks, whole;
};

FIXTURE(layout)
{
	int dev, fd;
	struct seen seen;
};

FIXTURE_SETUP(layout)
{
	self->dev = -1;
	self->fd = -1;
	if (access(LIE, R_OK))
		SKIP(return, "this kernel has no return probes");
}

FIXTURE_TEARDOWN(layout)
{
	close(self->fd);
	close(self->dev);
	kt_rmmod_ktape();
	kt_rmmod("kt_lie");
}

/*
 * Load the module while the kernel's description of an address (sprint_symbol(): NAME+OFFSET/SIZE)
 * is replaced by @lie if it begins with @match; NULL: without any lie.
 */
static void load_with(struct __test_metadata *_metadata, FIXTURE_DATA(layout) * self,
		      const char *match, const char *lie)
{
	char text[200];

	if (match) {
		snprintf(text, sizeof(text), "match=%s lie=%s", match, lie);
		ASSERT_EQ(0, kt_insmod(LIE, text));
	}
	ASSERT_EQ(0, kt_insmod_ktape("size=256K"));
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
}

static void unload_lie(struct __test_metadata *_metadata, FIXTURE_DATA(layout) * self)
{
	close(self->fd);
	close(self->dev);
	self->fd = self->dev = -1;
	ASSERT_EQ(0, kt_rmmod_ktape());
	kt_rmmod("kt_lie");
}

static struct ktape_event_info blocked_info(int fd)
{
	struct ktape_event_info e = { .size = sizeof(e),
				      .opcode = KTAPE_EV_SCHED_BLOCKED };

	kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &e);
	return e;
}

static void check_blocked(struct __test_metadata *_metadata,
			  FIXTURE_DATA(layout) * self, uint32_t state)
{
	struct ktape_event_info e = blocked_info(self->dev);

	EXPECT_EQ(state, e.state);
	EXPECT_EQ(state == KTAPE_EVENT_AVAILABLE, !e.reason[0]);
	/* Nor is its probe attached. */
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, 64 << 10, 0,
			      KT_OPS(KTAPE_EV_SCHED_BLOCKED));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(state == KTAPE_EVENT_AVAILABLE, blocked_info(self->dev).attached);
}

/*
 * Each function by which the bounds of the scheduler are guessed is looked at. The lies are: at its
 * address is another function, or a place inside of it, or one without a name.
 */
TEST_F_TIMEOUT(layout, scheduler, 300)
{
	static const char *const lies[][2] = {
		{ "schedule+0x0/", "jump_to_schedule+0x0/0x8" },
		{ "__wait_on_bit+0x0/", "__wait_on_bit+0x8/0x40" },
		{ "down_write+0x0/", "0x123" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		load_with(_metadata, self, lies[i][0], lies[i][1]);
		check_blocked(_metadata, self, KTAPE_EVENT_LAYOUT);
		EXPECT_LT(0, kt_parameter("kt_lie", "lies"));
		unload_lie(_metadata, self);
	}
	load_with(_metadata, self, NULL, NULL);
	check_blocked(_metadata, self, KTAPE_EVENT_AVAILABLE);
}

static void count_whole_stacks(const struct kt_rec *r, void *arg)
{
	struct seen *s = arg;
	struct ktape_object_entry e;
	bool whole = false;
	uint32_t n, frame;

	if (r->op != KTAPE_EV_KERNEL_STACK)
		return;
	memcpy(&n, r->blob, sizeof(n));
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&frame, r->blob + 4 + 4 * i, sizeof(frame));
		whole |= kt_object(&s->registry, KTAPE_OBJ_FUNCTION, frame, &e) &&
			 (strstr(e.name, "syscall") || strstr(e.name, "el0_svc"));
	}
	s->stacks++;
	s->whole += whole;
}

/* No caller is missing in stacks if a tracepoint's function looks larger than it is. */
TEST_F_TIMEOUT(layout, functions_of_tracepoints, 300)
{
	static const char *const lies[][2] = {
		{ "__traceiter_sys_enter+0x0/",
		  "__traceiter_sys_enter+0x0/0xffffffffffffffff" },
		{ "__traceiter_sys_enter+0x0/",
		  "__traceiter_sys_enter+0x10/0xffffffff" },
		{ "__traceiter_sys_enter+0x0/", "another+0x0/0xffffffffffffffff" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		__u64 mask[KTAPE_MASK_WORDS] = {};
		struct kt_map events;

		memset(&self->seen, 0, sizeof(self->seen));
		load_with(_metadata, self, lies[i][0], lies[i][1]);
		ASSERT_EQ(0, kt_pin(0));
		self->fd = kt_session(KTAPE_MODE_OVERWRITE, 1 << 20, 0,
				      KT_OPS(KTAPE_EV_SYS_ENTER));
		ASSERT_LE(0, self->fd);
		kt_ops_add(mask, KTAPE_EV_SYS_ENTER);
		ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_STACK, mask,
					   KTAPE_MASK_WORDS));
		ASSERT_EQ(0, kt_map_ring(self->fd, 0, KTAPE_RING_EVENT, &events));
		ASSERT_EQ(0, kt_map_ring(self->fd, -1, KTAPE_RING_REGISTRY,
					 &self->seen.registry));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		kt_getppids(CALLS);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		EXPECT_LT(0, kt_parameter("kt_lie", "lies"));
		ASSERT_LE(0, kt_walk(&events, count_whole_stacks, &self->seen));
		EXPECT_LE(CALLS, self->seen.stacks);
		EXPECT_EQ(self->seen.stacks, self->seen.whole);
		kt_unmap_ring(&events);
		kt_unmap_ring(&self->seen.registry);
		unload_lie(_metadata, self);
	}
}

TEST_HARNESS_MAIN
