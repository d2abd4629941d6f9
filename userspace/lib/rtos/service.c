// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The services of ThreadX that user events of other real-time kernels stand for, mostly those of
 * FreeRTOS from Tonbandgeraet.
 *
 * In FreeRTOS a semaphore and a mutex are queues, whose kind is reported once.  ThreadX
 * traces a call when it begins; FreeRTOS traces when a call waits and when it succeeds.  So
 * a wait becomes the call, and so does a success without a wait before it.
 * Events without a service of ThreadX become users' events with numbers of ktape.
 */
#include <ktape/formats.h>

#include "stream/event.h"
#include "rtos/foreign.h"
#include "rtos/threadx.h"

#define KINDS 6U /* kinds of queues */
#define PRIO_UNKNOWN \
	120U /* of a thread whose Linux priority is not known: nice 0 */
#define RT_PRIO_MAX 98U /* Linux priority of the lowest FreeRTOS priority, 0 */

enum family { QUEUE, SEMAPHORE, MUTEX, FAMILIES };
enum op { CREATE, RESET, SEND, RECEIVE, PEEK, OPS };

enum { STATE_SUSPENDED = 3, STATE_SLEEP };

/* State of ThreadX of a thread that waits for an object. */
static const uint8_t states[FAMILIES] = {
	[QUEUE] = 5, /* TX_QUEUE_SUSP and so on in tx_api.h */
	[SEMAPHORE] = 6,
	[MUTEX] = 13,
};

/* Object of ThreadX by kt_threadx_queue.kind: kind + 1, or 0: unknown, which counts as a queue. */
static const uint8_t families[KINDS + 1] = {
	QUEUE, QUEUE, SEMAPHORE, SEMAPHORE, MUTEX, MUTEX, QUEUE,
};

/**
 * struct service - a service of ThreadX
 * @id: number of its event, 0 = ThreadX has no such service
 * @wait: index of the word with the time to wait; here and below 0 = no such word
 * @owner: index of the word with the owner
 * @count: index of the word with the number of elements, or how often a mutex is taken
 * @inherit: index of the word that says whether priority is inherited
 */
struct service {
	uint8_t id;
	uint8_t wait;
	uint8_t owner;
	uint8_t count;
	uint8_t inherit;
};

/* The words are those of kinds.c; word 0 is the object.  Operations without an entry: @id is 0. */
static const struct service services[FAMILIES][OPS] = {
	[QUEUE] = {
		[CREATE] = { .id = KT_THREADX_QUEUE_CREATE },
		[RESET] = { .id = KT_THREADX_QUEUE_FLUSH },
		[SEND] = { .id = KT_THREADX_QUEUE_SEND, .wait = 2, .count = 3 },
		[RECEIVE] = { .id = KT_THREADX_QUEUE_RECEIVE, .wait = 2, .count = 3 },
	},
	[SEMAPHORE] = {
		[CREATE] = { .id = KT_THREADX_SEMAPHORE_CREATE },
		[SEND] = { .id = KT_THREADX_SEMAPHORE_PUT, .count = 1 },
		[RECEIVE] = { .id = KT_THREADX_SEMAPHORE_GET, .wait = 1, .count = 2 },
	},
	[MUTEX] = {
		[CREATE] = { .id = KT_THREADX_MUTEX_CREATE, .inherit = 1 },
		[SEND] = { .id = KT_THREADX_MUTEX_PUT, .owner = 1, .count = 2 },
		[RECEIVE] = { .id = KT_THREADX_MUTEX_GET, .wait = 1, .owner = 2,
			      .count = 3 },
	},
};

/**
 * struct call - an event of FreeRTOS
 * @map: state of the mapping
 * @c: its CPU
 * @e: the event
 * @op: operation on a queue
 * @isr: an interrupt makes the call; the trace may lack its entry and exit
 * @args: the first two arguments behind the number of the event
 * @q: the queue, NULL for events without one
 */
struct call {
	struct kt_threadx_map *map;
	struct kt_threadx_cpu *c;
	const struct ktape_event *e;
	enum op op;
	bool isr;
	uint32_t args[2];
	struct kt_threadx_queue *q;
};

/* Return the state of a queue; a queue that had the same place before is forgotten. */
static struct kt_threadx_queue *queue_at(struct kt_threadx_map *map, uint32_t id)
{
	struct kt_threadx_queue *q = &map->queues[id % KT_THREADX_QUEUES];

	if (q->id != id)
		*q = (struct kt_threadx_queue){ .id = id };
	return q;
}

/* Put an event that ThreadX does not have as a user's event with its first four values. */
static int put_own(const struct kt_threadx_cpu *c, const struct ktape_event *e,
		   struct kt_threadx_entry *x)
{
	uint32_t id = ktape_event_arg(e, 0);
	const uint8_t *p = e->blob, *end = p ? p + e->blob_size : p;
	unsigned int nr = 0;
	struct kt_typed t;

	kt_threadx_put(x, c, e, kt_threadx_own(id));
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
 * Put a call on a queue that has @len elements before it.  A mutex is a queue of one element:
 * while the element is there, the mutex has no owner.
 */
static int put_service_call(const struct call *k, struct kt_threadx_entry *x,
			    uint32_t wait, uint32_t len)
{
	unsigned int family = families[k->q->kind];
	const struct service *s = &services[family][k->op];

	if (!s->id)
		return put_own(k->c, k->e, x);
	kt_threadx_put(x, k->c, k->e, s->id);
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

static struct kt_threadx_wait *wait_of(const struct call *k)
{
	return &k->map->waits[k->c->tid % KT_THREADX_WAITS];
}

/* Return true if the thread already waits within this call.  An interrupt never waits. */
static bool is_waiting(const struct call *k)
{
	const struct kt_threadx_wait *w = wait_of(k);

	return !k->isr && k->c->tid && w->tid == k->c->tid &&
	       w->queue == k->q->id && w->op == k->op;
}

/**
 * kt_threadx_end_wait() - end the wait of the thread that runs on a CPU: it runs again
 * @map: state of the mapping
 * @c: the CPU
 */
void kt_threadx_end_wait(struct kt_threadx_map *map, const struct kt_threadx_cpu *c)
{
	struct kt_threadx_wait *w = &map->waits[c->tid % KT_THREADX_WAITS];

	if (w->tid == c->tid)
		w->tid = 0;
}

/* End the wait of the calling thread; an interrupt ends none. */
static void end_service_wait(const struct call *k)
{
	if (!k->isr)
		kt_threadx_end_wait(k->map, k->c);
}

/* Put a call that begins to wait: this is when ThreadX traces it. */
static int put_wait(const struct call *k, struct kt_threadx_entry *x)
{
	struct kt_threadx_wait *w = wait_of(k);
	uint32_t ticks = k->args[1];
	/*
	 * The same call waits again because another thread took the element first.  Then
	 * less time is left, or it waits forever, or it happens within one tick: the
	 * operation of the other thread shows that.
	 */
	bool again = is_waiting(k) &&
		     (ticks < w->ticks ||
		      (ticks == w->ticks &&
		       (ticks == UINT32_MAX || k->q->ops != w->ops)));

	if (!k->isr)
		k->c->state = states[families[k->q->kind]];
	/* FreeRTOS does not trace that a peek succeeds. */
	if (k->op == PEEK)
		end_service_wait(k);
	else if (k->c->tid)
		*w = (struct kt_threadx_wait){
			.tid = k->c->tid,
			.queue = k->q->id,
			.op = (uint8_t)k->op,
			.ticks = ticks,
			.ops = k->q->ops,
		};
	/* Who waits to receive or peek has found the queue empty. */
	return again ? 0 :
		       put_service_call(k, x, ticks, k->op == SEND ? k->q->len : 0);
}

/* Put a call that succeeds, unless it was put when it began to wait. */
static int put_done(const struct call *k, struct kt_threadx_entry *x)
{
	/* FreeRTOS reports the length after the call, ThreadX that before it. */
	uint32_t len = k->args[1], before = k->op == SEND ? len - !!len : len + 1;
	/* Creating a mutex sends its element once. */
	bool inner = is_waiting(k) || (k->q->is_new && k->op == SEND &&
				       families[k->q->kind] == MUTEX);
	int nr = inner ? 0 : put_service_call(k, x, 0, before);

	k->q->is_new = false;
	k->q->ops++;
	k->q->len = len;
	k->q->owner = k->op == RECEIVE && !k->isr ? k->c->tid : 0;
	if (k->isr)
		return nr;
	k->c->state = 0;
	end_service_wait(k);
	return nr;
}

static int put_reset(const struct call *k, struct kt_threadx_entry *x)
{
	k->q->len = 0;
	k->q->ops++;
	k->q->owner = 0;
	return put_service_call(k, x, 0, 0);
}

/* Put the creation of a queue, or wait for its kind, which comes after it. */
static int put_created(const struct call *k, struct kt_threadx_entry *x)
{
	k->q->created = !k->q->kind;
	k->q->is_new = true;
	k->q->owner = 0;
	return k->q->kind ? put_service_call(k, x, 0, 0) : 0;
}

/* Take the length that an event reports.  ThreadX has no such event. */
static int put_service_length(const struct call *k, struct kt_threadx_entry *x)
{
	k->q->len = k->args[1];
	k->q->ops++;
	return put_own(k->c, k->e, x);
}

/* ---- threads ----------------------------------------------------------------- */

static int put_resume(const struct call *k, struct kt_threadx_entry *x)
{
	kt_threadx_put(x, k->c, k->e, KT_THREADX_RESUME_API);
	x->info[0] = k->args[0];
	x->info[1] = STATE_SUSPENDED;
	return 1;
}

/* Return the state of ThreadX of a thread, by what it waits for; 0 = ready. */
static uint32_t state_of(struct kt_threadx_map *map, uint32_t tid)
{
	const struct kt_threadx_wait *w = &map->waits[tid % KT_THREADX_WAITS];
	const struct kt_threadx_queue *q =
		&map->queues[w->queue % KT_THREADX_QUEUES];

	if (!tid || w->tid != tid)
		return 0;
	return states[q->id == w->queue ? families[q->kind] : QUEUE];
}

static int put_suspend(const struct call *k, struct kt_threadx_entry *x)
{
	kt_threadx_put(x, k->c, k->e, KT_THREADX_SUSPEND_API);
	x->info[0] = k->args[0];
	x->info[1] = state_of(k->map, k->args[0]);
	return 1;
}

/* Put a sleep.  If the event has the time of the wake-up, the number of ticks is unknown. */
static int put_sleep(const struct call *k, struct kt_threadx_entry *x)
{
	uint32_t id = ktape_event_arg(k->e, 0) & ~KTAPE_FORMAT_ID_MASK;

	kt_threadx_put(x, k->c, k->e, KT_THREADX_SLEEP);
	k->c->state = STATE_SLEEP;
	x->info[0] = id == KT_TBAND_DELAY ? k->args[0] : 0;
	return 1;
}

static void set_service_prio(const struct call *k)
{
	if (k->c->tid == k->args[0])
		k->c->prio =
			RT_PRIO_MAX - (uint32_t)kt_min(k->args[1], RT_PRIO_MAX);
}

/* Put a change of priority, unless it is the first priority of a thread just created. */
static int put_priority(const struct call *k, struct kt_threadx_entry *x)
{
	if (k->c->made && k->c->made == k->args[0])
		return 0;
	kt_threadx_put(x, k->c, k->e, KT_THREADX_PRIORITY_CHANGE);
	x->info[0] = k->args[0];
	x->info[1] = RT_PRIO_MAX - (uint32_t)kt_min(k->args[1], RT_PRIO_MAX);
	x->info[2] = k->c->tid == k->args[0] ? k->c->prio : PRIO_UNKNOWN;
	set_service_prio(k);
	return 1;
}

/* Put priority inheritance, which happens within a call. */
static int put_inherit(const struct call *k, struct kt_threadx_entry *x)
{
	int nr = put_own(k->c, k->e, x);

	set_service_prio(k);
	return nr;
}

/* Put an event that ThreadX has no service for. */
static int put_service_other(const struct call *k, struct kt_threadx_entry *x)
{
	return put_own(k->c, k->e, x);
}

/* ---- table of events --------------------------------------------------------- */

/* How an event of Tonbandgeraet becomes events of ThreadX. */
struct maker {
	int (*make)(const struct call *k, struct kt_threadx_entry *x);
	bool queue;  /* the first argument is a queue */
	uint8_t op;  /* enum op */
	bool isr;    /* an interrupt makes the call */
	bool within; /* happens within a call: does not end its wait */
};

/* clang-format off */

/*
 * By event; those of queues list all members of struct maker in their order.  A RESET of
 * put_service_length() is there only because each has an operation: it is not used.
 */
static const struct maker makers[KT_TBAND_IDS] = {
	[KT_TBAND_RESUMED] = { .make = put_resume },
	[KT_TBAND_RESUMED_FROM_ISR] = { .make = put_resume, .isr = true },
	[KT_TBAND_SUSPENDED] = { .make = put_suspend },
	[KT_TBAND_DELAY ... KT_TBAND_DELAY_UNTIL] = { .make = put_sleep },
	[KT_TBAND_PRIO_SET] = { .make = put_priority },
	[KT_TBAND_PRIO_INHERIT ... KT_TBAND_PRIO_DISINHERIT] = {
		.make = put_inherit, .within = true },
	[KT_TBAND_QUEUE_CREATED] = { put_created, true, CREATE, false, false },
	[KT_TBAND_QUEUE_SEND] = { put_done, true, SEND, false, true },
	[KT_TBAND_QUEUE_SEND_FROM_ISR] = { put_done, true, SEND, true, true },
	[KT_TBAND_QUEUE_OVERWRITE] = { put_service_length, true, RESET, false, false },
	[KT_TBAND_QUEUE_OVERWRITE_FROM_ISR] = {
		put_service_length, true, RESET, true, false },
	[KT_TBAND_QUEUE_RECEIVE] = { put_done, true, RECEIVE, false, true },
	[KT_TBAND_QUEUE_RECEIVE_FROM_ISR] = { put_done, true, RECEIVE, true, true },
	[KT_TBAND_QUEUE_RESET] = { put_reset, true, RESET, false, false },
	[KT_TBAND_BLOCK_PEEK] = { put_wait, true, PEEK, false, true },
	[KT_TBAND_BLOCK_SEND] = { put_wait, true, SEND, false, true },
	[KT_TBAND_BLOCK_RECEIVE] = { put_wait, true, RECEIVE, false, true },
	[KT_TBAND_QUEUE_CUR_LENGTH] = { put_service_length, true, RESET, false, false },
};

/* clang-format on */

static const struct maker without = { .make = put_service_other };

static struct call call_of(struct kt_threadx_map *map, struct kt_threadx_cpu *c,
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
 * kt_threadx_service() - make the events of ThreadX for a user event of another kernel
 * @map: state of the mapping
 * @c: CPU of the event
 * @e: the event
 * @x: filled
 *
 * Return: number of entries, or -ENOTSUP if the event came from TraceX or from no known format.
 */
int kt_threadx_service(struct kt_threadx_map *map, struct kt_threadx_cpu *c,
		       const struct ktape_event *e, struct kt_threadx_entry *x)
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
		end_service_wait(&k);
	return m->make(&k, x);
}

/**
 * kt_threadx_learn() - remember the kind of a queue from an event that describes the stream
 * @map: state of the mapping
 * @c: CPU of the event
 * @e: the event
 * @x: filled: the creation of the queue, which waited for its kind
 *
 * Return: number of entries.
 */
int kt_threadx_learn(struct kt_threadx_map *map, const struct kt_threadx_cpu *c,
		     const struct ktape_event *e, struct kt_threadx_entry *x)
{
	struct kt_threadx_cpu here = *c;
	struct call k = { .map = map, .c = &here, .e = e, .op = CREATE };

	if (e->nargs < 3 ||
	    ktape_event_arg(e, 0) != (KTAPE_FORMAT_ID_TBAND | KT_TBAND_QUEUE_KIND) ||
	    ktape_event_arg(e, 2) >= KINDS)
		return 0;
	k.q = queue_at(map, ktape_event_arg(e, 1));
	k.q->kind = (uint8_t)(ktape_event_arg(e, 2) + 1);
	if (!k.q->created)
		return 0;
	k.q->created = false;
	return put_service_call(&k, x, 0, 0);
}

/*
 * Return the name of a user's event that ktape writes, or NULL.  The numbers are KT_THREADX_OUT_MARK
 * and those that follow, KT_THREADX_OUT_USER, and those of kt_threadx_own().
 */
const char *kt_threadx_own_name(const struct kt_threadx_map *map, uint32_t id)
{
	const struct ktape_event_desc *d = NULL;

	if (id >= KT_THREADX_OUT_MARK && id < KT_THREADX_OUT_USER)
		d = ktape_event_desc(KTAPE_EV_MARK + id - KT_THREADX_OUT_MARK);
	else if (id == KT_THREADX_OUT_USER)
		d = ktape_event_desc(KTAPE_EV_USER_EVENT);
	if (d)
		return d->name;
	if (id < KT_THREADX_USER_OUT || id > KT_THREADX_OUT_LAST)
		return NULL;
	/* Put the bits back from where kt_threadx_own() took them. */
	return kt_user_event_name(map->formats, KTAPE_FORMAT_ID_FIRST |
							(id & 0xf00) << 16 |
							(id & 0xff));
}
