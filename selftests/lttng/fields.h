/* SPDX-License-Identifier: GPL-2.0-only */
/* clang-format off */
/*
 * Events of fields.c with fields of each kind that LTTng-UST has, for LTTng's headers, which
 * include this several times.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ktape_fields

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "fields.h"

#if !defined(_FIELDS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define _FIELDS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_ENUM(ktape_fields, state,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("RUNNING", 1)
		lttng_ust_field_enum_range("LOW", -9, -1)
		lttng_ust_field_enum_range("SOME", 0, 5)
		lttng_ust_field_enum_value("\"odd\" name", 9)
		lttng_ust_field_enum_auto("NEXT")
	)
)

LTTNG_UST_TRACEPOINT_ENUM(ktape_fields, size,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("NONE", 0)
		lttng_ust_field_enum_range("LARGE", 4294967296ULL, 18446744073709551615ULL)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ktape_fields, numbers,
	LTTNG_UST_TP_ARGS(int64_t, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int8_t, s8, (int8_t)v)
		lttng_ust_field_integer(uint8_t, u8, (uint8_t)v)
		lttng_ust_field_integer(int16_t, s16, (int16_t)v)
		lttng_ust_field_integer(uint16_t, u16, (uint16_t)v)
		lttng_ust_field_integer(int32_t, s32, (int32_t)v)
		lttng_ust_field_integer(uint32_t, u32, (uint32_t)v)
		lttng_ust_field_integer(int64_t, s64, v)
		lttng_ust_field_integer(uint64_t, u64, (uint64_t)v)
		lttng_ust_field_integer_hex(int8_t, x8, (int8_t)v)
		lttng_ust_field_integer_hex(uint16_t, x16, (uint16_t)v)
		lttng_ust_field_integer_hex(int32_t, x32, (int32_t)v)
		lttng_ust_field_integer_hex(uint64_t, x64, (uint64_t)v)
		lttng_ust_field_integer_network(uint16_t, n16, (uint16_t)v)
		lttng_ust_field_integer_network(int32_t, n32, (int32_t)v)
		lttng_ust_field_integer_network(uint64_t, n64, (uint64_t)v)
		lttng_ust_field_integer_network_hex(uint32_t, nx32, (uint32_t)v)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ktape_fields, floats,
	LTTNG_UST_TP_ARGS(double, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_float(float, f, (float)v)
		lttng_ust_field_float(double, d, v)
		lttng_ust_field_float(double, third, v / 3)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ktape_fields, arrays,
	LTTNG_UST_TP_ARGS(const int64_t *, v, unsigned int, nr),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(uint8_t, a8, v, 4)
		lttng_ust_field_array(int8_t, as8, v, 4)
		lttng_ust_field_array(int32_t, a32, v, 4)
		lttng_ust_field_array(uint64_t, a64, v, 3)
		lttng_ust_field_array_hex(uint8_t, ax8, v, 5)
		lttng_ust_field_array_hex(int16_t, ax16, v, 2)
		lttng_ust_field_array_network(uint16_t, an16, v, 2)
		lttng_ust_field_array_network_hex(uint32_t, anx32, v, 2)
		lttng_ust_field_sequence(uint8_t, q8, v, uint8_t, nr)
		lttng_ust_field_sequence(int16_t, q16, v, uint16_t, nr)
		lttng_ust_field_sequence(int64_t, q64, v, uint32_t, nr)
		lttng_ust_field_sequence_hex(uint8_t, qx8, v, uint64_t, nr)
		lttng_ust_field_sequence_hex(int32_t, qx32, v, uint32_t, nr)
		lttng_ust_field_sequence_network(uint32_t, qn32, v, uint32_t, nr)
		lttng_ust_field_sequence_network_hex(uint16_t, qnx16, v, uint32_t, nr)
		lttng_ust_field_integer(uint32_t, last, nr)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ktape_fields, texts,
	LTTNG_UST_TP_ARGS(const char *, text, unsigned int, len, int, state),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, text)
		lttng_ust_field_array_text(char, fixed, text, 5)
		lttng_ust_field_sequence_text(char, some, text, uint16_t, len)
		lttng_ust_field_enum(ktape_fields, state, int, state, state)
		lttng_ust_field_enum(ktape_fields, state, int64_t, wide, (int64_t)state)
		lttng_ust_field_enum(ktape_fields, size, uint64_t, size,
				     (uint64_t)(int64_t)state)
		lttng_ust_field_string(last, text + len / 2)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ktape_fields, nothing, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_LOGLEVEL(ktape_fields, nothing, LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT)

#endif /* _FIELDS_H */

#include <lttng/tracepoint-event.h>
