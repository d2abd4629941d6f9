/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Message formats, ktape-fmt(5): the text with conversions that a user has written in a .fmt file
 * for an exception or a user event.  fmt.c parses them, fmt_show.c makes the messages.
 */
#ifndef _KT_FMT_H
#define _KT_FMT_H

#include "stream/packet.h"

#define KT_FMT_WIDTH_MAX 64U

/**
 * struct kt_fmt_piece - a piece of a format: plain text, or one conversion
 * @text: the plain text, or the list of a '{' conversion
 * @len: bytes of @text
 * @conversion: letter of the conversion, or '{'; 0 = plain text
 * @arg: number of the argument, from 1; 0 = the next one
 * @left: align to the left
 * @zero: pad with zeros
 * @wide: the argument takes two words, if it is one and another follows
 * @width: minimum width
 * @precision: maximum number of bytes of a string, UINT32_MAX = no limit
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

/* What a format applies to. */
enum kt_fmt_kind {
	KT_FMT_EXCEPTION, /* key: major << 8 | minor */
	KT_FMT_MAJOR,	  /* key: major */
	KT_FMT_EVENT	  /* key: id */
};

/**
 * struct kt_fmt - the format of one event
 * @kind: enum kt_fmt_kind
 * @key: number of the event within its kind
 * @name: name of the event, or ""
 * @format: text of the format
 */
struct kt_fmt {
	uint32_t kind;
	uint32_t key;
	char *name;
	char *format;
};

struct ktape_formats {
	struct kt_fmt *formats; /* sorted by kind and key */
	size_t nr;
	size_t room;
};

/*
 * fmt.c: take the next piece of a format, an empty text at its end.  Return: NULL, or what is
 * wrong.
 */
const char *kt_fmt_next(const char **at, struct kt_fmt_piece *piece);
const struct kt_fmt *kt_fmt_find(const struct ktape_formats *formats,
				 uint32_t kind, uint32_t key);

#endif /* _KT_FMT_H */
