/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulate a session: packets of both rings of each CPU as the module would have written
 * them, with ledgers, losses, filters and markers, and the truth, which is every event that
 * happened. lib_sim_work.h has the work that is recorded, damages packets, and saves the trace.
 */
#ifndef _LIB_SIM_H
#define _LIB_SIM_H

#include "lcg.h"
#include "lib_trace.h"

#ifndef SIM_CPUS
#define SIM_CPUS 2U
#endif
#define SIM_RINGS   (SIM_CPUS * 2)
#define SIM_PACKETS 256U /* packets per ring, maximum */
#define SIM_TRUTH   65536U
#ifndef SIM_THREADS
#define SIM_THREADS 4 /* threads per CPU */
#endif

/* What became of an event.  SIM_DISABLED: the session was stopped, or its profile lacked it. */
enum sim_fate { SIM_RECORDED, SIM_LOST, SIM_FILTERED, SIM_DISABLED };

struct sim_truth {
	uint64_t ts;
	uint32_t cpu;
	uint32_t dat20;
	uint8_t opcode;
	uint8_t fate;
};

struct sim_packet {
	unsigned char *data;
	size_t len;
};

/* A ring; its open packet, @packets[@nr], is not counted in @nr. */
struct sim_ring {
	struct ktape_builder b;
	bool open;
	uint64_t seq;
	uint64_t emitted[KTAPE_CLASSES];
	uint64_t filtered[KTAPE_CLASSES];
	uint64_t lost[KTAPE_CLASSES];
	uint64_t shed[KTAPE_CLASSES];	  /* of @lost */
	uint64_t reported[KTAPE_CLASSES]; /* of @lost, in loss records */
	uint64_t first[KTAPE_CLASSES]; /* time of the first loss not reported */
	uint64_t last[KTAPE_CLASSES];  /* time of the last one */
	struct sim_packet packets[SIM_PACKETS];
	unsigned int nr;
};

/**
 * struct sim - the simulated session
 * @now: trace clock
 * @ring: rings, at index cpu * 2 + kind
 * @running: the session is recording
 * @mask: its profile
 * @filter: bit n: a filter of kind n is in force
 * @losing: bit n: events of class n are lost, per CPU
 * @shedding: they are shed; else the ring is full
 * @tid: current thread, per CPU
 * @calling: bit n: thread 100 + n is in a system call, per CPU
 * @truth: every event that happened, recorded or not
 * @nr_truth: entries of @truth
 * @generation: generation of its profile and filters
 * @seed: state of the random number generator
 * @mode: mode in its markers
 * @blind: control rings lose half of the markers of filters and profiles
 * @listed: the metadata lists its CPUs
 * @nr_dead: threads that ended, and whose names are recorded
 * @died: when the last of them ended, one every 1000 ticks before it
 */
struct sim {
	uint64_t now;
	struct sim_ring ring[SIM_RINGS];
	bool running;
	uint64_t mask[KTAPE_MASK_WORDS];
	uint32_t filter;
	uint32_t losing[SIM_CPUS];
	bool shedding;
	int32_t tid[SIM_CPUS];
	uint32_t calling[SIM_CPUS];
	struct sim_truth *truth;
	unsigned int nr_truth;
	uint32_t generation;
	uint64_t seed;
	uint32_t mode;
	bool blind;
	bool listed;
	uint32_t nr_dead;
	uint64_t died;
};

static inline uint32_t sim_random(struct sim *s, uint32_t below)
{
	return lcg_below(&s->seed, below);
}

static inline uint64_t sim_sum(const uint64_t *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		total += counts[i];
	return total;
}

/* Write the counts of a ring so far to the header of a packet, and seal it. */
static inline void sim_head(struct sim_packet *p, const struct sim_ring *r,
			    uint64_t emitted)
{
	struct ktape_block *h = (void *)p->data;

	h->emitted = emitted;
	h->filtered = sim_sum(r->filtered);
	h->lost[KTAPE_LOST_FULL] = sim_sum(r->lost) - sim_sum(r->shed);
	h->lost[KTAPE_LOST_SHED] = sim_sum(r->shed);
	h->discarded = sim_sum(r->lost);
	ktape_packet_seal(p->data);
}

/*
 * Close the open packet of a ring, if there is one.  @emitted: events of the ring before its end;
 * @last: it has the flag of a packet that was read while it was open.
 */
static inline void sim_close(struct sim *s, struct sim_ring *r,
			     uint64_t emitted, bool last)
{
	struct sim_packet *p = &r->packets[r->nr];

	if (!r->open)
		return;
	p->len = ktape_build_end(&r->b, s->now, 0);
	if (last)
		p->data[AT_FLAGS] |= KTAPE_BLOCK_OPEN;
	sim_head(p, r, emitted);
	r->nr++;
	r->open = false;
}

/* Begin a packet of a ring, with the CPU's current thread in its header. */
static inline void sim_open(struct sim *s, unsigned int cpu, unsigned int kind)
{
	struct sim_ring *r = &s->ring[cpu * 2 + kind];
	struct ktape_block head = {
		.cpu = cpu,
		.kind = kind,
		.seq = ++r->seq,
		.ts_begin = s->now,
		.tid = s->tid[cpu],
		.prio = 120,
	};
	unsigned char *data = calloc(1, TRACE_PACKET);

	if (!data || r->nr == SIM_PACKETS)
		abort();
	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	r->packets[r->nr].data = data;
	ktape_build_begin(&r->b, data, TRACE_PACKET, &head);
	((struct ktape_block *)(void *)data)->sync_clock = s->now;
	((struct ktape_block *)(void *)data)->generation = s->generation;
	r->open = true;
}

static inline void sim_report_losses(struct sim *s, unsigned int cpu,
				     unsigned int kind);

/*
 * Write a record that was counted as emitted to its ring.  If it opens a packet, the losses that
 * were not yet reported are reported after it, as the module does.
 */
static inline void sim_write(struct sim *s, unsigned int cpu, unsigned int kind,
			     const struct ktape_record *record)
{
	struct sim_ring *r = &s->ring[cpu * 2 + kind];
	struct ktape_record rec = *record;
	bool opened = false;

	rec.ts = s->now;
	if (!r->open || ktape_build_add(&r->b, &rec)) {
		/* Already counted, but the record opens the next packet. */
		sim_close(s, r, sim_sum(r->emitted) - 1, false);
		sim_open(s, cpu, kind);
		if (ktape_build_add(&r->b, &rec))
			abort();
		opened = true;
	}
	s->now += 1 + sim_random(s, 50);
	if (opened)
		sim_report_losses(s, cpu, kind);
}

/* Count a record of class control, and write it to the control ring. */
static inline void sim_control(struct sim *s, unsigned int cpu,
			       const struct ktape_record *record)
{
	s->ring[cpu * 2 + 1].emitted[KTAPE_CLASS_CONTROL]++;
	sim_write(s, cpu, KTAPE_RING_CONTROL, record);
}

/* Write loss records for a ring. */
static inline void sim_report_losses(struct sim *s, unsigned int cpu,
				     unsigned int kind)
{
	struct sim_ring *r = &s->ring[cpu * 2 + kind];

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		uint64_t count = r->lost[i] - r->reported[i];
		const uint32_t args[] = {
			(uint32_t)r->first[i], (uint32_t)(r->first[i] >> 32),
			(uint32_t)r->last[i],  (uint32_t)(r->last[i] >> 32),
			(uint32_t)count,       (uint32_t)(count >> 32),
		};
		const struct ktape_record rec = {
			.opcode = KTAPE_EV_LOSS,
			.dat20 = i | kind << 5,
			.args = args,
			.nargs = ARRAY_SIZE(args),
		};

		if (!count)
			continue;
		r->reported[i] = r->lost[i];
		sim_control(s, cpu, &rec);
	}
}

/* Write the ledger of both rings of a CPU.  @moment: 0 = stop, 1 = start, 2 = flush. */
static inline void sim_ledger(struct sim *s, unsigned int cpu, unsigned int moment)
{
	uint64_t counts[2 + KTAPE_LOST_REASONS] = { 0 };

	sim_report_losses(s, cpu, 0);
	sim_report_losses(s, cpu, 1);
	/*
	 * From the last class down, so that the ledger ends with class control
	 * of ring 1.
	 */
	for (int at = 2 * KTAPE_CLASSES - 1; at >= 0; at--) {
		unsigned int class = (unsigned int)at % KTAPE_CLASSES;
		unsigned int kind = at < KTAPE_CLASSES;
		struct sim_ring *r = &s->ring[cpu * 2 + kind];
		const struct ktape_record rec = {
			.opcode = KTAPE_EV_LEDGER,
			.dat20 = class | kind << 5 | moment << 8,
			.blob = counts,
			.blob_size = sizeof(counts),
		};

		counts[0] = r->emitted[class];
		counts[1] = r->filtered[class];
		counts[2 + KTAPE_LOST_FULL] = r->lost[class] - r->shed[class];
		counts[2 + KTAPE_LOST_SHED] = r->shed[class];
		if (counts[0] || !at)
			sim_control(s, cpu, &rec);
	}
}

/* Relate the trace clock to others.  @stable: the kernel trusts it. */
static inline void sim_sync(struct sim *s, unsigned int cpu, bool stable)
{
	static const uint32_t args[7];
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_CLOCK_SYNC,
		.dat20 = stable,
		.args = args,
		.nargs = ARRAY_SIZE(args),
	};

	sim_control(s, cpu, &rec);
}

/* Write the record that a CPU starts or stops recording for the session. */
static inline void sim_phase(struct sim *s, unsigned int cpu, unsigned int phase)
{
	const uint32_t args[] = { 0, s->mode };
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_SESSION,
		.dat20 = phase,
		.args = args,
		.nargs = 2,
	};

	sim_control(s, cpu, &rec);
	sim_sync(s, cpu, true);
}

/* Write a marker of the profile or of a filter; the marker may be lost. */
static inline void sim_marker(struct sim *s, unsigned int cpu,
			      const struct ktape_record *record)
{
	struct sim_ring *r = &s->ring[cpu * 2 + 1];

	if (!s->blind || sim_random(s, 2)) {
		sim_control(s, cpu, record);
		return;
	}
	r->emitted[KTAPE_CLASS_CONTROL]++;
	if (r->lost[KTAPE_CLASS_CONTROL]++ == r->reported[KTAPE_CLASS_CONTROL])
		r->first[KTAPE_CLASS_CONTROL] = s->now;
	r->last[KTAPE_CLASS_CONTROL] = s->now;
	s->now += 1 + sim_random(s, 50);
}

/* Write the marker of the profile on one CPU. */
static inline void sim_profile_on(struct sim *s, unsigned int cpu,
				  unsigned int phase, const uint64_t *mask)
{
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_PROFILE,
		.dat20 = phase,
		.args = &s->generation,
		.nargs = 1,
		.blob = mask,
		.blob_size = sizeof(s->mask),
	};

	sim_marker(s, cpu, &rec);
}

static inline void sim_profile(struct sim *s, unsigned int phase,
			       const uint64_t *mask)
{
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_profile_on(s, cpu, phase, mask);
}

/* Set a filter or remove it; a session that runs writes the markers of that. */
static inline void sim_filter(struct sim *s, unsigned int kind, bool on)
{
	const uint32_t args[] = { 1, 1 }; /* generation, entries */

	if (on)
		s->filter |= 1U << kind;
	for (unsigned int cpu = 0; cpu < SIM_CPUS && s->running; cpu++) {
		const struct ktape_record rec = {
			.opcode = KTAPE_EV_FILTER,
			.dat20 = kind | (unsigned int)on << 5,
			.args = args,
			.nargs = 2,
		};

		sim_marker(s, cpu, &rec);
	}
	if (!on)
		s->filter &= ~(1U << kind);
}

/* Add an event to the profile or remove it; a session that runs writes the markers of that. */
static inline void sim_change(struct sim *s, unsigned int opcode, bool on)
{
	uint64_t mask[KTAPE_MASK_WORDS];

	memcpy(mask, s->mask, sizeof(mask));
	mask[opcode / 64] &= ~(1ULL << (opcode % 64));
	mask[opcode / 64] |= (uint64_t)on << (opcode % 64);
	s->generation++;
	if (s->running && !on)
		sim_profile(s, KTAPE_PHASE_OFF, mask);
	memcpy(s->mask, mask, sizeof(mask));
	if (s->running && on)
		sim_profile(s, KTAPE_PHASE_ON, mask);
}

/* Write to the event ring which thread runs on a CPU. */
static inline void sim_context(struct sim *s, unsigned int cpu)
{
	const uint32_t tid = (uint32_t)s->tid[cpu];
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_CONTEXT,
		.args = &tid,
		.nargs = 1,
	};

	s->ring[cpu * 2].emitted[KTAPE_CLASS_CONTROL]++;
	sim_write(s, cpu, KTAPE_RING_EVENT, &rec);
}

/* Start on all CPUs: ledgers, then threads and phases, filters in force, and the profile. */
static inline void sim_start(struct sim *s)
{
	unsigned int cpu, kind;

	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_ledger(s, cpu, 1);
	s->generation++;
	s->running = true;
	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_context(s, cpu);
		sim_phase(s, cpu, KTAPE_PHASE_ON);
	}
	for (kind = 0; kind < KTAPE_FILTER_KINDS; kind++)
		if (s->filter >> kind & 1)
			sim_filter(s, kind, true);
	sim_profile(s, KTAPE_PHASE_ON, s->mask);
}

/* Write a control record with three words on each CPU. */
static inline void sim_words(struct sim *s, unsigned int opcode, uint32_t a,
			     uint32_t b, uint32_t c)
{
	const uint32_t args[] = { a, b, c };
	const struct ktape_record rec = {
		.opcode = (uint8_t)opcode,
		.args = args,
		.nargs = 3,
	};

	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_control(s, cpu, &rec);
}

/* Stop the session. @frozen: the time at which a snapshot was full, 0 = none. */
static inline void sim_stop_full(struct sim *s, uint64_t frozen)
{
	static const uint64_t nothing[KTAPE_MASK_WORDS];
	unsigned int cpu;

	sim_profile(s, KTAPE_PHASE_OFF, nothing);
	s->running = false;
	if (frozen)
		sim_words(s, KTAPE_EV_FREEZE, (uint32_t)frozen,
			  (uint32_t)(frozen >> 32), 0);
	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		sim_ledger(s, cpu, 0);
		sim_phase(s, cpu, KTAPE_PHASE_OFF);
	}
}

static inline void sim_stop(struct sim *s)
{
	sim_stop_full(s, 0);
}

/* Return true if a filter in force may filter events of this class. */
static inline bool sim_may_filter(const struct sim *s, unsigned int class)
{
	return (s->filter >> KTAPE_FILTER_PID & 1) ||
	       (s->filter >> KTAPE_FILTER_SIGNAL & 1 && class == KTAPE_CLASS_SIGNAL) ||
	       (s->filter >> KTAPE_FILTER_SYSCALL & 1 &&
		class == KTAPE_CLASS_SYSCALL);
}

/*
 * Let an event happen on a CPU, with @words argument words: @a, @b, then zeros.  Filters in force
 * hold back half of the events that they may filter.
 */
static inline void sim_event(struct sim *s, unsigned int cpu,
			     unsigned int opcode, uint32_t dat20,
			     unsigned int words, uint32_t a, uint32_t b)
{
	const struct ktape_event_desc *desc = ktape_event_desc(opcode);
	const unsigned int class = desc->event_class;
	const unsigned int kind = ktape_class_desc(class)->ring;
	struct sim_ring *r = &s->ring[cpu * 2 + kind];
	struct sim_truth *t = &s->truth[s->nr_truth++];
	const uint32_t args[KTAPE_NARGS_MAX] = { a, b };
	const struct ktape_record rec = {
		.opcode = (uint8_t)opcode,
		.dat20 = dat20,
		.args = args,
		.nargs = (uint8_t)words,
		.blob = desc->has_blob ? "" : NULL,
	};

	if (s->nr_truth > SIM_TRUTH)
		abort();
	*t = (struct sim_truth){ s->now, cpu, dat20, (uint8_t)opcode, SIM_DISABLED };
	if (!s->running || !(s->mask[opcode / 64] >> (opcode % 64) & 1)) {
		s->now += 1 + sim_random(s, 50);
		return;
	}
	r->emitted[class]++;
	t->fate = SIM_RECORDED;
	if (sim_may_filter(s, class) && sim_random(s, 2)) {
		t->fate = SIM_FILTERED;
		r->filtered[class]++;
	} else if (s->losing[cpu] >> class & 1) {
		t->fate = SIM_LOST;
		r->shed[class] += s->shedding;
		if (r->lost[class]++ == r->reported[class])
			r->first[class] = s->now;
		r->last[class] = s->now;
	}
	if (t->fate == SIM_RECORDED)
		sim_write(s, cpu, kind, &rec);
	else
		s->now += 1 + sim_random(s, 50);
}

#endif /* _LIB_SIM_H */
