// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of signals: each signal is recorded once when it is sent, with code,
 * target and result for each way to send one, and once when it is delivered, by the thread
 * that gets it, with its handler.
 */
#include <setjmp.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_events.h"

#define TIMES	     20
#define ERRNO	     77
#define SA_RESTORER_ 0x04000000

#define OPS                                                       \
	KT_OPS(KTAPE_EV_SIGNAL_GENERATE, KTAPE_EV_SIGNAL_DELIVER, \
	       KTAPE_EV_SCHED_SWITCH)

enum { DELIVERED, IGNORED, PENDING };

FIXTURE(signals)
{
	struct kt_events e;
	int32_t tid;
};

static volatile sig_atomic_t taken;
static sigjmp_buf back;

static void count_taken_signal(int sig)
{
	taken++;
}

static void on_fault(int sig)
{
	siglongjmp(back, 1);
}

static void set_signal_handler(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

/* Get the flag that the C library adds to handlers, on some architectures. */
static int restorer(void)
{
	unsigned long action[16] = {}; /* the kernel's: handler, flags, ... */

	set_signal_handler(SIGWINCH, count_taken_signal, 0);
	syscall(SYS_rt_sigaction, SIGWINCH, NULL, action, 8);
	return (int)action[1] & SA_RESTORER_;
}

FIXTURE_SETUP(signals)
{
	self->tid = getpid();
	taken = 0;
}

FIXTURE_TEARDOWN(signals)
{
	kt_events_free(&self->e);
}

/* ---- what is expected ---------------------------------------------------- */

static uint32_t signal_bits(int sig, bool group, int result)
{
	return sig | group << 7 | result << 8;
}

/* Count the signal_generate to @tid with exactly these values. */
static int generated(const struct kt_events *e, int32_t tid, uint32_t dat20,
		     int code, int error)
{
	const struct kt_ev *v;
	size_t at = 0;
	int n = 0;

	while ((v = kt_next_event(e, &at, KTAPE_EV_SIGNAL_GENERATE)))
		n += (int32_t)v->arg[0] == tid && v->dat20 == dat20 &&
		     (int)v->arg[1] == code && (int)v->arg[2] == error;
	return n;
}

/* Count all signal_generate of that signal to @tid. */
static int generated_at_all(const struct kt_events *e, int32_t tid, int sig)
{
	const struct kt_ev *v;
	size_t at = 0;
	int n = 0;

	while ((v = kt_next_event(e, &at, KTAPE_EV_SIGNAL_GENERATE)))
		n += (int32_t)v->arg[0] == tid && (int)(v->dat20 & 127) == sig;
	return n;
}

static int delivered(const struct kt_events *e, int32_t tid, int sig, int code,
		     uint32_t flags)
{
	const struct kt_ev *v;
	size_t at = 0;
	int n = 0;

	while ((v = kt_next_event(e, &at, KTAPE_EV_SIGNAL_DELIVER)))
		n += v->tid == tid && (int)v->dat20 == sig &&
		     (int)v->arg[0] == code && v->arg[1] == flags;
	return n;
}

/*
 * Return the token of the handler of @sig that the deliveries to @tid have, 0 if there is none,
 * if they have different ones, or if it is the default handler. 1 is SIG_IGN.
 */
static uint32_t handler_of(const struct kt_events *e, int32_t tid, int sig)
{
	const struct kt_ev *v;
	uint32_t token = 0;
	size_t at = 0;

	while ((v = kt_next_event(e, &at, KTAPE_EV_SIGNAL_DELIVER))) {
		if (v->tid != tid || (int)v->dat20 != sig)
			continue;
		if (token && v->arg[2] != token)
			return 0;
		token = v->arg[2];
	}
	return token;
}

/* ---- senders --------------------------------------------------------------- */

static void by_kill(void)
{
	kill(getpid(), SIGUSR1);
}

static void by_tgkill(void)
{
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
}

static void by_queue(void)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE, .si_errno = ERRNO };

	syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &info);
}

/* The kernel sends it with SEND_SIG_PRIV instead of a siginfo. */
static void by_alarm(void)
{
	struct itimerval soon = { .it_value = { 0, 1000 } };
	int before = taken;

	setitimer(ITIMER_REAL, &soon, NULL);
	while (taken == before)
		usleep(1000);
}

/* The kernel sends it with SEND_SIG_NOINFO instead of a siginfo. */
static void by_pipe(void)
{
	int fd[2];

	if (pipe(fd))
		return;
	close(fd[0]);
	if (write(fd[1], "x", 1) == 1)
		abort();
	close(fd[1]);
}

static void by_fault(void)
{
	volatile int *volatile nowhere = NULL;

	if (!sigsetjmp(back, 1))
		*nowhere = 0;
}

FIXTURE_VARIANT(signals)
{
	void (*send)(void);
	void (*handler)(int);
	int sig, code, error;
	bool group;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(signals, kill)
	{ by_kill, count_taken_signal, SIGUSR1, SI_USER, 0, true };
FIXTURE_VARIANT_ADD(signals, tgkill)
	{ by_tgkill, count_taken_signal, SIGUSR1, SI_TKILL, 0, false };
FIXTURE_VARIANT_ADD(signals, queue)
	{ by_queue, count_taken_signal, SIGUSR1, SI_QUEUE, ERRNO, true };
FIXTURE_VARIANT_ADD(signals, alarm)
	{ by_alarm, count_taken_signal, SIGALRM, SI_KERNEL, 0, true };
FIXTURE_VARIANT_ADD(signals, pipe)
	{ by_pipe, count_taken_signal, SIGPIPE, SI_USER, 0, false };
FIXTURE_VARIANT_ADD(signals, fault)
	{ by_fault, on_fault, SIGSEGV, SEGV_MAPERR, 0, false };
/* clang-format on */

/* Every signal was sent to us and delivered to our handler. */
TEST_F(signals, sent_and_delivered)
{
	const int flags = SA_RESTART | SA_NODEFER;

	set_signal_handler(variant->sig, variant->handler, flags);
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	for (int i = 0; i < TIMES; i++)
		variant->send();
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_EQ(TIMES,
		  generated(&self->e, self->tid,
			    signal_bits(variant->sig, variant->group, DELIVERED),
			    variant->code, variant->error));
	EXPECT_EQ(TIMES, generated_at_all(&self->e, self->tid, variant->sig));
	EXPECT_EQ(TIMES, delivered(&self->e, self->tid, variant->sig,
				   variant->code, flags | restorer()));
	EXPECT_LT(1, handler_of(&self->e, self->tid, variant->sig));
}

FIXTURE(results)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_SETUP(results)
{
	self->tid = getpid();
	taken = 0;
}

FIXTURE_TEARDOWN(results)
{
	kt_events_free(&self->e);
}

/* Generated with the right result, but not delivered. */
TEST_F(results, ignored)
{
	set_signal_handler(SIGUSR2, SIG_IGN, 0);
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	for (int i = 0; i < TIMES; i++)
		kill(self->tid, SIGUSR2);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_EQ(TIMES, generated(&self->e, self->tid,
				   signal_bits(SIGUSR2, true, IGNORED), SI_USER, 0));
	EXPECT_EQ(TIMES, generated_at_all(&self->e, self->tid, SIGUSR2));
	EXPECT_EQ(0, handler_of(&self->e, self->tid, SIGUSR2));
}

/*
 * The first signal is pending, the others are the same signal; it is delivered
 * once.
 */
TEST_F(results, pending)
{
	sigset_t set;

	set_signal_handler(SIGUSR1, count_taken_signal, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < TIMES; i++)
		kill(self->tid, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_EQ(1, taken);
	EXPECT_EQ(1, generated(&self->e, self->tid,
			       signal_bits(SIGUSR1, true, DELIVERED), SI_USER, 0));
	EXPECT_EQ(TIMES - 1,
		  generated(&self->e, self->tid,
			    signal_bits(SIGUSR1, true, PENDING), SI_USER, 0));
	EXPECT_EQ(1, delivered(&self->e, self->tid, SIGUSR1, SI_USER, restorer()));
}

/* Different handlers have different tokens; the default handler has none. */
TEST_F(results, handlers)
{
	uint32_t one, two;

	set_signal_handler(SIGUSR1, count_taken_signal, 0);
	set_signal_handler(SIGUSR2, on_fault, 0);
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	kill(self->tid, SIGUSR1);
	if (!sigsetjmp(back, 1))
		kill(self->tid, SIGUSR2);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	one = handler_of(&self->e, self->tid, SIGUSR1);
	two = handler_of(&self->e, self->tid, SIGUSR2);
	EXPECT_LT(1, one);
	EXPECT_LT(1, two);
	EXPECT_NE(one, two);
}

/* The signal that kills a process is delivered without a siginfo, to handler 0. */
TEST_F(results, killed)
{
	pid_t pid[TIMES];

	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	for (int i = 0; i < TIMES; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		while (!pid[i])
			pause();
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < TIMES; i++) {
		EXPECT_EQ(1, generated(&self->e, pid[i],
				       signal_bits(SIGKILL, true, DELIVERED),
				       SI_USER, 0));
		EXPECT_EQ(1, delivered(&self->e, pid[i], SIGKILL, SI_USER, 0));
		EXPECT_EQ(0, handler_of(&self->e, pid[i], SIGKILL));
	}
	/* SIGCHLD reported the end of each child. */
	EXPECT_EQ(TIMES, generated_at_all(&self->e, self->tid, SIGCHLD));
	EXPECT_EQ(TIMES,
		  generated(&self->e, self->tid,
			    signal_bits(SIGCHLD, true, IGNORED), CLD_KILLED, 0));
}

TEST_HARNESS_MAIN
