/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TraceX for the rest of the library: the format for the table of formats, and
 * for stats/ the events of ThreadX and what native events are among them.
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
#define KT_TRACEX_HEADER	48U	/* bytes */
#define KT_TRACEX_ENTRY		32U
#define KT_TRACEX_OBJECT	16U	/* of an object without its name */
#define KT_TRACEX_NAME_MAX	255U	/* bytes of names that we take */
#define KT_TRACEX_ISR		0xffffffffU	/* contexts */
#define KT_TRACEX_INIT		0xf0f0f0f0U
#define KT_TRACEX_THREAD	1U	/* type of an object */
#define KT_TRACEX_EVENT_MASK	0xffffU
#define KT_TRACEX_CORE_SHIFT	24
#define KT_TRACEX_PRIO_MASK	0x3ffU
#define KT_TRACEX_THRESHOLD	(1U << 31)	/* there is one */
#define KT_TRACEX_THRESHOLD_SHIFT 16
#define KT_TRACEX_USER		1025U	/* events of users from here on */
#define KT_TRACEX_USER_OUT	4096U	/* those that we write */

/* Our own events beside theirs, in user event ids. */
#define KT_TRACEX_ID_HEADER	0xff0001U
#define KT_TRACEX_ID_OBJECT	0xff0002U

/* Arguments of our user events behind the id. */
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
	KT_TRACEX_THREAD_CREATE = 100,
	KT_TRACEX_PRIORITY_CHANGE = 108,
	KT_TRACEX_RELINQUISH = 109,
	KT_TRACEX_RESUME_API = 111,
	KT_TRACEX_SLEEP = 112,
	KT_TRACEX_SUSPEND_API = 114,
	KT_TRACEX_TERMINATE = 115
};

/**
 * struct kt_tracex_kind - an event
 * @id: its number, 0 ends a table
 * @name: its name
 * @infos: what its four words are, or NULL
 */
struct kt_tracex_kind {
	uint32_t id;
	const char *name;
	const char *infos[4];
};

/**
 * struct kt_tracex_entry - an event of a trace
 * @ticks: since the first one
 * @context: thread, KT_TRACEX_ISR or KT_TRACEX_INIT
 * @prio: of the thread, or the interrupted thread; as it stands in the file
 * @id: number of the event
 * @core: where
 * @stamp: its time as it stands in the file
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
 * struct kt_tracex_head - what a trace says of itself
 * @mask: bits of the timer that count
 * @decreasing: the timer runs backwards
 * @first: time of the first event
 * @name_size: bytes of names in the registry
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

#define KT_TRACEX_PER_EVENT	2	/* entries that an event makes at most */
#define KT_TRACEX_QUEUES	4096U	/* that are known at once */
#define KT_TRACEX_WAITS		1024U	/* threads whose waits are known */

/*
 * Users' events that ours become, from KT_TRACEX_USER_OUT on; those of other
 * formats are 256 for each from 4352 on.
 */
enum {
	KT_TRACEX_OUT_MARK = KT_TRACEX_USER_OUT,
	KT_TRACEX_OUT_USER = 4100,
	KT_TRACEX_OUT_LAST = KT_TRACEX_USER_OUT | 0xfff
};

/* The number of a user event of another format. */
static inline uint32_t kt_tracex_own(uint32_t id)
{
	return KT_TRACEX_USER_OUT | (id >> 16 & 0xf00) | (id & 0xff);
}

/**
 * struct kt_tracex_cpu - who runs on a CPU
 * @tid: the thread, 0: none
 * @known: is it known?
 * @prio: its priority
 * @nesting: interrupts that have not ended
 * @state: in which it will leave, as ThreadX has it; 0: that of the switch
 * @made: thread that it made in the event before, or 0
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
 * struct kt_tracex_queue - a queue of FreeRTOS
 * @id: its number
 * @len: elements in it
 * @owner: of a mutex: the thread that has it, or 0
 * @kind: + 1; 0: not known
 * @created: its kind was not known then
 * @is_new: nothing was done with it since it was made
 * @ops: what was done with it so far
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
 * @tid: the thread, 0: none
 * @queue: what for
 * @ticks: how long at most
 * @op: what it does with it
 * @ops: what was done with the queue before
 */
struct kt_tracex_wait {
	uint32_t tid;
	uint32_t queue;
	uint32_t ticks;
	uint8_t op;
	uint32_t ops;
};

/**
 * struct kt_tracex_map - what has to be remembered
 * @formats: formats whose user events are known, from the registry
 * @cpus: by number
 * @nr_cpus: how many
 * @queues: by their numbers
 * @waits: by thread
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
