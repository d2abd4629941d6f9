/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make random traces: rings of several CPUs with names that change, threads that end,
 * equal times, losses, empty packets, clocks that step back, and bad records.
 */
#ifndef _LIB_RANDOM_H
#define _LIB_RANDOM_H

#include "lcg.h"
#include "lib_trace.h"

#define RANDOM_CPUS    3U
#define RANDOM_TIDS    40U    /* threads 100 to 139 */
#define RANDOM_SPAN    60000U /* ticks that a trace takes */
#define RANDOM_PACKETS 4096U
#define RANDOM_ROOM    4096U /* bytes of the largest packet */

/* What a trace has besides plain events. */
#define RANDOM_NAMES   (1U << 0)
#define RANDOM_LOSSES  (1U << 1)
#define RANDOM_EMPTY   (1U << 2)
#define RANDOM_SAME    (1U << 3) /* many equal times */
#define RANDOM_BACK    (1U << 4) /* the clock steps back, rarely */
#define RANDOM_BAD     (1U << 5) /* bad records, rarely */
#define RANDOM_CONTEXT (1U << 6) /* threads that headers do not name */

/* A packet; @nr numbers the packets of a trace as they were written. */
struct random_packet {
	unsigned int nr;
	unsigned int kind;
	unsigned int cpu;
	uint64_t ts;
	size_t len;
	unsigned char *data;
};

/**
 * struct random_trace - a random trace
 * @seed: state of the random numbers
 * @what: RANDOM_*
 * @begin: time at which it begins
 * @packets: its packets, ring by ring
 * @nr: entries of @packets
 */
struct random_trace {
	uint64_t seed;
	unsigned int what;
	uint64_t begin;
	struct random_packet packets[RANDOM_PACKETS];
	unsigned int nr;
};

/* A ring that is being written. */
struct random_ring {
	struct ktape_block head;
	struct ktape_builder b;
	uint64_t now;
	uint64_t discarded;
};

static uint32_t random_below(struct random_trace *r, uint32_t below)
{
	return lcg_below(&r->seed, below);
}

/* Return true in one of @one_of calls if the trace has @what, else false. */
static bool random_has(struct random_trace *r, unsigned int what, uint32_t one_of)
{
	return r->what & what && !random_below(r, one_of);
}

static void random_open(struct random_trace *r, struct random_ring *ring)
{
	static const uint8_t contexts[] = {
		KTAPE_CTX_TASK,
		KTAPE_CTX_CONTINUED,
		KTAPE_CTX_UNKNOWN,
	};
	struct random_packet *p = &r->packets[r->nr++];

	if (r->nr > RANDOM_PACKETS)
		abort();
	p->data = calloc(1, RANDOM_ROOM);
	if (!p->data)
		abort();
	if (random_has(r, RANDOM_BACK, 40))
		ring->now -= random_below(r, 3000);
	p->nr = r->nr;
	p->kind = ring->head.kind;
	p->cpu = ring->head.cpu;
	p->ts = ring->now;
	ring->head.ts_begin = ring->now;
	ring->head.seq += 1 + random_has(r, RANDOM_LOSSES, 30);
	ring->head.tid = 100 + (int32_t)random_below(r, RANDOM_TIDS);
	ring->head.context =
		r->what & RANDOM_CONTEXT ?
			contexts[random_below(r, ARRAY_SIZE(contexts))] :
			KTAPE_CTX_TASK;
	ktape_build_begin(&ring->b, p->data, 300 + random_below(r, 3000),
			  &ring->head);
}

static void random_close(struct random_trace *r, struct random_ring *ring)
{
	struct random_packet *p = &r->packets[r->nr - 1];
	uint64_t lost = random_has(r, RANDOM_LOSSES, 10) ? random_below(r, 9) : 0;
	struct ktape_block *h = (void *)p->data;

	ring->discarded += lost;
	p->len = ktape_build_end(&ring->b, ring->now + random_below(r, 3),
				 ring->discarded);
	h->emitted = 100; /* anything but 0, which means that a packet has no counts */
	h->lost[KTAPE_LOST_FULL] = ring->discarded;
	/* Records that are later than the header says. */
	if (random_has(r, RANDOM_BACK, 20))
		h->ts_end -= random_below(r, 2000);
	/* There is no checksum, and a record or the size is wrong. */
	if (p->len > KTAPE_BLOCK_HEADER && random_has(r, RANDOM_BAD, 40)) {
		if (random_below(r, 2))
			memset(p->data + p->len - 8, 0, 8);
		else
			h->packet_bits += 512;
		trace_unseal(p->data);
		return;
	}
	ktape_packet_seal(p->data);
}

/* Fill a record.  @args and @blob are room for it. */
static void random_record(struct random_trace *r, const struct random_ring *ring,
			  struct ktape_record *rec, uint32_t *args, char *blob)
{
	uint32_t n = random_below(r, 100);

	*rec = (struct ktape_record){ .ts = ring->now, .args = args };
	for (unsigned int i = 0; i < KTAPE_NARGS_MAX; i++)
		args[i] = 100 + random_below(r, RANDOM_TIDS);
	if (ring->head.kind != KTAPE_RING_EVENT) {
		rec->opcode = n < 50 ? KTAPE_EV_EXCEPTION : KTAPE_EV_CLOCK_SYNC;
		rec->nargs = n < 50 ? 2 : 7;
	} else if (n < 3 && r->what & RANDOM_NAMES) {
		rec->opcode = KTAPE_EV_REGISTRY;
		rec->dat20 = KTAPE_OBJ_THREAD;
		rec->nargs = 7;
		/* Times of birth and death, the lower half first. */
		args[3] = (uint32_t)r->begin + random_below(r, 2) * 500;
		args[4] = (uint32_t)(r->begin >> 32);
		args[5] = (uint32_t)ring->now;
		args[6] = (uint32_t)(ring->now >> 32);
		/* Most threads go on. */
		if (random_below(r, 4))
			args[5] = args[6] = 0;
		rec->blob = blob;
		rec->blob_size = (uint32_t)snprintf(blob, 16, "n%u",
						    random_below(r, 1000));
	} else if (n < 30) {
		rec->opcode = KTAPE_EV_SCHED_SWITCH;
		rec->nargs = 2;
	} else if (n < 32) {
		rec->opcode = KTAPE_EV_CONTEXT;
		rec->nargs = 1;
	} else if (n < 36) {
		rec->opcode = KTAPE_EV_TEXT;
		rec->blob = blob;
		rec->blob_size = random_below(r, 16);
		memset(blob, 'a', 16);
	} else {
		rec->opcode = n < 60 ? KTAPE_EV_SYS_ENTER : KTAPE_EV_SCHED_WAKING;
		rec->nargs = n < 60 ? 0 : 2;
		rec->dat20 = n;
	}
}

/* Write all packets of a ring; its events are about @step ticks apart. */
static void random_ring(struct random_trace *r, unsigned int kind,
			unsigned int cpu, uint32_t step)
{
	struct random_ring ring = { .now = r->begin + random_below(r, 500) };
	uint32_t args[KTAPE_NARGS_MAX];
	struct ktape_record rec;
	char blob[16];

	ring.head.kind = kind;
	ring.head.cpu = cpu;
	memcpy(ring.head.uuid, trace_info.uuid, sizeof(ring.head.uuid));
	random_open(r, &ring);
	while (ring.now < r->begin + RANDOM_SPAN) {
		random_record(r, &ring, &rec, args, blob);
		if (random_has(r, RANDOM_EMPTY, 300) ||
		    ktape_build_add(&ring.b, &rec)) {
			random_close(r, &ring);
			random_open(r, &ring);
			if (random_has(r, RANDOM_EMPTY, 4))
				continue;
			rec.ts = ring.now;
			if (ktape_build_add(&ring.b, &rec))
				abort();
		}
		if (!(r->what & RANDOM_SAME) || random_below(r, 2))
			ring.now += random_below(r, step);
	}
	random_close(r, &ring);
}

/* Make a trace; the low half of its times turns over within it. */
static inline struct random_trace *random_new(uint64_t seed, unsigned int what)
{
	struct random_trace *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->seed = seed;
	r->what = what;
	r->begin = (5ULL << 32) - RANDOM_SPAN / 2;
	for (unsigned int cpu = 0; cpu < RANDOM_CPUS; cpu++) {
		random_ring(r, KTAPE_RING_EVENT, cpu, 30 + 60 * cpu);
		random_ring(r, KTAPE_RING_CONTROL, cpu, 2000);
	}
	return r;
}

/* Write the trace to a folder, a file for each ring. */
__attribute__((unused)) static void random_save(const struct random_trace *r,
						const char *dir)
{
	char name[32];

	trace_metadata(dir);
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct random_packet *p = &r->packets[i];

		snprintf(name, sizeof(name), "%s%u",
			 p->kind == KTAPE_RING_EVENT ? "cpu" : "control", p->cpu);
		trace_append(dir, name, p->data, p->len);
	}
}

/* Order packets by time; equal times stay as they were written, as a ring's have to. */
static int random_by_time(const void *a, const void *b)
{
	const struct random_packet *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->nr > y->nr) - (x->nr < y->nr);
}

/* Write the trace to one file, in pipe form. */
__attribute__((unused)) static void random_save_pipe(struct random_trace *r,
						     const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0)
		abort();
	trace_begin_pipe(fd);
	/* If the clock steps back, sorting would change the order within a ring. */
	if (!(r->what & RANDOM_BACK))
		qsort(r->packets, r->nr, sizeof(*r->packets), random_by_time);
	for (unsigned int i = 0; i < r->nr; i++)
		if (write(fd, r->packets[i].data, r->packets[i].len) !=
		    (ssize_t)r->packets[i].len)
			abort();
	close(fd);
}

__attribute__((unused)) static void random_free(struct random_trace *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		free(r->packets[i].data);
	free(r);
}

#endif /* _LIB_RANDOM_H */
