// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the memory and work that it takes to read hostile input, for each format (see
 * lib_bounds.h). Memory is bounded for any amount of input, and twice the input takes about
 * twice the work, which is the number of branches in libktape. A scene is one kind of input; it
 * runs in a process of its own, and returns how many losses and damages were reported.
 */
#include "lcg.h"
#include "lib_bounds.h"
#include "lib_tband.h"

static FILE *out;
static uint64_t window;

static void add_tband_frame(uint32_t id, uint64_t ts, uint64_t value)
{
	struct kt_tband_event e = { .id = (uint8_t)id, .ts = ts, .values = { value } };
	uint8_t plain[64], frame[80];
	size_t len = kt_tband_encode(&e, plain);

	fwrite(frame, 1, kt_cobs_encode(frame, plain, len), out);
}

/*
 * Read the whole trace with each analysis. Return: number of reported losses
 * and damages.
 */
static uint64_t read_analysed_trace(const char *format)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.format = format,
		.flags = KTAPE_TRACE_SORTED,
		.window = window,
	};
	struct ktape_rtos *all;
	const struct ktape_event *e;
	struct ktape_linux *stats;
	struct ktape_trace *t;
	char path[CODEC_PATH];

	fflush(out);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(out));
	must_succeed(ktape_rtos_new(&all));
	if (!ktape_trace_open(path, &how, &t, NULL)) {
		must_succeed(ktape_linux_new(ktape_trace_info(t),
					     ktape_trace_registry(t), &stats));
		while (ktape_trace_next(t, &e) > 0) {
			free(codec_line(t, e));
			must_succeed(ktape_rtos_take(all, e));
			must_succeed(ktape_linux_take(stats, e));
		}
		must_succeed(ktape_linux_finish(stats));
		ktape_linux_free(stats);
		ktape_trace_close(t);
	}
	must_succeed(ktape_rtos_finish(all));
	ktape_rtos_free(all);
	fclose(out);
	return reported.corrupt + reported.truncated + reported.gaps;
}

static void begin_file(void)
{
	out = tmpfile();
	if (!out)
		abort();
}

static uint64_t zeros(uint64_t n)
{
	begin_file();
	while (n--)
		putc(0, out);
	return read_analysed_trace("tband");
}

static void add_noise(uint64_t n)
{
	uint64_t seed = 1;

	begin_file();
	while (n--)
		putc((int)lcg_below(&seed, 256), out);
}

static uint64_t noise_tband(uint64_t n)
{
	add_noise(n);
	return read_analysed_trace("tband");
}

static uint64_t noise_rkh(uint64_t n)
{
	add_noise(n);
	return read_analysed_trace("rkh");
}

static uint64_t markers(uint64_t n)
{
	begin_file();
	for (uint64_t i = 0; i < n; i++)
		add_tband_frame(KT_TBAND_EVTMARKER, i, (uint32_t)i);
	return read_analysed_trace("tband");
}

/*
 * Each core fills the reordering window once and keeps an event of the far
 * future.
 */
static uint64_t bursts(uint64_t n)
{
	window = 1 << 20;
	begin_file();
	for (uint64_t i = 0; i < n; i++) {
		uint64_t core = i >> 15;

		if (!(i & 0x7fff))
			add_tband_frame(KT_TBAND_CORE_ID, core + 1, core);
		add_tband_frame(KT_TBAND_ISR_ENTER,
				(i & 0x7fff) == 0x7fff ? UINT64_MAX >> 8 : core + 1,
				3);
	}
	return read_analysed_trace("tband");
}

/* Frames that name an object each (0xa6): number, time, address, "n"; never one to be stuffed. */
static uint64_t rkh_objects(uint64_t n)
{
	begin_file();
	putc('~', out);
	for (uint64_t i = 0; i < n; i++) {
		uint8_t frame[] = { 0xa6,
				    (uint8_t)i,
				    1,
				    0,
				    0,
				    0,
				    (uint8_t)(i % 100),
				    (uint8_t)(i / 100 % 100),
				    (uint8_t)(i / 10000 % 100),
				    1,
				    'n',
				    0 };
		uint8_t sum = 0;

		if (frame[1] == 0x7e || frame[1] == 0x7d)
			continue;
		for (size_t b = 0; b < sizeof(frame); b++)
			sum = (uint8_t)(sum + frame[b]);
		sum = (uint8_t)-sum;
		fwrite(frame, 1, sizeof(frame), out);
		if (sum == 0x7e || sum == 0x7d)
			putc(0x7d, out);
		putc(sum == 0x7e || sum == 0x7d ? sum ^ 0x20 : sum, out);
		putc('~', out);
	}
	return read_analysed_trace("rkh");
}

static void put_word(uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		putc((int)(v >> i * 8 & 0xff), out);
}

/* A head of 48 bytes, a registry of threads, 48 bytes each, and an event of each in 32 bytes. */
static uint64_t tracex_objects(uint64_t n)
{
	uint32_t objects = 48, buffer = objects + (uint32_t)n * 48;
	uint32_t end = buffer + (uint32_t)n * 32;
	/* Magic, timer mask, base; registry, size of a name, its end; events, end, oldest. */
	const uint32_t head[] = { 0x54585442, UINT32_MAX, 0,	  objects,
				  32 << 16,   buffer,	  buffer, end,
				  buffer,     0,	  0,	  0 };

	begin_file();
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		put_word(head[i]);
	for (uint32_t i = 0; i < n; i++) {
		/* Bytes: in use, a thread, it has a priority, which is 5. */
		put_word(0x05800100);
		put_word(0x1000 + i * 64);
		for (unsigned int w = 0; w < 10; w++)
			put_word(w == 2 ? 'a' : 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		/* Thread, priority, queue_receive, time, four words. */
		const uint32_t entry[] = { 0x1000 + i * 64, 5, 68, i, 1, 2, 3, 4 };

		for (size_t w = 0; w < ARRAY_SIZE(entry); w++)
			put_word(entry[w]);
	}
	return read_analysed_trace("tracex");
}

/* Write a record at @address: an S3 record without data, or Intel HEX with one byte. */
static void add_hex_record(bool srec, uint32_t address)
{
	uint8_t b[] = { 5, (uint8_t)(address >> 24), (uint8_t)(address >> 16),
			(uint8_t)(address >> 8), (uint8_t)address };
	uint8_t sum = 0;

	for (size_t i = 0; i < sizeof(b); i++)
		sum = (uint8_t)(sum + b[i]);
	if (srec) {
		fprintf(out, "S3%02X%08X%02X\n", 5, address, (uint8_t)(0xff - sum));
		return;
	}
	fprintf(out, ":02000004%04X%02X\n", address >> 16,
		(uint8_t) - (6 + b[1] + b[2]));
	fprintf(out, ":01%04X0000%02X\n", address & 0xffff,
		(uint8_t) - (1 + b[3] + b[4]));
}

/* Records at descending addresses of the whole address space. */
static uint64_t records_hex(uint64_t n)
{
	begin_file();
	for (uint64_t i = 0; i < n; i++)
		add_hex_record(false, UINT32_MAX - (uint32_t)i * 1000003);
	return read_analysed_trace("tracex");
}

static uint64_t records_srec(uint64_t n)
{
	begin_file();
	for (uint64_t i = 0; i < n; i++)
		add_hex_record(true, UINT32_MAX - (uint32_t)i * 1000003);
	return read_analysed_trace("tracex");
}

/*
 * A limit is what is kept at most, with some room; of hex and srec that is an image of 256 MiB.
 * true: libktape has to report that it left something out.
 */
static void memory_input(void)
{
	check_scene_memory("zeros", zeros, 20000000, 64 * MIB, true);
	check_scene_memory("noise as tband", noise_tband, 4000000, 128 * MIB, true);
	check_scene_memory("noise as rkh", noise_rkh, 4000000, 128 * MIB, true);
	check_scene_memory("markers", markers, 1000000, 192 * MIB, false);
	check_scene_memory("bursts", bursts, 64 << 15, 256 * MIB, false);
	check_scene_memory("rkh", rkh_objects, 1000000, 448 * MIB, false);
	check_scene_memory("tracex", tracex_objects, 1000000, 640 * MIB, false);
	check_scene_memory("hex", records_hex, 20000, 288 * MIB, false);
	check_scene_memory("srec", records_srec, 20000, 288 * MIB, false);
}

static void linear_input(void)
{
	check_work("zeros", zeros, 1000000);
	check_work("noise as tband", noise_tband, 200000);
	check_work("noise as rkh", noise_rkh, 200000);
	check_work("markers", markers, 50000);
	check_work("bursts", bursts, 4 << 15);
	check_work("rkh", rkh_objects, 50000);
	check_work("tracex", tracex_objects, 20000);
	check_work("hex", records_hex, 100);
	check_work("srec", records_srec, 100);
}

static const struct tap_test tests[] = {
	{ "memory for reading", memory_input },
	{ "work of reading", linear_input },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
