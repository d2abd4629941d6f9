// SPDX-License-Identifier: GPL-2.0-only
/* Test how durations are written in sentences and in columns. */
#include <string.h>

#include "tap.h"
#include "tool/shared/duration.h"

static const struct {
	uint64_t value;
	const char *unit;
	const char *text;
	const char *column;
} vectors[] = {
	{ 0, "ns", "0 ns", "0    ns" },
	{ 999, "ns", "999 ns", "999    ns" },
	{ 1000, "ns", "1.00 us", "1.00 us" },
	{ 1500000000, "ns", "1.50 s", "1.50 s " },
	{ 0, "jiffies", "0 jiffies", "0 jiffies" },
	{ 1, "jiffies", "1 jiffy", "1 jiffy  " },
	{ 2, "jiffies", "2 jiffies", "2 jiffies" },
};

static void durations(void)
{
	char to[DURATION_ROOM];

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		duration_text(to, vectors[i].value, vectors[i].unit);
		check(!strcmp(to, vectors[i].text), "\"%s\", not \"%s\"", to,
		      vectors[i].text);
		duration_column(to, vectors[i].value, vectors[i].unit);
		check(!strcmp(to, vectors[i].column), "\"%s\", not \"%s\"", to,
		      vectors[i].column);
	}
}

static const struct tap_test tests[] = {
	{ "durations as text and in a column", durations },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
