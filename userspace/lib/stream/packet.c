// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check the headers of packets, join two records that are one event, and build packets.
 *
 * A packet comes from a file, a pipe or a mapped ring and may contain anything.
 * The functions that read records are inline in packet.h, because every event of a
 * trace passes them.
 */
#include <stdarg.h>

#include "stream/event.h"
#include "stream/packet.h"

#include "util/crc32c.h"

#define CRC_OFFSET offsetof(struct ktape_block, crc32c)

_Static_assert(sizeof(struct ktape_block) == KTAPE_BLOCK_HEADER,
	       "struct ktape_block is the packet header of the ABI");

/* Fill @error, which may be NULL.  Return: -EBADMSG. */
int kt_error(struct ktape_error *error, uint64_t offset, const char *format, ...)
{
	va_list args;

	if (!error)
		return -EBADMSG;
	error->offset = offset;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EBADMSG;
}

/*
 * Compute the checksum of a packet whose content is in two parts.  The first part
 * begins with the header; the checksum member in it counts as zero.
 */
uint32_t kt_packet_crc(const void *first, size_t first_len, const void *rest,
		       size_t rest_len)
{
	static const uint8_t zero[4];
	const uint8_t *p = first;
	uint32_t crc;

	crc = kt_crc32c(0, p, CRC_OFFSET);
	crc = kt_crc32c(crc, zero, sizeof(zero));
	crc = kt_crc32c(crc, p + CRC_OFFSET + sizeof(zero),
			first_len - CRC_OFFSET - sizeof(zero));
	return kt_crc32c(crc, rest, rest_len);
}

void ktape_packet_seal(void *packet)
{
	uint32_t flags = KT_HEAD32(packet, flags) | KTAPE_BLOCK_CRC;
	uint64_t content = KT_HEAD64(packet, content_bits) / 8;

	KT_HEAD_SET32(packet, flags, flags);
	KT_HEAD_SET32(packet, crc32c, kt_packet_crc(packet, content, NULL, 0));
}

/*
 * Check a packet header of KTAPE_BLOCK_HEADER bytes.
 * Return: bytes of the packet, or 0 with @error filled.
 */
uint64_t kt_packet_size(const uint8_t *head, struct ktape_error *error)
{
	uint64_t content = KT_HEAD64(head, content_bits);
	uint64_t size = KT_HEAD64(head, packet_bits);

	if (KT_HEAD32(head, magic) != KTAPE_BLOCK_MAGIC)
		kt_error(error, 0, "not a packet: wrong magic number");
	else if (KT_HEAD32(head, stream_id))
		kt_error(error, 0, "unknown stream class in the packet header");
	else if (size % 64 || size / 8 > KT_PACKET_MAX)
		kt_error(error, 0, "bad packet size of %llu bits",
			 (unsigned long long)size);
	else if (content % 64 || content > size || content < KTAPE_BLOCK_HEADER * 8)
		kt_error(error, 0, "bad content size of %llu bits",
			 (unsigned long long)content);
	else if (KT_HEAD32(head, kind) > KTAPE_RING_REGISTRY)
		kt_error(error, 0, "unknown kind of ring in the packet header");
	else if (KT_HEAD32(head, cpu) >= KT_CPUS_MAX)
		kt_error(error, 0, "CPU number %u is out of range",
			 KT_HEAD32(head, cpu));
	else
		return size / 8;
	return 0;
}

/* As ktape_packet_open(), without checking the checksum. */
int kt_packet_begin(struct ktape_packet *packet, const void *data, size_t len,
		    const uint8_t *uuid, struct ktape_error *error)
{
	const uint8_t *head = data;

	if (len < KTAPE_BLOCK_HEADER)
		return kt_error(error, 0, "the packet ends in its header");
	if (!kt_packet_size(head, error))
		return -EBADMSG;
	if (uuid && memcmp(head + offsetof(struct ktape_block, uuid), uuid, 16))
		return kt_error(error, 0, "the packet belongs to another trace");

	packet->data = head;
	packet->content = KT_HEAD64(head, content_bits) / 8;
	packet->at = KTAPE_BLOCK_HEADER;
	packet->ts = KT_HEAD64(head, ts_begin);
	packet->cpu = KT_HEAD32(head, cpu);
	packet->kind = KT_HEAD32(head, kind);
	packet->truncated = packet->content > len;
	if (packet->truncated)
		packet->content = len & ~(size_t)7;
	return 0;
}

int ktape_packet_open(struct ktape_packet *packet, const void *data, size_t len,
		      const uint8_t *uuid, struct ktape_error *error)
{
	int err = kt_packet_begin(packet, data, len, uuid, error);
	const uint8_t *head = data;

	if (err || packet->truncated)
		return err;
	if ((KT_HEAD32(head, flags) & KTAPE_BLOCK_CRC) &&
	    kt_packet_crc(head, packet->content, NULL, 0) != KT_HEAD32(head, crc32c))
		return kt_error(error, 0, KT_BAD_CHECKSUM);
	return 0;
}

int ktape_packet_next(struct ktape_packet *p, struct ktape_event *event,
		      struct ktape_error *error)
{
	const char *why = NULL;
	int ret = kt_packet_read(p, event, &why);

	return ret < 0 ? kt_error(error, p->at, "%s", why) : ret;
}

/* Check that bytes are pairs of a string and a value, one at least. */
static bool are_pairs(const uint8_t *at, size_t size)
{
	const uint8_t *end = at + size;
	struct kt_typed typed;

	while (at < end) {
		kt_typed_next(&at, end, &typed);
		if (typed.kind != KT_TYPED_STRING || at == end)
			return false;
		kt_typed_next(&at, end, &typed);
	}
	return size;
}

/**
 * kt_packet_join() - join fields and the event that they are of
 * @p: the packet; the record behind the fields comes next
 * @event: the record with the fields; replaced by the event with them, whose place is that of
 *	both records.  It stays as it is if they are no fields of the next record
 *
 * Return: 1; or 0 at the end, where the input ends before the event: its fields are left out
 * as the event is.
 */
int kt_packet_join(struct ktape_packet *p, struct ktape_event *event)
{
	struct ktape_packet rest = *p;
	struct ktape_event next;
	const char *why;
	int ret;

	if (!are_pairs(event->blob, event->blob_size))
		return 1;
	ret = kt_packet_read(&rest, &next, &why);
	if (!ret && p->truncated) {
		p->content = event->offset;
		p->at = p->content;
		return 0;
	}
	if (ret <= 0 || next.ts != event->ts ||
	    next.opcode != kt_get32((const uint8_t *)event->args + 4) ||
	    next.opcode == KTAPE_TIME_EXTEND || kt_packet_has_fields(&next))
		return 1;
	next.size += next.offset - event->offset;
	next.offset = event->offset;
	next.extra = event->blob;
	next.extra_size = event->blob_size;
	*p = rest;
	*event = next;
	return 1;
}

/* ---- building packets ---------------------------------------------------- */

void ktape_build_begin(struct ktape_builder *b, void *data, size_t size,
		       const struct ktape_block *head)
{
	b->data = data;
	b->size = size;
	b->at = KTAPE_BLOCK_HEADER;
	b->ts = head->ts_begin;
	b->records = 0;
	memset(data, 0, KTAPE_BLOCK_HEADER);
	memcpy(b->data + offsetof(struct ktape_block, uuid), head->uuid, 16);
	KT_HEAD_SET32(data, magic, KTAPE_BLOCK_MAGIC);
	KT_HEAD_SET64(data, instance, (uint64_t)head->kind << 32 | head->cpu);
	KT_HEAD_SET32(data, cpu, head->cpu);
	KT_HEAD_SET32(data, kind, head->kind);
	KT_HEAD_SET32(data, tid, (uint32_t)head->tid);
	KT_HEAD_SET32(data, flags, head->flags & ~KTAPE_BLOCK_CRC);
	KT_HEAD_SET64(data, ts_begin, head->ts_begin);
	KT_HEAD_SET64(data, seq, head->seq);
	KT_HEAD_SET64(data, discarded, head->discarded);
	b->data[offsetof(struct ktape_block, prio)] = head->prio;
	b->data[offsetof(struct ktape_block, context)] = head->context;
}

/* Write the first word of a record; @code: opcode, dat20, P and number of arguments (abi.h). */
static void put_packet_word(struct ktape_builder *b, uint64_t ts, uint32_t code)
{
	kt_set32(b->data + b->at, (uint32_t)ts);
	kt_set32(b->data + b->at + 4, code);
}

/* Write a time extension: a record with four arguments, of which two are the full time. */
static void put_extend(struct ktape_builder *b, uint64_t ts)
{
	put_packet_word(b, ts, KTAPE_TIME_EXTEND | 4U << (KTAPE_NARGS_SHIFT - 32));
	kt_set64(b->data + b->at + 8, ts);
	kt_set64(b->data + b->at + 16, 0);
	b->at += KTAPE_TIME_EXTEND_SIZE;
}

int ktape_build_add(struct ktape_builder *b, const struct ktape_record *r)
{
	bool extend = r->ts >> 32 != b->ts >> 32;
	uint64_t len = 8 + r->nargs * 4U;
	uint8_t *p;

	if (r->ts < b->ts || r->nargs > KTAPE_NARGS_MAX || !r->opcode ||
	    r->opcode == KTAPE_TIME_EXTEND || r->dat20 > KTAPE_DAT20_MASK)
		return -EINVAL;
	if (r->blob)
		len += 4 + (uint64_t)r->blob_size;
	len = kt_align(len, KTAPE_RECORD_ALIGN);
	if (b->at + len + (extend ? KTAPE_TIME_EXTEND_SIZE : 0) > b->size)
		return -ENOSPC;
	if (extend)
		put_extend(b, r->ts);
	p = b->data + b->at;
	memset(p, 0, len);
	put_packet_word(b, r->ts,
			r->opcode | r->dat20 << (KTAPE_DAT20_SHIFT - 32) |
				(r->blob ? 1U << (KTAPE_P_SHIFT - 32) : 0) |
				(uint32_t)r->nargs << (KTAPE_NARGS_SHIFT - 32));
	p += 8;
	for (unsigned int i = 0; i < r->nargs; i++, p += 4)
		kt_set32(p, r->args[i]);
	if (r->blob) {
		kt_set32(p, r->blob_size);
		memcpy(p + 4, r->blob, r->blob_size);
	}
	b->at += len;
	b->ts = r->ts;
	b->records++;
	return 0;
}

size_t ktape_build_end(struct ktape_builder *b, uint64_t ts_end, uint64_t discarded)
{
	KT_HEAD_SET64(b->data, ts_end, kt_max(ts_end, b->ts));
	KT_HEAD_SET64(b->data, discarded, discarded);
	KT_HEAD_SET64(b->data, content_bits, (uint64_t)b->at * 8);
	KT_HEAD_SET64(b->data, packet_bits, (uint64_t)b->at * 8);
	ktape_packet_seal(b->data);
	return b->at;
}
