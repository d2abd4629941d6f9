/* SPDX-License-Identifier: GPL-2.0-only */
/* Text form of trigger conditions, for trigger.c. */
#ifndef _KT_TOOL_CONTROL_CONDITION_H
#define _KT_TOOL_CONTROL_CONDITION_H

#include <stdio.h>

#include <ktape.h>

#define CONDITION_WHY 96 /* room for what is wrong with a condition */

/*
 * Set the event and comparisons of @t by a text, which is modified.  Return: 0, or -EINVAL with
 * what is wrong in @why.
 */
int trigger_parse(char *text, struct ktape_trigger *t, char why[CONDITION_WHY]);

/* Print the condition in the form that trigger_parse() takes. */
void trigger_show(FILE *out, const struct ktape_trigger *t);

#endif /* _KT_TOOL_CONTROL_CONDITION_H */
