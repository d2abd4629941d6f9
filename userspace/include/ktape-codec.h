/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: formats of others, and writing traces in any format.  Included by ktape.h. */
#ifndef _KTAPE_CODEC_H
#define _KTAPE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktape-trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kt_codec_in;
struct kt_codec_out;

/**
 * struct ktape_codec_option - what a codec can be told
 * @key: its name
 * @arg: what its value is, for people
 * @help: for people
 */
struct ktape_codec_option {
	const char *key;
	const char *arg;
	const char *help;
};

/**
 * struct ktape_codec - a format
 * @name: its name
 * @help: for people
 * @in: how it is read; NULL: it is not, or it is the native one
 * @out: how it is written; NULL: it is not
 */
struct ktape_codec {
	const char *name;
	const char *help;
	const struct kt_codec_in *in;
	const struct kt_codec_out *out;
};

/**
 * ktape_event_is_metadata() - does an event tell what others are about?
 * @event: the event
 *
 * In a trace of Tonbandgeraet such events are told once, in front of others.
 *
 * Return: true if it does.
 */
bool ktape_event_is_metadata(const struct ktape_event *event);

/**
 * ktape_event_is_assumed() - does an event tell what no stream has told?
 * @event: the event
 *
 * Reading RKH trace without its configuration record delivers the configuration
 * that is taken instead, so that the stream can be written again as it was.
 * Programs that show events leave it out.
 *
 * Return: true if it does.
 */
bool ktape_event_is_assumed(const struct ktape_event *event);

/**
 * ktape_codec() - the formats one after the other
 * @i: from 0
 *
 * Return: the format, or NULL behind the last one.
 */
const struct ktape_codec *ktape_codec(unsigned int i);

/**
 * ktape_codec_find() - look a format up by its name
 * @name: its name
 *
 * Return: the format, or NULL.
 */
const struct ktape_codec *ktape_codec_find(const char *name);

/**
 * ktape_codec_reads() - can it be read?
 * @codec: the format
 *
 * Return: true if it can.
 */
bool ktape_codec_reads(const struct ktape_codec *codec);

/**
 * ktape_codec_options() - what a format can be told
 * @codec: the format
 * @out: when it is written, else when it is read
 *
 * Return: options up to one without a key, or NULL if there are none.
 */
const struct ktape_codec_option *
ktape_codec_options(const struct ktape_codec *codec, bool out);

/* A trace that is being written. */
struct ktape_sink;

#define KTAPE_SINK_FORCE	(1U << 0)	/* replace a trace's directory */
#define KTAPE_SINK_IN_PLACE	(1U << 1)	/* have the name from the
						 * beginning, and keep what was
						 * written; of lttng only where
						 * nothing is replaced */
/*
 * Native metadata that is made from @info repeats what inputs told, and vouches for no
 * more than theirs: of one no checksum, or not of all, vouched for its values
 * (ktape_metadata_check() returns -ENODATA); one was damaged (-EBADMSG).
 */
#define KTAPE_SINK_UNSEALED	(1U << 2)	/* it gets no checksum */
#define KTAPE_SINK_DAMAGED	(1U << 3)	/* it gets a wrong checksum */

/**
 * struct ktape_sink_options - what to write, and where to
 * @format: name of the format
 * @options: "key=value,...", or NULL
 * @path: file or directory; "-": standard output
 * @flags: KTAPE_SINK_*
 * @info: of the trace; has to stay
 * @registry: names; has to stay
 * @metadata: text of the metadata of a native trace, where all events come from
 *	it; NULL: made from @info
 * @metadata_len: bytes of it
 */
struct ktape_sink_options {
	const char *format;
	const char *options;
	const char *path;
	uint32_t flags;
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	const char *metadata;
	size_t metadata_len;
};

/**
 * ktape_sink_open() - begin to write a trace
 * @options: what and where
 * @sink: set; ends with ktape_sink_close()
 * @error: filled on -EINVAL, else its text is empty; may be NULL
 *
 * Return: 0, -EINVAL if the format or an option is not known, or the errno of
 * the failed call.
 */
int ktape_sink_open(const struct ktape_sink_options *options,
		    struct ktape_sink **sink, struct ktape_error *error);

/**
 * ktape_sink_event() - write an event
 * @sink: where to
 * @event: events come in the order of their time
 *
 * Return: 0, -EBADMSG if the format cannot take it at all (ktape_sink_error()
 * tells why), or the errno of a failed write.
 */
int ktape_sink_event(struct ktape_sink *sink, const struct ktape_event *event);

/**
 * ktape_sink_notice() - write that something was lost
 * @sink: where to
 * @notice: others than KTAPE_NOTICE_LOST are ignored
 *
 * Return: as ktape_sink_event().
 */
int ktape_sink_notice(struct ktape_sink *sink,
		      const struct ktape_notice *notice);

/**
 * ktape_sink_error() - why the last call failed
 * @sink: where
 *
 * Return: a sentence, empty if there is none.
 */
const char *ktape_sink_error(const struct ktape_sink *sink);

/**
 * ktape_sink_missed() - what the format could not hold
 * @sink: where
 * @i: from 0
 * @what: set to what it was
 *
 * Return: how often, 0 behind the last one.
 */
uint64_t ktape_sink_missed(const struct ktape_sink *sink, unsigned int i,
			   const char **what);

/**
 * ktape_sink_mixed_cpus() - do readers of the output take several CPUs for one?
 * @sink: where
 *
 * Return: how many CPUs have events in it, 0 if its readers tell CPUs apart.
 */
unsigned int ktape_sink_mixed_cpus(const struct ktape_sink *sink);

/**
 * ktape_sink_bytes() - how much was written
 * @sink: where
 *
 * Return: bytes.
 */
uint64_t ktape_sink_bytes(const struct ktape_sink *sink);

/**
 * ktape_sink_warning() - is it too much for those who read the format?
 * @sink: where
 *
 * Return: a sentence once that is so, else NULL.
 */
const char *ktape_sink_warning(const struct ktape_sink *sink);

/**
 * ktape_sink_switches() - does the format know what a CPU runs from switches alone?
 * @sink: the output
 *
 * Return: true if it does: context records then tell its readers nothing.
 */
bool ktape_sink_switches(const struct ktape_sink *sink);

/**
 * ktape_sink_flush() - write what waits in memory
 * @sink: where; of formats with files of their own nothing is written
 *
 * Return: as ktape_sink_event().
 */
int ktape_sink_flush(struct ktape_sink *sink);

/**
 * ktape_sink_finish() - write what is still to be written
 * @sink: where
 *
 * What was written is then valid, however early it ended.  A file or directory gets
 * its name now, and takes the place of an earlier one.
 *
 * Return: as ktape_sink_event(), or the first error.
 */
int ktape_sink_finish(struct ktape_sink *sink);

/**
 * ktape_sink_is_staged() - has the output a temporary name?
 * @sink: where
 *
 * Return: true until ktape_sink_finish(), unless it is written directly: to
 * standard output, a pipe, a device, a file of another user, what is mounted, or
 * with KTAPE_SINK_IN_PLACE.
 */
bool ktape_sink_is_staged(const struct ktape_sink *sink);

/**
 * ktape_sink_close() - the end of writing
 * @sink: or NULL
 *
 * Without ktape_sink_finish() nothing of a staged output stays.
 */
void ktape_sink_close(struct ktape_sink *sink);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_CODEC_H */
