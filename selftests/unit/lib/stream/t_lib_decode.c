// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test decoding: packets written by hand from abi.h, byte by byte, and blocks
 * that the real ring wrote.
 */
#include <ktape.h>

#include "rig.h"
#include "tap.h"

/* Where a member of a packet's header is. t_abi has the numbers, which never change. */
#define AT(member) offsetof(struct ktape_block, member)
#define BLOCK_SIZE 4096UL
#define BLOCKS	   4

/* A packet of CPU 2 that begins at 0x5_00000010, with these records. */
static const unsigned char records[] = {
	/* sched_switch: 120, 98, S; 1234 -> 0 */
	0x10,
	0,
	0,
	0,
	0x20,
	0x78,
	0x62,
	0x41,
	0xd2,
	0x04,
	0,
	0,
	0,
	0,
	0,
	0,
	/* softirq_entry: SCHED (7) */
	0x20,
	0,
	0,
	0,
	0x35,
	0x07,
	0,
	0,
	/* sys_exit: getpid (39) -> -2, two argument words are one value */
	0xff,
	0xff,
	0xff,
	0xff,
	0x3d,
	0x27,
	0,
	0x40,
	0xfe,
	0xff,
	0xff,
	0xff,
	0xff,
	0xff,
	0xff,
	0xff,
	/* time_extend: 0x7_00000003 */
	0x03,
	0,
	0,
	0,
	0xff,
	0,
	0,
	0x80,
	0x03,
	0,
	0,
	0,
	0x07,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	/* sys_enter with a number beyond 16 bits: one argument of varargs */
	0x04,
	0,
	0,
	0,
	0x3c,
	0xff,
	0xff,
	0x24,
	0x78,
	0x56,
	0x34,
	0x12,
	0,
	0,
	0,
	0,
	/* registry: thread 77 of process 70 is "init2", 7 words and a blob */
	0x05,
	0,
	0,
	0,
	0x05,
	0x01,
	0,
	0xf0,
	77,
	0,
	0,
	0,
	70,
	0,
	0,
	0,
	120,
	0,
	1,
	0,
	0x01,
	0,
	0,
	0,
	0x05,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	5,
	0,
	0,
	0,
	'i',
	'n',
	'i',
	't',
	'2',
	0,
	0,
	0,
	/* an unknown opcode, with one argument and 3 bytes */
	0x06,
	0,
	0,
	0,
	0xc8,
	0xef,
	0xcd,
	0x3b,
	0x2a,
	0,
	0,
	0,
	3,
	0,
	0,
	0,
	1,
	2,
	3,
	0,
	0,
	0,
	0,
	0,
};

static const struct {
	uint64_t ts;
	unsigned int opcode, dat20, nargs, blob;
	unsigned int arg[2];
} golden[] = {
	{ 0x500000010, 32, 0x16278, 2, 0, { 1234, 0 } },
	{ 0x500000020, 53, 7, 0, 0, { 0 } },
	{ 0x5ffffffff, 61, 39, 2, 0, { 0xfffffffe, 0xffffffff } },
	{ 0x700000003, 255, 0, 4, 0, { 3, 7 } },
	{ 0x700000004, 60, 0x4ffff, 1, 0, { 0x12345678 } },
	{ 0x700000005, 5, 1, 7, 5, { 77, 70 } },
	{ 0x700000006, 200, 0xbcdef, 1, 3, { 42 } },
};

static unsigned char packet[1024];

static void put_packet_u32(size_t at, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		packet[at + i] = (unsigned char)(value >> 8 * i);
}

static void put_packet_u64(size_t at, uint64_t value)
{
	put_packet_u32(at, (uint32_t)value);
	put_packet_u32(at + 4, (uint32_t)(value >> 32));
}

/* Write the header by offsets. Return: bytes of the packet. */
static size_t make_golden_packet(void)
{
	const size_t content = KTAPE_BLOCK_HEADER + sizeof(records);

	memset(packet, 0, sizeof(packet));
	put_packet_u32(AT(magic), 0xc1fc1fc1);
	memset(packet + AT(uuid), 0x11, 16);
	put_packet_u64(AT(instance), 2); /* event ring of CPU 2 */
	put_packet_u64(AT(ts_begin), 0x500000010);
	put_packet_u64(AT(ts_end), 0x700000009);
	put_packet_u64(AT(content_bits), content * 8);
	put_packet_u64(AT(packet_bits), sizeof(packet) * 8);
	put_packet_u64(AT(seq), 1);
	put_packet_u32(AT(cpu), 2);
	memcpy(packet + KTAPE_BLOCK_HEADER, records, sizeof(records));
	return sizeof(packet);
}

static void test_golden(void)
{
	struct ktape_error error = {};
	struct ktape_packet p;
	struct ktape_event e;
	size_t len = make_golden_packet(), i, at = KTAPE_BLOCK_HEADER;

	check(!ktape_packet_open(&p, packet, len, NULL, &error), "%s", error.text);
	check_equal(p.cpu, 2);
	check_equal(p.kind, 0);
	check(!p.truncated, "truncated");
	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		check(ktape_packet_next(&p, &e, &error) == 1, "record %zu: %s",
		      i, error.text);
		check_equal(e.ts, golden[i].ts);
		check_equal(e.opcode, golden[i].opcode);
		check_equal(e.dat20, golden[i].dat20);
		check_equal(e.nargs, golden[i].nargs);
		check_equal(e.blob_size, golden[i].blob);
		check_equal(!e.blob, !golden[i].blob);
		check_equal(ktape_event_arg(&e, 0), golden[i].arg[0]);
		check_equal(ktape_event_arg(&e, 1), golden[i].arg[1]);
		check_equal(e.offset, at);
		at += e.size;
		check_equal(e.cpu, 2);
	}
	check_equal(at, KTAPE_BLOCK_HEADER + sizeof(records));
	check_equal((u64)ktape_packet_next(&p, &e, &error), 0);
}

static void test_decode_fields(void)
{
	static const struct {
		unsigned int record;
		const char *field;
		uint64_t value;
	} fields[] = {
		{ 0, "prev_prio", 120 },
		{ 0, "next_prio", 98 },
		{ 0, "prev_state", 1 },
		{ 0, "prev_tid", 1234 },
		{ 0, "next_tid", 0 },
		{ 1, "vec", 7 },
		{ 2, "nr", 39 },
		{ 2, "compat", 0 },
		{ 2, "large", 0 },
		{ 2, "ret", 0xfffffffffffffffeULL },
		{ 4, "nr", 0xffff },
		{ 4, "large", 1 },
		{ 4, "full", 0x12345678 },
		{ 5, "type", 1 },
		{ 5, "dead", 0 },
		{ 5, "id", 77 },
		{ 5, "param1", 70 },
		{ 5, "param2", 0x10078 },
		{ 5, "born", 0x500000001 },
		{ 5, "died", 0 },
	};
	struct ktape_packet p;
	struct ktape_event e;
	unsigned int at = ~0U, i;
	uint64_t value;

	make_golden_packet();
	check(!ktape_packet_open(&p, packet, sizeof(packet), NULL, NULL), "refused");
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		while (at != fields[i].record) {
			check(ktape_packet_next(&p, &e, NULL) == 1, "no record");
			at++;
		}
		check(!ktape_event_field(&e, fields[i].field, &value), "%s",
		      fields[i].field);
		check(value == fields[i].value, "%s is %#llx", fields[i].field,
		      (unsigned long long)value);
	}
	check_equal((u64)ktape_event_field(&e, "no_such", &value), (u64)-ENOENT);
}

static void test_decode_refused_headers(void)
{
	static const struct {
		const char *what;
		size_t at;
		uint64_t value;
	} bad[] = {
		{ "magic", AT(magic), 0xc1fc1fc0 },
		{ "content below the header", AT(content_bits),
		  (KTAPE_BLOCK_HEADER - 1) * 8 },
		{ "content beyond the packet", AT(content_bits),
		  (sizeof(packet) + 8) * 8 },
		{ "content that is no whole word", AT(content_bits),
		  (KTAPE_BLOCK_HEADER + 1) * 8 },
		{ "kind", AT(kind), 3 },
		{ "stream class", AT(stream_id), 1 },
	};
	unsigned char uuid[16];
	struct ktape_packet p;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		make_golden_packet();
		if (bad[i].at == AT(content_bits))
			put_packet_u64(bad[i].at, bad[i].value);
		else
			put_packet_u32(bad[i].at, (uint32_t)bad[i].value);
		check(ktape_packet_open(&p, packet, sizeof(packet), NULL, NULL) ==
			      -EBADMSG,
		      "%s", bad[i].what);
	}
	make_golden_packet();
	memcpy(uuid, packet + AT(uuid), sizeof(uuid));
	check(!ktape_packet_open(&p, packet, sizeof(packet), uuid, NULL),
	      "this trace's packet");
	uuid[sizeof(uuid) - 1] ^= 1;
	check(ktape_packet_open(&p, packet, sizeof(packet), uuid, NULL) == -EBADMSG,
	      "another trace's packet");
}

/* A packet's CRC32C equals one that is computed bit by bit, and reveals each changed byte. */
static void test_checksum(void)
{
	struct ktape_packet p;
	uint32_t crc = ~0U, want;
	size_t i, content = KTAPE_BLOCK_HEADER + sizeof(records);
	int bit;

	make_golden_packet();
	ktape_packet_seal(packet);
	check_equal(packet[AT(flags)], KTAPE_BLOCK_CRC);
	memcpy(&want, packet + AT(crc32c), 4);
	put_packet_u32(AT(crc32c), 0);
	for (i = 0; i < content; i++) {
		crc ^= packet[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	check_equal(~crc & 0xffffffff, want);
	put_packet_u32(AT(crc32c), want);
	check(!ktape_packet_open(&p, packet, sizeof(packet), NULL, NULL),
	      "good checksum");
	for (i = 0; i < content; i++) {
		packet[i] ^= 4;
		/* One bit of the flags says that there is a checksum. */
		check(i == AT(flags) ||
			      ktape_packet_open(&p, packet, sizeof(packet),
						NULL, NULL) == -EBADMSG,
		      "byte %zu may change", i);
		packet[i] ^= 4;
	}
}

/* ---- what the ring wrote ---------------------------------------------------- */

static struct rig rig;

struct expected {
	u64 time;
	unsigned int shape;
};

/* Check that the decoded record is the one that context 0 of the rig, on CPU 3, wrote. */
static bool same(const struct ktape_event *e, const struct expected *want, u32 seq)
{
	u32 tag = rig_hash(0, seq, want->shape) & 0x3ffff;

	if (e->ts != want->time || e->opcode != RIG_OPCODE + want->shape ||
	    e->nargs != (want->shape & 7) || e->cpu != 3)
		return false;
	if (want->shape == 0)
		return e->dat20 == (seq & 0x3ffff);
	return e->dat20 == tag && ktape_event_arg(e, 0) == seq &&
	       (want->shape < RIG_BLOB || e->blob_size == rig_blob_size(0, seq));
}

static void test_round_trip(void)
{
	static struct expected want[2000];
	static unsigned char copy[BLOCK_SIZE];
	struct ktape_error error = {};
	struct ktape_packet p;
	struct ktape_event e;
	unsigned int n = 0, block, blocks;
	u32 seq = 0;
	int got;

	kt_shim_time = 0x7fffffffff000000ULL;
	rig_make(&rig, BLOCK_SIZE, BLOCKS, KTAPE_MODE_DISCARD, 0);
	while (rig.ring.write < BLOCK_SIZE * (BLOCKS - 2)) {
		unsigned int shape = n % RIG_SHAPES;

		/* Now and then a pause of more than the low half holds. */
		kt_shim_time += n % 37 ? n * 1000003ULL % 5000 : 1ULL << 34;
		/* A blob alone has no place for the number of the record. */
		want[n] = (struct expected){ kt_shim_time,
					     shape == RIG_BLOB ? 0 : shape };
		rig_emit(&rig, 0, want[n++].shape);
	}
	check_equal(kt_ring_flush(&rig.ring), 0);
	blocks = (unsigned int)(rig.ring.write / BLOCK_SIZE);
	for (block = 0; block < blocks; block++) {
		memcpy(copy, rig.base[block], sizeof(copy));
		check(!ktape_packet_open(&p, copy, sizeof(copy), NULL, &error),
		      "block %u: %s", block, error.text);
		while ((got = ktape_packet_next(&p, &e, &error)) == 1) {
			if (e.opcode == KTAPE_TIME_EXTEND)
				continue;
			check(seq < n && same(&e, &want[seq], seq),
			      "record %u of block %u, time %#llx", seq, block,
			      (unsigned long long)e.ts);
			seq++;
		}
		check(got == 0, "block %u: %s", block, error.text);
	}
	check_equal(seq, n);
	tap_note("%u records in %u blocks", n, blocks);
	rig_free(&rig);
}

/* The library's own writer, read back. */
static void test_builder(void)
{
	static unsigned char data[2048];
	struct ktape_block head = { .cpu = 1, .seq = 9, .ts_begin = 1000 };
	struct ktape_builder b;
	struct ktape_packet p;
	struct ktape_event e;
	uint32_t args[7] = { 0, 1, 2, 3, 4, 5, 6 };
	uint64_t ts = 1000;
	unsigned int i, n = 0;

	ktape_build_begin(&b, data, sizeof(data), &head);
	for (i = 0;; i++) {
		struct ktape_record record = {
			.ts = ts += i % 5 ? 17 : 3ULL << 32,
			.args = args,
			.nargs = i % 8,
			.opcode = (uint8_t)(32 + i % 5),
			.dat20 = i,
			.blob = i % 3 ? NULL : "0123456789",
			.blob_size = i % 3 ? 0 : i % 11,
		};

		args[0] = i;
		if (ktape_build_add(&b, &record))
			break;
	}
	check(i > 30, "only %u records", i);
	check(ktape_build_end(&b, ts, 0) <= sizeof(data), "too long");
	check(!ktape_packet_open(&p, data, sizeof(data), NULL, NULL), "refused");
	for (ts = 1000; ktape_packet_next(&p, &e, NULL) == 1;) {
		if (e.opcode == KTAPE_TIME_EXTEND)
			continue;
		ts += n % 5 ? 17 : 3ULL << 32;
		check_equal(e.ts, ts);
		check_equal(e.nargs, n % 8);
		check_equal(e.dat20, n);
		check(!e.nargs || ktape_event_arg(&e, 0) == n, "record %u", n);
		check_equal(e.blob_size, n % 3 ? 0 : n % 11);
		n++;
	}
	check_equal(n, i);
}

/* A low half that goes back is a clock step, not 2^32 ticks. */
static void test_step_back(void)
{
	static const uint64_t shows[] = { 0x500001000, 0x500002000, 0x500002000,
					  0x500002000, 0x500003000 };
	static const uint32_t low[] = { 0x1000, 0x2000, 0x800, 0x1fff, 0x3000 };
	static unsigned char data[2048];
	struct ktape_block head = { .cpu = 1, .ts_begin = 0x500000000 };
	struct ktape_record record = { .opcode = 32 };
	struct ktape_builder b;
	struct ktape_packet p;
	struct ktape_event e;
	unsigned int i;

	ktape_build_begin(&b, data, sizeof(data), &head);
	for (i = 0; i < ARRAY_SIZE(low); i++) {
		record.ts = 0x500000000 + 0x1000 * i;
		check(!ktape_build_add(&b, &record), "record %u", i);
		memcpy(data + b.at - 8, &low[i], sizeof(low[i]));
	}
	check(ktape_build_end(&b, 0x500004000, 0) <= sizeof(data), "too long");
	ktape_packet_seal(data);
	check(!ktape_packet_open(&p, data, sizeof(data), NULL, NULL), "refused");
	for (i = 0; i < ARRAY_SIZE(low); i++) {
		check(ktape_packet_next(&p, &e, NULL) == 1, "record %u", i);
		check_equal(e.ts, shows[i]);
	}
	check(!ktape_packet_next(&p, &e, NULL), "one more record");
}

static const struct tap_test tests[] = {
	{ "golden packet, record by record", test_golden },
	{ "golden packet, field by field", test_decode_fields },
	{ "bad headers are refused", test_decode_refused_headers },
	{ "checksum", test_checksum },
	{ "round trip: the ring writes, the library reads", test_round_trip },
	{ "round trip: the library writes and reads", test_builder },
	{ "a clock that stepped back", test_step_back },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
