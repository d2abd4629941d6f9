// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test ThreadX's trace buffer, which TraceX shows, in both directions, and the statistics of
 * threads. Vectors are made from the layout of the buffer; traces with the output of the original
 * engine are read if ../shared/golden has them.
 */
#include <sys/resource.h>
#include <time.h>

#include <ktape/formats.h>

#include "lcg.h"
#include "lib_gather.h"
#include "lib_tband.h"
#include "tap.h"

#define NAMES	15 /* entries of the registry; two are used */
#define ENTRIES 16
#define SIZE	(48 + NAMES * 48 + ENTRIES * 32)
#define BASE	0x20000000U
#define A	0x81000000U /* threads */
#define B	0x20001000U
#define ISR	0xffffffffU
#define INIT	0xf0f0f0f0U

/* ---- a trace made by hand --------------------------------------------------------- */

static uint8_t image[SIZE];
static bool big;		/* the image is big-endian */
static uint32_t name_size = 32; /* bytes of a name, as the header says */
static bool backwards; /* to_text() writes records at descending addresses */

static void put_image_word(size_t at, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		image[at + i] = (uint8_t)(v >> (big ? 24 - 8 * i : 8 * i));
}

/* Put a thread into the registry: in use, type 1, a priority (0x80), address, its stack, name. */
static void put_name(unsigned int nr, unsigned int prio, uint32_t address,
		     const char *name)
{
	size_t at = 48 + nr * 48;

	memcpy(image + at,
	       (uint8_t[]){ 0, 1, (uint8_t)(0x80 | prio >> 8), (uint8_t)prio }, 4);
	put_image_word(at + 4, address);
	put_image_word(at + 8, 0x1000);
	put_image_word(at + 12, 0x400);
	memcpy(image + at + 16, name, strlen(name));
}

/*
 * Context, priority, event, ticks since the previous event, four words.  Events: 1 and 2 are
 * thread_resume and _suspend, 3 and 4 isr_enter and _exit, 6 running, 52 and 57 mutex_get and
 * _put, 69 queue_send, 4096 is the user's.  0x80050005: priority 5, preemption threshold 5.
 */
static const uint32_t events[][8] = {
	{ INIT, 0, 6, 0, 0, 0, 0, 0 },
	{ A, 0x80050005, 52, 10, 0x500, 1, 0, 0 },
	{ A, 0x80050005, 2, 5, A, 4, 0x1100, B },
	{ B, 9, 69, 20, 0x600, 1, 2, 3 },
	{ ISR, B, 3, 30, 0x1234, 7, 0, B },
	{ ISR, B, 1, 2, A, 4, 0, A },
	{ ISR, B, 4, 3, 0x1234, 7, 0, 0 },
	{ A, 0x80050005, 4096, 40, 1, 2, 3, 4 },
	{ A, 0x80050005, 57, 5, 0x500, A, 1, 0x1080 },
	{ A, 0x80050005, 2, 5, A, 3, 0x10f0, 0 },
};
#define NR ARRAY_SIZE(events)

/* The oldest event is in the middle; the timer wraps at its mask.  @down: it counts down. */
static void make_tracex_image(uint32_t mask, bool down)
{
	uint32_t stamp = down ? 12 : mask - 11, end = BASE + SIZE;
	uint32_t registry = BASE + 48, buffer = registry + NAMES * 48;
	/* The size of a name has 16 bits, the other half of its word is not used. */
	const uint32_t words[] = {
		0x54585442, /* TXTB */
		mask,
		BASE,
		registry,
		name_size << (big ? 0 : 16),
		buffer, /* end of the registry */
		buffer,
		end,
		buffer + (ENTRIES - 4) * 32, /* the oldest event */
	};

	memset(image, 0, sizeof(image));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_image_word(i * 4, words[i]);
	put_name(0, 5, A, "alpha");
	put_name(1, 9, B, "beta");
	for (size_t i = 0; i < NR; i++) {
		size_t at = 48 + NAMES * 48 + (ENTRIES - 4 + i) % ENTRIES * 32;

		stamp = down ? stamp - events[i][3] : stamp + events[i][3];
		for (unsigned int w = 0; w < 8; w++)
			put_image_word(at + w * 4,
				       w == 3 ? stamp & mask : events[i][w]);
	}
}

/* ---- reading ------------------------------------------------------------------------ */

static struct ktape_rtos *stats_of(const char *path, const char *format, int *result)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.format = format,
		.flags = KTAPE_TRACE_SORTED,
	};
	struct ktape_rtos *rtos;
	const struct ktape_event *e;
	struct ktape_trace *t;

	*result = ktape_trace_open(path, &how, &t, NULL);
	if (ktape_rtos_new(&rtos) || *result)
		return rtos;
	while ((*result = ktape_trace_next(t, &e)) > 0) {
		*result = ktape_rtos_take(rtos, e);
		if (*result)
			break;
	}
	ktape_trace_close(t);
	if (ktape_rtos_finish(rtos))
		*result = -ENOMEM;
	return rtos;
}

/* Check what was counted by hand in @events. */
static void check_tracex_stats(const char *path, const char *what)
{
	int result;
	struct ktape_rtos *r = stats_of(path, NULL, &result);
	const struct ktape_rtos_totals *t = ktape_rtos_totals(r);
	const struct ktape_rtos_thread *a = ktape_rtos_thread(r, 0);

	check(!result, "%s: %d", what, result);
	if (result || !a) {
		check(a != NULL, "%s: no thread", what);
		ktape_rtos_free(r);
		return;
	}
	check(t->threads == 2 && t->events == NR, "%s: %llu events", what,
	      (unsigned long long)t->events);
	check(t->max_ticks == 120, "%s: %llu ticks", what,
	      (unsigned long long)t->max_ticks);
	check(t->context_switches == 3, "%s: %llu switches", what,
	      (unsigned long long)t->context_switches);
	check(t->interrupts == 1 && t->interrupt_ticks == 5, "%s: %llu in isr",
	      what, (unsigned long long)t->interrupt_ticks);
	check(t->suspensions == 2 && t->resumptions == 1, "%s", what);
	check(!strcmp(a->name, "alpha") && a->address == A, "%s: %s", what, a->name);
	check(a->stack_min == 0x80 && a->stack_event == 8, "%s: stack %u", what,
	      a->stack_min);
	check(a->lowest_prio == 5 && a->highest_threshold == 5, "%s", what);
	check(a->ticks == 65, "%s: %llu", what, (unsigned long long)a->ticks);
	ktape_rtos_free(r);
}

static void read_image(const char *what)
{
	char path[CODEC_PATH];
	int fd = codec_file(path, image, sizeof(image));

	check_tracex_stats(path, what);
	close(fd);
}

/* The event's name comes first, then each word with its name. */
static void tracex_word_names(void)
{
	static const char *const lines[] = {
		"user_event: mutex_get mutex_ptr=0x500 wait_option=1 ",
		"user_event: thread_suspend thread_ptr=0x81000000 new_state=4 stack_ptr=0x1100 next_thread=0x20001000 thread=0x81000000 priority_word=0x80050005",
		"user_event: queue_send queue_ptr=0x600 source_ptr=0x1 wait_option=2 enqueued=3 thread=0x20001000 priority_word=0x9",
		"user_event: isr_enter stack_ptr=0x1234 isr_number=7 ",
		"user_event: trace_object ",
		/* The user's own event has no name. */
		"user_event: task=0 id=4096 args=[0x1 0x2 0x3 0x4 0x81000000 0x80050005]",
	};
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
	};
	unsigned int found = 0;
	const struct ktape_event *e;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	int fd;

	big = false;
	make_tracex_image(0xffff, false);
	fd = codec_file(path, image, sizeof(image));
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		char *line = codec_line(t, e);

		for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
			found |= strstr(line, lines[i]) ? 1U << i : 0;
		free(line);
	}
	ktape_trace_close(t);
	check_equal(found, (1U << ARRAY_SIZE(lines)) - 1);
	close(fd);
}

/*
 * A priority has 10 bits, of which two are in the byte before.  One that Linux does not have
 * becomes the greatest that it has, and not what its lower 8 bits say.
 */
static void wide_priorities(void)
{
	struct ktape_trace_options how = { .format = "tracex" };
	const uint32_t wanted[] = { 139, 9 };
	const struct ktape_event *e;
	struct ktape_trace *t;
	char path[CODEC_PATH];
	unsigned int nr = 0;
	int fd;

	big = false;
	make_tracex_image(0xffff, false);
	put_name(0, 300, A, "alpha");
	fd = codec_file(path, image, sizeof(image));
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	while (ktape_trace_next(t, &e) > 0) {
		if (e->opcode != KTAPE_EV_REGISTRY ||
		    (e->dat20 & 0xff) != KTAPE_OBJ_THREAD)
			continue;
		if (nr < ARRAY_SIZE(wanted))
			check_equal(ktape_event_arg(e, 2), wanted[nr]);
		nr++;
	}
	ktape_trace_close(t);
	check_equal(nr, ARRAY_SIZE(wanted));
	close(fd);
}

static void tracex_byte_orders(void)
{
	static const uint32_t masks[] = { 0xffff, 0xffffff, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(masks) * 4; i++) {
		char what[64];

		big = i & 1;
		make_tracex_image(masks[i / 4], i & 2);
		snprintf(what, sizeof(what), "mask %x%s%s", masks[i / 4],
			 i & 1 ? ", big endian" : "", i & 2 ? ", down" : "");
		read_image(what);
	}
	big = false;
	/* Registry entries are whole words, whatever the length of their names. */
	for (name_size = 29; name_size < 32; name_size++) {
		make_tracex_image(UINT32_MAX, false);
		read_image("entries with filling");
	}
	name_size = 32;
}

static void tracex_round_trip(void)
{
	static const char *const how[] = { NULL, "endian=big" };
	char path[CODEC_PATH], middle[CODEC_PATH], last[CODEC_PATH];
	struct codec_reports reported;

	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		int in, native, out;

		make_tracex_image(0xffff, i);
		in = codec_file(path, image, sizeof(image));
		native = codec_convert(path, "native", "form=pipe", &reported);
		check(native >= 0, "%d", native);
		snprintf(middle, sizeof(middle), "/proc/self/fd/%d", native);
		check_tracex_stats(middle, "native");
		out = codec_convert(middle, "tracex", how[i], &reported);
		check(out >= 0, "%d", out);
		snprintf(last, sizeof(last), "/proc/self/fd/%d", out);
		check_tracex_stats(last, "again");
		close(in);
		close(native);
		close(out);
	}
}

/* Print the image as Intel HEX or S-records; @bad breaks a checksum. */
static size_t to_text(char *to, bool srec, bool bad)
{
	char *p = to;

	if (!srec)
		p += sprintf(p, ":020000042000DA\n");
	for (size_t n = 0; n < SIZE; n += 16) {
		size_t at = backwards ? SIZE - 16 - n : n;
		/* The length, and the address: of S-records all of it, so 0x20 of BASE, too. */
		unsigned int sum = srec ? 21 + 0x20 + (unsigned int)(at >> 8) :
					  16 + (unsigned int)(at >> 8);

		sum += at & 0xff;
		p += srec ? sprintf(p, "S315%08zX", BASE + at) :
			    sprintf(p, ":10%04zX00", at);
		for (unsigned int i = 0; i < 16; i++) {
			p += sprintf(p, "%02X", image[at + i]);
			sum += image[at + i];
		}
		sum = (srec ? ~sum : 0 - sum) + (bad && at == 480);
		p += sprintf(p, "%02X\r\n", sum & 0xff);
	}
	p += sprintf(p, srec ? "S70520000000DA\n" : ":00000001FF\n");
	return (size_t)(p - to);
}

static void tracex_text_records(void)
{
	static char text[SIZE * 4];

	make_tracex_image(UINT32_MAX, false);
	for (unsigned int i = 0; i < 8; i++) {
		struct codec_reports reported;
		char path[CODEC_PATH];
		int fd, out;

		backwards = i & 4;
		fd = codec_file(path, text, to_text(text, i & 1, i & 2));
		if (!(i & 2))
			check_tracex_stats(path, i & 1 ? "S-records" : "Intel HEX");
		out = codec_convert(path, "jsonl", NULL, &reported);
		check(out >= 0, "%d %s", out, reported.text);
		check(!!reported.corrupt == !!(i & 2), "%u damages",
		      reported.corrupt);
		close(out);
		close(fd);
	}
}

/* Append an S-record whose 16 bytes are all bits 4 to 11 of its address. */
static char *put_srec(char *p, uint32_t address)
{
	unsigned int sum = 21;

	p += sprintf(p, "S315%08X", address);
	for (uint32_t a = address; a; a >>= 8)
		sum += a & 0xff;
	for (unsigned int i = 0; i < 16; i++)
		p += sprintf(p, "%02X", address >> 4 & 0xff);
	sum += 16 * (address >> 4 & 0xff);
	return p + sprintf(p, "%02X\n", ~sum & 0xff);
}

/* Return the most memory that this process has had resident, in KiB. */
static long most_memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Records of few bytes that are far from each other, up and down, hold few pages. */
static void far_apart(void)
{
	struct ktape_trace_options how = { .format = "tracex" };
	long before = most_memory(), grown;
	char path[CODEC_PATH], text[4096], *p = text;
	struct ktape_error error;
	struct ktape_trace *t;
	int fd;

	for (uint32_t i = 0; i < 16; i++)
		p = put_srec(p, 0x20000000 + ((i & 1 ? i : 16 - i) << 23));
	fd = codec_file(path, text, (size_t)(p - text));
	check_equal(ktape_trace_open(path, &how, &t, &error), -EBADMSG);
	check(strstr(error.text, "no TXTB"), "%s", error.text);
	close(fd);
	grown = most_memory() - before;
	check(grown < 8 << 10, "%ld KiB for %zd bytes", grown, p - text);
}

/*
 * A large gap, then records at descending addresses: memory must not be moved
 * for each of them. That once took minutes, so CPU time is a reliable
 * criterion.
 */
static void downwards(void)
{
	static char text[4096 * 64];
	const uint32_t middle = 0x18000000;
	clock_t begin = clock();
	char path[CODEC_PATH], *p = text;
	struct ktape_trace_options how = { .format = "tracex" };
	struct ktape_error error;
	struct ktape_trace *t;
	int fd;

	p = put_srec(p, middle);
	p = put_srec(p, middle + (130U << 20));
	for (uint32_t i = 1; i < 4000; i++)
		p = put_srec(p, middle - i * 16);
	fd = codec_file(path, text, (size_t)(p - text));
	check_equal(ktape_trace_open(path, &how, &t, &error), -EBADMSG);
	check(strstr(error.text, "no TXTB"), "%s", error.text);
	check(clock() - begin < 10 * CLOCKS_PER_SEC, "%ld s",
	      (long)((clock() - begin) / CLOCKS_PER_SEC));
	close(fd);
}

static void custom(void)
{
	static const char file[] =
		"// ours\nStart\n"
		"4096, Sample, SA, (1,2,3), (4,5,6), left, right\nEnd\n";
	struct codec_reports reported = { 0 };
	char path[CODEC_PATH], names[CODEC_PATH], options[128];
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.format = "tracex",
		.format_options = options,
	};
	int fd = codec_file(names, file, strlen(file)), in;
	const struct ktape_event *e;
	struct ktape_trace *t;
	bool named = false;
	size_t len;

	make_tracex_image(UINT32_MAX, false);
	in = codec_file(path, image, sizeof(image));
	snprintf(options, sizeof(options), "custom=%s,hz=1000000", names);
	check(!ktape_trace_open(path, &how, &t, NULL), "open");
	check_equal(ktape_trace_info(t)->freq, 1000000);
	while (ktape_trace_next(t, &e) > 0) {
		const char *source = ktape_trace_source(t, &len);

		named |= source && memmem(source, len, "\"Sample\"", 8) &&
			 memmem(source, len, "\"right\":2", 9);
	}
	check(named, "the event has no name");
	ktape_trace_close(t);
	snprintf(options, sizeof(options), "custom=%s", path);
	check_equal(ktape_trace_open(path, &how, &t, NULL), -EINVAL);
	close(in);
	close(fd);
}

/* Converted events give the same statistics when they are read back. */
static void exported(void)
{
	static struct stream stream;
	char path[CODEC_PATH], again[CODEC_PATH];
	const struct ktape_rtos_totals *x, *y;
	struct ktape_rtos *a, *b;
	struct codec_reports reported;
	int in, out, result;

	stream_all(&stream);
	in = codec_file(path, stream.data, stream.len);
	a = stats_of(path, NULL, &result);
	check(!result, "%d", result);
	out = codec_convert(path, "tracex", "hz=1000000", &reported);
	check(out >= 0, "%d %s", out, reported.text);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", out);
	b = stats_of(again, NULL, &result);
	check(!result, "%d", result);
	x = ktape_rtos_totals(a);
	y = ktape_rtos_totals(b);
	check(x->context_switches && x->suspensions && x->resumptions && x->interrupts,
	      "nothing to count");
	check_equal(y->events, x->events);
	check_equal(y->context_switches, x->context_switches);
	check_equal(y->preemptions, x->preemptions);
	check_equal(y->suspensions, x->suspensions);
	check_equal(y->resumptions, x->resumptions);
	check_equal(y->interrupts, x->interrupts);
	check_equal(y->interrupt_ticks, x->interrupt_ticks);
	check_equal(y->idle_ticks, x->idle_ticks);
	ktape_rtos_free(a);
	ktape_rtos_free(b);
	close(in);
	close(out);
}

/* ---- inversions ----------------------------------------------------------------------- */

static void inversions(void)
{
	/*
	 * B owns the mutex and A waits for it; if @bad, a thread of priority 20 runs meanwhile.
	 * 120, time_get, says nothing but who runs.
	 */
	static const uint32_t list[][8] = {
		{ B, 9, 52, 1, 0x500, 1, 0, 0 },
		{ A, 5, 52, 1, 0x500, 1, B, 1 },
		{ A, 5, 2, 1, A, 13, 0, B },
		{ B, 9, 120, 1, 0, 0, 0, 0 },
		{ 0x20002000, 20, 120, 1, 0, 0, 0, 0 },
		{ B, 9, 57, 1, 0x500, B, 1, 0 },
		{ A, 5, 120, 1, 0, 0, 0, 0 },
	};
	int result;

	for (unsigned int bad = 0; bad < 2; bad++) {
		char path[CODEC_PATH];
		struct ktape_rtos *r;
		const struct ktape_rtos_event *e;
		int fd;

		make_tracex_image(UINT32_MAX, false);
		memset(image + 48 + NAMES * 48, 0, ENTRIES * 32);
		for (size_t i = 0, at = 48 + NAMES * 48; i < ARRAY_SIZE(list); i++) {
			if (!bad && list[i][1] == 20)
				continue;
			for (unsigned int w = 0; w < 8; w++, at += 4)
				put_image_word(at, w == 3 ? (uint32_t)i :
							    list[i][w]);
		}
		fd = codec_file(path, image, sizeof(image));
		r = stats_of(path, NULL, &result);
		check_equal(ktape_rtos_totals(r)->inversions, 1);
		check_equal(ktape_rtos_totals(r)->bad_inversions, bad);
		/* The inversion begins when A asks, and ends with the last event. */
		e = ktape_rtos_event(r, 1);
		check(e && (bad ? e->bad : e->inversion) == 5 + bad,
		      "ends at %llu", e ? (unsigned long long)e->bad : 0);
		ktape_rtos_free(r);
		close(fd);
	}
}

/* ---- what is wrong ---------------------------------------------------------------------- */

static void read_mutant(const uint8_t *data, size_t len)
{
	char path[CODEC_PATH];
	int fd = codec_file(path, data, len), result;

	ktape_rtos_free(stats_of(path, "tracex", &result));
	close(fd);
}

/* Cut images, and images and texts with changed bytes, must neither crash nor hang. */
static void tracex_hostile(void)
{
	static char text[SIZE * 4];
	static uint8_t copy[SIZE * 4];
	uint64_t seed = 1;

	make_tracex_image(0xffff, false);
	for (size_t cut = 0; cut < SIZE; cut += cut < 160 ? 1 : 13)
		read_mutant(image, cut);
	for (unsigned int i = 0; i < 3000; i++) {
		size_t len = i % 3 ? to_text(text, i & 1, false) : SIZE;
		const void *from = i % 3 ? (void *)text : (void *)image;

		memcpy(copy, from, len);
		for (unsigned int j = 0; j < 1 + i % 5; j++) {
			size_t at = lcg_next(&seed) % (i & 1 ? len : 48);

			copy[at] = (uint8_t)lcg_next(&seed);
		}
		read_mutant(copy, len);
	}
}

/* ---- golden traces ------------------------------------------------------------------------- */

static void compare_events(const char *stem)
{
	char path[256], line[512], want[512];
	const struct ktape_rtos_event *e;
	struct ktape_rtos *r;
	uint64_t i = 0;
	FILE *f;
	int result;

	snprintf(path, sizeof(path), GOLDEN "%s.trx", stem);
	r = stats_of(path, NULL, &result);
	check(!result, "%s: %d", path, result);
	snprintf(path, sizeof(path), GOLDEN "%s.events.txt", stem);
	f = fopen(path, "r");
	check(f != NULL, "%s", path);
	for (; f && fgets(want, sizeof(want), f); i++) {
		e = ktape_rtos_event(r, i);
		if (!e)
			break;
		snprintf(line, sizeof(line),
			 "%llu ctx=%08x id=%u prio=%x ts=%08x rel=%llu i1=%08x i2=%08x i3=%08x i4=%08x next=%08x pinv=%llu bad=%llu\n",
			 (unsigned long long)i, e->context, e->id, e->prio,
			 e->stamp, (unsigned long long)e->ticks, e->info[0],
			 e->info[1], e->info[2], e->info[3], e->next,
			 (unsigned long long)e->inversion,
			 (unsigned long long)e->bad);
		check(!strcmp(line, want), "%s: %.200s", stem, line);
	}
	check_equal(i, ktape_rtos_totals(r)->events);
	if (f)
		fclose(f);
	ktape_rtos_free(r);
}

static void tracex_golden(void)
{
	if (access(GOLDEN "threadx_32.trx", R_OK)) {
		tap_skip("there is no " GOLDEN);
		return;
	}
	compare_events("threadx_32");
	compare_events("demo_threadx");
	compare_events("demo_filex");
}

static const struct tap_test tests[] = {
	{ "events and words by their names", tracex_word_names },
	{ "priorities of more than 8 bits", wide_priorities },
	{ "byte orders, masks, directions", tracex_byte_orders },
	{ "round trip", tracex_round_trip },
	{ "exported and read back", exported },
	{ "Intel HEX and S-records", tracex_text_records },
	/* Before a test that may need more: the most that was resident never falls. */
	{ "records far apart take little memory", far_apart },
	{ "records at descending, distant addresses", downwards },
	{ "names of user events", custom },
	{ "priority inversions", inversions },
	{ "hostile input", tracex_hostile },
	{ "golden traces", tracex_golden },
};

static int write_tracex_seeds(const char *dir)
{
	static char text[SIZE * 4];
	int err = 0;

	for (unsigned int i = 0; i < 4; i++) {
		const void *data = i < 2 ? (void *)image : (void *)text;
		size_t len = SIZE;
		char name[16];

		big = i == 1;
		make_tracex_image(0xffff, i & 1);
		if (i >= 2)
			len = to_text(text, i & 1, false);
		/* The first byte for fuzz_codec.c: detected, and every other one sorted. */
		snprintf(name, sizeof(name), "tracex-%u", i);
		err |= write_seed(dir, name, (unsigned char)((i & 1) << 4),
				  data, len);
	}
	return err;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return write_tracex_seeds(argv[2]);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
