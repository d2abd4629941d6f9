/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: message texts for exceptions and user events, from ktape-fmt(5) files.
 *
 * Included by ktape.h.  Trace formats are in ktape-codec.h.
 */
#ifndef _KTAPE_FORMAT_H
#define _KTAPE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "ktape-event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTAPE_MESSAGE_MAX 4096 /* bytes */

/* Message formats of exceptions and user events. */
struct ktape_formats;

/**
 * struct ktape_message - the message text of an event
 * @name: name of the event, or ""; valid until ktape_formats_free()
 * @text: text without a NUL; may contain any byte
 * @len: bytes of @text
 * @cut: the text was longer than KTAPE_MESSAGE_MAX
 */
struct ktape_message {
	const char *name;
	char text[KTAPE_MESSAGE_MAX];
	size_t len;
	bool cut;
};

/**
 * ktape_formats_new() - Create an empty set of message formats
 * @formats: set on success; release with ktape_formats_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_formats_new(struct ktape_formats **formats);

/**
 * ktape_formats_free() - Free a set of message formats
 * @formats: the formats, or NULL
 */
void ktape_formats_free(struct ktape_formats *formats);

/**
 * ktape_formats_parse() - Add the lines of a ktape-fmt(5) file
 * @formats: the formats; the last line for an event replaces earlier ones
 * @text: contents of the file
 * @len: bytes of @text
 * @error: filled on -EBADMSG, its offset is the line number; may be NULL
 *
 * Return: 0; -EBADMSG on a syntax error, the lines before it are added; or
 * -ENOMEM.
 */
int ktape_formats_parse(struct ktape_formats *formats, const char *text,
			size_t len, struct ktape_error *error);

/**
 * ktape_formats_message() - Make the message text of an event
 * @formats: the formats
 * @event: the event
 * @message: filled
 *
 * An argument that the event does not have, or that has another type, is shown
 * as "?".
 *
 * Return: true, or false if there is no format for the event.
 */
bool ktape_formats_message(const struct ktape_formats *formats,
			   const struct ktape_event *event,
			   struct ktape_message *message);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_FORMAT_H */
