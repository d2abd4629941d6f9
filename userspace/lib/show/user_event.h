/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * User events with their name and their fields by name.
 *
 * An event of another trace format that has no native counterpart is kept as a user
 * event whose id has the format in its upper byte (ktape/formats.h).  Only that format
 * knows the names of the fields.  The format folders are above this folder, so each
 * format describes itself in a struct kt_user_format, and the registry of a trace holds
 * the list of the built-in formats (kt_registry_new()).
 *
 * An event that a program emitted gets the name and the argument formats that the
 * program registered.
 */
#ifndef _KT_USER_EVENT_H
#define _KT_USER_EVENT_H

#include "util/map.h"

#include "show/line.h"
#include "stream/event.h"

#define KT_USER_FIELDS	 24U /* fields that need no memory of their own */
#define KT_USER_ARG_NAME 16  /* room for "arg4294967295" */
#define KT_USER_FORMATS	 8   /* arguments whose format can be registered */

enum kt_user_field_kind {
	KT_FIELD_UNSIGNED,
	KT_FIELD_SIGNED,
	KT_FIELD_HEX,
	KT_FIELD_TEXT,
	KT_FIELD_WORD, /* a number that the format shows as a word */
	KT_FIELD_BYTES,
	KT_FIELD_DOUBLE,
	KT_FIELD_ARRAY
};

/**
 * struct kt_user_field - a field of a user event
 * @name: its name, any bytes: a trace that was read says what they are
 * @kind: enum kt_user_field_kind
 * @width: for numbers: least number of digits in text output
 * @object: KTAPE_OBJ_* if @value is the id of an object of that type, 0 = none
 * @elem: for ARRAY: KT_FIELD_UNSIGNED, _SIGNED, _HEX or _DOUBLE
 * @format: for ARRAY: KTAPE_FORMAT_* of the elements, see kt_user_element()
 * @wide: a decimal number of 64 bits, or an array of such: a string in JSON
 * @fixed: for BYTES and ARRAY: the length belongs to the field's type
 * @narrow: for DOUBLE, or an ARRAY of such: 32 bits hold the whole value
 * @more: number that follows the name where it is a key, 0 = none; see kt_user_number()
 * @value: for numbers: the value, sign-extended if SIGNED; for DOUBLE: its bits; for
 *	ARRAY: number of elements
 * @data: for TEXT and WORD: characters without a NUL; for BYTES: the bytes; for ARRAY:
 *	the elements
 * @len: length of @data in bytes
 * @number: generated name ("arg1") of a field without a name
 */
struct kt_user_field {
	const char *name;
	uint8_t kind;
	uint8_t width;
	uint8_t object;
	uint8_t elem;
	uint8_t format;
	bool wide;
	bool fixed;
	bool narrow;
	uint32_t more;
	uint64_t value;
	const void *data;
	size_t len;
	char number[KT_USER_ARG_NAME];
};

/* What an event reports about the state of an object. */
enum kt_user_report {
	KT_REPORT_NONE,
	KT_REPORT_NUMBER, /* elements in a queue, free blocks, a priority */
	KT_REPORT_KIND,	  /* which kind of queue the object is */
	KT_REPORT_TAKES,  /* the mutex was free: the caller gets it */
	KT_REPORT_WAITS,  /* the mutex has an owner: the caller waits */
	KT_REPORT_HELD,	  /* the mutex has an owner: the caller goes on */
	KT_REPORT_GIVES	  /* the owner releases it to the first waiter */
};

/**
 * struct kt_user_event - a user event with its fields
 * @name: name of the event; its text is NULL if it has none
 * @format: format it came from ("tband"), or "user" if a program emitted it
 * @known: @fields are named by @format; false: @fields are plain arguments
 * @no_memory: there was no memory for all fields, so there are none
 * @nr: number of fields
 * @fields: the fields
 * @room: fields that @fields has room for
 * @own: the first of them
 * @report: enum kt_user_report; the members below describe the report
 * @hex: ids of objects of this type are addresses: show them in hexadecimal
 * @mutex: KIND: the object is a mutex
 * @type: KTAPE_OBJ_* of the object
 * @id: id of the object
 * @kind: word for the object's kind; NULL: use the kind that a KIND report gave
 * @what: word for what @number counts; NULL: "State"
 * @number: NUMBER: the value; KIND: number of the kind
 * @step: NUMBER: 0 if @number is the value from now on; else the event is a call that
 *	begins, @number is the value before it, and the call adds @step if it succeeds
 * @waits: the caller waits if the call cannot succeed at once
 * @waited: by the event's own fields threads wait, so the call serves one of them and does
 *	not change @number
 * @most: NUMBER: the largest value, 0 = the event does not say
 * @by: thread that makes the call, -1 = unknown
 * @owner: thread that owns the mutex when the call begins, -1 = unknown or none
 */
struct kt_user_event {
	struct kt_name name;
	const char *format;
	bool known;
	bool no_memory;
	unsigned int nr;
	struct kt_user_field *fields;
	unsigned int room;
	struct kt_user_field own[KT_USER_FIELDS];
	uint8_t report;
	bool hex;
	bool mutex;
	uint8_t type;
	uint32_t id;
	const char *kind;
	const char *what;
	uint64_t number;
	int8_t step;
	bool waits;
	bool waited;
	uint64_t most;
	int64_t by;
	int64_t owner;
};

/**
 * struct kt_user_format - a trace format whose events are kept as user events
 * @name: name of the format
 * @ids: upper byte of the ids of its user events, KTAPE_FORMAT_ID_*
 * @event_name: return the name of an event by the lower 24 bits of the id, or NULL
 * @describe: add the fields of an event that has a name to @u, and its report.
 *	Return false if the arguments do not fit: the event is then shown with
 *	plain arguments
 */
struct kt_user_format {
	const char *name;
	uint32_t ids;
	const char *(*event_name)(uint32_t id);
	bool (*describe)(struct kt_user_event *u, const struct ktape_event *e);
};

/* user_event.c */
const char *kt_user_event_name(const struct kt_user_format *const *formats,
			       uint32_t id);
bool kt_user_event_of(struct kt_user_event *u, const struct kt_line *l);
void kt_user_event_free(struct kt_user_event *u);
uint64_t kt_user_element(const struct kt_user_field *f, uint64_t i);

/* Prepare the room that kt_user_event_of() fills, any number of times. */
static inline void kt_user_event_init(struct kt_user_event *u)
{
	u->fields = u->own;
	u->room = KT_USER_FIELDS;
	u->nr = 0;
	u->no_memory = false;
	u->name.text = NULL;
}

/*
 * For describe(): add a field, of any kind or of a typed argument.  Return: the field, which is
 * valid until the next one is added, or NULL if there is no memory.
 */
struct kt_user_field *kt_user_add(struct kt_user_event *u, const char *name,
				  enum kt_user_field_kind kind, uint64_t value);
struct kt_user_field *kt_user_add_typed(struct kt_user_event *u, const char *name,
					const struct kt_typed *a);
/*
 * Add the fields that a reader stored as pairs of name and value: @pairs, or the extra fields
 * of an event.  Return: false if there are none, they are damaged, or memory is missing
 * (@no_memory is set); what came before is added.
 */
bool kt_user_add_pairs(struct kt_user_event *u, const void *pairs, size_t size);
bool kt_user_extra_of(struct kt_user_event *u, const struct ktape_event *e);
/* Add each of a list of typed arguments; the first one gets this name. */
void kt_user_add_all(struct kt_user_event *u, const char *name,
		     const uint8_t *at, const uint8_t *end);
/* Show a number as this word. */
void kt_user_set_word(struct kt_user_field *f, const char *word);
/* Say what the event tells of an object. */
void kt_user_set_report(struct kt_user_event *u, enum kt_user_report report,
			unsigned int type, uint32_t id);

struct kt_name kt_user_field_name(const struct kt_line *l,
				  const struct kt_user_field *f);

/* user_keys.c */

/**
 * struct kt_user_keys - which keys an event has; all zero = none yet
 *
 * Other tracers may give two fields of an event one name.  Where the names are keys, as in JSON,
 * the second one gets a number behind it (kt_user_field.more).
 *
 * @taken: by event and hash of the key: the last number that was put behind it
 * @event: counts the events, so that @taken need not be emptied for each
 */
struct kt_user_keys {
	struct kt_map taken;
	uint32_t event;
};

/* Number the fields of an event so that their keys differ.  Return: 0 or -ENOMEM. */
int kt_user_number(struct kt_user_keys *k, struct kt_user_event *u);

/* user.c */
char *kt_show_user_value(char *p, bool json, const struct kt_user_field *f);

#endif /* _KT_USER_EVENT_H */
