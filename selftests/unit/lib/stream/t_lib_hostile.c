// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test libktape with malicious input under AddressSanitizer and UBSan: every
 * buffer is an allocation of its exact size, so that the sanitizer finds an
 * access one byte beyond it.
 */
#include "lcg.h"
#include "lib_feed.h"
#include "tap.h"

#define ROOM 16384

static unsigned char packet[ROOM];
static size_t packet_len;
static struct feed feed;
static uint64_t luck = 12345;

/*
 * Every event of the table but the last probe (254), and an unknown one (200): each once 3 ticks
 * after the one before, and once 2^31.
 */
static void make_full_packet(void)
{
	static const char blob[64] = "a name \"\\\n\x01\xff of a thread";
	struct ktape_block head = { .ts_begin = 1000, .seq = 1, .tid = 5 };
	struct ktape_builder b;
	uint32_t args[7], i;
	uint64_t ts = 1000;

	memset(packet, 0, sizeof(packet));
	ktape_build_begin(&b, packet, sizeof(packet), &head);
	for (i = 0; i < 7; i++)
		args[i] = i + 1;
	for (i = 1; i < 2 * 254; i++) {
		const struct ktape_event_desc *desc = ktape_event_desc(i % 254);
		struct ktape_record record = {
			.ts = ts += i < 254 ? 3 : 1ULL << 31,
			.args = args,
			.opcode = (uint8_t)(i % 254),
			.dat20 = 0x51 * i & 0xfffff,
			.nargs = desc ? desc->nargs & 7 : 2,
		};

		if (!desc && i % 254 != 200)
			continue;
		if (desc && desc->has_blob) {
			record.blob = blob;
			record.blob_size =
				desc->blob_words ? desc->blob_words * 4 : 27;
		}
		assert(ktape_build_add(&b, &record) == 0);
	}
	packet_len = ktape_build_end(&b, ts, 3);
}

/* Decode a copy of exactly this length. */
static int decode(const void *data, size_t len)
{
	void *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, data, len);
	err = feed_packet(&feed, copy, len);
	free(copy);
	return err;
}

static void test_hostile_whole_packet(void)
{
	feed.events = 0;
	check(!decode(packet, packet_len), "refused");
	check(feed.events >= 50, "only %llu events",
	      (unsigned long long)feed.events);
}

static void test_hostile_truncated_packet(void)
{
	uint64_t before = feed.events, whole;
	size_t len;
	int err;

	check(!decode(packet, packet_len), "refused");
	whole = feed.events - before;
	for (len = 0; len < packet_len; len++) {
		before = feed.events;
		err = decode(packet, len);
		check(err == 0 || err == -EBADMSG, "%zu bytes: %d", len, err);
		check(len >= KTAPE_BLOCK_HEADER || err,
		      "%zu bytes are accepted", len);
		check(feed.events - before <= whole, "more events than whole");
	}
	tap_note("%zu lengths", len);
}

/* Flip each bit on its own, without a checksum and then with one. */
static void test_hostile_packet_bits(void)
{
	size_t content = packet_len, bit, caught = 0;
	int err;

	for (bit = 0; bit < content * 8; bit++) {
		packet[bit / 8] ^= 1U << bit % 8;
		err = decode(packet, packet_len);
		packet[bit / 8] ^= 1U << bit % 8;
		check(err == 0 || err == -EBADMSG, "bit %zu: %d", bit, err);
	}
	ktape_packet_seal(packet);
	memcpy(&content, packet + offsetof(struct ktape_block, content_bits), 8);
	content /= 8;
	for (bit = 0; bit < content * 8; bit++) {
		packet[bit / 8] ^= 1U << bit % 8;
		err = decode(packet, packet_len);
		packet[bit / 8] ^= 1U << bit % 8;
		/* Except for the flag that says that there is a checksum. */
		check(err || bit == offsetof(struct ktape_block, flags) * 8,
		      "bit %zu is not noticed", bit);
		caught += !!err;
	}
	make_full_packet();
	tap_note("%zu bits, with checksum %zu of %zu caught", packet_len * 8,
		 caught, bit);
}

/* Typical dangerous values, at every place. */
static void test_words(void)
{
	static const uint32_t words[] = {
		0,	    0xffffffff, 0x7fffffff, 0x80000000, 0xfffffff8,
		0xf00000ff, 0x800000ff, 1,	    0xffff,
	};
	uint32_t saved;
	size_t at, i;
	int err;

	for (at = 0; at + 4 <= packet_len; at += 4) {
		memcpy(&saved, packet + at, 4);
		for (i = 0; i < ARRAY_SIZE(words); i++) {
			memcpy(packet + at, &words[i], 4);
			err = decode(packet, packet_len);
			check(err == 0 || err == -EBADMSG, "word at %zu", at);
		}
		memcpy(packet + at, &saved, 4);
	}
}

static void test_garbage(void)
{
	unsigned char bytes[1024];
	unsigned int i, n;
	int err;

	for (n = 0; n < 4000; n++) {
		size_t len = KTAPE_BLOCK_HEADER + lcg_next(&luck) % 600;

		for (i = 0; i < len; i++)
			bytes[i] = (unsigned char)lcg_next(&luck);
		if (n % 4) /* a good header, then garbage */
			memcpy(bytes, packet, KTAPE_BLOCK_HEADER);
		if (n % 4 == 2) { /* with its true length */
			uint64_t bits = (len & ~7UL) * 8;

			memcpy(bytes + offsetof(struct ktape_block, content_bits),
			       &bits, 8);
			memcpy(bytes + offsetof(struct ktape_block, packet_bits),
			       &bits, 8);
		}
		err = decode(bytes, len);
		check(err == 0 || err == -EBADMSG, "%d", err);
	}
}

/* ---- metadata ------------------------------------------------------------------ */

static char *text;
static size_t text_len;

static int parse_metadata_copy(const void *data, size_t len, struct ktape_info *info)
{
	struct ktape_error error;
	void *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, data, len);
	err = ktape_metadata_parse(copy, len, info, &error);
	free(copy);
	return err;
}

static void make_hostile_metadata(void)
{
	static const struct ktape_info info = {
		.uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
		.freq = 2700000000ULL,
		.offset_s = 1700000000,
		.offset = 12345,
		.mono_offset_ns = -77,
		.boot_offset_ns = 1LL << 40,
		.real_offset_ns = 1,
		.clock = "cycles",
		.hostname = "board",
		.release = "6.1.0",
		.machine = "x86_64",
	};

	if (ktape_metadata_format(&info, &text, &text_len))
		abort();
}

static void test_hostile_metadata(void)
{
	struct ktape_info info;

	check(!parse_metadata_copy(text, text_len, &info), "refused");
	check_equal(info.uuid[14], 15);
	check_equal(info.freq, 2700000000ULL);
	check_equal((uint64_t)info.offset_s, 1700000000);
	check_equal(info.offset, 12345);
	check_equal((uint64_t)info.mono_offset_ns, (uint64_t)-77);
	check_equal((uint64_t)info.boot_offset_ns, 1ULL << 40);
	check(!strcmp(info.clock, "cycles"), "%s", info.clock);
	check(!strcmp(info.hostname, "board"), "%s", info.hostname);
	check(!strcmp(info.names[32], "sched_switch"), "%s", info.names[32]);
	check_equal(info.table_hash, ktape_table_hash());
	check_equal(info.known[0] >> 32 & 1, 1);
}

/* The same in packets, truncated anywhere. */
static void test_metadata_packets(void)
{
	static const size_t parts[] = { 1, 7, 100, 4000, 1 << 20 };
	struct ktape_info info;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t from = 0, at = 0, part = parts[i];
		unsigned char *bytes =
			calloc(1, text_len + (text_len / part + 1) * 48);

		for (; from < text_len; from += part) {
			struct ktape_metadata_packet head = {
				.magic = KTAPE_METADATA_MAGIC,
				.major = 1,
				.minor = 8,
			};
			size_t n = text_len - from < part ? text_len - from : part;

			memcpy(head.uuid,
			       "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16);
			head.content_bits = (uint32_t)(sizeof(head) + n) * 8;
			head.packet_bits = head.content_bits;
			memcpy(bytes + at, &head, sizeof(head));
			memcpy(bytes + at + sizeof(head), text + from, n);
			at += sizeof(head) + n;
		}
		check(!parse_metadata_copy(bytes, at, &info), "packets of %zu",
		      part);
		check_equal(info.offset, 12345);
		for (from = 0; from < at && from < 300; from++)
			parse_metadata_copy(bytes, from, &info);
		for (from = 0; from < 300; from++) {
			bytes[from] ^= 0x81;
			parse_metadata_copy(bytes, at, &info);
			bytes[from] ^= 0x81;
		}
		free(bytes);
	}
}

static void test_metadata_hostile(void)
{
	static const char spice[] = "{}();:=[]\"\\<>/*,.\n\0\xff"
				    "0";
	struct ktape_info info;
	size_t len, at;
	unsigned int n;
	char saved;
	int err;

	for (len = 0; len < text_len; len += 1 + len / 300) {
		err = parse_metadata_copy(text, len, &info);
		check(err == 0 || err == -EBADMSG, "%zu bytes: %d", len, err);
	}
	for (n = 0; n < 4000; n++) {
		at = n < 3000 ? n : lcg_next(&luck) % text_len;
		saved = text[at];
		text[at] = spice[lcg_next(&luck) % sizeof(spice)];
		err = parse_metadata_copy(text, text_len, &info);
		text[at] = saved;
		check(err == 0 || err == -EBADMSG, "byte %zu: %d", at, err);
	}
	check(parse_metadata_copy("", 0, &info) == -EBADMSG,
	      "an empty text is accepted");
	check(parse_metadata_copy("/* CTF 1.8 */", 13, &info) == -EBADMSG,
	      "signature only");
}

static const struct tap_test tests[] = {
	{ "a packet with every event", test_hostile_whole_packet },
	{ "packet: every truncation", test_hostile_truncated_packet },
	{ "packet: every bit", test_hostile_packet_bits },
	{ "packet: bad words everywhere", test_words },
	{ "packet: garbage", test_garbage },
	{ "metadata", test_hostile_metadata },
	{ "metadata in packets", test_metadata_packets },
	{ "metadata: truncations and changes", test_metadata_hostile },
};

static int seed(const char *dir, const char *name, const void *data, size_t len)
{
	char path[4096];
	FILE *f;
	bool whole;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f)
		return 1;
	whole = fwrite(data, 1, len, f) == len;
	return fclose(f) || !whole;
}

/* Seeds for fuzz_decode.c, which reads what begins with m as metadata, with c as configuration. */
static int seeds(const char *dir)
{
	static const char config[] =
		"cevents = sched,!sched_waking # comment\ncontext = no\n"
		"mode = discard\nbuffer = 4M\nblock = 64K\nduration = 10s\n"
		"cpu = 0-3,7\nsyscall = !futex,32:5,open*\nirq = 1-3\n"
		"softirq = RCU\nsignal = KILL,SIGRTMIN+1,9-11\n"
		"pid = 1:threads:children,2\ncgroup = /a,id:7\nuid = 0\n"
		"severity = SW2\ngate = irq=10us,work=1.5ms\n"
		"rate = sched_switch=100\nstack = sched_w*\n";
	char *metadata = malloc(text_len + 1);
	int err;

	metadata[0] = 'm';
	memcpy(metadata + 1, text, text_len);
	err = seed(dir, "packet", packet, packet_len) ||
	      seed(dir, "metadata", metadata, text_len + 1) ||
	      seed(dir, "config", config, sizeof(config) - 1);
	free(metadata);
	return err;
}

int main(int argc, char **argv)
{
	int status;

	if (feed_start(&feed))
		return 2;
	make_full_packet();
	make_hostile_metadata();
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		status = seeds(argv[2]);
	else
		status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	feed_end(&feed);
	free(text);
	return status;
}
