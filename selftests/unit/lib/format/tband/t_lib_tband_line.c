// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the format of Tonbandgeraet, a tracer of FreeRTOS, with check frames over a serial line:
 * intact, damaged at each byte, joined late, restarted, and without checks.
 *
 * A check frame follows each event and each name.  It has the event's or name's number, so that
 * what is missing can be counted, and a checksum over the frames since the check before.
 */
#include "util/crc32c.h"
#include "lib_gather.h"
#include "lib_tband.h"
#include "tap.h"

#define OWN_LOST 3 /* that stream_all() reports */

static struct stream stream;

/* The stream with checks, its bytes, and its events, which the first test counts. */
static uint8_t *line;
static size_t line_len;
static unsigned int line_events;

/* What arrived over the line. */
struct came {
	struct codec_reports reported;
	unsigned int events;
	unsigned int names;
};

static void receive(const void *data, size_t len, struct came *came)
{
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &came->reported,
		.format = "tband",
		.format_options = "check=1",
		.flags = KTAPE_TRACE_SORTED,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	int fd = codec_file(path, data, len), ret;

	memset(came, 0, sizeof(*came));
	ret = ktape_trace_open(path, &how, &t, NULL);
	check_equal(ret, 0);
	while (!ret && (ret = ktape_trace_next(t, &e)) > 0) {
		free(codec_line(t, e));
		came->names += e->opcode == KTAPE_EV_REGISTRY;
		came->events += e->opcode != KTAPE_EV_REGISTRY;
		ret = 0;
	}
	check_equal(ret, 0);
	ktape_trace_close(t);
	close(fd);
}

static void make_line(void)
{
	struct codec_reports reported;
	char path[CODEC_PATH];
	int in, out;

	stream_all(&stream);
	in = codec_file(path, stream.data, stream.len);
	out = codec_convert(path, "tband", "check=1", &reported);
	check(out >= 0, "%d %s", out, reported.text);
	line = (uint8_t *)codec_content(out, &line_len);
	close(in);
	close(out);
}

/*
 * Leave out lines of events that are created anew (ids 0 to 2: core, losses, resolution), and the
 * places of names.
 */
static char *keep_carried_line(struct ktape_trace *t, const struct ktape_event *e)
{
	bool user = e->opcode == KTAPE_EV_USER_EVENT;
	char *text;

	if (user && (ktape_event_arg(e, 0) & 0xffffff) < 3)
		return NULL;
	text = codec_line(t, e);
	if (e->opcode == KTAPE_EV_REGISTRY)
		memset(text, '.', (size_t)(strstr(text, "registry") - text));
	return text;
}

static void gather_line(struct gathered *g, const void *data, size_t len,
			const char *options)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.format = "tband",
		.format_options = options,
		.flags = KTAPE_TRACE_SORTED,
	};
	struct ktape_trace *t;
	char path[CODEC_PATH];
	int fd = codec_file(path, data, len);

	memset(g, 0, sizeof(*g));
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	gather_events(t, keep_carried_line, g);
	check_equal(reported.corrupt + reported.truncated, 0);
	check_equal(reported.lost, OWN_LOST);
	ktape_trace_close(t);
	close(fd);
}

/* Exactly what was sent arrives. */
static void tband_line_whole(void)
{
	static struct gathered a, b;
	struct came came;

	gather_line(&a, stream.data, stream.len, NULL);
	gather_line(&b, line, line_len, "check=1");
	check_equal(a.nr, b.nr);
	qsort(a.lines, a.nr, sizeof(*a.lines), gather_order);
	qsort(b.lines, b.nr, sizeof(*b.lines), gather_order);
	gather_compare(&a, &b);
	for (unsigned int i = 0; i < a.nr; i++)
		free(a.lines[i]);
	for (unsigned int i = 0; i < b.nr; i++)
		free(b.lines[i]);
	receive(line, line_len, &came);
	line_events = came.events;
	check(line_events > 40, "%u", line_events);
	check_equal(came.reported.assumed, 0);
}

/* Damage one place: it is reported, and each event arrives or is counted. */
static void tband_line_check(const char *how, size_t at, const uint8_t *data,
			     size_t len)
{
	struct came came;
	uint64_t lost;

	receive(data, len, &came);
	lost = came.reported.lost - OWN_LOST;
	check(came.events + lost == line_events, "%s %zu: %u and %llu of %u",
	      how, at, came.events, (unsigned long long)lost, line_events);
	check(lost <= 2, "%s %zu: %llu lost", how, at, (unsigned long long)lost);
	check(came.reported.corrupt + came.reported.truncated == 1,
	      "%s %zu: %u damages, %u cut", how, at, came.reported.corrupt,
	      came.reported.truncated);
}

static void flipped(void)
{
	for (size_t i = 0; i < line_len; i++) {
		for (unsigned int bit = i % 3; bit < 8; bit += 3) {
			line[i] ^= (uint8_t)(1U << bit);
			tband_line_check("flip", i, line, line_len);
			line[i] ^= (uint8_t)(1U << bit);
		}
	}
}

static void dropped(void)
{
	uint8_t *less = malloc(line_len);

	for (size_t i = 0; i < line_len; i++) {
		memcpy(less, line, i);
		memcpy(less + i, line + i + 1, line_len - i - 1);
		tband_line_check("drop", i, less, line_len - 1);
	}
	free(less);
}

static void inserted(void)
{
	static const uint8_t bytes[] = { 0, 1, 0x55, 0xff };
	uint8_t *more = malloc(line_len + 1);

	for (size_t i = 0; i <= line_len; i++) {
		memcpy(more, line, i);
		more[i] = bytes[i % ARRAY_SIZE(bytes)];
		memcpy(more + i + 1, line + i, line_len - i);
		tband_line_check("insert", i, more, line_len + 1);
	}
	free(more);
}

/* Remove much: no more arrives than was sent, and everything else is counted. */
static void tband_line_burst(void)
{
	uint8_t *less = malloc(line_len);
	struct came came;

	for (size_t at = 100; at + 450 < line_len; at += 37) {
		memcpy(less, line, at);
		memcpy(less + at, line + at + 300, line_len - at - 300);
		receive(less, line_len - 300, &came);
		check(came.events + came.reported.lost - OWN_LOST == line_events,
		      "%zu: %u and %llu of %u", at, came.events,
		      (unsigned long long)came.reported.lost - OWN_LOST,
		      line_events);
		check(came.reported.corrupt <= 1, "%zu: %u", at,
		      came.reported.corrupt);
	}
	free(less);
}

/* Join anywhere: earlier events do not count as lost. */
static void joined(void)
{
	struct came came;

	/* Names come first.  From here on, each place has events before it. */
	for (size_t at = 400; at < line_len; at += 13) {
		receive(line + at, line_len - at, &came);
		check(came.reported.lost <= OWN_LOST, "%zu: %llu", at,
		      (unsigned long long)came.reported.lost);
		check(came.reported.corrupt <= 1, "%zu", at);
		check(came.events < line_events, "%zu", at);
	}
}

/* A restarted sender counts from the beginning. */
static void tband_line_restart(void)
{
	uint8_t *twice = malloc(line_len * 2);
	struct came came;

	memcpy(twice, line, line_len);
	memcpy(twice + line_len, line, line_len);
	receive(twice, line_len * 2, &came);
	check_equal(came.events, line_events * 2);
	check_equal(came.reported.lost, OWN_LOST * 2);
	check_equal(came.reported.corrupt, 0);
	/*
	 * The first sender is cut off: the number of its unsent events is
	 * unknown.
	 */
	memmove(twice + line_len / 2, twice + line_len, line_len);
	receive(twice, line_len / 2 + line_len, &came);
	check(came.events > line_events, "%u", came.events);
	check(came.reported.corrupt <= 1, "%u", came.reported.corrupt);
	free(twice);
}

/* A target without checks is accepted unchecked, and that is reported. */
static void without(void)
{
	struct came came;
	struct codec_reports reported;
	char path[CODEC_PATH];
	int fd = codec_file(path, stream.data, stream.len);
	unsigned int all = 0;

	/* Without the option, too, reading it must not crash. */
	codec_read_all(path, "tband", 0, &reported);
	close(fd);
	/* Each frame ends with the only zero in it, and carries an event or a name. */
	for (size_t i = 0; i < stream.len; i++)
		all += !stream.data[i];
	receive(stream.data, stream.len, &came);
	check_equal(came.events + came.names, all);
	check_equal(came.reported.lost, OWN_LOST);
	check_equal(came.reported.assumed, 1);
	check_equal(came.reported.corrupt, 0);
}

/* Valid checksums of frames that no sender writes. */
static void tband_line_hostile(void)
{
	static const struct {
		const char *name;
		const char *text; /* the native event that the frame carries, in base64 */
		unsigned int corrupt;
	} tries[] = {
		{ "nothing", "", 1 },
		{ "no base64", "A=A!", 1 },
		{ "cut off", "EAA", 1 },
		{ "an opcode that is none", "AAAAAAA", 1 },
		{ "a time extension", "_wAAAAA", 1 },
		{ "a name without a name", "BQIAAAA", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		struct kt_tband_check c = { .seq = 1 };
		char text[KT_TBAND_CHECK_TEXT];
		struct kt_tband_event e;
		struct stream s = { .len = 0 };
		struct came came;
		uint8_t plain[64];
		uint32_t crc;

		stream_add(&s, KT_TBAND_VALMARKER_NAME, 0, KT_TBAND_CARRIED, 0,
			   tries[i].text);
		crc = kt_crc32c(0, s.data, s.len);
		kt_tband_check_put(&e, kt_tband_check_sum(crc, &c), &c, text);
		s.len += kt_cobs_encode(s.data + s.len, plain,
					kt_tband_encode(&e, plain));
		receive(s.data, s.len, &came);
		check(came.reported.corrupt == tries[i].corrupt, "%s: %u",
		      tries[i].name, came.reported.corrupt);
		check_equal(came.events, 0);
	}
}

/* ktape_sink_open() returns -EINVAL also if the caller does not ask for the reason. */
static void tband_line_options(void)
{
	struct codec_reports reported;
	char path[CODEC_PATH];
	int fd = codec_file(path, stream.data, stream.len);

	check_equal(codec_convert(path, "tband", "check=2", &reported), -EINVAL);
	check_equal(codec_convert(path, "tband", "check=1,max-str-len=9", &reported),
		    -EINVAL);
	close(fd);
}

static const struct tap_test tests[] = {
	{ "undamaged", tband_line_whole },
	{ "flipped bits", flipped },
	{ "missing bytes", dropped },
	{ "inserted bytes", inserted },
	{ "many missing bytes", tband_line_burst },
	{ "joined late", joined },
	{ "restarted", tband_line_restart },
	{ "without checks", without },
	{ "hostile events", tband_line_hostile },
	{ "options", tband_line_options },
};

static int write_tband_line_seeds(const char *dir)
{
	/* For fuzz_codec.c: a serial line (0xf), sorted (0x10), into other formats. */
	static const unsigned char first[] = { 0x0f, 0x1f, 0x3f, 0x5f };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		err |= write_seed(dir, "tband_line", first[i], line, line_len);
	return err;
}

int main(int argc, char **argv)
{
	int ret;

	make_line();
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		ret = write_tband_line_seeds(argv[2]);
	else
		ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	free(line);
	return ret;
}
