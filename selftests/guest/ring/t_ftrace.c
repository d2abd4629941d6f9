// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare a recording with ftrace's recording of the same events at the same time, by the
 * same clock: each record of each CPU must be in both, with the values that both have.
 * Ktape's comes directly before ftrace's; only an interrupt may come between them.
 *
 * KTAPE_EVENTS is the number of events to record (default 60000).
 */
#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ftrace_match.h"
#include "kt_load.h"

#define CPUS_MAX  16
#define BOUNDARY  (SIGRTMIN + 9)
#define ATTACHING 30000 /* events while ftrace attaches its probes */

/* ---- work ----------------------------------------------------------------- */

/*
 * Send this thread a signal that it ignores: an event whose values no other has. The first
 * and the last one of a CPU bound the part that is compared.
 */
static void raise_boundary(void)
{
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), BOUNDARY);
}

static uint64_t boundary_key(void)
{
	uint64_t value[2] = { syscall(SYS_gettid), BOUNDARY };

	return key_of(KTAPE_EV_SIGNAL_GENERATE, value);
}

/* Find the first boundary of @items, or the last one. Return: its time, 0 = there is none. */
static uint64_t find_boundary(const struct items *items, bool last)
{
	uint64_t key = boundary_key(), ts = 0;

	for (size_t i = 0; i < items->nr && (last || !ts); i++)
		if (items->v[i].key == key)
			ts = items->v[i].ts;
	return ts;
}

/* Keep what was recorded from one time to another. */
static void keep_items_between(struct items *items, uint64_t from, uint64_t to)
{
	size_t nr = 0;

	for (size_t i = 0; i < items->nr; i++)
		if (items->v[i].ts >= from && items->v[i].ts <= to)
			items->v[nr++] = items->v[i];
	items->nr = nr;
}

static void make_children(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/busybox", "true", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void touch_new_memory(void)
{
	size_t len = 64 * 4096;
	char *p = mmap(NULL, len + 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; p != MAP_FAILED && at < len; at += 4096)
		p[at] = 1;
	/* The kernel touches the last page first. */
	if (p != MAP_FAILED && getrandom(p + len, 4096, 0) == 4096)
		munmap(p, len + 4096);
}

/* Take and drop a reference to a module, and write a line of the log. */
static void use_module_and_log(void)
{
	static const char line[] = "<7>a line of the log\n";
	int fd = kt_open(O_RDONLY);

	close(fd);
	fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (write(fd, line, sizeof(line) - 1) < 0)
		perror("# /dev/kmsg");
	close(fd);
}

static void use_files_and_disk(int cpu)
{
	static char page[CPUS_MAX][4096] __attribute__((aligned(4096)));
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/tmp/ftrace-%d", cpu);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < 10; i++)
		if (pwrite(fd, page[cpu], sizeof(page[cpu]), i * 4096) < 0)
			break;
	close(fd);
	unlink(path);
	fd = open("/dev/vdb", O_RDONLY | O_DIRECT | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < 10; i++)
		if (pread(fd, page[cpu], sizeof(page[cpu]), i * 4096) < 0)
			break;
	close(fd);
}

static void exchange_packets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(to);
	char text[100] = "";
	int in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!bind(in, (struct sockaddr *)&to, len) &&
	    !getsockname(in, (struct sockaddr *)&to, &len))
		for (int i = 0; i < 10; i++)
			if (sendto(in, text, sizeof(text), 0,
				   (struct sockaddr *)&to, len) < 0 ||
			    recv(in, text, sizeof(text), MSG_DONTWAIT) < 0)
				break;
	close(in);
}

/* Two threads on two CPUs that wake each other. */
struct echo {
	int to[2], from[2];
	pthread_t thread;
};

static void *echo_main(void *arg)
{
	struct echo *e = arg;
	char c;

	while (read(e->to[0], &c, 1) == 1)
		if (write(e->from[1], &c, 1) != 1)
			break;
	return NULL;
}

static void wake_echo(struct echo *e, int times)
{
	char c = 0;

	while (times--)
		if (write(e->to[1], &c, 1) != 1 || read(e->from[0], &c, 1) != 1)
			break;
}

/**
 * struct worker - a thread that stays on a CPU and does a bit of everything
 * @thread: the thread
 * @cpu: the CPU
 * @stop: set when all workers are to end, after the round that they are in
 */
struct worker {
	pthread_t thread;
	int cpu;
	bool *stop;
};

static void *cause_events_main(void *arg)
{
	struct worker *w = arg;
	struct echo e;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((w->cpu + 1) % kt_online_cpus(), &set);
	if (kt_pin(w->cpu) || pipe2(e.to, O_CLOEXEC) || pipe2(e.from, O_CLOEXEC) ||
	    pthread_create(&e.thread, NULL, echo_main, &e))
		return NULL;
	pthread_setaffinity_np(e.thread, sizeof(set), &set);
	while (!__atomic_load_n(w->stop, __ATOMIC_RELAXED)) {
		kt_getppids(100);
		wake_echo(&e, 20);
		make_children();
		touch_new_memory();
		use_files_and_disk(w->cpu);
		exchange_packets();
		use_module_and_log();
		raise(SIGUSR1);
		usleep(1);
		prctl(PR_SET_NAME, "worker");
	}
	close(e.to[1]);
	pthread_join(e.thread, NULL);
	close(e.to[0]);
	close(e.from[0]);
	close(e.from[1]);
	return NULL;
}

static uint64_t count_emitted_and_lost(int fd, int cpus, uint64_t *lost)
{
	uint64_t n = 0;

	*lost = 0;
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct ktape_stats st;

		if (kt_stats(fd, cpu, KTAPE_RING_EVENT, &st))
			continue;
		n += kt_sum(st.emitted);
		*lost += kt_lost(&st);
	}
	return n;
}

static void on_each_cpu(int cpus, void (*call)(void))
{
	for (int cpu = 0; cpu < cpus; cpu++)
		if (!kt_pin(cpu))
			call();
}

static uint64_t wanted_events(void)
{
	const char *text = getenv("KTAPE_EVENTS");

	return text ? strtoull(text, NULL, 10) : 60000ULL / kt_scale();
}

/* ---- the comparison itself ------------------------------------------------ */

/*
 * What happened, as text: a small letter is ktape's record of an event, the capital one
 * ftrace's, and parentheses are around a higher context. The time goes on with each
 * character; "=" sets it back, so that the records on both sides have the same time.
 */
static const struct {
	const char *history;
	struct matched found;
} cases[] = {
	{ "a=AbB=cC", { .same = 3 } },
	{ "aAb(x=XyY)B", { .same = 4, .moved = 1 } },
	{ "aAbB(xX)cC", { .same = 4 } },
	{ "aAb(xXyY)B", { .same = 4, .moved = 1 } },
	{ "aAb(xXyY)(xX)BcC", { .same = 6, .moved = 1 } },
	{ "b(xXy(zZ)Y(bB))B", { .same = 5, .moved = 2 } },
	{ "f(sSf((iI))Ff((jJ))FeE)FdD", { .same = 8, .moved = 3 } },
	{ "aAbcC", { .same = 2, .ours = 1 } },
	{ "aAbBc", { .same = 2, .ours = 1 } },
	{ "aABcC", { .same = 2, .theirs = 1 } },
	{ "aAb(xyY)B", { .same = 3, .moved = 1, .ours = 1 } },
	{ "aAb(xXY)B", { .same = 3, .moved = 1, .theirs = 1 } },
	{ "aAbC", { .same = 1, .ours = 1, .theirs = 1 } },
	/* Impossible: ftrace first, tasks that interrupt tasks, an interrupt that is resumed. */
	{ "aABbcC", { .same = 2, .ours = 1, .theirs = 1 } },
	{ "abBA", { .same = 1, .ours = 1, .theirs = 1 } },
	{ "abAB", { .same = 1, .ours = 1, .theirs = 1 } },
	{ "a(xXy)A(Y)", { .same = 2, .moved = 1, .ours = 1, .theirs = 1 } },
	/* A higher context may interrupt, the same one may not. */
	{ "(x(yY)X)", { .same = 2, .moved = 1 } },
	{ "(xyYX)", { .same = 1, .ours = 1, .theirs = 1 } },
	{ "((x))(yY)((X))", { .same = 1, .ours = 1, .theirs = 1 } },
};

static void parse_history(const char *text, struct items *ours, struct items *theirs)
{
	uint64_t ts = 1;
	int level = 0;

	*ours = (struct items){};
	*theirs = (struct items){};
	for (; *text; text++) {
		if (*text == '(')
			level++;
		else if (*text == ')')
			level--;
		else if (*text == '=')
			ts -= 2;
		else if (*text >= 'a')
			add_item(ours, *text, ts, 0);
		else
			add_item(theirs, *text - 'A' + 'a', ts, level);
		ts++;
	}
}

TEST(finds_differences)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct matched *want = &cases[i].found;
		struct items ours, theirs;
		struct matched m = {};

		parse_history(cases[i].history, &ours, &theirs);
		match_recordings(&theirs, &ours, &m);
		EXPECT_EQ(want->same, m.same)
		{
			TH_LOG("%s", cases[i].history);
		}
		EXPECT_EQ(want->moved, m.moved);
		EXPECT_EQ(want->ours, m.ours);
		EXPECT_EQ(want->theirs, m.theirs);
		EXPECT_EQ(!want->ours && !want->theirs, !m.first);
		free(ours.v);
		free(theirs.v);
	}
}

/* More events are half recorded than there is room for: the oldest count as ktape's only. */
TEST(many_halves)
{
	struct items ours = {}, theirs = {};
	struct matched m = {};

	for (int i = 0; i < KTF_HALF + 10; i++)
		add_item(&ours, 'a' + i, i + 1, 0);
	add_item(&theirs, 'a' + KTF_HALF + 9, KTF_HALF + 15, 0);
	match_recordings(&theirs, &ours, &m);
	EXPECT_EQ(1, m.same);
	EXPECT_EQ(5, m.longest);
	EXPECT_EQ(KTF_HALF + 9, m.ours);
	free(ours.v);
	free(theirs.v);
}

/* ---- the test ------------------------------------------------------------- */

FIXTURE(ftrace)
{
	int fd, cpus;
	uint64_t wanted;
	struct items ours[CPUS_MAX], theirs[CPUS_MAX];
};

FIXTURE_SETUP(ftrace)
{
	unsigned char ops[PAIRS + 1] = {};
	struct ktape_features features;
	uint64_t ring = 1 << 20;
	int nr, at = 0;

	self->fd = -1;
	self->cpus = kt_online_cpus();
	self->wanted = wanted_events();
	ASSERT_LE(self->cpus, CPUS_MAX);
	if (access(KTF_TRACING "/instances", W_OK))
		SKIP(return, "ftrace has no instances here");
	/* All events may be of one CPU; the largest has 40 bytes, or 100 in ftrace, here in KiB. */
	while (ring < (self->wanted + ATTACHING) * 40)
		ring *= 2;
	ASSERT_EQ(0, ktf_open("mono", self->wanted / 10 + 4096));
	nr = find_known_pairs();
	/* With few kinds of events the test would prove little. */
	ASSERT_LE(30, nr);
	for (size_t i = 0; i < PAIRS; i++)
		if (known[i].id >= 0 && !memchr(ops, pairs[i].op, at))
			ops[at++] = pairs[i].op;
	self->fd = kt_session(KTAPE_MODE_DISCARD, ring, 65536, ops);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_features(self->fd, &features));
	ASSERT_EQ(KTAPE_CLOCK_MONO, features.clock);
	signal(BOUNDARY, SIG_IGN);
	signal(SIGUSR1, kt_on_alarm);
	TH_LOG("%d events, %d opcodes", nr, at);
}

FIXTURE_TEARDOWN(ftrace)
{
	ktf_close();
	if (self->fd >= 0)
		close(self->fd);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		free(self->ours[cpu].v);
		free(self->theirs[cpu].v);
	}
}

static int record_with_ftrace(FIXTURE_DATA(ftrace) * self)
{
	struct worker w[CPUS_MAX];
	bool stop = false;
	uint64_t before, lost = 0;
	int workers = 0, ret;

	/* Ktape attaches its probes first, so the kernel calls them first. */
	ret = kt_control(self->fd, KTAPE_IOC_START);
	for (size_t i = 0; i < PAIRS && !ret; i++)
		if (known[i].id >= 0)
			ret = ktf_enable(pairs[i].event);
	ret = ret ?: ktf_write("tracing_on", "1");
	on_each_cpu(self->cpus, raise_boundary);
	while (workers < self->cpus && !ret) {
		struct worker *one = &w[workers];

		*one = (struct worker){ .cpu = workers, .stop = &stop };
		ret = -pthread_create(&one->thread, NULL, cause_events_main, one);
		workers += !ret;
	}
	before = count_emitted_and_lost(self->fd, self->cpus, &lost);
	while (!ret && !lost &&
	       count_emitted_and_lost(self->fd, self->cpus, &lost) <
		       before + self->wanted)
		usleep(20000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	while (workers > 0)
		pthread_join(w[--workers].thread, NULL);
	on_each_cpu(self->cpus, raise_boundary);
	ret = ret ?: kt_control(self->fd, KTAPE_IOC_STOP);
	return ret ?: ktf_write("tracing_on", "0");
}

/* Read both recordings of a CPU. Return: number of ftrace's events, or a negative errno. */
static long collect_cpu_items(FIXTURE_DATA(ftrace) * self, int cpu)
{
	struct kt_map m;
	long ret = kt_map_ring(self->fd, cpu, KTAPE_RING_EVENT, &m);

	if (ret)
		return ret;
	ret = kt_walk(&m, add_ktape_record, &self->ours[cpu]);
	kt_unmap_ring(&m);
	return ret < 0 ? ret : ktf_read(cpu, add_ftrace_event, &self->theirs[cpu]);
}

/* Count events by opcode, to tell how much of each was compared. */
static void log_compared_events(FIXTURE_DATA(ftrace) * self,
				struct __test_metadata *_metadata)
{
	uint64_t n[KTAPE_OPCODES] = {};
	char line[600] = "";
	size_t len = 0;

	for (int cpu = 0; cpu < self->cpus; cpu++)
		for (size_t i = 0; i < self->ours[cpu].nr; i++)
			n[self->ours[cpu].v[i].key >> 56]++;
	for (int op = 0; op < KTAPE_OPCODES; op++) {
		if (!n[op])
			continue;
		len += snprintf(line + len, sizeof(line) - len, " %s %llu",
				pairs[by_op[op] - 1].event,
				(unsigned long long)n[op]);
		if (len > 70) {
			TH_LOG("%s", line);
			len = 0;
		}
	}
	if (len)
		TH_LOG("%s", line);
}

/* Show what one of the two recorded around a time. */
static void log_items_around(const char *of, const struct items *items,
			     uint64_t ts, struct __test_metadata *_metadata)
{
	size_t at = 0;

	while (at < items->nr && items->v[at].ts < ts)
		at++;
	for (size_t i = at > 20 ? at - 20 : 0; i < items->nr && i < at + 10; i++) {
		const struct item *e = &items->v[i];

		TH_LOG("%s %llu opcode %llu values %#llx level %d", of,
		       (unsigned long long)e->ts,
		       (unsigned long long)(e->key >> 56),
		       (unsigned long long)masked(e->key, 56), e->level);
	}
}

TEST_F_TIMEOUT(ftrace, agrees, 900)
{
	uint64_t all = 0, moved = 0, lost, from, to;

	ASSERT_EQ(0, record_with_ftrace(self));
	count_emitted_and_lost(self->fd, self->cpus, &lost);
	ASSERT_EQ(0, lost);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct items *ours = &self->ours[cpu], *theirs = &self->theirs[cpu];
		struct matched m = {};
		long ret = collect_cpu_items(self, cpu);

		ASSERT_LT(0, ret);
		ASSERT_EQ(0, ktf_stat(cpu, "dropped events"));
		ASSERT_EQ(0, ktf_stat(cpu, "overrun"));
		from = find_boundary(ours, false);
		to = find_boundary(theirs, true);
		ASSERT_NE(0, from);
		ASSERT_LT(from, to);
		keep_items_between(ours, from, to);
		keep_items_between(theirs, from, to);
		match_recordings(theirs, ours, &m);
		TH_LOG("cpu %d: %llu in both, %llu of them interrupted between the two records; without that at most %llu ns apart",
		       cpu, (unsigned long long)m.same,
		       (unsigned long long)m.moved, (unsigned long long)m.longest);
		EXPECT_EQ(0, m.ours + m.theirs)
		{
			TH_LOG("cpu %d: %llu only of ktape, %llu only of ftrace, from %llu on",
			       cpu, (unsigned long long)m.ours,
			       (unsigned long long)m.theirs,
			       (unsigned long long)m.first);
			log_items_around("ktape", ours, m.first, _metadata);
			log_items_around("ftrace", theirs, m.first, _metadata);
		}
		all += m.same;
		moved += m.moved;
	}
	log_compared_events(self, _metadata);
	TH_LOG("%llu events in both, %llu interrupted between the two records",
	       (unsigned long long)all, (unsigned long long)moved);
	EXPECT_LE(self->wanted, all);
}

TEST_HARNESS_MAIN
