// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what viewers show besides the kernel's events: tracks of markers,
 * interrupt routines, exceptions, and events and objects of real-time systems.
 */
#include <ktape/formats.h>

#include "lib_babeltrace.h"
#include "lib_gather.h"
#include "lib_proto.h"
#include "lib_scene.h"
#include "lib_tband.h"
#include "lib_tracks.h"

/* ---- names ---------------------------------------------------------------- */

#define OWN 1 /* in dat20: the marker is local to the thread */

static const struct given marker_names[] = {
	{ KTAPE_OBJ_THREAD, 100, 100, 0, "app" },
	{ KTAPE_OBJ_ISR, 3, 0, 0, "every CPU's" },
	{ KTAPE_OBJ_ISR, 4, 0, 0, "of all" },
	{ KTAPE_OBJ_ISR, 4, 2, 0, "of CPU 1" },
	{ KTAPE_OBJ_MARKER, 1, 0, KTAPE_NAME_GLOBAL, "global" },
	{ KTAPE_OBJ_MARKER, 1, 100, 0, "own" },
	{ KTAPE_OBJ_MARKER, 2, 0, 0, "both" },
	{ KTAPE_OBJ_VALUE, 9, KTAPE_OWNER_ANY, 0, "depth" },
	{ KTAPE_OBJ_EXCEPTION, 0x1234, 0, 0, "disk" },
};

static const struct scene_event marker_events[] = {
	{ 100, 0, 100, KTAPE_EV_ISR_ENTER, 1, 0, { 3 }, NULL, 0 },
	{ 110, 0, 100, KTAPE_EV_ISR_EXIT, 1, 0, { 3 }, NULL, 0 },
	{ 120, 0, 100, KTAPE_EV_ISR_ENTER, 1, 0, { 4 }, NULL, 0 },
	{ 130, 0, 100, KTAPE_EV_ISR_EXIT, 1, 0, { 4 }, NULL, 0 },
	{ 140, 1, 100, KTAPE_EV_ISR_ENTER, 1, 0, { 4 }, NULL, 0 },
	{ 150, 1, 100, KTAPE_EV_ISR_EXIT, 1, 0, { 4 }, NULL, 0 },
	{ 160, 0, 100, KTAPE_EV_MARK, 1, 0, { 1 }, "", 0 },
	{ 170, 0, 100, KTAPE_EV_MARK, 1, OWN, { 1 }, "", 0 },
	{ 180, 0, 101, KTAPE_EV_MARK, 1, OWN, { 1 }, "", 0 },
	{ 190, 0, 100, KTAPE_EV_MARK, 1, OWN, { 2 }, "", 0 },
	{ 200, 0, 100, KTAPE_EV_MARK_VALUE, 3, OWN, { 9, 7 }, "", 0 },
	{ 210, 0, 101, KTAPE_EV_MARK_VALUE, 3, OWN, { 9, 8 }, "", 0 },
	{ 220, 0, 100, KTAPE_EV_EXCEPTION, 1, KTAPE_HW_SEVERITY1, { 0x1234 << 8 | 2 }, "", 0 },
	{ 230, 0, 100, KTAPE_EV_EXCEPTION, 1, KTAPE_SW_SEVERITY2, { 0xabcd << 8 | 3 }, "", 0 },
	{ 240, 0, 100, KTAPE_EV_EXCEPTION, 1, KTAPE_SW_SEVERITY3, { 0xffff0001 }, "", 0 },
};

/* The names that ktape dump prints. */
static void dumped_track_names(void)
{
	char *lines = tracks_of(marker_names, ARRAY_SIZE(marker_names),
				marker_events, ARRAY_SIZE(marker_events));

	same_text(lines, "begin Interrupt routines CPU 0: every CPU's\n"
			 "end Interrupt routines CPU 0\n"
			 "begin Interrupt routines CPU 0: of all\n"
			 "end Interrupt routines CPU 0\n"
			 "begin Interrupt routines CPU 1: of CPU 1\n"
			 "end Interrupt routines CPU 1\n"
			 "instant global: global\n"
			 "instant own: own\n"
			 "instant marker 1: marker 1\n"
			 "instant both: both\n"
			 "value depth, app (100): 7\n"
			 "value depth, thread 101: 8\n"
			 "instant Exceptions: disk.2 HW1\n"
			 "instant Exceptions: 0xabcd.3 SW2\n"
			 "instant Exceptions: kernel.1 SW3\n");
	free(lines);
}

/* ---- Chrome's slices ------------------------------------------------------ */

#define SYS_EXIT_GROUP 231

/* Both ends of a slice have the same name, and no slice outlives its thread. */
static void track_slices(void)
{
	static const struct scene_event events[] = {
		{ 1000, 0, 100, KTAPE_EV_MARK_BEGIN, 1, 0, { 77 }, "", 0 },
		{ 2000, 0, 100, KTAPE_EV_MARK_END, 1, 0, { 77 }, "", 0 },
		{ 3000, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_EXIT_GROUP, { 0 }, NULL, 0 },
		{ 4000, 0, 100, KTAPE_EV_PROCESS_EXIT, 3, 120, { 100, 100, 0 }, NULL, 0 },
		{ 4100, 1, 101, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
		{ 5000, 1, 101, SWITCH(101, 0, KTAPE_STATE_X), NULL, 0 },
		{ 6000, 1, 7, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
		{ 7000, 1, 7, SWITCH(7, 0, KTAPE_STATE_S), NULL, 0 },
	};
	static const char *const lines[] = {
		"{\"ph\":\"b\",\"pid\":100,\"tid\":100,\"ts\":1.000,\"name\":\"marker 77\",",
		"{\"ph\":\"e\",\"pid\":100,\"tid\":100,\"ts\":2.000,\"name\":\"marker 77\",",
		"{\"ph\":\"E\",\"pid\":100,\"tid\":100,\"ts\":4.000}",
		"{\"ph\":\"E\",\"pid\":101,\"tid\":101,\"ts\":5.000}",
	};
	size_t len;
	char *text = tracks_text("chrome", marker_names, ARRAY_SIZE(marker_names),
				 events, ARRAY_SIZE(events), &len);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		check(strstr(text, lines[i]), "there is no %s", lines[i]);
	check(!strstr(text, "{\"ph\":\"E\",\"pid\":7,"),
	      "a sleeping thread continues its call");
	free(text);
}

/* ---- real-time systems --------------------------------------------------- */

static struct stream stream;

/*
 * The stream that t_lib_tband.c describes. The states are those that
 * Tonbandgeraet's own converter shows: the length after an event, the owner of
 * a mutex.
 */
static void tband_tracks(void)
{
	char path[CODEC_PATH], *lines;
	int fd;

	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	lines = tracks_of_file(path);
	close(fd);
	same_text(
		lines,
		"instant Events CPU 0: core_id core_id=0\n"
		"instant Events CPU 0: ts_resolution_ns ns_per_ts=1000\n"
		"instant Events CPU 0: task_is_idle_task task_id=2 task_id_name=idle core_id=0\n"
		"instant Events CPU 0: task_is_timer_task task_id=3\n"
		"instant Events CPU 1: core_id core_id=1\n"
		"instant Events CPU 0: task_priority_set task_id=1 task_id_name=main priority=3\n"
		"value Task main (#1) Priority: 3\n"
		"instant Events: queue_created queue_id=5 queue_id_name=mail\n"
		"instant Events: queue_kind queue_id=5 queue_id_name=mail kind=FrqkMutex\n"
		"instant Events: queue_send queue_id=5 queue_id_name=mail len_after=1\n"
		"begin Mutex mail (#5) State: Available\n"
		"instant Events: queue_send_from_isr queue_id=5 queue_id_name=mail len_after=2\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Available\n"
		"begin Interrupt routines CPU 1: timer\n"
		"instant Events: queue_overwrite queue_id=5 queue_id_name=mail len_after=2\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Available\n"
		"instant Events: queue_overwrite_from_isr queue_id=5 queue_id_name=mail len_after=2\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Available\n"
		"instant Events: queue_receive queue_id=5 queue_id_name=mail len_after=1\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Available\n"
		"instant Events: queue_receive_from_isr queue_id=5 queue_id_name=mail len_after=0\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Taken\n"
		"instant Events: queue_reset queue_id=5 queue_id_name=mail\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Taken by Task main (#1)\n"
		"instant Events: queue_cur_length queue_id=5 queue_id_name=mail length=0\n"
		"end Mutex mail (#5) State\n"
		"begin Mutex mail (#5) State: Taken by Task main (#1)\n"
		"instant Events: curtask_block_on_queue_peek queue_id=5 queue_id_name=mail ticks_to_wait=100\n"
		"instant Events: curtask_block_on_queue_send queue_id=5 queue_id_name=mail ticks_to_wait=100\n"
		"instant Events: curtask_block_on_queue_receive queue_id=5 queue_id_name=mail ticks_to_wait=100\n"
		"begin Interrupt routines CPU 0: uart\n"
		"end Interrupt routines CPU 0\n"
		"instant Events: task_priority_inherit task_id=1 task_id_name=main priority=9\n"
		"value Task main (#1) Priority: 9\n"
		"instant Events: task_priority_disinherit task_id=1 task_id_name=main priority=3\n"
		"value Task main (#1) Priority: 3\n"
		"instant loop: hello\n"
		"begin loop: loop\n"
		"value level: -9223372036854775808\n"
		"end loop\n"
		"instant own: there\n"
		"begin own: own\n"
		"value mine, main (1): -5\n"
		"end own\n"
		"instant Events: curtask_delay ticks=10\n"
		"instant Events: task_resumed task_id=1 task_id_name=main\n"
		"instant Events: task_resumed_from_isr task_id=1 task_id_name=main\n"
		"begin Lost data CPU 0: 3 events\n"
		"end Lost data CPU 0\n"
		"instant Events: dropped_evt_cnt cnt=3\n"
		"instant Events: curtask_delay_until time_to_wake=99\n"
		"end Interrupt routines CPU 1\n"
		"instant Events: task_suspended task_id=1 task_id_name=main\n");
	free(lines);
}

/*
 * Queues and semaphores are counters with the right kind in their name.  Events 0 and 2 begin the
 * stream (core, ns of a tick), 100 to 102 give name and kind and send, 107 receives, 108 resets.
 * Kind 1 is a counting semaphore.
 */
static void queue_tracks(void)
{
	char path[CODEC_PATH], *lines;
	int fd;

	stream.len = 0;
	stream_add(&stream, 0, 0, 0, 0, NULL);
	stream_add(&stream, 2, 0, 1000, 0, NULL);
	stream_add(&stream, 100, 0, 5, 0, "mail");
	stream_add(&stream, 101, 0, 6, 1, NULL);
	stream_add(&stream, 102, 14, 5, 1, NULL);
	stream_add(&stream, 102, 15, 6, 7, NULL);
	stream_add(&stream, 107, 16, 5, 0, NULL);
	stream_add(&stream, 108, 17, 6, 0, NULL);
	fd = codec_file(path, stream.data, stream.len);
	lines = tracks_of_file(path);
	close(fd);
	check(strstr(lines, "value Queue mail (#5) State: 1\n") &&
		      strstr(lines, "value Counting Semaphore #6 State: 7\n") &&
		      strstr(lines, "value Queue mail (#5) State: 0\n") &&
		      strstr(lines, "value Counting Semaphore #6 State: 0\n"),
	      "%.300s", lines);
	free(lines);
}

static const char *const tracex_lines[] = {
	": queue_send queue_ptr=0x811f620 queue_ptr_name=queue 0 source_ptr=0xf6fe46d8 wait_option=4294967295 enqueued=0 thread=0x811f380 thread_name=producer thread priority_word=",
	"value Queue queue 0 (0x811f620) State: 1\n",
	"value Semaphore sem 0 (0x811f660) State: 2\n",
	"value Thread flag waiter (0x811f540) Priority: 5\n",
	"begin Mutex mutex 0 (0x811f680) State: Taken by Thread producer thread (0x811f380)\n",
	"begin Mutex mutex 0 (0x811f680) State: Available\n",
	": thread_suspend thread_ptr=0x811f380 thread_ptr_name=producer thread new_state=4 ",
};

static const char *const rkh_lines[] = {
	": QUE_FIFO q=0x20001000 q_name=q nelem=4 nmin=2\n",
	"value Queue q (0x20001000) State: 4\n",
	": SMA_FIFO ao=0x80f4060 ao_name=my sig=3 snr=0x20004000 snr_name=sender pid=2 rc=1 nelem=3 nmin=2\n",
	": SMA_GET ao=0x80f4060 ao_name=my sig=3 pid=2 rc=1 nelem=2 nmin=2\n",
	"value Active Object my (0x80f4060) Queue: 3\n",
	"value Memory Pool 0x20003000 Free: 15\n",
	": SM_EXE_ACT act=Guard ao=0x80f4060 ao_name=my st=0x7e7d7e7d fn=0x80504f9 fn_name=bsp_init\n",
	": FWK_TCFG version=13312 flags=262143 id=1 sig=1 tstamp=4 ptr=4 ntimer=2 nblock=1 nelem=1 esize=2 bsize=1 epools=4 tick_hz=1000\n",
};

/*
 * Traces of the original encoders; the names are those of the original
 * decoders.
 */
static void golden_tracks(void)
{
	char *lines;

	if (!has_golden())
		return;
	lines = tracks_of_file(GOLDEN "threadx_32.trx");
	check_has_lines(lines, tracex_lines, ARRAY_SIZE(tracex_lines));
	free(lines);
	lines = tracks_of_file(GOLDEN "rkh_allevents.bin");
	check_has_lines(lines, rkh_lines, ARRAY_SIZE(rkh_lines));
	check(!strstr(lines, "user_event"), "an event has no name");
	free(lines);
	/*
	 * Fields that a configuration removes leave the meaning of the others
	 * unchanged.
	 */
	lines = tracks_of_file(GOLDEN "rkh_allevents_min.bin");
	check(strstr(lines, ": QUE_FIFO q=0x20001000 "), "%.300s", lines);
	free(lines);
}

#define TBAND_SEND  (KTAPE_FORMAT_ID_TBAND | 102)
#define RKH_FIFO    (KTAPE_FORMAT_ID_RKH | 0x22)
#define TRACEX_SEND (KTAPE_FORMAT_ID_TRACEX | 69)

/*
 * Format ids with arguments that do not match: the arguments get no names, and
 * no object state is invented.
 */
static void odd_events(void)
{
	static const struct scene_event events[] = {
		{ 1, 0, -1, KTAPE_EV_USER_EVENT, 2, 0, { TBAND_SEND, 5 }, "", 0 },
		{ 2, 0, -1, KTAPE_EV_USER_EVENT, 1, 0, { RKH_FIFO }, "\1\7\1\3", 4 },
		{ 3, 0, -1, KTAPE_EV_USER_EVENT, 2, 0, { RKH_FIFO, 9 }, "", 0 },
		{ 4, 0, -1, KTAPE_EV_USER_EVENT, 3, 0, { TRACEX_SEND, 1, 2 }, "", 0 },
		{ 5, 0, -1, KTAPE_EV_USER_EVENT, 3, 0, { TBAND_SEND, 5, 2 }, "\1\7", 2 },
		{ 6, 0, -1, KTAPE_EV_USER_EVENT, 3, 0, { TBAND_SEND, 5, 2 }, "", 0 },
	};
	char *lines = tracks_of(NULL, 0, events, ARRAY_SIZE(events));

	same_text(lines, "instant Events CPU 0: queue_send arg1=0x5\n"
			 "instant Events CPU 0: QUE_FIFO arg1=7 arg2=3\n"
			 "instant Events CPU 0: QUE_FIFO arg1=0x9\n"
			 "instant Events CPU 0: queue_send arg1=0x1 arg2=0x2\n"
			 "instant Events CPU 0: queue_send arg1=0x5 arg2=0x2 arg3=7\n"
			 "instant Events CPU 0: queue_send queue_id=5 len_after=2\n"
			 "value Queue #5 State: 2\n");
	free(lines);
}

/*
 * A typed argument that is a function has the function's name if its number is
 * an id.
 */
static void functions(void)
{
	static const struct scene_event events[] = {
		{ 1, 0, -1, KTAPE_EV_USER_EVENT, 1, 0, { 5 }, "\12\7\0\0\0\0\0\0\0", 9 },
		{ 2, 0, -1, KTAPE_EV_USER_EVENT, 1, 0, { 5 }, "\12\7\0\0\0\1\0\0\0", 9 },
	};
	static const struct given function = {
		KTAPE_OBJ_FUNCTION, 7, 0, 0, "main",
	};
	char *lines = tracks_of(&function, 1, events, ARRAY_SIZE(events));

	same_text(lines, "instant Events CPU 0: user_event 5 arg1=0x7 arg1_name=main\n"
			 "instant Events CPU 0: user_event 5 arg1=0x100000007\n");
	free(lines);
}

static void chrome_events(void)
{
	/* The id of a track: its kind (67, a queue) << 32 | number of the object. */
	static const char *const lines[] = {
		"\"name\":\"queue_send\",\"cat\":\"tband\",\"args\":{\"queue_id\":5,\"queue_id_name\":\"mail\",\"len_after\":1}}",
		"\"name\":\"Task main (#1) Priority\",\"cat\":\"state\",\"args\":{\"value\":9}}",
		"{\"ph\":\"b\",\"pid\":0,\"tid\":0,\"ts\":20.000,\"name\":\"Mutex mail (#5) State\",\"cat\":\"state\",\"id\":287762808837,\"args\":{\"state\":\"Taken by Task main (#1)\"}}",
		"{\"ph\":\"e\",\"pid\":0,\"tid\":0,\"ts\":21.000,\"name\":\"Mutex mail (#5) State\",\"cat\":\"state\",\"id\":287762808837,\"args\":{}}",
	};
	char path[CODEC_PATH], *text;
	size_t len;
	int fd;

	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	text = converted(path, "chrome", &len);
	close(fd);
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	check(!strstr(text, "\"user_event\""), "an event has no name");
	free(text);
}

/* Return babeltrace2's output for a trace in LTTng's format, to be freed, or NULL. */
static char *lttng_of(const char *path, const char *dir)
{
	struct ktape_trace_options how = { .flags = KTAPE_TRACE_SORTED };
	struct ktape_sink_options to = { .format = "lttng", .path = dir };
	const struct ktape_event *e;
	struct ktape_trace *t;
	struct ktape_sink *sink;
	char command[128], *text;

	if (ktape_trace_open(path, &how, &t, NULL))
		abort();
	to.info = ktape_trace_info(t);
	to.registry = ktape_trace_registry(t);
	if (ktape_sink_open(&to, &sink, NULL))
		abort();
	while (ktape_trace_next(t, &e) > 0) {
		if (ktape_sink_event(sink, e))
			abort();
	}
	if (ktape_sink_finish(sink))
		abort();
	ktape_sink_close(sink);
	ktape_trace_close(t);
	text = babeltrace(dir, "");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		abort();
	return text;
}

static void lttng_events(void)
{
	static const char *const lines[] = {
		"tband_queue_send: { cpu_id = 0 }, { tid = 1 }, { queue_id = 5, queue_id_name = \"mail\", len_after = 1 }",
		"tband_queue_kind: { cpu_id = 0 }, { tid = 1 }, { queue_id = 5, queue_id_name = \"mail\", kind = \"FrqkMutex\" }",
		"tband_task_priority_inherit: { cpu_id = 0 }, { tid = 1 }, { task_id = 1, task_id_name = \"main\", priority = 9 }",
	};
	static const char *const rkh[] = {
		"rkh_QUE_FIFO: { cpu_id = 0 }, { tid = -1 }, { q = 0x20001000, q_name = \"q\", nelem = 4, nmin = 2 }",
		"act = \"Guard\", ao = 0x80F4060, ao_name = \"my\"",
	};
	static const char *const tracex[] = {
		"tracex_queue_send: { cpu_id = 0 }, { tid = 135394176 }, { queue_ptr = 0x811F620, queue_ptr_name = \"queue 0\", source_ptr = 0xF6FE46D8, wait_option = 4294967295, enqueued = 0,",
	};
	char dir[] = "/tmp/ktape-tracks.XXXXXX", path[CODEC_PATH], *text;
	int fd;

	if (!has_babeltrace())
		return;
	check(mkdtemp(dir), "no folder");
	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	text = lttng_of(path, dir);
	close(fd);
	check(text, "babeltrace2 failed");
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	check(!strstr(text, "user_event"), "an event has no name");
	free(text);
	if (!has_golden())
		return;
	text = lttng_of(GOLDEN "rkh_allevents.bin", dir);
	check(text, "babeltrace2 failed");
	check_has_lines(text, rkh, ARRAY_SIZE(rkh));
	check(!strstr(text, "user_event"), "an event has no name");
	free(text);
	text = lttng_of(GOLDEN "threadx_32.trx", dir);
	check(text, "babeltrace2 failed");
	check_has_lines(text, tracex, ARRAY_SIZE(tracex));
	free(text);
}

/* ---- what a trace says of itself ------------------------------------------ */

#define LONG_NAME 20000 /* more than the length of a message can tell */

/* Return whether a sink counted @n of @what. */
static bool missed(const struct ktape_sink *sink, const char *what, uint64_t n)
{
	const char *is;
	uint64_t count;

	for (unsigned int i = 0; (count = ktape_sink_missed(sink, i, &is)); i++)
		if (!strcmp(is, what))
			return count == n;
	return false;
}

/*
 * Names of fields and the names of the machine come from the trace: any bytes.  The event is one
 * of another Linux tracer: a text (7) that is the name of a field, then its value (5: 32 bits).
 */
static void strange_names(void)
{
	static char blob[LONG_NAME + 16] = "\x07\x1b";
	const struct scene_event event = {
		100,
		0,
		-1,
		KTAPE_EV_USER_EVENT,
		1,
		0,
		{ KTAPE_FORMAT_ID_LINUX | 1 },
		blob,
		LONG_NAME + 7,
	};
	struct ktape_info info = scene_info;
	char path[CODEC_PATH], want[LONG_NAME + 128], *data, *lines;
	int fd = codec_file(path, "", 0), n = (int)sizeof("\x07\x1b") - 1;
	struct ktape_sink_options how = {
		.format = "perfetto",
		.path = path,
		.info = &info,
	};
	struct ktape_registry *registry;
	struct ktape_sink *sink;
	size_t len;

	memset(blob + n, 'A', LONG_NAME + 1 - (size_t)n);
	memcpy(blob + LONG_NAME + 1, "\0\x05\x07\0\0\0", 6);
	strcpy(info.hostname, "host\x1b\xff");
	strcpy(info.release, "6.1\x1b\xff");
	strcpy(info.machine, "cpu\x1b\xff");
	check_equal(ktape_registry_new(info.freq, &registry), 0);
	how.registry = registry;
	check_equal(ktape_sink_open(&how, &sink, NULL), 0);
	check_equal(scene_play_of(&event, 0, 1, (scene_take *)ktape_sink_event, sink),
		    0);
	check_equal(ktape_sink_finish(sink), 0);
	check(!missed(sink, "ends of names of fields beyond 40 bytes", 1),
	      "a name is cut");
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	data = codec_content(fd, &len);
	close(fd);
	check(memmem(data, len, "host??", 6) && memmem(data, len, "6.1??", 5) &&
		      memmem(data, len, "cpu??", 5),
	      "bytes of the names that nobody can show");
	lines = proto_lines(data, len);
	snprintf(want, sizeof(want),
		 "instant Events CPU 0: tracepoint \\x1b%s=7\n", blob + 2);
	same_text(lines, want);
	free(lines);
	free(data);
}

/* ---- system calls ---------------------------------------------------------- */

/*
 * Print the ftrace events sys_exit of a bundle.  Its member 2 is an event, whose member 330 is a
 * sys_exit: 1 id, 2 ret.
 */
static void print_returns(FILE *out, const struct proto_field *bundle)
{
	const uint8_t *p = bundle->data, *q, *r;
	struct proto_field event, call, f;

	while (proto_next(&p, bundle->data + bundle->len, &event)) {
		for (q = event.data;
		     event.number == 2 &&
		     proto_next(&q, event.data + event.len, &call);) {
			if (call.number != 330)
				continue;
			for (r = call.data;
			     proto_next(&r, call.data + call.len, &f);)
				fprintf(out, "%u=%lld ", f.number,
					(long long)f.value);
		}
	}
}

/*
 * sys_exit_wide becomes ftrace's sys_exit, which ends the call's slice.  That has no arguments:
 * they are counted as missed.
 */
static void wide_returns(void)
{
	static const uint64_t enter[6] = { 3 }, leave[7] = { (uint64_t)-11, 3 };
	static const struct scene_event events[] = {
		{ 100,
		  0,
		  100,
		  KTAPE_EV_SYS_ENTER_WIDE,
		  1,
		  SYS_READ,
		  { 0 },
		  (const char *)enter,
		  sizeof(enter) },
		{ 200,
		  0,
		  100,
		  KTAPE_EV_SYS_EXIT_WIDE,
		  1,
		  SYS_READ,
		  { 0 },
		  (const char *)leave,
		  sizeof(leave) },
	};
	char path[CODEC_PATH], *data, *text = NULL;
	int fd = codec_file(path, "", 0);
	struct ktape_sink_options how = {
		.format = "perfetto",
		.path = path,
		.info = &scene_info,
	};
	struct proto_field packet, f;
	struct ktape_registry *registry;
	struct ktape_sink *sink;
	const uint8_t *p, *q;
	size_t len, n;
	FILE *out;

	check_equal(ktape_registry_new(scene_info.freq, &registry), 0);
	how.registry = registry;
	check_equal(ktape_sink_open(&how, &sink, NULL), 0);
	check_equal(scene_play_of(events, 0, ARRAY_SIZE(events),
				  (scene_take *)ktape_sink_event, sink),
		    0);
	check_equal(ktape_sink_finish(sink), 0);
	check(missed(sink, "fields that events of this format do not have", 1),
	      "the arguments at the end are left out and not counted");
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	data = codec_content(fd, &len);
	close(fd);
	out = open_memstream(&text, &n);
	for (p = (const uint8_t *)data;
	     proto_next(&p, (const uint8_t *)data + len, &packet);) {
		for (q = packet.data;
		     proto_next(&q, packet.data + packet.len, &f);) {
			if (f.number == 1)
				print_returns(out, &f);
		}
	}
	fclose(out);
	same_text(text, "1=0 2=-11 ");
	free(text);
	free(data);
}

static const struct tap_test tests[] = {
	{ "names of markers, routines and exceptions", dumped_track_names },
	{ "slices of Chrome's JSON end", track_slices },
	{ "events and states of Tonbandgeraet", tband_tracks },
	{ "queues and semaphores", queue_tracks },
	{ "events and states of TraceX and RKH", golden_tracks },
	{ "events that do not match their format", odd_events },
	{ "functions as arguments", functions },
	{ "names in a trace that are any bytes", strange_names },
	{ "ends of system calls with arguments", wide_returns },
	{ "events and states in Chrome's JSON", chrome_events },
	{ "events and states in CTF, read by babeltrace2", lttng_events },
};

/*
 * The trace for trace_processor in t_tool_engines.sh: a task with a priority, a
 * queue, a mutex that it takes and gives, and a semaphore. 1 tick is 1 ms.  Events: 0 and 2 begin
 * the stream, 95 names the task, 84 switches to it, 91 sets its priority; 100 and 101 give name
 * and kind of an object (0 queue, 3 mutex, 1 counting semaphore), 102 sends to it or gives it
 * back, 106 receives or takes it.
 */
static int write_states(const char *path)
{
	FILE *f = fopen(path, "w");

	stream.len = 0;
	stream_add(&stream, 0, 0, 0, 0, NULL);
	stream_add(&stream, 2, 0, 1000000, 0, NULL);
	stream_add(&stream, 95, 0, 7, 0, "main");
	stream_add(&stream, 100, 0, 5, 0, "mail");
	stream_add(&stream, 101, 0, 5, 0, NULL);
	stream_add(&stream, 100, 0, 6, 0, "lock");
	stream_add(&stream, 101, 0, 6, 3, NULL);
	stream_add(&stream, 100, 0, 8, 0, "slots");
	stream_add(&stream, 101, 0, 8, 1, NULL);
	stream_add(&stream, 84, 1, 7, 0, NULL);
	stream_add(&stream, 91, 2, 7, 3, NULL);
	stream_add(&stream, 102, 3, 5, 2, NULL);
	stream_add(&stream, 106, 4, 5, 1, NULL);
	stream_add(&stream, 106, 5, 6, 0, NULL);
	stream_add(&stream, 102, 6, 6, 1, NULL);
	stream_add(&stream, 102, 8, 8, 4, NULL);
	stream_add(&stream, 106, 9, 6, 0, NULL);
	return !f || fwrite(stream.data, stream.len, 1, f) != 1 || fclose(f);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--tband"))
		return write_states(argv[2]);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
