// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test exceptions that the kernel raises itself. An exception is a record of an
 * error (uapi/README.md, Exceptions); its source is a tracepoint or notifier of the
 * kernel. The module kt_fire calls ktape's callback of each source TIMES times, and
 * the records must have the fields of the table there. The out-of-memory killer is
 * run for real.
 */
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_fire.h"

#define HAS_BUFFER 8 /* bit 3 of dat20, above the severity */
#define TIMES	   3
#define ANY	   0xdeadbeefU /* the token of an address: any number but 0 */
#define DEV	   (300U << 20 | 5) /* a dev_t of the kernel: 300:5 */

/**
 * struct source - an exception and its expected record
 * @name: name for the helper module
 * @code: its code
 * @severity: its severity
 * @nargs: argument words after the code
 * @args: the words; ANY = a token
 * @text: its buffer, NULL = none
 * @symbol: name of the first word, which is a code address, or NULL
 */
struct source {
	const char *name;
	uint32_t code, severity, nargs;
	uint32_t args[6];
	const char *text;
	const char *symbol;
};

/* The values are those that selftests/modules/fire_error.c passes. */
static const struct source sources[] = {
	/* Address, trap, error, signal.  The module hides addresses in texts. */
	{ "die",
	  KTAPE_EXC_DIE,
	  KTAPE_SW_SEVERITY3,
	  4,
	  { ANY, 14, 0x77, 11 },
	  "kt-oops at 0x****************, 0x1234",
	  "fire_error_die" },
	/* No arguments. */
	{ "panic", KTAPE_EXC_PANIC, KTAPE_SW_SEVERITY3, 0, {}, "kt-panic" },
	/* Address of the code. */
	{ "warn", KTAPE_EXC_WARN, KTAPE_SW_SEVERITY2, 1, { ANY }, NULL, "fire_error_warn" },
	/* Address of the memory. */
	{ "kfence", KTAPE_EXC_KFENCE, KTAPE_SW_SEVERITY2, 1, { ANY } },
	/* Type, count, controller, three layers of 8 bits, page, offset in it. */
	{ "memory",
	  KTAPE_EXC_MEMORY,
	  KTAPE_HW_SEVERITY2,
	  6,
	  { 1, 5, 2, 0x03ff01, ANY, 0x455 },
	  "kt-dimm" },
	/* Status. */
	{ "pcie", KTAPE_EXC_PCIE, KTAPE_HW_SEVERITY3, 1, { 0x4000 }, "kt:00.0" },
	/* CPU, bank, status (two words), page, offset in it. */
	{ "mce",
	  KTAPE_EXC_MACHINE_CHECK,
	  KTAPE_HW_SEVERITY3,
	  6,
	  { 3, 4, 9, 0xa2000000, ANY, 0x899 } },
	/* Zone, trip, type, temperature in millidegrees. */
	{ "trip", KTAPE_EXC_TRIP, KTAPE_HW_SEVERITY3, 4, { 6, 1, 3, 98765 }, "kt-zone" },
	/* Device, sector (two words), bytes, operation, status. */
	{ "block_error",
	  KTAPE_EXC_BLOCK,
	  KTAPE_HW_SEVERITY1,
	  6,
	  { DEV, 0x3456789a, 0x12, 512, 1, 10 } },
	/* Number of the device, queue. */
	{ "xmit", KTAPE_EXC_XMIT_TIMEOUT, KTAPE_HW_SEVERITY2, 2, { 1, 3 }, "lo" },
};

/* Host, channel, id, lun, result.  The text begins with the command: 8 is READ(6). */
static const struct source scsi_sources[] = {
	{ "scsi_error",
	  KTAPE_EXC_SCSI_ERROR,
	  KTAPE_HW_SEVERITY1,
	  5,
	  { 9, 1, 2, 3, 0x1055 },
	  "\x08kt-cd" },
	{ "scsi_timeout",
	  KTAPE_EXC_SCSI_TIMEOUT,
	  KTAPE_HW_SEVERITY2,
	  5,
	  { 9, 1, 2, 3, 0x30000 },
	  "\x08kt-cd" },
};

FIXTURE(exception)
{
	struct kt_hits h;
	int fire;
};

FIXTURE_SETUP(exception)
{
	self->fire = kt_fire_load();
	ASSERT_EQ(0, self->fire);
}

FIXTURE_TEARDOWN(exception)
{
	kt_hits_free(&self->h);
	if (!self->fire)
		kt_rmmod("kt_fire");
}

/*
 * Check a record, which must be in the control ring (that of exceptions and control
 * records). Return: the error text, NULL if it is right.
 */
static const char *exception_error(const struct kt_hit *hit, const struct source *s)
{
	char name[KTAPE_NAME_SIZE];

	if (hit->op != KTAPE_EV_EXCEPTION || hit->kind != KTAPE_RING_CONTROL)
		return "not an exception in the control ring";
	if (hit->args[0] != s->code)
		return "code";
	if (hit->dat20 != (s->severity | (s->text ? HAS_BUFFER : 0)))
		return "severity";
	if (hit->nargs != 1 + s->nargs)
		return "number of arguments";
	for (uint32_t i = 0; i < s->nargs; i++)
		if (s->args[i] == ANY ? !hit->args[1 + i] :
					hit->args[1 + i] != s->args[i])
			return "argument";
	if (hit->size != (int)strlen(s->text ?: ""))
		return "size of the buffer";
	if (strcmp(hit->text, s->text ?: ""))
		return "buffer";
	if (s->symbol &&
	    (kt_wait_object_name(KTAPE_OBJ_FUNCTION, hit->args[1], name) ||
	     strcmp(name, s->symbol)))
		return "symbol";
	return NULL;
}

/*
 * Debian's 6.1 has all of them; later kernels lack some (thermal trips). The suite
 * sets KTAPE_KERNEL to the name of the guest's kernel.
 */
static bool has_all_sources(void)
{
	struct utsname kernel;

	return !strcmp(getenv("KTAPE_KERNEL") ?: "", "stock") &&
	       !uname(&kernel) && !strncmp(kernel.release, "6.1.", 4);
}

/* Cause each exception TIMES times. Return: number of wrong ones. */
static int check_all_exceptions(struct __test_metadata *_metadata,
				struct kt_hits *h, const struct source *s, int nr)
{
	int bad = 0, ret, fd;
	const char *why;

	for (; nr > 0; nr--, s++) {
		fd = kt_start_recording(KT_OPS(KTAPE_EV_EXCEPTION));
		ret = kt_fire(s->name, TIMES);
		if (kt_stop_and_take_hits(h, fd))
			return -1;
		if ((ret == -EINVAL || ret == -ENOENT) && !has_all_sources()) {
			TH_LOG("%s: this kernel has no such source", s->name);
			continue;
		}
		why = ret			? "could not be caused" :
		      h->nr != TIMES || h->lost ? "number" :
						  NULL;
		for (int i = 0; !why && i < h->nr; i++)
			why = exception_error(&h->hit[i], s);
		TH_LOG("%s: %d records, %s", s->name, h->nr, why ?: "right");
		bad += !!why;
		kt_hits_free(h);
	}
	return bad;
}

TEST_F_TIMEOUT(exception, each_source, 200)
{
	EXPECT_EQ(0, check_all_exceptions(_metadata, &self->h, sources,
					  sizeof(sources) / sizeof(sources[0])));
}

TEST_F_TIMEOUT(exception, hang_names_the_thread, 200)
{
	struct source s = { "hang", KTAPE_EXC_HANG,	     KTAPE_SW_SEVERITY2,
			    1,	    { syscall(SYS_gettid) }, "kt-hangs" };

	prctl(PR_SET_NAME, "kt-hangs");
	EXPECT_EQ(0, check_all_exceptions(_metadata, &self->h, &s, 1));
}

/* A breakpoint goes through the same chain as a death. */
TEST_F_TIMEOUT(exception, breakpoint_is_not_a_death, 200)
{
	int fd = kt_start_recording(KT_OPS(KTAPE_EV_EXCEPTION));

	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, kt_fire("trap", TIMES));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.nr);
}

TEST_F_TIMEOUT(exception, majors_have_names, 200)
{
	char name[KTAPE_NAME_SIZE] = "";

	EXPECT_EQ(0, kt_wait_object_name(KTAPE_OBJ_EXCEPTION,
					 KTAPE_MAJOR_KERNEL, name));
	EXPECT_STREQ("kernel", name);
	EXPECT_EQ(0, kt_wait_object_name(KTAPE_OBJ_EXCEPTION,
					 KTAPE_MAJOR_THERMAL, name));
	EXPECT_STREQ("thermal", name);
}

/* ---- tracepoints of a module ------------------------------------------------ */

static int unload_scsi(void)
{
	int ret = kt_rmmod("scsi_mod");

	kt_rmmod("scsi_common");
	return ret;
}

/*
 * The module is loaded and unloaded while a session wants its events: they are
 * attached each time.
 */
TEST_F_TIMEOUT(exception, module_loaded_later, 200)
{
	int want = kt_start_recording(KT_OPS(KTAPE_EV_EXCEPTION)), ret;

	ASSERT_GE(want, 0);
	for (int round = 0; round < 3; round++) {
		ret = kt_modprobe("scsi_"); /* all modules with this in their name */
		if (ret == -ENOENT)
			SKIP(goto out, "no scsi_mod to load");
		ASSERT_EQ(0, ret);
		EXPECT_EQ(0, check_all_exceptions(_metadata, &self->h,
						  scsi_sources, 2));
		EXPECT_EQ(0, unload_scsi());
		EXPECT_EQ(-ENOENT, kt_fire("scsi_error", 1));
	}
out:
	close(want);
}

/* The module is loaded before a session wants its events. */
TEST_F_TIMEOUT(exception, module_loaded_before, 200)
{
	int ret = kt_modprobe("scsi_");

	if (ret == -ENOENT)
		SKIP(return, "no scsi_mod to load");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, check_all_exceptions(_metadata, &self->h, scsi_sources, 2));
	EXPECT_EQ(0, unload_scsi());
}

/* ---- out of memory ----------------------------------------------------------- */

#define GROUP "/sys/fs/cgroup/kt-oom"

/* A child allocates more memory than its group has, until it is killed. */
static pid_t glutton(void)
{
	const size_t size = 64 << 20;
	pid_t pid = fork();
	char *p;

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "kt-glutton");
	kt_write_text(GROUP "/cgroup.procs", "0");
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		memset(p, 1, size);
	_exit(0);
}

TEST_F_TIMEOUT(exception, out_of_memory, 200)
{
	int fd, status = 0;
	pid_t pid;

	kt_write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) || kt_write_text(GROUP "/memory.max", "8M")) {
		rmdir(GROUP);
		SKIP(return, "no memory control group");
	}
	kt_write_text(GROUP "/memory.swap.max", "0");
	fd = kt_start_recording(KT_OPS(KTAPE_EV_EXCEPTION));
	ASSERT_GE(fd, 0);
	pid = glutton();
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, rmdir(GROUP));
	ASSERT_EQ(1, self->h.nr);
	EXPECT_EQ(KTAPE_EXC_OOM, self->h.hit[0].args[0]);
	EXPECT_EQ(pid, self->h.hit[0].args[1]);
	EXPECT_EQ(0, self->h.hit[0].args[2]); /* uid */
	EXPECT_EQ(KTAPE_SW_SEVERITY2 | HAS_BUFFER, self->h.hit[0].dat20);
	EXPECT_STREQ("kt-glutton", self->h.hit[0].text);
}

TEST_HARNESS_MAIN
