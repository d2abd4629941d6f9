// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tonbandgeraet, the trace format of the FreeRTOS tracer of that name: its events, their
 * bytes, their frames, and their JSON.
 *
 *	stream	= frame frame ...
 *	frame	= COBS(event) 0x00
 *	event	= id | time | field field | text
 *		  1 B  LEB128   LEB128      UTF-8 to the end of the frame
 *
 * Metadata (names, kinds, the time resolution) has no time.  Fields are unsigned LEB128,
 * or one byte; a signed one has its sign in bit 0 and its magnitude above, and "minus
 * zero" is INT64_MIN.  core_id says on which core the events after it were recorded.
 *
 * Reading (emit.c) turns task switches, wake-ups, tasks created and deleted, interrupts
 * and markers into native events, and names into registry entries.  Every other event is
 * kept as a user event with its fields, so that it can be written again.
 * Writing (map.c) does the reverse and leaves out the processes of threads; messages of values and
 * of marker ends, and all native events without a counterpart are left out and counted.
 *
 * Lost events: dropped_evt_cnt counts them for all cores together; a change is a loss
 * before the next event.  Damage: a frame that is no COBS or no event is kept as
 * user event KT_TBAND_INVALID, and reading goes on after the next zero, because a zero
 * occurs nowhere inside a frame.  A lost zero makes one invalid frame out of two.
 * Streams over serial lines also have checks, and carry native events without a counterpart in
 * names (internal.h).
 */
#include <stdio.h>

#include <ktape/formats.h>

#include "util/put.h"

#include "internal.h"

#define SEPTET	 7    /* bits of a number in a byte of LEB128 */
#define MORE	 0x80 /* another byte follows */
#define COBS_RUN 254U /* longest run of COBS without a zero */

/* clang-format off */

#define U32		KT_TBAND_U32
#define PLAIN(a)	.types = { U32 }, .fields = { a }
#define PAIR(a, b)	.types = { U32, U32 }, .fields = { a, b }

static const struct kt_tband_kind kinds[KT_TBAND_IDS] = {
	[0] = { "core_id", PLAIN("core_id") },
	[1] = { "dropped_evt_cnt", PLAIN("cnt") },
	[2] = { "ts_resolution_ns", .types = { KT_TBAND_U64 },
		.fields = { "ns_per_ts" } },
	[3] = { "isr_name", PLAIN("isr_id"), "name" },
	[4] = { "isr_enter", PLAIN("isr_id") },
	[5] = { "isr_exit", PLAIN("isr_id") },
	[6] = { "evtmarker_name", PLAIN("evtmarker_id"), "name" },
	[7] = { "evtmarker", PLAIN("evtmarker_id"), "msg" },
	[8] = { "evtmarker_begin", PLAIN("evtmarker_id"), "msg" },
	[9] = { "evtmarker_end", PLAIN("evtmarker_id") },
	[10] = { "valmarker_name", PLAIN("valmarker_id"), "name" },
	[11] = { "valmarker", .types = { U32, KT_TBAND_S64 },
		 .fields = { "valmarker_id", "val" } },
	[84] = { "task_switched_in", PLAIN("task_id") },
	[85] = { "task_to_rdy_state", PLAIN("task_id") },
	[86] = { "task_resumed", PLAIN("task_id") },
	[87] = { "task_resumed_from_isr", PLAIN("task_id") },
	[88] = { "task_suspended", PLAIN("task_id") },
	[89] = { "curtask_delay", PLAIN("ticks") },
	[90] = { "curtask_delay_until", PLAIN("time_to_wake") },
	[91] = { "task_priority_set", PAIR("task_id", "priority") },
	[92] = { "task_priority_inherit", PAIR("task_id", "priority") },
	[93] = { "task_priority_disinherit", PAIR("task_id", "priority") },
	[94] = { "task_created", PLAIN("task_id") },
	[95] = { "task_name", PLAIN("task_id"), "name" },
	[96] = { "task_is_idle_task", PAIR("task_id", "core_id") },
	[97] = { "task_is_timer_task", PLAIN("task_id") },
	[98] = { "task_deleted", PLAIN("task_id") },
	[99] = { "queue_created", PLAIN("queue_id") },
	[100] = { "queue_name", PLAIN("queue_id"), "name" },
	[101] = { "queue_kind", .types = { U32, KT_TBAND_U8 },
		  .fields = { "queue_id", "kind" } },
	[102] = { "queue_send", PAIR("queue_id", "len_after") },
	[103] = { "queue_send_from_isr", PAIR("queue_id", "len_after") },
	[104] = { "queue_overwrite", PAIR("queue_id", "len_after") },
	[105] = { "queue_overwrite_from_isr", PAIR("queue_id", "len_after") },
	[106] = { "queue_receive", PAIR("queue_id", "len_after") },
	[107] = { "queue_receive_from_isr", PAIR("queue_id", "len_after") },
	[108] = { "queue_reset", PLAIN("queue_id") },
	[109] = { "curtask_block_on_queue_peek",
		  PAIR("queue_id", "ticks_to_wait") },
	[110] = { "curtask_block_on_queue_send",
		  PAIR("queue_id", "ticks_to_wait") },
	[111] = { "curtask_block_on_queue_receive",
		  PAIR("queue_id", "ticks_to_wait") },
	[112] = { "queue_cur_length", PAIR("queue_id", "length") },
	[122] = { "task_evtmarker_name", PAIR("evtmarker_id", "task_id"),
		  "name" },
	[123] = { "task_evtmarker", PLAIN("evtmarker_id"), "msg" },
	[124] = { "task_evtmarker_begin", PLAIN("evtmarker_id"), "msg" },
	[125] = { "task_evtmarker_end", PLAIN("evtmarker_id") },
	[126] = { "task_valmarker_name", PAIR("valmarker_id", "task_id"),
		  "name" },
	[127] = { "task_valmarker", .types = { U32, KT_TBAND_S64 },
		  .fields = { "valmarker_id", "val" } },
};

/* clang-format on */

static const char *const queue_kinds[] = {
	"FrqkQueue", "FrqkCountingSemphr", "FrqkBinarySemphr",
	"FrqkMutex", "FrqkRecursiveMutex", "FrqkQueueSet",
};

/* Return the name that Tonbandgeraet's decoder has for a kind of queue, or NULL. */
const char *kt_tband_queue_kind(uint64_t kind)
{
	return kind < KT_ARRAY_SIZE(queue_kinds) ? queue_kinds[kind] : NULL;
}

/* Return what events of an id consist of, or NULL for an unknown id. */
const struct kt_tband_kind *kt_tband_kind(unsigned int id)
{
	return id < KT_TBAND_IDS && kinds[id].name ? &kinds[id] : NULL;
}

/* ---- bytes -------------------------------------------------------------- */

/*
 * Read a number of at most @bits bits.
 * Return: the byte after it, or NULL if it is cut off or too long.
 */
const uint8_t *kt_tband_get_number(const uint8_t *p, const uint8_t *end,
				   unsigned int bits, uint64_t *value)
{
	unsigned int shift = 0;
	uint64_t v = 0;

	for (; p < end; shift += SEPTET) {
		uint8_t byte = *p++;
		uint64_t septet = byte & (MORE - 1);

		if (shift + SEPTET > bits && byte >> (bits - shift))
			return NULL;
		v |= septet << shift;
		if (byte & MORE)
			continue;
		*value = v;
		return p;
	}
	return NULL;
}

/* Write a number, at most 10 bytes.  Return: the byte after it. */
uint8_t *kt_tband_put_number(uint8_t *p, uint64_t v)
{
	for (; v >= MORE; v >>= SEPTET)
		*p++ = (uint8_t)(v | MORE);
	*p++ = (uint8_t)v;
	return p;
}

static uint64_t to_signed(uint64_t v)
{
	if (v == 1)
		return (uint64_t)INT64_MIN;
	return v & 1 ? 0 - (v >> 1) : v >> 1;
}

static uint64_t from_signed(uint64_t v)
{
	if (v == (uint64_t)INT64_MIN)
		return 1;
	return (int64_t)v < 0 ? (0 - v) << 1 | 1 : v << 1;
}

static const uint8_t *get_field(const uint8_t *p, const uint8_t *end,
				unsigned int type, uint64_t *value)
{
	switch (type) {
	case KT_TBAND_U8:
		*value = p < end ? *p : 0;
		return p < end ? p + 1 : NULL;
	case KT_TBAND_U32:
		return kt_tband_get_number(p, end, 32, value);
	case KT_TBAND_U64:
		return kt_tband_get_number(p, end, 64, value);
	default:
		p = kt_tband_get_number(p, end, 64, value);
		if (p)
			*value = to_signed(*value);
		return p;
	}
}

static uint8_t *put_tband_field(uint8_t *p, unsigned int type, uint64_t value)
{
	switch (type) {
	case KT_TBAND_U8:
		*p = (uint8_t)value;
		return p + 1;
	case KT_TBAND_S64:
		return kt_tband_put_number(p, from_signed(value));
	default:
		return kt_tband_put_number(p, value);
	}
}

/*
 * Read an event from the content of a frame.  @e->text points into @data.
 * Return: 0, or -EBADMSG with the reason in @why.
 */
int kt_tband_decode(struct kt_tband_event *e, const uint8_t *data, size_t len,
		    char why[KT_TBAND_WHY])
{
	const uint8_t *p = data, *end = data + len;
	const struct kt_tband_kind *k;

	memset(e, 0, sizeof(*e));
	k = len ? kt_tband_kind(*p) : NULL;
	if (!k) {
		snprintf(why, KT_TBAND_WHY, len ? "unknown event" : "empty event");
		return -EBADMSG;
	}
	e->id = *p++;
	if (!kt_tband_is_metadata(e->id))
		p = kt_tband_get_number(p, end, 64, &e->ts);
	if (!p) {
		snprintf(why, KT_TBAND_WHY, "%s: bad time", k->name);
		return -EBADMSG;
	}
	for (unsigned int i = 0; i < KT_TBAND_FIELDS && k->types[i]; i++) {
		p = get_field(p, end, k->types[i], &e->values[i]);
		if (p)
			continue;
		snprintf(why, KT_TBAND_WHY, "%s: bad field %s", k->name,
			 k->fields[i]);
		return -EBADMSG;
	}
	if (e->id == KT_TBAND_QUEUE_KIND &&
	    e->values[1] >= KT_ARRAY_SIZE(queue_kinds)) {
		snprintf(why, KT_TBAND_WHY, "%s: unknown kind", k->name);
		return -EBADMSG;
	}
	e->text = p;
	e->len = (size_t)(end - p);
	if (!e->len || k->text)
		return 0;
	snprintf(why, KT_TBAND_WHY, "%s: extra bytes after the last field", k->name);
	return -EBADMSG;
}

/*
 * Write an event to @to, which has room for KT_TBAND_FIXED_MAX bytes and the text.
 * Return: number of bytes.
 */
size_t kt_tband_encode(const struct kt_tband_event *e, uint8_t *to)
{
	const struct kt_tband_kind *k = &kinds[e->id];
	uint8_t *p = to;

	*p++ = e->id;
	if (!kt_tband_is_metadata(e->id))
		p = kt_tband_put_number(p, e->ts);
	for (unsigned int i = 0; i < KT_TBAND_FIELDS && k->types[i]; i++)
		p = put_tband_field(p, k->types[i], e->values[i]);
	if (k->text && e->len) {
		memcpy(p, e->text, e->len);
		p += e->len;
	}
	return (size_t)(p - to);
}

/* ---- frames -------------------------------------------------------------- */

/*
 * Decode a frame, given without its final zero, to @to, which has room for @len bytes.
 * Return: number of bytes, or -EBADMSG if it is not COBS.
 */
int64_t kt_cobs_decode(uint8_t *to, const uint8_t *data, size_t len)
{
	const uint8_t *p = data, *end = data + len;
	uint8_t *out = to;

	while (p < end) {
		size_t run = *p++;

		if (!run || run - 1 > (size_t)(end - p))
			return -EBADMSG;
		memcpy(out, p, run - 1);
		out += run - 1;
		p += run - 1;
		if (run <= COBS_RUN && p < end)
			*out++ = 0;
	}
	return out - to;
}

/*
 * Encode @data as a frame with its final zero.  @to has room for @len + @len / 254 + 2
 * bytes.
 * Return: number of bytes.
 */
size_t kt_cobs_encode(uint8_t *to, const uint8_t *data, size_t len)
{
	uint8_t *code = to, *out = to + 1;

	for (size_t i = 0; i < len; i++) {
		if (data[i])
			*out++ = data[i];
		if (data[i] && (size_t)(out - code) <= COBS_RUN)
			continue;
		/* Behind a full run at the very end no empty run follows. */
		if (data[i] && i + 1 == len)
			break;
		*code = (uint8_t)(out - code);
		code = out++;
	}
	*code = (uint8_t)(out - code);
	*out++ = 0;
	return (size_t)(out - to);
}

/* ---- JSON ----------------------------------------------------------------- */

/* Write "task_name" as "TaskName". */
static char *put_camel(char *p, const char *name)
{
	bool upper = true;

	for (; *name; name++) {
		if (*name != '_')
			*p++ = (char)(upper ? *name - 'a' + 'A' : *name);
		upper = *name == '_';
	}
	return p;
}

static char *put_tband_value(char *p, const struct kt_tband_event *e,
			     const struct kt_tband_kind *k, unsigned int i)
{
	p = kt_put_char(p, '"');
	p = kt_put_str(p, k->fields[i]);
	p = kt_put_mem(p, "\":", 2);
	if (k->types[i] >= KT_TBAND_U64) {
		p = kt_put_char(p, '"');
		p = k->types[i] == KT_TBAND_S64 ?
			    kt_put_s64(p, (int64_t)e->values[i]) :
			    kt_put_u64(p, e->values[i]);
		return kt_put_char(p, '"');
	}
	if (e->id != KT_TBAND_QUEUE_KIND || !i)
		return kt_put_u64(p, e->values[i]);
	p = kt_put_char(p, '"');
	p = kt_put_str(p, queue_kinds[e->values[i]]);
	return kt_put_char(p, '"');
}

/*
 * Write an event as the JSON that Tonbandgeraet's own decoder prints, without white space.
 * Only its numbers of 64 bits are strings here, as in all JSON of the library.
 * Return: the end.
 */
char *kt_tband_json(char *p, const struct kt_tband_event *e)
{
	const struct kt_tband_kind *k = &kinds[e->id];

	p = kt_put_str(p, e->id < KT_TBAND_FRTOS ? "{\"Base" : "{\"FreeRTOS");
	p = kt_put_str(p, kt_tband_is_metadata(e->id) ? "Metadata\":{\"" :
							"\":{\"ts\":\"");
	if (!kt_tband_is_metadata(e->id)) {
		p = kt_put_u64(p, e->ts);
		p = kt_put_str(p, "\",\"kind\":{\"");
	}
	p = put_camel(p, k->name);
	p = kt_put_str(p, "\":{");
	for (unsigned int i = 0; i < KT_TBAND_FIELDS && k->types[i]; i++) {
		if (i)
			p = kt_put_char(p, ',');
		p = put_tband_value(p, e, k, i);
	}
	if (k->text) {
		p = kt_put_mem(p, ",\"", 2);
		p = kt_put_str(p, k->text);
		p = kt_put_mem(p, "\":", 2);
		p = kt_put_json(p, (const char *)e->text, e->len);
	}
	return kt_put_str(p, kt_tband_is_metadata(e->id) ? "}}}" : "}}}}");
}
