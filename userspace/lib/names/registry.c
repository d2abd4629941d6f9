// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The registry: names of objects, with the times at which they were valid.
 *
 * For each id of a type there is a list of versions: the contents of a registry record
 * and its time.  Versions with the same time of birth describe the same object.
 * A look-up for a time finds the object that lived at that time.  Its name is that of
 * the last version before that time or, if all versions are later, of the first one.
 *
 * This file adds names, lookup.c looks them up.
 *
 * A view has the names of another registry, which must not change meanwhile.  When a name
 * is added to a view, it makes a copy of the id's list for itself.
 */
#include "util/put.h"

#include "names/registry.h"

#define VERSIONS_MAX KTAPE_REGISTRY_MAX
#define LIST_MAX     1024U /* versions of one id; the oldest are dropped */
#define OWN_LISTS    64U   /* size of a view's first table, a power of two */
#define NEW_LISTS    1024U /* size of another registry's first table, likewise */

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
	r->hz = hz;
	r->first_death = UINT64_MAX;
	r->seed = kt_hash_seed(r);
	r->own.size = NEW_LISTS;
	r->own.lists = calloc(r->own.size, sizeof(*r->own.lists));
	r->memory = calloc(1, sizeof(*r->memory));
	if (!r->own.lists || !r->memory) {
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

static void free_lists(struct kt_lists *table, struct kt_long_name *longer)
{
	struct kt_long_name *next;

	for (; longer; longer = next) {
		next = longer->next;
		free(longer);
	}
	for (size_t i = 0; table->lists && i < table->size; i++)
		free(table->lists[i].versions);
	free(table->lists);
	*table = (struct kt_lists){ .lists = NULL };
}

void ktape_registry_free(struct ktape_registry *registry)
{
	if (!registry)
		return;
	free_lists(&registry->own, registry->longer);
	free(registry->memory);
	free(registry);
}

int ktape_registry_view(const struct ktape_registry *registry,
			struct ktape_registry **view)
{
	const uint64_t turn = registry->memory->memo.turn;
	struct ktape_registry *v = *view;
	struct kt_registry_memory *memory;
	bool changed;

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
	changed = v->own.lists || v->base_turn != turn;
	free_lists(&v->own, v->longer);
	*v = *registry;
	v->longer = NULL;
	v->memory = memory;
	v->base = registry->own;
	v->own = (struct kt_lists){ .lists = NULL };
	v->base_turn = turn;
	/* What is cached for other names is not valid any more. */
	memory->memo.turn += changed;
	return 0;
}

/* Make the hash table of a registry's own lists @size entries large. */
static int resize_table(struct ktape_registry *r, size_t size)
{
	struct kt_lists wider = { .used = r->own.used, .size = size };
	struct kt_version_list *list;

	wider.lists = calloc(size, sizeof(*wider.lists));
	if (!wider.lists)
		return -ENOMEM;
	for (size_t i = 0; i < r->own.size; i++) {
		list = &r->own.lists[i];
		if (list->nr)
			*kt_lists_find(&wider, r->seed, list->key) = *list;
		else
			free(list->versions);
	}
	free(r->own.lists);
	r->own = wider;
	return 0;
}

/* Copy the list of another registry, which has versions, into the free entry @list. */
static int copy_list(struct ktape_registry *r, struct kt_version_list *list,
		     const struct kt_version_list *from)
{
	struct kt_version *v = malloc(from->nr * sizeof(*v));

	if (!v)
		return -ENOMEM;
	memcpy(v, from->versions, from->nr * sizeof(*v));
	free(list->versions);
	list->versions = v;
	list->key = from->key;
	list->nr = list->room = from->nr;
	r->own.used++;
	return 0;
}

/*
 * Find the list of @k to change it: it may be the free entry where the list belongs.
 * Return: the list, or NULL if there is no memory.
 */
static struct kt_version_list *list_to_change(struct ktape_registry *r,
					      struct kt_key k)
{
	struct kt_version_list *list;
	const struct kt_version_list *of = NULL;

	if ((r->own.used + 1) * 2 > r->own.size &&
	    resize_table(r, r->own.size ? r->own.size * 2 : OWN_LISTS))
		return NULL;
	list = kt_lists_find(&r->own, r->seed, k);
	if (!list->nr && r->base.lists)
		of = kt_lists_find(&r->base, r->seed, k);
	return of && of->nr && copy_list(r, list, of) ? NULL : list;
}

/* Return whether a name is put as it is, without escapes. */
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
	struct kt_name one = kt_object_name(a), other = kt_object_name(b);

	return a->born == b->born && a->param1 == b->param1 &&
	       a->param2 == b->param2 && one.len == other.len &&
	       !memcmp(one.text, other.text, one.len);
}

/* Copy a name that is longer than @o->name from the record.  Return: 0 or -ENOMEM. */
static int keep_long_name(struct ktape_registry *r, struct ktape_object_info *o)
{
	struct kt_long_name *longer;

	if (!o->whole)
		return 0;
	longer = malloc(sizeof(*longer) + o->whole_len + 1);
	if (!longer)
		return -ENOMEM;
	*kt_put_mem(longer->text, o->whole, o->whole_len) = '\0';
	longer->next = r->longer;
	r->longer = longer;
	o->whole = longer->text;
	return 0;
}

/* Share the time of death among all versions of an object, the known ones and @o. */
static void share_death(struct kt_version_list *list, struct ktape_object_info *o)
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

static int make_version_room(struct kt_version_list *list)
{
	unsigned int room = list->room ? list->room * 2 : 1;
	struct kt_version *v;

	if (list->nr < list->room)
		return 0;
	v = realloc(list->versions, room * sizeof(*v));
	if (!v)
		return -ENOMEM;
	list->versions = v;
	list->room = room;
	return 0;
}

/*
 * Add a version in its place by time, unless the one before it is the same.  Where there are too
 * many of an id, the oldest is dropped; where there are too many of all, the new one.
 * Return: 0 or -ENOMEM.
 */
static int add_version(struct ktape_registry *r, struct kt_key key,
		       struct kt_version *v)
{
	struct kt_version_list *list = list_to_change(r, key);
	unsigned int at;
	int err;

	if (!list)
		return -ENOMEM;
	at = list->nr;
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
		memmove(list->versions, list->versions + 1, list->nr * sizeof(*v));
	}
	err = make_version_room(list);
	if (!err)
		err = keep_long_name(r, &v->object);
	if (err)
		return err;
	memmove(&list->versions[at + 1], &list->versions[at],
		(list->nr - at) * sizeof(*v));
	list->versions[at] = *v;
	list->key = key;
	r->total++;
	r->own.used += !list->nr++;
	return 0;
}

/* Return for how many names the module had no room for a reason, by all records so far. */
uint64_t kt_registry_no_room(const struct ktape_registry *registry,
			     unsigned int reason)
{
	return registry->no_room[reason];
}

static uint64_t object_count(const struct ktape_object_info *o)
{
	return o->param1 | (uint64_t)o->param2 << 32;
}

/* Note a count of names without room: it only grows, but records are not in order. */
static void note_no_room(struct ktape_registry *r, uint32_t reason,
			 const struct ktape_object_info *o)
{
	if (reason < KTAPE_NO_ROOM_REASONS)
		r->no_room[reason] = kt_max(r->no_room[reason], object_count(o));
}

/* Take a count of names without room.  There may be ten each second: keep the largest one. */
static int add_count(struct ktape_registry *r, uint32_t reason, struct kt_version *v)
{
	struct kt_key key = kt_key_of(KTAPE_OBJ_NO_ROOM, reason, 0);
	struct kt_version_list *list = list_to_change(r, key);
	struct ktape_object_info *known;

	if (!list)
		return -ENOMEM;
	note_no_room(r, reason, &v->object);
	if (!list->nr)
		return add_version(r, key, v);
	known = &list->versions[0].object;
	if (object_count(&v->object) > object_count(known)) {
		known->param1 = v->object.param1;
		known->param2 = v->object.param2;
	}
	return 0;
}

int ktape_registry_add(struct ktape_registry *registry,
		       const struct ktape_event *event)
{
	struct kt_version v = { .since = event->ts };
	struct ktape_object_info *o = &v.object;
	const char *words = event->args;
	uint32_t type = event->dat20 & 0xff;
	size_t len;

	if (event->opcode != KTAPE_EV_REGISTRY)
		return 0;
	if (!kt_event_fits(event) || type == KTAPE_OBJ_FREE)
		return 0;
	/* Words of a registry record: id, both parameters, times of birth and death. */
	o->param1 = kt_get32(words + 4);
	o->param2 = kt_get32(words + 8);
	o->born = kt_get64(words + 12);
	o->died = kt_get64(words + 20);
	len = strnlen(event->blob, kt_min(event->blob_size, kt_name_max(type)));
	o->plain = is_plain(event->blob, len);
	if (len > KTAPE_NAME_SIZE) {
		o->whole = event->blob;
		o->whole_len = len;
		len = KTAPE_NAME_SIZE;
	}
	memcpy(o->name, event->blob, len);
	o->name_len = (uint8_t)len;
	registry->recorded++;
	if (type == KTAPE_OBJ_NO_ROOM)
		return add_count(registry, kt_get32(words), &v);
	/* Only the registry ring has copies of the module's table, which @first_death is about. */
	if (o->died && event->kind == KTAPE_RING_REGISTRY)
		registry->first_death = kt_min(registry->first_death, o->died);
	return add_version(registry,
			   kt_key_of(type, kt_get32(words), o->param1), &v);
}

uint64_t ktape_registry_left_out(const struct ktape_registry *registry)
{
	return registry->left_out;
}

struct kt_memo *kt_registry_memo(const struct ktape_registry *registry)
{
	return &registry->memory->memo;
}
