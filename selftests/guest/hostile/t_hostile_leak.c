// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search everything that a reader can map or read for addresses of the kernel and for what
 * memory held before the module took it: rings that are new in memory that a program has
 * filled with a pattern before, and records of all events.  None may be found; what the test
 * plants itself must be.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "kselftest_harness.h"

#include "kt_hostile.h"
#include "kt_leak.h"
#include "kt_leak_work.h"
#include "kt_ledger.h"
#include "kt_load.h"
#include "kt_probe.h"
#include "kt_ring.h"
#include "kt_session.h"
#include "kt_trigger.h"

#define RING_NEW  (4 << 20) /* of each CPU */
#define RING	  (1 << 20)
#define RING_FULL (64 << 10)
#define RECORDS	  100000
#define PLANTS	  16
#define PASSES	  20 /* until each event was recorded, at most */

static bool is_kernel(const char *name)
{
	const char *is = getenv("KTAPE_KERNEL");

	return is && !strcmp(is, name);
}

/* Other kernels lack events, probes or stacks: there what exists is searched. */
static bool is_known_kernel(void)
{
	return is_kernel("stock") || is_kernel("debug") || is_kernel("race");
}

/*
 * What was searched and found: in blocks of event rings, in all other bytes that can be
 * mapped (others), in what read() returns, and in the fields of records.
 */
FIXTURE(leak)
{
	int dev, fd, probe;
	uint64_t seed;
	struct kt_kernel kernel;
	struct kt_leak others, blocks, read, records;
};

FIXTURE_SETUP(leak)
{
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	self->fd = -1;
	self->probe = -1;
	self->seed = kt_seed();
	kt_kernel_find(&self->kernel);
	ASSERT_TRUE(self->kernel.nr || !is_known_kernel());
	if (!self->kernel.nr)
		SKIP(return, "this kernel does not say where its memory is");
	self->others.kernel = &self->kernel;
	self->blocks = self->read = self->records = self->others;
	if (kt_clears_memory())
		TH_LOG("this kernel clears memory when it allocates: only addresses are found");
}

FIXTURE_TEARDOWN(leak)
{
	close(self->fd);
	if (self->probe >= 0)
		EXPECT_EQ(0, kt_probe_remove(self->dev, self->probe));
	close(self->dev);
}

/* ---- everything that can be mapped or read --------------------------------- */

typedef void on_region(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self,
		       const struct ktape_layout_entry *e, const char *p);

/* Map each region of the session, the registry included. */
static void each_region(struct __test_metadata *_metadata,
			FIXTURE_DATA(leak) * self, on_region *call)
{
	struct ktape_layout_entry e[KT_REGIONS_MAX];
	struct ktape_layout l;

	ASSERT_EQ(0, kt_layout(self->fd, &l, e, KT_REGIONS_MAX));
	for (__u32 i = 0; i < l.nr; i++) {
		size_t size = e[i].ctl_size + e[i].data_size;
		char *p = mmap(NULL, size, PROT_READ, MAP_SHARED, self->fd,
			       e[i].offset);

		ASSERT_NE(MAP_FAILED, p);
		call(_metadata, self, &e[i], p);
		munmap(p, size);
	}
}

static void leak_region(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self,
			const struct ktape_layout_entry *e, const char *p)
{
	kt_leak_bytes(&self->others, p, e->ctl_size);
	kt_leak_bytes(e->kind == KTAPE_RING_EVENT ? &self->blocks : &self->others,
		      p + e->ctl_size, e->data_size);
}

static void on_map(const struct kt_rec *r, void *arg)
{
	kt_leak_record(arg, r);
}

static void search_read_record(const struct ktape_block *b,
			       const struct kt_rec *r, void *arg)
{
	kt_leak_record(arg, r);
}

/* Search the records that are mapped. */
static void leak_maps(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct kt_map m;

	for (int i = 0; i < 2 * cpus; i++) {
		if (kt_map_ring(self->fd, i / 2, i % 2, &m))
			continue;
		ASSERT_LE(0, kt_walk(&m, on_map, &self->records));
		kt_unmap_ring(&m);
	}
}

/* Read it all from the beginning, by a descriptor of its own, and search that. */
static void leak_read(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self)
{
	struct kts *t = calloc(1, sizeof(*t));
	struct kt_buf b = {};
	struct ktape_layout is;
	int own;

	ASSERT_NE(NULL, t);
	ASSERT_EQ(0, kt_layout(self->fd, &is, NULL, 0));
	own = kt_attach_id(self->dev, is.session);
	ASSERT_LE(0, own);
	t->record = search_read_record;
	t->arg = &self->records;
	EXPECT_EQ(0, kt_slurp(&b, own, 65536));
	EXPECT_EQ(b.len, kts_feed(t, b.p, b.len));
	EXPECT_STREQ("", t->error);
	kt_leak_bytes(&self->read, b.p, b.len);
	kt_buf_free(&b);
	free(t);
	close(own);
}

static void expect_clean(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self)
{
	EXPECT_EQ(0, kt_leaks(&self->others));
	EXPECT_EQ(0, kt_leaks(&self->blocks));
	EXPECT_EQ(0, kt_leaks(&self->read));
	EXPECT_EQ(0, kt_leaks(&self->records));
	kt_leak_print(&self->others, "control rings, control pages, registry");
	kt_leak_print(&self->blocks, "event rings");
	kt_leak_print(&self->read, "read()");
	kt_leak_print(&self->records, "records");
}

/* The rings of a new session, its control pages, the registry, and read(). */
TEST_F_TIMEOUT(leak, new_rings, 600)
{
	long mib = kt_fill_pages(), messages = kt_fill_slabs();

	ASSERT_LT(0, mib);
	self->fd = kt_create(self->dev, KTAPE_MODE_OVERWRITE, RING_NEW, 4096);
	ASSERT_LE(0, self->fd);
	each_region(_metadata, self, leak_region);
	leak_read(_metadata, self);
	TH_LOG("%ld MiB and %ld messages were filled; %llu bytes of new blocks, %llu of others mapped, %llu read",
	       mib, messages, (unsigned long long)self->blocks.bytes,
	       (unsigned long long)self->others.bytes,
	       (unsigned long long)self->read.bytes);
	EXPECT_LE(RING_NEW, self->blocks.bytes);
	EXPECT_EQ(0, self->blocks.not_zero);
	EXPECT_LT(10000, self->read.bytes);
	expect_clean(_metadata, self);
}

/* ---- records --------------------------------------------------------------- */

/* Steps (kt_leak_work.h) cause the events, each some kinds of them; a round is one step. */

/*
 * Ask for all events and for stacks of some.  In a narrow step calls are recorded without their
 * arguments, in one for spans each begin and end as one event (gates of 0 ns).
 */
static int ask_for_all(FIXTURE_DATA(leak) * self, const struct kt_step *step)
{
	struct ktape_profile all = { .op = KTAPE_PROFILE_SET };
	struct ktape_filter_gate gates[KTAPE_GATES] = {};
	__u64 stacks[KTAPE_MASK_WORDS] = {};
	int ret;

	for (int op = KTAPE_OP_EXCEPTION; op < KTAPE_OP_PROBE; op++)
		if (kts_shapes[op].name && kt_available(op) &&
		    !(step->narrow && (op == KTAPE_EV_SYS_ENTER_WIDE ||
				       op == KTAPE_EV_SYS_EXIT_WIDE)))
			kt_ops_add(all.mask, op);
	if (self->probe >= 0)
		kt_ops_add(all.mask, self->probe);
	kt_ops_add(stacks, KTAPE_EV_SIGNAL_GENERATE);
	kt_ops_add(stacks, KTAPE_EV_PROCESS_FORK);
	for (uint32_t i = 0; i < KTAPE_GATES; i++)
		gates[i].gate = i;
	ret = kt_profile(self->fd, &all);
	/* If one of these is refused, its records are missing. */
	kt_filter_set(self->fd, KTAPE_FILTER_GATE, gates,
		      step->spans ? KTAPE_GATES : 0);
	kt_filter_set(self->fd, KTAPE_FILTER_STACK, stacks, KTAPE_MASK_WORDS);
	return ret;
}

/* Everything is recorded during a step. */
static void record_round(struct __test_metadata *_metadata,
			 FIXTURE_DATA(leak) * self, const struct kt_step *step)
{
	int ret;

	ASSERT_EQ(0, ask_for_all(self, step));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ret = step->cause();
	if (ret)
		TH_LOG("step \"%s\": %s", step->name, strerror(-ret));
	EXPECT_TRUE(!ret || !is_known_kernel());
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
}

/* Record a step, and search everything: records as they are mapped, or as read() returns them. */
static void leak_round(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self,
		       const struct kt_step *step, bool maps)
{
	record_round(_metadata, self, step);
	if (maps)
		leak_maps(_metadata, self);
	else
		leak_read(_metadata, self);
	each_region(_metadata, self, leak_region);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
}

/*
 * Record and search what only a session with a full ring has.  The last step causes the most
 * events.
 */
static void leak_full(struct __test_metadata *_metadata,
		      FIXTURE_DATA(leak) * self, uint32_t mode)
{
	self->fd = kt_create(self->dev, mode, RING_FULL, 4096);
	ASSERT_LE(0, self->fd);
	leak_round(_metadata, self, &kt_steps[KT_STEPS - 1], true);
	close(self->fd);
	self->fd = -1;
}

/* Events that no step causes: why, and which test causes them. */
static const struct {
	uint32_t op;
	bool unless_debian; /* but a step causes it on Debian's kernel */
	const char *why;
} never[] = {
	{ KTAPE_EV_CPU_WITHOUT, false, "needs a CPU without memory: t_hotplug" },
	{ KTAPE_EV_CPU_WITH, false, "needs a CPU that had no memory: t_hotplug" },
	{ KTAPE_EV_CONSOLE, false,
	  "only a session made for it has the kernel's log: t_events_system" },
	{ KTAPE_EV_EVICT, false, "needs a reader that stands still: t_shed" },
	{ KTAPE_EV_WAKEUP_SOURCE_ACTIVATE, true,
	  "this kernel has no device that could wake it: t_events_system" },
	{ KTAPE_EV_WAKEUP_SOURCE_DEACTIVATE, true,
	  "this kernel has no device that could wake it: t_events_system" },
};

static const char *why_never(uint32_t op)
{
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (never[i].op == op &&
		    !(never[i].unless_debian && is_kernel("stock")))
			return never[i].why;
	return NULL;
}

/**
 * struct coverage - which events were recorded
 * @kinds: events that the kernel has
 * @recorded: those that were recorded
 * @missing: those that were not and should have been
 */
struct coverage {
	int kinds, recorded, missing;
};

static struct coverage coverage_of(struct __test_metadata *_metadata,
				   const struct kt_leak *l, bool print)
{
	struct coverage c = {};

	for (uint32_t op = KTAPE_OP_CONTROL; op <= KTAPE_OP_PROBE; op++) {
		const char *why = why_never(op);

		/* Probes are one kind, whose 15 events have the same fields. */
		if (!kts_shapes[op].name ||
		    (op >= KTAPE_OP_EXCEPTION && op < KTAPE_OP_PROBE &&
		     !kt_available(op)))
			continue;
		c.kinds++;
		c.recorded += l->of[op] != 0;
		if (l->of[op])
			continue;
		c.missing += !why;
		if (print)
			TH_LOG("no record of %s: %s", kts_shapes[op].name,
			       why ?: "?");
	}
	return c;
}

/*
 * The session asks for the kernel's log as for all else.  It was not made for it, so its
 * texts are at most counted.
 */
static void leak_log(struct __test_metadata *_metadata, FIXTURE_DATA(leak) * self)
{
	static const struct kt_step log = { "the kernel's log", kt_step_log };
	struct ktape_stats st;
	uint64_t texts = 0;

	leak_round(_metadata, self, &log, true);
	EXPECT_EQ(0, self->records.of[KTAPE_EV_CONSOLE]);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		if (kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st))
			continue;
		EXPECT_EQ(st.emitted[KTAPE_CLASS_CONSOLE],
			  st.filtered[KTAPE_CLASS_CONSOLE]);
		texts += st.filtered[KTAPE_CLASS_CONSOLE];
	}
	TH_LOG("%llu texts of the kernel's log were left out",
	       (unsigned long long)texts);
	/*
	 * On kernels that WARN if the log is recorded, the stock one among them, this session does
	 * not even count its texts.
	 */
	if (is_kernel("debug"))
		EXPECT_LT(100, texts);
}

/* Return the token of a function that the registry names, 0 if there is none. */
static uint32_t some_function_token(void)
{
	size_t nr;
	const struct ktape_object_entry *e = kt_map_registry(&nr);

	for (size_t i = 0; i < nr; i++)
		if (e[i].type == KTAPE_OBJ_FUNCTION && !e[i].died && !(e[i].seq & 1))
			return e[i].id;
	return 0;
}

/*
 * The token of a function with -1 behind it looks like an address of the kernel, but is none: a
 * record of a timer may have the two side by side (kt_is_function_token()).  With another number
 * in place of the token, or of the -1, it counts as an address.
 */
static void expect_tokens_known(struct __test_metadata *_metadata)
{
	const struct kt_kernel all = {
		.nr = 1, .span = { { 0xfffffff000000000ULL, UINT64_MAX } }
	};
	const uint32_t token = some_function_token();
	const uint32_t words[] = { token,     UINT32_MAX, 0,
				   token ^ 1, UINT32_MAX, 0 };
	const uint32_t other[] = { token, UINT32_MAX - 1, 0, 0 };
	struct kt_leak l = { .kernel = &all };

	ASSERT_NE(0, token);
	kt_leak_bytes(&l, words, 3 * sizeof(*words));
	EXPECT_EQ(0, kt_leaks(&l));
	EXPECT_EQ(1, l.tokens);
	kt_leak_bytes(&l, words, sizeof(words));
	EXPECT_EQ(1, l.addresses);
	l = (struct kt_leak){ .kernel = &all };
	kt_leak_bytes(&l, other, sizeof(other));
	EXPECT_EQ(1, l.addresses);
}

TEST_F_TIMEOUT(leak, records_of_all_events, 3600)
{
	/* Each value marker is to fire it, which is recorded, too. */
	const struct ktape_trigger value = { .opcode = KTAPE_EV_MARK_VALUE };
	uint64_t enough = kt_tries(RECORDS);
	struct coverage c = { .missing = 1 };
	int rounds = 0;

	kt_alarms(0); /* sets the handler: the threads of a step send SIGALRM to themselves */
	kt_fill_slabs();
	self->probe = kt_probe_add(self->dev, "vfs_read", 0, KTAPE_PROBE_ARGS_MAX);
	EXPECT_TRUE(self->probe >= KTAPE_OP_PROBE || !is_known_kernel());
	leak_full(_metadata, self, KTAPE_MODE_DISCARD);
	leak_full(_metadata, self, KTAPE_MODE_SNAPSHOT);
	self->fd = kt_create(self->dev, KTAPE_MODE_OVERWRITE, RING, 4096);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, kt_trigger_add(self->fd, &value));
	leak_log(_metadata, self);
	/*
	 * On a busy machine a rare event may be overwritten, so the steps are repeated.
	 * Every fourth round is read, the others are searched by mappings.
	 */
	for (; c.missing && rounds < (is_known_kernel() ? PASSES : 1) * KT_STEPS;
	     rounds++) {
		leak_round(_metadata, self, &kt_steps[rounds % KT_STEPS],
			   rounds % 4);
		if (rounds % KT_STEPS == KT_STEPS - 1)
			c = coverage_of(_metadata, &self->records, false);
	}
	for (; self->records.records < enough; rounds++) {
		if (rounds % 8 == 0)
			kt_fill_slabs();
		leak_round(_metadata, self, kt_step_of(rounds), rounds % 4);
	}
	c = coverage_of(_metadata, &self->records, true);
	TH_LOG("%llu records of %d of %d events in %d rounds; %llu bytes mapped, %llu read, %llu and %llu tokens before -1",
	       (unsigned long long)self->records.records, c.recorded, c.kinds,
	       rounds,
	       (unsigned long long)(self->others.bytes + self->blocks.bytes),
	       (unsigned long long)self->read.bytes,
	       (unsigned long long)self->blocks.tokens,
	       (unsigned long long)self->read.tokens);
	if (is_known_kernel())
		EXPECT_EQ(0, c.missing);
	EXPECT_LT(c.kinds / 2, c.recorded);
	expect_tokens_known(_metadata);
	expect_clean(_metadata, self);
}

/* ---- readers that may not read the kernel's log ------------------------------ */

#define READER 4001

/**
 * struct reader - what a process without capabilities can get
 * @opened: sessions that it could open
 * @refused: sessions that it could not
 * @texts: records of the kernel's log that it has read
 * @addresses: addresses in what it has read
 * @wrong: calls with another result than they should have
 */
struct reader {
	int opened, refused, texts, addresses, wrong;
};

static void on_reader(const struct ktape_block *b, const struct kt_rec *r, void *arg)
{
	kt_leak_record(arg, r);
}

/* Read all of a session. */
static void search_session(int fd, struct kt_leak *l)
{
	struct kts *t = calloc(1, sizeof(*t));
	struct kt_buf b = {};

	t->record = on_reader;
	t->arg = l;
	if (!kt_slurp(&b, fd, 65536))
		kts_feed(t, b.p, b.len);
	kt_buf_free(&b);
	free(t);
}

/* Open and read every session, as a user who may do all but read the kernel's log. */
static struct reader read_as_reader(const struct kt_kernel *k)
{
	struct kt_leak l = { .kernel = k };
	struct reader is = {};
	int dev;

	if (setgid(READER) || setuid(READER))
		is.wrong++;
	dev = kt_open(O_RDWR);
	is.wrong += dev < 0;
	is.wrong += kt_create_with(dev, 0, 64 << 10, 0, KTAPE_CREATE_LOG) != -EPERM;
	is.wrong += kt_available(KTAPE_EV_CONSOLE);
	for (uint32_t id = 0; id < 8; id++) {
		int fd = kt_attach_id(dev, id);

		is.refused += fd == -EPERM;
		if (fd < 0)
			continue;
		is.opened++;
		/* Session 0 records, and its reader would wait. */
		is.wrong += kt_control(fd, KTAPE_IOC_STOP) != 0;
		search_session(fd, &l);
		close(fd);
	}
	is.texts = l.of[KTAPE_EV_CONSOLE];
	is.addresses = l.addresses;
	return is;
}

static struct reader reader_of(const struct kt_kernel *k)
{
	struct reader is = { .wrong = 1 };
	int p[2];

	if (pipe(p))
		return is;
	if (!fork()) {
		is = read_as_reader(k);
		_exit(write(p[1], &is, sizeof(is)) != sizeof(is));
	}
	close(p[1]);
	while (read(p[0], &is, sizeof(is)) < 0 && errno == EINTR)
		;
	close(p[0]);
	wait(NULL);
	return is;
}

/*
 * dev_mode=0666: everybody may read and control every session, but one that may record the
 * kernel's log.  Root has two that ask for it, of which one was made for it.
 */
TEST_F_TIMEOUT(leak, log_of_a_reader, 600)
{
	const struct kt_step log = { "the kernel's log", kt_step_log_quiet };
	struct reader is;
	int with;

	close(self->dev);
	ASSERT_EQ(0, kt_rmmod_ktape());
	ASSERT_EQ(0, kt_insmod_ktape("size=64K dev_mode=0666"));
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	self->fd = kt_create(self->dev, KTAPE_MODE_OVERWRITE, 4 << 20, 0);
	ASSERT_LE(0, self->fd);
	with = kt_create_with(self->dev, KTAPE_MODE_OVERWRITE, 4 << 20, 0,
			      KTAPE_CREATE_LOG);
	ASSERT_LE(0, with);
	EXPECT_EQ(0, kt_profile_ops(with, KTAPE_PROFILE_SET, KTAPE_EV_CONSOLE, 0, 0));
	EXPECT_EQ(0, kt_control(with, KTAPE_IOC_START));
	record_round(_metadata, self, &log);
	EXPECT_EQ(0, kt_control(with, KTAPE_IOC_STOP));
	is = reader_of(&self->kernel);
	EXPECT_EQ(0, is.wrong);
	EXPECT_EQ(2, is.opened);
	EXPECT_EQ(1, is.refused);
	EXPECT_EQ(0, is.texts);
	EXPECT_EQ(0, is.addresses);
	/*
	 * The texts that the reader did not get are in the session of root, some with addresses:
	 * so those that the reader could have found were there.
	 */
	search_session(with, &self->records);
	EXPECT_LT(10, self->records.of[KTAPE_EV_CONSOLE]);
	EXPECT_LT(5, self->records.addresses);
	close(with);
	close(self->fd);
	close(self->dev);
	self->fd = -1;
	ASSERT_EQ(0, kt_rmmod_ktape());
	ASSERT_EQ(0, kt_insmod_ktape(""));
	self->dev = kt_open(O_RDWR);
}

/* ---- what is planted is found ------------------------------------------------ */

static bool has_zero_byte(uint64_t v)
{
	for (; v; v >>= 8)
		if (!(v & 0xff))
			return true;
	return false;
}

/*
 * Find an address of the kernel without a zero byte, because a text has to hold it whole.
 * Where the direct map begins depends on the boot, so all parts are searched.  The last
 * 4 GiB are the last choice: there kt_is_function_token() would wait.
 */
static uint64_t some_address(const struct kt_kernel *k)
{
	uint64_t last = 0;

	for (int i = 0; i < k->nr; i++) {
		const struct kt_span *s = &k->span[i];

		for (uint64_t v = s->from | 0x010101; v >= s->from && v < s->to;
		     v += 0x1000000) {
			if (has_zero_byte(v))
				continue;
			if (v >> 32 != UINT32_MAX)
				return v;
			last = v;
			break;
		}
	}
	return last;
}

/* Plant addresses and halves of the pattern in a copy of a region. */
static void plant_in_copy(struct __test_metadata *_metadata,
			  FIXTURE_DATA(leak) * self,
			  const struct ktape_layout_entry *e, const char *p)
{
	const size_t size = e->ctl_size + e->data_size, part = size / PLANTS;
	const uint64_t v = some_address(&self->kernel);
	const uint32_t halves[2] = { (uint32_t)KT_PATTERN, KT_PATTERN >> 32 };
	struct kt_leak l = { .kernel = &self->kernel };
	char *copy = malloc(size);
	size_t at;

	ASSERT_NE(NULL, copy);
	memcpy(copy, p, size);
	for (int i = 0; i < PLANTS; i++) {
		/* The first word, the last one, and one of each part between them. */
		at = i ? part * i + lcg_below(&self->seed, part / 4 - 1) * 4 : 0;
		if (i == PLANTS - 1)
			at = size - sizeof(v);
		if (i % 2)
			memcpy(copy + at, &v, sizeof(v));
		else
			memcpy(copy + at, &halves[i / 2 % 2], sizeof(*halves));
	}
	kt_leak_bytes(&l, copy, size);
	EXPECT_EQ(PLANTS / 2, l.addresses);
	EXPECT_EQ(PLANTS / 2, l.pattern);
	/* The last word alone, which is too short for an address. */
	l = (struct kt_leak){ .kernel = &self->kernel };
	memcpy(copy + size - 4, &halves[0], 4);
	kt_leak_bytes(&l, copy + size - 4096, 4096);
	EXPECT_EQ(1, l.pattern);
	free(copy);
}

/*
 * Texts have an address at each of 8 offsets, and one text has half of the pattern of old memory.
 * The search of bytes, in the ring and in what is read, finds the address at the two offsets that
 * are multiples of 4, that of records finds all 8.  A thread's name has an address, so it is in
 * the registry.  It stays there, so this is the last test.
 */
TEST_F_TIMEOUT(leak, what_is_planted, 120)
{
	const uint64_t v = some_address(&self->kernel);
	const uint32_t half = (uint32_t)KT_PATTERN;
	char text[24] = "";
	int mark;

	ASSERT_NE(0, v);
	TH_LOG("address %#llx, seed %#llx", (unsigned long long)v,
	       (unsigned long long)self->seed);
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, RING, 4096,
			      KT_OPS(KTAPE_EV_TEXT));
	ASSERT_LE(0, self->fd);
	each_region(_metadata, self, plant_in_copy);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	mark = ktape_mark_open();
	for (int i = 0; i < 8; i++) {
		memset(text, 'x', i);
		memcpy(text + i, &v, sizeof(v));
		EXPECT_EQ(0, ktape_text(mark, text));
	}
	memset(text, 0, sizeof(text));
	memcpy(text, &half, sizeof(half));
	EXPECT_EQ(0, ktape_text(mark, text));
	close(mark);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	each_region(_metadata, self, leak_region);
	leak_read(_metadata, self);
	EXPECT_EQ(2, self->blocks.addresses);
	EXPECT_EQ(1, self->blocks.pattern);
	EXPECT_EQ(2, self->read.addresses);
	EXPECT_EQ(1, self->read.pattern);
	EXPECT_EQ(8, self->records.addresses);
	EXPECT_EQ(0, kt_leaks(&self->others));
	memcpy(text, &v, sizeof(v));
	prctl(PR_SET_NAME, text);
	each_region(_metadata, self, leak_region);
	EXPECT_LE(1, self->others.addresses);
	kt_leak_print(&self->others, "planted");
}

TEST_HARNESS_MAIN
