/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a format has to offer to be read or written.
 *
 * Adding one: codec_NAME_in.c and codec_NAME_out.c with an ops table each, and
 * a row in codec.c.
 */
#ifndef _KT_CODEC_H
#define _KT_CODEC_H

#include <ktape/formats.h>

#include "util/put.h"

#include "stream/scan.h"

#define KT_CODEC_OPTIONS	16
#define KT_CODEC_PROBE		(64U << 10)	/* bytes that a probe may see */

/**
 * struct kt_codec_options - what a codec was told
 * @text: "key\0value\0..." that the pointers point into
 * @nr: how many
 * @keys: their names
 * @values: their values; "" where there was no "="
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
 * @options: up to one without a key, or NULL
 * @size: of its state, zeroed before open()
 * @names_late: names may come after the events that need them: where the input
 *	can be read twice, they are learned first
 * @probe: how sure is it that the input is of this format: 0 no, 100 certainly.
 *	@data are its first @len bytes, all of it if @whole
 * @open: read the options and the head, fill the info (kt_import_option(),
 *	kt_import_fail()).  0 or negative errno; -EBADMSG with kt_import_fail()
 * @next: take the next piece of the input: 1 with any number of
 *	kt_import_emit() and others, 0 at the end, negative errno
 * @json: the last piece in the words of the format, for people who know it:
 *	@raw is what kt_foreign.raw was.  Room is KT_IMPORT_JSON_FIXED +
 *	@size * KT_IMPORT_JSON_BYTE.  NULL: there is none
 * @close: free what the state holds; NULL: nothing
 */
struct kt_codec_in {
	const struct ktape_codec_option *options;
	size_t size;
	bool names_late;
	int (*probe)(const uint8_t *data, size_t len, bool whole);
	int (*open)(struct kt_import *s);
	int (*next)(struct kt_import *s);
	char *(*json)(char *p, const void *raw, size_t size);
	void (*close)(struct kt_import *s);
};

/**
 * struct kt_codec_out - how a format is written
 * @options: up to one without a key, or NULL
 * @size: of its state, zeroed before begin()
 * @switches: what a CPU runs is told by switches alone
 * @assumed: it takes events for which ktape_event_is_assumed() holds
 * @own_files: it opens @path itself; else there is a descriptor behind
 *	kt_sink_room()
 * @large: from so many bytes on @warning holds; 0: never
 * @warning: for people, what that means
 * @begin: what comes first
 * @event: an event, in the order of time
 * @notice: events were lost; NULL: it is counted as missed
 * @end: what comes last; also after an early end
 * @is_staged: of one with @own_files: has it a temporary name that is not
 *	@stage's of the sink?  NULL: it has not
 * @close: free what the state holds; NULL: nothing
 *
 * All return 0 or negative errno; -EBADMSG with kt_sink_fail().
 */
struct kt_codec_out {
	const struct ktape_codec_option *options;
	size_t size;
	bool switches;
	bool assumed;
	bool own_files;
	uint64_t large;
	const char *warning;
	int (*begin)(struct kt_sink *s);
	int (*event)(struct kt_sink *s, const struct ktape_event *event);
	int (*notice)(struct kt_sink *s, const struct ktape_notice *notice);
	int (*end)(struct kt_sink *s);
	bool (*is_staged)(const struct kt_sink *s);
	void (*close)(struct kt_sink *s);
};

/* option.c */
int kt_codec_options_parse(struct kt_codec_options *o, const char *text,
			   const struct ktape_codec_option *known,
			   const char *format, struct ktape_error *error);
void kt_codec_options_free(struct kt_codec_options *o);
const char *kt_codec_option(const struct kt_codec_options *o, const char *key);

#endif /* _KT_CODEC_H */
