/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reference for questions "did X not happen?": worker threads that log what
 * they do and when, and two complete sessions around the sessions under test. A
 * CPU writes an event to its sessions in the order of their numbers, so an
 * event gets its timestamp in the first session first, then in the sessions
 * between, then in the last one.
 */
#ifndef _KT_ABSENT_H
#define _KT_ABSENT_H

#include <sys/wait.h>

#include <ktape/mark.h>

#include "grow.h"
#include "kt_clock.h"
#include "kt_filter.h"
#include "kt_session.h"
#include "lcg.h"

#define KTA_CPUS    8
#define KTA_ACTIONS 600 /* per thread, maximum */
#define KTA_IDS	    12	/* marker ids 1 to 12 */

/* What all sessions record, but for their gaps, and what is asked about. */
static const unsigned char kta_ops[] = {
	KTAPE_EV_MARK_VALUE,
	KTAPE_EV_EXCEPTION,
	KTAPE_EV_SYS_ENTER,
	KTAPE_EV_SCHED_SWITCH,
	KTAPE_EV_PROCESS_FORK,
	KTAPE_EV_SIGNAL_DELIVER,
	0,
};

/* ---- random numbers ------------------------------------------------------- */

/*
 * Return a random number below @most, which is at least 2. Each number of bits that it may
 * have is equally likely, so small numbers are as frequent as large ones.
 */
static inline uint64_t kta_length(uint64_t *seed, uint64_t most)
{
	unsigned int bits = 1 + lcg_below(seed, 62);
	uint64_t n = (uint64_t)lcg_below(seed, 1U << 31) << 31 |
		     lcg_below(seed, 1U << 31);

	while (most >> bits == 0)
		bits = 1 + lcg_below(seed, 62);
	return n & ((1ULL << bits) - 1);
}

/* ---- work ----------------------------------------------------------------- */

/**
 * struct kta_action - one logged action of a worker
 * @from: trace clock before the action
 * @to: trace clock after it
 * @op: the event that it causes
 * @value: value of the event's field: marker id, severity, system call number,
 *	tid of the child, or signal
 * @times: number of events that the action causes
 * @loose: the worker may have been on another CPU
 */
struct kta_action {
	uint64_t from, to;
	uint32_t op, value, times;
	bool loose;
};

/**
 * struct kta_worker - a thread that stays on one CPU
 * @thread: the thread
 * @cpu: the CPU it is pinned to
 * @tid: its thread id
 * @calls: system calls in a burst
 * @seed: state of its random number generator
 * @stop: set by the main thread to end the worker
 * @plugs: counts the beginnings and ends of CPU hotplug, NULL = there is none
 * @nr: number of logged actions
 * @action: the logged actions
 */
struct kta_worker {
	pthread_t thread;
	int cpu, tid, calls;
	uint64_t seed;
	bool stop;
	const unsigned int *plugs;
	int nr;
	struct kta_action action[KTA_ACTIONS];
};

static inline int kta_mark_fd(void)
{
	static int fd = -1;

	/* The first caller is the main thread, before it starts the workers. */
	if (fd < 0)
		fd = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
	return fd;
}

static inline void kta_emit_mark(struct kta_action *a, uint32_t id)
{
	struct ktape_mark m = { .size = sizeof(m),
				.id = id,
				.opcode = KTAPE_EV_MARK_VALUE };

	a->op = KTAPE_EV_MARK_VALUE;
	a->value = id;
	a->times = kt_ioctl(kta_mark_fd(), KTAPE_MARK_IOC_MARK, &m) == 0;
}

static inline void kta_emit_exception(struct kta_action *a, uint32_t severity)
{
	struct ktape_trace t = { .size = sizeof(t),
				 .severity = severity,
				 .opcode = KTAPE_EV_EXCEPTION,
				 .code = KTAPE_EXC_CODE(200, 1) };

	a->op = KTAPE_EV_EXCEPTION;
	a->value = severity;
	a->times = kt_ioctl(kta_mark_fd(), KTAPE_MARK_IOC_TRACE, &t) == 0;
}

static inline void kta_fork(struct kta_action *a)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	a->op = KTAPE_EV_PROCESS_FORK;
	a->value = pid;
	a->times = pid > 0;
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static inline void kta_signal(struct kta_action *a)
{
	static const int signals[] = { SIGUSR1, SIGUSR2, SIGWINCH, SIGURG };
	int sig = signals[a->value % 4];

	a->op = KTAPE_EV_SIGNAL_DELIVER;
	a->value = sig;
	a->times = !syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

static inline void kta_calls(struct kta_action *a, long nr, int times)
{
	const struct timespec some = { 0, (1 + a->value) * 1000000 };

	a->op = KTAPE_EV_SYS_ENTER;
	a->value = nr;
	a->times = times;
	while (times-- > 0)
		syscall(nr, nr == SYS_nanosleep ? &some : NULL, NULL);
}

static inline void kta_act_at_random(struct kta_worker *w, struct kta_action *a)
{
	static const long rare[] = { SYS_geteuid, SYS_getegid, SYS_getgid };
	uint32_t what = lcg_below(&w->seed, 32);

	/* A random choice for kta_signal() and kta_calls(), which store the real value. */
	a->value = lcg_below(&w->seed, 4);
	a->from = kt_now();
	if (what < 8)
		kta_emit_mark(a, 1 + lcg_below(&w->seed, KTA_IDS));
	else if (what < 12)
		kta_emit_exception(a, lcg_below(&w->seed, 8));
	else if (what < 13)
		kta_fork(a);
	else if (what < 16)
		kta_signal(a);
	else if (what < 18)
		kta_calls(a, SYS_getppid, w->calls);
	else if (what < 22)
		kta_calls(a, rare[a->value % 3], 1);
	else
		kta_calls(a, SYS_nanosleep, 1);
	a->to = kt_now();
}

/*
 * A thread whose CPU goes offline runs elsewhere from then on. It stays on its CPU if
 * that was online when it was pinned, and nothing was plugged since.
 */
static inline void kta_act_on_cpu(struct kta_worker *w, struct kta_action *a)
{
	unsigned int plugs = __atomic_load_n(w->plugs, __ATOMIC_SEQ_CST);

	a->loose = kt_pin(w->cpu) || plugs % 2;
	kta_act_at_random(w, a);
	a->loose |= __atomic_load_n(w->plugs, __ATOMIC_SEQ_CST) != plugs;
}

static inline void *kta_worker_main(void *arg)
{
	struct kta_worker *w = arg;

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (!w->plugs && kt_pin(w->cpu))
		return NULL;
	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		if (w->nr < KTA_ACTIONS && w->plugs)
			kta_act_on_cpu(w, &w->action[w->nr++]);
		else if (w->nr < KTA_ACTIONS)
			kta_act_at_random(w, &w->action[w->nr++]);
		else /* Filters of the sessions still name this tid. */
			usleep(1000);
	}
	return NULL;
}

static inline void kta_on_signal(int sig)
{
}

/* Start a worker on each CPU. @plugs as in struct kta_worker. Return: 0 or -1. */
static inline int kta_start_work(struct kta_worker *w, int nr, uint64_t *seed,
				 const unsigned int *plugs)
{
	static const int signals[] = { SIGUSR1, SIGUSR2, SIGWINCH, SIGURG };
	struct sigaction sa = { .sa_handler = kta_on_signal, .sa_flags = SA_RESTART };

	for (int i = 0; i < 4; i++)
		sigaction(signals[i], &sa, NULL);
	if (kta_mark_fd() < 0)
		return -1;
	for (int i = 0; i < nr; i++) {
		memset(&w[i], 0, sizeof(w[i]));
		w[i].cpu = i;
		w[i].calls = 20 + lcg_below(seed, 40);
		w[i].seed = *seed + i;
		w[i].plugs = plugs;
		if (pthread_create(&w[i].thread, NULL, kta_worker_main, &w[i]))
			return -1;
	}
	return 0;
}

static inline void kta_end_work(struct kta_worker *w, int nr)
{
	for (int i = 0; i < nr; i++)
		__atomic_store_n(&w[i].stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < nr; i++)
		pthread_join(w[i].thread, NULL);
}

/* ---- the truth ------------------------------------------------------------ */

/**
 * struct kta_event - an event of the reference
 * @first: its time in the first session
 * @last: its time in the last session
 * @cpu: CPU that recorded it
 * @op: opcode
 * @dat20: 20-bit data of the record
 * @args: argument words
 * @zero: 0; fills the padding because kinds are compared by memcmp()
 */
struct kta_event {
	uint64_t first, last;
	uint32_t cpu, op, dat20, args[2], zero;
};

/**
 * struct kta_truth - all events of the reference, sorted by CPU and kind
 * @nr: number of events
 * @room: entries that fit in @v
 * @v: the events
 */
struct kta_truth {
	size_t nr, room;
	struct kta_event *v;
};

static inline void kta_note_event(const struct kt_rec *r, struct kt_tally *take)
{
	struct kta_truth *t = take->arg;
	struct kta_event *e;

	if (!memchr(kta_ops, (int)r->op, sizeof(kta_ops) - 1))
		return;
	GROW(t->v, t->nr, t->room);
	e = &t->v[t->nr++];
	*e = (struct kta_event){ .first = r->ts,
				 .last = r->ts,
				 .cpu = take->cpu,
				 .op = r->op,
				 .dat20 = r->dat20 };
	for (uint32_t i = 0; i < 2 && i < r->nargs; i++)
		e->args[i] = r->args[i];
}

/* A kind of events has one CPU, opcode, dat20 and arguments. */
static inline int kta_compare_kinds(const void *x, const void *y)
{
	const struct kta_event *a = x, *b = y;

	return memcmp(&a->cpu, &b->cpu,
		      sizeof(*a) - offsetof(struct kta_event, cpu));
}

static inline int kta_order(const void *x, const void *y)
{
	const struct kta_event *a = x, *b = y;
	int kind = kta_compare_kinds(a, b);

	return kind ? kind : a->first < b->first ? -1 : a->first > b->first;
}

/*
 * Stop a reference session and read its events. Return: number of errors (@wrong of struct
 * kt_tally, and classes with losses or filtered events).
 */
static inline int kta_read_session(struct kta_truth *t, int fd)
{
	struct kt_tally *take = calloc(1, sizeof(*take));
	int wrong;

	memset(t, 0, sizeof(*t));
	kt_stop_and_tally(take, fd, kta_note_event, t);
	/* A reference session must have lost, filtered and overwritten nothing. */
	wrong = take->wrong;
	for (int i = 0; i < KTAPE_CLASSES; i++)
		wrong += take->lost[i] || take->filtered[i];
	free(take);
	qsort(t->v, t->nr, sizeof(*t->v), kta_order);
	return wrong;
}

/* Return the index after the last event of the kind of event @i. */
static inline size_t kta_end_of_kind(const struct kta_truth *t, size_t i)
{
	size_t end = i;

	while (end < t->nr && !kta_compare_kinds(&t->v[i], &t->v[end]))
		end++;
	return end;
}

/*
 * Give the events of one kind on one CPU, from @i to before @end, their times in the last
 * session, which are from @j to before @other_end in @other.
 *
 * A CPU records an event in all sessions before it records the next one of this kind,
 * because nothing that can interrupt it causes such events. So the partner of an event
 * lies before the next event. Return: number of events that are not in the first session.
 */
static inline int kta_pair_times(struct kta_truth *t, size_t i, size_t end,
				 const struct kta_truth *other, size_t j,
				 size_t other_end)
{
	int wrong = 0;

	for (; i < end; i++) {
		struct kta_event *e = &t->v[i];
		uint64_t next = i + 1 < end ? t->v[i + 1].first : UINT64_MAX;

		for (; j < other_end && other->v[j].first < e->first; j++)
			wrong++;
		/* The last session may not have recorded yet, or any more. */
		e->last = next;
		if (j < other_end && other->v[j].first <= next)
			e->last = other->v[j++].first;
	}
	return wrong + (int)(other_end - j);
}

/*
 * Merge the events of the two reference sessions: each event gets its time in both, which
 * bracket its times in the sessions between them. Events before @begin, which only the
 * first session has, are left out.
 *
 * Return: 0, or the number of errors: events that are not in the first session,
 * and what kta_read_session() has counted.
 */
static inline int kta_truth(struct kta_truth *t, int first, int last, uint64_t begin)
{
	struct kta_truth other;
	int wrong = kta_read_session(&other, last) + kta_read_session(t, first);
	size_t nr = 0, j = 0;

	for (size_t i = 0, end; i < t->nr; i = end) {
		size_t other_end = j;

		end = kta_end_of_kind(t, i);
		if (j < other.nr && !kta_compare_kinds(&t->v[i], &other.v[j]))
			other_end = kta_end_of_kind(&other, j);
		wrong += kta_pair_times(t, i, end, &other, j, other_end);
		j = other_end;
	}
	wrong += j < other.nr;
	for (size_t i = 0; i < t->nr; i++)
		if (t->v[i].first >= begin)
			t->v[nr++] = t->v[i];
	t->nr = nr;
	free(other.v);
	return wrong;
}

/* Return the field value that a question can ask for. */
static inline uint32_t kta_value(const struct kta_event *e)
{
	switch (e->op) {
	case KTAPE_EV_MARK_VALUE:
		return e->args[0];
	case KTAPE_EV_EXCEPTION:
		return e->dat20 & 7;
	case KTAPE_EV_SYS_ENTER:
		return e->dat20 & 0xffff;
	case KTAPE_EV_SIGNAL_DELIVER:
		return e->dat20 & 0x7f;
	default:
		return e->args[1]; /* next_tid, child_tid */
	}
}

/*
 * Compare a worker's log with the reference. Return: number of actions that the
 * reference does not have at that time.
 */
static inline int kta_missing(const struct kta_truth *t, const struct kta_worker *w)
{
	int missing = 0;

	for (int i = 0; i < w->nr; i++) {
		const struct kta_action *a = &w->action[i];
		uint32_t seen = 0;

		for (size_t j = 0; j < t->nr; j++) {
			const struct kta_event *e = &t->v[j];

			seen += ((int)e->cpu == w->cpu || a->loose) &&
				e->op == a->op && kta_value(e) == a->value &&
				e->first + kt_clock_slack() >= a->from &&
				e->last <= a->to + kt_clock_slack();
		}
		if (seen >= a->times)
			continue;
		missing++;
		printf("# cpu %d: %u of %u events %u with %u from %llu to %llu\n",
		       w->cpu, seen, a->times, a->op, a->value,
		       (unsigned long long)a->from, (unsigned long long)a->to);
	}
	return missing;
}

#endif /* _KT_ABSENT_H */
