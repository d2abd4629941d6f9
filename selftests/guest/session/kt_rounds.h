/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions that are meddled with at random moments while busy CPUs record into them, for
 * t_rounds.c: what is done to a session, and which gaps that leaves in its trace.
 *
 * The reference, which says what really happened, are two more sessions that record the same
 * events and lose none. They have the lowest and the highest number. A CPU writes an event to
 * its sessions in the order of their numbers, so the two have a time before and a time after
 * the event's time in each other session.
 */
#ifndef _KT_ROUNDS_H
#define _KT_ROUNDS_H

#include "kt_absent_ask.h"
#include "kt_counts.h"
#include "kt_filter.h"

/* The sessions that are meddled with, in the order of their numbers. */
enum which {
	WRAPPED, /* overwrite mode, small rings, saved now and then */
	DRAINED, /* discard mode, read and rotated by the library */
	KEPT,	 /* overwrite mode, large rings */
	COUNTED, /* compared with the counts of the module kt_count */
	LOGGED,	 /* of `ktape record -l --rotate` */
	TARGETS
};

#define ON(which) \
	(1U << (which)) /* a session's bit in filters[].targets and ops[].targets */

/* Their names, modes, and bytes of rings; the command makes LOGGED and chooses its rings. */
static const struct {
	const char *name;
	uint32_t mode, ring, control;
} targets[TARGETS] = {
	[WRAPPED] = { "wrapped", KTAPE_MODE_OVERWRITE, 16 << 10, 64 << 10 },
	[DRAINED] = { "drained", KTAPE_MODE_DISCARD, 64 << 10, 64 << 10 },
	[KEPT] = { "kept", KTAPE_MODE_OVERWRITE, 1 << 20, 1 << 20 },
	[COUNTED] = { "counted", KTAPE_MODE_OVERWRITE, 1 << 20, 1 << 20 },
	[LOGGED] = { "logged", KTAPE_MODE_DISCARD, 0, 0 },
};

#define KINDS  8 /* of filters, see filters[] */
#define OPS    8 /* see ops[] */
#define TRACES 64

/**
 * struct target - a session that is meddled with
 * @device: the session in libktape; NULL for LOGGED, which another process has
 * @rec: libktape's recorder of it, or NULL
 * @fd: its descriptor
 * @runs: it was started and not stopped
 * @filters: filters that are on, by index in filters[]
 * @off: event that was taken out of the profile, or 0
 * @gaps: where its trace has gaps
 */
struct target {
	struct ktape_device *device;
	struct ktape_recorder *rec;
	int fd;
	bool runs;
	unsigned int filters;
	uint32_t off;
	struct kta_gaps gaps;
};

/**
 * struct round - one round
 * @ref: what really happened
 * @dev: the device
 * @first: first session of the reference
 * @last: last session of the reference
 * @before: trace clock when the first session recorded
 * @t: sessions that are meddled with
 * @log: process of `ktape record -l`
 * @counter: independent counts of the starts and stops of COUNTED
 * @ops: how often each step was taken, by index in ops[]
 * @plugs: counts twice for a CPU that goes offline or comes online: before that and after it, so it
 *	is odd meanwhile
 * @nr_traces: number of traces
 * @trace: recorded traces
 * @worker: threads that log what they do
 */
struct round {
	struct kta_ref ref;
	struct ktape_device *dev;
	int first, last;
	uint64_t before;
	struct target t[TARGETS];
	pid_t log;
	struct ktc_counter counter;
	unsigned int ops[OPS], plugs;
	int nr_traces;
	struct kta_trace trace[TRACES];
	struct kta_worker worker[KTA_CPUS];
};

/* Count and report a step that failed, that is, if @err is negative. */
static void round_must(struct round *r, const char *what, int err)
{
	if (err >= 0)
		return;
	r->ref.errors++;
	printf("# %s: %s\n", what, strerror(-err));
}

static enum which which_of(const struct round *r, const struct target *t)
{
	return t - r->t;
}

static const char *round_target_name(const struct round *r, const struct target *t)
{
	return targets[which_of(r, t)].name;
}

static uint32_t draw(struct round *r, uint32_t below)
{
	return lcg_below(&r->ref.seed, below);
}

/* Add a trace of @t to the list, @whole if it has no losses. Return: its path, or NULL. */
static const char *add_round_trace(struct round *r, struct target *t, bool whole)
{
	struct kta_trace *to = &r->trace[r->nr_traces];

	if (r->nr_traces == TRACES) {
		round_must(r, "traces", -E2BIG);
		return NULL;
	}
	snprintf(to->path, sizeof(to->path), "%s-%d", round_target_name(r, t),
		 r->nr_traces++);
	to->way = which_of(r, t);
	to->whole = whole;
	to->gaps = &t->gaps;
	return to->path;
}

/* Why events are missing; a filter counts from FILTER on. */
enum why { STOPPED, CLEARED, PROFILE, FILTER };

/* ---- steps ------------------------------------------------------------------ */

static void start_target(struct round *r, struct target *t)
{
	if (which_of(r, t) == COUNTED)
		round_must(r, "start", ktc_start(&r->counter, t->fd));
	else
		round_must(r, "start", kt_control(t->fd, KTAPE_IOC_START));
	t->runs = true;
	kta_close_gap(&t->gaps, STOPPED);
}

static void stop_target(struct round *r, struct target *t)
{
	kta_open_gap(&r->ref, &t->gaps, 0, STOPPED);
	if (which_of(r, t) == COUNTED)
		round_must(r, "stop", ktc_stop(&r->counter, t->fd));
	else
		round_must(r, "stop", kt_control(t->fd, KTAPE_IOC_STOP));
	t->runs = false;
}

static void stop_or_start(struct round *r, struct target *t)
{
	if (t->runs)
		stop_target(r, t);
	else
		start_target(r, t);
}

/* Clear the rings: all before the end of CLEAR is missing, so the gap begins at time 0. */
static void clear_target(struct round *r, struct target *t)
{
	struct kta_gap *g = kta_open_gap(&r->ref, &t->gaps, 0, CLEARED);

	round_must(r, "clear", kt_control(t->fd, KTAPE_IOC_CLEAR));
	if (g)
		*g = (struct kta_gap){ 0, kt_now(), 0, CLEARED };
}

/* Take a random event out of the profile, or put the one back that was taken out. */
static void toggle_target_event(struct round *r, struct target *t)
{
	uint32_t op = t->off;

	if (!op) {
		/* kta_ops[] ends with 0. */
		t->off = kta_ops[draw(r, sizeof(kta_ops) - 1)];
		kta_open_gap(&r->ref, &t->gaps, t->off, PROFILE);
		round_must(r, "profile",
			   kt_profile_ops(t->fd, KTAPE_PROFILE_ANDNOT, t->off, 0, 0));
		return;
	}
	round_must(r, "profile", kt_profile_ops(t->fd, KTAPE_PROFILE_OR, op, 0, 0));
	kta_close_gap(&t->gaps, PROFILE);
	t->off = 0;
}

/* ---- filters: each sets one with random arguments. Return: 0 or a negative errno ---- */

static int set_random_call_filter(struct round *r, int fd)
{
	return kt_filter_bit(fd, KTAPE_FILTER_SYSCALL,
			     KTAPE_FILTER_SYSCALL_WORDS, SYS_getppid, draw(r, 2));
}

static int set_random_signal_filter(struct round *r, int fd)
{
	return kt_filter_bit(fd, KTAPE_FILTER_SIGNAL, 1, SIGUSR1, draw(r, 2));
}

static int set_random_thread_filter(struct round *r, int fd)
{
	const struct ktape_filter_pid who = {
		.pid = r->worker[draw(r, r->ref.cpus)].tid,
		.flags = draw(r, 8),
	};

	return kt_filter_set(fd, KTAPE_FILTER_PID, &who, 1);
}

static int set_random_cpu_filter(struct round *r, int fd)
{
	const uint64_t some = 1 + draw(r, (1U << r->ref.cpus) - 1);

	return kt_filter_set(fd, KTAPE_FILTER_CPU, &some, 1);
}

static int set_random_severity_filter(struct round *r, int fd)
{
	const uint32_t least = 1 + draw(r, 3);

	return kt_filter_set(fd, KTAPE_FILTER_SEVERITY, &least, 1);
}

static int set_random_rate_filter(struct round *r, int fd)
{
	const struct ktape_filter_rate rate = { KTAPE_EV_SCHED_SWITCH,
						1 + draw(r, 100) };

	return kt_filter_set(fd, KTAPE_FILTER_RATE, &rate, 1);
}

static int set_random_gate_filter(struct round *r, int fd)
{
	const struct ktape_filter_gate gate = { .gate = KTAPE_GATE_SYSCALL,
						.ns = draw(r, 1000000) };

	return kt_filter_set(fd, KTAPE_FILTER_GATE, &gate, 1);
}

static int set_random_uid_filter(struct round *r, int fd)
{
	const uint32_t uid = draw(r, 2);

	return kt_filter_set(fd, KTAPE_FILTER_UID, &uid, 1);
}

/*
 * Filters: the event that may be missing while it is on (0 = all), and the sessions that
 * may have it.
 */
static const struct {
	uint32_t kind, op, targets;
	int (*set)(struct round *r, int fd);
} filters[KINDS] = {
	{ KTAPE_FILTER_SYSCALL, KTAPE_EV_SYS_ENTER, ~0U, set_random_call_filter },
	{ KTAPE_FILTER_SIGNAL, KTAPE_EV_SIGNAL_DELIVER, ~0U,
	  set_random_signal_filter },
	{ KTAPE_FILTER_PID, 0, ~0U, set_random_thread_filter },
	/* It changes what the session counts. */
	{ KTAPE_FILTER_CPU, 0, ~ON(COUNTED), set_random_cpu_filter },
	{ KTAPE_FILTER_SEVERITY, KTAPE_EV_EXCEPTION, ~0U, set_random_severity_filter },
	{ KTAPE_FILTER_RATE, KTAPE_EV_SCHED_SWITCH, ~0U, set_random_rate_filter },
	/* It needs sys_exit in the profile. */
	{ KTAPE_FILTER_GATE, KTAPE_EV_SYS_ENTER, ON(COUNTED), set_random_gate_filter },
	{ KTAPE_FILTER_UID, 0, ~0U, set_random_uid_filter },
};

static void end_target_filter(struct round *r, struct target *t, unsigned int i)
{
	round_must(r, "filter off", kt_filter_off(t->fd, filters[i].kind));
	kta_close_gap(&t->gaps, FILTER + i);
	t->filters &= ~(1U << i);
}

/* Set or end a random filter. */
static void toggle_target_filter(struct round *r, struct target *t)
{
	unsigned int i = draw(r, KINDS);

	if (!(filters[i].targets & ON(which_of(r, t))))
		return;
	if (t->filters & 1U << i) {
		end_target_filter(r, t, i);
		return;
	}
	kta_open_gap(&r->ref, &t->gaps, filters[i].op, FILTER + i);
	round_must(r, "filter", filters[i].set(r, t->fd));
	t->filters |= 1U << i;
}

/* Save the rings of a session as they are, to a new trace.  Return: whether that is complete. */
static bool save_target_rings(struct round *r, struct ktape_device *device,
			      const char *path)
{
	const struct ktape_recorder_options how = {
		.dir = path,
		.flags = KTAPE_RECORD_ATTACHED | KTAPE_RECORD_NO_URING,
	};
	struct ktape_recorder *rec;
	int err = ktape_recorder_open(device, &how, &rec);

	round_must(r, path, err);
	if (err)
		return false;
	err = ktape_recorder_finish(rec);
	round_must(r, path, err);
	ktape_recorder_close(rec);
	return !err;
}

static void save_new_trace(struct round *r, struct target *t, bool whole)
{
	const char *path = add_round_trace(r, t, whole);

	if (path)
		save_target_rings(r, t->device, path);
}

static void snapshot_target(struct round *r, struct target *t)
{
	save_new_trace(r, t, false);
}

static void drain_target(struct round *r, struct target *t)
{
	round_must(r, "refresh", ktape_recorder_refresh(t->rec));
	round_must(r, "step", ktape_recorder_step(t->rec));
}

static void rotate_target(struct round *r, struct target *t)
{
	const char *path;

	if (which_of(r, t) == LOGGED) {
		round_must(r, "ktape record -l", kill(r->log, SIGHUP) ? -errno : 0);
		return;
	}
	path = add_round_trace(r, t, false);
	if (path)
		round_must(r, "rotate", ktape_recorder_rotate(t->rec, path));
}

/*
 * Stop, start (every other time, so that it records mostly) or clear session 0, whose trace need
 * not have all events: @t is not used.
 */
static void meddle_with_session_0(struct round *r, struct target *t)
{
	static const unsigned long commands[] = { KTAPE_IOC_STOP, KTAPE_IOC_START,
						  KTAPE_IOC_START,
						  KTAPE_IOC_CLEAR };
	int fd = kt_open(O_RDWR);

	round_must(r, "session 0", kt_control(fd, commands[draw(r, 4)]));
	close(fd);
}

/* Steps, the sessions that they can be taken with, and @rare: 1 in so many draws is taken. */
static const struct op {
	const char *name;
	unsigned int targets, rare;
	void (*take)(struct round *r, struct target *t);
} ops[OPS] = {
	{ "stop/start", ON(WRAPPED) | ON(DRAINED) | ON(KEPT) | ON(COUNTED), 1,
	  stop_or_start },
	{ "clear", ~0U, 6, clear_target },
	{ "profile", ~ON(COUNTED), 1, toggle_target_event },
	{ "filter", ~0U, 1, toggle_target_filter },
	{ "save", ON(WRAPPED) | ON(KEPT) | ON(COUNTED), 3, snapshot_target },
	{ "read", ON(DRAINED), 1, drain_target },
	{ "rotate", ON(DRAINED) | ON(LOGGED), 2, rotate_target },
	{ "session 0", ON(WRAPPED), 2, meddle_with_session_0 },
};

/* Undo one thing that keeps events out of a session's trace. Return: false if nothing does. */
static bool end_one_gap(struct round *r, struct target *t)
{
	if (!t->runs)
		start_target(r, t);
	else if (t->off)
		toggle_target_event(r, t);
	else if (t->filters)
		end_target_filter(r, t, __builtin_ctz(t->filters));
	else
		return false;
	return true;
}

/*
 * Take a step with a random session. Every other one lets it record again if it does not
 * record everything, so that most events are recorded.
 */
static void take_random_step(struct round *r)
{
	struct target *t = &r->t[draw(r, TARGETS)];
	unsigned int i;

	if (draw(r, 2) && end_one_gap(r, t))
		return;
	do {
		i = draw(r, OPS);
	} while (!(ops[i].targets & ON(which_of(r, t))) || draw(r, ops[i].rare));
	r->ops[i]++;
	ops[i].take(r, t);
}

#endif /* _KT_ROUNDS_H */
