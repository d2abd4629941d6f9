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

#define KT_STATE_TEXT	128
#define KT_STATES_MAX	4096U	/* objects of which something is remembered */
#define KT_STATES_MISSED	"states of objects beyond 4096"

/**
 * struct kt_state_change - a track has a new state
 * @key: of the object: its type << 32 | its id
 * @track: its name
 * @len: bytes of it
 * @counter: @number is the value, and there is no slice
 * @opened: a slice ends, whose track was called @was
 * @begins: a slice begins: @text is what it is now
 * @number: see @counter
 * @text: see @begins
 * @was: see @opened
 * @was_len: bytes of it
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
 * struct kt_states - what is remembered of objects
 * @places: places in @objects by type and id
 * @objects: the objects
 * @nr: how many
 * @room: for how many
 */
struct kt_states {
	struct kt_map places;
	struct kt_object_state *objects;
	size_t nr;
	size_t room;
};

bool kt_state_follow(struct kt_states *states, struct kt_sink *s,
		     const struct kt_line *l, const struct kt_user_event *t,
		     struct kt_state_change *c);
void kt_states_free(struct kt_states *states);

#endif /* _KT_OBJECT_STATE_H */
