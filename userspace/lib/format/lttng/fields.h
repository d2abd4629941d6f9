/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of CTF events as those of format/tracepoint.h; see fields.c, elements.c. */
#ifndef _KT_LTTNG_FIELDS_H
#define _KT_LTTNG_FIELDS_H

#include "format/tracepoint.h"
#include "packet.h"

#define LT_FLAT 32U /* fields that the elements of an array may become */
#define LT_VALUE_MAX \
	(16U << 20) /* bytes of a value that is not in the packet as it is */
#define LT_EVENT_MAX \
	(KT_TP_BLOB - (1U << 20)) /* of all of them; the rest is for names */
#define LT_RT_PRIO 100U

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
 * @dumps: the event is a thread of the state dump
 * @cut: names of fields that were cut, at most in one event
 * @prio: field with a priority that is not relative, unlike others of the trace; -1 = none
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
 * @at: by value: where in @room its data are, SIZE_MAX = elsewhere
 * @room: data that are not in the packet as they are
 * @used: bytes of @room in use
 * @cap: bytes of @room allocated
 * @no_memory: an allocation failed
 * @shapes: by types of a class: the first class that has them, while a trace is bound
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
int lt_class_bind(struct kt_tp *tp, struct ctf *c, const struct ctf_class *e,
		  struct lt_class *class, struct lt_values *v);
bool lt_values_read(struct lt_values *v, const struct ctf *c,
		    struct lt_class *class, struct lt_stream *s);
void lt_values_report(struct lt_values *v, struct kt_import *in);

/* values.c */
size_t lt_room_for(const struct lt_values *v, size_t from);
const char *lt_name(const struct ctf *c, const char *name);
uint8_t lt_number_type(const struct ctf_type *t);
uint64_t lt_number(const struct ctf_type *t, uint64_t number);
bool lt_is_plain(const struct ctf_type *t);
bool lt_append(struct lt_values *v, const void *data, size_t len);

/* elements.c */
bool lt_read_bytes(struct lt_values *v, struct ctf_at *at, const struct ctf_type *t,
		   uint64_t count, struct kt_tp_value *value);
bool lt_read_numbers(struct lt_values *v, struct ctf_at *at,
		     const struct ctf_type *t, uint64_t count);
bool lt_read_text(struct lt_values *v, const struct ctf *c, struct ctf_at *at,
		  const struct ctf_type *t, bool labels);

/* labels.c */
bool lt_has_labels(const struct ctf_type *t);
bool lt_read_label(struct lt_values *v, const struct ctf_type *t,
		   uint64_t number, struct kt_tp_value *value);

#endif /* _KT_LTTNG_FIELDS_H */
