// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * States of objects of real-time kernels (object_state.h).
 *
 * An object's state is a mutex's holder or a number (elements in a queue, a priority).  A number
 * that an event just reports needs no memory.  The value behind a call that changes a number
 * depends on the events before, as does a holder.  So objects are remembered that are mutexes,
 * whose number calls change, whose largest number is known, or whose kind was reported.
 */
#include "object_state.h"
#include "writer.h"

#define FIRST_ROOM 16U
/* Holders of a mutex that are no known thread; ids and addresses begin at 1. */
#define NOBODY	 0U	    /* the mutex is free */
#define SOMEBODY UINT32_MAX /* a thread has it, no event says which */

/* The ends of the range of a number, where a call waits or fails. */
enum edge { BETWEEN, EMPTY, FULL };

/**
 * struct kt_object_state - an object that is remembered
 * @kind: number of its kind (index in kinds[]) from KT_REPORT_KIND
 * @mutex: it is a mutex
 * @open: a slice is open on the track @track
 * @holder: mutex: the thread that has it, NOBODY or SOMEBODY
 * @first: the first thread that waits for it
 * @waiting: number of threads that wait for it
 * @edge: number: EMPTY = it cannot become smaller, FULL = not larger; threads that wait, wait for
 *	it to leave that end
 * @step: number: what the last call adds; 0 = the last event was no call
 * @before: number: its value before that call
 * @most: number: its largest value, 0 = unknown
 * @len: bytes of @track
 * @track: see @open
 */
struct kt_object_state {
	uint64_t kind;
	bool mutex;
	bool open;
	uint32_t holder;
	uint32_t first;
	uint32_t waiting;
	enum edge edge;
	int step;
	uint64_t before;
	uint64_t most;
	size_t len;
	char track[KT_STATE_TEXT];
};

/* Words for the kinds of Tonbandgeraet; the first one also for an unknown kind. */
static const char *const kinds[] = {
	"Queue", "Counting Semaphore", "Binary Semaphore",
	"Mutex", "Recursive Mutex",    "Queue Set",
};

static const char *object_kind_of(const struct kt_user_event *t,
				  const struct kt_object_state *o)
{
	if (t->kind)
		return t->kind;
	return kinds[o && o->kind < KT_ARRAY_SIZE(kinds) ? o->kind : 0];
}

/* ---- objects -------------------------------------------------------------- */

static struct kt_object_state *find_object_state(const struct kt_states *states,
						 const struct kt_user_event *t)
{
	const struct kt_map_entry *e = kt_map_find(&states->places, t->type, t->id);

	return e ? &states->objects[e->value] : NULL;
}

static bool grow_objects(struct kt_states *states)
{
	size_t room = states->room ? states->room * 2 : FIRST_ROOM;
	struct kt_object_state *more =
		realloc(states->objects, room * sizeof(*more));

	if (!more)
		return false;
	states->objects = more;
	states->room = room;
	return true;
}

/*
 * Find an object, or remember it from now on.
 * Return: NULL if there are too many (counted as missed) or no memory (@s->error).
 */
static struct kt_object_state *add_object_state(struct kt_states *states,
						struct kt_sink *s,
						const struct kt_user_event *t)
{
	struct kt_object_state *o = find_object_state(states, t);
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

/* Free what is remembered of all objects. */
void kt_states_free(struct kt_states *states)
{
	kt_map_free(&states->places);
	free(states->objects);
}

/* ---- texts ---------------------------------------------------------------- */

/* Put "Queue mail (#5)", or with an address "Queue mail (0x20)".  Return: its length. */
static size_t put_object_label(char *to, size_t room, const struct kt_line *l,
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
		      const struct kt_user_event *t,
		      const struct kt_object_state *o)
{
	size_t room = sizeof(c->track);
	int n;

	c->len = put_object_label(c->track, room, l, object_kind_of(t, o),
				  t->type, t->id, t->hex);
	n = snprintf(c->track + c->len, room - c->len, " %s",
		     t->what ? t->what : "State");
	c->len = kt_min(c->len + (size_t)n, room - 1);
}

/* Put the state of a mutex; @holder is a thread, NOBODY or SOMEBODY. */
static void put_holder(struct kt_state_change *c, const struct kt_line *l,
		       uint32_t holder, bool hex)
{
	if (holder == NOBODY)
		snprintf(c->text, sizeof(c->text), "Available");
	else if (holder == SOMEBODY)
		snprintf(c->text, sizeof(c->text), "Taken");
	else
		put_object_label(c->text, sizeof(c->text), l,
				 hex ? "Taken by Thread" : "Taken by Task",
				 hex ? KTAPE_OBJ_USER + KTAPE_USER_THREAD :
				       KTAPE_OBJ_THREAD,
				 holder, hex);
}

/* ---- mutexes -------------------------------------------------------------- */

static uint32_t known_thread(int64_t tid)
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

/*
 * Remove the first waiter and return it: it gets the mutex that is given back.  Only the
 * first waiter is remembered, so the waiters after it become SOMEBODY.  NOBODY: none waits.
 */
static uint32_t take_waiter(struct kt_object_state *o)
{
	uint32_t tid = o->first;

	if (!o->waiting)
		return NOBODY;
	o->first = SOMEBODY;
	o->waiting--;
	return tid;
}

/*
 * Set the holder to the thread in the event.  A negative @tid means that it names none: then a
 * mutex that was free has SOMEBODY, unless the caller knows better.
 * Return: true if that changes the holder.
 */
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

/*
 * Follow a mutex through what a call reports.  One that is taken was free, so no thread waits.
 * Return: true if its state is to be drawn: also if the same thread takes it again.
 */
static bool follow_mutex(struct kt_object_state *o, const struct kt_user_event *t)
{
	bool changed = set_holder(o, t->owner);

	switch (t->report) {
	case KT_REPORT_TAKES:
		o->waiting = 0;
		o->holder = known_thread(t->by);
		return true;
	case KT_REPORT_WAITS:
		add_waiter(o, known_thread(t->by));
		return changed;
	case KT_REPORT_GIVES:
		o->holder = take_waiter(o);
		return true;
	default:
		return changed;
	}
}

/* ---- numbers -------------------------------------------------------------- */

/* Note the value that a call finds.  If the end of the range is another one, no thread waits. */
static void set_before(struct kt_object_state *o, const struct kt_user_event *t,
		       uint64_t most)
{
	enum edge edge = !t->number		   ? EMPTY :
			 most && t->number >= most ? FULL :
						     BETWEEN;

	if (edge != o->edge)
		o->waiting = 0;
	o->edge = edge;
	o->before = t->number;
	o->step = t->step;
}

/*
 * Return the value after a call that begins now, from the value @t->number before it.  The call
 * adds @t->step, but the value stays if the call cannot succeed at this end of the range (it fails
 * or waits), or if it serves a thread that waits there.
 *
 * If the call before should have added an element between both ends, and this one finds the same
 * value, then that call found the object full: so the value is the largest.
 */
static uint64_t number_after(struct kt_object_state *o,
			     const struct kt_user_event *t)
{
	uint64_t most = t->most ? t->most : o->most;

	if (o->step > 0 && o->edge == BETWEEN && t->number == o->before)
		most = o->most = t->number;
	if (o->most && t->number > o->most) {
		o->most = 0;
		most = t->most;
	}
	set_before(o, t, most);
	if (o->edge == BETWEEN)
		return t->number + (uint64_t)(int64_t)t->step;
	if ((o->edge == EMPTY) == (t->step < 0)) {
		if (t->waits)
			add_waiter(o, known_thread(t->by));
		return t->number;
	}
	if (o->waiting || t->waited) {
		take_waiter(o);
		return t->number;
	}
	return t->number + (uint64_t)(int64_t)t->step;
}

/* Return the value that an object has from an event on. */
static uint64_t follow_number(struct kt_object_state *o,
			      const struct kt_user_event *t)
{
	if (o && t->step)
		return number_after(o, t);
	if (o) {
		o->waiting = 0;
		o->step = 0;
		o->most = t->most ? t->most : o->most;
	}
	return t->number;
}

/* ---- changes -------------------------------------------------------------- */

/* End the slice that is open, if one is. */
static void end_object_slice(struct kt_object_state *o, struct kt_state_change *c)
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

/* Set the kind of an object.  Return: true if its slice ends: it is no mutex now. */
static bool change_kind(struct kt_object_state *o,
			const struct kt_user_event *t, struct kt_state_change *c)
{
	o->kind = t->number;
	o->mutex = t->mutex;
	if (o->mutex || !o->open)
		return false;
	end_object_slice(o, c);
	return true;
}

/**
 * kt_state_follow() - follow the state of an object through a user event
 * @states: states of all objects so far
 * @s: the sink, which counts objects that cannot be remembered
 * @l: the event
 * @t: the same event with its fields
 * @c: filled if the state changes
 *
 * Return: true if the state changes.
 */
bool kt_state_follow(struct kt_states *states, struct kt_sink *s,
		     const struct kt_line *l, const struct kt_user_event *t,
		     struct kt_state_change *c)
{
	struct kt_object_state *o;

	if (t->report == KT_REPORT_NONE)
		return false;
	o = t->report == KT_REPORT_NUMBER && !t->step && !t->most ?
		    find_object_state(states, t) :
		    add_object_state(states, s, t);
	if (!o && t->report != KT_REPORT_NUMBER)
		return false;
	c->key = (uint64_t)t->type << 32 | t->id;
	c->opened = c->begins = c->counter = false;
	c->len = 0;
	if (t->report == KT_REPORT_KIND)
		return change_kind(o, t, c);
	if (t->report == KT_REPORT_NUMBER && (!o || !o->mutex)) {
		c->counter = true;
		c->number = follow_number(o, t);
		put_track(c, l, t, o);
		return true;
	}
	/* The number of a mutex is 1 if it is free, else 0. */
	if (t->report == KT_REPORT_NUMBER)
		o->holder = t->number ? NOBODY : known_thread(t->by);
	else if (!follow_mutex(o, t))
		return false;
	put_track(c, l, t, o);
	put_holder(c, l, o->holder, t->hex);
	end_object_slice(o, c);
	begin_slice(o, c);
	return true;
}
