// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test logs in pieces, compressed or not: every event is in exactly one piece,
 * every loss is reported by exactly one, each piece can be read alone, and
 * damage in compressed data costs the damaged part only.
 */
#include <stdio.h>
#include <zstd.h>

#include "lib_device.h"

#define PIECES	6U
#define NUMBERS 100000U /* records per ring, maximum */

static char folder[280];
static char piece[PIECES][320];
static unsigned char seen[RINGS][NUMBERS];

struct form {
	const char *name;
	const char *end;
	unsigned int flags;
};

static const struct form forms[] = {
	{ "directories", "", 0 },
	{ "plain writes", "", KTAPE_RECORD_NO_URING },
	{ "compressed", "", KTAPE_RECORD_ZSTD },
	{ "files", ".ktape", KTAPE_RECORD_FILE },
	{ "compressed files", ".ktape.zst", KTAPE_RECORD_FILE | KTAPE_RECORD_ZSTD },
};

/* Contents of a piece. */
struct holds {
	struct trace_result r;
	bool sealed; /* the metadata has a valid checksum */
	unsigned int twice; /* records that were seen before, or have no valid number */
	unsigned int strangers; /* events of other threads than their block's */
	unsigned int profiles;	/* records repeated at the beginning */
	unsigned int filters;
	unsigned int sessions;
};

static void take_event(struct holds *h, const struct ktape_event *e)
{
	uint32_t ring, nr;

	if (e->kind == KTAPE_RING_REGISTRY) {
		h->profiles += e->opcode == KTAPE_EV_PROFILE &&
			       ktape_event_arg(e, 0) == GENERATION;
		h->filters += e->opcode == KTAPE_EV_FILTER;
		h->sessions += e->opcode == KTAPE_EV_SESSION;
		return;
	}
	h->r.events++;
	if (e->opcode != TRACE_OPCODE)
		return;
	ring = ktape_event_arg(e, 0);
	nr = ktape_event_arg(e, 1);
	if (ring >= RINGS || nr >= NUMBERS || seen[ring][nr]++)
		h->twice++;
	/* CPU 0 has two rings, whose headers name different threads. */
	if (ring == 1 && e->tid != 1001)
		h->strangers++;
}

static void read_piece(const char *path, struct holds *h)
{
	const struct ktape_trace_options how = {
		.notice = trace_notice,
		.arg = &h->r,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;
	const char *text;
	size_t len;

	memset(h, 0, sizeof(*h));
	h->r.opened = ktape_trace_open(path, &how, &t, &h->r.error);
	if (h->r.opened)
		return;
	text = ktape_trace_metadata(t, &len);
	h->sealed = !ktape_metadata_check(text, len, NULL);
	while ((h->r.ended = ktape_trace_next(t, &e)) > 0)
		take_event(h, e);
	ktape_trace_close(t);
}

static void begin_pieces(const struct form *f)
{
	unsigned int i;

	trace_remove(folder);
	if (mkdir(folder, 0777))
		abort();
	for (i = 0; i < PIECES; i++)
		snprintf(piece[i], sizeof(piece[i]), "%s/%u%s", folder, i, f->end);
	memset(seen, 0, sizeof(seen));
	device_begin();
}

static struct ktape_recorder *open_log(const struct form *f)
{
	struct ktape_recorder_options how = {
		.dir = piece[0],
		.flags = f->flags | KTAPE_RECORD_PIECES,
		.remark = "a log for tests",
	};
	struct ktape_recorder *r;

	if (ktape_recorder_open(&device, &how, &r))
		abort();
	return r;
}

static void drain_recorder(struct ktape_recorder *r)
{
	while (ktape_recorder_step(r) > 0)
		;
}

/* Lose @n events of a ring: the headers of later blocks and the control page count them. */
static void lose(unsigned int ring, unsigned int n)
{
	rings[ring].lost += n;
	device_page(ring)->emitted[0] += n;
	device_page(ring)->lost[KTAPE_LOST_FULL][0] += n;
}

/* With partial blocks; losses before, during and after a rotation; quiet rings. */
static void test_pieces(void)
{
	struct ktape_recorder_stats stats;
	unsigned int k, i, total, lost;
	struct ktape_recorder *r;
	struct holds h;

	for (k = 0; k < 2 * ARRAY_SIZE(forms); k++) {
		const struct form *f = &forms[k / 2];

		closes = k % 2;
		begin_pieces(f);
		r = open_log(f);
		for (i = 1; i < PIECES; i++) {
			device_grow(1 + i % 3, 50 * i);
			lose(0, 10);
			drain_recorder(r);
			lose(1, i);
			check(!ktape_recorder_rotate(r, piece[i]), "%s: rotate",
			      f->name);
			lose(0, 1);
		}
		device_grow(3, 30);
		check(!ktape_recorder_finish(r), "%s: finish", f->name);
		ktape_recorder_stats(r, &stats);
		ktape_recorder_close(r);
		check_equal(stats.records, emitted);
		for (i = 0, total = 0, lost = 0; i < PIECES; i++) {
			read_piece(piece[i], &h);
			check(!h.r.opened && !h.r.ended && !h.r.corrupt &&
				      !h.r.truncated && !h.r.packets,
			      "%s: piece %u: %d, %s", f->name, i, h.r.opened,
			      h.r.error.text);
			check(h.sealed, "%s: piece %u: the metadata", f->name, i);
			check(!h.twice && !h.strangers && h.r.events,
			      "%s: piece %u: %u events, %u twice, %u threads",
			      f->name, i, h.r.events, h.twice, h.strangers);
			/* Only later pieces repeat them at their beginning. */
			check(!i || (h.profiles == 1 && h.filters == 1 &&
				     h.sessions == 1),
			      "%s: piece %u: %u profiles, %u filters, %u sessions",
			      f->name, i, h.profiles, h.filters, h.sessions);
			total += h.r.events;
			lost += (unsigned int)h.r.lost;
		}
		check_equal(total, emitted);
		check_equal(lost, stats.lost);
	}
	closes = true;
}

/* Everything recorded before a flush is there, although the log was not closed. */
static void test_pieces_flush(void)
{
	struct ktape_recorder *r;
	struct holds h;
	unsigned int k;

	for (k = 0; k < 2 * ARRAY_SIZE(forms); k++) {
		const struct form *f = &forms[k / 2];

		closes = k % 2;
		begin_pieces(f);
		r = open_log(f);
		device_grow(2, 33);
		check(!ktape_recorder_flush(r), "%s: flush", f->name);
		read_piece(piece[0], &h);
		check(!h.r.corrupt && !h.r.truncated, "%s: damaged", f->name);
		check_equal(h.r.events, emitted);
		device_grow(1, 5);
		check(!ktape_recorder_flush(r), "%s: flush", f->name);
		memset(seen, 0, sizeof(seen));
		read_piece(piece[0], &h);
		check_equal(h.r.events, emitted);
		ktape_recorder_finish(r);
		ktape_recorder_close(r);
	}
	closes = true;
}

/* If the next piece cannot be created, the recording continues in the old one. */
static void test_piece_refused(void)
{
	struct ktape_recorder_stats stats;
	struct ktape_recorder *r;
	char path[640];
	struct holds h;
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(forms); k++) {
		begin_pieces(&forms[k]);
		r = open_log(&forms[k]);
		device_grow(0, 3);
		ktape_recorder_stats(r, &stats);
		check_equal(stats.pending, emitted);
		check_equal(stats.piece_records, 0);
		device_grow(2, 3);
		check(ktape_recorder_rotate(r, piece[0]) == -EEXIST, "itself");
		snprintf(path, sizeof(path), "%s/none/%s", folder, "x.ktape");
		check(ktape_recorder_rotate(r, path) == -ENOENT, "no folder");
		device_grow(1, 3);
		check(!ktape_recorder_finish(r), "finish");
		ktape_recorder_stats(r, &stats);
		ktape_recorder_close(r);
		read_piece(piece[0], &h);
		check_equal(h.r.events, emitted);
		check_equal(stats.piece_records, emitted);
	}
}

/*
 * Log a session that has recorded before: events that were overwritten, lost or
 * cleared before do not count, and a piece without new events is empty.
 */
static void test_past(void)
{
	struct ktape_recorder_stats stats;
	struct ktape_recorder *r;
	unsigned int i, had;

	closes = false;
	begin_pieces(&forms[0]);
	/* Blocks 0 to 4 were overwritten. */
	device_grow(BLOCKS + 3, 20);
	for (i = 0; i < RINGS; i++) {
		lose(i, 9);
		device_page(i)->tail = 5 * BLOCK;
	}
	device_page(1)->floor = device_page(1)->commit;
	had = emitted;
	r = open_log(&forms[0]);
	ktape_recorder_stats(r, &stats);
	check_equal(stats.emitted + stats.lost + stats.filtered, 0);
	drain_recorder(r);
	ktape_recorder_stats(r, &stats);
	check(stats.piece_records && stats.piece_records < had, "%llu records",
	      (unsigned long long)stats.piece_records);
	/* In the open blocks: ring 1 was cleared. */
	check_equal(stats.pending, 2 * 20);
	check_equal(stats.missed, 0);
	check(!ktape_recorder_flush(r), "flush");
	check(!ktape_recorder_rotate(r, piece[1]), "rotate");
	ktape_recorder_stats(r, &stats);
	check_equal(stats.piece_records, 0);
	check_equal(stats.pending, 0);
	/* 5 more in each open block. */
	device_grow(0, 25);
	ktape_recorder_stats(r, &stats);
	check_equal(stats.pending, 3 * 5);
	check_equal(stats.emitted, 3 * 5);
	check_equal(stats.lost, 0);
	check(!ktape_recorder_finish(r), "finish");
	ktape_recorder_close(r);
	closes = true;
}

static void make_log_piece(const struct form *f)
{
	struct ktape_recorder *r;

	begin_pieces(f);
	r = open_log(f);
	device_grow(BLOCKS - 1, 0);
	ktape_recorder_finish(r);
	ktape_recorder_close(r);
}

static void test_remark(void)
{
	char path[640], *remark;
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(forms); k++) {
		make_log_piece(&forms[k]);
		check(!ktape_piece_remark(piece[0], &remark) &&
			      !strcmp(remark, "a log for tests"),
		      "%s", forms[k].name);
		free(remark);
		check(!ktape_piece_remove(piece[0]) && access(piece[0], F_OK),
		      "%s: the piece was not removed", forms[k].name);
	}
	make_log_piece(&forms[2]);
	trace_append(folder, "0/metadata", "/* one */ x */\n", 15);
	check_equal(ktape_piece_remark(piece[0], &remark), -ENOENT);
	snprintf(path, sizeof(path), "%s/zoo", piece[0]);
	trace_append(folder, "0/zoo", "x", 1);
	check(ktape_piece_remove(piece[0]) == -EEXIST,
	      "the folder has another file");
	snprintf(path, sizeof(path), "%s/cpu0.zst", piece[0]);
	check(!access(path, F_OK), "a file was removed");
	trace_append(folder, "file.ktape", "hello, I am no trace", 20);
	snprintf(path, sizeof(path), "%s/file.ktape", folder);
	check(ktape_piece_remove(path) == -EEXIST && !access(path, F_OK),
	      "no trace");
}

/* All data that a killed recorder has written can be read. */
static void test_pieces_cut(void)
{
	unsigned int k, before = 0, cut;
	struct holds h;
	struct stat st;

	/* The forms that are one file. */
	for (k = 3; k < ARRAY_SIZE(forms); k++) {
		make_log_piece(&forms[k]);
		if (stat(piece[0], &st))
			abort();
		read_piece(piece[0], &h);
		before = h.r.events;
		for (cut = 0; st.st_size > 2000; cut++) {
			st.st_size -= 977;
			if (truncate(piece[0], st.st_size))
				abort();
			read_piece(piece[0], &h);
			if (h.r.opened)
				break;
			check(!h.r.corrupt && h.r.events <= before,
			      "%s: %lld bytes: %u events of %u, %s",
			      forms[k].name, (long long)st.st_size, h.r.events,
			      before, h.r.last.error.text);
			before = h.r.events;
		}
		check(cut > 5, "%s: only %u cuts", forms[k].name, cut);
	}
}

/* A bad bit costs one packet. */
static void test_flip(void)
{
	unsigned int flips = 0, whole, blind = 0, most = 0;
	uint64_t at = 0;
	struct holds h;
	struct stat st;

	make_log_piece(&forms[4]);
	if (stat(piece[0], &st))
		abort();
	read_piece(piece[0], &h);
	whole = h.r.events;
	for (at = 0; at < (uint64_t)st.st_size; at += 199) {
		trace_flip(piece[0], at, 0x10);
		memset(seen, 0, sizeof(seen));
		read_piece(piece[0], &h);
		trace_flip(piece[0], at, 0x10);
		if (h.r.opened) /* its metadata */
			continue;
		flips++;
		/* A bit without meaning costs nothing: only then is nothing reported. */
		blind += !h.r.corrupt && !h.r.truncated && h.r.events != whole;
		check(!h.twice && h.r.events <= whole, "byte %llu: %u events",
		      (unsigned long long)at, h.r.events);
		if (whole - h.r.events > most)
			most = whole - h.r.events;
	}
	tap_note("%u flips, at most %u events of %u lost, %u not noticed",
		 flips, most, whole, blind);
	/* A record has 16 bytes: fewer events than two blocks have. */
	check(flips > 30 && !blind && most && most < 2 * BLOCK / 16,
	      "%u flips, %u untold", flips, blind);
}

/* Write 64 MiB of zeros as one frame of zstd, with a window of 2^@window bytes. */
static void put_frame(const char *path, int level, int window)
{
	const size_t len = 64U << 20;
	unsigned char *data = calloc(1, len), *to = malloc(len);
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ZSTD_inBuffer in = { data, len, 0 };
	ZSTD_outBuffer out = { to, len, 0 };
	FILE *f = fopen(path, "w");

	if (!data || !to || !c || !f)
		abort();
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window);
	if (ZSTD_compressStream2(c, &out, &in, ZSTD_e_flush) ||
	    ZSTD_compressStream2(c, &out, &in, ZSTD_e_end) ||
	    fwrite(to, 1, out.pos, f) != out.pos || fclose(f))
		abort();
	ZSTD_freeCCtx(c);
	free(data);
	free(to);
}

/* Input compressed by other tools: a wide window, a single frame of zeros, a cut one. */
static void test_pieces_foreign(void)
{
	char path[640];
	struct holds h;

	begin_pieces(&forms[0]);
	snprintf(path, sizeof(path), "%s/wide.zst", folder);
	put_frame(path, 1, 28);
	read_piece(path, &h);
	check(h.r.opened == -EBADMSG && h.r.corrupt == 1 &&
		      strstr(h.r.last.error.text, "window"),
	      "wide: %d, %s", h.r.opened, h.r.last.error.text);
	snprintf(path, sizeof(path), "%s/zeros.zst", folder);
	put_frame(path, 1, 20);
	read_piece(path, &h);
	check(h.r.opened == -EBADMSG, "zeros: %d", h.r.opened);
	trace_append(folder, "short.zst", "\x28\xb5\x2f\xfd", 4);
	snprintf(path, sizeof(path), "%s/short.zst", folder);
	read_piece(path, &h);
	check(h.r.opened == -EBADMSG, "short: %d", h.r.opened);
}

static const struct tap_test tests[] = {
	{ "each event and each loss is in one piece", test_pieces },
	{ "a flush leaves nothing out", test_pieces_flush },
	{ "a piece that cannot be created", test_piece_refused },
	{ "the log of a session that has recorded before", test_past },
	{ "pieces are recognised and removed, other files are not", test_remark },
	{ "truncated pieces", test_pieces_cut },
	{ "a bad bit costs one packet", test_flip },
	{ "files compressed by other tools", test_pieces_foreign },
};

int main(int argc, char **argv)
{
	const char *mine = trace_folder();
	int status;

	snprintf(folder, sizeof(folder), "%s/log", mine);
	status = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	trace_remove(mine);
	return status;
}
