// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test run-time probes: addresses and requests that must be refused, the 15 slots, one
 * record for each call with its arguments or result, tokens instead of addresses, and states
 * when the probed module is unloaded.
 */
#include "kselftest_harness.h"

#include "kt_module.h"
#include "kt_probe.h"

#define LOAD_CPU 0
#define CALLS	 500
#define GETPPID	 KT_SYSCALL("getppid")
/* Functions that the kernel keeps probes out of. */
#if defined(__x86_64__)
#define EXCLUDED     "exc_int3"
#define EXCLUDED_TOO "kprobe_int3_handler"
#elif defined(__aarch64__)
#define EXCLUDED     "el1h_64_sync_handler"
#define EXCLUDED_TOO "el0t_64_sync_handler"
#elif defined(__riscv)
#define EXCLUDED     "do_trap_ecall_u"
#define EXCLUDED_TOO "do_trap_break"
#else
#define EXCLUDED     "do_page_fault"
#define EXCLUDED_TOO "do_DataAbort"
#endif
#define SLOT(n) (KTAPE_OP_PROBE + (n))

FIXTURE(kprobe)
{
	int main;
	int fd;		      /* our own session */
	struct kt_map events; /* ring of LOAD_CPU, where this test runs */
	struct kt_map registry;
};

static void open_kprobe_session(struct __test_metadata *_metadata,
				FIXTURE_DATA(kprobe) * self)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 4 << 20, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT,
				 &self->events));
	ASSERT_EQ(0, kt_map_ring(self->fd, -1, KTAPE_RING_REGISTRY, &self->registry));
}

static void close_kprobe_session(struct __test_metadata *_metadata,
				 FIXTURE_DATA(kprobe) * self)
{
	/* A mapping would keep the session, which would keep the probe. */
	kt_unmap_ring(&self->events);
	kt_unmap_ring(&self->registry);
	close(self->fd);
	for (int i = 0; i < KTAPE_PROBES; i++)
		kt_probe_remove(self->main, SLOT(i));
	close(self->main);
	/* A test that fails between two loads detaches once more. */
	self->events = self->registry = (struct kt_map){};
	self->fd = self->main = -1;
}

FIXTURE_SETUP(kprobe)
{
	open_kprobe_session(_metadata, self);
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
	ASSERT_EQ(0, kt_target_load());
}

FIXTURE_TEARDOWN(kprobe)
{
	close_kprobe_session(_metadata, self);
	EXPECT_EQ(0, kt_target_unload());
}

/* ---- what is refused --------------------------------------------------- */

TEST_F(kprobe, refused)
{
	static const struct {
		struct ktape_probe p;
		int error;
	} vector[] = {
		{ { .symbol = "" }, -EINVAL },
		{ { .symbol = "ktape_no_such_function" }, -ENOENT },
		{ { .symbol = "ktape_no_such_function", .flags = 1 }, -ENOENT },
		{ { .symbol = EXCLUDED }, -EINVAL },
		{ { .symbol = EXCLUDED, .flags = 1 }, -EINVAL },
		{ { .symbol = EXCLUDED_TOO }, -EINVAL },
		/* A function of ktape itself. */
		{ { .symbol = "kt_event_record_of" }, -EINVAL },
		{ { .symbol = "kt_event_record_of", .flags = 1 }, -EINVAL },
		{ { .symbol = "ktape_target", .flags = 2 }, -EINVAL },
		{ { .symbol = "ktape_target", .flags = 1U << 31 }, -EINVAL },
		{ { .symbol = "ktape_target", .nargs = 5 }, -EINVAL },
		{ { .symbol = "ktape_target", .nargs = -1U }, -EINVAL },
		{ { .symbol = "ktape_target", .flags = 1, .nargs = 2 }, -EINVAL },
		{ { .symbol = "ktape_target", .flags = 1, .offset = 5 }, -EINVAL },
		/*
		 * Only a probe at the entry has arguments. One of these offsets is the start of
		 * an instruction.
		 */
		{ { .symbol = "ktape_target", .offset = 4, .nargs = 1 }, -EINVAL },
		{ { .symbol = "ktape_target", .offset = 5, .nargs = 1 }, -EINVAL },
		{ { .symbol = "ktape_target", .offset = 9, .nargs = 1 }, -EINVAL },
		/* The middle of an instruction, and places beyond the function. */
		{ { .symbol = "ktape_target", .offset = 1 }, -EINVAL },
		{ { .symbol = "ktape_target", .offset = 1ULL << 32 }, -EINVAL },
		{ { .symbol = "ktape_target", .offset = -1ULL }, -EINVAL },
		{ { .symbol = "ktape_target", .opcode = SLOT(0) }, -EINVAL },
		{ { .symbol = "ktape_target", .reserved = 1 }, -EINVAL },
		{ { .symbol = "ktape_target", .hits = 1 }, -EINVAL },
		{ { .symbol = "ktape_target", .missed = 1 }, -EINVAL },
	};
	struct ktape_probe p;

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		p = vector[i].p;
		EXPECT_EQ(vector[i].error,
			  kt_probe_op(self->main, KTAPE_PROBE_ADD, &p))
		{
			TH_LOG("vector %zu", i);
		}
	}
	memset(&p, 0, sizeof(p));
	memset(p.symbol, 'a', sizeof(p.symbol));
	EXPECT_EQ(-EINVAL, kt_probe_op(self->main, KTAPE_PROBE_ADD, &p));
	for (uint32_t op = KTAPE_PROBE_REMOVE + 1; op; op <<= 1) {
		p = (struct ktape_probe){ .opcode = SLOT(0) };
		EXPECT_EQ(-EINVAL, kt_probe_op(self->main, op, &p));
	}
	/* None of the refused probes uses a slot. */
	for (int i = 0; i < KTAPE_PROBES; i++)
		EXPECT_STREQ("", kt_probe_get(self->main, SLOT(i)).symbol);
}

TEST_F(kprobe, get_and_remove_need_only_the_slot)
{
	static const struct ktape_probe bad[] = {
		{ .opcode = SLOT(-1) },
		{ .opcode = KTAPE_TIME_EXTEND },
		{ .opcode = SLOT(256) },
		{ .opcode = SLOT(0), .flags = 1 },
		{ .opcode = SLOT(0), .nargs = 1 },
		{ .opcode = SLOT(0), .reserved = 1 },
		{ .opcode = SLOT(0), .offset = 1 },
		{ .opcode = SLOT(0), .hits = 1 },
		{ .opcode = SLOT(0), .missed = 1 },
		{ .opcode = SLOT(0), .symbol = "x" },
	};
	struct ktape_probe p;

	ASSERT_EQ(SLOT(0), kt_probe_add(self->main, GETPPID, 0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		p = bad[i];
		EXPECT_EQ(-EINVAL, kt_probe_op(self->main, KTAPE_PROBE_GET, &p));
		p = bad[i];
		EXPECT_EQ(-EINVAL, kt_probe_op(self->main, KTAPE_PROBE_REMOVE, &p));
	}
	EXPECT_EQ(-ENOENT, kt_probe_remove(self->main, SLOT(1)));
	EXPECT_EQ(0, kt_probe_remove(self->main, SLOT(0)));
	EXPECT_EQ(-ENOENT, kt_probe_remove(self->main, SLOT(0)));
}

TEST_F(kprobe, rights)
{
	int fd = kt_open(O_RDONLY);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EPERM, kt_probe_add(fd, GETPPID, 0, 0));
	ASSERT_EQ(SLOT(0), kt_probe_add(self->main, GETPPID, 0, 0));
	EXPECT_EQ(-EPERM, kt_probe_remove(fd, SLOT(0)));
	EXPECT_STREQ(GETPPID, kt_probe_get(fd, SLOT(0)).symbol);
	close(fd);
}

/*
 * As many probes fit as there are slots, each with an entry in the registry, which is dead once the
 * probe is removed. A free slot is used again.
 */
TEST_F(kprobe, slots)
{
	struct ktape_object_entry e;
	struct ktape_probe p;

	for (int i = 0; i < KTAPE_PROBES; i++)
		EXPECT_EQ(SLOT(i), kt_probe_add(self->main, "ktape_target",
						i & 1, i % 2 ? 1 : i % 5));
	EXPECT_EQ(-ENOSPC, kt_probe_add(self->main, GETPPID, 0, 0));
	for (int i = 0; i < KTAPE_PROBES; i++) {
		p = kt_probe_get(self->main, SLOT(i));
		EXPECT_STREQ("ktape_target", p.symbol);
		EXPECT_EQ(i & 1, p.flags);
		EXPECT_EQ(i % 2 ? 1 : i % 5, p.nargs);
		ASSERT_TRUE(kt_object(&self->registry, KTAPE_OBJ_PROBE, SLOT(i),
				      &e));
		EXPECT_STREQ("ktape_target", e.name);
		EXPECT_EQ(i & 1, e.param1);
		EXPECT_EQ(0, e.died);
	}
	EXPECT_EQ(0, kt_probe_remove(self->main, SLOT(7)));
	ASSERT_TRUE(kt_object(&self->registry, KTAPE_OBJ_PROBE, SLOT(7), &e));
	EXPECT_NE(0, e.died);
	EXPECT_EQ(SLOT(7), kt_probe_add(self->main, GETPPID, 0, 0));
	EXPECT_STREQ(GETPPID, kt_probe_get(self->main, SLOT(7)).symbol);
}

TEST_F(kprobe, busy_while_in_a_profile)
{
	ASSERT_EQ(SLOT(0), kt_probe_add(self->main, GETPPID, 0, 0));
	/* The same whether the session records or not. */
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, SLOT(0), 0, 0));
	EXPECT_EQ(-EBUSY, kt_probe_remove(self->main, SLOT(0)));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(-EBUSY, kt_probe_remove(self->main, SLOT(0)));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_ANDNOT, SLOT(0), 0, 0));
	EXPECT_EQ(0, kt_probe_remove(self->main, SLOT(0)));
}

/* ---- states ------------------------------------------------------------ */

static struct ktape_event_info probe_event_info(int fd, unsigned int opcode)
{
	struct ktape_event_info e = { .size = sizeof(e), .opcode = opcode };

	if (kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &e))
		e.state = -1U;
	return e;
}

/*
 * The probe is removed a second after the last session has dropped it; the
 * removal takes some time too.
 */
static void wait_for_detaching(int fd, unsigned int opcode)
{
	for (int i = 0; i < 300 && probe_event_info(fd, opcode).attached; i++)
		usleep(100000);
}

/*
 * A probe is attached while a session that has it in its profile records, and somewhat longer;
 * hits count only while it records.
 */
TEST_F_TIMEOUT(kprobe, states, 120)
{
	struct ktape_event_info e = probe_event_info(self->main, SLOT(0));

	EXPECT_EQ(KTAPE_EVENT_FREE_SLOT, e.state);
	EXPECT_NE('\0', e.reason[0]);
	ASSERT_EQ(SLOT(0), kt_probe_add(self->main, "ktape_target", 0, 0));
	e = probe_event_info(self->main, SLOT(0));
	EXPECT_EQ(KTAPE_EVENT_AVAILABLE, e.state);
	EXPECT_EQ(0, e.attached);
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, SLOT(0), 0, 0));
	EXPECT_EQ(0, probe_event_info(self->main, SLOT(0)).attached);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(1, probe_event_info(self->main, SLOT(0)).attached);
	ASSERT_EQ(0, kt_target_calls(CALLS));
	EXPECT_EQ(CALLS, kt_probe_get(self->main, SLOT(0)).hits);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_target_calls(CALLS));
	wait_for_detaching(self->main, SLOT(0));
	EXPECT_EQ(0, probe_event_info(self->main, SLOT(0)).attached);
	ASSERT_EQ(0, kt_target_calls(CALLS));
	EXPECT_EQ(CALLS, kt_probe_get(self->main, SLOT(0)).hits);
}

/* Return true if the registry has a live function of this name. */
static bool has_live_function(const struct kt_map *registry, const char *name)
{
	const struct ktape_object_entry *e = (const void *)registry->data;
	size_t nr = registry->e.data_size / sizeof(*e);

	for (size_t i = 0; i < nr; i++)
		if (e[i].type == KTAPE_OBJ_FUNCTION && !e[i].died &&
		    !strncmp(e[i].name, name, sizeof(e[i].name)))
			return true;
	return false;
}

/*
 * When the probed module goes, its probes are gone for good, but keep their counts, and no entry of
 * the registry says that the function is alive.
 */
TEST_F(kprobe, module_is_unloaded)
{
	ASSERT_EQ(SLOT(0), kt_probe_add(self->main, "ktape_target", 0, 4));
	ASSERT_EQ(SLOT(1), kt_probe_add(self->main, "ktape_target", 1, 1));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, SLOT(0),
				    SLOT(1), 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_target_calls(1));
	for (int i = 0;
	     i < 100 && !has_live_function(&self->registry, "ktape_target"); i++)
		usleep(20000);
	EXPECT_TRUE(has_live_function(&self->registry, "ktape_target"));
	ASSERT_EQ(0, kt_target_unload());
	EXPECT_FALSE(has_live_function(&self->registry, "ktape_target"));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(KTAPE_EVENT_GONE,
			  probe_event_info(self->main, SLOT(i)).state);
		EXPECT_EQ(0, probe_event_info(self->main, SLOT(i)).attached);
		EXPECT_EQ(1, kt_probe_get(self->main, SLOT(i)).hits);
	}
	/* Loading the target module again does not restore the probe. */
	ASSERT_EQ(0, kt_target_load());
	ASSERT_EQ(0, kt_target_calls(1));
	EXPECT_EQ(1, kt_probe_get(self->main, SLOT(0)).hits);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(KTAPE_EVENT_GONE, probe_event_info(self->main, SLOT(0)).state);
}

/* ---- records ----------------------------------------------------------- */

/**
 * struct seen - the records of a probe
 * @records: number of records
 * @other: records of other events
 * @wrong: values, numbers of values and sizes that are not those expected
 * @opcode: the probe
 * @token: token of the probed address, by the last record
 * @expect: stores the values that record n should have, and returns their number
 */
struct seen {
	long records, other, wrong;
	unsigned int opcode;
	uint32_t token;
	int (*expect)(long n, uint64_t *values);
};

static void check_probe_record(const struct kt_rec *r, void *arg)
{
	struct seen *s = arg;
	uint64_t must[4], is;
	uint32_t count;
	int n;

	if (r->op != s->opcode) {
		s->other += r->op != KTAPE_TIME_EXTEND &&
			    r->op != KTAPE_EV_REGISTRY &&
			    r->op != KTAPE_EV_TRACER && r->op != KTAPE_EV_CONTEXT;
		return;
	}
	n = s->expect(s->records++, must);
	s->token = r->args[0];
	memcpy(&count, r->blob, sizeof(count));
	s->wrong += (int)count != n || r->size != 4 + 8 * (uint32_t)n;
	for (int i = 0; i < n && i < (int)count; i++) {
		memcpy(&is, r->blob + 4 + 8 * i, sizeof(is));
		s->wrong += is != must[i];
	}
}

static int no_values(long n, uint64_t *values)
{
	return 0;
}

/* What ktape_target() gets at call @n of kt_target_calls(). */
static int arguments(long n, uint64_t *values)
{
	values[0] = n;
	values[1] = 0x2222222222222222;
	values[2] = 0x3333;
	values[3] = -4ULL;
	return 4;
}

static int sum_arguments(long n, uint64_t *values)
{
	uint64_t v[4];

	arguments(n, v);
	values[0] = v[0] + v[1] + v[2] + v[3];
	return 1;
}

static int parent(long n, uint64_t *values)
{
	values[0] = getppid();
	return 1;
}

static void getppids(void)
{
	kt_getppids(CALLS);
}

static void targets(void)
{
	kt_target_calls(CALLS);
}

FIXTURE(values)
{
	FIXTURE_DATA(kprobe) k;
};

/*
 * @symbol: what is probed, @function: the end of the name that the registry gives it
 * @call: calls it CALLS times, and @expect knows what each record should have
 */
FIXTURE_VARIANT(values)
{
	const char *symbol, *function;
	uint32_t flags, nargs;
	int (*expect)(long n, uint64_t *values);
	void (*call)(void);
};

/* clang-format off */
FIXTURE_VARIANT_ADD(values, entry_of_a_system_call)
{
	GETPPID, "sys_getppid", 0, 0, no_values, getppids
};
FIXTURE_VARIANT_ADD(values, return_of_a_system_call)
{
	GETPPID, "sys_getppid", KTAPE_PROBE_RETURN, 1, parent, getppids
};
FIXTURE_VARIANT_ADD(values, arguments)
{
	"ktape_target", "ktape_target", 0, 4, arguments, targets
};
FIXTURE_VARIANT_ADD(values, result)
{
	"ktape_target", "ktape_target", KTAPE_PROBE_RETURN, 1, sum_arguments, targets
};
FIXTURE_VARIANT_ADD(values, return_alone)
{
	"ktape_target", "ktape_target", KTAPE_PROBE_RETURN, 0, no_values,
	targets
};
/* clang-format on */

FIXTURE_SETUP(values)
{
	kprobe_setup(_metadata, &self->k, NULL);
}

FIXTURE_TEARDOWN(values)
{
	kprobe_teardown(_metadata, &self->k, NULL);
}

/*
 * Before the probe is in the profile, and after it was removed from it, nothing
 * is recorded.
 */
TEST_F(values, exact)
{
	struct seen s = { .opcode = SLOT(0), .expect = variant->expect };
	struct ktape_probe p;

	ASSERT_EQ(SLOT(0), kt_probe_add(self->k.main, variant->symbol,
					variant->flags, variant->nargs));
	ASSERT_EQ(0, kt_control(self->k.fd, KTAPE_IOC_START));
	variant->call();
	ASSERT_EQ(0, kt_profile_ops(self->k.fd, KTAPE_PROFILE_OR, SLOT(0), 0, 0));
	variant->call();
	ASSERT_EQ(0, kt_profile_ops(self->k.fd, KTAPE_PROFILE_ANDNOT, SLOT(0), 0, 0));
	variant->call();
	ASSERT_EQ(0, kt_control(self->k.fd, KTAPE_IOC_STOP));
	EXPECT_LE(0, kt_walk(&self->k.events, check_probe_record, &s));
	EXPECT_EQ(CALLS, s.records);
	EXPECT_EQ(0, s.wrong);
	EXPECT_EQ(0, s.other);
	EXPECT_TRUE(kt_is_function(&self->k.registry, s.token, variant->function));
	p = kt_probe_get(self->k.main, SLOT(0));
	EXPECT_EQ(CALLS, p.hits);
	EXPECT_EQ(0, p.missed);
}

/**
 * struct slots - the records of all probes
 * @nr: number of records, by slot
 * @wrong: records with another number of arguments, or other values, than they should have
 */
struct slots {
	int nr[KTAPE_PROBES], wrong;
};

static void look_at_slots(const struct kt_rec *r, void *arg)
{
	int slot = (int)r->op - KTAPE_OP_PROBE;
	struct slots *s = arg;
	uint64_t must[4];
	uint32_t count;

	if (slot < 0 || slot >= KTAPE_PROBES)
		return;
	memcpy(&count, r->blob, sizeof(count));
	arguments(s->nr[slot]++, must);
	s->wrong += (int)count != slot % 5 || r->size != 4 + 8 * count ||
		    memcmp(r->blob + 4, must, 8 * count);
}

/* Use all slots at once, for probes of 0 to 4 arguments. */
TEST_F(kprobe, each_slot_records)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };
	struct slots s = {};

	for (int i = 0; i < KTAPE_PROBES; i++) {
		ASSERT_EQ(SLOT(i),
			  kt_probe_add(self->main, "ktape_target", 0, i % 5));
		kt_ops_add(p.mask, SLOT(i));
	}
	ASSERT_EQ(0, kt_profile(self->fd, &p));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_target_calls(CALLS));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	EXPECT_LE(0, kt_walk(&self->events, look_at_slots, &s));
	for (int i = 0; i < KTAPE_PROBES; i++)
		EXPECT_EQ(CALLS, s.nr[i]);
	EXPECT_EQ(0, s.wrong);
}

/* ---- addresses ---------------------------------------------------------- */

/**
 * struct reported - what the records of a probe with 4 arguments say
 * @nr: number of records
 * @tokens: bit n: value n of the last record is a token
 * @v: values of the last record
 */
struct reported {
	int nr;
	uint32_t tokens;
	uint64_t v[4];
};

static void keep_values(const struct kt_rec *r, void *arg)
{
	struct reported *t = arg;

	if (r->op != SLOT(0))
		return;
	t->nr++;
	t->tokens = r->dat20 >> 1;
	memcpy(t->v, r->blob + 4, sizeof(t->v));
}

/* Call the probed function with these values, and collect all records. */
static void call_and_collect(struct __test_metadata *_metadata,
			     FIXTURE_DATA(kprobe) * self,
			     const unsigned long *v, struct reported *reported)
{
	memset(reported, 0, sizeof(*reported));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_target_call_with(v));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	EXPECT_LE(0, kt_walk(&self->events, keep_values, reported));
}

static void probe_target(struct __test_metadata *_metadata,
			 FIXTURE_DATA(kprobe) * self)
{
	ASSERT_EQ(SLOT(0), kt_probe_add(self->main, "ktape_target", 0, 4));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, SLOT(0), 0, 0));
}

/*
 * Kernel addresses are recorded as tokens, other values unchanged. On 64 bits an address is one of
 * the kernel from 0xf << 60 on, without the last MiB: there errors and small negative numbers are.
 */
TEST_F(kprobe, addresses_are_tokens)
{
	static const struct {
		unsigned long v[4];
		uint32_t tokens;
	} vector[] = {
		{ { 0, 1, -1UL, -4095UL }, 0 },
#if __SIZEOF_LONG__ == 8
		{ { -1UL << 20, (-1UL << 20) - 1, 0xfUL << 60, (0xfUL << 60) - 1 },
		  6 },
		{ { 0xffffffff81000000, 0xffff888000001000, 0xff11000000001000,
		    0x7fffffffffff },
		  7 },
		{ { 0xffff888000001000, 0xffff888000001000, 0xffff888000001008,
		    0x80000000 },
		  7 },
#else
		{ { 0xc2001000, 0xc2001000, 0xc2001008, 0x80000000 }, 7 },
#endif
	};
	struct reported reported;

	probe_target(_metadata, self);
	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		const unsigned long *v = vector[i].v;

		call_and_collect(_metadata, self, v, &reported);
		EXPECT_EQ(i + 1, reported.nr);
		EXPECT_EQ(vector[i].tokens, reported.tokens);
		for (int n = 0; n < 4; n++) {
			if (!(vector[i].tokens >> n & 1)) {
				EXPECT_EQ(v[n], reported.v[n]);
				continue;
			}
			EXPECT_NE(0, reported.v[n]);
			EXPECT_EQ(0, reported.v[n] >> 32);
		}
	}
	/*
	 * Equal addresses have equal tokens, different addresses different
	 * ones.
	 */
	EXPECT_EQ(reported.v[0], reported.v[1]);
	EXPECT_NE(reported.v[0], reported.v[2]);
}

/*
 * Each load of the module gives the same address another token, so that tokens of two traces
 * together help no more to guess addresses than those of one.
 */
TEST_F(kprobe, each_load_has_other_tokens)
{
	static const unsigned long v[] = {
#if __SIZEOF_LONG__ == 8
		0xffffffff81000000,
		0xffff888000001000,
		0xffff888000002000,
		1,
#else
		0xc1000000,
		0xc2001000,
		0xc2002000,
		1,
#endif
	};
	struct reported before, reported;

	probe_target(_metadata, self);
	call_and_collect(_metadata, self, v, &before);
	close_kprobe_session(_metadata, self);
	ASSERT_EQ(0, kt_rmmod_ktape());
	ASSERT_EQ(0, kt_insmod_ktape(""));
	open_kprobe_session(_metadata, self);
	probe_target(_metadata, self);
	call_and_collect(_metadata, self, v, &reported);
	EXPECT_EQ(1, before.nr);
	EXPECT_EQ(1, reported.nr);
	EXPECT_EQ(7, before.tokens);
	EXPECT_EQ(7, reported.tokens);
	for (int i = 0; i < 3; i++) {
		EXPECT_NE(0, reported.v[i]);
		EXPECT_NE(before.v[i], reported.v[i]);
	}
	EXPECT_EQ(1, reported.v[3]);
	/* Nor do the bits in which two tokens differ stay. */
	EXPECT_NE(before.v[0] ^ before.v[1], reported.v[0] ^ reported.v[1]);
}

/* ---- breakpoints -------------------------------------------------------- */

#define BLOCK  4096
#define ENOUGH 2000

static void no_optimization(void)
{
	int fd = open("/proc/sys/debug/kprobes-optimization", O_WRONLY);

	if (fd >= 0 && write(fd, "0", 1) < 0)
		perror("# kprobes-optimization");
	close(fd);
}

/*
 * A probe inside a function is a breakpoint, which the kernel treats like an
 * NMI. Every hit must be recorded, and a block that it opens must name the
 * interrupted context.
 */
TEST_F_TIMEOUT(kprobe, breakpoints, 60)
{
	struct seen s = { .opcode = SLOT(0), .expect = no_values };
	struct ktape_probe p = { .offset = 0 };
	struct kt_map m;
	int fd, ret = -EINVAL, heads = 0, wrong = 0;

	no_optimization();
	/* The start of an instruction depends on the compiler. */
	for (uint64_t offset = 5; ret && offset < 32; offset++) {
		memset(&p, 0, sizeof(p));
		strcpy(p.symbol, "ktape_target");
		p.offset = offset;
		ret = kt_probe_op(self->main, KTAPE_PROBE_ADD, &p);
	}
	ASSERT_EQ(0, ret);
	fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 1 << 20, BLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_profile_ops(fd, KTAPE_PROFILE_SET, SLOT(0), 0, 0));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_target_calls(ENOUGH));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_map_ring(fd, LOAD_CPU, KTAPE_RING_EVENT, &m));
	EXPECT_LE(0, kt_walk(&m, check_probe_record, &s));
	EXPECT_EQ(ENOUGH, s.records);
	EXPECT_EQ(0, s.wrong);
	for (uint64_t at = 0; at + BLOCK <= m.page->commit; at += BLOCK) {
		const struct ktape_block *b = (const void *)(m.data + at);

		heads++;
		wrong += b->context == KTAPE_CTX_NMI || b->context == KTAPE_CTX_IRQ;
	}
	/* A record has 16 bytes, so a block has less than 300. */
	EXPECT_LT(ENOUGH / 300, heads);
	/* An interrupt's context record may have opened a block. */
	EXPECT_GE(2, wrong);
	kt_unmap_ring(&m);
	close(fd);
	p = kt_probe_get(self->main, SLOT(0));
	EXPECT_EQ(ENOUGH, p.hits);
	EXPECT_EQ(0, p.missed);
}

TEST_HARNESS_MAIN
