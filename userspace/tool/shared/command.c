// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find commands by name or index.  The table is in tool/commands.c, and this folder must not depend
 * on it because the commands depend on this folder: main() passes the table in.
 */
#include <string.h>

#include "tool/shared/opt.h"

static const struct kt_command *const *commands;
static unsigned int nr_commands;

/**
 * kt_commands_set() - set the table of commands
 * @all: the commands, ending with NULL
 */
void kt_commands_set(const struct kt_command *const *all)
{
	commands = all;
	for (nr_commands = 0; all[nr_commands]; nr_commands++)
		;
}

/**
 * kt_command() - return a subcommand by its index
 * @i: index, from 0
 *
 * Return: the subcommand, or NULL after the last one.
 */
const struct kt_command *kt_command(unsigned int i)
{
	return i < nr_commands ? commands[i] : NULL;
}

/**
 * kt_command_find() - look up a subcommand by its name
 * @name: any text
 *
 * Return: the subcommand, or NULL.
 */
const struct kt_command *kt_command_find(const char *name)
{
	for (unsigned int i = 0; i < nr_commands; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}
