// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which services of ThreadX do user events of Tonbandgeraet and RKH stand for?
 *
 * FreeRTOS has semaphores and mutexes as queues, whose kind is told once.  ThreadX
 * tells a call where it begins, FreeRTOS where it waits and where it succeeds: the
 * second of these is the same call.  Services that ThreadX does not have are events
 * of users with a number of our own.
 */
#include <ktape/formats.h>

#include "stream/event.h"
#include "format/foreign.h"

#include "internal.h"

#define KINDS		6U	/* of queues */
#define PRIO_UNKNOWN	120U
#define RT_PRIO_MAX	98U	/* the kernel's priority for theirs of 0 */

enum family {
	QUEUE,
	SEMAPHORE,
	MUTEX,
	FAMILIES
};
enum op {
	CREATE,
	RESET,
	SEND,
	RECEIVE,
	PEEK,
	OPS
};

enum { STATE_SUSPENDED = 3, STATE_SLEEP };

/* ThreadX: what a thread waits for. */
static const uint8_t states[FAMILIES] = {
	[QUEUE] = 5,
	[SEMAPHORE] = 6,
	[MUTEX] = 13,
};

/* By kind + 1; one that was not told is a queue. */
static const uint8_t families[KINDS + 1] = {
	QUEUE, QUEUE, SEMAPHORE, SEMAPHORE, MUTEX, MUTEX, QUEUE,
};

/* Event of ThreadX, and which of its words are what; 0: none. */
struct service {
	uint8_t id;
	uint8_t wait;
	uint8_t owner;
	uint8_t count;
	uint8_t inherit;
};

static const struct service services[FAMILIES][OPS] = {
	[QUEUE] = {
		[CREATE] = { .id = 60 },
		[RESET] = { .id = 62 },
		[SEND] = { .id = 69, .wait = 2, .count = 3 },
		[RECEIVE] = { .id = 68, .wait = 2, .count = 3 },
	},
	[SEMAPHORE] = {
		[CREATE] = { .id = 81 },
		[SEND] = { .id = 88, .count = 1 },
		[RECEIVE] = { .id = 83, .wait = 1, .count = 2 },
	},
	[MUTEX] = {
		[CREATE] = { .id = KT_TRACEX_MUTEX_CREATE, .inherit = 1 },
		[SEND] = { .id = KT_TRACEX_MUTEX_PUT, .owner = 1, .count = 2 },
		[RECEIVE] = { .id = KT_TRACEX_MUTEX_GET, .wait = 1, .owner = 2,
			      .count = 3 },
	},
};

/**
 * struct call - an event of FreeRTOS
 * @map: what was before
 * @c: where
 * @e: the event
 * @op: what is done with a queue
 * @isr: by an interrupt, which need not be in the trace itself
 * @args: what it tells
 * @q: the queue, of events that have one
 */
struct call {
	struct kt_tracex_map *map;
	struct kt_tracex_cpu *c;
	const struct ktape_event *e;
	enum op op;
	bool isr;
	uint32_t args[2];
	struct kt_tracex_queue *q;
};

static struct kt_tracex_queue *queue_at(struct kt_tracex_map *map, uint32_t id)
{
	struct kt_tracex_queue *q = &map->queues[id % KT_TRACEX_QUEUES];

	if (q->id != id)
		*q = (struct kt_tracex_queue){ .id = id };
	return q;
}

/* Events that ThreadX does not have: what they tell, as far as there is room. */
static int put_own(const struct kt_tracex_cpu *c, const struct ktape_event *e,
		   struct kt_tracex_entry *x)
{
	uint32_t id = ktape_event_arg(e, 0);
	const uint8_t *p = e->blob, *end = p ? p + e->blob_size : p;
	unsigned int nr = 0;
	struct kt_typed t;

	kt_tracex_put(x, c, e, kt_tracex_own(id));
	for (; nr < 4 && nr + 1 < e->nargs; nr++)
		x->info[nr] = ktape_event_arg(e, nr + 1);
	while (nr < 4 && p < end) {
		kt_typed_next(&p, end, &t);
		if (t.kind != KT_TYPED_NUMBER)
			break;
		x->info[nr++] = (uint32_t)t.value;
	}
	return 1;
}

/* ---- queues ------------------------------------------------------------------ */

/*
 * A call whose queue has @len elements before it.  A mutex is a queue of one
 * element: as long as that is there, it has no owner.
 */
static int put_call(const struct call *k, struct kt_tracex_entry *x,
		    uint32_t wait, uint32_t len)
{
	unsigned int family = families[k->q->kind];
	const struct service *s = &services[family][k->op];

	if (!s->id)
		return put_own(k->c, k->e, x);
	kt_tracex_put(x, k->c, k->e, s->id);
	x->info[0] = k->q->id;
	if (s->wait)
		x->info[s->wait] = wait;
	if (s->owner)
		x->info[s->owner] = len ? 0 : k->q->owner;
	if (s->inherit)
		x->info[s->inherit] = 1;
	if (s->count)
		x->info[s->count] = family == MUTEX ? !len : len;
	return 1;
}

static struct kt_tracex_wait *wait_of(const struct call *k)
{
	return &k->map->waits[k->c->tid % KT_TRACEX_WAITS];
}

/* Did the thread wait within this very call?  No interrupt does. */
static bool is_waiting(const struct call *k)
{
	const struct kt_tracex_wait *w = wait_of(k);

	return !k->isr && k->c->tid && w->tid == k->c->tid &&
	       w->queue == k->q->id && w->op == k->op;
}

/**
 * kt_tracex_acts() - the thread of a CPU does something: a call that waited is over
 * @map: what was before
 * @c: where
 */
void kt_tracex_acts(struct kt_tracex_map *map, const struct kt_tracex_cpu *c)
{
	struct kt_tracex_wait *w = &map->waits[c->tid % KT_TRACEX_WAITS];

	if (w->tid == c->tid)
		w->tid = 0;
}

/* The same, if it is no interrupt that does it. */
static void wait_ends(const struct call *k)
{
	if (!k->isr)
		kt_tracex_acts(k->map, k->c);
}

/* It begins to wait: that is where ThreadX tells the call. */
static int wait_begins(const struct call *k, struct kt_tracex_entry *x)
{
	struct kt_tracex_wait *w = wait_of(k);
	uint32_t ticks = k->args[1];
	/*
	 * Another one was faster: then less time is left, or there is no end, or it
	 * was within the same tick, which what the other one did tells.
	 */
	bool again = is_waiting(k) &&
		     (ticks < w->ticks ||
		      (ticks == w->ticks &&
		       (ticks == UINT32_MAX || k->q->ops != w->ops)));

	if (!k->isr)
		k->c->state = states[families[k->q->kind]];
	/* Nothing tells that a peek succeeds. */
	if (k->op == PEEK)
		wait_ends(k);
	else if (k->c->tid)
		*w = (struct kt_tracex_wait){
			.tid = k->c->tid,
			.queue = k->q->id,
			.op = (uint8_t)k->op,
			.ticks = ticks,
			.ops = k->q->ops,
		};
	return again ? 0 : put_call(k, x, ticks, k->op == SEND ? k->q->len : 0);
}

/* It succeeds. */
static int done(const struct call *k, struct kt_tracex_entry *x)
{
	uint32_t len = k->args[1],
		 before = k->op == SEND ? len - !!len : len + 1;
	/* A mutex that is made puts itself once. */
	bool inner = is_waiting(k) ||
		     (k->q->is_new && k->op == SEND &&
		      families[k->q->kind] == MUTEX);
	int nr = inner ? 0 : put_call(k, x, 0, before);

	k->q->is_new = false;
	k->q->ops++;
	k->q->len = len;
	k->q->owner = k->op == RECEIVE && !k->isr ? k->c->tid : 0;
	if (k->isr)
		return nr;
	k->c->state = 0;
	wait_ends(k);
	return nr;
}

static int reset(const struct call *k, struct kt_tracex_entry *x)
{
	k->q->len = 0;
	k->q->ops++;
	k->q->owner = 0;
	return put_call(k, x, 0, 0);
}

/* Its kind follows. */
static int created(const struct call *k, struct kt_tracex_entry *x)
{
	k->q->created = !k->q->kind;
	k->q->is_new = true;
	k->q->owner = 0;
	return k->q->kind ? put_call(k, x, 0, 0) : 0;
}

static int length(const struct call *k, struct kt_tracex_entry *x)
{
	k->q->len = k->args[1];
	k->q->ops++;
	return put_own(k->c, k->e, x);
}

/* ---- threads ----------------------------------------------------------------- */

static int resume(const struct call *k, struct kt_tracex_entry *x)
{
	kt_tracex_put(x, k->c, k->e, KT_TRACEX_RESUME_API);
	x->info[0] = k->args[0];
	x->info[1] = STATE_SUSPENDED;
	return 1;
}

/* What a thread is known to wait for; 0: it is ready. */
static uint32_t state_of(struct kt_tracex_map *map, uint32_t tid)
{
	const struct kt_tracex_wait *w = &map->waits[tid % KT_TRACEX_WAITS];
	const struct kt_tracex_queue *q =
		&map->queues[w->queue % KT_TRACEX_QUEUES];

	if (!tid || w->tid != tid)
		return 0;
	return states[q->id == w->queue ? families[q->kind] : QUEUE];
}

static int suspend(const struct call *k, struct kt_tracex_entry *x)
{
	kt_tracex_put(x, k->c, k->e, KT_TRACEX_SUSPEND_API);
	x->info[0] = k->args[0];
	x->info[1] = state_of(k->map, k->args[0]);
	return 1;
}

/* Ticks; of a time to wake up at nobody knows how many they are. */
static int sleeps(const struct call *k, struct kt_tracex_entry *x)
{
	uint32_t id = ktape_event_arg(k->e, 0) & ~KTAPE_FORMAT_ID_MASK;

	kt_tracex_put(x, k->c, k->e, KT_TRACEX_SLEEP);
	k->c->state = STATE_SLEEP;
	x->info[0] = id == KT_TBAND_DELAY ? k->args[0] : 0;
	return 1;
}

static void learn_prio(const struct call *k)
{
	if (k->c->tid == k->args[0])
		k->c->prio =
			RT_PRIO_MAX - (uint32_t)kt_min(k->args[1], RT_PRIO_MAX);
}

/* Of a thread that was made by the event before, it is no change. */
static int priority(const struct call *k, struct kt_tracex_entry *x)
{
	if (k->c->made && k->c->made == k->args[0])
		return 0;
	kt_tracex_put(x, k->c, k->e, KT_TRACEX_PRIORITY_CHANGE);
	x->info[0] = k->args[0];
	x->info[1] = RT_PRIO_MAX - (uint32_t)kt_min(k->args[1], RT_PRIO_MAX);
	x->info[2] = k->c->tid == k->args[0] ? k->c->prio : PRIO_UNKNOWN;
	learn_prio(k);
	return 1;
}

/* Not a service, but done within one. */
static int inherit(const struct call *k, struct kt_tracex_entry *x)
{
	int nr = put_own(k->c, k->e, x);

	learn_prio(k);
	return nr;
}

/* ThreadX has nothing like it. */
static int other(const struct call *k, struct kt_tracex_entry *x)
{
	return put_own(k->c, k->e, x);
}

/* ---- all --------------------------------------------------------------------- */

struct maker {
	int (*make)(const struct call *k, struct kt_tracex_entry *x);
	bool queue;	/* its first argument is one */
	uint8_t op;
	bool isr;
	bool within;	/* a call that waits */
};

/* clang-format off */

static const struct maker makers[KT_TBAND_IDS] = {
	[KT_TBAND_RESUMED] = { .make = resume },
	[KT_TBAND_RESUMED_FROM_ISR] = { .make = resume, .isr = true },
	[KT_TBAND_SUSPENDED] = { .make = suspend },
	[KT_TBAND_DELAY ... KT_TBAND_DELAY_UNTIL] = { .make = sleeps },
	[KT_TBAND_PRIO_SET] = { .make = priority },
	[KT_TBAND_PRIO_INHERIT ... KT_TBAND_PRIO_DISINHERIT] = {
		.make = inherit, .within = true },
	[KT_TBAND_QUEUE_CREATED] = { created, true, CREATE, false, false },
	[KT_TBAND_QUEUE_SEND] = { done, true, SEND, false, true },
	[KT_TBAND_QUEUE_SEND_FROM_ISR] = { done, true, SEND, true, true },
	[KT_TBAND_QUEUE_OVERWRITE] = { length, true, RESET, false, false },
	[KT_TBAND_QUEUE_OVERWRITE_FROM_ISR] = {
		length, true, RESET, true, false },
	[KT_TBAND_QUEUE_RECEIVE] = { done, true, RECEIVE, false, true },
	[KT_TBAND_QUEUE_RECEIVE_FROM_ISR] = { done, true, RECEIVE, true, true },
	[KT_TBAND_QUEUE_RESET] = { reset, true, RESET, false, false },
	[KT_TBAND_BLOCK_PEEK] = { wait_begins, true, PEEK, false, true },
	[KT_TBAND_BLOCK_SEND] = { wait_begins, true, SEND, false, true },
	[KT_TBAND_BLOCK_RECEIVE] = { wait_begins, true, RECEIVE, false, true },
	[KT_TBAND_QUEUE_CUR_LENGTH] = { length, true, RESET, false, false },
};

/* clang-format on */

static const struct maker without = { .make = other };

static struct call call_of(struct kt_tracex_map *map, struct kt_tracex_cpu *c,
			   const struct ktape_event *e, const struct maker *m)
{
	struct call k = { .map = map,
			  .c = c,
			  .e = e,
			  .op = (enum op)m->op,
			  .isr = m->isr || c->nesting };

	for (unsigned int i = 0; i < 2 && i + 1 < e->nargs; i++)
		k.args[i] = ktape_event_arg(e, i + 1);
	if (m->queue)
		k.q = queue_at(map, k.args[0]);
	return k;
}

/**
 * kt_tracex_service() - make entries of a user event of another kernel
 * @map: what was before
 * @c: where
 * @e: the event
 * @x: filled
 *
 * Return: how many; -ENOTSUP: it is of none that we know.
 */
int kt_tracex_service(struct kt_tracex_map *map, struct kt_tracex_cpu *c,
		      const struct ktape_event *e, struct kt_tracex_entry *x)
{
	uint32_t id = e->nargs ? ktape_event_arg(e, 0) : 0;
	uint32_t low = id & ~KTAPE_FORMAT_ID_MASK;
	const struct maker *m = &without;
	struct call k;

	if (!kt_user_event_name(map->formats, id) ||
	    (id & KTAPE_FORMAT_ID_MASK) == KTAPE_FORMAT_ID_TRACEX)
		return -ENOTSUP;
	if ((id & KTAPE_FORMAT_ID_MASK) != KTAPE_FORMAT_ID_TBAND)
		return put_own(c, e, x);
	if (low < KT_TBAND_IDS && makers[low].make)
		m = &makers[low];
	k = call_of(map, c, e, m);
	if (!m->within)
		wait_ends(&k);
	return m->make(&k, x);
}

/**
 * kt_tracex_learn() - learn from what a stream says of itself
 * @map: what was before
 * @c: where
 * @e: the event
 * @x: filled: a queue that was made gets known with its kind
 *
 * Return: how many entries.
 */
int kt_tracex_learn(struct kt_tracex_map *map, const struct kt_tracex_cpu *c,
		    const struct ktape_event *e, struct kt_tracex_entry *x)
{
	struct kt_tracex_cpu here = *c;
	struct call k = { .map = map, .c = &here, .e = e, .op = CREATE };

	if (e->nargs < 3 ||
	    ktape_event_arg(e, 0) !=
		    (KTAPE_FORMAT_ID_TBAND | KT_TBAND_QUEUE_KIND) ||
	    ktape_event_arg(e, 2) >= KINDS)
		return 0;
	k.q = queue_at(map, ktape_event_arg(e, 1));
	k.q->kind = (uint8_t)(ktape_event_arg(e, 2) + 1);
	if (!k.q->created)
		return 0;
	k.q->created = false;
	return put_call(&k, x, 0, 0);
}

/* Return: name of an event that is ours alone, or NULL. */
const char *kt_tracex_own_name(const struct kt_tracex_map *map, uint32_t id)
{
	const struct ktape_event_desc *d = NULL;

	if (id >= KT_TRACEX_OUT_MARK && id < KT_TRACEX_OUT_USER)
		d = ktape_event_desc(KTAPE_EV_MARK + id - KT_TRACEX_OUT_MARK);
	else if (id == KT_TRACEX_OUT_USER)
		d = ktape_event_desc(KTAPE_EV_USER_EVENT);
	if (d)
		return d->name;
	if (id < KT_TRACEX_USER_OUT || id > KT_TRACEX_OUT_LAST)
		return NULL;
	return kt_user_event_name(map->formats,
				  KTAPE_FORMAT_ID_FIRST | (id & 0xf00) << 16 |
					  (id & 0xff));
}
