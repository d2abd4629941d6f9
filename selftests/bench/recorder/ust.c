// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events for LTTng's consumer: "ust N" emits N of them, as fast as it can.  Nothing is lost
 * if the channel blocks, which LTTNG_UST_ALLOW_BLOCKING permits.
 */
#include <stdio.h>
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ust_event.h"

int main(int argc, char **argv)
{
	uint64_t nr = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;

	if (!nr) {
		fputs("usage: ust EVENTS\n", stderr);
		return 2;
	}
	for (uint64_t i = 0; i < nr; i++)
		lttng_ust_tracepoint(ktape_bench, event, i, nr);
	return 0;
}
