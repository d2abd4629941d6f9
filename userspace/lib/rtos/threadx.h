/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What traces of real-time kernels share: events of ThreadX.  The statistics count the services
 * of all real-time kernels as those of ThreadX, so this says which events of ThreadX a native
 * event becomes, and how a user event holds one.  It is built whatever formats are left out.
 *
 * Read the files in this order; each calls only those before it:
 *
 * foreign.c	numbers of the events of other formats
 * kinds.c	the table of events of ThreadX, FileX and NetX
 * kinds_ux.c	the table of events of USBX
 * entry.c	an event of ThreadX, and the user event that holds it
 * service.c	the events of ThreadX for services of other real-time kernels
 * map.c	the events of ThreadX that a native event becomes
 */
#ifndef _KT_RTOS_THREADX_H
#define _KT_RTOS_THREADX_H

#include "stream/packet.h"
#include "show/user_event.h"

#define KT_THREADX_ISR		   0xffffffffU /* context: an interrupt */
#define KT_THREADX_INIT		   0xf0f0f0f0U /* context: initialisation */
#define KT_THREADX_THREAD	   1U /* type of a registry entry: thread */
#define KT_THREADX_EVENT_MASK	   0xffffU /* bits of the event word: its number */
#define KT_THREADX_PRIO_MASK	   0x3ffU /* bits of the priority word: priority */
#define KT_THREADX_THRESHOLD	   (1U << 31) /* it has a preemption threshold */
#define KT_THREADX_THRESHOLD_SHIFT 16	 /* bits from here: the threshold */
#define KT_THREADX_USER		   1025U /* first number of users' events */
#define KT_THREADX_USER_OUT	   4096U /* first number of those that ktape writes */

/* Numbers of user events that hold the header and registry entries of a trace. */
#define KT_THREADX_ID_HEADER 0xff0001U
#define KT_THREADX_ID_OBJECT 0xff0002U

/* Index of arguments of a user event that stands for an event of ThreadX. */
enum { KT_THREADX_I1 = 1, KT_THREADX_CONTEXT = 5, KT_THREADX_PRIO = 6 };

enum kt_threadx_id {
	KT_THREADX_RESUME = 1,
	KT_THREADX_SUSPEND = 2,
	KT_THREADX_ISR_ENTER = 3,
	KT_THREADX_ISR_EXIT = 4,
	KT_THREADX_TIME_SLICE = 5,
	KT_THREADX_RUNNING = 6,
	KT_THREADX_MUTEX_CREATE = 50,
	KT_THREADX_MUTEX_GET = 52,
	KT_THREADX_MUTEX_PUT = 57,
	KT_THREADX_QUEUE_CREATE = 60,
	KT_THREADX_QUEUE_FLUSH = 62,
	KT_THREADX_QUEUE_FRONT_SEND = 63,
	KT_THREADX_QUEUE_RECEIVE = 68,
	KT_THREADX_QUEUE_SEND = 69,
	KT_THREADX_SEMAPHORE_CEILING_PUT = 80,
	KT_THREADX_SEMAPHORE_CREATE = 81,
	KT_THREADX_SEMAPHORE_GET = 83,
	KT_THREADX_SEMAPHORE_PUT = 88,
	KT_THREADX_THREAD_CREATE = 100,
	KT_THREADX_PRIORITY_CHANGE = 108,
	KT_THREADX_RELINQUISH = 109,
	KT_THREADX_RESUME_API = 111,
	KT_THREADX_SLEEP = 112,
	KT_THREADX_SUSPEND_API = 114,
	KT_THREADX_TERMINATE = 115
};

/**
 * struct kt_threadx_kind - what events of one number are
 * @id: the number, 0 ends a table
 * @name: name of the event
 * @infos: names of its four words, NULL = unused
 */
struct kt_threadx_kind {
	uint32_t id;
	const char *name;
	const char *infos[4];
};

/**
 * struct kt_threadx_entry - an event of ThreadX
 * @ticks: time of the event, in ticks of the native trace
 * @context: thread, KT_THREADX_ISR or KT_THREADX_INIT
 * @prio: priority word of the thread; in an interrupt the interrupted thread
 * @id: number of the event
 * @core: its core
 * @stamp: time as it stands in a file of TraceX; kt_threadx_put() leaves 0 there
 * @info: its four words
 */
struct kt_threadx_entry {
	uint64_t ticks;
	uint32_t context;
	uint32_t prio;
	uint32_t id;
	uint32_t core;
	uint32_t stamp;
	uint32_t info[4];
};

/**
 * struct kt_threadx_head - the header of a trace
 * @mask: bits of the timer that count
 * @decreasing: the timer counts down
 * @first: time stamp of the first event
 * @name_size: bytes of a name in the registry
 */
struct kt_threadx_head {
	uint32_t mask;
	bool decreasing;
	uint32_t first;
	uint32_t name_size;
};

/* kinds.c, kinds_ux.c */
extern const struct kt_threadx_kind kt_threadx_kinds[];
extern const struct kt_threadx_kind kt_threadx_kinds_ux[];

/* entry.c */
const struct kt_threadx_kind *kt_threadx_kind(uint32_t id);
int32_t kt_threadx_tid(uint32_t context);
bool kt_threadx_is_thread(uint32_t context);
uint32_t kt_threadx_stamp(const struct kt_threadx_head *h, uint64_t ticks);
bool kt_threadx_take_head(struct kt_threadx_head *h, const struct ktape_event *e);
bool kt_threadx_take(struct kt_threadx_entry *entry,
		     const struct kt_threadx_head *h, const struct ktape_event *e);

#define KT_THREADX_PER_EVENT \
	2 /* most entries that a native event becomes: RUNNING before it */
#define KT_THREADX_QUEUES 4096U /* places for queues */
#define KT_THREADX_WAITS  1024U /* places for threads that wait */

/*
 * Numbers of users' events that stand for native ones: markers, users' own events, and from
 * 4352 on 256 numbers for each other format.
 */
enum {
	KT_THREADX_OUT_MARK = KT_THREADX_USER_OUT,
	KT_THREADX_OUT_USER = 4100,
	KT_THREADX_OUT_LAST = KT_THREADX_USER_OUT | 0xfff
};

/* Return the number for a user event that came from another format. */
static inline uint32_t kt_threadx_own(uint32_t id)
{
	return KT_THREADX_USER_OUT | (id >> 16 & 0xf00) | (id & 0xff);
}

/**
 * struct kt_threadx_cpu - what a CPU does
 * @tid: thread that runs there, 0 = none
 * @known: @tid is known
 * @prio: its Linux priority
 * @nesting: interrupts that have not ended
 * @state: state of ThreadX in which the thread will leave, 0 = as the switch says
 * @made: thread that was created by the event before, 0 = none
 */
struct kt_threadx_cpu {
	uint32_t tid;
	bool known;
	uint32_t prio;
	uint32_t nesting;
	uint32_t state;
	uint32_t made;
};

/**
 * struct kt_threadx_queue - a queue of FreeRTOS, which can be a semaphore or a mutex
 * @id: its number
 * @len: number of elements in it
 * @owner: of a mutex: the thread that has it, 0 = none
 * @kind: kind of the queue + 1, 0 = unknown
 * @created: it was created before its kind was known
 * @is_new: nothing was done with it since it was created
 * @ops: number of operations on it so far
 */
struct kt_threadx_queue {
	uint32_t id;
	uint32_t len;
	uint32_t owner;
	uint8_t kind;
	bool created;
	bool is_new;
	uint32_t ops;
};

/**
 * struct kt_threadx_wait - a call of FreeRTOS that waits for a queue
 * @tid: thread that waits, 0 = the place is free
 * @queue: number of the queue
 * @ticks: longest time to wait, in ticks of FreeRTOS
 * @op: operation on the queue
 * @ops: kt_threadx_queue.ops when the wait began
 */
struct kt_threadx_wait {
	uint32_t tid;
	uint32_t queue;
	uint32_t ticks;
	uint8_t op;
	uint32_t ops;
};

/**
 * struct kt_threadx_map - state that maps native events to events of ThreadX
 * @formats: formats whose user events are known, from the registry
 * @cpus: CPUs by number
 * @nr_cpus: entries of @cpus
 * @queues: queues; those whose numbers differ by KT_THREADX_QUEUES share a place
 * @waits: waits; threads whose numbers differ by KT_THREADX_WAITS share a place
 */
struct kt_threadx_map {
	const struct kt_user_format *const *formats;
	struct kt_threadx_cpu *cpus;
	uint32_t nr_cpus;
	struct kt_threadx_queue queues[KT_THREADX_QUEUES];
	struct kt_threadx_wait waits[KT_THREADX_WAITS];
};

void kt_threadx_put(struct kt_threadx_entry *x, const struct kt_threadx_cpu *c,
		    const struct ktape_event *e, uint32_t id);

/*
 * service.c.  kt_threadx_service() and kt_threadx_learn() return how many entries they have made;
 * kt_threadx_service() returns -ENOTSUP for an event of TraceX or of no known format.
 */
const char *kt_threadx_own_name(const struct kt_threadx_map *map, uint32_t id);
int kt_threadx_service(struct kt_threadx_map *map, struct kt_threadx_cpu *c,
		       const struct ktape_event *e, struct kt_threadx_entry *x);
void kt_threadx_end_wait(struct kt_threadx_map *map, const struct kt_threadx_cpu *c);
int kt_threadx_learn(struct kt_threadx_map *map, const struct kt_threadx_cpu *c,
		     const struct ktape_event *e, struct kt_threadx_entry *x);

/*
 * map.c.  A mapping begins as zeros but for @formats.  kt_threadx_map() returns the number of
 * entries, -ENOTSUP if the event has no counterpart, or -ENOMEM.
 */
int kt_threadx_map(struct kt_threadx_map *map, const struct ktape_event *e,
		   struct kt_threadx_entry entries[KT_THREADX_PER_EVENT]);
void kt_threadx_map_free(struct kt_threadx_map *map);

#endif /* _KT_RTOS_THREADX_H */
