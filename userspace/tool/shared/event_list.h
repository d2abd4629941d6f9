/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of events on a command line. */
#ifndef _KT_TOOL_SHARED_EVENT_LIST_H
#define _KT_TOOL_SHARED_EVENT_LIST_H

#include <ktape.h>

#include "tool/shared/opt.h"

struct kt_command;

/* Set @mask to the events of a list.  Return: 0, or the exit code after a message. */
int parse_event_list(const struct kt_command *command, const char *list,
		     uint64_t mask[KTAPE_MASK_WORDS]);

/* Print that @bad, a name and the rest of its list, is no event.  Return: the exit code for it. */
int unknown_event(const struct kt_command *command, const char *bad);

#endif /* _KT_TOOL_SHARED_EVENT_LIST_H */
