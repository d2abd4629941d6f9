/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * User events in the words of where they come from: the event's name, its fields
 * by their names, and what it tells of an object's state.
 */
#ifndef _KT_TOLD_H
#define _KT_TOLD_H

#include "show/line.h"
#include "util/map.h"
#include "stream/event.h"

#define KT_TOLD_FIELDS	24U
#define KT_TOLD_CUT	"arguments of user events beyond 24"
#define KT_TOLD_NUMBER	8	/* "arg24" */
#define KT_STATE_TEXT	128
#define KT_STATES_MAX	4096U	/* objects of which something is remembered */
#define KT_STATES_MISSED	"states of objects beyond 4096"

enum kt_told_kind {
	KT_TOLD_UNSIGNED,
	KT_TOLD_SIGNED,
	KT_TOLD_HEX,
	KT_TOLD_TEXT,
	KT_TOLD_WORD,	/* a text: what the format calls the number */
	KT_TOLD_BYTES
};

/**
 * struct kt_told_field - a field
 * @name: its name, an identifier of C
 * @kind: enum kt_told_kind
 * @width: a number: how many digits it is shown with at least
 * @object: KTAPE_OBJ_* whose id the number is, or 0
 * @value: a number, extended
 * @data: text without its NUL, or bytes
 * @len: how many
 */
struct kt_told_field {
	const char *name;
	uint8_t kind;
	uint8_t width;
	uint8_t object;
	uint64_t value;
	const void *data;
	size_t len;
};

/* What an event tells of an object. */
enum kt_told_state {
	KT_TOLD_NO_STATE,
	KT_TOLD_NUMBER_OF,	/* how many are in it, or its priority */
	KT_TOLD_KIND,		/* what it is */
	KT_TOLD_TAKES,		/* it was free, a thread takes it */
	KT_TOLD_WAITS,		/* its owner has it, a thread waits for it */
	KT_TOLD_HELD,		/* its owner has it, and keeps it */
	KT_TOLD_GIVES		/* it is free, or the first that waits has it */
};

/**
 * struct kt_told - an event
 * @name: its name; its text is NULL if it has none
 * @format: where it comes from: "tband", "user" and others
 * @known: the fields are those of that format, with its names
 * @cut: there was no room for the last fields
 * @nr: fields
 * @fields: the first @nr are in use
 * @numbers: room for names of fields that have none
 * @state: enum kt_told_state; the rest is about that
 * @hex: ids of such objects are addresses
 * @mutex: KIND: a number of 0 means that a thread has it
 * @type: KTAPE_OBJ_* of the object
 * @id: its id
 * @kind: what it is, or NULL: what a KIND told
 * @what: what of it the number is
 * @number: how many
 * @by: the thread that calls, or -1: it is not known
 * @owner: the thread that has it when the call begins, or -1
 */
struct kt_told {
	struct kt_name name;
	const char *format;
	bool known;
	bool cut;
	unsigned int nr;
	struct kt_told_field fields[KT_TOLD_FIELDS];
	char numbers[KT_TOLD_FIELDS][KT_TOLD_NUMBER];
	uint8_t state;
	bool hex;
	bool mutex;
	uint8_t type;
	uint32_t id;
	const char *kind;
	const char *what;
	uint64_t number;
	int64_t by;
	int64_t owner;
};

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

struct kt_state;
struct kt_sink;

/**
 * struct kt_states - what is remembered of objects
 * @places: places in @objects by type and id
 * @objects: the objects
 * @nr: how many
 * @room: for how many
 */
struct kt_states {
	struct kt_map places;
	struct kt_state *objects;
	size_t nr;
	size_t room;
};

/* told.c */
bool kt_told_event(struct kt_told *t, const struct kt_line *l);
struct kt_told_field *kt_told_add(struct kt_told *t, const char *name,
				  enum kt_told_kind kind, uint64_t value);
struct kt_told_field *kt_told_add_data(struct kt_told *t, const char *name,
				       enum kt_told_kind kind,
				       const void *data, size_t len);
struct kt_told_field *kt_told_argument(struct kt_told *t, const char *name,
				       const struct kt_typed *a);
void kt_told_word(struct kt_told_field *f, const char *word);
void kt_told_typed(struct kt_told *t, const char *name, const uint8_t *at,
		   const uint8_t *end);
struct kt_name kt_told_name(const struct kt_line *l,
			    const struct kt_told_field *f);
void kt_told_state(struct kt_told *t, enum kt_told_state state,
		   unsigned int type, uint32_t id);

/* told_state.c */
bool kt_state_follow(struct kt_states *states, struct kt_sink *s,
		     const struct kt_line *l, const struct kt_told *t,
		     struct kt_state_change *c);
void kt_states_free(struct kt_states *states);

/* What formats tell of their events: codec_tband_tell.c and others. */
bool kt_tband_tell(struct kt_told *t, const struct ktape_event *e);
bool kt_rkh_tell(struct kt_told *t, const struct ktape_event *e);
bool kt_tracex_tell(struct kt_told *t, const struct ktape_event *e);

#endif /* _KT_TOLD_H */
