/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion of command lines by shells.
 *
 * script.c writes the script of a shell from the tables of options.  The
 * script knows the commands and their options; it asks "ktape completion" for all
 * other words.  after.c finds out what can follow on a command line, and
 * words.c prints words of a kind, from the tables and from the device.
 *
 * A kind is the name of a list (events, sessions, ...), or the words themselves with
 * "|" between them.  The shells know these four: files, folders, traces, programs.
 *
 * Read kind.c, words.c, after.c, script.c, completion.c.
 */
#ifndef _KT_TOOL_COMPLETION_H
#define _KT_TOOL_COMPLETION_H

#include <stdbool.h>

#include "tool/shared/opt.h"

#define COMPLETION_SHELLS "bash|zsh|fish|elvish|powershell" /* as a kind */

/* kind.c */

/* Return the kind of an option's argument; NULL: it has none, or any text is one. */
const char *completion_kind(const struct kt_option *option);

/* Check whether shells complete a kind by themselves, or whether it is the words themselves. */
bool completion_is_native(const char *kind);
bool completion_is_choice(const char *kind);

/* script.c */

/* Print the script of a shell.  Return: false if there is no such shell. */
bool completion_script(const char *shell);

/* words.c */

/* Print the words of a kind.  Return: false if there is no such kind. */
bool completion_words(const char *kind);

/* after.c */

/* Print what can follow the words of a command line. */
void completion_after(int nr, char **words);

extern const struct kt_command command_completion;

#endif /* _KT_TOOL_COMPLETION_H */
