// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durations as text: in the largest of s, ms and us that gives at least 1, with two
 * decimals; below 1 us in ns.  Values of other units are shown as they are.
 *
 * Settings, such as gates and triggers, are shown exactly instead (filter/format.c),
 * because they can be given back to a command.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "tool/shared/duration.h"

static const struct {
	const char *name;
	uint64_t ns;
} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };

/* Return the index of the unit of a duration; beyond the last one: shown as it is. */
static size_t unit_of(uint64_t value, const char *unit)
{
	size_t i = 0;

	if (strcmp(unit, "ns") != 0)
		return KT_ARRAY_SIZE(units);
	while (i < KT_ARRAY_SIZE(units) && value < units[i].ns)
		i++;
	return i;
}

/* Return how a unit other than ns is written behind a number. */
static const char *unit_text(uint64_t value, const char *unit)
{
	return value == 1 && !strcmp(unit, "jiffies") ? "jiffy" : unit;
}

/**
 * duration_text() - write a duration for a sentence: "12.34 us"
 * @to: where to write
 * @value: the duration
 * @unit: its unit
 *
 * Return: @to.
 */
const char *duration_text(char to[DURATION_ROOM], uint64_t value, const char *unit)
{
	size_t i = unit_of(value, unit);

	if (i == KT_ARRAY_SIZE(units))
		snprintf(to, DURATION_ROOM, "%" PRIu64 " %s", value,
			 unit_text(value, unit));
	else
		snprintf(to, DURATION_ROOM, "%.2f %s",
			 (double)value / (double)units[i].ns, units[i].name);
	return to;
}

/**
 * duration_column() - write a duration for a column of durations
 * @to: where to write
 * @value: the duration
 * @unit: its unit
 *
 * Texts that are aligned at their right have their points and units below each other:
 *
 *	 1.20 s
 *	12.34 us
 *	 5    ns
 *
 * Return: @to.
 */
const char *duration_column(char to[DURATION_ROOM], uint64_t value, const char *unit)
{
	size_t i = unit_of(value, unit);

	if (strcmp(unit, "ns") != 0)
		snprintf(to, DURATION_ROOM, "%" PRIu64 " %-*s", value,
			 (int)strlen(unit), unit_text(value, unit));
	else if (i == KT_ARRAY_SIZE(units))
		snprintf(to, DURATION_ROOM, "%" PRIu64 "    ns", value);
	else
		snprintf(to, DURATION_ROOM, "%.2f %-2s",
			 (double)value / (double)units[i].ns, units[i].name);
	return to;
}
