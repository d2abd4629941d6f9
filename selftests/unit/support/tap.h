/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print flat TAP 13: a plan, then one line per test. For programs of one file
 * that know the number of their tests in advance.
 *
 * A test is a function that uses check(); its first failed check ends it. With
 * TAP_STOP in the environment the first failed test ends the program, because
 * t_mutants_verify needs only one.
 */
#ifndef _TAP_H
#define _TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct tap_test {
	const char *name;
	void (*run)(void);
};

static unsigned int tap_number, tap_failures;
static char tap_why[512]; /* failure of the current test; empty: none */
static char tap_skipped[256];
static char tap_reported[512]; /* note behind the name of the test */

__attribute__((format(printf, 1, 2), unused)) static void
tap_fail(const char *format, ...)
{
	va_list args;

	if (tap_why[0])
		return;
	va_start(args, format);
	vsnprintf(tap_why, sizeof(tap_why), format, args);
	va_end(args);
}

__attribute__((format(printf, 1, 2), unused)) static void
tap_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tap_skipped, sizeof(tap_skipped), format, args);
	va_end(args);
}

/* Append a note to the name of the test in its result line. */
__attribute__((format(printf, 1, 2), unused)) static void
tap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tap_reported, sizeof(tap_reported), format, args);
	va_end(args);
}

/*
 * Fail and return from the function if @condition is false. In a function that a test calls,
 * the test goes on, but has failed.
 */
#define check(condition, ...)                                             \
	do {                                                              \
		if (!(condition)) {                                       \
			char __text[400];                                 \
                                                                          \
			snprintf(__text, sizeof(__text), "" __VA_ARGS__); \
			tap_fail("%s:%d: %s: %s", __FILE__, __LINE__,     \
				 #condition, __text);                     \
			return;                                           \
		}                                                         \
	} while (0)

/* Like check(), for two unsigned numbers that must be equal. */
#define check_equal(a, b)                                                   \
	do {                                                                \
		unsigned long long __a = (a), __b = (b);                    \
                                                                            \
		if (__a != __b) {                                           \
			tap_fail("%s:%d: %s is %#llx, not %#llx", __FILE__, \
				 __LINE__, #a, __a, __b);                   \
			return;                                             \
		}                                                           \
	} while (0)

__attribute__((unused)) static void tap_plan(unsigned int tests)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%u\n", tests);
}

__attribute__((unused)) static void tap_run(const struct tap_test *test)
{
	tap_why[0] = tap_skipped[0] = tap_reported[0] = '\0';
	test->run();
	tap_number++;
	if (tap_why[0]) {
		tap_failures++;
		printf("not ok %u - %s\n# %s\n", tap_number, test->name, tap_why);
		if (getenv("TAP_STOP"))
			exit(1);
	} else if (tap_skipped[0]) {
		printf("ok %u - %s # SKIP %s\n", tap_number, test->name,
		       tap_skipped);
	} else {
		printf("ok %u - %s%s%s\n", tap_number, test->name,
		       tap_reported[0] ? ": " : "", tap_reported);
	}
}

/*
 * Run @tests; with arguments only those whose names begin with one of them.
 * Return: the exit status.
 */
__attribute__((unused)) static int tap_main(const struct tap_test *tests,
					    unsigned int number, int argc,
					    char **argv)
{
	bool *chosen = calloc(number, sizeof(*chosen));
	unsigned int i, total = 0;
	int arg;

	if (!chosen)
		return 2;
	for (i = 0; i < number; i++) {
		chosen[i] = argc < 2;
		for (arg = 1; arg < argc; arg++)
			chosen[i] |= !strncmp(tests[i].name, argv[arg],
					      strlen(argv[arg]));
		total += chosen[i];
	}
	tap_plan(total);
	for (i = 0; i < number; i++)
		if (chosen[i])
			tap_run(&tests[i]);
	free(chosen);
	return tap_failures || !total;
}

#endif /* _TAP_H */
