// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the text formats of other tools: the layouts of ftrace and traceprinter,
 * Chrome's JSON, and LTTng's CTF by babeltrace2.
 */
#include <sys/wait.h>

#include "lib_babeltrace.h"
#include "lib_scene.h"
#include "json.h"

static char *scene_as_text(const char *format, bool loss)
{
	int fd = scene_write(format, NULL, NULL, loss);
	char *text;
	size_t len;

	if (fd < 0)
		return NULL;
	text = codec_content(fd, &len);
	close(fd);
	return text;
}

static void ftrace(void)
{
	static const char *const lines[] = {
		"# tracer: nop\n#\n# entries-in-buffer/entries-written: 45/50   #P:2 ",
		"          <idle>-0        [000] d.h..     0.000002: irq_handler_entry: irq=24 name=ahci\n",
		"          <idle>-0        [000] d.h..     0.000002: softirq_raise: vec=3 [action=NET_RX]\n",
		"          <idle>-0        [000] d.h..     0.000003: sched_waking: comm=app pid=100 prio=120 target_cpu=000\n",
		"          <idle>-0        [000] d.h..     0.000004: irq_handler_exit: irq=24 ret=handled\n",
		"          <idle>-0        [000] ..s..     0.000004: softirq_entry: vec=3 [action=NET_RX]\n",
		"          <idle>-0        [000] .....     0.000006: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=100 next_prio=120\n",
		"             app-100      [000] .....     0.000007: block_rq_issue: 8,0 0 4096 () 2048 + 8 [app]\n",
		"             app-100      [000] .....     0.000007: sys_enter: NR 0 ()\n",
		"             app-100      [000] .....     0.000015: sys_exit: NR 0 = 4096\n",
		"     wor\"ker\\xff-101      [001] .....     0.000016: sys_exit: NR 0 = -11\n",
		"workqueue_execute_start: work struct 0000000000005000: function do_work\n",
		": tracing_mark_write: B|100|frame\n",
		": tracing_mark_write: E|100\n",
		": tracing_mark_write: C|100|level|-3\n",
		": tracing_mark_write: a \"b\"\\x0a\n",
		"\nCPU:1 [LOST 5 EVENTS]\n",
	};
	char *text = scene_as_text("ftrace", true);

	check(text, "not written");
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	check_equal(count_in_text(text, "\n"), 12 + SCENE_EVENTS + 1);
	free(text);
}

static void traceprinter(void)
{
	static const char *const lines[] = {
		"TRACE_CYCLES_PER_SEC:: 1000000000\n",
		"t:0x00000001 CPU:00 CONTROL         :TIME               msb:0x00000000, lsb(offset):0x00000001\n",
		"t:0x00000001 CPU:00 PROCESS         :PROCCREATE_NAME    ppid:0 pid:100 name:app\n",
		"t:0x00000001 CPU:00 PROCESS         :PROCTHREAD_NAME    pid:100 tid:101 name:wor\"ker\\xff\n",
		"t:0x000007d0 CPU:00 INT_HANDLER_ENTR:0x00000018 (24) ahci\n",
		"t:0x00000c1c CPU:00 THREAD          :THREADY            pid:100 tid:100\n",
		"t:0x00001f40 CPU:00 THREAD          :THWAITPAGE         pid:100 tid:100\nt:0x00001f40 CPU:00 THREAD          :THRUNNING          pid:0 tid:0\n",
		"t:0x00001b58 CPU:00 KER_CALL        :READ/0\n",
		"CPU:01 KER_EXIT        :READ/0 ret_val:-11\n",
		"CPU:01 CONTROL         :DROPPED            sequence = 1, num_events = 5\n",
		"t:0x00004e20 CPU:00 THREAD          :THDESTROY          pid:100 tid:100\nt:0x00004e20 CPU:00 PROCESS         :PROCDESTROY        pid:100\n",
		"USREVENT        :EVENT:53, STR:\"softirq_entry vec=NET_RX\"\n",
	};
	char *text = scene_as_text("traceprinter", true);

	check(text, "not written");
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	free(text);
}

static void chrome(void)
{
	static const char *const lines[] = {
		"{\"ph\":\"M\",\"pid\":100,\"tid\":101,\"name\":\"thread_name\",\"args\":{\"name\":\"wor\\\"ker\\u00ff\"}}",
		"{\"ph\":\"B\",\"pid\":0,\"tid\":0,\"ts\":6.000,\"name\":\"app\",\"cat\":\"sched\",\"args\":{\"prev_prio\":120,\"next_prio\":120,\"prev_state\":\"R\",\"prev_tid\":0,\"prev_tid_name\":\"swapper\",\"next_tid\":100,\"next_tid_name\":\"app\"}}",
		"{\"ph\":\"E\",\"pid\":0,\"tid\":0,\"ts\":4.000,\"args\":{\"irq\":24,\"irq_name\":\"ahci\",\"ret\":1}}",
		"{\"ph\":\"B\",\"pid\":100,\"tid\":100,\"ts\":7.000,\"name\":\"read\",\"cat\":\"syscall\"",
		"{\"ph\":\"E\",\"pid\":100,\"tid\":101,\"ts\":16.000,\"args\":{",
		"\"error\":\"EAGAIN\"",
		"{\"ph\":\"b\",\"pid\":100,\"tid\":100,\"ts\":19.600,\"name\":\"frame\",\"cat\":\"mark\",\"id\":\"0.5\"",
		"{\"ph\":\"C\",\"pid\":100,\"tid\":101,\"ts\":19.800,\"name\":\"level\",\"args\":{\"value\":-3}}",
		"\"ts\":16.100,\"dur\":0.300,\"cat\":\"lost\",\"name\":\"lost events\",\"args\":{\"count\":5}}",
	};
	char *text = scene_as_text("chrome", true);
	const char *bad;

	check(text, "not written");
	bad = json_check(text);
	check(!bad, "no JSON at byte %td: %.40s", bad - text, bad);
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	/* Every slice of CPU 0 that began has ended. */
	check_equal(count_in_text(text, "\"ph\":\"B\",\"pid\":0,\"tid\":0,"), 8);
	check_equal(count_in_text(text, "\"ph\":\"E\",\"pid\":0,\"tid\":0,"), 8);
	check_equal(count_in_text(text, "\"ph\":\"B\",\"pid\":100"), 3);
	check_equal(count_in_text(text, "\"ph\":\"E\",\"pid\":100"), 3);
	free(text);
}

/* Python's parser accepts it, too. */
static void chrome_python(void)
{
	char command[160];
	int fd, status;

	if (system("python3 -c 'import json' 2>/dev/null")) {
		tap_skip("there is no python3");
		return;
	}
	fd = scene_write("chrome", NULL, NULL, true);
	check(fd >= 0, "%d", fd);
	snprintf(command, sizeof(command),
		 "python3 -c 'import json; len(json.load(open(\"/proc/%d/fd/%d\"))[\"traceEvents\"]) > 40 or exit(1)'",
		 getpid(), fd);
	status = system(command);
	check(!status, "%d", WEXITSTATUS(status));
	close(fd);
}

/* ---- events besides the scene's ----------------------------------------------- */

/*
 * Write these events and the scene's names in a format to a path. Return: 0 or
 * a negative errno.
 */
static int write_scene_events(const char *format, const char *path,
			      const struct scene_event *events, size_t nr)
{
	struct ktape_sink_options how = {
		.format = format,
		.path = path,
		.info = &scene_info,
	};
	struct ktape_registry *registry;
	struct ktape_sink *sink = NULL;
	int err;

	if (ktape_registry_new(scene_info.freq, &registry))
		abort();
	how.registry = registry;
	err = ktape_sink_open(&how, &sink, NULL);
	if (!err)
		err = scene_names_to(registry, (scene_take *)ktape_sink_event, sink);
	if (!err)
		err = scene_play_of(events, 0, nr,
				    (scene_take *)ktape_sink_event, sink);
	if (!err)
		err = ktape_sink_finish(sink);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	return err;
}

/* The same as text, to be freed. NULL: a check failed. */
static char *text_of_events(const char *format,
			    const struct scene_event *events, size_t nr)
{
	char path[CODEC_PATH], *text;
	int fd = codec_file(path, "", 0);
	size_t len;
	int err = write_scene_events(format, path, events, nr);

	if (err)
		tap_fail("%s: %d", format, err);
	text = err ? NULL : codec_content(fd, &len);
	close(fd);
	return text;
}

/* Thread 100 waits for 101, then for any child. */
static const struct scene_event waits[] = {
	{ 1000, 0, 100, KTAPE_EV_SCHED_PROCESS_WAIT, 1, 0, { 101 }, NULL, 0 },
	{ 1100, 0, 100, KTAPE_EV_SCHED_PROCESS_WAIT, 1, 0, { 0 }, NULL, 0 },
};

static void ftrace_waits(void)
{
	static const char *const lines[] = {
		"app-100      [000] .....     0.000001: sched_process_wait: comm=app pid=101\n",
		"app-100      [000] .....     0.000001: sched_process_wait: comm=app pid=0\n",
	};
	char *text = text_of_events("ftrace", waits, ARRAY_SIZE(waits));

	check(text, "not written");
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	free(text);
}

/* ---- CTF as LTTng's ---------------------------------------------------------- */

static void lttng(void)
{
	static const char *const lines[] = {
		"board sched_switch: { cpu_id = 0 }, { tid = 0 }, { prev_comm = \"swapper\", prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = \"app\", next_tid = 100, next_prio = 20 }",
		"prev_state = 2, next_comm = \"swapper\"",
		"irq_handler_entry: { cpu_id = 0 }, { tid = 0 }, { irq = 24, name = \"ahci\" }",
		"irq_handler_exit: { cpu_id = 0 }, { tid = 0 }, { irq = 24, ret = 1 }",
		"irq_softirq_entry: { cpu_id = 0 }, { tid = 0 }, { vec = 3 }",
		"syscall_entry_read: { cpu_id = 0 }, { tid = 100 }, { }",
		"syscall_exit_read: { cpu_id = 1 }, { tid = 101 }, { ret = -11 }",
		"syscall_exit_nanosleep: { cpu_id = 0 }, { tid = 100 }, { ret = 0 }",
		"block_rq_issue: { cpu_id = 0 }, { tid = 100 }, { dev = 8388608, sector = 2048, nr_sector = 8, bytes = 4096, rwbs = 4 }",
		"lttng_statedump_process_state: { cpu_id = 0 }, { tid = -1 }, { tid = 100, pid = 100, ppid = 0, name = \"app\", type = 0,",
		"sched_process_exit: { cpu_id = 0 }, { tid = 100 }, { comm = \"app\", tid = 100, prio = 20 }",
		"ktape_mark_value: { cpu_id = 1 }, { tid = 101 }, { task = 0, id = 6, value = -3, message = \"\" }",
		"Tracer discarded 5 events between",
	};
	char dir[] = "/tmp/ktape-lttng.XXXXXX", command[64];
	char *text;
	int err;

	if (!has_babeltrace())
		return;
	check(mkdtemp(dir), "no folder");
	err = scene_write("lttng", NULL, dir, true);
	check(err == -1, "%d", err);
	/* The trace is replaced only if that is requested. */
	check_equal(scene_write("lttng", NULL, dir, true), -ENOTEMPTY);
	text = babeltrace(dir, "--clock-seconds");
	check(text, "babeltrace2 failed");
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	/* Begin and end of the state dump, and three threads. */
	check_equal(count_in_text(text, " board "), SCENE_EVENTS + 5);
	free(text);
	text = babeltrace(dir, "-o ctf-metadata");
	check(text, "babeltrace2 failed");
	check(strstr(text, "domain = \"kernel\"") &&
		      strstr(text, "tracer_name = \"lttng-modules\""),
	      "%s", text);
	free(text);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	check_equal(system(command), 0);
}

/*
 * Return babeltrace2's output for these events, to be freed. NULL: a check
 * failed.
 */
static char *lttng_text(const struct scene_event *events, size_t nr)
{
	char dir[] = "/tmp/ktape-lttng.XXXXXX", command[64];
	char *text;
	int err;

	if (!mkdtemp(dir))
		abort();
	err = write_scene_events("lttng", dir, events, nr);
	text = err ? NULL : babeltrace(dir, "--clock-seconds");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		abort();
	if (err)
		tap_fail("lttng: %d", err);
	return text;
}

#define DEADLINE  255
#define NO_CALL	  (0xffff | 1 << 18) /* -1: does not fit in 16 bits */
#define SOME_CALL 0x8123	     /* not in any table */

/*
 * Priorities are relative to MAX_RT_PRIO; all unknown system calls are one
 * event.
 */
static void lttng_words(void)
{
	static const char wide[56] = "\1";
	static const struct scene_event events[] = {
		{ 100, 0, 100, KTAPE_EV_SCHED_WAKING, 1, 98, { 7 }, NULL, 0 },
		{ 200, 0, 100, KTAPE_EV_SCHED_WAKEUP, 1, DEADLINE, { 7 }, NULL, 0 },
		{ 300, 0, 100, KTAPE_EV_SCHED_PI_SETPRIO, 2, 120 | 10 << 8, { 7, 100 }, NULL, 0 },
		{ 400, 0, 100, KTAPE_EV_SYS_ENTER, 1, NO_CALL, { UINT32_MAX }, NULL, 0 },
		{ 500,
		  0,
		  100,
		  KTAPE_EV_SYS_EXIT,
		  2,
		  NO_CALL,
		  { (uint32_t)-38, UINT32_MAX },
		  NULL,
		  0 },
		{ 600, 0, 100, KTAPE_EV_SYS_ENTER, 0, SOME_CALL, { 0 }, NULL, 0 },
		{ 700,
		  0,
		  100,
		  KTAPE_EV_SYS_EXIT,
		  2,
		  SOME_CALL,
		  { (uint32_t)-38, UINT32_MAX },
		  NULL,
		  0 },
		{ 800, 0, 100, KTAPE_EV_SYS_EXIT_WIDE, 1, NO_CALL, { 70000 }, wide, sizeof(wide) },
		{ 900, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
	};
	static const char *const lines[] = {
		"sched_waking: { cpu_id = 0 }, { tid = 100 }, { comm = \"kworker/0:1\", tid = 7, prio = -2, target_cpu = 0 }",
		"sched_wakeup: { cpu_id = 0 }, { tid = 100 }, { comm = \"kworker/0:1\", tid = 7, prio = -101, target_cpu = 0 }",
		"oldprio = 20, newprio = -90 }",
		"syscall_entry_unknown: { cpu_id = 0 }, { tid = 100 }, { id = -1 }",
		"syscall_exit_unknown: { cpu_id = 0 }, { tid = 100 }, { id = -1, ret = -38 }",
		"syscall_entry_unknown: { cpu_id = 0 }, { tid = 100 }, { id = 33059 }",
		"syscall_exit_unknown: { cpu_id = 0 }, { tid = 100 }, { id = 33059, ret = -38 }",
		"syscall_exit_unknown: { cpu_id = 0 }, { tid = 100 }, { id = 70000, ret = 1, arg0 = 0x0,",
		"syscall_entry_read: { cpu_id = 0 }, { tid = 100 }, { }",
	};
	char *text;

	if (!has_babeltrace())
		return;
	text = lttng_text(events, ARRAY_SIZE(events));
	check(text, "babeltrace2 failed");
	check_has_lines(text, lines, ARRAY_SIZE(lines));
	check_equal(count_in_text(text, "unknown_"), 0);
	free(text);
	text = lttng_text(waits, ARRAY_SIZE(waits));
	check(text, "babeltrace2 failed");
	check(strstr(text, "sched_process_wait: { cpu_id = 0 }, { tid = 100 }, { comm = \"app\", tid = 101 }"),
	      "%s", text);
	free(text);
}

/* Every opcode, with any number of arguments and bytes. */
static void lttng_strange(void)
{
	char dir[] = "/tmp/ktape-lttng.XXXXXX", command[64];
	static const char blob[3000] = "blob";
	const uint32_t args[7] = { 1, 2, 3, 4, 5, 6, 7 };
	struct ktape_sink_options how = {
		.format = "lttng",
		.path = dir,
		.info = &scene_info,
	};
	struct ktape_registry *registry;
	unsigned int n = 0;
	struct ktape_sink *sink;
	char *text;

	if (!has_babeltrace())
		return;
	check(mkdtemp(dir), "no folder");
	check_equal(ktape_registry_new(1, &registry), 0);
	how.registry = registry;
	check_equal(ktape_sink_open(&how, &sink, NULL), 0);
	for (unsigned int op = 1; op < 255; op++) {
		const struct ktape_event_desc *d = ktape_event_desc(op);
		struct ktape_event e = {
			.opcode = (uint8_t)op,
			.args = args,
			.ts = op,
			.cpu = op % 3,
			.dat20 = 0xabcde,
		};

		if (op == KTAPE_EV_REGISTRY)
			continue;
		for (unsigned int i = 0; i < 4; i++, n++) {
			e.known = i;
			e.nargs = d && !d->varargs ? d->nargs : 7;
			if (i & 1)
				e.nargs = (uint8_t)(e.nargs + 1) % 8;
			e.blob = (d && d->has_blob) == (i != 2) ? blob : NULL;
			e.blob_size = e.blob ? sizeof(blob) : 0;
			check_equal(ktape_sink_event(sink, &e), 0);
		}
	}
	check_equal(ktape_sink_finish(sink), 0);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	text = babeltrace(dir, "");
	check(text, "babeltrace2 failed");
	check_equal(count_in_text(text, " board "), n);
	free(text);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	check_equal(system(command), 0);
}

/* Losses that a trace has: @to: when the last one of each CPU ends, in ns. */
struct found_losses {
	uint64_t count;
	unsigned int nr;
	uint64_t to[4];
};

static void take_found_loss(void *arg, const struct ktape_notice *n)
{
	struct found_losses *f = arg;

	if (n->kind != KTAPE_NOTICE_LOST || n->cpu >= ARRAY_SIZE(f->to))
		return;
	f->count += n->count;
	f->nr++;
	f->to[n->cpu] = n->to;
}

/*
 * A loss is counted by the packet behind it.  So a stream that ends with one gets a packet without
 * events: behind an event (CPU 0), as the only one (CPU 1), and for a loss without a count (CPU 2),
 * which needs another one before it if the stream has none (CPU 3).  Without these packets the
 * losses would be gone.
 */
static void lttng_last_losses(void)
{
	static const struct ktape_notice losses[] = {
		{ .kind = KTAPE_NOTICE_LOST, .cpu = 0, .count = 5, .from = 2000, .to = 4000 },
		{ .kind = KTAPE_NOTICE_LOST, .cpu = 1, .count = 3, .from = 2000, .to = 5000 },
		{ .kind = KTAPE_NOTICE_LOST, .cpu = 2, .from = 2000, .to = 6000 },
		{ .kind = KTAPE_NOTICE_LOST, .cpu = 3, .from = 2000, .to = 7000 },
	};
	char dir[] = "/tmp/ktape-lttng.XXXXXX", command[64];
	const uint32_t args[] = { 0, 42 };
	struct ktape_event e = { .ts = 1000,
				 .args = args,
				 .nargs = 2,
				 .known = true,
				 .opcode = KTAPE_EV_SCHED_SWITCH };
	struct found_losses found = { .count = 0 };
	struct ktape_sink_options to = {
		.format = "lttng",
		.path = dir,
		.info = &scene_info,
	};
	struct ktape_trace_options from = { .notice = take_found_loss,
					    .arg = &found };
	struct ktape_registry *registry;
	const struct ktape_event *read;
	struct ktape_sink *sink;
	struct ktape_trace *t;
	unsigned int events = 0;

	check(mkdtemp(dir), "no folder");
	check_equal(ktape_registry_new(scene_info.freq, &registry), 0);
	to.registry = registry;
	check_equal(ktape_sink_open(&to, &sink, NULL), 0);
	for (e.cpu = 0; e.cpu < 3; e.cpu += 2)
		check_equal(ktape_sink_event(sink, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		check_equal(ktape_sink_notice(sink, &losses[i]), 0);
	check_equal(ktape_sink_finish(sink), 0);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	check_equal(ktape_trace_open(dir, &from, &t, NULL), 0);
	while (ktape_trace_next(t, &read) > 0)
		events += read->opcode == KTAPE_EV_SCHED_SWITCH;
	ktape_trace_close(t);
	check_equal(events, 2);
	check_equal(found.nr, ARRAY_SIZE(losses));
	check_equal(found.count, 5 + 3);
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		check_equal(found.to[i],
			    (uint64_t)ktape_mono_ns(&scene_info, losses[i].to));
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	check_equal(system(command), 0);
}

/* Events that differ from the table, and malicious names. */
static void strange_export_events(void)
{
	static const char *const formats[] = { "ftrace", "traceprinter", "chrome" };
	static char blob[60000];

	memset(blob, '\x01', sizeof(blob));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char path[CODEC_PATH];
		int fd = codec_file(path, "", 0);
		const uint32_t args[7] = { 9, 9 };
		struct ktape_sink_options how = {
			.format = formats[i],
			.path = path,
			.info = &scene_info,
		};
		struct ktape_registry *registry;
		struct ktape_sink *sink;

		check_equal(ktape_registry_new(1, &registry), 0);
		how.registry = registry;
		check_equal(ktape_sink_open(&how, &sink, NULL), 0);
		for (unsigned int op = 1; op < 256; op++) {
			for (unsigned int n = 0; n < 8; n++) {
				struct ktape_event e = {
					.opcode = (uint8_t)op,
					.args = args,
					.nargs = (uint8_t)n,
					.blob = blob,
					.blob_size = sizeof(blob),
					.size = sizeof(blob) + 48,
					.dat20 = 1,
					.known = n & 1,
					.cpu = op & 1 ? 8191 : 0,
					.tid = -1,
				};

				check_equal(ktape_registry_add(registry, &e), 0);
				check_equal(ktape_sink_event(sink, &e), 0);
				e.blob = NULL;
				e.blob_size = 0;
				e.known = true;
				e.tid = INT32_MAX;
				check_equal(ktape_sink_event(sink, &e), 0);
			}
		}
		check_equal(ktape_sink_finish(sink), 0);
		ktape_sink_close(sink);
		ktape_registry_free(registry);
		if (!strcmp(formats[i], "chrome")) {
			size_t len;
			char *text = codec_content(fd, &len);
			const char *bad = json_check(text);

			check(!bad, "no JSON: %.60s", bad);
			free(text);
		}
		close(fd);
	}
}

static const struct tap_test tests[] = {
	{ "ftrace's layout", ftrace },
	{ "traceprinter's layout", traceprinter },
	{ "ftrace's text for waits", ftrace_waits },
	{ "Chrome's JSON", chrome },
	{ "Chrome's JSON as Python reads it", chrome_python },
	{ "CTF as LTTng's, read by babeltrace2", lttng },
	{ "LTTng's priorities and unknown calls", lttng_words },
	{ "unusual events in CTF", lttng_strange },
	{ "losses at the end of streams in CTF", lttng_last_losses },
	{ "unusual events", strange_export_events },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
