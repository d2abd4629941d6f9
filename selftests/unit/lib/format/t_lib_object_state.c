// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test names and states of open things in converted traces: the owner of a
 * mutex, the length of a queue, the name that a slice had when it began, the thread
 * whose markers a name is for; and that neither memory nor output grows without limit.
 * Also that no format cuts what user events have.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "lib_tband.h"
#include "lib_tracks.h"

#define OWN  1 /* in dat20: the marker is local to the thread */
#define MANY 5000
#define KEPT 4096 /* objects whose states a sink keeps */

/* ---- writing -------------------------------------------------------------- */

/* List what a format could not hold, one "WHAT: COUNT" per line. */
static char missed[1024];

static void note_misses(const struct ktape_sink *sink)
{
	const char *what;
	uint64_t count;
	size_t len = 0;

	*missed = 0;
	for (unsigned int i = 0; (count = ktape_sink_missed(sink, i, &what)); i++)
		len += (size_t)snprintf(missed + len, sizeof(missed) - len,
					"%s: %llu\n", what,
					(unsigned long long)count);
}

/* Write events, some of them names, in order. */
static void write_object_events(const char *format, const char *path,
				const struct scene_event *events, size_t nr)
{
	struct ktape_sink_options how = {
		.format = format,
		.path = path,
		.info = &scene_info,
	};
	struct ktape_registry *registry;
	struct ktape_sink *sink;

	if (ktape_registry_new(scene_info.freq, &registry))
		abort();
	how.registry = registry;
	if (ktape_sink_open(&how, &sink, NULL))
		abort();
	for (size_t i = 0; i < nr; i++) {
		const struct scene_event *m = &events[i];
		const struct ktape_event e = {
			.ts = m->ts,
			.cpu = m->cpu,
			.tid = m->tid,
			.opcode = m->opcode,
			.nargs = m->nargs,
			.args = m->args,
			.dat20 = m->dat20,
			.known = true,
			.blob = m->blob,
			.blob_size = m->blob_size,
			.size = 512,
			.kind = m->opcode == KTAPE_EV_REGISTRY ? KTAPE_RING_REGISTRY :
								 0,
		};

		if (m->opcode == KTAPE_EV_REGISTRY &&
		    ktape_registry_add(registry, &e))
			abort();
		if (ktape_sink_event(sink, &e))
			abort();
	}
	if (ktape_sink_finish(sink))
		abort();
	note_misses(sink);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
}

static char *played(const char *format, const struct scene_event *events,
		    size_t nr, size_t *len)
{
	char path[CODEC_PATH], *text;
	int fd = codec_file(path, "", 0);

	write_object_events(format, path, events, nr);
	text = codec_content(fd, len);
	close(fd);
	return text;
}

/* Return the lines with a text, and their number; to be freed. */
static char *grep(const char *text, const char *what, size_t *nr)
{
	char *found = NULL;
	size_t len;
	FILE *out = open_memstream(&found, &len);

	*nr = 0;
	while (*text) {
		int n = (int)strcspn(text, "\n");
		const char *at = strstr(text, what);

		if (at && at < text + n) {
			fprintf(out, "%.*s\n", n, text);
			++*nr;
		}
		text += n + (text[n] != 0);
	}
	fclose(out);
	return found;
}

static char *states_of(const struct scene_event *events, size_t nr, size_t *n)
{
	size_t len;
	char *data = played("perfetto", events, nr, &len);
	char *lines = proto_lines(data, len), *states = grep(lines, " State", n);

	free(lines);
	free(data);
	return states;
}

#define NAME(ts, type, id, text)                                             \
	{                                                                    \
		(ts), 0, -1, KTAPE_EV_REGISTRY, 7, (type), { (id) }, (text), \
			sizeof(text) - 1                                     \
	}
#define TBAND(ts, event, first, second)                                         \
	{                                                                       \
		(ts), 0, 1, KTAPE_EV_USER_EVENT, 3, 0,                          \
			{ KTAPE_FORMAT_ID_TBAND | (event), (first), (second) }, \
			"", 0                                                   \
	}
/* Tonbandgeraet's events queue_send and queue_kind, and its kinds of queues. */
#define QUEUE	       (KTAPE_OBJ_USER + KTAPE_USER_QUEUE)
#define SENT	       102
#define KIND	       101
#define KIND_QUEUE     0
#define KIND_MUTEX     3
#define KIND_RECURSIVE 4

/* ---- mutexes of ThreadX --------------------------------------------------- */

#define A   0x80001000U /* threads */
#define B   0x80002000U
#define C   0x3000U
#define D   0x4000U
#define M   0x500U /* the mutex */
#define ISR 0xffffffffU
#define TRACEX(ts, thread, id, w2, w3, w4)               \
	{                                                \
		(ts), 0, 1, KTAPE_EV_USER_EVENT, 7, 0,   \
			{ KTAPE_FORMAT_ID_TRACEX | (id), \
			  M,                             \
			  (w2),                          \
			  (w3),                          \
			  (w4),                          \
			  (thread),                      \
			  0 },                           \
			"", 0                            \
	}
/* Numbers of ThreadX's events: 52 is mutex_get, 57 mutex_put. */
#define GET(ts, thread, wait, owner, times) \
	TRACEX(ts, thread, 52, wait, owner, times)
#define PUT(ts, thread, owner, times) TRACEX(ts, thread, 57, owner, times, 0)

#define Q 0x600U /* the queue */
#define S 0x700U /* the semaphore */
#define CALL(ts, object, thread, id, w2, w3, w4)         \
	{                                                \
		(ts), 0, 1, KTAPE_EV_USER_EVENT, 7, 0,   \
			{ KTAPE_FORMAT_ID_TRACEX | (id), \
			  object,                        \
			  (w2),                          \
			  (w3),                          \
			  (w4),                          \
			  (thread),                      \
			  0 },                           \
			"", 0                            \
	}
/* 69 is queue_send, 63 queue_front_send, 68 queue_receive, 83 semaphore_get, 88 semaphore_put. */
#define SEND(ts, thread, wait, before)	CALL(ts, Q, thread, 69, 1, wait, before)
#define FRONT(ts, thread, wait, before) CALL(ts, Q, thread, 63, 1, wait, before)
#define RECEIVE(ts, thread, wait, before) \
	CALL(ts, Q, thread, 68, 1, wait, before)
#define S_GET(ts, thread, wait, before) CALL(ts, S, thread, 83, wait, before, 0)
#define S_PUT(ts, thread, before, waited) \
	CALL(ts, S, thread, 88, before, waited, 0)

/* ThreadX traces a call when it begins: what a queue has is known from the call on. */
static void queue_lengths(void)
{
	static const struct scene_event events[] = {
		SEND(10, A, 0, 2),	      /* the buffer begins here: 3 */
		RECEIVE(20, B, 0, 3),	      /* 2 */
		RECEIVE(30, B, 0, 2),	      /* 1 */
		RECEIVE(40, B, 0, 1),	      /* 0 */
		RECEIVE(50, B, 0, 0),	      /* fails */
		RECEIVE(60, B, 100, 0),	      /* waits */
		RECEIVE(65, B, 100, 0),	      /* again: B still is one thread */
		SEND(70, A, 0, 0),	      /* goes to B: 0 */
		FRONT(80, A, 0, 0),	      /* 1 */
		SEND(90, ISR, 0, 1),	      /* 2 */
		CALL(100, Q, A, 62, 0, 0, 0), /* queue_flush: 0 */
		CALL(110, Q, A, 60, 2, 0, 16), /* queue_create: 2 messages of 2 words */
		SEND(120, A, 0, 0),
		SEND(130, A, 0, 1),
		SEND(140, A, 0, 2),    /* is full: fails */
		SEND(150, A, 100, 2),  /* waits */
		RECEIVE(160, B, 0, 2), /* gets one, and A's is put: 2 */
		RECEIVE(170, B, 0, 2), /* 1 */
	};
	size_t nr;
	char *states = states_of(events, ARRAY_SIZE(events), &nr);

#define IS(number) "value Queue 0x600 State: " #number "\n"
	same_text(states,
		  IS(3) IS(2) IS(1) IS(0) IS(0) IS(0) IS(0) IS(0) IS(1) IS(2)
			  IS(0) IS(0) IS(1) IS(2) IS(2) IS(2) IS(2) IS(1));
#undef IS
	free(states);
}

/* No event says how long a queue may be: it was full if a send has added nothing. */
static void unknown_queue_capacity(void)
{
	static const struct scene_event events[] = {
		SEND(10, A, 100, 3), /* 4, as far as is known */
		SEND(20, C, 0, 3),   /* it was not: 3 is all */
		SEND(30, A, 100, 3),
		RECEIVE(40, B, 0, 3), /* A's is put: 3 */
		RECEIVE(50, B, 0, 3), /* 2 */
		SEND(60, A, 0, 2),
		SEND(70, A, 0, 4), /* events are missing, and it is longer */
	};
	size_t nr;
	char *states = states_of(events, ARRAY_SIZE(events), &nr);

#define IS(number) "value Queue 0x600 State: " #number "\n"
	same_text(states, IS(4) IS(3) IS(3) IS(3) IS(2) IS(3) IS(5));
#undef IS
	free(states);
}

static void semaphore_counts(void)
{
	static const struct scene_event events[] = {
		CALL(10, S, A, 81, 1, 0, 0), /* semaphore_create */
		S_GET(20, B, 100, 1),	     /* 0 */
		S_GET(30, C, 100, 0),	     /* waits */
		S_PUT(40, A, 0, 1),	     /* C gets it: 0 */
		S_PUT(50, A, 0, 0),	     /* 1 */
		S_PUT(60, A, 1, 0),	     /* 2 */
		CALL(70, S, A, 80, 2, 0, 2), /* semaphore_ceiling_put: fails */
		CALL(80, S, A, 80, 2, 0, 3), /* 3 */
		S_PUT(90, A, 3, 0),	     /* no ceiling: 4 */
	};
	size_t nr;
	char *states = states_of(events, ARRAY_SIZE(events), &nr);

#define IS(number) "value Semaphore 0x700 State: " #number "\n"
	same_text(states, IS(1) IS(0) IS(0) IS(0) IS(1) IS(2) IS(2) IS(3) IS(4));
#undef IS
	free(states);
}

/* A buffer begins anywhere: the events show the owner. */
static void mutex_holders(void)
{
	static const struct scene_event events[] = {
		NAME(0, KTAPE_OBJ_USER + KTAPE_USER_THREAD, A, "alpha"),
		GET(10, B, 100, A, 1), /* alpha owned it before */
		GET(20, C, 100, A, 1),
		GET(25, C, 100, A, 1),
		PUT(30, A, A, 2),
		PUT(40, A, A, 1), /* B waited first */
		PUT(50, D, B, 1), /* fails */
		PUT(60, B, B, 1), /* C is one of those that waited */
		PUT(70, C, C, 1),
		PUT(80, C, 0, 0), /* fails */
		GET(90, B, 0, 0, 0),
		GET(100, D, 0, C, 1), /* a thread was not seen */
		GET(110, C, 100, C, 1),
		PUT(120, C, C, 1),
		GET(130, ISR, 0, 0, 0),
	};
	size_t nr;
	char *states = states_of(events, ARRAY_SIZE(events), &nr);

	same_text(states, "begin Mutex 0x500 State: Taken by Thread alpha (0x80001000)\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Taken by Thread 0x80002000\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Taken\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Taken\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Taken by Thread 0x80002000\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Taken by Thread 0x3000\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Available\n"
			  "end Mutex 0x500 State\n"
			  "begin Mutex 0x500 State: Taken\n");
	free(states);
}

/* ---- memory --------------------------------------------------------------- */

static struct scene_event many[3 * MANY];

static void set_many(size_t *nr, unsigned int event, uint32_t second)
{
	for (uint32_t id = 1; id <= MANY; id++)
		many[(*nr)++] = (struct scene_event)TBAND(*nr, event, id, second);
}

/*
 * Perfetto gets tracks for the states of KEPT objects only, because viewers do not take any number
 * of them.  In Chrome's JSON a counter takes no memory, so all objects have one; a mutex does, and
 * one beyond KEPT stays a counter.
 */
static void states_bounded(void)
{
	size_t nr = 0, found, len;
	char *text;

	set_many(&nr, SENT, 1);
	text = states_of(many, nr, &found);
	check_equal(found, KEPT);
	check(!strcmp(missed, "states of objects beyond 4096: 904\n"), "%s", missed);
	free(text);
	set_many(&nr, KIND, KIND_MUTEX);
	many[nr] = (struct scene_event)TBAND(nr, SENT, 2, 0);
	nr++;
	many[nr] = (struct scene_event)TBAND(nr, SENT, MANY, 0);
	nr++;
	text = played("chrome", many, nr, &len);
	/* The last mutex, whose state is not kept, is a counter still. */
	free(grep(text, "\"ph\":\"C\"", &found));
	check_equal(found, MANY + 1);
	check(strstr(text, "\"Mutex #2 State\"") &&
		      !strstr(text, "\"Mutex #5000 State\""),
	      "other mutexes than the first ones are kept");
	check(!strcmp(missed, "states of objects beyond 4096: 904\n"), "%s", missed);
	free(text);
}

/* ---- names of what is open ------------------------------------------------ */

/* Return phase and name of the begins and ends of Chrome's slices, a line each; to be freed. */
static char *ends_of(const char *text, const char *category)
{
	char *ends = NULL;
	size_t len;
	FILE *out = open_memstream(&ends, &len);

	for (; (text = strstr(text, "{\"ph\":\"")); text++) {
		const char *name = strstr(text, "\"name\":\"") + 8;
		const char *cat = strstr(text, "\"cat\":\"");
		char phase = text[7];

		if ((phase == 'b' || phase == 'e') && cat &&
		    !strncmp(cat + 7, category, strlen(category)))
			fprintf(out, "%c %.*s\n", phase,
				(int)strcspn(name, "\""), name);
	}
	fclose(out);
	return ends;
}

/* A slice ends with the name that it had when it began; local and global ones are apart. */
static void marker_slices(void)
{
	static const struct scene_event events[] = {
		{ 10, 0, 100, KTAPE_EV_MARK_BEGIN, 1, OWN, { 77 }, "", 0 },
		{ 11, 0, 100, KTAPE_EV_MARK_BEGIN, 1, 0, { 77 }, "", 0 },
		NAME(20, KTAPE_OBJ_MARKER, 77, "frame"),
		{ 30, 0, 100, KTAPE_EV_MARK_BEGIN, 1, OWN, { 77 }, "", 0 },
		{ 40, 0, 100, KTAPE_EV_MARK_END, 1, OWN, { 77 }, "", 0 },
		{ 50, 0, 100, KTAPE_EV_MARK_END, 1, OWN, { 77 }, "", 0 },
		{ 51, 0, 101, KTAPE_EV_MARK_END, 1, 0, { 77 }, "", 0 },
		{ 60, 0, 100, KTAPE_EV_MARK_BEGIN, 1, OWN, { 77 }, "", 0 },
		{ 70, 0, 100, KTAPE_EV_MARK_END, 1, OWN, { 77 }, "", 0 },
		{ 80, 0, 100, KTAPE_EV_MARK_BEGIN, 1, OWN, { 78 }, "", 0 },
	};
	size_t len;
	char *text = played("chrome", events, ARRAY_SIZE(events), &len);
	char *ends = ends_of(text, "mark");

	same_text(ends, "b marker 77\n"
			"b marker 77\n"
			"b marker 77\n"
			"e marker 77\n"
			"e marker 77\n"
			"e marker 77\n"
			"b frame\n"
			"e frame\n"
			"b marker 78\n");
	free(ends);
	free(text);
}

static const struct scene_event renamed[] = {
	TBAND(10, KIND, 5, KIND_MUTEX),	    TBAND(20, SENT, 5, 1),
	NAME(30, QUEUE, 5, "mail"),	    TBAND(40, SENT, 5, 0),
	TBAND(50, KIND, 5, KIND_RECURSIVE), TBAND(60, SENT, 5, 1),
	TBAND(70, KIND, 5, KIND_QUEUE),	    TBAND(80, SENT, 5, 3),
	TBAND(90, KIND, 5, KIND_MUTEX),	    TBAND(100, SENT, 5, 1),
};

/* Chrome's slices have the name of their begin; a track of Perfetto keeps its first name. */
static void state_slices(void)
{
	size_t len;
	char *text = played("chrome", renamed, ARRAY_SIZE(renamed), &len);
	char *ends = ends_of(text, "state");

	same_text(ends, "b Mutex #5 State\n"
			"e Mutex #5 State\n"
			"b Mutex mail (#5) State\n"
			"e Mutex mail (#5) State\n"
			"b Recursive Mutex mail (#5) State\n"
			"e Recursive Mutex mail (#5) State\n"
			"b Mutex mail (#5) State\n");
	free(ends);
	free(text);
	text = states_of(renamed, ARRAY_SIZE(renamed), &len);
	same_text(text, "begin Mutex #5 State: Available\n"
			"end Mutex #5 State\n"
			"begin Mutex #5 State: Taken by Task #1\n"
			"end Mutex #5 State\n"
			"begin Mutex #5 State: Available\n"
			"end Mutex #5 State\n"
			"value Queue mail (#5) State: 3\n"
			"begin Mutex #5 State: Available\n");
	free(text);
}

/* Thread-local values of two threads of a process are two counters. */
static void own_values(void)
{
	static const struct scene_event events[] = {
		{ 10, 0, 100, KTAPE_EV_MARK_VALUE, 3, OWN, { 9, 7 }, "", 0 },
		{ 20, 0, 101, KTAPE_EV_MARK_VALUE, 3, OWN, { 9, 8 }, "", 0 },
		{ 30, 0, 101, KTAPE_EV_MARK_VALUE, 3, 0, { 9, 9 }, "", 0 },
	};
	static const char *const lines[] = {
		"\"name\":\"value 9\",\"id\":100,\"args\":{\"value\":7}}",
		"\"name\":\"value 9\",\"id\":101,\"args\":{\"value\":8}}",
		"\"name\":\"value 9\",\"args\":{\"value\":9}}",
	};
	size_t len;
	char *text = played("chrome", events, ARRAY_SIZE(events), &len);

	check_has_lines(text, lines, ARRAY_SIZE(lines));
	free(text);
}

/*
 * A tid that is reused: EXIT has ended the first thread, and its task is freed late.  That must not
 * end the system call of the second thread.
 */
static void late_free(void)
{
	static const struct scene_event events[] = {
		{ 10, 0, 100, KTAPE_EV_PROCESS_EXIT, 3, 120, { 100, 100, 0 }, NULL, 0 },
		{ 20, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
		{ 30, 1, 7, KTAPE_EV_PROCESS_FREE, 2, 120, { 100, 100 }, NULL, 0 },
	};
	size_t len, nr;
	char *text = played("chrome", events, ARRAY_SIZE(events), &len);

	free(grep(text, "\"ph\":\"E\"", &nr));
	check_equal(nr, 0);
	free(grep(text, "\"ph\":\"i\"", &nr));
	check_equal(nr, 2);
	free(text);
}

/* ---- names through RKH ---------------------------------------------------- */

/* A marker or a value, its owner and its name; ends of names apart. */
static char *keep_owner_name(struct ktape_trace *t, const struct ktape_event *e)
{
	const bool value = e->opcode == KTAPE_EV_MARK_VALUE;
	const struct ktape_object_info *o;
	uint32_t id = ktape_event_arg(e, 0);
	char *line;

	if (e->opcode < KTAPE_EV_MARK || e->opcode > KTAPE_EV_MARK_VALUE)
		return NULL;
	o = ktape_registry_meant(ktape_trace_registry(t), e,
				 value ? KTAPE_OBJ_VALUE : KTAPE_OBJ_MARKER, id);
	if (asprintf(&line, "%u %s %u: %s", e->opcode,
		     e->dat20 & 1 ? "own" : "global", id, o ? o->name : "none") < 0)
		abort();
	return line;
}

static struct stream stream;

/*
 * Names of every task's local markers, of one task's local markers and of
 * global markers are separate.
 *
 * Tonbandgeraet's events: 0 core, 2 ns of a tick, 95 name of a task, 84 switch to it; 6 and 10
 * name a global marker and value, 122 and 126 local ones; 7 and 123 are such marks, 11 and 127
 * such values.
 */
static void names_through_rkh(void)
{
	char path[CODEC_PATH], rkh[CODEC_PATH];
	struct codec_reports reported;
	int in, out;

	stream.len = 0;
	stream_add(&stream, 0, 0, 0, 0, NULL);
	stream_add(&stream, 2, 0, 1000000, 0, NULL);
	stream_add(&stream, 95, 0, 7, 0, "main");
	stream_add(&stream, 122, 0, 5, 0, "all tasks'");
	stream_add(&stream, 6, 0, 5, 0, "global");
	stream_add(&stream, 126, 0, 5, 0, "all tasks' value");
	stream_add(&stream, 10, 0, 5, 0, "global value");
	stream_add(&stream, 122, 0, 6, 7, "main's");
	stream_add(&stream, 6, 0, 8, 0, "global only");
	stream_add(&stream, 84, 1, 7, 0, NULL);
	for (unsigned int id = 5; id <= 8; id++) {
		stream_add(&stream, 7, id * 4 + 0, id, 0, "");
		stream_add(&stream, 123, id * 4 + 1, id, 0, "");
		stream_add(&stream, 11, id * 4 + 2, id, 1, NULL);
		stream_add(&stream, 127, id * 4 + 3, id, 1, NULL);
	}
	in = codec_file(path, stream.data, stream.len);
	out = codec_convert(path, "rkh", NULL, &reported);
	check(out >= 0, "%d %s", out, reported.text);
	snprintf(rkh, sizeof(rkh), "/proc/self/fd/%d", out);
	check_equal(same_events(path, rkh, keep_owner_name), 16);
	close(in);
	close(out);
}

/* ---- user events ---------------------------------------------------------- */

/* Return the metadata of a trace in LTTng's format, to be freed. */
static char *metadata_of(const struct scene_event *events, size_t nr)
{
	char dir[] = "/tmp/ktape-told.XXXXXX", path[64], *text = NULL;
	size_t len;
	FILE *f, *out = open_memstream(&text, &len);
	int c;

	if (!mkdtemp(dir))
		abort();
	write_object_events("lttng", dir, events, nr);
	snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "r");
	while (f && (c = fgetc(f)) != EOF)
		fputc(c, out);
	if (f)
		fclose(f);
	fclose(out);
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	if (system(path))
		abort();
	return text;
}

/* A renamed event is a different event from then on. */
static void renamed_event(void)
{
	static const struct scene_event events[] = {
		NAME(10, KTAPE_OBJ_USER_EVENT, 3, "first"),
		{ 20, 0, 1, KTAPE_EV_USER_EVENT, 2, 0, { 3, 1 }, "", 0 },
		NAME(30, KTAPE_OBJ_USER_EVENT, 3, "second"),
		{ 40, 0, 1, KTAPE_EV_USER_EVENT, 2, 0, { 3, 1 }, "", 0 },
		{ 50, 0, 1, KTAPE_EV_USER_EVENT, 2, 0, { 3, 1 }, "", 0 },
	};
	char *text = metadata_of(events, ARRAY_SIZE(events)), *names;
	size_t nr;

	names = grep(text, "\"user_", &nr);
	check_equal(nr, 2);
	check(strstr(names, "user_first") && strstr(names, "user_second"), "%s",
	      names);
	free(names);
	free(text);
}

#define BYTES 20 /* arguments of one byte */
#define TEXT  300

/* No format cuts the arguments of a user event: neither many nor a long one. */
static void long_arguments(void)
{
	static const uint8_t byte[] = { KTAPE_FORMAT_U8, 7 };
	char blob[BYTES * sizeof(byte) + TEXT + 2];
	const struct scene_event all[] = {
		NAME(10, KTAPE_OBJ_USER_EVENT, 3, "long"),
		{ 20, 0, 1, KTAPE_EV_USER_EVENT, 5, 0, { 3, 1, 2, 3, 4 }, blob, sizeof(blob) },
	};
	char *text;
	size_t len;

	for (unsigned int i = 0; i < BYTES; i++)
		memcpy(blob + i * sizeof(byte), byte, sizeof(byte));
	memset(blob + BYTES * sizeof(byte), 'x', TEXT + 1);
	blob[BYTES * sizeof(byte)] = KTAPE_FORMAT_STRING;
	blob[sizeof(blob) - 1] = 0;
	text = played("chrome", all, ARRAY_SIZE(all), &len);
	check(!*missed, "chrome: %s", missed);
	check(strstr(text, "\"arg25\":\"x"), "the last argument is missing");
	free(text);
	free(played("perfetto", all, ARRAY_SIZE(all), &len));
	check(!*missed, "perfetto: %s", missed);
	text = metadata_of(all, ARRAY_SIZE(all));
	check(!*missed, "lttng: %s", missed);
	check(strstr(text, "string _arg25;"), "the last argument is missing");
	free(text);
}

static const struct tap_test tests[] = {
	{ "owner of a ThreadX mutex", mutex_holders },
	{ "length of a ThreadX queue", queue_lengths },
	{ "a ThreadX queue of unknown capacity", unknown_queue_capacity },
	{ "count of a ThreadX semaphore", semaphore_counts },
	{ "memory for states is bounded", states_bounded },
	{ "a marker is named while it is open", marker_slices },
	{ "a mutex changes name and kind while it is open", state_slices },
	{ "local values of two threads in Chrome's JSON", own_values },
	{ "a process is freed after its pid was reused", late_free },
	{ "a user event is renamed in CTF", renamed_event },
	{ "names of local and of global markers through RKH", names_through_rkh },
	{ "many arguments, and a long one", long_arguments },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
