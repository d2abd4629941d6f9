/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Native events as events of TraceX. */
#ifndef _KT_TRACEX_MAP_H
#define _KT_TRACEX_MAP_H

#include "tracex.h"

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
 * @cpus: by number
 * @nr_cpus: how many
 * @queues: by their numbers
 * @waits: by thread
 */
struct kt_tracex_map {
	struct kt_tracex_cpu *cpus;
	uint32_t nr_cpus;
	struct kt_tracex_queue queues[KT_TRACEX_QUEUES];
	struct kt_tracex_wait waits[KT_TRACEX_WAITS];
};

int kt_tracex_map(struct kt_tracex_map *map, const struct ktape_event *e,
		  struct kt_tracex_entry entries[KT_TRACEX_PER_EVENT]);
void kt_tracex_put(struct kt_tracex_entry *x, const struct kt_tracex_cpu *c,
		   const struct ktape_event *e, uint32_t id);
void kt_tracex_map_free(struct kt_tracex_map *map);

#endif /* _KT_TRACEX_MAP_H */
