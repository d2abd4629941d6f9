/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace while it is written: what its codec works with. */
#ifndef _KT_SINK_H
#define _KT_SINK_H

#include "codec.h"
#include "util/stage.h"

#define KT_SINK_MISSES	320	/* more than there are events */

/**
 * struct kt_sink - what a codec sees of what it writes
 * @codec: the codec
 * @options: what it was told, see kt_codec_option()
 * @info: of the trace
 * @registry: names
 * @metadata: of a native trace where all events come from, or NULL
 * @metadata_len: bytes of it
 * @path: where to, for codecs with @own_files
 * @flags: KTAPE_SINK_*
 * @state: of the codec
 * @fd: the file
 * @owned: @fd is not standard output
 * @stage: the temporary name of @fd or of the folder that the codec writes
 * @seekable: it is a file, kt_sink_patch() works
 * @buf: what was not yet written
 * @len: bytes of it
 * @cap: room
 * @offset: bytes that were written before @buf
 * @error: of the first write that failed
 * @finished: end() was called
 * @why: a sentence
 * @misses: what the format could not hold
 * @nr_misses: how many kinds
 * @mixed: bit n: the output has events of CPU n, which its readers do not tell from
 *	those of others
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
char *kt_sink_room(struct kt_sink *s, size_t n);
int kt_sink_flush(struct kt_sink *s);
int kt_sink_put(struct kt_sink *s, const void *data, size_t len);
int kt_sink_patch(struct kt_sink *s, uint64_t offset, const void *data,
		  size_t len);
int kt_sink_fail(struct kt_sink *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void kt_sink_mix(struct kt_sink *s, uint32_t cpu);
void kt_sink_miss(struct kt_sink *s, const char *what, uint64_t count);

/* What was put at kt_sink_room() ends at @end. */
static inline int kt_sink_done(struct kt_sink *s, const char *end)
{
	s->len = (size_t)(end - s->buf);
	return 0;
}

/* Where the next byte goes in the file. */
static inline uint64_t kt_sink_at(const struct kt_sink *s)
{
	return s->offset + s->len;
}

#endif /* _KT_SINK_H */
