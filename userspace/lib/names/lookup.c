// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Look up names in a registry (registry.c).
 *
 * Events refer to the same few objects again and again, in order of time.  So results
 * are cached together with the time span in which they do not change.
 */
#include "names/registry.h"

/*
 * Events may name a thread up to 1/EARLY_PER_S seconds before its recorded birth, and
 * up to LATE_S seconds after its recorded death, because a thread that has died runs
 * until its last switch.
 */
#define EARLY_PER_S 20
#define LATE_S	    10
#define TABLE_MIN   64U /* entries of the module's smallest table of names */

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
	return type == KTAPE_OBJ_THREAD ? r->hz / EARLY_PER_S : UINT64_MAX - 1;
}

static uint64_t gap_behind(const struct ktape_registry *r, uint32_t type)
{
	return type == KTAPE_OBJ_THREAD ? r->hz * LATE_S : UINT64_MAX - 1;
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
		      uint32_t type, const struct kt_version *v)
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
find_object(const struct ktape_registry *r, const struct kt_version_list *list,
	    struct span *s)
{
	const struct kt_version *best = NULL;
	uint64_t best_distance = UINT64_MAX - 1; /* below that of "too far" */

	for (unsigned int i = 0; i < list->nr; i++) {
		const struct kt_version *v = &list->versions[i];
		uint64_t d = life_distance(r, list->key.type, &v->object, s->at);

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

/* Return the list of @k, or an entry without versions. */
static const struct kt_version_list *list_of(const struct ktape_registry *r,
					     struct kt_key k)
{
	const struct kt_version_list *list = NULL;

	if (r->own.lists)
		list = kt_lists_find(&r->own, r->seed, k);
	if (r->base.lists && !(list && list->nr))
		list = kt_lists_find(&r->base, r->seed, k);
	return list;
}

/* Look up an object and cache the result in @a. */
static const struct kt_answer *look_up_object(const struct ktape_registry *r,
					      struct kt_key k, uint64_t ts,
					      struct kt_answer *a)
{
	struct span s = { .at = ts, .until = UINT64_MAX };

	a->object = find_object(r, list_of(r, k), &s);
	a->key = k;
	a->turn = r->memory->memo.turn;
	a->from = s.from;
	a->lasts = s.until - s.from;
	return a;
}

/* Return the cached result for a key and time, after looking it up if needed. */
static inline const struct kt_answer *answer_of(const struct ktape_registry *r,
						struct kt_key k, uint64_t ts)
{
	struct kt_registry_memory *memory = r->memory;
	/* A multiplicative hash: a prime near 2^32 / golden ratio. */
	uint32_t slot = (k.id + k.type) * 0x9e3779b1U >> 16;
	struct kt_answer *a = &memory->answers[slot & (KT_ANSWERS - 1)];

	/* A @ts before @from wraps around, and is above @lasts. */
	if (a->turn == memory->memo.turn && ts - a->from <= a->lasts &&
	    a->key.id == k.id && a->key.type == k.type && a->key.param1 == k.param1)
		return a;
	return look_up_object(r, k, ts, a);
}

const struct ktape_object_info *
ktape_registry_object(const struct ktape_registry *registry, unsigned int type,
		      uint32_t id, uint32_t param1, uint64_t ts)
{
	return answer_of(registry, kt_key_of(type, id, param1), ts)->object;
}

const struct ktape_object_info *
ktape_registry_thread(const struct ktape_registry *registry, int32_t tid, uint64_t ts)
{
	const struct kt_key k = { KTAPE_OBJ_THREAD, (uint32_t)tid, 0 };

	return answer_of(registry, k, ts)->object;
}

/* Return the time span around @ts in which the result for a thread is the same. */
void kt_registry_lasts(const struct ktape_registry *registry, int32_t tid,
		       uint64_t ts, uint64_t *from, uint64_t *lasts)
{
	const struct kt_key k = { KTAPE_OBJ_THREAD, (uint32_t)tid, 0 };
	const struct kt_answer *a = answer_of(registry, k, ts);

	*from = a->from;
	*lasts = a->lasts;
}

/**
 * kt_registry_may_lack() - Can the name of a thread have made room for another one?
 * @registry: the registry
 * @ts: time of an event of the thread
 *
 * The module's table of names grows up to a limit.  When it is full and does not grow any
 * more, a new name takes the place of that which died first.  So a thread to whose name
 * this happened had ended before each of those in the table that have died.
 *
 * Return: true if the thread can have ended so early.
 */
bool kt_registry_may_lack(const struct ktape_registry *registry, uint64_t ts)
{
	const uint64_t first = registry->first_death;

	return registry->recorded >= TABLE_MIN && first != UINT64_MAX &&
	       (ts <= first || ts - first <= gap_behind(registry, KTAPE_OBJ_THREAD));
}
