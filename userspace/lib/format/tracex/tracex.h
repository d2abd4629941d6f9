/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TraceX: the trace buffer of ThreadX, its words and events. */
#ifndef _KT_TRACEX_H
#define _KT_TRACEX_H

#include "stream/internal.h"

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

/* tracex_events.c, tracex_events_ux.c */
extern const struct kt_tracex_kind kt_tracex_kinds[];
extern const struct kt_tracex_kind kt_tracex_kinds_ux[];

#endif /* _KT_TRACEX_H */
