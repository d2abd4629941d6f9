/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulate threads and interrupts of a session, and save the trace. */
#ifndef _LIB_SIM_WORK_H
#define _LIB_SIM_WORK_H

#include "lib_sim.h"

#define SIM_DEAD 5000 /* first tid of threads that ended */

static const unsigned int sim_default[] = {
	KTAPE_EV_SCHED_SWITCH,	   KTAPE_EV_IRQ_HANDLER_ENTRY,
	KTAPE_EV_IRQ_HANDLER_EXIT, KTAPE_EV_SOFTIRQ_ENTRY,
	KTAPE_EV_SOFTIRQ_EXIT,	   KTAPE_EV_SYS_ENTER,
	KTAPE_EV_SYS_EXIT,	   KTAPE_EV_SIGNAL_DELIVER,
	KTAPE_EV_EXCEPTION,
};

/* Make a session in discard mode with the default profile, which has not started. */
static inline struct sim *sim_new(uint64_t seed)
{
	struct sim *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->truth = calloc(SIM_TRUTH, sizeof(*s->truth));
	if (!s->truth)
		abort();
	s->seed = seed;
	s->mode = KTAPE_MODE_DISCARD;
	s->now = 1000000;
	for (unsigned int i = 0; i < ARRAY_SIZE(sim_default); i++)
		s->mask[sim_default[i] / 64] |= 1ULL << (sim_default[i] % 64);
	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		s->tid[cpu] = 100 + (int32_t)cpu * SIM_THREADS;
	return s;
}

static inline void sim_free(struct sim *s)
{
	for (unsigned int i = 0; i < SIM_RINGS; i++) {
		/* All entries: the packet that is still open is not counted in nr. */
		for (unsigned int j = 0; j < SIM_PACKETS; j++)
			free(s->ring[i].packets[j].data);
	}
	free(s->truth);
	free(s);
}

static inline void sim_switch_to(struct sim *s, unsigned int cpu, int32_t next)
{
	sim_event(s, cpu, KTAPE_EV_SCHED_SWITCH, 0, 2, (uint32_t)s->tid[cpu],
		  (uint32_t)next);
	s->tid[cpu] = next;
}

static inline void sim_switch(struct sim *s, unsigned int cpu)
{
	int32_t next =
		100 + (int32_t)(cpu * SIM_THREADS + sim_random(s, SIM_THREADS));

	if (next != s->tid[cpu])
		sim_switch_to(s, cpu, next);
}

static inline void sim_enter(struct sim *s, unsigned int cpu, unsigned int nr)
{
	sim_event(s, cpu, KTAPE_EV_SYS_ENTER, nr, 0, 0, 0);
}

static inline void sim_leave(struct sim *s, unsigned int cpu, unsigned int nr)
{
	sim_event(s, cpu, KTAPE_EV_SYS_EXIT, nr, 2, 0, 0);
}

/* The thread of a CPU enters system call 1, or leaves it if it is in it. */
static inline void sim_call(struct sim *s, unsigned int cpu)
{
	uint32_t bit = 1U << (s->tid[cpu] - 100);

	sim_event(s, cpu,
		  s->calling[cpu] & bit ? KTAPE_EV_SYS_EXIT : KTAPE_EV_SYS_ENTER,
		  1, s->calling[cpu] & bit ? 2 : 0, 0, 0);
	s->calling[cpu] ^= bit;
}

/* Let one random event happen. */
static inline void sim_step(struct sim *s, unsigned int cpu)
{
	uint32_t n = sim_random(s, 4);

	switch (sim_random(s, 8)) {
	case 0:
		sim_event(s, cpu, KTAPE_EV_IRQ_HANDLER_ENTRY, 10 + n, 0, 0, 0);
		sim_event(s, cpu, KTAPE_EV_IRQ_HANDLER_EXIT, 10 + n, 0, 0, 0);
		break;
	case 1:
		sim_event(s, cpu, KTAPE_EV_SOFTIRQ_ENTRY, n, 0, 0, 0);
		sim_event(s, cpu, KTAPE_EV_IRQ_HANDLER_ENTRY, 20, 0, 0, 0);
		sim_event(s, cpu, KTAPE_EV_IRQ_HANDLER_EXIT, 20, 0, 0, 0);
		sim_event(s, cpu, KTAPE_EV_SOFTIRQ_EXIT, n, 0, 0, 0);
		break;
	case 2:
	case 3:
		sim_switch(s, cpu);
		break;
	default:
		sim_call(s, cpu);
		break;
	}
}

/* Let random events happen on random CPUs: one to four in each step, or none. */
static inline void sim_work(struct sim *s, unsigned int steps)
{
	while (steps--)
		sim_step(s, sim_random(s, SIM_CPUS));
}

/* Write the marker of a CPU that came online, or goes offline. */
static inline void sim_online(struct sim *s, unsigned int cpu, bool online)
{
	const struct ktape_record rec = { .opcode = KTAPE_EV_CPU, .dat20 = online };

	sim_control(s, cpu, &rec);
}

/* End the packets that are open: flagged as such, as a reader finds them. */
static inline void sim_finish(struct sim *s)
{
	for (unsigned int i = 0; i < SIM_RINGS; i++)
		sim_close(s, &s->ring[i], sim_sum(s->ring[i].emitted), true);
}

/* Record a name of a thread that ended at time @died; 0: it is alive. */
static inline void sim_name(struct ktape_builder *b, uint32_t tid, uint64_t died)
{
	/* Thread, process, priority and policy; times of begin and end, the lower half first. */
	const uint32_t args[7] = {
		tid, tid, 0, 0, 0, (uint32_t)died, (uint32_t)(died >> 32)
	};
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = KTAPE_OBJ_THREAD | (uint32_t)(died != 0) << 8,
		.args = args,
		.nargs = 7,
		.blob = "worker",
		.blob_size = 6,
	};

	if (ktape_build_add(b, &rec))
		abort();
}

/*
 * Record the names of all threads but the last @nameless ones, and those of @s->nr_dead
 * threads that ended.
 */
static inline size_t sim_names(const struct sim *s,
			       unsigned char data[TRACE_PACKET],
			       unsigned int nameless)
{
	struct ktape_block head = { .kind = KTAPE_RING_REGISTRY,
				    .seq = 1,
				    .context = KTAPE_CTX_CONTINUED };
	struct ktape_builder b;

	memcpy(head.uuid, trace_info.uuid, sizeof(head.uuid));
	memset(data, 0, TRACE_PACKET);
	ktape_build_begin(&b, data, TRACE_PACKET, &head);
	for (uint32_t i = 0; i < SIM_CPUS * SIM_THREADS - nameless; i++)
		sim_name(&b, 100 + i, 0);
	for (uint32_t i = 0; i < s->nr_dead; i++)
		sim_name(&b, SIM_DEAD + i,
			 s->died - 1000 * (uint64_t)(s->nr_dead - 1 - i));
	return ktape_build_end(&b, 0, 0);
}

/* Save as a directory.  The last @nameless threads have no name. */
static inline void sim_save(struct sim *s, const char *dir, unsigned int nameless)
{
	static const uint64_t cpus[KTAPE_CPU_WORDS] = { (1ULL << SIM_CPUS) - 1 };
	unsigned char names[TRACE_PACKET];
	size_t len = sim_names(s, names, nameless), size;
	struct ktape_ctf *ctf;
	char *text;

	ktape_packet_seal(names);
	if (ktape_metadata_format(&trace_info, &text, &size) ||
	    (s->listed && ktape_metadata_cpus(&text, &size, cpus)) ||
	    ktape_ctf_create(dir, KTAPE_CTF_FORCE, text, size, &ctf) ||
	    ktape_ctf_append(ctf, names, len))
		abort();
	free(text);
	for (unsigned int i = 0; i < SIM_RINGS; i++)
		for (unsigned int j = 0; j < s->ring[i].nr; j++)
			if (ktape_ctf_append(ctf, s->ring[i].packets[j].data,
					     s->ring[i].packets[j].len))
				abort();
	if (ktape_ctf_close(ctf))
		abort();
}

/* Save as one file (pipe form).  The last @nameless threads have no name. */
static inline void sim_save_pipe_nameless(struct sim *s, const char *path,
					  unsigned int nameless)
{
	unsigned char names[TRACE_PACKET];
	size_t len = sim_names(s, names, nameless);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	bool more = true;

	ktape_packet_seal(names);
	if (fd < 0)
		abort();
	trace_begin_pipe(fd);
	if (write(fd, names, len) != (ssize_t)len)
		abort();
	for (unsigned int j = 0; more; j++) {
		more = false;
		for (unsigned int i = 0; i < SIM_RINGS; i++) {
			const struct sim_packet *p = &s->ring[i].packets[j];

			if (j >= s->ring[i].nr)
				continue;
			more = true;
			if (write(fd, p->data, p->len) != (ssize_t)p->len)
				abort();
		}
	}
	close(fd);
}

static inline void sim_save_pipe(struct sim *s, const char *path)
{
	sim_save_pipe_nameless(s, path, 0);
}

/* ---- damage --------------------------------------------------------------- */

static inline void sim_remove(struct sim *s, unsigned int ring, unsigned int at)
{
	struct sim_ring *r = &s->ring[ring];

	if (at >= r->nr)
		abort();
	free(r->packets[at].data);
	memmove(&r->packets[at], &r->packets[at + 1],
		(SIM_PACKETS - at - 1) * sizeof(r->packets[0]));
	memset(&r->packets[SIM_PACKETS - 1], 0, sizeof(r->packets[0]));
	r->nr--;
}

/* From now on the ring writes to another packet. */
static inline void sim_cut(struct sim *s, unsigned int ring)
{
	sim_close(s, &s->ring[ring], sim_sum(s->ring[ring].emitted), false);
}

/* Remove the packets of a ring behind the first @nr: the ring was read so far. */
static inline void sim_end_after(struct sim *s, unsigned int ring, unsigned int nr)
{
	while (s->ring[ring].nr > nr)
		sim_remove(s, ring, nr);
}

/*
 * Remove the oldest packet of each ring: a reader that comes at the end of an
 * overwrite session finds it overwritten, and no record reports the losses
 * before.
 */
static inline void sim_come_late(struct sim *s)
{
	for (unsigned int i = 0; i < SIM_RINGS; i++) {
		struct sim_ring *r = &s->ring[i];
		uint64_t base = sim_sum(r->lost); /* of which no packet reports any */

		if (r->nr > 1)
			sim_remove(s, i, 0);
		for (unsigned int j = 0; j < r->nr; j++) {
			struct ktape_block *h = (void *)r->packets[j].data;

			h->discarded -= h->discarded < base ? h->discarded : base;
			ktape_packet_seal(h);
		}
	}
}

/* Exchange the packets @at and @at + 1 of a ring. */
static inline void sim_swap(struct sim *s, unsigned int ring, unsigned int at)
{
	struct sim_packet *p = &s->ring[ring].packets[at], keep = p[0];

	p[0] = p[1];
	p[1] = keep;
}

/*
 * Remove the last record of an opcode with @dat20 in the bits @bits from a
 * ring, and recompute the checksum. Return: true if there was one.
 */
static inline bool sim_take(struct sim *s, unsigned int ring,
			    unsigned int opcode, uint32_t bits, uint32_t dat20)
{
	struct sim_ring *r = &s->ring[ring];
	struct ktape_event e, found = { .size = 0 };
	struct ktape_packet p;

	for (unsigned int i = r->nr; i-- > 0 && !found.size;) {
		struct sim_packet *at = &r->packets[i];
		uint64_t size;

		if (ktape_packet_open(&p, at->data, at->len, NULL, NULL))
			abort();
		while (ktape_packet_next(&p, &e, NULL) > 0)
			if (e.opcode == opcode && (e.dat20 & bits) == dat20)
				found = e;
		if (!found.size)
			continue;
		memmove(at->data + found.offset,
			at->data + found.offset + found.size,
			at->len - found.offset - found.size);
		at->len -= found.size;
		size = at->len * 8;
		memcpy(at->data + AT_CONTENT_BITS, &size, sizeof(size));
		memcpy(at->data + AT_PACKET_BITS, &size, sizeof(size));
		ktape_packet_seal(at->data);
	}
	return found.size;
}

#endif /* _LIB_SIM_WORK_H */
