// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what the ioctls of /dev/ktape have in common: numbers, pointers, sizes, members that
 * must be zero, results. Each command is a variant, and SIGALRM interrupts it every 100 us.
 *
 * DESTROY, PERSIST_READ and PERSIST_DROP are no variants, because these tests need a command that
 * succeeds again and again with the same argument: DESTROY succeeds once for a session, the
 * others need the trace of an earlier load. t_session.c and t_persist.c test them.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "kt.h"
#include "kt_argument.h"

#define PAGE	  4096
#define COMMANDS  20 /* commands that are numbered from 0 on without a hole */
#define TEXT_ROOM (256 << 10)
#define POISON	  0xa5

static char text[TEXT_ROOM];

/* Arguments with which each command succeeds; other members are zero. */
static void fill_argument(unsigned long cmd, union kt_argument *a)
{
	switch (cmd) {
	case KTAPE_IOC_EVENT_INFO:
		a->event_info.opcode = KTAPE_EV_SYS_ENTER;
		break;
	case KTAPE_IOC_PROBE:
		a->probe.opcode = KTAPE_OP_PROBE;
		break;
	case KTAPE_IOC_METADATA:
		a->metadata.length = sizeof(text);
		a->metadata.text = (uintptr_t)text;
		break;
	case KTAPE_IOC_CONSUMER:
		a->consumer.op = KTAPE_CONSUMER_UNREGISTER;
		break;
	case KTAPE_IOC_WATERMARK:
		a->watermark.bytes = PAGE;
		break;
	case KTAPE_IOC_SESSIONS:
		a->sessions.entry_size = sizeof(struct ktape_session_info);
		break;
	case KTAPE_IOC_CREATE:
		a->create.ring_size = 4 * PAGE;
		a->create.block_size = PAGE;
		a->create.control_size = 4 * PAGE;
		break;
	}
}

/* Members of an argument that follow each other: offset of the first, and bytes. */
struct range {
	size_t off, len;
};

#define MEMBER(type, m)                                   \
	{                                                 \
		offsetof(type, m), sizeof(((type *)0)->m) \
	}
#define FROM(type, m)                                               \
	{                                                           \
		offsetof(type, m), sizeof(type) - offsetof(type, m) \
	}

FIXTURE(command)
{
	int main;  /* session 0 */
	int fd;	   /* our own session, discard mode */
	char *end; /* end of two writable pages, followed by an unmapped one */
};

/**
 * @cmd: the command
 * @size: size of its structure
 * @result: the kernel writes the structure back
 * @zero: members that must be zero in fill_argument()'s argument
 * @out: members that the kernel writes and does not read
 */
FIXTURE_VARIANT(command)
{
	unsigned long cmd;
	size_t size;
	bool result;
	struct range zero[3];
	struct range out;
};

#define COMMAND(NAME, type, ...)                                           \
	FIXTURE_VARIANT_ADD(command, NAME)                                 \
	{                                                                  \
		.cmd = KTAPE_IOC_##NAME, .size = sizeof(type), __VA_ARGS__ \
	}

COMMAND(FEATURES, struct ktape_features, .result = true,
	.out = FROM(struct ktape_features, clock));
COMMAND(LAYOUT, struct ktape_layout, .result = true,
	.out = FROM(struct ktape_layout, session));
COMMAND(PROFILE, struct ktape_profile, .result = true,
	.zero = { MEMBER(struct ktape_profile, flags),
		  MEMBER(struct ktape_profile, generation) },
	.out = MEMBER(struct ktape_profile, mask));
COMMAND(START, struct ktape_command,
	.zero = { MEMBER(struct ktape_command, flags) });
COMMAND(STOP, struct ktape_command, .zero = { MEMBER(struct ktape_command, flags) });
COMMAND(CLEAR, struct ktape_command,
	.zero = { MEMBER(struct ktape_command, flags) });
COMMAND(FLUSH, struct ktape_command,
	.zero = { MEMBER(struct ktape_command, flags) });
COMMAND(STATS, struct ktape_stats, .result = true,
	.zero = { MEMBER(struct ktape_stats, flags) },
	.out = FROM(struct ktape_stats, commit));
COMMAND(CONSUMER, struct ktape_consumer,
	.zero = { FROM(struct ktape_consumer, nr) });
COMMAND(EVENT_INFO, struct ktape_event_info, .result = true,
	.zero = { { offsetof(struct ktape_event_info, state),
		    offsetof(struct ktape_event_info, source) -
			    offsetof(struct ktape_event_info, state) },
		  FROM(struct ktape_event_info, reason) });
COMMAND(METADATA, struct ktape_metadata, .result = true,
	.zero = { MEMBER(struct ktape_metadata, flags) });
COMMAND(WATERMARK, struct ktape_watermark,
	.zero = { MEMBER(struct ktape_watermark, flags) });
COMMAND(CREATE, struct ktape_create, .zero = { FROM(struct ktape_create, flags) });
COMMAND(SESSIONS, struct ktape_session_list, .result = true,
	.zero = { MEMBER(struct ktape_session_list, reserved) });
COMMAND(OPEN, struct ktape_session_ref,
	.zero = { FROM(struct ktape_session_ref, reserved) });
COMMAND(POLICY, struct ktape_policy, .result = true,
	.zero = { MEMBER(struct ktape_policy, flags),
		  FROM(struct ktape_policy, reserved) });
COMMAND(READER, struct ktape_reader_info, .result = true,
	.zero = { MEMBER(struct ktape_reader_info, flags),
		  MEMBER(struct ktape_reader_info, id),
		  MEMBER(struct ktape_reader_info, reserved) },
	.out = FROM(struct ktape_reader_info, position));
COMMAND(FILTER, struct ktape_filter, .result = true,
	.zero = { FROM(struct ktape_filter, active) });
COMMAND(PROBE, struct ktape_probe, .result = true,
	.zero = { FROM(struct ktape_probe, flags) });

COMMAND(COST, struct ktape_cost, .result = true,
	.zero = { MEMBER(struct ktape_cost, flags),
		  MEMBER(struct ktape_cost, reserved) },
	.out = FROM(struct ktape_cost, samples));
COMMAND(TRIGGER, struct ktape_trigger, .result = true,
	.zero = { FROM(struct ktape_trigger, when) });
COMMAND(PERSIST_INFO, struct ktape_persist_info, .result = true,
	.zero = { FROM(struct ktape_persist_info, flags) });

FIXTURE_SETUP(command)
{
	/* For TRIGGER, which returns the first trigger. */
	struct ktape_trigger trigger = { .size = sizeof(trigger),
					 .op = KTAPE_TRIGGER_ADD,
					 .opcode = KTAPE_EV_MARK };

	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_DISCARD, 16 * PAGE, PAGE);
	ASSERT_LE(0, self->fd);
	if (variant->cmd == KTAPE_IOC_TRIGGER)
		ASSERT_EQ(0, kt_ioctl(self->fd, KTAPE_IOC_TRIGGER, &trigger));
	/*
	 * COST counts a CPU's events of all sessions: stop session 0, so that
	 * two answers are equal.
	 */
	if (variant->cmd == KTAPE_IOC_COST)
		ASSERT_EQ(0, kt_control(self->main, KTAPE_IOC_STOP));
	self->end = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->end);
	self->end += 2 * PAGE;
	ASSERT_EQ(0, mprotect(self->end, PAGE, PROT_NONE));
	kt_alarms(100);
}

FIXTURE_TEARDOWN(command)
{
	kt_alarms(0);
	if (variant->cmd == KTAPE_IOC_COST)
		EXPECT_EQ(0, kt_control(self->main, KTAPE_IOC_START));
	close(self->fd);
	close(self->main);
}

/*
 * Return the step width over many similar cases: @n on a sanitizer kernel, else
 * 1.
 */
static size_t case_step(size_t n)
{
	return kt_scale() > 1 ? n : 1;
}

/* Issue a command. A new session is closed at once and returned as 0. */
static int issue_command(int fd, unsigned long cmd, void *arg)
{
	int ret = kt_ioctl(fd, cmd, arg);

	if ((cmd == KTAPE_IOC_CREATE || cmd == KTAPE_IOC_OPEN) && ret > 2) {
		close(ret);
		return 0;
	}
	/*
	 * Without CLEAR the START and STOP records of one test can fill a small
	 * control ring.
	 */
	if (cmd == KTAPE_IOC_FLUSH && ret == -EAGAIN)
		return kt_control(fd, KTAPE_IOC_CLEAR);
	return ret;
}

/* Return true if there is a command with this number, whatever its size and direction. */
static bool is_command(unsigned int nr)
{
	return nr < COMMANDS || nr == _IOC_NR(KTAPE_IOC_COST) ||
	       nr == _IOC_NR(KTAPE_IOC_TRIGGER) ||
	       (nr >= _IOC_NR(KTAPE_IOC_PERSIST_INFO) &&
		nr <= _IOC_NR(KTAPE_IOC_PERSIST_DROP));
}

/* A command's number with another direction, size or type is no command. */
TEST_F(command, numbers)
{
	const struct ktape_command empty = { .size = 0 };
	struct ktape_command c;
	unsigned long cmd;

	for (unsigned int bit = 0; bit < 32; bit++) {
		cmd = variant->cmd ^ 1UL << bit;
		c = empty;
		if (bit < _IOC_TYPESHIFT && is_command(_IOC_NR(cmd)))
			continue; /* may be the number of another command */
		EXPECT_EQ(-ENOTTY, kt_ioctl(self->fd, cmd, &c));
	}
	for (unsigned int size = 0; size < 1 << _IOC_SIZEBITS;
	     size += 1 + size / 16) {
		cmd = _IOC(_IOC_DIR(variant->cmd), KTAPE_IOC_MAGIC,
			   _IOC_NR(variant->cmd), size);
		EXPECT_EQ(cmd == variant->cmd ? -EINVAL : -ENOTTY,
			  kt_ioctl(self->fd, cmd, &c));
	}
}

/* Numbers that no command has. */
TEST(unknown_numbers)
{
	struct ktape_command c = { .size = 0 };
	int main = kt_open(O_RDWR), fd;

	ASSERT_LE(0, main);
	fd = kt_create(main, KTAPE_MODE_DISCARD, 16 * PAGE, PAGE);
	ASSERT_LE(0, fd);
	kt_alarms(100);
	for (unsigned int nr = COMMANDS; nr < 256; nr++)
		for (unsigned int dir = 0; dir < 4 && !is_command(nr); dir++)
			EXPECT_EQ(-ENOTTY,
				  kt_ioctl(fd, _IOC(dir, KTAPE_IOC_MAGIC, nr, 4),
					   &c));
	kt_alarms(0);
	close(fd);
	close(main);
}

/*
 * The bad ones: in the first page, around the end of user space, not canonical, the kernel's
 * code, its memory, and the last bytes of all.
 */
TEST_F(command, pointers)
{
	static const unsigned long bad[] = {
		0,
		1,
		PAGE - 4,
#ifdef __LP64__
		1UL << 47,
		(1UL << 47) - 4,
		0x8000000000000000,
		0xffffffff81000000,
		0xffff888000000000,
#endif
		-8UL,
		-4UL,
		-1UL,
	};
	union kt_argument a = { .size = variant->size };
	char *at;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EFAULT,
			  kt_ioctl(self->fd, variant->cmd, (void *)bad[i]));
	EXPECT_EQ(-EFAULT, kt_ioctl(self->fd, variant->cmd, self->end));
	/* The last bytes of the structure are unmapped. */
	fill_argument(variant->cmd, &a);
	for (size_t have = 4; have < variant->size; have += case_step(7)) {
		at = memcpy(self->end - have, &a, have);
		EXPECT_EQ(-EFAULT, issue_command(self->fd, variant->cmd, at));
	}
	/* The whole structure is mapped, at each alignment. */
	for (size_t off = 0; off < 8; off++) {
		at = memcpy(self->end - variant->size - off, &a, variant->size);
		EXPECT_EQ(0, issue_command(self->fd, variant->cmd, at));
	}
	/*
	 * The structure is read-only: only a command that returns a result may
	 * fail.
	 */
	at = self->end - PAGE;
	memcpy(at, &a, variant->size);
	ASSERT_EQ(0, mprotect(at, PAGE, PROT_READ));
	EXPECT_EQ(variant->result ? -EFAULT : 0,
		  issue_command(self->fd, variant->cmd, at));
}

TEST_F(command, sizes_refused)
{
	static const struct {
		__u32 size;
		int want;
	} vector[] = {
		{ 0, -EINVAL },		{ 1, -EINVAL },
		{ 4, -EINVAL },		{ 7, -EINVAL },
		{ PAGE + 1, -E2BIG },	{ 2 * PAGE, -E2BIG },
		{ 0x7fffffff, -E2BIG }, { 0x80000000, -E2BIG },
		{ 0xffffffff, -E2BIG },
	};
	char *at = self->end - 2 * PAGE;

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		memset(at, 0, 2 * PAGE);
		fill_argument(variant->cmd, (union kt_argument *)at);
		memcpy(at, &vector[i].size, 4);
		EXPECT_EQ(vector[i].want, kt_ioctl(self->fd, variant->cmd, at))
		{
			TH_LOG("size %u", vector[i].size);
		}
		/* Four bytes suffice to read @size and to write it back. */
		memcpy(self->end - 4, &vector[i].size, 4);
		EXPECT_EQ(vector[i].want,
			  kt_ioctl(self->fd, variant->cmd, self->end - 4));
	}
}

/*
 * The direction in a command's number says whether the kernel writes the
 * structure.
 */
TEST_F(command, direction)
{
	struct {
		union kt_argument a;
		__u64 more;
	} arg = { .a.size = variant->size + sizeof(__u64) };
	int want = 0;

	fill_argument(variant->cmd, &arg.a);
	if (variant->cmd == KTAPE_IOC_CREATE) {
		/* That command writes only if memory is short. */
		arg.a.create.ring_size = kt_ring_max();
		want = -ENOMEM;
	}
	ASSERT_EQ(want, issue_command(self->fd, variant->cmd, &arg));
	if (arg.a.size == variant->size + sizeof(__u64)) {
		EXPECT_EQ(_IOC_WRITE, _IOC_DIR(variant->cmd));
	} else {
		EXPECT_EQ(variant->size, arg.a.size);
		EXPECT_EQ(_IOC_READ | _IOC_WRITE, _IOC_DIR(variant->cmd));
	}
}

/*
 * A shorter structure stands for zeros in the missing members, and these are
 * not written.
 */
TEST_F(command, sizes_shorter)
{
	unsigned char whole[sizeof(union kt_argument)],
		part[sizeof(union kt_argument)];
	int want;

	for (size_t size = 8; size <= variant->size; size += case_step(4)) {
		memset(whole, 0, sizeof(whole));
		memset(part, POISON, sizeof(part));
		fill_argument(variant->cmd, (union kt_argument *)whole);
		memset(whole + size, 0, sizeof(whole) - size);
		memcpy(part, whole, size);
		((union kt_argument *)whole)->size = variant->size;
		((union kt_argument *)part)->size = size;
		want = issue_command(self->fd, variant->cmd, whole);
		ASSERT_EQ(want, issue_command(self->fd, variant->cmd, part))
		{
			TH_LOG("size %zu", size);
		}
		EXPECT_EQ(size, ((union kt_argument *)part)->size);
		EXPECT_EQ(0, memcmp(whole + 4, part + 4, size - 4));
		for (size_t i = size; i < sizeof(part); i++)
			ASSERT_EQ(POISON, part[i]);
	}
}

/*
 * A longer structure, of a newer program, is accepted if the members that this kernel does not
 * know are zero. It writes nothing there, and returns its own size.
 */
TEST_F(command, sizes_longer)
{
	static const size_t longer[] = { 1, 3, 4, 8, 100, PAGE };
	unsigned char *at = (unsigned char *)self->end - 2 * PAGE;
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(longer); i++) {
		size = longer[i] == PAGE ? PAGE : variant->size + longer[i];
		memset(at, 0, 2 * PAGE);
		memset(at + size, POISON, 2 * PAGE - size);
		fill_argument(variant->cmd, (union kt_argument *)at);
		((union kt_argument *)at)->size = size;
		EXPECT_EQ(0, issue_command(self->fd, variant->cmd, at));
		if (variant->result)
			EXPECT_EQ(variant->size, ((union kt_argument *)at)->size);
		for (size_t j = variant->size; j < size; j++)
			ASSERT_EQ(0, at[j]);
		for (size_t j = size; j < 2 * PAGE; j++)
			ASSERT_EQ(POISON, at[j]);
		/*
		 * A non-zero member that this kernel does not know, at any
		 * place.
		 */
		for (size_t j = variant->size; j < size; j += case_step(5) + j / 64) {
			memset(at, 0, size);
			fill_argument(variant->cmd, (union kt_argument *)at);
			((union kt_argument *)at)->size = size;
			at[j] = 1 << j % 8;
			EXPECT_EQ(-E2BIG, issue_command(self->fd, variant->cmd, at));
		}
	}
}

/* Is this bit of an argument a flag that means something by itself? */
static bool is_valid_flag(unsigned long cmd, size_t bit)
{
	return cmd == KTAPE_IOC_CREATE &&
	       bit == offsetof(struct ktape_create, flags) * 8 + 1; /* LOG */
}

TEST_F(command, members_must_be_zero)
{
	union kt_argument a, before;

	for (size_t i = 0; i < ARRAY_SIZE(variant->zero); i++) {
		const struct range *r = &variant->zero[i];

		for (size_t bit = 0; bit < r->len * 8; bit += case_step(5)) {
			if (is_valid_flag(variant->cmd, r->off * 8 + bit))
				continue;
			memset(&a, 0, sizeof(a));
			a.size = variant->size;
			fill_argument(variant->cmd, &a);
			((unsigned char *)&a)[r->off + bit / 8] ^= 1 << bit % 8;
			before = a;
			EXPECT_EQ(-EINVAL, issue_command(self->fd, variant->cmd, &a))
			{
				TH_LOG("byte %zu bit %zu", r->off + bit / 8,
				       bit % 8);
			}
			EXPECT_EQ(0, memcmp(&a, &before, sizeof(a)));
		}
	}
}

/*
 * The result must not depend on the old contents of the structure, nor contain
 * any of them.
 */
TEST_F(command, results)
{
	const struct range *r = &variant->out;
	union kt_argument a[2];

	for (int i = 0; i < 2; i++) {
		memset(&a[i], 0, sizeof(a[i]));
		a[i].size = variant->size;
		fill_argument(variant->cmd, &a[i]);
		memset((char *)&a[i] + r->off, i ? POISON : ~POISON, r->len);
		EXPECT_EQ(0, issue_command(self->fd, variant->cmd, &a[i]));
	}
	EXPECT_EQ(0, memcmp((char *)&a[0] + r->off, (char *)&a[1] + r->off, r->len));
	if (variant->result) {
		EXPECT_EQ(variant->size, a[0].size);
		return;
	}
	memset(&a[1], 0, sizeof(a[1]));
	a[1].size = variant->size;
	fill_argument(variant->cmd, &a[1]);
	EXPECT_EQ(0, memcmp(&a[0], &a[1], sizeof(a[0])));
}

#ifdef __x86_64__

/* The 32-bit entry has the same commands and structures; ioctl() is call 54 there. */
static int ioctl32(int fd, unsigned long cmd, void *arg)
{
	int ret;

	asm volatile("int $0x80"
		     : "=a"(ret)
		     : "a"(54), "b"(fd), "c"(cmd), "d"(arg)
		     : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

TEST_F(command, compat)
{
	union kt_argument *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
				      -1, 0);
	union kt_argument a = { .size = variant->size };
	int want, got;

	/* Without a 32-bit entry the instruction faults. */
	if (access("/proc/sys/abi/vsyscall32", F_OK))
		SKIP(return, "kernel without 32-bit system calls");
	ASSERT_NE(MAP_FAILED, low);
	fill_argument(variant->cmd, &a);
	*low = a;
	want = issue_command(self->fd, variant->cmd, &a);
	got = ioctl32(self->fd, variant->cmd, low);
	if ((variant->cmd == KTAPE_IOC_CREATE || variant->cmd == KTAPE_IOC_OPEN) &&
	    got > 2)
		got = close(got);
	if (variant->cmd == KTAPE_IOC_FLUSH && got == -EAGAIN)
		got = 0;
	EXPECT_EQ(want, got);
	EXPECT_EQ(0, memcmp(&a, low, variant->size));
	memset(low, 0, PAGE);
	EXPECT_EQ(-EINVAL, ioctl32(self->fd, variant->cmd, low));
	EXPECT_EQ(-EFAULT, ioctl32(self->fd, variant->cmd, NULL));
	EXPECT_EQ(-ENOTTY, ioctl32(self->fd, variant->cmd ^ 0x10000, low));
}

#endif

TEST_HARNESS_MAIN
