// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the trace format of RKH, a framework for state machines, in both directions: bytes,
 * frames, losses, round trips. Vectors are made from its specification; streams of the original
 * encoder, if ../shared/golden has them, are compared with the output of the original decoder.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "format/rkh/internal.h"

#include "lib_gather.h"
#include "lib_rkh.h"
#include "lib_rkh_golden.h"
#include "lib_tband.h"
#include "tap.h"

static struct rkh_stream stream;

/* ---- bytes -------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *frame; /* with its flag */
	size_t len;
	const char *json; /* NULL: only that the frame is whole is checked */
} vectors[] = {
	{ "stuffing in time",
	  "\0\0\x11\0\x7d\x5e\x7d\x5d\0\x30\0\x20\x10\x20\x74\x7e", 16,
	  "{\"group\":\"MP\",\"event\":\"INIT\",\"nseq\":0,\"ts\":2105409553,\"mp\":\"0x20003000\",\"nb\":16,\"bs\":32}" },
	{ "a pool less one", "\xa5\0\1\0\0\0\3\1\1\0\x0e\0\x40\0\x20\xe7\x7e", 17,
	  "{\"group\":\"FWK\",\"event\":\"GCR\",\"nseq\":0,\"ts\":1,\"sig\":3,\"pid\":2,\"rc\":1,\"nb\":0,\"nmin\":14,\"actor\":\"0x20004000\"}" },
	{ "stuffed checksum", "\xa0\1\2\0\0\0\x5d\x7e", 8,
	  "{\"group\":\"FWK\",\"event\":\"EN\",\"nseq\":1,\"ts\":2}" },
	{ "stuffed checksum again", "\xa0\1\xe2\0\0\0\x7d\x5d\x7e", 9,
	  "{\"group\":\"FWK\",\"event\":\"EN\",\"nseq\":1,\"ts\":226}" },
	{ "text, then a number", "\xad\2\3\0\0\0m\0\x34\x12\x9b\x7e", 12,
	  "{\"group\":\"FWK\",\"event\":\"ASSERT\",\"nseq\":2,\"ts\":3,\"file\":\"m\",\"line\":4660}" },
	{ "a user's event", "\xc5\3\4\0\0\0\x21\xff\x7e", 9, NULL },
};

static void rkh_frame_bytes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint8_t plain[64], again[64], back[64];
		uint8_t raw[KT_RKH_RAW_HEAD + 256] = { 0 };
		const uint8_t *frame = (const uint8_t *)vectors[i].frame;
		char why[KT_RKH_WHY] = "", json[1024] = "";
		struct kt_rkh_event e;
		int64_t len;
		size_t size;

		len = kt_rkh_unframe(plain, frame, vectors[i].len - 1);
		check(len > 0, "%s", vectors[i].name);
		if (!vectors[i].json)
			continue;
		check_equal(kt_rkh_decode(&usual, &e, plain, (size_t)len, why), 0);
		check(!*why, "%s: %s", vectors[i].name, why);
		raw[0] = e.id;
		raw[1] = e.seq;
		memcpy(raw + 4, &usual.flags, 4);
		memcpy(raw + 8, &e.ts, 4);
		size = kt_rkh_to_typed(&usual, &e, raw + KT_RKH_RAW_HEAD);
		*kt_rkh_json(json, raw, KT_RKH_RAW_HEAD + size) = '\0';
		check(!strcmp(json, vectors[i].json), "%s: %s", vectors[i].name,
		      json);
		check(kt_rkh_encode(&usual, &e, again) == (size_t)len &&
			      !memcmp(again, plain, (size_t)len),
		      "%s", vectors[i].name);
		check(kt_rkh_frame(back, again, (size_t)len) == vectors[i].len &&
			      !memcmp(back, frame, vectors[i].len),
		      "%s", vectors[i].name);
	}
}

static void escapes(void)
{
	static const struct {
		const char *data;
		size_t len;
		int64_t size;
	} tries[] = {
		{ "a}]b}^", 6, 4 },    { "a}", 2, -EBADMSG },
		{ "}a", 2, -EBADMSG }, { "}}", 2, -EBADMSG },
		{ "a~", 2, -EBADMSG }, { "", 0, 0 },
	};
	uint8_t to[8];

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		check(kt_rkh_unframe(to, (const uint8_t *)tries[i].data,
				     tries[i].len) == tries[i].size,
		      "%zu", i);
}

/* ---- there and back ------------------------------------------------------------ */

/* Check that a stream is the same after it was converted, directly and through native. */
static void check_back(const void *data, size_t len, const char *what)
{
	char path[CODEC_PATH], native[CODEC_PATH];
	struct codec_reports reported;
	int in = codec_file(path, data, len), one, two, three;
	char *back;
	size_t size;

	one = codec_convert(path, "rkh", NULL, &reported);
	check(one >= 0, "%s: %d %s", what, one, reported.text);
	check(!reported.corrupt && !reported.truncated, "%s: %s", what,
	      reported.text);
	back = codec_content(one, &size);
	check(size == len && !memcmp(back, data, len), "%s: %zu, not %zu bytes",
	      what, size, len);
	free(back);
	two = codec_convert(path, "native", "form=pipe", &reported);
	check(two >= 0, "%s: %d", what, two);
	snprintf(native, sizeof(native), "/proc/self/fd/%d", two);
	three = codec_convert(native, "rkh", NULL, &reported);
	check(three >= 0, "%s: %d", what, three);
	back = codec_content(three, &size);
	check(size == len && !memcmp(back, data, len),
	      "%s: by native %zu, not %zu bytes", what, size, len);
	free(back);
	close(in);
	close(one);
	close(two);
	close(three);
}

/* Every event in every width, with and without each optional part. */
static void widths(void)
{
	static const uint32_t flags[] = {
		KT_RKH_ALL,
		0x7fff, /* frames have neither sequence numbers nor checksums */
		KT_RKH_ALL & ~KT_RKH_SENDER,
		KT_RKH_ALL & ~KT_RKH_QUE_LOW,
		KT_RKH_ALL & ~KT_RKH_MP_LOW,
		KT_RKH_ALL & ~KT_RKH_SEQ,
		KT_RKH_ALL & ~KT_RKH_CHECK,
	};
	char what[64];

	for (unsigned int i = 0; i < 24; i++) {
		struct kt_rkh_config c = usual;

		c.id = (uint8_t)(1U << i % 3);
		c.sig = (uint8_t)(1U << (i + 1) % 3);
		c.ptr = (uint8_t)(1U << i % 4);
		c.ntimer = (uint8_t)(1U << (i + 2) % 3);
		c.nblock = (uint8_t)(1U << (i / 2) % 3);
		c.nelem = (uint8_t)(1U << (i / 3) % 3);
		c.esize = (uint8_t)(1U << (i / 4) % 3);
		c.bsize = (uint8_t)(1U << (i / 5) % 3);
		c.ts = (uint8_t)(1U << i % 3);
		c.flags = flags[i % ARRAY_SIZE(flags)];
		snprintf(what, sizeof(what), "config %u", i);
		rkh_all(&stream, &c, true);
		check_back(stream.data, stream.len, what);
	}
}

/* One-byte time stamps wrap; a stream may begin at any value. */
static void wraps(void)
{
	struct kt_rkh_config c = usual;

	c.ts = 1;
	rkh_stream_begin(&stream, &c, true);
	stream.seq = 200;
	for (unsigned int i = 0; i < 400; i++) {
		stream.ts += 100;
		rkh_add(&stream, 0xa0 /* FWK_EN */, 0, NULL, 0);
	}
	check_back(stream.data, stream.len, "time of one byte");
	rkh_all(&stream, &usual, false);
	check_back(stream.data, stream.len, "no record");
}

/* ---- lines of text --------------------------------------------------------------- */

/* The event's name comes first, then each field with its name. */
static void check_words(const struct ktape_event *e, const char *line)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(ktape_event_arg(e, 0) & 0xff);
	const char *at = strstr(line, "user_event: ");
	size_t len = strlen(k->name);

	check(at && !strncmp(at + 12, k->name, len), "%.120s: no %s", line, k->name);
	at += 12 + len;
	for (unsigned int i = 0; k->types[i] && *k->types != 'U'; i++) {
		char key[32];

		if (!kt_rkh_has(&stream.config, k->types[i]))
			continue;
		snprintf(key, sizeof(key), " %s=", k->fields[i]);
		check(!strncmp(at, key, strlen(key)), "%.160s: no%s at%.20s",
		      line, key, at);
		at += strlen(key);
		at += strcspn(at, " ");
	}
}

static void check_rkh_lines(const char *path)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
	};
	unsigned int nr = 0;
	const struct ktape_event *e;
	struct ktape_trace *t;

	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		char *line;

		if (e->opcode != KTAPE_EV_USER_EVENT ||
		    ktape_event_arg(e, 0) < KTAPE_FORMAT_ID_RKH ||
		    ktape_event_is_assumed(e))
			continue;
		line = codec_line(t, e);
		check_words(e, line);
		if (strstr(line, "QUE_FIFO"))
			check(strstr(line, "QUE_FIFO q=0x7 nelem=8") &&
				      !strstr(line, "typed=") &&
				      !strstr(line, "id="),
			      "%s", line);
		free(line);
		nr++;
	}
	ktape_trace_close(t);
	check(nr > 60, "%u events", nr);
}

/* Check the stream itself, and the native trace made of it, with all its parts. */
static void rkh_stream_flags(void)
{
	static const uint32_t flags[] = {
		KT_RKH_ALL,
		KT_RKH_ALL & ~KT_RKH_SENDER,
		KT_RKH_ALL & ~KT_RKH_QUE_LOW,
		KT_RKH_ALL & ~KT_RKH_MP_LOW,
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		char path[CODEC_PATH], native[CODEC_PATH];
		struct kt_rkh_config c = usual;
		struct codec_reports reported;
		int in, out;

		c.flags = flags[i];
		rkh_all(&stream, &c, true);
		in = codec_file(path, stream.data, stream.len);
		check_rkh_lines(path);
		out = codec_convert(path, "native", "form=pipe", &reported);
		snprintf(native, sizeof(native), "/proc/self/fd/%d", out);
		check_rkh_lines(native);
		close(in);
		close(out);
	}
}

/* ---- losses ---------------------------------------------------------------------- */

static void read_rkh_bytes(const void *data, size_t len, const char *format,
			   uint32_t flags, struct codec_reports *reported,
			   unsigned int *nr)
{
	char path[CODEC_PATH];
	int fd = codec_file(path, data, len);

	*nr = codec_read_all(path, format, flags, reported);
	close(fd);
}

/* Flip each bit of three frames, and remove each frame: exactly that is lost. */
static void rkh_losses(void)
{
	struct codec_reports reported;
	unsigned int all, nr;

	rkh_all(&stream, &usual, true);
	read_rkh_bytes(stream.data, stream.len, NULL, 0, &reported, &all);
	check_equal(all, stream.nr);
	check_equal(reported.lost + reported.corrupt + reported.assumed, 0);
	for (size_t i = stream.ends[9]; i < stream.ends[12]; i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			/* Without the flag between them, two frames are one bad frame. */
			uint64_t lost = i == stream.ends[10] - 1 ||
							i == stream.ends[11] - 1 ||
							i == stream.ends[12] - 1 ?
						2 :
						1;

			stream.data[i] ^= (uint8_t)(1U << bit);
			read_rkh_bytes(stream.data, stream.len, "rkh", 0,
				       &reported, &nr);
			check(reported.lost == lost && nr == all - lost &&
				      reported.corrupt >= 1 && reported.corrupt <= 2,
			      "byte %zu bit %u: %llu lost, %u left, %u bad", i,
			      bit, (unsigned long long)reported.lost, nr,
			      reported.corrupt);
			stream.data[i] ^= (uint8_t)(1U << bit);
		}
	}
	for (unsigned int i = 1; i < stream.nr - 2; i++) {
		uint8_t copy[RKH_STREAM];
		size_t head = stream.ends[i], tail = stream.ends[i + 1];

		memcpy(copy, stream.data, head);
		memcpy(copy + head, stream.data + tail, stream.len - tail);
		read_rkh_bytes(copy, stream.len - (tail - head), "rkh",
			       KTAPE_TRACE_SORTED, &reported, &nr);
		check(reported.lost == 1 && reported.gaps == 1 &&
			      !reported.corrupt && nr == all - 1,
		      "frame %u: %llu lost", i, (unsigned long long)reported.lost);
	}
}

/*
 * Before the first sequence number nothing can be counted: a bad frame there is
 * a gap of unknown size, also in the native trace.  A stream with a configuration record, or
 * sequence numbers, or both, or none; it is damaged, or was joined in the middle of a frame.
 */
static void before_first(void)
{
	/* A byte of the first event, without and behind a configuration record. */
	static const size_t bad[] = { 2, 18 };

	for (unsigned int i = 0; i < 8; i++) {
		bool record = i & 1, seq = i & 2, joined = i & 4;
		size_t from = joined ? 3 : 0;
		struct kt_rkh_config c = usual;
		char path[CODEC_PATH], native[CODEC_PATH];
		struct codec_reports reported;
		unsigned int nr;
		int in, out;

		if (!seq)
			c.flags &= ~KT_RKH_SEQ;
		rkh_all(&stream, &c, record);
		if (joined && record)
			from = stream.ends[0] + 3;
		if (!joined)
			stream.data[bad[record]] ^= 1;
		in = codec_file(path, stream.data + from, stream.len - from);
		nr = codec_read_all(path, seq ? "rkh" : NULL, 0, &reported);
		if (!seq && (!record || joined)) { /* no record shows that */
			close(in);
			continue;
		}
		check(nr > 60 && !reported.lost && reported.gaps == 1,
		      "%u: %u events, %u gaps", i, nr, reported.gaps);
		check(reported.truncated == joined && reported.corrupt == !joined,
		      "%u: %u cut, %u bad", i, reported.truncated,
		      reported.corrupt);
		out = codec_convert(path, "native", "form=pipe", &reported);
		snprintf(native, sizeof(native), "/proc/self/fd/%d", out);
		codec_read_all(native, NULL, 0, &reported);
		check(reported.gaps == 1 && !reported.lost,
		      "%u: native has %u gaps", i, reported.gaps);
		close(in);
		close(out);
	}
}

/* A configuration record is shown where it stands in the stream. */
static void assumed(void)
{
	static const char *const formats[] = { "text", "jsonl", "csv", "chrome" };

	for (unsigned int i = 0; i < 3 * ARRAY_SIZE(formats); i++) {
		/* No record and begin at 0, a record, no record and begin at 7. */
		unsigned int records = i % 3 == 1, nr = 0;
		char path[CODEC_PATH], native[CODEC_PATH];
		struct codec_reports reported;
		char *text, *p;
		int in, mid, out;
		size_t len;

		rkh_stream_begin(&stream, &usual, records);
		/* The stream may begin at a number other than 0. */
		stream.seq = i % 3 ? 7 : 0;
		for (unsigned int n = 0; n < 20; n++)
			rkh_add(&stream, 0x22 /* QUE_FIFO */, 5, NULL, 0);
		in = codec_file(path, stream.data, stream.len);
		mid = codec_convert(path, "native", "form=pipe", &reported);
		snprintf(native, sizeof(native), "/proc/self/fd/%d", mid);
		out = codec_convert(i & 1 ? native : path, formats[i / 3], NULL,
				    &reported);
		check(out >= 0, "%s", formats[i / 3]);
		text = codec_content(out, &len);
		check(strstr(text, "QUE_FIFO"), "%s", formats[i / 3]);
		for (p = text; (p = strstr(p, "FWK_TCFG")); p++)
			nr++;
		check(nr == records, "%s: %u configurations, not %u",
		      formats[i / 3], nr, records);
		free(text);
		close(in);
		close(mid);
		close(out);
	}
}

/* Truncate anywhere; change, insert and remove bytes anywhere. */
static void rkh_damages(void)
{
	struct codec_reports reported;
	unsigned int nr, seed = 1;
	uint8_t copy[RKH_STREAM];

	rkh_all(&stream, &usual, true);
	for (size_t i = 2; i < stream.len; i++) {
		read_rkh_bytes(stream.data, i, "rkh", 0, &reported, &nr);
		check(reported.truncated == (stream.data[i - 1] != KT_RKH_FLAG),
		      "%zu", i);
	}
	for (unsigned int i = 0; i < 3000; i++) {
		size_t len = stream.len;

		memcpy(copy, stream.data, len);
		for (unsigned int n = 0; n <= i % 8; n++) {
			size_t at = (size_t)rand_r(&seed) % (len - 1);

			switch (rand_r(&seed) % 3) {
			case 0:
				copy[at] = (uint8_t)rand_r(&seed);
				break;
			case 1:
				memmove(copy + at, copy + at + 1, --len - at);
				break;
			default:
				memmove(copy + at + 1, copy + at, len++ - at);
				break;
			}
		}
		read_rkh_bytes(copy, len, "rkh", i & 1 ? KTAPE_TRACE_SORTED : 0,
			       &reported, &nr);
		/* There were up to 8 changes, and each may make an event. */
		check(nr <= stream.nr + 10, "%u", nr);
	}
}

/* ---- a trace of Linux -------------------------------------------------------------- */

static char *keep_rkh_line(struct ktape_trace *t, const struct ktape_event *e)
{
	char *line, *kept;

	if (e->opcode == KTAPE_TIME_EXTEND || e->opcode == KTAPE_EV_REGISTRY)
		return NULL;
	/* The unit of time differs. */
	line = codec_line(t, e);
	kept = strdup(strchr(line, ']'));
	free(line);
	return kept;
}

/* Events, except for their times and names, and losses stay unchanged. */
static void linux_trace(void)
{
	char path[CODEC_PATH], native[CODEC_PATH], rkh[CODEC_PATH];
	static struct stream source;
	struct codec_reports reported;
	int in, one, two, three;

	stream_all(&source);
	in = codec_file(path, source.data, source.len);
	one = codec_convert(path, "native", "form=pipe", &reported);
	check_equal(reported.lost, 3);
	snprintf(native, sizeof(native), "/proc/self/fd/%d", one);
	two = codec_convert(native, "rkh", NULL, &reported);
	check(two >= 0, "%d %s", two, reported.text);
	snprintf(rkh, sizeof(rkh), "/proc/self/fd/%d", two);
	three = codec_convert(rkh, "native", "form=pipe", &reported);
	check(three >= 0, "%d %s", three, reported.text);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", three);
	check(same_events(native, path, keep_rkh_line) > 30, "too few events");
	close(in);
	close(one);
	close(two);
	close(three);
}

/* RKH's objects have 4 bytes here, ktape's 8: a number that is cut is counted. */
static void wide_numbers(void)
{
	static const struct {
		uint8_t typed[9];
		uint64_t cut;
	} tries[] = {
		{ { KTAPE_FORMAT_OBJECT, 1, 2, 3, 4 }, 0 },
		{ { KTAPE_FORMAT_OBJECT, 1, 2, 3, 4, 5 }, 1 },
		{ { KTAPE_FORMAT_FUNCTION, 0, 0, 0, 0, 0, 0, 0, 1 }, 2 },
	};
	const uint32_t id = 1;
	struct ktape_event e = { .ts = 1000,
				 .args = &id,
				 .nargs = 1,
				 .known = true,
				 .tid = 42,
				 .opcode = KTAPE_EV_USER_EVENT };
	const struct ktape_info info = { .freq = 1000000000 };
	struct ktape_sink_options how = { .format = "rkh", .info = &info };
	struct ktape_registry *registry;
	struct ktape_sink *sink;
	char path[CODEC_PATH];
	const char *what;
	int fd = codec_file(path, "", 0);

	if (ktape_registry_new(info.freq, &registry))
		abort();
	how.path = path;
	how.registry = registry;
	check_equal(ktape_sink_open(&how, &sink, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++, e.ts++) {
		e.blob = tries[i].typed;
		e.blob_size = sizeof(tries[i].typed);
		check_equal(ktape_sink_event(sink, &e), 0);
		check_equal(ktape_sink_missed(sink, 0, &what), tries[i].cut);
	}
	check(!strcmp(what, "numbers wider than their fields"), "%s", what);
	ktape_sink_close(sink);
	ktape_registry_free(registry);
	close(fd);
}

#define LOSSES 600U /* more than wait for their end */

/* Losses of more CPUs than wait for their end, before the first event. */
static void many_losses(void)
{
	struct ktape_sink_options how = { .format = "rkh" };
	struct ktape_notice n = { .kind = KTAPE_NOTICE_LOST,
				  .stream = true,
				  .count = 2 };
	struct codec_reports reported;
	static struct stream source;
	char in[CODEC_PATH], out[CODEC_PATH];
	const struct ktape_event *e;
	struct ktape_sink *sink;
	struct ktape_trace *t;
	int from, to;

	stream_all(&source);
	from = codec_file(in, source.data, source.len);
	to = codec_file(out, "", 0);
	check_equal(ktape_trace_open(in, NULL, &t, NULL), 0);
	check_equal(ktape_trace_next(t, &e), 1);
	how.path = out;
	how.info = ktape_trace_info(t);
	how.registry = ktape_trace_registry(t);
	check_equal(ktape_sink_open(&how, &sink, NULL), 0);
	for (n.cpu = 0; n.cpu < LOSSES; n.cpu++) {
		n.from = e->ts;
		n.to = e->ts + 1000000 + n.cpu;
		check_equal(ktape_sink_notice(sink, &n), 0);
	}
	check_equal(ktape_sink_event(sink, e), 0);
	check_equal(ktape_sink_finish(sink), 0);
	ktape_sink_close(sink);
	ktape_trace_close(t);
	check_equal(codec_read_all(out, NULL, 0, &reported), 1);
	check_equal(reported.gaps, LOSSES);
	check_equal(reported.lost, LOSSES * n.count);
	check_equal(reported.corrupt + reported.truncated, 0);
	close(from);
	close(to);
}

/*
 * Any event of such a trace, of CPU 0 without a thread, as typed arguments: opcode (1: 8 bits), CPU
 * (3: 16 bits), thread (9: an address), dat20 (6: 32 bits).
 */
#define OURS(opcode)         \
	"\1" opcode "\3\0\0" \
	"\x09\0\0\0\0"       \
	"\6\0\0\0\0"
#define WORD "\6\1\2\3\4"

/*
 * An unknown opcode may be from a later writer and is kept; what no writer
 * writes is a bad frame.
 */
static void later_writer(void)
{
	static const struct {
		const char *what, *args;
		size_t len;
		bool good;
		unsigned int as_user;
	} tries[] = {
		{ "a switch", OURS("\x20") WORD WORD, 25, true, 0 },
		{ "a later event", OURS("\xc8") WORD "\x08\2hi", 24, true, 1 },
		{ "a switch to nowhere", OURS("\x20") WORD, 20, false, 0 },
		{ "a later event with a byte", OURS("\xc8") "\1\1", 17, false, 0 },
		{ "a later event that is cut", OURS("\xc8") WORD, 19, false, 0 },
		{ "no event", OURS("\0") WORD, 20, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		struct kt_rkh_config c = usual;
		struct codec_reports reported;
		unsigned int nr;

		c.flags |= KT_RKH_LINUX;
		rkh_stream_begin(&stream, &c, true);
		rkh_add(&stream, KT_RKH_USER + KT_LINUX_EVENT, 0, tries[i].args,
			tries[i].len);
		rkh_add(&stream, KT_RKH_USER + KT_LINUX_EVENT, 0, tries[0].args,
			tries[0].len);
		read_rkh_bytes(stream.data, stream.len, "rkh", 0, &reported, &nr);
		check(reported.corrupt == !tries[i].good && nr == tries[i].as_user,
		      "%s: %u user events, %u bad", tries[i].what, nr,
		      reported.corrupt);
	}
}

/* ---- options ------------------------------------------------------------------------ */

static void rkh_options(void)
{
	static const struct {
		const char *options;
		int err;
	} tries[] = {
		{ "id-width=2,ptr-width=8", 0 },
		{ "id-width=3", -EINVAL },
		{ "id-width", -EINVAL },
		{ "ptr-width=16", -EINVAL },
		{ "seq=2", -EINVAL },
		{ "tick-hz=0", -EINVAL },
		{ "tick-hz=65536", -EINVAL },
		{ "color=red", -EINVAL },
		{ "seq=0,time=0,check=0,tick-hz=65535", 0 },
	};
	struct ktape_error error;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	int fd;

	rkh_all(&stream, &usual, true);
	fd = codec_file(path, stream.data, stream.len);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		struct ktape_trace_options how = {
			.format = "rkh",
			.format_options = tries[i].options,
		};
		int err = ktape_trace_open(path, &how, &t, &error);

		check(err == tries[i].err, "%zu: %d %s", i, err, error.text);
		if (!err)
			ktape_trace_close(t);
	}
	close(fd);
}

static void rkh_golden(void)
{
	if (!has_golden())
		return;
	/* Damages, gaps, and response times that the original decoder has found. */
	compare_rkh_golden(GOLDEN "rkh_ahsm", 0, 0, 11);
	compare_rkh_golden(GOLDEN "rkh_ahsm_corrupt", 1, 2, 0);
	compare_rkh_golden(GOLDEN "rkh_allevents", 0, 0, 1);
	compare_rkh_golden(GOLDEN "rkh_allevents_min", 0, 0, 0);
}

static void rkh_golden_back(void)
{
	static const char *const stems[] = {
		"rkh_ahsm",
		"rkh_allevents",
		"rkh_allevents_min",
	};

	if (!has_golden())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stems); i++) {
		char path[256], *data;
		size_t len;
		int fd;

		snprintf(path, sizeof(path), GOLDEN "%s.bin", stems[i]);
		fd = open(path, O_RDONLY);
		check(fd >= 0, "%s", path);
		data = codec_content(fd, &len);
		check_back(data, len, stems[i]);
		free(data);
		close(fd);
	}
}

static const struct tap_test tests[] = {
	{ "bytes of events", rkh_frame_bytes },
	{ "escapes", escapes },
	{ "round trip in all widths", widths },
	{ "wrapping numbers", wraps },
	{ "events and fields by their names", rkh_stream_flags },
	{ "losses", rkh_losses },
	{ "damage before the first sequence number", before_first },
	{ "no configuration is invented", assumed },
	{ "damages", rkh_damages },
	{ "a trace of Linux", linux_trace },
	{ "losses of many CPUs at its begin", many_losses },
	{ "numbers that RKH cuts are counted", wide_numbers },
	{ "events of a later writer", later_writer },
	{ "options", rkh_options },
	{ "output of its own decoder", rkh_golden },
	{ "round trip of its own streams", rkh_golden_back },
};

static int write_rkh_seeds(const char *dir)
{
	/* For fuzz_codec.c: detected, or rkh by name (2), sorted (0x10), into other formats. */
	static const unsigned char first[] = { 0, 2, 0x12, 0x32, 0x52 };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		/* Without a configuration record once, where the format is named. */
		rkh_all(&stream, &usual, i != 1);
		err |= write_seed(dir, "rkh", first[i], stream.data, stream.len);
	}
	return err;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return write_rkh_seeds(argv[2]);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
