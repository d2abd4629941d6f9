// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lose rights in every way and order: capabilities, users, and user, pid, network,
 * cgroup, mount, UTS and IPC name spaces, after descriptors were opened.  All calls are
 * made then.  A descriptor keeps its rights on its session, and nothing opens another
 * session, creates one, or adds a probe.  A program with more rights than its caller
 * emits by a descriptor with the rights of the process that opened it.
 */
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_calls.h"
#include "kt_hostile.h"
#include "kt_spawn.h"

#define TRIES  40
#define UID    12345
#define HELPER "/tmp/test/helper"
#define TEXTS  2000

static uint64_t seed;

/* ---- ways to lose rights ----------------------------------------------------- */

static int lose_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = {};

	return syscall(SYS_capset, &head, none);
}

/* Only the two of which one is needed to open the device. */
static int lose_some_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &head, d))
		return -1;
	d[0].permitted &= ~(1U << CAP_SYS_ADMIN);
	d[1].permitted &= ~(1U << (38 - 32)); /* CAP_PERFMON */
	for (int i = 0; i < 2; i++) {
		d[i].effective = d[i].permitted;
		d[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, d);
}

static int lose_user(void)
{
	return setgid(UID) || setuid(UID);
}

/* Become root of a user name space, with all capabilities there. */
static int new_user_space(void)
{
	if (unshare(CLONE_NEWUSER))
		return -1;
	kt_write_text("/proc/self/setgroups", "deny");
	kt_write_text("/proc/self/uid_map", "0 0 1");
	kt_write_text("/proc/self/gid_map", "0 0 1");
	return 0;
}

/* The pid name space is that of the next child, which goes on here. */
static int new_pid_space(void)
{
	pid_t pid;
	int status;

	if (unshare(CLONE_NEWPID))
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return -1;
	if (!pid)
		return 0;
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 100);
}

static int new_net_space(void)
{
	return unshare(CLONE_NEWNET);
}

static int new_cgroup_space(void)
{
	return unshare(CLONE_NEWCGROUP);
}

static int new_other_spaces(void)
{
	return unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC);
}

static int no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/**
 * struct loss - a way to lose rights
 * @name: what is lost
 * @lose: does it; returns 0 if that worked
 * @loses: the device cannot be opened afterwards
 */
static const struct loss {
	const char *name;
	int (*lose)(void);
	bool loses;
} losses[] = {
	{ "capabilities", lose_capabilities, true },
	{ "CAP_SYS_ADMIN and CAP_PERFMON", lose_some_capabilities, true },
	{ "user", lose_user, true },
	{ "user name space", new_user_space, true },
	{ "pid name space", new_pid_space, false },
	{ "network name space", new_net_space, false },
	{ "cgroup name space", new_cgroup_space, false },
	{ "other name spaces", new_other_spaces, false },
	{ "no new privileges", no_new_privileges, false },
};

/* Calls that need the caller's own rights: "read" opens session 0 for itself. */
static bool needs_rights(const struct call *c)
{
	static const char *const name[] = {
		"open",		"OPEN",		"CREATE",
		"DESTROY",	"PROBE",	"read",
		"PERSIST_READ", "PERSIST_DROP", "CREATE persistent"
	};

	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		if (!strcmp(c->name, name[i]))
			return true;
	return false;
}

/*
 * A pid or uid that the caller cannot name any more is EINVAL or ESRCH; the node of
 * the marks can only be opened by root.
 */
static bool is_call_result(const struct call *c, int ret)
{
	if (!strcmp(c->name, "FILTER pid") || !strcmp(c->name, "FILTER uid"))
		return !ret || ret == -EINVAL || ret == -ESRCH;
	if (!strcmp(c->name, "open mark"))
		return !ret || ret == -EACCES;
	return !ret;
}

static bool is_refusal(int ret)
{
	return ret == -EPERM || ret == -EACCES;
}

/**
 * struct counts - what all processes count together
 * @tries: calls
 * @refused: calls that were refused, as they should be
 * @wrong: calls with another result
 * @what: the first of these
 */
struct counts {
	long tries, refused, wrong;
	char what[100];
};

static struct counts *sum;

/* Make all calls.  @lost: the caller has no rights any more. */
static void make_all_calls(bool lost, const char *how)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *c = &calls[i];
		bool ok;
		int ret;

		/* Without rights it makes nothing that the call could destroy. */
		if (c->before)
			c->before();
		ret = c->call();
		if (c->after)
			c->after();
		ok = needs_rights(c) && lost ? is_refusal(ret) :
					       is_call_result(c, ret);
		sum->tries++;
		sum->refused += is_refusal(ret);
		if (!ok && !sum->wrong++)
			snprintf(sum->what, sizeof(sum->what),
				 "%s: %d after %s", c->name, ret, how);
	}
}

static int lose_and_call(void)
{
	const struct loss *done[3] = {};
	char how[100] = "nothing";
	bool lost = false;
	int n = 1 + lcg_below(&seed, 3), len = 0;

	for (int i = 0; i < n; i++) {
		const struct loss *l =
			&losses[lcg_below(&seed, ARRAY_SIZE(losses))];

		/* Some ways do not work after others, or a second time. */
		if (l == done[0] || l == done[1] || l->lose())
			continue;
		done[i] = l;
		lost |= l->loses;
		len += snprintf(how + len, sizeof(how) - len, "%s%s",
				len ? ", " : "", l->name);
	}
	make_all_calls(lost, how);
	return 0;
}

FIXTURE(rights){};

FIXTURE_SETUP(rights)
{
	sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sum);
	kt_write_text("/sys/kernel/rcu_expedited", "1");
	ASSERT_TRUE(calls_open());
	seed = kt_seed();
	TH_LOG("KTAPE_SEED=%#llx", (unsigned long long)seed);
}

FIXTURE_TEARDOWN(rights)
{
	calls_close();
	kt_write_text("/sys/kernel/rcu_expedited", "0");
}

TEST_F_TIMEOUT(rights, lost_in_any_order, 3600)
{
	long tries = kt_tries(TRIES);
	int status;

	make_all_calls(false, "nothing");
	for (long i = 0; i < tries; i++) {
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid)
			_exit(lose_and_call());
		/* The child has used up its own copy of the seed. */
		seed += 12345;
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
	}
	TH_LOG("%ld tries, %ld calls, %ld refused", tries, sum->tries, sum->refused);
	EXPECT_EQ(0, sum->wrong)
	{
		TH_LOG("%ld wrong: %s", sum->wrong, sum->what);
	}
	EXPECT_LT(0, sum->refused);
}

/* ---- a helper with more rights ------------------------------------------------- */

static bool copy_helper(void)
{
	const char *folder = getenv("KTAPE_TESTS");
	char path[256], chunk[4096];
	int from, to;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/helper", folder ? folder : "/tests");
	from = open(path, O_RDONLY | O_CLOEXEC);
	to = open(HELPER, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (from < 0 || to < 0)
		return false;
	while ((n = read(from, chunk, sizeof(chunk))) > 0)
		if (write(to, chunk, n) != n)
			return false;
	/* Only when nothing is written any more. */
	if (n || fchmod(to, 04755))
		return false;
	close(from);
	close(to);
	return true;
}

/* Run the helper with a descriptor that @uid opens.  Return: its exit status. */
static int run_helper(uid_t uid)
{
	pid_t pid = fork();
	char number[16];
	int m;

	snprintf(number, sizeof(number), "%d", TEXTS);
	if (!pid) {
		if (uid && (setgid(uid) || setuid(uid)))
			_exit(100);
		m = open("/dev/ktape_mark", O_WRONLY);
		if (m < 0 || dup2(m, STDOUT_FILENO) < 0)
			_exit(101);
		execl(HELPER, "helper", number, NULL);
		_exit(102);
	}
	return kt_exit_status(pid);
}

TEST_F(rights, helper_with_more_rights)
{
	ASSERT_TRUE(copy_helper());
	ASSERT_EQ(0, chmod("/dev/ktape_mark", 0666));
	/* Its exit status: 1 = it runs as root, 2 = all texts, 4 = the exception was accepted. */
	/* Root's own descriptor: everything is accepted. */
	EXPECT_EQ(1 | 2 | 4, run_helper(0));
	/* Another user's: root emits within that user's rate, and no exceptions. */
	EXPECT_EQ(1, run_helper(UID));
	chmod("/dev/ktape_mark", 0600);
}

TEST_HARNESS_MAIN
