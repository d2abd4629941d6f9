// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test overwrite and discard mode with known counts: readable are the newest
 * events, or the oldest, without a hole, and all other events are counted
 * exactly.
 *
 * The sessions record system calls only. System calls do not nest, so even the
 * counts in block headers are exact.
 */
#include "kselftest_harness.h"

#include "kt_blocks.h"
#include "kt_load.h"
#include "kt_stream.h"

#define CPUS_MAX 16
#define RING	 65536
#define BLOCK	 4096

/**
 * struct found - what the ring of one CPU has
 * @first: number of the first marked call
 * @next: number after that of the last marked call, 0 = none was found
 * @holes: calls whose number is not the next one
 * @records: all records
 * @samples: of these, measurements of the tracer's own cost
 *
 * Marked calls have a number as argument, which sys_enter_wide records.
 */
struct found {
	uint64_t first, next, holes, records, samples;
};

static void note_record(const struct kt_rec *r, void *arg)
{
	struct found *f = arg;
	uint64_t n;

	if (r->op == KTAPE_TIME_EXTEND)
		return;
	f->records++;
	f->samples += r->op == KTAPE_EV_TRACER;
	if (!kt_is_marked(r->op, r->blob, &n))
		return;
	if (f->next == 0)
		f->first = n;
	else
		f->holes += n != f->next;
	f->next = n + 1;
}

FIXTURE(modes)
{
	int fd, cpus;
	uint64_t calls;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_VARIANT(modes)
{
	uint32_t mode;
};

FIXTURE_VARIANT_ADD(modes, overwrite){
	.mode = KTAPE_MODE_OVERWRITE,
};

FIXTURE_VARIANT_ADD(modes, discard){
	.mode = KTAPE_MODE_DISCARD,
};

FIXTURE_SETUP(modes)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->calls = 20000 / kt_scale();
	self->fd = kt_session(variant->mode, RING, BLOCK,
			      KT_OPS(KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
}

FIXTURE_TEARDOWN(modes)
{
	close(self->fd);
}

/*
 * Check the counts in block headers: each block has the number of events when it
 * was closed, so two blocks differ by the records in the later one. @records:
 * records in the ring; @stored: events stored at all. Return: number of events
 * before the oldest block; -1 if the counts do not add up, a block is malformed or none is
 * closed.
 */
static long check_header_counts(const struct kt_map *m, uint64_t records,
				uint64_t stored)
{
	uint64_t size = m->e.block_size, last = 0, in_block;
	uint64_t pos = kt_oldest(m), commit = kt_load(&m->page->commit);
	long before = -1;

	for (; commit - pos > size; pos += size) {
		const char *p = m->data + pos % m->e.data_size;
		const struct ktape_block *b = (const void *)p;
		struct kt_rec r = { .ts = b->ts_begin };
		size_t at, len, end = b->content_bits / 8;

		in_block = 0;
		for (at = KTAPE_BLOCK_HEADER; at < end; at += len) {
			len = kt_decode((const void *)(p + at), end - at, &r);
			if (!len)
				return -1;
			in_block += r.op != KTAPE_TIME_EXTEND;
		}
		if (before < 0)
			before = b->emitted - b->discarded - in_block;
		else if (b->emitted - b->discarded - last != in_block)
			return -1;
		last = b->emitted - b->discarded;
	}
	return before >= 0 && before + records == stored ? before : -1;
}

/*
 * Without a consumer, a reader for which a discard session waits, the ring holds the newest
 * events (overwrite) or the oldest ones (discard).
 */
TEST_F_TIMEOUT(modes, without_a_consumer, 180)
{
	struct ktape_stats st;
	struct kt_map m;
	long before;

	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, self->calls,
				    kt_call_marked));
	kt_loads_wait(self->load, self->cpus);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct found f = {};
		uint64_t stored;

		ASSERT_EQ(0, kt_map_ring(self->fd, cpu, KTAPE_RING_EVENT, &m));
		ASSERT_LT(0, kt_walk(&m, note_record, &f));
		ASSERT_EQ(0, kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st));
		/* The thread that runs at START, and samples of the tracer's cost. */
		EXPECT_LE(2, st.emitted[KTAPE_CLASS_CONTROL]);
		if (variant->mode == KTAPE_MODE_DISCARD)
			EXPECT_EQ(1 + f.samples, st.emitted[KTAPE_CLASS_CONTROL]);
		EXPECT_EQ(kt_sum(st.emitted),
			  st.emitted[KTAPE_CLASS_CONTROL] +
				  st.emitted[KTAPE_CLASS_SYSCALL]);
		EXPECT_LE(2 * self->calls, kt_sum(st.emitted));
		EXPECT_EQ(kt_lost(&st),
			  st.lost[KTAPE_LOST_FULL][KTAPE_CLASS_SYSCALL]);
		EXPECT_EQ(0, f.holes);
		stored = kt_sum(st.emitted) - kt_lost(&st);
		before = check_header_counts(&m, f.records, stored);
		if (variant->mode == KTAPE_MODE_OVERWRITE) {
			EXPECT_EQ(0, kt_lost(&st));
			/* If the program busy loads the CPUs, its calls may have overwritten ours. */
			if (!kt_is_busy()) {
				EXPECT_EQ(self->calls, f.next);
				EXPECT_LT(0, f.first);
			}
			EXPECT_LT(0, before);
			EXPECT_LE(RING - 2 * BLOCK,
				  kt_load(&m.page->commit) - kt_oldest(&m));
		} else {
			EXPECT_EQ(0, kt_oldest(&m));
			EXPECT_EQ(0, f.first);
			EXPECT_LT(f.next, self->calls);
			EXPECT_EQ(0, before);
			EXPECT_LE(2 * (self->calls - f.next), kt_lost(&st) + 2);
			EXPECT_LE(RING - BLOCK, kt_load(&m.page->commit));
		}
		kt_unmap_ring(&m);
	}
}

/* What a reader got by read(), per CPU. */
struct found_by_read {
	struct found cpu[CPUS_MAX];
};

static void note_read_record(const struct ktape_block *b,
			     const struct kt_rec *r, void *arg)
{
	struct found_by_read *s = arg;

	if (b->kind == KTAPE_RING_EVENT && b->cpu < CPUS_MAX)
		note_record(r, &s->cpu[b->cpu]);
}

/*
 * Lap a reader: it reads, sleeps while its rings are overwritten many times (in discard mode:
 * while they are full), and continues. What it read and what was reported as lost must add up to
 * everything.
 */
TEST_F_TIMEOUT(modes, reader_is_lapped, 180)
{
	struct kts *t = calloc(1, sizeof(*t));
	struct found_by_read found = {};
	struct ktape_stats st;
	struct kt_buf b = {};

	/* What is overwritten before the first packet is not in its counts. */
	if (variant->mode == KTAPE_MODE_OVERWRITE && kt_is_busy())
		SKIP(return, "./busy may overwrite a ring before the first read");
	t->record = note_read_record;
	t->arg = &found;
	kt_nonblock(self->fd, true);
	for (int round = 0; round < 4; round++) {
		ASSERT_EQ(0, kt_loads_start(self->load, self->cpus,
					    round ? self->calls / 3 : 20,
					    kt_call_marked));
		kt_loads_wait(self->load, self->cpus);
		if (round == 3)
			ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		/* Our own calls go on meanwhile; stop at what is there now. */
		for (int i = 0; i < 40; i++)
			ASSERT_LE(0, kt_buf_read(&b, self->fd, 65536));
	}
	ASSERT_EQ(0, kt_slurp(&b, self->fd, 65536));
	EXPECT_EQ(b.len, kts_feed(t, b.p, b.len));
	EXPECT_STREQ("", t->error);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct kts_stream *s = &t->stream[cpu][KTAPE_RING_EVENT];

		ASSERT_EQ(0, kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st));
		EXPECT_EQ(s->emitted, kt_sum(st.emitted));
		EXPECT_EQ(s->records + s->discarded, kt_sum(st.emitted))
		{
			TH_LOG("cpu %d: %llu gaps", cpu,
			       (unsigned long long)s->gaps);
		}
		EXPECT_EQ(s->records, found.cpu[cpu].records);
		EXPECT_LT(0, s->discarded);
		if (variant->mode == KTAPE_MODE_OVERWRITE) {
			EXPECT_LT(0, s->gaps);
		} else {
			EXPECT_EQ(0, s->gaps);
			EXPECT_EQ(kt_lost(&st), s->discarded);
		}
	}
	kt_buf_free(&b);
	free(t);
}

TEST_HARNESS_MAIN
