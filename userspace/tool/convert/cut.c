// SPDX-License-Identifier: GPL-2.0-only
/*
 * State at the beginning of a cut (ktape convert --from-time): the thread of each
 * CPU, and slices that have begun and not ended (markers, interrupts, system calls,
 * timers, work).  Their begin events are written again at the time of the cut, so
 * that a viewer shows threads and slices from there on.  A slice is here what lies between
 * two events, not a part of the trace as in slices.c.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "stream/event.h"

#include "tool/convert/convert.h"
#include "tool/shared/message.h"

#define CPUS_MAX   8192U
#define BUCKETS	   1024U     /* of the hash table of open slices */
#define SLICES_MAX 65536U    /* open slices that are kept */
#define TID_NONE   INT32_MIN /* thread of a CPU that had no event */
#define PRIO_USUAL \
	120U /* priority of a thread of nice 0, in dat20 of sched_switch */
#define PRIO_NONE \
	0xffU /* dat20 of a context record: the priority is not known */

enum scope { SCOPE_CPU, SCOPE_THREAD, SCOPE_MARK };

/* Events that begin and end a slice.  @scope: what the slice belongs to. */
static const struct pair {
	uint8_t begin;
	uint8_t end;
	uint8_t scope;
	bool by_id; /* both ends have the same first argument */
} pairs[] = {
	{ KTAPE_EV_MARK_BEGIN, KTAPE_EV_MARK_END, SCOPE_MARK, true },
	{ KTAPE_EV_ISR_ENTER, KTAPE_EV_ISR_EXIT, SCOPE_CPU, true },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, KTAPE_EV_IRQ_HANDLER_EXIT, SCOPE_CPU, false },
	{ KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT, SCOPE_CPU, false },
	{ KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT, SCOPE_THREAD, false },
	{ KTAPE_EV_SYS_ENTER_WIDE, KTAPE_EV_SYS_EXIT_WIDE, SCOPE_THREAD, false },
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY, KTAPE_EV_TIMER_EXPIRE_EXIT, SCOPE_CPU, true },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY, KTAPE_EV_HRTIMER_EXPIRE_EXIT,
	  SCOPE_CPU, true },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START, KTAPE_EV_WORKQUEUE_EXECUTE_END,
	  SCOPE_THREAD, true },
};

/* Events that describe others (ktape_event_is_metadata()) are kept like slices without an end. */
static const struct pair metadata = { .scope = SCOPE_CPU };

/**
 * struct slice - an open slice
 * @next: next in its bucket, the latest first
 * @older: next older one of all slices
 * @newer: next newer one of all slices
 * @end: opcode that ends it; 0: nothing does
 * @owner: CPU or thread that it belongs to
 * @id: first argument, if the pair is by id
 * @event: event that began it
 * @data: arguments and blob of @event
 */
struct slice {
	struct slice *next;
	struct slice *older;
	struct slice *newer;
	uint8_t end;
	uint32_t owner;
	uint32_t id;
	struct ktape_event event;
	uint8_t data[];
};

/**
 * struct cut - state before the cut
 * @tid: by CPU, its thread, or TID_NONE
 * @switched: by CPU, it had a sched_switch
 * @last_ts: time of the last event before the cut, in ticks
 * @buckets: open slices by end and owner
 * @oldest: oldest open slice
 * @newest: newest open slice
 * @nr: number of open slices
 * @dropped: slices that were not kept, because SLICES_MAX were open
 */
struct cut {
	int32_t tid[CPUS_MAX];
	bool switched[CPUS_MAX];
	uint64_t last_ts;
	struct slice *buckets[BUCKETS];
	struct slice *oldest;
	struct slice *newest;
	unsigned int nr;
	uint64_t dropped;
};

/**
 * cut_begin() - make an empty state
 * @cut: set to the state
 *
 * Return: 0 or -ENOMEM.
 */
int cut_begin(struct cut **cut)
{
	struct cut *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		c->tid[i] = TID_NONE;
	*cut = c;
	return 0;
}

static uint32_t owner_of_slice(const struct pair *p, const struct ktape_event *e)
{
	if (p->scope == SCOPE_CPU)
		return e->cpu;
	/* Bit 0: the mark belongs to its thread; else to all. */
	if (p->scope == SCOPE_MARK && !(e->dat20 & 1))
		return UINT32_MAX;
	return (uint32_t)e->tid;
}

static struct slice **find_bucket(struct cut *c, uint8_t end, uint32_t owner)
{
	return &c->buckets[(owner * 31U + end) % BUCKETS];
}

static void unlink_slice(struct cut *c, struct slice *s)
{
	*(s->older ? &s->older->newer : &c->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &c->newest) = s->older;
	c->nr--;
	free(s);
}

static int open_slice(struct cut *c, const struct pair *p,
		      const struct ktape_event *e)
{
	struct slice **head = find_bucket(c, p->end, owner_of_slice(p, e));
	size_t args = e->nargs * 4U;
	struct slice *s;

	if (c->nr == SLICES_MAX) {
		c->dropped++;
		return 0;
	}
	s = calloc(1, sizeof(*s) + args + e->blob_size);
	if (!s)
		return -ENOMEM;
	s->end = p->end;
	s->owner = owner_of_slice(p, e);
	s->id = p->by_id ? ktape_event_arg(e, 0) : 0;
	s->event = *e;
	if (args)
		memcpy(s->data, e->args, args);
	if (e->blob_size)
		memcpy(s->data + args, e->blob, e->blob_size);
	s->event.args = s->data;
	s->event.blob = e->blob ? s->data + args : NULL;
	s->next = *head;
	*head = s;
	s->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = s;
	c->newest = s;
	c->nr++;
	return 0;
}

static void close_open_slice(struct cut *c, const struct pair *p,
			     const struct ktape_event *e)
{
	uint32_t owner = owner_of_slice(p, e);
	uint32_t id = p->by_id ? ktape_event_arg(e, 0) : 0;
	struct slice **at = find_bucket(c, p->end, owner), *s;

	for (; (s = *at); at = &s->next) {
		if (s->end != p->end || s->owner != owner || s->id != id)
			continue;
		*at = s->next;
		unlink_slice(c, s);
		return;
	}
}

/* Close the system call of a thread that ends: it does not return. */
static void close_thread(struct cut *c, int32_t tid)
{
	const struct ktape_event gone = { .tid = tid };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (pairs[i].scope == SCOPE_THREAD && !pairs[i].by_id)
			close_open_slice(c, &pairs[i], &gone);
	}
}

/**
 * cut_learn() - update the state by an event before the cut
 * @cut: state
 * @e: the event
 *
 * Return: 0 or -ENOMEM.
 */
int cut_learn(struct cut *cut, const struct ktape_event *e)
{
	cut->last_ts = e->ts;
	if (ktape_event_is_metadata(e))
		return open_slice(cut, &metadata, e);
	if (e->kind == KTAPE_RING_REGISTRY || e->cpu >= CPUS_MAX || !e->known)
		return 0;
	if (kt_event_thread_runs(e))
		cut->tid[e->cpu] = e->tid;
	if (e->opcode == KTAPE_EV_SCHED_SWITCH && e->nargs == 2) {
		cut->tid[e->cpu] = (int32_t)ktape_event_arg(e, 1);
		cut->switched[e->cpu] = true;
	} else if (e->opcode == KTAPE_EV_CONTEXT && e->nargs == 1) {
		cut->tid[e->cpu] = (int32_t)ktape_event_arg(e, 0);
	} else if (e->opcode == KTAPE_EV_PROCESS_EXIT) {
		close_thread(cut, (int32_t)ktape_event_arg(e, 0));
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (pairs[i].begin == e->opcode)
			return open_slice(cut, &pairs[i], e);
		if (pairs[i].end == e->opcode)
			close_open_slice(cut, &pairs[i], e);
	}
	return 0;
}

/* Return the first tick that is not before the cut. */
static uint64_t cut_ts(const struct cut *cut, const struct convert *c, uint64_t first)
{
	uint64_t low = cut->last_ts, high = first;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (moment_is_after(&c->range.from, c->info, mid))
			low = mid + 1;
		else
			high = mid;
	}
	return high;
}

/*
 * Write a context record for the thread of a CPU.  Readers of some formats derive threads
 * from switches only: for these, also write a switch from the idle thread, if the trace
 * has switches.  It has the default priority, because the real ones are unknown.
 */
static int write_thread(struct convert *c, const struct cut *cut, uint32_t cpu,
			uint64_t ts,
			int (*write)(struct convert *c, const struct ktape_event *e))
{
	int32_t tid = cut->tid[cpu];
	const uint32_t args[] = { htole32((uint32_t)tid), 0,
				  htole32((uint32_t)tid) };
	struct ktape_event e = {
		.ts = ts,
		.cpu = cpu,
		.opcode = KTAPE_EV_CONTEXT,
		.tid = tid,
		.kind = KTAPE_RING_EVENT,
		.nargs = 1,
		.size = KTAPE_RECORD_SIZE(1),
		.args = args,
		.dat20 = PRIO_NONE,
		.known = true,
	};
	int err = write(c, &e);

	if (err || !tid || !cut->switched[cpu] || !ktape_sink_switches(c->sink))
		return err;
	e.opcode = KTAPE_EV_SCHED_SWITCH;
	e.tid = 0;
	e.nargs = 2; /* args[1] and args[2]: from thread 0 to @tid */
	e.size = KTAPE_RECORD_SIZE(2);
	e.args = args + 1;
	e.dat20 = PRIO_USUAL | PRIO_USUAL << 8;
	return write(c, &e);
}

/**
 * cut_write() - write the threads and the open slices at the time of the cut
 * @cut: state
 * @c: the conversion
 * @first: first event that is not before the cut
 * @write: writes an event
 *
 * Return: 0 or negative errno.
 */
int cut_write(struct cut *cut, struct convert *c, const struct ktape_event *first,
	      int (*write)(struct convert *c, const struct ktape_event *e))
{
	const uint64_t ts = cut_ts(cut, c, first->ts);
	int err = 0;

	for (uint32_t cpu = 0; cpu < CPUS_MAX && !err; cpu++) {
		/* Negative: no event so far (TID_NONE), or the thread is not known. */
		if (cut->tid[cpu] >= 0)
			err = write_thread(c, cut, cpu, ts, write);
	}
	for (struct slice *s = cut->oldest; s && !err; s = s->newer) {
		s->event.ts = ts;
		err = write(c, &s->event);
	}
	if (cut->dropped)
		note("%llu slices that were open at the cut are left out: at most %u are kept",
		     (unsigned long long)cut->dropped, SLICES_MAX);
	return err;
}

/**
 * cut_free() - free the state
 * @cut: state, or NULL
 */
void cut_free(struct cut *cut)
{
	struct slice *s, *next;

	if (!cut)
		return;
	for (s = cut->oldest; s; s = next) {
		next = s->newer;
		free(s);
	}
	free(cut);
}
