// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test event texts from files under sanitizers: malformed files, and events
 * that lack arguments. The texts themselves are tested by t_tool_dump.sh.
 */
#include "lcg.h"
#include "lib_trace.h"

static const char sample[] =
	"# a file\n"
	"exception 0x1234.1 disk \"%d %-7s %5$b %{0=off,1=on} %04lx%% %M.%m\"\n"
	"exception 0x1234.* \"%c%c%.3s%.2b%lu%ld%o%X\"\n"
	"event 1025 hello \"%5d|%3$s|%b|%99$d|%64u\\\"\\\\\"\n";

static uint64_t seed = 1;

/* Every number of arguments, every truncation of the bytes. */
static void show_all(const struct ktape_formats *f)
{
	static const unsigned char blob[] = "\x04\xfe\xff\xff\xff"
					    "\x07hello\0"
					    "\x08\x02\xab\xcd"
					    "\x0b";
	static const uint32_t firsts[] = { 0x123401, 0x1234ff, 1025, 7 };
	struct ktape_message m;
	unsigned char *copy;
	uint32_t args[7];
	unsigned int i, k, n;

	for (i = 0; i < 2 * ARRAY_SIZE(firsts); i++) {
		for (k = 0; k < 8; k++) {
			for (n = 0; n < sizeof(blob); n++) {
				struct ktape_event e = {
					.args = args,
					.nargs = (unsigned char)k,
					.opcode = i % 2 ? KTAPE_EV_EXCEPTION :
							  KTAPE_EV_USER_EVENT,
					.known = true,
					.blob_size = n,
				};

				memset(args, 0xa5, sizeof(args));
				args[0] = firsts[i / 2];
				copy = malloc(n + !n);
				memcpy(copy, blob, n);
				e.blob = n ? copy : NULL;
				if (ktape_formats_message(f, &e, &m) &&
				    m.len > sizeof(m.text))
					abort();
				free(copy);
			}
		}
	}
}

static void test_missing(void)
{
	struct ktape_formats *f;
	struct ktape_error error;
	int err;

	check(!ktape_formats_new(&f), "new");
	err = ktape_formats_parse(f, sample, sizeof(sample) - 1, &error);
	if (!err)
		show_all(f);
	ktape_formats_free(f);
	check(!err, "line %llu: %s", (unsigned long long)error.offset, error.text);
}

static void test_damaged(void)
{
	unsigned int i, k, bad = 0;

	for (i = 0; i < 3000; i++) {
		char *copy = malloc(sizeof(sample));
		struct ktape_error error = { .text = "" };
		struct ktape_formats *f;
		size_t len = lcg_below(&seed, 2) ?
				     sizeof(sample) - 1 :
				     lcg_below(&seed, sizeof(sample) - 1);
		int err;

		memcpy(copy, sample, sizeof(sample));
		for (k = lcg_below(&seed, 4); k; k--)
			copy[lcg_below(&seed, sizeof(sample) - 1)] =
				lcg_below(&seed, 2) ?
					(char)lcg_below(&seed, 256) :
					"%$\"{}=,.\\0l\n"[lcg_below(&seed, 13)];
		check(!ktape_formats_new(&f), "new");
		err = ktape_formats_parse(f, copy, len, &error);
		if (i % 16 == 0)
			show_all(f);
		ktape_formats_free(f);
		free(copy);
		bad += !!err;
		check(!err || (err == -EBADMSG && error.offset && *error.text),
		      "%u: %d", i, err);
	}
	tap_note("%u of %u refused", bad, i);
	check(bad > 100 && bad < 2900, "%u refused", bad);
}

/*
 * A long text is truncated, the last of two texts of an event is used, and the
 * number of texts is limited.
 */
static void test_fmt_limits(void)
{
	static char line[4096];
	static const uint32_t args[2] = { 3, 0 };
	const struct ktape_event e = {
		.args = args,
		.nargs = 2,
		.known = true,
		.opcode = KTAPE_EV_USER_EVENT,
	};
	struct ktape_message m;
	struct ktape_formats *f;
	struct ktape_error error;
	unsigned int i;
	int err = 0;

	check(!ktape_formats_new(&f), "new");
	strcpy(line, "event 3 \"");
	for (i = 0; i < 300; i++)
		strcat(line, "%1$64d");
	strcat(line, "\"");
	err = ktape_formats_parse(f, line, strlen(line), &error);
	check(!err && ktape_formats_message(f, &e, &m) && m.cut &&
		      m.len == KTAPE_MESSAGE_MAX,
	      "%d: %zu bytes", err, m.len);
	err = ktape_formats_parse(f, "event 3 \"a\"\nevent 3 n \"b\"", 25, &error);
	check(!err && ktape_formats_message(f, &e, &m) && m.len == 1 &&
		      *m.text == 'b' && !strcmp(m.name, "n") && !m.cut,
	      "the last");
	memset(line, ' ', sizeof(line));
	check(ktape_formats_parse(f, line, sizeof(line), &error) == -EBADMSG &&
		      error.offset == 1,
	      "a long line");
	for (i = 0; i < 20000 && !err; i++) {
		snprintf(line, sizeof(line), "event %u \"x\"\n", 40000 - i);
		err = ktape_formats_parse(f, line, strlen(line), &error);
	}
	check(err == -EBADMSG && strstr(error.text, "more than 16384"),
	      "%u formats, %d", i, err);
	ktape_formats_free(f);
}

/* "l" takes two words, but only one argument of the buffer. */
static void test_wide_arguments(void)
{
	static const char format[] = "event 3 \"%ld %ld %s %ld\"\n";
	static const unsigned char blob[] = "\x04\xfe\xff\xff\xff" /* s32 -2 */
					    "\x07hi\0"
					    "\x04\x05\0\0"; /* s32 5, with the NUL */
	static const char want[] = "8589934593 -2 hi 5";
	static const uint32_t args[] = { 3, 1, 2 };
	const struct ktape_event e = {
		.args = args,
		.nargs = ARRAY_SIZE(args),
		.known = true,
		.opcode = KTAPE_EV_USER_EVENT,
		.blob = blob,
		.blob_size = sizeof(blob),
	};
	struct ktape_formats *f;
	struct ktape_message m;
	struct ktape_error error;
	bool shown;

	check(!ktape_formats_new(&f), "new");
	shown = !ktape_formats_parse(f, format, sizeof(format) - 1, &error) &&
		ktape_formats_message(f, &e, &m);
	ktape_formats_free(f);
	check(shown && m.len == sizeof(want) - 1 && !memcmp(m.text, want, m.len),
	      "\"%.*s\"", shown ? (int)m.len : 0, m.text);
}

static const struct tap_test tests[] = {
	{ "arguments that an event lacks", test_missing },
	{ "damaged files", test_damaged },
	{ "limits", test_fmt_limits },
	{ "numbers of 64 bits and arguments of the buffer", test_wide_arguments },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
