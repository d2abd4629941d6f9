/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: texts for events of others.  Included by ktape.h. */
#ifndef _KTAPE_FORMAT_H
#define _KTAPE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "ktape-event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTAPE_MESSAGE_MAX	4096	/* bytes */

/* Texts for exceptions and user events, from ktape-fmt(5) files. */
struct ktape_formats;

/**
 * struct ktape_message - the text for an event
 * @name: of the event, or ""; as long as the formats are there
 * @text: may hold any byte, has no NUL at its end
 * @len: its length
 * @cut: it was longer
 */
struct ktape_message {
	const char *name;
	char text[KTAPE_MESSAGE_MAX];
	size_t len;
	bool cut;
};

/**
 * ktape_formats_new() - formats for nothing yet
 * @formats: set; ends with ktape_formats_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_formats_new(struct ktape_formats **formats);

/**
 * ktape_formats_free() - the end of them
 * @formats: or NULL
 */
void ktape_formats_free(struct ktape_formats *formats);

/**
 * ktape_formats_parse() - learn the lines of a file
 * @formats: where to; of several lines for an event the last counts
 * @text: the file
 * @len: its length
 * @error: filled on -EBADMSG, may be NULL; its offset is the number of the line
 *
 * Return: 0, -EBADMSG if a line was not understood: those before it are known;
 * or -ENOMEM.
 */
int ktape_formats_parse(struct ktape_formats *formats, const char *text,
			size_t len, struct ktape_error *error);

/**
 * ktape_formats_message() - the text for an event
 * @formats: where to look
 * @event: the event
 * @message: filled
 *
 * Arguments that the event does not have, or that are of another kind, are "?".
 *
 * Return: true, or false if there is none for it.
 */
bool ktape_formats_message(const struct ktape_formats *formats,
			   const struct ktape_event *event,
			   struct ktape_message *message);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_FORMAT_H */
