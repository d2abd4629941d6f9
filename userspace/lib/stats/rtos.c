// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Statistics of RTOS traces, as TraceX computes them: collect events and threads, and
 * return the results.  context.c finds the context after each event, count.c counts,
 * inversion.c finds priority inversions.
 */
#include <ktape/formats.h>

#include "util/hash.h"
#include "format/formats.h"
#include "stats/rtos.h"

#define NON_ASCII  "Non-ASCII Name" /* shown by TraceX for such a name */
#define FIRST_ROOM 16U
#define EXCHANGED  256U	  /* most counts that are sorted as in TraceX */
#define INIT_BITS  0x7ffU /* of the priority word of INIT, as in TraceX */

int ktape_rtos_new(struct ktape_rtos **rtos)
{
	struct ktape_rtos *r = calloc(1, sizeof(*r));

	*rtos = r;
	if (!r)
		return -ENOMEM;
	r->map.formats = kt_user_formats;
	r->head.mask = UINT32_MAX;
	r->seed = kt_hash_seed(r);
	return 0;
}

/* Append a zeroed event to a core.  Return: the event, or NULL. */
static struct kt_rtos_event *append_event(struct ktape_rtos *r, uint32_t core)
{
	struct kt_rtos_events *events;

	if (core >= r->nr_cores) {
		events = realloc(r->cores, (core + 1ULL) * sizeof(*events));
		if (!events)
			return NULL;
		r->cores = events;
		memset(events + r->nr_cores, 0,
		       (core + 1ULL - r->nr_cores) * sizeof(*events));
		r->nr_cores = core + 1;
	}
	events = &r->cores[core];
	if (events->nr == events->room &&
	    kt_rtos_make_room(events, kt_max(FIRST_ROOM, events->room * 2)))
		return NULL;
	r->nr_events++;
	return &events->list[events->nr++];
}

static bool is_thread_table_full(const struct ktape_rtos *r)
{
	return r->nr_threads == KTAPE_RTOS_THREADS_MAX;
}

static void set_rtos_name(struct kt_rtos_thread *t, const uint8_t *name, size_t len)
{
	len = strnlen((const char *)name, kt_min(len, sizeof(t->t.name) - 1));
	memset(t->t.name, 0, sizeof(t->t.name));
	if (!len || *name < 0x20 || *name > 0x7e)
		strcpy(t->t.name, NON_ASCII);
	else
		memcpy(t->t.name, name, len);
}

/*
 * Take an entry of a TraceX registry.  Its first four bytes are in the word @bytes, the first one
 * highest: [1] is the type; of a thread, bit 7 of [2] says that [2] and [3] have its priority.
 */
static int take_rtos_object(struct ktape_rtos *r, const struct ktape_event *e)
{
	uint32_t bytes = ktape_event_arg(e, 1);
	const uint8_t *text = e->blob;
	struct kt_rtos_thread *t;

	r->totals.objects++;
	if ((bytes >> 16 & 0xff) != KT_THREADX_THREAD)
		return 0;
	if (is_thread_table_full(r)) {
		r->left[KT_RTOS_LEFT_THREADS]++;
		return 0;
	}
	t = kt_rtos_add(r, ktape_event_arg(e, 2));
	if (!t)
		return -ENOMEM;
	t->t.stack_start = ktape_event_arg(e, 3);
	t->t.stack_size = ktape_event_arg(e, 4);
	t->t.stack_min = t->t.stack_size;
	if (bytes >> 8 & 0x80)
		t->t.lowest_prio = (bytes >> 8 & 3) << 8 | (bytes & 0xff);
	t->t.highest_prio = t->t.lowest_prio;
	/* The blob is a string argument: its format comes before the name. */
	if (e->blob_size > 1)
		set_rtos_name(t, text + 1, e->blob_size - 1);
	else
		set_rtos_name(t, (const uint8_t *)"", 0);
	return 0;
}

/* Take the name of a thread of a native trace, unless it says that the thread has died (bit 8). */
static int take_rtos_registry(struct ktape_rtos *r, const struct ktape_event *e)
{
	uint32_t tid = e->nargs ? ktape_event_arg(e, 0) : 0;
	struct kt_rtos_thread *t;

	if (r->foreign || (e->dat20 & 0xff) != KTAPE_OBJ_THREAD || !tid ||
	    !e->blob_size || e->dat20 >> 8 & 1)
		return 0;
	t = kt_rtos_find(r, tid);
	if (!t && is_thread_table_full(r)) {
		r->left[KT_RTOS_LEFT_THREADS]++;
		return 0;
	}
	if (!t) {
		t = kt_rtos_add(r, tid);
		r->totals.objects++;
	}
	if (!t)
		return -ENOMEM;
	set_rtos_name(t, e->blob, e->blob_size);
	return 0;
}

/* ---- events ---------------------------------------------------------------------- */

/*
 * Keep an event of ThreadX.  Beyond the limit of events it is left out; beyond that of threads it
 * is kept, and counts for none.  Return: 0 or -ENOMEM.
 */
static int take_rtos_entry(struct ktape_rtos *r, const struct kt_threadx_entry *x)
{
	bool thread = kt_threadx_is_thread(x->context);
	struct kt_rtos_event *e;

	if (r->nr_events == KTAPE_RTOS_EVENTS_MAX) {
		r->left[KT_RTOS_LEFT_EVENTS]++;
		return 0;
	}
	/* Times are relative to the first event. */
	if (!r->nr_events)
		r->first = x->ticks;
	e = append_event(r, x->core);
	if (!e)
		return -ENOMEM;
	*e = (struct kt_rtos_event){
		.threshold = KTAPE_RTOS_UNKNOWN,
		.e = {
			.context = x->context, .id = x->id, .prio = x->prio,
			.stamp = x->stamp, .ticks = x->ticks - r->first,
		},
	};
	memcpy(e->e.info, x->info, sizeof(e->e.info));
	r->totals.max_ticks = kt_max(r->totals.max_ticks, e->e.ticks);
	if (thread && x->prio & KT_THREADX_THRESHOLD)
		e->threshold = x->prio >> KT_THREADX_THRESHOLD_SHIFT &
			       KT_THREADX_PRIO_MASK;
	if (thread)
		e->e.prio &= KT_THREADX_PRIO_MASK;
	else if (x->context == KT_THREADX_INIT)
		e->e.prio &= INIT_BITS;
	/* A thread that the registry does not name is added without a name. */
	if (!thread || kt_rtos_find(r, x->context))
		return 0;
	if (is_thread_table_full(r)) {
		r->left[KT_RTOS_LEFT_THEIRS]++;
		return 0;
	}
	r->totals.objects++;
	return kt_rtos_add(r, x->context) ? 0 : -ENOMEM;
}

static int take_native(struct ktape_rtos *r, const struct ktape_event *e)
{
	struct kt_threadx_entry entries[KT_THREADX_PER_EVENT];
	int nr = kt_threadx_map(&r->map, e, entries), err = 0;

	if (nr == -ENOTSUP)
		return 0;
	for (int i = 0; !err && i < nr; i++) {
		entries[i].stamp = (uint32_t)entries[i].ticks;
		err = take_rtos_entry(r, &entries[i]);
	}
	return nr < 0 ? nr : err;
}

/* Forget all threads and events before the header of a TraceX trace, which has its own entries. */
static void forget_rtos_threads(struct ktape_rtos *r)
{
	r->nr_threads = 0;
	r->totals.objects = 0;
	r->totals.max_ticks = 0;
	for (uint32_t i = 0; i < r->nr_cores; i++)
		r->cores[i].nr = 0;
	r->nr_events = 0;
	memset(r->left, 0, sizeof(r->left));
	if (r->table_size)
		memset(r->table, 0, r->table_size * sizeof(*r->table));
}

int ktape_rtos_take(struct ktape_rtos *r, const struct ktape_event *e)
{
	struct kt_threadx_entry x;

	if (r->finished)
		return -EINVAL;
	if (e->opcode == KTAPE_EV_REGISTRY)
		return take_rtos_registry(r, e);
	/* Not an event: it says what a reader assumed of a stream that does not say it. */
	if (ktape_event_is_assumed(e))
		return 0;
	if (!r->foreign && kt_threadx_take_head(&r->head, e)) {
		r->foreign = true;
		forget_rtos_threads(r);
		return 0;
	}
	if (!r->foreign)
		return take_native(r, e);
	if (e->known && e->opcode == KTAPE_EV_USER_EVENT && e->nargs == 5 &&
	    ktape_event_arg(e, 0) == (KTAPE_FORMAT_ID_TRACEX | KT_THREADX_ID_OBJECT))
		return take_rtos_object(r, e);
	return kt_threadx_take(&x, &r->head, e) ? take_rtos_entry(r, &x) : 0;
}

/* Analyse one core: each core has a running thread of its own. */
static int finish_core(struct ktape_rtos *r, struct kt_rtos_events *events)
{
	int err;

	if (!events->nr)
		return 0;
	kt_rtos_contexts(r, events);
	err = kt_rtos_fill(r, events);
	if (err)
		return err;
	kt_rtos_count(r, events);
	err = kt_rtos_inversions(r, events);
	kt_rtos_forget(r, events);
	return err;
}

/* Link the events of each thread anew: over all cores, by their numbers in the trace. */
static void link_all(struct ktape_rtos *r)
{
	for (uint32_t core = r->nr_cores; core--;) {
		struct kt_rtos_events *events = &r->cores[core];

		for (uint64_t i = events->nr; i--;) {
			struct kt_rtos_event *e = &events->list[i];
			struct kt_rtos_thread *t = NULL;

			if (kt_rtos_thread_or_idle(e->e.context))
				t = kt_rtos_find(r, e->e.context);
			if (!t)
				continue;
			e->same = t->first;
			t->first = events->base + i;
		}
	}
}

int ktape_rtos_finish(struct ktape_rtos *r)
{
	uint64_t base = 0;
	int err = 0;

	if (r->finished)
		return 0;
	r->finished = true;
	r->totals.max_ticks += !r->totals.max_ticks; /* callers divide by it */
	for (uint32_t core = 0; !err && core < r->nr_cores; core++) {
		r->cores[core].base = base;
		err = finish_core(r, &r->cores[core]);
		base += r->cores[core].nr;
	}
	if (!err)
		link_all(r);
	r->totals.threads = r->nr_threads;
	r->counts = calloc(KT_THREADX_EVENT_MASK + 1, sizeof(*r->counts));
	return err || r->counts ? err : -ENOMEM;
}

/* ---- results ---------------------------------------------------------------------- */

const struct ktape_rtos_totals *ktape_rtos_totals(const struct ktape_rtos *r)
{
	return &r->totals;
}

const struct ktape_rtos_thread *ktape_rtos_thread(const struct ktape_rtos *r,
						  size_t i)
{
	return i < r->nr_threads ? &r->threads[i].t : NULL;
}

/* Return the event with a number, or NULL. */
static const struct kt_rtos_event *event_at(const struct ktape_rtos *r, uint64_t i)
{
	uint32_t low = 0, high = r->nr_cores;

	/* Find the core by binary search: the last one whose base is not above @i. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (r->cores[middle].base <= i)
			low = middle;
		else
			high = middle;
	}
	if (!r->nr_cores || i - r->cores[low].base >= r->cores[low].nr)
		return NULL;
	return &r->cores[low].list[i - r->cores[low].base];
}

const struct ktape_rtos_event *ktape_rtos_event(const struct ktape_rtos *r,
						uint64_t i)
{
	const struct kt_rtos_event *e = event_at(r, i);

	return e ? &e->e : NULL;
}

uint64_t ktape_rtos_event_ts(const struct ktape_rtos *r, uint64_t i)
{
	const struct kt_rtos_event *e = event_at(r, i);

	return e ? r->first + e->e.ticks : 0;
}

int32_t ktape_rtos_tid(uint32_t context)
{
	return kt_threadx_tid(context);
}

uint64_t ktape_rtos_left_out(const struct ktape_rtos *r, unsigned int i,
			     const char **what)
{
	static const char *const kinds[KT_RTOS_LEFT] = {
		[KT_RTOS_LEFT_EVENTS] = "events beyond the first 4194304",
		[KT_RTOS_LEFT_THREADS] = "threads beyond the first 65536",
		[KT_RTOS_LEFT_THEIRS] = "events whose thread is beyond the first 65536",
	};

	for (unsigned int kind = 0; kind < KT_RTOS_LEFT; kind++) {
		if (!r->left[kind] || i--)
			continue;
		*what = kinds[kind];
		return r->left[kind];
	}
	return 0;
}

const char *ktape_rtos_event_name(uint32_t id)
{
	const struct kt_threadx_kind *k = kt_threadx_kind(id);

	return k ? k->name : NULL;
}

const char *ktape_rtos_service(const struct ktape_rtos *r, uint32_t id)
{
	const char *name = ktape_rtos_event_name(id);

	return name || r->foreign ? name : kt_threadx_own_name(&r->map, id);
}

static int by_count(const void *a, const void *b)
{
	const struct ktape_rtos_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * Sort with TraceX's exchange sort, so that events with equal counts come in the same
 * order.  It takes quadratic time, so many counts are sorted by count and number.
 */
static void sort_counts(struct ktape_rtos_count *c, size_t nr)
{
	if (nr > EXCHANGED) {
		qsort(c, nr, sizeof(*c), by_count);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = i + 1; j < nr; j++) {
			struct ktape_rtos_count swap = c[i];

			if (c[i].count >= c[j].count)
				continue;
			c[i] = c[j];
			c[j] = swap;
		}
	}
}

/* Count event number @i, whose id is @id. */
static void count_one(const struct ktape_rtos *r, uint64_t i, uint32_t id,
		      struct ktape_rtos_count *c, size_t *nr)
{
	if (!r->counts[id]) {
		c[*nr] = (struct ktape_rtos_count){ .id = id, .first = i };
		*nr += 1;
		r->counts[id] = (uint32_t)*nr;
	}
	c[r->counts[id] - 1].count++;
}

/* Count the events of one thread, following the links; RUNNING events as well. */
static size_t count_rtos_thread(const struct ktape_rtos *r, uint32_t thread,
				struct ktape_rtos_count *c)
{
	const struct kt_rtos_thread *t = kt_rtos_find(r, thread);
	const struct kt_rtos_event *e = NULL;
	size_t nr = 0;

	for (uint64_t i = t ? t->first : KT_RTOS_NEVER;
	     i != KT_RTOS_NEVER && (e = event_at(r, i)); i = e->same)
		count_one(r, i, e->e.id, c, &nr);
	return nr;
}

/* Count the events of all cores, but no RUNNING events: ktape_rtos_popular() leaves them out. */
static size_t count_all(const struct ktape_rtos *r, struct ktape_rtos_count *c)
{
	size_t nr = 0;

	for (uint32_t core = 0; core < r->nr_cores; core++) {
		const struct kt_rtos_events *events = &r->cores[core];

		for (uint64_t i = 0; i < events->nr; i++) {
			if (events->list[i].e.id != KT_THREADX_RUNNING)
				count_one(r, events->base + i,
					  events->list[i].e.id, c, &nr);
		}
	}
	return nr;
}

int ktape_rtos_popular(const struct ktape_rtos *r, int64_t thread,
		       struct ktape_rtos_count **counts, size_t *nr)
{
	const struct kt_rtos_thread *t =
		thread < 0 ? NULL : kt_rtos_find(r, (uint32_t)thread);
	uint64_t most = thread < 0 ? r->totals.events : t ? t->t.events : 0;
	struct ktape_rtos_count *c;

	most = kt_min(most, KT_THREADX_EVENT_MASK + 1) + 1;
	c = malloc(most * sizeof(*c));
	if (!c || !r->counts) {
		free(c);
		return -ENOMEM;
	}
	*nr = thread < 0 ? count_all(r, c) :
	      t		 ? count_rtos_thread(r, (uint32_t)thread, c) :
			   0;
	for (size_t i = 0; i < *nr; i++)
		r->counts[c[i].id] = 0;
	sort_counts(c, *nr);
	*counts = c;
	return 0;
}

void ktape_rtos_free(struct ktape_rtos *r)
{
	if (!r)
		return;
	kt_threadx_map_free(&r->map);
	for (uint32_t i = 0; i < r->nr_cores; i++)
		free(r->cores[i].list);
	free(r->cores);
	free(r->counts);
	free(r->threads);
	free(r->table);
	free(r);
}
