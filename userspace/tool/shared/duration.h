/* SPDX-License-Identifier: GPL-2.0-only */
/* Durations as text: one rule for all commands. */
#ifndef _KT_TOOL_SHARED_DURATION_H
#define _KT_TOOL_SHARED_DURATION_H

#include <stdint.h>

#define DURATION_ROOM 40 /* bytes of a text */

/*
 * A value with unit "ns" is shown in s, ms, us or ns, any other one as it is: for a sentence, or
 * for a column whose texts are aligned at their right.  Return: @to.
 */
const char *duration_text(char to[DURATION_ROOM], uint64_t value, const char *unit);
const char *duration_column(char to[DURATION_ROOM], uint64_t value,
			    const char *unit);

#endif /* _KT_TOOL_SHARED_DURATION_H */
