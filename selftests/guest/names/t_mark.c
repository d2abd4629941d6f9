// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test /dev/ktape_mark: the result of valid and invalid structures, what users without rights
 * may emit and name, and that no number of descriptors, processes or users gets more than the
 * rate limit. The module is loaded with mark_rate=100 (marks a second).
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <ktape/formats.h>

#include "kselftest_harness.h"

#include "kt_emit.h"
#include "kt_spawn.h"
#include "now.h"

#define NOBODY	       65534
#define OTHER	       1234
#define NAMES_OF_ONE   64 /* as in module/emit/name.c */
#define KERNEL_ADDRESS 0xffffffff81000000ULL

static struct kt_emit_recs seen;

FIXTURE(mark){};

FIXTURE_SETUP(mark)
{
}

FIXTURE_TEARDOWN(mark)
{
}

/* ---- the structures --------------------------------------------------------- */

union any {
	__u32 size;
	struct ktape_mark mark;
	struct ktape_trace trace;
	struct ktape_name name;
};

#define MARK(...)                                                  \
	KTAPE_MARK_IOC_MARK,                                       \
	{                                                          \
		.mark = { sizeof(struct ktape_mark), __VA_ARGS__ } \
	}
#define TRACE(...)                                                   \
	KTAPE_MARK_IOC_TRACE,                                        \
	{                                                            \
		.trace = { sizeof(struct ktape_trace), __VA_ARGS__ } \
	}
#define NAME(...)                                                  \
	KTAPE_MARK_IOC_NAME,                                       \
	{                                                          \
		.name = { sizeof(struct ktape_name), __VA_ARGS__ } \
	}
#define EXC  KTAPE_EV_EXCEPTION
#define USER KTAPE_EV_USER_EVENT

static const struct {
	int want;
	unsigned long cmd;
	union any arg;
} calls[] = {
	{ 0, MARK(KTAPE_EV_MARK) },
	{ 0, MARK(KTAPE_EV_MARK_VALUE, .value = -1) },
	{ -EINVAL, MARK(0) },
	{ -EINVAL, MARK(EXC) },
	{ -EINVAL, MARK(KTAPE_EV_ISR_ENTER) },
	{ -EINVAL, MARK(KTAPE_EV_TEXT) },
	{ -EINVAL, MARK(KTAPE_EV_SCHED_SWITCH) },
	{ -EINVAL, MARK(KTAPE_EV_MARK + 256) },
	{ -EINVAL, MARK(KTAPE_EV_MARK, .flags = 2) },
	{ -EINVAL, MARK(KTAPE_EV_MARK, .value = 1) },
	{ -EINVAL, MARK(KTAPE_EV_MARK, .reserved = 1) },
	{ -EINVAL, MARK(KTAPE_EV_MARK, .length = 1) },
	{ -EFAULT, MARK(KTAPE_EV_MARK, .length = 1, .message = 1) },
	{ -EFAULT, MARK(KTAPE_EV_MARK, .length = ~0U, .message = 1) },
	{ -EFAULT, MARK(KTAPE_EV_MARK, .length = 8, .message = KERNEL_ADDRESS) },
	{ -EFAULT, MARK(KTAPE_EV_MARK, .length = 8, .message = -4ULL) },
	{ 0, TRACE(EXC, .nargs = 6, .args = { 1, 2, 3, 4, 5, 6 }) },
	{ 0, TRACE(EXC, KTAPE_TRACE_BUFFER, .severity = 7) },
	{ 0, TRACE(USER, KTAPE_TRACE_TASK, .code = ~0U >> 1) },
	{ -EINVAL, TRACE(0) },
	{ -EINVAL, TRACE(KTAPE_EV_MARK) },
	{ -EINVAL, TRACE(KTAPE_EV_TRACE_EVENT) },
	{ -EINVAL, TRACE(EXC, .severity = 8) },
	{ -EINVAL, TRACE(USER, .severity = 1) },
	{ -EINVAL, TRACE(EXC, KTAPE_TRACE_TASK) },
	{ -EINVAL, TRACE(USER, 4) },
	{ -EINVAL, TRACE(EXC, .nargs = 7) },
	{ -EINVAL, TRACE(EXC, .nargs = ~0U) },
	{ -EINVAL, TRACE(EXC, .nargs = 1, .args = { 0, 1 }) },
	{ -EINVAL, TRACE(EXC, .reserved = 1) },
	{ -EINVAL, TRACE(EXC, .length = 1) },
	{ -EINVAL, TRACE(EXC, .buffer = 1) },
	{ -E2BIG, TRACE(EXC, KTAPE_TRACE_BUFFER, .length = 1025) },
	{ -E2BIG, TRACE(USER, KTAPE_TRACE_BUFFER, .length = ~0U) },
	{ -EFAULT, TRACE(USER, KTAPE_TRACE_BUFFER, .length = 1) },
	{ -EFAULT, TRACE(EXC, KTAPE_TRACE_BUFFER, .length = 1024,
			 .buffer = KERNEL_ADDRESS) },
	{ -EPERM, TRACE(EXC, .code = KTAPE_EXC_CODE(KTAPE_MAJOR_KERNEL, 0)) },
	{ -EPERM, TRACE(EXC, .code = ~0U) },
	{ 0, TRACE(EXC, .code = (KTAPE_MAJOR_KERNEL << 8) - 1) },
	{ 0, TRACE(USER, .code = KTAPE_FORMAT_ID_FIRST - 1) },
	{ -EPERM, TRACE(USER, .code = KTAPE_FORMAT_ID_FIRST) },
	{ -EPERM, TRACE(USER, .code = KTAPE_FORMAT_ID_LINUX) },
	{ -EPERM, TRACE(USER, .code = ~0U) },
	{ 0, NAME(KTAPE_OBJ_MARKER, .id = 1, .name = "one") },
	{ 0, NAME(KTAPE_OBJ_MARKER, .id = 1, .name = "") },
	{ 0, NAME(KTAPE_OBJ_VALUE, .id = 1, .name = "") },
	{ 0, NAME(KTAPE_OBJ_ISR, .id = 1, .param1 = 1, .name = "isr") },
	{ 0, NAME(KTAPE_OBJ_EXCEPTION, .id = 5, .name = "five") },
	{ 0, NAME(KTAPE_OBJ_USER_EVENT, .id = 1, .param1 = 0x51, .param2 = 2,
		  .name = "event") },
	{ 0, NAME(KTAPE_OBJ_USER + KTAPE_USER_QUEUE, .param1 = 1, .param2 = 2,
		  .name = "queue") },
	{ -EINVAL, NAME(0, .name = "free") },
	{ -EINVAL, NAME(KTAPE_OBJ_THREAD, .id = 1, .name = "not init") },
	{ -EINVAL, NAME(KTAPE_OBJ_IRQ, .id = 1, .name = "irq") },
	{ -EINVAL, NAME(KTAPE_OBJ_FUNCTION, .id = 1, .name = "func") },
	{ -EINVAL, NAME(KTAPE_OBJ_CGROUP, .id = 1, .name = "cgroup") },
	{ -EINVAL, NAME(256, .name = "type") },
	{ -EINVAL, NAME(~0U, .name = "type") },
	{ -EINVAL, NAME(KTAPE_OBJ_MARKER, .flags = 1, .name = "flags") },
	{ -EINVAL, NAME(KTAPE_OBJ_MARKER, .param1 = 1, .name = "param") },
	{ -EINVAL, NAME(KTAPE_OBJ_VALUE, .param2 = 1, .name = "param") },
	{ -EINVAL, NAME(KTAPE_OBJ_ISR, .param1 = 1 << 20, .name = "cpu") },
	{ -EINVAL, NAME(KTAPE_OBJ_EXCEPTION, .id = 1 << 24, .name = "id") },
	{ -EINVAL, NAME(KTAPE_OBJ_USER_EVENT, .param2 = 9, .name = "nine") },
	{ -EINVAL, NAME(KTAPE_OBJ_USER_EVENT, .id = KTAPE_FORMAT_ID_FIRST,
			.name = "of another format") },
	{ 0, NAME(KTAPE_OBJ_USER_EVENT, .id = KTAPE_FORMAT_ID_FIRST - 1,
		  .name = "the last of a program") },
	{ -EINVAL, NAME(KTAPE_OBJ_USER_EVENT, .param1 = 16, .param2 = 1,
			.name = "more formats than arguments") },
	{ -EINVAL,
	  NAME(KTAPE_OBJ_MARKER, .name = "0123456789012345678901234567890X") },
	{ -EPERM,
	  NAME(KTAPE_OBJ_EXCEPTION, .id = KTAPE_MAJOR_KERNEL, .name = "kernel") },
	{ -ENOTTY, KTAPE_MARK_IOC_NAME + 1, { .size = 64 } },
	{ -ENOTTY, KTAPE_IOC_START, { .size = 8 } },
	{ -ENOTTY, KTAPE_IOC_PROFILE, { .size = 64 } },
};

/* Each call has its result, and changes nothing in its structure. */
TEST_F_TIMEOUT(mark, values, 60)
{
	int m = ktape_mark_open();

	ASSERT_LE(0, m);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		union any arg = calls[i].arg;

		EXPECT_EQ(calls[i].want, kt_ioctl(m, calls[i].cmd, &arg))
		{
			TH_LOG("call %zu", i);
		}
		EXPECT_EQ(0, memcmp(&arg, &calls[i].arg, sizeof(arg)));
	}
	close(m);
}

/*
 * A structure may be as short as 8 bytes, its size and the first number: further members are taken
 * as 0. It may be longer than the module's, up to a page, if what is beyond is 0. Each access
 * that faults is EFAULT.
 */
TEST_F_TIMEOUT(mark, sizes, 60)
{
	static const unsigned long cmds[] = { KTAPE_MARK_IOC_MARK,
					      KTAPE_MARK_IOC_TRACE,
					      KTAPE_MARK_IOC_NAME };
	static const union any args[] = {
		{ .mark = { 0, KTAPE_EV_MARK } },
		{ .trace = { 0, KTAPE_EV_USER_EVENT } },
		{ .name = { 0, KTAPE_OBJ_MARKER } },
	};
	static const uint32_t sizes[] = { sizeof(struct ktape_mark),
					  sizeof(struct ktape_trace),
					  sizeof(struct ktape_name) };
	int m = ktape_mark_open(), page = getpagesize();
	char *p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *size = (uint32_t *)p;

	ASSERT_LE(0, m);
	ASSERT_NE(MAP_FAILED, p);
	munmap(p + 2 * page, page);
	for (int i = 0; i < 3; i++) {
		memset(p, 0, 2 * page);
		memcpy(p, &args[i], sizeof(args[i]));
		for (*size = 0; *size < 8; ++*size)
			EXPECT_EQ(-EINVAL, kt_ioctl(m, cmds[i], p));
		/* 8, 64, and so on, to a page exactly. */
		for (; *size <= (uint32_t)page; *size += 56)
			EXPECT_EQ(0, kt_ioctl(m, cmds[i], p));
		*size = page + 1;
		EXPECT_EQ(-E2BIG, kt_ioctl(m, cmds[i], p));
		*size = ~0U;
		EXPECT_EQ(-E2BIG, kt_ioctl(m, cmds[i], p));
		*size = sizes[i] + 8;
		p[sizes[i] + 7] = 1;
		EXPECT_EQ(-E2BIG, kt_ioctl(m, cmds[i], p));
		EXPECT_EQ(-EFAULT, kt_ioctl(m, cmds[i], NULL));
		EXPECT_EQ(-EFAULT, kt_ioctl(m, cmds[i], (void *)KERNEL_ADDRESS));
		EXPECT_EQ(-EFAULT, kt_ioctl(m, cmds[i], p + 2 * page - 2));
		size = (uint32_t *)(p + 2 * page - 8);
		size[0] = 64;
		size[1] = args[i].mark.opcode;
		EXPECT_EQ(-EFAULT, kt_ioctl(m, cmds[i], size));
		size[0] = 8;
		EXPECT_EQ(0, kt_ioctl(m, cmds[i], size));
		size = (uint32_t *)p;
	}
	munmap(p, 2 * page);
	close(m);
}

/* ---- text --------------------------------------------------------------------- */

/*
 * Each write() is one text without its last line feed, of 1024 bytes at most, and takes all that it
 * was given. The message of a mark is cut at the same length.
 */
TEST_F_TIMEOUT(mark, text, 60)
{
	static char text[5000];
	struct iovec v[2] = { { "in two ", 7 }, { "parts\n", 6 } };
	int m = ktape_mark_open(), fd;

	ASSERT_LE(0, m);
	ASSERT_EQ(0, kt_pin(0));
	memset(text, 'x', sizeof(text));
	fd = kt_emit_session(256 << 10);
	ASSERT_LE(0, fd);
	EXPECT_EQ(1024, write(m, text, 1024));
	EXPECT_EQ(1025, write(m, text, 1025));
	EXPECT_EQ(5000, write(m, text, 5000));
	EXPECT_EQ(13, writev(m, v, 2));
	EXPECT_EQ(0, write(m, text, 0));
	EXPECT_EQ(-1, write(m, (void *)KERNEL_ADDRESS, 10));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, pwrite(m, text, 10, 0));
	EXPECT_EQ(ESPIPE, errno);
	text[1024] = '\0';
	EXPECT_EQ(0, ktape_mark(m, 1, text));
	text[1024] = 'x';
	text[4000] = '\0';
	EXPECT_EQ(0, ktape_mark(m, 1, text));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	EXPECT_STREQ("", seen.error);
	ASSERT_EQ(7, seen.nr);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(1024, seen.v[i].size);
		/* Is it cut off? */
		EXPECT_EQ(i > 0, seen.v[i].dat20);
		EXPECT_EQ(0, memcmp(seen.v[i].blob, text, 1024));
	}
	EXPECT_STREQ("in two parts", seen.v[3].blob);
	EXPECT_EQ(0, seen.v[4].size);
	EXPECT_EQ(1024, seen.v[5].size);
	EXPECT_EQ(1024, seen.v[6].size);
	close(fd);
	close(m);
}

/* ---- rights --------------------------------------------------------------------- */

/* The node is root's, for writing only. */
TEST_F_TIMEOUT(mark, access_rights, 60)
{
	struct stat st;

	ASSERT_EQ(0, stat(KTAPE_MARK_PATH, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(-1, open(KTAPE_MARK_PATH, O_RDONLY));
	EXPECT_EQ(EACCES, errno);
	ASSERT_EQ(0, setuid(NOBODY));
	EXPECT_EQ(-EACCES, ktape_mark_open());
}

static int name(int m, uint32_t type, uint32_t id, const char *text)
{
	int ret;

	/* Names have their own rate limit. */
	while ((ret = ktape_name(m, type, id, 0, 0, text)) == -EBUSY)
		usleep(20000);
	return ret;
}

/*
 * Without capabilities a user who may open the node emits all but exceptions, and names markers,
 * but none that root has named.
 */
TEST_F_TIMEOUT(mark, without_rights, 60)
{
	struct ktape_object_entry e;
	int root = ktape_mark_open(), dev = kt_open(O_RDWR), m, fd;

	ASSERT_LE(0, root);
	ASSERT_EQ(0, chmod(KTAPE_MARK_PATH, 0666));
	ASSERT_EQ(0, ktape_name_marker(root, 5000, "of root"));
	fd = kt_emit_session(256 << 10);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setuid(NOBODY));
	m = ktape_mark_open();
	ASSERT_LE(0, m);
	EXPECT_EQ(0, ktape_mark(m, 1, NULL));
	EXPECT_EQ(0, ktape_value(m, 1, 1, NULL));
	EXPECT_EQ(0, ktape_text(m, "text"));
	EXPECT_EQ(0, ktape_user_event(m, 0, 1, ktape_args(0, 0, 0, 0, 0, 0, 0),
				      NULL));
	EXPECT_EQ(-EPERM, Trace0(m, 0, KTAPE_EXC_CODE(1, 1)));
	EXPECT_EQ(-EPERM, Trace0b(m, 7, KTAPE_EXC_CODE(1, 1), "b", 1));
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_EXCEPTION, 9, "mine"));
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_ISR, 9, "mine"));
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_MARKER, 5000, "mine"));
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_MARKER, 5000, ""));
	EXPECT_EQ(0, name(m, KTAPE_OBJ_MARKER, 5001, "mine"));
	/*
	 * A process that receives the descriptor has exactly the opener's
	 * rights.
	 */
	EXPECT_EQ(0, Trace0(root, 0, KTAPE_EXC_CODE(1, 2)));
	EXPECT_EQ(0, ktape_name_marker(root, 5001, "taken"));
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_MARKER, 5001, "mine again"));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	EXPECT_EQ(5, seen.nr);
	EXPECT_EQ(1, kt_emit_count(&seen, KTAPE_EV_EXCEPTION, 0));
	EXPECT_TRUE(kt_copy_object(dev, KTAPE_OBJ_MARKER, 5000, &e));
	EXPECT_STREQ("of root", e.name);
	EXPECT_TRUE(kt_copy_object(dev, KTAPE_OBJ_MARKER, 5001, &e));
	EXPECT_STREQ("taken", e.name);
	EXPECT_FALSE(kt_copy_object(dev, KTAPE_OBJ_EXCEPTION, 9, &e));
	close(fd);
}

/*
 * Let user @uid name markers from @first on.  Return: how many he may name, or 253 to 255: another
 * error came, a name was not released, or he could not be that user.
 */
static int names_as(uid_t uid, uint32_t first)
{
	int n = 0, m, ret;
	pid_t pid = fork();

	if (pid)
		return kt_exit_status(pid);
	if (setuid(uid))
		_exit(255);
	m = ktape_mark_open();
	while ((ret = name(m, KTAPE_OBJ_MARKER, first + n, "many")) == 0)
		n++;
	/* A released name can be used again. */
	if (name(m, KTAPE_OBJ_MARKER, first, "") ||
	    name(m, KTAPE_OBJ_MARKER, first + 1000, "another"))
		_exit(254);
	_exit(ret == -ENOSPC ? n : 253);
}

/* Each user may have so many names, which no other user may change. */
TEST_F_TIMEOUT(mark, names_of_one_user, 60)
{
	int m;

	ASSERT_EQ(0, chmod(KTAPE_MARK_PATH, 0666));
	EXPECT_EQ(NAMES_OF_ONE, names_as(OTHER, 10000));
	EXPECT_EQ(NAMES_OF_ONE, names_as(OTHER + 1, 20000));
	ASSERT_EQ(0, setuid(NOBODY));
	m = ktape_mark_open();
	ASSERT_LE(0, m);
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_MARKER, 10001, "not mine"));
	EXPECT_EQ(-EPERM, name(m, KTAPE_OBJ_MARKER, 10001, ""));
}

/* ---- the rate ------------------------------------------------------------------- */

static int tried, accepted, busy, failed;
static int without; /* a descriptor whose opener has no rights */

static void try_mark(uint64_t n)
{
	int ret = n % 4 ? ktape_mark(without, 77, NULL) :
			  ktape_text(without, "text");

	__atomic_fetch_add(&tried, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(ret == -EBUSY ? &busy :
			   ret		 ? &failed :
					   &accepted,
			   1, __ATOMIC_RELAXED);
}

/* Each mark is recorded, or refused and counted as lost by the rate limit. */
TEST_F_TIMEOUT(mark, rate_is_exact, 60)
{
	struct kt_load load[64];
	uint64_t emitted, rate;
	int fd, cpus = kt_online_cpus(), each = 3000 / kt_scale();

	ASSERT_EQ(0, chmod(KTAPE_MARK_PATH, 0666));
	fd = kt_emit_session(256 << 10);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setresuid(-1, NOBODY, -1));
	without = ktape_mark_open();
	ASSERT_LE(0, without);
	ASSERT_EQ(0, kt_loads_start(load, cpus, each, try_mark));
	kt_loads_wait(load, cpus);
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	ASSERT_EQ(0, kt_emit_counts(fd, &emitted, &rate));
	printf("# %d tried, %d accepted, %d busy; %zu recorded, %d emitted, %d lost\n",
	       tried, accepted, busy, seen.nr, (int)emitted, (int)rate);
	EXPECT_STREQ("", seen.error);
	EXPECT_EQ(each * cpus, tried);
	EXPECT_EQ(0, failed);
	EXPECT_EQ(tried, accepted + busy);
	EXPECT_LE(10, accepted);
	EXPECT_LT(0, busy);
	EXPECT_EQ(accepted, (int)seen.nr);
	EXPECT_EQ(tried, (int)emitted);
	EXPECT_EQ(busy, (int)rate);
	close(fd);
}

#define RATE	      100	      /* as in tests.conf */
#define AT_ONCE	      (RATE / 10 + 1) /* a burst: what 0.1 s allow, and one */
#define LONG	      1024
#define COST	      (1 + LONG / 64) /* short marks as which a long one counts */
#define USERS	      24
#define USERS_AT_ONCE 4 /* as in module/dev/mark.c */

/* A long mark counts as several, because bytes are limited too. */
TEST_F_TIMEOUT(mark, rate_of_bytes, 60)
{
	static char text[LONG];
	int m, fd, got = 0;
	double start, most;

	ASSERT_EQ(0, chmod(KTAPE_MARK_PATH, 0666));
	fd = kt_emit_session(256 << 10);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setresuid(-1, OTHER + 10, -1));
	m = ktape_mark_open();
	ASSERT_LE(0, m);
	memset(text, 'x', sizeof(text));
	usleep(200000); /* let the limit recover from earlier marks */
	start = now_s();
	for (int i = 0; i < 200; i++)
		got += write(m, text, sizeof(text)) == sizeof(text);
	/* The last mark may exceed the limit. */
	most = (now_s() - start) * RATE + AT_ONCE + COST;
	printf("# %d of 200, %.1f at most\n", got, most / COST);
	EXPECT_LE(1, got);
	EXPECT_GE(most, got * COST);
	close(m);
	close(fd);
}

/*
 * Emit marks as uid OTHER + 20 + n, with a new descriptor for each.  Exit with the number that
 * was accepted, or 255.
 */
static int as_another(int n, int go, int calls)
{
	int m, got = 0;
	char c;

	if (setuid(OTHER + 20 + n) || read(go, &c, 1))
		_exit(255);
	while (calls--) {
		m = ktape_mark_open();
		got += ktape_mark(m, 1, NULL) == 0;
		close(m);
	}
	_exit(got);
}

/*
 * More descriptors, processes or user ids must not raise the limit, which for all users together
 * is USERS_AT_ONCE times that of one.
 */
TEST_F_TIMEOUT(mark, rate_of_all, 60)
{
	int go[2], fd, status, got = 0;
	double start, most;

	ASSERT_EQ(0, chmod(KTAPE_MARK_PATH, 0666));
	fd = kt_emit_session(256 << 10);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(go));
	for (int i = 0; i < USERS; i++)
		if (!fork()) {
			close(go[1]);
			as_another(i, go[0], 2 * AT_ONCE);
		}
	usleep(200000);
	start = now_s();
	close(go[1]);
	for (int i = 0; i < USERS; i++) {
		ASSERT_LT(0, wait(&status));
		ASSERT_TRUE(WIFEXITED(status));
		ASSERT_NE(255, WEXITSTATUS(status));
		got += WEXITSTATUS(status);
	}
	most = (now_s() - start) * USERS_AT_ONCE * RATE +
	       USERS_AT_ONCE * RATE / 10 + 1;
	printf("# %d of %d, %.0f at most\n", got, USERS * 2 * AT_ONCE, most);
	EXPECT_LE(USERS_AT_ONCE * RATE / 10, got);
	EXPECT_GE(most, got);
	close(fd);
}

TEST_HARNESS_MAIN
