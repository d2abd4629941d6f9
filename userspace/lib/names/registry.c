// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of objects at any time.
 *
 * For each id of a type there is a list of versions: what a registry record
 * told, and when.  All versions with the same birth are one object.  Who had an
 * id at a time is the object that lived then; its name is the one it had last
 * been told to have, or if it was told only later, the first one.
 *
 * Events ask for the same few objects again and again, in the order of time:
 * the last answers are remembered with the time in which they are right.
 */
#include "util/hash.h"

#include "names/names.h"

#define VERSIONS_MAX	KTAPE_REGISTRY_MAX
#define LIST_MAX	1024U		/* of one id; the oldest go */
#define EARLY_PER_S	20	/* a thread is seen up to this fraction of a
				 * second before its birth ... */
#define LATE_S		10	/* ... and until it has left the CPU for good */
#define ANSWERS		256U	/* remembered; a power of two */

struct version {
	uint64_t since;
	struct ktape_object_info object;
};

/* What tells an object from all others; @param1 only where ids are not enough. */
struct key {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
};

struct list {
	struct key key;
	unsigned int nr;
	unsigned int room;
	struct version *versions;
};

/* @object, or NULL, has that key from @from on for @lasts, at memo.turn @turn. */
struct answer {
	struct key key;
	uint64_t turn;
	uint64_t from;
	uint64_t lasts;
	const struct ktape_object_info *object;
};

/* What look-ups change. */
struct memory {
	struct kt_memo memo;
	struct answer answers[ANSWERS];
};

struct ktape_registry {
	const struct kt_user_format *const *formats;
	struct memory *memory;
	uint64_t seed;
	uint64_t early;
	uint64_t late;
	size_t total;
	uint64_t left_out;
	size_t used;
	size_t size;
	struct list *lists;
};

/**
 * kt_registry_new() - make an empty registry
 * @hz: ticks of the trace clock in a second
 * @formats: formats that can describe user events, NULL behind the last one
 * @registry: set; ends with ktape_registry_free()
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

/* Return the formats that kt_registry_new() was given. */
const struct kt_user_format *const *
kt_registry_formats(const struct ktape_registry *registry)
{
	return registry->formats;
}

void ktape_registry_free(struct ktape_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; registry->lists && i < registry->size; i++)
		free(registry->lists[i].versions);
	free(registry->lists);
	free(registry->memory);
	free(registry);
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

static size_t hash(const struct ktape_registry *r, struct key k)
{
	uint64_t v = kt_hash(r->seed, k.id | (uint64_t)k.type << 32);

	return (size_t)kt_hash_mix(v + k.param1) & (r->size - 1);
}

static bool is_of(const struct list *list, struct key k)
{
	return list->key.id == k.id && list->key.type == k.type &&
	       list->key.param1 == k.param1;
}

/* The list of @k, or the free place where it belongs. */
static struct list *find(const struct ktape_registry *r, struct key k)
{
	size_t i = hash(r, k);

	while (r->lists[i].nr && !is_of(&r->lists[i], k))
		i = (i + 1) & (r->size - 1);
	return &r->lists[i];
}

static int grow(struct ktape_registry *r)
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
			*find(&wider, r->lists[i].key) = r->lists[i];
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

static bool same(const struct ktape_object_info *a,
		 const struct ktape_object_info *b)
{
	return a->born == b->born && a->param1 == b->param1 &&
	       a->param2 == b->param2 && !strcmp(a->name, b->name);
}

/*
 * A death counts for all versions of that object, for those that are known and
 * for one that is learned after it.
 */
static void bury(struct list *list, struct ktape_object_info *o)
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

static int make_room(struct list *list)
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
	struct list *list = find(r, key);
	unsigned int at = list->nr;
	int err;

	r->memory->memo.turn++;
	bury(list, &v->object);
	while (at && list->versions[at - 1].since > v->since)
		at--;
	if (at && same(&list->versions[at - 1].object, &v->object))
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
	err = make_room(list);
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
	return r->used * 2 > r->size ? grow(r) : 0;
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

/* A time in which every comparison has the same result as at a moment in it. */
struct span {
	uint64_t at;
	uint64_t from;
	uint64_t until;
};

/* Something is different from @point on. */
static void narrow(struct span *s, uint64_t point)
{
	if (point <= s->at)
		s->from = kt_max(s->from, point);
	else
		s->until = kt_min(s->until, point - 1);
}

/* The same behind @point. */
static void narrow_behind(struct span *s, uint64_t point)
{
	if (point != UINT64_MAX)
		narrow(s, point + 1);
}

/*
 * How far may a time lie before and behind a life?  Threads alone have ids that
 * soon are another's; a name of anything else may be told long after its first
 * event.
 */
static uint64_t gap_before(const struct ktape_registry *r, uint32_t type)
{
	return type == KTAPE_OBJ_THREAD ? r->early : UINT64_MAX - 1;
}

static uint64_t gap_behind(const struct ktape_registry *r, uint32_t type)
{
	return type == KTAPE_OBJ_THREAD ? r->late : UINT64_MAX - 1;
}

/* How far @ts is from the life of @o: 0 inside it, UINT64_MAX too far. */
static uint64_t distance(const struct ktape_registry *r, uint32_t type,
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

/* Where distance() of a version and what at_time() compares with it change. */
static void narrow_to(struct span *s, const struct ktape_registry *r,
		      uint32_t type, const struct version *v)
{
	const struct ktape_object_info *o = &v->object;

	narrow(s, v->since);
	narrow(s, o->born);
	narrow(s, o->born - kt_min(o->born, gap_before(r, type)));
	if (!o->died)
		return;
	narrow_behind(s, o->died);
	narrow_behind(s, o->died +
			 kt_min(UINT64_MAX - o->died, gap_behind(r, type)));
}

/* Who was it at @s->at?  For as long as @s is narrowed to. */
static const struct ktape_object_info *
at_time(const struct ktape_registry *r, const struct list *list, struct span *s)
{
	const struct version *best = NULL;
	uint64_t best_distance = UINT64_MAX - 1;

	for (unsigned int i = 0; i < list->nr; i++) {
		const struct version *v = &list->versions[i];
		uint64_t d = distance(r, list->key.type, &v->object, s->at);

		narrow_to(s, r, list->key.type, v);
		if (d > best_distance)
			continue;
		/* Equally near: the later one, unless it was told too late. */
		if (best && d == best_distance && v->since > s->at)
			continue;
		best = v;
		best_distance = d;
	}
	/* Who is nearer of several that did not live changes in between. */
	if (best && best_distance && list->nr > 1)
		s->from = s->until = s->at;
	return best ? &best->object : NULL;
}

static const struct answer *look_up(const struct ktape_registry *r,
				    struct key k, uint64_t ts, struct answer *a)
{
	struct span s = { .at = ts, .until = UINT64_MAX };

	a->object = at_time(r, find(r, k), &s);
	a->key = k;
	a->turn = r->memory->memo.turn;
	a->from = s.from;
	a->lasts = s.until - s.from;
	return a;
}

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

/* From when on, and for how long, is a thread who it is at @ts? */
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
