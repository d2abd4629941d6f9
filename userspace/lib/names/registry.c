// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry: names of objects, with the times at which they were valid.
 *
 * For each id of a type there is a list of versions: the contents of a registry record
 * and its time.  Versions with the same time of birth describe the same object.
 * A look-up for a time finds the object that lived at that time.  Its name is that of
 * the last version before that time or, if all versions are later, of the first one.
 *
 * Events refer to the same few objects again and again, in order of time.  So results
 * are cached together with the time span in which they do not change.
 */
#include "util/hash.h"

#include "names/names.h"

#define VERSIONS_MAX	KTAPE_REGISTRY_MAX
#define LIST_MAX	1024U		/* versions of one id; the oldest are dropped */
/*
 * Events may name a thread up to 1/EARLY_PER_S seconds before its recorded birth, and
 * up to LATE_S seconds after its recorded death, because a thread that has died runs
 * until its last switch.
 */
#define EARLY_PER_S	20
#define LATE_S		10
#define ANSWERS		256U	/* cached results, a power of two */

/* What was recorded about an object, and when. */
struct version {
	uint64_t since;
	struct ktape_object_info object;
};

/* Identity of an object.  @param1 is 0 unless it is part of the id of the type. */
struct key {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
};

/* All versions recorded for a key, in order of time. */
struct list {
	struct key key;
	unsigned int nr;
	unsigned int room;
	struct version *versions;
};

/*
 * A cached result: at memo.turn @turn, @key refers to @object (or to none) from @from
 * until @from + @lasts.
 */
struct answer {
	struct key key;
	uint64_t turn;
	uint64_t from;
	uint64_t lasts;
	const struct ktape_object_info *object;
};

/* Caches of a registry, which look-ups change although they take a const registry. */
struct memory {
	struct kt_memo memo;
	struct answer answers[ANSWERS];
};

struct ktape_registry {
	const struct kt_user_format *const *formats;
	struct memory *memory;
	uint64_t seed;		/* of the hash */
	uint64_t early;		/* 1/EARLY_PER_S s in ticks */
	uint64_t late;		/* LATE_S in ticks */
	size_t total;		/* versions in all lists */
	uint64_t left_out;	/* versions dropped because of the limits */
	size_t used;		/* lists with versions */
	size_t size;		/* entries of @lists, a power of two */
	struct list *lists;	/* hash table with open addressing */
	bool view;		/* @lists are those of another registry */
};

/**
 * kt_registry_new() - Create an empty registry
 * @hz: ticks of the trace clock in a second
 * @formats: formats that can describe user events, NULL after the last one
 * @registry: set on success; release with ktape_registry_free()
 *
 * Return: 0 or -ENOMEM.
 */
int kt_registry_new(uint64_t hz, const struct kt_user_format *const *formats,
		    struct ktape_registry **registry)
{
	struct ktape_registry *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->formats = formats;
	r->early = hz / EARLY_PER_S;
	r->late = hz * LATE_S;
	r->seed = kt_hash_seed(r);
	r->size = 1024;
	r->lists = calloc(r->size, sizeof(*r->lists));
	r->memory = calloc(1, sizeof(*r->memory));
	if (!r->lists || !r->memory) {
		ktape_registry_free(r);
		return -ENOMEM;
	}
	kt_memo_init(&r->memory->memo);
	*registry = r;
	return 0;
}

/* Return the list of formats that was passed to kt_registry_new(). */
const struct kt_user_format *const *
kt_registry_formats(const struct ktape_registry *registry)
{
	return registry->formats;
}

void ktape_registry_free(struct ktape_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0;
	     !registry->view && registry->lists && i < registry->size; i++)
		free(registry->lists[i].versions);
	if (!registry->view)
		free(registry->lists);
	free(registry->memory);
	free(registry);
}

int ktape_registry_view(const struct ktape_registry *registry,
			struct ktape_registry **view)
{
	struct ktape_registry *v = *view;
	struct memory *memory;

	if (!v) {
		v = calloc(1, sizeof(*v));
		memory = calloc(1, sizeof(*memory));
		if (!v || !memory) {
			free(v);
			free(memory);
			return -ENOMEM;
		}
		kt_memo_init(&memory->memo);
		v->memory = memory;
		*view = v;
	}
	memory = v->memory;
	*v = *registry;
	v->memory = memory;
	v->view = true;
	/* What is cached for fewer names is not valid any more. */
	memory->memo.turn = registry->memory->memo.turn;
	return 0;
}

static struct key key_of(uint32_t type, uint32_t id, uint32_t param1)
{
	switch (type) {
	case KTAPE_OBJ_MARKER:
	case KTAPE_OBJ_VALUE:
	case KTAPE_OBJ_ISR:
	case KTAPE_OBJ_CGROUP:
	case KTAPE_OBJ_SYSCALL:
		return (struct key){ type, id, param1 };
	default:
		return (struct key){ type, id, 0 };
	}
}

static size_t hash_key(const struct ktape_registry *r, struct key k)
{
	uint64_t v = kt_hash(r->seed, k.id | (uint64_t)k.type << 32);

	return (size_t)kt_hash_mix(v + k.param1) & (r->size - 1);
}

static bool is_of(const struct list *list, struct key k)
{
	return list->key.id == k.id && list->key.type == k.type &&
	       list->key.param1 == k.param1;
}

/* Return the list of @k, or the free entry where the list belongs. */
static struct list *find_list(const struct ktape_registry *r, struct key k)
{
	size_t i = hash_key(r, k);

	while (r->lists[i].nr && !is_of(&r->lists[i], k))
		i = (i + 1) & (r->size - 1);
	return &r->lists[i];
}

/* Double the hash table. */
static int grow_table(struct ktape_registry *r)
{
	struct ktape_registry wider = {
		.size = r->size * 2,
		.seed = r->seed,
	};

	wider.lists = calloc(wider.size, sizeof(*wider.lists));
	if (!wider.lists)
		return -ENOMEM;
	for (size_t i = 0; i < r->size; i++) {
		if (r->lists[i].nr)
			*find_list(&wider, r->lists[i].key) = r->lists[i];
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

static bool is_same_version(const struct ktape_object_info *a,
			    const struct ktape_object_info *b)
{
	return a->born == b->born && a->param1 == b->param1 &&
	       a->param2 == b->param2 && !strcmp(a->name, b->name);
}

/*
 * Share the time of death among all versions of an object, the known ones and @o.
 */
static void share_death(struct list *list, struct ktape_object_info *o)
{
	for (unsigned int i = 0; i < list->nr; i++) {
		struct ktape_object_info *known = &list->versions[i].object;

		if (known->born != o->born)
			continue;
		if (o->died)
			known->died = o->died;
		else
			o->died = known->died;
	}
}

static int make_version_room(struct list *list)
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

static int add_version(struct ktape_registry *r, struct key key,
		       struct version *v)
{
	struct list *list = find_list(r, key);
	unsigned int at = list->nr;
	int err;

	r->memory->memo.turn++;
	share_death(list, &v->object);
	while (at && list->versions[at - 1].since > v->since)
		at--;
	if (at && is_same_version(&list->versions[at - 1].object, &v->object))
		return 0;
	if (list->nr == LIST_MAX || r->total >= VERSIONS_MAX)
		r->left_out++;
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
	err = make_version_room(list);
	if (err)
		return err;
	memmove(&list->versions[at + 1], &list->versions[at],
		(list->nr - at) * sizeof(*v));
	list->versions[at] = *v;
	list->key = key;
	r->total++;
	if (list->nr++)
		return 0;
	r->used++;
	return r->used * 2 > r->size ? grow_table(r) : 0;
}

int ktape_registry_add(struct ktape_registry *registry,
		       const struct ktape_event *event)
{
	struct version v = { .since = event->ts };
	struct ktape_object_info *o = &v.object;
	const char *words = event->args;
	uint32_t type = event->dat20 & 0xff;
	size_t len;

	if (event->opcode != KTAPE_EV_REGISTRY)
		return 0;
	if (!kt_event_fits(event) || type == KTAPE_OBJ_FREE)
		return 0;
	o->param1 = kt_get32(words + 4);
	o->param2 = kt_get32(words + 8);
	o->born = kt_get64(words + 12);
	o->died = kt_get64(words + 20);
	len = strnlen(event->blob, kt_min(event->blob_size, KTAPE_NAME_SIZE));
	memcpy(o->name, event->blob, len);
	o->name_len = (uint8_t)len;
	o->plain = is_plain(o->name, len);
	return add_version(registry, key_of(type, kt_get32(words), o->param1),
			   &v);
}

/* ---- look-ups ----------------------------------------------------------- */

/* A time span around @at in which a look-up compares with the same results. */
struct span {
	uint64_t at;
	uint64_t from;
	uint64_t until;
};

/* Narrow a span: a comparison changes at @point. */
static void narrow_span(struct span *s, uint64_t point)
{
	if (point <= s->at)
		s->from = kt_max(s->from, point);
	else
		s->until = kt_min(s->until, point - 1);
}

/* Narrow a span: a comparison changes directly after @point. */
static void narrow_behind(struct span *s, uint64_t point)
{
	if (point != UINT64_MAX)
		narrow_span(s, point + 1);
}

/*
 * Return by how many ticks an event may precede the birth, or follow the death, of an
 * object that it refers to.  Only thread ids are soon reused.  For other types there is
 * no limit, because their names may be recorded long after the first event.
 */
static uint64_t gap_before(const struct ktape_registry *r, uint32_t type)
{
	return type == KTAPE_OBJ_THREAD ? r->early : UINT64_MAX - 1;
}

static uint64_t gap_behind(const struct ktape_registry *r, uint32_t type)
{
	return type == KTAPE_OBJ_THREAD ? r->late : UINT64_MAX - 1;
}

/* Return the distance of @ts from the life of @o: 0 inside it, UINT64_MAX = too far. */
static uint64_t life_distance(const struct ktape_registry *r, uint32_t type,
			      const struct ktape_object_info *o, uint64_t ts)
{
	uint64_t d;

	if (ts < o->born) {
		d = o->born - ts;
		return d <= gap_before(r, type) ? d : UINT64_MAX;
	}
	if (o->died && ts > o->died) {
		d = ts - o->died;
		return d <= gap_behind(r, type) ? d : UINT64_MAX;
	}
	return 0;
}

/* Narrow a span to where all comparisons of find_object() with @v stay the same. */
static void narrow_to(struct span *s, const struct ktape_registry *r,
		      uint32_t type, const struct version *v)
{
	const struct ktape_object_info *o = &v->object;

	narrow_span(s, v->since);
	narrow_span(s, o->born);
	narrow_span(s, o->born - kt_min(o->born, gap_before(r, type)));
	if (!o->died)
		return;
	narrow_behind(s, o->died);
	narrow_behind(s, o->died + kt_min(UINT64_MAX - o->died,
					  gap_behind(r, type)));
}

/* Find the object of a list at time @s->at; narrow @s to where the result is valid. */
static const struct ktape_object_info *
find_object(const struct ktape_registry *r, const struct list *list,
	    struct span *s)
{
	const struct version *best = NULL;
	uint64_t best_distance = UINT64_MAX - 1;

	for (unsigned int i = 0; i < list->nr; i++) {
		const struct version *v = &list->versions[i];
		uint64_t d =
			life_distance(r, list->key.type, &v->object, s->at);

		narrow_to(s, r, list->key.type, v);
		if (d > best_distance)
			continue;
		/* Equal distance: take the later version, unless recorded after @at. */
		if (best && d == best_distance && v->since > s->at)
			continue;
		best = v;
		best_distance = d;
	}
	/*
	 * None of several objects lived at @at: the nearest one may change at
	 * any tick, so the result is valid for this tick only.
	 */
	if (best && best_distance && list->nr > 1)
		s->from = s->until = s->at;
	return best ? &best->object : NULL;
}

/* Look up an object and cache the result in @a. */
static const struct answer *look_up(const struct ktape_registry *r,
				    struct key k, uint64_t ts, struct answer *a)
{
	struct span s = { .at = ts, .until = UINT64_MAX };

	a->object = find_object(r, find_list(r, k), &s);
	a->key = k;
	a->turn = r->memory->memo.turn;
	a->from = s.from;
	a->lasts = s.until - s.from;
	return a;
}

/* Return the cached result for a key and time, after looking it up if needed. */
static inline const struct answer *answer_of(const struct ktape_registry *r,
					     struct key k, uint64_t ts)
{
	struct memory *memory = r->memory;
	uint32_t slot = (k.id + k.type) * 0x9e3779b1U >> 16;
	struct answer *a = &memory->answers[slot & (ANSWERS - 1)];

	if (a->turn == memory->memo.turn && ts - a->from <= a->lasts &&
	    a->key.id == k.id && a->key.type == k.type &&
	    a->key.param1 == k.param1)
		return a;
	return look_up(r, k, ts, a);
}

const struct ktape_object_info *
ktape_registry_object(const struct ktape_registry *registry, unsigned int type,
		      uint32_t id, uint32_t param1, uint64_t ts)
{
	return answer_of(registry, key_of(type, id, param1), ts)->object;
}

const struct ktape_object_info *
ktape_registry_thread(const struct ktape_registry *registry, int32_t tid,
		      uint64_t ts)
{
	const struct key k = { KTAPE_OBJ_THREAD, (uint32_t)tid, 0 };

	return answer_of(registry, k, ts)->object;
}

/* Return the time span around @ts in which the result for a thread is the same. */
void kt_registry_lasts(const struct ktape_registry *registry, int32_t tid,
		       uint64_t ts, uint64_t *from, uint64_t *lasts)
{
	const struct key k = { KTAPE_OBJ_THREAD, (uint32_t)tid, 0 };
	const struct answer *a = answer_of(registry, k, ts);

	*from = a->from;
	*lasts = a->lasts;
}

uint64_t ktape_registry_left_out(const struct ktape_registry *registry)
{
	return registry->left_out;
}

struct kt_memo *kt_registry_memo(const struct ktape_registry *registry)
{
	return &registry->memory->memo;
}
