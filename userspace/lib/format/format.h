/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace format offers the library: its codec, a table of functions to read it and one to
 * write it, with their options.
 *
 * struct kt_codec_in reads a format, struct kt_codec_out writes one.  A format defines
 * them in its folder, format/NAME/in.c and out.c, shows them in NAME.h and has a row in
 * formats.c.
 *
 * Read this first, then reader.h (struct kt_import, a trace that is being read) and writer.h
 * (struct kt_sink, a trace that is being written).  What the formats of Linux tracers share is in
 * tracepoint.h and tracing_data.h.
 */
#ifndef _KT_FORMAT_H
#define _KT_FORMAT_H

#include <ktape/formats.h>

#include "util/put.h"

#include "stream/scan.h"

#define KT_CODEC_OPTIONS 16	     /* that the user may give */
#define KT_CODEC_PROBE	 (64U << 10) /* bytes that probe() may see */

/**
 * struct kt_codec_options - the options that the user gave a format
 * @text: "key\0value\0...", which @keys and @values point into
 * @nr: number of options
 * @keys: their names
 * @values: their values; "" for an option without "="
 */
struct kt_codec_options {
	char *text;
	unsigned int nr;
	const char *keys[KT_CODEC_OPTIONS];
	const char *values[KT_CODEC_OPTIONS];
};

struct kt_import;
struct kt_sink;
struct kt_user_event;

/**
 * struct kt_codec_in - how a format is read
 * @options: options it knows, up to an entry without a key; NULL = none
 * @size: size of its state in bytes, which is zeroed before open()
 * @kernel: events are those of a Linux kernel, not of a program or an RTOS
 * @folder: the trace is a folder, of which kt_import.in reads the file "metadata"
 * @names_late: an event can come before the name of its objects.  An input that can
 *	be read twice is then read once for names before the first event is delivered
 * @probe: say how likely the input has this format, from 0 (no) to 100 (certain).
 *	@data has its first @len bytes, or all of it if @whole
 * @open: read the options and the head of the input, and fill the info.  On a bad
 *	option return -EINVAL, on a bad head -EBADMSG, both after kt_import_fail()
 * @next: read the next piece of the input and deliver the events, names and losses in
 *	it, if any, with kt_import_emit(), kt_import_name() and kt_import_lost().
 *	Return 1, 0 at the end of the input, or negative errno (-EBADMSG after
 *	kt_import_fail(); -EAGAIN: the input has paused, see kt_import.resumes)
 * @json: write a JSON object to @p, with the names that the format itself uses, for
 *	the event that was delivered last, and return the byte after it.  @raw and
 *	@size are kt_delivery.raw and .raw_size.  There is room for
 *	KT_IMPORT_JSON_FIXED + @size * KT_IMPORT_JSON_BYTE bytes.  NULL: the format
 *	has no JSON of its own
 * @close: free what the state points to; NULL = nothing
 */
struct kt_codec_in {
	const struct ktape_codec_option *options;
	size_t size;
	bool kernel;
	bool folder;
	bool names_late;
	int (*probe)(const uint8_t *data, size_t len, bool whole);
	int (*open)(struct kt_import *s);
	int (*next)(struct kt_import *s);
	char *(*json)(char *p, const void *raw, size_t size);
	void (*close)(struct kt_import *s);
};

/**
 * struct kt_codec_out - how a format is written
 * @options: options it knows, up to an entry without a key; NULL = none
 * @size: size of its state in bytes, which is zeroed before begin()
 * @switches: its readers learn which thread a CPU runs from switches alone
 * @assumed: event() also gets the assumed configuration of an RKH trace, which the
 *	input does not contain (ktape_event_is_assumed())
 * @alone: what event() writes depends on no other event, and it calls nothing of the sink but
 *	kt_sink_room() and kt_sink_done().  Only with @extra and @entries: kt_sink_part_take()
 *	adds no misses
 * @extra: it has a place for the extra fields of events (ktape_event.extra), or counts
 *	those it has none for; else they are counted as missed
 * @entries: it writes entries of the registry as it writes events, also those that do not fit
 *	the event table; else event() does not get these, and they are counted as missed
 * @own_files: the format opens and writes @path of the sink itself; else the sink
 *	opens a file and writes to it what the format puts at kt_sink_room()
 * @large: size of the output in bytes from which @warning holds; 0 = never
 * @warning: a sentence for the user: what such a large output means
 * @begin: read the options and write what the format has before the first event
 * @event: write an event; events come in the order of time
 * @notice: write that events were lost; NULL: each loss is counted as missed
 * @attach: keep a JSON text of the caller under a name; NULL = such texts are not kept
 * @end: write what the format has after the last event.  Also called if the conversion
 *	ends early
 * @flush: with @own_files: write what is buffered; NULL = only @end does
 * @is_staged: with @own_files: return true while the output has a temporary name
 *	other than @stage of the sink; NULL = it never has such a name
 * @move: with @own_files: let the folder that has a temporary name go to another folder, if
 *	what that has may be replaced.  The format owns the descriptor after success.  NULL: it
 *	never writes a folder
 * @close: free what the state points to; NULL = nothing
 *
 * Functions with a result return 0 or negative errno; -EBADMSG after kt_sink_fail().
 */
struct kt_codec_out {
	const struct ktape_codec_option *options;
	size_t size;
	bool switches;
	bool assumed;
	bool alone;
	bool extra;
	bool entries;
	bool own_files;
	uint64_t large;
	const char *warning;
	int (*begin)(struct kt_sink *s);
	int (*event)(struct kt_sink *s, const struct ktape_event *event);
	int (*notice)(struct kt_sink *s, const struct ktape_notice *notice);
	int (*attach)(struct kt_sink *s, const char *name, const char *text,
		      size_t len);
	int (*end)(struct kt_sink *s);
	int (*flush)(struct kt_sink *s);
	bool (*is_staged)(const struct kt_sink *s);
	int (*move)(struct kt_sink *s, int folder);
	void (*close)(struct kt_sink *s);
};

/* format_options.c.  kt_codec_option() returns NULL for an option that the user did not give. */
int kt_codec_options_parse(struct kt_codec_options *o, const char *text,
			   const struct ktape_codec_option *known,
			   const char *format, struct ktape_error *error);
void kt_codec_options_free(struct kt_codec_options *o);
const char *kt_codec_option(const struct kt_codec_options *o, const char *key);

#endif /* _KT_FORMAT_H */
