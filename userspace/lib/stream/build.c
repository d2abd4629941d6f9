// SPDX-License-Identifier: LGPL-2.1-or-later
/* Making packets: what a ring does in the kernel, for saved traces and tests. */
#include "internal.h"

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

static void put_word(struct ktape_builder *b, uint64_t ts, uint32_t code)
{
	kt_set32(b->data + b->at, (uint32_t)ts);
	kt_set32(b->data + b->at + 4, code);
}

static void put_extend(struct ktape_builder *b, uint64_t ts)
{
	put_word(b, ts, KTAPE_TIME_EXTEND | 4U << 29);
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
	put_word(b, r->ts,
		 r->opcode | r->dat20 << 8 | (r->blob ? 1U << 28 : 0) |
			 (uint32_t)r->nargs << 29);
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

size_t ktape_build_end(struct ktape_builder *b, uint64_t ts_end,
		       uint64_t discarded)
{
	KT_HEAD_SET64(b->data, ts_end, kt_max(ts_end, b->ts));
	KT_HEAD_SET64(b->data, discarded, discarded);
	KT_HEAD_SET64(b->data, content_bits, (uint64_t)b->at * 8);
	KT_HEAD_SET64(b->data, packet_bits, (uint64_t)b->at * 8);
	ktape_packet_seal(b->data);
	return b->at;
}
