/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files share that write a trace for Perfetto. */
#ifndef _KT_PERFETTO_INTERNAL_H
#define _KT_PERFETTO_INTERNAL_H

#include "stream/clock.h"
#include "util/map.h"
#include "proto.h"
#include "stream/event.h"
#include "format/sink.h"
#include "format/object_state.h"

#define PF_CPUS			1024U	/* the viewer refuses a trace with more */
#define PF_BUNDLE_BYTES		(48U << 10)
#define PF_SEQUENCE_FTRACE	1	/* packets with events of the kernel */
#define PF_SEQUENCE_TRACKS	2	/* packets with markers */

/**
 * struct pf_thread - what is known of a thread
 * @tid: its id; -1: the slot is free
 * @known: the registry had it
 * @told: it is in the process tree
 * @turn: struct perfetto.turn when it was looked up
 * @tgid: its process
 * @born: which of those that had this id
 * @len: of @name
 * @name: its name
 */
struct pf_thread {
	int32_t tid;
	bool known;
	bool told;
	uint32_t turn;
	uint32_t tgid;
	uint64_t born;
	uint32_t len;
	char name[KTAPE_NAME_SIZE + 1];
};

/**
 * struct pf_set - numbers that were met
 * @keys: never 0; 0: the slot is free
 * @nr: how many
 * @room: slots, a power of two, at least half of them free
 */
struct pf_set {
	uint64_t *keys;
	uint32_t nr;
	uint32_t room;
};

/**
 * struct pf_cpu - the bundle of a CPU that is being filled
 * @buf: its events
 * @len: bytes of them
 * @entries: events so far
 * @lost: events lost so far
 * @gap: the next bundle comes after a loss
 * @tid: the last thread of an event
 * @turn: struct perfetto.turn when that was told
 * @blocked: a sched_blocked that waits for its switch
 * @blocked_tid: of whom; 0: none waits
 * @blocked_caller: by whom, interned
 * @blocked_io: for input or output
 */
struct pf_cpu {
	char *buf;
	uint32_t len;
	uint64_t entries;
	uint64_t lost;
	int32_t tid;
	uint32_t turn;
	bool gap;
	bool blocked_io;
	int32_t blocked_tid;
	uint64_t blocked_caller;
};

struct pf_plan;

#define PF_NAME_BYTES		256U

/* Kinds of tracks, in the upper byte of their ids. */
enum pf_track {
	PF_ON_LOST = 1,
	PF_ON_MARKER,
	PF_ON_VALUE,
	PF_ON_ISR,
	PF_ON_EXCEPTION,
	PF_ON_TEXT,
	PF_ON_EVENT,	/* user events of a thread or a CPU */
	PF_ON_STATE,	/* of an object of a real-time system */
	PF_ON_SPAN,	/* and from here on one for each kind of span */
};

/**
 * struct pf_place - the track of an event
 * @kind: enum pf_track
 * @tid: the thread whose track it is, or -1; values of threads have tracks of
 *	their own, with the thread in the name
 * @whose: CPU or thread, part of its id
 * @id: of the marker, part of its id
 * @counter: it has values
 */
struct pf_place {
	unsigned int kind;
	int32_t tid;
	uint32_t whose;
	uint32_t id;
	bool counter;
};

/**
 * struct perfetto - a trace that is being written
 * @s: where to
 * @cpus: of the CPUs that were seen
 * @threads: open hash
 * @nr_threads: how many
 * @room: slots of @threads, a power of two
 * @turn: counts the changes of the registry
 * @clock: of the trace
 * @symbols: interned functions
 * @tracks: tracks that were described
 * @states: of objects of real-time systems
 * @state_tracks: their tracks, at most KT_STATES_MAX
 * @plans: per opcode how it becomes an event of ftrace; NULL: a generic one
 * @packet: where the packet begins that is being written
 * @begun: the first packet of the kernel's sequence was written
 */
struct perfetto {
	struct kt_sink *s;
	struct pf_cpu *cpus[PF_CPUS];
	struct pf_thread *threads;
	uint32_t nr_threads;
	uint32_t room;
	uint32_t turn;
	struct kt_clock clock;
	struct pf_set symbols;
	struct pf_set tracks;
	struct kt_states states;
	struct pf_set state_tracks;
	struct pf_plan *plans[KTAPE_OPCODES];
	char *packet;
	bool begun;
};

/* out.c */
char *pf_packet(struct perfetto *pf, uint32_t sequence_id, size_t room);
void pf_packet_done(struct perfetto *pf, char *p);
void pf_flush(struct perfetto *pf, uint32_t cpu);

/* names.c */
bool pf_set_add(struct pf_set *set, uint64_t key);
bool pf_set_has(const struct pf_set *set, uint64_t key);
const struct pf_thread *pf_thread(struct perfetto *pf, int32_t tid,
				  uint64_t ts);
uint64_t pf_symbol(struct perfetto *pf, uint32_t token, uint64_t ts);
void pf_names_free(struct perfetto *pf);

/* map.c */
int pf_plans(struct perfetto *pf);
void pf_plans_free(struct perfetto *pf);
bool pf_mapped(struct perfetto *pf, const struct ktape_event *e);

/* generic.c */
int pf_generic_descriptors(struct perfetto *pf);
void pf_generic(struct perfetto *pf, const struct ktape_event *e);

/* track.c */
bool pf_track(struct perfetto *pf, const struct ktape_event *e);
uint64_t pf_describe(struct perfetto *pf, const struct pf_place *at,
		     const char *name, size_t len, uint64_t ts);
void pf_put_event(struct perfetto *pf, uint64_t uuid, uint64_t ts,
		  unsigned int type, const char *name, size_t len,
		  int64_t value);
void pf_track_lost(struct perfetto *pf, const struct ktape_notice *n);

/* user.c */
bool pf_user_event(struct perfetto *pf, const struct ktape_event *e);

/**
 * pf_time() - a time as Perfetto takes it
 * @pf: the trace
 * @ts: trace clock
 *
 * Return: nanoseconds of CLOCK_BOOTTIME.
 */
static inline uint64_t pf_time(struct perfetto *pf, uint64_t ts)
{
	return kt_clock_ns(&pf->clock, pf->s->info, ts) +
	       (uint64_t)pf->s->info->boot_offset_ns;
}

/**
 * pf_cpu_room() - room in the bundle of a CPU
 * @pf: the trace
 * @c: the bundle
 * @cpu: the CPU
 * @n: bytes, at most PF_MESSAGE_MAX; what is used of them is added to @c->len
 *
 * Return: the place.
 */
static inline char *pf_cpu_room(struct perfetto *pf, struct pf_cpu *c,
				uint32_t cpu, size_t n)
{
	if (c->len + n > PF_BUNDLE_BYTES)
		pf_flush(pf, cpu);
	return c->buf + c->len;
}

#endif /* _KT_PERFETTO_INTERNAL_H */
