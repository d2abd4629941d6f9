// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a trace in slices: events, their names and what is reported are the same as
 * those that one thread reads, in the same order, whatever the trace has.
 */
#include "grow.h"
#include "lib_random.h"

#include "trace/slice.h"

/* Random traces of each kind, damages to a trace, and slices that lack memory. */
#ifdef __SANITIZE_THREAD__
#define SEEDS	1U
#define DAMAGES 4U
#define REFUSED 10U
#else
#define SEEDS	6U
#define DAMAGES 30U
#define REFUSED 40U
#endif
#define LINE   9000U
#define NOTICE 512U

/* What reading a trace, or a slice of it, gives: a line for each event and each notice. */
struct seen {
	char *lines;
	size_t len;
	size_t room;
	uint64_t nr;
	char *notices;
	size_t notices_len;
	size_t notices_room;
	/* What was returned last: > 0: an event, and no more are wanted; 0: the end; or an error. */
	int ended;
	uint64_t passed; /* events in slices */
};

/**
 * struct way - how a trace is read
 * @jobs: threads, 1 = no slices
 * @bytes: bytes of a slice, 0 = as usual
 * @most: events to read
 * @refuse: the slice whose work lacks memory, counted from 1; 0 = none
 * @error: what this work returns instead of -ENOMEM, 0 = nothing else
 * @spoil: the slice whose results cannot be taken, counted from 1; 0 = none
 */
struct way {
	unsigned int jobs;
	size_t bytes;
	uint64_t most;
	uint64_t refuse;
	int error;
	uint64_t spoil;
};

/* A trace that is read. */
struct run {
	const struct way *way;
	const struct ktape_info *info;
	struct seen *seen;
	uint64_t worked; /* slices that have come to their middle; counted for @way->refuse */
	uint64_t taken;
};

/* By one thread, and by the way that is compared with it. */
static struct seen plain, other;

static bool is_same_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && (!a_len || !memcmp(a, b, a_len));
}

static void append(char **to, size_t *len, size_t *room, const char *text, size_t size)
{
	if (*len + size > *room) {
		*room = 2 * (*room + size);
		*to = grow_to(*to, *room);
	}
	memcpy(*to + *len, text, size);
	*len += size;
}

static void add_line(struct seen *s, const struct ktape_info *info,
		     const struct ktape_registry *names,
		     const struct ktape_event *e)
{
	char line[LINE];

	append(&s->lines, &s->len, &s->room, line,
	       ktape_format_text(info, names, e, line));
	s->nr++;
}

/* The place of a loss among the lines does not matter to anybody, that of damage does. */
static void take_slice_notice(void *arg, const struct ktape_notice *n)
{
	const struct run *run = arg;
	struct seen *s = run->seen;
	char text[NOTICE];
	int len;

	len = snprintf(
		text, sizeof(text),
		"%u %d %u %u %u %d %llu %llu %llu %llu %llu %s at %llu\n",
		n->kind, n->stream, n->cpu, n->ring, n->reasons, n->continued,
		(unsigned long long)n->count, (unsigned long long)n->packets,
		(unsigned long long)n->from, (unsigned long long)n->to,
		(unsigned long long)n->error.offset, n->error.text,
		n->kind == KTAPE_NOTICE_LOST ? 0ULL : (unsigned long long)s->nr);
	append(&s->notices, &s->notices_len, &s->notices_room, text, (size_t)len);
}

static int prepare_seen(void *arg, struct kt_slice *slice)
{
	(void)arg;
	if (!slice->own)
		slice->own = calloc(1, sizeof(struct seen));
	return slice->own ? 0 : -ENOMEM;
}

static int read_slice_lines(void *arg, struct kt_slice *slice)
{
	struct seen *mine = slice->own;
	const struct ktape_event *e;
	struct run *run = arg;
	uint64_t refuse = run->way->refuse;
	int ret;

	mine->len = mine->nr = 0;
	while ((ret = ktape_trace_next(slice->trace, &e)) > 0) {
		add_line(mine, run->info, ktape_trace_registry(slice->trace), e);
		/* In the middle of a slice. */
		if (refuse && mine->nr == 3 &&
		    __atomic_add_fetch(&run->worked, 1, __ATOMIC_RELAXED) == refuse)
			return run->way->error ? run->way->error : -ENOMEM;
	}
	return ret;
}

static int take_slice_lines(void *arg, struct kt_slice *slice)
{
	const struct seen *mine = slice->own;
	struct run *run = arg;

	if (mine->nr != slice->records || ++run->taken == run->way->spoil)
		return -EIO;
	append(&run->seen->lines, &run->seen->len, &run->seen->room,
	       mine->lines, mine->len);
	run->seen->nr += mine->nr;
	return 0;
}

static uint64_t most_events_left(void *arg)
{
	const struct run *run = arg;

	return run->way->most - run->seen->nr;
}

static void release_seen(void *arg, struct kt_slice *slice)
{
	struct seen *mine = slice->own;

	(void)arg;
	if (mine)
		free(mine->lines);
	free(mine);
	slice->own = NULL;
}

static void read_in_way(const char *path, const struct way *way, struct seen *seen)
{
	struct run run = { .way = way, .seen = seen };
	const struct ktape_trace_options options = { .notice = take_slice_notice,
						     .arg = &run };
	const struct kt_slices_how how = {
		.jobs = way->jobs,
		.arg = &run,
		.prepare = prepare_seen,
		.work = read_slice_lines,
		.take = take_slice_lines,
		.most = most_events_left,
		.release = release_seen,
	};
	struct kt_slices *slices;
	const struct ktape_event *e;
	struct ktape_trace *t;
	int ret = 0;

	seen->len = seen->nr = seen->notices_len = 0;
	if (ktape_trace_open(path, &options, &t, NULL))
		abort();
	run.info = ktape_trace_info(t);
	check_equal(kt_slices_new(t, &how, &slices), 0);
	check_equal(!slices, way->jobs < 2);
	if (slices && way->bytes)
		slices->bytes = way->bytes;
	while (seen->nr < way->most && !(ret = kt_slices_pass(slices)) &&
	       seen->nr < way->most && (ret = ktape_trace_next(t, &e)) > 0)
		add_line(seen, run.info, ktape_trace_registry(t), e);
	seen->ended = ret;
	seen->passed = slices ? slices->passed : 0;
	check(!way->refuse || way->error || !slices || slices->off ||
		      run.worked < way->refuse,
	      "slices go on without memory");
	kt_slices_free(slices);
	ktape_trace_close(t);
}

/* Return the number of the first line that differs. */
static size_t differs_at(const struct seen *a, const struct seen *b)
{
	size_t line = 1;

	for (size_t i = 0;
	     i < a->len && i < b->len && a->lines[i] == b->lines[i]; i++)
		line += a->lines[i] == '\n';
	return line;
}

/* Read a trace as one thread does, and in a way; both must be the same. */
static void compare_with_one_thread(const char *path, const struct way *way)
{
	const struct way one = { .jobs = 1, .most = way->most };

	read_in_way(path, &one, &plain);
	read_in_way(path, way, &other);
	check_equal(other.nr, plain.nr);
	check_equal(other.ended > 0, plain.ended > 0);
	check(is_same_text(plain.lines, plain.len, other.lines, other.len),
	      "%u threads, %zu bytes: line %zu is another one", way->jobs,
	      way->bytes, differs_at(&plain, &other));
	check(is_same_text(plain.notices, plain.notices_len, other.notices,
			   other.notices_len),
	      "%u threads, %zu bytes: notices are\n%.*s\ninstead of\n%.*s",
	      way->jobs, way->bytes, (int)other.notices_len, other.notices,
	      (int)plain.notices_len, plain.notices);
}

/* Compare all ways.  Return: the part of the events that were in slices, in percent. */
static uint64_t compare_ways(const char *path)
{
	static const struct way ways[] = {
		{ .jobs = 2, .most = UINT64_MAX },
		{ .jobs = 2, .bytes = 600, .most = UINT64_MAX },
		{ .jobs = 5, .bytes = 60, .most = UINT64_MAX },
	};
	uint64_t passed = 0, nr = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		compare_with_one_thread(path, &ways[i]);
		passed += other.passed;
		nr += other.nr;
	}
	return nr ? passed * 100 / nr : 0;
}

/* Compare traces of all seeds, and let @least percent of the events be in slices. */
static void check_what(unsigned int what, uint64_t least)
{
	uint64_t passed = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random_trace *r = random_new(seed, what);
		const char *dir = trace_folder();
		char path[300];

		random_save(r, dir);
		passed += compare_ways(dir);
		snprintf(path, sizeof(path), "%s/pipe", dir);
		random_save_pipe(r, path);
		passed += compare_ways(path);
		random_free(r);
		trace_remove(dir);
	}
	check(passed / SEEDS / 2 >= least, "%llu %% of the events in slices",
	      (unsigned long long)(passed / SEEDS / 2));
	printf("# %llu %% of the events in slices\n",
	       (unsigned long long)(passed / SEEDS / 2));
}

static void test_plain(void)
{
	check_what(0, 95);
}

static void test_slices_names(void)
{
	check_what(RANDOM_NAMES, 95);
	check_what(RANDOM_NAMES | RANDOM_SAME | RANDOM_CONTEXT, 50);
}

static void test_slices_losses(void)
{
	check_what(RANDOM_LOSSES, 95);
	check_what(RANDOM_LOSSES | RANDOM_EMPTY | RANDOM_SAME, 50);
}

static void test_slices_clock_back(void)
{
	check_what(RANDOM_BACK | RANDOM_NAMES | RANDOM_SAME, 40);
	check_what(RANDOM_BACK | RANDOM_LOSSES | RANDOM_CONTEXT, 50);
}

static void test_bad(void)
{
	check_what(RANDOM_BAD | RANDOM_NAMES, 50);
	check_what(RANDOM_BAD | RANDOM_LOSSES | RANDOM_EMPTY | RANDOM_BACK, 50);
}

/* Bytes of the files are other ones, or missing. */
static void test_slices_damage(void)
{
	const unsigned int what = RANDOM_NAMES | RANDOM_LOSSES | RANDOM_CONTEXT;
	struct random_trace *r = random_new(7, what);
	const char *dir = trace_folder();
	char path[300];
	struct stat st;

	random_save(r, dir);
	for (unsigned int i = 0; i < DAMAGES; i++) {
		snprintf(path, sizeof(path), "%s/%s%u", dir,
			 i % 3 ? "cpu" : "control", random_below(r, RANDOM_CPUS));
		if (stat(path, &st))
			abort();
		trace_flip(path, random_below(r, (uint32_t)st.st_size), 0x10);
		if (i > DAMAGES / 2 && truncate(path, st.st_size - 100))
			abort();
		compare_ways(dir);
	}
	random_free(r);
	trace_remove(dir);
}

/* The caller wants so many events, and no further losses are reported. */
static void test_most(void)
{
	struct random_trace *r = random_new(3, RANDOM_NAMES | RANDOM_LOSSES);
	const char *dir = trace_folder();

	random_save(r, dir);
	for (uint64_t nr = 1; nr < 5000; nr = nr * 2 + 3) {
		const struct way way = { .jobs = 3, .bytes = 500, .most = nr };

		compare_with_one_thread(dir, &way);
		check_equal(other.nr, nr);
	}
	random_free(r);
	trace_remove(dir);
}

/* Without memory, one thread reads the slices that were cut, and what follows. */
static void test_slices_memory(void)
{
	struct random_trace *r = random_new(5, RANDOM_NAMES | RANDOM_LOSSES);
	const char *dir = trace_folder();

	random_save(r, dir);
	for (uint64_t refuse = 1; refuse < REFUSED; refuse += 3) {
		const struct way way = {
			.jobs = 3, .bytes = 300, .most = UINT64_MAX, .refuse = refuse
		};

		compare_with_one_thread(dir, &way);
		check(other.passed > 0, "no event in slices");
	}
	random_free(r);
	trace_remove(dir);
}

/* An error of the work or of taking its results ends the reading, and is returned. */
static void test_slices_errors(void)
{
	static const struct way ways[] = {
		{ .jobs = 3, .bytes = 300, .most = UINT64_MAX, .refuse = 2, .error = -EIO },
		{ .jobs = 3, .bytes = 300, .most = UINT64_MAX, .spoil = 2 },
	};
	struct random_trace *r = random_new(5, 0);
	const char *dir = trace_folder();

	random_save(r, dir);
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		read_in_way(dir, &ways[i], &other);
		check_equal(other.ended, -EIO);
	}
	random_free(r);
	trace_remove(dir);
}

static unsigned int prepared, allowed;

static int prepare_some(void *arg, struct kt_slice *slice)
{
	if (!slice->own && prepared == allowed)
		return -ENOMEM;
	prepared += !slice->own;
	return prepare_seen(arg, slice);
}

static void release_some(void *arg, struct kt_slice *slice)
{
	prepared -= slice->own != NULL;
	release_seen(arg, slice);
}

/*
 * With memory for some slices there are fewer threads; without it, one reads everything.  N
 * threads need 2 N + 4 slices, and half as many threads are tried next.
 */
static void test_fewer(void)
{
	static const struct {
		unsigned int allowed;
		unsigned int jobs;
	} some[] = { { 100, 16 }, { 20, 8 }, { 19, 4 }, { 8, 2 }, { 7, 0 } };
	const struct kt_slices_how how = {
		.jobs = 16,
		.prepare = prepare_some,
		.work = read_slice_lines,
		.take = take_slice_lines,
		.most = most_events_left,
		.release = release_some,
	};
	struct random_trace *r = random_new(9, 0);
	const char *dir = trace_folder();
	struct kt_slices *slices;
	struct ktape_trace *t;

	random_save(r, dir);
	random_free(r);
	if (ktape_trace_open(dir, NULL, &t, NULL))
		abort();
	for (unsigned int i = 0; i < ARRAY_SIZE(some); i++) {
		allowed = some[i].allowed;
		check_equal(kt_slices_new(t, &how, &slices),
			    some[i].jobs ? 0 : -ENOMEM);
		check_equal(slices ? slices->nr_readers : 0, some[i].jobs);
		kt_slices_free(slices);
		check_equal(prepared, 0U);
	}
	ktape_trace_close(t);
	trace_remove(dir);
}

static const struct tap_test tests[] = {
	{ "plain events", test_plain },
	{ "names that change, threads that end", test_slices_names },
	{ "losses, and empty packets", test_slices_losses },
	{ "clocks that step back", test_slices_clock_back },
	{ "bad records", test_bad },
	{ "damaged files", test_slices_damage },
	{ "some of the events", test_most },
	{ "too little memory", test_slices_memory },
	{ "errors of the caller", test_slices_errors },
	{ "fewer threads where there is less memory", test_fewer },
};

int main(int argc, char **argv)
{
	int ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);

	free(plain.lines);
	free(plain.notices);
	free(other.lines);
	free(other.notices);
	return ret;
}
