// SPDX-License-Identifier: GPL-2.0-only
/* ktape ship: hand the tables of a piece to the uploader, a command of the user. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "self.h"
#include "ship.h"

#define SHELL	"/bin/sh"

/* Uploaders for the schemes of URLs.  $1 is the folder, $2 the URL. */
static const struct {
	const char *scheme;
	const char *command;
} schemes[] = {
	{ "s3://", "exec aws s3 cp --recursive --only-show-errors \"$1\" \"$2\"" },
	{ "gs://", "exec gcloud storage cp --recursive \"$1\"/* \"$2\"" },
	{ "file://", "mkdir -p \"${2#file://}\" && exec cp -R \"$1\"/. \"${2#file://}\"" },
};

static bool is_url(const char *to)
{
	size_t letters = strspn(to, "abcdefghijklmnopqrstuvwxyz0123456789");

	return letters && !strncmp(to + letters, "://", 3);
}

static const char *command_of(const char *to)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(schemes); i++) {
		if (!strncmp(to, schemes[i].scheme, strlen(schemes[i].scheme)))
			return schemes[i].command;
	}
	return is_url(to) ? NULL : to;
}

/**
 * ship_has_uploader() - can something be handed over?
 * @to: URL or command of the user
 *
 * Return: false: it is a URL of a scheme that has no uploader.
 */
bool ship_has_uploader(const char *to)
{
	return *to && command_of(to);
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
	char *const argv[] = { (char *)"sh", (char *)"-c",
			       (char *)command_of(to), (char *)"ktape-ship",
			       (char *)folder, (char *)to, NULL };

	return run_program(SHELL, argv);
}
