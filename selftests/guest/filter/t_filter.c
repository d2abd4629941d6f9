// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test filters by number: system call, interrupt, soft interrupt, CPU, signal,
 * severity and rate. Matching events pass, others are filtered, and all are
 * counted. The ioctl itself is tested in t_filter_ioctl.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "kselftest_harness.h"

#include <ktape/mark.h>

#include "kt_filter.h"

#define LOAD_CPU  0
#define OTHER_CPU 1
#define CALLS	  300
#define RING	  (4U << 20)
#define CODE	  KTAPE_EXC_CODE(0x1234, 56)

FIXTURE(filter)
{
	int fd; /* our own session, stopped */
};

FIXTURE_SETUP(filter)
{
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, RING, 0, KT_OPS(0));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
}

FIXTURE_TEARDOWN(filter)
{
	close(self->fd);
}

/* ---- system calls --------------------------------------------------------- */

/*
 * Records by opcode and by the number in their dat20. Numbers of 32-bit system
 * calls are 512 higher, as in the filter's bitmap; all from 1024 on share the last
 * entry. The vector of a soft interrupt has 8 bits.
 */
struct by_number {
	uint64_t in[KTAPE_OPCODES][1025];
};

static void count_by_number(const struct kt_rec *r, struct kt_tally *t)
{
	const struct kts_shape *s = &kts_shapes[r->op];
	uint32_t nr = r->dat20 & 0xffff;
	struct by_number *b = t->arg;

	if (s->class == KTAPE_CLASS_SYSCALL && r->dat20 >> 16 & 1)
		nr += 512;
	if (s->class == KTAPE_CLASS_SOFTIRQ)
		nr &= 0xff;
	b->in[r->op][nr < 1024 ? nr : 1024]++;
}

/* Call getppid() through the 32-bit system call table. */
static void getppid32(void)
{
#ifdef __x86_64__
	long ret;

	asm volatile("int $0x80"
		     : "=a"(ret)
		     : "0"(64L)
		     : "memory", "r8", "r9", "r10", "r11");
#endif
}

#define NATIVE SYS_getppid
#define COMPAT (512 + 64) /* getppid() in the 32-bit table */

/* By number, in the native table and in the 32-bit one, both ends of a call. */
TEST_F_TIMEOUT(filter, syscall, 60)
{
	const struct {
		int bit; /* the only one */
		bool native, compat;
	} vector[] = {
		{ NATIVE, true, false },
		{ COMPAT, false, true },
		{ SYS_getuid, false, false },
		{ -1, true, true },
	};
	struct by_number *b = calloc(1, sizeof(*b));
	/* Without a 32-bit entry the instruction faults. */
	bool has_compat = !access("/proc/sys/abi/vsyscall32", F_OK);

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		uint64_t native = vector[i].native ? CALLS : 0;
		uint64_t all = has_compat ? 4 * CALLS : 2 * CALLS;
		uint64_t compat = vector[i].compat && has_compat ? CALLS : 0;
		int fd = kt_session(0, RING, 0,
				    KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
		struct kt_tally t;

		memset(b, 0, sizeof(*b));
		ASSERT_LE(0, fd);
		if (vector[i].bit >= 0)
			ASSERT_EQ(0, kt_filter_bit(fd, KTAPE_FILTER_SYSCALL,
						   KTAPE_FILTER_SYSCALL_WORDS,
						   vector[i].bit, true));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		kt_getppids(CALLS);
		for (int n = 0; has_compat && n < CALLS; n++)
			getppid32();
		kt_stop_and_tally(&t, fd, count_by_number, b);
		EXPECT_EQ(0, t.wrong);
		EXPECT_EQ(native, b->in[KTAPE_EV_SYS_ENTER][NATIVE]);
		EXPECT_EQ(native, b->in[KTAPE_EV_SYS_EXIT][NATIVE]);
		EXPECT_EQ(compat, b->in[KTAPE_EV_SYS_ENTER][COMPAT]);
		EXPECT_EQ(compat, b->in[KTAPE_EV_SYS_EXIT][COMPAT]);
		if (vector[i].bit >= 0) {
			EXPECT_LE(all - 2 * native - 2 * compat,
				  t.filtered[KTAPE_CLASS_SYSCALL]);
		} else {
			EXPECT_EQ(0, t.filtered[KTAPE_CLASS_SYSCALL]);
		}
		/*
		 * Numbers beyond the bitmap pass; numbers without their bit do
		 * not.
		 */
		for (int nr = 0; vector[i].bit >= 0 && nr < 1024; nr++)
			if (nr != vector[i].bit)
				EXPECT_EQ(0, b->in[KTAPE_EV_SYS_ENTER][nr]);
		close(fd);
	}
	free(b);
}

/* A return from a signal handler has no number, so it does not match. */
TEST_F(filter, sigreturn_has_no_number)
{
	struct by_number *b = calloc(1, sizeof(*b));
	struct kt_tally t;

	signal(SIGUSR1, kt_on_alarm);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER,
						      KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(0, kt_filter_bit(self->fd, KTAPE_FILTER_SYSCALL,
				   KTAPE_FILTER_SYSCALL_WORDS, NATIVE, true));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < CALLS; i++)
		raise(SIGUSR1);
	kt_stop_and_tally(&t, self->fd, count_by_number, b);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(0, t.op[KTAPE_EV_SYS_EXIT] - b->in[KTAPE_EV_SYS_EXIT][NATIVE]);
	EXPECT_LE(CALLS, t.filtered[KTAPE_CLASS_SYSCALL]);
	free(b);
}

/* Compare with a session without filters, and with the same session after OFF. */
TEST_F(filter, one_session_until_off)
{
	int other = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	struct by_number *b = calloc(1, sizeof(*b));
	struct kt_tally t;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_SYSCALL, NULL, 0));
	ASSERT_EQ(0, kt_control(other, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_SYSCALL));
	kt_getppids(CALLS);
	kt_stop_and_tally(&t, self->fd, count_by_number, b);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(CALLS, b->in[KTAPE_EV_SYS_ENTER][NATIVE]);
	EXPECT_LE(CALLS, t.filtered[KTAPE_CLASS_SYSCALL]);
	memset(b, 0, sizeof(*b));
	kt_stop_and_tally(&t, other, count_by_number, b);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(2 * CALLS, b->in[KTAPE_EV_SYS_ENTER][NATIVE]);
	EXPECT_EQ(0, t.filtered[KTAPE_CLASS_SYSCALL]);
	close(other);
	free(b);
}

/* ---- interrupts ------------------------------------------------------------ */

/* Cause interrupts of the disk. */
static void write_to_disk(void)
{
	static char page[4096];
	int fd = open("/scratch/t_filter", O_CREAT | O_RDWR | O_TRUNC, 0600);

	for (int i = 0; i < 20; i++) {
		memset(page, i, sizeof(page));
		if (write(fd, page, sizeof(page)) != sizeof(page))
			break;
		fsync(fd);
	}
	close(fd);
	unlink("/scratch/t_filter");
}

/* Cause soft interrupts NET_RX on this CPU. */
static void send_loopback_packets(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < CALLS / kt_scale(); i++)
		sendto(fd, "x", 1, 0, (void *)&to, sizeof(to));
	close(fd);
}

/* Return the sum of all counts but that of @nr. */
static uint64_t sum_of_others(const uint64_t *in, unsigned int nr)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i <= 1024; i++)
		n += i == nr ? 0 : in[i];
	return n;
}

/*
 * Filter event @op so that only number @nr passes, and so that all but @nr do. There may be no
 * others, so that they pass is not checked.
 */
static void check_interrupt_filter(struct __test_metadata *_metadata,
				   uint32_t kind, unsigned int nr,
				   unsigned int op, void (*load)(void))
{
	uint32_t words = kind == KTAPE_FILTER_IRQ ? KTAPE_FILTER_IRQ_WORDS : 1;
	struct by_number *b = calloc(1, sizeof(*b));
	int class = kts_shapes[op].class;
	struct kt_tally t;

	for (int only = 0; only < 2; only++) {
		int fd = kt_session(0, RING, 0, KT_OPS(op));

		ASSERT_EQ(0, kt_filter_bit(fd, kind, words, nr, only));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		load();
		memset(b, 0, sizeof(*b));
		kt_stop_and_tally(&t, fd, count_by_number, b);
		TH_LOG("%s %u %s: %llu of it, %llu others, %llu filtered",
		       kts_shapes[op].name, nr, only ? "only" : "not",
		       (unsigned long long)b->in[op][nr],
		       (unsigned long long)sum_of_others(b->in[op], nr),
		       (unsigned long long)t.filtered[class]);
		EXPECT_EQ(0, t.wrong);
		if (only) {
			EXPECT_LT(0, b->in[op][nr]);
			EXPECT_EQ(0, sum_of_others(b->in[op], nr));
		} else {
			EXPECT_EQ(0, b->in[op][nr]);
			EXPECT_LT(0, t.filtered[class]);
		}
		close(fd);
	}
	free(b);
}

/* Return the most frequent interrupt during disk I/O; ~0: there was none. */
static unsigned int find_busiest_irq(int fd)
{
	struct by_number *b = calloc(1, sizeof(*b));
	unsigned int best = 0;
	struct kt_tally t;

	kt_control(fd, KTAPE_IOC_START);
	write_to_disk();
	kt_stop_and_tally(&t, fd, count_by_number, b);
	for (unsigned int i = 0; i < 1024; i++)
		if (b->in[KTAPE_EV_IRQ_HANDLER_ENTRY][i] >
		    b->in[KTAPE_EV_IRQ_HANDLER_ENTRY][best])
			best = i;
	if (!b->in[KTAPE_EV_IRQ_HANDLER_ENTRY][best])
		best = ~0U;
	free(b);
	return best;
}

TEST_F_TIMEOUT(filter, irq, 120)
{
	unsigned int nr;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_IRQ_HANDLER_ENTRY)));
	nr = find_busiest_irq(self->fd);
	ASSERT_NE(~0U, nr);
	check_interrupt_filter(_metadata, KTAPE_FILTER_IRQ, nr,
			       KTAPE_EV_IRQ_HANDLER_ENTRY, write_to_disk);
	check_interrupt_filter(_metadata, KTAPE_FILTER_IRQ, nr,
			       KTAPE_EV_IRQ_HANDLER_EXIT, write_to_disk);
}

TEST_F_TIMEOUT(filter, softirq, 120)
{
	const unsigned char ops[] = { KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT,
				      KTAPE_EV_SOFTIRQ_RAISE };
	const unsigned int net_rx = 3;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		check_interrupt_filter(_metadata, KTAPE_FILTER_SOFTIRQ, net_rx,
				       ops[i], send_loopback_packets);
}

/* ---- CPUs ------------------------------------------------------------------- */

/* By CPU: calls of getppid(), and records of the name "elsewhere". */
struct cpus {
	uint64_t calls[64], named[64];
};

static void count_by_cpu(const struct kt_rec *r, struct kt_tally *t)
{
	struct cpus *c = t->arg;

	if (r->op == KTAPE_EV_SYS_ENTER && (r->dat20 & 0xffff) == NATIVE)
		c->calls[t->cpu]++;
	if (r->op == KTAPE_EV_REGISTRY && r->size == strlen("elsewhere") &&
	    !memcmp(r->blob, "elsewhere", r->size))
		c->named[t->cpu]++;
}

/*
 * Events of other CPUs are not counted as emitted. Names are recorded for
 * threads on any CPU.
 */
TEST_F_TIMEOUT(filter, cpu, 60)
{
	const struct {
		uint64_t mask;
		bool off, load, other;
	} vector[] = {
		{ 1 << LOAD_CPU, false, true, false },
		{ 1 << OTHER_CPU, false, false, true },
		{ 1 << LOAD_CPU | 1 << OTHER_CPU, false, true, true },
		{ 0, false, false, false },
		{ 0, true, true, true },
	};
	struct ktape_stats st;

	ASSERT_LE(2, kt_online_cpus());
	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		int fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
		struct cpus c = {};
		struct kt_tally t;

		ASSERT_EQ(0, kt_filter_set(fd, KTAPE_FILTER_CPU, &vector[i].mask, 1));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		if (vector[i].off)
			ASSERT_EQ(0, kt_filter_off(fd, KTAPE_FILTER_CPU));
		kt_getppids(CALLS);
		ASSERT_EQ(0, kt_pin(OTHER_CPU));
		kt_getppids(CALLS);
		/* An unchanged name is not recorded again. */
		ASSERT_EQ(0, prctl(PR_SET_NAME, "here"));
		ASSERT_EQ(0, prctl(PR_SET_NAME, "elsewhere"));
		ASSERT_EQ(0, kt_pin(LOAD_CPU));
		kt_stop_and_tally(&t, fd, count_by_cpu, &c);
		EXPECT_EQ(1, c.named[OTHER_CPU]);
		EXPECT_EQ(0, t.wrong);
		EXPECT_EQ(vector[i].load ? CALLS : 0, c.calls[LOAD_CPU]);
		EXPECT_EQ(vector[i].other ? CALLS : 0, c.calls[OTHER_CPU]);
		EXPECT_EQ(0, t.filtered[KTAPE_CLASS_SYSCALL]);
		for (int cpu = 0; cpu < kt_online_cpus() && !vector[i].off; cpu++) {
			ASSERT_EQ(0, kt_stats(fd, cpu, 0, &st));
			if (!(vector[i].mask >> cpu & 1))
				EXPECT_EQ(st.emitted[KTAPE_CLASS_CONTROL],
					  kt_sum(st.emitted));
		}
		close(fd);
	}
}

/* ---- signals ---------------------------------------------------------------- */

struct signals {
	uint64_t of[65];
};

static void count_by_signal(const struct kt_rec *r, struct kt_tally *t)
{
	struct signals *s = t->arg;

	if (r->op == KTAPE_EV_SIGNAL_GENERATE && (pid_t)r->args[0] == getpid())
		s->of[r->dat20 & 127]++;
}

TEST_F(filter, signal)
{
	const int sent[] = { SIGUSR1, SIGUSR2, SIGWINCH, 64 };
	uint64_t only = 1ULL << (SIGUSR2 - 1) | 1ULL << 63;
	struct signals s = {};
	struct kt_tally t;

	for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
		signal(sent[i], kt_on_alarm);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SIGNAL_GENERATE)));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_SIGNAL, &only, 1));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int n = 0; n < CALLS; n++)
		for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
			kill(getpid(), sent[i]);
	kt_stop_and_tally(&t, self->fd, count_by_signal, &s);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(0, s.of[SIGUSR1]);
	EXPECT_EQ(CALLS, s.of[SIGUSR2]);
	EXPECT_EQ(0, s.of[SIGWINCH]);
	EXPECT_EQ(CALLS, s.of[64]);
	EXPECT_LE(2 * CALLS, t.filtered[KTAPE_CLASS_SIGNAL]);
}

/* ---- severities -------------------------------------------------------------- */

struct severities {
	uint64_t of[8];
};

static void count_by_severity(const struct kt_rec *r, struct kt_tally *t)
{
	struct severities *s = t->arg;

	if (r->op == KTAPE_EV_EXCEPTION && r->nargs && r->args[0] == CODE)
		s->of[r->dat20 & 7]++;
}

TEST_F(filter, severity)
{
	struct ktape_trace e = { .size = sizeof(e),
				 .code = CODE,
				 .opcode = KTAPE_EV_EXCEPTION };
	int mark = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);

	if (mark < 0)
		SKIP(return, "no /dev/ktape_mark to emit exceptions");
	for (uint32_t floor = 0; floor <= 4; floor++) {
		int fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_EXCEPTION));
		struct severities s = {};
		struct kt_tally t;

		/* An empty filter lets nothing pass. */
		ASSERT_EQ(0, kt_filter_set(fd, KTAPE_FILTER_SEVERITY, &floor,
					   floor < 4));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		for (int n = 0; n < 10; n++)
			for (e.severity = 0; e.severity < 8; e.severity++)
				ASSERT_EQ(0, kt_ioctl(mark,
						      KTAPE_MARK_IOC_TRACE, &e));
		kt_stop_and_tally(&t, fd, count_by_severity, &s);
		EXPECT_EQ(0, t.wrong);
		/* 0 to 3 are those of software, 4 to 7 the same of hardware. */
		for (uint32_t i = 0; i < 8; i++)
			EXPECT_EQ((i & 3) >= floor ? 10 : 0, s.of[i]);
		EXPECT_LE(20 * floor, t.filtered[KTAPE_CLASS_EXCEPTION]);
		close(fd);
	}
	close(mark);
}

/* ---- rates ------------------------------------------------------------------ */

/* Events above a rate, which is a number per second on each CPU, are lost, not filtered. */
TEST_F(filter, rate)
{
	const struct ktape_filter_rate none = { KTAPE_EV_SYS_ENTER, 0 };
	const struct ktape_filter_rate some[] = {
		{ KTAPE_EV_SYS_EXIT, 1000000 },
		{ KTAPE_EV_SYS_ENTER, 10 },
	};
	struct by_number *b = calloc(1, sizeof(*b));
	struct timeval from, to;
	uint64_t seconds;
	struct kt_tally t;

	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER,
						      KTAPE_EV_SYS_EXIT)));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_RATE, &none, 1));
	gettimeofday(&from, NULL);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_RATE, some, 2));
	kt_getppids(CALLS);
	kt_stop_and_tally(&t, self->fd, count_by_number, b);
	gettimeofday(&to, NULL);
	/* At most so many seconds of the limit have begun. */
	seconds = to.tv_sec - from.tv_sec + 2;
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(0, t.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(t.rate[KTAPE_CLASS_SYSCALL], t.lost[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(2 * CALLS, b->in[KTAPE_EV_SYS_EXIT][NATIVE]);
	/*
	 * Each second lets ten events pass; the number of seconds depends on
	 * the machine.
	 */
	EXPECT_LE(1, t.op[KTAPE_EV_SYS_ENTER]);
	EXPECT_GE(10 * seconds * kt_online_cpus(), t.op[KTAPE_EV_SYS_ENTER]);
	EXPECT_GE(10 * seconds, b->in[KTAPE_EV_SYS_ENTER][NATIVE]);
	EXPECT_LE(2 * CALLS - 10 * seconds, t.rate[KTAPE_CLASS_SYSCALL]);
	TH_LOG("%llu of %d calls passed in %llu s, %llu lost",
	       (unsigned long long)b->in[KTAPE_EV_SYS_ENTER][NATIVE], 2 * CALLS,
	       (unsigned long long)seconds,
	       (unsigned long long)t.rate[KTAPE_CLASS_SYSCALL]);
	free(b);
}

TEST_HARNESS_MAIN
