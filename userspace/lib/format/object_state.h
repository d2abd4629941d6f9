/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * States of objects of real-time kernels, followed from user events: how many
 * elements are in a queue, which thread has a mutex, the priority of a task.
 * Formats with tracks draw them.  What a user event reports of an object is found in
 * show/user_event.h.
 */
#ifndef _KT_OBJECT_STATE_H
#define _KT_OBJECT_STATE_H

#include "util/map.h"
#include "show/user_event.h"

struct kt_sink;

#define KT_STATE_TEXT	 128   /* room for a name or a state, with its NUL */
#define KT_STATES_MAX	 4096U /* objects that are remembered */
#define KT_STATES_MISSED "states of objects beyond 4096"

/**
 * struct kt_state_change - what a format has to draw
 * @key: the object: type << 32 | id
 * @track: name of its track, "Mutex m (#1) State"
 * @len: bytes of @track
 * @counter: the track is a counter with value @number; else it has slices
 * @opened: the slice that is open ends; it is on the track @was, which is another
 *	one than @track if the object got a new name
 * @begins: a slice called @text begins
 * @number: see @counter
 * @text: see @begins: "Taken by Task t (#2)"
 * @was: see @opened
 * @was_len: bytes of @was
 */
struct kt_state_change {
	uint64_t key;
	char track[KT_STATE_TEXT];
	size_t len;
	bool counter;
	bool opened;
	bool begins;
	uint64_t number;
	char text[KT_STATE_TEXT];
	char was[KT_STATE_TEXT];
	size_t was_len;
};

struct kt_object_state;

/**
 * struct kt_states - states of all objects so far
 * @places: index in @objects by type and id
 * @objects: those whose next state depends on what was before: mutexes, objects with a number that
 *	calls change or with a known largest number, objects whose kind was reported
 * @nr: entries of @objects in use
 * @room: entries of @objects allocated
 */
struct kt_states {
	struct kt_map places;
	struct kt_object_state *objects;
	size_t nr;
	size_t room;
};

/* kt_state_follow() returns true, with @c filled, if the event changes the state of an object. */
bool kt_state_follow(struct kt_states *states, struct kt_sink *s,
		     const struct kt_line *l, const struct kt_user_event *t,
		     struct kt_state_change *c);
void kt_states_free(struct kt_states *states);

#endif /* _KT_OBJECT_STATE_H */
