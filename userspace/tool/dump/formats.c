// SPDX-License-Identifier: GPL-2.0-only
/* ktape dump: load ktape-fmt(5) files and add their texts for events to the lines. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/file.h"
#include "util/put.h"

#include "tool/dump/dump.h"
#include "tool/shared/message.h"

#define FILE_MAX (1U << 20)

/* A later file overrides what an earlier one says about the same event. */
static const char *const folders[] = { "/usr/share/ktape", "/etc/ktape" };

/* Load a ktape-fmt(5) file.  Return: 0 or the exit code. */
static int load_file(struct ktape_formats **f, const char *path)
{
	struct ktape_error error = { .text = "" };
	uint8_t *data;
	ssize_t len = kt_read_file(AT_FDCWD, path, FILE_MAX, &data);
	int err = 0;

	if (len < 0)
		return fail("%s: %s", path, strerror((int)-len));
	if (!*f)
		err = ktape_formats_new(f);
	if (!err)
		err = ktape_formats_parse(*f, (const char *)data, (size_t)len,
					  &error);
	free(data);
	if (err == -EBADMSG)
		return fail("%s:%llu: %s", path,
			    (unsigned long long)error.offset, error.text);
	return err ? fail("%s: %s", path, strerror(-err)) : 0;
}

static int is_format(const struct dirent *entry)
{
	return !fnmatch("*.fmt", entry->d_name, FNM_PERIOD);
}

/* Load the files of a directory in order of name; after an error, go on with the next. */
static void load_folder(struct ktape_formats **f, const char *folder)
{
	struct dirent **names;
	int nr = scandir(folder, &names, is_format, alphasort);
	char path[PATH_MAX];

	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		load_file(f, path);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

/**
 * formats_load() - load the files of the system and of the command line
 * @o: options
 * @f: set to the texts, or to NULL if there are none; the caller frees them with
 *	ktape_formats_free()
 *
 * Return: 0 or the exit code.
 */
int formats_load(const struct select_options *o, struct ktape_formats **f)
{
	const char *own = getenv("KTAPE_FMT"); /* a folder to take instead; "": none */
	int ret;

	*f = NULL;
	for (size_t i = 0; i < KT_ARRAY_SIZE(folders) && !own; i++)
		load_folder(f, folders[i]);
	if (own && *own)
		load_folder(f, own);
	for (unsigned int i = 0; i < o->events.nr; i++) {
		const char *path = o->events.items[i].text;

		if (fnmatch("*.fmt", path, 0))
			continue;
		ret = load_file(f, path);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * formats_append() - add the text of an event to its line
 * @f: texts
 * @e: the event
 * @json: the line is JSON
 * @line: line with its newline, and room for MESSAGE_ROOM (lines.c) more bytes
 * @len: length of @line
 *
 * Return: the new length.
 */
size_t formats_append(const struct ktape_formats *f, const struct ktape_event *e,
		      bool json, char *line, size_t len)
{
	struct ktape_message m;
	char *p = line + len;

	if (!ktape_formats_message(f, e, &m))
		return len;
	/* Overwrite the newline, and the brace of JSON; they are written again below. */
	p -= json ? 2 : 1;
	if (*m.name) {
		p = kt_put_str(p, json ? ",\"name\":" : " name=");
		p = json ? kt_put_json(p, m.name, strlen(m.name)) :
			   kt_put_str(p, m.name);
	}
	p = kt_put_str(p, json ? ",\"message\":" : " message=");
	p = kt_put_json(p, m.text, m.len);
	p = kt_put_str(p, json ? "}\n" : "\n");
	return (size_t)(p - line);
}
