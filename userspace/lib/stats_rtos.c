// SPDX-License-Identifier: LGPL-2.1-or-later
/* Statistics of threads: events come in, threads get known, results go out. */
#include <ktape/formats.h>

#include "stats_rtos.h"
#include "tracex_service.h"

#define NON_ASCII	"Non-ASCII Name"	/* as TraceX calls it */
#define UNNAMED		"Un-named Thread"

int ktape_rtos_new(struct ktape_rtos **rtos)
{
	struct ktape_rtos *r = calloc(1, sizeof(*r));

	*rtos = r;
	if (!r)
		return -ENOMEM;
	r->head.mask = UINT32_MAX;
	return 0;
}

/* Room for one more event, or NULL. */
struct kt_rtos_event *kt_rtos_add(struct kt_rtos_events *events)
{
	struct kt_rtos_event *more;
	uint64_t room = events->room ? events->room * 2 : 1024;

	if (events->nr < events->room)
		return &events->list[events->nr++];
	more = realloc(events->list, room * sizeof(*more));
	if (!more)
		return NULL;
	events->list = more;
	events->room = room;
	return &events->list[events->nr++];
}

/* ---- threads ------------------------------------------------------------------- */

static uint32_t *slot(const struct ktape_rtos *r, uint32_t address)
{
	uint32_t mask = r->table_size - 1;
	uint32_t at = (address * 0x9e3779b1U >> 7) & mask;

	while (r->table[at] &&
	       r->threads[r->table[at] - 1].t.address != address)
		at = (at + 1) & mask;
	return &r->table[at];
}

/* Return: the thread, or NULL. */
struct kt_rtos_thread *kt_rtos_find(const struct ktape_rtos *r,
				    uint32_t address)
{
	uint32_t nr = r->table_size ? *slot(r, address) : 0;

	return nr ? &r->threads[nr - 1] : NULL;
}

static int grow(struct ktape_rtos *r)
{
	uint32_t room = r->room_threads ? r->room_threads * 2 : 64;
	struct kt_rtos_thread *more;
	uint32_t *table;

	if (r->nr_threads < r->room_threads)
		return 0;
	more = realloc(r->threads, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	r->threads = more;
	table = calloc((size_t)room * 2, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(r->table);
	r->table = table;
	r->table_size = room * 2;
	r->room_threads = room;
	for (uint32_t i = r->nr_threads; i--;)
		*slot(r, r->threads[i].t.address) = i + 1;
	return 0;
}

/* A thread more; the first one of an address is the one that is found. */
static struct kt_rtos_thread *add_thread(struct ktape_rtos *r, uint32_t address)
{
	struct kt_rtos_thread *t;
	uint32_t *at;

	if (grow(r))
		return NULL;
	at = slot(r, address);
	if (!*at)
		*at = r->nr_threads + 1;
	t = &r->threads[r->nr_threads++];
	*t = (struct kt_rtos_thread){
		.t = {
			.address = address, .name = UNNAMED,
			.lowest_prio = KTAPE_RTOS_UNKNOWN,
			.highest_prio = KTAPE_RTOS_UNKNOWN,
			.lowest_threshold = KTAPE_RTOS_UNKNOWN,
			.highest_threshold = KTAPE_RTOS_UNKNOWN,
		},
		.prio = KTAPE_RTOS_UNKNOWN, .threshold = KTAPE_RTOS_UNKNOWN,
		.first_prio = KTAPE_RTOS_UNKNOWN,
		.first_threshold = KTAPE_RTOS_UNKNOWN,
	};
	return t;
}

static void set_name(struct kt_rtos_thread *t, const uint8_t *name, size_t len)
{
	len = strnlen((const char *)name, kt_min(len, sizeof(t->t.name) - 1));
	memset(t->t.name, 0, sizeof(t->t.name));
	if (!len || *name < 0x20 || *name > 0x7e)
		strcpy(t->t.name, NON_ASCII);
	else
		memcpy(t->t.name, name, len);
}

/* An entry of TraceX's registry. */
static int take_object(struct ktape_rtos *r, const struct ktape_event *e)
{
	uint32_t bytes = ktape_event_arg(e, 1);
	const uint8_t *text = e->blob;
	struct kt_rtos_thread *t;

	r->totals.objects++;
	if ((bytes >> 16 & 0xff) != KT_TRACEX_THREAD)
		return 0;
	t = add_thread(r, ktape_event_arg(e, 2));
	if (!t)
		return -ENOMEM;
	t->t.stack_start = ktape_event_arg(e, 3);
	t->t.stack_size = ktape_event_arg(e, 4);
	t->t.stack_min = t->t.stack_size;
	if (bytes >> 8 & 0x80)
		t->t.lowest_prio = (bytes >> 8 & 3) << 8 | (bytes & 0xff);
	t->t.highest_prio = t->t.lowest_prio;
	if (e->blob_size > 1)
		set_name(t, text + 1, e->blob_size - 1);
	else
		set_name(t, (const uint8_t *)"", 0);
	return 0;
}

/* A thread of a native trace gets its name. */
static int take_registry(struct ktape_rtos *r, const struct ktape_event *e)
{
	uint32_t tid = e->nargs ? ktape_event_arg(e, 0) : 0;
	struct kt_rtos_thread *t;

	if (r->foreign || (e->dat20 & 0xff) != KTAPE_OBJ_THREAD || !tid ||
	    !e->blob_size || e->dat20 >> 8 & 1)
		return 0;
	t = kt_rtos_find(r, tid);
	if (!t) {
		t = add_thread(r, tid);
		r->totals.objects++;
	}
	if (!t)
		return -ENOMEM;
	set_name(t, e->blob, e->blob_size);
	return 0;
}

/* ---- events ---------------------------------------------------------------------- */

static int take_entry(struct ktape_rtos *r, const struct kt_tracex_entry *x)
{
	struct kt_rtos_event *e = kt_rtos_add(&r->raw);
	bool thread = kt_tracex_is_thread(x->context);

	if (!e)
		return -ENOMEM;
	*e = (struct kt_rtos_event){
		.core = x->core, .threshold = KTAPE_RTOS_UNKNOWN,
		.e = {
			.context = x->context, .id = x->id, .prio = x->prio,
			.stamp = x->stamp, .ticks = x->ticks,
		},
	};
	memcpy(e->e.info, x->info, sizeof(e->e.info));
	r->cores = (uint32_t)kt_max(r->cores, x->core + 1);
	if (thread && x->prio & KT_TRACEX_THRESHOLD)
		e->threshold = x->prio >> KT_TRACEX_THRESHOLD_SHIFT &
			       KT_TRACEX_PRIO_MASK;
	if (thread)
		e->e.prio &= KT_TRACEX_PRIO_MASK;
	else if (x->context == KT_TRACEX_INIT)
		e->e.prio &= 0x7ff;
	if (!thread || kt_rtos_find(r, x->context))
		return 0;
	r->totals.objects++;
	return add_thread(r, x->context) ? 0 : -ENOMEM;
}

static int take_native(struct ktape_rtos *r, const struct ktape_event *e)
{
	struct kt_tracex_entry entries[KT_TRACEX_PER_EVENT];
	int nr = kt_tracex_map(&r->map, e, entries), err = 0;

	if (nr == -ENOTSUP)
		return 0;
	for (int i = 0; !err && i < nr; i++) {
		entries[i].stamp = (uint32_t)entries[i].ticks;
		err = take_entry(r, &entries[i]);
	}
	return nr < 0 ? nr : err;
}

/* Names of a native trace may come first; TraceX's own entries tell all. */
static void forget(struct ktape_rtos *r)
{
	r->nr_threads = 0;
	r->totals.objects = 0;
	r->raw.nr = 0;
	r->cores = 0;
	if (r->table_size)
		memset(r->table, 0, r->table_size * sizeof(*r->table));
}

int ktape_rtos_take(struct ktape_rtos *r, const struct ktape_event *e)
{
	struct kt_tracex_entry x;

	if (r->finished)
		return -EINVAL;
	if (e->opcode == KTAPE_EV_REGISTRY)
		return take_registry(r, e);
	if (ktape_event_is_assumed(e))
		return 0;
	if (!r->foreign && kt_tracex_take_head(&r->head, e)) {
		r->foreign = true;
		forget(r);
		return 0;
	}
	if (!r->foreign)
		return take_native(r, e);
	if (e->opcode == KTAPE_EV_USER_EVENT && e->nargs == 5 &&
	    ktape_event_arg(e, 0) ==
		    (KTAPE_FORMAT_ID_TRACEX | KT_TRACEX_ID_OBJECT))
		return take_object(r, e);
	return kt_tracex_take(&x, &r->head, e) ? take_entry(r, &x) : 0;
}

/* One core after the other, as each has a thread that runs. */
static int finish_core(struct ktape_rtos *r, uint32_t core,
		       struct kt_rtos_events *own)
{
	uint64_t from = r->out.nr, nr;
	int err;

	own->nr = 0;
	for (uint64_t i = 0; i < r->raw.nr; i++) {
		struct kt_rtos_event *e;

		if (r->raw.list[i].core != core)
			continue;
		e = kt_rtos_add(own);
		if (!e)
			return -ENOMEM;
		*e = r->raw.list[i];
	}
	if (!own->nr)
		return 0;
	kt_rtos_contexts(r, own->list, own->nr);
	err = kt_rtos_fill(r, own->list, own->nr);
	if (err)
		return err;
	nr = r->out.nr - from;
	kt_rtos_count(r, r->out.list + from, nr);
	return kt_rtos_inversions(r, r->out.list + from, nr);
}

int ktape_rtos_finish(struct ktape_rtos *r)
{
	struct kt_rtos_events own = { .nr = 0 };
	uint64_t first;
	int err = 0;

	if (r->finished)
		return 0;
	r->finished = true;
	/* Times count from the first event on. */
	first = r->raw.nr ? r->raw.list[0].e.ticks : 0;
	for (uint64_t i = 0; i < r->raw.nr; i++) {
		r->raw.list[i].e.ticks -= first;
		r->totals.max_ticks =
			kt_max(r->totals.max_ticks, r->raw.list[i].e.ticks);
	}
	r->totals.max_ticks += !r->totals.max_ticks;
	for (uint32_t core = 0; !err && core < r->cores; core++)
		err = finish_core(r, core, &own);
	r->totals.threads = r->nr_threads;
	free(own.list);
	return err;
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

const struct ktape_rtos_event *ktape_rtos_event(const struct ktape_rtos *r,
						uint64_t i)
{
	return i < r->out.nr ? &r->out.list[i].e : NULL;
}

const char *ktape_rtos_event_name(uint32_t id)
{
	const struct kt_tracex_kind *k = kt_tracex_kind(id);

	return k ? k->name : NULL;
}

const char *ktape_rtos_service(const struct ktape_rtos *r, uint32_t id)
{
	const char *name = ktape_rtos_event_name(id);

	return name || r->foreign ? name : kt_tracex_own_name(id);
}

/* Exchange sort, as TraceX has it: events of the same count come in its order. */
static void sort_counts(struct ktape_rtos_count *c, size_t nr)
{
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

int ktape_rtos_popular(const struct ktape_rtos *r, int64_t thread,
		       struct ktape_rtos_count **counts, size_t *nr)
{
	uint32_t *at = calloc(KT_TRACEX_EVENT_MASK + 1, sizeof(*at));
	struct ktape_rtos_count *c;
	size_t n = 0;

	c = malloc((KT_TRACEX_EVENT_MASK + 1) * sizeof(*c));
	if (!at || !c) {
		free(at);
		free(c);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < r->out.nr; i++) {
		const struct ktape_rtos_event *e = &r->out.list[i].e;

		if (thread < 0 ? e->id == KT_TRACEX_RUNNING :
				 e->context != (uint64_t)thread)
			continue;
		if (!at[e->id]) {
			c[n] = (struct ktape_rtos_count){ .id = e->id };
			at[e->id] = (uint32_t)++n;
		}
		c[at[e->id] - 1].count++;
	}
	free(at);
	sort_counts(c, n);
	*counts = c;
	*nr = n;
	return 0;
}

void ktape_rtos_free(struct ktape_rtos *r)
{
	if (!r)
		return;
	kt_tracex_map_free(&r->map);
	free(r->raw.list);
	free(r->out.list);
	free(r->threads);
	free(r->table);
	free(r);
}
