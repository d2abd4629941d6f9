/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packets and the records in them, read from memory that cannot be trusted.
 *
 * The bytes come from a file or from a mapped ring that the kernel may overwrite
 * while it is read.  Therefore nothing outside the content of a packet is read, whatever
 * lengths the records claim.  The first word of a record is loaded once and the copy is
 * checked; the size of a blob is loaded twice, and the second time cut to the record's end.
 *
 * This header is not about files: scan.h finds packets, event.h finds fields.
 *
 * Read the files of this folder in this order; each calls only those before it:
 *
 *	packet.h	a packet and a cursor in it, and the reading of a record
 *	event.h		the event table as plans for reading fields
 *	fields.c	the fields of an event, one by one
 *	events.c	the event table as data
 *	packet.c	checks the head of a packet, and builds packets
 *	count.c		how many records a block has, several words at a time
 *	zin.c, scan.c	packets of a file or pipe: unpacked, and found again after damage
 *	clock.h		ticks to nanoseconds
 *	decode.h, decode.c	which thread runs on each CPU
 *	state.c		a session's state, written again at the begin of each piece of a log
 *	metadata.h	the text of the metadata, with the order of its own files
 */
#ifndef _KT_PACKET_H
#define _KT_PACKET_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ktape/formats.h>

#include "util/bits.h"

#include <ktape.h>

/* Limits that inputs must obey. */
#define KT_CPUS_MAX   8192U
#define KT_PACKET_MAX KTAPE_BLOCK_MAX

/* Read or set a member of the packet header at @data, which may have any alignment. */
#define KT_HEAD32(data, member) \
	kt_get32((const uint8_t *)(data) + offsetof(struct ktape_block, member))
#define KT_HEAD64(data, member) \
	kt_get64((const uint8_t *)(data) + offsetof(struct ktape_block, member))
#define KT_HEAD_SET32(data, member, value) \
	kt_set32((uint8_t *)(data) + offsetof(struct ktape_block, member), value)
#define KT_HEAD_SET64(data, member, value) \
	kt_set64((uint8_t *)(data) + offsetof(struct ktape_block, member), value)

/* Most nested writers that can have counted an event without storing it yet. */
#define KT_DEPTH 8

#define KT_BAD_CHECKSUM "checksum is wrong"

/* Check whether a packet has more than its header. */
static inline bool kt_head_has_records(const uint8_t *head)
{
	return KT_HEAD64(head, content_bits) > KTAPE_BLOCK_HEADER * 8;
}

int kt_error(struct ktape_error *error, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t kt_packet_size(const uint8_t *head, struct ktape_error *error);
int kt_packet_begin(struct ktape_packet *packet, const void *data, size_t len,
		    const uint8_t *uuid, struct ktape_error *error);
uint64_t kt_records_count(const uint8_t *data, uint64_t from, uint64_t to);
uint64_t kt_records_count_by_steps(const uint8_t *data, uint64_t from, uint64_t to);
uint32_t kt_packet_crc(const void *first, size_t first_len, const void *rest,
		       size_t rest_len);

/*
 * Return the bytes of the record at @p, 0 if more than @room (at least 8).  @word: the first word
 * of the record, which was loaded once.
 */
static inline uint64_t kt_record_length(const uint8_t *p, uint64_t word, uint64_t room)
{
	uint64_t len = 8 + (word >> KTAPE_NARGS_SHIFT) * 4;

	if (word >> KTAPE_P_SHIFT & 1) {
		if (len + 4 > room)
			return 0;
		len += 4 + (uint64_t)kt_get32(p + len);
	}
	len = kt_align(len, KTAPE_RECORD_ALIGN);
	return len <= room ? len : 0;
}

/*
 * Return the full time of a record: the upper half of the previous record's time and
 * the low half in the record.  A time extension precedes the first record with a new
 * upper half.  So a low half below the previous one means that the clock stepped
 * back; the previous time is kept until the clock has caught up.  ktape_verify
 * reports such steps.
 */
static inline uint64_t kt_record_time(uint64_t before, uint64_t word)
{
	uint64_t ts = (before & ~0xffffffffULL) | (word & 0xffffffff);

	return ts < before ? before : ts;
}

/* Check whether kt_record_time() replaced the time of a record. */
static inline bool kt_record_held(const struct ktape_event *e)
{
	return kt_get32((const uint8_t *)e->args - 8) != (uint32_t)e->ts;
}

/*
 * Return the begin time of a packet; the last record of the previous one is at @last.
 * If the clock stepped back between them by so little that the upper half is the
 * same, @last is kept until the clock has caught up.
 */
static inline uint64_t kt_begin_held(uint64_t begin, uint64_t last)
{
	return begin < last && begin >> 32 == last >> 32 ? last : begin;
}

/*
 * Read the full time of a time extension, which has four arguments and no blob.
 * Return: false if it is not valid.
 */
static inline bool kt_record_extend(uint64_t before, const uint8_t *record,
				    uint64_t word, uint64_t *ts)
{
	if (word >> KTAPE_P_SHIFT != 4U << 1)
		return false;
	*ts = kt_get64(record + 8);
	return (uint32_t)*ts == (uint32_t)word && *ts >= before;
}

/*
 * Read the next record of a packet.
 * Return: 1; 0 at the end, also where a packet that is cut off ends in a record; or -EBADMSG
 * with the reason in @why.
 */
static inline int kt_packet_read(struct ktape_packet *p,
				 struct ktape_event *event, const char **why)
{
	const uint8_t *record = p->data + p->at;
	uint64_t room = p->content - p->at;
	uint64_t word, len, args, ts;

	if (!room)
		return 0;
	word = kt_get64(record);
	len = kt_record_length(record, word, room);
	if (!len) {
		*why = "a record is longer than its packet";
		return p->truncated ? 0 : -EBADMSG;
	}
	ts = kt_record_time(p->ts, word);
	event->opcode = (uint8_t)(word >> KTAPE_OPCODE_SHIFT);
	if (!event->opcode) {
		*why = "a record has opcode 0";
		return -EBADMSG;
	}
	if (event->opcode == KTAPE_TIME_EXTEND &&
	    !kt_record_extend(p->ts, record, word, &ts)) {
		*why = "a time extension is not valid";
		return -EBADMSG;
	}
	event->ts = ts;
	event->nargs = (uint8_t)(word >> KTAPE_NARGS_SHIFT);
	event->dat20 = (uint32_t)(word >> KTAPE_DAT20_SHIFT) & KTAPE_DAT20_MASK;
	event->args = record + 8;
	event->blob = NULL;
	event->blob_size = 0;
	event->extra = NULL;
	event->extra_size = 0;
	if (word >> KTAPE_P_SHIFT & 1) {
		args = 8 + event->nargs * 4U;
		event->blob = record + args + 4;
		event->blob_size = (uint32_t)kt_min(kt_get32(record + args),
						    len - args - 4);
	}
	event->offset = (uint32_t)p->at;
	event->size = (uint32_t)len;
	event->cpu = p->cpu;
	event->kind = (uint8_t)p->kind;
	event->tid = -1;
	event->known = true;
	p->ts = ts;
	p->at += len;
	return 1;
}

/* Check whether a record has further fields of the event that follows it. */
static inline bool kt_packet_has_fields(const struct ktape_event *e)
{
	return e->opcode == KTAPE_EV_USER_EVENT && e->nargs == 2 && e->blob &&
	       kt_get32(e->args) == KTAPE_FORMAT_ID_FIELDS;
}

int kt_packet_join(struct ktape_packet *p, struct ktape_event *event);

/*
 * As kt_packet_read(), for the packets of a trace: the fields that a conversion wrote before
 * an event come with the event.
 */
static inline int kt_packet_read_event(struct ktape_packet *p,
				       struct ktape_event *event, const char **why,
				       const struct ktape_info *info)
{
	int ret = kt_packet_read(p, event, why);

	if (ret > 0 && event->opcode == KTAPE_EV_USER_EVENT &&
	    info->converted && kt_packet_has_fields(event))
		return kt_packet_join(p, event);
	return ret;
}

#endif /* _KT_PACKET_H */
