/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TraceX for the rest of the library: the format for the table of formats; and for stats/,
 * which counts the services of all real-time kernels as those of ThreadX, the events of
 * ThreadX and which of them a native event becomes.  The Makefile builds that second part
 * even if the format is left out.
 */
#ifndef _KT_FORMAT_TRACEX_H
#define _KT_FORMAT_TRACEX_H

#include "stream/packet.h"
#include "show/user_event.h"
#include "format/codec.h"

extern const struct kt_codec_in kt_tracex_in;
extern const struct kt_codec_out kt_tracex_out;
extern const struct kt_user_format kt_tracex_user;

#define KT_TRACEX_MAGIC		0x54585442U
#define KT_TRACEX_HEADER	48U	/* bytes of the header */
#define KT_TRACEX_ENTRY		32U	/* of an event */
#define KT_TRACEX_OBJECT	16U	/* of a registry entry, without its name */
#define KT_TRACEX_NAME_MAX	255U	/* longest names that are read */
#define KT_TRACEX_ISR		0xffffffffU	/* context: an interrupt */
#define KT_TRACEX_INIT		0xf0f0f0f0U	/* context: initialisation */
#define KT_TRACEX_THREAD	1U	/* type of a registry entry: thread */
#define KT_TRACEX_EVENT_MASK	0xffffU	/* bits of the event word: its number */
#define KT_TRACEX_CORE_SHIFT	24	/* bits of the event word from here: core */
#define KT_TRACEX_PRIO_MASK	0x3ffU	/* bits of the priority word: priority */
#define KT_TRACEX_THRESHOLD	(1U << 31)	/* it has a preemption threshold */
#define KT_TRACEX_THRESHOLD_SHIFT 16	/* bits from here: the threshold */
#define KT_TRACEX_USER		1025U	/* first number of users' events */
#define KT_TRACEX_USER_OUT	4096U	/* first number of those that ktape writes */

/* Numbers of user events that hold the header and registry entries of a trace. */
#define KT_TRACEX_ID_HEADER	0xff0001U
#define KT_TRACEX_ID_OBJECT	0xff0002U

/* Index of arguments of a user event that stands for an event of ThreadX. */
enum { KT_TRACEX_I1 = 1, KT_TRACEX_CONTEXT = 5, KT_TRACEX_PRIO = 6 };

enum kt_tracex_id {
	KT_TRACEX_RESUME = 1,
	KT_TRACEX_SUSPEND = 2,
	KT_TRACEX_ISR_ENTER = 3,
	KT_TRACEX_ISR_EXIT = 4,
	KT_TRACEX_TIME_SLICE = 5,
	KT_TRACEX_RUNNING = 6,
	KT_TRACEX_MUTEX_CREATE = 50,
	KT_TRACEX_MUTEX_GET = 52,
	KT_TRACEX_MUTEX_PUT = 57,
	KT_TRACEX_QUEUE_CREATE = 60,
	KT_TRACEX_THREAD_CREATE = 100,
	KT_TRACEX_PRIORITY_CHANGE = 108,
	KT_TRACEX_RELINQUISH = 109,
	KT_TRACEX_RESUME_API = 111,
	KT_TRACEX_SLEEP = 112,
	KT_TRACEX_SUSPEND_API = 114,
	KT_TRACEX_TERMINATE = 115
};

/**
 * struct kt_tracex_kind - what events of one number are
 * @id: the number, 0 ends a table
 * @name: name of the event
 * @infos: names of its four words, NULL = unused
 */
struct kt_tracex_kind {
	uint32_t id;
	const char *name;
	const char *infos[4];
};

/**
 * struct kt_tracex_entry - an event of ThreadX
 * @ticks: time since the first event of the trace
 * @context: thread, KT_TRACEX_ISR or KT_TRACEX_INIT
 * @prio: priority word of the thread; in an interrupt the interrupted thread
 * @id: number of the event
 * @core: its core
 * @stamp: time as it stands in the file
 * @info: its four words
 */
struct kt_tracex_entry {
	uint64_t ticks;
	uint32_t context;
	uint32_t prio;
	uint32_t id;
	uint32_t core;
	uint32_t stamp;
	uint32_t info[4];
};

/**
 * struct kt_tracex_head - the header of a trace
 * @mask: bits of the timer that count
 * @decreasing: the timer counts down
 * @first: time stamp of the first event
 * @name_size: bytes of a name in the registry
 */
struct kt_tracex_head {
	uint32_t mask;
	bool decreasing;
	uint32_t first;
	uint32_t name_size;
};

/* tracex.c */
const struct kt_tracex_kind *kt_tracex_kind(uint32_t id);
int32_t kt_tracex_tid(uint32_t context);
bool kt_tracex_is_thread(uint32_t context);
uint32_t kt_tracex_stamp(const struct kt_tracex_head *h, uint64_t ticks);
bool kt_tracex_take_head(struct kt_tracex_head *h,
			 const struct ktape_event *e);
bool kt_tracex_take(struct kt_tracex_entry *entry,
		    const struct kt_tracex_head *h,
		    const struct ktape_event *e);

#define KT_TRACEX_PER_EVENT	2	/* most entries that a native event becomes */
#define KT_TRACEX_QUEUES	4096U	/* places for queues */
#define KT_TRACEX_WAITS		1024U	/* places for threads that wait */

/*
 * Numbers of users' events that stand for native ones: markers, users' own events, and from
 * 4352 on 256 numbers for each other format.
 */
enum {
	KT_TRACEX_OUT_MARK = KT_TRACEX_USER_OUT,
	KT_TRACEX_OUT_USER = 4100,
	KT_TRACEX_OUT_LAST = KT_TRACEX_USER_OUT | 0xfff
};

/* Return the number for a user event that came from another format. */
static inline uint32_t kt_tracex_own(uint32_t id)
{
	return KT_TRACEX_USER_OUT | (id >> 16 & 0xf00) | (id & 0xff);
}

/**
 * struct kt_tracex_cpu - what a CPU does
 * @tid: thread that runs there, 0 = none
 * @known: @tid is known
 * @prio: its Linux priority
 * @nesting: interrupts that have not ended
 * @state: state of ThreadX in which the thread will leave, 0 = as the switch says
 * @made: thread that was created by the event before, 0 = none
 */
struct kt_tracex_cpu {
	uint32_t tid;
	bool known;
	uint32_t prio;
	uint32_t nesting;
	uint32_t state;
	uint32_t made;
};

/**
 * struct kt_tracex_queue - a queue of FreeRTOS, which can be a semaphore or a mutex
 * @id: its number
 * @len: number of elements in it
 * @owner: of a mutex: the thread that has it, 0 = none
 * @kind: kind of the queue + 1, 0 = unknown
 * @created: it was created before its kind was known
 * @is_new: nothing was done with it since it was created
 * @ops: number of operations on it so far
 */
struct kt_tracex_queue {
	uint32_t id;
	uint32_t len;
	uint32_t owner;
	uint8_t kind;
	bool created;
	bool is_new;
	uint32_t ops;
};

/**
 * struct kt_tracex_wait - a call of FreeRTOS that waits for a queue
 * @tid: thread that waits, 0 = the place is free
 * @queue: number of the queue
 * @ticks: longest time to wait, in ticks of FreeRTOS
 * @op: operation on the queue
 * @ops: kt_tracex_queue.ops when the wait began
 */
struct kt_tracex_wait {
	uint32_t tid;
	uint32_t queue;
	uint32_t ticks;
	uint8_t op;
	uint32_t ops;
};

/**
 * struct kt_tracex_map - state that maps native events to events of ThreadX
 * @formats: formats whose user events are known, from the registry
 * @cpus: CPUs by number
 * @nr_cpus: entries of @cpus
 * @queues: queues; those whose numbers differ by KT_TRACEX_QUEUES share a place
 * @waits: waits; threads whose numbers differ by KT_TRACEX_WAITS share a place
 */
struct kt_tracex_map {
	const struct kt_user_format *const *formats;
	struct kt_tracex_cpu *cpus;
	uint32_t nr_cpus;
	struct kt_tracex_queue queues[KT_TRACEX_QUEUES];
	struct kt_tracex_wait waits[KT_TRACEX_WAITS];
};

/* map.c */
int kt_tracex_map(struct kt_tracex_map *map, const struct ktape_event *e,
		  struct kt_tracex_entry entries[KT_TRACEX_PER_EVENT]);
void kt_tracex_map_free(struct kt_tracex_map *map);

/* service.c */
const char *kt_tracex_own_name(const struct kt_tracex_map *map, uint32_t id);

#endif /* _KT_FORMAT_TRACEX_H */
