/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: the list of trace formats, and writing a trace in any format.
 *
 * Included by ktape.h.  Reading a trace of any format is in ktape-trace.h.  "The errno" of a call
 * is returned as a negative number.
 */
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
 * struct ktape_codec_option - an option of a format
 * @key: name of the option
 * @arg: description of the value, for users
 * @help: description of the option, for users
 */
struct ktape_codec_option {
	const char *key;
	const char *arg;
	const char *help;
};

/**
 * struct ktape_codec - a trace format
 * @name: name of the format
 * @help: description for users
 * @in: functions that read the format; NULL = cannot be read, or native
 * @out: functions that write the format; NULL = cannot be written
 */
struct ktape_codec {
	const char *name;
	const char *help;
	const struct kt_codec_in *in;
	const struct kt_codec_out *out;
};

/**
 * ktape_event_is_metadata() - Check whether an event describes other events
 * @event: the event
 *
 * A Tonbandgeraet trace contains such events once, before all others.
 *
 * Return: true if the event is metadata.
 */
bool ktape_event_is_metadata(const struct ktape_event *event);

/**
 * ktape_event_is_assumed() - Check whether an event was not in the input
 * @event: the event
 *
 * If an RKH trace has no configuration record, its reader delivers the assumed
 * configuration as an event, so that the stream can be written again unchanged.
 * Programs that show events should skip it.
 *
 * Return: true if the event was assumed.
 */
bool ktape_event_is_assumed(const struct ktape_event *event);

/**
 * ktape_codec() - Return a format by its index
 * @i: index, from 0
 *
 * Return: the format, or NULL after the last one.
 */
const struct ktape_codec *ktape_codec(unsigned int i);

/**
 * ktape_codec_find() - Look up a format by its name
 * @name: name of the format
 *
 * Return: the format, or NULL.
 */
const struct ktape_codec *ktape_codec_find(const char *name);

/**
 * ktape_codec_reads() - Check whether a format can be read
 * @codec: the format
 *
 * Return: true if it can.
 */
bool ktape_codec_reads(const struct ktape_codec *codec);

/**
 * ktape_codec_options() - Return the options of a format
 * @codec: the format
 * @out: true for options of writing, false for options of reading
 *
 * Return: array that ends with an option without a key, or NULL if there are none.
 */
const struct ktape_codec_option *ktape_codec_options(const struct ktape_codec *codec,
						     bool out);

/* A trace that is being written. */
struct ktape_sink;

/* Flags of struct ktape_sink_options. */
#define KTAPE_SINK_FORCE (1U << 0) /* replace an existing trace directory */

/*
 * Write under the final name, and keep a partial output.  The format lttng does so only if
 * nothing is replaced.
 */
#define KTAPE_SINK_IN_PLACE (1U << 1)

/*
 * Native metadata made from @info repeats the values of the inputs, so it must not
 * claim more than the inputs do.  UNSEALED: an input's metadata was not fully
 * covered by a checksum (ktape_metadata_check() returned -ENODATA).  DAMAGED: an
 * input's metadata was damaged (-EBADMSG).
 */
#define KTAPE_SINK_UNSEALED (1U << 2) /* write no checksum */
#define KTAPE_SINK_DAMAGED  (1U << 3) /* write a wrong checksum */

/**
 * struct ktape_sink_options - what to write, and where
 * @format: name of the format
 * @options: "key=value,..." for the format, or NULL
 * @path: file or directory; "-" = standard output
 * @flags: KTAPE_SINK_*
 * @info: metadata of the trace; must stay valid while the sink exists
 * @registry: names; must stay valid while the sink exists
 * @metadata: metadata text if all events come from one native trace; NULL = make
 *	the metadata from @info
 * @metadata_len: bytes of @metadata
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
 * ktape_sink_open() - Begin writing a trace
 * @options: what to write, and where
 * @sink: set on success; release with ktape_sink_close()
 * @error: filled on -EINVAL, else its text is empty; may be NULL
 *
 * Return: 0, -EINVAL if the format or an option is not known, or the errno of
 * the failed call.
 */
int ktape_sink_open(const struct ktape_sink_options *options,
		    struct ktape_sink **sink, struct ktape_error *error);

/**
 * ktape_sink_event() - Write an event
 * @sink: the output
 * @event: the event; events must be written in order of time
 *
 * Return: 0, -EBADMSG if the format cannot hold the event (see
 * ktape_sink_error()), or the errno of a failed write.
 */
int ktape_sink_event(struct ktape_sink *sink, const struct ktape_event *event);

/**
 * ktape_sink_notice() - Write that events were lost
 * @sink: the output
 * @notice: kinds other than KTAPE_NOTICE_LOST are ignored
 *
 * Return: as ktape_sink_event().
 */
int ktape_sink_notice(struct ktape_sink *sink, const struct ktape_notice *notice);

/**
 * ktape_sink_takes_texts() - Check whether the format keeps texts of its caller
 * @sink: the output
 *
 * Return: true if ktape_sink_attach() can be used.
 */
bool ktape_sink_takes_texts(const struct ktape_sink *sink);

#define KTAPE_TEXT_NAME_MAX 64 /* most characters of the name of a text */

/**
 * ktape_sink_attach() - Write a JSON text of the caller, such as statistics
 * @sink: the output; not yet finished
 * @name: what the text is: lower-case letters and underscores, at most
 *	KTAPE_TEXT_NAME_MAX
 * @text: the text
 * @len: bytes of the text
 *
 * The page of the format html shows the texts "stats" (the object of ktape stats
 * --json) and "ledger" (the object of ktape verify --json).
 *
 * Return: 0, -EOPNOTSUPP if the format keeps no texts, -EINVAL if @name is longer or
 * has other characters, or as ktape_sink_event().
 */
int ktape_sink_attach(struct ktape_sink *sink, const char *name,
		      const char *text, size_t len);

/**
 * ktape_sink_error() - Return why the last call failed
 * @sink: the output
 *
 * Return: a sentence, or "" if there was no error.
 */
const char *ktape_sink_error(const struct ktape_sink *sink);

/**
 * ktape_sink_missed() - Return what the format could not hold
 * @sink: the output
 * @i: index, from 0
 * @what: set to a description
 *
 * Return: number of occurrences, 0 after the last description.
 */
uint64_t ktape_sink_missed(const struct ktape_sink *sink, unsigned int i,
			   const char **what);

/**
 * ktape_sink_mixed_cpus() - Count the CPUs whose events the output does not distinguish
 * @sink: the output
 *
 * Return: number of CPUs with events that readers of the format see as those of one
 * CPU; 0 = readers can distinguish all CPUs.
 */
unsigned int ktape_sink_mixed_cpus(const struct ktape_sink *sink);

/**
 * ktape_sink_bytes() - Return how much was written
 * @sink: the output
 *
 * Return: bytes.
 */
uint64_t ktape_sink_bytes(const struct ktape_sink *sink);

/**
 * ktape_sink_warning() - Check whether the output is too large for its readers
 * @sink: the output
 *
 * Return: a sentence once the output is too large, else NULL.
 */
const char *ktape_sink_warning(const struct ktape_sink *sink);

/**
 * ktape_sink_switches() - Check whether only switches set the running thread
 * @sink: the output
 *
 * Return: true if readers of the format learn the running thread from switches
 * alone, so the caller need not write context records.
 */
bool ktape_sink_switches(const struct ktape_sink *sink);

/**
 * ktape_sink_flush() - Write what is buffered in memory
 * @sink: the output; of the formats that write several files only the native one
 *	does it before their end
 *
 * Return: as ktape_sink_event().
 */
int ktape_sink_flush(struct ktape_sink *sink);

/**
 * ktape_sink_finish() - Write the end of the output and give it its name
 * @sink: the output
 *
 * The output is valid afterwards even if the input ended early.  A file or
 * directory now gets its final name and replaces an earlier one.
 *
 * Return: as ktape_sink_event(), or the first error.
 */
int ktape_sink_finish(struct ktape_sink *sink);

/**
 * ktape_sink_is_staged() - Check whether the output has a temporary name
 * @sink: the output
 *
 * Return: true until ktape_sink_finish(); always false if the output is written
 * directly: standard output, a pipe, a device, a file of another user, a mount
 * point, or with KTAPE_SINK_IN_PLACE.
 */
bool ktape_sink_is_staged(const struct ktape_sink *sink);

/**
 * ktape_sink_close() - Close the output
 * @sink: the output, or NULL
 *
 * A staged output is removed unless ktape_sink_finish() was called.
 */
void ktape_sink_close(struct ktape_sink *sink);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_CODEC_H */
