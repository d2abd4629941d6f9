// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test call stacks: one behind each event that wants one and none behind others, with the
 * right functions, cut where a record has no room. A rate limit of stacks limits no events,
 * and a lost event has no stack.
 */

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_probe.h"

#define LOAD_CPU   0
#define CALLS	   300
#define NESTED_MAX 64

/**
 * struct seen - events and stacks of a ring
 * @mask: opcodes that have stacks
 * @events: number of events of these opcodes
 * @stacks: number of stacks
 * @wrong: stacks without an event before them, or with odd sizes
 * @nested: events without their stacks so far, the latest last
 * @nr: number of these
 * @frames: frames of the latest stack, innermost first
 * @nr_frames: number of these
 * @cut: the latest stack has more frames
 */
struct seen {
	const __u64 *mask;
	long events, stacks, wrong;
	unsigned int nested[NESTED_MAX];
	int nr;
	uint32_t frames[KTAPE_STACK_FRAMES], nr_frames;
	bool cut;
};

static void check_stack_record(const struct kt_rec *r, void *arg)
{
	struct seen *s = arg;
	uint32_t n;

	if (r->op != KTAPE_EV_KERNEL_STACK) {
		if (!kt_ops_has(s->mask, r->op))
			return;
		s->events++;
		if (s->nr < NESTED_MAX)
			s->nested[s->nr++] = r->op;
		return;
	}
	s->stacks++;
	memcpy(&n, r->blob, sizeof(n));
	if (!s->nr || s->nested[--s->nr] != (r->dat20 & ~KTAPE_STACK_CUT) ||
	    !n || n > KTAPE_STACK_FRAMES || r->size != 4 + 4 * n) {
		s->wrong++;
		return;
	}
	s->nr_frames = n;
	s->cut = r->dat20 & KTAPE_STACK_CUT;
	memcpy(s->frames, r->blob + 4, 4 * n);
}

static int stacks_of(int fd, uint32_t op, const __u64 *mask)
{
	struct ktape_filter f = { .size = sizeof(f),
				  .op = op,
				  .kind = KTAPE_FILTER_STACK };

	if (op == KTAPE_FILTER_SET) {
		f.nr = KTAPE_MASK_WORDS;
		f.entries = (uintptr_t)mask;
	}
	return kt_ioctl(fd, KTAPE_IOC_FILTER, &f);
}

FIXTURE(stack)
{
	int main, fd;
	struct kt_map events, registry;
	__u64 mask[KTAPE_MASK_WORDS];
	struct seen seen;
};

FIXTURE_SETUP(stack)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 4 << 20, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT,
				 &self->events));
	ASSERT_EQ(0, kt_map_ring(self->fd, -1, KTAPE_RING_REGISTRY, &self->registry));
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
	ASSERT_EQ(0, kt_target_load());
	self->seen.mask = self->mask;
}

FIXTURE_TEARDOWN(stack)
{
	kt_unmap_ring(&self->events);
	kt_unmap_ring(&self->registry);
	close(self->fd);
	for (int i = 0; i < KTAPE_PROBES; i++)
		kt_probe_remove(self->main, KTAPE_OP_PROBE + i);
	EXPECT_EQ(0, kt_target_unload());
	close(self->main);
}

/* Set the profile, with stacks for all its events, and start. */
static void start_with_stacks(struct __test_metadata *_metadata,
			      FIXTURE_DATA(stack) * self, unsigned int a,
			      unsigned int b)
{
	kt_ops_add(self->mask, a);
	if (b)
		kt_ops_add(self->mask, b);
	ASSERT_EQ(0, stacks_of(self->fd, KTAPE_FILTER_SET, self->mask));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, a, b, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
}

static void stop_and_check_stacks(struct __test_metadata *_metadata,
				  FIXTURE_DATA(stack) * self)
{
	struct ktape_stats st;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, self->events.page->tail);
	ASSERT_LE(0, kt_walk(&self->events, check_stack_record, &self->seen));
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_EQ(0, self->seen.nr);
	EXPECT_EQ(self->seen.events, self->seen.stacks);
	ASSERT_EQ(0, kt_stats(self->fd, LOAD_CPU, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(self->seen.stacks, st.emitted[KTAPE_CLASS_STACK]);
}

/*
 * Return the frame of the stored stack whose function's name contains @name, -1 if
 * none.
 */
static int frame_of(FIXTURE_DATA(stack) * self, const char *name)
{
	struct ktape_object_entry e;

	for (uint32_t i = 0; i < self->seen.nr_frames; i++)
		if (kt_object(&self->registry, KTAPE_OBJ_FUNCTION,
			      self->seen.frames[i], &e) &&
		    strstr(e.name, name))
			return (int)i;
	return -1;
}

static void log_frames(struct __test_metadata *_metadata, FIXTURE_DATA(stack) * self)
{
	struct ktape_object_entry e;

	for (uint32_t i = 0; i < self->seen.nr_frames; i++)
		TH_LOG("%u: %.32s", i,
		       kt_object(&self->registry, KTAPE_OBJ_FUNCTION,
				 self->seen.frames[i], &e) ?
			       e.name :
			       "?");
}

/*
 * SYSTEM_CALL is the function in which the kernel handles system calls, if it is one.
 * INSIDE is where an instruction begins that is not a function's first one.
 */
#if defined(__x86_64__)
#define SYSTEM_CALL "do_syscall_64"
#define INSIDE	    5
#elif defined(__aarch64__)
#define SYSTEM_CALL "do_el0_svc"
#define INSIDE	    8
#else
#define SYSTEM_CALL ""
#define INSIDE	    8
#endif

/* Frames of the tracepoint of a system call, without ktape's own frames. */
static void check_enter(struct __test_metadata *_metadata, FIXTURE_DATA(stack) * self)
{
	EXPECT_LE(CALLS, self->seen.events);
	EXPECT_EQ(0, frame_of(self, "enter"));
	if (SYSTEM_CALL[0])
		EXPECT_LT(0, frame_of(self, SYSTEM_CALL));
	EXPECT_EQ(-1, frame_of(self, "__traceiter"));
	EXPECT_EQ(-1, frame_of(self, "probe_"));
	EXPECT_EQ(-1, frame_of(self, "kt_"));
}

TEST_F(stack, system_calls)
{
	start_with_stacks(_metadata, self, KTAPE_EV_SYS_ENTER, 0);
	kt_getppids(CALLS);
	stop_and_check_stacks(_metadata, self);
	log_frames(_metadata, self);
	check_enter(_metadata, self);
}

/* With two probes at one tracepoint the kernel calls them in a loop. */
TEST_F(stack, two_probes_at_one_tracepoint)
{
	int other = kt_create(self->main, 0, 1 << 16, 0);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, kt_profile_ops(other, KTAPE_PROFILE_SET, KTAPE_EV_SYS_PATH,
				    KTAPE_EV_SYS_ENTER_WIDE, 0));
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_START));
	start_with_stacks(_metadata, self, KTAPE_EV_SYS_ENTER, 0);
	kt_getppids(CALLS);
	stop_and_check_stacks(_metadata, self);
	log_frames(_metadata, self);
	check_enter(_metadata, self);
	close(other);
}

/* Two events, of which one has stacks, and later that one is not recorded any more. */
TEST_F(stack, only_what_was_asked)
{
	start_with_stacks(_metadata, self, KTAPE_EV_SYS_ENTER, 0);
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_EXIT, 0, 0));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_ANDNOT,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	kt_getppids(CALLS);
	stop_and_check_stacks(_metadata, self);
	EXPECT_LE(CALLS, self->seen.stacks);
	EXPECT_GT(2 * CALLS, self->seen.stacks);
}

TEST_F(stack, off)
{
	start_with_stacks(_metadata, self, KTAPE_EV_SYS_ENTER, 0);
	ASSERT_EQ(0, stacks_of(self->fd, KTAPE_FILTER_OFF, NULL));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_LE(0, kt_walk(&self->events, check_stack_record, &self->seen));
	EXPECT_LE(CALLS, self->seen.events);
	EXPECT_GT(CALLS, self->seen.stacks);
}

/* Stacks of nested contexts nest like their events. */
TEST_F(stack, contexts)
{
	start_with_stacks(_metadata, self, KTAPE_EV_SCHED_SWITCH,
			  KTAPE_EV_SOFTIRQ_ENTRY);
	kt_alarms(1000);
	for (int i = 0; i < 50; i++) {
		usleep(2000);
		kt_getppids(100);
	}
	kt_alarms(0);
	stop_and_check_stacks(_metadata, self);
	EXPECT_LE(50, self->seen.events);
	log_frames(_metadata, self);
}

FIXTURE(probes)
{
	FIXTURE_DATA(stack) s;
};

FIXTURE_VARIANT(probes)
{
	uint32_t flags, offset;
};

/* clang-format off */
/* By ftrace's call at the entry, by a breakpoint, by a replaced return address. */
FIXTURE_VARIANT_ADD(probes, entry) { 0, 0 };
FIXTURE_VARIANT_ADD(probes, breakpoint) { 0, INSIDE };
FIXTURE_VARIANT_ADD(probes, leave) { KTAPE_PROBE_RETURN, 0 };
/* clang-format on */

FIXTURE_SETUP(probes)
{
	stack_setup(_metadata, &self->s, NULL);
}

FIXTURE_TEARDOWN(probes)
{
	stack_teardown(_metadata, &self->s, NULL);
}

/*
 * Return true if the kernel can unwind from any instruction. With frame
 * pointers only, a function that is stopped before it has set up its frame
 * hides its caller.
 */
static bool has_orc(int fd)
{
	int opcode = kt_probe_add(fd, "unwind_module_init", 0, 0);

	if (opcode > 0)
		kt_probe_remove(fd, opcode);
	/* Only the unwinder of ORC has this function. Another error says nothing about it. */
	return opcode != -ENOENT;
}

/*
 * Does the stack end at the function that a return probe has put in place of the
 * return address?  Unwinders of x86 get past it since 5.15.
 */
static bool ends_at_trampoline(FIXTURE_DATA(stack) * self)
{
	const uint32_t n = self->seen.nr_frames;
	struct ktape_object_entry e;

	return n &&
	       kt_object(&self->registry, KTAPE_OBJ_FUNCTION,
			 self->seen.frames[n - 1], &e) &&
	       !strcmp(e.name, "kretprobe_trampoline");
}

/*
 * The stack of a probe begins with the probed function, or with its caller if it is at the return,
 * and has the functions through which it was called.
 */
TEST_F(probes, frames)
{
	struct ktape_probe p = { .flags = variant->flags,
				 .offset = variant->offset,
				 .symbol = "ktape_target" };
	int at, ret = kt_probe_op(self->s.main, KTAPE_PROBE_ADD, &p);

	/* A kernel with IBT has a 4-byte instruction before the call. */
	if (ret == -EINVAL && p.offset) {
		p.offset += 4;
		ret = kt_probe_op(self->s.main, KTAPE_PROBE_ADD, &p);
	}
	ASSERT_EQ(0, ret);
	start_with_stacks(_metadata, &self->s, p.opcode, 0);
	ASSERT_EQ(0, kt_target_calls(CALLS));
	stop_and_check_stacks(_metadata, &self->s);
	log_frames(_metadata, &self->s);
	EXPECT_EQ(CALLS, self->s.seen.stacks);
	at = frame_of(&self->s, "ktape_target");
	EXPECT_EQ(variant->flags ? -1 : 0, at);
	if (variant->flags && ends_at_trampoline(&self->s)) {
		TH_LOG("the kernel cannot unwind from a return probe");
	} else if (variant->flags || has_orc(self->s.main)) {
		EXPECT_LE(at + 1, frame_of(&self->s, "call_target"));
		EXPECT_LT(frame_of(&self->s, "call_target"),
			  frame_of(&self->s, "param_attr_store"));
	} else {
		EXPECT_LE(at + 1, frame_of(&self->s, "param_attr_store"));
	}
}

/* ---- stacks that are longer than their records ----------------------------- */

/* Let ktape_target() be called below so many calls, and look at its only stack. */
static void stack_below(struct __test_metadata *_metadata,
			FIXTURE_DATA(stack) * self, unsigned int calls)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", calls);
	memset(&self->seen, 0, sizeof(self->seen));
	self->seen.mask = self->mask;
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_write_text(KT_TARGET_PARAM "below", text));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_LE(0, kt_walk(&self->events, check_stack_record, &self->seen));
	EXPECT_EQ(0, self->seen.wrong);
	ASSERT_EQ(1, self->seen.stacks);
}

/* Stacks of each depth up to one that is twice as deep as a record. */
TEST_F(stack, longer_than_a_record)
{
	int op = kt_probe_add(self->main, "ktape_target", 0, 0);
	unsigned int least, calls;

	ASSERT_LT(0, op);
	kt_ops_add(self->mask, op);
	ASSERT_EQ(0, stacks_of(self->fd, KTAPE_FILTER_SET, self->mask));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, op, 0, 0));
	stack_below(_metadata, self, 0);
	log_frames(_metadata, self);
	least = self->seen.nr_frames;
	ASSERT_LT(1, least);
	ASSERT_GT(KTAPE_STACK_FRAMES, least);
	EXPECT_FALSE(self->seen.cut);
	for (calls = 1; calls <= 2 * KTAPE_STACK_FRAMES; calls++) {
		unsigned int frames = least + calls;

		stack_below(_metadata, self, calls);
		EXPECT_EQ(frames > KTAPE_STACK_FRAMES, self->seen.cut)
		TH_LOG("a stack of %u frames", frames);
		EXPECT_EQ(frames < KTAPE_STACK_FRAMES ? frames : KTAPE_STACK_FRAMES,
			  self->seen.nr_frames);
	}
}

/* ---- the fate of an event ------------------------------------------------ */

#define PER_SECOND 3

/* The rate limit of stacks does not limit the events. */
TEST_F_TIMEOUT(stack, limit_of_stacks, 60)
{
	const struct ktape_filter_rate limit = { KTAPE_EV_KERNEL_STACK, PER_SECOND };
	struct kt_tally t;
	time_t before;

	kt_ops_add(self->mask, KTAPE_EV_SYS_ENTER);
	ASSERT_EQ(0, stacks_of(self->fd, KTAPE_FILTER_SET, self->mask));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_RATE, &limit, 1));
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
				    KTAPE_EV_SYS_ENTER, 0, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	before = time(NULL);
	kt_getppids(CALLS);
	kt_stop_and_tally(&t, self->fd, NULL, NULL);
	EXPECT_EQ(0, t.wrong);
	EXPECT_LE(CALLS, t.op[KTAPE_EV_SYS_ENTER]);
	EXPECT_EQ(0, t.rate[KTAPE_CLASS_SYSCALL]);
	EXPECT_LE(PER_SECOND, t.op[KTAPE_EV_KERNEL_STACK]);
	EXPECT_GE(PER_SECOND * (time(NULL) - before + 2),
		  t.op[KTAPE_EV_KERNEL_STACK]);
	EXPECT_EQ(t.op[KTAPE_EV_SYS_ENTER],
		  t.op[KTAPE_EV_KERNEL_STACK] + t.rate[KTAPE_CLASS_STACK]);
}

/* A lost event has no stack, not even a stack that is counted as lost. */
TEST_F_TIMEOUT(stack, lost_events_have_none, 60)
{
	int fd = kt_session(KTAPE_MODE_DISCARD, 64 << 10, 0,
			    KT_OPS(KTAPE_EV_SYS_ENTER));
	struct kt_tally t;

	ASSERT_LE(0, fd);
	kt_ops_add(self->mask, KTAPE_EV_SYS_ENTER);
	ASSERT_EQ(0, stacks_of(fd, KTAPE_FILTER_SET, self->mask));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	kt_getppids(5000);
	kt_stop_and_tally(&t, fd, NULL, NULL);
	EXPECT_EQ(0, t.wrong);
	EXPECT_LT(0, t.lost[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(t.op[KTAPE_EV_SYS_ENTER], t.emitted[KTAPE_CLASS_STACK]);
	close(fd);
}

TEST_HARNESS_MAIN
