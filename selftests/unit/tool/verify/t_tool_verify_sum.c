// SPDX-License-Identifier: GPL-2.0-only
/* Test which share of the events ktape verify says to be accounted for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "tap.h"
#include "tool/shared/color.h"
#include "tool/verify/verify.h"

static const struct {
	uint64_t accounted;
	uint64_t emitted;
	const char *share;
} vectors[] = {
	{ 0, 5, " 0.0 % " },
	{ 1, 2, " 50.0 % " },
	{ 3, 10, " 30.0 % " },
	{ 999, 1000, " 99.9 % " },
	{ 999999, 1000000, " 99.9 % " },
	{ UINT64_MAX - 1, UINT64_MAX, " 99.9 % " },
	{ 5, 5, " 100 % " },
};

static struct ktape_verify_sum result;

/* In the place of the library's and of other files of the command. */
void ktape_verify_sum(const struct ktape_verify *verify, struct ktape_verify_sum *sum)
{
	(void)verify;
	*sum = result;
}

bool ktape_verify_next_cpu(const struct ktape_verify *verify,
			   struct ktape_verify_cpu *c)
{
	(void)verify;
	(void)c;
	return false;
}

const char *role_begin(enum kt_role role)
{
	(void)role;
	return "";
}

const char *role_end(void)
{
	return "";
}

static void shares(void)
{
	FILE *own = stdout;

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		char *text = NULL;
		size_t len;

		result.accounted = vectors[i].accounted;
		result.emitted = vectors[i].emitted;
		stdout = open_memstream(&text, &len);
		if (!stdout)
			abort();
		verify_print_sum(NULL, 0);
		fclose(stdout);
		stdout = own;
		check(strstr(text, vectors[i].share), "\"%s\" has no \"%s\"",
		      text, vectors[i].share);
		free(text);
	}
}

static const struct tap_test tests[] = {
	{ "share of events that are accounted for", shares },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
