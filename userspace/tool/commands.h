/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of subcommands. */
#ifndef _KT_TOOL_COMMANDS_H
#define _KT_TOOL_COMMANDS_H

#include "tool/shared/opt.h"

struct kt_command;

extern const struct kt_command *const kt_commands[];

#endif /* _KT_TOOL_COMMANDS_H */
