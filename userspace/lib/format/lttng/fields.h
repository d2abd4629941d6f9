/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turn the fields of a CTF event into the array of named values that the readers of all Linux
 * tracers share (format/tracepoint.h).
 *
 * A label is the name that an enumeration gives a number.  It becomes a field of its own behind
 * that of the number.
 */
#ifndef _KT_LTTNG_FIELDS_H
#define _KT_LTTNG_FIELDS_H

#include "format/tracepoint.h"
#include "packet.h"

/* At most so many fields a[0].x, a[1].x come from an array of structures; else it is a text. */
#define LT_FLAT 32U

#define LT_VALUE_MAX \
	(16U << 20) /* bytes of a value that must be converted or copied */
#define LT_EVENT_MAX \
	(KT_TP_BLOB - (1U << 20)) /* of all of them; the rest is for names */

/* What a member of a context is for. */
enum lt_use {
	LT_KEEP,   /* a field of the event */
	LT_CLASH,  /* the same, but the payload has a field of that name */
	LT_THREAD, /* id of the event's thread */
	LT_PROCESS,
	LT_NAME /* of the thread */
};

/**
 * struct lt_context - context of the stream class or of the event class
 * @type: a structure, or NULL
 * @use: by member: enum lt_use
 */
struct lt_context {
	const struct ctf_type *type;
	uint8_t *use;
};

/**
 * struct lt_class - how the events of a class are read
 * @tp: the class
 * @fixed: fields that each event has: of the payload, then of contexts
 * @nr_own: those of the payload
 * @nr_fixed: entries of @fixed
 * @nr_fields: those that are no labels
 * @varies: variants have further fields, which @tp.fields has for the event that was read
 * @contexts: of the stream class and of the event class
 * @dumps: the event names a thread that existed when tracing began
 *	(lttng_statedump_process_state)
 * @cut: names of fields that were cut, at most in one event
 * @prio: field whose priority is absolute: KT_TP_RT_PRIO is subtracted, which makes it relative
 *	as all others; -1 = none
 */
struct lt_class {
	struct kt_tp_class tp;
	struct kt_tp_field *fixed;
	unsigned int nr_own;
	unsigned int nr_fixed;
	unsigned int nr_fields;
	bool varies;
	struct lt_context contexts[2];
	bool dumps;
	unsigned int cut;
	int prio;
};

/**
 * struct lt_values - the fields of an event
 * @path: name of the field that is looked at
 * @names: names of @fields
 * @fields: names and types, if the class varies
 * @list: the values
 * @at: indexed as @list: where in @room the data of a value are, SIZE_MAX = elsewhere
 * @room: data that had to be converted or copied
 * @used: bytes of @room in use
 * @cap: bytes of @room allocated
 * @no_memory: an allocation failed
 * @shapes: by types of a class: the first class that has them.  Classes with equal types share
 *	their fields; used while classes are bound, when the trace is opened
 * @process: process of the thread from a context, 0 = none
 * @name: name of the thread from a context, NULL = none
 * @name_len: bytes of @name
 * @labels: values that have more labels than are kept
 * @left: fields that were left out because there are too many
 * @left_of: name of the event that had the first of them
 * @elements: elements of arrays that were left out because there are too many
 * @texts: arrays whose texts were cut, and texts of labels
 * @cut_events: names of events that were cut
 * @cut_fields: names of fields that were cut
 */
struct lt_values {
	char path[2 * KT_TP_NAME];
	struct kt_texts names;
	struct kt_tp_field fields[KT_TP_ENTRIES];
	struct kt_tp_value list[KT_TP_ENTRIES];
	size_t at[KT_TP_ENTRIES];
	uint8_t *room;
	size_t used;
	size_t cap;
	bool no_memory;
	struct kt_map shapes;
	int64_t process;
	const void *name;
	size_t name_len;
	uint64_t labels;
	uint64_t left;
	const char *left_of;
	uint64_t elements;
	uint64_t texts;
	uint64_t cut_events;
	uint64_t cut_fields;
};

/* fields.c */

/* Find out what the events of a class become.  Return: 0 or negative errno. */
int lt_class_bind(struct kt_tp *tp, struct ctf *c, const struct ctf_class *e,
		  struct lt_class *class, struct lt_values *v);

/* fields_read.c */

/* Read the fields of an event.  Return: false if it is damaged, or without memory. */
bool lt_values_read(struct lt_values *v, const struct ctf *c,
		    struct lt_class *class, struct lt_stream *s);

/* Report at the end of the trace what was left out. */
void lt_values_report(struct lt_values *v, struct kt_import *in);

/* values.c */

/* Return how many bytes can be appended to a value that begins at @from in the room. */
size_t lt_room_for(const struct lt_values *v, size_t from);

/* Return the name of a field without the _ that CTF 1.8 puts before it. */
const char *lt_name(const struct ctf *c, const char *name);

/* Return enum kt_tp_type of a number. */
uint8_t lt_number_type(const struct ctf_type *t);

/* Return a number as struct kt_tp_value has it. */
uint64_t lt_number(const struct ctf_type *t, uint64_t number);

/* Check whether a type is a number. */
bool lt_is_plain(const struct ctf_type *t);

/* Append to the room.  Return: false without memory. */
bool lt_append(struct lt_values *v, const void *data, size_t len);

/* elements.c */

/*
 * Read an array: of bytes or characters; of numbers, as 8 bytes each; of anything else, as a text
 * in JSON, or the labels of its numbers as such a text.
 * Return: false if it goes beyond the packet, or without memory.
 */
bool lt_read_bytes(struct lt_values *v, struct ctf_at *at, const struct ctf_type *t,
		   uint64_t count, struct kt_tp_value *value);
bool lt_read_numbers(struct lt_values *v, struct ctf_at *at,
		     const struct ctf_type *t, uint64_t count);
bool lt_read_text(struct lt_values *v, const struct ctf *c, struct ctf_at *at,
		  const struct ctf_type *t, bool labels);

/* labels.c */

/* Check whether a type is an enumeration, or an array of such. */
bool lt_has_labels(const struct ctf_type *t);

/* Find the label of a number.  Return: false without memory. */
bool lt_read_label(struct lt_values *v, const struct ctf_type *t,
		   uint64_t number, struct kt_tp_value *value);

#endif /* _KT_LTTNG_FIELDS_H */
