// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test damaged, truncated and oversized traces under AddressSanitizer and
 * UBSan: readable parts are read, and each error is reported as what it is.
 */
#include "lib_trace.h"

#define PACKETS 8U
#define ALL	(PACKETS * TRACE_RECORDS)

static char dir[400];	    /* a trace as a folder: one stream */
static char stream[420];    /* its stream */
static char pipe_form[420]; /* the same as a pipe form ... */
static uint64_t pipe_begin; /* ... whose packets begin here */

/* Create both forms of a trace of PACKETS packets, each padded to TRACE_PACKET. */
static void make_trace(bool sealed)
{
	unsigned char data[TRACE_PACKET];
	unsigned int i;
	int fd;

	trace_remove(dir);
	if (mkdir(dir, 0777))
		abort();
	trace_metadata(dir);
	unlink(pipe_form);
	fd = open(pipe_form, O_WRONLY | O_CREAT | O_APPEND, 0666);
	trace_begin_pipe(fd);
	pipe_begin = (uint64_t)lseek(fd, 0, SEEK_END);
	for (i = 0; i < PACKETS; i++) {
		struct trace_packet p = { .seq = i + 1, .ts = 1000 + i * 100 };

		trace_packet(data, &p);
		trace_fill(data, TRACE_PACKET);
		if (!sealed)
			trace_unseal(data);
		trace_append(dir, "cpu0", data, sizeof(data));
		if (write(fd, data, sizeof(data)) != sizeof(data))
			abort();
	}
	close(fd);
}

static void flip_both(uint64_t offset, unsigned char bits)
{
	trace_flip(stream, offset, bits);
	trace_flip(pipe_form, pipe_begin + offset, bits);
}

static void cut_both_forms(uint64_t size)
{
	if (truncate(stream, (off_t)size) ||
	    truncate(pipe_form, (off_t)(pipe_begin + size)))
		abort();
}

/* Read a pipe form from a real pipe. */
static void read_live(struct trace_result *r)
{
	char command[500];
	int saved = dup(STDIN_FILENO);
	FILE *f;

	snprintf(command, sizeof(command), "cat '%s'", pipe_form);
	f = popen(command, "r");
	if (!f || dup2(fileno(f), STDIN_FILENO) < 0)
		abort();
	trace_read("-", 0, r);
	dup2(saved, STDIN_FILENO);
	close(saved);
	pclose(f);
}

/* Split the pipe form and read the folder; the notices are those of the split. */
static void read_split(struct trace_result *r)
{
	struct trace_result split = { .opened = 0 };
	const struct ktape_trace_options how = {
		.notice = trace_notice,
		.arg = &split,
	};
	char to[420];
	int err;

	snprintf(to, sizeof(to), "%s.split", dir);
	trace_remove(to);
	err = ktape_split(pipe_form, to, false, &how, &split.error);
	trace_read(to, 0, r);
	r->corrupt += split.corrupt;
	r->truncated += split.truncated;
	if (err)
		r->opened = err;
}

static const struct {
	const char *name;
	void (*read)(struct trace_result *r);
} live_forms[] = {
	{ "a pipe", read_live },
	{ "split", read_split },
};

/* What reading the trace in every form has to give. */
struct want {
	unsigned int events;
	unsigned int corrupt;
	unsigned int truncated;
};

static bool differs(const char *form, const struct trace_result *r,
		    const struct want *want)
{
	if (!r->opened && !r->ended && r->events == want->events &&
	    r->corrupt == want->corrupt && r->truncated == want->truncated)
		return false;
	tap_fail("%s: opened %d, ended %d, %u events for %u, corrupt %u for %u, truncated %u for %u: %s",
		 form, r->opened, r->ended, r->events, want->events, r->corrupt,
		 want->corrupt, r->truncated, want->truncated, r->last.error.text);
	return true;
}

static void expect_events(unsigned int events, unsigned int corrupt,
			  unsigned int truncated)
{
	const struct want want = { events, corrupt, truncated };
	struct trace_result r;
	size_t i;

	trace_read(dir, 0, &r);
	if (differs("folder", &r, &want))
		return;
	trace_read(stream, 0, &r);
	if (differs("stream", &r, &want))
		return;
	trace_read(pipe_form, 0, &r);
	if (differs("pipe form", &r, &want))
		return;
	for (i = 0; i < ARRAY_SIZE(live_forms); i++) {
		live_forms[i].read(&r);
		if (differs(live_forms[i].name, &r, &want))
			return;
	}
}

static void test_trace_whole(void)
{
	make_trace(true);
	expect_events(ALL, 0, 0);
	make_trace(false);
	expect_events(ALL, 0, 0);
}

/* A size of 32 MiB in one packet costs that packet. */
static void test_bad_size(void)
{
	make_trace(true);
	flip_both(3 * TRACE_PACKET + AT_PACKET_BITS + 3, 0x10);
	expect_events(ALL - TRACE_RECORDS, 1, 0);
}

/* Without a checksum not even that packet, because the next one can be found. */
static void test_bad_size_unsealed(void)
{
	make_trace(false);
	flip_both(3 * TRACE_PACKET + AT_PACKET_BITS + 3, 0x10);
	expect_events(ALL, 1, 0);
	make_trace(false);
	flip_both(3 * TRACE_PACKET + AT_PACKET_BITS + 3, 0x10);
	flip_both(3 * TRACE_PACKET + AT_CONTENT_BITS + 3, 0x10);
	expect_events(ALL - TRACE_RECORDS, 1, 0);
}

/* Flip one bit in each byte of a header: that packet is lost, and no other. */
static void test_bad_heads(void)
{
	struct trace_result r;
	unsigned int at;

	make_trace(true);
	for (at = 0; at < KTAPE_BLOCK_HEADER; at++) {
		if (at == AT_FLAGS)
			continue; /* clears the checksum flag */
		flip_both(2 * TRACE_PACKET + at, 1U << at % 8);
		trace_read(dir, 0, &r);
		check(!r.opened && r.events == ALL - TRACE_RECORDS &&
			      r.corrupt == 1 && !r.truncated,
		      "folder, byte %u: %u events, corrupt %u, truncated %u",
		      at, r.events, r.corrupt, r.truncated);
		trace_read(pipe_form, 0, &r);
		check(!r.opened && r.events == ALL - TRACE_RECORDS &&
			      r.corrupt == 1 && !r.truncated,
		      "pipe form, byte %u: %u events, corrupt %u, truncated %u",
		      at, r.events, r.corrupt, r.truncated);
		flip_both(2 * TRACE_PACKET + at, 1U << at % 8);
	}
	tap_note("%u bytes", at);
}

/* Flip any bit, in a file and in a pipe: at most one packet is lost. */
static void test_random_bits(void)
{
	const uint64_t size = PACKETS * TRACE_PACKET;
	struct trace_result r;
	unsigned int i;

	make_trace(true);
	srand(1);
	for (i = 0; i < 400; i++) {
		uint64_t at = (uint64_t)rand() % size;
		unsigned char bits = (unsigned char)(1U << rand() % 8);

		/* Most of a packet is padding: a flip there does not count. */
		if (i % 8)
			at = at / TRACE_PACKET * TRACE_PACKET + at % 256;
		flip_both(at, bits);
		trace_read(dir, 0, &r);
		check(!r.opened && !r.ended && r.events <= ALL &&
			      r.events >= ALL - TRACE_RECORDS && !r.truncated,
		      "folder, byte %llu: %u events", (unsigned long long)at,
		      r.events);
		if (i % 4)
			trace_read(pipe_form, 0, &r);
		else
			read_live(&r);
		check(!r.opened && !r.ended && r.events <= ALL &&
			      r.events >= ALL - TRACE_RECORDS && !r.truncated,
		      "pipe form, byte %llu: %u events", (unsigned long long)at,
		      r.events);
		flip_both(at, bits);
	}
}

/* Near the end of a file it is damage all the same. */
static void test_bad_end(void)
{
	make_trace(true);
	flip_both((PACKETS - 1) * TRACE_PACKET + 1, 1);
	expect_events(ALL - TRACE_RECORDS, 1, 0);
	make_trace(true);
	flip_both((PACKETS - 1) * TRACE_PACKET + KTAPE_BLOCK_HEADER + 9, 1);
	expect_events(ALL - TRACE_RECORDS, 1, 0);
	make_trace(true);
	flip_both((PACKETS - 1) * TRACE_PACKET + AT_PACKET_BITS + 3, 0x10);
	expect_events(ALL - TRACE_RECORDS, 1, 0);
}

static void test_trace_cut(void)
{
	const uint64_t last = (PACKETS - 1) * TRACE_PACKET;

	make_trace(true);
	cut_both_forms(last + KTAPE_BLOCK_HEADER + 40); /* 16 bytes a record */
	expect_events(ALL - 2, 0, 1);
	make_trace(true);
	cut_both_forms(last + KTAPE_BLOCK_HEADER - 1);
	expect_events(ALL - TRACE_RECORDS, 0, 1);
	make_trace(true);
	cut_both_forms(last + 1);
	expect_events(ALL - TRACE_RECORDS, 0, 1);
	make_trace(true);
	cut_both_forms(last + TRACE_PACKET - 1); /* in the padding */
	expect_events(ALL, 0, 1);
	make_trace(true);
	cut_both_forms(last);
	expect_events(ALL - TRACE_RECORDS, 0, 0);
}

/* A notice names the stream of a folder, and none in a pipe form; a link to itself is refused. */
static void test_named(void)
{
	struct trace_result r;
	char path[420];

	make_trace(true);
	flip_both(TRACE_PACKET + KTAPE_BLOCK_HEADER, 1);
	trace_read(dir, 0, &r);
	check(r.corrupt == 1 && r.last.stream && r.last.cpu == 0, "corrupt %u",
	      r.corrupt);
	trace_read(pipe_form, 0, &r);
	check(r.corrupt == 1 && !r.last.stream, "corrupt %u", r.corrupt);
	snprintf(path, sizeof(path), "%s/cpu1", dir);
	check(!symlink("cpu1", path), "symlink");
	trace_read(dir, 0, &r);
	check(r.opened == -ELOOP && !strcmp(r.error.text, "cpu1"), "%d: %s",
	      r.opened, r.error.text);
}

/* A metadata packet that is cut off, and metadata that is a FIFO, which has no end. */
static void test_metadata_cut(void)
{
	struct trace_result r;
	char path[420];

	make_trace(true);
	check(!truncate(pipe_form, (off_t)pipe_begin - 1), "truncate");
	trace_read(pipe_form, 0, &r);
	check(r.opened == -EBADMSG && strstr(r.error.text, "cut off"), "%d: %s",
	      r.opened, r.error.text);
	make_trace(true);
	snprintf(path, sizeof(path), "%s/metadata", dir);
	unlink(path);
	check(!mkfifo(path, 0666), "mkfifo");
	alarm(200);
	trace_read(dir, 0, &r);
	alarm(0);
	check(r.opened == -EBADMSG, "a pipe as metadata: %d", r.opened);
}

/* ---- memory --------------------------------------------------------------- */

/* Padding takes no memory, content does. */
static void test_trace_memory(void)
{
	const uint64_t size = 32U << 20;
	unsigned char data[TRACE_PACKET];
	struct trace_result r;
	uint64_t bits;
	char name[16];
	unsigned int i;

	trace_remove(dir);
	check(!mkdir(dir, 0777), "mkdir");
	trace_metadata(dir);
	for (i = 0; i < 8; i++) {
		struct trace_packet p = { .cpu = i, .seq = 1, .ts = 1000 };
		char path[440];

		trace_packet(data, &p);
		trace_fill(data, size);
		snprintf(name, sizeof(name), "cpu%u", i);
		trace_append(dir, name, data, sizeof(data));
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		check(!truncate(path, (off_t)size), "truncate");
	}
	trace_read(dir, 1 << 20, &r);
	check(!r.opened && !r.ended && r.events == 8 * TRACE_RECORDS &&
		      !r.corrupt && !r.truncated,
	      "%d, %d: %u events", r.opened, r.ended, r.events);
	bits = size * 8;
	memcpy(data + AT_CONTENT_BITS, &bits, sizeof(bits));
	trace_unseal(data);
	for (i = 0; i < 8; i++) {
		uint32_t cpu = i;
		char path[440];

		memcpy(data + offsetof(struct ktape_block, cpu), &cpu, sizeof(cpu));
		snprintf(name, sizeof(name), "cpu%u", i);
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		check(!truncate(path, 0), "truncate");
		trace_append(dir, name, data, sizeof(data));
		check(!truncate(path, (off_t)size), "truncate");
	}
	trace_read(dir, 1 << 20, &r);
	check(r.opened == -ENOBUFS || r.ended == -ENOBUFS, "%d, %d", r.opened,
	      r.ended);
}

/* Write a packet of CPU 1 without events, after a loss of @lost events. */
static void write_empty(uint64_t seq, uint64_t ts, uint64_t lost)
{
	struct ktape_block head = { .cpu = 1, .seq = seq, .ts_begin = ts };
	unsigned char data[TRACE_PACKET] = { 0 };
	struct ktape_builder b;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, sizeof(data), &head);
	ktape_build_end(&b, ts + 100, lost);
	trace_fill(data, sizeof(data));
	trace_append(dir, "cpu1", data, sizeof(data));
}

/* Opening reads the loss of CPU 1, whose place is behind where CPU 0 cannot be read. */
static void test_held_loss(void)
{
	const struct trace_packet first = { .seq = 1, .ts = 1000 };
	const struct trace_packet large = { .seq = 2, .ts = 2000 };
	const uint64_t size = 32U << 20, bits = size * 8;
	unsigned char data[TRACE_PACKET];
	struct trace_result r;
	char path[440];

	trace_remove(dir);
	check(!mkdir(dir, 0777), "mkdir");
	trace_metadata(dir);
	trace_packet(data, &first);
	trace_fill(data, sizeof(data));
	trace_append(dir, "cpu0", data, sizeof(data));
	trace_packet(data, &large);
	trace_fill(data, size);
	memcpy(data + AT_CONTENT_BITS, &bits, sizeof(bits));
	trace_unseal(data);
	trace_append(dir, "cpu0", data, sizeof(data));
	snprintf(path, sizeof(path), "%s/cpu0", dir);
	check(!truncate(path, (off_t)(sizeof(data) + size)), "truncate");
	write_empty(1, 1000, 0);
	write_empty(2, 50000, 5);
	trace_read(dir, 1 << 20, &r);
	check(!r.opened && r.ended == -ENOBUFS, "%d, %d", r.opened, r.ended);
	check_equal(r.events, TRACE_RECORDS);
	check_equal(r.gaps, 1);
	check_equal(r.lost, 5);
}

/* ---- names ---------------------------------------------------------------- */

static void name_record(struct ktape_builder *b, uint64_t ts, uint64_t born,
			uint64_t died)
{
	const uint32_t args[7] = {
		77,
		70,
		120,
		(uint32_t)born,
		(uint32_t)(born >> 32),
		(uint32_t)died,
		(uint32_t)(died >> 32),
	};
	const struct ktape_record record = {
		.ts = ts,
		.args = args,
		.nargs = 7,
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = KTAPE_OBJ_THREAD | (died ? 1U << 8 : 0),
		.blob = "init2",
		.blob_size = 5,
	};

	if (ktape_build_add(b, &record))
		abort();
}

static void learn_thread_life(struct ktape_registry *registry, uint64_t ts,
			      uint64_t born, uint64_t died)
{
	struct ktape_block head = {
		.kind = KTAPE_RING_REGISTRY,
		.ts_begin = ts,
	};
	unsigned char data[TRACE_PACKET];
	struct ktape_builder b;
	struct ktape_packet p;
	struct ktape_event e;

	ktape_build_begin(&b, data, sizeof(data), &head);
	name_record(&b, ts, born, died);
	if (ktape_packet_open(&p, data, ktape_build_end(&b, ts, 0), NULL, NULL) ||
	    ktape_packet_next(&p, &e, NULL) != 1 ||
	    ktape_registry_add(registry, &e))
		abort();
}

/* A death counts, whichever stream has it first. */
static void test_death_first(void)
{
	const uint64_t s = 1000000000;
	struct ktape_registry *registry;
	bool alive, dead;
	int order;

	for (order = 0; order < 2; order++) {
		check(!ktape_registry_new(s, &registry), "no memory");
		if (order)
			learn_thread_life(registry, 50 * s, 10 * s, 20 * s);
		learn_thread_life(registry, 11 * s, 10 * s, 0);
		if (!order)
			learn_thread_life(registry, 50 * s, 10 * s, 20 * s);
		alive = ktape_registry_thread(registry, 77, 15 * s);
		dead = !ktape_registry_thread(registry, 77, 45 * s);
		ktape_registry_free(registry);
		check(alive && dead, "order %d: alive %d, dead %d", order,
		      alive, dead);
	}
}

/* One bad bit in the registry's first header costs that packet's names. */
static void test_registry_damaged(void)
{
	unsigned char data[TRACE_PACKET];
	const struct ktape_event *e;
	struct ktape_builder b;
	struct ktape_trace *t;
	unsigned int at, i;
	char path[420];
	size_t len;

	make_trace(true);
	for (i = 0; i < 2; i++) {
		struct ktape_block head = {
			.kind = KTAPE_RING_REGISTRY,
			.seq = i + 1,
			.context = KTAPE_CTX_CONTINUED,
		};

		memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
		ktape_build_begin(&b, data, sizeof(data), &head);
		name_record(&b, 5000 + i, 1, 0);
		len = ktape_build_end(&b, 5000 + i, 0);
		trace_append(dir, "registry", data, len);
	}
	snprintf(path, sizeof(path), "%s/registry", dir);
	for (at = 0; at < KTAPE_BLOCK_HEADER; at++) {
		trace_flip(path, at, 2);
		check(!ktape_trace_open(dir, NULL, &t, NULL), "byte %u", at);
		check(ktape_trace_next(t, &e) == 1, "byte %u", at);
		check(ktape_registry_thread(ktape_trace_registry(t), 77, 1000),
		      "no name, byte %u", at);
		ktape_trace_close(t);
		trace_flip(path, at, 2);
	}
}

static const struct tap_test tests[] = {
	{ "an intact trace", test_trace_whole },
	{ "a bad size costs one packet", test_bad_size },
	{ "a bad size without a checksum", test_bad_size_unsealed },
	{ "a bad bit in any byte of a header", test_bad_heads },
	{ "a bad bit anywhere", test_random_bits },
	{ "damage near the end is reported", test_bad_end },
	{ "a truncated file", test_trace_cut },
	{ "notices name the stream", test_named },
	{ "metadata without an end", test_metadata_cut },
	{ "memory for content only, and bounded", test_trace_memory },
	{ "a held loss is told if reading fails", test_held_loss },
	{ "names: an end that is read first", test_death_first },
	{ "names: a damaged registry", test_registry_damaged },
};

int main(int argc, char **argv)
{
	const char *folder = trace_folder();
	int status;

	snprintf(dir, sizeof(dir), "%s/trace", folder);
	snprintf(stream, sizeof(stream), "%s/cpu0", dir);
	snprintf(pipe_form, sizeof(pipe_form), "%s/pipe", folder);
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(folder);
	return status;
}
