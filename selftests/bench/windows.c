// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check a trace in one of the ways of userspace/lib/verify, for bench/windows:
 *
 *	windows WAY TRACE
 *
 *	one	one event after the other
 *	careful	in windows, each event by all rules
 *	quick	in windows, most events by check_quick(): what `ktape verify` does
 *
 * Prints the number of records and of those in windows.  One thread does all, so that
 * instructions can be counted.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "verify/window.h"

/* After the first window: leave no event to check_quick(). */
static int be_careful(void *arg, uint64_t records)
{
	struct ktape_verify *v = *(struct ktape_verify **)arg;

	(void)records;
	if (v->windows)
		memset(v->windows->quick, 0, sizeof(v->windows->quick));
	return 0;
}

int main(int argc, char **argv)
{
	struct ktape_verify *v;
	struct ktape_verify_options how = { .jobs = 1, .arg = &v };
	struct ktape_error error;
	uint64_t passed;

	if (argc != 3)
		errx(2, "usage: windows one|careful|quick TRACE");
	if (!strcmp(argv[1], "careful"))
		how.progress = be_careful;
	if (ktape_verify_open(argv[2], &how, &v, &error))
		errx(1, "%s", error.text);
	v->one_by_one = !strcmp(argv[1], "one");
	if (ktape_verify_run(v))
		errx(1, "%s: something is wrong", argv[2]);
	passed = v->windows ? v->windows->passed : 0;
	printf("%llu %llu\n", (unsigned long long)v->records,
	       (unsigned long long)passed);
	ktape_verify_close(v);
	return 0;
}
