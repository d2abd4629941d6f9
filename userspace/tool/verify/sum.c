// SPDX-License-Identifier: GPL-2.0-only
/* The result of ktape verify: its exit code, and how much of the trace was checked. */
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/shared/color.h"
#include "tool/shared/message.h"
#include "tool/verify/verify.h"

#define PERMILLE    1000U
#define NUMBER_ROOM 32

/* Write a number with a comma before each group of three digits. */
static const char *grouped(char text[NUMBER_ROOM], uint64_t number)
{
	char digits[NUMBER_ROOM];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu",
				      (unsigned long long)number);
	char *p = text;

	for (size_t i = 0; i < len; i++) {
		if (i && !((len - i) % 3))
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return text;
}

/* Return how many of 1000 events are accounted for, rounded down: 1000 only if all are. */
static unsigned int permille(const struct ktape_verify_sum *sum)
{
	unsigned int part;

	if (sum->accounted >= sum->emitted)
		return PERMILLE;
	part = (unsigned int)((double)sum->accounted * PERMILLE /
			      (double)sum->emitted);
	/* Numbers beyond 53 bits lose their last digits. */
	return kt_min(part, PERMILLE - 1);
}

/* Return whether events were lost, or missed: overwritten before they were read. */
static bool lacks_counted_events(const struct ktape_verify *verify)
{
	struct ktape_verify_cpu c = { .cpu = 0 };

	for (; ktape_verify_next_cpu(verify, &c); c.cpu++)
		if (c.lost || c.missed)
			return true;
	return false;
}

/**
 * verify_code() - return the exit code
 * @verify: a check that was run
 * @wrong: number of findings that are wrong
 * @strict: it is a failure if events are missing for any reason
 *
 * Return: EXIT_FAILED; EXIT_CUT if a part of the trace is missing; or EXIT_OK.
 */
int verify_code(const struct ktape_verify *verify, int wrong, bool strict)
{
	struct ktape_verify_sum sum;

	ktape_verify_sum(verify, &sum);
	if (wrong || (strict && (sum.cuts || lacks_counted_events(verify))))
		return EXIT_FAILED;
	return sum.cuts ? EXIT_CUT : EXIT_OK;
}

/**
 * verify_print_sum() - print the result in words
 * @verify: a check that was run
 * @wrong: number of findings that are wrong
 */
void verify_print_sum(const struct ktape_verify *verify, int wrong)
{
	struct ktape_verify_sum sum;
	char number[NUMBER_ROOM];
	unsigned int part;

	ktape_verify_sum(verify, &sum);
	if (wrong)
		printf("%s%d wrong%s", role_begin(ROLE_ERROR), wrong, role_end());
	else if (sum.cuts)
		printf("%scut off%s", role_begin(ROLE_LOSS), role_end());
	else
		printf("%snothing is wrong%s", role_begin(ROLE_GOOD), role_end());
	part = permille(&sum);
	printf(": %u of %u CPU%s, ", sum.judged, sum.cpus, sum.cpus == 1 ? "" : "s");
	if (!sum.emitted) {
		puts("no events");
		return;
	}
	if (part == PERMILLE)
		printf("100 %%");
	else
		printf("%u.%u %%", part / 10, part % 10);
	printf(" of %s events accounted for%s\n", grouped(number, sum.emitted),
	       sum.exact ? "" : ", as far as the trace counts them");
}
