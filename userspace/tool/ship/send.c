// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape ship: hand over the tables (Parquet files) of a piece, which is one file or folder of
 * a rotating log (record -l).  They go to a folder of this machine, or to the uploader, a
 * command of the user.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "tool/shared/self.h"
#include "tool/ship/ship.h"

#define SHELL "/bin/sh"

/*
 * Uploaders for the schemes of URLs.  $1 is the folder, $2 the URL.  file:// needs none:
 * ship_target_folder() returns its folder.
 */
static const struct {
	const char *scheme;
	const char *command;
} schemes[] = {
	{ "s3://", "exec aws s3 cp --recursive --only-show-errors \"$1\" \"$2\"" },
	{ "gs://", "exec gcloud storage cp --recursive \"$1\"/* \"$2\"" },
};

#define FILE_URL  "file://"
#define TABLES	  "parquet" /* folder in that of the log */
#define TABLES_OF TABLES ":dir="

static bool is_url(const char *to)
{
	size_t letters = strspn(to, "abcdefghijklmnopqrstuvwxyz0123456789");

	return letters && !strncmp(to + letters, "://", 3);
}

/* Return the command of the shell for a URL, or @to itself; NULL: no uploader for the scheme. */
static const char *command_of(const char *to)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(schemes); i++) {
		if (!strncmp(to, schemes[i].scheme, strlen(schemes[i].scheme)))
			return schemes[i].command;
	}
	return is_url(to) ? NULL : to;
}

/* Return what follows a prefix, or NULL: the text has another beginning, or no more. */
static const char *after(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) || !text[len] ? NULL : text + len;
}

/**
 * ship_has_target() - can something be handed over?
 * @to: URL, "parquet" or "parquet:dir=PATH", or command of the user
 *
 * Return: false: it is a URL of a scheme that has no uploader, or names no folder.
 */
bool ship_has_target(const char *to)
{
	if (!strcmp(to, TABLES) || after(to, TABLES_OF))
		return true;
	if (!strncmp(to, FILE_URL, strlen(FILE_URL)))
		return to[strlen(FILE_URL)] == '/';
	return *to && strncmp(to, TABLES ":", strlen(TABLES ":")) != 0 &&
	       command_of(to);
}

/**
 * ship_target_folder() - find out the folder of this machine that gets the tables
 * @to: as for ship_has_target()
 * @log: folder of the log
 * @folder: set to a path, which the caller frees, or to NULL: a command gets them
 *
 * Return: 0 or negative errno.
 */
int ship_target_folder(const char *to, const char *log, char **folder)
{
	const char *path = after(to, FILE_URL);

	*folder = NULL;
	if (!path)
		path = after(to, TABLES_OF);
	if (path)
		*folder = strdup(path);
	else if (strcmp(to, TABLES) != 0)
		return 0;
	else if (asprintf(folder, "%s/" TABLES, log) < 0)
		*folder = NULL;
	return *folder ? 0 : -ENOMEM;
}

/**
 * ship_send() - run the uploader
 * @to: URL or command; a command finds the folder in $1
 * @folder: folder with the tables
 *
 * Return: its exit status, or negative errno.
 */
int ship_send(const char *to, const char *folder)
{
	char *const argv[] = {
		(char *)"sh",	      (char *)"-c", (char *)command_of(to),
		(char *)"ktape-ship", /* $0 */
		(char *)folder,	      (char *)to,   NULL
	};

	return run_program(SHELL, argv);
}
