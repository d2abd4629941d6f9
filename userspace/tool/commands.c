// SPDX-License-Identifier: GPL-2.0-only
/* The table of subcommands. */
#include <string.h>

#include "util/bits.h"

#include "opt.h"
#include "tool.h"

/* In the order in which ktape help lists them. */
static const struct kt_command *const commands[] = {
	&command_try,	  &command_record,   &command_dump,
	&command_list,	  &command_profile,  &command_status,
	&command_doctor,  &command_start,    &command_stop,
	&command_clear,	  &command_destroy,  &command_mark,
	&command_probe,	  &command_convert,  &command_stats,
	&command_bundle,	  &command_ship,
	&command_diff,	  &command_top,	     &command_verify,
	&command_recover, &command_snapshot, &command_trigger,
	&command_send,	   &command_receive, COMMAND_SERVE &command_completion,
};

/**
 * kt_command() - return a subcommand by its index
 * @i: index, from 0
 *
 * Return: the subcommand, or NULL after the last one.
 */
const struct kt_command *kt_command(unsigned int i)
{
	return i < KT_ARRAY_SIZE(commands) ? commands[i] : NULL;
}

/**
 * kt_command_find() - look up a subcommand by its name
 * @name: any text
 *
 * Return: the subcommand, or NULL.
 */
const struct kt_command *kt_command_find(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}
