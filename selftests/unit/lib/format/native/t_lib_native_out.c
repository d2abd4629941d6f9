// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test native traces written by a conversion: the thread of each event when the
 * clock is so coarse that threads switch within one tick.
 *
 * A switch is in the event ring, an exception in the control ring, and of two records with the
 * same time a reader takes the one of the control ring first.  So the writer moves an exception
 * of a thread that came within the tick to the next tick, and what follows is not earlier.
 */
#include <sys/stat.h>

#include "lib_trace.h"

static char dir[400];

/* An event of CPU 0 by thread @tid; a switch goes to @next. */
struct step {
	uint64_t ts;
	int32_t tid;
	uint32_t next; /* or 0: an exception */
	uint64_t read; /* its time when it is read back */
};

static void put_native_step(struct ktape_sink *sink, const struct step *s)
{
	const uint32_t args[] = { s->next ? (uint32_t)s->tid : 0x1234, s->next };
	const struct ktape_event e = {
		.ts = s->ts,
		.known = true,
		.kind = s->next ? KTAPE_RING_EVENT : KTAPE_RING_CONTROL,
		.opcode = s->next ? KTAPE_EV_SCHED_SWITCH : KTAPE_EV_EXCEPTION,
		.tid = s->tid,
		.nargs = s->next ? 2 : 1,
		.args = (const void *)args,
	};
	const char *what;

	check(!ktape_sink_event(sink, &e), "write");
	check(!ktape_sink_missed(sink, 0, &what), "%s", what);
}

/* All events are read back in order, each with its thread. */
static void put_steps(const char *name, const struct step *steps, size_t nr)
{
	struct ktape_sink_options how = { .format = "native", .path = dir };
	struct ktape_registry *names;
	const struct ktape_event *e;
	struct ktape_trace *t;
	struct ktape_sink *s;
	size_t i = 0;

	trace_remove(dir);
	check(!ktape_registry_new(1, &names), "names");
	how.info = &trace_info;
	how.registry = names;
	check(!ktape_sink_open(&how, &s, NULL), "open");
	for (i = 0; i < nr; i++)
		put_native_step(s, &steps[i]);
	check(!ktape_sink_finish(s), "finish");
	ktape_sink_close(s);
	ktape_registry_free(names);
	check(!ktape_trace_open(dir, NULL, &t, NULL), "read");
	for (i = 0; ktape_trace_next(t, &e) > 0;) {
		if (e->opcode == KTAPE_EV_CONTEXT)
			continue;
		check(i < nr && (e->opcode == KTAPE_EV_SCHED_SWITCH) ==
					!!steps[i].next,
		      "%s: %zu is %u", name, i, e->opcode);
		check(e->tid == steps[i].tid, "%s: %zu is of %d", name, i, e->tid);
		check_equal(e->ts, steps[i].read);
		i++;
	}
	check_equal(i, nr);
	ktape_trace_close(t);
}

/* With a coarse clock the current thread changes within one tick. */
static void test_one_tick(void)
{
	static const struct step behind_switch[] = {
		{ 90, 5, 10, 90 },
		{ 100, 10, 20, 100 },
		{ 100, 20, 0, 101 },
		{ 200, 20, 0, 200 },
	};
	static const struct step two[] = {
		{ 90, 5, 10, 90 },   { 100, 10, 0, 100 }, { 100, 20, 0, 101 },
		{ 101, 20, 0, 101 }, { 200, 30, 0, 200 },
	};
	static const struct step alone[] = {
		{ 0, 10, 0, 0 },
		{ 0, 20, 0, 1 },
		{ 0, 20, 0, 1 },
		{ 1, 30, 0, 2 },
	};
	static const struct step many[] = {
		{ 90, 5, 10, 90 },    { 100, 10, 0, 100 }, { 100, 20, 0, 101 },
		{ 100, 20, 30, 101 }, { 100, 30, 0, 102 }, { 100, 30, 10, 102 },
		{ 101, 10, 20, 102 }, { 103, 20, 0, 103 }, { 103, 20, 10, 103 },
	};

	put_steps("behind a switch", behind_switch, ARRAY_SIZE(behind_switch));
	put_steps("two threads", two, ARRAY_SIZE(two));
	put_steps("no event ring", alone, ARRAY_SIZE(alone));
	put_steps("many", many, ARRAY_SIZE(many));
}

/* The bytes of a pipe form are those of its file, with the heads of the metadata packets. */
static void test_pipe_bytes(void)
{
	static const struct step step = { 90, 5, 10, 90 };
	struct ktape_sink_options how = { .format = "native",
					  .options = "form=pipe",
					  .path = dir };
	struct ktape_registry *names;
	struct ktape_sink *s;
	struct stat st;

	trace_remove(dir);
	check(!ktape_registry_new(1, &names), "names");
	how.info = &trace_info;
	how.registry = names;
	check(!ktape_sink_open(&how, &s, NULL), "open");
	put_native_step(s, &step);
	check(!ktape_sink_finish(s), "finish");
	check(!stat(dir, &st), "no file");
	check_equal(ktape_sink_bytes(s), (uint64_t)st.st_size);
	ktape_sink_close(s);
	ktape_registry_free(names);
}

static const struct tap_test tests[] = {
	{ "threads within one tick", test_one_tick },
	{ "bytes of a pipe form", test_pipe_bytes },
};

int main(int argc, char **argv)
{
	const char *folder = trace_folder();
	int status;

	snprintf(dir, sizeof(dir), "%s/trace", folder);
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(folder);
	return status;
}
