/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts for events of others: what reading and showing them share. */
#ifndef _KT_FMT_H
#define _KT_FMT_H

#include "stream/packet.h"

#define KT_FMT_WIDTH_MAX	64U

/**
 * struct kt_fmt_piece - text, or one conversion
 * @text: as it stands in the format, or the list of an enumeration
 * @len: of it
 * @conversion: 0: text; else its letter, or '{'
 * @arg: which argument, from 1; 0: the next
 * @left: adjusted to the left
 * @zero: filled with zeros
 * @wide: two words
 * @width: at least so wide
 * @precision: at most so many bytes of a string, or UINT32_MAX
 */
struct kt_fmt_piece {
	const char *text;
	size_t len;
	char conversion;
	unsigned int arg;
	bool left;
	bool zero;
	bool wide;
	uint32_t width;
	uint32_t precision;
};

/* Kinds of events that formats are for. */
enum kt_fmt_kind {
	KT_FMT_EXCEPTION,	/* key: major << 8 | minor */
	KT_FMT_MAJOR,		/* key: major */
	KT_FMT_EVENT		/* key: id */
};

/**
 * struct kt_fmt - the text for one event
 * @kind: enum kt_fmt_kind
 * @key: which event
 * @name: of it, or ""
 * @format: its text
 */
struct kt_fmt {
	uint32_t kind;
	uint32_t key;
	char *name;
	char *format;
};

struct ktape_formats {
	struct kt_fmt *formats;		/* by kind and key */
	size_t nr;
	size_t room;
};

const char *kt_fmt_next(const char **at, struct kt_fmt_piece *piece);
const struct kt_fmt *kt_fmt_find(const struct ktape_formats *formats,
				 uint32_t kind, uint32_t key);

#endif /* _KT_FMT_H */
