// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the encodings of Parquet against decoders that are written here from the format's
 * description, on numbers that are hard: extremes, runs, ends of blocks.  Then a file, and what
 * the tables say of a session's ledgers.
 */
#include <stdlib.h>

#include "format/parquet/internal.h"
#include "parquet/encode.h"
#include "util/bits.h"
#include "lib_scene.h"

#define MOST 1000U

static uint64_t get_varint(const uint8_t **p)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		v |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return v;
	}
}

static int64_t get_zigzag(const uint8_t **p)
{
	uint64_t v = get_varint(p);

	return (int64_t)(v >> 1 ^ -(v & 1));
}

static uint64_t get_bits(const uint8_t *p, uint64_t at, unsigned int width)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < width; i++, at++)
		v |= (uint64_t)(p[at / 8] >> at % 8 & 1) << i;
	return v;
}

/*
 * Decode DELTA_BINARY_PACKED: blocks of 128 deltas, each of 4 miniblocks of 32 with a width of
 * their own.  Return: bytes read, 0 = the head is wrong.
 */
static size_t read_delta(const uint8_t *data, int64_t *v, size_t n, bool wide)
{
	const uint8_t *p = data, *widths;
	uint64_t value, least;

	if (get_varint(&p) != 128 || get_varint(&p) != 4 || get_varint(&p) != n)
		return 0;
	value = (uint64_t)get_zigzag(&p);
	v[0] = (int64_t)value;
	for (size_t at = 1; at < n; at += 128) {
		least = (uint64_t)get_zigzag(&p);
		widths = p;
		p += 4;
		for (size_t i = 0; i < 128 && at + i < n; i++) {
			unsigned int width = widths[i / 32];

			value += least + get_bits(p, i % 32 * width, width);
			v[at + i] = wide ? (int64_t)value : (int32_t)(uint32_t)value;
			if (i % 32 == 31 || at + i + 1 == n)
				p += width * 4U;
		}
	}
	return (size_t)(p - data);
}

/* Decode runs and groups of indexes.  Return: bytes read, 0 = a wrong run. */
static size_t read_indexes(const uint8_t *data, uint32_t *v, size_t n,
			   unsigned int width)
{
	const uint8_t *p = data;
	size_t at = 0;

	while (at < n) {
		uint64_t head = get_varint(&p), nr = head >> 1;

		if (head & 1) {
			for (size_t i = 0; i < nr * 8 && at < n; i++)
				v[at++] = (uint32_t)get_bits(p, i * width, width);
			p += nr * width;
			continue;
		}
		if (!nr || nr > n - at)
			return 0;
		while (nr-- && at < n)
			v[at++] = (uint32_t)get_bits(p, 0, width);
		p += (width + 7) / 8;
	}
	return (size_t)(p - data);
}

/* ---- numbers ------------------------------------------------------------------- */

static const int64_t extremes[] = {
	0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX, 0, INT64_MIN,
};

static int64_t number_of_kind(unsigned int kind, size_t i, bool wide)
{
	int64_t v;

	switch (kind) {
	case 0:
		v = extremes[i % ARRAY_SIZE(extremes)];
		break;
	case 1:
		v = (int64_t)i * 1000003;
		break;
	case 2:
		v = (int64_t)((uint64_t)random() << 33 ^ (uint64_t)random() << 2);
		break;
	default:
		v = i % 7 ? 5 : -5;
		break;
	}
	return wide ? v : (int32_t)(uint32_t)(uint64_t)v;
}

static void deltas(void)
{
	static uint8_t out[KT_PQ_DELTA_BOUND(MOST)];
	int64_t v[MOST], got[MOST];

	srandom(1);
	for (unsigned int kind = 0; kind < 8; kind++) {
		bool wide = kind & 1;

		for (size_t n = 1; n <= MOST; n += n < 300 ? 1 : 97) {
			size_t len, read;

			for (size_t i = 0; i < n; i++)
				v[i] = number_of_kind(kind / 2, i, wide);
			len = kt_pq_delta(out, v, n, wide);
			check(len <= KT_PQ_DELTA_BOUND(n), "%zu bytes of %zu",
			      len, n);
			read = read_delta(out, got, n, wide);
			check(read == len, "%zu bytes, read %zu", len, read);
			check(!memcmp(v, got, n * sizeof(*v)),
			      "kind %u, %zu numbers", kind, n);
		}
	}
}

static void indexes(void)
{
	static uint8_t out[KT_PQ_INDEXES_BOUND(MOST)];
	uint32_t v[MOST], got[MOST];

	srandom(2);
	for (unsigned int width = 0; width <= 20; width++) {
		for (size_t n = 1; n <= MOST; n += n < 100 ? 1 : 83) {
			size_t len, read;

			/* Runs of all lengths, from 1 to more than a group. */
			for (size_t i = 0; i < n; i++)
				v[i] = i && random() % 20 < (long)width ?
					       v[i - 1] :
					       (uint32_t)random() &
						       ((1U << width) - 1);
			len = kt_pq_indexes(out, v, n, width);
			check(len <= KT_PQ_INDEXES_BOUND(n), "%zu bytes", len);
			check(out[0] == width, "width %u", out[0]);
			read = read_indexes(out + 1, got, n, width) + 1;
			check(read == len, "%zu bytes, read %zu", len, read);
			check(!memcmp(v, got, n * sizeof(*v)),
			      "width %u, %zu indexes", width, n);
		}
	}
}

/* Which rows have a value: none, all, some, with an end inside of a byte. */
static void levels(void)
{
	static const struct {
		uint64_t there[2];
		size_t n;
		size_t some;
	} rows[] = {
		{ { 0, 0 }, 100, 0 },
		{ { UINT64_MAX, UINT64_MAX }, 128, 128 },
		{ { 0x8000000000000001, 5 }, 67, 4 },
		{ { 0x155, 0 }, 9, 5 },
	};
	uint8_t out[KT_PQ_BITS_BOUND(128)];
	uint32_t got[128];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = kt_pq_levels(out, rows[i].there, rows[i].n,
					  rows[i].some);

		check(kt_get32(out) == len - 4, "length of %zu", i);
		check(read_indexes(out + 4, got, rows[i].n, 1) == len - 4,
		      "bytes of %zu", i);
		for (size_t row = 0; row < rows[i].n; row++)
			check(got[row] == (rows[i].there[row / 64] >> row % 64 & 1),
			      "row %zu of %zu", row, i);
	}
}

static void bools(void)
{
	const int64_t v[] = { 1, 0, 0, 1, 1, 1, 0, 0, 1 };
	uint8_t out[KT_PQ_BITS_BOUND(ARRAY_SIZE(v))];

	check(kt_pq_bools(out, v, ARRAY_SIZE(v)) == 2, "bytes");
	check(out[0] == 0x39 && out[1] == 1, "%02x %02x", out[0], out[1]);
}

/* A file has its magic at both ends, and the columns of events between. */
static void single_file(void)
{
	static const char *const columns[] = {
		"trace_id", "ts_utc", "arg_prev_tid", "comm", "ktape.schema",
	};
	int fd = scene_write("parquet", "compress=none", NULL, true);
	char *data;
	size_t len;

	check(fd >= 0, "%d", fd);
	data = codec_content(fd, &len);
	close(fd);
	check(len > 1000 && !memcmp(data, "PAR1", 4) &&
		      !memcmp(data + len - 4, "PAR1", 4),
	      "no Parquet file");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		check(memmem(data, len, columns[i], strlen(columns[i])),
		      "no %s", columns[i]);
	free(data);
}

/* The moments of ledger records. */
enum { STOP, START };

/*
 * Records of the event ring's class sched, but those without @emitted: of class control in the
 * control ring, with which a ledger ends.  Records that a trace does not give are { STOP, 0, 0 }.
 */
struct ledger {
	unsigned int moment;
	uint64_t emitted;
	uint64_t full;
};

static void take_ledger(struct pq *pq, struct pq_cpu *c, uint64_t ts,
			const struct ledger *l)
{
	const uint64_t counts[7] = { l->emitted, 0, l->full };
	const struct ktape_event e = {
		.ts = ts,
		.blob = counts,
		.blob_size = sizeof(counts),
		.dat20 = l->moment << 8 | (l->emitted ? KTAPE_CLASS_SCHED :
							KTAPE_RING_CONTROL << 5),
		.kind = KTAPE_RING_CONTROL,
		.opcode = KTAPE_EV_LEDGER,
		.known = true,
	};
	const struct kt_line line = { .event = &e };

	pq_take_control(pq, c, &line);
}

/* What the ledgers say was emitted and lost is what was counted while the trace lasts. */
static void ledgers(void)
{
	static const struct {
		struct ledger records[4];
		int64_t emitted;
		int64_t lost;
	} traces[] = {
		/* the whole session: without events there is no record at its start */
		{ { { START, 0, 0 }, { STOP, 30, 4 }, { STOP, 0, 0 } }, 30, 4 },
		/* from the second start of a session on */
		{ { { START, 20, 1 }, { START, 0, 0 }, { STOP, 50, 4 } }, 30, 3 },
		/* two starts: events of the first run count */
		{ { { START, 0, 0 }, { START, 20, 1 }, { START, 0, 0 }, { STOP, 50, 4 } },
		  50,
		  4 },
		/* from the middle of a run on */
		{ { { STOP, 20, 1 }, { STOP, 50, 4 } }, 30, 3 },
	};
	struct ktape_info info = { .freq = 1000000000 };
	struct kt_sink sink = { .info = &info };

	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		struct pq_cpu cpu = { .seen = true }, *cpus = &cpu;
		struct pq *pq = calloc(1, sizeof(*pq));

		check(pq, "no memory");
		pq->s = &sink;
		check(!pq_schema_init(pq) && !pq_names_init(pq) &&
			      !pq_capture_init(pq),
		      "no memory");
		pq->cpus = &cpus;
		pq->nr_cpus = 1;
		for (size_t n = 0; n < ARRAY_SIZE(traces[i].records); n++)
			take_ledger(pq, &cpu, 100 + n, &traces[i].records[n]);
		check(!pq_put_capture(pq), "%zu: error %d", i, sink.error);
		check(pq->rows[PQ_CAPTURE].cells[PQ_CAPTURE_EMITTED].v[0] ==
			      traces[i].emitted,
		      "%zu: emitted %lld", i,
		      (long long)pq->rows[PQ_CAPTURE].cells[PQ_CAPTURE_EMITTED].v[0]);
		check(pq->rows[PQ_LOST].nr == 1 &&
			      pq->rows[PQ_LOST].cells[PQ_LOST_COUNT].v[0] ==
				      traces[i].lost,
		      "%zu: lost", i);
		pq_capture_free(pq);
		pq_schema_free(pq);
		kt_pq_pool_free(&pq->pool);
		free(pq);
	}
}

static const struct tap_test tests[] = {
	{ "deltas of numbers, also of the most different ones", deltas },
	{ "indexes of names, as runs and groups", indexes },
	{ "which rows have a value", levels },
	{ "truth values", bools },
	{ "one file: magic and columns", single_file },
	{ "ledgers count from where the trace begins", ledgers },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
