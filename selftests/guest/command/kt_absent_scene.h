/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record one workload, a scene, in several ways that each leave something out. The
 * reference, which says what really happened, are two complete sessions: the first
 * and the last one by number (kt_absent.h).
 */
#ifndef _KT_ABSENT_SCENE_H
#define _KT_ABSENT_SCENE_H

#include "kt_absent_ask.h"

#define STEPS	30    /* in a scene, at least */
#define STEP_US 15000 /* between two steps, on average */
#define SMALL	(16 << 10)
#define LARGE	(1 << 20)

/* The sessions between the two reference sessions. */
enum way {
	WRAPPED, /* overwrite mode, small ring, read once meanwhile and after the end */
	FULL,	   /* discard mode, small ring, read too slowly */
	RESTARTED, /* stopped and restarted; no system calls */
	FILTERED,  /* filters and profile change while it records */
	ROTATED,   /* a rotating log */
	WAYS
};

static const struct {
	const char *name;
	uint32_t mode, ring, control;
} ways[WAYS] = {
	[WRAPPED] = { "wrapped", KTAPE_MODE_OVERWRITE, SMALL, 4 * SMALL },
	[FULL] = { "full", KTAPE_MODE_DISCARD, SMALL, SMALL },
	[RESTARTED] = { "restarted", KTAPE_MODE_OVERWRITE, LARGE, LARGE },
	[FILTERED] = { "filtered", KTAPE_MODE_OVERWRITE, LARGE, LARGE },
	[ROTATED] = { "rotated", KTAPE_MODE_DISCARD, 4 * SMALL, 4 * SMALL },
};

/**
 * struct scene - one run of the work
 * @ref: what really happened
 * @dev: the device
 * @s: the session of each way
 * @rec: recorders of the sessions that are read while they record
 * @first: first reference session
 * @last: last reference session
 * @before: trace clock when the first reference session recorded and the last did not yet
 * @gap: gaps of each way
 * @nr_traces: number of traces
 * @trace: recorded traces
 * @worker: worker threads
 */
struct scene {
	struct kta_ref ref;
	struct ktape_device *dev, *s[WAYS];
	struct ktape_recorder *rec[WAYS];
	int first, last;
	uint64_t before;
	struct kta_gaps gap[WAYS];
	int nr_traces;
	struct kta_trace trace[16];
	struct kta_worker worker[KTA_CPUS];
};

/* ---- recording ------------------------------------------------------------ */

/* Count and report a step that failed, that is, if @err is negative. */
static inline void scene_must(struct scene *sc, const char *what, int err)
{
	if (err >= 0)
		return;
	sc->ref.errors++;
	printf("# %s: %s\n", what, strerror(-err));
}

static inline int fd_of(const struct scene *sc, enum way way)
{
	return ktape_device_fd(sc->s[way]);
}

/* @op: the opcode, 0 = every event; close_gap() finds the gap by it. */
static inline void open_gap(struct scene *sc, enum way way, uint32_t op)
{
	kta_open_gap(&sc->ref, &sc->gap[way], op, op);
}

static inline void close_gap(struct scene *sc, enum way way, uint32_t op)
{
	kta_close_gap(&sc->gap[way], op);
}

/* Add a trace to the list; @whole: it has no losses but the gaps. Return: its path. */
static inline const char *add_scene_trace(struct scene *sc, enum way way, bool whole)
{
	struct kta_trace *t = &sc->trace[sc->nr_traces];

	snprintf(t->path, sizeof(t->path), "%s-%d", ways[way].name, sc->nr_traces++);
	t->way = way;
	t->whole = whole;
	t->gaps = &sc->gap[way];
	return t->path;
}

/* Save the rings as they are to a new trace. */
static inline void save_scene_rings(struct scene *sc, enum way way, bool whole)
{
	const struct ktape_recorder_options how = {
		.dir = add_scene_trace(sc, way, whole),
		.flags = KTAPE_RECORD_ATTACHED | KTAPE_RECORD_NO_URING,
	};
	struct ktape_recorder *rec;
	int err = ktape_recorder_open(sc->s[way], &how, &rec);

	scene_must(sc, how.dir, err);
	if (err)
		return;
	scene_must(sc, how.dir, ktape_recorder_finish(rec));
	ktape_recorder_close(rec);
}

/*
 * Read the session to a file by read(), with a new descriptor: one that was used before
 * may have read everything.
 */
static inline void save_stream(struct scene *sc, enum way way, bool whole)
{
	const char *path = add_scene_trace(sc, way, whole);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int fd = kt_attach_id(fd_of(sc, way), kt_layout_session(fd_of(sc, way)));
	struct kt_buf b = {};

	scene_must(sc, "attach", fd);
	scene_must(sc, "read", kt_slurp(&b, fd, 64 << 10));
	scene_must(sc, path, write(to, b.p, b.len) == (ssize_t)b.len ? 0 : -EIO);
	close(to);
	close(fd);
	kt_buf_free(&b);
}

static inline void attach_scene_recorder(struct scene *sc, enum way way,
					 unsigned int flags)
{
	const struct ktape_recorder_options how = {
		.dir = add_scene_trace(sc, way, false),
		.flags = flags | KTAPE_RECORD_NO_URING,
	};

	scene_must(sc, how.dir,
		   ktape_recorder_open(sc->s[way], &how, &sc->rec[way]));
}

/**
 * struct gone - what the rings of a session no longer hold
 * @lost: events that were dropped for lack of space
 * @overwritten: overwritten bytes
 */
struct gone {
	uint64_t lost, overwritten;
};

static inline struct gone gone_of(struct scene *sc, enum way way)
{
	struct gone gone = {};
	struct ktape_stats st;

	for (int cpu = 0; cpu < sc->ref.cpus; cpu++) {
		for (uint32_t kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
			scene_must(sc, "stats",
				   kt_stats(fd_of(sc, way), cpu, kind, &st));
			gone.lost += kt_lost(&st);
			gone.overwritten += st.tail;
		}
	}
	return gone;
}

static inline bool is_way_whole(struct scene *sc, enum way way)
{
	struct gone gone = gone_of(sc, way);

	return !gone.lost && !gone.overwritten;
}

static inline void create_way_session(struct scene *sc, enum way way)
{
	struct ktape_create c = { .mode = ways[way].mode,
				  .ring_size = ways[way].ring,
				  .control_size = ways[way].control,
				  .block_size = 4096 };

	scene_must(sc, ways[way].name,
		   ktape_device_create(sc->dev, &c, &sc->s[way]));
	if (sc->ref.errors)
		return;
	scene_must(sc, "profile", kt_profile_only(fd_of(sc, way), kta_ops));
}

/*
 * ---- what is done meanwhile: each function leaves a gap in the traces of one way, or
 * ends it
 */

static inline void filter_calls(struct scene *sc)
{
	open_gap(sc, FILTERED, KTAPE_EV_SYS_ENTER);
	scene_must(sc, "calls",
		   kt_filter_bit(fd_of(sc, FILTERED), KTAPE_FILTER_SYSCALL,
				 KTAPE_FILTER_SYSCALL_WORDS, SYS_getppid, false));
}

static inline void pass_calls(struct scene *sc)
{
	scene_must(sc, "calls",
		   kt_filter_off(fd_of(sc, FILTERED), KTAPE_FILTER_SYSCALL));
	close_gap(sc, FILTERED, KTAPE_EV_SYS_ENTER);
}

static inline void filter_pids(struct scene *sc)
{
	open_gap(sc, FILTERED, 0);
	scene_must(sc, "pid",
		   kt_filter_pid(fd_of(sc, FILTERED), sc->worker[0].tid, 0));
}

static inline void pass_pids(struct scene *sc)
{
	scene_must(sc, "pid", kt_filter_off(fd_of(sc, FILTERED), KTAPE_FILTER_PID));
	close_gap(sc, FILTERED, 0);
}

static inline void without_marks(struct scene *sc)
{
	open_gap(sc, FILTERED, KTAPE_EV_MARK_VALUE);
	scene_must(sc, "profile",
		   kt_profile_ops(fd_of(sc, FILTERED), KTAPE_PROFILE_ANDNOT,
				  KTAPE_EV_MARK_VALUE, 0, 0));
}

static inline void with_marks(struct scene *sc)
{
	scene_must(sc, "profile",
		   kt_profile_ops(fd_of(sc, FILTERED), KTAPE_PROFILE_OR,
				  KTAPE_EV_MARK_VALUE, 0, 0));
	close_gap(sc, FILTERED, KTAPE_EV_MARK_VALUE);
}

static inline void stop_restarted(struct scene *sc)
{
	open_gap(sc, RESTARTED, 0);
	scene_must(sc, "stop", ktape_device_stop(sc->s[RESTARTED]));
}

static inline void start_restarted(struct scene *sc)
{
	scene_must(sc, "start", ktape_device_start(sc->s[RESTARTED]));
	close_gap(sc, RESTARTED, 0);
}

static inline void save_wrapped(struct scene *sc)
{
	save_scene_rings(sc, WRAPPED, false);
}

static inline void read_full(struct scene *sc)
{
	scene_must(sc, "step", ktape_recorder_step(sc->rec[FULL]));
}

static inline void rotate_scene_trace(struct scene *sc)
{
	scene_must(sc, "rotate",
		   ktape_recorder_rotate(sc->rec[ROTATED],
					 add_scene_trace(sc, ROTATED, false)));
}

/* What is done at which step. */
static const struct {
	int step;
	void (*what)(struct scene *sc);
} plan[] = {
	{ 4, stop_restarted },	    { 5, pass_calls },
	{ 6, start_restarted },	    { 8, read_full },
	{ 9, filter_pids },	    { 10, rotate_scene_trace },
	{ 11, pass_pids },	    { 14, stop_restarted },
	{ 15, save_wrapped },	    { 16, start_restarted },
	{ 17, read_full },	    { 18, without_marks },
	{ 20, rotate_scene_trace }, { 21, with_marks },
	{ 23, read_full },	    { 24, filter_calls },
};

/* Return true if one session has overwritten events and another one has dropped some. */
static inline bool has_scene_losses(struct scene *sc)
{
	return gone_of(sc, WRAPPED).overwritten && gone_of(sc, FULL).lost;
}

static inline void run_scene_steps(struct scene *sc)
{
	/* A slow machine takes more than STEPS until events are lost. */
	for (int i = 0; i < 100 * STEPS && !sc->ref.errors; i++) {
		if (i >= STEPS && has_scene_losses(sc))
			break;
		/* Vary the times of the steps from scene to scene. */
		usleep(STEP_US / 2 + lcg_below(&sc->ref.seed, STEP_US));
		for (size_t j = 0; j < sizeof(plan) / sizeof(*plan); j++)
			if (plan[j].step == i)
				plan[j].what(sc);
		scene_must(sc, "step", ktape_recorder_step(sc->rec[ROTATED]));
	}
}

/* ---- a scene --------------------------------------------------------------- */

static inline void begin_scene(struct scene *sc)
{
	scene_must(sc, "device", ktape_device_open(NULL, true, &sc->dev));
	if (!sc->ref.errors && !kt_clock_setup(ktape_device_fd(sc->dev)))
		scene_must(sc, "the clock", -EOPNOTSUPP);
	if (sc->ref.errors)
		return;
	sc->first = kt_session_for_threads(LARGE, LARGE, kta_ops);
	scene_must(sc, "first", sc->first);
	for (int i = 0; i < WAYS && !sc->ref.errors; i++)
		create_way_session(sc, i);
	sc->last = kt_session_for_threads(LARGE, LARGE, kta_ops);
	scene_must(sc, "last", sc->last);
	/* A CPU stores an event in the order of these numbers: the reference is around the others. */
	for (int i = 0; i < WAYS && !sc->ref.errors; i++)
		if (kt_layout_session(fd_of(sc, i)) < kt_layout_session(sc->first) ||
		    kt_layout_session(fd_of(sc, i)) > kt_layout_session(sc->last))
			scene_must(sc, "their numbers", -ERANGE);
	if (sc->ref.errors)
		return;
	open_gap(sc, RESTARTED, KTAPE_EV_SYS_ENTER);
	scene_must(sc, "profile",
		   kt_profile_ops(fd_of(sc, RESTARTED), KTAPE_PROFILE_ANDNOT,
				  KTAPE_EV_SYS_ENTER, 0, 0));
	filter_calls(sc);
	attach_scene_recorder(sc, FULL, 0);
	attach_scene_recorder(sc, ROTATED, KTAPE_RECORD_PIECES);
	scene_must(sc, "start", kt_control(sc->first, KTAPE_IOC_START));
	sc->before = kt_now();
	scene_must(sc, "start", kt_control(sc->last, KTAPE_IOC_START));
	for (int i = 0; i < WAYS; i++)
		scene_must(sc, "start", ktape_device_start(sc->s[i]));
	sc->ref.begin = kt_now();
}

static inline void end_scene(struct scene *sc)
{
	kta_end_work(sc->worker, sc->ref.cpus);
	sc->ref.end = kt_now();
	for (int i = 0; i < WAYS; i++)
		scene_must(sc, "stop", ktape_device_stop(sc->s[i]));
	/* Without losses and gaps the scene would not test all answers. */
	scene_must(sc, "nothing was overwritten",
		   gone_of(sc, WRAPPED).overwritten ? 0 : -ENODATA);
	scene_must(sc, "nothing was lost", gone_of(sc, FULL).lost ? 0 : -ENODATA);
	save_scene_rings(sc, WRAPPED, false);
	save_scene_rings(sc, RESTARTED, is_way_whole(sc, RESTARTED));
	save_stream(sc, RESTARTED, is_way_whole(sc, RESTARTED));
	save_scene_rings(sc, FILTERED, is_way_whole(sc, FILTERED));
	scene_must(sc, "full", ktape_recorder_finish(sc->rec[FULL]));
	scene_must(sc, "rotated", ktape_recorder_finish(sc->rec[ROTATED]));
	for (int i = 0; i < WAYS; i++) {
		ktape_recorder_close(sc->rec[i]);
		ktape_device_close(sc->s[i]);
	}
	if (kta_truth(&sc->ref.truth, sc->first, sc->last, sc->before)) {
		printf("# the two reference sessions differ, or have losses\n");
		sc->ref.errors++;
	}
	for (int i = 0; i < sc->nr_traces; i++) {
		sc->trace[i].from = sc->ref.begin;
		sc->trace[i].to = sc->ref.end;
	}
	for (int i = 0; i < sc->ref.cpus; i++)
		sc->ref.errors += kta_missing(&sc->ref.truth, &sc->worker[i]);
	close(sc->first);
	close(sc->last);
	ktape_device_close(sc->dev);
}

/* Record a scene. Return: the scene, with ref.errors not 0 if a step failed. */
static inline struct scene *play_scene(uint64_t seed)
{
	struct scene *sc = calloc(1, sizeof(*sc));

	if (!sc)
		abort();
	sc->ref.seed = seed;
	sc->ref.cpus = kt_online_cpus() < KTA_CPUS ? kt_online_cpus() : KTA_CPUS;
	begin_scene(sc);
	if (sc->ref.errors)
		return sc;
	scene_must(sc, "work",
		   kta_start_work(sc->worker, sc->ref.cpus, &sc->ref.seed, NULL));
	run_scene_steps(sc);
	end_scene(sc);
	return sc;
}

static inline void remove_scene(struct scene *sc)
{
	for (int i = 0; i < sc->nr_traces; i++)
		ktape_piece_remove(sc->trace[i].path);
	free(sc->ref.truth.v);
	free(sc);
}

#endif /* _KT_ABSENT_SCENE_H */
