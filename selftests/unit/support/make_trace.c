// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create traces for tests of the command:
 *
 *   make_trace folder DIR CPUS	8 packets of 4 records per CPU, each of 4096 bytes
 *   make_trace pipe CPUS	the same as a pipe form on standard output
 *   make_trace image FILE	memory that survived a reset, after 3 pages of zeros
 *   make_trace kinds DIR	one packet with records of several kinds
 *   make_trace emitted DIR [NAME]	exceptions, user events, signals, with their
 *				names; NAME: of the thread
 *   make_trace named DIR	names in the control rings of two CPUs
 *   make_trace learned DIR	thousands of switches on two CPUs, with names of threads in
 *				between, after the first switch to the thread
 *   make_trace session DIR FILE	a complete session, also as a pipe form
 *   make_trace partial DIR	sched_switch is turned off and on, then system calls are
 *				filtered, then the session pauses
 *   make_trace late DIR	CPU 1 loses 5 events long before its first one
 *   make_trace aged DIR	of a machine that runs for 105 days; a packet is missing
 *   make_trace lossy DIR	a session that loses events of system calls for a while: the
 *				ring is full, later they are shed
 *   make_trace slow DIR	a session of 4 seconds
 *   make_trace slow-lossy DIR	the same, which loses events of system calls for a while
 *   make_trace moved DIR	a woken thread moves to another run queue, and runs there
 *   make_trace starved DIR	a thread waits for a CPU while two others take turns
 *   make_trace renamed DIR FILE	threads that change their names, a thread id that is used
 *				again, one without a name, also as a pipe form
 *   make_trace dated DIR SECONDS MONO	the clock of the trace that is in DIR begins these
 *				seconds after the epoch, and at MONO ns of CLOCK_MONOTONIC
 *   make_trace piece DIR LOG	the trace that is in DIR becomes a piece of this log
 *   make_trace piece-file DIR FILE LOG	a piece that is a file
 */
#include <glob.h>

#include "stream/metadata.h"
#include "util/file.h"

#include "lib_image.h"
#include "lib_sim_work.h"

#define PACKETS		8U
#define LEARNED_PACKETS 90U  /* of each CPU */
#define LEARNED_RECORDS 100U /* of each packet */
#define LEARNED_THREADS 64U  /* take turns */
#define SLOW_PARTS	20U  /* each of 200 ms */
#define SLOW_LOSING	8U   /* the part that loses events */

/* Write the packets of all CPUs, in turn.  At its last packet each CPU has lost 5 events. */
static void make_cpus(const char *dir, unsigned int cpus)
{
	unsigned char data[TRACE_PACKET];
	unsigned int i, cpu;
	char name[16];

	for (i = 0; i < PACKETS; i++) {
		for (cpu = 0; cpu < cpus; cpu++) {
			const struct trace_packet p = {
				.cpu = cpu,
				.seq = i + 1,
				.ts = 1000 + i * 1000 + cpu,
				.discarded = i == PACKETS - 1 ? 5 : 0,
			};

			trace_packet(data, &p);
			trace_fill(data, TRACE_PACKET);
			snprintf(name, sizeof(name), "cpu%u", cpu);
			if (dir)
				trace_append(dir, name, data, sizeof(data));
			else if (write(STDOUT_FILENO, data, sizeof(data)) < 0)
				abort();
		}
	}
}

static void add_built_record(struct ktape_builder *b,
			     const struct ktape_record *record)
{
	if (ktape_build_add(b, record))
		abort();
}

/*
 * A system call with arguments; an unknown opcode; a switch after a time
 * extension; a text with control characters.
 */
static void make_kinds(const char *dir)
{
	static const uint32_t args[7];
	static const uint64_t words[6];
	const struct ktape_record records[] = {
		{ .ts = 10,
		  .opcode = KTAPE_EV_SYS_ENTER_WIDE,
		  .nargs = 1,
		  .args = args,
		  .blob = words,
		  .blob_size = sizeof(words) },
		{ .ts = 20, .opcode = TRACE_OPCODE, .nargs = 1, .args = args },
		{ .ts = 30 + (1ULL << 33),
		  .opcode = KTAPE_EV_SCHED_SWITCH,
		  .nargs = 2,
		  .args = args },
		{ .ts = 40 + (1ULL << 33),
		  .opcode = KTAPE_EV_MARK,
		  .nargs = 1,
		  .args = args,
		  .blob = "a\xc2\x9b"
			  "2J\x9b"
			  "b\xc3\xa9\x1b",
		  .blob_size = 10 },
	};
	struct ktape_block head = { .ts_begin = 5, .seq = 1, .tid = 3 };
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;
	size_t i;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (i = 0; i < ARRAY_SIZE(records); i++)
		add_built_record(&b, &records[i]);
	trace_append(dir, "cpu0", data, ktape_build_end(&b, b.ts, 0));
}

static void add_registry_name(struct ktape_builder *b, unsigned int type,
			      uint32_t id, uint32_t param1, const char *name)
{
	const uint32_t args[7] = { id, param1 };
	const struct ktape_record record = {
		.ts = 1,
		.opcode = KTAPE_EV_REGISTRY,
		.nargs = 7,
		.args = args,
		.dat20 = type,
		.blob = name,
		.blob_size = (uint32_t)strlen(name),
	};

	add_built_record(b, &record);
}

/* Records of CPU 2, where thread 12 of process 10, called @thread, runs. */
static void make_emitted(const char *dir, const char *thread)
{
	/* The first argument of an exception is major << 8 | minor, of a user event its id. */
	static const uint32_t full[] = { 0x1234 << 8 | 1, 7, 0xfffffff9, 3, 1 };
	static const uint32_t other[] = { 0x1234 << 8 | 200, 5 };
	static const uint32_t foreign[] = { 0x777 << 8 };
	static const uint32_t user[] = { 1025, 42 };
	/* Typed arguments: format and value of -2, "hello" and two bytes. */
	static const unsigned char typed[] = "\x04\xfe\xff\xff\xff"
					     "\x07hello\0"
					     "\x08\x02\xab\xcd";
	static const uint32_t signal[3];
	const struct ktape_record records[] = {
		{ .ts = 10,
		  .opcode = KTAPE_EV_EXCEPTION,
		  .nargs = 5,
		  .args = full,
		  .dat20 = 6 | 1 << 3, /* severity HW2, with a buffer */
		  .blob = "disk\"\x1b",
		  .blob_size = 6 },
		{ .ts = 20,
		  .opcode = KTAPE_EV_EXCEPTION,
		  .nargs = 2,
		  .args = other,
		  .dat20 = 1,
		  .blob = "",
		  .blob_size = 0 },
		{ .ts = 30,
		  .opcode = KTAPE_EV_EXCEPTION,
		  .nargs = 1,
		  .args = foreign,
		  .dat20 = 3,
		  .blob = "",
		  .blob_size = 0 },
		{ .ts = 40,
		  .opcode = KTAPE_EV_USER_EVENT,
		  .nargs = 2,
		  .args = user,
		  .blob = typed,
		  .blob_size = sizeof(typed) - 1 },
		{ .ts = 50, .opcode = KTAPE_EV_IRQ_HANDLER_EXIT, .dat20 = 24 },
		{ .ts = 60,
		  .opcode = KTAPE_EV_SIGNAL_DELIVER,
		  .nargs = 3,
		  .args = signal,
		  .dat20 = 15 /* SIGTERM */ },
	};
	struct ktape_block head = {
		.ts_begin = 1,
		.seq = 1,
		.tid = 12,
		.cpu = 2,
	};
	struct ktape_block names = { .kind = KTAPE_RING_REGISTRY, .seq = 1 };
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;
	size_t i;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	memcpy(names.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &names);
	add_registry_name(&b, KTAPE_OBJ_THREAD, 12, 10, thread);
	add_registry_name(&b, KTAPE_OBJ_IRQ, 24, 0, "ahci");
	add_registry_name(&b, KTAPE_OBJ_EXCEPTION, 0x1234, 0, "driver");
	trace_append(dir, "registry", data, ktape_build_end(&b, b.ts, 0));
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (i = 0; i < ARRAY_SIZE(records); i++)
		add_built_record(&b, &records[i]);
	trace_append(dir, "cpu2", data, ktape_build_end(&b, b.ts, 0));
}

/* A packet with one record. */
static void make_one_record(const char *dir, const char *name,
			    const struct ktape_block *head,
			    const struct ktape_record *record)
{
	struct ktape_block own = *head;
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;

	memcpy(own.uuid, trace_info.uuid, sizeof(own.uuid));
	own.seq = 1;
	ktape_build_begin(&b, data, sizeof(data), &own);
	add_built_record(&b, record);
	trace_append(dir, name, data, ktape_build_end(&b, b.ts, 0));
}

/*
 * Thread 9 on CPU 1 and thread 5 on CPU 0 write a name, with a switch in
 * between.
 */
static void make_named(const char *dir)
{
	static const uint32_t args[7] = { 7 }, both[] = { 5, 6 };
	const struct ktape_record record = {
		.ts = 200,
		.opcode = KTAPE_EV_SCHED_SWITCH,
		.nargs = 2,
		.args = both,
	};
	const struct ktape_block head = { .ts_begin = 200, .tid = 5 };

	make_one_record(dir, "cpu0", &head, &record);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const struct ktape_record name = {
			.ts = cpu ? 100 : 900,
			.opcode = KTAPE_EV_REGISTRY,
			.nargs = 7,
			.args = args,
			.dat20 = KTAPE_OBJ_IRQ,
			.blob = "ahci",
			.blob_size = 4,
		};
		const struct ktape_block of = {
			.ts_begin = name.ts,
			.kind = KTAPE_RING_CONTROL,
			.cpu = cpu,
			.tid = cpu ? 9 : 5,
		};

		make_one_record(dir, cpu ? "control1" : "control0", &of, &name);
	}
}

static uint32_t learned_thread(uint64_t turn)
{
	return 100 + (uint32_t)(turn % LEARNED_THREADS);
}

/* A packet of CPU @cpu: switches, and now and then the name of a thread. */
static void make_switches(const char *dir, uint32_t cpu, uint32_t packet)
{
	const uint64_t first = (uint64_t)packet * LEARNED_RECORDS;
	struct ktape_block head = { .cpu = cpu, .seq = packet + 1 };
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;
	char name[16];

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	head.ts_begin = 1000 + first * 10;
	head.tid = (int32_t)learned_thread(first);
	snprintf(name, sizeof(name), "cpu%u", cpu);
	ktape_build_begin(&b, data, sizeof(data), &head);
	for (uint32_t i = 0; i < LEARNED_RECORDS; i++) {
		const uint32_t threads[] = { learned_thread(first + i),
					     learned_thread(first + i + 1) };
		const uint32_t named[7] = { learned_thread(packet), 1 };
		const uint64_t ts = 1000 + (first + i) * 10 + cpu;
		const struct ktape_record record = {
			.ts = ts,
			.opcode = KTAPE_EV_SCHED_SWITCH,
			.nargs = 2,
			.args = threads,
		};
		const struct ktape_record learned = {
			.ts = ts,
			.opcode = KTAPE_EV_REGISTRY,
			.nargs = 7,
			.args = named,
			.dat20 = KTAPE_OBJ_THREAD,
			.blob = name, /* the file's name does for a thread */
			.blob_size = (uint32_t)strlen(name),
		};

		add_built_record(&b, &record);
		if (i == 60 && packet % 7 == cpu)
			add_built_record(&b, &learned);
	}
	trace_append(dir, name, data, ktape_build_end(&b, b.ts, 0));
}

static void make_learned(const char *dir)
{
	for (uint32_t packet = 0; packet < LEARNED_PACKETS; packet++)
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			make_switches(dir, cpu, packet);
}

static int make_session(const char *dir, const char *file)
{
	struct sim *s = sim_new(1);

	sim_start(s);
	sim_work(s, 2000);
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_save_pipe(s, file);
	sim_free(s);
	return 0;
}

static int make_partial(const char *dir)
{
	struct sim *s = sim_new(2);

	sim_start(s);
	sim_work(s, 200);
	sim_change(s, KTAPE_EV_SCHED_SWITCH, false);
	sim_work(s, 200);
	sim_change(s, KTAPE_EV_SCHED_SWITCH, true);
	sim_filter(s, KTAPE_FILTER_SYSCALL, true);
	sim_work(s, 200);
	sim_filter(s, KTAPE_FILTER_SYSCALL, false);
	sim_stop(s);
	s->now += 20000;
	sim_start(s);
	sim_work(s, 200);
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_free(s);
	return 0;
}

static int make_lossy(const char *dir)
{
	struct sim *s = sim_new(4);

	sim_start(s);
	sim_work(s, 400);
	s->losing[0] = 1U << KTAPE_CLASS_SYSCALL;
	sim_work(s, 400);
	s->shedding = true;
	sim_work(s, 400);
	s->losing[0] = 0;
	sim_work(s, 400);
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_free(s);
	return 0;
}

/* Something happens every 200 ms, for several intervals of ktape top. */
static int make_slow(const char *dir, bool lossy)
{
	struct sim *s = sim_new(4);

	sim_start(s);
	for (unsigned int i = 0; i < SLOW_PARTS; i++) {
		if (lossy && i == SLOW_LOSING)
			s->losing[0] = 1U << KTAPE_CLASS_SYSCALL;
		sim_work(s, 100);
		s->losing[0] = 0;
		s->now += 200000000;
	}
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_free(s);
	return 0;
}

/* Write a packet of CPU 1 that is empty, or has records. */
static void make_cpu1_packet(const char *dir, uint64_t seq, uint64_t ts,
			     uint64_t discarded, bool records)
{
	const struct trace_packet p = {
		.cpu = 1, .seq = seq, .ts = ts, .discarded = discarded
	};
	struct ktape_block head = { .cpu = 1, .seq = seq, .ts_begin = ts, .tid = 1 };
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;

	memset(data, 0, sizeof(data));
	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	if (records) {
		trace_packet(data, &p);
	} else {
		ktape_build_begin(&b, data, sizeof(data), &head);
		ktape_build_end(&b, ts + 100, discarded);
	}
	trace_fill(data, sizeof(data));
	trace_append(dir, "cpu1", data, sizeof(data));
}

static void make_late(const char *dir)
{
	make_cpus(dir, 1);
	make_cpu1_packet(dir, 1, 1000, 0, false);
	make_cpu1_packet(dir, 2, 2000, 5, false);
	make_cpu1_packet(dir, 3, 6000, 5, true);
}

/* The times have more than 53 bits. */
static void make_aged(const char *dir)
{
	make_cpu1_packet(dir, 1, 9100000000000001, 0, true);
	make_cpu1_packet(dir, 3, 9100000000005001, 0, true);
}

/* Threads 100 and 104 run on CPUs 0 and 1.  101 is woken on CPU 1, and moves to 0. */
static int make_moved(const char *dir)
{
	static const unsigned int more[] = { KTAPE_EV_SCHED_WAKEUP,
					     KTAPE_EV_SCHED_MIGRATE_TASK };
	const uint32_t prio_bits = 8;
	struct sim *s = sim_new(3);

	for (unsigned int i = 0; i < ARRAY_SIZE(more); i++)
		s->mask[more[i] / 64] |= 1ULL << (more[i] % 64);
	sim_start(s);
	/* The first switches only say who runs from here on. */
	sim_event(s, 1, KTAPE_EV_SCHED_SWITCH, 0, 2, 107, 104);
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, 101, 100);
	s->now += 1000;
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, 100, 101);
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 1 << 16, 2, 101, 100);
	sim_event(s, 1, KTAPE_EV_SCHED_WAKEUP, 1 << prio_bits, 1, 101, 0);
	s->now += 5000;
	/* To CPU 0 (dat20), from CPU 1. */
	sim_event(s, 0, KTAPE_EV_SCHED_MIGRATE_TASK, 0, 2, 101, 1);
	s->now += 3000;
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, 100, 101);
	s->now += 1000;
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_free(s);
	return 0;
}

/* Give the trace in a folder a clock that is related to the others. */
static int make_dated(const char *dir, const char *seconds, const char *mono)
{
	char path[4096], old[1 << 16], *text;
	struct ktape_info info;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "r");
	if (!f)
		return 1;
	len = fread(old, 1, sizeof(old), f);
	fclose(f);
	if (ktape_metadata_parse(old, len, &info, NULL))
		return 1;
	info.offset_s = atoll(seconds);
	info.mono_offset_ns = info.boot_offset_ns = atoll(mono);
	info.real_offset_ns = (int64_t)((uint64_t)info.offset_s * 1000000000);
	if (ktape_metadata_format(&info, &text, &len))
		return 1;
	f = fopen(path, "w");
	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		return 1;
	free(text);
	return 0;
}

/*
 * Record a thread's name in a control ring.  @born: when it began, 0 = not known; @died: when it
 * ended, 0 = it lives.
 */
static void name_living_thread(struct sim *s, uint32_t tid, uint64_t born,
			       uint64_t died, const char *name)
{
	const uint32_t args[] = {
		tid,
		tid,
		0,
		(uint32_t)born,
		(uint32_t)(born >> 32),
		(uint32_t)died,
		(uint32_t)(died >> 32),
	};
	const struct ktape_record record = {
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = KTAPE_OBJ_THREAD,
		.args = args,
		.nargs = ARRAY_SIZE(args),
		.blob = name,
		.blob_size = (uint32_t)strlen(name),
	};

	sim_control(s, tid < 100 + SIM_THREADS ? 0 : 1, &record);
}

/*
 * At first all are called worker, but 106 and 107 have no name.  100 executes ls and cat;
 * 105 ends, and its id is used again; 107 gets a name in the middle.
 */
static int make_renamed(const char *dir, const char *file)
{
	struct sim *s = sim_new(5);

	sim_start(s);
	sim_work(s, 300);
	name_living_thread(s, 100, 0, 0, "ls");
	sim_work(s, 300);
	name_living_thread(s, 100, 0, 0, "cat");
	name_living_thread(s, 105, 0, s->now, "worker");
	sim_work(s, 300);
	name_living_thread(s, 105, s->now, 0, "again");
	name_living_thread(s, 107, 0, 0, "late \"one\"");
	sim_work(s, 300);
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 2);
	sim_save_pipe_nameless(s, file, 2);
	sim_free(s);
	return 0;
}

/* Thread 101 waits for CPU 0 while 100 and 102 take turns, 600 times. */
static int make_starved(const char *dir)
{
	const uint32_t preempted = KTAPE_STATE_PREEMPTED << 16;
	struct sim *s = sim_new(6);

	s->mask[KTAPE_EV_SCHED_WAKEUP / 64] |= 1ULL << (KTAPE_EV_SCHED_WAKEUP % 64);
	sim_start(s);
	sim_event(s, 1, KTAPE_EV_SCHED_SWITCH, 0, 2, 104, 105);
	sim_event(s, 1, KTAPE_EV_SCHED_WAKEUP, 0, 1, 101, 0);
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t to = i & 1 ? 100 : 102;

		s->now += 100 + i % 7 * 10;
		sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, preempted, 2,
			  i & 1 ? 102 : 100, to);
	}
	s->now += 1000;
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, preempted, 2, 100, 101);
	s->now += 1000;
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	sim_free(s);
	return 0;
}

static void make_image(const char *path)
{
	static const char front[3 * IMAGE_PAGE];
	struct image m;

	image_make(&m);
	trace_append(".", path, front, sizeof(front));
	trace_append(".", path, m.data, m.size);
	image_free(&m);
}

/*
 * Return the metadata of a folder as a recorder of a log would have written it: without the word
 * that a conversion has made the trace, and with a remark that names the log.
 */
static char *piece_metadata(const char *dir, const char *log, size_t *len)
{
	static const char converted[] = "\tconverted = \"yes\";\n";
	char remark[512], path[512], *text, *line;
	uint8_t *data;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	snprintf(remark, sizeof(remark), "a piece of the log %s", log);
	n = kt_read_file(AT_FDCWD, path, 1 << 20, &data);
	if (n < 0)
		abort();
	text = (char *)data;
	*len = (size_t)n;
	line = memmem(text, *len, converted, strlen(converted));
	if (line) {
		*len -= strlen(converted);
		memmove(line, line + strlen(converted),
			*len - (size_t)(line - text));
		kt_metadata_seal(text, *len);
	}
	if (kt_metadata_remark(&text, len, remark))
		abort();
	return text;
}

static int make_piece_metadata(const char *dir, const char *log)
{
	char path[512], *text;
	size_t len;

	text = piece_metadata(dir, log, &len);
	snprintf(path, sizeof(path), "%s/metadata", dir);
	if (unlink(path))
		abort();
	trace_append(dir, "metadata", text, len);
	free(text);
	return 0;
}

static int make_piece_file(const char *dir, const char *file, const char *log)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0666);
	struct ktape_info info;
	char pattern[512], *text;
	uint8_t *data;
	size_t len;
	glob_t g;
	ssize_t n;

	text = piece_metadata(dir, log, &len);
	if (ktape_metadata_parse(text, len, &info, NULL) ||
	    ktape_pipe_metadata(fd, info.uuid, text, len))
		abort();
	free(text);
	/* control*, cpu* and registry: all but the metadata. */
	snprintf(pattern, sizeof(pattern), "%s/[cr]*", dir);
	if (glob(pattern, 0, NULL, &g))
		abort();
	for (size_t i = 0; i < g.gl_pathc; i++) {
		n = kt_read_file(AT_FDCWD, g.gl_pathv[i], 1 << 24, &data);
		if (n < 0 || write(fd, data, (size_t)n) != n)
			abort();
		free(data);
	}
	globfree(&g);
	return close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "piece"))
		return make_piece_metadata(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "piece-file"))
		return make_piece_file(argv[2], argv[3], argv[4]);
	if (argc == 5 && !strcmp(argv[1], "dated"))
		return make_dated(argv[2], argv[3], argv[4]);
	if (argc == 4 && !strcmp(argv[1], "session"))
		return make_session(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "starved"))
		return make_starved(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "renamed"))
		return make_renamed(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "lossy"))
		return make_lossy(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "slow"))
		return make_slow(argv[2], false);
	if (argc == 3 && !strcmp(argv[1], "slow-lossy"))
		return make_slow(argv[2], true);
	if (argc == 3 && !strcmp(argv[1], "moved"))
		return make_moved(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "partial"))
		return make_partial(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "pipe")) {
		trace_begin_pipe(STDOUT_FILENO);
		make_cpus(NULL, (unsigned int)atoi(argv[2]));
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "image")) {
		make_image(argv[2]);
		return 0;
	}
	/* Those above need no new folder, or have made it by sim_save(). */
	if (argc < 3 || mkdir(argv[2], 0777))
		return 2;
	trace_metadata(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "folder"))
		make_cpus(argv[2], (unsigned int)atoi(argv[3]));
	else if (argc == 3 && !strcmp(argv[1], "late"))
		make_late(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "aged"))
		make_aged(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "kinds"))
		make_kinds(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "learned"))
		make_learned(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "named"))
		make_named(argv[2]);
	else if ((argc == 3 || argc == 4) && !strcmp(argv[1], "emitted"))
		make_emitted(argv[2], argc == 4 ? argv[3] : "worker");
	else
		return 2;
	return 0;
}
