// SPDX-License-Identifier: GPL-2.0-only
/*
 * --ctf 2: metadata in CTF 2 beside the same stream files.
 *
 * Both versions describe the same bytes, so a trace is written with metadata of CTF 1.8,
 * which also hold if the writer crashes, and these are replaced when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/file.h"

#include "tool/shared/ctf2.h"
#include "tool/shared/message.h"

#define NAME	  "metadata"
#define TEMP	  ".metadata.new"
#define TEXT_MAX  (16U << 20)
#define MODE_FILE 0666

/**
 * ctf_version() - parse the argument of --ctf
 * @command: the subcommand
 * @text: the argument, or NULL
 * @two: set to whether it is CTF 2
 *
 * Return: 0 or the exit code.
 */
int ctf_version(const struct kt_command *command, const char *text, bool *two)
{
	*two = text && !strcmp(text, "2");
	return !text || *two || !strcmp(text, "1.8") ?
		       0 :
		       misuse(command, "--ctf %s: it is 1.8 or 2", text);
}

/* Write the new metadata under a temporary name, then put them in place. */
static int replace(int folder, const char *json, size_t size)
{
	int fd = openat(folder, TEMP,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			MODE_FILE);
	int err = fd < 0 ? -errno : kt_write_all(fd, json, size);

	if (!err && fsync(fd))
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (!err && renameat(folder, TEMP, folder, NAME))
		err = -errno;
	if (err)
		unlinkat(folder, TEMP, 0);
	return err;
}

/**
 * ctf2_describe() - replace the metadata of a native trace by those of CTF 2
 * @dir: folder of the trace, which is complete
 *
 * Return: 0 or the exit code.
 */
int ctf2_describe(const char *dir)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	char *json = NULL, *text;
	uint8_t *data = NULL;
	size_t size;
	ssize_t len;

	if (folder < 0)
		return fail("%s: %s", dir, strerror(errno));
	len = kt_read_file(folder, NAME, TEXT_MAX, &data);
	err = len < 0 ? (int)len : 0;
	/* The text ends in NUL for the parser. */
	text = err ? NULL : realloc(data, (size_t)len + 1);
	if (text)
		text[len] = '\0';
	else if (!err)
		err = -ENOMEM;
	if (!err)
		err = ktape_metadata_ctf2(text, (size_t)len, &json, &size);
	if (!err)
		err = replace(folder, json, size);
	free(json);
	free(text ? text : (char *)data);
	close(folder);
	if (err == -EOPNOTSUPP)
		return fail("--ctf 2: format lttng is not built in, so %s has metadata of CTF 1.8",
			    dir);
	return err ? fail("%s: its metadata stay those of CTF 1.8: %s", dir,
			  strerror(-err)) :
		     0;
}
