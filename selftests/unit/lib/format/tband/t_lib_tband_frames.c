// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test reading the frames of Tonbandgeraet, a tracer of FreeRTOS: their bytes, from its
 * specification; buffers that are not full; damage, options, and a stream without tasks.
 */
#include "lib_gather.h"
#include "lib_tband.h"
#include "tap.h"

static struct stream stream;

/* ---- bytes -------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *frame; /* without its zero */
	size_t len;
	const char *json; /* NULL = not valid */
} vectors[] = {
	{ "core 0", "\1\1\1\1", 4,
	  "{\"Base\":{\"ts\":\"0\",\"kind\":{\"CoreId\":{\"core_id\":0}}}}" },
	{ "resolution", "\3\2\xa", 3,
	  "{\"BaseMetadata\":{\"TsResolutionNs\":{\"ns_per_ts\":\"10\"}}}" },
	{ "u32 max", "\x8\5\x54\xff\xff\xff\xff\xf", 8,
	  "{\"Base\":{\"ts\":\"84\",\"kind\":{\"IsrExit\":{\"isr_id\":4294967295}}}}" },
	{ "u32 beyond 32 bits", "\x8\5\x54\xff\xff\xff\xff\x1f", 8, NULL },
	{ "u32 of 6 bytes", "\x9\5\x54\xff\xff\xff\xff\x8f\1", 9, NULL },
	{ "u32 cut off", "\5\5\x54\xff\xff", 5, NULL },
	{ "u64 max", "\xd\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\3", 13,
	  "{\"Base\":{\"ts\":\"18446744073709551615\",\"kind\":{\"IsrEnter\":{\"isr_id\":3}}}}" },
	{ "u64 beyond 64 bits", "\xd\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\3",
	  13, NULL },
	{ "minus zero", "\5\xb\1\2\1", 5,
	  "{\"Base\":{\"ts\":\"1\",\"kind\":{\"Valmarker\":{\"valmarker_id\":2,\"val\":\"-9223372036854775808\"}}}}" },
	{ "minus one", "\5\xb\1\2\3", 5,
	  "{\"Base\":{\"ts\":\"1\",\"kind\":{\"Valmarker\":{\"valmarker_id\":2,\"val\":\"-1\"}}}}" },
	{ "s64 max", "\xe\xb\1\2\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1", 14,
	  "{\"Base\":{\"ts\":\"1\",\"kind\":{\"Valmarker\":{\"valmarker_id\":2,\"val\":\"9223372036854775807\"}}}}" },
	{ "loose bytes", "\5\4\1\2\3", 5, NULL },
	{ "no fields", "\2\4", 2, NULL },
	{ "id of no event", "\3\x28\1", 3, NULL },
	{ "id above 127", "\3\x80\1", 3, NULL },
	{ "kind of queue", "\4\x65\5\4", 4,
	  "{\"FreeRTOSMetadata\":{\"QueueKind\":{\"queue_id\":5,\"kind\":\"FrqkRecursiveMutex\"}}}" },
	{ "unknown kind of queue", "\4\x65\5\6", 4, NULL },
	{ "text", "\6\x5f\1\x61\x22\x62", 6,
	  "{\"FreeRTOSMetadata\":{\"TaskName\":{\"task_id\":1,\"name\":\"a\\\"b\"}}}" },
	{ "to ready", "\x8\x55\xa3\x8d\xe3\4\xab\4", 8,
	  "{\"FreeRTOS\":{\"ts\":\"10012323\",\"kind\":{\"TaskToRdyState\":{\"task_id\":555}}}}" },
	{ "pointer beyond the frame", "\6\4\1\2", 4, NULL },
};

static void tband_frame_bytes(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		const uint8_t *frame = (const uint8_t *)vectors[i].frame;
		uint8_t plain[64], again[64], back[64];
		char why[KT_TBAND_WHY] = "", json[512] = "";
		struct kt_tband_event e;
		int64_t len;

		len = kt_cobs_decode(plain, frame, vectors[i].len);
		if (len >= 0 && kt_tband_decode(&e, plain, (size_t)len, why))
			len = -1;
		check((len >= 0) == !!vectors[i].json, "%s: %s",
		      vectors[i].name, why);
		if (len < 0)
			continue;
		*kt_tband_json(json, &e) = '\0';
		check(!strcmp(json, vectors[i].json), "%s: %s", vectors[i].name,
		      json);
		check(kt_tband_encode(&e, again) == (size_t)len &&
			      !memcmp(again, plain, (size_t)len),
		      "%s", vectors[i].name);
		check(kt_cobs_encode(back, again, (size_t)len) == vectors[i].len + 1 &&
			      !memcmp(back, frame, vectors[i].len) &&
			      !back[vectors[i].len],
		      "%s", vectors[i].name);
	}
}

/* All lengths around the longest run (254 bytes), with a zero at each place or none. */
static void frames(void)
{
	uint8_t plain[600], frame[700], back[700];

	for (size_t len = 1; len < 520; len += len < 250 || len > 260 ? 7 : 1) {
		for (size_t zero = 0; zero <= len; zero++) {
			size_t size;

			memset(plain, 0x55, len);
			if (zero < len)
				plain[zero] = 0;
			size = kt_cobs_encode(frame, plain, len);
			check(size <= 1 + (len + 253) / 254 + len, "%zu", len);
			check(memchr(frame, 0, size) == frame + size - 1,
			      "%zu %zu", len, zero);
			check_equal(kt_cobs_decode(back, frame, size - 1), len);
			check(!memcmp(back, plain, len), "%zu %zu", len, zero);
		}
	}
}

/* ---- a buffer that is not full ---------------------------------------------------- */

/* Return the offset behind the first @nr frames, each of which ends with a zero. */
static size_t frames_end(const struct stream *s, unsigned int nr)
{
	size_t at = 0;

	while (nr--)
		at = (size_t)((uint8_t *)memchr(s->data + at, 0, s->len - at) -
			      s->data) +
		     1;
	return at;
}

static unsigned int count_lines(const char *path, const char *format,
				struct codec_reports *reported, uint64_t *hash)
{
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = reported,
		.format = format,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;
	unsigned int nr = 0;

	memset(reported, 0, sizeof(*reported));
	*hash = 0;
	if (ktape_trace_open(path, &how, &t, NULL))
		return 0;
	while (ktape_trace_next(t, &e) > 0) {
		char *line = codec_line(t, e);

		for (const char *p = line; *p; p++)
			*hash = *hash * 31 + (uint8_t)*p;
		free(line);
		nr++;
	}
	ktape_trace_close(t);
	return nr;
}

/* A snapshot buffer dumped as a whole ends with zeros: it is the same trace. */
static void padded(void)
{
	static const size_t sizes[] = { 1, 2, 100, 32768, 200000 };
	static uint8_t copy[2 * (sizeof(stream.data) + 200000)];
	struct codec_reports reported;
	unsigned int nr, all;
	uint64_t hash, want;
	char path[CODEC_PATH];
	int fd;

	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	all = count_lines(path, NULL, &reported, &want);
	check(all > 20, "%u", all);
	close(fd);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		size_t len = stream.len + sizes[i / 2];

		memset(copy, 0, sizeof(copy));
		memcpy(copy, stream.data, stream.len);
		if (i & 1) {
			char *p = (char *)copy;

			for (size_t n = 0; n < len; n++)
				p += sprintf(p, "%02x",
					     n < stream.len ? stream.data[n] : 0);
			len *= 2;
		}
		fd = codec_file(path, copy, len);
		nr = count_lines(path, NULL, &reported, &hash);
		check(nr == all && hash == want, "%zu zeros: %u of %u events",
		      sizes[i / 2], nr, all);
		check(!reported.corrupt && !reported.truncated &&
			      reported.assumed == 1,
		      "%zu zeros: %s", sizes[i / 2], reported.text);
		close(fd);
	}
	/* Zeros between frames are damage, reported once. */
	memmove(copy + 1000, stream.data + frames_end(&stream, 3),
		stream.len - frames_end(&stream, 3));
	memset(copy, 0, 1000);
	memcpy(copy, stream.data, frames_end(&stream, 3));
	fd = codec_file(path, copy, 1000 + stream.len - frames_end(&stream, 3));
	nr = count_lines(path, "tband", &reported, &hash);
	check(nr == all + 1 && reported.corrupt == 1, "%u of %u events, %u bad",
	      nr, all, reported.corrupt);
	close(fd);
}

/* ---- what is wrong ------------------------------------------------------------------- */

/* Truncate anywhere: that is reported.  Change every byte: at most two frames are bad. */
static void tband_damages(void)
{
	struct codec_reports reported;
	char path[CODEC_PATH];
	int fd;

	stream_all(&stream);
	for (size_t i = 1; i < stream.len; i++) {
		fd = codec_file(path, stream.data, i);
		codec_read_all(path, "tband", 0, &reported);
		check(reported.truncated == (stream.data[i - 1] != 0), "%zu", i);
		close(fd);
	}
	for (size_t i = 0; i < stream.len; i++) {
		for (unsigned int bit = 0; bit < 8; bit += 3) {
			stream.data[i] ^= (uint8_t)(1U << bit);
			fd = codec_file(path, stream.data, stream.len);
			codec_read_all(path, "tband", KTAPE_TRACE_SORTED, &reported);
			codec_read_all(path, "tband", 0, &reported);
			check(reported.corrupt <= 2, "byte %zu: %u", i,
			      reported.corrupt);
			close(fd);
			stream.data[i] ^= (uint8_t)(1U << bit);
		}
	}
}

static void tband_options(void)
{
	static const struct {
		const char *format;
		const char *options;
		int err;
	} tries[] = {
		{ "tband", "core-count=2", 0 },
		{ "tband", "mode=bare-metal,format=bin", 0 },
		{ "tband", "core=8191", 0 },
		{ "tband", "core=8192", -EINVAL },
		{ "tband", "core", -EINVAL },
		{ "tband", "mode=linux", -EINVAL },
		{ "tband", "color=red", -EINVAL },
		{ "nothing", NULL, -EINVAL },
		{ "jsonl", NULL, -EINVAL },
		{ "native", NULL, -EBADMSG },
		{ NULL, "core=1", 0 },
	};
	struct codec_reports reported = { 0 };
	char path[CODEC_PATH];
	struct ktape_error error;
	struct ktape_trace *t;
	uint8_t uuid[16];
	int fd;

	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		struct ktape_trace_options how = {
			.notice = codec_notice,
			.arg = &reported,
			.format = tries[i].format,
			.format_options = tries[i].options,
		};
		int err = ktape_trace_open(path, &how, &t, &error);

		check(err == tries[i].err, "%zu: %d %s", i, err, error.text);
		check(!err || *error.text, "%zu", i);
		if (err)
			continue;
		/* Whether detected or named, it is the same trace. */
		if (!i)
			memcpy(uuid, ktape_trace_info(t)->uuid, sizeof(uuid));
		check(!memcmp(uuid, ktape_trace_info(t)->uuid, sizeof(uuid)),
		      "%zu", i);
		ktape_trace_close(t);
	}
	close(fd);
	/* Found by fuzzing: nothing had been read when the format was named. */
	fd = codec_file(path, "", 0);
	codec_read_all(path, "tband", 0, &reported);
	codec_read_all(path, "tband", KTAPE_TRACE_SORTED, &reported);
	check_equal(ktape_trace_open(path, NULL, &t, &error), -EBADMSG);
	close(fd);
	fd = codec_file(path, "no trace at all\n", 16);
	check_equal(ktape_trace_open(path, NULL, &t, &error), -EBADMSG);
	close(fd);
}

/* A bare-metal stream has no tasks: task events are invalid frames. */
static void bare_metal(void)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.format = "tband",
		.format_options = "mode=bare-metal,core-count=1",
	};
	const struct ktape_event *e;
	unsigned int cpus = 0, n = 0;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	int fd;

	stream_all(&stream);
	fd = codec_file(path, stream.data, stream.len);
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		cpus += e->cpu != 0;
		n += e->opcode == KTAPE_EV_SCHED_SWITCH;
	}
	check_equal(cpus, 0);
	check_equal(n, 0);
	check(reported.corrupt > 20, "%u", reported.corrupt);
	ktape_trace_close(t);
	close(fd);
}

static const struct tap_test tests[] = {
	{ "bytes of events", tband_frame_bytes },
	{ "frames", frames },
	{ "a partly filled buffer", padded },
	{ "damages", tband_damages },
	{ "options", tband_options },
	{ "bare metal", bare_metal },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
