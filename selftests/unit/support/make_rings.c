// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create traces of rings that begin at different times, for tests of all that shows them:
 *
 *   make_rings MODE DIR	DIR/whole has all of a session, DIR/cut what a reader finds
 *
 *   overwrite, persist		the event ring of CPU 1 is overwritten up to its middle
 *   read			the same as a pipe form, without an empty packet before
 *   late			half an hour after the start both event rings were overwritten
 *   discard, snapshot		nothing is overwritten
 *   rotation			DIR/cut is the second piece of a log
 *
 * Standard output has, as JSON, the time of the first record of each event ring of DIR/cut
 * and the number of events that were overwritten, both counted in the packets.
 */
#include "lib_sim_work.h"

#define CUT_RING 2U /* the event ring of CPU 1 */
#define STEPS	 1500U
#define PAUSE	 (1800ULL * 1000000000)

struct made {
	uint64_t overwritten[SIM_CPUS];
	uint64_t begin[SIM_CPUS];
};

/* Count the records of a packet.  @first: set to the time of the first one, if there is one. */
static uint64_t count_records(const struct sim_packet *p, uint64_t *first)
{
	struct ktape_packet packet;
	struct ktape_event e;
	uint64_t nr = 0;

	if (ktape_packet_open(&packet, p->data, p->len, NULL, NULL))
		abort();
	while (ktape_packet_next(&packet, &e, NULL) > 0) {
		if (e.opcode == KTAPE_TIME_EXTEND)
			continue;
		if (!nr++)
			*first = e.ts;
	}
	return nr;
}

/* Overwrite the oldest packets of an event ring, so that it begins at or after @from. */
static void overwrite_oldest(struct sim *s, struct made *made,
			     unsigned int ring, uint64_t from)
{
	struct sim_ring *r = &s->ring[ring];
	uint64_t first, nr;

	for (;;) {
		nr = count_records(&r->packets[0], &first);
		if (first >= from)
			return;
		made->overwritten[ring / 2] += nr;
		sim_remove(s, ring, 0);
	}
}

static void save_pipe(struct sim *s, const char *dir, const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	sim_save_pipe(s, path);
}

static void save_made_rings(struct sim *s, const char *dir, const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	sim_save(s, path, 0);
}

/* A reset came before the checksums were computed. */
static void recover_packets(struct sim *s)
{
	for (unsigned int i = 0; i < SIM_RINGS; i++) {
		for (unsigned int j = 0; j < s->ring[i].nr; j++) {
			struct ktape_block *h = (void *)s->ring[i].packets[j].data;

			h->flags = (h->flags & ~KTAPE_BLOCK_CRC) |
				   KTAPE_BLOCK_UNCHECKED;
			h->crc32c = 0;
		}
	}
}

/*
 * Replace the first @gone packets of a ring, which an earlier piece of a log has, by the empty
 * packet with which a later piece begins.
 */
static void begin_later_piece(struct sim *s, unsigned int ring, unsigned int gone)
{
	struct sim_ring *r = &s->ring[ring];
	const struct ktape_block *last = (const void *)r->packets[gone - 1].data;
	struct ktape_block head = {
		.context = KTAPE_CTX_CONTINUED,
		.tid = -1,
		.seq = last->seq,
		.cpu = last->cpu,
		.kind = last->kind,
		.ts_begin = last->ts_end,
	};
	unsigned char *data = calloc(1, TRACE_PACKET);
	struct ktape_builder b;

	while (gone-- > 1)
		sim_remove(s, ring, 0);
	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	ktape_build_begin(&b, data, TRACE_PACKET, &head);
	free(r->packets[0].data);
	r->packets[0].data = data;
	r->packets[0].len = ktape_build_end(&b, head.ts_begin, 0);
	ktape_packet_seal(data);
}

/* An exception, whose record is in the control ring: nothing overwrites it. */
static void raise_exception(struct sim *s)
{
	sim_event(s, 1, KTAPE_EV_EXCEPTION, 1, 1, 0x1234, 0);
}

static void make_mode_rings(const char *mode, const char *dir, struct made *made)
{
	const bool late = !strcmp(mode, "late"), pieces = !strcmp(mode, "rotation");
	const bool whole = pieces || !strcmp(mode, "discard") ||
			   !strcmp(mode, "snapshot");
	unsigned int gone[SIM_RINGS];
	struct sim *s = sim_new(7);
	uint64_t middle;

	s->mode = !strcmp(mode, "persist")  ? KTAPE_MODE_PERSISTENT :
		  !strcmp(mode, "snapshot") ? KTAPE_MODE_SNAPSHOT :
		  !whole || pieces	    ? KTAPE_MODE_OVERWRITE :
					      KTAPE_MODE_DISCARD;
	sim_start(s);
	sim_work(s, STEPS);
	raise_exception(s);
	sim_work(s, STEPS);
	middle = s->now + (late ? PAUSE : 0);
	for (unsigned int i = 0; (pieces || late) && i < SIM_RINGS; i++) {
		sim_cut(s, i);
		gone[i] = s->ring[i].nr;
	}
	s->now = middle;
	raise_exception(s);
	sim_work(s, 2 * STEPS);
	sim_stop(s);
	sim_finish(s);
	save_made_rings(s, dir, "whole");
	/* If both rings are overwritten, the other one begins earlier. */
	if (!whole)
		overwrite_oldest(s, made, CUT_RING, late ? middle + 20000 : middle);
	if (late)
		overwrite_oldest(s, made, 0, middle);
	for (unsigned int i = 0; i < SIM_CPUS; i++)
		count_records(&s->ring[2 * i].packets[0], &made->begin[i]);
	if (!strcmp(mode, "persist"))
		recover_packets(s);
	for (unsigned int i = 0; pieces && i < SIM_RINGS; i++)
		begin_later_piece(s, i, gone[i]);
	if (!strcmp(mode, "read") || late)
		save_pipe(s, dir, "cut");
	else
		save_made_rings(s, dir, "cut");
	sim_free(s);
}

int main(int argc, char **argv)
{
	struct made made = { .overwritten = { 0 } };

	if (argc != 3 || mkdir(argv[2], 0777))
		return 2;
	make_mode_rings(argv[1], argv[2], &made);
	printf("{\"begin\":[%llu,%llu],\"overwritten\":[%llu,%llu]}\n",
	       (unsigned long long)made.begin[0], (unsigned long long)made.begin[1],
	       (unsigned long long)made.overwritten[0],
	       (unsigned long long)made.overwritten[1]);
	return 0;
}
