// SPDX-License-Identifier: GPL-2.0-only
/* --color, and the end of standard output. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool/shared/color.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"

/**
 * color_start() - decide by --color whether text has colours
 * @command: the subcommand
 * @o: its options
 *
 * Return: 0 or the exit code.
 */
int color_start(const struct kt_command *command, const struct text_options *o)
{
	const char *when = o->color ? o->color : "auto";

	return color_choose(when) ?
		       0 :
		       misuse(command,
			      "--color: \"%s\" is none of auto, always, never",
			      when);
}

/**
 * finish_stdout() - flush standard output and check that all was written
 *
 * Text that the user left unread by quitting the pager counts as written.
 *
 * Return: EXIT_OK, or EXIT_FAILED after a message.
 */
int finish_stdout(void)
{
	if ((fflush(stdout) || ferror(stdout)) && pager_has_ended())
		return EXIT_OK;
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: %s", strerror(errno));
	return EXIT_OK;
}
