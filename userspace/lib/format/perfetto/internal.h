/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the perfetto format share.  Read them in this order; each calls only those
 * before it:
 *
 * proto.h	protobuf
 * packet.c	packets, bundles
 * names.c	threads, symbols
 * generic.c	generic events
 * map.c	ftrace's events
 * track.c	tracks
 * user.c	user events on tracks
 * mark.c	other events on tracks
 * out.c	the trace
 */
#ifndef _KT_PERFETTO_INTERNAL_H
#define _KT_PERFETTO_INTERNAL_H

#include "stream/clock.h"
#include "util/map.h"
#include "proto.h"
#include "stream/event.h"
#include "format/writer.h"
#include "format/object_state.h"

#define PF_CPUS 1024U /* the viewer refuses a trace with more */
#define PF_BUNDLE_BYTES \
	(48U << 10)	     /* events of a CPU that are written at once */
#define PF_SEQUENCE_FTRACE 1 /* packets with ftrace events and names */
#define PF_SEQUENCE_TRACKS 2 /* packets with tracks and their events */

/**
 * struct pf_thread - a thread, as the registry had it when last looked up
 * @tid: thread id; -1: the slot is free
 * @known: the registry has the thread
 * @in_tree: written to the process tree
 * @names_version: struct perfetto.names_version at the look-up
 * @tgid: process id
 * @born: birth time of the thread; differs between threads that had the same id
 * @len: bytes of @name
 * @name: thread name, UTF-8
 */
struct pf_thread {
	int32_t tid;
	bool known;
	bool in_tree;
	uint32_t names_version;
	uint32_t tgid;
	uint64_t born;
	uint32_t len;
	char name[KTAPE_NAME_SIZE + 1];
};

/**
 * struct pf_set - a set of numbers, as an open hash
 * @keys: the numbers; 0: the slot is free
 * @nr: numbers in the set
 * @room: number of slots, a power of two, at least half of them free
 */
struct pf_set {
	uint64_t *keys;
	uint32_t nr;
	uint32_t room;
};

/**
 * struct pf_cpu - a CPU, and its bundle of ftrace events that is being filled
 * @buf: events of the bundle
 * @len: bytes used of @buf
 * @entries: events of the CPU so far
 * @lost: events lost on the CPU so far
 * @tid: thread of the last event
 * @names_version: struct perfetto.names_version when @tid was looked up
 * @gap: events were lost before this bundle
 * @blocked_io: the kept sched_blocked waits for input or output
 * @blocked_tid: thread of the kept sched_blocked; 0: none is kept
 * @blocked_caller: interned id of the function in which that thread blocks
 */
struct pf_cpu {
	char *buf;
	uint32_t len;
	uint64_t entries;
	uint64_t lost;
	int32_t tid;
	uint32_t names_version;
	bool gap;
	bool blocked_io;
	int32_t blocked_tid;
	uint64_t blocked_caller;
};

struct pf_plan;

#define PF_NAME_BYTES \
	256U /* most bytes of the name of a track or of an event on one */

/* Kinds of tracks: the upper byte of a track id. */
enum pf_track {
	PF_ON_LOST = 1,
	PF_ON_MARKER,
	PF_ON_VALUE,
	PF_ON_ISR,
	PF_ON_EXCEPTION,
	PF_ON_TEXT,
	PF_ON_EVENT, /* user events of a thread or a CPU */
	PF_ON_STATE, /* state of an RTOS object */
	PF_ON_SPAN,  /* plus n: gate spans of row n of spans[] (mark.c) */
};

/**
 * struct pf_place - a track
 * @kind: enum pf_track
 * @tid: thread that the viewer shows it under, or -1: none.  Value tracks have
 *	-1; that of a thread has the thread in its name
 * @whose: CPU, or thread id + 1, or 0; its low 24 bits are part of the track id.  PF_ON_EVENT: 1
 *	for a thread, 0 for a CPU; PF_ON_STATE: type of the object << 1, + 1 for a counter
 * @id: marker or ring, 0 if neither matters; part of the track id.  PF_ON_EVENT: thread or CPU;
 *	PF_ON_STATE: id of the object
 * @counter: it is a counter track
 */
struct pf_place {
	unsigned int kind;
	int32_t tid;
	uint32_t whose;
	uint32_t id;
	bool counter;
};

/**
 * struct perfetto - trace being written
 * @s: sink
 * @cpus: bundles by CPU; NULL: no event of it yet
 * @threads: open hash by thread id
 * @nr_threads: used slots of @threads
 * @room: slots of @threads, a power of two
 * @names_version: number of changes of the registry, to know when to look up again
 * @clock: converts trace clock to nanoseconds
 * @symbols: interned functions
 * @tracks: ids of the tracks that were described
 * @states: states of RTOS objects
 * @state_tracks: ids of their tracks, at most KT_STATES_MAX
 * @plans: by opcode, how it becomes an ftrace event; NULL: generic event
 * @packet: start of the packet that pf_packet() began
 * @boot_offset: CLOCK_BOOTTIME of the output minus trace clock in ns
 * @machine: number of the machine; 0: packets have none
 * @begun: the first packet of sequence 1 was written
 */
struct perfetto {
	struct kt_sink *s;
	struct pf_cpu *cpus[PF_CPUS];
	struct pf_thread *threads;
	uint32_t nr_threads;
	uint32_t room;
	uint32_t names_version;
	struct kt_clock clock;
	struct pf_set symbols;
	struct pf_set tracks;
	struct kt_states states;
	struct pf_set state_tracks;
	struct pf_plan *plans[KTAPE_OPCODES];
	char *packet;
	uint32_t machine;
	int64_t boot_offset;
	bool begun;
};

/*
 * packet.c.  pf_packet() begins a packet of less than PF_MESSAGE_MAX bytes, pf_packet_long() one
 * that may be longer.  Both return NULL if the sink has failed; else the caller ends the packet
 * with the function of the same name and _done.  pf_flush() writes the bundle of a CPU as a packet.
 */
char *pf_packet(struct perfetto *pf, uint32_t sequence_id, size_t room);
void pf_packet_done(struct perfetto *pf, char *p);
char *pf_packet_long(struct perfetto *pf, uint32_t sequence_id, size_t room);
void pf_packet_long_done(struct perfetto *pf, char *p);
void pf_flush(struct perfetto *pf, uint32_t cpu);

/* names.c */
bool pf_set_add(struct perfetto *pf, struct pf_set *set, uint64_t key);
bool pf_set_has(const struct pf_set *set, uint64_t key);
const struct pf_thread *pf_thread(struct perfetto *pf, int32_t tid, uint64_t ts);
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
uint64_t pf_describe(struct perfetto *pf, const struct pf_place *at,
		     const char *name, size_t len, uint64_t ts);
void pf_put_event(struct perfetto *pf, uint64_t uuid, uint64_t ts,
		  unsigned int type, const char *name, size_t len, int64_t value);

/* mark.c */
bool pf_track(struct perfetto *pf, const struct ktape_event *e);
void pf_track_lost(struct perfetto *pf, const struct ktape_notice *n);

/* user.c */
bool pf_user_event(struct perfetto *pf, const struct ktape_event *e);
void pf_extra(struct perfetto *pf, const struct ktape_event *e);

/**
 * pf_time() - convert a time to Perfetto's clock
 * @pf: trace being written
 * @ts: trace clock, in ticks
 *
 * Return: nanoseconds of CLOCK_BOOTTIME.
 */
static inline uint64_t pf_time(struct perfetto *pf, uint64_t ts)
{
	return kt_clock_ns(&pf->clock, pf->s->info, ts) + (uint64_t)pf->boot_offset;
}

/**
 * pf_cpu_room() - make room in the bundle of a CPU
 * @pf: trace being written
 * @c: the bundle
 * @cpu: the CPU
 * @n: bytes needed, at most PF_MESSAGE_MAX; the caller adds what it used to
 *	@c->len
 *
 * Return: where to write.
 */
static inline char *pf_cpu_room(struct perfetto *pf, struct pf_cpu *c,
				uint32_t cpu, size_t n)
{
	if (c->len + n > PF_BUNDLE_BYTES)
		pf_flush(pf, cpu);
	return c->buf + c->len;
}

#endif /* _KT_PERFETTO_INTERNAL_H */
