// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a longer trace for timings: repeat the event rings of a trace, each time
 * later.
 *
 * 	repeat FROM TO TIMES	TO is a copy of FROM, a native folder
 *
 * Times are moved by multiples of the range of the clock's low half, so that
 * all records stay unchanged except time extensions.  The counters of packets go on, so
 * that the sum of each ring is right.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#define FILE_MAX (1U << 30)
#define TURN	 (1ULL << 32)

/* The contents of a file, and by how much a copy's numbers are larger. */
struct stream {
	unsigned char *data;
	size_t len;
	uint64_t numbers;
	uint64_t emitted;
	uint64_t filtered;
	uint64_t lost[KTAPE_LOST_REASONS];
	uint64_t discarded;
};

static struct stream load_stream(const char *path)
{
	struct stream s = { .data = NULL };
	ssize_t got;
	int fd = open(path, O_RDONLY);

	s.data = malloc(FILE_MAX);
	if (fd < 0 || !s.data)
		err(1, "%s", path);
	while ((got = read(fd, s.data + s.len, FILE_MAX - s.len)) > 0)
		s.len += (size_t)got;
	if (got < 0)
		err(1, "%s", path);
	close(fd);
	return s;
}

static struct ktape_block *stream_block(const struct stream *s, size_t at)
{
	struct ktape_block *b = (struct ktape_block *)(s->data + at);

	if (s->len - at < sizeof(*b) || b->magic != KTAPE_BLOCK_MAGIC ||
	    b->packet_bits / 8 > s->len - at || b->packet_bits % 64 ||
	    b->packet_bits / 8 < sizeof(*b))
		errx(1, "no packet at byte %zu", at);
	return b;
}

/* Move the times of time extensions: other records have only the low half. */
static void move_records(struct ktape_block *b, uint64_t by)
{
	struct ktape_packet p;
	struct ktape_event e;
	uint64_t ts;

	if (ktape_packet_open(&p, b, b->content_bits / 8, NULL, NULL))
		errx(1, "a bad packet");
	while (ktape_packet_next(&p, &e, NULL) > 0) {
		if (e.opcode != KTAPE_TIME_EXTEND)
			continue;
		ts = e.ts + by;
		memcpy((unsigned char *)b + e.offset + 8, &ts, sizeof(ts));
	}
}

static void move_block(struct ktape_block *b, uint64_t by, const struct stream *s)
{
	move_records(b, by);
	b->ts_begin += by;
	b->ts_end += by;
	b->seq += s->numbers;
	b->emitted += s->emitted;
	b->filtered += s->filtered;
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		b->lost[i] += s->lost[i];
	b->discarded += s->discarded;
	ktape_packet_seal(b);
}

/* Find the duration of the trace, and what the stream has counted: its first packet is empty. */
static void measure_stream(struct stream *s, uint64_t times[2])
{
	const struct ktape_block *first = stream_block(s, 0);

	for (size_t at = 0; at < s->len;) {
		const struct ktape_block *b = stream_block(s, at);

		s->numbers = b->seq - first->seq + 1;
		s->emitted = b->emitted - first->emitted;
		s->filtered = b->filtered - first->filtered;
		for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
			s->lost[i] = b->lost[i] - first->lost[i];
		s->discarded = b->discarded - first->discarded;
		if (b->ts_begin < times[0])
			times[0] = b->ts_begin;
		if (b->ts_end > times[1])
			times[1] = b->ts_end;
		at += b->packet_bits / 8;
	}
}

static void write_stream(const char *path, const struct stream *s,
			 unsigned int times, uint64_t by)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0)
		err(1, "%s", path);
	for (unsigned int i = 0; i < times; i++) {
		if (write(fd, s->data, s->len) != (ssize_t)s->len)
			err(1, "%s", path);
		for (size_t at = 0; at < s->len;) {
			struct ktape_block *b = stream_block(s, at);

			move_block(b, by, s);
			at += b->packet_bits / 8;
		}
	}
	close(fd);
}

int main(int argc, char **argv)
{
	uint64_t times[2] = { UINT64_MAX, 0 }, by;
	struct stream streams[64];
	char path[4096];
	int nr = 0;

	if (argc != 4)
		errx(2, "usage: repeat FROM TO TIMES");
	for (; nr < 64; nr++) {
		snprintf(path, sizeof(path), "%s/cpu%d", argv[1], nr);
		if (access(path, F_OK))
			break;
		streams[nr] = load_stream(path);
		measure_stream(&streams[nr], times);
	}
	if (!nr)
		errx(1, "%s: no streams", argv[1]);
	by = (times[1] - times[0] + TURN) & ~(TURN - 1);
	while (nr--) {
		snprintf(path, sizeof(path), "%s/cpu%d", argv[2], nr);
		write_stream(path, &streams[nr], (unsigned int)atoi(argv[3]), by);
	}
	return 0;
}
