// SPDX-License-Identifier: GPL-2.0-only
/* Lists of events on a command line. */
#include <string.h>

#include <ktape.h>

#include "tool/shared/event_list.h"
#include "tool/shared/message.h"

/**
 * parse_event_list() - convert a list of events to a mask, or print what is unknown
 * @command: the subcommand
 * @list: events, classes, presets, globs or masks, comma separated
 * @mask: set to the events
 *
 * Return: 0 or the exit code.
 */
int parse_event_list(const struct kt_command *command, const char *list,
		     uint64_t mask[KTAPE_MASK_WORDS])
{
	const char *bad = list;

	if (!ktape_mask_parse(list, mask, &bad))
		return 0;
	return unknown_event(command, bad);
}

/**
 * unknown_event() - print that a name in a list of events is unknown
 * @command: the subcommand
 * @bad: the name, followed by the rest of the list
 *
 * Return: the exit code for it.
 */
int unknown_event(const struct kt_command *command, const char *bad)
{
	const char *near = ktape_event_near(bad);

	if (near)
		return misuse(command,
			      "unknown event \"%.*s\": did you mean \"%s\"? (ktape list shows all)",
			      (int)strcspn(bad, ","), bad, near);
	return misuse(command,
		      "unknown event \"%.*s\": give an event, class, preset, glob or mask (see ktape list)",
		      (int)strcspn(bad, ","), bad);
}
