// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a trace in slices of time, in several threads.
 *
 * The caller's thread cuts: a slice is all events between two times, of all streams
 * (slice_cut.c).  It gives the slices to threads, each of which reads whole slices
 * (slice_read.c): it merges, decodes, and does what the caller wants with the events.  The
 * caller's thread takes the results in order.  While it has to wait, it reads slices, too.
 *
 * A slice is read without any other one.  For that, what an event depends on is known when
 * the slice is cut: how far each stream was read, the thread that runs on each CPU, the
 * losses that the packets before it count, and the names before it (slice_names.c).
 *
 * What cannot be in a slice (damage, times that go back) is not cut.  Then the streams are
 * put where the last slice ends, and ktape_trace_next() reads events one after the other
 * for a while.  So what is delivered and reported, and in which order, does not depend on
 * slices.
 *
 * Without memory for what a slice needs, the slices that were cut are read by one thread,
 * and no further ones are cut.
 */
#include "util/crew.h"

#include "trace/slice.h"

#define BYTES_ALL	(64U << 10) /* of records in a slice, of all streams */
#define BYTES_EACH	(4U << 10)  /* of each stream, at least */
#define RECORDS_TYPICAL 5000U	    /* in so many bytes */
#define DELAY_MIN	64U /* events one by one, before slices are tried again */
#define DELAY_MAX	(1U << 16) /* the same, at most */
#define FEW		1024U /* records that were not worth the preparation */
#define FEW_EACH	32U   /* the same for each stream */
#define SPARE		(4U << 20) /* bytes that must be left for everything else */

static void read_slice(void *arg, unsigned int thread, uint64_t job)
{
	struct kt_slices *sl = arg;
	struct kt_slice *slice = &sl->slices[job % sl->room];

	slice->error = kt_reader_run(&sl->readers[thread], slice);
}

/* ---- memory ---------------------------------------------------------------- */

static void free_slice(struct kt_slices *sl, struct kt_slice *slice)
{
	sl->how.release(sl->how.arg, slice);
	free(slice->shares);
	free(slice->contents);
	free(slice->notices);
}

/* Free what prepare_jobs() has made, which may be incomplete. */
static void drop_jobs(struct kt_slices *sl)
{
	kt_crew_free(sl->crew);
	sl->crew = NULL;
	for (unsigned int i = 0; sl->slices && i < sl->room; i++)
		free_slice(sl, &sl->slices[i]);
	for (unsigned int i = 0; sl->readers && i < sl->nr_readers; i++)
		kt_reader_close(&sl->readers[i]);
	free(sl->slices);
	free(sl->readers);
	sl->slices = NULL;
	sl->readers = NULL;
}

static int prepare_slice(struct kt_slices *sl, struct kt_slice *slice)
{
	slice->shares = calloc(sl->max, sizeof(*slice->shares));
	slice->records = RECORDS_TYPICAL;
	return slice->shares ? sl->how.prepare(sl->how.arg, slice) : -ENOMEM;
}

/* Prepare for @jobs threads, and check that some memory is left. */
static int prepare_jobs(struct kt_slices *sl, unsigned int jobs)
{
	void *spare;
	int err = 0;

	sl->room = kt_min(jobs * 2 + 4, KT_CREW_JOBS);
	sl->nr_readers = jobs;
	sl->slices = calloc(sl->room, sizeof(*sl->slices));
	sl->readers = calloc(jobs, sizeof(*sl->readers));
	if (!sl->slices || !sl->readers)
		return -ENOMEM;
	for (unsigned int i = 0; i < jobs && !err; i++)
		err = kt_reader_open(sl, &sl->readers[i]);
	for (unsigned int i = 0; i < sl->room && !err; i++)
		err = prepare_slice(sl, &sl->slices[i]);
	if (err)
		return err;
	spare = malloc(SPARE);
	free(spare);
	return spare ? kt_crew_new(jobs, read_slice, sl, &sl->crew) : -ENOMEM;
}

/* Prepare everything that does not depend on the number of threads. */
static int prepare_slices(struct kt_slices *sl)
{
	sl->max = sl->t->nr_streams;
	sl->delay = DELAY_MIN;
	/* Of the stream with most records: twice an equal share. */
	sl->bytes = kt_max(2 * BYTES_ALL / sl->max, BYTES_EACH);
	sl->cursors = calloc(sl->max, sizeof(*sl->cursors));
	return sl->cursors ? kt_names_new(sl) : -ENOMEM;
}

/**
 * kt_slices_new() - prepare to read a trace in slices
 * @t: the trace, which can be read in slices unless it is live or in another format
 * @how: what is done with them
 * @slices: set on success, to NULL if one thread is to read everything; release with
 *	kt_slices_free() before the trace is closed
 *
 * There are fewer threads where there is not enough memory.
 *
 * Return: 0; -ENOMEM if there is not even enough for two threads.
 */
int kt_slices_new(struct ktape_trace *t, const struct kt_slices_how *how,
		  struct kt_slices **slices)
{
	unsigned int jobs = (unsigned int)kt_min(how->jobs, KT_SLICE_JOBS);
	struct kt_slices *sl;
	int err;

	*slices = NULL;
	if (t->live || t->import || !t->nr_streams || jobs < 2)
		return 0;
	sl = calloc(1, sizeof(*sl));
	if (!sl)
		return -ENOMEM;
	sl->t = t;
	sl->how = *how;
	err = prepare_slices(sl);
	while (!err && (err = prepare_jobs(sl, jobs)) && jobs > 2) {
		drop_jobs(sl);
		jobs = (unsigned int)kt_max(jobs / 2, 2);
		err = 0;
	}
	if (err) {
		kt_slices_free(sl);
		return err;
	}
	*slices = sl;
	return 0;
}

void kt_slices_free(struct kt_slices *sl)
{
	if (!sl)
		return;
	drop_jobs(sl);
	kt_names_cut(sl, 0);
	free(sl->names);
	free(sl->cursors);
	free(sl);
}

/* ---- results ----------------------------------------------------------------- */

/*
 * Take the results of the oldest slice, which was read.  After an error, or when the caller needs
 * no more (take() has returned 1), @stopped is set.
 * Return: 0 or negative errno.
 */
static int take_results(struct kt_slices *sl)
{
	const struct ktape_trace_options *o = &sl->t->options;
	struct kt_slice *slice = &sl->slices[sl->taken % sl->room];
	int ret = slice->error;

	for (size_t i = 0; i < slice->nr_notices && !ret; i++)
		o->notice(o->arg, &slice->notices[i]);
	if (!ret)
		ret = sl->how.take(sl->how.arg, slice);
	sl->stopped = ret;
	kt_cursors_pass(slice);
	sl->flying -= slice->records;
	sl->passed += slice->records;
	sl->taken++;
	return ret < 0 ? ret : 0;
}

/* Wait until all slices from number @from on were read; what was read is not taken. */
static void wait_for_all(struct kt_slices *sl, uint64_t from)
{
	while (from < sl->given)
		kt_crew_wait(sl->crew, from++);
}

/*
 * A slice lacked memory: read it and all later ones again, one after the other, each with
 * the memory that the others give back.  No further one is cut.
 * Return: 0 or negative errno.
 */
static int read_alone(struct kt_slices *sl)
{
	struct kt_reader *r = &sl->readers[0];
	int ret = 0;

	wait_for_all(sl, sl->taken + 1);
	sl->off = true;
	for (unsigned int i = 0; i < sl->room; i++)
		sl->how.release(sl->how.arg, &sl->slices[i]);
	for (unsigned int i = 1; i < sl->nr_readers; i++)
		kt_reader_close(&sl->readers[i]);
	while (!ret && !sl->stopped && sl->taken < sl->given) {
		/* There is room for 4 slices at least. */
		/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
		struct kt_slice *slice = &sl->slices[sl->taken % sl->room];

		ret = sl->how.prepare(sl->how.arg, slice);
		if (ret)
			break;
		slice->error = kt_reader_run(r, slice);
		ret = take_results(sl);
		sl->how.release(sl->how.arg, slice);
	}
	sl->stopped = true;
	return ret;
}

/* Take the oldest slice.  Return: 0 or negative errno. */
static int take_oldest(struct kt_slices *sl)
{
	const struct kt_slice *slice = &sl->slices[sl->taken % sl->room];
	int ret;

	kt_crew_wait(sl->crew, sl->taken);
	ret = slice->error == -ENOMEM ? read_alone(sl) : take_results(sl);
	if (sl->stopped)
		wait_for_all(sl, sl->taken);
	return ret;
}

/* Take all slices.  Return: 0 or negative errno. */
static int take_all(struct kt_slices *sl)
{
	int ret = 0;

	while (!ret && !sl->stopped && sl->taken < sl->given)
		ret = take_oldest(sl);
	return ret;
}

/* ---- slices -------------------------------------------------------------------- */

/*
 * Make room for another slice.
 * Return: 1, 0 if none can be cut, or negative errno.
 */
static int make_slice_room(struct kt_slices *sl)
{
	int ret = 0, fill;

	if (sl->given - sl->taken == sl->room)
		ret = take_oldest(sl);
	if (!ret && !kt_names_room(sl)) {
		ret = take_all(sl);
		if (!ret && !sl->stopped)
			ret = kt_names_apply(sl);
	}
	while (!ret && !sl->stopped && !(fill = kt_cursors_fill(sl)) &&
	       sl->taken < sl->given)
		ret = take_oldest(sl);
	if (ret || sl->stopped)
		return ret;
	sl->off |= fill < 0;
	return fill >= 0;
}

/* Give the slice that was cut to the threads.  Return: 1 or 0. */
static int give_slice(struct kt_slices *sl, uint64_t records)
{
	struct kt_slice *slice = &sl->slices[sl->given % sl->room];

	slice->records = records;
	if (sl->how.prepare(sl->how.arg, slice) || kt_slice_build(sl, slice)) {
		sl->off = true;
		return 0;
	}
	kt_cursors_go(sl);
	sl->flying += records;
	sl->given++;
	kt_crew_give(sl->crew);
	return 1;
}

/*
 * Cut a slice and give it to the threads.
 * Return: 1, 0 if none can be cut, or negative errno.
 */
static int next_slice(struct kt_slices *sl)
{
	uint64_t records;
	int ret = make_slice_room(sl);

	if (ret <= 0)
		return ret;
	records = kt_slice_cut(sl);
	if (!records)
		return 0;
	/* The caller may not need so many events: take the results to know how many it has. */
	if (sl->flying + records > sl->how.most(sl->how.arg)) {
		ret = take_all(sl);
		if (ret || sl->stopped || records > sl->how.most(sl->how.arg))
			return ret;
	}
	return give_slice(sl, records);
}

/*
 * Read at least DELAY_MIN events one by one, because the next one cannot be in a slice, and more
 * and more of them if slices are not worth it.
 */
static void pace_slices(struct kt_slices *sl, uint64_t records)
{
	if (records >= FEW && records >= sl->nr * FEW_EACH)
		sl->delay = DELAY_MIN;
	sl->wait = sl->delay;
	sl->delay = kt_min(sl->delay * 2, DELAY_MAX);
}

/* As kt_slices_pass(), when slices can be tried. */
int kt_slices_pass_some(struct kt_slices *sl)
{
	uint64_t passed = sl->passed;
	int ret = kt_merge_settle(sl->t), err;

	/* The caller reads no further, so the losses that wait have no other place. */
	if (ret) {
		kt_loss_until(sl->t, UINT64_MAX);
		return ret;
	}
	if (!kt_cursors_begin(sl)) {
		pace_slices(sl, 0);
		return 0;
	}
	/* The registry may have got names meanwhile. */
	sl->turn++;
	do {
		ret = next_slice(sl);
	} while (ret > 0 && !sl->stopped);
	err = take_all(sl);
	if (!ret)
		ret = err;
	/* After an error, or if it needs no more, the caller does not go on. */
	if (ret || sl->taken < sl->given)
		return ret;
	kt_cursors_end(sl);
	ret = kt_names_apply(sl);
	pace_slices(sl, sl->passed - passed);
	if (sl->off)
		drop_jobs(sl);
	return ret;
}
