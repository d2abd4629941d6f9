// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A stream that writes into memory.  That of open_memstream(3) must not be used: where
 * memory is missing, glibc's drops what is written, or all of it, and neither ferror(3)
 * nor fclose(3) reports that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define FIRST_ROOM 1024U

struct memory {
	char **text;
	size_t *len;
	size_t room;
};

static ssize_t memory_write(void *cookie, const char *data, size_t len)
{
	struct memory *m = cookie;
	size_t need = *m->len + len + 1, room = m->room;
	char *longer;

	while (room < need)
		room *= 2;
	if (room > m->room) {
		longer = realloc(*m->text, room);
		if (!longer) {
			errno = ENOMEM;
			return 0; /* an error, for fopencookie(3) */
		}
		*m->text = longer;
		m->room = room;
	}
	memcpy(*m->text + *m->len, data, len);
	*m->len += len;
	(*m->text)[*m->len] = '\0';
	return (ssize_t)len;
}

static int memory_end(void *cookie)
{
	free(cookie);
	return 0;
}

/**
 * kt_memory_open() - open a stream that writes into memory
 * @text: set to what was written, which ends in NUL, when the stream is closed; NULL if
 *	there is no stream
 * @len: set to its bytes; must stay until then, like @text
 *
 * Return: the stream, for kt_memory_close(); NULL: no memory.
 */
FILE *kt_memory_open(char **text, size_t *len)
{
	struct memory *m = malloc(sizeof(*m));
	FILE *f = NULL;

	*len = 0;
	*text = malloc(FIRST_ROOM);
	if (m && *text) {
		**text = '\0';
		*m = (struct memory){ text, len, FIRST_ROOM };
		f = fopencookie(m, "w",
				(cookie_io_functions_t){
					.write = memory_write,
					.close = memory_end,
				});
	}
	if (f)
		return f;
	free(*text);
	*text = NULL;
	free(m);
	errno = ENOMEM;
	return NULL;
}

/**
 * kt_memory_close() - end a stream of kt_memory_open()
 * @f: the stream
 *
 * Return: 0: the text has all that was written, and the caller frees it; -ENOMEM:
 * memory was missing, and the caller may free the text.
 */
int kt_memory_close(FILE *f)
{
	int lost = fflush(f) || ferror(f);

	return fclose(f) || lost ? -ENOMEM : 0;
}
