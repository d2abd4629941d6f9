/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hand-made trace of Linux events, small enough to count by hand; 1 tick is 1
 * ns. The expected numbers are in the tests that read it.
 */
#ifndef _LIB_SCENE_H
#define _LIB_SCENE_H

#include "lib_codec.h"
#include "tap.h"

struct scene_event {
	uint64_t ts;
	uint32_t cpu;
	int32_t tid;
	uint8_t opcode;
	uint8_t nargs;
	uint32_t dat20;
	uint32_t args[7];
	const char *blob;
	uint32_t blob_size;
};

static const struct ktape_info scene_info = {
	.uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	.freq = 1000000000,
	.clock = "mono",
	.hostname = "board",
	.release = "6.1.0",
	.machine = "x86_64",
};

#define SWITCH(prev, next, state)                                 \
	KTAPE_EV_SCHED_SWITCH, 2, 120 | 120 << 8 | (state) << 16, \
	{                                                         \
		(prev), (next)                                    \
	}
#define WAKING(tid, cpu)                            \
	KTAPE_EV_SCHED_WAKING, 1, 120 | (cpu) << 8, \
	{                                           \
		(tid)                               \
	}
#define WAKEUP(tid, cpu)                            \
	KTAPE_EV_SCHED_WAKEUP, 1, 120 | (cpu) << 8, \
	{                                           \
		(tid)                               \
	}
#define SYS_READ      0
#define SYS_NANOSLEEP 35
#define NET_RX	      3
#define SDA	      (8 << 20)

/*
 * Threads: 100 is "app", 101 a thread of the same process, 7 a kernel thread.  24 | 1 << 18 is
 * interrupt 24, which was handled; 0x5000 is a work, 0x6000 a timer, 236 the timer's vector.
 */
static const struct scene_event scene[] = {
	{ 1000, 0, 0, KTAPE_EV_CONTEXT, 1, 0xff, { 0 }, NULL, 0 },
	{ 1000, 1, 101, KTAPE_EV_CONTEXT, 1, 0xff, { 101 }, NULL, 0 },
	{ 2000, 0, 0, KTAPE_EV_IRQ_HANDLER_ENTRY, 0, 24, { 0 }, NULL, 0 },
	{ 2500, 0, 0, KTAPE_EV_SOFTIRQ_RAISE, 0, NET_RX, { 0 }, NULL, 0 },
	{ 3000, 0, 0, WAKING(100, 0), NULL, 0 },
	{ 3100, 0, 0, WAKEUP(100, 0), NULL, 0 },
	{ 4000, 0, 0, KTAPE_EV_IRQ_HANDLER_EXIT, 0, 24 | 1 << 18, { 0 }, NULL, 0 },
	{ 4200, 0, 0, KTAPE_EV_SOFTIRQ_ENTRY, 0, NET_RX, { 0 }, NULL, 0 },
	{ 5200, 0, 0, KTAPE_EV_SOFTIRQ_EXIT, 0, NET_RX, { 0 }, NULL, 0 },
	{ 6000, 0, 0, SWITCH(0, 100, KTAPE_STATE_R), NULL, 0 },
	{ 7000, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
	{ 7100, 0, 100, KTAPE_EV_BLOCK_RQ_ISSUE, 4, 0, { SDA, 2048, 0, 4096 }, NULL, 0 },
	{ 8000, 0, 100, SWITCH(100, 0, KTAPE_STATE_D), NULL, 0 },
	{ 9000, 0, 0, KTAPE_EV_IRQ_HANDLER_ENTRY, 0, 24, { 0 }, NULL, 0 },
	{ 9100, 0, 0, KTAPE_EV_BLOCK_RQ_COMPLETE, 4, 0, { SDA, 2048, 0, 4096 }, NULL, 0 },
	{ 9200, 0, 0, WAKING(100, 0), NULL, 0 },
	{ 9300, 0, 0, WAKEUP(100, 0), NULL, 0 },
	{ 9400, 0, 0, WAKING(7, 0), NULL, 0 },
	{ 9500, 0, 0, WAKEUP(7, 0), NULL, 0 },
	{ 10000, 0, 0, KTAPE_EV_IRQ_HANDLER_EXIT, 0, 24 | 1 << 18, { 0 }, NULL, 0 },
	{ 10500, 0, 0, SWITCH(0, 7, KTAPE_STATE_R), NULL, 0 },
	{ 11000, 0, 7, KTAPE_EV_WORKQUEUE_EXECUTE_START, 2, 0, { 0x5000, 0x11 }, NULL, 0 },
	{ 13000, 0, 7, KTAPE_EV_WORKQUEUE_EXECUTE_END, 2, 0, { 0x5000, 0x11 }, NULL, 0 },
	{ 14000, 0, 7, SWITCH(7, 100, KTAPE_STATE_I), NULL, 0 },
	{ 15000, 0, 100, KTAPE_EV_SYS_EXIT, 2, SYS_READ, { 4096, 0 }, NULL, 0 },
	{ 15500, 1, 101, KTAPE_EV_SYS_ENTER, 0, SYS_READ, { 0 }, NULL, 0 },
	{ 16000, 1, 101, KTAPE_EV_SYS_EXIT, 2, SYS_READ, { (uint32_t)-11, 0xffffffff }, NULL, 0 },
	{ 16500, 0, 100, KTAPE_EV_SYS_ENTER, 0, SYS_NANOSLEEP, { 0 }, NULL, 0 },
	{ 17000, 0, 100, SWITCH(100, 0, KTAPE_STATE_S), NULL, 0 },
	{ 18000, 0, 0, KTAPE_EV_LOCAL_TIMER_ENTRY, 0, 236, { 0 }, NULL, 0 },
	{ 18100, 0, 0, KTAPE_EV_HRTIMER_EXPIRE_ENTRY, 3, 0, { 0x6000, 0x12, 700 }, NULL, 0 },
	{ 18200, 0, 0, WAKING(100, 0), NULL, 0 },
	{ 18300, 0, 0, WAKEUP(100, 0), NULL, 0 },
	{ 18400, 0, 0, KTAPE_EV_HRTIMER_EXPIRE_EXIT, 1, 0, { 0x6000 }, NULL, 0 },
	{ 18500, 0, 0, KTAPE_EV_LOCAL_TIMER_EXIT, 0, 236, { 0 }, NULL, 0 },
	{ 19000, 0, 0, SWITCH(0, 100, KTAPE_STATE_R), NULL, 0 },
	{ 19500, 0, 100, KTAPE_EV_SYS_EXIT, 2, SYS_NANOSLEEP, { 0, 0 }, NULL, 0 },
	{ 19600, 0, 100, KTAPE_EV_MARK_BEGIN, 1, 0, { 5 }, "", 0 },
	{ 19700, 0, 100, KTAPE_EV_MARK_END, 1, 0, { 5 }, "", 0 },
	{ 19750, 0, 100, KTAPE_EV_TEXT, 0, 0, { 0 }, "a \"b\"\n", 6 },
	{ 19800, 1, 101, KTAPE_EV_MARK_VALUE, 3, 0, { 6, (uint32_t)-3, 0xffffffff }, "", 0 },
	{ 20000, 0, 100, KTAPE_EV_PROCESS_EXIT, 3, 120, { 100, 100, 0 }, NULL, 0 },
	{ 21000, 0, 100, SWITCH(100, 0, KTAPE_STATE_X), NULL, 0 },
	{ 21000, 1, 101, KTAPE_EV_IPI_ENTRY, 0, 1, { 0 }, NULL, 0 },
	{ 21100, 1, 101, KTAPE_EV_IPI_EXIT, 0, 1, { 0 }, NULL, 0 },
};

static struct {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
	const char *name;
} scene_names[] = {
	{ KTAPE_OBJ_THREAD, 100, 100, "app" },
	{ KTAPE_OBJ_THREAD, 101, 100, "wor\"ker\xff" },
	{ KTAPE_OBJ_THREAD, 7, 7, "kworker/0:1" },
	{ KTAPE_OBJ_IRQ, 24, 0, "ahci" },
	{ KTAPE_OBJ_FUNCTION, 0x11, 0, "do_work" },
	{ KTAPE_OBJ_FUNCTION, 0x12, 0, "hrtimer_wakeup" },
	{ KTAPE_OBJ_MARKER, 5, 0, "frame" },
	{ KTAPE_OBJ_VALUE, 6, 0, "level" },
};

#define SCENE_EVENTS ARRAY_SIZE(scene)

/* Callback that takes the events in order. Return: 0 or a negative errno. */
typedef int scene_take(void *arg, const struct ktape_event *e);

/* Add the names of the scene to @registry, and pass them to @take unless it is NULL. */
__attribute__((unused)) static int scene_names_to(struct ktape_registry *registry,
						  scene_take *take, void *arg)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(scene_names) && !err; i++) {
		const uint32_t args[7] = { scene_names[i].id, scene_names[i].param1 };
		const struct ktape_event e = {
			.ts = 1,
			.kind = KTAPE_RING_REGISTRY,
			.known = true,
			.opcode = KTAPE_EV_REGISTRY,
			.nargs = 7,
			.args = args,
			.dat20 = scene_names[i].type,
			.tid = -1,
			.blob = scene_names[i].name,
			.blob_size = (uint32_t)strlen(scene_names[i].name),
			.size = 256,
		};

		err = ktape_registry_add(registry, &e);
		if (!err && take)
			err = take(arg, &e);
	}
	return err;
}

/* Pass @events from index @from up to, not including, @to. Return: 0, or what @take returned. */
__attribute__((unused)) static int scene_play_of(const struct scene_event *events,
						 size_t from, size_t to,
						 scene_take *take, void *arg)
{
	int err = 0;

	for (size_t i = from; i < to && !err; i++) {
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
			.size = 8 + m->nargs * 4U + m->blob_size + 8,
		};

		err = take(arg, &e);
	}
	return err;
}

/* The same with part of the scene. */
__attribute__((unused)) static int scene_play(size_t from, size_t to,
					      scene_take *take, void *arg)
{
	return scene_play_of(scene, from, to, take, arg);
}

/* A loss within the scene, for tests that want one. */
static const struct ktape_notice scene_lost = {
	.kind = KTAPE_NOTICE_LOST,
	.stream = true,
	.cpu = 1,
	.count = 5,
	.from = 16100,
	.to = 16400,
};

/*
 * Write the scene in a format to @path, or if that is NULL to a file in memory. @loss: with
 * @scene_lost in its middle. Return: descriptor of the file in memory, -1 if the scene was
 * written to @path, or another negative errno.
 */
__attribute__((unused)) static int scene_write(const char *format,
					       const char *options,
					       const char *path, bool loss)
{
	struct ktape_sink_options how = {
		.format = format,
		.options = options,
		.path = path,
		.info = &scene_info,
	};
	struct ktape_registry *registry;
	struct ktape_sink *sink = NULL;
	char memory[CODEC_PATH];
	size_t half = SCENE_EVENTS * 6 / 10;
	int fd = -1, err;

	if (!path) {
		fd = codec_file(memory, "", 0);
		how.path = memory;
	}
	if (ktape_registry_new(scene_info.freq, &registry))
		abort();
	how.registry = registry;
	err = ktape_sink_open(&how, &sink, NULL);
	if (!err)
		err = scene_names_to(registry, (scene_take *)ktape_sink_event, sink);
	/* A reader reports a loss before the first event behind it. */
	while (half < SCENE_EVENTS && scene[half].ts < scene_lost.to)
		half++;
	if (!err)
		err = scene_play(0, half, (scene_take *)ktape_sink_event, sink);
	if (!err && loss)
		err = ktape_sink_notice(sink, &scene_lost);
	if (!err)
		err = scene_play(half, SCENE_EVENTS,
				 (scene_take *)ktape_sink_event, sink);
	if (!err)
		err = ktape_sink_finish(sink);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Check that each of @lines is in @text. */
static inline void check_has_lines(const char *text, const char *const *lines,
				   size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check(strstr(text, lines[i]), "there is no: %s", lines[i]);
}

/* Return how often @what is in @text. */
static inline unsigned int count_in_text(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

#endif /* _LIB_SCENE_H */
