/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-made trace streams of RKH, a framework for state machines. */
#ifndef _LIB_RKH_H
#define _LIB_RKH_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format/rkh/internal.h"

#define RKH_STREAM 65536 /* room for a stream, in bytes */

__attribute__((unused)) static const struct kt_rkh_config usual = {
	.flags = KT_RKH_ALL,
	.version = 0x3400,
	.hz = 1000,
	.id = 1,
	.sig = 1,
	.ts = 4,
	.ptr = 4,
	.ntimer = 2,
	.nblock = 1,
	.nelem = 1,
	.esize = 2,
	.bsize = 1,
	.pools = 4,
};

/* A hand-made stream. */
struct rkh_stream {
	struct kt_rkh_config config;
	uint8_t data[RKH_STREAM];
	size_t len;
	uint8_t seq;
	uint32_t ts;
	size_t ends[512]; /* behind the flag of each frame */
	unsigned int nr;
};

__attribute__((unused)) static void rkh_add_frame(struct rkh_stream *s,
						  const uint8_t *plain, size_t len)
{
	s->len += kt_rkh_frame(s->data + s->len, plain, len);
	s->ends[s->nr++] = s->len;
}

/* Begin a stream, if @record with its configuration. */
__attribute__((unused)) static void
rkh_stream_begin(struct rkh_stream *s, const struct kt_rkh_config *c, bool record)
{
	uint8_t plain[KT_RKH_CONFIG_FRAME];

	memset(s, 0, sizeof(*s));
	s->config = *c;
	s->ts = 5;
	s->data[s->len++] = KT_RKH_FLAG;
	if (record)
		rkh_add_frame(s, plain, kt_rkh_put_config(c, plain));
}

/* Add an event, 3 ticks after the one before.  Its fields are @value, @value + 1 and so on. */
__attribute__((unused)) static void rkh_add(struct rkh_stream *s,
					    unsigned int id, uint64_t value,
					    const char *text, size_t len)
{
	struct kt_rkh_event e = {
		.id = (uint8_t)id,
		.seq = s->seq++,
		.ts = s->ts,
		.text = (const uint8_t *)text,
		.len = len,
	};
	uint8_t plain[1024];

	s->ts += 3;
	for (unsigned int i = 0; i < KT_RKH_FIELDS; i++)
		e.values[i] = value + i;
	rkh_add_frame(s, plain, kt_rkh_encode(&s->config, &e, plain));
}

/* Typed arguments of a user event: three bytes, two of which are stuffed, a number, a text. */
static const char mem_arg[] = "\x18\x03\x7e\x7d\x00\x31\xff\x37hi";

/* Make a stream of every event once, with values and texts that are stuffed in some. */
__attribute__((unused)) static void
rkh_all(struct rkh_stream *s, const struct kt_rkh_config *c, bool record)
{
	rkh_stream_begin(s, c, record);
	for (unsigned int id = 0; id < KT_RKH_IDS; id++) {
		const struct kt_rkh_kind *k = kt_rkh_kind(id);

		if (!k || id == KT_RKH_TCFG)
			continue;
		if (*k->types == 'U')
			rkh_add(s, id, 0, mem_arg, sizeof(mem_arg));
		else
			rkh_add(s, id, id % 7 == 1 ? 0x7d : id % 7 + 1,
				strchr(k->types, 'Z') ? "name" : "}~\0z", 4);
	}
}

#endif /* _LIB_RKH_H */
