/* SPDX-License-Identifier: GPL-2.0-only */
/* The event of ust.c, for LTTng's headers, which include this several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ktape_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "ust_event.h"

#if !defined(_UST_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define _UST_EVENT_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	ktape_bench, event, LTTNG_UST_TP_ARGS(uint64_t, first, uint64_t, second),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, first, first)
				    lttng_ust_field_integer(uint64_t, second, second)))

#endif /* _UST_EVENT_H */

#include <lttng/tracepoint-event.h>
