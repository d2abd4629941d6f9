/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a trace: the output file, its buffer, and what the format calls while it writes.
 * ktape_sink_open(), which finds the format by its name, is in formats.c.
 */
#ifndef _KT_WRITER_H
#define _KT_WRITER_H

#include "format.h"
#include "util/stage.h"

#define KT_SINK_MISSES 320 /* kinds of misses; more than kinds of events */

/**
 * struct kt_sink - a trace that is being written
 * @codec: functions of the format
 * @options: options of the user, see kt_codec_option()
 * @info: info of the trace
 * @registry: names
 * @metadata: metadata text of the native trace that all events come from, or NULL
 * @metadata_len: bytes of @metadata
 * @path: name of the output; "-" = standard output
 * @flags: KTAPE_SINK_*
 * @state: state of the format, kt_codec_out.size bytes
 * @fd: the output file, -1 = none; a format with @own_files may open it (kt_sink_open_file())
 * @owned: @fd is to be closed: it is not standard output
 * @stage: temporary name of @fd, or of the directory that the format writes, unless the format
 *	has a stage of its own (kt_codec_out.is_staged)
 * @seekable: @fd is a regular file, so kt_sink_patch() works
 * @buf: bytes that were not yet written to @fd
 * @len: number of bytes in @buf
 * @cap: bytes allocated for @buf
 * @offset: bytes of the output before those in @buf; a format with @own_files counts its own
 * @part: the output stays in @buf, see kt_sink_part_new()
 * @error: negative errno of a write that failed, of memory that is missing, or set by the format,
 *	0 = none.  From then on no event is written
 * @finished: end() was called
 * @why: why begin(), event() or end() failed, in a sentence
 * @misses: what the format could not hold, and how often
 * @nr_misses: entries of @misses in use
 * @mixed: bit n = the output has events of CPU n that its readers cannot distinguish from
 *	those of other CPUs
 */
struct kt_sink {
	const struct kt_codec_out *codec;
	struct kt_codec_options options;
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	const char *metadata;
	size_t metadata_len;
	const char *path;
	uint32_t flags;
	void *state;
	int fd;
	bool owned;
	struct kt_stage stage;
	bool seekable;
	char *buf;
	size_t len;
	size_t cap;
	uint64_t offset;
	bool part;
	int error;
	bool finished;
	struct ktape_error why;
	struct {
		const char *what;
		uint64_t count;
	} misses[KT_SINK_MISSES];
	unsigned int nr_misses;
	uint64_t mixed[KT_CPUS_MAX / 64];
};

int kt_sink_open(const struct kt_codec_out *codec,
		 const struct ktape_sink_options *options,
		 struct ktape_sink **sink, struct ktape_error *error);
int kt_sink_open_file(struct kt_sink *s);
bool kt_sink_is_alone(const struct ktape_sink *sink);
int kt_sink_part_new(const struct ktape_sink *sink, struct ktape_sink **part);
void kt_sink_part_begin(struct ktape_sink *part,
			const struct ktape_registry *registry);
int kt_sink_part_take(struct ktape_sink *sink, const struct ktape_sink *part);
int kt_sink_move(struct ktape_sink *sink, const char *path);
char *kt_sink_room(struct kt_sink *s, size_t n);
int kt_sink_flush(struct kt_sink *s);
int kt_sink_put(struct kt_sink *s, const void *data, size_t len);
int kt_sink_patch(struct kt_sink *s, uint64_t offset, const void *data, size_t len);
int kt_sink_fail(struct kt_sink *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void kt_sink_mix(struct kt_sink *s, uint32_t cpu);
void kt_sink_miss(struct kt_sink *s, const char *what, uint64_t count);
void kt_sink_miss_extra(struct kt_sink *s, const struct ktape_event *event);

/* End writing at kt_sink_room(): @end is after the last byte.  Return: 0. */
static inline int kt_sink_done(struct kt_sink *s, const char *end)
{
	s->len = (size_t)(end - s->buf);
	return 0;
}

/* Return the offset in the output where the next byte goes. */
static inline uint64_t kt_sink_at(const struct kt_sink *s)
{
	return s->offset + s->len;
}

#endif /* _KT_WRITER_H */
