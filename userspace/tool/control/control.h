/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands for the module and its sessions: NAME.c is "ktape NAME".
 *
 * stop.c has stop, clear and destroy.  No command calls another, so read them in any order, and
 * condition.c, the conditions of triggers, before trigger.c.
 */
#ifndef _KT_TOOL_CONTROL_H
#define _KT_TOOL_CONTROL_H

#include "tool/shared/opt.h"

struct kt_command;

extern const struct kt_command command_clear;
extern const struct kt_command command_destroy;
extern const struct kt_command command_doctor;
extern const struct kt_command command_list;
extern const struct kt_command command_mark;
extern const struct kt_command command_probe;
extern const struct kt_command command_profile;
extern const struct kt_command command_start;
extern const struct kt_command command_status;
extern const struct kt_command command_stop;
extern const struct kt_command command_trigger;
extern const struct kt_command command_version;

#endif /* _KT_TOOL_CONTROL_H */
