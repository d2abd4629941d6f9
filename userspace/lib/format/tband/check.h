/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tonbandgeraet on a line that loses bytes: what a stream has besides, so that
 * its reader finds every loss.  What reader and writer share.
 *
 * A native event or name becomes a group of frames, the last of which is the
 * event itself; those in front of it tell its core, who runs, how many were
 * lost.  A check ends the group: a frame that names a value marker which nobody
 * uses.  So other decoders read the stream as it is, and see the name of that
 * marker change.  The name is, in digits of base64url, the highest first:
 *
 *	3	how many events, or names, there were so far, this one included
 *	4	the lower 24 bits of a CRC32C: of the group's frames with their
 *		zeros, and of the other parts of the check
 *	0 to 2	the core where all of the group was, no digits for core 0
 *
 * Events and names are counted apart, each modulo 2^18; which of them it is, the
 * number of the marker tells.  A group without an event or a name counts none.
 * The stream begins with a group that tells the resolution, three times, and the
 * counts begin with it; it ends with the count of lost events and with empty
 * groups of both kinds, three times.
 *
 * An event that the format has no place for is the name of a third marker, in
 * base64url: opcode; enum ktape_ring_kind | arguments << 2 | 32 if there is a
 * buffer; then as LEB128 time, thread + 1, dat20 and arguments; and the buffer.
 */
#ifndef _KT_CODEC_TBAND_CHECK_H
#define _KT_CODEC_TBAND_CHECK_H

#include "tband.h"

/* Value markers that are nobody's: two bytes each. */
#define KT_TBAND_CARRIED	16381U
#define KT_TBAND_CHECK_EVENT	16382U
#define KT_TBAND_CHECK_NAME	16383U

#define KT_TBAND_SEQ_MASK	0x3ffffU
#define KT_TBAND_SUM_MASK	0xffffffU
#define KT_TBAND_CHECK_TEXT	16	/* room for it */
#define KT_TBAND_REPEAT		3	/* of what begins and ends a stream */

/* What a carried event has besides its numbers. */
#define KT_TBAND_CARRIED_ARGS	2	/* shift of their count */
#define KT_TBAND_CARRIED_BLOB	32U
#define KT_TBAND_CARRIED_MAX	2048U	/* bytes of a buffer that are kept */

/**
 * struct kt_tband_check - what ends a group
 * @name: it is of a name, else of an event
 * @seq: how many there were, modulo KT_TBAND_SEQ_MASK + 1
 * @core: where
 */
struct kt_tband_check {
	bool name;
	uint32_t seq;
	uint32_t core;
};

uint32_t kt_tband_check_sum(uint32_t crc, const struct kt_tband_check *c);
void kt_tband_check_put(struct kt_tband_event *e, uint32_t sum,
			const struct kt_tband_check *c,
			char text[KT_TBAND_CHECK_TEXT]);
bool kt_tband_check_get(const struct kt_tband_event *e, uint32_t *sum,
			struct kt_tband_check *c);
size_t kt_base64_encode(char *to, const uint8_t *data, size_t len);
int64_t kt_base64_decode(uint8_t *to, const uint8_t *text, size_t len);

#endif /* _KT_CODEC_TBAND_CHECK_H */
