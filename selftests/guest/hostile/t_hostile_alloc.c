// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make each allocation, and each access to the program's memory, of each call fail, one
 * after the other.  The call succeeds nevertheless, or fails with ENOMEM or EFAULT and
 * leaves no descriptor and no session behind, and succeeds when it is repeated.
 * Loading the module is in t_load_fail; memory that really faults, in t_hostile_fault.
 */
#include "kselftest_harness.h"

#include "kt_calls.h"
#include "kt_fail.h"

#define NTH_MAX 3000

/*
 * Make a call in which the @nth allocation or access fails; 0: none.  Return its result, and
 * in @over whether the call has fewer of them.
 */
static int make_call(const struct call *c, int nth, bool *over)
{
	int ret;

	if (c->before)
		c->before();
	kt_fail_nth(nth);
	ret = c->call();
	*over = kt_fail_not_reached();
	kt_fail_nth(0);
	if (c->after)
		c->after();
	return ret;
}

/**
 * struct sum - what was tried
 * @tries: failures
 * @mattered: number of them that made a call fail
 */
struct sum {
	int tries, mattered;
};

static void try_call(struct __test_metadata *_metadata, const struct call *c,
		     bool accesses, struct sum *sum)
{
	struct ktape_session_info all[8];
	int nth, failed = 0, ret, free_one = next_descriptor();
	int sessions = kt_list_sessions(call_dev, all);
	bool over;

	EXPECT_EQ(0, make_call(c, 0, &over))
	{
		TH_LOG("%s without a failure", c->name);
	}
	for (nth = 1, over = false; nth < NTH_MAX && !over; nth++) {
		ret = make_call(c, nth, &over);
		EXPECT_TRUE(!ret || ret == (accesses ? -EFAULT : -ENOMEM))
		{
			TH_LOG("%s, failure %d: %d", c->name, nth, ret);
		}
		failed += ret != 0;
		EXPECT_EQ(free_one, next_descriptor())
		{
			TH_LOG("%s, failure %d leaves a descriptor", c->name, nth);
		}
		EXPECT_EQ(sessions, kt_list_sessions(call_dev, all))
		{
			TH_LOG("%s, failure %d leaves a session", c->name, nth);
		}
	}
	EXPECT_EQ(0, make_call(c, 0, &over))
	{
		TH_LOG("%s after all failures", c->name);
	}
	/* The last round found that there is no such failure, and counted on. */
	printf("# %s: %d of %d matter\n", c->name, failed, nth - 2);
	sum->tries += nth - 2;
	sum->mattered += failed;
	EXPECT_GT(NTH_MAX, nth);
}

FIXTURE(fail){};

FIXTURE_SETUP(fail)
{
	ASSERT_EQ(0, calls_load());
	kt_expedite(true);
	ASSERT_TRUE(calls_open());
	if (!call_old)
		TH_LOG("no persistent memory: PERSIST_READ and _DROP find nothing");
}

FIXTURE_TEARDOWN(fail)
{
	calls_close();
	kt_rmmod("kt_copy");
	EXPECT_EQ(0, unload_ktape());
}

TEST_F_TIMEOUT(fail, each_allocation_of_each_call, 1800)
{
	struct sum sum = {};

	if (!kt_fail_allocations())
		SKIP(return, "kernel without CONFIG_FAULT_INJECTION");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		try_call(_metadata, &calls[i], false, &sum);
	TH_LOG("%zu calls, %d tries, %d of them made a call fail",
	       ARRAY_SIZE(calls), sum.tries, sum.mattered);
	EXPECT_LT(0, sum.mattered);
}

TEST_F_TIMEOUT(fail, each_access_of_each_call, 1800)
{
	static const char *const kinds[] = { "copy_from_user", "copy_to_user",
					     "copy_from_iter", "get_user" };
	struct sum sum = {};
	char failed[200];

	if (!kt_fail_accesses())
		SKIP(return, "no kt_copy.ko, or it cannot probe the copies");
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		try_call(_metadata, &calls[i], true, &sum);
	kt_fail_kinds(failed, sizeof(failed));
	TH_LOG("%zu calls, %d tries, %d of them made a call fail: %s",
	       ARRAY_SIZE(calls), sum.tries, sum.mattered, failed);
	/* Most calls copy their structure in, and many copy it out. */
	EXPECT_LT((int)ARRAY_SIZE(calls), sum.mattered);
	/* A CPU may clear memory by an instruction, which nothing probes. */
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *kind = kinds[i];

		EXPECT_NE(NULL, strstr(failed, kind))
		{
			TH_LOG("no %s failed", kind);
		}
	}
}

TEST_HARNESS_MAIN
