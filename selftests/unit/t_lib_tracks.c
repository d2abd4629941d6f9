// SPDX-License-Identifier: GPL-2.0-only
/*
 * What viewers show besides the kernel's own events: tracks of markers, routines,
 * exceptions, events and objects of real-time systems.
 */
#include "lib_proto.h"
#include "lib_scene.h"

/* A name as a registry record tells it. */
struct given {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
	uint32_t param2;
	const char *name;
};

static void give_name(struct ktape_registry *registry, struct ktape_sink *sink,
		      const struct given *g)
{
	const uint32_t args[7] = { g->id, g->param1, g->param2 };
	const struct ktape_event e = {
		.kind = KTAPE_RING_REGISTRY, .known = true, .nargs = 7,
		.opcode = KTAPE_EV_REGISTRY, .args = args, .dat20 = g->type,
		.tid = -1, .blob = g->name,
		.blob_size = (uint32_t)strlen(g->name), .size = 256,
	};

	if (ktape_registry_add(registry, &e) || ktape_sink_event(sink, &e))
		abort();
}

/* Names and events in a format; to be freed. */
static char *text_of(const char *format, const struct given *names,
		     size_t nr_names, const struct scene_event *events,
		     size_t nr, size_t *len)
{
	char path[CODEC_PATH], *text;
	int fd = codec_file(path, "", 0);
	struct ktape_sink_options how = {
		.format = format, .path = path, .info = &scene_info,
	};
	struct ktape_registry *registry;
	struct ktape_sink *sink;

	if (ktape_registry_new(scene_info.freq, &registry))
		abort();
	how.registry = registry;
	if (ktape_sink_open(&how, &sink, NULL))
		abort();
	for (size_t i = 0; i < nr_names; i++)
		give_name(registry, sink, &names[i]);
	if (scene_play_of(events, 0, nr, (scene_take *)ktape_sink_event, sink) ||
	    ktape_sink_finish(sink))
		abort();
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	text = codec_content(fd, len);
	close(fd);
	return text;
}

static char *tracks_of(const struct given *names, size_t nr_names,
		       const struct scene_event *events, size_t nr)
{
	size_t len;
	char *data = text_of("perfetto", names, nr_names, events, nr, &len);
	char *lines = proto_lines(data, len);

	free(data);
	return lines;
}

static void same_text(const char *got, const char *want)
{
	size_t i = 0;

	while (got[i] && got[i] == want[i])
		i++;
	while (i && got[i - 1] != '\n')
		i--;
	check(!strcmp(got, want), "%.150s", got + i);
}

/* ---- names ---------------------------------------------------------------- */

#define OWN	1	/* of the thread, in dat20 */

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

/* The names that ktape dump shows. */
static void names(void)
{
	char *lines = tracks_of(marker_names, ARRAY_SIZE(marker_names),
				marker_events, ARRAY_SIZE(marker_events));

	same_text(lines,
		  "begin Interrupt routines CPU 0: every CPU's\n"
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

#define SYS_EXIT_GROUP	231

/* Both ends of a slice have one name, and none outlives its thread. */
static void slices(void)
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
	char *text = text_of("chrome", marker_names, ARRAY_SIZE(marker_names),
			     events, ARRAY_SIZE(events), &len);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		check(strstr(text, lines[i]), "there is no %s", lines[i]);
	check(!strstr(text, "{\"ph\":\"E\",\"pid\":7,"),
	      "a thread that sleeps goes on with its call");
	free(text);
}

static const struct tap_test tests[] = {
	{ "names of markers, routines and exceptions", names },
	{ "slices of Chrome's JSON end", slices },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
