// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test pages (format html) under sanitizers: deflate on bytes of every kind, the page of
 * a scene with a loss, names that would end a script, texts of the caller.
 */
#include "format/html/internal.h"
#include "lcg.h"
#include "lib_scene.h"
#include "util/bits.h"

/* ---- deflate: undo one block of fixed codes, by RFC 1951, 3.2.5 and 3.2.6 ------------ */

struct reader {
	const uint8_t *from;
	size_t len;
	size_t at; /* in bits */
};

static unsigned int read_bits(struct reader *r, unsigned int nr)
{
	unsigned int v = 0;

	for (unsigned int i = 0; i < nr; i++, r->at++)
		if (r->at / 8 < r->len)
			v |= (unsigned int)(r->from[r->at / 8] >> r->at % 8 & 1)
			     << i;
	return v;
}

static unsigned int read_code(struct reader *r, unsigned int nr)
{
	unsigned int v = 0;

	while (nr--)
		v = v << 1 | read_bits(r, 1);
	return v;
}

static unsigned int read_symbol(struct reader *r)
{
	unsigned int v = read_code(r, 7);

	if (v < 24)
		return 256 + v;
	v = v << 1 | read_bits(r, 1);
	if (v >= 0x30 && v <= 0xbf)
		return v - 0x30;
	if (v >= 0xc0 && v <= 0xc7)
		return 280 + v - 0xc0;
	v = v << 1 | read_bits(r, 1);
	return 144 + v - 0x190;
}

static unsigned int read_length(struct reader *r, unsigned int symbol)
{
	unsigned int code = symbol - 257, extra;

	if (code < 8)
		return code + 3;
	if (code == 28)
		return 258;
	extra = code / 4 - 1;
	return ((4 + code % 4) << extra) + 3 + read_bits(r, extra);
}

static unsigned int read_distance(struct reader *r)
{
	unsigned int code = read_code(r, 5), extra;

	if (code < 4)
		return code + 1;
	extra = code / 2 - 1;
	return ((2 + code % 2) << extra) + 1 + read_bits(r, extra);
}

/* Inflate to @to. Return: number of bytes, or SIZE_MAX if the input is not such a block. */
static size_t undo(const uint8_t *from, size_t len, uint8_t *to, size_t room)
{
	struct reader r = { from, len, 0 };
	size_t n = 0;
	unsigned int symbol;

	if (read_bits(&r, 1) != 1 || read_bits(&r, 2) != 1)
		return SIZE_MAX;
	while ((symbol = read_symbol(&r)) != 256) {
		unsigned int length = 1, distance = 0;

		if (symbol > 256) {
			length = read_length(&r, symbol);
			distance = read_distance(&r);
		}
		if (n + length > room || distance > n || r.at > len * 8)
			return SIZE_MAX;
		for (; length--; n++)
			to[n] = distance ? to[n - distance] : (uint8_t)symbol;
	}
	return (r.at + 7) / 8 == len ? n : SIZE_MAX;
}

static uint64_t seed;

static void fill_html_input(uint8_t *to, size_t len, unsigned int kind)
{
	static const char line[] = "{'tid':12,'name':'sh'}";

	for (size_t i = 0; i < len; i++) {
		switch (kind) {
		case 0: /* nothing repeats: the most bits */
			to[i] = (uint8_t)(144 + lcg_next(&seed) % 112);
			break;
		case 1:
			to[i] = 0;
			break;
		case 2: /* copies of all distances and lengths */
			to[i] = i && lcg_next(&seed) % 9 ?
					to[i - 1 - lcg_next(&seed) % kt_min(i, 40000)] :
					(uint8_t)lcg_next(&seed);
			break;
		default:
			to[i] = (uint8_t)line[(i * 7 + i / 300) % strlen(line)];
		}
	}
}

static void deflate_round(void)
{
	static const size_t sizes[] = { 0,   1,	  2,	3,     4,     257,
					258, 259, 5000, 32768, 32769, 100000 };
	struct kt_deflate *d = malloc(sizeof(*d));

	memset(d, 0xa5, sizeof(*d));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (unsigned int kind = 0; kind < 4; kind++) {
			size_t len = sizes[i], bound = kt_deflate_bound(len), n;
			/* Of exactly these sizes, so that the sanitizer watches. */
			uint8_t *from = malloc(len), *to = malloc(bound),
				*back = malloc(len);

			fill_html_input(from, len, kind);
			n = kt_deflate(d, from, len, to);
			check(n <= bound, "%zu bytes of kind %u: %zu", len, kind, n);
			check(undo(to, n, back, len) == len &&
				      (!len || !memcmp(from, back, len)),
			      "%zu bytes of kind %u are not the same again",
			      len, kind);
			check(kind != 1 || len < 5000 || n < len / 50,
			      "%zu zeros need %zu bytes", len, n);
			free(from);
			free(to);
			free(back);
		}
	}
	free(d);
}

/* ---- pages ----------------------------------------------------------------------------- */

static void scene_page(void)
{
	int fd = scene_write("html", NULL, NULL, true);
	size_t len;
	char *page;

	check(fd >= 0, "not written: %d", fd);
	page = codec_content(fd, &len);
	close(fd);
	check(strlen(page) == len, "a NUL is in the page");
	check(!strncmp(page, "<!DOCTYPE html>\n", 16), "no head");
	check(!strcmp(page + len - 8, "</html>\n"), "no end");
	check_equal(count_in_text(page, "data-kind=\"about\""), 1);
	check_equal(count_in_text(page, "data-kind=\"events\""), 1);
	check_equal(count_in_text(page, "data-kind=\"spans\""), 1);
	/* One for each block, and one for the viewer. */
	check_equal(count_in_text(page, "</script>"),
		    count_in_text(page, "data-kind=\"") + 1);
	/* Names are in the packed blocks only. */
	check(!strstr(page, "wor\"ker"), "a name stands in the page");
	free(page);
}

/**
 * struct page_sink - an output that a test writes by itself
 * @path: its path
 * @fd: its file
 * @registry: no names
 * @sink: the output
 * @html: its state, if it is a page
 */
struct page_sink {
	char path[CODEC_PATH];
	int fd;
	struct ktape_registry *registry;
	struct ktape_sink *sink;
	const struct html *html;
};

static void open_page_sink(struct page_sink *p, const char *format,
			   const char *options, const struct ktape_info *info)
{
	struct ktape_sink_options how = {
		.format = format, .path = p->path, .options = options, .info = info
	};

	p->fd = codec_file(p->path, "", 0);
	if (ktape_registry_new(info->freq, &p->registry))
		abort();
	how.registry = p->registry;
	if (ktape_sink_open(&how, &p->sink, NULL))
		abort();
	p->html = ((const struct kt_sink *)(const void *)p->sink)->state;
}

static void close_page_sink(struct page_sink *p)
{
	ktape_sink_close(p->sink);
	ktape_registry_free(p->registry);
	close(p->fd);
}

/*
 * Write a trace with a mark that has the text @name, and with the text @attach of the caller, and
 * set @page.  Texts with names that a page has no room for are refused.
 */
static void page_with(const char *name, size_t name_len, const char *attach,
		      char **page)
{
	struct page_sink p;
	uint32_t switches[] = { 0, 42 }, mark[] = { 7 };
	struct ktape_event e = {
		.ts = 1000,
		.args = switches,
		.nargs = 2,
		.known = true,
		.opcode = KTAPE_EV_SCHED_SWITCH,
	};
	char text_name[1 << 12] = "";
	size_t len;

	open_page_sink(&p, "html", NULL, &scene_info);
	check_equal(ktape_sink_takes_texts(p.sink), true);
	check_equal(ktape_sink_event(p.sink, &e), 0);
	e = (struct ktape_event){
		.ts = 2000,
		.args = mark,
		.nargs = 1,
		.known = true,
		.tid = 42,
		.blob = name,
		.blob_size = (uint32_t)name_len,
		.opcode = KTAPE_EV_MARK,
	};
	check_equal(ktape_sink_event(p.sink, &e), 0);
	check_equal(ktape_sink_attach(p.sink, "stats", attach, strlen(attach)), 0);
	check_equal(ktape_sink_attach(p.sink, "a\"b", attach, 1), -EINVAL);
	/* A page has room for the tag of a block, not for any name in it. */
	memset(text_name, 'n', sizeof(text_name) - 1);
	check_equal(ktape_sink_attach(p.sink, text_name, "{}", 2), -EINVAL);
	text_name[KTAPE_TEXT_NAME_MAX + 1] = '\0';
	check_equal(ktape_sink_attach(p.sink, text_name, "{}", 2), -EINVAL);
	text_name[KTAPE_TEXT_NAME_MAX] = '\0';
	check_equal(ktape_sink_attach(p.sink, text_name, "{}", 2), 0);
	check_equal(ktape_sink_finish(p.sink), 0);
	*page = codec_content(p.fd, &len);
	close_page_sink(&p);
	check(strlen(*page) == len, "a NUL is in the page");
}

static void hostile_names(void)
{
	static const char *const texts[] = {
		"</script><script>alert(1)</script>",
		"<!--",
		"]]>",
		"\" onload=\"x",
		"'\\u2028\xe2\x80\xa8",
		"\x01\x1b[2J\r\n",
		"\xff\xc3\x28\xf8",
		"&lt;",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *page = NULL;

		page_with(texts[i], strlen(texts[i]), texts[i], &page);
		check(page, "no page");
		check_equal(count_in_text(page, "</script>"),
			    count_in_text(page, "data-kind=\"") + 1);
		check(!strstr(page, "alert(1)"), "text %zu is in the page", i);
		for (const char *p = page; *p; p++) {
			if ((unsigned char)*p >= ' ' || *p == '\n' || *p == '\t')
				continue;
			check(false, "text %zu: byte %d is in the page", i, *p);
			break;
		}
		free(page);
	}
}

/* ---- pages that are full ------------------------------------------------------------ */

#define FULL 1000U /* the least that the option spans= accepts */

/* Add a loss of class 7, which is a span that is never merged. */
static int add_span_loss(struct ktape_sink *sink, uint64_t ts)
{
	uint32_t args[] = { (uint32_t)ts, 0, (uint32_t)ts + 10, 0, 1, 0 };
	struct ktape_event e = {
		.ts = ts + 20,
		.dat20 = 7,
		.args = args,
		.nargs = ARRAY_SIZE(args),
		.known = true,
		.kind = KTAPE_RING_CONTROL,
		.opcode = KTAPE_EV_LOSS,
	};

	return ktape_sink_event(sink, &e);
}

/*
 * Write a page with so many losses.  Return: what finish() or an event returned; @why is the
 * error's text.
 */
static int write_full(const char *options, unsigned int losses, char why[256],
		      struct ktape_sink_options *how)
{
	char path[CODEC_PATH];
	int fd = codec_file(path, "", 0), err;
	struct ktape_sink *sink;

	how->path = path;
	how->options = options;
	err = ktape_sink_open(how, &sink, NULL);
	for (unsigned int i = 0; !err && i < losses; i++)
		err = add_span_loss(sink, 1000 + i * 100);
	if (!err)
		err = ktape_sink_finish(sink);
	snprintf(why, 256, "%s", ktape_sink_error(sink));
	ktape_sink_close(sink);
	close(fd);
	return err;
}

static void full_page(void)
{
	struct ktape_registry *registry;
	struct ktape_sink_options how = { .format = "html", .info = &scene_info };
	char why[256];

	if (ktape_registry_new(scene_info.freq, &registry))
		abort();
	how.registry = registry;
	/* Without a range, the page counts what it leaves out. */
	check_equal(write_full("spans=1000", FULL + 500, why, &how), 0);
	/* The range has 9 losses behind the first 1200, for which there is no room. */
	check_equal(write_full("spans=1000,exact=121000ns-121800ns", FULL + 500,
			       why, &how),
		    -EBADMSG);
	check(strstr(why, "more than 1000 spans cannot be merged") &&
		      strstr(why, "raise spans="),
	      "says: %s", why);
	check_equal(write_full("spans=2000,exact=121000ns-121800ns", FULL + 500,
			       why, &how),
		    0);
	ktape_registry_free(registry);
}

/* Times of a damaged trace, whose differences are no times: UBSan says if one overflows. */
static void wild_times(void)
{
	static const uint64_t times[] = { 1000, INT64_MAX,	  3ULL << 62,
					  5,	UINT64_MAX - 100, 1ULL << 62 };
	struct page_sink p;

	open_page_sink(&p, "html", NULL, &scene_info);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		const struct ktape_notice lost = {
			.kind = KTAPE_NOTICE_LOST,
			.stream = true,
			.count = 1,
			.from = times[i],
			.to = times[ARRAY_SIZE(times) - 1 - i],
		};

		check_equal(add_span_loss(p.sink, times[i]), 0);
		check_equal(ktape_sink_notice(p.sink, &lost), 0);
	}
	check_equal(ktape_sink_finish(p.sink), 0);
	close_page_sink(&p);
}

/* When nothing more can be merged, further spans do not begin to merge all again. */
static void full_page_is_left(void)
{
	struct page_sink p;
	const struct html *h;
	uint64_t short_ns = 0;

	open_page_sink(&p, "html", "spans=1000", &scene_info);
	h = p.html;
	for (unsigned int i = 0; i < FULL + 500; i++) {
		check_equal(add_span_loss(p.sink, 1000 + i * 100), 0);
		if (i == FULL)
			short_ns = h->level.short_ns;
	}
	/* The limit (level.c): spans that are longer are not merged. */
	check_equal(short_ns, 1ULL << 40);
	check_equal(h->level.short_ns, short_ns);
	check_equal(h->level.nr, FULL);
	close_page_sink(&p);
}

/* Hits that a probe missed are in no count of losses: the page has the event, and no span. */
static void missed_hits(void)
{
	uint32_t args[] = { 1000, 0, 1010, 0, 3, 0, 5 };
	const struct ktape_event e = {
		.ts = 1020,
		.dat20 = KTAPE_OP_PROBE,
		.args = args,
		.nargs = ARRAY_SIZE(args),
		.known = true,
		.kind = KTAPE_RING_CONTROL,
		.opcode = KTAPE_EV_MISSED,
	};
	struct page_sink p;
	const struct html *h;

	open_page_sink(&p, "html", NULL, &scene_info);
	h = p.html;
	check_equal(ktape_sink_event(p.sink, &e), 0);
	check_equal(h->all_events, 1);
	check_equal(h->events, 1);
	check_equal(h->level.nr, 0);
	check_equal(add_span_loss(p.sink, 2000), 0);
	check_equal(h->level.nr, 1);
	close_page_sink(&p);
}

/*
 * The page shows moments as its origin plus nanoseconds; a range that is given by such
 * times has them, whatever is rounded.
 */
static void exact_as_shown(void)
{
	struct ktape_info info = scene_info;

	info.freq = 3000000000;
	info.mono_offset_ns = 777;
	for (uint32_t ts = 1000; ts < 1006; ts++) {
		struct page_sink p;
		char range[80];
		const struct html *h;
		int64_t mono;

		/* What the page has as its origin: that of a page without a range. */
		info.offset = ts % 3;
		mono = ktape_epoch_ns(&info, ts + 20) -
		       ktape_epoch_ns(&info, 0) + ktape_mono_ns(&info, 0);
		snprintf(range, sizeof(range), "exact=%lldns-%lldns",
			 (long long)mono + 10, (long long)mono + 500);
		open_page_sink(&p, "html", range, &info);
		check_equal(add_span_loss(p.sink, ts), 0);
		h = p.html;
		check_equal(h->exact.from, 10);
		check_equal(h->exact.to, 500);
		close_page_sink(&p);
	}
}

/* A thread that leaves its CPU dead is in no system call any more, without process_exit. */
static void dead_thread(void)
{
	struct page_sink p;
	const uint32_t on[] = { 0, 42 }, off[] = { 42, 0 };
	struct ktape_event e = { .ts = 1000,
				 .args = on,
				 .nargs = 2,
				 .known = true,
				 .opcode = KTAPE_EV_SCHED_SWITCH };
	const struct html_span *call = NULL;
	const struct html *h;

	open_page_sink(&p, "html", NULL, &scene_info);
	h = p.html;
	check_equal(ktape_sink_event(p.sink, &e), 0);
	e = (struct ktape_event){
		.ts = 2000, .known = true, .tid = 42, .dat20 = 60, .opcode = KTAPE_EV_SYS_ENTER
	};
	check_equal(ktape_sink_event(p.sink, &e), 0);
	e = (struct ktape_event){ .ts = 3000,
				  .args = off,
				  .nargs = 2,
				  .known = true,
				  .tid = 42,
				  .dat20 = KTAPE_STATE_Z << 16,
				  .opcode = KTAPE_EV_SCHED_SWITCH };
	check_equal(ktape_sink_event(p.sink, &e), 0);
	for (size_t i = 0; i < h->level.nr; i++) {
		if (h->level.spans[i].kind == HTML_CALL)
			call = &h->level.spans[i];
	}
	check(call, "the call goes on");
	if (call) {
		check_equal(call->tid, 42);
		check_equal(call->dur, ktape_ticks_to_ns(&scene_info, 1000));
		check_equal(call->flags & HTML_NO_END, HTML_NO_END);
	}
	close_page_sink(&p);
}

/*
 * The wide events of system calls take the place of sys_enter and sys_exit, which a profile with
 * them does not have.  The page says that calls are not recorded (HTML_OFF_CALLS) only if neither
 * form of a begin or of an end is: here in the last case.
 */
static void wide_calls(void)
{
	static const struct {
		uint8_t opcodes[2];
		unsigned int spans;
	} cases[] = {
		{ { KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT_WIDE }, 0 },
		{ { KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT }, 0 },
		{ { KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_ENTER_WIDE }, 1 },
	};
	const uint32_t generation = 1;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t mask[KTAPE_MASK_WORDS] = { 0 };
		struct page_sink p;
		struct ktape_event e = { .ts = 1000,
					 .args = &generation,
					 .nargs = 1,
					 .blob = mask,
					 .blob_size = sizeof(mask),
					 .known = true,
					 .dat20 = KTAPE_PHASE_ON,
					 .opcode = KTAPE_EV_PROFILE };
		const struct html *h;
		unsigned int spans = 0;

		open_page_sink(&p, "html", NULL, &scene_info);
		h = p.html;
		for (size_t k = 0; k < 2; k++)
			kt_mask_add(mask, cases[i].opcodes[k]);
		check_equal(ktape_sink_event(p.sink, &e), 0);
		/* Another profile ends the spans of this one. */
		memset(mask, 0, sizeof(mask));
		e.ts = 2000;
		check_equal(ktape_sink_event(p.sink, &e), 0);
		for (size_t k = 0; k < h->level.nr; k++)
			spans += h->level.spans[k].kind == HTML_OFF &&
				 h->level.spans[k].depth == HTML_OFF_CALLS;
		check_equal(spans, cases[i].spans);
		close_page_sink(&p);
	}
}

/* A page draws a marker that is open up to 16 times, and counts further begins. */
static void nested_markers(void)
{
	const uint32_t id = 5;
	struct ktape_event e = { .ts = 1000,
				 .args = &id,
				 .nargs = 1,
				 .blob = "",
				 .known = true,
				 .tid = 42,
				 .dat20 = 1,
				 .opcode = KTAPE_EV_MARK_BEGIN };
	struct page_sink p;
	const char *what = NULL;

	open_page_sink(&p, "html", NULL, &scene_info);
	for (unsigned int i = 0; i < 16; i++, e.ts++)
		check_equal(ktape_sink_event(p.sink, &e), 0);
	check_equal(ktape_sink_missed(p.sink, 0, &what), 0);
	for (unsigned int i = 0; i < 2; i++, e.ts++)
		check_equal(ktape_sink_event(p.sink, &e), 0);
	check_equal(ktape_sink_missed(p.sink, 0, &what), 2);
	check(what && !strcmp(what, "markers nested deeper than 16"), "%s", what);
	close_page_sink(&p);
}

/* Losses that the reader finds have their spans on a full page; others are counted. */
static void full_page_has_losses(void)
{
	struct page_sink p;
	char text[4096], want[80];
	const struct html *h;
	size_t lost = 0, by_class = 0;

	open_page_sink(&p, "html", "spans=1000", &scene_info);
	h = p.html;
	for (unsigned int i = 0; i < FULL + 500; i++) {
		const struct ktape_notice n = {
			.kind = KTAPE_NOTICE_LOST,
			.stream = true,
			.from = 1030 + i * 100,
			.to = 1040 + i * 100,
		};

		check_equal(add_span_loss(p.sink, 1000 + i * 100), 0);
		check_equal(ktape_sink_notice(p.sink, &n), 0);
	}
	for (size_t i = 0; i < h->level.nr; i++) {
		lost += h->level.spans[i].kind == HTML_LOST;
		by_class += h->level.spans[i].kind == HTML_LOSS;
	}
	/* The last one may go on. */
	check_equal(lost, FULL + 500 - 1);
	check_equal(h->cpus[0].losses[0].kind, HTML_LOST);
	check_equal(h->level.nr - lost, FULL);
	check_equal(h->level.left_out[HTML_LOSS], FULL + 500 - by_class);
	snprintf(want, sizeof(want), ",\n\"left_out\":{\"lost by class\":%zu}",
		 FULL + 500 - by_class);
	*html_level_left_out(h, text) = '\0';
	check(!strcmp(text, want), "says: %s", text);
	check_equal(ktape_sink_finish(p.sink), 0);
	close_page_sink(&p);
}

static void no_texts(void)
{
	struct page_sink p;

	open_page_sink(&p, "csv", NULL, &scene_info);
	check_equal(ktape_sink_takes_texts(p.sink), false);
	check_equal(ktape_sink_attach(p.sink, "stats", "{}", 2), -EOPNOTSUPP);
	close_page_sink(&p);
}

static const struct tap_test tests[] = {
	{ "deflate: every kind and length of bytes comes back", deflate_round },
	{ "a page of a scene with a loss", scene_page },
	{ "names that would end a script or a text", hostile_names },
	{ "a page that is full of spans that cannot be merged", full_page },
	{ "a full page does not merge all for each further span", full_page_is_left },
	{ "times of which the page cannot tell the difference", wild_times },
	{ "hits that a probe missed", missed_hits },
	{ "markers that are open many times", nested_markers },
	{ "a range has the times that the page shows", exact_as_shown },
	{ "a full page has the place of each loss, and counts what it leaves out",
	  full_page_has_losses },
	{ "a dead thread is in no system call", dead_thread },
	{ "wide events of system calls take the place of the others", wide_calls },
	{ "other formats keep no texts", no_texts },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
