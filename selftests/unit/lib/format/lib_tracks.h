/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Convert names and events of a scene (a hand-made trace, lib_scene.h), or a file, to Perfetto,
 * and return the tracks (rows of its display), one line of text for each packet; or to another
 * format.
 */
#ifndef _LIB_TRACKS_H
#define _LIB_TRACKS_H

#include "lib_gather.h"
#include "lib_proto.h"
#include "lib_scene.h"

/* A name as in a registry record. */
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
	/* As a registry record has them; the times of birth and death are 0, not known. */
	const uint32_t args[7] = { g->id, g->param1, g->param2 };
	const struct ktape_event e = {
		.kind = KTAPE_RING_REGISTRY,
		.known = true,
		.nargs = ARRAY_SIZE(args),
		.opcode = KTAPE_EV_REGISTRY,
		.args = args,
		.dat20 = g->type,
		.tid = -1,
		.blob = g->name,
		.blob_size = (uint32_t)strlen(g->name),
		.size = 256, /* bytes: enough for the header, the arguments and any name */
	};

	if (ktape_registry_add(registry, &e) || ktape_sink_event(sink, &e))
		abort();
}

/* Return names and events in a format, to be freed. */
static inline char *tracks_text(const char *format, const struct given *names,
				size_t nr_names, const struct scene_event *events,
				size_t nr, size_t *len)
{
	char path[CODEC_PATH], *text;
	int fd = codec_file(path, "", 0);
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

/* Return the tracks of names and events, to be freed. */
static inline char *tracks_of(const struct given *names, size_t nr_names,
			      const struct scene_event *events, size_t nr)
{
	size_t len;
	char *data = tracks_text("perfetto", names, nr_names, events, nr, &len);
	char *lines = proto_lines(data, len);

	free(data);
	return lines;
}

/* Check two texts; on a difference print from the start of its line. */
static inline void same_text(const char *got, const char *want)
{
	size_t i = 0;

	while (got[i] && got[i] == want[i])
		i++;
	while (i && got[i - 1] != '\n')
		i--;
	check(!strcmp(got, want), "%.150s", got + i);
}

/* Return a file in a format, to be freed. */
static inline char *converted(const char *path, const char *to, size_t *len)
{
	struct codec_reports reported;
	int fd = codec_convert(path, to, NULL, &reported);
	char *data;

	if (fd < 0)
		abort();
	data = codec_content(fd, len);
	close(fd);
	return data;
}

/* Return the tracks of a file, to be freed. */
static inline char *tracks_of_file(const char *path)
{
	size_t len;
	char *data = converted(path, "perfetto", &len);
	char *lines = proto_lines(data, len);

	free(data);
	return lines;
}

#endif /* _LIB_TRACKS_H */
