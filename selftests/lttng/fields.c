// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events with fields of each kind that LTTng-UST has: "fields N" emits N rounds of them, from
 * two threads, as fast as it can.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "fields.h"

#define LONG 5000

static char long_text[LONG + 1];
static unsigned long rounds;

static const int64_t numbers[] = {
	0,	    1,
	-1,	    127,
	-128,	    255,
	INT16_MIN,  UINT16_MAX,
	INT32_MAX,  INT32_MIN,
	UINT32_MAX, INT64_MAX,
	INT64_MIN,  0x123456789abcdef0,
};

static const double floats[] = {
	0,     -0.0,  1.5,	  -3.25,     1e20,
	1e-30, 1e300, 123456.789, 1.0 / 0.0, -1.0 / 0.0,
};

/* For an empty text babeltrace2 2.0 prints the one that the field had before: so none is empty. */
static const char *const texts[] = {
	"plain",
	"with \"quotes\" and \\",
	"lines\nand\ttabs",
	"\303\244\342\202\254 utf-8",
	long_text,
};

static const int states[] = { 1, -3, 3, 9, 10, 77, -77, 0 };

static void round_of(unsigned long i)
{
	const int64_t *v = &numbers[i % 10]; /* arrays have up to 4 numbers from there on */
	const char *text = texts[i % 5];

	lttng_ust_tracepoint(ktape_fields, numbers, numbers[i % 14]);
	lttng_ust_tracepoint(ktape_fields, floats, floats[i % 10]);
	lttng_ust_tracepoint(ktape_fields, arrays, v, (unsigned int)(i % 4));
	lttng_ust_tracepoint(ktape_fields, texts, text,
			     1 + (unsigned int)(i * 7 % (strlen(text) - 1)),
			     states[i % 8]);
	lttng_ust_tracepoint(ktape_fields, nothing);
}

static void *emit_rounds(void *arg)
{
	pthread_setname_np(pthread_self(), arg);
	for (unsigned long i = 0; i < rounds; i++)
		round_of(i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (!rounds) {
		fputs("usage: fields ROUNDS\n", stderr);
		return 2;
	}
	for (unsigned int i = 0; i < LONG; i++)
		long_text[i] = (char)('a' + i % 26);
	if (pthread_create(&other, NULL, emit_rounds, "other thread")) {
		perror("fields");
		return 1;
	}
	emit_rounds("first");
	pthread_join(other, NULL);
	return 0;
}
