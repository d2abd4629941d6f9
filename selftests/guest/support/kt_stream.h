/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse the stream of read() independently of libktape: packets and records are
 * decoded by uapi/ktape/abi.h and events.h only and checked against what these
 * promise. The first error is kept as text; "" means no error.
 */
#ifndef _KT_STREAM_H
#define _KT_STREAM_H

#include <stdarg.h>
#include <stddef.h>

#include "kt_ring.h"

#define KTS_CPUS  64
#define KTS_KINDS 3 /* event rings, control rings, the registry */

/* ---- shapes of events, from the table ---------------------------------- */

enum {
#define KTAPE_TYPE(NAME, words, help) KTS_WORDS_##NAME = words,
#include <ktape/events.h>
};

#define KTS_VARARGS 0x40   /* in @bits: nargs varies */
#define KTS_BLOB    0x1000 /* in @blob: words of the blob */
#define KTS_TEXT    0x2000 /* in @blob: of any length */

/**
 * struct kts_shape - what the event table says of an opcode
 * @name: its name, NULL = no such event
 * @class: its class
 * @bits: used bits of dat20, KTS_VARARGS
 * @nargs: argument words
 * @blob: words of the blob, KTS_BLOB, KTS_TEXT
 */
struct kts_shape {
	const char *name;
	int class, bits, nargs, blob;
};

/* clang-format off */
static const struct kts_shape kts_shapes[KTAPE_OPCODES] = {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	[opcode] = { #name, KTAPE_CLASS_##CLASS, 0
#define KTAPE_BITS(TYPE, field, width, help)	+ (width)
#define KTAPE_VARARGS(spare)			+ KTS_VARARGS
#define KTAPE_ARGS()				, 0
#define KTAPE_ARG(TYPE, field, help)		+ KTS_WORDS_##TYPE
#define KTAPE_BLOB()				, KTS_BLOB
#define KTAPE_ARRAY(TYPE, field, count, help)	+ KTS_WORDS_##TYPE * (count)
#define KTAPE_TEXT(field, help)			+ KTS_TEXT
#define KTAPE_BYTES(field, help)		+ KTS_TEXT
#define KTAPE_LIST(TYPE, number, field, help)	+ KTS_TEXT
#define KTAPE_END(NAME)				},
#include <ktape/events.h>
};
/* clang-format on */

/* ---- the state of a parse ---------------------------------------------- */

/**
 * struct kts_stream - state of one ring's stream, or of the registry's
 * @packets: number of packets
 * @records: number of records, without time extensions
 * @extends: number of time extensions
 * @gaps: number of packets that report lost blocks before them
 * @parts: number of packets that continue a block
 * @seq: sequence number of the last packet
 * @end: end time of the last packet
 * @emitted: events that were emitted, by the last packet
 * @discarded: events that were lost, by the last packet
 * @open: the last packet was a part of a block that was still open
 * @block: time at which that block was opened, which identifies it
 * @class: records by class
 */
struct kts_stream {
	uint64_t packets, records, extends, gaps, parts;
	uint64_t seq, end, emitted, discarded;
	bool open;
	uint64_t block;
	uint64_t class[KTAPE_CLASSES];
};

/**
 * struct kts - a parse of one stream of read()
 * @error: first error, "" = none
 * @offset: bytes parsed
 * @metadata: bytes of metadata text
 * @uuid: UUID of the first packet
 * @stream: per CPU and kind
 * @packet: called for each packet of a ring or the registry, or NULL
 * @record: called for each record, time extensions too, or NULL; @pos of the record is here its
 *	offset in the packet
 * @arg: argument of both
 */
struct kts {
	char error[200];
	uint64_t offset, metadata;
	__u8 uuid[16];
	struct kts_stream stream[KTS_CPUS][KTS_KINDS];
	void (*packet)(const struct ktape_block *b, void *arg);
	void (*record)(const struct ktape_block *b, const struct kt_rec *r,
		       void *arg);
	void *arg;
};

/* Keep the text of an error, if it is the first. Return: false. */
static inline __attribute__((format(printf, 2, 3))) bool
kts_bad(struct kts *t, const char *format, ...)
{
	va_list ap;
	int n;

	if (t->error[0])
		return false;
	n = snprintf(t->error, sizeof(t->error),
		     "at byte %llu: ", (unsigned long long)t->offset);
	va_start(ap, format);
	vsnprintf(t->error + n, sizeof(t->error) - n, format, ap);
	va_end(ap);
	return false;
}

/* Set the error and return false from the caller if @cond does not hold. */
#define KTS_CHECK(t, cond, format, ...)                           \
	do {                                                      \
		if (!(cond))                                      \
			return kts_bad(t, format, ##__VA_ARGS__); \
	} while (0)

/* ---- CRC32C, reflected, polynomial 0x1edc6f41 --------------------------- */

static inline uint32_t kts_crc32c(uint32_t crc, const void *data, size_t n)
{
	static uint32_t table[256];
	const uint8_t *p = data;

	/* Threads may fill the table concurrently: all write the same values. */
	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0x82f63b78U : 0);
		__atomic_store_n(&table[i], c, __ATOMIC_RELEASE);
	}
	while (n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return crc;
}

static inline uint32_t kts_packet_crc(const struct ktape_block *b, size_t n)
{
	static const uint32_t zero;
	size_t at = offsetof(struct ktape_block, crc32c);
	uint32_t crc = kts_crc32c(~0U, b, at);

	crc = kts_crc32c(crc, &zero, sizeof(zero));
	at += sizeof(zero);
	return ~kts_crc32c(crc, (const char *)b + at, n - at);
}

/* ---- packets ------------------------------------------------------------ */

static inline struct kts_stream *kts_stream(struct kts *t,
					    const struct ktape_block *b)
{
	return &t->stream[b->cpu][b->kind];
}

/* Check the header of a packet by itself. This and all checks below return false if it fails. */
static inline bool kts_head(struct kts *t, const struct ktape_block *b)
{
	const uint32_t known = KTAPE_BLOCK_CRC | KTAPE_BLOCK_OPEN | KTAPE_BLOCK_GAP;

	KTS_CHECK(t, !memcmp(b->uuid, t->uuid, sizeof(t->uuid)), "uuid");
	KTS_CHECK(t, !b->stream_id, "stream_id %u", b->stream_id);
	KTS_CHECK(t, b->kind < KTS_KINDS && b->cpu < KTS_CPUS, "kind %u cpu %u",
		  b->kind, b->cpu);
	KTS_CHECK(t, b->instance == ((uint64_t)b->kind << 32 | b->cpu),
		  "instance %llx", b->instance);
	KTS_CHECK(t, !b->reserved0 && !b->reserved1 && !b->reserved2,
		  "reserved members");
	KTS_CHECK(t, !(b->flags & ~known), "flags %x", b->flags);
	KTS_CHECK(t, b->flags & KTAPE_BLOCK_CRC, "no CRC");
	KTS_CHECK(t,
		  b->content_bits % 64 == 0 && b->packet_bits % 64 == 0 &&
			  b->content_bits >= KTAPE_BLOCK_HEADER * 8 &&
			  b->content_bits <= b->packet_bits,
		  "sizes %llu %llu", b->content_bits, b->packet_bits);
	KTS_CHECK(t, b->crc32c == kts_packet_crc(b, b->content_bits / 8),
		  "CRC of packet %llu of cpu %u kind %u", b->seq, b->cpu, b->kind);
	KTS_CHECK(t,
		  b->context <= KTAPE_CTX_CONTINUED &&
			  (b->tid >= 0 ||
			   (b->tid == -1 && b->context >= KTAPE_CTX_UNKNOWN)),
		  "context %u tid %d", b->context, b->tid);
	KTS_CHECK(t, b->ts_begin <= b->ts_end, "begins %llu ends %llu",
		  b->ts_begin, b->ts_end);
	return true;
}

/* Check the packet against the packets before it in its stream. */
static inline bool kts_follows(struct kts *t, const struct ktape_block *b)
{
	const struct kts_stream *s = kts_stream(t, b);
	bool gap = b->flags & KTAPE_BLOCK_GAP;
	bool goes_on = b->context == KTAPE_CTX_CONTINUED;
	uint64_t lost = 0;

	for (int i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += b->lost[i];
	KTS_CHECK(t, b->emitted >= b->filtered + lost, "counts: %llu emitted",
		  b->emitted);
	KTS_CHECK(t, b->seq, "packet number 0");
	if (!s->packets) {
		KTS_CHECK(t, !goes_on, "first packet of cpu %u kind %u goes on",
			  b->cpu, b->kind);
		return true;
	}
	KTS_CHECK(t, gap ? b->seq > s->seq : b->seq == s->seq + 1,
		  "packet %llu after %llu of cpu %u kind %u, flags %x", b->seq,
		  (unsigned long long)s->seq, b->cpu, b->kind, b->flags);
	KTS_CHECK(t, b->ts_begin >= s->end, "begins %llu before %llu",
		  b->ts_begin, (unsigned long long)s->end);
	KTS_CHECK(t, b->emitted >= s->emitted, "fewer emitted");
	KTS_CHECK(t, b->discarded >= s->discarded, "fewer discarded: %llu, %llu",
		  b->discarded, (unsigned long long)s->discarded);
	KTS_CHECK(t, !goes_on || (!gap && s->open && s->block == b->sync_clock),
		  "goes on with what did not come, packet %llu of cpu %u kind %u",
		  b->seq, b->cpu, b->kind);
	KTS_CHECK(t, gap || !s->open || goes_on || s->block != b->sync_clock,
		  "a part that does not say that it goes on");
	return true;
}

/* Check a record against the event table: bits, arguments, blob, and zeros up to its end. */
static inline bool kts_shape(struct kts *t, const uint32_t *word,
			     const struct kt_rec *r, size_t len)
{
	const struct kts_shape *s = &kts_shapes[r->op];
	size_t used = 8 + r->nargs * 4 + (r->blob ? 4 + r->size : 0);

	for (const char *p = (const char *)word; used < len; used++)
		KTS_CHECK(t, !p[used], "padding of opcode %u", r->op);
	if (r->op == KTAPE_TIME_EXTEND) {
		KTS_CHECK(t,
			  len == KTAPE_TIME_EXTEND_SIZE && r->nargs == 4 &&
				  !r->dat20 && !r->args[2] && !r->args[3] &&
				  word[0] == r->args[0],
			  "time extension");
		return true;
	}
	KTS_CHECK(t, s->name, "no opcode %u", r->op);
	KTS_CHECK(t, !(r->dat20 >> (s->bits & 31)), "%s: dat20 %x", s->name,
		  r->dat20);
	KTS_CHECK(t, s->bits & KTS_VARARGS || (int)r->nargs == s->nargs,
		  "%s: %u arguments", s->name, r->nargs);
	KTS_CHECK(t, !r->blob == !s->blob, "%s: blob", s->name);
	KTS_CHECK(t,
		  !r->blob || s->blob & KTS_TEXT ||
			  (int)r->size == (s->blob - KTS_BLOB) * 4,
		  "%s: %u bytes", s->name, r->size);
	return true;
}

/* Check and count all records of a packet, and pass them on. */
static inline bool kts_records(struct kts *t, const struct ktape_block *b)
{
	size_t end = b->content_bits / 8, at, len;
	struct kts_stream *s = kts_stream(t, b);
	struct kt_rec r = { .ts = b->ts_begin };

	for (at = KTAPE_BLOCK_HEADER; at < end; at += len) {
		const uint32_t *word = (const void *)((const char *)b + at);
		uint64_t before = r.ts;

		len = kt_decode(word, end - at, &r);
		KTS_CHECK(t, len, "record at %zu exceeds its packet", at);
		if (!kts_shape(t, word, &r, len))
			return false;
		KTS_CHECK(t, r.ts >= before && r.ts <= b->ts_end,
			  "opcode %u: time %llu not within %llu and %llu", r.op,
			  (unsigned long long)r.ts, (unsigned long long)before,
			  b->ts_end);
		r.pos = at;
		if (r.op == KTAPE_TIME_EXTEND) {
			s->extends++;
		} else {
			s->records++;
			s->class[kts_shapes[r.op].class]++;
		}
		if (t->record)
			t->record(b, &r, t->arg);
	}
	return true;
}

/* Check a packet of a ring or of the registry, which comes first. */
static inline bool kts_data(struct kts *t, const struct ktape_block *b)
{
	struct kts_stream *s;

	KTS_CHECK(t, t->metadata, "data before metadata");
	if (!kts_head(t, b))
		return false;
	s = kts_stream(t, b);
	if (b->kind == KTAPE_RING_REGISTRY) {
		for (int i = 0; i < KTS_CPUS; i++)
			KTS_CHECK(t,
				  !t->stream[i][0].packets && !t->stream[i][1].packets,
				  "registry after data");
		KTS_CHECK(t, b->seq == s->seq + 1, "registry packet %llu", b->seq);
	} else if (!kts_follows(t, b)) {
		return false;
	}
	if (t->packet)
		t->packet(b, t->arg);
	if (!kts_records(t, b))
		return false;
	s->packets++;
	s->gaps += !!(b->flags & KTAPE_BLOCK_GAP);
	s->parts += b->context == KTAPE_CTX_CONTINUED;
	s->seq = b->seq;
	s->end = b->ts_end;
	s->emitted = b->emitted;
	s->discarded = b->discarded;
	s->open = b->flags & KTAPE_BLOCK_OPEN;
	s->block = b->sync_clock;
	return true;
}

/* Check a packet of metadata, which come before all others. */
static inline bool kts_metadata(struct kts *t, const struct ktape_metadata_packet *p)
{
	KTS_CHECK(t, !t->stream[0][KTAPE_RING_REGISTRY].packets,
		  "metadata after the registry");
	KTS_CHECK(t,
		  p->major == 1 && p->minor == 8 && !p->checksum &&
			  !p->compression && !p->encryption && !p->checksum_scheme,
		  "head of metadata");
	KTS_CHECK(t,
		  p->content_bits % 8 == 0 && p->content_bits > sizeof(*p) * 8 &&
			  p->content_bits <= p->packet_bits,
		  "size of metadata");
	if (!t->metadata)
		memcpy(t->uuid, p->uuid, sizeof(t->uuid));
	KTS_CHECK(t, !memcmp(t->uuid, p->uuid, sizeof(t->uuid)), "uuid");
	KTS_CHECK(t, t->metadata || !memcmp(p + 1, "/* CTF 1.8", 10),
		  "text of metadata");
	t->metadata += p->content_bits / 8 - sizeof(*p);
	return true;
}

/* Return the bytes of the packet at @p, 0 if @left does not hold its head. */
static inline uint64_t kts_packet_size(const void *p, size_t left)
{
	const struct ktape_metadata_packet *m = p;
	const struct ktape_block *b = p;

	if (left >= sizeof(*m) && m->magic == KTAPE_METADATA_MAGIC)
		return m->packet_bits / 8;
	if (left >= sizeof(*b) && b->magic == KTAPE_BLOCK_MAGIC)
		return b->packet_bits / 8;
	return 0;
}

/*
 * Parse the complete packets of @buf up to the first error, which is in @t->error then. Return:
 * number of bytes parsed.
 */
static inline size_t kts_feed(struct kts *t, const void *buf, size_t len)
{
	const size_t most = 64 << 20; /* no packet is larger */
	size_t done = 0;

	while (!t->error[0] && len - done >= 4) {
		const void *p = (const char *)buf + done;
		uint32_t magic = *(const uint32_t *)p;
		uint64_t size = kts_packet_size(p, len - done);
		bool ok;

		if (magic != KTAPE_METADATA_MAGIC && magic != KTAPE_BLOCK_MAGIC) {
			kts_bad(t, "no packet: %08x", magic);
			break;
		}
		if (size > most ||
		    (size && size < sizeof(struct ktape_metadata_packet))) {
			kts_bad(t, "packet of %llu bytes", (unsigned long long)size);
			break;
		}
		if (!size || size > len - done)
			break;
		ok = magic == KTAPE_METADATA_MAGIC ? kts_metadata(t, p) :
						     kts_data(t, p);
		if (!ok)
			break;
		done += size;
		t->offset += size;
	}
	return done;
}

#endif /* _KT_STREAM_H */
