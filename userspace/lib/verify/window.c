// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check the events of all CPUs in windows of time, in several threads.
 *
 * Most events obey all rules, and most rules concern one CPU.  So for each window
 *
 *	1. packets of all event rings are read ahead, each ring by one thread (lane.c),
 *	2. the events of each ring up to the end of the window are checked on copies of
 *	   the CPU's state, each ring by one thread (trial.c),
 *	3. rules across CPUs are checked: system calls of threads that change CPUs
 *	   (window_call.c), and names (window_name.c),
 *	4. the copies become the state.
 *
 * A trial reports nothing.  If it finds something, or comes to an event that concerns
 * other CPUs, the copies are thrown away.  The window then ends before that event, which
 * is checked without windows: all events one after the other, in order of time.  So what is
 * reported, and in which order, does not depend on windows.
 *
 * A window also ends before each event of a control ring and of the ring of names, and at the
 * end of a control ring that ends before its event ring (kt_verify_unmarked()).  Such events are
 * always checked one after the other.
 *
 * A run is the calls of a thread, on one CPU and in a row, that agree with each other.  Step 3
 * compares only where the runs of a thread begin and end.  A doubt is an event after which nothing
 * is known of the threads and their calls.
 *
 * What it gains: an event of a trace of 8 CPUs costs 1,029 instructions one after the other,
 * 987 in windows with all rules, and 164 with check_quick() (trial.c), 6.3 times fewer
 * (selftests/bench/windows).  Windows alone gain little in one thread.  They give
 * check_quick() events of one CPU that follow each other, and threads their work.
 */
#include "stream/decode.h"
#include "util/pool.h"
#include "verify/call.h"
#include "verify/window.h"

#define JOBS_MAX 16U	      /* most threads */
#define AHEAD	 (4U << 20)   /* bytes of packets to read ahead, all rings */
#define LANE_MAX (512U << 10) /* bytes of packets to read ahead, one ring */
#define LANE_MIN (64U << 10)  /* the same, at least */
#define HELD_MAX (128U << 20) /* most bytes of packets of all lanes */
/* Bytes of packets for each run of calls; a trial with more runs is given up. */
#define RUN_BYTES 64U
/* Events to check one after the other when a window was given up; doubled each time. */
#define DELAY_MIN 64U
#define DELAY_MAX (1U << 20)
#define FEW	  256U /* records of a window that was not worth its preparation */
#define FEW_EACH  32U	/* the same for each ring: its state is copied */
#define ALONE	  8192U /* records for which no other thread is woken */

static bool has_lane(const struct kt_stream *s)
{
	return s->kind == KTAPE_RING_EVENT && s->source != KT_SOURCE_QUEUE;
}

/* Let kt_call_ends() fill its table, so that the threads of trials only read it. */
static void ask_calls(struct ktape_verify *v)
{
	const struct ktape_event e = { .dat20 = 0 };

	for (unsigned int i = 0; i < KT_CALLS_USUAL; i++)
		kt_call_ends(v, &e, i);
}

void kt_windows_free(struct kt_windows *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->trials && i < w->max; i++)
		kt_trial_free(w->trials[i]);
	kt_pool_free(w->pool);
	free(w->trials);
	free(w->order);
	free(w);
}

/* Prepare @w for @rings event rings.  Return: 0 or -ENOMEM. */
static int set_up(struct kt_windows *w, size_t rings)
{
	const struct ktape_verify *v = w->v;
	const struct ktape_trace *t = v->trace;
	unsigned int jobs = v->options.jobs ? v->options.jobs : kt_pool_cpus();
	int err = 0;

	w->delay = DELAY_MIN;
	w->bytes = kt_max(kt_min(AHEAD / rings, LANE_MAX), LANE_MIN);
	w->max_runs = w->bytes / RUN_BYTES;
	w->trials = calloc(rings, sizeof(struct kt_trial *));
	if (!w->trials)
		return -ENOMEM;
	for (w->max = 0; w->max < rings; w->max++) {
		w->trials[w->max] = kt_trial_new(w);
		if (!w->trials[w->max])
			return -ENOMEM;
	}
	for (size_t i = 0; i < t->nr_streams && !err; i++)
		if (has_lane(t->streams[i]))
			err = kt_lane_new(t->streams[i]);
	if (err)
		return err;
	return kt_pool_new((unsigned int)kt_min(kt_min(jobs, JOBS_MAX), rings),
			   &w->pool);
}

/*
 * Prepare for windows.  Called before the first packet is read.  Without memory for
 * them, and where they cannot be used, @v->windows stays NULL.
 */
void kt_windows_new(struct ktape_verify *v)
{
	struct ktape_trace *t = v->trace;
	struct kt_windows *w;
	size_t rings = 0;

	for (size_t i = 0; i < t->nr_streams; i++)
		rings += has_lane(t->streams[i]);
	if (!rings || v->one_by_one || t->info.converted)
		return;
	w = calloc(1, sizeof(*w));
	if (!w)
		return;
	w->v = v;
	if (set_up(w, rings)) {
		kt_windows_free(w);
		for (size_t i = 0; i < t->nr_streams; i++) {
			kt_lane_free(t->streams[i]->lane);
			t->streams[i]->lane = NULL;
		}
		return;
	}
	ask_calls(v);
	kt_quick_init(w);
	v->windows = w;
}

/*
 * Put the event rings of the heap into trials.  Return: false if there is none, or if the next
 * event of a stream is earlier than the last one that was delivered, or the trace is damaged.
 */
static bool choose_trials(struct kt_windows *w)
{
	struct ktape_verify *v = w->v;
	const struct ktape_trace *t = v->trace;

	w->nr = 0;
	memset(w->chosen, 0, sizeof(w->chosen));
	for (size_t i = 0; i < t->nr_heap; i++) {
		struct kt_stream *s = t->heap[i];
		struct kt_vcpu *c;

		if (s->event.ts < t->last_ts)
			return false;
		if (!s->lane)
			continue;
		c = s->kind == KTAPE_RING_EVENT && s->cpu < KT_CPUS_MAX ?
			    v->cpus[s->cpu] :
			    NULL;
		if (!c)
			return false;
		/* Two streams of a CPU, which only a damaged trace has. */
		if (kt_mask_has(w->chosen, s->cpu))
			return false;
		w->chosen[s->cpu / 64] |= 1ULL << (s->cpu % 64);
		w->trials[w->nr]->stream = s;
		w->trials[w->nr++]->cpu = c;
	}
	return w->nr;
}

/* Call @work for each trial, in this thread if the last window was small. */
static void run_trials(struct kt_windows *w, void (*work)(void *arg, size_t i))
{
	if (w->last >= ALONE) {
		w->shared++;
		kt_pool_run(w->pool, work, w, w->nr);
		return;
	}
	for (size_t i = 0; i < w->nr; i++)
		work(w, i);
}

static void fill_window_lane(void *arg, size_t i)
{
	struct kt_windows *w = arg;

	kt_lane_fill(w->v->trace, w->trials[i]->stream, w->bytes);
}

/* Read packets of all rings ahead.  Return: false if they need too much memory. */
static bool fill_lanes(struct kt_windows *w)
{
	bool more = true;

	while (more) {
		size_t held = 0;

		for (size_t i = 0; i < w->nr; i++) {
			struct kt_lane *lane = w->trials[i]->stream->lane;

			held += kt_lane_room(lane, w->bytes);
			if (held > HELD_MAX || kt_lane_prepare(lane, w->bytes))
				return false;
		}
		run_trials(w, fill_window_lane);
		more = false;
		for (size_t i = 0; i < w->nr; i++)
			more |= kt_lane_waits(w->trials[i]->stream->lane, w->bytes);
	}
	return true;
}

/*
 * Set how far a trial can get.  Return: the time that its packets cover.  Slot 0 of the lane is the
 * packet that is being read.
 */
static uint64_t limit_trial(struct kt_trial *tr)
{
	const struct kt_lane *lane = tr->stream->lane;
	uint64_t until = 0;

	tr->end = UINT32_MAX;
	for (unsigned int i = 1; i < lane->nr; i++) {
		const struct kt_lane_slot *slot = kt_lane_slot(lane, i);

		if (slot->notices)
			return until;
		if (!slot->ret) {
			tr->end = i;
			return UINT64_MAX;
		}
		if (slot->ret < 0 || slot->len < KTAPE_BLOCK_HEADER)
			return until;
		until = KT_HEAD64(slot->data, ts_begin);
	}
	return until;
}

/* Return the end of the next window: no event of a later packet is before it. */
static uint64_t limit_window(struct kt_windows *w)
{
	const struct ktape_trace *t = w->v->trace;
	uint64_t until = UINT64_MAX;

	for (size_t i = 0; i < w->nr; i++) {
		const struct kt_vcpu *c = w->trials[i]->cpu;

		until = kt_min(until, limit_trial(w->trials[i]));
		/* A trial cannot check events whose markers may be missing. */
		if (kt_verify_unmarked(w->v, c, UINT64_MAX))
			until = kt_min(until,
				       c->ring[KTAPE_RING_CONTROL].ts_end + 1);
	}
	for (size_t i = 0; i < t->nr_heap; i++)
		if (!t->heap[i]->lane)
			until = kt_min(until, t->heap[i]->event.ts);
	return until;
}

static void try_ring(void *arg, size_t i)
{
	struct kt_windows *w = arg;

	kt_trial_begin(w->trials[i]);
	kt_trial_run(w->trials[i]);
}

/*
 * Check the events before @until on copies.
 * Return: true; false with @until, the time from which on events have to be checked one
 * after the other.  Then the decoder, of which trials have no copy, is set back.  Each trial
 * changes only its CPU's entries there, so the threads do not share them.
 */
static bool try_window(struct kt_windows *w, uint64_t *until)
{
	uint64_t first = UINT64_MAX, doubts = 0;
	size_t runs = 0;

	for (size_t i = 0; i < w->nr; i++)
		w->trials[i]->until = *until;
	w->table = w->v->calls->size;
	run_trials(w, try_ring);
	for (size_t i = 0; i < w->nr; i++) {
		const struct kt_trial *tr = w->trials[i];

		w->tried += tr->records;
		if (tr->spoiled)
			first = kt_min(first, tr->last);
		doubts += tr->doubts;
		runs += tr->nr_runs;
	}
	/* A doubt forgets the calls of all threads, but its time is not known: give up. */
	if (first == UINT64_MAX && doubts && runs)
		first = 0;
	if (first == UINT64_MAX && kt_runs_agree(w, &first))
		return true;
	for (size_t i = 0; i < w->nr; i++) {
		const struct kt_trial *tr = w->trials[i];
		struct ktape_decoder *d = w->v->trace->decoder;

		d->tid[tr->stream->cpu] = tr->tid;
		d->last[tr->stream->cpu] = tr->switched;
	}
	*until = first;
	return false;
}

/* Make the copies the state.  Return: the number of records. */
static uint64_t accept_window(struct kt_windows *w)
{
	struct ktape_verify *v = w->v;
	uint64_t records = 0;

	for (size_t i = 0; i < w->nr; i++) {
		struct kt_trial *tr = w->trials[i];

		*tr->cpu = tr->c;
		*tr->stream = tr->at;
		kt_lane_pass(tr->stream->lane, tr->slot);
		v->epoch += tr->doubts;
		v->trace->last_ts = kt_max(v->trace->last_ts, tr->last);
		records += tr->records;
	}
	v->records += records;
	w->passed += records;
	kt_heap_rebuild(v->trace);
	return records;
}

/*
 * Go on with windows, or wait longer and longer if most of the work is thrown away, or if
 * preparing the trials of all rings is more work than checking so few records.
 */
static void pace_windows(struct kt_windows *w, uint64_t records)
{
	w->last = records;
	if (records && records >= w->tried / 2 && records >= w->nr * FEW_EACH) {
		w->delay = DELAY_MIN;
		w->wait = records < FEW ? DELAY_MIN : 0;
		return;
	}
	w->wait = w->delay;
	w->delay = kt_min(w->delay * 2, DELAY_MAX);
}

/* Check a window.  Return: 1, 0 if events are to be checked one by one, or error. */
static int pass_window(struct kt_windows *w)
{
	bool accepted = false;
	uint64_t until;
	int ret;

	w->tried = 0;
	if (!choose_trials(w) || kt_names_at_limit(w->v->checked) ||
	    kt_calls_at_limit(w->v->calls) || !fill_lanes(w))
		return 0;
	until = limit_window(w);
	/* If the first try finds something, a second one ends before it. */
	for (unsigned int i = 0; i < 2 && !accepted; i++) {
		if (until <= w->v->trace->heap[0]->event.ts)
			return 0;
		accepted = try_window(w, &until);
	}
	if (!accepted)
		return 0;
	ret = kt_items_apply(w);
	if (ret)
		return ret;
	pace_windows(w, accept_window(w));
	return 1;
}

/*
 * Check as many events in windows as possible, and leave those that come next to be
 * checked one after the other.
 * Return: 0 or negative errno.
 */
int kt_windows_pass(struct ktape_verify *v)
{
	struct kt_windows *w = v->windows;
	int ret = 1;

	if (!w)
		return 0;
	while (ret > 0 && !w->wait) {
		ret = kt_merge_settle(v->trace);
		if (!ret)
			ret = pass_window(w);
		if (ret > 0 && v->options.progress &&
		    v->options.progress(v->options.arg, v->records))
			return -EINTR;
	}
	if (ret < 0)
		return ret;
	/* pass_window() has given up a window without a wait: begin one. */
	if (!w->wait)
		pace_windows(w, 0);
	w->wait--;
	return 0;
}
