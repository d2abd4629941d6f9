// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of threads at any time.
 *
 * For each thread id there is a list of versions: what a registry record told,
 * and when.  All versions with the same birth are one thread.  Who had an id at
 * a time is the thread that lived then; its name is the one it had last been
 * told to have, or if it was told only later, the first one.
 */
#include "internal.h"

#define VERSIONS_MAX	(1U << 22)	/* in all */
#define LIST_MAX	1024U		/* of one id; the oldest go */
#define EARLY_PER_S	20	/* a thread is seen up to this fraction of a
				 * second before its birth ... */
#define LATE_S		10	/* ... and until it has left the CPU for good */

struct version {
	uint64_t since;
	struct ktape_thread thread;
};

struct thread_list {
	int32_t tid;
	unsigned int nr;
	unsigned int room;
	struct version *versions;
};

struct ktape_registry {
	uint64_t early;
	uint64_t late;
	size_t total;
	size_t used;
	size_t size;
	struct thread_list *lists;
};

int ktape_registry_new(uint64_t hz, struct ktape_registry **registry)
{
	struct ktape_registry *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->early = hz / EARLY_PER_S;
	r->late = hz * LATE_S;
	r->size = 1024;
	r->lists = calloc(r->size, sizeof(*r->lists));
	if (!r->lists) {
		free(r);
		return -ENOMEM;
	}
	*registry = r;
	return 0;
}

void ktape_registry_free(struct ktape_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->size; i++)
		free(registry->lists[i].versions);
	free(registry->lists);
	free(registry);
}

static size_t hash(int32_t tid, size_t size)
{
	return (size_t)((uint32_t)tid * 0x9e3779b1U) & (size - 1);
}

/* The list of @tid, or the free place where it belongs. */
static struct thread_list *find(const struct ktape_registry *r, int32_t tid)
{
	size_t i = hash(tid, r->size);

	while (r->lists[i].nr && r->lists[i].tid != tid)
		i = (i + 1) & (r->size - 1);
	return &r->lists[i];
}

static int grow(struct ktape_registry *r)
{
	struct ktape_registry wider = { .size = r->size * 2 };

	wider.lists = calloc(wider.size, sizeof(*wider.lists));
	if (!wider.lists)
		return -ENOMEM;
	for (size_t i = 0; i < r->size; i++) {
		if (r->lists[i].nr)
			*find(&wider, r->lists[i].tid) = r->lists[i];
		else
			free(r->lists[i].versions);
	}
	free(r->lists);
	r->lists = wider.lists;
	r->size = wider.size;
	return 0;
}

static bool is_plain(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c < ' ' || c >= 0x7f || c == '"' || c == '\\')
			return false;
	}
	return true;
}

static bool same(const struct ktape_thread *a, const struct ktape_thread *b)
{
	return a->born == b->born && a->tgid == b->tgid &&
	       a->param2 == b->param2 && !strcmp(a->name, b->name);
}

/* A death counts for all versions of that thread, whichever came first. */
static void bury(struct thread_list *list, struct ktape_thread *t)
{
	for (unsigned int i = 0; i < list->nr; i++) {
		struct ktape_thread *other = &list->versions[i].thread;

		if (other->born != t->born)
			continue;
		if (t->died)
			other->died = t->died;
		else
			t->died = other->died;
	}
}

static int make_room(struct thread_list *list)
{
	unsigned int room = list->room ? list->room * 2 : 1;
	struct version *v;

	if (list->nr < list->room)
		return 0;
	v = realloc(list->versions, room * sizeof(*v));
	if (!v)
		return -ENOMEM;
	list->versions = v;
	list->room = room;
	return 0;
}

static int add_version(struct ktape_registry *r, int32_t tid, struct version *v)
{
	struct thread_list *list = find(r, tid);
	unsigned int at = list->nr;
	int err;

	bury(list, &v->thread);
	while (at && list->versions[at - 1].since > v->since)
		at--;
	if (at && same(&list->versions[at - 1].thread, &v->thread))
		return 0;
	if (r->total >= VERSIONS_MAX)
		return 0;
	if (list->nr == LIST_MAX) {
		if (!at)
			return 0;
		at--;
		list->nr--;
		r->total--;
		memmove(list->versions, list->versions + 1,
			list->nr * sizeof(*v));
	}
	err = make_room(list);
	if (err)
		return err;
	memmove(&list->versions[at + 1], &list->versions[at],
		(list->nr - at) * sizeof(*v));
	list->versions[at] = *v;
	list->tid = tid;
	r->total++;
	if (list->nr++)
		return 0;
	r->used++;
	return r->used * 2 > r->size ? grow(r) : 0;
}

int ktape_registry_add(struct ktape_registry *registry,
		       const struct ktape_event *event)
{
	const struct ktape_event_desc *desc;
	struct version v = { .since = event->ts };
	struct ktape_thread *t = &v.thread;
	const char *words = event->args;
	size_t len;

	if (event->opcode != KTAPE_EV_REGISTRY)
		return 0;
	desc = ktape_event_desc(KTAPE_EV_REGISTRY);
	if (!kt_event_fits(desc, event) ||
	    (event->dat20 & 0xff) != KTAPE_OBJ_THREAD)
		return 0;
	t->tgid = kt_get32(words + 4);
	t->param2 = kt_get32(words + 8);
	t->born = kt_get64(words + 12);
	t->died = kt_get64(words + 20);
	len = strnlen(event->blob, kt_min(event->blob_size, KTAPE_NAME_SIZE));
	memcpy(t->name, event->blob, len);
	t->name_len = (uint8_t)len;
	t->plain = is_plain(t->name, len);
	return add_version(registry, (int32_t)kt_get32(words), &v);
}

/* How far @ts is from the life of @t: 0 inside it, UINT64_MAX too far. */
static uint64_t distance(const struct ktape_registry *r,
			 const struct ktape_thread *t, uint64_t ts)
{
	if (ts < t->born)
		return t->born - ts <= r->early ? t->born - ts : UINT64_MAX;
	if (t->died && ts > t->died)
		return ts - t->died <= r->late ? ts - t->died : UINT64_MAX;
	return 0;
}

const struct ktape_thread *
ktape_registry_thread(const struct ktape_registry *registry, int32_t tid,
		      uint64_t ts)
{
	const struct thread_list *list = find(registry, tid);
	const struct version *best = NULL;
	uint64_t best_distance = UINT64_MAX - 1;

	for (unsigned int i = 0; i < list->nr; i++) {
		const struct version *v = &list->versions[i];
		uint64_t d = distance(registry, &v->thread, ts);

		if (d > best_distance)
			continue;
		/* Equally near: the later one, unless it was told too late. */
		if (best && d == best_distance && v->since > ts)
			continue;
		best = v;
		best_distance = d;
	}
	return best ? &best->thread : NULL;
}
