// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * States of objects of real-time systems, as their events tell them: how much is
 * in a queue, who has a mutex, the priority of a task.
 */
#include "told.h"

/* In kt_map_entry.value: what a KIND told, and whether a slice is open. */
#define OPEN		1U
#define MUTEX		2U
#define KIND_SHIFT	8

/* By the number that a KIND told; the first where none did. */
static const char *const kinds[] = {
	"Queue", "Counting Semaphore", "Binary Semaphore", "Mutex",
	"Recursive Mutex", "Queue Set",
};

static const char *kind_of(const struct kt_told *t,
			   const struct kt_map_entry *s)
{
	uint64_t kind = s->value >> KIND_SHIFT;

	if (t->kind)
		return t->kind;
	return kinds[kind < KT_ARRAY_SIZE(kinds) ? kind : 0];
}

/* "Queue mail (#5)" */
static size_t put_object(char *to, size_t room, const struct kt_line *l,
			 const char *kind, unsigned int type, uint32_t id,
			 bool hex)
{
	const struct kt_told_field f = { .object = (uint8_t)type, .value = id };
	struct kt_name name = kt_told_name(l, &f);
	int n;

	if (name.text)
		n = snprintf(to, room, hex ? "%s %.*s (0x%x)" : "%s %.*s (#%u)",
			     kind, (int)name.len, name.text, id);
	else
		n = snprintf(to, room, hex ? "%s 0x%x" : "%s #%u", kind, id);
	return kt_min((size_t)n, room - 1);
}

static void put_track(struct kt_state_change *c, const struct kt_line *l,
		      const struct kt_told *t, const struct kt_map_entry *s)
{
	size_t room = sizeof(c->track);
	int n;

	c->len = put_object(c->track, room, l, kind_of(t, s), t->type, t->id,
			    t->hex);
	n = snprintf(c->track + c->len, room - c->len, " %s",
		     t->what ? t->what : "State");
	c->len = kt_min(c->len + (size_t)n, room - 1);
	c->key = (uint64_t)t->type << 32 | t->id;
}

/* A thread has it; -1: nobody knows which. */
static void put_taken(struct kt_state_change *c, const struct kt_line *l,
		      int32_t by, bool hex)
{
	const char *task = hex ? "Taken by Thread" : "Taken by Task";

	if (by < 0)
		snprintf(c->text, sizeof(c->text), "Taken");
	else
		put_object(c->text, sizeof(c->text), l, task, KTAPE_OBJ_THREAD,
			   (uint32_t)by, hex);
}

/* Of a mutex: its holder and the first that waits are in kt_map_entry.extra. */
static bool follow_mutex(struct kt_map_entry *s, const struct kt_line *l,
			 const struct kt_told *t, struct kt_state_change *c)
{
	uint32_t holder = (uint32_t)s->extra, next = (uint32_t)(s->extra >> 32);
	uint32_t by = t->by < 0 ? 0 : (uint32_t)t->by + 1;

	if (t->state == KT_TOLD_TAKES && holder) {
		if (holder != by && !next)
			s->extra = (uint64_t)by << 32 | holder;
		return false;
	}
	if (t->state == KT_TOLD_TAKES)
		holder = by;
	else
		holder = next;
	s->extra = holder;
	if (holder)
		put_taken(c, l, (int32_t)(holder - 1), t->hex);
	else
		snprintf(c->text, sizeof(c->text), "Available");
	return true;
}

/*
 * What is known of the object that an event tells of; of one more than we follow, or
 * without memory, nothing: @none.
 */
static struct kt_map_entry *state_of(struct kt_states *states,
				     const struct kt_told *t,
				     struct kt_map_entry *none)
{
	struct kt_map_entry *s = kt_map_find(&states->map, t->type, t->id);

	if (!s && states->map.nr < KT_STATES_MAX)
		s = kt_map_put(&states->map, t->type, t->id);
	return s ? s : none;
}

/**
 * kt_state_follow() - does an event change the state of an object?
 * @states: of all objects so far
 * @l: the event
 * @t: the same in its own words
 * @c: filled if it does
 *
 * A number is what the event itself tells; who has a mutex is known of
 * KT_STATES_MAX objects.
 *
 * Return: true if it does.
 */
bool kt_state_follow(struct kt_states *states, const struct kt_line *l,
		     const struct kt_told *t, struct kt_state_change *c)
{
	struct kt_map_entry none = { .used = false }, *s;

	if (t->state == KT_TOLD_NO_STATE)
		return false;
	s = state_of(states, t, &none);
	if (t->state == KT_TOLD_KIND) {
		s->value = (s->value & OPEN) | t->number << KIND_SHIFT |
			   (t->mutex ? MUTEX : 0);
		return false;
	}
	c->opened = false;
	c->number = t->number;
	c->counter = t->state == KT_TOLD_NUMBER_OF && !(s->value & MUTEX);
	put_track(c, l, t, s);
	if (c->counter)
		return true;
	if (s == &none) {
		states->left_out++;
		return false;
	}
	if (t->state != KT_TOLD_NUMBER_OF) {
		if (!follow_mutex(s, l, t, c))
			return false;
	} else if (t->number) {
		snprintf(c->text, sizeof(c->text), "Available");
	} else {
		put_taken(c, l, t->by, t->hex);
	}
	c->opened = s->value & OPEN;
	s->value |= OPEN;
	return true;
}
