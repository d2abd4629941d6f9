// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the format of Tonbandgeraet, a tracer of FreeRTOS, in both directions: the native event for
 * each event, names, losses, and round trips. Streams of the original encoder are read if
 * ../shared/golden has them.
 */
#include "lib_gather.h"
#include "lib_tband.h"
#include "tap.h"

static struct stream stream;

/* ---- events --------------------------------------------------------------------- */

/* The text of the first events of stream_all(), in the order of the stream. */
static const char *const lines[] = {
	"[0.000000000] cpu 0 - user_event: core_id core_id=0",
	"[0.000000000] cpu 0 - user_event: ts_resolution_ns ns_per_ts=1000",
	"[0.000000000] cpu 0 - registry: type=isr dead=0 id=7 param1=1 param2=0x0 born=0 died=0 name=uart",
	"[0.000000000] cpu 0 - registry: type=marker dead=0 id=1 param1=0 param2=0x1 born=0 died=0 name=loop",
	"[0.000000000] cpu 0 - registry: type=value dead=0 id=2 param1=0 param2=0x1 born=0 died=0 name=level",
	"[0.000000000] cpu 0 - registry: type=thread dead=0 id=1 param1=1 param2=0x0 born=0 died=0 name=main",
	"[0.000000000] cpu 0 - registry: type=thread dead=0 id=2 param1=2 param2=0x0 born=0 died=0 name=idle",
	"[0.000000000] cpu 0 - user_event: task_is_idle_task task_id=2 core_id=0",
	"[0.000000000] cpu 0 - user_event: task_is_timer_task task_id=3",
	"[0.000010000] cpu 0 - process_fork: thread=0 parent_tid=0 (swapper) child_tid=1 (main) child_tgid=1 (main)",
	"[0.000011000] cpu 0 - user_event: task_priority_set task_id=1 priority=3",
	"[0.000012000] cpu 0 - sched_switch: prev_prio=120 next_prio=95 prev_state=R+ prev_tid=-1 (?) next_tid=1 (main)",
	"[0.000013000] cpu 0 main-1 user_event: queue_created queue_id=5",
};

static void tband_events(void)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	size_t n = 0, frames_nr = 0;
	int fd, ret;

	stream_all(&stream);
	for (size_t i = 0; i < stream.len; i++)
		frames_nr += !stream.data[i];
	fd = codec_file(path, stream.data, stream.len);
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	check(!strcmp(ktape_trace_format(t), "tband"), "the format is not detected");
	check_equal(ktape_trace_info(t)->freq, 1000000);
	while ((ret = ktape_trace_next(t, &e)) > 0) {
		char *line = codec_line(t, e);
		bool same = n >= ARRAY_SIZE(lines) || !strcmp(line, lines[n]);

		if (!same)
			printf("# %s\n", line);
		free(line);
		check(same, "line %zu", n);
		n++;
	}
	check_equal(ret, 0);
	/* Each frame, which ends with a zero, gave one event. */
	check_equal(n, frames_nr);
	check_equal(reported.lost, 3);
	check_equal(reported.corrupt + reported.truncated + reported.assumed, 0);
	ktape_trace_close(t);
	close(fd);
}

/*
 * Events of cores that are stored one after the other are sorted by time; a core whose own time
 * goes back is an error.
 */
static void order(void)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.flags = KTAPE_TRACE_SORTED,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	uint64_t last = 0;
	unsigned int changes = 0;
	uint32_t cpu = 0;
	int fd, ret;

	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while ((ret = ktape_trace_next(t, &e)) > 0) {
		check(e->ts >= last, "%llu after %llu",
		      (unsigned long long)e->ts, (unsigned long long)last);
		last = e->ts;
		changes += e->cpu != cpu;
		cpu = e->cpu;
	}
	check_equal(ret, 0);
	check(changes >= 4, "%u changes of the core", changes);
	ktape_trace_close(t);
	close(fd);

	/* An interrupt of the last core, earlier than its last event. */
	stream_add(&stream, 4, 44, 7, 0, NULL);
	fd = codec_file(path, stream.data, stream.len);
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while ((ret = ktape_trace_next(t, &e)) > 0)
		;
	check_equal(ret, -EBADMSG);
	check(!strcmp(reported.text,
		      "Trace event time stamps for core 1 are out of order"),
	      "%s", reported.text);
	ktape_trace_close(t);
	close(fd);
}

/* ---- there and back ---------------------------------------------------------------- */

/*
 * Return the line of an event, or NULL if the format creates the event anew: user events 0 to 2
 * are the core, the resolution of time and the number of losses.
 */
static char *keep_tband_line(struct ktape_trace *t, const struct ktape_event *e)
{
	bool user = e->opcode == KTAPE_EV_USER_EVENT;
	uint32_t id = user ? ktape_event_arg(e, 0) & 0xffffff : 3;
	char *line;

	if (id < 3 || e->opcode == KTAPE_TIME_EXTEND)
		return NULL;
	line = codec_line(t, e);
	/* Names have no time and are in one ring for all CPUs. */
	if (e->opcode == KTAPE_EV_REGISTRY)
		memset(line, '.', (size_t)(strstr(line, "registry") - line));
	return line;
}

static void there_and_back(const void *data, size_t len)
{
	char path[CODEC_PATH], native[CODEC_PATH], tband[CODEC_PATH];
	struct codec_reports reported;
	int in, one, two, three;

	in = codec_file(path, data, len);
	one = codec_convert(path, "native", "form=pipe", &reported);
	check(one >= 0, "%d %s", one, reported.text);
	snprintf(native, sizeof(native), "/proc/self/fd/%d", one);
	two = codec_convert(native, "tband", "drop-every=0", &reported);
	check(two >= 0, "%d %s", two, reported.text);
	snprintf(tband, sizeof(tband), "/proc/self/fd/%d", two);
	three = codec_convert(tband, "native", "form=pipe", &reported);
	check(three >= 0, "%d %s", three, reported.text);
	same_events(path, native, keep_tband_line);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", three);
	same_events(native, path, keep_tband_line);
	/* Also in hexadecimal. */
	close(two);
	two = codec_convert(native, "tband", "drop-every=0,format=hex", &reported);
	check(two >= 0, "%d %s", two, reported.text);
	snprintf(tband, sizeof(tband), "/proc/self/fd/%d", two);
	same_events(native, tband, keep_tband_line);
	close(in);
	close(one);
	close(two);
	close(three);
}

static void tband_round_trip(void)
{
	stream_all(&stream);
	there_and_back(stream.data, stream.len);
}

/*
 * Names of markers as the target's macros write them: local ones always with
 * task 0. They are separate from the names of global markers with the same ids.
 *
 * Events: 0 core, 2 ns of a tick, 95 name of a task, 84 switch to one.  Of global markers 6 and 10
 * name a marker and a value, 7 to 9 are a mark, its begin and end, 11 is a value; of local ones
 * these are 122 and 126, 123 to 125, 127.
 */
static void stream_names(struct stream *s)
{
	s->len = 0;
	stream_add(s, 0, 0, 0, 0, NULL);
	stream_add(s, 2, 0, 1000, 0, NULL);
	stream_add(s, 95, 0, 1, 0, "main");
	stream_add(s, 95, 0, 2, 0, "other");
	stream_add(s, 6, 0, 1, 0, "dsp");
	stream_add(s, 122, 0, 1, 0, "proc");
	stream_add(s, 10, 0, 1, 0, "load");
	stream_add(s, 126, 0, 1, 0, "depth");
	stream_add(s, 6, 0, 3, 0, "all");
	stream_add(s, 10, 0, 3, 0, "sum");
	stream_add(s, 122, 0, 1, 2, "named");
	stream_add(s, 122, 0, 5, 0x80000000U, "no thread");
	stream_add(s, 84, 10, 1, 0, NULL);
	stream_add(s, 7, 11, 1, 0, "");
	stream_add(s, 123, 12, 1, 0, "");
	stream_add(s, 124, 13, 1, 0, "");
	stream_add(s, 125, 14, 1, 0, "");
	stream_add(s, 11, 15, 1, 4, NULL);
	stream_add(s, 127, 16, 1, 5, NULL);
	stream_add(s, 123, 17, 3, 0, "");
	stream_add(s, 127, 18, 3, 6, NULL);
	stream_add(s, 84, 19, 2, 0, NULL);
	stream_add(s, 123, 20, 1, 0, "");
	stream_add(s, 8, 21, 1, 0, "");
	stream_add(s, 9, 22, 1, 0, "");
}

static const char *const named[] = {
	"main-1 mark: task=0 id=1 (dsp) message=",
	"main-1 mark: task=1 id=1 (proc) message=",
	"main-1 mark_begin: task=1 id=1 (proc) message=",
	"main-1 mark_end: task=1 id=1 (proc) message=",
	"main-1 mark_value: task=0 id=1 (load) value=4 message=",
	"main-1 mark_value: task=1 id=1 (depth) value=5 message=",
	"main-1 mark: task=1 id=3 message=",
	"main-1 mark_value: task=1 id=3 value=6 message=",
	"other-2 mark: task=1 id=1 (named) message=",
	"other-2 mark_begin: task=0 id=1 (dsp) message=",
	"other-2 mark_end: task=0 id=1 (dsp) message=",
};

/* Check that the trace has exactly these markers. */
static void same_names(const char *path)
{
	struct ktape_trace_options how = { .notice = NULL };
	const struct ktape_event *e;
	struct ktape_trace *t;
	size_t n = 0;

	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		char *line, why[200];
		bool same;

		if (e->opcode < KTAPE_EV_MARK || e->opcode > KTAPE_EV_MARK_VALUE)
			continue;
		line = codec_line(t, e);
		same = n < ARRAY_SIZE(named) && strstr(line, named[n]);
		snprintf(why, sizeof(why), "%s", line);
		free(line);
		check(same, "%s: %zu: %s", path, n, why);
		n++;
	}
	ktape_trace_close(t);
	check_equal(n, ARRAY_SIZE(named));
}

static void tband_names(void)
{
	char path[CODEC_PATH];
	struct codec_reports reported;
	int in, native, back, line;

	stream_names(&stream);
	in = codec_file(path, stream.data, stream.len);
	same_names(path);
	native = codec_convert(path, "native", "form=pipe", &reported);
	check(native >= 0, "%d", native);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", native);
	same_names(path);
	back = codec_convert(path, "tband", "drop-every=0", &reported);
	check(back >= 0, "%d", back);
	line = codec_convert(path, "tband", "check=1", &reported);
	check(line >= 0, "%d", line);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", back);
	same_names(path);
	close(line);
	close(back);
	close(native);
	close(in);
	there_and_back(stream.data, stream.len);
}

/*
 * Names of a kernel's markers apply to thread-local markers too, in a round
 * trip as well.
 */
static void names_of_all(void)
{
	static const uint32_t name[7] = { 1 }, mark[1] = { 1 };
	const struct ktape_event events[] = {
		{ .opcode = KTAPE_EV_REGISTRY,
		  .kind = KTAPE_RING_REGISTRY,
		  .nargs = 7,
		  .args = name,
		  .dat20 = KTAPE_OBJ_MARKER,
		  .blob = "both",
		  .blob_size = 4,
		  .known = true,
		  .tid = -1 },
		{ .opcode = KTAPE_EV_MARK,
		  .nargs = 1,
		  .args = mark,
		  .dat20 = 1,
		  .blob = "",
		  .known = true,
		  .tid = 7,
		  .ts = 5 },
		{ .opcode = KTAPE_EV_MARK,
		  .nargs = 1,
		  .args = mark,
		  .blob = "",
		  .known = true,
		  .tid = 7,
		  .ts = 6 },
	};
	static const struct ktape_info info = { .freq = 1000000 };
	struct ktape_sink_options how = { .format = "tband", .info = &info };
	struct ktape_registry *registry;
	struct ktape_sink *sink;
	const struct ktape_event *e;
	char path[CODEC_PATH];
	struct ktape_trace *t;
	unsigned int marks = 0;
	int fd = codec_file(path, "", 0);

	how.path = path;
	check_equal(ktape_registry_new(info.freq, &registry), 0);
	how.registry = registry;
	check_equal(ktape_sink_open(&how, &sink, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		check_equal(ktape_registry_add(registry, &events[i]), 0);
		check_equal(ktape_sink_event(sink, &events[i]), 0);
	}
	check_equal(ktape_sink_finish(sink), 0);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	check_equal(ktape_trace_open(path, NULL, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		char *line = codec_line(t, e);

		marks += e->opcode == KTAPE_EV_MARK && strstr(line, "id=1 (both)");
		free(line);
	}
	check_equal(marks, 2);
	ktape_trace_close(t);
	close(fd);
}

/*
 * The count of losses is written when it changes and regularly, in the right
 * place.
 */
static void tband_loss_counts(void)
{
	struct codec_reports reported;
	unsigned int counts = 0, zeros = 0, threes = 0;
	char path[CODEC_PATH], *text;
	size_t len;
	int in, out;

	stream_all(&stream);
	in = codec_file(path, stream.data, stream.len);
	out = codec_convert(path, "tband", "drop-every=10", &reported);
	check(out >= 0, "%d", out);
	close(in);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	in = codec_convert(path, "jsonl", NULL, &reported);
	check(in >= 0, "%d", in);
	check_equal(reported.lost, 3);
	text = codec_content(in, &len);
	for (char *p = text; (p = strstr(p, "\"dropped_evt_cnt\"")); p++) {
		char *args = strstr(p, "\"args\":[\"0x");

		counts++;
		zeros += args && args[11] == '0';
		threes += args && args[11] == '3';
	}
	/* One at each change, and one after each ten events. */
	check(counts >= 4 && counts <= 6, "%u", counts);
	check(zeros + threes == counts && zeros && threes, "%u %u", zeros, threes);
	free(text);
	close(in);
	close(out);
}

/* ---- streams of its own encoder -------------------------------------------------------- */

/* Quote the numbers of 64 bits of a line of the original decoder, as the library does. */
static void quote_wide(char *to, size_t size, const char *line)
{
	static const char *const wide[] = { "\"ts\":", "\"val\":", "\"ns_per_ts\":" };

	for (size_t at = 0; *line && at + 64 < size;) {
		size_t key = 0, digits;

		for (size_t i = 0; i < ARRAY_SIZE(wide) && !key; i++)
			if (!strncmp(line, wide[i], strlen(wide[i])))
				key = strlen(wide[i]);
		digits = key ? strspn(line + key, "-0123456789") : 0;
		if (digits)
			at += (size_t)sprintf(to + at, "%.*s\"%.*s\"", (int)key,
					      line, (int)digits, line + key);
		else
			to[at++] = *line;
		line += digits ? key + digits : 1;
		to[at] = '\0';
	}
}

/*
 * Each line of the original decoder equals ktape_trace_source() of one event, except for the
 * quotes of wide numbers.
 */
static void compare_tband_golden(const char *stem)
{
	struct ktape_trace_options how = { .format = "tband" };
	const struct ktape_event *e;
	struct ktape_trace *t;
	char path[256], read[4096], line[8192];
	unsigned int n = 0;
	FILE *want;

	snprintf(path, sizeof(path), GOLDEN "%s.dump.jsonl", stem);
	want = fopen(path, "r");
	check(want, "%s", path);
	snprintf(path, sizeof(path), GOLDEN "%s.bin", stem);
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		size_t len;
		const char *source = ktape_trace_source(t, &len);

		n++;
		check(fgets(read, sizeof(read), want), "%s: line %u", stem, n);
		quote_wide(line, sizeof(line), read);
		check(source && strlen(line) == len + 1 && !memcmp(source, line, len),
		      "%s: line %u: %s", stem, n, line);
	}
	check(n && !fgets(read, sizeof(read), want), "%s: more than %u lines",
	      stem, n);
	ktape_trace_close(t);
	fclose(want);
}

static const char *const stems[] = {
	"tband_stream_bare",
	"tband_stream_edge_ts",
	"tband_snapshot_bare",
	"tband_snapshot_full_200b",
};

static void tband_golden(void)
{
	if (!has_golden())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stems); i++)
		compare_tband_golden(stems[i]);
}

static void tband_golden_back(void)
{
	struct codec_reports reported;
	char path[256], *data;
	size_t len;
	int fd;

	if (!has_golden())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stems); i++) {
		snprintf(path, sizeof(path), GOLDEN "%s.bin", stems[i]);
		/* Its times go back: a conversion, which sorts, refuses that. */
		if (strstr(stems[i], "edge_ts")) {
			check_equal(codec_convert(path, "tband", NULL, &reported),
				    -EBADMSG);
			check(strstr(reported.text, "out of order"), "%s",
			      reported.text);
			continue;
		}
		fd = open(path, O_RDONLY);
		check(fd >= 0, "%s", path);
		data = codec_content(fd, &len);
		there_and_back(data, len);
		free(data);
		close(fd);
	}
}

static const struct tap_test tests[] = {
	{ "native events of all events", tband_events },
	{ "order of cores", order },
	{ "round trip", tband_round_trip },
	{ "names of global and of local markers", tband_names },
	{ "names for global and local markers", names_of_all },
	{ "losses", tband_loss_counts },
	{ "output of its own decoder", tband_golden },
	{ "round trip of its own streams", tband_golden_back },
};

static int write_tband_seeds(const char *dir)
{
	/* For fuzz_codec.c: detected, or tband by name (1), sorted (0x10), into other formats. */
	static const unsigned char first[] = { 0, 1, 0x11, 0x31, 0x51 };
	int err = 0;

	stream_all(&stream);
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		err |= write_seed(dir, "tband", first[i], stream.data, stream.len);
	return err;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return write_tband_seeds(argv[2]);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
