// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * After the trials of a window, each of which has checked the events of one CPU: do the system
 * calls of all CPUs agree with each other?
 *
 * Each trial has compared the calls of a thread that follow each other on its CPU.  What
 * is left is the first call of each run against what the thread did before.  That was on
 * the same CPU, in an earlier run or window, unless the thread has changed CPUs in this
 * window.  Only then do the order of times and the runs of other CPUs matter.
 */
#include "verify/call.h"
#include "verify/window.h"

/* A run, calls in a row on one CPU, of a thread that has several CPUs in this window. */
struct moved {
	const struct kt_run *run;
	uint32_t lane;
	uint32_t cpu;
};

/* Give a thread the state back that it had before the window. */
static void restore_call(struct kt_call *t)
{
	t->now = t->before;
	t->to = 0;
	t->lane = UINT32_MAX;
}

/* Do what kt_verify_call() does with all calls of a run.  Return: false = a finding. */
static bool apply_calls(struct kt_call *t, const struct kt_run *run, uint64_t epoch)
{
	const struct kt_call_state *now = &t->now;
	bool inside = now->epoch == epoch && now->inside;
	bool agree = true;

	if (run->kind == KT_RUN_BEGIN)
		agree = !inside;
	else if (run->kind == KT_RUN_END)
		agree = !inside || now->nr == run->first_nr || !run->ends ||
			run->first_nr == KT_CALL_NONE || now->nr == KT_CALL_NONE;
	t->now.epoch = run->known ? epoch : UINT64_MAX;
	t->now.ts = run->to;
	t->now.inside = run->inside;
	t->now.nr = run->nr;
	return agree;
}

/*
 * Return the entry of a run's thread, NULL if there is no room or memory for it.  Then the window
 * is given up, and @left_out is raised when its events are checked one after the other.
 */
static struct kt_call *entry_of(struct kt_windows *w, const struct kt_run *run)
{
	struct kt_calls *k = w->v->calls;
	uint64_t left_out = k->left_out;
	struct kt_call *t;

	if (run->slot != KT_NO_SLOT && k->size == w->table)
		return &k->table[run->slot];
	t = kt_call_entry(w->v, run->tid);
	k->left_out = left_out;
	return t;
}

/*
 * Apply a run of trial @i.  Set @bad if it contradicts what its thread did before, and @moved if
 * the thread has changed CPUs in this window.  Return: false if there is no entry for it.
 */
static bool take_run(struct kt_windows *w, unsigned int i,
		     const struct kt_run *run, bool *bad, bool *moved)
{
	struct kt_call *t = entry_of(w, run);

	if (!t)
		return false;
	if (t->window != w->number) {
		t->window = w->number;
		t->before = t->now;
		t->bad = UINT64_MAX;
		t->several = false;
		t->lane = i;
	}
	t->several |= t->lane != i;
	*moved |= t->several;
	if (!apply_calls(t, run, w->v->epoch) && t->bad == UINT64_MAX) {
		t->bad = run->from;
		*bad = true;
	}
	return true;
}

static int by_call_time(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->run->from != y->run->from)
		return x->run->from < y->run->from ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

/* Collect the runs of threads that have changed CPUs, and forget what they did. */
static size_t collect_moved(struct kt_windows *w, struct moved *list)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < w->nr; i++) {
		const struct kt_trial *tr = w->trials[i];

		for (size_t j = 0; j < tr->nr_runs; j++) {
			struct kt_call *t = entry_of(w, &tr->runs[j]);

			if (!t->several)
				continue;
			restore_call(t);
			t->bad = UINT64_MAX;
			list[nr++] = (struct moved){ &tr->runs[j], i, tr->at.cpu };
		}
	}
	return nr;
}

/*
 * Apply the runs of threads that have changed CPUs, in order of time, and set @bad if one does not
 * agree.  Return: false if there is no memory.
 */
static bool take_moved(struct kt_windows *w, bool *bad)
{
	size_t most = 0, nr;
	struct moved *list;

	for (unsigned int i = 0; i < w->nr; i++)
		most += w->trials[i]->nr_runs;
	list = kt_windows_scratch(w, most * sizeof(*list));
	if (!list)
		return false;
	nr = collect_moved(w, list);
	qsort(list, nr, sizeof(*list), by_call_time);
	for (size_t i = 0; i < nr; i++) {
		const struct kt_run *run = list[i].run;
		struct kt_call *t = entry_of(w, run);

		/* Runs of two CPUs that overlap have no order as runs. */
		if (!apply_calls(t, run, w->v->epoch) ||
		    (t->lane != UINT32_MAX && t->lane != list[i].lane &&
		     run->from <= t->to)) {
			t->bad = kt_min(t->bad, run->from);
			*bad = true;
		}
		t->lane = list[i].lane;
		t->to = kt_max(t->to, run->to);
	}
	return true;
}

/* Return the first time at which calls do not agree, UINT64_MAX if all agree. */
static uint64_t first_bad(struct kt_windows *w)
{
	uint64_t first = UINT64_MAX;

	for (unsigned int i = 0; i < w->nr; i++)
		for (size_t j = 0; j < w->trials[i]->nr_runs; j++)
			first = kt_min(first,
				       entry_of(w, &w->trials[i]->runs[j])->bad);
	return first;
}

/* Give all threads the state back that they had before the window. */
static void take_back(struct kt_windows *w)
{
	for (unsigned int i = 0; i < w->nr; i++) {
		const struct kt_trial *tr = w->trials[i];

		for (size_t j = 0; j < tr->nr_runs; j++) {
			struct kt_call *t = entry_of(w, &tr->runs[j]);

			if (t && t->window == w->number)
				t->now = t->before;
		}
	}
}

/*
 * Take the calls of all trials.
 * Return: true; false if checking the events one after the other would find something.  Then
 * no state has changed, and @until is the time before which nothing is wrong, 0 if not known.
 */
bool kt_runs_agree(struct kt_windows *w, uint64_t *until)
{
	bool bad = false, moved = false, whole = true;

	w->number++;
	for (unsigned int i = 0; i < w->nr && whole; i++)
		for (size_t j = 0; j < w->trials[i]->nr_runs && whole; j++)
			whole = take_run(w, i, &w->trials[i]->runs[j], &bad, &moved);
	if (whole && moved)
		whole = take_moved(w, &bad);
	/* What disagrees on one CPU may agree once the runs of all CPUs are in order. */
	if (whole && (!bad || first_bad(w) == UINT64_MAX))
		return true;
	*until = whole ? first_bad(w) : 0;
	take_back(w);
	return false;
}
