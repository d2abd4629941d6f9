// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare a recording with ftrace's recording of the same events at the same time: all
 * records of each CPU must be in both, with the same values and in the same order, but for
 * what kt_ftrace_match.h explains.
 *
 * KTAPE_EVENTS is the number of events to record (default 60000).
 */
#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_ftrace_match.h"
#include "kt_load.h"

#define CPUS_MAX	16
#define BOUNDARY	(SIGRTMIN + 9)

/* ---- work ----------------------------------------------------------------- */

/* A signal to oneself that is ignored: an event with values that nothing else has. */
static void boundary(void)
{
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), BOUNDARY);
}

static uint64_t boundary_key(void)
{
	uint64_t value[2] = { syscall(SYS_gettid), BOUNDARY };

	return key_of(KTAPE_EV_SIGNAL_GENERATE, value);
}

/* Cut @items to what is between its first and its last boundary. */
static bool cut(struct items *items)
{
	uint64_t key = boundary_key();
	size_t first = items->nr, last = 0;

	for (size_t i = 0; i < items->nr; i++)
		if (items->v[i].key == key) {
			first = first < i ? first : i;
			last = i;
		}
	if (first >= last)
		return false;
	memmove(items->v, items->v + first,
		(last - first + 1) * sizeof(*items->v));
	items->nr = last - first + 1;
	return true;
}

static void children(void)
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

static void memory(void)
{
	size_t len = 64 * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; p != MAP_FAILED && at < len; at += 4096)
		p[at] = 1;
	if (p != MAP_FAILED)
		munmap(p, len);
}

static void files(int cpu)
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

static void packets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(to);
	char text[100] = "";
	int in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!bind(in, (struct sockaddr *)&to, len) &&
	    !getsockname(in, (struct sockaddr *)&to, &len))
		for (int i = 0; i < 10; i++)
			if (sendto(in, text, sizeof(text), 0, (struct sockaddr *)&to,
				   len) < 0 ||
			    recv(in, text, sizeof(text), MSG_DONTWAIT) < 0)
				break;
	close(in);
}

/* Two threads on two CPUs that wake each other. */
struct echo {
	int to[2], from[2];
	pthread_t thread;
};

static void *echo(void *arg)
{
	struct echo *e = arg;
	char c;

	while (read(e->to[0], &c, 1) == 1)
		if (write(e->from[1], &c, 1) != 1)
			break;
	return NULL;
}

static void wake(struct echo *e, int times)
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
 * @stop: all workers end after their turn
 */
struct worker {
	pthread_t thread;
	int cpu;
	bool *stop;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct echo e;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((w->cpu + 1) % kt_cpus(), &set);
	if (kt_pin(w->cpu) || pipe2(e.to, O_CLOEXEC) || pipe2(e.from, O_CLOEXEC) ||
	    pthread_create(&e.thread, NULL, echo, &e))
		return NULL;
	pthread_setaffinity_np(e.thread, sizeof(set), &set);
	while (!__atomic_load_n(w->stop, __ATOMIC_RELAXED)) {
		kt_getppids(100);
		wake(&e, 20);
		children();
		memory();
		files(w->cpu);
		packets();
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

static uint64_t emitted(int fd, int cpus, uint64_t *lost)
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

static uint64_t wanted(void)
{
	const char *text = getenv("KTAPE_EVENTS");

	return text ? strtoull(text, NULL, 10) : 60000ULL / kt_scale();
}

/* ---- the comparison itself ------------------------------------------------ */

/* Recordings as text: a letter is an event, parentheses are around what interrupts. */
static const struct {
	const char *ours, *theirs;
	struct matched found;
} cases[] = {
	{ "abc(ab)d", "abc(ab)d", { .same = 6 } },
	{ "ab(xy)cd", "abc(xy)d", { .same = 5, .moved = 1 } },	/* during ktape's c */
	{ "abc(xy)d", "ab(xy)cd", { .same = 5, .moved = 1 } },	/* during ftrace's */
	{ "ab(cc)(xc)cd", "abc(cc)(xc)d", { .same = 7, .moved = 1 } },
	{ "ab(cx)c(xc)d", "abc(cx)(xc)d", { .same = 7, .moved = 1 } },
	{ "x(s(i)f(j)fe)fd", "xf(sf(i)f(j)e)d", { .same = 6, .moved = 3 } },
	{ "xf(sf(i)f(j)e)d", "x(s(i)f(j)fe)fd", { .same = 6, .moved = 3 } },
	{ "a(b)(c)(d)e", "ae", { .same = 2, .ours = 3 } },
	{ "abcd", "abd", { .same = 3, .ours = 1 } },
	{ "abd", "abcd", { .same = 3, .theirs = 1 } },
	{ "abcd", "acbd", { .same = 3, .order = 1 } },
	{ "ab(xy)cd", "ab(xy)ed", { .same = 5, .ours = 1, .theirs = 1 } },
	{ "abc(yx)", "abc(xy)", { .same = 4, .order = 1 } },
	{ "a(x)cbd", "abc(x)d", { .same = 3, .moved = 1, .order = 1 } },
};

static void spell(struct items *items, const char *text)
{
	int level = 0;

	*items = (struct items){};
	for (; *text; text++)
		if (*text == '(')
			level++;
		else if (*text == ')')
			level--;
		else
			add(items, *text, level);
}

TEST(finds_differences)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct matched *want = &cases[i].found;
		struct items ours, theirs;
		struct matched m = {};

		spell(&ours, cases[i].ours);
		spell(&theirs, cases[i].theirs);
		match(&theirs, &ours, &m);
		EXPECT_EQ(want->same, m.same) {
			TH_LOG("case %zu", i);
		}
		EXPECT_EQ(want->moved, m.moved);
		EXPECT_EQ(want->order, m.order);
		EXPECT_EQ(want->ours, m.ours);
		EXPECT_EQ(want->theirs, m.theirs);
		free(ours.v);
		free(theirs.v);
	}
}

/* Record events of @level at random, as two tracers do that are interrupted at random. */
static void happen(struct items *first, struct items *second, int level)
{
	for (int n = rand() % 6; n >= 0; n--) {
		char key = "fffghij"[rand() % 7];

		add(first, key, level);
		if (level < 3 && !(rand() % 4))
			happen(first, second, level + 1 + rand() % (3 - level));
		add(second, key, level);
		if (level < 3 && !(rand() % 4))
			happen(first, second, level + 1 + rand() % (3 - level));
	}
}

TEST(explains_interrupts)
{
	srand(1);
	for (int round = 0; round < 500; round++) {
		struct items in[2] = {};
		struct items *ours = &in[round & 1], *theirs = &in[!(round & 1)];
		struct matched m = {};
		size_t gone;

		for (int i = 0; i < 5; i++)
			happen(&in[0], &in[1], 0);
		match(theirs, ours, &m);
		ASSERT_EQ(0, m.ours + m.theirs + m.order) {
			TH_LOG("round %d", round);
		}
		ASSERT_EQ(ours->nr, m.same + m.moved);

		/* One event less: that is never an interrupt's doing. */
		for (size_t i = 0; i < ours->nr; i++)
			ours->v[i].wrong = theirs->v[i].wrong = false;
		gone = rand() % ours->nr;
		ours->v[gone].wrong = true;
		m = (struct matched){};
		match(theirs, ours, &m);
		EXPECT_LT(0, m.theirs);
		free(ours->v);
		free(theirs->v);
	}
}

/* ---- the test ------------------------------------------------------------- */

FIXTURE(ftrace) {
	int fd, cpus;
	uint64_t wanted;
	struct items ours[CPUS_MAX], theirs[CPUS_MAX];
};

FIXTURE_SETUP(ftrace)
{
	unsigned char ops[PAIRS + 1] = {};
	uint64_t ring = 1 << 20;
	int nr, at = 0;

	self->fd = -1;
	self->cpus = kt_cpus();
	self->wanted = wanted();
	ASSERT_LE(self->cpus, CPUS_MAX);
	if (access(KTF_TRACING "/instances", W_OK))
		SKIP(return, "ftrace has no instances here");
	/* All events may be of one CPU; the largest has 40 bytes, or 100 in ftrace. */
	while (ring < self->wanted * 40)
		ring *= 2;
	ASSERT_EQ(0, ktf_open("mono", self->wanted / 10 + 4096));
	nr = look();
	ASSERT_LE(30, nr);
	for (size_t i = 0; i < PAIRS; i++)
		if (known[i].id >= 0 && !memchr(ops, pairs[i].op, at))
			ops[at++] = pairs[i].op;
	self->fd = kt_session(KTAPE_MODE_DISCARD, ring, 65536, ops);
	ASSERT_GE(self->fd, 0);
	for (size_t i = 0; i < PAIRS; i++)
		if (known[i].id >= 0)
			ASSERT_EQ(0, ktf_enable(pairs[i].event));
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

static int record(FIXTURE_DATA(ftrace) *self)
{
	struct worker w[CPUS_MAX];
	bool stop = false;
	uint64_t lost = 0;
	int ret;

	ret = ktf_write("tracing_on", "1");
	ret = ret ?: kt_command(self->fd, KTAPE_IOC_START);
	on_each_cpu(self->cpus, boundary);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		w[cpu] = (struct worker){ .cpu = cpu, .stop = &stop };
		if (pthread_create(&w[cpu].thread, NULL, work, &w[cpu]))
			return -EAGAIN;
	}
	while (!ret && !lost && emitted(self->fd, self->cpus, &lost) < self->wanted)
		usleep(20000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		pthread_join(w[cpu].thread, NULL);
	on_each_cpu(self->cpus, boundary);
	ret = ret ?: kt_command(self->fd, KTAPE_IOC_STOP);
	return ret ?: ktf_write("tracing_on", "0");
}

static long collect(FIXTURE_DATA(ftrace) *self, int cpu)
{
	struct kt_map m;
	long ret = kt_map(self->fd, cpu, KTAPE_RING_EVENT, &m);

	if (ret)
		return ret;
	ret = kt_walk(&m, take_ours, &self->ours[cpu]);
	kt_unmap(&m);
	return ret < 0 ? ret : ktf_read(cpu, take_theirs, &self->theirs[cpu]);
}

/* Count events by opcode, to tell how much of each was compared. */
static void tell(FIXTURE_DATA(ftrace) *self, struct __test_metadata *_metadata)
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

/* Show a recording's events around @at. Levels are known of ftrace's only. */
static void show(const char *of, const struct items *items, size_t at,
		 struct __test_metadata *_metadata)
{
	size_t end = at + 30 < items->nr ? at + 30 : items->nr;

	for (size_t i = at > 10 ? at - 10 : 0; i < end; i++) {
		const struct item *e = &items->v[i];

		TH_LOG("%s %zu%s %s %llx level %d %s", of, i,
		       i == at ? " *" : "", pairs[by_op[e->key >> 56] - 1].event,
		       (unsigned long long)masked(e->key, 56), e->level,
		       e->wrong ? "wrong" : "");
	}
}

TEST_F_TIMEOUT(ftrace, agrees, 900)
{
	uint64_t all = 0, moved = 0, lost;

	ASSERT_EQ(0, record(self));
	emitted(self->fd, self->cpus, &lost);
	ASSERT_EQ(0, lost);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct items *ours = &self->ours[cpu], *theirs = &self->theirs[cpu];
		struct matched m = {};
		long ret = collect(self, cpu);

		ASSERT_LT(0, ret);
		ASSERT_EQ(0, ktf_stat(cpu, "dropped events"));
		ASSERT_EQ(0, ktf_stat(cpu, "overrun"));
		ASSERT_TRUE(cut(ours));
		ASSERT_TRUE(cut(theirs));
		match(theirs, ours, &m);
		TH_LOG("cpu %d: %llu in both, %llu changed places with interrupts",
		       cpu, (unsigned long long)(m.same + m.moved), (unsigned long long)m.moved);
		EXPECT_EQ(0, m.ours + m.theirs + m.order) {
			TH_LOG("cpu %d: %llu only of ktape, %llu only of ftrace, %llu in another order",
			       cpu, (unsigned long long)m.ours,
			       (unsigned long long)m.theirs,
			       (unsigned long long)m.order);
			show("ktape", ours, m.first_ours, _metadata);
			show("ftrace", theirs, m.first_theirs, _metadata);
		}
		all += m.same + m.moved;
		moved += m.moved;
	}
	tell(self, _metadata);
	TH_LOG("%llu events in both, %llu changed places with interrupts",
	       (unsigned long long)all, (unsigned long long)moved);
	EXPECT_LE(self->wanted, all);
}

TEST_HARNESS_MAIN
