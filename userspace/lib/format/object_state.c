// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * States of objects of real-time systems, as their events tell them: how much is
 * in a queue, who has a mutex, the priority of a task.
 *
 * Only of mutexes, and of objects whose kind was told, is anything remembered: a
 * number needs no memory.
 */
#include "object_state.h"
#include "sink.h"

#define FIRST_ROOM	16U
#define NOBODY		0U		/* threads are addresses, or ids from 1 on */
#define SOMEBODY	UINT32_MAX	/* a thread that no event tells */

/**
 * struct kt_object_state - what is remembered of an object
 * @kind: the number that a KIND told
 * @mutex: a thread has it, or none
 * @open: there is a slice, it is called @track
 * @holder: of a mutex: the thread that has it, or NOBODY
 * @first: the first thread that waits for it
 * @waiting: how many wait for it
 * @len: of @track
 * @track: see @open
 */
struct kt_object_state {
	uint64_t kind;
	bool mutex;
	bool open;
	uint32_t holder;
	uint32_t first;
	uint32_t waiting;
	size_t len;
	char track[KT_STATE_TEXT];
};

/* By the number that a KIND told; the first where none did. */
static const char *const kinds[] = {
	"Queue", "Counting Semaphore", "Binary Semaphore", "Mutex",
	"Recursive Mutex", "Queue Set",
};

static const char *kind_of(const struct kt_user_event *t, const struct kt_object_state *o)
{
	if (t->kind)
		return t->kind;
	return kinds[o && o->kind < KT_ARRAY_SIZE(kinds) ? o->kind : 0];
}

/* ---- objects -------------------------------------------------------------- */

static struct kt_object_state *find_object(const struct kt_states *states,
				    const struct kt_user_event *t)
{
	const struct kt_map_entry *e = kt_map_find(&states->places, t->type,
						   t->id);

	return e ? &states->objects[e->value] : NULL;
}

static bool grow_objects(struct kt_states *states)
{
	size_t room = states->room ? states->room * 2 : FIRST_ROOM;
	struct kt_object_state *more = realloc(states->objects, room * sizeof(*more));

	if (!more)
		return false;
	states->objects = more;
	states->room = room;
	return true;
}

/* Find it, or remember it from now on.  NULL: @s was told why not. */
static struct kt_object_state *add_object(struct kt_states *states, struct kt_sink *s,
				   const struct kt_user_event *t)
{
	struct kt_object_state *o = find_object(states, t);
	struct kt_map_entry *e = NULL;

	if (o)
		return o;
	if (states->nr == KT_STATES_MAX) {
		kt_sink_miss(s, KT_STATES_MISSED, 1);
		return NULL;
	}
	if (states->nr < states->room || grow_objects(states))
		e = kt_map_put(&states->places, t->type, t->id);
	if (!e) {
		s->error = -ENOMEM;
		return NULL;
	}
	e->value = states->nr;
	o = &states->objects[states->nr++];
	memset(o, 0, sizeof(*o));
	return o;
}

void kt_states_free(struct kt_states *states)
{
	kt_map_free(&states->places);
	free(states->objects);
}

/* ---- texts ---------------------------------------------------------------- */

/* "Queue mail (#5)" */
static size_t put_object(char *to, size_t room, const struct kt_line *l,
			 const char *kind, unsigned int type, uint32_t id,
			 bool hex)
{
	const struct kt_user_field f = { .object = (uint8_t)type, .value = id };
	struct kt_name name = kt_user_field_name(l, &f);
	int n;

	if (name.text)
		n = snprintf(to, room, hex ? "%s %.*s (0x%x)" : "%s %.*s (#%u)",
			     kind, (int)name.len, name.text, id);
	else
		n = snprintf(to, room, hex ? "%s 0x%x" : "%s #%u", kind, id);
	return kt_min((size_t)n, room - 1);
}

static void put_track(struct kt_state_change *c, const struct kt_line *l,
		      const struct kt_user_event *t, const struct kt_object_state *o)
{
	size_t room = sizeof(c->track);
	int n;

	c->len = put_object(c->track, room, l, kind_of(t, o), t->type, t->id,
			    t->hex);
	n = snprintf(c->track + c->len, room - c->len, " %s",
		     t->what ? t->what : "State");
	c->len = kt_min(c->len + (size_t)n, room - 1);
}

/* @holder: a thread, NOBODY or SOMEBODY. */
static void put_holder(struct kt_state_change *c, const struct kt_line *l,
		       uint32_t holder, bool hex)
{
	if (holder == NOBODY)
		snprintf(c->text, sizeof(c->text), "Available");
	else if (holder == SOMEBODY)
		snprintf(c->text, sizeof(c->text), "Taken");
	else
		put_object(c->text, sizeof(c->text), l,
			   hex ? "Taken by Thread" : "Taken by Task",
			   hex ? KTAPE_OBJ_USER + KTAPE_USER_THREAD
			       : KTAPE_OBJ_THREAD,
			   holder, hex);
}

/* ---- mutexes -------------------------------------------------------------- */

static uint32_t thread_of(int64_t tid)
{
	return tid < 0 ? SOMEBODY : (uint32_t)tid;
}

static void add_waiter(struct kt_object_state *o, uint32_t tid)
{
	if (o->waiting && o->first == tid)
		return;
	if (!o->waiting)
		o->first = tid;
	o->waiting++;
}

/* Who gets it when it is given.  Only of the first that waits it is known who. */
static uint32_t take_waiter(struct kt_object_state *o)
{
	uint32_t tid = o->first;

	if (!o->waiting)
		return NOBODY;
	o->first = SOMEBODY;
	o->waiting--;
	return tid;
}

/* The event tells who has it.  Return: it is another one than before. */
static bool set_holder(struct kt_object_state *o, int64_t tid)
{
	uint32_t before = o->holder;

	if (tid >= 0) {
		o->holder = (uint32_t)tid;
		if (o->waiting && o->first == o->holder)
			take_waiter(o);
	} else if (before == NOBODY) {
		o->holder = SOMEBODY;
	}
	return o->holder != before;
}

static bool follow_mutex(struct kt_object_state *o, const struct kt_user_event *t)
{
	bool changed = set_holder(o, t->owner);

	switch (t->report) {
	case KT_REPORT_TAKES:
		o->waiting = 0;
		o->holder = thread_of(t->by);
		return true;
	case KT_REPORT_WAITS:
		add_waiter(o, thread_of(t->by));
		return changed;
	case KT_REPORT_GIVES:
		o->holder = take_waiter(o);
		return true;
	default:
		return changed;
	}
}

/* ---- changes -------------------------------------------------------------- */

/* The slice that is open ends; there is another one, or not. */
static void end_slice(struct kt_object_state *o, struct kt_state_change *c)
{
	c->opened = o->open;
	c->was_len = o->len;
	memcpy(c->was, o->track, sizeof(c->was));
	o->open = false;
}

static void begin_slice(struct kt_object_state *o, struct kt_state_change *c)
{
	c->begins = true;
	o->open = true;
	o->len = c->len;
	memcpy(o->track, c->track, sizeof(o->track));
}

/* What is no mutex any more has no slice any more. */
static bool change_kind(struct kt_object_state *o, const struct kt_user_event *t,
			struct kt_state_change *c)
{
	o->kind = t->number;
	o->mutex = t->mutex;
	if (o->mutex || !o->open)
		return false;
	end_slice(o, c);
	return true;
}

/**
 * kt_state_follow() - does an event change the state of an object?
 * @states: of all objects so far
 * @s: where it is written: is told what cannot be remembered
 * @l: the event
 * @t: the same in its own words
 * @c: filled if it does
 *
 * Return: true if it does.
 */
bool kt_state_follow(struct kt_states *states, struct kt_sink *s,
		     const struct kt_line *l, const struct kt_user_event *t,
		     struct kt_state_change *c)
{
	struct kt_object_state *o;

	if (t->report == KT_REPORT_NONE)
		return false;
	o = t->report == KT_REPORT_NUMBER ? find_object(states, t)
					  : add_object(states, s, t);
	if (!o && t->report != KT_REPORT_NUMBER)
		return false;
	c->key = (uint64_t)t->type << 32 | t->id;
	c->opened = c->begins = c->counter = false;
	c->len = 0;
	if (t->report == KT_REPORT_KIND)
		return change_kind(o, t, c);
	if (t->report == KT_REPORT_NUMBER && (!o || !o->mutex)) {
		c->counter = true;
		c->number = t->number;
		put_track(c, l, t, o);
		return true;
	}
	if (t->report == KT_REPORT_NUMBER)
		o->holder = t->number ? NOBODY : thread_of(t->by);
	else if (!follow_mutex(o, t))
		return false;
	put_track(c, l, t, o);
	put_holder(c, l, o->holder, t->hex);
	end_slice(o, c);
	begin_slice(o, c);
	return true;
}
