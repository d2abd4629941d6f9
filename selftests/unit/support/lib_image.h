/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build the memory that a persistent session leaves, and recover it: for tests
 * that damage it in between.
 */
#ifndef _LIB_IMAGE_H
#define _LIB_IMAGE_H

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#define IMAGE_PAGE	4096U
#define IMAGE_BLOCK	4096U
#define IMAGE_BLOCKS	4U /* a ring */
#define IMAGE_CPUS	2U
#define IMAGE_RINGS	(IMAGE_CPUS * KTAPE_RINGS_PER_CPU)
#define IMAGE_RECORDS	20U  /* records in a closed block */
#define IMAGE_OPEN	7U   /* records in the open block */
#define IMAGE_CLOSED	6U   /* closed blocks in each ring */
#define IMAGE_UNCHECKED 1U   /* last closed blocks without a checksum */
#define IMAGE_NAMES	64U  /* entries of the registry */
#define IMAGE_OPCODE	200U /* an opcode that the event table does not have */
#define IMAGE_RECORD	16U  /* bytes of a record */

/* Internal functions of libktape. */
uint32_t kt_crc32c(uint32_t crc, const void *data, size_t len);
void kt_metadata_seal(char *text, size_t len);

struct image {
	uint8_t *data;
	size_t size;
	struct ktape_persist *super;
	struct ktape_persist_ring *rings;
};

static const struct ktape_info image_info = {
	.uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	.freq = 1000000000,
	.clock = "mono",
	.hostname = "board",
	.release = "6.1.0",
	.machine = "x86_64",
};

/*
 * Compute the checksums of the table of rings and of the superblock after a change, and copy the
 * superblock to the last page; @here tells the two apart.
 */
__attribute__((unused)) static void image_seal(struct image *m)
{
	struct ktape_persist *last = (void *)(m->data + m->size - IMAGE_PAGE);

	m->super->rings_crc32c =
		kt_crc32c(0, m->rings, IMAGE_RINGS * sizeof(*m->rings));
	m->super->here = 0;
	m->super->crc32c = 0;
	m->super->crc32c =
		kt_crc32c(0, m->super, offsetof(struct ktape_persist, state));
	*last = *m->super;
	last->here = m->size - IMAGE_PAGE;
	last->crc32c = 0;
	last->crc32c = kt_crc32c(0, last, offsetof(struct ktape_persist, state));
}

/*
 * Write block @seq as the ring leaves it: without a checksum, and with the block's size as
 * length. Members that are valid in a closed block only are garbage in an open one.
 */
static void image_block(uint8_t *to, const struct ktape_persist_ring *d,
			uint64_t seq, unsigned int records, bool closed)
{
	uint32_t number = (uint32_t)((seq - 1) * IMAGE_RECORDS), i;
	struct ktape_block head = {
		.cpu = d->cpu,
		.kind = d->kind,
		.seq = seq,
		.tid = 1,
		.ts_begin = 1000 + number,
	};
	struct ktape_block *b = (void *)to;
	struct ktape_builder builder;

	memcpy(head.uuid, image_info.uuid, sizeof(head.uuid));
	memset(to, 0, IMAGE_BLOCK);
	ktape_build_begin(&builder, to, IMAGE_BLOCK, &head);
	for (i = 0; i < records; i++, number++) {
		const struct ktape_record record = {
			.ts = 1000 + number,
			.args = &number,
			.nargs = 1,
			.opcode = IMAGE_OPCODE,
		};

		if (ktape_build_add(&builder, &record))
			abort();
	}
	ktape_build_end(&builder, 1000 + number, 0);
	b->emitted = number;
	b->flags = 0;
	b->crc32c = 0;
	b->packet_bits = IMAGE_BLOCK * 8;
	if (!closed)
		b->content_bits = b->ts_end = b->emitted = 0xbad;
}

/* Write a ring that was written over: the last IMAGE_BLOCKS blocks are left, the last is open. */
static void image_ring(struct image *m, const struct ktape_persist_ring *d)
{
	struct ktape_persist_check *checks = (void *)(m->data + d->checks);
	struct ktape_ring_page *page = (void *)(m->data + d->page);
	const size_t covered = offsetof(struct ktape_persist_check, check);
	uint64_t seq;

	for (seq = 1; seq <= IMAGE_CLOSED + 1; seq++) {
		unsigned int slot = (seq - 1) % IMAGE_BLOCKS;
		uint8_t *b = m->data + d->blocks + slot * IMAGE_BLOCK;
		bool closed = seq <= IMAGE_CLOSED;

		image_block(b, d, seq, closed ? IMAGE_RECORDS : IMAGE_OPEN, closed);
		if (seq > IMAGE_CLOSED - IMAGE_UNCHECKED)
			continue;
		checks[slot].seq = seq;
		checks[slot].crc32c = kt_crc32c(
			0, b, KTAPE_BLOCK_HEADER + IMAGE_RECORDS * IMAGE_RECORD);
		checks[slot].check = kt_crc32c(0, &checks[slot], covered);
	}
	page->commit = IMAGE_CLOSED * IMAGE_BLOCK + KTAPE_BLOCK_HEADER +
		       IMAGE_OPEN * IMAGE_RECORD;
	page->tail = (IMAGE_CLOSED + 1 - IMAGE_BLOCKS) * IMAGE_BLOCK;
	page->emitted[KTAPE_CLASS_USER] = IMAGE_CLOSED * IMAGE_RECORDS + IMAGE_OPEN;
}

/* Take whole pages for @bytes at *@at.  Return: their offset. */
static uint64_t image_take(uint64_t *at, uint64_t bytes)
{
	uint64_t was = *at;

	*at += (bytes + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
	return was;
}

static void image_lay_out(struct image *m, size_t metadata)
{
	struct ktape_persist s = {
		.magic = KTAPE_PERSIST_MAGIC,
		.version = KTAPE_PERSIST_VERSION,
		.table_hash = ktape_table_hash(),
		.page_size = IMAGE_PAGE,
		.clock_hz = image_info.freq,
		.nr_rings = IMAGE_RINGS,
		.registry_entries = IMAGE_NAMES,
		.metadata_size = metadata,
		.pos_bits = 64,
		.state = KTAPE_PERSIST_PANIC,
	};
	struct ktape_persist_ring rings[IMAGE_RINGS];
	uint64_t at = IMAGE_PAGE;
	unsigned int i;

	memset(rings, 0, sizeof(rings));
	memcpy(s.uuid, image_info.uuid, sizeof(s.uuid));
	s.rings = image_take(&at, sizeof(rings));
	s.metadata = image_take(&at, metadata);
	s.registry =
		image_take(&at, IMAGE_NAMES * sizeof(struct ktape_object_entry));
	for (i = 0; i < IMAGE_RINGS; i++) {
		rings[i].cpu = i / KTAPE_RINGS_PER_CPU;
		rings[i].kind = i % KTAPE_RINGS_PER_CPU;
		rings[i].block_size = IMAGE_BLOCK;
		rings[i].nr_blocks = IMAGE_BLOCKS;
		rings[i].page = image_take(&at, IMAGE_PAGE);
		rings[i].checks = image_take(&at, IMAGE_PAGE);
		rings[i].blocks = image_take(&at, IMAGE_BLOCK * IMAGE_BLOCKS);
	}
	m->size = s.size = at + IMAGE_PAGE;
	m->data = calloc(1, m->size);
	assert(m->data);
	memcpy(m->data, &s, sizeof(s));
	memcpy(m->data + s.rings, rings, sizeof(rings));
	m->super = (void *)m->data;
	m->rings = (void *)(m->data + s.rings);
}

__attribute__((unused)) static void image_make(struct image *m)
{
	struct ktape_object_entry *names;
	unsigned int i;
	size_t len;
	char *text;

	if (ktape_metadata_format(&image_info, &text, &len))
		abort();
	/* Without the event table, which takes most of the time. */
	len = (size_t)(strstr(text, "event {") - text);
	kt_metadata_seal(text, len);
	image_lay_out(m, len);
	memcpy(m->data + m->super->metadata, text, len);
	m->super->metadata_crc32c = kt_crc32c(0, text, len);
	free(text);
	names = (void *)(m->data + m->super->registry);
	for (i = 0; i < 3; i++) {
		names[i].type = KTAPE_OBJ_THREAD;
		names[i].id = i + 1;
		names[i].seq = i == 2; /* odd: the reset came while the last was written */
		snprintf(names[i].name, sizeof(names[i].name), "thread%u", i);
	}
	for (i = 0; i < IMAGE_RINGS; i++)
		image_ring(m, &m->rings[i]);
	image_seal(m);
}

/* ---- recovering it ---------------------------------------------------- */

/* Result of a recovery. */
struct image_result {
	int found; /* regions, or a negative errno */
	int ret;   /* of ktape_recover() */
	struct ktape_recovered r;
	struct ktape_error error;
	unsigned int begun;    /* calls of image_begin() */
	unsigned int reported; /* calls of image_notice() */
	struct ktape_error last_reported;
	unsigned int packets;
	unsigned int bad_packets; /* packets that cannot be read */
	unsigned int back;	  /* packets before their predecessor */
	uint64_t records[IMAGE_RINGS];
	uint32_t first[IMAGE_RINGS]; /* number of the first record, and of the last one */
	uint32_t last[IMAGE_RINGS];
	uint64_t holes[IMAGE_RINGS]; /* numbers missing in between */
	uint64_t ts[IMAGE_RINGS]; /* end of the last packet, and its number */
	uint64_t seq[IMAGE_RINGS];
};

struct image_memory {
	const uint8_t *data;
	uint64_t size;
};

static int64_t image_read(void *arg, uint64_t offset, void *to, size_t len)
{
	const struct image_memory *m = arg;

	if (offset >= m->size)
		return 0;
	if (len > m->size - offset)
		len = m->size - offset;
	memcpy(to, m->data + offset, len);
	return (int64_t)len;
}

static int image_begin(void *arg, const char *metadata, size_t len)
{
	struct image_result *res = arg;
	struct ktape_info info;

	/* Whatever the image contains, the output must be readable. */
	res->begun++;
	assert(!ktape_metadata_parse(metadata, len, &info, NULL));
	return 0;
}

static void image_record(struct image_result *res, unsigned int i,
			 const struct ktape_event *e)
{
	uint32_t number = ktape_event_arg(e, 0);

	if (e->opcode != IMAGE_OPCODE)
		return;
	if (!res->records[i]++)
		res->first[i] = number;
	else
		res->holes[i] += number - res->last[i] - 1;
	res->last[i] = number;
}

static int image_packet(void *arg, const void *data, size_t len)
{
	const struct ktape_block *b = data;
	struct image_result *res = arg;
	unsigned int i = b->cpu * KTAPE_RINGS_PER_CPU + b->kind;
	struct ktape_packet p;
	struct ktape_event e;
	int ret;

	res->packets++;
	ret = ktape_packet_open(&p, data, len, image_info.uuid, NULL);
	if (ret || p.truncated || !(b->flags & KTAPE_BLOCK_CRC)) {
		res->bad_packets++;
		return 0;
	}
	if (b->kind < KTAPE_RINGS_PER_CPU && i < IMAGE_RINGS) {
		res->back += b->ts_begin < res->ts[i] || b->seq <= res->seq[i];
		res->ts[i] = b->ts_end;
		res->seq[i] = b->seq;
	}
	while ((ret = ktape_packet_next(&p, &e, NULL)) > 0)
		if (b->kind < KTAPE_RINGS_PER_CPU && i < IMAGE_RINGS)
			image_record(res, i, &e);
	res->bad_packets += ret < 0;
	return 0;
}

static void image_notice(void *arg, const struct ktape_error *what)
{
	struct image_result *res = arg;

	assert(memchr(what->text, '\0', sizeof(what->text)));
	res->reported++;
	res->last_reported = *what;
}

/* Scan @size bytes and recover the first region found. */
__attribute__((unused)) static void image_recover(const uint8_t *data, uint64_t size,
						  struct image_result *res)
{
	struct image_memory memory = { data, size };
	const struct ktape_recover_input in = { image_read, &memory, size };
	const struct ktape_recover_output out = { image_begin, image_packet, res };
	const struct ktape_recover_hooks hooks = { image_notice, NULL, res };
	struct ktape_recover_place places[4];

	memset(res, 0, sizeof(*res));
	res->ret = -ENODATA;
	res->found = ktape_recover_scan(&in, &hooks, places,
					sizeof(places) / sizeof(places[0]));
	if (res->found <= 0)
		return;
	res->ret = ktape_recover(&in, &places[0], &out, &hooks, &res->r,
				 &res->error);
}

__attribute__((unused)) static void image_free(struct image *m)
{
	free(m->data);
	m->data = NULL;
}

#endif /* _LIB_IMAGE_H */
